#include "never_worse_world.h"
#include "body_testing.h"
#include "gap/real.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- chance ---- */

/* SplitMix64: the same on every machine */
double draw_between(drawn_world *w, double low, double high) {
  uint64_t z = (w->chance += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return low + (high - low) * ((double)(z >> 11) * 0x1p-53);
}

double draw_scale(drawn_world *w, double low, double high) {
  return exp(draw_between(w, log(low), log(high)));
}

int draw_below(drawn_world *w, int n) { return (int)draw_between(w, 0, n); }

/* ---- parts ---- */

static dBodyID add_body(drawn_world *w, const dMass *mass, dGeomID geom,
                        double size, double x, double y, double z) {
  if (w->n_bodies == DRAWN_BODIES) abort();
  dBodyID body = dBodyCreate(w->world);
  dBodySetMass(body, mass);
  if (geom != NULL) dGeomSetBody(geom, body);
  dBodySetPosition(body, x, y, z);
  w->sizes[w->n_bodies] = size;
  w->bodies[w->n_bodies++] = body;
  return body;
}

dBodyID add_box(drawn_world *w, double mass, double a, double b, double c,
                double x, double y, double z) {
  dMass m;
  dMassSetBoxTotal(&m, mass, a, b, c);
  return add_body(w, &m, dCreateBox(w->space, a, b, c), fmax(a, fmax(b, c)), x,
                  y, z);
}

dBodyID add_ball(drawn_world *w, double mass, double radius, double x, double y,
                 double z) {
  dMass m;
  dMassSetSphereTotal(&m, mass, radius);
  return add_body(w, &m, dCreateSphere(w->space, radius), 2 * radius, x, y, z);
}

static void lay(dBodyID body, int direction) {
  dMatrix3 rotation;
  dRFromZAxis(rotation, direction == 0, direction == 1, direction == 2);
  dBodySetRotation(body, rotation);
}

dBodyID add_capsule(drawn_world *w, double mass, double radius, double length,
                    int direction, double x, double y, double z) {
  dMass m;
  dMassSetCapsuleTotal(&m, mass, 3, radius, length);
  dBodyID body = add_body(w, &m, dCreateCapsule(w->space, radius, length),
                          length + 2 * radius, x, y, z);
  lay(body, direction);
  return body;
}

dBodyID add_cylinder(drawn_world *w, double mass, double radius, double length,
                     int direction, double x, double y, double z) {
  dMass m;
  dMassSetCylinderTotal(&m, mass, 3, radius, length);
  dBodyID body = add_body(w, &m, dCreateCylinder(w->space, radius, length),
                          fmax(length, 2 * radius), x, y, z);
  lay(body, direction);
  return body;
}

dBodyID add_convex(drawn_world *w, double mass, double a, double b, double c,
                   double x, double y, double z) {
  /* the host keeps pointers into these */
  static dReal planes[24], points[24];
  static const unsigned polygons[] = {4, 4, 6, 2, 0, 4, 3, 7, 5, 1,
                                      4, 1, 5, 4, 0, 4, 6, 7, 3, 2,
                                      4, 2, 3, 1, 0, 4, 5, 7, 6, 4};
  const double half[3] = {a / 2, b / 2, c / 2};
  /* corner i has bit 0 of x, bit 1 of y, bit 2 of z; planes -x, +x, -y .. */
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 3; k++)
      points[3 * i + k] = (i >> k & 1) ? half[k] : -half[k];
  memset(planes, 0, sizeof planes);
  for (int i = 0; i < 6; i++) {
    planes[4 * i + i / 2] = i % 2 ? 1 : -1;
    planes[4 * i + 3] = half[i / 2];
  }
  dMass m;
  dMassSetBoxTotal(&m, mass, a, b, c);
  dGeomID geom = dCreateConvex(w->space, planes, 6, points, 8, polygons);
  return add_body(w, &m, geom, fmax(a, fmax(b, c)), x, y, z);
}

