/* A cube whirls about a hinge a metre away; nothing drives or brakes it. */
#include "case.h"

int main(int n, char *argument[]) {
  const double h = 0.01, speed = 10;
  case_begin(n, argument);
  dWorldSetGravity(world, 0, 0, 0);
  dBodyID cube = add_box(0.1, 0.1, 0.1, 1, 1, 0, 0);
  dJointID hinge = dJointCreateHinge(world, 0);
  dJointAttach(hinge, cube, NULL);
  dJointSetHingeAnchor(hinge, 0, 0, 0);
  dJointSetHingeAxis(hinge, 0, 0, 1);
  dBodySetLinearVel(cube, 0, speed, 0);
  dBodySetAngularVel(cube, 0, 0, speed);
  for (int k = 0; k < 1000; k++) case_step(h);
  double w = dBodyGetAngularVel(cube)[2] / speed;
  tell("energy kept in 10 s", 100 * w * w, 100, "%");
  return case_end();
}
