/* Bodies in contact against answers of their own: what rolls, slides, leaves a wall,
 * bounces with spin, tips, breaks a rack and brakes. */
#include <math.h>
#include <string.h>

#include "own_scenes.h"
#include "scenes/scene_reference.h"
#include "suite.h"

/* s: of a reference's steps */
static const double FINE = 2e-4;

static bool add_floor(scene_run_state *run) {
  return scene_add_fixed(run, dCreatePlane(run->space, 0, 1, 0, 0));
}

/* --- a disc that slides, then rolls, down an incline ----------------------------- */

static const double DISC = 0.1, ROLL_SLOPE = 10 * M_PI / 180;
static const double ROLL_SPEED = 2, ROLL_FRICTION = 0.2;

static void where_rolling(const scene_run_state *run, double time,
                          suite_place places[]) {
  double along = run->settings->gravity * sin(ROLL_SLOPE);
  double brake = ROLL_FRICTION * run->settings->gravity * cos(ROLL_SLOPE);
  double grip = ROLL_SPEED / (3 * brake - along), slides = fmin(time, grip);
  double rolls = time - slides;
  double x = slides * ROLL_SPEED + 0.5 * slides * slides * (along - brake);
  double angle = -brake * slides * slides / DISC;
  double speed = ROLL_SPEED + slides * (along - brake);
  double way = rolls * speed + rolls * rolls * along / 3;
  places[0] = (suite_place){x + way, DISC, 0, angle - way / DISC};
}

SUITE_JUDGE(rolling)

static bool build_rolling(scene_run_state *run) {
  double g = run->settings->gravity;
  dWorldSetGravity(run->world, g * sin(ROLL_SLOPE), -g * cos(ROLL_SLOPE), 0);
  run->frame = SCENE_FRAME_PLANAR;
  run->surface.parameters.mu = ROLL_FRICTION;
  run->judge = judge_rolling;
  dBodyID disc = scene_add_planar(run, 0, DISC, 0, 1, 0.5 * DISC * DISC);
  if (disc == NULL) return false;
  dBodySetLinearVel(disc, ROLL_SPEED, 0, 0);
  return scene_add_centred(run, dCreateSphere(run->space, DISC), disc) &&
         add_floor(run);
}

/* --- an eccentric disc ------------------------------------------------------------ */

/* its mass is OFF from its middle, at first above it */
static const double OFF = 0.04, ECCENTRIC_INERTIA = 0.006;
static const double ECCENTRIC_START = 0.2, ECCENTRIC_SPEED = -3;

static void eccentric_mass(const void *context, const double q[], double M[]) {
  (void)context;
  double across = DISC + OFF * cos(q[0]), up = OFF * sin(q[0]);
  M[0] = ECCENTRIC_INERTIA + across * across + up * up;
}

static double eccentric_potential(const void *context, const double q[]) {
  const double *gravity = context;
  return *gravity * OFF * cos(q[0]);
}

static suite_place eccentric_place(double angle) {
  return (suite_place){-DISC * (angle - ECCENTRIC_START) - OFF * sin(angle),
                       DISC + OFF * cos(angle), 0, angle};
}

static void where_eccentric(const scene_run_state *run, double time,
                            suite_place places[]) {
  const reference_system system = {.n = 1,
                                   .context = &run->settings->gravity,
                                   .mass = eccentric_mass,
                                   .potential = eccentric_potential};
  double y[2] = {ECCENTRIC_START, ECCENTRIC_SPEED};
  reference_integrate(reference_lagrange, &system, 2, y, 0, time,
                      10 + (long)(time / FINE));
  places[0] = eccentric_place(y[0]);
}

SUITE_JUDGE(eccentric)

static bool build_eccentric(scene_run_state *run) {
  suite_place start = eccentric_place(ECCENTRIC_START);
  run->frame = SCENE_FRAME_PLANAR;
  run->surface.parameters.mu = dInfinity;
  run->judge = judge_eccentric;
  dBodyID disc = scene_add_planar(run, start.x, start.y, start.angle, 1,
                                  ECCENTRIC_INERTIA);
  if (disc == NULL) return false;
  dBodySetAngularVel(disc, 0, 0, ECCENTRIC_SPEED);
  dBodySetLinearVel(disc, -start.y * ECCENTRIC_SPEED,
                    -OFF * sin(start.angle) * ECCENTRIC_SPEED, 0);
  return scene_add_geom(run, dCreateSphere(run->space, DISC), disc,
                        (double[]){0, -OFF, 0}, NULL) &&
         add_floor(run);
}

