#include "impacts/impact_step.h"

#include <math.h>
#include <string.h>

#include "impacts/contact_path.h"
#include "impacts/impact_lemke.h"
#include "impacts/philox.h"

/* Up to this many modes a look through all beats the path. */
#define FEW_MODES 64

ode_mlcp_impact_status impact_prepare(ode_mlcp_impact *impact,
                                      const ode_mlcp_impact_options *options,
                                      ode_mlcp_impact_method *method) {
  int count = contact_modes_count(&impact->space, true);
  *method = options->method;
  if (*method == ODE_MLCP_IMPACT_AUTOMATIC)
    *method = options->select == ODE_MLCP_IMPACT_ALL ||
              (count > 0 && count <= FEW_MODES) ? ODE_MLCP_IMPACT_MODES
                                                : ODE_MLCP_IMPACT_PATH;
  if (*method != ODE_MLCP_IMPACT_MODES || impact->modes != NULL)
    return ODE_MLCP_IMPACT_DONE;

  contact_modes *modes = impact_allocate(&impact->source, 1, sizeof *modes);
  if (modes == NULL) return ODE_MLCP_IMPACT_NO_MEMORY;
  ode_mlcp_impact_status status =
    contact_modes_build(modes, &impact->space, &impact->source);
  if (status == ODE_MLCP_IMPACT_DONE) impact->modes = modes;
  else impact_release(&impact->source, modes, 1, sizeof *modes);
  return status;
}

void ode_mlcp_impact_destroy(ode_mlcp_impact *impact) {
  if (impact == NULL) return;
  memory_source source = impact->source;
  if (impact->modes != NULL) {
    contact_modes_release(impact->modes, &source);
    impact_release(&source, impact->modes, 1, sizeof *impact->modes);
  }
  memory_block_release(&impact->numbers, &source);
  memory_block_release(&impact->indices, &source);
  impact_release(&source, impact, 1, sizeof *impact);
}

bool impact_desk_open(impact_desk *desk, const ode_mlcp_impact *impact,
                      const ode_mlcp_impact_options *options,
                      ode_mlcp_impact_method method,
                      const memory_source *source) {
  const contact_space *space = &impact->space;
  size_t n = (size_t)space->n_rows, m = (size_t)space->n_contacts;
  size_t n_lemke = (size_t)impact_lemke_size(space);
  size_t n_covering = n_lemke > 2*n + 1 ? n_lemke : 2*n + 1;
  size_t path = contact_path_scratch(space);
  size_t lemke = impact_lemke_scratch(space);
  size_t n_solver = path > lemke ? path : lemke;
  bool by_modes = method == ODE_MLCP_IMPACT_MODES;
  size_t n_solutions = by_modes ? IMPACT_MAX_SOLUTIONS : 1;
  bool all = options->select == ODE_MLCP_IMPACT_ALL;
  size_t n_steps = all ? (size_t)options->steps + 1 : 0;
  size_t n_modes = by_modes ? (size_t)impact->modes->n_modes : 0;

  memset(desk, 0, sizeof *desk);
  desk->impact = impact;
  desk->options = options;
  desk->method = method;
  double epsilon = options->epsilon > 0 ? options->epsilon : options->h/2;
  desk->last_cap = epsilon/(3*impact->psi);

  double *next = memory_block_reserve(
    &desk->numbers, source,
    2*n + m + n_covering + 2*n_solutions*n + n_solver, sizeof *next);
  int *next_index = memory_block_reserve(
    &desk->indices, source, n_modes + 2*n_steps, sizeof *next_index);
  if (next == NULL || next_index == NULL) {
    impact_desk_close(desk, source);
    return false;
  }
  desk->inputs = next;     next += n + m;
  desk->lambda_sum = next; next += n;
  desk->covering = next;   next += n_covering;
  desk->lambdas = next;    next += n_solutions*n;
  desk->reached = next;    next += n_solutions*n;
  desk->solver = next;
  desk->found = next_index;
  desk->modes_room = (int)n_modes;
  desk->choice = next_index + n_modes;
  desk->choices = desk->choice + n_steps;
  return true;
}

void impact_desk_close(impact_desk *desk, const memory_source *source) {
  memory_block_release(&desk->numbers, source);
  memory_block_release(&desk->indices, source);
}