dGeomID add_static_box(drawn_world *w, double a, double b, double c, double x,
                       double y, double z) {
  dGeomID geom = dCreateBox(w->space, a, b, c);
  dGeomSetPosition(geom, x, y, z);
  return geom;
}

/* ---- floors ---- */

static dReal field_height(void *user, int x, int z) {
  const drawn_world *w = user;
  return w->bump * (1 + sin(1.3 * x) * cos(1.1 * z)) / 2;
}

static void add_tiles(drawn_world *w, double reach, double a, double b) {
  for (double x = -reach; x < reach; x += a)
    for (double y = -reach; y < reach; y += b)
      add_static_box(w, a, b, w->size, x + a / 2, y + b / 2, -w->size / 2);
}

static void add_mesh(drawn_world *w, double reach) {
  enum { CELLS = 8, SIDE = CELLS + 1 };
  static double vertices[3 * SIDE * SIDE];
  static dTriIndex triangles[6 * CELLS * CELLS];
  for (int i = 0; i < SIDE * SIDE; i++) {
    vertices[3 * i] = reach * (2. * (i % SIDE) / CELLS - 1);
    vertices[3 * i + 1] = reach * (2. * (i / SIDE) / CELLS - 1);
    vertices[3 * i + 2] = 0;
  }
  for (int i = 0; i < CELLS * CELLS; i++) {
    const dTriIndex at = (dTriIndex)(i / CELLS * SIDE + i % CELLS);
    const dTriIndex corners[6] = {at, at + 1,        at + SIDE + 1,
                                  at, at + SIDE + 1, at + SIDE};
    memcpy(triangles + 6 * i, corners, sizeof corners);
  }
  w->mesh = dGeomTriMeshDataCreate();
  dGeomTriMeshDataBuildDouble(w->mesh, vertices, 3 * sizeof *vertices,
                              SIDE * SIDE, triangles, 6 * CELLS * CELLS,
                              3 * sizeof *triangles);
  dCreateTriMesh(w->space, w->mesh, NULL, NULL, NULL);
}

void add_floor(drawn_world *w, floor_kind kind, double reach) {
  switch (kind) {
    case FLOOR_TILES: {
      const double side = w->size * draw_between(w, 1, 3);
      add_tiles(w, reach, side, side * draw_between(w, 0.7, 1.4));
      break;
    }
    case FLOOR_BOARDS:
      add_tiles(w, reach, w->size * draw_between(w, 0.6, 1.5), 2 * reach);
      break;
    case FLOOR_MESH: add_mesh(w, reach); break;
    case FLOOR_FIELD: {
      w->field = dGeomHeightfieldDataCreate();
      dGeomHeightfieldDataBuildCallback(w->field, w, field_height, 2 * reach,
                                        2 * reach, 17, 17, 1, 0, w->size, 0);
      dGeomHeightfieldDataSetBounds(w->field, 0, w->bump);
      dGeomID geom = dCreateHeightfield(w->space, w->field, 1);
      dMatrix3 up; /* the host's fields are high along y */
      dRFromAxisAndAngle(up, 1, 0, 0, M_PI / 2);
      dGeomSetRotation(geom, up);
      break;
    }
    default: dCreatePlane(w->space, 0, 0, 1, 0);
  }
}

/* ---- joints ---- */

static void into_frame(dBodyID body, const double place[3], double out[3]) {
  dVector3 local = {place[0], place[1], place[2]};
  if (body != NULL)
    dBodyGetPosRelPoint(body, place[0], place[1], place[2], local);
  real_read(out, local, 3);
}

static void direction_into_frame(dBodyID body, const double axis[3],
                                 double out[3]) {
  dVector3 local = {axis[0], axis[1], axis[2]};
  if (body != NULL)
    dBodyVectorFromWorld(body, axis[0], axis[1], axis[2], local);
  real_read(out, local, 3);
}

