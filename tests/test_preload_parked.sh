#!/bin/sh
# A car with locked wheels comes to rest: the rims of its wheels keep their points.
. "$(dirname "$0")/command_checks.sh"

program=$build/tests/parked_program

# rests BOUND ARG...: nothing moves faster, m/s
rests() {
  bound=$1
  shift
  "$command" run "$@" >out 2>err || return 1
  awk -v bound="$bound" '{ ended = $1 <= bound } END { exit !ended }' out
}

for scheme in ap ah st gap trapezoid-1 trapezoid conserving; do
  # conserving takes nothing out of the springs but what they do themselves
  case $scheme in conserving) bound=1e-3 ;; *) bound=$(of_host 1e-6 100) ;; esac
  case $scheme in gap | conserving)
    left_out_in_single "a car under $scheme" && continue ;;
  esac
  check "on a mesh under $scheme" rests $bound --scheme $scheme -- \
    "$program" mesh 1 0.01 5 0
  check "on a slope under $scheme" rests $bound --scheme $scheme -- \
    "$program" box 1 0.01 0 0.1
done

for scheme in ap ah st; do
  check "a car of 10 cm under $scheme" rests "$(of_host 1e-6 100)" --scheme $scheme -- \
    "$program" mesh 0.1 0.01 1.58 0.1
done

# negative control: the host's own steps leave it moving, on one of them in either
# precision
check "stock's does not" sh -c "
  { '$program' mesh 1 0.01 5 0; '$program' box 1 0.01 0 0.1; } 2>/dev/null |
    awk '\$1 > 1e-5 { moves = 1 } END { exit !moves }'"
finish
