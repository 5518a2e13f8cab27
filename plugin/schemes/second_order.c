#include "schemes/second_order.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/six.h"
#include "common/vec3.h"

bool second_order_reserve(second_order *s) {
  int n = s->home.n_bodies;
  arena *arena = &s->base.arena;
  arena_start(arena);
  return (ARENA_TAKE(arena, s->mass, 36 * n) &&
          ARENA_TAKE(arena, s->x_free, 6 * n) &&
          ARENA_TAKE(arena, s->force, 6 * n) &&
          ARENA_TAKE(arena, s->k_q, 36 * n) &&
          ARENA_TAKE(arena, s->k_v, 36 * n) && ARENA_TAKE(arena, s->stiff, n) &&
          ARENA_TAKE(arena, s->free, n) &&
          ARENA_TAKE(arena, s->gyroscopic, 9 * n) &&
          ARENA_TAKE(arena, s->taut, 9 * n) &&
          ARENA_TAKE(arena, s->rows, s->step->forces->n_springs) &&
          ARENA_TAKE(arena, s->u, 6 * n) &&
          ARENA_TAKE(arena, s->early, 6 * n) &&
          ARENA_TAKE(arena, s->loads, s->home.n_joints) &&
          motion_take(&s->ahead, arena, n)) ||
         outcome_no_memory(s->step->out);
}

/* --- what a scheme is made of --------------------------------------------- */

static step_weights first_order_weights(const ode_mlcp_options *options,
                                        double h) {
  (void)options;
  return (step_weights){.cq = h * h,
                        .cv = h,
                        .late = h,
                        .scale = 1,
                        .unknown = 1,
                        .move_v_plus = 1};
}

static step_weights gap_weights(const ode_mlcp_options *options, double h) {
  double a = options->alpha;
  return (step_weights){.cq = a * a * h * h,
                        .cv = a * h,
                        .early = (1 - a) * h,
                        .late = a * h,
                        .scale = 1 / a,
                        .carry = (1 - a) / a,
                        .unknown = 1,
                        .move_v = 1 - a,
                        .move_v_plus = a};
}

step_weights second_order_trapezoid_weights(const ode_mlcp_options *options,
                                            double h) {
  (void)options;
  return (step_weights){.cq = h * h / 4,
                        .cv = h / 2,
                        .early = h / 2,
                        .late = h / 2,
                        .scale = 1,
                        .unknown = 1,
                        .move_v = 0.5,
                        .move_v_plus = 0.5};
}

/* All rows on the mean velocity. */
static step_weights mean_weights(const ode_mlcp_options *options, double h) {
  step_weights weights = second_order_trapezoid_weights(options, h);
  weights.scale = weights.unknown = 2;
  return weights;
}

double second_order_alpha(const second_order *s) {
  return s->rule->weights(s->step->options, s->step->step_size).move_v_plus;
}

bool second_order_holds_end(const second_order *s) {
  step_weights weights = s->rule->weights(s->step->options, s->step->step_size);
  return !s->rule->mean && weights.unknown == 1 && weights.carry == 0;
}

void second_order_find_stiff(second_order *s, const motion *from, double h) {
  step_weights weights = s->rule->weights(s->step->options, h);
  for (int b = 0; b < s->home.n_bodies; b++) s->stiff[b] = false;
  int n_rows = forces_rows(s->step->forces, &s->home, from->poses, from->v,
                           weights.cq, weights.cv, 1, s->rows);
  for (int r = 0; r < n_rows; r++) {
    const extra_row *row = &s->rows[r];
    double inertia = world_row_mobility(s->here, row->body, row->J);
    for (int side = 0; side < 2 && inertia >= row->compliance; side++)
      if (row->body[side] >= 0) s->stiff[row->body[side]] = true;
  }
}

/* The Jacobian of the gyroscopic torque -w x (I w): [I w]x - [w]x I, exact; or
 * its first term alone, which leaves M~ positive. */
static void gyroscopic_jacobian(double out[9], const host_body *body,
                                const double w[3], bool exact) {
  double L[3];
  mat3_apply(L, body->inertia, w);
  const double cross[9] = {0, -L[2], L[1], L[2], 0, -L[0], -L[1], L[0], 0};
  memcpy(out, cross, sizeof cross);
  for (int j = 0; j < 3 && exact; j++) {
    const double column[3] = {body->inertia[j], body->inertia[3 + j],
                              body->inertia[6 + j]};
    double turned[3];
    vec3_cross(turned, w, column);
    for (int i = 0; i < 3; i++) out[3 * i + j] -= turned[i];
  }
}

