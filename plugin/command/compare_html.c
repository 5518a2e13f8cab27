/* report.html: a page with all it needs in it. The page's own parts are made of
 * report/ and linked in; this file adds the data: a JSON text, and in base64 the
 * arrays of floats that it points into. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/compare.h"
#include "command/json.h"
#include "command/result_file.h"
#include "judge/tables.h"

/* The page before and after the data. */
__asm__(
    ".section .rodata\n"
    ".global report_before, report_before_end\n"
    ".global report_after, report_after_end\n"
    "report_before: .incbin \"report/before.html\"\n"
    "report_before_end: .byte 0\n"
    "report_after: .incbin \"report/after.html\"\n"
    "report_after_end: .byte 0\n"
    ".previous\n");
extern const char report_before[], report_before_end[];
extern const char report_after[], report_after_end[];

static const double PAGE = 4.8e6; /* B: the whole page stays below 5 MB */
enum { MOST_POINTS = 700, FRAMES_A_SECOND = 30, MOST_FRAMES = 3600 };

/* ---- arrays ---- */

typedef struct buffer {
  unsigned char *bytes;
  size_t used, size;
  bool failed;
} buffer;

static void append(buffer *b, const void *bytes, size_t count) {
  if (b->used + count > b->size) {
    size_t size = 2 * b->size + count + 4096;
    unsigned char *more = realloc(b->bytes, size);
    if (more == NULL) b->failed = true;
    if (more == NULL) return;
    b->bytes = more;
    b->size = size;
  }
  if (count > 0) memcpy(b->bytes + b->used, bytes, count);
  b->used += count;
}

static void write_base64(FILE *out, const buffer *b) {
  static const char letters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < b->used; i += 3) {
    uint32_t three = (uint32_t)b->bytes[i] << 16;
    if (i + 1 < b->used) three |= (uint32_t)b->bytes[i + 1] << 8;
    if (i + 2 < b->used) three |= b->bytes[i + 2];
    fputc(letters[three >> 18], out);
    fputc(letters[three >> 12 & 63], out);
    fputc(i + 1 < b->used ? letters[three >> 6 & 63] : '=', out);
    fputc(i + 2 < b->used ? letters[three & 63] : '=', out);
  }
}

/* ---- what is shown ---- */

typedef struct view {
  const comparison *comparison;
  const recording *runs[COMPARE_RUNS + 1];
  char labels[COMPARE_RUNS + 1][COMPARE_NAME + 40];
  int n_runs;
  double end, interval; /* s: of the replay, and from frame to frame */
  size_t n_frames, contacts_every; /* contacts: of one frame in so many */
  double
      room; /* B: for arrays; a half is the poses', a quarter the contacts' */
} view;

static const recording_frame *frame_of(const view *v, const recording *r,
                                       size_t k) {
  return recording_frame_at(r, (double)k * v->interval);
}

static void choose_runs(view *v) {
  const comparison *c = v->comparison;
  for (int i = 0; i < c->n_runs; i++) {
    const recording *r = c->runs[i].levels[0];
    if (r == NULL || r->n_frames == 0) continue;
    v->runs[v->n_runs] = r;
    snprintf(v->labels[v->n_runs++], sizeof v->labels[0], "%s",
             c->runs[i].name);
    v->end = fmax(v->end, r->frames[r->n_frames - 1]->time);
  }
  if (c->reference < 0) return;
  const recording *r = c->runs[c->reference].levels[2];
  if (r == NULL || r->n_frames == 0) return;
  v->runs[v->n_runs] = r;
  snprintf(v->labels[v->n_runs++], sizeof v->labels[0], "reference: %s, h/%d",
           c->runs[c->reference].name, c->refine * c->refine);
}

static uint32_t last_body(const recording *r) {
  uint32_t most = 0;
  for (size_t k = 0; k < r->n_frames; k++)
    for (uint32_t i = 0; i < r->frames[k]->n_bodies; i++)
      if (frame_poses(r->frames[k])[i].body > most)
        most = frame_poses(r->frames[k])[i].body;
  return most;
}

