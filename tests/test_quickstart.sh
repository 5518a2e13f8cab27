#!/bin/sh
# What quickstart refuses before it does anything: one line, a status that is
# not 0, and nothing made.
top=$(cd "$(dirname "$0")/.." && pwd) || exit 99
folder=$(mktemp -d) || exit 99
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0

# refused WORDS ARGUMENT...: the line names what is wrong
refused() {
  words=$1
  shift
  if "$top/quickstart" "$@" >"$folder/out" 2>&1; then
    echo "not refused: quickstart $*"
    failed=$((failed + 1))
  elif [ "$(wc -l <"$folder/out")" -ne 1 ] ||
      ! grep -qF -e "$words" "$folder/out"; then
    echo "quickstart $* says:"
    cat "$folder/out"
    failed=$((failed + 1))
  else
    passed=$((passed + 1))
  fi
}

refused '--nonsense' build --nonsense
refused '--build needs a value' build --build
refused '0 is no number of jobs' build --jobs 0 --build "$folder/build"
refused "there is no $folder/none" build --ode-source "$folder/none" \
  --build "$folder/build"
refused "$folder/a b" build --build "$folder/a b"
: >"$folder/file"
refused "$folder/file" build --build "$folder/file"

# the host by itself
host() {
  words=$1
  shift
  if "$top/patches/get-host" "$@" "$folder/host" >"$folder/out" 2>&1 ||
      ! grep -qF -e "$words" "$folder/out"; then
    echo "get-host $* says:"
    cat "$folder/out"
    failed=$((failed + 1))
  else
    passed=$((passed + 1))
  fi
}
host 'ODE 0.13 is not known here' --release 0.13
host 'is not ODE 0.16.2 to 0.16.6 as released' --ode-source "$folder/file"
host 'holds no ODE source tree' --ode-source "$folder"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
