#include "gap/gap_core.h"

#include "common/vec3.h"

static const gap_topology point_topology = {.n_corners = 1};

static const gap_topology segment_topology = {
    .n_corners = 2, .n_edges = 1, .edges = (const int[1][2]){{0, 1}}};

static const gap_topology triangle_topology = {
    .n_corners = 3,
    .n_edges = 3,
    .n_faces = 2,
    .edges = (const int[3][2]){{0, 1}, {1, 2}, {2, 0}},
    .face_start = (const int[]){0, 3, 6},
    .face_corners = (const int[]){0, 1, 2, 0, 2, 1}};

/* Corner i of a box has sign bit k of i along axis k; faces are -x +x -y +y -z
 * +z; edges go along x, y, z. */
static const double box_normals[6][3] = {{-1, 0, 0}, {1, 0, 0},  {0, -1, 0},
                                         {0, 1, 0},  {0, 0, -1}, {0, 0, 1}};
static const gap_topology box_topology = {
    .n_corners = 8,
    .n_edges = 12,
    .n_faces = 6,
    .edges = (const int[12][2]){{0, 1},
                                {2, 3},
                                {4, 5},
                                {6, 7},
                                {0, 2},
                                {1, 3},
                                {4, 6},
                                {5, 7},
                                {0, 4},
                                {1, 5},
                                {2, 6},
                                {3, 7}},
    .face_start = (const int[]){0, 4, 8, 12, 16, 20, 24},
    .face_corners = (const int[]){0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4,
                                  2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6}};

static void column(const double R[9], int k, double axis[3]) {
  for (int i = 0; i < 3; i++) axis[i] = R[3 * i + k];
}

static void place_point(gap_core *core) {
  core->topology = &point_topology;
  vec3_copy(core->own_corners[0], core->centre);
  core->corners = (const double(*)[3])core->own_corners;
  core->reach = 0;
}

static void place_segment(gap_core *core, double half_length) {
  column(core->rotation, 2, core->axis);
  for (int i = 0; i < 2; i++) {
    vec3_copy(core->own_corners[i], core->centre);
    vec3_add_scaled(core->own_corners[i], i == 0 ? -half_length : half_length,
                    core->axis);
  }
  core->topology = &segment_topology;
  core->corners = (const double(*)[3])core->own_corners;
  core->reach = half_length;
}

static void place_box(gap_core *core, const double side[3]) {
  for (int i = 0; i < 8; i++) {
    double body[3], turned[3];
    for (int k = 0; k < 3; k++) body[k] = (i >> k & 1 ? 0.5 : -0.5) * side[k];
    mat3_apply(turned, core->rotation, body);
    for (int k = 0; k < 3; k++)
      core->own_corners[i][k] = core->centre[k] + turned[k];
  }
  core->topology = &box_topology;
  core->corners = (const double(*)[3])core->own_corners;
  core->body_normals = box_normals;
  core->reach = vec3_length(side) / 2;
  core->inner = fmin(side[0], fmin(side[1], side[2])) / 2;
}

static void place_corners(gap_core *core, const double (*body)[3], int count,
                          double (*corners)[3]) {
  core->reach = 0;
  for (int i = 0; i < count; i++) {
    double turned[3];
    mat3_apply(turned, core->rotation, body[i]);
    for (int k = 0; k < 3; k++) corners[i][k] = core->centre[k] + turned[k];
    core->reach = fmax(core->reach, vec3_length(body[i]));
  }
  core->corners = (const double(*)[3])corners;
}

static void place_ellipsoid(gap_core *core, const double semi_axes[3]) {
  double squares[9] = {0};
  for (int k = 0; k < 3; k++) {
    core->semi_axes[k] = semi_axes[k];
    squares[4 * k] = semi_axes[k] * semi_axes[k];
  }
  mat3_rotate(core->spread, core->rotation, squares);
  core->reach = fmax(semi_axes[0], fmax(semi_axes[1], semi_axes[2]));
  core->inner = fmin(semi_axes[0], fmin(semi_axes[1], semi_axes[2]));
}

