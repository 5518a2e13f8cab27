#include "world/contact_memory.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "common/six.h"
#include "common/vec3.h"

/* ---- runs ------------------------------------------------------------------ */

static bool same_key(const contact_entry *a, const contact_entry *b) {
  return a->serial[0] == b->serial[0] && a->serial[1] == b->serial[1] &&
         a->joint == b->joint && a->stop == b->stop;
}

/* Serials are counted up: bits of all are spread over the high half. */
static size_t slot_of(const contact_memory *memory, const contact_entry *key) {
  uint64_t hash = key->serial[0] * 0x9e3779b97f4a7c15u +
                  key->serial[1] * 0xc2b2ae3d27d4eb4fu +
                  (key->joint + (unsigned long)key->stop) * 0x165667b19e3779f9u;
  return (size_t)(hash >> 32) & memory->mask;
}

/* The slot of the run with `key`, or the empty one where it would be; the run's
 * key is that of `entries` [its first]. */
static size_t find_slot(const contact_memory *memory,
                        const contact_entry entries[],
                        const contact_entry *key) {
  size_t slot = slot_of(memory, key);
  while (memory->slots[slot] != 0 &&
         !same_key(&entries[memory->run_first[memory->slots[slot] - 1]], key))
    slot = (slot + 1) & memory->mask;
  return slot;
}

static size_t table_size(int count) {
  size_t size = 4;
  while (size < 2 * (size_t)count) size *= 2;
  return size;
}

bool contact_memory_reserve(contact_memory *memory, memory_pool *pool,
                            int count) {
  int most = count > memory->count ? count : memory->count;
  if (!POOL_GROW(pool, memory->entries, most) ||
      !POOL_GROW(pool, memory->claims, most) ||
      !POOL_GROW(pool, memory->slots, table_size(most)) ||
      !POOL_GROW(pool, memory->run_first, 2 * (size_t)most + 1))
    return false;
  memory->run_of = memory->run_first + most + 1;
  contact_memory_unclaim(memory);
  return true;
}

void contact_memory_unclaim(const contact_memory *memory) {
  for (int i = 0; i < memory->count; i++)
    memory->claims[i] = (contact_claim){-1, i, false};
  for (int r = 0; r < memory->n_runs; r++)
    for (int e = memory->run_first[r]; e < memory->run_first[r + 1]; e++)
      memory->claims[memory->run_first[r]].overlapped |=
          memory->entries[e].overlap;
}

/* Number the runs in the order of their first entries and count their
 * entries; run_first is the index of each run's first in `entries`. */
static void find_runs(contact_memory *memory, const contact_entry entries[]) {
  memory->n_runs = 0;
  for (int i = 0; i < memory->count; i++) {
    if (i > 0 && same_key(&entries[i], &entries[i - 1])) {
      memory->run_of[i] = memory->run_of[i - 1];
      continue;
    }
    size_t slot = find_slot(memory, entries, &entries[i]);
    if (memory->slots[slot] == 0) {
      memory->run_first[memory->n_runs++] = i;
      memory->slots[slot] = memory->n_runs;
    }
    memory->run_of[i] = memory->slots[slot] - 1;
  }
}

void contact_memory_take(contact_memory *memory, const contact_entry entries[],
                         int count) {
  size_t size = table_size(count);
  memory->count = count;
  memory->newest = 0;
  for (int i = 0; i < count; i++)
    if (entries[i].told > memory->newest) memory->newest = entries[i].told;
  memory->mask = size - 1;
  memset(memory->slots, 0, size * sizeof *memory->slots);
  find_runs(memory, entries);

  /* where each run ends, then its entries from the last to the first */
  int *first = memory->run_first, end = 0;
  for (int r = 0; r <= memory->n_runs; r++) first[r] = 0;
  for (int i = 0; i < count; i++) first[memory->run_of[i]]++;
  for (int r = 0; r < memory->n_runs; r++) first[r] = end += first[r];
  first[memory->n_runs] = end;
  for (int i = count; i-- > 0;)
    memory->entries[--first[memory->run_of[i]]] = entries[i];
  contact_memory_unclaim(memory);
}

/* The entries [*first, *end) with the key, none where they are equal. */
static void find_run(const contact_memory *memory, const contact_entry *key,
                     int *first, int *end) {
  *first = *end = 0;
  if (memory->count == 0) return;
  int run = memory->slots[find_slot(memory, memory->entries, key)] - 1;
  if (run < 0) return;
  *first = memory->run_first[run];
  *end = memory->run_first[run + 1];
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
    if (k > 0 && same_key(&keys[k], &keys[k - 1])) {
      match->run = matches[k - 1].run;
      match->run_end = matches[k - 1].run_end;
    } else {
      find_run(memory, &keys[k], &match->run, &match->run_end);
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
