/* Substeps that meet an accuracy: errors against references of the same program in
 * many more steps, in other units, beside other islands. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host_rounding.h"
#include "scheme_scene.h"

typedef struct swing {
  double size, mass; /* of a double pendulum, to 1 m and 1 kg */
  int steps;         /* in TIME */
  bool neighbour;    /* a faster pendulum far away */
} swing;

typedef struct end {
  double x[6]; /* of both balls */
  long substeps, refused, inaccurate;
  int most; /* substeps of a step */
} end;

static const double TIME = 2; /* s: it meets the wall */

static void add_pendulum(scene *s, const swing *as, double far, double phase,
                         dBodyID balls[2]) {
  double l = as->size;
  dMass mass;
  for (int i = 0; i < 2; i++) {
    balls[i] = add_ball(s, 0, 0);
    dGeomSphereSetRadius(dBodyGetFirstGeom(balls[i]), 0.1 * l);
    dMassSetSphereTotal(&mass, as->mass, 0.1 * l);
    dBodySetMass(balls[i], &mass);
  }
  double x = l * sin(phase), y = -l * cos(phase);
  dBodySetPosition(balls[0], far + x, y, 0);
  dBodySetPosition(balls[1], far + x + l * sin(0.6), y - l * cos(0.6), 0);
  for (int i = 0; i < 2; i++) {
    dJointID rod = dJointCreateBall(s->world, 0);
    const dReal *anchor = dBodyGetPosition(balls[0]);
    dJointAttach(rod, balls[i], i == 0 ? NULL : balls[0]);
    if (i == 0)
      dJointSetBallAnchor(rod, far, 0, 0);
    else
      dJointSetBallAnchor(rod, anchor[0], anchor[1], anchor[2]);
  }
}

static end run_swing(const char *settings, const swing *as) {
  end out = {.most = 0};
  scene s;
  dBodyID balls[2], others[2];
  open_scene(&s, settings, 9.8 * as->size);
  s.surface.parameters.mode = dContactBounce;
  s.surface.parameters.bounce = 0.1;
  add_pendulum(&s, as, 0, M_PI / 3, balls);
  if (as->neighbour) {
    swing quick = {0.05, 3, 0, false};
    add_pendulum(&s, &quick, 1000, 2.5, others);
  }
  dCreatePlane(s.space, 1, 0, 0, -0.1 * as->size);
  for (int i = 0; i < as->steps; i++) {
    ode_mlcp_report report;
    step(&s, TIME / as->steps, &report);
    out.substeps += report.substeps;
    out.refused += report.refused_substeps;
    out.inaccurate += report.inaccurate;
    if (report.substeps > out.most) out.most = report.substeps;
  }
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 3; k++)
      out.x[3 * i + k] = dBodyGetPosition(balls[i])[k];
  scene_close(&s);
  return out;
}

static double apart(const end *a, const end *b) {
  double most = 0;
  for (int i = 0; i < 2; i++) {
    dVector3 d;
    for (int k = 0; k < 3; k++) d[k] = a->x[3 * i + k] - b->x[3 * i + k];
    most = fmax(most, vec_length(d));
  }
  return most;
}

static const char *const schemes[] = {"conserving", "trapezoid"};

static end run_accurately(const char *scheme, double accuracy,
                          const swing *as) {
  char settings[80];
  snprintf(settings, sizeof settings, "scheme=%s erp=0 accuracy=%.17g", scheme,
           accuracy);
  return run_swing(settings, as);
}

/* --- errors ------------------------------------------------------------------ */

/* Errors fall with the accuracy asked for, decade by decade, and stay below three
 * times what it allows in the time. A step in which a ball is hit again and again may
 * miss it. */
static void test_errors_follow_the_accuracy(void) {
  const swing coarse = {1, 1, 40, false};
  const swing fine = {1, 1, test_is_short() ? 1 << 11 : 1 << 12, false};
  for (int k = 0; k < 2; k++) {
    char settings[40];
    snprintf(settings, sizeof settings, "scheme=%s erp=0", schemes[k]);
    end exact = run_swing(settings, &fine);
    end plain = run_swing(settings, &coarse);
    for (double accuracy = 1e-3; accuracy > 5e-6; accuracy /= 10) {
      end got = run_accurately(schemes[k], accuracy, &coarse);
      double share = apart(&got, &exact) / (accuracy * TIME);
      printf("\n%s, %g m: %.3g of what it allows, %ld substeps (%ld refused)",
             schemes[k], accuracy, share, got.substeps, got.refused);
      CU_ASSERT(share <= 3);
      if (accuracy < 5e-5) CU_ASSERT(share >= 1. / 30);
      printf(", %ld missed", got.inaccurate);
      CU_ASSERT(got.inaccurate <= 2);
      CU_ASSERT(got.substeps >= plain.substeps);
    }
  }
}

