/* Four bars, one of them the ground, swing as a pendulum: the fourth hinge says what the
 * others say already. */
#include "case.h"

static dJointID hinge(dBodyID one, dBodyID other, double x, double z) {
  dJointID joint = dJointCreateHinge(world, 0);
  dJointAttach(joint, one, other);
  dJointSetHingeAnchor(joint, x, 0, z);
  dJointSetHingeAxis(joint, 0, 1, 0);
  return joint;
}

static double energy(const dBodyID bar[3]) {
  double sum = 0;
  for (int i = 0; i < 3; i++) {
    const dReal *v = dBodyGetLinearVel(bar[i]), *w = dBodyGetAngularVel(bar[i]);
    dMass mass;
    dBodyGetMass(bar[i], &mass);
    sum += 0.5 * mass.mass * (v[0] * v[0] + v[2] * v[2]) +
           0.5 * mass.I[5] * w[1] * w[1] +
           mass.mass * G * dBodyGetPosition(bar[i])[2];
  }
  return sum;
}

int main(int n, char *argument[]) {
  const double h = 0.01;
  case_begin(n, argument);
  /* level cranks of 1 m under two hinges of the ground, a coupler between them */
  dBodyID bar[3] = {add_box(1, 0.05, 0.05, 2, 0.5, 0, 0),
                    add_box(1, 0.05, 0.05, 2, 0.5, 0, -0.6),
                    add_box(0.05, 0.05, 0.6, 4, 1, 0, -0.3)};
  for (int i = 0; i < 3; i++) dGeomDisable(dBodyGetFirstGeom(bar[i]));
  dJointID joints[4] = {hinge(bar[0], NULL, 0, 0), hinge(bar[1], NULL, 0, -0.6),
                        hinge(bar[0], bar[2], 1, 0),
                        hinge(bar[1], bar[2], 1, -0.6)};
  double before = energy(bar), widest = 0;
  for (int k = 0; k < 1000; k++) {
    case_step(h);
    for (int i = 0; i < 4; i++) {
      dVector3 one, other;
      dJointGetHingeAnchor(joints[i], one);
      dJointGetHingeAnchor2(joints[i], other);
      widest = fmax(widest, hypot(one[0] - other[0], one[2] - other[2]));
    }
  }
  /* of what it has at its lowest */
  double fall = 8 * G * (4 * 0.5 + 4 * 1) / 8;
  tell("energy kept in 10 s", 100 * (1 + (energy(bar) - before) / fall), 100,
       "%");
  tell("widest joint", 1000 * widest, 0, "mm");
  return case_end();
}
