#include "impacts/impact_islands.h"

#include <math.h>
#include <string.h>

#include "common/disjoint_sets.h"
#include "impacts/philox.h"

/* An effect smaller than this, of the geometric mean of the two contacts' own, is
 * rounding. */
#define NO_EFFECT 1e-14

/* Rows of A, by the geometric mean of their own entries, and slips, by the velocity
 * scale, within this of each other are one. */
#define SAME_SLIP 1e-12

/* The trial of a tree: steps, and products that it may take. */
enum { TRIAL_STEPS = 48 };
#define TRIAL_WORK 2e7

/* Products that the search for simultaneous impacts may take, which a cap is
 * chosen by: an impact within a step asks for one too. */
#define CAP_WORK 2e7

/* Caps above what is to be reached, so that a draw reaches it. */
#define CAP_ROOM (4.0 / 3)

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

/* Does row j move as row i does, whatever pushes? *times out: so many times as fast. */
static bool slips_as(const contact_space *space, int i, int j, double *times) {
  int n = space->n_rows;
  const double *A = space->A;
  double own = A[i * (n + 1)];
  if (own == 0 || A[j * (n + 1)] == 0) return false;
  *times = A[i * n + j] / own;
  for (int k = 0; k < n; k++)
    if (fabs(A[k * n + j] - *times * A[k * n + i]) >
        SAME_SLIP * sqrt(A[k * (n + 1)] * A[j * (n + 1)]))
      return false;
  return fabs(space->start[j] - *times * space->start[i]) <=
         SAME_SLIP * space->scale;
}

/* Fill what contacts slip as one; returns how many rows do as one before them. */
static int unite_slips(contact_space *space) {
  int n_united = 0;
  for (int j = 0; j < space->n_rows; j++) {
    space->slips_as[j] = j;
    space->times[j] = 1;
    bool pushes = j != space->normal_of[j] &&
                  space->bound[space->contact_of[j]] < INFINITY;
    for (int i = 0; i < j && pushes && space->slips_as[j] == j; i++)
      if (i != space->normal_of[i] && space->slips_as[i] == i &&
          space->bound[space->contact_of[i]] < INFINITY &&
          slips_as(space, i, j, &space->times[j])) {
        space->slips_as[j] = i;
        n_united++;
      }
    if (space->slips_as[j] == j) space->times[j] = 1;
  }
  if (n_united == 0) space->slips_as = NULL;
  return n_united;
}

/* The largest normal impulse that stops a contact alone. */
static double stopping_impulse(const contact_space *space) {
  double most = 0;
  for (int i = 0; i < space->n_rows; i += space->per_contact)
    most = fmax(most, -space->start[i] / space->A[i * (space->n_rows + 1)]);
  return most;
}

/* A step of the trial: caps as sampling draws them. False: nothing approaches. */
static bool draw_trial(const contact_space *space, double cap, uint64_t sample,
                       uint32_t step, double y[]) {
  for (int i = 0; i < space->n_contacts; i++) {
    double pair[2];
    philox_pair(0, sample, step, (uint32_t)(PHILOX_CAPS + i), pair);
    y[space->n_rows + i] = cap * pair[0];
  }
  return contact_space_slowest(space, y) < -1e-8 * space->scale;
}

/* Is a tree worth having? Where rows are combinations of others, so many modes may be
 * at a border that it grows for ever. Simplex steps of some steps say so: those that it
 * grows by in the second half of the trial, and those of searches. False: no memory. */
