#include "impacts/impact.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/sized.h"

/* Friction above this is without limit: what it pushes to get its impulse would
 * be lost in rounding. */
#define ENDLESS 1e6

/* Rows of J, by their entries over the roots of M's diagonal, that are this near to
 * parallel are taken to be; and below the second they are. */
#define PARALLEL 4e-6
#define ROUNDING 1e-13

/* A later version must not take what older programs have there for a member. */
_Static_assert(sizeof(ode_mlcp_impact_options) ==
                   offsetof(ode_mlcp_impact_options, run_context) +
                       sizeof(void *),
               "the options end in padding");

static void set_defaults(ode_mlcp_impact_options *options) {
  *options = (ode_mlcp_impact_options){
      .struct_size = sizeof *options,
      .seed = 1,
      .samples = 1 << 14,
      .steps = 10,
      .tolerance = 1e-8,
      .select = ODE_MLCP_IMPACT_RANDOM,
      .method = ODE_MLCP_IMPACT_AUTOMATIC,
      .threads = 1,
  };
}

void ode_mlcp_impact_default_options_sized(ode_mlcp_impact_options *options,
                                           size_t size) {
  ode_mlcp_impact_options own;
  set_defaults(&own);
  sized_copy(options, size, &own, sizeof own);
  if (size >= sizeof size) options->struct_size = size;
}

static bool options_are_sound(const ode_mlcp_impact_options *options,
                              const char **why) {
  *why = NULL;
  if (!(options->h >= 0) || !isfinite(options->h))
    *why = "h must be a finite number >= 0";
  else if (options->steps < 0 || options->steps > 1000000)
    *why = "steps must be 0 .. 1000000";
  else if (!(options->tolerance >= 0) || !isfinite(options->tolerance))
    *why = "tolerance must be a finite number >= 0";
  else if (!(options->epsilon >= 0) ||
           (options->epsilon > 0 && options->epsilon >= options->h))
    *why = "epsilon must lie in [0, h)";
  else if (options->threads < 1 || options->threads > 4096)
    *why = "threads must be 1 .. 4096";
  else if (options->first > UINT64_MAX - options->samples)
    *why = "first + samples must fit into 64 bits";
  else if (options->select != ODE_MLCP_IMPACT_FIRST &&
           options->select != ODE_MLCP_IMPACT_RANDOM)
    *why = "select must be FIRST or RANDOM";
  return *why == NULL;
}

bool impact_options_read(const ode_mlcp_impact_options *options,
                         ode_mlcp_impact_options *own, const char **why) {
  size_t given = options->struct_size;
  set_defaults(own);
  // in version 0.1 the struct could be filled without asking for defaults
  if (given == 0 || given > sizeof *own) given = sizeof *own;
  memcpy(own, options, given);
  return options_are_sound(own, why);
}

void impact_velocity(const ode_mlcp_impact *impact, const double lambda_sum[],
                     double v[]) {
  int n_rows = impact->space.n_rows;
  for (int i = 0; i < impact->n_velocities; i++) {
    double sum = impact->v[i];
    for (int j = impact->B_spans[i].begin; j < impact->B_spans[i].end; j++)
      sum += impact->B[i * n_rows + j] * lambda_sum[j];
    v[i] = sum;
  }
}

void impact_report_rows(const ode_mlcp_impact *impact, const double c[],
                        double rows[]) {
  const contact_space *space = &impact->space;
  for (int i = 0; i < space->n_rows; i += space->per_contact) {
    rows[i] = c[i];
    contact_space_turn(space->n_tangents, &c[i + 1], &rows[i + 1]);
  }
}

void ode_mlcp_impact_contact_velocities(const ode_mlcp_impact *impact,
                                        const double v[], double rows[]) {
  for (int i = 0; i < impact->space.n_rows; i++) {
    rows[i] = impact->surface[i];
    for (int j = impact->J_spans[i].begin; j < impact->J_spans[i].end; j++)
      rows[i] += impact->J[i * impact->n_velocities + j] * v[j];
  }
  impact_report_rows(impact, rows, rows);
}

double ode_mlcp_impact_kinetic_energy(const ode_mlcp_impact *impact,
                                      const double v[]) {
  int s = impact->n_velocities;
  double twice = 0;
  for (int i = 0; i < s; i++) {
    double momentum = 0;
    for (int j = 0; j < s; j++) momentum += impact->M[i * s + j] * v[j];
    twice += v[i] * momentum;
  }
  return twice / 2;
}

