/* Contacts with what neighbours cover: a body of several geoms, the world with all
 * that has no body, is one solid. Its geoms are asked one by one, and the edge of
 * a tile has normals of its own that the floor does not have. Such a contact would
 * push sideways what comes near, and what overlaps does so under ap and ah, too ("tiles
 * 1 0.002 1.1" of tests/test_preload_floors.sh).
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
  gap_context *gaps;
  inner_contact *contacts; /* the caller's, */
  bool *inner;             /* and true for those that are void */
  dGeomID probe;           /* a small ball outside of all spaces */
  inner_place *places;     /* [2 n] contacts, either way, by the geom pushed */
  inner_geom *geoms;       /* [n] of the solid at hand, */
  gap_tree tree;           /* of their boxes, */
  int32_t *near;           /* and those near a contact */
} inner_search;

/** Room for `n` contacts. @return false where memory ran out. */
bool inner_contacts_reserve(inner_search *search, size_t n);

/** A contact as dCollide tells of one, its place by `shift` (m) along the normal from
 *  half-way between the surfaces. */
void inner_contact_read(inner_contact *contact, const dContactGeom *geom,
                        const dBodyID body[2], double shift);

/** Find those of search->contacts [n] that others of the same geom make void
 *  (docs/formulation.md, eq. 11b): into search->inner. Room was reserved.
 *  @return false where memory ran out. */
bool inner_contacts_find(inner_search *search, int n);

/** Probe and gap context go; the search may be used again, or its pool be released. */
void inner_contacts_release(inner_search *search);

#endif
