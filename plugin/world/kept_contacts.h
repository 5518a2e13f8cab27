/* Contacts of the last step that the program does not tell of in this one, since
 * rounding opened them by a hair: they stay contacts, with their signed gap.
 *
 * The host tells of what overlaps. A structure at rest has hundreds of points that
 * touch without carrying anything; rounding decides in each step which of them
 * are told, and each change asks for another distribution of the load.
 *
 * Rings of bricks take six times the time without, towers of cards twice the solves.
 *
 * The memory needs no geoms, so it holds for any program's contacts and no
 * pointer of the program is followed. It is safe since what is kept and carries
 * load is pressed to the rest depth within the step (hair_rest_depth): the
 * program tells of it in the next one, or has given it up, and it is forgotten.
 */
#ifndef ODE_MLCP_WORLD_KEPT_CONTACTS_H
#define ODE_MLCP_WORLD_KEPT_CONTACTS_H

#include "world/contact_memory.h"
#include "world/told_contacts.h"

/** A contact as the program told of it last. */
typedef struct kept_contact {
  dContact contact; /* with the surface that was last told of for its bodies */
  double normal[3]; /* into the body that comes second in its entry, in the
                       frame of the first */
} kept_contact;

/** Starts as zeros with `pool` set. */
typedef struct kept_contacts {
  memory_pool *pool;
  contact_memory memory;  /* of the last step: `number` into `last` */
  kept_contact *last;     /* [memory.count] */
  contact_entry *entries; /* [n] of the step in hand, */
  kept_contact *next;     /* [n] */
  int n;
  contact_match *matches; /* [n] of those told of */
  dBodyID *bodies;        /* [n_bodies] of the world, by serial */
  size_t n_bodies;
  dJointGroupID joints; /* made for the step in hand; serials follow each
                             other */
  int n_joints;
  unsigned long first_serial;
} kept_contacts;

/**
 * Find the contacts that are told of among those of the last step, and make contact
 * joints of what is missing and open by a hair.
 *
 * @return false where memory ran out.
 */
bool kept_contacts_make_joints(kept_contacts *kept, dWorldID world,
                               double step_size, const told_contacts *told);

/** The joints go; where the step was taken, the next one goes on from here. */
void kept_contacts_end_step(kept_contacts *kept, bool taken);

/** True if the joint was made here in this step. */
bool kept_contacts_has(const kept_contacts *kept, dJointID joint);

/** Forget all; may be used again, or its pool be released. */
void kept_contacts_release(kept_contacts *kept);

#endif
