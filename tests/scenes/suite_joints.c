/* Mechanisms against Lagrange's equations in coordinates without constraints:
 * a pendulum on a spring, a four-bar linkage, a gyroscope in two rings. */
#include <math.h>
#include <string.h>

#include "common/vec3.h"
#include "own_scenes.h"
#include "scenes/scene_reference.h"
#include "suite.h"

/* --- shared ----------------------------------------------------------------- */

void suite_judge(scene_run_state *run, suite_where *where) {
  scene_result *result = run->result;
  suite_place places[SCENE_BODIES];
  int per_body = result->coordinates_of_body;
  const double *q = result->positions + result->n_steps * result->n_positions;
  bool planar = run->frame == SCENE_FRAME_PLANAR;
  where(run, result->times[result->n_steps], places);
  result->errors[0] = 0;
  if (planar) result->errors[1] = 0;
  for (int b = 0; b < run->n_bodies; b++, q += per_body) {
    const suite_place *place = &places[b];
    double z = planar ? 0 : q[2] - place->z;
    result->errors[0] = fmax(result->errors[0],
                             hypot(hypot(q[0] - place->x, q[1] - place->y), z));
    if (planar)
      result->errors[1] = fmax(result->errors[1], fabs(q[2] - place->angle));
  }
}

/* Steps of the reference for a time: half a millisecond each, at least ten. */
static long reference_steps(double time) { return 10 + (long)(2000 * time); }

static bool add_hinge(scene_run_state *run, dBodyID body, dBodyID other,
                      const double anchor[3], const double axis[3]) {
  dJointID joint = dJointCreateHinge(run->world, run->joints);
  if (joint == NULL) return scene_fail(run, "memory ran out");
  dJointAttach(joint, body, other);
  dJointSetHingeAnchor(joint, anchor[0], anchor[1], anchor[2]);
  dJointSetHingeAxis(joint, axis[0], axis[1], axis[2]);
  return true;
}

/* --- a pendulum on a spring --------------------------------------------------- */

static const double SPRING_START[2] = {0.9, -0.3}, SPRING_LENGTH = 0.7;

static void spring_slope(const void *context, double t, const double y[],
                         double slope[]) {
  const scene_settings *settings = context;
  double length = hypot(y[0], y[1]);
  double pull = settings->spring * (length - SPRING_LENGTH) / length;
  (void)t;
  for (int i = 0; i < 2; i++) {
    slope[i] = y[2 + i];
    slope[2 + i] = -pull * y[i];
  }
  slope[3] -= settings->gravity;
}

static void where_spring(const scene_run_state *run, double time,
                         suite_place places[]) {
  double y[4] = {SPRING_START[0], SPRING_START[1], 0, 0};
  reference_integrate(spring_slope, run->settings, 4, y, 0, time,
                      2 * reference_steps(time));
  places[0] = (suite_place){y[0], y[1], 0, 0};
}

SUITE_JUDGE(spring)

static double spring_energy(const scene_run_state *run) {
  return ode_mlcp_spring_energy(run->world);
}

static bool build_spring(scene_run_state *run) {
  run->frame = SCENE_FRAME_PLANAR;
  run->energy = spring_energy;
  run->judge = judge_spring;
  if (run->settings->options.scheme == ODE_MLCP_SCHEME_AP ||
      run->settings->options.scheme == ODE_MLCP_SCHEME_AH)
    return scene_fail(run, "scheme: '%s' knows no springs and dampers",
                      run->settings->scheme);
  dBodyID body =
      scene_add_planar(run, SPRING_START[0], SPRING_START[1], 0, 1, 0.01);
  if (body == NULL) return false;
  ode_mlcp_spring spring = {.body = {body},
                            .anchor = {{SPRING_START[0], SPRING_START[1], 0}},
                            .stiffness = run->settings->spring,
                            .length = SPRING_LENGTH};
  ode_mlcp_force *force;
  ode_mlcp_error error = ode_mlcp_spring_create(run->world, &spring, &force);
  return error == ODE_MLCP_OK ||
         scene_fail(run, "a spring: %s", ode_mlcp_error_text(error));
}

/* --- a four-bar linkage ------------------------------------------------------- */

enum { CRANK, COUPLER, ROCKER, LINKS };

/* m; rods of 1 kg/m. The crank turns all the way round. */
static const double LINK[LINKS] = {0.5, 1.2, 1}, GROUND = 1.3;
static const double CRANK_START = 1, CRANK_SPEED = 6;

