/* Three boxes under a hundred times the usual gravity. */
#include "case.h"

int main(int n, char *argument[]) {
  const double h = 0.01;
  dBodyID box[3];
  case_begin(n, argument);
  dWorldSetGravity(world, 0, 0, -1000);
  dCreatePlane(space, 0, 0, 1, 0);
  for (int i = 0; i < 3; i++) box[i] = add_box(1, 1, 1, 1, 0, 0, 0.6 + 1.1 * i);
  for (int k = 0; k < 200; k++) case_step(h);
  double fastest = 0, sunk = 0;
  for (int i = 0; i < 3; i++) {
    fastest = fmax(fastest, fabs(dBodyGetLinearVel(box[i])[2]));
    sunk = fmax(sunk, i + 0.5 - dBodyGetPosition(box[i])[2]);
  }
  tell("fastest box after 2 s", 1000 * fastest, 0, "mm/s");
  tell("sunk in", 1000 * sunk, 0, "mm");
  return case_end();
}
