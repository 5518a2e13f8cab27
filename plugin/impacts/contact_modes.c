#include "impacts/contact_modes.h"

#include <math.h>
#include <string.h>

#include "impacts/philox.h"

/* A system with a pivot below this, after scaling, is singular. */
#define SINGULAR 1e-9

enum { SEPARATING, CLOSED, CAPPED };
enum { STICKING, SLIPPING_FORWARDS, SLIPPING_BACKWARDS };

static int power(int base, int exponent) {
  int result = 1;
  for (int i = 0; i < exponent; i++) result *= base;
  return result;
}

int contact_modes_of_one(const contact_space *space, bool capped) {
  return 1 + (capped ? 2 : 1) * power(3, space->n_tangents);
}

int contact_modes_count(const contact_space *space, bool capped) {
  int count = 1, one = contact_modes_of_one(space, capped);
  for (int i = 0; i < space->n_contacts; i++) {
    count *= one;
    if (count > 1 << 20) return 0;
  }
  return count;
}

/* What a contact does in a mode. */
typedef struct contact_mode {
  int normal;
  int tangent[2];
} contact_mode;

static contact_mode decode(const contact_space *space, int digit) {
  contact_mode mode = {SEPARATING, {STICKING, STICKING}};
  if (digit == 0) return mode;
  int slips = power(3, space->n_tangents);
  mode.normal = digit <= slips ? CLOSED : CAPPED;
  int slip = (digit - 1) % slips;
  for (int t = 0; t < space->n_tangents; t++) {
    mode.tangent[t] = slip % 3;
    slip /= 3;
  }
  return mode;
}

/* ---- one mode ---------------------------------------------------------- */

/* The linear system of a mode. Impulses are lambda = F u + G lambda_max with
 * the unknowns u: normal impulses of closed contacts, friction impulses of
 * sticking tangents. Their equations say that these rows end at speed 0. */
typedef struct mode_system {
  int n_unknowns;
  int *row;     /* [n_unknowns] the row an unknown belongs to */
  double *F;    /* n_rows x n_unknowns */
  double *G;    /* n_rows x m */
  double *left; /* n_unknowns x (n_unknowns + n_inputs): [A F | -c - A G] */
} mode_system;

size_t contact_mode_scratch(const contact_space *space) {
  size_t n = (size_t)space->n_rows, m = (size_t)space->n_contacts;
  // the last terms hold the unknowns' rows, the pivoting's columns and scales
  return n * n + n * m + n * (n + n + m) + 3 * n + 2 * m;
}

static void set_up(const contact_space *space, const int contacts[],
                   int n_contacts, const contact_mode mode[],
                   mode_system *system) {
  int n = space->n_rows, m = space->n_contacts, T = space->n_tangents;
  memset(system->F, 0, (size_t)(n * n) * sizeof *system->F);
  memset(system->G, 0, (size_t)(n * m) * sizeof *system->G);
  system->n_unknowns = 0;

  for (int k = 0; k < n_contacts; k++) {
    int i = contacts[k], normal = i * space->per_contact;
    if (mode[k].normal == SEPARATING) continue;
    int unknown = -1;
    if (mode[k].normal == CLOSED) {
      unknown = system->n_unknowns++;
      system->row[unknown] = normal;
      system->F[normal * n + unknown] = 1;
    } else {
      system->G[normal * m + i] = 1;
    }
    for (int t = 1; t <= T; t++) {
      int row = normal + t, slip = mode[k].tangent[t - 1];
      if (slip == STICKING) {
        system->row[system->n_unknowns] = row;
        system->F[row * n + system->n_unknowns++] = 1;
        continue;
      }
      // friction opposes the slip: s = -+ bound lambda_n
      double s = slip == SLIPPING_FORWARDS ? -space->bound[i] : space->bound[i];
      if (unknown >= 0)
        system->F[row * n + unknown] = s;
      else
        system->G[row * m + i] = s;
    }
  }
}

