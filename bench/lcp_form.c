#include "lcp_form.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- contact space ---------------------------------------------------- */

void lcp_form_rows(const mlcp_problem *problem, double A[], double b[]) {
  size_t n = (size_t)problem->n_rows;
  for (size_t i = 0; i < n; i++) {
    const mlcp_row *row = &problem->rows[i];
    for (size_t k = 0; k < n && A != NULL; k++)
      A[i * n + k] = mlcp_rows_product(problem, row, &problem->rows[k]);
    if (A != NULL) A[i * n + i] += row->compliance;
    if (b == NULL) continue;
    b[i] = row->bias;
    for (int side = 0; side < 2; side++)
      if (row->body[side] >= 0)
        b[i] += dot6(row->J[side], problem->bodies[row->body[side]].v_free);
  }
}

/* ---- variables -------------------------------------------------------- */

static bool is_free(const mlcp_row *row) {
  return row->kind != MLCP_ROW_FRICTION && row->low == -INFINITY &&
         row->high == INFINITY;
}

static int variables_of(const mlcp_row *row) {
  if (row->kind == MLCP_ROW_FRICTION || is_free(row) || row->low == row->high)
    return 0;
  return row->low > -INFINITY && row->high < INFINITY ? 2 : 1;
}

int lcp_form_size(const mlcp_problem *problem) {
  int n = 2 * problem->n_pairs + problem->n_frictions;
  for (int r = 0; r < problem->n_rows; r++)
    n += variables_of(&problem->rows[r]);
  return n;
}

/* While it is built: variable k moves p by column k of `map`, and has
 * w_k = g_k' w_rows + linear_k' z + constant_k, g_k the same direction. */
typedef struct build {
  lcp_form *form;
  double *linear;   /* n x n */
  double *constant; /* [n] */
  int next;
} build;

static double *map_at(lcp_form *form, int row, int variable) {
  return &form->map[(size_t)row * (size_t)form->n + (size_t)variable];
}

static double *linear_at(build *build, int i, int k) {
  return &build->linear[(size_t)i * (size_t)build->form->n + (size_t)k];
}

static void add_bounded_row(build *build, int r) {
  lcp_form *form = build->form;
  const mlcp_row *row = &form->problem->rows[r];
  double d =
      mlcp_scale_of(form->A[(size_t)r * (size_t)form->n_rows + (size_t)r]);
  bool from_low = row->low > -INFINITY;
  form->p_constant[r] = from_low ? row->low : row->high;
  int k = build->next++;
  *map_at(form, r, k) = from_low ? 1 / d : -1 / d;
  if (variables_of(row) == 1) return;
  // w + y >= 0, and (high - low) - z >= 0 for y
  int y = build->next++;
  *linear_at(build, k, y) = 1;
  *linear_at(build, y, k) = -1;
  build->constant[y] = d * (row->high - row->low);
}

static void add_friction(build *build, int f, const int variable_of[]) {
  lcp_form *form = build->form;
  const mlcp_problem *problem = form->problem;
  const mlcp_friction *set = &problem->frictions[f];
  int first = build->next, lambda = first + 2 * set->n_pairs;
  int scale_row = set->normal >= 0 ? set->normal : set->first_row;
  double A_n = mlcp_scale_of(mlcp_row_diagonal(problem, scale_row));
  build->constant[lambda] = A_n * set->limit;
  for (int k = 0; k < set->n_pairs; k++) {
    const double *u = problem->pairs[set->first_pair + k].u;
    double A_u = 0;
    for (int i = 0; i < set->n_base; i++)
      for (int j = 0; j < set->n_base; j++)
        A_u += u[i] * u[j] *
               form->A[(size_t)(set->first_row + i) * (size_t)form->n_rows +
                       (size_t)(set->first_row + j)];
    A_u = mlcp_scale_of(A_u);
    for (int sign = 0; sign < 2; sign++) {
      int edge = first + 2 * k + sign;
      for (int t = 0; t < set->n_base; t++)
        *map_at(form, set->first_row + t, edge) =
            (sign == 0 ? u[t] : -u[t]) / A_u;
      *linear_at(build, edge, lambda) = 1;
      *linear_at(build, lambda, edge) = -A_n / A_u;
    }
  }
  if (set->normal >= 0) {
    build->constant[lambda] +=
        A_n * set->coefficient * form->p_constant[set->normal];
    int normal = variable_of[set->normal];
    if (normal >= 0)
      *linear_at(build, lambda, normal) =
          A_n * set->coefficient * *map_at(form, set->normal, normal);
  }
  build->next = lambda + 1;
}

