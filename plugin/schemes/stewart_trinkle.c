/* Stewart and Trinkle's position-level scheme (ST 2000): contacts are found and
 * linearised where the bodies are going to be, not where they are.
 *
 *   q^ = q + h v,   Phi(q^) + n(q^)'(h v+ - h v) >= 0                      (25)
 *
 * with joints as in scheme AH. Contacts that were active in the last step and
 * those violated at q^ take part; what turns out violated at q+ is added and
 * the problem solved again. The nonlinear version puts the new q+ in place of
 * q^ until nothing changes (ST 3.4). Where no solution is found the normal rows
 * become n'v+ >= 0 (ST 3.3), which always has one.
 *
 * A body that meets another within the step with a normal which is not that at q^ is
 * taken to begin its step where they touch, after a share s of it:
 *
 *   q^ = q + s h v,   Phi(q^) + n(q^)'h v+ >= 0,   q+ = q^ + (1 - s) h v+   (25a)
 *
 * rows as (25) has them, of another pose.
 */
#include <math.h>
#include <string.h>

#include "common/six.h"
#include "common/vec3.h"
#include "gap/real.h"
#include "rows/hair.h"
#include "schemes/motion.h"
#include "schemes/schemes.h"
#include "schemes/sweep.h"
#include "schemes/taut_joints.h"

/* solves of one linear problem with a growing active set */
enum { ROUNDS_MAX = 10 };
/* m: bodies that move less between two passes have found their place */
static const double SETTLED = 1e-11;

/* The contacts of a problem, of more than one snapshot. */
typedef struct gathered {
  world_contacts contacts; /* stops are those of `home` */
  int n_home;              /* of them, before the others */
  int n_polygons;
  contact_polygon *polygons;
} gathered;

typedef struct stewart_trinkle {
  scheme_state base;
  world_snapshot home;   /* at the start: masses, joint rows, stops */
  world_snapshot ahead;  /* where contacts are linearised */
  world_snapshot check;  /* at the end */
  gathered problem;      /* program's contacts and stops of `home`, others of
                           `ahead` and `check` */
  contact_memory memory; /* of the last solve, */
  const contact_memory *recent; /* or the last step's */
  contact_entry *entries;       /* [joint rows + problem's contacts] */
  world_matcher matcher;
  host_body *moved; /* masses and forces of the pass */
  motion from, to;  /* how bodies would go from the start, */
  motion guess;     /* where the contacts are linearised, and its velocity */
  motion end;
  double *force, *x_free; /* [6 n_bodies] */
  double *x_taut;         /* [6 n_bodies] x_free of the masses M~ */
  double *k_q, *k_v;      /* [36 n_bodies] where forces act */
  double *stiff;          /* [36 n_bodies] M~ - M of forces; NULL: none */
  extra_row *springs;
  int n_springs;
  int *match;
  step_sweep sweep;
  dBodyID *ids; /* [n_bodies] */
  double
      *shares; /* [n_bodies] the part of the step, s, that a body moves with the
                     velocity it began with; 1: it is held nowhere */
  double *way; /* [6 n_bodies] what of its velocity a row's gap counts */
} stewart_trinkle;

static bool reserve_bodies(stewart_trinkle *s, const scheme_step *step) {
  outcome *out = step->out;
  int n = s->home.n_bodies, n_pushed = step->forces->first != NULL ? n : 0;
  arena_start(&s->base.arena);
  return (ARENA_TAKE(&s->base.arena, s->moved, n) &&
          ARENA_TAKE(&s->base.arena, s->force, 6 * n) &&
          ARENA_TAKE(&s->base.arena, s->ids, n) &&
          ARENA_TAKE(&s->base.arena, s->shares, n) &&
          ARENA_TAKE(&s->base.arena, s->way, 6 * n) &&
          ARENA_TAKE(&s->base.arena, s->x_free, 6 * n) &&
          ARENA_TAKE(&s->base.arena, s->x_taut, 6 * n) &&
          ARENA_TAKE(&s->base.arena, s->k_q, 36 * n_pushed) &&
          ARENA_TAKE(&s->base.arena, s->k_v, 36 * n_pushed) &&
          ARENA_TAKE(&s->base.arena, s->springs, step->forces->n_springs) &&
          motion_take(&s->from, &s->base.arena, n) &&
          motion_take(&s->to, &s->base.arena, n) &&
          motion_take(&s->guess, &s->base.arena, n) &&
          motion_take(&s->end, &s->base.arena, n)) ||
         outcome_no_memory(out);
}

