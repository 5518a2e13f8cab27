/* Gaps between the host's geoms: classes, places, patches, meshes, faults. */
#include <ode/ode.h>
#include <stdio.h>
#include <stdlib.h>

#include "failing_memory.h"
#include "gap/gap_mesh.h"
#include "gap/gap_ode.h"
#include "gap/gap_sweep.h"
#include "gap/real.h"
#include "host_rounding.h"
#include "ode_mlcp.h"
#include "test_gap_oracle.h"
#include "testing.h"
#include "world/contact_memory.h"

enum { ROOM = 64 };

static gap_context *context;
static gap_contact found[ROOM];

static int query(dGeomID a, dGeomID b, double margin) {
  return gap_query(context, a, b, margin, 0, found, ROOM);
}

static void destroy(dGeomID a, dGeomID b) {
  dGeomDestroy(a);
  dGeomDestroy(b);
}

static void tilt(dGeomID geom, double x, double y, double z, double angle) {
  dMatrix3 R;
  dRFromAxisAndAngle(R, x, y, z, angle);
  dGeomSetRotation(geom, R);
}

/* ---- data for meshes and convexes ---- */

static const dReal cube_points[] = {-.5, -.5, -.5, .5,  -.5, -.5, -.5, .5,
                                    -.5, .5,  .5,  -.5, -.5, -.5, .5,  .5,
                                    -.5, .5,  -.5, .5,  .5,  .5,  .5,  .5};
static const dReal cube_planes[] = {-1, 0, 0, .5, 1, 0, 0,  .5, 0, -1, 0, .5,
                                    0,  1, 0, .5, 0, 0, -1, .5, 0, 0,  1, .5};
static const unsigned cube_polygons[] = {4, 0, 4, 6, 2, 4, 1, 3, 7, 5,
                                         4, 0, 1, 5, 4, 4, 2, 6, 7, 3,
                                         4, 0, 2, 3, 1, 4, 4, 5, 7, 6};
/* the same with every face cut into two */
static const dReal cut_planes[48];
static const unsigned cut_polygons[] = {
    3, 0, 4, 6, 3, 0, 6, 2, 3, 1, 3, 7, 3, 1, 7, 5, 3, 0, 1, 5, 3, 0, 5, 4,
    3, 2, 6, 7, 3, 2, 7, 3, 3, 0, 2, 3, 3, 0, 3, 1, 3, 4, 5, 7, 3, 4, 7, 6};

static dGeomID new_cube_convex(bool cut) {
  return cut ? dCreateConvex(0, cut_planes, 12, cube_points, 8, cut_polygons)
             : dCreateConvex(0, cube_planes, 6, cube_points, 8, cube_polygons);
}

enum { FLOOR_CELLS = 4 };

/* a floor of 4 x 4 metres, z up, of 1 m cells */
static dTriMeshDataID floor_data(void) {
  static double points[(FLOOR_CELLS + 1) * (FLOOR_CELLS + 1)][3];
  static dTriIndex indices[FLOOR_CELLS * FLOOR_CELLS * 2][3];
  int count = 0;
  for (int i = 0; i <= FLOOR_CELLS; i++)
    for (int j = 0; j <= FLOOR_CELLS; j++) {
      double *p = points[i * (FLOOR_CELLS + 1) + j];
      p[0] = i - 2.0;
      p[1] = j - 2.0;
      p[2] = 0;
    }
  for (dTriIndex i = 0; i < FLOOR_CELLS; i++)
    for (dTriIndex j = 0; j < FLOOR_CELLS; j++) {
      dTriIndex a = i * (FLOOR_CELLS + 1) + j, b = a + FLOOR_CELLS + 1;
      dTriIndex cell[2][3] = {{a, b, a + 1}, {b, b + 1, a + 1}};
      memcpy(indices[count++], cell[0], sizeof cell[0]);
      memcpy(indices[count++], cell[1], sizeof cell[1]);
    }
  dTriMeshDataID data = dGeomTriMeshDataCreate();
  dGeomTriMeshDataBuildDouble(data, points, sizeof points[0],
                              (FLOOR_CELLS + 1) * (FLOOR_CELLS + 1), indices,
                              3 * count, sizeof indices[0]);
  return data;
}

static dReal wavy(void *data, int x, int z) {
  (void)data;
  return 0.3 * sin(x * 1.7) * cos(z * 1.3);
}

static dReal level(void *data, int x, int z) {
  (void)data, (void)x, (void)z;
  return 0;
}

/* ---- patches ---- */

