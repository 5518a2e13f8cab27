#include "step/warm_start.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "common/six.h"

/* ---- runs ------------------------------------------------------------------ */

static bool same_key(const warm_entry *a, const warm_entry *b) {
  return a->serial[0] == b->serial[0] && a->serial[1] == b->serial[1] &&
         a->joint == b->joint;
}

/* Serials are counted up: bits of all three are spread over the high half. */
static size_t slot_of(const warm_start *start, const warm_entry *key) {
  uint64_t hash = key->serial[0] * 0x9e3779b97f4a7c15u +
                  key->serial[1] * 0xc2b2ae3d27d4eb4fu +
                  key->joint * 0x165667b19e3779f9u;
  return (size_t)(hash >> 32) & start->mask;
}

/* The slot of the run with `key`, or the empty one where it would be; the run's
 * key is that of `entries` [its first]. */
static size_t find_slot(const warm_start *start, const warm_entry entries[],
                        const warm_entry *key) {
  size_t slot = slot_of(start, key);
  while (start->slots[slot] != 0 &&
         !same_key(&entries[start->run_first[start->slots[slot] - 1]], key))
    slot = (slot + 1) & start->mask;
  return slot;
}

static size_t table_size(int count) {
  size_t size = 4;
  while (size < 2 * (size_t)count) size *= 2;
  return size;
}

bool warm_start_reserve(warm_start *start, const memory_source *source,
                        int count) {
  int most = count > start->count ? count : start->count;
  size_t room = (size_t)most;
  warm_entry *entries = memory_block_grow(&start->entry_block, source, room,
                                          sizeof *entries);
  warm_claim *claims = memory_block_reserve(&start->claim_block, source, room,
                                            sizeof *claims);
  if (entries != NULL) start->entries = entries;
  if (claims != NULL) start->claims = claims;
  int *slots = memory_block_grow(&start->slot_block, source, table_size(most),
                                 sizeof *slots);
  if (slots != NULL) start->slots = slots;
  int *runs = memory_block_grow(&start->run_block, source, 2 * room + 1,
                                sizeof *runs);
  if (runs != NULL) start->run_first = runs;
  if (entries == NULL || claims == NULL || slots == NULL || runs == NULL)
    return false;
  start->run_of = runs + most + 1;
  for (int i = 0; i < start->count; i++)
    claims[i] = (warm_claim){-1, -1};
  return true;
}

/* Number the runs in the order of their first entries and count their
 * entries; run_first is the index of each run's first in `entries`. */
static void find_runs(warm_start *start, const warm_entry entries[]) {
  start->n_runs = 0;
  for (int i = 0; i < start->count; i++) {
    if (i > 0 && same_key(&entries[i], &entries[i - 1])) {
      start->run_of[i] = start->run_of[i - 1];
      continue;
    }
    size_t slot = find_slot(start, entries, &entries[i]);
    if (start->slots[slot] == 0) {
      start->run_first[start->n_runs++] = i;
      start->slots[slot] = start->n_runs;
    }
    start->run_of[i] = start->slots[slot] - 1;
  }
}

void warm_start_take(warm_start *start, const warm_entry entries[],
                     int count) {
  size_t size = table_size(count);
  start->count = count;
  start->mask = size - 1;
  memset(start->slots, 0, size * sizeof *start->slots);
  find_runs(start, entries);

  /* where each run ends, then its entries from the last to the first */
  int *first = start->run_first, end = 0;
  for (int r = 0; r <= start->n_runs; r++) first[r] = 0;
  for (int i = 0; i < count; i++) first[start->run_of[i]]++;
  for (int r = 0; r < start->n_runs; r++) first[r] = end += first[r];
  first[start->n_runs] = end;
  for (int i = count; i-- > 0;)
    start->entries[--first[start->run_of[i]]] = entries[i];
}