/* --- motion --------------------------------------------------------------- */

/* M~ - M = -h k_v - h^2 k_q: forces are those of the step's end, of which f(q + h v, v)
 * is the start. A body that it would leave without a positive mass goes without. */
static void find_stiffness(stewart_trinkle *s, const scheme_step *step) {
  double h = step->step_size, M[36];
  s->stiff = NULL;
  if (step->forces->first == NULL) return;
  for (int b = 0; b < s->home.n_bodies; b++) {
    double *stiff = s->k_v + 36 * b, *k_q = s->k_q + 36 * b;
    bool any = false;
    host_body_mass(&s->moved[b], M);
    for (int i = 0; i < 36; i++) {
      stiff[i] = -h * (stiff[i] + h * k_q[i]);
      any |= stiff[i] != 0;
      M[i] += stiff[i];
    }
    if (!any) continue;
    s->stiff = s->k_v;
    if (matrix6_is_positive(M)) continue;
    memset(stiff, 0, 36 * sizeof *stiff);
    step->out->report.jacobians_dropped++;
  }
}

/* Velocities without impulses: v + h M^-1 f, masses and gyroscopic torques
 * where the bodies of `at` are. */
static bool free_motion(stewart_trinkle *s, const scheme_step *step,
                        const world_snapshot *at) {
  const world_snapshot *home = &s->home;
  double h = step->step_size;
  memset(s->force, 0, 6 * (size_t)home->n_bodies * sizeof *s->force);
  if (step->forces->first != NULL) {
    memset(s->k_q, 0, 36 * (size_t)home->n_bodies * sizeof *s->k_q);
    memset(s->k_v, 0, 36 * (size_t)home->n_bodies * sizeof *s->k_v);
  }
  for (int b = 0; b < home->n_bodies; b++) {
    world_pose_move(&s->end.poses[b], &s->from.poses[b], s->from.v + 6 * b, h);
  }
  /* springs with what the new velocities make of them: stable, however stiff */
  const spring_step over = {.time = step->time,
                            .h = h,
                            .to = s->end.poses,
                            .v = s->from.v,
                            .alpha = 1,
                            .share = 1};
  s->n_springs =
      forces_rows(step->forces, home, &over, s->springs, step->out, NULL, NULL);
  if (s->n_springs < 0 ||
      !forces_add(step->forces, home, step->time, s->end.poses, s->from.v,
                  s->force, s->k_q, s->k_v, step->out))
    return false;
  for (int b = 0; b < home->n_bodies; b++) {
    const host_body *body = &home->bodies[b];
    host_body *moved = &s->moved[b];
    *moved = at->bodies[b];
    memcpy(moved->v, body->v, sizeof moved->v);
    for (int i = 0; i < 6; i++)
      moved->force[i] = body->force[i] + s->force[6 * b + i];
    if (body->gyroscopic) host_body_add_gyroscopic_torque(moved, h);
    host_body_free_velocity(moved, h, s->x_free + 6 * b);
  }
  find_stiffness(s, step);
  return true;
}

/* --- the problem's contacts ----------------------------------------------- */

