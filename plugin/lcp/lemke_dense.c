#include "lcp/lemke_dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "common/lanes.h"
#include "common/minmax.h"

/* pivots on one tableau: rounding adds up in it */
enum { pivots_between_rebuilds = 100 };

/* Of an entering column's largest entry: a pivot below the first is looked at on
 * a fresh tableau, one below the second is what rounding leaves of 0. */
static const double small_pivot = 1e-6;
static const double no_pivot = 1e-11;

/* Entries of the inverse basis closer than this count as equal, relative to the
 * largest of their row: a hundred pivots keep eleven digits. */
static const double equal_share = 1e-10;

/* The bound grows faster than rounding does. Beyond the first, of the largest
 * value, the tableau is made anew, though not at once again; the second is the
 * most that is believed. */
static const double error_to_rebuild = 1e-10;
static const double error_at_most = 1e-9;
enum { pivots_before_rebuild = 10 };

/* How many times the running bound on its rounding a difference may be and still
 * count as none: the bound leaves rounding of the columns out. */
static const double rounding_margin = 8;

/* x_B = values - table x_N, rows of basic variables, columns of nonbasic ones.
 * z_j is known as j, w_j as n + j, z0 as 2n. */
typedef struct tableau {
  int n, stride; /* doubles between rows: n + 1 columns, an even number */
  int label;     /* the path ends where z_label or w_label leaves; n: z0 */
  const double *M, *q, *cover;
  double *table;                       /* [n stride] */
  double *values;                      /* [n] */
  double *error;                       /* [n] bounds on their rounding */
  double *column;                      /* [n] the entering one */
  double most;                         /* its largest entry */
  double largest_value, largest_error; /* before the last ratio test */
  int *row_of;                         /* [n] the basic variables */
  int *column_of;                      /* [n + 1] the nonbasic ones */
  int *place;                          /* [2 n + 1] row, or -1 - column */
  bool *tied;                          /* [n] */
  bool *wanted; /* [2 n + 1] to be basic, while rebuilding */
  long pivots, since_rebuild;
} tableau;

static bool take_arrays(tableau *t, arena *arena) {
  size_t n = (size_t)t->n;
  t->stride = (t->n + 2) / 2 * 2;
  return ARENA_TAKE(arena, t->table, n * (size_t)t->stride) &&
         ARENA_TAKE(arena, t->values, n) && ARENA_TAKE(arena, t->error, n) &&
         ARENA_TAKE(arena, t->column, n) && ARENA_TAKE(arena, t->row_of, n) &&
         ARENA_TAKE(arena, t->column_of, n + 1) &&
         ARENA_TAKE(arena, t->place, 2 * n + 1) &&
         ARENA_TAKE(arena, t->tied, n) &&
         ARENA_TAKE(arena, t->wanted, 2 * n + 1);
}

static double *row_at(const tableau *t, int row) {
  return t->table + (size_t)row * (size_t)t->stride;
}

/* All w basic. */
static void fill(tableau *t) {
  int n = t->n;
  for (int i = 0; i < n; i++) {
    double *row = row_at(t, i);
    for (int j = 0; j < n; j++) row[j] = -t->M[(size_t)i * (size_t)n + j];
    row[n] = t->cover != NULL ? -t->cover[i] : 0;
    for (int j = n + 1; j < t->stride; j++) row[j] = 0;
    t->values[i] = t->q[i];
    t->error[i] = 0;
    t->row_of[i] = n + i;
    t->place[n + i] = i;
    t->column_of[i] = i;
    t->place[i] = -1 - i;
  }
  t->column_of[n] = 2 * n;
  t->place[2 * n] = -1 - n;
  t->since_rebuild = 0;
}

/* row -= factor * pivot_row */
static void subtract_row(double *restrict row, const double *restrict pivot_row,
                         double factor, int stride) {
  two *at = (two *)row;
  const two *from = (const two *)pivot_row;
  for (int j = 0; j < stride / 2; j++) at[j] -= factor * from[j];
}

/* The variable of column `c` becomes basic in row `r`. */
static void exchange_dense(tableau *t, int r, int c) {
  double *pivot_row = row_at(t, r);
  double inverse = 1 / pivot_row[c];
  pivot_row[c] = 1;
  for (int j = 0; j < t->stride; j++) pivot_row[j] *= inverse;
  t->values[r] *= inverse;
  t->error[r] = fabs(inverse) * t->error[r] + DBL_EPSILON * fabs(t->values[r]);
  for (int i = 0; i < t->n; i++) {
    double *row = row_at(t, i);
    double factor = row[c];
    if (i == r || factor == 0) continue;
    row[c] = 0;
    subtract_row(row, pivot_row, factor, t->stride);
    double change = factor * t->values[r];
    t->values[i] -= change;
    t->error[i] += fabs(factor) * t->error[r] +
                   DBL_EPSILON * (fabs(change) + fabs(t->values[i]));
  }
  int entering = t->column_of[c], leaving = t->row_of[r];
  t->row_of[r] = entering;
  t->column_of[c] = leaving;
  t->place[entering] = r;
  t->place[leaving] = -1 - c;
}

