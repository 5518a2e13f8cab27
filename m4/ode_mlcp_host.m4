# ODE_MLCP_HOST: find an ODE library with the stepper interface.
#
#   --with-ode=DIR  a patched build tree, or the prefix it is installed in
#   (nothing)       the ODE that pkg-config knows
#   --with-ode=no   none: only the plain-array rooms and their tests are built
#
# Sets HOST_CFLAGS, HOST_INCLUDE (folder that holds ode/), HOST_LIBRARY (full path
# of libode.so.8), HOST_PRECISION (double or single: the precision that its headers
# are for) and the conditional HAVE_HOST.
AC_DEFUN([ODE_MLCP_HOST], [
  AC_ARG_WITH([ode],
    [AS_HELP_STRING([--with-ode=DIR],
      [ODE with <ode/stepper.h>: build tree or prefix ("no": build without)])],
    [], [with_ode=yes])

  host_summary=none
  HOST_CFLAGS= HOST_INCLUDE= HOST_LIBRARY= HOST_PRECISION=
  AS_IF([test "$with_ode" != no], [_ODE_MLCP_FIND_HOST])
  AC_SUBST([HOST_CFLAGS])
  AC_SUBST([HOST_INCLUDE])
  AC_SUBST([HOST_LIBRARY])
  AC_SUBST([HOST_PRECISION])
  AM_CONDITIONAL([HAVE_HOST], [test "$with_ode" != no])
])

AC_DEFUN([_ODE_MLCP_FIND_HOST], [
  AS_IF([test "$with_ode" = yes], [
    PKG_CHECK_EXISTS([ode], [],
      [AC_MSG_ERROR([pkg-config knows no ode; name a patched one: --with-ode])])
    HOST_INCLUDE=`$PKG_CONFIG --variable=includedir ode`
    host_libraries=`$PKG_CONFIG --variable=libdir ode`
  ], [
    with_ode=`cd "$with_ode" 2>/dev/null && pwd` ||
      AC_MSG_ERROR([--with-ode: no such folder])
    HOST_INCLUDE=$with_ode/include
    host_libraries="$with_ode/ode/src/.libs $with_ode/lib"
    host_libraries="$host_libraries $with_ode/lib/ode-mlcp"
  ])
  HOST_CFLAGS="-I$HOST_INCLUDE"
  for folder in $host_libraries; do
    AS_IF([test -z "$HOST_LIBRARY" && test -f "$folder/libode.so.8"],
      [HOST_LIBRARY=$folder/libode.so.8])
  done
  # a tree that is being built while this runs
  AS_IF([test -z "$HOST_LIBRARY" && test -f "$with_ode/ode/src/Makefile"],
    [HOST_LIBRARY=$with_ode/ode/src/.libs/libode.so.8])
  AS_IF([test -z "$HOST_LIBRARY"],
    [AC_MSG_ERROR([no libode.so.8 in $host_libraries])])

  saved_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$HOST_CFLAGS $CPPFLAGS"
  AC_CHECK_HEADER([ode/stepper.h], [],
    [AC_MSG_ERROR([$HOST_INCLUDE has no ode/stepper.h: an unpatched ODE])],
    [#include <ode/ode.h>])

  # the library itself is asked when it is used
  AC_MSG_CHECKING([the host's precision])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
      #include <ode/ode.h>
      typedef char real_is_double[sizeof(dReal) == sizeof(double) ? 1 : -1];
    ]], [])], [HOST_PRECISION=double], [HOST_PRECISION=single])
  AC_MSG_RESULT([$HOST_PRECISION])
  CPPFLAGS=$saved_CPPFLAGS
  host_summary="$HOST_LIBRARY, $HOST_PRECISION precision"
])
