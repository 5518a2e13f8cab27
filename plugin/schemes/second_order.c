#include "schemes/second_order.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/six.h"
#include "common/vec3.h"
#include "gap/real.h"
#include "schemes/conserving.h"
#include "schemes/taut_joints.h"
#include "schemes/turning.h"

bool second_order_reserve(second_order *s) {
  int n = s->home.n_bodies;
  arena *arena = &s->base.arena;
  arena_start(arena);
  return (ARENA_TAKE(arena, s->mass, 36 * n) &&
          ARENA_TAKE(arena, s->x_free, 6 * n) &&
          ARENA_TAKE(arena, s->force, 6 * n) &&
          ARENA_TAKE(arena, s->k_q, 36 * n) &&
          ARENA_TAKE(arena, s->k_v, 36 * n) && ARENA_TAKE(arena, s->free, n) &&
          ARENA_TAKE(arena, s->gyroscopic, 9 * n) &&
          ARENA_TAKE(arena, s->taut, 9 * n) &&
          ARENA_TAKE(arena, s->rows, s->step->forces->n_springs) &&
          ARENA_TAKE(arena, s->u, 6 * n) &&
          ARENA_TAKE(arena, s->carry, 6 * n) &&
          ARENA_TAKE(arena, s->early, 6 * n) &&
          motion_take(&s->ahead, arena, n)) ||
         outcome_no_memory(s->step->out);
}

/* A round that changes no body's velocity by more than this part of the fastest is the
 * last. */
static const double SETTLED = 1e-11;
/* times SETTLED: what the rounding of solves may keep rounds from; without it a car on a
 * kerb (demos/cases) costs a sixth more */
static const double OF_SOLVES = 300;

/* --- what a scheme is made of --------------------------------------------- */

double second_order_alpha(const second_order *s) {
  return s->rule->share > 0 ? s->rule->share : s->step->options->alpha;
}

/* Of the end in the velocity that rows are for. */
static double row_share(const second_order *s) {
  return s->rule->ends ? 1 : second_order_alpha(s);
}

bool second_order_holds_end(const second_order *s) { return row_share(s) == 1; }

/* The impulses of everything that is not a row, into s->force: what is held, what
 * powered joints add, functions at both ends (21), the later of
 * which is taken to be `to`. */
static bool sum_impulses(second_order *s, const world_snapshot *at,
                         const motion *from, const motion *to, double h) {
  const scheme_step *step = s->step;
  const world_snapshot *home = &s->home;
  int n = home->n_bodies;
  double late = second_order_alpha(s) * h;
  memset(s->force, 0, 6 * (size_t)n * sizeof *s->force);
  memset(s->k_q, 0, 36 * (size_t)n * sizeof *s->k_q);
  memset(s->k_v, 0, 36 * (size_t)n * sizeof *s->k_v);
  if (step->forces->first != NULL) {
    memset(s->early, 0, 6 * (size_t)n * sizeof *s->early);
    if (!forces_add(step->forces, home, from->time, from->poses, from->v,
                    s->early, NULL, NULL, step->out) ||
        !forces_add(step->forces, home, from->time + h, to->poses, to->v,
                    s->force, s->k_q, s->k_v, step->out))
      return false;
    for (int i = 0; i < 6 * n; i++)
      s->force[i] = (h - late) * s->early[i] + late * s->force[i];
  }
  for (int i = 0; i < 6 * n; i++)
    s->force[i] += h * at->bodies[i / 6].force[i % 6];
  return true;
}

