/* A run and a sweep as text, JSON and CSV. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "command/json.h"
#include "command/scene.h"
#include "preload/output_file.h"

/* ---- what the formats share ---- */

/* "x" of the only body, "x2" of the second of several. */
static void coordinate_name(const scene_result *result, int i, char name[24]) {
  int per_body = result->coordinates_of_body;
  if (result->n_bodies == 1)
    snprintf(name, 24, "%s", result->coordinate_names[i]);
  else
    snprintf(name, 24, "%s%d", result->coordinate_names[i % per_body],
             i / per_body + 1);
}

static int error_count(const scene *scene) {
  int n = 0;
  while (n < SCENE_ERRORS && scene->error_kinds[n].name != NULL) n++;
  return n;
}

/* ---- text ---- */

enum { COORDINATES_SHOWN = 12, EVENTS_SHOWN = 24 };

static void print_vector(FILE *out, const char *title,
                         const scene_result *result, const double values[]) {
  char name[24];
  fprintf(out, "%s", title);
  int n = result->n_positions;
  for (int i = 0; i < n && i < COORDINATES_SHOWN; i++) {
    coordinate_name(result, i, name);
    fprintf(out, " %s %.8g", name, values[i]);
  }
  fputs(n > COORDINATES_SHOWN ? " ...\n" : "\n", out);
}

void scene_print_text(FILE *out, const scene_result *result) {
  const scene_settings *s = &result->settings;
  fprintf(out, "%s (%s)\n", result->scene->name, result->scene->source);
  fprintf(out, "scheme %s, h %g s, %ld steps to %g s, at most %ld contacts\n",
          s->scheme, s->h, result->n_steps, result->times[result->n_steps],
          result->contacts_most);
  print_vector(out, "final position", result,
               result->positions + result->n_steps * result->n_positions);
  print_vector(out, "final velocity", result,
               result->velocities + result->n_steps * result->n_velocities);
  fprintf(out, "energy %.9g J at the start, %.9g J at the end\n",
          result->energy_start, result->energy_end);
  fprintf(out, "infeasibility %.4g %s at most, %.4g in the last tenth\n",
          result->infeasibility_max, result->scene->infeasibility_unit,
          result->infeasibility_late);
  fprintf(out, "residual %.3g at worst, %ld unsolved\n", result->residual_worst,
          result->unsolved);
  for (int k = 0; k < error_count(result->scene); k++)
    if (!isnan(result->errors[k]))
      fprintf(out, "error: %s %.6g %s\n", result->scene->error_kinds[k].name,
              result->errors[k], result->scene->error_kinds[k].unit);
  for (int i = 0; i < result->n_events && i < EVENTS_SHOWN; i++)
    fprintf(out, "%s%.6g %s", i == 0 ? "events: " : ", ",
            result->events[i].time, result->events[i].kind);
  if (result->n_events > EVENTS_SHOWN)
    fprintf(out, " and %d more", result->n_events - EVENTS_SHOWN);
  if (result->n_events > 0) fputc('\n', out);
  if (result->note[0] != '\0') fprintf(out, "%s\n", result->note);
}

void scene_print_sweep_text(FILE *out, const scene_sweep *sweep) {
  const scene *scene = sweep->scene;
  int n = error_count(scene);
  fprintf(out, "%s (%s), scheme %s, to %g s\n", scene->name, scene->source,
          sweep->settings.scheme, sweep->settings.time);
  fprintf(out, "%-12s", "h");
  for (int k = 0; k < n; k++)
    fprintf(out, " %18.18s %7s %11s", scene->error_kinds[k].name, "ratio",
            "paper");
  fputc('\n', out);
  for (int i = 0; i < sweep->n_rows; i++) {
    const scene_sweep_row *row = &sweep->rows[i];
    fprintf(out, "%-12.8g", row->h);
    for (int k = 0; k < n; k++) {
      fprintf(out, " %18.6e", row->errors[k]);
      if (isnan(row->ratios[k]))
        fprintf(out, " %7s", "-");
      else
        fprintf(out, " %7.3f", row->ratios[k]);
      if (isnan(row->references[k]))
        fprintf(out, " %11s", "-");
      else
        fprintf(out, " %11.4e", row->references[k]);
    }
    fputc('\n', out);
  }
}

/* ---- JSON ---- */

static void json_member(FILE *out, const char *name, double value) {
  fprintf(out, ",\n  \"%s\": ", name);
  json_number(out, value);
}

static void json_array(FILE *out, const char *name, const double values[],
                       int n) {
  fprintf(out, ",\n  \"%s\": [", name);
  for (int i = 0; i < n; i++) {
    if (i > 0) fputs(", ", out);
    json_number(out, values[i]);
  }
  fputc(']', out);
}

static void json_errors(FILE *out, const scene *scene, const double errors[]) {
  fputc('{', out);
  for (int k = 0; k < error_count(scene); k++) {
    fprintf(out, "%s\"%s\": ", k > 0 ? ", " : "", scene->error_kinds[k].name);
    json_number(out, errors[k]);
  }
  fputc('}', out);
}

static void json_names(FILE *out, const scene_result *result) {
  char name[24];
  fputs(",\n  \"coordinates\": [", out);
  for (int i = 0; i < result->n_positions; i++) {
    coordinate_name(result, i, name);
    fprintf(out, "%s\"%s\"", i > 0 ? ", " : "", name);
  }
  fputc(']', out);
}