/* ---- one step ---------------------------------------------------------- */

static bool is_new(const impact_desk *desk, int n_known, const double c[]) {
  int n = desk->impact->space.n_rows;
  double same = IMPACT_SAME*desk->impact->space.scale;
  for (int k = 0; k < n_known; k++) {
    double worst = 0;
    for (int i = 0; i < n; i++)
      worst = larger(worst, fabs(desk->reached[k*n + i] - c[i]));
    if (worst <= same) return false;
  }
  return true;
}

/* All solutions by the table of modes. */
static int solve_by_modes(impact_desk *desk, int most) {
  const contact_space *space = &desk->impact->space;
  const contact_modes *modes = desk->impact->modes;
  int n = space->n_rows, n_solutions = 0;
  int room = most == 1 ? 1 : desk->modes_room;
  double tolerance = IMPACT_FEASIBILITY*space->scale;
  int n_found = contact_modes_find(modes, desk->inputs, tolerance, room,
                                   desk->found);
  for (int k = 0; k < n_found && n_solutions < most; k++) {
    double *c = &desk->reached[n_solutions*n];
    contact_modes_apply(modes, space, desk->found[k], desk->inputs,
                        &desk->lambdas[n_solutions*n], c);
    if (is_new(desk, n_solutions, c)) n_solutions++;
  }
  return n_solutions;
}

/* Numbers in (0, 1) for a covering vector, so that RANDOM meets different
 * solutions; NULL for FIRST. */
static double *covering(impact_desk *desk, uint64_t sample, uint32_t step,
                        int count) {
  if (desk->options->select == ODE_MLCP_IMPACT_FIRST) return NULL;
  for (int i = 0; i < count; i += 2) {
    double pair[2];
    philox_pair(desk->options->seed, sample, step,
                (uint32_t)(PHILOX_COVERING + i/2), pair);
    desk->covering[i] = pair[0];
    if (i + 1 < count) desk->covering[i + 1] = pair[1];
  }
  return desk->covering;
}

static bool solve_by_path(impact_desk *desk, uint64_t sample, uint32_t step) {
  const contact_space *space = &desk->impact->space;
  const double *caps = &desk->inputs[space->n_rows];
  int n = space->n_rows, pivots;
  double *numbers = covering(desk, sample, step, 2*n + 1);
  // tangent rows: between -1 and 1, or the path would meet one solution of
  // several nearly always
  for (int i = 0; numbers != NULL && i < 2*n; i++)
    if (space->normal_of[i % n] != i % n) numbers[i] = 2*numbers[i] - 1;
  // every other time go on from the solution, to those no first path meets
  bool goes_on = numbers != NULL && numbers[2*n] < 0.5;
  return contact_path_solve(space, desk->inputs, caps, numbers,
                            goes_on ? &numbers[n] : NULL, desk->solver,
                            desk->lambdas, desk->reached, &pivots);
}

static bool solve_by_lemke(impact_desk *desk, uint64_t sample, uint32_t step) {
  const contact_space *space = &desk->impact->space;
  const double *caps = &desk->inputs[space->n_rows];
  int pivots;
  return impact_lemke_solve(
    space, desk->inputs, caps,
    covering(desk, sample, step, impact_lemke_size(space)), desk->solver,
    desk->lambdas, desk->reached, &pivots);
}

int impact_step_solve(impact_desk *desk, uint64_t sample, uint32_t step,
                      int most) {
  if (desk->method == ODE_MLCP_IMPACT_MODES) {
    int n_solutions = solve_by_modes(desk, most);
    if (n_solutions > 0) return n_solutions;
  } else if (desk->method == ODE_MLCP_IMPACT_PATH) {
    if (solve_by_path(desk, sample, step)) return 1;
  } else if (solve_by_lemke(desk, sample, step)) {
    return 1;
  }
  desk->n_fallbacks++;
  if (desk->method != ODE_MLCP_IMPACT_LEMKE &&
      solve_by_lemke(desk, sample, step))
    return 1;
  if (desk->method != ODE_MLCP_IMPACT_PATH &&
      solve_by_path(desk, sample, step))
    return 1;
  return 0;
}

/* ---- one sample -------------------------------------------------------- */