/* --- a ladder that leaves its wall -------------------------------------------------- */

/* half its length, and the radius of its feet */
static const double HALF = 1, FOOT = 0.05, LEANS = M_PI / 3;

/* y: the angle over the floor and its rate, of 1 kg; the foot's place is free or on
 * the wall */
static void ladder_slope(const void *context, double t, const double y[],
                         double slope[]) {
  const double *settings = context; /* gravity, 1: on the wall */
  double c = cos(y[0]), s = sin(y[0]), own = HALF * HALF / 3;
  bool leans = settings[1] != 0;
  (void)t;
  slope[0] = y[1];
  double pull = -settings[0] * HALF * c;
  slope[1] = leans ? pull / (own + HALF * HALF)
                   : (pull + HALF * HALF * c * s * y[1] * y[1]) /
                         (own + HALF * HALF * c * c);
}

static void where_ladder(const scene_run_state *run, double time,
                         suite_place places[]) {
  double settings[2] = {run->settings->gravity, 1};
  double y[2] = {LEANS, 0}, leaves = 2.0 / 3 * sin(LEANS), t = 0;
  while (t < time && sin(y[0]) > leaves) {
    double before[2] = {y[0], y[1]}, low = 0, high = fmin(FINE, time - t);
    reference_integrate(ladder_slope, settings, 2, y, 0, high, 1);
    if (sin(y[0]) > leaves) {
      t += high;
      continue;
    }
    for (int i = 0; i < 50; i++) {
      double middle = 0.5 * (low + high);
      memcpy(y, before, sizeof y);
      reference_integrate(ladder_slope, settings, 2, y, 0, middle, 1);
      if (sin(y[0]) > leaves)
        low = middle;
      else
        high = middle;
    }
    t += high;
  }
  double rest = time - t, across = FOOT + HALF * cos(y[0]);
  if (rest > 0) {
    across -= rest * HALF * sin(y[0]) * y[1];
    settings[1] = 0;
    reference_integrate(ladder_slope, settings, 2, y, 0, rest,
                        10 + (long)(rest / FINE));
  }
  places[0] = (suite_place){across, FOOT + HALF * sin(y[0]), 0, -y[0]};
}

SUITE_JUDGE(ladder)

static bool build_ladder(scene_run_state *run) {
  run->frame = SCENE_FRAME_PLANAR;
  run->judge = judge_ladder;
  dBodyID ladder =
      scene_add_planar(run, FOOT + HALF * cos(LEANS), FOOT + HALF * sin(LEANS),
                       -LEANS, 1, HALF * HALF / 3);
  if (ladder == NULL) return false;
  for (int side = -1; side <= 1; side += 2)
    if (!scene_add_geom(run, dCreateSphere(run->space, FOOT), ladder,
                        (double[]){side * HALF, 0, 0}, NULL))
      return false;
  return scene_add_fixed(run, dCreatePlane(run->space, 1, 0, 0, 0)) &&
         add_floor(run);
}

/* --- a ball that bounces with spin ---------------------------------------------------- */

static const double BALL = 0.1, SUPER_FRICTION = 0.1, SUPER_SPEED = 6,
                    SUPER_DROP = 0.6;

/* Flights between impacts, in each of which friction takes what slip it can. */
static void where_superball(const scene_run_state *run, double time,
                            suite_place places[]) {
  double g = run->settings->gravity, fall = sqrt(2 * SUPER_DROP / g);
  double up = g * fall, v = SUPER_SPEED, w = 0, x = 0, angle = 0;
  double flight = fall, t = 0, rise = 0, height = SUPER_DROP;
  while (time - t > flight) {
    x += flight * v;
    angle += flight * w;
    t += flight;
    double slip = v + BALL * w;
    double most = fmin(SUPER_FRICTION * 2 * up, 2.0 / 7 * fabs(slip));
    double change = -copysign(most, slip);
    v += change;
    w += change / (0.4 * BALL);
    rise = up;
    height = 0;
    flight = 2 * up / g;
  }
  double rest = time - t;
  places[0] = (suite_place){x + rest * v,
                            BALL + height + rest * (rise - 0.5 * g * rest), 0,
                            angle + rest * w};
}

SUITE_JUDGE(superball)

