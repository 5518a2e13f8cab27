/* A rod pushed along a floor on its tip, tip first (Painleve): no acceleration
 * obeys Coulomb's law, and the tip jams at once without a collision. */
#include <math.h>
#include <stdio.h>

#include "scenes/painleve.h"
#include "scenes/scene_build.h"

static const double HALF_LENGTH = 1, RADIUS = 0.01, MASS = 1;
static const double INERTIA = 1.0 / 3, ANGLE = M_PI / 3;
static const double FRICTION = 2, SPEED = -2;

/* The velocity after the jam: the tip sticks. */
static void jammed(const double r[2], double v[3]) {
  double nn = 1 / MASS + r[0] * r[0] / INERTIA;
  double tt = 1 / MASS + r[1] * r[1] / INERTIA;
  double nt = -r[0] * r[1] / INERTIA;
  double det = nn * tt - nt * nt;
  double push = nt * SPEED / det, rub = -nn * SPEED / det;
  v[0] = SPEED + rub / MASS;
  v[1] = push / MASS;
  v[2] = (r[0] * push - r[1] * rub) / INERTIA;
}

static void judge_painleve_rod(scene_run_state *run) {
  scene_result *result = run->result;
  const double arm[2] = {-HALF_LENGTH * cos(ANGLE),
                         -HALF_LENGTH * sin(ANGLE) - RADIUS};
  sliding_contact contact = {.mass = MASS,
                             .inertia = INERTIA,
                             .arm = {arm[0], arm[1]},
                             .slip = SPEED,
                             .friction = FRICTION,
                             .gravity = run->settings->gravity};
  double A, b, v[3], sum = 0;
  bool solvable = sliding_contact_solvable(&contact, &A, &b);
  snprintf(result->note, sizeof result->note,
           "at the start the normal acceleration is %.4g f %+.4g, f >= 0: %s",
           A, b, solvable ? "it can be 0" : "no f keeps it from the floor");
  if (result->n_steps < 1 || !(run->settings->gravity > 0)) return;
  jammed(arm, v);
  for (int i = 0; i < 3; i++) {
    double off = result->velocities[3 + i] - v[i];
    sum += off * off;
  }
  result->errors[0] = sqrt(sum);
}

static bool build_painleve_rod(scene_run_state *run) {
  run->frame = SCENE_FRAME_PLANAR;
  run->surface.parameters.mu = FRICTION;
  run->judge = judge_painleve_rod;
  dBodyID rod = scene_add_planar(run, 0, HALF_LENGTH * sin(ANGLE) + RADIUS,
                                 ANGLE, MASS, INERTIA);
  if (rod == NULL) return false;
  dBodySetLinearVel(rod, SPEED, 0, 0);
  // the capsule lies along the body's x axis
  const double turn[4] = {sqrt(0.5), 0, sqrt(0.5), 0};
  return scene_add_geom(run,
                        dCreateCapsule(run->space, RADIUS, 2 * HALF_LENGTH),
                        rod, NULL, turn) &&
         scene_add_fixed(run, dCreatePlane(run->space, 0, 1, 0, 0));
}

const scene scene_painleve_rod = {
    .name = "painleve-rod",
    .summary = "a rod pushed along on its tip jams without a collision",
    .source = "Painleve's paradox",
    .h = 0.005,
    .time = 1,
    .sweep_time = 0.1,
    .gravity = 9.81,
    .knows = SCENE_GRAVITY,
    .options = "scheme=ah erp=1",
    .step_sizes = {0.01, 0.005, 0.0025, 0.00125, 0.000625},
    .error_kinds = {{"jump", "m/s, rad/s"}},
    .infeasibility_unit = "m",
    .build = build_painleve_rod};
