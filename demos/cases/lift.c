/* A kinematic lift goes up at 1 m/s with a box on it, and stops. */
#include "case.h"

int main(int n, char *argument[]) {
  const double h = 0.01, speed = 1;
  case_begin(n, argument);
  dBodyID lift = add_box(2, 2, 0.2, 1, 0, 0, -0.1);
  dBodySetKinematic(lift);
  dBodyID box = add_box(0.4, 0.4, 0.4, 50, 0, 0, 0.2);
  double deepest = 0;
  for (int k = 0; k < 300; k++) {
    dBodySetLinearVel(lift, 0, 0, k < 200 ? speed : 0);
    case_step(h);
    double gap = dBodyGetPosition(box)[2] - dBodyGetPosition(lift)[2] - 0.3;
    deepest = fmax(deepest, -gap);
  }
  tell("box in the floor, worst", 1000 * deepest, 0, "mm");
  tell("height of the box at the end", dBodyGetPosition(box)[2] - 0.2,
       2 * speed, "m");
  return case_end();
}
