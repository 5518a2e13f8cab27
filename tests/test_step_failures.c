/* Bad input and failing memory: a step that cannot be taken changes nothing,
 * says why, and can be tried again; one that is taken leaves numbers. */
#include <SuiteSparse_config.h>
#include <stdbool.h>
#include <stdlib.h>

#include "../demos/scenes/scene.h"
#include "failing_memory.h"
#include "host_rounding.h"
#include "step_testing.h"
#include "stepper/process.h"

static const double H = 0.01;

/* --- what ODE is told ---------------------------------------------------- */

static bool told(const char *text) {
  if (strstr(last_heard, text) != NULL) return true;
  printf("\n    '%s' is not in '%s'\n", text, last_heard);
  return false;
}

/* --- memory that fails --------------------------------------------------- */

static failing_memory memory;

static void *failing_malloc(size_t size) {
  return next_allocation_fails(&memory) ? NULL : malloc(size);
}
static void *failing_calloc(size_t count, size_t size) {
  return next_allocation_fails(&memory) ? NULL : calloc(count, size);
}
static void *failing_realloc(void *block, size_t size) {
  return next_allocation_fails(&memory) ? NULL : realloc(block, size);
}
static void *host_allocate(dsizeint size) { return failing_malloc(size); }
static void *host_shrink(void *block, dsizeint size, dsizeint smaller) {
  (void)size;
  (void)smaller;
  return block;
}
static void host_free(void *block, dsizeint size) {
  (void)size;
  free(block);
}

static void use_failing_memory(bool use) {
  static memory_source source;
  CU_ASSERT_EQUAL(memory.bytes_held, 0);
  source = failing_memory_source(&memory);
  fail_no_allocation(&memory);
  process_set_memory(use ? &source : &memory_from_malloc);
#if SUITESPARSE_MAIN_VERSION >= 6
  SuiteSparse_config_malloc_func_set(use ? failing_malloc : malloc);
  SuiteSparse_config_calloc_func_set(use ? failing_calloc : calloc);
  SuiteSparse_config_realloc_func_set(use ? failing_realloc : realloc);
#else
  SuiteSparse_config.malloc_func = use ? failing_malloc : malloc;
  SuiteSparse_config.calloc_func = use ? failing_calloc : calloc;
  SuiteSparse_config.realloc_func = use ? failing_realloc : realloc;
#endif
}

/* A world with some of everything that a failed step might leave changed: a
 * pile, a powered hinge at its stop, forces, a body about to fall asleep, one
 * asleep that a ball is about to wake. */
typedef struct rig {
  scene *scene;
  dJointID hinge;
  dJointFeedback feedback;
} rig;

static rig *create_rig(ode_mlcp_solver solver) {
  rig *r = calloc(1, sizeof *r);
  scene *s = r->scene = scene_create();
  scene_add_floor(s);
  for (int i = 0; i < 3; i++)
    scene_add_box(s, 0.1 * i, 0, 0.5 + i, 1, 1, 1, 1000);
  dBodyID sleeper = scene_add_box(s, 5, 0, 0.25, 0.5, 0.5, 0.5, 1000);
  dBodySetAutoDisableFlag(sleeper, 1);
  dBodySetAutoDisableSteps(sleeper, 9);
  dBodySetAutoDisableAverageSamplesCount(sleeper, 3);
  dBodyID woken = scene_add_box(s, 10, 0, 0.25, 0.5, 0.5, 0.5, 1000);
  dBodyDisable(woken);
  dBodyID ball = scene_add_sphere(s, 10, 0, 0.62, 0.1, 1000);
  dBodySetLinearVel(ball, 0, 0, -0.5);

  dBodyID arm = scene_add_box(s, 15, 0, 3, 0.2, 0.2, 1, 1000);
  dBodyID hand = scene_add_box(s, 15, 0, 4, 0.2, 0.2, 1, 1000);
  r->hinge = joint_hinge(s->world, arm, hand, 15, 0, 3.5, 0, 1, 0);
  dJointSetHingeParam(r->hinge, dParamLoStop, -0.01);
  dJointSetHingeParam(r->hinge, dParamHiStop, 0.01);
  dJointSetHingeParam(r->hinge, dParamVel, 3);
  dJointSetHingeParam(r->hinge, dParamFMax, 200);
  dJointSetHingeParam(r->hinge, dParamFudgeFactor, 0.5);
  dJointSetFeedback(r->hinge, &r->feedback);

  dWorldStepMemoryFunctionsInfo functions = {sizeof functions, host_allocate,
                                             host_shrink, host_free};
  CU_ASSERT(dWorldSetStepMemoryManager(s->world, &functions));
  ode_mlcp_options options = default_options();
  options.solver = solver;
  CU_ASSERT_EQUAL(ode_mlcp_attach(s->world, &options), ODE_MLCP_OK);
  return r;
}

static void destroy_rig(rig *r) {
  scene_destroy(r->scene);
  free(r);
}

