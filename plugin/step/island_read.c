#include "step/island_read.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/vec3.h"

static const char NO_MEMORY[] = "memory ran out";

/* --- bodies by their address ---------------------------------------------- */

/* An open-addressing table; addresses decide where an entry sits, never what
 * comes of it. */
typedef struct body_table {
  int *slots; /* body index + 1, 0 empty */
  size_t mask;
} body_table;

static size_t body_slot(const body_table *table, dBodyID id) {
  size_t address = (size_t)id;
  return (address >> 4 ^ address >> 12) & table->mask;
}

static bool body_table_fill(body_table *table, island_arrays *arrays,
                            const memory_source *source) {
  size_t size = 4;
  while (size < 2 * (size_t)arrays->n_bodies) size *= 2;
  table->slots = memory_block_reserve(&arrays->index_block, source, size,
                                      sizeof *table->slots);
  if (table->slots == NULL) return false;

  table->mask = size - 1;
  for (size_t i = 0; i < size; i++) table->slots[i] = 0;
  for (int b = 0; b < arrays->n_bodies; b++) {
    size_t slot = body_slot(table, arrays->bodies[b].id);
    while (table->slots[slot] != 0) slot = (slot + 1) & table->mask;
    table->slots[slot] = b + 1;
  }
  return true;
}

static int body_table_find(const body_table *table, const island_arrays *arrays,
                           dBodyID id) {
  if (id == NULL) return -1;
  size_t slot = body_slot(table, id);
  while (table->slots[slot] != 0) {
    int b = table->slots[slot] - 1;
    if (arrays->bodies[b].id == id) return b;
    slot = (slot + 1) & table->mask;
  }
  return -1;
}

/* --- reading -------------------------------------------------------------- */

static bool reserve_arrays(island_arrays *arrays, const memory_source *source,
                           const dStepperIsland *island) {
  size_t nb = island->bodies_count, nj = island->joints_count, contacts = 0;
  for (size_t i = 0; i < nj; i++)
    contacts += dJointGetType(island->joints[i]) == dJointTypeContact;

  arrays->n_bodies = (int)nb;
  arrays->n_joints = (int)nj;
  arrays->n_readings = arrays->n_contacts = arrays->n_parts = 0;
  arrays->n_stops = 0;
#define RESERVE(field, block, count)                                        \
  ((arrays->field = memory_block_reserve(&arrays->block, source, (count),   \
                                         sizeof *arrays->field)) != NULL)
  return RESERVE(bodies, body_block, nb) && RESERVE(joints, joint_block, nj) &&
         RESERVE(readings, reading_block, nj - contacts) &&
         RESERVE(contacts, contact_block, contacts) &&
         RESERVE(problem_body, problem_body_block, nb) &&
         RESERVE(part, part_block, nb) &&
         RESERVE(next_body, next_body_block, nb) &&
         RESERVE(part_first_body, part_first_body_block, nb) &&
         RESERVE(part_first_joint, part_first_block, nb) &&
         RESERVE(part_n_bodies, part_count_block, nb);
#undef RESERVE
}

static bool read_bodies(island_arrays *arrays, const dStepperIsland *island,
                        island_result *result) {
  for (int b = 0; b < arrays->n_bodies; b++)
    if (!host_body_read(&arrays->bodies[b], island->bodies[b],
                        island->stepsize, result->message,
                        sizeof result->message))
      return false;
  return true;
}

static unsigned long serial_of(const island_arrays *arrays, int body) {
  return body >= 0 ? arrays->bodies[body].serial : 0;
}

static bool read_contact(island_arrays *arrays, island_joint *joint,
                         const contact_source *contacts,
                         island_result *result) {
  contact_reading *reading = &arrays->contacts[arrays->n_contacts];
  bool reversed = dJointGetBody(joint->id, 0) == NULL;
  const char *bad_name;
  double bad_value;

  switch (contact_rows_read(reading, dJointGetStepperContact(joint->id),
                            reversed, joint->body, arrays->bodies, &bad_name,
                            &bad_value)) {
    case CONTACT_USABLE:
      joint->source = contact_source_find(contacts, joint->id);
      if (joint->source != NULL && joint->source->polygon >= 0)
        reading->polygon = &contacts->list.polygons[joint->source->polygon];
      joint->role = JOINT_CONTACT;
      joint->reading = arrays->n_contacts++;
      return true;
    case CONTACT_NO_NORMAL:
      result->report.contacts_dropped++;
      snprintf(result->warning, sizeof result->warning,
               "a contact of bodies %lu and %lu has no normal and is left out",
               serial_of(arrays, joint->body[0]),
               serial_of(arrays, joint->body[1]));
      return true;
    default:
      snprintf(result->message, sizeof result->message,
               "a contact of bodies %lu and %lu: %s is %g",
               serial_of(arrays, joint->body[0]),
               serial_of(arrays, joint->body[1]), bad_name, bad_value);
      return false;
  }
}

