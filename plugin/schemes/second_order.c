#include "schemes/second_order.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/matrix6.h"
#include "common/vec3.h"

bool second_order_is(ode_mlcp_scheme scheme) {
  return scheme == ODE_MLCP_SCHEME_GAP ||
         scheme == ODE_MLCP_SCHEME_TRAPEZOID_1 ||
         scheme == ODE_MLCP_SCHEME_TRAPEZOID;
}

double second_order_alpha(const ode_mlcp_options *options) {
  return options->scheme == ODE_MLCP_SCHEME_GAP ? options->alpha : 0.5;
}

bool second_order_reserve(second_order *s) {
  const memory_source *source = s->form->source;
  size_t n = (size_t)s->form->n_bodies;
#define RESERVE(field, block, count)                                    \
  ((s->field = memory_block_reserve(&s->block, source, (count),         \
                                    sizeof *s->field)) != NULL)
  bool reserved = RESERVE(mass, mass_block, 36 * n) &&
                  RESERVE(x_free, free_block, 6 * n) &&
                  RESERVE(force, force_block, 6 * n) &&
                  RESERVE(k_q, k_q_block, 36 * n) &&
                  RESERVE(k_v, k_v_block, 36 * n) &&
                  RESERVE(stiff, stiff_block, n) &&
                  RESERVE(rows, row_block, (size_t)s->forces->n_springs) &&
                  motion_reserve(&s->ahead, source, s->form->n_bodies);
#undef RESERVE
  if (!reserved)
    snprintf(s->form->result->message, sizeof s->form->result->message,
             "memory ran out");
  return reserved;
}

void second_order_release(second_order *s) {
  const memory_source *source = s->form->source;
  memory_block *blocks[] = {&s->middle_block, &s->mass_block, &s->free_block,
                            &s->force_block,  &s->k_q_block,  &s->k_v_block,
                            &s->row_block,    &s->taken_block, &s->stiff_block};
  memory_blocks_release(blocks, sizeof blocks / sizeof blocks[0], source);
  form_view_release(&s->here, source);
  form_view_release(&s->middle, source);
  form_answer_release(&s->answer, source);
  motion_release(&s->ahead, source);
}

double second_order_radius(const second_order *s, const double v[], double h) {
  double fastest = s->form->gravity * h;
  for (int b = 0; b < s->form->n_bodies; b++)
    fastest = fmax(fastest, vec3_length(v + 6 * b));
  return 1e-3 + 4 * h * fastest;
}

/* --- what a scheme is made of --------------------------------------------- */

typedef struct scheme_weights {
  bool midpoint;       /* Jacobians and masses at q + (h/2) v */
  double cq, cv;       /* M~ = M - cv k_v - cq k_q */
  double early, late;  /* of the forces at the two ends, s */
  double scale, carry; /* form_request */
  double unknown;      /* 2: x = v + v+; 1: x = v+ */
  double move_v, move_v_plus; /* mean velocity of the step */
} scheme_weights;

static scheme_weights weights_of(const ode_mlcp_options *options, double h) {
  if (options->scheme == ODE_MLCP_SCHEME_GAP) {
    double a = options->alpha;
    return (scheme_weights){false, a * a * h * h, a * h, (1 - a) * h, a * h,
                            1 / a, (1 - a) / a, 1, 1 - a, a};
  }
  bool two = options->scheme == ODE_MLCP_SCHEME_TRAPEZOID;
  return (scheme_weights){true, h * h / 4, h / 2, h / 2, h / 2,
                          two ? 2 : 1, 0, two ? 2 : 1, 0.5, 0.5};
}

void second_order_find_stiff(second_order *s, const motion *from, double h) {
  scheme_weights weights = weights_of(s->form->options, h);
  for (int b = 0; b < s->form->n_bodies; b++) s->stiff[b] = false;
  int n_rows = forces_rows(s->forces, s->form, from->poses, from->v, weights.cq,
                           weights.cv, 1, s->rows);
  for (int r = 0; r < n_rows; r++) {
    const form_extra_row *row = &s->rows[r];
    double inertia = 0; /* g' M^-1 g */
    for (int side = 0; side < 2; side++) {
      if (row->body[side] < 0) continue;
      const host_body *body = &s->here.bodies[row->body[side]];
      const double *g = row->J[side];
      double turned[3];
      mat3_apply(turned, body->inverse_inertia, g + 3);
      inertia += vec3_dot(g, g) / body->mass + vec3_dot(g + 3, turned);
    }
    for (int side = 0; side < 2 && inertia >= row->compliance; side++)
      if (row->body[side] >= 0) s->stiff[row->body[side]] = true;
  }
}

