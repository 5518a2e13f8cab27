/* 64 cubes packed without a gap, which should do nothing. */
#include "case.h"

enum { SIDE = 4 };

int main(int n, char *argument[]) {
  const double h = 0.01;
  dBodyID cube[SIDE * SIDE * SIDE];
  case_begin(n, argument);
  dCreatePlane(space, 0, 0, 1, 0);
  for (int i = 0; i < SIDE * SIDE * SIDE; i++)
    cube[i] =
        add_box(1, 1, 1, 1, i % SIDE, i / SIDE % SIDE, 0.5 + i / SIDE / SIDE);
  for (int k = 0; k < 100; k++) case_step(h);
  double moved = 0;
  for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
    const dReal *x = dBodyGetPosition(cube[i]);
    moved = fmax(moved,
                 sqrt(pow(x[0] - i % SIDE, 2) + pow(x[1] - i / SIDE % SIDE, 2) +
                      pow(x[2] - 0.5 - i / SIDE / SIDE, 2)));
  }
  tell("a cube has moved in 1 s", 1000 * moved, 0, "mm");
  return case_end();
}