static dJointID keep_joint(drawn_world *w, dJointID joint, dBodyID a, dBodyID b,
                           const double place[3], int axis, int across) {
  if (w->n_joints == DRAWN_JOINTS) abort();
  drawn_joint *kept = &w->joints[w->n_joints];
  *kept = (drawn_joint){.joint = joint, .bodies = {a, b}, .low = 1};
  const double axes[2][3] = {{axis == 0, axis == 1, axis == 2},
                             {across == 0, across == 1, across == 2}};
  for (int i = 0; i < 2; i++) {
    into_frame(kept->bodies[i], place, kept->anchors[i]);
    direction_into_frame(kept->bodies[i], axes[0], kept->axes[i]);
    direction_into_frame(kept->bodies[i], axes[1], kept->across[i]);
  }
  kept->arm = w->size / 2;
  if (w->feedback) dJointSetFeedback(joint, &w->forces[w->n_joints]);
  w->n_joints++;
  return joint;
}

dJointID join_ball(drawn_world *w, dBodyID a, dBodyID b, double x, double y,
                   double z) {
  dJointID joint = dJointCreateBall(w->world, 0);
  dJointAttach(joint, a, b);
  dJointSetBallAnchor(joint, x, y, z);
  return keep_joint(w, joint, a, b, (double[]){x, y, z}, 2, 0);
}

dJointID join_hinge(drawn_world *w, dBodyID a, dBodyID b, double x, double y,
                    double z, int axis) {
  dJointID joint = dJointCreateHinge(w->world, 0);
  dJointAttach(joint, a, b);
  dJointSetHingeAnchor(joint, x, y, z);
  dJointSetHingeAxis(joint, axis == 0, axis == 1, axis == 2);
  return keep_joint(w, joint, a, b, (double[]){x, y, z}, axis, (axis + 1) % 3);
}

dJointID join_slider(drawn_world *w, dBodyID a, dBodyID b, int axis) {
  dJointID joint = dJointCreateSlider(w->world, 0);
  dJointAttach(joint, a, b);
  dJointSetSliderAxis(joint, axis == 0, axis == 1, axis == 2);
  return keep_joint(w, joint, a, b, real3(dBodyGetPosition(a)).at, axis,
                    (axis + 1) % 3);
}

dJointID join_universal(drawn_world *w, dBodyID a, dBodyID b, double x,
                        double y, double z, int axis1, int axis2) {
  dJointID joint = dJointCreateUniversal(w->world, 0);
  dJointAttach(joint, a, b);
  dJointSetUniversalAnchor(joint, x, y, z);
  dJointSetUniversalAxis1(joint, axis1 == 0, axis1 == 1, axis1 == 2);
  dJointSetUniversalAxis2(joint, axis2 == 0, axis2 == 1, axis2 == 2);
  return keep_joint(w, joint, a, b, (double[]){x, y, z}, axis1, axis2);
}

dJointID join_hinge2(drawn_world *w, dBodyID chassis, dBodyID wheel) {
  dJointID joint = dJointCreateHinge2(w->world, 0);
  const dReal *place = dBodyGetPosition(wheel);
  const dVector3 up = {0, 0, 1}, across = {0, 1, 0};
  dJointAttach(joint, chassis, wheel);
  dJointSetHinge2Anchor(joint, place[0], place[1], place[2]);
  dJointSetHinge2Axes(joint, up, across);
  return keep_joint(w, joint, chassis, wheel, real3(place).at, 2, 1);
}

dJointID join_fixed(drawn_world *w, dBodyID a, dBodyID b) {
  dJointID joint = dJointCreateFixed(w->world, 0);
  dJointAttach(joint, a, b);
  dJointSetFixed(joint);
  return keep_joint(w, joint, a, b, real3(dBodyGetPosition(a)).at, 2, 0);
}

void set_stops(drawn_world *w, double low, double high, double bounce) {
  drawn_joint *kept = &w->joints[w->n_joints - 1];
  kept->low = low;
  kept->high = high;
  if (dJointGetType(kept->joint) == dJointTypeSlider) {
    dJointSetSliderParam(kept->joint, dParamLoStop, low);
    dJointSetSliderParam(kept->joint, dParamHiStop, high);
    dJointSetSliderParam(kept->joint, dParamBounce, bounce);
  } else {
    dJointSetHingeParam(kept->joint, dParamLoStop, low);
    dJointSetHingeParam(kept->joint, dParamHiStop, high);
    dJointSetHingeParam(kept->joint, dParamBounce, bounce);
  }
}

