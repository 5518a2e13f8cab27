/* The algebraic impact laws that the set is compared with: Anitescu & Potra's
 * simultaneous impact (eq. I3) and sequences of single ones. */
#include <math.h>
#include <string.h>

#include "impacts/impact_sampler.h"
#include "impacts/philox.h"

/* A search may take so many simplex steps: some seconds. */
#define MOST_PIVOTS 2000000

/* One contact alone, with what it needs of contact space. */
enum { MOST_ROWS = 3 }; /* of a contact */

typedef struct alone {
  contact_space space;
  int contact_of[MOST_ROWS], normal_of[MOST_ROWS];
  double A[MOST_ROWS * MOST_ROWS], bound, weight[MOST_ROWS];
} alone;

/* Solutions of steps without caps, of all contacts or of one. */
typedef struct search {
  const ode_mlcp_impact *impact;
  double *c;          /* [n_rows] where the impact is */
  double *caps;       /* [m] INFINITY */
  double *lambda;     /* [n_rows] the impulse chosen */
  double *lambda_sum; /* [n_rows] */
  double *begin;      /* of one contact's searches */
  double *scratch;
  contact_found found; /* of IMPACT_MAX_SOLUTIONS */
  alone alone;
  arena arena;
} search;

static bool search_open(search *search, const ode_mlcp_impact *impact) {
  const contact_space *space = &impact->space;
  size_t n = (size_t)space->n_rows, m = (size_t)space->n_contacts;
  memset(search, 0, sizeof *search);
  search->impact = impact;
  search->arena.source = &impact->source;
  arena *arena = &search->arena;
  arena_start(arena);
  if (!ARENA_TAKE(arena, search->c, n) || !ARENA_TAKE(arena, search->caps, m) ||
      !ARENA_TAKE(arena, search->lambda, n) ||
      !ARENA_TAKE(arena, search->lambda_sum, n) ||
      !ARENA_TAKE(arena, search->begin, contact_search_start_size(space)) ||
      !ARENA_TAKE(arena, search->scratch,
                  contact_search_wide_scratch(space) / sizeof(double) + 1) ||
      !impact_found_open(&search->found, space->n_rows, arena))
    return false;
  memcpy(search->c, space->start, n * sizeof *search->c);
  memset(search->lambda_sum, 0, n * sizeof *search->lambda_sum);
  for (size_t i = 0; i < m; i++) search->caps[i] = INFINITY;
  return true;
}

static void search_close(search *search) { arena_release(&search->arena); }

/* The solutions of a contact alone, [per_contact] each in search->found.lambdas. */
static int solve_alone(search *search, int contact) {
  const contact_space *all = &search->impact->space;
  alone *it = &search->alone;
  int per = all->per_contact, first = contact * per;
  it->space = *all;
  it->space.n_contacts = 1;
  it->space.n_rows = per;
  it->space.contact_of = it->contact_of;
  it->space.normal_of = it->normal_of;
  it->space.A = it->A;
  it->space.bound = &it->bound;
  it->space.weight = it->weight;
  it->bound = all->bound[contact];
  for (int i = 0; i < per; i++) {
    it->contact_of[i] = it->normal_of[i] = 0;
    it->weight[i] = all->weight[first + i];
    for (int j = 0; j < per; j++)
      it->A[i * per + j] = all->A[(first + i) * all->n_rows + first + j];
  }
  contact_search_prepare(&it->space, search->begin);
  return contact_search_solve(&it->space, search->begin, &search->c[first],
                              search->caps, IMPACT_FEASIBILITY * all->scale,
                              MOST_PIVOTS, search->scratch, &search->found);
}

static bool same_velocity(const ode_mlcp_impact *impact, const double a[],
                          const double b[]) {
  // compared in contact space: there the scale is known
  int s = impact->n_velocities;
  for (int i = 0; i < impact->space.n_rows; i++) {
    double difference = 0;
    for (int j = 0; j < s; j++)
      difference += impact->J[i * s + j] * (a[j] - b[j]);
    if (fabs(difference) > IMPACT_SAME * impact->space.scale) return false;
  }
  return true;
}

