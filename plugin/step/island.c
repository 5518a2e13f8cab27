#include "common/clock.h"
#include "step/island.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/minmax.h"
#include "common/vec3.h"
#include "solver/cone.h"
#include "solver/solver_convex.h"
#include "step/island_read.h"
#include "step/pair_guess.h"
#include "step/part_watch.h"
#include "step/push_out.h"

static const char NO_MEMORY[] = "memory ran out";

part_watcher *part_watch;
void *part_watch_context;

struct island_workspace {
  const memory_source *source;
  island_arrays arrays;
  solver_workspace *solver;
  memory_block bodies, rows, corrections, frictions, pairs, guess, first_row,
      contact_rows, matches;
  memory_block v, p, beta, lambda;
  push_out push;
  solver_convex convex;
  cone_check cone;
};

/* One part of the island on its way through the solver. */
typedef struct part_problem {
  mlcp_problem problem;
  mlcp_solution solution;
  row_set set;
  bool overlap; /* one of its contacts is too deep to be one */
  bool pushed; /* the workspace's push-out is this part's */
  double *guess;
  contact_rows *contacts; /* per contact reading of the island */
  int *first_row;         /* per joint of the island */
} part_problem;

/* What the functions below share while an island is solved. */
typedef struct island_context {
  island_workspace *workspace;
  island_arrays *arrays;
  const dStepperIsland *island;
  const ode_mlcp_options *options;
  const step_results *results;
  island_result *result;
  row_frame frame;
  contact_settings contact;
  double world_cfm;
  bool overlap; /* the problem at hand is of bodies that overlap */
} island_context;

island_workspace *island_workspace_create(const memory_source *source) {
  island_workspace *workspace = memory_allocate_zero(source, sizeof *workspace);
  if (workspace == NULL) return NULL;
  workspace->source = source;
  workspace->solver = solver_workspace_create(source);
  if (workspace->solver == NULL) {
    source->release(source->context, workspace, sizeof *workspace);
    return NULL;
  }
  return workspace;
}

void island_workspace_destroy(island_workspace *workspace) {
  if (workspace == NULL) return;
  const memory_source *source = workspace->source;
  memory_block *blocks[] = {
      &workspace->bodies, &workspace->rows,      &workspace->frictions,
      &workspace->pairs,  &workspace->guess,     &workspace->first_row,
      &workspace->v,      &workspace->p,         &workspace->beta,
      &workspace->lambda, &workspace->contact_rows, &workspace->corrections,
      &workspace->matches};
  memory_blocks_release(blocks, sizeof blocks / sizeof blocks[0], source);
  push_out_release(&workspace->push, source);
  island_arrays_release(&workspace->arrays, source);
  solver_convex_release(&workspace->convex, source);
  cone_check_release(&workspace->cone, source);
  solver_workspace_destroy(workspace->solver);
  source->release(source->context, workspace, sizeof *workspace);
}

/* --- warm starts ----------------------------------------------------------- */

static unsigned long serial_of(const island_context *c,
                               const island_joint *joint, int side) {
  int body = joint->body[side];
  return body >= 0 ? c->arrays->bodies[body].serial : 0;
}

/* Start the entry of a joint or contact with its key. */
static void fill_key(warm_entry *key, const island_context *c,
                     const island_joint *joint) {
  const host_body *bodies = c->arrays->bodies;
  bool swapped = joint->swapped;
  *key = (warm_entry){.serial = {serial_of(c, joint, swapped),
                                 serial_of(c, joint, !swapped)}};
  if (joint->role == JOINT_ROWS) {
    key->joint = dJointGetSerial(joint->id);
    return;
  }
  const contact_reading *contact = &c->arrays->contacts[joint->reading];
  if (joint->source != NULL) {
    const contact_identity *found = &joint->source->identity;
    for (int side = 0; side < 2; side++) {
      key->identity.feature[side] = found->feature[swapped ? 1 - side : side];
      key->identity.part[side] = found->part[swapped ? 1 - side : side];
    }
  }
  for (int side = 0; side < 2; side++) {
    double *local = key->local[swapped ? 1 - side : side];
    if (joint->body[side] < 0) {
      vec3_copy(local, contact->position);
      continue;
    }
    const double *R = bodies[joint->body[side]].rotation;
    for (int i = 0; i < 3; i++)
      local[i] = R[i] * contact->arm[side][0] +
                 R[3 + i] * contact->arm[side][1] +
                 R[6 + i] * contact->arm[side][2];
  }
}

