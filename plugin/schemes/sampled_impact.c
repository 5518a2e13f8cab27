#include "schemes/sampled_impact.h"

#include <math.h>
#include <string.h>

#include "assembly/impact_problem.h"
#include "impacts/impact.h"

/* a sample takes two or three steps; at most so many */
enum { MOST_STEPS = 200 };

static bool gives_back(const event_state *w) {
  for (int k = 0; k < w->s.here->contacts.n; k++)
    if (w->s.here->contacts.items[k].active && event_restitution(w, k) > 0)
      return true;
  return false;
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
static uint64_t sample_of(const event_state *w) {
  uint64_t bits;
  double time = w->s.step->time + 0.0; /* no negative zero */
  memcpy(&bits, &time, sizeof bits);
  return bits + ((uint64_t)event_report(w)->impacts << 54);
}

static ode_mlcp_impact_status
draw(const event_state *w, const ode_mlcp_impact_problem *problem, double v[]) {
  ode_mlcp_impact *impact;
  ode_mlcp_impact_status status =
      impact_create(problem, &w->s.step->pool->source, &impact, NULL, 0);
  if (status != ODE_MLCP_IMPACT_DONE) return status;
  ode_mlcp_impact_options options;
  ode_mlcp_impact_default_options(&options);
  options.seed = (uint64_t)w->s.step->options->impact_seed;
  options.h = cap_of(impact);
  options.steps = MOST_STEPS;
  status = options.h > 0
               ? ode_mlcp_impact_sim(impact, &options, sample_of(w), v, NULL)
               : ODE_MLCP_IMPACT_UNFINISHED;
  ode_mlcp_impact_destroy(impact);
  return status;
}

/* The outcome's velocities, for the bodies that take part. */
static void take(event_state *w, const ode_mlcp_world_impact *collision,
                 const double v[], double velocities[]) {
  ode_mlcp_world_impact_velocities(collision, v, velocities);
  for (int i = 0; i < collision->n_bodies; i++) {
    int b = world_find_body(&w->s.home, collision->bodies[i]);
    memcpy(w->now.v + 6 * b, velocities + 6 * i, 6 * sizeof *velocities);
  }
}

bool sampled_impact(event_state *w) {
  if (gives_back(w)) return true;
  outcome out; /* where there is no problem, Poisson's law holds */
  outcome_start(&out);
  const impact_request request = {.world = w->s.here, .v = w->now.v};
  ode_mlcp_world_impact *collision = NULL;
  bool memory = impact_problem_build(&request, &w->s.step->pool->source,
                                     &collision, &out) != ODE_MLCP_NO_MEMORY;
  if (memory && collision != NULL) {
    size_t s = (size_t)collision->problem.n_velocities;
    double *v;
    bool has_room =
        ARENA_TAKE(&w->s.base.arena, v, s + 6 * (size_t)collision->n_bodies);
    ode_mlcp_impact_status status =
        has_room ? draw(w, &collision->problem, v) : ODE_MLCP_IMPACT_NO_MEMORY;
    memory = status != ODE_MLCP_IMPACT_NO_MEMORY;
    if (status == ODE_MLCP_IMPACT_DONE) take(w, collision, v, v + s);
  }
  ode_mlcp_world_impact_destroy(collision);
  return memory || outcome_no_memory(w->s.step->out);
}
