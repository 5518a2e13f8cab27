#include "impacts/contact_path.h"

#include <math.h>
#include <string.h>

/* Slopes smaller than this part of the largest entry of A are rounding. */
#define FLAT 1e-11

/* Variables, all >= 0, by number: x_i (0 .. n-1) is how far the impulse of row i
 * is from a bound, w_i (n .. 2n-1) its complement, a speed, theta (2n) the
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
  double *T;      /* n x stride */
  double *fresh;  /* [stride] the pivot row, or a bound written as one */
  int *basic;     /* [n] variable of a row */
  int *nonbasic;  /* [n + 2] variable of a column 1 .. n + 1 */
  int *place;     /* [2n + 1] row r >= 0, or column k as -k */
  int *turned;    /* [n] */
  double flat;
} path;

enum { NOTHING, TO_ZERO, TO_BOUND, OWN_BOUND };

size_t contact_path_scratch(const contact_space *space) {
  size_t n = (size_t)space->n_rows;
  return (n + 1)*(n + 2) + 5*n + 4;
}

static inline double *row_of(const path *p, int variable) {
  return &p->T[p->place[variable]*p->stride];
}

static inline bool is_basic(const path *p, int variable) {
  return p->place[variable] >= 0;
}

static inline int normal_of(const path *p, int row) {
  return row - row % p->space->per_contact;
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
  for (int i = 0; i < p->n; i++) {
    double *T = &p->T[i*p->stride], factor = T[column];
    if (i == row || factor == 0) continue;
    T[column] = 0;
    for (int k = 0; k < p->stride; k++) T[k] += factor*p->fresh[k];
  }
  if (row < 0) return;
  memcpy(&p->T[row*p->stride], p->fresh, (size_t)p->stride*sizeof *p->T);
  int entering = p->nonbasic[column], leaving = p->basic[row];
  p->basic[row] = entering;
  p->nonbasic[column] = leaving;
  p->place[entering] = row;
  p->place[leaving] = -column;
}

static void pivot(path *p, int row, int column) {
  const double *T = &p->T[row*p->stride];
  double inverse = 1/T[column];
  for (int k = 0; k < p->stride; k++) p->fresh[k] = -T[k]*inverse;
  p->fresh[column] = inverse;
  p->fresh[0] = p->fresh[0] > 0 ? p->fresh[0] : 0; // a step back is rounding
  exchange(p, row, column);
}

static void negate_column(path *p, int column) {
  for (int i = 0; i < p->n; i++)
    p->T[i*p->stride + column] = -p->T[i*p->stride + column];
}

/* lambda_n of a contact as an affine function, times `factor`, added to
 * `target`. */
static void add_normal_impulse(const path *p, int normal, double factor,
                               double target[]) {
  double sign = p->turned[normal] ? -factor : factor;
  if (p->turned[normal])
    target[0] += factor*p->caps[normal/p->space->per_contact];
  if (is_basic(p, normal)) {
    const double *T = row_of(p, normal);
    for (int k = 0; k < p->stride; k++) target[k] += sign*T[k];
  } else {
    target[-p->place[normal]] += sign;
  }
}

/* lambda_n and its slope along the entering column. */
static void normal_impulse(const path *p, int normal, int column,
                           double *value, double *slope) {
  double x = 0, dx = 0;
  if (is_basic(p, normal)) {
    const double *T = row_of(p, normal);
    x = T[0];
    dx = T[column];
  } else if (p->nonbasic[column] == normal) {
    dx = 1;
  }
  *value = p->turned[normal] ? p->caps[normal/p->space->per_contact] - x : x;
  *slope = p->turned[normal] ? -dx : dx;
}

/* Twice the friction bound's distance from x_i = T[0] + T[column] t. */
static void distance_to_cone(const path *p, int row, int column, double x,
                             double dx, double *value, double *slope) {
  int normal = normal_of(p, row);
  double bound = 2*p->space->bound[normal/p->space->per_contact];
  normal_impulse(p, normal, column, value, slope);
  *value = bound**value - x;
  *slope = bound**slope - dx;
}

/* The first thing that happens when the entering variable grows. */
typedef struct event {
  int kind, row;
  double at;    /* the entering variable's value there */
  double slope; /* size of the slope of what reaches its end */
  int rank;     /* of two at the same place the higher is taken, then the
                   steeper, then the lower row */
} event;

