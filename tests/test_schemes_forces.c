/* Order two of what is not contact: a free gyroscope, springs that swing, stiff
 * springs and dampers, forces of the program's, joints that do not drift. */
#include "host_rounding.h"
#include "scheme_scene.h"

/* --- a free gyroscope ----------------------------------------------------- */

static dBodyID add_gyroscope(dWorldID world) {
  dBodyID body = dBodyCreate(world);
  dMass mass;
  dMassSetParameters(&mass, 1, 0, 0, 0, 1, 2, 3, 0, 0, 0);
  dBodySetMass(body, &mass);
  dBodySetAngularVel(body, 0.3, 2, 0.2); /* about the middle axis: tumbles */
  return body;
}

/* The angle between the attitude at time 2 and the one with steps of 2^-13. */
static double tumble(const char *settings, int level, const dReal fine[4],
                     dReal end[4], double *energy_error,
                     double *momentum_error) {
  scene s;
  double h = ldexp(1, -level);
  open_scene(&s, settings, 0);
  dBodyID body = add_gyroscope(s.world);
  for (int i = 0; i < (int)(2 / h + 0.5); i++) {
    ode_mlcp_report report;
    step(&s, h, &report);
  }
  const dReal *q = dBodyGetQuaternion(body), *w = dBodyGetAngularVel(body);
  dVector3 spin, momentum;
  dBodyVectorFromWorld(body, w[0], w[1], w[2], spin);
  dBodyVectorToWorld(body, spin[0], 2 * spin[1], 3 * spin[2], momentum);
  double energy =
      spin[0] * spin[0] + 2 * spin[1] * spin[1] + 3 * spin[2] * spin[2];
  const double start[3] = {0.3, 4, 0.6};
  *energy_error = fabs(energy - (0.09 + 8 + 0.12));
  *momentum_error = 0;
  for (int i = 0; i < 3; i++)
    *momentum_error = fmax(*momentum_error, fabs(momentum[i] - start[i]));
  double cosine = 0;
  for (int i = 0; i < 4; i++) {
    end[i] = q[i];
    cosine += q[i] * (fine != NULL ? fine[i] : q[i]);
  }
  scene_close(&s);
  return 2 * sqrt(fmax(1 - cosine * cosine, 0));
}

static const char ORDER[] =
    "the order, as places are rounded to a ten-millionth";

static void test_gyroscope_converges_at_order_two(void) {
  if (left_out_in_single(ORDER)) return;
  static const char *schemes[] = {"scheme=trapezoid", "scheme=trapezoid-1"};
  for (int k = 0; k < 2; k++) {
    dReal fine[4], end[4];
    double energy, momentum, last[3] = {0};
    tumble(schemes[k], 13, NULL, fine, &energy, &momentum);
    for (int level = 6; level <= 9; level++) {
      double error = tumble(schemes[k], level, fine, end, &energy, &momentum);
      const double now[3] = {error, energy, momentum};
      for (int i = 0; i < 3 && level > 6; i++) {
        double ratio = last[i] / now[i];
        if (!(ratio > 3.7 && ratio < 4.5))
          fprintf(stderr, "%s level %d: error %d ratio %g (%g)\n", schemes[k],
                  level, i, ratio, now[i]);
        CU_ASSERT(ratio > 3.7 && ratio < 4.5);
      }
      memcpy(last, now, sizeof last);
    }
  }
}

/* --- a spring that swings ------------------------------------------------- */

/* The place of a mass on a spring of stiffness 40 and rest length 1 is at time 1.5. */
static void swing_spring(const char *settings, int level, double place[2]) {
  scene s;
  double h = ldexp(1, -level);
  open_scene(&s, settings, 9.81);
  dBodyID bob = add_ball(&s, 1.1, 0);
  ode_mlcp_spring spring = {.body = {bob, NULL},
                            .anchor = {{1.1, 0, 0}, {0, 0, 0}},
                            .stiffness = 40,
                            .damping = 0.3,
                            .length = 1};
  ode_mlcp_force *force;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_spring_create(s.world, &spring, &force),
                        ODE_MLCP_OK);
  for (int i = 0; i < (int)(1.5 / h + 0.5); i++) {
    ode_mlcp_report report;
    step(&s, h, &report);
  }
  place[0] = dBodyGetPosition(bob)[0];
  place[1] = dBodyGetPosition(bob)[1];
  ode_mlcp_force_destroy(force);
  scene_close(&s);
}

