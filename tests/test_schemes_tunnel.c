/* Nothing passes through anything: balls, boxes, rods and cylinders up to 1000 m/s
 * against walls down to 1 mm, sheets of triangles and height fields; bodies that
 * fly at each other; rods that sweep past pegs.
 *
 *   test_schemes_tunnel [COUNT]   as many random cases of each kind, a few
 *                                 without */
#include <stdbool.h>
#include <stdlib.h>

#include "host_rounding.h"
#include "scheme_scene.h"

static int count = 60;

static const char *const SCHEMES[] = {
    "scheme=ah",          "scheme=ap",        "scheme=st",        "scheme=gap",
    "scheme=trapezoid-1", "scheme=trapezoid", "scheme=conserving"};
enum { ST = 2, N_SCHEMES = sizeof SCHEMES / sizeof SCHEMES[0] };

static double log_uniform(test_random *random, double low, double high) {
  return low * pow(high / low, test_uniform(random, 0, 1));
}

static dBodyID add_projectile(scene *s, test_random *random, double size,
                              double *inner) {
  dBodyID body = dBodyCreate(s->world);
  dGeomID geom;
  double length = size * log_uniform(random, 2, 40);
  dMass mass;
  *inner = size;
  switch ((int)test_uniform(random, 0, 4)) {
    case 0:
      geom = dCreateSphere(s->space, size);
      dMassSetSphere(&mass, 1000, size);
      break;
    case 1: {
      double a = 2 * size, b = size * log_uniform(random, 2, 20);
      geom = dCreateBox(s->space, a, b, length);
      dMassSetBox(&mass, 1000, a, b, length);
      break;
    }
    case 2:
      geom = dCreateCapsule(s->space, size, length);
      dMassSetCapsule(&mass, 1000, 3, size, length);
      break;
    default:
      geom = dCreateCylinder(s->space, size, length);
      dMassSetCylinder(&mass, 1000, 3, size, length);
  }
  dGeomSetBody(geom, body);
  dBodySetMass(body, &mass);
  dQuaternion q;
  double square = 0;
  for (int i = 0; i < 4; i++) {
    q[i] = test_uniform(random, -1, 1);
    square += q[i] * q[i];
  }
  for (int i = 0; i < 4; i++) q[i] /= sqrt(square);
  dBodySetQuaternion(body, q);
  return body;
}

/* How far a geom reaches along x from its body. */
static double half_width(dBodyID body) {
  dReal box[6];
  dGeomGetAABB(dBodyGetFirstGeom(body), box);
  double margin = dGeomGetAABBMargin(dBodyGetFirstGeom(body));
  return 0.5 * (box[1] - box[0]) - margin;
}

/* --- what is in the way --------------------------------------------------- */

enum { WALL_BOX, WALL_BODY, WALL_MESH, WALL_FIELD, N_WALLS };

static const float CORNERS[4][3] = {
    {0, -1000, -1000}, {0, 1000, -1000}, {0, 1000, 1000}, {0, -1000, 1000}};
static const dTriIndex TRIANGLES[2][3] = {{0, 2, 1}, {0, 3, 2}};
static dTriMeshDataID sheet;
static dHeightfieldDataID field;

static dReal flat(void *context, int x, int z) {
  (void)context, (void)x, (void)z;
  return 0;
}

static void open_walls(void) {
  sheet = dGeomTriMeshDataCreate();
  dGeomTriMeshDataBuildSingle(sheet, CORNERS, sizeof CORNERS[0], 4, TRIANGLES,
                              6, sizeof TRIANGLES[0]);
  dGeomTriMeshDataPreprocess2(sheet, 1U << dTRIDATAPREPROCESS_BUILD_FACE_ANGLES,
                              NULL);
  field = dGeomHeightfieldDataCreate();
  dGeomHeightfieldDataBuildCallback(field, NULL, flat, 2000, 2000, 41, 41, 1, 0,
                                    1, 0);
  dGeomHeightfieldDataSetBounds(field, -1, 1);
}

/* A wall across x = 0. @return its half thickness */
static double add_wall(scene *s, int kind, double thickness) {
  dMatrix3 turned;
  dGeomID geom;
  dRFromAxisAndAngle(turned, 0, 0, 1, M_PI / 2); /* y up becomes -x */
  switch (kind) {
    case WALL_MESH:
      geom = dCreateTriMesh(s->space, sheet, NULL, NULL, NULL);
      return 0;
    case WALL_FIELD:
      geom = dCreateHeightfield(s->space, field, 1);
      dGeomSetRotation(geom, turned);
      return 0;
    default: geom = dCreateBox(s->space, thickness, 2000, 2000);
  }
  if (kind == WALL_BODY) {
    dBodyID body = dBodyCreate(s->world);
    dMass mass;
    dMassSetBoxTotal(&mass, 1e9, thickness, 2000, 2000);
    dBodySetMass(body, &mass);
    dGeomSetBody(geom, body);
  }
  return thickness / 2;
}

typedef struct tally {
  long passed, cases, steps, queries, held, collided;
  double deepest;
} tally;

static ode_mlcp_report step_counted(scene *s, double h, tally *sum) {
  ode_mlcp_report report;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s->world, h, &report), ODE_MLCP_OK);
  sum->queries += report.sweep_queries;
  sum->steps++;
  return report;
}

/* --- bullets and rods ----------------------------------------------------- */

static void shoot(const char *scheme, int number, tally *sum) {
  test_random random = {7 + (uint64_t)number};
  for (int i = 0; i < 3; i++) test_uniform(&random, 0, 1);
  scene s;
  open_scene(&s, scheme, 0);
  double h = log_uniform(&random, 1e-3, 0.05), inner;
  double speed = log_uniform(&random, 1, 1000);
  double spin = log_uniform(&random, 0.1, 1000);
  s.surface.parameters.mode = dContactApprox1 | dContactBounce;
  s.surface.parameters.mu = test_uniform(&random, 0, 1) < 0.5 ? 0 : 0.5;
  s.surface.parameters.bounce = test_uniform(&random, 0, 0.9);
  int kind = (int)test_uniform(&random, 0, N_WALLS);
  double half = add_wall(&s, kind, log_uniform(&random, 1e-3, 0.1));
  dBodyID body =
      add_projectile(&s, &random, log_uniform(&random, 2e-3, 0.2), &inner);
  double angle = test_uniform(&random, 0, 1.4);
  double round = test_uniform(&random, 0, 2 * M_PI);
  dBodySetLinearVel(body, speed * cos(angle), speed * sin(angle) * cos(round),
                    speed * sin(angle) * sin(round));
  dBodySetAngularVel(body, test_uniform(&random, -spin, spin),
                     test_uniform(&random, -spin, spin),
                     test_uniform(&random, -spin, spin));
  double reach = 0;
  dBodySetPosition(body, 0, 0, 0);
  dReal box[6];
  dGeomGetAABB(dBodyGetFirstGeom(body), box);
  for (int i = 0; i < 6; i++) reach = fmax(reach, 2 * fabs(box[i]));
  double far = half + reach + test_uniform(&random, 0, 2) * speed * h;
  dBodySetPosition(body, -far, 0, 0);
  int steps = (int)fmin(3 * far / (speed * cos(angle) * h) + 5, 60);
  dGeomID wall = dSpaceGetGeom(s.space, dSpaceGetNumGeoms(s.space) - 1);
  if (wall == dBodyGetFirstGeom(body)) wall = dSpaceGetGeom(s.space, 0);
  bool passed = false, conserves = strcmp(scheme, "scheme=conserving") == 0;
  /* it lends some energy to its projection (46), until the next step */
  double lent_from = 0;
  for (int i = 0; i < steps && !passed; i++) {
    double before = fmax(kinetic_energy(body), lent_from);
    lent_from = kinetic_energy(body);
    ode_mlcp_report report = step_counted(&s, h, sum);
    /* velocities are as exact as places, whose size is that of all steps' ways */
    const double rounding = of_host(1e-6, 60);
    if (conserves && kinetic_energy(body) > (1 + rounding) * before)
      fprintf(stderr, "%s, case %d: %g J become %g\n", scheme, number, before,
              kinetic_energy(body));
    CU_ASSERT(!conserves || kinetic_energy(body) <= (1 + rounding) * before);
    sum->held += report.held;
    sum->collided += report.collisions;
    passed = dBodyGetPosition(body)[0] > half;
    dContactGeom deep;
    if (half > 0 && ode_mlcp_find_contacts(dBodyGetFirstGeom(body), wall, 0,
                                           &deep, 1, sizeof deep) > 0)
      sum->deepest = fmax(sum->deepest, deep.depth / inner);
  }
  if (passed)
    fprintf(stderr,
            "%s, case %d passes wall %d: h %g, speed %g, spin %g, inner %g\n",
            scheme, number, kind, h, speed, spin, inner);
  sum->passed += passed;
  sum->cases++;
  scene_close(&s);
}

