/* What a step does with contacts before it solves grows with their number alone,
 * however many of them are on one body or between two. Each case would take minutes
 * if it grew with the square. */
#include <sys/resource.h>

#include "common/memory.h"
#include "step_testing.h"
#include "world/contact_memory.h"
#include "world/inner_contacts.h"

/* Balls, each with one contact on one body that carries all. */
static void test_what_hangs_on_a_body(void) {
  enum { N = 200000 };
  dWorldID world = create_world(9.81, NULL);
  dBodyID tray = dBodyCreate(world);
  dBodySetKinematic(tray);
  dJointGroupID group = dJointGroupCreate(0);
  dSurfaceParameters surface = bare_surface(dContactApprox1, 1);
  dBodyID ball = NULL;
  for (int i = 0; i < N; i++) {
    ball = create_ball(world, 1, 1);
    dBodySetPosition(ball, 3 * (i % 10), 0, 1);
    dContact contact = contact_at(&surface, 3 * (i % 10), 0, 0, 1e-6);
    dJointAttach(dJointCreateContact(world, group, &contact), ball, tray);
  }
  for (int k = 0; k < 2; k++)
    CU_ASSERT_EQUAL(ode_mlcp_step(world, 0.01, NULL), ODE_MLCP_OK);
  CU_ASSERT(fabs(dBodyGetPosition(ball)[2] - 1) < 1e-4);
  dJointGroupDestroy(group);
  dWorldDestroy(world);
}

/* Contacts of joints that stay, of a few pairs of bodies in turn: in the next step
 * each finds itself among those of its pair, though others may be nearer to where it
 * is now. */
static void test_joints_that_stay(void) {
  enum { N = 400000, PAIRS = 4 };
  memory_pool pool;
  contact_memory memory = {0};
  contact_entry *entries = calloc(N, sizeof *entries);
  contact_match *matches = calloc(N, sizeof *matches);
  CU_ASSERT_FATAL(entries != NULL && matches != NULL);
  memory_pool_open(&pool, &memory_from_malloc);
  for (int i = 0; i < N; i++)
    entries[i] = (contact_entry){.serial = {1 + i % PAIRS, 10},
                                 .told = (unsigned long)i + 1,
                                 .local = {{i}, {i}},
                                 .normal = {0, 0, 1},
                                 .number = i};
  CU_ASSERT_FATAL(contact_memory_reserve(&memory, &pool, N));
  contact_memory_take(&memory, entries, N);
  for (int i = 0; i < N; i++)
    for (int side = 0; side < 2; side++)
      entries[i].local[side][0] += PAIRS; /* where the next one was */
  contact_memory_match(&memory, entries, N, INFINITY, matches);
  int wrong = 0;
  for (int i = 0; i < N; i++)
    wrong += matches[i].old == NULL || matches[i].old->number != i;
  CU_ASSERT_EQUAL(wrong, 0);
  free(entries);
  free(matches);
  memory_pool_release(&pool);
}

/* A plate over tiles, with a corner of each tile and, at one seam, the end of one
 * that the next covers. */
static void test_plates_on_tiles(void) {
  enum { SIDE = 200, N = SIDE * SIDE };
  memory_pool pool;
  memory_pool_open(&pool, &memory_from_malloc);
  inner_search search = {.pool = &pool};
  CU_ASSERT_FATAL(inner_contacts_reserve(&search, N + 1));
  inner_contact *contacts = search.contacts;
  dSpaceID space = dSimpleSpaceCreate(0);
  dGeomID plate = dCreateBox(space, SIDE, SIDE, 1);
  dGeomSetPosition(plate, 0.5 * SIDE, 0.5 * SIDE, 0.5);
  for (int i = 0; i < N; i++) {
    dGeomID tile = dCreateBox(space, 1, 1, 1);
    double x = i % SIDE, y = i / SIDE;
    dGeomSetPosition(tile, x + 0.5, y + 0.5, -0.5);
    contacts[i] = (inner_contact){.geom = {plate, tile},
                                  .point = {{x, y, 0}, {x, y, 0}},
                                  .normal = {0, 0, 1}};
  }
  contacts[N] = contacts[N / 2 + SIDE / 2];
  for (int side = 0; side < 2; side++) contacts[N].point[side][1] += 0.5;
  contacts[N].normal[0] = -1;
  contacts[N].normal[2] = 0;
  CU_ASSERT_FATAL(inner_contacts_find(&search, N + 1));
  int others = 0;
  for (int i = 0; i < N; i++) others += search.inner[i];
  CU_ASSERT_EQUAL(others, 0);
  CU_ASSERT(search.inner[N]);
  dSpaceDestroy(space);
  inner_contacts_release(&search);
  memory_pool_release(&pool);
}

int main(void) {
  /* a second or two; sanitizers take ten times that */
  const struct rlimit limit = {60, 60};
  setrlimit(RLIMIT_CPU, &limit);
  const CU_TestInfo tests[] = {
      {"what hangs on a body", test_what_hangs_on_a_body},
      {"joints that stay", test_joints_that_stay},
      {"plates on tiles", test_plates_on_tiles},
      CU_TEST_INFO_NULL};
  return run_host_tests("world growth", tests);
}
