#include <string.h>

#include "common/vec3.h"
#include "gap/gap.h"
#include "gap/gap_distance.h"
#include "gap/gap_expand.h"
#include "gap/gap_pair.h"
#include "gap/gap_patch.h"

/* Rotations of the host drift by rounding; more than this is no rotation. */
static const double rotation_tolerance = 1e-6;

static bool is_rotation(const double R[9]) {
  if (!all_finite(R, 9)) return false;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double dot = vec3_dot(R + 3 * i, R + 3 * j);
      if (!(fabs(dot - (i == j)) < rotation_tolerance)) return false;
    }
  return true;
}

static int size_count(gap_kind kind) {
  switch (kind) {
    case GAP_SPHERE: return 1;
    case GAP_CAPSULE:
    case GAP_CYLINDER: return 2;
    case GAP_BOX:
    case GAP_ELLIPSOID: return 3;
    default: return 0;
  }
}

const char *gap_shape_fault(const gap_shape *shape, gap_status *status) {
  *status = GAP_BAD_POSE;
  if (shape->kind == GAP_PLANE) {
    if (!all_finite(shape->normal, 3) || !isfinite(shape->offset))
      return "has a plane that is not finite";
    if (!(fabs(vec3_length(shape->normal) - 1) < rotation_tolerance))
      return "has a plane normal that is not of unit length";
    return *status = GAP_OK, NULL;
  }
  if (!all_finite(shape->position, 3)) return "has a position not finite";
  if (!is_rotation(shape->rotation)) return "has a rotation that is none";

  *status = GAP_BAD_SIZE;
  for (int i = 0; i < size_count(shape->kind); i++) {
    // a capsule may be as short as a sphere
    bool may_vanish = shape->kind == GAP_CAPSULE && i == 1;
    double size = shape->size[i];
    if (!isfinite(size) || !(size > 0 || (may_vanish && size == 0)))
      return "has a size that is not positive";
  }
  *status = GAP_BAD_HULL;
  if (shape->kind == GAP_CONVEX && shape->hull == NULL) return "has no hull";
  return *status = GAP_OK, NULL;
}

int gap_pair_place(gap_scratch *scratch, const gap_shape *shape, int side,
                   const double origin[3], gap_core *core) {
  bool convex = shape->kind == GAP_CONVEX;
  if (convex && !POOL_RESERVE(scratch->pool, scratch->corners[side],
                              shape->hull->topology.n_corners))
    return GAP_NO_MEMORY;
  gap_core_place(core, shape, origin, scratch->corners[side]);
  bool grows = convex || core->kind != CORE_POLYTOPE;
  core->room = grows ? gap_expand_room(scratch) : NULL;
  return grows && core->room == NULL ? GAP_NO_MEMORY : GAP_OK;
}

int gap_pair_meet(const gap_core *a, const gap_core *b, double margin,
                  gap_contact contacts[GAP_PAIR_ROOM]) {
  double between[3];
  vec3_subtract(between, a->centre, b->centre);
  double radii = a->radius + b->radius;
  double scale = vec3_length(between) + a->reach + b->reach + radii;
  gap_patch_request request = {
      .a = a, .b = b, .margin = margin, .scale = scale};
  return gap_distance_find(a, b, scale, margin + radii, &request.phi)
             ? gap_patch(&request, contacts)
             : 0;
}

/* Thin out where asked for or where room is short, and move to the world.
 * @return number of contacts. */
static int finish(gap_contact found[], int count, const double origin[3],
                  int flags, gap_contact contacts[], int room) {
  int keep = room;
  if ((flags & GAP_REDUCE) && keep > GAP_REDUCED_ROOM) keep = GAP_REDUCED_ROOM;
  if (count > keep) count = gap_reduce(found, count, keep);
  for (int i = 0; i < count; i++) {
    vec3_add_scaled(found[i].point, 1, origin);
    contacts[i] = found[i];
  }
  return count;
}

void gap_contacts_turn(gap_contact contacts[], int count) {
  for (int i = 0; i < count; i++) {
    gap_contact *contact = &contacts[i];
    gap_feature feature = contact->feature[0];
    int32_t triangle = contact->triangle[0];
    vec3_negate(contact->normal, contact->normal);
    contact->feature[0] = contact->feature[1];
    contact->feature[1] = feature;
    contact->triangle[0] = contact->triangle[1];
    contact->triangle[1] = triangle;
  }
}

int gap_pair(gap_scratch *scratch, const gap_shape *a, const gap_shape *b,
             double margin, int flags, gap_contact contacts[], int room) {
  bool on_plane = b->kind == GAP_PLANE;
  if (a->kind == GAP_PLANE) {
    if (on_plane) return 0;
    int count = gap_pair(scratch, b, a, margin, flags, contacts, room);
    if (count > 0) gap_contacts_turn(contacts, count);
    return count;
  }
  gap_core core_a, core_b;
  const double *origin = on_plane ? a->position : b->position;
  if (gap_pair_place(scratch, a, 0, origin, &core_a) != GAP_OK ||
      gap_pair_place(scratch, b, 1, origin, &core_b) != GAP_OK)
    return GAP_NO_MEMORY;
  if (!POOL_RESERVE(scratch->pool, scratch->contacts, GAP_PAIR_ROOM))
    return GAP_NO_MEMORY;
  int count = gap_pair_meet(&core_a, &core_b, margin, scratch->contacts);
  return finish(scratch->contacts, count, origin, flags, contacts, room);
}
