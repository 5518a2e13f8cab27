/* A tonne stands on a box of 1 kg. */
#include "case.h"

int main(int n, char *argument[]) {
  const double h = 0.01;
  case_begin(n, argument);
  dCreatePlane(space, 0, 0, 1, 0);
  dBodyID low = add_box(0.5, 0.5, 0.5, 1, 0, 0, 0.25);
  dBodyID high = add_box(0.5, 0.5, 0.5, 1000, 0, 0, 0.75);
  double deepest = 0;
  for (int k = 0; k < 500; k++) {
    case_step(h);
    double floor = 0.25 - dBodyGetPosition(low)[2];
    double between = 0.5 - dBodyGetPosition(high)[2] + dBodyGetPosition(low)[2];
    deepest = fmax(deepest, fmax(floor, between));
  }
  const dReal *x = dBodyGetPosition(high);
  tell("boxes in each other, worst", 1000 * deepest, 0, "mm");
  tell("the tonne has moved", 1000 * hypot(hypot(x[0], x[1]), x[2] - 0.75), 0,
       "mm");
  return case_end();
}
