#!/bin/sh
# Boxes that a program puts into each other, under friction without limit: none is thrown.
. "$(dirname "$0")/command_checks.sh"

program=$build/tests/heap_program

# stays BOUND ARG...: none gets faster, in parts of a fall's speed
stays() {
  bound=$1
  shift
  "$@" >out 2>err || return 1
  awk -v bound="$bound" '{ ended = $1 <= bound } END { exit !ended }' out
}

# in 125 and 347 a step's answer misses its tolerance and throws a box
for seed in 1 2 3 4 5 6 20 125 347; do
  check "heap $seed" stays 1.5 "$command" run --scheme ah -- "$program" $seed
done

# negative control: the host's own steps throw it
check "stock's does" sh -c '! "$1" 125 | awk "{ exit !(\$1 < 10) }"' stock \
  "$program"
finish