/* out += factor [a]x, into the angular block of a 6 x 6 matrix. */
static void add_cross(double out[36], double factor, const double a[3]) {
  const double cross[9] = {0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};
  for (int i = 0; i < 9; i++)
    out[6 * (3 + i / 3) + 3 + i % 3] += factor * cross[i];
}

/* The Jacobian of the gyroscopic torque -w x (I w): [I w]x - [w]x I, exact; or
 * its first term alone, which leaves M~ positive. */
static void add_gyroscopic_jacobian(double out[36], double factor,
                                    const host_body *body, const double w[3],
                                    bool exact) {
  double momentum[3];
  mat3_apply(momentum, body->inertia, w);
  add_cross(out, factor, momentum);
  if (!exact) return;
  for (int j = 0; j < 3; j++) {
    double column[3] = {body->inertia[j], body->inertia[3 + j],
                        body->inertia[6 + j]};
    double turned[3];
    vec3_cross(turned, w, column);
    for (int i = 0; i < 3; i++)
      out[6 * (3 + i) + 3 + j] -= factor * turned[i];
  }
}

static void set_mass(double out[36], const host_body *body) {
  memset(out, 0, 36 * sizeof *out);
  for (int i = 0; i < 3; i++) {
    out[7 * i] = body->mass;
    for (int j = 0; j < 3; j++)
      out[6 * (3 + i) + 3 + j] = body->inertia[3 * i + j];
  }
}

/* M~ of body b. What would take its positive definiteness away is left out. */
static void build_mass(const second_order *s, const scheme_weights *weights,
                       const host_body *body, int b, const double w[3]) {
  double *mass = s->mass + 36 * b;
  for (int leave_out = 0; leave_out < 2; leave_out++) {
    set_mass(mass, body);
    if (s->form->bodies[b].gyroscopic)
      add_gyroscopic_jacobian(mass, -weights->cv, body, w,
                              weights->midpoint && !leave_out);
    if (leave_out) break;
    for (int i = 0; i < 36; i++)
      mass[i] -= weights->cq * s->k_q[36 * b + i] +
                 weights->cv * s->k_v[36 * b + i];
    if (matrix6_is_positive(mass)) return;
  }
  s->form->result->report.jacobians_dropped++;
}

/* The impulses of everything that is not a row, into s->force: what is held,
 * what powered joints add, the gyroscopic torque, functions and springs at both
 * ends (21). */
static bool sum_impulses(second_order *s, const scheme_weights *weights,
                         const form_view *at, const motion *from, double h) {
  world_form *form = s->form;
  int n = form->n_bodies;
  memset(s->force, 0, 6 * (size_t)n * sizeof *s->force);
  memset(s->k_q, 0, 36 * (size_t)n * sizeof *s->k_q);
  memset(s->k_v, 0, 36 * (size_t)n * sizeof *s->k_v);
  if (s->forces->first != NULL) {
    double *early = s->x_free; /* not needed yet */
    memset(early, 0, 6 * (size_t)n * sizeof *early);
    for (int b = 0; b < n; b++)
      form_pose_move(&s->ahead.poses[b], &from->poses[b], from->v + 6 * b, h);
    if (!forces_add(s->forces, form, from->time, from->poses, from->v, early,
                    NULL, NULL) ||
        !forces_add(s->forces, form, from->time + h, s->ahead.poses, from->v,
                    s->force, s->k_q, s->k_v))
      return false;
    for (int i = 0; i < 6 * n; i++)
      s->force[i] = weights->early * early[i] + weights->late * s->force[i];
  }
  for (int b = 0; b < n; b++) {
    const double *w = from->v + 6 * b + 3;
    for (int i = 0; i < 6; i++)
      s->force[6 * b + i] += h * form->bodies[b].force[i];
    if (!form->bodies[b].gyroscopic) continue;
    double momentum[3], torque[3];
    mat3_apply(momentum, at->bodies[b].inertia, w);
    vec3_cross(torque, momentum, w);
    vec3_add_scaled(s->force + 6 * b + 3, h, torque);
  }
  for (int j = 0; j < form->n_joints; j++)
    for (int side = 0; side < 2 && at->readings[j].rows.count > 0; side++)
      for (int i = 0; i < 6 && form->joints[j].body[side] >= 0; i++)
        s->force[6 * form->joints[j].body[side] + i] +=
            h * at->readings[j].rows.force[side][i];
  return true;
}

