/* Second order where motions curve: mechanisms, friction in three dimensions,
 * impacts within steps. The error at the end is against the same scheme with
 * steps 1/64 as long as the longest; masses, sizes and poses vary. Contacts are those of
 * a collision function, or joints that a program makes once a step, whose geoms are
 * known. */
#include <stdbool.h>

#include "host_rounding.h"
#include "scheme_scene.h"

enum { LEVELS = 4, FINEST = 6, MOST = 6 };

typedef struct moving {
  scene s;
  bool runs;    /* friction along the last body is a fifth of that across */
  bool by_foot; /* friction differs from geom to geom */
  dJointGroupID told; /* NULL: a collision function finds the contacts */
  dGeomID ground;
  dTriMeshDataID mesh;
  dBodyID bodies[MOST];
  int n;
} moving;

typedef struct situation {
  const char *name;
  double time, gravity, mu, bounce;
  void (*build)(moving *m);
  int transitions, collisions; /* there are so many at the least */
} situation;

static dBodyID add_body(moving *m, double mass, const double sides[3],
                        const double at[3]) {
  dBodyID body = m->bodies[m->n++] = dBodyCreate(m->s.world);
  dMass box;
  dMassSetBoxTotal(&box, mass, sides[0], sides[1], sides[2]);
  dBodySetMass(body, &box);
  dBodySetPosition(body, at[0], at[1], at[2]);
  return body;
}

static void add_ground(moving *m) {
  m->ground = dCreatePlane(m->s.space, 0, 1, 0, 0);
}

/* --- mechanisms ----------------------------------------------------------- */

/* A universal joint from the world, a hinge, a ball joint, none along an axis. */
static void build_arm(moving *m) {
  static const double sides[3] = {0.1, 0.4, 0.2};
  for (int i = 0; i < 3; i++)
    add_body(m, 1 + 2 * i, sides, (double[3]){0.4 * i + 0.2, 0.1 * i, 0.05});
  dJointID universal = dJointCreateUniversal(m->s.world, 0);
  dJointAttach(universal, m->bodies[0], NULL);
  dJointSetUniversalAnchor(universal, 0, 0, 0);
  dJointSetUniversalAxis1(universal, 0, 0.6, 0.8);
  dJointSetUniversalAxis2(universal, 1, 0, 0);
  joint_hinge(m->s.world, m->bodies[0], m->bodies[1], 0.4, 0.05, 0, 0.3, 0.2,
              1);
  joint_ball(m->s.world, m->bodies[1], m->bodies[2], 0.8, 0.15, 0.1);
}

/* A slider on a hinge: the axis turns. */
static void build_turning_slider(moving *m) {
  static const double sides[3] = {0.5, 0.1, 0.1};
  add_body(m, 2, sides, (double[3]){0.25, 0, 0});
  add_body(m, 0.5, sides, (double[3]){0.6, 0.1, 0});
  joint_hinge(m->s.world, m->bodies[0], NULL, 0, 0, 0, 0.2, 0.1, 1);
  joint_slider(m->s.world, m->bodies[0], m->bodies[1], 1, 0.3, 0);
}

/* --- friction in three dimensions ------------------------------------------ */

/* Thrown with side spin: it slides along a parabola until it rolls. */
static void build_spun_ball(moving *m) {
  const double radius = 0.15;
  dBodyID body =
      add_body(m, 3, (double[3]){1, 1, 1}, (double[3]){0, radius, 0});
  dMass ball;
  dMassSetSphereTotal(&ball, 3, radius);
  dBodySetMass(body, &ball);
  dGeomSetBody(dCreateSphere(m->s.space, radius), body);
  dBodySetLinearVel(body, 1, 0, 0.4);
  dBodySetAngularVel(body, 6, 3, 8);
  add_ground(m);
}

/* On three feet: as it slides and turns, so does the friction of each foot. */
static void build_puck(moving *m) {
  static const double feet[3][2] = {{0.2, 0.03}, {-0.15, 0.14}, {-0.1, -0.2}};
  dBodyID body =
      add_body(m, 0.4, (double[3]){0.4, 0.1, 0.4}, (double[3]){0, 0.05, 0});
  for (int i = 0; i < 3; i++) {
    dGeomID foot = dCreateSphere(m->s.space, 0.02);
    dGeomSetBody(foot, body);
    dGeomSetOffsetPosition(foot, feet[i][0], -0.03, feet[i][1]);
  }
  dBodySetLinearVel(body, 0.5, 0, 0.3);
  dBodySetAngularVel(body, 0, 2, 0);
  add_ground(m);
}

