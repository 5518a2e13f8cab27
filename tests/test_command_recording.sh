#!/bin/sh
# What `ode-mlcp compare` records, and the pictures and the page that are made of it,
# of a program of which all that is known by hand (recorded_program.c).
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/command_checks.sh"
program=$build/tests/recorded_program

# record WHAT ARG...: of the program, into the folder WHAT
record() {
  what=$1
  shift
  ode_mlcp compare --output "$what" --no-repeat "$@" -- "$program" "$what"
  check "$what: status 0" status_is 0
}

# page_data FOLDER: the text of its page's data
page_data() {
  sed -n '/id="data">$/,/<.script>/p' "$1/report.html" |
    sed 's/": /":/g; s/\([]"}0-9el]\), /\1,/g'
}

# ---- what the program does goes on under the recorder ----

record debug --steppers step,ah
for stepper in step ah; do
  check "its debug handler hears, $stepper" \
    grep -qx 'heard 7' debug/data/$stepper.out
done
check "so does the recording" \
  grep -q '^ah, the first message: ODE INTERNAL ERROR 7: of this program' out

# ---- what is recorded ----

# below its threshold nothing is damped: w rises by 0.01 rad/s a step to 2.5 rad/s, and
# the torque explains I w^2/2 = 3.125 J
record spin --steppers step,ah
for stepper in step ah; do
  check "a spin below its damping, $stepper" awk -F, -v most="$(of_host 1e-9 3)" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { off = $at["energy_unexplained_J"]; if (off > most || off < -most) bad = 1 }
    { end = $at["kinetic_J"] - 3.125 }
    END { exit bad || NR != 51 || end > most || end < -most }' spin/$stepper.csv
done

# a step from v to v - g h moves by one of them: no energy is lost by that. One of two
# bodies is awake, and no force makes the other one's energy differ
record fall --steppers step,ah
for stepper in step ah; do
  check "a fall loses nothing, $stepper" awk -F, -v most="$(of_host 1e-9 2)" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["bodies"] != 2 || $at["awake"] != 1 { bad = 1 }
    { off = $at["energy_unexplained_J"] }
    off > most || off < -most { bad = 1 }
    END { exit bad || NR != 21 }' fall/$stepper.csv
done

# geoms without a body are looked at before each of the first 16 steps, then before
# every 64th: after the first look 18 moves, each by what the box was moved until then
for run in 1 2; do
  for k in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 64 128 192; do echo $k; done
done | awk '{ printf "%.5g,%.5g,\n", ($1 + 1) / 100, $1 / 100 }' >expected
for ground in ground ground2; do
  record $ground --steppers step,ah
  page_data $ground | grep -ao '"moves":\[[^a-z]*\],\{0,1\}' |
    grep -o '\[[0-9.]*,\[[0-9.]*,' | tr -d '[' >moves
  check "the moves of a geom without a body, $ground" diff expected moves
done

# a tetrahedron is a mesh of four corners and four triangles, of both runs the same
record convex --steppers step,ah
check "a tetrahedron" [ "$(page_data convex | grep -ao '"meshes":\[.*' |
  sed 's/"meshes":\[\[[0-9]*,\([0-9,]*\)\]\]}.*/\1/')" = 4,4 ]
od -A n -v -t f4 -w4 convex/data/step.rec | tr -d ' ' | tr '\n' ' ' >numbers
check "its corners" grep -q -e "-0.25 -0.25 -0.25 0.75 -0.25 -0.25 \
-0.25 0.75 -0.25 -0.25 -0.25 0.75 " numbers

# what a program asks of threads for its steps is not passed on: it would abort
record threads --steppers step,ah
record clock --steppers step,ah
for stepper in step ah; do
  # the first is a tenth of a millisecond into the year 2000
  check "the time is told twice, $stepper" \
    grep -qx '946684800 946684800' clock/data/$stepper.out
  check "no threads, $stepper" grep -q '^5 steps$' threads/data/$stepper.out
done

# the host's random numbers: x -> 1664525 x + 1013904223 mod 2^32, from 42 on; what
# steppers draw is from numbers of their own
record random --steppers step,quick,ah
first=$(((1664525 * 42 + 1013904223) % 4294967296))
for stepper in step quick ah; do
  check "the program's random numbers, $stepper" [ "$(cat random/data/$stepper.out)" = "\
$first
$(((1664525 * first + 1013904223) % 4294967296))" ]
done

# the host's own steppers have no residual, whatever was told before in the same memory
ode_mlcp compare --output pile --no-repeat --steppers step,ah -- \
  "$build/demos/play/play" pit 12 --seconds 2
residuals() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "residual") at = i; next }
    $at != 0 { n++ } END { print (at > 0 ? n + 0 : "none") }' "$1"
}
check "no residual of step" [ "$(residuals pile/step.csv)" = 0 ]
check "residuals of ah" [ "$(residuals pile/ah.csv)" -gt 20 ]

# ---- how far it is, as a terminal shows it ----

