#include "schemes/conserving.h"

#include <math.h>
#include <string.h>

#include "common/six.h"
#include "common/vec3.h"
#include "gap/real.h"
#include "world/rotation.h"

/* m, rad: joint errors up to this are taken away by a whole step itself; larger ones
 * by moving the bodies, which gives them no velocity. A chain of twelve links that falls
 * (400 : 1) takes a sixth more solves where all are moved */
static const double SMALL_ERROR = 1e-6;

/* A row of a joint over the rounds of a step. */
struct joint_row_state {
  bool holds;      /* rigid, without bounds: it has a surface to end on */
  bool positional; /* its error was seen to be other than 0 */
  double
      target;   /* velocity asked for, m/s or rad/s; of a row that does not hold
                      what it asks for otherwise, too */
  double error; /* at the start, */
  double kept;  /* and the part of it that stays */
  double impulse;       /* of the round before, */
  double lacking[2][6]; /* and what its row of a kept matrix lacks of that */
};

/* --- rows of joints --------------------------------------------------------- */

static const host_joint_rows *rows_of(const world_snapshot *world, int joint) {
  int rows = world->joints[joint].rows;
  return rows >= 0 ? &world->joint_rows[rows] : NULL;
}

/* True if row i of a joint holds two bodies together without bounds. */
static bool holds(const host_joint_rows *joint, unsigned i, double cfm) {
  return joint != NULL && i < joint->rows.count &&
         host_row_holds(joint, i, cfm);
}

static const double COMPLIANCE = 1e-8; /* of a row's diagonal */

double conserving_compliance(const second_order *s, const int body[2],
                             const double J[2][6]) {
  return COMPLIANCE * world_row_mobility(&s->home, body, J);
}

static void prepare_joint(second_order *s, int j, double h) {
  host_joint_rows *rows = &s->middle.joint_rows[s->middle.joints[j].rows];
  joint_row_state *states = s->row_states + 6 * s->middle.joints[j].rows;
  const host_joint_rows *before = rows_of(&s->before, j);
  double worst = 0;
  memset(states, 0, 6 * sizeof *states);

  for (unsigned i = 0; i < rows->rows.count; i++) {
    joint_row_state *state = &states[i];
    double *rhs = &rows->rows.rhs[i];
    state->holds = holds(rows, i, s->home.cfm) && holds(before, i, s->home.cfm);
    if (state->holds) {
      double compliance =
          conserving_compliance(s, s->home.joints[j].body, rows->rows.J[i]);
      *rhs -= rows->correction[i];
      rows->correction[i] = 0;
      rows->soft[i] = true; /* as it stands */
      rows->rows.cfm[i] =
          fmax(h * compliance, fmin(s->home.cfm, HOST_DEFAULT_CFM));
    }
    state->target = *rhs;
    if (!state->holds) continue;
    state->error = -h * before->correction[i];
    state->positional = state->error != 0;
    worst = fmax(worst, fabs(state->error));
  }
  /* a part of the host's step takes away what is small to it: all in next to no time
   * would be a velocity */
  double small = SMALL_ERROR * h / s->step->step_size;
  for (unsigned i = 0; i < rows->rows.count && worst > small; i++)
    states[i].kept = states[i].error;
}

/* From the second to the first body at the middle of the step; 0 where one of
 * them moves as it will: there is nothing to balance then.
 * @return whether there is. */
static bool middle_apart(const second_order *s, const motion *from,
                         const motion *to, const int body[2], double apart[3]) {
  bool both = world_is_dynamic(&s->home, body[0]) &&
              world_is_dynamic(&s->home, body[1]);
  for (int i = 0; i < 3; i++)
    apart[i] = both ? 0.5 * (from->poses[body[0]].position[i] +
                             to->poses[body[0]].position[i] -
                             from->poses[body[1]].position[i] -
                             to->poses[body[1]].position[i])
                    : 0;
  return both;
}

/* Add a force along `force` to a row, on both bodies, without a moment of both
 * together about any point. */
static void add_balanced(double J[2][6], const double apart[3],
                         const double force[3]) {
  double moment[3];
  vec3_cross(moment, apart, force);
  for (int side = 0; side < 2; side++) {
    vec3_add_scaled(J[side], side == 0 ? 1 : -1, force);
    vec3_add_scaled(J[side] + 3, -0.5, moment);
  }
}

/* Both bodies' parts of a row are to have no moment together about any point, at
 * the middle of the step: what is missing is shared. */
