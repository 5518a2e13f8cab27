# Included by the Makefile.am of the tree: the program and the preloaded
# recorder behind demos/compare/run.

EXTRA_DIST += demos/compare/run demos/compare/recorder.c

if HAVE_HOST

# linked past libtool, so that what is made is the program and no wrapper
noinst_PROGRAMS += demos/compare/compare
demos_compare_compare_SOURCES = \
  demos/compare/compare.c \
  demos/compare/measure.c demos/compare/measure.h \
  demos/compare/outline.c demos/compare/outline.h \
  demos/compare/picture.c demos/compare/picture.h \
  demos/compare/recording.c demos/compare/recording.h \
  demos/compare/results_json.c \
  demos/compare/table.c demos/compare/table.h \
  demos/scenes/scene.c demos/scenes/scene.h demos/scenes/scenes.c \
  demos/scenes/scenes_jointed.c
demos_compare_compare_CPPFLAGS = $(AM_CPPFLAGS) $(HOST_CFLAGS)
demos_compare_compare_LDADD =
demos_compare_compare_LDFLAGS = -Wl,--no-as-needed \
  -Wl,-rpath,$(abs_builddir)/lib -Llib -Wl,-lode_mlcp,-lode
EXTRA_demos_compare_compare_DEPENDENCIES = lib/libode_mlcp.so lib/libode.so

noinst_DATA += demos/compare/librecorder.so
CLEANFILES += demos/compare/librecorder.so
demos/compare/librecorder.so: demos/compare/recorder.c
	@$(MKDIR_P) demos/compare
	$(AM_V_CCLD)$(CC) -D_GNU_SOURCE $(HOST_CFLAGS) $(CPPFLAGS) \
	  $(STRICT_CFLAGS) $(CFLAGS) -fvisibility=default -fPIC -shared \
	  $(srcdir)/demos/compare/recorder.c -o $@ -ldl

endif HAVE_HOST

# ---- tests ----

EXTRA_DIST += tests/test_demos_compare.sh
HOST_TESTS += tests/test_demos_scenes
tests_test_demos_scenes_SOURCES = tests/test_demos_scenes.c tests/testing.h \
  demos/compare/outline.c demos/compare/outline.h \
  demos/scenes/scene.c demos/scenes/scene.h demos/scenes/scenes.c \
  demos/scenes/scenes_jointed.c
tests_test_demos_scenes_CPPFLAGS = $(HOST_TEST_FLAGS)
tests_test_demos_scenes_LDADD = $(HOST_TEST_LIBS) -lm
if HAVE_HOST
TESTS += tests/test_demos_compare.sh
endif HAVE_HOST
