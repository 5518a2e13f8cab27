#!/bin/sh
# ode-mlcp compare: what it refuses; that the host's own steppers do what they do
# without it, bit for bit; that programs are run alike; what the report says.
. "$(dirname "$0")/command_checks.sh"
play=$build/demos/play/play

compare() { ode_mlcp compare "$@"; }

out_has() { grep -q -e "$1" "$work/out" || { cat "$work/out"; return 1; }; }

# refused WHAT PATTERN ARG...
refused() {
  what=$1 pattern=$2
  shift 2
  compare --output refused "$@"
  check_refusal "$what" "^ode-mlcp compare: .*$pattern"
  check "$what: leaves no folder" [ ! -e refused ]
}

# figure NAME KEY: of report.json
figure() {
  awk -v name="\"$1\"" -v key="\"$2\":" '
    $1 == "\"name\":" { ours = $2 == name "," }
    ours && $1 == key { sub(/,$/, "", $2); print $2 }' report/report.json
}

# figure_is NAME KEY CONDITION: awk's, of x; null is none
figure_is() {
  value=$(figure "$1" "$2")
  [ -n "$value" ] && [ "$value" != null ] &&
    awk -v x="$value" "BEGIN { exit !($3) }" ||
    { echo "  $1's $2 is '$value', not $3"; return 1; }
}

# m/s: of velocities; of metres in steps of 10 ms
of_velocity() { of_host "$1" 10; }
of_motion() { of_host "$1" 100; }

# ---- bad input ----

refused "no program" "no program to run" --steps 10
refused "no such program" "no-such-program" -- no-such-program
refused "no stepper" "no stepper 'fast'" --steppers step,fast -- "$play" wall
refused "a name missing" "missing" --steppers step,,ah -- "$play" wall
refused "an iteration count" "no stepper 'quick:0'" --steppers quick:0 \
  -- "$play" wall
refused "twice" "'ah' twice" --steppers ah,ah -- "$play" wall
refused "steps" "'0' is not a whole number" --steps 0 -- "$play" wall
refused "refine" "'1' is not" --refine 1 -- "$play" wall
refused "clock" "'sun' is not steps or real" --clock sun -- "$play" wall
refused "a setting" "edges" --edges 5 -- "$play" wall
refused "a scheme" "name the schemes in --steppers" --scheme st -- "$play" wall
refused "nothing recorded" "no recording" --from "$work"
refused "an option among folders" "options come before" --from "$work" --json
: >file
compare --output file/x -- "$play" wall
check "no folder: status 2" status_is 2

# ---- the host's own steppers ----

stock=$build/host-stock/ode/src/.libs/libode.so.8
[ -f "$stock" ] || stock=$build/lib/libode.so.8
# same WHAT STEPPER ARG...: what the program prints of its states under a stepper
# is what it prints by itself on the stock host
same() {
  what=$1 stepper=$2
  shift 2
  LD_PRELOAD=$stock "$play" "$@" --poses >bare 2>/dev/null
  compare --output report --no-repeat --steppers "$stepper" -- \
    "$play" "$@" --poses
  grep -v -e '^$' -e '^ODE Message' "report/data/$stepper.out" >recorded
  check "$what is the stock stepper's" cmp bare recorded
}
same "a wall on step" step wall 3 --seconds 1
same "a pile on step" step pit 20 --seconds 2
same "a pile on quick" quick pit 20 --seconds 2 --quick
same "a soft car on quick" quick soft-car --seconds 1 --quick
check "the bare states are there" [ -s bare ]
# negative control: another stepper leaves other states
compare --output report --no-repeat --steppers ah -- \
  "$play" pit 20 --seconds 2 --quick --poses
LD_PRELOAD=$stock "$play" pit 20 --seconds 2 --quick --poses >bare
check "one run is not compared" out_has 'On play pit 20 .*, under ah .*; a step takes [0-9.e-]* ms\.$'
check "ah's states are others" sh -c '! cmp -s bare report/data/ah.out'

# ---- the report ----

compare --output report --steppers step,quick,quick:50,ah -- \
  "$play" pit 12 --seconds 2