static void test_swinging_spring_converges_at_order_two(void) {
  if (left_out_in_single(ORDER)) return;
  static const char *schemes[] = {"scheme=trapezoid", "scheme=trapezoid-1"};
  for (int k = 0; k < 2; k++) {
    double fine[2], place[2], last = NAN;
    swing_spring(schemes[k], 13, fine);
    for (int level = 6; level <= 9; level++) {
      swing_spring(schemes[k], level, place);
      double error = hypot(place[0] - fine[0], place[1] - fine[1]);
      double ratio = last / error;
      if (level > 6 && !(ratio > 3.8 && ratio < 4.2))
        fprintf(stderr, "%s level %d: error %g ratio %g\n", schemes[k], level,
                error, ratio);
      if (level > 6) CU_ASSERT(ratio > 3.8 && ratio < 4.2);
      last = error;
    }
  }
}

/* --- two carts (PAGT 10.3) ------------------------------------------------ */

typedef struct carts {
  double nearest, farthest; /* distance between them, m */
  double energy_start, energy_most;
  double stretch_most;
} carts;

static dBodyID add_cart(scene *s, double x, double v) {
  dBodyID cart = create_box(s->world, s->space, 1, 1, 0.2, 1);
  dBodySetPosition(cart, x, 0.1, 0);
  dBodySetLinearVel(cart, v, 0, 0);
  return cart;
}

static carts run_carts(double spring, double damper, double x, double v,
                       double time) {
  scene s;
  open_scene(&s, "scheme=trapezoid", 9.81);
  s.surface.parameters.mode = dContactApprox1 | dContactBounce;
  s.surface.parameters.mu = 0.05;
  s.surface.parameters.bounce = 0.3;
  dCreatePlane(s.space, 0, 1, 0, 0);
  s.smooth = dCreatePlane(s.space, 1, 0, 0, -0.5); /* the stopper */
  dBodyID a = add_cart(&s, x, v), b = add_cart(&s, x + 5, v);
  ode_mlcp_force *forces[2];
  ode_mlcp_spring wall = {.body = {a, NULL},
                          .anchor = {{x, 0.1, 0}, {0, 0.1, 0}},
                          .along_axis = 1,
                          .axis = {1, 0, 0},
                          .stiffness = spring,
                          .length = 0.2};
  ode_mlcp_spring between = {.body = {b, a},
                             .anchor = {{x + 5, 0.1, 0}, {x, 0.1, 0}},
                             .along_axis = 1,
                             .axis = {1, 0, 0},
                             .damping = damper};
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_spring_create(s.world, &wall, &forces[0]),
                        ODE_MLCP_OK);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_spring_create(s.world, &between, &forces[1]),
                        ODE_MLCP_OK);
  carts out = {INFINITY, 0, v * v + 0.5 * spring * (x - 0.2) * (x - 0.2), 0, 0};
  for (int i = 0; i < (int)(time / 0.01 + 0.5); i++) {
    ode_mlcp_report report;
    step(&s, 0.01, &report);
    double va = dBodyGetLinearVel(a)[0], vb = dBodyGetLinearVel(b)[0];
    double energy = 0.5 * (va * va + vb * vb) + ode_mlcp_spring_energy(s.world);
    double apart = dBodyGetPosition(b)[0] - dBodyGetPosition(a)[0];
    out.energy_most = fmax(out.energy_most, energy);
    out.nearest = fmin(out.nearest, apart);
    out.farthest = fmax(out.farthest, apart);
    out.stretch_most =
        fmax(out.stretch_most, fabs(dBodyGetPosition(a)[0] - 0.2));
    CU_ASSERT(dBodyGetPosition(a)[0] > -1e-9);
  }
  scene_close(&s);
  return out;
}