/* Whether a contact is too deep to be one. Bodies that overlap do until hardly
 * anything of it is left, or friction would hold them where they are. */
static bool is_overlap(const island_context *c, const contact_reading *contact,
                       const warm_match *match) {
  const double ENTERS = 0.1, LEAVES = 0.01;
  if (isinf(c->options->max_correction)) return false;
  const host_body *bodies = c->arrays->bodies;
  if (!contact_rows_overlap(contact, bodies, LEAVES)) return false;
  if (contact_rows_overlap(contact, bodies, ENTERS)) return true;
  for (int e = match->run; e < match->run_end; e++)
    if (c->results->old_entries.entries[e].overlap) return true;
  return false;
}

static void guess_joint(double guess[], int n_rows, const warm_entry *old) {
  /* where a stop was reached or left, the rows before its own are the same */
  for (int i = 0; i < n_rows; i++)
    guess[i] = old != NULL && i < old->n_rows ? old->impulses[i] : NAN;
}

static void guess_contact(double guess[], const contact_rows *rows,
                          const warm_entry *old, bool swapped) {
  for (int i = 0; i < rows->n_rows; i++) {
    if (old == NULL)
      guess[i] = NAN;
    else if (i >= 1 && i <= rows->n_sliding)
      guess[i] = (swapped ? 1 : -1) *
                 vec3_dot(rows->sliding_axis[i - 1], old->sliding);
    else
      guess[i] = old->impulses[i > 0 ? i - rows->n_sliding : 0];
  }
}

/* Where the entries of the part at hand go. */
static warm_entry *next_entries(const island_context *c) {
  return c->results->new_entries + c->result->first_joint +
         (size_t)c->result->n_entries;
}

/* Complete the next entry of the part, whose key stands there. */
static void keep_warm(const island_context *c, const part_problem *part,
                      int j) {
  const island_joint *joint = &c->arrays->joints[j];
  warm_entry *entry = next_entries(c);
  const double *p = part->solution.p + part->first_row[j];
  c->result->n_entries++;

  if (joint->role == JOINT_ROWS) {
    entry->n_rows = (int)c->arrays->readings[joint->reading].rows.count;
    memcpy(entry->impulses, p, (size_t)entry->n_rows * sizeof *p);
    return;
  }
  const contact_rows *rows = &part->contacts[joint->reading];
  double sign = joint->swapped ? 1 : -1;
  entry->n_rows = rows->n_rows;
  entry->impulses[0] = p[0];
  vec3_add_scaled(entry->normal, sign,
                  c->arrays->contacts[joint->reading].normal);
  for (int i = 0; i < rows->n_sliding; i++)
    vec3_add_scaled(entry->sliding, sign * p[1 + i], rows->sliding_axis[i]);
  for (int i = 1 + rows->n_sliding; i < rows->n_rows; i++)
    entry->impulses[i - rows->n_sliding] = p[i];
  vec3_copy(entry->slip, rows->slip);
  entry->overlap = c->arrays->contacts[joint->reading].overlap;
}

/* --- building --------------------------------------------------------------- */

static void fill_body(mlcp_body *out, const host_body *body) {
  memset(out, 0, sizeof *out);
  for (int i = 0; i < 3; i++) {
    out->mass[7 * i] = body->mass;
    out->inverse_mass[7 * i] = 1 / body->mass;
    for (int j = 0; j < 3; j++) {
      out->mass[6 * (3 + i) + 3 + j] = body->inertia[3 * i + j];
      out->inverse_mass[6 * (3 + i) + 3 + j] = body->inverse_inertia[3 * i + j];
    }
  }
  memcpy(out->v_free, body->v_free, sizeof out->v_free);
}

