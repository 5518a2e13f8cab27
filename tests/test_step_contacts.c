/* Every field of a contact's surface, by one step's analytic answer or by where
 * a motion ends. Fields that need a flag are NaN unless the flag is set. */
#include <stdbool.h>

#include "../demos/scenes/scene.h"
#include "host_rounding.h"
#include "step_testing.h"

static const double H = 0.01, G = 10, MASS = 2;
#define EXACT of_host(1e-10, 1)

/* --- a point that touches ---------------------------------------------------
 * A body whose contact is at its centre: no lever arm, so the answers are those
 * of a point mass.
 */

typedef struct touch {
  dSurfaceParameters surface;
  bool has_fdir1;
  double fdir1[3];
  double depth, v[3];  /* before the step */
  double max_velocity; /* 0: as the world has it */
  double surface_layer;
  double erp;    /* of the world; 0: 0.2 */
  bool reversed; /* attached as (0, body), normal and all */
} touch;

/* A surface layer of the world's own, so that contacts of depth 0 are held there
 * (test_step_rest.c) and what is expected is the law of the contact alone. */
static const double NO_REST_DEPTH = 1e-15;

typedef struct outcome {
  double v[3], moved[3], force[3];
} outcome;

static touch touch_of(int mode, double mu, double vx, double vy, double vz) {
  return (touch){.surface = bare_surface(mode, mu), .v = {vx, vy, vz}};
}

static outcome step_touch(const touch *t) {
  dWorldID world = create_world(G, NULL);
  if (t->max_velocity > 0)
    dWorldSetContactMaxCorrectingVel(world, t->max_velocity);
  if (t->surface_layer > 0)
    dWorldSetContactSurfaceLayer(world, t->surface_layer);
  else
    dWorldSetContactSurfaceLayer(world, NO_REST_DEPTH);
  if (t->erp > 0) dWorldSetERP(world, t->erp);
  dWorldSetCFM(world, 0);

  dBodyID body = create_ball(world, MASS, 0.5);
  dBodySetLinearVel(body, t->v[0], t->v[1], t->v[2]);
  dContact contact = contact_at(&t->surface, 0, 0, 0, t->depth);
  if (t->has_fdir1)
    for (int i = 0; i < 3; i++) contact.fdir1[i] = t->fdir1[i];
  if (t->reversed) contact.geom.normal[2] = -1;
  dJointID joint = dJointCreateContact(world, 0, &contact);
  dJointFeedback feedback;
  dJointSetFeedback(joint, &feedback);
  dJointAttach(joint, t->reversed ? 0 : body, t->reversed ? body : 0);

  CU_ASSERT_EQUAL_FATAL(dWorldStep(world, H), 1);
  outcome out;
  for (int i = 0; i < 3; i++) {
    out.v[i] = dBodyGetLinearVel(body)[i];
    out.moved[i] = dBodyGetPosition(body)[i];
    out.force[i] = feedback.f1[i];
    CU_ASSERT(isfinite(out.v[i]) && isfinite(out.moved[i]));
  }
  dWorldDestroy(world);
  return out;
}

/* Exact to rounding on the scale of the speeds before the step. */
static void expect_velocity(const touch *t, double vx, double vy, double vz) {
  outcome out = step_touch(t);
  double scale = 1 + hypot(hypot(t->v[0], t->v[1]), t->v[2]);
  CU_ASSERT_DOUBLE_EQUAL(out.v[0], vx, EXACT * scale);
  CU_ASSERT_DOUBLE_EQUAL(out.v[1], vy, EXACT * scale);
  CU_ASSERT_DOUBLE_EQUAL(out.v[2], vz, EXACT * scale);
}

/* Position corrections show in the pose, whatever becomes of the velocity. A
 * projection has a compliance of 1e-6 of its rows' diagonal (eq. 10). */
