# Included by the Makefile.am of the tree.
#
#   make demos         build the host's demos without a window (host-demos/);
#                      DEMOS='--demo demo_boxstack': only that one
#   make demos-report  run each on both stock steppers and, twice, on ode-mlcp
#                      (minutes); the table is report/host-suite/report.md
#   make demos-second-order
#                      run each under trapezoid and under conserving (tens of
#                      minutes); report/host-suite-SCHEME/report.md
#
# All need a host that is a source tree; a stock host built beside it is taken
# for the stock runs, otherwise the patched one with no stepper set.

EXTRA_DIST += demos/host-suite tests/host_suite tests/host_identity \
  tests/run_host_suite.sh

if HAVE_HOST

TESTS += tests/run_host_suite.sh

demos: lib/libode.so.8
	@$(srcdir)/demos/host-suite/build-demos --lib lib --out host-demos \
	  --ode-source "$(HOST_INCLUDE)/.." $(DEMOS)

demos-report: demos all
	@stock="$(HOST_INCLUDE)/../../host-stock/ode/src/.libs/libode.so.8"; \
	test -f "$$stock" || stock=lib/libode.so.8; \
	$(srcdir)/demos/host-suite/run-suite --demos host-demos \
	  --out report/host-suite --host "$$(readlink -f $$stock)" --both --twice \
	  --wrapper '$(abs_builddir)/ode-mlcp run --stats STATS --'

demos-second-order: demos all
	@result=0; for scheme in trapezoid conserving; do \
	  $(srcdir)/demos/host-suite/run-suite --demos host-demos --no-stock \
	    --out report/host-suite-$$scheme --wrapper \
	    "$(abs_builddir)/ode-mlcp run --scheme $$scheme --stats STATS --" \
	    || result=1; \
	done; exit $$result

endif HAVE_HOST
