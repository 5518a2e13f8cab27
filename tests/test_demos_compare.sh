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

/usr/bin/python3 -c 'import numpy' 2>/dev/null || finish
demo --scene slide --scene wheels
check "slide and car: status 0" status_is 0
check "slide and car: nothing broken" sh -c '! grep -q BROKEN "$1"' sh out
check "stock brakes by 30 % too hard" out_has 'must stop after 0.917 m  *stops 30 % short  *stops 30 %'
check "and ode-mlcp does not" out_has 'stops where it must$'
check "the car creeps on QuickStep alone" \
  out_has 'it has slid  *does not move  *creeps by 3[0-9] cm  *does not move'
check "as on a screen of 24 lines" sh -c '[ "$(wc -l <out)" -le 24 ]'
check "the page has the terminal's words" grep -q 'stops 30 % short' report/report.html
check "the page has its replays" sh -c \
  '[ "$(grep -c "<script type=.application/json.>" report/report.html)" = 2 ]'
check "the page leads to a report" grep -q 'href="slide/report.html"' report/report.html
check "which is there" [ -s report/slide/report.html ]
check "no Markdown in it" sh -c \
  '! sed -n "/<article/,/<.article>/p" report/report.html | grep -q "\`"'

cp report/report.html kept.html

# negative control: without its results a promise is not kept
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$top/demos/compare/cards.py" report wall >out && status=0 || status=$?
check "no results: status 1" status_is 1
check "no results: broken" out_has '^  BROKEN  wall'

mkdir -p said
echo '{"steppers": [], "headline": "On it, no one. Take quick (a step): under ah 1. ah keeps"}' \
  >said/report.json
check "steppers have the page's names" [ "$(PYTHONPATH=$top/demos/compare \
  PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c 'import cards, pathlib
print(cards.sentence(cards.Run(pathlib.Path("said"))))')" = \
  "The verdict of compare: no one. Take QuickStep (a step): under ode-mlcp 1. ode-mlcp keeps" ]

chromium=$(command -v chromium || command -v chromium-browser) || finish
timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --no-first-run \
  --user-data-dir="$PWD/profile" --window-size=390,900 --virtual-time-budget=6000 \
  --enable-logging=stderr --screenshot=page.png --dump-dom \
  "file://$PWD/kept.html" >dom 2>log </dev/null
check "the page says nothing on the console" sh -c '! grep -q CONSOLE log'
check "and is drawn" [ -s dom ]

finish
