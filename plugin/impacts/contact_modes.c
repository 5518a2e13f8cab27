#include "impacts/contact_modes.h"

#include <math.h>
#include <string.h>

#include "common/six.h"

/* A system with a pivot below this, after scaling, is singular. */
#define SINGULAR 1e-9

/* Of a table that is not too large. */
enum { MOST_CONTACTS = 4, MOST_ROWS = 8, MOST_INPUTS = 12 };
enum { MOST_CONDITIONS = 4 * MOST_CONTACTS + 2 * MOST_ROWS };

enum { SEPARATING, CLOSED, CAPPED };
enum { STICKING, FORWARDS, BACKWARDS };

/* A mode while it is worked out. Impulses are a linear function of the unknowns u, the
 * normal impulses of closed contacts and friction impulses of sticking tangents, and of
 * the caps. Their equations say that these rows end at speed 0. */
typedef struct mode {
  int normal[MOST_CONTACTS], tangent[MOST_ROWS];
  int n_unknowns, row[MOST_ROWS], column_of[MOST_ROWS];
  double of_unknowns[MOST_ROWS][MOST_ROWS], impulses[MOST_ROWS][MOST_INPUTS];
  double left[MOST_ROWS][MOST_ROWS + MOST_INPUTS]; /* [A F | -c - A G] */
  double *conditions;                              /* the table's */
  int n_conditions;
} mode;

static int modes_of_one(const contact_space *space) {
  return space->n_tangents == 1 ? 7 : 19;
}

int contact_modes_count(const contact_space *space) {
  int count = 1;
  for (int i = 0; i < space->n_contacts; i++) {
    count *= modes_of_one(space);
    if (count > CONTACT_MODES_MOST) return 0;
  }
  return count;
}

/* ---- one mode ---------------------------------------------------------- */

static void decode(const contact_space *space, int number, mode *it) {
  int one = modes_of_one(space), slips = (one - 1) / 2;
  for (int i = space->n_contacts - 1; i >= 0; i--, number /= one) {
    int digit = number % one, slip = (digit + slips - 1) % slips;
    it->normal[i] = (digit + slips - 1) / slips;
    for (int t = 1; t <= space->n_tangents; t++, slip /= 3)
      it->tangent[i * space->per_contact + t] = slip % 3;
  }
}

/* Impulses by unknowns and, so far, caps. */
static void write_impulse_forms(const contact_space *space, mode *it) {
  memset(it->of_unknowns, 0, sizeof it->of_unknowns);
  memset(it->impulses, 0, sizeof it->impulses);
  it->n_unknowns = 0;
  for (int i = 0; i < space->n_contacts; i++) {
    int normal = i * space->per_contact, cap = space->n_rows + i, own = -1;
    if (it->normal[i] == SEPARATING) continue;
    if (it->normal[i] == CLOSED) {
      own = it->n_unknowns++;
      it->row[own] = normal;
      it->of_unknowns[normal][own] = 1;
    } else {
      it->impulses[normal][cap] = 1;
    }
    for (int row = normal + 1; row < normal + space->per_contact; row++) {
      // friction opposes the slip
      double s =
          it->tangent[row] == FORWARDS ? -space->bound[i] : space->bound[i];
      if (it->tangent[row] == STICKING) {
        it->row[it->n_unknowns] = row;
        it->of_unknowns[row][it->n_unknowns++] = 1;
      } else if (own >= 0) {
        it->of_unknowns[row][own] = s;
      } else {
        it->impulses[row][cap] = s;
      }
    }
  }
}

static void write_equations(const contact_space *space, mode *it) {
  int n = space->n_rows, u = it->n_unknowns, n_inputs = n + space->n_contacts;
  for (int e = 0; e < u; e++) {
    const double *A = &space->A[it->row[e] * n];
    double *equation = it->left[e];
    memset(equation, 0, sizeof it->left[e]);
    for (int j = 0; j < n; j++) {
      for (int k = 0; k < u; k++) equation[k] += A[j] * it->of_unknowns[j][k];
      for (int k = n; k < n_inputs; k++)
        equation[u + k] -= A[j] * it->impulses[j][k];
    }
    equation[u + it->row[e]] = -1;
  }
}

