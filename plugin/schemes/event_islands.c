/* The trapezoids, the (alpha, gamma) family and the conserving scheme: each
 * island takes its own way through a step, in substeps of its own. Those that are
 * found to meet at the end take it again together. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/disjoint_sets.h"
#include "common/vec3.h"
#include "gap/real.h"
#include "rows/hair.h"
#include "schemes/event_driven.h"
#include "schemes/schemes.h"

/* --- sets of islands -------------------------------------------------------- */

static bool reserve_islands(event_state *w, const scheme_step *step) {
  memory_pool *pool = step->pool;
  size_t n = step->n_islands, n_bodies = 0, n_joints = 0;
  if (!POOL_RESERVE(pool, w->islands, n) || !POOL_RESERVE(pool, w->set, n) ||
      !POOL_RESERVE(pool, w->group_islands, n) ||
      !POOL_RESERVE(pool, w->bare, n))
    return outcome_no_memory(step->out);
  for (size_t i = 0; i < n; i++) {
    w->islands[i].first_body = (int)n_bodies;
    w->islands[i].first_joint = (int)n_joints;
    w->islands[i].solved = false;
    outcome_start(&w->islands[i].out);
    w->set[i] = (int)i;
    n_bodies += step->islands[i].bodies_count;
    n_joints += step->islands[i].joints_count;
  }
  w->n_ends = (int)n_bodies;
  w->n_kept = 0;
  event_log_start(&w->log);
  w->curves = false;
  return (POOL_RESERVE(pool, w->ends, n_bodies) &&
          POOL_RESERVE(pool, w->poses, n_bodies) &&
          POOL_RESERVE(pool, w->body_of, n_bodies) &&
          POOL_RESERVE(pool, w->tied, n_bodies) &&
          POOL_RESERVE(pool, w->group_bodies, n_bodies) &&
          POOL_RESERVE(pool, w->group_joints, n_joints)) ||
         outcome_no_memory(step->out);
}

/* The bodies alone of all islands. */
static bool read_whole(event_state *w, const scheme_step *step) {
  world_settings settings = scheme_settings(step);
  settings.measure = false;
  for (size_t i = 0; i < step->n_islands; i++) {
    w->bare[i] = step->islands[i];
    w->bare[i].joints_count = 0;
  }
  return world_read(&w->whole, &settings, w->bare, step->n_islands, step->out);
}

