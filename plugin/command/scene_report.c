/* A run and a sweep in words, as JSON and CSV. */
#include <math.h>
#include <string.h>

#include "command/json.h"
#include "command/result_file.h"
#include "command/scene.h"

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

static void put_errors(json *out, const char *key, const scene *scene,
                       const double errors[]) {
  json_open(out, key, '{');
  for (int k = 0; k < error_count(scene); k++)
    json_put(out, scene->error_kinds[k].name, errors[k]);
  json_close(out);
}

static void put_names(json *out, const scene_result *result) {
  char name[24];
  json_open(out, "coordinates", '[');
  for (int i = 0; i < result->n_positions; i++) {
    coordinate_name(result, i, name);
    json_put_string(out, NULL, name);
  }
  json_close(out);
}

static void put_events(json *out, const scene_result *result) {
  json_open(out, "events", '[');
  for (int i = 0; i < result->n_events; i++) {
    json_open(out, NULL, '{');
    json_put(out, "time", result->events[i].time);
    json_put_string(out, "kind", result->events[i].kind);
    json_put_count(out, "place", result->events[i].place);
    json_close(out);
  }
  json_close(out);
}

void scene_print(FILE *file, const scene_result *result, bool words) {
  const scene_settings *s = &result->settings;
  long end = result->n_steps;
  json out = {.out = file, .words = words};
  json_open(&out, NULL, '{');
  json_put_string(&out, "scene", result->scene->name);
  json_put_string(&out, "scheme", s->scheme);
  json_put(&out, "h", s->h);
  json_put(&out, "time", result->times[end]);
  json_put_count(&out, "steps", result->n_steps);
  put_names(&out, result);
  json_put_numbers(&out, "final_position",
                   result->positions + end * result->n_positions,
                   result->n_positions);
  json_put_numbers(&out, "final_velocity",
                   result->velocities + end * result->n_velocities,
                   result->n_velocities);
  put_events(&out, result);
  json_put(&out, "energy_start", result->energy_start);
  json_put(&out, "energy_end", result->energy_end);
  json_put(&out, "infeasibility_max", result->infeasibility_max);
  json_put(&out, "infeasibility_late", result->infeasibility_late);
  json_put(&out, "residual_worst", result->residual_worst);
  json_put_count(&out, "unsolved", result->unsolved);
  if (!isnan(result->errors[0])) json_put(&out, "error", result->errors[0]);
  if (error_count(result->scene) > 0)
    put_errors(&out, "errors", result->scene, result->errors);
  if (result->note[0] != '\0') json_put_string(&out, "note", result->note);
  json_close(&out);
}

/* ---- CSV ---- */

bool scene_write_csv(const char *path, const scene_result *result,
                     char message[SCENE_MESSAGE]) {
  result_file file;
  if (!result_begin(&file, message, SCENE_MESSAGE, "%s", path)) return false;
  FILE *out = file.out;
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
  return result_end(&file, true, message, SCENE_MESSAGE);
}

/* ---- a sweep ---- */

/* A row a step size: for a terminal in columns, else as CSV. */
static void put_table(FILE *out, const scene_sweep *sweep, bool words) {
  static const char *const columns[] = {"", "_ratio", "_paper"};
  int n = error_count(sweep->scene);
  int width = words ? 18 : 0, digits = words ? 6 : 17;
  const char *comma = words ? "" : ",";
  char title[64];
  fprintf(out, "%*s", -width, "h");
  for (int k = 0; k < 3 * n; k++) {
    snprintf(title, sizeof title, "%s%s", sweep->scene->error_kinds[k / 3].name,
             columns[k % 3]);
    fprintf(out, "%s%*s", comma, width, title);
  }
  fputc('\n', out);
  for (int i = 0; i < sweep->n_rows; i++) {
    const scene_sweep_row *row = &sweep->rows[i];
    const double *values[] = {row->errors, row->ratios, row->references};
    fprintf(out, "%*.*g", -width, digits, row->h);
    for (int k = 0; k < 3 * n; k++)
      fprintf(out, "%s%*.*g", comma, width, digits, values[k % 3][k / 3]);
    fputc('\n', out);
  }
}

void scene_print_sweep(FILE *file, const scene_sweep *sweep, bool words) {
  const scene *scene = sweep->scene;
  if (words) {
    put_table(file, sweep, true);
    return;
  }
  json out = {.out = file};
  json_open(&out, NULL, '{');
  json_put_string(&out, "scene", scene->name);
  json_put_string(&out, "scheme", sweep->settings.scheme);
  json_put(&out, "time", sweep->settings.time);
  json_open(&out, "rows", '[');
  for (int i = 0; i < sweep->n_rows; i++) {
    const scene_sweep_row *row = &sweep->rows[i];
    json_open(&out, NULL, '{');
    json_put(&out, "h", row->h);
    put_errors(&out, "errors", scene, row->errors);
    put_errors(&out, "ratios", scene, row->ratios);
    put_errors(&out, "references", scene, row->references);
    json_put(&out, "energy_end", row->energy_end);
    json_put(&out, "residual_worst", row->residual_worst);
    json_put_count(&out, "unsolved", row->unsolved);
    json_close(&out);
  }
  json_close(&out);
  json_close(&out);
}

bool scene_write_sweep_csv(const char *path, const scene_sweep *sweep,
                           char message[SCENE_MESSAGE]) {
  result_file file;
  if (!result_begin(&file, message, SCENE_MESSAGE, "%s", path)) return false;
  put_table(file.out, sweep, false);
  return result_end(&file, true, message, SCENE_MESSAGE);
}