/* Complete pivoting: the largest entry from `step` on comes to row `step` and column
 * column_of[step]. False where that is nothing but rounding. */
static bool bring_pivot(mode *it, int step) {
  int u = it->n_unknowns, row = step, position = step;
  double best = 0, kept[MOST_ROWS + MOST_INPUTS];
  for (int e = step; e < u; e++)
    for (int k = step; k < u; k++) {
      double size = fabs(it->left[e][it->column_of[k]]);
      if (size <= best) continue;
      best = size;
      row = e;
      position = k;
    }
  int column = it->column_of[position];
  it->column_of[position] = it->column_of[step];
  it->column_of[step] = column;
  memcpy(kept, it->left[row], sizeof kept);
  memmove(it->left[row], it->left[step], sizeof kept); /* may be the same */
  memcpy(it->left[step], kept, sizeof kept);
  return best >= SINGULAR;
}

/* Gauss-Jordan on columns scaled to a largest entry of 1: impulses by inputs alone.
 * False: singular. */
static bool solve_equations(const contact_space *space, mode *it) {
  int u = it->n_unknowns, n_inputs = space->n_rows + space->n_contacts;
  double scale[MOST_ROWS];
  for (int k = 0; k < u; k++) {
    double largest = 0;
    for (int e = 0; e < u; e++) largest = fmax(largest, fabs(it->left[e][k]));
    scale[k] = largest > 0 ? 1 / largest : 1;
    for (int e = 0; e < u; e++) it->left[e][k] *= scale[k];
    it->column_of[k] = k;
  }
  for (int step = 0; step < u; step++) {
    if (!bring_pivot(it, step)) return false;
    double *pivot_row = it->left[step];
    double inverse = 1 / pivot_row[it->column_of[step]];
    for (int j = 0; j < u + n_inputs; j++) pivot_row[j] *= inverse;
    for (int e = 0; e < u; e++) {
      double factor = it->left[e][it->column_of[step]];
      if (e == step || factor == 0) continue;
      for (int j = 0; j < u + n_inputs; j++)
        it->left[e][j] -= factor * pivot_row[j];
    }
  }
  for (int i = 0; i < space->n_rows; i++)
    for (int e = 0; e < u; e++) {
      int k = it->column_of[e];
      for (int j = 0; j < n_inputs; j++)
        it->impulses[i][j] +=
            it->of_unknowns[i][k] * scale[k] * it->left[e][u + j];
    }
  return true;
}

static double *next_condition(const contact_space *space, mode *it) {
  return &it->conditions[it->n_conditions++ *
                         (space->n_rows + space->n_contacts)];
}

/* sign (c_row + A lambda) >= 0 */
static void add_speed(const contact_space *space, mode *it, int row,
                      double sign) {
  int n = space->n_rows, n_inputs = n + space->n_contacts;
  double *condition = next_condition(space, it);
  for (int j = 0; j < n_inputs; j++) {
    double sum = j == row ? 1 : 0;
    for (int k = 0; k < n; k++)
      sum += space->A[row * n + k] * it->impulses[k][j];
    condition[j] = sign * sum;
  }
}

/* weight (a lambda_row + b lambda_other) >= 0, in m/s */
static double *add_room(const contact_space *space, mode *it, double weight,
                        int row, double a, int other, double b) {
  double *condition = next_condition(space, it);
  for (int j = 0; j < space->n_rows + space->n_contacts; j++)
    condition[j] =
        weight * (a * it->impulses[row][j] + b * it->impulses[other][j]);
  return condition;
}

static void write_conditions(const contact_space *space, mode *it) {
  it->n_conditions = 0;
  for (int i = 0; i < space->n_contacts; i++) {
    int normal = i * space->per_contact;
    double weight = space->weight[normal];
    if (it->normal[i] != CLOSED)
      add_speed(space, it, normal, it->normal[i] == SEPARATING ? 1 : -1);
    if (it->normal[i] == SEPARATING) continue;
    if (it->normal[i] == CLOSED) {
      add_room(space, it, weight, normal, 1, normal, 0);
      add_room(space, it, weight, normal, -1, normal, 0)[space->n_rows + i] +=
          weight;
    }
    for (int row = normal + 1; row < normal + space->per_contact; row++)
      if (it->tangent[row] == STICKING)
        for (int side = 1; side >= -1; side -= 2)
          add_room(space, it, space->weight[row], normal, space->bound[i], row,
                   side);
      else
        add_speed(space, it, row, it->tangent[row] == FORWARDS ? 1 : -1);
  }
}

