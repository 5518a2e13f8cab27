#!/bin/sh
# C and C++ stand as .clang-format says. Versions differ, so it is always that of
# clang-format 14.
top=$(cd "$(dirname "$0")/.." && pwd) || exit 99
for tool in clang-format-14 clang-format; do
  "$tool" --version 2>/dev/null | grep -q 'version 14\.' && break
  tool=
done
if [ -z "$tool" ]; then
  echo 'there is no clang-format 14 here'
  exit 77
fi
cd "$top" || exit 99
wrong=$(find plugin tests bench demos -name '*.[ch]' -o -name '*.cpp' -o -name '*.hpp' |
  LC_ALL=C sort | xargs "$tool" --dry-run --Werror 2>&1 |
  sed -n 's/:[0-9]*:[0-9]*: error: .*//p' | uniq)
if [ -n "$wrong" ]; then
  printf '%s\n' "not as .clang-format says; $tool -i does it:" "$wrong"
  echo '0 passed, 1 failed'
  exit 1
fi
echo '1 passed, 0 failed'