static int step_rig(rig *r) { return scene_step(r->scene, dWorldStep, H); }

static void push_rig(rig *r) {
  dBodyAddForce(r->scene->bodies[0], 30, 20, 10);
  dBodyAddTorque(r->scene->bodies[1], 1, 2, 3);
}

static uint64_t hash_rig(const rig *r) {
  hash of = hash_of_bodies(r->scene->bodies, r->scene->n_bodies);
  hash_bytes(&of, &r->feedback, sizeof r->feedback);
  return of.value;
}

/* From a rig a few steps old: with no memory of its own (`fresh`), or with
 * that of the steps before and many bodies more than in these. */
static rig *prepare_rig(ode_mlcp_solver solver, bool fresh) {
  rig *r = create_rig(solver);
  for (int i = 0; i < 4; i++) CU_ASSERT_EQUAL_FATAL(step_rig(r), 1);
  if (fresh) {
    ode_mlcp_options options = default_options();
    options.solver = solver;
    ode_mlcp_detach(r->scene->world);
    ode_mlcp_attach(r->scene->world, &options);
  } else {
    for (int i = 0; i < 4; i++)
      scene_add_box(r->scene, 0.1 * i, 0, 3.499 + 0.999 * i, 1, 1, 1, 1000);
  }
  push_rig(r);
  scene_collide(r->scene);
  return r;
}

enum { STEPS_AFTER = 12 };

static void run_on(rig *r, uint64_t hashes[STEPS_AFTER]) {
  CU_ASSERT_EQUAL_FATAL(dWorldStep(r->scene->world, H), 1);
  hashes[0] = hash_rig(r);
  for (int i = 1; i < STEPS_AFTER; i++) {
    CU_ASSERT_EQUAL_FATAL(step_rig(r), 1);
    hashes[i] = hash_rig(r);
  }
}

/* Let an allocation of a step fail, alone or with all that follow. @return
 * whether the step got to it. */
static bool fail_step(ode_mlcp_solver solver, bool fresh, long first,
                      bool all_that_follow,
                      const uint64_t undisturbed[STEPS_AFTER]) {
  rig *r = prepare_rig(solver, fresh);
  uint64_t before = hash_rig(r), after[STEPS_AFTER];
  if (all_that_follow)
    fail_allocations_from(&memory, first);
  else
    fail_allocation(&memory, first);
  int taken = dWorldStep(r->scene->world, H);
  bool failed = an_allocation_failed(&memory);
  fail_no_allocation(&memory);
  if (taken) {
    /* no memory was asked for that was needed: to shrink a block, say */
    CU_ASSERT_EQUAL(hash_rig(r), undisturbed[0]);
    destroy_rig(r);
    return failed;
  }
  CU_ASSERT_EQUAL(hash_rig(r), before);
  CU_ASSERT(told("memory ran out"));
  CU_ASSERT(told("nothing was changed"));
  ode_mlcp_report report;
  CU_ASSERT_EQUAL(ode_mlcp_last_report(r->scene->world, &report), ODE_MLCP_OK);
  CU_ASSERT_EQUAL(report.taken, 0);

  /* tried again, all goes as if nothing had been */
  run_on(r, after);
  CU_ASSERT_EQUAL(memcmp(after, undisturbed, sizeof after), 0);
  destroy_rig(r);
  return failed;
}

/* Every `stride`-th allocation alone, and with all that follow: in turns, in a short
 * test. */
static void fail_each_allocation(ode_mlcp_solver solver, bool fresh,
                                 long stride) {
  uint64_t undisturbed[STEPS_AFTER];
  use_failing_memory(true);
  listen_to_host("");
  rig *r = prepare_rig(solver, fresh);
  run_on(r, undisturbed);
  CU_ASSERT_FALSE(dBodyIsEnabled(r->scene->bodies[3])); /* fell asleep */
  CU_ASSERT(dBodyIsEnabled(r->scene->bodies[4]));       /* was woken */
  destroy_rig(r);

  long n = 0;
  const long by = test_is_short() ? 2 * stride : stride;
  while (n < 5000 && fail_step(solver, fresh, n, false, undisturbed)) n += by;
  CU_ASSERT(n >= 20 && n < 5000);
  for (long i = by - stride; i < n; i += by)
    fail_step(solver, fresh, i, true, undisturbed);
  use_failing_memory(false);
}

static void test_memory_fails_in_a_first_step(void) {
  fail_each_allocation(ODE_MLCP_SOLVER_FAST, true, 1);
}

static void test_memory_fails_in_a_growing_step(void) {
  fail_each_allocation(ODE_MLCP_SOLVER_FAST, false, 1);
}

static void test_memory_fails_in_lemke(void) {
  fail_each_allocation(ODE_MLCP_SOLVER_LEMKE, true, 1);
  fail_each_allocation(ODE_MLCP_SOLVER_LEMKE, false, 97);
}