static world_contact *gather(stewart_trinkle *s, const world_contacts *from,
                             int k, outcome *out) {
  gathered *to = &s->problem;
  if (!POOL_GROW(&s->base.pool, to->contacts.items, to->contacts.n + 1) ||
      !POOL_GROW(&s->base.pool, to->polygons, to->n_polygons + 1)) {
    outcome_no_memory(out);
    return NULL;
  }
  to->contacts.polygons = to->polygons;
  world_contact *contact = &to->contacts.items[to->contacts.n];
  *contact = from->items[k];
  if (contact->point.polygon >= 0) {
    to->polygons[to->n_polygons] = from->polygons[contact->point.polygon];
    contact->point.polygon = to->n_polygons++;
  }
  to->contacts.n++;
  return contact;
}

static bool is_held(const stewart_trinkle *s, int b) {
  return s->shares[b] < 1;
}

/* The constraint as the row sees it, a gap at the step's start: the gap at
 * other poses less what h n'v has made of it, (25). */
static void linearise(stewart_trinkle *s, int k, const double v[]) {
  for (int b = 0; b < s->home.n_bodies; b++)
    for (int i = 6 * b; i < 6 * b + 6; i++)
      s->way[i] = is_held(s, b) ? 0 : v[i];
  /* two bodies that overlap there will touch with their own surfaces */
  host_contact *point = &s->problem.contacts.items[k].point;
  for (int side = 0; side < 2 && point->body[1] >= 0; side++)
    vec3_add_scaled(point->arm[side], (side == 0 ? 0.5 : -0.5) * point->gap,
                    point->normal);
  /* the row counts the surface's own motion itself */
  point->gap -= s->home.settings.step_size *
                (world_contact_rate(&s->problem.contacts, k, s->way) +
                 point->surface.motion[2]);
}

/* Contacts of the program's joints and stops as they are at the start; those of
 * the collision function as they are at the guess. */
static bool gather_contacts(stewart_trinkle *s, outcome *out) {
  gathered *problem = &s->problem;
  problem->contacts = (world_contacts){.items = problem->contacts.items,
                                       .stops = s->home.contacts.stops};
  problem->n_polygons = 0;
  for (int k = 0; k < s->home.contacts.n; k++) {
    if (s->home.contacts.items[k].found) continue;
    world_contact *added = gather(s, &s->home.contacts, k, out);
    if (added == NULL) return false;
    added->active = true;
  }
  problem->n_home = problem->contacts.n;
  for (int k = 0; k < s->ahead.contacts.n; k++) {
    const world_contact *contact = &s->ahead.contacts.items[k];
    if (contact->joint >= 0) continue;
    world_contact *added = gather(s, &s->ahead.contacts, k, out);
    if (added == NULL) return false;
    added->active = contact->point.gap <= hair_touch(contact->point.position);
    linearise(s, problem->contacts.n - 1, s->guess.v);
  }
  return true;
}

/* Find the problem's contacts among those of the last step or solve. */
static bool recall(stewart_trinkle *s, const scheme_step *step,
                   const contact_memory *memory) {
  contact_memory_unclaim(memory);
  return world_recall(&s->matcher, &s->home, &s->problem.contacts, memory, NULL,
                      motion_radius(&s->home, s->from.v, step->step_size)) ||
         outcome_no_memory(step->out);
}

/* Active contacts stay active. */
static bool carry_on(stewart_trinkle *s, const scheme_step *step) {
  if (!recall(s, step, s->recent)) return false;
  for (int k = 0; k < s->problem.contacts.n; k++)
    if (s->problem.contacts.items[k].known != NULL)
      s->problem.contacts.items[k].active = true;
  return true;
}

/* Another solve goes on from the last one. */
static bool note_solve(stewart_trinkle *s, outcome *out) {
  if (!POOL_RESERVE(&s->base.pool, s->entries,
                    s->home.n_joint_rows + s->problem.contacts.n))
    return outcome_no_memory(out);
  int n = assembly_remember(s->base.assembly, true, s->entries);
  if (!contact_memory_reserve(&s->memory, &s->base.pool, n))
    return outcome_no_memory(out);
  contact_memory_take(&s->memory, s->entries, n);
  s->recent = &s->memory;
  return true;
}

/* --- solving -------------------------------------------------------------- */

