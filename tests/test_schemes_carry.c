/* What a step of the conserving scheme lends its velocities at its end and takes back as
 * the next begins (40, 45), by what a program sees of it: who it is undone for, where an
 * impact ends it, the share of stiff springs. */
#include "common/vec3.h"
#include "host_rounding.h"
#include "scheme_scene.h"

static const double THETA = 0.99, G = 9.81; /* (40); m/s^2 */

static const double MASSES[] = {0.01, 1, 1e4};
enum { N_MASSES = sizeof MASSES / sizeof MASSES[0] };

static dBodyID add_mass(scene *s, double mass, double x, double y) {
  dBodyID body = dBodyCreate(s->world);
  dMass ball;
  dMassSetSphereTotal(&ball, mass, 0.1);
  dBodySetMass(body, &ball);
  dBodySetPosition(body, x, y, 0);
  return body;
}

static dJointID add_pin(scene *s, dBodyID body, dBodyID other, double x,
                        double y) {
  dJointID joint = joint_ball(s->world, body, other, x, y, 0);
  return joint;
}

/* A body before and after a step. */
typedef struct seen {
  double x[3], v[3];
} seen;

static seen see(dBodyID body) {
  seen it;
  real_read(it.x, dBodyGetPosition(body), 3);
  real_read(it.v, dBodyGetLinearVel(body), 3);
  return it;
}

/* --- who it is undone for ----------------------------------------------------- */

typedef enum change { JOINT_GOES, PUSHED, OTHER_GOES, OTHER_SLEEPS } change;

/* Two bodies whose joint goes after a step: that lent them equal and opposite momenta,
 * which neither gives back alone. Each flies as fast as the program saw. */
static void test_what_parts_flies_as_it_was_seen(void) {
  for (int m = 0; m < N_MASSES; m++)
    for (int c = JOINT_GOES; c <= OTHER_SLEEPS; c++) {
      scene s;
      ode_mlcp_report report;
      const double h = 0.02;
      open_scene(&s, "scheme=conserving", 0);
      dBodyID body[2] = {add_mass(&s, MASSES[m], 0, 0),
                         add_mass(&s, 2 * MASSES[m], 0.3, 0)};
      dJointID joint = add_pin(&s, body[0], body[1], 0.1, 0.05);
      dBodySetAngularVel(body[0], 1, -2, 9);
      dBodySetAngularVel(body[1], 0, 3, -5);
      step(&s, h, &report); /* the joint takes hold */
      step(&s, h, &report);
      dJointDestroy(joint);
      if (c == PUSHED) dBodySetLinearVel(body[1], 1, 2, 3);
      if (c == OTHER_SLEEPS) dBodyDisable(body[1]);
      int n = c == OTHER_GOES || c == OTHER_SLEEPS ? 1 : 2;
      if (c == OTHER_GOES) dBodyDestroy(body[1]);
      seen before[2];
      for (int b = 0; b < n; b++) before[b] = see(body[b]);
      step(&s, h, &report);
      for (int b = 0; b < n; b++) {
        seen after = see(body[b]);
        for (int i = 0; i < 3; i++) {
          double u = (after.x[i] - before[b].x[i]) / h;
          CU_ASSERT_DOUBLE_EQUAL(u, before[b].v[i], of_host(1e-12, 1 / h));
          CU_ASSERT_DOUBLE_EQUAL(after.v[i], before[b].v[i], 1e-12);
        }
      }
      scene_close(&s);
    }
}

/* --- where an impact ends it ---------------------------------------------------- */

/* A pendulum and what its joint is told. */
typedef struct pendulum {
  scene s;
  double mass;
  dBodyID body, hand; /* kinematic */
  dJointFeedback feedback;
  double lent[3]; /* by the last step */
} pendulum;

static void open_pendulum(pendulum *p, double mass) {
  memset(p, 0, sizeof *p);
  p->mass = mass;
  open_scene(&p->s, "scheme=conserving", G);
  p->body = add_mass(&p->s, mass, 1, 0);
  p->hand = add_mass(&p->s, 1, 0, 0);
  dBodySetKinematic(p->hand);
  dJointSetFeedback(add_pin(&p->s, p->body, p->hand, 0, 0), &p->feedback);
}