static void consider(event *best, int kind, int row, double value,
                     double slope, int rank) {
  if (value == INFINITY) return;
  double at = value > 0 ? value/slope : 0;
  double near = 1e-12*(1e-300 + (at > best->at ? best->at : at));
  if (best->kind != NOTHING) {
    if (at > best->at + near) return;
    if (at >= best->at - near &&
        (rank < best->rank ||
         (rank == best->rank && slope <= best->slope))) return;
  }
  *best = (event){kind, row, at, slope, rank};
}

static event next_event(const path *p, int column) {
  event best = {NOTHING, -1, INFINITY, 0, -1};
  int n = p->n, entering = p->nonbasic[column], theta = 2*n;

  for (int i = 0; i < n; i++) {
    const double *T = &p->T[i*p->stride];
    int variable = p->basic[i];
    double slope = T[column];
    if (variable == theta) {
      if (slope < -p->flat) consider(&best, TO_ZERO, i, T[0], -slope, 3);
      continue;
    }
    int row = variable < n ? variable : variable - n;
    bool tangent = row != normal_of(p, row);
    if (variable >= n && tangent && is_open(p, normal_of(p, row), entering))
      continue;
    int rank = variable < n && tangent ? 2 : 1;
    if (slope < -p->flat) consider(&best, TO_ZERO, i, T[0], -slope, rank);
    if (variable >= n) continue;
    double value = p->caps[row/p->space->per_contact] - T[0], fall = -slope;
    if (tangent) distance_to_cone(p, row, column, T[0], slope, &value, &fall);
    if (fall < -p->flat) consider(&best, TO_BOUND, i, value, -fall, rank);
  }

  if (entering < n) {
    double value = p->caps[entering/p->space->per_contact], fall = -1;
    if (entering != normal_of(p, entering))
      distance_to_cone(p, entering, column, 0, 1, &value, &fall);
    if (fall < -p->flat)
      consider(&best, OWN_BOUND, -1, value, -fall, 0);
  }
  return best;
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
    T[0] += p->caps[normal/p->space->per_contact];
  else
    add_normal_impulse(p, normal,
                       2*p->space->bound[normal/p->space->per_contact], T);
  turn_complement(p, variable);
}

/* The entering impulse reaches its own bound: put its distance to that bound in
 * its column's place. */
static void turn_entering(path *p, int column) {
  int variable = p->nonbasic[column], normal = normal_of(p, variable);
  memset(p->fresh, 0, (size_t)p->stride*sizeof *p->fresh);
  if (variable == normal) {
    p->fresh[0] = p->caps[normal/p->space->per_contact];
    p->fresh[column] = -1;
  } else {
    // x = bound lambda_n(x, ..) - x', solved for x
    add_normal_impulse(p, normal,
                       2*p->space->bound[normal/p->space->per_contact],
                       p->fresh);
    double inverse = 1/(1 - p->fresh[column]);
    p->fresh[column] = -1;
    for (int k = 0; k < p->stride; k++) p->fresh[k] *= inverse;
  }
  exchange(p, -1, column);
  turn_complement(p, variable);
}

/* A separating contact is about to push: let each tangent start from the side
 * that opposes its present slip. */
static void face_slip(path *p, int normal) {
  double bound = 2*p->space->bound[normal/p->space->per_contact];
  for (int t = 1; t <= p->space->n_tangents; t++) {
    int row = normal + t, w = p->n + row;
    if (is_basic(p, row) || !is_basic(p, w) || row_of(p, w)[0] >= 0) continue;
    int x_column = -p->place[row], n_column = -p->place[normal];
    for (int i = 0; i < p->n; i++) {
      double *T = &p->T[i*p->stride];
      T[n_column] += bound*T[x_column];
      T[x_column] = -T[x_column];
    }
    double *T = row_of(p, w);
    for (int k = 0; k < p->stride; k++) T[k] = -T[k];
    p->turned[row] = !p->turned[row];
  }
}

