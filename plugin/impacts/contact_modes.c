#include "impacts/contact_modes.h"

#include <math.h>
#include <string.h>

#include "common/arena.h"
#include "common/six.h"
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

static inline double dot(const double a[], const double b[], int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
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

/* The state of a contact in a mode. */
typedef struct contact_mode {
  int normal;
  int tangent[CONTACT_MOST_TANGENTS];
} contact_mode;

static contact_mode decode(const contact_space *space, int digit) {
  contact_mode mode = {SEPARATING, {STICKING}};
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

int contact_modes_of_contact(const contact_space *space, int contact,
                             double cap, const double lambda[],
                             const double speed[], double border,
                             int digits[]) {
  int T = space->n_tangents, slips = T == 1 ? 3 : 9, count = 0;
  int normal = contact * space->per_contact;
  double weight = space->weight[normal];
  const double *own = &lambda[normal], *w = &speed[normal];
  bool can[2][3] = {{true, T < 2, T < 2}, {true, T < 2, T < 2}};
  for (int t = 1; t <= T; t++) {
    double limit = space->bound[contact] * own[0];
    double unit = space->weight[normal + t];
    can[t - 1][0] = fabs(w[t]) <= border;
    can[t - 1][1] = w[t] >= -border && unit * (limit + own[t]) <= border;
    can[t - 1][2] = w[t] <= border && unit * (limit - own[t]) <= border;
  }
  if (weight * own[0] <= border && w[0] >= -border) digits[count++] = 0;
  bool closed = fabs(w[0]) <= border;
  bool capped = weight * (cap - own[0]) <= border && w[0] <= border;
  for (int at_cap = 0; at_cap < 2; at_cap++)
    for (int slip = 0; slip < slips; slip++)
      if ((at_cap != 0 ? capped : closed) && can[0][slip % 3] &&
          (T == 1 || can[1][slip / 3]))
        digits[count++] = 1 + at_cap * slips + slip;
  return count;
}

/* ---- one mode ---------------------------------------------------------- */

/* The linear system of a mode. Impulses are lambda = F u + G lambda_max with
 * the unknowns u: normal impulses of closed contacts, friction impulses of
 * sticking tangents. Their equations say that these rows end at speed 0. */
typedef struct mode_system {
  int n_unknowns;
  int *row;            /* [n_unknowns] the row an unknown belongs to */
  int *column_of;      /* [n_unknowns] the order of the pivoting */
  double *scale;       /* [n_unknowns] of columns */
  double *push;        /* [n_rows] */
  contact_mode *does;  /* [m] */
  const int *contacts; /* [n_contacts] that take part */
  int n_contacts;
  double *F;    /* n_rows x n_unknowns */
  double *G;    /* n_rows x m */
  double *left; /* n_unknowns x (n_unknowns + n_inputs): [A F | -c - A G] */
} mode_system;

size_t contact_mode_scratch(const contact_space *space) {
  size_t n = (size_t)space->n_rows, m = (size_t)space->n_contacts;
  // the last terms hold the unknowns' rows, the pivoting's columns and scales, and
  // what each contact does
  size_t does = (sizeof(contact_mode) + sizeof(double) - 1) / sizeof(double);
  return n * n + n * m + n * (n + n + m) + 4 * n + does * m;
}

/* Of tangent rows that slip as one the first that pushes: their friction is counted
 * there. */
static int leader_of(const contact_space *space, const mode_system *system,
                     int row, int *state) {
  for (int k = 0; space->slips_as != NULL && k < system->n_contacts; k++) {
    const contact_mode *mode = &system->does[k];
    int normal = system->contacts[k] * space->per_contact;
    for (int t = 1; t <= space->n_tangents && mode->normal != SEPARATING; t++) {
      if (space->slips_as[normal + t] != space->slips_as[row]) continue;
      *state = mode->tangent[t - 1];
      return normal + t;
    }
  }
  return row;
}

/* Let all that slip as one do what the first of them does. False: they did not. */
static bool unite_slips(const contact_space *space, mode_system *system) {
  bool united = true;
  for (int k = 0; space->slips_as != NULL && k < system->n_contacts; k++) {
    contact_mode *mode = &system->does[k];
    for (int t = 1; t <= space->n_tangents && mode->normal != SEPARATING; t++) {
      int row = system->contacts[k] * space->per_contact + t;
      int state = mode->tangent[t - 1];
      int leader = leader_of(space, system, row, &state);
      if (state != STICKING && space->times[row] * space->times[leader] < 0)
        state =
            state == SLIPPING_FORWARDS ? SLIPPING_BACKWARDS : SLIPPING_FORWARDS;
      united &= mode->tangent[t - 1] == state;
      mode->tangent[t - 1] = state;
    }
  }
  return united;
}

static void set_up(const contact_space *space, mode_system *system) {
  const contact_mode *mode = system->does;
  const int *contacts = system->contacts;
  int n_contacts = system->n_contacts, state;
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
        if (leader_of(space, system, row, &state) != row) continue;
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

/* The first u columns of `left` (u x width) are scaled to a largest entry of 1; a
 * column of zeros keeps its scale of 1. */
static void scale_columns(int u, int width, double left[], double scale[],
                          int column_of[]) {
  for (int k = 0; k < u; k++) {
    double largest = 0;
    for (int e = 0; e < u; e++)
      largest = fmax(largest, fabs(left[e * width + k]));
    scale[k] = largest > 0 ? 1 / largest : 1;
    for (int e = 0; e < u; e++) left[e * width + k] *= scale[k];
    column_of[k] = k;
  }
}

/* Complete pivoting: the largest entry among the rows and columns from `step` on
 * comes to row `step` and column column_of[step]. False, and nothing moves, where that
 * is below SINGULAR. */
static bool bring_pivot(int u, int width, int step, double left[],
                        int column_of[]) {
  int row = step, position = step;
  double best = 0;
  for (int e = step; e < u; e++)
    for (int k = step; k < u; k++) {
      double size = fabs(left[e * width + column_of[k]]);
      if (size <= best) continue;
      best = size;
      row = e;
      position = k;
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
  return true;
}

/* Gauss-Jordan with complete pivoting. The solution of unknown k ends in equation
 * k, behind the unknowns. Returns the rank: u, or of a singular system less. */
static int solve_equations(int u, int width, double left[], double scale[],
                           int column_of[]) {
  scale_columns(u, width, left, scale, column_of);
  for (int step = 0; step < u; step++) {
    if (!bring_pivot(u, width, step, left, column_of)) return step;
    int column = column_of[step];
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
  return u;
}

/* Of a singular system: do impulses that its equations leave open move a velocity? */
static bool moves(const contact_space *space, const mode_system *system,
                  int rank) {
  int n = space->n_rows, u = system->n_unknowns;
  int width = u + n + space->n_contacts;
  const int *column_of = system->column_of;
  const double *scale = system->scale;
  double *push = system->push;
  for (int open = rank; open < u; open++) {
    int column = column_of[open];
    double largest = 0, fastest = 0;
    for (int i = 0; i < n; i++) {
      push[i] = system->F[i * n + column] * scale[column];
      for (int e = 0; e < rank; e++)
        push[i] -= system->F[i * n + column_of[e]] * scale[column_of[e]] *
                   system->left[e * width + column];
      largest = fmax(largest, space->weight[i] * fabs(push[i]));
    }
    for (int i = 0; i < n; i++)
      fastest = fmax(fastest, fabs(dot(&space->A[i * n], push, n)));
    if (fastest > SINGULAR * largest) return true;
  }
  return false;
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

/* weight (bound lambda_n + sign s)(y), in m/s; of rows that slip as one the bounds
 * of all. */
static void write_cone(const contact_space *space, const mode_system *system,
                       const double impulses[], int row, double sign,
                       double condition[]) {
  int n_inputs = space->n_rows + space->n_contacts;
  const double *tangent = &impulses[row * n_inputs];
  for (int j = 0; j < n_inputs; j++) condition[j] = sign * tangent[j];
  for (int k = 0; k < system->n_contacts; k++) {
    int contact = system->contacts[k], normal = contact * space->per_contact;
    const double *map = &impulses[normal * n_inputs];
    for (int t = 1; t <= space->n_tangents; t++) {
      int other = normal + t;
      if (other != row && (space->slips_as == NULL ||
                           space->slips_as[other] != space->slips_as[row]))
        continue;
      double bound = space->bound[contact];
      if (other != row) bound *= fabs(space->times[other] / space->times[row]);
      for (int j = 0; j < n_inputs; j++) condition[j] += bound * map[j];
    }
  }
  for (int j = 0; j < n_inputs; j++) condition[j] *= space->weight[row];
}

static int write_conditions(const contact_space *space,
                            const mode_system *system, int place, bool capped,
                            const double impulses[], double conditions[]) {
  const contact_mode *mode = &system->does[place];
  int contact = system->contacts[place], state;
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
    if (leader_of(space, system, normal + t, &state) != normal + t) continue;
    if (slip == STICKING) {
      write_cone(space, system, impulses, normal + t, 1, next);
      write_cone(space, system, impulses, normal + t, -1, next + n_inputs);
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

static mode_system lay_out_system(const contact_space *space,
                                  const int contacts[], int n_contacts,
                                  double scratch[]) {
  int n = space->n_rows, m = space->n_contacts;
  mode_system system = {
      .F = scratch, .contacts = contacts, .n_contacts = n_contacts};
  system.G = system.F + n * n;
  system.left = system.G + n * m;
  system.scale = system.left + n * (n + n + m);
  system.push = system.scale + n;
  system.row = (int *)(system.push + n);
  system.column_of = (int *)(system.push + 2 * n);
  system.does = (contact_mode *)(system.push + 3 * n);
  return system;
}

/* The system of what contacts do, solved; its rank. */
static int reduce(const contact_space *space, mode_system *system) {
  set_up(space, system);
  write_equations(space, system);
  int u = system->n_unknowns, width = u + space->n_rows + space->n_contacts;
  return solve_equations(u, width, system->left, system->scale,
                         system->column_of);
}

bool contact_mode_spans(const contact_space *space, const int contacts[],
                        const double reached[], double scratch[]) {
  mode_system system =
      lay_out_system(space, contacts, space->n_contacts, scratch);
  double none = 100 * IMPACT_FEASIBILITY * space->scale;
  for (int i = 0; i < space->n_contacts; i++) {
    const double *own = &reached[i * space->per_contact];
    contact_mode *mode = &system.does[i];
    mode->normal = own[0] > none    ? SEPARATING
                   : own[0] < -none ? CAPPED
                                    : CLOSED;
    for (int t = 0; t < space->n_tangents; t++)
      mode->tangent[t] = own[1 + t] > none || space->bound[i] == 0
                             ? SLIPPING_FORWARDS
                         : own[1 + t] < -none ? SLIPPING_BACKWARDS
                                              : STICKING;
  }
  unite_slips(space, &system);
  int rank = reduce(space, &system);
  return rank < system.n_unknowns && moves(space, &system, rank);
}

int contact_mode_work_out(const contact_space *space, const int contacts[],
                          int n_contacts, int64_t mode, bool capped,
                          double scratch[], double impulses[],
                          double conditions[], uint32_t *zero_rows) {
  int n = space->n_rows, m = space->n_contacts;
  int one = contact_modes_of_one(space, capped);
  mode_system system = lay_out_system(space, contacts, n_contacts, scratch);
  contact_mode *does = system.does;
  for (int k = n_contacts - 1; k >= 0; k--) {
    does[k] = decode(space, (int)(mode % one));
    mode /= one;
  }
  if (!unite_slips(space, &system)) return CONTACT_MODE_REPEATS;
  int rank = reduce(space, &system);
  if (rank < system.n_unknowns)
    return moves(space, &system, rank) ? CONTACT_MODE_SPANS
                                       : CONTACT_MODE_REPEATS;
  write_impulses(space, &system, system.scale, system.column_of, impulses);

  *zero_rows = 0;
  int count = 0;
  for (int k = 0; k < n_contacts; k++) {
    count += write_conditions(space, &system, k, capped, impulses,
                              &conditions[count * (n + m)]);
    int row = contacts[k] * space->per_contact;
    for (int i = 0; i <= space->n_tangents && row + i < 32; i++)
      if (does[k].normal != SEPARATING &&
          (i == 0 ? does[k].normal == CLOSED
                  : does[k].tangent[i - 1] == STICKING))
        *zero_rows |= (uint32_t)1 << (row + i);
  }
  return count;
}

/* ---- the table --------------------------------------------------------- */

/* Fixed inputs that tell which conditions fail often, so that the table is always
 * the same. */
enum { PILOTS = 128, MOST_CONDITIONS = 64 };

/* With more modes than this pilots are made up, and few. */
#define MANY_MODES 64

/* The table while it is made, a condition after the other. */
typedef struct draft {
  contact_modes *modes;
  const contact_space *space;
  double h;
  double *scratch, *impulses; /* n_rows x n_inputs */
  double *conditions;         /* n_inputs a row */
  size_t *first;              /* [n_modes + 1] a mode's first condition */
  int *contacts;              /* 0 .. m - 1 */
  double *pilots;             /* PILOTS x n_inputs */
  int n_pilots;
  double fails; /* conditions below this do, m/s */
  memory_block numbers;
} draft;

/* Speeds of either sign, mostly approaching, caps of like effect. */
static void make_up_pilot(const draft *draft, int p, double y[]) {
  const contact_space *space = draft->space;
  for (int row = 0; row < draft->modes->n_inputs; row++) {
    double pair[2];
    philox_pair(0, (uint64_t)p, 0, (uint32_t)row, pair);
    bool normal = row % space->per_contact == 0;
    y[row] = row >= space->n_rows
                 ? pair[0] * space->scale /
                       space->weight[(row - space->n_rows) * space->per_contact]
                 : space->scale * (2 * pair[0] - (normal ? 1.7 : 1));
  }
}

/* The first mode from number `from` on, round and round, that holds for y; -1:
 * none. */
static int holding_mode(const draft *draft, const double y[], int from) {
  int n_modes = draft->modes->n_modes, n = draft->modes->n_inputs;
  double tolerance = IMPACT_FEASIBILITY * draft->space->scale;
  for (int tried = 0; tried < n_modes; tried++) {
    int mode = (from + tried) % n_modes;
    size_t next = draft->first[mode], end = draft->first[mode + 1];
    while (next < end &&
           dot(&draft->conditions[next * (size_t)n], y, n) >= -tolerance)
      next++;
    if (next == end) return mode;
  }
  return -1;
}

static void draw_pilot_caps(const draft *draft, int p, double caps[]) {
  for (int i = 0; i < draft->space->n_contacts; i++) {
    double pair[2];
    philox_pair(0, (uint64_t)p, 1, (uint32_t)i, pair);
    caps[i] = draft->h * pair[0];
  }
}

/* Steps of samples, as far as there are any, and what is made up. */
static void choose_pilots(draft *draft) {
  const contact_space *space = draft->space;
  int n = space->n_rows, n_inputs = draft->modes->n_inputs;
  bool many = draft->modes->n_modes > MANY_MODES;
  draft->n_pilots = many ? PILOTS / 4 : PILOTS;
  double *y = draft->pilots, *next = y + n_inputs;
  for (int p = 0; p < draft->n_pilots; p++, y = next, next += n_inputs) {
    // every eighth is made up, for what the others leave out
    bool made_up = many || p % 8 == 7;
    if (p == 0 || p % 8 == 0) memcpy(y, space->start, (size_t)n * sizeof *y);
    if (made_up) {
      make_up_pilot(draft, p, y);
      continue;
    }
    draw_pilot_caps(draft, p, &y[n]);
    if (p + 1 == draft->n_pilots) break;
    int mode = contact_space_slowest(space, y) < 0
                   ? holding_mode(draft, y, 5 * p % draft->modes->n_modes)
                   : -1;
    if (mode < 0) {
      memcpy(next, space->start, (size_t)n * sizeof *y);
      continue;
    }
    double lambda[32];
    for (int i = 0; i < n; i++) {
      const double *map =
          &draft->modes->impulses[(size_t)mode *
                                  (size_t)(draft->modes->n_wide * n_inputs)];
      lambda[i] = 0;
      for (int j = 0; j < n_inputs; j++)
        lambda[i] += map[j * draft->modes->n_wide + i] * y[j];
    }
    contact_space_push(space, y, lambda, next);
  }
}

/* A mode's conditions at the pilots. */
typedef struct values {
  int count;
  double of[MOST_CONDITIONS][PILOTS];
} values;

/* Put the conditions in order: the one that fails most often, then the one that
 * fails most often where those before do not. That changes no result. */
static void sort_conditions(const draft *draft, double conditions[],
                            values *values) {
  int n = draft->modes->n_inputs;
  bool failed[PILOTS] = {false};
  for (int k = 0; k < values->count; k++)
    for (int p = 0; p < draft->n_pilots; p++)
      values->of[k][p] = dot(&conditions[k * n], &draft->pilots[p * n], n);
  for (int done = 0; done < values->count; done++) {
    int best = done, most = -1;
    for (int k = done; k < values->count; k++) {
      int failures = 0;
      for (int p = 0; p < draft->n_pilots; p++)
        failures += !failed[p] && values->of[k][p] < draft->fails;
      if (failures <= most) continue;
      most = failures;
      best = k;
    }
    for (int j = 0; j < n && best != done; j++) {
      double kept = conditions[done * n + j];
      conditions[done * n + j] = conditions[best * n + j];
      conditions[best * n + j] = kept;
    }
    for (int p = 0; p < draft->n_pilots; p++) {
      double kept = values->of[done][p];
      values->of[done][p] = values->of[best][p];
      values->of[best][p] = kept;
      failed[p] |= values->of[done][p] < draft->fails;
    }
  }
}

/* A condition, or a mean of two: whichever fails at most pilots. */
static void choose_gate(const draft *draft, const double conditions[],
                        const values *values, double gate[]) {
  int n = draft->modes->n_inputs, most = -1;
  for (int a = 0; a < values->count; a++)
    for (int b = a; b < values->count; b++)
      for (int part = 1; part < (a == b ? 2 : 8); part++) {
        double share = a == b ? 1 : part / 8.0;
        int failures = 0;
        for (int p = 0; p < draft->n_pilots; p++)
          failures +=
              share * values->of[a][p] + (1 - share) * values->of[b][p] <
              draft->fails;
        if (failures <= most) continue;
        most = failures;
        for (int j = 0; j < n; j++)
          gate[j] = share * conditions[a * n + j] +
                    (1 - share) * conditions[b * n + j];
      }
}

/* Conditions of a mode with a place in the table, four side by side. */
static void write_conditions_of(contact_modes *modes, int place,
                                const double conditions[], int count) {
  int n = modes->n_inputs, size = modes->n_blocks * n * 4;
  double *to = &modes->conditions[(size_t)place * (size_t)size];
  memset(to, 0, (size_t)size * sizeof *to);
  for (int k = 0; k < count; k++)
    for (int j = 0; j < n; j++)
      to[(k / 4 * n + j) * 4 + k % 4] = conditions[k * n + j];
}

static int most_conditions(const contact_space *space) {
  return (2 + 2 * space->n_tangents) * space->n_contacts;
}

/* Sort every mode's conditions and choose its gate. */
static bool lay_out(draft *draft, const memory_source *source) {
  contact_modes *modes = draft->modes;
  int n = modes->n_inputs;
  size_t n_modes = (size_t)modes->n_modes;
  size_t size = (n_modes + 3) / 4 * (size_t)(4 * n);
  modes->gates = memory_block_reserve(&modes->first_ones, source, size,
                                      sizeof *modes->gates);
  values *values = memory_allocate_array(source, 1, sizeof *values);
  bool ready = modes->gates != NULL && values != NULL;
  if (ready) memset(modes->gates, 0, size * sizeof *modes->gates);
  for (size_t mode = 0; mode < n_modes && ready; mode++) {
    double *own = &draft->conditions[draft->first[mode] * (size_t)n];
    values->count = (int)(draft->first[mode + 1] - draft->first[mode]);
    sort_conditions(draft, own, values);
    write_conditions_of(modes, (int)mode, own, values->count);
    double gate[MOST_CONDITIONS];
    if (n_modes <= MANY_MODES)
      choose_gate(draft, own, values, gate);
    else
      memcpy(gate, own, (size_t)n * sizeof *gate);
    for (int j = 0; j < n; j++)
      modes->gates[(mode / 4 * (size_t)n + (size_t)j) * 4 + mode % 4] = gate[j];
  }
  memory_release_array(source, values, 1, sizeof *values);
  return ready;
}

/* Work out all modes. */
static bool work_out_all(draft *draft, const memory_source *source, int total) {
  contact_modes *modes = draft->modes;
  const contact_space *space = draft->space;
  int n_inputs = modes->n_inputs;
  size_t n_conditions = 0;
  for (int mode = 0; mode < total; mode++) {
    draft->conditions = memory_block_grow(
        &draft->numbers, source,
        (n_conditions + (size_t)most_conditions(space)) * (size_t)n_inputs,
        sizeof *draft->conditions);
    if (draft->conditions == NULL) return false;
    double *conditions = &draft->conditions[n_conditions * (size_t)n_inputs];
    uint32_t zero_rows;
    int count = contact_mode_work_out(space, draft->contacts, space->n_contacts,
                                      mode, true, draft->scratch,
                                      draft->impulses, conditions, &zero_rows);
    modes->spans |= count == CONTACT_MODE_SPANS;
    if (count < 0) continue;
    draft->first[modes->n_modes] = n_conditions;
    n_conditions += (size_t)count;
    if (!contact_modes_add(modes, space, draft->impulses, conditions, count,
                           zero_rows, source))
      return false;
  }
  draft->first[modes->n_modes] = n_conditions;
  return true;
}

bool contact_modes_begin(contact_modes *modes, const contact_space *space,
                         const memory_source *source) {
  int n = space->n_rows;
  memset(modes, 0, sizeof *modes);
  modes->n_inputs = n + space->n_contacts;
  modes->n_wide = (n + 3) / 4 * 4;
  modes->n_blocks = (most_conditions(space) + 3) / 4;
  modes->columns =
      memory_block_reserve(&modes->pushes, source, (size_t)(n * modes->n_wide),
                           sizeof *modes->columns);
  if (modes->columns == NULL) return false;
  memset(modes->columns, 0, (size_t)(n * modes->n_wide) * sizeof(double));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      modes->columns[j * modes->n_wide + i] = space->A[i * n + j];
  return true;
}

bool contact_modes_reserve(contact_modes *modes, size_t count,
                           const memory_source *source) {
  size_t map_size = (size_t)(modes->n_wide * modes->n_inputs);
  size_t size = (size_t)(modes->n_blocks * modes->n_inputs * 4);
  double *maps =
      memory_block_grow(&modes->maps, source, count * map_size, sizeof *maps);
  if (maps != NULL) modes->impulses = maps;
  double *keeps = memory_block_grow(
      &modes->masks, source, count * (size_t)modes->n_wide, sizeof *keeps);
  if (keeps != NULL) modes->keeps = keeps;
  double *all =
      memory_block_grow(&modes->numbers, source, count * size, sizeof *all);
  if (all != NULL) modes->conditions = all;
  return maps != NULL && keeps != NULL && all != NULL;
}

bool contact_modes_add(contact_modes *modes, const contact_space *space,
                       const double impulses[], const double conditions[],
                       int count, uint32_t zero_rows,
                       const memory_source *source) {
  int n = space->n_rows, n_inputs = modes->n_inputs, n_wide = modes->n_wide;
  size_t place = (size_t)modes->n_modes, next = place + 1;
  size_t map_size = (size_t)(n_wide * n_inputs);
  if (!contact_modes_reserve(modes, next, source)) return false;

  double *maps = modes->impulses, *keeps = modes->keeps;
  maps += place * map_size;
  memset(maps, 0, map_size * sizeof *maps);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n_inputs; j++)
      maps[j * n_wide + i] = impulses[i * n_inputs + j];
  keeps += place * (size_t)n_wide;
  for (int i = 0; i < n_wide; i++) {
    int64_t keep = i < n && (zero_rows >> i & 1) == 0 ? -1 : 0;
    memcpy(&keeps[i], &keep, sizeof keep);
  }
  write_conditions_of(modes, modes->n_modes, conditions, count);
  modes->n_modes++;
  return true;
}

ode_mlcp_impact_status contact_modes_build(contact_modes *modes,
                                           const contact_space *space, double h,
                                           const memory_source *source) {
  memset(modes, 0, sizeof *modes);
  int total = contact_modes_count(space, true), n = space->n_rows;
  int n_inputs = n + space->n_contacts;
  double bytes = (double)total * n * 3 * n_inputs * sizeof(double);
  if (total == 0 || n > 32 || bytes > 0x1p29)
    return ODE_MLCP_IMPACT_TOO_MANY_MODES;

  draft draft = {.modes = modes,
                 .space = space,
                 .h = h,
                 .fails = -2 * IMPACT_FEASIBILITY * space->scale};
  arena arena = {.source = source};
  arena_start(&arena);
  bool ready = contact_modes_begin(modes, space, source) &&
               ARENA_TAKE(&arena, draft.scratch, contact_mode_scratch(space)) &&
               ARENA_TAKE(&arena, draft.impulses, (size_t)(n * n_inputs)) &&
               ARENA_TAKE(&arena, draft.first, (size_t)total + 1) &&
               ARENA_TAKE(&arena, draft.contacts, space->n_contacts) &&
               ARENA_TAKE(&arena, draft.pilots, PILOTS * n_inputs);
  if (ready) {
    for (int i = 0; i < space->n_contacts; i++) draft.contacts[i] = i;
    ready = work_out_all(&draft, source, total);
  }
  if (ready) {
    choose_pilots(&draft);
    ready = lay_out(&draft, source);
  }
  memory_block_release(&draft.numbers, source);
  arena_release(&arena);
  if (!ready) contact_modes_release(modes, source);
  return ready ? ODE_MLCP_IMPACT_DONE : ODE_MLCP_IMPACT_NO_MEMORY;
}

void contact_modes_release(contact_modes *modes, const memory_source *source) {
  memory_block_release(&modes->numbers, source);
  memory_block_release(&modes->first_ones, source);
  memory_block_release(&modes->maps, source);
  memory_block_release(&modes->pushes, source);
  memory_block_release(&modes->masks, source);
  memset(modes, 0, sizeof *modes);
}

/* ---- a step ------------------------------------------------------------ */

typedef int64_t four_masks
    __attribute__((vector_size(32), aligned(8), may_alias));

/* Which of n_modes, at most 64, may hold, a bit each. Most do not, and which
 * ones cannot be guessed, so this has no branch. */
KERNEL uint64_t open_gates(const double gates[], int n_modes, const double y[],
                           int n, double least) {
  const four leasts = {least, least, least, least};
  four_masks bit = {1, 2, 4, 8}, open = {0, 0, 0, 0};
  for (int k = 0; k < n_modes; k += 4, gates += 4 * n) {
    four sum = *(const four *)gates * y[0];
#pragma GCC unroll 6
    for (int j = 1; j < n; j++) sum += *(const four *)(gates + 4 * j) * y[j];
    open |= (sum >= leasts) & bit;
    bit <<= 4;
  }
  // the last four may be fewer modes
  uint64_t all = n_modes < 64 ? ((uint64_t)1 << n_modes) - 1 : UINT64_MAX;
  return (uint64_t)(open[0] | open[1] | open[2] | open[3]) & all;
}

KERNEL bool meets(const double conditions[], int n_blocks, const double y[],
                  int n, double least) {
  const four leasts = {least, least, least, least};
  for (int block = 0; block < n_blocks; block++, conditions += 4 * n) {
    four sum = *(const four *)conditions * y[0];
#pragma GCC unroll 6
    for (int j = 1; j < n; j++)
      sum += *(const four *)(conditions + 4 * j) * y[j];
    four_masks met = sum >= leasts;
    if ((met[0] & met[1] & met[2] & met[3]) == 0) return false;
  }
  return true;
}

void contact_modes_share(const contact_space *space, double lambda[]) {
  for (int first = 0; space->slips_as != NULL && first < space->n_rows;
       first++) {
    double sum = 0, most = 0;
    int count = 0;
    for (int row = first;
         space->slips_as[first] == first && row < space->n_rows; row++) {
      if (space->slips_as[row] != first) continue;
      double limit =
          space->bound[space->contact_of[row]] * lambda[space->normal_of[row]];
      sum += lambda[row] * space->times[row];
      most += limit * fabs(space->times[row]);
      count++;
    }
    if (count < 2) continue;
    double part = most > 0 ? sum / most : 0;
    for (int row = first; row < space->n_rows; row++)
      if (space->slips_as[row] == first)
        lambda[row] = copysign(part, part * space->times[row]) *
                      space->bound[space->contact_of[row]] *
                      lambda[space->normal_of[row]];
  }
}

/* Impulses of a mode, kept within their bounds, and the velocities they lead
 * to. */
KERNEL void apply(const contact_modes *modes, const contact_space *space,
                  int mode, const double y[], int m, int T, double lambda[],
                  double c[]) {
  int n = m * (1 + T), n_inputs = n + m, n_fours = (n + 3) / 4;
  const double *map =
      &modes->impulses[(size_t)mode * (size_t)(4 * n_fours * n_inputs)];
  const double *keeps = &modes->keeps[mode * n_fours * 4];
  double pushes[32], pushed[32];
  for (int k = 0; k < n_fours; k++) {
    four sum = {0, 0, 0, 0};
#pragma GCC unroll 6
    for (int j = 0; j < n_inputs; j++)
      sum += *(const four *)(map + (j * n_fours + k) * 4) * y[j];
    *(four *)&pushes[4 * k] = sum;
  }
#pragma GCC unroll 2
  for (int i = 0; i < m; i++)
    pushes[i * (1 + T)] = smaller(larger(pushes[i * (1 + T)], 0), y[n + i]);
  if (space->slips_as != NULL) contact_modes_share(space, pushes);
#pragma GCC unroll 2
  for (int i = 0; i < m; i++) {
    double *own = &pushes[i * (1 + T)];
    double limit = space->bound[i] * own[0];
    for (int t = 1; t <= T; t++)
      own[t] = smaller(larger(own[t], -limit), limit);
  }
  const double rounding = 1e-14 * space->scale;
  const four high = {rounding, rounding, rounding, rounding};
  for (int k = 0; k < n_fours; k++) {
    four sum = {0, 0, 0, 0};
    if (4 * k + 4 <= n)
      sum = *(const four *)&y[4 * k];
    else
      for (int i = 0; 4 * k + i < n; i++) sum[i] = y[4 * k + i];
#pragma GCC unroll 4
    for (int j = 0; j < n; j++)
      sum +=
          *(const four *)(modes->columns + (j * n_fours + k) * 4) * pushes[j];
    // what a mode leaves at rest, and what only rounding keeps from it
    four_masks moves = (sum > high) | (sum < -high);
    moves &= *(const four_masks *)&keeps[4 * k];
    *(four *)&pushed[4 * k] = (four)((four_masks)sum & moves);
  }
  memcpy(c, pushed, (size_t)n * sizeof *c);
  memcpy(lambda, pushes, (size_t)n * sizeof *lambda);
}

/* Is the last of n_known + 1 velocities, n numbers each, none of the others? */
KERNEL bool is_new(const double reached[], int n_known, int n, double same) {
  const double *last = &reached[n_known * n];
  for (int k = 0; k < n_known; k++) {
    double worst = 0;
    for (int i = 0; i < n; i++)
      worst = larger(worst, fabs(reached[k * n + i] - last[i]));
    if (worst <= same) return false;
  }
  return true;
}

KERNEL int solve_with(const contact_modes *modes, const contact_space *space,
                      const double y[], int m, int T, int n_blocks, int most,
                      double lambdas[], double reached[]) {
  int n = m * (1 + T), n_inputs = n + m, n_found = 0;
  size_t size = (size_t)(n_blocks * n_inputs * 4);
  double tolerance = IMPACT_FEASIBILITY * space->scale;
  double same = IMPACT_SAME * space->scale;
  for (int first = 0; first < modes->n_modes; first += 64) {
    int left = modes->n_modes - first;
    // a mean of conditions that are just met may miss the tolerance by rounding
    uint64_t open =
        open_gates(&modes->gates[(size_t)first * (size_t)n_inputs],
                   left < 64 ? left : 64, y, n_inputs, -2 * tolerance);
    for (; open != 0; open &= open - 1) {
      int mode = first + __builtin_ctzll(open);
      if (!meets(&modes->conditions[(size_t)mode * size], n_blocks, y, n_inputs,
                 -tolerance))
        continue;
      apply(modes, space, mode, y, m, T, &lambdas[n_found * n],
            &reached[n_found * n]);
      n_found += is_new(reached, n_found, n, same);
      if (n_found == most) return n_found;
    }
  }
  return n_found;
}

/* Solutions of modes that hold, by their places in the table. */
KERNEL int apply_found(const contact_modes *modes, const contact_space *space,
                       const int found[], int n_found, const double y[], int m,
                       int T, int most, double lambdas[], double reached[]) {
  int n = m * (1 + T), n_solutions = 0;
  for (int k = 0; k < n_found && n_solutions < most; k++) {
    apply(modes, space, found[k], y, m, T, &lambdas[n_solutions * n],
          &reached[n_solutions * n]);
    n_solutions += is_new(reached, n_solutions, n, IMPACT_SAME * space->scale);
  }
  return n_solutions;
}

WIDE static int apply_wide(const contact_modes *modes,
                           const contact_space *space, const int found[],
                           int n_found, const double y[], int most,
                           double lambdas[], double reached[]) {
  return apply_found(modes, space, found, n_found, y, space->n_contacts,
                     space->n_tangents, most, lambdas, reached);
}

int contact_modes_apply(const contact_modes *modes, const contact_space *space,
                        const int found[], int n_found, const double y[],
                        int most, double lambdas[], double reached[]) {
  if (six_is_wide())
    return apply_wide(modes, space, found, n_found, y, most, lambdas, reached);
  return apply_found(modes, space, found, n_found, y, space->n_contacts,
                     space->n_tangents, most, lambdas, reached);
}

KERNEL bool hold(const contact_modes *modes, int place, const double y[],
                 double tolerance) {
  int n = modes->n_inputs, n_blocks = modes->n_blocks;
  const double *own =
      &modes->conditions[(size_t)place * (size_t)(n_blocks * n * 4)];
  if (n == 15) return meets(own, n_blocks, y, 15, -tolerance);
  return meets(own, n_blocks, y, n, -tolerance);
}

WIDE static bool hold_wide(const contact_modes *modes, int place,
                           const double y[], double tolerance) {
  return hold(modes, place, y, tolerance);
}

bool contact_modes_hold(const contact_modes *modes, int place, const double y[],
                        double tolerance) {
  return six_is_wide() ? hold_wide(modes, place, y, tolerance)
                       : hold(modes, place, y, tolerance);
}

/* Constant sizes let the compiler unroll the usual case. */
KERNEL int solve_any(const contact_modes *modes, const contact_space *space,
                     const double y[], int most, double lambdas[],
                     double reached[]) {
  int m = space->n_contacts, T = space->n_tangents, n_blocks = modes->n_blocks;
  if (m == 2 && T == 1 && n_blocks == 2)
    return solve_with(modes, space, y, 2, 1, 2, most, lambdas, reached);
  return solve_with(modes, space, y, m, T, n_blocks, most, lambdas, reached);
}

WIDE static int solve_wide(const contact_modes *modes,
                           const contact_space *space, const double y[],
                           int most, double lambdas[], double reached[]) {
  return solve_any(modes, space, y, most, lambdas, reached);
}

int contact_modes_solve(const contact_modes *modes, const contact_space *space,
                        const double y[], int most, double lambdas[],
                        double reached[]) {
  return six_is_wide() ? solve_wide(modes, space, y, most, lambdas, reached)
                       : solve_any(modes, space, y, most, lambdas, reached);
}
