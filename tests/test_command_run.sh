#!/bin/sh
# Programs under `ode-mlcp run`: exit status, what is said at the end, and the
# result files, however the program ends.
. "$(dirname "$0")/command_checks.sh"

# ---- exit status ----

for value in 0 1 2 77 255; do
  run "$program" step 3 exit $value
  check "exit $value" status_is $value
  check "exit $value: nothing to say" err_is_empty
done
run -- "$program" step 3 exit 7
check "after --" status_is 7

# ---- statistics ----

run --stats s.json -- "$program" touch 20
check "statistics: status 0" status_is 0
check "statistics: valid JSON" json_is_valid s.json
for key in steps islands_max contacts_max rows_max solves pivots degraded \
    unsolved residual_worst solver_seconds step_seconds version scheme; do
  check "statistics: $key" grep -q "^  \"$key\": " s.json
done
check "statistics: steps" json_holds s.json steps 20
check "statistics: islands" json_holds s.json islands_max 1
check "statistics: contacts" json_holds s.json contacts_max 4
check "statistics: solves" json_holds s.json solves 20
check "statistics: nothing unsolved" json_holds s.json unsolved 0
check "statistics: default scheme" json_holds s.json scheme ah
check "statistics: version" json_holds s.json version \
  "$("$command" --version | sed 's/.* //')"
if command -v python3 >/dev/null; then
  check "statistics: JSON for others" python3 -m json.tool s.json out
fi
check "statistics: residual is small" \
  awk -v r="$(json_value s.json residual_worst)" 'BEGIN { exit !(r < 1e-6) }'
check "no draft is left" [ "$(echo s.json*)" = s.json ]

run --stats s.json --scheme ap --edges 8 --erp 0.5 --solver lemke \
  --tolerance 1e-9 --max-correction 2 --max-contacts 50 -- "$program" step 1
check "options arrive: scheme" json_holds s.json scheme ap
check "options arrive: edges" json_holds s.json edges 8
check "options arrive: erp" json_holds s.json erp 0.5
check "options arrive: solver" json_holds s.json solver lemke
check "options arrive: tolerance" json_holds s.json tolerance 1e-9
check "options arrive: max-correction" json_holds s.json max_correction 2
check "options arrive: max-contacts" json_holds s.json max_contacts 50

# every setting is in the statistics, and a run can be repeated from them
run --stats s.json --scheme gap --edges 6 --erp 0.25 --max-correction inf \
  --solver lemke --tolerance 1.5e-9 --max-contacts 99 --margin 0.015625 \
  --measure on --fixed-point 2 \
  --alpha 0.7071067811865476 --events off \
  --max-events 7 --impact set --impact-seed 3 -- "$program" touch 5
check "all settings: status" status_is 0
options=$("$command" run --help | sed -n 's/^  --\([a-z-]*\) .*/\1/p' |
  grep -v '^stats$\|^trace$\|^dump\|^strict$\|^version$')
again=
for option in $options; do
  key=$(echo "$option" | tr - _)
  value=$(json_value s.json "$key")
  check "all settings: $option is in the statistics" [ -n "$value" ]
  [ "$value" != null ] || value=inf
  again="$again --$option=$value"
done
# shellcheck disable=SC2086 # a list of options
run --stats again.json $again -- "$program" touch 5
check "a run from its statistics: status" status_is 0
grep -v seconds s.json >one
grep -v seconds again.json >other
check "a run from its statistics: the same" cmp one other
check "all settings: a number keeps its digits" json_holds s.json alpha \
  0.7071067811865476

for scheme in ap ah st gap trapezoid-1 trapezoid conserving; do
  run --stats s.json --scheme $scheme --fixed-point 3 -- "$program" touch 5
  check "scheme $scheme runs" status_is 0
  check "scheme $scheme arrives" json_holds s.json scheme $scheme
  check "scheme $scheme solves" json_holds s.json unsolved 0
  run --scheme $scheme -- "$program" traps touch 5 trapped
  check "scheme $scheme under a program's traps" grep -qx '1 0' out
done
run --fixed-point -1 -- "$program" step 1
check "a bad number of passes: status 2" status_is 2

ODE_MLCP_EDGES=6 ODE_MLCP_SCHEME=ap ODE_MLCP_STATS=e.json \
  "$command" run --edges 10 "$program" step 2
check "settings from the environment" json_holds e.json scheme ap
check "an option goes before the environment" json_holds e.json edges 10

# ---- contacts before they touch ----

