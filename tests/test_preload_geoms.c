/* Which geoms are known by their pointers, against a plain list of them. */
#include "host_testing.h"
#include "preload/told_geoms.h"

enum { GEOMS = 3000, TURNS = 20000 };

static dGeomID geoms[GEOMS];
static int told[GEOMS];

static int wrong(void) {
  int n = 0;
  for (int i = 0; i < GEOMS; i++)
    n += geoms[i] != NULL && told_geoms_has(NULL, geoms[i]) != told[i];
  return n;
}

/* Geoms come, are told of and go in an order that is drawn. Those that are next to
 * each other in memory are often next to each other in a table, too. */
static void test_geoms_come_and_go(void) {
  test_random random = {5};
  CU_ASSERT_EQUAL(told_geoms_has(NULL, (dGeomID)&random), 0);
  for (int turn = 0; turn < TURNS; turn++) {
    int i = (int)test_uniform(&random, 0, GEOMS);
    double what = test_uniform(&random, 0, 1);
    if (geoms[i] == NULL) {
      geoms[i] = dCreateSphere(NULL, 1);
      told[i] = 0; // a new geom may be where an old one was
      if (what < 0.7) continue;
    }
    if (what < 0.3 && turn < TURNS / 2 + 2000) {
      dGeomDestroy(geoms[i]);
      geoms[i] = NULL;
    } else if (what < 0.9) {
      told_geoms_add(geoms[i]);
      told[i] = 1;
    }
    if (turn % 500 == 0) CU_ASSERT_EQUAL(wrong(), 0);
  }
  CU_ASSERT_EQUAL(wrong(), 0);
}

/* A geom that was told of once is told of once, however often that was. */
static void test_told_again(void) {
  for (int i = 0; i < GEOMS; i++) {
    if (geoms[i] == NULL) geoms[i] = dCreateSphere(NULL, 1);
    for (int k = 0; k < 20; k++) told_geoms_add(geoms[i]);
    told[i] = 1;
  }
  CU_ASSERT_EQUAL(wrong(), 0);
  for (int i = 0; i < GEOMS; i++) {
    dGeomID geom = geoms[i];
    dGeomDestroy(geom);
    geoms[i] = NULL;
    if (i % 100 == 0) CU_ASSERT_EQUAL(wrong(), 0);
    CU_ASSERT_EQUAL(told_geoms_has(NULL, geom), 0);
  }
}

int main(void) {
  static CU_TestInfo tests[] = {
      {"geoms come and go", test_geoms_come_and_go},
      {"a geom that is told of again", test_told_again},
      CU_TEST_INFO_NULL};
  return run_host_tests("preload: geoms", tests);
}
