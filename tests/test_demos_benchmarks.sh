#!/bin/sh
# The benchmarks of other engines' authors: stock's figures are those published,
# ours are right, the table holds both, and nonsense is refused.
top=$(cd "$(dirname "$0")/.." && pwd)
. "$(dirname "$0")/command_checks.sh"
benchmark=$build/demos/benchmarks/benchmark

# value NAME ARGUMENT...: that value of a run's line
value() {
  wanted=$1
  shift
  "$benchmark" "$@" | awk -v wanted="$wanted" '{
    for (i = 1; i < NF; i += 2) if ($i == wanted) print $(i + 1)
  }'
}
is() { awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(x != "" && x >= low && x <= high) }'; }

# published: 185.027 and 18808.3
check "bouncing on stock, 1e-3" is "$(value error bouncing --stepper step)" 185.026 185.028
check "bouncing on stock, 1e-2" \
  is "$(value error bouncing --stepper step --step 0.01)" 18808.2 18808.4
check "bouncing, conserving" \
  is "$(value error bouncing --stepper conserving --seconds 4)" 0 1e-9
# a box at rest (the friction of the balls holds it) scores 3.14497 in 4 s
check "rolling on stock, 60 degrees: stuck" \
  is "$(value error rolling --stepper quick --heading 60)" 3.1 3.2
for heading in 90 60 17; do
  check "rolling, $heading degrees" \
    is "$(value error rolling --heading $heading)" 0 1e-5
done
check "rolling, trapezoid, 17 degrees" \
  is "$(value error rolling --stepper trapezoid --heading 17 --seconds 0.5)" 0 1e-9
check "Kapla, ah: stands where it was laid" \
  is "$(value error kapla --seconds 0.3)" 0 1e-9
check "Kapla, ERP 0: all steps stood" is "$(value steps kapla --seconds 0.3 --erp 0)" 30 30
check "666 on st: nothing enters" \
  is "$(value error 666 --stepper st --seconds 0.1)" 0 1e-20
check "a free box tumbles, conserving: energy" \
  is "$(value energy boxes-complex --stepper conserving)" 0 1e-6
check "and spin" is "$(value spin boxes-complex --stepper conserving)" 0 1e-10
check "a run is cut where it is told" is "$(value cut kapla --limit 0.01)" 1 1

refused() {
  status=0
  "$@" >out 2>err </dev/null || status=$?
  check "$*: status 2" status_is 2
  check "$*: nothing but a message" [ -s err ]
}
cd "$work"
refused "$benchmark" hill
refused "$benchmark" kapla --step 0
refused "$benchmark" kapla --stepper frob
refused "$benchmark" kapla --stepper quick:none
refused "$benchmark" kapla --seconds
refused "$top/demos/benchmarks/run" --build "$build" hill
refused "$top/demos/benchmarks/run" --build "$build" --limit -1 rolling
refused "$top/demos/benchmarks/run" --build "$work/nowhere" rolling

"$top/demos/benchmarks/run" --build "$build" --out tables --seconds 0.05 \
  bouncing >out 2>err
check "a table: stock's row" grep -q '^| 0.001 | 49 balls | step |' out
check "a table: ours" grep -q '^| 0.01 | 49 balls | conserving |' out
check "a table: the figures published" grep -q '[*]RaiSim, ERP off[*] | 186 ' out
check "the table is kept" cmp out tables/bouncing.md

finish
