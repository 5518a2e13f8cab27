/* Events of second-order schemes: a ball's bounces, what impacts give back, crowds of
 * them, what contacts are told. */
#include <math.h>

#include "body_testing.h"
#include "host_rounding.h"
#include "scheme_scene.h"
#include "step_testing.h"

/* --- bounces -------------------------------------------------------------- */

/* Height of a ball dropped from `height` after `time`, bouncing with e. */
static double bounced(double height, double e, double g, double time) {
  double fall = sqrt(2 * height / g), up = e * g * fall;
  if (time < fall) return height - 0.5 * g * time * time;
  time -= fall;
  while (up > 1e-9 && time > 2 * up / g) {
    time -= 2 * up / g;
    up *= e;
  }
  return up > 1e-9 ? up * time - 0.5 * g * time * time : 0;
}

static void test_bouncing_ball_is_analytic(void) {
  static const double restitutions[] = {0, 0.3, 0.7, 0.9, 1};
  for (int k = 0; k < 5; k++) {
    scene s;
    open_scene(&s, "scheme=trapezoid", 9.81);
    s.surface.parameters.mode = dContactBounce;
    s.surface.parameters.bounce = restitutions[k];
    dCreatePlane(s.space, 0, 1, 0, 0);
    dBodyID ball = add_ball(&s, 0, 1.1);
    double worst = 0;
    for (int i = 1; i <= 400; i++) {
      ode_mlcp_report report;
      step(&s, 0.01, &report);
      double y = bounced(1, restitutions[k], 9.81, 0.01 * i) + 0.1;
      worst = fmax(worst, fabs(dBodyGetPosition(ball)[1] - y));
    }
    const double most = of_host(1e-6, 400); /* metres, each step rounded */
    if (!(worst < most))
      fprintf(stderr, "e = %g: off by %g\n", restitutions[k], worst);
    CU_ASSERT(worst < most);
    scene_close(&s);
  }
}

/* Balls thrown together in a box: no impact with e = 0 adds energy. */
static void test_impacts_add_no_energy(void) {
  test_random random = {3};
  for (int trial = 0; trial < test_rounds(20); trial++) {
    scene s;
    open_scene(&s, "scheme=trapezoid erp=0", 0);
    s.surface.parameters.mode = dContactApprox1;
    s.surface.parameters.mu = trial % 2 ? 0.5 : 0;
    dBodyID balls[6];
    for (int i = 0; i < 6; i++) {
      balls[i] = add_ball(&s, 0.3 * (i % 3), 0.3 * (i / 3));
      dBodySetLinearVel(balls[i], test_uniform(&random, -5, 5),
                        test_uniform(&random, -5, 5),
                        test_uniform(&random, -0.1, 0.1));
      dBodySetAngularVel(balls[i], test_uniform(&random, -20, 20), 0, 0);
    }
    dCreatePlane(s.space, 1, 0, 0, -0.5);
    dCreatePlane(s.space, -1, 0, 0, -1);
    dCreatePlane(s.space, 0, 1, 0, -0.5);
    dCreatePlane(s.space, 0, -1, 0, -0.8);
    double last = INFINITY;
    long impacts = 0;
    for (int i = 0; i < 40; i++) {
      ode_mlcp_report report;
      step(&s, 0.01, &report);
      impacts += report.impacts;
      double energy = 0;
      for (int b = 0; b < 6; b++) energy += kinetic_energy(balls[b]);
      CU_ASSERT(energy <= last * (1 + of_host(1e-9, 1)));
      last = energy;
    }
    CU_ASSERT(impacts > 0);
    scene_close(&s);
  }
}

/* --- crowds ----------------------------------------------------------------- */

/* A cube of 4 x 4 x 4 balls of some sizes and densities, a little apart in all
 * directions, falls by as much. */