/* The island of a body of the whole step. */
static int island_of(const event_state *w, const scheme_step *step, int body) {
  int low = 0, high = (int)step->n_islands - 1;
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (w->islands[middle].first_body <= body)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* Springs tie islands together that the host knows nothing of. */
static void unite_by_springs(event_state *w, const scheme_step *step) {
  int n = w->whole.n_bodies, *sets = w->tied;
  if (step->forces->n_springs == 0) return;
  for (int b = 0; b < n; b++) sets[b] = b;
  forces_unite(step->forces, &w->whole, sets);
  for (int b = 0; b < n; b++)
    unite_sets(w->set, island_of(w, step, b),
               island_of(w, step, set_of(sets, b)));
}

/* Chain the islands of each set. @return how many sets there are. */
static int chain(event_state *w, const scheme_step *step) {
  int n = (int)step->n_islands, n_sets = 0;
  for (int i = 0; i < n; i++) {
    int first = set_of(w->set, i);
    w->islands[i].next = -1;
    if (first != i) w->islands[w->islands[first].last].next = i;
    w->islands[first].last = i;
    n_sets += first == i;
  }
  return n_sets;
}

/* --- a set ------------------------------------------------------------------ */

/* Gather the islands of the set that begins with `first` into w->part.
 * @return how many. */
static int gather(event_state *w, const scheme_step *step, int first) {
  int n = 0, n_bodies = 0, n_joints = 0;
  for (int i = first; i >= 0; i = w->islands[i].next) {
    const event_island *island = &w->islands[i];
    const dStepperIsland *host = &step->islands[i];
    w->group_islands[n++] = *host;
    for (int b = 0; b < (int)host->bodies_count; b++)
      w->body_of[n_bodies++] = island->first_body + b;
    for (int j = 0; j < (int)host->joints_count; j++)
      w->group_joints[n_joints++] = (joint_result){
          .forceless = step->joints[island->first_joint + j].forceless};
  }
  w->part = *step;
  w->part.islands = w->group_islands;
  w->part.n_islands = (size_t)n;
  w->part.bodies = w->group_bodies;
  w->part.joints = w->group_joints;
  w->part.out = &w->islands[first].out;
  w->group = w->log.island = first;
  w->s.step = &w->part;
  return n;
}

/* The results of the islands in hand go where they belong. */
static bool scatter(event_state *w, const scheme_step *step, int n) {
  event_island *group = &w->islands[w->group];
  const joint_result *joint = w->group_joints;
  for (int i = 0; i < n; i++) {
    event_island *island = &w->islands[w->group_islands[i].index];
    size_t n_joints = w->group_islands[i].joints_count;
    memcpy(step->joints + island->first_joint, joint, n_joints * sizeof *joint);
    joint += n_joints;
    island->solved = true;
  }
  for (int b = 0; b < w->s.home.n_bodies; b++) {
    int at = w->body_of[b];
    body_memory *end = &w->ends[at];
    step->bodies[at] = w->group_bodies[b];
    w->poses[at] = w->now.poses[b];
    end->id = w->s.home.bodies[b].id;
    end->serial = w->s.home.bodies[b].serial;
    memcpy(end->carry, w->s.carry + 6 * b, sizeof end->carry);
    end->crowd = w->crowd;
    end->island = w->group;
    end->n_with = w->s.home.n_bodies;
    memcpy(end->v_alpha, w->v_alpha + 6 * b, sizeof end->v_alpha);
  }
  w->curves |= w->s.home.n_joint_rows > 0;
  group->first_entry = w->n_kept;
  group->n_entries = w->n_entries;
  if (!POOL_GROW(step->pool, w->kept, w->n_kept + w->n_entries))
    return outcome_no_memory(step->out);
  memcpy(w->kept + w->n_kept, w->entries,
         (size_t)w->n_entries * sizeof *w->entries);
  w->n_kept += w->n_entries;
  return true;
}

/* The host's step of the set in hand, in at least so many substeps. */
static bool solve_in(event_state *w, int parts) {
  w->longest = parts > 1 ? w->s.step->step_size / parts : INFINITY;
  return event_driven_solve(w);
}

/* Keep where the set's bodies end. */
static bool keep_end(event_state *w) {
  int n = w->s.home.n_bodies;
  if (!EVENT_RESERVE(w, coarse, n)) return false;
  memcpy(w->coarse, w->now.poses, (size_t)n * sizeof *w->now.poses);
  return true;
}

/* m: how far a body's pose is from another: its centre of mass, and a place as far
 * from it as its mass is about the axis of its largest moment of inertia. */
static double way_between(const host_body *body, const world_pose *a,
                          const world_pose *b) {
  const double *I = body->inertia;
  double way[3], same = 0, chord = 0;
  for (int i = 0; i < 3; i++) way[i] = a->position[i] - b->position[i];
  for (int i = 0; i < 4; i++) same += a->quaternion[i] * b->quaternion[i];
  for (int i = 0; i < 4; i++) {
    double d = a->quaternion[i] - copysign(1, same) * b->quaternion[i];
    chord += d * d;
  }
  double radius =
      body->mass > 0 ? sqrt(fmax(fmax(I[0], I[4]), I[8]) / body->mass) : 0;
  double turn = 2 * sqrt(chord); /* small */
  return vec3_length(way) + radius * turn;
}

static double farthest_from_coarse(const event_state *w) {
  double most = 0;
  for (int b = 0; b < w->s.home.n_bodies; b++)
    most = fmax(most, way_between(&w->s.home.bodies[b], &w->now.poses[b],
                                  &w->coarse[b]));
  return most;
}

/* Start the set again: what it came to is void, but for its work. */
static void start_again(event_state *w, const scheme_step *step, int first) {
  outcome *out = w->part.out;
  report_add(&step->out->report, &out->report, true);
  int refused = out->report.refused_substeps + out->report.substeps;
  event_log_drop(&w->log, first);
  contact_memory_unclaim(step->memory);
  gather(w, step, first);
  outcome_start_again(out);
  out->report.refused_substeps = refused;
}

/* After a crowd a step of first order, which stands where as many meet in it again. */
static bool solve_once(event_state *w, const scheme_step *step, int first) {
  w->tries_first = true;
  if (!solve_in(w, 1)) return false;
  if (!w->tries_first || w->crowd) return true;
  start_again(w, step, first);
  w->tries_first = false;
  return solve_in(w, 1);
}

/* The step in as many substeps as `accuracy` asks for. With an error of second
 * order, ends that m and n substeps lead to are apart by the last one's error times
 * (n / m)^2 - 1 (Richardson). That error may be accuracy times the step's part of
 * a second. */
static bool solve_accurately(event_state *w, const scheme_step *step,
                             int first) {
  enum { MOST = 1024 };
  const double AIM = 0.8; /* of what is allowed */
  double allowed = step->options->accuracy * step->step_size;
  double last = INFINITY;
  int parts = 2, coarse = 1;
  w->tries_first = false;
  ode_mlcp_options asked = *step->options; /* a budget of every substep's */
  if (!solve_in(w, coarse)) return false;
  for (;;) {
    if (!keep_end(w)) return false;
    start_again(w, step, first);
    asked.budget += parts * step->options->budget;
    w->part.options = &asked;
    if (!solve_in(w, parts)) return false;
    double ratio = (double)parts / coarse;
    double error = farthest_from_coarse(w) / (ratio * ratio - 1);
    w->part.out->report.position_error = error;
    if (error <= allowed) return true;
    /* what gets no better is rounding, or has no order */
    if (parts >= MOST || error >= last) break;
    last = error;
    coarse = parts;
    double next = ceil(parts * sqrt(error / (AIM * allowed)));
    parts = (int)fmin(fmax(next, 1.5 * parts), MOST);
  }
  w->part.out->report.inaccurate = 1;
  return true;
}

static bool solve_set(event_state *w, const scheme_step *step, int first,
                      bool hides) {
  int n = gather(w, step, first);
  w->part.out->n_observed = step->out->n_observed;
  outcome_start_again(w->part.out);
  if (hides) contact_source_show(step->contacts, w->group_islands, (size_t)n);
  bool solved = step->options->accuracy > 0 ? solve_accurately(w, step, first)
                                            : solve_once(w, step, first);
  if (hides) contact_source_show(step->contacts, w->group_islands, 0);
  step->out->n_observed = w->part.out->n_observed;
  if (!solved) {
    outcome_add(step->out, w->part.out);
    return false;
  }
  return scatter(w, step, n);
}

/* --- islands that meet ------------------------------------------------------ */

/* The result of a set that turned out to be part of a larger one is void. */
static void void_set(event_state *w, const scheme_step *step, int first) {
  if (!w->islands[first].solved) return;
  report_add(&step->out->report, &w->islands[first].out.report, true);
  for (int i = first; i >= 0; i = w->islands[i].next)
    w->islands[i].solved = false;
  event_log_drop(&w->log, first);
}

/* Unite the sets of islands that overlap where they end.
 * @param any  out: whether there were such */
static bool unite_met(event_state *w, const scheme_step *step, bool *any) {
  *any = false;
  contact_source_show(step->contacts, NULL, 0);
  if (!world_read_at(&w->meeting, &w->whole, w->poses, step->step_size,
                     HAIR_BESIDE, step->out))
    return false;
  for (int k = 0; k < w->meeting.contacts.n; k++) {
    const host_contact *point = &w->meeting.contacts.items[k].point;
    if (point->body[0] < 0 || point->body[1] < 0 ||
        !(point->gap < -hair_touch(point->position)))
      continue;
    int a = set_of(w->set, island_of(w, step, point->body[0]));
    int b = set_of(w->set, island_of(w, step, point->body[1]));
    if (a == b) continue;
    void_set(w, step, a);
    void_set(w, step, b);
    unite_sets(w->set, a, b);
    double *work = &w->islands[set_of(w->set, a)].out.report.solver_work;
    *work = fmax(w->islands[a].out.report.solver_work,
                 w->islands[b].out.report.solver_work);
    *any = true;
  }
  if (*any) contact_memory_unclaim(step->memory);
  return true;
}

static bool solve_sets(event_state *w, const scheme_step *step, bool hides) {
  for (bool met = true; met;) {
    int n_sets = chain(w, step);
    for (int i = 0; i < (int)step->n_islands; i++)
      if (set_of(w->set, i) == i && !w->islands[i].solved &&
          !solve_set(w, step, i, hides))
        return false;
    met = false;
    if (hides && n_sets > 1 && !unite_met(w, step, &met)) return false;
  }
  return true;
}

/* --- a step ----------------------------------------------------------------- */

/* Said once: what the scheme does to joints that curve, by its nature. */
static void warn_of_curves(event_state *w, const scheme_step *step) {
  outcome *out = step->out;
  const char *warning = w->own->curves;
  if (w->warned || !w->curves || out->warning[0] != '\0' || warning == NULL ||
      step->options->alpha == 1)
    return;
  w->warned = true;
  snprintf(out->warning, sizeof out->warning, "%s", warning);
}

/* The sets' results become the step's. */
static bool sum_up(event_state *w, scheme_step *step) {
  int count = 0;
  if (!scheme_remember(step, w->n_kept)) return false;
  for (int i = 0; i < (int)step->n_islands; i++) {
    const event_island *set = &w->islands[i];
    if (set_of(w->set, i) != i) continue;
    outcome_add(step->out, &set->out);
    memcpy(step->remembered.entries + count, w->kept + set->first_entry,
           (size_t)set->n_entries * sizeof *w->kept);
    count += set->n_entries;
  }
  step->remembered.n_entries = count;
  event_log_sort(&w->log);
  warn_of_curves(w, step);
  return POOL_GROW(step->pool, w->index.slots,
                   serial_table_room((size_t)w->n_ends)) ||
         outcome_no_memory(step->out);
}

static bool solve_all_islands(event_state *w, scheme_step *step,
                              const step_rule *rule) {
  w->own = w->s.rule = rule;
  bool several = step->n_islands > 1;
  bool solved = reserve_islands(w, step) && (!several || read_whole(w, step));
  if (solved && several) unite_by_springs(w, step);
  bool hides = solved && several && step->contacts->function != NULL;
  if (hides && !contact_source_list_islands(step->contacts, step->islands,
                                            step->n_islands))
    solved = outcome_no_memory(step->out);
  solved = solved && solve_sets(w, step, hides) && sum_up(w, step);
  if (hides) contact_source_end_hiding(step->contacts);
  if (!solved) {
    w->index.mask = 0;
    event_log_start(&w->log);
  }
  return solved;
}

/* Bodies that were destroyed in a callback of the commit are not asked. */
static void committed(void *state) {
  event_state *w = state;
  body_memory *last = w->bodies;
  w->bodies = w->ends;
  w->ends = last;
  serial_table_start(&w->index, (size_t)w->n_ends);
  for (int b = 0; b < w->n_ends; b++) {
    body_memory *m = &w->bodies[b];
    m->pose = world_pose_read(m->id);
    host_body_velocity(m->id, m->v);
    world_pose_turn_along(&w->poses[b], &m->pose,
                          m->carry + 3); /* of what was held */
    serial_table_add(&w->index, m->serial, b);
  }
}

/* --- what can be asked afterwards ------------------------------------------- */

static bool last_v_alpha(const void *state, dBodyID body, double velocity[6]) {
  const event_state *w = state;
  const body_memory *found = event_find_body(w, dBodyGetSerial(body));
  if (found != NULL) memcpy(velocity, found->v_alpha, sizeof found->v_alpha);
  return found != NULL;
}

static bool last_event(const void *state, int index, ode_mlcp_event *event) {
  const event_state *w = state;
  return event_log_get(&w->log, index, event);
}

static bool last_event_contact(const void *state, int index, int k,
                               ode_mlcp_event_contact *contact) {
  const event_state *w = state;
  return event_log_get_contact(&w->log, index, k, contact);
}

#define EVENT_DRIVEN(ID, name)                                                 \
  static bool solve_##name(void *state, scheme_step *step) {                   \
    return solve_all_islands(state, step, &name##_rule);                       \
  }                                                                            \
  const scheme SCHEME_##ID = {.id = ODE_MLCP_SCHEME_##ID,                      \
                              .state_size = sizeof(event_state),               \
                              .solve = solve_##name,                           \
                              .committed = committed,                          \
                              .v_alpha = last_v_alpha,                         \
                              .event = last_event,                             \
                              .event_contact = last_event_contact};
EVENT_DRIVEN(GAP, gap)
EVENT_DRIVEN(TRAPEZOID_1, trapezoid_1)
EVENT_DRIVEN(TRAPEZOID, trapezoid)
EVENT_DRIVEN(CONSERVING, conserving)
