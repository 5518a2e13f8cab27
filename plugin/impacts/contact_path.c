#include "impacts/contact_path.h"

#include <math.h>
#include <string.h>

#include "common/six.h"

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
 * k-th nonbasic variable). It lies column by column, so that what is done to
 * all rows is done to four at a time. */
typedef struct path {
  const contact_space *space;
  const double *caps;
  int n, m, per_contact; /* as the space has them */
  int tall;      /* n, rounded up to fours: what is behind the rows stays 0 */
  double *T;     /* (n + 2) columns of tall */
  double *fresh; /* [n + 2] the pivot row, or a bound written as one */
  double *push, *push_slope; /* [m] see push_of_contacts */
  double *shift, *side;      /* [m] lambda_n is shift + side x */
  /* [tall + 1] by row: what its variable may be at most, and that one's slope;
     INFINITY and 0 where it has no bound */
  double *most, *most_slope;
  int64_t *is_free;       /* [tall + 1] -1: may fall below 0, or else 0 */
  double *zeros, *bounds; /* [tall] see find_ends */
  int *basic;             /* [n] variable of a row */
  int *nonbasic;          /* [n + 2] variable of a column 1 .. n + 1 */
  int *place;             /* [2n + 1] row r >= 0, or column k as -k */
  int *turned;            /* [n] */
  double flat;
} path;

typedef int64_t four_masks
    __attribute__((vector_size(32), aligned(8), may_alias));

enum { NOTHING, TO_ZERO, TO_BOUND, OWN_BOUND };

size_t contact_path_scratch(const contact_space *space) {
  size_t n = (size_t)space->n_rows, tall = (n + 3) / 4 * 4;
  size_t m = (size_t)space->n_contacts;
  return (n + 2) * tall + n + 2 + 4 * m + 5 * tall + 3 // numbers
         + (5 * n + 3) / 2 + 1                         // indices
         + 2 * n;                                      // see contact_path_solve
}

KERNEL double *column_of(const path *p, int column) {
  return &p->T[column * p->tall];
}

KERNEL double at(const path *p, int row, int column) {
  return p->T[column * p->tall + row];
}

KERNEL bool is_basic(const path *p, int variable) {
  return p->place[variable] >= 0;
}

KERNEL int normal_of(const path *p, int row) {
  return p->space->normal_of[row];
}

KERNEL double cap_of(const path *p, int row) {
  return p->caps[p->space->contact_of[row]];
}

/* A tangent's x lies between 0 and this many times its contact's lambda_n. */
KERNEL double width_of(const path *p, int row) {
  return 2 * p->space->bound[p->space->contact_of[row]];
}

/* A separating contact: its friction bound is 0, so the slip may have either
 * sign whichever way its tangent is turned. */
KERNEL bool is_open(const path *p, int normal, int entering) {
  return (p->place[normal] < 0) & (p->turned[normal] == 0) &
         (entering != normal);
}

/* What a row's variable may be at most. A tangent's x has no bound of its own:
 * see push_of_contacts. */
KERNEL void set_most(const path *p, int row, int variable) {
  bool capped = variable < p->n && variable == normal_of(p, variable);
  p->most[row] = capped ? cap_of(p, variable) : INFINITY;
  p->most_slope[row] = 0;
  p->is_free[row] = 0;
}

/* Exchange basic row `row` and column `column`: `fresh` gives the entering
 * variable by the leaving one and the others. row -1: the entering variable
 * stays outside, replaced by its distance to its bound. */
KERNEL void exchange(const path *p, int row, int column) {
  int tall = p->tall, width = p->n + 2;
#pragma GCC unroll 12
  for (int i = 0; i < tall; i += 4) {
    double *T = &p->T[i];
    four *own = (four *)&T[column * tall], factors = *own;
    // the row itself becomes 0 + 1 fresh
    const four_masks rows = {i, i + 1, i + 2, i + 3};
    const four_masks here = rows == row;
    const four ones = {1, 1, 1, 1};
    factors = (four)(((four_masks)factors & ~here) | ((four_masks)ones & here));
#pragma GCC unroll 12
    for (int k = 0; k < width; k++) {
      four *to = (four *)&T[k * tall];
      *to = (four)((four_masks)*to & ~here) + factors * p->fresh[k];
    }
    *own = factors * p->fresh[column];
  }
  if (row < 0) return;
  int entering = p->nonbasic[column], leaving = p->basic[row];
  p->basic[row] = entering;
  p->nonbasic[column] = leaving;
  p->place[entering] = row;
  p->place[leaving] = -column;
  set_most(p, row, entering);
}