/* Places of the links at an angle of the crank, and their rates over it. */
static void find_links(double crank, suite_place at[LINKS],
                       suite_place rate[LINKS]) {
  double a = LINK[CRANK], b = LINK[COUPLER], c = LINK[ROCKER];
  double pin[2] = {a * cos(crank), a * sin(crank)};
  double to[2] = {GROUND - pin[0], -pin[1]}, far = hypot(to[0], to[1]);
  double coupler =
      atan2(to[1], to[0]) + acos((b * b + far * far - c * c) / (2 * b * far));
  double rocker =
      atan2(pin[1] + b * sin(coupler), pin[0] + b * cos(coupler) - GROUND);
  /* the loop a + b = ground + c, differentiated */
  double turning[LINKS] = {
      1, a * sin(crank - rocker) / (b * sin(rocker - coupler)),
      a * sin(crank - coupler) / (c * sin(rocker - coupler))};
  const double angle[LINKS] = {crank, coupler, rocker};
  const double start[LINKS][2] = {{0, 0}, {pin[0], pin[1]}, {GROUND, 0}};
  const double start_rate[LINKS][2] = {{0, 0}, {-pin[1], pin[0]}, {0, 0}};
  for (int i = 0; i < LINKS; i++) {
    double x = 0.5 * LINK[i] * cos(angle[i]), y = 0.5 * LINK[i] * sin(angle[i]);
    at[i] = (suite_place){start[i][0] + x, start[i][1] + y, 0, angle[i]};
    rate[i] = (suite_place){start_rate[i][0] - turning[i] * y,
                            start_rate[i][1] + turning[i] * x, 0, turning[i]};
  }
}

static void four_bar_mass(const void *context, const double q[], double M[]) {
  suite_place at[LINKS], rate[LINKS];
  (void)context;
  find_links(q[0], at, rate);
  M[0] = 0;
  for (int i = 0; i < LINKS; i++) {
    double mass = LINK[i], inertia = mass * LINK[i] * LINK[i] / 12;
    M[0] += mass * (rate[i].x * rate[i].x + rate[i].y * rate[i].y) +
            inertia * rate[i].angle * rate[i].angle;
  }
}

static double four_bar_potential(const void *context, const double q[]) {
  const double *gravity = context;
  suite_place at[LINKS], rate[LINKS];
  double sum = 0;
  find_links(q[0], at, rate);
  for (int i = 0; i < LINKS; i++) sum += LINK[i] * *gravity * at[i].y;
  return sum;
}

/* The nearest of the angles that differ by whole turns. */
static double unwind(double angle, double near) {
  return angle + 2 * M_PI * round((near - angle) / (2 * M_PI));
}

static void where_four_bar(const scene_run_state *run, double time,
                           suite_place places[]) {
  const reference_system system = {.n = 1,
                                   .context = &run->settings->gravity,
                                   .mass = four_bar_mass,
                                   .potential = four_bar_potential};
  double y[2] = {CRANK_START, CRANK_SPEED};
  suite_place rate[LINKS], start[LINKS];
  reference_integrate(reference_lagrange, &system, 2, y, 0, time,
                      reference_steps(time));
  find_links(CRANK_START, start, rate);
  find_links(y[0], places, rate);
  /* coupler and rocker swing by less than a turn */
  for (int i = COUPLER; i < LINKS; i++)
    places[i].angle = unwind(places[i].angle, start[i].angle);
}

SUITE_JUDGE(four_bar)

static bool build_four_bar(scene_run_state *run) {
  static const double across[3] = {0, 0, 1};
  suite_place at[LINKS], rate[LINKS];
  dBodyID links[LINKS];
  find_links(CRANK_START, at, rate);
  run->frame = SCENE_FRAME_PLANAR;
  run->judge = judge_four_bar;
  run->infeasibility = scene_joints_apart;
  for (int i = 0; i < LINKS; i++) {
    double mass = LINK[i], inertia = mass * LINK[i] * LINK[i] / 12;
    const double equal[3] = {inertia, inertia, inertia};
    dMatrix3 rotation;
    links[i] = scene_add_spatial(run, at[i].x, at[i].y, 0, mass, equal);
    if (links[i] == NULL) return false;
    dRFromAxisAndAngle(rotation, 0, 0, 1, at[i].angle);
    dBodySetRotation(links[i], rotation);
    run->turned[i][2] = at[i].angle;
    dBodySetLinearVel(links[i], CRANK_SPEED * rate[i].x,
                      CRANK_SPEED * rate[i].y, 0);
    dBodySetAngularVel(links[i], 0, 0, CRANK_SPEED * rate[i].angle);
  }
  double pin[3] = {2 * at[CRANK].x, 2 * at[CRANK].y, 0};
  double knee[3] = {2 * at[COUPLER].x - pin[0], 2 * at[COUPLER].y - pin[1], 0};
  return add_hinge(run, links[CRANK], NULL, (double[]){0, 0, 0}, across) &&
         add_hinge(run, links[COUPLER], links[CRANK], pin, across) &&
         add_hinge(run, links[ROCKER], links[COUPLER], knee, across) &&
         add_hinge(run, links[ROCKER], NULL, (double[]){GROUND, 0, 0}, across);
}

/* --- a gyroscope in two rings -------------------------------------------------- */

enum { OUTER, INNER, ROTOR, PARTS };

/* kg m^2 about the parts' own axes; the outer ring turns about y, the inner about
 * the outer's x, the rotor about the inner's z, ARM along which its centre is. */
