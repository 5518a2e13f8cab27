/* The machine-readable report. */
#include <math.h>

#include "ode_mlcp.h"
#include "table.h"

/* Where a comma is due before the next member. */
typedef struct json {
  FILE *file;
  bool comma;
} json;

static void json_key(json *json, const char *key) {
  fprintf(json->file, "%s", json->comma ? ", " : "");
  if (key != NULL) fprintf(json->file, "\"%s\": ", key);
  json->comma = true;
}

static void json_open(json *json, const char *key, char bracket) {
  json_key(json, key);
  fprintf(json->file, "%c", bracket);
  json->comma = false;
}

static void json_close(json *json, char bracket) {
  fprintf(json->file, "%c", bracket);
  json->comma = true;
}

static void json_number(json *json, const char *key, double number) {
  json_key(json, key);
  if (isfinite(number))
    fprintf(json->file, "%.17g", number);
  else
    fprintf(json->file, "null");
}

static void json_count(json *json, const char *key, long count) {
  json_key(json, key);
  fprintf(json->file, "%ld", count);
}

static void json_text(json *json, const char *key, const char *text) {
  json_key(json, key);
  fputc('"', json->file);
  for (; *text != '\0'; text++) {
    if (*text == '"' || *text == '\\') fputc('\\', json->file);
    fputc((unsigned char)*text < ' ' ? ' ' : *text, json->file);
  }
  fputc('"', json->file);
}

static void json_flag(json *json, const char *key, bool flag) {
  json_key(json, key);
  fprintf(json->file, flag ? "true" : "false");
}

static void json_record(json *json, int stepper, const step_record *record) {
  json_text(json, "stepper", STEPPER_NAMES[stepper]);
  json_count(json, "steps", record->steps);
  json_count(json, "failed", record->failed);
  json_count(json, "messages", record->messages);
  json_text(json, "message", record->message);
  json_number(json, "seconds", record->seconds);
  if (stepper != STEPPER_MLCP) return;
  json_count(json, "degraded", record->degraded);
  json_count(json, "unsolved", record->unsolved);
  json_number(json, "residual", record->residual);
}

static void json_wall(json *json, const measurements *measured) {
  json_open(json, "wall", '[');
  for (int s = 0; s < N_STEPPERS; s++) {
    const wall_result *wall = &measured->wall[s];
    if (!wall->record.run) continue;
    json_open(json, NULL, '{');
    json_record(json, s, &wall->record);
    json_count(json, "boxes", wall->boxes);
    json_number(json, "duration", wall->duration);
    json_number(json, "fastest", wall->fastest);
    json_number(json, "sag", wall->sag);
    json_number(json, "slid", wall->slid);
    json_number(json, "deepest", wall->deepest);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void json_slide(json *json, const measurements *measured) {
  json_number(json, "slide_exact_distance", slide_exact_distance());
  json_number(json, "slide_euler_distance", slide_euler_distance());
  json_open(json, "slide", '[');
  for (int s = 0; s < N_STEPPERS; s++)
    for (int a = 0; a < N_ANGLES; a++) {
      const slide_result *slide = &measured->slide[s][a];
      if (!slide->record.run) continue;
      json_open(json, NULL, '{');
      json_record(json, s, &slide->record);
      json_number(json, "angle", SLIDE_ANGLES[a]);
      json_number(json, "distance", slide->distance);
      json_number(json, "course", slide->course);
      json_number(json, "heading", slide->heading);
      json_number(json, "speed", slide->speed);
      json_close(json, '}');
    }
  json_close(json, ']');
}

static void json_rod(json *json, const measurements *measured) {
  json_open(json, "rod", '[');
  for (int s = 0; s < N_STEPPERS; s++)
    for (int v = 0; v < N_SPEEDS; v++) {
      const rod_result *rod = &measured->rod[s][v];
      if (!rod->record.run) continue;
      json_open(json, NULL, '{');
      json_record(json, s, &rod->record);
      json_number(json, "speed", ROD_SPEEDS[v]);
      json_number(json, "normal", rod->normal);
      json_number(json, "tangential", rod->tangential);
      json_number(json, "ratio", rod->ratio);
      json_close(json, '}');
    }
  json_close(json, ']');
}

static void json_recording(json *json, pile pile, int stepper,
                           const recording *run) {
  const recorded_step *last = &run->series[run->n_series - 1];
  json_open(json, NULL, '{');
  json_text(json, "stepper", STEPPER_NAMES[stepper]);
  json_text(json, "pile", PILE_NAMES[pile]);
  json_count(json, "status", run->status);
  json_count(json, "steps", run->steps);
  json_count(json, "failed", run->failed);
  json_count(json, "not_finite", run->not_finite);
  json_count(json, "messages", run->messages);
  json_count(json, "bodies", run->bodies);
  json_count(json, "contacts", run->contacts);
  json_number(json, "top", last->top);
  json_number(json, "fastest", last->fastest);
  json_number(json, "deepest", run->depth_end);
  json_number(json, "contact_error", run->error);
  json_number(json, "contact_error_usual", run->usual_error);
  json_number(json, "approach", run->approach);
  json_number(json, "seconds", run->seconds);
  if (stepper == STEPPER_MLCP) {
    json_count(json, "degraded", run->degraded);
    json_count(json, "unsolved", run->unsolved);
    json_number(json, "residual", run->residual);
  }
  json_close(json, '}');
}

void results_write_json(const measurements *measured,
                        const recordings *recorded, const table *table,
                        FILE *file) {
  json json = {file, false};
  json_open(&json, NULL, '{');
  json_text(&json, "version", ode_mlcp_version());
  json_wall(&json, measured);
  json_slide(&json, measured);
  json_rod(&json, measured);
  json_open(&json, "boxstack", '[');
  for (int p = 0; p < N_PILES; p++)
    for (int s = 0; s < N_STEPPERS; s++)
      if (recorded->of[p][s].run)
        json_recording(&json, p, s, &recorded->of[p][s]);
  json_close(&json, ']');
  json_open(&json, "promises", '[');
  for (int i = 0; i < table->n_promises; i++) {
    json_open(&json, NULL, '{');
    json_text(&json, "what", table->promises[i].what);
    json_flag(&json, "kept", table->promises[i].kept);
    json_close(&json, '}');
  }
  json_close(&json, ']');
  json_close(&json, '}');
  fprintf(file, "\n");
}
