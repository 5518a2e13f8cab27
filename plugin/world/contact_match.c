/* Contacts and joints found again: by their keys, in the memory of the last step and in
 * another snapshot. */
#include <math.h>
#include <stdlib.h>

#include "common/minmax.h"
#include "common/six.h"
#include "common/vec3.h"
#include "world/world.h"

/* ---- runs ------------------------------------------------------------------ */

/* In which order keys are; 0: they are those of one run. */
static int compare_keys(const contact_entry *a, const contact_entry *b) {
  const unsigned long of_a[] = {a->serial[0], a->serial[1], a->joint,
                                (unsigned long)a->stop},
                      of_b[] = {b->serial[0], b->serial[1], b->joint,
                                (unsigned long)b->stop};
  int i = 0;
  while (i < 3 && of_a[i] == of_b[i]) i++;
  return (of_a[i] > of_b[i]) - (of_a[i] < of_b[i]);
}

/* In a run as they were given. */
static int compare_given(const void *one, const void *other) {
  const contact_entry *a = *(const contact_entry *const *)one,
                      *b = *(const contact_entry *const *)other;
  int order = compare_keys(a, b);
  return order != 0 ? order : (a > b) - (a < b);
}

bool contact_memory_reserve(contact_memory *memory, memory_pool *pool,
                            int count) {
  int most = count > memory->count ? count : memory->count;
  if (!POOL_GROW(pool, memory->entries, most) ||
      !POOL_GROW(pool, memory->claims, most) ||
      !POOL_GROW(pool, memory->order, most))
    return false;
  contact_memory_unclaim(memory);
  return true;
}

void contact_memory_unclaim(const contact_memory *memory) {
  int first = 0; /* of the run */
  for (int i = 0; i < memory->count; i++) {
    if (compare_keys(&memory->entries[i], &memory->entries[first]) != 0)
      first = i;
    memory->claims[i] = (contact_claim){-1, i, false};
    memory->claims[first].overlapped |= memory->entries[i].overlap;
  }
}

void contact_memory_take(contact_memory *memory, const contact_entry entries[],
                         int count) {
  memory->count = count;
  memory->newest = 0;
  for (int i = 0; i < count; i++) {
    memory->order[i] = &entries[i];
    if (entries[i].told > memory->newest) memory->newest = entries[i].told;
  }
  if (count > 1)
    qsort(memory->order, (size_t)count, sizeof *memory->order, compare_given);
  for (int i = 0; i < count; i++) memory->entries[i] = *memory->order[i];
  contact_memory_unclaim(memory);
}

/* How many entries come before the key's, and with these. */
static int count_before(const contact_memory *memory, const contact_entry *key,
                        bool with_these) {
  int low = 0, high = memory->count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (compare_keys(&memory->entries[middle], key) < with_these)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* ---- in a run --------------------------------------------------------------- */

/* m^2: how far a contact is from an entry. */
KERNEL double square_between(const contact_entry *entry,
                             const contact_entry *key) {
  /* the distances in both frames, squared: all six coordinates in three pairs */
  const two *a = (const two *)entry->local, *b = (const two *)key->local;
  two x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  x *= x;
  y *= y;
  z *= z;
  return smaller_of(x[0] + x[1] + y[0], y[1] + z[0] + z[1]);
}

static bool are_alike(const contact_entry *entry, const contact_entry *key,
                      double square, double radius) {
  const double LEAST_PRODUCT = 0.7; /* of normals */
  return sqrt(square) <= radius &&
         vec3_dot(entry->normal, key->normal) >= LEAST_PRODUCT;
}

/* The nearest entry for key k that is free, or taken by one farther from it;
 * -1 where there is none. */
static int nearest_open(const contact_memory *memory, const contact_entry *key,
                        double radius, const contact_match matches[],
                        const contact_match *match, double *square) {
  int best = -1;
  for (int e = match->run; e < match->run_end; e++) {
    const contact_entry *entry = &memory->entries[e];
    double to = square_between(entry, key);
    if (best >= 0 && !(to < *square)) continue;
    int taker = memory->claims[e].taker;
    if (taker >= 0 &&
        (matches[taker].by_joint || !(to < matches[taker].square)))
      continue;
    if (!are_alike(entry, key, to, radius)) continue;
    best = e;
    *square = to;
  }
  return best;
}

/* Every key takes its nearest entry; who is turned out of one looks on. In the
 * end no key and entry are nearer to each other than to what they have. */
static void match_contact(const contact_memory *memory,
                          const contact_entry keys[], int k, double radius,
                          contact_match matches[]) {
  while (k >= 0) {
    double square;
    contact_match *match = &matches[k];
    int found = nearest_open(memory, &keys[k], radius, matches, match, &square);
    match->old = found >= 0 ? &memory->entries[found] : NULL;
    if (found < 0) return;
    int turned_out = memory->claims[found].taker;
    match->square = square;
    memory->claims[found].taker = k;
    k = turned_out;
  }
}

/* The entry of the run with the key's joint, which is mostly the one after that of
 * the key before; -1 where there is none. A pair whose contact joints are never taken
 * away has thousands alike (tests/test_world_growth.c): by distance each would be asked
 * about each. */
static int find_joint(const contact_memory *memory, const contact_entry *key,
                      const contact_match *match) {
  if (key->told == 0 || key->told > memory->newest) return -1;
  int *next = &memory->claims[match->run].next, n = match->run_end - match->run;
  for (int i = 0, e = *next; i < n; i++, e++) {
    if (e >= match->run_end) e = match->run;
    if (memory->entries[e].told != key->told) continue;
    *next = e + 1;
    return e;
  }
  return -1;
}

static void match_joint(const contact_memory *memory,
                        const contact_entry keys[], int k, int found,
                        double radius, contact_match matches[]) {
  int turned_out = memory->claims[found].taker;
  matches[k].old = &memory->entries[found];
  matches[k].by_joint = true;
  matches[k].square = square_between(&memory->entries[found], &keys[k]);
  memory->claims[found].taker = k;
  match_contact(memory, keys, turned_out, radius, matches);
}

void contact_memory_match(const contact_memory *memory,
                          const contact_entry keys[], int count, double radius,
                          contact_match matches[]) {
  for (int k = 0; k < count; k++) {
    contact_match *match = &matches[k];
    *match = (contact_match){0};
    if (k > 0 && compare_keys(&keys[k], &keys[k - 1]) == 0) {
      match->run = matches[k - 1].run;
      match->run_end = matches[k - 1].run_end;
    } else {
      match->run = count_before(memory, &keys[k], false);
      match->run_end = count_before(memory, &keys[k], true);
    }
    if (match->run == match->run_end) continue;
    match->overlapped = memory->claims[match->run].overlapped;
    if (keys[k].joint != 0) {
      match->old = &memory->entries[match->run];
      continue;
    }
    int found = find_joint(memory, &keys[k], match);
    if (found >= 0)
      match_joint(memory, keys, k, found, radius, matches);
    else
      match_contact(memory, keys, k, radius, matches);
  }
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
                           .number = k};
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
