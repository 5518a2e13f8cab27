#include "world/world.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "rows/hair.h"
#include "world/rotation.h"

static bool index_bodies(world_snapshot *world) {
  size_t n = (size_t)world->n_bodies;
  if (!ARENA_TAKE(&world->arena, world->index.slots, serial_table_room(n)))
    return false;
  serial_table_start(&world->index, n);
  for (int b = 0; b < world->n_bodies; b++)
    serial_table_add(&world->index, world->bodies[b].serial, b);
  return true;
}

/* Other worlds have bodies of the same serials. */
int world_find_body(const world_snapshot *world, dBodyID id) {
  int b =
      id != NULL ? serial_table_find(&world->index, dBodyGetSerial(id)) : -1;
  return b >= 0 && world->bodies[b].id == id ? b : -1;
}

unsigned long world_serial(const world_snapshot *world, int body) {
  return body >= 0 ? world->bodies[body].serial : 0;
}

/* --- what a contact is ------------------------------------------------------ */

void world_contact_jacobian(const world_contacts *contacts, int k,
                            double J[2][6]) {
  const world_contact *contact = &contacts->items[k];
  if (contact->stop >= 0)
    memcpy(J, contacts->stops[contact->stop].J,
           sizeof contacts->stops[contact->stop].J);
  else
    host_contact_jacobian(J, &contact->point, contact->point.normal);
}

double world_contact_rate(const world_contacts *contacts, int k,
                          const double v[]) {
  const int *body = contacts->items[k].point.body;
  double J[2][6];
  world_contact_jacobian(contacts, k, J);
  return row_rate(J, body, v) - contacts->items[k].point.surface.motion[2];
}

/* The direction that a surface gives, in the plane of the contact as it is now. */
static void turn_axis(host_contact *point, const double turned[3]) {
  double *axis = point->surface.axis;
  vec3_add_scaled(axis, 1, turned);
  vec3_add_scaled(axis, -vec3_dot(axis, point->normal), point->normal);
  vec3_normalise(axis);
}

void world_move_surfaces(world_snapshot *world, double elapsed) {
  for (int k = 0; k < world->contacts.n; k++) {
    const world_contact *contact = &world->contacts.items[k];
    host_contact *point = &world->contacts.items[k].point;
    double turned[3] = {0};
    point->gap -= elapsed * point->surface.motion[2];
    vec3_add_scaled(turned, elapsed, contact->axis_rate);
    if (contact->asked && point->surface.has_axis) turn_axis(point, turned);
  }
}

int world_contact_swapped(const world_contact *contact) {
  const int *body = contact->point.body;
  return body[1] >= 0 && body[0] > body[1];
}

void world_contact_slip(const world_contact *contact, const double v[],
                        double slip[3]) {
  const host_contact *point = &contact->point;
  memset(slip, 0, 3 * sizeof *slip);
  for (int side = 0; side < 2; side++) {
    if (point->body[side] < 0) continue;
    const double *linear = v + 6 * point->body[side];
    double turn[3], sign = side == world_contact_swapped(contact) ? 1 : -1;
    vec3_cross(turn, linear + 3, point->arm[side]);
    for (int i = 0; i < 3; i++) slip[i] += sign * (linear[i] + turn[i]);
  }
  vec3_add_scaled(slip, -vec3_dot(slip, point->normal), point->normal);
  double axis[2][3], sign = world_contact_swapped(contact) ? 1 : -1;
  if (point->surface.motion[0] == 0 && point->surface.motion[1] == 0) return;
  host_contact_axes(axis, point);
  for (int d = 0; d < 2; d++)
    vec3_add_scaled(slip, sign * point->surface.motion[d], axis[d]);
}

/* --- reading -------------------------------------------------------------- */

/* State shared while a snapshot is read. */
typedef struct world_reader {
  world_snapshot *world;
  const world_snapshot *home; /* at other poses, */
  const world_pose *poses;    /* these; NULL: it is read where it is */
  bool errors;                /* joints alone, for their errors */
  bool known; /* what the collision function finds there is found already */
  host_stop *stops;
  int n_stops;
  double step_size; /* s: of what is to be stepped, the host's step or a part */
  double margin;    /* at other poses: as world_read_at's */
  outcome *out;
} world_reader;

/* Room for so many bodies and joints, for so many contacts beside those of joints, and
 * for stops. */