static bool reserve_part(island_workspace *w, part_problem *part, int n_bodies,
                         int n_joint_rows, int n_contacts, int edges) {
  size_t rows = (size_t)n_joint_rows + CONTACT_ROWS_MAX * (size_t)n_contacts;
  size_t frictions = CONTACT_FRICTIONS_MAX * (size_t)n_contacts;
  size_t pairs = (size_t)CONTACT_PAIRS_MAX(edges) * (size_t)n_contacts;
#define RESERVE(field, block, count)                                     \
  ((field = memory_block_reserve(&w->block, w->source, (count),          \
                                 sizeof *(field))) != NULL)
  return RESERVE(part->problem.bodies, bodies, (size_t)n_bodies) &&
         RESERVE(part->set.rows, rows, rows) &&
         RESERVE(part->set.corrections, corrections, rows) &&
         RESERVE(part->set.frictions, frictions, frictions) &&
         RESERVE(part->set.pairs, pairs, pairs) &&
         RESERVE(part->guess, guess, rows) &&
         RESERVE(part->solution.v, v, 6 * (size_t)n_bodies) &&
         RESERVE(part->solution.p, p, rows) &&
         RESERVE(part->solution.beta, beta, 2 * pairs) &&
         RESERVE(part->solution.lambda, lambda, frictions);
#undef RESERVE
}

static void add_joint(const island_context *c, part_problem *part, int j,
                      const warm_match *match) {
  const island_joint *joint = &c->arrays->joints[j];
  const warm_entry *old = match->old;
  int first = part->set.n_rows;
  part->first_row[j] = first;

  if (joint->role == JOINT_ROWS) {
    joint_rows_add(&part->set, &c->frame, &c->arrays->readings[joint->reading],
                   joint->body, c->world_cfm);
    guess_joint(part->guess + first, part->set.n_rows - first, old);
  } else {
    static const double no_hint[3] = {0, 0, 0};
    contact_rows *rows = &part->contacts[joint->reading];
    contact_reading *contact = &c->arrays->contacts[joint->reading];
    c->result->report.contacts_new += old == NULL;
    contact->overlap = is_overlap(c, contact, match);
    part->overlap |= contact->overlap;
    contact_rows_add(&part->set, &c->frame, &c->contact, contact,
                     old != NULL ? old->slip : no_hint, rows);
    guess_contact(part->guess + first, rows, old, joint->swapped);
  }
}

/* Whether a pair passes on what it did at the places where it did. */
static bool is_pair_unchanged(const island_context *c,
                              const warm_match matches[], int first) {
  const double MOVED = 1e-6;
  int n_left = matches[first].run_end - matches[first].run;
  for (int k = first; k >= 0; k = matches[k].next, n_left--) {
    double arm = vec3_length((next_entries(c) + k)->local[1]);
    if (matches[k].old == NULL || sqrt(matches[k].square) > MOVED * arm)
      return false;
  }
  return n_left == 0;
}

/* The pair of bodies whose first contact is the part's `first`. */
static void balance_pair(const island_context *c, part_problem *part,
                         const warm_match matches[], const int joint_of[],
                         int first) {
  const island_arrays *arrays = c->arrays;
  const island_joint *joint = &arrays->joints[joint_of[first]];
  int second = joint->body[joint->swapped ? 0 : 1];
  pair_guess pair;
  pair_guess_begin(&pair);
  for (int e = matches[first].run; e < matches[first].run_end; e++)
    pair_guess_add_old(&pair, &c->results->old_entries.entries[e],
                       arrays->bodies[second].rotation);
  for (int k = first; k >= 0; k = matches[k].next) {
    joint = &arrays->joints[joint_of[k]];
    pair_guess_take(&pair, &arrays->contacts[joint->reading],
                    &part->contacts[joint->reading],
                    joint->swapped ? 0 : 1, part->guess);
  }
  if (!pair_guess_balance(&pair)) return;
  for (int k = first; k >= 0; k = matches[k].next) {
    joint = &arrays->joints[joint_of[k]];
    pair_guess_move(&pair, &arrays->contacts[joint->reading],
                    &part->contacts[joint->reading],
                    joint->swapped ? 0 : 1, part->guess);
  }
}