static void expect_rise(const touch *t, double rise) {
  CU_ASSERT_DOUBLE_EQUAL(step_touch(t).moved[2], rise,
                         EXACT + 2e-6 * fabs(rise));
}

/* --- friction ------------------------------------------------------------ */

static void test_a_limit_in_newtons(void) {
  /* in every direction; a coefficient would take away mu g h */
  for (int degrees = 0; degrees < 360; degrees += 7) {
    double c = cos(degrees * M_PI / 180), s = sin(degrees * M_PI / 180);
    const double mu = 3, slowed = 1 - mu * H / MASS;
    touch slide = touch_of(0, mu, c, s, 0);
    expect_velocity(&slide, slowed * c, slowed * s, 0);
  }
  touch stick = touch_of(0, 1000, 1, 0.5, 0);
  expect_velocity(&stick, 0, 0, 0);
}

static void test_a_coefficient(void) {
  for (int degrees = 0; degrees < 360; degrees += 7) {
    double c = cos(degrees * M_PI / 180), s = sin(degrees * M_PI / 180);
    const double mu = 0.7, slowed = 1 - mu * G * H;
    touch slide = touch_of(dContactApprox1, mu, c, s, 0);
    expect_velocity(&slide, slowed * c, slowed * s, 0);
  }
  /* a landing adds its impulse: mu (m v + m g h) */
  touch landing = touch_of(dContactApprox1, 0.5, 3, 0, -2);
  expect_velocity(&landing, 3 - 0.5 * (2 + G * H), 0, 0);
}

static void test_none_and_infinite(void) {
  touch smooth = touch_of(dContactApprox1, 0, 1, -2, 0);
  expect_velocity(&smooth, 1, -2, 0);
  touch negative = touch_of(dContactApprox1, -5, 1, -2, 0);
  expect_velocity(&negative, 1, -2, 0);
  for (int mode = 0; mode <= dContactApprox1; mode += dContactApprox1) {
    touch rough = touch_of(mode, dInfinity, 100, -200, -1);
    expect_velocity(&rough, 0, 0, 0);
  }
}

static void test_one_direction_proportional(void) {
  touch t = touch_of(dContactApprox1_1 | dContactFDir1, 0.5, 2, 3, 0);
  t.has_fdir1 = true;
  t.fdir1[0] = 1;
  t.fdir1[1] = t.fdir1[2] = 0;
  expect_velocity(&t, 2 - 0.5 * G * H, 3 - 0.5 * H / MASS, 0);

  t.surface.mode = dContactApprox1_2 | dContactFDir1;
  expect_velocity(&t, 2 - 0.5 * H / MASS, 3 - 0.5 * G * H, 0);
}

static void test_two_coefficients(void) {
  /* Coulomb's law in the ellipse of the two, at the slip of the answer:
   * f_d = mu_d^2 s_d / |mu s|, s = after */
  const double mu[2] = {0.8, 0.3}, turn = 0.4;
  for (int degrees = 0; degrees < 360; degrees += 15) {
    double s[2] = {2 * cos(degrees * M_PI / 180),
                   2 * sin(degrees * M_PI / 180)};
    double along[2] = {cos(turn), sin(turn)},
           across[2] = {-sin(turn), cos(turn)};
    touch t = touch_of(dContactApprox1 | dContactMu2 | dContactFDir1, mu[0],
                       s[0] * along[0] + s[1] * across[0],
                       s[0] * along[1] + s[1] * across[1], 0);
    t.surface.mu2 = mu[1];
    t.has_fdir1 = true;
    t.fdir1[0] = along[0];
    t.fdir1[1] = along[1];
    t.fdir1[2] = 0;
    outcome out = step_touch(&t);
    double after[2];
    for (int d = 0; d < 2; d++) {
      const double *axis = d == 0 ? along : across;
      after[d] = out.v[0] * axis[0] + out.v[1] * axis[1];
    }
    double length = hypot(mu[0] * after[0], mu[1] * after[1]);
    for (int d = 0; d < 2; d++) {
      double expected = s[d] - G * H * mu[d] * mu[d] * after[d] / length;
      /* an edge lies within 1e-4 rad of the slip */
      CU_ASSERT_DOUBLE_EQUAL(after[d], expected, 1e-4 * mu[0] * G * H);
    }
  }
}