/* ---- the table --------------------------------------------------------- */

/* Add the mode behind those that are there. False: no memory. */
static bool add(contact_modes *modes, const contact_space *space, mode *it) {
  size_t n = (size_t)space->n_rows, n_inputs = (size_t)modes->n_inputs;
  size_t place = (size_t)modes->n_modes, next = (size_t)modes->first[place];
  memory_pool *pool = &modes->pool;
  if (!POOL_GROW(pool, modes->conditions,
                 (next + MOST_CONDITIONS) * n_inputs) ||
      !POOL_GROW(pool, modes->impulses, (place + 1) * n * n_inputs) ||
      !POOL_GROW(pool, modes->rests, (place + 1) * n))
    return false;
  it->conditions = &modes->conditions[next * n_inputs];
  write_conditions(space, it);
  for (size_t row = 0; row < n; row++) {
    memcpy(&modes->impulses[(place * n + row) * n_inputs], it->impulses[row],
           n_inputs * sizeof(double));
    int contact = space->contact_of[row];
    modes->rests[place * n + row] =
        row == (size_t)space->normal_of[row]
            ? it->normal[contact] == CLOSED
            : it->normal[contact] != SEPARATING && it->tangent[row] == STICKING;
  }
  modes->first[++modes->n_modes] = (int)next + it->n_conditions;
  return true;
}

ode_mlcp_impact_status contact_modes_build(contact_modes *modes,
                                           const contact_space *space,
                                           const memory_source *source) {
  int count = contact_modes_count(space);
  memset(modes, 0, sizeof *modes);
  if (count == 0) return ODE_MLCP_IMPACT_TOO_MANY_MODES;
  modes->n_inputs = space->n_rows + space->n_contacts;
  modes->is_whole = true;
  memory_pool_open(&modes->pool, source);
  bool ready = POOL_GROW(&modes->pool, modes->first, count + 1);
  if (ready) modes->first[0] = 0;
  mode it;
  for (int number = 0; number < count && ready; number++) {
    decode(space, number, &it);
    write_impulse_forms(space, &it);
    write_equations(space, &it);
    if (!solve_equations(space, &it)) {
      modes->is_whole = false;
      continue;
    }
    ready = add(modes, space, &it);
  }
  if (!ready) contact_modes_release(modes);
  return ready ? ODE_MLCP_IMPACT_DONE : ODE_MLCP_IMPACT_NO_MEMORY;
}

void contact_modes_release(contact_modes *modes) {
  memory_pool_release(&modes->pool);
  memset(modes, 0, sizeof *modes);
}

/* ---- a step ------------------------------------------------------------ */

typedef int64_t four_masks
    __attribute__((vector_size(32), aligned(8), may_alias));

/* Steps that gates are chosen by. */
enum { LEARNING_STEPS = 32 };

bool contact_gates_open(contact_gates *gates, const contact_modes *modes,
                        arena *arena) {
  size_t n_conditions =
      modes->n_modes > 0 ? (size_t)modes->first[modes->n_modes] : 0;
  size_t size = ((size_t)modes->n_modes + 3) / 4 * 4 * (size_t)modes->n_inputs;
  gates->n_steps = 0;
  if (!ARENA_TAKE(arena, gates->failures, n_conditions) ||
      !ARENA_TAKE(arena, gates->gates, size))
    return false;
  memset(gates->failures, 0, n_conditions * sizeof *gates->failures);
  memset(gates->gates, 0, size * sizeof *gates->gates); // open to all
  return true;
}

