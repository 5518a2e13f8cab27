/* A stool on three round feet spins on the spot until friction has stopped it. */
#include "case.h"

int main(int n, char *argument[]) {
  const double h = 0.002, arm = 0.5, kg = 6, inertia = 1.2, start = 6;
  case_begin(n, argument);
  surface.mu = 0.3;
  dCreatePlane(space, 0, 0, 1, 0);
  dMass mass;
  dMassSetParameters(&mass, kg, 0, 0, 0, 0.8, 0.8, inertia, 0, 0, 0);
  dBodyID stool = add_ball(0.05, kg, arm, 0, 0.05);
  dBodySetMass(stool, &mass);
  dBodySetPosition(stool, 0, 0, 0.05);
  dGeomSetOffsetPosition(dBodyGetFirstGeom(stool), arm, 0, 0);
  for (int i = 1; i < 3; i++) {
    dGeomID foot = dCreateSphere(space, 0.05);
    dGeomSetBody(foot, stool);
    dGeomSetOffsetPosition(foot, arm * cos(2 * M_PI * i / 3),
                           arm * sin(2 * M_PI * i / 3), 0);
  }
  dBodySetAngularVel(stool, 0, 0, start);
  double turned = 0;
  for (double t = 0; t < 3; t += h) {
    case_step(h);
    turned += h * dBodyGetAngularVel(stool)[2];
  }
  double slowing = surface.mu * kg * G * arm / inertia; /* rad/s^2 */
  tell("turned until it stood", turned,
       start * start / (2 * slowing) - 0.5 * h * start, "rad");
  const dReal *x = dBodyGetPosition(stool);
  tell("wandered", 1000 * hypot(x[0], x[1]), 0, "mm");
  return case_end();
}
