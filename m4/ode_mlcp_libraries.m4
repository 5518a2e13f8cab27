# ODE_MLCP_LIBRARIES: what the solver rooms link with.
AC_DEFUN([ODE_MLCP_LIBRARIES], [
  missing_library() {
    AC_MSG_ERROR([$][1 is missing (Debian: package $][2)])
  }
  AC_SEARCH_LIBS([sqrt], [m])
  AC_SEARCH_LIBS([dlopen], [dl], [], [missing_library dlopen libc6-dev])
  AC_SEARCH_LIBS([pthread_create], [pthread], [],
    [missing_library pthread_create libc6-dev])

  # SuiteSparse's headers stand in a folder of their own on most systems
  AC_CHECK_HEADERS([suitesparse/klu.h klu.h], [break], [],
    [AC_INCLUDES_DEFAULT])
  AS_IF([test "$ac_cv_header_suitesparse_klu_h" != yes &&
         test "$ac_cv_header_klu_h" != yes],
    [missing_library klu.h libsuitesparse-dev])
  SUITESPARSE_CFLAGS=
  AS_IF([test "$ac_cv_header_suitesparse_klu_h" = yes], [
    for folder in /usr/include /usr/local/include; do
      AS_IF([test -f $folder/suitesparse/klu.h],
        [SUITESPARSE_CFLAGS=-I$folder/suitesparse])
    done
  ])
  # only what is used becomes a dependency of the library
  SUITESPARSE_LIBS="-Wl,--as-needed -lklu -lcholmod -lamd -lsuitesparseconfig"
  AC_SUBST([SUITESPARSE_CFLAGS])
  AC_SUBST([SUITESPARSE_LIBS])
])
