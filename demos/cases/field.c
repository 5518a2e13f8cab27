/* A box slides to a stop on a flat height field, at an angle to its grid. */
#include "case.h"

static dReal flat(void *unused, int x, int z) {
  (void)unused, (void)x, (void)z;
  return 0;
}

int main(int n, char *argument[]) {
  const double h = 0.005, start = 3, heading = 0.5;
  case_begin(n, argument);
  dWorldSetGravity(world, 0, -G, 0); /* fields stand on y */
  dHeightfieldDataID data = dGeomHeightfieldDataCreate();
  dGeomHeightfieldDataBuildCallback(data, NULL, flat, 12, 12, 25, 25, 1, 0, 0.5,
                                    0);
  dGeomHeightfieldDataSetBounds(data, -1, 1);
  dCreateHeightfield(space, data, 1);
  dBodyID box = add_box(0.4, 0.2, 0.4, 5, 0, 0.1, 0);
  dBodySetLinearVel(box, start * cos(heading), 0, start * sin(heading));
  for (int k = 0; k < 300; k++) case_step(h);
  const dReal *x = dBodyGetPosition(box);
  tell("stops after", hypot(x[0], x[2]),
       start * start / (2 * surface.mu * G) - 0.5 * h * start, "m");
  tell("off its line", (atan2(x[2], x[0]) - heading) * 180 / M_PI, 0,
       "degrees");
  tell("height", 1000 * x[1], 100, "mm");
  dGeomHeightfieldDataDestroy(data);
  return case_end();
}
