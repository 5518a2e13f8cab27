#!/bin/sh
# A hundred drawn worlds: `ah` beside stock's two steppers and a finer reference. It may
# be worse in no more of them than tests/never_worse_known names, with their causes.
build=${ODE_MLCP_BUILD:-$PWD}
here=$(dirname "$0")
work=$(mktemp -d "${TMPDIR:-/tmp}/ode-mlcp-test.XXXXXX")
trap 'rm -rf "$work"' EXIT

passed=0 failed=0
check() {
  if "$@" >"$work/said"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $*"
  fi
  cat "$work/said"
}

check "$build/tests/never_worse" 0-99 --scheme ah --output "$work/lines" \
  --known "$here/never_worse_known"
# the judge notices: without the list there are more than expected
: >"$work/none"
check sh -c '! "$1" --sum "$2" --known "$3" >/dev/null' judge \
  "$build/tests/never_worse" "$work/lines" "$work/none"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
