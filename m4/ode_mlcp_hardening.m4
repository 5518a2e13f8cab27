# ODE_MLCP_HARDENING: what makes faults harder to misuse, each where the compiler
# and the linker know it. None of it changes a result. Sets HARDENED_CFLAGS and
# PIE_LDFLAGS, for programs, and adds to LDFLAGS.
#
# A build with a sanitizer has checks of its own, which these would hide.
AC_DEFUN([ODE_MLCP_HARDENING], [
  AC_ARG_ENABLE([hardening],
    [AS_HELP_STRING([--disable-hardening],
      [no stack protector, no checked string functions, no full RELRO])],
    [], [enable_hardening=yes])
  AS_CASE(["$CFLAGS"], [*-fsanitize=*], [enable_hardening=no])
  HARDENED_CFLAGS= PIE_LDFLAGS=
  AS_IF([test "$enable_hardening" = yes], [
    _ODE_MLCP_HARDENED_C([-fstack-protector-strong])
    _ODE_MLCP_HARDENED_C([-fstack-clash-protection])
    _ODE_MLCP_HARDENED_C([-fcf-protection])
    # libtool puts -fPIC after it where a library is made
    _ODE_MLCP_HARDENED_C([-fPIE])
    # the C library warns of it without optimization, and of a level it lacks
    _ODE_MLCP_HARDENED_C([-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3],
      [_ODE_MLCP_HARDENED_C([-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2])])
    _ODE_MLCP_HARDENED_LINK([-Wl,-z,relro], [LDFLAGS])
    _ODE_MLCP_HARDENED_LINK([-Wl,-z,now], [LDFLAGS])
    _ODE_MLCP_HARDENED_LINK([-Wl,-z,noexecstack], [LDFLAGS])
    _ODE_MLCP_HARDENED_LINK([-pie], [PIE_LDFLAGS])
  ])
  AC_SUBST([HARDENED_CFLAGS])
  AC_SUBST([PIE_LDFLAGS])
])

# _ODE_MLCP_HARDENED_C(FLAGS, [IF-NOT])
AC_DEFUN([_ODE_MLCP_HARDENED_C], [
  AC_MSG_CHECKING([whether $CC takes $1])
  kept_cflags=$CFLAGS
  CFLAGS="$CFLAGS -Werror $1"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <stdio.h>]],
      [[char text[8]; return snprintf(text, sizeof text, "%p", (void *)text);]])],
    [hardened=yes], [hardened=no])
  CFLAGS=$kept_cflags
  AC_MSG_RESULT([$hardened])
  AS_IF([test "$hardened" = yes],
    [HARDENED_CFLAGS="$HARDENED_CFLAGS $1"], [$2])
])

# _ODE_MLCP_HARDENED_LINK(FLAG, VARIABLE)
AC_DEFUN([_ODE_MLCP_HARDENED_LINK], [
  AC_MSG_CHECKING([whether programs can be linked with $1])
  kept_ldflags=$LDFLAGS kept_cflags=$CFLAGS
  CFLAGS="$CFLAGS $HARDENED_CFLAGS" LDFLAGS="$LDFLAGS $1"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [hardened=yes], [hardened=no])
  LDFLAGS=$kept_ldflags CFLAGS=$kept_cflags
  AC_MSG_RESULT([$hardened])
  AS_IF([test "$hardened" = yes], [$2="$$2 $1"])
])