check "a pile: status 0" status_is 0
check "a pile: nothing to say" err_is_empty
check "a pile: the table" out_has '^contact law missed by, worst  *m/s '
check "a pile: repeats" out_has 'A second run on [a-z:0-9]* was the same'
if command -v python3 >/dev/null; then
  check "a pile: JSON for others" python3 -m json.tool report/report.json out
  # the verdict's figures are those of the steppers, its lines worst first, and the
  # terminal says the same
  compare --output report --no-repeat --steppers step,quick,ah -- \
    "$play" wall 4 --seconds 0.5
  cat >verdict.py <<'CHECK'
import json, sys
report = json.load(open('report/report.json'))
told = open('out').read()
lines = report['verdict']
keys = {'stepper', 'what', 'figure', 'unit', 'relative', 'advice'}
assert 0 < len(lines) <= 5 and all(keys <= set(line) for line in lines)
assert report['headline'].startswith('On play wall 4') and report['headline'] in told
steppers = {s['name']: s for s in report['steppers']}
for line in lines:
    figures = [v for v in steppers[line['stepper']].values() if isinstance(v, (int, float))]
    assert line['figure'] in figures, line
    assert line['text'] in told and line['advice'] in told, line
    assert line['relative'] > 0.01, line
CHECK
  check "the verdict is the figures'" python3 verdict.py
  compare --output report --no-repeat --steppers step,quick,quick:50,ah -- \
    "$play" pit 12 --seconds 2
fi
for name in step quick quick:50 ah; do
  for key in steps contact_error_worst contact_error_p90 penetration_worst \
      joint_error_worst cone_violation_worst energy_drift reference_error \
      order messages failed_steps degraded ms_step_median ms_step_p99 \
      ms_step_worst; do
    check "$name has $key" [ -n "$(figure $name $key)" ]
  done
  check "$name: all steps" figure_is $name steps 'x == 200'
done
check "step keeps the law" figure_is step contact_error_worst "x < $(of_velocity 1e-9)"
# single steps in which the correction of one contact moves another further than
# was asked miss the law
check "ah keeps the law" figure_is ah contact_error_p90 "x < $(of_motion 1e-6)"
check "ah keeps the cone" figure_is ah cone_violation_worst "x < $(of_velocity 1e-9)"
check "quick does not" figure_is quick contact_error_worst 'x > 1e-3'
check "more sweeps do better" figure_is quick:50 contact_error_worst \
  "x < $(figure quick contact_error_worst)"
check "a CSV row a step" n_lines 201 report/quick-50.csv

# what moves bodies without velocity is held to the same law by its motion: bricks that fall in
# the first steps are corrected by up to 0.05 m/s, the cap lets velocity do 0.01
compare --output report --no-repeat --steppers step,ah,st --max-correction 0.01 \
  -- "$play" bricks 3 --seconds 1
check "a capped correction: ah" figure_is ah contact_error_worst 'x < 2e-3'
check "a capped correction: st" figure_is st contact_error_worst 'x < 1e-3'
check "a capped correction: step" figure_is step penetration_worst 'x > 1e-3'
# without a margin these are fast enough to be looked for in spaces, by geoms that
# come and go within a step
check "geoms that come and go in a step" timeout 60 "$command" compare --output fast \
  --no-repeat --steppers st --margin 0 --max-correction 0.01 \
  -- "$play" bricks 3 --seconds 1 >out 2>&1

# the springs of a car give way by 4 mm, which opens no joint
compare --output report --no-repeat --steppers step,ah -- "$play" soft-car --seconds 1
check "springs: step" figure_is step joint_error_worst 'x > 0 && x < 1e-3'
check "springs: ah" figure_is ah joint_error_worst 'x > 0 && x < 1e-3'

# what bounces may rise as high as it should, or give back e times the approach that
# it had as the step began, which is less by (1 - e) g h/2, 0.03 m/s here
compare --output report --no-repeat --steppers step,quick,ah \
  -- "$play" bounce 0.3 --seconds 1
check "bounces: step" figure_is step contact_error_worst "x < $(of_velocity 1e-9)"
check "bounces: ah" figure_is ah contact_error_p90 'x < 0.05'
check "bounces: quick" figure_is quick contact_error_worst 'x > 1e-2'

# ---- a reference ----

compare --output report --refine 2 --steppers ah,trapezoid -- \
  "$play" chain 2 --seconds 1
