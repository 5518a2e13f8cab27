#!/bin/sh
# Unmodified programs slide and roll over floors of tiles, boards, meshes and fields as
# over one plane (the family `ghost` of the drawn worlds, each 27th): contacts with what
# neighbours cover push nothing.
. "$(dirname "$0")/command_checks.sh"

play=$build/tests/never_worse_play

# a body settles by 1e-5 g h in its first step, a few millionths of the slowest speed; a
# host of single precision rounds places in each step
bound=$(of_host 3e-6 2000)
# is_smooth SEED COMMAND...: the speed changes by no more than that share of it
is_smooth() {
  number=$1
  shift
  "$@" "$play" step 1 "$number" 2>err |
    awk -v bound="$bound" '{ smooth = $1 == "ghost" && $14 <= bound } END { exit !smooth }'
}

for scheme in ap ah st gap trapezoid-1 trapezoid conserving; do
  for k in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do
    check "world $((27 * k)) under $scheme" is_smooth $((27 * k)) \
      "$command" run --scheme $scheme --
  done
done

# negative control: the host's own steps are not smooth
check "stock is not smooth" sh -c "'$play' step 1 0 | awk '{ exit !(\$14 > 1e-2) }'"

# a geom that is gone when the step begins is not looked at
check "a ground that is replaced" "$command" run --scheme st -- \
  "$program" world replaces touch 20
finish