static bool build_superball(scene_run_state *run) {
  run->frame = SCENE_FRAME_PLANAR;
  run->surface.parameters.mu = SUPER_FRICTION;
  run->judge = judge_superball;
  scene_set_bounce(run, 1);
  dBodyID ball =
      scene_add_planar(run, 0, SUPER_DROP + BALL, 0, 1, 0.4 * BALL * BALL);
  if (ball == NULL) return false;
  dBodySetLinearVel(ball, SUPER_SPEED, 0, 0);
  return scene_add_centred(run, dCreateSphere(run->space, BALL), ball) &&
         add_floor(run);
}

/* --- a block that tips over its edge, which slips --------------------------------------- */

static const double WIDE = 0.1, TALL = 0.4; /* halves */
static const double TIP_FRICTION = 0.3, TIP_START = 0.1;
enum { CORNER, CORNER_SPEED, ANGLE, ANGLE_SPEED, TIP_STATES };

typedef struct tip {
  double gravity;
  int slides; /* -1, 1: which way its corner slides; 0: it sticks */
} tip;

/* Of the corner (x) and the angle about it; 1 kg. @return the friction force that it
 * asks for over what there is, with a sign. */
static double tip_accelerations(const tip *block, const double y[],
                                double accelerations[2]) {
  double c = cos(y[ANGLE]), s = sin(y[ANGLE]), w2 = y[ANGLE_SPEED];
  double rx = -WIDE * c - TALL * s, ry = -WIDE * s + TALL * c;
  double inertia = (WIDE * WIDE + TALL * TALL) / 3;
  w2 *= w2;
  double turn, slide = 0, g = block->gravity;
  if (block->slides == 0) {
    turn = -g * rx / (inertia + rx * rx + ry * ry);
  } else {
    double lever = rx + TIP_FRICTION * block->slides * ry;
    turn = -(g - w2 * ry) * lever / (inertia + rx * lever);
  }
  double normal = g + turn * rx - w2 * ry;
  double friction = -turn * ry - w2 * rx;
  if (block->slides != 0) {
    slide = -block->slides * TIP_FRICTION * normal - friction;
    friction += slide;
  }
  accelerations[0] = slide;
  accelerations[1] = turn;
  return friction / (TIP_FRICTION * normal);
}

static void tip_slope(const void *context, double t, const double y[],
                      double slope[]) {
  double a[2];
  (void)t;
  tip_accelerations(context, y, a);
  slope[CORNER] = y[CORNER_SPEED];
  slope[CORNER_SPEED] = a[0];
  slope[ANGLE] = y[ANGLE_SPEED];
  slope[ANGLE_SPEED] = a[1];
}

/* Positive as long as it goes on as it does. */
static double tip_goes_on(const tip *block, const double y[]) {
  double a[2];
  if (block->slides != 0) return block->slides * y[CORNER_SPEED];
  return 1 - fabs(tip_accelerations(block, y, a));
}

static void where_tipping(const scene_run_state *run, double time,
                          suite_place places[]) {
  tip block = {run->settings->gravity, 0};
  double y[TIP_STATES] = {0, 0, -atan2(WIDE, TALL) - TIP_START, 0}, t = 0;
  while (t < time) {
    double before[TIP_STATES], low = 0, high = fmin(FINE, time - t), a[2];
    memcpy(before, y, sizeof y);
    reference_integrate(tip_slope, &block, TIP_STATES, y, 0, high, 1);
    if (tip_goes_on(&block, y) >= 0) {
      t += high;
      continue;
    }
    for (int i = 0; i < 50; i++) {
      double middle = 0.5 * (low + high);
      memcpy(y, before, sizeof y);
      reference_integrate(tip_slope, &block, TIP_STATES, y, 0, middle, 1);
      if (tip_goes_on(&block, y) >= 0)
        low = middle;
      else
        high = middle;
    }
    t += high;
    /* it sticks where friction can hold it, else goes against it */
    y[CORNER_SPEED] = 0;
    int slid = block.slides;
    block.slides = 0;
    double asked = tip_accelerations(&block, y, a);
    if (fabs(asked) >= 1 || slid == 0) block.slides = asked > 0 ? -1 : 1;
  }
  double c = cos(y[ANGLE]), s = sin(y[ANGLE]);
  places[0] = (suite_place){y[CORNER] - WIDE * c - TALL * s,
                            -WIDE * s + TALL * c, 0, y[ANGLE]};
}

