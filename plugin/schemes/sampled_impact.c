#include "schemes/sampled_impact.h"

#include <math.h>
#include <string.h>

#include "impacts/impact.h"
#include "step/impact_world.h"
#include "step/memory.h"

/* a sample takes two or three steps; at most so many */
enum { MOST_STEPS = 200 };

static bool gives_back(const whole_step *w) {
  for (int k = 0; k < w->s.here.n_contacts; k++) {
    const form_contact *contact = &w->s.here.contacts[k];
    if (contact->active && contact->restitution > 0 &&
        -form_contact_rate(contact, w->now.v) > contact->bounce_speed)
      return true;
  }
  return false;
}

static void add_contacts(const whole_step *w, world_reading *reading) {
  for (int k = 0; k < w->s.here.n_contacts; k++) {
    const form_contact *contact = &w->s.here.contacts[k];
    if (!contact->active) continue;
    world_touch touch = {.reading = contact->reading};
    memcpy(touch.body, contact->reading.body, sizeof touch.body);
    if (contact->stop < 0) {
      world_reading_add_contact(reading, &touch);
      continue;
    }
    touch.reading.contact = NULL;
    form_contact_jacobian(contact, touch.J[0]);
    reading->touches[reading->n_touches++] = touch;
  }
}

/* What `here` shows, at the velocities of `now`. */
static bool read_view(const whole_step *w, world_reading *reading) {
  const world_form *form = w->s.form;
  const form_view *here = &w->s.here;
  size_t n_rows = 6 * (size_t)form->n_joints;
  if (!world_reading_reserve(reading, (size_t)form->n_bodies,
                             n_rows + (size_t)here->n_contacts + 1, n_rows))
    return false;
  for (int b = 0; b < form->n_bodies; b++) {
    reading->bodies[b] = here->bodies[b];
    memcpy(reading->bodies[b].v, w->now.v + 6 * b,
           sizeof reading->bodies[b].v);
  }
  for (int j = 0; j < form->n_joints; j++)
    if (!form->joints[j].contact)
      world_reading_add_joint(reading, form->joints[j].id,
                              form->joints[j].body, &here->readings[j],
                              form->world_cfm);
  add_contacts(w, reading);
  world_reading_select(reading);
  return true;
}

/* The largest impulse that would stop a contact alone, N s. */
static double cap_of(const ode_mlcp_impact *impact) {
  const contact_space *space = &impact->space;
  double cap = 0;
  for (int i = 0; i < space->n_rows; i += space->per_contact)
    cap = fmax(cap, -space->start[i] / space->A[i * (space->n_rows + 1)]);
  return cap;
}

/* Which sample: the time of the step's start by its bits, and the number of the
 * impact in the step. */
static uint64_t sample_of(const whole_step *w) {
  uint64_t bits;
  double time = w->s.form->time + 0.0; /* no negative zero */
  memcpy(&bits, &time, sizeof bits);
  return bits + ((uint64_t)w->s.form->result->report.impacts << 54);
}

static ode_mlcp_impact_status draw(const whole_step *w,
                                   const ode_mlcp_impact_problem *problem,
                                   double v[]) {
  ode_mlcp_impact *impact;
  ode_mlcp_impact_status status =
      impact_create(problem, step_memory, &impact, NULL, 0);
  if (status != ODE_MLCP_IMPACT_DONE) return status;
  ode_mlcp_impact_options options;
  ode_mlcp_impact_default_options(&options);
  options.seed = (uint64_t)w->s.form->options->impact_seed;
  options.h = cap_of(impact);
  options.steps = MOST_STEPS;
  status = options.h > 0
               ? ode_mlcp_impact_sim(impact, &options, sample_of(w), v, NULL)
               : ODE_MLCP_IMPACT_UNFINISHED;
  ode_mlcp_impact_destroy(impact);
  return status;
}

/* The outcome's velocities, for the bodies that take part. */
static void take(whole_step *w, const world_reading *reading,
                 const ode_mlcp_world_impact *collision, const double v[],
                 double velocities[]) {
  ode_mlcp_world_impact_velocities(collision, v, velocities);
  for (int b = 0; b < reading->n_bodies; b++)
    if (reading->place[b] >= 0)
      memcpy(w->now.v + 6 * b, velocities + 6 * reading->place[b],
             6 * sizeof *velocities);
}

bool sampled_impact(whole_step *w) {
  if (gives_back(w)) return true;
  char message[160];
  world_reading reading = {.source = step_memory, .message = message,
                           .message_size = sizeof message};
  ode_mlcp_world_impact *collision = NULL;
  memory_block block = {NULL, 0};
  bool memory = read_view(w, &reading) &&
                world_reading_build(&reading, &collision) !=
                    ODE_MLCP_NO_MEMORY;
  if (memory && collision != NULL) {
    size_t s = (size_t)collision->problem.n_velocities;
    double *v = memory_block_reserve(&block, step_memory,
                                     s + 6 * (size_t)collision->n_bodies,
                                     sizeof *v);
    ode_mlcp_impact_status status =
        v != NULL ? draw(w, &collision->problem, v) : ODE_MLCP_IMPACT_NO_MEMORY;
    memory = status != ODE_MLCP_IMPACT_NO_MEMORY;
    if (status == ODE_MLCP_IMPACT_DONE)
      take(w, &reading, collision, v, v + s);
  }
  memory_block_release(&block, step_memory);
  ode_mlcp_world_impact_destroy(collision);
  world_reading_release(&reading);
  return memory || whole_step_no_memory(w);
}
