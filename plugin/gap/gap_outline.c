#include "gap/gap_outline.h"

#include "common/vec3.h"

/* cos 30 degrees: what is tilted further than this is no face or edge that could land as a
 * whole ("rods in a line") */
static const double facing_cosine = 0.866;

/* Corners this near to a face's plane, relative to the coordinates, belong to
 * it, too: hulls come with their faces cut into triangles ("cube above table"). */
static const double coplanar = 1e-7;

/* Turns this small are none ("faces that are cut"). */
static const double straight = 1e-9;

/* Edges of a cylinder: rims by end, then the line on its side. */
enum { SIDE_LINE = 2 };

static bool edge_between(const gap_topology *topology, int from, int to,
                         int *number) {
  for (int e = 0; e < topology->n_edges; e++) {
    const int *edge = topology->edges[e];
    if ((edge[0] == from && edge[1] == to) ||
        (edge[0] == to && edge[1] == from))
      return *number = e, true;
  }
  return false;
}

static bool face_has(const gap_topology *topology, int face, int corner) {
  for (int i = topology->face_start[face]; i < topology->face_start[face + 1];
       i++)
    if (topology->face_corners[i] == corner) return true;
  return false;
}

gap_feature gap_outline_feature(const gap_core *core, const int corners[],
                                int count) {
  const gap_topology *topology = core->topology;
  int edge;
  if (count == 2 && edge_between(topology, corners[0], corners[1], &edge))
    return gap_feature_make(GAP_EDGE, (unsigned)edge);
  for (int f = 0; count > 1 && f < topology->n_faces; f++) {
    bool holds = true;
    for (int i = 0; i < count; i++)
      holds = holds && face_has(topology, f, corners[i]);
    if (holds) return gap_feature_make(GAP_FACE, (unsigned)f);
  }
  int lowest = corners[0];
  for (int i = 1; i < count; i++)
    if (corners[i] < lowest) lowest = corners[i];
  return gap_feature_make(GAP_CORNER, (unsigned)lowest);
}

static void add_point(gap_outline *outline, const double point[3],
                      unsigned number) {
  vec3_copy(outline->points[outline->count], point);
  outline->corners[outline->count] = gap_feature_make(GAP_CORNER, number);
  outline->edges[outline->count++] = gap_feature_make(GAP_EDGE, 0);
}

/* The corners in a face's plane, put in order around its normal (gift wrapping). */
static void face_outline(const gap_core *core, int face, double scale,
                         gap_outline *outline) {
  const gap_topology *topology = core->topology;
  const double *base =
      core->corners[topology->face_corners[topology->face_start[face]]];
  int members[OUTLINE_ROOM], n_members = 0;
  double arm[3], furthest = -1;
  int at = 0, first;
  outline->face = gap_feature_make(GAP_FACE, (unsigned)face);
  for (int i = 0; i < topology->n_corners && n_members < OUTLINE_ROOM; i++) {
    vec3_subtract(arm, core->corners[i], base);
    if (!(vec3_dot(outline->normal, arm) >= -coplanar * scale) &&
        !face_has(topology, face, i))
      continue;
    members[n_members++] = i;
    // the one furthest from another is on the outside for sure
    double distance2 = vec3_dot(arm, arm);
    if (distance2 > furthest) furthest = distance2, at = i;
  }
  first = at;
  do {
    int next = -1, edge = 0;
    for (int i = 0; i < n_members; i++) {
      if (members[i] == at) continue;
      if (next < 0) {
        next = members[i];
        continue;
      }
      double u[3], v[3], cross[3];
      vec3_subtract(u, core->corners[next], core->corners[at]);
      vec3_subtract(v, core->corners[members[i]], core->corners[at]);
      vec3_cross(cross, u, v);
      double turn = vec3_dot(cross, outline->normal);
      double least = straight * vec3_length(u) * vec3_length(v);
      bool further = vec3_dot(v, v) > vec3_dot(u, u);
      if (turn < -least || (turn <= least && further)) next = members[i];
    }
    add_point(outline, core->corners[at], (unsigned)at);
    edge_between(core->topology, at, next, &edge);
    outline->edges[outline->count - 1] =
        gap_feature_make(GAP_EDGE, (unsigned)edge);
    at = next;
  } while (at != first && outline->count < OUTLINE_ROOM);
}

