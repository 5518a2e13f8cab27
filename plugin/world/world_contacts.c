/* Properties of a snapshot's contacts, and finding them in another. */
#include <math.h>
#include <string.h>

#include "common/vec3.h"
#include "world/world.h"

void world_contact_jacobian(const world_contacts *contacts, int k,
                            double J[2][6]) {
  const world_contact *contact = &contacts->items[k];
  if (contact->stop >= 0)
    memcpy(J, contacts->stops[contact->stop].J,
           sizeof contacts->stops[contact->stop].J);
  else
    host_contact_jacobian(J, &contact->point, contact->point.normal);
}

double world_contact_rate(const world_contacts *contacts, int k,
                          const double v[]) {
  const int *body = contacts->items[k].point.body;
  double J[2][6];
  world_contact_jacobian(contacts, k, J);
  return row_rate(J, body, v) - contacts->items[k].point.surface.motion[2];
}

/* The direction that a surface gives, in the plane of the contact as it is now. */
static void turn_axis(host_contact *point, const double turned[3]) {
  double *axis = point->surface.axis;
  vec3_add_scaled(axis, 1, turned);
  vec3_add_scaled(axis, -vec3_dot(axis, point->normal), point->normal);
  vec3_normalise(axis);
}

void world_move_surfaces(world_snapshot *world, double elapsed) {
  for (int k = 0; k < world->contacts.n; k++) {
    const world_contact *contact = &world->contacts.items[k];
    host_contact *point = &world->contacts.items[k].point;
    double turned[3] = {0};
    point->gap -= elapsed * point->surface.motion[2];
    vec3_add_scaled(turned, elapsed, contact->axis_rate);
    if (contact->asked && point->surface.has_axis) turn_axis(point, turned);
  }
}

int world_contact_swapped(const world_contact *contact) {
  const int *body = contact->point.body;
  return body[1] >= 0 && body[0] > body[1];
}

void world_contact_slip(const world_contact *contact, const double v[],
                        double slip[3]) {
  const host_contact *point = &contact->point;
  memset(slip, 0, 3 * sizeof *slip);
  for (int side = 0; side < 2; side++) {
    if (point->body[side] < 0) continue;
    const double *linear = v + 6 * point->body[side];
    double turn[3], sign = side == world_contact_swapped(contact) ? 1 : -1;
    vec3_cross(turn, linear + 3, point->arm[side]);
    for (int i = 0; i < 3; i++) slip[i] += sign * (linear[i] + turn[i]);
  }
  vec3_add_scaled(slip, -vec3_dot(slip, point->normal), point->normal);
  double axis[2][3], sign = world_contact_swapped(contact) ? 1 : -1;
  if (point->surface.motion[0] == 0 && point->surface.motion[1] == 0) return;
  host_contact_axes(axis, point);
  for (int d = 0; d < 2; d++)
    vec3_add_scaled(slip, sign * point->surface.motion[d], axis[d]);
}

/* --- keys ------------------------------------------------------------------- */

static unsigned long joint_serial(const world_snapshot *world, int joint) {
  return dJointGetSerial(world->joints[joint].id);
}

void world_joint_key(contact_entry *entry, const world_snapshot *world, int j) {
  const int *body = world->joints[j].body;
  *entry = (contact_entry){
      .serial = {world_serial(world, body[0]), world_serial(world, body[1])},
      .joint = joint_serial(world, j),
      .number = j};
}

void world_contact_key(contact_entry *entry, const world_snapshot *world,
                       const world_contacts *contacts, int k) {
  const world_contact *contact = &contacts->items[k];
  const host_contact *point = &contact->point;
  unsigned long serial[2] = {world_serial(world, point->body[0]),
                             world_serial(world, point->body[1])};
  int swapped = serial[0] > serial[1];
  *entry = (contact_entry){.serial = {serial[swapped], serial[!swapped]},
                           .number = k,
                           .hit = -INFINITY};
  if (contact->stop >= 0) {
    entry->joint = joint_serial(world, contact->joint);
    entry->stop = 1 + contacts->stops[contact->stop].number;
    return;
  }
  if (contact->joint >= 0 && !contact->found)
    entry->told = joint_serial(world, contact->joint);
  vec3_add_scaled(entry->normal, swapped ? 1 : -1, point->normal);
  vec3_copy(entry->motion, point->surface.motion);
  for (int side = 0; side < 2; side++) {
    int at = side ^ swapped, b = point->body[side];
    entry->identity.feature[at] = contact->identity.feature[side];
    entry->identity.part[at] = contact->identity.part[side];
    double *local = entry->local[at];
    if (b < 0) {
      vec3_copy(local, point->position);
      continue;
    }
    const double *R = world->bodies[b].rotation, *arm = point->arm[side];
    for (int i = 0; i < 3; i++)
      local[i] = R[i] * arm[0] + R[3 + i] * arm[1] + R[6 + i] * arm[2];
  }
}

