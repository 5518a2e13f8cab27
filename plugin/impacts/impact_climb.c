#include "impacts/impact_climb.h"

#include <math.h>
#include <string.h>

#include "impacts/contact_modes.h"

/* In parts of the velocity scale: what is within this of a mode's border may be on
 * its other side; a gain below the second is none. */
#define BORDER 1e-7
#define GAIN 1e-11

/* Entries of the dictionary, a full cap's effect in parts of the velocity scale,
 * below which they are rounding. */
#define FLAT 1e-9

/* Conditions of a way's steps, simplex steps, and modes of a contact. */
enum { MOST_ROWS = 1024, MOST_PIVOTS = 600, MOST_DIGITS = 19 };

static int most_conditions(const contact_space *space) {
  return (2 + 2 * space->n_tangents) * space->n_contacts;
}

static bool suits(const contact_space *space) {
  double modes = pow(contact_modes_of_one(space, true), space->n_contacts);
  return space->n_tangents <= 2 && space->n_rows <= CLIMB_MOST_ROWS &&
         modes < 0x1p62 && !contact_space_is_endless(space);
}

bool impact_climb_open(impact_climb *climb, const contact_space *space,
                       double h, int most_steps, arena *arena) {
  *climb = (impact_climb){.space = space, .h = h};
  if (!suits(space)) return true;
  size_t n = (size_t)space->n_rows, m = (size_t)space->n_contacts;
  int most = space->n_contacts * most_steps;
  size_t n_caps = (size_t)(most < CLIMB_MOST_CAPS ? most : CLIMB_MOST_CAPS);
  size_t conditions = (size_t)most_conditions(space);
  size_t n_rows = (size_t)most_steps * conditions + m;
  if (n_rows > MOST_ROWS) n_rows = MOST_ROWS;
  bool ready = ARENA_TAKE(arena, climb->contacts, m) &&
               ARENA_TAKE(arena, climb->modes, n_caps / m) &&
               ARENA_TAKE(arena, climb->scratch, contact_mode_scratch(space)) &&
               ARENA_TAKE(arena, climb->impulses, n * (n + m)) &&
               ARENA_TAKE(arena, climb->conditions, conditions * (n + m)) &&
               ARENA_TAKE(arena, climb->change, (n + m) * n_caps) &&
               ARENA_TAKE(arena, climb->push, n * n_caps) &&
               ARENA_TAKE(arena, climb->table, n_rows * n_caps) &&
               ARENA_TAKE(arena, climb->value, n_rows + n_caps) &&
               ARENA_TAKE(arena, climb->low, n_rows + n_caps) &&
               ARENA_TAKE(arena, climb->high, n_rows + n_caps) &&
               ARENA_TAKE(arena, climb->basic, n_rows) &&
               ARENA_TAKE(arena, climb->outside, n_caps) &&
               ARENA_TAKE(arena, climb->gain, n_caps);
  for (size_t i = 0; i < m && ready; i++) climb->contacts[i] = (int)i;
  climb->most_caps = ready ? (int)n_caps : 0;
  climb->most_rows = (int)n_rows;
  return ready;
}

/* ---- the modes of a way ---------------------------------------------------- */

/* Who chooses among the modes at a border. */
typedef struct chooser {
  double (*number)(void *); /* in (0, 1) */
  void *context;
} chooser;

/* The number of a mode that the solution of a step is in, one of several where it is
 * at a border. -1: in none. */
static int64_t mode_at(const contact_space *space, const impact_way *way,
                       int step, const chooser *chooser) {
  int n = space->n_rows, m = space->n_contacts;
  int64_t number = 0;
  const double *caps = &way->inputs[step * (n + m) + n];
  for (int i = 0; i < m; i++) {
    int digits[MOST_DIGITS];
    int count = contact_modes_of_contact(
        space, i, caps[i], &way->lambdas[step * n], &way->reached[step * n],
        BORDER * space->scale, digits);
    if (count == 0) return -1;
    int k = count > 1 ? (int)(chooser->number(chooser->context) * count) : 0;
    number = number * contact_modes_of_one(space, true) + digits[k];
  }
  return number;
}