check "a reference: status 0" status_is 0
check "a reference: in the verdict" out_has '^[1-5]\. ah: bodies are off the reference by .* m ('
check "a chain in the air: its joints" out_has '^[1-5]\. ah: joints open by'
check "a chain in the air: its energy" out_has '^[1-5]\. ah: energy changes without a cause by [0-9.e-]* J ('
check "a chain in the air: no law was kept" \
  [ "$(figure ah contact_error_worst)" = null ]
check "ah's order" figure_is ah order 'x > 0.7 && x < 2'
check "the trapezoid's order" figure_is trapezoid order 'x > 1.8 && x < 2.3'
check "which is closer" figure_is trapezoid reference_error \
  "x < $(figure ah reference_error)"
cat >damped.c <<'PROGRAM'
#include <ode/ode.h>
int main(void) {
  dInitODE2(0);
  dWorldID world = dWorldCreate();
  dWorldSetGravity(world, 0, 0, -9.81);
  dWorldSetDamping(world, 0.03, 0.05);
  dBodyID body = dBodyCreate(world);
  dBodySetAngularVel(body, 0, 0, 3);
  for (int i = 0; i < 60; i++) dWorldStep(world, 0.01);
  return 0;
}
PROGRAM
if $compiler -w damped.c -o damped -I"$build/host/include" -L"$build/lib" -lode \
    2>err; then
  mv report chain
  LD_LIBRARY_PATH=$libraries compare --output report --no-repeat --refine 3 \
    --steppers step,ah -- ./damped
  # damping is one of time, not of steps: else the order is about -0.8
  check "a damped fall: order" figure_is step order 'x > 0.9 && x < 1.1'
  check "a damped fall: order of ah" figure_is ah order 'x > 0.9 && x < 1.1'
  rm -r report
  mv chain report
fi
mv report taken
compare --output report --from taken
check "from recordings: status 0" status_is 0
check "from recordings: the same order" figure_is trapezoid order 'x > 1.8'
grep -A3 '"arguments"' taken/report.json >arguments
check "from recordings: the program's arguments" \
  sh -c "grep -A3 '\"arguments\"' report/report.json | cmp -s - arguments"
head -c 5000 taken/data/ah.rec >taken/data/cut.rec
compare --output report --from taken
check "a broken recording: status 2" status_is 2
check "a broken recording: named" err_has 'cut.rec: the recording is broken'

# ---- programs ----

# the time, sleep and the random numbers are the same for all
cat >clock.c <<'PROGRAM'
#include <ode/ode.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main(void) {
  struct timespec now;
  dInitODE2(0);
  dRandSetSeed((unsigned long)time(NULL));
  dWorldID world = dWorldCreate();
  dBodyID body = dBodyCreate(world);
  for (int i = 0; i < 20; i++) {
    clock_gettime(CLOCK_REALTIME, &now);
    usleep(300000);
    dBodyAddForce(body, dRandReal(), 1e-9 * now.tv_nsec, i);
    dWorldQuickStep(world, 0.01);
  }
  // one that waits for a second
  clock_gettime(CLOCK_MONOTONIC, &now);
  for (time_t start = now.tv_sec; now.tv_sec < start + 2;)
    clock_gettime(CLOCK_MONOTONIC, &now);
  puts("waited");
  return 0;
}
PROGRAM
if $compiler -w clock.c -o clock -I"$build/host/include" -L"$build/lib" -lode \
    2>err; then
  LD_LIBRARY_PATH=$libraries compare --output report --steppers quick -- ./clock
  check "a program by the clock repeats itself" out_has 'was the same, bit'
  check "one that waits comes to its end" grep -q waited report/data/quick.out
  LD_LIBRARY_PATH=$libraries compare --output report --clock real --limit 30 \
    --steppers quick -- ./clock
  check "by the real clock it does not" out_has 'Two runs on quick differ'
fi
# a box that slides off in another direction each time
printf '#!/bin/sh\necho >>runs\nexec %s slide $(($(wc -l <runs) * 70)) "$@"\n' \
  "$play" >other