static int drop_cube(scene *s, double mu, double e, dBodyID balls[64],
                     double radius[64], uint64_t seed) {
  test_random random = {seed};
  int n = 0;
  s->surface.parameters.mu = mu;
  s->surface.parameters.mode = dContactApprox1 | (e > 0 ? dContactBounce : 0);
  s->surface.parameters.bounce = e;
  dCreatePlane(s->space, 0, 1, 0, 0);
  for (int at = 0; at < 64; at++) {
    dMass mass;
    balls[n] = dBodyCreate(s->world);
    radius[n] = test_uniform(&random, 0.09, 0.1);
    dMassSetSphere(&mass, test_uniform(&random, 500, 3000), radius[n]);
    dBodySetMass(balls[n], &mass);
    dBodySetPosition(balls[n], 0.21 * (at % 4) + test_uniform(&random, 0, 1e-3),
                     0.101 + 0.21 * (at / 16),
                     0.21 * (at / 4 % 4) + test_uniform(&random, 0, 1e-3));
    dGeomSetBody(dCreateSphere(s->space, radius[n]), balls[n]);
    n++;
  }
  return n;
}

/* How deep balls are in each other and in the ground. */
static double deepest(const dBodyID balls[], const double radius[], int n) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    const dReal *a = dBodyGetPosition(balls[i]);
    most = fmax(most, radius[i] - a[1]);
    for (int j = 0; j < i; j++) {
      const dReal *b = dBodyGetPosition(balls[j]);
      double apart = hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
      most = fmax(most, radius[i] + radius[j] - apart);
    }
  }
  return most;
}

static double fastest(const dBodyID balls[], int n) {
  double most = 0;
  for (int b = 0; b < n; b++) {
    const dReal *v = dBodyGetLinearVel(balls[b]);
    most = fmax(most, hypot(hypot(v[0], v[1]), v[2]));
  }
  return most;
}

/* The time between the last event of a step, or its start, and its end. */
static double after_events(dWorldID world, const ode_mlcp_report *report) {
  ode_mlcp_event event = {.time = report->time - report->step_size};
  for (int i = 0; ode_mlcp_last_event(world, i, &event) == ODE_MLCP_OK;) i++;
  return report->time - event.time;
}

/* The impacts of a crowd neither add energy nor let anything into anything. Where they are
 * more than the step has events for, which it says, what meets after the last of them goes
 * as far as two balls come closer in the time left, at most: about a tenth of that was
 * seen. */
static void test_crowds_of_impacts_are_few_solves(void) {
  static const struct {
    const char *settings;
    double mu, e, h;
  } CASES[] = {{"scheme=trapezoid", 0, 0, 0.01},
               {"scheme=trapezoid", 0.4, 0.3, 0.02},
               {"scheme=conserving", 0, 0, 0.02},
               {"scheme=conserving", 0.5, 0, 0.01}};
  // a short test has those with friction
  const size_t first = (size_t)test_is_short(), by = 1 + first;
  for (size_t c = first; c < sizeof CASES / sizeof *CASES; c += by) {
    scene s;
    dBodyID balls[64];
    double radius[64], deep = 0, let_in = 1e-4, highest = 0, fast = 0;
    long most_substeps = 0, factorisations = 0, impacts = 0, n_crowds = 0;
    open_scene(&s, CASES[c].settings, 9.81);
    int n = drop_cube(&s, CASES[c].mu, CASES[c].e, balls, radius, 7 + c);
    for (int i = 0; i * CASES[c].h < 0.4; i++) {
      ode_mlcp_report report;
      CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s.world, CASES[c].h, &report),
                            ODE_MLCP_OK);
      fast = fmax(fast, fastest(balls, n)); /* before the step and after it */
      if (report.zeno) let_in += 2 * fast * after_events(s.world, &report);
      deep = fmax(deep, deepest(balls, radius, n));
      CU_ASSERT(deep < let_in);
      fast = fastest(balls, n);
      most_substeps =
          report.substeps > most_substeps ? report.substeps : most_substeps;
      factorisations += report.factorisations;
      impacts += report.impacts;
      n_crowds += report.zeno;
      double energy = 0;
      for (int b = 0; b < n; b++) {
        dMass mass;
        dBodyGetMass(balls[b], &mass);
        energy += kinetic_energy(balls[b]) +
                  9.81 * mass.mass * dBodyGetPosition(balls[b])[1];
      }
      if (i == 0) highest = energy;
      CU_ASSERT(energy <= highest * (1 + 1e-4));
      highest = fmin(energy, highest);
    }
    CU_ASSERT(impacts >= 64 || n_crowds > 0);
    CU_ASSERT(most_substeps <= 96); /* of some islands */
    CU_ASSERT(factorisations <= 2800);
    scene_close(&s);
  }
}

