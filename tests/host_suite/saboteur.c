// A stepper gone wrong, preloaded: what the demo suite must notice. At the
// 500th step (the last: the host aborts on NaN in the next) SABOTAGE says what
// happens: nan (a velocity), fail (the step returns 0), half (it returns 0 and
// yet has moved), crash, message (of the host's own solver), rand (the
// program's random stream is drawn from), drift (one position differs from run
// to run, by its last bits), none.
#define _GNU_SOURCE // RTLD_NEXT
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ode/ode.h>

static dBodyID last_body;

dBodyID dBodyCreate(dWorldID world) {
  __typeof__(dBodyCreate) *next;
  void *function = dlsym(RTLD_NEXT, "dBodyCreate");
  memcpy(&next, &function, sizeof next);
  return last_body = next(world);
}

int dWorldStep(dWorldID world, dReal step_size) {
  static int n_steps;
  const char *sabotage = getenv("SABOTAGE");
  if (++n_steps == 500 && sabotage) {
    if (strcmp(sabotage, "fail") == 0) return 0;
    if (strcmp(sabotage, "crash") == 0) abort();
    if (strcmp(sabotage, "rand") == 0) dRand();
    if (strcmp(sabotage, "message") == 0)
      fprintf(stderr, "\nODE Message 3: LCP internal error, s <= 0\n");
  }

  __typeof__(dWorldStep) *next;
  void *function = dlsym(RTLD_NEXT, "dWorldStep");
  memcpy(&next, &function, sizeof next);
  int done = next(world, step_size);
  if (n_steps == 500 && sabotage && strcmp(sabotage, "nan") == 0)
    dBodySetLinearVel(last_body, NAN, 0, 0);
  if (n_steps == 500 && sabotage && strcmp(sabotage, "half") == 0) return 0;
  if (n_steps == 500 && sabotage && strcmp(sabotage, "drift") == 0)
    dBodySetPosition(last_body, 1 + 1e-15 * (double)getpid(), 0, 1);
  return done;
}