/* A row with ERP e and CFM f is a spring of stiffness e/(f h) and a damper of
 * (1 - e)/f; both stay as they are with a smaller h. */
void spread_spring(const drawn_world *w, double *erp, double *cfm) {
  const double share = *erp / w->split + 1 - *erp;
  *erp = *erp / w->split / share;
  *cfm = *cfm / share;
}

/* ---- errors ---- */

static void out_of_frame(dBodyID body, const double local[3], double out[3]) {
  dVector3 place = {local[0], local[1], local[2]};
  if (body != NULL)
    dBodyGetRelPointPos(body, local[0], local[1], local[2], place);
  real_read(out, place, 3);
}

static void direction_out_of_frame(dBodyID body, const double local[3],
                                   double out[3]) {
  dVector3 axis = {local[0], local[1], local[2]};
  if (body != NULL)
    dBodyVectorToWorld(body, local[0], local[1], local[2], axis);
  real_read(out, axis, 3);
}

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double sine_between(const double a[3], const double b[3]) {
  const double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                       a[0] * b[1] - a[1] * b[0]};
  return sqrt(dot(c, c));
}

static double beyond_stops(const drawn_joint *kept) {
  if (kept->low > kept->high) return 0;
  const bool slides = dJointGetType(kept->joint) == dJointTypeSlider;
  const double at = slides ? dJointGetSliderPosition(kept->joint)
                           : dJointGetHingeAngle(kept->joint);
  return fmax(0, fmax(kept->low - at, at - kept->high)) *
         (slides ? 1 : kept->arm);
}

static double error_of(const drawn_joint *kept) {
  double places[2][3], axes[2][3], across[2][3], apart[3];
  for (int i = 0; i < 2; i++) {
    out_of_frame(kept->bodies[i], kept->anchors[i], places[i]);
    direction_out_of_frame(kept->bodies[i], kept->axes[i], axes[i]);
    direction_out_of_frame(kept->bodies[i], kept->across[i], across[i]);
  }
  for (int k = 0; k < 3; k++) apart[k] = places[0][k] - places[1][k];
  const double along = dot(apart, axes[0]);
  double turned = 0;
  switch (dJointGetType(kept->joint)) {
    case dJointTypeHinge: turned = sine_between(axes[0], axes[1]); break;
    case dJointTypeUniversal: turned = fabs(dot(axes[0], across[1])); break;
    case dJointTypeHinge2: /* its wheel goes along the first axis */
      for (int k = 0; k < 3; k++) apart[k] -= along * axes[0][k];
      turned = fabs(dot(axes[0], across[1]));
      break;
    case dJointTypeSlider:
      for (int k = 0; k < 3; k++) apart[k] -= along * axes[0][k];
      turned =
          sine_between(axes[0], axes[1]) + sine_between(across[0], across[1]);
      break;
    case dJointTypeFixed:
      turned =
          sine_between(axes[0], axes[1]) + sine_between(across[0], across[1]);
      break;
    default: break;
  }
  return sqrt(dot(apart, apart)) + turned * kept->arm + beyond_stops(kept);
}

double joint_error(const drawn_world *w) {
  double worst = 0;
  for (int i = 0; i < w->n_joints; i++)
    worst = fmax(worst, error_of(&w->joints[i]));
  return worst;
}

double world_energy(const drawn_world *w) {
  double energy = 0;
  for (int i = 0; i < w->n_bodies; i++) {
    dMass mass;
    if (dBodyIsKinematic(w->bodies[i])) continue;
    dBodyGetMass(w->bodies[i], &mass);
    energy += kinetic_energy(w->bodies[i]) +
              mass.mass * w->gravity * dBodyGetPosition(w->bodies[i])[2];
  }
  return energy;
}

