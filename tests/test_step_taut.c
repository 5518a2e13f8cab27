/* Ropes and bridges whose joints pull more than their light parts can follow in a
 * step: joints stay together, nothing gains energy, nothing tears, in any units. */
#include <stdbool.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "step_testing.h"

static const double GRAVITY = 9.81;

enum { MAX_LINKS = 24 };

typedef struct chain {
  dWorldID world;
  dBodyID body[MAX_LINKS + 1];
  dJointID joint[2 * (MAX_LINKS + 1)];
  int n_bodies, n_joints;
} chain;

static dBodyID add_body(chain *c, const dMass *mass, const double position[3],
                        const dMatrix3 rotation) {
  dBodyID body = dBodyCreate(c->world);
  dBodySetMass(body, mass);
  dBodySetPosition(body, position[0], position[1], position[2]);
  dBodySetRotation(body, rotation);
  c->body[c->n_bodies++] = body;
  return body;
}

static void join(chain *c, dBodyID first, dBodyID second, bool hinge, double x,
                 double y, double z) {
  dJointID joint;
  if (hinge) {
    joint = joint_hinge(c->world, first, second, x, y, z, 0, 1, 0);
  } else {
    joint = joint_ball(c->world, first, second, x, y, z);
  }
  c->joint[c->n_joints++] = joint;
}

static double widest(const chain *c) {
  double most = 0;
  for (int j = 0; j < c->n_joints; j++) {
    dVector3 one, other;
    if (dJointGetType(c->joint[j]) == dJointTypeHinge) {
      dJointGetHingeAnchor(c->joint[j], one);
      dJointGetHingeAnchor2(c->joint[j], other);
    } else {
      dJointGetBallAnchor(c->joint[j], one);
      dJointGetBallAnchor2(c->joint[j], other);
    }
    for (int i = 0; i < 3; i++) most = fmax(most, fabs(one[i] - other[i]));
  }
  return most;
}

static double energy(const chain *c) {
  double sum = 0;
  for (int b = 0; b < c->n_bodies; b++) {
    dMass mass;
    dBodyGetMass(c->body[b], &mass);
    sum += kinetic_energy(c->body[b]) +
           mass.mass * GRAVITY * dBodyGetPosition(c->body[b])[2];
  }
  return sum;
}

/* Of length L at an angle, `ratio` links' masses at its end. */
static chain hang_rope(const ode_mlcp_options *options, int n_links, double L,
                       double mass, double ratio, double angle, bool hinges) {
  chain c = {.world = create_world(GRAVITY, options)};
  const double link = L / n_links, way[3] = {sin(angle), 0, -cos(angle)};
  dMatrix3 rotation;
  dMass of;
  dRFromAxisAndAngle(rotation, 0, 1, 0, -angle);
  for (int i = 0; i <= n_links; i++) {
    double middle = i < n_links ? (i + 0.5) * link : L, at = i * link;
    if (i < n_links)
      dMassSetCapsuleTotal(&of, mass, 3, 0.1 * link, 0.8 * link);
    else
      dMassSetSphereTotal(&of, ratio * mass, link);
    const double position[3] = {middle * way[0], 0, middle * way[2]};
    dBodyID body = add_body(&c, &of, position, rotation);
    join(&c, body, i > 0 ? c.body[i - 1] : NULL, hinges, at * way[0], 0,
         at * way[2]);
  }
  return c;
}

static const int SCHEMES[] = {ODE_MLCP_SCHEME_AH, ODE_MLCP_SCHEME_GAP,
                              ODE_MLCP_SCHEME_TRAPEZOID,
                              ODE_MLCP_SCHEME_CONSERVING};
enum { N_SCHEMES = sizeof SCHEMES / sizeof *SCHEMES };

static void swing_ropes(const ode_mlcp_options *options) {
  test_random random = {30};
  for (int i = 0; i < test_rounds(24); i++) {
    int n_links = 3 + (int)test_uniform(&random, 0, 18);
    double L = pow(10, test_uniform(&random, -1.5, 1));
    double mass = pow(10, test_uniform(&random, -2, 2));
    double ratio = pow(400, test_uniform(&random, 0, 1));
    double angle = test_uniform(&random, 0.1, 1.2);
    double h = test_uniform(&random, 0.005, 0.02) * sqrt(L / GRAVITY);
    bool hinges = i % 2 == 0;
    chain c = hang_rope(options, n_links, L, mass, ratio, angle, hinges);
    double torn = 0, start = energy(&c), gained = 0;
    for (int k = 0; k < 800; k++) {
      CU_ASSERT_FATAL(dWorldStep(c.world, h) != 0);
      torn = fmax(torn, widest(&c) / L);
      gained = fmax(gained, energy(&c) - start);
    }
    gained /= (n_links + ratio) * mass * GRAVITY * L;
    CU_ASSERT(torn < 5e-3);
    CU_ASSERT(gained < 5e-3);
    if (!(torn < 5e-3 && gained < 5e-3))
      printf(
          "\nscheme %d, %d links, %g m, ratio %g, h %g, angle %g: torn %g, "
          "gained %g\n",
          options->scheme, n_links, L, ratio, h, angle, torn, gained);
    dWorldDestroy(c.world);
  }
}

static void test_swinging_ropes(void) {
  for (int i = 0; i < N_SCHEMES; i++) {
    /* whose ropes gain energy where a step resolves them */
    if (SCHEMES[i] == ODE_MLCP_SCHEME_GAP) continue;
    ode_mlcp_options options = options_under(SCHEMES[i]);
    swing_ropes(&options);
  }
}

