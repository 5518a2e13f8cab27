/* A ball is dropped from 1 m and gives back 0.8 of its speed. */
#include "case.h"

int main(int n, char *argument[]) {
  const double h = 0.005, e = 0.8, start = 1;
  case_begin(n, argument);
  surface.mode |= dContactBounce;
  surface.bounce = e;
  surface.bounce_vel = 0.05;
  dCreatePlane(space, 0, 0, 1, 0);
  dBodyID ball = add_ball(0.1, 1, 0, 0, 0.1 + start);
  double top[3] = {0, 0, 0}, before = -1;
  int bounces = 0;
  for (int k = 0; k < 1000 && bounces <= 3; k++) {
    case_step(h);
    double v = dBodyGetLinearVel(ball)[2];
    if (before < 0 && v > 0) bounces++;
    if (bounces >= 1 && bounces <= 3)
      top[bounces - 1] =
          fmax(top[bounces - 1], dBodyGetPosition(ball)[2] - 0.1);
    before = v;
  }
  tell("height of the first bounce", top[0], e * e * start, "m");
  tell("height of the third", top[2], pow(e, 6) * start, "m");
  return case_end();
}
