#!/bin/sh
# The tables in the documents are those of the code. Where one is not, its lines
# that differ are named; `make update-documents` mends them.
#
#   test_documents.sh [--update]
#
# A table stands between the lines `<!-- table: NAME -->` and
# `<!-- end of table -->`, in the manual behind .\".
top=$(cd "$(dirname "$0")/.." && pwd)
update=${1:-}
. "$top/tests/command_checks.sh"
tables=$build/tests/print_tables

# renew FORMAT FILE: the file with its tables as they have to be
renew() {
  awk -v tables="$tables $1" '
    /^(<!--|\.\\") table: / {
      print
      command = tables " " $3
      while ((command | getline line) > 0) print line
      if (close(command) != 0) exit 1
      n_tables++
      skips = 1
      next
    }
    /^(<!--|\.\\") end of table/ { skips = 0 }
    !skips
    END { exit n_tables == 0 || skips }' "$top/$2"
}

# holds FORMAT FILE
holds() {
  renew "$1" "$2" >renewed || return 1
  if [ "$update" = --update ]; then
    cmp -s renewed "$top/$2" || cat renewed >"$top/$2"
  else
    diff -u --label "$2" --label "the code" "$top/$2" renewed
  fi
}

check "man/ode-mlcp.1 has the code's tables" holds man man/ode-mlcp.1
check "docs/settings.md has the code's table" holds markdown docs/settings.md
check "docs/trace.md has the code's table" holds markdown docs/trace.md

# negative control: a table with another line does not pass
if [ "$update" != --update ]; then
  mkdir -p other/docs
  sed 's/^| `residual`.*/| `residual` | m | something else |/' \
    "$top/docs/trace.md" >other/docs/trace.md
  check "a line that differs is named" sh -c '
    diff "$1/docs/trace.md" other/docs/trace.md | grep -q "something else"' \
    sh "$top"
  top=$work/other
  holds markdown docs/trace.md >out
  check "a table that differs does not pass" grep -q '^-.*something else' out
fi

finish