/* A mass with a part more, where that leaves it positive. @return false: it does not */
static bool take_positive(second_order *s, double mass[36],
                          const double part[36]) {
  double with[36];
  for (int i = 0; i < 36; i++) with[i] = mass[i] + part[i];
  if (matrix6_is_positive(with)) {
    memcpy(mass, with, sizeof with);
    return true;
  }
  s->step->out->report.jacobians_dropped++;
  return false;
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

/* With M and the gyroscopic torque of `at`, whose Jacobian stands in M~, too, but for what
 * would take its positive definiteness away. A body of first order that no row acts on
 * turns as it does without forces. */
static void change_at(second_order *s, const world_snapshot *at, int b,
                      double h, double change[6]) {
  const host_body *body = &at->bodies[b];
  const double *v = s->start_v + 6 * b, *u = s->u + 6 * b;
  double *mass = s->mass + 36 * b, *turning = s->gyroscopic + 9 * b;
  double d[6], L[3], torque[3];
  const bool turns =
      s->home.bodies[b].gyroscopic && !(s->rule->first && s->free[b]);
  memset(turning, 0, 9 * sizeof *turning);
  for (bool exact = s->rule->midpoint;; exact = false) {
    host_body_mass(body, mass);
    if (turns) gyroscopic_jacobian(turning, body, v + 3, exact);
    for (int i = 0; i < 9; i++)
      mass[6 * (3 + i / 3) + 3 + i % 3] -=
          second_order_alpha(s) * h * turning[i];
    if (!exact || matrix6_is_positive(mass)) break;
    s->step->out->report.jacobians_dropped++;
  }
  for (int i = 0; i < 36; i++) mass[i] /= row_share(s);
  for (int i = 0; i < 6; i++) d[i] = u[i] - v[i];
  matrix6_apply(change, mass, d);
  mat3_apply(L, body->inertia, v + 3);
  vec3_cross(torque, L, v + 3);
  for (int i = 0; i < 3 && turns; i++) change[3 + i] -= h * torque[i];
}

/* The impulse that the last round's u lacks beside s->force, and the mass with which rows
 * and it change u, but where the last round's is kept. Bodies resist a turn away from that
 * u by what joints hold them with, too (13). */
static void build_body(second_order *s, const world_snapshot *at,
                       const motion *from, const motion *to, int b, double h,
                       double missing[6]) {
  const double share = row_share(s), part = second_order_alpha(s) * h;
  double unused[36], more[36] = {0};
  double *mass = s->keeps ? unused : s->mass + 36 * b;
  if (!s->rule->conserves)
    change_at(s, at, b, h, missing);
  else if (!turning_change(missing, mass, &s->home.bodies[b], &from->poses[b],
                           &to->poses[b], s->start_v + 6 * b, s->u + 6 * b, h))
    s->step->out->report.jacobians_dropped++;
  if (s->keeps) return;
  for (int i = 0; i < 9; i++)
    more[6 * (3 + i / 3) + 3 + i % 3] =
        part * part / share * s->taut[9 * b + i];
  if (!take_positive(s, mass, more))
    memset(s->taut + 9 * b, 0, 9 * sizeof *s->taut);
  for (int i = 0; i < 36; i++)
    more[i] = -part / share * (part * s->k_q[36 * b + i] + s->k_v[36 * b + i]);
  if (s->step->forces->first != NULL) take_positive(s, mass, more);
}

/* The velocities of a round where no row acts, from what u lacks beside forces. */
static bool free_motion(second_order *s) {
  for (int b = 0; b < s->home.n_bodies; b++) {
    double inverse[36], missing[6], *x = s->x_free + 6 * b;
    for (int i = 0; i < 6; i++) missing[i] = x[i] - s->force[6 * b + i];
    memcpy(x, s->u + 6 * b, 6 * sizeof *x);
    if (s->home.bodies[b].kinematic) continue;
    if (!matrix6_invert(inverse, s->mass + 36 * b))
      return outcome_fail(s->step->out,
                          "body %lu has no finite inverse of its mass",
                          s->home.bodies[b].serial);
    for (int i = 0; i < 6; i++) x[i] -= dot6(inverse + 6 * i, missing);
  }
  return true;
}

/* --- where the Jacobians are taken ------------------------------------------ */

bool second_order_look(const second_order *s, world_snapshot *world,
                       const motion *at, double h, double margin) {
  if (!world_read_at(world, &s->home, at->poses, h, margin, s->step->out))
    return false;
  world_move_surfaces(world, at->time - s->step->time);
  return true;
}

/* Contacts that are active at the start, at the point of the Jacobians, and joints, whose
 * springs push with their force at the start, and with what the step makes of it. */
static bool look_at_middle(second_order *s, const motion *from, double h) {
  const world_snapshot *here = s->here;
  outcome *out = s->step->out;
  if (!POOL_RESERVE(s->step->pool, s->middle_of, here->contacts.n))
    return outcome_no_memory(out);
  for (int k = 0; k < here->contacts.n; k++) s->middle_of[k] = k;
  if (!s->rule->midpoint) return true;
  for (int b = 0; b < s->home.n_bodies; b++)
    world_pose_move(&s->ahead.poses[b], &from->poses[b], from->v + 6 * b,
                    h / 2);
  s->ahead.time = from->time + h / 2;
  bool any = false;
  for (int k = 0; k < here->contacts.n; k++)
    any |= here->contacts.items[k].active;
  if (!second_order_look(s, &s->middle, &s->ahead, h,
                         any ? s->home.settings.margin : NAN))
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
    to->known = start->known;
    to->known_pair = start->known_pair;
    to->overlaps_pair = start->overlaps_pair;
  }
  for (int j = 0; j < s->home.n_joints; j++) {
    int first = here->joints[j].rows, second = s->middle.joints[j].rows;
    s->middle.joints[j].known = here->joints[j].known;
    if (first < 0 || second < 0) continue;
    const host_rows *starts = &here->joint_rows[first].rows;
    host_joint_rows *read = &s->middle.joint_rows[second];
    for (unsigned i = 0; i < read->rows.count; i++)
      if ((read->rows.cfm[i] > s->home.cfm || read->soft[i]) &&
          starts->count == read->rows.count)
        read->rows.rhs[i] = starts->rhs[i];
  }
  return true;
}

