/* Solutions of steps where impulses are not determined: opposed, repeated, resting and
 * pinched contacts. What the ways to solve a step find is compared with an enumeration
 * of its own here, by linear programs over what the contacts may do; and the peg in
 * a slot is one whose continuum is known.
 *
 *   test_impacts_leaves FIRST COUNT          these drawn problems of each kind, from
 *                                            number FIRST on
 *   test_impacts_leaves FIRST COUNT large    of five and six contacts with two tangents
 *                                            alone, minutes each */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "impacts/impact.h"
#include "impact_sampling.h"

enum { MOST_M = 6, MOST_N = 18, MOST_S = 8 };

/* ---- linear programs ------------------------------------------------------ */

/* Maximise over x >= 0 with rows.x <= right, by a dictionary and Bland's rule. */
enum { MOST_ROWS = 120, MOST_COLUMNS = MOST_N + 1 };

typedef struct program {
  int n, m;
  double rows[MOST_ROWS][MOST_N], right[MOST_ROWS];
} program;

typedef struct dictionary {
  int n, m, inside[MOST_ROWS], outside[MOST_COLUMNS];
  double T[MOST_ROWS][MOST_COLUMNS], b[MOST_ROWS], gain[MOST_COLUMNS], height;
} dictionary;

static void exchange(dictionary *d, int row, int column) {
  double pivot = d->T[row][column];
  for (int k = 0; k < d->n; k++) d->T[row][k] /= -pivot;
  d->b[row] /= -pivot;
  d->T[row][column] = 1 / pivot;
  for (int i = 0; i <= d->m; i++) {
    double *to = i < d->m ? d->T[i] : d->gain;
    double *value = i < d->m ? &d->b[i] : &d->height;
    double factor = to[column];
    if (i == row || factor == 0) continue;
    to[column] = 0;
    for (int k = 0; k < d->n; k++) to[k] += factor * d->T[row][k];
    *value += factor * d->b[row];
  }
  int kept = d->inside[row];
  d->inside[row] = d->outside[column];
  d->outside[column] = kept;
}

static void climb(dictionary *d) {
  for (int step = 0; step < 5000; step++) {
    int column = -1, row = -1;
    double least = INFINITY;
    for (int k = 0; k < d->n; k++)
      if (d->gain[k] > 1e-10 &&
          (column < 0 || d->outside[k] < d->outside[column]))
        column = k;
    if (column < 0) return;
    for (int i = 0; i < d->m; i++) {
      if (d->T[i][column] >= -1e-9) continue;
      double at = fmax(d->b[i], 0) / -d->T[i][column];
      if (row >= 0 && (at > least + 1e-13 ||
                       (at > least - 1e-13 && d->inside[i] > d->inside[row])))
        continue;
      least = fmin(least, at);
      row = i;
    }
    if (row < 0) return;
    exchange(d, row, column);
  }
}

/* The dictionary of a point within all bounds; false: there is none. */
static bool is_possible(const program *p, dictionary *d) {
  // one variable more, x0, is taken off every row; how small can it be?
  int worst = 0;
  d->n = p->n + 1;
  d->m = p->m;
  d->height = 0;
  for (int k = 0; k < d->n; k++) {
    d->outside[k] = k;
    d->gain[k] = k == p->n ? -1 : 0;
  }
  for (int i = 0; i < p->m; i++) {
    for (int k = 0; k < p->n; k++) d->T[i][k] = -p->rows[i][k];
    d->T[i][p->n] = 1;
    d->b[i] = p->right[i];
    d->inside[i] = d->n + i;
    if (d->b[i] < d->b[worst]) worst = i;
  }
  if (d->b[worst] < 0) {
    exchange(d, worst, p->n);
    climb(d);
    if (d->height < -1e-9) return false;
  }
  // x0 goes out of the dictionary
  for (int i = 0; i < d->m; i++) {
    if (d->inside[i] != p->n) continue;
    int column = 0;
    for (int k = 1; k < d->n; k++)
      if (fabs(d->T[i][k]) > fabs(d->T[i][column])) column = k;
    exchange(d, i, column);
  }
  int column = 0;
  while (d->outside[column] != p->n) column++;
  d->n--;
  d->outside[column] = d->outside[d->n];
  for (int i = 0; i < d->m; i++) d->T[i][column] = d->T[i][d->n];
  return true;
}

