# ODE_MLCP_C_FLAGS: C11, all warnings, and arithmetic that gives the same bits
# at every call site (no fused multiply-adds, whatever -march says).
AC_DEFUN([ODE_MLCP_C_FLAGS], [
  AC_ARG_ENABLE([Werror],
    [AS_HELP_STRING([--enable-Werror], [treat warnings as errors])],
    [], [enable_Werror=no])
  STRICT_CFLAGS="-std=gnu11 -Wall -Wextra -fvisibility=hidden"
  AS_IF([test "$enable_Werror" = yes],
    [STRICT_CFLAGS="$STRICT_CFLAGS -Werror"])
  AC_SUBST([STRICT_CFLAGS])

  # after the user's CFLAGS on the command line, so that no CFLAGS undoes it
  CFLAGS="$CFLAGS -ffp-contract=off"
])