static void balance(double J[2][6], const double apart[3]) {
  double moment[3];
  vec3_cross(moment, apart, J[0]);
  for (int i = 0; i < 3; i++) {
    double half = 0.5 * (moment[i] + J[0][3 + i] + J[1][3 + i]);
    J[0][3 + i] -= half;
    J[1][3 + i] -= half;
  }
}

/* Turn a row a little, towards how the bodies turn or else move past each other,
 * so that J u is exactly the rate of its error over the step: no work is done
 * where the error does not change.
 * @param noise  m/s or rad/s: what is slower has no direction */
static void match_rate(const int body[2], double J[2][6], const double apart[3],
                       const double u[], double asked, double noise) {
  double turning[3] = {0}, passing[3] = {0}, both[3] = {0}, turned[3];
  double missing = asked - row_rate(J, body, u);
  for (int side = 0; side < 2; side++) {
    if (body[side] < 0) continue;
    const double *of = u + 6 * body[side], sign = side == 0 ? 1 : -1;
    vec3_add_scaled(passing, sign, of);
    vec3_add_scaled(turning, sign, of + 3);
    vec3_add_scaled(both, 0.5, of + 3);
  }
  vec3_cross(turned, both, apart);
  vec3_add_scaled(passing, -1, turned);
  if (vec3_length(turning) > noise) {
    double share = missing / vec3_dot(turning, turning);
    vec3_add_scaled(J[0] + 3, share, turning);
    vec3_add_scaled(J[1] + 3, -share, turning);
  } else if (vec3_length(passing) > noise) { /* test_schemes_conserving */
    double share = missing / vec3_dot(passing, passing);
    for (int i = 0; i < 3; i++) passing[i] *= share;
    add_balanced(J, apart, passing);
  }
}

static double alike(const double a[2][6], const double b[2][6]) {
  double ab = 0, aa = 0, bb = 0;
  for (int i = 0; i < 12; i++) {
    ab += a[i / 6][i % 6] * b[i / 6][i % 6];
    aa += a[i / 6][i % 6] * a[i / 6][i % 6];
    bb += b[i / 6][i % 6] * b[i / 6][i % 6];
  }
  return ab / sqrt(aa * bb);
}

/* Rows along axes of the world: the mean is exact, as arms change by
 * h u x (r + r+) / 2. To match its rate as well costs a hanging chain of twelve a third
 * more rounds, and a loaded bridge gains (test_schemes_conserving). */
static bool goes_straight(const double J0[2][6], const double J1[2][6]) {
  return vec3_dot(J0[0], J0[0]) > 0 &&
         memcmp(J0[0], J1[0], 3 * sizeof J0[0][0]) == 0;
}

/* The row of a joint between its two ends: its mean, where it is the same row at
 * both (the host may choose other axes), the balance and the work put right. */
static void mean_row(const second_order *s, const int body[2],
                     const double apart[3], bool two, double h,
                     const joint_row_state *state, const double J0[2][6],
                     const double J1[2][6], double error1, double J[2][6]) {
  const double SAME = 0.5;
  bool same = alike(J0, J1) > SAME;
  for (int i = 0; i < 12; i++)
    J[i / 6][i % 6] =
        same ? 0.5 * (J0[i / 6][i % 6] + J1[i / 6][i % 6]) : J1[i / 6][i % 6];
  if (two) balance(J, apart);
  /* bodies that turn together turn the errors that they have */
  double noise =
      1e3 * (fabs(error1) + fabs(state->error) + real_roundings(1e-16)) / h;
  if (state->positional && !goes_straight(J0, J1))
    match_rate(body, J, apart, s->u, (error1 - state->error) / h, noise);
}

/* Rows act along J, but their errors at the end change by h J1~ u, J1~ = J1 (1 + Y) /
 * (1 + y'y) with half the turn y: they are asked for J M^-1 J' (J1~ M^-1 J')^-1 r in place
 * of r [6]. Without, a car's wheels take twice the rounds. */
