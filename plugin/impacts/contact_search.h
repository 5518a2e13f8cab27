/* Every solution of a step by a depth-first search over what its contacts do.
 *
 * One after the other is decided: a contact separates, is closed or capped, and
 * each of its tangents sticks or slips either way. What is decided so far, and the
 * bounds that every solution keeps (an impulse below its cap, friction within
 * its cone), are linear; where they contradict each other no solution lies
 * behind, and the search turns back. Contradictions are found by simplex steps
 * on a dictionary that is kept while bounds come and go.
 *
 * A decision is about velocities: of two solutions of different velocity one
 * decision differs, and with redundant contacts, where impulses are not unique,
 * a solution is still met once.
 *
 * Friction without limit (a bound of INFINITY) is the limit of large bounds: a
 * contact that pushes sticks; and one that is closed without a push may slip
 * against any friction impulse.
 */
#ifndef ODE_MLCP_IMPACTS_CONTACT_SEARCH_H
#define ODE_MLCP_IMPACTS_CONTACT_SEARCH_H

#include "impacts/contact_space.h"

/** Simplex steps after which a search gives up: so many, or those of so much
 *  work, in products. */
#define CONTACT_SEARCH_MOST_PIVOTS 20000
long contact_search_most_pivots(const contact_space *space, double work);
double contact_search_pivot_work(const contact_space *space); /* products */

/** Half a second's work; and of wide numbers some seconds'. */
#define CONTACT_SEARCH_WORK 4e8
#define CONTACT_SEARCH_WIDE_WORK 4e7

/**
 * Write what all searches in `space` begin with.
 *
 * @param start  contact_search_start_size(space) numbers out
 */
void contact_search_prepare(const contact_space *space, double start[]);
size_t contact_search_start_size(const contact_space *space);

/** Solutions of a step. A mode's are a *leaf*: one velocity, or the corners of a
 *  continuum. */
typedef struct contact_found {
  int most; /* how many are wanted: fewer may end the search early; 1: one of
                       a continuum will do */
  double *lambdas; /* [most x n_rows] */
  double *reached; /* [most x n_rows] contact velocities after the step */
  int *leaf;       /* [most] of which leaf each is: 0, 1, .. */
  int (*interrupted)(void *context); /* asked now and then; NULL: nobody */
  void *context;
  int count, n_leaves;
  int n_continua; /* leaves of more than one velocity */
  long pivots;    /* simplex steps taken, and what writing the dictionary anew
                       cost, in such steps */
  bool whole;   /* false where the search was cut short, so that more solutions
                       may exist; true also when `most` ended it */
  bool stopped; /* `interrupted` said so */
} contact_found;

/**
 * Find the solutions of one step, in the order in which they are met.
 *
 * @param start       from contact_search_prepare
 * @param c           [n_rows] contact velocities
 * @param caps        [m] N s; INFINITY for none (eq. I3), 0: the contact takes no part
 * @param tolerance   m/s, to which conditions hold on the way; what is found
 *                    holds to 100 IMPACT_FEASIBILITY of the velocity scale
 * @param max_pivots  simplex steps; beyond, the search is cut short
 * @param scratch     contact_search_wide_scratch bytes
 * @param found       `most` and the arrays in, all else out
 * @return solutions found
 */
int contact_search_solve(const contact_space *space, const double start[],
                         const double c[], const double caps[],
                         double tolerance, long max_pivots, double scratch[],
                         contact_found *found);

/** The factor of A, J B for the rows of `contacts`. */
typedef struct contact_factors {
  const double *J;     /* n_rows x n_velocities */
  const double *B;     /* n_velocities x n_rows, M^-1 J' */
  const int *contacts; /* [the space's] their places in J */
  int n_velocities, n_rows;
} contact_factors;

/**
 * The same with numbers of 34 digits, a hundred times slower: for steps whose
 * masses and friction leave doubles no digits to find a solution with.
 *
 * @param scratch  contact_search_wide_scratch bytes, aligned for any type
 */
int contact_search_wide(const contact_space *space,
                        const contact_factors *factors, const double c[],
                        const double caps[], long max_pivots, void *scratch,
                        contact_found *found);
size_t contact_search_wide_scratch(const contact_space *space);

#endif