/* True if a gyroscopic torque acts on the body: one of first order that no row acts on
 * turns as it does without forces. */
static bool has_torque(const second_order *s, int b) {
  return s->home.bodies[b].gyroscopic && !(s->rule->first && s->free[b]);
}

/* M~ of body b. What would take its positive definiteness away is left out. */
static void build_mass(const second_order *s, const step_weights *weights,
                       const host_body *body, int b, const double w[3]) {
  double *mass = s->mass + 36 * b, *turning = s->gyroscopic + 9 * b;
  for (int leave_out = 0; leave_out < 2; leave_out++) {
    memset(turning, 0, 9 * sizeof *turning);
    if (has_torque(s, b))
      gyroscopic_jacobian(turning, body, w, s->rule->midpoint && !leave_out);
    host_body_mass(body, mass);
    for (int i = 0; i < 9; i++)
      mass[6 * (3 + i / 3) + 3 + i % 3] -= weights->cv * turning[i];
    if (leave_out) break;
    for (int i = 0; i < 36; i++)
      mass[i] -=
          weights->cq * s->k_q[36 * b + i] + weights->cv * s->k_v[36 * b + i];
    if (matrix6_is_positive(mass)) return;
  }
  s->step->out->report.jacobians_dropped++;
}

bool second_order_sum_forces(second_order *s, const step_weights *weights,
                             const world_snapshot *at, const motion *from,
                             const motion *late, const double late_v[],
                             bool springs, double h) {
  const scheme_step *step = s->step;
  const world_snapshot *home = &s->home;
  int n = home->n_bodies;
  memset(s->force, 0, 6 * (size_t)n * sizeof *s->force);
  memset(s->k_q, 0, 36 * (size_t)n * sizeof *s->k_q);
  memset(s->k_v, 0, 36 * (size_t)n * sizeof *s->k_v);
  if (step->forces->first != NULL) {
    memset(s->early, 0, 6 * (size_t)n * sizeof *s->early);
    if (!forces_add(step->forces, home, from->time, from->poses, from->v,
                    springs, s->early, NULL, NULL, step->out) ||
        !forces_add(step->forces, home, from->time + h, late->poses, late_v,
                    springs, s->force, s->k_q, s->k_v, step->out))
      return false;
    for (int i = 0; i < 6 * n; i++)
      s->force[i] = weights->early * s->early[i] + weights->late * s->force[i];
  }
  for (int i = 0; i < 6 * n; i++)
    s->force[i] += h * at->bodies[i / 6].force[i % 6];
  return true;
}

/* The impulses of everything that is not a row, into s->force: what is held,
 * what powered joints add, the gyroscopic torque, functions and springs at both
 * ends (21). */
static bool sum_impulses(second_order *s, const step_weights *weights,
                         const world_snapshot *at, const motion *from,
                         double h) {
  const bool forces = s->step->forces->first != NULL;
  for (int b = 0; b < s->home.n_bodies && forces; b++)
    world_pose_move(&s->ahead.poses[b], &from->poses[b], from->v + 6 * b, h);
  if (!second_order_sum_forces(s, weights, at, from, &s->ahead, from->v, true,
                               h))
    return false;
  for (int b = 0; b < s->home.n_bodies; b++) {
    const double *w = from->v + 6 * b + 3;
    if (!has_torque(s, b)) continue;
    double momentum[3], torque[3];
    mat3_apply(momentum, at->bodies[b].inertia, w);
    vec3_cross(torque, momentum, w);
    vec3_add_scaled(s->force + 6 * b + 3, h, torque);
  }
  return true;
}

/* x where no row acts: M~ (x - v) = k~, or M~ x = 2 M~ v + k~ for v + v+. From the
 * `guess` of a round it is that of Newton's method: bodies resist a turn away from it by
 * what joints hold them with, too (13).
 * @param guess  x of the round before, NULL in the first */
