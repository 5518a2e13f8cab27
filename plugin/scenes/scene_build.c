/* Bodies, geoms and joints of a scene. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "scenes/scene_build.h"

bool scene_fail(scene_run_state *run, const char *format, ...) {
  if (!run->failed) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run->message, run->message_size, format, arguments);
    va_end(arguments);
  }
  run->failed = true;
  return false;
}

bool scene_is_second_order(const scene_settings *settings) {
  switch (settings->options.scheme) {
    case ODE_MLCP_SCHEME_GAP:
    case ODE_MLCP_SCHEME_TRAPEZOID_1:
    case ODE_MLCP_SCHEME_TRAPEZOID:
    case ODE_MLCP_SCHEME_CONSERVING: return true;
    default: return false;
  }
}

/* --- bodies --------------------------------------------------------------- */

static dBodyID add_body(scene_run_state *run, double mass,
                        const double inertia[3]) {
  if (run->n_bodies == SCENE_BODIES) {
    scene_fail(run, "too many bodies");
    return NULL;
  }
  dBodyID body = dBodyCreate(run->world);
  if (body == NULL) {
    scene_fail(run, "memory ran out");
    return NULL;
  }
  dMass m;
  dMassSetParameters(&m, mass, 0, 0, 0, inertia[0], inertia[1], inertia[2], 0,
                     0, 0);
  dBodySetMass(body, &m);
  // turned by h times the angular velocity, and not by its tangent
  dBodySetFiniteRotationMode(body, 1);
  run->bodies[run->n_bodies++] = body;
  return body;
}

dBodyID scene_add_planar(scene_run_state *run, double x, double y, double angle,
                         double mass, double inertia) {
  const double equal[3] = {inertia, inertia, inertia};
  dBodyID body = add_body(run, mass, equal);
  if (body == NULL) return NULL;
  dMatrix3 rotation;
  dRFromAxisAndAngle(rotation, 0, 0, 1, angle);
  dBodySetPosition(body, x, y, 0);
  dBodySetRotation(body, rotation);
  run->turned[run->n_bodies - 1][2] = angle;
  dJointID plane = dJointCreatePlane2D(run->world, run->joints);
  dJointAttach(plane, body, NULL);
  return body;
}

dBodyID scene_add_spatial(scene_run_state *run, double x, double y, double z,
                          double mass, const double inertia[3]) {
  dBodyID body = add_body(run, mass, inertia);
  if (body != NULL) dBodySetPosition(body, x, y, z);
  return body;
}

dJointID scene_add_rod(scene_run_state *run, dBodyID body, dBodyID other,
                       const double point[3]) {
  const dReal *centre = dBodyGetPosition(body);
  double end[3];
  if (other != NULL)
    real_read(end, dBodyGetPosition(other), 3);
  else
    vec3_copy(end, point);
  dJointID rod = dJointCreateDBall(run->world, run->joints);
  if (rod == NULL) {
    scene_fail(run, "memory ran out");
    return NULL;
  }
  dJointAttach(rod, body, other);
  dJointSetDBallAnchor1(rod, centre[0], centre[1], centre[2]);
  dJointSetDBallAnchor2(rod, end[0], end[1], end[2]);
  return rod;
}

void scene_set_bounce(scene_run_state *run, double restitution) {
  run->surface.parameters.mode |= dContactBounce;
  run->surface.parameters.bounce = restitution;
  run->surface.parameters.bounce_vel = 0;
}

bool scene_add_geom(scene_run_state *run, dGeomID geom, dBodyID body,
                    const double offset[3], const double turn[4]) {
  if (geom == NULL) return scene_fail(run, "a geom could not be made");
  dGeomSetData(geom, (void *)(size_t)run->n_geoms++);
  if (body == NULL) return true;

  dQuaternion quaternion = {1, 0, 0, 0};
  if (turn != NULL) real_write(quaternion, turn, 4);
  dGeomSetBody(geom, body);
  if (offset != NULL)
    dGeomSetOffsetPosition(geom, offset[0], offset[1], offset[2]);
  if (turn != NULL) dGeomSetOffsetQuaternion(geom, quaternion);
  return true;
}

