/* Disjoint sets of the numbers 0 .. n - 1, each known by its least number. */
#ifndef ODE_MLCP_COMMON_DISJOINT_SETS_H
#define ODE_MLCP_COMMON_DISJOINT_SETS_H

/** The least number of the set that `i` is in; parent[i] == i at the start. */
static inline int set_of(int parent[], int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static inline void unite_sets(int parent[], int i, int j) {
  int a = set_of(parent, i), b = set_of(parent, j);
  parent[a > b ? a : b] = a > b ? b : a;
}

#endif
