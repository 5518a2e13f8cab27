/* A block pushed across an incline: it slides in a curve and comes to rest,
 * friction against the slip in every direction. */
#include <math.h>

#include "own_scenes.h"
#include "scenes/scene_build.h"
#include "scenes/scene_reference.h"

static const double SLOPE = 20 * M_PI / 180, FRICTION = 0.6, SPEED = 2;
static const double SIDES[3] = {0.4, 0.4, 0.1};

double incline_heading = 60;

/* y: place and velocity in the plane of the incline; x points down. */
static void slope(const void *context, double t, const double y[],
                  double slope[]) {
  double g = *(const double *)context, speed = hypot(y[2], y[3]);
  (void)t;
  for (int i = 0; i < 2; i++) {
    slope[i] = y[2 + i];
    slope[2 + i] = -FRICTION * g * cos(SLOPE) * y[2 + i] / speed;
  }
  slope[2] += g * sin(SLOPE);
}

/* Integrate until it stops, or to the end, in so many pieces. */
static void exact_end(double gravity, double heading, double end, int pieces,
                      double y[4]) {
  double angle = heading * M_PI / 180;
  y[0] = y[1] = 0;
  y[2] = SPEED * cos(angle);
  y[3] = SPEED * sin(angle);
  // steps shrink with the speed: its direction is all that matters at the end
  double t = 0, piece = end / pieces;
  while (t < end && hypot(y[2], y[3]) > 1e-9 * SPEED) {
    double step = fmin(piece, 0.01 * hypot(y[2], y[3]) / gravity);
    step = fmin(step, end - t);
    reference_integrate(slope, &gravity, 4, y, 0, step, 1);
    t += step;
  }
}

static void judge_incline(scene_run_state *run) {
  scene_result *result = run->result;
  double y[4], g = run->settings->gravity;
  const double *q = result->positions + 6 * result->n_steps;
  double lowest = 0, highest = 0;
  exact_end(g, incline_heading, result->times[result->n_steps], 20000, y);
  result->errors[0] = hypot(q[0] - y[0], q[1] - y[1]);
  for (int i = 3; i < 6; i++) {
    lowest = fmin(lowest, q[i]);
    highest = fmax(highest, q[i]);
  }
  result->errors[1] = highest - lowest;
}

static bool build_incline(scene_run_state *run) {
  double inertia[3], g = run->settings->gravity;
  double angle = incline_heading * M_PI / 180;
  for (int i = 0; i < 3; i++) {
    double a = SIDES[(i + 1) % 3], b = SIDES[(i + 2) % 3];
    inertia[i] = (a * a + b * b) / 12;
  }
  dWorldSetGravity(run->world, g * sin(SLOPE), 0, -g * cos(SLOPE));
  run->frame = SCENE_FRAME_SPATIAL;
  run->surface.parameters.mu = FRICTION;
  run->judge = judge_incline;
  dBodyID block = scene_add_spatial(run, 0, 0, SIDES[2] / 2, 1, inertia);
  if (block == NULL) return false;
  dBodySetLinearVel(block, SPEED * cos(angle), SPEED * sin(angle), 0);
  dGeomID box = dCreateBox(run->space, SIDES[0], SIDES[1], SIDES[2]);
  return scene_add_centred(run, box, block) &&
         scene_add_fixed(run, dCreatePlane(run->space, 0, 0, 1, 0));
}

const scene scene_incline = {
    .name = "incline",
    .summary = "a block slides across an incline in a curve and stops",
    .source = "Coulomb's law, integrated",
    .h = 0.01,
    .time = 2,
    .gravity = 9.81,
    .knows = SCENE_GRAVITY,
    .options = "scheme=trapezoid",
    .step_sizes = {0.02, 0.01, 0.005, 0.0025, 0.00125},
    .error_kinds = {{"position", "m"}, {"turned", "rad"}},
    .infeasibility_unit = "m",
    .build = build_incline};