static void write_equations(const contact_space *space, mode_system *system) {
  int n = space->n_rows, m = space->n_contacts, u = system->n_unknowns;
  int width = u + n + m;
  for (int e = 0; e < u; e++) {
    const double *A = &space->A[system->row[e] * n];
    double *equation = &system->left[e * width];
    for (int k = 0; k < u; k++) {
      double sum = 0;
      for (int j = 0; j < n; j++) sum += A[j] * system->F[j * n + k];
      equation[k] = sum;
    }
    for (int j = 0; j < n; j++) equation[u + j] = j == system->row[e] ? -1 : 0;
    for (int i = 0; i < m; i++) {
      double sum = 0;
      for (int j = 0; j < n; j++) sum += A[j] * system->G[j * m + i];
      equation[u + n + i] = -sum;
    }
  }
}

/* Gauss-Jordan with complete pivoting on columns scaled to 1. The solution of
 * unknown k ends in equation k, behind the unknowns. False: singular. */
static bool solve_equations(int u, int width, double left[], double scale[],
                            int column_of[]) {
  for (int k = 0; k < u; k++) {
    double largest = 0;
    for (int e = 0; e < u; e++)
      largest = fmax(largest, fabs(left[e * width + k]));
    if (largest == 0) return false;
    scale[k] = 1 / largest;
    for (int e = 0; e < u; e++) left[e * width + k] *= scale[k];
    column_of[k] = k;
  }
  for (int step = 0; step < u; step++) {
    int row = step, position = step;
    double best = 0;
    for (int e = step; e < u; e++)
      for (int k = step; k < u; k++) {
        double size = fabs(left[e * width + column_of[k]]);
        if (size > best) {
          best = size;
          row = e;
          position = k;
        }
      }
    if (best < SINGULAR) return false;
    int column = column_of[position];
    column_of[position] = column_of[step];
    column_of[step] = column;

    for (int j = 0; j < width && row != step; j++) {
      double kept = left[row * width + j];
      left[row * width + j] = left[step * width + j];
      left[step * width + j] = kept;
    }
    double *pivot_row = &left[step * width];
    double inverse = 1 / pivot_row[column];
    for (int j = 0; j < width; j++) pivot_row[j] *= inverse;
    for (int e = 0; e < u; e++) {
      double factor = left[e * width + column];
      if (e == step || factor == 0) continue;
      for (int j = 0; j < width; j++)
        left[e * width + j] -= factor * pivot_row[j];
    }
  }
  return true;
}

/* impulses = F u(y) + G lambda_max; equation `step` holds unknown
 * column_of[step], scaled. */
static void write_impulses(const contact_space *space,
                           const mode_system *system, const double scale[],
                           const int column_of[], double impulses[]) {
  int n = space->n_rows, m = space->n_contacts, u = system->n_unknowns;
  int n_inputs = n + m, width = u + n_inputs;
  for (int i = 0; i < n; i++) {
    double *map = &impulses[i * n_inputs];
    memset(map, 0, (size_t)n_inputs * sizeof *map);
    memcpy(map + n, &system->G[i * m], (size_t)m * sizeof *map);
    for (int e = 0; e < u; e++) {
      double F = system->F[i * n + column_of[e]] * scale[column_of[e]];
      if (F == 0) continue;
      for (int j = 0; j < n_inputs; j++)
        map[j] += F * system->left[e * width + u + j];
    }
  }
}

/* sign (c_row + A lambda)(y) */
static void write_speed(const contact_space *space, const double impulses[],
                        int row, double sign, double condition[]) {
  int n = space->n_rows, n_inputs = n + space->n_contacts;
  for (int j = 0; j < n_inputs; j++) {
    double sum = j == row ? 1 : 0;
    for (int k = 0; k < n; k++)
      sum += space->A[row * n + k] * impulses[k * n_inputs + j];
    condition[j] = sign * sum;
  }
}

/* weight (bound lambda_n + sign s)(y), in m/s */
static void write_cone(const contact_space *space, const double impulses[],
                       int contact, int row, double sign, double condition[]) {
  int n_inputs = space->n_rows + space->n_contacts;
  const double *normal = &impulses[contact * space->per_contact * n_inputs];
  const double *tangent = &impulses[row * n_inputs];
  for (int j = 0; j < n_inputs; j++)
    condition[j] = space->weight[row] *
                   (space->bound[contact] * normal[j] + sign * tangent[j]);
}