bool world_is_whole(const drawn_world *w) {
  for (int i = 0; i < w->n_bodies; i++) {
    const dReal *x = dBodyGetPosition(w->bodies[i]);
    const dReal *v = dBodyGetLinearVel(w->bodies[i]);
    const dReal *q = dBodyGetQuaternion(w->bodies[i]);
    const double far = fabs(x[0]) + fabs(x[1]) + fabs(x[2]);
    if (!(far < 1e3 * w->size) ||
        !(dot(real3(v).at, real3(v).at) < 1e6 * w->speed * w->speed) ||
        !(q[0] * q[0] <= 1.1))
      return false;
  }
  return true;
}

/* ---- steps ---- */

/* The surface of a geom that moves, as the manual's lifts and belts tell it: its
 * velocity along the contact's own directions, and against its normal. */
static void tell_motion(const drawn_world *w, dContact *contact, bool second) {
  dVector3 first, other;
  dPlaneSpace(contact->geom.normal, first, other);
  memcpy(contact->fdir1, first, sizeof first);
  const double sign = second ? 1 : -1;
  contact->surface.mode |= dContactFDir1 | dContactMotion1 | dContactMotion2;
  contact->surface.motion1 = sign * dot(real3(first).at, w->mover_velocity);
  contact->surface.motion2 = sign * dot(real3(other).at, w->mover_velocity);
  const double along = dot(real3(contact->geom.normal).at, w->mover_velocity);
  if (along == 0) return;
  contact->surface.mode |= dContactMotionN;
  contact->surface.motionN = sign * along;
}

/* What a soft contact gives back as it lets go: ERP e and CFM f are a spring of
 * stiffness e/(f h) from the surface layer on, whose force grows no more from where
 * the correcting velocity is at its most. */
static double spring_energy(const drawn_world *w, const dContact *contact) {
  const dSurfaceParameters *s = &contact->surface;
  const int soft = dContactSoftERP | dContactSoftCFM;
  if ((s->mode & soft) != soft) return 0;
  const double per_second = s->soft_erp * w->split / w->step_size;
  const double most = dWorldGetContactMaxCorrectingVel(w->world);
  const double depth =
      fmax(0, contact->geom.depth - dWorldGetContactSurfaceLayer(w->world));
  const double grows = fmin(depth, most / per_second);
  return per_second * grows * (depth - grows / 2) / s->soft_cfm;
}

static void near_geoms(void *data, dGeomID a, dGeomID b) {
  drawn_world *w = data;
  dBodyID first = dGeomGetBody(a), second = dGeomGetBody(b);
  if (first == NULL && second == NULL) return;
  if (first != NULL && second != NULL &&
      dAreConnectedExcluding(first, second, dJointTypeContact))
    return;
  dContact found[64];
  const int n =
      dCollide(a, b, w->most_contacts, &found[0].geom, sizeof found[0]);
  for (int i = 0; i < n && w->n_contacts < DRAWN_CONTACTS; i++) {
    found[i].surface = w->surface;
    if (w->mover != NULL && (a == w->mover || b == w->mover))
      tell_motion(w, &found[i], b == w->mover);
    w->depth = fmax(w->depth, found[i].geom.depth);
    w->springs += spring_energy(w, &found[i]);
    dJointID joint = dJointCreateContact(w->world, w->contact_group, &found[i]);
    dJointAttach(joint, first, second);
    if (w->feedback)
      dJointSetFeedback(joint, &w->forces[w->n_joints + w->n_contacts]);
    w->contacts[w->n_contacts++] = joint;
  }
}

/* Each body's velocity before the step, with the joints' and contacts' impulses on it:
 * their work is that on the mean of the velocities before and after. */
typedef struct body_motion {
  double velocity[6];
} body_motion;

static void read_motions(const drawn_world *w, body_motion motions[]) {
  for (int i = 0; i < w->n_bodies; i++) {
    real_read(motions[i].velocity, dBodyGetLinearVel(w->bodies[i]), 3);
    real_read(motions[i].velocity + 3, dBodyGetAngularVel(w->bodies[i]), 3);
  }
}

