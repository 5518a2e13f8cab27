/* One problem over the world: bodies, joints, contacts and extra rows fall into
 * parts that no row ties together; each is built, solved and read out. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/matrix6.h"
#include "common/vec3.h"
#include "schemes/form.h"
#include "solver/solver_convex.h"
#include "step/part_watch.h"

typedef enum item_kind { ITEM_JOINT, ITEM_CONTACT, ITEM_EXTRA } item_kind;

/* What brings rows into a part. */
typedef struct form_item {
  item_kind kind;
  int index;
  int next; /* of the same part, -1 at the end */
} form_item;

typedef struct form_scratch {
  int *parent, *part, *problem_body; /* [n_bodies] */
  int *part_first_item, *part_last_item, *part_n_bodies; /* [parts] */
  int n_parts, n_items;
  form_item *items;
  int *joint_row;   /* [6 n_joints] row of the part, -1: no row */
  int *item_row;    /* [n_items] first row of the part */
  double *guess;
  mlcp_body *bodies;
  mlcp_solution solution;
  row_set set;
  solver_convex convex;
  cone_check cone; /* of steps, with options.check_cone */
  memory_block parent_block, part_block, problem_block, first_block, last_block,
      count_block, item_block, joint_row_block, item_row_block, guess_block,
      body_block, v_block, p_block, beta_block, lambda_block, row_block,
      friction_block, pair_block;
} form_scratch;

world_form *world_form_create(const memory_source *source) {
  world_form *form = memory_allocate_zero(source, sizeof *form);
  if (form == NULL) return NULL;
  form->source = source;
  form->solver = solver_workspace_create(source);
  form->scratch = memory_allocate_zero(source, sizeof *form->scratch);
  if (form->solver == NULL || form->scratch == NULL) {
    world_form_destroy(form);
    return NULL;
  }
  return form;
}

void world_form_destroy(world_form *form) {
  if (form == NULL) return;
  const memory_source *source = form->source;
  form_scratch *s = form->scratch;
  if (s != NULL) {
    memory_block *blocks[] = {
        &s->parent_block, &s->part_block,  &s->problem_block,
        &s->first_block,  &s->last_block,  &s->count_block,
        &s->item_block,   &s->guess_block, &s->joint_row_block,
        &s->body_block,   &s->v_block,     &s->item_row_block,
        &s->p_block,      &s->beta_block,  &s->lambda_block,
        &s->row_block,    &s->pair_block,  &s->friction_block};
    memory_blocks_release(blocks, sizeof blocks / sizeof blocks[0], source);
    solver_convex_release(&s->convex, source);
    cone_check_release(&s->cone, source);
    source->release(source->context, s, sizeof *s);
  }
  contact_list_release(&form->list);
  memory_block_release(&form->body_block, source);
  memory_block_release(&form->joint_block, source);
  memory_block_release(&form->serial_block, source);
  solver_workspace_destroy(form->solver);
  source->release(source->context, form, sizeof *form);
}

/* What the functions below share. */
typedef struct solve_context {
  world_form *form;
  form_view *view;
  const form_request *request;
  form_answer *answer;
  form_scratch *s;
} solve_context;

static bool no_memory(const solve_context *c) {
  snprintf(c->form->result->message, sizeof c->form->result->message,
           "memory ran out");
  return false;
}

/* --- parts ---------------------------------------------------------------- */

static int find_root(int parent[], int b) {
  while (parent[b] != b) {
    parent[b] = parent[parent[b]];
    b = parent[b];
  }
  return b;
}

static const int *item_bodies(const solve_context *c, const form_item *item) {
  switch (item->kind) {
    case ITEM_JOINT:
      return c->form->joints[item->index].body;
    case ITEM_CONTACT:
      return c->view->contacts[item->index].reading.body;
    default:
      return c->request->extra[item->index].body;
  }
}

static bool is_dynamic(const solve_context *c, int body) {
  return body >= 0 && !c->form->bodies[body].kinematic;
}

