/* The five collisions of Halm & Posa, from their folders in examples/impact. */
#ifndef ODE_MLCP_TESTS_IMPACT_EXAMPLE_H
#define ODE_MLCP_TESTS_IMPACT_EXAMPLE_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ode_mlcp_impacts.h"

#ifndef IMPACT_EXAMPLES_FOLDER /* where a test is built by itself */
#define IMPACT_EXAMPLES_FOLDER "impact"
#endif

enum { IMPACT_EXAMPLES = 5, EXAMPLE_VELOCITIES = 9, EXAMPLE_CONTACTS = 5 };

typedef struct impact_example {
  const char *name;
  ode_mlcp_impact_problem problem; /* points into this struct */
  double h;                        /* N s */
  int steps;
  uint64_t samples;
  double M[EXAMPLE_VELOCITIES * EXAMPLE_VELOCITIES];
  double Jn[EXAMPLE_CONTACTS * EXAMPLE_VELOCITIES];
  double Jt[EXAMPLE_CONTACTS * EXAMPLE_VELOCITIES];
  double mu[EXAMPLE_CONTACTS];
  double v[EXAMPLE_VELOCITIES];
} impact_example;

/** The collision of these, into which it points. */
static inline ode_mlcp_impact_problem
collision_of(int n_velocities, int n_contacts, int n_tangents, const double M[],
             const double Jn[], const double Jt[], const double mu[],
             const double v[]) {
  return (ode_mlcp_impact_problem){.n_velocities = n_velocities,
                                   .n_contacts = n_contacts,
                                   .n_tangents = n_tangents,
                                   .M = M,
                                   .Jn = Jn,
                                   .Jt = Jt,
                                   .mu = mu,
                                   .v = v};
}

static inline const char *impact_example_name(int index) {
  static const char *const names[IMPACT_EXAMPLES] = {
      "rocking-block", "compass-gait", "box-wall", "ramone", "disk-stack"};
  return names[index];
}

static inline FILE *example_file(const char *name, const char *file) {
  char path[4096];
  snprintf(path, sizeof path, IMPACT_EXAMPLES_FOLDER "/%s/%s", name, file);
  return fopen(path, "r");
}

/* Read name.mtx row by row; false: it is not there, or has more numbers than `most`. */
static inline bool read_example_array(const char *name, const char *file,
                                      size_t most, int *n_rows,
                                      double numbers[]) {
  FILE *in = example_file(name, file);
  int n_columns;
  if (in == NULL) return false;
  bool read = fscanf(in, "%*[^\n] %d %d", n_rows, &n_columns) == 2 &&
              (size_t)(*n_rows * n_columns) <= most;
  for (int j = 0; read && j < n_columns; j++)
    for (int i = 0; i < *n_rows; i++)
      read = read && fscanf(in, "%lf", &numbers[i * n_columns + j]) == 1;
  fclose(in);
  return read;
}

/** Fill the example of that name; false when there is none. The struct must stay
 *  where it is. */
static inline bool impact_example_fill(impact_example *example,
                                       const char *name) {
  enum { ALL = EXAMPLE_CONTACTS * EXAMPLE_VELOCITIES };
  int s, m, rows;
  memset(example, 0, sizeof *example);
  example->name = name;
  FILE *in = example_file(name, "options.txt");
  unsigned long long samples = 0;
  bool read =
      in != NULL &&
      fscanf(in, "%*[^\n] h %lf steps %d samples %llu", &example->h,
             &example->steps, &samples) == 3 &&
      read_example_array(name, "M.mtx", sizeof example->M / sizeof(double), &s,
                         example->M) &&
      read_example_array(name, "Jn.mtx", ALL, &m, example->Jn) &&
      read_example_array(name, "Jt.mtx", ALL, &rows, example->Jt) &&
      read_example_array(name, "mu.mtx", EXAMPLE_CONTACTS, &rows,
                         example->mu) &&
      read_example_array(name, "v.mtx", EXAMPLE_VELOCITIES, &rows, example->v);
  if (in != NULL) fclose(in);
  if (!read) return false;
  example->samples = samples;
  example->problem = collision_of(s, m, 1, example->M, example->Jn, example->Jt,
                                  example->mu, example->v);
  return true;
}

#endif
