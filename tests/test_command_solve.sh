#!/bin/sh
# `ode-mlcp solve` on good and bad files, and on what `ode-mlcp run --dump`
# writes.
. "$(dirname "$0")/command_checks.sh"

solve() { ode_mlcp solve "$@"; }

# matrix FILE FORMAT [LINE...]: a Matrix Market file
matrix() {
  file=$1
  echo "%%MatrixMarket matrix $2" >"$file"
  shift 2
  for line in "$@"; do echo "$line" >>"$file"; done
}

# expect WHAT STATUS WORD: the last solve ended so
expect() {
  check "$1: status $2" status_is "$2"
  check "$1: says $3" grep -q "$3" out
  check "$1: nothing on standard error" err_is_empty
}

# ---- one problem in every format ----

# w = M z + q with M = [2 1; 1 2], q = [-5 -6]: z = [4/3 7/3]
matrix M.mtx "array real general" "2 2" 2 1 1 2
matrix q.mtx "array real general" "2 1" -5 -6
matrix M_coordinate.mtx "coordinate real general" "% a comment" "2 2 5" \
  "1 1 2" "2 1 0.5" "1 2 1" "2 2 2" "2 1 0.5"
matrix M_symmetric.mtx "coordinate integer symmetric" "2 2 3" "1 1 2" "2 1 1" \
  "2 2 2"
matrix M_lower.mtx "array real symmetric" "2 2" 2 1 2
matrix q_coordinate.mtx "coordinate real general" "2 1 2" "2 1 -6" "1 1 -5"
matrix q_row.mtx "array integer general" "1 2" -5 -6

printf '%s\n' "%%MatrixMarket matrix array real general" "2 1" \
  1.3333333333333333 2.3333333333333335 >expected
for M in M M_coordinate M_symmetric M_lower; do
  for q in q q_coordinate q_row; do
    for solver in fast lemke; do
      rm -f z.mtx
      solve $M.mtx $q.mtx --solver $solver --output z.mtx
      expect "$M $q $solver" 0 "^status: solved"
      # to the last digit but one
      check "$M $q $solver: z" awk '
        NR == FNR { want[FNR] = $1; next }
        FNR > 2 && ($1 - want[FNR])^2 > 1e-28 { wrong = 1 }
        END { exit wrong || FNR != 4 }' expected z.mtx
    done
  done
done

solve M.mtx q.mtx --json
check "JSON: status 0" status_is 0
check "JSON: valid" json_is_valid out
for pair in status:solved kind:lcp n:2 entries:4 pivots:0 solver:fast
do
  check "JSON: $pair" json_holds out "${pair%%:*}" "${pair#*:}"
done
for key in residual factorisations seconds iterations tolerance; do
  check "JSON: $key" [ -n "$(json_value out $key)" ]
done
# of one solve, not of the clock
seconds_are_few() {
  awk -v s="$(json_value out seconds)" 'BEGIN { exit !(s > 0 && s < 100) }'
}
check "JSON: seconds" seconds_are_few
solve M.mtx q.mtx --json --solver lemke
check "JSON: lemke pivots" [ "$(json_value out pivots)" -gt 0 ]

# skew-symmetric: a matrix game; n = 0; numbers of every kind
matrix skew.mtx "coordinate real skew-symmetric" "2 2 1" "2 1 1"
matrix q_skew.mtx "array real general" "2 1" 1 -1
solve skew.mtx q_skew.mtx --solver lemke
expect "skew-symmetric" 0 "^status: solved"
matrix empty.mtx "array real general" "0 0"
matrix q_empty.mtx "array real general" "0 1"
solve empty.mtx q_empty.mtx --output z_empty.mtx
expect "n = 0" 0 "^status: solved"
check "n = 0: z" grep -q "^0 1" z_empty.mtx
matrix wide.mtx "coordinate real general" "2 2 2" "1 1 1e-200" "2 2 1e+200"
matrix q_wide.mtx "array real general" "2 1" -1e-200 -1e200
solve wide.mtx q_wide.mtx
expect "four hundred orders of magnitude" 0 "^status: solved"

# ---- no solution ----

matrix zero.mtx "coordinate real general" "1 1 0"
matrix q_minus.mtx "array real general" "1 1" -1
matrix q_ones.mtx "array real general" "2 1" -1 -1
matrix concave.mtx "array real general" "2 2" -1 0 0 -1
for solver in fast lemke; do
  solve zero.mtx q_minus.mtx --solver $solver
  expect "infeasible, $solver" 1 "^status: infeasible"
  solve concave.mtx q_ones.mtx --solver $solver --json
  expect "not copositive, $solver" 1 '"status": "infeasible"'
