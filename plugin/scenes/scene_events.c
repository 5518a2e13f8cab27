/* Events at contacts, seen by their impulses. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "scenes/scene_build.h"

/* A body slower than this has stopped, m/s and rad/s. */
static const double REST_SPEED = 1e-7;

/* A contact that pushes less than this part of the strongest is rounding. */
static const double FAINT = 1e-9;

bool scene_add_event(scene_run_state *run, double time, const char *kind,
                     int place) {
  scene_result *result = run->result;
  if (result->n_events == run->event_room) {
    int room = run->event_room > 0 ? 2 * run->event_room : 64;
    scene_event *events =
        realloc(result->events, (size_t)room * sizeof *events);
    if (events == NULL) return scene_fail(run, "memory ran out");
    result->events = events;
    run->event_room = room;
  }
  scene_event *event = &result->events[result->n_events++];
  *event = (scene_event){.time = time, .place = place};
  snprintf(event->kind, sizeof event->kind, "%s", kind);
  return true;
}

/* The speed at which the contact's points slide over one another. */
static double slip_speed(const ode_mlcp_contact *contact) {
  double slip[3] = {0};
  for (int k = 0; k < 2; k++) {
    if (contact->body[k] == NULL) continue;
    dVector3 v;
    const dReal *p = contact->geom.pos;
    dBodyGetPointVel(contact->body[k], p[0], p[1], p[2], v);
    for (int i = 0; i < 3; i++) slip[i] += k == 0 ? v[i] : -v[i];
  }
  double along = vec3_dot(slip, real3(contact->geom.normal).at);
  for (int i = 0; i < 3; i++) slip[i] -= along * contact->geom.normal[i];
  return sqrt(vec3_dot(slip, slip));
}

static bool is_at_rest(const scene_run_state *run) {
  for (int b = 0; b < run->n_bodies; b++) {
    double v[3], w[3];
    real_read(v, dBodyGetLinearVel(run->bodies[b]), 3);
    real_read(w, dBodyGetAngularVel(run->bodies[b]), 3);
    if (!(vec3_dot(v, v) + vec3_dot(w, w) < REST_SPEED * REST_SPEED))
      return false;
  }
  return run->n_bodies > 0;
}

static void note_place(scene_run_state *run, int place) {
  scene_place *p = &run->places[place];
  if (p->touches != p->touched)
    scene_add_event(run, run->time, p->touches ? "contact" : "separation",
                    place);
  if (p->touches && p->sticks != p->stuck)
    scene_add_event(run, run->time, p->sticks ? "stick" : "slip", place);
}

/* N: the normal force of the step just taken. */
static double push_of(const ode_mlcp_contact *contact) {
  return fabs(vec3_dot(contact->force, real3(contact->geom.normal).at));
}

/* Which places touch and stick, by the impulses of the step just taken. */
static void look_at_contacts(scene_run_state *run) {
  ode_mlcp_contact contact;
  double strongest = 0;
  for (int i = 0; ode_mlcp_last_contact(run->world, i, &contact) == ODE_MLCP_OK;
       i++)
    strongest = fmax(strongest, push_of(&contact));
  for (int i = 0; ode_mlcp_last_contact(run->world, i, &contact) == ODE_MLCP_OK;
       i++) {
    if (!(push_of(&contact) > FAINT * strongest)) continue;
    int place = scene_place_of(run, &contact);
    if (place < 0) continue;
    run->places[place].touches = true;
    run->places[place].sticks &=
        run->surface.parameters.mu > 0 && slip_speed(&contact) < REST_SPEED;
  }
}

void scene_note_events(scene_run_state *run) {
  for (int i = 0; i < run->n_places; i++) {
    scene_place *place = &run->places[i];
    place->touched = place->touches;
    place->stuck = place->touches && place->sticks;
    place->touches = false;
    place->sticks = true;
  }
  int known = run->n_places;
  look_at_contacts(run);
  for (int i = 0; i < run->n_places; i++) {
    if (i >= known) run->places[i].touched = run->places[i].stuck = false;
    note_place(run, i);
  }
  bool rests = is_at_rest(run);
  if (rests != run->at_rest)
    scene_add_event(run, run->time, rests ? "rest" : "motion", -1);
  run->at_rest = rests;
}