static void check_bullets(const char *scheme) {
  tally sum = {0};
  for (int i = 0; i < count; i++) shoot(scheme, i, &sum);
  fprintf(stderr,
          "%s: %ld of %ld pass; %.2f queries a step, %ld held, %ld collisions, "
          "deepest %.3g of a half thickness\n",
          scheme, sum.passed, sum.cases, (double)sum.queries / sum.steps,
          sum.held, sum.collided, sum.deepest);
  CU_ASSERT_EQUAL(sum.passed, 0);
}

static void test_bullets_and_rods_meet_walls(void) {
  for (int k = 0; k < N_SCHEMES; k++) check_bullets(SCHEMES[k]);
}

/* Steps of second order that look for no events, or that have had theirs, or their
 * budget. */
static void test_what_ends_without_events_meets_them(void) {
  check_bullets("scheme=gap events=off");
  check_bullets("scheme=trapezoid events=off");
  check_bullets("scheme=conserving events=off");
  check_bullets("scheme=trapezoid max-events=0");
  check_bullets("scheme=conserving max-events=0");
  check_bullets("scheme=conserving budget=1");
  /* a rod that lies on a field at one end, of which the other comes down */
  tally sum = {0};
  shoot("scheme=conserving max-events=0", 271, &sum);
  CU_ASSERT_EQUAL(sum.passed, 0);
}

/* Negative control: without sweeps many pass. */
static void test_without_sweeps_they_pass(void) {
  tally sum = {0};
  for (int i = 0; i < 25; i++) shoot("scheme=st sweep=off", i, &sum);
  CU_ASSERT(sum.passed > 5);
  CU_ASSERT_EQUAL(sum.queries, 0);
}

/* --- two that fly at each other ------------------------------------------- */

static void meet(const char *scheme, int number, tally *sum) {
  test_random random = {1000 + (uint64_t)number};
  scene s;
  open_scene(&s, scheme, 0);
  double h = log_uniform(&random, 1e-3, 0.05), inner[2];
  double speed = log_uniform(&random, 1, 1000);
  s.surface.parameters.mode = dContactBounce;
  s.surface.parameters.bounce = test_uniform(&random, 0, 1);
  dBodyID bodies[2];
  for (int i = 0; i < 2; i++) {
    double radius = log_uniform(&random, 2e-3, 0.2);
    dMass mass;
    bodies[i] = dBodyCreate(s.world);
    dMassSetSphere(&mass, log_uniform(&random, 10, 1e4), radius);
    dBodySetMass(bodies[i], &mass);
    dGeomSetBody(dCreateSphere(s.space, radius), bodies[i]);
    inner[i] = radius;
    double share = test_uniform(&random, 0, 1);
    dBodySetLinearVel(bodies[i], (i == 0 ? 1 : -1) * share * speed, 0, 0);
  }
  double far = inner[0] + inner[1] + test_uniform(&random, 0.1, 2) * speed * h;
  dBodySetPosition(bodies[1], far, 0, 0);
  bool passed = false;
  const double closing =
      dBodyGetLinearVel(bodies[0])[0] - dBodyGetLinearVel(bodies[1])[0];
  for (int i = 0; i < 20 && !passed; i++) {
    (void)step_counted(&s, h, sum);
    passed = dBodyGetPosition(bodies[0])[0] > dBodyGetPosition(bodies[1])[0];
  }
  /* they part as Newton's law says, one step later where they were held */
  const double parts =
      dBodyGetLinearVel(bodies[1])[0] - dBodyGetLinearVel(bodies[0])[0];
  CU_ASSERT_DOUBLE_EQUAL(parts, s.surface.parameters.bounce * closing,
                         of_host(1e-6, 10) * closing);
  if (passed) fprintf(stderr, "%s, pair %d pass\n", scheme, number);
  sum->passed += passed;
  scene_close(&s);
}

static void test_two_fast_bodies_meet(void) {
  for (int k = 0; k < N_SCHEMES; k++) {
    tally sum = {0};
    for (int i = 0; i < count; i++) meet(SCHEMES[k], i, &sum);
    CU_ASSERT_EQUAL(sum.passed, 0);
  }
}

/* Balls that fly at a wall one behind the other: each is held by the one before it.
 * @return how deep two of them, or one and the wall, are at worst, in radii */
static double queue(const char *scheme, double way) {
  enum { BALLS = 6 };
  const double radius = 0.05, h = 0.01;
  scene s;
  dMass mass;
  dBodyID balls[BALLS];
  double deepest = 0;
  open_scene(&s, scheme, 0);
  add_wall(&s, WALL_BOX, radius);
  dMassSetSphere(&mass, 1000, radius);
  for (int i = 0; i < BALLS; i++) {
    balls[i] = dBodyCreate(s.world);
    dBodySetMass(balls[i], &mass);
    dGeomSetBody(dCreateSphere(s.space, radius), balls[i]);
    dBodySetPosition(balls[i], -(4 + 3 * i) * radius, 0, 0);
    dBodySetLinearVel(balls[i], way * radius / h, 0, 0);
  }
  for (int i = 0; i < 10; i++) {
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s.world, h, NULL), ODE_MLCP_OK);
    double before = 0.5 * radius;
    for (int k = 0; k < BALLS; k++) {
      const double x = dBodyGetPosition(balls[k])[0];
      deepest = fmax(deepest, x + (k == 0 ? 1 : 2) * radius - before);
      before = x;
    }
  }
  scene_close(&s);
  return deepest / radius;
}

static void test_what_is_held_is_met(void) {
  for (int k = 0; k < N_SCHEMES; k++)
    for (double way = 1.5; way < 50; way *= 2) {
      const double deepest = queue(SCHEMES[k], way);
      if (!(deepest < 0.05))
        fprintf(stderr, "%s, way %g: %g radii deep\n", SCHEMES[k], way,
                deepest);
      CU_ASSERT(deepest < 0.05);
    }
}

