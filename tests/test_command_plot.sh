#!/bin/sh
# ode-mlcp plot: what it refuses, and that traces of run and of compare become a
# picture of the kind that its name says.
. "$(dirname "$0")/command_checks.sh"
play=$build/demos/play/play

plot() { ode_mlcp plot "$@"; }
refused() {
  what=$1 pattern=$2
  shift 2
  plot "$@"
  check_refusal "$what" "^ode-mlcp plot: .*$pattern"
}

run --trace a.csv -- "$play" wall 2 --seconds 0.2
run --trace b.csv --scheme ap -- "$play" wall 2 --seconds 0.2
check "there are traces" [ -s b.csv ]

refused "no file" "no file to draw"
refused "no such file" "none.csv: No such file" none.csv
refused "another kind" "'a.gif' ends with none of" --output a.gif a.csv
refused "no folder" "cannot write 'none/a.png'" --output none/a.png a.csv
refused "no such column" "no file has a column 'mass'" --columns mass a.csv
refused "an empty name" "an empty name" --columns contacts, a.csv
echo 'a,b' >other.csv
refused "another table" "other.csv:1: no column time_s" other.csv
printf 'step,time_s\n1\n' >short.csv
refused "a short row" "short.csv:2: 1 values under 2 columns" short.csv
printf 'step,time_s,contacts\n1,0.1,0\n' >zero.csv
refused "nothing to see" "nothing to draw" zero.csv

mkdir tools
printf '#!/bin/sh\ncat >/dev/null\nexit 1\n' >tools/gnuplot
chmod +x tools/gnuplot
before=$PATH
PATH=$work/tools:$PATH
plot --output never.svg a.csv
PATH=$before
check "a gnuplot that fails: status 1" status_is 1
check "a gnuplot that fails: which picture" \
  err_has '^ode-mlcp plot: never.svg: gnuplot could not draw it'

if command -v gnuplot >/dev/null; then
  for value in 0 16 -1e-9 3e9; do
    printf 'step,time_s,contacts,residual\n1,0.1,%s,1e-9\n2,0.2,%s,1e-9\n' \
      $value $value >still.csv
    plot --columns contacts,residual --output still.svg still.csv
    check "what stays $value: nothing to say" err_is_empty
  done
  plot --output t.svg a.csv b.csv
  check "two traces: status 0" status_is 0
  check "two traces: nothing to say" err_is_empty
  check "two traces: an SVG" grep -q '</svg>' t.svg
  check "two traces: both are named" grep -q 'b\.csv' t.svg
  check "axes have units" grep -q 'kinetic energy, J' t.svg
  # a wall has no joints: no panel for them
  check "no empty panel" sh -c '! grep -q "joint error" t.svg'
  plot --output t.png --columns contacts,residual a.csv
  check "columns: a PNG" sh -c 'head -c 4 t.png | grep -q PNG'
  "$command" compare --output report --no-repeat --steppers quick -- \
    "$play" wall 2 --seconds 0.2 >/dev/null
  plot --output c.pdf report/quick.csv
  check "a comparison's: a PDF" sh -c 'head -c 4 c.pdf | grep -q PDF'
fi

finish