/* Trunks fall onto each other and come to rest, told of what overlaps alone.
 * @return the factorisations of all steps. */
static long fell_trunks(const char *settings,
                        const dSurfaceParameters *surface) {
  enum { TRUNKS = 10, STEPS = 300 };
  ode_mlcp_options options = options_of(settings);
  dWorldID world = dWorldCreate();
  dSpaceID space = dSimpleSpaceCreate(NULL);
  dJointGroupID contacts = dJointGroupCreate(0);
  dGeomID geoms[TRUNKS + 1] = {dCreatePlane(space, 0, 0, 1, 0)};
  long sum = 0;
  dWorldSetGravity(world, 0, 0, -9.81);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(world, &options), ODE_MLCP_OK);
  for (int i = 0; i < TRUNKS; i++) {
    dMass mass;
    dMatrix3 turn;
    dBodyID trunk = dBodyCreate(world);
    dMassSetCapsuleTotal(&mass, 50, 3, 0.1, 2);
    dBodySetMass(trunk, &mass);
    dBodySetPosition(trunk, 0.3 * i, 0.05 * (i % 3), 1.1);
    dRFromAxisAndAngle(turn, i % 2 - 0.5, 1, 0, 0.1 + 0.02 * i);
    dBodySetRotation(trunk, turn);
    geoms[i + 1] = dCreateCapsule(space, 0.1, 2);
    dGeomSetBody(geoms[i + 1], trunk);
  }
  for (int step = 0; step < STEPS; step++) {
    for (int i = 0; i <= TRUNKS; i++)
      for (int j = 0; j < i; j++)
        join_contacts_on(world, contacts, geoms[i], geoms[j], surface);
    ode_mlcp_report report;
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(world, 0.01, &report), ODE_MLCP_OK);
    sum += report.factorisations;
    dJointGroupEmpty(contacts);
  }
  dSpaceDestroy(space);
  dJointGroupDestroy(contacts);
  dWorldDestroy(world);
  return sum;
}

/* What touches and parts a little, by an impact elsewhere, comes back within the step and
 * needs none of its own; nor do bodies that an impact leaves as they are. On soft contacts
 * the ends of slides need no steps of their own. */
static void test_what_comes_to_rest_is_few_solves(void) {
  const dSurfaceParameters rigid = {.mode = dContactApprox1, .mu = 0.6};
  dSurfaceParameters soft = rigid;
  soft.mode |= dContactSoftERP | dContactSoftCFM;
  soft.soft_erp = 0.9;
  soft.soft_cfm = 0.02;
  for (int k = 0; k < 2; k++) {
    const dSurfaceParameters *surface = k == 0 ? &rigid : &soft;
    long first = fell_trunks("scheme=ah", surface);
    long trapezoid = k == 0 ? 4 * first : 2 * first;
    long conserving = k == 0 ? 8 * first : 2 * first;
    CU_ASSERT(fell_trunks("scheme=trapezoid", surface) <= trapezoid);
    CU_ASSERT(fell_trunks("scheme=conserving", surface) <= conserving);
  }
}

/* --- what contacts are told ------------------------------------------------ */

typedef struct two_balls {
  dWorldID world;
  dJointGroupID contacts;
  dBodyID low, high;
  double mass[2], radius[2];
  dSurfaceParameters surface;
  dJointID joints[2];
  dJointFeedback feedback[2];
  int n_contacts;
} two_balls;

