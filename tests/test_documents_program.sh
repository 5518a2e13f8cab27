#!/bin/sh
# The program of docs/first-program.md is short, compiles without a warning, and says
# what the page says.
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/command_checks.sh"

sed -n '/^```c$/,/^```$/p' "$top/docs/first-program.md" | sed '1d;$d' >first.c
check "60 lines" [ "$(wc -l <first.c)" -le 60 ]
host=$(sed -n 's/^HOST_INCLUDE = //p' "$build/Makefile")
check "it compiles" "$compiler" -std=c11 -Wall -Wextra -Werror -I"$top/plugin" \
  -I"$host" first.c -o first -L"$build/lib" -lode_mlcp -lode \
  -Wl,-rpath,"$build/lib"
./first >out 2>err
check "it runs" err_is_empty
# s'' = g - k s - c s' from rest to s = 0.4 m, by steps of a microsecond
check "the ball touches when it should" awk '
  /^collision at/ && !n++ { seen = $3 }
  END {
    h = 1e-6
    while (s < 0.4) { a = 9.81 - 20 * s - 2 * v; s += h * (v + h * a / 2); v += h * a; t += h }
    exit !((seen - t) ^ 2 < 1e-6)
  }' out
check "the ground pushes with 1.81 N" awk '
  /^the ground pushes with/ { seen = $5 } END { exit !((seen - 1.81) ^ 2 < 1e-8) }' out
finish
