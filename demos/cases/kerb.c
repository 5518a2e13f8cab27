/* A car with driven wheels runs at a kerb and climbs it. */
#include "case.h"

int main(int n, char *argument[]) {
  const double h = 0.005, kerb = 0.08, r = 0.25;
  case_begin(n, argument);
  surface.mu = 0.9;
  dCreatePlane(space, 0, 0, 1, 0);
  dGeomSetPosition(dCreateBox(space, 10, 4, kerb), 6.5, 0, 0.5 * kerb);
  dBodyID car = add_box(1.6, 0.6, 0.2, 200, 0, 0, 0.4);
  for (int i = 0; i < 4; i++) {
    double x = i < 2 ? 0.6 : -0.6, y = i % 2 ? 0.4 : -0.4;
    dBodyID wheel = add_ball(r, 10, x, y, r);
    dJointID axle = dJointCreateHinge(world, 0);
    dJointAttach(axle, car, wheel);
    dJointSetHingeAnchor(axle, x, y, r);
    dJointSetHingeAxis(axle, 0, 1, 0);
    dJointSetHingeParam(axle, dParamVel, -2 / r);
    dJointSetHingeParam(axle, dParamFMax, 150);
  }
  for (int k = 0; k < 800; k++) case_step(h);
  const dReal *x = dBodyGetPosition(car), *v = dBodyGetLinearVel(car);
  tell("height at the end", x[2], 0.4 + kerb, "m");
  tell("speed at the end", v[0], 2, "m/s");
  tell("off its line", 1000 * fabs(x[1]), 0, "mm");
  return case_end();
}
