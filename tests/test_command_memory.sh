#!/bin/sh
# The command when memory runs out, at each of its allocations in turn: it ends as it does
# with memory, or it says so and its status tells. However it ends, all is freed.
. "$(dirname "$0")/command_checks.sh"

cat >failing.c <<'PROGRAM'
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);
static long count, fails, live; // allocations, the one to fail, those not freed
static int is_command(void) {
  return strcmp(program_invocation_short_name, "ode-mlcp") == 0;
}
__attribute__((constructor)) static void begin(void) {
  const char *which = getenv("TEST_FAILS");
  fails = which != NULL && is_command() ? atol(which) : 0;
  count = 0;
}
__attribute__((destructor)) static void end(void) {
  const char *path = getenv("TEST_COUNTS");
  FILE *file = path != NULL && is_command() ? fopen(path, "w") : NULL;
  long at_end = live - (file != NULL); // the file itself is one
  if (file != NULL) fprintf(file, "%ld %ld\n", count, at_end);
}
static int has(int blocks) {
  if (__sync_add_and_fetch(&count, 1) != fails) {
    __sync_add_and_fetch(&live, blocks);
    return 1;
  }
  errno = ENOMEM;
  return 0;
}
void *malloc(size_t n) { return has(1) ? __libc_malloc(n) : NULL; }
void *calloc(size_t n, size_t m) { return has(1) ? __libc_calloc(n, m) : NULL; }
void *realloc(void *p, size_t n) {
  return has(p == NULL) ? __libc_realloc(p, n) : NULL;
}
void free(void *p) {
  __sync_sub_and_fetch(&live, p != NULL);
  __libc_free(p);
}
PROGRAM
# a sanitizer's allocator is its own
if grep -q __asan_init "$command" || grep -q __tsan_init "$command" ||
  ! $compiler -w -shared -fPIC failing.c -o failing.so; then
  echo "no allocator that fails"
  exit 77
fi
# what differs from run to run
without_times() {
  grep -v -e microseconds -e '^[ "]*seconds"*:' "$1"
}
# At its end the command has what libraries keep and, of its own, a list of its arguments.
LD_PRELOAD=$work/failing.so TEST_COUNTS=count "$command" --help >told </dev/null
read -r ignored kept <count
kept=$((kept + 1))
# runs_short WHAT RESULT ARG..: RESULT is what the command writes
runs_short() {
  what=$1 result=$2
  shift 2
  rm -rf "$result" with
  PATH=$work/tools:$PATH LD_PRELOAD=$work/failing.so TEST_COUNTS=count \
    "$command" "$@" >told 2>err </dev/null
  mv "$result" with
  without_times told >told_with
  read -r n live <count
  check "$what: all is freed" [ "$live" -le "$kept" ]
  fails=0
  while [ $fails -lt "$n" ]; do
    fails=$((fails + 1)) why=
    rm -rf "$result"
    status=0
    PATH=$work/tools:$PATH LD_PRELOAD=$work/failing.so TEST_FAILS=$fails \
      TEST_COUNTS=count "$command" "$@" >told 2>err </dev/null || status=$?
    if [ $status -eq 0 ] && [ ! -s err ]; then
      without_times told | cmp -s - told_with || why="other words"
      diff -rq "$result" with >/dev/null || why="another result"
    elif [ $status -gt 2 ]; then
      why="status $status"
    else
      grep -q -i -e memory -e 'too large' err || why="why is not said"
    fi
    read -r ignored live <count
    [ "$live" -le "$kept" ] || why="$live blocks are not freed"
    [ -z "$why" ] || break
  done
  check "$what: allocation $fails of $n: $why" [ -z "$why" ]
  check "$what: there are allocations" [ "$n" -gt 2 ]
}

make_beam beam
runs_short "a set" set.csv impact beam --threads 1 --samples 9 --json --csv set.csv
runs_short "a set in words" ways.csv impact beam --threads 1 --samples 9 --csv-ways ways.csv

array M.mtx 2 2 2 1 1 2
array q.mtx 2 1 -5 -6
for solver in fast lemke; do
  runs_short "a problem, $solver" z.mtx solve M.mtx q.mtx --solver $solver \
    --output z.mtx
done
"$command" run --dump problems --tolerance 1e-300 -- "$program" world touch 1 \
  >/dev/null 2>&1
set -- problems/*
runs_short "a step's problem" z.mtx solve "$1" --output z.mtx

"$command" compare --output recorded --no-repeat --steppers step,ah -- \
  "$build/tests/recorded_program" slide >/dev/null 2>&1
runs_short "a comparison" report compare --output report --json --from recorded

# refused ARG..: all is freed
refused() {
  status=0
  LD_PRELOAD=$work/failing.so TEST_COUNTS=count "$command" "$@" >told 2>err </dev/null ||
    status=$?
  read -r n live <count
  check "refused, $*: status 2" status_is 2
  # nothing is written: its output has no buffer
  check "refused, $*: all is freed" [ "$live" -lt "$kept" ]
}
echo nonsense >nonsense
refused impact beam/v.mtx
refused solve M.mtx nonsense
refused solve nonsense q.mtx
refused solve beam
refused compare --output report --from beam
refused compare --output report --steppers step,step -- true
refused run -- no-such-program-anywhere

finish
