# Included by the Makefile.am of the tree: the problem library, for host tests
# and benches. A program that uses it names libproblems.la before librooms_host.la.

if HAVE_HOST
noinst_LTLIBRARIES += libproblems.la
libproblems_la_SOURCES = bench/library.c bench/library.h \
  demos/scenes/scene.c demos/scenes/scene.h demos/scenes/scenes.c \
  demos/scenes/scenes_jointed.c
libproblems_la_CPPFLAGS = $(AM_CPPFLAGS) $(HOST_CFLAGS)
endif HAVE_HOST

HOST_TESTS += tests/test_solver_library
tests_test_solver_library_SOURCES = tests/test_solver_library.c \
  tests/problems.c tests/problems.h tests/testing.h
tests_test_solver_library_LDADD = libproblems.la $(HOST_TEST_LIBS)
tests_test_solver_library_CPPFLAGS = $(HOST_TEST_FLAGS)

HOST_TESTS += tests/test_step_dump
tests_test_step_dump_LDADD = libproblems.la $(HOST_TEST_LIBS)
tests_test_step_dump_CPPFLAGS = $(HOST_TEST_FLAGS)

HOST_TESTS += tests/test_step_budget
tests_test_step_budget_SOURCES = tests/test_step_budget.c \
  tests/never_worse_families.c tests/never_worse_world.c tests/never_worse_world.h
tests_test_step_budget_LDADD = libproblems.la $(HOST_TEST_LIBS)
tests_test_step_budget_CPPFLAGS = $(HOST_TEST_FLAGS)
