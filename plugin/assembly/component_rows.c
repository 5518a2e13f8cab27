/* The problem of one component: rows of its joints, contacts, extra rows and stops,
 * the masses of its bodies, and a guess. */
#include <math.h>
#include <string.h>

#include "assembly/position_projection.h"
#include "assembly/workspace.h"
#include "common/six.h"
#include "common/vec3.h"
#include "mlcp/mlcp.h"
#include "rows/hair.h"

/* --- what is known ------------------------------------------------------------ */

/* Impacts and moves begin from nothing. */
static const contact_entry *old_of(const assembly *a,
                                   const contact_entry *known) {
  joint_level level = a->request.level;
  bool acts = level == JOINT_LEVEL_POSITION || level == JOINT_LEVEL_VELOCITY;
  return acts && known != NULL && known->seconds > 0 ? known : NULL;
}

static const contact_entry *old_joint(const assembly *a, int j) {
  return old_of(a, a->request.world->joints[j].known);
}

/* Impulse of an entry's rows in this step for each N s of the last; NAN: there is none. */
static double time_scale(const assembly *a, const contact_entry *old) {
  return old != NULL ? a->request.step_size / old->seconds : NAN;
}

/* Impulse of all forces on a component's bodies, N s, in a whole step. */
static double load_of(const assembly *a, const component_problem *c) {
  const assembly_request *request = &a->request;
  double load = 0;
  for (int i = 0; i < c->of->n_bodies; i++) {
    int b = component_body(a, c, i);
    const double *x = request->x_free + 6 * b, *v = request->v + 6 * b;
    double change[3];
    vec3_subtract(change, x, v);
    load += a->bodies[b].mass * vec3_length(change) / request->share;
  }
  return load;
}

/* See contact_settings. */
static double rounding_of(const assembly *a, const component *of) {
  double most = 0;
  for (int i = of->first_item; i >= 0; i = a->components.items[i].next) {
    const item *item = &a->components.items[i];
    if (item->kind == ITEM_CONTACT)
      most = fmax(
          most, hair_rounding(a->contacts->items[item->index].point.position));
  }
  return most;
}

static contact_facts facts_of(const assembly *a, const component_problem *c,
                              int k, const contact_entry *old) {
  const assembly_request *request = &a->request;
  const world_contact *contact = &a->contacts->items[k];
  contact_facts facts = {.found_early = contact->found,
                         .known_pair = contact->known_pair,
                         .overlapped = contact->overlaps_pair,
                         .carried = NAN,
                         .load = c->load};
  if (old != NULL) vec3_copy(facts.hint, old->slip);
  facts.guided = old != NULL && old->guided;
  if (request->again && a->n_last > 0 && a->last_contacts[k].guided) {
    vec3_copy(facts.hint, a->last_contacts[k].slip);
    facts.guided = true;
  }
  facts.aimed = request->second_order && contact->slipping;
  if (old != NULL && old->n_rows > 0)
    facts.carried = old->impulses[0] * time_scale(a, old);
  const double *slip = request->slips != NULL ? request->slips + 3 * k : NULL;
  if (slip != NULL && vec3_dot(slip, slip) > 0) facts.slip = slip;
  if (request->pressed != NULL) facts.pressed = request->pressed[k];
  return facts;
}

/* The impulses that a solve starts from: what joints and contacts did in the last step,
 * turned into the rows that they have now; NAN is a row that did nothing. */

static void guess_joint(double guess[], int n_rows, const contact_entry *old,
                        double scale) {
  /* where a stop was reached or left, the rows before its own are the same */
  for (int i = 0; i < n_rows; i++)
    guess[i] = old != NULL && i < old->n_rows ? scale * old->impulses[i] : NAN;
}

static void guess_contact(double guess[], const contact_rows *rows,
                          const contact_entry *old, double sign, double scale) {
  for (int i = 0; i < rows->n_rows; i++) {
    bool slides = i >= 1 && i <= rows->n_sliding;
    guess[i] = old == NULL ? NAN
               : slides
                   ? sign * vec3_dot(rows->sliding_axis[i - 1], old->sliding)
                   : old->impulses[i > 0 ? i - rows->n_sliding : 0];
    guess[i] *= scale;
  }
}

/* --- rows ------------------------------------------------------------------- */

/* A stiff spring is a row of the velocity at the end, v + (x - v) / share: between the ends
 * it would throw its bodies to and fro. */
