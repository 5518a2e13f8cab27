#!/bin/sh
# report.html of ode-mlcp compare in a browser: it opens without a network, says
# nothing on the console, plays to its end, and stays small. Without Chromium only
# the file itself is looked at.
top=$(cd "$(dirname "$0")/.." && pwd)
. "$(dirname "$0")/command_checks.sh"
play=$build/demos/play/play

# page NAME ARG...: a report in the folder NAME
page() {
  name=$1
  shift
  "$command" compare --output "$name" --no-repeat "$@" >out 2>err </dev/null
}

small() { [ "$(wc -c <"$1")" -lt 5000000 ]; }
# nothing is fetched: no address in what the page itself loads
alone() {
  ! grep -q -E '<(script|link|img)[^>]*(src|href)="?(https?:)?//' "$1"
}

# browse PAGE: leaves dom and console
browse() {
  rm -rf profile
  timeout 240 "$chromium" --headless --no-sandbox --disable-gpu --use-gl=angle \
    --use-angle=swiftshader --enable-unsafe-swiftshader --disable-quic \
    --no-first-run --disable-background-networking --disable-component-update \
    --disable-sync --user-data-dir="$PWD/profile" --window-size=1300,900 \
    --enable-logging=stderr --virtual-time-budget=10000 \
    --run-all-compositor-stages-before-draw --dump-dom "file://$PWD/$1" \
    >dom 2>log </dev/null
  # what the driver says of its own speed is no message of the page
  grep CONSOLE log | grep -v 'GL Driver Message' >console
}
says_nothing() { [ ! -s console ] || { cat console; return 1; }; }
dom_has() { grep -q -e "$1" dom || { head -c 300 dom; return 1; }; }

page boxes --steppers step,quick,ah -- "$play" pit 9 --seconds 1
check "a report is written" [ -s boxes/report.html ]
check "a report is small" small boxes/report.html
check "a report is alone" alone boxes/report.html
page reference --refine 2 --steppers ah,st -- "$play" chain 3 --seconds 1
check "with a reference" [ -s reference/report.html ]
page nothing --steppers ah -- true
check "without a step" [ -s nothing/report.html ]
# frames are left out until it is small: 400 bodies that all move
page many --steppers quick,quick:5 -- "$play" pit 400 --seconds 4 --quick
check "many bodies: small" small many/report.html

# a minute of 105 bodies that tumble
page minute --steppers step,quick,quick:5 -- "$build/demos/benchmarks/benchmark" \
  boxes-complex --stepper step --bodies 105 --seconds 60 --step 0.02
check "a minute of 105 bodies: small" small minute/report.html
check "a minute of 105 bodies: all of it" grep -q '"steps": 3000,' \
  minute/report.json

chromium=$(command -v chromium || command -v chromium-browser) || finish
browse boxes/report.html
check "a report opens" dom_has 'data-state="ready"'
check "a report: nothing on the console" says_nothing
check "a report: the verdict" dom_has 'id="verdict">On play'
check "a report: the table" dom_has 'deepest penetration</th>'
check "a report: the picture" dom_has '<canvas'
browse boxes/report.html#play
check "a report plays to its end" dom_has 'data-state="ended"'
check "a report: still nothing" says_nothing
# Seconds, by the browser's clock and without a network, until PAGE can be looked at.
seconds_of() {
  rm -rf profile
  python3 "$top/tests/open_page.py" "$chromium" "$1" "$PWD/profile"
}
# opens PAGE: in at most six times what the page of nine boxes takes on the same machine;
# other work on it may spoil an attempt
opens() {
  for _ in 1 2 3; do
    small=$(seconds_of boxes/report.html) large=$(seconds_of "$1")
    awk -v s="$small" -v l="$large" 'BEGIN {
      number = "^[0-9.]+$"
      exit !(s ~ number && l ~ number && l <= 6 * s)
    }' && return
  done
  echo "  boxes: $small, $1: $large"
  return 1
}
if command -v python3 >/dev/null; then
  check "a minute of 105 bodies opens" opens minute/report.html
  check "400 bodies open" opens many/report.html
  echo '<title>no report</title>' >none.html
  # negative control: of a page that is none the browser says nothing
  check "a page that is none does not" sh -c '! timeout 4 python3 "$@" | grep .' \
    sh "$top/tests/open_page.py" "$chromium" none.html "$PWD/profile"
fi
browse reference/report.html
check "with a reference: opens" dom_has 'data-state="ready"'
check "with a reference: named" dom_has 'reference: [a-z]*, h/4'
check "with a reference: nothing on the console" says_nothing
browse nothing/report.html
check "without a step: opens" dom_has 'No stepper took a step'
check "without a step: nothing on the console" says_nothing
check "without a step: no empty sections" sh -c '! grep -q "Over time</h2>" dom'
browse many/report.html
check "many bodies: opens" dom_has 'data-state="ready"'
# negative control: a page with broken data says so
sed 's/^{"report":/{"report"/' boxes/report.html >boxes/broken.html
browse boxes/broken.html
check "broken data are noticed" dom_has '<p class="failure" id="verdict"'
check "broken data: on the console" [ -s console ]

finish
