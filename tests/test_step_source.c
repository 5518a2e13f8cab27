/* A world's own contacts: before they touch, found again, gone after a step. */
#include <stdbool.h>
#include <stdlib.h>

#include "collision_scene.h"
#include "failing_memory.h"
#include "host_rounding.h"
#include "step_testing.h"
#include "stepper/process.h"

static dGeomID ground, other;

/* A ground plane z = 0. */
static void create(scene *s, const ode_mlcp_options *options) {
  scene_open(s, dHashSpaceCreate(0), options);
  dWorldSetGravity(s->world, 0, 0, -9.81);
  ground = dCreatePlane(s->space, 0, 0, 1, 0);
  other = NULL;
  s->surface.parameters.mode = dContactApprox1;
  s->surface.parameters.mu = 0.5;
}

static dBodyID add_box(scene *s, double x, double y, double z) {
  dBodyID body = create_box(s->world, s->space, 1000, 1, 1, 1);
  dBodySetPosition(body, x, y, z);
  return body;
}

/* At rest the four contacts carry the box's weight, upwards. */
static void test_contacts_of_a_step_can_be_asked_for(void) {
  scene s;
  create(&s, NULL);
  dBodyID box = add_box(&s, 0, 0, 0.5);
  ode_mlcp_contact contact;
  CU_ASSERT_EQUAL(ode_mlcp_last_contact(s.world, 0, &contact),
                  ODE_MLCP_BAD_ARGUMENT);
  for (int i = 0; i < 3; i++)
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s.world, 0.01, NULL), ODE_MLCP_OK);
  double weight = 0;
  int n = 0;
  while (ode_mlcp_last_contact(s.world, n, &contact) == ODE_MLCP_OK) {
    CU_ASSERT(contact.body[0] == box && contact.body[1] == NULL);
    CU_ASSERT(contact.feature[0] != 0);
    CU_ASSERT_DOUBLE_EQUAL(contact.geom.normal[2], 1, 1e-12);
    weight += contact.force[2];
    n++;
  }
  CU_ASSERT_EQUAL(n, 4);
  CU_ASSERT_DOUBLE_EQUAL(weight, 9810, 1e-5);
  CU_ASSERT_EQUAL(ode_mlcp_last_contact(s.world, -1, &contact),
                  ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_EQUAL(ode_mlcp_last_contact(NULL, 0, &contact),
                  ODE_MLCP_BAD_ARGUMENT);
  ode_mlcp_detach(s.world);
  CU_ASSERT_EQUAL(ode_mlcp_last_contact(s.world, 0, &contact),
                  ODE_MLCP_NOT_ATTACHED);
  scene_close(&s);
}

/* Rows of 4, 3, 2 and 1 boxes, from a little above: once they lie, each contact
 * is one of the step before, and they are not in one another. */
static void test_pile_keeps_its_contacts(void) {
  scene s;
  create(&s, NULL);
  for (int row = 0; row < 4; row++)
    for (int i = 0; i < 4 - row; i++)
      add_box(&s, 1.05 * (i + 0.5 * row), 0, 0.51 + 1.01 * row);
  for (int i = 0; i < 150; i++) {
    ode_mlcp_report report;
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s.world, 0.01, &report), ODE_MLCP_OK);
    CU_ASSERT_EQUAL(report.unsolved, 0);
    if (i < 50) continue;
    CU_ASSERT_EQUAL(report.contacts, 4 * 4 + 4 * 12);
    CU_ASSERT_EQUAL(report.contacts_new, 0);
    CU_ASSERT(report.deepest_penetration < 1e-10 ||
              isnan(report.deepest_penetration));
  }
  scene_close(&s);
}

/* --- a step that fails ------------------------------------------------------- */

static int refuse(void *context, dWorldID world, ode_mlcp_contact_list *list) {
  scene_collide(context, world, list);
  return 0;
}

