/* Anitescu & Potra's and Anitescu & Hart's schemes: one problem an island at the
 * poses of the step's start, a list of calls. */
#include <math.h>
#include <string.h>

#include "schemes/schemes.h"
#include "schemes/taut_joints.h"

typedef struct velocity_level {
  scheme_state base;
  world_snapshot world;
  world_matcher matcher;
  double *v, *v_free; /* [6 n_bodies] */
} velocity_level;

/* v at the start of the step, and v+ where no row acts. */
static bool find_velocities(velocity_level *s, const scheme_step *step) {
  const world_snapshot *world = &s->world;
  arena_start(&s->base.arena);
  if (!ARENA_TAKE(&s->base.arena, s->v, 6 * world->n_bodies) ||
      !ARENA_TAKE(&s->base.arena, s->v_free, 6 * world->n_bodies))
    return outcome_no_memory(step->out);
  for (int b = 0; b < world->n_bodies; b++) {
    memcpy(s->v + 6 * b, world->bodies[b].v, sizeof world->bodies[b].v);
    host_body_free_velocity(&world->bodies[b], step->step_size,
                            s->v_free + 6 * b);
  }
  return true;
}

/* Stops that are near take part from the start. */
static void choose_stops(velocity_level *s, double step_size) {
  const row_frame frame = {
      .v = s->v, .v_free = s->v_free, .step_size = step_size};
  world_contacts *contacts = &s->world.contacts;
  for (int k = 0; k < contacts->n; k++) {
    world_contact *contact = &contacts->items[k];
    if (contact->stop >= 0)
      contact->active = joint_stop_near(&frame, &contacts->stops[contact->stop],
                                        contact->point.body);
  }
}

static void count_contacts(const velocity_level *s, ode_mlcp_report *report) {
  const world_contacts *contacts = &s->world.contacts;
  for (int k = 0; k < contacts->n; k++) {
    if (contacts->items[k].stop >= 0 ||
        assembly_contact_impulses(s->base.assembly, k) == NULL)
      continue;
    report->contacts++;
    report->contacts_new += contacts->items[k].known == NULL;
  }
}

static bool solve_island(void *state, scheme_step *step) {
  velocity_level *s = state;
  const dStepperIsland *island = step->islands;
  world_settings settings = scheme_settings(step);
  settings.gyroscopic = true;
  if (step->options->scheme == ODE_MLCP_SCHEME_AP) settings.erp = 0;
  if (!world_read(&s->world, &settings, island, 1, step->out) ||
      !find_velocities(s, step))
    return false;
  choose_stops(s, step->step_size);
  if (!world_recall(&s->matcher, &s->world, &s->world.contacts, step->memory,
                    NULL, INFINITY))
    return outcome_no_memory(step->out);

  assembly_request request = scheme_request(step, &s->world);
  request.level = JOINT_LEVEL_POSITION;
  request.erp = s->world.erp;
  request.v = s->v;
  request.x_free = s->v_free;
  if (!taut_joints_find(&s->base.arena, &s->world, s->world.bodies, NULL,
                        s->v_free, &request.mass))
    return outcome_no_memory(step->out);
  request.adds_stops = request.projects = true;
  request.host_island = island;
  if (!assembly_solve(s->base.assembly, &request, step->out)) return false;
  count_contacts(s, &step->out->report);
  scheme_hand_over(step, &s->world, assembly_x(s->base.assembly),
                   s->base.assembly);
  step->remembered.n_entries =
      assembly_remember(s->base.assembly, false, step->remembered.entries);
  return true;
}

const scheme SCHEME_AP = {.id = ODE_MLCP_SCHEME_AP,
                          .by_island = true,
                          .keeps_contacts = true,
                          .state_size = sizeof(velocity_level),
                          .solve = solve_island};

const scheme SCHEME_AH = {.id = ODE_MLCP_SCHEME_AH,
                          .by_island = true,
                          .keeps_contacts = true,
                          .state_size = sizeof(velocity_level),
                          .solve = solve_island};
