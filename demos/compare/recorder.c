/* A recorder, preloaded into an ODE program: it writes down what the bodies do,
 * for the pictures of the comparison, and can send the program's
 * dWorldQuickStep to dWorldStep.
 *
 *   RECORDER_SERIES   file for a line a step: step, bodies, the highest centre
 *                     (m), the highest speed of a centre (m/s), how many
 *                     bodies are awake, and the worst contact error (m/s, see
 *                     law_gap)
 *   RECORDER_SOLIDS   file for the shapes and poses after the latest step
 *                     divisible by 50
 *   RECORDER_STEPPER  "step": dWorldQuickStep steps by dWorldStep
 *
 * Columns of RECORDER_SOLIDS: kind (box, sphere, capsule, cylinder), three
 * sizes, position, 12 numbers of rotation (3 x 4 by rows), speed.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ode/ode.h>

enum { STEPS_A_SNAPSHOT = 50 };

/* A contact joint of the step to come: what its program asked for. */
typedef struct recorded_contact {
  dJointID joint;
  dContact asked;
  dJointFeedback force;
  dBodyID bodies[2];
  double arms[2][3];  /* m: from the bodies' centres to the contact */
  double openings[2]; /* m/s: each body's part of the opening velocity, before
                         the step */
} recorded_contact;

/* Contacts beyond these are not measured; feedback needs a fixed address. */
enum { MAX_CONTACTS = 20000 };
static recorded_contact contacts[MAX_CONTACTS];
static size_t n_contacts;
static double worst_contact_error;

static dBodyID *bodies;
static size_t n_bodies, bodies_room;
static long n_steps;

static void stop(const char *what) {
  fprintf(stderr, "recorder: %s\n", what);
  abort();
}

/* A conversion from void * to a function is not ISO C: the bits are copied. */
static void find_host_function(void *slot, const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (function == NULL) stop(name);
  memcpy(slot, &function, sizeof function);
}

/* Declares next, the host's own function of this name. */
#define HOST(name)                                                             \
  static __typeof__(name) *next;                                               \
  if (next == NULL) find_host_function(&next, #name)

/* --- which bodies there are ----------------------------------------------- */

dBodyID dBodyCreate(dWorldID world) {
  HOST(dBodyCreate);
  if (n_bodies == bodies_room) {
    bodies_room = bodies_room > 0 ? 2 * bodies_room : 256;
    bodies = realloc(bodies, bodies_room * sizeof bodies[0]);
    if (bodies == NULL) stop("memory ran out");
  }
  return bodies[n_bodies++] = next(world);
}

void dBodyDestroy(dBodyID body) {
  HOST(dBodyDestroy);
  size_t n_left = 0;
  for (size_t i = 0; i < n_bodies; i++)
    if (bodies[i] != body) bodies[n_left++] = bodies[i];
  n_bodies = n_left;
  next(body);
}

void dWorldDestroy(dWorldID world) {
  HOST(dWorldDestroy);
  size_t n_left = 0;
  for (size_t i = 0; i < n_bodies; i++)
    if (dBodyGetWorld(bodies[i]) != world) bodies[n_left++] = bodies[i];
  n_bodies = n_left;
  next(world);
}

/* --- how well contacts are met -------------------------------------------- */

dJointID dJointCreateContact(dWorldID world, dJointGroupID group,
                             const dContact *contact) {
  HOST(dJointCreateContact);
  dJointID joint = next(world, group, contact);
  if (n_contacts < MAX_CONTACTS) {
    recorded_contact *recorded = &contacts[n_contacts++];
    memset(recorded, 0, sizeof *recorded);
    recorded->joint = joint;
    recorded->asked = *contact;
    dJointSetFeedback(joint, &recorded->force);
  }
  return joint;
}

void dJointGroupEmpty(dJointGroupID group) {
  HOST(dJointGroupEmpty);
  n_contacts = 0;
  next(group);
}

static double normal_velocity(const recorded_contact *contact, int side,
                              const dReal v[3], const dReal w[3]) {
  const dReal *n = contact->asked.geom.normal;
  const double *arm = contact->arms[side];
  double speed = 0;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    speed += n[i] * (v[i] + w[j] * arm[k] - w[k] * arm[j]);
  }
  return speed;
}