void gap_core_place(gap_core *core, const gap_shape *shape,
                    const double origin[3], double (*corners)[3]) {
  core->kind = CORE_POLYTOPE;
  core->radius = core->inner = 0;
  core->body_normals = NULL;
  core->room = NULL;
  core->half_space = shape->kind == GAP_PLANE;
  vec3_subtract(core->centre, shape->position, origin);
  for (int i = 0; i < 9; i++) core->rotation[i] = shape->rotation[i];

  switch (shape->kind) {
    case GAP_SPHERE:
      place_point(core);
      core->radius = shape->size[0];
      break;
    case GAP_CAPSULE:
      place_segment(core, shape->size[1] / 2);
      core->radius = shape->size[0];
      break;
    case GAP_BOX: place_box(core, shape->size); break;
    case GAP_TRIANGLE:
      core->topology = &triangle_topology;
      place_corners(core, shape->corners, 3, core->own_corners);
      break;
    case GAP_CONVEX:
      core->topology = &shape->hull->topology;
      core->body_normals = shape->hull->normals;
      core->inner = shape->hull->thickness / 2;
      place_corners(core, shape->hull->points, shape->hull->topology.n_corners,
                    corners);
      break;
    case GAP_CYLINDER:
      core->kind = CORE_CYLINDER;
      column(core->rotation, 2, core->axis);
      core->disc_radius = shape->size[0];
      core->half_length = shape->size[1] / 2;
      core->reach = hypot(core->disc_radius, core->half_length);
      core->inner = fmin(core->disc_radius, core->half_length);
      break;
    case GAP_ELLIPSOID:
      core->kind = CORE_ELLIPSOID;
      place_ellipsoid(core, shape->size);
      break;
    case GAP_PLANE: {
      double height = shape->offset - vec3_dot(shape->normal, origin);
      vec3_copy(core->axis, shape->normal);
      for (int k = 0; k < 3; k++) core->centre[k] = height * core->axis[k];
      place_point(core);
    }
  }
}

bool gap_core_is_box(const gap_core *core) {
  return core->kind == CORE_POLYTOPE && core->topology == &box_topology;
}

static int support_of_corners(const gap_core *core, const double direction[3],
                              double point[3]) {
  int best = 0;
  double furthest = vec3_dot(direction, core->corners[0]);
  for (int i = 1; i < core->topology->n_corners; i++) {
    double along = vec3_dot(direction, core->corners[i]);
    if (along > furthest) furthest = along, best = i;
  }
  vec3_copy(point, core->corners[best]);
  return best;
}

int gap_core_support(const gap_core *core, const double direction[3],
                     double point[3]) {
  if (core->kind == CORE_POLYTOPE)
    return support_of_corners(core, direction, point);

  vec3_copy(point, core->centre);
  if (core->kind == CORE_CYLINDER) {
    double along = vec3_dot(direction, core->axis), across[2], radial[3];
    vec3_add_scaled(point, along < 0 ? -core->half_length : core->half_length,
                    core->axis);
    // by the body's own axes: what rounding leaves along the axis would count
    for (int k = 0; k < 2; k++) {
      column(core->rotation, k, radial);
      across[k] = vec3_dot(direction, radial);
    }
    double length = hypot(across[0], across[1]);
    for (int k = 0; k < 2 && length > 0; k++) {
      column(core->rotation, k, radial);
      vec3_add_scaled(point, core->disc_radius * across[k] / length, radial);
    }
  } else {
    // axis by axis: the spread's rounding is that of the longest axis
    double axis[3][3], along[3];
    for (int k = 0; k < 3; k++) {
      column(core->rotation, k, axis[k]);
      along[k] = core->semi_axes[k] * vec3_dot(direction, axis[k]);
    }
    double length = vec3_length(along);
    for (int k = 0; k < 3 && length > 0; k++)
      vec3_add_scaled(point, core->semi_axes[k] * along[k] / length, axis[k]);
  }
  return 0;
}

double gap_core_separation(const gap_core *a, const gap_core *b,
                           const double n[3]) {
  double back[3], on_a[3], on_b[3], between[3];
  vec3_negate(back, n);
  gap_core_support(a, back, on_a);
  gap_core_support(b, n, on_b);
  vec3_subtract(between, on_a, on_b);
  return vec3_dot(n, between);
}

void gap_core_face_normal(const gap_core *core, int face, double normal[3]) {
  if (core->body_normals != NULL) {
    mat3_apply(normal, core->rotation, core->body_normals[face]);
    return;
  }
  // a triangle: its two faces look opposite ways
  double u[3], v[3];
  vec3_subtract(u, core->corners[1], core->corners[0]);
  vec3_subtract(v, core->corners[2], core->corners[0]);
  vec3_cross(normal, u, v);
  vec3_normalise(normal);
  if (face != 0) vec3_negate(normal, normal);
}
