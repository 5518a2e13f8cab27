#include "impacts/impact_sampler.h"

#include <math.h>
#include <string.h>

#include "impacts/contact_path.h"
#include "impacts/philox.h"

/* Friction without limit where a way to solve needs one. */
#define MUCH_FRICTION 1e5

/* With more contact directions a search may take long: the path then. */
#define MOST_SEARCHED_ROWS 24

/* Products that the search for simultaneous impacts may take, which a cap is
 * chosen by: an impact within a step asks for one too. */
#define CAP_WORK 2e7

/* Simplex steps in wide numbers, some seconds; and the time of one in usual ones. */
enum { MOST_WIDE_PIVOTS = 50000 };
#define WIDE_PRICE 10

/* Caps above what is to be reached, so that a draw reaches it. */
#define CAP_ROOM (4.0 / 3)

/* ---- searches ---------------------------------------------------------- */

size_t impact_search_scratch(const impact_island *island) {
  // that of wide numbers is the larger
  return contact_search_wide_scratch(&island->space) / sizeof(double) + 1;
}

/* Decisions to within `times` the usual. */
static double search(const impact_island *island, const double c[],
                     const double caps[], double times, long most_pivots,
                     double scratch[], contact_found *found) {
  const contact_space *space = &island->space;
  contact_search_solve(space, island->search_start, c, caps,
                       times * IMPACT_FEASIBILITY * space->scale, most_pivots,
                       scratch, found);
  return (double)found->pivots * contact_search_pivot_work(space);
}

double impact_search(const ode_mlcp_impact *impact, const impact_island *island,
                     const double c[], const double caps[], long most_pivots,
                     double scratch[], contact_found *found) {
  const contact_space *space = &island->space;
  const contact_factors factors = {.J = impact->J,
                                   .B = impact->B,
                                   .contacts = island->contacts,
                                   .n_velocities = impact->n_velocities,
                                   .n_rows = impact->space.n_rows};
  double work = search(island, c, caps, 1, most_pivots, scratch, found);
  if (found->count > 0) return work;
  contact_search_wide(
      space, &factors, c, caps,
      most_pivots < MOST_WIDE_PIVOTS ? most_pivots : MOST_WIDE_PIVOTS, scratch,
      found);
  work += WIDE_PRICE * (double)found->pivots * contact_search_pivot_work(space);
  // one in 400 000 samples of masses over six decades needs these
  for (double times = 10; found->count == 0 && times <= 100; times *= 10) {
    work += search(island, c, caps, times, most_pivots, scratch, found);
    found->whole = false;
  }
  return work;
}

bool impact_found_open(contact_found *found, int n_rows, arena *arena) {
  size_t room = IMPACT_MAX_SOLUTIONS + 1, n = (size_t)n_rows;
  *found = (contact_found){.most = IMPACT_MAX_SOLUTIONS};
  return ARENA_TAKE(arena, found->leaf, room) &&
         ARENA_TAKE(arena, found->lambdas, room * n) &&
         ARENA_TAKE(arena, found->reached, room * n);
}

int impact_found_distinct(const contact_space *space, contact_found *found,
                          int count) {
  int n = space->n_rows, n_distinct = 0;
  double *lambdas = found->lambdas, *reached = found->reached;
  size_t size = (size_t)n * sizeof *reached;
  for (int k = 0; k < count; k++) {
    bool is_new = true;
    for (int i = 0; i < n_distinct && is_new; i++)
      is_new = !contact_space_is_same(space, &reached[i * n], &reached[k * n]);
    if (!is_new) continue;
    memmove(&reached[n_distinct * n], &reached[k * n], size);
    memmove(&lambdas[n_distinct * n], &lambdas[k * n], size);
    n_distinct++;
  }
  return n_distinct;
}