static bool reserve(world_reader *r, int n_bodies, int n_joints,
                    int n_contact_joints, int n_contacts) {
  world_snapshot *world = r->world;
  arena *memory = &world->arena;
  int n_rows = n_joints - n_contact_joints;
  bool stops = world->settings.margin != 0 || world->settings.stops;
  int n_stops = stops ? dStepperJointStopsMax * n_rows : 0;
  world->n_bodies = n_bodies;
  world->n_joints = n_joints;
  world->n_joint_rows = world->n_asked = 0;
  world->contacts = (world_contacts){0};
  if (!ARENA_TAKE(memory, world->bodies, n_bodies) ||
      !ARENA_TAKE(memory, world->joints, n_joints) ||
      !ARENA_TAKE(memory, world->joint_rows, n_rows) ||
      !ARENA_TAKE(memory, world->contacts.items,
                  n_contact_joints + n_contacts + n_stops) ||
      !ARENA_TAKE(memory, r->stops, n_stops))
    return outcome_no_memory(r->out);
  world->contacts.stops = r->stops;
  return true;
}

static world_contact *next_contact(world_reader *r) {
  world_contacts *contacts = &r->world->contacts;
  world_contact *contact = &contacts->items[contacts->n];
  *contact = (world_contact){.joint = -1, .stop = -1, .active = true};
  return contact;
}

/* ERP over the step, by CFM, is the stiffness of a spring. It is that of the
 * host's step in any part of one: springs do not stiffen where a step is cut. */
static double share_of_step(const world_reader *r) {
  return r->step_size / r->world->settings.step_size;
}

static void weaken_spring(const world_reader *r, host_contact *point) {
  double share = share_of_step(r), *erp = &point->surface.erp;
  if (!point->soft || share == 1) return;
  if (isnan(*erp)) *erp = r->world->erp;
  *erp *= share;
}

/* Whether a contact or stop with the normal row J is one. */
static void find_spring(const world_reader *r, host_contact *point,
                        const double J[2][6]) {
  const world_snapshot *world = r->world;
  host_contact_find_soft(point, J, world->bodies, world->cfm,
                         world->settings.step_size);
  weaken_spring(r, point);
}

/* @return false where the step cannot be taken; *usable says whether the contact
 *         is one. */
static bool read_contact(world_reader *r, world_contact *contact,
                         const dContact *given, bool reversed,
                         const int body[2], bool *usable) {
  const world_snapshot *world = r->world;
  const char *bad_name;
  double bad_value, J[2][6];
  host_contact_verdict verdict =
      host_contact_read(&contact->point, given, reversed, body, world->bodies,
                        &bad_name, &bad_value);
  if (verdict == CONTACT_USABLE) {
    host_contact_jacobian(J, &contact->point, contact->point.normal);
    find_spring(r, &contact->point, J);
  }
  *usable = verdict == CONTACT_USABLE &&
            !(world->settings.instant && contact->point.gap > HAIR_BESIDE);
  if (verdict == CONTACT_BAD_VALUE)
    return outcome_fail(r->out, "a contact of bodies %lu and %lu: %s is %g",
                        world_serial(world, body[0]),
                        world_serial(world, body[1]), bad_name, bad_value);
  if (verdict == CONTACT_NO_NORMAL) {
    r->out->report.contacts_dropped++;
    snprintf(r->out->warning, sizeof r->out->warning,
             "a contact of bodies %lu and %lu has no normal and is left out",
             world_serial(world, body[0]), world_serial(world, body[1]));
  }
  return true;
}

static void take_source(world_contact *contact, const source_contact *source,
                        bool reversed) {
  const dContactGeom *geom = &source->contact.geom;
  contact->found = source->origin == CONTACT_FOUND;
  contact->point.polygon = source->polygon;
  if (!source->has_geoms) return;
  contact->geom[reversed] = geom->g1;
  contact->geom[!reversed] = geom->g2;
}

static bool keeps(const world_snapshot *world) {
  return world->settings.contacts != NULL && world->settings.contacts->keeps;
}

static bool read_contact_joint(world_reader *r, int j) {
  world_snapshot *world = r->world;
  world_joint *joint = &world->joints[j];
  const source_contact *listed =
      contact_source_find(world->settings.contacts, dJointGetSerial(joint->id));
  if (listed != NULL && listed->covered) return true;
  world_contact *contact = next_contact(r);
  bool reversed = dJointGetBody(joint->id, 0) == NULL, usable;
  if (!read_contact(r, contact, dJointGetStepperContact(joint->id), reversed,
                    joint->body, &usable))
    return false;
  if (!usable) return true;
  contact->joint = j;
  if (listed != NULL) take_source(contact, listed, reversed);
  joint->from_source = contact->found;
  contact->point.kept = listed != NULL && listed->origin == CONTACT_KEPT;
  world->contacts.n++;
  return true;
}