/* Nearest distances at damping 1e2, 1e3 and 1e6: an independent program's. */
static void test_stiff_carts_stay_bounded(void) {
  static const double nearest[] = {4.96516, 4.99657, 0, 0, 5 - 1e-5};
  for (int i = 0; i < 5; i++) {
    carts damped = run_carts(100, pow(10, 2 + i), 0.1, -2, 4);
    CU_ASSERT(damped.energy_most <= damped.energy_start * (1 + 1e-9));
    if (nearest[i] > 0 && i < 4)
      CU_ASSERT_DOUBLE_EQUAL(
          damped.nearest, nearest[i],
          of_host(1e-4, 100)); /* a hundred m/s^2 of spring */
    if (i == 4) CU_ASSERT(damped.nearest > nearest[i]);
    CU_ASSERT(damped.farthest < 5 + 1e-5);
    if (!(damped.energy_most <= damped.energy_start * (1 + 1e-9)) ||
        (i < 2 && fabs(damped.nearest - nearest[i]) > 1e-4) ||
        damped.farthest > 5 + 1e-5)
      fprintf(stderr, "damping 1e%d: %.6f .. %.6f, energy %g of %g\n", 2 + i,
              damped.nearest, damped.farthest, damped.energy_most,
              damped.energy_start);
    carts sprung = run_carts(pow(10, 2 + i), 10, 0.2, -3, 2);
    if (!(sprung.energy_most <= sprung.energy_start * (1 + 1e-9)))
      fprintf(stderr, "stiffness 1e%d: energy %g of %g\n", 2 + i,
              sprung.energy_most, sprung.energy_start);
    CU_ASSERT(sprung.energy_most <= sprung.energy_start * (1 + 1e-9));
  }
}

/* --- forces of the program's ---------------------------------------------- */

/* A stiff spring in x and drag in y, with their Jacobians. */
static void stiff_force(void *context, dBodyID body,
                        const ode_mlcp_body_state *state, double force[6],
                        double k_q[36], double k_v[36]) {
  (void)context;
  (void)body;
  force[0] = -1e6 * state->position[0];
  k_q[0] = -1e6;
  force[1] = -1e3 * state->velocity[1];
  k_v[7] = -1e3;
}

static void test_stiff_force_functions_are_stable(void) {
  scene s;
  open_scene(&s, "scheme=trapezoid", 0);
  dBodyID body = add_ball(&s, 0.5, 0);
  ode_mlcp_force *force;
  dBodySetLinearVel(body, 0, 1, 0);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_force_create(body, stiff_force, NULL, &force),
                        ODE_MLCP_OK);
  for (int i = 0; i < 400; i++) { /* h omega = 10, h delta = 10 */
    ode_mlcp_report report;
    step(&s, 0.01, &report);
    CU_ASSERT(fabs(dBodyGetPosition(body)[0]) <= 0.5 + 1e-9);
    CU_ASSERT(fabs(dBodyGetLinearVel(body)[1]) <= 1);
    CU_ASSERT_EQUAL(report.jacobians_dropped, 0);
  }
  CU_ASSERT(fabs(dBodyGetLinearVel(body)[1]) < 1e-6);
  scene_close(&s);
}

/* Where a body is that no force acts on, at any time between 0 and a step. */
static void look_at_state(void *context, dBodyID body,
                          const ode_mlcp_body_state *state, double force[6],
                          double k_q[36], double k_v[36]) {
  static const double turned[4] = {0.5, -0.5, 0.5, 0.5};
  (void)body, (void)force, (void)k_q, (void)k_v;
  ++*(int *)context;
  CU_ASSERT(state->time >= 0 && state->time <= 0.25);
  CU_ASSERT_DOUBLE_EQUAL(state->position[1], 3, 1e-12);
  CU_ASSERT(state->position[0] >= 1 && state->position[0] <= 1.5);
  for (int i = 0; i < 4; i++)
    CU_ASSERT_DOUBLE_EQUAL(state->quaternion[i], turned[i], 1e-12);
  for (int i = 0; i < 6; i++)
    CU_ASSERT_DOUBLE_EQUAL(state->velocity[i], i == 0 ? 2 : 0, 1e-12);
}

