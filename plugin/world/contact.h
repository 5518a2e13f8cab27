/* A contact of a snapshot. */
#ifndef ODE_MLCP_WORLD_CONTACT_H
#define ODE_MLCP_WORLD_CONTACT_H

#include "host/contacts.h"
#include "world/contact_memory.h"

/** A contact, or a stop that a joint has not reached: whatever has a gap. */
typedef struct world_contact {
  host_contact point; /* of a stop: body, gap, multiplicity, bounce and whether
                         it is a spring alone */
  contact_identity identity; /* in the order of point.body */
  int joint;  /* a stop's, or the contact joint; -1: found at other poses */
  int found;  /* number in the collision function's list, -1: not from there */
  int stop;   /* into the stops beside the contacts, -1: a contact */
  bool asked; /* its geoms tell of it at other poses, too */
  double
      axis_rate[3]; /* 1/s: of an asked one, how the direction that its surface
                          gives has changed from step to step */
  /* the scheme's to set; a new contact is active, a stop is not */
  bool active;   /* takes part in solves */
  bool held;     /* touched when the velocities were last solved for */
  bool slipping; /* its friction was at its limit then */
  double hit;    /* s: when it last took part in an impact; -INFINITY */
  bool
      known_pair; /* its bodies touched when velocities were last solved for, */
  bool overlaps_pair; /* and were being moved apart */
} world_contact;

#endif