done
matrix apart.mtx "array real general" "2 2" 1 -1 -1 1
solve apart.mtx q_ones.mtx --certificate y.mtx --json
expect "a certificate" 1 '"certificate": [0-9]'
y1=$(sed -n 3p y.mtx) y2=$(sed -n 4p y.mtx)
check "it is written" awk "BEGIN { exit !($y1 > 0 && $y1 == $y2) }"
rm -f y.mtx
solve M.mtx q.mtx --certificate y.mtx --json
expect "none where it is solved" 0 '"certificate": null'
check "nor written" [ ! -e y.mtx ]
matrix ray.mtx "array real general" "2 2" -1 2 3 -1
matrix q_ray.mtx "array real general" "2 1" -1 -1
solve ray.mtx q_ray.mtx
expect "feasible, no solution on the path" 0 "^status: solved"
solve M.mtx q.mtx
expect "the componentwise residual" 0 "^componentwise: [0-9]"
solve M.mtx q.mtx --tolerance 1e-300 --json --output z.mtx
check "a tolerance out of reach ends" [ "$status" -le 1 ]
check "its JSON is valid" json_is_valid out
check "its z is written" [ -s z.mtx ]
# an answer with rounding in it is one to some tolerances
awk 'BEGIN {
  print "%%MatrixMarket matrix array real general" >"round.mtx"
  print 6, 6 >"round.mtx"
  for (i = 1; i <= 6; i++)
    for (j = 1; j <= 6; j++) printf "%.17g\n", 1 / (i + j) + 0.1 * (i == j) >"round.mtx"
  print "%%MatrixMarket matrix array real general" >"q_round.mtx"
  print 6, 1 >"q_round.mtx"
  for (i = 1; i <= 6; i++) printf "%.17g\n", -1 / (i + 2) >"q_round.mtx"
}'
solve round.mtx q_round.mtx
expect "solved to the default tolerance" 0 "^status: solved"
solve round.mtx q_round.mtx --tolerance 1e-300
expect "not to one beyond rounding" 1 "^status: inaccurate"
expect "for which more was tried" 1 "^factorisations: [0-9][0-9]"

# ---- bad files, one by one ----

# refused WHAT PATTERN ARG...: status 2, one line on standard error, no output
refused() {
  what=$1 pattern=$2
  shift 2
  solve "$@"
  check_refusal "$what" "^ode-mlcp solve: .*$pattern"
  check "$what: prints nothing" [ ! -s out ]
}

# bad WHAT PATTERN FORMAT LINE...: for M
bad() {
  what=$1 pattern=$2 format=$3
  shift 3
  matrix bad.mtx "$format" "$@"
  refused "$what" "$pattern" bad.mtx q.mtx
}

general="coordinate real general"
bad "not square" "bad.mtx:2: .*2 x 3, expected is n x n" "$general" "2 3 0"
bad "NaN" "bad.mtx:3: 'nan' is not a finite" "$general" "2 2 1" "1 1 nan"
bad "infinity" "bad.mtx:3: '-inf' is not a fin" "$general" "2 2 1" "1 1 -inf"
bad "overflow" "bad.mtx:3: '1e999' is not a fin" "$general" "2 2 1" "1 1 1e999"
bad "a word" "bad.mtx:3: 'two' is not a number" "$general" "2 2 1" "1 1 two"
bad "truncated" "bad.mtx:3: the file ends" "$general" "2 2 2" "1 1 1"
bad "truncated array" "bad.mtx:5: the file ends" "array real general" "2 2" \
  1 2 3
bad "too long" "bad.mtx:4: '2' after the last" "$general" "2 2 1" "1 1 1" \
  "2 2 2"
bad "row out of range" "bad.mtx:3: a row is 3" "$general" "2 2 1" "3 1 1"
bad "column 0" "bad.mtx:3: a column is 0" "$general" "2 2 1" "1 0 1"
bad "negative size" "bad.mtx:2: '-2' where" "$general" "-2 2 1"
bad "huge size" "bad.mtx:2: the number of rows is too large" "$general" \
  "99999999999 1 0"
bad "larger than is solved" "bad.mtx: more than 1000000 rows" "$general" \
  "2000000000 2000000000 0"
