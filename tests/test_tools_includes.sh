#!/bin/sh
# tools/check-includes names what it is there to find, and finds nothing in the
# tree.
tools=$(cd "$(dirname "$0")/../tools" && pwd) || exit 99
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
n_passed=0 n_failed=0

# file NAME LINE...: a file of the tiny tree that includes these
file() {
  name=$work/plugin/$1
  shift
  mkdir -p "${name%/*}"
  printf '#include %s\n' "$@" >"$name"
}

# expect WHAT STATUS TEXT: of a check of the tiny tree, TEXT being all it prints
expect() {
  "$tools/check-includes" "$work/plugin" >"$work/out" 2>&1
  status=$?
  if [ "$status" -eq "$2" ] && [ "$(cat "$work/out")" = "$3" ]; then
    n_passed=$((n_passed + 1))
  else
    echo "FAILED: $1: status $status, printed: $(cat "$work/out")"
    n_failed=$((n_failed + 1))
  fi
  rm -r "$work/plugin"
}

file mlcp/mlcp.c '<math.h>' '"mlcp/mlcp.h"' '"common/memory.h"'
file mlcp/mlcp.h '"common/memory.h"'
file common/memory.h '<stddef.h>'
file solver/lemke.c '"mlcp/mlcp.h"' '"config.h"'
file host/bodies.c '<ode/ode.h>' '"ode_mlcp.h"' '"solver/lemke.h"'
file ode_mlcp.h '<ode/ode.h>'
expect 'downwards' 0 ''

file mlcp/mlcp.c '"mlcp/friction.h"'
file mlcp/friction.h '"common/memory.h"'
file mlcp/friction.c '"mlcp/friction.h"' '"mlcp/residual.h"'
file mlcp/residual.h '"mlcp/mlcp.h"'
file mlcp/mlcp.h '"common/memory.h"'
expect 'a circle through a .c file' 1 \
  'circle: mlcp/friction -> mlcp/residual -> mlcp/mlcp -> mlcp/friction'

file common/memory.c '<math.h>' '"solver/lemke.h"'
file solver/lemke.h '<math.h>'
expect 'an upward include' 1 \
  'common/memory.c:2: common includes solver/lemke.h, of a room above it'

file gap/gap.c '"mlcp/mlcp.h"'
file mlcp/mlcp.h '<math.h>'
file solver/lemke.c '"gap/gap.h"'
file gap/gap.h '<math.h>'
expect 'a room beside, and one that is not to be known' 1 \
  'gap/gap.c:1: gap includes mlcp/mlcp.h, which it may not know
solver/lemke.c:1: solver includes gap/gap.h, which it may not know'

file impacts/impact.h '"ode_mlcp_impacts.h"' '"ode_mlcp.h"'
file ode_mlcp_impacts.h '<math.h>'
file ode_mlcp.h '<math.h>'
file solver/solver.c '<ode/ode.h>'
expect 'the installed headers, and the host' 1 \
  'impacts/impact.h:2: impacts includes ode_mlcp.h, of a room above it
solver/solver.c:1: solver includes the header ode/ode.h of the host'

file cellar/rat.c '<math.h>'
expect 'a room without a place' 1 \
  'cellar/rat.c:1: the room cellar has no place in the order of tools/check-includes'

if "$tools/check-includes" >"$work/out"; then
  n_passed=$((n_passed + 1))
else
  echo 'FAILED: the plugin:'
  cat "$work/out"
  n_failed=$((n_failed + 1))
fi
echo "$n_passed passed, $n_failed failed"
[ "$n_failed" -eq 0 ]
