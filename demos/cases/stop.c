/* A door swings against its stop, with a bounce of 0.5, and against one without. */
#include "case.h"

static double rebound(double bounce, double speed, double h) {
  dBodyID door = add_box(0.8, 0.05, 2, 20, 0.4, 0, 1);
  dJointID hinge = dJointCreateHinge(world, 0);
  dJointAttach(hinge, door, 0);
  dJointSetHingeAnchor(hinge, 0, 0, 1);
  dJointSetHingeAxis(hinge, 0, 0, 1);
  dJointSetHingeParam(hinge, dParamLoStop, -0.5);
  dJointSetHingeParam(hinge, dParamHiStop, 0.5);
  dJointSetHingeParam(hinge, dParamBounce, bounce);
  dBodySetAngularVel(door, 0, 0, speed);
  dBodySetLinearVel(door, 0, 0.4 * speed, 0);
  double fastest = 0;
  for (int k = 0; k < 200; k++) {
    case_step(h);
    double rate = dBodyGetAngularVel(door)[2];
    /* the joint's rate is minus the body's, or not, by its axis: away counts */
    if (k > 0 && rate * speed < 0) fastest = fmax(fastest, fabs(rate));
  }
  dGeomDestroy(dBodyGetFirstGeom(door));
  dBodyDestroy(door);
  return fastest;
}

int main(int n, char *argument[]) {
  case_begin(n, argument);
  tell("speed back, bounce 0.5", rebound(0.5, 2, 0.002), 1, "rad/s");
  tell("speed back, bounce 0", rebound(0, 2, 0.002), 0, "rad/s");
  return case_end();
}
