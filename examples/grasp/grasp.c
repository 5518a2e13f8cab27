/* A gripper closes on a box and lifts it; the forces of its fingers' contacts.
 *
 * Two fingers on sliders are driven towards each other by motors with a force
 * limit, then a third slider lifts the palm. It writes, as CSV, the sum of the
 * normal and of the friction forces that each finger has on the box, from the
 * joints' feedback.
 */
#include <math.h>
#include <stdio.h>

#include <ode_mlcp.h>

enum { POINTS = 8, CONTACTS = 64 };

static const dReal STEP = 0.005, SIDE = 0.1; /* s, m */
static const dReal MASS = 0.5;               /* kg */
static const dReal GRIP = 8;                 /* N, of each finger's motor */

static dWorldID world;
static dJointGroupID contacts;
static dBodyID box, palm, finger[2];

/* contacts of this step between a finger and the box, with their forces */
static struct {
  dJointFeedback feedback;
  dReal normal[3];
  int finger, box_is_first;
} held[CONTACTS];
static int n_held;

static void watch(dJointID joint, const dContactGeom *geom, dBodyID one,
                  dBodyID other) {
  if (n_held == CONTACTS || (one != box && other != box)) return;
  dBodyID with = one == box ? other : one;
  if (with != finger[0] && with != finger[1]) return;
  held[n_held].finger = with == finger[1];
  held[n_held].box_is_first = one == box;
  for (int i = 0; i < 3; i++) held[n_held].normal[i] = geom->normal[i];
  dJointSetFeedback(joint, &held[n_held++].feedback);
}

static void collide(void *unused, dGeomID one, dGeomID other) {
  (void)unused;
  dBodyID a = dGeomGetBody(one), b = dGeomGetBody(other);
  if (a != NULL && b != NULL && dAreConnectedExcluding(a, b, dJointTypeContact))
    return;
  dContact contact[POINTS];
  int n = dCollide(one, other, POINTS, &contact[0].geom, sizeof contact[0]);
  for (int i = 0; i < n; i++) {
    contact[i].surface.mode = dContactApprox1;
    contact[i].surface.mu = 0.6;
    dJointID joint = dJointCreateContact(world, contacts, &contact[i]);
    dJointAttach(joint, a, b);
    watch(joint, &contact[i].geom, a, b);
  }
}

static dBodyID add_box(dSpaceID space, dReal x, dReal z, dReal lx, dReal lz,
                       dReal mass) {
  dBodyID body = dBodyCreate(world);
  dMass m;
  dMassSetBoxTotal(&m, mass, lx, SIDE, lz);
  dBodySetMass(body, &m);
  dBodySetPosition(body, x, 0, z);
  dGeomSetBody(dCreateBox(space, lx, SIDE, lz), body);
  return body;
}

static dJointID add_slider(dBodyID body, dBodyID on, dReal x, dReal z,
                           dReal force) {
  dJointID slider = dJointCreateSlider(world, 0);
  dJointAttach(slider, body, on);
  dJointSetSliderAxis(slider, x, 0, z);
  dJointSetSliderParam(slider, dParamFMax, force);
  return slider;
}

/* sums of the normal and of the friction force of a finger on the box, N */
static void forces_of(int which, double *normal, double *friction) {
  double f[3] = {0, 0, 0};
  *normal = 0;
  for (int k = 0; k < n_held; k++) {
    if (held[k].finger != which) continue;
    const dReal *on_box =
        held[k].box_is_first ? held[k].feedback.f1 : held[k].feedback.f2;
    double along = 0;
    for (int i = 0; i < 3; i++) along += on_box[i] * held[k].normal[i];
    for (int i = 0; i < 3; i++) f[i] += on_box[i] - along * held[k].normal[i];
    *normal += fabs(along);
  }
  *friction = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
}

int main(void) {
  dInitODE2(0);
  world = dWorldCreate();
  dWorldSetGravity(world, 0, 0, -9.81);
  dSpaceID space = dSimpleSpaceCreate(0);
  contacts = dJointGroupCreate(0);
  dCreatePlane(space, 0, 0, 1, 0);
  if (ode_mlcp_attach(world, NULL) != ODE_MLCP_OK) return 1;

  box = add_box(space, 0, 0.5 * SIDE, SIDE, SIDE, MASS);
  palm = add_box(space, 0, 0.25, 0.3, 0.04, 1);
  dJointID lift = add_slider(palm, 0, 0, 1, 200), close[2];
  for (int side = 0; side < 2; side++) {
    dReal sign = side ? 1 : -1;
    finger[side] = add_box(space, sign * 0.1, 0.13, 0.02, 0.18, 0.2);
    close[side] = add_slider(finger[side], palm, -sign, 0, GRIP);
    dJointSetSliderParam(close[side], dParamVel, 0.2);
  }

  double normal = 0, friction = 0;
  printf("time_s,normal_N,friction_N,height_m\n");
  for (int k = 1; k <= 400; k++) {
    double t = k * STEP;
    dJointSetSliderParam(lift, dParamVel, t > 0.6 && t < 1.4 ? 0.2 : 0);
    n_held = 0;
    dSpaceCollide(space, NULL, collide);
    dWorldStep(world, STEP);
    forces_of(0, &normal, &friction);
    dJointGroupEmpty(contacts);
    printf("%g,%.6g,%.6g,%.6g\n", t, normal, friction,
           dBodyGetPosition(box)[2] - 0.5 * SIDE);
  }
  fprintf(stderr,
          "held: normal %.4g N, friction %.4g N; half the weight %.4g N\n",
          normal, friction, 0.5 * MASS * 9.81);

  dSpaceDestroy(space);
  dWorldDestroy(world);
  dCloseODE();
  /* what the motor presses with, and half of what the box weighs */
  return fabs(normal - GRIP) < 1e-3 && fabs(friction - 0.5 * MASS * 9.81) < 1e-3
             ? 0
             : 1;
}