static int write_conditions(const contact_space *space, int contact,
                            const contact_mode *mode, bool capped,
                            const double impulses[], double conditions[]) {
  int n_inputs = space->n_rows + space->n_contacts, count = 0;
  int normal = contact * space->per_contact;
  double *next = conditions;

  if (mode->normal == SEPARATING) {
    write_speed(space, impulses, normal, 1, next);
    return 1;
  }
  if (mode->normal == CAPPED) {
    write_speed(space, impulses, normal, -1, next);
    next += n_inputs;
    count++;
  } else {
    double weight = space->weight[normal];
    const double *map = &impulses[normal * n_inputs];
    for (int j = 0; j < n_inputs; j++) next[j] = weight * map[j];
    next += n_inputs;
    count++;
    if (capped) {
      for (int j = 0; j < n_inputs; j++)
        next[j] = weight * ((j == space->n_rows + contact ? 1 : 0) - map[j]);
      next += n_inputs;
      count++;
    }
  }
  for (int t = 1; t <= space->n_tangents; t++) {
    int slip = mode->tangent[t - 1];
    if (slip == STICKING) {
      write_cone(space, impulses, contact, normal + t, 1, next);
      write_cone(space, impulses, contact, normal + t, -1, next + n_inputs);
      next += 2 * n_inputs;
      count += 2;
    } else {
      double sign = slip == SLIPPING_FORWARDS ? 1 : -1;
      write_speed(space, impulses, normal + t, sign, next);
      next += n_inputs;
      count++;
    }
  }
  return count;
}

int contact_mode_work_out(const contact_space *space, const int contacts[],
                          int n_contacts, int mode, bool capped,
                          double scratch[], double impulses[],
                          double conditions[], uint32_t *zero_rows) {
  int n = space->n_rows, m = space->n_contacts;
  int one = contact_modes_of_one(space, capped);
  mode_system system;
  system.F = scratch;
  system.G = system.F + n * n;
  system.left = system.G + n * m;
  double *scale = system.left + n * (n + n + m);
  system.row = (int *)(scale + n);
  int *column_of = (int *)(scale + 2 * n);
  contact_mode *does = (contact_mode *)(scale + 3 * n);

  for (int k = n_contacts - 1; k >= 0; k--) {
    does[k] = decode(space, mode % one);
    mode /= one;
  }
  set_up(space, contacts, n_contacts, does, &system);
  write_equations(space, &system);
  int width = system.n_unknowns + n + m;
  if (!solve_equations(system.n_unknowns, width, system.left, scale, column_of))
    return -1;
  write_impulses(space, &system, scale, column_of, impulses);

  *zero_rows = 0;
  for (int e = 0; e < system.n_unknowns; e++)
    *zero_rows |= system.row[e] < 32 ? (uint32_t)1 << system.row[e] : 0;
  int count = 0;
  for (int k = 0; k < n_contacts; k++)
    count += write_conditions(space, contacts[k], &does[k], capped, impulses,
                              &conditions[count * (n + m)]);
  return count;
}

/* ---- the table --------------------------------------------------------- */

