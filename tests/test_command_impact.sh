#!/bin/sh
# `ode-mlcp impact`: what it takes and refuses, what it says of a collision and of its
# outcomes, its files, and how it is stopped.
top=$(cd "$(dirname "$0")/.." && pwd)
. "$(dirname "$0")/command_checks.sh"

impact() { ode_mlcp impact "$@"; }

# refused WHAT PATTERN ARG...: status 2 and one line that says so
refused() {
  what=$1 pattern=$2
  shift 2
  impact "$@"
  check_refusal "$what" "$pattern"
}

# number KEY: of the JSON that was printed
number() { sed -n "s/^  \"$1\": \([^,]*\).*/\1/p" out; }
number_is() {
  [ "$(number "$1")" = "$2" ] || { echo "  $1 is $(number "$1"), not $2"; return 1; }
}
is_json() { ! command -v python3 >/dev/null || python3 -m json.tool "$1" parsed; }

# ---- the examples ----

for name in rocking-block compass-gait box-wall ramone disk-stack; do
  for select in first random; do
    impact $name --samples 300 --select $select --json
    check "$name, $select: JSON" is_json out
    check "$name, $select: status" \
      status_is "$(($(number unfinished) > $(number samples) / 100))"
  done
done
impact compass-gait --samples 20 --select first --steps 50
check "said: its options" grep -q '^select: first' out
check "said: simultaneous impacts" [ "$(grep -c '^  - {vnA' out)" = 3 ]
impact rocking-block --samples 2000 --json
for pair in samples:2000 finished:2000 unfinished:0 incomplete_lcps:0 failed:0 seed:1 \
    simultaneous_missed:0 simultaneous_whole:true sequential_missed:2; do
  # uniform caps let both corners push: sequences are only come near to
  check "the block: $pair" number_is "${pair%:*}" "${pair#*:}"
done
check "the block: LCPs a sample" \
  awk -v n="$(number lcps_per_sample)" 'BEGIN { exit !(n > 2.37 && n < 2.57) }'
# one impact of either contact is over here, and a simultaneous one
impact compass-gait --samples 300 --json
check "the compass: sequences are met" number_is sequential_missed 0
impact disk-stack --samples 3 --steps 0 --json
check "no outcome: status 1" status_is 1
check "no outcome: JSON" is_json out

# ---- wrong use ----

refused "no name" 'name one example'
refused "an unknown name" "neither an example (rocking-block" no-such-example
refused "two names" "name one example" ramone extra
refused "an unknown option" "there is no option --no-such" ramone --no-such
refused "an unknown letter" "there is no option -x" ramone -x
refused "no value" "\-\-seed needs a value" ramone --seed
refused "a value too many" "\-\-json takes no value" ramone --json=2
while read -r option value; do
  refused "$option $value" "$option: '$value' is not" rocking-block "$option" "$value"
  check "$option $value: nothing else" [ ! -s out ]
done <<OPTIONS
--samples 0
--samples many
--samples -5
--seed 1.5
--h 0
--h nan
--steps -1
--select best
--threads 0
--range 5:5
--range 7
--range 3:x
--tolerance 0
OPTIONS
impact --help
check "help: status 0" status_is 0
check "help" grep -q '^Usage: ode-mlcp impact' out

# ---- folders ----

