/* Reading the world: once at the start of a step, then at other poses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec3.h"
#include "schemes/form.h"
#include "schemes/rotation.h"

static bool fail(world_form *form, const char *message) {
  snprintf(form->result->message, sizeof form->result->message, "%s", message);
  return false;
}

static bool no_memory(world_form *form) { return fail(form, "memory ran out"); }

/* --- bodies by their serials ---------------------------------------------- */

static int compare_unsigned(unsigned long a, unsigned long b) {
  return (a > b) - (a < b);
}

/* An index is sorted with its serial in front of it. */
typedef struct serial_entry {
  unsigned long serial;
  int body;
} serial_entry;

static int compare_entries(const void *left, const void *right) {
  const serial_entry *a = left, *b = right;
  return compare_unsigned(a->serial, b->serial);
}

static bool sort_serials(world_form *form) {
  serial_entry *entries =
      memory_block_reserve(&form->serial_block, form->source,
                           (size_t)form->n_bodies, sizeof *entries);
  if (entries == NULL) return false;
  for (int b = 0; b < form->n_bodies; b++)
    entries[b] = (serial_entry){form->bodies[b].serial, b};
  if (form->n_bodies > 1)
    qsort(entries, (size_t)form->n_bodies, sizeof *entries, compare_entries);
  return true;
}

int world_form_find_body(const world_form *form, dBodyID id) {
  if (id == NULL || form->n_bodies == 0 || dBodyGetWorld(id) != form->world)
    return -1;
  serial_entry key = {dBodyGetSerial(id), -1};
  const serial_entry *found =
      bsearch(&key, form->serial_block.data, (size_t)form->n_bodies, sizeof key,
              compare_entries);
  return found != NULL ? found->body : -1;
}

/* --- the start of a step -------------------------------------------------- */

static bool read_body(world_form *form, form_body *body, dBodyID id) {
  host_body state;
  if (!host_body_read(&state, id, 0, form->result->message,
                      sizeof form->result->message))
    return false;
  *body = (form_body){.id = id,
                      .serial = state.serial,
                      .kinematic = state.kinematic,
                      .gyroscopic =
                          !state.kinematic && dBodyGetGyroscopicMode(id)};
  const dReal *q = dBodyGetQuaternion(id), *R = dBodyGetRotation(id);
  vec3_copy(body->home.position, state.position);
  for (int i = 0; i < 4; i++) body->home.quaternion[i] = q[i];
  for (int i = 0; i < 12; i++) body->rotation[i] = R[i];
  memcpy(body->v, state.v, sizeof body->v);
  memcpy(body->force, state.force, sizeof body->force);
  form->result->report.bodies += !body->kinematic;
  return true;
}

static void read_joint(const world_form *form, form_joint *joint,
                       dJointID id) {
  dBodyID first = dJointGetBody(id, 0), second = dJointGetBody(id, 1);
  if (first == NULL) { /* the host keeps such a joint the other way round */
    first = second;
    second = NULL;
  }
  *joint = (form_joint){.id = id,
                        .contact = dJointGetType(id) == dJointTypeContact,
                        .from_source =
                            contact_source_find(form->contacts, id) != NULL};
  joint->body[0] = world_form_find_body(form, first);
  joint->body[1] = world_form_find_body(form, second);
}

static void read_world(world_form *form) {
  dVector3 gravity;
  dWorldGetGravity(form->world, gravity);
  form->gravity = vec3_length(gravity);
  form->world_erp = form->options->erp == ODE_MLCP_ERP_HOST
                        ? dWorldGetERP(form->world)
                        : form->options->erp;
  form->world_cfm = dWorldGetCFM(form->world);
  form->surface_layer = dWorldGetContactSurfaceLayer(form->world);
  form->max_velocity = dWorldGetContactMaxCorrectingVel(form->world);
}