static bool free_motion(second_order *s, const step_weights *weights,
                        const world_snapshot *at, const motion *from,
                        const double guess[]) {
  for (int b = 0; b < s->home.n_bodies; b++) {
    const host_body *body = &at->bodies[b];
    double *x = s->x_free + 6 * b, *mass = s->mass + 36 * b;
    double inverse[36], change[6], impulse[6] = {0}, taut[9] = {0};
    const double *v = from->v + 6 * b;
    memcpy(x, v, 6 * sizeof *v);
    if (s->home.bodies[b].kinematic) continue;
    build_mass(s, weights, body, b, v + 3);
    for (int i = 0; i < 6; i++) x[i] *= weights->unknown;
    if (guess != NULL) {
      for (int i = 0; i < 6; i++) change[i] = guess[6 * b + i] - x[i];
      matrix6_apply(impulse, mass, change);
      memcpy(x, guess + 6 * b, 6 * sizeof *x);
      taut_joints_unresolved(taut, body->inertia, s->taut + 9 * b, weights->cq);
    }
    for (int i = 0; i < 9; i++) mass[6 * (3 + i / 3) + 3 + i % 3] += taut[i];
    if (!matrix6_invert(inverse, mass))
      return outcome_fail(s->step->out,
                          "body %lu has no finite inverse of its mass",
                          s->home.bodies[b].serial);
    for (int i = 0; i < 6; i++) impulse[i] = s->force[6 * b + i] - impulse[i];
    matrix6_apply(change, inverse, impulse);
    for (int i = 0; i < 6; i++) x[i] += change[i];
  }
  return true;
}

/* --- a step --------------------------------------------------------------- */

static bool reserve_middle(second_order *s) {
  return POOL_RESERVE(s->step->pool, s->middle_of, s->here->contacts.n) ||
         outcome_no_memory(s->step->out);
}

bool second_order_look(const second_order *s, world_snapshot *world,
                       const motion *at, double h, double margin) {
  if (!world_read_at(world, &s->home, at->poses, h, margin, s->step->out))
    return false;
  world_move_surfaces(world, at->time - s->step->time);
  return true;
}

bool second_order_look_at_middle(second_order *s, const motion *from,
                                 double h) {
  const world_snapshot *here = s->here;
  outcome *out = s->step->out;
  for (int b = 0; b < s->home.n_bodies; b++)
    world_pose_move(&s->ahead.poses[b], &from->poses[b], from->v + 6 * b,
                    h / 2);
  s->ahead.time = from->time + h / 2;
  bool any = false;
  for (int k = 0; k < here->contacts.n; k++)
    any |= here->contacts.items[k].active;
  if (!second_order_look(s, &s->middle, &s->ahead, h,
                         any ? s->home.settings.margin : NAN) ||
      !reserve_middle(s))
    return false;
  if (!world_match(&s->matcher, here, &here->contacts, &s->middle,
                   &s->middle.contacts, motion_radius(&s->home, from->v, h),
                   s->middle_of))
    return outcome_no_memory(out);
  world_contact *middle = s->middle.contacts.items;
  for (int k = 0; k < s->middle.contacts.n; k++) middle[k].active = false;
  for (int k = 0; k < here->contacts.n; k++) {
    if (s->middle_of[k] < 0) continue;
    const world_contact *start = &here->contacts.items[k];
    world_contact *to = &middle[s->middle_of[k]];
    to->active = start->active;
    to->held = start->held;
    to->slipping = start->slipping;
    to->hit = start->hit;
    to->known = start->known;
    to->known_pair = start->known_pair;
    to->overlaps_pair = start->overlaps_pair;
  }
  return true;
}

const world_snapshot *second_order_solved(const second_order *s) {
  return s->rule->midpoint ? &s->middle : s->here;
}

bool second_order_start_slips(second_order *s, const world_snapshot *at) {
  size_t n = 3 * (size_t)at->contacts.n;
  if (!POOL_RESERVE(s->step->pool, s->slips, n))
    return outcome_no_memory(s->step->out);
  for (size_t k = 0; k < n; k++) s->slips[k] = 0;
  return true;
}

assembly_request second_order_request(const second_order *s,
                                      const world_snapshot *at,
                                      joint_level level, double h) {
  assembly_request request = scheme_request(s->step, at);
  request.level = level;
  request.step_size = h;
  request.slip_floor = assembly_slip_floor(at->gravity, h);
  request.x_free = s->x_free;
  request.second_order = true;
  return request;
}

bool second_order_solve(second_order *s, const world_snapshot *at, double h,
                        const double v[], int n_rows, double scale,
                        double carry) {
  assembly_request request = second_order_request(
      s, at, s->rule->first ? JOINT_LEVEL_POSITION : JOINT_LEVEL_VELOCITY, h);
  request.erp_for_all = request.adds_stops = s->rule->first;
  request.replaced = !s->rule->first;
  request.scale = scale;
  request.carry = carry;
  request.mean = s->rule->mean;
  request.mass = s->mass;
  request.v = v;
  request.extra = s->rows;
  request.n_extra = n_rows;
  request.slips = s->slips;
  request.again = s->again;
  return assembly_solve(s->base.assembly, &request, s->step->out);
}

