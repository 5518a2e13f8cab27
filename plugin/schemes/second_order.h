/* One step of the trapezoids and of the (alpha, gamma) family, of any size and
 * from any state: masses, forces and weights of docs/formulation.md (20-23). */
#ifndef ODE_MLCP_SCHEMES_SECOND_ORDER_H
#define ODE_MLCP_SCHEMES_SECOND_ORDER_H

#include "schemes/motion.h"
#include "schemes/scheme.h"
#include "schemes/taut_joints.h"

typedef struct second_order second_order;

/** The parts of one solve of a step (20-23). */
typedef struct step_weights {
  double cq, cv;              /* M~ = M - cv k_v - cq k_q */
  double early, late;         /* of the forces at the two ends, s */
  double scale, carry;        /* assembly_request */
  double unknown;             /* 2: x = v + v+; 1: x = v+ */
  double move_v, move_v_plus; /* mean velocity of the step */
} step_weights;

/** Impulses of the rows of a joint in a substep. */
typedef struct joint_load {
  unsigned count;  /* of the host's rows; 0: not known */
  double force[6]; /* N, N m */
} joint_load;

/** A step of size h. `here` is at `from`.
 *  @param to  out, may not be `from`
 *  @return false with the outcome's message. */
typedef bool second_order_step(second_order *s, const motion *from, double h,
                               motion *to);

/** The differences between the second-order schemes, as data. */
typedef struct step_rule {
  second_order_step *take;
  step_weights (*weights)(const ode_mlcp_options *options, double h);
  bool midpoint; /* Jacobians and masses at q + (h/2) v */
  bool mean;     /* a solve is for the mean velocity of the step */
  bool holds; /* velocities that joints do not allow are taken out when a step
                    ends: they would turn round from step to step */
  bool first; /* of first order: see first_order_rule */
  bool conserves; /* the way to a collision is a step of its own, as what flies
                     between the ends of a longer one conserves nothing; an
                     impact gives no energy, and takes the place of what the last
                     projection did to those that are struck; small joint errors
                     are the next step's */
  const char *curves; /* said once of joints that curve; NULL: nothing */
} step_rule;

struct second_order {
  scheme_state base;
  scheme_step *step; /* in hand */
  const step_rule *rule;
  world_snapshot home;   /* at the start of the host's step */
  world_snapshot moved;  /* for `here`, where that is not home */
  world_snapshot *here;  /* at the start; contacts have `active` set */
  world_snapshot middle; /* where the Jacobians are taken */
  world_snapshot there;  /* and where the last round has them or the end */
  world_matcher matcher;
  int *middle_of; /* [here's contacts] contact in `middle`, -1: lost */
  double *slips;  /* [3 contacts of the problem] see assembly_request */
  double *shift;  /* [3 contacts of the problem] see second_order_shift */
  motion ahead;   /* scratch */
  double *u;      /* [6 n_bodies] mean velocities of the step */
  double *mass, *x_free, *force, *k_q, *k_v;
  double *gyroscopic; /* [9 n_bodies] Jacobians of those torques in M~ */
  joint_load *loads;  /* [n_joints] of the last substep */
  double *taut;       /* [9 n_bodies] K of taut_joints.h, N m */
  extra_row *rows;
  double *early; /* [6 n_bodies] forces at the start of the step tried */
  int n_end;    /* rows of springs on the velocities at its end, conserving.h */
  bool again;   /* the next solve is another round of the last one */
  bool *free;   /* [n_bodies] no row acts on it, in a step of first order */
  bool *stiff;  /* [n_bodies] see second_order_find_stiff */
  bool detects; /* steps are cut where contacts begin or end to slip */
  /* of the last step tried */
  bool unsettled;                      /* it did not settle: it is too large */
  bool stays;                          /* its rounds neither shrank nor grew */
  struct conserving_state *conserving; /* see conserving.h */
};

extern const step_rule gap_rule, trapezoid_1_rule, trapezoid_rule;

/** Anitescu and Potra's step, which takes the place of a second-order one where events
 *  crowd or rounds do not end: contacts of `here` within reach and joints as they are at
 *  its start, forces at its end. It corrects no positions and brings no energy: what
 *  meets in it gives nothing back. */
extern const step_rule first_order_rule;

/** Those of trapezoid-1. */
step_weights second_order_trapezoid_weights(const ode_mlcp_options *options,
                                            double h);

/** alpha of v_alpha: 1/2 for the trapezoids. */
double second_order_alpha(const second_order *s);

/** True if rows hold the velocity at the end itself, not the mean. */
bool second_order_holds_end(const second_order *s);

/** Take what depends on the number of bodies of `home` from the step's arena. */
bool second_order_reserve(second_order *s);