static bool stop_is_finite(const host_stop *stop) {
  return all_finite(stop->J[0], 12) && isfinite(stop->gap) && stop->cfm >= 0 &&
         isfinite(stop->cfm);
}

/* No joint turns by half a turn within a step: an angle is counted on from the
 * step's start, or a lone stop near half a turn is passed (tests/test_step_stops.c). */
static void unwrap_stop(const world_reader *r, int j, host_stop *stop) {
  if (r->home == NULL || !stop->turns) return;
  const world_joint *joint = &r->home->joints[j];
  for (int i = joint->first_stop; i < joint->first_stop + joint->n_stops; i++) {
    const host_stop *start = &r->home->contacts.stops[i];
    if (start->number != stop->number) continue;
    double turns = nearbyint((start->gap - stop->gap) / (2 * M_PI));
    stop->gap += 2 * M_PI * turns;
  }
}

/* Stops with a value that is no number are left to the host's rows, which name
 * it once the stop is reached. */
static bool read_stops(world_reader *r, int j) {
  host_stop found[dStepperJointStopsMax];
  world_joint *joint = &r->world->joints[j];
  bool all = r->world->settings.stops;
  int count = host_joint_read_stops(joint->id, !all, found);
  if (count < 0) return outcome_no_memory(r->out);
  joint->first_stop = r->n_stops;
  for (int i = 0; i < count; i++) {
    host_stop *stop = &found[i];
    if (all) unwrap_stop(r, j, stop);
    if (!stop_is_finite(stop)) continue;
    r->stops[r->n_stops] = *stop;
    world_contact *contact = next_contact(r);
    contact->point =
        (host_contact){.gap = stop->gap, .multiplicity = 1, .polygon = -1};
    memcpy(contact->point.body, joint->body, sizeof contact->point.body);
    contact->point.surface.bounces = stop->bounce > 0;
    contact->point.surface.bounce = stop->bounce;
    contact->point.surface.erp = stop->erp;
    contact->point.surface.cfm = stop->cfm;
    find_spring(r, &contact->point, stop->J);
    contact->joint = j;
    contact->stop = r->n_stops++;
    contact->active = false;
    r->world->contacts.n++;
  }
  joint->n_stops = r->n_stops - joint->first_stop;
  return true;
}

/* Forces that a powered joint adds to its bodies. */
static void add_joint_force(world_snapshot *world, const world_joint *joint,
                            const host_rows *rows) {
  for (int side = 0; side < 2; side++) {
    if (joint->body[side] < 0) continue;
    double *force = world->bodies[joint->body[side]].force;
    for (int i = 0; i < 6; i++) force[i] += rows->force[side][i];
  }
}

static void keep_springs(const world_reader *r, host_joint_rows *rows) {
  double share = share_of_step(r);
  for (unsigned i = 0; i < rows->rows.count && share != 1; i++) {
    if (!(rows->rows.cfm[i] > r->world->cfm || rows->soft[i])) continue;
    rows->rows.rhs[i] += (share - 1) * rows->correction[i];
    rows->correction[i] *= share;
  }
}

/* A motor without a limit of force would go through what its contacts hold: no velocity
 * has both (tests/test_schemes_world.c). It gets as much as moves its bodies at once, ten
 * thousand times over. */
static void limit_motors(const world_snapshot *world, const int body[2],
                         host_joint_rows *joint) {
  const double AMPLE = 1e4;
  double h = world->settings.step_size;
  for (unsigned i = 0; i < joint->rows.count; i++) {
    double target = fabs(joint->rows.rhs[i]), change = 0, turned[3];
    if (!isinf(joint->rows.lo[i]) || !isinf(joint->rows.hi[i]) || target == 0 ||
        joint->correction[i] != 0)
      continue;
    for (int side = 0; side < 2; side++) {
      if (!world_is_dynamic(world, body[side])) continue;
      const host_body *of = &world->bodies[body[side]];
      const double *J = joint->rows.J[i][side];
      mat3_apply(turned, of->inverse_inertia, of->force + 3);
      change += fabs(vec3_dot(J, of->v)) + fabs(vec3_dot(J + 3, of->v + 3)) +
                h * fabs(vec3_dot(J, of->force)) / of->mass +
                h * fabs(vec3_dot(J + 3, turned));
    }
    double most = AMPLE * (target + change) /
                  (h * world_row_mobility(world, body, joint->rows.J[i]));
    joint->rows.lo[i] = -most;
    joint->rows.hi[i] = most;
  }
}

