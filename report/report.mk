# Included by the Makefile.am of the tree: the page of `ode-mlcp compare`, in two
# parts with the data between them, linked into the command.

report_parts = report/head.html report/report.css report/body.html \
  report/report.js report/vendor/uPlot.min.css \
  report/vendor/uPlot.iife.min.js report/vendor/three.min.js
EXTRA_DIST += $(report_parts) report/vendor/README.md \
  report/vendor/three-entry.js report/vendor/three.LICENSE \
  report/vendor/uplot.LICENSE

if HAVE_HOST
CLEANFILES += report/before.html report/after.html
report/before.html: $(report_parts) report/report.mk
	@$(MKDIR_P) report
	$(AM_V_GEN)cd $(srcdir)/report && { cat head.html; echo '<style>'; \
	  cat vendor/uPlot.min.css report.css; echo '</style>'; \
	  cat body.html; } >$(abs_builddir)/$@
report/after.html: $(report_parts) report/report.mk
	@$(MKDIR_P) report
	$(AM_V_GEN)cd $(srcdir)/report && { echo '</script>'; echo '<script>'; \
	  cat vendor/uPlot.iife.min.js; echo '</script>'; echo '<script>'; \
	  cat vendor/three.min.js; echo '</script>'; echo '<script>'; \
	  cat report.js; echo '</script>'; echo '</body>'; echo '</html>'; \
	  } >$(abs_builddir)/$@
plugin/command/ode_mlcp-compare_html.$(OBJEXT): report/before.html \
  report/after.html
endif HAVE_HOST
