# Included by the Makefile.am of the tree: twenty cases that users of ODE report, each a
# program on the plain API, and their table in docs/cases.md.
#   make cases      runs them on every stepper and renews the tables

CASES = slope belt slip stop mesh lift grasp rope ratio bounce \
  tripod rail whirl cup packed gravity wheels kerb fourbar field
EXTRA_DIST += demos/cases/run tests/test_demos_cases.sh
if HAVE_HOST
all_cases = demos/cases/slope demos/cases/belt demos/cases/slip \
  demos/cases/stop demos/cases/mesh demos/cases/lift demos/cases/grasp \
  demos/cases/rope demos/cases/ratio demos/cases/bounce \
  demos/cases/tripod demos/cases/rail demos/cases/whirl \
  demos/cases/cup demos/cases/packed demos/cases/gravity \
  demos/cases/wheels demos/cases/kerb demos/cases/fourbar \
  demos/cases/field
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
demos_cases_tripod_SOURCES = demos/cases/tripod.c demos/cases/case.h
demos_cases_tripod_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_tripod_LDADD = -lm
demos_cases_tripod_LDFLAGS = $(case_linking)
EXTRA_demos_cases_tripod_DEPENDENCIES = lib/libode.so
demos_cases_rail_SOURCES = demos/cases/rail.c demos/cases/case.h
demos_cases_rail_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_rail_LDADD = -lm
demos_cases_rail_LDFLAGS = $(case_linking)
EXTRA_demos_cases_rail_DEPENDENCIES = lib/libode.so
demos_cases_whirl_SOURCES = demos/cases/whirl.c demos/cases/case.h
demos_cases_whirl_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_whirl_LDADD = -lm
demos_cases_whirl_LDFLAGS = $(case_linking)
EXTRA_demos_cases_whirl_DEPENDENCIES = lib/libode.so
demos_cases_cup_SOURCES = demos/cases/cup.c demos/cases/case.h
demos_cases_cup_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_cup_LDADD = -lm
demos_cases_cup_LDFLAGS = $(case_linking)
EXTRA_demos_cases_cup_DEPENDENCIES = lib/libode.so
demos_cases_packed_SOURCES = demos/cases/packed.c demos/cases/case.h
demos_cases_packed_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_packed_LDADD = -lm
demos_cases_packed_LDFLAGS = $(case_linking)
EXTRA_demos_cases_packed_DEPENDENCIES = lib/libode.so
demos_cases_gravity_SOURCES = demos/cases/gravity.c demos/cases/case.h
demos_cases_gravity_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_gravity_LDADD = -lm
demos_cases_gravity_LDFLAGS = $(case_linking)
EXTRA_demos_cases_gravity_DEPENDENCIES = lib/libode.so
demos_cases_wheels_SOURCES = demos/cases/wheels.c demos/cases/case.h
demos_cases_wheels_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_wheels_LDADD = -lm
demos_cases_wheels_LDFLAGS = $(case_linking)
EXTRA_demos_cases_wheels_DEPENDENCIES = lib/libode.so
demos_cases_kerb_SOURCES = demos/cases/kerb.c demos/cases/case.h
demos_cases_kerb_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_kerb_LDADD = -lm
demos_cases_kerb_LDFLAGS = $(case_linking)
EXTRA_demos_cases_kerb_DEPENDENCIES = lib/libode.so
demos_cases_fourbar_SOURCES = demos/cases/fourbar.c demos/cases/case.h
demos_cases_fourbar_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_fourbar_LDADD = -lm
demos_cases_fourbar_LDFLAGS = $(case_linking)
EXTRA_demos_cases_fourbar_DEPENDENCIES = lib/libode.so
demos_cases_field_SOURCES = demos/cases/field.c demos/cases/case.h
demos_cases_field_CPPFLAGS = $(HOST_CFLAGS)
demos_cases_field_LDADD = -lm
demos_cases_field_LDFLAGS = $(case_linking)
EXTRA_demos_cases_field_DEPENDENCIES = lib/libode.so
endif HAVE_HOST
.PHONY: cases
