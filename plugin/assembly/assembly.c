#include "assembly/assembly.h"

#include <math.h>
#include <string.h>

#include "assembly/workspace.h"
#include "common/disjoint_sets.h"
#include "common/minmax.h"

assembly *assembly_create(const memory_source *source) {
  assembly *a = memory_allocate_zero(source, sizeof *a);
  if (a == NULL) return NULL;
  a->source = source;
  a->arena.source = a->kept.source = source;
  a->solver = solver_workspace_create(source);
  return a->solver != NULL ? a : NULL;
}

void assembly_destroy(assembly *a) {
  if (a != NULL) solver_workspace_destroy(a->solver);
}

double assembly_slip_floor(double gravity, double step_size) {
  const double PART = 1e-3;  /* of what gravity does in a step */
  const double LEAST = 1e-9; /* m/s */
  return fmax(PART * (gravity * step_size), LEAST);
}

/* --- items ------------------------------------------------------------------ */

static const int *bodies_of(const assembly_request *request,
                            const world_contacts *contacts, const item *item) {
  switch (item->kind) {
    case ITEM_JOINT: return request->world->joints[item->index].body;
    case ITEM_EXTRA: return request->extra[item->index].body;
    default: return contacts->items[item->index].point.body;
  }
}

static void add_item(component_set *set, item_kind kind, int index) {
  set->items[set->n_items++] = (item){kind, index, -1};
}

/* A spring takes time. */
static bool takes_contact(const assembly_request *request,
                          const world_contact *contact) {
  return contact->active &&
         !(request->level == JOINT_LEVEL_IMPACT && contact->point.soft);
}

static void list_items(component_set *set, const assembly_request *request,
                       const world_contacts *contacts) {
  const world_snapshot *world = request->world;
  set->n_items = 0;
  for (int j = 0, k = 0; j <= world->n_joints; j++) {
    bool last = j == world->n_joints;
    if (!last && world->joints[j].rows >= 0) add_item(set, ITEM_JOINT, j);
    for (; k < contacts->n && (last || contacts->items[k].joint == j); k++)
      if (contacts->items[k].stop < 0 &&
          takes_contact(request, &contacts->items[k]))
        add_item(set, ITEM_CONTACT, k);
  }
  for (int k = 0; k < request->n_extra; k++) add_item(set, ITEM_EXTRA, k);
  for (int k = 0; k < contacts->n; k++)
    if (contacts->items[k].stop >= 0 &&
        (takes_contact(request, &contacts->items[k]) || request->adds_stops))
      add_item(set, ITEM_STOP, k);
}

/* --- components ------------------------------------------------------------- */

/* Sets of bodies, in problem_body until that is filled. */
static void unite_bodies(component_set *set, const assembly_request *request,
                         const world_contacts *contacts) {
  const world_snapshot *world = request->world;
  int *parent = set->problem_body;
  for (int b = 0; b < world->n_bodies; b++) parent[b] = b;
  for (int i = 0; i < set->n_items; i++) {
    const int *body = bodies_of(request, contacts, &set->items[i]);
    if (world_is_dynamic(world, body[0]) && world_is_dynamic(world, body[1]))
      unite_sets(parent, body[0], body[1]);
  }
}

/* Components are numbered by their first body. */
static void number_components(component_set *set, const world_snapshot *world) {
  int n = world->n_bodies;
  set->n_components = 0;
  for (int b = 0; b < n; b++) {
    set->component_of[b] = -1;
    if (!world_is_dynamic(world, b)) continue;
    int root = set_of(set->problem_body, b);
    if (root == b) {
      set->components[set->n_components] =
          (component){.first_item = -1, .last_item = -1};
      set->component_of[b] = set->n_components++;
    } else {
      set->component_of[b] = set->component_of[root];
    }
  }
  for (int b = 0; b < n; b++) {
    int c = set->component_of[b];
    set->problem_body[b] = c < 0 ? -1 : set->components[c].n_bodies++;
  }
  for (int c = 0, first = 0; c < set->n_components; c++) {
    set->components[c].first_body = first;
    first += set->components[c].n_bodies;
  }
  for (int b = 0; b < n; b++)
    if (set->component_of[b] >= 0)
      set->body_at[set->components[set->component_of[b]].first_body +
                   set->problem_body[b]] = b;
}

