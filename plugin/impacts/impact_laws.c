/* The algebraic impact laws that the set is compared with: Anitescu & Potra's
 * simultaneous impact (eq. I3) and sequences of single ones. */
#include <math.h>
#include <string.h>

#include "impacts/impact_sampler.h"

/* A search may take so many simplex steps: some seconds. */
#define MOST_PIVOTS 2000000

/* Solutions of steps without caps, of all contacts or of one. */
typedef struct search {
  const ode_mlcp_impact *impact;
  double *c;          /* [n_rows] where the impact is */
  double *lambda_sum; /* [n_rows] */
  double *own;        /* [n_rows] c of an island */
  double *caps;       /* [m] INFINITY, or 0 for who takes no part */
  double *scratch;
  contact_found found;
  arena arena;
} search;

static bool search_open(search *search, const ode_mlcp_impact *impact) {
  const contact_space *space = &impact->space;
  size_t n = (size_t)space->n_rows, m = (size_t)space->n_contacts, scratch = 0;
  memset(search, 0, sizeof *search);
  search->impact = impact;
  search->arena.source = &impact->source;
  arena *arena = &search->arena;
  arena_start(arena);
  for (int i = 0; i < impact->n_islands; i++) {
    size_t needed = impact_search_scratch(&impact->islands[i]);
    if (needed > scratch) scratch = needed;
  }
  if (!ARENA_TAKE(arena, search->c, n) || !ARENA_TAKE(arena, search->own, n) ||
      !ARENA_TAKE(arena, search->caps, m) ||
      !ARENA_TAKE(arena, search->lambda_sum, n) ||
      !ARENA_TAKE(arena, search->scratch, scratch) ||
      !impact_found_open(&search->found, space->n_rows, arena))
    return false;
  memcpy(search->c, space->start, n * sizeof *search->c);
  memset(search->lambda_sum, 0, n * sizeof *search->lambda_sum);
  return true;
}

static void search_close(search *search) { arena_release(&search->arena); }

/* The solutions of eq. I3 for an island from where the impact is, of all its contacts or
 * of one alone (-1: all); how many. */
static int solve(search *search, const impact_island *island, int alone) {
  const contact_space *space = &island->space;
  for (int i = 0; i < space->n_contacts; i++)
    search->caps[i] = alone < 0 || island->contacts[i] == alone ? INFINITY : 0;
  for (int i = 0; i < space->n_rows; i++)
    search->own[i] = search->c[island->places[i]];
  impact_search(search->impact, island, search->own, search->caps, MOST_PIVOTS,
                search->scratch, &search->found);
  return impact_found_distinct(space, &search->found, search->found.count);
}

/* Every solution of the islands so far, with every one of the next island. */
static int combine(const ode_mlcp_impact *impact, const impact_island *island,
                   const double lambdas[], int n_found, double known[],
                   int n_known) {
  int n = impact->space.n_rows, n_own = island->space.n_rows;
  int n_all = n_known * n_found;
  if (n_all > IMPACT_MAX_SOLUTIONS) n_all = IMPACT_MAX_SOLUTIONS;
  // backwards: what is read is not yet written
  for (int k = n_all - 1; k >= 0; k--) {
    double *to = &known[k * n];
    memmove(to, &known[k / n_found * n], (size_t)n * sizeof *to);
    for (int i = 0; i < n_own; i++)
      to[island->places[i]] = lambdas[k % n_found * n_own + i];
  }
  return n_all;
}

ode_mlcp_impact_status ode_mlcp_impact_simultaneous(ode_mlcp_impact *impact,
                                                    int max_solutions,
                                                    double v[],
                                                    int *n_solutions) {
  int n = impact->space.n_rows;
  double *lambdas = NULL;
  search search;
  bool whole = true, spans = false;
  bool ready =
      search_open(&search, impact) &&
      ARENA_TAKE(&search.arena, lambdas, IMPACT_MAX_SOLUTIONS * (size_t)n);
  int n_found = ready ? 1 : 0;
  if (ready) memset(lambdas, 0, (size_t)n * sizeof *lambdas);
  for (int i = 0; i < impact->n_islands && n_found > 0; i++) {
    const impact_island *island = &impact->islands[i];
    int n_own = solve(&search, island, -1);
    spans |= search.found.n_continua > 0;
    whole &= search.found.whole && search.found.count < IMPACT_MAX_SOLUTIONS &&
             n_found * n_own <= IMPACT_MAX_SOLUTIONS;
    n_found =
        combine(impact, island, search.found.lambdas, n_own, lambdas, n_found);
  }
  for (int k = 0; k < n_found && k < max_solutions; k++)
    impact_velocity(impact, &lambdas[k * n], &v[k * impact->n_velocities]);
  *n_solutions = n_found;
  search_close(&search);
  if (!ready) return ODE_MLCP_IMPACT_NO_MEMORY;
  if (!whole) return ODE_MLCP_IMPACT_TOO_MANY_MODES;
  return spans ? ODE_MLCP_IMPACT_CONTINUUM : ODE_MLCP_IMPACT_DONE;
}

/* ---- sequences --------------------------------------------------------- */

static const impact_island *island_of(const ode_mlcp_impact *impact,
                                      int contact) {
  const impact_island *island = impact->islands;
  for (;; island++)
    for (int i = 0; i < island->space.n_contacts; i++)
      if (island->contacts[i] == contact) return island;
}

/* One inelastic impact at one contact; false when it has no solution. */
static bool resolve(search *search, int contact) {
  const impact_island *island = island_of(search->impact, contact);
  if (solve(search, island, contact) == 0) return false;
  for (int i = 0; i < island->space.n_rows; i++) {
    double c = search->found.reached[i];
    search->c[island->places[i]] =
        fabs(c) <= 1e-14 * island->space.scale ? 0 : c;
    search->lambda_sum[island->places[i]] += search->found.lambdas[i];
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

ode_mlcp_impact_status
ode_mlcp_impact_sequential(ode_mlcp_impact *impact, double tolerance,
                           const int order[], int n_order, int max_impacts,
                           double v[], double way[], int *n_impacts) {
  const contact_space *space = &impact->space;
  if (!(tolerance >= 0) || max_impacts < 0 ||
      !order_is_sound(impact, order, n_order))
    return ODE_MLCP_IMPACT_BAD_INPUT;
  search search;
  if (!search_open(&search, impact)) {
    search_close(&search);
    return ODE_MLCP_IMPACT_NO_MEMORY;
  }
  int s = impact->n_velocities, count = 0, next = 0, passed_over = 0;
  int length = order != NULL ? n_order : space->n_contacts;
  if (way != NULL) impact_velocity(impact, search.lambda_sum, way);
  while (count < max_impacts && passed_over < length) {
    int contact = order != NULL ? order[next] : next;
    next = (next + 1) % length;
    passed_over++;
    if (search.c[contact * space->per_contact] >= -tolerance) continue;
    if (!resolve(&search, contact)) break;
    passed_over = 0;
    count++;
    if (way != NULL)
      impact_velocity(impact, search.lambda_sum, &way[count * s]);
  }
  impact_velocity(impact, search.lambda_sum, v);
  if (n_impacts != NULL) *n_impacts = count;
  bool finished = contact_space_slowest(space, search.c) >= -tolerance;
  search_close(&search);
  return finished ? ODE_MLCP_IMPACT_DONE : ODE_MLCP_IMPACT_UNFINISHED;
}