/* The furthest point along `toward` [n] from a possible one. */
static void furthest(dictionary *d, int n, const double toward[], double x[]) {
  d->height = 0;
  for (int k = 0; k < d->n; k++)
    d->gain[k] = d->outside[k] < n ? toward[d->outside[k]] : 0;
  for (int i = 0; i < d->m; i++)
    if (d->inside[i] < n)
      for (int k = 0; k < d->n; k++)
        d->gain[k] += toward[d->inside[i]] * d->T[i][k];
  climb(d);
  memset(x, 0, (size_t)n * sizeof *x);
  for (int i = 0; i < d->m; i++)
    if (d->inside[i] < n) x[d->inside[i]] = d->b[i];
}

/* ---- what contacts may do -------------------------------------------------- */

/* Impulses are normal ones, and of a tangent s + bound lambda_n, which is >= 0. */
typedef struct enumeration {
  const contact_space *space;
  const double *c, *caps;
  program program;
  test_random *random;
  const contact_found *known;
  long n_points, n_missed, n_programs;
} enumeration;

/* side (c + A lambda)_row <= 0 */
static void bound_speed(enumeration *e, int row, double side) {
  const contact_space *space = e->space;
  int n = space->n_rows, T = space->n_tangents;
  double *to = e->program.rows[e->program.m];
  for (int i = 0; i < n; i += 1 + T) {
    to[i] = space->A[row * n + i];
    for (int t = 1; t <= T; t++) {
      to[i + t] = side * space->A[row * n + i + t];
      to[i] -= space->bound[i / (1 + T)] * space->A[row * n + i + t];
    }
    to[i] *= side;
  }
  e->program.right[e->program.m++] = -side * e->c[row];
}

/* side (x_k - slope x_j - at) <= 0 */
static void bound_impulse(enumeration *e, int k, double slope, int j, double at,
                          double side) {
  double *to = e->program.rows[e->program.m];
  memset(to, 0, sizeof e->program.rows[0]);
  to[k] = side;
  if (slope != 0) to[j] -= side * slope;
  e->program.right[e->program.m++] = side * at;
}

/* Is c within so much of what a leaf's corners span? */
static bool is_within(const contact_found *known, int leaf, int n,
                      const double c[], double same) {
  static program weights;
  static dictionary d;
  int n_own = 0, own[MOST_N];
  for (int k = 0; k < known->count; k++) {
    if (known->leaf[k] != leaf) continue;
    double worst = 0;
    for (int i = 0; i < n; i++)
      worst = fmax(worst, fabs(known->reached[k * n + i] - c[i]));
    if (worst <= same) return true;
    if (n_own < MOST_N) own[n_own++] = k;
  }
  if (n_own < 2) return false;
  weights.n = n_own;
  weights.m = 0;
  for (int i = -1; i < n; i++)
    for (int side = -1; side <= 1; side += 2) {
      double *row = weights.rows[weights.m];
      for (int k = 0; k < n_own; k++)
        row[k] = side * (i < 0 ? 1 : known->reached[own[k] * n + i]);
      weights.right[weights.m++] = i < 0 ? side : side * c[i] + same;
    }
  return is_possible(&weights, &d);
}

/* A program's point may be none: its dictionary has been pivoted through those of all
 * decisions before, and rounding adds up. */