static bool read_joint_rows(world_reader *r, int j) {
  world_snapshot *world = r->world;
  world_joint *joint = &world->joints[j];
  host_joint_rows *rows = &world->joint_rows[world->n_joint_rows];
  const char *degenerate = host_joint_degenerate(joint->id);
  if (degenerate != NULL)
    return outcome_fail(r->out, "joint %lu of bodies %lu and %lu: %s",
                        dJointGetSerial(joint->id),
                        world_serial(world, joint->body[0]),
                        world_serial(world, joint->body[1]), degenerate);
  bool (*read)(host_joint_rows *, dJointID, double, double) =
      world->settings.stops ? host_joint_read_free : host_joint_read;
  if (!(r->errors ? host_joint_read_errors(rows, joint->id, r->step_size)
                  : read(rows, joint->id, r->step_size, world->settings.erp)))
    return outcome_no_memory(r->out);
  host_joint_find_soft(rows, world->bodies, joint->body,
                       world->settings.step_size);
  keep_springs(r, rows);
  if (!world->settings.instant) limit_motors(world, joint->body, rows);
  bool stops = world->settings.margin != 0 || world->settings.stops;
  if (stops && !read_stops(r, j)) return false;
  double bad_value;
  const char *bad_name = host_joint_bad_value(rows, &bad_value);
  if (bad_name != NULL)
    return outcome_fail(
        r->out, "joint %lu of bodies %lu and %lu: %s is %g",
        dJointGetSerial(joint->id), world_serial(world, joint->body[0]),
        world_serial(world, joint->body[1]), bad_name, bad_value);
  if (rows->rows.count > 0) {
    joint->rows = world->n_joint_rows++;
    add_joint_force(world, joint, &rows->rows);
  }
  if (world->settings.measure)
    r->out->report.worst_joint_error =
        fmax(r->out->report.worst_joint_error,
             host_joint_error(joint->id, r->step_size));
  return true;
}

/* Bodies of an island that is not looked at. */
static bool is_elsewhere(const world_snapshot *world, dBodyID id) {
  return id != NULL && dBodyIsEnabled(id) && world_find_body(world, id) < 0;
}

/* Contacts that are no joints'. */
static bool read_list(world_reader *r, const source_contact list[], int n) {
  world_snapshot *world = r->world;
  for (int i = 0; i < n; i++) {
    const dBodyID *id = list[i].body;
    int body[2] = {world_find_body(world, id[0]),
                   world_find_body(world, id[1])};
    bool reversed = body[0] < 0, usable;
    if (reversed) {
      body[0] = body[1];
      body[1] = -1;
    }
    if (is_elsewhere(world, id[0]) || is_elsewhere(world, id[1]) ||
        body[0] == body[1] ||
        (!world_is_dynamic(world, body[0]) &&
         !world_is_dynamic(world, body[1])))
      continue;
    world_contact *contact = next_contact(r);
    if (!read_contact(r, contact, &list[i].contact, reversed, body, &usable))
      return false;
    if (!usable) continue;
    take_source(contact, &list[i], reversed);
    world->contacts.n++;
  }
  return true;
}

/* --- at other poses: contacts of joints ------------------------------------- */

static double displacement_along(const double J[6], const host_body *body,
                                 const world_pose *pose) {
  double turn[3], way[3];
  turn_between(turn, body->quaternion, pose->quaternion);
  vec3_subtract(way, pose->position, body->position);
  return vec3_dot(J, way) + vec3_dot(J + 3, turn);
}

/* Two bodies act on each other at one point, between where either has carried it: else
 * they turn each other out of nothing. */
static void share_point(const world_reader *r, host_contact *point) {
  const int *b = point->body;
  if (b[0] < 0 || b[1] < 0) return;
  for (int i = 0; i < 3; i++) {
    double x[2] = {r->poses[b[0]].position[i], r->poses[b[1]].position[i]};
    double at = (x[0] + point->arm[0][i] + x[1] + point->arm[1][i]) / 2;
    for (int side = 0; side < 2; side++) point->arm[side][i] = at - x[side];
  }
}