static double work_on(const drawn_world *w, dBodyID body, const dReal force[3],
                      const dReal torque[3], const body_motion before[],
                      const body_motion after[]) {
  if (body == NULL) return 0;
  for (int i = 0; i < w->n_bodies; i++)
    if (w->bodies[i] == body) {
      double power = 0;
      if (dBodyIsKinematic(body)) return 0;
      for (int k = 0; k < 3; k++)
        power +=
            force[k] * (before[i].velocity[k] + after[i].velocity[k]) +
            torque[k] * (before[i].velocity[3 + k] + after[i].velocity[3 + k]);
      return power / 2;
    }
  return 0;
}

static double work_of_forces(const drawn_world *w, const body_motion before[],
                             const body_motion after[]) {
  double power = 0;
  for (int i = 0; i < w->n_joints + w->n_contacts; i++) {
    dJointID joint =
        i < w->n_joints ? w->joints[i].joint : w->contacts[i - w->n_joints];
    const dJointFeedback *f = &w->forces[i];
    dBodyID first = dJointGetBody(joint, 0), second = dJointGetBody(joint, 1);
    if (first == NULL) { /* f1 is the body's that there is */
      first = second;
      second = NULL;
    }
    power += work_on(w, first, f->f1, f->t1, before, after) +
             work_on(w, second, f->f2, f->t2, before, after);
  }
  return power * w->step_size / w->split;
}

int step_world(drawn_world *w, int number, bool quick) {
  static body_motion before[DRAWN_BODIES], after[DRAWN_BODIES];
  int refused = 0;
  w->depth = 0;
  for (int i = 0; i < w->split; i++) {
    const double time = (number + (double)i / w->split) * w->step_size;
    if (w->drive != NULL) w->drive(w, time);
    w->n_contacts = 0;
    w->springs = 0;
    dSpaceCollide(w->space, w, near_geoms);
    if (i == 0) w->springs_first = w->springs;
    if (w->feedback) {
      read_motions(w, before);
      memset(w->forces, 0,
             (size_t)(w->n_joints + w->n_contacts) * sizeof *w->forces);
    }
    const double h = w->step_size / w->split;
    refused +=
        (quick ? dWorldQuickStep(w->world, h) : dWorldStep(w->world, h)) == 0;
    if (w->feedback) {
      read_motions(w, after);
      w->forces_work += work_of_forces(w, before, after);
    }
    dJointGroupEmpty(w->contact_group);
  }
  return refused;
}

/* ---- drawing ---- */

/* How surfaces are set in programs: a coefficient, without friction, without limit,
 * a force, along one direction, soft, slipping, rolling. */
static void draw_surface(drawn_world *w) {
  dSurfaceParameters *s = &w->surface;
  memset(s, 0, sizeof *s);
  s->mode = dContactApprox1;
  s->mu = draw_scale(w, 0.1, 1.5);
  switch (draw_below(w, 12)) {
    case 0: s->mu = dInfinity; break;
    case 1: /* newtons */
      s->mode = 0;
      s->mu *= w->mass * w->gravity;
      break;
    case 2:
      s->mode |= dContactSlip1 | dContactSlip2;
      s->slip1 = s->slip2 = draw_scale(w, 1e-3, 0.1) * w->step_size / w->mass;
      break;
    case 3:
      s->mode |= dContactMu2;
      s->mu2 = s->mu * draw_between(w, 0.2, 1);
      break;
    case 4:
      s->mode |= dContactRolling;
      s->rho = s->rho2 = s->rhoN = draw_scale(w, 1e-3, 0.05) * w->size;
      break;
    case 5:
    case 6: { /* a spring that the part's weight presses in by a hundredth */
      double erp = draw_between(w, 0.1, 0.8);
      double cfm = draw_between(w, 0.001, 0.01) * w->size * erp /
                   (w->mass * w->gravity * w->step_size);
      spread_spring(w, &erp, &cfm);
      s->mode |= dContactSoftERP | dContactSoftCFM;
      s->soft_erp = erp;
      s->soft_cfm = cfm;
      break;
    }
    default: break;
  }
}

