#include "impacts/contact_path.h"

#include <math.h>
#include <string.h>

/* Slopes smaller than this part of the largest entry of A are rounding. */
#define FLAT 1e-11

/* Variables, all >= 0, by number: x_i (0 .. n-1) is how far the impulse of row
 * i is from a bound, w_i (n .. 2n-1) its complement, a speed, theta (2n) the
 * artificial one that Lemke's path starts from. A row that is `turned` measures
 * from its other bound:
 *
 *             normal row                 tangent row
 *   usual     x = lambda_n, w = c_n      x = bound lambda_n + s, w =  c_t
 *   turned    x = cap - lambda_n,        x = bound lambda_n - s, w = -c_t
 *             w = -c_n
 *
 * so x <= cap on normal rows and x <= 2 bound lambda_n on tangent rows. The
 * dictionary writes each basic variable as T[0] + sum over columns T[k] (the
 * k-th nonbasic variable). */
typedef struct path {
  const contact_space *space;
  const double *caps;
  int n, stride;
  double *T;     /* n x stride */
  double *fresh; /* [stride] the pivot row, or a bound written as one */
  double *push, *push_slope; /* [m] see push_of_contacts */
  double *at;                /* [2n] see find_ends */
  /* by variable, so that find_ends need not ask of what kind it is: it may be
     at most ceiling + width lambda_n of its contact */
  double *ceiling, *width; /* [2n + 1] */
  int *contact;            /* [2n + 1] */
  int *is_slip;            /* [2n + 1] a tangent's w */
  int *open;               /* [m] see is_open */
  int *basic;              /* [n] variable of a row */
  int *nonbasic;           /* [n + 2] variable of a column 1 .. n + 1 */
  int *place;              /* [2n + 1] row r >= 0, or column k as -k */
  int *turned;             /* [n] */
  double flat;
} path;

/* Two numbers at once, one by one the same arithmetic; rows of the dictionary
 * are padded to even length and may lie at any double. */
typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));

typedef int64_t pair_mask __attribute__((vector_size(16)));

enum { NOTHING, TO_ZERO, TO_BOUND, OWN_BOUND };

size_t contact_path_scratch(const contact_space *space) {
  size_t n = (size_t)space->n_rows;
  size_t m = (size_t)space->n_contacts;
  return (n + 1) * (n + 3) + 2 * m + 2 * n + 2 * (2 * n + 1) // numbers
         + (5 * n + 3 + 2 * (2 * n + 1) + m) / 2 + 1;        // indices
}

static inline double *row_of(const path *p, int variable) {
  return &p->T[p->place[variable] * p->stride];
}

static inline bool is_basic(const path *p, int variable) {
  return p->place[variable] >= 0;
}

static inline int normal_of(const path *p, int row) {
  return p->space->normal_of[row];
}

static inline double cap_of(const path *p, int row) {
  return p->caps[p->space->contact_of[row]];
}

/* A tangent's x lies between 0 and this many times its contact's lambda_n. */
static inline double width_of(const path *p, int row) {
  return 2 * p->space->bound[p->space->contact_of[row]];
}

/* A separating contact: its friction bound is 0, so the slip may have either
 * sign whichever way its tangent is turned. */
static inline bool is_open(const path *p, int normal, int entering) {
  return !is_basic(p, normal) && !p->turned[normal] && entering != normal;
}

/* Exchange basic row `row` and column `column`: `fresh` gives the entering
 * variable by the leaving one and the others. row -1: the entering variable
 * stays outside, replaced by its distance to its bound. */
static void exchange(path *p, int row, int column) {
  int n_pairs = p->stride / 2;
  const pair *fresh = (const pair *)p->fresh;
  for (int i = 0; i < p->n; i++) {
    double *T = &p->T[i * p->stride], factor = T[column];
    if (i == row) continue;
    pair *pairs = (pair *)T, factors = {factor, factor};
    for (int k = 0; k < n_pairs; k++) pairs[k] += factors * fresh[k];
    T[column] = factor * p->fresh[column]; // after the pairs: a pair cannot be
                                           // loaded while half of it is stored
  }
  if (row < 0) return;
  memcpy(&p->T[row * p->stride], p->fresh, (size_t)p->stride * sizeof *p->T);
  int entering = p->nonbasic[column], leaving = p->basic[row];
  p->basic[row] = entering;
  p->nonbasic[column] = leaving;
  p->place[entering] = row;
  p->place[leaving] = -column;
}