static void test_memory_fails_at_attachment(void) {
  use_failing_memory(true);
  dWorldID world = dWorldCreate();
  fail_allocation(&memory, 0);
  CU_ASSERT_EQUAL(ode_mlcp_attach(world, NULL), ODE_MLCP_NO_MEMORY);
  CU_ASSERT_EQUAL(ode_mlcp_step(world, H, NULL), ODE_MLCP_NOT_ATTACHED);
  CU_ASSERT_EQUAL(dWorldStep(world, H), 1); /* stock */
  CU_ASSERT_EQUAL(ode_mlcp_attach(world, NULL), ODE_MLCP_OK);

  /* a new world that cannot be attached says so */
  ode_mlcp_options options = default_options();
  ode_mlcp_attach_new_worlds(&options);
  listen_to_host("");
  fail_allocation(&memory, 0);
  dWorldID stock = dWorldCreate();
  CU_ASSERT(told("memory ran out"));
  CU_ASSERT_EQUAL(ode_mlcp_step(stock, H, NULL), ODE_MLCP_NOT_ATTACHED);
  ode_mlcp_attach_new_worlds(NULL);
  dWorldDestroy(stock);
  dWorldDestroy(world);
  use_failing_memory(false);
}

/* --- bad numbers --------------------------------------------------------- */

/* A ball on a surface and a second that only falls. */
typedef struct pair {
  dWorldID world;
  dBodyID bodies[2];
} pair;

static pair create_pair(const dContact *contact) {
  pair p = {.world = create_world(9.81, NULL)};
  for (int i = 0; i < 2; i++) {
    p.bodies[i] = create_ball(p.world, 1, 0.5);
    dBodySetLinearVel(p.bodies[i], 1, 2, -1);
  }
  dBodySetPosition(p.bodies[1], 9, 9, 9);
  dBodyAddForce(p.bodies[1], 1, 2, 3);
  if (contact != NULL)
    dJointAttach(dJointCreateContact(p.world, 0, contact), p.bodies[0], 0);
  return p;
}

/* A step fails, names `text` and changes nothing. */
static void expect_refusal(const pair *p, const char *text) {
  listen_to_host("");
  uint64_t before = hash_bodies(p->bodies, 2);
  ode_mlcp_report report;
  CU_ASSERT_EQUAL(ode_mlcp_step(p->world, H, &report), ODE_MLCP_STEP_FAILED);
  CU_ASSERT_EQUAL(report.taken, 0);
  CU_ASSERT_EQUAL(hash_bodies(p->bodies, 2), before);
  CU_ASSERT_EQUAL(n_heard, 1);
  CU_ASSERT(told(text));
}

static void expect_step(const pair *p) {
  ode_mlcp_report report;
  CU_ASSERT_EQUAL(ode_mlcp_step(p->world, H, &report), ODE_MLCP_OK);
  CU_ASSERT_EQUAL(report.unsolved, 0);
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 3; k++) {
      CU_ASSERT(isfinite(dBodyGetLinearVel(p->bodies[i])[k]));
      CU_ASSERT(isfinite(dBodyGetPosition(p->bodies[i])[k]));
    }
}

static void no_velocity(pair *p) { dBodySetLinearVel(p->bodies[0], 0, NAN, 0); }
static void endless_velocity(pair *p) {
  dBodySetLinearVel(p->bodies[0], 0, 0, -INFINITY);
}
static void no_spin(pair *p) { dBodySetAngularVel(p->bodies[1], NAN, 0, 0); }
static void no_force(pair *p) { dBodySetForce(p->bodies[1], 0, 0, NAN); }
static void endless_torque(pair *p) {
  dBodySetTorque(p->bodies[1], INFINITY, 0, 0);
}
static void no_place(pair *p) { dBodySetPosition(p->bodies[0], NAN, 0, 0); }
static void no_gravity(pair *p) { dWorldSetGravity(p->world, 0, NAN, 0); }

static void heal(pair *p) {
  dWorldSetGravity(p->world, 0, 0, 0);
  for (int i = 0; i < 2; i++) {
    dBodySetPosition(p->bodies[i], 0, 0, 0);
    dBodySetLinearVel(p->bodies[i], 0, 0, 0);
    dBodySetAngularVel(p->bodies[i], 0, 0, 0);
    dBodySetForce(p->bodies[i], 0, 0, 0);
    dBodySetTorque(p->bodies[i], 0, 0, 0);
  }
}

static void fast_spin(pair *p) {
  dBodySetAngularVel(p->bodies[1], 0, host_large(1e156), 0);
}
static void fast_fall(pair *p) { dBodySetLinearVel(p->bodies[0], 0, 0, -2e11); }
static void huge_force(pair *p) {
  dBodySetForce(p->bodies[1], 0, -host_large(1e308), 0);
}
static void huge_torque(pair *p) {
  dBodySetTorque(p->bodies[1], host_large(1e300), 0, 0);
}
static void large_torque(pair *p) { dBodySetTorque(p->bodies[1], 1e20, 0, 0); }
static void far_away(pair *p) { dBodySetPosition(p->bodies[1], 0, 2e15, 0); }
static void fast_kinematic(pair *p) {
  dBodySetKinematic(p->bodies[1]);
  dBodySetAngularVel(p->bodies[1], 0, 0, host_large(1e200));
}

