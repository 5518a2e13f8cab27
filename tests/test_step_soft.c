/* Soft contacts and joints carry their load: at rest where their spring says,
 * bouncing and asleep as on the stock stepper, under every scheme. */
#include <math.h>
#include <stdbool.h>

#include "step_testing.h"

static const double G = 9.81;

typedef enum softness {
  BY_SURFACE_CFM,
  BY_SURFACE_BOTH,
  BY_WORLD,
  BY_WORLD_AND_SURFACE_ERP,
  KINDS
} softness;

/* A body over z = 0 on contacts made by hand: no geometry limits how deep it
 * goes. */
typedef struct scene {
  dWorldID world;
  dJointGroupID contacts;
  dSurfaceParameters surface;
  dBodyID body, load; /* load: on top of the body, by a slider; or NULL */
  double step_size, mass;
  double erp, cfm;
  int n_contacts;
} scene;

enum { STOCK = -1 };

static void attach(dWorldID world, int scheme) {
  ode_mlcp_options options;
  if (scheme == STOCK) return;
  ode_mlcp_default_options(&options);
  options.scheme = scheme;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(world, &options), ODE_MLCP_OK);
}

static scene create_scene(int scheme, softness kind, double mass, double h,
                          double cfm, int n_contacts) {
  scene s = {.world = dWorldCreate(),
             .contacts = dJointGroupCreate(0),
             .surface = bare_surface(dContactApprox1, 0.5),
             .step_size = h,
             .mass = mass,
             .erp = kind == BY_SURFACE_BOTH || kind == BY_WORLD_AND_SURFACE_ERP
                        ? 0.3
                        : 0.2,
             .cfm = cfm,
             .n_contacts = n_contacts};
  dWorldSetGravity(s.world, 0, 0, -G);
  if (kind == BY_SURFACE_CFM || kind == BY_SURFACE_BOTH) {
    s.surface.mode |= dContactSoftCFM;
    s.surface.soft_cfm = cfm;
  } else {
    dWorldSetCFM(s.world, cfm);
  }
  if (s.erp != 0.2) {
    s.surface.mode |= dContactSoftERP;
    s.surface.soft_erp = s.erp;
  }
  attach(s.world, scheme);
  dMass box;
  s.body = dBodyCreate(s.world);
  dMassSetBoxTotal(&box, mass, 1, 1, 1);
  dBodySetMass(s.body, &box);
  return s;
}

static void destroy_scene(scene *s) {
  dJointGroupDestroy(s->contacts);
  dWorldDestroy(s->world);
}

/* How deep it is at rest under so much mass. */
static double compression(const scene *s, double mass) {
  return s->cfm * s->step_size * mass * G / s->n_contacts / s->erp;
}

static double depth_of(const scene *s) {
  return 0.5 - dBodyGetPosition(s->body)[2];
}

static void step(scene *s) {
  const dReal *x = dBodyGetPosition(s->body);
  double depth = depth_of(s);
  for (int i = 0; i < s->n_contacts && depth > 0; i++) {
    double dx = s->n_contacts == 1 ? 0 : i & 1 ? 0.5 : -0.5;
    double dy = s->n_contacts == 1 ? 0 : i & 2 ? 0.5 : -0.5;
    dContact contact =
        contact_at(&s->surface, x[0] + dx, x[1] + dy, -depth, depth);
    dJointAttach(dJointCreateContact(s->world, s->contacts, &contact), s->body,
                 0);
  }
  CU_ASSERT_EQUAL_FATAL(dWorldStep(s->world, s->step_size), 1);
  dJointGroupEmpty(s->contacts);
}

static const int SCHEMES[] = {ODE_MLCP_SCHEME_AH, ODE_MLCP_SCHEME_ST,
                              ODE_MLCP_SCHEME_GAP, ODE_MLCP_SCHEME_TRAPEZOID_1,
                              ODE_MLCP_SCHEME_TRAPEZOID};
enum { N_SCHEMES = sizeof SCHEMES / sizeof SCHEMES[0] };

/* Whether a scheme takes so soft a contact as a spring. Those of second order take
 * contacts as soft as the world for rigid where their bodies give way more. */
static bool is_spring(int scheme, softness kind, const scene *s) {
  return scheme == ODE_MLCP_SCHEME_AH || scheme == ODE_MLCP_SCHEME_ST ||
         kind == BY_SURFACE_CFM || kind == BY_SURFACE_BOTH ||
         s->cfm / s->step_size > (s->n_contacts == 1 ? 1 : 4) / s->mass;
}