/* --- matching --------------------------------------------------------------- */

bool world_match_keys(world_matcher *matcher, const contact_entry keys[],
                      int count, const world_snapshot *world,
                      const world_contacts *contacts, double radius,
                      int match[]) {
  contact_entry *entries;
  contact_match *matches;
  matcher->arena.source = world->arena.source;
  arena_start(&matcher->arena);
  if (!ARENA_TAKE(&matcher->arena, entries, contacts->n) ||
      !ARENA_TAKE(&matcher->arena, matches, count) ||
      !contact_memory_reserve(&matcher->memory, world->settings.pool,
                              contacts->n))
    return false;
  for (int k = 0; k < contacts->n; k++)
    world_contact_key(&entries[k], world, contacts, k);
  contact_memory_take(&matcher->memory, entries, contacts->n);
  contact_memory_match(&matcher->memory, keys, count, radius, matches);
  for (int k = 0; k < count; k++)
    match[k] = matches[k].old != NULL ? matches[k].old->number : -1;
  return true;
}

/* A contact of one of the program's joints: known by that within a step. */
static bool is_joints_own(const world_contact *contact) {
  return contact->joint >= 0 && !contact->found && contact->stop < 0;
}

bool world_match(world_matcher *matcher, const world_snapshot *world_a,
                 const world_contacts *a, const world_snapshot *world_b,
                 const world_contacts *b, double radius, int match[]) {
  contact_entry *keys;
  int *found, n = 0;
  matcher->key_arena.source = world_a->arena.source;
  arena_start(&matcher->key_arena);
  if (!ARENA_TAKE(&matcher->key_arena, keys, a->n) ||
      !ARENA_TAKE(&matcher->key_arena, found, a->n))
    return false;
  for (int k = 0; k < a->n; k++) {
    if (is_joints_own(&a->items[k]))
      match[k] = world_b->joints[a->items[k].joint].contact;
    else
      world_contact_key(&keys[n++], world_a, a, k);
  }
  if (n > 0 && !world_match_keys(matcher, keys, n, world_b, b, radius, found))
    return false;
  for (int i = 0; i < n; i++) match[keys[i].number] = found[i];
  return true;
}

static bool all_of(const bool *which, const int body[2]) {
  return which == NULL ||
         ((body[0] < 0 || which[body[0]]) && (body[1] < 0 || which[body[1]]));
}

bool world_recall(world_matcher *matcher, const world_snapshot *world,
                  const world_contacts *contacts, const contact_memory *memory,
                  const bool *unchanged, double radius) {
  contact_entry *keys;
  contact_match *matches;
  int n = 0, most = world->n_joint_rows + contacts->n;
  matcher->key_arena.source = world->arena.source;
  arena_start(&matcher->key_arena);
  if (!ARENA_TAKE(&matcher->key_arena, keys, most) ||
      !ARENA_TAKE(&matcher->key_arena, matches, most))
    return false;
  for (int j = 0; j < world->n_joints; j++) {
    world->joints[j].known = NULL;
    if (world->joints[j].rows >= 0) world_joint_key(&keys[n++], world, j);
  }
  int n_joints = n;
  for (int k = 0; k < contacts->n; k++) {
    world_contact *contact = &contacts->items[k];
    contact->known = NULL;
    contact->known_pair = contact->overlaps_pair = false;
    if (all_of(unchanged, contact->point.body))
      world_contact_key(&keys[n++], world, contacts, k);
  }
  contact_memory_match(memory, keys, n, radius, matches);
  for (int i = 0; i < n_joints; i++)
    world->joints[keys[i].number].known = matches[i].old;
  for (int i = n_joints; i < n; i++) {
    world_contact *contact = &contacts->items[keys[i].number];
    contact->known = matches[i].old;
    contact->known_pair = matches[i].run < matches[i].run_end;
    contact->overlaps_pair = matches[i].overlapped;
  }
  return true;
}