/* The same basis from the original data, the largest pivots first. */
static void rebuild(tableau *t) {
  int count = 0;
  for (int k = 0; k <= 2 * t->n; k++) t->wanted[k] = t->place[k] >= 0;
  fill(t);
  for (int k = 0; k < t->n; k++) count += t->wanted[k];
  count += t->wanted[2 * t->n];
  for (; count > 0; count--) {
    int r = -1, c = -1;
    double most = 0;
    for (int i = 0; i < t->n; i++) {
      if (t->wanted[t->row_of[i]]) continue;
      const double *row = row_at(t, i);
      for (int j = 0; j <= t->n; j++)
        if (t->wanted[t->column_of[j]] && fabs(row[j]) > most)
          r = i, c = j, most = fabs(row[j]);
    }
    if (r < 0) return; // a basis that was none: the path goes on from less
    exchange_dense(t, r, c);
  }
}

/* ---- the ratio test -------------------------------------------------------------- */

/* Entry of the inverse basis: the column of w_j. */
static double inverse_at(const tableau *t, int row, int j) {
  int place = t->place[t->n + j];
  if (place >= 0) return place == row;
  return row_at(t, row)[-1 - place];
}

/* Of the rows tied, the lexicographically least of their rows of the inverse
 * basis over their pivots. */
static int least_row(tableau *t, int n_tied) {
  int n = t->n, best = -1;
  double size = 0; // of the rows: an entry of 0 may be rounding of it
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n && t->tied[i]; j++)
      size = larger_of(size, fabs(inverse_at(t, i, j)) / t->column[i]);
  for (int j = 0; j < n && n_tied > 1; j++) {
    double least = INFINITY;
    for (int i = 0; i < n; i++)
      if (t->tied[i])
        least = smaller_of(least, inverse_at(t, i, j) / t->column[i]);
    n_tied = 0;
    for (int i = 0; i < n; i++) {
      if (!t->tied[i]) continue;
      double entry = inverse_at(t, i, j) / t->column[i];
      t->tied[i] = entry - least <= equal_share * size;
      n_tied += t->tied[i];
    }
  }
  for (int i = n - 1; i >= 0; i--)
    if (t->tied[i]) best = i;
  return best;
}

static int complement(const tableau *t, int variable) {
  return variable < t->n ? variable + t->n : variable - t->n;
}

static bool ends_path(const tableau *t, int variable) {
  return variable == 2 * t->n ? t->label == t->n : variable % t->n == t->label;
}

/* The row whose variable leaves when that of column `c` grows; -1 for none. What
 * ends the path leaves whenever it may. */
static int ratio_test(tableau *t, int c) {
  int n = t->n, n_tied = 0, only = -1;
  double theta = INFINITY;
  t->most = t->largest_value = t->largest_error = 0;
  for (int i = 0; i < n; i++) {
    t->column[i] = row_at(t, i)[c];
    t->most = larger_of(t->most, fabs(t->column[i]));
    t->largest_value = larger_of(t->largest_value, fabs(t->values[i]));
    t->largest_error = larger_of(t->largest_error, t->error[i]);
  }
  double believed = error_at_most * t->largest_value;
  double least = no_pivot * t->most;
  for (int i = 0; i < n; i++)
    if (t->column[i] > least &&
        larger_of(t->values[i], 0) < theta * t->column[i])
      theta = larger_of(t->values[i], 0) / t->column[i];
  if (theta == INFINITY) return -1;
  for (int i = 0; i < n; i++) {
    if (!(t->column[i] > least)) {
      t->tied[i] = false;
      continue;
    }
    double slack = larger_of(t->values[i], 0) - theta * t->column[i];
    t->tied[i] = slack <= rounding_margin * smaller_of(t->error[i], believed);
    if (!t->tied[i]) continue;
    if (ends_path(t, t->row_of[i])) return i;
    n_tied++;
    only = i;
  }
  return n_tied <= 1 ? only : least_row(t, n_tied);
}

/* The row that z0 drives out first, or -1 where no value is negative. Of those
 * tied the last is the lexicographically least. */
static int first_row(const tableau *t) {
  int best = -1;
  double most = 0;
  for (int i = 0; i < t->n; i++) {
    double level = -t->q[i] / t->cover[i];
    if (!(level > 0) || level < most) continue;
    most = level;
    best = i;
  }
  return best;
}

