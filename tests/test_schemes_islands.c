/* Second-order schemes: each island takes its own way through a step. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "host_rounding.h"
#include "scheme_scene.h"

static const char *const SCHEMES[] = {"gap", "trapezoid-1", "trapezoid",
                                      "conserving"};
enum { N_SCHEMES = 4 };

static void open_with(scene *s, const char *scheme, const char *more) {
  char settings[120];
  snprintf(settings, sizeof settings, "scheme=%s %s", scheme, more);
  open_scene(s, settings, 9.81);
  s->surface.parameters.mode = dContactApprox1 | dContactBounce;
  s->surface.parameters.mu = 0.5;
  s->surface.parameters.bounce = 0.4;
  dCreatePlane(s->space, 0, 1, 0, 0);
}

static dBodyID add_box(scene *s, double x, double z, double side, double mass,
                       double speed) {
  dBodyID body = create_box(s->world, s->space, mass, side, side, 1.5 * side);
  dBodySetPosition(body, x, side / 2, z);
  dBodySetLinearVel(body, speed, 0, 0.3 * speed);
  return body;
}

/* --- nothing elsewhere matters ---------------------------------------------- */

enum { WATCHED = 5 };

/* A box that slides to a stop, a ball that bounces, a pair of jointed balls that
 * hits the ground. */
static void add_watched(scene *s, dBodyID watched[WATCHED]) {
  watched[0] = add_box(s, 0, 0, 0.3, 2, 0.7);
  watched[1] = add_ball(s, 3, 0.31);
  watched[2] = add_ball(s, 5, 0.5);
  watched[3] = add_ball(s, 5.4, 0.6);
  watched[4] = add_box(s, 7, 0, 0.2, 0.01, -0.4);
  dBodySetAngularVel(watched[2], 3, 1, 2);
  add_rod(s, watched[3], watched[2]);
}

static dBodyID add_ball_at(scene *s, double x, double y, double z) {
  dBodyID ball = add_ball(s, x, y);
  dBodySetPosition(ball, x, y, z);
  return ball;
}

/* Bodies that have nothing to do with it, and events of their own. */
static void add_others(scene *s, int n, double z) {
  for (int i = 0; i < n; i++) {
    add_box(s, 2.0 * i, z, 0.2 + 0.1 * (i % 3), 0.5 + i, 0.3 + 0.11 * i);
    dBodySetLinearVel(add_ball_at(s, 2.0 * i, 0.7 + 0.1 * i, z), 0, -0.3 * i,
                      0);
    dBodySetLinearVel(add_ball_at(s, 2.0 * i + 0.8, 0.35 + 0.02 * i, z + 3),
                      0.1, 0, -1);
  }
}

static uint64_t hash_bits(uint64_t hash, const dReal x[], int n) {
  for (int i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    hash = (hash ^ bits) * 0x100000001b3u;
  }
  return hash;
}

/* Hash of all poses and velocities of what is watched. */
static uint64_t run_watched(const char *scheme, const char *more, int before,
                            int after, int *transitions) {
  scene s;
  dBodyID watched[WATCHED];
  open_with(&s, scheme, more);
  add_others(&s, before, 20);
  add_watched(&s, watched);
  add_others(&s, after, -40);
  uint64_t hash = 0xcbf29ce484222325u;
  *transitions = 0;
  for (int i = 0; i < 40; i++) {
    ode_mlcp_report report;
    step(&s, 0.01, &report);
    *transitions += report.transitions + report.collisions;
    for (int b = 0; b < WATCHED; b++) {
      hash = hash_bits(hash, dBodyGetPosition(watched[b]), 3);
      hash = hash_bits(hash, dBodyGetQuaternion(watched[b]), 4);
      hash = hash_bits(hash, dBodyGetLinearVel(watched[b]), 3);
      hash = hash_bits(hash, dBodyGetAngularVel(watched[b]), 3);
    }
  }
  scene_close(&s);
  return hash;
}

static void test_nothing_elsewhere_changes_a_bit(void) {
  static const char *const more[] = {"", "margin=0.02", "impact=set"};
  for (int i = 0; i < N_SCHEMES; i++)
    for (int k = 0; k < 3; k++) {
      int alone, crowded;
      uint64_t expected = run_watched(SCHEMES[i], more[k], 0, 0, &alone);
      uint64_t found = run_watched(SCHEMES[i], more[k], 4, 3, &crowded);
      CU_ASSERT(alone > 0 && crowded > alone);
      if (found != expected)
        fprintf(stderr, "%s %s: not the same bits\n", SCHEMES[i], more[k]);
      CU_ASSERT_EQUAL(found, expected);
    }
}