static void pivot(path *p, int row, int column) {
  const double *T = &p->T[row * p->stride];
  double inverse = 1 / T[column];
  const pair *old = (const pair *)T, factors = {-inverse, -inverse};
  pair *fresh = (pair *)p->fresh;
  for (int k = 0; k < p->stride / 2; k++) fresh[k] = old[k] * factors;
  p->fresh[column] = inverse;
  p->fresh[0] = p->fresh[0] > 0 ? p->fresh[0] : 0; // a step back is rounding
  exchange(p, row, column);
}

static void negate_column(path *p, int column) {
  for (int i = 0; i < p->n; i++)
    p->T[i * p->stride + column] = -p->T[i * p->stride + column];
}

/* lambda_n of a contact as an affine function, times `factor`, added to
 * `target`. */
static void add_normal_impulse(const path *p, int normal, double factor,
                               double target[]) {
  double sign = p->turned[normal] ? -factor : factor;
  if (p->turned[normal]) target[0] += factor * cap_of(p, normal);
  if (is_basic(p, normal)) {
    const double *T = row_of(p, normal);
    for (int k = 0; k < p->stride; k++) target[k] += sign * T[k];
  } else {
    target[-p->place[normal]] += sign;
  }
}

/* lambda_n of every contact and its slope along the entering column. */
static void push_of_contacts(const path *p, int column) {
  const contact_space *space = p->space;
  int entering = p->nonbasic[column];
  for (int contact = 0; contact < space->n_contacts; contact++) {
    int normal = contact * space->per_contact;
    bool basic = is_basic(p, normal);
    const double *T = basic ? row_of(p, normal) : p->T;
    double x = basic ? T[0] : 0;
    double slope = basic ? T[column] : entering == normal ? 1 : 0;
    p->push[contact] = p->turned[normal] ? p->caps[contact] - x : x;
    p->push_slope[contact] = p->turned[normal] ? -slope : slope;
    p->open[contact] = is_open(p, normal, entering);
  }
}

/* The first thing that happens when the entering variable grows. */
typedef struct event {
  int kind, row;
} event;

/* Where value - fall t reaches 0; INFINITY when it does not fall. */
static inline double reaches_zero(double value, double fall, double flat) {
  // a value below 0 is rounding; the tiny number keeps 0/0 from being NaN
  return (larger(value, 0) + 1e-300) / (fall > flat ? fall : 0);
}

/* The same for two at once. */
static inline pair reach_zero(pair values, pair falls, double flat) {
  const pair none = {0, 0}, flats = {flat, flat}, tiny = {1e-300, 1e-300};
  values = (pair)((pair_mask)values & (values > none));
  falls = (pair)((pair_mask)falls & (falls > flats));
  return (values + tiny) / falls;
}

/* Fill p->at: where row i ends at zero (2i) and at its bound (2i + 1). Without
 * branches: what a row holds cannot be guessed. */
static double find_ends(path *p, int column) {
  int n = p->n;
  double first = INFINITY;
  for (int i = 0; i < n; i++) {
    const double *T = &p->T[i * p->stride];
    double value = T[0], slope = T[column];
    int variable = p->basic[i], contact = p->contact[variable];
    double width = p->width[variable];
    double room = p->ceiling[variable] + width * p->push[contact] - value;
    double fall = slope - width * p->push_slope[contact];
    pair ends = reach_zero((pair){value, room}, (pair){-slope, fall}, p->flat);
    double zero = p->is_slip[variable] & p->open[contact] ? INFINITY : ends[0];
    p->at[2 * i] = zero;
    p->at[2 * i + 1] = ends[1];
    first = smaller(first, smaller(zero, ends[1]));
  }
  return first;
}

/* Of two events at the same place the one of higher rank is taken: theta, then
 * friction, then the rest. */
static int rank_of(const path *p, int variable) {
  if (variable == 2 * p->n) return 3;
  return variable < p->n && variable != normal_of(p, variable) ? 2 : 1;
}

/* What happens at `first` (within rounding): the highest rank, then the
 * steepest, then the lowest row. */
static event choose_event(const path *p, int column, double first) {
  event best = {NOTHING, -1};
  int best_rank = 0;
  double steepest = 0, last = first * (1 + 1e-12) + 1e-280;
  for (int i = 0; i < p->n; i++)
    for (int end = 0; end < 2; end++) {
      if (p->at[2 * i + end] > last) continue;
      int rank = rank_of(p, p->basic[i]);
      double slope = fabs(p->T[i * p->stride + column]);
      if (rank < best_rank || (rank == best_rank && slope <= steepest))
        continue;
      best = (event){end == 0 ? TO_ZERO : TO_BOUND, i};
      best_rank = rank;
      steepest = slope;
    }
  return best;
}