/* Values that the host could not take, under every scheme, with and without contacts. */
static void test_motions_out_of_bounds_are_refused(void) {
  static const struct {
    void (*spoil)(pair *);
    const char *text;
  } CASES[] = {
      {fast_spin, "body 2 would turn"},
      {fast_fall, "body 1 would move by 2e+09 m"},
      {huge_force, "body 2 would"},
      {huge_torque, "body 2 would"},
      {large_torque, "body 2 would turn"},
      {far_away, "body 2 would be 2e+15 m from the origin"},
      {fast_kinematic, "body 2 would turn"},
  };
  const int schemes[] = {ODE_MLCP_SCHEME_AP,          ODE_MLCP_SCHEME_AH,
                         ODE_MLCP_SCHEME_ST,          ODE_MLCP_SCHEME_GAP,
                         ODE_MLCP_SCHEME_TRAPEZOID_1, ODE_MLCP_SCHEME_TRAPEZOID,
                         ODE_MLCP_SCHEME_CONSERVING};
  for (size_t s = 0; s < sizeof schemes / sizeof schemes[0]; s++)
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
      pair p = create_pair(NULL);
      ode_mlcp_options options = options_under(schemes[s]);
      CU_ASSERT_EQUAL(ode_mlcp_attach(p.world, &options), ODE_MLCP_OK);
      CASES[i].spoil(&p);
      expect_refusal(&p, CASES[i].text);
      heal(&p);
      expect_step(&p);
      dWorldDestroy(p.world);
    }
  /* fast, but not too fast */
  pair p = create_pair(NULL);
  dBodySetAngularVel(p.bodies[1], 0, 0, 1e10);
  dBodySetLinearVel(p.bodies[0], 1e10, 0, 0);
  expect_step(&p);
  dWorldDestroy(p.world);
}

static void test_bad_bodies_are_named(void) {
  static const struct {
    void (*spoil)(pair *);
    const char *text;
  } CASES[] = {
      {no_velocity, "body 1: linear velocity is nan"},
      {endless_velocity, "body 1: linear velocity is -inf"},
      {no_spin, "body 2: angular velocity is nan"},
      {no_force, "body 2: force is nan"},
      {endless_torque, "body 2: torque is inf"},
      {no_place, "body 1: position is nan"},
      {no_gravity, "gravity is nan"},
  };
  for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
    pair p = create_pair(NULL);
    CASES[i].spoil(&p);
    expect_refusal(&p, CASES[i].text);
    heal(&p);
    expect_step(&p);
    dWorldDestroy(p.world);
  }
}

static void test_bad_worlds_are_named(void) {
  static const struct {
    double erp, cfm;
    const char *text;
  } CASES[] = {{NAN, 1e-10, "the world's ERP is nan"},
               {INFINITY, 1e-10, "the world's ERP is inf"},
               {0.2, NAN, "the world's CFM is nan"},
               {0.2, INFINITY, "the world's CFM is inf"},
               {0.2, -1, "the world's CFM is -1"}};
  for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
    dSurfaceParameters surface = bare_surface(0, 0.5);
    dContact contact = contact_at(&surface, 0, 0, -0.5, 0.01);
    pair p = create_pair(&contact);
    dWorldSetERP(p.world, CASES[i].erp);
    dWorldSetCFM(p.world, CASES[i].cfm);
    expect_refusal(&p, CASES[i].text);
    dWorldSetERP(p.world, 0.2);
    dWorldSetCFM(p.world, 1e-10);
    expect_step(&p);
    dWorldDestroy(p.world);
  }
}