chmod +x other
compare --output report --steppers ah -- ./other --seconds 1
check "a program that differs is noticed" out_has 'Two runs on ah differ from'
compare --output report --steppers step,ah -- ./other --seconds 1
check "a program that differs: in the notes" out_has 's, but so do two on [sa]'
compare --output report --no-repeat --steppers step --steps 30 -- "$play" wall 2
check "ended at --steps: status 0" status_is 0
check "ended at --steps" figure_is step steps 'x == 30'
compare --output report --steppers step,ah -- true
check "no step: status 1" status_is 1
check "no step: told" out_has '^step: the program stepped no world (status 0'
check "no step: its own status" out_has '^ah: the program stepped no world (status 0'
check "no step: no empty table" sh -c '! grep -q "^  *step  *ah" out'

# programs that end badly, worlds and bodies that come and go
cat >odd.c <<'PROGRAM'
#define _GNU_SOURCE
#include <ode/ode.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static dWorldID worlds[2];
static dSpaceID spaces[2];
static dJointGroupID contacts;
static int at, bounces;
static void near(void *data, dGeomID one, dGeomID other) {
  dContact contact = {.surface = {.mode = dContactApprox1, .mu = 0.5}};
  if (bounces) contact.surface.mode |= dContactBounce;
  contact.surface.bounce = 0.7;
  contact.surface.bounce_vel = 0.01;
  if (dCollide(one, other, 1, &contact.geom, sizeof contact) > 0)
    dJointAttach(dJointCreateContact(worlds[at], contacts, &contact),
                 dGeomGetBody(one), dGeomGetBody(other));
}
static void make(int w) {
  worlds[w] = dWorldCreate();
  spaces[w] = dSimpleSpaceCreate(0);
  dWorldSetGravity(worlds[w], 0, 0, -9.81);
  dCreatePlane(spaces[w], 0, 0, 1, 0);
}
static dBodyID ball(int w, double x) {
  dBodyID body = dBodyCreate(worlds[w]);
  dBodySetPosition(body, x, 0, 0.4);
  dGeomSetBody(dCreateSphere(spaces[w], 0.2), body);
  return body;
}
/* a body on a hinge a metre away, whirling by itself, or turned by a motor of 2 N m */
static void hinge(int drives) {
  dBodyID body = ball(0, 1);
  dMass mass;
  dMassSetBoxTotal(&mass, 1, 0.1, 0.1, 0.1);
  dBodySetMass(body, &mass);
  dWorldSetGravity(worlds[0], 0, 0, 0);
  dJointID hinge = dJointCreateHinge(worlds[0], 0);
  dJointAttach(hinge, body, 0);
  dJointSetHingeAnchor(hinge, 0, 0, 0.4);
  dJointSetHingeAxis(hinge, 0, 0, 1);
  dJointSetHingeParam(hinge, dParamVel, 100);
  dJointSetHingeParam(hinge, dParamFMax, drives ? 2 : 0);
  if (drives) return;
  dBodySetLinearVel(body, 0, 10, 0);
  dBodySetAngularVel(body, 0, 0, 10);
}
/* over what is told to the command, as a program that writes anywhere, and dies of it; or
 * over how much was told, and goes on */
