# ODE_MLCP_C_FLAGS: C11, all warnings, and arithmetic that gives the same bits
# at every call site (no fused multiply-adds, whatever -march says; no excess digits).
AC_DEFUN([ODE_MLCP_C_FLAGS], [
  AC_ARG_ENABLE([Werror],
    [AS_HELP_STRING([--enable-Werror], [treat warnings as errors])],
    [], [enable_Werror=no])
  STRICT_CFLAGS="-std=gnu11 -Wall -Wextra -fvisibility=hidden"
  # numbers of a host of single precision, taken for doubles
  STRICT_CFLAGS="$STRICT_CFLAGS -Werror=incompatible-pointer-types"
  AS_IF([test "$enable_Werror" = yes],
    [STRICT_CFLAGS="$STRICT_CFLAGS -Werror"])
  AC_SUBST([STRICT_CFLAGS])

  # after the user's CFLAGS on the command line, so that no CFLAGS undoes it
  CFLAGS="$CFLAGS -ffp-contract=off"

  # the 8087 of i386 keeps more digits in its registers than a double has
  AC_MSG_CHECKING([for flags that round each operation to double])
  each_rounded=no
  kept_cflags=$CFLAGS
  for flags in "" "-msse2 -mfpmath=sse"; do
    CFLAGS="$kept_cflags${flags:+ $flags}"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
        #include <float.h>
        typedef char each_rounded[FLT_EVAL_METHOD == 0 ? 1 : -1];
      ]], [])], [each_rounded=yes; break])
  done
  AC_MSG_RESULT([${flags:-none needed}])
  AS_IF([test "$each_rounded" = no],
    [AC_MSG_ERROR([the compiler keeps more digits than a double has])])
])