static void test_one_coefficient_zero_or_infinite(void) {
  touch t =
      touch_of(dContactApprox1 | dContactMu2 | dContactFDir1, 0.5, 2, 3, 0);
  t.has_fdir1 = true;
  t.fdir1[0] = 1;
  t.fdir1[1] = t.fdir1[2] = 0;
  t.surface.mu2 = 0;
  expect_velocity(&t, 2 - 0.5 * G * H, 3, 0);
  t.surface.mu2 = dInfinity;
  expect_velocity(&t, 2 - 0.5 * G * H, 0, 0);
}

static void test_default_directions_are_the_hosts(void) {
  /* dPlaneSpace of a vertical normal: direction 1 is y */
  touch t = touch_of(dContactApprox1 | dContactMu2, 0.5, 2, 3, 0);
  t.surface.mu2 = 0;
  expect_velocity(&t, 2, 3 - 0.5 * G * H, 0);
}

static void test_surface_motion(void) {
  touch t = touch_of(dContactMotion1 | dContactMotion2 | dContactFDir1,
                     dInfinity, 0, 0, 0);
  t.has_fdir1 = true;
  t.fdir1[0] = 1;
  t.fdir1[1] = t.fdir1[2] = 0;
  t.surface.motion1 = 0.7;
  t.surface.motion2 = -0.4;
  expect_velocity(&t, 0.7, -0.4, 0);

  /* a belt that slips drags with all its friction */
  t.surface.mode |= dContactApprox1;
  t.surface.mu = 0.2;
  double speed = hypot(0.7, 0.4);
  expect_velocity(&t, 0.2 * G * H * 0.7 / speed, -0.2 * G * H * 0.4 / speed, 0);
}

static void test_slip_is_viscous(void) {
  /* force = slip speed / slip: v+ (1 + h / (m slip)) = v */
  touch t = touch_of(dContactSlip1 | dContactSlip2 | dContactFDir1, dInfinity,
                     2, 3, 0);
  t.has_fdir1 = true;
  t.fdir1[0] = 1;
  t.fdir1[1] = t.fdir1[2] = 0;
  t.surface.slip1 = 0.05;
  t.surface.slip2 = 0.2;
  expect_velocity(&t, 2 / (1 + H / (MASS * 0.05)), 3 / (1 + H / (MASS * 0.2)),
                  0);
}

/* --- the normal ---------------------------------------------------------- */

static void test_rest_carries_the_weight(void) {
  touch t = touch_of(0, 0, 0, 0, 0);
  outcome out = step_touch(&t);
  CU_ASSERT_DOUBLE_EQUAL(out.force[2], MASS * G, 1e-8);
  CU_ASSERT_DOUBLE_EQUAL(out.moved[2], 0, EXACT);

  /* no pull on what departs */
  t.v[2] = 1;
  out = step_touch(&t);
  CU_ASSERT_EQUAL(out.force[2], 0);
  CU_ASSERT_DOUBLE_EQUAL(out.v[2], 1 - G * H, EXACT);
}

/* The speed at the end of a step that starts with `v` at the ground: half a
 * step's fall lies between speeds and places. */
static double bounced(double part, double v) {
  return part * (v + G * H / 2) - G * H / 2;
}