bad "no sizes" "bad.mtx:1: the file ends" "$general"
bad "complex" "bad.mtx:1: the first line" "coordinate complex general" "1 1 0"
bad "pattern" "bad.mtx:1: the first line" "coordinate pattern general" "1 1 0"
bad "symmetric, not square" "bad.mtx:2: a symmetric" \
  "coordinate real symmetric" "2 3 0"
bad "skew with a diagonal" "bad.mtx:3: a skew-symmetric" \
  "coordinate real skew-symmetric" "2 2 1" "1 1 1"
bad "half an integer" "bad.mtx:3: '0.5' is not an integer" \
  "coordinate integer general" "2 2 1" "1 1 0.5"
bad "a sum that overflows" "bad.mtx: the entries in row 1, column 2" \
  "$general" "2 2 2" "1 2 1e308" "1 2 1e308"
: >empty
refused "empty file" "empty: the file is empty" empty q.mtx
echo "no matrix" >text
refused "some text" "text:1: the first line" text q.mtx
refused "no file" "missing.mtx: No such file" missing.mtx q.mtx
refused "no file for q" "missing.mtx: No such file" M.mtx missing.mtx
refused "a folder for a file" "Is a directory" . q.mtx
refused "q of another length" "zero.mtx:2: .*expected is 2 x 1" M.mtx zero.mtx
matrix q_nan.mtx "array real general" "2 1" 1 nan
refused "NaN in q" "q_nan.mtx:4: 'nan' is not" M.mtx q_nan.mtx
refused "a matrix for q" "M.mtx:2: .*2 x 2, expected is 2 x 1" M.mtx M.mtx

# ---- wrong use ----

refused "no arguments" "name M.mtx and q.mtx"
refused "M without q" "M.mtx: one file is no problem" M.mtx
refused "three files" "name M.mtx and q.mtx" M.mtx q.mtx q.mtx
refused "unknown solver" "'dantzig' is not fast or lemke" M.mtx q.mtx \
  --solver dantzig
refused "no tolerance" "'zero' is not a number" M.mtx q.mtx --tolerance zero
refused "unknown option" "there is no option --fast" M.mtx q.mtx --fast
solve M.mtx q.mtx --output nowhere/z.mtx
check "unwritable output: status 1" status_is 1
check "unwritable output: named" err_has "cannot write 'nowhere/z.mtx': No such file"
if [ -c /dev/full ]; then
  status=0
  "$command" solve M.mtx q.mtx >/dev/full 2>err || status=$?
  check "full disk: status 1" status_is 1
fi
solve --help
check "help: status 0" status_is 0
check "help: options" grep -q -e "--tolerance T" out

# a folder whose two rows ask one velocity for 1 and for -1
mkdir apart
real="coordinate real general"
matrix apart/velocity_floor.mtx "$real" "1 1 1" "1 1 0.1"
for name in M Minv; do
  matrix apart/$name.mtx "$real" "6 6 6" "1 1 1" "2 2 1" "3 3 1" "4 4 1" \
    "5 5 1" "6 6 1"
done
matrix apart/v_free.mtx "$real" "6 1 0"
matrix apart/J.mtx "$real" "2 6 2" "1 1 1" "2 1 1"
matrix apart/rows.mtx "$real" "2 5 4" "1 2 1" "1 4 1" "2 2 1" "2 4 -1"
matrix apart/bounds.mtx "$real" "2 2 0"
matrix apart/frictions.mtx "$real" "0 7 0"
matrix apart/pairs.mtx "$real" "0 2 0"
matrix apart/guess.mtx "$real" "2 1 0"
rm -f y.mtx
for solver in fast lemke; do
  solve apart --json --solver $solver
  expect "folder, $solver: no solution" 1 '"status": "inaccurate"'
done
matrix apart/rows.mtx "$real" "2 5 4" "1 2 1" "1 4 1" "2 2 1" "2 4 1"
solve apart
expect "folder: the same demand twice" 0 "^status: solved"

# ---- what a run writes ----

# a tolerance out of reach: problems fall short of it, but where rounding leaves nothing
run --dump problems --tolerance 1e-300 --stats stats.json -- "$program" world \
  touch 5
check "dump: status 0" status_is 0
check "dump: one of each that fell short" \
  [ "$(ls problems | wc -l)" -eq "$(json_value stats.json accepted)" ]