/* x where no row acts: M~ (x - v) = k~, or M~ x = 2 M~ v + k~ for v + v+. */
static bool free_motion(second_order *s, const scheme_weights *weights,
                        const form_view *at, const motion *from) {
  for (int b = 0; b < s->form->n_bodies; b++) {
    double inverse[36], change[6];
    const double *v = from->v + 6 * b;
    memcpy(s->x_free + 6 * b, v, 6 * sizeof *v);
    if (s->form->bodies[b].kinematic) continue;
    build_mass(s, weights, &at->bodies[b], b, v + 3);
    if (!matrix6_invert(inverse, s->mass + 36 * b)) {
      snprintf(s->form->result->message, sizeof s->form->result->message,
               "body %lu has no finite inverse of its mass",
               s->form->bodies[b].serial);
      return false;
    }
    matrix6_apply(change, inverse, s->force + 6 * b);
    for (int i = 0; i < 6; i++)
      s->x_free[6 * b + i] = weights->unknown * v[i] + change[i];
  }
  return true;
}

/* --- a step --------------------------------------------------------------- */

static void copy_flags(form_contact *to, const form_contact *from) {
  to->active = from->active;
  to->held = from->held;
  to->slipping = from->slipping;
  to->hit = from->hit;
}

static bool is_stop_row(const dStepperJointRows *rows, unsigned i) {
  return (rows->lo[i] == 0) != (rows->hi[i] == 0);
}

/* A stop that is reached between the start and the middle has a row there that
 * is none yet: what a joint's rows allow is what they do at the start, but for
 * stops that are held just short of being reached. */
static void keep_modes(joint_reading *middle, const joint_reading *start,
                       unsigned extra) {
  dStepperJointRows *rows = &middle->rows;
  unsigned kept = 0;
  for (unsigned i = 0; i < rows->count; i++) {
    if (extra > 0 && is_stop_row(rows, i)) {
      extra--;
      continue;
    }
    memmove(rows->J[kept], rows->J[i], sizeof rows->J[i]);
    /* a powered joint's row turns into that of its stop */
    bool changed = rows->count == start->rows.count &&
                   is_stop_row(rows, i) && !is_stop_row(&start->rows, i);
    const joint_reading *from = changed ? start : middle;
    rows->rhs[kept] = from->rows.rhs[i];
    rows->cfm[kept] = from->rows.cfm[i];
    rows->lo[kept] = from->rows.lo[i];
    rows->hi[kept] = from->rows.hi[i];
    middle->correction[kept++] = from->correction[i];
  }
  rows->count = kept;
}

static void keep_all_modes(second_order *s) {
  const form_view *here = &s->here;
  for (int j = 0; j < s->form->n_joints; j++) {
    unsigned count = s->middle.readings[j].rows.count;
    unsigned before = here->readings[j].rows.count;
    unsigned extra = count > before ? count - before : 0;
    for (int k = 0; k < here->n_contacts && extra > 0; k++)
      extra -= here->contacts[k].stop >= 0 && here->contacts[k].joint == j &&
               here->contacts[k].active;
    keep_modes(&s->middle.readings[j], &here->readings[j], extra);
  }
}

/* Contacts that are active at the start, at the point of the Jacobians. */
static bool look_at_middle(second_order *s, const motion *from, double h) {
  world_form *form = s->form;
  const form_view *here = &s->here;
  for (int b = 0; b < form->n_bodies; b++)
    form_pose_move(&s->ahead.poses[b], &from->poses[b], from->v + 6 * b, h / 2);
  if (!form_view_evaluate(form, &s->middle, s->ahead.poses, from->v, h))
    return false;
  s->middle_of = memory_block_reserve(&s->middle_block, form->source,
                                      (size_t)here->n_contacts,
                                      sizeof *s->middle_of);
  s->taken = memory_block_reserve(&s->taken_block, form->source,
                                  (size_t)s->middle.n_contacts,
                                  sizeof *s->taken);
  if (s->middle_of == NULL || s->taken == NULL) {
    snprintf(form->result->message, sizeof form->result->message,
             "memory ran out");
    return false;
  }
  form_view_match(here, &s->middle, second_order_radius(s, from->v, h),
                  s->middle_of, s->taken);
  for (int k = 0; k < here->n_contacts; k++)
    if (s->middle_of[k] >= 0)
      copy_flags(&s->middle.contacts[s->middle_of[k]], &here->contacts[k]);
  keep_all_modes(s);
  return true;
}