/* The ways to fail: what is wrong, and what the message names. */
static void no_luck(scene *s) { ode_mlcp_set_collision(s->world, refuse, s); }
static void flat_polygon(scene *s) { s->surface.n_polygon = 2; }
static void bad_mu(scene *s) { s->surface.parameters.mu = NAN; }
static int give_ray(void *context, dWorldID world,
                    ode_mlcp_contact_list *list) {
  const scene *s = context;
  (void)world;
  ode_mlcp_add_pair(list, other, dSpaceGetGeom(s->space, 0), &s->surface);
  return 1;
}
static void no_gap(scene *s) {
  other = dCreateRay(0, 1);
  dGeomSetBody(other, dBodyCreate(s->world));
  ode_mlcp_set_collision(s->world, give_ray, s);
}
static void other_world(scene *s) {
  dWorldID world = dWorldCreate();
  dGeomSetBody(ground = dCreateSphere(s->space, 1), dBodyCreate(world));
}

static void test_failed_step_leaves_nothing(void) {
  static const struct {
    void (*spoil)(scene *s);
    const char *named;
  } ways[] = {{no_luck, "the collision function failed"},
              {flat_polygon, "polygon"},
              {bad_mu, "mu is nan"},
              {no_gap, "ray"},
              {other_world, "another world"}};
  listen_to_host("");
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
    scene s;
    create(&s, NULL);
    dBodyID box = add_box(&s, 0, 0, 0.5);
    CU_ASSERT(dWorldStep(s.world, 0.01));
    CU_ASSERT_EQUAL(dBodyGetNumJoints(box), 0);
    dWorldID world = s.world;
    ways[i].spoil(&s);

    uint64_t before = hash_bodies(&box, 1);
    ode_mlcp_report report;
    CU_ASSERT_EQUAL(ode_mlcp_step(world, 0.01, &report), ODE_MLCP_STEP_FAILED);
    CU_ASSERT_EQUAL(report.taken, 0);
    CU_ASSERT_EQUAL(hash_bodies(&box, 1), before);
    CU_ASSERT_EQUAL(dBodyGetNumJoints(box), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(last_heard, ways[i].named));
    dBodyID stranger = dGeomGetBody(ground);
    if (stranger != NULL) {
      dGeomDestroy(ground);
      dWorldDestroy(dBodyGetWorld(stranger));
    }
    if (other != NULL) dGeomDestroy(other);
    scene_close(&s);
  }
}

/* The k-th allocation fails, for each k: so does the step, and it leaves all as
 * it was; the next one is taken. */
/* A box that bounces on another and, where the scheme knows springs, hangs on it: the
 * allocation `first` of a step fails, alone or with all that follow.
 * @return whether the step got to it */
static bool memory_runs_out(const ode_mlcp_options *options,
                            failing_memory *memory, long first, bool alone,
                            uint64_t *undisturbed) {
  scene s;
  ode_mlcp_force *force;
  fail_no_allocation(memory);
  create(&s, options);
  s.surface.parameters.mode |= dContactBounce;
  s.surface.parameters.bounce = 0.5;
  const dBodyID boxes[2] = {add_box(&s, 0, 0, 0.5), add_box(&s, 0.3, 0, 1.501)};
  const ode_mlcp_spring spring = {.body = {boxes[0], boxes[1]},
                                  .stiffness = 10};
  dBodySetLinearVel(boxes[1], 0.2, 0, -2);
  if (options->scheme != ODE_MLCP_SCHEME_AH)
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_spring_create(s.world, &spring, &force),
                          ODE_MLCP_OK);
  uint64_t before = hash_bodies(boxes, 2);
  if (first >= 0)
    (alone ? fail_allocation : fail_allocations_from)(memory, first);
  int taken = dWorldStep(s.world, 0.02);
  bool failed = first >= 0 && an_allocation_failed(memory);
  fail_no_allocation(memory);
  if (!taken) {
    CU_ASSERT(failed);
    CU_ASSERT_EQUAL(hash_bodies(boxes, 2), before);
    CU_ASSERT_EQUAL(dBodyGetNumJoints(boxes[0]), 0);
    CU_ASSERT_EQUAL(dWorldStep(s.world, 0.02), 1);
  }
  if (first < 0)
    *undisturbed = hash_bodies(boxes, 2);
  else
    CU_ASSERT_EQUAL(hash_bodies(boxes, 2), *undisturbed);
  scene_close(&s);
  return failed;
}

