#include "impacts/contact_search.h"

#include <string.h>

#include "common/six.h"

typedef double number;
#define FLAT 1e-10
#define FLAT_OF_MANY_DECADES 1e-13
#define NO_PIVOT 1e-11
#define LEAST_PART 1e-3
#define GROWS_TREES 1
#define HAS_WIDE_ROWS SIX_HAS_WIDE
/* Rounding, without a doubt; and no variable goes further, in velocity scales. */
#define SURELY_FLAT 1e-12
#define REACH 1e3
/* A tree that one step makes larger than this is not worth having. */
#define MOST_NODES 32768

KERNEL void add_scaled(number to[], number factor, const number from[], int n) {
  const four factors = {factor, factor, factor, factor};
  const four *fours = (const four *)from;
  for (int k = 0; k < n / 4; k++) ((four *)to)[k] += factors * fours[k];
}

/* Bits of numbers > 0 are in their order, and compared without branches. */
typedef int64_t rank;
static inline rank rank_of(number size, bool counts) {
  rank bits;
  memcpy(&bits, &size, sizeof bits);
  return bits & -(rank)counts;
}

#include "impacts/contact_search_any.h"

size_t contact_search_scratch(const contact_space *space) {
  return scratch_size(space);
}

size_t contact_search_start_size(const contact_space *space) {
  return start_size(space);
}

void contact_search_prepare(const contact_space *space, double start[]) {
  prepare(space, space->A, start);
}

double contact_search_pivot_work(const contact_space *space) {
  return (double)(space->n_contacts * basic_size(space)) *
         (double)row_stride(space);
}

long contact_search_most_pivots(const contact_space *space, double work) {
  return (long)smaller(work / contact_search_pivot_work(space) + 1,
                       CONTACT_SEARCH_MOST_PIVOTS);
}

int contact_search_solve(const contact_space *space, const double start[],
                         const double c[], const double caps[],
                         double tolerance, long max_pivots, double scratch[],
                         contact_found *found) {
  return solve(space, space->A, start, c, caps, tolerance,
               100 * IMPACT_FEASIBILITY * space->scale, NULL, max_pivots,
               scratch, found);
}

int contact_search_leaf(const contact_space *space, const double start[],
                        const double c[], const double caps[],
                        const double reached[], long max_pivots,
                        double scratch[], int guide[], contact_found *found) {
  // decisions are about velocities
  double none = 100 * IMPACT_FEASIBILITY * space->scale;
  for (int row = 0; row < space->n_rows; row++) {
    int side = (reached[row] > none) - (reached[row] < -none);
    guide[row] = row == space->normal_of[row] ? (side > 0   ? SEPARATING
                                                 : side < 0 ? CAPPED
                                                            : CLOSED)
                                              : (side > 0   ? FORWARDS
                                                 : side < 0 ? BACKWARDS
                                                            : STICKING);
  }
  return solve(space, space->A, start, c, caps,
               IMPACT_FEASIBILITY * space->scale,
               100 * IMPACT_FEASIBILITY * space->scale, guide, max_pivots,
               scratch, found);
}

bool contact_search_grow(const contact_space *space, const double start[],
                         const double c[], const double caps[],
                         double tolerance, long max_pivots, double scratch[],
                         contact_tree *tree, long *pivots) {
  search s =
      begin(space, space->A, start, c, caps, tolerance, max_pivots, scratch);
  s.apart = 0; // as conditions of modes are
  s.tree = tree;
  search_all(&s);
  tree->no_memory = s.no_memory;
  if (pivots != NULL) *pivots = s.pivots + s.renewing;
  return !s.cut_short && !s.no_memory;
}
