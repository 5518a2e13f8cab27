#include "assembly/assembly.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "assembly/pair_guess.h"
#include "assembly/position_projection.h"
#include "common/clock.h"
#include "common/disjoint_sets.h"
#include "common/matrix6.h"
#include "common/minmax.h"
#include "common/progress.h"
#include "common/vec3.h"
#include "mlcp/mlcp_rows.h"
#include "solver/solver_convex.h"

typedef enum item_kind {
  ITEM_JOINT, /* the host's rows of a joint */
  ITEM_CONTACT,
  ITEM_EXTRA,
  ITEM_STOP
} item_kind;

/* A source of rows of a component. */
typedef struct item {
  item_kind kind;
  int index; /* of the joint, contact or extra row */
  int next;  /* of the same component, -1 at the end */
} item;

/* Bodies that no row ties to the rest. */
typedef struct component {
  int n_bodies, first_body; /* into body_at */
  int first_item, last_item, n_contacts;
} component;

struct assembly {
  const memory_source *source;
  arena arena;
  solver_workspace *solver;
  solver_convex convex;
  cone_check cone; /* of steps, with options.check_cone */
  assembly_request request;
  const world_contacts *contacts;
  const host_body *bodies;

  item *items;
  int n_items;
  component *components;
  int n_components;
  int *component_of; /* [n_bodies] -1: kinematic */
  int *problem_body; /* [n_bodies] index in its component, -1 kinematic */
  int *body_at;      /* bodies of all components, one after the other */

  /* problems of all components, one after the other */
  mlcp_body *problem_bodies;
  mlcp_row *rows;
  row_correction *corrections;
  mlcp_friction *frictions;
  mlcp_pair *pairs;
  double *guess;
  mlcp_solution solution;

  /* where rows are, over all components; -1: none */
  int (*joint_row)[6];        /* [n_joint_rows] */
  int *contact_row;           /* [contacts->n] the first */
  contact_rows *contact_rows; /* [contacts->n] first_row: in its problem */
  bool *overlaps;             /* [contacts->n] too deep to be a contact */
  int *extra_row;             /* [n_extra] */
  int *first_row;             /* [n_joints] for observers */
  double *x, *v_free;         /* [6 n_bodies] */
  double *projected;          /* [6 n_bodies] NAN: none */
  double *moved;              /* [6 n_bodies] a trial of that and x */
  int n_fallbacks, n_stopped;
};

/* One component on its way through the solver. */
typedef struct component_problem {
  const component *of;
  int index;
  int first_row, first_friction, first_pair; /* over all components */
  row_frame frame;
  row_set set;
  mlcp_problem problem;
  mlcp_solution solution;
  double *guess;
  bool overlap; /* one of its contacts is too deep to be one */
  double load;  /* N s: what its bodies press with in all; NAN: not known yet */
  double budget; /* of the next solve, see solver_options */
  outcome *out;
} component_problem;

