/* Springs and forces of the program's, however stiff, and what a scheme that knows none
 * says of them. */
#include "host_rounding.h"
#include "scheme_scene.h"

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
  dSetMessageHandler(keep_quiet);
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
