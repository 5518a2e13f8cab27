#include "schemes/event_state.h"

#include <math.h>

#include "common/vec3.h"
#include "schemes/conserving.h"

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

/* Events of a host's step beyond which they crowd. */
static const int FEW = 16;

bool event_crowds(const event_state *w) { return w->n_events > FEW; }

/* It doubles with each event of a crowd, so that there are some dozens in a step:
 * what comes that close together is one solve. What bounces and is hit by another a
 * little later is no one impact with it, and loses energy: of what gives back more
 * there are more events, and of what gives back most each has its own. */
double event_window(const event_state *w, double bounce) {
  const double MOST = 0.5;
  double h = w->s.step->step_size;
  double window = w->s.step->options->min_substep * h;
  double few = bounce <= MOST ? FEW / (1 - fmax(bounce, 0)) : INFINITY;
  return w->n_events <= few ? window
                            : fmin(window * exp2(w->n_events - few), h);
}

bool event_steps_to_collisions(const event_state *w) {
  return w->s.take == conserving_take;
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
