/* Sets as CSV. A file begins with comment lines that say which set it is of. Numbers
 * have all digits, so that the same set is the same bytes. */
#include <inttypes.h>

#include "command/impact.h"
#include "command/result_file.h"

#define SIGNATURE "# ode-mlcp impact set, version 2"

static void write_header(FILE *out, const impact_result *result,
                         const ode_mlcp_impact_set *set) {
  const ode_mlcp_impact_options *options = &result->options;
  const ode_mlcp_impact_problem *problem = &result->input->problem;
  fprintf(out, SIGNATURE "\n# example %s\n", result->input->name);
  fprintf(out, "# data %016" PRIx64 "\n", result->input->fingerprint);
  fprintf(out,
          "# seed %" PRIu64 " first %" PRIu64 " samples %" PRIu64
          " h %.17g steps %d "
          "tolerance %.17g select %s\n",
          options->seed, options->first, options->samples, options->h,
          options->steps, options->tolerance,
          impact_select_words[options->select]);
  fprintf(out,
          "# done %" PRIu64 " finished %" PRIu64 " lcps %" PRIu64
          " outcomes %" PRIu64 " failed %" PRIu64 " solutions %" PRIu64
          " incomplete %" PRIu64 "\n",
          set->n_samples, set->n_finished, set->n_lcps, set->n_outcomes,
          set->n_failed, set->n_solutions, set->n_incomplete);

  fputs("sample,lcps", out);
  char name[24];
  for (int i = 0; i < set->n_rows; i++) {
    impact_row_name(problem, i, name);
    fprintf(out, ",%s", name);
  }
  for (int i = 0; i < set->n_velocities; i++) fprintf(out, ",v%d", i + 1);
  fputc('\n', out);
}

bool impact_csv_write(const char *path, const impact_result *result,
                      const ode_mlcp_impact_set *set,
                      char message[IMPACT_MESSAGE]) {
  result_file file;
  if (!result_begin(&file, message, IMPACT_MESSAGE, "%s", path)) return false;
  FILE *out = file.out;
  write_header(out, result, set);
  for (uint64_t k = 0; k < set->n_outcomes; k++) {
    fprintf(out, "%" PRIu64 ",%" PRIu32, set->sample[k], set->lcps[k]);
    for (int i = 0; i < set->n_rows; i++)
      fprintf(out, ",%.17g",
              set->contact_velocities[k * (uint64_t)set->n_rows + (uint64_t)i]);
    for (int i = 0; i < set->n_velocities; i++)
      fprintf(out, ",%.17g",
              set->v[k * (uint64_t)set->n_velocities + (uint64_t)i]);
    fputc('\n', out);
  }
  return result_end(&file, true, message, IMPACT_MESSAGE);
}