/* The contact of a joint as the step begins: at other poses its gap changes along the
 * normal and the arms that it had there, nothing else. */
static void freeze_contact(world_reader *r, int j) {
  const world_joint *before = &r->home->joints[j];
  if (r->errors || before->contact < 0 || (before->from_source && !r->known))
    return;
  const world_contact *known = &r->home->contacts.items[before->contact];
  world_contact *contact = next_contact(r);
  host_contact *point = &contact->point;
  double J[2][6];
  *point = known->point;
  contact->found = known->found;
  contact->asked = known->asked;
  memcpy(contact->geom, known->geom, sizeof contact->geom);
  vec3_copy(contact->axis_rate, known->axis_rate);
  if (!contact->found) {
    contact->joint = j;
    r->world->joints[j].contact = r->world->contacts.n;
  }
  weaken_spring(r, point);
  host_contact_jacobian(J, point, point->normal);
  for (int side = 0; side < 2; side++) {
    int b = point->body[side];
    if (b >= 0)
      point->gap +=
          displacement_along(J[side], &r->home->bodies[b], &r->poses[b]);
  }
  share_point(r, point);
  r->world->contacts.n++;
}

/* --- contacts of the same bodies ------------------------------------------- */

/* A contact among those of its bodies, in their order. */
typedef struct pair_contact {
  int body[2];
  int number; /* in the snapshot */
} pair_contact;

static bool same_bodies(const pair_contact *a, const pair_contact *b) {
  return a->body[0] == b->body[0] && a->body[1] == b->body[1];
}

static int compare_pairs(const void *one, const void *other) {
  const pair_contact *a = one, *b = other;
  if (a->body[0] != b->body[0]) return a->body[0] < b->body[0] ? -1 : 1;
  if (a->body[1] != b->body[1]) return a->body[1] < b->body[1] ? -1 : 1;
  return a->number - b->number;
}

/* One of two at the same point goes: the first stays, with the geometry of the
 * deeper. @return false where there is no such one among the `n` kept. */
static bool merge(world_contact *const kept[], int n,
                  const world_contact *item) {
  const host_contact *point = &item->point;
  for (int i = 0; i < n; i++) {
    host_contact *place = &kept[i]->point;
    if (!host_contact_same_point(place, point)) continue;
    for (int side = 0; side < 2; side++)
      kept[i]->goes_on[side] |= kept[i]->geom[side] != item->geom[side];
    int multiplicity = place->multiplicity + 1;
    if (point->gap < place->gap) *place = *point;
    place->multiplicity = multiplicity;
    return true;
  }
  return false;
}

/* Contacts from `first` on at the same point of the same bodies are one; where `thin`,
 * those that others imply take no part. */
static bool merge_contacts(world_reader *r, int first, bool thin) {
  world_snapshot *world = r->world;
  world_contacts *contacts = &world->contacts;
  double h = world->settings.step_size;
  int n = 0, n_kept = 0, left = first;
  pair_contact *order;
  world_contact **kept;
  if (!ARENA_TAKE(&world->arena, order, contacts->n - first) ||
      !ARENA_TAKE(&world->arena, kept, contacts->n - first))
    return outcome_no_memory(r->out);
  for (int k = first; k < contacts->n; k++) {
    const int *body = contacts->items[k].point.body;
    if (contacts->items[k].stop < 0)
      order[n++] = (pair_contact){{body[0], body[1]}, k};
  }
  qsort(order, (size_t)n, sizeof *order, compare_pairs);
  for (int i = 0; i < n; i++) {
    world_contact *item = &contacts->items[order[i].number];
    if (merge(kept, n_kept, item)) {
      item->point.multiplicity = 0;
      r->out->report.contacts_merged++;
    } else {
      kept[n_kept++] = item;
    }
    if (i + 1 < n && same_bodies(&order[i], &order[i + 1])) continue;
    if (thin &&
        !patch_thin_out(world->cfm, world->gravity * h * h, kept, n_kept,
                        &world->arena, &r->out->report.contacts_merged))
      return outcome_no_memory(r->out);
    n_kept = 0;
  }
  for (int k = first; k < contacts->n; k++) {
    const world_contact *item = &contacts->items[k];
    if (item->point.multiplicity == 0) continue;
    if (item->joint >= 0 && item->stop < 0)
      world->joints[item->joint].contact = left;
    contacts->items[left++] = *item;
  }
  contacts->n = left;
  return true;
}

