/* The search, compiled twice: contact_search_wide.c includes this file with SEARCH_WIDE,
 * for numbers of 34 digits. Each kind of number defines
 *
 *   add_scaled   (to, factor, from, n): to[k] += factor from[k]; n is a multiple of 4
 *   FLAT         dictionary entries below this are rounding: those of the first one are
 *                at most 1, and of what is kept none is below one over the largest
 *                friction
 *   NO_PIVOT     pivots of the impulses' equations below this are rounding
 *   LEAST_PART   no variable is held to less than this part of the tolerance: rounding
 *                would contradict what is true. What passes is worked out exactly and
 *                checked
 *   rank_of      (a number > 0, whether it counts) in the same order, or 0
 *
 * What comes in and goes out are doubles. */
#include "impacts/contact_search.h"

#include <math.h>
#include <string.h>

#include "common/six.h"

#ifdef SEARCH_WIDE

#ifdef __SIZEOF_FLOAT128__
typedef __float128 number;
#else
typedef long double number; // where it has 34 digits itself, or fewer
#endif
#define FLAT 1e-24
#define NO_PIVOT 1e-25
/* To this part of the velocity scale conditions hold here: where velocities hardly
 * tell impulses apart no solution is lost between two decisions. */
#define FINE 1e-20
#define LEAST_PART 1e-9
#define HAS_WIDE_ROWS 0

static inline void add_scaled(number to[], number factor, const number from[],
                              int n) {
  for (int k = 0; k < n; k++) to[k] += factor * from[k];
}

typedef number rank;
static inline rank rank_of(number size, bool counts) {
  return counts ? size : 0;
}

#else

typedef double number;
#define FLAT 1e-10
#define NO_PIVOT 1e-11
#define LEAST_PART 1e-3
#define HAS_WIDE_ROWS SIX_HAS_WIDE

KERNEL void add_scaled(number to[], number factor, const number from[], int n) {
  const four factors = {factor, factor, factor, factor};
  const four *fours = (const four *)from;
  for (int k = 0; k < n / 4; k++) ((four *)to)[k] += factors * fours[k];
}

/* Bits of numbers > 0 are in their order, and compared without branches. */
typedef int64_t rank;
static inline rank rank_of(number size, bool counts) {
  rank bits;
  memcpy(&bits, &size, sizeof bits);
  return bits & -(rank)counts;
}

#endif

/* A step on a dictionary entry below this asks for a new dictionary first: without it
 * three flat feet take twice as many products. */
#define SLIGHT 1e-6

/* After a pivot this small, a contradiction by so many tolerances at most is
 * looked at again on a new dictionary. */
#define WEAK_PIVOT 1e-2
#define IN_DOUBT 1e6

/* A violated row gets the largest entry of those that help it for so many steps in a row;
 * from then on the lowest number, which cannot cycle: three flat feet would. */
#define GREEDY_STEPS 60

/* Simplex steps from one question of the kind to the next. */
#define ASKED_EVERY 256

enum { UNDECIDED = -1, SEPARATING, CLOSED, CAPPED };
enum { STICKING, FORWARDS, BACKWARDS };

/* What a contact's variables are, by their place in its block, T tangents; in
 * velocity units, each by the largest velocity that one N s of it causes:
 *
 *   PUSH             lambda_n
 *   1 .. T           s_t: columns of the first dictionary, as the push
 *   T + 2t-1, T + 2t the room in the friction cone, bound lambda_n +- s_t; where
 *                    friction has no limit s_1 +- s_2 (or s_1)
 *   3T + 1 ..        the changes of the velocities, normal and tangents: A lambda
 *
 * Where friction is large a push of the smallest size counts: room and push are
 * held to the tolerance over the number of pushes that a friction impulse is. */
enum { PUSH };

typedef struct bound_change {
  int variable;
  number low, high; /* before */
} bound_change;

typedef struct search {
  const contact_space *space;
  const number *start, *A;
  const double *c, *caps;
  int n, n_basic, n_variables, stride, block;
  number *T;     /* n_basic x stride, basic by nonbasic variables */
  number *value; /* [n_variables] */
  number *low, *high;
  int *basic;    /* [n_basic] */
  int *nonbasic; /* [n] */
  int *place;    /* [n_variables] row r >= 0, or column k as -1 - k */
  bound_change *trail;
  int n_trail;
  int *order;                /* [n] see solve_system */
  int *normal, *tangent;     /* [m], [n]: what is decided */
  number *system;            /* n x (n + 1) */
  number *impulses;          /* [n] */
  const number *push_weight; /* [m] */
  const number *part;        /* [n_variables] of the tolerance */
  number tolerance;
  number apart;      /* m/s: what separates or slips does so by at least this */
  double checked_to; /* m/s, on the doubles that come out */
  number smallest_pivot; /* since the dictionary was new */
  long pivots, max_pivots, fresh_since;
  contact_found *found;
  bool cut_short;
} search;

