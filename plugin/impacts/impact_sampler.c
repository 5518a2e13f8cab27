#include "impacts/impact_sampler.h"

#include <math.h>
#include <string.h>

#include "impacts/contact_path.h"
#include "impacts/philox.h"

/* Up to this many modes a look through all beats the search. */
#define FEW_MODES 64
/* The same of polygons of more than four edges, which grow no trees. */
#define FEW_MODES_OF_POLYGONS 4096

/* Friction without limit where a way to solve needs one. */
#define MUCH_FRICTION 1e5

/* With more contact directions a search may take long: the path then. */
#define MOST_SEARCHED_ROWS 24

/* Where a search is cut short before it met any solution, it is given so many times
 * the simplex steps to meet the first. */
#define PATIENCE 50

/* Simplex steps to grow a tree by one step's. */
#define MOST_GROWTH 1000000

static ode_mlcp_impact_method
method_of(const impact_island *island, const ode_mlcp_impact_options *options) {
  const contact_space *space = &island->space;
  int count = contact_modes_count(space, true);
  if (contact_space_is_endless(space)) return ODE_MLCP_IMPACT_SEARCH;
  // it is slower and finds no other solutions
  if (options->method == ODE_MLCP_IMPACT_LEMKE) return ODE_MLCP_IMPACT_PATH;
  if (options->method != ODE_MLCP_IMPACT_AUTOMATIC) return options->method;
  int few = space->n_tangents > 2 ? FEW_MODES_OF_POLYGONS : FEW_MODES;
  if (count > 0 && count <= few) return ODE_MLCP_IMPACT_MODES;
  return space->n_rows <= MOST_SEARCHED_ROWS ||
                 options->select == ODE_MLCP_IMPACT_ALL
             ? ODE_MLCP_IMPACT_SEARCH
             : ODE_MLCP_IMPACT_PATH;
}

static ode_mlcp_impact_status build_modes(impact_island *island, double h,
                                          const memory_source *source) {
  contact_modes *modes = memory_allocate_array(source, 1, sizeof *modes);
  if (modes == NULL) return ODE_MLCP_IMPACT_NO_MEMORY;
  ode_mlcp_impact_status status =
      contact_modes_build(modes, &island->space, h, source);
  if (status == ODE_MLCP_IMPACT_DONE)
    island->modes = modes;
  else
    memory_release_array(source, modes, 1, sizeof *modes);
  return status;
}

ode_mlcp_impact_status
impact_sampler_prepare(ode_mlcp_impact *impact,
                       const ode_mlcp_impact_options *options) {
  ode_mlcp_impact_status status = ODE_MLCP_IMPACT_DONE;
  for (int i = 0; i < impact->n_islands && status == ODE_MLCP_IMPACT_DONE;
       i++) {
    impact_island *island = &impact->islands[i];
    if (options->h == 0 && island->cap == 0 &&
        !impact_island_choose_cap(island, &impact->source)) {
      island->cap = 0;
      return ODE_MLCP_IMPACT_NO_MEMORY;
    }
    if (method_of(island, options) == ODE_MLCP_IMPACT_MODES &&
        island->modes == NULL)
      status = build_modes(island, options->h > 0 ? options->h : island->cap,
                           &impact->source);
  }
  return status;
}

/* Most that an island needs of each kind of memory. */
typedef struct needs {
  size_t covering, solver;
} needs;

static size_t most_of(size_t a, size_t b) { return a > b ? a : b; }

static needs needs_of(const ode_mlcp_impact *impact) {
  needs most = {0, 0};
  for (int i = 0; i < impact->n_islands; i++) {
    const impact_island *island = &impact->islands[i];
    const contact_space *space = &island->space;
    most.covering = most_of(most.covering, 2 * (size_t)space->n_rows + 1);
    most.solver = most_of(most.solver, contact_path_scratch(space));
    most.solver = most_of(most.solver, contact_search_scratch(space));
    most.solver = most_of(most.solver, contact_mode_scratch(space));
    size_t wide = contact_search_wide_scratch(space) / sizeof(double);
    most.solver = most_of(most.solver, wide);
  }
  return most;
}

static double cap_of(const impact_island *island,
                     const ode_mlcp_impact_options *options) {
  return options->h > 0 ? options->h : island->cap;
}

