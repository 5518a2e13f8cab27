#!/bin/sh
# Installed with a prefix given at installation, then moved: programs find the
# library by pkg-config and CMake, the command finds what it preloads, and nothing
# is left once it is uninstalled.
. "$(dirname "$0")/command_checks.sh"

# in_build TARGET VARIABLE...: make there
in_build() {
  unset MAKEFLAGS MFLAGS MAKELEVEL
  make -C "$build" "$@" >"$work/log" 2>&1 || { tail -n 15 "$work/log"; return 1; }
}
nothing_left() {
  [ -z "$(find "$1" -type f -o -type l)" ] || { find "$1" -type f; return 1; }
}

check "installs" in_build install prefix="$work/here"
check "no libtool files" [ -z "$(find here -name '*.la')" ]
check "no path of the build" sh -c '! grep -rq "$1" here/lib/pkgconfig \
  here/lib/cmake' sh "$build"
mv here there
rm -rf "$build/installcheck"
check "works where it was moved to" in_build installcheck prefix="$work/there"
check "uninstalls" in_build uninstall prefix="$work/there"
check "leaves nothing" nothing_left there

# a folder for the machine, below DESTDIR
set -- DESTDIR="$work/root" prefix=/usr libdir=/usr/lib/some-machine
check "installs below DESTDIR" in_build install "$@"
rm -rf "$build/installcheck"
check "works below DESTDIR" in_build installcheck "$@"
check "the command finds its libraries" root/usr/bin/ode-mlcp run -- \
  "$build/demos/play/play" slide --seconds 0.1
check "and the examples of impacts" sh -c \
  'root/usr/bin/ode-mlcp impact rocking-block --samples 9 >/dev/null'

# completion names commands and options
if command -v bash >/dev/null; then
  PATH="$work/root/usr/bin:$PATH" bash -c '. "$1"
    COMP_WORDS=(ode-mlcp co) COMP_CWORD=1; _ode_mlcp; echo "${COMPREPLY[@]}"
    COMP_WORDS=(ode-mlcp compare --stepp) COMP_CWORD=2; _ode_mlcp
    echo "${COMPREPLY[@]}"' bash \
    root/usr/share/bash-completion/completions/ode-mlcp >out 2>err
  check "completes a command" sh -c '[ "$(sed -n 1p out)" = compare ]'
  check "completes an option" sh -c '[ "$(sed -n 2p out)" = --steppers ]'
fi
if command -v fish >/dev/null; then
  PATH="$work/root/usr/bin:$PATH" fish --no-config -c 'source $argv[1]
    complete -C "ode-mlcp co"; complete -C "ode-mlcp compare --stepp"' \
    root/usr/share/fish/vendor_completions.d/ode-mlcp.fish >out 2>err
  check "completes a command in fish" grep -q '^compare' out
  check "completes an option in fish" grep -q '^--steppers' out
fi
if command -v zsh >/dev/null; then
  check "zsh reads its completion" zsh -n root/usr/share/zsh/site-functions/_ode-mlcp
fi

finish