/* ---- free rows -------------------------------------------------------- */

/* Solve the n_free x n_free system of rows `at` of A for `count` right-hand
 * sides in X (n_free x count), by elimination with row pivoting. */
static bool eliminate(const lcp_form *form, const int at[], int n_free,
                      double X[], int count) {
  size_t n = (size_t)n_free, c = (size_t)count;
  double *F = malloc((n * n + 1) * sizeof *F);
  if (F == NULL) return false;
  double largest = 0;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n; k++) {
      F[i * n + k] =
          form->A[(size_t)at[i] * (size_t)form->n_rows + (size_t)at[k]];
      largest = fmax(largest, fabs(F[i * n + k]));
    }
  bool regular = true;
  for (size_t k = 0; k < n && regular; k++) {
    size_t pivot = k;
    for (size_t i = k; i < n; i++)
      if (fabs(F[i * n + k]) > fabs(F[pivot * n + k])) pivot = i;
    regular = fabs(F[pivot * n + k]) > 1e-12 * largest;
    for (size_t j = 0; j < n && pivot != k; j++) {
      double kept = F[k * n + j];
      F[k * n + j] = F[pivot * n + j];
      F[pivot * n + j] = kept;
    }
    for (size_t j = 0; j < c && pivot != k; j++) {
      double kept = X[k * c + j];
      X[k * c + j] = X[pivot * c + j];
      X[pivot * c + j] = kept;
    }
    for (size_t i = k + 1; i < n && regular; i++) {
      double factor = F[i * n + k] / F[k * n + k];
      if (factor == 0) continue;
      for (size_t j = k; j < n; j++) F[i * n + j] -= factor * F[k * n + j];
      for (size_t j = 0; j < c; j++) X[i * c + j] -= factor * X[k * c + j];
    }
  }
  for (size_t k = n; regular && k-- > 0;)
    for (size_t j = 0; j < c; j++) {
      for (size_t i = k + 1; i < n; i++)
        X[k * c + j] -= F[k * n + i] * X[i * c + j];
      X[k * c + j] /= F[k * n + k];
    }
  free(F);
  return regular;
}

/* Free rows have w = 0: their impulses follow from z, into map and
 * p_constant. */
static bool put_free_rows_in(lcp_form *form) {
  const mlcp_problem *problem = form->problem;
  size_t n_rows = (size_t)form->n_rows, n = (size_t)form->n, count = n + 1;
  int *at = malloc((n_rows + 1) * sizeof *at), n_free = 0;
  for (int r = 0; at != NULL && r < form->n_rows; r++)
    if (is_free(&problem->rows[r])) at[n_free++] = r;
  double *X = calloc((size_t)n_free * count + 1, sizeof *X);
  bool done = at != NULL && X != NULL;
  for (int i = 0; done && i < n_free; i++) {
    double *x = &X[(size_t)i * count];
    const double *A = &form->A[(size_t)at[i] * n_rows];
    x[n] = -form->b[at[i]];
    for (size_t r = 0; r < n_rows; r++) {
      if (A[r] == 0) continue;
      x[n] -= A[r] * form->p_constant[r];
      for (size_t k = 0; k < n; k++) x[k] -= A[r] * form->map[r * n + k];
    }
  }
  done = done && (n_free == 0 || eliminate(form, at, n_free, X, (int)count));
  for (int i = 0; done && i < n_free; i++) {
    const double *x = &X[(size_t)i * count];
    memcpy(&form->map[(size_t)at[i] * n], x, n * sizeof *x);
    form->p_constant[at[i]] = x[n];
  }
  free(at);
  free(X);
  return done;
}

/* ---- building --------------------------------------------------------- */