/* The largest normal impulse that stops a contact alone. */
static double stopping_impulse(const contact_space *space) {
  double most = 0;
  for (int i = 0; i < space->n_rows; i += space->per_contact)
    most = fmax(most, -space->start[i] / space->A[i * (space->n_rows + 1)]);
  return most;
}

/* The cap that options ask for by h = 0: 4/3 of the largest normal impulse that stops a
 * contact alone or belongs to a simultaneous impact (eq. I3), so that a draw reaches each
 * of these with a probability, whatever the masses. */
static bool choose_cap(const ode_mlcp_impact *impact, impact_island *island) {
  const contact_space *space = &island->space;
  int n = space->n_rows, m = space->n_contacts, per = space->per_contact;
  double most = stopping_impulse(space);
  arena arena = {.source = &impact->source};
  arena_start(&arena);
  double *caps, *scratch;
  contact_found found;
  bool ready = ARENA_TAKE(&arena, caps, m) &&
               ARENA_TAKE(&arena, scratch, impact_search_scratch(island)) &&
               impact_found_open(&found, n, &arena);
  if (ready && most > 0) {
    for (int i = 0; i < m; i++) caps[i] = INFINITY;
    island->work +=
        search(island, space->start, caps, 1,
               contact_search_most_pivots(space, CAP_WORK), scratch, &found);
    for (int k = 0; k < found.count; k++)
      for (int i = 0; i < n; i += per)
        most = fmax(most, found.lambdas[k * n + i]);
  }
  arena_release(&arena);
  island->cap = most > 0 ? CAP_ROOM * most : 1; // any will do: nothing strikes
  return ready;
}

/* ---- what is made ready ------------------------------------------------ */

static ode_mlcp_impact_method
method_of(const impact_island *island, const ode_mlcp_impact_options *options) {
  const contact_space *space = &island->space;
  if (contact_space_is_endless(space)) return ODE_MLCP_IMPACT_SEARCH;
  if (options->method != ODE_MLCP_IMPACT_AUTOMATIC) return options->method;
  return island->modes.n_modes > 0             ? ODE_MLCP_IMPACT_MODES
         : space->n_rows <= MOST_SEARCHED_ROWS ? ODE_MLCP_IMPACT_SEARCH
                                               : ODE_MLCP_IMPACT_PATH;
}

/* Is there to be a table? */
static bool wants_table(const impact_island *island,
                        const ode_mlcp_impact_options *options) {
  if (island->modes.n_modes > 0 || contact_space_is_endless(&island->space))
    return false;
  return options->method == ODE_MLCP_IMPACT_MODES ||
         (options->method == ODE_MLCP_IMPACT_AUTOMATIC &&
          contact_modes_count(&island->space) > 0);
}

ode_mlcp_impact_status
impact_sampler_prepare(ode_mlcp_impact *impact,
                       const ode_mlcp_impact_options *options, bool tables) {
  ode_mlcp_impact_status status = ODE_MLCP_IMPACT_DONE;
  for (int i = 0; i < impact->n_islands && status == ODE_MLCP_IMPACT_DONE;
       i++) {
    impact_island *island = &impact->islands[i];
    if (options->h == 0 && island->cap == 0 && !choose_cap(impact, island)) {
      island->cap = 0;
      return ODE_MLCP_IMPACT_NO_MEMORY;
    }
    if (tables && wants_table(island, options))
      status =
          contact_modes_build(&island->modes, &island->space, &impact->source);
  }
  return status;
}

static bool take_gates(impact_sampler *sampler) {
  const ode_mlcp_impact *impact = sampler->impact;
  bool taken = ARENA_TAKE(&sampler->arena, sampler->gates, impact->n_islands);
  for (int i = 0; i < impact->n_islands && taken; i++)
    taken = contact_gates_open(&sampler->gates[i], &impact->islands[i].modes,
                               &sampler->arena);
  return taken;
}

