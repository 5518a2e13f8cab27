/* The five collisions of Halm & Posa 2023, sec. 5.4, tables 4-8, worked out
 * from their lengths, masses and angles. */
#ifndef ODE_MLCP_IMPACTS_EXAMPLES_H
#define ODE_MLCP_IMPACTS_EXAMPLES_H

#include "ode_mlcp_impacts.h"

enum { IMPACT_EXAMPLES = 5, EXAMPLE_VELOCITIES = 9, EXAMPLE_CONTACTS = 5 };

typedef struct impact_example {
  const char *name;
  ode_mlcp_impact_problem problem; /* points into this struct */
  double h;                        /* N s */
  int steps;
  uint64_t samples;
  const char *coordinates; /* names of the velocities, by commas */
  const char *contacts;    /* what A, B, .. are, by semicolons */
  double M[EXAMPLE_VELOCITIES * EXAMPLE_VELOCITIES];
  double Jn[EXAMPLE_CONTACTS * EXAMPLE_VELOCITIES];
  double Jt[EXAMPLE_CONTACTS * EXAMPLE_VELOCITIES];
  double mu[EXAMPLE_CONTACTS];
  double v[EXAMPLE_VELOCITIES];
} impact_example;

/** Name of example 0 .. IMPACT_EXAMPLES - 1. */
const char *impact_example_name(int index);

/** Fill the example of that name; 0 when there is none. The struct must stay
 *  where it is. */
int impact_example_fill(impact_example *example, const char *name);

#endif