/* The items with rows, in a fixed order. */
static void list_items(solve_context *c) {
  form_scratch *s = c->s;
  s->n_items = 0;
  for (int j = 0; j < c->form->n_joints; j++)
    if (c->view->readings[j].rows.count > 0)
      s->items[s->n_items++] = (form_item){ITEM_JOINT, j, -1};
  for (int k = 0; k < c->view->n_contacts; k++)
    if (c->view->contacts[k].active)
      s->items[s->n_items++] = (form_item){ITEM_CONTACT, k, -1};
  for (int k = 0; k < c->request->n_extra; k++)
    s->items[s->n_items++] = (form_item){ITEM_EXTRA, k, -1};
}

static bool few_enough(const solve_context *c) {
  int n_contacts = 0, most = c->form->options->max_contacts;
  for (int i = 0; i < c->s->n_items; i++)
    n_contacts += c->s->items[i].kind == ITEM_CONTACT;
  if (n_contacts <= most) return true;
  c->form->result->refused = true;
  snprintf(c->form->result->message, sizeof c->form->result->message,
           "a world has %d contacts at once, more than max-contacts %d allows",
           n_contacts, most);
  return false;
}

/* Parts are numbered by their first body. */
static void find_parts(solve_context *c) {
  form_scratch *s = c->s;
  int n = c->form->n_bodies;
  for (int b = 0; b < n; b++) s->parent[b] = b;
  for (int i = 0; i < s->n_items; i++) {
    const int *body = item_bodies(c, &s->items[i]);
    if (!is_dynamic(c, body[0]) || !is_dynamic(c, body[1])) continue;
    int first = find_root(s->parent, body[0]);
    int second = find_root(s->parent, body[1]);
    if (first < second)
      s->parent[second] = first;
    else
      s->parent[first] = second;
  }
  s->n_parts = 0;
  for (int b = 0; b < n; b++) {
    s->part[b] = s->problem_body[b] = -1;
    if (!is_dynamic(c, b)) continue;
    int root = find_root(s->parent, b);
    if (root == b) {
      s->part_n_bodies[s->n_parts] = 0;
      s->part_first_item[s->n_parts] = s->part_last_item[s->n_parts] = -1;
      s->part[b] = s->n_parts++;
    } else {
      s->part[b] = s->part[root];
    }
    s->problem_body[b] = s->part_n_bodies[s->part[b]]++;
  }
}

static void chain_items(solve_context *c) {
  form_scratch *s = c->s;
  for (int i = 0; i < s->n_items; i++) {
    const int *body = item_bodies(c, &s->items[i]);
    int of = is_dynamic(c, body[0]) ? body[0] : body[1];
    if (!is_dynamic(c, of)) continue;
    int part = s->part[of];
    if (s->part_first_item[part] < 0)
      s->part_first_item[part] = i;
    else
      s->items[s->part_last_item[part]].next = i;
    s->part_last_item[part] = i;
  }
}

/* --- memory --------------------------------------------------------------- */

static bool reserve_all(solve_context *c) {
  form_scratch *s = c->s;
  form_answer *answer = c->answer;
  const memory_source *source = c->form->source;
  size_t bodies = (size_t)c->form->n_bodies, joints = (size_t)c->form->n_joints;
  size_t contacts = (size_t)c->view->n_contacts;
  size_t extra = (size_t)c->request->n_extra;
  size_t rows = 6 * joints + CONTACT_ROWS_MAX * contacts + extra;
  size_t frictions = CONTACT_FRICTIONS_MAX * contacts;
  size_t pairs = (size_t)CONTACT_PAIRS_MAX(c->form->options->edges) * contacts;
#define RESERVE(field, block, count)                                    \
  ((field = memory_block_reserve(&(block), source, (count),             \
                                 sizeof *(field))) != NULL)
  return RESERVE(s->parent, s->parent_block, bodies) &&
         RESERVE(s->part, s->part_block, bodies) &&
         RESERVE(s->problem_body, s->problem_block, bodies) &&
         RESERVE(s->part_first_item, s->first_block, bodies) &&
         RESERVE(s->part_last_item, s->last_block, bodies) &&
         RESERVE(s->part_n_bodies, s->count_block, bodies) &&
         RESERVE(s->items, s->item_block, joints + contacts + extra) &&
         RESERVE(s->item_row, s->item_row_block, joints + contacts + extra) &&
         RESERVE(s->joint_row, s->joint_row_block, 6 * joints) &&
         RESERVE(s->guess, s->guess_block, rows) &&
         RESERVE(s->bodies, s->body_block, bodies) &&
         RESERVE(s->solution.v, s->v_block, 6 * bodies) &&
         RESERVE(s->solution.p, s->p_block, rows) &&
         RESERVE(s->solution.beta, s->beta_block, 2 * pairs) &&
         RESERVE(s->solution.lambda, s->lambda_block, frictions) &&
         RESERVE(s->set.rows, s->row_block, rows) &&
         RESERVE(s->set.frictions, s->friction_block, frictions) &&
         RESERVE(s->set.pairs, s->pair_block, pairs) &&
         RESERVE(answer->x, answer->x_block, 6 * bodies) &&
         RESERVE(answer->contact_impulse, answer->impulse_block,
                 6 * contacts) &&
         RESERVE(answer->contact_force, answer->force_block, contacts) &&
         RESERVE(answer->contact_rows, answer->rows_block, contacts) &&
         RESERVE(answer->contact_w, answer->w_block, contacts) &&
         RESERVE(answer->joint_impulse, answer->joint_block, 6 * joints) &&
         RESERVE(answer->extra_impulse, answer->extra_block, extra);
#undef RESERVE
}

