#!/bin/sh
# `ode-mlcp impact --reduce`: parts merge to the bytes of the whole, runs go on
# from their file, what does not fit is refused.
. "$(dirname "$0")/command_checks.sh"

impact() { ode_mlcp impact "$@"; }

# refused WHAT PATTERN ARG...: status 2 and one line that says so
refused() {
  what=$1 pattern=$2
  shift 2
  impact "$@"
  check_refusal "$what" "$pattern"
}

smaller_than() { [ "$(wc -c <"$2")" -lt "$1" ]; }

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
impact point --samples 20
check "and that is said" grep -q '^nothing approaches' out
# Good and Turing: outcomes that came once each are as likely as all that were not seen
point 2 -3
impact point --samples 1
check "of one sample none is seen" grep -q 'about 0.0000 of the outcomes' out
impact point --samples 20
check "of one outcome all" grep -q 'about 1.0000 of the outcomes' out
# It ends with (vn, vt) = (0, SLIP - 0.5 SPEED) where that slips on, of any mass: in a
# direction (x, y) it reaches as far as y vt.
for case in "2 -4 3 1" "0.01 -0.2 5 4.9" "3e3 -4 -3 -1"; do
  # shellcheck disable=SC2086 # numbers
  set -- $case
  write_point $1 $2 $3
  impact point --samples 20 --reduce part --json
  one_line | sed 's/.*"support": \[ \([^a-z]*\) \].*/\1/; s/\], /\n/g' |
    tr -d '[],' >support
  check "a point of $1 kg: how far outcomes reach" awk -v vt="$4" '
    { off = ($3 - $2 * vt) / 16 / vt; seen[$1, $2]++ }
    off > 1e-9 || off < -1e-9 || NF != 3 { bad = 1 }
    seen[$1, $2] > 1 || ($1 != 16 && $1 != -16 && $2 != 16 && $2 != -16) { bad = 1 }
    END { exit bad || NR != 128 }' support
  rm part
done
rm -r point

# ---- a draft takes no other thing's place than a file's ----

impact rocking-block --samples 300 --reduce part
mkfifo pipe
impact --merge part --reduce pipe
check "a pipe is refused" status_is 1
check "a pipe is left" [ -p pipe ]
rm -f part pipe

# ---- any cut, any order, any number of threads ----

for case in "rocking-block random" "compass-gait all" "disk-stack random"; do
  set -- $case
  name=$1 select=$2 n=900
  # enough steps for every branch
  set -- --samples $n --select "$select" --steps 30
  impact "$name" "$@" --threads 2 --reduce whole
  check "$name: whole" status_is 0
  check "$name: below a megabyte" smaller_than 1000000 whole
  impact "$name" "$@" --range 0:1 --reduce a
  impact "$name" "$@" --range 300:900 --threads 3 \
    --reduce c
  impact "$name" "$@" --range 1:300 --threads 1 \
    --reduce b
  impact --merge c a b --reduce merged
  check "$name: merged" status_is 0
  check "$name: the same bytes" cmp -s whole merged
  impact --merge a b --reduce ab
  impact --merge ab c --reduce merged
  check "$name: merged in two steps" cmp -s whole merged
  for i in 0 1 2 3 4 5 6; do
    impact "$name" "$@" --shard $i/7 --reduce s$i
  done
  impact --merge s3 s0 s6 s2 s5 s1 s4 --reduce merged --json
  check "$name: shards" cmp -s whole merged
  one_line >line
  check "$name: JSON has ranges" grep -q '"ranges": \[ \[0, 900\] \]' line
  rm -f whole merged a b c ab s?
done

# ---- what is said of a set, and what a file has, is what its outcomes say ----

