/* What brings rows, and which bodies it ties together: the components of an island,
 * each of which is a problem of its own. */
#ifndef ODE_MLCP_ASSEMBLY_COMPONENTS_H
#define ODE_MLCP_ASSEMBLY_COMPONENTS_H

#include "assembly/request.h"

typedef enum item_kind {
  ITEM_JOINT, /* the host's rows of a joint */
  ITEM_CONTACT,
  ITEM_EXTRA,
  ITEM_STOP
} item_kind;

/** A source of rows of a component. */
typedef struct item {
  item_kind kind;
  int index; /* of the joint, contact or extra row */
  int next;  /* of the same component, -1 at the end */
} item;

/** Bodies that no row ties to the rest. */
typedef struct component {
  int n_bodies, first_body; /* into body_at */
  int first_item, last_item, n_contacts;
} component;

typedef struct component_set {
  item *
      items; /* [n_items] joints and contacts in the order of the host's joints,
                  contacts without one, extra rows, stops */
  int n_items;
  component *components; /* [n_components] in the order of their first bodies */
  int n_components;
  int *component_of; /* [n_bodies] -1: kinematic */
  int *problem_body; /* [n_bodies] index in its component, -1 kinematic */
  int *body_at;      /* bodies of all components, one after the other */
} component_set;

/** @param contacts  the request's, or its world's
 *  @return false with out->message when memory ran out, or a component has more contacts
 *          than the options allow. */
bool components_find(component_set *set, arena *arena,
                     const assembly_request *request,
                     const world_contacts *contacts, outcome *out);

#endif