/* Its centre of mass is beside its own: it rolls up and down. */
static void build_eccentric_ball(moving *m) {
  const double radius = 0.2, off = 0.05;
  dBodyID body = add_body(m, 1, (double[3]){0.3, 0.2, 0.3},
                          (double[3]){0, radius - off * cos(2.5), 0});
  dGeomID geom = dCreateSphere(m->s.space, radius);
  dGeomSetBody(geom, body);
  dGeomSetOffsetPosition(geom, off * sin(2.5), off * cos(2.5), 0);
  dBodySetAngularVel(body, 1, 2, 3);
  const double arm[3] = {off * sin(2.5), off * cos(2.5) - radius, 0};
  dBodySetLinearVel(body, -(2 * arm[2] - 3 * arm[1]),
                    -(3 * arm[0] - 1 * arm[2]), -(1 * arm[1] - 2 * arm[0]));
  add_ground(m);
}

/* A sled: as it turns, so do its runners. */
static void build_sled(moving *m) {
  build_puck(m);
  m->runs = true;
}

static void build_uneven_puck(moving *m) {
  build_puck(m);
  m->by_foot = true;
}

/* On a slope of two triangles, from one to the other. */
static void build_ball_on_mesh(moving *m) {
  static const float corners[4][3] = {
      {-4, 0.8F, -4}, {4, -0.8F, -4}, {4, -0.8F, 4}, {-4, 0.8F, 4}};
  static const dTriIndex triangles[6] = {0, 2, 1, 0, 3, 2};
  const double lean = atan(0.2);
  build_spun_ball(m);
  dBodySetPosition(m->bodies[0], 0.15 * sin(lean), 0.15 * cos(lean), 0.1);
  dBodySetLinearVel(m->bodies[0], cos(lean), -sin(lean), -0.6);
  m->mesh = dGeomTriMeshDataCreate();
  dGeomTriMeshDataBuildSingle(m->mesh, corners, sizeof corners[0], 4, triangles,
                              6, 3 * sizeof triangles[0]);
  dGeomDestroy(m->ground);
  dCreateTriMesh(m->s.space, m->mesh, NULL, NULL, NULL);
}

/* --- impacts ---------------------------------------------------------------- */

/* A tilted rod that turns as it falls, end after end. */
static void build_falling_rod(moving *m) {
  const double length = 0.6, radius = 0.05;
  dBodyID body = add_body(m, 1, (double[3]){1, 1, 1}, (double[3]){0, 0.7, 0});
  dMass rod;
  dMatrix3 rotation;
  dMassSetCapsuleTotal(&rod, 1, 3, radius, length);
  dBodySetMass(body, &rod);
  dRFromZAxis(rotation, 1, 0.5, 0.2);
  dBodySetRotation(body, rotation);
  dGeomSetBody(dCreateCapsule(m->s.space, radius, length), body);
  dBodySetLinearVel(body, 0.3, 0, -0.2);
  dBodySetAngularVel(body, 0.5, 1, 2);
  add_ground(m);
}

/* Two boxes on a skew hinge, of which one end strikes. */
static void build_jointed_fall(moving *m) {
  static const double sides[3] = {0.3, 0.1, 0.1};
  add_body(m, 1, sides, (double[3]){0, 0.5, 0});
  add_body(m, 3, sides, (double[3]){0.35, 0.6, 0});
  dGeomID foot = dCreateSphere(m->s.space, 0.08);
  dGeomSetBody(foot, m->bodies[0]);
  dGeomSetOffsetPosition(foot, -0.15, 0, 0);
  joint_hinge(m->s.world, m->bodies[0], m->bodies[1], 0.18, 0.55, 0, 0.2, 0.3,
              1);
  add_ground(m);
}

/* A box whose centre is beyond the edge of a block, that grips it. */
static void build_pivot(moving *m) {
  static const double sides[3] = {0.6, 0.2, 0.4}, at[3] = {0.05, 0.1, 0};
  dGeomID block = dCreateBox(m->s.space, 2, 2, 2);
  dGeomSetPosition(block, -1, -1, 0);
  dBodyID body = add_body(m, 3, sides, at);
  if (dBodyGetFirstGeom(body) == NULL)
    dGeomSetBody(dCreateBox(m->s.space, sides[0], sides[1], sides[2]), body);
}

