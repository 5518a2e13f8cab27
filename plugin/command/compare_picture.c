/* picture.svg: the runs side by side at the moment that tells, drawn without a
 * browser. Faces are sorted from far to near and painted in that order. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/compare.h"
#include "command/result_file.h"
#include "common/vec3.h"
#include "world/rotation.h"

enum { WIDTH = 400, HEIGHT = 300, LABEL = 26, MOMENTS = 60, SIDES = 20 };
enum { MOST_CORNERS = SIDES };

typedef struct face {
  int n_corners; /* 0: a ball, of corner[0] and radius */
  double corner[MOST_CORNERS][2], radius;
  double depth; /* m: from the camera */
  double light; /* 0 .. 1 */
  int hue;      /* degrees; -1: grey, it does not move */
  bool ground;
} face;

typedef struct painting {
  double right[3], up[3], away[3], centre[3];
  double scale; /* pixels a metre */
  face *faces;
  size_t n_faces, size;
  bool failed;
} painting;

/* ---- the moment and the frame ---- */

static const recording *run_of(const comparison *c, int run) {
  const recording *r = c->runs[run].levels[0];
  return r != NULL && r->n_frames > 0 ? r : NULL;
}

/* The time at which a run is furthest from the last one, ode-mlcp's as a rule, of
 * those that all runs reached. */
static double telling_time(const comparison *c) {
  double end = INFINITY, best = 0, time = 0;
  const recording *last = NULL;
  for (int i = 0; i < c->n_runs; i++) {
    const recording *r = run_of(c, i);
    if (r == NULL) continue;
    end = fmin(end, r->frames[r->n_frames - 1]->time);
    last = r;
  }
  for (int k = 1; k <= MOMENTS && last != NULL; k++) {
    double at = end * k / MOMENTS;
    for (int i = 0; i < c->n_runs; i++) {
      const recording *r = run_of(c, i);
      if (r == NULL || r == last) continue;
      double apart = frame_distance(recording_frame_at(last, at),
                                    recording_frame_at(r, at), true);
      /* as far as ever: the later moment tells as much, and shows the outcome */
      if (apart >= best) {
        best = apart;
        time = at;
      }
    }
  }
  return best > 0 ? time : end;
}

static void choose_view(painting *p, const comparison *c, double time) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3];
  vec3_negate(high, low);
  for (int i = 0; i < c->n_runs; i++) {
    const recording *r = run_of(c, i);
    const recording_frame *frame =
        r != NULL ? recording_frame_at(r, time) : NULL;
    for (uint32_t b = 0; frame != NULL && b < frame->n_bodies; b++)
      for (int k = 0; k < 3; k++) {
        double x = frame_poses(frame)[b].position[k];
        if (!isfinite(x)) continue;
        low[k] = fmin(low[k], x);
        high[k] = fmax(high[k], x);
      }
  }
  /* the longer level side across the picture, seen from above by 20 degrees */
  bool along_x = high[0] - low[0] >= high[1] - low[1];
  double turn = (along_x ? -75 : 15) * M_PI / 180, rise = 20 * M_PI / 180;
  double away[3] = {-cos(turn) * cos(rise), -sin(turn) * cos(rise), -sin(rise)};
  double right[3] = {-sin(turn), cos(turn), 0};
  vec3_copy(p->away, away);
  vec3_copy(p->right, right);
  vec3_cross(p->up, right, away);
  for (int k = 0; k < 3; k++)
    p->centre[k] = isfinite(low[k]) ? 0.5 * (low[k] + high[k]) : 0;
  double across = 0, height = 0, margin = fmax(1.2 * c->size, 1e-6);
  for (int corner = 0; corner < 8; corner++) {
    double x[3];
    for (int k = 0; k < 3; k++)
      x[k] = isfinite(low[k])
                 ? (corner >> k & 1 ? high[k] : low[k]) - p->centre[k]
                 : 0;
    across = fmax(across, fabs(vec3_dot(x, p->right)));
    height = fmax(height, fabs(vec3_dot(x, p->up)));
  }
  p->scale =
      fmin(0.5 * WIDTH / (across + margin), 0.5 * HEIGHT / (height + margin));
}

/* ---- faces ---- */