double ode_mlcp_impact_psi(const ode_mlcp_impact *impact) {
  double largest = 0;
  for (int i = 0; i < impact->n_islands; i++)
    largest = fmax(largest, impact->islands[i].psi);
  return largest;
}

/* ---- checking ---------------------------------------------------------- */

typedef struct complaint {
  char *text;
  size_t size;
} complaint;

static ode_mlcp_impact_status refuse(complaint to, const char *what) {
  if (to.text != NULL && to.size > 0) snprintf(to.text, to.size, "%s", what);
  return ODE_MLCP_IMPACT_BAD_INPUT;
}

/* Every number finite? If not, name the first that is not. */
static bool all_finite(const double values[], int n_rows, int n_columns,
                       const char *name, complaint to) {
  for (int i = 0; i < n_rows; i++)
    for (int j = 0; j < n_columns; j++)
      if (!isfinite(values[(size_t)i * (size_t)n_columns + (size_t)j])) {
        if (to.text != NULL && to.size > 0)
          snprintf(to.text, to.size, "%s(%d, %d) is not finite", name, i + 1,
                   j + 1);
        return false;
      }
  return true;
}

static ode_mlcp_impact_status check(const ode_mlcp_impact_problem *problem,
                                    complaint to) {
  const int limit = 1000; // keeps every product of sizes far inside an int
  int s = problem->n_velocities, m = problem->n_contacts;
  if (s < 1 || s > limit) return refuse(to, "n_velocities must be 1 .. 1000");
  if (m < 1 || m > limit) return refuse(to, "n_contacts must be 1 .. 1000");
  if (problem->n_tangents != 1 && problem->n_tangents != 2)
    return refuse(to, "n_tangents must be 1 or 2");
  if (problem->M == NULL || problem->Jn == NULL || problem->Jt == NULL ||
      problem->mu == NULL || problem->v == NULL)
    return refuse(to, "an array is missing");

  if (!all_finite(problem->M, s, s, "M", to) ||
      !all_finite(problem->Jn, m, s, "Jn", to) ||
      !all_finite(problem->Jt, m * problem->n_tangents, s, "Jt", to) ||
      !all_finite(problem->v, s, 1, "v", to) ||
      (problem->surface != NULL &&
       !all_finite(problem->surface, m * (1 + problem->n_tangents), 1,
                   "surface", to)))
    return ODE_MLCP_IMPACT_BAD_INPUT;

  for (int i = 0; i < m; i++)
    if (!(problem->mu[i] >= 0))
      return refuse(to, "mu must be >= 0, or infinite");

  double largest = 0;
  for (int i = 0; i < s * s; i++) largest = fmax(largest, fabs(problem->M[i]));
  for (int i = 0; i < s; i++)
    for (int j = 0; j < i; j++)
      if (fabs(problem->M[i * s + j] - problem->M[j * s + i]) > 1e-9 * largest)
        return refuse(to, "M is not symmetric");
  return ODE_MLCP_IMPACT_DONE;
}

/* ---- building ---------------------------------------------------------- */

/* L of M = L L'. Bodies have nothing to do with each other in M, so rows begin and
 * columns end near the diagonal, and L as they do. */
typedef struct scratch {
  double *L;      /* s x s */
  int *first;     /* [s] of a row that is not 0 */
  int *last;      /* [s] of a column */
  double *column; /* [s] of B */
  int *moved;     /* [s] velocities that a row or an island moves */
  double *x;      /* [2 n] */
} scratch;

/* Lower Cholesky factor of the s x s matrix M. False: not positive definite
 * (a pivot lost all but rounding of its diagonal entry). */
static bool factor(const double M[], int s, scratch *it) {
  double *L = it->L;
  for (int i = 0; i < s; i++) {
    it->first[i] = 0;
    while (it->first[i] < i && M[i * s + it->first[i]] == 0) it->first[i]++;
    for (int j = it->first[i]; j <= i; j++) it->last[j] = i;
    for (int j = 0; j < it->first[i]; j++) L[i * s + j] = 0;
    for (int j = it->first[i]; j <= i; j++) {
      double sum = M[i * s + j];
      int k = it->first[i] > it->first[j] ? it->first[i] : it->first[j];
      for (; k < j; k++) sum -= L[i * s + k] * L[j * s + k];
      if (i != j) {
        L[i * s + j] = sum / L[j * s + j];
      } else {
        if (!(sum > 1e-13 * M[i * s + i])) return false;
        L[i * s + i] = sqrt(sum);
      }
    }
  }
  return true;
}

