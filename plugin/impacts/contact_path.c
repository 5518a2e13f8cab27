#include "impacts/contact_path.h"

#include <math.h>
#include <string.h>

#include "lcp/lemke.h"

/* A contact's variables, by their place in its block, and what each is complementary
 * to: the multiplier of its cap (the room below it), its push (its normal speed), and
 * of each tangent forwards and backwards friction (the slip and an upper bound of it)
 * and that bound (the room in the friction cone). */
enum { CAP, PUSH, FORWARDS, BACKWARDS, SLIP, OF_TANGENT = 3 };

/* The LCP while its columns are written, each variable in a unit of its own. */
typedef struct draft {
  int *start, *row;
  double *value, *unit;
  int n_values, column;
} draft;

static int block_size(const contact_space *space) {
  return 2 + OF_TANGENT * space->n_tangents;
}

int contact_path_size(const contact_space *space) {
  return space->n_contacts * block_size(space);
}

static void put(draft *to, int row, double value) {
  if (value == 0) return;
  to->row[to->n_values] = row;
  to->value[to->n_values++] = to->unit[row] * value * to->unit[to->column];
}

/* The effect of an impulse along `sign` times row `from` on all velocities. */
static void put_effect(draft *to, const contact_space *space, int from,
                       double sign) {
  for (int row = 0; row < space->n_rows; row++) {
    int contact = space->contact_of[row], t = row - space->normal_of[row];
    int first = contact * block_size(space) + OF_TANGENT * (t - 1);
    double speed = sign * space->A[row * space->n_rows + from];
    if (t == 0) {
      put(to, contact * block_size(space) + PUSH, speed);
    } else {
      put(to, first + FORWARDS, speed);
      put(to, first + BACKWARDS, -speed);
    }
  }
}

static void begin_column(draft *to, int column) {
  to->column = column;
  to->start[column] = to->n_values;
}

static void put_contact(draft *to, const contact_space *space, int contact,
                        bool capped) {
  int first = contact * block_size(space),
      normal = contact * space->per_contact;
  begin_column(to, first + CAP);
  put(to, first + PUSH, capped);
  begin_column(to, first + PUSH);
  put(to, first + CAP, capped ? -1 : 0);
  put_effect(to, space, normal, 1);
  for (int t = 0; t < space->n_tangents; t++)
    put(to, first + OF_TANGENT * t + SLIP, space->bound[contact]);
  for (int t = 0; t < space->n_tangents; t++) {
    int own = first + OF_TANGENT * t;
    for (int side = 0; side < 2; side++) {
      begin_column(to, own + FORWARDS + side);
      put_effect(to, space, normal + 1 + t, side == 0 ? 1 : -1);
      put(to, own + SLIP, -1);
    }
    begin_column(to, own + SLIP);
    put(to, own + FORWARDS, 1);
    put(to, own + BACKWARDS, 1);
  }
}

/* Units in which impulses move their own row by one, over the covering vector: that of
 * the scaled problem is all ones. */
static void write_units(const contact_space *space, const double covering[],
                        double unit[]) {
  for (int row = 0; row < space->n_rows; row++) {
    double own = space->A[row * (space->n_rows + 1)];
    double root = own > 0 ? sqrt(own) : 1;
    int contact = space->contact_of[row], t = row - space->normal_of[row];
    double *block = &unit[contact * block_size(space)];
    if (t == 0) {
      block[CAP] = root;
      block[PUSH] = 1 / root;
    } else {
      block += OF_TANGENT * (t - 1);
      block[FORWARDS] = block[BACKWARDS] = 1 / root;
      block[SLIP] = root;
    }
  }
  for (int i = 0; covering != NULL && i < contact_path_size(space); i++)
    unit[i] /= covering[i];
}

/* Impulses from the solution, kept within their bounds, and what they lead to. */
static void take_impulses(const contact_space *space, const double c[],
                          const double caps[], const double unit[],
                          const double z[], double lambda[], double reached[]) {
  for (int i = 0; i < space->n_contacts; i++) {
    int first = i * block_size(space);
    double *own = &lambda[i * space->per_contact];
    own[0] = smaller(z[first + PUSH] * unit[first + PUSH], caps[i]);
    for (int t = 1; t <= space->n_tangents; t++, first += OF_TANGENT) {
      double limit = space->bound[i] * own[0];
      double s = z[first + FORWARDS] * unit[first + FORWARDS] -
                 z[first + BACKWARDS] * unit[first + BACKWARDS];
      own[t] = smaller(larger(s, -limit), limit);
    }
  }
  contact_space_push(space, c, lambda, reached);
  for (int i = 0; i < space->n_rows; i++)
    if (fabs(reached[i]) <= 1e-13 * space->scale) reached[i] = 0;
}

bool contact_path_solve(const contact_space *space, const double c[],
                        const double caps[], const double covering[],
                        arena *arena, double lambda[], double reached[]) {
  int size = contact_path_size(space);
  size_t n = (size_t)size, n_rows = (size_t)space->n_rows;
  size_t room = 2 * n_rows * 2 * n_rows + 7 * n;
  draft to = {.n_values = 0};
  double *q, *z;
  arena_start(arena);
  if (!ARENA_TAKE(arena, to.start, n + 1) || !ARENA_TAKE(arena, to.row, room) ||
      !ARENA_TAKE(arena, to.value, room) || !ARENA_TAKE(arena, to.unit, n) ||
      !ARENA_TAKE(arena, q, n) || !ARENA_TAKE(arena, z, n))
    return false;
  write_units(space, covering, to.unit);
  memset(q, 0, n * sizeof *q);
  for (int i = 0; i < space->n_contacts; i++) {
    double *own = &q[i * block_size(space)];
    const double *speed = &c[i * space->per_contact];
    bool capped = caps[i] < INFINITY;
    put_contact(&to, space, i, capped);
    own[CAP] = capped ? caps[i] : 1;
    own[PUSH] = speed[0];
    for (int t = 0; t < space->n_tangents; t++, own += OF_TANGENT) {
      own[FORWARDS] = speed[1 + t];
      own[BACKWARDS] = -speed[1 + t];
    }
  }
  to.start[size] = to.n_values;
  for (int i = 0; i < size; i++) q[i] *= to.unit[i];

  lemke_workspace *workspace = lemke_workspace_create(arena->source);
  if (workspace == NULL) return false;
  const lemke_problem problem = {size, to.start, to.row, to.value, q, NULL, 0};
  lemke_solve(workspace, &problem, &lemke_default_options, z);
  lemke_workspace_destroy(workspace);
  take_impulses(space, c, caps, to.unit, z, lambda, reached);
  return contact_space_violation(space, caps, lambda, reached) <=
         10 * IMPACT_FEASIBILITY * space->scale;
}