/* --- geoms off their bodies' centres -------------------------------------- */

/* A ball that its body carries some radii off its centre, on a turned arm, and a plate
 * that it cannot get around. */
static void carry(const char *scheme, int number, tally *sum) {
  test_random random = {3000 + (uint64_t)number};
  scene s;
  open_scene(&s, scheme, 0);
  double h = log_uniform(&random, 1e-3, 0.05);
  double radius = log_uniform(&random, 2e-3, 0.2), thick = 0.02 * radius;
  double way = log_uniform(&random, 3, 30) * radius; /* a step */
  dBodyID body = dBodyCreate(s.world);
  dGeomID ball = dCreateSphere(s.space, radius);
  dGeomID plate = dCreateBox(s.space, thick, 1e3 * radius, 1e3 * radius);
  dMatrix3 turned;
  dRFromAxisAndAngle(turned, test_uniform(&random, -1, 1),
                     test_uniform(&random, -1, 1), 1,
                     test_uniform(&random, -3, 3));
  dBodySetRotation(body, turned);
  dGeomSetBody(ball, body);
  dGeomSetOffsetPosition(ball, test_uniform(&random, 4, 10) * radius, 0, 0);
  dBodySetLinearVel(body, way / h, 0, 0);
  const dReal *at = dGeomGetPosition(ball);
  double wall = at[0] + 2 * radius + test_uniform(&random, 0, 3) * way;
  dGeomSetPosition(plate, wall, at[1], at[2]);
  bool passed = false, met = false;
  for (int i = 0; i < 10 && !passed && !met; i++) {
    // of what has met, some radians of turn follow in the same step
    met = step_counted(&s, h, sum).contacts > 0;
    passed = !met && dGeomGetPosition(ball)[0] > wall;
  }
  if (passed) fprintf(stderr, "%s, carried ball %d passes\n", scheme, number);
  sum->passed += passed;
  scene_close(&s);
}

static void test_geoms_off_centre_are_swept(void) {
  for (int k = 0; k < N_SCHEMES; k++) {
    tally sum = {0};
    for (int i = 0; i < count; i++) carry(SCHEMES[k], i, &sum);
    CU_ASSERT_EQUAL(sum.passed, 0);
    CU_ASSERT(sum.queries > 0);
  }
}

/* --- rods that sweep past pegs -------------------------------------------- */

/* A rod on a hinge, of a body every other time; a peg in the way of its end. */
static void sweep_past(const char *scheme, int number, tally *sum) {
  test_random random = {2000 + (uint64_t)number};
  scene s;
  open_scene(&s, scheme, 0);
  double h = log_uniform(&random, 1e-3, 0.02);
  double spin = log_uniform(&random, 5, 1000);
  double radius = log_uniform(&random, 2e-3, 0.02);
  double length = test_uniform(&random, 0.5, 2);
  double peg = log_uniform(&random, 2e-3, 0.05);
  double at = test_uniform(&random, 0.4, 0.95) * length;
  double angle = test_uniform(&random, 0.6, 3);
  dBodyID rod = dBodyCreate(s.world);
  dMass mass;
  dMassSetCapsule(&mass, 1000, 1, radius, length);
  dBodySetMass(rod, &mass);
  dBodySetPosition(rod, length / 2, 0, 0);
  dGeomID geom = dCreateCapsule(s.space, radius, length);
  dMatrix3 along;
  dRFromAxisAndAngle(along, 0, 1, 0, M_PI / 2);
  dGeomSetBody(geom, rod);
  dGeomSetOffsetRotation(geom, along);
  dBodyID hub = number % 2 == 0 ? NULL : dBodyCreate(s.world);
  if (hub != NULL) dBodySetKinematic(hub);
  joint_hinge(s.world, rod, hub, 0, 0, 0, 0, 0, 1);
  dBodySetAngularVel(rod, 0, 0, spin);
  dBodySetLinearVel(rod, 0, spin * length / 2, 0);
  dGeomID post = dCreateCapsule(s.space, peg, 1);
  dGeomSetPosition(post, at * cos(angle), at * sin(angle), 0);

  const dReal *q = dGeomGetPosition(post);
  double last[2] = {0, 0};
  bool passed = false;
  int steps = (int)fmin(20 / (spin * h) + 5, 100);
  for (int i = 0; i < steps && !passed; i++) {
    (void)step_counted(&s, h, sum);
    /* the peg as the rod sees it: along it and across */
    dVector3 seen;
    dBodyGetPosRelPoint(rod, q[0], q[1], q[2], seen);
    if (i > 0 && last[1] > 0 && seen[1] <= 0) {
      double share = last[1] / (last[1] - seen[1]);
      passed = fabs(last[0] + share * (seen[0] - last[0])) < length / 2;
    }
    for (int k = 0; k < 2; k++) last[k] = seen[k];
  }
  if (passed)
    fprintf(stderr, "%s, rod %d passes: h %g, spin %g\n", scheme, number, h,
            spin);
  sum->passed += passed;
  scene_close(&s);
}

static void test_rods_do_not_sweep_past_pegs(void) {
  for (int k = 0; k < N_SCHEMES; k++) {
    tally sum = {0};
    for (int i = 0; i < count; i++) sweep_past(SCHEMES[k], i, &sum);
    CU_ASSERT_EQUAL(sum.passed, 0);
  }
  /* whose hinges tore, and one that was looked for where a step does not get to */
  tally drawn = {0};
  sweep_past("scheme=trapezoid-1", 90, &drawn);
  sweep_past("scheme=trapezoid-1", 271, &drawn);
  sweep_past("scheme=conserving", 326, &drawn);
  CU_ASSERT_EQUAL(drawn.passed, 0);
}

/* --- programs that make their own contacts --------------------------------- */

typedef struct program {
  scene s;
  dJointGroupID joints;
  bool makes_contacts, made;
  double stiffness, h; /* N/m: of contacts that are springs; 0: they are hard */
} program;

/* @param contacts  it makes some where bodies are */
static void open_program(program *p, const char *settings, double gravity,
                         bool contacts) {
  memset(p, 0, sizeof *p);
  open_scene(&p->s, settings, gravity);
  ode_mlcp_set_collision(p->s.world, NULL, NULL);
  p->joints = dJointGroupCreate(0);
  p->makes_contacts = contacts;
}

static void close_program(program *p) {
  dJointGroupDestroy(p->joints);
  scene_close(&p->s);
}

static void touch(void *data, dGeomID one, dGeomID other) {
  program *p = data;
  dContact contacts[8];
  if (!p->makes_contacts) return;
  int n = dCollide(one, other, 8, &contacts[0].geom, sizeof contacts[0]);
  p->made |= n > 0;
  for (int i = 0; i < n; i++) {
    memset(&contacts[i].surface, 0, sizeof contacts[i].surface);
    contacts[i].surface.mode = dContactApprox1;
    contacts[i].surface.mu = 0.3;
    if (p->stiffness > 0) {
      contacts[i].surface.mode |= dContactSoftERP | dContactSoftCFM;
      contacts[i].surface.soft_erp = 1;
      contacts[i].surface.soft_cfm = 1 / (p->h * p->stiffness);
    }
    dJointAttach(dJointCreateContact(p->s.world, p->joints, &contacts[i]),
                 dGeomGetBody(one), dGeomGetBody(other));
  }
}

/* A projectile and a wall, contacts by dCollide where bodies are. @return whether
 * the wall is passed; *lost: how much of its way a free flight would have. */