/* What stays where a part has no rows. */
static void clear_answer(const solve_context *c) {
  form_answer *answer = c->answer;
  for (int b = 0; b < c->form->n_bodies; b++)
    memcpy(answer->x + 6 * b,
           is_dynamic(c, b) ? c->request->x_free + 6 * b : c->view->bodies[b].v,
           6 * sizeof(double));
  for (int i = 0; i < 6 * c->form->n_joints; i++) {
    answer->joint_impulse[i] = 0;
    c->s->joint_row[i] = -1;
  }
  for (int k = 0; k < c->view->n_contacts; k++) {
    memset(answer->contact_impulse + 6 * k, 0, 6 * sizeof(double));
    memset(answer->contact_force[k], 0, sizeof answer->contact_force[k]);
    answer->contact_rows[k] = (contact_rows){0};
    answer->contact_w[k] = NAN;
  }
  for (int k = 0; k < c->request->n_extra; k++) answer->extra_impulse[k] = 0;
}

/* --- rows ----------------------------------------------------------------- */

/* A row of the velocity level becomes one of the scheme's unknown (eq. 20). */
static void weigh_rows(const solve_context *c, int first) {
  const form_request *request = c->request;
  if (request->scale == 1 && request->carry == 0) return;
  row_set *set = &c->s->set;
  for (int r = first; r < set->n_rows; r++) {
    mlcp_row *row = &set->rows[r];
    row->bias *= request->scale;
    row->compliance *= request->scale;
    if (request->carry == 0) continue;
    for (int side = 0; side < 2; side++) {
      if (row->body[side] < 0) continue;
      const double *v = c->s->bodies[row->body[side]].v_free; /* see build */
      for (int i = 0; i < 6; i++)
        row->bias += request->carry * row->J[side][i] * v[i];
    }
  }
}

static bool one_sided_or_free(double low, double high) {
  return (low == 0 || isinf(low)) && (high == 0 || isinf(high));
}

/* The rows of a joint that take part, and which of the host's they are. */
static joint_reading choose_rows(const solve_context *c, int j,
                                 int host_row[6]) {
  const joint_reading *all = &c->view->readings[j];
  joint_reading chosen = *all;
  unsigned count = 0;
  if (c->request->position_level) {
    for (int i = 0; i < 6; i++) host_row[i] = i;
    return chosen;
  }
  for (unsigned i = 0; i < all->rows.count; i++) {
    bool rigid = all->rows.cfm[i] <= c->form->world_cfm;
    double correction = rigid ? all->correction[i] : 0;
    double rhs = all->rows.rhs[i] - correction;
    bool stop = (all->rows.lo[i] == 0) != (all->rows.hi[i] == 0);
    if (rigid && stop) rhs = 0; /* a bounce is an impact's */
    if (c->request->rows != FORM_STEP) {
      if (!rigid || !one_sided_or_free(all->rows.lo[i], all->rows.hi[i]))
        continue;
      if (c->request->rows == FORM_POSITION) rhs = correction;
    }
    host_row[count] = (int)i;
    memmove(chosen.rows.J[count], all->rows.J[i], sizeof all->rows.J[i]);
    chosen.rows.rhs[count] = rhs;
    chosen.rows.cfm[count] = all->rows.cfm[i];
    chosen.rows.lo[count] = all->rows.lo[i];
    chosen.rows.hi[count] = all->rows.hi[i];
    chosen.correction[count] = 0;
    count++;
  }
  chosen.rows.count = count;
  return chosen;
}

