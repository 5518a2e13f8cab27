#!/bin/sh
# The command waits for its program, and the two are as one: to a terminal, to who
# sends signals, to pipes, to programs that outlive it.
. "$(dirname "$0")/command_checks.sh"

# start ARG..: `run ARG..` in the background, until it says "ready"; sets $pid and $child
start() {
  rm -f out s.json
  # a shell starts what runs behind it with SIGINT and SIGQUIT ignored: set
  # them back; and in a group of its own it can be stopped whoever runs the test
  perl -e '$SIG{INT} = $SIG{QUIT} = "DEFAULT"; setpgrp; exec @ARGV' "$command" \
    run "$@" >out 2>err &
  pid=$!
  wait_for grep -q ready out
  child=$(cat /proc/$pid/task/$pid/children)
}
# ended: sets $status
ended() {
  status=0
  wait $pid || status=$?
}
gone() { ! kill -0 $child 2>/dev/null; }
state_is() { grep -q "^State:.$1" "/proc/$2/status"; }

# ---- signals ----

for number in 1 2 3 15; do
  start --stats s.json "$program" step 4 wait
  kill -$number $pid
  ended
  check "signal $number: status" status_is $((128 + number))
  check "signal $number: statistics" json_holds s.json steps 4
  check "signal $number: the program is gone" gone
done
start "$program" handle 10 step 1 wait
kill -10 $pid
ended
check "a signal that the program handles" status_is 17
start "$program" ignore 15 step 1 wait
kill -15 $pid
kill -2 $pid
ended
check "a signal that the program ignores" status_is 130
start --stats s.json "$program" step 5 wait
kill -9 $child
ended
check "the program is killed: status" status_is 137
check "the program is killed: statistics" json_holds s.json steps 5
start "$program" step 5 wait
kill -9 $pid
ended
check "the command is killed: status" status_is 137
check "the command is killed: nothing is left running" wait_for gone
run --stats s.json sh -c "\"$program\" step 3 wait >killed &
  until grep -q ready killed; do sleep 0.1; done
  \"$program\" step 4; kill -9 \$!; wait"
check "a child is killed: the sums of all" json_holds s.json steps 7
start "$program" step 1 wait
kill -STOP $child
check "the program stops, so does the command" wait_for state_is T $pid
kill -CONT $pid
check "and goes on with it" wait_for state_is S $child
kill -TSTP $pid
check "the command is to stop, so does the program" wait_for state_is T $child
kill -CONT $pid
kill -15 $pid
ended
check "stopped and ended" status_is 143

# ---- a terminal ----

cat >terminal.py <<'CHECK'
import os, pty, re, select, signal, sys, time
command, program = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    os.environ["PS1"] = "$ "
    os.execvp("bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"])
said = ""
def wait_for(pattern):
    global said
    end = time.time() + 20
    while not (found := re.search(pattern, said)):
        if time.time() > end or not select.select([terminal], [], [], 20)[0]:
            sys.exit(f"no '{pattern}' in {said!r}")
        said += os.read(terminal, 4096).decode()
    said = said[found.end():]
def type_in(keys):
    os.write(terminal, keys.encode())
def press(key, pattern):  # until the program has the terminal, the shell takes it
    global said
    for _ in range(40):
        type_in(key)
        end = time.time() + 0.5 # an echo comes at once
        while time.time() < end and not re.search(pattern, said):
            if select.select([terminal], [], [], 0.1)[0]:
                said += os.read(terminal, 4096).decode()
        if re.search(pattern, said):
            break
    wait_for(pattern)
def status(n):
    wait_for(r"\$ $")
    type_in("echo status $?\n")
    wait_for(rf"status {n}\r")
run = f"{command} run"
type_in(f"{run} {program} step 1 wait\n")
wait_for("ready")
type_in("\x03")
status(130)
type_in(f"{run} --stats t.json {program} step 3 wait\n")
wait_for("ready")
type_in("\x1a")
wait_for(r"Stopped .*wait")
status(148)
type_in("fg\n")
wait_for("step 3 wait")
press("\x1c", "Quit")
status(131)
type_in("grep -c 'steps.: 3,' t.json\n")
wait_for("1\r")
type_in(f"{run} cat; echo it ended\n")
time.sleep(0.3)
type_in("a line\n")
wait_for("a line\r\na line\r")
type_in("\x04")
wait_for("never stepped")
wait_for("it ended\r")
type_in(f"{run} cat &\n")
time.sleep(0.5)
type_in("jobs\n") # a shell tells when it is asked
wait_for("Stopped .*cat")
type_in("fg\n")
wait_for("run cat")
type_in("another\n")
wait_for("another\r\nanother\r")
type_in("\x03")
status(130)
type_in(f"{run} {program} step 1 wait &\n")
wait_for("ready")
type_in("kill %1; wait %1; echo status $?\n")
wait_for("status 143\r")
type_in(f"{run} {program} step 1 say words | (cat; read line </dev/tty; echo so $line)\n")
wait_for(r"words\r\n")
type_in("from the terminal\n")
wait_for("so from the terminal\r")
CHECK
if command -v python3 >/dev/null && command -v bash >/dev/null; then
  check "a shell's jobs in a terminal" python3 terminal.py "$command" "$program"
fi

# ---- streams ----

echo hello | "$command" run sh -c "cat; exec \"$program\" step 1" >out 2>err
check "what is piped in" grep -qx hello out
# the reader of a pipe sees it end while the program goes on
("$command" run sh -c "echo \$\$ >child; exec >&-; exec \"$program\" step 1 wait" |
  (cat; touch end)) &
check "a pipe ends when the program closes it" wait_for test -e end
kill "$(cat child)"
status=0
(yes || echo $? >broken) | "$command" run sh -c "exec <&-; \"$program\" step 1"
check "who writes to the program hears that nobody reads" test -s broken

# ---- programs that go on ----

run --stats s.json sh -c "\"$program\" step 2 wait >ready 2>&1 & echo \$!"
check "a program behind it goes on: status 0" status_is 0
check "a program behind it goes on: nothing to say" err_is_empty
child=$(cat out)
check "a program behind it goes on" wait_for grep -q ready ready
kill $child
run --trace t.csv "$program" step 2 daemon own step 3
check "a program with other files in place of ours: rows" n_lines 6 t.csv
check "a program with other files in place of ours: its file" [ ! -s own ]

# ---- debuggers, and other C libraries ----

if command -v gdb >/dev/null &&
  gdb -nx -batch -ex run --args /bin/true >out 2>&1 && grep -q normally out; then
  run --stats s.json gdb -nx -batch -ex run -ex 'print 40 + 2' --args "$program" \
    step 3
  check "a debugger" grep -q '= 42' out
  check "a debugger: its program's steps" json_holds s.json steps 3
fi
if command -v musl-gcc >/dev/null; then
  echo 'int main(void) { return 0; }' >main.c
  musl-gcc main.c -o other
  run ./other
  check "another C library: said" err_has "other never stepped .* another C library"
fi

finish