static void test_memory_runs_out(void) {
  const ode_mlcp_scheme schemes[] = {
      ODE_MLCP_SCHEME_AH,        ODE_MLCP_SCHEME_ST,
      ODE_MLCP_SCHEME_GAP,       ODE_MLCP_SCHEME_TRAPEZOID_1,
      ODE_MLCP_SCHEME_TRAPEZOID, ODE_MLCP_SCHEME_CONSERVING};
  const memory_source *before = process()->memory;
  failing_memory memory = {0};
  const memory_source failing = failing_memory_source(&memory);
  process_set_memory(&failing);
  listen_to_host("");
  for (int k = 0; k < 12; k++) {
    ode_mlcp_options options;
    uint64_t undisturbed;
    ode_mlcp_default_options(&options);
    options.scheme = schemes[k / 2];
    if (options.scheme == ODE_MLCP_SCHEME_ST) options.fixed_point = 3;
    memory_runs_out(&options, &memory, -1, false, &undisturbed);
    long n = 0;
    while (n < 5000 &&
           memory_runs_out(&options, &memory, n, k % 2 == 0, &undisturbed))
      n++;
    CU_ASSERT(n > 20 && n < 5000);
  }
  CU_ASSERT_EQUAL(memory.bytes_held, 0);
  process_set_memory(before);
}

/* --- a program that makes its own contact joints --------------------------------- */

typedef struct own_joint {
  dContact contact;
  int mark;
} own_joint;

static void test_contacts_can_be_found(void) {
  scene s;
  create(&s, NULL);
  ode_mlcp_set_collision(s.world, NULL, NULL);
  dBodyID box = add_box(&s, 0, 0, 0.8);
  dGeomID geom = dBodyGetFirstGeom(box);
  dJointGroupID group = dJointGroupCreate(0);
  own_joint found[4];
  const double rest_depth = host_rest_depth(1e-5 * 9.81 * 0.01 * 0.01, 0.5);
  CU_ASSERT_EQUAL(
      ode_mlcp_find_contacts(geom, ground, 0.2, &found[0].contact.geom, 4,
                             sizeof found[0]),
      0);
  for (int i = 0; i < 60; i++) {
    int n = ode_mlcp_find_contacts(geom, ground, 0.5, &found[0].contact.geom, 4,
                                   sizeof found[0]);
    CU_ASSERT_EQUAL_FATAL(n, 4);
    for (int k = 0; k < n; k++) {
      found[k].contact.surface = s.surface.parameters;
      dJointAttach(dJointCreateContact(s.world, group, &found[k].contact), box,
                   NULL);
    }
    CU_ASSERT(dWorldStep(s.world, 0.01));
    dJointGroupEmpty(group);
    CU_ASSERT(dBodyGetPosition(box)[2] >
              0.5 - rest_depth - of_host(1e-10, 0.5));
  }
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(box)[2], 0.5 - rest_depth,
                         rest_depth);

  dContactGeom *none = NULL, one;
  dGeomID ray = dCreateRay(0, 1);
  CU_ASSERT_EQUAL(ode_mlcp_find_contacts(geom, ground, 1, none, 1, 999), -1);
  CU_ASSERT_EQUAL(ode_mlcp_find_contacts(geom, NULL, 1, &one, 1, 999), -1);
  CU_ASSERT_EQUAL(ode_mlcp_find_contacts(geom, ground, NAN, &one, 1, 999), -1);
  CU_ASSERT_EQUAL(ode_mlcp_find_contacts(geom, ground, 1, &one, 1, 8), -1);
  CU_ASSERT_EQUAL(ode_mlcp_find_contacts(geom, ray, 1, &one, 1, 999), -1);
  CU_ASSERT_EQUAL(ode_mlcp_find_contacts(geom, geom, 1, &one, 1, 999), 0);
  dGeomDestroy(ray);
  dJointGroupDestroy(group);
  scene_close(&s);
}

/* --- margins and directions ------------------------------------------------ */

typedef struct margins {
  dGeomID geoms[2];
  double alone, pair;
} margins;

