#include "outline.h"

#include <math.h>
#include <stdlib.h>

enum { CIRCLE_POINTS = 32, MAX_CORNERS = 2 * CIRCLE_POINTS };

/* The point of the body frame (x, y, z) as seen. */
static void add_corner(const solid *solid, view view, double x, double y,
                       double z, double corners[][2], int *n) {
  int up = view == VIEW_SIDE ? 2 : 1;
  const double *r = solid->rotation, *u = r + 4 * up;
  corners[*n][0] = solid->position[0] + r[0] * x + r[1] * y + r[2] * z;
  corners[*n][1] = solid->position[up] + u[0] * x + u[1] * y + u[2] * z;
  (*n)++;
}

/* A sphere's rim is round from any side: it does not turn with the body. */
static void add_round_corners(const solid *solid, view view, double z,
                              double radius, double corners[][2], int *n) {
  int centre = *n;
  add_corner(solid, view, 0, 0, z, corners, n);
  double x0 = corners[centre][0], y0 = corners[centre][1];
  *n = centre;
  for (int i = 0; i < CIRCLE_POINTS; i++) {
    double angle = 2 * M_PI * i / CIRCLE_POINTS;
    corners[*n][0] = x0 + radius * cos(angle);
    corners[*n][1] = y0 + radius * sin(angle);
    (*n)++;
  }
}

static int find_corners(const solid *solid, view view, double corners[][2]) {
  const double *sizes = solid->sizes;
  int n = 0;
  switch (solid->kind) {
    case SOLID_BOX:
      for (int i = 0; i < 8; i++)
        add_corner(solid, view, (i & 1 ? 0.5 : -0.5) * sizes[0],
                   (i & 2 ? 0.5 : -0.5) * sizes[1],
                   (i & 4 ? 0.5 : -0.5) * sizes[2], corners, &n);
      break;
    case SOLID_SPHERE:
      add_round_corners(solid, view, 0, sizes[0], corners, &n);
      break;
    case SOLID_CAPSULE:
      add_round_corners(solid, view, 0.5 * sizes[1], sizes[0], corners, &n);
      add_round_corners(solid, view, -0.5 * sizes[1], sizes[0], corners, &n);
      break;
    default:
      for (int i = 0; i < CIRCLE_POINTS; i++) {
        double angle = 2 * M_PI * i / CIRCLE_POINTS;
        double x = sizes[0] * cos(angle), y = sizes[0] * sin(angle);
        add_corner(solid, view, x, y, 0.5 * sizes[1], corners, &n);
        add_corner(solid, view, x, y, -0.5 * sizes[1], corners, &n);
      }
  }
  return n;
}

static int by_position(const void *left, const void *right) {
  const double *a = left, *b = right;
  if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
  return (a[1] > b[1]) - (a[1] < b[1]);
}

/* > 0 where a, b, c turn to the left */
static double turn(const double a[2], const double b[2], const double c[2]) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static void add_point(outline *outline, int first, const double point[2]) {
  while (outline->n - first >= 2 &&
         turn(outline->points[outline->n - 2], outline->points[outline->n - 1],
              point) <= 0)
    outline->n--;
  outline->points[outline->n][0] = point[0];
  outline->points[outline->n][1] = point[1];
  outline->n++;
}

/* Andrew's monotone chain: the lower hull from left to right, then the upper
 * one back. */
void outline_of(const solid *solid, view view, outline *outline) {
  double corners[MAX_CORNERS][2];
  int n = find_corners(solid, view, corners);
  qsort(corners, (size_t)n, sizeof corners[0], by_position);
  outline->n = 0;
  for (int i = 0; i < n; i++) add_point(outline, 0, corners[i]);
  int upper = outline->n - 1;
  for (int i = n - 2; i >= 0; i--) add_point(outline, upper, corners[i]);
  outline->n--; /* the first point again */
}