/* M = G'(A map) + linear and q = G'(A p_constant + b) + constant, where column
 * k of G is the direction of variable k times its scale: w is in m/s. */
static bool multiply(lcp_form *form, const build *build, const double G[]) {
  size_t n = (size_t)form->n, n_rows = (size_t)form->n_rows;
  double *W = calloc(n_rows * (n + 1) + 1, sizeof *W);
  if (W == NULL) return false;
  for (size_t r = 0; r < n_rows; r++) {
    double *w = &W[r * (n + 1)];
    w[n] = form->b[r];
    for (size_t k = 0; k < n_rows; k++) {
      double a = form->A[r * n_rows + k];
      if (a == 0) continue;
      w[n] += a * form->p_constant[k];
      for (size_t j = 0; j < n; j++) w[j] += a * form->map[k * n + j];
    }
  }
  memcpy(form->M, build->linear, n * n * sizeof *form->M);
  memcpy(form->q, build->constant, n * sizeof *form->q);
  for (size_t r = 0; r < n_rows; r++)
    for (size_t i = 0; i < n; i++) {
      double g = G[r * n + i];
      if (g == 0) continue;
      for (size_t j = 0; j < n; j++)
        form->M[i * n + j] += g * W[r * (n + 1) + j];
      form->q[i] += g * W[r * (n + 1) + n];
    }
  free(W);
  return true;
}

static bool fill(lcp_form *form, build *build, int variable_of[], double G[]) {
  const mlcp_problem *problem = form->problem;
  size_t n = (size_t)form->n, n_rows = (size_t)form->n_rows;
  for (int r = 0; r < form->n_rows; r++) {
    variable_of[r] = -1;
    if (variables_of(&problem->rows[r]) > 0) {
      variable_of[r] = build->next;
      add_bounded_row(build, r);
    } else if (problem->rows[r].kind != MLCP_ROW_FRICTION &&
               !is_free(&problem->rows[r])) {
      form->p_constant[r] = problem->rows[r].low;
    }
  }
  for (int f = 0; f < problem->n_frictions; f++)
    add_friction(build, f, variable_of);
  // the directions alone: every entry of a column times the column's scale
  for (size_t i = 0; i < n; i++) {
    double sum = 0, weighted = 0;
    for (size_t r = 0; r < n_rows; r++)
      sum += form->map[r * n + i] * form->map[r * n + i];
    for (size_t r = 0; r < n_rows && sum > 0; r++)
      for (size_t k = 0; k < n_rows && form->map[r * n + i] != 0; k++)
        weighted += form->map[r * n + i] * form->map[k * n + i] *
                    form->A[r * n_rows + k];
    // g' A g = d and column = g/d: column' A column = 1/d
    double d = weighted > 0 ? 1 / weighted : 1;
    for (size_t r = 0; r < n_rows; r++) G[r * n + i] = form->map[r * n + i] * d;
  }
  return put_free_rows_in(form) && multiply(form, build, G);
}

bool lcp_form_build(lcp_form *form, const mlcp_problem *problem) {
  memset(form, 0, sizeof *form);
  form->problem = problem;
  form->n = lcp_form_size(problem);
  form->n_rows = problem->n_rows;
  size_t n = (size_t)form->n, n_rows = (size_t)form->n_rows;
  form->M = calloc(n * n + 1, sizeof *form->M);
  form->q = calloc(n + 1, sizeof *form->q);
  form->A = calloc(n_rows * n_rows + 1, sizeof *form->A);
  form->b = calloc(n_rows + 1, sizeof *form->b);
  form->p_constant = calloc(n_rows + 1, sizeof *form->p_constant);
  form->map = calloc(n_rows * n + 1, sizeof *form->map);
  build build = {.form = form,
                 .linear = calloc(n * n + 1, sizeof(double)),
                 .constant = calloc(n + 1, sizeof(double))};
  int *variable_of = calloc(n_rows + 1, sizeof *variable_of);
  double *G = calloc(n_rows * n + 1, sizeof *G);
  bool built = form->M != NULL && form->q != NULL && form->A != NULL &&
               form->b != NULL && form->p_constant != NULL &&
               form->map != NULL && build.linear != NULL &&
               build.constant != NULL && variable_of != NULL && G != NULL;
  if (built) {
    lcp_form_rows(problem, form->A, form->b);
    built = fill(form, &build, variable_of, G);
  }
  free(build.linear);
  free(build.constant);
  free(variable_of);
  free(G);
  if (!built) lcp_form_release(form);
  return built;
}

