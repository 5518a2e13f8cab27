#!/bin/sh
# ode-mlcp-mpi: ranks share a set's samples and end with the bytes of the single
# run, also after ranks were killed.
. "$(dirname "$0")/command_checks.sh"

if [ ! -x "$build/ode-mlcp-mpi" ] || ! command -v mpirun >/dev/null; then
  echo "no MPI here (Debian: libopenmpi-dev, openmpi-bin): skipped"
  exit 77
fi
# several ranks on few processors, in a container, as root
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
# what MPI keeps until its end is no leak of ours
export ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

# ranks N ARG...: leaves $status, out and err
ranks() {
  status=0
  n=$1
  shift
  mpirun -n "$n" "$build/ode-mlcp-mpi" impact "$@" >"$work/out" \
    2>"$work/err" </dev/null || status=$?
}

no_parts() {
  for part in "$1".rank-*; do [ ! -e "$part" ] || return 1; done
}

# ---- any number of ranks ----

set -- box-wall --samples 40000
"$command" impact "$@" --reduce one --json >one.json
for n in 1 2 7; do
  ranks $n "$@" --reduce of-$n --json
  check "$n ranks: status 0" status_is 0
  check "$n ranks: the same bytes" cmp -s one of-$n
  check "$n ranks: the same words" cmp -s one.json out
  check "$n ranks: no parts are left" no_parts of-$n
done
"$command" impact disk-stack --samples 90 --reduce disks >/dev/null
ranks 3 disk-stack --samples 90 --reduce few
check "fewer samples than a range" cmp -s disks few

# what is there already is not done again; a range is a range
"$command" impact "$@" --range 1000:30000 --reduce half >/dev/null
"$command" impact "$@" --range 500:30000 --reduce wanted >/dev/null
ranks 2 "$@" --range 500:30000 --reduce half
check "goes on from a file" cmp -s wanted half

# ---- a third of the ranks is killed ----

set -- compass-gait --samples 1000000
"$command" impact "$@" --reduce gait >/dev/null
mpirun -n 6 "$build/ode-mlcp-mpi" impact "$@" --checkpoint 0.01 \
  --reduce "$work/killed" >/dev/null 2>&1 </dev/null &
runner=$!
parts_are_there() { [ -e killed.rank-1 ] && [ -e killed.rank-4 ]; }
check "parts are there" wait_for parts_are_there
# shellcheck disable=SC2046 # numbers
set -- $(cat /proc/$runner/task/*/children)
check "six ranks run" [ "$#" -eq 6 ]
kill -9 "$2" "$5"
wait $runner
check "the run has failed" [ $? -ne 0 ]
check "the file is not whole" [ ! -e killed ]
check "parts were left" sh -c '! [ -z "$(ls killed.rank-* 2>/dev/null)" ]'
ranks 3 compass-gait --samples 1000000 --reduce "$work/killed"
check "run again: status 0" status_is 0
check "run again: the same bytes" cmp -s gait killed
check "run again: no parts are left" no_parts killed

# ---- what cannot be ----

refused() {
  what=$1 pattern=$2
  shift 2
  ranks 2 "$@"
  check "$what: status 2" status_is 2
  check "$what: says so once" [ "$(grep -c -e "$pattern" err)" -eq 1 ]
}
refused "an example that is none" "'gait' is neither" gait --reduce x
refused "another set's file" "are of sets of other sizes" \
  compass-gait --samples 50 --reduce killed
refused "no file" "ranks share a run with --reduce" compass-gait
printf 'not a set' >cut.rank-0
refused "another's part" "cut.rank-0: not a whole file" \
  compass-gait --samples 50 --reduce cut
check "it is left alone" [ -s cut.rank-0 ]

finish