static void scribble(int ends) {
  char line[600];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps))
    if (strstr(line, "ode-mlcp-traffic")) {
      unsigned long start;
      sscanf(line, "%lx", &start);
      if (ends) memset((char *)start + 4096, 0xff, 1 << 20);
      unsigned long long *written = (void *)(start + 16);
      if (ends) continue;
      memset((char *)start + 4096 + *written % (64 << 20), 0, 8);
      *written += 8;
    }
  if (ends) raise(SIGKILL);
}
int main(int argc, char **argv) {
  const char *what = argv[1];
  dInitODE2(0);
  contacts = dJointGroupCreate(0);
  if (strcmp(what, "nothing") == 0) return 3;
  while (strcmp(what, "spin") == 0) getppid();
  int n = strcmp(what, "two") == 0 ? 2 : 1;
  for (int w = 0; w < n; w++) make(w);
  dBodyID body = ball(0, 0);
  int whirls = strcmp(what, "whirl") == 0, drives = strcmp(what, "drive") == 0;
  for (int i = 0; i < 3 && !whirls && !drives; i++) ball(n - 1, 1 + i);
  if (whirls || drives) hinge(drives);
  if (whirls || drives) dBodySetPosition(body, 9, 9, 9);
  // one ball put into another: a velocity that takes this away lasts
  if (strcmp(what, "pop") == 0) ball(0, 0.02);
  // steps of more than what is told has room for
  for (int i = 0; i < 3000 && strcmp(what, "scrawl") == 0; i++)
    dBodyCreate(worlds[0]);
  bounces = strcmp(what, "bounce") == 0;
  for (int i = 1; i < 7 && bounces; i++)
    dBodySetPosition(ball(0, 0), 0.06 * i, 0.01 * i, 0.4 + 0.5 * i);
  for (int k = 0; k < 100; k++) {
    if (k == 50 && strcmp(what, "crash") == 0) raise(SIGSEGV);
    if (k == 50 && strcmp(what, "vanish") == 0) _exit(3);
    if (k == 50 && strcmp(what, "nan") == 0) dBodyAddForce(body, NAN, 0, 0);
    if (k == 50 && strcmp(what, "scribble") == 0) scribble(1);
    if (k == 50 && strcmp(what, "scrawl") == 0) scribble(0);
    if (k == 50 && strcmp(what, "another") == 0) {
      dSpaceDestroy(spaces[0]);
      dWorldDestroy(worlds[0]);
      make(0);
      for (int i = 0; i < 8; i++) ball(0, i);
    }
    if (k % 10 == 0 && strcmp(what, "come-and-go") == 0) {
      dGeomDestroy(dBodyGetFirstGeom(body));
      dBodyDestroy(body);
      body = ball(0, 0.1 * k - 9);
    }
    for (at = 0; at < n; at++) {
      dSpaceCollide(spaces[at], NULL, near);
      dWorldStep(worlds[at], 0.01);
      dJointGroupEmpty(contacts);
    }
  }
  return 0;
}
PROGRAM
if $compiler -w odd.c -o odd -I"$build/host/include" -L"$build/lib" -lode 2>err; then
  # odd WHAT STATUS STEPS PATTERN
  odd() {
    LD_LIBRARY_PATH=$libraries compare --output report --no-repeat \
      --steppers step,ah -- ./odd "$1"
    check "$1: status $2" status_is "$2"
    check "$1: steps on step" figure_is step steps "x == $3"
    check "$1: steps on ah" figure_is ah steps "x == $3"
    check "$1: told" out_has "$4"
    check "$1: keeps the law" figure_is ah contact_error_worst 'x < 1e-3'
  }
  odd crash 1 50 '^ah: the program died of signal 11 (Seg.*) after 50 steps'
  check "crash: in the verdict" out_has '^1\. step: the program ended with an error, after 50 steps'
  check "crash: what it said, beside the page" out_has '(data/ah.out has'
  odd vanish 1 50 '^step: the program ended with status 3 after 50 steps'
  odd two 0 200 '^2 worlds were stepped'
  odd pop 0 100 '^1\. step: contacts push bodies apart with [0-9.]* J (.*, ah: 1 %)\. Try this: a smaller step'
  # steps that are cut where balls meet are judged by where these end, and what
  # contacts are told explains what bodies do; by the normals as a step begins, which
  # turn under schemes that ask the geoms again
  LD_LIBRARY_PATH=$libraries compare --output report --no-repeat \
    --steppers step,gap,trapezoid,conserving -- ./odd bounce
  for scheme in gap trapezoid conserving; do
    check "bounce: $scheme keeps the law" \
      figure_is $scheme contact_error_p90 'x < 1e-2'
    check "bounce: $scheme, the worst" \
      figure_is $scheme contact_error_worst 'x < 0.1'
    check "bounce: $scheme's forces explain its energy" \
      figure_is $scheme energy_drift 'x < 1'
  done
  # a hinge can do no work: steppers of first order lose a seventh of 50 J and more; what
  # a motor of 2 N m puts in, 2 J, is none of it, but what its hinge takes is
  for kind in whirl drive; do
    least=5
    [ $kind = whirl ] || least=5e-4
    LD_LIBRARY_PATH=$libraries compare --output report --no-repeat \
      --steppers step,quick,ah,conserving -- ./odd $kind
    for scheme in step quick ah; do
      check "$kind: $scheme loses energy" figure_is $scheme energy_drift "x > $least"
    done
    # hundreds of steps, in each of which velocities are rounded
    check "$kind: conserving does not" figure_is conserving energy_drift \
      "x < $(of_host 1e-6 20)"
  done
  LD_LIBRARY_PATH=$libraries compare --output report --no-repeat \
    --steppers step,ah -- ./odd nan
  check "no numbers: in the verdict" \
    out_has '^[12]\. ah: steps were refused'
  check "no numbers: whom to trust" out_has 'no run is to be trusted'
  LD_LIBRARY_PATH=$libraries compare --output report --no-repeat \
    --steppers step,ah -- ./odd nothing
  check "nothing and an error: told" \
    out_has '^ah: the program stepped no world (status 3; data/ah.out has'
  LD_LIBRARY_PATH=$libraries compare --output report --no-repeat --limit 1 \
    --steppers step -- ./odd spin
  check "none in time: told" \
    out_has '^step: ended by --limit before the program stepped a world'
  odd another 0 100 '^2 worlds were stepped'
  odd come-and-go 0 100 'The runs stay together'
  LD_LIBRARY_PATH=$libraries compare --output report --no-repeat \
    --steppers step,ah -- ./odd scribble
  check "one that writes anywhere: status 1" status_is 1
  check "one that writes anywhere: a report" [ -s report/report.html ]
  LD_LIBRARY_PATH=$libraries compare --output report --no-repeat --limit 30 \
    --steppers step -- ./odd scrawl
  # of 50 steps; on a busy machine up to four fewer were seen
  check "one that goes on after that: told" \
    out_has '^step: its record breaks off after \(50\|[1-4]\{0,1\}[0-9]\) steps (status 0'