/* Every field in use, and where an infinite or a negative one has a meaning. */
static void test_bad_surfaces_are_named(void) {
  static const struct {
    int mode;
    size_t field;
    const char *name;
    bool may_be_infinite, may_be_negative;
  } FIELDS[] = {
#define FIELD(mode, name, infinite, negative)                                  \
  {mode, offsetof(dSurfaceParameters, name), #name, infinite, negative}
      FIELD(0, mu, true, true),
      FIELD(dContactApprox1, mu, true, true),
      FIELD(dContactMu2, mu2, true, true),
      FIELD(dContactBounce, bounce, false, true),
      FIELD(dContactBounce, bounce_vel, true, true),
      FIELD(dContactSoftERP, soft_erp, false, true),
      FIELD(dContactSoftCFM, soft_cfm, false, false),
      FIELD(dContactMotion1, motion1, false, true),
      FIELD(dContactMotion2, motion2, false, true),
      FIELD(dContactMotionN, motionN, false, true),
      FIELD(dContactSlip1, slip1, false, false),
      FIELD(dContactSlip2, slip2, false, false),
      FIELD(dContactRolling, rho, true, true),
      FIELD(dContactRolling | dContactAxisDep, rho2, true, true),
      FIELD(dContactRolling | dContactAxisDep, rhoN, true, true),
#undef FIELD
  };
  const dReal values[] = {NAN, INFINITY, -1};
  for (size_t f = 0; f < sizeof FIELDS / sizeof FIELDS[0]; f++)
    for (int v = 0; v < 3; v++) {
      dSurfaceParameters surface = bare_surface(FIELDS[f].mode, 0.5);
      surface.mu2 = surface.rho = surface.rho2 = surface.rhoN = 0.1;
      surface.bounce = surface.bounce_vel = 0.1;
      memcpy((char *)&surface + FIELDS[f].field, &values[v], sizeof(dReal));
      dContact contact = contact_at(&surface, 0, 0, -0.5, 0.01);
      pair p = create_pair(&contact);
      bool allowed = v == 1   ? FIELDS[f].may_be_infinite
                     : v == 2 ? FIELDS[f].may_be_negative
                              : false;
      char text[40];
      snprintf(text, sizeof text, "%s is %g", FIELDS[f].name, values[v]);
      if (allowed)
        expect_step(&p);
      else
        expect_refusal(&p, text);
      dWorldDestroy(p.world);
    }
}

/* What a program may have been compiled for is not taken for something else. */
static void test_unknown_modes_are_named(void) {
  static const struct {
    int mode;
    const char *text;
  } MODES[] = {{0x800, "unknown mode dContactInelastic is 2048"},
               {0x800 | dContactBounce | dContactApprox1,
                "unknown mode dContactInelastic is 2048"},
               {0x8000 | dContactMu2, "unknown mode is 32768"},
               {0x10000, "unknown mode is 65536"}};
  for (size_t m = 0; m < sizeof MODES / sizeof MODES[0]; m++) {
    dSurfaceParameters surface = bare_surface(MODES[m].mode, 0.5);
    surface.mu2 = surface.bounce = surface.bounce_vel = 0.1;
    dContact contact = contact_at(&surface, 0, 0, -0.5, 0.01);
    pair p = create_pair(&contact);
    expect_refusal(&p, MODES[m].text);
    dWorldDestroy(p.world);
  }
  dSurfaceParameters surface =
      bare_surface(dContactMu2 | dContactFDir1 | dContactBounce |
                       dContactSoftERP | dContactSoftCFM | dContactMotion1 |
                       dContactMotion2 | dContactMotionN | dContactSlip1 |
                       dContactSlip2 | dContactRolling | dContactApprox1,
                   0.5);
  surface.mu2 = surface.rho = surface.rho2 = surface.rhoN = 0.1;
  surface.bounce = surface.bounce_vel = surface.soft_erp = 0.1;
  surface.soft_cfm = surface.slip1 = surface.slip2 = 1e-3;
  surface.motion1 = surface.motion2 = surface.motionN = 0.1;
  dContact contact = contact_at(&surface, 0, 0, -0.5, 0.01);
  contact.fdir1[0] = 1;
  contact.fdir1[1] = contact.fdir1[2] = 0;
  pair p = create_pair(&contact);
  expect_step(&p);
  dWorldDestroy(p.world);
}

static void test_bad_geometry_is_named(void) {
  dSurfaceParameters surface = bare_surface(dContactApprox1, 0.5);
  dContact contact = contact_at(&surface, 0, 0, -0.5, NAN);
  pair p = create_pair(&contact);
  expect_refusal(&p, "depth is nan");
  dWorldDestroy(p.world);

  contact.geom.depth = 0.01;
  contact.geom.pos[1] = INFINITY;
  p = create_pair(&contact);
  expect_refusal(&p, "pos is inf");
  dWorldDestroy(p.world);

  surface.mode |= dContactFDir1;
  contact = contact_at(&surface, 0, 0, -0.5, 0.01);
  p = create_pair(&contact); /* its fdir1 is NaN */
  expect_refusal(&p, "fdir1 is nan");
  dWorldDestroy(p.world);
}

static void test_a_contact_without_normal_is_left_out(void) {
  const double normals[] = {0, 1e-12, NAN, INFINITY};
  dSurfaceParameters surface = bare_surface(dContactApprox1, 0.5);
  for (int i = 0; i < 4; i++) {
    dContact contact = contact_at(&surface, 0, 0, -0.5, 0.01);
    contact.geom.normal[2] = normals[i];
    pair p = create_pair(&contact);
    listen_to_host("");
    ode_mlcp_report report;
    CU_ASSERT_EQUAL(ode_mlcp_step(p.world, H, &report), ODE_MLCP_OK);
    CU_ASSERT_EQUAL(report.contacts_dropped, 1);
    CU_ASSERT_EQUAL(report.contacts, 0);
    CU_ASSERT(told("bodies 1 and 0 has no normal"));
    /* it falls on */
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(p.bodies[0])[2], -1 - 9.81 * H,
                           of_host(1e-12, 1));
    dWorldDestroy(p.world);
  }
}