# rows FILE: without what names the set
rows() { sed 1,2d "$1"; }
impact rocking-block --samples 500 --csv named.csv
cp -r "$build/lib/impact/rocking-block" block
for form in array coordinate; do
  impact block --samples 500 --csv folder.csv
  check "a folder, $form: the same set" [ "$(rows folder.csv)" = "$(rows named.csv)" ]
  for file in block/*.mtx; do
    awk '/^%%/ { print "%%MatrixMarket matrix coordinate real general"; next }
      !rows { rows = $1; columns = $2; next }
      { if ($1) entry[n] = $1; n++ }
      END { for (k in entry) count++
        print rows, columns, count + 0
        for (k in entry) print k % rows + 1, int(k / rows) + 1, entry[k] }' \
      "$file" >entries
    mv entries "$file"
  done
done
# a line a folder that is wrong: its file, what is said, and its numbers
while IFS='|' read -r file said numbers; do
  rm -rf block
  cp -r "$build/lib/impact/rocking-block" block
  # shellcheck disable=SC2086 # numbers
  array "block/$file.mtx" $numbers
  refused "a wrong $file: $said" "$said" block
done <<FILES
M|2 x 3, expected is n x n|2 3 1 0 0 1 0 0
M|M is not positive definite|3 3 1 0 0 0 1 0 0 0 -1
Jn|Jn.mtx:2: the matrix is 2 x 2, expected is any x 3|2 2 1 0 0 1
Jt|3 x 3, expected is 2 x 3 or 4 x 3|3 3 1 0 0 0 1 0 0 0 1
mu|mu.mtx:2: the matrix is 3 x 1, expected is 2 x 1|3 1 1 1 1
mu|mu must be >= 0|2 1 1 -1
v|v.mtx:4: 'nan' is not a finite number|3 1 1 nan 1
v|v.mtx:4: the file ends where a number is expected|3 1 1 2
FILES
rm block/Jt.mtx
refused "no Jt" "Jt.mtx: No such file" block
rm -r block

# ---- ranges, ways, files ----

for select in first random; do
  set -- compass-gait --select $select --steps 30
  impact "$@" --samples 400 --threads 2 --csv whole.csv
  : >parts
  for range in 0:120 120:250 250:400; do
    impact "$@" --range $range --csv part.csv
    check "range $range, $select: status 0" status_is 0
    sed '1,/^sample,/d' part.csv >>parts
  done
  sed '1,/^sample,/d' whole.csv >whole
  check "ranges make up the whole, $select" cmp whole parts
done
impact rocking-block --samples 50 --csv-ways ways.csv
check "ways: one from each sample's start" \
  [ "$(grep -c '^[0-9]*,0,' ways.csv)" = 50 ]
check "ways: and on" [ "$(grep -c '^[0-9]' ways.csv)" -gt 100 ]
impact rocking-block --samples 9 --csv /no/such/folder/a.csv
check "no such folder: status 1" status_is 1
check "no such folder: said" err_has "/no/such/folder/a.csv': No such file"
(
  trap '' XFSZ
  ulimit -f 0
  exec "$command" impact rocking-block --samples 900 --csv full.csv
) 2>&1 | cat >said
check "a disk that is full: said" grep -q "cannot write 'full.csv'" said
check "a disk that is full: no part of a file" [ "$(echo full.csv*)" = 'full.csv*' ]
impact rocking-block --samples 9 --csv /dev/full
check "a full device: status 1" status_is 1
check "a full device: said" err_has /dev/full

# ---- what it says of the collision ----

# what was printed, on one line
one_line() {
  tr -s '\n ' ' ' <out
  echo
}
# point MASS SPEED [SLIP]: a mass point falls on the ground, or rises from it
write_point() {
  mkdir -p point
  while read -r name rows columns numbers; do
    # shellcheck disable=SC2086 # numbers
    array "point/$name.mtx" "$rows" "$columns" $numbers
  done <<FILES
M 2 2 $1 0 0 $1
Jn 1 2 0 1
Jt 1 2 1 0
mu 1 1 0.5
v 2 1 ${3:-1} $2
FILES
}
point() {
  write_point "$@"
  impact point --samples 20 --json
}
# The impulse 3 m stops it. Caps go beyond that, and scale with the mass.
caps_over() {
  one_line | sed -n "s/.*\"caps_up_to\": { \"A\": \([^ ]*\) }.*/\1 $1/p"
}
point 2 -3
caps_over 2 >caps
check "it approaches" grep -q '"approaches": true' out
for mass in 0.002 5e4; do
  point $mass -3
  caps_over $mass >>caps
done
check "caps up to the same over the mass, above what stops it" awk '
  { share = $1 / $2; if (NR == 1) first = share }
  share < 3 || (share - first) ^ 2 > 1e-20 { bad = 1 }
  END { exit bad || NR != 3 }' caps
point 2 3
check "what rises does not approach" grep -q '"approaches": false' out
# a folder's own defaults, which options go before
printf '# of a point\nh 2.5\n\nsteps 3\nsamples 7\n' >point/options.txt
impact point --steps 4 --json
check "options.txt: h" grep -q '"h": 2.5,' out
check "options.txt: samples" grep -q '"samples": 7,' out
check "an option goes before" grep -q '"steps": 4,' out
for line in "h 0" "h" "steps -1" "sample 3" "samples 3 4"; do
  printf '# of a point\n%s\n' "$line" >point/options.txt
  refused "options.txt: $line" "point/options.txt:2: expected is h X" point
done
rm point/options.txt
rm -r point

# ---- what is said of a set is what its outcomes say ----

