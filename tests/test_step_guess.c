/* The start of a step's solve: contacts found again, and what their coming and going
 * costs. */
#include <math.h>
#include <string.h>

#include "../demos/scenes/scene.h"
#include "host_rounding.h"
#include "pile.h"
#include "world/contact_memory.h"

/* ---- matching ------------------------------------------------------------- */

static contact_entry point(unsigned long first, unsigned long second, double x,
                           double y) {
  return (contact_entry){.serial = {first, second},
                         .local = {{x, y, 0.5}, {x, y, -0.5}},
                         .normal = {0, 0, 1}};
}

enum { MOST = 12 };

static memory_pool pool;

/* The entries of `old` that `keys` find. */
static void match(contact_memory *start, const contact_entry old[], int n_old,
                  const contact_entry keys[], int n_keys,
                  contact_match matches[]) {
  *start = (contact_memory){0};
  memory_pool_open(&pool, &memory_from_malloc);
  CU_ASSERT_FATAL(contact_memory_reserve(start, &pool, n_old));
  contact_memory_take(start, old, n_old);
  CU_ASSERT_FATAL(contact_memory_reserve(start, &pool, n_keys));
  contact_memory_match(start, keys, n_keys, INFINITY, matches);
}

static void test_nearest_pairs_first(void) {
  /* in order of the keys the middle point would take a corner's entry */
  const contact_entry old[] = {point(1, 2, 0, 0), point(1, 2, 1, 0)};
  const contact_entry keys[] = {point(1, 2, 0.9, 0), point(1, 2, 1, 0),
                                point(1, 2, 0, 0)};
  contact_memory start;
  contact_match matches[3];
  match(&start, old, 2, keys, 3, matches);
  CU_ASSERT_PTR_NULL(matches[0].old);
  CU_ASSERT_PTR_NOT_NULL_FATAL(matches[1].old);
  CU_ASSERT_PTR_NOT_NULL_FATAL(matches[2].old);
  CU_ASSERT_EQUAL(matches[1].old->local[0][0], 1);
  CU_ASSERT_EQUAL(matches[2].old->local[0][0], 0);
  CU_ASSERT_EQUAL(matches[1].square, 0);
  memory_pool_release(&pool);
}

static void test_pairs_are_kept_apart(void) {
  const contact_entry old[] = {point(1, 2, 0, 0), point(1, 3, 0, 0),
                               point(0, 2, 0, 0)};
  const contact_entry keys[] = {point(1, 3, 0, 0), point(1, 2, 0, 0),
                                point(1, 4, 0, 0), point(1, 2, 5, 0),
                                point(1, 3, 2, 0)};
  contact_memory start;
  contact_match matches[5];
  match(&start, old, 3, keys, 5, matches);
  CU_ASSERT_PTR_NOT_NULL_FATAL(matches[0].old);
  CU_ASSERT_PTR_NOT_NULL_FATAL(matches[1].old);
  CU_ASSERT_EQUAL(matches[0].old->serial[1], 3);
  CU_ASSERT_EQUAL(matches[1].old->serial[1], 2);
  CU_ASSERT_EQUAL(matches[1].old->serial[0], 1);
  CU_ASSERT_PTR_NULL(matches[2].old);
  CU_ASSERT_EQUAL(matches[2].run, matches[2].run_end);
  memory_pool_release(&pool);
}

/* ---- a wall --------------------------------------------------------------- */

/* The first step starts from nothing. While a wall settles whose contacts are those
 * that overlap, points of its faces come and go in every step: no reason to leave
 * the modes of the last one. */
static void test_wall_keeps_its_modes(void) {
  enum { FIRST = 4, STEPS = 10 };
  bool rounded =
      left_out_in_single("what a wall costs whose points come and go");
  scene *wall = scene_wall(20);
  CU_ASSERT_PTR_NOT_NULL_FATAL(wall);
  ode_mlcp_options options = default_options();
  options.margin = 0;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(wall->world, &options), ODE_MLCP_OK);
  long factorisations = 0;
  int changed = 0;
  for (int i = 0; i < FIRST + STEPS; i++) {
    ode_mlcp_report report;
    CU_ASSERT(scene_step(wall, dWorldStep, 0.01));
    ode_mlcp_last_report(wall->world, &report);
    CU_ASSERT(report.residual <= 1e-7); // accepted: how redundant points share
    if (!rounded) {
      CU_ASSERT(report.factorisations <= (i == 0 ? 36 : 8));
      CU_ASSERT(report.pivots <= 100);
    }
    if (i < FIRST) continue;
    factorisations += report.factorisations;
    changed += report.contacts_new;
  }
  CU_ASSERT(rounded || changed > STEPS); // they do come and go
  CU_ASSERT(rounded || factorisations <= 4 * STEPS);
  if (rounded)
    printf("%g factorisations a step ... ", (double)factorisations / STEPS);
  scene_destroy(wall);
}

/* ---- a cart ---------------------------------------------------------------- */

enum { WHEELS = 4 };

typedef struct cart {
  dWorldID world;
  dJointGroupID contacts;
  dBodyID wheels[WHEELS];
  dGeomID floor, tyres[WHEELS];
} cart;

