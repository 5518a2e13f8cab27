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
# drawn SCENE ARG...: what gnuplot is told of it
drawn() {
  rm -f told
  PATH=$work/tools:$PATH
  scene "$@" --plot c.svg
  PATH=$before
}
drawn bouncing-ball --time 0.5
sed '1,/^\$picture0 /d; /^EOD/,$d' told | sed '1,/^$/d; /^$/,$d' >outline
check "the outline of a ball" awk '
  { x = $1; y = $2 - 1.1; off = x * x + y * y - 0.01 }
  off > 1e-7 || off < -1e-7 { bad = 1 }
  { if (x > right) right = x; if (x < left) left = x }
  { if (y > top) top = y; if (y < bottom) bottom = y }
  # points lie close to each other: one is near each end
  END { exit bad || NR < 20 || right < 0.099 || left > -0.099 || top < 0.099 ||
    bottom > -0.099 }' outline
# Of every scene four panels. A curve has the values that the CSV file has under its name;
# all of a panel's axes are told anew.
cat >panels.awk <<'CHECK'
function wrong(what) { print "  " what; bad = 1 }
# the column of the CSV file that a curve is of; that of a first of two bodies ends in 1
function column_of(name, panel) {
  if (panel != "position" && panel != "velocity") return at[panel]
  name = (panel == "velocity" ? "v_" : "") name
  return at[name] ? at[name] : at[name "1"]
}
function compare(place, column, what,   k) {
  if (!column) { wrong("no column of " what); return }
  for (k = 1; k <= rows; k++)
    if ((data[k, place] - csv[k, column]) ^ 2 > 1e-16 * (1 + csv[k, column] ^ 2)) {
      wrong(what " at " data[k, 1] ": " data[k, place] ", not " csv[k, column])
      return
    }
  curves++
}
function panel(   k, n, part, word, unit) {
  panels++
  if (panels == 1) {
    if (x_label !~ /^'[xyz], m'$/ || y_label !~ /^'[xyz], m'$/) wrong(x_label y_label)
  } else {
    if (x_label != "'time, s'") wrong("time is " x_label)
    split(title, word, "[' (]+")
    if (index(y_label, "'" word[2]) != 1) wrong(title " over " y_label)
    # the heads of two lines: a title of a whole panel, " of the first" behind it
    n = split(plot, part, ", \\$|plot \\$")
    for (k = 2; k <= n; k++) {
      split(part[k], word, "[ :]+")
      match(part[k], /title '[^']*'/)
      name = substr(part[k], RSTART + 7, RLENGTH - 8)
      if (word[1] != "run0") continue
      what = y_label
      gsub(/^'|,.*/, "", what)
      angle = sub(/ \(right\)/, "", name)
      if (angle != (part[k] ~ /axes x1y2/)) wrong(part[k])
      if (angle && (y2_label !~ /angle|angular/ || !y2tics)) wrong("no axis of " name)
      if (what == "infeasibility") {
        if (!logarithmic) wrong("an infeasibility by its size")
        compare(3, at[what], what)
      } else if (what == "energy") {
        compare(2, at[what], what)
      } else if (part[k] ~ /using 1:10 /) { # what the scene watches beside them
        column = at[what]
        gsub(/ /, "_", what)
        compare(10, column ? column : at[what], what)
      } else if (what == "position" || what == "velocity") {
        unit = (name ~ /^r[xyz]/ ? "rad" : "m") (what == "velocity" ? "/s" : "")
        if (y_label != "'" what ", " unit "'") wrong(name " over " y_label)
        match(part[k], /using 1:[0-9]+/)
        compare(substr(part[k], RSTART + 8, RLENGTH - 8) + 0, column_of(name, what),
          what " " name)
      }
      if (what != "infeasibility" && logarithmic) wrong(what " by its size")
    }
  }
  x_label = y_label = title = y2_label = y2tics = ""
}
FILENAME ~ /csv$/ {
  n = split($0, part, ",")
  for (k = 1; k <= n; k++)
    if (FNR == 1) at[part[k]] = k
    else csv[FNR - 1, k] = part[k]
  next
}
/<< EOD/ { block = $1; next }
/^EOD/ { block = ""; next }
block == "$run0" { for (k = 1; k <= NF; k++) data[rows + 1, k] = $k; rows++ }
block == "$ways" && NF == 2 { ways++ }
block != "" { next }
/^set xlabel/ { x_label = substr($0, 12) }
/^set ylabel/ { y_label = substr($0, 12) }
/^set y2label/ { y2_label = $0 }
/^set y2tics/ { y2tics = 1 }
/^set title/ { title = substr($0, 11); if (!panels) pictures = $0 }
/^set logscale y/ { logarithmic = 1 }
/^unset logscale y/ { logarithmic = 0 }
/^set xrange \[0/ { ranges = ranges $3 }
/^plot/ { plot = ""; whole = 1 }
whole { plot = plot $0; sub(/ \\$/, "", plot); if ($0 !~ /\\$/) { whole = 0; panel() } }
END {
  if (panels != 4) wrong(panels " panels")
  if (rows != steps + 1 && rows < 3000) wrong(rows " rows of " steps + 1)
  if (curves < 2) wrong(curves " curves")
  if (pictures !~ until) wrong(pictures)
  if (ranges != range) wrong("times " ranges)
  exit bad
}
CHECK
# panels WHAT UNTIL RANGE SCENE ARG...: its outlines end so, curves are of that range
panels() {
  what=$1 until=$2 range=$3
  shift 3
  drawn "$@" --csv c.csv
  check "panels of $what" awk -v until="to $until s" -v range="$range" \
    -v steps=$(($(wc -l <c.csv) - 2)) -f panels.awk c.csv told
}
for name in $names; do
  panels "$name" "[0-9.e-]*" "" "$name" --time 0.02
done
# what is said of a run is what its CSV file has, in words and as JSON
cat >said.py <<'CHECK'
import csv, json, re, sys
told = json.load(open('told.json'))
words = open('told.text').read()
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
near = lambda a, b: abs(float(a) - b) <= 1e-3 * abs(b) + 1e-12
def found(pattern):
    match = re.search(pattern, words, re.M)
    assert match, (pattern, words)
    return match.groups()
number = r'(-?[0-9.]+(?:e[-+]?[0-9]+)?)'
for values, title in (last[3:], 'position'), (last[3 + n:], 'velocity'):
    line, = found('^final %s (.*)$' % title)
    pairs = re.findall('([a-z]+[0-9]*) ' + number, line)
    assert [p[0] for p in pairs] == told['coordinates'][:12], line
    assert all(near(p[1], x) for p, x in zip(pairs, values)), (line, values)
start, end = found('^energy %s J at the start, %s J' % (number, number))
assert near(start, told['energy_start']) and near(end, told['energy_end'])
most, late = found('^infeasibility %s .* at most, %s in' % (number, number))
assert near(most, told['infeasibility_max']) and near(late, told['infeasibility_late'])
worst, unsolved = found('^residual %s at worst, ([0-9]+) unsolved' % number)
assert near(worst, told['residual_worst']) and int(unsolved) == told['unsolved']
for name, error in told.get('errors', {}).items():
    if error is None:
        assert 'error: %s ' % name not in words, name
    else:
        assert near(found('^error: %s %s ' % (re.escape(name), number))[0], error), name
line = re.search('^events: (.*)$', words, re.M)
line = line.group(1) if line else ''
more = re.search(' and ([0-9]+) more$', line)
assert max(len(told['events']) - 24, 0) == int(more.group(1) if more else 0), line
events = re.findall(number + ' [a-z]', re.sub(' and .*', '', line))
assert len(events) == min(24, len(told['events'])), words
assert all(near(t, e['time']) for t, e in zip(events, told['events']))
# a note is the last line, and is nowhere else
lines = words.rstrip('\n').split('\n')
if 'note' in told:
    assert told['note'] and lines[-1] == told['note'], told
else:
    known = 'scheme|final|energy|infeasibility|residual|error|events'
    assert all(re.match(known, line) for line in lines[1:]), lines
open('notes', 'a').write('note\n' if 'note' in told else 'none\n')
CHECK
if command -v python3 >/dev/null; then
  for name in $names; do
    scene "$name" --time 0.05
    cp out told.text
    scene "$name" --time 0.05 --json --csv told.csv
    cp out told.json
    check "said of $name" python3 said.py
  done
  check "some have a note" grep -q note notes
  check "some have none" grep -q none notes
fi
# outlines up to 2 s; of more than twenty times as much five times as much is drawn
panels "a second" 1 "" pendulum --time 1
panels "three" 2 "" pendulum --time 3
panels "forty" 2 "" pendulum --time 40
panels "a minute" 2 "[0:10]" pendulum --time 60

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