static inline double dot(const double a[], const double b[], int n) {
  double sum = 0;
#pragma GCC unroll 6
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Put the condition that fails most often first: most modes are then left at
 * once. Judged on fixed made-up inputs, so that the table is always the same;
 * the order changes no result. */
static void sort_conditions(contact_modes *modes, const contact_space *space) {
  enum { PILOTS = 64, MOST = 64 };
  int n = modes->n_inputs;
  double y[PILOTS][MOST];
  if (n > MOST || n % 2 != 0) return;
  for (int p = 0; p < PILOTS; p++)
    for (int j = 0; j < n; j += 2) {
      double pair[2];
      philox_pair(0, (uint64_t)p, 0, (uint32_t)j, pair);
      for (int k = 0; k < 2; k++) {
        // speeds of either sign, mostly approaching, caps of like effect
        int row = j + k, normal = row % space->per_contact == 0;
        y[p][row] =
            row >= space->n_rows
                ? pair[k] * space->scale /
                      space->weight[(row - space->n_rows) * space->per_contact]
                : space->scale * (2 * pair[k] - (normal ? 1.7 : 1));
      }
    }

  for (int mode = 0; mode < modes->n_modes; mode++) {
    double *first =
        &modes->conditions[modes->first_condition[mode] * (size_t)n];
    int count =
        (int)(modes->first_condition[mode + 1] - modes->first_condition[mode]);
    for (int done = 0; done + 1 < count; done++) {
      int best = done, most = -1;
      for (int k = done; k < count; k++) {
        int failures = 0;
        for (int p = 0; p < PILOTS; p++)
          failures += dot(&first[k * n], y[p], n) < 0;
        if (failures > most) {
          most = failures;
          best = k;
        }
      }
      for (int j = 0; j < n && best != done; j++) {
        double kept = first[done * n + j];
        first[done * n + j] = first[best * n + j];
        first[best * n + j] = kept;
      }
    }
  }
}

/* Work out all modes; `contacts` is 0 .. m - 1. */
static ode_mlcp_impact_status fill_table(contact_modes *modes,
                                         const contact_space *space,
                                         const memory_source *source, int total,
                                         const int contacts[],
                                         double scratch[]) {
  int n = space->n_rows, m = space->n_contacts, n_inputs = n + m;
  size_t most = (size_t)(2 + 2 * space->n_tangents) * (size_t)m;
  size_t n_conditions = 0;
  for (int mode = 0; mode < total; mode++) {
    modes->conditions = memory_block_grow(
        &modes->numbers, source, (n_conditions + most) * (size_t)n_inputs,
        sizeof *modes->conditions);
    modes->impulses =
        memory_block_grow(&modes->maps, source,
                          (size_t)(modes->n_modes + 1) * (size_t)(n * n_inputs),
                          sizeof *modes->impulses);
    if (modes->conditions == NULL || modes->impulses == NULL)
      return ODE_MLCP_IMPACT_NO_MEMORY;

    int count = contact_mode_work_out(
        space, contacts, m, mode, true, scratch,
        &modes->impulses[(size_t)modes->n_modes * (size_t)(n * n_inputs)],
        &modes->conditions[n_conditions * (size_t)n_inputs],
        &modes->zero_rows[modes->n_modes]);
    if (count < 0) continue;
    modes->first_condition[modes->n_modes++] = n_conditions;
    n_conditions += (size_t)count;
  }
  modes->first_condition[modes->n_modes] = n_conditions;
  return ODE_MLCP_IMPACT_DONE;
}

/* See `gates`. A mode that is none asks for  0 y >= 0,  and find_with leaves
 * it out by its number. */
static bool fill_gates(contact_modes *modes, const memory_source *source) {
  size_t n = (size_t)modes->n_inputs;
  size_t n_filled = ((size_t)modes->n_modes + 63) / 64 * 64;
  modes->gates = memory_block_reserve(&modes->first_ones, source, n_filled * n,
                                      sizeof *modes->gates);
  if (modes->gates == NULL) return false;
  memset(modes->gates, 0, n_filled * n * sizeof *modes->gates);
  for (size_t mode = 0; mode < (size_t)modes->n_modes; mode++) {
    const double *first = &modes->conditions[modes->first_condition[mode] * n];
    for (size_t j = 0; j < n; j++)
      modes->gates[(mode / 2 * n + j) * 2 + mode % 2] = first[j];
  }
  return true;
}

ode_mlcp_impact_status contact_modes_build(contact_modes *modes,
                                           const contact_space *space,
                                           const memory_source *source) {
  memset(modes, 0, sizeof *modes);
  int total = contact_modes_count(space, true), n = space->n_rows;
  modes->n_inputs = n + space->n_contacts;
  double bytes = (double)total * n * 3 * modes->n_inputs * sizeof(double);
  if (total == 0 || n > 32 || bytes > 0x1p29)
    return ODE_MLCP_IMPACT_TOO_MANY_MODES;

  size_t m = (size_t)space->n_contacts;
  size_t n_scratch = contact_mode_scratch(space);
  double *scratch = memory_allocate_array(source, n_scratch, sizeof *scratch);
  int *contacts = memory_allocate_array(source, m, sizeof *contacts);
  modes->first_condition = memory_block_reserve(
      &modes->starts, source, (size_t)total + 1, sizeof(size_t));
  modes->zero_rows = memory_block_reserve(&modes->masks, source, (size_t)total,
                                          sizeof(uint32_t));
  ode_mlcp_impact_status status = ODE_MLCP_IMPACT_NO_MEMORY;
  if (scratch != NULL && contacts != NULL && modes->first_condition != NULL &&
      modes->zero_rows != NULL) {
    for (size_t i = 0; i < m; i++) contacts[i] = (int)i;
    status = fill_table(modes, space, source, total, contacts, scratch);
  }
  memory_release_array(source, scratch, n_scratch, sizeof *scratch);
  memory_release_array(source, contacts, m, sizeof *contacts);
  if (status == ODE_MLCP_IMPACT_DONE) {
    sort_conditions(modes, space);
    if (!fill_gates(modes, source)) status = ODE_MLCP_IMPACT_NO_MEMORY;
  }
  if (status != ODE_MLCP_IMPACT_DONE) contact_modes_release(modes, source);
  return status;
}

void contact_modes_release(contact_modes *modes, const memory_source *source) {
  memory_block_release(&modes->numbers, source);
  memory_block_release(&modes->starts, source);
  memory_block_release(&modes->maps, source);
  memory_block_release(&modes->masks, source);
  memory_block_release(&modes->first_ones, source);
  memset(modes, 0, sizeof *modes);
}

/* ---- a step ------------------------------------------------------------ */

/* Two modes at once, each by the same arithmetic as alone. */
typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));
typedef int64_t pair_mask __attribute__((vector_size(16)));