static void test_force_functions_are_told_the_state(void) {
  static const char *const schemes[] = {"scheme=trapezoid", "scheme=conserving",
                                        "scheme=st"};
  for (int i = 0; i < 3; i++) {
    scene s;
    open_scene(&s, schemes[i], 0);
    dBodyID body = add_ball(&s, 0.5, 0);
    ode_mlcp_force *force;
    ode_mlcp_report report;
    int n_looks = 0;
    dBodySetPosition(body, 1, 3, 0);
    dBodySetQuaternion(body, (dQuaternion){0.5, -0.5, 0.5, 0.5});
    dBodySetLinearVel(body, 2, 0, 0);
    CU_ASSERT_EQUAL_FATAL(
        ode_mlcp_force_create(body, look_at_state, &n_looks, &force),
        ODE_MLCP_OK);
    step(&s, 0.25, &report);
    CU_ASSERT(n_looks > 0);
    scene_close(&s);
  }
}

/* A spring in x, a damper in y, in N/m and N s/m. */
typedef struct stiffness {
  double spring, damper;
} stiffness;

static void spring_and_damper(void *context, dBodyID body,
                              const ode_mlcp_body_state *state, double force[6],
                              double k_q[36], double k_v[36]) {
  const stiffness *k = context;
  (void)body;
  force[0] = -k->spring * state->position[0];
  k_q[0] = -k->spring;
  force[1] = -k->damper * state->velocity[1];
  k_v[7] = -k->damper;
}

/* Implicit Euler of a linear force, whatever its size:
 * v+ = (m v - h k x) / (m + h^2 k) and v+ = m v / (m + h c). */
static void test_force_functions_are_implicit_under_st(void) {
  static const struct {
    double mass, h;
    stiffness k;
  } cases[] = {{1, 0.01, {1e6, 1e4}},
               {50, 0.002, {3, 0.2}},
               {0.02, 0.05, {200, 1e-3}},
               {3e3, 0.01, {1e12, 1e9}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double m = cases[i].mass, h = cases[i].h;
    stiffness k = cases[i].k;
    scene s;
    open_scene(&s, "scheme=st", 0);
    dBodyID body = add_ball(&s, 0.5, 0);
    dMass mass;
    ode_mlcp_force *force;
    ode_mlcp_report report;
    dMassSetSphereTotal(&mass, m, 0.1);
    dBodySetMass(body, &mass);
    dBodySetLinearVel(body, 0.3, -2, 0);
    CU_ASSERT_EQUAL_FATAL(
        ode_mlcp_force_create(body, spring_and_damper, &k, &force),
        ODE_MLCP_OK);
    double x = dBodyGetPosition(body)[0], v[2] = {0.3, -2};
    for (int n = 0; n < 20; n++) {
      step(&s, h, &report);
      v[0] = (m * v[0] - h * k.spring * x) / (m + h * h * k.spring);
      v[1] = m * v[1] / (m + h * k.damper);
      x += h * v[0];
      const dReal *now = dBodyGetLinearVel(body);
      CU_ASSERT_DOUBLE_EQUAL(now[0], v[0], of_host(1e-9, 1) * (1 + fabs(v[0])));
      CU_ASSERT_DOUBLE_EQUAL(now[1], v[1], of_host(1e-9, 1));
      CU_ASSERT_EQUAL(report.jacobians_dropped, 0);
    }
    scene_close(&s);
  }
}

/* A force that drives itself on at more than the mass over h: as it is at the start. */
static void test_what_leaves_no_mass_is_dropped_under_st(void) {
  scene s;
  open_scene(&s, "scheme=st", 0);
  stiffness driven = {.spring = 0, .damper = -1e6};
  dBodyID body = add_ball(&s, 0.5, 0);
  ode_mlcp_force *force;
  ode_mlcp_report report;
  dBodySetLinearVel(body, 0, 1e-3, 0);
  CU_ASSERT_EQUAL_FATAL(
      ode_mlcp_force_create(body, spring_and_damper, &driven, &force),
      ODE_MLCP_OK);
  step(&s, 0.01, &report);
  CU_ASSERT_EQUAL(report.jacobians_dropped, 1);
  CU_ASSERT(dBodyGetLinearVel(body)[1] > 1e-3);
  scene_close(&s);
}

static void bad_force(void *context, dBodyID body,
                      const ode_mlcp_body_state *state, double force[6],
                      double k_q[36], double k_v[36]) {
  (void)context;
  (void)body;
  (void)k_q;
  (void)k_v;
  if (state->time > 0.025) force[2] = NAN;
}

static void quiet(int number, const char *text, va_list arguments) {
  (void)number;
  (void)text;
  (void)arguments;
}

static void test_a_force_that_is_no_number_fails_the_step(void) {
  scene s;
  open_scene(&s, "scheme=trapezoid", 9.81);
  dBodyID body = add_ball(&s, 0.5, 0);
  ode_mlcp_force *force;
  ode_mlcp_report report;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_force_create(body, bad_force, NULL, &force),
                        ODE_MLCP_OK);
  step(&s, 0.01, &report);
  step(&s, 0.01, &report);
  double y = dBodyGetPosition(body)[1], v = dBodyGetLinearVel(body)[1];
  dSetMessageHandler(quiet);
  CU_ASSERT_EQUAL(ode_mlcp_step(s.world, 0.01, &report), ODE_MLCP_STEP_FAILED);
  dSetMessageHandler(NULL);
  CU_ASSERT_EQUAL(dBodyGetPosition(body)[1], y);
  CU_ASSERT_EQUAL(dBodyGetLinearVel(body)[1], v);
  ode_mlcp_force_destroy(force);
  step(&s, 0.01, &report);
  CU_ASSERT(dBodyGetPosition(body)[1] < y);
  scene_close(&s);
}