const world_snapshot *second_order_solved(const second_order *s) {
  return s->rule->midpoint ? &s->middle : s->here;
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

static bool solve(second_order *s, const world_snapshot *at, double h,
                  int n_rows) {
  const bool first = s->rule->first;
  assembly_request request = second_order_request(
      s, at, first ? JOINT_LEVEL_POSITION : JOINT_LEVEL_VELOCITY, h);
  request.erp_for_all = request.adds_stops = first;
  request.replaced = request.second_order = !first;
  request.share = row_share(s);
  request.slip_floor *= request.share;
  request.mass = s->mass;
  request.v = s->start_v;
  request.extra = s->rows;
  request.n_extra = n_rows;
  request.slips = s->slips;
  request.again = s->again;
  return assembly_solve(s->base.assembly, &request, s->step->out);
}

/* --- friction ------------------------------------------------------------- */

/* A motor of limited force brakes as friction does: its velocity is the end's. */
static void shift_motors(second_order *s, world_snapshot *at, double share) {
  for (int j = 0; j < at->n_joints; j++) {
    const world_joint *joint = &at->joints[j];
    if (joint->rows < 0) continue;
    host_joint_rows *read = &at->joint_rows[joint->rows];
    double *shift = s->shift + 3 * at->contacts.n + 6 * joint->rows;
    for (unsigned r = 0; r < read->rows.count; r++) {
      if (!(isfinite(read->rows.lo[r]) && isfinite(read->rows.hi[r]))) continue;
      double rate = row_rate(read->rows.J[r], joint->body, s->start_v);
      shift[r] = share * (rate - read->rows.rhs[r]);
      read->rows.rhs[r] += shift[r];
    }
  }
}

/* Friction opposes the slip at the end of the step (docs/formulation.md, "Active
 * contacts and events"), and so do motors of limited force: with rows for the mean
 * velocity that is (mean slip - share x slip at the start) / (1 - share), each with the
 * geometry of its own time. So until `unshift` surfaces at `at` move by that part of the
 * slip at the start more. */
static bool shift(second_order *s, world_snapshot *at) {
  /* without events the (alpha, gamma) family is as GAP prints it: by v_alpha */
  bool by_end = s->rule->midpoint || s->step->options->events;
  double share = by_end ? 1 - row_share(s) : 0;
  size_t n = 3 * (size_t)at->contacts.n, n_rows = 6 * (size_t)at->n_joint_rows;
  if (!POOL_RESERVE(s->step->pool, s->slips, n) ||
      !POOL_RESERVE(s->step->pool, s->shift, n + n_rows))
    return outcome_no_memory(s->step->out);
  for (size_t i = 0; i < n; i++) s->slips[i] = 0;
  for (size_t i = 0; i < n + n_rows; i++) s->shift[i] = 0;
  if (!(share > 0)) return true;
  shift_motors(s, at, share);
  for (int k = 0; k < s->here->contacts.n; k++) {
    const world_contact *start = &s->here->contacts.items[k];
    int m = s->middle_of[k];
    if (m < 0 || !start->active || start->stop >= 0) continue;
    world_contact *contact = &at->contacts.items[m];
    double *shift = s->shift + 3 * m, slip[3], axis[2][3];
    double rate = world_contact_rate(&s->here->contacts, k, s->start_v);
    /* what lands slowly is at rest when the step ends */
    if (!start->held && rate < 0 && !contact->point.soft)
      shift[2] = share * rate;
    double sign = world_contact_swapped(contact) ? -share : share;
    world_contact_slip(start, s->start_v, slip);
    host_contact_axes(axis, &contact->point);
    /* what slips in proportion to its force has no limit to stick at */
    for (int d = 0; d < 2; d++)
      if (!contact->point.surface.viscous[d])
        shift[d] = sign * vec3_dot(slip, axis[d]);
    for (int d = 0; d < 3; d++) contact->point.surface.motion[d] += shift[d];
  }
  return true;
}

static void unshift_contacts(const second_order *s, world_snapshot *at) {
  for (int m = 0; m < at->contacts.n; m++)
    for (int d = 0; d < 3; d++)
      at->contacts.items[m].point.surface.motion[d] -= s->shift[3 * m + d];
}

static void unshift(const second_order *s, world_snapshot *at) {
  const double *shift = s->shift + 3 * at->contacts.n;
  unshift_contacts(s, at);
  for (int i = 0; i < at->n_joint_rows; i++)
    for (unsigned r = 0; r < at->joint_rows[i].rows.count; r++)
      at->joint_rows[i].rows.rhs[r] -= shift[6 * i + (int)r];
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

/* Aim the friction of what slides against the slip of the last answer, the velocities
 * s->u. That of free flight, against which the answer's friction works, is turned by
 * friction itself: an error of first order where a body spins as it slides. The edges of
 * what does not slide yet follow the answer, as under the other schemes
 * (component_edges.c): they are of the slip at the end, which would take the second order
 * of what slides.
 *
 * Where the slip turns so far within a step that friction against its end would bring
 * energy, it opposes the mean slip instead, which never does: as where bodies turn by
 * radians.
 *
 * @param energy  J, of the motion at the start
 * @return true if any direction was off by more than a millionth, or friction brought
 *         energy: the step is to be solved again. */
static bool aim(second_order *s, world_snapshot *at, double energy) {
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
    find_slip(rates, &at->contacts.items[m].point, axis, s->u);
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
  unshift_contacts(s, at);
  for (int i = 0; i < 3 * at->contacts.n; i++) s->shift[i] = 0;
  return true;
}

/* --- a step --------------------------------------------------------------- */

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
  double before = motion_spin_energy(home, &from->poses[b], w);
  double energy = fmax(before + vec3_dot(torque, mean), 0);
  double now = motion_spin_energy(home, &to->poses[b], w_plus);
  if (now <= energy + RESOLVED * fmax(before, energy)) return;
  for (int i = 0; i < 3; i++) w_plus[i] *= sqrt(energy / now);
  s->step->out->report.not_converged = 1;
}

/* Where u brings the bodies, and the velocities there. */
static void arrive(const second_order *s, const motion *from, double h,
                   motion *to) {
  const double share = row_share(s);
  to->time = from->time + h;
  for (int b = 0; b < s->home.n_bodies; b++) {
    const double *v = s->start_v + 6 * b, *u = s->u + 6 * b;
    double *end = to->v + 6 * b, mean[6];
    bool kinematic = s->home.bodies[b].kinematic;
    for (int i = 0; i < 6; i++)
      end[i] = kinematic ? v[i] : v[i] + (u[i] - v[i]) / share;
    for (int i = 0; i < 6; i++)
      mean[i] = u[i] + (second_order_alpha(s) / share - 1) * (u[i] - v[i]);
    if (!s->rule->conserves) {
      world_pose_move(&to->poses[b], &from->poses[b], mean, h);
      continue;
    }
    world_pose_move_cayley(&to->poses[b], &from->poses[b], u, h);
    if (!kinematic && s->home.bodies[b].gyroscopic)
      turning_end(end + 3, &s->home.bodies[b], &from->poses[b], &to->poses[b],
                  v + 3, u + 3);
  }
}

/* K of the last solve's impulses; or where a step `begins` of the last step's.
 * @return true if some body turns by it by more than half a radian in a step. */
static bool find_taut(second_order *s, const world_snapshot *at, double h,
                      bool begins) {
  bool any = false;
  memset(s->taut, 0, 9 * (size_t)s->home.n_bodies * sizeof *s->taut);
  for (int j = 0; j < at->n_joints; j++) {
    int rows = at->joints[j].rows;
    double force[6];
    if (rows < 0) continue;
    if (begins) {
      taut_joints_add_last(s->taut, at, j);
      continue;
    }
    for (unsigned i = 0; i < at->joint_rows[rows].rows.count; i++)
      force[i] = assembly_joint_impulse(s->base.assembly, j, i) / h;
    taut_joints_add(s->taut, at, j, force, s->rule->conserves ? h / 2 : 0,
                    s->u);
  }
  for (int b = 0; b < s->home.n_bodies && !any; b++) {
    double part[9];
    any = world_is_dynamic(&s->home, b) &&
          taut_joints_unresolved(part, at->bodies[b].inertia, s->taut + 9 * b,
                                 4 * h * h);
  }
  return any;
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

/* The problem of a round, of where the last one's u brings the bodies. */
static bool build_round(second_order *s, world_snapshot *at, const motion *from,
                        const motion *to, double h, int *n_rows) {
  spring_step over = {.time = from->time,
                      .h = h,
                      .from = from->poses,
                      .to = to->poses,
                      .v = s->start_v,
                      .alpha = second_order_alpha(s),
                      .share = row_share(s)};
  *n_rows = forces_rows(s->step->forces, &s->home, &over, s->rows, s->step->out,
                        s->end_rows, &s->n_end);
  if (*n_rows < 0 || !sum_impulses(s, at, from, to, h)) return false;
  for (int b = 0; b < s->home.n_bodies; b++)
    if (!s->home.bodies[b].kinematic)
      build_body(s, at, from, to, b, h, s->x_free + 6 * b);
  /* the first round's rows are the trapezoid's */
  bool renews = s->rule->conserves && s->again;
  return (!renews || conserving_renew_joints(s, from, to, h)) && free_motion(s);
}

/* Take over the round's velocities.
 * @param by_solves  out: the same of what solves resolve, in double whatever the host's
 *                   positions are in
 * @return the part of the fastest by which they changed */
static double take_over(second_order *s, double h, double *by_solves) {
  const double *x = assembly_x(s->base.assembly);
  const double ROUNDING = real_roundings(1e-15);
  double change[2] = {0, 0}, most[2] = {s->home.gravity * h, 0}, far = 0;
  for (int b = 0; b < s->home.n_bodies; b++)
    far = fmax(far, vec3_length(s->home.bodies[b].position));
  /* no error of a joint is known better than to the rounding of positions */
  double slow = ROUNDING * (far + 1) / (h * SETTLED);
  for (int b = 0; b < s->home.n_bodies; b++)
    for (int half = 0; half < 2; half++) {
      double d[3];
      int at = 6 * b + 3 * half;
      vec3_subtract(d, x + at, s->u + at);
      change[half] = fmax(change[half], vec3_length(d));
      most[half] = fmax(most[half], vec3_length(x + at));
      if (!s->home.bodies[b].kinematic) vec3_copy(s->u + at, x + at);
    }
  double seen = slow * fmax(DBL_EPSILON / REAL_EPSILON, 1.0 / 64);
  *by_solves = fmax(change[0] / (most[0] + seen), change[1] / (most[1] + seen));
  return fmax(change[0] / (most[0] + slow), change[1] / (most[1] + slow));
}

/* Rounds until nothing changes, or they are over. Of a rule that does not conserve a second
 * one changes the aim of friction; in first order rounds go on while joints are taut: what
 * they hold turns by more than v alone has it do, and rows are where the last round has
 * it. */
static bool settle(second_order *s, world_snapshot *at, const motion *from,
                   double h, motion *to) {
  /* drawn bridges gain after four, and others take three times the work after sixteen
   * (test_never_worse) */
  const int ROUNDS = 16;
  const bool conserves = s->rule->conserves, first = s->rule->first;
  const double energy = motion_energy(&s->home, from, from->v);
  const size_t n = (size_t)s->home.n_bodies;
  ode_mlcp_report *report = &s->step->out->report;
  bool turned = false, again = true;
  double last = INFINITY;
  int n_rows = 0;
  if (!POOL_RESERVE(s->step->pool, s->end_rows,
                    s->here->contacts.n + s->step->forces->n_springs +
                        6 * s->home.n_joints))
    return outcome_no_memory(s->step->out);
  if (!(conserves && find_taut(s, at, h, true)))
    memset(s->taut, 0, 9 * n * sizeof *s->taut);
  s->unsettled = conserves;
  s->keeps = false;
  s->n_end = 0;
  for (int round = 1; again; round++) {
    bool over = round >= ROUNDS;
    s->again = round > 1;
    arrive(s, from, h, to);
    if (turned &&
        !world_read_joints_at(&s->there, &s->home, to->poses, h, s->step->out))
      return false;
    if (!build_round(s, at, from, to, h, &n_rows)) return false;
    if (turned) swap_joints(s, at);
    bool solved = solve(s, at, h, n_rows);
    if (turned) swap_joints(s, at);
    if (!solved) return false;

    double by_solves, change = take_over(s, h, &by_solves);
    /* from what is no answer no round comes to one */
    if (assembly_stopped(s->base.assembly) > 0) break;
    bool taut = (conserves || first) && find_taut(s, at, h, false);
    bool aimed = round == 1 && !first && aim(s, at, energy);
    bool counts = !conserves || s->near;
    if (conserves) conserving_keep_impulses(s, change);
    /* rows that are kept have a momentum by what impulses still change by */
    double most = s->keeps ? 0.1 * SETTLED : SETTLED;
    bool settled = !aimed && (change <= most || (!conserves && !taut));
    settled |=
        !s->keeps && by_solves < OF_SOLVES * SETTLED && change > 0.5 * last;
    settled &= counts;
    again = !settled && !over;
    turned = again && first;
    s->unsettled = conserves && !settled;
    s->keeps = conserves && round > 1 && change <= 0.1 * last;
    last = change;
    report->rounds = round > report->rounds ? round : report->rounds;
  }
  if (s->unsettled) s->allowed = conserving_energy(s, from);
  arrive(s, from, h, to);
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
    if (contact->stop >= 0) contact->point.gap = fmax(contact->point.gap, 0);
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
  double after = motion_spin_energy(home, &to->poses[b], w);
  for (int i = 0; i < 3 && after > before; i++) w[i] *= sqrt(before / after);
}

/* Where an accuracy is asked for, sizes of a step are compared by one and the same
 * method. */
static bool may_turn(const second_order *s) {
  return !s->rule->first && !s->rule->conserves &&
         !(s->step->options->accuracy > 0);
}

bool second_order_choose(second_order *s, double h) {
  bool turns = may_turn(s) && find_taut(s, s->here, h, true);
  if (turns) s->rule = &conserving_rule;
  return turns;
}

bool second_order_take(second_order *s, const motion *from, double h,
                       motion *to) {
  if (s->rule->first) prepare_first(s);
  s->start_v = from->v;
  memcpy(s->u, from->v, 6 * (size_t)s->home.n_bodies * sizeof *s->u);
  if (!look_at_middle(s, from, h)) return false;
  world_snapshot *at = s->rule->midpoint ? &s->middle : s->here;
  if (!shift(s, at) ||
      (s->rule->conserves && !conserving_prepare(s, from, h)) ||
      !settle(s, at, from, h, to))
    return false;
  unshift(s, at);
  if (s->rule->holds && may_turn(s) && find_taut(s, at, h, false)) {
    s->rule = &conserving_rule;
    return second_order_take(s, from, h, to);
  }
  for (int b = 0; b < s->home.n_bodies; b++) {
    if (s->home.bodies[b].kinematic) continue;
    if (s->rule->first)
      turn_first(s, from, b, h, to);
    else if (!s->rule->conserves)
      turn_with_inertia(s, &at->bodies[b], b, h, from, to);
  }
  return true;
}

const step_rule first_order_rule = {.share = 1, .first = true, .holds = true};
const step_rule gap_rule = {
    .curves =
        "scheme gap gains energy where joints curve; conserving does not"};
const step_rule trapezoid_1_rule = {
    .share = 0.5, .ends = true, .midpoint = true, .holds = true};
const step_rule trapezoid_rule = {
    .share = 0.5, .midpoint = true, .holds = true};
const step_rule conserving_rule = {
    .share = 0.5, .midpoint = true, .holds = true, .conserves = true};
