#include "impacts/impact_islands.h"

#include <math.h>
#include <string.h>

#include "common/disjoint_sets.h"

/* An effect smaller than this, of the geometric mean of the two contacts' own, is
 * rounding. */
#define NO_EFFECT 1e-14

static bool acts_on(const contact_space *space, int a, int b) {
  int n = space->n_rows, per = space->per_contact;
  for (int i = a * per; i < (a + 1) * per; i++)
    for (int j = b * per; j < (b + 1) * per; j++) {
      double own = sqrt(space->A[i * (n + 1)] * space->A[j * (n + 1)]);
      if (fabs(space->A[i * n + j]) > NO_EFFECT * own) return true;
    }
  return false;
}

static void separate(contact_space *space, int a, int b) {
  int n = space->n_rows, per = space->per_contact;
  for (int i = a * per; i < (a + 1) * per; i++)
    for (int j = b * per; j < (b + 1) * per; j++)
      space->A[i * n + j] = space->A[j * n + i] = 0;
}

/* Velocities of an island before the impact; what is 0 but for rounding would
 * decide ties. */
static void snap_start(contact_space *space) {
  double scale = 0;
  for (int i = 0; i < space->n_rows; i++)
    scale = fmax(scale, fabs(space->start[i]));
  for (int i = 0; i < space->n_rows; i++)
    if (fabs(space->start[i]) <= 1e-14 * scale) space->start[i] = 0;
  space->scale = scale > 0 ? scale : 1;
}

static uint64_t mix(uint64_t hash, double number) {
  // about a tenth, so that rounding does not show; no round number is at a
  // boundary
  uint64_t bits = (uint64_t)(int64_t)floor(number + 0.381966);
  for (int byte = 0; byte < 64; byte += 8)
    hash = (hash ^ (bits >> byte & 0xff)) * 0x100000001b3u;
  return hash;
}

/* Random numbers of an island are keyed by what it is, not by what else there
 * is; the same collision written in other coordinates or units keeps its own.
 */
static uint64_t key_of(const contact_space *space) {
  int n = space->n_rows, per = space->per_contact;
  double lightest = 0;
  for (int i = 0; i < n; i += per)
    lightest = fmax(lightest, space->A[i * (n + 1)]);
  uint64_t hash = mix(0xcbf29ce484222325u, space->n_contacts);
  hash = mix(hash, space->n_tangents);
  for (int i = 0; i < n; i += per) {
    double bound = smaller(space->bound[i / per], 1e6);
    hash = mix(hash, 8 * log2(space->A[i * (n + 1)] / lightest));
    hash = mix(hash, 8 * log2(1 + bound));
    hash = mix(hash, 32 * space->start[i] / space->scale);
  }
  return hash;
}

static bool fill_island(const contact_space *all, arena *arena, const int set[],
                        int first, impact_island *island) {
  contact_space *space = &island->space;
  int per = all->per_contact, m = 0;
  for (int i = first; i < all->n_contacts; i++) m += set[i] == first;
  *space = *all;
  space->n_contacts = m;
  space->n_rows = m * per;
  size_t n = (size_t)space->n_rows;
  if (!ARENA_TAKE(arena, island->contacts, m) ||
      !ARENA_TAKE(arena, island->places, n) ||
      !ARENA_TAKE(arena, space->contact_of, n) ||
      !ARENA_TAKE(arena, space->normal_of, n) ||
      !ARENA_TAKE(arena, space->A, n * n) ||
      !ARENA_TAKE(arena, space->bound, m) ||
      !ARENA_TAKE(arena, space->start, n) ||
      !ARENA_TAKE(arena, space->weight, n) ||
      !ARENA_TAKE(arena, island->search_start,
                  contact_search_start_size(space)))
    return false;

  for (int i = first, next = 0; i < all->n_contacts; i++)
    if (set[i] == first) island->contacts[next++] = i;
  for (int i = 0; i < space->n_rows; i++) {
    int from = island->contacts[i / per] * per + i % per;
    island->places[i] = from;
    space->contact_of[i] = i / per;
    space->normal_of[i] = i - i % per;
    space->start[i] = all->start[from];
    space->weight[i] = all->weight[from];
    for (int j = 0; j < space->n_rows; j++)
      space->A[i * space->n_rows + j] =
          all->A[from * all->n_rows + island->contacts[j / per] * per +
                 j % per];
  }
  for (int i = 0; i < m; i++) space->bound[i] = all->bound[island->contacts[i]];
  snap_start(space);
  for (int i = 0; i < space->n_rows; i++)
    all->start[island->contacts[i / per] * per + i % per] = space->start[i];
  contact_search_prepare(space, island->search_start);
  island->key = key_of(space);
  return true;
}

bool impact_islands_find(contact_space *space, arena *arena,
                         impact_island **islands, int *n_islands) {
  int m = space->n_contacts, *set;
  if (!ARENA_TAKE(arena, set, m)) return false;
  for (int i = 0; i < m; i++) set[i] = i;
  *n_islands = 0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < i; j++)
      if (set_of(set, i) != set_of(set, j) && acts_on(space, i, j))
        unite_sets(set, i, j);
  for (int i = 0; i < m; i++) {
    set[i] = set_of(set, i);
    *n_islands += set[i] == i;
    for (int j = 0; j < i; j++)
      if (set[i] != set[j]) separate(space, i, j);
  }

  if (!ARENA_TAKE(arena, *islands, *n_islands)) return false;
  memset(*islands, 0, (size_t)*n_islands * sizeof **islands);
  space->scale = 0;
  for (int i = 0, k = 0; i < m; i++) {
    if (set[i] != i) continue;
    impact_island *island = &(*islands)[k++];
    if (!fill_island(space, arena, set, i, island)) return false;
    space->scale = fmax(space->scale, island->space.scale);
    // islands that are the same in everything are told apart by their order
    for (bool taken = true; taken;) {
      taken = false;
      for (int other = 0; other < k - 1; other++)
        if ((*islands)[other].key == island->key) {
          island->key++;
          taken = true;
        }
    }
  }
  return true;
}
