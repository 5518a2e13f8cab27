#include "assembly/recall.h"

static void add_joint(recall *r, const world_snapshot *world, int j) {
  const world_joint *joint = &world->joints[j];
  r->joint_key[j] = r->n_keys;
  r->keys[r->n_keys++] =
      (contact_entry){.serial = {world_serial(world, joint->body[0]),
                                 world_serial(world, joint->body[1])},
                      .joint = dJointGetSerial(joint->id),
                      .number = j};
}

static void add_contact(recall *r, const world_snapshot *world,
                        const world_contacts *contacts, int k) {
  r->contact_key[k] = r->n_keys;
  world_contact_key(&r->keys[r->n_keys++], world, contacts, k);
}

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
  r->memory = memory;
  r->n_keys = 0;
  for (int k = 0; k < contacts->n; k++) r->contact_key[k] = -1;
  for (int j = 0; j < world->n_joints; j++) {
    r->joint_key[j] = -1;
    if (world->joints[j].rows >= 0) add_joint(r, world, j);
  }
  for (int k = 0; k < contacts->n; k++)
    if (stops || contacts->items[k].stop < 0)
      add_contact(r, world, contacts, k);
  contact_memory_match(memory, r->keys, r->n_keys, radius, r->matches);
  return true;
}

const contact_entry *recall_contact(const recall *r, int k) {
  int key = r->contact_key[k];
  return key >= 0 ? r->matches[key].old : NULL;
}