/* It turns on the spot: wheels whose rollers lie aslant, those of each side alike. */
static void open_cart(cart *c) {
  c->world = dWorldCreate();
  c->contacts = dJointGroupCreate(0);
  c->floor = dCreatePlane(NULL, 0, 0, 1, 0);
  dWorldSetGravity(c->world, 0, 0, REAL(-9.81));
  dBodyID frame = create_box(c->world, NULL, 20, 0.6, 0.4, 0.1);
  dBodySetPosition(frame, 0, 0, REAL(0.15));
  for (int i = 0; i < WHEELS; i++) {
    double x = i < 2 ? 0.25 : -0.25, y = i % 2 ? 0.25 : -0.25;
    c->tyres[i] = dCreateSphere(NULL, REAL(0.1));
    c->wheels[i] = create_ball(c->world, 1, 0.1);
    dGeomSetBody(c->tyres[i], c->wheels[i]);
    dBodySetPosition(c->wheels[i], (dReal)x, (dReal)y, REAL(0.1));
    dJointID axle =
        joint_hinge(c->world, frame, c->wheels[i], x, y, 0.1, 0, 1, 0);
    dJointSetHingeParam(axle, dParamVel, y > 0 ? 5 : -5);
    dJointSetHingeParam(axle, dParamFMax, 5);
  }
}

/* @return the least load of a wheel, N */
static double drive(cart *c, double h) {
  dJointFeedback told[WHEELS];
  double least = INFINITY;
  dJointGroupEmpty(c->contacts);
  for (int i = 0; i < WHEELS; i++) {
    dContact contact = {
        .surface = {.mode = dContactMu2 | dContactFDir1 | dContactApprox1,
                    .mu = 1}};
    dVector3 roller;
    CU_ASSERT_EQUAL_FATAL(
        dCollide(c->tyres[i], c->floor, 1, &contact.geom, sizeof contact), 1);
    dBodyVectorToWorld(c->wheels[i], 0, 1, 0, roller);
    double x = roller[0], y = roller[1], side = i == 0 || i == 3 ? -1 : 1;
    contact.fdir1[0] = (dReal)((x - side * y) * M_SQRT1_2);
    contact.fdir1[1] = (dReal)((side * x + y) * M_SQRT1_2);
    dJointID joint = dJointCreateContact(c->world, c->contacts, &contact);
    dJointAttach(joint, c->wheels[i], NULL);
    dJointSetFeedback(joint, &told[i]);
  }
  dWorldStep(c->world, (dReal)h);
  for (int i = 0; i < WHEELS; i++) least = fmin(least, told[i].f1[2]);
  return least;
}

/* What joints carried is known, too: without, contacts are looked for anew in each step
 * (23 factorisations). And wheels that say the same as others carry their part. */
static void test_cart_keeps_its_modes(void) {
  if (left_out_in_single("wheels come off the floor by roundings")) return;
  static const ode_mlcp_scheme schemes[] = {ODE_MLCP_SCHEME_TRAPEZOID,
                                            ODE_MLCP_SCHEME_CONSERVING};
  enum { FIRST = 10, STEPS = 100 };
  for (int k = 0; k < 2; k++) {
    cart c;
    ode_mlcp_options options = options_under(schemes[k]);
    open_cart(&c);
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(c.world, &options), ODE_MLCP_OK);
    long factorisations = 0;
    for (int i = 0; i < FIRST + STEPS; i++) {
      ode_mlcp_report report;
      double least = drive(&c, 0.01);
      ode_mlcp_last_report(c.world, &report);
      CU_ASSERT_EQUAL(report.degraded, 0);
      if (i < FIRST) continue;
      factorisations += report.factorisations;
      CU_ASSERT(least > 50); /* of 59 N */
    }
    printf("%g factorisations a step ... ", (double)factorisations / STEPS);
    CU_ASSERT(factorisations <= (k == 0 ? 5 : 20) * STEPS);
    for (int i = 0; i < WHEELS; i++) dGeomDestroy(c.tyres[i]);
    dGeomDestroy(c.floor);
    dJointGroupDestroy(c.contacts);
    dWorldDestroy(c.world);
  }
}

/* Two boxes on a joint that are pulled along a wall begin to slide, again in each step:
 * edges follow the answer, and a round's begin as the last one's ended (without, 34
 * factorisations). */
static void test_rounds_keep_their_edges(void) {
  if (left_out_in_single("what rounds of rounded poses cost")) return;
  enum { STEPS = 50 };
  ode_mlcp_options options = options_under(ODE_MLCP_SCHEME_CONSERVING);
  pile p = pile_open(create_world(9.81, &options), 0.3);
  dCreatePlane(p.space, 0, 0, 1, 0);
  dCreatePlane(p.space, 0, 1, 0, 0);
  for (int i = 0; i < 2; i++) pile_box(&p, 1, 0.5 * i, 0.1, 0.1, 0.4, 0.2, 0.2);
  joint_ball(p.world, p.body[0], p.body[1], 0.25, 0.1, 0.1);
  long factorisations = 0;
  for (int step = 0; step < STEPS; step++) {
    for (int i = 0; i < 2; i++) {
      dBodySetLinearVel(p.body[i], 0, 0, 0);
      dBodySetAngularVel(p.body[i], 0, 0, 0);
      dBodyAddForce(p.body[i], 20, -10, 0);
    }
    ode_mlcp_report report = pile_step(&p, 0.01);
    factorisations += report.factorisations;
    CU_ASSERT_EQUAL(report.degraded, 0);
  }
  printf("%g factorisations a step ... ", (double)factorisations / STEPS);
  CU_ASSERT(factorisations <= 20 * STEPS);
  pile_close(&p);
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"the nearest pairs are matched first", test_nearest_pairs_first},
      {"pairs of bodies are kept apart", test_pairs_are_kept_apart},
      {"a wall keeps its modes", test_wall_keeps_its_modes},
      {"a cart keeps its modes", test_cart_keeps_its_modes},
      {"rounds keep their edges", test_rounds_keep_their_edges},
      CU_TEST_INFO_NULL};
  return run_host_tests("step guess", tests);
}