/* The impulse on the body by its joint and contacts in the last step. */
static void told(const pendulum *p, double h, double impulse[3]) {
  ode_mlcp_contact contact;
  for (int i = 0; i < 3; i++) impulse[i] = h * p->feedback.f1[i];
  for (int n = 0; ode_mlcp_last_contact(p->s.world, n, &contact) == ODE_MLCP_OK;
       n++)
    for (int i = 0; i < 3; i++)
      impulse[i] += (contact.body[0] == p->body ? h : -h) * contact.force[i];
}

/* Is what was told what gave the body `gained`, m/s, besides what weight took? */
static void expect_told(const pendulum *p, double h, const double gained[3],
                        const char *where) {
  const double bound = of_host(1e-7, 4 / h);
  double impulse[3];
  told(p, h, impulse);
  for (int i = 0; i < 3; i++) {
    double own = impulse[i] / p->mass - (i == 1 ? G * h : 0);
    if (!(fabs(own - gained[i]) <= bound))
      fprintf(stderr, "%s, axis %d: told %g, gained %g m/s\n", where, i, own,
              gained[i]);
    CU_ASSERT_DOUBLE_EQUAL(own, gained[i], bound);
  }
}

/* A step, and what it gave the body from the velocity `start` on if it had no events:
 * to 2 u - start, which what it lends is added to. */
static void swing(pendulum *p, double h, const double start[3],
                  double gained[3], ode_mlcp_report *report) {
  seen before = see(p->body);
  step(&p->s, h, report);
  seen after = see(p->body);
  for (int i = 0; i < 3; i++) {
    double end = 2 * (after.x[i] - before.x[i]) / h - start[i];
    gained[i] = end - start[i];
    p->lent[i] = after.v[i] - end;
  }
}

/* The velocities that the next step starts with. */
static void undo(const pendulum *p, double start[3]) {
  real_read(start, dBodyGetLinearVel(p->body), 3);
  for (int i = 0; i < 3; i++) start[i] -= THETA * p->lent[i];
}

/* The wall takes all there is: what the step before lent was undone as this one began, and
 * what the body has then is what the wall and the joint are told of. Another body on
 * the same hand swings on. */
static void test_an_impact_is_told_of_itself(void) {
  for (int m = 0; m < N_MASSES; m++) {
    pendulum p;
    const double h = 0.04, none[3] = {0};
    ode_mlcp_report report = {0};
    double start[3], gained[3];
    open_pendulum(&p, MASSES[m]);
    add_pin(&p.s, add_mass(&p.s, MASSES[m], -1, 0), p.hand, 0, 0);
    dGeomSetBody(dCreateSphere(p.s.space, 0.1), p.body);
    dCreatePlane(p.s.space, 1, 0, 0, 0.2); /* met 73 degrees below */
    while (report.collisions == 0) {
      undo(&p, start);
      swing(&p, h, start, gained, &report);
      if (report.collisions == 0) {
        expect_told(&p, h, gained, "swing");
        continue;
      }
      for (int i = 0; i < 3; i++) gained[i] = -start[i];
      expect_told(&p, h, gained, "impact");
      CU_ASSERT(vec_length(dBodyGetLinearVel(p.body)) < of_host(1e-9, 1));
    }
    step(&p.s, h, &report);
    expect_told(&p, h, none, "rest");
    scene_close(&p.s);
  }
}

/* A ball goes up a step's edge and along its top: the turn about the edge ends, and with it
 * what was lent for that. Else the ball would press more and less in turns, unseen but for
 * the forces. */
static void test_it_ends_with_a_turn(void) {
  const double h = 0.005, r = 0.1, height = 0.02;
  for (int m = 0; m < N_MASSES; m++) {
    scene s;
    int told = 0;
    open_scene(&s, "scheme=conserving", G);
    dCreatePlane(s.space, 0, 1, 0, 0);
    dGeomSetPosition(dCreateBox(s.space, 2, (dReal)height, 1), 1,
                     (dReal)(0.5 * height), 0);
    dBodyID ball = add_mass(&s, MASSES[m], -0.2, r);
    dGeomSetBody(dCreateSphere(s.space, (dReal)r), ball);
    dBodySetLinearVel(ball, REAL(0.9), 0, 0);
    for (int i = 0; i < 300 && dBodyGetPosition(ball)[0] < 0.1; i++) {
      ode_mlcp_report report;
      ode_mlcp_contact contact;
      step(&s, h, &report);
      if (!(dBodyGetPosition(ball)[0] > 0.02)) continue;
      CU_ASSERT_EQUAL_FATAL(ode_mlcp_last_contact(s.world, 0, &contact),
                            ODE_MLCP_OK);
      double force = fabs(contact.force[1]) / MASSES[m];
      if (!(fabs(force - G) <= of_host(1e-3, 1 / h)))
        fprintf(stderr, "%g kg, x %g: %g N\n", MASSES[m],
                (double)dBodyGetPosition(ball)[0], force);
      CU_ASSERT_DOUBLE_EQUAL(force, G, of_host(1e-3, 1 / h));
      told++;
    }
    CU_ASSERT(told > 10);
    scene_close(&s);
  }
}

