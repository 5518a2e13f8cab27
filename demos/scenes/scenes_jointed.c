/* Scenes where joints and contacts work against each other. */
#include <math.h>
#include <stddef.h>

#include "scene.h"

static const double DENSITY = 1000; /* kg/m^3 */

/* The scene where it was built whole, else NULL. */
static scene *finish(scene *built, bool whole) {
  if (built != NULL && whole) return built;
  scene_destroy(built);
  return NULL;
}

static void add_ball(scene *scene, dBodyID body1, dBodyID body2,
                     const double anchor[3]) {
  dJointID ball = dJointCreateBall(scene->world, 0);
  dJointAttach(ball, body1, body2);
  dJointSetBallAnchor(ball, anchor[0], anchor[1], anchor[2]);
}

static void add_hinge(scene *scene, dBodyID body1, dBodyID body2,
                      const double anchor[3], double axis_x, double axis_y) {
  dJointID hinge = dJointCreateHinge(scene->world, 0);
  dJointAttach(hinge, body1, body2);
  dJointSetHingeAnchor(hinge, anchor[0], anchor[1], anchor[2]);
  dJointSetHingeAxis(hinge, axis_x, axis_y, 0);
}

/* --- a chain on the ground ------------------------------------------------- */

scene *scene_lying_chain(int links) {
  const double length = 0.5, width = 0.1;
  if (links < 1 || links > 100000) return NULL;
  scene *chain = scene_create();
  if (chain == NULL) return NULL;
  scene_add_floor(chain);

  double end[3] = {0, 0, 0.5 * width};
  dBodyID previous = NULL;
  for (int i = 0; i < links; i++) {
    double heading = 0.6 * sin(0.3 * i);
    double along[2] = {length * cos(heading), length * sin(heading)};
    dBodyID link =
        scene_add_box(chain, end[0] + 0.5 * along[0], end[1] + 0.5 * along[1],
                      end[2], length, width, width, DENSITY);
    if (link == NULL) return finish(chain, false);
    dMatrix3 rotation;
    dRFromAxisAndAngle(rotation, 0, 0, 1, heading);
    dBodySetRotation(link, rotation);
    if (previous != NULL) add_ball(chain, link, previous, end);
    for (int k = 0; k < 2; k++) end[k] += along[k];
    previous = link;
  }
  return chain;
}

/* --- a spider -------------------------------------------------------------- */

static const double ROD_RADIUS = 0.04;

/* A thin rod of 1 kg/m between two points; its geom, where it has one, is a
 * capsule that ends at the points. */
static dBodyID add_rod(scene *scene, const double from[3], const double to[3],
                       bool touches) {
  const double radius = ROD_RADIUS;
  double axis[3], middle[3], length = 0;
  for (int k = 0; k < 3; k++) {
    axis[k] = to[k] - from[k];
    middle[k] = 0.5 * (from[k] + to[k]);
    length += axis[k] * axis[k];
  }
  length = sqrt(length);
  dBodyID rod = scene_add_body(scene, middle[0], middle[1], middle[2]);
  if (rod == NULL) return NULL;
  dMass mass;
  dMassSetCapsuleTotal(&mass, length, 3, radius, length - 2 * radius);
  dBodySetMass(rod, &mass);
  dMatrix3 rotation;
  dRFromZAxis(rotation, axis[0], axis[1], axis[2]);
  dBodySetRotation(rod, rotation);
  if (touches)
    dGeomSetBody(dCreateCapsule(scene->space, radius, length - 2 * radius),
                 rod);
  return rod;
}

scene *scene_spider(int legs) {
  enum { MOST_LEGS = 64 };
  if (legs < 3 || legs > MOST_LEGS) return NULL;
  scene *spider = scene_create();
  if (spider == NULL) return NULL;
  scene_add_floor(spider);
  dBodyID trunk = scene_add_sphere(spider, 0, 0, 0.7, 0.3, 100);
  bool whole = trunk != NULL;

  double knees[MOST_LEGS][3];
  dBodyID shins[MOST_LEGS];
  for (int i = 0; i < legs && whole; i++) {
    double angle = 2 * M_PI * i / legs, c = cos(angle), s = sin(angle);
    double hip[3] = {0.25 * c, 0.25 * s, 0.7};
    double knee[3] = {0.8 * c, 0.8 * s, 1.0};
    // a slanting capsule's lowest point on the floor
    double foot[3] = {1.1 * c, 1.1 * s, ROD_RADIUS * (1 - 1 / hypot(1, 0.3))};
    for (int k = 0; k < 3; k++) knees[i][k] = knee[k];
    dBodyID thigh = add_rod(spider, hip, knee, false);
    shins[i] = add_rod(spider, knee, foot, true);
    whole = thigh != NULL && shins[i] != NULL;
    if (!whole) break;
    add_hinge(spider, trunk, thigh, hip, -s, c);
    add_hinge(spider, thigh, shins[i], knee, -s, c);
  }
  for (int i = 0; i < legs && whole; i++) {
    int next = (i + 1) % legs;
    dBodyID strut = add_rod(spider, knees[i], knees[next], false);
    whole = strut != NULL;
    if (!whole) break;
    add_ball(spider, shins[i], strut, knees[i]);
    add_ball(spider, strut, shins[next], knees[next]);
  }
  return finish(spider, whole);
}

