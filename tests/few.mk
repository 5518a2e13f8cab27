# GNU make's conditionals, which automake does not know.
# `make check TESTS=tests/X` builds what X needs: itself, or, where X is a script, the
# programs that scripts run. Automake's rule of check-TESTS has its list from before this
# is read, so that the make which runs it is given this one.
ifeq ($(origin TESTS),command line)
check_PROGRAMS := $(filter $(TESTS:=$(EXEEXT)),$(check_PROGRAMS)) \
  $(if $(filter %.sh,$(TESTS)),$(filter-out tests/test_%,$(check_PROGRAMS)))
AM_MAKEFLAGS += check_PROGRAMS='$(check_PROGRAMS)'
endif
