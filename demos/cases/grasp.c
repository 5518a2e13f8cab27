/* Two fingers press a box between them with 15 N each and hold it in the air. */
#include "case.h"

int main(int n, char *argument[]) {
  const double h = 0.005, press = 15;
  case_begin(n, argument);
  surface.mu = 0.5;
  dBodyID box = add_box(0.1, 0.1, 0.1, 1, 0, 0, 1);
  for (int side = -1; side <= 1; side += 2) {
    dBodyID finger = add_box(0.02, 0.04, 0.04, 0.1, side * 0.06, 0, 1);
    dJointID slider = dJointCreateSlider(world, 0);
    dJointAttach(slider, finger, 0);
    dJointSetSliderAxis(slider, -side, 0, 0);
    dJointSetSliderParam(slider, dParamVel, 1);
    dJointSetSliderParam(slider, dParamFMax, press);
  }
  for (int k = 0; k < 2000; k++) case_step(h);
  tell("box has slipped in 10 s", 1000 * (1 - dBodyGetPosition(box)[2]), 0,
       "mm");
  return case_end();
}