/* A run lasts as long as something takes to fall three times a part's size. Nobody
 * takes steps in which a part falls by more than some hundredths of itself. */
static void draw_step_size(drawn_world *w) {
  const double lasts = 2.5 * sqrt(w->size / w->gravity);
  const double most = fmin(0.02, 0.02 * sqrt(w->size));
  w->step_size = draw_scale(w, fmin(most / 2, fmax(1e-3, lasts / 300)), most);
  if (draw_one_in(w, 3)) w->step_size = fmin(0.01, most);
  w->n_steps = (int)fmax(48, lasts / w->step_size);
}

static void draw_world_settings(drawn_world *w) {
  static const double erps[] = {0.2, 0.2, 0.2, 0.1, 0.4, 0.8};
  double erp = erps[draw_below(w, 6)], cfm = 1e-10;
  if (draw_one_in(w, 3)) cfm = draw_scale(w, 1e-10, 1e-6) / w->mass;
  if (draw_one_in(w, 6)) cfm = 0;
  spread_spring(w, &erp, &cfm);
  dWorldSetERP(w->world, erp);
  dWorldSetCFM(w->world, cfm);
  if (draw_one_in(w, 5))
    dWorldSetContactSurfaceLayer(w->world, w->size * draw_scale(w, 1e-5, 1e-3));
  if (draw_one_in(w, 6))
    dWorldSetContactMaxCorrectingVel(w->world,
                                     w->speed * draw_scale(w, 0.1, 2));
  if (draw_one_in(w, 6)) dWorldSetQuickStepNumIterations(w->world, 50);
  w->most_contacts = (int[]){4, 8, 16, 32}[draw_below(w, 4)];
}

static dSpaceID draw_space(drawn_world *w) {
  switch (draw_below(w, 3)) {
    case 0: return dSimpleSpaceCreate(NULL);
    case 1: return dSweepAndPruneSpaceCreate(NULL, dSAP_AXES_XYZ);
    default: return dHashSpaceCreate(NULL);
  }
}

void draw_world(drawn_world *w, uint64_t number, int split) {
  memset(w, 0, sizeof *w);
  w->chance = number * 0x632be59bd9b4e019u + 1;
  w->split = split;
  w->size = draw_scale(w, 0.01, 10);
  const double cube = w->size * w->size * w->size;
  w->mass = draw_scale(w, fmin(5e3, fmax(0.01, 50 * cube)),
                       fmin(1e4, fmax(0.02, 5e3 * cube)));
  w->gravity = draw_one_in(w, 8) ? 1.62 : 9.81;
  w->speed = sqrt(w->gravity * w->size);
  draw_step_size(w);
  w->world = dWorldCreate();
  dWorldSetGravity(w->world, 0, 0, -w->gravity);
  w->space = draw_space(w);
  w->contact_group = dJointGroupCreate(0);
  draw_surface(w);
  draw_world_settings(w);

  int n_families = 0;
  while (drawn_families[n_families].name != NULL) n_families++;
  const drawn_family *family = &drawn_families[number % (uint64_t)n_families];
  w->family = family->name;
  family->make(w);

  for (int i = 0; i < w->n_bodies; i++) {
    dMass mass;
    if (dBodyIsKinematic(w->bodies[i])) continue;
    dBodyGetMass(w->bodies[i], &mass);
    w->start_energy +=
        kinetic_energy(w->bodies[i]) + mass.mass * w->gravity * w->sizes[i];
  }
}

void destroy_world(drawn_world *w) {
  dJointGroupDestroy(w->contact_group);
  dSpaceDestroy(w->space);
  dWorldDestroy(w->world);
  if (w->mesh != NULL) dGeomTriMeshDataDestroy(w->mesh);
  if (w->field != NULL) dGeomHeightfieldDataDestroy(w->field);
}
