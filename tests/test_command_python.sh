#!/bin/sh
# Debian's Python binding (python3-pyode) under `ode-mlcp run`: Python opens it
# with dlopen, its names visible to itself alone.
. "$(dirname "$0")/command_checks.sh"

# the distribution's own Python: another does not see its packages
python=/usr/bin/python3
if ! "$python" -c 'import ode' 2>/dev/null; then
  echo "skipped: no python3-pyode"
  exit 77
fi

cat >fall.py <<'PYTHON'
import sys
import ode

world = ode.World()
world.setGravity((0, -9.81, 0))
body = ode.Body(world)
mass = ode.Mass()
mass.setSphere(1000, 0.1)
body.setMass(mass)
body.setPosition((0, 1, 0))
space = ode.Space()
ball = ode.GeomSphere(space, 0.1)
ball.setBody(body)
floor = ode.GeomPlane(space, (0, 1, 0), 0)
contacts = ode.JointGroup()

def near(unused, one, other):
    for point in ode.collide(one, other):
        point.setMu(5)
        joint = ode.ContactJoint(world, contacts, point)
        joint.attach(one.getBody(), other.getBody())

for k in range(300):
    space.collide(None, near)
    if k % 2:
        world.step(0.01)
    else:
        world.quickStep(0.01)
    contacts.empty()
height = body.getPosition()[1]
print("height", height)
sys.exit(0 if 0.09 < height < 0.11 else 1)
PYTHON

# Debian's is for double precision
if [ "$precision" = single ]; then
  run "$python" fall.py
  check "for the other precision: status 2" status_is 2
  check "for the other precision: said" err_has 'is in double precision'
  finish
fi

run --stats s.json --trace t.csv "$python" fall.py
check "the ball lies on the floor" status_is 0
check "nothing to say" err_is_empty
check "statistics" json_is_valid s.json
check "every step is counted" json_holds s.json steps 300
check "a contact a step" json_holds s.json contacts_max 1
check "nothing unsolved" json_holds s.json unsolved 0
check "a row a step" n_lines 301 t.csv

# Python turns SIGINT into an exception: its handler stays in place
cat >interrupted.py <<'PYTHON'
import os, signal
# as it is, but where the test was started without interrupts
signal.signal(signal.SIGINT, signal.default_int_handler)
import ode
world = ode.World()
for k in range(5):
    world.step(0.01)
try:
    os.kill(os.getpid(), signal.SIGINT)
    signal.pause()
except KeyboardInterrupt:
    print("interrupted")
PYTHON
run --stats s.json "$python" interrupted.py
check "KeyboardInterrupt: status 0" status_is 0
check "KeyboardInterrupt: caught" grep -q interrupted out
check "KeyboardInterrupt: statistics" json_holds s.json steps 5

# children of multiprocessing are forked and end by _exit
cat >pool.py <<'PYTHON'
import multiprocessing
import ode

def work(n):
    world = ode.World()
    for k in range(n):
        world.step(0.01)

context = multiprocessing.get_context("fork")
children = [context.Process(target=work, args=(n,)) for n in (3, 4)]
for child in children:
    child.start()
for child in children:
    child.join()
PYTHON
rm -f s.json*
run --stats s.json "$python" pool.py
check "a pool: status 0" status_is 0
check "a pool: nothing to say" err_is_empty
check "a pool: all steps" json_holds s.json steps 7

run "$python" -c 'import ode'
check "Python that never steps: status 2" status_is 2
check "Python that never steps: said" err_has 'never stepped an ODE world'

finish
