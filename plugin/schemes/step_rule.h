/* What second-order schemes differ by, and the state of a step. */
#ifndef ODE_MLCP_SCHEMES_STEP_RULE_H
#define ODE_MLCP_SCHEMES_STEP_RULE_H

#include "schemes/motion.h"
#include "schemes/scheme.h"

typedef struct second_order second_order;
typedef struct joint_row_state joint_row_state; /* conserving.c */

/** The differences between the second-order schemes, as data. */
typedef struct step_rule {
  double
      share; /* of the end, in the mean velocity of the step and in its forces; 0:
                    alpha of the options */
  bool ends;     /* rows hold the velocity at the end, not the mean one */
  bool midpoint; /* Jacobians and masses at q + (h/2) v */
  bool holds; /* velocities that joints do not allow are taken out when a step
                    ends: they would turn round from step to step */
  bool first; /* of first order: see first_order_rule */
  bool conserves; /* the way to a collision is a step of its own, as what flies
                     between the ends of a longer one conserves nothing; an
                     impact gives no energy; small joint errors are the next
                     step's */
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
  double *shift;  /* [3 contacts of the problem, then 6 rows of its joints]
                      what surfaces and motors ask for more in a step */
  motion ahead;   /* scratch */
  double *
      carry; /* [6 n_bodies] of a scheme that conserves: what the last step's projection
                    added and this one's start took back; then what its own adds */
  const double *start_v; /* [6 n_bodies] velocities at the start, */
  double *u; /* [6 n_bodies] and those that rows are for, of the last round */
  double *mass, *x_free, *force, *k_q, *k_v;
  double *gyroscopic; /* [9 n_bodies] Jacobians of those torques in M~ */
  double *taut;       /* [9 n_bodies] K of taut_joints.h, N m */
  extra_row *rows;
  double *early; /* [6 n_bodies] forces at the start of the step tried */
  int n_end;    /* rows of springs on the velocities at its end, conserving.h */
  bool again;   /* the next solve is another round of the last one, */
  bool keeps;   /* with its matrix: what that lacks is a force and a target */
  bool *free;   /* [n_bodies] no row acts on it, in a step of first order */
  bool detects; /* steps are cut where contacts begin or end to slip */
  /* of the last step tried */
  bool unsettled; /* it did not settle: it is too large */
  double allowed; /* J: what it may end with then, of conserving.h */
  /* of conserving.h: */
  world_snapshot before;       /* joints at the start of a step */
  joint_row_state *row_states; /* [6 middle.n_joint_rows] */
  bool near;           /* compliances count from the last round's impulses */
  int *end_of;         /* [here's contacts] contact in `there`, -1: lost */
  extra_row *end_rows; /* what velocities at the end obey beside joints */
};

#endif