static bool read_settings(world_snapshot *world, outcome *out) {
  dWorldID id = world->settings.world;
  dVector3 gravity;
  dWorldGetGravity(id, gravity);
  world->gravity = vec3_length(real3(gravity).at);
  world->erp = world->settings.erp == ODE_MLCP_ERP_HOST ? dWorldGetERP(id)
                                                        : world->settings.erp;
  world->cfm = host_world_cfm(id);
  world->surface_layer = dWorldGetContactSurfaceLayer(id);
  world->max_velocity = dWorldGetContactMaxCorrectingVel(id);
  if (!isfinite(world->erp))
    return outcome_fail(out, "the world's ERP is %g", world->erp);
  if (!(world->cfm >= 0) || !isfinite(world->cfm))
    return outcome_fail(out, "the world's CFM is %g", world->cfm);
  return true;
}

static void measure_depth(const world_contacts *contacts, outcome *out) {
  for (int k = 0; k < contacts->n; k++)
    if (contacts->items[k].stop < 0)
      out->report.deepest_penetration =
          fmax(out->report.deepest_penetration, -contacts->items[k].point.gap);
}

bool world_check_motion(dBodyID id, const double motion[6], outcome *out) {
  const dReal *from = dBodyGetPosition(id);
  double way = vec3_length(motion), turn = vec3_length(motion + 3), far = 0;
  for (int i = 0; i < 3; i++) far = fmax(far, fabs(from[i] + motion[i]));
  bool moves = !(way <= ODE_MLCP_MOST_MOTION);
  bool leaves = !(far <= ODE_MLCP_MOST_DISTANCE);
  if (!moves && !leaves && turn <= ODE_MLCP_MOST_MOTION) return true;
  out->report.refused = 1;
  if (leaves && !moves)
    return outcome_fail(out,
                        "body %lu would be %g m from the origin, more than %g",
                        dBodyGetSerial(id), far, ODE_MLCP_MOST_DISTANCE);
  return outcome_fail(
      out, "body %lu would %s by %g %s in the step, more than %g",
      dBodyGetSerial(id), moves ? "move" : "turn", moves ? way : turn,
      moves ? "m" : "rad", ODE_MLCP_MOST_MOTION);
}

static bool read_bodies(const world_reader *r) {
  const world_snapshot *world = r->world;
  const world_settings *settings = &world->settings;
  const bool starts = r->home == NULL && !settings->instant;
  const double h = settings->step_size;
  for (int b = 0; b < world->n_bodies; b++) {
    host_body *body = &world->bodies[b];
    double motion[6];
    if (!host_body_read(body, body->id, starts && settings->gyroscopic ? h : 0,
                        r->out->message, sizeof r->out->message))
      return false;
    for (int i = 0; i < 6; i++) motion[i] = h * body->v[i];
    if (starts && !world_check_motion(body->id, motion, r->out)) return false;
  }
  return true;
}

/* What is known of joints as the step begins. */
static void list_joints(const world_snapshot *world,
                        const dStepperIsland *islands, size_t n_islands) {
  world_joint *joint = world->joints;
  for (size_t i = 0; i < n_islands; i++)
    for (unsigned k = 0; k < islands[i].joints_count; k++) {
      dJointID id = islands[i].joints[k];
      /* the host keeps a joint without a first body the other way round */
      int first = dJointGetBody(id, 0) == NULL;
      *joint++ = (world_joint){
          .id = id,
          .is_contact = dJointGetType(id) == dJointTypeContact,
          .body = {world_find_body(world, dJointGetBody(id, first)),
                   world_find_body(world, dJointGetBody(id, !first))},
          .rows = -1,
          .contact = -1};
    }
}

/* Joints, and the contacts that are none's. */
static bool read_joints(world_reader *r, const source_contact list[],
                        int n_list) {
  world_snapshot *world = r->world;
  for (int j = 0; j < world->n_joints; j++) {
    if (world->joints[j].is_contact && r->home != NULL)
      freeze_contact(r, j);
    else if (!(world->joints[j].is_contact ? read_contact_joint(r, j)
                                           : read_joint_rows(r, j)))
      return false;
  }
  int first = r->home != NULL ? world->contacts.n : 0;
  return read_list(r, list, n_list) &&
         merge_contacts(r, first, r->home == NULL && keeps(world));
}

