/* report.html: a page with all it needs in it. The page's own parts are made of
 * report/ and linked in; this file adds the data: a JSON text, and in base64 the
 * arrays of floats that it points into. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/compare.h"
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
  FILE *stream; /* of memory */
  char *bytes;
  size_t used;
  bool failed;
} buffer;

/* A stream of memory does not keep in mind that there was none. */
static void append(buffer *b, const void *bytes, size_t size) {
  b->failed |= fwrite(bytes, 1, size, b->stream) != size;
}

/* Where in the buffer the next array goes. */
static size_t place_in(buffer *b) {
  fflush(b->stream);
  return b->used;
}

static void write_base64(FILE *out, const buffer *b) {
  static const char letters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < b->used; i += 3) {
    const unsigned char *bytes = (const unsigned char *)b->bytes + i;
    uint32_t three = (uint32_t)bytes[0] << 16;
    if (i + 1 < b->used) three |= (uint32_t)bytes[1] << 8;
    if (i + 2 < b->used) three |= bytes[2];
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

static void put_floats(json *out, const char *key, const float values[],
                       int count) {
  json_open(out, key, '[');
  for (int i = 0; i < count; i++) json_put(out, NULL, values[i]);
  json_close(out);
}

static void put_sizes(json *out, const size_t values[], int count) {
  json_open(out, NULL, '[');
  for (int i = 0; i < count; i++) json_put_size(out, NULL, values[i]);
  json_close(out);
}

/* ---- poses and contacts ---- */

/* All bodies of the run's frames, as [number, first frame, last frame], and of each
 * its three coordinates and four of its turn, [7][n_frames]. */
static void add_poses(const view *v, const recording *r, json *out,
                      buffer *data) {
  size_t n = v->n_frames;
  uint32_t most = last_body(r);
  json_put_size(out, "poses", place_in(data));
  json_open(out, "bodies", '[');
  static float values[7 * (MOST_FRAMES + 2)];
  for (uint32_t body = 1; body <= most; body++) {
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
    put_sizes(out, (const size_t[]){body, first, last}, 3);
    append(data, values, 7 * n * sizeof *values);
  }
  json_close(out);
}

/* Place and force of each contact. */
static void add_contacts(const view *v, const recording *r, json *out,
                         buffer *data) {
  json_put_size(out, "contacts", place_in(data));
  json_open(out, "counts", '[');
  for (size_t k = 0; k < v->n_frames; k += v->contacts_every) {
    const recording_frame *frame = frame_of(v, r, k);
    json_put_size(out, NULL, frame->n_contacts);
    for (uint32_t i = 0; i < frame->n_contacts; i++) {
      const recording_contact *contact = &frame_contacts(frame)[i];
      append(data, contact->position, sizeof contact->position);
      append(data, contact->force, sizeof contact->force);
    }
  }
  json_close(out);
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
                      json *out) {
  int n = 0;
  json_open(out, "moves", '[');
  for (size_t i = 0; i < r->n_shapes && n < 500; i++) {
    const recording_shape *moved = r->shapes[i];
    if (moved->body != 0 || moved->number != shape->number || moved->last == 0)
      continue;
    n++;
    json_open(out, NULL, '[');
    json_put(out, NULL, time_of(r, moved->last));
    put_floats(out, NULL, moved->position, 3);
    put_floats(out, NULL, moved->quaternion, 4);
    json_close(out);
  }
  json_close(out);
}

static void add_shapes(const recording *r, json *out, known_meshes *meshes) {
  json_open(out, "shapes", '[');
  for (size_t i = 0; i < r->n_shapes; i++) {
    const recording_shape *shape = r->shapes[i];
    if ((shape->body != 0 && shape->world != r->world) ||
        !recording_shape_holds(r, i, INT64_MAX))
      continue;
    int mesh = -1;
    if (shape->kind == RECORDING_MESH && (mesh = find_mesh(meshes, shape)) < 0)
      continue;
    json_open(out, NULL, '{');
    json_put_size(out, "body", shape->body);
    json_put_size(out, "kind", shape->kind);
    json_put_count(out, "mesh", mesh);
    put_floats(out, "sizes", shape->sizes, 4);
    put_floats(out, "position", shape->position, 3);
    put_floats(out, "quaternion", shape->quaternion, 4);
    if (shape->body == 0) add_moves(r, shape, out);
    json_close(out);
  }
  json_close(out);
}

static void add_meshes(const known_meshes *meshes, json *out, buffer *data) {
  json_open(out, "meshes", '[');
  for (int i = 0; i < meshes->count; i++) {
    const recording_shape *shape = meshes->of[i];
    size_t n = shape->n_vertices, n_triangles = shape->n_triangles;
    put_sizes(out, (const size_t[]){place_in(data), n, n_triangles}, 3);
    append(data, shape + 1, 12 * (n + n_triangles));
  }
  json_close(out);
}

/* ---- curves ---- */

static void add_curves(const recording *r, json *out) {
  static double times[MOST_POINTS], values[MOST_POINTS];
  json_open(out, "curves", '{');
  for (size_t k = 0; k < n_step_columns; k++) {
    const step_column *column = &step_columns[k];
    bool is_time = strcmp(column->name, "time") == 0;
    if (column->title == NULL && !is_time) continue;
    size_t n = step_points(r, column, MOST_POINTS, times, values);
    json_put_numbers(out, column->name, is_time ? times : values, (int)n);
  }
  json_close(out);
}

/* The words of the page's table and the curves that it draws. */
static void add_tables(json *out) {
  json_open(out, "figures", '[');
  for (size_t k = 0; k < n_figures; k++) {
    const figure *f = &figures[k];
    json_open(out, NULL, '[');
    json_put_string(out, NULL, f->key);
    json_put_string(out, NULL, f->words);
    json_put_string(out, NULL, f->unit);
    json_put_truth(out, NULL, f->less);
    json_put_truth(out, NULL, f->rare);
    json_close(out);
  }
  json_close(out);
  json_open(out, "columns", '[');
  for (size_t k = 0; k < n_step_columns; k++) {
    const step_column *column = &step_columns[k];
    if (column->title == NULL) continue;
    json_open(out, NULL, '[');
    json_put_string(out, NULL, column->name);
    json_put_string(out, NULL, column->title);
    json_put_string(out, NULL, column->axis);
    json_put_truth(out, NULL, column->logarithmic);
    json_close(out);
  }
  json_close(out);
}

/* Times worth a look: when a run first missed the law of contact by a hundredth
 * of the scene's speed, and its first message; null: never. */
static void add_marks(const comparison *c, const recording *r, json *out) {
  double off = INFINITY, message = INFINITY;
  for (size_t i = r->n_shown_steps; i-- > 0;) {
    const recording_step *step = r->shown_steps[i];
    if (step->contact_error > 0.01 * c->speed) off = step->time;
    if (step->messages > 0) message = step->time;
  }
  json_put(out, "off_law", off);
  json_put(out, "message", message);
}

/* ---- the whole ---- */

/* The text, and arrays that it points into. */
static void add_data(const view *v, FILE *file, buffer *data) {
  known_meshes meshes = {.room = v->room / 4};
  json out = {.out = file, .line = 1};
  json_open(&out, NULL, '{');
  compare_put(v->comparison, &out, "report");
  add_tables(&out);
  json_put_size(&out, "frames", v->n_frames);
  json_put(&out, "interval", v->interval);
  json_put_size(&out, "contacts_every", v->contacts_every);
  json_put(&out, "size", v->comparison->size);
  out.digits = 5; // are enough to look at
  json_open(&out, "runs", '[');
  for (int i = 0; i < v->n_runs; i++) {
    json_open(&out, NULL, '{');
    json_put_string(&out, "label", v->labels[i]);
    json_put_truth(&out, "reference",
                   strncmp(v->labels[i], "reference:", 10) == 0);
    add_poses(v, v->runs[i], &out, data);
    add_contacts(v, v->runs[i], &out, data);
    add_shapes(v->runs[i], &out, &meshes);
    add_curves(v->runs[i], &out);
    add_marks(v->comparison, v->runs[i], &out);
    json_close(&out);
  }
  json_close(&out);
  add_meshes(&meshes, &out, data);
  json_close(&out);
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
  data.stream = open_memstream(&data.bytes, &data.used);
  if (data.stream == NULL)
    return result_end(&file, false, message, message_size);
  choose_runs(&v);
  v.room = 0.75 * (PAGE - (double)(before + after) - CURVES * v.n_runs);
  choose_frames(&v);
  fwrite(report_before, 1, before, file.out);
  add_data(&v, file.out, &data);
  fputs("</script>\n<script type=\"application/octet-stream\" id=\"arrays\">",
        file.out);
  bool whole = fclose(data.stream) == 0 && data.bytes != NULL && !data.failed;
  if (whole) write_base64(file.out, &data);
  fwrite(report_after, 1, after, file.out);
  free(data.bytes);
  return result_end(&file, whole, message, message_size);
}