bool impact_sampler_open(impact_sampler *sampler, const ode_mlcp_impact *impact,
                         const ode_mlcp_impact_options *options,
                         const memory_source *source) {
  size_t n = (size_t)impact->space.n_rows, m = (size_t)impact->space.n_contacts;
  size_t scratch = 0, covering = 0;
  for (int i = 0; i < impact->n_islands; i++) {
    const impact_island *island = &impact->islands[i];
    size_t own = impact_search_scratch(island);
    if (own > scratch) scratch = own;
    own = (size_t)contact_path_size(&island->space);
    if (own > covering) covering = own;
  }
  memset(sampler, 0, sizeof *sampler);
  sampler->work_left = INFINITY;
  sampler->impact = impact;
  sampler->options = options;
  sampler->path_arena.source = source;
  arena *arena = &sampler->arena;
  arena->source = source;
  arena_start(arena);
  bool whole =
      ARENA_TAKE(arena, sampler->c, n) &&
      ARENA_TAKE(arena, sampler->lambda_sum, n) &&
      ARENA_TAKE(arena, sampler->inputs, n + m) &&
      ARENA_TAKE(arena, sampler->drawn, m) &&
      ARENA_TAKE(arena, sampler->covering, covering + 1) &&
      ARENA_TAKE(arena, sampler->scratch, scratch) &&
      ARENA_TAKE(arena, sampler->limited_bound, m) &&
      impact_found_open(&sampler->found, impact->space.n_rows, arena) &&
      take_gates(sampler);
  if (whole) {
    sampler->found.interrupted = options->interrupted;
    sampler->found.context = options->run_context;
    impact_sampler_enter(sampler, 0);
  } else {
    impact_sampler_close(sampler);
  }
  return whole;
}

void impact_sampler_close(impact_sampler *sampler) {
  if (sampler->arena.source == NULL) return;
  arena_release(&sampler->path_arena);
  arena_release(&sampler->arena);
  memset(sampler, 0, sizeof *sampler); // may be closed again
}

void impact_sampler_enter(impact_sampler *sampler, int number) {
  const ode_mlcp_impact_options *options = sampler->options;
  const impact_island *island = &sampler->impact->islands[number];
  if (sampler->island == island) return;
  sampler->island = island;
  sampler->method = method_of(island, options);
  sampler->seed = options->seed + island->key;
  sampler->h = options->h > 0 ? options->h : island->cap;
  double epsilon = options->epsilon > 0 ? options->epsilon : sampler->h / 2;
  sampler->last_cap = epsilon / (3 * island->psi);
  sampler->limited = island->space;
  sampler->limited.bound = sampler->limited_bound;
  for (int i = 0; i < island->space.n_contacts; i++)
    sampler->limited_bound[i] = smaller(island->space.bound[i], MUCH_FRICTION);
}

/* ---- one step ---------------------------------------------------------- */

/* Continua keep all of their corners. */
static int solve_by_search(impact_sampler *sampler, int most) {
  const impact_island *island = sampler->island;
  const double *c = sampler->inputs, *caps = c + island->space.n_rows;
  double work = smaller(CONTACT_SEARCH_WORK, sampler->work_left);
  contact_found *found = &sampler->found;
  found->most = most;
  sampler->work_left -=
      impact_search(sampler->impact, island, c, caps,
                    contact_search_most_pivots(&island->space, work),
                    sampler->scratch, found);
  sampler->met_all = found->whole && found->count < most;
  sampler->spans = found->n_continua > 0;
  sampler->stopped |= found->stopped;
  return sampler->spans
             ? found->count
             : impact_found_distinct(&island->space, found, found->count);
}

static int look_up(impact_sampler *sampler, int most) {
  const impact_island *island = sampler->island;
  contact_gates *gates = &sampler->gates[island - sampler->impact->islands];
  int n_solutions = contact_modes_solve(
      &island->modes, &island->space, gates, sampler->inputs, most,
      sampler->found.lambdas, sampler->found.reached);
  sampler->met_all = n_solutions < most;
  return n_solutions;
}