static bool is_solution(const enumeration *e, const double x[],
                        const double reached[]) {
  const contact_space *space = e->space;
  double border = 1e-6 * space->scale;
  for (int i = 0; i < space->n_rows; i++) {
    int contact = space->contact_of[i], normal = space->normal_of[i];
    double limit = space->bound[contact] * x[normal], unit = space->weight[i];
    if (i == normal
            ? unit * -x[i] > border || unit * (x[i] - e->caps[contact]) > border
            : unit * (fabs(x[i]) - limit) > border)
      return false;
  }
  return contact_space_violation(space, e->caps, x, reached) <= border;
}

static void look(enumeration *e, dictionary *d) {
  const contact_space *space = e->space;
  int n = space->n_rows, T = space->n_tangents;
  for (int run = 0; run < 4; run++) {
    double toward[MOST_N], along[MOST_N] = {0}, x[MOST_N];
    for (int i = 0; i < n; i++) toward[i] = test_uniform(e->random, -1, 1);
    for (int side = -1; side <= 1; side += 2) {
      memset(along, 0, sizeof along);
      for (int i = 0; i < n; i += 1 + T)
        for (int row = 0; row < n; row++) {
          along[i] += side * toward[row] * space->A[row * n + i];
          for (int t = 1; t <= T; t++) {
            double pushed = side * toward[row] * space->A[row * n + i + t];
            along[i + t] += pushed;
            along[i] -= space->bound[i / (1 + T)] * pushed;
          }
        }
      furthest(d, n, along, x);
      e->n_programs++;
      for (int i = 0; i < n; i += 1 + T)
        for (int t = 1; t <= T; t++)
          x[i + t] -= space->bound[i / (1 + T)] * x[i];
      double reached[MOST_N];
      contact_space_push(space, e->c, x, reached);
      bool is_known = false;
      for (int leaf = 0; leaf < e->known->n_leaves && !is_known; leaf++)
        is_known = is_within(e->known, leaf, n, reached, 1e-5 * space->scale);
      e->n_points++;
      e->n_missed += !is_known && is_solution(e, x, reached);
    }
  }
}

/* All that the contacts from `contact` on may do, by programs that bounds are added to;
 * none of it excludes a border, so that closures are looked at. */
static void enumerate(enumeration *e, int contact) {
  const contact_space *space = e->space;
  int T = space->n_tangents, n_normal = contact * (1 + T), m = e->program.m;
  static dictionary dictionaries[MOST_M + 1];
  dictionary *d = &dictionaries[contact];
  e->n_programs++;
  if (!is_possible(&e->program, d)) return;
  if (contact == space->n_contacts) {
    look(e, d);
    return;
  }
  double bound = space->bound[contact];
  for (int normal = 0; normal < 3; normal++) {
    int slips = normal == 0 || bound == 0 ? 1 : T == 1 ? 3 : 9;
    for (int slip = 0; slip < slips; slip++) {
      e->program.m = m;
      if (normal != 2) bound_speed(e, n_normal, -1);
      if (normal != 0) bound_speed(e, n_normal, 1);
      if (normal == 0) bound_impulse(e, n_normal, 0, 0, 0, 1);
      if (normal == 2) bound_impulse(e, n_normal, 0, 0, e->caps[contact], -1);
      for (int t = 1; t <= T && normal > 0 && bound > 0; t++) {
        int what = t == 1 ? slip % 3 : slip / 3;
        if (what != 1) bound_speed(e, n_normal + t, 1);
        if (what != 2) bound_speed(e, n_normal + t, -1);
        // forwards: s = -bound lambda; backwards: s = bound lambda
        if (what == 1) bound_impulse(e, n_normal + t, 0, 0, 0, 1);
        if (what == 2)
          bound_impulse(e, n_normal + t, 2 * bound, n_normal, 0, -1);
      }
      enumerate(e, contact + 1);
    }
  }
  e->program.m = m;
}

