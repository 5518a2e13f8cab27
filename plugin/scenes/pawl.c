/* A pawl of a micro-mechanical lock, 2.3 mm long, is pushed into a hole with a
 * slanted mouth, in the spirit of PAGT sec. 10.4. It starts beside the hole and
 * tilted, slides along the slant, turns and goes in, many contacts at once. */
#include <math.h>
#include <stdio.h>

#include "scenes/scene_build.h"

static const double MM = 1e-3;
static const double LENGTH = 2.3e-3, HEIGHT = 0.4e-3, DEPTH = 0.1e-3;
static const double HOLE = 0.46e-3; /* height of the hole */
static const double PUSH = 2e-5;    /* N */
static const double MASS = 2.1e-7;  /* silicon */

static void push(scene_run_state *run, double time) {
  (void)time;
  // ahead of its middle, as by a probe in its tether hole: so it straightens
  dBodyAddForceAtRelPos(run->bodies[0], PUSH, 0, 0, LENGTH / 4, 0, 0);
}

static void judge_pawl(scene_run_state *run) {
  const scene_result *result = run->result;
  double x = result->positions[3 * result->n_steps];
  run->result->counted = x + LENGTH / 2 > 2.9 * MM;
  snprintf(run->result->note, sizeof run->result->note,
           "the nose is %.4f mm deep in the hole of 3 mm, tilted by %.3g rad",
           (x + LENGTH / 2) / MM, result->positions[3 * result->n_steps + 2]);
}

/* A fixed block. */
static bool add_block(scene_run_state *run, double x, double y, double length,
                      double height, double angle) {
  dGeomID block = dCreateBox(run->space, length, height, DEPTH);
  dMatrix3 turned;
  dRFromAxisAndAngle(turned, 0, 0, 1, angle);
  dGeomSetPosition(block, x, y, 0);
  dGeomSetRotation(block, turned);
  return scene_add_fixed(run, block);
}

static bool build_pawl(scene_run_state *run) {
  double wall = 1 * MM, deep = 3 * MM, mouth = M_PI / 6;
  run->frame = SCENE_FRAME_PLANAR;
  run->surface.parameters.mu = 0.2;
  run->push = push;
  run->judge = judge_pawl;
  dBodyID pawl =
      scene_add_planar(run, -2.2 * MM, 0.15 * MM, -0.1, MASS,
                       MASS * (LENGTH * LENGTH + HEIGHT * HEIGHT) / 12);
  if (pawl == NULL ||
      !scene_add_centred(run, dCreateBox(run->space, LENGTH, HEIGHT, DEPTH),
                         pawl))
    return false;
  // the hole from x = 0 on, its end, and the mouth's two slants
  double out = 1.2 * MM, c = cos(mouth), s = sin(mouth);
  for (int side = -1; side <= 1; side += 2) {
    double y = side * HOLE / 2;
    if (!add_block(run, deep / 2, y + side * wall / 2, deep, wall, 0) ||
        !add_block(run, -c * out / 2 + s * wall / 2,
                   y + side * (s * out / 2 + c * wall / 2), out, wall,
                   -side * mouth))
      return false;
  }
  return add_block(run, deep + wall / 2, 0, wall, 2 * wall, 0);
}

const scene scene_pawl = {
    .name = "pawl",
    .summary = "a pawl is pushed into a hole",
    .source = "after Potra, Anitescu, Gavrea & Trinkle 2006, sec. 10.4",
    .h = 2e-5,
    .time = 0.03,
    .gravity = 9.81,
    .knows = SCENE_GRAVITY,
    .options = "scheme=ah erp=1",
    .infeasibility_unit = "m",
    .build = build_pawl};