run -- "$program" drop 200
check "no margin: the box gets into the ground" \
  awk '{ exit !($1 > 1e-3) }' "$work/out"
run --margin 0.1 --stats s.json -- "$program" drop 200
check "a margin: it does not" awk '{ exit !($1 < 1e-9) }' "$work/out"
check "options arrive: margin" json_holds s.json margin 0.1
check "a margin: nothing unsolved" json_holds s.json unsolved 0
# schemes that look ahead hear of what comes near without being told to
for scheme in st gap trapezoid-1 trapezoid conserving; do
  run --scheme $scheme -- "$program" drop 60
  check "auto, $scheme: the box stays out of the ground" \
    awk '{ exit !($1 < 1e-4) }' "$work/out"
  run --scheme $scheme --margin 0 -- "$program" drop 30
  check "no margin, $scheme: it does not" \
    awk '{ exit !($1 > 1e-3) }' "$work/out"
done
for tower in "0.5 125" "0.05 0.1" "0.5 10000" "3 1"; do
  # shellcheck disable=SC2086 # a size and a mass
  set -- $tower
  run --scheme st -- "$program" size "$1" mass "$2" tower 20
  check "st, 20 boxes of $1 m, $2 kg stand" awk '{ exit !($1 < 0.1) }' "$work/out"
done
# Of a plate with an edge in a mesh what is in it is told by the host, once; with a
# margin of a quarter of a size what is apart is told beside it: the corners of the
# other edge, at 0.4 + sin 0.15 - 0.4 cos 0.15 sizes. No more is told than is asked for.
for size in 0.5 0.02 30; do
  "$program" world size $size entered 32 >"$work/host"
  run -- "$program" world step 1 size $size entered 32
  check "no margin, $size m: what is in a mesh is the host's" \
    cmp -s "$work/host" "$work/out"
  for room in 32 7; do
    run --margin "$(awk "BEGIN { print $size / 4 }")" -- \
      "$program" world step 1 size $size entered $room
    check "a margin, $size m, $room points: what is in a mesh is told once" \
      awk -v near=$((room == 7 ? 1 : 2)) '
        NR == FNR { deep = $1; deepest = $3; next }
        { exit !($1 == deep && $2 == near && $3 == deepest && $4 == "0.1539" && $5 == 0) }
        ' "$work/host" "$work/out"
  done
done
run --margin=-1e-3 -- "$program" drop 1
check "a bad margin: status 2" status_is 2
check "a bad margin: said" err_has "--margin: '-1e-3' is not auto, or a length"

# ---- every way to end ----

# check_ending STATUS STEPS DEED...: both result files are whole
check_ending() {
  wanted=$1 n_steps=$2
  shift 2
  rm -f s.json* t.csv*
  run --stats s.json --trace t.csv -- "$program" "$@"
  check "$*: status" status_is "$wanted"
  check "$*: statistics valid" json_is_valid s.json
  check "$*: steps" json_holds s.json steps "$n_steps"
  check "$*: a row a step" n_lines $((n_steps + 1)) t.csv
  check "$*: no draft left" [ "$(echo s.json* t.csv*)" = "s.json t.csv" ]
}
check_ending 0 5 step 5
check_ending 3 5 step 5 exit 3
check_ending 3 5 step 5 _exit 3
check_ending 143 5 step 5 raise 15
check_ending 134 5 step 5 abort
run "$program" uninitialised
check "without dInitODE: aborted" status_is 134
check "without dInitODE: says so" grep -q 'dInitODE() has to be called' err
check_ending 139 5 step 5 fault
check_ending 137 5 step 5 raise 9
check_ending 0 8 late 3 step 5
check_ending 0 5 step 5 chdir /
mkdir locales
check_ending 0 5 commas "$PWD/locales" step 5
check_ending 0 5 close 2 step 5
check_ending 0 3000 step 3000 # more rows than are kept together

# ---- trace ----

run --trace t.csv -- "$program" touch 4 world step 2
check "trace: header" [ "$(head -1 t.csv | cut -d, -f1-11)" = "step,time_s,\
bodies,contacts,kinetic_energy_J,potential_energy_J,deepest_penetration_m,\
worst_joint_error,residual,pivots,seconds" ]
check "trace: as many fields as names" awk -F, '
  NR == 1 { n = NF } NF != n { exit 1 }' t.csv
check "trace: steps and worlds" [ "$(sed 1d t.csv | cut -d, -f1,12 |
  tr '\n' ' ')" = "1,1 2,1 3,1 4,1 1,2 2,2 " ]