/* --- a vehicle ------------------------------------------------------------- */

static bool add_wheel(scene *vehicle, dBodyID chassis, double x, double y,
                      bool driven) {
  const double radius = 0.35, width = 0.2;
  dBodyID wheel = scene_add_body(vehicle, x, y, radius);
  if (wheel == NULL) return false;
  dMass mass;
  dMassSetCylinderTotal(&mass, 20, 3, radius, width);
  dBodySetMass(wheel, &mass);
  dMatrix3 across;
  dRFromAxisAndAngle(across, 1, 0, 0, 0.5 * M_PI);
  dBodySetRotation(wheel, across);
  dGeomSetBody(dCreateCylinder(vehicle->space, radius, width), wheel);

  const dVector3 up = {0, 0, 1}, axle = {0, 1, 0};
  dJointID hinge = dJointCreateHinge2(vehicle->world, 0);
  dJointAttach(hinge, chassis, wheel);
  dJointSetHinge2Anchor(hinge, x, y, radius);
  dJointSetHinge2Axes(hinge, up, axle);
  // no steering; springs of 25 kN/m with 2 kN s/m at steps of 0.01 s
  dJointSetHinge2Param(hinge, dParamLoStop, 0);
  dJointSetHinge2Param(hinge, dParamHiStop, 0);
  dJointSetHinge2Param(hinge, dParamSuspensionERP, 250.0 / 2250);
  dJointSetHinge2Param(hinge, dParamSuspensionCFM, 1.0 / 2250);
  if (driven) {
    dJointSetHinge2Param(hinge, dParamVel2, 10);
    dJointSetHinge2Param(hinge, dParamFMax2, 200);
  }
  return true;
}

scene *scene_vehicle(void) {
  scene *vehicle = scene_create();
  if (vehicle == NULL) return NULL;
  scene_add_floor(vehicle);
  dBodyID chassis = scene_add_box(vehicle, 0, 0, 0.6, 2, 1, 0.3, 500);
  bool whole = chassis != NULL;
  for (int i = 0; i < 4 && whole; i++)
    whole = add_wheel(vehicle, chassis, i < 2 ? -0.7 : 0.7,
                      i % 2 == 0 ? -0.65 : 0.65, i < 2);
  return finish(vehicle, whole);
}

/* --- a grasp ----------------------------------------------------------------- */

scene *scene_grasp(double force) {
  const double size = 0.1;
  if (!(force >= 0) || !isfinite(force)) return NULL;
  scene *grasp = scene_create();
  if (grasp == NULL) return NULL;
  bool whole = scene_add_box(grasp, 0, 0, 1, size, size, size, DENSITY) != NULL;
  for (int side = -1; side <= 1 && whole; side += 2) {
    // 0.01 mm into the cube, so that they touch from the first step on
    dBodyID finger = scene_add_box(grasp, side * (0.75 * size - 1e-5), 0, 1,
                                   0.5 * size, size, size, DENSITY);
    whole = finger != NULL;
    if (!whole) break;
    dJointID slider = dJointCreateSlider(grasp->world, 0);
    dJointAttach(slider, finger, NULL);
    dJointSetSliderAxis(slider, side, 0, 0);
    // closing; the motor never gets there and pushes with all its force
    dJointSetSliderParam(slider, dParamVel, -1);
    dJointSetSliderParam(slider, dParamFMax, force);
  }
  return finish(grasp, whole);
}

/* --- a rod without an acceleration ------------------------------------------ */

scene *scene_painleve_rod(double speed) {
  const double radius = 0.05, length = 0.5, inertia = 0.002, tilt = M_PI / 6;
  const double depth = 1e-6;
  if (!isfinite(speed)) return NULL;
  scene *scene = scene_create();
  if (scene == NULL) return NULL;
  scene_add_floor(scene);
  scene->max_contacts = 1;
  scene->surface.mu = 0.6;

  double height = radius - depth + 0.5 * length * cos(tilt);
  dBodyID rod = scene_add_capsule(scene, 0, 0, height, radius, length, DENSITY);
  if (rod == NULL) return finish(scene, false);
  dMass mass;
  dMassSetParameters(&mass, 1, 0, 0, 0, inertia, inertia, inertia, 0, 0, 0);
  dBodySetMass(rod, &mass);
  dMatrix3 rotation;
  dRFromAxisAndAngle(rotation, 0, 1, 0, tilt);
  dBodySetRotation(rod, rotation);
  dBodySetLinearVel(rod, speed, 0, 0);
  return scene;
}