KERNEL void pivot(const path *p, int row, int column) {
  double inverse = 1 / at(p, row, column);
#pragma GCC unroll 12
  for (int k = 0; k < p->n + 2; k++) p->fresh[k] = at(p, row, k) * -inverse;
  p->fresh[column] = inverse;
  p->fresh[0] = p->fresh[0] > 0 ? p->fresh[0] : 0; // a step back is rounding
  exchange(p, row, column);
}

KERNEL void negate_column(const path *p, int column) {
  double *T = column_of(p, column);
  for (int i = 0; i < p->tall; i += 4) *(four *)&T[i] = -*(four *)&T[i];
}

/* lambda_n of a contact as an affine function, times `factor`, added to `target`,
 * whose entries are `stride` apart. */
KERNEL void add_normal_impulse(const path *p, int normal, double factor,
                               int stride, double target[]) {
  double sign = p->turned[normal] ? -factor : factor;
  if (p->turned[normal]) target[0] += factor * cap_of(p, normal);
  if (is_basic(p, normal))
#pragma GCC unroll 12
    for (int k = 0; k < p->n + 2; k++)
      target[k * stride] += sign * at(p, p->place[normal], k);
  else
    target[-p->place[normal] * stride] += sign;
}

/* lambda_n of every contact and its slope along the entering column, and what
 * these say of its tangents' rows. Without branches: what a contact does cannot
 * be guessed. */
KERNEL void push_of_contacts(const path *p, int column) {
  int entering = p->nonbasic[column];
#pragma GCC unroll 5
  for (int contact = 0; contact < p->m; contact++) {
    int normal = contact * p->per_contact, place = p->place[normal];
    int row = place > 0 ? place : 0;
    double is_in = place >= 0, side = p->side[contact];
    double x = is_in * at(p, row, 0);
    double slope = is_in * at(p, row, column) + (entering == normal);
    double push = p->shift[contact] + side * x;
    int64_t open = -(int64_t)is_open(p, normal, entering);
    p->push[contact] = push;
    p->push_slope[contact] = side * slope;
    for (int i = normal + 1; i < normal + p->per_contact; i++) {
      double width = width_of(p, i);
      // what has no row goes behind the rows
      int own = p->place[i], slip = p->place[p->n + i];
      own = own >= 0 ? own : p->tall;
      slip = slip >= 0 ? slip : p->tall;
      p->most[own] = width * push;
      p->most_slope[own] = width * (side * slope);
      p->is_free[slip] = open;
    }
  }
}

/* The first thing that happens when the entering variable grows. */
typedef struct event {
  int kind, row;
} event;

/* The t at which value - fall t reaches 0; INFINITY when it does not fall. */
KERNEL double reaches_zero(double value, double fall, double flat) {
  // a value below 0 is rounding; the tiny number keeps 0/0 from being NaN
  return (larger(value, 0) + 1e-300) / (fall > flat ? fall : 0);
}

/* The same for four at once. */
KERNEL void reach_zero(const four *value, const four *fall, double flat,
                       four *out) {
  const four none = {0, 0, 0, 0}, flats = {flat, flat, flat, flat};
  const four tiny = {1e-300, 1e-300, 1e-300, 1e-300};
  four values = (four)((four_masks)*value & (*value > none));
  four falls = (four)((four_masks)*fall & (*fall > flats));
  *out = (values + tiny) / falls;
}

/* a becomes the smaller one of each pair. */
KERNEL void keep_smaller(four *a, const four *b) {
  four_masks is_smaller = *a < *b;
  *a = (four)(((four_masks)*a & is_smaller) | ((four_masks)*b & ~is_smaller));
}

/* Fill p->zeros and p->bounds: where each row ends at zero and at its bound; and
 * return the first. Without branches: what a row holds cannot be guessed. */