if command -v python3 >/dev/null; then
  cat >terminal.py <<'CHECK'
import os, pty, re, sys
said = b""
def read(descriptor):
    global said
    part = os.read(descriptor, 1024)
    said += part
    return part
pty.spawn(sys.argv[1:], read)
told = [(int(n), float(s)) for n, s in
        re.findall(rb": step: (\d+) steps, ([0-9.e+]+) s of its time", said)]
# each step is one of 10 ms
assert len(told) >= 2 and told[-1][0] > told[0][0], said
assert all(abs(s - 0.01 * n) <= 1e-3 * s for n, s in told), told
CHECK
  check "a terminal sees how far it is" sh -c '"$@" >terminal' sh python3 terminal.py \
    "$command" compare --output far --no-repeat --limit 2 --steps 100000000 \
    --steppers step -- "$build/demos/play/play" wall 2 --seconds 1e6 </dev/null
fi

# ---- the picture ----

record balls --steppers step
cp out balls/out
record boxes --steppers step
record solids --steppers step
# what moves without a body is where it was at the picture's time
ode_mlcp compare --output ground/short --no-repeat --steps 100 --steppers ah -- \
  "$program" ground
cp ground/short/data/ah.rec ground/data/ah.rec
if /usr/bin/python3 -c 'import numpy, matplotlib' 2>/dev/null; then
  cat >picture.py <<'CHECK'
import colorsys, sys
import numpy as np
import ode_mlcp, ode_mlcp_plot

def painted(*names):
    """Faces [corners, 2] and their colours, in the order of painting, an axes each."""
    figure = ode_mlcp_plot.draw_bodies(
        {n: ode_mlcp.read_recording(n) for n in names})
    pictures = [axes.collections[0] for axes in figure.axes]
    return [([p.vertices[:-1] for p in c.get_paths()], c.get_facecolors()[:, :3])
            for c in pictures]

def hue(colour):
    h, lightness, saturation = colorsys.rgb_to_hls(*colour)
    return round(360 * h) if saturation > 1e-3 else None

def size(face):
    return np.ptp(face, axis=0)

# balls of 0.1 m and 0.3 m at a distance of 1 m along x. The view is turned by 75 degrees
# and raised by 20, so that the metre is sqrt(1 - (cos 75 cos 20)^2) wide in it
faces, _ = painted("balls/data/step.rec")[0]
balls = sorted((f for f in faces if len(f) == 40), key=lambda f: size(f)[0])
assert len(balls) == 2 and np.allclose([size(b) for b in balls], [[0.2] * 2, [0.6] * 2])
seen = np.sqrt(1 - (np.cos(np.radians(75)) * np.cos(np.radians(20))) ** 2)
apart = np.linalg.norm(balls[0].mean(axis=0) - balls[1].mean(axis=0))
assert abs(apart - seen) < 1e-6, apart