/* --- contacts ------------------------------------------------------------- */

static int number_of(dGeomID geom) { return (int)(size_t)dGeomGetData(geom); }

int scene_place_of(scene_run_state *run, const ode_mlcp_contact *contact) {
  scene_place sought;
  memset(&sought, 0, sizeof sought);
  // the order of a pair may change; a point that wanders is one place
  dGeomID geoms[2] = {contact->geom.g1, contact->geom.g2};
  int first = number_of(geoms[0]) > number_of(geoms[1]);
  for (int k = 0; k < 2; k++) {
    gap_feature feature = contact->feature[k ^ first];
    bool wanders = gap_feature_type(feature) == GAP_SURFACE;
    sought.geom[k] = number_of(geoms[k ^ first]);
    sought.feature[k] = wanders ? gap_feature_make(GAP_SURFACE, 0) : feature;
  }
  for (int i = 0; i < run->n_places; i++) {
    const scene_place *place = &run->places[i];
    if (memcmp(place->geom, sought.geom, sizeof sought.geom) == 0 &&
        memcmp(place->feature, sought.feature, sizeof sought.feature) == 0)
      return i;
  }
  if (run->n_places == SCENE_PLACES) return -1;
  sought.sticks = true;
  run->places[run->n_places] = sought;
  return run->n_places++;
}

static int give_surface(void *context, dGeomID geom1, dGeomID geom2,
                        ode_mlcp_surface *surface) {
  const scene_run_state *run = context;
  *surface = run->surface;
  if (run->stopper != NULL && geom1 != run->stopper && geom2 != run->stopper)
    surface->parameters.mode &= ~dContactBounce;
  return 1;
}

int scene_collide(void *context, dWorldID world, ode_mlcp_contact_list *list) {
  scene_run_state *run = context;
  (void)world;
  return ode_mlcp_collide_space(list, run->space, give_surface, run) ==
         ODE_MLCP_OK;
}

static void measure_overlap(void *context, dGeomID a, dGeomID b) {
  scene_run_state *run = context;
  dBodyID body_a = dGeomGetBody(a), body_b = dGeomGetBody(b);
  if (body_a == body_b ||
      (body_a != NULL && body_b != NULL &&
       dAreConnectedExcluding(body_a, body_b, dJointTypeContact)))
    return;
  gap_contact found[GAP_PAIR_ROOM];
  int n = gap_query(run->gaps, a, b, 0, 0, found, GAP_PAIR_ROOM);
  if (n < 0)
    scene_fail(run, "at %g s: %s", run->time, gap_context_error(run->gaps));
  if (n > 0) run->overlap = fmax(run->overlap, -found[0].gap);
}

double scene_overlap(scene_run_state *run) {
  run->overlap = 0;
  dSpaceCollide(run->space, run, measure_overlap);
  return run->overlap;
}

double scene_joints_apart(scene_run_state *run) {
  double worst = 0;
  for (int b = 0; b < run->n_bodies; b++)
    for (int i = 0; i < dBodyGetNumJoints(run->bodies[b]); i++) {
      dJointID joint = dBodyGetJoint(run->bodies[b], i);
      dVector3 p, q;
      double d[3];
      switch (dJointGetType(joint)) {
        case dJointTypeBall:
          dJointGetBallAnchor(joint, p);
          dJointGetBallAnchor2(joint, q);
          break;
        case dJointTypeHinge:
          dJointGetHingeAnchor(joint, p);
          dJointGetHingeAnchor2(joint, q);
          break;
        default: continue;
      }
      vec3_subtract(d, real3(p).at, real3(q).at);
      worst = fmax(worst, vec3_length(d));
    }
  return worst;
}
