/* The contacts of a step: found, told and kept, and their joints. */
#include <math.h>
#include <string.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "host/joints.h"
#include "rows/hair.h"
#include "world/contact_source.h"

static const source_contact *find(const ode_mlcp_contact_list *list,
                                  unsigned long joint) {
  int i = serial_table_find(&list->index, joint);
  return i >= 0 ? &list->contacts[i] : NULL;
}

const source_contact *contact_source_find(const contact_source *source,
                                          unsigned long joint) {
  return source != NULL ? find(&source->list, joint) : NULL;
}

static bool make_index(ode_mlcp_contact_list *list) {
  size_t n = (size_t)list->n_contacts;
  if (!POOL_RESERVE(list->pool, list->index.slots, serial_table_room(n)))
    return false;
  serial_table_start(&list->index, n);
  for (int i = 0; i < list->n_contacts; i++)
    serial_table_add(&list->index, list->contacts[i].joint, i);
  return true;
}

static source_contact *add(ode_mlcp_contact_list *list) {
  return POOL_GROW(list->pool, list->contacts, list->n_contacts + 1)
             ? &list->contacts[list->n_contacts++]
             : NULL;
}

static dJointID make_joint(contact_source *source, dWorldID world,
                           source_contact *contact) {
  if (source->made == NULL) source->made = dJointGroupCreate(0);
  dJointID joint = dJointCreateContact(world, source->made, &contact->contact);
  dJointAttach(joint, contact->body[0], contact->body[1]);
  contact->joint = dJointGetSerial(joint);
  return joint;
}

/* --- told ------------------------------------------------------------------------ */

/* Between the bodies of its geoms, as dCollide told it; a program may attach it to
 * others. */
static bool geoms_are_there(const source_contact *told,
                            const contact_request *request) {
  const dContactGeom *geom = &told->contact.geom;
  const dGeomID geoms[2] = {geom->g1, geom->g2};
  for (int side = 0; side < 2; side++)
    if (geoms[side] == NULL ||
        !request->is_alive(request->context, geoms[side]) ||
        dGeomGetBody(geoms[side]) != told->body[side])
      return false;
  return fabs(vec3_length(real3(geom->normal).at) - 1) <= real_rounding(1e-6) &&
         isfinite(geom->depth) && all_finite(real3(geom->pos).at, 3);
}

static bool list_told(contact_source *source, const contact_request *request) {
  ode_mlcp_contact_list *list = &source->list;
  size_t count = dWorldGetJoints(request->world, NULL, 0);
  if (!POOL_RESERVE(source->pool, source->joints, count)) return false;
  dWorldGetJoints(request->world, source->joints, count);
  for (size_t i = 0; i < count; i++) {
    const dWorldJoint *joint = &source->joints[i];
    if (joint->contact == NULL || !host_joint_steps(joint)) continue;
    source_contact *told = add(list);
    if (told == NULL) return false;
    *told = (source_contact){.origin = CONTACT_TOLD,
                             .joint = dJointGetSerial(joint->joint),
                             .body = {joint->body[0], joint->body[1]},
                             .contact = *joint->contact,
                             .polygon = -1};
    told->has_geoms =
        request->is_alive != NULL && geoms_are_there(told, request);
  }
  return request->is_alive == NULL ||
         contact_source_take_covered(source, list, source->n_found);
}

/* --- kept: what is told ---------------------------------------------------------- */

static void to_frame(dBodyID body, const double arm[3], double local[3]) {
  if (body == NULL) {
    vec3_copy(local, arm);
    return;
  }
  const dReal *R = dBodyGetRotation(body);
  for (int i = 0; i < 3; i++)
    local[i] = R[i] * arm[0] + R[4 + i] * arm[1] + R[8 + i] * arm[2];
}

static void from_frame(dBodyID body, const double local[3], double arm[3]) {
  if (body == NULL) {
    vec3_copy(arm, local);
    return;
  }
  const dReal *R = dBodyGetRotation(body);
  for (int i = 0; i < 3; i++) arm[i] = vec3_dot(real3(R + 4 * i).at, local);
}

/* Where a contact that was told is, and its key. Springs have no touch to lose: their
 * force ends with their depth. */
static void note(contact_source *source, source_contact *told) {
  const int none[2] = {-1, -1};
  const char *bad_name;
  double bad_value;
  host_contact point;
  if (told->covered ||
      (told->contact.surface.mode & (dContactSoftERP | dContactSoftCFM)) ||
      host_contact_read(&point, &told->contact, false, none, NULL, &bad_name,
                        &bad_value) != CONTACT_USABLE)
    return;
  const dBodyID *body = told->body;
  unsigned long serial[2];
  for (int side = 0; side < 2; side++)
    serial[side] = body[side] != NULL ? dBodyGetSerial(body[side]) : 0;
  int swapped = serial[0] > serial[1];
  contact_entry *key = &source->keys[source->n_keys++];
  *key = (contact_entry){.serial = {serial[swapped], serial[!swapped]},
                         .told = told->joint};
  /* the host's normal points into the first body, or away from the second */
  vec3_add_scaled(key->normal, swapped ? 1 : -1, point.normal);
  for (int side = 0; side < 2; side++) {
    double arm[3];
    vec3_copy(arm, point.position);
    if (body[side] != NULL)
      vec3_add_scaled(arm, -1, real3(dBodyGetPosition(body[side])).at);
    to_frame(body[side], arm, key->local[side ^ swapped]);
  }
  told->keeps = true;
  told->depth = -point.gap;
  memcpy(told->local, key->local, sizeof told->local);
  to_frame(body[swapped], key->normal, told->normal);
}

