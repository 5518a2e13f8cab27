#!/bin/sh
# Every command that README, the documents and the manual print is run as it is
# written, in the order they stand, on small stand-ins for the reader's programs
# and files. What would take minutes, a network or another machine is tried in a
# cheaper way, which is said; a command of a kind not known here fails.
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/command_checks.sh"

# ---- what the documents print ----

# commands FILE: a line each, `number<tab>command`. Commands stand in blocks that are
# fenced or indented by four; what goes on after a backslash or an open quote is
# joined. A block that is a script is one line, `script`, and what it says in lines
# of its own behind it.
commands() {
  awk '
    function is_command(line) {
      return line ~ /^(build\/|\.\/|\.\.\/|tools\/)?[a-z0-9-]+( |$)/ &&
        line ~ /^(build\/ode-mlcp|ode-mlcp|xvfb-run|\.\/quickstart|\.\/my|git|make|cc|seq|python3|npm|npx|tools\/|docs\/|\.\.\/demos\/|patches\/|mkdir|awk|\.\/domino|\.\/wall|\.\/drop|\.\/grasp) ?[^ ]*/ ||
        line ~ /^[A-Z_]+=[^ ]* .*\\$/
    }
    function tell() {
      if (held != "") print at "\t" held
      held = ""
    }
    /^```/ { tell(); fenced = !fenced; script = 0; next }
    /^\.nf/ && FILENAME ~ /\.1$/ { fenced = 1; next }
    /^\.fi/ && FILENAME ~ /\.1$/ { tell(); fenced = 0; next }
    {
      line = $0
      if (FILENAME ~ /\.1$/) gsub(/\\/, "", line)
      if (!fenced && !sub(/^    /, "", line)) { tell(); next }
      if (line ~ /^#!/) script = 1
      if (script) next
      sub(/^ */, "", line)
      if (held != "") held = held " " line
      else if (is_command(line)) { held = line; at = FNR }
      else next
      quotes = held
      if (sub(/\\$/, "", held) || gsub(/"/, "", quotes) % 2) next
      tell()
    }
    END { tell() }' "$1"
}

# ---- stand-ins ----

# stand_ins DOCUMENT: a folder for it with what a reader would have, entered
stand_ins() {
  folder=$work/documents/$(echo "$1" | tr / -)
  mkdir -p "$folder/my-robot" "$folder/another"
  cd "$folder" || exit 1
  ln -s "$build" build
  ln -s "$build/ode-mlcp" ode-mlcp
  ln -s "$top/tools" "$top/docs" "$top/demos" "$top/plugin" .
  for name in my_ode_program my_program my-program demo_boxstack; do
    ln -s "$work/slide" $name
  done
  cp "$work"/ready/*.mtx "$work"/ready/*.csv "$work/ready/arm.py" .
  cp "$work"/ready/robot/* my-robot/
  cp -r "$work/ready/problems" .
  # an example's own files, and its program as the build has it
  case $1 in
    examples/*/README.md)
      cp "$top/${1%/*}"/* .
      for example in "$build/${1%/*}"/* "$build/examples/swap/domino"; do
        [ ! -f "$example" ] || [ ! -x "$example" ] || cp "$example" .
      done ;;
  esac
}

mkdir -p ready/robot bin
cd ready || exit 1
printf '#!/bin/sh\nexec "%s/demos/play/play" slide --seconds 1.1\n' "$build" \
  >../slide
chmod +x ../slide
# the distribution's own Python: another does not see its packages
ln -s /usr/bin/python3 ../bin/python3
PATH=$work/bin:$build:$PATH
export PYTHONPATH="$top/python" PYTHONDONTWRITEBYTECODE=1
matrix() { # FILE ROWS COLUMNS NUMBER...
  file=$1 size="$2 $3"
  shift 3
  printf '%s\n' "%%MatrixMarket matrix array real general" "$size" "$@" >"$file"
}
matrix M.mtx 2 2 2 1 1 2
matrix q.mtx 2 1 -5 -6
matrix robot/M.mtx 2 2 1 0 0 1
matrix robot/Jn.mtx 1 2 0 1
matrix robot/Jt.mtx 1 2 1 0
matrix robot/mu.mtx 1 1 0.5
matrix robot/v.mtx 2 1 1 -1
"$command" run --dump problems --tolerance 1e-300 --trace trace.csv -- ../slide
cp trace.csv other.csv
cp trace.csv run.csv
cat >arm.py <<'PYTHON'
import ode
world = ode.World()
ode.Body(world).setPosition((0, 1, 0))
for k in range(10):
    world.step(0.01)
PYTHON

# ---- how each is run ----

# a cheaper way, `shorter`: the same with fewer samples; `parsed`: the shell reads it;
# `asked`: --help of it; `dry`: make says what it would do; `none`: needs what is not
# here. What it tried stands in the log.
way_of() {
  case $1 in
    *' scene double-pendulum '*) echo as-written ;;
    git*) echo 'none (the address is the reader'\''s)' ;;
    npm* | npx*) echo 'none (a network)' ;;
    cc*) echo 'none (tests/test_package_install.sh has it, where there is an installation)' ;;
    seq*) echo parsed ;;
    xvfb-run*) command -v xvfb-run >/dev/null && echo as-written ||
      echo 'none (no xvfb)' ;;
    ./quickstart* | *run-suite*) echo asked ;;
    make*) echo dry ;;
    *tools/plot* | *'ode_mlcp plot'*)
      /usr/bin/python3 -c 'import numpy, matplotlib' 2>/dev/null &&
        echo as-written || echo 'none (no python3-matplotlib)' ;;
    *merge.py* | *on_dask.py*) echo 'none (tests/test_examples.sh has them)' ;;
    *python3*) /usr/bin/python3 -c 'import ode' 2>/dev/null && echo as-written ||
      echo 'none (no python3-pyode)' ;;
    *demos/demo_*) echo parsed ;;
    *--samples\ 1000000* | *--samples\ 4294967296*) echo shorter ;;
    *) echo as-written ;;
  esac
}

# try WAY COMMAND
try() {
  case $1 in
    as-written) set -- "$2" ;;
    shorter) set -- "$(printf '%s' "$2" |
      sed 's/--samples [0-9]*/--samples 4096/; s/--range [0-9:]*/--range 0:100/')" ;;
    parsed) sh -n -c "$2"; return ;;
    asked) set -- "$top/${2#"${2%%[!./]*}"}"
      set -- "${1%% *} --help" ;;
    dry) set -- "$(printf '%s' "$2" | sed 's/^make\( -C build\)\{0,1\}/make -n -C build/')" ;;
    none*) return 0 ;;
  esac
  timeout 120 sh -c "$1" >"$work/out" 2>"$work/err" </dev/null ||
    { echo "  status $? of: $1"; return 1; }
}

n_commands=0
for file in README.md docs/*.md man/ode-mlcp.1 demos/host-suite/README.md \
    patches/README.md report/vendor/README.md examples/*/README.md; do
  case $file in
    docs/\*.md) set -- "$top"/docs/*.md ;;
    examples/*) set -- "$top"/examples/*/README.md ;;
    *) set -- "$top/$file" ;;
  esac
  for path in "$@"; do
    commands "$path" >"$work/commands"
    stand_ins "${path#"$top"/}"
    tab=$(printf '\t')
    while IFS=$tab read -r line words; do
      way=$(way_of "$words")
      [ "$way" = as-written ] || echo "${path#"$top"/}:$line: $way"
      # a report of another day
      [ ! -d report ] || [ -d another/report ] || cp -r report another/
      check "${path#"$top"/}:$line: $words" try "$way" "$words"
      n_commands=$((n_commands + 1))
    done <"$work/commands"
  done
done
cd "$work" || exit 1
check "commands were found" [ $n_commands -gt 40 ]

# negative control: a command that is wrong, and one in a block that goes on
printf '```\node-mlcp scene --lisst\node-mlcp solve M.mtx \\\n  q.mtx\n```\n' >wrong.md
commands wrong.md >"$work/commands"
check "both are found" n_lines 2 "$work/commands"
check "what goes on is joined" grep -q 'solve M.mtx *q.mtx$' "$work/commands"
check "one that is wrong fails" sh -c '! ode-mlcp scene --lisst 2>/dev/null'

finish
