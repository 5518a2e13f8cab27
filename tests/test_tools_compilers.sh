#!/bin/sh
# The plugin under other compilers than the one that built it: clang has nothing
# to warn of, and musl's headers have all that is called. Files are read, not
# compiled, and not by clang where clang-tidy has read them so
# (test_tools_analysis.sh). A compiler that is not here is left out.
top=$(cd "$(dirname "$0")/.." && pwd) || exit 99
build=${ODE_MLCP_BUILD:-$PWD}
host=$(sed -n 's/^HOST_CFLAGS = -I//p' "$build/Makefile")
passed=0 failed=0
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

# read_all COMPILER FLAG...: every file of the plugin
read_all() {
  compiler=$1
  shift
  if ! command -v "$compiler" >/dev/null; then
    echo "there is no $compiler here"
    return
  fi
  for file in "$top"/plugin/*/*.c; do
    if "$compiler" -std=gnu11 -fsyntax-only -DHAVE_CONFIG_H "$@" \
        -include "$top/plugin/host/patched_host.h" \
        -I"$build" -I"$top/plugin" "$file" >"$work/out" 2>&1 && [ ! -s "$work/out" ]; then
      passed=$((passed + 1))
    else
      echo "$compiler on $file:"
      cat "$work/out"
      failed=$((failed + 1))
    fi
  done
}

suitesparse=$(sed -n 's/^SUITESPARSE_CFLAGS = -I//p' "$build/Makefile")
if "$(command -v clang-tidy-14 || echo clang-tidy)" --version 2>/dev/null |
    grep -q 'version 14\.'; then
  echo "clang-tidy reads with clang's own warnings"
else
  read_all clang -Wall -Wextra -isystem "$host" -isystem "$suitesparse"
fi

# musl-gcc looks into no folder of the system's
mkdir "$work/include"
for name in suitesparse ccd; do
  [ ! -e "/usr/include/$name" ] || ln -s "/usr/include/$name" "$work/include/"
done
read_all musl-gcc -Wall -Werror=implicit-function-declaration \
  -isystem "$host" -isystem "$work/include" \
  -isystem "$work/include/suitesparse"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
