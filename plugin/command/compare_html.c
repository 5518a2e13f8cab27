/* report.html: a page with all it needs in it. The page's own parts are made of
 * report/ and linked in; this file adds the data, packed.
 *
 * The data are gzip'ed and in base64: uint32 length of a JSON text, the text,
 * zeros up to a multiple of 8, then arrays of floats that the text points into. Each
 * coordinate of a body has its frames one after the other, rounded to a power of two:
 * so they pack well, and bodies at rest take nothing. */
#define _GNU_SOURCE // fopencookie
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

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

/* B: of the packed data; the whole page stays below 5 MB. */
static const size_t MOST_PACKED = 2900000;
static const size_t MOST_CONTACT_BYTES = 2000000; /* before they are packed */
enum { MOST_POINTS = 700, FRAMES_A_SECOND = 30, MOST_FRAMES = 3600 };

/* ---- bytes that grow ---- */

typedef struct buffer {
  unsigned char *bytes;
  size_t used, size;
  bool failed;
} buffer;

static unsigned char *extend(buffer *b, size_t count) {
  if (b->used + count > b->size) {
    size_t size = 2 * b->size + count + 4096;
    unsigned char *more = realloc(b->bytes, size);
    if (more == NULL) {
      b->failed = true;
      return NULL;
    }
    b->bytes = more;
    b->size = size;
  }
  unsigned char *place = b->bytes + b->used;
  b->used += count;
  memset(place, 0, count);
  return place;
}

static void append(buffer *b, const void *bytes, size_t count) {
  unsigned char *place = extend(b, count);
  if (place != NULL && count > 0) memcpy(place, bytes, count);
}

static ssize_t write_text(void *text, const char *bytes, size_t count) {
  buffer *b = text;
  append(b, bytes, count);
  return b->failed ? 0 : (ssize_t)count;
}

static void align(buffer *b) { extend(b, (8 - b->used % 8) % 8); }

static void append_float(buffer *b, double value) {
  float single = isfinite(value) ? (float)value : 0;
  append(b, &single, sizeof single);
}

/* ---- what is shown ---- */

typedef struct view {
  const comparison *comparison;
  const recording *runs[COMPARE_RUNS + 1];
  char labels[COMPARE_RUNS + 1][COMPARE_NAME + 40];
  int n_runs;
  double end, interval; /* s: of the replay, and from frame to frame */
  size_t n_frames;
  double grain;          /* m: a power of two */
  size_t contacts_every; /* frames */
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

static void choose_frames(view *v, double a_second) {
  double least = INFINITY; /* s: between frames that are there */
  for (int i = 0; i < v->n_runs; i++)
    if (v->runs[i]->n_frames > 1)
      least = fmin(least, v->end / (double)(v->runs[i]->n_frames - 1));
  v->interval = fmax(1 / a_second, v->end / MOST_FRAMES);
  if (isfinite(least)) v->interval = fmax(v->interval, least);
  v->n_frames = (size_t)floor(v->end / v->interval + 1e-9) + 1;
  if (v->n_frames < 2) v->n_frames = 2;
}

static double rounded(double value, double grain) {
  double whole = rint(value / grain) * grain;
  return isfinite(whole) && fabs(whole) < 1e30 ? whole : 0;
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
  uint32_t most = 0;
  for (size_t k = 0; k < r->n_frames; k++)
    for (uint32_t i = 0; i < r->frames[k]->n_bodies; i++)
      most = (uint32_t)fmax(most, frame_poses(r->frames[k])[i].body);
  const char *before = "";
  fprintf(out, ",\"poses\":%zu,\"bodies\":[", data->used);
  for (uint32_t body = 1; body <= most && !data->failed; body++) {
    size_t first = v->n_frames, last = 0, n = v->n_frames;
    float *values = calloc(7 * n, sizeof *values);
    if (values == NULL) data->failed = true;
    double was[4] = {1, 0, 0, 0};
    for (size_t k = 0; k < n && values != NULL; k++) {
      const recording_pose *pose = frame_pose(frame_of(v, r, k), body);
      if (pose == NULL) continue;
      if (first == n) first = k;
      last = k;
      double along = 0; // both signs are the same turn
      for (int i = 0; i < 4; i++) along += was[i] * pose->quaternion[i];
      for (int i = 0; i < 4; i++)
        was[i] = along < 0 ? -pose->quaternion[i] : pose->quaternion[i];
      for (size_t i = 0; i < 7; i++)
        values[i * n + k] = (float)(i < 3 ? rounded(pose->position[i], v->grain)
                                          : rounded(was[i - 3], 0x1p-15));
    }
    if (first < n) {
      fprintf(out, "%s[%u,%zu,%zu]", before, body, first, last);
      append(data, values, 7 * n * sizeof *values);
      before = ",";
    }
    free(values);
  }
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
      for (int j = 0; j < 3; j++)
        append_float(data, rounded(contact->position[j], 8 * v->grain));
      for (int j = 0; j < 3; j++) append_float(data, contact->force[j]);
    }
  }
  fputc(']', out);
}

/* ---- shapes ---- */