/* Every solution of the islands so far, with every one of the next island. */
static int combine(const ode_mlcp_impact *impact, const impact_island *island,
                   const double lambdas[], int n_found, double known[],
                   int n_known) {
  const contact_space *space = &island->space;
  int n = impact->space.n_rows, per = space->per_contact;
  int n_all = n_known * n_found;
  if (n_all > IMPACT_MAX_SOLUTIONS) n_all = IMPACT_MAX_SOLUTIONS;
  for (int k = n_all - 1; k >= 0; k--) { // backwards: what is read is not yet
                                         // written
    double *to = &known[k * n];
    memmove(to, &known[k / n_found * n], (size_t)n * sizeof *to);
    const double *lambda = &lambdas[k % n_found * space->n_rows];
    for (int i = 0; i < space->n_rows; i++)
      to[island->contacts[i / per] * per + i % per] = lambda[i];
  }
  return n_all;
}

ode_mlcp_impact_status ode_mlcp_impact_simultaneous(ode_mlcp_impact *impact,
                                                    int max_solutions,
                                                    double v[],
                                                    int *n_solutions) {
  int s = impact->n_velocities, n = impact->space.n_rows;
  *n_solutions = 0;
  // a solution can only be told from those known if they are all kept
  double *known = NULL, *lambdas = NULL;
  search search;
  bool whole = true, spans = false;
  bool ready =
      search_open(&search, impact) &&
      ARENA_TAKE(&search.arena, lambdas, IMPACT_MAX_SOLUTIONS * (size_t)n) &&
      ARENA_TAKE(&search.arena, known, IMPACT_MAX_SOLUTIONS * (size_t)s);
  int n_found = ready ? 1 : 0;
  if (ready) memset(lambdas, 0, (size_t)n * sizeof *lambdas);
  for (int i = 0; i < impact->n_islands && n_found > 0; i++) {
    const impact_island *island = &impact->islands[i];
    impact_search(impact, island, island->space.start, search.caps, MOST_PIVOTS,
                  search.scratch, &search.found);
    int n_own = search.found.count;
    spans |= search.found.n_continua > 0;
    whole &= search.found.whole && n_own < IMPACT_MAX_SOLUTIONS &&
             n_found * n_own <= IMPACT_MAX_SOLUTIONS;
    n_found =
        combine(impact, island, search.found.lambdas, n_own, lambdas, n_found);
  }
  for (int k = 0; k < n_found; k++) {
    double *found = &known[*n_solutions * s];
    impact_velocity(impact, &lambdas[k * n], found);
    bool is_new = true;
    for (int other = 0; other < *n_solutions && is_new; other++)
      is_new = !same_velocity(impact, &known[other * s], found);
    *n_solutions += is_new;
  }
  int n_out = *n_solutions < max_solutions ? *n_solutions : max_solutions;
  if (n_out > 0) memcpy(v, known, (size_t)(n_out * s) * sizeof *v);
  search_close(&search);
  if (!ready) return ODE_MLCP_IMPACT_NO_MEMORY;
  if (!whole) return ODE_MLCP_IMPACT_TOO_MANY_MODES;
  return spans ? ODE_MLCP_IMPACT_CONTINUUM : ODE_MLCP_IMPACT_DONE;
}

/* ---- sequences --------------------------------------------------------- */

typedef struct sequence {
  ode_mlcp_impact_order kind;
  const int *order;
  int n_order;
  int next; /* place in the order */
  uint64_t seed, sample;
  bool random_solution;
} sequence;

static bool approaches(const search *search, int contact, double tolerance) {
  return search->c[contact * search->impact->space.per_contact] < -tolerance;
}

/* The next contact to resolve, -1 when the sequence has no more. */
static int next_contact(sequence *sequence, const search *search,
                        double tolerance, uint32_t step) {
  int m = search->impact->space.n_contacts;
  if (sequence->kind == ODE_MLCP_IMPACT_SHUFFLE) {
    int n_approaching = 0;
    for (int i = 0; i < m; i++)
      n_approaching += approaches(search, i, tolerance);
    if (n_approaching == 0) return -1;
    double pair[2];
    philox_pair(sequence->seed, sequence->sample, step, PHILOX_ORDER, pair);
    int chosen = (int)(pair[0] * n_approaching);
    for (int i = 0; i < m; i++)
      if (approaches(search, i, tolerance) && chosen-- == 0) return i;
    return -1;
  }
  int length = sequence->order != NULL ? sequence->n_order : m;
  for (int tried = 0; tried < length; tried++) {
    if (sequence->kind == ODE_MLCP_IMPACT_GIVEN && sequence->next >= length)
      return -1;
    int place = sequence->next++ % length;
    int contact = sequence->order != NULL ? sequence->order[place] : place;
    if (sequence->next >= length && sequence->kind == ODE_MLCP_IMPACT_CYCLIC)
      sequence->next = 0;
    if (approaches(search, contact, tolerance)) return contact;
  }
  return -1;
}

