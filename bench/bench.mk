# Included by the Makefile.am of the tree: `make bench`, and `make bench-quick`
# in a minute or two. Reports go to report/ (docs/bench.md: how to read them).

BENCHES = bench/bench_impacts bench/bench_lcps
if HAVE_HOST
BENCHES += bench/bench_events bench/bench_gap bench/bench_solvers
endif HAVE_HOST
EXTRA_PROGRAMS += $(BENCHES)
bench_bench_impacts_SOURCES = bench/bench_impacts.c
bench_bench_impacts_LDADD = librooms_plain.la
bench_bench_lcps_SOURCES = bench/bench_lcps.c bench/bench_clock.h bench/peers.h
bench_bench_lcps_CPPFLAGS = $(AM_CPPFLAGS)
bench_bench_lcps_LDADD = librooms_plain.la
bench_bench_events_SOURCES = bench/bench_events.c bench/bench_clock.h
bench_bench_events_LDADD = libode_mlcp.la $(HOST_LINK)
bench_bench_events_CPPFLAGS = $(AM_CPPFLAGS) $(HOST_CFLAGS)
bench_bench_gap_LDADD = librooms_host.la $(HOST_LINK)
bench_bench_gap_CPPFLAGS = $(AM_CPPFLAGS) $(HOST_CFLAGS) -I$(srcdir)/tests

bench_bench_solvers_SOURCES = bench/bench_solvers.c bench/bench_clock.h \
  bench/bench_run.c bench/bench_run.h \
  bench/bench_families.c bench/bench_families.h \
  bench/families.c bench/families.h \
  bench/host_step.c bench/host_step.h \
  bench/lcp_form.c bench/lcp_form.h bench/peers.h
bench_bench_solvers_CPPFLAGS = $(AM_CPPFLAGS) $(HOST_CFLAGS)
bench_bench_solvers_LDADD = libproblems.la librooms_host.la $(HOST_LINK)

# peers, where they are; C++ past automake, for this one file
EXTRA_DIST += bench/peer_bullet.cpp
if HAVE_SICONOS
EXTRA_LTLIBRARIES = libpeer_siconos.la
libpeer_siconos_la_SOURCES = bench/peer_siconos.c bench/peers.h
libpeer_siconos_la_CPPFLAGS = $(SICONOS_CFLAGS)
bench_bench_solvers_CPPFLAGS += -DHAVE_SICONOS=1
bench_bench_solvers_LDADD += libpeer_siconos.la $(SICONOS_LIBS)
bench_bench_lcps_CPPFLAGS += -DHAVE_SICONOS=1
bench_bench_lcps_LDADD += libpeer_siconos.la $(SICONOS_LIBS)
endif HAVE_SICONOS
if HAVE_BULLET
bench/peer_bullet.o: bench/peer_bullet.cpp bench/peers.h bench/bench_clock.h
	@$(MKDIR_P) bench
	$(AM_V_CC)$(BENCH_CXX) -O2 -fPIC $(BULLET_CFLAGS) -c \
	  $(srcdir)/bench/peer_bullet.cpp -o $@
bench_bench_solvers_CPPFLAGS += -DHAVE_BULLET=1
bench_bench_solvers_LDADD += bench/peer_bullet.o $(BULLET_LIBS) -lstdc++
endif HAVE_BULLET
CLEANFILES += bench/peer_bullet.o

EXTRA_DIST += bench/recording bench/report bench/report.awk bench/report.py \
  bench/three_feet.txt
.PHONY: bench bench-quick
bench: $(BENCHES) ode-mlcp
	$(SHELL) $(srcdir)/bench/report .
bench-quick: $(BENCHES) ode-mlcp
	$(SHELL) $(srcdir)/bench/report --quick .

PLAIN_TESTS += tests/test_bench_lcp_form
tests_test_bench_lcp_form_SOURCES = tests/test_bench_lcp_form.c \
  bench/lcp_form.c bench/lcp_form.h tests/problems.c tests/problems.h \
  tests/testing.h