static void chain_items(component_set *set, const assembly_request *request,
                        const world_contacts *contacts) {
  for (int i = 0; i < set->n_items; i++) {
    const int *body = bodies_of(request, contacts, &set->items[i]);
    int of = body[world_is_dynamic(request->world, body[0]) ? 0 : 1];
    if (!world_is_dynamic(request->world, of)) continue;
    component *c = &set->components[set->component_of[of]];
    if (c->first_item < 0)
      c->first_item = i;
    else
      set->items[c->last_item].next = i;
    c->last_item = i;
    c->n_contacts += set->items[i].kind == ITEM_CONTACT;
  }
}

/* The limit is one of memory. */
static bool few_enough(const component_set *set,
                       const ode_mlcp_options *options, outcome *out) {
  for (int i = 0; i < set->n_components; i++) {
    const component *c = &set->components[i];
    if (c->n_contacts <= options->max_contacts) continue;
    out->report.refused = 1;
    return outcome_fail(out,
                        "an island of %d bodies has %d contacts, more than "
                        "max-contacts %d allows",
                        c->n_bodies, c->n_contacts, options->max_contacts);
  }
  return true;
}

static bool components_find(component_set *set, arena *arena,
                            const assembly_request *request,
                            const world_contacts *contacts, outcome *out) {
  const world_snapshot *world = request->world;
  int n = world->n_bodies;
  int n_items = world->n_joint_rows + contacts->n + request->n_extra;
  if (!ARENA_TAKE(arena, set->items, n_items) ||
      !ARENA_TAKE(arena, set->components, n) ||
      !ARENA_TAKE(arena, set->component_of, n) ||
      !ARENA_TAKE(arena, set->problem_body, n) ||
      !ARENA_TAKE(arena, set->body_at, n))
    return outcome_no_memory(out);
  list_items(set, request, contacts);
  unite_bodies(set, request, contacts);
  number_components(set, world);
  chain_items(set, request, contacts);
  return few_enough(set, request->options, out);
}

/* --- memory ----------------------------------------------------------------- */

static bool reserve(assembly *a) {
  const world_snapshot *world = a->request.world;
  size_t rows = 0, contacts = 0;
  for (int i = 0; i < a->components.n_items; i++) {
    const item *item = &a->components.items[i];
    if (item->kind == ITEM_JOINT)
      rows += world->joint_rows[world->joints[item->index].rows].rows.count;
    else if (item->kind == ITEM_CONTACT)
      contacts++;
    else
      rows++;
  }
  rows += CONTACT_ROWS_MAX * contacts;
  size_t frictions = CONTACT_FRICTIONS_MAX * contacts;
  size_t pairs =
      (size_t)CONTACT_PAIRS_MAX(a->request.options->edges) * contacts;
  int n = world->n_bodies, n_contacts = a->contacts->n;
  arena *arena = &a->arena;
  return ARENA_TAKE(arena, a->x, 6 * n) &&
         ARENA_TAKE(arena, a->projected, 6 * n) &&
         ARENA_TAKE(arena, a->joint_row, world->n_joint_rows) &&
         ARENA_TAKE(arena, a->contact_row, n_contacts) &&
         ARENA_TAKE(arena, a->contact_rows, n_contacts) &&
         ARENA_TAKE(arena, a->problem_bodies, n) &&
         ARENA_TAKE(arena, a->rows, rows) &&
         ARENA_TAKE(arena, a->corrections, rows) &&
         ARENA_TAKE(arena, a->frictions, frictions) &&
         ARENA_TAKE(arena, a->pairs, pairs) &&
         ARENA_TAKE(arena, a->guess, rows) &&
         ARENA_TAKE(arena, a->joint_of_row, rows) &&
         ARENA_TAKE(arena, a->solution.v, 6 * n) &&
         ARENA_TAKE(arena, a->solution.p, rows) &&
         ARENA_TAKE(arena, a->solution.beta, 2 * pairs) &&
         ARENA_TAKE(arena, a->solution.lambda, frictions);
}