static void test_bad_step_sizes(void) {
  const double sizes[] = {0, -0.01, NAN, INFINITY, -INFINITY};
  pair p = create_pair(NULL);
  uint64_t before = hash_bodies(p.bodies, 2);
  ode_mlcp_report report;
  for (int i = 0; i < 5; i++)
    CU_ASSERT_EQUAL(ode_mlcp_step(p.world, sizes[i], &report),
                    ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_EQUAL(ode_mlcp_step(NULL, H, NULL), ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_EQUAL(hash_bodies(p.bodies, 2), before);
  CU_ASSERT_EQUAL(ode_mlcp_last_report(p.world, &report), ODE_MLCP_OK);
  CU_ASSERT_EQUAL(report.step, 0);
  expect_step(&p);
  dWorldDestroy(p.world);
}

static void test_bad_joint_is_named(void) {
  pair p = create_pair(NULL);
  dJointID hinge = dJointCreateHinge(p.world, 0);
  dJointAttach(hinge, p.bodies[0], p.bodies[1]);
  dJointSetHingeParam(hinge, dParamVel, NAN);
  dJointSetHingeParam(hinge, dParamFMax, 1);
  expect_refusal(&p, "of bodies 1 and 2: a target velocity or a position");
  dJointSetHingeParam(hinge, dParamVel, 0);
  expect_step(&p);
  dWorldDestroy(p.world);
}

/* The host ends the program where a direction that a joint's rows need is none. */
static void test_degenerate_joints_are_named(void) {
  for (int type = 0; type < 4; type++) {
    pair p = create_pair(NULL);
    dBodyID one = p.bodies[0], other = p.bodies[1];
    dVector3 axis = {0.3, 0.6, 0.7}; /* rounded as it is made a unit vector */
    dJointID joint = NULL;
    switch (type) {
      case 0:
        joint = dJointCreateUniversal(p.world, 0);
        dJointAttach(joint, one, other);
        dJointSetUniversalAxis1(joint, 0, 0.6, 0.8);
        dJointSetUniversalAxis2(joint, 0, 0.6, 0.8);
        break;
      case 1:
        joint = dJointCreateHinge2(p.world, 0);
        dJointAttach(joint, one, other);
        dJointSetHinge2Axes(joint, axis, axis);
        break;
      case 2:
        joint = dJointCreatePU(p.world, 0);
        dJointAttach(joint, one, other);
        dJointSetPUAxis1(joint, 0, 0.6, 0.8);
        dJointSetPUAxis2(joint, 0, 0.6, 0.8);
        break;
      default:
        joint = dJointCreateTransmission(p.world, 0);
        dJointAttach(joint, one, other);
        dJointSetTransmissionAnchor1(joint, 1, 2, 3);
        dJointSetTransmissionAnchor2(joint, 1, 2, 3);
    }
    expect_refusal(&p, type < 3 ? "its axes are parallel"
                                : "its anchors are in one place");
    dJointDestroy(joint);
    expect_step(&p);
    dWorldDestroy(p.world);
  }
}

/* Turned until the axes of an angular motor are parallel, as a program may. */
static void test_an_euler_motor_without_axes_is_named(void) {
  for (int turned = 0; turned < 3; turned++)
    for (int world = 0; world < 2; world++) {
      pair p = create_pair(NULL);
      dJointID joint = dJointCreateAMotor(p.world, 0);
      dJointAttach(joint, p.bodies[0], world ? NULL : p.bodies[1]);
      dJointSetAMotorMode(joint, dAMotorEuler);
      dJointSetAMotorAxis(joint, 0, 1, 1, 0, 0);
      dJointSetAMotorAxis(joint, 2, 2, 0, 0, 1);
      dJointSetAMotorParam(joint, dParamFMax, turned * 10);
      expect_step(&p);
      const dMatrix3 straight = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
      const dMatrix3 across = {0, 0, 1, 0, 0, 1, 0, 0, -1, 0, 0, 0};
      dBodySetRotation(p.bodies[1], straight);
      dBodySetRotation(p.bodies[0], across);
      expect_refusal(&p, "its axes are parallel");
      dBodySetRotation(p.bodies[0], straight);
      expect_step(&p);
      dJointDestroy(joint);
      expect_step(&p);
      dWorldDestroy(p.world);
    }
}

/* --- warnings ------------------------------------------------------------ */

/* Tries everything that a callback must not do. */
static int meddle(void *context, dWorldID world, ode_mlcp_contact_list *list) {
  int *calls = context;
  (void)list;
  ode_mlcp_options options = default_options();
  (*calls)++;
  CU_ASSERT_EQUAL(dWorldStep(world, H), 0);
  CU_ASSERT_EQUAL(dWorldQuickStep(world, H), 0);
  CU_ASSERT_EQUAL(ode_mlcp_step(world, H, NULL), ODE_MLCP_IN_STEP);
  CU_ASSERT_EQUAL(ode_mlcp_detach(world), ODE_MLCP_IN_STEP);
  CU_ASSERT_EQUAL(ode_mlcp_attach(world, &options), ODE_MLCP_IN_STEP);
  CU_ASSERT_EQUAL(ode_mlcp_set_collision(world, NULL, NULL), ODE_MLCP_IN_STEP);
  return 1;
}

static dWorldID moved_world;
static void meddle_when_moved(dBodyID body) {
  (void)body;
  CU_ASSERT_EQUAL(dWorldStep(moved_world, H), 0);
  CU_ASSERT_EQUAL(ode_mlcp_detach(moved_world), ODE_MLCP_IN_STEP);
}

static void test_callbacks_cannot_step_or_detach(void) {
  const int schemes[] = {ODE_MLCP_SCHEME_AH, ODE_MLCP_SCHEME_ST,
                         ODE_MLCP_SCHEME_TRAPEZOID, ODE_MLCP_SCHEME_CONSERVING};
  for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
    ode_mlcp_options options = options_under(schemes[i]);
    dWorldID world = create_world(9.81, &options);
    dBodyID ball = create_ball(world, 1, 0.5);
    int calls = 0;
    CU_ASSERT_EQUAL(ode_mlcp_set_collision(world, meddle, &calls), ODE_MLCP_OK);
    dBodySetMovedCallback(ball, meddle_when_moved);
    moved_world = world;
    listen_to_host("");
    for (int k = 1; k <= 3; k++) {
      CU_ASSERT_EQUAL(ode_mlcp_step(world, H, NULL), ODE_MLCP_OK);
      CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(ball)[2], -9.81 * H * k,
                             of_host(1e-12, 9.81 * H * k));
    }
    CU_ASSERT(calls >= 3);
    CU_ASSERT(told("asked for another step of its world"));
    CU_ASSERT_EQUAL(ode_mlcp_detach(world), ODE_MLCP_OK);
    dWorldDestroy(world);
  }
}

