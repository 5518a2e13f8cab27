#include "world/contact_joints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "host/joints.h"
#include "rows/hair.h"

/* --- by serial ---------------------------------------------------------------- */

static int compare_joint(const void *serial, const void *item) {
  unsigned long a = *(const unsigned long *)serial,
                b = ((const contact_joint *)item)->serial;
  return (a > b) - (a < b);
}

static const contact_joint *find_item(const contact_joint items[], int n,
                                      unsigned long serial) {
  if (n == 0) return NULL;
  return bsearch(&serial, items, (size_t)n, sizeof *items, compare_joint);
}

const contact_joint *contact_joints_find(const contact_joints *joints,
                                         unsigned long serial) {
  return joints != NULL ? find_item(joints->items, joints->n, serial) : NULL;
}

static dBodyID find_body(const contact_joints *joints, unsigned long serial) {
  int b = serial_table_find(&joints->index, serial);
  return b >= 0 ? joints->bodies[b] : NULL;
}

/* --- told ----------------------------------------------------------------------- */

/* A contact between the bodies of its geoms, as dCollide told it; a program may
 * attach it to others. */
static bool describe(const dWorldJoint *joint,
                     const contact_joints_request *request,
                     inner_contact *entry) {
  const dContactGeom *told = &joint->contact->geom;
  if (told->g1 == NULL || told->g2 == NULL ||
      !request->is_alive(request->context, told->g1) ||
      !request->is_alive(request->context, told->g2))
    return false;
  inner_contact_read(entry, told, joint->body, 0);
  for (int side = 0; side < 2; side++)
    if (dGeomGetBody(entry->geom[side]) != entry->body[side]) return false;
  return fabs(vec3_length(entry->normal) - 1) <= real_rounding(1e-6) &&
         isfinite(told->depth) && all_finite(entry->point[0], 3);
}

static bool find_voids(contact_joints *joints,
                       const contact_joints_request *request) {
  inner_search *search = &request->source->inner;
  int n = 0;
  if (!inner_contacts_reserve(search, (size_t)joints->n) ||
      !POOL_RESERVE(joints->pool, joints->numbers, joints->n))
    return false;
  for (int i = 0; i < joints->n; i++)
    if (describe(&joints->listed[i], request, &search->contacts[n]))
      joints->numbers[n++] = i;
  if (!inner_contacts_find(search, n)) return false;
  for (int i = 0; i < n; i++) {
    contact_joint *item = &joints->items[joints->numbers[i]];
    const inner_contact *contact = &search->contacts[i];
    bool reversed = contact->body[0] == NULL;
    item->geom[0] = contact->geom[reversed];
    item->geom[1] = contact->geom[!reversed];
    if (search->inner[i]) item->origin = CONTACT_VOID;
  }
  return true;
}

/* `listed` begins with what `items` has then. */
static bool list_told(contact_joints *joints,
                      const contact_joints_request *request) {
  size_t count = dWorldGetJoints(request->world, NULL, 0);
  joints->n = 0;
  if (!POOL_RESERVE(joints->pool, joints->listed, count)) return false;
  dWorldGetJoints(request->world, joints->listed, count);
  for (size_t i = 0; i < count; i++)
    if (joints->listed[i].contact != NULL &&
        host_joint_steps(&joints->listed[i], false))
      joints->listed[joints->n++] = joints->listed[i];
  size_t room = (size_t)(joints->n + request->source->list.n_contacts) +
                (size_t)joints->n_last;
  if (!POOL_RESERVE(joints->pool, joints->items, room)) return false;
  for (int i = 0; i < joints->n; i++)
    joints->items[i] = (contact_joint){
        .serial = dJointGetSerial(joints->listed[i].joint), .found = -1};
  return request->is_alive == NULL || find_voids(joints, request);
}

/* --- made ------------------------------------------------------------------------ */