static void test_bounce(void) {
  touch t = touch_of(dContactBounce, 0, 0, 0, -4);
  t.surface.bounce = 0.5;
  t.surface.bounce_vel = 1;
  t.max_velocity = 0.1; /* which does not cap a bounce */
  expect_velocity(&t, 0, 0, bounced(0.5, 4));

  t.surface.bounce_vel = 4.1; /* too slow for it */
  expect_velocity(&t, 0, 0, 0);
  t.surface.bounce_vel = 3.9;
  expect_velocity(&t, 0, 0, bounced(0.5, 4));
  t.surface.bounce_vel = -1; /* switches it off */
  expect_velocity(&t, 0, 0, 0);

  /* the incoming speed is that of the moving surface */
  t.surface.mode |= dContactMotionN;
  t.surface.bounce_vel = 1;
  t.surface.motionN = 0.5;
  t.max_velocity = 0;
  expect_velocity(&t, 0, 0, bounced(0.5, 4.5) + 0.5);
}

static const int SCHEMES[] = {
    ODE_MLCP_SCHEME_AP,          ODE_MLCP_SCHEME_AH,
    ODE_MLCP_SCHEME_ST,          ODE_MLCP_SCHEME_GAP,
    ODE_MLCP_SCHEME_TRAPEZOID_1, ODE_MLCP_SCHEME_TRAPEZOID,
    ODE_MLCP_SCHEME_CONSERVING};
enum { N_SCHEMES = sizeof SCHEMES / sizeof SCHEMES[0] };

/* Ball and slider fall a metre and rise as Newton's law says, again and again. */
static void check_bounces(int scheme, bool stop, double part, double size) {
  ode_mlcp_options options = options_under(scheme);
  bool looks_ahead =
      scheme != ODE_MLCP_SCHEME_AH && scheme != ODE_MLCP_SCHEME_AP;
  bool second_order = looks_ahead && scheme != ODE_MLCP_SCHEME_ST;
  dWorldID world = create_world(G, &options);
  dJointGroupID contacts = dJointGroupCreate(0);
  dBodyID body = create_ball(world, MASS, 0.5);
  dSurfaceParameters surface = bare_surface(dContactBounce, 0);
  surface.bounce = part;
  surface.bounce_vel = 0.01;
  dBodySetPosition(body, 0, 0, 1);
  if (stop) {
    dJointID slider = joint_slider(world, body, NULL, 0, 0, 1);
    dJointSetSliderParam(slider, dParamLoStop, -1);
    dJointSetSliderParam(slider, dParamBounce, part);
  }
  double last = 1, highest = 1, exact = 1;
  bool rises = false;
  for (int peak = 0, steps = 0; peak < 3 && steps < 2000; steps++) {
    double z = dBodyGetPosition(body)[2];
    /* as dCollide tells under schemes that look ahead */
    double margin =
        2 * size * (fabs(dBodyGetLinearVel(body)[2]) + G * size) * looks_ahead;
    if (!stop && z < margin) {
      dContact contact = contact_at(&surface, 0, 0, 0, -z);
      dJointAttach(dJointCreateContact(world, contacts, &contact), body, 0);
    }
    CU_ASSERT_EQUAL_FATAL(dWorldStep(world, size), 1);
    dJointGroupEmpty(contacts);
    z = dBodyGetPosition(body)[2];
    if (rises && z < last) { /* between two samples it was higher */
      double v = dBodyGetLinearVel(body)[2] - (second_order ? 0 : G * size / 2);
      highest = z + v * v / (2 * G);
      exact *= part * part;
      CU_ASSERT_DOUBLE_EQUAL(highest, exact, 0.005 * exact);
      if (!(fabs(highest - exact) <= 0.005 * exact))
        printf("\nscheme %d, %s, e = %g, h = %g: bounce %d to %g m, not %g\n",
               scheme, stop ? "stop" : "contact", part, size, peak, highest,
               exact);
      peak++;
    }
    rises = z > last;
    last = z;
    CU_ASSERT(steps < 1999);
  }
  dJointGroupDestroy(contacts);
  dWorldDestroy(world);
}