/* All joints and contacts of the part, with what last step knew of them. */
static bool add_joints(const island_context *c, part_problem *part,
                       int index) {
  const island_arrays *arrays = c->arrays;
  warm_entry *keys = next_entries(c);
  warm_match *matches = memory_block_reserve(
      &c->workspace->matches, c->workspace->source, (size_t)arrays->n_joints,
      sizeof *matches + sizeof(int));
  if (matches == NULL) return false;
  int *joint_of = (int *)(matches + arrays->n_joints), count = 0;
  for (int j = arrays->part_first_joint[index]; j >= 0;
       j = arrays->joints[j].next_part) {
    fill_key(&keys[count], c, &arrays->joints[j]);
    joint_of[count++] = j;
  }
  warm_start_match(&c->results->old_entries, keys, count, matches);

  for (int k = 0; k < count; k++) add_joint(c, part, joint_of[k], &matches[k]);
  for (int k = 0; k < count; k++)
    if (keys[k].joint == 0 && matches[k].first == k &&
        matches[k].run < matches[k].run_end &&
        !is_pair_unchanged(c, matches, k))
      balance_pair(c, part, matches, joint_of, k);
  return true;
}

/* Whether a stop comes into the problem. */
typedef bool stop_test(const island_context *c, const part_problem *part,
                       const island_joint *joint,
                       const dStepperJointStop *stop);

static bool stop_is_near(const island_context *c, const part_problem *part,
                         const island_joint *joint,
                         const dStepperJointStop *stop) {
  (void)part;
  return joint_stop_near(&c->frame, stop, joint->body);
}

static bool stop_is_overshot(const island_context *c, const part_problem *part,
                             const island_joint *joint,
                             const dStepperJointStop *stop) {
  const double ROUNDING = 1e-12;
  double change = 0;
  for (int side = 0; side < 2; side++) {
    if (joint->body[side] < 0) continue;
    const host_body *body = &c->arrays->bodies[joint->body[side]];
    const double *v =
        body->kinematic
            ? body->v
            : part->solution.v + 6 * c->arrays->problem_body[joint->body[side]];
    for (int k = 0; k < 6; k++)
      change += c->frame.step_size * stop->J[side][k] * v[k];
  }
  return stop->gap + change < -ROUNDING * (1 + stop->gap);
}

/* Add the rows of stops that are still left out and pass the test, after all
 * other rows of the part. @return how many. */
static int add_stops(const island_context *c, part_problem *part, int index,
                     stop_test *test) {
  int first = part->set.n_rows;
  for (int j = c->arrays->part_first_joint[index]; j >= 0;
       j = c->arrays->joints[j].next_part) {
    const island_joint *joint = &c->arrays->joints[j];
    for (int i = 0; i < joint->n_stops; i++) {
      island_stop *stop = &c->arrays->stops[joint->first_stop + i];
      if (stop->row >= 0 || !test(c, part, joint, &stop->stop)) continue;
      stop->row = part->set.n_rows;
      part->guess[stop->row] = NAN;
      joint_stop_add(&part->set, &c->frame, &stop->stop, joint->body);
    }
  }
  part->problem.n_rows = part->set.n_rows;
  return part->set.n_rows - first;
}

/* The problem of part `index`; false where it is too large or memory ran out:
 * the result's message says so. */
static bool build_part(island_context *c, part_problem *part, int index) {
  island_arrays *arrays = c->arrays;
  int n_joint_rows = 0, n_contacts = 0;
  double correction = 0;
  for (int j = arrays->part_first_joint[index]; j >= 0;
       j = arrays->joints[j].next_part) {
    const island_joint *joint = &arrays->joints[j];
    if (joint->role == JOINT_CONTACT) {
      n_contacts++;
      continue;
    }
    const joint_reading *reading = &arrays->readings[joint->reading];
    n_joint_rows += (int)reading->rows.count + joint->n_stops;
    correction =
        fmax(correction, joint_rows_correction(reading, c->world_cfm));
  }
  double most = c->options->max_correction;
  c->frame.joint_excess = correction > most ? 1 - most / correction : 0;
  if (n_contacts > c->options->max_contacts) {
    c->result->refused = true;
    snprintf(c->result->message, sizeof c->result->message,
             "an island of %d bodies has %d contacts, more than max-contacts "
             "%d allows",
             arrays->part_n_bodies[index], n_contacts,
             c->options->max_contacts);
    return false;
  }
  if (!reserve_part(c->workspace, part, arrays->part_n_bodies[index],
                    n_joint_rows, n_contacts, c->options->edges)) {
    snprintf(c->result->message, sizeof c->result->message, NO_MEMORY);
    return false;
  }

  mlcp_body *bodies = (mlcp_body *)part->problem.bodies;
  for (int b = arrays->part_first_body[index]; b >= 0; b = arrays->next_body[b])
    fill_body(&bodies[arrays->problem_body[b]], &arrays->bodies[b]);
  part->overlap = false;
  part->set.n_rows = part->set.n_frictions = part->set.n_pairs = 0;
  for (int j = 0; j < arrays->n_joints && part_watch != NULL; j++)
    part->first_row[j] = -1;
  if (!add_joints(c, part, index)) {
    snprintf(c->result->message, sizeof c->result->message, NO_MEMORY);
    return false;
  }
  add_stops(c, part, index, &stop_is_near);

  part->problem.n_bodies = arrays->part_n_bodies[index];
  part->problem.n_rows = part->set.n_rows;
  part->problem.n_frictions = part->set.n_frictions;
  part->problem.n_pairs = part->set.n_pairs;
  part->problem.rows = part->set.rows;
  part->problem.frictions = part->set.frictions;
  part->problem.pairs = part->set.pairs;
  c->result->report.contacts += n_contacts;
  return true;
}