/* A motor of limited force brakes as friction does: its velocity is the end's. */
static void shift_motors(world_snapshot *at, const double v[], double share) {
  for (int j = 0; j < at->n_joints; j++) {
    const world_joint *joint = &at->joints[j];
    if (joint->rows < 0) continue;
    host_joint_rows *read = &at->joint_rows[joint->rows];
    for (unsigned r = 0; r < read->rows.count; r++) {
      if (!(isfinite(read->rows.lo[r]) && isfinite(read->rows.hi[r]))) continue;
      double rate = row_rate(read->rows.J[r], joint->body, v);
      read->rows.rhs[r] += share * (rate - read->rows.rhs[r]);
    }
  }
}

bool second_order_shift(second_order *s, world_snapshot *at, const double v[],
                        double share) {
  size_t n = 3 * (size_t)at->contacts.n;
  if (!POOL_RESERVE(s->step->pool, s->shift, n))
    return outcome_no_memory(s->step->out);
  for (size_t i = 0; i < n; i++) s->shift[i] = 0;
  if (!s->rule->conserves && share > 0) shift_motors(at, v, share);
  for (int k = 0; k < s->here->contacts.n && share > 0; k++) {
    const world_contact *start = &s->here->contacts.items[k];
    int m = s->middle_of[k];
    if (m < 0 || !start->active || start->stop >= 0) continue;
    world_contact *contact = &at->contacts.items[m];
    double rate = world_contact_rate(&s->here->contacts, k, v);
    /* what lands slowly is at rest when the step ends */
    if (!start->held && rate < 0 && !contact->point.soft) {
      s->shift[3 * m + 2] = share * rate;
      contact->point.surface.motion[2] += share * rate;
    }
    double slip[3], axis[2][3];
    double sign = world_contact_swapped(contact) ? -share : share;
    world_contact_slip(start, v, slip);
    host_contact_axes(axis, &contact->point);
    for (int d = 0; d < 2; d++) {
      /* what slips in proportion to its force has no limit to stick at */
      if (contact->point.surface.viscous[d]) continue;
      s->shift[3 * m + d] = sign * vec3_dot(slip, axis[d]);
      contact->point.surface.motion[d] += s->shift[3 * m + d];
    }
  }
  return true;
}

void second_order_unshift(const second_order *s, world_snapshot *at) {
  for (int m = 0; m < at->contacts.n; m++)
    for (int d = 0; d < 3; d++)
      at->contacts.items[m].point.surface.motion[d] -= s->shift[3 * m + d];
}

/* The slip of velocities v along a contact's two axes, less the surface's motion. */
static void find_slip(double slip[2], const host_contact *point,
                      double axis[2][3], const double v[]) {
  double J[2][6];
  host_contact_axes(axis, point);
  for (int d = 0; d < 2; d++) {
    host_contact_jacobian(J, point, axis[d]);
    slip[d] = row_rate(J, point->body, v) - point->surface.motion[d];
  }
}

/* Of the energy: more than where a stop is met. */
static const double BROUGHT = 1e-3;

bool second_order_aim(second_order *s, world_snapshot *at, const double u[],
                      double energy) {
  const double TURNED = 1e-6; /* rad */
  bool turned = false, shifted = false;
  double floor = assembly_slip_floor(at->gravity, at->settings.step_size);
  double work = 0; /* J, of all friction */
  for (int k = 0; k < s->here->contacts.n; k++) {
    const world_contact *start = &s->here->contacts.items[k];
    int m = s->middle_of[k];
    if (m < 0 || !start->active || start->stop >= 0) continue;
    const contact_rows *rows = assembly_contact_rows(s->base.assembly, m);
    const double *impulse = assembly_contact_impulses(s->base.assembly, m);
    double rates[2], axis[2][3], slip[3] = {0}, across[3];
    if (rows->n_sliding != 2 || impulse == NULL) continue;
    find_slip(rates, &at->contacts.items[m].point, axis, u);
    for (int d = 0; d < 2; d++) {
      rates[d] += s->shift[3 * m + d];
      shifted |= s->shift[3 * m + d] != 0;
      vec3_add_scaled(slip, rates[d], axis[d]);
    }
    if (vec3_length(slip) <= floor) continue;
    work += impulse[1] * rates[0] + impulse[2] * rates[1];
    vec3_cross(across, rows->slip, slip);
    double along = vec3_dot(rows->slip, slip), angle = vec3_length(across);
    /* what turns back is about to stick */
    if (!start->slipping || !(along > 0) || angle <= TURNED * along) continue;
    vec3_copy(s->slips + 3 * m, slip);
    turned = true;
  }
  if (!(work > BROUGHT * energy && shifted)) return turned;
  second_order_unshift(s, at);
  for (int i = 0; i < 3 * at->contacts.n; i++) s->shift[i] = 0;
  return true;
}