static int tell_margins(void *context, dWorldID world,
                        ode_mlcp_contact_list *list) {
  margins *m = context;
  (void)world;
  m->alone = ode_mlcp_pair_margin(list, m->geoms[0], NULL);
  m->pair = ode_mlcp_pair_margin(list, m->geoms[0], m->geoms[1]);
  return 1;
}

/* How far bodies come in two steps: by their speed beside each other, by the turn of
 * the corners of their boxes, by gravity; and a micrometre. */
static void test_margins_are_two_steps(void) {
  const double h = 0.02, g = 10, radius = 0.5, corner = sqrt(3) * radius;
  scene s;
  create(&s, NULL);
  dWorldSetGravity(s.world, 0, 0, -g);
  margins m;
  dBodyID bodies[2];
  for (int i = 0; i < 2; i++) {
    bodies[i] = create_ball(s.world, 2, radius);
    m.geoms[i] = dCreateSphere(s.space, radius);
    dGeomSetBody(m.geoms[i], bodies[i]);
    dBodySetPosition(bodies[i], 10.0 * i, 0, 50);
  }
  ode_mlcp_set_collision(s.world, tell_margins, &m);
  dBodySetLinearVel(bodies[0], 3, 0, -4);
  dBodySetLinearVel(bodies[1], 3, 12, -4);
  CU_ASSERT_EQUAL(ode_mlcp_step(s.world, h, NULL), ODE_MLCP_OK);
  CU_ASSERT_DOUBLE_EQUAL(m.alone, 2 * h * (5 + g * h) + 1e-6,
                         of_host(1e-12, 2 * h * (5 + g * h)));
  CU_ASSERT_DOUBLE_EQUAL(m.pair, 2 * h * (12 + 2 * g * h) + 1e-6,
                         of_host(1e-12, 2 * h * (12 + 2 * g * h)));

  dBodySetLinearVel(bodies[0], 0, 0, 0);
  dBodySetAngularVel(bodies[0], 0, 3, 4);
  dBodySetGravityMode(bodies[0], 0);
  CU_ASSERT_EQUAL(ode_mlcp_step(s.world, h, NULL), ODE_MLCP_OK);
  CU_ASSERT_DOUBLE_EQUAL(m.alone, 2 * h * 5 * corner + 1e-6,
                         of_host(1e-9, 2 * h * 5 * corner));
  scene_close(&s);
}

/* A surface's direction need not lie in the plane: what of it does is the one that the
 * first coefficient is for. */
static void test_directions_lie_in_the_plane(void) {
  const double h = 0.01;
  for (int across = 0; across < 2; across++) {
    scene s;
    create(&s, NULL);
    s.surface.parameters.mode = dContactApprox1 | dContactMu2 | dContactFDir1;
    s.surface.parameters.mu = 0.25;
    s.surface.parameters.mu2 = 0;
    s.surface.fdir1[0] = 1;
    s.surface.fdir1[2] = 2;
    dBodyID box = add_box(&s, 0, 0, 0.5);
    dBodySetLinearVel(box, across ? 0 : 1, across ? 1 : 0, 0);
    CU_ASSERT_EQUAL(ode_mlcp_step(s.world, h, NULL), ODE_MLCP_OK);
    const dReal *v = dBodyGetLinearVel(box);
    CU_ASSERT_DOUBLE_EQUAL(v[0], across ? 0 : 1 - 0.25 * 9.81 * h,
                           of_host(1e-9, 1));
    CU_ASSERT_DOUBLE_EQUAL(v[1], across ? 1 : 0, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(v[2], 0, 1e-9);
    scene_close(&s);
  }
}

static int give_reversed(void *context, dWorldID world,
                         ode_mlcp_contact_list *list) {
  (void)world;
  dBodyID box = context;
  dSurfaceParameters surface = bare_surface(dContactApprox1, 0.5);
  dContact contact = contact_at(&surface, 0, 0, 0, 0.001);
  contact.geom.normal[2] = -1; /* into the world, which is told first */
  contact.geom.g1 = ground;
  contact.geom.g2 = dBodyGetFirstGeom(box);
  contact.geom.side1 = 3;
  contact.geom.side2 = 7;
  return ode_mlcp_add_contact(list, NULL, box, &contact) == ODE_MLCP_OK;
}

static void test_the_world_may_come_first(void) {
  scene s;
  create(&s, NULL);
  dBodyID box = add_box(&s, 0, 0, 0.5);
  ode_mlcp_set_collision(s.world, give_reversed, box);
  CU_ASSERT_EQUAL(ode_mlcp_step(s.world, 0.01, NULL), ODE_MLCP_OK);
  ode_mlcp_contact contact;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_last_contact(s.world, 0, &contact),
                        ODE_MLCP_OK);
  CU_ASSERT(contact.body[0] == box && contact.body[1] == NULL);
  CU_ASSERT_EQUAL(contact.geom.normal[2], 1);
  CU_ASSERT(contact.geom.g1 == dBodyGetFirstGeom(box));
  CU_ASSERT(contact.geom.g2 == ground);
  CU_ASSERT_EQUAL(contact.geom.side1, 7);
  CU_ASSERT_EQUAL(contact.geom.side2, 3);
  CU_ASSERT_EQUAL(contact.part[0], 7);
  CU_ASSERT_EQUAL(contact.part[1], 3);
  scene_close(&s);
}