/* Which of 64 modes meet their first condition, a bit each. Most do not, and
 * which ones cannot be guessed, so this has no branch. */
static inline uint64_t open_gates(const double gates[], const double y[], int n,
                                  double tolerance) {
  const pair least = {-tolerance, -tolerance};
  uint64_t open = 0;
  for (int k = 0; k < 64; k += 2) {
    const pair *gate = (const pair *)&gates[k * n];
    pair sum = {0, 0};
#pragma GCC unroll 6
    for (int j = 0; j < n; j++) sum += gate[j] * (pair){y[j], y[j]};
    pair_mask met = sum >= least;
    open |= (uint64_t)(met[0] & 1) << k | (uint64_t)(met[1] & 1) << (k + 1);
  }
  return open;
}

static inline int find_with(const contact_modes *modes, const double y[], int n,
                            double tolerance, int max_found, int found[]) {
  int n_found = 0;
  for (int block = 0; block < modes->n_modes; block += 64) {
    uint64_t open =
        open_gates(&modes->gates[(size_t)block * (size_t)n], y, n, tolerance);
    int left = modes->n_modes - block;
    if (left < 64) open &= ((uint64_t)1 << left) - 1;
    for (; open != 0; open &= open - 1) {
      int mode = block + __builtin_ctzll(open);
      size_t next = modes->first_condition[mode] + 1;
      size_t end = modes->first_condition[mode + 1];
      while (next < end &&
             dot(&modes->conditions[next * (size_t)n], y, n) >= -tolerance)
        next++;
      if (next < end) continue;
      found[n_found++] = mode;
      if (n_found == max_found) return n_found;
    }
  }
  return n_found;
}

int contact_modes_find(const contact_modes *modes, const double y[],
                       double tolerance, int max_found, int found[]) {
  // a constant length lets the compiler unroll the usual case
  if (modes->n_inputs == 6)
    return find_with(modes, y, 6, tolerance, max_found, found);
  return find_with(modes, y, modes->n_inputs, tolerance, max_found, found);
}

void contact_modes_apply(const contact_modes *modes, const contact_space *space,
                         int mode, const double y[], double lambda[],
                         double c[]) {
  int n = space->n_rows, n_inputs = modes->n_inputs;
  const double *map = &modes->impulses[(size_t)mode * (size_t)(n * n_inputs)];
  for (int i = 0; i < n; i++) lambda[i] = dot(&map[i * n_inputs], y, n_inputs);

  for (int i = 0; i < space->n_contacts; i++) {
    double *own = &lambda[i * space->per_contact];
    own[0] = smaller(larger(own[0], 0), y[n + i]);
    double limit = space->bound[i] * own[0];
    for (int t = 1; t <= space->n_tangents; t++)
      own[t] = smaller(larger(own[t], -limit), limit);
  }
  contact_space_push(space, y, lambda, c);
  for (int i = 0; i < n; i++)
    if (modes->zero_rows[mode] >> i & 1 || fabs(c[i]) <= 1e-14 * space->scale)
      c[i] = 0;
}