SUITE_JUDGE(tipping)

static bool build_tipping(scene_run_state *run) {
  suite_place start;
  where_tipping(run, 0, &start);
  run->frame = SCENE_FRAME_PLANAR;
  run->surface.parameters.mu = TIP_FRICTION;
  run->judge = judge_tipping;
  dBodyID block = scene_add_planar(run, start.x, start.y, start.angle, 1,
                                   (WIDE * WIDE + TALL * TALL) / 3);
  if (block == NULL) return false;
  dGeomID box = dCreateBox(run->space, 2 * WIDE, 2 * TALL, 2 * WIDE);
  return scene_add_centred(run, box, block) && add_floor(run);
}

/* --- a billiard break ----------------------------------------------------------------- */

enum { ROWS = 5, DISCS = ROWS * (ROWS + 1) / 2 + 1 };

static const double CUE_SPEED = 4, BILLIARD = 0.03, APART = 2e-3;

/* A rack that is not quite even: of an even one two discs are met at once. */
static void rack_place(int i, double x[2]) {
  int row = 0, before = 0;
  x[0] = -0.2;
  x[1] = 0.004;
  if (i == 0) return;
  while (i - 1 >= before + row + 1) before += ++row;
  double pitch = 2 * BILLIARD + APART;
  x[0] = row * pitch * sqrt(3) / 2 + 4e-4 * sin(1 + 3.7 * i);
  x[1] = (i - 1 - before - 0.5 * row) * pitch + 4e-4 * sin(2 + 5.1 * i);
}

/* When two discs that move evenly come to touch; INFINITY: they do not. */
static double time_of_touch(const double x[2], const double v[2]) {
  double closing = x[0] * v[0] + x[1] * v[1],
         speed2 = v[0] * v[0] + v[1] * v[1];
  double out = x[0] * x[0] + x[1] * x[1] - 4 * BILLIARD * BILLIARD;
  double under = closing * closing - speed2 * out;
  if (closing >= 0 || under <= 0) return INFINITY;
  return fmax(0, out / (-closing + sqrt(under)));
}

/* From impact to impact: equal discs exchange their speeds along the normal. */
static void where_billiard(const scene_run_state *run, double time,
                           suite_place places[]) {
  double x[DISCS][2], v[DISCS][2] = {{CUE_SPEED, 0}}, t = 0;
  (void)run;
  for (int i = 0; i < DISCS; i++) rack_place(i, x[i]);
  for (;;) {
    double first = INFINITY;
    int a = 0, b = 0;
    for (int i = 0; i < DISCS; i++)
      for (int j = 0; j < i; j++) {
        double d[2] = {x[i][0] - x[j][0], x[i][1] - x[j][1]};
        double u[2] = {v[i][0] - v[j][0], v[i][1] - v[j][1]};
        double touch = time_of_touch(d, u);
        if (touch >= first) continue;
        first = touch;
        a = i;
        b = j;
      }
    double move = fmin(first, time - t);
    for (int i = 0; i < DISCS; i++)
      for (int k = 0; k < 2; k++) x[i][k] += move * v[i][k];
    t += move;
    if (move < first) break;
    double n[2] = {(x[a][0] - x[b][0]) / (2 * BILLIARD),
                   (x[a][1] - x[b][1]) / (2 * BILLIARD)};
    double speed = n[0] * (v[a][0] - v[b][0]) + n[1] * (v[a][1] - v[b][1]);
    for (int k = 0; k < 2; k++) {
      v[a][k] -= speed * n[k];
      v[b][k] += speed * n[k];
    }
  }
  for (int i = 0; i < DISCS; i++)
    places[i] = (suite_place){x[i][0], x[i][1], 0, 0};
}

SUITE_JUDGE(billiard)

static bool build_billiard(scene_run_state *run) {
  run->frame = SCENE_FRAME_PLANAR;
  run->judge = judge_billiard;
  scene_set_bounce(run, 1);
  for (int i = 0; i < DISCS; i++) {
    double x[2];
    rack_place(i, x);
    dBodyID disc =
        scene_add_planar(run, x[0], x[1], 0, 0.2, 0.1 * BILLIARD * BILLIARD);
    if (disc == NULL ||
        !scene_add_centred(run, dCreateSphere(run->space, BILLIARD), disc))
      return false;
    if (i == 0) dBodySetLinearVel(disc, CUE_SPEED, 0, 0);
  }
  return true;
}