static bool goes_for_ends(const impact_sampler *sampler) {
  return sampler->options->caps == ODE_MLCP_IMPACT_ENDS &&
         sampler->options->draw == NULL;
}

bool impact_sampler_open(impact_sampler *sampler, const ode_mlcp_impact *impact,
                         const ode_mlcp_impact_options *options,
                         const memory_source *source) {
  const contact_space *space = &impact->space;
  size_t n = (size_t)space->n_rows, m = (size_t)space->n_contacts;
  size_t room = IMPACT_MAX_SOLUTIONS + 1; // and a point within a continuum
  needs most = needs_of(impact);

  memset(sampler, 0, sizeof *sampler);
  sampler->work_left = INFINITY;
  sampler->impact = impact;
  sampler->options = options;
  arena *arena = &sampler->arena;
  arena->source = source;
  arena_start(arena);
  bool whole = ARENA_TAKE(arena, sampler->c, n) &&
               ARENA_TAKE(arena, sampler->lambda_sum, n) &&
               ARENA_TAKE(arena, sampler->inputs, n + m) &&
               ARENA_TAKE(arena, sampler->drawn, m) &&
               ARENA_TAKE(arena, sampler->covering, most.covering) &&
               ARENA_TAKE(arena, sampler->lambdas, room * n) &&
               ARENA_TAKE(arena, sampler->reached, room * n) &&
               ARENA_TAKE(arena, sampler->leaf, room) &&
               ARENA_TAKE(arena, sampler->numbers, n + m) &&
               ARENA_TAKE(arena, sampler->solver, most.solver) &&
               ARENA_TAKE(arena, sampler->limited_bound, m) &&
               ARENA_TAKE(arena, sampler->trees, impact->n_islands) &&
               ARENA_TAKE(arena, sampler->ends, impact->n_islands);
  if (sampler->trees != NULL)
    memset(sampler->trees, 0,
           (size_t)impact->n_islands * sizeof *sampler->trees);
  for (int i = 0; i < impact->n_islands && whole && goes_for_ends(sampler); i++)
    whole = impact_ends_open(&sampler->ends[i], &impact->islands[i].space,
                             options->seed + impact->islands[i].key,
                             options->steps + 1,
                             cap_of(&impact->islands[i], options), arena);
  if (whole)
    impact_sampler_enter(sampler, 0);
  else
    impact_sampler_close(sampler);
  return whole;
}

void impact_sampler_close(impact_sampler *sampler) {
  if (sampler->arena.source == NULL) return;
  for (int i = 0; sampler->trees != NULL && i < sampler->impact->n_islands; i++)
    contact_tree_close(&sampler->trees[i]);
  memory_block_release(&sampler->branch_block, sampler->arena.source);
  memory_block_release(&sampler->state_block, sampler->arena.source);
  memory_block_release(&sampler->way_block, sampler->arena.source);
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
  sampler->h = cap_of(island, options);
  double epsilon = options->epsilon > 0 ? options->epsilon : sampler->h / 2;
  sampler->last_cap = epsilon / (3 * island->psi);
  sampler->limited = island->space;
  sampler->limited.bound = sampler->limited_bound;
  for (int i = 0; i < island->space.n_contacts; i++)
    sampler->limited_bound[i] = smaller(island->space.bound[i], MUCH_FRICTION);
}

/* ---- one step ---------------------------------------------------------- */

static bool is_new(const impact_sampler *sampler, int n_known,
                   const double c[]) {
  int n = sampler->island->space.n_rows;
  double same = IMPACT_SAME * sampler->island->space.scale;
  for (int k = 0; k < n_known; k++) {
    double worst = 0;
    for (int i = 0; i < n; i++)
      worst = larger(worst, fabs(sampler->reached[k * n + i] - c[i]));
    if (worst <= same) return false;
  }
  return true;
}

/* Of n_found solutions in the sampler keep those that differ by more than
 * rounding. */
static int keep_distinct(impact_sampler *sampler, int n_found) {
  int n = sampler->island->space.n_rows, n_solutions = 0;
  size_t size = (size_t)n * sizeof(double);
  for (int k = 0; k < n_found; k++) {
    if (!is_new(sampler, n_solutions, &sampler->reached[k * n])) continue;
    memmove(&sampler->reached[n_solutions * n], &sampler->reached[k * n], size);
    memmove(&sampler->lambdas[n_solutions * n], &sampler->lambdas[k * n], size);
    n_solutions++;
  }
  return n_solutions;
}

