/* Rows of a contact: one normal row and up to five friction rows with their
 * friction sets, as the contact's surface says (docs/formulation.md, eq. 7-9).
 */
#ifndef ODE_MLCP_ROWS_CONTACT_ROWS_H
#define ODE_MLCP_ROWS_CONTACT_ROWS_H

#include "rows/row_set.h"

/** A friction set of general shape: the normal impulse times the polygon of
 *  these vertices and their opposites, along the contact's two directions. */
typedef struct contact_polygon {
  int n;
  double vertex[32][2]; /* counter-clockwise within half a turn */
} contact_polygon;

/** Whether the vertices and their opposites are the corners, in their order, of
 *  a convex polygon. */
bool contact_polygon_convex(int n, const double vertex[][2]);

/** A contact joint read at the current poses. */
typedef struct contact_reading {
  const dContact *contact;
  int body[2];        /* in the island; -1 the world */
  double position[3]; /* m */
  double normal[3];   /* unit, into body 0 */
  double arm[2][3];   /* from the bodies' centres to the contact */
  int multiplicity;   /* contacts merged into this one, itself included */
  const contact_polygon *polygon; /* NULL: friction is as the surface says */
  bool overlap;       /* too deep to be a contact (contact_rows_overlap) */
} contact_reading;

typedef enum contact_verdict {
  CONTACT_USABLE,
  CONTACT_NO_NORMAL, /* its normal is zero or not finite: to be left out */
  CONTACT_BAD_VALUE  /* a value in use is not finite or negative */
} contact_verdict;

/**
 * Read a contact.
 *
 * @param reversed  the joint was attached as (0, body): its normal flips
 * @param body      as in the joint's rows: the first is a body
 * @param bad_name, bad_value  out, where CONTACT_BAD_VALUE: the field
 */
contact_verdict contact_rows_read(contact_reading *reading,
                                  const dContact *contact, bool reversed,
                                  const int body[2], const host_body bodies[],
                                  const char **bad_name, double *bad_value);

/** Whether two contacts of the same bodies differ in nothing but their depth
 *  and less than 1e-4 m (on small arms: of the arm) of their position. */
bool contact_rows_same_point(const contact_reading *a,
                             const contact_reading *b);

/** Two directions of sliding: fdir1 as given and the normal's cross product with
 *  it where the surface has one, else the host's own, unit and orthogonal. */
void contact_rows_axes(double axis[2][3], const contact_reading *reading);

/** The Jacobian of the relative velocity along `axis` at the contact. */
void contact_rows_jacobian(double J[2][6], const contact_reading *reading,
                           const double axis[3]);

/** Whether a contact is deeper than `part` (> 0) of its distance from the centre
 *  of the body that it is nearer to (a quarter of the radius of gyration where
 *  the contact is nearer than that). */
bool contact_rows_overlap(const contact_reading *reading,
                          const host_body bodies[], double part);

/** The world's settings that contacts use. */
typedef struct contact_settings {
  double erp;           /* the paper's gamma */
  double cfm;
  double surface_layer; /* m */
  double max_velocity;  /* m/s, the program's own cap on push-out */
  double max_cfm;       /* a normal row with more is a spring */
  int edges;            /* K: even, at least 4 */
  double slip_floor;    /* m/s: below this a slip has no direction */
} contact_settings;

/** What is built for a contact: the host's rows in the host's order. */
typedef struct contact_rows {
  int first_row; /* the normal row */
  int n_rows;
  int n_sliding; /* of these: tangential, right after the normal row */
  double sliding_axis[2][3]; /* their directions */
  double slip[3];            /* what the edges are aligned with, world frame */
} contact_rows;

/**
 * Append a contact's rows.
 *
 * @param slip_hint  [3] a direction of slip to align the edges with where the
 *                   slip to come is too small to have one; 0 for none
 */
void contact_rows_add(row_set *set, const row_frame *frame,
                      const contact_settings *settings,
                      const contact_reading *reading,
                      const double slip_hint[3], contact_rows *built);

/** The most rows, friction sets and pairs (a polygon's too) a contact takes. */
#define CONTACT_ROWS_MAX 6
#define CONTACT_FRICTIONS_MAX 5
#define CONTACT_PAIRS_MAX(edges) (((edges) > 64 ? (edges) / 2 : 32) + 3)

#endif