static void project(const painting *p, const double x[3], double out[2],
                    double *depth) {
  double from[3];
  vec3_subtract(from, x, p->centre);
  out[0] = 0.5 * WIDTH + p->scale * vec3_dot(from, p->right);
  out[1] = 0.5 * HEIGHT - p->scale * vec3_dot(from, p->up);
  *depth = vec3_dot(from, p->away);
}

static face *add_face(painting *p, int hue) {
  if (p->n_faces == p->size) {
    size_t size = 2 * p->size + 256;
    face *more = realloc(p->faces, size * sizeof *more);
    if (more == NULL) {
      p->failed = true;
      return NULL;
    }
    p->faces = more;
    p->size = size;
  }
  face *added = &p->faces[p->n_faces++];
  *added = (face){.hue = hue};
  return added;
}

/* A flat face of corners in the world; one seen from behind is left out unless it
 * has two sides. */
static void add_polygon(painting *p, const double corner[][3], int n, int hue,
                        bool two_sided) {
  const double LIGHT[3] = {0.36, -0.48, 0.8};
  double a[3], b[3], normal[3], depth = 0;
  vec3_subtract(a, corner[1], corner[0]);
  vec3_subtract(b, corner[2], corner[0]);
  vec3_cross(normal, a, b);
  double length = vec3_length(normal), facing = vec3_dot(normal, p->away);
  if (!(length > 0) || (facing > 0 && !two_sided)) return;
  face *added = add_face(p, hue);
  if (added == NULL) return;
  added->n_corners = n;
  for (int i = 0; i < n; i++) {
    double at;
    project(p, corner[i], added->corner[i], &at);
    depth += at / n;
  }
  added->depth = depth;
  double lit = vec3_dot(normal, LIGHT) / length;
  added->light = 0.5 + 0.5 * (facing > 0 ? -lit : lit);
}

typedef struct placed {
  double position[3], rotation[9];
} placed;

static void place(const placed *at, double x, double y, double z,
                  double out[3]) {
  const double *R = at->rotation;
  for (int i = 0; i < 3; i++)
    out[i] =
        at->position[i] + R[3 * i] * x + R[3 * i + 1] * y + R[3 * i + 2] * z;
}

static void add_box(painting *p, const placed *at, const float sides[3],
                    int hue) {
  for (int axis = 0; axis < 3; axis++)
    for (int sign = -1; sign <= 1; sign += 2) {
      double corner[4][3];
      for (int k = 0; k < 4; k++) {
        int turn = sign > 0 ? k : 3 - k;
        double x[3];
        x[axis] = 0.5 * sign * sides[axis];
        x[(axis + 1) % 3] =
            (turn == 1 || turn == 2 ? 0.5 : -0.5) * sides[(axis + 1) % 3];
        x[(axis + 2) % 3] = (turn >= 2 ? 0.5 : -0.5) * sides[(axis + 2) % 3];
        place(at, x[0], x[1], x[2], corner[k]);
      }
      add_polygon(p, corner, 4, hue, false);
    }
}

static void add_ball(painting *p, const placed *at, double z, double radius,
                     int hue) {
  face *added = add_face(p, hue);
  if (added == NULL) return;
  double x[3];
  place(at, 0, 0, z, x);
  project(p, x, added->corner[0], &added->depth);
  added->depth -= 0.5 * radius;
  added->radius = radius * p->scale;
}

static void add_cylinder(painting *p, const placed *at, double radius,
                         double length, int hue, bool caps) {
  double ring[2][SIDES][3];
  for (int end = 0; end < 2; end++)
    for (int k = 0; k < SIDES; k++) {
      double angle = 2 * M_PI * k / SIDES;
      place(at, radius * cos(angle), radius * sin(angle),
            (end ? 0.5 : -0.5) * length, ring[end][k]);
    }
  for (int k = 0; k < SIDES; k++) {
    double side[4][3];
    int next = (k + 1) % SIDES;
    vec3_copy(side[0], ring[0][k]);
    vec3_copy(side[1], ring[0][next]);
    vec3_copy(side[2], ring[1][next]);
    vec3_copy(side[3], ring[1][k]);
    add_polygon(p, side, 4, hue, false);
  }
  if (!caps) return;
  add_polygon(p, ring[1], SIDES, hue, false);
  double bottom[SIDES][3];
  for (int k = 0; k < SIDES; k++) vec3_copy(bottom[k], ring[0][SIDES - 1 - k]);
  add_polygon(p, bottom, SIDES, hue, false);
}

