# Sourced by quickstart and patches/get-host: speaking, long steps, stopping.
# The caller sets `program`, the name its lines begin with.

# configure and libtool are long scripts, which the shell that they choose decides
# the time of: dash takes half of what bash does
if [ -z "${CONFIG_SHELL:-}" ] && command -v dash >/dev/null; then
  CONFIG_SHELL=$(command -v dash)
  export CONFIG_SHELL
fi

say() {
  printf '%s: %s\n' "$program" "$*"
}

die() {
  printf '%s: %s\n' "$program" "$*" >&2
  exit 1
}

# run_long WHAT LOG COMMAND...: run a command, in a shell of its own, with its
# output in LOG; say that it runs (again every 15 s), and how long it took. When
# it fails, the end of the log is shown and the status is 1.
run_long() (
  what=$1 log=$2
  shift 2
  mkdir -p "$(dirname "$log")"
  started=$(date +%s)
  say "$what ..."
  tick_while_running $$ "$what" "$started" &
  ticker=$!
  status=0
  ("$@") >"$log" 2>&1 </dev/null || status=$?
  kill "$ticker" 2>/dev/null || true
  wait "$ticker" 2>/dev/null || true
  if [ "$status" -ne 0 ]; then
    tail -n 15 "$log" | sed 's/^/    /' >&2
    printf '%s: %s failed (status %s); the whole output is in %s\n' \
      "$program" "$what" "$status" "$log" >&2
    exit 1
  fi
  say "$what: done in $(($(date +%s) - started)) s"
)

# the sleep is in no pipe of ours, so that nobody waits for it at the end
tick_while_running() {
  seconds=0
  while sleep 1 >/dev/null 2>&1 9>&- && kill -0 "$1" 2>/dev/null; do
    seconds=$((seconds + 1))
    [ $((seconds % 15)) -ne 0 ] || say "$2: $(($(date +%s) - $3)) s so far"
  done
}

# the sha256 of standard input or of files, as a bare word
sha256_of() {
  sha256sum "$@" | cut -d ' ' -f 1
}