static void add_joint(solve_context *c, const row_frame *frame, int j) {
  int host_row[6], first = c->s->set.n_rows;
  joint_reading chosen = choose_rows(c, j, host_row);
  joint_rows_add(&c->s->set, frame, &chosen, c->form->joints[j].body,
                 c->form->world_cfm);
  for (int r = first; r < c->s->set.n_rows; r++) {
    c->s->guess[r] = NAN;
    c->s->joint_row[6 * j + host_row[r - first]] = r;
  }
}

/* The normal row alone, w = J x + bias >= 0. */
static void add_normal(solve_context *c, const row_frame *frame, int k,
                       double bias) {
  const form_contact *contact = &c->view->contacts[k];
  const contact_reading *reading = &contact->reading;
  double J[2][6];
  form_contact_jacobian(contact, J);
  c->answer->contact_rows[k] =
      (contact_rows){.first_row = c->s->set.n_rows, .n_rows = 1};
  mlcp_row *row =
      row_set_add(&c->s->set, frame, MLCP_ROW_NORMAL, reading->body, J, bias,
                  c->form->world_cfm / frame->step_size);
  row->low = 0;
}

static contact_settings settings_of(const solve_context *c) {
  const world_form *form = c->form;
  return (contact_settings){.erp = c->request->position_level ? 1 : 0,
                            .cfm = form->world_cfm,
                            .surface_layer = form->surface_layer,
                            .max_velocity = form->max_velocity,
                            .max_cfm = form->world_cfm,
                            .edges = form->options->edges,
                            .slip_floor = c->request->slip_floor};
}

static bool is_soft(const solve_context *c, const dSurfaceParameters *surface) {
  return (surface->mode & dContactSoftCFM) &&
         surface->soft_cfm > c->form->world_cfm;
}

/* Of friction, an impact knows what is proportional to the normal impulse, and
 * what does not slip at all: forces and viscous slip do nothing at once. */
static void leave_forces_out(dSurfaceParameters *surface) {
  int mode = surface->mode;
  double limits[2] = {surface->mu,
                      mode & dContactMu2 ? surface->mu2 : surface->mu};
  const int proportional[2] = {dContactApprox1_1, dContactApprox1_2};
  const int viscous[2] = {dContactSlip1, dContactSlip2};
  for (int d = 0; d < 2; d++)
    if ((!(mode & proportional[d]) && isfinite(limits[d])) || mode & viscous[d])
      limits[d] = 0;
  surface->mu = limits[0];
  surface->mu2 = limits[1];
  surface->mode = (mode | dContactMu2) & ~(dContactSlip1 | dContactSlip2);
  if (!(mode & dContactApprox1_N)) surface->mode &= ~dContactRolling;
}

static void add_contact(solve_context *c, const row_frame *frame, int k) {
  const form_contact *contact = &c->view->contacts[k];
  contact_rows *rows = &c->answer->contact_rows[k];
  int first = c->s->set.n_rows;
  if (c->request->rows == FORM_POSITION) {
    double overlap = fmin(contact->gap + c->form->surface_layer, 0);
    add_normal(c, frame, k,
               c->form->world_erp * overlap / c->request->step_size);
  } else if (contact->stop >= 0) {
    bool keep = c->request->position_level;
    add_normal(c, frame, k, keep ? contact->gap / c->request->step_size : 0);
  } else {
    static const double no_hint[3] = {0, 0, 0};
    contact_settings settings = settings_of(c);
    contact_reading reading = contact->reading;
    dContact touching = contact->contact;
    reading.contact = &touching;
    if (!c->request->position_level && !is_soft(c, &touching.surface))
      touching.geom.depth = 0;
    if (c->request->rows == FORM_IMPACT) {
      if (is_soft(c, &touching.surface)) return;
      leave_forces_out(&touching.surface);
    }
    contact_rows_add(&c->s->set, frame, &settings, &reading, no_hint, rows);
  }
  for (int r = first; r < c->s->set.n_rows; r++)
    c->s->guess[r] = c->request->guess != NULL
                         ? c->request->guess[6 * k + r - first]
                         : NAN;
}

