#!/bin/sh
# The Python module, on the distribution's own Python: another does not see its
# packages.
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/command_checks.sh"

python=/usr/bin/python3
if ! "$python" -c 'import numpy' 2>/dev/null; then
  echo "skipped: no python3-numpy"
  exit 77
fi
export PYTHONPATH="$top/python" PYTHONDONTWRITEBYTECODE=1
export ODE_MLCP_COMMAND="$command" ODE_MLCP_LIBRARY="$build/lib/libode_mlcp.so.0"

"$python" "$top/tests/python_module.py" "$program" \
  "$build/demos/play/play" >out 2>err
ended=$?
cat err
counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' out)
passed=${counts%% *} failed=${counts##* }
check "the module's tests end" [ -n "$counts" ]
check "with their status" [ $ended -eq 0 ]

# a picture that is left out is said, and nothing else is lost
PYTHON=false "$top/tools/plot" wall.csv >out 2>err && status=0 || status=$?
check "no Python for pictures: status 0" status_is 0
check "no Python for pictures: the cure" \
  err_has '^no picture of wall.csv: .*python3-numpy and python3-matplotlib'

if command -v mypy >/dev/null; then
  check "types" mypy --strict --ignore-missing-imports --python-executable \
    "$python" "$top/python/ode_mlcp.py" "$top/python/ode_mlcp_plot.py" >types
  cat types
fi

finish