/* As many frames as there are, and as there is room for. */
static void choose_frames(view *v) {
  double least = INFINITY; /* s: between frames that are there */
  double a_frame = 0, contacts = 0;
  for (int i = 0; i < v->n_runs; i++) {
    if (v->runs[i]->n_frames > 1)
      least = fmin(least, v->end / (double)(v->runs[i]->n_frames - 1));
    a_frame += (double)(7 * sizeof(float) * last_body(v->runs[i]));
  }
  double most = fmin(MOST_FRAMES, fmax(2, v->room / 2 / fmax(a_frame, 1)));
  v->interval = fmax(1.0 / FRAMES_A_SECOND, v->end / most);
  if (isfinite(least)) v->interval = fmax(v->interval, least);
  v->n_frames = (size_t)floor(v->end / v->interval + 1e-9) + 1;
  if (v->n_frames < 2) v->n_frames = 2;
  for (int i = 0; i < v->n_runs; i++)
    for (size_t k = 0; k < v->n_frames; k++)
      contacts += frame_of(v, v->runs[i], k)->n_contacts;
  v->contacts_every =
      (size_t)(6 * sizeof(float) * contacts / (v->room / 4)) + 1;
}

/* ---- JSON ---- */

static void number(FILE *out, double value) {
  if (isfinite(value))
    fprintf(out, "%.5g", value);
  else
    fputs("null", out);
}

static void numbers(FILE *out, const float values[], int count) {
  for (int i = 0; i < count; i++) {
    fputc(i == 0 ? '[' : ',', out);
    number(out, values[i]);
  }
  fputc(']', out);
}

/* ---- poses and contacts ---- */

/* All bodies of the run's frames, as [number, first frame, last frame], and of each
 * its three coordinates and four of its turn, [7][n_frames]. */
static void add_poses(const view *v, const recording *r, FILE *out,
                      buffer *data) {
  size_t n = v->n_frames;
  uint32_t most = last_body(r);
  const char *before = "";
  fprintf(out, ",\"poses\":%zu,\"bodies\":[", data->used);
  float *values = malloc(7 * n * sizeof *values);
  data->failed |= values == NULL;
  for (uint32_t body = 1; body <= most && !data->failed; body++) {
    size_t first = n, last = 0;
    float was[4] = {1, 0, 0, 0};
    memset(values, 0, 7 * n * sizeof *values);
    for (size_t k = 0; k < n; k++) {
      const recording_pose *pose = frame_pose(frame_of(v, r, k), body);
      if (pose == NULL) continue;
      if (first == n) first = k;
      last = k;
      float along = 0; // both signs are the same turn
      for (int i = 0; i < 4; i++) along += was[i] * pose->quaternion[i];
      for (int i = 0; i < 4; i++)
        was[i] = along < 0 ? -pose->quaternion[i] : pose->quaternion[i];
      for (size_t i = 0; i < 7; i++) {
        double value = i < 3 ? pose->position[i] : was[i - 3];
        values[i * n + k] = fabs(value) < 1e30 ? (float)value : 0;
      }
    }
    if (first == n) continue;
    fprintf(out, "%s[%u,%zu,%zu]", before, body, first, last);
    append(data, values, 7 * n * sizeof *values);
    before = ",";
  }
  free(values);
  fputc(']', out);
}

/* Place and force of each contact. */
static void add_contacts(const view *v, const recording *r, FILE *out,
                         buffer *data) {
  fprintf(out, ",\"contacts\":%zu,\"counts\":[", data->used);
  for (size_t k = 0; k < v->n_frames; k += v->contacts_every) {
    const recording_frame *frame = frame_of(v, r, k);
    fprintf(out, "%s%u", k > 0 ? "," : "", frame->n_contacts);
    for (uint32_t i = 0; i < frame->n_contacts; i++) {
      const recording_contact *contact = &frame_contacts(frame)[i];
      append(data, contact->position, sizeof contact->position);
      append(data, contact->force, sizeof contact->force);
    }
  }
  fputc(']', out);
}

/* ---- shapes ---- */

typedef struct known_meshes {
  const recording_shape *of[256];
  int count;
  double room; /* B */
} known_meshes;