static int pushes; /* of push */
static void push(void *context, dBodyID body, const ode_mlcp_body_state *state,
                 double force[6], double k_q[36], double k_v[36]) {
  (void)context;
  (void)body;
  (void)state;
  (void)k_q;
  (void)k_v;
  pushes++;
  force[0] = 1;
}

/* The host's allocator, but what lay at `watched` is the next of its size. */
static void *watched, *given_back;
static size_t given_size;

static void *allocate_again(size_t size) {
  void *block = given_back;
  if (block == NULL || size != given_size) return malloc(size);
  given_back = NULL;
  return block;
}

static void give_back(void *block, size_t size) {
  if (block != watched || given_back != NULL) {
    free(block);
    return;
  }
  given_back = block;
  given_size = size;
}

/* Forces end with their bodies, whoever lives at the same address next. */
static void test_forces_end_with_their_bodies(void) {
  scene s;
  open_scene(&s, "scheme=trapezoid", 0);
  ode_mlcp_force *forces[2];
  ode_mlcp_report report;
  dBodyID body = add_ball(&s, 0.5, 0);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_force_create(body, push, NULL, &forces[0]),
                        ODE_MLCP_OK);
  const ode_mlcp_spring spring = {
      .body = {body, NULL}, .anchor = {{1, 1, 1}}, .stiffness = 100};
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_spring_create(s.world, &spring, &forces[1]),
                        ODE_MLCP_OK);
  step(&s, 0.01, &report);
  CU_ASSERT(pushes > 0);
  CU_ASSERT(dBodyGetLinearVel(body)[0] != 0);

  watched = body;
  dSetAllocHandler(allocate_again);
  dSetFreeHandler(give_back);
  dBodyDestroy(body);
  dBodyID other = add_ball(&s, 0.5, 0);
  watched = NULL;
  dSetAllocHandler(NULL);
  dSetFreeHandler(NULL);
  CU_ASSERT_PTR_NULL(given_back);
  CU_ASSERT_PTR_EQUAL(other, body);
  pushes = 0;
  for (int i = 0; i < 3; i++) step(&s, 0.01, &report);
  CU_ASSERT_EQUAL(pushes, 0);
  for (int k = 0; k < 3; k++) CU_ASSERT_EQUAL(dBodyGetLinearVel(other)[k], 0);
  CU_ASSERT_EQUAL(ode_mlcp_spring_energy(s.world), 0);
  ode_mlcp_force_destroy(forces[0]); /* still the program's to destroy */
  scene_close(&s);                   /* with the other one */
}

/* --- joints that do not drift --------------------------------------------- */

/* A pendulum of two rods; its worst joint error over the last tenth, and where
 * it is at time 2. */