static bool shoot_in_program(const char *scheme, int number, bool contacts,
                             double *lost) {
  test_random random = {4000 + (uint64_t)number};
  program p;
  open_program(&p, scheme, 0, contacts);
  double h = log_uniform(&random, 1e-3, 0.05), inner;
  double speed = log_uniform(&random, 1, 1000);
  double half = add_wall(&p.s, number % 2 == 0 ? WALL_BOX : WALL_BODY,
                         log_uniform(&random, 1e-3, 0.1));
  dBodyID body =
      add_projectile(&p.s, &random, log_uniform(&random, 5e-3, 0.2), &inner);
  double start = -half - 50 * inner - test_uniform(&random, 0, 2) * speed * h;
  dBodySetPosition(body, start, 0, 0);
  dBodySetLinearVel(body, speed, 0, 0);
  int steps = (int)(3 * fabs(start) / (speed * h)) + 8;
  long n_held = 0;
  for (int i = 0; i < steps; i++) {
    ode_mlcp_report report;
    dSpaceCollide(p.s.space, &p, touch);
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(p.s.world, h, &report), ODE_MLCP_OK);
    dJointGroupEmpty(p.joints);
    n_held += report.held;
  }
  double x = dBodyGetPosition(body)[0];
  *lost = (start + steps * speed * h - x) / (speed * h);
  if (contacts && x > half)
    fprintf(stderr, "%s, program %d: passes at %g m/s, inner %g, h %g\n",
            scheme, number, speed, inner, h);
  /* a scheme that looks ahead, with contacts that are frozen, may let a body turn
   * at a wall for long */
  if (strcmp(scheme, "scheme=conserving") != 0) CU_ASSERT(n_held <= 10);
  close_program(&p);
  return x > half;
}

static void test_programs_with_their_own_contacts(void) {
  static const char *schemes[] = {"scheme=ah", "scheme=st",
                                  "scheme=conserving"};
  /* half of their half thickness deep on one step's end, beyond on the next's */
  static const int deep[] = {84, 86, 149, 268, 283};
  double lost;
  for (int i = 0; i < 5; i++)
    CU_ASSERT(!shoot_in_program("scheme=ah", deep[i], true, &lost));
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < count; i++) {
      CU_ASSERT(!shoot_in_program(schemes[k], i, true, &lost));
      /* what makes no contacts is let pass, at the price of one step */
      CU_ASSERT(shoot_in_program(schemes[k], i, false, &lost));
      CU_ASSERT(lost < 1 + 1e-6);
    }
}

/* How deep a ball sinks into a block, whose contacts are springs, by many of its radii a
 * step. */
static double sink(const char *settings, double way) {
  const double radius = 0.1, h = 0.01, speed = way * radius / h;
  program p;
  open_program(&p, settings, 0, true);
  p.h = h;
  dGeomID block =
      dCreateBox(p.s.space, 100 * radius, 100 * radius, 100 * radius);
  dGeomSetPosition(block, 50 * radius, 0, 0);
  dBodyID ball = dBodyCreate(p.s.world);
  dMass mass;
  dMassSetSphereTotal(&mass, 1, radius);
  dBodySetMass(ball, &mass);
  dGeomSetBody(dCreateSphere(p.s.space, radius), ball);
  dBodySetPosition(ball, -2.5 * radius, 0, 0);
  dBodySetLinearVel(ball, speed, 0, 0);
  p.stiffness = pow(0.2 / h, 2); /* a fifth of a radian a step */
  double deepest = 0;
  for (int i = 0; i < 20; i++) {
    dSpaceCollide(p.s.space, &p, touch);
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(p.s.world, h, NULL), ODE_MLCP_OK);
    dJointGroupEmpty(p.joints);
    deepest = fmax(deepest, dBodyGetPosition(ball)[0] + radius);
  }
  close_program(&p);
  return deepest / radius;
}

static void test_what_lands_on_springs_sinks_in(void) {
  for (double way = 0.6; way < 5; way *= 2) {
    double free = sink("scheme=ah sweep=off", way);
    CU_ASSERT(free > 2 * way);
    CU_ASSERT_DOUBLE_EQUAL(sink("scheme=ah", way), free, 0.1 * free);
  }
}

/* J: what a projectile that falls gains in the step in which it is held first, over the
 * work of its weight along the step. 0: it was not held, or touched the wall before. */
static double gain_where_held(const char *scheme, int number) {
  test_random random = {7000 + (uint64_t)number};
  program p;
  open_program(&p, scheme, 0, true);
  double h = log_uniform(&random, 1e-3, 0.02), inner;
  double size = log_uniform(&random, 2e-3, 0.1), gain = 0;
  double half = add_wall(&p.s, WALL_BOX, log_uniform(&random, 1e-3, 0.1));
  dBodyID body = add_projectile(&p.s, &random, size, &inner);
  double speed = (2 + test_uniform(&random, 0, 8)) * size / h;
  double weight = test_uniform(&random, 0.01, 0.2) * speed / h;
  dWorldSetGravity(p.s.world, weight, test_uniform(&random, -1, 1) * weight, 0);
  dBodySetPosition(
      body,
      -half - half_width(body) - test_uniform(&random, 0.05, 2.95) * speed * h,
      0, 0);
  dBodySetLinearVel(body, speed, 0.2 * speed, 0);
  for (int i = 0, held = 0; i < 8 && held == 0; i++) {
    ode_mlcp_report report;
    dVector3 g;
    dMass mass;
    double before = kinetic_energy(body), way = 0;
    const dVector3 from = {dBodyGetPosition(body)[0],
                           dBodyGetPosition(body)[1]};
    dWorldGetGravity(p.s.world, g);
    dBodyGetMass(body, &mass);
    dSpaceCollide(p.s.space, &p, touch);
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(p.s.world, h, &report), ODE_MLCP_OK);
    dJointGroupEmpty(p.joints);
    held = (int)report.held;
    for (int k = 0; k < 2; k++)
      way += g[k] * (dBodyGetPosition(body)[k] - from[k]);
    if (held > 0 && !p.made)
      gain = (kinetic_energy(body) - before - mass.mass * way) /
             (mass.mass * weight * speed * h);
  }
  close_program(&p);
  return gain;
}

static void test_forces_act_as_far_as_bodies_go(void) {
  static const char *schemes[] = {"scheme=ah", "scheme=ap"};
  int n_held = 0;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 4 * count; i++) {
      double gain = gain_where_held(schemes[k], i);
      CU_ASSERT(gain <= 1e-9);
      n_held += gain != 0;
    }
  CU_ASSERT(n_held > 2 * count);
}

/* --- what is held gains no energy ------------------------------------------- */

enum { MOST_PARTS = 4 };

typedef struct held_scene {
  program p;
  dBodyID parts[MOST_PARTS];
  int n;
  double gravity[3], size, speed, h;
} held_scene;

static dBodyID add_part(held_scene *of, const double sides[3], double kilograms,
                        double x, double y, double z) {
  dBodyID body = dBodyCreate(of->p.s.world);
  dMass mass;
  dMassSetBoxTotal(&mass, kilograms, sides[0], sides[1], sides[2]);
  dBodySetMass(body, &mass);
  dBodySetPosition(body, x, y, z);
  dGeomSetBody(dCreateBox(of->p.s.space, sides[0], sides[1], sides[2]), body);
  of->parts[of->n++] = body;
  return body;
}