static void test_warnings_become_rare(void) {
  pair p = create_pair(NULL);
  dBodySetLinearVel(p.bodies[0], NAN, 0, 0);
  listen_to_host("");
  for (int i = 1; i <= 1000; i++) {
    CU_ASSERT_EQUAL(dWorldStep(p.world, H), 0);
    int expected = i < 10 ? 1 : i < 100 ? 2 : i < 1000 ? 3 : 4;
    CU_ASSERT_EQUAL(n_heard, expected);
  }
  CU_ASSERT(told("step 1000: failed"));
  CU_ASSERT(told("1000 so far"));

  /* another kind is heard all the same */
  dBodySetLinearVel(p.bodies[0], 0, 0, 0);
  dSurfaceParameters surface = bare_surface(0, 0);
  dContact contact = contact_at(&surface, 0, 0, 0, 0);
  contact.geom.normal[2] = 0;
  dJointAttach(dJointCreateContact(p.world, 0, &contact), p.bodies[0], 0);
  expect_step(&p);
  CU_ASSERT_EQUAL(n_heard, 5);
  dWorldDestroy(p.world);
}

static void test_an_undisturbed_world_is_silent(void) {
  listen_to_host("");
  scene *stack = scene_stack(5, 1);
  ode_mlcp_attach(stack->world, NULL);
  for (int i = 0; i < 50; i++) scene_step(stack, dWorldStep, H);
  CU_ASSERT_EQUAL(n_heard, 0);
  scene_destroy(stack);
}

/* --- extremes ------------------------------------------------------------ */

static void test_too_many_contacts_are_refused(void) {
  scene *stack = scene_stack(4, 1);
  ode_mlcp_options options = default_options();
  options.max_contacts = 5;
  ode_mlcp_attach(stack->world, &options);
  CU_ASSERT_FATAL(scene_collide(stack) > 5);
  uint64_t before = hash_bodies(stack->bodies, 4);
  listen_to_host("");
  ode_mlcp_report report;
  CU_ASSERT_EQUAL(ode_mlcp_step(stack->world, H, &report),
                  ODE_MLCP_STEP_FAILED);
  CU_ASSERT_EQUAL(report.refused, 1);
  CU_ASSERT_EQUAL(report.taken, 0);
  CU_ASSERT(told("refused, nothing was changed"));
  CU_ASSERT(told("an island of 4 bodies has"));
  CU_ASSERT(told("more than max-contacts 5"));
  CU_ASSERT_EQUAL(hash_bodies(stack->bodies, 4), before);

  options.max_contacts = stack->n_contacts;
  ode_mlcp_attach(stack->world, &options);
  CU_ASSERT_EQUAL(ode_mlcp_step(stack->world, H, &report), ODE_MLCP_OK);
  CU_ASSERT_EQUAL(report.refused, 0);
  scene_destroy(stack);
}