/* Room for solutions from place `first` on. */
static contact_found found_from(impact_sampler *sampler, int first, int most) {
  int n = sampler->island->space.n_rows;
  const ode_mlcp_impact_options *options = sampler->options;
  return (contact_found){.most = most,
                         .lambdas = &sampler->lambdas[first * n],
                         .reached = &sampler->reached[first * n],
                         .leaf = sampler->leaf,
                         .interrupted = options->interrupted,
                         .context = options->run_context};
}

/* The outcome of a search. */
static void take_in(impact_sampler *sampler, const contact_found *found,
                    double price) {
  const contact_space *space = &sampler->island->space;
  sampler->work_left -=
      price * (double)found->pivots * contact_search_pivot_work(space);
  sampler->met_all = found->whole && found->count < found->most;
  sampler->n_leaves = found->n_leaves;
  sampler->spans = found->n_continua > 0;
  sampler->stopped |= found->stopped;
}

/* `tolerance` in parts of the velocity scale; `wide` has its own. `patience`: how many
 * times the usual simplex steps. Continua keep all of their corners. */
static int search(impact_sampler *sampler, int most, double tolerance,
                  bool wide, int patience) {
  const contact_space *space = &sampler->island->space;
  const double *c = sampler->inputs, *caps = c + space->n_rows;
  double work = wide ? CONTACT_SEARCH_WIDE_WORK : CONTACT_SEARCH_WORK;
  // a sample of many steps that are all cut short must end some time
  double begun = sampler->step + 1.0;
  if (space->n_rows > MOST_SEARCHED_ROWS) work /= begun * begun;
  double price = wide ? CONTACT_SEARCH_WORK / CONTACT_SEARCH_WIDE_WORK : 1;
  work = smaller(work, sampler->work_left / price);
  const ode_mlcp_impact *impact = sampler->impact;
  const contact_factors factors = {.J = impact->J,
                                   .B = impact->B,
                                   .contacts = sampler->island->contacts,
                                   .n_velocities = impact->n_velocities,
                                   .n_rows = impact->space.n_rows};
  long most_pivots = patience * contact_search_most_pivots(space, work);
  contact_found found = found_from(sampler, 0, most);
  if (wide)
    contact_search_wide(space, &factors, c, caps, most_pivots, sampler->solver,
                        &found);
  else
    contact_search_solve(space, sampler->island->search_start, c, caps,
                         tolerance * space->scale, most_pivots, sampler->solver,
                         &found);
  take_in(sampler, &found, price);
  return sampler->spans ? found.count : keep_distinct(sampler, found.count);
}

static int solve_by_search(impact_sampler *sampler, int most, double tolerance,
                           bool wide) {
  return search(sampler, most, tolerance, wide, 1);
}

/* The continua that a step has, where it has any: 0 where not. */
static int solve_for_continua(impact_sampler *sampler, int most) {
  if (most == 1) return 0;
  int n_found = solve_by_search(sampler, most, IMPACT_FEASIBILITY, false);
  return sampler->spans ? n_found : 0;
}

/* A continuum's corners are solutions of several modes: where the table has one, there
 * is none. */
static int solve_by_modes(impact_sampler *sampler, int most) {
  const impact_island *island = sampler->island;
  int n_solutions =
      contact_modes_solve(island->modes, &island->space, sampler->inputs, most,
                          sampler->lambdas, sampler->reached);
  bool whole = n_solutions < most;
  if (island->modes->spans && n_solutions > 1) {
    int n_continua = solve_for_continua(sampler, most);
    if (n_continua > 0) return n_continua;
    n_solutions =
        contact_modes_solve(island->modes, &island->space, sampler->inputs,
                            most, sampler->lambdas, sampler->reached);
  }
  sampler->met_all = whole;
  return n_solutions;
}

