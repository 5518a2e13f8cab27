/* What whole_step.c and events.c share. */
#ifndef ODE_MLCP_SCHEMES_WHOLE_STEP_PARTS_H
#define ODE_MLCP_SCHEMES_WHOLE_STEP_PARTS_H

#include <stdlib.h>

#include "schemes/second_order.h"
#include "schemes/whole_step.h"

/** A contact as the last substep left it. */
typedef struct contact_memory {
  unsigned long serial[2], joint; /* in the order of form_contact_swapped */
  int stop;
  double local[2][3], normal[3];
  bool held, slipping;
  double hit;
} contact_memory;

/** A body as the last step's commit left it. */
typedef struct body_memory {
  unsigned long serial;
  form_pose pose;
  double v[6];
} body_memory;

typedef struct body_v_alpha {
  unsigned long serial;
  double v[6];
} body_v_alpha;

/** Impulses of a contact of `here` in a trial step. */
typedef struct contact_probe {
  double normal;     /* N s */
  double tangent[3]; /* on the body that comes first in the form, N s */
  bool holds;        /* pushes, or does not part */
} contact_probe;

/** What is watched about a contact of `here`. */
enum { WATCH_STOP = 1, WATCH_SLIP = 2, WATCH_LEAVE = 4 };

typedef struct contact_watch {
  int kinds;
  double direction[3]; /* of its slip at the start, */
  double speed;        /* and how fast */
  double value[3];     /* per kind; below 0 past its event */
} contact_watch;

enum { WHOLE_STEP_EVENTS = 64 };

struct whole_step {
  const memory_source *source;
  second_order s;
  motion now;      /* the start of the substep */
  motion next;     /* its trial end */
  form_view ahead; /* the world there */

  double *lambda;      /* [6 n_joints] N s over the step */
  double *joint_force; /* [12 n_joints] */
  bool *unchanged;     /* [n_bodies] since the last step */

  int *match;          /* [ahead.n_contacts] in `here` */
  double *share;       /* [ahead.n_contacts] of the substep, when it collides */
  int n_collided;
  contact_watch *watch; /* [here.n_contacts] */
  contact_probe *probe, *other_probe;

  /* of the last step, in their order; what is more is only counted */
  ode_mlcp_event events[WHOLE_STEP_EVENTS];
  int n_events;

  int n_contact_memory, n_body_memory, n_v_alpha;
  body_v_alpha *v_alpha;
  memory_block contact_memory_block, body_memory_block, lambda_block,
      joint_force_block, match_block, share_block,
      watch_block, value_block, probe_block, other_probe_block, v_alpha_block,
      unchanged_block, collided_block;
  form_contact *collided; /* copies of those of `ahead` */
};

bool whole_step_no_memory(whole_step *w);

/** m/s: below this a contact's bodies neither part nor come closer. */
double whole_step_rate_tolerance(const whole_step *w);

/** Whether a stiff force acts on a body of the contact. */
bool whole_step_is_stiff(const whole_step *w, const form_contact *contact);

void keep_v_alpha(whole_step *w);

#endif
