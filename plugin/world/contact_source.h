/* The contacts of a step, one list, by where they are from:
 *
 *   found  the world's collision function finds them; each gets a joint, so that the
 *          host's islands know of it
 *   told   the program made the joint. A contact joint says which geoms it is of, and
 *          they may be gone when the step begins: they are looked at only where
 *          somebody knows that both are there (ode_mlcp_watch_geoms).
 *   kept   the program told of them in the last step, not in this one, since rounding
 *          opened them by a hair: they stay contacts, with their signed gap
 *
 * What neighbours cover (world/inner_contacts.h) takes no part, found or told.
 *
 * The host tells of what overlaps. A structure at rest has hundreds of points that
 * touch without carrying anything; rounding decides in each step which of them are
 * told, and each change asks for another distribution of the load. Houses of cards of
 * four and five levels take 1.6 to 11 times the work without what is kept; brick walls
 * and rings take as much.
 *
 * What is kept needs no geoms, so it holds for any program's contacts and no pointer
 * of the program is followed. It is safe since what carries load is pressed to the
 * rest depth within the step (hair_rest_depth): the program tells of it in the next
 * one, or has given it up, and it is forgotten.
 */
#ifndef ODE_MLCP_WORLD_CONTACT_SOURCE_H
#define ODE_MLCP_WORLD_CONTACT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/serial_table.h"
#include "gap/gap_ode.h"
#include "ode_mlcp.h"
#include "rows/contact_rows.h"
#include "world/contact_memory.h"
#include "world/inner_contacts.h"

typedef enum contact_origin {
  CONTACT_FOUND,
  CONTACT_TOLD,
  CONTACT_KEPT
} contact_origin;

/** A contact of the list; `contact.geom.depth` is minus the gap. */
typedef struct source_contact {
  contact_origin origin;
  unsigned long joint; /* its serial; 0: it has none */
  dBodyID body[2];     /* the second may be 0: the world */
  dContact contact;
  int polygon;         /* into the list's polygons, -1 for none */
  bool has_geoms;      /* between geoms that are there */
  bool covered;        /* told, but neighbours cover it */
  uint32_t feature[2]; /* gap_contact's, 0 where its geoms were not asked */
  /* told or kept */
  bool keeps; /* rigid: it is kept where the next step is not told of it, from
                 where the program told of it last: */
  double local[2][3]; /* in the frames of its bodies, the older first, */
  double normal[3];   /* into the second, in the frame of the first, */
  double depth;       /* m: and as told */
} source_contact;

/** Two geoms whose contacts the program wants to know. */
typedef struct source_pair {
  dGeomID geom[2];
  bool soft; /* by its surface */
} source_pair;

/** Contacts, in order those that a collision function found, those told, and those
 *  kept. */
struct ode_mlcp_contact_list {
  memory_pool *pool;
  const struct contact_source *source; /* that it is asked for */
  dWorldID world;
  double step_size; /* s */
  double margin;    /* m, or ODE_MLCP_MARGIN_AUTO */
  source_contact *contacts;
  int n_contacts;
  serial_table index; /* of the contacts by their joints */
  contact_polygon *polygons;
  int n_polygons;
  ode_mlcp_error error; /* the first that happened; the text says what */
  char message[160];
  bool
      pairs_only; /* set: pairs of geoms that the function asks about and that may
                      meet in two steps are noted, contacts are not found */
  source_pair *pairs;
  int n_pairs;
  gap_contact *found; /* of a pair */
  dBodyID *bodies;    /* of the world */
};

/** Geoms of moving bodies that are disabled for a while: 400 boxes apart on a plane take
 *  .6 s for 100 steps of the trapezoid, and 4.6 where none is hidden. Starts as zeros. */
typedef struct hidden_geoms {
  dGeomID *geoms; /* those that were enabled, island after island */
  int *first;     /* [islands + 1] */
  size_t n_islands;
} hidden_geoms;