void scene_print_json(FILE *out, const scene_result *result) {
  const scene_settings *s = &result->settings;
  long end = result->n_steps;
  fprintf(out, "{\n  \"scene\": \"%s\",\n  \"scheme\": \"%s\"",
          result->scene->name, s->scheme);
  json_member(out, "h", s->h);
  json_member(out, "time", result->times[end]);
  fprintf(out, ",\n  \"steps\": %ld", result->n_steps);
  json_names(out, result);
  json_array(out, "final_position",
             result->positions + end * result->n_positions,
             result->n_positions);
  json_array(out, "final_velocity",
             result->velocities + end * result->n_velocities,
             result->n_velocities);
  fputs(",\n  \"events\": [", out);
  for (int i = 0; i < result->n_events; i++)
    fprintf(out, "%s\n    {\"time\": %.17g, \"kind\": \"%s\", \"place\": %d}",
            i > 0 ? "," : "", result->events[i].time, result->events[i].kind,
            result->events[i].place);
  fputc(']', out);
  json_member(out, "energy_start", result->energy_start);
  json_member(out, "energy_end", result->energy_end);
  json_member(out, "infeasibility_max", result->infeasibility_max);
  json_member(out, "infeasibility_late", result->infeasibility_late);
  json_member(out, "residual_worst", result->residual_worst);
  fprintf(out, ",\n  \"unsolved\": %ld", result->unsolved);
  if (!isnan(result->errors[0])) json_member(out, "error", result->errors[0]);
  if (error_count(result->scene) > 0) {
    fputs(",\n  \"errors\": ", out);
    json_errors(out, result->scene, result->errors);
  }
  if (result->note[0] != '\0') {
    fputs(",\n  \"note\": ", out);
    json_string(out, result->note);
  }
  fputs("\n}\n", out);
}

void scene_print_sweep_json(FILE *out, const scene_sweep *sweep) {
  const scene *scene = sweep->scene;
  fprintf(out, "{\n  \"scene\": \"%s\",\n  \"scheme\": \"%s\"", scene->name,
          sweep->settings.scheme);
  json_member(out, "time", sweep->settings.time);
  fputs(",\n  \"rows\": [", out);
  for (int i = 0; i < sweep->n_rows; i++) {
    const scene_sweep_row *row = &sweep->rows[i];
    fprintf(out, "%s\n    {\"h\": %.17g, \"errors\": ", i > 0 ? "," : "",
            row->h);
    json_errors(out, scene, row->errors);
    fputs(", \"ratios\": ", out);
    json_errors(out, scene, row->ratios);
    fputs(", \"references\": ", out);
    json_errors(out, scene, row->references);
    fputs(", \"energy_end\": ", out);
    json_number(out, row->energy_end);
    fputs(", \"residual_worst\": ", out);
    json_number(out, row->residual_worst);
    fprintf(out, ", \"unsolved\": %ld}", row->unsolved);
  }
  fputs("]\n}\n", out);
}

/* ---- CSV ---- */

static bool close_csv(FILE *out, const char *path,
                      char message[SCENE_MESSAGE]) {
  bool written = !ferror(out);
  if (fclose(out) == 0 && written) return true;
  snprintf(message, SCENE_MESSAGE, "cannot write '%.200s': %s", path,
           strerror(errno));
  (void)output_file_remove(path); /* no half file */
  return false;
}

static FILE *open_csv(const char *path, char message[SCENE_MESSAGE]) {
  FILE *out = fopen(path, "w");
  if (out == NULL)
    snprintf(message, SCENE_MESSAGE, "cannot write '%.200s': %s", path,
             strerror(errno));
  return out;
}

bool scene_write_csv(const char *path, const scene_result *result,
                     char message[SCENE_MESSAGE]) {
  FILE *out = open_csv(path, message);
  if (out == NULL) return false;
  char name[24];
  fputs("time,energy,infeasibility", out);
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < result->n_positions; i++) {
      coordinate_name(result, i, name);
      fprintf(out, ",%s%s", k == 0 ? "" : "v_", name);
    }
  if (result->scene->extra_name != NULL)
    fprintf(out, ",%s", result->scene->extra_name);
  fputc('\n', out);
  for (long row = 0; row <= result->n_steps; row++) {
    fprintf(out, "%.17g,%.17g,%.17g", result->times[row], result->energies[row],
            result->infeasibilities[row]);
    for (int i = 0; i < result->n_positions; i++)
      fprintf(out, ",%.17g", result->positions[row * result->n_positions + i]);
    for (int i = 0; i < result->n_velocities; i++)
      fprintf(out, ",%.17g",
              result->velocities[row * result->n_velocities + i]);
    if (result->scene->extra_name != NULL)
      fprintf(out, ",%.17g", result->extras[row]);
    fputc('\n', out);
  }
  return close_csv(out, path, message);
}

bool scene_write_sweep_csv(const char *path, const scene_sweep *sweep,
                           char message[SCENE_MESSAGE]) {
  FILE *out = open_csv(path, message);
  if (out == NULL) return false;
  int n = error_count(sweep->scene);
  fputs("h", out);
  for (int k = 0; k < n; k++) {
    const char *name = sweep->scene->error_kinds[k].name;
    fprintf(out, ",%s,%s_ratio,%s_paper", name, name, name);
  }
  fputc('\n', out);
  for (int i = 0; i < sweep->n_rows; i++) {
    const scene_sweep_row *row = &sweep->rows[i];
    fprintf(out, "%.17g", row->h);
    for (int k = 0; k < n; k++)
      fprintf(out, ",%.17g,%.17g,%.17g", row->errors[k], row->ratios[k],
              row->references[k]);
    fputc('\n', out);
  }
  return close_csv(out, path, message);
}