static const situation SITUATIONS[] = {
    {"a box pivots on an edge that it grips", 0.16, 9.81, dInfinity, 0,
     build_pivot, 0, 0},
    /* heavier, its longer steps are conserving's under trapezoid, and closer */
    {"arm", 0.64, 1, 0, 0, build_arm, 0, 0},
    {"slider on a hinge", 0.64, 9.81, 0, 0, build_turning_slider, 0, 0},
    {"ball spun", 0.64, 9.81, 0.2, 0, build_spun_ball, 1, 0},
    {"puck", 0.64, 9.81, 0.1, 0, build_puck, 0, 0},
    {"puck on uneven feet", 0.64, 9.81, 0.1, 0, build_uneven_puck, 0, 0},
    {"sled", 0.64, 9.81, 0.3, 0, build_sled, 0, 0},
    {"eccentric ball", 0.64, 9.81, 2, 0, build_eccentric_ball, 0, 0},
    {"ball on a mesh", 0.64, 9.81, 0.2, 0, build_ball_on_mesh, 0, 0},
    {"falling rod", 0.64, 9.81, 0, 0.6, build_falling_rod, 0, 1},
    {"falling rod, friction", 0.64, 9.81, 0.3, 0.4, build_falling_rod, 0, 1},
    {"jointed fall", 0.32, 9.81, 0, 0.5, build_jointed_fall, 0, 1}};
enum { N_SITUATIONS = sizeof SITUATIONS / sizeof *SITUATIONS };

/* --- contacts ------------------------------------------------------------------ */

static int surface_of(void *context, dGeomID geom1, dGeomID geom2,
                      ode_mlcp_surface *surface) {
  moving *m = context;
  dSurfaceParameters *parameters = &surface->parameters;
  dBodyID body = m->bodies[m->n - 1];
  *surface = m->s.surface;
  if (m->runs) {
    parameters->mode |= dContactMu2 | dContactFDir1;
    parameters->mu2 = parameters->mu;
    parameters->mu /= 5;
    dBodyVectorToWorld(body, 1, 0, 0, surface->fdir1);
  }
  for (dGeomID foot = dBodyGetFirstGeom(body); foot != NULL && m->by_foot;
       foot = dBodyGetNextGeom(foot), parameters->mu *= 2)
    if (foot == geom1 || foot == geom2) break;
  return 1;
}

static int collide(void *context, dWorldID world, ode_mlcp_contact_list *list) {
  moving *m = context;
  (void)world;
  return ode_mlcp_collide_space(list, m->s.space, surface_of, m) == ODE_MLCP_OK;
}

static const double NEAR = 0.1; /* m: a program is told of what is so near */

static void tell(void *context, dGeomID one, dGeomID other) {
  enum { ROOM = 16 };
  moving *m = context;
  dContactGeom found[ROOM];
  dBodyID body[2] = {dGeomGetBody(one), dGeomGetBody(other)};
  ode_mlcp_surface surface;
  if (body[0] == body[1]) return;
  surface_of(m, one, other, &surface);
  int n = ode_mlcp_find_contacts(one, other, NEAR, found, ROOM, sizeof *found);
  for (int i = 0; i < n; i++) {
    dContact contact = {.surface = surface.parameters, .geom = found[i]};
    for (int k = 0; k < 3; k++) contact.fdir1[k] = surface.fdir1[k];
    dJointAttach(dJointCreateContact(m->s.world, m->told, &contact), body[0],
                 body[1]);
  }
}

static int is_there(void *context, dGeomID geom) {
  (void)context;
  (void)geom;
  return 1;
}