static inline number greater_of(number a, number b) { return a > b ? a : b; }
static inline number lesser_of(number a, number b) { return a < b ? a : b; }
static inline number size_of(number a) {
  return sizeof a == sizeof(double) ? (number)fabs((double)a) : a < 0 ? -a : a;
}

/* ---- the first dictionary ---------------------------------------------- */

static int block_size(const contact_space *space) {
  return 2 + 4 * space->n_tangents;
}

static int row_stride(const contact_space *space) {
  return (space->n_rows + 3) / 4 * 4;
}

static bool is_endless(const contact_space *space, int contact) {
  return space->bound[contact] == INFINITY;
}

static number weight_of(const contact_space *space, int row) {
  return space->weight[row] > 0 ? space->weight[row] : 1;
}

static int basic_size(const contact_space *space) {
  return 1 + 3 * space->n_tangents; // of a contact's variables
}

static size_t start_size(const contact_space *space) {
  size_t m = (size_t)space->n_contacts;
  return m * (size_t)(basic_size(space) * row_stride(space)) // dictionary
         + m * (size_t)(1 + block_size(space)); // weights, tolerances
}

/* How many pushes the largest friction impulse is, in velocity units. */
static number cone_slope(const contact_space *space, int row,
                         const number push_weight[]) {
  int contact = space->contact_of[row];
  return space->bound[contact] * weight_of(space, row) / push_weight[contact];
}

/* The rows of a contact's basic variables: room in its cone, velocities. */
static void write_block(const contact_space *space, const number A[],
                        int contact, const number push_weight[], number rows[],
                        number part[]) {
  int T = space->n_tangents, n = space->n_rows, per = space->per_contact;
  int stride = row_stride(space), normal = contact * per;
  bool endless = is_endless(space, contact);
  number *next = rows, largest = 1;
  for (int k = 0; k < block_size(space); k++)
    part[k] = k >= 1 && k <= T && !endless ? 0 : 1;
  for (int t = 1; t <= T; t++)
    for (int side = 1; side >= -1; side -= 2, next += stride) {
      if (endless) {
        // s_1 +- s_2, each of them twice; of one tangent s_1
        number one = 1 / weight_of(space, normal + 1);
        number two = T >= 2 ? 1 / weight_of(space, normal + 2) : 0;
        next[normal + 1] = one / greater_of(one, two);
        if (T >= 2) next[normal + 2] = side * two / greater_of(one, two);
      } else {
        number slope = cone_slope(space, normal + t, push_weight);
        number size = greater_of(1, slope);
        next[normal] = slope / size;
        next[normal + t] = side / size;
        part[T + 2 * t - (side > 0)] = greater_of(1 / size, LEAST_PART);
        largest = greater_of(largest, size);
      }
    }
  part[PUSH] = greater_of(1 / largest, LEAST_PART);
  for (int row = normal; row <= normal + T; row++, next += stride)
    for (int other = 0; other < space->n_contacts; other++) {
      const number *own = &A[row * n + other * per];
      number *entry = &next[other * per];
      entry[0] = own[0] / push_weight[other];
      for (int t = 1; t <= T; t++)
        entry[t] = own[t] / weight_of(space, other * per + t);
    }
}

static void prepare(const contact_space *space, const number A[],
                    number start[]) {
  int m = space->n_contacts, n = space->n_rows, block = block_size(space);
  int rows = basic_size(space) * row_stride(space);
  number *push_weight = start + m * rows, *part = push_weight + m;
  memset(start, 0, start_size(space) * sizeof *start);
  for (int i = 0; i < m; i++)
    for (int row = 0; row < n; row++)
      push_weight[i] = greater_of(push_weight[i],
                                  size_of(A[row * n + i * space->per_contact]));
  for (int i = 0; i < m; i++)
    write_block(space, A, i, push_weight, &start[i * rows], &part[i * block]);
}

/* See contact_search_wide_scratch. */
static void lay_out(search *s, number scratch[]) {
  int m = s->space->n_contacts;
  s->T = scratch;
  s->value = s->T + s->n_basic * s->stride;
  s->low = s->value + s->n_variables;
  s->high = s->low + s->n_variables;
  s->system = s->high + s->n_variables;
  s->impulses = s->system + s->n * (s->n + 1);
  s->trail = (bound_change *)(s->impulses + s->n);
  s->basic = (int *)(s->trail + 8 * s->n + s->n_variables);
  s->nonbasic = s->basic + s->n_basic;
  s->place = s->nonbasic + s->n;
  s->normal = s->place + s->n_variables;
  s->tangent = s->normal + m;
  s->order = s->tangent + s->n;
}

/* The dictionary at no impulse. */
static void write_first_dictionary(search *s) {
  int T = s->space->n_tangents, row = 0, column = 0;
  memcpy(s->T, s->start, (size_t)(s->n_basic * s->stride) * sizeof *s->T);
  for (int v = 0; v < s->n_variables; v++) {
    int within = v % s->block;
    if (within <= T) {
      s->nonbasic[column] = v;
      s->place[v] = -1 - column++;
    } else {
      s->basic[row] = v;
      s->place[v] = row++;
    }
  }
}

