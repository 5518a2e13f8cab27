/* One law for every stepper: what a step did, measured from outside by the poses
 * before and after it and the impulses that it told. docs/compare.md has the
 * formulas. */
#ifndef ODE_MLCP_JUDGE_MEASURE_H
#define ODE_MLCP_JUDGE_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/memory.h"
#include "preload/traffic.h"

/** A body around one step. */
typedef struct measured_body {
  const traffic_body *told;
  bool dynamic, awake, awake_after;
  bool set;           /* the program has changed its velocity, or it is new */
  double rotation[9]; /* after the step */
  double energy;      /* J: kinetic, before the step */
  double free_v[3], free_w[3];     /* after it, were there no others */
  double solved_v[3], solved_w[3]; /* after it, before damping */
  double moved_v[3], moved_w[3];   /* from pose to pose, over the step */
  double way[3], turn[3];          /* m, rad: by the mean of v and solved_v */
  int n_pushed;                    /* joints, and contacts with a force */
  double missed[3],
      missed_turn[3]; /* N, N m: friction that is too much or too little */
  double aslant[3]; /* N: of that, what is right by limits in two directions */
  double arm;       /* m: the longest of its contacts' */
  double slip[3];   /* m/s: sum of its contacts' slow slips that friction allows
                     for no law's reason */
  int n_touching;   /* contacts that friction could hold */
} measured_body;

/** A contact joint that the program made. Velocities are those of the first body
 *  relative to the second, at the contact, m/s. */
typedef struct measured_contact {
  const traffic_contact *told;
  measured_body *bodies[2];  /* NULL: none */
  double before[3];          /* as the step begins */
  double moved[3], after[3]; /* from pose to pose; at the end */
  double force[3];           /* N: on the first */
  double normal_force;       /* N: shared with points as good as this */
  double error;
  double driven_work; /* J: of its force along dContactMotion1, 2 and N */
  double
      lasting_work; /* J: of the normal force where it held these bodies there
                          in the step before; 0: it did not */
} measured_contact;

/** A contact with a force that holds, kept to know it again in the next step. */
typedef struct kept_contact {
  uint64_t pair; /* of the bodies' numbers */
  double at[3];
} kept_contact;

/** What is kept of a body from step to step. */
typedef struct kept_body {
  double crept[3];   /* m: the way that it has */
  double v[3], w[3]; /* after the last step */
} kept_body;

/** A world's bodies by their numbers. */
typedef struct kept_world {
  kept_body *bodies;
  size_t n_bodies;
} kept_world;

/** A step that is measured, and sums since the start; begins as zeros. */
typedef struct measurement {
  const traffic_step *step;
  double h;              /* s */
  measured_body *bodies; /* of the step */
  measured_contact *contacts;
  kept_contact *kept; /* of the last step, sorted; of this world */
  size_t n_kept;
  uint32_t world;
  kept_world *worlds;
  size_t n_worlds;
  double most_crept;                    /* m */
  double energy, contact_work, lasting; /* J */
  memory_pool pool;                     /* of all that is kept */
} measurement;

/** Fill all of `out`, which begins as zeros, that is measured. `step` is sound:
 *  its counts are those of what follows it, its places are there, and it stays as
 *  long as the measurement is asked. @return false without memory. */
bool measure_step(measurement *measurement, const traffic_step *step,
                  recording_step *out);

void measure_free(measurement *measurement);

#endif