/* --- sleepers ------------------------------------------------------------------- */

static void test_only_a_touch_wakes(void) {
  scene s;
  create(&s, NULL);
  dBodyID sleeper = add_box(&s, 0, 0, 0.5), passer = add_box(&s, -3, 0, 1.6);
  dBodyDisable(sleeper);
  dBodySetGravityMode(passer, 0);
  dBodySetLinearVel(passer, 20, 0, 0);
  for (int i = 0; i < 60; i++) {
    CU_ASSERT_FATAL(dWorldStep(s.world, 0.01));
    CU_ASSERT(!dBodyIsEnabled(sleeper));
  }
  dBodySetPosition(passer, 0, 0, 1.6);
  dBodySetLinearVel(passer, 0, 0, -1.9);
  int steps = 0;
  while (!dBodyIsEnabled(sleeper) && steps++ < 20) dWorldStep(s.world, 0.01);
  CU_ASSERT_EQUAL(steps, 6); /* 0.1 m at 1.9 m/s: in the sixth */
  CU_ASSERT(dBodyGetPosition(sleeper)[2] > 0.5 - 1e-9);
  CU_ASSERT(dBodyGetPosition(passer)[2] > 1.5 - 1e-9);
  scene_close(&s);
}

/* --- friction sets --------------------------------------------------------------- */