static bool solve_once(stewart_trinkle *s, const scheme_step *step) {
  assembly_request request = scheme_request(step, &s->home);
  request.bodies = s->moved;
  request.contacts = &s->problem.contacts;
  request.level = JOINT_LEVEL_POSITION;
  request.erp = 1;
  request.v = s->from.v;
  memcpy(s->x_taut, s->x_free,
         6 * (size_t)s->home.n_bodies * sizeof *s->x_taut);
  if (!taut_joints_find(&s->base.arena, &s->home, s->moved, s->stiff, s->x_taut,
                        &request.mass))
    return outcome_no_memory(step->out);
  request.x_free = s->x_taut;
  request.extra = s->springs;
  request.n_extra = s->n_springs;
  request.erp_for_all = request.projects = true;
  return assembly_solve(s->base.assembly, &request, step->out);
}

static bool solve_linear_problem(stewart_trinkle *s, const scheme_step *step) {
  if (!solve_once(s, step)) return false;
  int n = s->home.n_bodies;
  memcpy(s->end.v, assembly_x(s->base.assembly),
         6 * (size_t)n * sizeof *s->end.v);
  for (int b = 0; b < n; b++) {
    const double *motion = assembly_projection(s->base.assembly, b);
    /* what is held goes on from there */
    const bool held = is_held(s, b);
    const double rest = held ? 1 - s->shares[b] : 1;
    const world_pose *from = &(held ? &s->guess : &s->from)->poses[b];
    double v[6];
    for (int i = 0; i < 6; i++)
      v[i] = rest * s->end.v[6 * b + i] + (motion != NULL ? motion[i] : 0);
    world_pose_advance(&s->end.poses[b], s->ids[b], from, v, step->step_size);
  }
  return true;
}

static bool match(stewart_trinkle *s, const world_snapshot *world_a,
                  const world_contacts *a, const world_contacts *b,
                  outcome *out) {
  double radius =
      motion_radius(&s->home, s->from.v, s->home.settings.step_size);
  return (POOL_RESERVE(&s->base.pool, s->match, a->n) &&
          world_match(&s->matcher, world_a, a, &s->home, b, radius,
                      s->match)) ||
         outcome_no_memory(out);
}

/* An overlap of less is none, or rounding. */
static bool is_violated(const host_contact *point) {
  return point->gap < -hair_touch(point->position);
}

/* Add what is violated where the bodies come to. @return how many, -1 where the
 * step cannot be taken. */
static int add_violated(stewart_trinkle *s, const scheme_step *step) {
  if (!world_read_at(&s->check, &s->home, s->end.poses, step->step_size,
                     HAIR_BESIDE, step->out) ||
      !match(s, &s->check, &s->check.contacts, &s->problem.contacts, step->out))
    return -1;
  world_contacts *problem = &s->problem.contacts;
  int added = 0;
  for (int k = 0; k < s->check.contacts.n; k++) {
    const world_contact *found = &s->check.contacts.items[k];
    if (found->joint >= 0 || !is_violated(&found->point)) continue;
    world_contact *known =
        s->match[k] >= 0 ? &problem->items[s->match[k]] : NULL;
    if (known != NULL && known->active) continue;
    if (added++ == 0 && !note_solve(s, step->out)) return -1;
    if (known != NULL) {
      known->active = true;
      continue;
    }
    world_contact *contact = gather(s, &s->check.contacts, k, step->out);
    if (contact == NULL) return -1;
    contact->active = true;
    linearise(s, problem->n - 1, s->end.v);
  }
  return added == 0 || recall(s, step, s->recent) ? added : -1;
}

/* The linear scheme at the present guess. */
static bool solve_linear(stewart_trinkle *s, const scheme_step *step,
                         bool look_back) {
  ode_mlcp_report *report = &step->out->report;
  for (int round = 1;; round++) {
    if (!solve_linear_problem(s, step)) return false;
    if (round > report->rounds) report->rounds = round;
    if (!look_back) return true;
    int added = add_violated(s, step);
    if (added <= 0) return added == 0;
    if (round == ROUNDS_MAX) {
      report->not_converged = 1;
      return solve_linear_problem(s, step);
    }
  }
}

