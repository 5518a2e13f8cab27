#!/bin/sh
# What falls into a hollow of a sheet of triangles is no deeper in it than the host says
# and gains nothing, whichever side the triangles look to.
. "$(dirname "$0")/command_checks.sh"

program=$build/tests/sheet_program

# stays DEEPEST ARG...: nothing goes through, or is deeper in lengths of a body
stays() {
  bound=$1
  shift
  "$command" run "$@" >out 2>err || return 1
  awk -v bound="$bound" '{ stays = $2 <= bound && $4 < 0.001 && $6 == 0 }
    END { exit !(stays && NR == 1) }' out
}

# plates go through from behind where the host misses them
is_shallow() {
  "$command" run "$@" >out 2>err && awk '{ exit !($2 < 0.5 && $4 < 0.001) }' out
}

for sheet in funnel trough terrain; do
  for scheme in ap ah st gap trapezoid-1 trapezoid conserving; do
    check "box on a $sheet under $scheme" stays 0.25 --scheme $scheme -- \
      "$program" $sheet box 0 0.005
    check "box behind a $sheet under $scheme" stays 0.4 --scheme $scheme -- \
      "$program" $sheet box 1 0.005
  done
  for shape in plate ball capsule cylinder; do
    check "$shape on a $sheet" stays 0.25 -- "$program" $sheet $shape 0 0.005
  done
  check "plate behind a $sheet" is_shallow -- "$program" $sheet plate 1 0.005
done
# a thread with a small stack
for shape in box capsule cylinder; do
  check "$shape on 64 KB" stays 0.25 -- "$program" funnel $shape 0 0.005 64
done
finish
