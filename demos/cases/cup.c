/* Marbles fall into a cup of eight walls and come to rest. */
#include "case.h"

enum { MARBLES = 12 };

int main(int n, char *argument[]) {
  const double h = 0.005, r = 0.05;
  dBodyID marble[MARBLES];
  case_begin(n, argument);
  surface.mode |= dContactRolling;
  surface.rho = surface.rho2 = surface.rhoN = 2e-3;
  dCreatePlane(space, 0, 0, 1, 0);
  for (int i = 0; i < 8; i++) { /* leaning walls */
    double a = i * M_PI / 4, lean = 0.3;
    dCreatePlane(space, -cos(a) * cos(lean), -sin(a) * cos(lean), sin(lean),
                 -0.15 * cos(lean));
  }
  for (int i = 0; i < MARBLES; i++)
    marble[i] = add_ball(r, 0.1, 0.06 * (i % 2) - 0.03, 0.05 * (i % 3) - 0.05,
                         0.1 + 0.11 * i);
  double deepest = 0;
  for (int k = 0; k < 1000; k++) case_step(h);
  double fastest = 0;
  for (int i = 0; i < MARBLES; i++) {
    const dReal *v = dBodyGetLinearVel(marble[i]);
    fastest = fmax(fastest, sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    const dReal *a = dBodyGetPosition(marble[i]);
    for (int j = 0; j < i; j++) {
      const dReal *b = dBodyGetPosition(marble[j]);
      deepest =
          fmax(deepest, 2 * r - sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) +
                                     pow(a[2] - b[2], 2)));
    }
  }
  tell("fastest marble after 5 s", 1000 * fastest, 0, "mm/s");
  tell("marbles in each other", 1000 * deepest, 0, "mm");
  return case_end();
}
