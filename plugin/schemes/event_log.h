/* The events of a step, for those who ask about it afterwards: when, of which
 * kind, and which contacts and stops each is about. */
#ifndef ODE_MLCP_SCHEMES_EVENT_LOG_H
#define ODE_MLCP_SCHEMES_EVENT_LOG_H

#include "world/world.h"

enum { EVENTS_KEPT = 64 }; /* of a step, in their order; more are counted */

typedef struct logged_event {
  ode_mlcp_event event;
  int island; /* that it is counted with */
  int first;  /* of its contacts, which follow each other */
} logged_event;

/** Starts as zeros. */
typedef struct event_log {
  logged_event *events; /* [n] */
  int n;
  int island;                       /* of the events that are added now */
  ode_mlcp_event_contact *contacts; /* [n_contacts] */
  int n_contacts;
} event_log;

/** A step begins. */
void event_log_start(event_log *log);

/** An event happens; contacts that are added from now on are its own.
 *  @return false where memory ran out. */
bool event_log_event(event_log *log, memory_pool *pool,
                     ode_mlcp_event_kind kind, double time);

/** Contact or stop k of `world` is what the last event is about.
 *  @return false where memory ran out. */
bool event_log_contact(event_log *log, memory_pool *pool,
                       const world_snapshot *world, int k,
                       ode_mlcp_event_change change);

/** Take back the events of an island. */
void event_log_drop(event_log *log, int island);

/** The step is through: put the events of its islands in the order of time. */
void event_log_sort(event_log *log);

/** Event number `index`, from 0; false past the last. */
bool event_log_get(const event_log *log, int index, ode_mlcp_event *event);

/** Contact number `k`, from 0, of an event; false past the last. */
bool event_log_get_contact(const event_log *log, int index, int k,
                           ode_mlcp_event_contact *contact);

#endif
