# Included by the Makefile.am of the tree: the papers' cases, as a module that
# `ode-mlcp scene` loads and as tests.

SCENE_SOURCES = \
  plugin/scenes/disks.c \
  plugin/scenes/double_pendulum.c \
  plugin/scenes/ellipse.c \
  plugin/scenes/falling_rod.c \
  plugin/scenes/four_balls.c \
  plugin/scenes/inconsistent_joint.c \
  plugin/scenes/painleve.c plugin/scenes/painleve.h \
  plugin/scenes/painleve_rod.c \
  plugin/scenes/pawl.c \
  plugin/scenes/pendulum.c \
  plugin/scenes/rover.c \
  plugin/scenes/stick_slip.c \
  plugin/scenes/two_carts.c \
  plugin/scenes/scene_build.c plugin/scenes/scene_build.h \
  plugin/scenes/scene_events.c \
  plugin/scenes/scene_reference.c plugin/scenes/scene_reference.h \
  plugin/scenes/scene_run.c \
  plugin/scenes/scene_sweep.c \
  plugin/scenes/scenes.h

if HAVE_HOST

# it holds the library's objects itself: scenes ask the gap room directly
pkglib_LTLIBRARIES += ode_mlcp_scenes.la
ode_mlcp_scenes_la_SOURCES = $(SCENE_SOURCES) plugin/scenes/scene_module.c
ode_mlcp_scenes_la_CPPFLAGS = $(AM_CPPFLAGS) $(HOST_CFLAGS)
ode_mlcp_scenes_la_LDFLAGS = -module -avoid-version -no-undefined \
  -Wl,-z,defs -Wl,-rpath,'$$ORIGIN' -Wl,lib/libode.so \
  -export-symbols-regex '^ode_mlcp_scenes$$'
ode_mlcp_scenes_la_LIBADD = librooms_host.la
EXTRA_ode_mlcp_scenes_la_DEPENDENCIES = lib/libode.so

noinst_DATA += lib/ode_mlcp_scenes.so
CLEANFILES += lib/ode_mlcp_scenes.so
lib/ode_mlcp_scenes.so: ode_mlcp_scenes.la
	$(AM_V_GEN)ln -sf ../.libs/ode_mlcp_scenes.so $@ && touch $@

endif HAVE_HOST

# ---- tests ----

# scenes of no paper, with answers of their own
OWN_SCENE_SOURCES = tests/scenes/own_scenes.c tests/scenes/own_scenes.h \
  tests/scenes/gyroscope.c tests/scenes/incline.c tests/scenes/suite.h \
  tests/scenes/suite_contacts.c tests/scenes/suite_joints.c
HOST_TESTS += tests/test_scenes_contacts tests/test_scenes_joints \
  tests/test_scenes_second_order
tests_test_scenes_joints_SOURCES = tests/test_scenes_joints.c \
  tests/scene_testing.h tests/testing.h $(SCENE_SOURCES) \
  $(OWN_SCENE_SOURCES)
tests_test_scenes_joints_LDADD = $(HOST_TEST_LIBS)
tests_test_scenes_joints_CPPFLAGS = $(HOST_TEST_FLAGS)
tests_test_scenes_contacts_SOURCES = tests/test_scenes_contacts.c \
  tests/scene_testing.h tests/testing.h $(SCENE_SOURCES) \
  $(OWN_SCENE_SOURCES)
tests_test_scenes_contacts_LDADD = $(HOST_TEST_LIBS)
tests_test_scenes_contacts_CPPFLAGS = $(HOST_TEST_FLAGS)
tests_test_scenes_second_order_SOURCES = tests/test_scenes_second_order.c \
  tests/scene_testing.h tests/testing.h $(SCENE_SOURCES) \
  $(OWN_SCENE_SOURCES)
tests_test_scenes_second_order_LDADD = $(HOST_TEST_LIBS)
tests_test_scenes_second_order_CPPFLAGS = $(HOST_TEST_FLAGS)
