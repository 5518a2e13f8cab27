#!/bin/sh
# `ode-mlcp scene`: its options, what it refuses, the files it writes.
top=$(cd "$(dirname "$0")/.." && pwd)
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
for option in list h time gravity spring damper restitution converge \
    csv json; do
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
refused "a restitution above 1" "restitution: '2'" two-carts --restitution 2
refused "a sweep at one step" "--converge" pendulum --converge --h 0.1
refused "a step too small" "h: '1e-300'" pendulum --h 1e-300
refused "no folder" "cannot write 'none/a.csv'" pendulum --csv none/a.csv

scene pendulum --json --time 1 --csv a.csv
check "a run: status 0" status_is 0
check "a run: nothing on stderr" err_is_empty
for key in scene scheme h time final_position final_velocity events \
    energy_start energy_end infeasibility_max infeasibility_late \
    residual_worst unsolved error; do
  check "JSON: $key" grep -q "^  \"$key\": " out
done
check "JSON: the scheme that ran" grep -q '"scheme": "ah"' out
check "CSV: a row a step" n_lines 12 a.csv
# what is said of a run is what its CSV file has, in words and as JSON
cat >said.py <<'CHECK'
import csv, json
told = json.load(open('told.json'))
rows = list(csv.reader(open('told.csv')))
names, rows = rows[0], [[float(x) for x in row] for row in rows[1:]]
at = {name: i for i, name in enumerate(names)}
last, n = rows[-1], len(told['final_position'])
assert last[3:3 + n] == told['final_position'], last
assert last[3 + n:3 + n + len(told['final_velocity'])] == told['final_velocity'], last
assert names[3:3 + n] == told['coordinates'], names
assert told['steps'] == len(rows) - 1 and told['time'] == last[0]
assert told['energy_start'] == rows[0][1] and told['energy_end'] == last[1]
assert told['infeasibility_max'] == max(row[2] for row in rows), told
open('notes', 'a').write('note\n' if 'note' in told else 'none\n')
CHECK
if command -v python3 >/dev/null; then
  for name in $names; do
    scene "$name" --time 0.05
    cp out told.text
    scene "$name" --time 0.05 --json --csv told.csv
    cp out told.json
    check "said of $name" python3 said.py
    check "said of $name in words" python3 "$top/tests/in_words.py" told.json told.text
  done
  check "some have a note" grep -q note notes
  check "some have none" grep -q none notes
fi
scene pendulum --json --time 1
if command -v python3 >/dev/null; then
  check "JSON is valid" python3 -m json.tool out /dev/null
fi

scene pendulum --converge --json --csv b.csv
check "a sweep: status 0" status_is 0
check "a sweep: a row a step size" n_lines 6 b.csv
check "a sweep: ratios" sh -c "grep -A1 '\"ratios\": {' out | grep -q '\"position\": '"

finish
