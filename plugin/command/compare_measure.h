/* What a step did, measured from outside, of what preload/traffic.h tells of it:
 * every stepper is judged by the same code. docs/compare.md has the formulas. */
#ifndef ODE_MLCP_COMMAND_COMPARE_MEASURE_H
#define ODE_MLCP_COMMAND_COMPARE_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "preload/traffic.h"

/** By which law a stepper's contacts are judged. */
typedef enum measured_law {
  LAW_OF_VELOCITY, /* stock: position errors become velocity, all of them */
  LAW_OF_MOTION,   /* ap, ah: what exceeds a speed moves the bodies */
  LAW_OF_GAP,      /* st: likewise, and an overlap may go in a single step */
  LAW_OF_IMPULSE   /* gap, trapezoids: events within the step */
} measured_law;

/** A body around one step. */
typedef struct measured_body {
  const traffic_body *told;
  bool dynamic, awake, awake_after;
  double rotation[9];          /* after the step */
  double energy;               /* J: kinetic, before the step */
  double free_v[3], free_w[3]; /* what it would have after it by itself */
  bool free_known;
  double solved_v[3], solved_w[3]; /* after it, before damping */
  double moved_v[3], moved_w[3];   /* what moved it, where this may differ */
  double way[3], turn[3]; /* m, rad: by the mean of v and solved_v; 0 where it
                             is not dynamic */
} measured_body;

/** A contact joint that the program made. */
typedef struct measured_contact {
  const traffic_contact *told;
  measured_body *bodies[2];   /* NULL: none */
  double levers[2][3];        /* on each body, of its normal */
  double before[2], alone[2]; /* m/s: each body's part of the opening, where the
                                 contact bounces; after the step, by itself */
  double normal_force, error;
} measured_contact;

/** A step that is measured, and sums since the start; begins as zeros. */
typedef struct measurement {
  const traffic_step *step;
  measured_law law;
  double h;              /* s */
  measured_body *bodies; /* of the step */
  measured_contact *contacts;
  int *groups;     /* [n_bodies] of bodies that are struck together, */
  int *group_ties; /* and how many joints and such contacts each has */
  size_t bodies_size, contacts_size, groups_size, counts_size;
  double energy, contact_work; /* J */
} measurement;

/** Fill all of `out`, which begins as zeros, that is measured. `step` is sound:
 *  its counts are those of what follows it, its places are there, and it stays as
 *  long as the measurement is asked. @return false without memory. */
bool measure_step(measurement *measurement, const traffic_step *step,
                  measured_law law, recording_step *out);

void measure_free(measurement *measurement);

#endif