bool world_form_read(world_form *form, dWorldID world, double step_size,
                     double time, const dStepperIsland *islands,
                     size_t n_islands, const ode_mlcp_options *options,
                     island_result *result) {
  form->world = world;
  form->options = options;
  form->step_size = step_size;
  form->time = time;
  form->result = result;
  form->n_bodies = form->n_joints = 0;
  for (size_t i = 0; i < n_islands; i++) {
    form->n_bodies += (int)islands[i].bodies_count;
    form->n_joints += (int)islands[i].joints_count;
  }
  read_world(form);

  form->bodies = memory_block_reserve(&form->body_block, form->source,
                                      (size_t)form->n_bodies,
                                      sizeof *form->bodies);
  form->joints = memory_block_reserve(&form->joint_block, form->source,
                                      (size_t)form->n_joints,
                                      sizeof *form->joints);
  if (form->bodies == NULL || form->joints == NULL) return no_memory(form);
  int b = 0, j = 0;
  for (size_t i = 0; i < n_islands; i++)
    for (unsigned k = 0; k < islands[i].bodies_count; k++)
      if (!read_body(form, &form->bodies[b++], islands[i].bodies[k]))
        return false;
  if (!sort_serials(form)) return no_memory(form);
  for (size_t i = 0; i < n_islands; i++)
    for (unsigned k = 0; k < islands[i].joints_count; k++)
      read_joint(form, &form->joints[j++], islands[i].joints[k]);
  return true;
}

/* --- moving the host's bodies and putting them back ----------------------- */

static void move_bodies(const world_form *form, const form_pose poses[]) {
  for (int b = 0; b < form->n_bodies; b++) {
    const double *x = poses[b].position;
    dQuaternion q;
    for (int i = 0; i < 4; i++) q[i] = poses[b].quaternion[i];
    dBodySetQuaternion(form->bodies[b].id, q);
    dBodySetPosition(form->bodies[b].id, x[0], x[1], x[2]);
  }
}

/* The host normalises a quaternion that it is given and derives the rotation
 * from it: to have the same bits again they are written where they were read.
 */
static void put_bodies_back(const world_form *form) {
  for (int b = 0; b < form->n_bodies; b++) {
    const form_body *body = &form->bodies[b];
    const double *x = body->home.position;
    dReal *q = (dReal *)dBodyGetQuaternion(body->id);
    dReal *R = (dReal *)dBodyGetRotation(body->id);
    for (int i = 0; i < 4; i++) q[i] = body->home.quaternion[i];
    for (int i = 0; i < 12; i++) R[i] = body->rotation[i];
    dBodySetPosition(body->id, x[0], x[1], x[2]); /* geoms follow */
  }
}

/* --- views ---------------------------------------------------------------- */

static unsigned long serial_of(const world_form *form, int body) {
  return body >= 0 ? form->bodies[body].serial : 0;
}

static form_contact *add_contact(world_form *form, form_view *view) {
  if (view->n_contacts == view->room) {
    int room = view->room > 0 ? 2 * view->room : 16;
    form_contact *grown = memory_block_grow(
        &view->contact_block, form->source, (size_t)room, sizeof *grown);
    if (grown == NULL) {
      no_memory(form);
      return NULL;
    }
    view->contacts = grown;
    view->room = room;
  }
  form_contact *contact = &view->contacts[view->n_contacts++];
  memset(contact, 0, sizeof *contact);
  contact->joint = contact->stop = contact->found = -1;
  contact->hit = -INFINITY;
  return contact;
}

/* Where the contact is on its bodies. */
static void locate(const form_view *view, form_contact *contact) {
  for (int side = 0; side < 2; side++) {
    int b = contact->reading.body[side];
    if (b < 0) {
      vec3_copy(contact->local[side], contact->reading.position);
      continue;
    }
    const double *R = view->bodies[b].rotation;
    const double *arm = contact->reading.arm[side];
    for (int i = 0; i < 3; i++)
      contact->local[side][i] =
          R[i] * arm[0] + R[3 + i] * arm[1] + R[6 + i] * arm[2];
  }
}

/* Restitution is an event here, and a rigid contact's overlap is corrected by
 * moving: neither is left to the row. */
static void take_surface(const world_form *form, form_contact *contact) {
  dSurfaceParameters *surface = &contact->contact.surface;
  if ((surface->mode & dContactBounce) && surface->bounce_vel >= 0) {
    contact->restitution = fmin(fmax(surface->bounce, 0), 1);
    contact->bounce_speed = surface->bounce_vel;
  }
  surface->mode &= ~dContactBounce;
  bool soft =
      (surface->mode & dContactSoftCFM) && surface->soft_cfm > form->world_cfm;
  if (!soft) surface->mode &= ~dContactSoftERP;
}

/* Adds a contact between bodies of the form as it is now.
 * @return false where the step cannot be taken. */