/* Where a swing's balls are after its first step, taken in so many steps. */
static end first_step(const char *settings, int steps,
                      ode_mlcp_report *report) {
  const swing as = {1, 1, 40, false};
  end out = {.most = 0};
  scene s;
  dBodyID balls[2];
  open_scene(&s, settings, 9.8);
  add_pendulum(&s, &as, 0, M_PI / 3, balls);
  for (int i = 0; i < steps; i++) step(&s, TIME / as.steps / steps, report);
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 3; k++)
      out.x[3 * i + k] = dBodyGetPosition(balls[i])[k];
  scene_close(&s);
  return out;
}

/* The error that a step tells is the one it makes, however often it began anew with
 * more substeps. */
static void test_errors_are_as_told(void) {
  for (int k = 0; k < 2; k++) {
    ode_mlcp_report report;
    char settings[80];
    snprintf(settings, sizeof settings, "scheme=%s erp=0", schemes[k]);
    end exact = first_step(settings, 2048, &report);
    for (double accuracy = 1e-3; accuracy > 5e-6; accuracy /= 10) {
      snprintf(settings, sizeof settings, "scheme=%s erp=0 accuracy=%.17g",
               schemes[k], accuracy);
      end got = first_step(settings, 1, &report);
      double made = apart(&got, &exact);
      printf("\n%s, %g m: %g made, %g told, %d substeps (%d refused)",
             schemes[k], accuracy, made, report.position_error, report.substeps,
             report.refused_substeps);
      CU_ASSERT_DOUBLE_EQUAL(report.position_error, made,
                             0.2 * made + of_host(0, 1));
      // one substep, two, and what these say is enough
      CU_ASSERT_EQUAL(report.refused_substeps, report.substeps == 2 ? 1 : 3);
    }
  }
}

/* The same world ten times as large, of other masses. Some lengths of the
 * schemes are in metres, such as which gap is none. */
static void test_units_do_not_matter(void) {
  const swing one = {1, 1, 40, false}, large = {10, 250, 40, false};
  for (int k = 0; k < 2; k++) {
    end a = run_accurately(schemes[k], 1e-4, &one);
    end b = run_accurately(schemes[k], 1e-3, &large);
    printf("\n%ld, %ld substeps", a.substeps, b.substeps);
    CU_ASSERT(labs(a.substeps - b.substeps) <= a.substeps / 10);
    for (int i = 0; i < 6; i++) b.x[i] /= 10;
    CU_ASSERT(apart(&a, &b) <= 1e-5);
  }
}

/* --- a rocking block ---------------------------------------------------------- */

static const double ALPHA = 0.3; /* rad: from an upright edge to the diagonal */
static const double TIPPED = 0.15; /* rad */
static const double ROCKS =
    1.5; /* s, for half a diagonal of 1 m: two impacts */

/* rad: the angle at which a block stands that was let go on its right corner, > 0, and
 * rocks from corner to corner. On a corner it is a pendulum upside down; an impact
 * leaves 1 - 1.5 sin(ALPHA)^2 of its angular velocity (Housner 1963). */
static double rocking_angle(void) {
  const int STEPS = 1000000;
  const double h = ROCKS / STEPS, left = 1 - 1.5 * sin(ALPHA) * sin(ALPHA);
  double angle = TIPPED, rate = 0, side = 1;
  int n_impacts = 0;
  for (int i = 0; i < STEPS; i++) {
    double pull = -0.75 * 9.8 * sin(ALPHA - angle);
    angle += h * (rate + h / 2 * pull);
    rate += h / 2 * (pull - 0.75 * 9.8 * sin(ALPHA - angle));
    if (angle >= 0) continue;
    angle *= -left;
    rate *= -left;
    side = -side;
    n_impacts++;
  }
  CU_ASSERT_EQUAL(n_impacts, 2);
  return side * angle;
}

static void rocking_centre(double size, double angle, double centre[2]) {
  double lean = ALPHA - fabs(angle), side = angle < 0 ? -1 : 1;
  centre[0] = side * size * (sin(ALPHA) - sin(lean));
  centre[1] = size * cos(lean);
}

/* m: how far the block's centre ends from the reference. */
static double rocking_error(const char *scheme, double size, double mass,
                            double accuracy, long *inaccurate) {
  const int STEPS = 40;
  const double time = ROCKS * sqrt(size);
  char settings[80];
  double centre[2];
  scene s;

  snprintf(settings, sizeof settings, "scheme=%s accuracy=%.17g", scheme,
           accuracy);
  open_scene(&s, settings, 9.8);
  s.surface.parameters.mode = dContactApprox1;
  s.surface.parameters.mu = 2;
  dCreatePlane(s.space, 0, 1, 0, 0);
  const double wide = 2 * size * sin(ALPHA), high = 2 * size * cos(ALPHA);
  dBodyID body = create_box(s.world, s.space, mass, wide, high, wide);
  rocking_centre(size, TIPPED, centre);
  const dQuaternion q = {cos(TIPPED / 2), 0, 0, -sin(TIPPED / 2)};
  dBodySetQuaternion(body, q);
  dBodySetPosition(body, centre[0], centre[1], 0);
  *inaccurate = 0;
  for (int i = 0; i < STEPS; i++) {
    ode_mlcp_report report;
    step(&s, time / STEPS, &report);
    *inaccurate += report.inaccurate;
  }
  rocking_centre(size, rocking_angle(), centre);
  const dReal *x = dBodyGetPosition(body);
  double error = hypot(x[0] - centre[0], x[1] - centre[1]);
  scene_close(&s);
  return error;
}