/* The same by a tree, which grows where it has not been; -1: it cannot. */
static int solve_by_tree(impact_sampler *sampler, int most) {
  const impact_island *island = sampler->island;
  const contact_space *space = &island->space;
  const double *c = sampler->inputs, *caps = c + space->n_rows;
  contact_tree *tree = &sampler->trees[island - sampler->impact->islands];
  if (tree->source == NULL &&
      !contact_tree_open(tree, space, sampler->h, sampler->arena.source))
    return -1;
  // one step of which rounding hides what would refute it may grow all there is; such
  // a tree lacks nothing, learns nothing and would be gone through by every step
  contact_tree_trim(tree);
  bool spans;
  int n_solutions = contact_tree_solve(
      tree, sampler->inputs, most, sampler->lambdas, sampler->reached, &spans);
  // where that is too much, once more from nothing: what came before must not
  // decide which steps have no tree
  for (int begun = tree->n_nodes == 0; (n_solutions < 0 || spans) && begun < 2;
       begun++) {
    if (begun > 0 && n_solutions < 0)
      contact_tree_forget(tree);
    else
      contact_tree_trim(tree);
    if (contact_search_grow(space, island->search_start, c, caps,
                            IMPACT_FEASIBILITY * space->scale, MOST_GROWTH,
                            sampler->solver, tree, NULL))
      n_solutions =
          contact_tree_solve(tree, sampler->inputs, most, sampler->lambdas,
                             sampler->reached, &spans);
    if (n_solutions >= 0) break;
  }
  if (n_solutions < 0) {
    contact_tree_forget(tree);
    return -1;
  }
  if (spans && most > 1) {
    int n_continua = solve_for_continua(sampler, most);
    if (n_continua > 0) return n_continua;
    n_solutions =
        contact_tree_solve(tree, sampler->inputs, most, sampler->lambdas,
                           sampler->reached, &spans);
  }
  sampler->met_all = n_solutions < most && !tree->overflowed;
  return n_solutions;
}

/* Numbers in (0, 1) for a covering vector, so that RANDOM meets different
 * solutions; NULL for FIRST. */
static double *covering(impact_sampler *sampler, uint64_t sample, uint32_t step,
                        int count) {
  if (sampler->options->select == ODE_MLCP_IMPACT_FIRST) return NULL;
  for (int i = 0; i < count; i += 2) {
    double pair[2];
    philox_pair(sampler->seed, sample, step,
                (uint32_t)(PHILOX_COVERING + i / 2), pair);
    sampler->covering[i] = pair[0];
    if (i + 1 < count) sampler->covering[i + 1] = pair[1];
  }
  return sampler->covering;
}

static bool solve_by_path(impact_sampler *sampler, uint64_t sample,
                          uint32_t step) {
  const contact_space *space = &sampler->limited;
  const double *caps = &sampler->inputs[space->n_rows];
  int n = space->n_rows, pivots;
  double *numbers = covering(sampler, sample, step, 2 * n + 1);
  // tangent rows: between -1 and 1, or the path would meet one solution of
  // several nearly always
  for (int i = 0; numbers != NULL && i < 2 * n; i++)
    if (space->normal_of[i % n] != i % n) numbers[i] = 2 * numbers[i] - 1;
  // every other time go on from the solution, to those no first path meets
  bool goes_on = numbers != NULL && numbers[2 * n] < 0.5;
  return contact_path_solve(space, sampler->inputs, caps, numbers,
                            goes_on ? &numbers[n] : NULL, sampler->solver,
                            sampler->lambdas, sampler->reached, &pivots);
}

/* The leaf of the solution that a path found, where that is a continuum. */
static int follow_leaf(impact_sampler *sampler, int most) {
  const impact_island *island = sampler->island;
  const contact_space *space = &island->space;
  const double *caps = &sampler->inputs[space->n_rows];
  size_t size = (size_t)space->n_rows * sizeof *caps;
  int *order = (int *)sampler->numbers;
  for (int i = 0; i < space->n_contacts; i++) order[i] = i;
  if (most == 1 || island->n_repeated == 0 ||
      !contact_mode_spans(space, order, sampler->reached, sampler->solver))
    return 1;
  contact_found found = found_from(sampler, 1, IMPACT_MAX_SOLUTIONS);
  contact_search_leaf(space, island->search_start, sampler->inputs, caps,
                      sampler->reached, CONTACT_SEARCH_MOST_PIVOTS,
                      sampler->solver, (int *)sampler->numbers, &found);
  take_in(sampler, &found, 1);
  sampler->met_all = false;
  if (!sampler->spans) return 1;
  memmove(sampler->lambdas, found.lambdas, (size_t)found.count * size);
  memmove(sampler->reached, found.reached, (size_t)found.count * size);
  return found.count;
}