static double drift(const char *settings, int level, double time,
                    double place[2]) {
  scene s;
  double h = ldexp(1, -level), worst = 0;
  open_scene(&s, settings, 9.81);
  dBodyID a = add_ball(&s, 1, 0), b = add_ball(&s, 2, 0);
  add_rod(&s, a, NULL);
  add_rod(&s, b, a);
  int n = (int)(time / h + 0.5);
  for (int i = 0; i < n; i++) {
    ode_mlcp_report report;
    step(&s, h, &report);
    const dReal *p = dBodyGetPosition(a), *q = dBodyGetPosition(b);
    if (i < n - n / 10) continue;
    worst = fmax(worst, fabs(hypot(p[0], p[1]) - 1));
    worst = fmax(worst, fabs(hypot(q[0] - p[0], q[1] - p[1]) - 1));
  }
  place[0] = dBodyGetPosition(b)[0];
  place[1] = dBodyGetPosition(b)[1];
  scene_close(&s);
  return worst;
}

static void test_joints_do_not_drift_and_order_two_stays(void) {
  double place[2], fine[2], last = NAN;
  double corrected = drift("scheme=trapezoid erp=1", 7, 60, place);
  double drifting = drift("scheme=trapezoid erp=0", 7, 60, place);
  if (!(corrected < 1e-4 && drifting > 100 * corrected))
    fprintf(stderr, "drift %g, corrected %g\n", drifting, corrected);
  CU_ASSERT(corrected < 1e-4);
  CU_ASSERT(drifting > 100 * corrected);

  if (left_out_in_single(ORDER)) return;
  drift("scheme=trapezoid erp=1", 13, 1, fine);
  for (int level = 6; level <= 9; level++) {
    drift("scheme=trapezoid erp=1", level, 1, place);
    double error = hypot(place[0] - fine[0], place[1] - fine[1]);
    double ratio = last / error;
    if (level > 6 && !(ratio > 3.7 && ratio < 4.4))
      fprintf(stderr, "level %d: error %g ratio %g\n", level, error, ratio);
    if (level > 6) CU_ASSERT(ratio > 3.7 && ratio < 4.4);
    last = error;
  }
}

/* --- first-order schemes --------------------------------------------------- */

static int refusals;
static void count_refusal(int number, const char *text, va_list arguments) {
  (void)number;
  (void)text;
  (void)arguments;
  refusals++;
}

static void no_force(void *context, dBodyID body,
                     const ode_mlcp_body_state *state, double force[6],
                     double k_q[36], double k_v[36]) {
  (void)context;
  (void)body;
  (void)state;
  (void)force;
  (void)k_q;
  (void)k_v;
}

/* A spring that would do nothing is refused, in words. */
static void test_schemes_without_springs_refuse_them(void) {
  static const char *schemes[] = {"scheme=ap", "scheme=ah"};
  for (int k = 0; k < 2; k++) {
    scene s;
    open_scene(&s, schemes[k], 0);
    dBodyID body = add_ball(&s, 1, 0);
    ode_mlcp_spring spring = {.body = {body}, .stiffness = 1};
    ode_mlcp_force *force;
    refusals = 0;
    dMessageFunction *before = dGetMessageHandler();
    dSetMessageHandler(count_refusal);
    CU_ASSERT_EQUAL(ode_mlcp_spring_create(s.world, &spring, &force),
                    ODE_MLCP_BAD_ARGUMENT);
    CU_ASSERT_EQUAL(ode_mlcp_force_create(body, no_force, NULL, &force),
                    ODE_MLCP_BAD_ARGUMENT);
    dSetMessageHandler(before);
    CU_ASSERT_EQUAL(refusals, 2);
    scene_close(&s);
  }
}

/* Under st a spring is implicit Euler's: never more energy, however stiff. (One
 * that swings far in a step goes where its line was.) */
