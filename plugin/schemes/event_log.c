#include "schemes/event_log.h"

#include <string.h>

#include "common/vec3.h"

void event_log_start(event_log *log) {
  log->n = log->n_contacts = 0;
  log->full = false;
}

void event_log_event(event_log *log, ode_mlcp_event_kind kind, double time) {
  log->full = log->n == EVENTS_KEPT;
  if (log->full) return;
  log->first[log->n] = log->n_contacts;
  log->events[log->n++] = (ode_mlcp_event){.kind = kind, .time = time};
}

static dBodyID body_of(const world_snapshot *world, int b) {
  return b >= 0 ? world->bodies[b].id : NULL;
}

bool event_log_contact(event_log *log, memory_pool *pool,
                       const world_snapshot *world, int k,
                       ode_mlcp_event_change change) {
  if (log->full || log->n == 0) return true;
  if (!POOL_GROW(pool, log->contacts, log->n_contacts + 1)) return false;
  const world_contact *contact = &world->contacts.items[k];
  ode_mlcp_event_contact *out = &log->contacts[log->n_contacts++];
  memset(out, 0, sizeof *out);
  out->change = change;
  for (int side = 0; side < 2; side++)
    out->body[side] = body_of(world, contact->point.body[side]);
  if (contact->stop >= 0) {
    out->joint = world->joints[contact->joint].id;
  } else {
    vec3_copy(out->position, contact->point.position);
    vec3_copy(out->normal, contact->point.normal);
  }
  log->events[log->n - 1].n_contacts++;
  return true;
}

bool event_log_get(const event_log *log, int index, ode_mlcp_event *event) {
  if (index < 0 || index >= log->n) return false;
  *event = log->events[index];
  return true;
}

bool event_log_get_contact(const event_log *log, int index, int k,
                           ode_mlcp_event_contact *contact) {
  if (index < 0 || index >= log->n || k < 0 ||
      k >= log->events[index].n_contacts)
    return false;
  *contact = log->contacts[log->first[index] + k];
  return true;
}