# of the outcomes in all.csv, which comes first
cat >outcomes.awk <<'CHECK'
function is(value, expected, limit) {
  if (value !~ /^[-0-9]/ || (value - expected) ^ 2 > limit ^ 2) {
    print "  " FILENAME ": " value " is not " expected ": " $0
    bad = 1
  }
  compared++
}
function cell(value, low, high, n,   at) {
  at = high > low ? int((value - low) / (high - low) * n) : 0
  return at < 0 ? 0 : at > n - 1 ? n - 1 : at
}
# cells of a plane, x from a to b, y from c to d
function occupied(row, other, a, b, c, d,   k, at, seen, cells) {
  for (k = 1; k <= n; k++) {
    at = cell(v[row, k], a, b, 64) " " cell(v[other, k], c, d, 64)
    cells += !(at in seen)
    seen[at]
  }
  return cells
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
# Each of two tangents is as wide as both: their rows are turned. Grids of planes go as
# far as the energy K lets outcomes: |J v|^2 <= 2 K J M^-1 J'.
cat outcomes.awk - >reduced.awk <<'CHECK'
key in count { is($2, count[key], 0) }
$1 ~ /^v[nt]/ { row = $1; other = $2 }
key == "lowest" { is($2, low[row], 0) }
key == "highest" { is($2, high[row], 0) }
key == "mean" { is($2, sum[row] / n, 1e-12 * wt) }
key == "deviation" { # a difference of squares: half of the digits
  is($2, sqrt(square[row] / n - (sum[row] / n) ^ 2), 1e-6 * wt)
}
key == "occupied" {
  if (other ~ /^vn/) is($2, occupied(row, other, 0, wn, 0, wn), 0)
  else is($2, occupied(row, other, 0, wn, -wt, wt), 0)
}
NF == 3 && /^ *-?[0-9]/ {
  reach = -1e300
  for (k = 1; k <= n; k++)
    if ($1 * v[row, k] + $2 * v[other, k] > reach)
      reach = $1 * v[row, k] + $2 * v[other, k]
  is($3, reach, 1e-12 * wt)
}
END { exit bad || n < 40 || compared < 150 }
CHECK
# Of a set itself grids go as far as its outcomes do. What it says of other laws is from
# the outcome that is nearest, by the velocity that differs most.
cat outcomes.awk - >said.awk <<'CHECK'
function share_seen(   k, i, at, times, alone) {
  for (k = 1; k <= n; k++) {
    at = ""
    for (i = 3; i <= rows; i++)
      at = at " " cell(v[name[i], k], low[name[i]], high[name[i]], 32)
    times[at]++
  }
  for (at in times) alone += times[at] == 1
  return 1 - alone / n
}
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
FNR == 1 { share = share_seen(); per = count["lcps"] / count["done"] }
FILENAME != "text" {
  if (key in count && section != "sequential") is($2, count[key], 0)
  if (key == "lcps_per_sample") is($2, per, 1e-9)
  if (key == "solutions_per_lcp") is($2, count["solutions"] / count["lcps"], 1e-9)
  if (key == "unfinished") is($2, count["done"] - count["finished"], 0)
  if (key == "share_seen") is($2, share, 1e-9)
  if (key == "approaches" && $2 != "true") bad = 1
  if (/^  [a-z]/) section = $1
  if (key == "extents" || key == "means" || key == "planes" || key == "simultaneous" ||
      key == "sequential") section = key
  if (section == "extents" && /v[nt]/) {
    is($2, low[$1], 0)
    is($3, high[$1], 0)
  }
  if (section == "means" && /v[nt]/) is($2, sum[$1] / n, 1e-12 * wt)
  if (section == "planes") {
    if ($1 ~ /^v[nt]/) {
      row = $1; other = $2; corners = 0
    } else if (key == "occupied") {
      is($2, occupied(row, other, low[row], high[row], low[other], high[other]), 0)
    } else if (NF == 2 && $1 ~ /^-?[0-9]/) {
      # corners are outcomes; each next one has none on its right
      found = 0
      for (k = 1; k <= n; k++) {
        found += v[row, k] == $1 && v[other, k] == $2
        right = corners ? (v[row, k] - x) * ($2 - y) - (v[other, k] - y) * ($1 - x) : 0
        if (right > 1e-9 * wt * wt) { print "  outside: " k; bad = 1 }
      }
      if (!found) { print "  no outcome: " $0; bad = 1 }
      x = $1; y = $2; corners++
    }
  }
  if (section == "simultaneous" || section == "sequential") {
    if (NF == 2 && $1 ~ /^v[nt]/) law[$1] = $2
    if ($1 == "distance") { distance = $2; laws++ }
    if ($1 == (section == "sequential" ? name[rows] : "distance")) close_law()
  }
}
FILENAME == "text" {
  if ($1 == "samples") {
    is($2, count["done"], 0); is($4, count["finished"], 0)
    is($6, count["done"] - count["finished"], 0); is($8, count["outcomes"], 0)
  }
  if (/LCPs a sample/) is($1, per, 5.1e-5)
  if (/solutions met/) is($1, count["solutions"] / count["lcps"], 5.1e-5)
  if (/distribution seen/)
    for (i = 2; i < NF; i++) if ($i == "about") is($(i + 1), share, 5.1e-5)
  if (NF == 4 && $1 ~ /^v[nt]/) {
    is($2, low[$1], 1e-6 * wt); is($3, sum[$1] / n, 1e-6 * wt)
    is($4, high[$1], 1e-6 * wt)
  }
}
END { exit bad || n < 40 || compared < 45 || laws < 3 || !corners }
CHECK
# told_as WHAT WN WT ARG..: widths of normals and tangents
told_as() {
  what=$1 wn=$2 wt=$3
  shift 3
  impact "$@" --csv all.csv
  mv out text
  impact "$@" --json
  check "$what: said as its outcomes are" awk -v wt="$wt" -f said.awk all.csv out text
  impact "$@" --reduce part --json
  check "$what: a file as its outcomes are" \
    awk -v wn="$wn" -v wt="$wt" -f reduced.awk all.csv out
  rm part
}
make_beam beam
mkdir plate
# 2 K = 8.7 J; 1/2 + 1/4/0.2 and 1/2 + 1/0.2 kg^-1
for select in first random all; do
  told_as "a beam, $select" 3.901922 6.917369 beam --samples 60 --select $select
done
array plate/M.mtx 3 3 2 0 0 0 2 0 0 0 2
array plate/Jn.mtx 3 3 0.1 0 -0.1 0 0.1 0 1 1 1
array plate/Jt.mtx 6 3 1 0 1 0 1 0 0 1 0 1 0 1 0 0 0 0 0 0
array plate/mu.mtx 3 1 0.5 0.5 0.5
array plate/v.mtx 3 1 900 -700 -1000
# 2 K = 4.6 MJ; 1.01/2 kg^-1, and of both tangents 1
told_as "a plate" 1524.139 2144.761 plate --samples 200

# the options are in the head of a CSV file, edges of polygons where they are other than 4
impact plate --samples 3 --seed 7 --steps 20 --select first --caps ends --csv head.csv
check "a head: options" grep -q '^# seed 7 samples 3 .* steps 20 .* select first .* caps ends' \
  head.csv
check "a head: no edges" sh -c '! grep -q "^#.* edges" head.csv'
impact plate --samples 3 --edges 6 --csv head.csv
check "a head: edges" grep -q '^#.* edges 6' head.csv

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

# ---- a run goes on from its file ----

impact box-wall --samples 5000 --reduce whole
impact box-wall --samples 5000 --range 1000:1700 --reduce part
impact box-wall --samples 5000 --range 4000:4001 --reduce part
impact box-wall --samples 5000 --reduce part
check "gaps are filled" cmp -s whole part
cp whole before
impact box-wall --samples 5000 --reduce whole
check "a whole file is left as it is" cmp -s whole before

# interrupted: what is there is whole, and the same command ends it
"$command" impact ramone --samples 400000 --threads 2 --reduce cut \
  >/dev/null 2>&1 &
runner=$!
# until it is ready a signal finds nothing to write; then it listens for SIGINT
for i in $(seq 300); do
  case $(sed -n 's/^SigCgt:.*\(.\)$/\1/p' /proc/$runner/status 2>/dev/null) in
    2 | 3 | 6 | 7 | a | b | e | f) break ;;
  esac
  sleep 0.1