/* The search, where that was cut short a longer one for its first solution, then one
 * with so many digits that no rounding matters, then coarser ones. */
static int fall_back_on_search(impact_sampler *sampler, int most) {
  bool searched =
      sampler->method == ODE_MLCP_IMPACT_SEARCH && !sampler->island->has_tree;
  int n_solutions =
      searched ? 0 : solve_by_search(sampler, most, IMPACT_FEASIBILITY, false);
  if (n_solutions == 0 && !sampler->met_all) {
    n_solutions = search(sampler, 1, IMPACT_FEASIBILITY, false, PATIENCE);
    sampler->met_all = false;
  }
  if (n_solutions == 0) n_solutions = solve_by_search(sampler, most, 0, true);
  // where decisions exclude each other by a hair more than they may; what is
  // found so is checked as always, but may not be all
  for (double times = 10; n_solutions == 0 && times <= 100; times *= 10) {
    n_solutions =
        solve_by_search(sampler, most, times * IMPACT_FEASIBILITY, false);
    sampler->met_all = false;
  }
  return n_solutions;
}

static bool fall_back_on_path(impact_sampler *sampler, uint64_t sample,
                              uint32_t step) {
  sampler->met_all = false;
  return sampler->method != ODE_MLCP_IMPACT_PATH &&
         solve_by_path(sampler, sample, step);
}

/* A step whose method found nothing, by the others: what is quick first. */
static int fall_back(impact_sampler *sampler, uint64_t sample, uint32_t step,
                     int most) {
  sampler->counts.fallbacks++;
  if (sampler->island->space.n_rows > MOST_SEARCHED_ROWS)
    return fall_back_on_path(sampler, sample, step)
               ? 1
               : fall_back_on_search(sampler, most);
  int n_solutions = fall_back_on_search(sampler, most);
  return n_solutions > 0 ? n_solutions
                         : fall_back_on_path(sampler, sample, step);
}

static int solve_step(impact_sampler *sampler, uint64_t sample, uint32_t step,
                      int most) {
  sampler->met_all = sampler->spans = false;
  sampler->step = step;
  int n_solutions =
      sampler->method == ODE_MLCP_IMPACT_MODES ? solve_by_modes(sampler, most)
      : sampler->method == ODE_MLCP_IMPACT_PATH
          ? (solve_by_path(sampler, sample, step) ? follow_leaf(sampler, most)
                                                  : 0)
      : sampler->island->has_tree
          ? solve_by_tree(sampler, most)
          : solve_by_search(sampler, most, IMPACT_FEASIBILITY, false);
  return n_solutions > 0 || sampler->stopped
             ? n_solutions
             : fall_back(sampler, sample, step, most);
}

/* Of leaf `leaf`, has it more than one corner, or one that no other leaf has? */
static bool is_leaf_of_its_own(const impact_sampler *sampler, int n_found,
                               int leaf, int *first) {
  int n = sampler->island->space.n_rows, count = 0;
  double same = IMPACT_SAME * sampler->island->space.scale;
  for (int k = n_found - 1; k >= 0; k--) {
    if (sampler->leaf[k] != leaf) continue;
    *first = k;
    count++;
  }
  if (count > 1) return true;
  for (int k = 0; k < n_found; k++) {
    double worst = 0;
    for (int i = 0; i < n; i++)
      worst = larger(worst, fabs(sampler->reached[k * n + i] -
                                 sampler->reached[*first * n + i]));
    if (k != *first && worst <= same) return false;
  }
  return true;
}

/* Of a number in (0, 1). Each C library rounds its own in other last digits, and a set
 * is to be the same on every machine. */
static double logarithm(double x) {
  int power;
  double mantissa = frexp(x, &power), sum = 0;
  if (mantissa < M_SQRT1_2) {
    mantissa *= 2;
    power--;
  }
  // 2 artanh(s), whose series ends below rounding as s^2 < 0.03
  const double s = (mantissa - 1) / (mantissa + 1), square = s * s;
  for (int k = 23; k > 0; k -= 2) sum = sum * square + 1.0 / k;
  return power * M_LN2 + 2 * s * sum;
}