static void begin(enumeration *e) {
  const contact_space *space = e->space;
  int T = space->n_tangents;
  e->program.n = space->n_rows;
  e->program.m = 0;
  for (int i = 0; i < space->n_contacts; i++) {
    int normal = i * (1 + T);
    bound_impulse(e, normal, 0, 0, e->caps[i], 1);
    for (int t = 1; t <= T; t++)
      bound_impulse(e, normal + t, 2 * space->bound[i], normal, 0, 1);
  }
}

/* ---- drawn problems -------------------------------------------------------- */

typedef struct collision {
  double M[MOST_S * MOST_S], Jn[MOST_M * MOST_S], Jt[2 * MOST_M * MOST_S];
  double mu[MOST_M], v[MOST_S];
  ode_mlcp_impact_problem problem;
} collision;

enum { ANY, OPPOSED, REPEATED, RESTING, PINCHED, N_KINDS };
static const char *const kinds[] = {"any", "opposed", "repeated", "resting",
                                    "pinched"};

/* Take from v what rows before and this one see of it. `seen` is an orthonormal basis of
 * those before. */
static void rest_on(collision *it, const double row[], double seen[][MOST_S],
                    int *n_seen) {
  int s = it->problem.n_velocities;
  double own[MOST_S], along, length = 0;
  memcpy(own, row, (size_t)s * sizeof *own);
  for (int k = 0; k < *n_seen; k++) {
    along = 0;
    for (int j = 0; j < s; j++) along += own[j] * seen[k][j];
    for (int j = 0; j < s; j++) own[j] -= along * seen[k][j];
  }
  for (int j = 0; j < s; j++) length += own[j] * own[j];
  if (length < 1e-12) return;
  along = 0;
  for (int j = 0; j < s; j++) {
    seen[*n_seen][j] = own[j] /= sqrt(length);
    along += own[j] * it->v[j];
  }
  ++*n_seen;
  for (int j = 0; j < s; j++) it->v[j] -= along * own[j];
}

static void draw(collision *it, test_random *random, int kind, int m, int T) {
  int s = 2 + (int)test_uniform(random, 0, m * (1 + T) > 8 ? 6 : 3);
  memset(it, 0, sizeof *it);
  it->problem = collision_of(s, m, T, it->M, it->Jn, it->Jt, it->mu, it->v);
  double heavy = pow(10, test_uniform(random, -2, 2));
  for (int i = 0; i < s; i++)
    it->M[i * s + i] = heavy * test_uniform(random, 0.3, 2);
  for (int i = 0; i < m * s; i++) it->Jn[i] = test_uniform(random, -1, 1);
  for (int i = 0; i < m * T * s; i++) it->Jt[i] = test_uniform(random, -1, 1);
  for (int i = 0; i < m; i++)
    it->mu[i] =
        test_uniform(random, 0, 1) < 0.1 ? 0 : test_uniform(random, 0, 1.5);
  for (int i = 0; i < s; i++) it->v[i] = test_uniform(random, -1, 1);
  if (kind == ANY) return;
  // pairs of contacts from the second on: the first strikes
  int first = kind == PINCHED ? 1 : 0;
  for (int i = first; i + 1 < m; i += 2) {
    if (kind == RESTING && test_uniform(random, 0, 1) < 0.5) continue;
    double side = kind == REPEATED ? 1 : -1;
    for (int j = 0; j < s; j++) {
      it->Jn[(i + 1) * s + j] = side * it->Jn[i * s + j];
      for (int t = 0; t < T; t++)
        it->Jt[((i + 1) * T + t) * s + j] = it->Jt[(i * T + t) * s + j];
    }
    if (test_uniform(random, 0, 1) < 0.5) it->mu[i + 1] = it->mu[i];
  }
  if (kind == REPEATED) return;
  double seen[MOST_S][MOST_S];
  int n_seen = 0;
  for (int i = first; i < m && n_seen + 1 < s; i++)
    if (kind != OPPOSED || i < m - 1 || m % 2 == 0)
      rest_on(it, &it->Jn[i * s], seen, &n_seen);
}

typedef struct counts {
  long problems, steps, several, continua, points, missed, programs, broken,
      differ, paths;
} counts;

