# Included by the Makefile.am of the tree: ten cases that users of ODE report, each a
# program on the plain API, and their table in docs/cases.md.
#   make cases      runs them on every stepper and renews the tables

CASES = slope belt slip stop mesh lift grasp rope ratio bounce
EXTRA_DIST += demos/cases/run tests/test_demos_cases.sh
if HAVE_HOST
all_cases = demos/cases/slope demos/cases/belt demos/cases/slip \
  demos/cases/stop demos/cases/mesh demos/cases/lift demos/cases/grasp \
  demos/cases/rope demos/cases/ratio demos/cases/bounce
check_PROGRAMS += $(all_cases)
TESTS += tests/test_demos_cases.sh
cases: ode-mlcp $(all_cases)
	$(srcdir)/demos/cases/run --update .
demos_cases_slope_SOURCES = demos/cases/slope.c demos/cases/case.h
demos_cases_slope_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_slope_LDADD = -lm
demos_cases_slope_LDFLAGS = $(case_linking)
EXTRA_demos_cases_slope_DEPENDENCIES = lib/libode.so
demos_cases_belt_SOURCES = demos/cases/belt.c demos/cases/case.h
demos_cases_belt_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_belt_LDADD = -lm
demos_cases_belt_LDFLAGS = $(case_linking)
EXTRA_demos_cases_belt_DEPENDENCIES = lib/libode.so
demos_cases_slip_SOURCES = demos/cases/slip.c demos/cases/case.h
demos_cases_slip_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_slip_LDADD = -lm
demos_cases_slip_LDFLAGS = $(case_linking)
EXTRA_demos_cases_slip_DEPENDENCIES = lib/libode.so
demos_cases_stop_SOURCES = demos/cases/stop.c demos/cases/case.h
demos_cases_stop_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_stop_LDADD = -lm
demos_cases_stop_LDFLAGS = $(case_linking)
EXTRA_demos_cases_stop_DEPENDENCIES = lib/libode.so
demos_cases_mesh_SOURCES = demos/cases/mesh.c demos/cases/case.h
demos_cases_mesh_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_mesh_LDADD = -lm
demos_cases_mesh_LDFLAGS = $(case_linking)
EXTRA_demos_cases_mesh_DEPENDENCIES = lib/libode.so
demos_cases_lift_SOURCES = demos/cases/lift.c demos/cases/case.h
demos_cases_lift_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_lift_LDADD = -lm
demos_cases_lift_LDFLAGS = $(case_linking)
EXTRA_demos_cases_lift_DEPENDENCIES = lib/libode.so
demos_cases_grasp_SOURCES = demos/cases/grasp.c demos/cases/case.h
demos_cases_grasp_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_grasp_LDADD = -lm
demos_cases_grasp_LDFLAGS = $(case_linking)
EXTRA_demos_cases_grasp_DEPENDENCIES = lib/libode.so
demos_cases_rope_SOURCES = demos/cases/rope.c demos/cases/case.h
demos_cases_rope_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_rope_LDADD = -lm
demos_cases_rope_LDFLAGS = $(case_linking)
EXTRA_demos_cases_rope_DEPENDENCIES = lib/libode.so
demos_cases_ratio_SOURCES = demos/cases/ratio.c demos/cases/case.h
demos_cases_ratio_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_ratio_LDADD = -lm
demos_cases_ratio_LDFLAGS = $(case_linking)
EXTRA_demos_cases_ratio_DEPENDENCIES = lib/libode.so
demos_cases_bounce_SOURCES = demos/cases/bounce.c demos/cases/case.h
demos_cases_bounce_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_bounce_LDADD = -lm
demos_cases_bounce_LDFLAGS = $(case_linking)
EXTRA_demos_cases_bounce_DEPENDENCIES = lib/libode.so
case_linking = -Wl,--no-as-needed \
  -Wl,-rpath,$(abs_builddir)/lib -Llib -Wl,-lode
endif HAVE_HOST
.PHONY: cases