static void test_bounces_rise_to_their_height(void) {
  const double parts[] = {0.5, 0.8}, sizes[] = {0.01, 0.003};
  for (size_t s = 0; s < N_SCHEMES; s++)
    for (int stop = 0; stop < 2; stop++)
      for (int e = 0; e < 2; e++)
        for (int k = 0; k < 2; k++)
          check_bounces(SCHEMES[s], stop, parts[e], sizes[k]);
}

static void test_normal_motion_lifts(void) {
  touch t = touch_of(dContactMotionN, 0, 0, 0, 0);
  t.surface.motionN = 0.3;
  expect_velocity(&t, 0, 0, 0.3);
}

static void test_penetration_is_corrected(void) {
  touch t = touch_of(0, 0, 0, 0, 0);
  t.depth = 0.05;
  for (int i = 1; i <= 5; i++) {
    t.erp = 0.2 * i;
    expect_rise(&t, t.erp * t.depth);
  }
  t.surface_layer = 0.02;
  expect_rise(&t, 0.03);
  t.depth = 0.015; /* within the layer */
  expect_rise(&t, 0);
  t.depth = 0.05;
  t.max_velocity = 0.8;
  expect_rise(&t, 0.8 * H);

  t.surface.mode = dContactSoftERP;
  t.surface.soft_erp = 0.1;
  t.max_velocity = 0;
  expect_rise(&t, 0.1 * 0.03);
}

/* A spring k and damper c as ERP = hk / (hk + c), CFM = 1 / (hk + c): v+ is
 * implicit Euler's, (m + h c + h^2 k) v+ = m (v - g h) + h k depth. */
static void test_soft_normal_is_a_spring(void) {
  const double k = 900, c = 40, depth = 0.03;
  touch t = touch_of(dContactSoftERP | dContactSoftCFM, dInfinity, 5, 0, -0.2);
  t.surface.soft_erp = H * k / (H * k + c);
  t.surface.soft_cfm = 1 / (H * k + c);
  t.depth = depth;
  double v =
      (MASS * (-0.2 - G * H) + H * k * depth) / (MASS + H * c + H * H * k);
  expect_velocity(&t, 0, 0, v); /* friction keeps the world's CFM */
  outcome out = step_touch(&t);
  CU_ASSERT_DOUBLE_EQUAL(out.force[2], k * (depth - H * v) - c * v,
                         of_host(1e-8, 1));
}

static void test_reversed_joint_flips_the_normal(void) {
  touch t = touch_of(dContactApprox1, 0.5, 1, 2, -1);
  t.depth = 0.01;
  outcome straight = step_touch(&t);
  t.reversed = true;
  outcome reversed = step_touch(&t);
  CU_ASSERT(straight.force[2] > MASS * G);
  for (int i = 0; i < 3; i++) {
    CU_ASSERT_DOUBLE_EQUAL(reversed.v[i], straight.v[i], EXACT);
    CU_ASSERT_DOUBLE_EQUAL(reversed.force[i], straight.force[i], 1e-8);
  }
}

/* --- rolling and spinning ------------------------------------------------ */

/* A ball of radius 0.5 on the ground, `steps` steps of a surface. */
typedef struct ball_roll {
  double x[3], v[3], w[3];
} ball_roll;

static ball_roll roll_under(int scheme, const dSurfaceParameters *surface,
                            const double v[3], const double w[3], int steps) {
  ode_mlcp_options options = options_under(scheme);
  dWorldID world = create_world(G, &options);
  dWorldSetCFM(world, 0);
  dWorldSetContactSurfaceLayer(world, NO_REST_DEPTH);
  dJointGroupID group = dJointGroupCreate(0);
  dBodyID ball = create_ball(world, MASS, 0.5);
  dBodySetLinearVel(ball, v[0], v[1], v[2]);
  dBodySetAngularVel(ball, w[0], w[1], w[2]);
  for (int step = 0; step < steps; step++) {
    const dReal *x = dBodyGetPosition(ball);
    dContact contact = contact_at(surface, x[0], x[1], x[2] - 0.5, 0);
    dJointGroupEmpty(group);
    dJointAttach(dJointCreateContact(world, group, &contact), ball, 0);
    CU_ASSERT_EQUAL_FATAL(dWorldStep(world, H), 1);
  }
  ball_roll out;
  for (int i = 0; i < 3; i++) {
    out.x[i] = dBodyGetPosition(ball)[i];
    out.v[i] = dBodyGetLinearVel(ball)[i];
    out.w[i] = dBodyGetAngularVel(ball)[i];
  }
  dJointGroupDestroy(group);
  dWorldDestroy(world);
  return out;
}

