/* A step should keep the angular momentum and the energy of a jointed pair
 * and of a doll that tumble freely, of a top, and of a body that swings on a stiff
 * spring. Nothing drives them and nothing brakes them. */
#include <math.h>
#include <string.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "own_scenes.h"
#include "scenes/scene_build.h"

/* --- what is measured ------------------------------------------------------- */

/* About the origin. Under gravity only what is along it stays. */
static void find_momentum(const scene_run_state *run, double momentum[3]) {
  memset(momentum, 0, 3 * sizeof *momentum);
  for (int b = 0; b < run->n_bodies; b++) {
    dBodyID body = run->bodies[b];
    dMass mass;
    dVector3 local, turning;
    double spin[3], moment[3];
    const dReal *w = dBodyGetAngularVel(body);
    dBodyGetMass(body, &mass);
    dBodyVectorFromWorld(body, w[0], w[1], w[2], local);
    for (int i = 0; i < 3; i++)
      spin[i] = vec3_dot(real3(mass.I + 4 * i).at, real3(local).at);
    dBodyVectorToWorld(body, spin[0], spin[1], spin[2], turning);
    vec3_cross(moment, real3(dBodyGetPosition(body)).at,
               real3(dBodyGetLinearVel(body)).at);
    vec3_add_scaled(momentum, mass.mass, moment);
    vec3_add_scaled(momentum, 1, real3(turning).at);
  }
  if (run->settings->gravity > 0) momentum[0] = momentum[2] = 0;
}

static double momentum_size(const scene_run_state *run) {
  double momentum[3];
  find_momentum(run, momentum);
  return vec3_length(momentum);
}

/* The largest change of the momentum's size so far, as a part of it. */
static void judge_mechanisms(scene_run_state *run) {
  scene_result *result = run->result;
  double worst = 0, rise = 0;
  for (long i = 0; i <= result->n_steps; i++) {
    worst = fmax(worst, fabs(result->extras[i] / result->extras[0] - 1));
    rise = fmax(rise, result->energies[i] - result->energies[0]);
  }
  if (result->extras[0] > 0) result->errors[1] = worst;
  result->errors[2] = fabs(result->energy_end - result->energy_start);
  result->errors[3] = rise;
}

static void compare(const scene_result *coarse, const scene_result *finest,
                    double errors[SCENE_ERRORS]) {
  const double *q = coarse->positions + coarse->n_steps * coarse->n_positions;
  const double *p = finest->positions + finest->n_steps * finest->n_positions;
  memcpy(errors, coarse->errors, SCENE_ERRORS * sizeof *errors);
  errors[0] = 0;
  for (int b = 0; b < coarse->n_bodies; b++) {
    double d[3];
    vec3_subtract(d, q + 6 * b, p + 6 * b);
    errors[0] = fmax(errors[0], vec3_length(d));
  }
}

static double none_apart(scene_run_state *run) {
  (void)run;
  return 0;
}

/* --- what is built ----------------------------------------------------------- */

static dBodyID add_box(scene_run_state *run, double mass, const double x[3],
                       const double sides[3]) {
  double inertia[3];
  for (int i = 0; i < 3; i++)
    inertia[i] = mass / 12 *
                 (sides[(i + 1) % 3] * sides[(i + 1) % 3] +
                  sides[(i + 2) % 3] * sides[(i + 2) % 3]);
  return scene_add_spatial(run, x[0], x[1], x[2], mass, inertia);
}

/* Join a body to one that moves already, NULL: the world. It turns with `spin` on
 * top of that and moves as the joint asks.
 * @param axis  of a hinge, along which `spin` is; NULL: a ball joint */
static bool join(scene_run_state *run, dBodyID body, dBodyID parent,
                 const double anchor[3], const double axis[3],
                 const double spin[3]) {
  dJointID joint = axis != NULL ? dJointCreateHinge(run->world, run->joints)
                                : dJointCreateBall(run->world, run->joints);
  if (joint == NULL) return scene_fail(run, "memory ran out");
  dJointAttach(joint, body, parent);
  if (axis != NULL) {
    dJointSetHingeAnchor(joint, anchor[0], anchor[1], anchor[2]);
    dJointSetHingeAxis(joint, axis[0], axis[1], axis[2]);
  } else {
    dJointSetBallAnchor(joint, anchor[0], anchor[1], anchor[2]);
  }
  dVector3 at = {0, 0, 0};
  double w[3], arm[3], turn[3];
  vec3_copy(w, spin);
  if (parent != NULL) {
    dBodyGetPointVel(parent, anchor[0], anchor[1], anchor[2], at);
    vec3_add_scaled(w, 1, real3(dBodyGetAngularVel(parent)).at);
  }
  vec3_subtract(arm, real3(dBodyGetPosition(body)).at, anchor);
  vec3_cross(turn, w, arm);
  dBodySetAngularVel(body, w[0], w[1], w[2]);
  dBodySetLinearVel(body, at[0] + turn[0], at[1] + turn[1], at[2] + turn[2]);
  return true;
}

static void watch(scene_run_state *run) {
  run->frame = SCENE_FRAME_SPATIAL;
  run->infeasibility = scene_joints_apart;
  run->extra = momentum_size;
  run->judge = judge_mechanisms;
}

static bool build_dumbbell(scene_run_state *run) {
  dBodyID a = add_box(run, 1, (double[]){0, 0, 0}, (double[]){0.2, 0.3, 0.4});
  dBodyID b = add_box(run, 2, (double[]){1, 0, 0}, (double[]){0.5, 0.2, 0.1});
  watch(run);
  if (a == NULL || b == NULL) return false;
  dBodySetAngularVel(a, 0.3, 1, 5);
  dBodySetLinearVel(a, 0, -2.5, 0.3);
  return join(run, b, a, (double[]){0.5, 0.1, 0}, NULL,
              (double[]){0.2, -1.2, 0.5});
}

