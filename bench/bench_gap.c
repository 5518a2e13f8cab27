/* Time of a gap query beside dCollide() on the same pairs.
 *
 *   bench_gap [POSES [REPEATS]]
 *
 * Prints for each pair of classes the median and the largest microseconds of a
 * query apart (gap 0.01), touching (1e-9) and overlapping (-0.01), the largest
 * certificate, and dCollide()'s median when overlapping. The largest is of
 * medians over REPEATS, so that other work on the machine counts little.
 */
#include <ode/ode.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gap/gap_ode.h"
#include "test_gap_oracle.h"

enum { MOST_POSES = 1000, MOST_REPEATS = 25, GEOMS = 9, SETTINGS = 3 };

static const dReal cube_points[] = {-.5, -.5, -.5, .5,  -.5, -.5, -.5, .5,
                                    -.5, .5,  .5,  -.5, -.5, -.5, .5,  .5,
                                    -.5, .5,  -.5, .5,  .5,  .5,  .5,  .5};
static const dReal cube_planes[] = {-1, 0, 0, .5, 1, 0, 0,  .5, 0, -1, 0, .5,
                                    0,  1, 0, .5, 0, 0, -1, .5, 0, 0,  1, .5};
static const unsigned cube_polygons[] = {4, 0, 4, 6, 2, 4, 1, 3, 7, 5,
                                         4, 0, 1, 5, 4, 4, 2, 6, 7, 3,
                                         4, 0, 2, 3, 1, 4, 4, 5, 7, 6};
static const char *const names[GEOMS] = {"sphere",   "box",     "capsule",
                                         "cylinder", "convex",  "ellipsoid",
                                         "plane",    "trimesh", "heightfield"};

static dReal ground_height(void *data, int x, int z) {
  (void)data;
  return 0.05 * sin(x * 0.7) * cos(z * 0.9);
}

static dTriMeshDataID ground_mesh(void) {
  enum { CELLS = 32 };
  static double points[(CELLS + 1) * (CELLS + 1)][3];
  static dTriIndex indices[2 * CELLS * CELLS][3];
  int count = 0;
  for (int x = 0; x <= CELLS; x++)
    for (int z = 0; z <= CELLS; z++) {
      double *p = points[x * (CELLS + 1) + z];
      p[0] = (x - CELLS / 2) * 0.25;
      p[1] = ground_height(NULL, x, z);
      p[2] = (z - CELLS / 2) * 0.25;
    }
  for (dTriIndex x = 0; x < CELLS; x++)
    for (dTriIndex z = 0; z < CELLS; z++) {
      dTriIndex a = x * (CELLS + 1) + z, b = a + CELLS + 1;
      dTriIndex cell[2][3] = {{a, a + 1, b}, {b + 1, b, a + 1}};
      memcpy(indices[count++], cell[0], sizeof cell[0]);
      memcpy(indices[count++], cell[1], sizeof cell[1]);
    }
  dTriMeshDataID data = dGeomTriMeshDataCreate();
  dGeomTriMeshDataBuildDouble(data, points, sizeof points[0],
                              (CELLS + 1) * (CELLS + 1), indices, 3 * count,
                              sizeof indices[0]);
  dGeomTriMeshDataPreprocess2(data, 1u << dTRIDATAPREPROCESS_BUILD_FACE_ANGLES,
                              NULL);
  return data;
}

static dHeightfieldDataID ground_field(void) {
  dHeightfieldDataID data = dGeomHeightfieldDataCreate();
  dGeomHeightfieldDataBuildCallback(data, NULL, ground_height, 8, 8, 33, 33, 1,
                                    0, 1, 0);
  dGeomHeightfieldDataSetBounds(data, -0.1, 0.1);
  return data;
}

static void make_geoms(dGeomID geoms[GEOMS]) {
  static const double axes[3] = {0.5, 0.35, 0.2};
  geoms[0] = dCreateSphere(0, 0.5);
  geoms[1] = dCreateBox(0, 1, 0.7, 0.5);
  geoms[2] = dCreateCapsule(0, 0.3, 0.8);
  geoms[3] = dCreateCylinder(0, 0.4, 0.8);
  geoms[4] = dCreateConvex(0, cube_planes, 6, cube_points, 8, cube_polygons);
  geoms[5] = gap_ellipsoid_create(0, axes);
  geoms[6] = dCreatePlane(0, 0, 1, 0, 0);
  geoms[7] = dCreateTriMesh(0, ground_mesh(), NULL, NULL, NULL);
  geoms[8] = dCreateHeightfield(0, ground_field(), 1);
}