/* A continuum's corners are solutions of several modes: where the table has one, there
 * is none. */
static int solve_by_modes(impact_sampler *sampler, int most) {
  int n_solutions = look_up(sampler, most);
  if (sampler->island->modes.is_whole || n_solutions < 2 || most == 1)
    return n_solutions;
  int n_found = solve_by_search(sampler, most);
  return sampler->spans ? n_found : look_up(sampler, most);
}

/* `covering`: room for a random one; NULL: the fixed one. */
static int solve_by_path(impact_sampler *sampler, uint64_t sample,
                         uint32_t step, double *covering) {
  const contact_space *space = &sampler->limited;
  const double *caps = &sampler->inputs[space->n_rows];
  for (int i = 0; covering != NULL && i < contact_path_size(space); i += 2)
    philox_pair(sampler->seed, sample, step,
                (uint32_t)(PHILOX_COVERING + i / 2), &covering[i]);
  sampler->met_all = sampler->spans = false;
  return contact_path_solve(space, sampler->inputs, caps, covering,
                            &sampler->path_arena, sampler->found.lambdas,
                            sampler->found.reached);
}

/* By the island's method, and where that finds nothing by the others. */
static int solve_step(impact_sampler *sampler, uint64_t sample, uint32_t step,
                      int most) {
  ode_mlcp_impact_method method = sampler->method;
  bool draws = sampler->options->select == ODE_MLCP_IMPACT_RANDOM;
  sampler->met_all = sampler->spans = false;
  int n_solutions = method == ODE_MLCP_IMPACT_MODES
                        ? solve_by_modes(sampler, most)
                    : method == ODE_MLCP_IMPACT_PATH
                        ? solve_by_path(sampler, sample, step,
                                        draws ? sampler->covering : NULL)
                        : solve_by_search(sampler, most);
  if (n_solutions > 0 || sampler->stopped) return n_solutions;
  sampler->counts.fallbacks++;
  if (method != ODE_MLCP_IMPACT_SEARCH)
    n_solutions = solve_by_search(sampler, most);
  if (n_solutions == 0)
    n_solutions = solve_by_path(sampler, sample, step, NULL);
  return n_solutions > 0
             ? n_solutions
             : solve_by_path(sampler, sample, step, sampler->covering);
}

/* Of leaf `leaf`, has it more than one corner, or one that no other leaf has? */
static bool is_leaf_of_its_own(const impact_sampler *sampler, int n_found,
                               int leaf, int *first) {
  const contact_space *space = &sampler->island->space;
  const contact_found *found = &sampler->found;
  int n = space->n_rows, count = 0;
  for (int k = n_found - 1; k >= 0; k--) {
    if (found->leaf[k] != leaf) continue;
    *first = k;
    count++;
  }
  bool is_other = false;
  for (int k = 0; k < n_found; k++)
    is_other |=
        k != *first && contact_space_is_same(space, &found->reached[k * n],
                                             &found->reached[*first * n]);
  return count > 1 || !is_other;
}

/* A point of a leaf, written behind n_found solutions: corners with weights that are
 * uniform on their simplex, the gaps between random numbers. */
