#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

scene *scene_create(void) {
  scene *made = calloc(1, sizeof *made);
  if (made == NULL) return NULL;
  made->world = dWorldCreate();
  made->space = dHashSpaceCreate(0);
  made->contacts = dJointGroupCreate(0);
  dWorldSetGravity(made->world, 0, 0, -9.81);
  made->surface.mode = dContactApprox1;
  made->surface.mu = 0.5;
  made->max_contacts = SCENE_MAX_CONTACTS;
  return made;
}

void scene_destroy(scene *scene) {
  if (scene == NULL) return;
  dJointGroupDestroy(scene->contacts);
  dSpaceDestroy(scene->space);
  dWorldDestroy(scene->world);
  free(scene->bodies);
  free(scene);
}

/* --- bodies --------------------------------------------------------------- */

void scene_add_floor(scene *scene) { dCreatePlane(scene->space, 0, 0, 1, 0); }

dBodyID scene_add_body(scene *scene, double x, double y, double z) {
  if (scene->n_bodies == scene->bodies_room) {
    int room = scene->bodies_room > 0 ? 2 * scene->bodies_room : 64;
    dBodyID *bodies =
        realloc(scene->bodies, (size_t)room * sizeof scene->bodies[0]);
    if (bodies == NULL) return NULL;
    scene->bodies = bodies;
    scene->bodies_room = room;
  }
  dBodyID body = dBodyCreate(scene->world);
  if (body == NULL) return NULL;
  dBodySetPosition(body, x, y, z);
  scene->bodies[scene->n_bodies++] = body;
  return body;
}

dBodyID scene_add_box(scene *scene, double x, double y, double z,
                      double length_x, double length_y, double length_z,
                      double density) {
  dBodyID body = scene_add_body(scene, x, y, z);
  if (body == NULL) return NULL;
  dMass mass;
  dMassSetBox(&mass, density, length_x, length_y, length_z);
  dBodySetMass(body, &mass);
  dGeomSetBody(dCreateBox(scene->space, length_x, length_y, length_z), body);
  return body;
}

dBodyID scene_add_sphere(scene *scene, double x, double y, double z,
                         double radius, double density) {
  dBodyID body = scene_add_body(scene, x, y, z);
  if (body == NULL) return NULL;
  dMass mass;
  dMassSetSphere(&mass, density, radius);
  dBodySetMass(body, &mass);
  dGeomSetBody(dCreateSphere(scene->space, radius), body);
  return body;
}

dBodyID scene_add_capsule(scene *scene, double x, double y, double z,
                          double radius, double length, double density) {
  dBodyID body = scene_add_body(scene, x, y, z);
  if (body == NULL) return NULL;
  dMass mass;
  dMassSetCapsule(&mass, density, 3, radius, length);
  dBodySetMass(body, &mass);
  dGeomSetBody(dCreateCapsule(scene->space, radius, length), body);
  return body;
}

/* --- contacts and steps --------------------------------------------------- */

static void make_contacts(void *data, dGeomID geom1, dGeomID geom2) {
  scene *scene = data;
  dBodyID body1 = dGeomGetBody(geom1), body2 = dGeomGetBody(geom2);
  if (body1 == NULL && body2 == NULL) return;
  /* neighbours in a chain overlap on purpose */
  if (body1 != NULL && body2 != NULL &&
      dAreConnectedExcluding(body1, body2, dJointTypeContact))
    return;

  dContact contacts[SCENE_MAX_CONTACTS];
  int n = dCollide(geom1, geom2, scene->max_contacts, &contacts[0].geom,
                   sizeof contacts[0]);
  for (int i = 0; i < n; i++) {
    contacts[i].surface = scene->surface;
    memset(contacts[i].fdir1, 0, sizeof contacts[i].fdir1);
    dJointID joint =
        dJointCreateContact(scene->world, scene->contacts, &contacts[i]);
    dJointAttach(joint, body1, body2);
    scene->deepest = fmax(scene->deepest, contacts[i].geom.depth);
    scene->last_contact = joint;
    scene->n_contacts++;
  }
}

int scene_collide(scene *scene) {
  dJointGroupEmpty(scene->contacts);
  scene->n_contacts = 0;
  scene->deepest = 0;
  scene->last_contact = NULL;
  dSpaceCollide(scene->space, scene, make_contacts);
  return scene->n_contacts;
}

int scene_step(scene *scene, scene_stepper *step, double step_size) {
  scene_collide(scene);
  return step(scene->world, step_size);
}

double scene_fastest(const scene *scene) {
  double fastest = 0;
  for (int i = 0; i < scene->n_bodies; i++) {
    const dReal *v = dBodyGetLinearVel(scene->bodies[i]);
    double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (!isfinite(speed)) return NAN;
    fastest = fmax(fastest, speed);
  }
  return fastest;
}