/* --- solving ---------------------------------------------------------------- */

static void count_solve(ode_mlcp_report *report, const solver_report *solve) {
  const double UNSOLVED = 1e-6;
  report->degraded += solve->status == SOLVER_DEGRADED;
  report->unsolved +=
      solve->status == SOLVER_DEGRADED && !(solve->residual <= UNSOLVED);
  report->pivots += solve->pivots;
  report->factorisations += solve->factorisations;
  report->iterations += solve->iterations;
  report->residual = fmax(report->residual, solve->residual);
}

/* `first_row` is for watchers: per joint of the island, or NULL. */
static solver_report timed_solve(const island_context *c,
                                 const mlcp_problem *problem,
                                 const int first_row[], const double guess[],
                                 const mlcp_solution *solution) {
  solver_options options;
  solver_default_options(&options);
  options.kind = c->options->solver == ODE_MLCP_SOLVER_LEMKE ? SOLVER_LEMKE
                                                             : SOLVER_FAST;
  options.tolerance = c->options->tolerance;
  /* contacts by the hundred that jam: minutes of pivots for one step, and no
   * nearer to a solution than what is tried before */
  const int MOST_OVERLAPPED = 1000;
  if (c->overlap && options.max_lemke_size > MOST_OVERLAPPED)
    options.max_lemke_size = MOST_OVERLAPPED;

  double start = seconds_now();
  bool convex = c->options->friction == ODE_MLCP_FRICTION_CONVEX &&
                problem->n_frictions > 0;
  solver_report report =
      convex ? solver_solve_convex(c->workspace->solver, &c->workspace->convex,
                                   c->workspace->source, problem, &options,
                                   solution)
             : solver_solve(c->workspace->solver, problem, &options, guess,
                            solution);
  double seconds = seconds_now() - start;
  c->result->report.solver_seconds += seconds;
  if (part_watch != NULL)
    part_watch(part_watch_context,
               &(solved_part){.world = c->island->world,
                              .island = c->island->index,
                              .part = c->result->report.solves,
                              .solve = c->result->n_watched++,
                              .problem = problem,
                              .host_island = c->island,
                              .first_row = first_row,
                              .guess = guess,
                              .solution = solution,
                              .report = &report,
                              .seconds = seconds,
                              .tolerance = options.tolerance});
  return report;
}

static double kinetic_energy(const mlcp_body *body, const double v[6]) {
  double energy = 0;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      energy += 0.5 * v[i] * body->mass[6 * i + j] * v[j];
  return energy;
}

/* Leave all position errors, or all bounces, out of the targets: the push-out
 * has what the errors ask for. @return whether that changed anything. */
static bool leave_out(part_problem *part, bool bounces) {
  bool changed = false;
  for (int r = 0; r < part->set.n_rows; r++) {
    mlcp_row *row = &part->set.rows[r];
    row_correction *correction = &part->set.corrections[r];
    double *left_out = bounces ? &correction->bounce : &correction->velocity;
    if (row->kind == MLCP_ROW_FRICTION || *left_out == 0) continue;
    row->bias += *left_out;
    correction->excess += *left_out;
    *left_out = 0;
    changed = true;
  }
  return changed;
}

/* Whether the corrections gave the part more kinetic energy than max_correction
 * for all its bodies is: rows that nearly jam turn small corrections into high
 * velocities. */