static bool same_mesh(const recording_shape *a, const recording_shape *b) {
  return a->n_vertices == b->n_vertices && a->n_triangles == b->n_triangles &&
         memcmp(a + 1, b + 1, 12 * ((size_t)a->n_vertices + a->n_triangles)) ==
             0;
}

/* The number of a mesh; -1 where there are too many. */
static int find_mesh(known_meshes *known, const recording_shape *shape) {
  for (int i = 0; i < known->count; i++)
    if (same_mesh(known->of[i], shape)) return i;
  known->room -= 12 * ((double)shape->n_vertices + shape->n_triangles);
  if (known->count == 256 || known->room < 0) return -1;
  known->of[known->count] = shape;
  return known->count++;
}

static double time_of(const recording *r, uint32_t step) {
  for (size_t i = 0; i < r->n_frames; i++)
    if (r->frames[i]->number >= step) return r->frames[i]->time;
  return 0;
}

/* The way of a shape without a body: [time, position, quaternion] each. */
static void add_moves(const recording *r, const recording_shape *shape,
                      FILE *out) {
  int n = 0;
  fputs(",\"moves\":[", out);
  for (size_t i = 0; i < r->n_shapes && n < 500; i++) {
    const recording_shape *moved = r->shapes[i];
    if (moved->body != 0 || moved->number != shape->number || moved->last == 0)
      continue;
    fprintf(out, "%s[", n++ > 0 ? "," : "");
    number(out, time_of(r, moved->last));
    fputc(',', out);
    numbers(out, moved->position, 3);
    fputc(',', out);
    numbers(out, moved->quaternion, 4);
    fputc(']', out);
  }
  fputc(']', out);
}

static void add_shapes(const recording *r, FILE *out, known_meshes *meshes) {
  bool first = true;
  fputs(",\"shapes\":[", out);
  for (size_t i = 0; i < r->n_shapes; i++) {
    const recording_shape *shape = r->shapes[i];
    if ((shape->body != 0 && shape->world != r->world) ||
        !recording_shape_holds(r, i, INT64_MAX))
      continue;
    int mesh = -1;
    if (shape->kind == RECORDING_MESH && (mesh = find_mesh(meshes, shape)) < 0)
      continue;
    fprintf(out, "%s{\"body\":%u,\"kind\":%u,\"mesh\":%d,\"sizes\":",
            first ? "" : ",", shape->body, shape->kind, mesh);
    first = false;
    numbers(out, shape->sizes, 4);
    fputs(",\"position\":", out);
    numbers(out, shape->position, 3);
    fputs(",\"quaternion\":", out);
    numbers(out, shape->quaternion, 4);
    if (shape->body == 0) add_moves(r, shape, out);
    fputc('}', out);
  }
  fputc(']', out);
}

static void add_meshes(const known_meshes *meshes, FILE *out, buffer *data) {
  fputs(",\"meshes\":[", out);
  for (int i = 0; i < meshes->count; i++) {
    const recording_shape *shape = meshes->of[i];
    fprintf(out, "%s[%zu,%u,%u]", i > 0 ? "," : "", data->used,
            shape->n_vertices, shape->n_triangles);
    append(data, shape + 1,
           12 * ((size_t)shape->n_vertices + shape->n_triangles));
  }
  fputc(']', out);
}

/* ---- curves ---- */

static void add_curves(const recording *r, FILE *out) {
  static double times[MOST_POINTS], values[MOST_POINTS];
  const char *before = ",\"curves\":{";
  for (size_t k = 0; k < n_step_columns; k++) {
    const step_column *column = &step_columns[k];
    bool is_time = strcmp(column->name, "time") == 0;
    if (column->title == NULL && !is_time) continue;
    size_t n = step_points(r, column, MOST_POINTS, times, values);
    fprintf(out, "%s\"%s\":[", before, column->name);
    before = ",";
    for (size_t i = 0; i < n; i++) {
      if (i > 0) fputc(',', out);
      number(out, is_time ? times[i] : values[i]);
    }
    fputc(']', out);
  }
  fputs("}", out);
}