/* A slide loses what the polygon's vertex most against it takes. */
static void test_polygon_takes_most(void) {
  const double vertices[3][2] = {{0.6, -0.1}, {0.5, 0.3}, {-0.2, 0.4}};
  for (int k = 0; k < 24; k++) {
    scene s;
    create(&s, NULL);
    s.surface.parameters.mode |= dContactFDir1;
    s.surface.fdir1[1] = 1; /* along y; the other direction is z x y = -x */
    s.surface.n_polygon = 3;
    memcpy(s.surface.polygon, vertices, sizeof vertices);
    dBodyID ball = create_ball(s.world, 2, 0.5);
    dGeomSetBody(dCreateSphere(s.space, 0.5), ball);
    dMass mass; /* it does not turn */
    dMassSetParameters(&mass, 2, 0, 0, 0, 1e9, 1e9, 1e9, 0, 0, 0);
    dBodySetMass(ball, &mass);
    dBodySetPosition(ball, 0, 0, 0.5);
    double angle = 0.1 + k * M_PI / 12, h = 0.01;
    double slip[2] = {cos(angle), sin(angle)};
    dBodySetLinearVel(ball, -3 * slip[1], 3 * slip[0], 0);
    CU_ASSERT_FATAL(dWorldStep(s.world, h));
    double best = 0, lost[2] = {0, 0};
    for (int i = 0; i < 3; i++) {
      double along = vertices[i][0] * slip[0] + vertices[i][1] * slip[1];
      if (fabs(along) <= best) continue;
      best = fabs(along);
      for (int d = 0; d < 2; d++)
        lost[d] = copysign(9.81 * h, along) * vertices[i][d];
    }
    const dReal *v = dBodyGetLinearVel(ball);
    CU_ASSERT_DOUBLE_EQUAL(v[1], 3 * slip[0] - lost[0], 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(-v[0], 3 * slip[1] - lost[1], 1e-6);
    scene_close(&s);
  }
}

/* The same polygon whichever way round the pair is given. */
static int give_plane_first(void *context, dWorldID world,
                            ode_mlcp_contact_list *list) {
  const scene *s = context;
  (void)world;
  return ode_mlcp_add_pair(list, ground, other, &s->surface) == ODE_MLCP_OK;
}

static int give_ball_first(void *context, dWorldID world,
                           ode_mlcp_contact_list *list) {
  const scene *s = context;
  (void)world;
  return ode_mlcp_add_pair(list, other, ground, &s->surface) == ODE_MLCP_OK;
}

static void test_order_of_a_pair_is_no_matter(void) {
  ode_mlcp_collision *const functions[2] = {give_plane_first, give_ball_first};
  uint64_t hash[2];
  for (int k = 0; k < 2; k++) {
    scene s;
    create(&s, NULL);
    ode_mlcp_set_collision(s.world, functions[k], &s);
    s.surface.parameters.mode |= dContactFDir1;
    s.surface.fdir1[0] = 1;
    s.surface.n_polygon = 2;
    s.surface.polygon[0][0] = s.surface.polygon[1][1] = 0.3;
    s.surface.polygon[0][1] = -0.1;
    dBodyID ball = create_ball(s.world, 2, 0.5);
    other = dCreateSphere(s.space, 0.5);
    dGeomSetBody(other, ball);
    dBodySetPosition(ball, 0, 0, 0.52);
    dBodySetLinearVel(ball, 1, 0.4, -1);
    for (int i = 0; i < 40; i++) CU_ASSERT(dWorldStep(s.world, 0.01));
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(ball)[2], 0.5, 1e-10);
    hash[k] = hash_bodies(&ball, 1);
    scene_close(&s);
  }
  CU_ASSERT_EQUAL(hash[0], hash[1]);
}

/* --- spaces and shapes --------------------------------------------------------------- */

static void test_every_space_reports_what_is_near(void) {
  const dVector3 centre = {0, 0, 0}, extents = {50, 50, 50};
  for (int kind = 0; kind < 5; kind++) {
    scene s;
    create(&s, NULL);
    dSpaceDestroy(s.space);
    s.space = kind == 0   ? dSimpleSpaceCreate(0)
              : kind == 1 ? dHashSpaceCreate(0)
              : kind == 2 ? dSweepAndPruneSpaceCreate(0, dSAP_AXES_XYZ)
              : kind == 3 ? dQuadTreeSpaceCreate(0, centre, extents, 4)
                          : dHashSpaceCreate(0);
    dSpaceID inner = kind == 4 ? dSimpleSpaceCreate(s.space) : s.space;
    ground = dCreateBox(s.space, 10, 10, 1);
    dGeomSetPosition(ground, 0, 0, -0.5);
    dSpaceID outer = s.space;
    s.space = inner;
    dBodyID low = add_box(&s, 0.1, 0.2, 0.6), high = add_box(&s, 0.1, 0.2, 1.7);
    s.space = outer;
    for (int i = 0; i < 60; i++) CU_ASSERT(dWorldStep(s.world, 1.0 / 60));
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(low)[2], 0.5, 1e-10);
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(high)[2], 1.5, 1e-10);
    scene_close(&s);
  }
}

/* A column of balls, apart, runs into the ground without losses: the lowest comes
 * back in the step in which the next is still on its way, so that contacts close
 * by what others push. */
