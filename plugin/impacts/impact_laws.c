/* The algebraic impact laws that the set is compared with: Anitescu & Potra's
 * simultaneous impact (eq. I3) and sequences of single ones. */
#include <math.h>
#include <string.h>

#include "impacts/impact.h"
#include "impacts/philox.h"

/* Memory of a search through the modes of some contacts, without caps. */
typedef struct search {
  const contact_space *space;
  double *inputs;     /* [n_rows + m] (c, 0) */
  double *impulses;   /* n_rows x n_inputs */
  double *conditions; /* (2 + 2 T) m x n_inputs */
  double *lambda;     /* [n_rows] */
  double *reached;    /* [n_rows] */
  double *lambda_sum; /* [n_rows] */
  double *scratch;
  arena arena;
} search;

static bool search_open(search *search, const ode_mlcp_impact *impact) {
  const contact_space *space = &impact->space;
  size_t n = (size_t)space->n_rows, m = (size_t)space->n_contacts;
  size_t n_inputs = n + m;
  size_t n_conditions = (size_t)(2 + 2 * space->n_tangents) * m;
  memset(search, 0, sizeof *search);
  search->space = space;
  search->arena.source = &impact->source;
  arena *arena = &search->arena;
  arena_start(arena);
  if (!ARENA_TAKE(arena, search->inputs, n_inputs) ||
      !ARENA_TAKE(arena, search->impulses, n * n_inputs) ||
      !ARENA_TAKE(arena, search->conditions, n_conditions * n_inputs) ||
      !ARENA_TAKE(arena, search->lambda, n) ||
      !ARENA_TAKE(arena, search->reached, n) ||
      !ARENA_TAKE(arena, search->lambda_sum, n) ||
      !ARENA_TAKE(arena, search->scratch, contact_mode_scratch(space)))
    return false;
  memset(search->inputs, 0, n_inputs * sizeof *search->inputs);
  memset(search->lambda_sum, 0, n * sizeof *search->lambda_sum);
  return true;
}

static void search_close(search *search) { arena_release(&search->arena); }

static double dot(const double a[], const double b[], int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Does `mode` of the given contacts solve eq. I3? Then lambda and reached hold
 * its answer. */
static bool try_mode(search *search, const int contacts[], int n_contacts,
                     int mode) {
  const contact_space *space = search->space;
  int n = space->n_rows, n_inputs = n + space->n_contacts;
  uint32_t zero_rows;
  int n_conditions = contact_mode_work_out(
      space, contacts, n_contacts, mode, false, search->scratch,
      search->impulses, search->conditions, &zero_rows);
  if (n_conditions < 0) return false;
  for (int k = 0; k < n_conditions; k++)
    if (dot(&search->conditions[k * n_inputs], search->inputs, n_inputs) <
        -IMPACT_FEASIBILITY * space->scale)
      return false;

  for (int i = 0; i < n; i++)
    search->lambda[i] =
        dot(&search->impulses[i * n_inputs], search->inputs, n_inputs);
  contact_space_push(space, search->inputs, search->lambda, search->reached);
  for (int i = 0; i < n; i++)
    if ((i < 32 && zero_rows >> i & 1) ||
        fabs(search->reached[i]) <= 1e-14 * space->scale)
      search->reached[i] = 0;
  return true;
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

static void velocity_of(const ode_mlcp_impact *impact, const search *search,
                        double v[]) {
  impact_velocity(impact, search->lambda, v);
}

ode_mlcp_impact_status ode_mlcp_impact_simultaneous(ode_mlcp_impact *impact,
                                                    int max_solutions,
                                                    double v[],
                                                    int *n_solutions) {
  const contact_space *space = &impact->space;
  int total = contact_modes_count(space, false), s = impact->n_velocities;
  *n_solutions = 0;
  if (total == 0) return ODE_MLCP_IMPACT_TOO_MANY_MODES;

  // a solution can only be told from those known if they are all kept
  size_t room = IMPACT_MAX_SOLUTIONS + 1, m = (size_t)space->n_contacts;
  double *known = NULL;
  int *contacts;
  search search;
  bool ready = search_open(&search, impact) &&
               ARENA_TAKE(&search.arena, known, room * (size_t)s) &&
               ARENA_TAKE(&search.arena, contacts, m);
  if (ready) {
    for (size_t i = 0; i < m; i++) contacts[i] = (int)i;
    memcpy(search.inputs, space->start,
           (size_t)space->n_rows * sizeof *search.inputs);
  }
  for (int mode = 0; ready && mode < total; mode++) {
    if (*n_solutions == IMPACT_MAX_SOLUTIONS) break;
    if (!try_mode(&search, contacts, space->n_contacts, mode)) continue;
    double *found = &known[*n_solutions * s];
    velocity_of(impact, &search, found);
    bool is_new = true;
    for (int k = 0; k < *n_solutions && is_new; k++)
      is_new = !same_velocity(impact, &known[k * s], found);
    *n_solutions += is_new;
  }
  int n_out = *n_solutions < max_solutions ? *n_solutions : max_solutions;
  if (n_out > 0) memcpy(v, known, (size_t)(n_out * s) * sizeof *v);
  search_close(&search);
  return ready ? ODE_MLCP_IMPACT_DONE : ODE_MLCP_IMPACT_NO_MEMORY;
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
  return search->inputs[contact * search->space->per_contact] < -tolerance;
}

/* The next contact to resolve, -1 when the sequence has no more. */
static int next_contact(sequence *sequence, const search *search,
                        double tolerance, uint32_t step) {
  int m = search->space->n_contacts;
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

/* One inelastic impact at one contact; false when no mode solves it. */
static bool resolve(search *search, int contact, const sequence *sequence,
                    uint32_t step) {
  int n = search->space->n_rows;
  int total = contact_modes_of_one(search->space, false);
  int holding[32], n_holding = 0; // 1 + 3^2 modes at most
  for (int mode = 0; mode < total; mode++)
    if (try_mode(search, &contact, 1, mode)) holding[n_holding++] = mode;
  if (n_holding == 0) return false;

  int chosen = 0;
  if (sequence->random_solution && n_holding > 1) {
    double pair[2];
    philox_pair(sequence->seed, sequence->sample, step, PHILOX_SOLUTION, pair);
    chosen = (int)(pair[0] * n_holding);
  }
  try_mode(search, &contact, 1, holding[chosen]);
  for (int i = 0; i < n; i++) {
    search->inputs[i] = search->reached[i];
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
  memcpy(search.inputs, impact->space.start,
         (size_t)impact->space.n_rows * sizeof *search.inputs);
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
         contact_space_slowest(&impact->space, search.inputs) <
             -own.tolerance) {
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
      contact_space_slowest(&impact->space, search.inputs) >= -own.tolerance;
  search_close(&search);
  return finished ? ODE_MLCP_IMPACT_DONE : ODE_MLCP_IMPACT_UNFINISHED;
}
