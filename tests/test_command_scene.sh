#!/bin/sh
# `ode-mlcp scene`: its options, what it refuses, the files it writes.
. "$(dirname "$0")/command_checks.sh"

scene() { ode_mlcp scene "$@"; }

# refused WHAT PATTERN ARG...
refused() {
  what=$1 pattern=$2
  shift 2
  scene "$@"
  check_refusal "$what" "^ode-mlcp scene: .*$pattern"
  check "$what: nothing printed" [ ! -s out ]
}

scene --list
check "--list: status 0" status_is 0
check "--list: pendulum" grep -q '^pendulum ' out
for name in $(cut -d ' ' -f 1 out); do names="$names $name"; done

scene --help
check "--help: status 0" status_is 0
for option in list h time gravity spring damper restitution heading converge \
    csv plot json; do
  check "--help: --$option" grep -q -e "--$option" out
done

refused "no scene" "name one scene"
refused "two scenes" "name one scene" pendulum pendulum
refused "an unknown scene" "no scene 'fly'" fly
refused "an unknown option" "faster" pendulum --faster
refused "an option without its value" "--h" pendulum --h
refused "no step" "h: '0'" pendulum --h 0
refused "a negative step" "h: '-1'" pendulum --h -1
refused "a step that is no number" "--h: 'nan'" pendulum --h nan
refused "a step with a tail" "--h: '0.1x'" pendulum --h 0.1x
refused "negative time" "time: '-1'" pendulum --time -1
refused "endless time" "--time: 'inf'" pendulum --time inf
refused "negative gravity" "gravity: '-9'" pendulum --gravity -9
refused "too many steps" "steps" pendulum --time 1e9
refused "a bad scheme" "--scheme: 'xy'" pendulum --scheme xy
refused "odd edges" "--edges: '5'" pendulum --edges 5
refused "a spring it has not" "--spring" pendulum --spring 5
refused "springs where there are none" "scheme: 'ah' knows no springs" \
  two-carts --scheme ah
refused "a restitution above 1" "restitution: '2'" bouncing-ball --restitution 2
refused "a sweep at one step" "--converge" pendulum --converge --h 0.1
refused "no folder" "cannot write 'none/a.csv'" pendulum --csv none/a.csv
refused "a picture of another kind" "'a.gif' ends with none of" \
  pendulum --plot a.gif

scene pendulum --json --time 1 --csv a.csv --plot a.png
check "a run: status 0" status_is 0
check "a run: nothing on stderr" err_is_empty
for key in scene scheme h time final_position final_velocity events \
    energy_start energy_end infeasibility_max infeasibility_late \
    residual_worst unsolved error; do
  check "JSON: $key" grep -q "^  \"$key\": " out
done
check "JSON: the scheme that ran" grep -q '"scheme": "ah"' out
check "CSV: a row a step" n_lines 12 a.csv
check "a picture" [ -s a.png ]
scene pendulum --time 0.5 --plot a.svg
check "a picture as SVG" grep -q '</svg>' a.svg
# what gnuplot is told to draw: a ball of 0.1 m, first 1 m above the ground, as the
# circle that it is
mkdir tools
printf '#!/bin/sh\ncat >"%s/told"\n' "$work" >tools/gnuplot
chmod +x tools/gnuplot
before=$PATH
PATH=$work/tools:$PATH
scene bouncing-ball --time 0.5 --plot c.svg
PATH=$before
sed '1,/^\$picture0 /d; /^EOD/,$d' told | sed '1,/^$/d; /^$/,$d' >outline
check "the outline of a ball" awk '
  { x = $1; y = $2 - 1.1; off = x * x + y * y - 0.01 }
  off > 1e-7 || off < -1e-7 { bad = 1 }
  { if (x > right) right = x; if (x < left) left = x }
  { if (y > top) top = y; if (y < bottom) bottom = y }
  # points lie close to each other: one is near each end
  END { exit bad || NR < 20 || right < 0.099 || left > -0.099 || top < 0.099 ||
    bottom > -0.099 }' outline
scene pendulum --json --time 1
if command -v python3 >/dev/null; then
  check "JSON is valid" python3 -m json.tool out /dev/null
fi

scene pendulum --converge --json --csv b.csv --plot b.png
check "a sweep: status 0" status_is 0
check "a sweep: a row a step size" n_lines 6 b.csv
check "a sweep: a picture" [ -s b.png ]
check "a sweep: ratios" sh -c "grep -A1 '\"ratios\": {' out | grep -q '\"position\": '"

finish
