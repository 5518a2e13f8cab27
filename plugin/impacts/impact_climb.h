/* How far a sample's way can go to an end without leaving its modes.
 *
 * In the mode of each of its steps the impulses are a linear function of velocities
 * and caps, and so are the conditions of the mode. So over all caps of all steps of a
 * way the velocity that it ends at is linear, and which caps lead furthest is a linear
 * program. */
#ifndef ODE_MLCP_IMPACTS_IMPACT_CLIMB_H
#define ODE_MLCP_IMPACTS_IMPACT_CLIMB_H

#include "common/arena.h"
#include "impacts/contact_space.h"

/* Contact directions of a space that is climbed in, and caps of a way. */
enum { CLIMB_MOST_ROWS = 32, CLIMB_MOST_CAPS = 160 };

/* A way: of each step what was put in, the solution taken and where it led. */
typedef struct impact_way {
  int n_steps;
  double *inputs;  /* [steps x (n_rows + m)] */
  double *lambdas; /* [steps x n_rows] */
  double *reached; /* [steps x n_rows] */
} impact_way;

typedef struct impact_climb {
  const contact_space *space;
  double h;       /* N s, of a full cap */
  int most_caps;  /* of a way; longer ones are not looked at. 0: none is */
  int most_rows;  /* of the program */
  int *contacts;  /* [m] 0, 1 .. */
  int64_t *modes; /* [most_caps/m] of a way's steps */
  double *scratch, *impulses, *conditions; /* of one mode */
  double *change; /* [n_inputs x most_caps] of inputs */
  double *push;   /* [n_rows x most_caps] of impulses */
  double *table;  /* [most_rows x most_caps] the program's dictionary */
  double *value, *low, *high; /* [most_caps + most_rows] of its variables */
  int *basic, *outside;       /* [most_rows], [most_caps] which these are */
  double *gain;               /* [most_caps] */
} impact_climb;

/** False: no memory. A space of another kind than modes are for, or of too many
 *  modes to be numbered, is never climbed in. */
bool impact_climb_open(impact_climb *climb, const contact_space *space,
                       double h, int most_steps, arena *arena);

/**
 * Go along a way as far as its modes allow: change its caps to those that lead furthest,
 * and all that follows from them. No step is solved for this.
 *
 * @param way    that ends at an outcome; in and out
 * @param toward [n_rows] what of the velocity at its end is to grow
 * @param least  parts of h, of a cap
 * @param choose gives numbers in (0, 1): they tell which of the modes that a step is
 *               at the border of is taken
 * @return false: nothing is gained, or it cannot say; the way is as it was
 */
bool impact_climb_go(impact_climb *climb, impact_way *way,
                     const double toward[], double least,
                     double (*choose)(void *), void *context);

#endif