static bool corrections_pop(const island_context *c, const part_problem *part) {
  const mlcp_problem *problem = &part->problem;
  double most = c->options->max_correction, work = 0, mass = 0;
  for (int r = 0; r < problem->n_rows; r++)
    if (problem->rows[r].kind != MLCP_ROW_FRICTION)
      work += larger_of(
          part->solution.p[r] * part->set.corrections[r].velocity, 0);
  for (int b = 0; b < problem->n_bodies; b++)
    mass += problem->bodies[b].mass[0];
  if (!(0.5 * work > 0.5 * mass * most * most)) return false;

  double gained = 0;
  for (int b = 0; b < problem->n_bodies; b++)
    gained += kinetic_energy(&problem->bodies[b], part->solution.v + 6 * b) -
              kinetic_energy(&problem->bodies[b], problem->bodies[b].v_free);
  return gained > 0.5 * mass * most * most;
}

static void add_solve(solver_report *sum, const solver_report *solve) {
  sum->status = solve->status;
  sum->stage = solve->stage;
  sum->residual = solve->residual;
  sum->pivots += solve->pivots;
  sum->factorisations += solve->factorisations;
  sum->iterations += solve->iterations;
}

static bool solve_part(island_context *c, part_problem *part) {
  /* a push-out is needed anyway, and the velocities always have a solution */
  c->overlap = part->overlap;
  if (part->overlap) leave_out(part, false);
  solver_report solve = timed_solve(c, &part->problem, part->first_row,
                                    part->guess, &part->solution);
  /* bodies jammed by friction may have no velocities that undo their errors, or
   * bounce, but there are always some that do not deepen them */
  while ((solve.status == SOLVER_DEGRADED &&
          (leave_out(part, false) || leave_out(part, true))) ||
         (corrections_pop(c, part) && leave_out(part, false))) {
    solver_report again = timed_solve(c, &part->problem, part->first_row,
                                      part->guess, &part->solution);
    add_solve(&solve, &again);
  }

  if (solve.status == SOLVER_NO_MEMORY || solve.status == SOLVER_TOO_LARGE) {
    c->result->refused = solve.status == SOLVER_TOO_LARGE;
    snprintf(c->result->message, sizeof c->result->message,
             solve.status == SOLVER_NO_MEMORY
                 ? "memory ran out for an island of %d bodies and %d rows"
                 : "an island of %d bodies and %d rows is too large to solve",
             part->problem.n_bodies, part->problem.n_rows);
    return false;
  }
  if (!all_finite(part->solution.v, 6 * part->problem.n_bodies) ||
      !all_finite(part->solution.p, part->problem.n_rows)) {
    snprintf(c->result->message, sizeof c->result->message,
             "an island of %d bodies and %d rows has no finite solution",
             part->problem.n_bodies, part->problem.n_rows);
    return false;
  }
  c->result->report.solves++;
  count_solve(&c->result->report, &solve);
  return true;
}

static bool count_jams(island_context *c, const part_problem *part) {
  cone_check *cone = &c->workspace->cone;
  if (!cone_check_run(cone, c->workspace->solver, c->workspace->source,
                      &part->problem)) {
    snprintf(c->result->message, sizeof c->result->message, NO_MEMORY);
    return false;
  }
  c->result->report.jammed_contacts += cone->n_contacts;
  c->result->report.jammed_joint_rows += cone->n_joint_rows;
  return true;
}

/* Solve, and again with the stops that the solution would overshoot: each round
 * adds one at least. */
static bool solve_with_stops(island_context *c, part_problem *part, int index) {
  for (;;) {
    if (!solve_part(c, part)) return false;
    int n_rows = part->problem.n_rows;
    if (add_stops(c, part, index, &stop_is_overshot) == 0) break;
    memcpy(part->guess, part->solution.p, (size_t)n_rows * sizeof(double));
  }
  c->result->report.rows += part->problem.n_rows;
  return !c->options->check_cone || count_jams(c, part);
}

/* Move the part's bodies by what their velocities do not correct. A push-out
 * that cannot be solved waits for the next step. */
