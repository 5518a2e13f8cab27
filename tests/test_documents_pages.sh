#!/bin/sh
# The manual has a page for each command, with all its options, that man reads
# without a warning; the site is made, and no link in it leads to nowhere.
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/command_checks.sh"

commands=$("$command" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
check "there are commands" [ -n "$commands" ]

# has_options PAGE COMMAND: all that --help names, and no other
has_options() {
  "$command" "$2" --help | sed -n 's/^  \(-h, \)\{0,1\}\(--[a-z-]*\).*/\2/p' >wanted
  sed -n 's/^\.B \(\\-h, \)\{0,1\}\(\\-\\-[a-z\\-]*\).*/\2/p' "$1" | tr -d '\\' >there
  [ -s wanted ] && diff wanted there
}

for name in $commands; do
  page=$build/man/ode-mlcp-$name.1
  check "a page for $name" [ -s "$page" ]
  check "$name: all options" has_options "$page" "$name"
  check "the manual names it" grep -q "ode\\\\-mlcp\\\\-$name (1)" \
    "$top/man/ode-mlcp.1"
done
if command -v man >/dev/null; then
  for page in "$top/man/ode-mlcp.1" "$build"/man/*.1; do
    LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" >/dev/null 2>err
    check "${page##*/} without a warning" err_is_empty
  done
fi
# negative control
printf '.SH OPTIONS\n.TP\n.B \\-\\-json\nwords\n' >page.1
check "a page that lacks an option is seen" sh -c "! diff wanted page.1 >/dev/null"

if command -v doxygen >/dev/null; then
  check "the site is made" sh -c '"$1" site 1 >out 2>err' sh "$top/docs/make-site"
  check "with the documents" [ -s site/md_docs_guide.html ]
  check "with the calls" grep -q ode_mlcp_attach site/ode__mlcp_8h.html
fi
finish