static event next_event(path *p, int column) {
  int n = p->n, entering = p->nonbasic[column];
  push_of_contacts(p, column);
  double first = find_ends(p, column);

  if (entering < n) {
    int contact = p->space->contact_of[entering];
    bool tangent = entering != normal_of(p, entering);
    double width = width_of(p, entering);
    double room = tangent ? width * p->push[contact] : p->caps[contact];
    double fall = tangent ? 1 - width * p->push_slope[contact] : 1;
    if (reaches_zero(room, fall, p->flat) < first)
      return (event){OWN_BOUND, -1};
  }
  if (first == INFINITY) return (event){NOTHING, -1};
  return choose_event(p, column, first);
}

/* Measure x_i from its other bound. x is basic, or about to be replaced in
 * `fresh`; its complement is outside the basis, its column turns with it. */
static void turn_complement(path *p, int row) {
  int w = p->n + row;
  if (!is_basic(p, w)) negate_column(p, -p->place[w]);
  p->turned[row] = !p->turned[row];
}

static void turn_basic(path *p, int variable) {
  double *T = row_of(p, variable);
  int normal = normal_of(p, variable);
  for (int k = 0; k < p->stride; k++) T[k] = -T[k];
  if (variable == normal)
    T[0] += cap_of(p, normal);
  else
    add_normal_impulse(p, normal, width_of(p, normal), T);
  turn_complement(p, variable);
}

/* The entering impulse reaches its own bound: put its distance to that bound in
 * its column's place. */
static void turn_entering(path *p, int column) {
  int variable = p->nonbasic[column], normal = normal_of(p, variable);
  memset(p->fresh, 0, (size_t)p->stride * sizeof *p->fresh);
  if (variable == normal) {
    p->fresh[0] = cap_of(p, normal);
    p->fresh[column] = -1;
  } else {
    // x = bound lambda_n(x, ..) - x', solved for x
    add_normal_impulse(p, normal, width_of(p, normal), p->fresh);
    double inverse = 1 / (1 - p->fresh[column]);
    p->fresh[column] = -1;
    for (int k = 0; k < p->stride; k++) p->fresh[k] *= inverse;
  }
  exchange(p, -1, column);
  turn_complement(p, variable);
}

/* A separating contact is about to push: let each tangent start from the side
 * that opposes its present slip. */
static void face_slip(path *p, int normal) {
  double bound = width_of(p, normal);
  for (int t = 1; t <= p->space->n_tangents; t++) {
    int row = normal + t, w = p->n + row;
    if (is_basic(p, row) || !is_basic(p, w) || row_of(p, w)[0] >= 0) continue;
    int x_column = -p->place[row], n_column = -p->place[normal];
    for (int i = 0; i < p->n; i++) {
      double *T = &p->T[i * p->stride];
      T[n_column] += bound * T[x_column];
      T[x_column] = -T[x_column];
    }
    double *T = row_of(p, w);
    for (int k = 0; k < p->stride; k++) T[k] = -T[k];
    p->turned[row] = !p->turned[row];
  }
}

static void describe_variables(path *p) {
  const contact_space *space = p->space;
  int n = p->n;
  for (int i = 0; i < n; i++) {
    bool tangent = i != normal_of(p, i);
    p->ceiling[i] = tangent ? 0 : cap_of(p, i);
    p->width[i] = tangent ? width_of(p, i) : 0;
    p->ceiling[n + i] = INFINITY;
    p->width[n + i] = 0;
    p->contact[i] = p->contact[n + i] = space->contact_of[i];
    p->is_slip[i] = 0;
    p->is_slip[n + i] = tangent;
  }
  p->ceiling[2 * n] = INFINITY;
  p->width[2 * n] = 0;
  p->contact[2 * n] = p->is_slip[2 * n] = 0;
}

/* Unequal numbers in [1, 2), so that symmetric contacts do not tie: the
 * multiples of the golden ratio, less their whole part. */
static double usual_covering(int contact) {
  double multiple = 0.6180339887498949 * (contact + 1);
  return 1 + multiple - floor(multiple);
}