/* A point of a leaf, any as likely as another, written behind n_found solutions:
 * corners with weights that are uniform on their simplex. */
static void draw_within(impact_sampler *sampler, int n_found, uint64_t sample,
                        uint32_t step) {
  int n = sampler->island->space.n_rows, n_own = 0, first = 0, chosen = 0;
  double pair[2], sum = 0;
  philox_pair(sampler->seed, sample, step, PHILOX_SOLUTION, pair);
  for (int leaf = 0; leaf < sampler->n_leaves; leaf++)
    n_own += is_leaf_of_its_own(sampler, n_found, leaf, &first);
  int wanted = (int)(pair[0] * n_own);
  for (int leaf = 0; leaf < sampler->n_leaves; leaf++)
    if (is_leaf_of_its_own(sampler, n_found, leaf, &first) && wanted-- == 0)
      chosen = leaf;
  double *lambda = &sampler->lambdas[n_found * n];
  double *reached = &sampler->reached[n_found * n];
  memset(lambda, 0, (size_t)n * sizeof *lambda);
  memset(reached, 0, (size_t)n * sizeof *reached);
  for (int k = 0; k < n_found; k++) {
    if (sampler->leaf[k] != chosen) continue;
    philox_pair(sampler->seed, sample, step, (uint32_t)(PHILOX_LEAF + k), pair);
    double weight = -logarithm(pair[0]);
    sum += weight;
    for (int i = 0; i < n; i++) {
      lambda[i] += weight * sampler->lambdas[k * n + i];
      reached[i] += weight * sampler->reached[k * n + i];
    }
  }
  for (int i = 0; i < n; i++) {
    lambda[i] /= sum;
    reached[i] /= sum;
  }
}

int impact_sampler_step(impact_sampler *sampler, uint64_t sample, uint32_t step,
                        int most) {
  int n_found = solve_step(sampler, sample, step, most);
  int n = sampler->island->space.n_rows;
  sampler->point = -1;
  if (!sampler->spans || n_found == 0) return n_found;
  bool draws = sampler->options->select == ODE_MLCP_IMPACT_RANDOM &&
               !goes_for_ends(sampler);
  if (draws) draw_within(sampler, n_found, sample, step);
  int n_solutions = keep_distinct(sampler, n_found);
  if (!draws) return n_solutions;
  size_t size = (size_t)n * sizeof(double);
  memmove(&sampler->lambdas[n_solutions * n], &sampler->lambdas[n_found * n],
          size);
  memmove(&sampler->reached[n_solutions * n], &sampler->reached[n_found * n],
          size);
  sampler->point = n_solutions;
  return n_solutions;
}

/* ---- one sample -------------------------------------------------------- */

static impact_ends *ends_of(const impact_sampler *sampler) {
  return &sampler->ends[sampler->island - sampler->impact->islands];
}

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
  if (goes_for_ends(sampler)) {
    const double *draw = impact_ends_draw(ends_of(sampler), sample, (int)step);
    for (int i = 0; i < m; i++) caps[i] = sampler->h * draw[i];
    sampler->pick = draw[m];
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
    sampler->lambda_sum[place] += sampler->lambdas[k * n + i];
    sampler->c[place] = sampler->inputs[i] = sampler->reached[k * n + i];
  }
}

/* Which of the solutions of this step is taken. */
static int choose(const impact_sampler *sampler, uint64_t sample, uint32_t step,
                  int n_solutions) {
  if (sampler->point >= 0) return sampler->point;
  if (n_solutions == 1) return 0;
  if (sampler->options->select == ODE_MLCP_IMPACT_FIRST) return 0;
  double pair[2] = {sampler->pick};
  if (!goes_for_ends(sampler))
    philox_pair(sampler->seed, sample, step, PHILOX_SOLUTION, pair);
  int k = (int)(pair[0] * n_solutions);
  return k < n_solutions ? k : n_solutions - 1;
}

static bool run_island(impact_sampler *sampler, uint64_t sample, int step,
                       impact_visit *visit, void *context);

/* The samples of a block before this one, where others ran them: their outcomes
 * and counts are not this one's. */
