#!/bin/sh
# What reads C for faults finds none in plugin/: cppcheck, but for
# tools/cppcheck.suppressions, and clang-tidy with the checks of .clang-tidy and the
# warnings of clang itself. Each tool is shown a fault first, so that it is known to
# look. A tool that is not here is named and left out.
top=$(cd "$(dirname "$0")/.." && pwd) || exit 99
build=${ODE_MLCP_BUILD:-$PWD}
host=$(sed -n 's/^HOST_CFLAGS = -I//p' "$build/Makefile")
suitesparse=$(sed -n 's/^SUITESPARSE_CFLAGS = -I//p' "$build/Makefile")
passed=0 failed=0
jobs=$(nproc 2>/dev/null || echo 1)
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$top" || exit 99 # names in the suppressions begin here

check() { # check WHAT COMMAND...
  what=$1
  shift
  if "$@" >"$work/out" 2>&1; then
    passed=$((passed + 1))
  else
    echo "$what:"
    grep -v 'warnings generated\.$' "$work/out"
    failed=$((failed + 1))
  fi
}

finds_fault() { # finds_fault READER
  "$1" "$work/fault.c" >"$work/found" 2>&1
  [ $? -ne 0 ] && grep -q 'fault\.c:' "$work/found"
}

# ---- cppcheck ----

read_by_cppcheck() {
  grep -v '^#' tools/cppcheck.suppressions >"$work/suppressions"
  cppcheck -q -j "$jobs" --std=c11 --max-configs=1 --error-exitcode=1 \
    --enable=warning,performance,portability \
    --suppressions-list="$work/suppressions" \
    --suppress=unmatchedSuppression -DHAVE_CONFIG_H '-DElfW(type)=Elf64_##type' \
    -I"$build" -Iplugin "$@"
}

if command -v cppcheck >/dev/null; then
  echo 'int main(void) { int a[2]; a[2] = 0; return a[0]; }' >"$work/fault.c"
  check "cppcheck finds a fault" finds_fault read_by_cppcheck
  check "cppcheck on plugin/" read_by_cppcheck plugin
else
  echo "there is no cppcheck here"
fi

# ---- clang-tidy ----

tidy=
for tool in clang-tidy-14 clang-tidy; do
  "$tool" --version 2>/dev/null | grep -q 'version 14\.' && tidy=$tool && break
done

read_by_tidy() {
  printf '%s\0' "$@" | xargs -0 -P "$jobs" -n 12 sh -c '
    tidy=$1 build=$2 host=$3 suitesparse=$4
    shift 4
    "$tidy" --quiet --config-file=.clang-tidy "$@" -- -std=gnu11 -Wall -Wextra -DHAVE_CONFIG_H \
      -include plugin/host/patched_host.h -I"$build" -Iplugin \
      -isystem "$host" -isystem "$suitesparse"
    ' sh "$tidy" "$build" "$host" "$suitesparse"
}

read_plugin_by_tidy() { read_by_tidy plugin/*/*.c; }

if [ -n "$tidy" ]; then
  echo 'int f(int a) { if (a); return a == a; }' >"$work/fault.c"
  check "clang-tidy finds a fault" finds_fault read_by_tidy
  echo 'int f(void) { int unused; return 0; }' >"$work/fault.c"
  check "clang warns" finds_fault read_by_tidy
  check "clang-tidy on plugin/" read_plugin_by_tidy
else
  echo "there is no clang-tidy 14 here"
fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
