#include "schemes/step_end.h"

#include <math.h>
#include <string.h>

#include "common/vec3.h"
#include "schemes/conserving.h"

/* --- velocities ------------------------------------------------------------- */

static void add_end_row(second_order *s, const int body[2],
                        const double J[2][6], double bias, int *n_rows) {
  extra_row *row = &s->end_rows[(*n_rows)++];
  memcpy(row->body, body, sizeof row->body);
  memcpy(row->J, J, sizeof row->J);
  row->bias = bias;
  row->compliance = conserving_compliance(s, body, J);
}

/* Rows of joints that hold: what is bounded or a spring does not. */
static void add_holding(second_order *s, int *n_rows) {
  for (int j = 0; j < s->home.n_joints; j++) {
    int of = s->there.joints[j].rows;
    const host_joint_rows *rows = &s->there.joint_rows[of];
    for (unsigned i = 0; of >= 0 && i < rows->rows.count; i++)
      if (host_row_holds(rows, i, s->home.cfm))
        add_end_row(s, s->home.joints[j].body, rows->rows.J[i],
                    rows->correction[i] - rows->rows.rhs[i], n_rows);
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
static bool look_at_end(second_order *s, const motion *to) {
  double h = s->step->step_size;
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
  int *match = s->end_of;
  if (!world_match(&s->matcher, s->here, starts, &s->there, ends,
                   motion_radius(&s->home, to->v, s->step->step_size), match))
    return outcome_no_memory(s->step->out);
  for (int k = 0; k < starts->n; k++) {
    if (!is_pressed(s, k) || match[k] < 0) continue;
    const world_contact *end = &ends->items[match[k]];
    double J[2][6];
    world_contact_jacobian(ends, match[k], J);
    add_end_row(s, end->point.body, J, -end->point.surface.motion[2], n_rows);
  }
  return true;
}

/* The velocities that the rows s->end_rows allow.
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
  request.extra = s->end_rows;
  request.n_extra = n_rows;
  return assembly_solve(s->base.projector, &request, s->step->out)
             ? assembly_x(s->base.projector)
             : NULL;
}

/* Of the energy that is left. What changes by more from step to step has met its rows as in
 * an impact, as bodies do that turn by radians a step, and lost it. */
static const double MOST_LENT = 0.1;

bool step_end_hold(second_order *s, const double undone[], motion *to) {
  int n_bodies = s->home.n_bodies, n_rows = s->n_end;
  bool conserves = s->rule->conserves;
  /* a trapezoid without an ERP is the paper's; with contacts a block that tips is no
   * longer of second order (test_scenes_second_order) */
  if (!conserves && (s->home.n_joint_rows == 0 || !(s->home.erp > 0)))
    return true;
  for (int k = 0; k < s->here->contacts.n && !conserves; k++)
    if (s->here->contacts.items[k].active) return true;
  if (s->base.projector == NULL)
    s->base.projector = assembly_create(&s->step->pool->source);
  if (s->base.projector == NULL ||
      !POOL_RESERVE(s->step->pool, s->end_of, s->here->contacts.n))
    return outcome_no_memory(s->step->out);
  if (!look_at_end(s, to)) return false;
  add_holding(s, &n_rows);
  if (!add_pressed(s, to, &n_rows)) return false;
  if (n_rows == 0) return true;

  const double *v = project(s, n_rows, to);
  if (v == NULL) return false;
  double goes_on = 0, was = 0; /* J */
  for (int b = 0; b < n_bodies; b++) {
    const host_body *body = &s->home.bodies[b];
    double *carry = s->carry + 6 * b;
    if (body->kinematic) continue;
    for (int i = 0; i < 6 && conserves; i++)
      carry[i] = v[6 * b + i] - to->v[6 * b + i];
    goes_on += mass_product(body->mass, body->inertia, undone + 6 * b, carry);
    was +=
        mass_product(body->mass, body->inertia, undone + 6 * b, undone + 6 * b);
    memcpy(to->v + 6 * b, v + 6 * b, 6 * sizeof *v);
  }
  double lent = motion_energy(&s->home, to, s->carry);
  double left = motion_energy(&s->home, to, to->v);
  if (goes_on < -0.5 * was || lent + was / 2 - goes_on > MOST_LENT * left)
    memset(s->carry, 0, 6 * (size_t)n_bodies * sizeof *s->carry);
  return true;
}

/* --- what rows carry -------------------------------------------------------- */

/* Rows of the velocities give way by the host's own CFM. */
static double left_to_give(double cfm) {
  return fmax(cfm - HOST_DEFAULT_CFM, 0);
}

static void load_joint(host_joint_rows *rows, const contact_entry *load) {
  for (int i = 0; i < load->n_rows; i++) {
    double pressed =
        left_to_give(rows->rows.cfm[i]) * load->impulses[i] / load->seconds;
    if (rows->soft[i] || pressed == 0) continue;
    rows->correction[i] -= pressed;
  }
}

void step_end_load(second_order *s, world_snapshot *at) {
  double h = s->step->step_size;
  for (int j = 0; j < at->n_joints; j++) {
    int rows = at->joints[j].rows;
    const contact_entry *load = at->joints[j].known;
    if (rows >= 0 && load != NULL &&
        (int)at->joint_rows[rows].rows.count == load->n_rows)
      load_joint(&at->joint_rows[rows], load);
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
static void correct_body(second_order *s, motion *to, int b,
                         const double move[6], double h) {
  const host_body *home = &s->home.bodies[b];
  double *w = to->v + 6 * b + 3;
  double before = motion_spin_energy(home, &to->poses[b], w);
  world_pose corrected;
  world_pose_move(&corrected, &to->poses[b], move, h);
  if (s->rule->conserves) {
    world_pose_turn_along(&to->poses[b], &corrected, w);
    world_pose_turn_along(&to->poses[b], &corrected, s->carry + 6 * b + 3);
  } else {
    double after = motion_spin_energy(home, &corrected, w);
    for (int i = 0; i < 3 && after > before; i++) w[i] *= sqrt(before / after);
  }
  to->poses[b] = corrected;
}

bool step_end_correct(second_order *s, world_snapshot *at, motion *to) {
  const double MOST_TURN = 0.5; /* rad: rows hold for small turns */
  double h = s->step->step_size, turn = 0;
  int n = s->home.n_bodies;
  if (s->rule->conserves) conserving_leave_small_errors(at);
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