/* The place where the last body's corner ends up. */
static void run(const situation *of, const char *settings, bool told, int level,
                double end[3], ode_mlcp_report *sum) {
  moving m = {.told = told ? dJointGroupCreate(0) : NULL};
  open_scene(&m.s, settings, of->gravity);
  ode_mlcp_set_collision(m.s.world, told ? NULL : collide, &m);
  m.s.surface.parameters.mode = dContactApprox1;
  m.s.surface.parameters.mu = of->mu;
  if (of->bounce > 0) {
    m.s.surface.parameters.mode |= dContactBounce;
    m.s.surface.parameters.bounce = of->bounce;
  }
  of->build(&m);
  for (int i = 0; told && i < dSpaceGetNumGeoms(m.s.space); i++)
    dGeomSetAABBMargin(dSpaceGetGeom(m.s.space, i), NEAR);
  const double h = ldexp(0.01, -level);
  memset(sum, 0, sizeof *sum);
  for (int i = 0; i < (int)round(of->time / h); i++) {
    ode_mlcp_report report;
    if (told) dSpaceCollide(m.s.space, &m, tell);
    step(&m.s, h, &report);
    if (told) dJointGroupEmpty(m.told);
    sum->transitions += report.transitions;
    sum->collisions += report.collisions;
    sum->linearised |= report.linearised;
  }
  dVector3 corner;
  dBodyGetRelPointPos(m.bodies[m.n - 1], 0.1, 0.2, 0.3, corner);
  for (int i = 0; i < 3; i++) end[i] = corner[i];
  scene_close(&m.s);
  if (told) dJointGroupDestroy(m.told);
  if (m.mesh != NULL) dGeomTriMeshDataDestroy(m.mesh);
}

static const char ORDER[] =
    "the order, as places are rounded to a ten-millionth";

/* How many times less the error is for steps half as long, from one level to the
 * next on average. */
static void check_order(const situation *of, const char *settings, bool told,
                        bool rounded) {
  double exact[3], errors[LEVELS] = {0};
  ode_mlcp_report sum;
  run(of, settings, told, FINEST, exact, &sum);
  CU_ASSERT_EQUAL(sum.linearised, 0);
  CU_ASSERT(sum.transitions >= of->transitions);
  CU_ASSERT(sum.collisions >= of->collisions);
  for (int level = 0; level < LEVELS && !rounded; level++) {
    double end[3];
    run(of, settings, told, level, end, &sum);
    for (int i = 0; i < 3; i++)
      errors[level] = fmax(errors[level], fabs(end[i] - exact[i]));
  }
  if (rounded) return;
  double ratio = pow(errors[0] / errors[LEVELS - 1], 1.0 / (LEVELS - 1));
  if (!(ratio > 3.5 && ratio < 4.7))
    fprintf(stderr, "%s, %s, contacts %s: errors %.3g to %.3g, ratio %.2f\n",
            of->name, settings, told ? "told" : "found", errors[0],
            errors[LEVELS - 1], ratio);
  CU_ASSERT(ratio > 3.5 && ratio < 4.7);
}

static void check_all(const char *settings) {
  bool rounded = left_out_in_single(ORDER);
  for (int k = 0; k < N_SITUATIONS; k++)
    for (int told = 0; told < 2; told++)
      check_order(&SITUATIONS[k], settings, told, rounded);
}

static void test_trapezoid(void) { check_all("scheme=trapezoid"); }

static void test_conserving(void) { check_all("scheme=conserving"); }

/* A box that falls past the edge of another, a millimetre beside it: its nearest point is
 * told aslant, above the edge, and is beside it a step later. */
static void build_past(moving *m) {
  static const double sides[3] = {0.5, 0.5, 0.5};
  m->ground = dCreateBox(m->s.space, 1, 1, 1);
  dBodyID body = add_body(m, 1, sides, (double[3]){0.751, 0.804, 0.1});
  dGeomSetBody(dCreateBox(m->s.space, 0.5, 0.5, 0.5), body);
  dBodySetLinearVel(body, 0, -1, 0);
}

static void test_what_falls_past_an_edge_falls_on(void) {
  static const situation past = {"past an edge", 0.1, 9.81, 0.5, 0,
                                 build_past,     0,   0};
  static const char *const settings[] = {
      "scheme=trapezoid", "scheme=conserving", "scheme=trapezoid-1"};
  for (int i = 0; i < 3; i++) {
    double end[3];
    ode_mlcp_report sum;
    run(&past, settings[i], true, 0, end, &sum);
    CU_ASSERT_EQUAL(sum.collisions, 0);
    CU_ASSERT_DOUBLE_EQUAL(end[1], 1.004 - 0.1 - 9.81 * 0.1 * 0.1 / 2,
                           of_host(1e-9, 1));
  }
}

int main(void) {
  dInitODE2(0);
  ode_mlcp_watch_geoms(is_there, NULL);
  CU_TestInfo tests[] = {{"trapezoid", test_trapezoid},
                         {"conserving", test_conserving},
                         {"what falls past an edge falls on",
                          test_what_falls_past_an_edge_falls_on},
                         CU_TEST_INFO_NULL};
  int status = run_tests("schemes: order", tests);
  dCloseODE();
  return status;
}