static void learn(const contact_modes *modes, const double y[], double least,
                  contact_gates *gates) {
  int n = modes->n_inputs;
  for (int k = 0; k < modes->first[modes->n_modes]; k++) {
    const double *condition = &modes->conditions[(size_t)k * (size_t)n];
    double sum = 0;
    for (int j = 0; j < n; j++) sum += condition[j] * y[j];
    gates->failures[k] += sum < least;
  }
  if (++gates->n_steps < LEARNING_STEPS) return;
  for (int place = 0; place < modes->n_modes; place++) {
    int best = modes->first[place];
    for (int k = best; k < modes->first[place + 1]; k++)
      if (gates->failures[k] > gates->failures[best]) best = k;
    for (int j = 0; j < n; j++)
      gates->gates[(place / 4 * n + j) * 4 + place % 4] =
          modes->conditions[(size_t)best * (size_t)n + (size_t)j];
  }
}

KERNEL bool holds(const contact_modes *modes, int place, const double y[],
                  int n, double least) {
  const double *condition =
      &modes->conditions[(size_t)modes->first[place] * (size_t)n];
  int count = modes->first[place + 1] - modes->first[place];
  for (int k = 0; k < count; k++, condition += n) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += condition[j] * y[j];
    if (sum < least) return false;
  }
  return true;
}

/* Impulses of a mode, kept within their bounds, and the velocities they lead to. */
static void apply(const contact_modes *modes, const contact_space *space,
                  int place, const double y[], double lambda[],
                  double reached[]) {
  size_t n = (size_t)space->n_rows, n_inputs = (size_t)modes->n_inputs;
  for (size_t row = 0; row < n; row++) {
    const double *map = &modes->impulses[((size_t)place * n + row) * n_inputs];
    double sum = 0;
    for (size_t j = 0; j < n_inputs; j++) sum += map[j] * y[j];
    int contact = space->contact_of[row], normal = space->normal_of[row];
    double limit = (size_t)normal == row
                       ? y[n + (size_t)contact]
                       : space->bound[contact] * lambda[normal];
    double least = (size_t)normal == row ? 0 : -limit;
    lambda[row] = smaller(larger(sum, least), limit);
  }
  contact_space_push(space, y, lambda, reached);
  for (size_t row = 0; row < n; row++)
    if (modes->rests[(size_t)place * n + row] ||
        fabs(reached[row]) <= 1e-14 * space->scale)
      reached[row] = 0;
}

KERNEL int solve_for(const contact_modes *modes, const contact_space *space,
                     contact_gates *gates, int n, const double y[], int most,
                     double lambdas[], double reached[]) {
  int n_rows = space->n_rows, n_found = 0;
  double least = -IMPACT_FEASIBILITY * space->scale;
  const four leasts = {least, least, least, least};
  if (gates->n_steps < LEARNING_STEPS) learn(modes, y, least, gates);
  for (int first = 0; first < modes->n_modes; first += 4) {
    const double *gate = &gates->gates[(size_t)first * (size_t)n];
    four sum = *(const four *)gate * y[0];
    for (int j = 1; j < n; j++) sum += *(const four *)(gate + 4 * j) * y[j];
    four_masks open = sum >= leasts;
    if ((open[0] | open[1] | open[2] | open[3]) == 0) continue;
    for (int k = first; k < first + 4 && k < modes->n_modes; k++) {
      if (open[k - first] == 0 || !holds(modes, k, y, n, least)) continue;
      double *found = &reached[n_found * n_rows];
      apply(modes, space, k, y, &lambdas[n_found * n_rows], found);
      bool is_new = true;
      for (int i = 0; i < n_found && is_new; i++)
        is_new = !contact_space_is_same(space, &reached[i * n_rows], found);
      n_found += is_new;
      if (n_found == most) return n_found;
    }
  }
  return n_found;
}

/* A constant size lets the compiler unroll the usual case of two planar contacts. */
KERNEL int solve_any(const contact_modes *modes, const contact_space *space,
                     contact_gates *gates, const double y[], int most,
                     double lambdas[], double reached[]) {
  int n = modes->n_inputs;
  return n == 6 ? solve_for(modes, space, gates, 6, y, most, lambdas, reached)
                : solve_for(modes, space, gates, n, y, most, lambdas, reached);
}

IN_BOTH_WIDTHS(extern, int, contact_modes_solve,
               (const contact_modes *modes, const contact_space *space,
                contact_gates *gates, const double y[], int most,
                double lambdas[], double reached[]),
               return, solve_any,
               (modes, space, gates, y, most, lambdas, reached))
