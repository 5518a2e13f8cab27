#!/bin/sh
# Build the host's demos and test what judges them: the stand-in for drawstuff
# and the runner's verdicts on a sabotaged stepper. Then two of them in a real
# window, where there is an X server to open one.
#
# Run in the build folder, with srcdir set, as `make check` does.
: "${srcdir:=.}" "${CC:=gcc}"
suite=$srcdir/demos/host-suite
tests=$srcdir/tests/host_suite
demos="host-demos"

library=$(readlink -f lib/libode.so.8)
host=${library%/ode/src/.libs/*}
if [ ! -f "$host/ode/demo/demo_boxstack.cpp" ]; then
  echo "SKIP: the host is no source tree, its demos are not there"
  exit 77
fi

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
n_passed=0 n_failed=0
# check NAME COMMAND...
check() {
  what=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    n_passed=$((n_passed + 1))
  else
    n_failed=$((n_failed + 1))
    echo "FAILED: $what"
    cat "$work/log"
  fi
}

# ---- building ----------------------------------------------------------------

build() {
  "$suite/build-demos" --ode-source "$host" --lib lib --out "$demos"
}

# the demos take the host from outside: else no other could step them
none_holds_the_host() {
  for demo in "$demos"/demo_*; do
    if nm --defined-only "$demo" | grep -q ' T dWorld'; then
      echo "$demo holds libode itself"
      return 1
    fi
  done
}

# what is up to date stays
builds_nothing_twice() {
  before=$(ls -l --time-style=full-iso "$demos"/demo_*)
  build
  [ "$before" = "$(ls -l --time-style=full-iso "$demos"/demo_*)" ]
}

refuses_other_folders() {
  ! "$suite/build-demos" --ode-source "$work" --lib "$host/ode/src/.libs" \
    --out "$work/out"
}

check "the demos build" build
check "no demo holds libode" none_holds_the_host
check "a second build builds nothing" builds_nothing_twice
check "a folder without demos is refused" refuses_other_folders

# ---- the stand-in ------------------------------------------------------------

standin_test() {
  $CC -std=gnu11 -Wall -Wextra -O2 -ffp-contract=off -DdIDEDOUBLE \
    -I"$host/include" "$tests/test_drawstuff_standin.c" \
    "$suite/drawstuff_standin.c" -lcunit -lm -o "$work/test_standin" \
    && "$work/test_standin"
}
check "the stand-in for drawstuff" standin_test

# ---- the runner's verdicts ---------------------------------------------------

$CC -std=gnu11 -Wall -Wextra -O2 -fPIC -shared -DdIDEDOUBLE \
  -I"$host/include" "$tests/saboteur.c" -o "$work/saboteur.so" -ldl \
  || exit 99

# verdict_is WORDS WRAPPER [RUN]: what the runner says of a run
verdict_is() {
  "$suite/run-suite" --demos "$demos" --out "$work/report" --no-stock \
    --wrapper "$2" --twice "${3:-chain1}"
  status=$?
  verdict=$(awk -F '\t' 'NR == 2 { print $3 }' "$work/report/report.tsv")
  echo "verdict: $verdict, exit status $status"
  case $1 in
    passed) [ "$verdict" = passed ] && [ $status -eq 0 ] ;;
    *) [ "$verdict" = "FAILED: $1" ] && [ $status -eq 1 ] ;;
  esac
}
sabotage="env LD_PRELOAD=$work/saboteur.so SABOTAGE"
statistics=$tests/write_statistics

check "a sound run passes" verdict_is passed "$sabotage=none"
check "NaN is noticed" verdict_is NaN "$sabotage=nan"
check "a failed step is noticed" verdict_is "failed steps: 1" "$sabotage=fail"
check "a step that fails half-way is noticed" \
  verdict_is "a failed step changed the world" "$sabotage=half"
check "a crash is noticed" verdict_is abort "$sabotage=crash"
check "a message is noticed" verdict_is "messages: 1" "$sabotage=message"
check "drawing from dRand is noticed" verdict_is "drew from dRand" \
  "$sabotage=rand"
check "a run that does not repeat itself is noticed" \
  verdict_is "does not repeat itself" "$sabotage=drift"
check "statistics are read" verdict_is passed "$statistics 500 0 STATS"
check "unsolved problems are noticed" verdict_is "unsolved: 4" \
  "$statistics 500 4 STATS"
check "uncounted steps are noticed" verdict_is "statistics of 499 steps" \
  "$statistics 499 0 STATS"
check "missing statistics are noticed" verdict_is "no statistics" \
  "$statistics none 0 STATS"
printf '#!/bin/sh\n"$@"\nkill -SEGV $$\n' >"$work/crash"
chmod +x "$work/crash"
check "a crash after the last step is the demo's own" verdict_is passed \
  "$work/crash" chain2

# ---- second order ------------------------------------------------------------

# demos whose steps are quick under the second-order schemes; all of them, at
# their full length: make demos-second-order
quick_runs="basket boxstack boxstack_pile buggy chain1 cyl cylvssphere dball
  dhinge gyro2 gyroscopic hinge jointPR jointPU kinematic motor moving_convex
  piston rfriction slider step tracks transmission trimesh"
# passes_under SCHEME
passes_under() {
  # shellcheck disable=SC2086  # a list of words
  "$suite/run-suite" --demos "$demos" --out "$work/$1" --no-stock --frames 100 \
    --wrapper "$PWD/ode-mlcp run --scheme $1 --stats STATS --" $quick_runs
}
if [ -x ./ode-mlcp ]; then
  check "demos run under trapezoid" passes_under trapezoid
  check "demos run under conserving" passes_under conserving
fi

# ---- a real window -----------------------------------------------------------

wrapper=
[ -x ./ode-mlcp ] && wrapper="$PWD/ode-mlcp run --"
if command -v Xvfb >/dev/null && [ -f "$host/drawstuff/src/Makefile" ]
then
  check "demos in a real X window" "$suite/check-window" \
    --host-build "$host" --out host-window --wrapper "$wrapper"
else
  echo "no Xvfb, or a host without drawstuff: no real window opened"
fi

echo "$n_passed passed, $n_failed failed"
[ $n_failed -eq 0 ]