static void test_stiff_springs_under_st(void) {
  for (double k = 1e2; k < 2e8; k *= 1e2)
    for (double h = 0.001; h < 0.2; h *= 10) {
      scene s;
      char settings[40];
      snprintf(settings, sizeof settings, "scheme=st");
      open_scene(&s, settings, 9.81);
      dBodyID body = add_ball(&s, 0, -1);
      ode_mlcp_force *force;
      ode_mlcp_spring spring = {
          .body = {body}, .anchor = {{0, -1, 0}}, .stiffness = k, .length = 1};
      CU_ASSERT_EQUAL_FATAL(ode_mlcp_spring_create(s.world, &spring, &force),
                            ODE_MLCP_OK);
      double most = -INFINITY;
      for (int i = 0; i < 100; i++) {
        ode_mlcp_report report;
        step(&s, h, &report);
        const dReal *x = dBodyGetPosition(body);
        const dReal *v = dBodyGetLinearVel(body);
        double energy = 9.81 * (x[1] + 1) +
                        0.5 * vec_length(v) * vec_length(v) +
                        ode_mlcp_spring_energy(s.world);
        most = fmax(most, energy);
      }
      if (!(most < 1e-6)) fprintf(stderr, "k %g h %g: %g\n", k, h, most);
      CU_ASSERT(most < 1e-6);
      scene_close(&s);
    }
}

/* However stiff for the bodies' masses, a spring between them gives one what it
 * takes from the other. */
static void test_stiff_springs_under_st_keep_momentum(void) {
  static const double masses[] = {1e-6, 1, 1e6};
  for (int m = 0; m < 3; m++)
    for (double k = 1; k < 1e13; k *= 1e4) {
      scene s;
      dBodyID body[2];
      double momentum = 0, scale = 0;
      open_scene(&s, "scheme=st", 0);
      for (int b = 0; b < 2; b++) {
        dMass mass;
        body[b] = add_ball(&s, 1.5 * b, 0);
        dMassSetSphereTotal(&mass, b == 0 ? masses[m] : 3 * masses[m], 0.1);
        dBodySetMass(body[b], &mass);
        dBodySetLinearVel(body[b], b == 0 ? 0.2 : -0.3, 0.1 * b, 0);
      }
      ode_mlcp_spring spring = {.body = {body[0], body[1]},
                                .anchor = {{0, 0.05, 0}, {1.5, 0, 0.05}},
                                .stiffness = k,
                                .damping = 1e-3 * k,
                                .length = 1};
      ode_mlcp_force *force;
      CU_ASSERT_EQUAL_FATAL(ode_mlcp_spring_create(s.world, &spring, &force),
                            ODE_MLCP_OK);
      for (int i = 0; i < 20; i++) {
        double now = 0, size = 0;
        for (int b = 0; b < 2; b++) {
          dMass mass;
          dBodyGetMass(body[b], &mass);
          now += mass.mass * dBodyGetLinearVel(body[b])[0];
          size += mass.mass * fabs(dBodyGetLinearVel(body[b])[0]);
        }
        if (i == 0) momentum = now;
        scale = fmax(scale, size);
        if (!(fabs(now - momentum) <= 1e-13 * scale))
          fprintf(stderr, "mass %g, k %g, step %d: momentum %g is %g off\n",
                  masses[m], k, i, momentum, now - momentum);
        CU_ASSERT(fabs(now - momentum) <= of_host(1e-13, 1) * scale);
        ode_mlcp_report report;
        step(&s, 0.01, &report);
      }
      scene_close(&s);
    }
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"gyroscope converges at order two",
       test_gyroscope_converges_at_order_two},
      {"swinging spring converges at order two",
       test_swinging_spring_converges_at_order_two},
      {"stiff carts stay bounded", test_stiff_carts_stay_bounded},
      {"stiff force functions are stable",
       test_stiff_force_functions_are_stable},
      {"force functions are told the state",
       test_force_functions_are_told_the_state},
      {"force functions are implicit under st",
       test_force_functions_are_implicit_under_st},
      {"what leaves no mass is dropped under st",
       test_what_leaves_no_mass_is_dropped_under_st},
      {"a force that is no number fails the step",
       test_a_force_that_is_no_number_fails_the_step},
      {"forces end with their bodies", test_forces_end_with_their_bodies},
      {"joints do not drift and order two stays",
       test_joints_do_not_drift_and_order_two_stays},
      {"schemes without springs refuse them",
       test_schemes_without_springs_refuse_them},
      {"stiff springs under st", test_stiff_springs_under_st},
      {"stiff springs under st keep momentum",
       test_stiff_springs_under_st_keep_momentum},
      CU_TEST_INFO_NULL};
  dInitODE2(0);
  int result = run_tests("schemes: forces", tests);
  dCloseODE();
  return result;
}