typedef struct known_meshes {
  const recording_shape *of[256];
  int count;
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
  if (known->count == 256) return -1;
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
    align(data);
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

/* Times worth a look: when a run was first off the law of contact by a hundredth
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

static bool add_file(FILE *out, const char *folder, const char *name) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "r");
  for (int letter; file != NULL && (letter = fgetc(file)) != EOF;)
    fputc(letter, out);
  bool good = file != NULL || errno != ENOMEM;
  if (file == NULL) fputs("null", out);
  if (file != NULL) fclose(file);
  return good;
}

static size_t count_contacts(const view *v) {
  size_t total = 0;
  for (int i = 0; i < v->n_runs; i++) {
    for (size_t k = 0; k < v->n_frames; k++)
      total += frame_of(v, v->runs[i], k)->n_contacts;
  }
  return total;
}

/* The data as one block; NULL without memory. */
static unsigned char *make_data(const view *v, const char *folder,
                                size_t *size) {
  buffer text = {0}, data = {0}, block = {0};
  known_meshes meshes = {.count = 0};
  // of a memory stream that has no room its writers would not know
  FILE *out =
      fopencookie(&text, "w", (cookie_io_functions_t){.write = write_text});
  if (out == NULL) return NULL;
  fputs("{\"report\":", out);
  bool good = add_file(out, folder, "report.json");
  add_tables(out);
  fprintf(out,
          ",\"frames\":%zu,\"interval\":%.9g,\"contacts_every\":%zu,\"size\":%."
          "6g,\"runs\":[",
          v->n_frames, v->interval, v->contacts_every, v->comparison->size);
  for (int i = 0; i < v->n_runs; i++) {
    fputs(i > 0 ? ",{\"label\":" : "{\"label\":", out);
    json_string(out, v->labels[i]);
    fprintf(out, ",\"reference\":%s,\"end\":%.9g",
            strncmp(v->labels[i], "reference:", 10) == 0 ? "true" : "false",
            v->runs[i]->frames[v->runs[i]->n_frames - 1]->time);
    add_poses(v, v->runs[i], out, &data);
    add_contacts(v, v->runs[i], out, &data);
    add_shapes(v->runs[i], out, &meshes);
    add_curves(v->runs[i], out);
    add_marks(v->comparison, v->runs[i], out);
    fputc('}', out);
  }
  fputc(']', out);
  add_meshes(&meshes, out, &data);
  fputc('}', out);
  good = fclose(out) == 0 && good && !text.failed && !data.failed;
  uint32_t text_length = (uint32_t)text.used;
  append(&block, &text_length, sizeof text_length);
  append(&block, text.bytes, text.used);
  align(&block);
  append(&block, data.bytes, data.used);
  free(text.bytes);
  free(data.bytes);
  if (good && !block.failed) {
    *size = block.used;
    return block.bytes;
  }
  free(block.bytes);
  return NULL;
}

/* gzip, which browsers unpack themselves. */
static unsigned char *pack(const unsigned char *bytes, size_t size,
                           size_t *packed) {
  enum { GZIP = 15 + 16, MEMORY = 9 };
  z_stream stream = {0};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP, MEMORY,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return NULL;
  size_t room = deflateBound(&stream, size);
  unsigned char *out = malloc(room);
  if (out != NULL) {
    stream.next_in = (unsigned char *)bytes;
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) {
      free(out);
      out = NULL;
    }
    *packed = stream.total_out;
  }
  deflateEnd(&stream);
  return out;
}

static void write_base64(FILE *out, const unsigned char *bytes, size_t size) {
  static const char letters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < size; i += 3) {
    uint32_t three = (uint32_t)bytes[i] << 16;
    if (i + 1 < size) three |= (uint32_t)bytes[i + 1] << 8;
    if (i + 2 < size) three |= bytes[i + 2];
    fputc(letters[three >> 18], out);
    fputc(letters[three >> 12 & 63], out);
    fputc(i + 1 < size ? letters[three >> 6 & 63] : '=', out);
    fputc(i + 2 < size ? letters[three & 63] : '=', out);
  }
}

/* Fewer frames until what is packed is small enough. */
static unsigned char *make_packed(view *v, const char *folder,
                                  size_t *packed_size) {
  for (double a_second = FRAMES_A_SECOND;; a_second *= 0.6) {
    choose_frames(v, a_second);
    size_t bytes = 24 * count_contacts(v);
    v->contacts_every = bytes / MOST_CONTACT_BYTES + 1;
    size_t size = 0;
    unsigned char *data = make_data(v, folder, &size);
    if (data == NULL) return NULL;
    unsigned char *packed = pack(data, size, packed_size);
    free(data);
    // below a frame a second fewer frames do not help
    if (packed == NULL || *packed_size <= MOST_PACKED || a_second < 1)
      return packed;
    free(packed);
  }
}

bool compare_write_html(const comparison *c, const char *folder, char *message,
                        size_t message_size) {
  view v = {.comparison = c, .grain = exp2(floor(log2(2e-4 * c->size)))};
  result_file file;
  size_t size = 0;
  if (!result_begin(&file, message, message_size, "%s/report.html", folder))
    return false;
  choose_runs(&v);
  unsigned char *packed = make_packed(&v, folder, &size);
  fwrite(report_before, 1, (size_t)(report_before_end - report_before),
         file.out);
  if (packed != NULL) write_base64(file.out, packed, size);
  fwrite(report_after, 1, (size_t)(report_after_end - report_after), file.out);
  free(packed);
  return result_end(&file, packed != NULL, message, message_size);
}
