/* A rod that spins as it falls onto a table: ST sec. 4.1, figs. 2 to 5.
 *
 * The first impact leaves it in a configuration (Painleve's) in which no
 * accelerations obey Coulomb's law; time stepping has no difficulty. */
#include <math.h>
#include <stdio.h>

#include "scenes/painleve.h"
#include "scenes/scene_build.h"

static const double LENGTH = 0.5, RADIUS = 0.05;
static const double MASS = 1, INERTIA = 0.002, FRICTION = 0.6;

/* True if the lower end could slide as it came down, to the right, in the pose
 * and with the turning of a row. */
static bool may_slide_on(const scene_result *result, long row) {
  const double *q = result->positions + 3 * row;
  double end = sin(q[2]) > 0 ? -LENGTH / 2 : LENGTH / 2, A, b;
  sliding_contact contact = {
      .mass = MASS,
      .inertia = INERTIA,
      .friction = FRICTION,
      .gravity = result->settings.gravity,
      .slip = 1,
      .turning = result->velocities[3 * row + 2],
      .arm = {end * cos(q[2]), end * sin(q[2]) - RADIUS}};
  return sliding_contact_solvable(&contact, &A, &b);
}

/* When it lies on one end and no accelerations let that slide on. */
static void judge_falling_rod(scene_run_state *run) {
  scene_result *result = run->result;
  double first = INFINITY, last = 0;
  for (long i = 0; i <= result->n_steps; i++) {
    const double *q = result->positions + 3 * i;
    bool touches = q[1] - LENGTH / 2 * fabs(sin(q[2])) - RADIUS < 1e-3;
    if (!touches || may_slide_on(result, i)) continue;
    first = fmin(first, result->times[i]);
    last = result->times[i];
  }
  if (last > 0)
    snprintf(result->note, sizeof result->note,
             "from %.4g s to %.4g s no accelerations obey Coulomb's law for an "
             "end that slides as it came down",
             first, last);
}

static bool build_falling_rod(scene_run_state *run) {
  run->frame = SCENE_FRAME_PLANAR;
  run->surface.parameters.mu = FRICTION;
  run->judge = judge_falling_rod;
  dBodyID rod = scene_add_planar(run, 0, 1, M_PI / 6, MASS, INERTIA);
  if (rod == NULL) return false;
  dBodySetAngularVel(rod, 0, 0, 4);
  // the capsule lies along the body's x axis
  const double turn[4] = {sqrt(0.5), 0, sqrt(0.5), 0};
  return scene_add_geom(run, dCreateCapsule(run->space, RADIUS, LENGTH), rod,
                        NULL, turn) &&
         scene_add_fixed(run, dCreatePlane(run->space, 0, 1, 0, 0));
}

/* Differences of the final position and of the way there. */
static void compare(const scene_result *coarse, const scene_result *finest,
                    double errors[SCENE_ERRORS]) {
  const double *a = coarse->positions + 3 * coarse->n_steps;
  const double *b = finest->positions + 3 * finest->n_steps;
  scene_compare_ways(coarse, finest, errors);
  errors[2] = fabs(a[0] - b[0]);
}

const scene scene_falling_rod = {
    .name = "falling-rod",
    .summary = "a spinning rod hits a table, in Painleve's configuration",
    .source = "Stewart & Trinkle 2000, sec. 4.1",
    .h = 0.0025,
    .time = 1,
    .gravity = 9.81,
    .knows = SCENE_GRAVITY,
    .options = "scheme=st",
    .step_sizes = {0.04, 0.02, 0.01, 0.005, 0.0025, 0.000625},
    .error_kinds = {{"velocity", "m, rad"},
                    {"position", "m, rad"},
                    {"x_end", "m"}},
    .compare = compare,
    .infeasibility_unit = "m",
    .build = build_falling_rod};
