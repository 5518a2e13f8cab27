/* A skid is pushed sideways. Its contacts slip with a speed in proportion to their
 * force, dContactSlip2, as tyres do. */
#include "case.h"

int main(int n, char *argument[]) {
  const double h = 0.01, slip = 0.02, force = 30;
  case_begin(n, argument);
  surface.mode |= dContactSlip2 | dContactFDir1;
  surface.mu = 5;
  surface.slip2 = 4 * slip; /* m/s a newton, across fdir1; four contacts */
  direction[0] = 1;
  dCreatePlane(space, 0, 0, 1, 0);
  /* flat, and pushed where it is held: it does not tip */
  dBodyID skid = add_box(0.6, 0.6, 0.1, 20, 0, 0, 0.05);
  for (int k = 0; k < 300; k++) {
    dBodyAddForceAtRelPos(skid, 0, force, 0, 0, 0, -0.05);
    case_step(h);
  }
  tell("sideways speed", fabs(dBodyGetLinearVel(skid)[1]), slip * force, "m/s");
  return case_end();
}