static void touch(two_balls *b, dBodyID one, dBodyID other, double z,
                  double gap) {
  const dReal *x = dBodyGetPosition(one);
  dContact contact = contact_at(&b->surface, x[0], x[1], z, -gap);
  dJointID joint = dJointCreateContact(b->world, b->contacts, &contact);
  dJointAttach(joint, one, other);
  dJointSetFeedback(joint, &b->feedback[b->n_contacts]);
  b->joints[b->n_contacts++] = joint;
}

/* A ball on the floor that another falls on: contacts are there a little before they
 * close, as a program's are under a margin. */
static void make_contacts(two_balls *b, double h) {
  const dReal *low = dBodyGetPosition(b->low),
              *high = dBodyGetPosition(b->high);
  double margin = 2 * h * 20, floor = low[2] - b->radius[0];
  double between = high[2] - low[2] - b->radius[0] - b->radius[1];
  b->n_contacts = 0;
  if (floor < margin) touch(b, b->low, NULL, floor, floor);
  if (between < margin)
    touch(b, b->high, b->low, high[2] - b->radius[1], between);
}

/* What contacts are told of their forces in a step is what changed the momentum of
 * their bodies, of compression and of what they gave back; under `conserving` but for
 * what the projection at the end of a step lends until the next. */
static void test_contacts_are_told_of_all_impulses(void) {
  static const char *const schemes[] = {
      "ah", "st", "gap", "trapezoid-1", "trapezoid", "conserving"};
  static const double restitutions[] = {0, 0.6, 1}, steps[] = {0.002, 0.02};
  static const double masses[][2] = {{1, 1}, {0.01, 5}, {3000, 20}};
  for (int scheme = 0; scheme < 6; scheme++)
    // by fives all restitutions, steps and masses come once, if not with each other
    for (int c = 0; c < 18; c += test_is_short() ? 5 : 1) {
      char settings[40];
      double h = steps[c % 2], e = restitutions[c / 2 % 3], most = 0, worst = 0;
      snprintf(settings, sizeof settings, "scheme=%s", schemes[scheme]);
      ode_mlcp_options options = options_of(settings);
      two_balls b = {
          .world = create_world(9.81, &options),
          .contacts = dJointGroupCreate(0),
          .mass = {masses[c / 6][0], masses[c / 6][1]},
          .radius = {0.2, 0.3},
          .surface = bare_surface(dContactApprox1 | dContactBounce, 0.3)};
      b.surface.bounce = e;
      b.surface.bounce_vel = 0.01;
      b.low = create_ball(b.world, b.mass[0], b.radius[0]);
      b.high = create_ball(b.world, b.mass[1], b.radius[1]);
      dBodySetPosition(b.low, 0, 0, 0.5);
      dBodySetPosition(b.high, 0, 0, 1.4);
      dBodySetLinearVel(b.high, 0, 0, -2);
      dBodySetAngularVel(b.high, 0, 3, 0);
      for (double t = 0; t < 0.6; t += h) {
        double sum[2][3], v[2][3];
        const dBodyID balls[2] = {b.low, b.high};
        make_contacts(&b, h);
        for (int k = 0; k < 2; k++)
          real_read(v[k], dBodyGetLinearVel(balls[k]), 3);
        CU_ASSERT_EQUAL(dWorldStep(b.world, h), 1);
        memset(sum, 0, sizeof sum);
        for (int k = 0; k < b.n_contacts; k++) {
          const dJointFeedback *f = &b.feedback[k];
          int first = dJointGetBody(b.joints[k], 0) == b.high;
          for (int i = 0; i < 3; i++) {
            sum[first][i] += h * f->f1[i];
            if (first) sum[0][i] += h * f->f2[i];
          }
          most = fmax(most, h * fabs(f->f1[2]));
        }
        for (int k = 0; k < 2; k++)
          for (int i = 0; i < 3; i++) {
            double gained = b.mass[k] * (dBodyGetLinearVel(balls[k])[i] -
                                         v[k][i] + (i == 2 ? 9.81 * h : 0));
            worst = fmax(worst, fabs(gained - sum[k][i]));
          }
        dJointGroupEmpty(b.contacts);
      }
      double lent = options.scheme == ODE_MLCP_SCHEME_CONSERVING ? 2e-3 : 0;
      CU_ASSERT(most > 0);
      /* of a fall of a second, in steps of h */
      double part = of_host(1e-9, 1) + lent;
      CU_ASSERT(worst <= part * most);
      if (!(worst <= part * most))
        fprintf(stderr, "%s, h = %g, e = %g: %g of %g N s\n", schemes[scheme],
                h, e, worst, most);
      dJointGroupDestroy(b.contacts);
      dWorldDestroy(b.world);
    }
}

