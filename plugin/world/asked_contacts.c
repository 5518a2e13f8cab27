/* The contacts of a program's own joints at other poses than the step's start. A contact
 * joint says which geoms it is of. Where they are there (world/contact_source.h), on its
 * bodies, and asked at the start they tell what the program was told, they are asked
 * again, once a pair. */
#include <math.h>
#include <string.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "rows/hair.h"
#include "world/world.h"

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

/* True if a contact is what the program was told, and not one that it made of that
 * (tests/test_schemes_world.c). The host has points on either surface. */
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
 * next step is told (tests/test_preload_floors.sh). */
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

/* m; less than any gap: there are none. */
static double nearest(const world_contacts *found) {
  double least = INFINITY;
  for (int i = 0; i < found->n; i++)
    least = fmin(least, found->items[i].point.gap);
  return found->n > 0 ? least : -INFINITY;
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
      /* what went past an edge has another normal, and is no nearer than its pair */
      if (m < 0) point->gap = fmax(point->gap, nearest(&found));
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