/* Conditions that every solution keeps. */
static void write_first_bounds(search *s) {
  const contact_space *space = s->space;
  int T = space->n_tangents;
  for (int i = 0; i < space->n_contacts; i++) {
    int first = i * s->block;
    bool endless = is_endless(space, i);
    s->low[first + PUSH] = 0;
    s->high[first + PUSH] = s->caps[i] * s->push_weight[i];
    // without a cap to reach a contact takes no part
    s->normal[i] = s->caps[i] > 0 ? UNDECIDED : SEPARATING;
    for (int k = 1; k < s->block; k++) {
      bool room = k > T && k <= 3 * T && !endless;
      bool still = k <= T && s->normal[i] == SEPARATING;
      s->low[first + k] = room || still ? 0 : -INFINITY;
      s->high[first + k] = still ? 0 : INFINITY;
    }
  }
  memset(s->value, 0, (size_t)s->n_variables * sizeof *s->value);
}

/* ---- simplex steps ----------------------------------------------------- */

/* Friction with a limit is unbounded itself: once basic, its row says nothing
 * more, and is left as it is. */
static inline bool is_unused(const search *s, int v) { return s->part[v] == 0; }

/* The effect of an exchange on the rows but its own. */
KERNEL void update_rows_of(search *s, int row, int column, number inverse,
                           int stride) {
  const number *pivot_row = &s->T[row * stride];
  for (int i = 0; i < s->n_basic; i++) {
    number *other = &s->T[i * stride], factor = other[column];
    if (i == row || factor == 0 || is_unused(s, s->basic[i])) continue;
    add_scaled(other, factor, pivot_row, stride);
    other[column] = factor * inverse; // in place of what the sum left
  }
}

/* Constant sizes let the compiler unroll eight planar contacts and five with two
 * tangents. */
KERNEL void update_rows_any(search *s, int row, int column, number inverse) {
  if (s->stride == 16)
    update_rows_of(s, row, column, inverse, 16);
  else
    update_rows_of(s, row, column, inverse, s->stride);
}

#if HAS_WIDE_ROWS
WIDE static void update_rows_wide(search *s, int row, int column,
                                  number inverse) {
  update_rows_any(s, row, column, inverse);
}
#endif

static void update_rows(search *s, int row, int column, number inverse) {
#if HAS_WIDE_ROWS
  if (six_is_wide()) {
    update_rows_wide(s, row, column, inverse);
    return;
  }
#endif
  update_rows_any(s, row, column, inverse);
}

/* Exchange basic row `row` and column `column`. */
static void exchange(search *s, int row, int column) {
  number *pivot_row = &s->T[row * s->stride];
  number inverse = 1 / pivot_row[column];
  s->smallest_pivot = lesser_of(s->smallest_pivot, size_of(pivot_row[column]));
  for (int k = 0; k < s->stride; k++) pivot_row[k] *= -inverse;
  pivot_row[column] = inverse;
  update_rows(s, row, column, inverse);
  int leaving = s->basic[row], entering = s->nonbasic[column];
  s->basic[row] = entering;
  s->nonbasic[column] = leaving;
  s->place[entering] = row;
  s->place[leaving] = -1 - column;
}

/* Move a nonbasic variable, and the basic ones with it. */
static void move(search *s, int column, number by) {
  s->value[s->nonbasic[column]] += by;
  for (int i = 0; i < s->n_basic; i++)
    if (!is_unused(s, s->basic[i]))
      s->value[s->basic[i]] += s->T[i * s->stride + column] * by;
}

static void compute_values(search *s) {
  for (int i = 0; i < s->n_basic; i++) {
    number sum = 0;
    for (int k = 0; k < s->n; k++)
      sum += s->T[i * s->stride + k] * s->value[s->nonbasic[k]];
    s->value[s->basic[i]] = sum;
  }
}

/* The same basis out of the first dictionary, without the rounding since. */
static void make_anew(search *s) {
  // the columns wanted; kept in the place of the system, which is not in use
  char *wanted = (char *)s->system;
  memset(wanted, 0, (size_t)s->n_variables);
  for (int k = 0; k < s->n; k++) wanted[s->nonbasic[k]] = 1;
  write_first_dictionary(s);
  for (;;) {
    int row = -1, column = -1;
    number best = FLAT;
    for (int i = 0; i < s->n_basic; i++) {
      if (!wanted[s->basic[i]]) continue;
      for (int k = 0; k < s->n; k++) {
        number size = size_of(s->T[i * s->stride + k]);
        if (wanted[s->nonbasic[k]] || size <= best) continue;
        best = size;
        row = i;
        column = k;
      }
    }
    if (row < 0) break;
    exchange(s, row, column);
    s->pivots += 2; // as many products again for the choice of the pivot
  }
  // a nonbasic variable must lie within its bounds
  for (int k = 0; k < s->n; k++) {
    int v = s->nonbasic[k];
    s->value[v] = lesser_of(greater_of(s->value[v], s->low[v]), s->high[v]);
  }
  compute_values(s);
  s->fresh_since = s->pivots;
  s->smallest_pivot = 1;
}