static double dot(const double a[], const double b[], int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* to = sum of rows of `change`, by factors. */
static void combine(const impact_climb *climb, const double factors[],
                    int n_factors, int n_caps, double to[]) {
  memset(to, 0, (size_t)n_caps * sizeof *to);
  for (int j = 0; j < n_factors; j++)
    for (int k = 0; k < n_caps && factors[j] != 0; k++)
      to[k] += factors[j] * climb->change[j * n_caps + k];
}

/* A condition that stays >= 0, which it is now but for rounding. False: no room. */
static bool add_row(impact_climb *climb, const double factors[], int n_factors,
                    int n_caps, double now, int *n_rows) {
  if (*n_rows == climb->most_rows) return false;
  double *row = &climb->table[*n_rows * n_caps], largest = 0;
  combine(climb, factors, n_factors, n_caps, row);
  for (int k = 0; k < n_caps; k++) largest = larger(largest, fabs(row[k]));
  if (largest <= FLAT * climb->space->scale) return true;
  int variable = n_caps + *n_rows;
  climb->basic[*n_rows] = variable;
  climb->value[variable] = larger(now, 0);
  climb->low[variable] = 0;
  climb->high[variable] = INFINITY;
  ++*n_rows;
  return true;
}

/* The conditions of one step's mode, and how its outcome changes with all caps. */
static bool add_step(impact_climb *climb, const impact_way *way, int step,
                     int n_caps, int *n_rows, const chooser *chooser) {
  const contact_space *space = climb->space;
  int n = space->n_rows, m = space->n_contacts, n_inputs = n + m;
  const double *y = &way->inputs[step * n_inputs];
  int64_t number = mode_at(space, way, step, chooser);
  if (number < 0) return false;
  climb->modes[step] = number;
  uint32_t zero_rows;
  int count = contact_mode_work_out(space, climb->contacts, m, number, true,
                                    climb->scratch, climb->impulses,
                                    climb->conditions, &zero_rows);
  if (count < 0) return false;

  memset(&climb->change[n * n_caps], 0,
         (size_t)(m * n_caps) * sizeof *climb->change);
  for (int i = 0; i < m; i++)
    climb->change[(n + i) * n_caps + step * m + i] = climb->h;
  for (int i = 0; i < count; i++) {
    const double *condition = &climb->conditions[i * n_inputs];
    if (!add_row(climb, condition, n_inputs, n_caps,
                 dot(condition, y, n_inputs), n_rows))
      return false;
  }
  for (int i = 0; i < n; i++)
    combine(climb, &climb->impulses[i * n_inputs], n_inputs, n_caps,
            &climb->push[i * n_caps]);
  for (int i = 0; i < n; i++) {
    double *change = &climb->change[i * n_caps];
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n_caps; k++)
        change[k] += space->A[i * n + j] * climb->push[j * n_caps + k];
    if ((zero_rows >> i & 1) != 0)
      memset(change, 0, (size_t)n_caps * sizeof *change);
  }
  return true;
}

/* ---- the program ------------------------------------------------------------ */

/* The gain of a variable outside the basis, up or down, where it has room. */
static int entering_column(const impact_climb *climb, int n_caps, double flat,
                           double *direction) {
  int best = -1;
  double most = flat;
  for (int k = 0; k < n_caps; k++) {
    int variable = climb->outside[k];
    double gain = climb->gain[k], value = climb->value[variable];
    bool has_room =
        gain > 0 ? value < climb->high[variable] : value > climb->low[variable];
    if (!has_room || fabs(gain) <= most) continue;
    most = fabs(gain);
    best = k;
    *direction = gain > 0 ? 1 : -1;
  }
  return best;
}

/* How far the entering variable goes, and what stops it: a row; -1: its own bound. */
static double leaving_row(const impact_climb *climb, int n_rows, int n_caps,
                          int column, double direction, double flat, int *row) {
  int entering = climb->outside[column];
  double value = climb->value[entering], steepest = 0;
  double least = direction > 0 ? climb->high[entering] - value
                               : value - climb->low[entering];
  *row = -1;
  for (int i = 0; i < n_rows; i++) {
    double rate = direction * climb->table[i * n_caps + column];
    if (fabs(rate) <= flat) continue;
    int variable = climb->basic[i];
    double room = rate < 0 ? climb->value[variable] - climb->low[variable]
                           : climb->high[variable] - climb->value[variable];
    double at = larger(room, 0) / fabs(rate);
    // among those that stop it at once the steepest
    if (at > least * (1 + 1e-12) || (at >= least && fabs(rate) <= steepest))
      continue;
    least = smaller(least, at);
    steepest = fabs(rate);
    *row = i;
  }
  return least;
}

