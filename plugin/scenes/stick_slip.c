/* A block on a table, pushed to and fro: PAGT sec. 10.2, GAP sec. 9.2. */
#include <math.h>
#include <stdio.h>

#include "scenes/scene_build.h"

static const double PUSH = 8, FRICTION = 0.8, START = 3;
static const double SIDES[2] = {0.5, 0.1};

/* --- the exact motion ----------------------------------------------------- */

/* A slide begun at `since` with that sign: its speed and way at t. */
typedef struct slide {
  double since, sign, friction; /* friction: m/s^2 */
} slide;

static double slide_speed(const slide *s, double t) {
  return PUSH * (sin(t) - sin(s->since)) -
         s->sign * s->friction * (t - s->since);
}

static double slide_way(const slide *s, double t) {
  double d = t - s->since;
  return PUSH * (cos(s->since) - cos(t)) - PUSH * sin(s->since) * d -
         0.5 * s->sign * s->friction * d * d;
}

/* The first time after `t`, up to `end`, at which what(t) is no longer > 0. */
static double first_end(double (*what)(const slide *, double), const slide *s,
                        double t, double end) {
  const double look = 1e-3;
  t += 1e-6; // it starts at 0
  while (t < end && what(s, t) > 0) t += look;
  if (t >= end && what(s, end) > 0) return end;
  double low = t - look, high = fmin(t, end);
  for (int i = 0; i < 60; i++) {
    double middle = 0.5 * (low + high);
    if (what(s, middle) > 0)
      low = middle;
    else
      high = middle;
  }
  return high;
}

static double forward_speed(const slide *s, double t) {
  return s->sign * slide_speed(s, t);
}

static double hold(const slide *s, double t) {
  return s->friction - fabs(PUSH * cos(t));
}

/* Place and total variation of the velocity at `end`. */
static double exact_place(double friction, double end, double *variation) {
  double x = START, t = 0;
  *variation = 0;
  while (t < end) {
    slide now = {t, PUSH * cos(t) > 0 ? 1 : -1, friction};
    if (hold(&now, t) > 0) {
      t = first_end(hold, &now, t, end);
      continue;
    }
    double stop = first_end(forward_speed, &now, t, end);
    // up to the fastest and down again
    double fastest = 0;
    for (int i = 1; i <= 1000; i++)
      fastest = fmax(fastest, forward_speed(&now, t + (stop - t) * i / 1000));
    *variation += 2 * fastest - forward_speed(&now, stop);
    x += slide_way(&now, stop);
    t = stop;
  }
  return x;
}

/* --- the scene ------------------------------------------------------------ */

static void push(scene_run_state *run, double time) {
  dBodyAddForce(run->bodies[0], PUSH * cos(time), 0, 0);
}

/* The same for schemes that ask for the force at several times of a step. */
static void push_at(void *context, dBodyID body,
                    const ode_mlcp_body_state *state, double force[6],
                    double k_q[36], double k_v[36]) {
  (void)context;
  (void)body;
  (void)k_q;
  (void)k_v;
  force[0] = PUSH * cos(state->time);
}

/* Total variation of v_alpha, summed up on the way. */
static void after(scene_run_state *run) {
  double v[6];
  if (ode_mlcp_body_v_alpha(run->bodies[0], v) != ODE_MLCP_OK) return;
  run->variation += fabs(v[0] - run->last_speed);
  run->last_speed = v[0];
}

static double speed(const scene_run_state *run) {
  return dBodyGetLinearVel(run->bodies[0])[0];
}

static void judge_stick_slip(scene_run_state *run) {
  scene_result *result = run->result;
  double end = result->times[result->n_steps], exact, sum = 0;
  double x = exact_place(FRICTION * run->settings->gravity, end, &exact);
  for (long i = 1; i <= result->n_steps; i++)
    sum += fabs(result->velocities[3 * i] - result->velocities[3 * (i - 1)]);
  result->errors[0] = fabs(result->positions[3 * result->n_steps] - x);
  result->errors[1] = sum;
  result->errors[2] = run->variation;
  snprintf(result->note, sizeof result->note,
           "exact: x %.12g at the end, total variation of the velocity %.6g", x,
           exact);
}

static bool build_stick_slip(scene_run_state *run) {
  run->frame = SCENE_FRAME_PLANAR;
  run->surface.parameters.mu = FRICTION;
  run->after = after;
  run->extra = speed;
  run->judge = judge_stick_slip;
  dBodyID block =
      scene_add_planar(run, START, SIDES[1] / 2, 0, 1,
                       (SIDES[0] * SIDES[0] + SIDES[1] * SIDES[1]) / 12);
  if (block == NULL) return false;
  ode_mlcp_force *force;
  if (!scene_is_second_order(run->settings))
    run->push = push;
  else if (ode_mlcp_force_create(block, push_at, NULL, &force) != ODE_MLCP_OK)
    return scene_fail(run, "memory ran out");
  dGeomID box = dCreateBox(run->space, SIDES[0], SIDES[1], SIDES[1]);
  return scene_add_centred(run, box, block) &&
         scene_add_fixed(run, dCreatePlane(run->space, 0, 1, 0, 0));
}

/* Tables 10.2 and 10.3 */
static const scene_reference REFERENCES[] = {
    {"trapezoid-1", 0x1p-5, {5.197e-5, NAN, NAN}},
    {"trapezoid-1", 0x1p-6, {1.025e-5, NAN, NAN}},
    {"trapezoid-1", 0x1p-7, {2.555e-6, NAN, NAN}},
    {"trapezoid-1", 0x1p-8, {6.551e-7, NAN, NAN}},
    {"trapezoid-1", 0x1p-9, {1.549e-7, NAN, NAN}},
    {"trapezoid-1", 0x1p-10, {3.959e-8, NAN, NAN}},
    {"trapezoid", 0x1p-5, {8.023e-5, NAN, NAN}},
    {"trapezoid", 0x1p-6, {2.310e-5, NAN, NAN}},
    {"trapezoid", 0x1p-7, {5.619e-6, NAN, NAN}},
    {"trapezoid", 0x1p-8, {1.395e-6, NAN, NAN}},
    {"trapezoid", 0x1p-9, {3.652e-7, NAN, NAN}},
    {"trapezoid", 0x1p-10, {8.246e-8, NAN, NAN}},
    {NULL, 0, {0}}};

const scene scene_stick_slip = {
    .name = "stick-slip",
    .summary = "a block pushed to and fro on a table sticks and slips",
    .source = "Potra, Anitescu, Gavrea & Trinkle 2006, sec. 10.2",
    .h = 0.01,
    .time = 2,
    .gravity = 9.81,
    .knows = SCENE_GRAVITY,
    .options = "scheme=trapezoid",
    .step_sizes = {0x1p-5, 0x1p-6, 0x1p-7, 0x1p-8, 0x1p-9, 0x1p-10},
    .error_kinds = {{"position", "m"},
                    {"variation", "m/s"},
                    {"variation_alpha", "m/s"}},
    .references = REFERENCES,
    .infeasibility_unit = "m",
    .extra_name = "velocity",
    .build = build_stick_slip};
