# Included by the Makefile.am of the tree: drawn worlds under stock's steppers and every
# scheme. A run goes on where it was stopped, and its figures are those of all seeds in
# build/never-worse.lines; take that file away to begin anew.
#
#   make never-worse SEEDS=0-999        make never-worse-sum
#
# A hundred worlds take about two minutes of a processor, half a minute of them under
# `ah` alone, as each check runs them.

if HAVE_HOST
check_PROGRAMS += tests/never_worse tests/never_worse_play
tests_never_worse_SOURCES = tests/never_worse.c
tests_never_worse_LDADD = -lm
# a program as any other, which knows the host alone
tests_never_worse_play_SOURCES = tests/never_worse_play.c \
  tests/never_worse_families.c tests/never_worse_world.c \
  tests/never_worse_world.h
tests_never_worse_play_CPPFLAGS = -I$(srcdir)/plugin $(HOST_CFLAGS)
tests_never_worse_play_LDADD = $(HOST_LINK) -lm
TESTS += tests/test_never_worse.sh
endif HAVE_HOST

SEEDS = 0-999
NEVER_WORSE = tests/never_worse$(EXEEXT)
never-worse: $(NEVER_WORSE) tests/never_worse_play$(EXEEXT) ode-mlcp$(EXEEXT) all
	$(NEVER_WORSE) $(SEEDS) --output never-worse.lines
never-worse-sum: $(NEVER_WORSE)
	$(NEVER_WORSE) --sum never-worse.lines
.PHONY: never-worse never-worse-sum
EXTRA_DIST += tests/never_worse.mk tests/never_worse_known tests/test_never_worse.sh
CLEANFILES += never-worse.lines