static void add_joint_force(island_arrays *arrays, const island_joint *joint,
                            const dStepperJointRows *rows) {
  for (int side = 0; side < 2; side++) {
    if (joint->body[side] < 0) continue;
    double *force = arrays->bodies[joint->body[side]].force;
    for (int i = 0; i < 6; i++) force[i] += rows->force[side][i];
  }
}

static bool stop_finite(const dStepperJointStop *stop) {
  return all_finite(stop->J[0], 12) && isfinite(stop->gap) &&
         stop->cfm >= 0 && isfinite(stop->cfm);
}

/* Stops with a value that is no number are left to the host's rows, which name
 * it once the stop is reached. */
static bool read_stops(island_arrays *arrays, island_joint *joint,
                       const memory_source *source) {
  dStepperJointStop stops[dStepperJointStopsMax];
  int count = dJointGetStepperStops(joint->id, stops);
  if (count < 0) return false;
  joint->first_stop = arrays->n_stops;
  if (count == 0) return true;

  arrays->stops = memory_block_grow(&arrays->stop_block, source,
                                    (size_t)(arrays->n_stops + count),
                                    sizeof *arrays->stops);
  if (arrays->stops == NULL) return false;
  for (int i = 0; i < count; i++)
    if (stop_finite(&stops[i]))
      arrays->stops[arrays->n_stops++] = (island_stop){stops[i], -1};
  joint->n_stops = arrays->n_stops - joint->first_stop;
  return true;
}

static bool read_joint(island_arrays *arrays, island_joint *joint,
                       const memory_source *source,
                       const dStepperIsland *island,
                       const ode_mlcp_options *options,
                       island_result *result) {
  joint_reading *reading = &arrays->readings[arrays->n_readings];
  double erp = options->scheme == ODE_MLCP_SCHEME_AP ? 0 : options->erp;
  if (!joint_rows_read(reading, joint->id, island->stepsize, erp) ||
      (options->margin != 0 && !read_stops(arrays, joint, source))) {
    snprintf(result->message, sizeof result->message, NO_MEMORY);
    return false;
  }
  double bad_value;
  const char *bad_name = joint_rows_bad_value(reading, &bad_value);
  if (bad_name != NULL) {
    snprintf(result->message, sizeof result->message,
             "joint %lu of bodies %lu and %lu: %s is %g",
             dJointGetSerial(joint->id), serial_of(arrays, joint->body[0]),
             serial_of(arrays, joint->body[1]), bad_name, bad_value);
    return false;
  }
  if (reading->rows.count == 0 && joint->n_stops == 0) return true;

  if (options->measure)
    result->report.worst_joint_error =
        fmax(result->report.worst_joint_error,
             joint_rows_error(joint->id, island->stepsize));
  joint->role = JOINT_ROWS;
  joint->reading = arrays->n_readings++;
  add_joint_force(arrays, joint, &reading->rows);
  return true;
}

static bool read_joints(island_arrays *arrays, const memory_source *source,
                        const body_table *table,
                        const dStepperIsland *island,
                        const ode_mlcp_options *options,
                        const contact_source *contacts,
                        island_result *result) {
  dBodyID last[2] = {NULL, NULL};
  int body[2] = {-1, -1}; /* of `last` */
  for (int j = 0; j < arrays->n_joints; j++) {
    island_joint *joint = &arrays->joints[j];
    dJointID id = island->joints[j];
    dBodyID first = dJointGetBody(id, 0), second = dJointGetBody(id, 1);
    if (first == NULL) { /* the host keeps such a joint the other way round */
      first = second;
      second = NULL;
    }
    if (first != last[0]) body[0] = body_table_find(table, arrays, first);
    if (second != last[1]) body[1] = body_table_find(table, arrays, second);
    last[0] = first;
    last[1] = second;
    *joint = (island_joint){
        .id = id,
        .role = JOINT_LEFT_OUT,
        .body = {body[0], body[1]},
        .swapped = serial_of(arrays, body[0]) > serial_of(arrays, body[1])};

    bool read = dJointGetType(id) == dJointTypeContact
                    ? read_contact(arrays, joint, contacts, result)
                    : read_joint(arrays, joint, source, island, options, result);
    if (!read) return false;
  }
  return true;
}