static void solve_factored(const scratch *it, int s, double x[]) {
  const double *L = it->L;
  for (int i = 0; i < s; i++) {
    for (int k = it->first[i]; k < i; k++) x[i] -= L[i * s + k] * x[k];
    x[i] /= L[i * s + i];
  }
  for (int i = s - 1; i >= 0; i--) {
    for (int k = i + 1; k <= it->last[i]; k++) x[i] -= L[k * s + i] * x[k];
    x[i] /= L[i * s + i];
  }
}

/* Rows of contact space: normals as they are, tangents turned to the box's sides. */
static void fill_jacobian(const ode_mlcp_impact_problem *problem, double J[],
                          double surface[]) {
  int s = problem->n_velocities, T = problem->n_tangents, per = 1 + T;
  for (int i = 0; i < problem->n_contacts; i++) {
    double *rows = &J[i * per * s], *speeds = &surface[i * per];
    memcpy(rows, &problem->Jn[i * s], (size_t)s * sizeof *rows);
    for (int k = 0; k < s; k++) {
      double tangents[2], turned[2];
      for (int t = 0; t < T; t++)
        tangents[t] = problem->Jt[(i * T + t) * s + k];
      contact_space_turn(T, tangents, turned);
      for (int t = 0; t < T; t++) rows[(1 + t) * s + k] = turned[t];
    }
    memset(speeds, 0, (size_t)per * sizeof *speeds);
    if (problem->surface == NULL) continue;
    speeds[0] = problem->surface[i * per];
    contact_space_turn(T, &problem->surface[i * per + 1], speeds + 1);
  }
}

/* Rows that are parallel but for less than anybody knows of a contact's normal are made
 * so: walls that hold a body between them would else hold it by a wedge's angle, and
 * what it may do would hang on its last digits. What only rounding keeps apart stays as
 * it is: later steps know rounding. */
static void align_rows(const double M[], int n, int s, double J[]) {
  for (int j = 0; j < n; j++) {
    double *own = &J[j * s], largest = 0;
    int at = 0;
    for (int k = 0; k < s; k++) {
      double size = fabs(own[k]) / sqrt(M[k * (s + 1)]);
      if (size > largest) {
        largest = size;
        at = k;
      }
    }
    for (int i = 0; i < j && largest > 0; i++) {
      const double *other = &J[i * s];
      double factor = own[at] / other[at], apart = 0;
      if (other[at] == 0) continue;
      for (int k = 0; k < s && apart <= PARALLEL * largest; k++)
        apart = fmax(apart,
                     fabs(own[k] - factor * other[k]) / sqrt(M[k * (s + 1)]));
      if (apart > PARALLEL * largest) continue;
      if (apart > ROUNDING * largest)
        for (int k = 0; k < s; k++) own[k] = factor * other[k];
      break;
    }
  }
}

static void fill_contact_space(ode_mlcp_impact *impact, int moved[]) {
  contact_space *space = &impact->space;
  int n = space->n_rows, s = impact->n_velocities;

  for (int i = 0; i < n; i++) {
    // only what the row touches: contacts of many bodies touch few of them
    int n_moved = 0;
    for (int k = 0; k < s; k++)
      if (impact->J[i * s + k] != 0) moved[n_moved++] = k;
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int k = 0; k < n_moved; k++)
        sum += impact->J[i * s + moved[k]] * impact->B[moved[k] * n + j];
      space->A[i * n + j] = space->A[j * n + i] = sum;
    }
    double speed = impact->surface[i];
    for (int k = 0; k < s; k++) speed += impact->J[i * s + k] * impact->v[k];
    space->start[i] = speed;
  }

  // entries that only rounding keeps from 0 would decide ties; snap them
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double own = sqrt(space->A[i * (n + 1)] * space->A[j * (n + 1)]);
      if (i != j && fabs(space->A[i * n + j]) <= 1e-15 * own)
        space->A[i * n + j] = 0;
    }

  for (int j = 0; j < n; j++) {
    int normal = j - j % space->per_contact;
    double bound = space->bound[j / space->per_contact];
    space->weight[j] = 0;
    for (int i = 0; i < n; i++) {
      double push = fabs(space->A[i * n + j]);
      if (j == normal && bound < INFINITY)
        for (int t = 1; t <= space->n_tangents; t++)
          push += bound * fabs(space->A[i * n + j + t]);
      space->weight[j] = fmax(space->weight[j], push);
    }
  }
}