static bool push_part_out(island_context *c, part_problem *part) {
  push_out *push = &c->workspace->push;
  part->pushed = false;
  switch (push_out_build(push, c->workspace->source, &part->problem,
                         &part->solution, part->set.corrections)) {
    case PUSH_OUT_NONE:
      return true;
    case PUSH_OUT_NO_MEMORY:
      snprintf(c->result->message, sizeof c->result->message, NO_MEMORY);
      return false;
    case PUSH_OUT_BUILT:
      break;
  }
  solver_report solve =
      timed_solve(c, &push->problem, NULL, NULL, &push->solution);
  if (solve.status == SOLVER_NO_MEMORY) {
    snprintf(c->result->message, sizeof c->result->message, NO_MEMORY);
    return false;
  }
  count_solve(&c->result->report, &solve);
  c->result->report.pushes++;
  part->pushed = solve.status == SOLVER_SOLVED &&
                 all_finite(push->solution.v, 6 * push->problem.n_bodies);
  if (part->pushed) push_out_limit(push, c->island->stepsize);
  return true;
}

/* What a contact does to its second body, from what it does to the first: the
 * opposite wrench about the contact point. */
static void mirror_contact_force(double force[2][6],
                                 const contact_reading *contact, int from) {
  double about_point[3], turn[3];
  const double *given = force[from];
  double *mirrored = force[1 - from];
  vec3_cross(turn, contact->arm[from], given);
  vec3_subtract(about_point, given + 3, turn);

  vec3_negate(mirrored, given);
  vec3_cross(mirrored + 3, contact->arm[1 - from], mirrored);
  vec3_subtract(mirrored + 3, mirrored + 3, about_point);
}

/* What a joint does to its bodies over the step: sum J'p / h, on kinematic
 * bodies too. */
static void keep_force(const island_context *c, const part_problem *part,
                       int j, joint_result *out) {
  const island_joint *joint = &c->arrays->joints[j];
  int first = part->first_row[j];
  double h = c->island->stepsize;
  for (unsigned i = 0; i < out->count; i++) {
    const mlcp_row *row = &part->set.rows[first + (int)i];
    double force = out->lambda[i];
    for (int side = 0; side < 2; side++) {
      const double *J =
          joint->role == JOINT_ROWS
              ? c->arrays->readings[joint->reading].rows.J[i][side]
              : row->J[side];
      for (int k = 0; k < 6; k++) out->force[side][k] += force * J[k];
    }
  }
  for (int i = 0; i < joint->n_stops; i++) {
    const island_stop *stop = &c->arrays->stops[joint->first_stop + i];
    if (stop->row < 0) continue;
    double force = part->solution.p[stop->row] / h;
    for (int side = 0; side < 2; side++)
      for (int k = 0; k < 6; k++)
        out->force[side][k] += force * stop->stop.J[side][k];
  }
  if (joint->role != JOINT_CONTACT) return;
  const contact_reading *contact = &c->arrays->contacts[joint->reading];
  for (int side = 0; side < 2; side++)
    if (part->set.rows[first].body[side] < 0)
      mirror_contact_force(out->force, contact, 1 - side);
}

static void keep_joint(const island_context *c, const part_problem *part,
                       int j) {
  const island_joint *joint = &c->arrays->joints[j];
  joint_result *out = &c->results->joints[c->result->first_joint + (size_t)j];
  const double *p = part->solution.p + part->first_row[j];
  double h = c->island->stepsize;
  out->count = joint->role == JOINT_ROWS
                   ? c->arrays->readings[joint->reading].rows.count
                   : (unsigned)part->contacts[joint->reading].n_rows;
  for (unsigned i = 0; i < out->count; i++) out->lambda[i] = p[i] / h;
  if (!out->forceless) keep_force(c, part, j, out);
}

static void keep_part(island_context *c, const part_problem *part, int index) {
  const island_arrays *arrays = c->arrays;
  for (int b = arrays->part_first_body[index]; b >= 0;
       b = arrays->next_body[b]) {
    body_result *out = &c->results->bodies[c->result->first_body + (size_t)b];
    int first = 6 * arrays->problem_body[b];
    memcpy(out->v, part->solution.v + first, sizeof out->v);
    out->pushed = part->pushed;
    if (part->pushed)
      memcpy(out->push_out, c->workspace->push.solution.v + first,
             sizeof out->push_out);
  }
  for (int j = arrays->part_first_joint[index]; j >= 0;
       j = arrays->joints[j].next_part) {
    keep_joint(c, part, j);
    keep_warm(c, part, j);
  }
}

