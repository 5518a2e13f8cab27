/* Properties of a snapshot's contacts, and finding them in another, in a memory, and
 * between their geoms. */
#include <math.h>
#include <string.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "rows/hair.h"
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

bool world_match(world_matcher *matcher, const world_snapshot *world_a,
                 const world_contacts *a, const world_snapshot *world_b,
                 const world_contacts *b, double radius, int match[]) {
  contact_entry *keys;
  matcher->key_arena.source = world_a->arena.source;
  arena_start(&matcher->key_arena);
  if (!ARENA_TAKE(&matcher->key_arena, keys, a->n)) return false;
  for (int k = 0; k < a->n; k++) world_contact_key(&keys[k], world_a, a, k);
  return world_match_keys(matcher, keys, a->n, world_b, b, radius, match);
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

/* --- asked again -------------------------------------------------------------- */

/* The contacts of a program's own joints at other poses than the step's start. A contact
 * joint says which geoms it is of. Where they are there (world/contact_source.h), on its
 * bodies, and asked at the start they tell what the program was told, they are asked
 * again, once a pair. */

static world_contact *asked_contact(const world_snapshot *world, int i) {
  return &world->contacts.items[world->asked[i]];
}

/* Ask a pair of geoms for what is no further apart than `margin`, and find its contacts
 * of the step's start, home->asked [n] from `from` on, among that.
 * @param found  out: as contacts of `world`
 * @param match  [n] out: index in `found`, -1: none
 * @return false where memory ran out. */
static bool ask(const world_snapshot *home, world_snapshot *world, int from,
                int n, double margin, world_contacts *found, int match[]) {
  world_matcher *asker = world->settings.asker;
  const world_contact *first = asked_contact(home, from);
  contact_entry *keys;
  int count = contact_source_query(world->settings.contacts->inner.gaps,
                                   world->settings.pool, &asker->found,
                                   first->geom[0], first->geom[1], margin, 0);
  if (count == GAP_NO_MEMORY) return false;
  *found = (world_contacts){.n = count > 0 ? count : 0};
  if (!ARENA_TAKE(&world->arena, found->items, found->n) ||
      !ARENA_TAKE(&world->arena, keys, n))
    return false;
  for (int i = 0; i < found->n; i++) {
    const gap_contact *gap = &asker->found[i];
    world_contact *item = &found->items[i];
    *item = *first;
    item->joint = -1;
    memcpy(item->feature, gap->feature, sizeof item->feature);
    vec3_copy(item->point.position, gap->point);
    vec3_copy(item->point.normal, gap->normal);
    item->point.gap = gap->gap;
    for (int side = 0; side < 2; side++)
      if (first->point.body[side] >= 0)
        vec3_subtract(item->point.arm[side], gap->point,
                      world->bodies[first->point.body[side]].position);
  }
  for (int i = 0; i < n; i++)
    world_contact_key(&keys[i], home, &home->contacts, home->asked[from + i]);
  return world_match_keys(asker, keys, n, world, found, INFINITY, match);
}

/* True if a contact is what the program was told. The host has points on either
 * surface. */
static bool repeats(const host_contact *told, const host_contact *found) {
  double apart[3], turned[3];
  vec3_subtract(apart, told->position, found->position);
  vec3_subtract(turned, told->normal, found->normal);
  double hair = HAIR_BESIDE + hair_rounding(told->position);
  return fabs(told->gap - found->gap) <= hair &&
         vec3_length(apart) <= hair + fabs(told->gap) &&
         vec3_length(turned) <= real_rounding(HAIR_BESIDE);
}

static int end_of_pair(const world_snapshot *world, int first) {
  dGeomID *const geom = asked_contact(world, first)->geom;
  int end = first + 1;
  while (end < world->n_asked &&
         asked_contact(world, end)->geom[0] == geom[0] &&
         asked_contact(world, end)->geom[1] == geom[1])
    end++;
  return end;
}

/* Those of a pair that a program made together follow each other. */
bool asked_contacts_find(world_snapshot *world) {
  int left = 0, *match;
  if (!ARENA_TAKE(&world->arena, world->asked, world->contacts.n) ||
      !ARENA_TAKE(&world->arena, match, world->contacts.n))
    return false;
  for (int k = 0; k < world->contacts.n; k++) {
    const world_contact *contact = &world->contacts.items[k];
    if (!contact->found && contact->geom[0] != NULL)
      world->asked[world->n_asked++] = k;
  }
  for (int first = 0, end; first < world->n_asked; first = end) {
    world_contacts found;
    double margin = 0;
    end = end_of_pair(world, first);
    for (int i = first; i < end; i++)
      margin = fmax(margin, asked_contact(world, i)->point.gap);
    if (!ask(world, world, first, end - first, margin + HAIR_BESIDE, &found,
             match))
      return false;
    for (int i = first; i < end; i++) {
      world_contact *contact = asked_contact(world, i);
      int m = match[i - first];
      if (m < 0 || !repeats(&contact->point, &found.items[m].point)) continue;
      contact->asked = true;
      memcpy(contact->feature, found.items[m].feature, sizeof contact->feature);
      world->asked[left++] = world->asked[i];
    }
  }
  world->n_asked = left;
  return true;
}

/* m: how far the two points that met at a contact are apart. Two shapes are no further
 * apart than any two of their points. */
static double way_apart(const world_snapshot *home, const host_contact *point,
                        const world_pose poses[]) {
  double place[2][3], apart[3];
  for (int side = 0; side < 2; side++) {
    int b = point->body[side];
    vec3_copy(place[side], point->position);
    vec3_add_scaled(place[side], (side == 0 ? 0.5 : -0.5) * point->gap,
                    point->normal);
    if (b < 0) continue;
    const world_pose from = world_pose_of(&home->bodies[b]);
    vec3_add_scaled(place[side], -1, from.position);
    world_pose_turn_along(&from, &poses[b], place[side]);
    vec3_add_scaled(place[side], 1, poses[b].position);
  }
  vec3_subtract(apart, place[0], place[1]);
  return vec3_length(apart);
}

/* A contact on a face, or on an edge that two geoms share, has a normal that turns with
 * them. What has another is beyond an edge, where neighbours may go on: which ones, the
 * next step is told. */
static bool has_left_face(const world_snapshot *home,
                          const world_contact *start, const host_contact *now,
                          const world_pose poses[]) {
  const double ASLANT = 1e-6; /* rad */
  for (int side = 0; side < 2; side++) {
    int b = start->point.body[side];
    double normal[3];
    if (gap_feature_type(start->feature[side]) != GAP_FACE &&
        !start->goes_on[side])
      continue;
    vec3_copy(normal, start->point.normal);
    if (b >= 0) {
      const world_pose from = world_pose_of(&home->bodies[b]);
      world_pose_turn_along(&from, &poses[b], normal);
    }
    vec3_subtract(normal, normal, now->normal);
    if (vec3_length(normal) > real_rounding(ASLANT)) return true;
  }
  return false;
}

bool asked_contacts_move(world_snapshot *world, const world_snapshot *home,
                         const world_pose poses[]) {
  int *match;
  if (!ARENA_TAKE(&world->arena, match, home->n_asked)) return false;
  for (int first = 0, end; first < home->n_asked; first = end) {
    world_contacts found;
    double margin = 0;
    end = end_of_pair(home, first);
    for (int i = first; i < end; i++)
      margin =
          fmax(margin, way_apart(home, &asked_contact(home, i)->point, poses));
    if (!ask(home, world, first, end - first, margin + HAIR_BESIDE, &found,
             match))
      return false;
    for (int i = first; i < end; i++) {
      const world_contact *start = asked_contact(home, i);
      host_contact *point =
          &world->contacts.items[world->joints[start->joint].contact].point;
      int m = match[i - first];
      if (m < 0 || has_left_face(home, start, &found.items[m].point, poses))
        continue;
      const host_contact *now = &found.items[m].point;
      vec3_copy(point->position, now->position);
      vec3_copy(point->normal, now->normal);
      point->gap = now->gap;
      for (int side = 0; side < 2; side++)
        vec3_copy(point->arm[side], now->arm[side]);
    }
  }
  return true;
}