static void swing(int scheme, double h, double end[3]) {
  const double L = 5, angle = 1, seconds = 6;
  ode_mlcp_options options = options_under(scheme);
  chain c = hang_rope(&options, 10, L, 0.1, 400, angle, false);
  for (int k = 0; k < (int)(seconds / h + 0.5); k++)
    CU_ASSERT_FATAL(dWorldStep(c.world, h) != 0);
  real_read(end, dBodyGetPosition(c.body[10]), 3);
  dWorldDestroy(c.world);
}

/* The same swing at a step that resolves it all: heavy ropes are not braked. */
static void test_swing_is_kept(void) {
  double exact[3], end[3];
  swing(ODE_MLCP_SCHEME_CONSERVING, 0.002, exact);
  for (int i = 0; i < N_SCHEMES; i++) {
    swing(SCHEMES[i], 0.01, end);
    vec3_subtract(end, end, exact);
    bool second_order = SCHEMES[i] != ODE_MLCP_SCHEME_AH;
    double off = vec3_length(end), most = second_order ? 0.005 : 0.1;
    CU_ASSERT(off < most);
    if (!(off < most)) printf("\nscheme %d: %g m off\n", SCHEMES[i], off);
  }
}

typedef struct bridge_case {
  int n_planks;
  double L, mass, push, h;
} bridge_case;

/* Planks between two fixed points, without slack, pushed in the middle for a
 * while. @return the widest that a joint was, of L; `low`: of L, too */
static double push_bridge(const bridge_case *of, bool stock, double *low) {
  double plank = of->L / of->n_planks, torn = 0;
  int n = of->n_planks;
  chain c = {.world = create_world(GRAVITY, NULL)};
  dMatrix3 straight;
  dMass mass;
  if (stock) CU_ASSERT_EQUAL_FATAL(ode_mlcp_detach(c.world), ODE_MLCP_OK);
  dRSetIdentity(straight);
  dMassSetBoxTotal(&mass, of->mass, 0.9 * plank, 0.4 * of->L, 0.1 * plank);
  for (int b = 0; b <= n; b++) {
    const double position[3] = {(b + 0.5) * plank, 0, 0};
    if (b < n) add_body(&c, &mass, position, straight);
    for (int side = -1; side <= 1; side += 2)
      join(&c, c.body[b < n ? b : n - 1], b > 0 && b < n ? c.body[b - 1] : NULL,
           false, b * plank, 0.15 * side * of->L, 0);
  }
  *low = 0;
  for (int k = 0; k < 400; k++) {
    if (k < 100) dBodyAddForce(c.body[n / 2], 0, 0, -of->push);
    CU_ASSERT_FATAL(dWorldStep(c.world, of->h) != 0);
    torn = fmax(torn, widest(&c) / of->L);
    for (int b = 0; b < n; b++)
      *low = fmax(*low, -dBodyGetPosition(c.body[b])[2] / of->L);
  }
  dWorldDestroy(c.world);
  return torn;
}

/* Rigid joints: hardly anything moves. Where a push is more than a step can take,
 * joints open no wider than the host's own stepper lets them. */
static void test_taut_bridges(void) {
  test_random random = {31};
  for (int i = 0; i < 16; i++) {
    bridge_case of = {.n_planks = 6 + (int)test_uniform(&random, 0, 16)};
    of.L = pow(10, test_uniform(&random, -1, 1));
    of.mass = pow(10, test_uniform(&random, -2, 2));
    of.push = pow(400, test_uniform(&random, 0, 1)) * of.mass * GRAVITY;
    of.h = test_uniform(&random, 0.005, 0.03) * sqrt(of.L / GRAVITY);
    double low, stock_low, torn = push_bridge(&of, false, &low);
    double stock_torn = push_bridge(&of, true, &stock_low);
    bool held = torn < fmax(1e-3, stock_torn) && low < fmax(0.02, stock_low);
    CU_ASSERT(held);
    if (!held)
      printf("\n%d planks, %g m, push %g, h %g: torn %g (%g), low %g (%g)\n",
             of.n_planks, of.L, of.push / (of.mass * GRAVITY), of.h, torn,
             stock_torn, low, stock_low);
  }
}

/* Joints have no limits: a net that hangs by its corners is one linear system, however
 * taut it is, and a solve of it a factorisation or two. */
static void test_hanging_net_is_linear(void) {
  enum { SIDE = 8, STEPS = 40 };
  ode_mlcp_options options;
  ode_mlcp_report report;
  ode_mlcp_default_options(&options);
  dWorldID world = create_world(GRAVITY, &options);
  dBodyID knot[SIDE * SIDE];
  for (int i = 0; i < SIDE * SIDE; i++) {
    int column = i % SIDE, row = i / SIDE;
    double x = column, y = row;
    knot[i] = create_ball(world, 1, 0.3);
    dBodySetPosition(knot[i], x, y, 0);
    if (column > 0) joint_ball(world, knot[i], knot[i - 1], x - 0.5, y, 0);
    if (row > 0) joint_ball(world, knot[i], knot[i - SIDE], x, y - 0.5, 0);
    if (column % (SIDE - 1) == 0 && row % (SIDE - 1) == 0)
      joint_ball(world, knot[i], NULL, x, y, 0);
  }
  for (int k = 0; k < STEPS; k++) {
    CU_ASSERT_FATAL(dWorldStep(world, 0.01));
    ode_mlcp_last_report(world, &report);
    CU_ASSERT(report.factorisations <= 4);
    CU_ASSERT(report.degraded == 0);
  }
  dWorldDestroy(world);
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"swinging ropes hold and gain nothing", test_swinging_ropes},
      {"a heavy rope swings on", test_swing_is_kept},
      {"taut bridges hold", test_taut_bridges},
      {"a hanging net is a linear system", test_hanging_net_is_linear},
      CU_TEST_INFO_NULL};
  return run_host_tests("step taut", tests);
}
