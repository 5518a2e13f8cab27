#include "gap/gap_hull.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/vec3.h"

/* How far, relative to the hull's reach, a corner may stand out of a face:
 * programs type their hulls in with few digits. */
static const double convexity_tolerance = 1e-2;

/* A hull flatter than this times its reach has no inside to speak of: one that is flat
 * and turned is so but for rounding ("faults"). */
static const double flatness_tolerance = 1e-9;

/* The arrays of a hull while they are filled, and how far its corners are from its
 * origin. */
typedef struct builder {
  gap_topology *of;
  int (*edges)[2];
  int *edge_uses; /* how many faces an edge has so far */
  int *face_start, *face_corners;
  double (*points)[3], (*normals)[3], reach;
} builder;

static const char *count_polygons(const unsigned polygons[],
                                  unsigned n_polygons, unsigned n_points,
                                  size_t *n_sides) {
  *n_sides = 0;
  const unsigned *at = polygons;
  for (unsigned f = 0; f < n_polygons; f++) {
    unsigned sides = *at++;
    if (sides < 3) return "has a face with fewer than three corners";
    if (sides > n_points) return "has a face with too many corners";
    for (unsigned i = 0; i < sides; i++)
      if (at[i] >= n_points) return "has a face with a corner out of range";
    at += sides;
    *n_sides += sides;
  }
  return NULL;
}

static void *take(char **at, size_t count, size_t size) {
  void *taken = *at;
  *at += count * size;
  return taken;
}

/* One block for everything; doubles first, so that all is aligned. */
static bool reserve(gap_hull *hull, builder *build, memory_pool *pool,
                    size_t n_points, size_t n_faces, size_t n_sides) {
  size_t size = (n_points + n_faces) * 3 * sizeof(double) +
                (n_sides * 4 + n_faces + 1) * sizeof(int);
  if (!POOL_RESERVE(pool, hull->memory, size)) return false;
  char *at = hull->memory;
  build->points = take(&at, n_points, 3 * sizeof(double));
  build->normals = take(&at, n_faces, 3 * sizeof(double));
  build->edges = take(&at, n_sides, 2 * sizeof(int));
  build->edge_uses = take(&at, n_sides, sizeof(int));
  build->face_corners = take(&at, n_sides, sizeof(int));
  build->face_start = take(&at, n_faces + 1, sizeof(int));
  hull->points = (const double(*)[3])build->points;
  hull->normals = (const double(*)[3])build->normals;
  hull->topology = (gap_topology){.n_corners = (int)n_points,
                                  .n_faces = (int)n_faces,
                                  .edges = (const int(*)[2])build->edges,
                                  .face_start = build->face_start,
                                  .face_corners = build->face_corners};
  build->of = &hull->topology;
  return true;
}

/* One more face at the edge between two corners, which is made when it is new; false
 * where it has two already. */
static bool use_edge(builder *build, int from, int to) {
  int e = 0;
  for (; e < build->of->n_edges; e++) {
    const int *edge = build->edges[e];
    if ((edge[0] == from && edge[1] == to) ||
        (edge[0] == to && edge[1] == from))
      return build->edge_uses[e]++ < 2;
  }
  build->of->n_edges++;
  build->edges[e][0] = from;
  build->edges[e][1] = to;
  build->edge_uses[e] = 1;
  return true;
}

static const char *fill_faces(builder *build, const unsigned polygons[]) {
  const unsigned *at = polygons;
  int side = 0;
  for (int f = 0; f < build->of->n_faces; f++) {
    int sides = (int)*at++;
    build->face_start[f] = side;
    for (int i = 0; i < sides; i++) {
      int from = (int)at[i], to = (int)at[(i + 1) % sides];
      if (from == to) return "has an edge of no length";
      if (!use_edge(build, from, to))
        return "has an edge with more than two faces";
      build->face_corners[side++] = from;
    }
    at += sides;
  }
  build->face_start[build->of->n_faces] = side;
  for (int e = 0; e < build->of->n_edges; e++)
    if (build->edge_uses[e] != 2) return "has an edge with only one face";
  return NULL;
}

/* The area vector (Newell), which holds for faces that are not quite flat. */
static void area_vector(const builder *build, int face, double area[3]) {
  int start = build->face_start[face], end = build->face_start[face + 1];
  const double *base = build->points[build->face_corners[start]];
  for (int k = 0; k < 3; k++) area[k] = 0;
  for (int i = start + 1; i + 1 < end; i++) {
    double u[3], v[3], cross[3];
    vec3_subtract(u, build->points[build->face_corners[i]], base);
    vec3_subtract(v, build->points[build->face_corners[i + 1]], base);
    vec3_cross(cross, u, v);
    vec3_add_scaled(area, 1, cross);
  }
}

static const char *fill_normals(builder *build, gap_hull *hull) {
  double centre[3] = {0, 0, 0}, reach = 0;
  for (int i = 0; i < build->of->n_corners; i++) {
    reach = fmax(reach, vec3_length(build->points[i]));
    vec3_add_scaled(centre, 1.0 / build->of->n_corners, build->points[i]);
  }
  for (int f = 0; f < build->of->n_faces; f++) {
    double *normal = build->normals[f], arm[3];
    area_vector(build, f, normal);
    if (!(vec3_normalise(normal) >
          flatness_tolerance * flatness_tolerance * reach * reach))
      return "has a face of no area";

    // corners may be listed either way round: out is away from the centre
    const double *corner =
        build->points[build->face_corners[build->face_start[f]]];
    vec3_subtract(arm, corner, centre);
    if (vec3_dot(normal, arm) < 0) vec3_negate(normal, normal);

    double highest = -INFINITY, lowest = INFINITY;
    for (int i = 0; i < build->of->n_corners; i++) {
      vec3_subtract(arm, build->points[i], corner);
      highest = fmax(highest, vec3_dot(normal, arm));
      lowest = fmin(lowest, vec3_dot(normal, arm));
    }
    if (highest > convexity_tolerance * reach) return "is not convex";
    if (f == 0 || -lowest < hull->thickness) hull->thickness = -lowest;
  }
  return hull->thickness > flatness_tolerance * reach ? NULL : "is flat";
}

bool gap_hull_make(gap_hull *hull, memory_pool *pool, const double points[],
                   unsigned n_points, const unsigned polygons[],
                   unsigned n_polygons, const char **fault) {
  *hull = (gap_hull){.memory = hull->memory};
  if (points == NULL || polygons == NULL || n_points < 4 || n_polygons < 4)
    return *fault = "has fewer than four corners or faces", false;
  if (n_points > INT32_MAX / 16 || n_polygons > INT32_MAX / 16)
    return *fault = "has too many corners or faces", false;
  if (!all_finite(points, (int)(3 * n_points)))
    return *fault = "has a corner that is not finite", false;

  size_t n_sides;
  builder build;
  *fault = count_polygons(polygons, n_polygons, n_points, &n_sides);
  if (*fault != NULL ||
      !reserve(hull, &build, pool, n_points, n_polygons, n_sides))
    return false;
  memcpy(build.points, points, n_points * 3 * sizeof(double));
  *fault = fill_faces(&build, polygons);
  if (*fault == NULL) *fault = fill_normals(&build, hull);
  if (*fault != NULL) hull->points = NULL;
  return *fault == NULL;
}
