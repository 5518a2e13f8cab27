/* One drawn world as a program on the plain ODE API:
 *
 *   never_worse_play step|quick SPLIT SEED [FILE|-]
 *
 * runs world number SEED on dWorldStep or dWorldQuickStep, a step in SPLIT substeps,
 * and prints a line of how it went; FILE gets where the bodies were at some times, and
 * with - each step is told.
 * `ode-mlcp run -- never_worse_play ..` puts another stepper under it.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gap/real.h"
#include "never_worse_world.h"

enum { SAMPLES = 24 };

/* how a run went; lengths over the size of the world's parts, energies over its scale */
typedef struct run_measures {
  double joint,
      joint_mean; /* widest error of a joint, and the mean of steps' */
  double depth, depth_mean; /* deepest contact, and the mean of steps' */
  double energy;            /* that nothing explains */
  double kept;              /* off the family's invariant */
  int refused;
  bool whole;     /* no number was none, nothing out of the world */
  double seconds; /* of a processor, for the whole run */
  int most_contacts;
} run_measures;

/* The host complains of what it cannot solve, line by line: the measures tell. */
static void keep_quiet(int number, const char *format, va_list values) {
  (void)number;
  (void)format;
  (void)values;
}

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void write_places(const drawn_world *w, FILE *file) {
  for (int i = 0; i < w->n_bodies; i++) {
    double row[8];
    real_read(row, dBodyGetPosition(w->bodies[i]), 3);
    real_read(row + 3, dBodyGetQuaternion(w->bodies[i]), 4);
    row[7] = w->sizes[i];
    fwrite(row, sizeof row, 1, file);
  }
}

/* Of a world that nothing drives, the most that its energy rose above an earlier time,
 * when springs may have held more of it; of others, the most that it was off the work
 * of joints and contacts.
 * @param before  J: energy before the step */
static double unexplained(const drawn_world *w, double before, double start,
                          double *least) {
  const double energy = world_energy(w);
  if (w->feedback) return fabs(energy - start - w->forces_work);
  *least = fmin(*least, before + w->springs_first);
  return energy - *least;
}

static run_measures play(drawn_world *w, bool quick, bool tells, FILE *file) {
  run_measures m = {.whole = true};
  const double start = world_energy(w);
  double least = start;
  m.seconds = -cpu_seconds();
  for (int i = 0; i < w->n_steps && m.whole; i++) {
    const double before = world_energy(w);
    m.refused += step_world(w, i, quick);
    m.whole = world_is_whole(w);
    if (!m.whole) break;
    const double joint = joint_error(w);
    m.joint = fmax(m.joint, joint);
    m.joint_mean += joint / w->n_steps;
    m.depth = fmax(m.depth, w->depth);
    m.depth_mean += w->depth / w->n_steps;
    m.energy = fmax(m.energy, unexplained(w, before, start, &least));
    const double off =
        w->invariant == NULL ? 0 : w->invariant(w, (i + 1) * w->step_size);
    m.kept = fmax(m.kept, off);
    if (tells)
      printf(
          "%d: %d contacts, %.3g deep, joints %.3g apart, energy %.9g, in "
          "springs before %.3g, forces' work %.9g J, invariant off %.3g\n",
          i, w->n_contacts, w->depth, joint, world_energy(w), w->springs_first,
          w->forces_work, off);
    if (w->n_contacts > m.most_contacts) m.most_contacts = w->n_contacts;
    if (file != NULL &&
        (i + 1) * SAMPLES / w->n_steps != i * SAMPLES / w->n_steps)
      write_places(w, file);
  }
  m.seconds += cpu_seconds();
  m.joint /= w->size;
  m.joint_mean /= w->size;
  m.depth /= w->size;
  m.depth_mean /= w->size;
  m.energy /= w->start_energy;
  return m;
}

int main(int n_arguments, char **arguments) {
  if (n_arguments < 4) {
    fprintf(stderr, "usage: never_worse_play step|quick SPLIT SEED [FILE|-]\n");
    return 2;
  }
  const bool quick = strcmp(arguments[1], "quick") == 0;
  const bool tells = n_arguments > 4 && strcmp(arguments[4], "-") == 0;
  FILE *file = NULL;
  if (n_arguments > 4 && !tells && (file = fopen(arguments[4], "wb")) == NULL) {
    perror(arguments[4]);
    return 2;
  }
  static drawn_world world;
  dInitODE2(0);
  dSetMessageHandler(keep_quiet);
  dRandSetSeed(1);
  draw_world(&world, strtoull(arguments[3], NULL, 10), atoi(arguments[2]));
  const run_measures m = play(&world, quick, tells, file);
  printf(
      "%s %d %.3g %.3g %.3g %d %d %d %.9g %.9g %.9g %.9g %.9g %.9g %d %d "
      "%.3g\n",
      world.family, world.feedback, world.size, world.mass, world.step_size,
      world.n_bodies, world.n_steps, m.most_contacts, m.joint, m.joint_mean,
      m.depth, m.depth_mean, m.energy, m.kept, m.refused, m.whole, m.seconds);
  destroy_world(&world);
  dCloseODE();
  return file != NULL && fclose(file) != 0 ? 2 : 0;
}