static ball_roll roll(const dSurfaceParameters *surface, const double v[3],
                      const double w[3], int steps) {
  return roll_under(ODE_MLCP_SCHEME_AH, surface, v, w, steps);
}

static void test_rolling_resistance(void) {
  /* (I + m r^2) dw/dt = -rho N about the contact */
  const double r = 0.5, inertia = 0.4 * MASS * r * r;
  const double rho = 0.02, w0 = 3;
  dSurfaceParameters surface =
      bare_surface(dContactRolling | dContactApprox1, 5);
  surface.rho = rho;
  const double v[3] = {w0 * r, 0, 0}, w[3] = {0, w0, 0};
  double loss = rho * MASS * G / (inertia + MASS * r * r) * H;
  for (int steps = 1; steps <= 81; steps += 20) {
    ball_roll out = roll(&surface, v, w, steps);
    CU_ASSERT_DOUBLE_EQUAL(out.w[1], w0 - loss * steps,
                           of_host(1e-8, w0 * steps));
    CU_ASSERT_DOUBLE_EQUAL(out.v[0], r * (w0 - loss * steps),
                           of_host(1e-8, w0 * steps));
  }

  /* a torque in N m without the flag */
  surface.mode = dContactRolling;
  surface.mu = 1e4;
  loss = rho / (inertia + MASS * r * r) * H;
  CU_ASSERT_DOUBLE_EQUAL(roll(&surface, v, w, 10).w[1], w0 - 10 * loss,
                         of_host(1e-8, 1));

  /* it ends in rest, not in rolling back */
  surface.rho = 1e3;
  CU_ASSERT_DOUBLE_EQUAL(roll(&surface, v, w, 3).w[1], 0, EXACT);

  /* negative control: free rolling goes on */
  surface = bare_surface(dContactApprox1, 5);
  CU_ASSERT_DOUBLE_EQUAL(roll(&surface, v, w, 50).w[1], w0, 1e-9);
}

/* A ball rolls as far in every direction, and straight on. */
static void check_rolling_is_a_disc(int scheme, int every) {
  dSurfaceParameters surface =
      bare_surface(dContactRolling | dContactApprox1, 1);
  surface.rho = 0.02;
  double least = INFINITY, most = 0;
  for (int degrees = 0; degrees < 180; degrees += every) {
    double angle = degrees * M_PI / 180;
    double v[3] = {1.5 * cos(angle), 1.5 * sin(angle), 0};
    double w[3] = {-3 * sin(angle), 3 * cos(angle), 0};
    ball_roll out = roll_under(scheme, &surface, v, w, 800);
    double way = hypot(out.x[0], out.x[1]);
    CU_ASSERT(hypot(out.v[0], out.v[1]) < of_host(1e-6, 1 / H));
    CU_ASSERT_DOUBLE_EQUAL(sin(atan2(out.x[1], out.x[0]) - angle), 0,
                           of_host(1e-6, 1));
    least = fmin(least, way);
    most = fmax(most, way);
  }
  CU_ASSERT(least > 1);
  CU_ASSERT(most < 1.0001 * least);
}

static void test_rolling_friction_is_a_disc(void) {
  for (size_t s = 0; s < N_SCHEMES; s++)
    check_rolling_is_a_disc(SCHEMES[s],
                            SCHEMES[s] == ODE_MLCP_SCHEME_AH ? 15 : 55);
}