/* Pivots on edges and impacts that change them: within three times what the accuracy
 * allows in the time, whatever the size. */
static void test_a_rocking_block_meets_it(void) {
  static const double sizes[] = {0.02, 1, 10}, masses[] = {0.01, 1, 1e4};
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 3; i++)
      for (double part = 1e-3; part > 5e-6; part /= 10) {
        double time = ROCKS * sqrt(sizes[i]), accuracy = part * sizes[i] / time;
        long inaccurate;
        double error = rocking_error(schemes[k], sizes[i], masses[i], accuracy,
                                     &inaccurate);
        printf("\n%s, %g m, %g m/s: %.3g of what it allows, %ld missed",
               schemes[k], sizes[i], accuracy, error / (accuracy * time),
               inaccurate);
        CU_ASSERT(error <= 3 * accuracy * time);
        CU_ASSERT(inaccurate <= 2);
      }
}

/* A body that tumbles and goes nowhere: how far its turn is off is the error, at as much
 * from its centre as its mass is about the axis of its largest moment. */
static void test_a_tumbling_body_meets_it(void) {
  const double side[3] = {1, 0.6, 0.25}, time = 1;
  for (int k = 0; k < 2; k++)
    for (int size = -2; size <= 1; size++) {
      double l = pow(10, size), accuracy = 1e-4 * l, q[2][4], same = 0;
      double radius = l * sqrt((side[0] * side[0] + side[1] * side[1]) / 12);
      for (int fine = 0; fine < 2; fine++) {
        char settings[80];
        scene s;
        const int steps = fine ? 4000 : 20;
        snprintf(settings, sizeof settings, "scheme=%s accuracy=%.17g",
                 schemes[k], fine ? 0 : accuracy);
        open_scene(&s, settings, 0);
        dBodyID body =
            create_box(s.world, NULL, 1, l * side[0], l * side[1], l * side[2]);
        dBodySetAngularVel(body, 2, 3, 1);
        for (int i = 0; i < steps; i++)
          CU_ASSERT_EQUAL_FATAL(dWorldStep(s.world, time / steps), 1);
        for (int i = 0; i < 4; i++) q[fine][i] = dBodyGetQuaternion(body)[i];
        scene_close(&s);
      }
      for (int i = 0; i < 4; i++) same += q[0][i] * q[1][i];
      double error = 2 * acos(fmin(fabs(same), 1)) * radius;
      printf("\n%s, %g m: %.3g of what it allows", schemes[k], l,
             error / (accuracy * time));
      CU_ASSERT(error <= 3 * accuracy * time);
    }
}

/* --- islands ----------------------------------------------------------------- */

static void test_another_island_changes_no_bit(void) {
  const swing alone = {1, 1, 40, false}, beside = {1, 1, 40, true};
  for (int k = 0; k < 2; k++) {
    end a = run_accurately(schemes[k], 1e-5, &alone);
    end b = run_accurately(schemes[k], 1e-5, &beside);
    CU_ASSERT_EQUAL(memcmp(a.x, b.x, sizeof a.x), 0);
    CU_ASSERT(b.substeps > a.substeps + 2 * 40);
  }
}

/* --- bounds ------------------------------------------------------------------ */

static void test_what_cannot_be_met_is_counted(void) {
  const swing some = {1, 1, 40, false};
  end got = run_accurately("conserving", 1e-16, &some);
  CU_ASSERT(got.inaccurate > 20);
  CU_ASSERT(got.most <= 1100);
  for (int i = 0; i < 6; i++) CU_ASSERT(isfinite(got.x[i]));
}

static void test_other_schemes_refuse(void) {
  static const char *const others[] = {"ap", "ah", "st", "gap", "trapezoid-1"};
  for (int i = 0; i < 5; i++) {
    char settings[60], message[300], wanted[60];
    snprintf(settings, sizeof settings, "scheme=%s accuracy=1e-05", others[i]);
    snprintf(wanted, sizeof wanted, "accuracy: '1e-5' is not for scheme %s;",
             others[i]);
    ode_mlcp_options options = options_of(settings);
    CU_ASSERT_EQUAL(ode_mlcp_check_options(&options, message, sizeof message),
                    ODE_MLCP_BAD_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(message, wanted));
    if (strstr(message, wanted) == NULL) printf("\n%s", message);
  }
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"errors follow the accuracy", test_errors_follow_the_accuracy},
      {"errors are as told", test_errors_are_as_told},
      {"units do not matter", test_units_do_not_matter},
      {"a rocking block meets it", test_a_rocking_block_meets_it},
      {"a tumbling body meets it", test_a_tumbling_body_meets_it},
      {"another island changes no bit", test_another_island_changes_no_bit},
      {"what cannot be met is counted", test_what_cannot_be_met_is_counted},
      {"other schemes refuse", test_other_schemes_refuse},
      CU_TEST_INFO_NULL};
  dInitODE2(0);
  int result = run_tests("schemes: accuracy", tests);
  dCloseODE();
  return result;
}