/**
 * Mark the bodies on which a spring or damper acts whose own time is no longer
 * than a step of size h (c g'M^-1 g >= 1). A trapezoid keeps such forces
 * stable, but velocities alternate from step to step: there is nothing to be found
 * between the ends of a step. `here` is at `from`.
 */
void second_order_find_stiff(second_order *s, const motion *from, double h);

/** The impulses of the program's forces in a step of size h, into s->force: those held
 *  over it, those of functions, and of `springs`, at both its ends.
 *  @param late,late_v  where the end is taken to be, and its velocities
 *  @return false with the outcome's message. */
bool second_order_sum_forces(second_order *s, const step_weights *weights,
                             const world_snapshot *at, const motion *from,
                             const motion *late, const double late_v[],
                             bool springs, double h);

/** The world at other poses and a time of the step, for a step of size h from
 *  there; `margin` as world_read_at's. @return false with the outcome's message. */
bool second_order_look(const second_order *s, world_snapshot *world,
                       const motion *at, double h, double margin);

/** Contacts that are active at the start, at the point of the Jacobians. @return
 *  false with the outcome's message. */
bool second_order_look_at_middle(second_order *s, const motion *from, double h);

/** Friction of the contacts of the problem at `at` opposes the slip of free flight,
 *  until second_order_aim. @return false with the outcome's message. */
bool second_order_start_slips(second_order *s, const world_snapshot *at);

/** A request for x = `level`'s unknown at `at`. */
assembly_request second_order_request(const second_order *s,
                                      const world_snapshot *at,
                                      joint_level level, double h);

/**
 * Solve for the velocities of a step of size h from `v`, with the contacts at
 * `at`, the masses and free velocities in `s`, and its first n_rows rows.
 *
 * @param scale,carry  assembly_request
 * @return false with the outcome's message.
 */
bool second_order_solve(second_order *s, const world_snapshot *at, double h,
                        const double v[], int n_rows, double scale,
                        double carry);

/**
 * Friction opposes the slip at the end of the step (docs/formulation.md, "Active
 * contacts and events"), and so do motors of limited force: with rows for the mean
 * velocity that is (mean slip - share x slip at the start) / (1 - share), each with the
 * geometry of its own time. So until second_order_unshift surfaces at `at` move by
 * that part of the slip at the start more.
 *
 * @param v      velocities at the start, [6 n_bodies]
 * @param share  of the start's velocity in the rows': 1/2, or 0 where rows are for the
 *               end's
 * @return false with the outcome's message.
 */
bool second_order_shift(second_order *s, world_snapshot *at, const double v[],
                        double share);

void second_order_unshift(const second_order *s, world_snapshot *at);

/**
 * Aim the friction of what slides against the slip of the last answer's mean
 * velocities u [6 n_bodies], m/s. That of free flight, against which the answer's
 * friction works, is turned by friction itself: an error of first order where a
 * body spins as it slides. The edges of what does not slide yet follow the answer, as
 * under the other schemes (component_edges.c): they are of the slip at the end, which
 * would take the second order of what slides.
 *
 * Where the slip turns so far within a step that friction against its end would bring
 * energy, it opposes the mean slip instead, which never does: as where bodies turn by
 * radians.
 *
 * @param energy  J, of the motion at the start
 * @return true if any direction was off by more than a millionth, or friction brought
 *         energy: the step is to be solved again.
 */
bool second_order_aim(second_order *s, world_snapshot *at, const double u[],
                      double energy);

/** The snapshot that the last step's problem was made of. */
const world_snapshot *second_order_solved(const second_order *s);

/** Keep what joints carried in the last solve, a step of size h. */
void second_order_keep_loads(second_order *s, double h);

/**
 * Where the world's CFM is no mere rounding, rows that give way less than their
 * bodies are rigid for the velocities. But they rest where their spring carries
 * them: what it gives way under the load of the last substep is no error, and
 * what carries a load is moved there from either side.
 *
 * @param at  the world where second_order_correct is to correct it; known of its
 *            contacts is what the last substep left
 */
void second_order_load(second_order *s, world_snapshot *at);

/** The energy of velocities v [6 n_bodies] at the poses of `at`: J. */
double second_order_energy(const second_order *s, const motion *at,
                           const double v[]);

/**
 * Poses corrected by moving: x is the least motion, measured by mass, that takes away
 * ERP's share of joint errors and overlaps at `to`. With the errors of third order
 * that a step makes, so is the correction. Angular velocities go with their bodies, so
 * that the move brings no energy of motion; what it lifts against weights, it does.
 *
 * @param at  the world at `to`
 */
bool second_order_correct(second_order *s, world_snapshot *at, motion *to);

#endif