static dJointID make_joint(contact_joints *joints, dWorldID world,
                           const dContact *contact, dBodyID one, dBodyID other,
                           const contact_joint *item) {
  if (joints->made == NULL) joints->made = dJointGroupCreate(0);
  dJointID joint = dJointCreateContact(world, joints->made, contact);
  dJointAttach(joint, one, other);
  joints->items[joints->n] = *item;
  joints->items[joints->n++].serial = dJointGetSerial(joint);
  return joint;
}

static void make_found(contact_joints *joints,
                       const contact_joints_request *request) {
  const contact_source *source = request->source;
  for (int i = 0; i < source->list.n_contacts; i++) {
    const source_contact *contact = &source->list.contacts[i];
    const contact_joint item = {.origin = CONTACT_FOUND, .found = i};
    dJointID joint = make_joint(joints, request->world, &contact->contact,
                                contact->body[0], contact->body[1], &item);
    dJointSetFeedback(joint, &source->feedback[i]);
  }
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

/* Springs have no touch to lose: their force ends with their depth. */
static bool is_usable(const dContact *contact) {
  double length = vec3_length(real3(contact->geom.normal).at);
  return !(contact->surface.mode & (dContactSoftERP | dContactSoftCFM)) &&
         length > 1e-6 && isfinite(length) && isfinite(contact->geom.depth) &&
         all_finite(real3(contact->geom.pos).at, 3);
}

/* Where joint i of those told is, and its key. */
static void note(contact_joints *joints, int i) {
  contact_joint *item = &joints->items[i];
  const dWorldJoint *joint = &joints->listed[i];
  const dContact *told = joint->contact;
  if (item->origin == CONTACT_VOID || !is_usable(told)) return;
  const dBodyID *body = joint->body;
  unsigned long serial[2];
  for (int side = 0; side < 2; side++)
    serial[side] = body[side] != NULL ? dBodyGetSerial(body[side]) : 0;
  int swapped = serial[0] > serial[1];
  contact_entry *key = &joints->keys[joints->n_keys++];
  *key = (contact_entry){.serial = {serial[swapped], serial[!swapped]},
                         .told = item->serial};
  /* the host's normal points into the first body, or away from the second */
  double normal[3];
  real_read(normal, told->geom.normal, 3);
  double scale = (swapped ? 1 : -1) / vec3_length(normal);
  vec3_add_scaled(key->normal, scale, normal);
  for (int side = 0; side < 2; side++) {
    double arm[3];
    real_read(arm, told->geom.pos, 3);
    if (body[side] != NULL)
      vec3_add_scaled(arm, -1, real3(dBodyGetPosition(body[side])).at);
    to_frame(body[side], arm, key->local[side ^ swapped]);
  }
  item->keeps = true;
  item->contact = *told;
  memcpy(item->local, key->local, sizeof item->local);
  to_frame(body[swapped], key->normal, item->normal);
}

/* --- kept: what is missing -------------------------------------------------------- */

/* The present places of the two points of a contact of the last step. */
typedef struct opened {
  dBodyID body[2]; /* the older first */
  double place[3]; /* m, half-way between */
  double normal[3];
  double gap, slid; /* m */
  double hair;      /* m: opened or slid further it is a contact no more */
} opened;

static bool open_again(const contact_joints *joints, const contact_entry *entry,
                       const contact_joint *last, double gravity_way,
                       opened *now) {
  double place[2][3], apart[3], size = INFINITY;
  bool dynamic = false;
  for (int side = 0; side < 2; side++) {
    unsigned long serial = entry->serial[side];
    dBodyID body = find_body(joints, serial);
    from_frame(body, last->local[side], place[side]);
    now->body[side] = body;
    if (serial == 0) continue;
    if (body == NULL || !dBodyIsEnabled(body)) return false;
    dynamic |= !dBodyIsKinematic(body);
    size = fmin(size, vec3_length(last->local[side]));
    vec3_add_scaled(place[side], 1, real3(dBodyGetPosition(body)).at);
  }
  if (!dynamic) return false;
  from_frame(now->body[0], last->normal, now->normal);
  vec3_subtract(apart, place[1], place[0]);
  double along = vec3_dot(apart, now->normal);
  now->gap = along - last->contact.geom.depth;
  vec3_copy(now->place, place[0]);
  vec3_add_scaled(now->place, 0.5, apart);
  now->hair = hair_gap(gravity_way, size, now->place);
  vec3_add_scaled(apart, -along, now->normal);
  now->slid = vec3_length(apart);
  return true;
}

static void keep(contact_joints *joints, dWorldID world, const opened *now,
                 const contact_joint *last) {
  contact_joint item = *last;
  dContact contact = last->contact;
  item.origin = CONTACT_KEPT;
  item.geom[0] = item.geom[1] = NULL; /* they may be gone */
  contact.geom.g1 = contact.geom.g2 = NULL;
  contact.geom.depth = -now->gap;
  real_write(contact.geom.pos, now->place, 3);
  real_write(contact.geom.normal, now->normal, 3);
  make_joint(joints, world, &contact, now->body[1], now->body[0], &item);
}

static bool make_kept(contact_joints *joints,
                      const contact_joints_request *request) {
  const contact_memory *memory = request->memory;
  int n_told = joints->n - request->source->list.n_contacts;
  dVector3 gravity;
  dWorldGetGravity(request->world, gravity);
  double g = vec3_length(real3(gravity).at);
  double way = (g * request->step_size) * request->step_size;
  size_t n_bodies = dWorldGetBodies(request->world, NULL, 0);
  joints->n_keys = 0;
  if (!POOL_RESERVE(joints->pool, joints->bodies, n_bodies) ||
      !POOL_RESERVE(joints->pool, joints->index.slots,
                    serial_table_room(n_bodies)) ||
      !POOL_RESERVE(joints->pool, joints->keys, n_told) ||
      !POOL_RESERVE(joints->pool, joints->matches, n_told))
    return false;
  dWorldGetBodies(request->world, joints->bodies, n_bodies);
  serial_table_start(&joints->index, n_bodies);
  for (size_t b = 0; b < n_bodies; b++)
    serial_table_add(&joints->index, dBodyGetSerial(joints->bodies[b]), (int)b);
  for (int i = 0; i < n_told; i++) note(joints, i);
  contact_memory_unclaim(memory);
  contact_memory_match(memory, joints->keys, joints->n_keys, INFINITY,
                       joints->matches);
  for (int e = 0; e < memory->count; e++) {
    const contact_joint *last =
        find_item(joints->last, joints->n_last, memory->entries[e].told);
    opened now;
    if (last != NULL && last->keeps && memory->claims[e].taker < 0 &&
        open_again(joints, &memory->entries[e], last, way, &now) &&
        now.gap <= now.hair && now.slid <= now.hair &&
        now.gap > -0.5 * hair_rest_depth(way, hair_rounding(now.place)))
      keep(joints, request->world, &now, last);
  }
  return true;
}

/* --- a step ------------------------------------------------------------------------ */

bool contact_joints_make(contact_joints *joints,
                         const contact_joints_request *request) {
  contact_source *source = request->source;
  joints->n = 0;
  joints->keeps = request->keeps;
  if (!contact_source_start_step(source, request->world, request->step_size,
                                 request->margin) ||
      !list_told(joints, request))
    return false;
  make_found(joints, request);
  return !joints->keeps || make_kept(joints, request);
}

void contact_joints_end_step(contact_joints *joints, bool taken) {
  if (joints->made != NULL) dJointGroupEmpty(joints->made);
  if (!taken) return;
  contact_joint *last = joints->last;
  joints->last = joints->items;
  joints->n_last = joints->n;
  joints->items = last;
  joints->n = 0;
}

void contact_joints_release(contact_joints *joints) {
  if (joints->made != NULL) dJointGroupDestroy(joints->made);
  joints->made = NULL;
  joints->n = joints->n_last = 0;
}
