# Checks on the command, for tests/test_command_*.sh to source.
#
# Run in the build folder (make check does), or with ODE_MLCP_BUILD naming it.

build=${ODE_MLCP_BUILD:-$PWD}
command=$build/ode-mlcp
program=$build/tests/command_program
# for programs that open the host as any other library
libraries=$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
compiler=${CC:-cc}
work=$(mktemp -d "${TMPDIR:-/tmp}/ode-mlcp-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1

# the settings of whoever runs the tests are not to be tested
for variable in $(env | sed -n 's/^\(ODE_MLCP_[A-Z_]*\)=.*/\1/p'); do
  [ "$variable" = ODE_MLCP_BUILD ] || unset "$variable"
done
unset LD_PRELOAD

passed=0 failed=0

# check WHAT TEST...: counts whether the command TEST succeeds
check() {
  checked=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $checked"
    sed 's/^/  stderr: /' "$work/err" 2>/dev/null
  fi
}

# ode_mlcp ARG...: the command; leaves $status, out and err
ode_mlcp() {
  status=0
  "$command" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}

run() { ode_mlcp run "$@"; }

# wait_for TEST...: until the command succeeds, 20 seconds at most
wait_for() {
  tries=0
  until "$@" 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || return 1
    sleep 0.1
  done
}

# the host's precision, and the one that it is not in
precision=$(sed -n 's/^HOST_PRECISION = //p' "$build/Makefile")
case $precision in
  double) other=single ;;
  *) other=double ;;
esac

# of_host BOUND SIZE: on a host of single precision 32 roundings of numbers of this
# size, where that is more (tests/host_rounding.h)
[ "$precision" = single ] && rounding=1.2e-7 || rounding=0
of_host() {
  awk -v bound="$1" -v size="$2" -v rounding=$rounding '
    BEGIN { few = 32 * rounding * size; print (few > bound ? few : bound) }'
}

# left_out_in_single WHY: true on such a host, and says so
left_out_in_single() {
  [ "$rounding" != 0 ] && echo "left out in single precision: $1"
}

# array FILE ROWS COLUMNS NUMBER..: a MatrixMarket file, column after column
array() {
  file=$1
  printf '%%%%MatrixMarket matrix array real general\n%s %s\n' "$2" "$3" >"$file"
  shift 3
  printf '%s\n' "$@" >>"$file"
}

# make_beam FOLDER: the problem of a beam that lands on its two ends
make_beam() {
  mkdir "$1"
  array "$1/M.mtx" 3 3 2 0 0 0 2 0 0 0 0.2
  array "$1/Jn.mtx" 2 3 0 0 1 1 -0.5 0.5
  array "$1/Jt.mtx" 2 3 1 1 0 0 1 1
  array "$1/mu.mtx" 2 1 0.5 0.5
  array "$1/v.mtx" 3 1 2 -0.5 1
}

n_lines() { [ "$(wc -l <"$2")" -eq "$1" ]; }
err_is_empty() { [ ! -s "$work/err" ]; }
err_has() { grep -q -e "$1" "$work/err"; }
status_is() {
  [ "$status" -eq "$1" ] || { echo "  status $status, not $1"; return 1; }
}

# check_refusal WHAT PATTERN: the command ended with status 2 and one line that
# matches PATTERN
check_refusal() {
  check "$1: status 2" status_is 2
  check "$1: one line" n_lines 1 err
  check "$1: says '$2'" err_has "$2"
}

# check_refused WHAT PATTERN ARG...: `run ARG...` ends with status 2 and one
# line that matches PATTERN, and the program did not start
check_refused() {
  what=$1 pattern=$2
  shift 2
  rm -f started
  run "$@"
  check_refusal "$what" "^ode-mlcp run: .*$pattern"
  check "$what: does not start" [ ! -e started ]
}

# json_is_valid FILE: one object, a member a line, as --stats writes it
json_is_valid() {
  awk '
    function bad(why) { print "  line " NR ": " why ": " $0; wrong = 1 }
    over { bad("after the end") }
    NR == 1 { if ($0 != "{") bad("no {"); next }
    $0 == "}" { if (comma) bad("a comma before"); over = 1; next }
    {
      if (NR > 2 && !comma) bad("no comma before")
      comma = sub(/,$/, "")
      if (!sub(/^  "[a-z_]+": /, "")) bad("no key")
      else if ($0 !~ /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/ &&
               $0 !~ /^"[^"\\]*"$/ && $0 != "null")
        bad("no value")
    }
    END { if (!over) { print "  no end"; wrong = 1 } exit wrong }' "$1"
}

# json_value FILE KEY
json_value() {
  sed -n "s/^  \"$2\": \"\\{0,1\\}\\([^\",]*\\).*/\\1/p" "$1"
}

# json_holds FILE KEY VALUE
json_holds() {
  value=$(json_value "$1" "$2")
  [ "$value" = "$3" ] || { echo "  $2 is '$value', not '$3'"; return 1; }
}

# finish: the sum; the status is 0 when something passed and nothing failed
finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
  exit
}
