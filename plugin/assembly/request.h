/* What a scheme asks of the assembly: level, poses, masses, right-hand side. */
#ifndef ODE_MLCP_ASSEMBLY_REQUEST_H
#define ODE_MLCP_ASSEMBLY_REQUEST_H

#include "rows/joint_rows.h"
#include "solver/solver.h"
#include "world/world.h"

/** A row beside those of joints and contacts, between two bodies of the world;
 *  as it stands: w = J x + compliance p + bias = 0. */
typedef struct extra_row {
  int body[2]; /* -1 the world */
  double J[2][6];
  double bias, compliance;
} extra_row;

/** One component after its solve; valid during the call only. */
typedef struct solved_component {
  dWorldID world;
  const dStepperIsland *host_island; /* NULL: of all islands at once */
  size_t island;                     /* in the step, from 0 */
  int component;                     /* in the island, from 0 */
  int solve; /* in the island, from 0: a component may take several, and one
                     more that only corrects positions */
  bool moves_only; /* corrects positions, no velocities */
  const mlcp_problem *problem;
  const int *
      joint_of_row; /* [n_rows] a row's joint in the island, -1 of a stop that is
                              not reached and what has none. NULL: moves_only */
  const double *guess;           /* [n_rows], NAN where a row is new */
  const mlcp_solution *solution; /* not written under SOLVER_NO_MEMORY and
                                    SOLVER_TOO_LARGE */
  const solver_report *report;
  double seconds;   /* wall clock of the solve */
  double tolerance; /* asked of it */
} solved_component;

/** Called from the threads that solve, for several islands at once where the
 *  host has several; may not touch the world. */
typedef void solve_observer(void *context, const solved_component *component);

/** A scheme's request. Rows of joints and contacts are
 *  w = J x + compliance p + bias: docs/formulation.md, eq. 6 and 20. */
typedef struct assembly_request {
  const world_snapshot *world; /* joints, their rows and the world's values */
  const host_body *bodies;     /* whose masses; NULL: the world's */
  const world_contacts
      *contacts; /* those active take part; NULL: the world's */
  const ode_mlcp_options *options;
  joint_level
      level;  /* of joints and contacts; where forces act what is known of them
                        says what solves start from; at JOINT_LEVEL_MOVE x moves bodies
                        (m/s over the step), at and below JOINT_LEVEL_VELOCITY
                        rigid contacts are taken to touch, and at
                        JOINT_LEVEL_MOVE those held to stay closed */
  double erp; /* of contacts at JOINT_LEVEL_POSITION and _MOVE */
  bool erp_for_all; /* see contact_settings */
  double step_size; /* s: scales limits and compliances */
  double share;     /* of the velocity at the end in x; the rest of it is v's */
  const double *mass;   /* [36 n_bodies] M~; NULL: that of the bodies */
  const double *v;      /* [6 n_bodies] at the start */
  const double *x_free; /* [6 n_bodies]; of kinematic bodies: their x */
  const extra_row *extra;
  int n_extra;
  double slip_floor;   /* m/s, see contact_settings and assembly_slip_floor */
  const double *slips; /* [3 contacts->n] what friction edges oppose, m/s, world
                           frame; 0 of a contact: the slip of free flight; or
                           NULL */
  const double
      *pressed;    /* [contacts->n] N s that contacts are given along their
                            normals beside the solve, which friction follows, too;
                            or NULL */
  bool adds_stops; /* stops that an answer would overshoot come in */
  double
      allowed; /* m/s: a component whose rows x_free obeys to within this is left
                      as it is, without a solve */
  bool projects; /* what velocities do not correct is moved (eq. 10) */
  bool again; /* the rows of the last solve with other numbers: the guess is its
                  impulses */
  bool
      replaced; /* where the budget ends a solve, another takes its place, for which
                    half of the budget is left: it is not counted */
  bool
      second_order; /* a scheme that aims the edges of slipping contacts itself,
                        and solves in rounds from the last one's impulses */
  /* for observers */
  solve_observer *observer;
  void *observer_context;
  const dStepperIsland *host_island;
} assembly_request;

#endif