static void catch_up(impact_sampler *sampler, uint64_t sample) {
  const contact_space *space = &sampler->island->space;
  uint64_t first,
      missing = impact_ends_missing(ends_of(sampler), sample, &first);
  if (missing == 0) return;
  impact_counts counts = sampler->counts;
  bool failed = sampler->failed;
  int n_lcps = sampler->n_lcps;
  for (uint64_t k = 0; k < missing && !sampler->stopped; k++)
    run_island(sampler, first + k, 0, NULL, NULL);
  sampler->counts = counts;
  sampler->failed = failed;
  sampler->n_lcps = n_lcps;
  for (int i = 0; i < space->n_rows; i++) {
    sampler->c[sampler->island->places[i]] = space->start[i];
    sampler->lambda_sum[sampler->island->places[i]] = 0;
  }
}

static bool is_interrupted(impact_sampler *sampler) {
  const ode_mlcp_impact_options *options = sampler->options;
  if (options->interrupted != NULL && !sampler->stopped)
    sampler->stopped = options->interrupted(options->run_context) != 0;
  return sampler->stopped;
}

static void tell(impact_sampler *sampler, impact_visit *visit, void *context) {
  size_t n = (size_t)sampler->impact->space.n_rows,
         at = (size_t)sampler->n_lcps;
  if (visit == NULL) return;
  if (sampler->options->select != ODE_MLCP_IMPACT_ALL) {
    visit(context, sampler, (int)at, sampler->c);
    return;
  }
  // what a branch shares with the one before is told again
  double *way = memory_block_grow(&sampler->way_block, sampler->arena.source,
                                  (at + 1) * 2 * n, sizeof *way);
  sampler->way = way;
  if (way == NULL) {
    sampler->no_memory = true;
    return;
  }
  memcpy(&way[at * 2 * n], sampler->c, n * sizeof *way);
  memcpy(&way[(at * 2 + 1) * n], sampler->lambda_sum, n * sizeof *way);
  visit(context, sampler, (int)at, sampler->c);
}

/* ALL: keep what is needed to take the other solutions of this step later. */
static bool put_branch(impact_sampler *sampler, int step, int n_solutions) {
  const memory_source *source = sampler->arena.source;
  size_t whole = (size_t)sampler->impact->space.n_rows;
  size_t own = (size_t)sampler->island->space.n_rows * (size_t)n_solutions;
  size_t at = sampler->n_state, next = at + 2 * whole + 2 * own;
  impact_branch *branches =
      memory_block_grow(&sampler->branch_block, source, sampler->n_branches + 1,
                        sizeof *branches);
  double *state = branches == NULL
                      ? NULL
                      : memory_block_grow(&sampler->state_block, source, next,
                                          sizeof *state);
  if (branches != NULL) sampler->branches = branches;
  if (state == NULL) return false;
  sampler->state = state;
  sampler->n_state = next;
  branches[sampler->n_branches++] = (impact_branch){
      .island = (int)(sampler->island - sampler->impact->islands),
      .step = step,
      .n_lcps = sampler->n_lcps,
      .n_solutions = n_solutions,
      .next = 1,
      .at = at,
      .over = sampler->over};
  memcpy(state += at, sampler->c, whole * sizeof *state);
  memcpy(state += whole, sampler->lambda_sum, whole * sizeof *state);
  memcpy(state += whole, sampler->lambdas, own * sizeof *state);
  memcpy(state + own, sampler->reached, own * sizeof *state);
  return true;
}

/* Alg. 1 on the island that is entered, from where sampler->inputs is after so many
 * steps of it. */
