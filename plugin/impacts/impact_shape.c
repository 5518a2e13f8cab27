/* A set as a shape: extents, means, hull and occupancy. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ode_mlcp_impacts.h"

static const double *row_values(const ode_mlcp_impact_set *set,
                                uint64_t outcome) {
  return &set->contact_velocities[outcome * (uint64_t)set->n_rows];
}

void ode_mlcp_impact_extents(const ode_mlcp_impact_set *set, double extents[]) {
  for (uint64_t k = 0; k < set->n_outcomes; k++) {
    const double *values = row_values(set, k);
    for (int i = 0; i < set->n_rows; i++) {
      // + 0: of two zeros keep the unsigned one
      double value = values[i] + 0.0;
      if (k == 0 || value < extents[2 * i]) extents[2 * i] = value;
      if (k == 0 || value > extents[2 * i + 1]) extents[2 * i + 1] = value;
    }
  }
}

void ode_mlcp_impact_means(const ode_mlcp_impact_set *set, double means[]) {
  if (set->n_outcomes == 0) return;
  memset(means, 0, (size_t)set->n_rows * sizeof *means);
  for (uint64_t k = 0; k < set->n_outcomes; k++)
    for (int i = 0; i < set->n_rows; i++) means[i] += row_values(set, k)[i];
  for (int i = 0; i < set->n_rows; i++) means[i] /= (double)set->n_outcomes;
}

typedef struct point {
  double x, y;
} point;

static int by_x_then_y(const void *a, const void *b) {
  const point *p = a, *q = b;
  if (p->x != q->x) return p->x < q->x ? -1 : 1;
  return (p->y > q->y) - (p->y < q->y);
}

/* Does the way a - b - c turn left? */
static int turns_left(point a, point b, point c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) > 0;
}

/* Andrew's monotone chain on sorted points; hull has room for 2 n. */
static size_t chain(const point points[], size_t n, point hull[]) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    while (count >= 2 &&
           !turns_left(hull[count - 2], hull[count - 1], points[i]))
      count--;
    hull[count++] = points[i];
  }
  size_t lower = count + 1;
  for (size_t i = n - 1; i-- > 0;) {
    while (count >= lower &&
           !turns_left(hull[count - 2], hull[count - 1], points[i]))
      count--;
    hull[count++] = points[i];
  }
  return count > 1 ? count - 1 : count; // the last is the first again
}

ode_mlcp_impact_status ode_mlcp_impact_hull(const ode_mlcp_impact_set *set,
                                            int row_x, int row_y,
                                            double **corners,
                                            size_t *n_corners) {
  *corners = NULL;
  *n_corners = 0;
  if (set->n_outcomes > SIZE_MAX / 8 / sizeof(point))
    return ODE_MLCP_IMPACT_NO_MEMORY;
  size_t n = (size_t)set->n_outcomes;
  point *points = malloc((n + 1) * sizeof *points);
  point *hull = malloc((2 * n + 2) * sizeof *hull);
  if (points == NULL || hull == NULL) {
    free(points);
    free(hull);
    return ODE_MLCP_IMPACT_NO_MEMORY;
  }
  for (size_t k = 0; k < n; k++)
    points[k] = (point){row_values(set, k)[row_x] + 0.0,
                        row_values(set, k)[row_y] + 0.0};
  qsort(points, n, sizeof *points, by_x_then_y);
  size_t distinct = 0;
  for (size_t k = 0; k < n; k++)
    if (k == 0 || by_x_then_y(&points[k], &points[distinct - 1]) != 0)
      points[distinct++] = points[k];
  *n_corners = distinct > 1 ? chain(points, distinct, hull) : distinct;
  if (distinct == 1) hull[0] = points[0];
  free(points);
  *corners = (double *)hull;
  return ODE_MLCP_IMPACT_DONE;
}

static int cell(double value, double low, double high, int n) {
  double place = high > low ? (value - low) / (high - low) * n : 0;
  if (!(place > 0)) return 0;
  return place < n ? (int)place : n - 1;
}

void ode_mlcp_impact_occupancy(const ode_mlcp_impact_set *set, int row_x,
                               int row_y, const double range[4], int n_x,
                               int n_y, uint64_t counts[]) {
  memset(counts, 0, (size_t)n_x * (size_t)n_y * sizeof *counts);
  for (uint64_t k = 0; k < set->n_outcomes; k++) {
    const double *values = row_values(set, k);
    int x = cell(values[row_x], range[0], range[1], n_x);
    int y = cell(values[row_y], range[2], range[3], n_y);
    counts[y * n_x + x]++;
  }
}
