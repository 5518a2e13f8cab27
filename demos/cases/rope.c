/* A rope of 20 light links carries a load of 400 times a link's mass and swings. */
#include "case.h"

enum { LINKS = 20 };
static dJointID ball[LINKS + 1];

static double widest(void) {
  double most = 0;
  for (int i = 0; i <= LINKS; i++) {
    dVector3 one, other;
    dJointGetBallAnchor(ball[i], one);
    dJointGetBallAnchor2(ball[i], other);
    most =
        fmax(most, sqrt(pow(one[0] - other[0], 2) + pow(one[1] - other[1], 2) +
                        pow(one[2] - other[2], 2)));
  }
  return most;
}

static dJointID join(dBodyID one, dBodyID other, double x) {
  dJointID joint = dJointCreateBall(world, 0);
  dJointAttach(joint, one, other);
  dJointSetBallAnchor(joint, x, 0, 6);
  return joint;
}

int main(int n, char *argument[]) {
  const double h = 0.005, length = 0.2;
  case_begin(n, argument);
  dBodyID last = NULL;
  for (int i = 0; i <= LINKS; i++) { /* from the anchor on, level */
    bool load = i == LINKS;
    double side = load ? 0.4 : length;
    dBodyID body = add_box(side, load ? 0.4 : 0.04, load ? 0.4 : 0.04,
                           load ? 40 : 0.1, length * i + 0.5 * side, 0, 6);
    ball[i] = join(body, last, length * i);
    last = body;
  }
  double worst = 0;
  for (int k = 0; k < 1000; k++) {
    case_step(h);
    worst = fmax(worst, widest());
  }
  tell("widest joint", 1000 * worst, 0, "mm");
  return case_end();
}