static double distance(const double known[], int n_known, int n,
                       const double c[]) {
  double best = INFINITY;
  for (int k = 0; k < n_known; k++) {
    double worst = 0;
    for (int i = 0; i < n; i++)
      worst = fmax(worst, fabs(known[k * n + i] - c[i]));
    best = fmin(best, worst);
  }
  return best;
}

/* Solutions that paths lead to are among those known. */
static void follow_paths(ode_mlcp_impact *impact, const contact_found *known,
                         const double caps[], counts *counts) {
  const contact_space *space = &impact->islands[0].space;
  int n = space->n_rows, m = space->n_contacts;
  ode_mlcp_impact_options options = impact_defaults();
  options.method = ODE_MLCP_IMPACT_PATH;
  impact_sampler sampler;
  open_sampler(&sampler, impact, &options);
  for (uint64_t sample = 0; sample < 20; sample++) {
    memcpy(sampler.inputs, space->start, (size_t)n * sizeof *sampler.inputs);
    memcpy(sampler.inputs + n, caps, (size_t)m * sizeof(double));
    int n_found =
        impact_sampler_step(&sampler, sample, 0, IMPACT_MAX_SOLUTIONS);
    counts->differ += n_found == 0;
    for (int i = 0; i < n_found; i++) {
      bool is_known = false;
      for (int leaf = 0; leaf < known->n_leaves && !is_known; leaf++)
        is_known = is_within(known, leaf, n, &sampler.found.reached[i * n],
                             1e-5 * space->scale);
      counts->differ += !is_known;
    }
    counts->paths++;
  }
  impact_sampler_close(&sampler);
}

/* One step of a problem by all ways that find every solution, against the programs. */
static void judge(const ode_mlcp_impact_problem *problem, test_random *random,
                  counts *counts) {
  static const ode_mlcp_impact_method methods[] = {
      ODE_MLCP_IMPACT_AUTOMATIC, ODE_MLCP_IMPACT_SEARCH, ODE_MLCP_IMPACT_MODES};
  ode_mlcp_impact *impact = make_impact(problem);
  const contact_space *space = &impact->islands[0].space;
  int n = space->n_rows, m = space->n_contacts, n_first = 0;
  double size = 0, caps[MOST_M];
  for (int i = 0; i < n; i += space->per_contact)
    size = fmax(size, -space->start[i] / space->A[i * (n + 1)]);
  if (size == 0 || space->scale < 0.03 || impact->n_islands > 1) {
    ode_mlcp_impact_destroy(impact);
    return;
  }
  counts->problems++;
  for (int i = 0; i < m; i++) caps[i] = size * test_uniform(random, 0.05, 2);
  static double first[(IMPACT_MAX_SOLUTIONS + 1) * MOST_N];
  bool all = true;
  for (int k = 0; k < 3; k++) {
    if (k == 2 && contact_modes_count(space) == 0) continue;
    ode_mlcp_impact_options options = impact_defaults();
    options.method = methods[k];
    impact_sampler sampler;
    open_sampler(&sampler, impact, &options);
    memcpy(sampler.inputs, space->start, (size_t)n * sizeof *caps);
    memcpy(sampler.inputs + n, caps, (size_t)m * sizeof *caps);
    int n_found = impact_sampler_step(&sampler, 0, 0, IMPACT_MAX_SOLUTIONS);
    all &= sampler.met_all;
    for (int i = 0; i < n_found; i++)
      counts->broken +=
          contact_space_violation(space, caps, &sampler.found.lambdas[i * n],
                                  &sampler.found.reached[i * n]) >
          1e-8 * space->scale;
    if (k == 0) {
      memcpy(first, sampler.found.reached,
             sizeof *first * (size_t)(n_found * n));
      n_first = n_found;
      counts->continua += sampler.spans;
    }
    for (int i = 0; k > 0 && i < n_found; i++)
      counts->differ +=
          distance(first, n_first, n, &sampler.found.reached[i * n]) >
          1e-5 * space->scale;
    for (int i = 0; k > 0 && i < n_first; i++)
      counts->differ += distance(sampler.found.reached, n_found, n,
                                 &first[i * n]) > 1e-5 * space->scale;
    impact_sampler_close(&sampler);
  }
  // what is not said to be all need not be
  if (all) {
    static enumeration e;
    static double scratch[1 << 16], lambdas[IMPACT_MAX_SOLUTIONS * MOST_N];
    static double reached[IMPACT_MAX_SOLUTIONS * MOST_N];
    int leaf[IMPACT_MAX_SOLUTIONS];
    contact_found found = {.most = IMPACT_MAX_SOLUTIONS,
                           .lambdas = lambdas,
                           .reached = reached,
                           .leaf = leaf};
    CU_ASSERT_FATAL(contact_search_wide_scratch(space) <= sizeof scratch);
    contact_search_solve(space, impact->islands[0].search_start, space->start,
                         caps, IMPACT_FEASIBILITY * space->scale, 1000000,
                         scratch, &found);
    for (int k = 0; k < found.count; k++)
      counts->differ +=
          distance(first, n_first, n, &reached[k * n]) > 1e-5 * space->scale;
    follow_paths(impact, &found, caps, counts);
    e = (enumeration){.space = space,
                      .c = space->start,
                      .caps = caps,
                      .random = random,
                      .known = &found};
    counts->steps++;
    counts->several += found.n_leaves > 1;
    begin(&e);
    enumerate(&e, 0);
    counts->points += e.n_points;
    counts->missed += e.n_missed;
    counts->programs += e.n_programs;
  }
  ode_mlcp_impact_destroy(impact);
}