void warm_start_release(warm_start *start, const memory_source *source) {
  memory_block *blocks[] = {&start->entry_block, &start->claim_block,
                            &start->slot_block, &start->run_block};
  memory_blocks_release(blocks, sizeof blocks / sizeof blocks[0], source);
  *start = (warm_start){0};
}

/* The entries [*first, *end) with the key, none where they are equal. */
static void find_run(const warm_start *start, const warm_entry *key,
                     int *first, int *end) {
  *first = *end = 0;
  if (start->count == 0) return;
  int run = start->slots[find_slot(start, start->entries, key)] - 1;
  if (run < 0) return;
  *first = start->run_first[run];
  *end = start->run_first[run + 1];
}

/* ---- in a run --------------------------------------------------------------- */

/* How far a contact is from an entry; other features are farther than any. */
typedef struct separation {
  bool other_features;
  double square;
} separation;

KERNEL separation separate(const warm_entry *entry, const warm_entry *key) {
  /* the distances in both frames, squared: all six coordinates in three pairs */
  const two *a = (const two *)entry->local, *b = (const two *)key->local;
  two x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  x *= x;
  y *= y;
  z *= z;
  return (separation){
      memcmp(&entry->identity, &key->identity, sizeof key->identity) != 0,
      smaller_of(x[0] + x[1] + y[0], y[1] + z[0] + z[1])};
}

static bool is_nearer(separation a, separation b) {
  return a.other_features != b.other_features ? b.other_features
                                              : a.square < b.square;
}

/* The nearest entry for key k that is free, or taken by one farther from it;
 * -1 where there is none. */
static int nearest_open(const warm_start *start, const warm_entry *key,
                        const warm_match matches[], const warm_match *match,
                        separation *apart) {
  int best = -1;
  for (int e = match->run; e < match->run_end; e++) {
    const warm_entry *entry = &start->entries[e];
    separation to = separate(entry, key);
    if (best >= 0 && !is_nearer(to, *apart)) continue;
    int taker = start->claims[e].taker;
    if (taker >= 0 && !is_nearer(to, (separation){
                                         matches[taker].other_features,
                                         matches[taker].square}))
      continue;
    best = e;
    *apart = to;
  }
  return best;
}

/* Every key takes its nearest entry; who is turned out of one looks on. In the
 * end no key and entry are nearer to each other than to what they have. */
static void match_contact(const warm_start *start, const warm_entry keys[],
                          int k, warm_match matches[]) {
  while (k >= 0) {
    separation apart;
    warm_match *match = &matches[k];
    int found = nearest_open(start, &keys[k], matches, match, &apart);
    match->old = found >= 0 ? &start->entries[found] : NULL;
    if (found < 0) return;
    int turned_out = start->claims[found].taker;
    match->other_features = apart.other_features;
    match->square = apart.square;
    start->claims[found].taker = k;
    k = turned_out;
  }
}

/* Hang key k into the list of its run. */
static void chain_key(const warm_start *start, int k, warm_match matches[]) {
  warm_match *match = &matches[k];
  warm_claim *claim = &start->claims[match->run];
  if (claim->first_key < 0) {
    claim->first_key = k;
    return;
  }
  match->first = claim->first_key;
  match->next = matches[match->first].next;
  matches[match->first].next = k;
}

void warm_start_match(const warm_start *start, const warm_entry keys[],
                      int count, warm_match matches[]) {
  for (int k = 0; k < count; k++) {
    warm_match *match = &matches[k];
    *match = (warm_match){.first = k, .next = -1};
    if (k > 0 && same_key(&keys[k], &keys[k - 1])) {
      match->run = matches[k - 1].run;
      match->run_end = matches[k - 1].run_end;
    } else {
      find_run(start, &keys[k], &match->run, &match->run_end);
    }
    if (match->run == match->run_end) continue;
    if (keys[k].joint != 0) {
      match->old = &start->entries[match->run];
      continue;
    }
    chain_key(start, k, matches);
    match_contact(start, keys, k, matches);
  }
}