static number violation(const search *s, int v) {
  return greater_of(s->low[v] - s->value[v], s->value[v] - s->high[v]);
}

/* The basic row that violates its bounds most, or where `careful` is of the lowest
 * variable that does; -1: none does. Which one it is cannot
 * be guessed, so this chooses without branches, and so does helping_column. */
static int violated_row(const search *s, bool careful) {
  int chosen = -1;
  rank worst = 0;
  for (int i = 0; i < s->n_basic; i++) {
    int v = s->basic[i];
    number by = violation(s, v);
    number size = careful ? s->n_variables - v : by;
    rank own = rank_of(size, by > s->tolerance * s->part[v]);
    chosen = own > worst ? i : chosen;
    worst = own > worst ? own : worst;
  }
  return chosen;
}

/* Can a nonbasic variable move as a slope asks of it? */
static inline bool can_help(const search *s, int v, number slope) {
  bool up = slope > 0, below = s->value[v] < s->high[v];
  bool above = s->value[v] > s->low[v];
  return (up & below) | (!up & above);
}

/* The column that can move row's variable up (direction 1) or down (-1) and has the
 * largest entry, or where `careful` is the lowest of them. */
static int helping_column(const search *s, int row, number direction,
                          bool careful) {
  const number *T = &s->T[row * s->stride];
  int chosen = -1;
  rank best = 0;
  for (int k = 0; k < s->n; k++) {
    number slope = direction * T[k], size = size_of(slope);
    int v = s->nonbasic[k];
    rank own = rank_of(careful ? s->n_variables - v : size,
                       (size > FLAT) & can_help(s, v, slope));
    chosen = own > best ? k : chosen;
    best = own > best ? own : best;
  }
  return chosen;
}

/* Somebody who asks for the end of a search is heard within some simplex steps. */
static bool is_interrupted(search *s) {
  contact_found *found = s->found;
  if (found->interrupted == NULL || s->pivots % ASKED_EVERY != 0) return false;
  found->stopped = found->interrupted(found->context) != 0;
  return found->stopped;
}

/* Is there a point within all bounds? It is then where the dictionary is. */
static bool is_feasible(search *s) {
  for (int step = 0;; step++) {
    bool careful = step > GREEDY_STEPS;
    int row = violated_row(s, careful);
    if (row < 0) return true;
    int v = s->basic[row];
    bool too_low = s->value[v] < s->low[v];
    int column = helping_column(s, row, too_low ? 1 : -1, careful);
    if (column < 0) {
      // turn back only for what rounding cannot be the reason of
      if (s->pivots == s->fresh_since || s->smallest_pivot >= WEAK_PIVOT ||
          violation(s, v) > IN_DOUBT * s->tolerance)
        return false;
      make_anew(s);
      continue;
    }
    if (s->pivots > s->fresh_since &&
        size_of(s->T[row * s->stride + column]) < SLIGHT) {
      make_anew(s);
      continue;
    }
    s->pivots++;
    if (s->pivots > s->max_pivots || is_interrupted(s)) {
      s->cut_short = true;
      return false;
    }
    number bound = too_low ? s->low[v] : s->high[v];
    move(s, column, (bound - s->value[v]) / s->T[row * s->stride + column]);
    s->value[v] = bound;
    exchange(s, row, column);
  }
}

static void set_bounds(search *s, int v, number low, number high) {
  s->trail[s->n_trail++] = (bound_change){v, s->low[v], s->high[v]};
  s->low[v] = greater_of(low, s->low[v]);
  s->high[v] = lesser_of(high, s->high[v]);
  if (s->place[v] >= 0) return;
  number to = lesser_of(greater_of(s->value[v], s->low[v]), s->high[v]);
  if (to != s->value[v]) move(s, -1 - s->place[v], to - s->value[v]);
}

static void take_back(search *s, int n_trail) {
  while (s->n_trail > n_trail) {
    const bound_change *change = &s->trail[--s->n_trail];
    s->low[change->variable] = change->low;
    s->high[change->variable] = change->high;
  }
}

/* ---- a solution -------------------------------------------------------- */

/* Bring variables that are fixed out of the basis, so that what is 0 by a
 * decision is 0 in the system too. */
