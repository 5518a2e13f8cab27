#!/bin/sh
# Every piece of advice that compare gives, on a program where it helps: what it is
# said of falls by a third and more when the advice is followed.
top=$(cd "$(dirname "$0")/.." && pwd)
. "$(dirname "$0")/command_checks.sh"

cat >scenes.c <<'PROGRAM'
/* scenes WHAT H [VALUE]: one fault each */
#include <math.h>
#include <ode/ode.h>
#include <stdlib.h>
#include <string.h>
static dWorldID world;
static dSpaceID space;
static dJointGroupID contacts;
static dGeomID wall;
static double along;
static void near(void *data, dGeomID one, dGeomID other) {
  dContact c[8];
  int n = dCollide(one, other, 8, &c[0].geom, sizeof c[0]);
  for (int i = 0; i < n; i++) {
    memset(&c[i].surface, 0, sizeof c[i].surface);
    c[i].surface.mode = dContactApprox1 | (along ? dContactFDir1 : 0);
    c[i].surface.mu = one == wall || other == wall ? 0 : 0.5;
    c[i].fdir1[0] = c[i].fdir1[1] = along;
    c[i].fdir1[2] = 0;
    dJointAttach(dJointCreateContact(world, contacts, &c[i]), dGeomGetBody(one),
                 dGeomGetBody(other));
  }
}
static dBodyID box(double x, double y, double z, const double sides[3],
                   double mass) {
  dMass m;
  dBodyID body = dBodyCreate(world);
  dMassSetBoxTotal(&m, mass, sides[0], sides[1], sides[2]);
  dBodySetMass(body, &m);
  dBodySetPosition(body, x, y, z);
  dGeomSetBody(dCreateBox(space, sides[0], sides[1], sides[2]), body);
  return body;
}
/* a body on a hinge a metre away, at 10 rad/s, without gravity */
static void whirl(void) {
  dBodyID body = box(1, 0, 5, (double[]){0.1, 0.1, 0.1}, 1);
  dJointID hinge = dJointCreateHinge(world, 0);
  dWorldSetGravity(world, 0, 0, 0);
  dJointAttach(hinge, body, 0);
  dJointSetHingeAnchor(hinge, 0, 0, 5);
  dJointSetHingeAxis(hinge, 0, 0, 1);
  dBodySetLinearVel(body, 0, 10, 0);
  dBodySetAngularVel(body, 0, 0, 10);
}
/* eight links that carry a load and swing */
static void chain(void) {
  dBodyID last = 0;
  for (int i = 0; i < 8; i++) {
    dBodyID link = box(0.2 + 0.4 * i, 0, 9, (double[]){0.4, 0.1, 0.1},
                       i == 7 ? 20 : 1);
    dJointID ball = dJointCreateBall(world, 0);
    dJointAttach(ball, last, link);
    dJointSetBallAnchor(ball, 0.4 * i, 0, 9);
    dGeomDisable(dBodyGetFirstGeom(link));
    last = link;
  }
}
/* pulled along a wall without friction by 0.9 of what friction holds, and into it */
static void creep(void) {
  dWorldSetGravity(world, 4.05, -4.05, -9);
  wall = dCreatePlane(space, 0, 1, 0, 0);
  box(0, 0.5, 0.1, (double[]){1, 1, 0.2}, 1);
}
/* two boxes dropped on a plank that tips */
static void seesaw(void) {
  dBodyID plank = box(0, 0, 1, (double[]){3, 0.4, 0.1}, 10);
  dJointID hinge = dJointCreateHinge(world, 0);
  dJointAttach(hinge, plank, 0);
  dJointSetHingeAnchor(hinge, 0, 0, 1);
  dJointSetHingeAxis(hinge, 0, 1, 0);
  box(1.2, 0, 1.2, (double[]){0.3, 0.3, 0.3}, 5);
  box(-0.6, 0, 1.2, (double[]){0.3, 0.3, 0.3}, 10.1);
}
/* twelve bricks that push each other over */
static void dominoes(void) {
  for (int i = 0; i < 12; i++) {
    dBodyID brick = box(0.25 * i, 0, 0.2, (double[]){0.04, 0.2, 0.4}, 0.1);
    if (i == 0) dBodySetAngularVel(brick, 0, 2.5, 0);
  }
}
int main(int n, char **argument) {
  const char *what = argument[1];
  double h = atof(argument[2]), value = n > 3 ? atof(argument[3]) : 0;
  const double unit[] = {1, 1, 1}, small[] = {0.5, 0.5, 0.5};
  dInitODE2(0);
  dRandSetSeed(1);
  world = dWorldCreate();
  space = dSimpleSpaceCreate(0);
  contacts = dJointGroupCreate(0);
  dWorldSetGravity(world, 0, 0, -9.81);
  dCreatePlane(space, 0, 0, 1, 0);
  if (strcmp(what, "whirl") == 0) whirl();
  if (strcmp(what, "chain") == 0) chain();
  if (strcmp(what, "creep") == 0) creep();
  if (strcmp(what, "seesaw") == 0) seesaw();
  if (strcmp(what, "dominoes") == 0) dominoes();
  if (strcmp(what, "slide") == 0) {
    along = value;
    dBodySetLinearVel(box(0, 0, 0.1, (double[]){0.5, 0.5, 0.2}, 5), 2.1, 2.1, 0);
  }
  if (strcmp(what, "pop") == 0) { /* a box put into another */
    dWorldSetERP(world, 0.8);
    if (value > 0) dWorldSetContactMaxCorrectingVel(world, value);
    box(0, 0, 0.3, unit, 1);
    box(0.1, 0, 0.6, unit, 1);
  }
  for (int i = 0; i < 6 && strcmp(what, "load") == 0; i++)
    box(0, 0, 0.25 + 0.5 * i, small, i == 5 ? 200 : 1);
  if (strcmp(what, "rest") == 0) dWorldSetGravity(world, 0, 0, -1000);
  for (int i = 0; i < 3 && strcmp(what, "rest") == 0; i++)
    box(0, 0, 0.6 + 1.1 * i, unit, 1);
  for (int i = 0; i < 3 / h; i++) {
    dSpaceCollide(space, 0, near);
    dWorldStep(world, h);
    dJointGroupEmpty(contacts);
  }
  return 0;
}
PROGRAM
$compiler -w scenes.c -o scenes -I"$build/host/include" -L"$build/lib" -lode -lm ||
  exit 1

