# Included by the Makefile.am of the tree: scenes as programs of their own, which
# know the host alone. The host is given as a file and found beside the build.

if HAVE_HOST
noinst_PROGRAMS += demos/play/play
demos_play_play_SOURCES = demos/play/play.c \
  demos/scenes/scene.c demos/scenes/scene.h demos/scenes/scenes.c \
  demos/scenes/scenes_jointed.c
demos_play_play_CPPFLAGS = $(HOST_CFLAGS)
demos_play_play_LDADD = -lm
demos_play_play_LDFLAGS = -Wl,--no-as-needed \
  -Wl,-rpath,$(abs_builddir)/lib -Llib -Wl,-lode
EXTRA_demos_play_play_DEPENDENCIES = lib/libode.so
endif HAVE_HOST