/* The part of a plane that the picture may show, below everything. */
static void add_plane(painting *p, const float plane[4]) {
  double normal[3] = {plane[0], plane[1], plane[2]}, foot[3], u[3], v[3];
  double wide = 3 * WIDTH / p->scale;
  double off = vec3_dot(normal, p->centre) - plane[3];
  vec3_copy(foot, p->centre);
  vec3_add_scaled(foot, -off, normal);
  const double x_axis[3] = {1, 0, 0}, y_axis[3] = {0, 1, 0};
  vec3_cross(u, normal, fabs(normal[0]) < 0.7 ? x_axis : y_axis);
  double length = vec3_length(u);
  for (int i = 0; i < 3; i++) u[i] /= length;
  vec3_cross(v, normal, u);
  double corner[4][3];
  for (int k = 0; k < 4; k++) {
    vec3_copy(corner[k], foot);
    vec3_add_scaled(corner[k], k == 1 || k == 2 ? wide : -wide, u);
    vec3_add_scaled(corner[k], k >= 2 ? wide : -wide, v);
  }
  size_t before = p->n_faces;
  add_polygon(p, corner, 4, -1, false);
  if (p->n_faces > before) {
    p->faces[before].ground = true;
    p->faces[before].depth = INFINITY;
  }
}

static void add_mesh(painting *p, const placed *at,
                     const recording_shape *shape, int hue) {
  enum { MOST = 20000 }; /* more make a picture of megabytes */
  const float *vertex = (const float *)(shape + 1);
  const uint32_t *index = (const uint32_t *)(vertex + 3 * shape->n_vertices);
  if (shape->n_triangles > MOST) return;
  for (uint32_t t = 0; t < shape->n_triangles; t++) {
    double corner[3][3];
    for (int k = 0; k < 3; k++) {
      const float *x = vertex + 3 * (size_t)index[3 * t + (uint32_t)k];
      place(at, x[0], x[1], x[2], corner[k]);
    }
    add_polygon(p, corner, 3, hue, true);
  }
}

static void add_shape(painting *p, const placed *at,
                      const recording_shape *shape, int hue) {
  const float *sizes = shape->sizes;
  switch (shape->kind) {
    case RECORDING_SPHERE: add_ball(p, at, 0, sizes[0], hue); break;
    case RECORDING_BOX: add_box(p, at, sizes, hue); break;
    case RECORDING_CAPSULE:
      add_cylinder(p, at, sizes[0], sizes[1], hue, false);
      add_ball(p, at, -0.5 * sizes[1], sizes[0], hue);
      add_ball(p, at, 0.5 * sizes[1], sizes[0], hue);
      break;
    case RECORDING_CYLINDER:
      add_cylinder(p, at, sizes[0], sizes[1], hue, true);
      break;
    case RECORDING_PLANE: add_plane(p, sizes); break;
    default: add_mesh(p, at, shape, hue); break;
  }
}

static void read_pose(placed *at, const double x[3], const float q[4]) {
  double quaternion[4] = {q[0], q[1], q[2], q[3]};
  vec3_copy(at->position, x);
  quaternion_to_rotation(at->rotation, quaternion);
}

/* A shape's pose in the world, from its own on the body and the body's. */
static void compose(placed *out, const placed *body, const placed *own) {
  place(body, own->position[0], own->position[1], own->position[2],
        out->position);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double sum = 0;
      for (int k = 0; k < 3; k++)
        sum += body->rotation[3 * i + k] * own->rotation[3 * k + j];
      out->rotation[3 * i + j] = sum;
    }
}