static void drive_out_fixed(search *s) {
  for (int i = 0; i < s->n_basic; i++) {
    int v = s->basic[i], column = -1;
    if (s->low[v] != s->high[v]) continue;
    number best = 1e-6;
    for (int k = 0; k < s->n; k++) {
      int other = s->nonbasic[k];
      number size = size_of(s->T[i * s->stride + k]);
      if (s->low[other] == s->high[other] || size <= best) continue;
      best = size;
      column = k;
    }
    if (column < 0) continue;
    move(s, column, (s->low[v] - s->value[v]) / s->T[i * s->stride + column]);
    s->value[v] = s->low[v];
    exchange(s, i, column);
  }
}

/* What says that nonbasic variable v has its value, as an equation of the
 * impulses. */
static void write_equation(const search *s, int v, number equation[]) {
  const contact_space *space = s->space;
  int T = space->n_tangents, n = s->n;
  int contact = v / s->block, within = v % s->block;
  int normal = contact * space->per_contact;
  memset(equation, 0, (size_t)n * sizeof *equation);
  number right = s->value[v];
  if (within == PUSH) {
    equation[normal] = 1;
    right /= s->push_weight[contact];
  } else if (within <= T) {
    equation[normal + within] = 1;
    right /= weight_of(space, normal + within);
  } else if (within > 3 * T) {
    int row = normal + within - 1 - 3 * T;
    for (int k = 0; k < n; k++) equation[k] = s->A[row * n + k];
  } else if (!is_endless(space, contact)) {
    int t = (within - T + 1) / 2;
    equation[normal] = space->bound[contact];
    equation[normal + t] = (within - T) % 2 == 1 ? 1 : -1;
    right *= greater_of(1, cone_slope(space, normal + t, s->push_weight)) /
             weight_of(space, normal + t);
  } else {
    // s_1 +- s_2, or s_1
    number one = 1 / weight_of(space, normal + 1);
    number two = T >= 2 ? 1 / weight_of(space, normal + 2) : 0;
    equation[normal + 1] = 1;
    if (T >= 2) equation[normal + 2] = (within - T) % 2 == 1 ? 1 : -1;
    right *= greater_of(one, two);
  }
  number size = 0;
  for (int k = 0; k < n; k++) size = greater_of(size, size_of(equation[k]));
  if (size > 0)
    for (int k = 0; k < n; k++) equation[k] /= size;
  equation[n] = size > 0 ? right / size : 0;
}

static void swap(number *a, number *b) {
  number kept = *a;
  *a = *b;
  *b = kept;
}

/* Gauss with complete pivoting on rows of size 1. Where nothing but rounding is
 * left, contacts repeat each other and impulses are not unique: those that
 * remain are 0, so that none is large for nothing. `order` is [n] scratch. */
static void solve_system(int n, number system[], int order[], number x[]) {
  int width = n + 1, rank = 0;
  for (int k = 0; k < n; k++) order[k] = k;
  for (; rank < n; rank++) {
    int row = rank, column = rank;
    number best = NO_PIVOT;
    for (int i = rank; i < n; i++)
      for (int j = rank; j < n; j++)
        if (size_of(system[i * width + j]) > best) {
          best = size_of(system[i * width + j]);
          row = i;
          column = j;
        }
    if (best == NO_PIVOT) break;
    for (int j = 0; j <= n && row != rank; j++)
      swap(&system[rank * width + j], &system[row * width + j]);
    for (int i = 0; i < n && column != rank; i++)
      swap(&system[i * width + rank], &system[i * width + column]);
    int kept = order[rank];
    order[rank] = order[column];
    order[column] = kept;
    for (int i = rank + 1; i < n; i++) {
      number factor = system[i * width + rank] / system[rank * width + rank];
      for (int j = rank; j <= n && factor != 0; j++)
        system[i * width + j] -= factor * system[rank * width + j];
    }
  }
  memset(x, 0, (size_t)n * sizeof *x);
  for (int k = rank - 1; k >= 0; k--) {
    number sum = system[k * width + n];
    for (int j = k + 1; j < rank; j++)
      sum -= system[k * width + j] * x[order[j]];
    x[order[k]] = sum / system[k * width + k];
  }
}

/* Keep impulses within their bounds, and find the velocities; a row that is
 * closed or sticks ends at 0. False: it does not, by more than rounding. */
static bool finish(const search *s, number impulses[], double lambda[],
                   double reached[]) {
  const contact_space *space = s->space;
  for (int i = 0; i < space->n_contacts; i++) {
    number *own = &impulses[i * space->per_contact];
    own[0] = lesser_of(greater_of(own[0], 0), s->caps[i]);
    if (s->normal[i] == SEPARATING)
      memset(own, 0, (size_t)space->per_contact * sizeof *own);
    if (is_endless(space, i)) continue;
    number limit = space->bound[i] * own[0];
    for (int t = 1; t <= space->n_tangents; t++)
      own[t] = lesser_of(greater_of(own[t], -limit), limit);
  }
  for (int row = 0; row < s->n; row++) {
    int contact = space->contact_of[row];
    number speed = s->c[row];
    for (int k = 0; k < s->n; k++) speed += s->A[row * s->n + k] * impulses[k];
    bool zero = row == space->normal_of[row]
                    ? s->normal[contact] == CLOSED
                    : s->normal[contact] != SEPARATING &&
                          space->bound[contact] > 0 &&
                          s->tangent[row] == STICKING;
    if (zero && size_of(speed) > s->checked_to) return false;
    if (zero || size_of(speed) <= 1e-13 * space->scale) speed = 0;
    lambda[row] = (double)impulses[row];
    reached[row] = (double)speed;
  }
  return true;
}

