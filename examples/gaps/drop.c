/* Signed gaps: contacts are told before they touch, by a collision function.
 *
 * A ball falls onto a plane, once with contact joints that the program makes of
 * dCollide, once with a collision function under Stewart and Trinkle's scheme.
 * It writes the height of the ball's lowest point over time, as CSV.
 */
#include <math.h>
#include <stdio.h>

#include <ode_mlcp.h>

static const dReal RADIUS = 0.1, STEP = 0.01;

typedef struct drop {
  dWorldID world;
  dSpaceID space;
  dBodyID ball;
  dJointGroupID contacts;
} drop;

/* the surface of every pair of geoms */
static int surface(void *unused, dGeomID one, dGeomID other,
                   ode_mlcp_surface *out) {
  (void)unused, (void)one, (void)other;
  out->parameters.mode = dContactApprox1;
  out->parameters.mu = 0.5;
  return 1;
}

/* called by a step, at the poses that its scheme asks for */
static int collide(void *context, dWorldID world, ode_mlcp_contact_list *list) {
  (void)world;
  drop *d = context;
  return ode_mlcp_collide_space(list, d->space, surface, NULL) == ODE_MLCP_OK;
}

static void make_joints(void *context, dGeomID one, dGeomID other) {
  drop *d = context;
  dContact contact = {.surface = {.mode = dContactApprox1, .mu = 0.5}};
  if (dCollide(one, other, 1, &contact.geom, sizeof contact) == 0) return;
  dJointAttach(dJointCreateContact(d->world, d->contacts, &contact),
               dGeomGetBody(one), dGeomGetBody(other));
}

static void start(drop *d, ode_mlcp_scheme scheme) {
  d->world = dWorldCreate();
  dWorldSetGravity(d->world, 0, 0, -9.81);
  d->space = dSimpleSpaceCreate(0);
  d->contacts = dJointGroupCreate(0);
  dCreatePlane(d->space, 0, 0, 1, 0);
  d->ball = dBodyCreate(d->world);
  dMass mass;
  dMassSetSphereTotal(&mass, 1, RADIUS);
  dBodySetMass(d->ball, &mass);
  dBodySetPosition(d->ball, 0, 0, 0.5);
  dGeomSetBody(dCreateSphere(d->space, RADIUS), d->ball);

  ode_mlcp_options options;
  ode_mlcp_default_options(&options);
  options.scheme = scheme;
  ode_mlcp_attach(d->world, &options);
}

static void end(drop *d) {
  dJointGroupDestroy(d->contacts);
  dSpaceDestroy(d->space);
  dWorldDestroy(d->world);
}

static double height(const drop *d) {
  return dBodyGetPosition(d->ball)[2] - RADIUS;
}

int main(void) {
  dInitODE2(0);
  drop joints, gaps;
  start(&joints, ODE_MLCP_SCHEME_AH);
  start(&gaps, ODE_MLCP_SCHEME_ST);
  ode_mlcp_set_collision(gaps.world, collide, &gaps);

  double deepest[2] = {0, 0};
  printf("time_s,joints_m,gaps_m\n");
  for (int k = 1; k <= 60; k++) {
    dSpaceCollide(joints.space, &joints, make_joints);
    dWorldStep(joints.world, STEP);
    dJointGroupEmpty(joints.contacts);
    dWorldStep(gaps.world, STEP); /* asks the collision function itself */

    deepest[0] = fmax(deepest[0], -height(&joints));
    deepest[1] = fmax(deepest[1], -height(&gaps));
    printf("%g,%.9g,%.9g\n", k * STEP, height(&joints), height(&gaps));
  }
  fprintf(stderr, "deepest: joints %.2g m, gaps %.2g m\n", deepest[0],
          deepest[1]);

  end(&joints);
  end(&gaps);
  dCloseODE();
  return deepest[1] < 1e-9 && deepest[0] > 1e-3 ? 0 : 1;
}
