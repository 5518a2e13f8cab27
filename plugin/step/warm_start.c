#include "step/warm_start.h"

#include <math.h>
#include <stdlib.h>

#include "common/vec3.h"

static int compare_keys(const warm_entry *a, const warm_entry *b) {
  for (int i = 0; i < 2; i++)
    if (a->serial[i] != b->serial[i])
      return a->serial[i] < b->serial[i] ? -1 : 1;
  if (a->joint != b->joint) return a->joint < b->joint ? -1 : 1;
  return 0;
}

static int compare_entries(const void *left, const void *right) {
  const warm_entry *a = left, *b = right;
  int keys = compare_keys(a, b);
  return keys != 0 ? keys : (a->order > b->order) - (a->order < b->order);
}

void warm_start_sort(warm_entry entries[], int count) {
  if (count > 1) qsort(entries, (size_t)count, sizeof *entries, compare_entries);
}

/* The first entry whose key is not below `key`'s. */
static int lower_bound(const warm_entry entries[], int count,
                       const warm_entry *key) {
  int first = 0;
  while (count > 0) {
    int half = count / 2;
    if (compare_keys(&entries[first + half], key) < 0) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

static double distance_squared(const double a[3], const double b[3]) {
  double apart[3];
  vec3_subtract(apart, a, b);
  return vec3_dot(apart, apart);
}

static bool same_identity(const contact_identity *a,
                          const contact_identity *b) {
  for (int i = 0; i < 2; i++)
    if (a->feature[i] != b->feature[i] || a->part[i] != b->part[i])
      return false;
  return true;
}

int warm_start_find(const warm_entry entries[], int count, bool used[],
                    const warm_entry *key) {
  int best = -1;
  bool best_same = false;
  double best_distance = INFINITY;
  for (int i = lower_bound(entries, count, key);
       i < count && compare_keys(&entries[i], key) == 0; i++) {
    if (used[i]) continue;
    bool same = same_identity(&entries[i].identity, &key->identity);
    if (best_same && !same) continue;
    double distance =
        fmin(distance_squared(entries[i].local[0], key->local[0]),
             distance_squared(entries[i].local[1], key->local[1]));
    if (distance < best_distance || (same && !best_same)) {
      best_distance = distance;
      best_same = same;
      best = i;
    }
  }
  if (best >= 0) used[best] = true;
  return best;
}

bool warm_start_overlap(const warm_entry entries[], int count,
                        const warm_entry *key) {
  for (int i = lower_bound(entries, count, key);
       i < count && compare_keys(&entries[i], key) == 0; i++)
    if (entries[i].overlap) return true;
  return false;
}