static void add_extra(solve_context *c, const row_frame *frame, int k) {
  const form_extra_row *extra = &c->request->extra[k];
  c->s->guess[c->s->set.n_rows] = NAN;
  row_set_add(&c->s->set, frame, MLCP_ROW_JOINT, extra->body, extra->J,
              extra->bias, extra->compliance);
}

/* --- a part --------------------------------------------------------------- */

static bool fill_body(const solve_context *c, mlcp_body *out, int b) {
  const host_body *body = &c->view->bodies[b];
  memset(out, 0, sizeof *out);
  if (c->request->mass != NULL) {
    memcpy(out->mass, c->request->mass + 36 * b, sizeof out->mass);
    return matrix6_invert(out->inverse_mass, out->mass);
  }
  for (int i = 0; i < 3; i++) {
    out->mass[7 * i] = body->mass;
    out->inverse_mass[7 * i] = 1 / body->mass;
    for (int j = 0; j < 3; j++) {
      out->mass[6 * (3 + i) + 3 + j] = body->inertia[3 * i + j];
      out->inverse_mass[6 * (3 + i) + 3 + j] = body->inverse_inertia[3 * i + j];
    }
  }
  return true;
}

/* Rows first: while they are weighed, v_free of the problem's bodies is the
 * velocity that `carry` takes. */
static bool build_part(solve_context *c, int part, mlcp_problem *problem) {
  form_scratch *s = c->s;
  row_frame frame = {.bodies = c->view->bodies,
                     .problem_body = s->problem_body,
                     .step_size = c->request->step_size,
                     .max_correction = c->request->position_level
                                           ? c->form->options->max_correction
                                           : INFINITY};
  s->set.n_rows = s->set.n_frictions = s->set.n_pairs = 0;
  for (int b = 0; b < c->form->n_bodies; b++) {
    if (s->part[b] != part) continue;
    mlcp_body *body = &s->bodies[s->problem_body[b]];
    if (!fill_body(c, body, b)) {
      snprintf(c->form->result->message, sizeof c->form->result->message,
               "body %lu has no finite inverse of its mass",
               c->form->bodies[b].serial);
      return false;
    }
    memcpy(body->v_free, c->view->bodies[b].v, sizeof body->v_free);
  }
  for (int i = s->part_first_item[part]; i >= 0; i = s->items[i].next) {
    const form_item *item = &s->items[i];
    int first = s->item_row[i] = s->set.n_rows;
    if (item->kind == ITEM_JOINT) add_joint(c, &frame, item->index);
    if (item->kind == ITEM_CONTACT) add_contact(c, &frame, item->index);
    if (item->kind == ITEM_EXTRA)
      add_extra(c, &frame, item->index);
    else
      weigh_rows(c, first);
  }
  for (int b = 0; b < c->form->n_bodies; b++)
    if (s->part[b] == part)
      memcpy(s->bodies[s->problem_body[b]].v_free, c->request->x_free + 6 * b,
             6 * sizeof(double));
  *problem = (mlcp_problem){
      .n_bodies = s->part_n_bodies[part],
      .n_rows = s->set.n_rows,
      .n_frictions = s->set.n_frictions,
      .n_pairs = s->set.n_pairs,
      .bodies = s->bodies,
      .rows = s->set.rows,
      .frictions = s->set.frictions,
      .pairs = s->set.pairs,
      .velocity_floor = fmax(1e3 * c->request->slip_floor, 1e-9)};
  return true;
}