static void weigh_rows(const assembly *a, component_problem *c, int first) {
  const double share = a->request.share;
  for (int r = first; r < c->set.n_rows && share != 1; r++) {
    mlcp_row *row = &c->set.rows[r];
    if (!c->set.corrections[r].stiff) continue;
    const int body[2] = {component_body(a, c, row->body[0]),
                         component_body(a, c, row->body[1])};
    row->compliance *= share;
    row->bias *= share;
    row->bias += (share - 1) * row_rate(row->J, body, a->request.v);
  }
}

/* The load that a joint's rows may carry after the last step, into `room`; NULL
 * where nothing is known or nobody asked for softness. */
static const double *carried_by_joint(const assembly *a, int j,
                                      double room[6]) {
  const world_snapshot *world = a->request.world;
  const host_joint_rows *rows = &world->joint_rows[world->joints[j].rows];
  const contact_entry *old = old_joint(a, j);
  if (old == NULL) return NULL;
  for (unsigned i = 0; i < rows->rows.count; i++) {
    bool asked = rows->rows.cfm[i] > HOST_DEFAULT_CFM;
    room[i] = asked && (int)i < old->n_rows
                  ? SPRING_SWINGS * old->impulses[i] * time_scale(a, old)
                  : 0;
  }
  return room;
}

static void add_joint(assembly *a, component_problem *c, int j) {
  const world_snapshot *world = a->request.world;
  const world_joint *joint = &world->joints[j];
  int first = c->set.n_rows, row_of[6];
  double room[6];
  joint_rows_add(&c->set, &c->frame, &world->joint_rows[joint->rows],
                 joint->body, world->cfm, a->request.level,
                 carried_by_joint(a, j, room), row_of);
  for (int i = 0; i < 6; i++)
    a->joint_row[joint->rows][i] =
        row_of[i] >= 0 ? c->first_row + row_of[i] : -1;
  const contact_entry *old = old_joint(a, j);
  guess_joint(c->guess + first, c->set.n_rows - first, old, time_scale(a, old));
}

/* The normal row alone, w = J x + bias >= 0; or = 0, of what is to stay closed. */
static void add_gap_row(const assembly *a, component_problem *c, int k,
                        double bias, bool closed) {
  bool stop = a->contacts->items[k].stop >= 0;
  mlcp_row *row = row_set_add(&c->set, stop ? MLCP_ROW_JOINT : MLCP_ROW_NORMAL);
  world_contact_jacobian(a->contacts, k, row->J);
  row->bias = bias;
  row->compliance =
      fmin(a->request.world->cfm, HOST_DEFAULT_CFM) / c->frame.step_size;
  if (!closed) row->low = 0;
  row_set_place(&c->set, &c->frame, a->contacts->items[k].point.body);
  a->contact_rows[k] = (contact_rows){.n_rows = 1};
}

static void add_contact(assembly *a, component_problem *c, int k) {
  const assembly_request *request = &a->request;
  const world_contact *contact = &a->contacts->items[k];
  const host_contact *point = &contact->point;
  contact_rows *rows = &a->contact_rows[k];
  const contact_entry *old = old_of(a, contact->known);
  int first = c->set.n_rows;
  if (request->level == JOINT_LEVEL_MOVE) {
    bool closed = contact->held;
    double overlap = point->gap + request->world->surface_layer;
    if (!closed) overlap = fmin(overlap, 0);
    add_gap_row(a, c, k, request->erp * overlap / request->step_size, closed);
  } else {
    contact_facts facts = facts_of(a, c, k, old);
    contact_rows_add(&c->set, &c->frame, &c->settings, point, &facts, a->bodies,
                     rows);
    if (rows->n_rows == 0) return;
    c->overlap |= rows->overlap;
  }
  a->contact_row[k] = c->first_row + first;
  guess_contact(c->guess + first, rows, old, memory_sign(request->world, point),
                time_scale(a, old));
}