static void ask_by_end(const second_order *s, const int body[2], double h,
                       host_joint_rows *rows, const host_joint_rows *after,
                       const bool turns[6], const double r[6]) {
  double mean[36] = {0}, own[36] = {0}, p[6], asked[6];
  for (int side = 0; side < 2; side++) {
    double inverse[36], y[3], end[6][6];
    if (!world_is_dynamic(&s->home, body[side]) ||
        !matrix6_invert(inverse, s->mass + 36 * body[side]))
      continue;
    for (int k = 0; k < 3; k++) y[k] = h / 2 * s->u[6 * body[side] + 3 + k];
    for (int i = 0; i < 6; i++) {
      if (!turns[i]) continue;
      const double *J1 = after->rows.J[i][side];
      double turned[3];
      vec3_cross(turned, J1 + 3, y);
      for (int k = 0; k < 6; k++)
        end[i][k] =
            k < 3 ? J1[k] : (J1[k] + turned[k - 3]) / (1 + vec3_dot(y, y));
    }
    for (int j = 0; j < 6; j++) {
      double moved[6];
      if (!turns[j]) continue;
      matrix6_apply(moved, inverse, rows->rows.J[j][side]);
      for (int i = 0; i < 6; i++) {
        if (!turns[i]) continue;
        mean[6 * i + j] += dot6(rows->rows.J[i][side], moved);
        own[6 * i + j] += dot6(end[i], moved);
      }
    }
  }
  for (int i = 0; i < 6; i++)
    if (!turns[i]) own[7 * i] = 1;
  if (!matrix6_is_positive(own)) return; /* half a turn: test_schemes_chains */
  matrix6_solve(p, own, r);
  matrix6_apply(asked, mean, p);
  for (unsigned i = 0; i < rows->rows.count; i++)
    rows->rows.rhs[i] += asked[i] - r[i];
}

/* Put J in the place of row i's, which is asked for rhs along it; where the last round's
 * matrix is kept, what the row lacks of that, at the last round's impulse and velocity. */
static void put_row(second_order *s, const int body[2], host_rows *rows,
                    unsigned i, const double J[2][6], double rhs,
                    joint_row_state *state) {
  double(*kept)[6] = rows->J[i];
  if (!s->keeps) memcpy(kept, J, sizeof rows->J[i]);
  rows->rhs[i] = rhs + row_rate(kept, body, s->u) - row_rate(J, body, s->u);
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < 6; k++) {
      state->lacking[side][k] = state->impulse * (J[side][k] - kept[side][k]);
      if (body[side] >= 0)
        s->force[6 * body[side] + k] += state->lacking[side][k];
    }
}

/* Put the rows for the mean velocity in the place of those at the middle. */
static void renew_joint(second_order *s, const motion *from, const motion *to,
                        double h, int j) {
  const int *body = s->home.joints[j].body;
  host_joint_rows *rows = &s->middle.joint_rows[s->middle.joints[j].rows];
  joint_row_state *states = s->row_states + 6 * s->middle.joints[j].rows;
  const host_joint_rows *before = rows_of(&s->before, j);
  const host_joint_rows *after = rows_of(&s->there, j);
  double apart[3], r[6] = {0};
  bool turns[6] = {0}, two = middle_apart(s, from, to, body, apart);
  for (unsigned i = 0; i < rows->rows.count; i++) {
    joint_row_state *state = &states[i];
    double J[2][6];
    memcpy(J, rows->rows.J[i], sizeof J);
    if (!state->holds || !holds(after, i, s->home.cfm)) {
      if (two) balance(J, apart);
      put_row(s, body, &rows->rows, i, J, state->target, state);
      continue;
    }
    double error = -h * after->correction[i];
    state->positional |= error != 0;
    mean_row(s, body, apart, two, h, state, before->rows.J[i], after->rows.J[i],
             error, J);
    double rhs = state->positional
                     ? row_rate(J, body, s->u) - (error - state->kept) / h
                     : state->target;
    if (s->near) rhs += rows->rows.cfm[i] / h * state->impulse;
    put_row(s, body, &rows->rows, i, J, rhs, state);
    turns[i] = state->positional &&
               !goes_straight(before->rows.J[i], after->rows.J[i]);
    if (turns[i]) r[i] = -(error - state->kept) / h;
  }
  ask_by_end(s, body, h, rows, after, turns, r);
}

bool conserving_renew_joints(second_order *s, const motion *from,
                             const motion *to, double h) {
  if (s->middle.n_joint_rows == 0) return true;
  if (!world_read_joints_at(&s->there, &s->home, to->poses, h, s->step->out))
    return false;
  for (int j = 0; j < s->home.n_joints; j++)
    if (s->middle.joints[j].rows >= 0) renew_joint(s, from, to, h, j);
  return true;
}

