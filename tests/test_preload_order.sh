#!/bin/sh
# An unmodified program's ball rolls to second order: the ground is asked again where the
# ball comes to within a step.
. "$(dirname "$0")/command_checks.sh"

program=$build/tests/rolling_program

# roll SCHEME GROUND H SECONDS
roll() {
  scheme=$1
  shift
  "$command" run --scheme "$scheme" -- "$program" "$@" 2>>err
}

# is_of_second_order SCHEME GROUND: a step half as long is off by a quarter
is_of_second_order() {
  : >err
  for h in 0.01 0.005 0.0025 0.00125; do roll "$1" "$2" $h 0.5; done |
    awk '{ for (i = 1; i <= 3; i++) place[NR, i] = $i }
      END { for (r = 1; r < 4; r++)
          for (i = 1; i <= 3; i++) {
            d = place[r, i] - place[r + 1, i]
            apart[r] += d * d
          }
        order = log(apart[1] / apart[3]) / log(2) / 4
        print "order", order >"err"
        exit !(NR == 4 && order > 1.8 && order < 2.3) }'
}

# gains SCHEME GROUND: less than a thousandth of its energy in 20 s
gains_nothing() {
  : >err
  roll "$1" "$2" 0.01 20 | awk '{ print "gains", $4 >"err" }
    END { exit !(NR == 1 && $4 < 1e-3) }'
}

for scheme in trapezoid conserving; do
  for ground in plane mesh field; do
    left_out_in_single "order on a $ground under $scheme" ||
      check "order on a $ground under $scheme" is_of_second_order \
        $scheme $ground
    check "energy on a $ground under $scheme" gains_nothing $scheme $ground
  done
done
# negative control: a scheme of first order is seen
is_of_first_order() { ! is_of_second_order ah plane; }
check 'first order is seen' is_of_first_order
finish