/* A motor, of limited force or not, has its velocity at the end of each step, however often the
 * step is tried: here for where the slab that carries it comes to rest. */
static void test_tries_leave_motors_as_they_are(void) {
  static const char *const schemes[] = {"scheme=gap", "scheme=trapezoid",
                                        "scheme=conserving"};
  for (int i = 0; i < 6; i++) {
    scene s;
    ode_mlcp_report report;
    int transitions = 0;
    open_scene(&s, schemes[i % 3], 9.81);
    s.surface.parameters.mode = dContactApprox1;
    s.surface.parameters.mu = 0.5;
    dCreatePlane(s.space, 0, 1, 0, 0);
    dBodyID slab = add_slab(&s, 10, 1, 0.1, 0), wheel = dBodyCreate(s.world);
    dMass mass;
    dMassSetSphereTotal(&mass, 1, 0.1);
    dBodySetMass(wheel, &mass);
    dBodySetPosition(wheel, 0, 0.3, 0);
    dJointID hinge = dJointCreateHinge(s.world, 0);
    dJointAttach(hinge, wheel, slab);
    dJointSetHingeAnchor(hinge, 0, 0.3, 0);
    dJointSetHingeAxis(hinge, 0, 1, 0);
    dJointSetHingeParam(hinge, dParamFMax, i < 3 ? 100 : dInfinity);
    dBodySetLinearVel(slab, 0.51, 0, 0);
    dBodySetLinearVel(wheel, 0.51, 0, 0);
    for (int k = 0; k < 40; k++) {
      double target = k % 2 == 0 ? 2 : 1;
      dJointSetHingeParam(hinge, dParamVel, target);
      step(&s, 0.01, &report);
      transitions += report.transitions;
      CU_ASSERT_DOUBLE_EQUAL(dJointGetHingeAngleRate(hinge), target, 1e-6);
    }
    CU_ASSERT(transitions > 0);
    scene_close(&s);
  }
}

/* A ball that flies between two walls, to and fro more often in a step than events are
 * allowed; and one whose bounces get ever shorter. */
static void test_too_many_events_are_told(void) {
  static const char *schemes[] = {"scheme=trapezoid", "scheme=conserving",
                                  "scheme=trapezoid-1"};
  for (int k = 0; k < 3; k++) {
    for (int few = 0; few < 2; few++) {
      char settings[80];
      snprintf(settings, sizeof settings, "%s max-events=%d", schemes[k],
               few ? 3 : 100);
      scene s;
      ode_mlcp_report report;
      open_scene(&s, settings, 0);
      s.surface.parameters.mode = dContactBounce;
      s.surface.parameters.bounce = 1;
      dBodyID ball = add_ball(&s, 0, 0);
      dCreatePlane(s.space, 1, 0, 0, -0.11);
      dCreatePlane(s.space, -1, 0, 0, -0.11);
      dBodySetLinearVel(ball, 10, 0, 0);
      step(&s, 0.01, &report);
      /* 0.1 m of way, the first wall at 0.01, then one each 0.02 */
      CU_ASSERT_EQUAL(report.zeno, few);
      CU_ASSERT_EQUAL(report.collisions, few ? 3 : 5);
      /* what is left out does not let it through, nor drive it */
      CU_ASSERT(fabs(dBodyGetPosition(ball)[0]) <= 0.01 + 1e-6);
      CU_ASSERT(vec_length(dBodyGetLinearVel(ball)) <= 10 * (1 + 1e-9));
      scene_close(&s);
    }
    scene s;
    open_scene(&s, schemes[k], 9.81);
    s.surface.parameters.mode = dContactBounce;
    s.surface.parameters.bounce = 0.5;
    dCreatePlane(s.space, 0, 1, 0, 0);
    dBodyID ball = add_ball(&s, 0, 0.2);
    int n_zeno = 0;
    for (int i = 0; i < 100; i++) {
      ode_mlcp_report report;
      step(&s, 0.01, &report);
      n_zeno += report.zeno;
    }
    CU_ASSERT(n_zeno >= 1);
    CU_ASSERT(n_zeno <= 2);
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(ball)[1], 0.1, 1e-6);
    CU_ASSERT(vec_length(dBodyGetLinearVel(ball)) < 1e-6);
    if (n_zeno < 1 || n_zeno > 2)
      fprintf(stderr, "%s: %d steps are told\n", schemes[k], n_zeno);
    scene_close(&s);
  }
}