/* w = c + A lambda + covering theta with every x outside the basis. */
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
  p->nonbasic[n + 1] = 2*n;
  p->place[2*n] = -n - 1;

  for (int i = 0; i < n; i++) {
    double *T = &p->T[i*p->stride], sign = p->turned[i] ? -1 : 1;
    bool tangent = i != normal_of(p, i);
    T[0] = sign*c[i];
    for (int j = 0; j < n; j++) {
      double a = sign*space->A[i*n + j];
      largest = fmax(largest, fabs(a));
      if (j == normal_of(p, j)) {
        T[1 + j] = a;
      } else {
        // s = x - bound lambda_n, turned: s = bound lambda_n - x
        double side = p->turned[j] ? -a : a;
        T[1 + j] = side;
        T[1 + normal_of(p, j)] -= side*space->bound[j/space->per_contact];
      }
    }
    T[n + 1] = tangent ? 0
             : covering != NULL ? covering[i/space->per_contact] : 1;
  }
  p->flat = FLAT*largest;
}

/* theta takes over the row that needs it most. -1: none does. */
static int start_row(const path *p) {
  int start = -1;
  double most = 0;
  for (int i = 0; i < p->n; i += p->space->per_contact) {
    const double *T = &p->T[i*p->stride];
    double needed = -T[0]/T[p->n + 1];
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
    int normal = normal_of(p, i), contact = i/space->per_contact;
    double x = is_basic(p, i) ? row_of(p, i)[0] : 0;
    if (i == normal) {
      double value = p->turned[i] ? p->caps[contact] - x : x;
      lambda[i] = fmin(fmax(value, 0), p->caps[contact]);
    } else {
      double limit = space->bound[contact]*lambda[normal];
      double value = p->turned[i] ? limit - x : x - limit;
      lambda[i] = fmin(fmax(value, -limit), limit);
    }
  }
}

double contact_path_violation(const contact_space *space, const double caps[],
                              const double lambda[], const double reached[]) {
  double worst = 0;
  for (int contact = 0; contact < space->n_contacts; contact++) {
    int normal = contact*space->per_contact;
    double weight = space->weight[normal], push = lambda[normal];
    double room = caps[contact] - push;
    // an impulse and separation, room below the cap and approach: one is 0
    worst = fmax(worst, fmin(weight*push, reached[normal]));
    worst = fmax(worst, fmin(weight*room, -reached[normal]));
    for (int t = 1; t <= space->n_tangents; t++) {
      int row = normal + t;
      double limit = space->bound[contact]*push, slip = reached[row];
      double against = slip > 0 ? limit + lambda[row] : limit - lambda[row];
      worst = fmax(worst, fmin(space->weight[row]*against, fabs(slip)));
    }
  }
  return worst;
}

/* Follow the path from theta's row; true when theta is gone. */
static bool follow(path *p, int start, int *pivots) {
  int n = p->n, theta = 2*n;
  pivot(p, start, n + 1);
  int entering = start; // the complement of w_start, which just left

  for (*pivots = 1; *pivots < 12*n + 40; ++*pivots) {
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
    if (fabs(p->T[event.row*p->stride + column]) < p->flat) return false;
    pivot(p, event.row, column);
    if (leaving == theta) return true;
    entering = leaving < n ? leaving + n : leaving - n;
  }
  return false;
}

bool contact_path_solve(const contact_space *space, const double c[],
                        const double caps[], const double covering[],
                        double scratch[], double lambda[], double reached[],
                        int *pivots) {
  int n = space->n_rows;
  path p = {.space = space, .caps = caps, .n = n, .stride = n + 2};
  p.T = scratch;
  p.fresh = p.T + n*p.stride;
  p.basic = (int *)(p.fresh + p.stride);
  p.nonbasic = p.basic + n;
  p.place = p.nonbasic + n + 2;
  p.turned = p.place + 2*n + 1;

  write_dictionary(&p, c, covering);
  memset(lambda, 0, (size_t)n*sizeof *lambda);
  memcpy(reached, c, (size_t)n*sizeof *reached);
  *pivots = 0;
  int start = start_row(&p);
  if (start < 0) return true; // nothing approaches: no impulse (Lemma 8)

  if (follow(&p, start, pivots)) {
    read_impulses(&p, lambda);
    contact_space_push(space, c, lambda, reached);
    for (int i = 0; i < n; i++)
      if (fabs(reached[i]) <= 1e-13*space->scale) reached[i] = 0;
    if (contact_path_violation(space, caps, lambda, reached) <=
        10*IMPACT_FEASIBILITY*space->scale)
      return true;
  }
  memset(lambda, 0, (size_t)n*sizeof *lambda);
  memcpy(reached, c, (size_t)n*sizeof *reached);
  return false;
}