done
sleep 0.3
kill -INT $runner 2>/dev/null
wait $runner
impact --merge cut --reduce copy --json
check "an interrupted run left a file" status_is 0
impact ramone --samples 400000 --reduce cut
check "it is ended" status_is 0
impact ramone --samples 400000 --threads 1 --reduce straight
check "to the same bytes" cmp -s cut straight
rm -f cut straight copy

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
"$command" impact large --samples 5 --reduce left.set >said 2>&1 &
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
  [ "$(wc -c <said) $(find . -name 'left.set*' | wc -l)" = "0 0" ]
rm -r large

# a run that is killed has left its last checkpoint, where the time for one had come
set -- compass-gait --samples 1000000000000 --threads 1
"$command" impact "$@" --checkpoint 0.05 --reduce often >/dev/null 2>&1 &
runner=$!
check "a checkpoint comes while it runs" wait_for [ -s often ]
check "it goes on" wait_for has_taken 50
kill -KILL $runner
wait $runner
impact --merge often --reduce copy --json
check "what it has is whole" status_is 0
"$command" impact "$@" --checkpoint 1e6 --reduce seldom >/dev/null 2>&1 &
runner=$!
check "one without a checkpoint runs" wait_for has_taken 50
check "it has no file" [ ! -e seldom ]
kill -KILL $runner
wait $runner
rm -f often* copy seldom*

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
assert told[0][0] < told[1][0] and all(n[1] == 10**12 for n in told), said
assert all(n[2] == round(100 * n[0] / n[1]) for n in told), told
after = said[[m.end() for m in line.finditer(said)][-1]:]
assert re.match(rb" *\r\node-mlcp impact: interrupted", after), said
CHECK
  check "a terminal sees how far it is" python3 terminal.py "$command" impact \
    compass-gait --samples 1000000000000 --threads 1 --reduce far
  rm -f far
fi

