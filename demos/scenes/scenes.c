#include <math.h>
#include <stddef.h>

#include "scene.h"

static const double DENSITY = 1000; /* kg/m^3 */
enum { MAX_BODIES = 100000 };

/* The scene where it was built whole, else NULL. */
static scene *finish(scene *built, bool whole) {
  if (built != NULL && whole) return built;
  scene_destroy(built);
  return NULL;
}

scene *scene_wall(int rows) {
  const double pitch = 1.05;
  if (rows < 1 || rows > 200) return NULL;
  scene *wall = scene_create();
  if (wall == NULL) return NULL;
  scene_add_floor(wall);

  bool whole = true;
  for (int row = 0; row < rows; row++) {
    int boxes = rows - row;
    for (int i = 0; i < boxes; i++) {
      double x = pitch * (i - 0.5 * (boxes - 1));
      whole &= scene_add_box(wall, x, 0, row + 0.5, 1, 1, 1, DENSITY) != NULL;
    }
  }
  return finish(wall, whole);
}

scene *scene_bricks(int courses) {
  const double length = 0.24, width = 0.115, height = 0.071, mass = 2;
  enum { A_COURSE = 5 };
  if (courses < 1 || courses > 50) return NULL;
  scene *wall = scene_create();
  if (wall == NULL) return NULL;
  scene_add_floor(wall);
  bool whole = true;
  for (int course = 0; course < courses; course++)
    for (int i = 0; i < A_COURSE; i++) {
      double x = (length + 0.01) * (i + 0.5 * (course % 2));
      whole &= scene_add_box(wall, x, 0, (course + 0.5) * height, length, width,
                             height, mass / (length * width * height)) != NULL;
    }
  return finish(wall, whole);
}

scene *scene_slide(double angle) {
  if (!isfinite(angle)) return NULL;
  scene *slide = scene_create();
  if (slide == NULL) return NULL;
  scene_add_floor(slide);
  dBodyID box = scene_add_box(slide, 0, 0, 0.1, 0.5, 0.5, 0.2, DENSITY);
  if (box != NULL) dBodySetLinearVel(box, 3 * cos(angle), 3 * sin(angle), 0);
  return finish(slide, box != NULL);
}

scene *scene_tilted_rod(double speed) {
  const double radius = 0.05, length = 1.9, tilt = 0.5, depth = 1e-4;
  if (!isfinite(speed)) return NULL;
  scene *scene = scene_create();
  if (scene == NULL) return NULL;
  scene_add_floor(scene);
  scene->max_contacts = 1;

  double height = radius - depth + 0.5 * length * cos(tilt);
  dBodyID rod = scene_add_capsule(scene, 0, 0, height, radius, length, DENSITY);
  if (rod == NULL) return finish(scene, false);
  dMass mass;
  dMassSetCapsuleTotal(&mass, 1, 3, radius, length);
  dBodySetMass(rod, &mass);
  dMatrix3 rotation;
  dRFromAxisAndAngle(rotation, 0, 1, 0, tilt);
  dBodySetRotation(rod, rotation);
  dBodySetLinearVel(rod, speed, 0, 0);
  return scene;
}

scene *scene_stack(int boxes, double ratio) {
  if (boxes < 1 || boxes > MAX_BODIES || !(ratio > 0) || !isfinite(ratio))
    return NULL;
  scene *stack = scene_create();
  if (stack == NULL) return NULL;
  scene_add_floor(stack);
  bool whole = true;
  for (int i = 0; i < boxes; i++) {
    double density = i == boxes - 1 ? ratio * DENSITY : DENSITY;
    whole &= scene_add_box(stack, 0, 0, i + 0.5, 1, 1, 1, density) != NULL;
  }
  return finish(stack, whole);
}

/* Nine bodies a layer; each layer a little aside of the one below, so that
 * nothing lands flat on its like. */
static bool add_pit_body(scene *pit, int i) {
  int layer = i / 9, place = i % 9;
  double x = 1.1 * (place % 3 - 1) + 0.13 * sin(1 + 3.7 * i);
  double y = 1.1 * (place / 3 - 1) + 0.13 * sin(2 + 2.3 * i);
  double z = 1 + 1.1 * layer;
  dBodyID body;
  switch (i % 3) {
    case 0: body = scene_add_sphere(pit, x, y, z, 0.35, DENSITY); break;
    case 1: body = scene_add_box(pit, x, y, z, 0.7, 0.5, 0.4, DENSITY); break;
    default: body = scene_add_capsule(pit, x, y, z, 0.2, 0.4, DENSITY);
  }
  if (body == NULL) return false;
  dMatrix3 rotation;
  dRFromAxisAndAngle(rotation, sin(i), cos(i), 0.3, 0.4 * i);
  dBodySetRotation(body, rotation);
  return true;
}

scene *scene_pit(int bodies) {
  if (bodies < 1 || bodies > MAX_BODIES) return NULL;
  scene *pit = scene_create();
  if (pit == NULL) return NULL;
  scene_add_floor(pit);
  /* their feet 2.5 m from the middle */
  const double s = sqrt(0.5);
  dCreatePlane(pit->space, s, 0, s, -2.5 * s);
  dCreatePlane(pit->space, -s, 0, s, -2.5 * s);
  dCreatePlane(pit->space, 0, s, s, -2.5 * s);
  dCreatePlane(pit->space, 0, -s, s, -2.5 * s);
  bool whole = true;
  for (int i = 0; i < bodies && whole; i++) whole = add_pit_body(pit, i);
  return finish(pit, whole);
}

scene *scene_chain(int links, double ratio) {
  const double length = 0.5, radius = 0.1;
  if (links < 1 || links > MAX_BODIES || !(ratio > 0) || !isfinite(ratio))
    return NULL;
  scene *chain = scene_create();
  if (chain == NULL) return NULL;
  dMatrix3 along_x;
  dRFromAxisAndAngle(along_x, 0, 1, 0, 0.5 * M_PI);

  dBodyID previous = NULL;
  for (int i = 0; i < links; i++) {
    double density = i == links - 1 ? ratio * DENSITY : DENSITY;
    dBodyID link = scene_add_capsule(chain, (i + 0.5) * length, 0, 0, radius,
                                     length - 2 * radius, density);
    if (link == NULL) return finish(chain, false);
    dBodySetRotation(link, along_x);
    dJointID ball = dJointCreateBall(chain->world, 0);
    dJointAttach(ball, link, previous);
    dJointSetBallAnchor(ball, i * length, 0, 0);
    previous = link;
  }
  return chain;
}
