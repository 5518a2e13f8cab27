#include "impacts/contact_search.h"

#ifdef __SIZEOF_FLOAT128__
typedef __float128 number;
#else
typedef long double number; // where it has 34 digits itself, or fewer
#endif
#define FLAT 1e-24
#define FLAT_OF_MANY_DECADES 1e-28
#define NO_PIVOT 1e-25
/* To this part of the velocity scale conditions hold here: where velocities hardly
 * tell impulses apart no solution is lost between two decisions. */
#define FINE 1e-20
#define LEAST_PART 1e-9
#define GROWS_TREES 0
#define HAS_WIDE_ROWS 0

static inline void add_scaled(number to[], number factor, const number from[],
                              int n) {
  for (int k = 0; k < n; k++) to[k] += factor * from[k];
}

typedef number rank;
static inline rank rank_of(number size, bool counts) {
  return counts ? size : 0;
}

#include "impacts/contact_search_any.h"

size_t contact_search_wide_scratch(const contact_space *space) {
  size_t n = (size_t)space->n_rows;
  return (n * n + start_size(space) + scratch_size(space)) * sizeof(number);
}

/* Worked out anew: contacts that repeat each other do so to the last digit, where
 * rounded products would ask for impulses without end. */
static void multiply(const contact_space *space, const contact_factors *factors,
                     number A[]) {
  int n = space->n_rows, per = space->per_contact, s = factors->n_velocities;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int row = factors->contacts[i / per] * per + i % per;
      int column = factors->contacts[j / per] * per + j % per;
      number sum = 0;
      for (int k = 0; k < s; k++)
        sum += (number)factors->J[row * s + k] *
               factors->B[k * factors->n_rows + column];
      A[i * n + j] = sum;
    }
}

int contact_search_wide(const contact_space *space,
                        const contact_factors *factors, const double c[],
                        const double caps[], long max_pivots, void *scratch,
                        contact_found *found) {
  number *A = scratch, *start = A + space->n_rows * space->n_rows;
  multiply(space, factors, A);
  prepare(space, A, start);
  return solve(space, A, start, c, caps, FINE * space->scale,
               100 * IMPACT_FEASIBILITY * space->scale, NULL, max_pivots,
               start + start_size(space), found);
}
