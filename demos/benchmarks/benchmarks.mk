# Included by the Makefile.am of the tree: benchmarks of other engines' authors
# (docs/bench.md), one program and the script that runs it on all steppers.

EXTRA_DIST += demos/benchmarks/run demos/benchmarks/table.awk demos/benchmarks/published.tsv \
  tests/test_demos_benchmarks.sh
if HAVE_HOST
noinst_PROGRAMS += demos/benchmarks/benchmark
demos_benchmarks_benchmark_CPPFLAGS = $(AM_CPPFLAGS) $(HOST_CFLAGS)
demos_benchmarks_benchmark_LDADD = libode_mlcp.la $(HOST_LINK) -lm
demos_benchmarks_benchmark_LDFLAGS = -Wl,-rpath,$(abs_builddir)/lib
EXTRA_demos_benchmarks_benchmark_DEPENDENCIES = lib/libode.so
TESTS += tests/test_demos_benchmarks.sh
endif HAVE_HOST