/* One inelastic impact at one contact; false when it has no solution. */
static bool resolve(search *search, int contact, const sequence *sequence,
                    uint32_t step) {
  const contact_space *space = &search->impact->space;
  int n = space->n_rows, per = space->per_contact, first = contact * per;
  int n_found = solve_alone(search, contact), chosen = 0;
  if (n_found == 0) return false;
  if (sequence->random_solution && n_found > 1) {
    double pair[2];
    philox_pair(sequence->seed, sequence->sample, step, PHILOX_SOLUTION, pair);
    chosen = (int)(pair[0] * n_found);
  }
  memset(search->lambda, 0, (size_t)n * sizeof *search->lambda);
  memcpy(&search->lambda[first], &search->found.lambdas[chosen * per],
         (size_t)per * sizeof *search->lambda);
  double *after = search->found.lambdas; // no longer needed
  memcpy(after, &search->found.reached[chosen * per],
         (size_t)per * sizeof *search->found.reached);
  // only this contact pushes
  for (int i = 0; i < n; i++) {
    search->found.reached[i] = search->c[i];
    for (int j = first; j < first + per; j++)
      search->found.reached[i] += space->A[i * n + j] * search->lambda[j];
  }
  memcpy(&search->found.reached[first], after, (size_t)per * sizeof *after);
  for (int i = 0; i < n; i++) {
    double c = search->found.reached[i];
    search->c[i] = fabs(c) <= 1e-14 * space->scale ? 0 : c;
    search->lambda_sum[i] += search->lambda[i];
  }
  return true;
}

static bool order_is_sound(const ode_mlcp_impact *impact, const int order[],
                           int n_order) {
  if (order == NULL) return true;
  if (n_order < 1) return false;
  for (int i = 0; i < n_order; i++)
    if (order[i] < 0 || order[i] >= impact->space.n_contacts) return false;
  return true;
}

ode_mlcp_impact_status ode_mlcp_impact_sequential(
    ode_mlcp_impact *impact, const ode_mlcp_impact_options *options,
    ode_mlcp_impact_order kind, const int order[], int n_order, uint64_t sample,
    int max_impacts, double v[], double way[], int *n_impacts) {
  const char *why;
  ode_mlcp_impact_options own;
  if (!impact_options_read(options, &own, &why) || max_impacts < 0 ||
      !order_is_sound(impact, order, n_order))
    return ODE_MLCP_IMPACT_BAD_INPUT;
  search search;
  if (!search_open(&search, impact)) {
    search_close(&search);
    return ODE_MLCP_IMPACT_NO_MEMORY;
  }
  sequence sequence = {
      .kind = kind,
      .order = order,
      .n_order = n_order,
      .seed = own.seed,
      .sample = sample,
      .random_solution = own.select != ODE_MLCP_IMPACT_FIRST,
  };

  int s = impact->n_velocities, count = 0;
  if (way != NULL) impact_velocity(impact, search.lambda_sum, way);
  while (count < max_impacts &&
         contact_space_slowest(&impact->space, search.c) < -own.tolerance) {
    int contact =
        next_contact(&sequence, &search, own.tolerance, (uint32_t)count);
    if (contact < 0 || !resolve(&search, contact, &sequence, (uint32_t)count))
      break;
    count++;
    if (way != NULL)
      impact_velocity(impact, search.lambda_sum, &way[count * s]);
  }
  impact_velocity(impact, search.lambda_sum, v);
  if (n_impacts != NULL) *n_impacts = count;
  bool finished =
      contact_space_slowest(&impact->space, search.c) >= -own.tolerance;
  search_close(&search);
  return finished ? ODE_MLCP_IMPACT_DONE : ODE_MLCP_IMPACT_UNFINISHED;
}
