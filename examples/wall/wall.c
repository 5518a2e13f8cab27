/* A wall of boxes on ode-mlcp: one call in the source.
 *
 * It prints how far the worst box moved in two seconds, and what the steps say of
 * themselves. The stock dWorldStep prints `LCP internal error` on this wall.
 */
#include <math.h>
#include <stdio.h>

#include <ode_mlcp.h>

enum { ROWS = 8, BOXES = ROWS * (ROWS + 1) / 2, POINTS = 8 };

static dWorldID world;
static dJointGroupID contacts;

static void collide(void *unused, dGeomID one, dGeomID other) {
  (void)unused;
  dContact contact[POINTS];
  int n = dCollide(one, other, POINTS, &contact[0].geom, sizeof contact[0]);
  for (int i = 0; i < n; i++) {
    contact[i].surface.mode = dContactApprox1;
    contact[i].surface.mu = 0.5;
    dJointAttach(dJointCreateContact(world, contacts, &contact[i]),
                 dGeomGetBody(one), dGeomGetBody(other));
  }
}

static int build_wall(dSpaceID space, dBodyID box[]) {
  int n = 0;
  dMass mass;
  dMassSetBox(&mass, 1000, 1, 1, 1);
  for (int row = 0; row < ROWS; row++)
    for (int i = 0; i < ROWS - row; i++) {
      box[n] = dBodyCreate(world);
      dBodySetMass(box[n], &mass);
      dBodySetPosition(box[n], 1.05 * (i + 0.5 * row), 0, 0.5 + row);
      dGeomSetBody(dCreateBox(space, 1, 1, 1), box[n]);
      n++;
    }
  return n;
}

int main(void) {
  dInitODE2(0);
  world = dWorldCreate();
  dWorldSetGravity(world, 0, 0, -9.81);
  dSpaceID space = dSimpleSpaceCreate(0);
  contacts = dJointGroupCreate(0);
  dCreatePlane(space, 0, 0, 1, 0);

  /* the one call: world steps on ode-mlcp from here on */
  ode_mlcp_options options;
  ode_mlcp_default_options(&options);
  if (ode_mlcp_attach(world, &options) != ODE_MLCP_OK) return 1;

  dBodyID box[BOXES];
  int n = build_wall(space, box);
  dReal start[BOXES][3];
  for (int b = 0; b < n; b++)
    for (int i = 0; i < 3; i++) start[b][i] = dBodyGetPosition(box[b])[i];

  double residual = 0;
  int degraded = 0;
  for (int k = 0; k < 200; k++) {
    ode_mlcp_report report;
    dSpaceCollide(space, NULL, collide);
    if (ode_mlcp_step(world, 0.01, &report) != ODE_MLCP_OK) return 1;
    dJointGroupEmpty(contacts);
    residual = fmax(residual, report.residual);
    degraded += report.degraded;
  }

  double moved = 0;
  for (int b = 0; b < n; b++) {
    const dReal *x = dBodyGetPosition(box[b]);
    moved = fmax(moved, hypot(hypot(x[0] - start[b][0], x[1] - start[b][1]),
                              x[2] - start[b][2]));
  }
  printf("moved %.2g m, worst residual %.2g, %d degraded\n", moved, residual,
         degraded);

  dSpaceDestroy(space);
  dWorldDestroy(world);
  dCloseODE();
  return moved < 1e-3 && degraded == 0 ? 0 : 1;
}
