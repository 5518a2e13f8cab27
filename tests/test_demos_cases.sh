#!/bin/sh
# The cases of docs/cases.md: where the page says that a scheme is right it is,
# and the page has a row for each figure that a case prints.
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/command_checks.sh"

# is_right CASE SCHEME BOUND: every figure is within BOUND of what is right, of its
# size or, where 0 is right, of 1 in its unit
is_right() {
  "$command" run --scheme "$2" -- "$build/demos/cases/$1" step >out 2>err ||
    return 1
  awk -F'\t' -v bound="$3" '
    { off = $2 - $3; size = $3 != 0 ? $3 : 1
      if (off < 0) off = -off
      if (off > bound * size) { print "  " $0; bad = 1 } }
    END { exit bad || NR == 0 }' out
}

for scheme in ah st; do
  check "slope on $scheme" is_right slope $scheme 1e-3
  check "belt on $scheme" is_right belt $scheme 3e-3
  check "slip on $scheme" is_right slip $scheme 1e-3
  check "stop on $scheme" is_right stop $scheme 1e-3
  check "grasp on $scheme" is_right grasp $scheme 1e-3
  check "ratio on $scheme" is_right ratio $scheme 1e-3
  check "bounce on $scheme" is_right bounce $scheme 2e-3
done
for scheme in ah st conserving; do
  check "tripod on $scheme" is_right tripod $scheme 1e-3
  check "rail on $scheme" is_right rail $scheme 1e-3
  check "packed on $scheme" is_right packed $scheme 1e-3
  check "gravity on $scheme" is_right gravity $scheme 1e-2 # mm
  check "wheels on $scheme" is_right wheels $scheme 1e-2 # mm
done
check "kerb on ah" is_right kerb ah 1e-3
check "kerb on st" is_right kerb st 1e-3
check "cup on ah" is_right cup ah 1e-3
check "cup on st" is_right cup st 1e-3
check "whirl on conserving" is_right whirl conserving 1e-6
check "fourbar on conserving" is_right fourbar conserving 1e-4
check "field on ah" is_right field ah 1e-3
check "field on st" is_right field st 1e-3
check "mesh on ah" is_right mesh ah 1e-6
check "mesh on st" is_right mesh st 1e-6
check "mesh on conserving" is_right mesh conserving 1e-6
check "lift on st" is_right lift st 1e-3
check "belt on conserving" is_right belt conserving 3e-3
check "slip on conserving" is_right slip conserving 1e-3
check "cup on conserving" is_right cup conserving 1e-3
check "rope on ah" is_right rope ah 2 # mm
check "rope on conserving" is_right rope conserving 1e-3

# negative control: stock's box of friction is seen
check "stock's slope is not right" sh -c "! '$build/demos/cases/slope' step |
  awk -F'\t' 'NR == 1 { exit !(\$2 > 0.9 * \$3) }'"

# and what ah loses: as much as stock does
check "ah's whirl is not right" sh -c "! '$command' run -- '$build/demos/cases/whirl' step |
  awk -F'\t' 'NR == 1 { exit !(\$2 > 60) }'"

# a page that is not renewed when a case gains a figure
for name in slope belt slip stop mesh lift grasp rope ratio bounce \
    tripod rail whirl cup packed gravity wheels kerb fourbar field; do
  "$build/demos/cases/$name" step 2>err | cut -f1 >figures
  check "docs/cases.md has all of $name" sh -c '
    while read -r figure; do
      sed -n "/^<!-- case: $1 -->/,/^<!-- end of case/p" "$2/docs/cases.md" |
        grep -q -F -e "| $figure, " || exit 1
    done <figures' sh $name "$top"
done
"$build/demos/cases/rope" sideways >out 2>err && status=0 || status=$?
check "another stepper's name is refused" status_is 2
finish