/* --- what it costs ------------------------------------------------------------ */

/* Solves of a crowd of boxes that slide to a stop, those from `first` on. */
static long count_solves(const char *scheme, int first, int n) {
  scene s;
  open_with(&s, scheme, "");
  for (int i = first; i < first + n; i++)
    add_box(&s, 2.0 * i, 0, 0.2 + 0.013 * (i % 7), 1 + i, 0.2 + 0.03 * i);
  long solves = 0;
  for (int i = 0; i < 30; i++) {
    ode_mlcp_report report;
    step(&s, 0.01, &report);
    solves += report.solves;
  }
  scene_close(&s);
  return solves;
}

static void test_a_crowd_is_as_many_boxes(void) {
  enum { CROWD = 12 };
  for (int i = 0; i < N_SCHEMES; i++) {
    long sum = 0;
    for (int k = 0; k < CROWD; k++) sum += count_solves(SCHEMES[i], k, 1);
    CU_ASSERT_EQUAL(count_solves(SCHEMES[i], 0, CROWD), sum);
  }
}

/* Calls of the collision function in the last ten of 40 steps. */
static int count_calls(const char *scheme, double side, bool stacked,
                       double speed) {
  enum { BOXES = 3 };
  scene s;
  open_with(&s, scheme, "");
  dWorldSetGravity(s.world, 0, -9.81 * side, 0);
  int calls = 0;
  for (int i = 0; i < BOXES; i++) {
    dBodyID box =
        add_box(&s, stacked ? 0 : 2 * i * side, 0, side, 1 + i, speed * side);
    if (stacked) dBodySetPosition(box, 0.02 * i * side, (i + 0.5) * side, 0);
  }
  for (int i = 0; i < 40; i++) {
    ode_mlcp_report report;
    if (i == 30) calls = s.calls;
    step(&s, 0.01, &report);
  }
  calls = s.calls - calls;
  scene_close(&s);
  return calls;
}

/* The collision function is asked about what rests at the start of a step, and once
 * more for all islands where there are several; about what moves for each
 * snapshot. */
static void test_what_rests_is_asked_about_once(void) {
  static const double sides[] = {0.01, 0.3, 20};
  for (int i = 0; i < N_SCHEMES; i++)
    for (int k = 0; k < 3; k++) {
      CU_ASSERT_EQUAL(count_calls(SCHEMES[i], sides[k], true, 0), 10);
      CU_ASSERT_EQUAL(count_calls(SCHEMES[i], sides[k], false, 0), 20);
      CU_ASSERT(count_calls(SCHEMES[i], sides[k], false, 3) >= 50);
    }
}

/* What hardly moves is where it was, but for what it moves: a box on a platform that
 * sinks or rises by less in a step than it takes to be asked about goes with it. */
static void test_what_creeps_goes_its_way(void) {
  static const double speeds[] = {-4e-9, 3e-10, 5e-9};
  for (int i = 0; i < N_SCHEMES; i++)
    for (int k = 0; k < 3; k++) {
      scene s;
      open_with(&s, SCHEMES[i], "erp=0");
      dBodyID box = add_box(&s, 0, 0, 0.2, 3, 0);
      dBodyID platform = add_box(&s, 0.05, 0, 1, 1, 0);
      dBodySetKinematic(platform);
      dBodySetPosition(platform, 0, 2, 0);
      dBodySetPosition(box, 0, 2.6, 0);
      dBodySetLinearVel(platform, 0, speeds[k], 0);
      for (int n = 0; n < 200; n++) {
        ode_mlcp_report report;
        step(&s, 0.01, &report);
      }
      CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(platform)[1], 2 + 2 * speeds[k],
                             of_host(1e-13, 1));
      /* half a step's way is what it lands by, without an impact */
      double landing = 0.01 / 2 * fabs(speeds[k]);
      CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(box)[1], 2.6 + 2 * speeds[k],
                             landing + of_host(2e-12, 1));
      scene_close(&s);
    }
}

/* A box that slides to a stop and rests: the end of the slip is found in some ten
 * steps, and where nothing changes there is one a step. */