# of the outcomes in all.csv, which comes first
cat >outcomes.awk <<'CHECK'
function is(value, expected, limit) {
  if (value !~ /^[-0-9]/ || (value - expected) ^ 2 > limit ^ 2) {
    print "  " FILENAME ": " value " is not " expected ": " $0
    bad = 1
  }
  compared++
}
/^# done/ { for (i = 2; i < NF; i += 2) count[$i] = $(i + 1) }
/^#/ { next }
{ gsub(/[,"\[\]{}:;]/, " ") }
/^sample,?/ && FILENAME == "all.csv" {
  for (i = 1; i <= NF; i++) name[i] = $i
  next
}
FILENAME == "all.csv" {
  n++
  for (i = 3; i <= NF && name[i] ~ /^v[nt]/; i++) {
    rows = i; row = name[i]; v[row, n] = $i
    sum[row] += $i; square[row] += $i * $i
    if (n == 1 || $i < low[row]) low[row] = $i
    if (n == 1 || $i > high[row]) high[row] = $i
  }
  next
}
{ key = $1; sub(/^incomplete_lcps$/, "incomplete", key)
  if (key == "samples") key = "done" }
CHECK
# What it says of other laws is from the outcome that is nearest, by the velocity that differs most.
cat outcomes.awk - >said.awk <<'CHECK'
function close_law(   k, i, off, d, nearest) {
  nearest = 1e300
  for (k = 1; k <= n; k++) {
    off = 0
    for (i = 3; i <= rows; i++) {
      d = law[name[i]] - v[name[i], k]
      if (d < 0) d = -d
      if (d > off) off = d
    }
    if (off < nearest) nearest = off
  }
  is(distance, nearest, 1e-12 * wt)
  distance = ""
}
FNR == 1 { per = count["lcps"] / count["done"] }
{
  if (key in count && section != "sequential") is($2, count[key], 0)
  if (key == "lcps_per_sample") is($2, per, 1e-9)
  if (key == "solutions_per_lcp") is($2, count["solutions"] / count["lcps"], 1e-9)
  if (key == "unfinished") is($2, count["done"] - count["finished"], 0)
  if (key == "approaches" && $2 != "true") bad = 1
  if (/^  [a-z]/) section = $1
  if (key == "extents" || key == "means" || key == "simultaneous" || key == "sequential") section = key
  if (section == "extents" && /v[nt]/) {
    is($2, low[$1], 0)
    is($3, high[$1], 0)
  }
  if (section == "means" && /v[nt]/) is($2, sum[$1] / n, 1e-12 * wt)
  if (section == "simultaneous" || section == "sequential") {
    if (NF == 2 && $1 ~ /^v[nt]/) law[$1] = $2
    if ($1 == "distance") { distance = $2; laws++; close_law() }
  }
}
END { exit bad || n < 40 || compared < 24 || laws < 3 }
CHECK
# told_as WHAT WT ARG..: WT bounds tangent velocities, m/s
told_as() {
  what=$1 wt=$2
  shift 2
  impact "$@" --csv all.csv
  mv out text
  impact "$@" --json
  check "$what: said as its outcomes are" awk -v wt="$wt" -f said.awk all.csv out
  check "$what: in words" python3 "$top/tests/in_words.py" out text microseconds_per_lcp
}
make_beam beam
mkdir plate
# 2 K = 8.7 J; 1/2 + 1/4/0.2 and 1/2 + 1/0.2 kg^-1
for select in first random; do
  told_as "a beam, $select" 6.917369 beam --samples 60 --select $select
done
array plate/M.mtx 3 3 2 0 0 0 2 0 0 0 2
array plate/Jn.mtx 3 3 0.1 0 -0.1 0 0.1 0 1 1 1
array plate/Jt.mtx 6 3 1 0 1 0 1 0 0 1 0 1 0 1 0 0 0 0 0 0
array plate/mu.mtx 3 1 0.5 0.5 0.5
array plate/v.mtx 3 1 900 -700 -1000
# 2 K = 4.6 MJ; 1.01/2 kg^-1, and of both tangents 1
told_as "a plate" 2144.761 plate --samples 200

# the options are in the head of a CSV file
impact plate --range 2:5 --seed 7 --steps 20 --select first --csv head.csv
check "a head: options" grep -q \
  '^# seed 7 first 2 samples 3 .* steps 20 .* select first$' head.csv

# ---- friction without limit ----

mkdir rod
array rod/M.mtx 3 3 1 0 0 0 1 0 0 0 0.1
array rod/Jn.mtx 2 3 0 0 1 1 -0.5 0.5
array rod/Jt.mtx 2 3 1 1 0 0 0.4 0.4
array rod/v.mtx 3 1 1 -1 0.3
for mu in 1e300 inf 0.5; do
  array rod/mu.mtx 2 1 $mu $mu
  impact rod --samples 200 --csv $mu.csv
  check "mu $mu: status 0" status_is 0
done
grep -v '^#' inf.csv >of-inf
grep -v '^#' 1e300.csv >of-1e300
grep -v '^#' 0.5.csv >of-0.5
check "inf is friction without limit" cmp -s of-inf of-1e300
check "0.5 is not" test "$(cmp -s of-inf of-0.5; echo $?)" = 1
array rod/mu.mtx 2 1 nan 0.5
refused "mu nan" "'nan' is not a finite number" rod
array rod/v.mtx 3 1 inf 0 0
array rod/mu.mtx 2 1 1 1
refused "v inf" "'inf' is not a finite number" rod

# ---- stopped ----

# While a collision is made ready there is nothing to write: a signal ends that at once.
# One of 800 velocities that each contact moves takes many seconds.
mkdir large
awk 'function put(name, r, c, kind,   i, j, file) {
    file = "large/" name ".mtx"
    print "%%MatrixMarket matrix array real general\n" r, c >file
    for (j = 1; j <= c; j++)
      for (i = 1; i <= r; i++)
        print kind == "one" ? (i == j) : kind == "waves" \
          ? sin(i * i + j * j * i + (name == "Jt") * i * j) : kind >file
    close(file)
  }
  BEGIN {
    put("M", 800, 800, "one")
    put("Jn", 100, 800, "waves")
    put("Jt", 100, 800, "waves")
    put("mu", 100, 1, 0.5)
    put("v", 800, 1, -1)
  }'
has_taken() {
  [ "$(awk '{ print $14 }' /proc/$runner/stat)" -gt "$1" ]
}
ended() { ! kill -0 $runner 2>/dev/null; }
"$command" impact large --samples 5 --csv left.csv >said 2>&1 &
runner=$!
# a second of the processor: the files, of megabytes, are read long before
check "while it is made ready it is at work" wait_for has_taken 100
kill -TERM $runner
tries=0
until ended || [ $tries -ge 10 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
check "a signal then: it ends within a second" [ $tries -lt 10 ]
status=0
wait $runner || status=$?
check "by the signal" status_is 143
check "nothing is said or written" \
  [ "$(wc -c <said) $(find . -name 'left.csv*' | wc -l)" = "0 0" ]
rm -r large

# how far it is, as a terminal shows it: a line that renews itself, ended before a message
if command -v python3 >/dev/null; then
  cat >terminal.py <<'CHECK'
import os, pty, re, signal, sys
signal.alarm(120)
child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
said, asked = b"", False
line = re.compile(rb"\rimpact: (\d+) of (\d+) samples \((\d+) %\), about (\d+) s left")
while True:
    try:
        part = os.read(terminal, 1024)
    except OSError:
        break
    if not part:
        break
    said += part
    if not asked and len(line.findall(said)) >= 2:
        os.kill(child, signal.SIGINT)
        asked = True
os.waitpid(child, 0)
told = [[int(x) for x in found] for found in line.findall(said)]
assert told[0][0] < told[1][0] and all(n[1] == 10**7 for n in told), said
assert all(n[2] == round(100 * n[0] / n[1]) for n in told), told
after = said[[m.end() for m in line.finditer(said)][-1]:]
assert re.match(rb" *\r\node-mlcp impact: interrupted", after), said
CHECK
  check "a terminal sees how far it is" python3 terminal.py "$command" impact \
    disk-stack --samples 10000000 --threads 1
fi

# interrupted, it says what it has (perl: a shell starts what runs behind it deaf to SIGINT)
perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$command" impact disk-stack \
  --samples 1000000 --threads 1 --json >out 2>err &
runner=$!
hears() { # itself, no longer the shell it is a copy of
  ! cmp -s /proc/$runner/comm /proc/$$/comm &&
    sed -n 's/^SigCgt:.*\(.\)$/\1/p' /proc/$runner/status | grep -q '[2367abef]'
}
check "interrupted: it listens" wait_for hears
kill -INT $runner
status=0
wait $runner || status=$?
check "interrupted: status 1" status_is 1
check "interrupted: said" err_has interrupted
check "interrupted: in JSON" number_is interrupted true
check "interrupted: JSON" is_json out

finish