/* Rods in a chain that tumbles at the wall at x = 0. */
static void add_chain(held_scene *of, test_random *random) {
  const double long_side = of->size,
               thin = of->size * log_uniform(random, 0.01, 0.05);
  const double sides[3] = {thin, long_side, thin};
  int n = 2 + (int)test_uniform(random, 0, 3);
  double x = -long_side * test_uniform(random, 0.6, 2);
  for (int i = 0; i < n; i++) {
    add_part(of, sides, log_uniform(random, 0.1, 10), x, (i + 0.5) * long_side,
             0);
    if (i == 0) continue;
    joint_ball(of->p.s.world, of->parts[i - 1], of->parts[i], x, i * long_side,
               0);
  }
  /* as one body, so that the joints hold */
  const double spin = test_uniform(random, -1, 1) * of->speed / long_side;
  for (int i = 0; i < n; i++) {
    dBodySetAngularVel(of->parts[i], 0, 0, spin);
    dBodySetLinearVel(of->parts[i], of->speed - spin * (i + 0.5) * long_side, 0,
                      0);
  }
}

/* A card that slides along a floor at y = 0 into the wall, with another on it. */
static void add_cards(held_scene *of, test_random *random) {
  const double thin = of->size * log_uniform(random, 0.01, 0.05);
  const double sides[3] = {thin, of->size, of->size};
  double x = -of->size * test_uniform(random, 0.6, 2);
  dGeomID floor =
      dCreateBox(of->p.s.space, 100 * of->size, of->size, 100 * of->size);
  dGeomSetPosition(floor, 0, -0.5 * of->size, 0);
  add_part(of, sides, log_uniform(random, 0.1, 10), x, 0.5 * of->size, 0);
  add_part(of, sides, log_uniform(random, 0.1, 10), x - thin, 0.5 * of->size,
           0);
  for (int i = 0; i < of->n; i++)
    dBodySetLinearVel(of->parts[i], of->speed, 0, 0);
}

/* A plate that spins about all axes. */
static void add_spinner(held_scene *of, test_random *random) {
  const double sides[3] = {of->size, of->size * log_uniform(random, 0.3, 1),
                           of->size * log_uniform(random, 0.01, 0.05)};
  dBodyID body =
      add_part(of, sides, 1, -of->size * test_uniform(random, 1, 2), 0, 0);
  dQuaternion q = {1, test_uniform(random, -1, 1), test_uniform(random, -1, 1),
                   test_uniform(random, -1, 1)};
  dNormalize4(q);
  dBodySetQuaternion(body, q);
  const double spin = 2 * of->speed / of->size;
  dBodySetAngularVel(body, test_uniform(random, -1, 1) * spin,
                     test_uniform(random, -1, 1) * spin,
                     test_uniform(random, -1, 1) * spin);
  dBodySetLinearVel(body, of->speed, 0, 0);
}

static double energy_of_parts(const held_scene *of) {
  double sum = 0;
  for (int i = 0; i < of->n; i++) {
    dMass mass;
    dBodyGetMass(of->parts[i], &mass);
    sum += kinetic_energy(of->parts[i]);
    for (int k = 0; k < 3; k++)
      sum -= mass.mass * of->gravity[k] * dBodyGetPosition(of->parts[i])[k];
  }
  return sum;
}

/* The most energy that is gained in a step that holds something, as a part of the most
 * that gravity's work can be in it, until a body turns by so much in a step that
 * schemes of the first order know little of it. */
static double gain_while_held(const char *scheme, int kind, int number,
                              int *n_held) {
  static void (*const add[])(held_scene *, test_random *) = {
      add_chain, add_cards, add_spinner};
  const double MOST_TURN = 0.3; /* rad */
  test_random random = {9000 + 3 * (uint64_t)number};
  held_scene of;
  memset(&of, 0, sizeof of);
  open_program(&of.p, scheme, 0, true);
  of.h = log_uniform(&random, 1e-3, 0.02);
  of.size = log_uniform(&random, 0.01, 1);
  of.speed = test_uniform(&random, 0.03, 0.15) * of.size / of.h;
  const double weight = test_uniform(&random, 0.05, 0.3) * of.speed / of.h;
  /* where it stands on a floor, it is pressed to it */
  of.gravity[0] = weight;
  of.gravity[1] = (kind == 1 ? -1 : test_uniform(&random, -1, 1)) * weight;
  dWorldSetGravity(of.p.s.world, of.gravity[0], of.gravity[1], 0);
  dWorldSetERP(of.p.s.world, 0); /* nothing is lifted */
  dGeomID wall =
      dCreateBox(of.p.s.space, 0.01 * of.size, 200 * of.size, 200 * of.size);
  dGeomSetPosition(wall, 0.005 * of.size, 0, 0);
  add[kind](&of, &random);
  /* conserving lends some energy to its projection (46), until a step that settles */
  double most = 0, lent_from = 0;
  bool settled = true;
  for (int i = 0; i < 12; i++) {
    ode_mlcp_report report;
    double start = energy_of_parts(&of), work = 0, turn = 0;
    double before = fmax(start, lent_from);
    lent_from = strcmp(scheme, "scheme=conserving") == 0 ? start : 0;
    for (int b = 0; b < of.n; b++) {
      dMass mass;
      dBodyGetMass(of.parts[b], &mass);
      work += mass.mass * weight * of.h *
              vec_length(dBodyGetLinearVel(of.parts[b]));
    }
    dSpaceCollide(of.p.s.space, &of.p, touch);
    bool taken = ode_mlcp_step(of.p.s.world, of.h, &report) == ODE_MLCP_OK;
    dJointGroupEmpty(of.p.joints);
    for (int b = 0; b < of.n; b++)
      turn = fmax(turn, of.h * vec_length(dBodyGetAngularVel(of.parts[b])));
    if (!taken || report.degraded > 0 || turn > MOST_TURN) break;
    bool knows = settled; /* where it began */
    settled = report.not_converged == 0;
    if (report.held == 0) continue;
    ++*n_held;
    if (knows) most = fmax(most, (energy_of_parts(&of) - before) / work);
  }
  close_program(&of.p);
  return most;
}

static void test_what_is_held_gains_no_energy(void) {
  static const char *schemes[] = {"scheme=ah", "scheme=ap", "scheme=st",
                                  "scheme=conserving"};
  /* known to fall short there: docs/trust.md */
  bool some = left_out_in_single("what st holds");
  for (int k = 0; k < 4; k++)
    for (int kind = 0; kind < 3; kind++) {
      if (some && k == 2) continue;
      int n_held = 0;
      double worst = 0;
      for (int i = 0; i < test_rounds(4 * count); i++)
        worst = fmax(worst, gain_while_held(schemes[k], kind, i, &n_held));
      const double bound = 1e-3;
      if (!(worst <= bound))
        fprintf(stderr, "%s, %d: gains %g, %d steps\n", schemes[k], kind, worst,
                n_held);
      CU_ASSERT(worst <= bound);
      CU_ASSERT(n_held > test_rounds(count));
    }
}

/* A tower of tetrahedra of triangles and convex boxes that falls: the host's normals
 * deep in a mesh do not part them, and they must not be held where they are. */