/* A chain falls into its stops, which bounce: what is left of a step after its events
 * meets stops, too, and brings no energy. */
static void test_stops_of_a_crowd_add_no_energy(void) {
  static const char *const settings[] = {"scheme=trapezoid max-events=1",
                                         "scheme=gap max-events=1",
                                         "scheme=conserving max-events=1"};
  enum { ARMS = 4, SIZES = 40 };
  for (int run = 0; run < 3 * SIZES; run += test_is_short() ? 7 : 1) {
    const char *setting = settings[run % 3];
    const double h = 0.005 + 1e-4 * run;
    scene s;
    dBodyID arms[ARMS];
    double lowest = INFINITY, gained = 0;
    long n_zeno = 0;
    open_scene(&s, setting, 9.81);
    for (int i = 0; i < ARMS; i++) {
      arms[i] = create_box(s.world, NULL, i % 2 ? 1 : 3, 0.8, 0.2, 0.2);
      dBodySetPosition(arms[i], i + 0.5, 0, 0);
      dJointID hinge = joint_hinge(s.world, arms[i], i > 0 ? arms[i - 1] : NULL,
                                   i, 0, 0, 0, 0, 1);
      dJointSetHingeParam(hinge, dParamLoStop, -0.3);
      dJointSetHingeParam(hinge, dParamHiStop, 0.3);
      dJointSetHingeParam(hinge, dParamBounce, 0.5);
    }
    for (int step_number = 0; step_number < 200; step_number++) {
      ode_mlcp_report report;
      double energy = 0;
      step(&s, h, &report);
      n_zeno += report.zeno;
      for (int i = 0; i < ARMS; i++) {
        dMass mass;
        dBodyGetMass(arms[i], &mass);
        energy += kinetic_energy(arms[i]) +
                  9.81 * mass.mass * dBodyGetPosition(arms[i])[1];
      }
      gained = fmax(gained, energy - lowest);
      lowest = fmin(lowest, energy);
    }
    CU_ASSERT(n_zeno > 0);
    CU_ASSERT(gained < 1); /* J, of 157 */
    if (n_zeno == 0 || gained >= 1)
      fprintf(stderr, "%s: %g J more, %ld steps crowd\n", setting, gained,
              n_zeno);
    scene_close(&s);
  }
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"stops of a crowd add no energy", test_stops_of_a_crowd_add_no_energy},
      {"too many events are told", test_too_many_events_are_told},
      {"tries leave motors as they are", test_tries_leave_motors_as_they_are},
      {"bouncing ball is analytic", test_bouncing_ball_is_analytic},
      {"impacts add no energy", test_impacts_add_no_energy},
      {"contacts are told of all impulses",
       test_contacts_are_told_of_all_impulses},
      {"what comes to rest is few solves",
       test_what_comes_to_rest_is_few_solves},
      {"crowds of impacts are few solves",
       test_crowds_of_impacts_are_few_solves},
      CU_TEST_INFO_NULL};
  dInitODE2(0);
  int result = run_tests("schemes: events", tests);
  dCloseODE();
  return result;
}
