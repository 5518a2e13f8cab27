#include "assembly/components.h"

#include <string.h>

#include "common/disjoint_sets.h"
#include "rows/contact_rows.h"

/* --- items ------------------------------------------------------------------ */

static const int *bodies_of(const assembly_request *request,
                            const world_contacts *contacts, const item *item) {
  switch (item->kind) {
    case ITEM_JOINT: return request->world->joints[item->index].body;
    case ITEM_EXTRA: return request->extra[item->index].body;
    default: return contacts->items[item->index].point.body;
  }
}

static void add_item(component_set *set, item_kind kind, int index) {
  set->items[set->n_items++] = (item){kind, index, -1};
}

static bool takes_contact(const assembly_request *request,
                          const world_contact *contact) {
  return contact->active && contact_takes_part(&contact->point, request->level);
}

static void list_items(component_set *set, const assembly_request *request,
                       const world_contacts *contacts) {
  const world_snapshot *world = request->world;
  set->n_items = 0;
  for (int j = 0, k = 0; j <= world->n_joints; j++) {
    bool last = j == world->n_joints;
    if (!last && world->joints[j].rows >= 0) add_item(set, ITEM_JOINT, j);
    for (; k < contacts->n && (last || contacts->items[k].joint == j); k++)
      if (contacts->items[k].stop < 0 &&
          takes_contact(request, &contacts->items[k]))
        add_item(set, ITEM_CONTACT, k);
  }
  for (int k = 0; k < request->n_extra; k++) add_item(set, ITEM_EXTRA, k);
  for (int k = 0; k < contacts->n; k++)
    if (contacts->items[k].stop >= 0 &&
        (takes_contact(request, &contacts->items[k]) || request->adds_stops))
      add_item(set, ITEM_STOP, k);
}

/* --- components ------------------------------------------------------------- */

/* Sets of bodies, in problem_body until that is filled. */
static void unite_bodies(component_set *set, const assembly_request *request,
                         const world_contacts *contacts) {
  const world_snapshot *world = request->world;
  int *parent = set->problem_body;
  for (int b = 0; b < world->n_bodies; b++) parent[b] = b;
  for (int i = 0; i < set->n_items; i++) {
    const int *body = bodies_of(request, contacts, &set->items[i]);
    if (world_is_dynamic(world, body[0]) && world_is_dynamic(world, body[1]))
      unite_sets(parent, body[0], body[1]);
  }
}

/* Components are numbered by their first body. */
static void number_components(component_set *set, const world_snapshot *world) {
  int n = world->n_bodies;
  set->n_components = 0;
  for (int b = 0; b < n; b++) {
    set->component_of[b] = -1;
    if (!world_is_dynamic(world, b)) continue;
    int root = set_of(set->problem_body, b);
    if (root == b) {
      set->components[set->n_components] =
          (component){.first_item = -1, .last_item = -1};
      set->component_of[b] = set->n_components++;
    } else {
      set->component_of[b] = set->component_of[root];
    }
  }
  for (int b = 0; b < n; b++) {
    int c = set->component_of[b];
    set->problem_body[b] = c < 0 ? -1 : set->components[c].n_bodies++;
  }
  for (int c = 0, first = 0; c < set->n_components; c++) {
    set->components[c].first_body = first;
    first += set->components[c].n_bodies;
  }
  for (int b = 0; b < n; b++)
    if (set->component_of[b] >= 0)
      set->body_at[set->components[set->component_of[b]].first_body +
                   set->problem_body[b]] = b;
}

static void chain_items(component_set *set, const assembly_request *request,
                        const world_contacts *contacts) {
  for (int i = 0; i < set->n_items; i++) {
    const int *body = bodies_of(request, contacts, &set->items[i]);
    int of = body[world_is_dynamic(request->world, body[0]) ? 0 : 1];
    if (!world_is_dynamic(request->world, of)) continue;
    component *c = &set->components[set->component_of[of]];
    if (c->first_item < 0)
      c->first_item = i;
    else
      set->items[c->last_item].next = i;
    c->last_item = i;
    c->n_contacts += set->items[i].kind == ITEM_CONTACT;
  }
}

/* The limit is one of memory. */
static bool few_enough(const component_set *set,
                       const ode_mlcp_options *options, outcome *out) {
  for (int i = 0; i < set->n_components; i++) {
    const component *c = &set->components[i];
    if (c->n_contacts <= options->max_contacts) continue;
    out->refused = true;
    return outcome_fail(out,
                        "an island of %d bodies has %d contacts, more than "
                        "max-contacts %d allows",
                        c->n_bodies, c->n_contacts, options->max_contacts);
  }
  return true;
}

bool components_find(component_set *set, arena *arena,
                     const assembly_request *request,
                     const world_contacts *contacts, outcome *out) {
  const world_snapshot *world = request->world;
  int n = world->n_bodies;
  int n_items = world->n_joint_rows + contacts->n + request->n_extra;
  if (!ARENA_TAKE(arena, set->items, n_items) ||
      !ARENA_TAKE(arena, set->components, n) ||
      !ARENA_TAKE(arena, set->component_of, n) ||
      !ARENA_TAKE(arena, set->problem_body, n) ||
      !ARENA_TAKE(arena, set->body_at, n))
    return outcome_no_memory(out);
  list_items(set, request, contacts);
  unite_bodies(set, request, contacts);
  number_components(set, world);
  chain_items(set, request, contacts);
  return few_enough(set, request->options, out);
}