static bool run_island(impact_sampler *sampler, uint64_t sample, int step,
                       impact_visit *visit, void *context) {
  const contact_space *space = &sampler->island->space;
  const ode_mlcp_impact_options *options = sampler->options;
  bool all = options->select == ODE_MLCP_IMPACT_ALL;
  int most =
      options->select == ODE_MLCP_IMPACT_FIRST ? 1 : IMPACT_MAX_SOLUTIONS;
  // of a sample's branches none is its outcome: all caps are drawn anew
  bool learns = goes_for_ends(sampler) && !all;
  if (learns) {
    catch_up(sampler, sample);
    impact_ends_begin(ends_of(sampler), sample);
  }
  if (step == 0)
    memcpy(sampler->inputs, space->start,
           (size_t)space->n_rows * sizeof *sampler->inputs);

  // Alg. 1's `i <= N` allows N + 1 steps
  while (contact_space_slowest(space, sampler->inputs) < -options->tolerance &&
         step <= options->steps && sampler->work_left > 0 &&
         !is_interrupted(sampler)) {
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
    step++;
    sampler->n_lcps++;
    if (all && n_solutions > 1 && !put_branch(sampler, step, n_solutions)) {
      sampler->no_memory = true;
      break;
    }
    int taken =
        all ? 0 : choose(sampler, sample, (uint32_t)step - 1, n_solutions);
    if (learns)
      impact_ends_note(ends_of(sampler), step - 1, sampler->inputs,
                       &sampler->lambdas[taken * space->n_rows],
                       &sampler->reached[taken * space->n_rows]);
    take(sampler, taken);
    tell(sampler, visit, context);
  }
  bool over =
      contact_space_slowest(space, sampler->inputs) >= -options->tolerance;
  if (learns)
    impact_ends_finish(ends_of(sampler), over ? sampler->inputs : NULL, step);
  return over;
}

/* From an island, of which so many steps are done, to the end of the last. */
static bool run_from(impact_sampler *sampler, uint64_t sample, int island,
                     int step, impact_visit *visit, void *context) {
  for (; island < sampler->impact->n_islands; island++, step = 0) {
    impact_sampler_enter(sampler, island);
    sampler->over &= run_island(sampler, sample, step, visit, context);
  }
  return sampler->over && !sampler->stopped && !sampler->no_memory;
}

bool impact_sampler_run(impact_sampler *sampler, uint64_t sample,
                        impact_visit *visit, void *context) {
  const contact_space *space = &sampler->impact->space;
  memcpy(sampler->c, space->start, (size_t)space->n_rows * sizeof *sampler->c);
  memset(sampler->lambda_sum, 0,
         (size_t)space->n_rows * sizeof *sampler->lambda_sum);
  sampler->failed = false;
  sampler->over = true;
  sampler->n_lcps = 0;
  sampler->n_branches = sampler->n_state = 0;
  tell(sampler, visit, context);
  return run_from(sampler, sample, 0, 0, visit, context);
}

bool impact_sampler_more_branches(const impact_sampler *sampler) {
  return sampler->n_branches > 0;
}

int impact_sampler_shared(const impact_sampler *sampler) {
  return sampler->branches[sampler->n_branches - 1].n_lcps;
}

bool impact_sampler_next_branch(impact_sampler *sampler, uint64_t sample,
                                impact_visit *visit, void *context) {
  size_t whole = (size_t)sampler->impact->space.n_rows;
  size_t size = whole * sizeof *sampler->c;
  impact_branch *branch = &sampler->branches[sampler->n_branches - 1];
  impact_sampler_enter(sampler, branch->island);
  const contact_space *space = &sampler->island->space;
  size_t n = (size_t)space->n_rows, k = (size_t)branch->next++;
  const double *state = &sampler->state[branch->at];
  const double *lambdas = state + 2 * whole;
  const double *reached = lambdas + n * (size_t)branch->n_solutions;
  memcpy(sampler->c, state, size);
  memcpy(sampler->lambda_sum, state + whole, size);
  memcpy(sampler->lambdas, &lambdas[k * n], n * sizeof *lambdas);
  memcpy(sampler->reached, &reached[k * n], n * sizeof *reached);
  int step = branch->step, island = branch->island;
  int n_shared = branch->n_lcps;
  sampler->over = branch->over;
  sampler->failed = false;
  if (branch->next == branch->n_solutions) {
    sampler->n_branches--;
    sampler->n_state = branch->at;
  }
  for (int before = 0; visit != NULL && before < n_shared; before++) {
    // told as it was: what it holds now is put back
    memcpy(sampler->c, &sampler->way[(size_t)before * 2 * whole], size);
    memcpy(sampler->lambda_sum, &sampler->way[((size_t)before * 2 + 1) * whole],
           size);
    visit(context, sampler, before, sampler->c);
  }
  sampler->n_lcps = n_shared;
  take(sampler, 0);
  tell(sampler, visit, context);
  return run_from(sampler, sample, island, step, visit, context);
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
  if (n_solutions > 0 && contact_space_slowest(space, sampler->reached) >=
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