/* The host damps velocities above a threshold once they are solved for: what
 * was solved for. A velocity that damping just takes below the threshold looks
 * like one that was not damped: `edge_damped` decides. */
static void undamp(dReal v[3], const dReal found[3], double damping,
                   double threshold, bool edge_damped) {
  double scale = 1 / (1 - damping), length = 0;
  for (int i = 0; i < 3; i++) length += found[i] * found[i];
  length = sqrt(length);
  bool damped =
      length > threshold || (edge_damped && scale * length > threshold);
  for (int i = 0; i < 3; i++) v[i] = damped ? scale * found[i] : found[i];
}

static void solved_velocity(dBodyID body, bool edge_damped, dReal v[3],
                            dReal w[3]) {
  undamp(v, dBodyGetLinearVel(body), dBodyGetLinearDamping(body),
         dBodyGetLinearDampingThreshold(body), edge_damped);
  undamp(w, dBodyGetAngularVel(body), dBodyGetAngularDamping(body),
         dBodyGetAngularDampingThreshold(body), edge_damped);
}

static double opening_of(const recorded_contact *contact, int side,
                         const dReal v[3], const dReal w[3]) {
  return (side == 0 ? 1 : -1) * normal_velocity(contact, side, v, w);
}

static void begin_contact(recorded_contact *contact) {
  for (int side = 0; side < 2; side++) {
    dBodyID body = dJointGetBody(contact->joint, side);
    contact->bodies[side] = body;
    contact->openings[side] = 0;
    if (body == NULL) continue;
    const dReal *centre = dBodyGetPosition(body);
    for (int i = 0; i < 3; i++)
      contact->arms[side][i] = contact->asked.geom.pos[i] - centre[i];
    contact->openings[side] = opening_of(contact, side, dBodyGetLinearVel(body),
                                         dBodyGetAngularVel(body));
  }
}

/* The opening velocity the program asks for, a correction or a bounce, where
 * the one before was `before`; m/s. A stepper that corrects positions by moving
 * the bodies leaves that out of their velocities: `corrected` false. */
static double asked_velocity(const recorded_contact *contact, double before,
                             bool corrected, dWorldID world, double step_size) {
  const dSurfaceParameters *surface = &contact->asked.surface;
  double erp =
      surface->mode & dContactSoftERP ? surface->soft_erp : dWorldGetERP(world);
  double depth =
      contact->asked.geom.depth - dWorldGetContactSurfaceLayer(world);
  double motion = surface->mode & dContactMotionN ? surface->motionN : 0;
  double velocity = (corrected ? erp / step_size * fmax(0, depth) : 0) + motion;
  velocity = fmin(velocity, dWorldGetContactMaxCorrectingVel(world));
  if (surface->mode & dContactBounce && surface->bounce_vel >= 0) {
    double incoming = motion - before;
    if (incoming > surface->bounce_vel)
      velocity = fmax(velocity, surface->bounce * incoming + motion);
  }
  return velocity;
}

static double own_normal_force(const recorded_contact *contact) {
  double force = 0;
  for (int i = 0; i < 3; i++)
    force += contact->force.f1[i] * contact->asked.geom.normal[i];
  return fabs(force); /* f1 is the second body's where the first is the world */
}

/* Points of one pair that are as good as one: which of them is told the force
 * that they share is the stepper's choice. */
static bool same_point(const recorded_contact *a, const recorded_contact *b) {
  const double apart = 1e-4; /* m */
  double sum = 0;
  for (int i = 0; i < 3; i++) {
    double d = a->asked.geom.pos[i] - b->asked.geom.pos[i];
    sum += d * d;
  }
  return a->bodies[0] == b->bodies[0] && a->bodies[1] == b->bodies[1] &&
         sum <= apart * apart;
}

/* A contact's share, N, of the normal force at its point. A pair's contacts are
 * made one after the other, so only neighbours are looked at. */
