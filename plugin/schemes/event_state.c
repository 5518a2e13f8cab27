#include "schemes/event_state.h"

#include "schemes/conserving.h"

#include <math.h>

#include "common/vec3.h"

int event_compare_bodies(const void *left, const void *right) {
  const body_memory *a = left, *b = right;
  return (a->serial > b->serial) - (a->serial < b->serial);
}

double event_rate_tolerance(const event_state *w) {
  const double PART = 1e-8;  /* of the fastest speed */
  const double LEAST = 1e-6; /* m/s: a slower world is taken to be so fast */
  double fastest = w->s.home.gravity * w->s.step->step_size;
  for (int b = 0; b < w->s.home.n_bodies; b++)
    fastest = fmax(fastest, vec3_length(w->now.v + 6 * b));
  return PART * fmax(fastest, LEAST);
}

/* A solve that ended with its budget is no answer: the damped step of the same contacts
 * takes the place of a trapezoid's. It knows no forces that vary. */
bool event_try(event_state *w, double h) {
  second_order *s = &w->s;
  const step_rule *rule = s->rule;
  if (!rule->take(s, &w->now, h, &w->next)) return false;
  if (rule->conserves || !rule->midpoint ||
      assembly_stopped(s->base.assembly) == 0 ||
      s->step->forces->first != NULL || s->step->forces->n_springs > 0)
    return true;
  event_report(w)->not_converged = 1;
  s->rule = &conserving_rule;
  s->damped = true;
  bool taken = s->rule->take(s, &w->now, h, &w->next);
  s->damped = false;
  s->rule = rule;
  return taken;
}

bool event_is_stiff(const event_state *w, const world_contact *contact) {
  for (int side = 0; side < 2; side++)
    if (contact->point.body[side] >= 0 && w->s.stiff[contact->point.body[side]])
      return true;
  return false;
}

double event_restitution(const event_state *w, int k) {
  const world_contacts *contacts = &w->s.here->contacts;
  const host_surface *surface = &contacts->items[k].point.surface;
  if (!surface->bounces ||
      !(-world_contact_rate(contacts, k, w->now.v) > surface->bounce_speed))
    return 0;
  return fmin(fmax(surface->bounce, 0), 1);
}