static uint64_t first_problem;
static long problems_wanted;
static bool large_ones_wanted;

static void test_nothing_is_missed(void) {
  static const int sizes[][2] = {{2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1},
                                 {2, 2}, {3, 2}, {4, 2}, {5, 2}, {6, 2}};
  enum { LARGE = 8, SIZES = 10 };
  for (int kind = 0; kind < N_KINDS; kind++) {
    counts counts = {0};
    for (uint64_t k = first_problem; counts.problems < problems_wanted; k++) {
      test_random random = {1000003 * k + (uint64_t)kind};
      collision it;
      const int *size =
          sizes[large_ones_wanted ? LARGE + k % (SIZES - LARGE) : k % LARGE];
      draw(&it, &random, kind, size[0], size[1]);
      long missed = counts.missed, differ = counts.differ;
      judge(&it.problem, &random, &counts);
      if (counts.missed > missed || counts.differ > differ)
        printf("\n  problem %llu: %ld missed, %ld differ",
               (unsigned long long)k, counts.missed - missed,
               counts.differ - differ);
    }
    printf(
        "\n  %s: %ld problems, %ld of them with several solutions, %ld with "
        "continua, %ld said to be whole; of %ld points by %ld programs %ld "
        "missed, %ld wrong, %ld "
        "between ways and %ld paths",
        kinds[kind], counts.problems, counts.several, counts.continua,
        counts.steps, counts.points, counts.programs, counts.missed,
        counts.broken, counts.differ, counts.paths);
    CU_ASSERT_EQUAL(counts.missed, 0);
    CU_ASSERT_EQUAL(counts.broken, 0);
    CU_ASSERT_EQUAL(counts.differ, 0);
    if (large_ones_wanted) continue; // too few for shares
    CU_ASSERT(counts.steps * 100 >= counts.problems * 95);
    if (kind == PINCHED) CU_ASSERT(counts.continua * 10 >= counts.problems);
  }
}

/* ---- a peg in a slot --------------------------------------------------------- */

/* A hammer of the peg's mass strikes it along the slot; two walls hold it. In each
 * unit of mass, length and time the answer is the same. */
