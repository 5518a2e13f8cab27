/* The whole world at once, at any poses: for schemes that take Jacobians away
 * from the poses of the step's start, look ahead for collisions, or take
 * several substeps in one step of the host.
 *
 *   world_form_read     the bodies and joints of all islands, once a step
 *   form_view_evaluate  masses, joint rows and contacts at given poses
 *   form_solve          one mixed LCP over the world on what a view shows, part
 *                       by part, verified
 *
 * Nothing here writes to the host but the poses of bodies while a view is
 * evaluated, and those are put back bit for bit. Results wait for the commit
 * (step/stepper.c).
 */
#ifndef ODE_MLCP_SCHEMES_FORM_H
#define ODE_MLCP_SCHEMES_FORM_H

#include <ode/stepper.h>

#include "ode_mlcp.h"
#include "rows/contact_rows.h"
#include "rows/joint_rows.h"
#include "solver/cone.h"
#include "solver/solver.h"
#include "step/island.h"

typedef struct form_pose {
  double position[3];
  double quaternion[4]; /* body to world, unit */
} form_pose;

typedef struct form_body {
  dBodyID id;
  unsigned long serial;
  bool kinematic;
  bool gyroscopic;      /* the program left the gyroscopic term on */
  form_pose home;       /* at the start of the step */
  dReal rotation[12];   /* the host's own, to be put back */
  double v[6];          /* at the start of the step */
  double force[6];      /* the program's and gravity; held over the step */
} form_body;

typedef struct form_joint {
  dJointID id;
  bool contact;
  bool from_source;     /* of the collision function, which is asked again */
  int body[2];          /* in the form, -1 the world */
} form_joint;

/** A contact, an unreached stop of a joint: whatever has a gap. */
typedef struct form_contact {
  contact_reading reading;
  dContact contact;     /* reading.contact points here, */
  contact_polygon polygon; /* and reading.polygon here or nowhere */
  bool has_polygon;
  double gap;           /* m or rad; < 0: overlap */
  double restitution, bounce_speed; /* 0, or as the surface says */
  int joint;            /* of the form: a frozen contact's or a stop's; -1 */
  int stop;             /* number of the stop in its joint, -1: a contact */
  int found;            /* number in the collision function's list, or -1 */
  double stop_J[2][6];  /* of a stop */
  double local[2][3];   /* its point in the frames of the bodies */
  /* the caller's to set */
  bool active;          /* takes part in solves */
  bool held;            /* touched when the velocities were last solved for */
  bool slipping;        /* its friction was at its limit then */
  double hit;           /* s: when it last took part in an impact; -INFINITY */
} form_contact;

/** Normals of the same contact at two near poses have at least this product. */
#define FORM_SAME_NORMAL 0.7

/** What the world looks like at some poses. */
typedef struct form_view {
  host_body *bodies;        /* [n_bodies]; v as given; force: see form_body */
  joint_reading *readings;  /* [n_joints]; rows.count 0 for contacts */
  form_contact *contacts;
  int n_contacts, room;
  bool linearised; /* has contacts of the program's own joints, whose points
                      and normals cannot be found anew at other poses */
  memory_block body_block, reading_block, contact_block;
} form_view;

typedef struct world_form {
  const memory_source *source;
  contact_source *contacts;   /* the caller's to set */
  ode_mlcp_contact_list list; /* found where a view was evaluated last */
  const ode_mlcp_options *options;
  dWorldID world;
  double step_size;
  double world_erp, world_cfm, surface_layer, max_velocity, gravity;
  double time;           /* s, of the step's start */
  int n_bodies, n_joints;
  form_body *bodies;     /* in the order of the islands */
  form_joint *joints;
  island_result *result; /* report, message and warning go here */
  solver_workspace *solver;
  struct form_scratch *scratch;
  memory_block body_block, joint_block, serial_block;
} world_form;

/** @return NULL when memory runs out. */
world_form *world_form_create(const memory_source *source);
void world_form_destroy(world_form *form);

/**
 * Read the bodies and joints of a step's islands (the host keeps those of all
 * islands in one array each).
 *
 * @param time    s, of the step's start
 * @param result  out: report and message; kept until the next read
 * @return false with result->message where a body or a joint cannot be
 *         stepped or memory ran out.
 */
bool world_form_read(world_form *form, dWorldID world, double step_size,
                     double time, const dStepperIsland *islands,
                     size_t n_islands, const ode_mlcp_options *options,
                     island_result *result);

/** The body's index in the form, -1 where it is not in it (disabled, of
 *  another world, NULL). */
int world_form_find_body(const world_form *form, dBodyID id);