for step in 1 5; do
  folder=problems/step-00000$step-island-001-part-01
  for solver in fast lemke; do
    solve $folder --json --solver $solver --output p.mtx
    check "dump, step $step, $solver: seconds" seconds_are_few
    check "dump, step $step, $solver: status 0" status_is 0
    check "dump, step $step, $solver: JSON" json_is_valid out
    check "dump, step $step, $solver: solved" json_holds out status solved
    check "dump, step $step, $solver: bodies" json_holds out bodies 1
    check "dump, step $step, $solver: output" [ -s p.mtx ]
  done
  solve $folder
  check "dump, step $step: text" grep -q "^bodies: 1" out
done
# the run's own solve, bit by bit
recorded=$(sed -n 's/^  "residual": \(.*\),$/\1/p' $folder/problem.json)
solve $folder --json --tolerance 1e-300
check "dump: the run's residual again" json_holds out residual "$recorded"
mv stats.json with_dump.json
run --tolerance 1e-300 --stats stats.json -- "$program" world touch 5
check "dump: the same residual without" \
  [ "$(json_value stats.json residual_worst)" = \
    "$(json_value with_dump.json residual_worst)" ]

run --dump problems -- "$program" world touch 5
check "dump of what fell short: nothing did" [ ! "$(ls problems)" ]
run --dump problems --tolerance 1e-300 -- "$program" world touch 5
check "dump of what fell short: status 0" status_is 0
check "dump of what fell short: something did" [ "$(ls problems)" ]
# and it falls short again of as much
solve "problems/$(ls problems | head -n 1)" --tolerance 1e-300 --json
check "what fell short: status 1" status_is 1
check "what fell short: said" json_holds out status inaccurate
solve "problems/$(ls problems | head -n 1)" --json
check "what fell short solves to the default" json_holds out status solved
# the tolerance is also how far a solve goes on: to one out of reach it goes further
tried=$(json_value out factorisations)
solve "problems/$(ls problems | head -n 1)" --tolerance 1e-300 --json
check "what fell short: more was tried" \
  [ "$(json_value out factorisations)" -gt "$tried" ]
run --help
check "run --help: --dump" grep -q -e "--dump FOLDER" out
mkdir problems/mine && touch problems/step-notes
run --dump problems --tolerance 1e-300 -- "$program" world touch 130
check "dump: the newest 100 stay" \
  [ "$(ls -d problems/step-0*-part-* | wc -l)" -eq 100 ]
check "dump: the last is there" [ -d problems/step-000130-island-001-part-01 ]
check "dump: what is not ours stays" \
  [ -d problems/mine -a -e problems/step-notes ]
ODE_MLCP_DUMP=by_variable ODE_MLCP_TOLERANCE=1e-300 run -- "$program" world touch 2
check "dump by variable" [ "$(ls by_variable | wc -l)" -eq 2 ]
run --dump worlds --tolerance 1e-300 -- "$program" world touch 2 world touch 2
check "dump: worlds apart" \
  [ -d worlds/step-000002-island-001-part-01 -a \
    -d worlds/world-2-step-000002-island-001-part-01 ]
run --dump forked --tolerance 1e-300 -- "$program" world touch 2 fork touch 2
check "dump: a child's own folder" [ "$(ls -d forked.*/*03* | wc -l)" -eq 1 ]
check "dump: two folders" [ "$(ls -d forked* | wc -l)" -eq 2 ]

check_refused "a folder without a name" "dump: cannot write into ''" \
  --dump '' -- "$program" touch started
check_refused "no place for a folder" "dump: cannot write into 'no/where'" \
  --dump no/where -- "$program" touch started
check_refused "a file for a folder" "dump: cannot write into 'M.mtx': Not a" \
  --dump M.mtx -- "$program" touch started
# a path that the system takes, but not with a problem's files in it
long=$work
while [ ${#long} -lt 3800 ]; do long=$long/$(printf '%0200d' 0); done
mkdir -p "$long"
long=$long/$(printf "%0$((4050 - ${#long}))d" 0)
run --dump "$long" -- "$program" world touch 2 say started
check_refusal "a folder's path that is too long" "the name is too long"
check "a folder's path that is too long: does not start" [ ! -s out ]

# a spoilt folder
cp -r problems/step-000130-island-001-part-01 spoilt
echo "oops" >spoilt/J.mtx
refused "spoilt folder" "spoilt/J.mtx:1: the first line" spoilt
cp problems/step-000130-island-001-part-01/J.mtx spoilt
rm spoilt/velocity_floor.mtx
refused "folder in pieces" "spoilt/velocity_floor.mtx: No such" spoilt

finish