bool world_read(world_snapshot *world, const world_settings *settings,
                const dStepperIsland *islands, size_t n_islands, outcome *out) {
  world_reader r = {
      .world = world, .step_size = settings->step_size, .out = out};
  int n_bodies = 0, n_joints = 0, n_contacts = 0;
  for (size_t i = 0; i < n_islands; i++) {
    n_bodies += (int)islands[i].bodies_count;
    n_joints += (int)islands[i].joints_count;
    for (unsigned j = 0; j < islands[i].joints_count; j++)
      n_contacts += dJointGetType(islands[i].joints[j]) == dJointTypeContact;
  }
  world->settings = *settings;
  world->arena.source = &settings->pool->source;
  arena_start(&world->arena);
  if (!reserve(&r, n_bodies, n_joints, n_contacts, settings->n_given))
    return false;
  host_body *body = world->bodies;
  for (size_t i = 0; i < n_islands; i++)
    for (unsigned b = 0; b < islands[i].bodies_count; b++)
      (body++)->id = islands[i].bodies[b];
  if (!read_settings(world, out) || !read_bodies(&r)) return false;
  if (!index_bodies(world)) return outcome_no_memory(out);
  list_joints(world, islands, n_islands);
  world->contacts.polygons =
      settings->contacts != NULL ? settings->contacts->list.polygons : NULL;
  if (!read_joints(&r, settings->given, settings->n_given)) return false;
  if (settings->asker != NULL && !asked_contacts_find(world))
    return outcome_no_memory(out);
  if (settings->measure) measure_depth(&world->contacts, out);
  return true;
}

/* --- at other poses -------------------------------------------------------- */

/* The host gives up on a pose that it cannot normalise. */
static bool check_poses(const world_snapshot *home, const world_pose poses[],
                        outcome *out) {
  for (int b = 0; b < home->n_bodies; b++) {
    const world_pose *pose = &poses[b];
    double square = 0, far = 0;
    for (int i = 0; i < 4; i++)
      square += pose->quaternion[i] * pose->quaternion[i];
    for (int i = 0; i < 3; i++)
      if (!(fabs(pose->position[i]) <= far)) far = fabs(pose->position[i]);
    if (square > 0.5 && square < 2 && far <= ODE_MLCP_MOST_DISTANCE) continue;
    out->report.refused = 1;
    return outcome_fail(out,
                        "body %lu would be %g m from the origin or turn too "
                        "fast to be placed in the step",
                        home->bodies[b].serial, far);
  }
  return true;
}

void world_place(const world_snapshot *world, const world_pose poses[],
                 host_place places[], bool alone) {
  for (int b = 0; b < world->n_bodies; b++) {
    dBodyID id = world->bodies[b].id;
    host_place *place = &places[b];
    memcpy(place->position, dBodyGetPosition(id), sizeof place->position);
    memcpy(place->quaternion, dBodyGetQuaternion(id), sizeof place->quaternion);
    memcpy(place->rotation, dBodyGetRotation(id), sizeof place->rotation);
    dVector3 position = {0};
    dQuaternion quaternion = {0};
    real_write(position, poses[b].position, 3);
    real_write(quaternion, poses[b].quaternion, 4);
    dBodyStepperPlace(id, position, quaternion, NULL, !alone);
  }
}

void world_put_back(const world_snapshot *world, const host_place places[],
                    bool alone) {
  for (int b = 0; b < world->n_bodies; b++) {
    const host_place *place = &places[b];
    dBodyStepperPlace(world->bodies[b].id, place->position, place->quaternion,
                      place->rotation, !alone);
  }
}

/* As near to where the step found bodies the contacts are those found there, with gaps
 * that change along their normals: what is of second order in it is less than rounding. */
static bool hardly_moved(const host_body *body, const world_pose *pose) {
  const double hair = hair_touch(body->position);
  for (int i = 0; i < 3; i++)
    if (!(fabs(pose->position[i] - body->position[i]) <= hair)) return false;
  for (int i = 0; i < 4; i++)
    if (!(fabs(pose->quaternion[i] - body->quaternion[i]) <= 0.5 * hair))
      return false;
  return true;
}

/* True if what the collision function finds at these poses is known from the
 * step's start: 60 boxes apart on a plane ask it 400 times in 200 steps of the
 * trapezoid, 24 400 times without. Contacts of the program's joints may have been merged
 * there. */
