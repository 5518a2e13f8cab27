#include "assembly/recall.h"

#include <math.h>

#include "common/vec3.h"

bool recall_find(recall *r, const contact_memory *memory,
                 const world_snapshot *world, const world_contacts *contacts,
                 bool stops, double radius) {
  if (contacts == NULL) contacts = &world->contacts;
  size_t most = (size_t)(world->n_joint_rows + contacts->n);
  r->arena.source = world->arena.source;
  arena_start(&r->arena);
  if (!ARENA_TAKE(&r->arena, r->keys, most) ||
      !ARENA_TAKE(&r->arena, r->matches, most) ||
      !ARENA_TAKE(&r->arena, r->joint_key, world->n_joints) ||
      !ARENA_TAKE(&r->arena, r->contact_key, contacts->n))
    return false;
  r->n_keys = 0;
  for (int j = 0; j < world->n_joints; j++) {
    const world_joint *joint = &world->joints[j];
    r->joint_key[j] = joint->rows >= 0 ? r->n_keys : -1;
    if (joint->rows < 0) continue;
    r->keys[r->n_keys++] =
        (contact_entry){.serial = {world_serial(world, joint->body[0]),
                                   world_serial(world, joint->body[1])},
                        .joint = dJointGetSerial(joint->id),
                        .number = j};
  }
  for (int k = 0; k < contacts->n; k++) {
    bool asked = stops || contacts->items[k].stop < 0;
    r->contact_key[k] = asked ? r->n_keys : -1;
    if (asked) world_contact_key(&r->keys[r->n_keys++], world, contacts, k);
  }
  contact_memory_match(memory, r->keys, r->n_keys, radius, r->matches);
  return true;
}

contact_match recall_contact(const recall *r, int k) {
  int key = r != NULL ? r->contact_key[k] : -1;
  return key >= 0 ? r->matches[key] : (contact_match){.old = NULL};
}

const contact_entry *recall_joint(const recall *r, int j) {
  int key = r != NULL ? r->joint_key[j] : -1;
  return key >= 0 ? r->matches[key].old : NULL;
}

double recall_sign(const world_snapshot *world, const host_contact *point) {
  return world_serial(world, point->body[0]) >
                 world_serial(world, point->body[1])
             ? 1
             : -1;
}

void recall_joint_impulses(double guess[], int n_rows,
                           const contact_entry *old) {
  /* where a stop was reached or left, the rows before its own are the same */
  for (int i = 0; i < n_rows; i++)
    guess[i] = old != NULL && i < old->n_rows ? old->impulses[i] : NAN;
}

void recall_contact_impulses(double guess[], const contact_rows *rows,
                             const contact_entry *old, double sign) {
  for (int i = 0; i < rows->n_rows; i++) {
    if (old == NULL)
      guess[i] = NAN;
    else if (i >= 1 && i <= rows->n_sliding)
      guess[i] = sign * vec3_dot(rows->sliding_axis[i - 1], old->sliding);
    else
      guess[i] = old->impulses[i > 0 ? i - rows->n_sliding : 0];
  }
}