/* w = c + A lambda + covering theta with every x outside the basis. A tangent's
 * part may have either sign: while its contact separates so may its slip. */
static void write_dictionary(path *p, const double c[],
                             const double covering[]) {
  const contact_space *space = p->space;
  int n = p->n;
  double largest = 0;
  for (int i = 0; i < n; i++) {
    bool tangent = i != normal_of(p, i);
    p->turned[i] = tangent && c[i] < 0;
    p->basic[i] = n + i;
    p->place[n + i] = i;
    p->nonbasic[1 + i] = i;
    p->place[i] = -1 - i;
  }
  p->nonbasic[n + 1] = 2 * n;
  p->place[2 * n] = -n - 1;
  describe_variables(p);

  for (int i = 0; i < n; i++) {
    double *T = &p->T[i * p->stride], sign = p->turned[i] ? -1 : 1;
    bool tangent = i != normal_of(p, i);
    T[0] = sign * c[i];
    T[p->stride - 1] = 0;
    for (int j = 0; j < n; j++) {
      double a = sign * space->A[i * n + j];
      largest = larger(largest, fabs(a));
      if (j == normal_of(p, j)) {
        T[1 + j] = a;
      } else {
        // s = x - bound lambda_n, turned: s = bound lambda_n - x
        double side = p->turned[j] ? -a : a;
        T[1 + j] = side;
        T[1 + normal_of(p, j)] -= side * space->bound[space->contact_of[j]];
      }
    }
    T[n + 1] = covering != NULL ? sign * covering[i]
               : tangent        ? 0
                                : usual_covering(space->contact_of[i]);
  }
  p->flat = FLAT * largest;
}

/* theta takes over the row that needs it most. -1: none does. */
static int start_row(const path *p) {
  int start = -1;
  double most = 0;
  for (int i = 0; i < p->n; i += p->space->per_contact) {
    const double *T = &p->T[i * p->stride];
    double needed = -T[0] / T[p->n + 1];
    if (needed > most) {
      most = needed;
      start = i;
    }
  }
  return start;
}

static void read_impulses(const path *p, double lambda[]) {
  const contact_space *space = p->space;
  for (int i = 0; i < p->n; i++) {
    int normal = normal_of(p, i), contact = space->contact_of[i];
    double x = is_basic(p, i) ? row_of(p, i)[0] : 0;
    if (i == normal) {
      double value = p->turned[i] ? p->caps[contact] - x : x;
      lambda[i] = smaller(larger(value, 0), p->caps[contact]);
    } else {
      double limit = space->bound[contact] * lambda[normal];
      double value = p->turned[i] ? limit - x : x - limit;
      lambda[i] = smaller(larger(value, -limit), limit);
    }
  }
}

/* Friction without limit: it has an impulse only while the contact is closed,
 * against the slip; what slips has no push and the largest friction impulse. */
static double endless_violation(const contact_space *space, int normal,
                                const double lambda[], const double reached[]) {
  int T = space->n_tangents;
  double worst = 0, largest = 0;
  for (int row = normal + 1; row <= normal + T; row++)
    largest = larger(largest, fabs(lambda[row]));
  for (int row = normal + 1; row <= normal + T; row++) {
    double s = lambda[row], slip = reached[row], weight = space->weight[row];
    double against = slip > 0 ? largest + s : largest - s;
    worst = larger(worst, smaller(weight * fabs(s), reached[normal]));
    worst = larger(worst, smaller(weight * against, fabs(slip)));
    worst = larger(worst,
                   smaller(space->weight[normal] * lambda[normal], fabs(slip)));
  }
  return worst;
}

double contact_path_violation(const contact_space *space, const double caps[],
                              const double lambda[], const double reached[]) {
  double worst = 0;
  for (int contact = 0; contact < space->n_contacts; contact++) {
    int normal = contact * space->per_contact;
    double weight = space->weight[normal], push = lambda[normal];
    double room = caps[contact] - push;
    // an impulse and separation, room below the cap and approach: one is 0
    worst = larger(worst, smaller(weight * push, reached[normal]));
    worst = larger(worst, smaller(weight * room, -reached[normal]));
    if (space->bound[contact] == INFINITY) {
      worst = larger(worst, endless_violation(space, normal, lambda, reached));
      continue;
    }
    for (int t = 1; t <= space->n_tangents; t++) {
      int row = normal + t;
      double limit = space->bound[contact] * push, slip = reached[row];
      double against = slip > 0 ? limit + lambda[row] : limit - lambda[row];
      worst = larger(worst, smaller(space->weight[row] * against, fabs(slip)));
    }
  }
  return worst;
}