static void expect_four_corners(int count, double gap, double tolerance) {
  CU_ASSERT_EQUAL(count, 4);
  double area = 0;
  for (int i = 0; i < count; i++) {
    CU_ASSERT_DOUBLE_EQUAL(found[i].gap, gap, of_host(tolerance, 1));
    CU_ASSERT_DOUBLE_EQUAL(fabs(found[i].point[0]), 0.5, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(fabs(found[i].point[1]), 0.5, 1e-9);
    CU_ASSERT(found[i].normal[2] > 1 - 1e-12);
    for (int k = 0; k < i; k++)
      area = fmax(area, fabs((found[i].point[0] - found[k].point[0]) *
                             (found[i].point[1] - found[k].point[1])));
  }
  CU_ASSERT_DOUBLE_EQUAL(area, 1, 1e-9);
}

static void test_cube_above_table(void) {
  dGeomID tables[] = {dCreatePlane(0, 0, 0, 1, 0), dCreateBox(0, 4, 4, 1),
                      new_cube_convex(false), new_cube_convex(true)};
  dGeomID cubes[] = {dCreateBox(0, 1, 1, 1), new_cube_convex(false),
                     new_cube_convex(true)};
  dGeomSetPosition(tables[1], 0, 0, -0.5);
  dGeomSetPosition(tables[2], 0, 0, -0.5);
  dGeomSetPosition(tables[3], 0, 0, -0.5);
  static const double gaps[] = {0.05, 1e-9, 0, -1e-9, -0.01};
  for (int t = 0; t < 4; t++)
    for (int c = 0; c < 3; c++)
      for (int g = 0; g < 5; g++) {
        dGeomSetPosition(cubes[c], 0, 0, 0.5 + gaps[g]);
        expect_four_corners(query(cubes[c], tables[t], 0.1), gaps[g], 1e-15);
      }
  for (int i = 0; i < 4; i++) dGeomDestroy(tables[i]);
  for (int i = 0; i < 3; i++) dGeomDestroy(cubes[i]);
}

/* Each corner has its own gap. */
static void test_tilted_cube_above_table(void) {
  dGeomID cube = dCreateBox(0, 1, 1, 1), table = dCreateBox(0, 4, 4, 1);
  dGeomSetPosition(table, 0, 0, -0.5);
  dGeomSetPosition(cube, 0, 0, 0.55);
  tilt(cube, 0.6, 0.8, 0, 0.01);
  int count = query(cube, table, 0.1);
  CU_ASSERT_EQUAL(count, 4);
  const dReal *R = dGeomGetRotation(cube);
  for (int i = 0; i < count; i++) {
    int corner = (int)(found[i].feature[0] & 7);
    CU_ASSERT_EQUAL(gap_feature_type(found[i].feature[0]), GAP_CORNER);
    double z = 0.55;
    for (int k = 0; k < 3; k++) z += (corner >> k & 1 ? .5 : -.5) * R[8 + k];
    CU_ASSERT_DOUBLE_EQUAL(found[i].gap, z, of_host(1e-15, 1));
    CU_ASSERT(found[i].gap >= found[0].gap);
  }
  destroy(cube, table);
}

static void test_lying_capsule_and_cylinder(void) {
  dGeomID table = dCreateBox(0, 4, 4, 1);
  dGeomSetPosition(table, 0, 0, -0.5);
  dGeomID rolls[] = {dCreateCapsule(0, 0.2, 1), dCreateCylinder(0, 0.2, 1)};
  for (int i = 0; i < 2; i++) {
    dGeomSetPosition(rolls[i], 0, 0, 0.2 - 1e-3);
    tilt(rolls[i], 0, 1, 0, M_PI / 2);
    CU_ASSERT_EQUAL(query(rolls[i], table, 0.01), 2);
    CU_ASSERT_DOUBLE_EQUAL(found[0].gap, -1e-3, of_host(1e-15, 1));
    CU_ASSERT_DOUBLE_EQUAL(found[1].gap, -1e-3, of_host(1e-15, 1));
    CU_ASSERT_DOUBLE_EQUAL(fabs(found[0].point[0] - found[1].point[0]), 1,
                           of_host(1e-12, 1));
  }
  // a cylinder on either cap: as many points as the rim is taken for, and each of the
  // sixteen has a name of its own
  unsigned names = 0;
  for (int end = 0; end < 2; end++) {
    dMatrix3 upright;
    dRSetIdentity(upright);
    if (end == 1) upright[5] = upright[10] = -1;
    dGeomSetRotation(rolls[1], upright);
    dGeomSetPosition(rolls[1], 0.1, 0.1, 0.5 + 1e-3);
    CU_ASSERT_EQUAL(query(rolls[1], table, 0.01), 8);
    for (int i = 0; i < 8; i++) {
      const gap_feature point = found[i].feature[0];
      CU_ASSERT_DOUBLE_EQUAL(found[i].gap, 1e-3, of_host(1e-15, 1));
      CU_ASSERT_EQUAL(gap_feature_type(point), GAP_CORNER);
      names |= 1u << (point & 15);
    }
  }
  CU_ASSERT_EQUAL(names, 0xffff);
  dGeomDestroy(rolls[0]);
  destroy(rolls[1], table);
}

/* Parallel edges: a cube turned on its edge, lying along another one's. */
static void test_parallel_edges(void) {
  dGeomID a = dCreateBox(0, 1, 1, 1), b = dCreateBox(0, 1, 2, 1);
  tilt(a, 0, 1, 0, M_PI / 4);
  tilt(b, 0, 1, 0, M_PI / 4);
  double half = sqrt(0.5);
  dGeomSetPosition(a, 0, 0.2, 2 * half + 0.01);
  CU_ASSERT_EQUAL(query(a, b, 0.1), 2);
  for (int i = 0; i < 2; i++) {
    CU_ASSERT_DOUBLE_EQUAL(found[i].gap, 0.01, of_host(1e-14, 1));
    CU_ASSERT(found[i].normal[2] > 1 - of_host(1e-12, 1));
  }
  CU_ASSERT_DOUBLE_EQUAL(fabs(found[0].point[1] - found[1].point[1]), 1, 1e-12);
  destroy(a, b);
}

static void test_reduction(void) {
  dGeomID a = dCreateBox(0, 1, 1, 1), b = dCreateBox(0, 1, 1, 1);
  dGeomSetPosition(a, 0, 0, 1.01);
  tilt(a, 0, 0, 1, M_PI / 4);
  int all = query(a, b, 0.1);
  CU_ASSERT_EQUAL(all, 8);
  int few = gap_query(context, a, b, 0.1, GAP_REDUCE, found, ROOM);
  CU_ASSERT(few == 4 || few == 5);
  double most = 0;
  for (int i = 0; i < few; i++)
    for (int k = 0; k < few; k++)
      most = fmax(most, hypot(found[i].point[0] - found[k].point[0],
                              found[i].point[1] - found[k].point[1]));
  CU_ASSERT(most > 1);
  CU_ASSERT_EQUAL(gap_query(context, a, b, 0.1, 0, found, 3), 3);
  destroy(a, b);
}

/* A plate thinner than the margin rests on its lower side alone. */
static void test_plate_on_plane(void) {
  dGeomID a = dCreateBox(0, 1, 1, 0.02), b = dCreatePlane(0, 0, 0, 1, 0);
  dGeomSetPosition(a, 0, 0, 0.01);
  tilt(a, 1, 0, 0, M_PI);
  int count = gap_query(context, a, b, 0.1, GAP_REDUCE, found, ROOM);
  CU_ASSERT_EQUAL(count, 4);
  for (int i = 0; i < count; i++)
    CU_ASSERT_DOUBLE_EQUAL(found[i].gap, 0, of_host(1e-14, 1));
  destroy(a, b);
}

/* Points on a line, as of an edge on a face: the deepest and both ends are kept. */
static void test_a_line_keeps_its_ends(void) {
  static const double places[] = {0.2, 0.5, -0.4, 0.1, 0.3, -0.1};
  oracle_seed(12);
  for (double size = 0.01; size < 20; size *= 10)
    for (int trial = 0; trial < 50; trial++) {
      gap_contact contacts[6] = {0};
      double normal[3], along[3], other[3];
      oracle_unit(normal);
      oracle_unit(other);
      vec3_cross(along, normal, other);
      for (int i = 0; i < 6; i++) {
        vec3_copy(contacts[i].normal, normal);
        vec3_add_scaled(contacts[i].point,
                        size * places[i] / vec3_length(along), along);
        contacts[i].gap = i == 3 ? -0.02 * size : -0.01 * size;
        contacts[i].certificate = i; /* its number */
      }
      CU_ASSERT_EQUAL_FATAL(gap_reduce(contacts, 6, GAP_REDUCED_ROOM), 3);
      CU_ASSERT_EQUAL(contacts[0].certificate, 3);
      CU_ASSERT_EQUAL(contacts[1].certificate, 2); /* the further from it */
      CU_ASSERT_EQUAL(contacts[2].certificate, 1);
    }
}

/* Of corners that are there twice the first are kept, however the plane they lie in is
 * turned: rounding does not choose. */
static void test_ties_go_to_the_first(void) {
  static const double square[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
  oracle_seed(11);
  for (int round = 0; round < 50; round++) {
    gap_contact contacts[8] = {{0}};
    double n[3], t[2][3], axis[3];
    oracle_unit(n);
    oracle_unit(axis);
    vec3_cross(t[0], n, axis);
    double length = vec3_length(t[0]);
    for (int k = 0; k < 3; k++) t[0][k] /= length;
    vec3_cross(t[1], n, t[0]);
    for (int i = 0; i < 8; i++) {
      vec3_copy(contacts[i].normal, n);
      contacts[i].feature[0] = (gap_feature)i;
      for (int k = 0; k < 2; k++)
        vec3_add_scaled(contacts[i].point, square[i % 4][k], t[k]);
    }
    CU_ASSERT_EQUAL(gap_reduce(contacts, 8, GAP_REDUCED_ROOM), 4);
    for (int i = 0; i < 4; i++) CU_ASSERT(contacts[i].feature[0] < 4);
  }
}

/* ---- places ---- */

static void test_offsets_and_transforms(void) {
  dWorldID world = dWorldCreate();
  dBodyID body = dBodyCreate(world);
  dBodySetPosition(body, 1, 2, 3);
  dMatrix3 R;
  dRFromAxisAndAngle(R, 0, 0, 1, M_PI / 2);
  dBodySetRotation(body, R);

  dGeomID offset = dCreateSphere(0, 0.5);
  dGeomSetBody(offset, body);
  dGeomSetOffsetPosition(offset, 1, 0, 0); // at 1, 3, 3
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  dGeomID transform = dCreateGeomTransform(0), inner = dCreateSphere(0, 0.5);
  dGeomSetPosition(inner, 1, 0, 0);
  dGeomTransformSetGeom(transform, inner);
  dGeomTransformSetCleanup(transform, 1);
  dGeomSetBody(transform, body);
  dGeomID empty = dCreateGeomTransform(0);
#pragma GCC diagnostic pop
  dGeomID other = dCreateSphere(0, 0.25);
  dGeomSetPosition(other, 1, 4, 3);
  dGeomID both[] = {offset, transform};
  for (int i = 0; i < 2; i++) {
    CU_ASSERT_EQUAL_FATAL(query(both[i], other, 1), 1);
    CU_ASSERT_DOUBLE_EQUAL(found[0].gap, 0.25, of_host(1e-15, 1));
    CU_ASSERT_DOUBLE_EQUAL(found[0].normal[1], -1, of_host(1e-15, 1));
    CU_ASSERT_DOUBLE_EQUAL(found[0].point[1], 3.625, 1e-15);
  }
  CU_ASSERT_EQUAL(query(empty, other, 1), 0);
  dGeomDestroy(empty);
  dGeomDestroy(offset);
  destroy(transform, other);
  dWorldDestroy(world);
}

/* A convex that a program changes in place must not be answered from memory. */
static void test_changed_convex(void) {
  dReal points[24];
  memcpy(points, cube_points, sizeof points);
  dGeomID convex = dCreateConvex(0, cube_planes, 6, points, 8, cube_polygons);
  dGeomID plane = dCreatePlane(0, 0, 0, 1, -1);
  CU_ASSERT_EQUAL(query(convex, plane, 1), 4);
  CU_ASSERT_DOUBLE_EQUAL(found[0].gap, 0.5, 1e-15);
  for (int i = 2; i < 24; i += 3) points[i] *= 2;
  CU_ASSERT_EQUAL(query(convex, plane, 1), 4);
  CU_ASSERT_DOUBLE_EQUAL(found[0].gap, 0, 1e-15);
  destroy(convex, plane);
}

/* ---- ellipsoids ---- */

static void test_ellipsoid_with_every_class(void) {
  static const double axes[3] = {0.5, 0.3, 0.2};
  dGeomID ellipsoid = ode_mlcp_create_ellipsoid(0, axes);
  CU_ASSERT_PTR_NOT_NULL_FATAL(ellipsoid);
  CU_ASSERT_PTR_NULL(ode_mlcp_create_ellipsoid(0, (double[]){1, 0, 1}));
  CU_ASSERT_PTR_NULL(ode_mlcp_create_ellipsoid(0, (double[]){1, 1, NAN}));
  dTriMeshDataID mesh = floor_data();
  dHeightfieldDataID field = dGeomHeightfieldDataCreate();
  dGeomHeightfieldDataBuildCallback(field, NULL, level, 4, 4, 5, 5, 1, 0, 1, 0);
  dGeomHeightfieldDataSetBounds(field, -1, 1);
  dGeomID others[] = {dCreatePlane(0, 0, 0, 1, 0),
                      dCreateBox(0, 4, 4, 2),
                      new_cube_convex(false),
                      dCreateTriMesh(0, mesh, NULL, NULL, NULL),
                      dCreateHeightfield(0, field, 1),
                      dCreateCylinder(0, 2, 2),
                      dCreateSphere(0, 1),
                      dCreateCapsule(0, 0.5, 1),
                      gap_ellipsoid_create(0, axes)};
  static const double depth_of_top[] = {0, 1, .5, 0, 0, 1, 1, 1, .2};
  for (int i = 0; i < 9; i++) {
    if (dGeomGetClass(others[i]) != dPlaneClass)
      dGeomSetPosition(others[i], 0, 0, -depth_of_top[i]);
    if (dGeomGetClass(others[i]) == dHeightfieldClass)
      tilt(others[i], 1, 0, 0, M_PI / 2);
    dGeomSetPosition(ellipsoid, 0.1 * (i < 6), 0, 0.2 + 0.01);
    int count = query(ellipsoid, others[i], 0.1);
    CU_ASSERT_EQUAL(count, 1);
    CU_ASSERT_DOUBLE_EQUAL(found[0].gap, 0.01, of_host(1e-12, 1));
    CU_ASSERT(found[0].normal[2] > 1 - 1e-9);

    dGeomSetPosition(ellipsoid, 0.1 * (i < 6), 0, 0.2 - 0.01);
    dContactGeom contacts[8];
    count = dCollide(ellipsoid, others[i], 8, contacts, sizeof contacts[0]);
    CU_ASSERT_EQUAL(count, 1);
    CU_ASSERT_DOUBLE_EQUAL(contacts[0].depth, 0.01, of_host(1e-12, 1));
    CU_ASSERT(contacts[0].normal[2] > 1 - 1e-9);
    CU_ASSERT_PTR_EQUAL(contacts[0].g1, ellipsoid);
    count = dCollide(others[i], ellipsoid, 8, contacts, sizeof contacts[0]);
    CU_ASSERT_EQUAL(count, 1);
    CU_ASSERT(contacts[0].normal[2] < -1 + 1e-9);
    CU_ASSERT_PTR_EQUAL(contacts[0].g1, others[i]);
  }
  for (int i = 0; i < 9; i++) dGeomDestroy(others[i]);
  dGeomDestroy(ellipsoid);
  dGeomTriMeshDataDestroy(mesh);
  dGeomHeightfieldDataDestroy(field);
}

/* Between the two sides of a valley an ellipsoid has two points, which the program's
 * array has as far apart as the program says. */
static void test_ellipsoid_in_a_valley(void) {
  static const double axes[3] = {0.2, 0.2,
                                 0.2}; /* a ball: its depth is known */
  static const float corners[6][3] = {{0, -9, 0}, {0, 9, 0},   {9, -9, 9},
                                      {9, 9, 9},  {-9, -9, 9}, {-9, 9, 9}};
  static const dTriIndex triangles[4][3] = {
      {0, 2, 3}, {0, 3, 1}, {0, 1, 5}, {0, 5, 4}};
  const double depth = 0.01, height = sqrt(2) * (axes[0] - depth);
  dTriMeshDataID data = dGeomTriMeshDataCreate();
  dGeomTriMeshDataBuildSingle(data, corners, sizeof corners[0], 6, triangles,
                              12, sizeof triangles[0]);
  dGeomTriMeshDataPreprocess2(data, 1u << dTRIDATAPREPROCESS_BUILD_FACE_ANGLES,
                              NULL);
  dGeomID valley = dCreateTriMesh(0, data, NULL, NULL, NULL);
  dGeomID ellipsoid = gap_ellipsoid_create(0, axes);
  dGeomSetPosition(ellipsoid, 0, 0.5, height);
  dContact contacts[8];
  int count =
      dCollide(ellipsoid, valley, 8, &contacts[0].geom, sizeof contacts[0]);
  double sideways = 0;
  CU_ASSERT_EQUAL(count, 2);
  for (int i = 0; i < count; i++) {
    const dContactGeom *at = &contacts[i].geom;
    CU_ASSERT_DOUBLE_EQUAL(at->depth, depth, of_host(1e-9, 1));
    CU_ASSERT_DOUBLE_EQUAL(at->normal[2], sqrt(0.5), of_host(1e-9, 1));
    CU_ASSERT_PTR_EQUAL(at->g2, valley);
    sideways += at->normal[0];
  }
  CU_ASSERT_DOUBLE_EQUAL(sideways, 0, of_host(1e-9, 1));
  destroy(ellipsoid, valley);
  dGeomTriMeshDataDestroy(data);
}

/* A tree gives what it finds in the order of the triangles, however it is built: what
 * is made of them has the same bits then. */
static void test_trees_find_in_order(void) {
  enum { COUNT = 500 };
  gap_tree tree = {0};
  memory_pool pool;
  int32_t found_there[COUNT];
  oracle_seed(11);
  memory_pool_open(&pool, &memory_from_malloc);
  CU_ASSERT_FATAL(gap_tree_reserve(&tree, &pool, COUNT));
  double(*boxes)[6] = tree.boxes;
  for (int i = 0; i < COUNT; i++)
    for (int k = 0; k < 3; k++) {
      boxes[i][k] = oracle_uniform(-1, 1);
      boxes[i][3 + k] = boxes[i][k] + oracle_uniform(0, 0.2);
    }
  gap_tree_build(&tree, COUNT);
  const double all[6] = {-2, -2, -2, 2, 2, 2}, part[6] = {0, 0, -1, 1, 1, 1};
  CU_ASSERT_EQUAL(gap_tree_find(&tree, all, found_there), COUNT);
  for (int i = 0; i < COUNT; i++) CU_ASSERT_EQUAL(found_there[i], i);
  int n = gap_tree_find(&tree, part, found_there), next = 0;
  for (int i = 0; i < COUNT; i++) {
    bool meets = true;
    for (int k = 0; k < 3; k++)
      meets = meets && boxes[i][k] <= part[3 + k] && boxes[i][3 + k] >= part[k];
    if (meets) CU_ASSERT(next < n && found_there[next++] == i);
  }
  CU_ASSERT_EQUAL(next, n);
  memory_pool_release(&pool);
}

/* Last of all tests: the host forgets classes when it is closed. */
static void test_host_opened_again(void) {
  static const double axes[3] = {0.5, 0.3, 0.2};
  dCloseODE();
  gap_ellipsoid_host_closed();
  dInitODE2(0);
  dAllocateODEDataForThread(dAllocateMaskAll);
  dGeomID a = gap_ellipsoid_create(0, axes), b = dCreateSphere(0, 1);
  dGeomSetPosition(a, 2, 0, 0);
  CU_ASSERT_EQUAL(query(a, b, 1), 1);
  CU_ASSERT_DOUBLE_EQUAL(found[0].gap, 0.5, 1e-14);
  destroy(a, b);
}

/* ---- meshes ---- */

/* On a flat floor of triangles a cube has the same four points wherever it
 * is, and their corners keep their names; as well where the floor is tilted by
 * so little that all four are near, and other triangles than those below the
 * corners are nearest to the face. */
static void test_cube_slides_over_mesh(void) {
  dTriMeshDataID data = floor_data();
  dHeightfieldDataID field = dGeomHeightfieldDataCreate();
  dGeomHeightfieldDataBuildCallback(field, NULL, level, 4, 4, 5, 5, 1, 0, 1, 0);
  dGeomHeightfieldDataSetBounds(field, -1, 1);
  dGeomID floors[] = {dCreateTriMesh(0, data, NULL, NULL, NULL),
                      dCreateHeightfield(0, field, 1)};
  dGeomID cube = dCreateBox(0, 1, 1, 1);
  static const double gaps[] = {0.02, 1e-9, -1e-9, -0.005};
  static const double tilts[] = {0, 1e-8, 3e-7, 1e-5, 1e-3};
  const double FAR = 2; /* from the axis that a floor is tilted about */
  for (int f = 0; f < 2; f++)
    for (int i = 0; i < 1000; i++) {
      double x = -1 + 0.01 * (i % 200), gap = gaps[i % 4];
      double by = tilts[i / 200];
      tilt(floors[f], 1, 0, 0, by + (f == 1 ? M_PI / 2 : 0));
      dGeomSetPosition(cube, x, 0.37 * x, 0.5 + gap);
      tilt(cube, 0, 0, 1, 0.03 * i);
      int count = query(cube, floors[f], 0.1);
      CU_ASSERT_EQUAL(count, 4);
      unsigned corners = 0;
      for (int k = 0; k < count; k++) {
        CU_ASSERT_DOUBLE_EQUAL(found[k].gap, gap, of_host(1e-14, 1) + FAR * by);
        CU_ASSERT(found[k].normal[2] > 1 - of_host(1e-12, 1) - by * by);
        CU_ASSERT_EQUAL(gap_feature_type(found[k].feature[0]), GAP_CORNER);
        corners |= 1u << (found[k].feature[0] & 7);
        CU_ASSERT(found[k].triangle[1] >= 0);
      }
      CU_ASSERT_EQUAL(corners, 0x0f);
    }
  dGeomDestroy(cube);
  destroy(floors[0], floors[1]);
  dGeomTriMeshDataDestroy(data);
  dGeomHeightfieldDataDestroy(field);
}

/* What reaches through a sheet is pushed back by it while its centre is in front, and
 * not at all from behind, where the way out would be through. */
static void test_behind_a_sheet(void) {
  dTriMeshDataID data = floor_data();
  dGeomID sheet = dCreateTriMesh(0, data, NULL, NULL, NULL);
  dGeomID geoms[] = {dCreateBox(0, 0.3, 0.4, 0.5),
                     dCreateCylinder(0, 0.15, 0.4), dCreateSphere(0, 0.2)};
  for (int g = 0; g < 3; g++) {
    for (int i = 0; i < 200; i++) {
      double height = 0.0999 * (1 - 0.01 * i) + 1e-5;
      dGeomSetPosition(geoms[g], -0.9 + 0.009 * i, 0.3, height);
      tilt(geoms[g], cos(i), sin(2 * i), cos(3 * i), i);
      int count = query(geoms[g], sheet, 0.01);
      CU_ASSERT((count > 0) == (height > 0));
      for (int k = 0; k < count; k++) CU_ASSERT(found[k].normal[2] > 0.9999);
    }
    dGeomDestroy(geoms[g]);
  }
  dGeomDestroy(sheet);
  dGeomTriMeshDataDestroy(data);
}

/* A body whose end is beside a seam of a flat floor by next to nothing has a point
 * at that end: one of the triangles tells it. */
static void test_ends_beside_seams(void) {
  /* what lies along an axis is aslant there: docs/trust.md */
  if (left_out_in_single("ends beside seams")) return;
  dTriMeshDataID data = floor_data();
  dGeomID ground = dCreateTriMesh(0, data, NULL, NULL, NULL);
  dGeomID lying[] = {dCreateCapsule(0, 0.1, 0.6), dCreateCylinder(0, 0.1, 0.6),
                     dCreateBox(0, 0.2, 0.2, 0.6)};
  for (int shape = 0; shape < 3; shape++) {
    tilt(lying[shape], 0, 1, 0, M_PI / 2);
    for (int i = 0; i < 40; i++) {
      double beside = pow(10, -4 - 0.25 * i);
      for (int side = -1; side <= 1; side += 2) {
        dGeomSetPosition(lying[shape], 0.7 + side * beside, 0.25, 0.1 - 1e-9);
        int count = query(lying[shape], ground, 1e-6);
        CU_ASSERT_EQUAL(count, shape == 2 ? 4 : 2);
        double most = -INFINITY, least = INFINITY;
        for (int k = 0; k < count; k++) {
          most = fmax(most, found[k].point[0]);
          least = fmin(least, found[k].point[0]);
        }
        CU_ASSERT_DOUBLE_EQUAL(most, 1 + side * beside, of_host(1e-9, 1));
        CU_ASSERT_DOUBLE_EQUAL(least, 0.4 + side * beside, of_host(1e-9, 1));
      }
    }
    dGeomDestroy(lying[shape]);
  }
  dGeomDestroy(ground);
  dGeomTriMeshDataDestroy(data);
}

/* The nearest of the corners, of the edges' feet and of the face's foot. */
static double distance_to_triangle(const double p[3], double corners[3][3]) {
  double least = INFINITY, u[3], v[3], normal[3], arm[3];
  vec3_subtract(u, corners[1], corners[0]);
  vec3_subtract(v, corners[2], corners[0]);
  vec3_cross(normal, u, v);
  bool above = true;
  for (int i = 0; i < 3; i++) {
    double side[3];
    vec3_subtract(u, corners[(i + 1) % 3], corners[i]);
    vec3_subtract(arm, p, corners[i]);
    double t = fmin(fmax(vec3_dot(arm, u) / vec3_dot(u, u), 0), 1);
    vec3_cross(side, normal, u);
    above = above && vec3_dot(side, arm) >= 0;
    vec3_add_scaled(arm, -t, u);
    least = fmin(least, vec3_length(arm));
  }
  vec3_subtract(arm, p, corners[0]);
  if (above)
    least = fmin(least, fabs(vec3_dot(normal, arm)) / vec3_length(normal));
  return least;
}

/* A sphere over rough ground is as far as from the nearest of all triangles.
 */
static void test_sphere_over_rough_field(void) {
  dHeightfieldDataID field = dGeomHeightfieldDataCreate();
  dGeomHeightfieldDataBuildCallback(field, NULL, wavy, 6, 6, 7, 7, 1, 0, 1, 0);
  dGeomHeightfieldDataSetBounds(field, -1, 1);
  dGeomID ground = dCreateHeightfield(0, field, 1);
  dGeomID ball = dCreateSphere(0, 0.3);
  oracle_seed(4);
  for (int i = 0; i < 40; i++) {
    double p[3] = {oracle_uniform(-2, 2), oracle_uniform(0.35, 0.7),
                   oracle_uniform(-2, 2)};
    dGeomSetPosition(ball, p[0], p[1], p[2]);
    double least = INFINITY;
    for (int x = 0; x < 6; x++)
      for (int z = 0; z < 6; z++)
        for (int half = 0; half < 2; half++) {
          static const int order[2][3] = {{0, 2, 1}, {3, 1, 2}};
          double corners[3][3];
          for (int k = 0; k < 3; k++) {
            int at = order[half][k], u = x + (at & 1), v = z + (at >> 1);
            corners[k][0] = u - 3.0;
            corners[k][1] = wavy(NULL, u, v);
            corners[k][2] = v - 3.0;
          }
          least = fmin(least, distance_to_triangle(p, corners));
        }
    int count = query(ball, ground, 1);
    CU_ASSERT_FATAL(count >= 1);
    CU_ASSERT_DOUBLE_EQUAL(found[0].gap, least - 0.3, of_host(1e-9, 1));
  }
  destroy(ground, ball);
  dGeomHeightfieldDataDestroy(field);
}

static dTriMeshDataID cube_mesh_data(void) {
  static dTriIndex indices[12][3];
  for (int f = 0; f < 12; f++)
    for (int k = 0; k < 3; k++) indices[f][k] = cut_polygons[4 * f + 1 + k];
  dTriMeshDataID data = dGeomTriMeshDataCreate();
  static double corners[24];
  real_read(corners, cube_points, 24);
  dGeomTriMeshDataBuildDouble(data, corners, 3 * sizeof(double), 8, indices, 36,
                              sizeof indices[0]);
  dGeomTriMeshDataPreprocess2(data, 1u << dTRIDATAPREPROCESS_BUILD_FACE_ANGLES,
                              NULL);
  return data;
}

/* A cube made of triangles has the gaps of a cube, and nearly always its
 * depths. */
static void test_cube_of_triangles(void) {
  dTriMeshDataID data = cube_mesh_data();
  dGeomID mesh = dCreateTriMesh(0, data, NULL, NULL, NULL);
  dGeomID cube = dCreateBox(0, 1, 1, 1);
  dGeomID others[] = {dCreateSphere(0, 0.3), dCreateBox(0, 0.5, 0.4, 0.3),
                      dCreateCapsule(0, 0.2, 0.4), dCreateCylinder(0, 0.2, 0.4),
                      new_cube_convex(false)};
  oracle_seed(8);
  static const double targets[] = {0.1, 1e-3, 1e-9, -1e-6, -1e-3};
  int overlaps = 0, equal_overlaps = 0;
  for (int o = 0; o < 5; o++)
    for (int i = 0; i < 200; i++) {
      double u[3], R[9];
      oracle_unit(u);
      oracle_rotation(R);
      dMatrix3 turn = {R[0], R[1], R[2], 0,    R[3], R[4],
                       R[5], 0,    R[6], R[7], R[8], 0};
      dGeomSetRotation(others[o], turn);
      dGeomSetPosition(others[o], 2 * u[0], 2 * u[1], 2 * u[2]);
      CU_ASSERT_FATAL(query(others[o], cube, 10) >= 1);
      const dReal *p = dGeomGetPosition(others[o]);
      double push = targets[i % 5] - found[0].gap;
      dGeomSetPosition(others[o], p[0] + push * found[0].normal[0],
                       p[1] + push * found[0].normal[1],
                       p[2] + push * found[0].normal[2]);
      CU_ASSERT_FATAL(query(others[o], cube, 0.5) >= 1);
      gap_contact expected = found[0];
      int count = query(others[o], mesh, 0.5);
      CU_ASSERT_FATAL(count >= 1);
      bool same = fabs(found[0].gap - expected.gap) < 1e-9;
      overlaps += expected.gap < 0;
      equal_overlaps += expected.gap < 0 && same;
      // a way out of the triangles met may be shorter than out of the cube
      CU_ASSERT(same || (expected.gap < 0 && found[0].gap < 0 &&
                         found[0].gap > expected.gap));
      double gap = found[0].gap;
      count = query(mesh, others[o], 0.5);
      CU_ASSERT(count >= 1 && fabs(found[0].gap - gap) < 1e-9);
    }
  CU_ASSERT(overlaps > 300);
  CU_ASSERT(equal_overlaps > 0.96 * overlaps);
  for (int o = 0; o < 5; o++) dGeomDestroy(others[o]);
  destroy(mesh, cube);
  dGeomTriMeshDataDestroy(data);
}

static void test_mesh_on_plane_and_mesh(void) {
  dTriMeshDataID data = cube_mesh_data(), ground = floor_data();
  dGeomID mesh = dCreateTriMesh(0, data, NULL, NULL, NULL);
  dGeomID plane = dCreatePlane(0, 0, 0, 1, 0);
  dGeomID floor = dCreateTriMesh(0, ground, NULL, NULL, NULL);
  dGeomSetPosition(mesh, 0, 0, 0.51);
  expect_four_corners(query(mesh, plane, 0.1), 0.01, 1e-15);
  int count = query(mesh, floor, 0.1);
  CU_ASSERT(count >= 4);
  for (int i = 0; i < count; i++) {
    CU_ASSERT_DOUBLE_EQUAL(found[i].gap, 0.01, of_host(1e-14, 1));
    CU_ASSERT(found[i].normal[2] > 1 - 1e-12);
  }
  dGeomDestroy(floor);
  destroy(mesh, plane);
  dGeomTriMeshDataDestroy(data);
  dGeomTriMeshDataDestroy(ground);
}

/* ---- meshes of many triangles ---- */

enum { RINGS = 7, SECTORS = 12, ROCK_TRIANGLES = 2 * SECTORS * (RINGS - 1) };

typedef struct rock {
  double points[RINGS * SECTORS + 2][3];
  unsigned indices[ROCK_TRIANGLES + 2 * SECTORS][3];
  int n_triangles;
  dTriMeshDataID data;
} rock;

/* A ball with bumps, of about `size` across. */
static void make_rock(rock *made, double size) {
  int n = 0;
  for (int ring = 0; ring < RINGS; ring++)
    for (int i = 0; i < SECTORS; i++, n++) {
      double up = M_PI * (ring + 1) / (RINGS + 1),
             around = 2 * M_PI * i / SECTORS;
      double r = size * oracle_uniform(0.35, 0.5);
      made->points[n][0] = r * sin(up) * cos(around);
      made->points[n][1] = r * sin(up) * sin(around);
      made->points[n][2] = r * cos(up);
    }
  for (int end = 0; end < 2; end++, n++)
    for (int k = 0; k < 3; k++)
      made->points[n][k] = k < 2 ? 0 : size * (end == 0 ? 0.45 : -0.45);
  for (int i = 0; i < 3 * n; i++) // the host keeps them so
    made->points[i / 3][i % 3] = (float)made->points[i / 3][i % 3];
  unsigned(*at)[3] = made->indices;
  for (unsigned i = 0; i < SECTORS; i++) {
    unsigned next = (i + 1) % SECTORS, last = (RINGS - 1) * SECTORS;
    memcpy(*at++, (unsigned[]){RINGS * SECTORS, i, next}, sizeof *at);
    memcpy(*at++, (unsigned[]){RINGS * SECTORS + 1, last + next, last + i},
           sizeof *at);
    for (unsigned ring = 0; ring + 1 < RINGS; ring++) {
      unsigned a = ring * SECTORS + i, b = ring * SECTORS + next;
      memcpy(*at++, (unsigned[]){a, a + SECTORS, b}, sizeof *at);
      memcpy(*at++, (unsigned[]){b, a + SECTORS, b + SECTORS}, sizeof *at);
    }
  }
  made->n_triangles = (int)(at - made->indices);
  made->data = dGeomTriMeshDataCreate();
  dGeomTriMeshDataBuildDouble(made->data, made->points, sizeof made->points[0],
                              n, made->indices, 3 * made->n_triangles,
                              sizeof made->indices[0]);
  dGeomTriMeshDataPreprocess2(made->data,
                              1u << dTRIDATAPREPROCESS_BUILD_FACE_ANGLES, NULL);
}

static void triangle_shape(const rock *of, dGeomID placed, int number,
                           gap_shape *shape) {
  const dReal *p = dGeomGetPosition(placed), *R = dGeomGetRotation(placed);
  *shape = (gap_shape){.kind = GAP_TRIANGLE,
                       .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  for (int i = 0; i < 3; i++) {
    const double *corner = of->points[of->indices[number][i]];
    for (int k = 0; k < 3; k++)
      shape->corners[i][k] = p[k] + R[4 * k] * corner[0] +
                             R[4 * k + 1] * corner[1] +
                             R[4 * k + 2] * corner[2];
  }
}

/* The least gap between any two triangles. */
static double least_of_pairs(const rock rocks[2], const dGeomID placed[2]) {
  memory_pool pool;
  memory_pool_open(&pool, &memory_from_malloc);
  gap_scratch scratch = {.pool = &pool};
  double least = INFINITY;
  for (int i = 0; i < rocks[0].n_triangles; i++) {
    gap_shape one, other;
    triangle_shape(&rocks[0], placed[0], i, &one);
    for (int j = 0; j < rocks[1].n_triangles; j++) {
      gap_contact contact;
      triangle_shape(&rocks[1], placed[1], j, &other);
      if (gap_pair(&scratch, &one, &other, fmin(least, 1e3), 0, &contact, 1) >
          0)
        least = fmin(least, contact.gap);
    }
  }
  memory_pool_release(&pool);
  return least;
}

/* The nearest few of `all` [count], however large the margin: none that has a lower gap
 * than is covered is left out, and few pairs of triangles are compared. */
static void expect_the_nearest(const rock rocks[2], const dGeomID placed[2],
                               const gap_contact all[], int count,
                               double size) {
  gap_contact nearest[GAP_NEAREST_ROOM];
  double before = context->compared;
  int few = gap_query(context, placed[0], placed[1], 10 * size, GAP_NEAREST,
                      nearest, GAP_NEAREST_ROOM);
  double all_pairs = (double)rocks[0].n_triangles * rocks[1].n_triangles;
  const bool apart = count > 0 && all[0].gap > 0;
  CU_ASSERT(context->compared - before < all_pairs / (apart ? 15 : 3));
  CU_ASSERT(few > 0 && context->covered >= nearest[0].gap);
  for (int i = 0; i < few && i < count; i++)
    if (nearest[i].gap < context->covered)
      CU_ASSERT_DOUBLE_EQUAL(nearest[i].gap, all[i].gap, 1e-13 * size);
  if (few < count) CU_ASSERT(all[few].gap >= context->covered - 1e-13 * size);
}

/* A question of a sweep counts as what it costs: not as the triangles that it asks about,
 * but as those that each of them is compared with. */
static void expect_it_counts(const rock rocks[2], const dGeomID placed[2],
                             double size) {
  gap_sweep_request request = {.geom = {placed[0], placed[1]},
                               .tolerance = 1e-9 * size,
                               .most = INFINITY};
  gap_sweep_result result;
  double about[3] = {0, 0, 0};
  for (int side = 0; side < 2; side++)
    CU_ASSERT_EQUAL(
        gap_extent_find(context, placed[side], about, &request.extent[side]),
        GAP_OK);
  CU_ASSERT_EQUAL(gap_sweep(context, &request, &result), GAP_OK);
  CU_ASSERT_EQUAL(result.queries, 1);
  CU_ASSERT(result.work > rocks[0].n_triangles);
}

/* Only triangles that are near each other are looked at, and only for the
 * deepest contact where one is asked for: nothing may get lost by it. */
static void test_deepest_of_rocks(void) {
  static const double sizes[] = {0.02, 1, 30};
  for (int trial = 0; trial < 18; trial++) {
    double size = sizes[trial % 3];
    rock rocks[2];
    dGeomID placed[5];
    for (int i = 0; i < 2; i++) {
      make_rock(&rocks[i], size);
      placed[i] = dCreateTriMesh(0, rocks[i].data, NULL, NULL, NULL);
    }
    placed[2] = dCreateCylinder(0, 0.3 * size, size);
    placed[3] = dCreateCapsule(0, 0.2 * size, size);
    placed[4] = dCreateBox(0, size, 0.7 * size, 0.3 * size);
    double way = size * (trial < 6 ? 0.6 : oracle_uniform(0.9, 1.3));
    for (int i = 0; i < 5; i++) {
      tilt(placed[i], oracle_uniform(-1, 1), oracle_uniform(-1, 1), 1,
           oracle_uniform(-3, 3));
      if (i > 0) dGeomSetPosition(placed[i], 0.6 * way, 0.64 * way, 0.48 * way);
    }
    double margin = 0.5 * size;
    for (int i = 1; i < 5; i++) {
      gap_contact deepest;
      static gap_contact all[4096];
      int count =
          gap_query(context, placed[0], placed[i], margin, 0, all, 4096);
      int one =
          gap_query(context, placed[0], placed[i], margin, 0, &deepest, 1);
      CU_ASSERT_FATAL(count < 4096);
      CU_ASSERT_EQUAL(one, count > 0);
      if (one == 1) {
        CU_ASSERT_DOUBLE_EQUAL(deepest.gap, all[0].gap, 1e-13 * size);
      }
      if (i == 1) expect_the_nearest(rocks, placed, all, count, size);
      if (i == 1 && trial < 6) expect_it_counts(rocks, placed, size);
      if (i > 1 || count <= 0 || all[0].gap < 0) continue;
      CU_ASSERT_DOUBLE_EQUAL(deepest.gap, least_of_pairs(rocks, placed),
                             of_host(1e-12, 1) * size);
    }
    for (int i = 0; i < 5; i++) dGeomDestroy(placed[i]);
    for (int i = 0; i < 2; i++) dGeomTriMeshDataDestroy(rocks[i].data);
  }
}

/* What is small and far over large triangles, on their corners and edges too: where
 * the deepest contact alone is asked for, it is the first of all. */
static void test_deepest_over_fields(void) {
  static const double cells[] = {0.02, 1, 50};
  int n_near = 0;
  for (int trial = 0; trial < 600; trial++) {
    double cell = cells[trial % 3],
           size = cell * pow(10, -4 * (trial % 7) / 7.);
    dHeightfieldDataID field = dGeomHeightfieldDataCreate();
    dGeomHeightfieldDataBuildCallback(field, NULL, trial % 2 ? wavy : level,
                                      10 * cell, 10 * cell, 11, 11,
                                      trial % 2 ? cell : 1, 0, 1, 0);
    dGeomHeightfieldDataSetBounds(field, -1, 1);
    dGeomID ground = dCreateHeightfield(0, field, 1), shapes[4];
    shapes[0] = dCreateSphere(0, size);
    shapes[1] = dCreateCapsule(0, size, 3 * size);
    shapes[2] = dCreateCylinder(0, size, 2 * size);
    shapes[3] = dCreateBox(0, size, 2 * size, 3 * size);
    double high = oracle_uniform(0, 1.5) * cell;
    double x = trial % 5 ? oracle_uniform(-2, 2) * cell : 0;
    double z = trial % 4 ? oracle_uniform(-2, 2) * cell : 0;
    for (int i = 0; i < 4; i++) {
      static gap_contact all[4096];
      gap_contact deepest;
      dGeomSetPosition(shapes[i], x, high + 2 * size, z);
      tilt(shapes[i], oracle_uniform(-1, 1), oracle_uniform(-1, 1), 1,
           oracle_uniform(-3, 3));
      double margin = oracle_uniform(0.5, 2) * cell;
      int count = gap_query(context, shapes[i], ground, margin, 0, all, 4096);
      int one = gap_query(context, shapes[i], ground, margin, 0, &deepest, 1);
      n_near += count > 0;
      CU_ASSERT_EQUAL(one, count > 0);
      if (one == 1 && count > 0)
        CU_ASSERT_DOUBLE_EQUAL(deepest.gap, all[0].gap, 1e-12 * cell);
      dGeomDestroy(shapes[i]);
    }
    dGeomDestroy(ground);
    dGeomHeightfieldDataDestroy(field);
  }
  CU_ASSERT(n_near > 1000);
}

/* ---- identity ---- */

/* A contact as the step's memory of contacts knows it. */
static contact_entry entry_of(const gap_contact *contact, dGeomID a,
                              dGeomID b) {
  contact_entry entry = {.serial = {1, 2}};
  dGeomID geoms[2] = {a, b};
  for (int side = 0; side < 2; side++) {
    dVector3 arm, local;
    const dReal *from = dGeomGetPosition(geoms[side]);
    for (int k = 0; k < 3; k++) arm[k] = contact->point[k] - from[k];
    dMultiply1_331(local, dGeomGetRotation(geoms[side]), arm);
    real_read(entry.local[side], local, 3);
  }
  vec3_copy(entry.normal, contact->normal);
  return entry;
}

/* Contacts not found again within a radius over steps of a motion of `a` over `b`. */
static int count_unmatched(dGeomID a, dGeomID b, int steps, double radius,
                           void move(dGeomID, int), int *contacts) {
  contact_memory memory = {0};
  memory_pool pool;
  memory_pool_open(&pool, &memory_from_malloc);
  int unmatched = 0;
  *contacts = 0;
  for (int step = 0; step < steps; step++) {
    contact_entry entries[ROOM];
    contact_match matches[ROOM];
    move(a, step);
    int count = query(a, b, 0.02);
    for (int i = 0; i < count; i++) entries[i] = entry_of(&found[i], a, b);
    contact_memory_match(&memory, entries, count, radius, matches);
    for (int i = 0; step > 0 && i < count; i++)
      unmatched += matches[i].old == NULL;
    if (step > 0) *contacts += count;
    CU_ASSERT_FATAL(contact_memory_reserve(&memory, &pool, count));
    contact_memory_take(&memory, entries, count);
  }
  memory_pool_release(&pool);
  return unmatched;
}

static void rest(dGeomID box, int step) {
  dGeomSetPosition(box, 1e-10 * sin(step * 1.3), 1e-10 * cos(step * 2.1),
                   0.5 + 1e-10 * sin(step * 0.7));
  tilt(box, sin(step), cos(step), 0.3, 1e-10 * sin(step * 1.9));
}

static void slide(dGeomID box, int step) {
  dGeomSetPosition(box, -1 + 0.01 * step, 0.003 * step, 0.5 - 1e-4);
}

static void roll(dGeomID cylinder, int step) {
  dMatrix3 R, lying, turn;
  dRFromAxisAndAngle(lying, 1, 0, 0, M_PI / 2);
  dRFromAxisAndAngle(turn, 0, 1, 0, 0.02 * step / 0.2);
  dMultiply0_333(R, turn, lying);
  dGeomSetRotation(cylinder, R);
  dGeomSetPosition(cylinder, -1 + 0.02 * step, 0, 0.2);
}

static void test_identity(void) {
  dTriMeshDataID data = floor_data();
  dGeomID floor = dCreateTriMesh(0, data, NULL, NULL, NULL);
  dGeomID table = dCreateBox(0, 4, 4, 1), equal = dCreateBox(0, 1, 1, 1);
  dGeomSetPosition(table, 0, 0, -0.5);
  dGeomSetPosition(equal, 0, 0, -0.5);
  dGeomID box = dCreateBox(0, 1, 1, 1), cylinder = dCreateCylinder(0, .2, 1);
  int contacts;
  // at rest points stay where they are, whichever of equal ones are taken
  CU_ASSERT_EQUAL(count_unmatched(box, table, 100, 1e-8, rest, &contacts), 0);
  CU_ASSERT_EQUAL(contacts, 4 * 99);
  CU_ASSERT_EQUAL(count_unmatched(box, equal, 100, 1e-8, rest, &contacts), 0);
  CU_ASSERT_EQUAL(contacts, 4 * 99);
  CU_ASSERT_EQUAL(count_unmatched(box, floor, 200, 0.01, slide, &contacts), 0);
  CU_ASSERT_EQUAL(contacts, 4 * 199);
  CU_ASSERT_EQUAL(count_unmatched(cylinder, floor, 90, 0.03, roll, &contacts),
                  0);
  CU_ASSERT(contacts >= 2 * 89);
  CU_ASSERT(count_unmatched(cylinder, floor, 90, 0.001, roll, &contacts) > 0);
  dGeomDestroy(box);
  dGeomDestroy(equal);
  dGeomDestroy(floor);
  destroy(cylinder, table);
  dGeomTriMeshDataDestroy(data);
}

/* ---- faults ---- */

static void expect_fault(dGeomID bad, gap_status status, const char *name) {
  dGeomID good = dCreateSphere(0, 1);
  for (int order = 0; order < 2; order++) {
    int result = order == 0 ? query(bad, good, 0.1) : query(good, bad, 0.1);
    CU_ASSERT_EQUAL(result, (int)status);
    const char *text = gap_context_error(context);
    char address[32];
    snprintf(address, sizeof address, "%p", (void *)bad);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, address));
    CU_ASSERT_PTR_EQUAL(strstr(text, name), text);
  }
  destroy(bad, good);
}

static void test_faults(void) {
  dGeomID box = dCreateBox(0, 1, 1, 1);
  dGeomSetPosition(box, NAN, 0, 0);
  expect_fault(box, GAP_BAD_POSE, "box");

  box = dCreateBox(0, 1, 1, 1);
  dMatrix3 R = {1, 0, 0, 0, 0, NAN, 0, 0, 0, 0, 1, 0};
  dGeomSetRotation(box, R);
  expect_fault(box, GAP_BAD_POSE, "box");

  expect_fault(dCreateBox(0, 1, 0, 1), GAP_BAD_SIZE, "box");
  expect_fault(dCreateSphere(0, 0), GAP_BAD_SIZE, "sphere");
  expect_fault(dCreateCylinder(0, 1, 0), GAP_BAD_SIZE, "cylinder");
  expect_fault(dCreateRay(0, 1), GAP_BAD_CLASS, "ray");
  expect_fault((dGeomID)dSimpleSpaceCreate(0), GAP_BAD_CLASS, "space");

  // but for rounding
  static const dReal flat[] = {0, 0, 0, 1, 0, .1, 0, 1, .2, 1, 1, .3};
  static const unsigned faces[] = {3, 0, 1, 2, 3, 1, 3, 2,
                                   3, 0, 2, 1, 3, 2, 3, 1};
  expect_fault(dCreateConvex(0, cube_planes, 4, flat, 4, faces), GAP_BAD_HULL,
               "convex");
  static const unsigned open[] = {4, 0, 4, 6, 2, 4, 1, 3, 7, 5,
                                  4, 0, 1, 5, 4, 4, 2, 6, 7, 3};
  expect_fault(dCreateConvex(0, cube_planes, 4, cube_points, 8, open),
               GAP_BAD_HULL, "convex");

  expect_fault(dCreateTriMesh(0, NULL, NULL, NULL, NULL), GAP_BAD_MESH,
               "trimesh");
}

/* ---- memory ---- */

static void test_memory_runs_out(void) {
  failing_memory memory = {0};
  const memory_source some = failing_memory_source(&memory);
  dTriMeshDataID data = floor_data();
  dGeomID floor = dCreateTriMesh(0, data, NULL, NULL, NULL);
  dGeomID convex = new_cube_convex(false);
  dGeomSetPosition(convex, 0, 0, 0.51);
  int failures = 0, count = -1;
  for (long allowed = 0; allowed < 100 && count < 0; allowed++) {
    fail_allocations_from(&memory, allowed);
    gap_context *poor = gap_context_create(&some);
    if (poor == NULL) {
      failures++;
      continue;
    }
    count = gap_query(poor, convex, floor, 0.1, 0, found, ROOM);
    CU_ASSERT(count == 4 || count == GAP_NO_MEMORY);
    failures += count < 0;
    if (count < 0) { // and the context is good for another try
      fail_no_allocation(&memory);
      CU_ASSERT_EQUAL(gap_query(poor, convex, floor, 0.1, 0, found, ROOM), 4);
    }
    gap_context_destroy(poor);
    CU_ASSERT_EQUAL(memory.bytes_held, 0);
  }
  CU_ASSERT_EQUAL(count, 4);
  CU_ASSERT(failures > 3);
  destroy(floor, convex);
  dGeomTriMeshDataDestroy(data);
}

/* ---- sweeps ---- */

typedef struct fall {
  double height, speed, more; /* of the ball: height - speed s - more s^2 */
  double below;               /* it: the centre of its body */
} fall;

static void pose_of_fall(const void *of, double share, double position[3],
                         double rotation[9]) {
  const fall *f = of;
  position[0] = position[1] = 0;
  position[2] =
      f->height - f->below - f->speed * share - f->more * share * share;
  for (int i = 0; i < 9; i++) rotation[i] = i % 4 == 0;
}

/* Where a ball that falls reaches a depth below a table is a root of a quadratic; the
 * sweep finds it to its tolerance, from above and not from below, whatever the bounds
 * that it is told are. Those that are far off cost queries, but not one for each share
 * of the way that they make of it: it goes to where the gap would close. */
static void test_sweeps_find_the_root(void) {
  const double RADIUS = 0.25, DEPTH = 0.1, TOLERANCE = 1e-6;
  const fall falls[] = {{2, 4, 0, 0},   {2, 1, 3, 0.5},    {2, 6, -2, 0},
                        {2, 0.5, 9, 0}, {2, 20, 0, 0},     {2, 4, -1.9, 0.1},
                        {9, 3, 0, 0},   {0.5, 0.3, 0.3, 0}};
  dGeomID table = dCreateBox(0, 4, 4, 1), ball = dCreateSphere(0, RADIUS);
  dGeomSetPosition(table, 0, 0, -0.5);
  for (size_t k = 0; k < sizeof falls / sizeof *falls; k++)
    for (int loose = 1; loose <= 16; loose *= 4) {
      const fall *f = &falls[k];
      gap_sweep_request request = {.geom = {ball, table},
                                   .depth = DEPTH,
                                   .tolerance = TOLERANCE,
                                   .most = INFINITY};
      dGeomSetPosition(ball, 0, 0, f->height);
      gap_mover *mover = &request.mover[0];
      mover->pose = pose_of_fall;
      mover->context = f;
      mover->stops = 1;
      pose_of_fall(f, 0, mover->start_position, mover->start_rotation);
      double fastest = fmax(f->speed, f->speed + 2 * f->more);
      for (int i = 0; i < 3; i++)
        mover->linear[i][2] =
            i == 0 && loose == 1 ? -f->speed : -fastest * loose;
      mover->bending = 2 * fabs(f->more) * loose * loose;
      if (loose > 1) mover->bending += 100;
      double origin[3] = {0, 0, 0};
      gap_sweep_result result;
      CU_ASSERT_EQUAL(gap_extent_find(context, ball, mover->start_position,
                                      &request.extent[0]),
                      GAP_OK);
      CU_ASSERT_EQUAL(
          gap_extent_find(context, table, origin, &request.extent[1]), GAP_OK);
      CU_ASSERT_EQUAL(gap_sweep(context, &request, &result), GAP_OK);

      double way =
          f->height - RADIUS + DEPTH; // to the place that is looked for
      double root = sqrt(fmax(f->speed * f->speed + 4 * f->more * way, 0));
      double at = 2 * way / (f->speed + root);
      bool hits = f->speed * f->speed + 4 * f->more * way >= 0 && at <= 1;
      CU_ASSERT_EQUAL(result.hits, hits);
      CU_ASSERT(result.queries <= 60);
      CU_ASSERT_FALSE(result.ran_out);
      if (!hits || !result.hits) continue;
      double place[3], turned[9];
      pose_of_fall(f, result.share, place, turned);
      double gap = place[2] + f->below - RADIUS;
      CU_ASSERT(fabs(gap + DEPTH) <= TOLERANCE * (1 + 1e-6));
      if (fabs(gap + DEPTH) > TOLERANCE * (1 + 1e-6))
        printf("  fall %d, bounds %d times: gap %g\n", (int)k, loose, gap);
    }
  destroy(table, ball);
}

int main(void) {
  dInitODE2(0);
  dAllocateODEDataForThread(dAllocateMaskAll);
  context = gap_context_create(&memory_from_malloc);
  const CU_TestInfo tests[] = {
      {"cube above table", test_cube_above_table},
      {"tilted cube", test_tilted_cube_above_table},
      {"lying rolls", test_lying_capsule_and_cylinder},
      {"parallel edges", test_parallel_edges},
      {"reduction", test_reduction},
      {"plate on a plane", test_plate_on_plane},
      {"a line keeps its ends", test_a_line_keeps_its_ends},
      {"ties go to the first", test_ties_go_to_the_first},
      {"offsets, transforms", test_offsets_and_transforms},
      {"changed convex", test_changed_convex},
      {"ellipsoid", test_ellipsoid_with_every_class},
      {"an ellipsoid in a valley", test_ellipsoid_in_a_valley},
      {"trees find in order", test_trees_find_in_order},
      {"cube slides over mesh", test_cube_slides_over_mesh},
      {"behind a sheet", test_behind_a_sheet},
      {"ends beside seams", test_ends_beside_seams},
      {"rough field", test_sphere_over_rough_field},
      {"cube of triangles", test_cube_of_triangles},
      {"mesh on plane, mesh", test_mesh_on_plane_and_mesh},
      {"deepest of rocks", test_deepest_of_rocks},
      {"deepest over fields", test_deepest_over_fields},
      {"sweeps find the root", test_sweeps_find_the_root},
      {"identity", test_identity},
      {"faults", test_faults},
      {"memory runs out", test_memory_runs_out},
      {"host opened again", test_host_opened_again},
      CU_TEST_INFO_NULL};
  int result = run_tests("gap_ode", tests);
  gap_context_destroy(context);
  dCloseODE();
  return result;
}