/* psi of eq. I4: the largest singular value of an island's columns of B, the tangent
 * columns counted twice (each is two edges, + and -), by power iterations. Friction
 * without limit has no part in it but that of a usual one. */
static double psi_of(const ode_mlcp_impact *impact, const impact_island *island,
                     int moved[], double x[]) {
  const contact_space *space = &island->space;
  int n = impact->space.n_rows, n_moved = 0;
  double *next = &x[space->n_rows], squared = 0, mu_largest = 0;
  for (int i = 0; i < space->n_contacts; i++) {
    double mu = space->bound[i] / contact_space_bound_of_one(space->n_tangents);
    mu_largest = fmax(mu_largest, mu < INFINITY ? mu : 1);
  }
  for (int k = 0; k < impact->n_velocities; k++) {
    bool moves = false;
    for (int i = 0; i < space->n_rows; i++)
      moves |= impact->B[k * n + island->places[i]] != 0;
    if (moves) moved[n_moved++] = k;
  }
  // unequal numbers: not at right angles to what is looked for
  for (int i = 0; i < space->n_rows; i++) x[i] = 1 + 0.1 * i;
  for (int step = 0, steady = 0; step < 10000 && steady < 3; step++) {
    double before = squared;
    squared = 0;
    memset(next, 0, (size_t)space->n_rows * sizeof *next);
    for (int k = 0; k < n_moved; k++) {
      const double *B = &impact->B[moved[k] * n];
      double y = 0;
      for (int i = 0; i < space->n_rows; i++) y += B[island->places[i]] * x[i];
      for (int i = 0; i < space->n_rows; i++)
        next[i] +=
            (space->normal_of[i] == i ? 1 : 2) * B[island->places[i]] * y;
    }
    for (int i = 0; i < space->n_rows; i++)
      squared = fmax(squared, fabs(next[i]));
    for (int i = 0; i < space->n_rows; i++) x[i] = next[i] / squared;
    steady = fabs(squared - before) <= 1e-15 * squared ? steady + 1 : 0;
  }
  return sqrt(squared) * space->n_contacts * (1 + mu_largest) + 1;
}

static bool take_arrays(ode_mlcp_impact *impact, scratch *it) {
  contact_space *space = &impact->space;
  arena *arena = &impact->arena;
  size_t s = (size_t)impact->n_velocities, n = (size_t)space->n_rows;
  arena_start(arena);
  if (!ARENA_TAKE(arena, space->contact_of, n) ||
      !ARENA_TAKE(arena, space->normal_of, n) ||
      !ARENA_TAKE(arena, space->A, n * n) ||
      !ARENA_TAKE(arena, space->bound, space->n_contacts) ||
      !ARENA_TAKE(arena, space->start, n) ||
      !ARENA_TAKE(arena, space->weight, n) ||
      !ARENA_TAKE(arena, impact->M, s * s) ||
      !ARENA_TAKE(arena, impact->J, n * s) ||
      !ARENA_TAKE(arena, impact->J_spans, n) ||
      !ARENA_TAKE(arena, impact->B_spans, s) ||
      !ARENA_TAKE(arena, impact->B, s * n) ||
      !ARENA_TAKE(arena, impact->v, s) ||
      !ARENA_TAKE(arena, impact->surface, n) ||
      !ARENA_TAKE(arena, it->L, s * s) || !ARENA_TAKE(arena, it->first, s) ||
      !ARENA_TAKE(arena, it->last, s) || !ARENA_TAKE(arena, it->column, s) ||
      !ARENA_TAKE(arena, it->moved, s) || !ARENA_TAKE(arena, it->x, 2 * n))
    return false;
  for (int i = 0; i < space->n_rows; i++) {
    space->contact_of[i] = i / space->per_contact;
    space->normal_of[i] = i - i % space->per_contact;
  }
  return true;
}

static void find_spans(const double matrix[], int n_rows, int n_columns,
                       impact_span spans[]) {
  for (int i = 0; i < n_rows; i++) {
    const double *row = &matrix[(size_t)i * (size_t)n_columns];
    spans[i] = (impact_span){0, n_columns};
    while (spans[i].begin < spans[i].end && row[spans[i].begin] == 0)
      spans[i].begin++;
    while (spans[i].begin < spans[i].end && row[spans[i].end - 1] == 0)
      spans[i].end--;
  }
}

