#include "schemes/conserving.h"

#include <math.h>
#include <string.h>

#include "common/six.h"
#include "common/vec3.h"
#include "gap/real.h"
#include "world/rotation.h"

/* Rounds until a step counts as too large; most end after three to six. */
enum { ROUNDS_MAX = 16 };
/* A round that changes no body's mean velocity by more than this part of the
 * fastest is the last. */
static const double SETTLED = 1e-11;
/* m, rad: joint errors up to this are taken away by a whole step itself; larger ones
 * by moving the bodies, which gives them no velocity */
static const double SMALL_ERROR = 1e-6;
/* The compliance of a round as a part of a row's diagonal, for rows that say the
 * same. It counts from the impulse of the round before, so that none is left in
 * the end. */
static const double COMPLIANCE = 1e-8;
/* This part of what the end's projection did to the velocities is undone at the
 * start of the next step: 1 keeps the energy where it is, 0 damps most (42). */
static const double CARRIED = 0.99;

/* A row of a joint over the rounds of a step. */
typedef struct joint_row_state {
  bool holds;        /* rigid, without bounds: it has a surface to end on */
  bool positional;   /* its error was seen to be other than 0 */
  int number;        /* among the rows of its joint that hold */
  int before;        /* its row at the start */
  double target;     /* velocity asked for, m/s or rad/s */
  double error;      /* at the start, */
  double kept;       /* and the part of it that stays */
  double impulse;    /* of the round before, */
  double compliance; /* which counts from it */
} joint_row_state;

struct conserving_state {
  world_snapshot before;       /* joints at the start of a step */
  double *start_v;             /* [6 n_bodies] */
  joint_row_state *row_states; /* [6 middle.n_joint_rows] */
  int *end_of;         /* [here's contacts] contact in `there`, -1: lost */
  extra_row *end_rows; /* what velocities at the end obey beside joints */
};

bool conserving_reserve(second_order *s) {
  arena *arena = &s->base.arena;
  int n = s->home.n_bodies;
  if (s->conserving == NULL)
    s->conserving =
        memory_allocate_zero(&s->base.pool.source, sizeof *s->conserving);
  return (s->conserving != NULL &&
          ARENA_TAKE(arena, s->conserving->start_v, 6 * n)) ||
         outcome_no_memory(s->step->out);
}

/* --- rows of joints --------------------------------------------------------- */

/* The rows that hold two bodies together without bounds, in their order.
 * @return how many. */
static int find_holding(const host_joint_rows *joint, double cfm,
                        int index[6]) {
  int n = 0;
  for (unsigned i = 0; i < joint->rows.count; i++)
    if (host_row_holds(joint, i, cfm)) index[n++] = (int)i;
  return n;
}

static const host_joint_rows *rows_of(const world_snapshot *world, int joint) {
  int rows = world->joints[joint].rows;
  return rows >= 0 ? &world->joint_rows[rows] : NULL;
}

static bool prepare_joint(second_order *s, int j, double h) {
  const world_joint *joint = &s->home.joints[j];
  host_joint_rows *rows = &s->middle.joint_rows[s->middle.joints[j].rows];
  joint_row_state *states =
      s->conserving->row_states + 6 * s->middle.joints[j].rows;
  const host_joint_rows *start = rows_of(s->here, j);
  const host_joint_rows *before = rows_of(&s->conserving->before, j);
  int index[6], index_before[6], n = find_holding(rows, s->home.cfm, index);
  memset(states, 0, 6 * sizeof *states);

  /* motors ask the velocity at the end for their target: on the mean one they
   * would have it alternate */
  for (unsigned i = 0; i < rows->rows.count; i++) {
    double *rhs = &rows->rows.rhs[i];
    if (rows->rows.cfm[i] > s->home.cfm || rows->soft[i]) {
      /* a spring's force is that at the start, and what the step makes of it */
      if (start == NULL || start->rows.count != rows->rows.count) continue;
      *rhs = start->rows.rhs[i];
    } else if (rows->rows.lo[i] != 0 && rows->rows.hi[i] != 0 &&
               !(isinf(rows->rows.lo[i]) && isinf(rows->rows.hi[i]))) {
      double target = *rhs - rows->correction[i];
      *rhs = 0.5 * (target + row_rate(rows->rows.J[i], joint->body,
                                      s->conserving->start_v));
      rows->correction[i] = 0;
    }
  }
  if (before == NULL || find_holding(before, s->home.cfm, index_before) != n)
    return true;
  double worst = 0;
  for (int k = 0; k < n; k++) {
    joint_row_state *state = &states[index[k]];
    state->holds = true;
    state->number = k;
    state->before = index_before[k];
    state->target = rows->rows.rhs[index[k]] - rows->correction[index[k]];
    state->error = -h * before->correction[index_before[k]];
    state->positional = state->error != 0;
    worst = fmax(worst, fabs(state->error));
  }
  /* a part of the host's step takes away what is small to it: all in next to no time
   * would be a velocity */
  double small = SMALL_ERROR * h / s->step->step_size;
  for (int k = 0; k < n && worst > small; k++)
    states[index[k]].kept = states[index[k]].error;
  return true;
}

