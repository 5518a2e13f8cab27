# ODE_MLCP_MPI: sets have_mpi, MPI_CFLAGS and MPI_LIBS, by what mpicc says it
# would do (Open MPI: --showme; MPICH: -show).
AC_DEFUN([ODE_MLCP_MPI], [
AC_ARG_WITH([mpi],
  [AS_HELP_STRING([--without-mpi], [build no ode-mlcp-mpi])],
  [], [with_mpi=auto])
have_mpi=no
AS_IF([test "$with_mpi" != no], [
  AC_PATH_PROGS([MPICC], [mpicc mpicc.openmpi mpicc.mpich])
  AS_IF([test -n "$MPICC"], [
    mpi_cflags=$($MPICC --showme:compile 2>/dev/null) &&
      mpi_libs=$($MPICC --showme:link 2>/dev/null) || {
      # the first word is the compiler; flags of both kinds do no harm
      mpi_cflags=$($MPICC -show 2>/dev/null | sed 's/^@<:@^ @:>@* *//')
      mpi_libs=$mpi_cflags
    }
    kept_cflags=$CFLAGS kept_libs=$LIBS
    CFLAGS="$CFLAGS $mpi_cflags" LIBS="$mpi_libs $LIBS"
    AC_MSG_CHECKING([for MPI])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]],
      [[MPI_Init(NULL, NULL); return MPI_Finalize();]])], [have_mpi=yes])
    AC_MSG_RESULT([$have_mpi])
    CFLAGS=$kept_cflags LIBS=$kept_libs
  ])
  AS_IF([test "$with_mpi:$have_mpi" = yes:no],
    [AC_MSG_ERROR([--with-mpi: no mpicc that works (Debian: libopenmpi-dev)])])
])
AC_SUBST([MPI_CFLAGS], [$mpi_cflags])
AC_SUBST([MPI_LIBS], [$mpi_libs])
AM_CONDITIONAL([HAVE_MPI], [test "$have_mpi" = yes])
])
