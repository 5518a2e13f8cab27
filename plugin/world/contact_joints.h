/* The contact joints of a step, by where they are from:
 *
 *   told   the program made them. What neighbours cover is void
 *          (world/inner_contacts.h). A contact joint says which geoms it is of, and
 *          they may be gone when the step begins: they are looked at only where
 *          somebody knows that both are there (ode_mlcp_watch_geoms).
 *   found  made of what its collision function finds
 *   kept   the program told of them in the last step, not in this one, since rounding
 *          opened them by a hair: they stay contacts, with their signed gap
 *
 * The host tells of what overlaps. A structure at rest has hundreds of points that
 * touch without carrying anything; rounding decides in each step which of them are
 * told, and each change asks for another distribution of the load. Rings of bricks
 * take six times the time without what is kept, towers of cards twice the solves.
 *
 * What is kept needs no geoms, so it holds for any program's contacts and no pointer
 * of the program is followed. It is safe since what carries load is pressed to the
 * rest depth within the step (hair_rest_depth): the program tells of it in the next
 * one, or has given it up, and it is forgotten.
 */
#ifndef ODE_MLCP_WORLD_CONTACT_JOINTS_H
#define ODE_MLCP_WORLD_CONTACT_JOINTS_H

#include <ode/stepper.h>

#include "common/serial_table.h"
#include "world/contact_memory.h"
#include "world/contact_source.h"

typedef enum contact_origin {
  CONTACT_TOLD,
  CONTACT_VOID, /* told, but what neighbours cover */
  CONTACT_FOUND,
  CONTACT_KEPT
} contact_origin;

typedef struct contact_joint {
  unsigned long serial;
  contact_origin origin;
  int found; /* number in the function's list, -1: not from there */
  dGeomID
      geom[2]; /* of one told, in the order of a snapshot's bodies; NULL: not
                      known to be there */
  bool
      keeps; /* rigid: it is kept where the next step is not told of it, from */
  dContact contact;   /* when the program told of it last, */
  double local[2][3]; /* in the frames of its bodies, the older first, */
  double normal[3];   /* into the second, in the frame of the first */
} contact_joint;

/** Starts as zeros with `pool` set. */
typedef struct contact_joints {
  memory_pool *pool;
  bool keeps;           /* what is missing is kept */
  contact_joint *items; /* [n] by serial, of enabled bodies */
  int n;
  dJointGroupID made;  /* those found and kept */
  contact_joint *last; /* [n_last] items of the last step */
  int n_last;
  dWorldJoint *listed;    /* of the world */
  dBodyID *bodies;        /* of the world, */
  serial_table index;     /* and by their serials */
  contact_entry *keys;    /* [n_keys] of those told */
  contact_match *matches; /* [n_keys] */
  int n_keys;
  int *numbers; /* of those whose geoms are there */
} contact_joints;

/** What a step's contact joints are made of. */
typedef struct contact_joints_request {
  dWorldID world;
  double step_size, margin; /* s; m, or ODE_MLCP_MARGIN_AUTO */
  bool keeps;
  contact_source *source;
  const contact_memory *memory;     /* of the last step */
  ode_mlcp_geom_function *is_alive; /* NULL: no geoms are known */
  void *context;
} contact_joints_request;

/** List the program's contact joints of a world, ask its collision function, and make
 *  joints of what that finds and of what is missing.
 *  @return false where the function failed, the source's list says why, or memory ran
 *          out. */
bool contact_joints_make(contact_joints *joints,
                         const contact_joints_request *request);

/** The joints that were made go.
 *  @param taken  the memory of the last step is this one's now */
void contact_joints_end_step(contact_joints *joints, bool taken);

/** A joint of the list; NULL for others, and where `joints` is NULL. */
const contact_joint *contact_joints_find(const contact_joints *joints,
                                         unsigned long serial);

/** Forget all; may be used again, or its pool be released. */
void contact_joints_release(contact_joints *joints);

#endif