static ode_mlcp_impact *make_slot(double skew, double mass, double speed) {
  const double M[9] = {mass, 0, 0, 0, mass, 0, 0, 0, mass};
  double Jn[9] = {0, 1, -1, 1, skew, 0, -1, skew, 0};
  double Jt[9] = {0, 0, 0, -skew, 1, 0, skew, 1, 0};
  const double mu[3] = {0.5, 0.5, 0.5}, v[3] = {0, 0, speed};
  const ode_mlcp_impact_problem problem =
      collision_of(3, 3, 1, M, Jn, Jt, mu, v);
  return make_impact(&problem);
}

static void fixed_caps(void *context, uint64_t seed, uint64_t sample, int step,
                       int n_contacts, double caps[]) {
  const double given[3] = {0.4, 0.3, 0.3}, *unit = context;
  (void)seed;
  (void)sample;
  for (int i = 0; i < n_contacts; i++)
    caps[i] = step == 0 ? given[i] * *unit : 1e-9 * *unit;
}

static void test_peg_in_a_slot(void) {
  const double skews[] = {0, 1e-6, -1e-6};
  const double masses[] = {1, 0.02, 300}, speeds[] = {1, 1e-3, 40};
  for (int k = 0; k < 3; k++)
    for (int method = 0; method <= ODE_MLCP_IMPACT_SEARCH; method++) {
      if (method == ODE_MLCP_IMPACT_PATH) continue; // it meets one solution
      double unit = masses[k] * speeds[k];
      ode_mlcp_impact *impact = make_slot(skews[k], masses[k], speeds[k]);
      ode_mlcp_impact_options options = impact_defaults();
      options.method = (ode_mlcp_impact_method)method;
      options.draw = fixed_caps;
      options.draw_context = &unit;
      options.h = unit;
      options.samples = 500;
      options.steps = 0;
      options.tolerance = 0.7 * speeds[k]; // one step is all
      options.epsilon = 1e-12 * unit;
      ode_mlcp_impact_set set = impact_set_of(impact, &options);
      double low = INFINITY, high = 0, mean = 0;
      for (uint64_t i = 0; i < set.n_outcomes; i++) {
        double y = set.v[3 * i + 1] / speeds[k];
        low = fmin(low, y);
        high = fmax(high, y);
        mean += y / (double)set.n_outcomes;
      }
      CU_ASSERT(low > 0.1 - 2e-6 && high < 0.4 + 2e-6);
      CU_ASSERT(low < 0.102 && high > 0.398);
      CU_ASSERT(fabs(mean - 0.25) < 0.02);
      CU_ASSERT_EQUAL(set.n_continua, set.n_lcps);
      CU_ASSERT_EQUAL(set.n_incomplete, 0);
      ode_mlcp_impact_set_release(&set);
      double together[8 * 3];
      int n_together;
      CU_ASSERT_EQUAL(
          ode_mlcp_impact_simultaneous(impact, 8, together, &n_together),
          ODE_MLCP_IMPACT_CONTINUUM);
      CU_ASSERT_EQUAL_FATAL(n_together, 2);
      double a = together[1] / speeds[k], b = together[4] / speeds[k];
      CU_ASSERT(fabs(fmin(a, b)) < 2e-6 && fabs(fmax(a, b) - 0.5) < 2e-6);
      ode_mlcp_impact_destroy(impact);
    }
}

int main(int argc, char **argv) {
  problems_wanted = test_is_short() ? 8 : 24; // each size once
  if (argc > 2) {
    first_problem = strtoull(argv[1], NULL, 10);
    problems_wanted = strtol(argv[2], NULL, 10);
    large_ones_wanted = argc > 3 && strcmp(argv[3], "large") == 0;
  }
  CU_TestInfo tests[] = {{"nothing is missed", test_nothing_is_missed},
                         {"peg in a slot", test_peg_in_a_slot},
                         CU_TEST_INFO_NULL};
  return run_tests("impacts: leaves", tests);
}