assembly *assembly_create(const memory_source *source) {
  assembly *a = memory_allocate_zero(source, sizeof *a);
  if (a == NULL) return NULL;
  a->source = source;
  a->arena.source = source;
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

static bool is_dynamic(const assembly *a, int body) {
  return world_is_dynamic(a->request.world, body);
}

static const int *bodies_of(const assembly *a, const item *item) {
  switch (item->kind) {
    case ITEM_JOINT: return a->request.world->joints[item->index].body;
    case ITEM_EXTRA: return a->request.extra[item->index].body;
    default: return a->contacts->items[item->index].point.body;
  }
}

static void add_item(assembly *a, item_kind kind, int index) {
  a->items[a->n_items++] = (item){kind, index, -1};
}

static bool takes_contact(const assembly *a, const world_contact *contact) {
  /* a spring takes time */
  return contact->active &&
         !(a->request.level == JOINT_LEVEL_IMPACT && contact->point.soft);
}

/* Joints and contacts in the order of the host's joints, then contacts without
 * one, extra rows, and stops. */
static void list_items(assembly *a) {
  const world_snapshot *world = a->request.world;
  const world_contacts *contacts = a->contacts;
  a->n_items = 0;
  for (int j = 0, k = 0; j <= world->n_joints; j++) {
    bool last = j == world->n_joints;
    if (!last && world->joints[j].rows >= 0) add_item(a, ITEM_JOINT, j);
    for (; k < contacts->n && (last || contacts->items[k].joint == j); k++)
      if (contacts->items[k].stop < 0 && takes_contact(a, &contacts->items[k]))
        add_item(a, ITEM_CONTACT, k);
  }
  for (int k = 0; k < a->request.n_extra; k++) add_item(a, ITEM_EXTRA, k);
  for (int k = 0; k < contacts->n; k++)
    if (contacts->items[k].stop >= 0 &&
        (takes_contact(a, &contacts->items[k]) || a->request.adds_stops))
      add_item(a, ITEM_STOP, k);
}

/* --- components ------------------------------------------------------------- */

/* Components are numbered by their first body. */
static void find_components(assembly *a) {
  int n = a->request.world->n_bodies;
  int *parent = a->problem_body; /* until it is filled below */
  for (int b = 0; b < n; b++) parent[b] = b;
  for (int i = 0; i < a->n_items; i++) {
    const int *body = bodies_of(a, &a->items[i]);
    if (is_dynamic(a, body[0]) && is_dynamic(a, body[1]))
      unite_sets(parent, body[0], body[1]);
  }
  a->n_components = 0;
  for (int b = 0; b < n; b++) {
    a->component_of[b] = -1;
    if (!is_dynamic(a, b)) continue;
    int root = set_of(parent, b);
    if (root == b) {
      a->components[a->n_components] =
          (component){.first_item = -1, .last_item = -1};
      a->component_of[b] = a->n_components++;
    } else {
      a->component_of[b] = a->component_of[root];
    }
  }
  for (int b = 0; b < n; b++) {
    int c = a->component_of[b];
    a->problem_body[b] = c < 0 ? -1 : a->components[c].n_bodies++;
  }
  for (int c = 0, first = 0; c < a->n_components; c++) {
    a->components[c].first_body = first;
    first += a->components[c].n_bodies;
  }
  for (int b = 0; b < n; b++)
    if (a->component_of[b] >= 0)
      a->body_at[a->components[a->component_of[b]].first_body +
                 a->problem_body[b]] = b;
}

static void chain_items(assembly *a) {
  for (int i = 0; i < a->n_items; i++) {
    const int *body = bodies_of(a, &a->items[i]);
    int of = body[is_dynamic(a, body[0]) ? 0 : 1];
    if (!is_dynamic(a, of)) continue;
    component *c = &a->components[a->component_of[of]];
    if (c->first_item < 0)
      c->first_item = i;
    else
      a->items[c->last_item].next = i;
    c->last_item = i;
    c->n_contacts += a->items[i].kind == ITEM_CONTACT;
  }
}

/* Size of the arrays that reserve_problems takes for so many contacts. */
static double megabytes(const assembly *a, int n_contacts) {
  double rows = sizeof(mlcp_row) + sizeof(row_correction) + 2 * sizeof(double);
  double frictions = sizeof(mlcp_friction) + sizeof(double);
  double pairs = sizeof(mlcp_pair) + 2 * sizeof(double);
  return 1e-6 * n_contacts *
         (CONTACT_ROWS_MAX * rows + CONTACT_FRICTIONS_MAX * frictions +
          CONTACT_PAIRS_MAX(a->request.options->edges) * pairs);
}

/* The limit is one of memory. */
static bool few_enough(const assembly *a, outcome *out) {
  int most = a->request.options->max_contacts;
  for (int i = 0; i < a->n_components; i++) {
    const component *c = &a->components[i];
    if (c->n_contacts <= most) continue;
    out->refused = true;
    return outcome_fail(
        out,
        "an island of %d bodies has %d contacts, more than max-contacts "
        "%d allows; their rows alone would take %.3g MB",
        c->n_bodies, c->n_contacts, most, megabytes(a, c->n_contacts));
  }
  return true;
}

/* --- memory ----------------------------------------------------------------- */

static bool reserve_items(assembly *a) {
  const world_snapshot *world = a->request.world;
  int n = world->n_bodies, n_contacts = a->contacts->n;
  int n_items = world->n_joint_rows + n_contacts + a->request.n_extra;
  arena *arena = &a->arena;
  arena_start(arena);
  return ARENA_TAKE(arena, a->items, n_items) &&
         ARENA_TAKE(arena, a->components, n) &&
         ARENA_TAKE(arena, a->component_of, n) &&
         ARENA_TAKE(arena, a->problem_body, n) &&
         ARENA_TAKE(arena, a->body_at, n) && ARENA_TAKE(arena, a->x, 6 * n) &&
         ARENA_TAKE(arena, a->v_free, 6 * n) &&
         ARENA_TAKE(arena, a->projected, 6 * n) &&
         ARENA_TAKE(arena, a->moved, 6 * n) &&
         ARENA_TAKE(arena, a->joint_row, world->n_joint_rows) &&
         ARENA_TAKE(arena, a->contact_row, n_contacts) &&
         ARENA_TAKE(arena, a->contact_rows, n_contacts) &&
         ARENA_TAKE(arena, a->overlaps, n_contacts) &&
         ARENA_TAKE(arena, a->extra_row, a->request.n_extra);
}

static bool reserve_problems(assembly *a) {
  const world_snapshot *world = a->request.world;
  size_t rows = 0, contacts = 0;
  for (int i = 0; i < a->n_items; i++) {
    const item *item = &a->items[i];
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
  int n = world->n_bodies;
  arena *arena = &a->arena;
  return ARENA_TAKE(arena, a->problem_bodies, n) &&
         ARENA_TAKE(arena, a->rows, rows) &&
         ARENA_TAKE(arena, a->corrections, rows) &&
         ARENA_TAKE(arena, a->frictions, frictions) &&
         ARENA_TAKE(arena, a->pairs, pairs) &&
         ARENA_TAKE(arena, a->guess, rows) &&
         ARENA_TAKE(arena, a->solution.v, 6 * n) &&
         ARENA_TAKE(arena, a->solution.p, rows) &&
         ARENA_TAKE(arena, a->solution.beta, 2 * pairs) &&
         ARENA_TAKE(arena, a->solution.lambda, frictions) &&
         (a->request.observer == NULL ||
          ARENA_TAKE(arena, a->first_row, world->n_joints));
}

/* The answer where nothing has rows. */
static void clear_answer(assembly *a) {
  a->n_fallbacks = a->n_stopped = 0;
  const world_snapshot *world = a->request.world;
  memcpy(a->x, a->request.x_free, 6 * (size_t)world->n_bodies * sizeof *a->x);
  for (int b = 0; b < world->n_bodies; b++) a->projected[6 * b] = NAN;
  for (int i = 0; i < world->n_joint_rows; i++)
    for (int r = 0; r < 6; r++) a->joint_row[i][r] = -1;
  for (int k = 0; k < a->contacts->n; k++) {
    a->contact_row[k] = -1;
    a->contact_rows[k].n_rows = 0;
    a->overlaps[k] = false;
  }
  for (int k = 0; k < a->request.n_extra; k++) a->extra_row[k] = -1;
  for (int j = 0; j < world->n_joints && a->request.observer != NULL; j++)
    a->first_row[j] = -1;
}

/* --- guesses ---------------------------------------------------------------- */

static const contact_match *match_of_contact(const assembly *a, int k) {
  const recall *recall = a->request.recall;
  int key = recall != NULL ? recall->contact_key[k] : -1;
  return key >= 0 ? &recall->matches[key] : NULL;
}

static const contact_entry *old_contact(const assembly *a, int k) {
  if (a->request.known != NULL) return a->request.known[k];
  const contact_match *match = match_of_contact(a, k);
  return match != NULL ? match->old : NULL;
}

static const contact_entry *old_joint(const assembly *a, int j) {
  const recall *recall = a->request.recall;
  int key = recall != NULL ? recall->joint_key[j] : -1;
  return key >= 0 ? recall->matches[key].old : NULL;
}

/* Which side of a contact comes second in its entry. */
static int second_side(const assembly *a, const host_contact *point) {
  const world_snapshot *world = a->request.world;
  return world_serial(world, point->body[0]) >
                 world_serial(world, point->body[1])
             ? 0
             : 1;
}

/* A load that is put on a spring presses it twice as deep as it rests. */
static const double SWINGS = 2;

/* Impulse of an entry's rows in this step for each N s of the last. */
static double time_scale(const assembly *a, const contact_entry *old) {
  return old->seconds > 0 ? a->request.step_size / old->seconds : 1;
}

/* Impulse of all forces on a component's bodies, N s: no row need carry more
 * where all is at rest, but between bodies that are wedged. */
static double load_of(const assembly *a, component_problem *c) {
  if (!isnan(c->load)) return c->load;
  c->load = 0;
  const assembly_request *request = &a->request;
  for (int i = 0; i < c->of->n_bodies; i++) {
    int b = a->body_at[c->of->first_body + i];
    const double *x = request->x_free + 6 * b, *v = request->v + 6 * b;
    double change[3];
    for (int j = 0; j < 3; j++)
      change[j] = (x[j] + request->carry * v[j]) / request->scale - v[j];
    /* mean velocities change by half of what those at the end do */
    double share = request->mean ? 2 : request->scale;
    c->load += share * a->bodies[b].mass * vec3_length(change);
  }
  return c->load;
}

/* True if a soft contact that was not there in the last step is deeper than its
 * bodies could have moved into each other, and than their load presses it: the
 * program has put them there. With an ERP and a CFM of its own it is a spring
 * all the same. */
static bool was_put_in(const assembly *a, component_problem *c,
                       const host_contact *point) {
  const double MOVES = 2; /* steps: not every program collides in each */
  const world_snapshot *world = a->request.world;
  const host_surface *surface = &point->surface;
  double J[2][6], rate = 0;
  if (!isnan(surface->erp) && !isnan(surface->cfm)) return false;
  host_contact_jacobian(J, point, point->normal);
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < 6 && point->body[side] >= 0; i++)
      rate += J[side][i] * a->request.v[6 * point->body[side] + i];
  if (-point->gap <= -MOVES * world->settings.step_size * rate) return false;

  double erp = isnan(surface->erp) ? world->erp : surface->erp;
  double cfm = isnan(surface->cfm) ? world->cfm : surface->cfm;
  /* what the spring carries is that of a whole step, whatever part this is */
  double parts = world->settings.step_size / a->request.step_size;
  return erp * -point->gap > SWINGS * cfm * load_of(a, c) * parts;
}

/* True if a contact is too deep to be one. Bodies that overlap do until hardly
 * anything of it is left, or friction would hold them where they are. What has
 * sunk into a soft contact is on a spring. */
static bool is_overlap(const assembly *a, component_problem *c, int k) {
  const double ENTERS = 0.1, LEAVES = 0.01; /* of an arm */
  const host_contact *point = &a->contacts->items[k].point;
  bool velocities = a->request.level == JOINT_LEVEL_VELOCITY && point->soft;
  if (!(a->request.level == JOINT_LEVEL_POSITION || velocities) ||
      isinf(a->request.options->max_correction) ||
      !host_contact_overlaps(point, a->bodies, LEAVES))
    return false;
  bool deep = host_contact_overlaps(point, a->bodies, ENTERS);
  if (deep && !point->soft) return true;
  if (velocities) {
    const world_contact *contact = &a->contacts->items[k];
    return contact->known_pair ? contact->overlaps_pair
                               : deep && was_put_in(a, c, point);
  }
  const contact_match *match = match_of_contact(a, k);
  if (match == NULL || match->run == match->run_end)
    return deep && was_put_in(a, c, point);
  for (int e = match->run; e < match->run_end; e++)
    if (a->request.recall->memory->entries[e].overlap) return true;
  return false;
}

static void guess_joint(double guess[], int n_rows, const contact_entry *old) {
  /* where a stop was reached or left, the rows before its own are the same */
  for (int i = 0; i < n_rows; i++)
    guess[i] = old != NULL && i < old->n_rows ? old->impulses[i] : NAN;
}

static void guess_contact(double guess[], const contact_rows *rows,
                          const contact_entry *old, double sign) {
  for (int i = 0; i < rows->n_rows; i++) {
    if (old == NULL)
      guess[i] = NAN;
    else if (i >= 1 && i <= rows->n_sliding)
      guess[i] = sign * vec3_dot(rows->sliding_axis[i - 1], old->sliding);
    else
      guess[i] = old->impulses[i > 0 ? i - rows->n_sliding : 0];
  }
}

/* True if a pair passes on what it did at the places where it did. */
static bool is_pair_unchanged(const recall *recall, int first) {
  const double MOVED = 1e-6; /* of an arm */
  const contact_match *matches = recall->matches;
  int n_left = matches[first].run_end - matches[first].run;
  for (int k = first; k >= 0; k = matches[k].next, n_left--) {
    double arm = vec3_length(recall->keys[k].local[1]);
    if (matches[k].old == NULL || sqrt(matches[k].square) > MOVED * arm)
      return false;
  }
  return n_left == 0;
}

/* The pair of bodies whose first contact has the key `first`. */
static void balance_pair(const assembly *a, component_problem *c, int first) {
  const recall *recall = a->request.recall;
  const contact_match *matches = recall->matches;
  const world_contact *items = a->contacts->items;
  for (int k = first; k >= 0; k = matches[k].next)
    if (a->contact_row[recall->keys[k].number] < 0) return; /* not all act */
  const host_contact *point = &items[recall->keys[first].number].point;
  int second = point->body[second_side(a, point)];
  pair_guess pair;
  pair_guess_begin(&pair);
  for (int e = matches[first].run; e < matches[first].run_end; e++)
    pair_guess_add_old(&pair, &recall->memory->entries[e],
                       a->bodies[second].rotation);
  for (int k = first; k >= 0; k = matches[k].next) {
    int number = recall->keys[k].number;
    point = &items[number].point;
    pair_guess_take(&pair, point, &a->contact_rows[number],
                    second_side(a, point), c->guess);
  }
  if (!pair_guess_balance(&pair)) return;
  for (int k = first; k >= 0; k = matches[k].next) {
    int number = recall->keys[k].number;
    point = &items[number].point;
    pair_guess_move(&pair, point, &a->contact_rows[number],
                    second_side(a, point), c->guess);
  }
}

static void balance_pairs(const assembly *a, component_problem *c) {
  const recall *recall = a->request.recall;
  if (recall == NULL || a->request.guess != NULL) return;
  for (int i = c->of->first_item; i >= 0; i = a->items[i].next) {
    if (a->items[i].kind != ITEM_CONTACT) continue;
    int key = recall->contact_key[a->items[i].index];
    if (key >= 0 && recall->matches[key].first == key &&
        recall->matches[key].run < recall->matches[key].run_end &&
        !is_pair_unchanged(recall, key))
      balance_pair(a, c, key);
  }
}

/* --- rows ------------------------------------------------------------------- */

/* A row of the velocity level becomes one of the scheme's unknown (eq. 20). A
 * stiff spring is one of the velocity at the end: between the ends it would throw
 * its bodies to and fro. */
static void weigh_rows(const assembly *a, component_problem *c, int first) {
  const assembly_request *request = &a->request;
  if (request->scale == 1 && request->carry == 0 && !request->mean) return;
  for (int r = first; r < c->set.n_rows; r++) {
    mlcp_row *row = &c->set.rows[r];
    double scale = request->scale, carry = request->carry;
    if (c->set.corrections[r].stiff && request->mean) {
      scale = 0.5;
      carry = -0.5;
    } else if (c->set.corrections[r].stiff) {
      carry = carry == 0 ? 1 - scale : 0; /* x is v + v+, or v+ */
      scale = 1;
    }
    row->bias *= scale;
    row->compliance *= scale;
    if (carry == 0) continue;
    for (int side = 0; side < 2; side++) {
      if (row->body[side] < 0) continue;
      int b = a->body_at[c->of->first_body + row->body[side]];
      for (int i = 0; i < 6; i++)
        row->bias += carry * row->J[side][i] * request->v[6 * b + i];
    }
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
                  ? SWINGS * old->impulses[i] * time_scale(a, old)
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
  guess_joint(c->guess + first, c->set.n_rows - first, old_joint(a, j));
}

/* The normal row alone, w = J x + bias >= 0; or = 0, of what is to stay closed. */
static void add_gap_row(const assembly *a, component_problem *c, int k,
                        double bias, bool closed) {
  double J[2][6];
  world_contact_jacobian(a->contacts, k, J);
  bool stop = a->contacts->items[k].stop >= 0;
  mlcp_row *row = row_set_add(
      &c->set, &c->frame, stop ? MLCP_ROW_JOINT : MLCP_ROW_NORMAL,
      a->contacts->items[k].point.body, J, bias,
      fmin(a->request.world->cfm, HOST_DEFAULT_CFM) / c->frame.step_size);
  if (!closed) row->low = 0;
  a->contact_rows[k] =
      (contact_rows){.first_row = c->set.n_rows - 1, .n_rows = 1};
}

/* Rounding decides which of the contacts that are pushed out to depth 0 the next
 * step is told of; a structure that loses some falls by as much as gravity does in a
 * step. A hundred times what an accepted residual moves a body is deep enough, and
 * far below what is seen. Contacts that are found before they touch need none, and a
 * program with a surface layer has chosen its own. */
static double rest_depth_of(const assembly_request *request,
                            const world_contact *contact) {
  const world_snapshot *world = request->world;
  if (request->level != JOINT_LEVEL_POSITION || request->erp_for_all ||
      contact->found >= 0 || world->settings.margin > 0 ||
      world->surface_layer != 0)
    return 0;
  return hair_rest_depth(
      world->gravity * request->step_size * request->step_size,
      contact->point.position);
}

static contact_settings settings_of(const assembly *a) {
  const assembly_request *request = &a->request;
  const world_snapshot *world = request->world;
  bool positions = request->level == JOINT_LEVEL_POSITION;
  return (contact_settings){.erp = positions ? request->erp : 0,
                            .cfm = world->cfm,
                            .surface_layer = world->surface_layer,
                            .max_velocity = world->max_velocity,
                            .spring_erp = world->erp,
                            .edges = request->options->edges,
                            .slip_floor = request->slip_floor,
                            .gives_back = positions,
                            .erp_for_all = request->erp_for_all,
                            .closed = !positions,
                            .at_once = request->level == JOINT_LEVEL_IMPACT};
}

/* True if a soft contact has the ERP that makes a spring of its CFM: not where
 * the step is to correct nothing. A row of CFM alone would creep for ever. */
static bool has_spring(const assembly *a, const host_contact *point) {
  return !isnan(point->surface.erp) || a->request.world->settings.erp != 0;
}

static void add_contact(assembly *a, component_problem *c, int k) {
  static const double no_hint[3] = {0, 0, 0};
  const assembly_request *request = &a->request;
  const host_contact *point = &a->contacts->items[k].point;
  host_contact rigid;
  contact_rows *rows = &a->contact_rows[k];
  const contact_entry *old = old_contact(a, k);
  int first = c->set.n_rows;
  contact_settings settings = settings_of(a);
  settings.rest_depth = rest_depth_of(request, &a->contacts->items[k]);
  settings.rounding = hair_rounding(point->position);
  const double *slip =
      request->slips != NULL ? request->slips + 3 * k : no_hint;
  if (vec3_dot(slip, slip) > 0) settings.slip = slip;
  if (request->pressed != NULL) settings.pressed = request->pressed[k];
  if (request->level == JOINT_LEVEL_POSITION &&
      contact_waits(&c->frame, &settings, point))
    return;
  a->contact_row[k] = c->first_row + first;
  a->overlaps[k] = is_overlap(a, c, k);
  c->overlap |= a->overlaps[k];
  bool gives = point->soft || request->world->cfm > HOST_DEFAULT_CFM;
  if ((point->soft && a->overlaps[k]) || (gives && !has_spring(a, point))) {
    rigid = *point;
    rigid.soft = rigid.stiff = false;
    rigid.surface.cfm = fmin(request->world->cfm, HOST_DEFAULT_CFM);
    point = &rigid;
  }
  if (request->level == JOINT_LEVEL_MOVE) {
    bool closed = a->contacts->items[k].held;
    double overlap = point->gap + request->world->surface_layer;
    if (!closed) overlap = fmin(overlap, 0);
    add_gap_row(a, c, k, request->erp * overlap / request->step_size, closed);
  } else {
    if (old != NULL && old->n_rows > 0)
      settings.carried = SWINGS * old->impulses[0] * time_scale(a, old);
    else if (settings.cfm > HOST_DEFAULT_CFM || !isnan(point->surface.cfm))
      settings.carried = SWINGS * load_of(a, c);
    contact_rows_add(&c->set, &c->frame, &settings, point,
                     old != NULL ? old->slip : no_hint, rows);
  }
  if (request->guess != NULL)
    memcpy(c->guess + first, request->guess + 6 * k,
           (size_t)rows->n_rows * sizeof *c->guess);
  else
    guess_contact(c->guess + first, rows, old,
                  second_side(a, point) == 0 ? 1 : -1);
  if (request->known != NULL && old != NULL)
    for (int i = first; i < c->set.n_rows; i++)
      c->guess[i] *= request->step_size / old->seconds;
}

static void add_stop(assembly *a, component_problem *c, int k,
                     double free_rate) {
  const world_contact *contact = &a->contacts->items[k];
  int first = c->set.n_rows;
  a->contact_row[k] = c->first_row + first;
  c->guess[first] = NAN;
  if (a->request.level == JOINT_LEVEL_POSITION) {
    joint_stop_add(&c->set, &c->frame, &a->contacts->stops[contact->stop],
                   contact->point.gap, free_rate, contact->point.body);
    a->contact_rows[k] = (contact_rows){.first_row = first, .n_rows = 1};
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
  a->extra_row[k] = c->first_row + c->set.n_rows;
  c->guess[c->set.n_rows] = NAN;
  row_set_add(&c->set, &c->frame, MLCP_ROW_JOINT, extra->body, extra->J,
              extra->bias, extra->compliance);
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
  for (int i = of->first_item; i >= 0; i = a->items[i].next) {
    if (a->items[i].kind != ITEM_JOINT) continue;
    const world_joint *joint = &world->joints[a->items[i].index];
    correction = fmax(
        correction,
        joint_rows_correction(&world->joint_rows[joint->rows], world->cfm,
                              a->request.step_size,
                              carried_by_joint(a, a->items[i].index, room)));
  }
  return correction > most ? 1 - most / correction : 0;
}

/* The rate of a stop's gap by the component's solution. */
static double rate_of_stop(const assembly *a, const component_problem *c,
                           int k) {
  const host_contact *point = &a->contacts->items[k].point;
  const host_stop *stop = &a->contacts->stops[a->contacts->items[k].stop];
  double rate = 0;
  for (int side = 0; side < 2; side++) {
    int b = point->body[side];
    if (b < 0) continue;
    const double *v = a->problem_body[b] < 0
                          ? a->request.v + 6 * b
                          : c->solution.v + 6 * a->problem_body[b];
    for (int i = 0; i < 6; i++) rate += stop->J[side][i] * v[i];
  }
  return rate;
}

/* True if a stop takes part: one that the component's solution overshoots, or
 * before there is one, what is near. One that bounces waits for a solution: how
 * fast it is hit is not known before. */
static bool takes_stop(const assembly *a, int k, bool solved, double rate) {
  const double ROUNDING = 1e-12;
  const world_contact *contact = &a->contacts->items[k];
  bool waits = a->request.adds_stops &&
               a->request.level == JOINT_LEVEL_POSITION &&
               contact->point.surface.bounces;
  if (!solved) return contact->active && !waits;
  double gap = contact->point.gap;
  return gap + a->request.step_size * rate < -ROUNDING * (1 + gap);
}

/* Add the rows of stops that are still left out: those active, or with a
 * solution those that it overshoots. @return how many. */
static int add_stops(assembly *a, component_problem *c, bool solved) {
  int first = c->set.n_rows;
  for (int i = c->of->first_item; i >= 0; i = a->items[i].next) {
    int k = a->items[i].index;
    if (a->items[i].kind != ITEM_STOP || a->contact_row[k] >= 0) continue;
    double rate = solved ? rate_of_stop(a, c, k) : NAN;
    if (!takes_stop(a, k, solved, rate)) continue;
    int row = c->set.n_rows;
    add_stop(a, c, k, rate);
    weigh_rows(a, c, row);
  }
  c->problem.n_rows = c->set.n_rows;
  return c->set.n_rows - first;
}

static bool build(assembly *a, component_problem *c) {
  const component *of = c->of;
  c->set = (row_set){.rows = a->rows + c->first_row,
                     .corrections = a->corrections + c->first_row,
                     .frictions = a->frictions + c->first_friction,
                     .pairs = a->pairs + c->first_pair};
  c->guess = a->guess + c->first_row;
  c->solution =
      (mlcp_solution){.v = a->solution.v + 6 * of->first_body,
                      .p = a->solution.p + c->first_row,
                      .beta = a->solution.beta + 2 * c->first_pair,
                      .lambda = a->solution.lambda + c->first_friction};
  c->overlap = false;
  c->load = NAN;
  if (a->request.level == JOINT_LEVEL_POSITION)
    c->frame.joint_excess = find_joint_excess(a, of);
  mlcp_body *bodies = a->problem_bodies + of->first_body;
  for (int i = 0; i < of->n_bodies; i++) {
    int b = a->body_at[of->first_body + i];
    if (!fill_body(a, &bodies[i], b))
      return outcome_fail(c->out, "body %lu has no finite inverse of its mass",
                          a->bodies[b].serial);
  }
  for (int i = of->first_item; i >= 0; i = a->items[i].next) {
    const item *item = &a->items[i];
    int first = c->set.n_rows;
    if (item->kind == ITEM_JOINT) add_joint(a, c, item->index);
    if (item->kind == ITEM_CONTACT) add_contact(a, c, item->index);
    if (item->kind == ITEM_EXTRA) add_extra(a, c, item->index);
    if (item->kind != ITEM_EXTRA) weigh_rows(a, c, first);
  }
  balance_pairs(a, c);
  c->problem =
      (mlcp_problem){.n_bodies = of->n_bodies,
                     .n_frictions = c->set.n_frictions,
                     .n_pairs = c->set.n_pairs,
                     .bodies = bodies,
                     .rows = c->set.rows,
                     .frictions = c->set.frictions,
                     .pairs = c->set.pairs,
                     .velocity_floor = fmax(1e3 * a->request.slip_floor, 1e-9)};
  add_stops(a, c, false);
  double softness = a->request.options->softness;
  if (softness > 0) mlcp_soften_contacts(&c->problem, softness, c->set.rows);
  return true;
}

/* --- solving ---------------------------------------------------------------- */

/* For observers: where the joints' rows are. */
static void find_first_rows(const assembly *a, const component_problem *c,
                            bool set) {
  const world_snapshot *world = a->request.world;
  for (int i = c->of->first_item; i >= 0; i = a->items[i].next) {
    const item *item = &a->items[i];
    int row = -1, joint = item->index;
    if (item->kind == ITEM_EXTRA || item->kind == ITEM_STOP) continue;
    if (item->kind == ITEM_CONTACT) {
      joint = a->contacts->items[item->index].joint;
      row = a->contact_row[item->index];
    } else {
      for (int r = 5; r >= 0; r--)
        if (a->joint_row[world->joints[joint].rows][r] >= 0)
          row = a->joint_row[world->joints[joint].rows][r];
    }
    if (joint >= 0)
      a->first_row[joint] = set && row >= 0 ? row - c->first_row : -1;
  }
}

static void show(const assembly *a, const component_problem *c,
                 const solved_component *solved) {
  if (a->request.observer == NULL) return;
  if (!solved->moves_only) find_first_rows(a, c, true);
  a->request.observer(a->request.observer_context, solved);
  if (!solved->moves_only) find_first_rows(a, c, false);
}

/* Solve the component's own problem, or a projection's. */
static solver_report solve_once(assembly *a, component_problem *c,
                                const mlcp_problem *problem, bool moves_only,
                                const mlcp_solution *solution) {
  const ode_mlcp_options *given = a->request.options;
  const double *guess = moves_only || !given->warm_start ? NULL : c->guess;
  solver_options options;
  solver_default_options(&options);
  options.kind =
      given->solver == ODE_MLCP_SOLVER_LEMKE ? SOLVER_LEMKE : SOLVER_FAST;
  options.tolerance = given->tolerance;
  options.acceptable = larger_of(given->accept, given->tolerance);
  options.budget = c->budget;
  options.smooth = a->request.smooth;
  /* contacts by the hundred that lock: minutes of pivots for one step, and no
   * nearer to a solution than what is tried before */
  const int MOST_OVERLAPPED = 1000;
  if (c->overlap && options.max_lemke_size > MOST_OVERLAPPED)
    options.max_lemke_size = MOST_OVERLAPPED;

  progress_tick();
  double start = seconds_now();
  bool convex =
      given->friction == ODE_MLCP_FRICTION_CONVEX && problem->n_frictions > 0;
  solver_report report =
      convex ? solver_solve_convex(a->solver, &a->convex, a->source, problem,
                                   &options, solution)
             : solver_solve(a->solver, problem, &options, guess, solution);
  double seconds = seconds_now() - start;
  c->out->report.solver_seconds += seconds;
  show(a, c,
       &(solved_component){.world = a->request.world->settings.world,
                           .host_island = a->request.host_island,
                           .island = a->request.host_island != NULL
                                         ? a->request.host_island->index
                                         : 0,
                           .component = c->out->report.solves,
                           .solve = c->out->n_observed++,
                           .moves_only = moves_only,
                           .problem = problem,
                           .first_row = moves_only ? NULL : a->first_row,
                           .guess = guess,
                           .solution = solution,
                           .report = &report,
                           .seconds = seconds,
                           .tolerance = options.tolerance});
  return report;
}

/* The stage that gave the answer. */
static void count_stage(ode_mlcp_report *report, solver_stage stage) {
  switch (stage) {
    case SOLVER_STAGE_NONE:
    case SOLVER_N_STAGES: break;
    case SOLVER_STAGE_WARM: report->ended_warm++; break;
    case SOLVER_STAGE_CONTINUATION: report->ended_continuation++; break;
    case SOLVER_STAGE_INTERIOR: report->ended_interior++; break;
    case SOLVER_STAGE_LEMKE: report->ended_pivots++; break;
    case SOLVER_STAGE_RELAXED:
    case SOLVER_STAGE_CONVEX: report->ended_detour++; break;
  }
}

static void count_solve(ode_mlcp_report *report, const solver_report *solve) {
  count_stage(report, solve->stage);
  const double UNSOLVED = 1e-6;
  report->accepted += solve->status == SOLVER_ACCEPTED;
  report->degraded += solve->status == SOLVER_DEGRADED;
  report->unsolved +=
      solve->status == SOLVER_DEGRADED && !(solve->residual <= UNSOLVED);
  report->pivots += solve->pivots;
  report->factorisations += solve->factorisations;
  report->iterations += solve->iterations;
  report->infeasible += solve->infeasible;
  report->residual = fmax(report->residual, solve->residual);
  report->solver_work = fmax(report->solver_work, solve->work);
}

/* True if one of the component's rows from `first` on, over all components, has a
 * weight in what contradicts. @return how many have */
static int count_weights(const component_problem *c, const double weights[],
                         int first, int n_rows) {
  int count = 0;
  for (int r = first - c->first_row; r < first - c->first_row + n_rows; r++)
    count += weights[r] != 0;
  return count;
}

static void add_contradiction(const assembly *a, component_problem *c,
                              const int body[2], const double position[3],
                              dJointID joint) {
  ode_mlcp_jam jam = {.joint = joint};
  for (int side = 0; side < 2; side++)
    if (body[side] >= 0)
      jam.body[side] = a->request.world->bodies[body[side]].id;
  for (int i = 0; i < 3 && position != NULL; i++) jam.position[i] = position[i];
  outcome_add_contradiction(c->out, &jam);
}

/* Joints, stops and contacts whose rows were proved to contradict each other. */
static void tell_contradiction(assembly *a, component_problem *c,
                               const double weights[]) {
  const world_snapshot *world = a->request.world;
  ode_mlcp_report *report = &c->out->report;
  for (int i = c->of->first_item; i >= 0; i = a->items[i].next) {
    const item *item = &a->items[i];
    int k = item->index;
    if (item->kind == ITEM_JOINT) {
      const world_joint *joint = &world->joints[k];
      int count = 0;
      for (int r = 0; r < 6; r++)
        if (a->joint_row[joint->rows][r] >= 0)
          count += count_weights(c, weights, a->joint_row[joint->rows][r], 1);
      report->infeasible_joint_rows += count;
      if (count > 0) add_contradiction(a, c, joint->body, NULL, joint->id);
    } else if (item->kind != ITEM_EXTRA && a->contact_row[k] >= 0) {
      const world_contact *contact = &a->contacts->items[k];
      int n_rows = a->contact_rows[k].n_rows;
      if (count_weights(c, weights, a->contact_row[k], n_rows) == 0) continue;
      bool stop = item->kind == ITEM_STOP;
      if (stop)
        report->infeasible_joint_rows++;
      else
        report->infeasible_contacts++;
      add_contradiction(
          a, c, contact->point.body, stop ? NULL : contact->point.position,
          contact->joint >= 0 ? world->joints[contact->joint].id : NULL);
    }
  }
}

static double kinetic_energy(const mlcp_body *body, const double v[6]) {
  double energy = 0;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      energy += 0.5 * v[i] * body->mass[6 * i + j] * v[j];
  return energy;
}

/* Leave all position errors, or all bounces, out of the targets: the projection
 * has what the errors ask for. @return whether that changed anything. */
static bool leave_out(component_problem *c, bool bounces) {
  bool changed = false;
  for (int r = 0; r < c->set.n_rows; r++) {
    mlcp_row *row = &c->set.rows[r];
    row_correction *correction = &c->set.corrections[r];
    double *left_out = bounces ? &correction->bounce : &correction->velocity;
    if (row->kind == MLCP_ROW_FRICTION || *left_out == 0) continue;
    row->bias += *left_out;
    correction->excess += *left_out;
    *left_out = 0;
    changed = true;
  }
  return changed;
}

/* True if the corrections gave the component more kinetic energy than
 * max_correction for all its bodies is: rows that nearly lock turn small
 * corrections into high velocities. */
static bool corrections_pop(const assembly *a, const component_problem *c) {
  const mlcp_problem *problem = &c->problem;
  double most = a->request.options->max_correction, work = 0, mass = 0;
  for (int r = 0; r < problem->n_rows; r++)
    if (problem->rows[r].kind != MLCP_ROW_FRICTION)
      work += larger_of(c->solution.p[r] * c->set.corrections[r].velocity, 0);
  for (int b = 0; b < problem->n_bodies; b++)
    mass += problem->bodies[b].mass[0];
  if (!(0.5 * work > 0.5 * mass * most * most)) return false;

  double gained = 0;
  for (int b = 0; b < problem->n_bodies; b++)
    gained += kinetic_energy(&problem->bodies[b], c->solution.v + 6 * b) -
              kinetic_energy(&problem->bodies[b], problem->bodies[b].v_free);
  return gained > 0.5 * mass * most * most;
}

static void add_solve(solver_report *sum, const solver_report *solve) {
  long pivots = sum->pivots, factorisations = sum->factorisations;
  long iterations = sum->iterations;
  double work = sum->work;
  *sum = *solve;
  sum->pivots += pivots;
  sum->factorisations += factorisations;
  sum->iterations += iterations;
  sum->work += work;
}

/* A residual within what position errors ask for. */
static const double NEAR = 1e-6;

/* True if a change of the problem may help: the budget did not just end near an
 * answer. */
static bool has_no_answer(const solver_report *solve) {
  return solve->status == SOLVER_DEGRADED &&
         !(solve->stopped && solve->residual <= NEAR);
}

static double budget_of(const assembly *a) {
  double share = a->request.budget_share;
  return a->request.options->budget * (share > 0 ? share : 1);
}

/* Change a problem that has no answer. A bounce is given up only where the answer
 * that has it is far off: one that misses the tolerance by rounding is better
 * than an exact one of another problem. @return whether that changed anything. */
static bool ask_less(component_problem *c, const solver_report *solve) {
  return leave_out(c, false) || (solve->residual > NEAR && leave_out(c, true));
}

static bool solve(assembly *a, component_problem *c) {
  ode_mlcp_report *report = &c->out->report;
  /* a projection is needed anyway, and the velocities always have a solution */
  if (c->overlap) a->n_fallbacks += leave_out(c, false);
  c->budget = budget_of(a);
  solver_report solve = solve_once(a, c, &c->problem, false, &c->solution);
  c->budget *= 0.5; // what is tried instead of it has to be cheaper
  /* bodies locked by friction may have no velocities that undo their errors, or
   * bounce, but there are always some that do not deepen them */
  while ((has_no_answer(&solve) && ask_less(c, &solve)) ||
         (solver_succeeded(solve.status) && corrections_pop(a, c) &&
          leave_out(c, false))) {
    solver_report again = solve_once(a, c, &c->problem, false, &c->solution);
    a->n_fallbacks += solve.status == SOLVER_DEGRADED;
    add_solve(&solve, &again);
  }

  const mlcp_problem *problem = &c->problem;
  if (solve.status == SOLVER_NO_MEMORY)
    return outcome_fail(c->out,
                        "memory ran out for an island of %d bodies and %d rows",
                        problem->n_bodies, problem->n_rows);
  if (solve.status == SOLVER_TOO_LARGE) {
    c->out->refused = true;
    return outcome_fail(
        c->out, "an island of %d bodies and %d rows is too large to solve",
        problem->n_bodies, problem->n_rows);
  }
  /* what cannot be verified is none */
  if (!all_finite(c->solution.v, 6 * problem->n_bodies) ||
      !all_finite(c->solution.p, problem->n_rows) || !isfinite(solve.residual))
    return outcome_fail(
        c->out, "an island of %d bodies and %d rows has no finite solution",
        problem->n_bodies, problem->n_rows);
  report->solves++;
  a->n_stopped += solve.stopped;
  count_solve(report, &solve);
  double softness = a->request.options->softness;
  if (softness > 0)
    report->given_way =
        fmax(report->given_way,
             a->request.step_size *
                 mlcp_softened_speed(problem, softness, c->solution.p));
  if (solve.infeasible) tell_contradiction(a, c, solve.contradiction);
  return true;
}

/* Solve, and again with the stops that the solution would overshoot: each round
 * adds one at least. */
static bool solve_with_stops(assembly *a, component_problem *c) {
  for (;;) {
    if (!solve(a, c)) return false;
    int n_rows = c->problem.n_rows;
    if (!a->request.adds_stops || add_stops(a, c, true) == 0) return true;
    memcpy(c->guess, c->solution.p, (size_t)n_rows * sizeof *c->guess);
  }
}

/* Locked rows in place of impulses. */
static bool check_locked(assembly *a, component_problem *c) {
  cone_check *cone = a->request.cone;
  if (!cone_check_run(cone, a->solver, a->source, &c->problem))
    return outcome_no_memory(c->out);
  for (int r = 0; r < c->problem.n_rows; r++)
    c->solution.p[r] = cone->locked[r];
  memset(c->solution.v, 0,
         6 * (size_t)c->problem.n_bodies * sizeof *c->solution.v);
  return true;
}

static bool count_locked(assembly *a, component_problem *c) {
  if (!cone_check_run(&a->cone, a->solver, a->source, &c->problem))
    return outcome_no_memory(c->out);
  c->out->report.jammed_contacts += a->cone.n_contacts;
  c->out->report.jammed_joint_rows += a->cone.n_joint_rows;
  return true;
}

/* The position errors of a component, with its projection u or, NULL, without:
 * joints' as the host's own rows say where the bodies would be. */
static bool measure_errors(assembly *a, component_problem *c,
                           const position_projection *projection,
                           const double u[], double *errors) {
  const assembly_request *request = &a->request;
  *errors = 0;
  for (int i = 0; i < c->of->n_bodies; i++)
    for (int k = 0; k < 6; k++)
      a->moved[6 * a->body_at[c->of->first_body + i] + k] =
          c->solution.v[6 * i + k] + (u != NULL ? u[6 * i + k] : 0);
  if (request->measure != NULL &&
      !request->measure(request->measure_context, a->moved, a->component_of,
                        c->index, errors, c->out))
    return false;
  *errors += position_projection_errors(projection, u, request->step_size);
  return true;
}

/* The work that a move does against the forces of flight on a component. */
static double work_of_move(const assembly *a, const component_problem *c,
                           const double u[]) {
  double work = 0;
  for (int i = 0; i < c->of->n_bodies; i++) {
    int b = a->body_at[c->of->first_body + i];
    for (int k = 0; k < 3; k++)
      work -= a->bodies[b].mass * u[6 * i + k] *
              (a->request.x_free[6 * b + k] - a->request.v[6 * b + k]);
  }
  return work;
}

/* Move the component's bodies by what their velocities do not correct, where that
 * makes the errors smaller: rows hold for small turns only. Joints give way until it
 * does without a large turn. Errors that nothing makes smaller stay and are counted. */
static bool project(assembly *a, component_problem *c) {
  static const double SHARES[] = {0, 1e-3, 0.1, 1, 10, 100};
  const int N_SHARES = sizeof SHARES / sizeof SHARES[0];
  position_projection projection;
  double before, after;
  switch (position_projection_build(&projection, &a->arena, &c->problem,
                                    &c->solution, c->set.corrections)) {
    case PROJECTION_NONE: return true;
    case PROJECTION_NO_MEMORY: return outcome_no_memory(c->out);
    case PROJECTION_BUILT: break;
  }
  if (!measure_errors(a, c, &projection, NULL, &before)) return false;
  for (int k = 1;; k++) {
    c->budget = budget_of(a);
    solver_report solve =
        solve_once(a, c, &projection.problem, true, &projection.solution);
    if (solve.status == SOLVER_NO_MEMORY) return outcome_no_memory(c->out);
    /* one that is left out leaves all that it was to undo */
    if (!isfinite(solve.residual)) solve.residual = 1;
    count_solve(&c->out->report, &solve);
    c->out->report.pushes++;
    const double *u = projection.solution.v;
    if (!solver_succeeded(solve.status) ||
        !all_finite(u, 6 * c->problem.n_bodies))
      break;
    bool torn = position_projection_limit(&projection, a->request.step_size);
    if (!measure_errors(a, c, &projection, u, &after)) return false;
    if ((torn || !(after < before)) && k < N_SHARES &&
        position_projection_soften(&projection, SHARES[k]))
      continue;
    if (!(after < before)) break;
    for (int i = 0; i < c->of->n_bodies; i++)
      memcpy(a->projected + 6 * a->body_at[c->of->first_body + i], u + 6 * i,
             6 * sizeof *a->projected);
    c->out->report.correction_work += work_of_move(a, c, u);
    return true;
  }
  c->out->report.corrections_left++;
  return true;
}

/* The work of the rows' corrections: what they ask for times their impulse. */
static void count_work(component_problem *c) {
  for (int r = 0; r < c->set.n_rows; r++)
    if (c->set.rows[r].kind != MLCP_ROW_FRICTION)
      c->out->report.correction_work +=
          c->set.corrections[r].velocity * c->solution.p[r];
}

static void keep_velocities(assembly *a, const component_problem *c) {
  for (int i = 0; i < c->of->n_bodies; i++)
    memcpy(a->x + 6 * a->body_at[c->of->first_body + i], c->solution.v + 6 * i,
           6 * sizeof *a->x);
}

/* The sliding velocity that friction rows would have with no impulse. */
static const double *free_slip_velocities(assembly *a) {
  const assembly_request *request = &a->request;
  if (request->scale == 1 && request->carry == 0) return request->x_free;
  for (int b = 0; b < request->world->n_bodies; b++) {
    bool moves = is_dynamic(a, b);
    for (int i = 6 * b; i < 6 * b + 6; i++)
      a->v_free[i] =
          moves ? (request->x_free[i] + request->carry * request->v[i]) /
                      request->scale
                : request->v[i];
  }
  return a->v_free;
}

bool assembly_solve(assembly *a, const assembly_request *request,
                    outcome *out) {
  a->request = *request;
  a->contacts =
      request->contacts != NULL ? request->contacts : &request->world->contacts;
  a->bodies =
      request->bodies != NULL ? request->bodies : request->world->bodies;
  if (!reserve_items(a)) return outcome_no_memory(out);
  list_items(a);
  find_components(a);
  chain_items(a);
  if (!few_enough(a, out)) return false;
  if (!reserve_problems(a)) return outcome_no_memory(out);
  clear_answer(a);

  component_problem c = {
      .out = out,
      .frame = {.v = request->v,
                .v_free = free_slip_velocities(a),
                .problem_body = a->problem_body,
                .polygons = a->contacts->polygons,
                .step_size = request->step_size,
                .max_correction = request->level == JOINT_LEVEL_POSITION
                                      ? request->options->max_correction
                                      : INFINITY}};
  for (c.index = 0; c.index < a->n_components; c.index++) {
    c.of = &a->components[c.index];
    if (c.of->first_item < 0) continue;
    if (!build(a, &c)) return false;
    if (!(request->cone != NULL ? check_locked(a, &c)
                                : solve_with_stops(a, &c)))
      return false;
    out->report.rows += c.problem.n_rows;
    if (request->options->check_cone && request->counts_cone &&
        !count_locked(a, &c))
      return false;
    if (request->projects) {
      count_work(&c);
      if (!project(a, &c)) return false;
    }
    keep_velocities(a, &c);
    c.first_row += c.set.n_rows;
    c.first_friction += c.set.n_frictions;
    c.first_pair += c.set.n_pairs;
  }
  return true;
}

/* --- the answer --------------------------------------------------------------- */

const double *assembly_x(const assembly *a) { return a->x; }

int assembly_fallbacks(const assembly *a) { return a->n_fallbacks; }

int assembly_stopped(const assembly *a) { return a->n_stopped; }

const double *assembly_projection(const assembly *a, int body) {
  const double *projected = a->projected + 6 * body;
  return isnan(projected[0]) ? NULL : projected;
}

const contact_rows *assembly_contact_rows(const assembly *a, int k) {
  return &a->contact_rows[k];
}

const double *assembly_contact_impulses(const assembly *a, int k) {
  return a->contact_row[k] >= 0 ? a->solution.p + a->contact_row[k] : NULL;
}

double assembly_normal_impulse(const assembly *a, int k) {
  return a->contact_row[k] >= 0 ? a->solution.p[a->contact_row[k]] : 0;
}

void assembly_add_normal_impulse(assembly *a, int k, double impulse) {
  if (a->contact_row[k] >= 0) a->solution.p[a->contact_row[k]] += impulse;
}

double assembly_contact_w(const assembly *a, int k) {
  if (a->contact_row[k] < 0) return NAN;
  const mlcp_row *row = &a->rows[a->contact_row[k]];
  const int *body = a->contacts->items[k].point.body;
  double w = row->compliance * a->solution.p[a->contact_row[k]] + row->bias;
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < 6 && row->body[side] >= 0; i++)
      w += row->J[side][i] * a->x[6 * body[side] + i];
  return w;
}

double assembly_joint_impulse(const assembly *a, int joint, unsigned i) {
  int rows = a->request.world->joints[joint].rows;
  int row = rows >= 0 ? a->joint_row[rows][i] : -1;
  return row >= 0 ? a->solution.p[row] : 0;
}

/* The wrench of a contact on its second body, from that on the first: the
 * opposite wrench about the contact point. */
static void mirror_force(double force[2][6], const host_contact *point,
                         int from) {
  double about_point[3], turn[3];
  const double *given = force[from];
  double *mirrored = force[1 - from];
  vec3_cross(turn, point->arm[from], given);
  vec3_subtract(about_point, given + 3, turn);

  vec3_negate(mirrored, given);
  vec3_cross(mirrored + 3, point->arm[1 - from], mirrored);
  vec3_subtract(mirrored + 3, mirrored + 3, about_point);
}

/* Wrenches of a contact or stop on its bodies, those that do not move included. */
static void contact_force(const assembly *a, int k, double seconds,
                          double force[2][6]) {
  const world_contact *contact = &a->contacts->items[k];
  int first = a->contact_row[k];
  memset(force, 0, 12 * sizeof(double));
  if (contact->stop >= 0) {
    double pushed = a->solution.p[first] / seconds;
    const host_stop *stop = &a->contacts->stops[contact->stop];
    for (int i = 0; i < 12; i++)
      force[i / 6][i % 6] += pushed * stop->J[i / 6][i % 6];
    return;
  }
  two sum[6] = {0};
  for (int r = first; r < first + a->contact_rows[k].n_rows; r++) {
    double pushed = a->solution.p[r] / seconds;
    const double *J = a->rows[r].J[0]; /* both sides', one after the other */
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) sum[i] += pushed * *(const two *)(J + 2 * i);
  }
  memcpy(force, sum, sizeof sum);
  for (int side = 0; side < 2; side++)
    if (a->rows[first].body[side] < 0)
      mirror_force(force, &contact->point, 1 - side);
}

void assembly_add_contact(const assembly *a, int k, double seconds,
                          joint_result *result) {
  int first = a->contact_row[k];
  bool alone = result->count == 0;
  if (first < 0) return;
  if (a->contacts->items[k].stop < 0) {
    unsigned count = (unsigned)a->contact_rows[k].n_rows;
    if (result->count < count) result->count = count;
    for (unsigned i = 0; i < count; i++)
      result->lambda[i] += a->solution.p[first + (int)i] / seconds;
  }
  if (result->forceless) return;
  double force[2][6];
  contact_force(a, k, seconds, force);
  /* a sum with 0 would lose a zero's sign */
  if (alone) memcpy(result->force, force, sizeof force);
  for (int i = 0; i < 12 && !alone; i++)
    result->force[i / 6][i % 6] += force[i / 6][i % 6];
}

static void add_joint_forces(const assembly *a, int joint, double seconds,
                             joint_result *result) {
  const world_snapshot *world = a->request.world;
  int rows = world->joints[joint].rows;
  if (rows < 0) return;
  const host_rows *host = &world->joint_rows[rows].rows;
  if (result->count < host->count) result->count = host->count;
  for (unsigned r = 0; r < host->count; r++) {
    if (a->joint_row[rows][r] < 0) continue;
    double pushed = a->solution.p[a->joint_row[rows][r]] / seconds;
    result->lambda[r] += pushed;
    for (int i = 0; i < 12 && !result->forceless; i++)
      result->force[i / 6][i % 6] += pushed * host->J[r][i / 6][i % 6];
  }
}

void assembly_add_forces(const assembly *a, double seconds,
                         joint_result results[]) {
  for (int j = 0; j < a->request.world->n_joints; j++)
    add_joint_forces(a, j, seconds, &results[j]);
  for (int k = 0; k < a->contacts->n; k++)
    if (a->contacts->items[k].joint >= 0)
      assembly_add_contact(a, k, seconds,
                           &results[a->contacts->items[k].joint]);
}

/* --- what the next step starts from ------------------------------------------ */

static void remember_joint(const assembly *a, int j, contact_entry *entry) {
  const int *row = a->joint_row[a->request.world->joints[j].rows];
  entry->seconds = a->request.step_size;
  for (int r = 0; r < 6 && row[r] >= 0; r++)
    entry->impulses[entry->n_rows++] = a->solution.p[row[r]];
}

void assembly_remember_contact(const assembly *a, int k, contact_entry *entry) {
  if (a->contact_row[k] < 0) return;
  const contact_rows *rows = &a->contact_rows[k];
  const double *p = a->solution.p + a->contact_row[k];
  const world_contact *contact = &a->contacts->items[k];
  double sign = second_side(a, &contact->point) == 0 ? 1 : -1;
  entry->seconds = a->request.step_size;
  entry->n_rows = rows->n_rows;
  entry->impulses[0] = p[0];
  for (int i = 0; i < rows->n_sliding; i++)
    vec3_add_scaled(entry->sliding, sign * p[1 + i], rows->sliding_axis[i]);
  for (int i = 1 + rows->n_sliding; i < rows->n_rows; i++)
    entry->impulses[i - rows->n_sliding] = p[i];
  vec3_copy(entry->slip, rows->slip);
  entry->overlap = a->overlaps[k];
}

int assembly_remember(const assembly *a, contact_entry entries[]) {
  const recall *recall = a->request.recall;
  int count = 0;
  for (int i = 0; i < recall->n_keys; i++) {
    const contact_entry *key = &recall->keys[i];
    bool contact = key->joint == 0 || key->stop != 0;
    if (contact && a->contact_row[key->number] < 0) continue;
    entries[count] = *key;
    if (contact)
      assembly_remember_contact(a, key->number, &entries[count++]);
    else
      remember_joint(a, key->number, &entries[count++]);
  }
  return count;
}
