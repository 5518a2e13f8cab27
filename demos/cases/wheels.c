/* A car stands on a slope with its wheels locked, across the slope. */
#include "case.h"

int main(int n, char *argument[]) {
  const double h = 0.01, slope = 0.35, heading = 0.6;
  case_begin(n, argument);
  surface.mu = 0.5; /* tan(slope) is 0.365 */
  dWorldSetGravity(world, G * sin(slope) * cos(heading),
                   G * sin(slope) * sin(heading), -G * cos(slope));
  dCreatePlane(space, 0, 0, 1, 0);
  dBodyID car = add_box(2, 1, 0.3, 800, 0, 0, 0.5);
  for (int i = 0; i < 4; i++) {
    double x = i < 2 ? 0.8 : -0.8, y = i % 2 ? 0.6 : -0.6;
    dMass mass;
    dMassSetCylinderTotal(&mass, 15, 3, 0.3, 0.15);
    dBodyID wheel =
        add_body(dCreateCylinder(space, 0.3, 0.15), &mass, x, y, 0.3);
    dMatrix3 turn;
    dRFromAxisAndAngle(turn, 1, 0, 0, M_PI / 2);
    dBodySetRotation(wheel, turn);
    dJointID axle = dJointCreateHinge(world, 0);
    dJointAttach(axle, car, wheel);
    dJointSetHingeAnchor(axle, x, y, 0.3);
    dJointSetHingeAxis(axle, 0, 1, 0);
    dJointSetHingeParam(axle, dParamVel, 0); /* the brake */
    dJointSetHingeParam(axle, dParamFMax, 1e5);
  }
  for (int k = 0; k < 1000; k++) case_step(h);
  const dReal *x = dBodyGetPosition(car);
  tell("slid in 10 s", 1000 * hypot(x[0], x[1]), 0, "mm");
  return case_end();
}
