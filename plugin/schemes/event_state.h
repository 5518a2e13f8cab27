/* The files of the event-driven step share the state of a step that is cut at
 * events (PAGT sec. 8). */
#ifndef ODE_MLCP_SCHEMES_EVENT_STATE_H
#define ODE_MLCP_SCHEMES_EVENT_STATE_H

#include "schemes/event_log.h"
#include "schemes/second_order.h"
#include "schemes/sweep.h"

/** Of a step: events that are closer are not told apart. */
#define SHORTEST_PART 1e-4

/** A body after a step. */
typedef struct body_memory {
  dBodyID id;
  unsigned long serial;
  /* as the commit left it */
  world_pose pose;
  double v[6];
  double v_alpha[6];
  double carry[6];    /* see second_order */
  int island, n_with; /* what it was solved with, and how many they were, */
  bool crowd;         /* to whom more happened than a step has events for */
} body_memory;

/** An island and, once it is solved, what was solved with it as the first. */
typedef struct event_island {
  int first_body, first_joint; /* in the step's results */
  int last, next; /* of those solved together: the last, of the first; the
                     next, -1 at the end */
  bool solved;
  int first_entry, n_entries; /* in `kept` */
  outcome out;
} event_island;

/** A contact of `here` that slides when a substep begins. */
typedef struct contact_slide {
  bool watched, ends;
  double direction[3]; /* of its slip then, m/s, */
  double speed;        /* and how fast */
} contact_slide;

typedef struct event_state {
  second_order s;       /* of the islands in hand */
  const step_rule *own; /* of the scheme; a step's may be the conserving one */
  motion now;           /* the start of the substep */
  motion next;          /* its trial end */
  world_snapshot ahead; /* the world there, */
  double ahead_size;    /* s: read for a trial step of this size */
  bool *unchanged;      /* [n_bodies] since the last step */
  bool *stiff;          /* [n_bodies] see forces_find_stiff */
  bool *jointed;        /* [n_bodies] where rounds did not settle */
  double *jump;         /* [6 n_bodies] of kinematic bodies' velocities */
  double
      *compressed; /* [6 n_bodies] velocities after an impact's compression, */
  double *struck;  /* [6 n_bodies] and after it */
  double *v_alpha; /* [6 n_bodies] of the last substep */

  /* contacts as the last substep left them */
  contact_memory memory;
  contact_entry *entries; /* [n_entries] */
  int n_entries;

  int *match;    /* [ahead's contacts] in `here` */
  double *share; /* [ahead's contacts] of the substep, when it collides */
  contact_entry *collided; /* keys of those that collide */
  int n_collided;
  contact_slide *slides; /* [here's contacts] */
  double longest;        /* s: no substep is longer */
  int n_events,
      n_failed;       /* of the step so far, and sizes that did not settle */
  bool crowd;         /* more happens in it than a step has events for */
  bool crowded;       /* so, or its part of the budget is spent: the rest is one
                     step of first order */
  bool tries_first;   /* it is one from its start, after a crowd */
  bool looked;        /* for the end of a slide, in this step */
  double draw_work;   /* products left for what is drawn of sets of impacts */
  int *home_of;       /* [here's contacts] in `home`, -1: new since then */
  double *given_back; /* [here's contacts] N s, by an impact */

  /* of the whole step */
  scheme_step part;      /* as the islands in hand see it */
  event_island *islands; /* [step's islands] */
  int *set;              /* [step's islands] solved together */
  int group;             /* the first of those in hand */
  dStepperIsland *group_islands;
  body_result *group_bodies; /* of several islands, to be put in their places */
  joint_result *group_joints;
  int *body_of; /* [n_bodies] in the whole step */
  int *tied;    /* [n_bodies] by springs, into sets */
  contact_entry *kept;
  int n_kept;
  world_pose *poses;             /* [all bodies] where they end */
  world_snapshot whole, meeting; /* bodies alone; and contacts at the end */
  dStepperIsland *bare;
  world_pose *coarse; /* [home's bodies] where they end with fewer substeps */
  body_memory *ends;  /* [n_ends] all bodies, of the step in hand */
  int n_ends;
  dBodyID *ids;        /* [n_bodies] */
  double *held_shares; /* [n_bodies] see step_sweep_hold; */
  double *way_v;       /* [6 n_bodies] velocities at its way's end */
  motion led;          /* the trial's end, as its way comes to it */
  step_sweep sweep;    /* of fast bodies: */
  double sweep_share;  /* where they meet in the trial step; */
  bool meets;          /* that is its first collision */
  bool curves;         /* has joints */
  bool warned;         /* of what the scheme cannot do */

  event_log log; /* of the last step */

  body_memory *bodies; /* of the last step that was taken, */
  serial_table index;  /* by their serials */
} event_state;

/** A body after the last step; NULL: that had no such body. */
static inline body_memory *event_find_body(const event_state *w,
                                           unsigned long serial) {
  int b = serial_table_find(&w->index, serial);
  return b >= 0 ? &w->bodies[b] : NULL;
}

/** m/s: below this a contact's bodies neither part nor come closer. */
double event_rate_tolerance(const event_state *w);

/** A solve that ended with its budget is no answer: the rest is a step of first order. */
void event_note_budget(event_state *w);

/** Where the events so far and `n_ahead` more are too many, the rest is a step of first
 *  order. */
void event_note_crowd(event_state *w, int n_ahead);

/** Try a step of size h, which ends at w->next, unless w->crowded is set by it.
 *  @return false with the outcome's message. */
bool event_try(event_state *w, double h);

/** True if a contact is of another pair than the last, whose bodies it replaces: contacts
 *  of a pair follow each other. */
static inline bool event_is_other_pair(const int **last,
                                       const world_contact *contact) {
  const int *body = contact->point.body;
  bool same = *last != NULL && (*last)[0] == body[0] && (*last)[1] == body[1];
  *last = body;
  return !same;
}

/** True if a stiff force acts on a body of the contact. */
bool event_is_stiff(const event_state *w, const world_contact *contact);

/** The part of its normal impulse that contact or stop k of `here` gives back at
 *  the velocities of `now`. */
double event_restitution(const event_state *w, int k);

static inline ode_mlcp_report *event_report(const event_state *w) {
  return &w->s.step->out->report;
}

/** Make room for `count` elements in a field.
 *  @return false with the message where memory ran out. */
#define EVENT_RESERVE(w, field, count)                                         \
  (POOL_RESERVE((w)->s.step->pool, (w)->field, (count)) ||                     \
   outcome_no_memory((w)->s.step->out))

#endif
