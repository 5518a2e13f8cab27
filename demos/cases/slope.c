/* A box slides down a slope, in a direction that is none of the contact's own axes. */
#include "case.h"

int main(int n, char *argument[]) {
  const double slope = M_PI / 6, heading = M_PI / 4, h = 0.005, seconds = 2;
  case_begin(n, argument);
  surface.mu = 0.4;
  /* the ground is level and gravity leans, along 45 degrees */
  dWorldSetGravity(world, G * sin(slope) * cos(heading),
                   G * sin(slope) * sin(heading), -G * cos(slope));
  dCreatePlane(space, 0, 0, 1, 0);
  dBodyID box = add_box(0.4, 0.4, 0.1, 2, 0, 0, 0.05);
  for (double t = 0; t < seconds - 0.5 * h; t += h) case_step(h);
  const dReal *x = dBodyGetPosition(box);
  double a = G * (sin(slope) - surface.mu * cos(slope));
  tell("way down the slope", hypot(x[0], x[1]),
       0.5 * a * seconds * (seconds + h), "m");
  tell("off its line", atan2(x[1], x[0]) * 180 / M_PI - 45, 0, "degrees");
  return case_end();
}