static double microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double values[], int count) {
  qsort(values, (size_t)count, sizeof *values, compare);
  return values[count / 2];
}

static void place_at_random(dGeomID geom, bool over_ground) {
  double R[9], u[3];
  oracle_rotation(R);
  dMatrix3 turn = {R[0], R[1], R[2], 0,    R[3], R[4],
                   R[5], 0,    R[6], R[7], R[8], 0};
  dGeomSetRotation(geom, turn);
  oracle_unit(u);
  if (over_ground)
    dGeomSetPosition(geom, u[0], 1.2, u[2]);
  else
    dGeomSetPosition(geom, 3 * u[0], 3 * u[1], 3 * u[2]);
}

typedef struct timing {
  double query[MOST_POSES], collide[MOST_POSES], certificate;
} timing;

static void time_pose(gap_context *context, dGeomID a, dGeomID b, int repeats,
                      int pose, timing *result) {
  double query[MOST_REPEATS], collide[MOST_REPEATS];
  gap_contact contacts[GAP_PAIR_ROOM];
  dContactGeom host[GAP_PAIR_ROOM];
  for (int i = 0; i < repeats; i++) {
    double start = microseconds();
    int count = gap_query(context, a, b, 0.02, 0, contacts, GAP_PAIR_ROOM);
    query[i] = microseconds() - start;
    if (count > 0 && contacts[0].certificate > result->certificate)
      result->certificate = contacts[0].certificate;
    start = microseconds();
    dCollide(a, b, GAP_PAIR_ROOM, host, sizeof host[0]);
    collide[i] = microseconds() - start;
  }
  result->query[pose] = median(query, repeats);
  result->collide[pose] = median(collide, repeats);
}

static void bring_to(gap_context *context, dGeomID a, dGeomID b, double gap) {
  gap_contact contact;
  if (gap_query(context, a, b, 20, 0, &contact, 1) != 1) return;
  const dReal *p = dGeomGetPosition(a);
  double push = gap - contact.gap;
  dGeomSetPosition(a, p[0] + push * contact.normal[0],
                   p[1] + push * contact.normal[1],
                   p[2] + push * contact.normal[2]);
}

static void time_pair(gap_context *context, dGeomID geom, dGeomID other, int i,
                      int j, int poses, int repeats) {
  static const double gaps[SETTINGS] = {0.01, 1e-9, -0.01};
  static timing result;
  printf("%-10s %-11s", names[i], names[j]);
  result.certificate = 0;
  for (int s = 0; s < SETTINGS; s++) {
    oracle_seed((uint64_t)(100 * i + 10 * j + s + 1));
    for (int pose = 0; pose < poses; pose++) {
      if (j < 6) {
        place_at_random(other, false);
        dGeomSetPosition(other, 0, 0, 0);
      }
      place_at_random(geom, j >= 6);
      bring_to(context, geom, other, gaps[s]);
      time_pose(context, geom, other, repeats, pose, &result);
    }
    double middle = median(result.query, poses);
    printf("  %7.2f %7.1f", middle, result.query[poses - 1]);
  }
  printf("  %8.2f   %.0e\n", median(result.collide, poses), result.certificate);
}

int main(int argc, char **argv) {
  int poses = argc > 1 ? atoi(argv[1]) : 100;
  int repeats = argc > 2 ? atoi(argv[2]) : 5;
  if (poses < 1 || poses > MOST_POSES || repeats < 1 ||
      repeats > MOST_REPEATS) {
    fprintf(stderr, "usage: bench_gap [POSES 1..%d [REPEATS 1..%d]]\n",
            MOST_POSES, MOST_REPEATS);
    return 2;
  }
  dInitODE2(0);
  dAllocateODEDataForThread(dAllocateMaskAll);
  gap_context *context = gap_context_create(&memory_from_malloc);
  dGeomID geoms[GEOMS], second[GEOMS];
  make_geoms(geoms);
  make_geoms(second);
  printf("microseconds: median and largest of %d poses\n", poses);
  printf("%-22s  %15s  %15s  %15s  %8s   %s\n", "pair", "apart 0.01",
         "touching 1e-9", "overlap 0.01", "dCollide", "certificate [m]");
  for (int i = 0; i < 6; i++)
    for (int j = i; j < GEOMS; j++)
      time_pair(context, geoms[i], second[j], i, j, poses, repeats);
  gap_context_destroy(context);
  dCloseODE();
  return 0;
}
