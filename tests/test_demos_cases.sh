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

# cases of one bound under the same schemes; gravity and wheels are in mm, ah's rope as well
while read -r schemes bound cases <&3; do
  for name in $cases; do
    for scheme in $(echo "$schemes" | tr , ' '); do
      check "$name on $scheme" is_right "$name" "$scheme" "$bound"
    done
  done
done 3<<'END'
ah,st 1e-3 slope stop grasp ratio kerb field
ah,st 2e-3 bounce
ah,st,conserving 1e-3 slip tripod rail packed cup
ah,st,conserving 3e-3 belt
ah,st,conserving 1e-2 gravity wheels
ah,st,conserving 1e-6 mesh
st 1e-3 lift
ah 2 rope
conserving 1e-3 rope
conserving 1e-4 fourbar
conserving 1e-6 whirl
END

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