/* --- the nonlinear version ------------------------------------------------ */

/* Have the bodies found their place, as well as the host can say where they are? */
static bool has_settled(const stewart_trinkle *s, double change) {
  double settled = SETTLED;
  for (int b = 0; b < s->home.n_bodies; b++)
    settled = fmax(settled, hair_rounding(s->home.bodies[b].position));
  return change <= settled;
}

/* How far bodies end from where the contacts were taken, m or rad. */
static double distance_from_guess(const stewart_trinkle *s) {
  double most = 0;
  for (int i = 0; i < 6 * s->home.n_bodies; i++)
    if (!is_held(s, i / 6))
      most = fmax(
          most, s->home.settings.step_size * fabs(s->end.v[i] - s->guess.v[i]));
  return most;
}

/* See what the guess brings into touch. */
static bool look(stewart_trinkle *s, outcome *out) {
  double h = s->home.settings.step_size;
  for (int b = 0; b < s->home.n_bodies; b++)
    if (!is_held(s, b))
      world_pose_advance(&s->guess.poses[b], s->ids[b], &s->from.poses[b],
                         s->guess.v + 6 * b, h);
  return world_read_at(&s->ahead, &s->home, s->guess.poses, h,
                       s->home.settings.margin, out);
}

/* The first guess goes no further than to what it would pass through, beyond which
 * nothing would be seen of it, or meets with another normal. */
static bool look_first(stewart_trinkle *s, const scheme_step *step) {
  int n = s->home.n_bodies, n_held;
  for (int b = 0; b < n; b++) s->shares[b] = 1;
  memcpy(s->guess.v, s->from.v, 6 * (size_t)n * sizeof *s->guess.v);
  if (!step->options->sweep || step->contacts->function == NULL)
    return look(s, step->out);
  for (int b = 0; b < n; b++)
    world_pose_advance(&s->to.poses[b], s->ids[b], &s->from.poses[b],
                       s->from.v + 6 * b, step->step_size);
  motion_lead(&s->from, &s->to, n, step->step_size);
  s->sweep.pool = step->pool;
  const sweep_way way = {.world = step->world,
                         .n_bodies = n,
                         .bodies = s->ids,
                         .from = &s->from,
                         .to = &s->to,
                         .contacts = step->contacts,
                         .seconds = step->step_size};
  const world_contacts *ends = NULL;
  for (;;) {
    ode_mlcp_report *report = &step->out->report;
    if (!step_sweep_hold(&s->sweep, &way, ends,
                         step->options->budget - report->solver_work, s->shares,
                         &n_held))
      return outcome_no_memory(step->out);
    step_sweep_report(&s->sweep, report);
    if (ends != NULL && n_held == 0) return true;
    for (int b = 0; b < n; b++)
      if (is_held(s, b))
        motion_body_between(&s->guess.poses[b], NULL, &s->from, &s->to, b,
                            s->shares[b]);
    if (!look(s, step->out)) return false;
    ends = &s->ahead.contacts;
  }
}

/* Those of later passes look where the last one ended. */
static bool look_again(stewart_trinkle *s, const scheme_step *step) {
  for (int b = 0; b < s->home.n_bodies; b++)
    if (!is_held(s, b))
      memcpy(s->guess.v + 6 * b, s->end.v + 6 * b, 6 * sizeof *s->guess.v);
  return look(s, step->out);
}