static void test_a_transition_costs_few_solves(void) {
  static const char *const schemes[] = {"trapezoid", "conserving"};
  static const int most[] = {2, 5}; /* solves a step, on the average */
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 4; k++) {
      scene s;
      open_with(&s, schemes[i], "");
      add_box(&s, 0, 0, 0.1 + 0.1 * k, 1 + 10 * k, 0.2 + 0.2 * k);
      long solves = 0, transitions = 0, dear = 0;
      for (int step_number = 0; step_number < 60; step_number++) {
        ode_mlcp_report report;
        step(&s, 0.004 + 0.003 * k, &report);
        solves += report.solves;
        transitions += report.transitions;
        if (report.solves > dear) dear = report.solves;
      }
      CU_ASSERT(transitions >= 1 && transitions <= 4);
      CU_ASSERT(solves <= 60 * most[i] + 60 * transitions);
      CU_ASSERT(dear <= 50 * most[i]);
      scene_close(&s);
    }
}

/* A body on three feet that come down one after the other within a step: those
 * that --max-events leaves no event for come no deeper. */
static void test_a_cap_leaves_no_penetration(void) {
  const double radius = 0.05;
  for (int i = 0; i < N_SCHEMES; i++)
    for (int most = 0; most <= 2; most++) {
      scene s;
      char more[40];
      dGeomID feet[3];
      snprintf(more, sizeof more, "max-events=%d erp=0", most);
      open_with(&s, SCHEMES[i], more);
      dBodyID body = create_box(s.world, NULL, 3, 1, 0.2, 1);
      dBodySetPosition(body, 0, 0.3, 0);
      dBodySetLinearVel(body, 0, -2, 0);
      for (int k = 0; k < 3; k++) {
        feet[k] = dCreateSphere(s.space, radius);
        dGeomSetBody(feet[k], body);
        dGeomSetOffsetPosition(feet[k], k - 1, -0.2 + 0.011 * k,
                               k == 1 ? 0.8 : -0.4);
      }
      s.surface.parameters.bounce = 0;
      for (int n = 0; n < 10; n++) {
        ode_mlcp_report report;
        step(&s, 0.03, &report);
        for (int k = 0; k < 3; k++)
          CU_ASSERT(dGeomGetPosition(feet[k])[1] >= radius - 2e-4);
      }
      scene_close(&s);
    }
}

/* --- islands that meet -------------------------------------------------------- */

/* Balls of different masses in a row, the first of which moves; each hit happens
 * in the same step, and none is known before it. */
static void run_row(const char *scheme, int n, double share) {
  const double h = 0.01, gap = 0.01, speed = 5;
  scene s;
  open_scene(&s, "scheme=trapezoid", 0);
  ode_mlcp_options options = options_of("margin=0 erp=0");
  char message[100];
  ode_mlcp_set_option(&options, "scheme", scheme, message, sizeof message);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(s.world, &options), ODE_MLCP_OK);
  s.surface.parameters.mode = dContactBounce;
  s.surface.parameters.bounce = 1;
  dBodyID balls[4];
  for (int i = 0; i < n; i++) {
    dMass mass;
    balls[i] = add_ball(&s, i * (0.2 + gap), 0);
    dMassSetSphereTotal(&mass, i % 2 ? 2 : 1.5, 0.1);
    dBodySetMass(balls[i], &mass);
  }
  dBodySetLinearVel(balls[0], speed, 0, 0);
  ode_mlcp_report report;
  double x, v = speed, time = gap / speed, end = h * share;
  step(&s, end, &report);
  /* one after the other, of two bodies each */
  for (int i = 0; i < n; i++) {
    double of = i % 2 ? 2 : 1.5, with = i % 2 ? 1.5 : 2, at = i * (0.2 + gap);
    bool hits = i + 1 < n;
    double after = hits ? (of - with) / (of + with) * v : v;
    x = hits ? at + gap + after * (end - time)
             : at + v * (end - time + gap / v);
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(balls[i])[0], after,
                           of_host(1e-9, 1));
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(balls[i])[0], x, of_host(1e-9, 1));
    if (!hits) break;
    v = 2 * of / (of + with) * v;
    time += gap / v;
  }
  CU_ASSERT_EQUAL(report.collisions, n - 1);
  CU_ASSERT_EQUAL(report.islands, n);
  double last = 0;
  for (int i = 0;; i++) {
    ode_mlcp_event event;
    if (ode_mlcp_last_event(s.world, i, &event) != ODE_MLCP_OK) {
      CU_ASSERT_EQUAL(i, n - 1);
      break;
    }
    CU_ASSERT(event.time > last);
    last = event.time;
  }
  scene_close(&s);
}