/* The edge that ends in the support corner and lies most nearly across d; -1: none. */
static int lying_edge(const gap_core *core, const double d[3], int support) {
  int best = -1;
  double least = sqrt(1 - facing_cosine * facing_cosine);
  for (int e = 0; e < core->topology->n_edges; e++) {
    const int *edge = core->topology->edges[e];
    if (edge[0] != support && edge[1] != support) continue;
    double along[3];
    vec3_subtract(along, core->corners[edge[1]], core->corners[edge[0]]);
    double sine = fabs(vec3_dot(d, along)) / vec3_length(along);
    if (sine < least) least = sine, best = e;
  }
  return best;
}

static void polytope_outline(const gap_core *core, const double d[3],
                             double scale, gap_outline *outline) {
  int face = -1;
  double most = facing_cosine, normal[3];
  for (int f = 0; f < core->topology->n_faces; f++) {
    gap_core_face_normal(core, f, normal);
    double cosine = vec3_dot(normal, d);
    if (cosine > most) {
      most = cosine;
      face = f;
      vec3_copy(outline->normal, normal);
    }
  }
  if (face >= 0) {
    face_outline(core, face, scale, outline);
    return;
  }
  double point[3];
  int support = gap_core_support(core, d, point);
  int edge = lying_edge(core, d, support);
  if (edge < 0) {
    add_point(outline, point, (unsigned)support);
    return;
  }
  for (int k = 0; k < 2; k++) {
    int corner = core->topology->edges[edge][k];
    add_point(outline, core->corners[corner], (unsigned)corner);
    outline->edges[k] = gap_feature_make(GAP_EDGE, (unsigned)edge);
  }
}

/* The cap at one end (+1, -1), as CAP_POINTS points. */
static void cap_outline(const gap_core *core, int end, gap_outline *outline) {
  static const double diagonal = 0.70710678118654752440;
  static const double circle[CAP_POINTS][2] = {
      {1, 0},  {diagonal, diagonal},   {0, 1},  {-diagonal, diagonal},
      {-1, 0}, {-diagonal, -diagonal}, {0, -1}, {diagonal, -diagonal}};
  outline->face = gap_feature_make(GAP_FACE, end > 0);
  for (int i = 0; i < CAP_POINTS; i++) {
    double point[3];
    for (int k = 0; k < 3; k++)
      point[k] =
          core->centre[k] + end * core->half_length * core->axis[k] +
          core->disc_radius * (circle[i][0] * core->rotation[3 * k] +
                               end * circle[i][1] * core->rotation[3 * k + 1]);
    unsigned number = (unsigned)(i + (end > 0 ? CAP_POINTS : 0));
    add_point(outline, point, number);
    outline->edges[i] = gap_feature_make(GAP_EDGE, end > 0);
  }
  for (int k = 0; k < 3; k++) outline->normal[k] = end * core->axis[k];
}

/* The line on the side that is furthest along d. */
static void side_outline(const gap_core *core, const double d[3],
                         gap_outline *outline) {
  double across[3];
  vec3_copy(across, d);
  vec3_add_scaled(across, -vec3_dot(d, core->axis), core->axis);
  vec3_normalise(across);
  for (int end = 0; end < 2; end++) {
    double point[3];
    vec3_copy(point, core->centre);
    vec3_add_scaled(point, end ? core->half_length : -core->half_length,
                    core->axis);
    vec3_add_scaled(point, core->disc_radius, across);
    add_point(outline, point, 0);
    outline->corners[end] = gap_feature_make(GAP_SURFACE, (unsigned)end);
    outline->edges[end] = gap_feature_make(GAP_EDGE, SIDE_LINE);
  }
}

void gap_outline_facing(const gap_core *core, const double d[3], double scale,
                        gap_outline *outline) {
  *outline = (gap_outline){.face = gap_feature_make(GAP_FACE, 0)};
  if (core->half_space) {
    vec3_copy(outline->points[0], core->centre);
    vec3_copy(outline->normal, core->axis);
  } else if (core->kind == CORE_POLYTOPE) {
    polytope_outline(core, d, scale, outline);
  } else if (core->kind == CORE_CYLINDER) {
    double along = vec3_dot(d, core->axis);
    if (fabs(along) >= facing_cosine)
      cap_outline(core, along > 0 ? 1 : -1, outline);
    else
      side_outline(core, d, outline);
  } else {
    double point[3];
    gap_core_support(core, d, point);
    add_point(outline, point, 0);
    outline->corners[0] = gap_feature_make(GAP_SURFACE, 0);
  }
}