check "trace: time" awk -F, '
  NR == 5 { exit !($2 > 0.0399999 && $2 < 0.0400001) }' t.csv
check "trace: contacts" awk -F, 'NR == 3 { exit !($4 == 4) }' t.csv
# however soon a step ends after another, its row is there before the next
rm -f out
"$command" run --trace shown.csv "$program" step 500 wait >out 2>err &
pid=$!
wait_for grep -q ready out
check "trace: every row is there" n_lines 501 shown.csv
kill -9 $pid
wait $pid 2>/dev/null
# 1000 kg fall from 100 m at rest for two steps of 10 ms: v = 0.1962 m/s
check "trace: kinetic energy" awk -F, -v off="$(of_host 1e-9 1)" 'NR == 7 {
  wanted = 500*0.1962*0.1962; exit !($5/wanted > 1 - off &&
                                     $5/wanted < 1 + off) }' t.csv
check "trace: potential energy" awk -F, 'NR == 7 {
  wanted = 1000*9.81*(100 - 0.02943*0.1)
  exit !($6/wanted > 1 - 1e-6 && $6/wanted < 1 + 1e-6) }' t.csv
check "trace: no hole" awk -F, 'NR > 1 {
  for (k = 1; k <= NF; k++) if ($k == "" || $k ~ /nan|inf/) exit 1 }' t.csv

# ---- where results go ----

echo old >s.json
run --stats s.json sh -c :
check "an old result does not pass for a new one" [ ! -e s.json ]
ln -s real.json link.json
: >real.json
run --stats link.json "$program" step 1
check "a link stays a link" [ -L link.json ]
check "and leads to the result" json_is_valid real.json
run --stats /dev/null "$program" step 1
check "/dev/null: status 0" status_is 0
check "/dev/null is still there" [ -c /dev/null ]
run --stats /dev/stdout "$program" say hello step 1
check "/dev/stdout: the program's words" grep -q '^hello' out
check "/dev/stdout: the statistics" grep -q '"steps": 1,' out

if [ -c /dev/full ]; then
  for option in --stats --trace; do
    run $option /dev/full "$program" step 2 exit 3
    check "$option to a full disk: the program's status" status_is 3
    check "$option to a full disk: said once" n_lines 1 err
    check "$option to a full disk: said why" err_has 'cannot write .*/dev/full.*: No space left'
  done
fi

# ---- several threads ----

run --stats s.json --trace t.csv -- "$program" threads 500
check "threads: every step is counted" json_holds s.json steps 2000
check "threads: four worlds" json_holds s.json worlds 4
check "threads: a row a step" n_lines 2001 t.csv
check "threads: each world's steps in order" awk -F, '
  NR == 1 { n = NF } NF != n || (NR > 1 && $1 != ++steps[$12]) { exit 1 }' t.csv

# signals at any time leave whole files
for number in 15 9 15 9 15; do
  rm -f s.json t.csv
  "$command" run --stats s.json --trace t.csv "$program" threads 100000000 \
    >out 2>err &
  pid=$!
  wait_for test -s t.csv
  sleep 0.$number
  kill -$number "$(cat /proc/$pid/task/$pid/children)"
  status=0
  wait $pid || status=$?
  check "ended by $number: status" status_is $((128 + number))
  check "ended by $number: statistics" json_is_valid s.json
  check "ended by $number: rows are whole" awk -F, '
    NR == 1 { n = NF } NF != n || (NR > 1 && $1 != ++steps[$12]) { exit 1 }
    ' t.csv
  # the signal may come between a step's row and its sums
  check "ended by $number: rows agree with the statistics" \
    awk -v rows="$(wc -l <t.csv)" -v steps="$(json_value s.json steps)" \
    'BEGIN { extra = rows - 1 - steps; exit !(extra == 0 || extra == 1) }'
done

# ---- several processes ----

rm -f s.json*
run --stats s.json --trace t.csv -- "$program" step 2 fork step 3 exit 4
check "fork: status" status_is 4
check "fork: the statistics of both" json_holds s.json steps 5
check "fork: the rows of both" n_lines 6 t.csv
check "fork: worlds of both" [ "$(sed 1d t.csv | cut -d, -f12 | tr '\n' ' ')" = \
  "1 1 2 2 2 " ]
check "fork: no other files" [ "$(echo s.json* t.csv*)" = "s.json t.csv" ]

run --stats s.json -- "$program" fork step 3
check "only the child steps: status" status_is 0
check "only the child steps: statistics" json_holds s.json steps 3