static bool source_is_known(const world_snapshot *home,
                            const world_pose poses[]) {
  if (!home->settings.source_complete) return false;
  for (int b = 0; b < home->n_bodies; b++)
    if (!hardly_moved(&home->bodies[b], &poses[b])) return false;
  for (int j = 0; j < home->n_joints; j++)
    if (home->joints[j].is_contact && !home->joints[j].from_source)
      return false;
  return true;
}

static bool read_moved(world_reader *r) {
  world_snapshot *world = r->world;
  const world_snapshot *home = r->home;
  contact_source *source = world->settings.contacts;
  bool asks = source != NULL && source->function != NULL && !isnan(r->margin);
  int n_contacts = 0;
  r->known = asks && source_is_known(home, r->poses);
  for (int j = 0; j < home->n_joints; j++)
    n_contacts += home->joints[j].is_contact;
  world->list.pool = home->settings.pool;
  world->list.n_contacts = 0;
  if (asks && !r->known &&
      !contact_source_collect(source, home->settings.world, r->step_size,
                              r->margin, &world->list))
    return outcome_fail(r->out, "%s", world->list.message);
  if (!reserve(r, home->n_bodies, home->n_joints, n_contacts,
               world->list.n_contacts))
    return false;
  world->contacts.polygons =
      r->known ? home->contacts.polygons : world->list.polygons;
  for (int b = 0; b < home->n_bodies; b++)
    world->bodies[b].id = home->bodies[b].id;
  for (int j = 0; j < home->n_joints; j++) {
    world->joints[j] = home->joints[j];
    world->joints[j].rows = world->joints[j].contact = -1;
    world->joints[j].n_stops = 0;
  }
  return read_bodies(r) &&
         read_joints(r, world->list.contacts, world->list.n_contacts) &&
         (r->errors || asked_contacts_move(world, home, r->poses) ||
          outcome_no_memory(r->out));
}

static bool read_at(world_snapshot *world, const world_snapshot *home,
                    const world_pose poses[], double step_size, double margin,
                    bool errors, outcome *out) {
  world_reader r = {.world = world,
                    .home = home,
                    .poses = poses,
                    .errors = errors,
                    .step_size = step_size,
                    .margin = margin,
                    .out = out};
  host_place *places;
  const arena memory = world->arena;
  const ode_mlcp_contact_list list = world->list;
  *world = *home;
  world->arena = memory;
  world->list = list;
  world->arena.source = &home->settings.pool->source;
  world->settings.measure = false;
  if (errors) {
    world->settings.contacts = NULL;
    world->settings.margin = 0;
    world->settings.stops = false;
    world->settings.erp = 1;
  }
  arena_start(&world->arena);
  if (!ARENA_TAKE(&world->arena, places, home->n_bodies))
    return outcome_no_memory(out);
  if (!check_poses(home, poses, out)) return false;
  world_place(home, poses, places, errors);
  bool read = read_moved(&r);
  world_put_back(home, places, errors);
  return read;
}

bool world_read_at(world_snapshot *world, const world_snapshot *home,
                   const world_pose poses[], double step_size, double margin,
                   outcome *out) {
  return read_at(world, home, poses, step_size, margin, false, out);
}

bool world_read_joints_at(world_snapshot *world, const world_snapshot *home,
                          const world_pose poses[], double step_size,
                          outcome *out) {
  return read_at(world, home, poses, step_size, 0, true, out);
}

/* --- a world as one island -------------------------------------------------- */

bool world_island(dStepperIsland *island, arena *memory, dWorldID world) {
  size_t n_bodies = dWorldGetBodies(world, NULL, 0);
  size_t n_joints = dWorldGetJoints(world, NULL, 0);
  dBodyID *bodies;
  dJointID *joints;
  dWorldJoint *listed;
  if (!ARENA_TAKE(memory, bodies, n_bodies) ||
      !ARENA_TAKE(memory, joints, n_joints) ||
      !ARENA_TAKE(memory, listed, n_joints))
    return false;
  dWorldGetBodies(world, bodies, n_bodies);
  dWorldGetJoints(world, listed, n_joints);
  *island = (dStepperIsland){.world = world,
                             .bodies = bodies,
                             .bodies_count = (unsigned)n_bodies,
                             .joints = joints};
  for (size_t j = 0; j < n_joints; j++)
    if (listed[j].enabled &&
        (listed[j].body[0] != NULL || listed[j].body[1] != NULL))
      joints[island->joints_count++] = listed[j].joint;
  return true;
}