/* --- a car that brakes with locked wheels ------------------------------------------------ */

static const double CAR_SPEED = 12, CAR_FRICTION = 0.8, WHEEL = 0.3;
static const double CAR_HEIGHT = 0.7, AXLE = 1.3, TRACK = 0.7;

static void where_car(const scene_run_state *run, double time,
                      suite_place places[]) {
  double brake = CAR_FRICTION * run->settings->gravity;
  double t = fmin(time, CAR_SPEED / brake);
  double x = t * (CAR_SPEED - 0.5 * brake * t);
  places[0] = (suite_place){x, CAR_HEIGHT, 0, 0};
  for (int i = 0; i < 4; i++)
    places[1 + i] = (suite_place){x + (i < 2 ? AXLE : -AXLE), WHEEL,
                                  i % 2 == 0 ? TRACK : -TRACK, 0};
}

SUITE_JUDGE(car)

static bool build_car(scene_run_state *run) {
  static const double chassis_inertia[3] = {400, 1700, 1500};
  static const double wheel_inertia[3] = {0.9, 0.9, 0.9};
  suite_place at[5];
  where_car(run, 0, at);
  run->frame = SCENE_FRAME_SPATIAL;
  run->surface.parameters.mu = CAR_FRICTION;
  run->judge = judge_car;
  dBodyID chassis = NULL;
  for (int i = 0; i < 5; i++) {
    dBodyID body =
        scene_add_spatial(run, at[i].x, at[i].y, at[i].z, i == 0 ? 1000 : 20,
                          i == 0 ? chassis_inertia : wheel_inertia);
    if (body == NULL) return false;
    dBodySetLinearVel(body, CAR_SPEED, 0, 0);
    if (i == 0) {
      chassis = body;
      continue;
    }
    dJointID axle = dJointCreateHinge(run->world, run->joints);
    if (axle == NULL) return scene_fail(run, "memory ran out");
    dJointAttach(axle, body, chassis);
    dJointSetHingeAnchor(axle, at[i].x, at[i].y, at[i].z);
    dJointSetHingeAxis(axle, 0, 0, 1);
    dJointSetHingeParam(axle, dParamLoStop, 0);
    dJointSetHingeParam(axle, dParamHiStop, 0);
    if (!scene_add_centred(run, dCreateSphere(run->space, WHEEL), body))
      return false;
  }
  return add_floor(run);
}

/* --- the scenes ---------------------------------------------------------------------------- */

const scene scene_rolling_disc = {
    .name = "rolling-disc",
    .summary = "a disc slides down an incline until it rolls",
    .source = "reference suite: analytic",
    SUITE_SCENE,
    .time = 1,
    .gravity = 9.81,
    .build = build_rolling};

const scene scene_eccentric_disc = {
    .name = "eccentric-disc",
    .summary = "a disc rolls whose centre of mass is off its middle",
    .source = "reference suite: Lagrange's equation of its angle",
    SUITE_SCENE,
    .time = 2,
    .gravity = 9.81,
    .build = build_eccentric};

const scene scene_ladder = {
    .name = "ladder",
    .summary = "a ladder slides down a wall and leaves it",
    .source = "reference suite: Lagrange's equations of its angle",
    SUITE_SCENE,
    .time = 0.6,
    .gravity = 9.81,
    .build = build_ladder};

const scene scene_superball = {
    .name = "superball",
    .summary = "a ball thrown without spin bounces, slides and grips",
    .source = "reference suite: analytic",
    SUITE_SCENE,
    .time = 1.5,
    .gravity = 9.81,
    .build = build_superball};

const scene scene_tipping_block = {
    .name = "tipping-block",
    .summary = "a block tips over its edge, which holds, then slips",
    .source = "reference suite: Newton's and Coulomb's laws, integrated",
    SUITE_SCENE,
    .time = 0.6,
    .gravity = 9.81,
    .build = build_tipping};

const scene scene_billiard = {
    .name = "billiard",
    .summary = "a disc breaks a rack of fifteen",
    .source = "reference suite: from impact to impact",
    SUITE_SCENE,
    .time = 0.12,
    .build = build_billiard};

const scene scene_braking_car = {
    .name = "braking-car",
    .summary = "a car brakes with locked wheels until it stands",
    .source = "reference suite: analytic",
    SUITE_SCENE,
    .time = 2,
    .gravity = 9.81,
    .build = build_car};
