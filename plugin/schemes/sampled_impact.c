#include "schemes/sampled_impact.h"

#include <string.h>

#include "world/impact_problem.h"
#include "impacts/impact.h"

/* a sample takes two or three steps; at most so many */
enum { MOST_STEPS = 200 };

static bool gives_back(const event_state *w) {
  for (int k = 0; k < w->s.here->contacts.n; k++)
    if (w->s.here->contacts.items[k].active && event_restitution(w, k) > 0)
      return true;
  return false;
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
draw(event_state *w, const ode_mlcp_impact_problem *problem, double v[]) {
  ode_mlcp_impact *impact;
  ode_mlcp_impact_status status =
      impact_create(problem, &w->s.step->pool->source, &impact, NULL, 0);
  if (status != ODE_MLCP_IMPACT_DONE) return status;
  ode_mlcp_impact_options options;
  ode_mlcp_impact_default_options(&options);
  options.seed = (uint64_t)w->s.step->options->impact_seed;
  options.steps = MOST_STEPS;
  status = impact_sample_within(impact, &options, sample_of(w), &w->draw_work,
                                v, NULL);
  ode_mlcp_impact_destroy(impact);
  return status;
}

/* The outcome's velocities, for the bodies that take part. */
static void take_collision(event_state *w,
                           const ode_mlcp_world_impact *collision,
                           const double v[], double velocities[]) {
  ode_mlcp_world_impact_velocities(collision, v, velocities);
  for (int i = 0; i < collision->n_bodies; i++) {
    int b = world_find_body(&w->s.home, collision->bodies[i]);
    memcpy(w->now.v + 6 * b, velocities + 6 * i, 6 * sizeof *velocities);
  }
}

/* One sample of a collision, and the count of what came of it. */
static bool sample_collision(event_state *w,
                             const ode_mlcp_world_impact *collision) {
  size_t s = (size_t)collision->problem.n_velocities;
  double *v;
  if (!ARENA_TAKE(&w->s.base.arena, v, s + 6 * (size_t)collision->n_bodies))
    return false;
  ode_mlcp_impact_status status = draw(w, &collision->problem, v);
  if (status == ODE_MLCP_IMPACT_DONE) {
    take_collision(w, collision, v, v + s);
    event_report(w)->impacts_by_set++;
  } else if (status == ODE_MLCP_IMPACT_UNFINISHED) {
    event_report(w)->poisson_unfinished++;
  } else {
    event_report(w)->poisson_unposed++;
  }
  return status != ODE_MLCP_IMPACT_NO_MEMORY;
}

bool sampled_impact(event_state *w) {
  if (gives_back(w)) {
    event_report(w)->poisson_bounces++;
    return true;
  }
  if (!(w->draw_work > 0)) {
    event_report(w)->poisson_unfinished++;
    return true;
  }
  outcome out; /* where there is no problem, Poisson's law holds */
  outcome_start(&out);
  ode_mlcp_world_impact *collision = NULL;
  ode_mlcp_error error = impact_problem_build(
      w->s.here, w->now.v, &w->s.step->pool->source, &collision, &out);
  bool memory = error != ODE_MLCP_NO_MEMORY;
  if (memory && collision != NULL)
    memory = sample_collision(w, collision);
  else if (memory && error != ODE_MLCP_OK)
    event_report(w)->poisson_unposed++;
  ode_mlcp_world_impact_destroy(collision);
  return memory || outcome_no_memory(w->s.step->out);
}
