#include "schemes/event_state.h"

#include <math.h>

#include "common/vec3.h"

double event_rate_tolerance(const event_state *w) {
  const double PART = 1e-8; /* of the fastest speed */
  double fastest = w->s.home.gravity * w->s.step->step_size;
  for (int b = 0; b < w->s.home.n_bodies; b++)
    fastest = fmax(fastest, vec3_length(w->now.v + 6 * b));
  return PART * fastest;
}

void event_note_budget(event_state *w) {
  if (w->s.rule->first || assembly_stopped(w->s.base.assembly) == 0) return;
  w->crowded = true;
  event_report(w)->not_converged = 1;
}

void event_note_crowd(event_state *w, int n_ahead) {
  const ode_mlcp_options *options = w->s.step->options;
  double parts = fmax(w->s.step->step_size / w->longest, 1);
  w->crowd |=
      options->events && w->n_events + n_ahead > options->max_events * parts;
  event_report(w)->zeno |= w->crowd;
  w->crowded |= w->crowd;
}

bool event_try(event_state *w, double h) {
  if (!second_order_take(&w->s, &w->now, h, &w->next)) return false;
  event_note_budget(w);
  return true;
}

bool event_is_stiff(const event_state *w, const world_contact *contact) {
  for (int side = 0; side < 2; side++)
    if (contact->point.body[side] >= 0 && w->stiff[contact->point.body[side]])
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
