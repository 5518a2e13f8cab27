/* Events within a step: collisions, and slips that end (PAGT 7.2, 7.5). */
#ifndef ODE_MLCP_SCHEMES_EVENTS_H
#define ODE_MLCP_SCHEMES_EVENTS_H

#include "schemes/event_state.h"

typedef enum event_kind {
  EVENT_NONE,
  EVENT_COLLISION, /* a contact that did not take part has overlap at the end */
  EVENT_TRANSITION /* a slip ends */
} event_kind;

typedef struct event {
  event_kind kind;
  double when; /* s after the start of the substep */
  bool again;  /* w->next is another step now: the trial is to be taken again */
} event;

/** Look at what overlaps at `at`, or would if surfaces had not stayed where the step
 *  began, into w->ahead. @return false with the outcome's message. */
bool events_look_ahead(event_state *w, const motion *at, double h);

/** The first event of the trial step from w->now to w->next of size h. On
 *  EVENT_TRANSITION w->next becomes the step to it. */
bool events_find(event_state *w, double h, event *found);

/** w->now becomes what the interpolant of the trial step is at `share`. */
void events_go_between(event_state *w, double share);

/** See which bodies are fast at w->now, and what they may meet. @return false where
 *  memory ran out. */
bool events_look_for_fast(event_state *w);

/** Hold fast bodies where they would pass through others on the way to w->next, a step
 *  of first order. @return false where memory ran out. */
bool events_hold(event_state *w);

/** The longest substep that fast bodies allow, s. */
double events_longest(event_state *w);

/** Contacts of `here` that collided become active.
 *  @param any  out: whether there are such
 *  @return false where memory ran out. */
bool events_mark_collided(event_state *w, bool *any);

/** Contacts whose slip ended at the last transition slip no more. @return false where
 *  memory ran out. */
bool events_flip(event_state *w);

#endif
