/* Small worlds for the tests of the second-order schemes. */
#ifndef ODE_MLCP_TESTS_SCHEME_SCENE_H
#define ODE_MLCP_TESTS_SCHEME_SCENE_H

#include <math.h>
#include <string.h>

#include "collision_scene.h"

/* options: "scheme=trapezoid events=off .." */
static inline ode_mlcp_options options_of(const char *text) {
  ode_mlcp_options options;
  char copy[200], message[200];
  ode_mlcp_default_options(&options);
  snprintf(copy, sizeof copy, "%s", text);
  for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
    char *value = strchr(word, '=');
    *value++ = '\0';
    CU_ASSERT_EQUAL_FATAL(
        ode_mlcp_set_option(&options, word, value, message, sizeof message),
        ODE_MLCP_OK);
  }
  return options;
}

static inline void open_scene(scene *s, const char *settings, double gravity) {
  ode_mlcp_options options = options_of(settings);
  scene_open(s, dSimpleSpaceCreate(0), &options);
  dWorldSetGravity(s->world, 0, -gravity, 0);
}

/* A ball of radius 0.1 and mass 1. */
static inline dBodyID add_ball(scene *s, double x, double y) {
  dBodyID body = dBodyCreate(s->world);
  dMass mass;
  dMassSetSphereTotal(&mass, 1, 0.1);
  dBodySetMass(body, &mass);
  dBodySetPosition(body, x, y, 0);
  dGeomSetBody(dCreateSphere(s->space, 0.1), body);
  return body;
}

/* A square slab that lies on y = 0. */
static inline dBodyID add_slab(scene *s, double mass, double side,
                               double height, double x) {
  dBodyID body = dBodyCreate(s->world);
  dMass slab;
  dMassSetBoxTotal(&slab, mass, side, height, side);
  dBodySetMass(body, &slab);
  dBodySetPosition(body, x, height / 2, 0);
  dGeomSetBody(dCreateBox(s->space, side, height, side), body);
  return body;
}

/* A massless rod from a body's centre to another's, or to the origin. */
static inline void add_rod(scene *s, dBodyID body, dBodyID other) {
  dJointID rod = dJointCreateDBall(s->world, 0);
  const dReal *a = dBodyGetPosition(body);
  dJointAttach(rod, body, other);
  dJointSetDBallAnchor1(rod, a[0], a[1], a[2]);
  if (other == NULL) {
    dJointSetDBallAnchor2(rod, 0, 0, 0);
  } else {
    const dReal *b = dBodyGetPosition(other);
    dJointSetDBallAnchor2(rod, b[0], b[1], b[2]);
  }
}

static inline double vec_length(const dReal a[3]) {
  return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

static inline void step(scene *s, double h, ode_mlcp_report *report) {
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s->world, h, report), ODE_MLCP_OK);
  CU_ASSERT(report->residual <= 1e-7); // solved, or accepted
}

#endif