/* --- the island -------------------------------------------------------------- */

static void set_up(island_context *c) {
  dWorldID world = c->island->world;
  dVector3 gravity;
  dWorldGetGravity(world, gravity);
  double fall = vec3_length(gravity) * c->island->stepsize;
  double erp = c->options->erp;
  if (erp == ODE_MLCP_ERP_HOST) erp = dWorldGetERP(world);
  if (c->options->scheme == ODE_MLCP_SCHEME_AP) erp = 0;

  c->world_cfm = dWorldGetCFM(world);
  c->frame = (row_frame){.bodies = c->arrays->bodies,
                         .problem_body = c->arrays->problem_body,
                         .step_size = c->island->stepsize,
                         .max_correction = c->options->max_correction};
  c->contact = (contact_settings){
      .erp = erp,
      .cfm = c->world_cfm,
      .surface_layer = dWorldGetContactSurfaceLayer(world),
      .max_velocity = dWorldGetContactMaxCorrectingVel(world),
      .max_cfm = c->world_cfm,
      .edges = c->options->edges,
      .slip_floor = fmax(1e-3 * fall, 1e-9)};
}

static void keep_free_body(const host_body *body, const step_results *results,
                           island_result *result, size_t b) {
  body_result *out = &results->bodies[result->first_body + b];
  out->kinematic = body->kinematic;
  out->pushed = false;
  memcpy(out->v, body->v_free, sizeof out->v);
  result->report.bodies += !body->kinematic;
}

/* Results of bodies and joints that no part writes. */
static void clear_results(island_context *c) {
  for (int b = 0; b < c->arrays->n_bodies; b++)
    keep_free_body(&c->arrays->bodies[b], c->results, c->result, (size_t)b);
  for (int j = 0; j < c->arrays->n_joints; j++) {
    joint_result *out = &c->results->joints[c->result->first_joint + (size_t)j];
    out->count = 0;
    out->forceless = dJointGetFeedback(c->arrays->joints[j].id) == NULL;
    if (!out->forceless) memset(out->force, 0, sizeof out->force);
  }
  if (!c->options->measure) return;
  for (int i = 0; i < c->arrays->n_contacts; i++)
    c->result->report.deepest_penetration =
        fmax(c->result->report.deepest_penetration,
             c->arrays->contacts[i].contact->geom.depth);
}

bool island_fly(const dStepperIsland *island, const step_results *results,
                island_result *result) {
  result->flew = true;
  for (unsigned b = 0; b < island->bodies_count; b++) {
    host_body body;
    if (!host_body_read(&body, island->bodies[b], island->stepsize,
                        result->message, sizeof result->message))
      return false;
    host_body_finish(&body, island->stepsize);
    keep_free_body(&body, results, result, b);
  }
  return true;
}

bool island_solve(island_workspace *workspace, const dStepperIsland *island,
                  const ode_mlcp_options *options, const step_results *results,
                  island_result *result) {
  island_context c = {.workspace = workspace,
                      .arrays = &workspace->arrays,
                      .island = island,
                      .options = options,
                      .results = results,
                      .result = result};
  if (!island_read(c.arrays, workspace->source, island, options,
                   results->contacts, result))
    return false;
  clear_results(&c);
  set_up(&c);

  part_problem part = {.problem.velocity_floor =
                           fmax(1e3 * c.contact.slip_floor, 1e-9)};
  part.first_row = memory_block_reserve(&workspace->first_row,
                                        workspace->source,
                                        (size_t)c.arrays->n_joints, sizeof(int));
  part.contacts = memory_block_reserve(
      &workspace->contact_rows, workspace->source,
      (size_t)c.arrays->n_contacts, sizeof(contact_rows));
  if (part.first_row == NULL || part.contacts == NULL) {
    snprintf(result->message, sizeof result->message, NO_MEMORY);
    return false;
  }
  for (int index = 0; index < c.arrays->n_parts; index++) {
    if (c.arrays->part_first_joint[index] < 0) continue;
    if (!build_part(&c, &part, index) ||
        !solve_with_stops(&c, &part, index) || !push_part_out(&c, &part))
      return false;
    keep_part(&c, &part, index);
  }
  return true;
}