static void count_solve(ode_mlcp_report *report, const solver_report *solve) {
  const double UNSOLVED = 1e-6;
  report->solves++;
  report->degraded += solve->status == SOLVER_DEGRADED;
  report->unsolved +=
      solve->status == SOLVER_DEGRADED && !(solve->residual <= UNSOLVED);
  report->pivots += solve->pivots;
  report->factorisations += solve->factorisations;
  report->iterations += solve->iterations;
  report->residual = fmax(report->residual, solve->residual);
}

static bool solve_part(solve_context *c, const mlcp_problem *problem) {
  const ode_mlcp_options *given = c->form->options;
  island_result *result = c->form->result;
  solver_options options;
  solver_default_options(&options);
  options.kind =
      given->solver == ODE_MLCP_SOLVER_LEMKE ? SOLVER_LEMKE : SOLVER_FAST;
  options.tolerance = given->tolerance;
  /* events look at how the forces on each contact change with time */
  options.smooth = !c->request->position_level;

  double start = seconds_now();
  bool convex = given->friction == ODE_MLCP_FRICTION_CONVEX;
  solver_report solve =
      convex ? solver_solve_convex(c->form->solver, &c->s->convex,
                                   c->form->source, problem, &options,
                                   &c->s->solution)
             : solver_solve(c->form->solver, problem, &options, c->s->guess,
                            &c->s->solution);
  double seconds = seconds_now() - start;
  result->report.solver_seconds += seconds;
  if (part_watch != NULL)
    part_watch(part_watch_context,
               &(solved_part){.world = c->form->world,
                              .part = result->report.solves,
                              .solve = result->n_watched++,
                              .problem = problem,
                              .guess = c->s->guess,
                              .solution = &c->s->solution,
                              .report = &solve,
                              .seconds = seconds,
                              .tolerance = options.tolerance});
  if (solve.status == SOLVER_NO_MEMORY) return no_memory(c);
  if (solve.status == SOLVER_TOO_LARGE) {
    result->refused = true;
    snprintf(result->message, sizeof result->message,
             "%d bodies and %d rows are too many to solve at once",
             problem->n_bodies, problem->n_rows);
    return false;
  }
  if (!all_finite(c->s->solution.v, 6 * problem->n_bodies) ||
      !all_finite(c->s->solution.p, problem->n_rows)) {
    snprintf(result->message, sizeof result->message,
             "%d bodies and %d rows have no finite solution", problem->n_bodies,
             problem->n_rows);
    return false;
  }
  count_solve(&result->report, &solve);
  return true;
}

/* Jams in place of impulses. */
static bool check_part(solve_context *c, const mlcp_problem *problem) {
  cone_check *cone = c->request->cone;
  if (!cone_check_run(cone, c->form->solver, c->form->source, problem))
    return no_memory(c);
  for (int r = 0; r < problem->n_rows; r++)
    c->s->solution.p[r] = cone->locked[r];
  memset(c->s->solution.v, 0,
         6 * (size_t)problem->n_bodies * sizeof *c->s->solution.v);
  return true;
}

static bool count_jams(solve_context *c, const mlcp_problem *problem) {
  ode_mlcp_report *report = &c->form->result->report;
  if (!cone_check_run(&c->s->cone, c->form->solver, c->form->source, problem))
    return no_memory(c);
  report->jammed_contacts += c->s->cone.n_contacts;
  report->jammed_joint_rows += c->s->cone.n_joint_rows;
  return true;
}

static double row_w(const mlcp_row *row, const double v[], double p) {
  double w = row->compliance * p + row->bias;
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < 6 && row->body[side] >= 0; i++)
      w += row->J[side][i] * v[6 * row->body[side] + i];
  return w;
}

/* What a contact does to its bodies, those that do not move included: there it
 * is the opposite wrench about the contact's point. */
