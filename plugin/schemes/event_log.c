#include "schemes/event_log.h"

#include <stdlib.h>
#include <string.h>

#include "common/vec3.h"

void event_log_start(event_log *log) { log->n = log->n_contacts = 0; }

bool event_log_event(event_log *log, memory_pool *pool,
                     ode_mlcp_event_kind kind, double time) {
  if (!POOL_GROW(pool, log->events, log->n + 1)) return false;
  log->events[log->n++] = (logged_event){.event = {.kind = kind, .time = time},
                                         .island = log->island,
                                         .first = log->n_contacts};
  return true;
}

static dBodyID body_of(const world_snapshot *world, int b) {
  return b >= 0 ? world->bodies[b].id : NULL;
}

bool event_log_contact(event_log *log, memory_pool *pool,
                       const world_snapshot *world, int k,
                       ode_mlcp_event_change change) {
  if (log->n == 0) return true;
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
  log->events[log->n - 1].event.n_contacts++;
  return true;
}

void event_log_drop(event_log *log, int island) {
  int kept = 0;
  for (int i = 0; i < log->n; i++)
    if (log->events[i].island != island) log->events[kept++] = log->events[i];
  log->n = kept;
}

static int compare_events(const void *left, const void *right) {
  const logged_event *a = left, *b = right;
  if (a->event.time != b->event.time)
    return a->event.time < b->event.time ? -1 : 1;
  if (a->island != b->island) return a->island < b->island ? -1 : 1;
  return (a->first > b->first) - (a->first < b->first);
}

void event_log_sort(event_log *log) {
  if (log->n > 1)
    qsort(log->events, (size_t)log->n, sizeof *log->events, compare_events);
}

static const logged_event *find_event(const event_log *log, int index) {
  bool there = index >= 0 && index < log->n && index < EVENTS_KEPT;
  return there ? &log->events[index] : NULL;
}

bool event_log_get(const event_log *log, int index, ode_mlcp_event *event) {
  const logged_event *found = find_event(log, index);
  if (found == NULL) return false;
  *event = found->event;
  return true;
}

bool event_log_get_contact(const event_log *log, int index, int k,
                           ode_mlcp_event_contact *contact) {
  const logged_event *found = find_event(log, index);
  if (found == NULL || k < 0 || k >= found->event.n_contacts) return false;
  *contact = log->contacts[found->first + k];
  return true;
}