/** Starts as zeros with `pool` and `inner.pool` set. */
typedef struct contact_source {
  memory_pool *pool;
  hidden_geoms hidden;
  const dStepperIsland *shown; /* [n_shown] where others are hidden, or NULL */
  size_t n_shown;
  ode_mlcp_collision *function; /* NULL: contacts come as joints alone */
  void *context;
  inner_search inner;         /* its gap context is the lists', too */
  ode_mlcp_contact_list list; /* of the step in hand, */
  ode_mlcp_contact_list last; /* and of the last that was taken */
  bool keeps;                 /* what is missing is kept */
  bool taken;                 /* the step of `list` was */
  dJointFeedback *feedback;   /* [n_found] of the joints of those found */
  int n_found;                /* they are the first of the list */
  dJointGroupID made;         /* the joints of those found and kept */
  dWorldJoint *joints;        /* of the world */
  serial_table bodies;        /* of the world, into list.bodies */
  contact_entry *keys;        /* [n_keys] of those told */
  contact_match *matches;     /* [n_keys] */
  int n_keys;
} contact_source;

/** What a step's contacts are made of. */
typedef struct contact_request {
  dWorldID world;
  double step_size, margin; /* s; m, or ODE_MLCP_MARGIN_AUTO */
  bool keeps;
  const contact_memory *memory;     /* of the last step */
  ode_mlcp_geom_function *is_alive; /* NULL: no geoms are known */
  void *context;
} contact_request;

/** Before its pool is released. */
void contact_source_release(contact_source *source);

/**
 * Fill a list with the contacts at the poses that the bodies and geoms have
 * now. The world must not be inside its islands' solves. Nothing but AABB
 * margins of geoms is changed.
 *
 * @param list  zeros but for its pool, or what an earlier call filled;
 *              contacts stay valid until the next call.
 * @return false where the function failed or memory ran out: list->message
 *         says why.
 */
bool contact_source_collect(contact_source *source, dWorldID world,
                            double step_size, double margin,
                            ode_mlcp_contact_list *list);

/** All contacts of two geoms into *found, which grows in `pool`. @return as
 *  gap_query. */
int contact_source_query(gap_context *gaps, memory_pool *pool,
                         gap_contact **found, dGeomID geom1, dGeomID geom2,
                         double margin, int flags);

/** List the geoms of islands, so that some of these can be hidden from the collision
 *  function: their geoms are disabled, and what neither moves nor is shown is not
 *  asked about. All are shown at first. @return false where memory ran out. */
bool contact_source_list_islands(contact_source *source,
                                 const dStepperIsland islands[],
                                 size_t n_islands);

/** Show these [n] of the islands alone; NULL: all. */
void contact_source_show(contact_source *source, const dStepperIsland shown[],
                         size_t n);

/** Show all for good: what was listed is forgotten. It may be called with nothing
 *  listed, and where a step was left half-way. */
void contact_source_end_hiding(contact_source *source);

/** Of the contacts from `first` on, those that neighbours of their geoms cover: what was
 *  found goes, what was told is marked. @return false where memory ran out. */
bool contact_source_take_covered(contact_source *source,
                                 ode_mlcp_contact_list *list, int first);

/** The bodies of a world into list->bodies. @return how many, -1: memory ran out. */
int contact_source_list_bodies(ode_mlcp_contact_list *list, dWorldID world);

/* --- of a step (contact_joints.c) -------------------------------------------- */

/** Make source->list of what the collision function finds, of the program's contact
 *  joints and of what is missing of these, and joints of what has none.
 *  @return false where the function failed or memory ran out: the list says why. */
bool contact_source_start_step(contact_source *source,
                               const contact_request *request);

/** The joints that were made go.
 *  @param taken  what is missing in the next step is what was in this one */
void contact_source_end_step(contact_source *source, bool taken);

/** What was in the last step is missing in the next no more. */
void contact_source_forget_step(contact_source *source);

/** The contact of a joint; NULL for others, and where `source` is NULL. */
const source_contact *contact_source_find(const contact_source *source,
                                          unsigned long joint);

#endif
