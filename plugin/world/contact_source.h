/* A world's own source of contacts: the program's collision function, and what it
 * found at the present poses. */
#ifndef ODE_MLCP_WORLD_CONTACT_SOURCE_H
#define ODE_MLCP_WORLD_CONTACT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/memory.h"
#include "gap/gap_ode.h"
#include "ode_mlcp.h"
#include "rows/contact_rows.h"
#include "world/inner_contacts.h"

/** A contact of the list; `contact.geom.depth` is minus the gap. */
typedef struct source_contact {
  dBodyID body[2]; /* the second may be 0: the world */
  dContact contact;
  int polygon;         /* into the list's polygons, -1 for none */
  bool of_pair;        /* found here, between geoms that are there */
  uint32_t feature[2]; /* gap_contact's, 0 where it is not of a pair */
} source_contact;

/** Two geoms whose contacts the program wants to know. */
typedef struct source_pair {
  dGeomID geom[2];
  bool soft; /* by its surface */
} source_pair;

/** Contacts that a collision function found, in its order. */
struct ode_mlcp_contact_list {
  memory_pool *pool;
  gap_context *gaps;
  dWorldID world;
  const dStepperIsland
      *shown; /* [n_shown] whose bodies alone move; NULL: all */
  size_t n_shown;
  double step_size; /* s */
  double margin;    /* m, or ODE_MLCP_MARGIN_AUTO */
  source_contact *contacts;
  int n_contacts;
  contact_polygon *polygons;
  int n_polygons;
  ode_mlcp_error error; /* the first that happened; the text says what */
  char message[160];
  bool pairs_only; /* geoms that may meet are noted, contacts are not found */
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
  const int *shown_index;      /* [n_shown] their numbers */
  size_t n_shown;
  ode_mlcp_collision *function; /* NULL: contacts come as joints alone */
  void *context;
  inner_search inner;         /* its gap context is the lists', too */
  ode_mlcp_contact_list list; /* of the step in hand */
  dJointFeedback *feedback;   /* [n_pushed] of the last step's joints, in the
                                 order of the list */
  int n_pushed;
} contact_source;

/** Forget the function and all that came of it; the source may be used again, or
 *  its pool be released. */
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

/** Show these of the islands alone, whose numbers are `index` [n]; NULL: all. */
void contact_source_show(contact_source *source, const dStepperIsland shown[],
                         const int index[], size_t n);

/** Show all for good: what was listed is forgotten. It may be called with nothing
 *  listed, and where a step was left half-way. */
void contact_source_end_hiding(contact_source *source);

/** The pairs of geoms that the function asks about and that may meet in two steps
 *  at the velocities that the bodies have now: into list->pairs. As
 *  contact_source_collect. */
bool contact_source_find_pairs(contact_source *source, dWorldID world,
                               double step_size, ode_mlcp_contact_list *list);

/** Collect into source->list what a step begins with, with room for the forces of
 *  joints made of it; nothing where there is no function. As contact_source_collect. */
bool contact_source_start_step(contact_source *source, dWorldID world,
                               double step_size, double margin);

#endif
