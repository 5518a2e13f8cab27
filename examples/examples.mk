# Included by the Makefile.am of the tree: the examples as a reader builds them,
# with the library and its headers alone, and their pictures.
#   make examples

if HAVE_HOST
EXAMPLES = examples/swap/domino examples/wall/wall examples/gaps/drop \
  examples/grasp/grasp
check_PROGRAMS += $(EXAMPLES)
# domino knows the host alone, which is found beside the build
examples_swap_domino_CPPFLAGS = $(HOST_CFLAGS)
examples_swap_domino_LDADD = -lm
examples_swap_domino_LDFLAGS = -Wl,--no-as-needed \
  -Wl,-rpath,$(abs_builddir)/lib -Llib -Wl,-lode
EXTRA_examples_swap_domino_DEPENDENCIES = lib/libode.so
EXAMPLE_FLAGS = -I$(srcdir)/plugin $(HOST_CFLAGS)
EXAMPLE_LIBS = lib/libode_mlcp.so lib/libode.so -lm
examples_wall_wall_CPPFLAGS = $(EXAMPLE_FLAGS)
examples_wall_wall_LDADD = $(EXAMPLE_LIBS)
examples_gaps_drop_CPPFLAGS = $(EXAMPLE_FLAGS)
examples_gaps_drop_LDADD = $(EXAMPLE_LIBS)
examples_grasp_grasp_CPPFLAGS = $(EXAMPLE_FLAGS)
examples_grasp_grasp_LDADD = $(EXAMPLE_LIBS)
examples: ode-mlcp demos/play/play $(EXAMPLES)
	$(AM_V_GEN)$(srcdir)/examples/run .
TESTS += tests/test_examples.sh tests/test_python_module.sh
endif HAVE_HOST
.PHONY: examples
EXTRA_DIST += examples/README.md examples/run examples/notebook.ipynb \
  examples/run-notebook examples/swap/README.md examples/swap/run \
  examples/compare examples/wall/README.md examples/wall/run \
  examples/gaps/README.md examples/gaps/run \
  examples/grasp/README.md examples/grasp/run \
  examples/impact/README.md examples/impact/run examples/impact/describe.awk \
  examples/impact/biped.txt examples/impact/foot.txt examples/impact/gripper.txt \
  examples/impact/array.slurm examples/impact/merge.py examples/impact/on_dask.py \
  examples/impact/rocking-block examples/impact/compass-gait \
  examples/impact/box-wall examples/impact/ramone examples/impact/disk-stack \
  python/ode_mlcp.py python/ode_mlcp_plot.py tools/plot tests/python_module.py tests/test_python_module.sh \
  tests/test_examples.sh
