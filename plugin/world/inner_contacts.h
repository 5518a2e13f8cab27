/* Contacts with what neighbours cover: a body of several geoms, the world with all
 * that has no body, is one solid. Its geoms are asked one by one, and the edge of
 * a tile has normals of its own that the floor does not have. Such a contact would
 * push sideways what comes near.
 */
#ifndef ODE_MLCP_WORLD_INNER_CONTACTS_H
#define ODE_MLCP_WORLD_INNER_CONTACTS_H

#include "common/memory.h"
#include "gap/gap_ode.h"

/** A contact of two geoms. */
typedef struct inner_contact {
  dGeomID geom[2];
  dBodyID body[2];    /* NULL: the world */
  double point[2][3]; /* m: on the surface of each geom */
  double normal[3];   /* unit, into the first geom */
} inner_contact;

typedef struct inner_place inner_place;
typedef struct inner_geom inner_geom;

/** Starts as zeros with `pool` set. */
typedef struct inner_search {
  memory_pool *pool;
  dGeomID probe;       /* a small ball outside of all spaces */
  inner_place *places; /* [n] contacts by the geom that they push */
  inner_geom *geoms;   /* of the solid at hand */
} inner_search;

/**
 * Find the contacts that others of the same geom make void (docs/formulation.md,
 * eq. 11b).
 *
 * @param inner  [n] out
 * @return false where memory ran out.
 */
bool inner_contacts_find(inner_search *search, gap_context *gaps,
                         const inner_contact contacts[], int n, bool inner[]);

/** The probe goes; the search may be used again, or its pool be released. */
void inner_contacts_release(inner_search *search);

#endif
