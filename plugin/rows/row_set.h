/* A problem under construction: rows, friction sets and pairs in arrays of a
 * fixed capacity, which the caller knows from the number of joints. */
#ifndef ODE_MLCP_ROWS_ROW_SET_H
#define ODE_MLCP_ROWS_ROW_SET_H

#include "common/six.h"
#include "host/bodies.h"
#include "mlcp/mlcp.h"

/** The correction of a row's position error, m/s or rad/s, signed as its target. */
typedef struct row_correction {
  double velocity; /* the part of the target that does */
  double excess;   /* what is left to be corrected by moving, a position
                      projection; NAN: the row does not resist that */
  double bounce;   /* the part of the target that is a bounce's */
  bool stiff;      /* a spring stiffer than the step resolves */
} row_correction;

typedef struct row_set {
  mlcp_row *rows;
  row_correction *corrections; /* of every row */
  mlcp_friction *frictions;
  mlcp_pair *pairs;
  int n_rows, n_frictions, n_pairs;
} row_set;

/** A friction set of general shape: the normal impulse times the polygon of
 *  these vertices and their opposites, along the contact's two directions. */
typedef struct contact_polygon {
  int n;
  double vertex[32][2]; /* counter-clockwise within half a turn */
} contact_polygon;

/** The inputs of every row. */
typedef struct row_frame {
  const double *v;         /* [6 n] velocities at the start of the step */
  const double *v_free;    /* [6 n] and in free flight; kinematic bodies: v */
  const int *problem_body; /* [n] their index in the problem, -1 kinematic */
  const contact_polygon *polygons; /* of the contacts */
  double step_size;                /* s */
  double max_correction;           /* m/s: what a contact's target velocity may
                                correct; may be INFINITY */
  double joint_excess; /* 0 .. 1: the part of a joint's correction that is
                                not in its target velocity. One for all joints:
                                their errors fit together where they close a
                                loop, errors cut one by one do not */
} row_frame;

/** Append a row of zeros without bounds and corrections. @return it, to be filled in,
 *  its J as of the two bodies of the world, and placed. */
mlcp_row *row_set_add(row_set *set, mlcp_row_kind kind);

/** The row added last is between two bodies of the world, -1 for none. A kinematic body
 *  leaves the row: its part of J v goes into the bias. */
void row_set_place(row_set *set, const row_frame *frame, const int body[2]);

/** The speed that a bounce asks for at the end of the step, so that it rises as
 *  high as Newton's restitution says wherever in the step it is: what stands at
 *  the end has moved by that speed already, and half a step's acceleration lies
 *  between speeds and places. docs/formulation.md, eq. 8.
 *
 * @param speed      m/s or rad/s at the start, away from what is hit: < 0
 * @param free_speed the same at the end, were there nothing to hit
 * @param gap        m or rad at the start; < 0: hit in the last step
 * @return -INFINITY where it does not rise as far as it is away. */
double row_bounce_target(double part, double speed, double free_speed,
                         double gap, double step_size);

#endif