static void draw_within(impact_sampler *sampler, int n_found, uint64_t sample,
                        uint32_t step) {
  const contact_found *found = &sampler->found;
  int n = sampler->island->space.n_rows, n_own = 0, first = 0, chosen = 0;
  double pair[2], at[IMPACT_MAX_SOLUTIONS] = {0};
  philox_pair(sampler->seed, sample, step, PHILOX_SOLUTION, pair);
  for (int leaf = 0; leaf < found->n_leaves; leaf++)
    n_own += is_leaf_of_its_own(sampler, n_found, leaf, &first);
  int wanted = (int)(pair[0] * n_own);
  for (int leaf = 0; leaf < found->n_leaves && wanted >= 0; leaf++)
    if (is_leaf_of_its_own(sampler, n_found, leaf, &first) && wanted-- == 0)
      chosen = leaf;
  is_leaf_of_its_own(sampler, n_found, chosen, &first);
  for (int k = 0; k < n_found; k++) {
    philox_pair(sampler->seed, sample, step, (uint32_t)(PHILOX_LEAF + k), pair);
    at[k] = k == first ? 0 : pair[0];
  }
  double *lambda = &found->lambdas[n_found * n];
  double *reached = &found->reached[n_found * n];
  memset(lambda, 0, (size_t)n * sizeof *lambda);
  memset(reached, 0, (size_t)n * sizeof *reached);
  for (int k = 0; k < n_found; k++) {
    double weight = 1 - at[k];
    if (found->leaf[k] != chosen) continue;
    for (int other = 0; other < n_found; other++)
      if (found->leaf[other] == chosen && at[other] > at[k])
        weight = smaller(weight, at[other] - at[k]);
    for (int i = 0; i < n; i++) {
      lambda[i] += weight * found->lambdas[k * n + i];
      reached[i] += weight * found->reached[k * n + i];
    }
  }
}

int impact_sampler_step(impact_sampler *sampler, uint64_t sample, uint32_t step,
                        int most) {
  int n_found = solve_step(sampler, sample, step, most);
  int n = sampler->island->space.n_rows;
  sampler->point = -1;
  if (!sampler->spans || n_found == 0) return n_found;
  bool draws = sampler->options->select == ODE_MLCP_IMPACT_RANDOM;
  if (draws) draw_within(sampler, n_found, sample, step);
  int n_solutions =
      impact_found_distinct(&sampler->island->space, &sampler->found, n_found);
  if (!draws) return n_solutions;
  size_t size = (size_t)n * sizeof(double);
  memmove(&sampler->found.lambdas[n_solutions * n],
          &sampler->found.lambdas[n_found * n], size);
  memmove(&sampler->found.reached[n_solutions * n],
          &sampler->found.reached[n_found * n], size);
  sampler->point = n_solutions;
  return n_solutions;
}

/* ---- one sample -------------------------------------------------------- */

static void draw_caps(impact_sampler *sampler, uint64_t sample, uint32_t step) {
  const ode_mlcp_impact_options *options = sampler->options;
  int m = sampler->island->space.n_contacts;
  double *caps = &sampler->inputs[sampler->island->space.n_rows];
  if (options->draw != NULL) {
    // a user's own is of all contacts
    options->draw(options->draw_context, options->seed, sample, (int)step,
                  sampler->impact->space.n_contacts, sampler->drawn);
    for (int i = 0; i < m; i++)
      caps[i] = sampler->drawn[sampler->island->contacts[i]];
    return;
  }
  for (int i = 0; i < m; i += 2) {
    double pair[2];
    philox_pair(sampler->seed, sample, step, (uint32_t)(PHILOX_CAPS + i / 2),
                pair);
    caps[i] = sampler->h * pair[0];
    if (i + 1 < m) caps[i + 1] = sampler->h * pair[1];
  }
}

/* Go on with solution k. */
static void take(impact_sampler *sampler, int k) {
  int n = sampler->island->space.n_rows;
  for (int i = 0; i < n; i++) {
    int place = sampler->island->places[i];
    sampler->lambda_sum[place] += sampler->found.lambdas[k * n + i];
    sampler->c[place] = sampler->inputs[i] = sampler->found.reached[k * n + i];
  }
}

/* Which of the solutions of this step is taken. */
static int choose(const impact_sampler *sampler, uint64_t sample, uint32_t step,
                  int n_solutions) {
  if (sampler->point >= 0) return sampler->point;
  if (n_solutions == 1) return 0;
  if (sampler->options->select == ODE_MLCP_IMPACT_FIRST) return 0;
  double pair[2];
  philox_pair(sampler->seed, sample, step, PHILOX_SOLUTION, pair);
  int k = (int)(pair[0] * n_solutions);
  return k < n_solutions ? k : n_solutions - 1;
}

