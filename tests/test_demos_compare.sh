#!/bin/sh
# The comparison: what it refuses, that it keeps its promises on scenes that
# take a moment, and that a broken promise shows in its exit status.
#
# Run in the build folder, as `make check` does.
compare=demos/compare/compare
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
n_failed=0

# expect STATUS NAME ARG...: and keep what it printed
expect() {
  wanted=$1 what=$2
  shift 2
  "$compare" "$@" >"$work/out" 2>"$work/err" </dev/null
  status=$?
  [ "$status" -eq "$wanted" ] && return
  echo "FAILED: $what: status $status instead of $wanted"
  n_failed=$((n_failed + 1))
}

# prints NAME PATTERN: what was kept has it
prints() {
  grep -q -- "$2" "$work/out" "$work/err" && return
  echo "FAILED: $1: nothing printed has '$2'"
  n_failed=$((n_failed + 1))
}

# ---- wrong use: status 2, one line ----

for bad in '--scene hill' '--rows 0' '--rows 12x' '--rows' '--limit nan' \
    '--limit 0' '--stepper fast' '--scene boxstack' '--frobnicate' 'wall'; do
  # shellcheck disable=SC2086  # words
  expect 2 "compare $bad" $bad
  [ "$(wc -l <"$work/err")" -eq 1 ] && [ ! -s "$work/out" ] && continue
  echo "FAILED: compare $bad: not one line on standard error"
  n_failed=$((n_failed + 1))
done
expect 0 'compare --help' --help
prints 'compare --help' 'usage: compare'

# ---- scenes ----

expect 0 'a wall of 3 boxes' --scene wall --rows 2
prints 'a wall of 3 boxes' 'kept.*the wall stands'
expect 0 'slides and rod' --scene slide --scene rod --json
prints 'slides and rod' '"stepper": "ode-mlcp"'
prints 'slides and rod' '"kept": true'
# negative control: a wall that is not given the time to stand 5 s
expect 1 'a wall cut short' --scene wall --stepper ode-mlcp --limit 1e-9
prints 'a wall cut short' 'BROKEN.*the wall stands'

# ---- pictures ----

expect 1 'no gnuplot' --scene rod --gnuplot "$work/nothing" --out "$work/report"
prints 'no gnuplot' 'is missing: no pictures'
if [ ! -s "$work/report/report.json" ]; then
  echo "FAILED: no gnuplot: the report is missing, too"
  n_failed=$((n_failed + 1))
fi
expect 1 'no folder' --scene rod --out "$work/report/report.md/x"
if command -v gnuplot >/dev/null; then
  expect 0 'pictures' --scene slide --out "$work/report"
  # a PNG by its first bytes
  if ! head -c 4 "$work/report/slide.png" 2>/dev/null | grep -q PNG; then
    echo "FAILED: pictures: slide.png is none"
    n_failed=$((n_failed + 1))
  fi
fi

# ---- recordings ----

# recording UNSOLVED: one of ode-mlcp's
recording() {
  base=$work/tower-ode-mlcp
  echo 0 >"$base.status"
  : >"$base.out"
  echo "probe steps=2 quick=2 failed=0 nan=0 bodies=1 contacts=4 degenerate=0" \
    "depth_end=1e-3 approach=0 speed=1 rand=0 hash=0 seconds=0.1" >"$base.probe"
  printf '1 1 0.5 0.25 1 1e-15\n2 1 0.5 0 1 0\n' >"$base.series"
  echo 'box 1 1 1 0 0 0.5 1 0 0 0 0 1 0 0 0 0 1 0 0' >"$base.solids"
  echo "{\"unsolved\": $1, \"degraded\": $1, \"residual_worst\": 1e-12}" \
    >"$base.json"
}
expect 1 'no recording' --scene boxstack --recordings "$work"
recording 0
expect 0 'a recording' --scene boxstack --recordings "$work"
prints 'a recording' 'kept.*demo_boxstack'
recording 1
expect 1 'an unsolved step' --scene boxstack --recordings "$work"
prints 'an unsolved step' 'BROKEN.*demo_boxstack.*1 unsolved'
recording 0
echo 'pyramid 1' >>"$work/tower-ode-mlcp.solids"
expect 1 'a broken recording' --scene boxstack --recordings "$work"
prints 'a broken recording' 'is not whole'

[ "$n_failed" -eq 0 ] && echo "the comparison: every check passed"
[ "$n_failed" -eq 0 ]