/* J: of angular velocity w at a pose. */
static double spin_energy(const host_body *home, const world_pose *pose,
                          const double w[3]) {
  const world_pose start = world_pose_of(home);
  double in_home[3], momentum[3];
  vec3_copy(in_home, w);
  world_pose_turn_along(pose, &start, in_home);
  mat3_apply(momentum, home->inertia, in_home);
  return vec3_dot(momentum, in_home) / 2;
}

double second_order_energy(const second_order *s, const motion *at,
                           const double v[]) {
  double sum = 0;
  for (int b = 0; b < s->home.n_bodies; b++) {
    const host_body *home = &s->home.bodies[b];
    const double *of = v + 6 * b;
    if (world_is_dynamic(&s->home, b))
      sum += home->mass * vec3_dot(of, of) / 2 +
             spin_energy(home, &at->poses[b], of + 3);
  }
  return sum;
}

/* The inertia of a body turns with it from the middle, where the step has it, to the
 * end. That does no work: w+ becomes as long as the energy at the start and the work
 * of the step's torques over its mean turn make it, by a part of third order. Else a
 * body that turns by radians gains some in each step. */
static void turn_with_inertia(const second_order *s, const host_body *middle,
                              int b, double h, const motion *from, motion *to) {
  const double RESOLVED = 0.01; /* of the energy that it had or has */
  const host_body *home = &s->home.bodies[b];
  const double *w = from->v + 6 * b + 3;
  double *w_plus = to->v + 6 * b + 3, torque[3], change[3], mean[3];
  double L[3], free[3], coupled[3];
  if (!s->rule->midpoint || !home->gyroscopic) return;
  for (int i = 0; i < 3; i++) {
    change[i] = w_plus[i] - w[i];
    mean[i] = (w_plus[i] + w[i]) / 2;
  }
  mat3_apply(torque, middle->inertia, change); /* times h; */
  mat3_apply(L, middle->inertia, w);
  vec3_cross(free, L, w); /* less the gyroscopic, which does no work itself */
  mat3_apply(coupled, s->gyroscopic + 9 * b, change);
  for (int i = 0; i < 3; i++) torque[i] -= h * (free[i] + coupled[i] / 2);
  double before = spin_energy(home, &from->poses[b], w);
  double energy = fmax(before + vec3_dot(torque, mean), 0);
  double now = spin_energy(home, &to->poses[b], w_plus);
  if (now <= energy + RESOLVED * fmax(before, energy)) return;
  for (int i = 0; i < 3; i++) w_plus[i] *= sqrt(energy / now);
  s->step->out->report.not_converged = 1;
}

/* Where the last solve brings the bodies. */
static void arrive(const second_order *s, const step_weights *weights,
                   const motion *from, double h, motion *to) {
  to->time = from->time + h;
  for (int b = 0; b < s->home.n_bodies; b++) {
    const double *v = from->v + 6 * b;
    const double *x = assembly_x(s->base.assembly) + 6 * b;
    double *v_plus = to->v + 6 * b, mean[6];
    bool kinematic = s->home.bodies[b].kinematic;
    for (int i = 0; i < 6; i++) {
      v_plus[i] = kinematic ? v[i] : x[i] - (weights->unknown - 1) * v[i];
      mean[i] = weights->move_v * v[i] + weights->move_v_plus * v_plus[i];
    }
    world_pose_move(&to->poses[b], &from->poses[b], mean, h);
  }
}

/* K of the last solve's impulses.
 * @return true if some body turns by it faster than the step resolves. */
static bool find_taut(second_order *s, const step_weights *weights,
                      const world_snapshot *at, double h) {
  bool any = false;
  memset(s->taut, 0, 9 * (size_t)s->home.n_bodies * sizeof *s->taut);
  for (int j = 0; j < at->n_joints; j++) {
    int rows = at->joints[j].rows;
    double force[6];
    if (rows < 0) continue;
    for (unsigned i = 0; i < at->joint_rows[rows].rows.count; i++)
      force[i] = assembly_joint_impulse(s->base.assembly, j, i) / h;
    taut_joints_add(s->taut, at, j, force, 0, NULL);
  }
  for (int b = 0; b < s->home.n_bodies && !any; b++) {
    double part[9];
    any = world_is_dynamic(&s->home, b) &&
          taut_joints_unresolved(part, at->bodies[b].inertia, s->taut + 9 * b,
                                 weights->cq);
  }
  return any;
}