static void read_ray(const tableau *t, int c, double ray[]) {
  for (int i = 0; i < t->n; i++)
    if (t->row_of[i] < t->n) ray[t->row_of[i]] = fmax(-row_at(t, i)[c], 0);
  if (t->column_of[c] < t->n) ray[t->column_of[c]] = 1;
}

/* From an almost complementary basis whose complement of `left` enters next. */
static lemke_status follow(tableau *t, int left, long max_pivots,
                           double ray[]) {
  while (t->pivots < max_pivots) {
    int c = -1 - t->place[complement(t, left)];
    int r = ratio_test(t, c);
    bool doubtful = r < 0 || t->column[r] < small_pivot * t->most;
    bool inexact = t->largest_error > error_to_rebuild * t->largest_value &&
                   t->since_rebuild >= pivots_before_rebuild;
    if (t->since_rebuild > 0 &&
        (doubtful || inexact || t->since_rebuild >= pivots_between_rebuilds)) {
      rebuild(t);
      if (t->place[complement(t, left)] >= 0) return LEMKE_INACCURATE;
      continue;
    }
    if (r < 0) {
      read_ray(t, c, ray);
      return LEMKE_RAY;
    }
    left = t->row_of[r];
    exchange_dense(t, r, c);
    t->pivots++;
    t->since_rebuild++;
    if (ends_path(t, left)) return LEMKE_SOLVED;
  }
  return LEMKE_PIVOT_LIMIT;
}

/* ---- where a path begins --------------------------------------------------------- */

static lemke_status begin_covered(tableau *t, long max_pivots, double ray[]) {
  int leaves = first_row(t);
  if (leaves < 0) return LEMKE_SOLVED;
  int left = t->row_of[leaves];
  exchange_dense(t, leaves, t->n);
  t->pivots = 1;
  return follow(t, left, max_pivots, ray);
}

/* The row that is the last of those below 0 to become 0 when the variable of column
 * `c` grows; -1 for none. *all: it mends all of them. */
static int last_row(tableau *t, int c, bool *all) {
  int n_below = 0, n_met = 0, n_tied = 0;
  double most = 0, theta = 0;
  for (int i = 0; i < t->n; i++) {
    t->column[i] = -row_at(t, i)[c];
    most = larger_of(most, fabs(t->column[i]));
  }
  for (int i = 0; i < t->n; i++) {
    t->tied[i] = t->values[i] < -rounding_margin * t->error[i];
    n_below += t->tied[i];
    t->tied[i] = t->tied[i] && t->column[i] > no_pivot * most;
    n_met += t->tied[i];
    if (t->tied[i]) theta = larger_of(theta, -t->values[i] / t->column[i]);
  }
  *all = n_met == n_below;
  for (int i = 0; i < t->n; i++) {
    double slack = theta * t->column[i] + t->values[i];
    t->tied[i] = t->tied[i] && slack <= rounding_margin * t->error[i] +
                                            DBL_EPSILON * -t->values[i];
    n_tied += t->tied[i];
  }
  return n_met == 0 ? -1 : least_row(t, n_tied);
}

/* Out of the ray of z_label, where that meets what is below 0, into that of the label
 * that it meets, if that mends the rest. */
static lemke_status begin_edge(tableau *t, long max_pivots, double ray[]) {
  int left = t->n + t->label; // so that z_label enters
  for (int turn = 0; turn < 2; turn++) {
    bool all;
    int c = -1 - t->place[complement(t, left)];
    int r = last_row(t, c, &all);
    if (r < 0 && all && turn > 0) break;
    if (r < 0 || (turn > 0 && !all)) return LEMKE_RAY;
    left = t->row_of[r];
    exchange_dense(t, r, c);
    t->pivots++;
    if (ends_path(t, left)) break;
  }
  for (int i = 0; i < t->n; i++)
    if (t->values[i] < -rounding_margin * t->error[i]) return LEMKE_RAY;
  return ends_path(t, left) ? LEMKE_SOLVED : follow(t, left, max_pivots, ray);
}

lemke_dense_report lemke_dense_solve(int n, const double M[], const double q[],
                                     const double cover[], int label,
                                     long max_pivots, arena *arena,
                                     bool basic[], double ray[]) {
  tableau t = {.n = n,
               .M = M,
               .q = q,
               .cover = cover,
               .label = cover != NULL ? n : label};
  if (!take_arrays(&t, arena)) return (lemke_dense_report){LEMKE_NO_MEMORY, 0};
  fill(&t);
  memset(ray, 0, sizeof *ray * (size_t)n);
  lemke_status status =
      (cover != NULL ? begin_covered : begin_edge)(&t, max_pivots, ray);
  for (int j = 0; j < n; j++) basic[j] = t.place[j] >= 0;
  return (lemke_dense_report){status, t.pivots};
}
