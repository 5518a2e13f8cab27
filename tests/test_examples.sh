#!/bin/sh
# The examples: each is run as its page says and leaves its picture, and the
# notebook's cells run from the first to the last.
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/command_checks.sh"

is_picture() { # a PNG that is more than an empty frame
  [ "$(head -c 4 "$1" | tail -c 3)" = PNG ] && [ "$(wc -c <"$1")" -gt 4000 ]
}

# the commands of a page are those of its script, options and all
says_what_it_does() {
  sed -n '/^```sh/,/^```/p' "$top/examples/$1/README.md" | tr -d '\\\n' |
    tr -s ' ' | grep -q -F -e "$2"
}

python=/usr/bin/python3
if ! "$python" -c 'import numpy, scipy, matplotlib' 2>/dev/null; then
  echo "skipped: no python3-numpy, python3-scipy, python3-matplotlib"
  exit 77
fi
for name in swap compare wall gaps grasp impact; do
  check "$name runs" "$top/examples/run" "$build" $name
done
check "dominoes: a picture" is_picture "$build/examples/swap/domino.png"
check "compare: a picture" is_picture "$build/examples/compare/compare.png"
check "compare: a report" [ -s "$build/examples/compare/report/report.html" ]
check "wall: a picture" is_picture "$build/examples/wall/wall.png"
check "gaps: a picture" is_picture "$build/examples/gaps/drop.png"
check "grasp: a picture" is_picture "$build/examples/grasp/grasp.png"
check "impact: a picture" is_picture "$build/examples/impact/foot.png"
check "impact: nothing left out" grep -q '"incomplete_lcps": 0' \
  "$build/examples/impact/foot.json"
for name in biped gripper; do
  check "impact: a picture of the $name" is_picture \
    "$build/examples/impact/$name.png"
  check "impact: nothing left out of the $name" grep -q '"incomplete_lcps": 0,' \
    "$build/examples/impact/$name.json"
done
check "impact: all of the biped's samples" grep -q '"finished": 40000,' \
  "$build/examples/impact/biped.json"
check "impact: a job array makes the set of one run" \
  cmp -s "$build/examples/impact/whole.json" "$build/examples/impact/array/set.json"
check "impact: which has outcomes" grep -q '"outcomes": 40000' \
  "$build/examples/impact/whole.json"
if "$python" -c 'import distributed' 2>/dev/null; then
  check "impact: workers of Dask make it" \
    cmp -s "$build/examples/impact/whole.json" "$build/examples/impact/dask/set.json"
else
  echo "no python3-distributed: no set on Dask"
fi
check "impact's page" says_what_it_does impact \
  "--samples 40000 --csv biped.csv --json"
check "the dominoes fall" grep -q '^12 of 12 dominoes lie' \
  "$build/examples/swap/log"
check "swap's page" says_what_it_does swap "run --trace domino.csv -- ./domino"
check "compare's page" says_what_it_does compare \
  "compare --steppers step,quick,ah --steps 800 --output report -- ./domino"

# an example that fails is said, with its own status
check "a failure is told" sh -c "! '$top/examples/run' '$build/lib' swap 2>err"
check "with its name" err_has 'swap failed'

export PYTHONPATH="$top/python" PYTHONDONTWRITEBYTECODE=1
export ODE_MLCP_COMMAND="$command"
export ODE_MLCP_LIBRARY="$build/lib/libode_mlcp.so.0"
export ODE_EXAMPLE_PROGRAM="$build/examples/swap/domino"
mkdir -p "$build/examples/notebook"
check "the notebook runs" "$python" "$top/examples/run-notebook" \
  "$top/examples/notebook.ipynb" "$build/examples/notebook"
check "its pictures" is_picture "$build/examples/notebook/figure-1.png"
finish