/* An island is as large as it is. */
static void test_many_contacts_are_stepped(void) {
  enum { SIDE = 150 };
  dWorldID world = create_world(9.81, NULL);
  dBodyID ball = create_ball(world, 1, 0.5);
  dSurfaceParameters surface = bare_surface(0, 0);
  for (int i = 0; i < SIDE * SIDE; i++) {
    dContact contact =
        contact_at(&surface, 0.01 * (i % SIDE - (SIDE - 1) / 2.0),
                   0.01 * (i / SIDE - (SIDE - 1) / 2.0), -0.5, 0);
    dJointAttach(dJointCreateContact(world, 0, &contact), ball, 0);
  }
  ode_mlcp_report report;
  CU_ASSERT_EQUAL(ode_mlcp_step(world, H, &report), ODE_MLCP_OK);
  CU_ASSERT_EQUAL(report.contacts, SIDE * SIDE); /* 22 500 */
  CU_ASSERT_EQUAL(report.unsolved, 0);
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(ball)[2], 0, of_host(1e-6, 0.5 / H));
  dWorldDestroy(world);
}

/* A direction of friction that is none, or is not of length one. */
static void test_odd_friction_directions(void) {
  const double directions[][3] = {
      {0, 0, 0}, {0, 0, 1}, {100, 0, 0}, {1e-9, 0, 0}, {1, 1, 1}};
  for (int i = 0; i < 5; i++) {
    dSurfaceParameters surface =
        bare_surface(dContactApprox1 | dContactFDir1, 0.5);
    dContact contact = contact_at(&surface, 0, 0, -0.5, 0.001);
    for (int k = 0; k < 3; k++) contact.fdir1[k] = directions[i][k];
    pair p = create_pair(&contact);
    expect_step(&p);
    dWorldDestroy(p.world);
  }
}

/* --- the host's end ------------------------------------------------------ */

/* Some programs destroy their worlds after they closed the host, which itself
 * bears it with worlds that were never stepped. */
static void test_worlds_outlive_the_host(void) {
  for (int i = 0; i < 3; i++) {
    scene *stack = scene_stack(3, 1);
    ode_mlcp_attach(stack->world, NULL);
    for (int step = 0; step < 3; step++) scene_step(stack, dWorldStep, H);
    CU_ASSERT(isfinite(scene_fastest(stack)));
    scene_destroy(stack);
    dWorldID world = dWorldCreate();
    CU_ASSERT_EQUAL(ode_mlcp_attach(world, NULL), ODE_MLCP_OK);
    create_ball(world, 1, 1);
    dCloseODE();
    dWorldDestroy(world);
    dInitODE2(0);
  }
}

/* --- settings ------------------------------------------------------------ */

static void test_bad_settings_change_nothing(void) {
  dWorldID world = dWorldCreate();
  ode_mlcp_options options = default_options();
  options.edges = 5;
  CU_ASSERT_EQUAL(ode_mlcp_attach(world, &options), ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_EQUAL(ode_mlcp_detach(world), ODE_MLCP_NOT_ATTACHED);
  CU_ASSERT_EQUAL(ode_mlcp_attach_new_worlds(&options), ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_EQUAL(ode_mlcp_attach(NULL, NULL), ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_EQUAL(ode_mlcp_detach(NULL), ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_EQUAL(ode_mlcp_last_report(world, NULL), ODE_MLCP_BAD_ARGUMENT);
  dWorldDestroy(world);
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"memory fails in a first step", test_memory_fails_in_a_first_step},
      {"memory fails in a growing step", test_memory_fails_in_a_growing_step},
      {"memory fails in Lemke", test_memory_fails_in_lemke},
      {"memory fails at attachment", test_memory_fails_at_attachment},
      {"bad bodies are named", test_bad_bodies_are_named},
      {"bad worlds are named", test_bad_worlds_are_named},
      {"motions out of bounds", test_motions_out_of_bounds_are_refused},
      {"bad surfaces are named", test_bad_surfaces_are_named},
      {"unknown modes are named", test_unknown_modes_are_named},
      {"bad geometry is named", test_bad_geometry_is_named},
      {"no normal", test_a_contact_without_normal_is_left_out},
      {"bad step sizes", test_bad_step_sizes},
      {"bad joint", test_bad_joint_is_named},
      {"degenerate joints are named", test_degenerate_joints_are_named},
      {"Euler motors without axes are named",
       test_an_euler_motor_without_axes_is_named},
      {"callbacks cannot step or detach", test_callbacks_cannot_step_or_detach},
      {"warnings become rare", test_warnings_become_rare},
      {"silence", test_an_undisturbed_world_is_silent},
      {"too many contacts", test_too_many_contacts_are_refused},
      {"many contacts are stepped", test_many_contacts_are_stepped},
      {"odd friction directions", test_odd_friction_directions},
      {"worlds outlive the host", test_worlds_outlive_the_host},
      {"bad settings", test_bad_settings_change_nothing},
      CU_TEST_INFO_NULL};
  return run_host_tests("step: failures", tests);
}
