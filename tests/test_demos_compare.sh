#!/bin/sh
# The main job of ./quickstart on scenes that take a moment: what it refuses, its
# table and page, and that a broken promise shows in its exit status.
top=$(cd "$(dirname "$0")/.." && pwd)
. "$(dirname "$0")/command_checks.sh"

demo() {
  status=0
  "$top/demos/compare/run" --build "$build" --out "$work/report" "$@" \
    >"$work/out" 2>"$work/err" </dev/null || status=$?
}
out_has() { grep -q -e "$1" "$work/out" || { cat "$work/out"; return 1; }; }

for bad in '--scene hill' '--scene' '--frobnicate' "$work/nowhere"; do
  # shellcheck disable=SC2086  # words
  demo $bad
  check "$bad: status 2" status_is 2
  check "$bad: one line" n_lines 1 err
done

demo --scene slide --scene rod
check "slides and rod: status 0" status_is 0
check "slides and rod: kept" out_has '^  kept    slides keep their heading'
check "slides and rod: the rod" out_has "^  kept    the rod's friction"
check "slides and rod: nothing broken" sh -c '! grep -q BROKEN "$1"' sh out
check "the page is named last" sh -c 'tail -n 1 out | grep -q report.html'
check "the page leads to a report" \
  grep -q 'href="slide-15/report.html"' report/report.html
check "which is there" [ -s report/slide-15/report.html ]
# the stock steppers turn a slide at 15 degrees along an axis
check "a row of the table" out_has 'final heading, deg  *-*0.00. *-*0.00. *15.000'

# negative control: without its results a promise is not kept
awk -v out="$work/none" -v scenes="rod wall" -f "$top/demos/compare/table.awk" \
  </dev/null >out && status=0 || status=$?
check "no results: status 1" status_is 1
check "no results: broken" out_has '^  BROKEN  the wall stands'

finish