static void keep_contact(const solve_context *c, int k, int first) {
  const form_scratch *s = c->s;
  const contact_reading *reading = &c->view->contacts[k].reading;
  double(*force)[6] = c->answer->contact_force[k];
  int known = 0;
  for (int side = 1; side >= 0; side--)
    if (s->set.rows[first].body[side] >= 0) known = side;
  for (int r = 0; r < c->answer->contact_rows[k].n_rows; r++) {
    double p = s->solution.p[first + r];
    c->answer->contact_impulse[6 * k + r] = p;
    for (int i = 0; i < 6; i++)
      force[known][i] += p * s->set.rows[first + r].J[known][i];
  }
  if (c->view->contacts[k].stop >= 0) {
    for (int i = 0; i < 6; i++)
      force[1 - known][i] = c->answer->contact_impulse[6 * k] *
                            c->view->contacts[k].stop_J[1 - known][i];
    return;
  }
  double about_point[3], turn[3];
  vec3_cross(turn, reading->arm[known], force[known]);
  vec3_subtract(about_point, force[known] + 3, turn);
  vec3_negate(force[1 - known], force[known]);
  vec3_cross(force[1 - known] + 3, reading->arm[1 - known], force[1 - known]);
  vec3_subtract(force[1 - known] + 3, force[1 - known] + 3, about_point);
}

static void keep_part(const solve_context *c, int part) {
  const form_scratch *s = c->s;
  form_answer *answer = c->answer;
  for (int b = 0; b < c->form->n_bodies; b++)
    if (s->part[b] == part)
      memcpy(answer->x + 6 * b, s->solution.v + 6 * s->problem_body[b],
             6 * sizeof(double));
  for (int i = s->part_first_item[part]; i >= 0; i = s->items[i].next) {
    int k = s->items[i].index, first = s->item_row[i];
    if (s->items[i].kind == ITEM_EXTRA) {
      answer->extra_impulse[k] = s->solution.p[first];
    } else if (s->items[i].kind == ITEM_JOINT) {
      for (int n = 6 * k; n < 6 * k + 6; n++)
        if (s->joint_row[n] >= 0)
          answer->joint_impulse[n] = s->solution.p[s->joint_row[n]];
    } else if (answer->contact_rows[k].n_rows > 0) {
      keep_contact(c, k, first);
      answer->contact_w[k] =
          row_w(&s->set.rows[first], s->solution.v, s->solution.p[first]);
    }
  }
}

/* --- the world ------------------------------------------------------------ */

/* v_free of the view's bodies is the sliding velocity that the friction rows
 * would have with no impulse; kinematic bodies do not move in a correction. */
static void prepare_bodies(const solve_context *c) {
  const form_request *request = c->request;
  for (int b = 0; b < c->form->n_bodies; b++) {
    host_body *body = &c->view->bodies[b];
    if (body->kinematic) {
      bool moves = request->rows != FORM_POSITION;
      for (int i = 0; i < 6; i++) {
        body->v[i] = moves ? c->form->bodies[b].v[i] : 0;
        body->v_free[i] = body->v[i];
      }
      continue;
    }
    for (int i = 0; i < 6; i++)
      body->v_free[i] =
          (request->x_free[6 * b + i] + request->carry * body->v[i]) /
          request->scale;
  }
}

bool form_solve(world_form *form, form_view *view, const form_request *request,
                form_answer *answer) {
  solve_context c = {form, view, request, answer, form->scratch};
  if (!reserve_all(&c)) return no_memory(&c);
  prepare_bodies(&c);
  clear_answer(&c);
  list_items(&c);
  if (!few_enough(&c)) return false;
  find_parts(&c);
  chain_items(&c);
  for (int part = 0; part < c.s->n_parts; part++) {
    mlcp_problem problem;
    if (c.s->part_first_item[part] < 0) continue;
    if (!build_part(&c, part, &problem)) return false;
    if (!(request->cone != NULL ? check_part(&c, &problem)
                                : solve_part(&c, &problem)))
      return false;
    if (form->options->check_cone && request->count_jams &&
        !count_jams(&c, &problem))
      return false;
    form->result->report.rows += problem.n_rows;
    keep_part(&c, part);
  }
  return true;
}

void form_answer_release(form_answer *answer, const memory_source *source) {
  memory_block *blocks[] = {&answer->x_block,    &answer->impulse_block,
                            &answer->rows_block, &answer->w_block,
                            &answer->force_block,
                            &answer->joint_block, &answer->extra_block};
  memory_blocks_release(blocks, sizeof blocks / sizeof blocks[0], source);
}