static bool read_contact(world_form *form, form_view *view,
                         const dContact *given, bool reversed,
                         const int body[2], int joint) {
  form_contact *contact = add_contact(form, view);
  if (contact == NULL) return false;
  const char *bad_name;
  double bad_value;
  contact->contact = *given;
  switch (contact_rows_read(&contact->reading, &contact->contact, reversed,
                            body, view->bodies, &bad_name, &bad_value)) {
    case CONTACT_USABLE:
      break;
    case CONTACT_NO_NORMAL:
      view->n_contacts--;
      form->result->report.contacts_dropped++;
      snprintf(form->result->warning, sizeof form->result->warning,
               "a contact of bodies %lu and %lu has no normal and is left out",
               serial_of(form, body[0]), serial_of(form, body[1]));
      return true;
    default:
      snprintf(form->result->message, sizeof form->result->message,
               "a contact of bodies %lu and %lu: %s is %g",
               serial_of(form, body[0]), serial_of(form, body[1]), bad_name,
               bad_value);
      return false;
  }
  contact->gap = -given->geom.depth;
  contact->joint = joint;
  take_surface(form, contact);
  locate(view, contact);
  return true;
}

/* A body that can be moved has to be the first; contacts between what does not
 * move are no contacts. */
static bool orient(const world_form *form, int body[2], bool *reversed) {
  bool moves[2];
  for (int side = 0; side < 2; side++)
    moves[side] = body[side] >= 0 && !form->bodies[body[side]].kinematic;
  if (body[0] == body[1] || (!moves[0] && !moves[1])) return false;
  if (body[0] < 0) {
    body[0] = body[1];
    body[1] = -1;
    *reversed = !*reversed;
  }
  return true;
}

/* What the collision function finds where the bodies are now; it has been asked
 * already about the start of the step. */
static bool read_source(world_form *form, form_view *view, bool at_home) {
  contact_source *source = form->contacts;
  ode_mlcp_contact_list *list = at_home ? &source->list : &form->list;
  if (source->function == NULL) return true;
  if (!at_home && !contact_source_collect(source, form->world, form->step_size,
                                          form->options->margin, list))
    return fail(form, list->message);
  for (int i = 0; i < list->n_contacts; i++) {
    const source_contact *found = &list->contacts[i];
    int body[2] = {world_form_find_body(form, found->body[0]),
                   world_form_find_body(form, found->body[1])};
    int before = view->n_contacts;
    bool reversed = false;
    if (!orient(form, body, &reversed)) continue;
    if (!read_contact(form, view, &found->contact, reversed, body, -1))
      return false;
    if (view->n_contacts == before) continue;
    view->contacts[before].found = i;
    if (found->polygon < 0) continue;
    view->contacts[before].polygon = list->polygons[found->polygon];
    view->contacts[before].has_polygon = true;
  }
  return true;
}

/* Stops that joint j has not reached. */
static bool read_stops(world_form *form, form_view *view, int j) {
  dStepperJointStop stops[dStepperJointStopsMax];
  int count = dJointGetStepperStops(form->joints[j].id, stops);
  if (count < 0) return no_memory(form);
  for (int i = 0; i < count; i++) {
    if (!all_finite(stops[i].J[0], 12) || !isfinite(stops[i].gap)) continue;
    form_contact *contact = add_contact(form, view);
    if (contact == NULL) return false;
    contact->reading.multiplicity = 1;
    memcpy(contact->reading.body, form->joints[j].body,
           sizeof contact->reading.body);
    memcpy(contact->stop_J, stops[i].J, sizeof contact->stop_J);
    contact->gap = stops[i].gap;
    contact->joint = j;
    contact->stop = stops[i].number;
    contact->restitution = fmin(fmax(stops[i].bounce, 0), 1);
  }
  return true;
}

static double displacement_along(const double J[6], const form_body *body,
                                 const form_pose *pose) {
  double turn[3], way[3];
  turn_between(turn, body->home.quaternion, pose->quaternion);
  vec3_subtract(way, pose->position, body->home.position);
  return vec3_dot(J, way) + vec3_dot(J + 3, turn);
}

/* The contact of one of the program's joints: at other poses its gap changes
 * along the normal and the arms of the step's start, nothing else. */
