/* Worlds that go on and on: nothing drifts away, breaks, grows or is refused.
 *
 *   test_step_soak [STEPS [WORLD]]
 *
 * STEPS of each world, 1500 by default; a million is the long form. WORLD is pile,
 * chain, vehicle, walker or spawn: that one alone. */
#include <stdbool.h>

#include "failing_memory.h"
#include "pile.h"
#include "stepper/process.h"

static const double H = 0.01;
enum { MOST = 40 };

typedef struct soak {
  pile pile;
  dJointID joints[MOST];
  int n_joints;
  test_random random;
} soak;

static dJointID add_hinge(soak *s, dBodyID one, dBodyID other, double x,
                          double y, double z) {
  dJointID hinge = joint_hinge(s->pile.world, one, other, x, y, z, 0, 1, 0);
  return s->joints[s->n_joints++] = hinge;
}

/* ---- the worlds: made, pushed about, judged ---- */

static void make_pile(soak *s) {
  dCreatePlane(s->pile.space, 1, 0, 0, -1.5);
  dCreatePlane(s->pile.space, -1, 0, 0, -1.5);
  dCreatePlane(s->pile.space, 0, 1, 0, -1.5);
  dCreatePlane(s->pile.space, 0, -1, 0, -1.5);
  for (int k = 0; k < 12; k++) {
    double x = k % 3 - 1, y = k / 3 % 2 - 0.5, z = 0.5 + k / 6;
    if (k % 3 == 0)
      pile_ball(&s->pile, 20, x, y, z, 0.3);
    else
      pile_box(&s->pile, k % 3 == 1 ? 5 : 80, x, y, z, 0.6, 0.5, 0.4);
  }
}

/* Now and then something is kicked. */
static void kick(soak *s, long step) {
  if (step % 200 != 0) return;
  int which = (int)test_uniform(&s->random, 0, s->pile.n_bodies);
  dBodySetLinearVel(s->pile.body[which], test_uniform(&s->random, -3, 3),
                    test_uniform(&s->random, -3, 3), 3);
  dBodyEnable(s->pile.body[which]);
}

static const char *judge_pile(const soak *s) {
  for (int b = 0; b < s->pile.n_bodies; b++) {
    const dReal *x = dBodyGetPosition(s->pile.body[b]);
    if (x[2] < 0.1 || x[2] > 10 || fabs(x[0]) > 1.6 || fabs(x[1]) > 1.6)
      return "a body left the pit";
  }
  return NULL;
}

static void make_chain(soak *s) {
  dBodyID last = NULL;
  for (int k = 0; k < 16; k++) {
    double top = 12 - 0.5 * k;
    dBodyID link =
        pile_box(&s->pile, k == 15 ? 50 : 5, 0, 0, top - 0.25, 0.1, 0.1, 0.4);
    add_hinge(s, link, last, 0, 0, top);
    last = link;
  }
}

static double apart(dJointID hinge) {
  dVector3 a, b;
  double square = 0;
  dJointGetHingeAnchor(hinge, a);
  dJointGetHingeAnchor2(hinge, b);
  for (int i = 0; i < 3; i++) square += (a[i] - b[i]) * (a[i] - b[i]);
  return sqrt(square);
}

static const char *judge_joints(const soak *s) {
  for (int j = 0; j < s->n_joints; j++)
    if (!(apart(s->joints[j]) < 0.05)) return "a joint came apart";
  return NULL;
}

static void swing(soak *s, long step) {
  if (step % 500 == 0)
    dBodyAddForce(s->pile.body[8], test_uniform(&s->random, -300, 300),
                  test_uniform(&s->random, -30, 30), 0);
}

static void make_vehicle(soak *s) {
  dBodyID chassis = pile_box(&s->pile, 800, 0, 0, 0.7, 2, 1, 0.3);
  for (int k = 0; k < 4; k++) {
    double x = k & 1 ? 0.8 : -0.8, y = k & 2 ? 0.65 : -0.65;
    dBodyID wheel = pile_ball(&s->pile, 20, x, y, 0.4, 0.4);
    dJointID axle = dJointCreateHinge2(s->pile.world, 0);
    const dVector3 up = {0, 0, 1}, side = {0, 1, 0};
    dJointAttach(axle, chassis, wheel);
    dJointSetHinge2Anchor(axle, x, y, 0.4);
    dJointSetHinge2Axes(axle, up, side);
    dJointSetHinge2Param(axle, dParamLoStop, 0);
    dJointSetHinge2Param(axle, dParamHiStop, 0);
    dJointSetHinge2Param(axle, dParamSuspensionERP, 0.4);
    dJointSetHinge2Param(axle, dParamSuspensionCFM, 1e-5);
    dJointSetHinge2Param(axle, dParamFMax2, 300);
    s->joints[s->n_joints++] = axle;
  }
}

static void drive(soak *s, long step) {
  double speed = step / 300 % 2 ? 15 : -10;
  for (int k = 0; k < 4; k++)
    dJointSetHinge2Param(s->joints[k], dParamVel2, speed + 2 * (k & 2));
}

static const char *judge_vehicle(const soak *s) {
  const dReal *x = dBodyGetPosition(s->pile.body[0]);
  const dReal *v = dBodyGetLinearVel(s->pile.body[0]);
  if (!(x[2] > 0.3 && x[2] < 1.5)) return "the car is not on its wheels";
  return hypot(v[0], v[1]) < 20 ? NULL : "the car drives too fast";
}