/* J: what bodies gained by resisting a turn away from the guess of the last round. */
static double turned_work(const second_order *s, const step_weights *weights,
                          const world_snapshot *at, const double guess[]) {
  const double *x = assembly_x(s->base.assembly);
  double work = 0;
  for (int b = 0; b < s->home.n_bodies; b++) {
    double taut[9], change[3], torque[3];
    if (!world_is_dynamic(&s->home, b) ||
        !taut_joints_unresolved(taut, at->bodies[b].inertia, s->taut + 9 * b,
                                weights->cq))
      continue;
    vec3_subtract(change, x + 6 * b + 3, guess + 6 * b + 3);
    mat3_apply(torque, taut, change);
    work -= vec3_dot(torque, s->u + 6 * b + 3);
  }
  return work;
}

/* Put the rows of s->there in the place of those at `at`, or back. */
static void swap_joints(second_order *s, world_snapshot *at) {
  for (int j = 0; j < at->n_joints; j++) {
    int one = at->joints[j].rows, other = s->there.joints[j].rows;
    if (one < 0 || other < 0) continue;
    host_rows *a = &at->joint_rows[one].rows;
    host_rows *b = &s->there.joint_rows[other].rows;
    double J[6][2][6];
    if (a->count != b->count) continue;
    memcpy(J, a->J, sizeof J);
    memcpy(a->J, b->J, sizeof J);
    memcpy(b->J, J, sizeof J);
  }
}

static bool take_step(second_order *s, const motion *from, double h,
                      motion *to) {
  enum { TURNED = 3 }; /* rounds: a rope of 400 times its mass under gap */
  const scheme_step *step = s->step;
  step_weights weights = s->rule->weights(step->options, h);
  s->unsettled = false;
  s->n_end = 0;
  if (s->rule->midpoint) {
    if (!second_order_look_at_middle(s, from, h)) return false;
  } else {
    if (!reserve_middle(s)) return false;
    for (int k = 0; k < s->here->contacts.n; k++) s->middle_of[k] = k;
  }
  world_snapshot *at = s->rule->midpoint ? &s->middle : s->here;
  /* without events the (alpha, gamma) family is as GAP prints it: by v_alpha */
  bool by_end = s->rule->midpoint || step->options->events;
  double share = by_end && !second_order_holds_end(s) ? weights.move_v : 0;
  const world_pose *spring_poses =
      s->rule->midpoint ? s->ahead.poses : from->poses;
  int n_rows = forces_rows(step->forces, &s->home, spring_poses, from->v,
                           weights.cq, weights.cv, weights.unknown, s->rows);
  if (!sum_impulses(s, &weights, at, from, h) ||
      !second_order_start_slips(s, at) ||
      !second_order_shift(s, at, from->v, share))
    return false;

  const double energy = second_order_energy(s, from, from->v);
  double *guess = s->ahead.v; /* of a round in which joints are turned */
  /* sizes of a step are compared by one and the same method */
  bool again = true, taut = false, turns = !(step->options->accuracy > 0);
  for (int round = 0; again; round++) {
    s->again = round > 0;
    if (!free_motion(s, &weights, at, from, taut ? guess : NULL)) return false;
    if (taut) swap_joints(s, at);
    bool solved = second_order_solve(s, at, h, from->v, n_rows, weights.scale,
                                     weights.carry);
    if (taut) swap_joints(s, at);
    if (!solved) return false;
    const double *x = assembly_x(s->base.assembly);
    for (int i = 0; i < 6 * s->home.n_bodies; i++)
      s->u[i] = s->home.bodies[i / 6].kinematic
                    ? from->v[i]
                    : (x[i] + weights.carry * from->v[i]) / weights.scale;
    again = round == 0 && second_order_aim(s, at, s->u, energy);
    if (round == TURNED && taut) {
      /* rounds that have not settled are no answer: the first one's is */
      double most = fmax(energy, second_order_energy(s, from, s->u));
      again = turned_work(s, &weights, at, guess) > BROUGHT * most;
      turns = taut = false;
      continue;
    }
    /* rows were where v alone brings the bodies: what is taut turns by more */
    taut = turns && find_taut(s, &weights, at, h);
    if (!taut) continue;
    again = true;
    memcpy(guess, x, 6 * (size_t)s->home.n_bodies * sizeof *x);
    arrive(s, &weights, from, weights.move_v_plus * h, to);
    if (!world_read_joints_at(&s->there, &s->home, to->poses, h, step->out))
      return false;
  }
  second_order_unshift(s, at);

  arrive(s, &weights, from, h, to);
  for (int b = 0; b < s->home.n_bodies; b++)
    if (!s->home.bodies[b].kinematic)
      turn_with_inertia(s, &at->bodies[b], b, h, from, to);
  return true;
}