static void exchange(impact_climb *climb, int n_rows, int n_caps, int row,
                     int column) {
  double *own = &climb->table[row * n_caps], inverse = 1 / own[column];
  for (int k = 0; k < n_caps; k++) own[k] *= -inverse;
  own[column] = inverse;
  for (int i = 0; i <= n_rows; i++) {
    double *other = i < n_rows ? &climb->table[i * n_caps] : climb->gain;
    double factor = other[column];
    if (i == row || factor == 0) continue;
    other[column] = 0;
    for (int k = 0; k < n_caps; k++) other[k] += factor * own[k];
  }
  int leaving = climb->basic[row];
  climb->basic[row] = climb->outside[column];
  climb->outside[column] = leaving;
}

/* Simplex steps from where the way is. Returns what is gained. */
static double maximise(impact_climb *climb, int n_rows, int n_caps) {
  double flat = FLAT * climb->space->scale, gained = 0;
  for (int pivot = 0; pivot < MOST_PIVOTS; pivot++) {
    double direction = 0;
    int row, column = entering_column(climb, n_caps, flat, &direction);
    if (column < 0) break;
    double by =
        leaving_row(climb, n_rows, n_caps, column, direction, flat, &row);
    if (by == INFINITY) break;
    gained += by * fabs(climb->gain[column]);
    int entering = climb->outside[column];
    climb->value[entering] += direction * by;
    for (int i = 0; i < n_rows; i++)
      climb->value[climb->basic[i]] +=
          direction * by * climb->table[i * n_caps + column];
    if (row < 0) {
      climb->value[entering] =
          direction > 0 ? climb->high[entering] : climb->low[entering];
      continue;
    }
    int leaving = climb->basic[row];
    bool falls = direction * climb->table[row * n_caps + column] < 0;
    climb->value[leaving] = falls ? climb->low[leaving] : climb->high[leaving];
    exchange(climb, n_rows, n_caps, row, column);
  }
  return gained;
}

/* Write what the way's modes make of the caps that the program found. */
static void follow(impact_climb *climb, impact_way *way, double least) {
  const contact_space *space = climb->space;
  int n = space->n_rows, m = space->n_contacts, n_inputs = n + m;
  for (int step = 0; step < way->n_steps; step++) {
    double *y = &way->inputs[step * n_inputs];
    double *lambda = &way->lambdas[step * n], *c = &way->reached[step * n];
    if (step > 0) memcpy(y, c - n, (size_t)n * sizeof *y);
    for (int i = 0; i < m; i++) {
      double part = climb->value[step * m + i];
      y[n + i] = climb->h * smaller(larger(part, least), 1);
    }
    uint32_t zero_rows;
    contact_mode_work_out(space, climb->contacts, m, climb->modes[step], true,
                          climb->scratch, climb->impulses, climb->conditions,
                          &zero_rows);
    for (int i = 0; i < n; i++)
      lambda[i] = dot(&climb->impulses[i * n_inputs], y, n_inputs);
    contact_modes_share(space, lambda);
    for (int i = 0; i < n; i++)
      c[i] = (zero_rows >> i & 1) != 0
                 ? 0
                 : y[i] + dot(&space->A[i * n], lambda, n);
  }
}

bool impact_climb_go(impact_climb *climb, impact_way *way,
                     const double toward[], double least,
                     double (*choose)(void *), void *context) {
  const chooser chooser = {choose, context};
  const contact_space *space = climb->space;
  int n = space->n_rows, m = space->n_contacts, n_rows = 0;
  int n_caps = way->n_steps * m;
  if (n_caps == 0 || n_caps > climb->most_caps) return false;
  memset(climb->change, 0, (size_t)(n * n_caps) * sizeof *climb->change);
  for (int step = 0; step < way->n_steps; step++)
    if (!add_step(climb, way, step, n_caps, &n_rows, &chooser)) return false;
  // nothing approaches at its end
  const double *last = &way->reached[(way->n_steps - 1) * n];
  for (int i = 0; i < n; i += space->per_contact) {
    const double one = 1;
    double *change = climb->change;
    climb->change += i * n_caps;
    bool has_room = add_row(climb, &one, 1, n_caps, last[i], &n_rows);
    climb->change = change;
    if (!has_room) return false;
  }
  combine(climb, toward, n, n_caps, climb->gain);
  for (int k = 0; k < n_caps; k++) {
    int step = k / m;
    climb->value[k] = way->inputs[step * (n + m) + n + k % m] / climb->h;
    climb->low[k] = least;
    climb->high[k] = 1;
    climb->outside[k] = k;
  }
  if (maximise(climb, n_rows, n_caps) < GAIN * space->scale) return false;
  follow(climb, way, least);
  return true;
}
