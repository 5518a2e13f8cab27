/* What is known after a solve: x, impulses, forces on joints and bodies, and what the
 * next step starts from. */
#include <math.h>
#include <string.h>

#include "assembly/assembly.h"
#include "assembly/workspace.h"
#include "common/vec3.h"

const double *assembly_x(const assembly *a) { return a->x; }

int assembly_stopped(const assembly *a) { return a->n_stopped; }

const double *assembly_projection(const assembly *a, int body) {
  const double *projected = a->projected + 6 * body;
  return isnan(projected[0]) ? NULL : projected;
}

const contact_rows *assembly_contact_rows(const assembly *a, int k) {
  return &a->contact_rows[k];
}

const double *assembly_contact_impulses(const assembly *a, int k) {
  return a->contact_row[k] >= 0 ? a->solution.p + a->contact_row[k] : NULL;
}

double assembly_normal_impulse(const assembly *a, int k) {
  return a->contact_row[k] >= 0 ? a->solution.p[a->contact_row[k]] : 0;
}

void assembly_add_normal_impulse(assembly *a, int k, double impulse) {
  if (a->contact_row[k] >= 0) a->solution.p[a->contact_row[k]] += impulse;
}

double assembly_contact_w(const assembly *a, int k) {
  if (a->contact_row[k] < 0) return NAN;
  const mlcp_row *row = &a->rows[a->contact_row[k]];
  const int *body = a->contacts->items[k].point.body;
  return row->compliance * a->solution.p[a->contact_row[k]] + row->bias +
         row_rate(row->J, body, a->x);
}

double assembly_contact_yield(const assembly *a, int k) {
  if (a->contact_row[k] < 0) return 0;
  return a->rows[a->contact_row[k]].compliance *
         a->solution.p[a->contact_row[k]];
}

double assembly_joint_impulse(const assembly *a, int joint, unsigned i) {
  int rows = a->request.world->joints[joint].rows;
  int row = rows >= 0 ? a->joint_row[rows][i] : -1;
  return row >= 0 ? a->solution.p[row] : 0;
}

/* The impulse of a row over `seconds`, to `pushed` as well, and what it is on its two
 * bodies, those that do not move included. */
static void add_row_force(const assembly *a, int row, double seconds,
                          joint_result *result, double *pushed) {
  double force = a->solution.p[row] / seconds;
  *pushed += force;
  if (result->forceless) return;
  const two *J = (const two *)a->rows[row].J;
  two *sum = (two *)result->force;
  for (int i = 0; i < 6; i++) sum[i] += force * J[i];
}

void assembly_add_contact(const assembly *a, int k, double seconds,
                          joint_result *result) {
  unsigned count = (unsigned)a->contact_rows[k].n_rows;
  bool stop = a->contacts->items[k].stop >= 0;
  double of_stop = 0;
  if (a->contact_row[k] < 0) return;
  if (!stop && result->count < count) result->count = count;
  for (unsigned i = 0; i < count; i++)
    add_row_force(a, a->contact_row[k] + (int)i, seconds, result,
                  stop ? &of_stop : &result->lambda[i]);
}

static void add_joint_forces(const assembly *a, int joint, double seconds,
                             joint_result *result) {
  const world_snapshot *world = a->request.world;
  int rows = world->joints[joint].rows;
  if (rows < 0) return;
  unsigned count = world->joint_rows[rows].rows.count;
  if (result->count < count) result->count = count;
  for (unsigned r = 0; r < count; r++)
    if (a->joint_row[rows][r] >= 0)
      add_row_force(a, a->joint_row[rows][r], seconds, result,
                    &result->lambda[r]);
}

void assembly_add_forces(const assembly *a, double seconds,
                         joint_result results[]) {
  for (int j = 0; j < a->request.world->n_joints; j++)
    add_joint_forces(a, j, seconds, &results[j]);
  for (int k = 0; k < a->contacts->n; k++)
    if (a->contacts->items[k].joint >= 0)
      assembly_add_contact(a, k, seconds,
                           &results[a->contacts->items[k].joint]);
}

/* --- what the next step starts from ------------------------------------------ */

void assembly_remember_joint(const assembly *a, int j, contact_entry *entry) {
  const int *row = a->joint_row[a->request.world->joints[j].rows];
  entry->seconds = a->request.step_size;
  for (int r = 0; r < 6 && row[r] >= 0; r++)
    entry->impulses[entry->n_rows++] = a->solution.p[row[r]];
}

void assembly_remember_contact(const assembly *a, int k, contact_entry *entry) {
  if (a->contact_row[k] < 0) return;
  const contact_rows *rows = &a->contact_rows[k];
  const double *p = a->solution.p + a->contact_row[k];
  const world_contact *contact = &a->contacts->items[k];
  double sign = memory_sign(a->request.world, &contact->point);
  entry->seconds = a->request.step_size;
  entry->n_rows = rows->n_rows;
  entry->impulses[0] = p[0];
  for (int i = 0; i < rows->n_sliding; i++)
    vec3_add_scaled(entry->sliding, sign * p[1 + i], rows->sliding_axis[i]);
  for (int i = 1 + rows->n_sliding; i < rows->n_rows; i++)
    entry->impulses[i - rows->n_sliding] = p[i];
  vec3_copy(entry->slip, rows->slip);
  entry->guided = rows->guided;
  entry->overlap = rows->overlap;
}

int assembly_remember(const assembly *a, bool stops, contact_entry entries[]) {
  const world_snapshot *world = a->request.world;
  int count = 0;
  for (int j = 0; j < world->n_joints; j++) {
    if (world->joints[j].rows < 0) continue;
    world_joint_key(&entries[count], world, j);
    assembly_remember_joint(a, j, &entries[count++]);
  }
  for (int k = 0; k < a->contacts->n; k++) {
    if (a->contact_row[k] < 0 || (!stops && a->contacts->items[k].stop >= 0))
      continue;
    world_contact_key(&entries[count], world, a->contacts, k);
    assembly_remember_contact(a, k, &entries[count++]);
  }
  return count;
}