/* The hand is pushed toward the body, through its centre: the body is as much faster
 * at once, and what was lent before is no more undone. */
static void test_a_push_of_the_hand_ends_it(void) {
  for (int m = 0; m < N_MASSES; m++) {
    pendulum p;
    const double h = 0.04, push = 0.5;
    ode_mlcp_report report;
    double start[3], gained[3];
    open_pendulum(&p, MASSES[m]);
    for (int i = 0; i < 8; i++) {
      undo(&p, start);
      swing(&p, h, start, gained, &report);
      expect_told(&p, h, gained, "swing");
    }
    const dReal *x = dBodyGetPosition(p.body), length = vec_length(x);
    const double along[3] = {push * x[0] / length, push * x[1] / length, 0};
    CU_ASSERT(vec3_length(p.lent) > 1e-3); /* or nothing is seen */
    dBodySetLinearVel(p.hand, along[0], along[1], 0);
    real_read(start, dBodyGetLinearVel(p.body), 3);
    for (int i = 0; i < 3; i++) start[i] += along[i];
    swing(&p, h, start, gained, &report);
    for (int i = 0; i < 3; i++) gained[i] += along[i];
    expect_told(&p, h, gained, "push");
    scene_close(&p.s);
  }
}

/* --- the share of stiff springs -------------------------------------------------- */

/* A body at rest on a spring along a line through its centre, stretched by d: u = -h k d
 * / (2 m + h^2 k b), and of 2 u the end keeps 1 / (1 + a^4), where the step does not
 * resolve the spring (43-45). */
static void test_springs_take_their_share_of_the_end(void) {
  static const double A[] = {1e-3, 0.02, 0.3, 1, 2, 30};
  for (int m = 0; m < N_MASSES; m++)
    for (size_t i = 0; i < sizeof A / sizeof A[0]; i++) {
      scene s;
      ode_mlcp_report report;
      ode_mlcp_force *force;
      const double h = 0.01, d = 0.1, a = A[i], fourth = a * a * a * a;
      double mass = MASSES[m], k = 4 * a * mass / (h * h);
      double late = 0.5 + fourth / (2 * (1 + fourth));
      open_scene(&s, "scheme=conserving", 0);
      dBodyID body = add_mass(&s, mass, 1 + d, 0);
      const ode_mlcp_spring spring = {.body = {body, NULL},
                                      .anchor = {{1 + d, 0, 0}, {0, 0, 0}},
                                      .length = 1,
                                      .stiffness = k};
      CU_ASSERT_EQUAL_FATAL(ode_mlcp_spring_create(s.world, &spring, &force),
                            ODE_MLCP_OK);
      step(&s, h, &report);
      double u = -h * k * d / (2 * mass + h * h * k * late);
      double share = a > 0.01 ? 1 / (1 + fourth) : 1, most = d / h;
      CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(body)[0], 1 + d + h * u,
                             of_host(1e-9, 1) * d);
      CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(body)[0], 2 * u * share,
                             of_host(1e-9, 1) * most);
      scene_close(&s);
    }
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"what parts flies as it was seen", test_what_parts_flies_as_it_was_seen},
      {"an impact is told of itself", test_an_impact_is_told_of_itself},
      {"it ends with a turn", test_it_ends_with_a_turn},
      {"a push of the hand ends it", test_a_push_of_the_hand_ends_it},
      {"springs take their share of the end",
       test_springs_take_their_share_of_the_end},
      CU_TEST_INFO_NULL};
  dInitODE2(0);
  int failed = run_tests("what conserving steps lend", tests);
  dCloseODE();
  return failed;
}