static double energy_after_a_column_hit(ode_mlcp_scheme scheme, double radius,
                                        double density, double h) {
  enum { N = 5 };
  scene s;
  ode_mlcp_options options = options_under(scheme);
  create(&s, &options);
  dWorldSetGravity(s.world, 0, 0, 0);
  s.surface.parameters.mode = dContactApprox1 | dContactBounce;
  s.surface.parameters.mu = 0;
  s.surface.parameters.bounce = 1;
  dBodyID balls[N];
  dMass mass;
  double before = 0, after = 0, z = 0;
  const double speed = 40 * radius;
  for (int i = 0; i < N; i++) {
    z += (2.05 + 0.03 * i) * radius;
    balls[i] = dBodyCreate(s.world);
    dMassSetSphere(&mass, density * (1 + (i * 7) % 3), radius);
    dBodySetMass(balls[i], &mass);
    dGeomSetBody(dCreateSphere(s.space, radius), balls[i]);
    dBodySetPosition(balls[i], 0, 0, z - radius);
    dBodySetLinearVel(balls[i], 0, 0, -speed);
    before += 0.5 * mass.mass * speed * speed;
  }
  for (int i = 0; i < 0.5 / h; i++)
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s.world, h, NULL), ODE_MLCP_OK);
  for (int i = 0; i < N; i++) {
    const dReal *v = dBodyGetLinearVel(balls[i]);
    dBodyGetMass(balls[i], &mass);
    CU_ASSERT(v[2] > 0); // all came back
    after += 0.5 * mass.mass * v[2] * v[2];
  }
  scene_close(&s);
  return after / before;
}

static void test_what_others_push_bounces(void) {
  static const ode_mlcp_scheme schemes[] = {
      ODE_MLCP_SCHEME_AP, ODE_MLCP_SCHEME_AH, ODE_MLCP_SCHEME_ST};
  static const double sizes[][3] = {// radius, density, h
                                    {0.02, 1e3, 1e-3},
                                    {0.1, 10, 2e-3},
                                    {1, 5e3, 5e-3}};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      CU_ASSERT_DOUBLE_EQUAL(
          energy_after_a_column_hit(schemes[i], sizes[k][0], sizes[k][1],
                                    sizes[k][2]),
          1, of_host(1e-9, 1 / (4 * sizes[k][2])));
}

/* The host's hash space ends a program where a geom is 2^31 cells away. */
static void test_far_bodies_are_refused_by_name(void) {
  static const double far[] = {1e10, -1e10, 1e12};
  listen_to_host("");
  for (int k = 0; k < 6; k++) {
    scene s;
    bool hashed = k < 3;
    scene_open(&s, hashed ? dHashSpaceCreate(0) : dSimpleSpaceCreate(0), NULL);
    dBodyID near = add_box(&s, 0, 0, 0.5), lost = add_box(&s, 3, 0, 0.5);
    char name[40];
    snprintf(name, sizeof name, "body %lu at", dBodyGetSerial(lost));
    last_heard[0] = '\0';
    dBodySetLinearVel(near, 1, 0, 0);
    dBodySetPosition(lost, far[k % 3], 0, 0.5);
    CU_ASSERT_EQUAL(dWorldStep(s.world, 0.01) != 0, !hashed);
    CU_ASSERT_EQUAL(strstr(last_heard, name) != NULL, hashed);
    CU_ASSERT_EQUAL(dBodyGetPosition(near)[0] > 0, !hashed);
    dBodySetPosition(lost, host_is_single() ? 1e7 : 1e9, 0, 0.5);
    CU_ASSERT(dWorldStep(s.world, 0.01));
    scene_close(&s);
  }
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"contacts of a step can be asked for",
       test_contacts_of_a_step_can_be_asked_for},
      {"a pile keeps its contacts", test_pile_keeps_its_contacts},
      {"a failed step leaves nothing", test_failed_step_leaves_nothing},
      {"memory runs out", test_memory_runs_out},
      {"contacts can be found", test_contacts_can_be_found},
      {"margins are two steps", test_margins_are_two_steps},
      {"directions lie in the plane", test_directions_lie_in_the_plane},
      {"the world may come first", test_the_world_may_come_first},
      {"only a touch wakes", test_only_a_touch_wakes},
      {"a polygon takes most", test_polygon_takes_most},
      {"the order of a pair is no matter", test_order_of_a_pair_is_no_matter},
      {"every space reports what is near",
       test_every_space_reports_what_is_near},
      {"what others push bounces", test_what_others_push_bounces},
      {"far bodies are refused by name", test_far_bodies_are_refused_by_name},
      CU_TEST_INFO_NULL};
  return run_host_tests("step source", tests);
}
