#!/bin/sh
# What a program's thread calls has no large frame on the stack: threads of 64 KB and
# coroutines collide and step.
top=$(cd "$(dirname "$0")/.." && pwd) || exit 99
build=${ODE_MLCP_BUILD:-$PWD}
flags=$(sed -nE 's/^(HOST|SUITESPARSE)_CFLAGS = //p' "$build/Makefile")
compiler=${CC:-gcc}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# is_small FILE: none of its frames is above 4 KB
is_small() {
  $compiler -O2 -DHAVE_CONFIG_H -I"$build" -I"$top/plugin" $flags -c "$1" \
    -Werror=frame-larger-than=4096 -o "$work/object.o" >"$work/out" 2>&1
}

echo 'int f(char *); int g(void) { char a[5000]; return f(a); }' >"$work/large.c"
if is_small "$work/large.c"; then
  echo "a large frame is not noticed"
  failed=$((failed + 1))
else
  passed=$((passed + 1))
fi
for file in "$top"/plugin/common/*.c "$top"/plugin/gap/*.c "$top"/plugin/host/*.c \
  "$top"/plugin/rows/*.c "$top"/plugin/world/*.c "$top"/plugin/assembly/*.c \
  "$top"/plugin/solver/*.c "$top"/plugin/schemes/*.c "$top"/plugin/stepper/*.c \
  "$top"/plugin/impacts/*.c "$top"/plugin/lcp/*.c "$top"/plugin/preload/message.c \
  "$top"/plugin/preload/near_contacts.c "$top"/plugin/preload/trace.c; do
  if is_small "$file"; then
    passed=$((passed + 1))
  else
    cat "$work/out"
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