/* Put where its spring carries it, a body stays there, however deep that is. */
static void test_static_compression_is_at_rest(void) {
  const double masses[] = {1, 30, 1000, 10000};
  const double steps[] = {0.0005, 0.01, 0.05}, cfms[] = {1e-5, 3e-4, 1e-2};
  for (int scheme = 0; scheme < N_SCHEMES; scheme++)
    for (int kind = 0; kind < KINDS; kind++)
      for (int m = 0; m < 4; m++)
        for (int h = 0; h < 3; h++)
          for (int c = 0; c < 3; c++)
            for (int n = 1; n <= 4; n += 3) {
              scene s = create_scene(SCHEMES[scheme], (softness)kind, masses[m],
                                     steps[h], cfms[c], n);
              double expected = compression(&s, masses[m]), worst = 0;
              if (!is_spring(SCHEMES[scheme], (softness)kind, &s) ||
                  expected > 1) { /* the body would stand on its head */
                destroy_scene(&s);
                continue;
              }
              dBodySetPosition(s.body, 0, 0, 0.5 - expected);
              for (int i = 0; i < 100; i++) {
                step(&s);
                worst = fmax(worst, fabs(depth_of(&s) - expected));
              }
              /* contacts that touch to 1e-9 m count as rigid ones do */
              CU_ASSERT(worst < 0.01 * expected + 2e-9);
              destroy_scene(&s);
            }
}

/* From touching, down to where the stock stepper comes to rest, and the answer of
 * statics. */
static void test_settles_as_on_stock(void) {
  const struct {
    double mass, step_size, cfm;
  } cases[] = {{1, 0.01, 0.01},
               {60, 0.01, 0.01},
               {60, 0.05, 0.01},
               {300, 0.02, 1e-3},
               {10000, 0.02, 1e-5}};
  for (int scheme = 0; scheme < N_SCHEMES; scheme++)
    for (int kind = 0; kind < KINDS; kind++)
      for (int i = 0; i < 5; i++) {
        scene ours =
            create_scene(SCHEMES[scheme], (softness)kind, cases[i].mass,
                         cases[i].step_size, cases[i].cfm, 4);
        scene stock = create_scene(STOCK, (softness)kind, cases[i].mass,
                                   cases[i].step_size, cases[i].cfm, 4);
        dBodySetPosition(ours.body, 0, 0, 0.5);
        dBodySetPosition(stock.body, 0, 0, 0.5);
        for (int k = 0; k < (int)(10 / cases[i].step_size); k++) {
          step(&ours);
          step(&stock);
        }
        double expected = compression(&ours, cases[i].mass);
        if (!is_spring(SCHEMES[scheme], (softness)kind, &ours)) expected = 0;
        CU_ASSERT_DOUBLE_EQUAL(depth_of(&ours), expected,
                               0.01 * expected + 1e-6);
        if (expected > 0)
          CU_ASSERT_DOUBLE_EQUAL(depth_of(&ours), depth_of(&stock),
                                 0.01 * expected);
        destroy_scene(&ours);
        destroy_scene(&stock);
      }
}

/* Light wheels under a heavy car: the row's own body says nothing of its load. */
static void test_light_body_carries_a_heavy_load(void) {
  for (int scheme = 0; scheme < N_SCHEMES; scheme++)
    for (int kind = 0; kind < KINDS; kind++) {
      scene s =
          create_scene(SCHEMES[scheme], (softness)kind, 20, 0.01, 3e-4, 4);
      dMass box;
      s.load = dBodyCreate(s.world);
      dMassSetBoxTotal(&box, 1200, 1, 1, 1);
      dBodySetMass(s.load, &box);
      double expected = compression(&s, 1220);
      dBodySetPosition(s.body, 0, 0, 0.5);
      dBodySetPosition(s.load, 0, 0, 1.5);
      dJointID joint = dJointCreateFixed(s.world, 0);
      dJointAttach(joint, s.body, s.load);
      dJointSetFixed(joint);
      for (int i = 0; i < 1500; i++) step(&s);
      if (!is_spring(SCHEMES[scheme], (softness)kind, &s)) expected = 0;
      CU_ASSERT_DOUBLE_EQUAL(depth_of(&s), expected, 0.01 * expected + 1e-6);
      destroy_scene(&s);
    }
}

/* Dropped on a spring: the same way as on the stock stepper, not only at the
 * end. */
static void test_bounces_as_on_stock(void) {
  const double masses[] = {5, 60, 2000};
  for (int m = 0; m < 3; m++)
    for (int kind = 0; kind < 2; kind++) {
      scene ours = create_scene(ODE_MLCP_SCHEME_AH, (softness)kind, masses[m],
                                0.01, 0.01, 1);
      scene stock =
          create_scene(STOCK, (softness)kind, masses[m], 0.01, 0.01, 1);
      double highest = 0, worst = 0, deepest = 0;
      dBodySetPosition(ours.body, 0, 0, 3.5);
      dBodySetPosition(stock.body, 0, 0, 3.5);
      for (int i = 0; i < 400; i++) {
        step(&ours);
        step(&stock);
        deepest = fmax(deepest, depth_of(&ours));
        if (deepest > 0.01) highest = fmax(highest, -depth_of(&ours));
        worst = fmax(worst, fabs(depth_of(&ours) - depth_of(&stock)));
      }
      CU_ASSERT(deepest > 0.05);
      if (masses[m] == 60) CU_ASSERT(highest > 0.05);
      CU_ASSERT(worst < 1e-6);
      destroy_scene(&ours);
      destroy_scene(&stock);
    }
}