static bool read_frozen(world_form *form, form_view *view, int j,
                        const form_pose poses[]) {
  const form_joint *joint = &form->joints[j];
  bool reversed = dJointGetBody(joint->id, 0) == NULL;
  int body[2] = {joint->body[0], joint->body[1]}, before = view->n_contacts;
  if (!orient(form, body, &reversed)) return true;
  if (!read_contact(form, view, dJointGetStepperContact(joint->id), reversed,
                    body, j))
    return false;
  view->linearised = true;
  if (poses == NULL || view->n_contacts == before) return true;

  form_contact *contact = &view->contacts[before];
  contact_reading *reading = &contact->reading;
  for (int side = 0; side < 2; side++) {
    int b = body[side];
    if (b < 0) continue;
    vec3_subtract(reading->arm[side], reading->position,
                  form->bodies[b].home.position);
    double J[6], sign = side == 0 ? 1 : -1;
    for (int i = 0; i < 3; i++) J[i] = sign * reading->normal[i];
    vec3_cross(J + 3, reading->arm[side], J);
    contact->gap += displacement_along(J, &form->bodies[b], &poses[b]);
  }
  contact->contact.geom.depth = -contact->gap;
  return true;
}

static bool read_rows(world_form *form, form_view *view, int j,
                      double step_size) {
  joint_reading *reading = &view->readings[j];
  const form_joint *joint = &form->joints[j];
  if (!joint_rows_read(reading, joint->id, step_size, form->options->erp))
    return no_memory(form);
  double bad_value;
  const char *bad_name = joint_rows_bad_value(reading, &bad_value);
  if (bad_name == NULL) return true;
  snprintf(form->result->message, sizeof form->result->message,
           "joint %lu of bodies %lu and %lu: %s is %g",
           dJointGetSerial(joint->id), serial_of(form, joint->body[0]),
           serial_of(form, joint->body[1]), bad_name, bad_value);
  return false;
}

static bool read_view(world_form *form, form_view *view,
                      const form_pose poses[], double step_size) {
  for (int b = 0; b < form->n_bodies; b++)
    if (!host_body_read(&view->bodies[b], form->bodies[b].id, 0,
                        form->result->message, sizeof form->result->message))
      return false;
  for (int j = 0; j < form->n_joints; j++) {
    const form_joint *joint = &form->joints[j];
    view->readings[j].rows.count = 0;
    if (joint->from_source) continue;
    bool read = joint->contact
                    ? read_frozen(form, view, j, poses)
                    : read_rows(form, view, j, step_size) &&
                          (form->options->margin == 0 ||
                           read_stops(form, view, j));
    if (!read) return false;
  }
  return read_source(form, view, poses == NULL);
}

bool form_view_evaluate(world_form *form, form_view *view,
                        const form_pose poses[], const double v[],
                        double step_size) {
  view->bodies = memory_block_reserve(&view->body_block, form->source,
                                      (size_t)form->n_bodies,
                                      sizeof *view->bodies);
  view->readings = memory_block_reserve(&view->reading_block, form->source,
                                        (size_t)form->n_joints,
                                        sizeof *view->readings);
  if (view->bodies == NULL || view->readings == NULL) return no_memory(form);
  view->n_contacts = 0;
  view->linearised = false;

  if (poses != NULL) move_bodies(form, poses);
  bool read = read_view(form, view, poses, step_size);
  if (poses != NULL) put_bodies_back(form);
  if (!read) return false;
  for (int k = 0; k < view->n_contacts; k++) {
    /* the array may have moved while it grew */
    form_contact *contact = &view->contacts[k];
    contact->reading.contact = &contact->contact;
    contact->reading.polygon = contact->has_polygon ? &contact->polygon : NULL;
  }
  for (int b = 0; b < form->n_bodies; b++)
    memcpy(view->bodies[b].v, v != NULL ? v + 6 * b : form->bodies[b].v,
           sizeof view->bodies[b].v);
  return true;
}

void form_view_release(form_view *view, const memory_source *source) {
  memory_block_release(&view->body_block, source);
  memory_block_release(&view->reading_block, source);
  memory_block_release(&view->contact_block, source);
  view->n_contacts = view->room = 0;
}

/* --- contacts of two views ------------------------------------------------ */

int form_contact_swapped(const form_contact *contact) {
  const int *body = contact->reading.body;
  return body[1] >= 0 && body[0] > body[1];
}

static bool same_bodies(const form_contact *a, const form_contact *b) {
  int x = form_contact_swapped(a), y = form_contact_swapped(b);
  return a->reading.body[x] == b->reading.body[y] &&
         a->reading.body[1 - x] == b->reading.body[1 - y];
}