static bool is_interrupted(impact_sampler *sampler) {
  const ode_mlcp_impact_options *options = sampler->options;
  if (options->interrupted != NULL && !sampler->stopped)
    sampler->stopped = options->interrupted(options->run_context) != 0;
  return sampler->stopped;
}

/* Alg. 1 on the island that is entered. */
static bool run_island(impact_sampler *sampler, uint64_t sample,
                       impact_visit *visit, void *context) {
  const contact_space *space = &sampler->island->space;
  const ode_mlcp_impact_options *options = sampler->options;
  int most =
      options->select == ODE_MLCP_IMPACT_FIRST ? 1 : IMPACT_MAX_SOLUTIONS;
  memcpy(sampler->inputs, space->start,
         (size_t)space->n_rows * sizeof *sampler->inputs);

  // Alg. 1's `i <= N` allows N + 1 steps
  for (int step = 0;
       contact_space_slowest(space, sampler->inputs) < -options->tolerance &&
       step <= options->steps && sampler->work_left > 0 &&
       !is_interrupted(sampler);
       step++) {
    draw_caps(sampler, sample, (uint32_t)step);
    int n_solutions =
        impact_sampler_step(sampler, sample, (uint32_t)step, most);
    if (n_solutions == 0) {
      sampler->failed = true;
      break;
    }
    sampler->counts.solutions += (uint64_t)n_solutions;
    sampler->counts.incomplete += !sampler->met_all;
    sampler->counts.continua += sampler->spans;
    sampler->n_lcps++;
    take(sampler, choose(sampler, sample, (uint32_t)step, n_solutions));
    if (visit != NULL) visit(context, sampler);
  }
  return contact_space_slowest(space, sampler->inputs) >= -options->tolerance;
}

bool impact_sampler_run(impact_sampler *sampler, uint64_t sample,
                        impact_visit *visit, void *context) {
  const contact_space *space = &sampler->impact->space;
  size_t size = (size_t)space->n_rows * sizeof *sampler->c;
  memcpy(sampler->c, space->start, size);
  memset(sampler->lambda_sum, 0, size);
  sampler->failed = false;
  sampler->n_lcps = 0;
  if (visit != NULL) visit(context, sampler);
  bool over = true;
  for (int i = 0; i < sampler->impact->n_islands; i++) {
    impact_sampler_enter(sampler, i);
    over &= run_island(sampler, sample, visit, context);
  }
  return over && !sampler->stopped;
}

static bool last_step_of_island(impact_sampler *sampler, uint64_t sample) {
  const contact_space *space = &sampler->island->space;
  for (int i = 0; i < space->n_rows; i++)
    sampler->inputs[i] = sampler->c[sampler->island->places[i]];
  // without approach the last step is no step (Lemma 8)
  if (contact_space_slowest(space, sampler->inputs) >= 0) return true;
  for (int i = 0; i < space->n_contacts; i++)
    sampler->inputs[space->n_rows + i] = sampler->last_cap;

  uint32_t step = (uint32_t)sampler->options->steps + 1;
  int n_solutions = impact_sampler_step(sampler, sample, step, 1);
  // rounding must not make an outcome of so small a step worse
  if (n_solutions > 0 && contact_space_slowest(space, sampler->found.reached) >=
                             contact_space_slowest(space, sampler->inputs))
    take(sampler, 0);
  return contact_space_slowest(space, sampler->inputs) >=
         -sampler->options->tolerance;
}

bool impact_sampler_last_step(impact_sampler *sampler, uint64_t sample) {
  bool over = true;
  for (int i = 0; i < sampler->impact->n_islands; i++) {
    impact_sampler_enter(sampler, i);
    over &= last_step_of_island(sampler, sample);
  }
  return over;
}