static void test_a_pile_of_meshes_falls(void) {
  static const float corners[4][3] = {{0, 0, 0.3f},
                                      {0.3f, 0, -0.15f},
                                      {-0.15f, 0.26f, -0.15f},
                                      {-0.15f, -0.26f, -0.15f}};
  static const dTriIndex faces[4][3] = {
      {0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};
  dTriMeshDataID data = dGeomTriMeshDataCreate();
  dGeomTriMeshDataBuildSingle(data, corners, sizeof corners[0], 4, faces, 12,
                              sizeof faces[0]);
  dGeomTriMeshDataPreprocess2(data, 1U << dTRIDATAPREPROCESS_BUILD_FACE_ANGLES,
                              NULL);
  program p;
  open_program(&p, "scheme=ah", 9.81, true);
  dCreatePlane(p.s.space, 0, 1, 0, 0);
  dBodyID bodies[16];
  for (int i = 0; i < 16; i++) {
    dMass mass;
    bodies[i] = dBodyCreate(p.s.world);
    dMassSetBox(&mass, 500, 0.4, 0.4, 0.4);
    dBodySetMass(bodies[i], &mass);
    dGeomID geom = i % 2 ? dCreateBox(p.s.space, 0.4, 0.4, 0.4)
                         : dCreateTriMesh(p.s.space, data, NULL, NULL, NULL);
    dGeomSetBody(geom, bodies[i]);
    dBodySetPosition(bodies[i], 0.1 * (i % 3), 0.4 + 0.6 * i, 0.13 * (i % 2));
  }
  for (int i = 0; i < 400; i++) {
    dSpaceCollide(p.s.space, &p, touch);
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(p.s.world, 0.01, NULL), ODE_MLCP_OK);
    dJointGroupEmpty(p.joints);
  }
  double fastest = 0;
  for (int i = 0; i < 16; i++)
    fastest = fmax(fastest, vec_length(dBodyGetLinearVel(bodies[i])));
  if (!(fastest < 3)) fprintf(stderr, "the fastest has %g m/s\n", fastest);
  CU_ASSERT(fastest < 3);
  close_program(&p);
  dGeomTriMeshDataDestroy(data);
}

/* A flat box that slides on a sheet by some of its thicknesses a step: it touches all
 * the way, and passes through nothing. @return how often it was held. */
static int slide_on_sheet(const char *scheme, int number, double *off) {
  test_random random = {9000 + (uint64_t)number};
  const double mu = 0.3, weight = 9.81;
  program p;
  open_program(&p, scheme, 0, true);
  dWorldSetGravity(p.s.world, weight, 0, 0);
  add_wall(&p.s, WALL_MESH, 0);
  const double thick = log_uniform(&random, 0.01, 10);
  const double h = log_uniform(&random, 1e-3, 0.02);
  const int steps = 20;
  const double speed =
      test_uniform(&random, 1, 5) * thick / h + mu * weight * h * steps;
  dBodyID body = dBodyCreate(p.s.world);
  dMass mass;
  dMassSetBox(&mass, 1000, thick, 4 * thick, 4 * thick);
  dMassAdjust(&mass, log_uniform(&random, 1e-2, 1e4));
  dBodySetMass(body, &mass);
  dGeomSetBody(dCreateBox(p.s.space, thick, 4 * thick, 4 * thick), body);
  /* away from the edge between the two triangles; so deep that no rounding takes a
   * corner's point away, which `ap` leaves as it is */
  dBodySetPosition(body, -(0.5 - 1e-6) * thick, -950, 950);
  dBodySetLinearVel(body, 0, speed, 0);
  int held = 0;
  for (int i = 0; i < steps; i++) {
    ode_mlcp_report report;
    dSpaceCollide(p.s.space, &p, touch);
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(p.s.world, h, &report), ODE_MLCP_OK);
    dJointGroupEmpty(p.joints);
    held += (int)report.held;
  }
  const double slower = speed - dBodyGetLinearVel(body)[1];
  *off = fabs(slower - mu * weight * h * steps) / speed;
  close_program(&p);
  return held;
}

static void test_what_slides_on_a_sheet_is_not_held(void) {
  if (left_out_in_single(
          "a sheet of 2 km: a rounding is deeper than its contacts"))
    return;
  for (int k = 0; k < ST; k++)
    for (int i = 0; i < count; i++) {
      double off;
      const int held = slide_on_sheet(SCHEMES[k], i, &off);
      if (held > 0 || !(off <= 1e-3))
        fprintf(stderr, "%s, sheet %d: held %d times, off by %g\n", SCHEMES[k],
                i, held, off);
      CU_ASSERT_EQUAL(held, 0);
      CU_ASSERT(off <= 1e-3);
    }
}

/* A rod that spins beside a sheet, which it never touches. */
static ode_mlcp_report spin_beside_sheet(const char *settings) {
  scene s;
  dMass mass;
  ode_mlcp_report report;
  open_scene(&s, settings, 0);
  add_wall(&s, WALL_MESH, 0);
  dBodyID rod = dBodyCreate(s.world);
  dMassSetBox(&mass, 1000, 0.02, 1, 0.02);
  dBodySetMass(rod, &mass);
  dGeomSetBody(dCreateBox(s.space, 0.02, 1, 0.02), rod);
  dBodySetPosition(rod, -0.5002, -300, 200);
  dBodySetAngularVel(rod, 0, 0, 900);
  CU_ASSERT_EQUAL(ode_mlcp_step(s.world, 0.02, &report), ODE_MLCP_OK);
  CU_ASSERT_EQUAL(report.collisions, 0);
  scene_close(&s);
  return report;
}

/* Nothing is solved. */
static void test_questions_are_of_the_budget(void) {
  const ode_mlcp_report all = spin_beside_sheet("scheme=trapezoid budget=inf");
  const ode_mlcp_report some = spin_beside_sheet("scheme=trapezoid budget=40");
  CU_ASSERT(all.solver_work > 40);
  CU_ASSERT_EQUAL(all.not_converged, 0);
  CU_ASSERT_EQUAL(some.not_converged, 1);
  CU_ASSERT(spin_beside_sheet("scheme=ah").solver_work > 0);
  /* what holds bodies ends there, too, where they were seen to meet nothing */
  static const char *const holds[][2] = {
      {"scheme=st budget=inf", "scheme=st budget=2"},
      {"scheme=conserving events=off budget=inf",
       "scheme=conserving events=off budget=2"}};
  for (int k = 0; k < 2; k++) {
    const ode_mlcp_report seen = spin_beside_sheet(holds[k][0]);
    const ode_mlcp_report ended = spin_beside_sheet(holds[k][1]);
    CU_ASSERT(seen.solver_work > 40);
    CU_ASSERT_EQUAL(seen.held, 0);
    CU_ASSERT_EQUAL(seen.not_converged, 0);
    CU_ASSERT(ended.solver_work <= 4); /* and a question */
    CU_ASSERT_EQUAL(ended.held, 1);
    CU_ASSERT_EQUAL(ended.not_converged, 1);
  }
}

/* Boxes that fly at a sheet past each other: what is held is asked again for all that
 * it may meet there. */