KERNEL double find_ends(const path *p, int column) {
  const double *now = p->T, *slopes = column_of(p, column);
  const four never = {INFINITY, INFINITY, INFINITY, INFINITY};
  four first = never;
#pragma GCC unroll 3
  for (int i = 0; i < p->tall; i += 4) {
    const four *value = (const four *)&now[i], *own = (const four *)&slopes[i];
    four room = *(const four *)&p->most[i] - *value, slide = -*own;
    four fall = *own - *(const four *)&p->most_slope[i], zero, bound;
    four_masks is_free = *(const four_masks *)&p->is_free[i];
    reach_zero(value, &slide, p->flat, &zero);
    reach_zero(&room, &fall, p->flat, &bound);
    zero =
        (four)(((four_masks)zero & ~is_free) | ((four_masks)never & is_free));
    *(four *)&p->zeros[i] = zero;
    *(four *)&p->bounds[i] = bound;
    keep_smaller(&zero, &bound);
    keep_smaller(&first, &zero);
  }
  return smaller(smaller(first[0], first[1]), smaller(first[2], first[3]));
}

/* Of two events at the same place the one of higher rank is taken: theta, then
 * friction, then the rest. */
KERNEL int rank_of(const path *p, int variable) {
  if (variable == 2 * p->n) return 3;
  return variable < p->n && variable != normal_of(p, variable) ? 2 : 1;
}

/* The event at `first` (within rounding): the highest rank, then the
 * steepest, then the lowest row. */
KERNEL event choose_event(const path *p, int column, double first) {
  event best = {NOTHING, -1};
  int best_rank = 0;
  double steepest = 0, last = first * (1 + 1e-12) + 1e-280;
  const four lasts = {last, last, last, last};
  for (int i = 0; i < p->tall; i += 32) {
    // two bits a row, of 32 rows
    four_masks zero_bit = {1, 4, 16, 64}, near = {0, 0, 0, 0};
    for (int k = i; k < p->tall && k < i + 32; k += 4) {
      near |= (*(const four *)&p->zeros[k] <= lasts) & zero_bit;
      near |= (*(const four *)&p->bounds[k] <= lasts) & (zero_bit << 1);
      zero_bit <<= 8;
    }
    uint64_t events = (uint64_t)(near[0] | near[1] | near[2] | near[3]);
    if (p->tall <= 32 && events != 0 && (events & (events - 1)) == 0) {
      // as nearly always
      int bit = __builtin_ctzll(events);
      return (event){bit % 2 == 0 ? TO_ZERO : TO_BOUND, bit / 2};
    }
    for (; events != 0; events &= events - 1) {
      int bit = __builtin_ctzll(events), row = i + bit / 2;
      int rank = rank_of(p, p->basic[row]);
      double slope = fabs(at(p, row, column));
      if (rank < best_rank || (rank == best_rank && slope <= steepest))
        continue;
      best = (event){bit % 2 == 0 ? TO_ZERO : TO_BOUND, row};
      best_rank = rank;
      steepest = slope;
    }
  }
  return best;
}

