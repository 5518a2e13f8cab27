/* A rover with an arm crosses rough ground, in the spirit of PAGT sec. 10.4.
 * Two frames joined by a roll hinge keep all four driven wheels on the ground;
 * every wheel meets the triangles of a height field. */
#include <math.h>
#include <stdio.h>

#include "scenes/scene_build.h"

enum { SAMPLES_X = 61, SAMPLES_Y = 21, WHEELS = 4 };

static const double LENGTH = 12, WIDTH = 4; /* of the ground, m */
static const double WHEEL = 0.25, TRACK = 0.45, AXLE = 0.6;
static const double DRIVE = 3;   /* rad/s */
static const double TORQUE = 25; /* N m a wheel, at most */

/* Height of the ground, m; the start is level. */
static double ground(double x, double y) {
  double rise = x < 0 ? 0 : x < 1 ? x * x * (3 - 2 * x) : 1;
  return rise * (0.12 * sin(1.7 * x) * cos(1.1 * y) + 0.05 * sin(4.1 * x + y));
}

/* The host's height fields have y up and are turned; their z is -y of ours. */
static dReal sample(void *context, int x, int z) {
  (void)context;
  return ground(LENGTH * x / (SAMPLES_X - 1) - 2,
                WIDTH / 2 - WIDTH * z / (SAMPLES_Y - 1));
}

static bool add_ground(scene_run_state *run) {
  dHeightfieldDataID data = dGeomHeightfieldDataCreate();
  if (data == NULL) return scene_fail(run, "memory ran out");
  run->terrain = data;
  dGeomHeightfieldDataBuildCallback(data, NULL, sample, LENGTH, WIDTH,
                                    SAMPLES_X, SAMPLES_Y, 1, 0, 1, 0);
  dGeomHeightfieldDataSetBounds(data, -0.5, 0.5);
  dGeomID field = dCreateHeightfield(run->space, data, 1);
  dMatrix3 upright;
  dRFromAxisAndAngle(upright, 1, 0, 0, M_PI / 2);
  dGeomSetRotation(field, upright);
  dGeomSetPosition(field, LENGTH / 2 - 2, 0, 0);
  return scene_add_fixed(run, field);
}

/* A box that touches nothing, between the wheels. */
static dBodyID add_box(scene_run_state *run, const double centre[3],
                       const double sides[3], double mass) {
  double inertia[3];
  for (int i = 0; i < 3; i++) {
    double a = sides[(i + 1) % 3], b = sides[(i + 2) % 3];
    inertia[i] = mass * (a * a + b * b) / 12;
  }
  return scene_add_spatial(run, centre[0], centre[1], centre[2], mass, inertia);
}

static dJointID add_hinge(scene_run_state *run, dBodyID a, dBodyID b,
                          const double at[3], const double axis[3]) {
  dJointID hinge = dJointCreateHinge(run->world, run->joints);
  dJointAttach(hinge, a, b);
  dJointSetHingeAnchor(hinge, at[0], at[1], at[2]);
  dJointSetHingeAxis(hinge, axis[0], axis[1], axis[2]);
  return hinge;
}

static bool add_wheel(scene_run_state *run, dBodyID frame, double x, double y) {
  const double across[3] = {0, 1, 0}, mass = 2;
  double round = 0.4 * mass * WHEEL * WHEEL;
  dBodyID wheel = scene_add_spatial(run, x, y, WHEEL + 0.01, mass,
                                    (double[]){round, round, round});
  if (wheel == NULL) return false;
  dJointID hinge =
      add_hinge(run, wheel, frame, (double[]){x, y, WHEEL + 0.01}, across);
  dJointSetHingeParam(hinge, dParamVel, DRIVE);
  dJointSetHingeParam(hinge, dParamFMax, TORQUE);
  return scene_add_centred(run, dCreateSphere(run->space, WHEEL), wheel);
}

/* The arm swings up and down. */
static void push(scene_run_state *run, double time) {
  dJointSetHingeParam(run->servo, dParamVel, 0.6 * cos(1.5 * time));
}

static void judge_rover(scene_run_state *run) {
  const scene_result *result = run->result;
  const double *first = result->positions;
  const double *last = first + result->n_steps * result->n_positions;
  snprintf(run->result->note, sizeof run->result->note,
           "went %.3f m of %.3f m that its wheels turned", last[0] - first[0],
           DRIVE * WHEEL * result->times[result->n_steps]);
}

static bool build_rover(scene_run_state *run) {
  const double along[3] = {1, 0, 0}, across[3] = {0, 1, 0};
  double z = WHEEL + 0.01;
  run->frame = SCENE_FRAME_SPATIAL;
  run->surface.parameters.mu = 0.8;
  run->push = push;
  run->judge = judge_rover;
  dWorldSetGravity(run->world, 0, 0, -run->settings->gravity);
  if (!add_ground(run)) return false;

  dBodyID front = add_box(run, (double[]){-0.4, 0, z + 0.1},
                          (double[]){0.5, 0.5, 0.15}, 10);
  dBodyID rear = add_box(run, (double[]){-0.4 - AXLE * 1.3, 0, z + 0.1},
                         (double[]){0.7, 0.5, 0.15}, 12);
  dBodyID arm = add_box(run, (double[]){0.05, 0, z + 0.4},
                        (double[]){0.7, 0.08, 0.08}, 2);
  if (front == NULL || rear == NULL || arm == NULL) return false;
  add_hinge(run, front, rear, (double[]){-0.75, 0, z + 0.1}, along);
  run->servo = add_hinge(run, arm, front, (double[]){-0.3, 0, z + 0.4}, across);
  dJointSetHingeParam(run->servo, dParamFMax, 40);
  for (int i = 0; i < WHEELS; i++)
    if (!add_wheel(run, i < 2 ? front : rear, i < 2 ? -0.4 : -0.4 - AXLE * 1.3,
                   i % 2 ? TRACK : -TRACK))
      return false;
  return true;
}

const scene scene_rover = {
    .name = "rover",
    .summary = "a rover with an arm crosses rough ground",
    .source = "after Potra, Anitescu, Gavrea & Trinkle 2006, sec. 10.4",
    .h = 0.01,
    .time = 8,
    .gravity = 9.81,
    .knows = SCENE_GRAVITY,
    .options = "scheme=ah erp=1",
    .infeasibility_unit = "m",
    .build = build_rover};