static bool try_tree(impact_island *island, const memory_source *source) {
  const contact_space *space = &island->space;
  size_t n = (size_t)space->n_rows, room = IMPACT_MAX_SOLUTIONS * n;
  double tolerance = IMPACT_FEASIBILITY * space->scale, *scratch, *y;
  double cap = CAP_ROOM * stopping_impulse(space);
  long most = (long)(TRIAL_WORK / contact_search_pivot_work(space)) + 1,
       searched = 0, grown = 0, taken = 0, pivots = 0;
  contact_found found = {.most = IMPACT_MAX_SOLUTIONS};
  contact_tree tree = {0};
  arena arena = {.source = source};
  arena_start(&arena);
  bool ready = ARENA_TAKE(&arena, scratch, contact_search_scratch(space)) &&
               ARENA_TAKE(&arena, y, n + (size_t)space->n_contacts) &&
               ARENA_TAKE(&arena, found.leaf, IMPACT_MAX_SOLUTIONS) &&
               ARENA_TAKE(&arena, found.lambdas, room) &&
               ARENA_TAKE(&arena, found.reached, room) &&
               contact_tree_open(&tree, space, cap, source);
  bool pays = ready;
  int n_steps = 0;
  for (uint64_t sample = 0;
       pays && n_steps < TRIAL_STEPS && sample < TRIAL_STEPS; sample++) {
    memcpy(y, space->start, n * sizeof *y);
    for (uint32_t step = 0; pays && n_steps < TRIAL_STEPS &&
                            draw_trial(space, cap, sample, step, y);
         step++) {
      n_steps++;
      bool met = contact_search_solve(space, island->search_start, y, y + n,
                                      tolerance, most, scratch, &found) > 0;
      contact_tree_trim(&tree);
      contact_tree_ask(&tree, y);
      long left = most - taken - found.pivots;
      long enough = 10 * found.pivots + 1000;
      pays = met && left > 0 &&
             contact_search_grow(space, island->search_start, y, y + n,
                                 tolerance, left < enough ? left : enough,
                                 scratch, &tree, &pivots);
      taken += found.pivots + pivots;
      pays &= taken <= most;
      if (n_steps > TRIAL_STEPS / 2) {
        searched += found.pivots;
        grown += pivots;
      }
      memcpy(y, found.reached, n * sizeof *y);
    }
  }
  ready &= !tree.no_memory;
  contact_tree_close(&tree);
  arena_release(&arena);
  island->has_tree = pays && grown <= searched;
  island->work += (double)taken * contact_search_pivot_work(space);
  return ready;
}

static bool fill_island(const contact_space *all, arena *arena, const int set[],
                        int first, impact_island *island,
                        const memory_source *source) {
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
      !ARENA_TAKE(arena, space->slips_as, n) ||
      !ARENA_TAKE(arena, space->times, n) ||
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
  double *A = memory_allocate_array(source, n * (n + 1), sizeof *A);
  if (A == NULL) return false;
  island->n_repeated = contact_tree_repeated(space, A);
  memory_release_array(source, A, n * (n + 1), sizeof *A);
  island->n_united = unite_slips(space);
  island->has_tree = contact_tree_suits(space);
  if (island->has_tree && island->n_repeated > island->n_united &&
      !try_tree(island, source))
    return false;
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
    if (!fill_island(space, arena, set, i, island, arena->source)) return false;
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

bool impact_island_choose_cap(impact_island *island,
                              const memory_source *source) {
  const contact_space *space = &island->space;
  int n = space->n_rows, m = space->n_contacts, per = space->per_contact;
  double most = stopping_impulse(space);
  arena arena = {.source = source};
  arena_start(&arena);
  double *caps, *scratch;
  contact_found found = {.most = IMPACT_MAX_SOLUTIONS};
  size_t room = IMPACT_MAX_SOLUTIONS * (size_t)n;
  bool ready = ARENA_TAKE(&arena, caps, m) &&
               ARENA_TAKE(&arena, scratch, contact_search_scratch(space)) &&
               ARENA_TAKE(&arena, found.leaf, IMPACT_MAX_SOLUTIONS) &&
               ARENA_TAKE(&arena, found.lambdas, room) &&
               ARENA_TAKE(&arena, found.reached, room);
  if (ready && most > 0) {
    for (int i = 0; i < m; i++) caps[i] = INFINITY;
    int n_found = contact_search_solve(
        space, island->search_start, space->start, caps,
        IMPACT_FEASIBILITY * space->scale,
        contact_search_most_pivots(space, CAP_WORK), scratch, &found);
    island->work += (double)found.pivots * contact_search_pivot_work(space);
    for (int k = 0; k < n_found; k++)
      for (int i = 0; i < n; i += per)
        most = fmax(most, found.lambdas[k * n + i]);
  }
  arena_release(&arena);
  island->cap = most > 0 ? CAP_ROOM * most : 1; // any will do: nothing strikes
  return ready;
}
