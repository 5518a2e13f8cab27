/* A trolley runs down an inclined rail to its stop, which gives nothing back. */
#include "case.h"

int main(int n, char *argument[]) {
  const double h = 0.01, slope = 0.3;
  case_begin(n, argument);
  dBodyID trolley = add_box(0.4, 0.2, 0.2, 50, 0, 0, 5);
  dJointID rail = dJointCreateSlider(world, 0);
  dJointAttach(rail, trolley, NULL);
  dJointSetSliderAxis(rail, -cos(slope), 0, sin(slope));
  double way = 0, furthest = 0, back = 0;
  dJointSetSliderParam(rail, dParamLoStop, -1);
  dJointSetSliderParam(rail, dParamHiStop, 1);
  for (int k = 0; k < 400; k++) {
    case_step(h);
    const dReal *x = dBodyGetPosition(trolley), *v = dBodyGetLinearVel(trolley);
    way = x[0] / cos(slope);
    furthest = fmax(furthest, way - 1);
    if (k > 90) back = fmax(back, -v[0]);
  }
  tell("past the stop, worst", 1000 * furthest, 0, "mm");
  tell("speed back", back, 0, "m/s");
  tell("where it stands", way, 1, "m");
  return case_end();
}