KERNEL event next_event(const path *p, int column) {
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
KERNEL void turn_complement(const path *p, int row) {
  int w = p->n + row;
  if (!is_basic(p, w)) negate_column(p, -p->place[w]);
  p->turned[row] = !p->turned[row];
  if (row != normal_of(p, row)) return;
  int contact = p->space->contact_of[row];
  p->shift[contact] = p->turned[row] ? p->caps[contact] : 0;
  p->side[contact] = -p->side[contact];
}

KERNEL void negate_row(const path *p, int row) {
#pragma GCC unroll 12
  for (int k = 0; k < p->n + 2; k++)
    p->T[k * p->tall + row] = -p->T[k * p->tall + row];
}

KERNEL void turn_basic(const path *p, int variable) {
  int normal = normal_of(p, variable), row = p->place[variable];
  negate_row(p, row);
  if (variable == normal)
    p->T[row] += cap_of(p, normal);
  else
    add_normal_impulse(p, normal, width_of(p, normal), p->tall, &p->T[row]);
  turn_complement(p, variable);
}

/* The entering impulse reaches its own bound: put its distance to that bound in
 * its column's place. */
KERNEL void turn_entering(const path *p, int column) {
  int variable = p->nonbasic[column], normal = normal_of(p, variable);
  memset(p->fresh, 0, (size_t)(p->n + 2) * sizeof *p->fresh);
  if (variable == normal) {
    p->fresh[0] = cap_of(p, normal);
    p->fresh[column] = -1;
  } else {
    // x = bound lambda_n(x, ..) - x', solved for x
    add_normal_impulse(p, normal, width_of(p, normal), 1, p->fresh);
    double inverse = 1 / (1 - p->fresh[column]);
    p->fresh[column] = -1;
    for (int k = 0; k < p->n + 2; k++) p->fresh[k] *= inverse;
  }
  exchange(p, -1, column);
  turn_complement(p, variable);
}

/* A separating contact is about to push: let each tangent start from the side
 * that opposes its present slip. */
KERNEL void face_slip(const path *p, int normal) {
  double bound = width_of(p, normal);
  for (int t = 1; t < p->per_contact; t++) {
    int row = normal + t, w = p->n + row;
    if (is_basic(p, row) || !is_basic(p, w) || at(p, p->place[w], 0) >= 0)
      continue;
    int column = -p->place[row];
    double *to = column_of(p, -p->place[normal]), *from = column_of(p, column);
    for (int i = 0; i < p->tall; i += 4)
      *(four *)&to[i] += bound * *(four *)&from[i];
    negate_column(p, column);
    negate_row(p, p->place[w]);
    p->turned[row] = !p->turned[row];
  }
}

/* Unequal numbers in [1, 2), so that symmetric contacts do not tie: the
 * multiples of the golden ratio, less their whole part. */
KERNEL double usual_covering(int contact) {
  double multiple = 0.6180339887498949 * (contact + 1);
  return 1 + multiple - floor(multiple);
}

KERNEL double largest_of(const double numbers[], int count) {
  four least = {0, 0, 0, 0};
  int i = 0;
  for (; i + 4 <= count; i += 4) {
    four own = *(const four *)&numbers[i], other = -own;
    keep_smaller(&least, &own);
    keep_smaller(&least, &other);
  }
  double most =
      -smaller(smaller(least[0], least[1]), smaller(least[2], least[3]));
  for (; i < count; i++) most = larger(most, fabs(numbers[i]));
  return most;
}

/* w = c + A lambda + covering theta with every x outside the basis. A tangent's
 * part may have either sign: while its contact separates so may its slip. */
KERNEL void write_dictionary(path *p, const double c[],
                             const double covering[]) {
  const contact_space *space = p->space;
  int n = p->n, tall = p->tall;
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
  for (int i = 0; i < tall; i++) set_most(p, i, 2 * n);
  for (int i = 0; i < p->m; i++) {
    p->shift[i] = 0;
    p->side[i] = 1;
  }
  for (int k = 0; k < n + 2; k++)
    for (int i = n; i < tall; i++) p->T[k * tall + i] = 0;
  double *signs = p->zeros; // free as yet
  for (int i = 0; i < n; i++) signs[i] = p->turned[i] ? -1 : 1;
  for (int j = 0; j < n; j++) {
    double *own = column_of(p, 1 + j);
    const double *A = &space->A[j * n]; // the same as its column j
    int i = 0;
    for (; i + 4 <= n; i += 4)
      *(four *)&own[i] = *(const four *)&signs[i] * *(const four *)&A[i];
    for (; i < n; i++) own[i] = signs[i] * A[i];
  }
  for (int i = 0; i < n; i++) {
    double sign = signs[i];
    bool tangent = i != normal_of(p, i);
    p->T[i] = sign * c[i];
    column_of(p, n + 1)[i] = covering != NULL ? sign * covering[i]
                             : tangent        ? 0
                                       : usual_covering(space->contact_of[i]);
  }
  for (int j = 0; j < n; j++) {
    int normal = normal_of(p, j);
    if (j == normal) continue;
    // s = x - bound lambda_n, turned: s = bound lambda_n - x
    double bound = space->bound[space->contact_of[j]];
    double *to = column_of(p, 1 + normal), *from = column_of(p, 1 + j);
    if (p->turned[j]) negate_column(p, 1 + j);
    for (int i = 0; i < tall; i += 4)
      *(four *)&to[i] -= *(four *)&from[i] * bound;
  }
  p->flat = FLAT * largest_of(space->A, n * n);
}

/* theta takes over the row that needs it most. -1: none does. */
KERNEL int start_row(const path *p) {
  int start = -1;
  double most = 0;
  for (int i = 0; i < p->n; i += p->per_contact) {
    double needed = -at(p, i, 0) / at(p, i, p->n + 1);
    if (needed > most) {
      most = needed;
      start = i;
    }
  }
  return start;
}

KERNEL void read_impulses(const path *p, double lambda[]) {
  const contact_space *space = p->space;
  for (int i = 0; i < p->n; i++) {
    int normal = normal_of(p, i), contact = space->contact_of[i];
    double x = is_basic(p, i) ? at(p, p->place[i], 0) : 0;
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
KERNEL bool follow(const path *p, int entering, int *pivots) {
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
    if (fabs(at(p, event.row, column)) < p->flat) return false;
    pivot(p, event.row, column);
    if (leaving == theta) return true;
    entering = leaving < n ? leaving + n : leaving - n;
  }
  return false;
}

/* At a solution, give theta the column of another covering vector. A constant
 * added to w_i moves w_i itself where it is basic, and else what is written by
 * it, the other way. */
KERNEL void cover_anew(const path *p, const double covering[]) {
  int n = p->n;
  double *theta = column_of(p, -p->place[2 * n]);
  for (int i = 0; i < n; i++) theta[i] = 0;
  for (int i = 0; i < n; i++) {
    double push = p->turned[i] ? -covering[i] : covering[i];
    int place = p->place[n + i];
    if (place >= 0) {
      theta[place] += push;
      continue;
    }
    const double *own = column_of(p, -place);
    for (int row = 0; row < n; row++) theta[row] -= push * own[row];
  }
}

/* Read where the path is; true when that is a solution. */
KERNEL bool read_solution(const path *p, const double c[], double lambda[],
                          double reached[]) {
  const contact_space *space = p->space;
  read_impulses(p, lambda);
  contact_space_push(space, c, lambda, reached);
  for (int i = 0; i < p->n; i++)
    if (fabs(reached[i]) <= 1e-13 * space->scale) reached[i] = 0;
  return contact_path_violation(space, p->caps, lambda, reached) <=
         10 * IMPACT_FEASIBILITY * space->scale;
}

KERNEL bool solve(const contact_space *space, int m, int per_contact,
                  const double c[], const double caps[],
                  const double covering[], const double onward[],
                  double scratch[], double lambda[], double reached[],
                  int *pivots) {
  int n = m * per_contact;
  path p = {.space = space,
            .caps = caps,
            .n = n,
            .m = m,
            .per_contact = per_contact,
            .tall = (n + 3) / 4 * 4};
  p.T = scratch;
  p.fresh = p.T + (n + 2) * p.tall;
  p.push = p.fresh + n + 2;
  p.push_slope = p.push + m;
  p.shift = p.push_slope + m;
  p.side = p.shift + m;
  p.zeros = p.side + m;
  p.bounds = p.zeros + p.tall;
  p.most = p.bounds + p.tall;
  p.most_slope = p.most + p.tall + 1;
  p.is_free = (int64_t *)(p.most_slope + p.tall + 1);
  double *other_lambda = (double *)(p.is_free + p.tall + 1);
  double *other_reached = other_lambda + n;
  p.basic = (int *)(other_reached + n);
  p.nonbasic = p.basic + n;
  p.place = p.nonbasic + n + 2;
  p.turned = p.place + 2 * n + 1;

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
  if (follow(&p, 2 * n, pivots) &&
      read_solution(&p, c, other_lambda, other_reached)) {
    memcpy(lambda, other_lambda, (size_t)n * sizeof *lambda);
    memcpy(reached, other_reached, (size_t)n * sizeof *reached);
  }
  return true;
}

/* Constant sizes let the compiler unroll usual cases. */
WIDE static bool solve_wide(const contact_space *space, const double c[],
                            const double caps[], const double covering[],
                            const double onward[], double scratch[],
                            double lambda[], double reached[], int *pivots) {
  int m = space->n_contacts, per_contact = space->per_contact;
  if (m == 2 && per_contact == 2)
    return solve(space, 2, 2, c, caps, covering, onward, scratch, lambda,
                 reached, pivots);
  if (m == 5 && per_contact == 2)
    return solve(space, 5, 2, c, caps, covering, onward, scratch, lambda,
                 reached, pivots);
  return solve(space, m, per_contact, c, caps, covering, onward, scratch,
               lambda, reached, pivots);
}

bool contact_path_solve(const contact_space *space, const double c[],
                        const double caps[], const double covering[],
                        const double onward[], double scratch[],
                        double lambda[], double reached[], int *pivots) {
  return six_is_wide()
             ? solve_wide(space, c, caps, covering, onward, scratch, lambda,
                          reached, pivots)
             : solve(space, space->n_contacts, space->per_contact, c, caps,
                     covering, onward, scratch, lambda, reached, pivots);
}
