#include "impacts/impact_ends.h"

#include <math.h>
#include <string.h>

#include "impacts/contact_modes.h"
#include "impacts/philox.h"

/* ---- climbs -----------------------------------------------------------------
 *
 * In the mode of each of its steps the impulses are a linear function of velocities
 * and caps, and so are the conditions of the mode. So over all caps of all steps of a
 * way the velocity that it ends at is linear, and which caps lead furthest is a linear
 * program. */

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

/* False: no memory. A space of another kind than modes are for, or of too many
 * modes to be numbered, is never climbed in. */
static bool climb_open(impact_climb *climb, const contact_space *space,
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

/*
 * Go along a way as far as its modes allow: change its caps to those that lead furthest,
 * and all that follows from them. No step is solved for this.
 *
 * @param way    that ends at an outcome; in and out
 * @param toward [n_rows] what of the velocity at its end is to grow
 * @param least  parts of h, of a cap
 * @param choose gives numbers in (0, 1): they tell which of the modes that a step is
 *               at the border of is taken
 * @return false: nothing is gained, or it cannot say; the way is as it was
 */
static bool climb_go(impact_climb *climb, impact_way *way,
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

/* ---- blocks ------------------------------------------------------------------ */

/* Shares of small and of full caps, and by how many decades a small one may be
 * below a full one. */
#define SHARE_SMALL 0.4
#define SHARE_FULL 0.3
#define SMALL_DECADES 9.0

/* Shares of climbs that begin at caps drawn anew, and, of the others, at the best
 * sample for any end. */
#define DRAWN_ANEW 0.3
#define FROM_OTHER 0.3

/* The first of these where no climb can go on, so that changes alone are to get far. */
#define DRAWN_WITHOUT_CLIMBS 0.05

/* A sample goes up from program to program until so many in a row gained nothing, and
 * no further than so many; a climb ends when so many samples of it did not gain. */
#define MOST_IDLE 6
#define MOST_PROGRAMS 100
#define MOST_FAILED 3

/* Of those that go on, the shares that change the steps themselves, go further
 * the way that progress went, or change all of one step. */
#define OTHER_STEPS 0.2
#define ALONG 0.15
#define WHOLE_STEP 0.2

/* A changed cap: the share of those drawn anew; the others move by up to h, by any
 * of so many decades less. */
#define CHANGED_ANEW 0.3
#define MOVE_DECADES 10.0

/* Caps are no smaller, in parts of h. */
#define LEAST_CAP 1e-12

static int ends_of(const contact_space *space) {
  return 2 * space->n_contacts * (space->n_tangents == 1 ? 2 : 3);
}

/* Numbers of a step's inputs and of its rows, for a way. */
static size_t inputs_of(const impact_ends *ends) {
  return (size_t)(ends->space->n_rows + ends->space->n_contacts);
}

static int width_of(const impact_ends *ends) {
  return ends->space->n_contacts + 1;
}

static bool take_plan(impact_plan *plan, const contact_space *space,
                      arena *arena) {
  const size_t steps = IMPACT_ENDS_STEPS;
  size_t n = (size_t)space->n_rows, m = (size_t)space->n_contacts;
  plan->n_steps = plan->way.n_steps = 0;
  return ARENA_TAKE(arena, plan->draws, steps * (m + 1)) &&
         ARENA_TAKE(arena, plan->way.inputs, steps * (n + m)) &&
         ARENA_TAKE(arena, plan->way.lambdas, steps * n) &&
         ARENA_TAKE(arena, plan->way.reached, steps * n);
}

bool impact_ends_open(impact_ends *ends, const contact_space *space,
                      uint64_t seed, int most_steps, double h, arena *arena) {
  int n_ends = ends_of(space);
  *ends = (impact_ends){
      .space = space,
      .seed = seed,
      .most_steps = most_steps < IMPACT_ENDS_STEPS - 1 ? most_steps
                                                       : IMPACT_ENDS_STEPS - 1,
      .n_aims = n_ends < IMPACT_ENDS_AIMS ? n_ends : IMPACT_ENDS_AIMS};
  bool ready = ARENA_TAKE(arena, ends->aims, (size_t)ends->n_aims) &&
               take_plan(&ends->planned, space, arena) &&
               take_plan(&ends->tried, space, arena) &&
               take_plan(&ends->climbed, space, arena) &&
               climb_open(&ends->climb, space, h, ends->most_steps, arena);
  for (int i = 0; i < ends->n_aims && ready; i++) {
    ends->aims[i] = (impact_end){.value = -INFINITY};
    ready = take_plan(&ends->aims[i].best, space, arena) &&
            take_plan(&ends->aims[i].older, space, arena);
  }
  if (!ready) ends->space = NULL;
  return ready;
}

uint64_t impact_ends_missing(impact_ends *ends, uint64_t sample,
                             uint64_t *first) {
  uint64_t block = sample / IMPACT_ENDS_BLOCK;
  uint64_t place = sample % IMPACT_ENDS_BLOCK;
  if (ends->block != block || ends->next > place) {
    ends->block = block;
    ends->next = 0;
    ends->climbed.way.n_steps = 0;
    for (int i = 0; i < ends->n_aims; i++) {
      ends->aims[i].value = -INFINITY;
      ends->aims[i].best.n_steps = ends->aims[i].older.n_steps = 0;
    }
  }
  *first = block * IMPACT_ENDS_BLOCK + ends->next;
  return place - ends->next;
}

static double any_cap(const double pair[2]) {
  return pair[0] < SHARE_SMALL ? pow(10, -SMALL_DECADES * pair[1])
         : pair[0] < SHARE_SMALL + SHARE_FULL ? 1
                                              : pair[1];
}

static double valid_part(double part) {
  return smaller(larger(part, LEAST_CAP), 1);
}

static void copy_plan(const impact_ends *ends, impact_plan *to,
                      const impact_plan *from) {
  to->n_steps = from->n_steps;
  memcpy(to->draws, from->draws,
         (size_t)(from->n_steps * width_of(ends)) * sizeof *to->draws);
  size_t n = (size_t)ends->space->n_rows, steps = (size_t)from->way.n_steps;
  to->way.n_steps = from->way.n_steps;
  memcpy(to->way.inputs, from->way.inputs,
         steps * inputs_of(ends) * sizeof(double));
  memcpy(to->way.lambdas, from->way.lambdas, steps * n * sizeof(double));
  memcpy(to->way.reached, from->way.reached, steps * n * sizeof(double));
}

/* Numbers for the changes of one sample, pair after pair. */
typedef struct dice {
  uint64_t seed, sample;
  uint32_t thrown;
} dice;

static void throw_pair(dice *dice, double pair[2]) {
  philox_pair(dice->seed, dice->sample, dice->thrown++, PHILOX_CHANGES, pair);
}

/* One step is left out, comes once more, shares its caps with a second, or changes
 * places with the next. */
static void change_steps(const impact_ends *ends, impact_plan *plan,
                         dice *dice) {
  double pair[2], part[2];
  throw_pair(dice, pair);
  throw_pair(dice, part);
  int width = width_of(ends), n = plan->n_steps, what = (int)(4 * pair[0]);
  int step = (int)(pair[1] * n);
  size_t row = (size_t)width * sizeof *plan->draws;
  double *at = plan->draws + step * width, *next = at + width;
  bool has_next = step + 1 < n;
  if (what == 0 && n > 1) {
    if (has_next) memmove(at, next, (size_t)(n - step - 1) * row);
    plan->n_steps--;
  } else if (what == 1 && has_next) {
    for (int i = 0; i < width; i++) {
      double kept = at[i];
      at[i] = next[i];
      next[i] = kept;
    }
  } else if (n < ends->most_steps) {
    memmove(next, at, (size_t)(n - step) * row);
    plan->n_steps++;
    for (int i = 0; i < width - 1 && what == 2; i++) {
      next[i] = valid_part(at[i] * (1 - part[0]));
      at[i] = valid_part(at[i] * part[0]);
    }
    for (int i = 0; i < width - 1 && what == 3; i++) {
      throw_pair(dice, pair);
      at[i] = any_cap(pair);
    }
  }
}

static void change_number(const impact_ends *ends, impact_plan *plan, int place,
                          dice *dice, double scale) {
  double pair[2], more[2];
  int width = width_of(ends);
  throw_pair(dice, pair);
  throw_pair(dice, more);
  double *part = &plan->draws[place];
  if (place % width == width - 1)
    *part = more[0]; // another solution
  else if (scale > 0)
    *part = valid_part(*part + scale * (2 * more[1] - 1));
  else if (pair[1] < CHANGED_ANEW)
    *part = any_cap(more);
  else
    *part = valid_part(*part +
                       pow(10, -MOVE_DECADES * more[0]) * (2 * more[1] - 1));
}

/* Further the way that the last progress went. */
static void go_along(const impact_ends *ends, impact_plan *plan,
                     const impact_end *end, dice *dice) {
  double pair[2];
  throw_pair(dice, pair);
  double far = pow(10, 5 * pair[0] - 3);
  int width = width_of(ends);
  for (int i = 0; i < plan->n_steps * width; i++)
    if (i % width < width - 1)
      plan->draws[i] = valid_part(
          plan->draws[i] + far * (end->best.draws[i] - end->older.draws[i]));
}

static void change_plan(const impact_ends *ends, impact_plan *plan,
                        const impact_end *from, dice *dice) {
  double pair[2], more[2];
  throw_pair(dice, pair);
  throw_pair(dice, more);
  int width = width_of(ends);
  if (more[0] < OTHER_STEPS)
    change_steps(ends, plan, dice);
  else if (more[0] < OTHER_STEPS + ALONG &&
           from->older.n_steps == plan->n_steps) {
    go_along(ends, plan, from, dice);
    return;
  } else if (more[0] < OTHER_STEPS + ALONG + WHOLE_STEP) {
    int step = (int)(pair[0] * plan->n_steps);
    double scale = pow(10, -MOVE_DECADES * pair[1]);
    for (int i = 0; i < width - 1; i++)
      change_number(ends, plan, step * width + i, dice, scale);
    return;
  }
  int n_changes = 1 + (int)(3 * pair[1]);
  for (int i = 0; i < n_changes; i++) {
    throw_pair(dice, more);
    change_number(ends, plan, (int)(more[0] * plan->n_steps * width), dice, 0);
  }
}

/* An aim: a contact, one of its directions, and which way; 0: the normal. */
typedef struct aim {
  int contact, direction;
  bool lowest;
} aim;

static aim aim_of(const impact_ends *ends, int i) {
  int per = ends->space->n_tangents == 1 ? 2 : 3;
  uint64_t first = ends->block * (uint64_t)ends->n_aims;
  int end = (int)((first + (uint64_t)i) % (uint64_t)ends_of(ends->space));
  return (aim){end / 2 / per, end / 2 % per, end % 2 == 1};
}

/* How far an outcome goes to an end, in the caller's directions. */
static double reach(const impact_ends *ends, int i, const double c[]) {
  const contact_space *space = ends->space;
  aim aim = aim_of(ends, i);
  const double *of_contact = &c[aim.contact * space->per_contact];
  double value = of_contact[0], slip[2];
  if (aim.direction > 0) {
    contact_space_slip(space, aim.contact, &of_contact[1], slip);
    value = slip[aim.direction - 1];
  }
  return aim.lowest ? -value : value;
}

/* Nothing is left to look for: no outcome approaches. */
static bool is_met(const impact_ends *ends, int i) {
  aim aim = aim_of(ends, i);
  return aim.direction == 0 && aim.lowest && ends->aims[i].value >= 0;
}

/* One of those that are not met, by a number in (0, 1). */
static int choose_aim(const impact_ends *ends, double number) {
  int n_open = 0;
  for (int i = 0; i < ends->n_aims; i++) n_open += !is_met(ends, i);
  int left = (int)(number * n_open);
  for (int i = 0; i < ends->n_aims; i++)
    if (!is_met(ends, i) && left-- == 0) return i;
  return 0;
}

static double throw_one(void *context) {
  double pair[2];
  throw_pair(context, pair);
  return pair[0];
}

/* The part of the velocity at the end of a way that is to grow. */
static void write_direction(const impact_ends *ends, int i, double toward[]) {
  int n = ends->space->n_rows;
  double one[CLIMB_MOST_ROWS];
  for (int row = 0; row < n; row++) {
    memset(one, 0, (size_t)n * sizeof *one);
    one[row] = 1;
    toward[row] = reach(ends, i, one);
  }
}

static void read_parts(const impact_ends *ends, impact_plan *plan) {
  int n = ends->space->n_rows, m = ends->space->n_contacts;
  for (int step = 0; step < plan->way.n_steps; step++)
    for (int i = 0; i < m; i++)
      plan->draws[step * (m + 1) + i] =
          valid_part(plan->way.inputs[step * (n + m) + n + i] / ends->climb.h);
}

/* Plan the furthest that a way can be brought to by linear programs, each in the modes
 * that the last one ended in or at the border of; or nearly: at the very end of a mode
 * rounding may put the sample to the wrong side. */
static bool climb_from(impact_ends *ends, const impact_plan *from, int aim,
                       dice *dice) {
  int n = ends->space->n_rows, m = ends->space->n_contacts;
  impact_plan *plan = &ends->planned;
  double toward[CLIMB_MOST_ROWS], pair[2];
  if (from->way.n_steps * m > ends->climb.most_caps) return false;
  write_direction(ends, aim, toward);
  copy_plan(ends, plan, from);
  int n_idle = 0, n_gained = 0;
  for (int i = 0; i < MOST_PROGRAMS && n_idle < MOST_IDLE; i++) {
    // the way is one ahead of the draws
    if (n_idle == 0 && n_gained > 0) read_parts(ends, plan);
    bool gains =
        climb_go(&ends->climb, &plan->way, toward, LEAST_CAP, throw_one, dice);
    n_idle = gains ? 0 : n_idle + 1;
    n_gained += gains;
  }
  if (n_gained == 0) {
    plan->n_steps = plan->way.n_steps = 0;
    return false;
  }
  throw_pair(dice, pair);
  double short_by = pair[0] < 0.5 ? 0 : pow(10, -8 * pair[1]);
  for (int step = 0; step < plan->way.n_steps; step++)
    for (int i = 0; i < m; i++) {
      double *part = &plan->draws[step * (m + 1) + i];
      double to = plan->way.inputs[step * (n + m) + n + i] / ends->climb.h;
      *part = valid_part(to + short_by * (*part - to));
    }
  return true;
}

/* Where a climb begins: caps drawn anew, or changes to the best sample for its end, or
 * for another. */
static void begin_climb(impact_ends *ends, dice *dice) {
  double pair[2], more[2];
  throw_pair(dice, pair);
  throw_pair(dice, more);
  ends->aim = choose_aim(ends, pair[1]);
  ends->climbed.way.n_steps = 0;
  ends->n_failed = 0;
  int from = more[0] < FROM_OTHER ? (int)(more[1] * ends->n_aims) : ends->aim;
  const impact_end *end = &ends->aims[from];
  double anew = ends->climb.most_caps > 0 ? DRAWN_ANEW : DRAWN_WITHOUT_CLIMBS;
  if (pair[0] < anew || end->best.n_steps == 0) return;
  copy_plan(ends, &ends->planned, &end->best);
  ends->planned.way.n_steps = 0;
  change_plan(ends, &ends->planned, end, dice);
}

void impact_ends_begin(impact_ends *ends, uint64_t sample) {
  dice dice = {ends->seed, sample, 0};
  ends->next++;
  ends->planned.n_steps = ends->planned.way.n_steps = 0;
  if (ends->climbed.way.n_steps > 0)
    for (; ends->n_failed < MOST_FAILED; ends->n_failed++)
      if (climb_from(ends, &ends->climbed, ends->aim, &dice)) return;
  begin_climb(ends, &dice);
}

const double *impact_ends_draw(impact_ends *ends, uint64_t sample, int step) {
  int m = ends->space->n_contacts, width = m + 1;
  // beyond what is handed on one place is enough
  int row = step < IMPACT_ENDS_STEPS ? step : IMPACT_ENDS_STEPS - 1;
  double *draw = ends->tried.draws + row * width, pair[2];
  if (step < ends->planned.n_steps) {
    memcpy(draw, &ends->planned.draws[row * width],
           (size_t)width * sizeof *draw);
    return draw;
  }
  for (int i = 0; i < m; i++) {
    philox_pair(ends->seed, sample, (uint32_t)step, (uint32_t)(PHILOX_ENDS + i),
                pair);
    draw[i] = any_cap(pair);
  }
  philox_pair(ends->seed, sample, (uint32_t)step, PHILOX_SOLUTION, pair);
  draw[m] = pair[0];
  return draw;
}

void impact_ends_note(impact_ends *ends, int step, const double inputs[],
                      const double lambda[], const double reached[]) {
  if (step >= IMPACT_ENDS_STEPS - 1) return;
  impact_way *way = &ends->tried.way;
  size_t n = (size_t)ends->space->n_rows, n_inputs = inputs_of(ends);
  size_t at = (size_t)step;
  memcpy(&way->inputs[at * n_inputs], inputs, n_inputs * sizeof(double));
  memcpy(&way->lambdas[at * n], lambda, n * sizeof(double));
  memcpy(&way->reached[at * n], reached, n * sizeof(double));
}

void impact_ends_finish(impact_ends *ends, const double c[], int n_steps) {
  bool fits = n_steps < IMPACT_ENDS_STEPS;
  ends->tried.way.n_steps = c != NULL && fits ? n_steps : 0;
  ends->n_failed++;
  if (c == NULL) return;
  // the last row is no step's own where there are more
  ends->tried.n_steps = fits ? n_steps : IMPACT_ENDS_STEPS - 1;
  double height = reach(ends, ends->aim, c);
  bool begins = ends->climbed.way.n_steps == 0;
  if (begins || height > ends->height) {
    copy_plan(ends, &ends->climbed, &ends->tried);
    ends->height = height;
    ends->n_failed = 0;
  }
  for (int i = 0; i < ends->n_aims; i++) {
    impact_end *end = &ends->aims[i];
    double value = reach(ends, i, c);
    if (value < end->value) continue;
    if (value > end->value) {
      impact_plan spare = end->older;
      end->older = end->best;
      end->best = spare;
    }
    end->value = value;
    copy_plan(ends, &end->best, &ends->tried);
  }
}
