#!/bin/sh
# Unmodified programs slide over floors made of pieces as over one: contacts with what
# neighbours cover push nothing.
. "$(dirname "$0")/command_checks.sh"

program=$build/tests/floor_program

# a host of single precision rounds a place of 1 m in each step of 2 ms
rounded=$(of_host 0 500)
# is_smooth BOUND ARG...: no body's speed changes by more than that share of it
is_smooth() {
  bound=$1
  shift
  "$command" run "$@" >out 2>err || return 1
  awk -v bound="$bound" -v rounded=$rounded '{ if (bound < rounded) bound = rounded
     for (i = 2; i <= NF; i += 2) if (!($i <= bound)) bad = 1 }
    END { exit bad || NR != 2 }' out
}

for scheme in st gap trapezoid-1 trapezoid conserving; do
  check "tiles under $scheme" is_smooth 1e-6 --scheme $scheme -- \
    "$program" tiles 0.5 0.01 0.4
  check "slabs under $scheme" is_smooth 1e-6 --scheme $scheme -- \
    "$program" slabs 0.5 0.01 0.4
  [ "$scheme" != st ] && left_out_in_single "small tiles under $scheme" ||
    check "small tiles under $scheme" is_smooth 1e-6 --scheme $scheme \
      -- "$program" tiles 0.05 0.005 2.5
done

# without a margin, too; a body settles by 1e-5 g h in its first step
for scheme in ap ah; do
  for floor in 'tiles 0.5 0.01 0.4' 'slabs 0.5 0.01 0.4' 'mixed 0.5 0.01 0.4' \
    'tiles 0.05 0.005 2.5' 'mixed 4 0.02 0' 'tiles 1 0.002 1.1'; do
    check "$floor under $scheme" is_smooth 2e-6 --scheme $scheme -- \
      "$program" $floor
  done
done
check 'a mixed floor under st' is_smooth 1e-6 --scheme st -- \
  "$program" mixed 0.5 0.01 0.4

# a geom that is gone when the step begins is not looked at
check "pieces that are replaced" is_smooth 1 --scheme st -- \
  "$program" tiles 0.5 0.01 0.4 replace

# negative control: the host's own steps are not smooth
check "stock is not smooth" sh -c "'$program' tiles 0.5 0.01 0.4 |
  awk 'NR == 1 { exit !(\$2 > 1e-3) }'"
finish