static void test_islands_meet_in_a_row(void) {
  for (int i = 0; i < N_SCHEMES; i++)
    for (int n = 2; n <= 4; n++) {
      run_row(SCHEMES[i], n, 1);
      run_row(SCHEMES[i], n, 0.83);
    }
}

/* Springs tie islands together: two balls swing about their centre as if they had
 * one. */
static void test_springs_unite_islands(void) {
  for (int i = 0; i < N_SCHEMES; i++) {
    scene s;
    open_scene(&s, "scheme=trapezoid", 0);
    ode_mlcp_options options = options_of("erp=0");
    char message[100];
    ode_mlcp_set_option(&options, "scheme", SCHEMES[i], message,
                        sizeof message);
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(s.world, &options), ODE_MLCP_OK);
    dBodyID a = add_ball(&s, 0, 0), c = add_ball(&s, 10, 5);
    dBodyID b = add_ball(&s, 1, 0);
    const ode_mlcp_spring spring = {.body = {a, b},
                                    .anchor = {{0, 0, 0}, {1, 0, 0}},
                                    .stiffness = 50,
                                    .length = 0.8};
    ode_mlcp_force *force;
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_spring_create(s.world, &spring, &force),
                          ODE_MLCP_OK);
    ode_mlcp_report report;
    for (int k = 0; k < 100; k++) step(&s, 0.002, &report);
    CU_ASSERT_EQUAL(report.islands, 3);
    double x = 0.1 - 0.1 * cos(10 * 0.2);
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(a)[0], x, 1e-4);
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(b)[0], 1 - x, 1e-4);
    CU_ASSERT_EQUAL(dBodyGetPosition(c)[0], 10);
    scene_close(&s);
  }
}

/* --- what the collision function sees ----------------------------------------- */

typedef struct failing_collision {
  scene *s;
  int calls, fails_at;
} failing_collision;

static int collide_or_fail(void *context, dWorldID world,
                           ode_mlcp_contact_list *list) {
  failing_collision *c = context;
  if (++c->calls == c->fails_at) return 0;
  return scene_collide(c->s, world, list);
}

/* Geoms are enabled after a step as they were before, one that failed too. */
static void test_geoms_stay_enabled(void) {
  scene s;
  open_with(&s, "trapezoid", "");
  dGeomID geoms[4];
  for (int i = 0; i < 4; i++)
    geoms[i] = dBodyGetFirstGeom(add_box(&s, 2 * i, 0, 0.3, 1, 0.3));
  dGeomID off = dCreateSphere(s.space, 0.5);
  dGeomSetBody(off, dGeomGetBody(geoms[1]));
  dGeomDisable(off);
  failing_collision context = {.s = &s};
  ode_mlcp_set_collision(s.world, collide_or_fail, &context);
  int taken = 0;
  for (int fails_at = 1; taken == 0 && fails_at < 100; fails_at++) {
    context.calls = 0;
    context.fails_at = fails_at;
    taken = ode_mlcp_step(s.world, 0.01, NULL) == ODE_MLCP_OK;
    for (int i = 0; i < 4; i++) CU_ASSERT(dGeomIsEnabled(geoms[i]));
    CU_ASSERT(!dGeomIsEnabled(off));
  }
  CU_ASSERT(taken && context.calls > 4);
  scene_close(&s);
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"nothing elsewhere changes a bit", test_nothing_elsewhere_changes_a_bit},
      {"a crowd is as many boxes", test_a_crowd_is_as_many_boxes},
      {"what rests is asked about once", test_what_rests_is_asked_about_once},
      {"what creeps goes its way", test_what_creeps_goes_its_way},
      {"a transition costs few solves", test_a_transition_costs_few_solves},
      {"a cap leaves no penetration", test_a_cap_leaves_no_penetration},
      {"islands meet in a row", test_islands_meet_in_a_row},
      {"springs unite islands", test_springs_unite_islands},
      {"geoms stay enabled", test_geoms_stay_enabled},
      CU_TEST_INFO_NULL};
  dInitODE2(0);
  int result = run_tests("schemes: islands", tests);
  dCloseODE();
  return result;
}