static void bind(second_order *s, const int body[2]) {
  for (int side = 0; side < 2; side++)
    if (body[side] >= 0) s->free[body[side]] = false;
}

/* Contacts within reach take part; joints are as they are: what they are off by is
 * moved at the end of the host's step. */
static void prepare_first(second_order *s) {
  world_snapshot *here = s->here;
  for (int b = 0; b < s->home.n_bodies; b++)
    s->free[b] = world_is_dynamic(&s->home, b);
  for (int k = 0; k < here->contacts.n; k++) {
    world_contact *contact = &here->contacts.items[k];
    contact->active = contact->active || contact->stop < 0;
    contact->point.surface.bounces = false;
    if (contact->active) bind(s, contact->point.body);
  }
  for (int j = 0; j < here->n_joints; j++) {
    if (here->joints[j].rows < 0) continue;
    host_joint_rows *read = &here->joint_rows[here->joints[j].rows];
    bind(s, here->joints[j].body);
    for (unsigned r = 0; r < read->rows.count; r++) {
      if (!host_row_holds(read, r, here->cfm)) continue;
      read->rows.rhs[r] -= read->correction[r];
      read->correction[r] = 0;
    }
  }
}

/* A body that is free turns about its angular momentum L, by 2 T / |L| a second, and its
 * velocity with it: in its own frame neither changes, so that L and energy stay what
 * they are however far it turns. One that rows act on turns by what they leave it, and
 * its energy does not grow on the way. */
static void turn_first(second_order *s, const motion *from, int b, double h,
                       motion *to) {
  const host_body *home = &s->home.bodies[b], *body = &s->here->bodies[b];
  double *w = to->v + 6 * b + 3, L[3];
  mat3_apply(L, body->inertia, w);
  double square = vec3_dot(L, L), before = vec3_dot(L, w) / 2;
  if (!home->gyroscopic || !(square > 0)) return;
  if (s->free[b]) {
    for (int i = 0; i < 3; i++)
      s->u[6 * b + 3 + i] = 2 * before / square * L[i];
    world_pose_move(&to->poses[b], &from->poses[b], s->u + 6 * b, h);
    world_pose_turn_along(&from->poses[b], &to->poses[b], w);
    return;
  }
  double after = spin_energy(home, &to->poses[b], w);
  for (int i = 0; i < 3 && after > before; i++) w[i] *= sqrt(before / after);
}

static bool take_first_order(second_order *s, const motion *from, double h,
                             motion *to) {
  prepare_first(s);
  if (!take_step(s, from, h, to)) return false;
  for (int b = 0; b < s->home.n_bodies; b++)
    if (!s->home.bodies[b].kinematic) turn_first(s, from, b, h, to);
  to->carry_h = 0;
  memset(to->carry, 0, 6 * (size_t)s->home.n_bodies * sizeof *to->carry);
  return true;
}

const step_rule first_order_rule = {.take = take_first_order,
                                    .weights = first_order_weights,
                                    .first = true,
                                    .holds = true};
const step_rule gap_rule = {
    .take = take_step,
    .weights = gap_weights,
    .curves =
        "scheme gap gains energy where joints curve; conserving does not"};
const step_rule trapezoid_1_rule = {.take = take_step,
                                    .weights = second_order_trapezoid_weights,
                                    .midpoint = true,
                                    .holds = true};
const step_rule trapezoid_rule = {.take = take_step,
                                  .weights = mean_weights,
                                  .midpoint = true,
                                  .holds = true};

/* --- what rows carry -------------------------------------------------------- */

void second_order_keep_loads(second_order *s, double h) {
  const world_snapshot *of = second_order_solved(s);
  for (int j = 0; j < s->home.n_joints; j++) {
    int rows = of->joints[j].rows;
    s->loads[j].count = rows >= 0 ? of->joint_rows[rows].rows.count : 0;
    for (unsigned i = 0; i < s->loads[j].count; i++)
      s->loads[j].force[i] = assembly_joint_impulse(s->base.assembly, j, i) / h;
  }
}

/* Rows of the velocities give way by the host's own CFM. */
static double left_to_give(double cfm) {
  return fmax(cfm - HOST_DEFAULT_CFM, 0);
}