static void add_stop(assembly *a, component_problem *c, int k,
                     double free_rate) {
  const world_contact *contact = &a->contacts->items[k];
  int first = c->set.n_rows;
  a->contact_row[k] = c->first_row + first;
  c->guess[first] = NAN;
  if (a->request.level == JOINT_LEVEL_POSITION) {
    host_stop stop = a->contacts->stops[contact->stop];
    stop.gap = contact->point.gap;
    if (!contact->point.surface.bounces) stop.bounce = 0;
    joint_stop_add(&c->set, &c->frame, &stop, free_rate, contact->point.body);
    a->contact_rows[k] = (contact_rows){.n_rows = 1};
  } else {
    bool moves = a->request.level == JOINT_LEVEL_MOVE;
    bool soft = a->request.level == JOINT_LEVEL_VELOCITY && contact->point.soft;
    bool closed = moves && contact->held;
    double own = contact->point.surface.erp;
    double erp = moves ? a->request.erp : soft && own > 0 ? own : 0;
    /* a spring is not stretched before its stop is met */
    double gap = closed ? contact->point.gap : fmin(contact->point.gap, 0);
    add_gap_row(a, c, k, erp * gap / a->request.step_size, closed);
    if (soft) {
      c->set.rows[first].compliance =
          a->contacts->stops[contact->stop].cfm / c->frame.step_size;
      c->set.corrections[first].stiff = contact->point.stiff;
    }
  }
}

static void add_extra(assembly *a, component_problem *c, int k) {
  const extra_row *extra = &a->request.extra[k];
  c->guess[c->set.n_rows] = NAN;
  mlcp_row *row = row_set_add(&c->set, MLCP_ROW_JOINT);
  memcpy(row->J, extra->J, sizeof row->J);
  row->bias = extra->bias;
  row->compliance = extra->compliance;
  row_set_place(&c->set, &c->frame, extra->body);
}

/* --- a component ------------------------------------------------------------- */

static bool fill_body(const assembly *a, mlcp_body *out, int b) {
  const host_body *body = &a->bodies[b];
  memset(out, 0, sizeof *out);
  memcpy(out->v_free, a->request.x_free + 6 * b, sizeof out->v_free);
  if (a->request.mass != NULL) {
    memcpy(out->mass, a->request.mass + 36 * b, sizeof out->mass);
    return matrix6_invert(out->inverse_mass, out->mass);
  }
  host_body_mass(body, out->mass);
  for (int i = 0; i < 3; i++) {
    out->inverse_mass[7 * i] = 1 / body->mass;
    for (int j = 0; j < 3; j++)
      out->inverse_mass[6 * (3 + i) + 3 + j] = body->inverse_inertia[3 * i + j];
  }
  return true;
}

/* One part for all joints of a component, see row_frame. */
static double find_joint_excess(const assembly *a, const component *of) {
  const world_snapshot *world = a->request.world;
  double correction = 0, most = a->request.options->max_correction, room[6];
  for (int i = of->first_item; i >= 0; i = a->components.items[i].next) {
    if (a->components.items[i].kind != ITEM_JOINT) continue;
    const world_joint *joint = &world->joints[a->components.items[i].index];
    correction = fmax(
        correction,
        joint_rows_correction(
            &world->joint_rows[joint->rows], world->cfm, a->request.step_size,
            carried_by_joint(a, a->components.items[i].index, room)));
  }
  return correction > most ? 1 - most / correction : 0;
}

/* True if a stop takes part: one that the component's solution overshoots, or
 * before there is one, what is near. One that bounces waits for a solution: how
 * fast it is hit is not known before. */
static bool takes_stop(const assembly *a, int k, bool solved, double rate) {
  const world_contact *contact = &a->contacts->items[k];
  bool waits = a->request.adds_stops &&
               a->request.level == JOINT_LEVEL_POSITION &&
               contact->point.surface.bounces;
  if (!solved) return contact->active && !waits;
  return contact->point.gap + a->request.step_size * rate < 0;
}

int component_rows_add_stops(assembly *a, component_problem *c, bool solved) {
  int first = c->set.n_rows;
  for (int i = c->of->first_item; i >= 0; i = a->components.items[i].next) {
    int k = a->components.items[i].index;
    if (a->components.items[i].kind != ITEM_STOP || a->contact_row[k] >= 0)
      continue;
    const world_contact *contact = &a->contacts->items[k];
    double rate = solved ? row_rate(a->contacts->stops[contact->stop].J,
                                    contact->point.body, a->x)
                         : NAN;
    if (!takes_stop(a, k, solved, rate)) continue;
    int row = c->set.n_rows;
    add_stop(a, c, k, rate);
    weigh_rows(a, c, row);
    c->joint_of_row[row] = -1;
  }
  c->problem.n_rows = c->set.n_rows;
  return c->set.n_rows - first;
}