/* The answer where nothing has rows. */
static void clear_answer(assembly *a) {
  a->n_stopped = 0;
  const world_snapshot *world = a->request.world;
  memcpy(a->x, a->request.x_free, 6 * (size_t)world->n_bodies * sizeof *a->x);
  for (int b = 0; b < world->n_bodies; b++) a->projected[6 * b] = NAN;
  for (int i = 0; i < world->n_joint_rows; i++)
    for (int r = 0; r < 6; r++) a->joint_row[i][r] = -1;
  for (int k = 0; k < a->contacts->n; k++) {
    a->contact_row[k] = -1;
    a->contact_rows[k].n_rows = 0;
  }
}

/* --- one component after the other -------------------------------------------- */

/* Solve, and again with the stops that the solution would overshoot: each round
 * adds one at least. */
static bool solve_with_stops(assembly *a, component_problem *c) {
  for (;;) {
    if (!component_solve(a, c)) return false;
    for (int i = 0; i < c->of->n_bodies; i++)
      memcpy(a->x + 6 * component_body(a, c, i), c->solution.v + 6 * i,
             6 * sizeof *a->x);
    int n_rows = c->problem.n_rows;
    if (!a->request.adds_stops || component_rows_add_stops(a, c, true) == 0)
      return true;
    memcpy(c->guess, c->solution.p, (size_t)n_rows * sizeof *c->guess);
  }
}

/* What a component's solves may take of what all that the step solved before, with the
 * same bodies, has left. Lemke's method may take far more than what is fast, but not for
 * ever. */
static double budget_left(const assembly *a, const outcome *out) {
  const double lemkes = 100, part = a->request.replaced ? 0.5 : 1;
  const ode_mlcp_options *options = a->request.options;
  return part * options->budget *
             (options->solver == ODE_MLCP_SOLVER_LEMKE ? lemkes : 1) -
         out->report.solver_work;
}

bool assembly_solve(assembly *a, const assembly_request *request,
                    outcome *out) {
  a->request = *request;
  a->contacts =
      request->contacts != NULL ? request->contacts : &request->world->contacts;
  a->bodies =
      request->bodies != NULL ? request->bodies : request->world->bodies;
  component_set *set = &a->components;
  arena_start(&a->arena);
  if (!components_find(set, &a->arena, request, a->contacts, out)) return false;
  if (!reserve(a)) return outcome_no_memory(out);
  clear_answer(a);

  component_problem c = {.out = out, .budget = budget_left(a, out)};
  double most = 0;
  component_rows_begin(a, &c);
  for (c.index = 0; c.index < set->n_components; c.index++) {
    c.of = &set->components[c.index];
    if (c.of->first_item < 0) continue;
    if (!component_rows_build(a, &c)) return false;
    c.work = 0;
    if (component_obeys(a, &c))
      memset(c.solution.p, 0, (size_t)c.set.n_rows * sizeof *c.solution.p);
    else if (!solve_with_stops(a, &c))
      return false;
    out->report.rows += c.problem.n_rows;
    if (request->projects && !component_project(a, &c)) return false;
    most = larger_of(most, c.work);
    c.first_row += c.set.n_rows;
    c.first_friction += c.set.n_frictions;
    c.first_pair += c.set.n_pairs;
  }
  out->report.solver_work += most;
  a->n_last = 0;
  if (!request->second_order) return true; // rounds are of second-order schemes
  arena_start(&a->kept);
  if (!ARENA_TAKE(&a->kept, a->last, c.first_row) ||
      !ARENA_TAKE(&a->kept, a->last_contacts, a->contacts->n))
    return outcome_no_memory(out);
  a->n_last = c.first_row;
  memcpy(a->last_contacts, a->contact_rows,
         (size_t)a->contacts->n * sizeof *a->last_contacts);
  memcpy(a->last, a->solution.p, (size_t)a->n_last * sizeof *a->last);
  return true;
}
