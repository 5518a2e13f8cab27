#!/bin/sh
# What `ode-mlcp compare` records, and the pictures, page and film that it makes of it,
# of a program of which all that is known by hand (recorded_program.c).
. "$(dirname "$0")/command_checks.sh"
program=$build/tests/recorded_program

# record WHAT ARG...: of the program, into the folder WHAT
record() {
  what=$1
  shift
  ode_mlcp compare --output "$what" --no-repeat "$@" -- "$program" "$what"
  check "$what: status 0" status_is 0
}

# page_data FOLDER: the data of its page, which are its longest word
page_data() {
  tr -c 'A-Za-z0-9+/=' '\n' <"$1/report.html" |
    awk 'length > most { most = length; data = $0 } END { print data }' |
    base64 -d | gzip -dc
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
  check "a spin below its damping, $stepper" awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { off = $at["energy_unexplained_J"]; if (off > 1e-9 || off < -1e-9) bad = 1 }
    { end = $at["kinetic_J"] - 3.125 }
    END { exit bad || NR != 51 || end > 1e-9 || end < -1e-9 }' spin/$stepper.csv
done

# a step from v to v - g h moves by that h: g^2 h^2/2 = 5 mJ of 1 kg a step are lost. One
# of two bodies is awake, and no force makes the other one's energy differ
record fall --steppers step,ah
for stepper in step ah; do
  check "a fall loses what its step says, $stepper" awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["bodies"] != 2 || $at["awake"] != 1 { bad = 1 }
    { off = $at["energy_unexplained_J"] + 0.005 * (NR - 1) }
    off > 1e-9 || off < -1e-9 { bad = 1 }
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

# the head, by recording.h: drawn at 80, clock_reads at 88, threads_left_out at 140
threads_of() { od -A n -t d4 -j 140 -N 4 "$1" | tr -d ' '; }
record threads --steppers step,ah
record clock --steppers step,ah
for stepper in step ah; do
  od -A n -t d8 -j 80 -N 16 clock/data/$stepper.rec >head
  check "22 reads of the clock, none drawn, $stepper" \
    awk '{ exit !($1 == 0 && $2 == 22) }' head
  # the first is a tenth of a millisecond into the year 2000
  check "the time is told twice, $stepper" \
    grep -qx '946684800 946684800' clock/data/$stepper.out
  check "no threads, $stepper" [ "$(threads_of clock/data/$stepper.rec)" = 0 ]
  check "threads, $stepper" [ "$(threads_of threads/data/$stepper.rec)" = 1 ]
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

# balls of 0.1 m and 0.3 m at a distance of 1 m along x. The view is turned by 75 degrees
# and raised by 20, so that the metre is sqrt(1 - (cos 75 cos 20)^2) wide in it
record balls --steppers step
cp out balls/out
grep -o '<circle cx="[-0-9.]*" cy="[-0-9.]*" r="[0-9.]*"' balls/picture.svg |
  tr -c '0-9.\n-' ' ' >circles
check "the picture has balls of their size" awk '
  { x[NR] = $1; y[NR] = $2; r[NR] = $3 }
  END {
    turn = 75 * atan2(0, -1) / 180; rise = 20 * atan2(0, -1) / 180
    seen = sqrt(1 - (cos(turn) * cos(rise)) ^ 2)
    metre = sqrt((x[2] - x[1]) ^ 2 + (y[2] - y[1]) ^ 2) / seen
    if (r[1] > r[2]) { small = r[2]; large = r[1] } else { small = r[1]; large = r[2] }
    # both are written to 0.1
    exit !(NR == 2 && (small - 0.1 * metre) ^ 2 < 0.04 &&
      (large - 0.3 * metre) ^ 2 < 0.04)
  }' circles

# three faces of each box are seen, those of the last body from furthest away: these are
# painted first. A body's hue is 137 times its number
record boxes --steppers step
sed -n 's/.*<polygon.* fill="hsl(\([0-9]*\),.*/\1/p' boxes/picture.svg >hues
check "boxes are painted from far to near" awk '
  $1 != 137 * (100 - int((NR - 1) / 3)) % 360 { bad = 1 }
  END { exit bad || NR != 300 }' hues

# ---- curves, by a gnuplot that writes down what it is told ----

mkdir tools
printf '#!/bin/sh\ncat >"%s/told"\n' "$work" >tools/gnuplot
chmod +x tools/gnuplot
PATH=$work/tools:$PATH "$command" compare --output many --no-repeat \
  --steppers step,quick,quick:1,quick:2,quick:5,quick:50,ah,ap,st,gap \
  -- "$program" spin >out 2>err </dev/null
sed '/^plot /,/^unset output/!d; /^unset output/q' told |
  sed -n "s/.* with lines .* lc rgb '\(#[0-9a-f]*\)' title .*/\1/p" >colours
rm tools/gnuplot
check "eight colours, then the first again" awk '
  NR <= 8 && ($1 in is) { bad = 1 }
  NR > 8 && $1 != colour[NR - 8] { bad = 1 }
  { is[$1] = 1; colour[NR] = $1 }
  END { exit bad || NR != 10 }' colours

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

# ---- the film, by a browser and an ffmpeg that write down what they are told ----

cat >tools/chromium <<'BROWSER'
#!/bin/sh
for word; do last=$word; done
echo "$last" >"$TOLD/page"
[ -e "$TOLD/blank" ] || cat <<'PAGE'
<html>
<p>film 12.5</p>
<img src="data:image/jpeg;base64,aGVsbG8g">
<img src="data:image/jpeg;base64,d29ybGQ=">
</html>
PAGE
BROWSER
cat >tools/ffmpeg <<'FFMPEG'
#!/bin/sh
for word; do last=$word; done
echo "$*" >"$TOLD/words"
cat >"$last"
[ ! -e "$TOLD/broken" ]
FFMPEG
chmod +x tools/chromium tools/ffmpeg
mkdir "a folder"
movie() {
  TOLD=$work PATH=$work/tools:$PATH "$command" compare \
    --output "a folder/of films" --movie --from one >out 2>err </dev/null && status=0 ||
    status=$?
}
film="a folder/of films/replay.mp4"
movie
check "a film: status 0" status_is 0
check "a film: of the pictures on the page" [ "$(cat "$film")" = 'hello world' ]
check "a film: at the page's rate" grep -q -e '-framerate 12.5 ' words
check "a film: the page, its name as a page's" \
  grep -q '^file:///.*/a%20folder/of%20films/report.html#film$' page
touch broken
movie
check "no film: status 1" status_is 1
check "no film: said" err_has 'replay.mp4: ffmpeg could not make it'
check "no film: none is left" [ ! -e "$film" ]
touch blank
movie
check "no pictures: said" err_has 'replay.mp4: the page drew no picture'

finish