static long fly_at_sheet(const char *settings) {
  enum { BOXES = 60 };
  scene s;
  dMass mass;
  dBodyID body[BOXES];
  ode_mlcp_report report;
  double before = 0, after = 0;
  open_scene(&s, settings, 0);
  add_wall(&s, WALL_MESH, 0);
  dMassSetBox(&mass, 1000, 0.04, 0.1, 0.06);
  for (int i = 0; i < BOXES; i++) {
    body[i] = dBodyCreate(s.world);
    dBodySetMass(body[i], &mass);
    dGeomSetBody(dCreateBox(s.space, 0.04, 0.1, 0.06), body[i]);
    dBodySetPosition(body[i], -0.1 - 0.1 * (i % 5), 0.2 * (i / 5 % 4),
                     0.2 * (i / 20));
    dBodySetLinearVel(body[i], 100, i % 3 - 1, i % 7 - 3);
    dBodySetAngularVel(body[i], 0, i % 11 * 5, i % 13 * 10);
    before += kinetic_energy(body[i]);
  }
  CU_ASSERT_EQUAL(ode_mlcp_step(s.world, 0.005, &report), ODE_MLCP_OK);
  for (int i = 0; i < BOXES; i++) after += kinetic_energy(body[i]);
  CU_ASSERT(after <= (1 + of_host(1e-6, 60)) * before);
  scene_close(&s);
  return report.sweep_queries;
}

static void test_little_budgets_ask_less(void) {
  for (int k = 0; k < N_SCHEMES; k++) {
    char settings[2][64];
    snprintf(settings[0], sizeof settings[0], "%s budget=5", SCHEMES[k]);
    snprintf(settings[1], sizeof settings[1], "%s budget=inf", SCHEMES[k]);
    CU_ASSERT(fly_at_sheet(settings[0]) < fly_at_sheet(settings[1]));
  }
}

/* --- when ------------------------------------------------------------------ */

/* How far a box with these half sides, turned about z, reaches along x. */
static double reach_of(const double half[2], double angle) {
  return half[0] * fabs(cos(angle)) + half[1] * fabs(sin(angle));
}

/* A box that flies and spins hits a wall of 1 mm after a time that bisection
 * gives, and flies back by what it then has. */
static void check_time(const char *scheme, int number, bool spins) {
  test_random random = {3000 + (uint64_t)number};
  scene s;
  open_scene(&s, scheme, 0);
  double h = 0.01, speed = log_uniform(&random, 20, 1000);
  double spin = spins ? log_uniform(&random, 1, 90) : 0;
  double angle = test_uniform(&random, 0, 3);
  const double half[2] = {log_uniform(&random, 0.003, 0.03),
                          log_uniform(&random, 0.003, 0.03)};
  double wall = 5e-4, e = test_uniform(&random, 0, 1);
  s.surface.parameters.mode = dContactBounce;
  s.surface.parameters.bounce = e;
  add_wall(&s, WALL_BOX, 2 * wall);
  dBodyID body = dBodyCreate(s.world);
  dMass mass;
  dMassSetBox(&mass, 500, 2 * half[0], 2 * half[1], 0.1);
  dBodySetMass(body, &mass);
  dGeomSetBody(dCreateBox(s.space, 2 * half[0], 2 * half[1], 0.1), body);
  double hits = test_uniform(&random, 0.2, 0.9) * h;
  double start = -wall - reach_of(half, angle + spin * hits) - speed * hits;
  dBodySetPosition(body, start, 0, 0);
  dMatrix3 turned;
  dRFromAxisAndAngle(turned, 0, 0, 1, angle);
  dBodySetRotation(body, turned);
  dBodySetLinearVel(body, speed, 0, 0);
  dBodySetAngularVel(body, 0, 0, spin);
  /* it may touch earlier, with another corner */
  double low = 0;
  for (int i = 1; i <= 100000 && low == 0; i++) {
    double t = hits * i / 100000;
    if (start + speed * t + reach_of(half, angle + spin * t) > -wall)
      low = hits * (i - 1) / 100000;
  }
  double high = low > 0 ? low + hits / 100000 : hits;
  for (int i = 0; i < 60 && low > 0; i++) {
    double t = 0.5 * (low + high);
    bool in = start + speed * t + reach_of(half, angle + spin * t) > -wall;
    if (in)
      high = t;
    else
      low = t;
  }
  if (low > 0) hits = high;

  ode_mlcp_report report;
  ode_mlcp_event event;
  step(&s, h, &report);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_last_event(s.world, 0, &event), ODE_MLCP_OK);
  if (!(fabs(event.time - hits) < 1e-9))
    fprintf(stderr, "%s, time %d: %.12g, should be %.12g\n", scheme, number,
            event.time, hits);
  CU_ASSERT_DOUBLE_EQUAL(event.time, hits, 1e-9);
  ode_mlcp_event_contact contact;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_last_event_contact(s.world, 0, 0, &contact),
                        ODE_MLCP_OK);
  CU_ASSERT_PTR_EQUAL(contact.body[0], body);
  if (report.collisions == 1) { /* nothing has hit it again */
    double after = dBodyGetLinearVel(body)[0];
    double x = start + speed * hits + after * (h - hits);
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(body)[0], x, of_host(1e-6, 1));
  }
  scene_close(&s);
}

static void test_times_of_collisions(void) {
  for (int i = 0; i < count; i++) {
    check_time("scheme=trapezoid", i, true);
    /* its turns lag behind by their third order */
    check_time("scheme=conserving", i, false);
  }
}

/* Two balls of two sizes and speeds fly at a wall of 1 mm side by side, one late by
 * a share of the step.
 * @return the collisions of the step */
static int collisions_of_two(const char *scheme, int number, double late) {
  test_random random = {4000 + (uint64_t)number};
  scene s;
  open_scene(&s, scheme, 0);
  double h = log_uniform(&random, 0.001, 0.02), wall = 5e-4;
  double hits = test_uniform(&random, 0.2, 0.7) * h;
  double e = test_uniform(&random, 0.1, 1);
  s.surface.parameters.mode = dContactBounce;
  s.surface.parameters.bounce = e;
  add_wall(&s, WALL_BOX, 2 * wall);
  /* of a heavy body, by which the balls are of one island */
  dMass mass;
  dMassSetBoxTotal(&mass, 1e9, 1, 1, 1);
  dBodyID heavy = dBodyCreate(s.world);
  dBodySetMass(heavy, &mass);
  dGeomSetBody(dSpaceGetGeom(s.space, 0), heavy);
  dBodyID bodies[2];
  double speeds[2];
  for (int k = 0; k < 2; k++) {
    double radius = log_uniform(&random, 0.003, 0.03);
    speeds[k] = log_uniform(&random, 5, 50) * radius / h;
    dMassSetSphere(&mass, 500, radius);
    bodies[k] = dBodyCreate(s.world);
    dBodySetMass(bodies[k], &mass);
    dGeomSetBody(dCreateSphere(s.space, radius), bodies[k]);
    dBodySetPosition(bodies[k],
                     -wall - radius - speeds[k] * (hits + k * late * h),
                     0.1 * (2 * k - 1), 0);
    dBodySetLinearVel(bodies[k], speeds[k], 0, 0);
  }
  ode_mlcp_report report;
  step(&s, h, &report);
  for (int k = 0; k < 2; k++)
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(bodies[k])[0], -e * speeds[k],
                           1e-6 * speeds[k]);
  scene_close(&s);
  return report.collisions;
}

static void test_what_meets_together_is_one_event(void) {
  for (int i = 0; i < count; i++) {
    CU_ASSERT_EQUAL(collisions_of_two("scheme=trapezoid", i, 0), 1);
    CU_ASSERT_EQUAL(collisions_of_two("scheme=trapezoid", i, 0.05), 2);
  }
}

/* --- edges ------------------------------------------------------------------ */

