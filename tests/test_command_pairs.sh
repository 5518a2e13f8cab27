#!/bin/sh
# Pairs of geoms that the hash space of ODE's releases loses: the host here finds them,
# and `ode-mlcp compare` says that a release would not.
. "$(dirname "$0")/command_checks.sh"

program=$build/tests/hash_space_program

check "the program runs" "$program" hash >alone
check "the box lies on the other one" grep -q 'at rest 0\.\(59\|60\)' alone

# of any stepper's
lost() { sed -n 's/.*"lost_pairs": \([0-9]*\).*/\1/p' report/report.json; }

ode_mlcp compare --steppers step,ah --steps 100 --output report -- \
  "$program" hash
check "compared" status_is 0
check "pairs are counted" [ "$(lost | sort -n | head -n 1)" -gt 20 ]
check "the notes say so" grep -q 'No stepper is to blame' out
check "so does the table" grep -q 'touching pairs that ODE would lose' out
# nor is a stepper to blame: it is not deep
check "nothing is deep" awk -F: '/penetration_worst/ && $2 + 0 > 0.02 { bad = 1 }
  END { exit bad }' report/report.json

ode_mlcp compare --steppers step,ah --steps 100 --output report -- \
  "$program" simple
check "compared in a simple space" status_is 0
check "none is lost" [ "$(lost | sort -n | tail -n 1)" = 0 ]
check "nothing is said" sh -c '! grep -q "hash space" out'
check "nor in the table" sh -c '! grep -q "would lose" out'

finish