/* --- kept: what is missing -------------------------------------------------------- */

int contact_source_list_bodies(ode_mlcp_contact_list *list, dWorldID world) {
  size_t count = dWorldGetBodies(world, NULL, 0);
  if (!POOL_RESERVE(list->pool, list->bodies, count)) return -1;
  dWorldGetBodies(world, list->bodies, count);
  return (int)count;
}

static dBodyID find_body(const contact_source *source, unsigned long serial) {
  int b = serial_table_find(&source->bodies, serial);
  return b >= 0 ? source->list.bodies[b] : NULL;
}

/* Of the two points of a contact of the last step, where they are now.
 * @return false where it is a contact no more: opened or slid by more than a hair. */
static bool is_kept(const contact_source *source, const contact_entry *entry,
                    const source_contact *last, double way,
                    source_contact *now) {
  double place[2][3], apart[3], normal[3], size = INFINITY;
  *now = *last;
  for (int side = 0; side < 2; side++) {
    unsigned long serial = entry->serial[side];
    dBodyID body = find_body(source, serial);
    from_frame(body, last->local[side], place[side]);
    now->body[!side] = body;
    if (serial == 0) continue;
    if (body == NULL || !dBodyIsEnabled(body)) return false;
    size = fmin(size, vec3_length(last->local[side]));
    vec3_add_scaled(place[side], 1, real3(dBodyGetPosition(body)).at);
  }
  from_frame(now->body[1], last->normal, normal);
  vec3_subtract(apart, place[1], place[0]);
  double along = vec3_dot(apart, normal);
  double gap = along - last->depth;
  vec3_add_scaled(place[0], 0.5, apart);
  vec3_add_scaled(apart, -along, normal);
  double hair = hair_gap(way, size, place[0]);
  now->origin = CONTACT_KEPT;
  now->has_geoms = false; /* they may be gone */
  now->contact.geom.g1 = now->contact.geom.g2 = NULL;
  now->contact.geom.depth = (dReal)-gap;
  real_write(now->contact.geom.pos, place[0], 3);
  real_write(now->contact.geom.normal, normal, 3);
  return gap <= hair && vec3_length(apart) <= hair &&
         gap > -0.5 * hair_rest_depth(way, hair_rounding(place[0]));
}

static bool keep_missing(contact_source *source,
                         const contact_request *request) {
  ode_mlcp_contact_list *list = &source->list;
  const contact_memory *memory = request->memory;
  dVector3 gravity;
  dWorldGetGravity(request->world, gravity);
  double g = vec3_length(real3(gravity).at);
  double way = (g * request->step_size) * request->step_size;
  int n_bodies = contact_source_list_bodies(list, request->world);
  source->n_keys = 0;
  if (n_bodies < 0 ||
      !POOL_RESERVE(source->pool, source->bodies.slots,
                    serial_table_room((size_t)n_bodies)) ||
      !POOL_RESERVE(source->pool, source->keys, list->n_contacts) ||
      !POOL_RESERVE(source->pool, source->matches, list->n_contacts))
    return false;
  serial_table_start(&source->bodies, (size_t)n_bodies);
  for (int b = 0; b < n_bodies; b++)
    serial_table_add(&source->bodies, dBodyGetSerial(list->bodies[b]), b);
  for (int i = source->n_found; i < list->n_contacts; i++)
    note(source, &list->contacts[i]);
  contact_memory_unclaim(memory);
  contact_memory_match(memory, source->keys, source->n_keys, INFINITY,
                       source->matches);
  for (int e = 0; e < memory->count; e++) {
    const contact_entry *entry = &memory->entries[e];
    const source_contact *last = find(&source->last, entry->told);
    source_contact now;
    if (last == NULL || !last->keeps || memory->claims[e].taker >= 0 ||
        !is_kept(source, entry, last, way, &now))
      continue;
    source_contact *kept = add(list);
    if (kept == NULL) return false;
    *kept = now;
    make_joint(source, request->world, kept);
  }
  return true;
}

/* --- a step ------------------------------------------------------------------------ */

bool contact_source_start_step(contact_source *source,
                               const contact_request *request) {
  if (source->taken) {
    ode_mlcp_contact_list last = source->last;
    source->last = source->list;
    source->list = last;
  }
  ode_mlcp_contact_list *list = &source->list;
  list->pool = source->pool;
  list->n_contacts = source->n_found = 0;
  list->message[0] = '\0';
  source->taken = false;
  source->keeps = request->keeps;
  if (source->function != NULL &&
      !contact_source_collect(source, request->world, request->step_size,
                              request->margin, list))
    return false;
  int n_found = source->n_found = list->n_contacts;
  if (!POOL_RESERVE(source->pool, source->feedback, n_found) ||
      !list_told(source, request))
    return false;
  memset(source->feedback, 0, (size_t)n_found * sizeof *source->feedback);
  for (int i = 0; i < n_found; i++)
    dJointSetFeedback(make_joint(source, request->world, &list->contacts[i]),
                      &source->feedback[i]);
  return (!source->keeps || keep_missing(source, request)) && make_index(list);
}

void contact_source_end_step(contact_source *source, bool taken) {
  if (source->made != NULL) dJointGroupEmpty(source->made);
  source->taken = taken;
}

void contact_source_forget_step(contact_source *source) {
  source->taken = false;
  source->last.index.mask = 0;
}

void contact_source_release(contact_source *source) {
  inner_contacts_release(&source->inner);
  if (source->made != NULL) dJointGroupDestroy(source->made);
}