/* From the second to the first body at the middle of the step; 0 where one of
 * them moves as it will: there is nothing to balance then. */
static void middle_apart(const second_order *s, const motion *from,
                         const motion *to, const int body[2], double apart[3]) {
  bool both = world_is_dynamic(&s->home, body[0]) &&
              world_is_dynamic(&s->home, body[1]);
  for (int i = 0; i < 3; i++)
    apart[i] = both ? 0.5 * (from->poses[body[0]].position[i] +
                             to->poses[body[0]].position[i] -
                             from->poses[body[1]].position[i] -
                             to->poses[body[1]].position[i])
                    : 0;
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
  const double ROUNDING = 1e-12;
  const double MOST = 0.3; /* of a row: more is no correction */
  double turning[3] = {0}, passing[3] = {0}, both[3] = {0}, turned[3];
  double missing = asked - row_rate(J, body, u), size = 0;
  for (int side = 0; side < 2; side++) {
    if (body[side] < 0) continue;
    const double *of = u + 6 * body[side], sign = side == 0 ? 1 : -1;
    vec3_add_scaled(passing, sign, of);
    vec3_add_scaled(turning, sign, of + 3);
    vec3_add_scaled(both, 0.5, of + 3);
    for (int i = 0; i < 6; i++) size += fabs(J[side][i] * of[i]);
  }
  vec3_cross(turned, both, apart);
  vec3_add_scaled(passing, -1, turned);
  if (fabs(missing) < ROUNDING * size) return;
  double least = fmax(fabs(missing) / MOST, noise);
  if (vec3_length(turning) > least) {
    double share = missing / vec3_dot(turning, turning);
    vec3_add_scaled(J[0] + 3, share, turning);
    vec3_add_scaled(J[1] + 3, -share, turning);
  } else if (vec3_length(passing) > least) { /* test_schemes_conserving */
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
static void mean_row(const second_order *s, const motion *from,
                     const motion *to, double h, int j,
                     const joint_row_state *state, const double J0[2][6],
                     const double J1[2][6], double error1, double J[2][6]) {
  const double SAME = 0.5;
  const int *body = s->home.joints[j].body;
  bool same = alike(J0, J1) > SAME;
  for (int i = 0; i < 12; i++)
    J[i / 6][i % 6] =
        same ? 0.5 * (J0[i / 6][i % 6] + J1[i / 6][i % 6]) : J1[i / 6][i % 6];
  double apart[3];
  middle_apart(s, from, to, body, apart);
  if (world_is_dynamic(&s->home, body[0]) &&
      world_is_dynamic(&s->home, body[1]))
    balance(J, apart);
  /* bodies that turn together turn the errors that they have */
  double noise =
      1e3 * (fabs(error1) + fabs(state->error) + real_roundings(1e-16)) / h;
  if (state->positional && !goes_straight(J0, J1))
    match_rate(body, J, apart, s->u, (error1 - state->error) / h, noise);
}

/* Put the rows for the mean velocity in the place of those at the middle. */
static void renew_joint(second_order *s, const motion *from, const motion *to,
                        double h, int j) {
  const int *body = s->home.joints[j].body;
  host_joint_rows *rows = &s->middle.joint_rows[s->middle.joints[j].rows];
  joint_row_state *states =
      s->conserving->row_states + 6 * s->middle.joints[j].rows;
  const host_joint_rows *before = rows_of(&s->conserving->before, j);
  const host_joint_rows *after = rows_of(&s->there, j);
  int index[6], n = after != NULL ? find_holding(after, s->home.cfm, index) : 0;
  bool two = world_is_dynamic(&s->home, body[0]) &&
             world_is_dynamic(&s->home, body[1]);
  double apart[3];
  middle_apart(s, from, to, body, apart);
  for (unsigned i = 0; i < rows->rows.count; i++) {
    joint_row_state *state = &states[i];
    double(*J)[6] = rows->rows.J[i];
    if (!state->holds || state->number >= n) {
      if (two) balance(J, apart);
      continue;
    }
    int k = index[state->number];
    double error = -h * after->correction[k], *rhs = &rows->rows.rhs[i];
    state->positional |= error != 0;
    mean_row(s, from, to, h, j, state, before->rows.J[state->before],
             after->rows.J[k], error, J);
    double compliance = fmax(COMPLIANCE * world_row_mobility(&s->home, body, J),
                             fmin(s->home.cfm, HOST_DEFAULT_CFM) / h);
    *rhs = state->positional
               ? row_rate(J, body, s->u) - (error - state->kept) / h
               : state->target;
    *rhs += compliance * state->impulse;
    state->compliance = compliance;
    rows->rows.cfm[i] = compliance * h;
    rows->soft[i] = true; /* as it stands */
    rows->correction[i] = 0;
  }
}

static bool renew_joints(second_order *s, const motion *from, const motion *to,
                         double h) {
  if (s->middle.n_joint_rows == 0) return true;
  if (!world_read_joints_at(&s->there, &s->home, to->poses, h, s->step->out))
    return false;
  for (int j = 0; j < s->home.n_joints; j++)
    if (s->middle.joints[j].rows >= 0) renew_joint(s, from, to, h, j);
  return true;
}

/* @return m/s or rad/s: the most that a row gave way by the compliance of the round.
 *         A round that begins from that slip changes nothing, and has it all the
 *         same. */
static double keep_impulses(second_order *s) {
  double slip = 0;
  for (int j = 0; j < s->home.n_joints; j++) {
    int rows = s->middle.joints[j].rows;
    for (unsigned i = 0; rows >= 0 && i < s->middle.joint_rows[rows].rows.count;
         i++) {
      joint_row_state *state = &s->conserving->row_states[6 * rows + (int)i];
      double impulse = assembly_joint_impulse(s->base.assembly, j, i);
      slip = fmax(slip, state->compliance * fabs(impulse - state->impulse));
      state->impulse = impulse;
    }
  }
  return slip;
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

/* --- bodies ----------------------------------------------------------------- */

/* The inertia of a body at a pose, world frame, and its rotation. */
static void turn_inertia(const second_order *s, int b, const world_pose *pose,
                         double rotation[9], double inertia[9]) {
  const host_body *body = &s->home.bodies[b];
  double in_body[9], back[9];
  for (int i = 0; i < 9; i++) back[i] = body->rotation[3 * (i % 3) + i / 3];
  mat3_rotate(in_body, back, body->inertia);
  quaternion_to_rotation(rotation, pose->quaternion);
  mat3_rotate(inertia, rotation, in_body);
}

/* Angular velocity and momentum at the end that go with a mean angular velocity:
 * in the body's frame the mean of both ends is the mean one (40). */
static void end_of_turn(const double R0[9], const double R1[9],
                        const double inertia1[9], const double w0[3],
                        const double u[3], double w1[3], double momentum[3]) {
  double local[3], turned[3];
  for (int i = 0; i < 3; i++) /* R0' w0 */
    local[i] = R0[i] * w0[0] + R0[3 + i] * w0[1] + R0[6 + i] * w0[2];
  mat3_apply(turned, R1, local);
  for (int i = 0; i < 3; i++) w1[i] = 2 * u[i] - turned[i];
  mat3_apply(momentum, inertia1, w1);
}

/* J'p depends on u, too. Without, the rounds of a taut chain grow by
 * (h omega)^2 / 4 each, omega being that of its load's swing. */
static void add_geometric(second_order *s, int j, double h) {
  const world_joint *middle = &s->middle.joints[j];
  double force[6];
  if (middle->rows < 0) return;
  const joint_row_state *states = s->conserving->row_states + 6 * middle->rows;
  for (int i = 0; i < 6; i++) force[i] = states[i].impulse / h;
  taut_joints_add(s->taut, &s->middle, j, force, h / 2, s->u);
}

/* A mass with a part more, where that leaves it positive. */
static void take_positive(second_order *s, double mass[36],
                          const double with[36]) {
  if (matrix6_is_positive(with))
    memcpy(mass, with, 36 * sizeof *mass);
  else
    s->step->out->report.jacobians_dropped++;
}

/* The change of momentum over the step that goes with the mean velocity u, less
 * that of known forces; its Jacobian goes to s->mass. */
static void build_body(second_order *s, const motion *from, const motion *to,
                       int b, double h, double missing[6]) {
  const host_body *body = &s->home.bodies[b];
  const double *v = s->conserving->start_v + 6 * b, *u = s->u + 6 * b;
  double *mass = s->mass + 36 * b;
  double R0[9], R1[9], I0[9], I1[9], momentum[3], start[3], w1[3];
  turn_inertia(s, b, &from->poses[b], R0, I0);
  turn_inertia(s, b, &to->poses[b], R1, I1);
  memset(mass, 0, 36 * sizeof *mass);
  for (int i = 0; i < 3; i++) {
    mass[7 * i] = 2 * body->mass;
    missing[i] = 2 * body->mass * (u[i] - v[i]) - s->force[6 * b + i];
  }
  if (!body->gyroscopic) {
    /* as the program wants it: no torque comes of the inertia's turning */
    double mean[9], change[3], turned[3];
    for (int i = 0; i < 9; i++) mean[i] = I0[i] + I1[i];
    vec3_subtract(change, u + 3, v + 3);
    mat3_apply(turned, mean, change);
    for (int i = 0; i < 3; i++) {
      missing[3 + i] = turned[i] - s->force[6 * b + 3 + i];
      for (int k = 0; k < 3; k++) mass[6 * (3 + i) + 3 + k] = mean[3 * i + k];
    }
  } else {
    end_of_turn(R0, R1, I1, v + 3, u + 3, w1, momentum);
    mat3_apply(start, I0, v + 3);
    for (int i = 0; i < 3; i++)
      missing[3 + i] = momentum[i] - start[i] - s->force[6 * b + 3 + i];
    /* 2 R1 J R0' - [L1]x T, T the turn that u makes: h (1 + [y]x) / (1 + y'y),
     * y = (h/2) u; R1 J R0' = I1 R1 R0' */
    double y[3], turn[9];
    for (int i = 0; i < 3; i++) y[i] = h / 2 * u[3 + i];
    double scale = h / (1 + vec3_dot(y, y));
    const double T[9] = {scale,         -scale * y[2], scale * y[1],
                         scale * y[2],  scale,         -scale * y[0],
                         -scale * y[1], scale * y[0],  scale};
    const double L[9] = {0, -momentum[2], momentum[1],  momentum[2],
                         0, -momentum[0], -momentum[1], momentum[0],
                         0};
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++)
        turn[3 * i + k] = vec3_dot(R1 + 3 * i, R0 + 3 * k);
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++) {
        double sum = 0;
        for (int l = 0; l < 3; l++)
          sum +=
              2 * I1[3 * i + l] * turn[3 * l + k] - L[3 * i + l] * T[3 * l + k];
        mass[6 * (3 + i) + 3 + k] = sum;
      }
    if (!matrix6_is_positive(mass)) {
      for (int i = 0; i < 9; i++)
        mass[6 * (3 + i / 3) + 3 + i % 3] = I0[i] + I1[i];
      s->step->out->report.jacobians_dropped++;
    }
  }
  double with[36];
  memcpy(with, mass, sizeof with);
  for (int i = 0; i < 9; i++)
    with[6 * (3 + i / 3) + 3 + i % 3] += h * h / 2 * s->taut[9 * b + i];
  take_positive(s, mass, with);
  if (s->step->forces->first == NULL) return;
  for (int i = 0; i < 36; i++)
    with[i] = mass[i] - h * h / 2 * s->k_q[36 * b + i] - h * s->k_v[36 * b + i];
  take_positive(s, mass, with);
}

/* The mean velocities of a round where no row acts. */
static bool free_motion(second_order *s, const motion *from, const motion *to,
                        double h) {
  for (int b = 0; b < s->home.n_bodies; b++) {
    double inverse[36], missing[6], change[6];
    memcpy(s->x_free + 6 * b, s->u + 6 * b, 6 * sizeof *s->u);
    if (s->home.bodies[b].kinematic) continue;
    build_body(s, from, to, b, h, missing);
    if (!matrix6_invert(inverse, s->mass + 36 * b))
      return outcome_fail(s->step->out,
                          "body %lu has no finite inverse of its mass",
                          s->home.bodies[b].serial);
    matrix6_apply(change, inverse, missing);
    for (int i = 0; i < 6; i++) s->x_free[6 * b + i] -= change[i];
  }
  return true;
}

/* Poses that the mean velocities lead to, and the velocities there. */
static void arrive(const second_order *s, const motion *from, double h,
                   motion *to) {
  to->time = from->time + h;
  for (int b = 0; b < s->home.n_bodies; b++) {
    const double *u = s->u + 6 * b, *v = s->conserving->start_v + 6 * b;
    double *end = to->v + 6 * b;
    world_pose_move_cayley(&to->poses[b], &from->poses[b], u, h);
    if (s->home.bodies[b].kinematic) {
      memcpy(end, v, 6 * sizeof *end);
      continue;
    }
    for (int i = 0; i < 6; i++) end[i] = 2 * u[i] - v[i];
    if (!s->home.bodies[b].gyroscopic) continue;
    double R0[9], R1[9], I0[9], I1[9], momentum[3];
    turn_inertia(s, b, &from->poses[b], R0, I0);
    turn_inertia(s, b, &to->poses[b], R1, I1);
    end_of_turn(R0, R1, I1, v + 3, u + 3, end + 3, momentum);
  }
}

/* --- contacts --------------------------------------------------------------- */

/* A soft contact pushes with its force at the start, and with what the step makes
 * of it. */
static void prepare_contacts(second_order *s) {
  for (int k = 0; k < s->here->contacts.n; k++) {
    const world_contact *start = &s->here->contacts.items[k];
    if (s->middle_of[k] < 0 || !start->active) continue;
    host_contact *point = &s->middle.contacts.items[s->middle_of[k]].point;
    if (!point->soft) continue;
    point->gap = start->point.gap;
  }
}

/* --- the end of a step ------------------------------------------------------ */

/* Rows of joints that hold: what is bounded or a spring does not. */
static void add_holding(second_order *s, int *n_rows) {
  for (int j = 0; j < s->home.n_joints; j++) {
    const host_joint_rows *rows = rows_of(&s->there, j);
    int index[6];
    if (rows == NULL) continue;
    int n = find_holding(rows, s->home.cfm, index);
    for (int k = 0; k < n; k++) {
      extra_row *row = &s->conserving->end_rows[(*n_rows)++];
      memcpy(row->body, s->home.joints[j].body, sizeof row->body);
      memcpy(row->J, rows->rows.J[index[k]], sizeof row->J);
      row->bias = rows->correction[index[k]] - rows->rows.rhs[index[k]];
      row->compliance =
          COMPLIANCE * world_row_mobility(&s->home, row->body, row->J);
    }
  }
}

static bool is_pressed(const second_order *s, int k) {
  const world_contact *start = &s->here->contacts.items[k];
  int m = s->middle_of[k];
  return start->active && m >= 0 && !start->point.soft &&
         assembly_normal_impulse(s->base.assembly, m) > 0;
}

/* The world at the end, so far as its velocities depend on it: the collision
 * function is asked where something is pressed. */
static bool look_at_end(second_order *s, const motion *to, double h) {
  bool pressed = false;
  for (int k = 0; k < s->here->contacts.n && !pressed; k++)
    pressed = is_pressed(s, k);
  return pressed
             ? second_order_look(s, &s->there, to, h, s->home.settings.margin)
             : world_read_joints_at(&s->there, &s->home, to->poses, h,
                                    s->step->out);
}

/* Contacts that were pressed together over the step neither part nor come closer
 * at its end. */
static bool add_pressed(second_order *s, const motion *to, int *n_rows) {
  const world_contacts *starts = &s->here->contacts, *ends = &s->there.contacts;
  int *match = s->conserving->end_of;
  if (!world_match(&s->matcher, s->here, starts, &s->there, ends,
                   motion_radius(&s->home, to->v, s->step->step_size), match))
    return outcome_no_memory(s->step->out);
  for (int k = 0; k < starts->n; k++) {
    if (!is_pressed(s, k) || match[k] < 0) continue;
    const world_contact *end = &ends->items[match[k]];
    extra_row *row = &s->conserving->end_rows[(*n_rows)++];
    memcpy(row->body, end->point.body, sizeof row->body);
    world_contact_jacobian(ends, match[k], row->J);
    row->bias = -end->point.surface.motion[2];
    row->compliance =
        COMPLIANCE * world_row_mobility(&s->home, row->body, row->J);
  }
  return true;
}

/* The velocities that the rows s->conserving->end_rows allow.
 * @return NULL where the step cannot be taken. */
static const double *project(second_order *s, int n_rows, const motion *to) {
  const world_contacts none = {0};
  memcpy(s->x_free, to->v, 6 * (size_t)s->home.n_bodies * sizeof *to->v);
  world_snapshot rows_alone = s->there;
  rows_alone.n_joints = rows_alone.n_joint_rows = 0;
  assembly_request request =
      second_order_request(s, &rows_alone, JOINT_LEVEL_IMPACT, 1);
  request.contacts = &none;
  request.v = s->x_free;
  request.extra = s->conserving->end_rows;
  request.n_extra = n_rows;
  return assembly_solve(s->base.projector, &request, s->step->out)
             ? assembly_x(s->base.projector)
             : NULL;
}

static bool reserve_contacts(second_order *s) {
  scheme_state *base = &s->base;
  memory_pool *pool = s->step->pool;
  int n = s->here->contacts.n;
  if (base->projector == NULL) base->projector = assembly_create(&pool->source);
  return (base->projector != NULL &&
          POOL_RESERVE(pool, s->conserving->row_states,
                       6 * s->middle.n_joint_rows) &&
          POOL_RESERVE(pool, s->conserving->end_of, n) &&
          POOL_RESERVE(
              pool, s->conserving->end_rows,
              n + s->step->forces->n_springs + 6 * s->home.n_joints)) ||
         outcome_no_memory(s->step->out);
}

bool conserving_hold(second_order *s, double h, motion *to) {
  int n_bodies = s->home.n_bodies, n_rows = s->n_end;
  bool conserves = s->rule->conserves;
  memset(to->carry, 0, 6 * (size_t)n_bodies * sizeof *to->carry);
  to->carry_h = conserves ? h : 0;
  /* a trapezoid without an ERP is the paper's; with contacts a block that tips is no
   * longer of second order (test_scenes_second_order) */
  if (!conserves && (s->home.n_joint_rows == 0 || !(s->home.erp > 0)))
    return true;
  for (int k = 0; k < s->here->contacts.n && !conserves; k++)
    if (s->here->contacts.items[k].active) return true;
  if (!reserve_contacts(s) || !look_at_end(s, to, h)) return false;
  add_holding(s, &n_rows);
  if (!add_pressed(s, to, &n_rows)) return false;
  if (n_rows == 0) return true;

  const double *v = project(s, n_rows, to);
  if (v == NULL) return false;
  for (int i = 0; i < 6 * n_bodies; i++) {
    if (s->home.bodies[i / 6].kinematic) continue;
    if (conserves) to->carry[i] = v[i] - to->v[i];
    to->v[i] = v[i];
  }
  return true;
}

/* --- a step ----------------------------------------------------------------- */

/* The velocities from which the step starts: what the last projection did is
 * mostly undone, by the share that goes with the two sizes. */
static void start_velocities(second_order *s, const motion *from, double h) {
  double before = from->carry_h, share = 0;
  if (before > 0) share = CARRIED * fmin(1, h * h / (before * before));
  for (int i = 0; i < 6 * s->home.n_bodies; i++)
    s->u[i] = s->conserving->start_v[i] = from->v[i] - share * from->carry[i];
}

static bool solve_round(second_order *s, const motion *from, const motion *to,
                        double h) {
  const scheme_step *step = s->step;
  int n_rows =
      forces_mean_rows(step->forces, &s->home, from->time, h, from->poses,
                       to->poses, s->rows, s->conserving->end_rows, &s->n_end);
  memset(s->taut, 0, 9 * (size_t)s->home.n_bodies * sizeof *s->taut);
  for (int j = 0; j < s->home.n_joints; j++) add_geometric(s, j, h);
  const step_weights weights = s->rule->weights(step->options, h);
  return second_order_sum_forces(s, &weights, &s->middle, from, to, to->v,
                                 false, h) &&
         free_motion(s, from, to, h) &&
         second_order_solve(s, &s->middle, h, s->conserving->start_v, n_rows, 1,
                            0);
}

/* How much a round changed the mean velocities. */
typedef struct round_change {
  double share;  /* of the fastest */
  double slip;   /* what rows gave way by, as a part of the fastest */
  bool rounding; /* no more than rounding may keep them from settling by */
} round_change;

/* Take over the round's mean velocities.
 * @param slip  m/s or rad/s: what rows gave way by */
static round_change take_over(second_order *s, double h, double slip) {
  const double *x = assembly_x(s->base.assembly);
  const double ROUNDING = real_roundings(1e-15);
  const double OF_SOLVES = 1e3;  /* times SETTLED; they are in double */
  const double OF_POSITIONS = 4; /* times the rounding of the host's */
  double change[2] = {0, 0}, most[2] = {s->home.gravity * h, 0}, far = 0;
  for (int b = 0; b < s->home.n_bodies; b++)
    far = fmax(far, vec3_length(s->home.bodies[b].position));
  /* no error of a joint is known better than to the rounding of positions */
  double slow = ROUNDING * (far + 1) / (h * SETTLED);
  double slow_in_double = slow * (DBL_EPSILON / REAL_EPSILON);
  for (int b = 0; b < s->home.n_bodies; b++)
    for (int half = 0; half < 2; half++) {
      double d[3];
      int at = 6 * b + 3 * half;
      vec3_subtract(d, x + at, s->u + at);
      change[half] = fmax(change[half], vec3_length(d));
      most[half] = fmax(most[half], vec3_length(x + at));
      if (!s->home.bodies[b].kinematic) vec3_copy(s->u + at, x + at);
    }
  bool rounding = true;
  for (int half = 0; half < 2; half++)
    rounding &=
        change[half] < SETTLED * fmax(OF_SOLVES * (most[half] + slow_in_double),
                                      OF_POSITIONS * (most[half] + slow));
  return (round_change){
      fmax(change[0] / (most[0] + slow), change[1] / (most[1] + slow)),
      slip / (fmax(most[0], most[1]) + slow), rounding};
}

/* Rounds until nothing changes. */
static bool settle(second_order *s, const motion *from, double h, motion *to) {
  ode_mlcp_report *report = &s->step->out->report;
  const int MOST_WORSE = 2; /* rounds after the first few */
  const double STAYS = 0.9; /* of the change of the round before */
  double last = INFINITY;
  int n_worse = 0;
  s->unsettled = true;
  s->stays = false;
  for (int round = 1;
       round <= ROUNDS_MAX && s->unsettled && n_worse < MOST_WORSE; round++) {
    s->again = round > 1;
    if (!renew_joints(s, from, to, h) || !solve_round(s, from, to, h))
      return false;
    double slip = keep_impulses(s);
    round_change change = take_over(s, h, slip);
    arrive(s, from, h, to);
    /* from what is no answer no round comes to one */
    if (assembly_stopped(s->base.assembly) > 0) break;
    s->unsettled = !(change.share <= SETTLED && change.slip <= SETTLED);
    if (round == 1)
      s->unsettled |= second_order_aim(s, &s->middle, s->u,
                                       second_order_energy(s, from, from->v));
    keep_pressed(s);
    if (round > 3 && change.rounding && change.share > 0.5 * last)
      s->unsettled = false;
    n_worse += round > 3 && !(change.share < last);
    s->stays = s->unsettled && change.share > STAYS * last &&
               change.share < last / STAYS;
    last = change.share;
    if (round > report->rounds) report->rounds = round;
  }
  return true;
}

static bool take_step(second_order *s, const motion *from, double h,
                      motion *to) {
  start_velocities(s, from, h);
  if (!second_order_look_at_middle(s, from, h) || !reserve_contacts(s) ||
      !second_order_start_slips(s, &s->middle))
    return false;
  if (s->middle.n_joint_rows > 0) {
    if (!world_read_joints_at(&s->conserving->before, &s->home, from->poses, h,
                              s->step->out))
      return false;
    for (int j = 0; j < s->home.n_joints; j++)
      if (s->middle.joints[j].rows >= 0 && !prepare_joint(s, j, h))
        return false;
  }
  prepare_contacts(s);
  if (!second_order_shift(s, &s->middle, s->conserving->start_v, 0.5))
    return false;
  arrive(s, from, h, to);
  if (!settle(s, from, h, to)) return false;
  second_order_unshift(s, &s->middle);
  return true;
}

const step_rule conserving_rule = {.take = take_step,
                                   .weights = second_order_trapezoid_weights,
                                   .midpoint = true,
                                   .mean = true,
                                   .holds = true,
                                   .conserves = true};

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