/**
 * Look at the world at other poses.
 *
 * @param poses      [n_bodies], NULL: where the bodies are
 * @param v          [6 n_bodies] what to put into view->bodies[].v; NULL: the
 *                   velocities of the step's start
 * @param step_size  s, for the rates of joint rows
 */
bool form_view_evaluate(world_form *form, form_view *view,
                        const form_pose poses[], const double v[],
                        double step_size);

void form_view_release(form_view *view, const memory_source *source);

/** How contact `k` of one view and those of another belong together.
 *
 * Stops and frozen contacts by their joint; others are the nearest of the same
 * bodies as seen from either body, and not further apart than `radius` (m).
 *
 * @param match  [a->n_contacts] out: index in b or -1, each of b at most once
 * @param taken  [b->n_contacts] scratch
 */
void form_view_match(const form_view *a, const form_view *b, double radius,
                     int match[], bool taken[]);

/** v_n, the rate of a contact's gap at the velocities `v` [6 n_bodies]. */
double form_contact_rate(const form_contact *contact, const double v[]);

/** The gradient of a contact's gap, per body: linear, angular. */
void form_contact_jacobian(const form_contact *contact, double J[2][6]);

/** Which body comes first may change from view to view. To be compared, a
 *  contact is seen from the body that comes first in the form.
 * @return 1 where that is the second, else 0. */
int form_contact_swapped(const form_contact *contact);

/** How the body that comes first in the form slides over the other at the
 *  contact, m/s; without the surface's own motion. */
void form_contact_slip(const form_contact *contact, const double v[],
                       double slip[3]);

/* --- poses ---------------------------------------------------------------- */

/** out = q moved by `velocity` [6] over h; exact for a constant turn. */
void form_pose_move(form_pose *out, const form_pose *q,
                    const double velocity[6], double h);

/** The velocity with which the host's own rule moves `body` from its home to
 *  `to` in `h`. */
void form_pose_velocity(double velocity[6], const form_body *body,
                        const form_pose *to, double h);

/* --- solving -------------------------------------------------------------- */

typedef enum form_rows {
  FORM_STEP,    /* what acts over a time: all joint rows, friction */
  FORM_IMPACT,  /* what acts at once: rigid rows without a finite limit */
  FORM_POSITION /* x moves bodies (m/s over the step): corrections of joint
                   rows, overlaps of contacts; no friction */
} form_rows;

/** A row beside those of joints and contacts, between two bodies of the form;
 *  as it stands: w = J x + compliance p + bias = 0. */
typedef struct form_extra_row {
  int body[2]; /* -1 the world */
  double J[2][6];
  double bias, compliance;
} form_extra_row;

/** One problem over the world. Rows of joints and contacts are
 *  w = J x + scale (compliance p + bias) + carry J v, with the bias of the
 *  velocity level and v of the view: docs/formulation.md, eq. 6 and 20. */
typedef struct form_request {
  form_rows rows;
  bool position_level;     /* of FORM_STEP: rows keep the gaps of their contacts
                              and stops, and the corrections of joints */
  double step_size;        /* s: scales limits and compliances */
  double scale, carry;
  const double *mass;      /* [36 n_bodies] M~; NULL: that of the view */
  const double *x_free;    /* [6 n_bodies] */
  const form_extra_row *extra;
  int n_extra;
  const double *guess;     /* [6 n_contacts] impulses, NAN: new; or NULL */
  double slip_floor;       /* m/s, see contact_settings */
  bool count_jams;         /* for the report, with options.check_cone */
  cone_check *cone;        /* not NULL: nothing is solved; the answer's impulses
                              are 1 on normal and joint rows that can jam */
} form_request;

/** Arrays are the answer's own, grown as needed. */
typedef struct form_answer {
  double *x;               /* [6 n_bodies]; kinematic bodies: their v */
  double *contact_impulse; /* [6 n_contacts] N s, in the order of
                              contact_rows; 0 where inactive */
  contact_rows *contact_rows;
  double (*contact_force)[2][6]; /* [n_contacts] N s, on its bodies */
  double *contact_w;       /* [n_contacts] w of the normal row, NAN: inactive */
  double *joint_impulse;   /* [6 n_joints] N s, in the host's order */
  double *extra_impulse;   /* [n_extra] */
  memory_block x_block, impulse_block, force_block, rows_block, w_block,
      joint_block, extra_block;
} form_answer;

/**
 * Solve. Counts go to form->result->report.
 *
 * @param view  contacts with `active` set take part; v_free of its bodies is
 *              overwritten
 * @return false with form->result->message where memory ran out or no finite
 *         solution was found.
 */
bool form_solve(world_form *form, form_view *view,
                const form_request *request, form_answer *answer);

void form_answer_release(form_answer *answer, const memory_source *source);

#endif