cat >script <<SCRIPT
#!/bin/sh
"$program" step 3 || exit
exit 9
SCRIPT
chmod +x script
rm -f s.json*
run --stats s.json ./script
check "a script: its status" status_is 9
check "a script: its child's statistics" json_holds s.json steps 3
check "a script: nothing to say" err_is_empty

# as libtool's wrappers: sets the library path, then becomes the program
cat >wrapper <<WRAPPER
#!/bin/bash
LD_LIBRARY_PATH="$build/lib:\$LD_LIBRARY_PATH"
export LD_LIBRARY_PATH
test -n "\$(echo helper | sed s/h/x/)"
exec "$program" "\$@"
WRAPPER
chmod +x wrapper
rm -f s.json*
run --stats s.json ./wrapper step 4 exit 8
check "a wrapper: status" status_is 8
check "a wrapper: statistics" json_holds s.json steps 4
check "a wrapper: nothing to say" err_is_empty

printf '"%s" step 2\n' "$program" >no-mark
chmod +x no-mark
run --stats s.json ./no-mark
check "a script without #!: status" status_is 0
check "a script without #!: statistics" json_holds s.json steps 2

rm -f s.json*
run --stats s.json "$program" step 1 exec "$program" step 6
check "exec: the statistics of both programs" json_holds s.json steps 7
run --stats outer.json "$command" run --stats inner.json "$program" step 2
check "a run inside a run: status" status_is 0
check "a run inside a run: statistics" json_holds inner.json steps 2
check "a run inside a run: nothing to say" err_is_empty

# a launcher that closes all descriptors but the usual three
if command -v python3 >/dev/null; then
  run python3 -c "import subprocess, sys
sys.exit(subprocess.run(['$program', 'step', '1', 'exit', '3']).returncode)"
  check "a Python launcher: status" status_is 3
  check "a Python launcher: nothing to say" err_is_empty
fi

# ---- runs that were not what they seem ----

run "$program"
check "never stepped: status 2" status_is 2
check "never stepped: said" err_has 'command_program never stepped'
check "never stepped: one line" n_lines 1 err
run "$program" exit 3
check "never stepped, failed: its own status" status_is 3
check "never stepped, failed: said" err_has 'never stepped'
run "$program" _exit 0
check "never stepped, _exit: status 2" status_is 2
run "$program" say words world
check "never stepped: its output is whole" grep -q words out
run sh -c 'true; exit 0'
check "a shell without ODE: status 2" status_is 2
check "a shell without ODE: said" err_has 'sh never stepped'
check "a shell without ODE: said once" n_lines 1 err
run ls /
check "a program that closes stderr: status 2" status_is 2
check "a program that closes stderr: said" err_has 'ls never stepped'
run --stats s.json "$program"
check "never stepped: no statistics" [ ! -e s.json ]

# a library of the user's that wraps what the program calls is no second one
cat >wraps.c <<'LIBRARY'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <ode/ode.h>
dWorldID dWorldCreate(void) {
  return ((dWorldID(*)(void))dlsym(RTLD_NEXT, "dWorldCreate"))();
}
dBodyID dBodyCreate(dWorldID world) {
  return ((dBodyID(*)(dWorldID))dlsym(RTLD_NEXT, "dBodyCreate"))(world);
}
int dWorldStep(dWorldID world, dReal h) {
  return ((int (*)(dWorldID, dReal))dlsym(RTLD_NEXT, "dWorldStep"))(world, h);
}
LIBRARY
if $compiler -w -shared -fPIC wraps.c -o wraps.so -I"$build/host/include"; then
  LD_PRELOAD=$work/wraps.so run "$program" step 2
  check "what wraps ODE: status" status_is 0
  check "what wraps ODE: nothing to say" err_is_empty
fi

# a library that has ODE in itself, with names of its own version
cat >own_ode.c <<'LIBRARY'
int dWorldStep(void *world, double h) { return world != 0 && h > 0; }
void *dWorldCreate(void) { return 0; }
const char *dGetConfiguration(void) { return "ODE ODE_double_precision"; }
LIBRARY
$compiler -shared -fPIC own_ode.c -o engine.so
run "$program" step 2 dlopen "$work/engine.so"
check "a second library: status 2" status_is 2
check "a second library: named" err_has \
  "opened .*/engine.so, which has a second ODE library"