static void test_spinning_resistance(void) {
  const double inertia = 0.4 * MASS * 0.25, rho = 0.02;
  const double v[3] = {0, 0, 0}, w[3] = {0, 0, 4};
  dSurfaceParameters surface =
      bare_surface(dContactRolling | dContactApprox1_N, 5);
  surface.rho = rho;
  double loss = rho * MASS * G / inertia * H;
  CU_ASSERT_DOUBLE_EQUAL(roll(&surface, v, w, 10).w[2], 4 - 10 * loss,
                         of_host(1e-8, 1));

  surface.mode = dContactRolling; /* a torque in N m */
  CU_ASSERT_DOUBLE_EQUAL(roll(&surface, v, w, 10).w[2],
                         4 - 10 * rho / inertia * H, of_host(1e-8, 1));
}

static void test_rolling_by_axis(void) {
  /* t1 is -y for a vertical normal: rho brakes what rolls along x, rho2 what
   * rolls along y, rhoN what spins */
  const double r = 0.5, inertia = 0.4 * MASS * r * r;
  const double about_edge = inertia + MASS * r * r;
  const double v[3] = {1.5, -1.5, 0}, w[3] = {3, 3, 3};
  dSurfaceParameters surface =
      bare_surface(dContactRolling | dContactAxisDep | dContactApprox1, 5);
  surface.rho = 0.01;
  surface.rho2 = 0.02;
  surface.rhoN = 0.005;
  surface.mu2 = 5; /* AxisDep has the bit of Mu2 */
  ball_roll out = roll(&surface, v, w, 5);
  CU_ASSERT_DOUBLE_EQUAL(out.w[1], 3 - 5 * 0.01 * MASS * G * H / about_edge,
                         of_host(1e-8, 1));
  CU_ASSERT_DOUBLE_EQUAL(out.w[0], 3 - 5 * 0.02 * MASS * G * H / about_edge,
                         of_host(1e-8, 1));
  CU_ASSERT_DOUBLE_EQUAL(out.w[2], 3 - 5 * 0.005 * MASS * G * H / inertia,
                         of_host(1e-8, 1));
}

static void test_sliding_turns_into_rolling(void) {
  /* a ball thrown without spin rolls at 5/7 of its speed */
  dSurfaceParameters surface = bare_surface(dContactApprox1, 0.3);
  const double v[3] = {2, 1, 0}, w[3] = {0, 0, 0};
  ball_roll out = roll(&surface, v, w, 200);
  CU_ASSERT_DOUBLE_EQUAL(out.v[0], 2 * 5 / 7., 1e-6);
  CU_ASSERT_DOUBLE_EQUAL(out.v[1], 1 * 5 / 7., 1e-6);
  CU_ASSERT_DOUBLE_EQUAL(out.w[1], out.v[0] / 0.5, 1e-6);
  CU_ASSERT_DOUBLE_EQUAL(out.w[0], -out.v[1] / 0.5, 1e-6);
}

/* --- scenes -------------------------------------------------------------- */

/* The place where Euler's sum has a slide from `speed` stop. */
static double euler_stop(double speed, double mu, double h) {
  double way = 0;
  for (double v = speed - mu * 9.81 * h; v > 0; v -= mu * 9.81 * h)
    way += h * v;
  return way;
}