/* The solution that the dictionary is at. False: it is none, by more than rounding. */
static bool write_solution(search *s, double lambda[], double reached[]) {
  int n = s->n;
  for (int k = 0; k < n; k++)
    write_equation(s, s->nonbasic[k], &s->system[k * (n + 1)]);
  solve_system(n, s->system, s->order, s->impulses);
  return finish(s, s->impulses, lambda, reached) &&
         contact_space_violation(s->space, s->caps, lambda, reached) <=
             s->checked_to;
}

/* How a velocity moves with what is outside the basis. */
static number slope_of(const search *s, int row, int column) {
  const contact_space *space = s->space;
  int contact = space->contact_of[row], T = space->n_tangents;
  int v = contact * s->block + 1 + 3 * T + row - space->normal_of[row];
  if (s->place[v] >= 0) return s->T[s->place[v] * s->stride + column];
  return s->place[v] == -1 - column ? 1 : 0;
}

/* Can what is outside the basis still move a velocity? */
static bool is_open(const search *s) {
  for (int k = 0; k < s->n; k++) {
    int v = s->nonbasic[k];
    if (s->low[v] >= s->high[v]) continue;
    for (int row = 0; row < s->n; row++)
      if (size_of(slope_of(s, row, k)) > FLAT) return true;
  }
  return false;
}

/* Does a variable take several values where all is decided? */
static bool varies(const search *s, int v) {
  if (s->low[v] >= s->high[v] || is_unused(s, v)) return false;
  if (s->place[v] < 0) return true;
  const number *T = &s->T[s->place[v] * s->stride];
  for (int k = 0; k < s->n; k++) {
    int other = s->nonbasic[k];
    if (s->low[other] < s->high[other] && size_of(T[k]) > FLAT) return true;
  }
  return false;
}

/* Keep the solution that the dictionary is at, where its leaf, which begins at `first`, has
 * none of its velocity. */
static void keep_corner(search *s, int first) {
  contact_found *found = s->found;
  int n = s->n;
  double *reached = &found->reached[found->count * n];
  if (!write_solution(s, &found->lambdas[found->count * n], reached)) return;
  for (int k = first; k < found->count; k++)
    if (contact_space_is_same(s->space, &found->reached[k * n], reached))
      return;
  found->leaf[found->count++] = found->n_leaves;
}

/* A mode's solutions are a convex polytope, and so are their velocities: where impulses
 * are determined a point; where contacts pinch a body that slips between them, not. Its
 * corners are where so many bounds are met that no velocity is left to move: the search
 * goes on over these, from variable `from` on, as over what contacts do. */
static void keep_corners(search *s, int first, int from) {
  const contact_found *found = s->found;
  drive_out_fixed(s);
  if (found->most == 1 || !is_open(s)) {
    keep_corner(s, first);
    return;
  }
  for (int v = from; v < s->n_variables; v++)
    for (int side = 0; side < 2 && varies(s, v); side++) {
      number bound = side == 0 ? s->low[v] : s->high[v];
      int n_trail = s->n_trail;
      if (found->count == found->most || s->cut_short) return;
      if (size_of(bound) == (number)INFINITY) continue;
      set_bounds(s, v, bound, bound);
      if (is_feasible(s)) keep_corners(s, first, v + 1);
      take_back(s, n_trail);
    }
}

/* The outcome of all decisions: one velocity, or the corners of a continuum. */
static void keep_leaf(search *s) {
  contact_found *found = s->found;
  int first = found->count;
  keep_corners(s, first, 0);
  found->n_continua += found->count > first + 1;
  found->n_leaves += found->count > first;
}

/* ---- the search -------------------------------------------------------- */

static void go_on(search *s);