# figure STEPPER KEY OPTION...: of a run of its own; the report is left
figure() {
  of=$1 key=$2 beside=
  [ -z "$more" ] || [ "$1" = conserving ] || beside=,conserving
  shift 2
  LD_LIBRARY_PATH=$libraries "$command" compare --output report --no-repeat \
    --steppers "$of$beside" "$@" >out 2>err
  sed -n "s/^      \"$key\": \([^,]*\),\{0,1\}$/\1/p" report/report.json | head -n 1
}

# tried FAULT STEPPER KEY ADVICE SCENE H -- FOLLOWED...: a run, and one as advised:
# FOLLOWED is its stepper, its options and its scene
n_tried=0
tried() {
  fault=$1 stepper=$2 key=$3 advice=$4 scene=$5 h=$6
  shift 7
  n_tried=$((n_tried + 1))
  before=$(figure "$stepper" "$key" $more -- ./scenes $scene $h)
  check "$fault, $stepper: what is advised is in the table" awk -v a="$advice" \
    'index($0, a) { found = 1 } END { exit !found }' "$top/plugin/judge/verdict.c"
  follower=$1
  shift
  after=$(figure "$follower" "$key" $more "$@")
  check "$fault, $stepper: $advice helps ($before, then $after)" \
    awk -v a="$before" -v b="$after" -v rounded="$(of_host 0 10)" \
    'BEGIN { exit !(b + 0 < 0.67 * a || a + 0 < rounded) }'
}
more=
step='a smaller step' more_sweeps='quick:200 here' along='FDir1 along the slip'
either='a smaller step or, where little touches, --scheme conserving' K=0.7071

tried joints step joint_error_worst "$step" chain .01 -- step -- ./scenes chain .005
tried joints quick joint_error_worst "$more_sweeps" chain .01 -- quick:200 -- \
  ./scenes chain .01
tried joints ah joint_error_worst '--scheme conserving' chain .01 -- conserving -- \
  ./scenes chain .01
tried joints trapezoid joint_error_worst "$step" chain .01 -- trapezoid -- \
  ./scenes chain .0025
tried sinking step penetration_p90 "$step" rest .01 -- step -- ./scenes rest .005
tried sinking quick penetration_p90 "$step" load .01 -- quick -- ./scenes load .0025
tried sinking ah penetration_p90 '--scheme st' rest .01 -- st -- ./scenes rest .01
tried popping step contact_work "$step" dominoes .01 -- step -- ./scenes dominoes .005
tried popping quick contact_work "$step" load .01 -- quick -- ./scenes load .0025
tried popping ah contact_work 'a lower --max-correction' pop .01 -- ah \
  --max-correction .05 -- ./scenes pop .01
tried energy step energy_drift "$step" whirl .02 -- step -- ./scenes whirl .01
tried energy quick energy_drift "$step" whirl .01 -- quick -- ./scenes whirl .002
tried energy ah energy_drift "$either" whirl .02 -- conserving -- ./scenes whirl .02
tried energy ah energy_drift "$either" whirl .02 -- ah -- ./scenes whirl .01
tried energy trapezoid energy_drift "$step" whirl .02 -- trapezoid -- \
  ./scenes whirl .01
tried creeping step crept "$step" seesaw .01 -- step -- ./scenes seesaw .0025
tried creeping ah crept "$step" dominoes .01 -- ah -- ./scenes dominoes .0025
tried creeping quick crept "$more_sweeps" creep .01 -- quick:200 -- ./scenes creep .01
tried creeping conserving crept "$step" dominoes .01 -- conserving -- \
  ./scenes dominoes .00125
tried friction step friction_error_p90 "$along" slide .01 -- step -- \
  ./scenes slide .01 $K
tried friction quick friction_error_p90 "$along" slide .01 -- quick -- \
  ./scenes slide .01 $K
tried friction ah friction_error_p90 '--max-correction inf' dominoes .01 -- \
  ah --max-correction inf -- ./scenes dominoes .01
tried 'no rest' quick unrest "$step" dominoes .01 -- quick -- ./scenes dominoes .0025
# off the reference, conserving's with a quarter of the step
more='--refine 2'
for stepper in step quick trapezoid; do
  tried reference $stepper reference_error "$step" whirl .01 -- $stepper -- \
    ./scenes whirl .0025
done
tried reference ah reference_error '--scheme conserving' whirl .01 -- conserving -- \
  ./scenes whirl .01

# none in the table that is not tried
n_given=$(sed -n '/^static const fault faults/,/^enum {/p' "$top/plugin/judge/verdict.c" |
  grep -o 'smaller_step\|sweeps\|conserving\|direction\|"--[^"]*"\|"a lower[^"]*"' |
  wc -l)
check "all of them are tried ($n_given, $n_tried)" [ "$n_given" -eq $n_tried ]

finish