static double normals_product(const form_contact *a, const form_contact *b) {
  double product = vec3_dot(a->reading.normal, b->reading.normal);
  return form_contact_swapped(a) == form_contact_swapped(b) ? product
                                                            : -product;
}

static double distance(const form_contact *a, const form_contact *b) {
  int x = form_contact_swapped(a), y = form_contact_swapped(b);
  double nearest = INFINITY;
  for (int side = 0; side < 2; side++) {
    double apart[3];
    vec3_subtract(apart, a->local[side ^ x], b->local[side ^ y]);
    nearest = fmin(nearest, vec3_length(apart));
  }
  return nearest;
}

void form_view_match(const form_view *a, const form_view *b, double radius,
                     int match[], bool taken[]) {
  for (int k = 0; k < b->n_contacts; k++) taken[k] = false;
  for (int i = 0; i < a->n_contacts; i++) {
    const form_contact *contact = &a->contacts[i];
    double nearest = radius;
    match[i] = -1;
    for (int k = 0; k < b->n_contacts; k++) {
      const form_contact *other = &b->contacts[k];
      if (taken[k] || other->joint != contact->joint ||
          other->stop != contact->stop || !same_bodies(contact, other) ||
          (contact->stop < 0 &&
           normals_product(contact, other) < FORM_SAME_NORMAL))
        continue;
      double apart = contact->joint >= 0 ? 0 : distance(contact, other);
      if (apart > nearest) continue;
      nearest = apart;
      match[i] = k;
    }
    if (match[i] >= 0) taken[match[i]] = true;
  }
}

void form_contact_jacobian(const form_contact *contact, double J[2][6]) {
  const contact_reading *reading = &contact->reading;
  if (contact->stop >= 0) {
    memcpy(J, contact->stop_J, sizeof contact->stop_J);
    return;
  }
  vec3_copy(J[0], reading->normal);
  vec3_cross(J[0] + 3, reading->arm[0], reading->normal);
  vec3_negate(J[1], reading->normal);
  vec3_cross(J[1] + 3, reading->normal, reading->arm[1]);
}

double form_contact_rate(const form_contact *contact, const double v[]) {
  double J[2][6], rate = 0;
  form_contact_jacobian(contact, J);
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < 6 && contact->reading.body[side] >= 0; i++)
      rate += J[side][i] * v[6 * contact->reading.body[side] + i];
  return rate;
}

void form_contact_slip(const form_contact *contact, const double v[],
                       double slip[3]) {
  const contact_reading *reading = &contact->reading;
  memset(slip, 0, 3 * sizeof *slip);
  for (int side = 0; side < 2; side++) {
    if (reading->body[side] < 0) continue;
    const double *linear = v + 6 * reading->body[side];
    double turn[3], sign = side == form_contact_swapped(contact) ? 1 : -1;
    vec3_cross(turn, linear + 3, reading->arm[side]);
    for (int i = 0; i < 3; i++) slip[i] += sign * (linear[i] + turn[i]);
  }
  vec3_add_scaled(slip, -vec3_dot(slip, reading->normal), reading->normal);
}

/* --- poses ---------------------------------------------------------------- */

void form_pose_move(form_pose *out, const form_pose *q,
                    const double velocity[6], double h) {
  double turn[3], d[4];
  for (int i = 0; i < 3; i++) {
    out->position[i] = q->position[i] + h * velocity[i];
    turn[i] = h * velocity[3 + i];
  }
  quaternion_from_turn(d, turn);
  quaternion_multiply(out->quaternion, d, q->quaternion);
  quaternion_normalise(out->quaternion);
}

/* The host turns a body by w h about w where its rotation is finite, else by
 * q + (h/2) w q, normalised; a finite rotation axis mixes the two and is met to
 * third order in the turn. */
void form_pose_velocity(double velocity[6], const form_body *body,
                        const form_pose *to, double h) {
  double d[4];
  for (int i = 0; i < 3; i++)
    velocity[i] = (to->position[i] - body->home.position[i]) / h;
  if (dBodyGetFiniteRotationMode(body->id)) {
    turn_between(velocity + 3, body->home.quaternion, to->quaternion);
    for (int i = 0; i < 3; i++) velocity[3 + i] /= h;
    return;
  }
  quaternion_between(d, body->home.quaternion, to->quaternion);
  for (int i = 0; i < 3; i++) velocity[3 + i] = 2 * d[1 + i] / (d[0] * h);
}