/* Follow the path on which `entering` grows; true when theta is back at 0. */
static bool follow(path *p, int entering, int *pivots) {
  int n = p->n, theta = 2 * n, most = *pivots + 12 * n + 40;

  for (; *pivots < most; ++*pivots) {
    int column = -p->place[entering];
    if (entering < n && entering == normal_of(p, entering) &&
        !p->turned[entering])
      face_slip(p, entering);

    event event = next_event(p, column);
    if (event.kind == NOTHING) return false;
    if (event.kind == OWN_BOUND) {
      turn_entering(p, column);
      entering += n;
      continue;
    }
    int leaving = p->basic[event.row];
    if (event.kind == TO_BOUND) turn_basic(p, leaving);
    if (fabs(p->T[event.row * p->stride + column]) < p->flat) return false;
    pivot(p, event.row, column);
    if (leaving == theta) return true;
    entering = leaving < n ? leaving + n : leaving - n;
  }
  return false;
}

/* At a solution, give theta the column of another covering vector. A constant
 * added to w_i moves w_i itself where it is basic, and else what is written by
 * it, the other way. */
static void cover_anew(path *p, const double covering[]) {
  int n = p->n, column = -p->place[2 * n];
  for (int i = 0; i < n; i++) p->T[i * p->stride + column] = 0;
  for (int i = 0; i < n; i++) {
    double push = p->turned[i] ? -covering[i] : covering[i];
    int place = p->place[n + i];
    if (place >= 0) {
      p->T[place * p->stride + column] += push;
      continue;
    }
    for (int row = 0; row < n; row++)
      p->T[row * p->stride + column] -= push * p->T[row * p->stride - place];
  }
}

/* Read where the path is; true when that is a solution. */
static bool read_solution(const path *p, const double c[], double lambda[],
                          double reached[]) {
  const contact_space *space = p->space;
  read_impulses(p, lambda);
  contact_space_push(space, c, lambda, reached);
  for (int i = 0; i < p->n; i++)
    if (fabs(reached[i]) <= 1e-13 * space->scale) reached[i] = 0;
  return contact_path_violation(space, p->caps, lambda, reached) <=
         10 * IMPACT_FEASIBILITY * space->scale;
}

bool contact_path_solve(const contact_space *space, const double c[],
                        const double caps[], const double covering[],
                        const double onward[], double scratch[],
                        double lambda[], double reached[], int *pivots) {
  int n = space->n_rows;
  path p = {.space = space, .caps = caps, .n = n};
  p.stride = n + 2 + n % 2;
  p.T = scratch;
  p.fresh = p.T + n * p.stride;
  p.push = p.fresh + p.stride;
  p.push_slope = p.push + space->n_contacts;
  p.at = p.push_slope + space->n_contacts;
  p.ceiling = p.at + 2 * n;
  p.width = p.ceiling + 2 * n + 1;
  p.basic = (int *)(p.width + 2 * n + 1);
  p.nonbasic = p.basic + n;
  p.place = p.nonbasic + n + 2;
  p.turned = p.place + 2 * n + 1;
  p.contact = p.turned + n;
  p.is_slip = p.contact + 2 * n + 1;
  p.open = p.is_slip + 2 * n + 1;

  write_dictionary(&p, c, covering);
  memset(lambda, 0, (size_t)n * sizeof *lambda);
  memcpy(reached, c, (size_t)n * sizeof *reached);
  *pivots = 0;
  int start = start_row(&p);
  if (start < 0) return true; // nothing approaches: no impulse (Lemma 8)

  pivot(&p, start, n + 1);
  *pivots = 1;
  // w_start has just left, so its complement enters
  if (!follow(&p, start, pivots) || !read_solution(&p, c, lambda, reached)) {
    memset(lambda, 0, (size_t)n * sizeof *lambda);
    memcpy(reached, c, (size_t)n * sizeof *reached);
    return false;
  }
  if (onward == NULL) return true;

  cover_anew(&p, onward);
  double *other_lambda = p.fresh, *other_reached = p.at;
  if (follow(&p, 2 * n, pivots) &&
      read_solution(&p, c, other_lambda, other_reached)) {
    memcpy(lambda, other_lambda, (size_t)n * sizeof *lambda);
    memcpy(reached, other_reached, (size_t)n * sizeof *reached);
  }
  return true;
}