static ode_mlcp_impact_status fill(ode_mlcp_impact *impact,
                                   const ode_mlcp_impact_problem *problem,
                                   scratch *it, complaint to) {
  contact_space *space = &impact->space;
  int s = impact->n_velocities, n = space->n_rows;
  memcpy(impact->M, problem->M, (size_t)(s * s) * sizeof *impact->M);
  memcpy(impact->v, problem->v, (size_t)s * sizeof *impact->v);

  for (int i = 0; i < space->n_contacts; i++) {
    space->bound[i] =
        problem->mu[i] * contact_space_bound_of_one(space->n_tangents);
    if (space->bound[i] > ENDLESS) space->bound[i] = INFINITY;
  }
  fill_jacobian(problem, impact->J, impact->surface);

  if (!factor(impact->M, s, it))
    return refuse(to, "M is not positive definite");
  align_rows(impact->M, n, s, impact->J);
  for (int i = 0; i < n; i++) {
    // a column of B, solved for in the row of J's layout, then spread
    memcpy(it->column, &impact->J[i * s], (size_t)s * sizeof *it->column);
    solve_factored(it, s, it->column);
    for (int k = 0; k < s; k++) impact->B[k * n + i] = it->column[k];
  }
  find_spans(impact->J, n, s, impact->J_spans);
  find_spans(impact->B, s, n, impact->B_spans);
  fill_contact_space(impact, it->moved);
  // of finite numbers, where they are too large or too small
  if (!all_finite(space->A, n, n, "J M^-1 J'", to) ||
      !all_finite(space->weight, n, 1, "mu J M^-1 J'", to) ||
      !all_finite(space->start, n, 1, "J v", to))
    return ODE_MLCP_IMPACT_BAD_INPUT;
  for (int i = 0; i < n; i += space->per_contact)
    if (!(space->A[i * n + i] > 0))
      return refuse(to, "a row of Jn moves nothing");

  if (!impact_islands_find(space, &impact->arena, &impact->islands,
                           &impact->n_islands))
    return ODE_MLCP_IMPACT_NO_MEMORY;
  for (int i = 0; i < impact->n_islands; i++)
    impact->islands[i].psi =
        psi_of(impact, &impact->islands[i], it->moved, it->x);
  return ODE_MLCP_IMPACT_DONE;
}

void ode_mlcp_impact_destroy(ode_mlcp_impact *impact) {
  if (impact == NULL) return;
  memory_source source = impact->source;
  for (int i = 0; i < impact->n_islands && impact->islands != NULL; i++)
    contact_modes_release(&impact->islands[i].modes);
  arena_release(&impact->arena);
  source.release(source.context, impact, sizeof *impact);
}

ode_mlcp_impact_status impact_create(const ode_mlcp_impact_problem *problem,
                                     const memory_source *source,
                                     ode_mlcp_impact **impact_out,
                                     char *message, size_t message_size) {
  complaint to = {message, message_size};
  *impact_out = NULL;
  if (message != NULL && message_size > 0) message[0] = 0;
  ode_mlcp_impact_status status = check(problem, to);
  if (status != ODE_MLCP_IMPACT_DONE) return status;

  ode_mlcp_impact *impact = memory_allocate_zero(source, sizeof *impact);
  if (impact == NULL) return ODE_MLCP_IMPACT_NO_MEMORY;
  impact->source = *source;
  impact->arena.source = &impact->source;
  impact->n_velocities = problem->n_velocities;
  impact->space.n_contacts = problem->n_contacts;
  impact->space.n_tangents = problem->n_tangents;
  impact->space.per_contact = 1 + impact->space.n_tangents;
  impact->space.n_rows = problem->n_contacts * impact->space.per_contact;

  scratch scratch;
  status = take_arrays(impact, &scratch) ? fill(impact, problem, &scratch, to)
                                         : ODE_MLCP_IMPACT_NO_MEMORY;
  if (status != ODE_MLCP_IMPACT_DONE) {
    ode_mlcp_impact_destroy(impact);
    return status;
  }
  *impact_out = impact;
  return status;
}

ode_mlcp_impact_status
ode_mlcp_impact_create(const ode_mlcp_impact_problem *problem,
                       ode_mlcp_impact **impact, char *message,
                       size_t message_size) {
  return impact_create(problem, &memory_from_malloc, impact, message,
                       message_size);
}