static void make_walker(soak *s) {
  dBodyID trunk = pile_box(&s->pile, 30, 0, 0, 1.3, 0.6, 0.5, 0.3);
  for (int k = 0; k < 4; k++) {
    double x = k & 1 ? 0.25 : -0.25, y = k & 2 ? 0.3 : -0.3;
    dBodyID thigh = pile_box(&s->pile, 4, x, y, 0.95, 0.1, 0.1, 0.4);
    dBodyID shin = pile_box(&s->pile, 2, x, y, 0.5, 0.1, 0.1, 0.4);
    dJointID hip = add_hinge(s, trunk, thigh, x, y, 1.15);
    dJointID knee = add_hinge(s, thigh, shin, x, y, 0.72);
    dJointSetHingeParam(hip, dParamLoStop, -0.6);
    dJointSetHingeParam(hip, dParamHiStop, 0.6);
    dJointSetHingeParam(knee, dParamLoStop, -0.8);
    dJointSetHingeParam(knee, dParamHiStop, 0.8);
    dJointSetHingeParam(hip, dParamFMax, 400);
    dJointSetHingeParam(knee, dParamFMax, 300);
  }
}

static void walk(soak *s, long step) {
  for (int j = 0; j < s->n_joints; j++) {
    double phase = 2 * M_PI * (double)(step % 100) / 100 + 1.5 * j;
    double wanted = 0.25 * sin(phase),
           angle = dJointGetHingeAngle(s->joints[j]);
    dJointSetHingeParam(s->joints[j], dParamVel, 10 * (wanted - angle));
  }
}

static const char *judge_walker(const soak *s) {
  const dReal *x = dBodyGetPosition(s->pile.body[0]);
  if (!(x[2] > 0.1 && x[2] < 2))
    return "the walker is in the air or the ground";
  return judge_joints(s);
}

static void make_nothing(soak *s) { (void)s; }

/* One comes with every fifth step, the oldest goes. */
static void spawn(soak *s, long step) {
  if (step % 5 != 0) return;
  if (s->pile.n_bodies == 20) {
    dBodyID oldest = s->pile.body[0];
    dGeomDestroy(dBodyGetFirstGeom(oldest));
    dBodyDestroy(oldest);
    memmove(s->pile.body, s->pile.body + 1, 19 * sizeof s->pile.body[0]);
    s->pile.n_bodies--;
  }
  double x = test_uniform(&s->random, -2, 2),
         y = test_uniform(&s->random, -2, 2);
  double mass = pow(10, test_uniform(&s->random, -2, 3));
  if (step % 2)
    pile_ball(&s->pile, mass, x, y, 2, 0.25);
  else
    pile_box(&s->pile, mass, x, y, 2, 0.5, 0.4, 0.3);
}

static const char *judge_spawn(const soak *s) {
  for (int b = 0; b < s->pile.n_bodies; b++)
    if (!(dBodyGetPosition(s->pile.body[b])[2] > -0.1))
      return "a body fell through the ground";
  return NULL;
}

typedef struct soak_world {
  const char *name;
  void (*make)(soak *);
  void (*act)(soak *, long step);
  const char *(*judge)(const soak *);
} soak_world;

static const soak_world worlds[] = {
    {"pile", make_pile, kick, judge_pile},
    {"chain", make_chain, swing, judge_joints},
    {"vehicle", make_vehicle, drive, judge_vehicle},
    {"walker", make_walker, walk, judge_walker},
    {"spawn", make_nothing, spawn, judge_spawn}};
enum { N_WORLDS = sizeof worlds / sizeof worlds[0] };

static failing_memory memory;

static bool run(const soak_world *of, long n_steps) {
  soak s;
  const char *wrong = NULL;
  long step = 0, degraded = 0, held_early = 0, held_most = 0;
  double slowest = 0;
  memset(&s, 0, sizeof s);
  s.random.state = 1;
  s.pile = pile_open(dWorldCreate(), 0.8);
  dWorldSetGravity(s.pile.world, 0, 0, -9.81);
  ode_mlcp_attach(s.pile.world, NULL);
  dCreatePlane(s.pile.space, 0, 0, 1, 0);
  of->make(&s);
  for (; step < n_steps && wrong == NULL; step++) {
    ode_mlcp_report report;
    of->act(&s, step);
    pile_collide(&s.pile);
    if (ode_mlcp_step(s.pile.world, H, &report) != ODE_MLCP_OK)
      wrong = "a step was not taken";
    dJointGroupEmpty(s.pile.contacts);
    if (wrong == NULL) wrong = of->judge(&s);
    degraded += report.degraded > 0;
    slowest = fmax(slowest, report.step_seconds);
    if (memory.bytes_held > held_most) held_most = memory.bytes_held;
    if (step == n_steps / 2) held_early = held_most;
  }
  /* workspaces grow to the largest step that there was, and no further */
  if (wrong == NULL && held_most > 4 * held_early) wrong = "memory grows";
  pile_close(&s.pile);
  if (wrong == NULL && memory.bytes_held != 0) wrong = "memory is left over";
  printf("%-8s %ld steps, %ld of them degraded, slowest %.2g s, %.2g MB%s%s\n",
         of->name, step, degraded, slowest, 1e-6 * (double)held_most,
         wrong != NULL ? ": FAILED: " : "", wrong != NULL ? wrong : "");
  fflush(stdout);
  return wrong == NULL;
}

int main(int argc, char **argv) {
  long n_steps = argc > 1 ? atol(argv[1]) : 1500;
  int passed = 0, failed = 0;
  memory_source source = failing_memory_source(&memory);
  process_set_memory(&source);
  dInitODE2(0);
  for (int k = 0; k < N_WORLDS; k++)
    if (argc < 3 || strcmp(argv[2], worlds[k].name) == 0)
      *(run(&worlds[k], n_steps) ? &passed : &failed) += 1;
  dCloseODE();
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0 || passed == 0;
}