void lcp_form_release(lcp_form *form) {
  double *arrays[] = {form->M, form->q,          form->A,
                      form->b, form->p_constant, form->map};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
  memset(form, 0, sizeof *form);
}

/* ---- the way back ----------------------------------------------------- */

void lcp_form_solution(const lcp_form *form, const double z[],
                       const mlcp_solution *solution) {
  const mlcp_problem *problem = form->problem;
  size_t n = (size_t)form->n;
  for (int r = 0; r < form->n_rows; r++) {
    solution->p[r] = form->p_constant[r];
    for (size_t k = 0; k < n; k++)
      solution->p[r] += form->map[(size_t)r * n + k] * z[k];
  }
  // z holds the edges set by set, then a set's lambda, after all other rows
  int next = form->n - 2 * problem->n_pairs - problem->n_frictions;
  for (int f = 0; f < problem->n_frictions; f++) {
    const mlcp_friction *set = &problem->frictions[f];
    for (int k = 0; k < 2 * set->n_pairs; k++, next++) {
      // the edge's impulse is its scale times z: any base row tells
      const double *u = problem->pairs[set->first_pair + k / 2].u;
      int t = fabs(u[0]) >= fabs(u[1]) || set->n_base == 1 ? 0 : 1;
      double share =
          form->map[(size_t)(set->first_row + t) * n + (size_t)next] /
          (k % 2 == 0 ? u[t] : -u[t]);
      solution->beta[2 * set->first_pair + k] = share * z[next];
    }
    solution->lambda[f] = z[next++];
  }
  mlcp_velocities(problem, solution->p, solution->v);
}

/* w of every row at the velocities that belong to p; [n_rows], to be freed. */
static double *speeds(const mlcp_problem *problem,
                      const mlcp_solution *solution) {
  mlcp_velocities(problem, solution->p, solution->v);
  double *w = malloc(((size_t)problem->n_rows + 1) * sizeof *w);
  if (w == NULL) abort();
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    w[r] = row->bias + row->compliance * solution->p[r];
    for (int side = 0; side < 2; side++)
      if (row->body[side] >= 0)
        w[r] += dot6(row->J[side], &solution->v[6 * row->body[side]]);
  }
  return w;
}

void lcp_form_from_impulses(const mlcp_problem *problem,
                            const mlcp_solution *solution) {
  double *w = speeds(problem, solution);
  for (int f = 0; f < problem->n_frictions; f++)
    mlcp_split_friction(problem, f, solution->p, w, solution->beta,
                        &solution->lambda[f]);
  free(w);
}

/* |p - mid(low, p - w/A, high)| A */
static double violation(const mlcp_problem *problem, int row, double p,
                        double w, double low, double high) {
  double A = mlcp_scale_of(mlcp_row_diagonal(problem, row));
  double moved = fmin(fmax(p - w / A, low), high);
  return fabs(p - moved) * A;
}

double lcp_form_box_residual(const mlcp_problem *problem,
                             const mlcp_solution *solution) {
  const double *p = solution->p;
  double *w = speeds(problem, solution), worst = 0;
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    if (row->kind != MLCP_ROW_FRICTION)
      worst =
          fmax(worst, violation(problem, r, p[r], w[r], row->low, row->high));
  }
  for (int f = 0; f < problem->n_frictions; f++) {
    const mlcp_friction *set = &problem->frictions[f];
    double limit = set->limit;
    if (set->normal >= 0) limit += set->coefficient * p[set->normal];
    limit = fmax(limit, 0);
    for (int r = set->first_row; r < set->first_row + set->n_base; r++)
      worst = fmax(worst, violation(problem, r, p[r], w[r], -limit, limit));
  }
  free(w);
  return worst / mlcp_velocity_scale(problem);
}
