#!/bin/sh
# What is installed is hardened, by what readelf reads in it: full RELRO, no stack
# that can be executed, a program that can be anywhere, and functions that check
# the stack and what is written into strings. A compiler without one of the flags,
# and a build with a sanitizer, which checks more, are not asked for it.
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/command_checks.sh"

asked() { # asked FLAG: did configure find it?
  sed -n 's/^\(HARDENED_CFLAGS\|PIE_LDFLAGS\|LDFLAGS\) =//p' "$build/Makefile" |
    grep -q -e "$1"
}

has_relro() { readelf -lW "$1" | grep -q GNU_RELRO; }
binds_now() { readelf -dW "$1" | grep -Eq 'BIND_NOW|FLAGS_1.*NOW'; }
stack_is_data() { readelf -lW "$1" | grep GNU_STACK | grep -q ' RW  *0x'; }
is_pie() { readelf -hW "$1" | grep -q 'Type: *DYN'; }
calls() { readelf --dyn-syms -W "$1" | grep -q -e "$2"; }
marks_branches() { readelf -nW "$1" | grep -q 'x86 feature:.*IBT.*SHSTK'; }

"$build/config.status" --config | grep -Eq 'disable-hardening|-fsanitize=' ||
  check "configure found flags" asked '-z,now'

for file in ode-mlcp lib/libode_mlcp.so lib/ode_mlcp_preload.so \
    lib/ode_mlcp_recorder.so lib/ode_mlcp_scenes.so; do
  path=$build/$file
  ! asked '-z,relro' || check "$file has RELRO" has_relro "$path"
  ! asked '-z,now' || check "$file is bound at its start" binds_now "$path"
  ! asked '-z,noexecstack' || check "$file has a stack of data" stack_is_data "$path"
  ! asked -fstack-protector-strong ||
    check "$file checks its stack" calls "$path" __stack_chk_fail
  case $file in
    *scenes.so | *recorder.so) ;; # the one has few strings
    *) ! asked _FORTIFY_SOURCE ||
      check "$file checks what it writes" calls "$path" '_chk@' ;;
  esac
done
# the linker drops the mark where the C library's own objects lack it
! asked -fcf-protection || check "objects mark where branches lead" \
  marks_branches "$build/plugin/lcp/.libs/lemke.o"
! asked -pie || check "the command can be anywhere" is_pie "$build/ode-mlcp"

finish