static void check_slide(double degrees, double h) {
  double angle = degrees * M_PI / 180;
  scene *slide = scene_slide(angle);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(slide->world, NULL), ODE_MLCP_OK);
  /* in single precision nothing lies without a rest depth */
  if (!host_is_single())
    dWorldSetContactSurfaceLayer(slide->world, NO_REST_DEPTH);
  int steps = (int)(1 / h);
  for (int i = 0; i < steps; i++) scene_step(slide, dWorldStep, h);

  const dReal *x = dBodyGetPosition(slide->bodies[0]);
  double expected = euler_stop(3, 0.5, h), way = hypot(x[0], x[1]);
  CU_ASSERT_DOUBLE_EQUAL(expected, 9 / (2 * 4.905) - 1.5 * h,
                         4.905 * h * h / 8 * (1 + 1e-6));
  CU_ASSERT_DOUBLE_EQUAL(way, expected, 1e-3 * expected);
  double drift = remainder(atan2(x[1], x[0]) - angle, 2 * M_PI);
  CU_ASSERT(fabs(drift) < 0.1 * M_PI / 180);
  CU_ASSERT(scene_fastest(slide) < of_host(1e-9, 0.5 / h));

  /* nor has the box turned */
  const dReal *R = dBodyGetRotation(slide->bodies[0]);
  CU_ASSERT(fabs(atan2(R[4], R[0])) < 0.1 * M_PI / 180);
  scene_destroy(slide);
}

static void test_slides_stop_in_every_direction(void) {
  const double angles[] = {0, 15, 30, 45, 7.3, 61.9, 101, 179.5, 222.2, -88};
  for (size_t i = 0; i < sizeof angles / sizeof angles[0]; i++)
    check_slide(angles[i], 0.01);
  const double steps[] = {0.0004, 0.0025, 0.02, 0.05};
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
    check_slide(30, steps[i]);
}

/* Programs change their step from one to the next. */
static void test_steps_of_changing_size(void) {
  const double sizes[] = {0.01, 0.0004, 0.05, 0.001, 0.02, 0.0005};
  scene *slide = scene_slide(0.7);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(slide->world, NULL), ODE_MLCP_OK);
  double v = 3, way = 0;
  for (int i = 0; i < 80; i++) {
    double h = sizes[i % 6];
    v = fmax(v - 0.5 * 9.81 * h, 0);
    way += h * v;
    scene_step(slide, dWorldStep, h);
    const dReal *x = dBodyGetPosition(slide->bodies[0]);
    CU_ASSERT_DOUBLE_EQUAL(hypot(x[0], x[1]), way, 1e-5);
    CU_ASSERT_DOUBLE_EQUAL(scene_fastest(slide), v, 1e-3);
    CU_ASSERT_DOUBLE_EQUAL(x[2], 0.1, 1e-4);
  }
  CU_ASSERT_EQUAL(v, 0);
  scene_destroy(slide);
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"friction: a limit in newtons", test_a_limit_in_newtons},
      {"friction: a coefficient", test_a_coefficient},
      {"friction: none, infinite", test_none_and_infinite},
      {"friction: one direction proportional", test_one_direction_proportional},
      {"friction: two coefficients", test_two_coefficients},
      {"friction: one zero or infinite", test_one_coefficient_zero_or_infinite},
      {"friction: default directions", test_default_directions_are_the_hosts},
      {"surface motion", test_surface_motion},
      {"slip is viscous", test_slip_is_viscous},
      {"rest carries the weight", test_rest_carries_the_weight},
      {"bounce", test_bounce},
      {"bounces rise to their height", test_bounces_rise_to_their_height},
      {"normal motion", test_normal_motion_lifts},
      {"penetration is corrected", test_penetration_is_corrected},
      {"a soft normal is a spring", test_soft_normal_is_a_spring},
      {"a reversed joint flips the normal",
       test_reversed_joint_flips_the_normal},
      {"rolling resistance", test_rolling_resistance},
      {"rolling friction is a disc", test_rolling_friction_is_a_disc},
      {"spinning resistance", test_spinning_resistance},
      {"rolling by axis", test_rolling_by_axis},
      {"sliding turns into rolling", test_sliding_turns_into_rolling},
      {"slides stop in every direction", test_slides_stop_in_every_direction},
      {"steps of changing size", test_steps_of_changing_size},
      CU_TEST_INFO_NULL};
  return run_host_tests("step: contacts", tests);
}
