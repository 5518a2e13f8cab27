/* A box is laid on a conveyor belt that runs at 1 m/s: motion1 along fdir1. */
#include "case.h"

int main(int n, char *argument[]) {
  const double h = 0.01, speed = 1, seconds = 3;
  case_begin(n, argument);
  surface.mode |= dContactMotion1 | dContactFDir1;
  surface.motion1 = speed;
  direction[0] = 1;
  dGeomSetPosition(dCreateBox(space, 20, 1, 0.2), 0, 0, -0.1);
  dBodyID box = add_box(0.3, 0.3, 0.3, 5, 0, 0, 0.15);
  for (double t = 0; t < seconds - 0.5 * h; t += h) case_step(h);
  double catches = speed / (surface.mu * G);
  tell("speed at the end", fabs(dBodyGetLinearVel(box)[0]), speed, "m/s");
  tell("way", fabs(dBodyGetPosition(box)[0]),
       speed * seconds - 0.5 * speed * catches, "m");
  return case_end();
}