static double shared_normal_force(const recorded_contact *contact) {
  enum { NEIGHBOURS = 16 };
  size_t at = (size_t)(contact - contacts);
  size_t first = at > NEIGHBOURS ? at - NEIGHBOURS : 0;
  double sum = 0;
  int sharing = 0;
  for (size_t i = first; i < n_contacts && i <= at + NEIGHBOURS; i++) {
    if (!same_point(&contacts[i], contact)) continue;
    sum += own_normal_force(&contacts[i]);
    sharing++;
  }
  return sum / sharing;
}

/* What a newton changes in a step, m/s. */
static double mobility_of(const recorded_contact *contact, double step_size) {
  double mobility = 0;
  for (int side = 0; side < 2; side++) {
    dMass mass;
    if (contact->bodies[side] == NULL) continue;
    dBodyGetMass(contact->bodies[side], &mass);
    mobility += step_size / mass.mass;
  }
  return mobility;
}

/* The opening velocity that was solved for, m/s. */
static double solved_opening(const recorded_contact *contact,
                             const bool edge_damped[2]) {
  double opening = 0;
  for (int side = 0; side < 2; side++) {
    dBodyID body = contact->bodies[side];
    if (body == NULL) continue;
    dReal v[3], w[3];
    solved_velocity(body, edge_damped[side], v, w);
    opening += opening_of(contact, side, v, w);
  }
  return opening;
}

static bool is_awake(dBodyID body) {
  return body != NULL && dBodyIsEnabled(body);
}

static bool may_sleep(dBodyID body) {
  return body != NULL && dBodyGetAutoDisableFlag(body) != 0;
}

/* How far a contact that pushes with `force` is from its law, in m/s: where it
 * pushes, its opening velocity is the one asked for less CFM times the force;
 * where it does not, it is at least that. The smaller of the two gaps, the
 * force's as the velocity it makes.
 *
 * A body that the host puts to sleep as the step begins, only to wake it for
 * its neighbours, has lost its velocity, which cannot be seen from here: the
 * bounce asked for is the one that fits best with or without it; so is the
 * correction, which may be done by moving the bodies. */
static double law_gap(const recorded_contact *contact, double opening,
                      double force, dWorldID world, double step_size) {
  const dSurfaceParameters *surface = &contact->asked.surface;
  double cfm =
      surface->mode & dContactSoftCFM ? surface->soft_cfm : dWorldGetCFM(world);
  double pushed = mobility_of(contact, step_size) * force;
  double least = INFINITY;
  for (int choice = 0; choice < 8; choice++) {
    bool corrected = choice & 1, first = choice & 2, second = choice & 4;
    if ((first && !may_sleep(contact->bodies[0])) ||
        (second && !may_sleep(contact->bodies[1])))
      continue;
    double before = (first ? 0 : contact->openings[0]) +
                    (second ? 0 : contact->openings[1]);
    double left = opening + cfm * force -
                  asked_velocity(contact, before, corrected, world, step_size);
    double gap = fabs(fmin(left, pushed));
    if (!(gap >= least)) least = gap; /* a NaN stays */
  }
  return least;
}

/* The gap with the force that the contact is told, or with its share; the
 * smallest of those that damping leaves open. */
static double contact_error(const recorded_contact *contact, dWorldID world,
                            double step_size) {
  if (!is_awake(contact->bodies[0]) && !is_awake(contact->bodies[1])) return 0;
  double forces[] = {own_normal_force(contact), shared_normal_force(contact)};
  double least = INFINITY;
  for (int choice = 0; choice < 8; choice++) {
    const bool edge_damped[2] = {choice & 1, choice & 2};
    double gap = law_gap(contact, solved_opening(contact, edge_damped),
                         forces[choice >> 2], world, step_size);
    if (!(gap >= least)) least = gap; /* a NaN stays */
  }
  return least;
}

static void measure_contacts(dWorldID world, double step_size) {
  worst_contact_error = 0;
  for (size_t i = 0; i < n_contacts; i++) {
    double error = contact_error(&contacts[i], world, step_size);
    if (!(error <= worst_contact_error)) worst_contact_error = error;
  }
  n_contacts = 0;
}