/* The words of the page's table and the curves that it draws. */
static void add_tables(FILE *out) {
  fputs(",\"figures\":[", out);
  for (size_t k = 0; k < n_figures; k++) {
    const figure *f = &figures[k];
    fprintf(out, "%s[\"%s\",\"%s\",\"%s\",%d,%d]", k > 0 ? "," : "", f->key,
            f->words, f->unit, f->less, f->rare);
  }
  const char *before = "],\"columns\":[";
  for (size_t k = 0; k < n_step_columns; k++) {
    const step_column *column = &step_columns[k];
    if (column->title == NULL) continue;
    fprintf(out, "%s[\"%s\",\"%s\",\"%s\",%d]", before, column->name,
            column->title, column->axis, column->logarithmic);
    before = ",";
  }
  fputc(']', out);
}

/* Times worth a look: when a run first missed the law of contact by a hundredth
 * of the scene's speed, and its first message; null: never. */
static void add_marks(const comparison *c, const recording *r, FILE *out) {
  double off = INFINITY, message = INFINITY;
  for (size_t i = r->n_shown_steps; i-- > 0;) {
    const recording_step *step = r->shown_steps[i];
    if (step->contact_error > 0.01 * c->speed) off = step->time;
    if (step->messages > 0) message = step->time;
  }
  fputs(",\"off_law\":", out);
  number(out, off);
  fputs(",\"message\":", out);
  number(out, message);
}

/* ---- the whole ---- */

/* report.json, in which a '<' stands within strings alone and ends no script. */
static bool add_file(FILE *out, const char *folder, const char *name) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "r");
  for (int letter; file != NULL && (letter = fgetc(file)) != EOF;)
    if (letter == '<')
      fputs("\\u003c", out);
    else
      fputc(letter, out);
  bool good = file != NULL || errno != ENOMEM;
  if (file == NULL) fputs("null", out);
  if (file != NULL) fclose(file);
  return good;
}

/* The text, and arrays that it points into. */
static bool add_data(const view *v, const char *folder, FILE *out,
                     buffer *data) {
  known_meshes meshes = {.room = v->room / 4};
  fputs("{\"report\":", out);
  bool good = add_file(out, folder, "report.json");
  add_tables(out);
  fprintf(out,
          ",\"frames\":%zu,\"interval\":%.9g,\"contacts_every\":%zu,"
          "\"size\":%.6g,\"runs\":[",
          v->n_frames, v->interval, v->contacts_every, v->comparison->size);
  for (int i = 0; i < v->n_runs; i++) {
    fputs(i > 0 ? ",{\"label\":" : "{\"label\":", out);
    json_string(out, v->labels[i]);
    fprintf(out, ",\"reference\":%s,\"end\":%.9g",
            strncmp(v->labels[i], "reference:", 10) == 0 ? "true" : "false",
            v->runs[i]->frames[v->runs[i]->n_frames - 1]->time);
    add_poses(v, v->runs[i], out, data);
    add_contacts(v, v->runs[i], out, data);
    add_shapes(v->runs[i], out, &meshes);
    add_curves(v->runs[i], out);
    add_marks(v->comparison, v->runs[i], out);
    fputc('}', out);
  }
  fputc(']', out);
  add_meshes(&meshes, out, data);
  fputc('}', out);
  return good && !data->failed;
}

bool compare_write_html(const comparison *c, const char *folder, char *message,
                        size_t message_size) {
  const double CURVES = 1e5; /* B: of a run */
  size_t before = (size_t)(report_before_end - report_before);
  size_t after = (size_t)(report_after_end - report_after);
  view v = {.comparison = c};
  buffer data = {.used = 0};
  result_file file;
  if (!result_begin(&file, message, message_size, "%s/report.html", folder))
    return false;
  choose_runs(&v);
  v.room = 0.75 * (PAGE - (double)(before + after) - CURVES * v.n_runs);
  choose_frames(&v);
  fwrite(report_before, 1, before, file.out);
  bool good = add_data(&v, folder, file.out, &data);
  fputs("</script>\n<script type=\"application/octet-stream\" id=\"arrays\">",
        file.out);
  write_base64(file.out, &data);
  fwrite(report_after, 1, after, file.out);
  free(data.bytes);
  return result_end(&file, good, message, message_size);
}
