#include "world/kept_contacts.h"

#include <math.h>
#include <string.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "rows/hair.h"

/* --- bodies ------------------------------------------------------------------ */

/* In order of their creation, which is that of their serial numbers. */
static bool list_bodies(kept_contacts *kept, dWorldID world) {
  kept->n_bodies = dWorldGetBodies(world, NULL, 0);
  if (!POOL_RESERVE(kept->pool, kept->bodies, kept->n_bodies)) return false;
  dWorldGetBodies(world, kept->bodies, kept->n_bodies);
  return true;
}

static dBodyID find_body(const kept_contacts *kept, unsigned long serial) {
  size_t low = 0, high = kept->n_bodies;
  while (low < high) {
    size_t middle = (low + high) / 2;
    unsigned long found = dBodyGetSerial(kept->bodies[middle]);
    if (found == serial) return kept->bodies[middle];
    if (found < serial)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

static bool moves(dBodyID body) {
  return body != NULL && dBodyIsEnabled(body) && !dBodyIsKinematic(body);
}

static bool sleeps(dBodyID body) {
  return body != NULL && !dBodyIsEnabled(body);
}

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

static void place_of(dBodyID body, const double local[3], double place[3]) {
  from_frame(body, local, place);
  if (body != NULL) vec3_add_scaled(place, 1, real3(dBodyGetPosition(body)).at);
}

/* --- what is told ------------------------------------------------------------- */

/* Springs have no touch to lose: their force ends with their depth. */
static bool is_rigid(const dContact *contact) {
  return !(contact->surface.mode & (dContactSoftERP | dContactSoftCFM));
}

static bool is_usable(const dContact *contact) {
  double length = vec3_length(real3(contact->geom.normal).at);
  return length > 1e-6 && isfinite(length) && isfinite(contact->geom.depth) &&
         all_finite(real3(contact->geom.pos).at, 3);
}

/* Add the contact of a joint to those of the step in hand. */
static bool note(kept_contacts *kept, const dWorldJoint *joint) {
  const dContact *told = joint->contact;
  if (!is_rigid(told) || !is_usable(told)) return true;
  if (!POOL_GROW(kept->pool, kept->entries, kept->n + 1) ||
      !POOL_GROW(kept->pool, kept->next, kept->n + 1))
    return false;
  const dBodyID *body = joint->body;
  unsigned long serial[2];
  for (int side = 0; side < 2; side++)
    serial[side] = body[side] != NULL ? dBodyGetSerial(body[side]) : 0;
  int swapped = serial[0] > serial[1];
  contact_entry *entry = &kept->entries[kept->n];
  kept_contact *next = &kept->next[kept->n];
  *entry = (contact_entry){.serial = {serial[swapped], serial[!swapped]},
                           .told = dJointGetSerial(joint->joint),
                           .number = kept->n};
  /* the host's normal points into the first body, or away from the second */
  double normal[3];
  real_read(normal, told->geom.normal, 3);
  double scale = (swapped ? 1 : -1) / vec3_length(normal);
  vec3_add_scaled(entry->normal, scale, normal);
  for (int side = 0; side < 2; side++) {
    double arm[3];
    real_read(arm, told->geom.pos, 3);
    if (body[side] != NULL)
      vec3_add_scaled(arm, -1, real3(dBodyGetPosition(body[side])).at);
    to_frame(body[side], arm, entry->local[side ^ swapped]);
  }
  next->contact = *told;
  to_frame(body[swapped], entry->normal, next->normal);
  kept->n++;
  return true;
}

static bool note_told(kept_contacts *kept, const told_contacts *told) {
  kept->n = 0;
  for (int i = 0; i < told->n; i++)
    if (!told_contacts_is_void(told, told->joints[i].joint) &&
        !note(kept, &told->joints[i]))
      return false;
  return true;
}

/* --- what is missing ------------------------------------------------------------ */

/* The present places of the two points of a contact of the last step. */
typedef struct opened {
  dBodyID body[2]; /* in the entry's order */
  double place[3]; /* m, half-way between */
  double normal[3];
  double gap, slid; /* m */
  double hair;      /* m: opened or slid further it is a contact no more */
} opened;

static bool open_again(const kept_contacts *kept, const contact_entry *entry,
                       const kept_contact *last, double gravity_way,
                       opened *now) {
  double place[2][3], apart[3];
  double size = INFINITY;
  for (int side = 0; side < 2; side++) {
    unsigned long serial = entry->serial[side];
    now->body[side] = serial != 0 ? find_body(kept, serial) : NULL;
    if (serial != 0 && now->body[side] == NULL) return false;
    if (serial != 0) size = fmin(size, vec3_length(entry->local[side]));
    place_of(now->body[side], entry->local[side], place[side]);
  }
  if (!(moves(now->body[0]) || moves(now->body[1])) || sleeps(now->body[0]) ||
      sleeps(now->body[1]))
    return false;
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

static bool make_joint(kept_contacts *kept, dWorldID world, const opened *now,
                       const kept_contact *last, const dContact *told) {
  dContact contact = last->contact;
  if (told != NULL) {
    contact.surface = told->surface;
    memcpy(contact.fdir1, told->fdir1, sizeof contact.fdir1);
    if (!is_rigid(told)) return true;
  }
  contact.geom.g1 = contact.geom.g2 = NULL; /* they may be gone */
  contact.geom.depth = -now->gap;
  real_write(contact.geom.pos, now->place, 3);
  real_write(contact.geom.normal, now->normal, 3);
  if (kept->joints == NULL) kept->joints = dJointGroupCreate(0);
  dJointID joint = dJointCreateContact(world, kept->joints, &contact);
  dJointAttach(joint, now->body[1], now->body[0]);
  if (kept->n_joints++ == 0) kept->first_serial = dJointGetSerial(joint);
  return true;
}

/* One told of in this step for the same bodies, for its surface; NULL: none. */
static const dContact *told_beside(const kept_contacts *kept, int run) {
  int k = kept->memory.claims[kept->memory.run_first[run]].first_key;
  return k >= 0 ? &kept->next[k].contact : NULL;
}

bool kept_contacts_make_joints(kept_contacts *kept, dWorldID world,
                               double step_size, const told_contacts *told) {
  dVector3 gravity;
  kept->n_joints = 0;
  dWorldGetGravity(world, gravity);
  double g = vec3_length(real3(gravity).at), way = (g * step_size) * step_size;
  if (!list_bodies(kept, world) || !note_told(kept, told) ||
      !contact_memory_reserve(&kept->memory, kept->pool, kept->n) ||
      !POOL_RESERVE(kept->pool, kept->matches, kept->n))
    return false;
  contact_memory_match(&kept->memory, kept->entries, kept->n, INFINITY,
                       kept->matches);
  for (int run = 0; run < kept->memory.n_runs; run++)
    for (int e = kept->memory.run_first[run];
         e < kept->memory.run_first[run + 1]; e++) {
      const contact_entry *entry = &kept->memory.entries[e];
      const kept_contact *last = &kept->last[entry->number];
      opened now;
      if (kept->memory.claims[e].taker >= 0 ||
          !open_again(kept, entry, last, way, &now) || !(now.gap <= now.hair) ||
          !(now.gap > -0.5 * hair_rest_depth(way, hair_rounding(now.place))) ||
          !(now.slid <= now.hair))
        continue;
      int k = kept->n;
      if (!POOL_GROW(kept->pool, kept->entries, k + 1) ||
          !POOL_GROW(kept->pool, kept->next, k + 1) ||
          !make_joint(kept, world, &now, last, told_beside(kept, run)))
        return false;
      kept->entries[k] = *entry;
      kept->entries[k].told = 0; /* no joint of the program's */
      kept->entries[k].number = k;
      vec3_copy(kept->entries[k].normal, now.normal);
      kept->next[k] = *last;
      kept->n++;
    }
  /* what the step takes over when it ends */
  return contact_memory_reserve(&kept->memory, kept->pool, kept->n);
}

void kept_contacts_end_step(kept_contacts *kept, bool taken) {
  if (kept->joints != NULL) dJointGroupEmpty(kept->joints);
  kept->n_joints = 0;
  if (!taken) return;
  contact_memory_take(&kept->memory, kept->entries, kept->n);
  kept_contact *last = kept->last;
  kept->last = kept->next;
  kept->next = last;
}

bool kept_contacts_has(const kept_contacts *kept, dJointID joint) {
  if (kept == NULL || kept->n_joints == 0) return false;
  unsigned long serial = dJointGetSerial(joint);
  return serial >= kept->first_serial &&
         serial - kept->first_serial < (unsigned long)kept->n_joints;
}

void kept_contacts_release(kept_contacts *kept) {
  if (kept->joints != NULL) dJointGroupDestroy(kept->joints);
  kept->joints = NULL;
  kept->n = kept->n_joints = kept->memory.count = 0;
  kept->memory.n_runs = 0;
}