/* A trunk with a head, arms and legs; elbows and knees are hinges. */
static bool build_ragdoll(scene_run_state *run) {
  static const double across[3] = {0, 0, 1}, along[3] = {1, 0, 0};
  watch(run);
  dBodyID trunk =
      add_box(run, 10, (double[]){0, 0, 0}, (double[]){0.3, 0.5, 0.2});
  if (trunk == NULL) return false;
  dBodySetAngularVel(trunk, 1, 0.5, 2);
  dBodyID head =
      add_box(run, 4, (double[]){0, 0.4, 0}, (double[]){0.2, 0.2, 0.2});
  if (head == NULL || !join(run, head, trunk, (double[]){0, 0.27, 0}, NULL,
                            (double[]){0.5, -1, 0.3}))
    return false;
  for (int side = -1; side <= 1; side += 2) {
    dBodyID arm[2], leg[2];
    for (int i = 0; i < 2; i++) {
      arm[i] =
          add_box(run, 2 - 0.5 * i, (double[]){side * (0.3 + 0.28 * i), 0.2, 0},
                  (double[]){0.25, 0.08, 0.08});
      leg[i] =
          add_box(run, 5 - 2 * i, (double[]){side * 0.1, -0.5 - 0.43 * i, 0},
                  (double[]){0.1, 0.4, 0.1});
      if (arm[i] == NULL || leg[i] == NULL) return false;
    }
    if (!join(run, arm[0], trunk, (double[]){side * 0.16, 0.2, 0}, NULL,
              (double[]){0, side, 1.5}) ||
        !join(run, arm[1], arm[0], (double[]){side * 0.44, 0.2, 0}, across,
              (double[]){0, 0, 2.0 * side}) ||
        !join(run, leg[0], trunk, (double[]){side * 0.1, -0.28, 0}, NULL,
              (double[]){-1, 0, 0.5 * side}) ||
        !join(run, leg[1], leg[0], (double[]){side * 0.1, -0.72, 0}, along,
              (double[]){1.5, 0, 0}))
      return false;
  }
  return true;
}

static bool build_top(scene_run_state *run) {
  const double length = hypot(0.3, 0.5);
  dBodyID top =
      add_box(run, 1, (double[]){0.3, 0.5, 0}, (double[]){0.3, 0.05, 0.3});
  watch(run);
  if (top == NULL) return false;
  dMatrix3 rotation;
  dRFromAxisAndAngle(rotation, 0, 0, 1, -atan2(0.3, 0.5));
  dBodySetRotation(top, rotation);
  return join(run, top, NULL, (double[]){0, 0, 0}, NULL,
              (double[]){40 * 0.3 / length, 40 * 0.5 / length, 0});
}

static double spring_energy(const scene_run_state *run) {
  return ode_mlcp_spring_energy(run->world);
}

static bool build_stiff_swing(scene_run_state *run) {
  dBodyID box = add_box(run, 1, (double[]){1, 0, 0}, (double[]){0.2, 0.3, 0.1});
  watch(run);
  run->infeasibility = none_apart;
  run->energy = spring_energy;
  if (run->settings->options.scheme == ODE_MLCP_SCHEME_AP ||
      run->settings->options.scheme == ODE_MLCP_SCHEME_AH)
    return scene_fail(run, "scheme: '%s' knows no springs and dampers",
                      run->settings->scheme);
  if (box == NULL) return false;
  ode_mlcp_spring spring = {.body = {box},
                            .anchor = {{0.9, 0.1, 0}},
                            .stiffness = run->settings->spring,
                            .damping = run->settings->damper,
                            .length = hypot(0.9, 0.1)};
  ode_mlcp_force *force;
  ode_mlcp_error error = ode_mlcp_spring_create(run->world, &spring, &force);
  return error == ODE_MLCP_OK ||
         scene_fail(run, "a spring: %s", ode_mlcp_error_text(error));
}

#define MECHANISM                                                              \
  .source = "momentum and energy", .h = 0.01, .time = 10,                      \
  .options = "scheme=conserving", .sweep_time = 0.5,                           \
  .step_sizes = {0.02, 0.01, 0.005, 0.0025, 0.0003125},                        \
  .error_kinds = {{"position", "m"},                                           \
                  {"momentum", "relative"},                                    \
                  {"energy_change", "J"},                                      \
                  {"energy_rise", "J"}},                                       \
  .compare = compare, .infeasibility_unit = "m",                               \
  .extra_name = "angular_momentum"

const scene scene_dumbbell = {
    .name = "dumbbell",
    .summary = "a jointed pair tumbles: its angular momentum stays",
    MECHANISM,
    .build = build_dumbbell};

const scene scene_ragdoll = {
    .name = "ragdoll",
    .summary = "a doll of ten bodies tumbles: its angular momentum stays",
    MECHANISM,
    .build = build_ragdoll};

const scene scene_top = {
    .name = "top",
    .summary =
        "a heavy top on a ball joint: its energy and upright momentum stay",
    .gravity = 9.81,
    .knows = SCENE_GRAVITY,
    MECHANISM,
    .build = build_top};

const scene scene_stiff_swing = {
    .name = "stiff-swing",
    .summary =
        "a body swings on a spring, however stiff: no energy comes of it",
    .gravity = 9.81,
    .spring = 1e6,
    .knows = SCENE_GRAVITY | SCENE_SPRING | SCENE_DAMPER,
    MECHANISM,
    .build = build_stiff_swing};
