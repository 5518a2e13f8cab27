/* Pictures of a set by gnuplot, in the style of Halm & Posa's figs. 9-14. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/gnuplot.h"
#include "command/impact.h"

/* Points drawn of a set at most; more would only cover one another. */
#define MOST_POINTS 40000

/* A plane of contact velocities: one panel. */
typedef struct plane {
  int x, y;
} plane;

/* The panels: for two contacts the plane of both normals between the planes of
 * A and B; else normals of neighbours, then each contact's own plane. */
static int choose_planes(const impact_result *result, plane planes[12]) {
  int n = result->input->problem.n_contacts;
  int per_contact = 1 + result->input->problem.n_tangents, count = 0;
  if (n == 2) {
    planes[count++] = (plane){1, 0};
    planes[count++] = (plane){0, per_contact};
    planes[count++] = (plane){per_contact + 1, per_contact};
    return count;
  }
  for (int i = 0; i + 1 < n && count < 3; i += 2)
    planes[count++] = (plane){i * per_contact, (i + 1) * per_contact};
  for (int i = 0; i < n && count < 9; i++)
    planes[count++] = (plane){i * per_contact + 1, i * per_contact};
  return count;
}

static void put_set(FILE *out, const char *name,
                    const ode_mlcp_impact_set *set) {
  uint64_t stride = set->n_outcomes / MOST_POINTS + 1;
  fprintf(out, "$%s << EOD\n", name);
  for (uint64_t k = 0; k < set->n_outcomes; k += stride) {
    for (int i = 0; i < set->n_rows; i++)
      fprintf(out, "%.7g ",
              set->contact_velocities[k * (uint64_t)set->n_rows + (uint64_t)i]);
    fputc('\n', out);
  }
  if (set->n_outcomes == 0)
    for (int i = 0; i < set->n_rows; i++) fputs("NaN ", out);
  fputs("\nEOD\n", out);
}

static void put_row(FILE *out, const double rows[], int n) {
  for (int i = 0; i < n; i++) fprintf(out, "%.7g ", rows[i]);
  fputc('\n', out);
}

static void put_data(FILE *out, const impact_result *result,
                     const ode_mlcp_impact_set *ways) {
  int n = impact_row_count(result);
  put_set(out, "ways", ways);
  put_set(out, "outcomes", &result->set);
  double *start = malloc((size_t)n * sizeof *start);
  fputs("$simultaneous << EOD\n", out);
  if (start != NULL)
    ode_mlcp_impact_contact_velocities(result->impact, result->input->problem.v,
                                       start);
  for (int k = 0; k < result->n_simultaneous && start != NULL; k++) {
    put_row(out, start, n);
    put_row(out, &result->simultaneous[k * n], n);
    fputc('\n', out);
  }
  fputs("EOD\n", out);
  free(start);
  for (int k = 0; k < result->n_sequences; k++) {
    fprintf(out, "$sequence%d << EOD\n", k);
    for (int i = 0; i <= result->sequences[k].n_impacts; i++)
      put_row(out, &result->sequences[k].way[i * n], n);
    fputs("EOD\n", out);
  }
}

static void put_label(FILE *out, const impact_result *result, char axis,
                      int row) {
  char name[24];
  impact_row_name(&result->input->problem, row, name);
  bool normal = name[1] == 'n';
  fprintf(out, "set %clabel '%s: %s velocity of %s (m/s)' noenhanced\n", axis,
          name, normal ? "normal" : "tangential",
          name + (normal || result->input->problem.n_tangents == 1 ? 2 : 3));
}

static void put_panel(FILE *out, const impact_result *result, plane plane,
                      bool with_key) {
  static const char *const colours[IMPACT_SEQUENCES] = {"#cc2222", "#e0a800"};
  put_label(out, result, 'x', plane.x);
  put_label(out, result, 'y', plane.y);
  fputs(with_key ? "set key bottom left opaque noenhanced\n" : "unset key\n",
        out);
  fprintf(out,
          "plot $ways using %d:%d with points pt 7 ps 0.25 lc rgb '#d0d0d0' "
          "title 'on the way', \\\n"
          " $outcomes using %d:%d with points pt 7 ps 0.35 lc rgb '#404040' "
          "title 'set of outcomes', \\\n"
          " $simultaneous using %d:%d with linespoints pt 7 ps 0.9 lw 2 "
          "lc rgb '#2050c0' title 'simultaneous'",
          plane.x + 1, plane.y + 1, plane.x + 1, plane.y + 1, plane.x + 1,
          plane.y + 1);
  for (int k = 0; k < result->n_sequences; k++)
    fprintf(out,
            ", \\\n $sequence%d using %d:%d with linespoints pt 5 ps 0.8 "
            "lw 2 lc rgb '%s' title 'sequence %s'",
            k, plane.x + 1, plane.y + 1, colours[k],
            result->sequences[k].order);
  fputc('\n', out);
}

bool impact_plot(const char *path, const impact_result *result,
                 const ode_mlcp_impact_set *ways,
                 char message[IMPACT_MESSAGE]) {
  plane planes[12];
  int n_planes = choose_planes(result, planes);
  int n_columns = n_planes < 3 ? n_planes : 3;
  int n_lines = (n_planes + n_columns - 1) / n_columns;
  gnuplot plot;
  if (!gnuplot_start(&plot, path, 520 * n_columns, 480 * n_lines, message,
                     IMPACT_MESSAGE))
    return false;
  put_data(plot.out, result, ways);
  fprintf(plot.out, "set multiplot layout %d,%d title ", n_lines, n_columns);
  char title[400];
  snprintf(title, sizeof title, "%s: velocities after the impact, %llu samples",
           result->input->name, (unsigned long long)result->set.n_samples);
  gnuplot_put_string(plot.out, title);
  fputs(
      " noenhanced\nset grid lc rgb '#eeeeee'\nset zeroaxis\n"
      "set offsets graph 0.05, graph 0.05, graph 0.05, graph 0.05\n",
      plot.out);
  for (int i = 0; i < n_planes; i++)
    put_panel(plot.out, result, planes[i], i == 0);
  return gnuplot_end(&plot, message, IMPACT_MESSAGE);
}
