/* The contacts of a program's own joints at other poses than the step's start. A
 * contact joint says which geoms it is of. Where they are there (world/contact_joints.h),
 * on its bodies, and asked at the start they tell what the program was told, they are
 * asked again, once a pair. */
#include "common/vec3.h"
#include "gap/real.h"
#include "rows/hair.h"
#include "world/world.h"

/* A contact whose geoms may be asked, among those of its pair. */
struct asked_contact {
  dGeomID geom[2]; /* in the order of its bodies */
  int number;      /* in the snapshot of the step's start */
};

static bool same_pair(const asked_contact *a, const asked_contact *b) {
  return a->geom[0] == b->geom[0] && a->geom[1] == b->geom[1];
}

/* Ask a pair of geoms for what is no further apart than `margin`, and find its contacts
 * of the step's start, `asked` [n], among that.
 * @param found  out: as contacts of `world`
 * @param match  [n] out: index in `found`, -1: none
 * @return false where memory ran out. */
static bool ask(const world_snapshot *home, world_snapshot *world,
                const asked_contact asked[], int n, double margin,
                world_contacts *found, int match[]) {
  world_matcher *asker = world->settings.asker;
  const world_contact *first = &home->contacts.items[asked[0].number];
  contact_entry *keys;
  int count = contact_source_query(world->settings.contacts->inner.gaps,
                                   world->settings.pool, &asker->found,
                                   asked->geom[0], asked->geom[1], margin, 0);
  if (count == GAP_NO_MEMORY) return false;
  *found = (world_contacts){.n = count > 0 ? count : 0};
  if (!ARENA_TAKE(&world->arena, found->items, found->n) ||
      !ARENA_TAKE(&world->arena, keys, n))
    return false;
  for (int i = 0; i < found->n; i++) {
    const gap_contact *gap = &asker->found[i];
    world_contact *item = &found->items[i];
    *item = *first;
    item->joint = item->found = -1;
    item->identity = (contact_identity){{gap->feature[0], gap->feature[1]},
                                        {gap->triangle[0], gap->triangle[1]}};
    vec3_copy(item->point.position, gap->point);
    vec3_copy(item->point.normal, gap->normal);
    item->point.gap = gap->gap;
    for (int side = 0; side < 2; side++)
      if (first->point.body[side] >= 0)
        vec3_subtract(item->point.arm[side], gap->point,
                      world->bodies[first->point.body[side]].position);
  }
  for (int i = 0; i < n; i++)
    world_contact_key(&keys[i], home, &home->contacts, asked[i].number);
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

/* The contacts whose geoms are there. Those of a pair that a program made together
 * follow each other. */
static bool list(world_snapshot *world) {
  const contact_joints *joints = world->settings.joints;
  world->n_asked = 0;
  if (world->settings.asker == NULL || joints == NULL) return true;
  if (!ARENA_TAKE(&world->arena, world->asked, world->contacts.n)) return false;
  for (int k = 0; k < world->contacts.n; k++) {
    const world_contact *contact = &world->contacts.items[k];
    if (contact->joint < 0 || contact->stop >= 0 || contact->found >= 0)
      continue;
    const contact_joint *of = contact_joints_find(
        joints, dJointGetSerial(world->joints[contact->joint].id));
    if (of != NULL && of->geom[0] != NULL)
      world->asked[world->n_asked++] =
          (asked_contact){{of->geom[0], of->geom[1]}, k};
  }
  return true;
}

static int end_of_pair(const world_snapshot *world, int first) {
  int end = first + 1;
  while (end < world->n_asked &&
         same_pair(&world->asked[first], &world->asked[end]))
    end++;
  return end;
}

bool asked_contacts_find(world_snapshot *world) {
  int left = 0, *match;
  if (!list(world) || !ARENA_TAKE(&world->arena, match, world->n_asked))
    return false;
  for (int first = 0, end; first < world->n_asked; first = end) {
    asked_contact *asked = &world->asked[first];
    world_contacts found;
    double margin = 0;
    end = end_of_pair(world, first);
    for (int i = first; i < end; i++)
      margin =
          fmax(margin, world->contacts.items[world->asked[i].number].point.gap);
    if (!ask(world, world, asked, end - first, margin + HAIR_BESIDE, &found,
             match))
      return false;
    for (int i = first; i < end; i++) {
      world_contact *contact = &world->contacts.items[world->asked[i].number];
      int m = match[i - first];
      if (m < 0 || !repeats(&contact->point, &found.items[m].point)) continue;
      contact->asked = true;
      contact->identity = found.items[m].identity;
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

/* A contact on a face has a normal that turns with the face. What has another is beyond
 * its edge, where neighbours may go on: which ones, the next step is told. */
static bool has_left_face(const world_snapshot *home,
                          const world_contact *start, const host_contact *now,
                          const world_pose poses[]) {
  const double ASLANT = 1e-6; /* rad */
  for (int side = 0; side < 2; side++) {
    int b = start->point.body[side];
    double normal[3];
    if (gap_feature_type(start->identity.feature[side]) != GAP_FACE) continue;
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
    const asked_contact *asked = home->asked;
    world_contacts found;
    double margin = 0;
    end = end_of_pair(home, first);
    for (int i = first; i < end; i++)
      margin = fmax(
          margin,
          way_apart(home, &home->contacts.items[asked[i].number].point, poses));
    if (!ask(home, world, &asked[first], end - first, margin + HAIR_BESIDE,
             &found, match))
      return false;
    for (int i = first; i < end; i++) {
      int joint = home->contacts.items[asked[i].number].joint;
      host_contact *point =
          &world->contacts.items[world->joints[joint].contact].point;
      int m = match[i - first];
      if (m < 0) continue;
      const host_contact *now = &found.items[m].point;
      if (has_left_face(home, &home->contacts.items[asked[i].number], now,
                        poses))
        continue;
      vec3_copy(point->position, now->position);
      vec3_copy(point->normal, now->normal);
      point->gap = now->gap;
      for (int side = 0; side < 2; side++)
        vec3_copy(point->arm[side], now->arm[side]);
    }
  }
  return true;
}