fi

# interrupted, it reports what it has; the recording waited for is its own
rm -rf report
"$command" compare --output report --steps 10000000 --steppers ah,step -- \
  "$play" wall 2 --seconds 1e6 >out 2>err &
child=$!
wait_for [ -s report/data/ah.rec ]
sleep 0.3
kill -HUP $child
status=0
wait $child || status=$?
check "interrupted: status 1" status_is 1
check "interrupted: told" out_has '^ah: interrupted after'
check "interrupted: the figures" figure_is ah steps 'x > 0'
check "interrupted: the rest" out_has '^step: not run'

mv report interrupted
compare --output report --from interrupted
check "interrupted, from its recording: status 1" status_is 1
check "interrupted, from its recording: told" \
  out_has '^ah: interrupted or ended by --limit after [0-9]* steps'

# the command itself is killed: what it took down breaks off, and says so
"$command" compare --output broken --steps 10000000 --steppers ah,step -- \
  "$play" wall 2 --seconds 1e6 >out 2>err &
child=$!
wait_for [ -s broken/data/ah.rec ]
sleep 0.3
kill -KILL $child
wait $child || :
compare --output report --from broken
check "killed: status 1" status_is 1
check "killed: nothing else is left" [ "$(echo broken/data/*)" = \
  "broken/data/ah.out broken/data/ah.rec" ]
check "killed: told" out_has '^ah: its recording breaks off after [0-9]* steps'
check "killed: the verdict" out_has '^1. ah: the program was not run to its end'
check "killed: the figures" figure_is ah steps 'x > 0'
check "killed: told to the page, too" \
  grep -q '"complaint": "its recording breaks off after' report/report.json

# crafted recordings: crafted NAME OFFSET BYTES, as printf has them
crafted() {
  rm -rf crafted
  cp -r small crafted
  printf "$3" | dd of=crafted/data/ah.rec bs=1 seek="$2" conv=notrunc 2>dd.err
  refused "$1" 'is broken' --from crafted
}
compare --output small --no-repeat --steppers ah --steps 3 -- "$play" wall 2
crafted 'a program without an end' 180 "$(printf '%0256d' 0)"
crafted 'a message without an end' 436 "$(printf '%0400d' 0)"
crafted 'records at an odd place' 12 '\001\020\000\000'
crafted 'records beyond the file' 16 '\377\377\377\377\377\377\377\177'
crafted 'a record of no size' 4100 '\000\000\000\000'
crafted 'a record larger than the file' 4100 '\370\377\377\377'

# bounded on disk
compare --output report --no-repeat --steppers ah --megabytes 1 -- \
  "$play" wall 5 --seconds 20
check "a sampled recording: status 0" status_is 0
check "a sampled recording is small" sh -c \
  '[ "$(wc -c <report/data/ah.rec)" -lt 1100000 ]'
check "a sampled recording has all steps" figure_is ah steps 'x == 2000'

finish
