/* Balls and boxes that are shot at a wall of a millimetre, each at its own speed up
 * to 1000 m/s, and rods that spin. What a ball or a box does is known: it flies to
 * the wall and back. Of the rods, none gets behind it. */
#include <math.h>
#include <stdio.h>

#include "own_scenes.h"
#include "scenes/scene_build.h"

enum { BALLS = 6, BOXES = 4, RODS = 6, BULLETS = BALLS + BOXES + RODS };

static const double HALF_WALL = 0.0005, RADIUS = 0.05, DISTANCE = 1;
static const double APART = 0.6; /* m */

static bool is_rod(int i) { return i >= BALLS + BOXES; }

/* m/s: those of a kind from 10 to 1000, evenly by their ratio. */
static double speed_of(int i) {
  int first = i < BALLS ? 0 : is_rod(i) ? BALLS + BOXES : BALLS;
  int count = i < BALLS ? BALLS : is_rod(i) ? RODS : BOXES;
  return 10 * pow(100, (double)(i - first) / (count - 1));
}

static double start_of(int i) { return -DISTANCE - 0.037 * i; }

/* Place and speed of a ball or box. */
static double exact_bullets(const scene_settings *settings, int i, double time,
                            double *speed) {
  double v = speed_of(i), wall = -HALF_WALL - RADIUS;
  double hits = (wall - start_of(i)) / v;
  *speed = time < hits ? v : -settings->restitution * v;
  return time < hits ? start_of(i) + v * time : wall + *speed * (time - hits);
}

static void judge_bullets(scene_run_state *run) {
  scene_result *result = run->result;
  const double *q = result->positions + result->n_steps * result->n_positions;
  const double *v = result->velocities + result->n_steps * result->n_velocities;
  double time = result->times[result->n_steps];
  int behind = 0;
  result->errors[0] = result->errors[1] = 0;
  for (int i = 0; i < BULLETS; i++) {
    double speed;
    behind += q[3 * i] > HALF_WALL;
    if (is_rod(i)) continue;
    double x = exact_bullets(run->settings, i, time, &speed);
    result->errors[0] = fmax(result->errors[0], fabs(q[3 * i] - x));
    result->errors[1] = fmax(result->errors[1], fabs(v[3 * i] - speed));
  }
  result->counted = behind;
  snprintf(result->note, sizeof result->note,
           "%d of %d bullets are behind the wall", behind, BULLETS);
}

/* A bullet meets the wall alone: a rod that comes off it aslant would hit others,
 * of which nothing is known then. */
static dGeomID bullet(dGeomID geom) {
  const unsigned long WALL = 1, BULLET = 2;
  dGeomSetCategoryBits(geom, BULLET);
  dGeomSetCollideBits(geom, WALL);
  return geom;
}

static bool add_bullet(scene_run_state *run, int i) {
  // along the body's x axis
  static const double along[4] = {0.70710678118654752, 0, 0.70710678118654752,
                                  0};
  double y = APART * (i - 0.5 * (BULLETS - 1));
  dBodyID body =
      scene_add_planar(run, start_of(i), y, is_rod(i) ? 0.3 + 0.5 * i : 0, 1,
                       is_rod(i) ? 0.01 : 0.4 * RADIUS * RADIUS);
  if (body == NULL) return false;
  dBodySetLinearVel(body, speed_of(i), 0, 0);
  if (is_rod(i)) dBodySetAngularVel(body, 0, 0, 40 * (i - BALLS - BOXES) - 90);
  double side = 2 * RADIUS;
  if (is_rod(i))
    return scene_add_geom(run,
                          bullet(dCreateCapsule(run->space, 0.2 * RADIUS, 0.3)),
                          body, NULL, along);
  return scene_add_centred(
      run,
      bullet(i < BALLS ? dCreateSphere(run->space, RADIUS)
                       : dCreateBox(run->space, side, side, side)),
      body);
}

static bool build_bullets(scene_run_state *run) {
  double height = APART * (BULLETS + 2);
  run->frame = SCENE_FRAME_PLANAR;
  run->judge = judge_bullets;
  scene_set_bounce(run, run->settings->restitution);
  for (int i = 0; i < BULLETS; i++)
    if (!add_bullet(run, i)) return false;
  return scene_add_fixed(run,
                         dCreateBox(run->space, 2 * HALF_WALL, height, 10));
}

const scene scene_bullets = {
    .name = "bullets",
    .summary = "balls, boxes and rods up to 1000 m/s against a wall of 1 mm",
    .source = "analytic",
    .h = 0.01,
    .time = 0.02,
    .restitution = 0.5,
    .knows = SCENE_RESTITUTION,
    .options = "scheme=trapezoid",
    .step_sizes = {0.02, 0.01, 0.005, 0.0025, 0.00125},
    .error_kinds = {{"position", "m"}, {"velocity", "m/s"}},
    .infeasibility_unit = "m",
    .build = build_bullets};