static void draw_caps(impact_desk *desk, uint64_t sample, uint32_t step) {
  const ode_mlcp_impact_options *options = desk->options;
  int m = desk->impact->space.n_contacts;
  double *caps = &desk->inputs[desk->impact->space.n_rows];
  if (options->draw != NULL) {
    options->draw(options->draw_context, options->seed, sample, (int)step, m,
                  caps);
    return;
  }
  for (int i = 0; i < m; i += 2) {
    double pair[2];
    philox_pair(options->seed, sample, step, (uint32_t)(PHILOX_CAPS + i/2),
                pair);
    caps[i] = options->h*pair[0];
    if (i + 1 < m) caps[i + 1] = options->h*pair[1];
  }
}

/* Go on with solution k. */
static void take(impact_desk *desk, int k) {
  int n = desk->impact->space.n_rows;
  for (int i = 0; i < n; i++) {
    desk->lambda_sum[i] += desk->lambdas[k*n + i];
    desk->inputs[i] = desk->reached[k*n + i];
  }
}

/* Which of the solutions of this step is taken. */
static int choose(const impact_desk *desk, uint64_t sample, uint32_t step,
                  int n_solutions) {
  if (n_solutions == 1) return 0;
  if (desk->options->select == ODE_MLCP_IMPACT_FIRST) return 0;
  double pair[2];
  philox_pair(desk->options->seed, sample, step, PHILOX_SOLUTION, pair);
  int k = (int)(pair[0]*n_solutions);
  return k < n_solutions ? k : n_solutions - 1;
}

bool impact_sample_once(impact_desk *desk, uint64_t sample, impact_visit *visit,
                        void *context, int *n_lcps) {
  const contact_space *space = &desk->impact->space;
  const ode_mlcp_impact_options *options = desk->options;
  bool all = options->select == ODE_MLCP_IMPACT_ALL;
  int most = options->select == ODE_MLCP_IMPACT_FIRST ? 1
                                                      : IMPACT_MAX_SOLUTIONS;
  memcpy(desk->inputs, space->start,
         (size_t)space->n_rows*sizeof *desk->inputs);
  memset(desk->lambda_sum, 0,
         (size_t)space->n_rows*sizeof *desk->lambda_sum);
  if (visit != NULL) visit(context, desk, 0, desk->inputs);

  int step = 0; // Alg. 1's `i <= N` allows N + 1 steps
  while (contact_space_slowest(space, desk->inputs) < -options->tolerance &&
         step <= options->steps) {
    draw_caps(desk, sample, (uint32_t)step);
    int n_solutions = impact_step_solve(desk, sample, (uint32_t)step, most);
    if (n_solutions == 0) break;
    if (all) desk->choices[step] = n_solutions;
    take(desk, all ? desk->choice[step]
                   : choose(desk, sample, (uint32_t)step, n_solutions));
    step++;
    if (visit != NULL) visit(context, desk, step, desk->inputs);
  }
  *n_lcps = step;
  return contact_space_slowest(space, desk->inputs) >= -options->tolerance;
}

bool impact_last_step(impact_desk *desk, uint64_t sample) {
  const contact_space *space = &desk->impact->space;
  // without approach the last step is no step (Lemma 8)
  if (contact_space_slowest(space, desk->inputs) >= 0) return true;
  for (int i = 0; i < space->n_contacts; i++)
    desk->inputs[space->n_rows + i] = desk->last_cap;

  uint32_t step = (uint32_t)desk->options->steps + 1;
  int n_solutions = impact_step_solve(desk, sample, step, 1);
  // rounding must not make an outcome of so small a step worse
  if (n_solutions > 0 && contact_space_slowest(space, desk->reached) >=
                           contact_space_slowest(space, desk->inputs))
    take(desk, 0);
  return contact_space_slowest(space, desk->inputs) >=
         -desk->options->tolerance;
}

void impact_first_branch(impact_desk *desk) {
  memset(desk->choice, 0,
         ((size_t)desk->options->steps + 1)*sizeof *desk->choice);
}

bool impact_next_branch(impact_desk *desk, int n_lcps, int *shared) {
  for (int step = n_lcps - 1; step >= 0; step--) {
    if (desk->choice[step] + 1 < desk->choices[step]) {
      desk->choice[step]++;
      *shared = step + 1; // its LCP was solved, the next way takes another
      return true;
    }
    desk->choice[step] = 0;
  }
  return false;
}