static void load_joint(host_joint_rows *rows, const joint_load *load) {
  for (unsigned i = 0; i < rows->rows.count; i++) {
    double pressed = left_to_give(rows->rows.cfm[i]) * load->force[i];
    if (rows->soft[i] || pressed == 0) continue;
    rows->correction[i] -= pressed;
  }
}

void second_order_load(second_order *s, world_snapshot *at) {
  double h = s->step->step_size;
  for (int j = 0; j < at->n_joints; j++) {
    int rows = at->joints[j].rows;
    if (rows >= 0 && at->joint_rows[rows].rows.count == s->loads[j].count)
      load_joint(&at->joint_rows[rows], &s->loads[j]);
  }
  for (int k = 0; k < at->contacts.n; k++) {
    world_contact *contact = &at->contacts.items[k];
    host_contact *point = &contact->point;
    const host_surface *surface = &point->surface;
    const contact_entry *old = contact->known;
    /* deeper than its load would press it: it is moved until it is a spring */
    if (contact->overlaps_pair) point->soft = false;
    double erp = isnan(surface->erp) ? at->erp : surface->erp;
    double cfm = isnan(surface->cfm) ? at->cfm : surface->cfm;
    bool carried = !point->soft && old != NULL && old->n_rows > 0 &&
                   old->impulses[0] > 0 && erp > 0 && cfm > HOST_DEFAULT_CFM &&
                   !contact->overlaps_pair;
    contact->held = carried || (contact->stop >= 0 && contact->held);
    if (!carried) continue;
    double layer = contact->stop < 0 ? at->surface_layer : 0;
    double pressed = left_to_give(cfm) * old->impulses[0] * h /
                     (old->seconds * erp * point->multiplicity);
    /* as fast as its own spring would */
    point->gap = erp / at->erp * (point->gap + layer + pressed) - layer;
  }
}

/* --- position errors ------------------------------------------------------ */

static bool anything_to_correct(world_snapshot *at) {
  bool any = false;
  for (int k = 0; k < at->contacts.n; k++) {
    world_contact *contact = &at->contacts.items[k];
    const host_contact *point = &contact->point;
    double layer = contact->stop < 0 ? at->surface_layer : 0;
    /* what is held or overlaps must not be pushed into */
    contact->active =
        !point->soft && (contact->held || point->gap <= fmax(layer, 0));
    any |= contact->active &&
           (contact->held ? point->gap != 0 : -point->gap - layer > 0);
  }
  for (int i = 0; i < at->n_joint_rows; i++)
    for (unsigned r = 0; r < at->joint_rows[i].rows.count; r++)
      any |= at->joint_rows[i].correction[r] != 0;
  return any;
}

/* A turned body has another inertia about the axis it turns about: on a slender rod a
 * thousand times as much. No correction may bring energy by that: the conserving
 * scheme turns velocities with the body, the others keep their direction. */
static void correct_body(const second_order *s, motion *to, int b,
                         const double move[6], double h) {
  const host_body *home = &s->home.bodies[b];
  double *w = to->v + 6 * b + 3;
  double before = spin_energy(home, &to->poses[b], w);
  world_pose corrected;
  world_pose_move(&corrected, &to->poses[b], move, h);
  if (s->rule->conserves) {
    world_pose_turn_along(&to->poses[b], &corrected, w);
    world_pose_turn_along(&to->poses[b], &corrected, to->carry + 6 * b + 3);
  } else {
    double after = spin_energy(home, &corrected, w);
    for (int i = 0; i < 3 && after > before; i++) w[i] *= sqrt(before / after);
  }
  to->poses[b] = corrected;
}

bool second_order_correct(second_order *s, world_snapshot *at, motion *to) {
  const double MOST_TURN = 0.5; /* rad: rows hold for small turns */
  double h = s->step->step_size, turn = 0;
  int n = s->home.n_bodies;
  if (!(at->erp > 0) || !anything_to_correct(at)) return true;
  memset(s->x_free, 0, 6 * (size_t)n * sizeof *s->x_free);
  assembly_request request = second_order_request(s, at, JOINT_LEVEL_MOVE, h);
  request.erp = at->erp;
  request.v = s->x_free;
  if (!assembly_solve(s->base.assembly, &request, s->step->out)) return false;
  const double *u = assembly_x(s->base.assembly);
  for (int b = 0; b < n; b++) turn = fmax(turn, h * vec3_length(u + 6 * b + 3));
  if (turn > MOST_TURN) h *= MOST_TURN / turn;
  for (int b = 0; b < n; b++)
    if (!s->home.bodies[b].kinematic) correct_body(s, to, b, u + 6 * b, h);
  return true;
}