static bool iterate(stewart_trinkle *s, const scheme_step *step) {
  ode_mlcp_report *report = &step->out->report;
  int passes = step->options->fixed_point;
  for (int pass = 0;; pass++) {
    /* the first pass takes masses and forces where the bodies are */
    if (!(pass == 0 ? look_first(s, step) : look_again(s, step)) ||
        !free_motion(s, step, pass == 0 ? &s->home : &s->ahead) ||
        !gather_contacts(s, step->out) || !carry_on(s, step) ||
        !solve_linear(s, step, passes == 0))
      return false;
    double change = distance_from_guess(s);
    if (passes == 0) return true;
    report->fixed_point_passes = pass + 1;
    report->fixed_point_change = change;
    if (pass > 0 && has_settled(s, change)) return true;
    /* a pass without a budget is worse than the one before */
    if (pass == passes || assembly_stopped(s->base.assembly) > 0) {
      report->not_converged = 1;
      return true;
    }
    if (!note_solve(s, step->out)) return false;
  }
}

/* --- a step --------------------------------------------------------------- */

/* Contacts that pushed, or touched. */
static bool remember(stewart_trinkle *s, scheme_step *step) {
  if (!scheme_remember(step, s->home.n_joint_rows + s->problem.contacts.n))
    return false;
  contact_entry *entries = step->remembered.entries;
  int n = assembly_remember(s->base.assembly, true, entries), kept = 0;
  for (int i = 0; i < n; i++) {
    bool joint = entries[i].joint != 0 && entries[i].stop == 0;
    int k = entries[i].number;
    if (joint || assembly_normal_impulse(s->base.assembly, k) > 0 ||
        step->step_size * assembly_contact_w(s->base.assembly, k) <=
            hair_touch(s->problem.contacts.items[k].point.position))
      entries[kept++] = entries[i];
  }
  step->remembered.n_entries = kept;
  return true;
}

/* A contact that the collision function found at the start of the step has a joint
 * of its own: it is told the force of the same contact in the problem. */
static bool tell_found_contacts(stewart_trinkle *s, scheme_step *step) {
  if (!match(s, &s->home, &s->home.contacts, &s->problem.contacts, step->out))
    return false;
  for (int k = 0; k < s->home.contacts.n; k++)
    if (s->home.contacts.items[k].found && s->match[k] >= 0)
      assembly_add_contact(s->base.assembly, s->match[k], step->step_size,
                           &step->joints[s->home.contacts.items[k].joint]);
  return true;
}

static void fill_report(const stewart_trinkle *s, ode_mlcp_report *report) {
  for (int k = 0; k < s->home.n_joints; k++)
    report->linearised |=
        s->home.joints[k].contact >= 0 && !s->home.joints[k].from_source;
  report->contacts = report->contacts_new = 0;
  for (int k = 0; k < s->problem.contacts.n; k++) {
    const world_contact *contact = &s->problem.contacts.items[k];
    if (!contact->active || contact->stop >= 0) continue;
    report->contacts++;
    report->contacts_new += contact->known == NULL;
  }
}

static bool solve_st(void *state, scheme_step *step) {
  stewart_trinkle *s = state;
  const world_settings settings = scheme_settings(step);
  if (!world_read(&s->home, &settings, step->islands, step->n_islands,
                  step->out) ||
      !reserve_bodies(s, step))
    return false;
  for (int b = 0; b < s->home.n_bodies; b++) {
    const host_body *body = &s->home.bodies[b];
    s->ids[b] = body->id;
    s->from.poses[b] = world_pose_of(body);
    memcpy(s->from.v + 6 * b, body->v, sizeof body->v);
  }
  s->recent = step->memory;
  if (!iterate(s, step) || !recall(s, step, step->memory)) return false;
  fill_report(s, &step->out->report);
  if (!remember(s, step)) return false;
  scheme_hand_over(step, &s->home, s->end.v, s->base.assembly);
  for (int b = 0; b < s->home.n_bodies; b++)
    if (is_held(s, b))
      scheme_move_body(&step->bodies[b], s->ids[b], &s->from.poses[b],
                       &s->end.poses[b], step->step_size);
  return tell_found_contacts(s, step);
}

const scheme SCHEME_ST = {.id = ODE_MLCP_SCHEME_ST,
                          .state_size = sizeof(stewart_trinkle),
                          .solve = solve_st};
