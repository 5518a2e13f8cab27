/* A program that knows only the installed headers and .pc file: a box falls onto
 * a plane, first on ode-mlcp, then on the stock stepper again; then an outcome
 * of its striking the plane is drawn.
 */
#include <math.h>
#include <stdio.h>

#include <ode_mlcp.h>

static const dReal step_size = 0.01;

static dWorldID world;
static dBodyID body;
static dGeomID ground, box;
static dJointGroupID contacts;

static int failures = 0;

static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "installed_consumer: %s\n", what);
    failures++;
  }
}

static void build_world(void) {
  world = dWorldCreate();
  dWorldSetGravity(world, 0, 0, -9.81);
  contacts = dJointGroupCreate(0);
  ground = dCreatePlane(0, 0, 0, 1, 0);
  box = dCreateBox(0, 1, 1, 1);
  body = dBodyCreate(world);
  dMass mass;
  dMassSetBox(&mass, 1, 1, 1, 1);
  dBodySetMass(body, &mass);
  dBodySetPosition(body, 0, 0, 0.6);
  dGeomSetBody(box, body);
}

static void make_contacts(void) {
  dContactGeom points[8];
  const int n = dCollide(box, ground, 8, points, sizeof(points[0]));

  for (int i = 0; i < n; i++) {
    dContact contact = {.geom = points[i]};
    contact.surface.mode = dContactApprox1;
    contact.surface.mu = 0.5;
    dJointID joint = dJointCreateContact(world, contacts, &contact);
    dJointAttach(joint, body, 0);
  }
}

static void fall_on_ode_mlcp(void) {
  ode_mlcp_options options;
  ode_mlcp_default_options(&options);
  require(ode_mlcp_attach(world, &options) == ODE_MLCP_OK, "attach failed");

  ode_mlcp_report report = {0};
  double worst = 0;
  for (int i = 0; i < 200; i++) {
    make_contacts();
    require(ode_mlcp_step(world, step_size, &report) == ODE_MLCP_OK,
            "a step failed");
    if (report.residual > worst) worst = report.residual;
    dJointGroupEmpty(contacts);
  }
  require(report.step == 200, "the report counts other steps than were taken");
  require(report.contacts > 0, "the box never touched the ground");
  require(worst < 1e-8, "a residual is above 1e-8");

  const dReal *velocity = dBodyGetLinearVel(body);
  require(fabs(velocity[2]) < 1e-6, "the box does not rest");
  require(fabs(dBodyGetPosition(body)[2] - 0.5) < 0.01,
          "the box rests at a wrong height");
}

static void step_on_the_host_again(void) {
  ode_mlcp_report before, after;
  ode_mlcp_error error = ode_mlcp_last_report(world, &before);
  require(error == ODE_MLCP_OK, "no report of an attached world");
  require(ode_mlcp_detach(world) == ODE_MLCP_OK, "detach failed");
  require(ode_mlcp_detach(world) == ODE_MLCP_NOT_ATTACHED,
          "a second detach finds something to detach");

  make_contacts();
  require(dWorldStep(world, step_size) == 1, "the host's own step failed");
  dJointGroupEmpty(contacts);
  error = ode_mlcp_step(world, step_size, &after);
  require(error == ODE_MLCP_NOT_ATTACHED, "a detached world still steps");
}

/* The box strikes the plane flat, with four corners at once. */
static void draw_an_outcome(void) {
  dMatrix3 upright;
  dRSetIdentity(upright);
  dBodySetRotation(body, upright);
  dBodySetPosition(body, 0, 0, 0.499);
  dBodySetLinearVel(body, 0, 0, -1);
  dBodySetAngularVel(body, 0, 0, 0);
  make_contacts();
  ode_mlcp_world_impact *collision;
  ode_mlcp_error error =
      ode_mlcp_impact_problem_of_world(world, NULL, 0, &collision, NULL, 0);
  require(error == ODE_MLCP_OK && collision != NULL, "nothing collides");
  if (collision == NULL) return;

  ode_mlcp_impact *impact;
  ode_mlcp_impact_options options;
  ode_mlcp_impact_default_options(&options);
  double v[6] = {0};
  require(ode_mlcp_impact_create(&collision->problem, &impact, NULL, 0) ==
              ODE_MLCP_IMPACT_DONE,
          "the collision is no problem");
  require(
      ode_mlcp_impact_sim(impact, &options, 0, v, NULL) == ODE_MLCP_IMPACT_DONE,
      "an impact did not end");
  require(ode_mlcp_world_impact_apply(collision, v) == ODE_MLCP_OK,
          "an outcome is refused");
  require(collision->problem.n_contacts == 4, "not four corners strike");
  require(dBodyGetLinearVel(body)[2] > -1e-8, "the box still falls");
  ode_mlcp_impact_destroy(impact);
  ode_mlcp_world_impact_destroy(collision);
  dJointGroupEmpty(contacts);
}

int main(void) {
  dInitODE();
  build_world();
  fall_on_ode_mlcp();
  step_on_the_host_again();
  draw_an_outcome();

  dJointGroupDestroy(contacts);
  dGeomDestroy(box);
  dGeomDestroy(ground);
  dWorldDestroy(world);
  dCloseODE();
  if (failures == 0)
    printf("installed_consumer: ode-mlcp %s works\n", ode_mlcp_version());
  return failures == 0 ? 0 : 1;
}