/* Friction without limit that slips: the largest of its impulses opposes. */
static void bound_endless_slip(search *s, int contact) {
  int first = contact * s->block, normal = contact * s->space->per_contact;
  int T = s->space->n_tangents;
  const number sign[] = {[STICKING] = 0, [FORWARDS] = 1, [BACKWARDS] = -1};
  for (int t = 1; t <= T; t++)
    if (s->tangent[normal + t] == UNDECIDED) return;
  number one = sign[s->tangent[normal + 1]];
  number two = T >= 2 ? sign[s->tangent[normal + 2]] : 0;
  if (one == 0 && two == 0) return;
  set_bounds(s, first + PUSH, 0, 0);
  for (int t = 0; t < 2 && t < T; t++) {
    number side = t == 0 ? one : two;
    if (side != 0)
      set_bounds(s, first + 1 + t, side > 0 ? -INFINITY : 0,
                 side > 0 ? 0 : INFINITY);
  }
  if (T == 1) return;
  // g = - one s_1 or - two s_2; |the other| <= g, and equal where both slip
  number sum[2] = {-INFINITY, INFINITY}, difference[2] = {-INFINITY, INFINITY};
  if (one != 0 && two != 0) {
    number *equal = one == two ? difference : sum;
    equal[0] = equal[1] = 0;
  } else if (one != 0) {
    sum[one > 0] = difference[one > 0] = 0;
  } else {
    sum[two > 0] = difference[two < 0] = 0;
  }
  set_bounds(s, first + T + 1, sum[0], sum[1]);
  set_bounds(s, first + T + 2, difference[0], difference[1]);
}

static void try_tangent(search *s, int row, int state) {
  int contact = s->space->contact_of[row], normal = s->space->normal_of[row];
  int T = s->space->n_tangents, t = row - normal;
  int side = contact * s->block + T + 2 * t - 1;
  int speed = contact * s->block + 1 + 3 * T + t;
  bool endless = is_endless(s->space, contact);
  number apart = s->apart, c = s->c[row];
  int n_trail = s->n_trail;

  s->tangent[row] = state;
  if (state == STICKING) {
    set_bounds(s, speed, -c, -c);
  } else if (state == FORWARDS) {
    set_bounds(s, speed, apart - c, INFINITY);
    if (!endless) set_bounds(s, side, 0, 0);
  } else {
    set_bounds(s, speed, -INFINITY, -apart - c);
    if (!endless) set_bounds(s, side + 1, 0, 0);
  }
  if (endless) bound_endless_slip(s, contact);
  go_on(s);
  take_back(s, n_trail);
  s->tangent[row] = UNDECIDED;
}

static void try_normal(search *s, int row, int state) {
  int contact = s->space->contact_of[row], T = s->space->n_tangents;
  int first = contact * s->block, speed = first + 1 + 3 * T;
  number apart = s->apart, c = s->c[row];
  int n_trail = s->n_trail;
  bool no_friction = state == SEPARATING || s->space->bound[contact] == 0;

  s->normal[contact] = state;
  if (state == SEPARATING) {
    set_bounds(s, speed, apart - c, INFINITY);
    set_bounds(s, first + PUSH, 0, 0);
  } else if (state == CLOSED) {
    set_bounds(s, speed, -c, -c);
  } else {
    number push = s->high[first + PUSH];
    set_bounds(s, speed, -INFINITY, -apart - c);
    set_bounds(s, first + PUSH, push, push);
  }
  bool endless = is_endless(s->space, contact);
  for (int k = 1; no_friction && k <= 3 * T; k++)
    if (endless == (k <= T)) set_bounds(s, first + k, 0, 0);
  go_on(s);
  take_back(s, n_trail);
  s->normal[contact] = UNDECIDED;
}

/* How far a contact is from any decision about its normal. */
static number undecided_normal(const search *s, int contact) {
  int T = s->space->n_tangents, first = contact * s->block;
  number speed =
      s->value[first + 1 + 3 * T] + s->c[contact * s->space->per_contact];
  number push = s->value[first + PUSH], room = s->high[first + PUSH] - push;
  return greater_of(
      0, greater_of(lesser_of(push, speed), lesser_of(room, -speed)));
}

static number undecided_tangent(const search *s, int row) {
  int contact = s->space->contact_of[row], T = s->space->n_tangents;
  int t = row - s->space->normal_of[row], first = contact * s->block;
  number slip = s->value[first + 1 + 3 * T + t] + s->c[row];
  if (is_endless(s->space, contact)) return size_of(slip);
  int side = first + T + 2 * t - 1 + (slip < 0);
  return lesser_of(s->value[side], size_of(slip));
}

/* The next decision: where the point that the dictionary is at is furthest
 * from any decision. That leads to contradictions soonest. -1: all is decided.
 */
static int next_row(const search *s) {
  const contact_space *space = s->space;
  int chosen = -1;
  number most = 0; // of the one chosen; values beyond their bounds are negative
  for (int row = 0; row < s->n; row++) {
    int contact = space->contact_of[row], state = s->normal[contact];
    bool normal = row == space->normal_of[row];
    if (normal ? state != UNDECIDED
               : state == UNDECIDED || state == SEPARATING ||
                     space->bound[contact] == 0 || s->tangent[row] != UNDECIDED)
      continue;
    number by =
        normal ? undecided_normal(s, contact) : undecided_tangent(s, row);
    if (chosen >= 0 && by <= most) continue;
    most = by;
    chosen = row;
  }
  return chosen;
}