/* Beside joints a rigid contact's compliance counts from the impulse of the round
 * before, as theirs does. Else impulses that compliances alone share out, as of four
 * wheels, would come to rest a part in each round. */
static void keep_pressed(second_order *s) {
  for (int k = 0; k < s->here->contacts.n && s->middle.n_joint_rows > 0; k++) {
    const world_contact *start = &s->here->contacts.items[k];
    int m = s->middle_of[k];
    if (m < 0 || !start->held || start->stop >= 0 || start->point.soft)
      continue;
    double yield = assembly_contact_yield(s->base.assembly, m);
    s->middle.contacts.items[m].point.surface.motion[2] +=
        yield - s->shift[3 * m + 2];
    s->shift[3 * m + 2] = yield;
  }
}

void conserving_keep_impulses(second_order *s, double change) {
  for (int j = 0; j < s->home.n_joints; j++) {
    int rows = s->middle.joints[j].rows;
    for (unsigned i = 0; rows >= 0 && i < s->middle.joint_rows[rows].rows.count;
         i++)
      s->row_states[6 * rows + (int)i].impulse =
          assembly_joint_impulse(s->base.assembly, j, i);
  }
  s->near |= change * change < 0.1 * COMPLIANCE;
  if (s->near) keep_pressed(s);
}

void conserving_add_forces(const second_order *s, double seconds,
                           joint_result results[]) {
  for (int j = 0; j < s->home.n_joints; j++) {
    const host_joint_rows *rows = rows_of(&s->middle, j);
    for (unsigned i = 0; rows != NULL && i < rows->rows.count; i++) {
      const joint_row_state *state =
          &s->row_states[6 * s->middle.joints[j].rows + (int)i];
      for (int k = 0; k < 12 && !results[j].forceless; k++)
        results[j].force[k / 6][k % 6] +=
            state->lacking[k / 6][k % 6] / seconds;
    }
  }
}

/* J: what rows that hold brought in the last round. What takes an error away counts: rows
 * that say the same press against each other without bound. */
static double brought(const second_order *s) {
  double work = 0;
  for (int j = 0; j < s->home.n_joints; j++) {
    const host_joint_rows *rows = rows_of(&s->middle, j);
    for (unsigned i = 0; rows != NULL && i < rows->rows.count; i++) {
      const joint_row_state *state =
          &s->row_states[6 * s->middle.joints[j].rows + (int)i];
      double rate = row_rate(rows->rows.J[i], s->home.joints[j].body, s->u);
      if (state->holds)
        work +=
            state->impulse * (rate - (state->positional ? 0 : state->target));
    }
  }
  return fmax(work, 0);
}

double conserving_energy(const second_order *s, const motion *from) {
  double energy = motion_energy(&s->home, from, from->v) - brought(s);
  for (int b = 0; b < s->home.n_bodies; b++) {
    double change[6], impulse[6];
    const double *u = s->u + 6 * b;
    if (!world_is_dynamic(&s->home, b)) continue;
    for (int i = 0; i < 6; i++) change[i] = u[i] - s->x_free[6 * b + i];
    matrix6_apply(impulse, s->mass + 36 * b, change); /* of all rows */
    for (int i = 0; i < 6; i++)
      energy += u[i] * (s->force[6 * b + i] + impulse[i]);
  }
  return energy;
}

/* --- before the rounds ------------------------------------------------------- */

bool conserving_prepare(second_order *s, const motion *from, double h) {
  if (!POOL_RESERVE(s->step->pool, s->row_states, 6 * s->middle.n_joint_rows))
    return outcome_no_memory(s->step->out);
  if (s->middle.n_joint_rows > 0 &&
      !world_read_joints_at(&s->before, &s->home, from->poses, h, s->step->out))
    return false;
  s->near = s->middle.n_joint_rows == 0;
  for (int j = 0; j < s->home.n_joints; j++)
    if (s->middle.joints[j].rows >= 0) prepare_joint(s, j, h);
  return true;
}

void conserving_leave_small_errors(world_snapshot *at) {
  for (int i = 0; i < at->n_joint_rows; i++) {
    host_joint_rows *rows = &at->joint_rows[i];
    double worst = 0, share = at->erp / at->settings.step_size;
    for (unsigned r = 0; r < rows->rows.count; r++)
      worst = fmax(worst, fabs(rows->correction[r]));
    for (unsigned r = 0; r < rows->rows.count; r++)
      if (worst <= 0.5 * SMALL_ERROR * share) rows->correction[r] = 0;
  }
}