# three faces of each box are seen, those of the last body from furthest away: these are
# painted first. A body's hue is 137 times its number
_, colours = painted("boxes/data/step.rec")[0]
hues = [h for h in map(hue, colours) if h is not None]
assert hues == [137 * (100 - k // 3) % 360 for k in range(300)], hues

# all faces that the view shows of a capsule (its sides and two balls), a cylinder (half
# of its sides and the top) and a box, each as light as it is turned to the light
faces, colours = painted("solids/data/step.rec")[0]
of = {}
for face, colour in zip(faces, colours):
    of.setdefault(hue(colour), []).append((len(face), colour))
assert {h: sorted(n for n, _ in f) for h, f in of.items()} == {
    137: [4] * 12 + [40, 40], 274: [4] * 12 + [24], 51: [4] * 3}, of
top = [c for n, c in of[274] if n == 24][0]
assert abs(colorsys.rgb_to_hls(*top)[1] - (0.30 + 0.38 * 0.9)) < 1e-6
# and each at its place: the box of 0.2 x 0.2 x 1 m
turn, rise = np.radians(15), np.radians(20)
box = np.concatenate([f for f, c in zip(faces, colours) if hue(c) == 51])
wide = 0.2 * (np.sin(turn) + np.cos(turn))
assert np.allclose(size(box), [wide, np.cos(rise) + np.sin(rise) * wide], atol=1e-6)

# the ground that moves is there once in each: three faces
for _, colours in painted("ground/data/ah.rec", "ground/short/data/ah.rec"):
    assert sum(hue(c) is None for c in colours) == 3

# a plane is painted first, whatever is below it
faces, colours = painted("slide/data/ah.rec")[0]
assert hue(colours[0]) is None and all(hue(c) is not None for c in colours[1:])
assert (size(faces[0]) > 3 * size(np.concatenate(faces[1:]))).all()
CHECK
  record slide --steppers step,ah
  PYTHONPATH="$top/python" PYTHONDONTWRITEBYTECODE=1 \
    check "bodies are painted as they are" /usr/bin/python3 picture.py
fi

# ---- the page ----

page_runs() {
  page_data "$1" | grep -ao '"label":"[^"]*","reference":[a-z]*' |
    tr -d '"' | sed 's/label://; s/,reference:/ /'
}
check "one run parts from none" sh -c '! grep -q "^The runs" balls/out'
check "a page without a reference" [ "$(page_runs balls)" = 'step false' ]
record one --refine 2 --steppers step,ah
check "two runs stay together" grep -qx 'The runs stay together.' out
check "a page with a reference" [ "$(page_runs one)" = 'step false
ah false
reference: ah, h/4 true' ]
# of the world that is shown the reference has nothing
record two --refine 2 --steppers ah
check "two worlds" [ "$(page_runs two)" = 'ah false
reference: ah, h/4 true' ]
cp one/data/ah-r4.rec two/data/ah-r4.rec
ode_mlcp compare --output mixed --from two
check "a reference without a frame: status 0" status_is 0
check "a page of the run alone" [ "$(page_runs mixed)" = 'ah false' ]

# what moves on it, by what the program does
record slide --steppers step,ah
check "curves that stay what they are: nothing to say" err_is_empty
if command -v python3 >/dev/null; then
  cat >page.py <<'CHECK'
import base64, json, math, struct

def read(name):
    page = open(name + '/report.html').read()
    part = lambda what: page.split('id="%s">' % what)[1].split('</script>')[0]
    return json.loads(part('data')), base64.b64decode(part('arrays'))

# each move of the ground: a time, a place, a turn
for run in read('ground')[0]['runs']:
    moves = [s['moves'] for s in run['shapes'] if s['body'] == 0]
    assert len(moves) == 1 and len(moves[0]) == 18, moves
    assert all([len(move), len(move[1]), len(move[2])] == [3, 3, 4] for move in moves[0])
text, arrays = read('slide')
frames, grain = text['frames'], 1e-6

def floats(at, count):
    return struct.unpack_from('<%df' % count, arrays, at)

def near(value, expected, limit):
    assert abs(value - expected) <= limit, (value, expected)

# 30 frames a second, of 100 steps of 10 ms; the first is after a step
assert frames == 31, frames
near(text['interval'], 1 / 30, 1e-9)
at = [max(1, math.floor(100 * k / 30 + 1e-6)) / 100 for k in range(frames)]
assert [run['label'] for run in text['runs']] == ['step', 'ah']
for run in text['runs']:
    one, box, gone, come = run['bodies']
    assert one[1:] == box[1:] == [0, 30] and gone[1:] == [0, 15], run['bodies']
    assert come[1:] == [16, 30], run['bodies']
    poses = floats(run['poses'], 4 * 7 * frames)
    place = lambda body, i, k: poses[(7 * body + i) * frames + k]
    turn = lambda body, i, k: poses[(7 * body + 3 + i) * frames + k]
    for k, t in enumerate(at):
        wanted = [(1 + 3 * t, 2, 0.1), (-1 + t, 0.5 - 2 * t, 4 + t / 2), (0, 9, 9),
                  (0, -9, 9)]
        for body, first, last in (0, 0, 30), (1, 0, 30), (2, 0, 15), (3, 16, 30):
            if first <= k <= last:
                for i in range(3):
                    near(place(body, i, k), wanted[body][i], grain)
                angle = t if body == 1 else 0  # half of 2 rad/s
                for i, part in enumerate((math.cos(angle), 0, 0, math.sin(angle))):
                    near(turn(body, i, k), part, 2e-4)
    # the ball's weight, where it was before the step
    assert run['counts'] == frames * [1], run['counts']
    contacts = floats(run['contacts'], 6 * frames)
    for k, t in enumerate(at):
        for i, x in enumerate((1 + 3 * (t - 0.01), 2, 0)):
            near(contacts[6 * k + i], x, 8 * grain)
        for i, x in enumerate((0, 0, 10)):
            near(contacts[6 * k + 3 + i], x, 1e-3)
    shapes = [[s['kind'], s['sizes'], s['position'], s['quaternion']]
              for s in run['shapes']]
    same = [[0, 0, 0], [1, 0, 0, 0]]
    assert shapes == [[1, [0.1, 0, 0, 0]] + same, [2, [0.2, 0.4, 0.6, 0]] + same,
                      [5, [0, 0, 1, 0]] + same], shapes
    bodies = [s['body'] for s in run['shapes']]
    assert bodies == [one[0], box[0], 0], bodies
    curves = run['curves']
    assert set(curves) == {'time'} | {c[0] for c in text['columns']}, curves.keys()
    for i, t in enumerate(curves['time']):
        near(t, (i + 1) / 100, 1e-6)
        near(curves['fastest'][i], 3, 1e-4)
    assert len(curves['time']) == 100 and run['off_law'] is run['message'] is None
told = text['report']['steppers'][1]
assert told['name'] == 'ah' and all(f[0] in told for f in text['figures']), told
CHECK
  left_out_in_single "steps of 10 ms are a frame short there" ||
    check "the page's data are what the program does" python3 page.py
fi

finish