/* --- merging contacts ------------------------------------------------------ */

/* The contacts of two bodies that are kept, chained in the host's order. */
typedef struct contact_group {
  int body[2];
  int first, last; /* joints */
} contact_group;

/* An open-addressing table of groups. */
typedef struct group_table {
  contact_group *groups;
  int *slots; /* group + 1, 0 empty */
  int n_groups;
  size_t mask;
} group_table;

static bool group_table_create(group_table *table, island_arrays *arrays,
                               const memory_source *source) {
  size_t size = 4, n = (size_t)arrays->n_contacts;
  while (size < 2 * n) size *= 2;
  table->groups = memory_block_reserve(
      &arrays->group_block, source, n * sizeof *table->groups + size * sizeof(int),
      1);
  if (table->groups == NULL) return false;
  table->slots = (int *)(table->groups + n);
  table->n_groups = 0;
  table->mask = size - 1;
  memset(table->slots, 0, size * sizeof *table->slots);
  return true;
}

/* Spread over the whole table: pairs of near numbers must not crowd together. */
static size_t hash_of_bodies(const int body[2]) {
  uint64_t key = (uint64_t)(uint32_t)body[0] << 32 | (uint32_t)body[1];
  key *= UINT64_C(0x9e3779b97f4a7c15);
  key ^= key >> 32;
  return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static contact_group *group_of(group_table *table, const int body[2]) {
  size_t slot = hash_of_bodies(body) & table->mask;
  for (; table->slots[slot] != 0; slot = (slot + 1) & table->mask) {
    contact_group *group = &table->groups[table->slots[slot] - 1];
    if (group->body[0] == body[0] && group->body[1] == body[1]) return group;
  }
  contact_group *group = &table->groups[table->n_groups++];
  table->slots[slot] = table->n_groups;
  *group = (contact_group){{body[0], body[1]}, -1, -1};
  return group;
}

/* Merge `joint` into one of the contacts of the same bodies that are kept,
 * which takes the geometry of the deeper. */
static bool merge_contact(island_arrays *arrays, const contact_group *group,
                          island_joint *joint) {
  const contact_reading *reading = &arrays->contacts[joint->reading];
  for (int k = group->first; k >= 0; k = arrays->joints[k].next_part) {
    contact_reading *place = &arrays->contacts[arrays->joints[k].reading];
    if (!contact_rows_same_point(place, reading)) continue;

    int multiplicity = place->multiplicity + 1;
    if (reading->contact->geom.depth > place->contact->geom.depth)
      *place = *reading;
    place->multiplicity = multiplicity;
    joint->role = JOINT_LEFT_OUT;
    return true;
  }
  return false;
}

/* Chains contacts of a group by their next_part, which is not in use yet. */
static bool merge_contacts(island_arrays *arrays, const memory_source *source,
                           island_result *result) {
  group_table table;
  if (arrays->n_contacts < 2) return true;
  if (!group_table_create(&table, arrays, source)) return false;

  contact_group *group = NULL;
  for (int j = 0; j < arrays->n_joints; j++) {
    island_joint *joint = &arrays->joints[j];
    if (joint->role != JOINT_CONTACT) continue;
    /* mostly those of a pair follow each other */
    if (group == NULL || group->body[0] != joint->body[0] ||
        group->body[1] != joint->body[1])
      group = group_of(&table, joint->body);
    if (merge_contact(arrays, group, joint)) {
      result->report.contacts_merged++;
      continue;
    }
    joint->next_part = -1;
    if (group->first < 0)
      group->first = j;
    else
      arrays->joints[group->last].next_part = j;
    group->last = j;
  }
  return true;
}

/* --- parts ----------------------------------------------------------------- */

static int find_root(int parent[], int b) {
  while (parent[b] != b) {
    parent[b] = parent[parent[b]];
    b = parent[b];
  }
  return b;
}

static bool is_dynamic(const island_arrays *arrays, int body) {
  return body >= 0 && !arrays->bodies[body].kinematic;
}

/* A part is what rows between dynamic bodies tie together; parts are numbered
 * by their first body. */
static void find_parts(island_arrays *arrays) {
  int *parent = arrays->problem_body; /* until it is filled below */
  for (int b = 0; b < arrays->n_bodies; b++) parent[b] = b;
  for (int j = 0; j < arrays->n_joints; j++) {
    const island_joint *joint = &arrays->joints[j];
    if (joint->role == JOINT_LEFT_OUT || !is_dynamic(arrays, joint->body[0]) ||
        !is_dynamic(arrays, joint->body[1]))
      continue;
    int a = find_root(parent, joint->body[0]);
    int b = find_root(parent, joint->body[1]);
    if (a < b)
      parent[b] = a;
    else
      parent[a] = b;
  }
  for (int b = 0; b < arrays->n_bodies; b++) {
    arrays->part[b] = -1;
    if (arrays->bodies[b].kinematic) continue;
    int root = find_root(parent, b);
    if (root == b) {
      arrays->part[b] = arrays->n_parts;
      arrays->part_n_bodies[arrays->n_parts] = 0;
      arrays->part_first_joint[arrays->n_parts++] = -1;
    } else {
      arrays->part[b] = arrays->part[root];
    }
  }
  for (int b = 0; b < arrays->n_bodies; b++) {
    int part = arrays->part[b];
    arrays->problem_body[b] = part < 0 ? -1 : arrays->part_n_bodies[part]++;
  }
  for (int part = 0; part < arrays->n_parts; part++)
    arrays->part_first_body[part] = -1;
  for (int b = arrays->n_bodies - 1; b >= 0; b--) {
    if (arrays->part[b] < 0) continue;
    arrays->next_body[b] = arrays->part_first_body[arrays->part[b]];
    arrays->part_first_body[arrays->part[b]] = b;
  }
}

/* Chain the joints of each part, in the host's order. */
static void chain_joints(island_arrays *arrays) {
  for (int j = arrays->n_joints - 1; j >= 0; j--) {
    island_joint *joint = &arrays->joints[j];
    if (joint->role == JOINT_LEFT_OUT) continue;
    int body = joint->body[is_dynamic(arrays, joint->body[0]) ? 0 : 1];
    if (body < 0 || arrays->part[body] < 0) {
      joint->role = JOINT_LEFT_OUT;
      continue;
    }
    int *first = &arrays->part_first_joint[arrays->part[body]];
    joint->next_part = *first;
    *first = j;
  }
}

bool island_read(island_arrays *arrays, const memory_source *source,
                 const dStepperIsland *island, const ode_mlcp_options *options,
                 const contact_source *contacts, island_result *result) {
  body_table table;
  if (!reserve_arrays(arrays, source, island)) {
    snprintf(result->message, sizeof result->message, NO_MEMORY);
    return false;
  }
  if (!read_bodies(arrays, island, result)) return false;
  if (!body_table_fill(&table, arrays, source)) {
    snprintf(result->message, sizeof result->message, NO_MEMORY);
    return false;
  }
  if (!read_joints(arrays, source, &table, island, options, contacts, result))
    return false;
  if (!merge_contacts(arrays, source, result)) {
    snprintf(result->message, sizeof result->message, NO_MEMORY);
    return false;
  }
  find_parts(arrays);
  chain_joints(arrays);
  for (int b = 0; b < arrays->n_bodies; b++)
    host_body_finish(&arrays->bodies[b], island->stepsize);
  return true;
}

void island_arrays_release(island_arrays *arrays, const memory_source *source) {
  memory_block *blocks[] = {
      &arrays->body_block,         &arrays->joint_block,
      &arrays->reading_block,      &arrays->contact_block,
      &arrays->problem_body_block, &arrays->part_block,
      &arrays->part_first_block,   &arrays->part_count_block,
      &arrays->next_body_block,    &arrays->part_first_body_block,
      &arrays->index_block,        &arrays->group_block,
      &arrays->stop_block};
  memory_blocks_release(blocks, sizeof blocks / sizeof blocks[0], source);
}