static const double GIMBAL[PARTS][3] = {
    {0.02, 0.01, 0.015}, {0.008, 0.006, 0.01}, {0.01, 0.01, 0.02}};
static const double GIMBAL_MASS[PARTS] = {1, 0.5, 2}, ARM = 0.1;
static const double GIMBAL_RATE[PARTS] = {0.5, 0, 25}, GIMBAL_TILT = 0.3;

static void gimbal_mass(const void *context, const double q[], double M[]) {
  double c = cos(q[1]), s = sin(q[1]);
  (void)context;
  memset(M, 0, 9 * sizeof *M);
  /* turning of the inner ring in its frame: (q1', c q0', -s q0') */
  double across =
      GIMBAL[INNER][1] + GIMBAL[ROTOR][1] + GIMBAL_MASS[ROTOR] * ARM * ARM;
  M[0] = GIMBAL[OUTER][1] + across * c * c +
         (GIMBAL[INNER][2] + GIMBAL[ROTOR][2]) * s * s;
  M[4] = GIMBAL[INNER][0] + GIMBAL[ROTOR][0] + GIMBAL_MASS[ROTOR] * ARM * ARM;
  M[8] = GIMBAL[ROTOR][2];
  M[2] = M[6] = -GIMBAL[ROTOR][2] * s;
}

static double gimbal_potential(const void *context, const double q[]) {
  const double *gravity = context;
  return -GIMBAL_MASS[ROTOR] * *gravity * ARM * sin(q[1]);
}

static void where_gimbal(const scene_run_state *run, double time,
                         suite_place places[]) {
  const reference_system system = {.n = 3,
                                   .context = &run->settings->gravity,
                                   .mass = gimbal_mass,
                                   .potential = gimbal_potential};
  double y[6] = {0, GIMBAL_TILT, 0};
  memcpy(y + 3, GIMBAL_RATE, sizeof GIMBAL_RATE);
  reference_integrate(reference_lagrange, &system, 6, y, 0, time,
                      reference_steps(time));
  memset(places, 0, PARTS * sizeof *places);
  places[ROTOR].x = ARM * cos(y[1]) * sin(y[0]);
  places[ROTOR].y = -ARM * sin(y[1]);
  places[ROTOR].z = ARM * cos(y[1]) * cos(y[0]);
}

SUITE_JUDGE(gimbal)

static bool build_gimbal(scene_run_state *run) {
  static const double axes[PARTS][3] = {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}};
  static const double origin[3] = {0, 0, 0};
  double c = cos(GIMBAL_TILT), s = sin(GIMBAL_TILT);
  double w[3] = {0, 0, 0}, shaft[3] = {0, -s, c};
  dBodyID before = NULL;
  run->frame = SCENE_FRAME_SPATIAL;
  run->judge = judge_gimbal;
  run->infeasibility = scene_joints_apart;
  for (int i = 0; i < PARTS; i++) {
    double centre[3] = {0, 0, 0}, v[3];
    if (i == ROTOR) vec3_add_scaled(centre, ARM, shaft);
    dBodyID body = scene_add_spatial(run, centre[0], centre[1], centre[2],
                                     GIMBAL_MASS[i], GIMBAL[i]);
    if (body == NULL) return false;
    dMatrix3 rotation;
    dRFromAxisAndAngle(rotation, 1, 0, 0, i == OUTER ? 0 : GIMBAL_TILT);
    dBodySetRotation(body, rotation);
    vec3_add_scaled(w, GIMBAL_RATE[i], i == ROTOR ? shaft : axes[i]);
    vec3_cross(v, w, centre);
    dBodySetAngularVel(body, w[0], w[1], w[2]);
    dBodySetLinearVel(body, v[0], v[1], v[2]);
    if (!add_hinge(run, body, before, origin, i == ROTOR ? shaft : axes[i]))
      return false;
    before = body;
  }
  return true;
}

const scene scene_spring_pendulum = {
    .name = "spring-pendulum",
    .summary = "a mass swings on a spring that it stretches",
    .source = "reference suite: the equation of motion, integrated",
    SUITE_SCENE,
    .time = 2,
    .gravity = 9.81,
    .spring = 80,
    .knows = SCENE_GRAVITY | SCENE_SPRING,
    .build = build_spring};

const scene scene_four_bar = {
    .name = "four-bar",
    .summary = "a four-bar linkage turns, its hinges redundant",
    .source = "reference suite: Lagrange's equation of the crank's angle",
    SUITE_SCENE,
    .time = 2,
    .gravity = 9.81,
    .knows = SCENE_GRAVITY,
    .build = build_four_bar};

const scene scene_gimbal = {
    .name = "gimbal",
    .summary = "a heavy gyroscope in two rings",
    .source = "reference suite: Lagrange's equations of the rings' angles",
    SUITE_SCENE,
    .time = 1,
    .gravity = 9.81,
    .knows = SCENE_GRAVITY,
    .build = build_gimbal};