/* Decide what is open yet in every way. */
static void decide(search *s) {
  int row = next_row(s);
  if (row < 0) {
    keep_leaf(s);
    return;
  }
  const contact_space *space = s->space;
  int contact = space->contact_of[row];
  bool normal = row == space->normal_of[row];
  for (int state = 0; state < 3; state++) {
    if (s->found->count == s->found->most || s->cut_short) return;
    if (!normal) {
      // a push at its cap and friction without limit: it sticks
      if (state != STICKING && s->normal[contact] == CAPPED &&
          is_endless(space, contact))
        return;
      try_tangent(s, row, state);
    } else if (state != CAPPED || s->caps[contact] < INFINITY) {
      try_normal(s, row, state);
    }
  }
}

static void go_on(search *s) {
  if (is_feasible(s)) decide(s);
}

static void search_all(search *s) {
  write_first_dictionary(s);
  write_first_bounds(s);
  s->fresh_since = s->pivots;
  s->smallest_pivot = 1;
  for (int row = 0; row < s->n; row++) s->tangent[row] = UNDECIDED;
  go_on(s);
}

static search begin(const contact_space *space, const number A[],
                    const number start[], const double c[], const double caps[],
                    double tolerance, long max_pivots, number scratch[]) {
  search s = {.space = space,
              .start = start,
              .A = A,
              .c = c,
              .caps = caps,
              .n = space->n_rows,
              .stride = row_stride(space),
              .block = block_size(space),
              .tolerance = tolerance,
              .apart = 1.5 * (number)tolerance,
              .max_pivots = max_pivots};
  s.n_variables = space->n_contacts * s.block;
  s.n_basic = s.n_variables - s.n;
  s.push_weight = start + s.n_basic * s.stride;
  s.part = s.push_weight + space->n_contacts;
  lay_out(&s, scratch);
  return s;
}

static int solve(const contact_space *space, const number A[],
                 const number start[], const double c[], const double caps[],
                 double tolerance, double checked_to, long max_pivots,
                 number scratch[], contact_found *found) {
  search s = begin(space, A, start, c, caps, tolerance, max_pivots, scratch);
  s.checked_to = checked_to;
  s.found = found;
  found->count = found->n_leaves = found->n_continua = 0;
  found->whole = true;
  found->stopped = false;
  search_all(&s);
  found->pivots = s.pivots;
  found->whole &= !s.cut_short;
  return found->count;
}

/* ---- what is called ------------------------------------------------------ */

#ifdef SEARCH_WIDE

size_t contact_search_wide_scratch(const contact_space *space) {
  size_t m = (size_t)space->n_contacts, n = (size_t)space->n_rows;
  size_t n_variables = m * (size_t)block_size(space);
  size_t n_basic = n_variables - n;
  size_t numbers = n_basic * (size_t)row_stride(space) +
                   3 * n_variables                                // dictionary
                   + n * (n + 2)                                  // system
                   + 3 * (8 * n + n_variables)                    // trail
                   + (n_basic + 3 * n + n_variables + m) / 2 + 1; // indices
  return (n * n + start_size(space) + numbers) * sizeof(number);
}

/* Worked out anew: contacts that repeat each other do so to the last digit, where
 * rounded products would ask for impulses without end. */
static void multiply(const contact_space *space, const contact_factors *factors,
                     number A[]) {
  int n = space->n_rows, per = space->per_contact, s = factors->n_velocities;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int row = factors->contacts[i / per] * per + i % per;
      int column = factors->contacts[j / per] * per + j % per;
      number sum = 0;
      for (int k = 0; k < s; k++)
        sum += (number)factors->J[row * s + k] *
               factors->B[k * factors->n_rows + column];
      A[i * n + j] = sum;
    }
}

int contact_search_wide(const contact_space *space,
                        const contact_factors *factors, const double c[],
                        const double caps[], long max_pivots, void *scratch,
                        contact_found *found) {
  number *A = scratch, *start = A + space->n_rows * space->n_rows;
  multiply(space, factors, A);
  prepare(space, A, start);
  return solve(space, A, start, c, caps, FINE * space->scale,
               100 * IMPACT_FEASIBILITY * space->scale, max_pivots,
               start + start_size(space), found);
}

#else

size_t contact_search_start_size(const contact_space *space) {
  return start_size(space);
}

void contact_search_prepare(const contact_space *space, double start[]) {
  prepare(space, space->A, start);
}

double contact_search_pivot_work(const contact_space *space) {
  return (double)(space->n_contacts * basic_size(space)) *
         (double)row_stride(space);
}

long contact_search_most_pivots(const contact_space *space, double work) {
  return (long)smaller(work / contact_search_pivot_work(space) + 1,
                       CONTACT_SEARCH_MOST_PIVOTS);
}

int contact_search_solve(const contact_space *space, const double start[],
                         const double c[], const double caps[],
                         double tolerance, long max_pivots, double scratch[],
                         contact_found *found) {
  return solve(space, space->A, start, c, caps, tolerance,
               100 * IMPACT_FEASIBILITY * space->scale, max_pivots, scratch,
               found);
}

#endif