/* A ball without friction flies level against the edge of a block, its centre
 * `over` radii above the top: its normal turns on the way, and one impact leaves it
 * the velocity along the edge's tangent plane.
 * @return the error as a share of the speed; 1 where impacts are counted and are not
 * one. */
static double meet_edge(const char *settings, double radius, double over,
                        double speed, double h) {
  scene s;
  open_scene(&s, settings, 0);
  dGeomID block = dCreateBox(s.space, 10 * radius, 10 * radius, 10 * radius);
  dGeomSetPosition(block, 0, 0, -5 * radius);
  dBodyID ball = dBodyCreate(s.world);
  dMass mass;
  dMassSetSphereTotal(&mass, radius, radius);
  dBodySetMass(ball, &mass);
  dGeomSetBody(dCreateSphere(s.space, radius), ball);
  double start = 8 * radius, out = sqrt(1 - over * over);
  dBodySetPosition(ball, start, 0, over * radius);
  dBodySetLinearVel(ball, -speed, 0, 0);
  int n = (int)((start - (5 + out) * radius) / (speed * h)) + 2, impacts = 0;
  for (int i = 0; i < n; i++) {
    ode_mlcp_report report;
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s.world, h, &report), ODE_MLCP_OK);
    impacts += report.impacts;
  }
  const dReal *v = dBodyGetLinearVel(ball);
  double error =
      hypot(v[0] + speed * (1 - out * out), v[2] - speed * out * over);
  scene_close(&s);
  bool counts = strcmp(settings, SCHEMES[ST]) != 0;
  return impacts == 1 || !counts ? error / speed : 1;
}

static void test_edges_are_met_at_any_speed(void) {
  const double radii[] = {0.01, 0.1, 3}, overs[] = {0.1, 0.5, 0.9};
  /* radii that the ball flies in a step */
  const double ways[] = {0.01, 0.1,  0.4,   0.49, 0.51, 0.7, 0.8,
                         0.9,  0.95, 0.975, 0.99, 1.01, 2.3, 10};
  /* known to fall short there: docs/trust.md */
  bool some = left_out_in_single("st, whose balls pass some edges");
  for (int k = some ? ST + 1 : ST; k < N_SCHEMES; k++)
    for (int r = 0; r < 3; r++)
      for (int o = 0; o < 3; o++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
          double h = r == 1 ? 0.002 : 0.01, speed = ways[w] * radii[r] / h;
          double error = meet_edge(SCHEMES[k], radii[r], overs[o], speed, h);
          double most = k == ST ? 0.05 : 0.002;
          CU_ASSERT(error <= most);
          if (!(error <= most))
            fprintf(stderr, "%s, radius %g, over %g, way %g: %g\n", SCHEMES[k],
                    radii[r], overs[o], ways[w], error);
        }
}

/* The same of a ball on an arm of so many radii that turns about the centre of its body,
 * which is at rest: level as it meets the edge. There the impulse P has the arm
 * tau = -out arm about the centre and leaves w = w0 / (1 + m tau^2 / I), P / m.
 * @return the error as a share of the speeds. */
static double meet_edge_on_arm(const char *settings, double radius, double over,
                               double arm, double way) {
  scene s;
  const double h = 0.01, speed = way * radius / h, out = sqrt(1 - over * over);
  const double R = arm * radius, spin = speed / R, turns = 2.4 * h * spin;
  open_scene(&s, settings, 0);
  dGeomID block = dCreateBox(s.space, 10 * radius, 10 * radius, 10 * radius);
  dGeomSetPosition(block, 0, 0, -5 * radius);
  dBodyID body = dBodyCreate(s.world);
  dMass mass;
  dMassSetSphereTotal(&mass, radius, R);
  dBodySetMass(body, &mass);
  dGeomID ball = dCreateSphere(s.space, radius);
  dGeomSetBody(ball, body);
  dBodySetPosition(body, (5 + out) * radius, 0, over * radius + R);
  dMatrix3 turned;
  dRFromAxisAndAngle(turned, 0, 1, 0, -turns);
  dBodySetRotation(body, turned);
  dGeomSetOffsetPosition(ball, 0, 0, -R);
  dBodySetAngularVel(body, 0, spin, 0);
  for (int i = 0; i < 4; i++) CU_ASSERT_EQUAL_FATAL(dWorldStep(s.world, h), 1);
  const double tau = out * R, inertia = mass.I[5];
  const double slower = 1 / (1 + mass.mass * tau * tau / inertia);
  const double v = out * speed * slower;
  const dReal *linear = dBodyGetLinearVel(body);
  double error = hypot(linear[0] - v * out, linear[2] - v * over);
  error += fabs(dBodyGetAngularVel(body)[1] - spin * slower) * R;
  scene_close(&s);
  return error / speed;
}

static void test_edges_are_met_on_arms(void) {
  if (left_out_in_single("st, whose balls pass some edges")) return;
  static const double radii[] = {0.01, 3}, overs[] = {0.1, 0.5, 0.9};
  static const double arms[] = {4, 30}, ways[] = {0.1, 0.4, 0.9};
  for (int r = 0; r < 2; r++)
    for (int o = 0; o < 3; o++)
      for (int a = 0; a < 2; a++)
        for (int w = 0; w < 3; w++) {
          double error = meet_edge_on_arm(SCHEMES[ST], radii[r], overs[o],
                                          arms[a], ways[w]);
          CU_ASSERT(error <= 0.02);
          if (!(error <= 0.02))
            fprintf(stderr, "radius %g, over %g, arm %g, way %g: %g\n",
                    radii[r], overs[o], arms[a], ways[w], error);
        }
}

int main(int n_arguments, char *arguments[]) {
  static const CU_TestInfo tests[] = {
      {"edges are met at any speed", test_edges_are_met_at_any_speed},
      {"edges are met on arms", test_edges_are_met_on_arms},
      {"bullets and rods meet walls", test_bullets_and_rods_meet_walls},
      {"what ends without events meets them",
       test_what_ends_without_events_meets_them},
      {"without sweeps they pass", test_without_sweeps_they_pass},
      {"two fast bodies meet", test_two_fast_bodies_meet},
      {"what is held is met", test_what_is_held_is_met},
      {"geoms off centre are swept", test_geoms_off_centre_are_swept},
      {"rods do not sweep past pegs", test_rods_do_not_sweep_past_pegs},
      {"programs with their own contacts",
       test_programs_with_their_own_contacts},
      {"what lands on springs sinks in", test_what_lands_on_springs_sinks_in},
      {"forces act as far as bodies go", test_forces_act_as_far_as_bodies_go},
      {"what is held gains no energy", test_what_is_held_gains_no_energy},
      {"a pile of meshes falls", test_a_pile_of_meshes_falls},
      {"what slides on a sheet is not held",
       test_what_slides_on_a_sheet_is_not_held},
      {"questions are of the budget", test_questions_are_of_the_budget},
      {"little budgets ask less", test_little_budgets_ask_less},
      {"times of collisions", test_times_of_collisions},
      {"what meets together is one event",
       test_what_meets_together_is_one_event},
      CU_TEST_INFO_NULL};
  if (n_arguments > 1) count = atoi(arguments[1]);
  dInitODE2(0);
  open_walls();
  int result = run_tests("schemes: nothing passes through anything", tests);
  dGeomTriMeshDataDestroy(sheet);
  dGeomHeightfieldDataDestroy(field);
  dCloseODE();
  return result;
}
