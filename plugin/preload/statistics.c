#include "preload/statistics.h"

#include <math.h>

static int larger(int a, int b) { return a > b ? a : b; }

void statistics_add(statistics *sums, const ode_mlcp_report *report) {
  if (report->taken) sums->steps++;
  else if (report->refused) sums->refused++;
  else sums->failed++;

  sums->islands_max = larger(sums->islands_max, report->islands);
  sums->contacts_max = larger(sums->contacts_max, report->contacts);
  sums->rows_max = larger(sums->rows_max, report->rows);
  sums->solves += report->solves;
  sums->pivots += report->pivots;
  sums->factorisations += report->factorisations;
  sums->iterations += report->iterations;
  sums->degraded += report->degraded;
  sums->unsolved += report->unsolved;
  sums->contacts_merged += report->contacts_merged;
  sums->contacts_dropped += report->contacts_dropped;
  sums->pushes += report->pushes;

  if (!isfinite(report->residual)) sums->residual_unknown = true;
  else if (report->residual > sums->residual_worst)
    sums->residual_worst = report->residual;
  sums->solver_seconds += report->solver_seconds;
  sums->step_seconds += report->step_seconds;
}

static void add_key(text *out, const char *key) {
  text_add(out, "  \"");
  text_add(out, key);
  text_add(out, "\": ");
}

static void add_integer(text *out, const char *key, long value) {
  add_key(out, key);
  text_add_integer(out, value);
  text_add(out, ",\n");
}

/* JSON has no word for what is not a finite number but null. */
static void add_number(text *out, const char *key, double value,
                       const char *end) {
  add_key(out, key);
  if (isfinite(value)) text_add_number(out, value, 9);
  else text_add(out, "null");
  text_add(out, end);
}

static void add_word(text *out, const char *key, const char *word) {
  add_key(out, key);
  text_add_json_string(out, word);
  text_add(out, ",\n");
}

void statistics_add_settings(text *out, const ode_mlcp_options *options) {
  add_word(out, "version", ode_mlcp_version());
  static const char *const schemes[] = {
      [ODE_MLCP_SCHEME_AP] = "ap",
      [ODE_MLCP_SCHEME_AH] = "ah",
      [ODE_MLCP_SCHEME_GAP] = "gap",
      [ODE_MLCP_SCHEME_TRAPEZOID_1] = "trapezoid-1",
      [ODE_MLCP_SCHEME_TRAPEZOID] = "trapezoid",
      [ODE_MLCP_SCHEME_ST] = "st"};
  add_word(out, "scheme", schemes[options->scheme]);
  add_word(out, "solver",
           options->solver == ODE_MLCP_SOLVER_LEMKE ? "lemke" : "fast");
  add_integer(out, "edges", options->edges);
  if (options->erp == ODE_MLCP_ERP_HOST) add_word(out, "erp", "host");
  else add_number(out, "erp", options->erp, ",\n");
  // null: all position errors are corrected by velocity
  add_number(out, "max_correction", options->max_correction, ",\n");
  add_integer(out, "max_contacts", options->max_contacts);
  if (options->margin == ODE_MLCP_MARGIN_AUTO) add_word(out, "margin", "auto");
  else add_number(out, "margin", options->margin, ",\n");
  add_number(out, "tolerance", options->tolerance, "\n");
}

void statistics_add_json(text *out, const statistics *sums,
                         const char *settings) {
  text_add(out, "{\n");
  add_integer(out, "steps", sums->steps);
  add_integer(out, "islands_max", sums->islands_max);
  add_integer(out, "contacts_max", sums->contacts_max);
  add_integer(out, "rows_max", sums->rows_max);
  add_integer(out, "solves", sums->solves);
  add_integer(out, "pivots", sums->pivots);
  add_integer(out, "degraded", sums->degraded);
  add_integer(out, "unsolved", sums->unsolved);
  add_number(out, "residual_worst",
             sums->residual_unknown ? NAN : sums->residual_worst, ",\n");
  add_number(out, "solver_seconds", sums->solver_seconds, ",\n");
  add_number(out, "step_seconds", sums->step_seconds, ",\n");
  add_integer(out, "refused", sums->refused);
  add_integer(out, "failed", sums->failed);
  add_integer(out, "worlds", sums->worlds);
  add_integer(out, "contacts_merged", sums->contacts_merged);
  add_integer(out, "contacts_dropped", sums->contacts_dropped);
  add_integer(out, "pushes", sums->pushes);
  add_integer(out, "factorisations", sums->factorisations);
  add_integer(out, "iterations", sums->iterations);
  text_add(out, settings);
  text_add(out, "}\n");
}