check "a second library: one line" n_lines 1 err
run "$program" step 2 dlopen "$work/engine.so" exit 4
check "a second library, failed: its own status" status_is 4
run sh -c "\"$program\" step 2 dlopen '$work/engine.so'; true"
check "a second library in a child: status 2" status_is 2
check "a second library in a child: said once" n_lines 1 err
run "$program" step 2 dlopen "$work/engine.so" fork
check "a second library before a fork: status 2" status_is 2
check "a second library before a fork: said once" n_lines 1 err
run "$program" step 2 dlopen "$work/engine.so" dlclose last
check "a second library, closed: status 2" status_is 2
check "a second library, closed: named" err_has "/engine.so"
run "$program" step 2 dlopen libode.so.8
check "the same library once more: status 0" status_is 0
check "the same library once more: nothing to say" err_is_empty

# steps that were refused
run --stats s.json "$program" lost 3 step 4
check "refused steps: the program's status" status_is 0
check "refused steps: how many" err_has ': 3 of 7 steps were refused or failed'
check "refused steps: in the statistics" json_holds s.json failed 3
run --strict "$program" lost 3 step 4
check "refused steps, strict: status 3" status_is 3
check "refused steps, strict: how many" err_has ': 3 of 7 steps'
run --strict "$program" lost 3 exit 6
check "refused steps, strict, failed: its own status" status_is 6
run --strict sh -c "\"$program\" lost 2; \"$program\" step 1 lost 1; true"
check "refused steps of children, strict: status 3" status_is 3
check "refused steps of children: how many" err_has 'sh: 3 of 4 steps'
run --strict "$program" step 3
check "no step refused, strict: status 0" status_is 0
check "no step refused, strict: nothing to say" err_is_empty
run "$program" lost 2 raise 15
check "refused, ended by a signal: status" status_is 143
check "refused, ended by a signal: how many" err_has ': 2 of 2 steps'
run "$program"
check "never stepped: what to do" err_has 'link it with the shared libode.so.8'

# launchers that let ode-mlcp out of sight
run env LD_PRELOAD= "$program" step 3
check "a launcher resets the preload: status 2" status_is 2
check "a launcher resets the preload: one line" n_lines 1 err
check "a launcher resets the preload: said" \
  err_has 'env never stepped .* leave LD_PRELOAD as it is'
run env -i "$program" step 3 exit 4
check "without any environment, failed: its own status" status_is 4
check "without any environment, failed: said" err_has 'never stepped'
run env -u LD_PRELOAD "$program" step 3 raise 15
check "reset, ended by a signal: status" status_is 143
run sh -c "unset LD_PRELOAD; exec \"$program\" step 2"
check "a shell resets the preload: status 2" status_is 2
run env LD_PRELOAD= /none/such
check "a launcher of nothing: its own status" status_is 127
run sh -c "\"$program\" step 2; LD_PRELOAD= exec true"
check "stepped before the reset: status 0" status_is 0
check "stepped before the reset: nothing to say" err_is_empty
# ---- started otherwise ----

LD_PRELOAD=$build/lib/ode_mlcp_preload.so:$build/lib/libode.so.8
export LD_PRELOAD
status=0
ODE_MLCP_EDGES=6 "$program" step 3 exit 4 2>err || status=$?
check "preloaded by hand: status" status_is 4
check "preloaded by hand: nothing to say" err_is_empty
status=0
ODE_MLCP_EDGES=5 "$program" say started >out 2>err || status=$?
check "preloaded by hand, bad value: status 2" status_is 2
check "preloaded by hand, bad value: said" err_has "ODE_MLCP_EDGES: '5' is not"
check "preloaded by hand, bad value: does not start" n_lines 0 out
status=0
ODE_MLCP_TRACE=t.csv "$program" say started >out 2>err || status=$?
check "preloaded by hand, a trace: status 2" status_is 2
check "preloaded by hand, a trace: said" \
  err_has "ODE_MLCP_TRACE: ode-mlcp run alone writes it"
check "preloaded by hand, a trace: does not start" n_lines 0 out
status=0
"$program" 2>err || status=$?
check "preloaded by hand, no step: its own status" status_is 0
check "preloaded by hand, no step: nothing to say" err_is_empty
LD_PRELOAD=$build/lib/libode.so.8:$build/lib/ode_mlcp_preload.so
status=0
ODE_MLCP_SCHEME=ap "$program" step 3 exit 4 2>err || status=$?
check "preloaded by hand, host first: status" status_is 4
status=0
ODE_MLCP_MARGIN=0.1 "$program" step 3 2>err || status=$?
check "preloaded by hand, host first: no margin" status_is 2
check "preloaded by hand, host first: said" err_has "must come before the host"
unset LD_PRELOAD

finish