/* The step at which it is first found asleep. */
static int asleep_at(int scheme, softness kind, double mass, double height) {
  scene s = create_scene(scheme, kind, mass, 0.02, 0.01, 4);
  dWorldSetAutoDisableFlag(s.world, 1);
  dBodySetAutoDisableFlag(s.body, 1);
  dBodySetPosition(s.body, 0, 0, 0.5 + height);
  int i = 0;
  for (; i < 3000 && dBodyIsEnabled(s.body); i++) step(&s);
  destroy_scene(&s);
  return i;
}

static void test_falls_asleep_with_stock(void) {
  const double masses[] = {0.5, 5, 60}, heights[] = {0, 0.3, 3};
  for (int kind = 0; kind < KINDS; kind++)
    for (int m = 0; m < 3; m++)
      for (int k = 0; k < 3; k++) {
        int stock = asleep_at(STOCK, (softness)kind, masses[m], heights[k]);
        CU_ASSERT(stock < 3000);
        CU_ASSERT(asleep_at(ODE_MLCP_SCHEME_AH, (softness)kind, masses[m],
                            heights[k]) <= 1.2 * stock);
        CU_ASSERT(asleep_at(ODE_MLCP_SCHEME_ST, (softness)kind, masses[m],
                            heights[k]) <= 1.2 * stock);
      }
}

/* A scheme that corrects nothing has no springs of CFM alone: the contact is
 * rigid, and does not let the body sink. */
static void test_velocity_level_does_not_sink(void) {
  scene s = create_scene(ODE_MLCP_SCHEME_AP, BY_SURFACE_CFM, 60, 0.01, 0.01, 4);
  dBodySetPosition(s.body, 0, 0, 0.5 - 1e-3);
  for (int i = 0; i < 300; i++) step(&s);
  CU_ASSERT_DOUBLE_EQUAL(depth_of(&s), 1e-3, 1e-6);
  destroy_scene(&s);
}

/* --- joints ---------------------------------------------------------------- */

/* How far a body hangs below its joint's anchor at rest. */
static double sag(int scheme, double mass, double h, double cfm, bool own) {
  dWorldID world = dWorldCreate();
  dWorldSetGravity(world, 0, 0, -G);
  attach(world, scheme);
  dMass box;
  dBodyID body = dBodyCreate(world);
  dMassSetBoxTotal(&box, mass, 1, 1, 1);
  dBodySetMass(body, &box);
  if (!own) dWorldSetCFM(world, cfm);
  dJointID joint = dJointCreateBall(world, 0);
  dJointAttach(joint, body, 0);
  dJointSetBallAnchor(joint, 0, 0, 0);
  if (own) {
    dJointSetBallParam(joint, dParamCFM, cfm);
    dJointSetBallParam(joint, dParamERP, 0.2);
  }
  for (int i = 0; i < 1000; i++) CU_ASSERT_EQUAL_FATAL(dWorldStep(world, h), 1);
  double z = -dBodyGetPosition(body)[2];
  dWorldDestroy(world);
  return z;
}

static void test_soft_joints_carry_their_load(void) {
  const double masses[] = {1, 100, 10000};
  for (int scheme = 0; scheme < N_SCHEMES; scheme++)
    for (int m = 0; m < 3; m++)
      for (int own = 0; own < 2; own++) {
        double cfm = 0.1 / masses[m], h = 0.01;
        double expected = cfm * h * masses[m] * G / 0.2;
        double z = sag(SCHEMES[scheme], masses[m], h, cfm, own);
        CU_ASSERT_DOUBLE_EQUAL(z, expected, 0.01 * expected);
      }
}

int main(void) {
  dInitODE2(0);
  const CU_TestInfo tests[] = {
      {"where its spring carries it a body is at rest",
       test_static_compression_is_at_rest},
      {"settles where stock does", test_settles_as_on_stock},
      {"light bodies carry heavy loads", test_light_body_carries_a_heavy_load},
      {"bounces as on stock", test_bounces_as_on_stock},
      {"falls asleep no later than on stock", test_falls_asleep_with_stock},
      {"without corrections nothing sinks", test_velocity_level_does_not_sink},
      {"soft joints carry their load", test_soft_joints_carry_their_load},
      CU_TEST_INFO_NULL};
  int failed = run_tests("soft contacts and joints", tests);
  dCloseODE();
  return failed;
}