static void add_run(painting *p, const recording *r, double time) {
  const recording_frame *frame = recording_frame_at(r, time);
  size_t most = 0;
  for (size_t i = 0; i < r->n_shapes; i++)
    if (r->shapes[i]->number > most) most = r->shapes[i]->number;
  bool *is_there = calloc(most + 1, sizeof *is_there);
  if (is_there == NULL) p->failed = true;
  for (size_t i = 0; i < r->n_shapes && is_there != NULL; i++) {
    const recording_shape *shape = r->shapes[i];
    if ((shape->body != 0 && shape->world != frame->world) ||
        !recording_shape_holds(r, i, frame->number))
      continue;
    double x[3] = {shape->position[0], shape->position[1], shape->position[2]};
    placed own, body, at;
    read_pose(&own, x, shape->quaternion);
    if (shape->body == 0) {
      // of what is moved the first pose that holds is where it was
      if (!is_there[shape->number]) add_shape(p, &own, shape, -1);
      is_there[shape->number] = true;
      continue;
    }
    const recording_pose *pose = frame_pose(frame, shape->body);
    if (pose == NULL) continue;
    read_pose(&body, pose->position, pose->quaternion);
    compose(&at, &body, &own);
    /* neighbours by number differ as much as colours can */
    add_shape(p, &at, shape, (int)(shape->body * 137 % 360));
  }
  free(is_there);
}

/* ---- the file ---- */

static int compare_depths(const void *left, const void *right) {
  const face *a = left, *b = right;
  return (a->depth < b->depth) - (a->depth > b->depth);
}

static void write_face(FILE *out, const face *f) {
  double lightness = f->hue < 0 ? 62 + 26 * f->light : 30 + 38 * f->light;
  char colour[48];
  snprintf(colour, sizeof colour, "hsl(%d,%d%%,%.0f%%)",
           f->hue < 0 ? 0 : f->hue, f->hue < 0 ? 0 : 55,
           f->ground ? 90 : lightness);
  if (f->n_corners == 0) {
    if (!isfinite(f->corner[0][0] + f->corner[0][1])) return;
    fprintf(out,
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" "
            "fill=\"hsl(%d,%d%%,52%%)\"/>\n",
            f->corner[0][0], f->corner[0][1], f->radius,
            f->hue < 0 ? 0 : f->hue, f->hue < 0 ? 0 : 55);
    return;
  }
  fputs("<polygon points=\"", out);
  for (int i = 0; i < f->n_corners; i++)
    fprintf(out, "%s%.1f,%.1f", i > 0 ? " " : "", f->corner[i][0],
            f->corner[i][1]);
  fprintf(out, "\" fill=\"%s\" stroke=\"%s\"/>\n", colour,
          f->ground ? "none" : "#0003");
}

static void write_run(FILE *out, painting *p, const comparison *c, int run,
                      int column, double time) {
  const recording *r = run_of(c, run);
  fprintf(out, "<svg x=\"%d\" width=\"%d\" height=\"%d\">\n",
          column * (WIDTH + 8), WIDTH, HEIGHT);
  fprintf(out, "<rect width=\"%d\" height=\"%d\" fill=\"#eef2f6\"/>\n", WIDTH,
          HEIGHT);
  p->n_faces = 0;
  add_run(p, r, time);
  qsort(p->faces, p->n_faces, sizeof *p->faces, compare_depths);
  for (size_t i = 0; i < p->n_faces; i++) write_face(out, &p->faces[i]);
  fprintf(
      out, "</svg>\n<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
      column * (WIDTH + 8) + WIDTH / 2, HEIGHT + LABEL - 8, c->runs[run].name);
}

bool compare_write_picture(const comparison *c, const char *folder,
                           char *message, size_t message_size) {
  result_file file;
  int n = 0;
  for (int i = 0; i < c->n_runs; i++) n += run_of(c, i) != NULL;
  if (n == 0 || c->is_scene) return true;
  if (!result_begin(&file, message, message_size, "%s/picture.svg", folder))
    return false;
  FILE *out = file.out;
  painting p = {0};
  double time = telling_time(c);
  choose_view(&p, c, time);
  int width = n * (WIDTH + 8) - 8, height = HEIGHT + LABEL;
  fprintf(out,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
          "font-family=\"sans-serif\" font-size=\"15\" fill=\"currentColor\">\n"
          "<title>after %.3g s</title>\n",
          width, height, time);
  for (int i = 0, column = 0; i < c->n_runs; i++)
    if (run_of(c, i) != NULL) write_run(out, &p, c, i, column++, time);
  fputs("</svg>\n", out);
  free(p.faces);
  return result_end(&file, !p.failed, message, message_size);
}
