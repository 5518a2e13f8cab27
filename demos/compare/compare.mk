# Included by the Makefile.am of the tree: the main job of ./quickstart, a script.

EXTRA_DIST += demos/compare/run demos/compare/cards.py \
  demos/compare/cards.html demos/compare/cards.js \
  tests/test_demos_compare.sh
HOST_TESTS += tests/test_demos_scenes
tests_test_demos_scenes_SOURCES = tests/test_demos_scenes.c tests/testing.h \
  demos/scenes/scene.c demos/scenes/scene.h demos/scenes/scenes.c \
  demos/scenes/scenes_jointed.c
tests_test_demos_scenes_CPPFLAGS = $(HOST_TEST_FLAGS)
tests_test_demos_scenes_LDADD = $(HOST_TEST_LIBS) -lm
if HAVE_HOST
TESTS += tests/test_demos_compare.sh
endif HAVE_HOST