static double slip_floor(const world_form *form, double h) {
  return fmax(1e-3 * form->gravity * h, 1e-9);
}

bool second_order_take(second_order *s, const motion *from, double h,
                       motion *to) {
  world_form *form = s->form;
  scheme_weights weights = weights_of(form->options, h);
  form_view *at = &s->here;
  if (weights.midpoint) {
    if (!look_at_middle(s, from, h)) return false;
    at = &s->middle;
  } else {
    s->middle_of = memory_block_reserve(&s->middle_block, form->source,
                                        (size_t)at->n_contacts,
                                        sizeof *s->middle_of);
    if (s->middle_of == NULL) return false;
    for (int k = 0; k < at->n_contacts; k++) s->middle_of[k] = k;
    for (int b = 0; b < form->n_bodies; b++) /* an impact may have come since */
      memcpy(at->bodies[b].v, from->v + 6 * b, sizeof at->bodies[b].v);
  }
  const form_pose *spring_poses =
      weights.midpoint ? s->ahead.poses : from->poses;
  int n_rows = forces_rows(s->forces, form, spring_poses, from->v, weights.cq,
                           weights.cv, weights.unknown, s->rows);
  if (!sum_impulses(s, &weights, at, from, h) ||
      !free_motion(s, &weights, at, from))
    return false;

  form_request request = {.rows = FORM_STEP,
                          .step_size = h,
                          .scale = weights.scale,
                          .carry = weights.carry,
                          .mass = s->mass,
                          .x_free = s->x_free,
                          .extra = s->rows,
                          .n_extra = n_rows,
                          .count_jams = s->count_jams,
                          .slip_floor = slip_floor(form, h)};
  if (!form_solve(form, at, &request, &s->answer)) return false;
  s->count_jams = false;

  to->time = from->time + h;
  for (int b = 0; b < form->n_bodies; b++) {
    const double *v = from->v + 6 * b, *x = s->answer.x + 6 * b;
    double *v_plus = to->v + 6 * b, mean[6];
    bool kinematic = form->bodies[b].kinematic;
    for (int i = 0; i < 6; i++) {
      v_plus[i] = kinematic ? v[i] : x[i] - (weights.unknown - 1) * v[i];
      mean[i] = weights.move_v * v[i] + weights.move_v_plus * v_plus[i];
    }
    form_pose_move(&to->poses[b], &from->poses[b], mean, h);
  }
  return true;
}

/* --- position errors ------------------------------------------------------ */

static bool anything_to_correct(const second_order *s, form_view *at) {
  bool any = false;
  for (int k = 0; k < at->n_contacts; k++) {
    form_contact *contact = &at->contacts[k];
    bool soft = (contact->contact.surface.mode & dContactSoftCFM) &&
                contact->contact.surface.soft_cfm > s->form->world_cfm;
    double depth = -contact->gap - s->form->surface_layer;
    /* what is held or overlaps must not be pushed into */
    contact->active = !soft && contact->gap <= fmax(s->form->surface_layer, 0);
    any |= contact->active && depth > 0;
  }
  for (int j = 0; j < s->form->n_joints; j++)
    for (unsigned i = 0; i < at->readings[j].rows.count; i++)
      any |= at->readings[j].correction[i] != 0;
  return any;
}

bool second_order_correct(second_order *s, form_view *at, motion *to) {
  world_form *form = s->form;
  if (!form_view_evaluate(form, at, to->poses, to->v, form->step_size))
    return false;
  if (!(form->world_erp > 0) || !anything_to_correct(s, at)) return true;
  memset(s->x_free, 0, 6 * (size_t)form->n_bodies * sizeof *s->x_free);
  form_request request = {.rows = FORM_POSITION,
                          .step_size = form->step_size,
                          .scale = 1,
                          .x_free = s->x_free,
                          .slip_floor = slip_floor(form, form->step_size)};
  if (!form_solve(form, at, &request, &s->answer)) return false;
  for (int b = 0; b < form->n_bodies; b++) {
    form_pose corrected;
    if (form->bodies[b].kinematic) continue;
    form_pose_move(&corrected, &to->poses[b], s->answer.x + 6 * b,
                   form->step_size);
    to->poses[b] = corrected;
  }
  return true;
}