/* --- what they do --------------------------------------------------------- */

static double speed_of(dBodyID body) {
  const dReal *v = dBodyGetLinearVel(body);
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void write_series(dWorldID world) {
  static FILE *file;
  const char *name = getenv("RECORDER_SERIES");
  if (name == NULL) return;
  if (file == NULL && (file = fopen(name, "w")) == NULL) stop(name);

  int count = 0, awake = 0;
  double top = -INFINITY, fastest = 0;
  for (size_t i = 0; i < n_bodies; i++) {
    if (dBodyGetWorld(bodies[i]) != world) continue;
    double height = dBodyGetPosition(bodies[i])[2];
    double speed = speed_of(bodies[i]);
    if (!(height <= top)) top = height; /* a NaN shows */
    if (!(speed <= fastest)) fastest = speed;
    awake += dBodyIsEnabled(bodies[i]);
    count++;
  }
  fprintf(file, "%ld %d %.17g %.17g %d %.17g\n", n_steps, count,
          count > 0 ? top : NAN, fastest, awake, worst_contact_error);
  fflush(file);
}

/* @return the kind's name, NULL for a shape that is not drawn. */
static const char *kind_and_sizes(dGeomID geom, dReal sizes[4]) {
  switch (dGeomGetClass(geom)) {
    case dBoxClass: dGeomBoxGetLengths(geom, sizes); return "box";
    case dSphereClass: sizes[0] = dGeomSphereGetRadius(geom); return "sphere";
    case dCapsuleClass:
      dGeomCapsuleGetParams(geom, &sizes[0], &sizes[1]);
      return "capsule";
    case dCylinderClass:
      dGeomCylinderGetParams(geom, &sizes[0], &sizes[1]);
      return "cylinder";
    default: return NULL;
  }
}

static void write_solid(FILE *file, dGeomID geom, double speed) {
  dReal sizes[4] = {0};
  const char *kind = kind_and_sizes(geom, sizes);
  if (kind == NULL) return;
  const dReal *position = dGeomGetPosition(geom);
  const dReal *rotation = dGeomGetRotation(geom);
  fprintf(file, "%s %.9g %.9g %.9g", kind, sizes[0], sizes[1], sizes[2]);
  for (int i = 0; i < 3; i++) fprintf(file, " %.9g", position[i]);
  for (int i = 0; i < 12; i++) fprintf(file, " %.9g", rotation[i]);
  fprintf(file, " %.9g\n", speed);
}

static void write_solids(dWorldID world) {
  const char *name = getenv("RECORDER_SOLIDS");
  if (name == NULL) return;
  FILE *file = fopen(name, "w");
  if (file == NULL) stop(name);
  for (size_t i = 0; i < n_bodies; i++) {
    if (dBodyGetWorld(bodies[i]) != world) continue;
    double speed = speed_of(bodies[i]);
    for (dGeomID geom = dBodyGetFirstGeom(bodies[i]); geom != NULL;
         geom = dBodyGetNextGeom(geom))
      write_solid(file, geom, speed);
  }
  if (fclose(file) != 0) stop(name);
}

typedef int step_function(dWorldID, dReal);

static int record_step(step_function *step, dWorldID world, dReal step_size) {
  for (size_t i = 0; i < n_contacts; i++) begin_contact(&contacts[i]);
  int taken = step(world, step_size);
  n_steps++;
  measure_contacts(world, step_size);
  write_series(world);
  if (n_steps % STEPS_A_SNAPSHOT == 0) write_solids(world);
  return taken;
}

/* --- steps ---------------------------------------------------------------- */

int dWorldStep(dWorldID world, dReal step_size) {
  HOST(dWorldStep);
  return record_step(next, world, step_size);
}

int dWorldQuickStep(dWorldID world, dReal step_size) {
  const char *stepper = getenv("RECORDER_STEPPER");
  if (stepper != NULL && strcmp(stepper, "step") == 0)
    return dWorldStep(world, step_size);
  HOST(dWorldQuickStep);
  return record_step(next, world, step_size);
}