void component_rows_begin(const assembly *a, component_problem *c) {
  const assembly_request *request = &a->request;
  const world_snapshot *world = request->world;
  bool positions = request->level == JOINT_LEVEL_POSITION;
  double most = request->options->max_correction;
  c->frame = (row_frame){.v = request->v,
                         .v_free = request->x_free,
                         .problem_body = a->components.problem_body,
                         .polygons = a->contacts->polygons,
                         .step_size = request->step_size,
                         .max_correction = positions ? most : INFINITY};
  /* a program with a surface layer has chosen its own depth, and with a margin
   * contacts are found before they touch */
  c->settings = (contact_settings){
      .level = request->level,
      .erp = positions ? request->erp : 0,
      .erp_for_all = request->erp_for_all,
      .moves_apart = !isinf(most),
      .rests_deep = positions && !request->erp_for_all &&
                    !(world->settings.margin > 0) && world->surface_layer == 0,
      .springs = world->settings.erp != 0,
      .gravity = world->gravity,
      .cfm = world->cfm,
      .surface_layer = world->surface_layer,
      .max_velocity = world->max_velocity,
      .spring_erp = world->erp,
      .host_step = world->settings.step_size,
      .edges = request->options->edges,
      .slip_floor = request->slip_floor};
}

bool component_rows_build(assembly *a, component_problem *c) {
  const component *of = c->of;
  c->set = (row_set){.rows = a->rows + c->first_row,
                     .corrections = a->corrections + c->first_row,
                     .frictions = a->frictions + c->first_friction,
                     .pairs = a->pairs + c->first_pair};
  c->guess = a->guess + c->first_row;
  c->joint_of_row = a->joint_of_row + c->first_row;
  c->solution =
      (mlcp_solution){.v = a->solution.v + 6 * of->first_body,
                      .p = a->solution.p + c->first_row,
                      .beta = a->solution.beta + 2 * c->first_pair,
                      .lambda = a->solution.lambda + c->first_friction};
  c->overlap = false;
  c->load = load_of(a, c);
  c->settings.rounding = rounding_of(a, of);
  if (a->request.level == JOINT_LEVEL_POSITION)
    c->frame.joint_excess = find_joint_excess(a, of);
  mlcp_body *bodies = a->problem_bodies + of->first_body;
  for (int i = 0; i < of->n_bodies; i++) {
    int b = component_body(a, c, i);
    if (!fill_body(a, &bodies[i], b))
      return outcome_fail(c->out, "body %lu has no finite inverse of its mass",
                          a->bodies[b].serial);
  }
  for (int i = of->first_item; i >= 0; i = a->components.items[i].next) {
    const item *item = &a->components.items[i];
    int first = c->set.n_rows;
    if (item->kind == ITEM_JOINT) add_joint(a, c, item->index);
    if (item->kind == ITEM_CONTACT) add_contact(a, c, item->index);
    if (item->kind == ITEM_EXTRA) add_extra(a, c, item->index);
    if (item->kind != ITEM_EXTRA) weigh_rows(a, c, first);
    for (int r = first; r < c->set.n_rows; r++)
      c->joint_of_row[r] = item->kind == ITEM_JOINT ? item->index
                           : item->kind == ITEM_CONTACT
                               ? a->contacts->items[item->index].joint
                               : -1;
  }
  if (a->request.again && c->first_row + c->set.n_rows <= a->n_last)
    memcpy(c->guess, a->last + c->first_row,
           (size_t)c->set.n_rows * sizeof *c->guess);
  c->problem =
      (mlcp_problem){.n_bodies = of->n_bodies,
                     .n_frictions = c->set.n_frictions,
                     .n_pairs = c->set.n_pairs,
                     .bodies = bodies,
                     .rows = c->set.rows,
                     .frictions = c->set.frictions,
                     .pairs = c->set.pairs,
                     .velocity_floor = fmax(1e3 * a->request.slip_floor, 1e-9)};
  component_rows_add_stops(a, c, false);
  for (int r = 0; r < c->set.n_rows && a->request.level == JOINT_LEVEL_MOVE;
       r++)
    c->set.rows[r].compliance = position_compliance(&c->problem, r);
  double softness = a->request.options->softness;
  if (softness > 0) mlcp_soften_contacts(&c->problem, softness, c->set.rows);
  return true;
}