# a third of the workers is killed and started again
impact compass-gait --samples 90000 --reduce gait
workers=
for i in 0 1 2 3 4 5; do
  "$command" impact compass-gait --samples 90000 --threads 1 --shard $i/6 \
    --reduce k$i >/dev/null 2>&1 &
  workers="$workers $!"
done
set -- $workers
kill -9 "$2" "$5" 2>/dev/null
wait
for i in 1 4; do
  impact compass-gait --samples 90000 --threads 1 --shard $i/6 --reduce k$i
done
impact --merge k5 k0 k4 k1 k3 k2 --reduce merged
check "after workers were killed" cmp -s gait merged
rm -f k? gait merged

# ---- pictures of what is kept ----

if command -v gnuplot >/dev/null; then
  for name in compass-gait disk-stack; do
    impact $name --samples 400 --reduce drawn
    cp drawn before
    impact $name --samples 400 --reduce drawn --plot set.svg
    check "$name: drawn" status_is 0
    check "from the file" grep -q "outcomes of 400 samples, by grid" set.svg
    check "which stays as it was" cmp -s drawn before
    impact $name --samples 400 --reduce drawn --planes vnA:vtA --plot one.svg
    check "$name: one plane" [ "$(wc -c <one.svg)" -lt "$(wc -c <set.svg)" ]
    impact $name --samples 400 --reduce drawn --planes vtA:vtB --plot no.svg
    check "$name: a plane it does not have" grep -q "tell vtA:vtB" err
    check "is not drawn" [ ! -e no.svg ]
    rm -f drawn before set.svg one.svg
  done
fi

# ---- means are rounded once ----

impact box-wall --samples 5000 --json
mean=$(one_line | sed -n 's/.*"means": {[^}]*"vtA": \([-0-9.e]*\).*/\1/p')
impact box-wall --samples 5000 --reduce whole --json
# slips end anywhere between 0 and 0.3 m/s, and so in several cells of a plane
check "outcomes that differ are in cells of their own" awk '
  /"occupied"/ { planes++; if ($2 + 0 < 2) bad = 1 }
  END { exit bad || planes != 3 }' out
check "the mean is the set's" awk -v a="$mean" -v b="$(
  one_line | sed -n 's/.*"vtA": {[^}]*"mean": \([-0-9.e]*\),.*/\1/p')" \
  'BEGIN { d = a - b; exit !(a != 0 && d < 1e-15 && d > -1e-15) }'

# ---- what does not fit ----

impact box-wall --samples 100 --range 0:50 --reduce a
impact box-wall --samples 100 --range 49:100 --reduce overlap
impact box-wall --samples 101 --range 50:100 --reduce size
impact box-wall --samples 100 --range 50:100 --seed 2 --reduce seed
impact box-wall --samples 100 --range 50:100 --h 1 --reduce h
impact box-wall --samples 100 --range 50:100 --caps ends --reduce ends
impact rocking-block --samples 100 --range 50:100 --reduce other
refused "overlap" "overlap: sample 49 is also in a" --merge a overlap --reduce m
refused "twice" "a: sample 0 is also in a" --merge a a --reduce m
refused "size" "a and size are of sets of other sizes" --merge a size --reduce m
refused "seed" "a and seed are of other seeds" --merge a seed --reduce m
refused "options" "a and h are of other options" --merge a h --reduce m
refused "caps" "a and ends are of other options" --merge a ends --reduce m
refused "collision" "a and other are of other collisions" \
  --merge a other --reduce m
check "nothing was written" [ ! -e m ]
refused "missing file" "none: No such file" --merge a none --reduce m
refused "a file of another set" "a and what is asked for are of other seeds" \
  box-wall --samples 100 --seed 2 --reduce a
refused "range beyond" "ends beyond the 100 samples" \
  box-wall --samples 100 --range 50:101 --reduce b
refused "empty range" "range" box-wall --samples 100 --range 5:5 --reduce b
refused "range and shard" "exclude each other" \
  box-wall --samples 100 --range 0:5 --shard 1/2 --reduce b
refused "range alone" "goes with --reduce" box-wall --range 0:5
refused "a picture of a merge" "ode-mlcp impact NAME --reduce m --plot p.svg" \
  --merge a --reduce m --plot p.svg
refused "outcomes too" "keeps no outcomes" box-wall --reduce b --csv c.csv

# a file that is cut or changed anywhere is noticed
size=$(wc -c <a)
for part in 1 2 3 5 9 17 40; do
  head -c $((size / part - 1)) a >broken
  refused "cut at 1/$part" "broken: not a whole file" \
    --merge broken --reduce m
  { head -c $((size / part - 1)) a; printf '\377'
    tail -c +$((size / part + 1)) a; } >broken
  cmp -s a broken && continue
  refused "changed at 1/$part" "broken: not a whole file" \
    --merge broken --reduce m
done

finish
