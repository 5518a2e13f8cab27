/* A sweep of step sizes: errors and their ratios. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenes/scenes.h"

static double reference_of(const scene_sweep *sweep, double h, int kind) {
  const scene_reference *reference = sweep->scene->references;
  for (; reference != NULL && reference->scheme != NULL; reference++) {
    bool same_scheme = reference->scheme[0] == '\0' ||
                       strcmp(reference->scheme, sweep->settings.scheme) == 0;
    if (same_scheme && fabs(reference->h - h) < 1e-9 * h)
      return reference->errors[kind];
  }
  return NAN;
}

static void fill_sweep_row(scene_sweep *sweep, int row, scene_result *result,
                           const scene_result *finest) {
  scene_sweep_row *out = &sweep->rows[row];
  if (finest != NULL) sweep->scene->compare(result, finest, result->errors);
  out->h = result->settings.h;
  out->energy_end = result->energy_end;
  out->residual_worst = result->residual_worst;
  out->unsolved = result->unsolved;
  for (int k = 0; k < SCENE_ERRORS; k++) {
    out->errors[k] = result->errors[k];
    out->ratios[k] =
        row > 0 ? sweep->rows[row - 1].errors[k] / out->errors[k] : NAN;
    out->references[k] = reference_of(sweep, out->h, k);
  }
}

scene_sweep *scene_converge(const scene *scene, const scene_settings *settings,
                            char *message, size_t message_size) {
  int n = 0;
  while (scene->step_sizes[n] > 0) n++;
  if (n == 0) {
    snprintf(message, message_size, "%s has no sweep of step sizes",
             scene->name);
    return NULL;
  }
  scene_sweep *sweep = calloc(1, sizeof *sweep);
  if (sweep != NULL) sweep->rows = calloc((size_t)n, sizeof *sweep->rows);
  if (sweep == NULL || sweep->rows == NULL) {
    snprintf(message, message_size, "memory ran out");
    scene_sweep_destroy(sweep);
    return NULL;
  }
  sweep->scene = scene;
  sweep->settings = *settings;
  if (scene->sweep_time > 0 && settings->time == scene->time)
    sweep->settings.time = scene->sweep_time;

  scene_settings at = sweep->settings;
  scene_result *finest = NULL;
  bool done = true;
  if (scene->compare != NULL) {
    at.h = scene->step_sizes[n - 1];
    finest = scene_run(scene, &at, message, message_size);
    done = finest != NULL;
  }
  // the finest has no error against itself
  int n_rows = scene->compare != NULL ? n - 1 : n;
  for (int i = 0; done && i < n_rows; i++) {
    at.h = scene->step_sizes[i];
    scene_result *result = scene_run(scene, &at, message, message_size);
    done = result != NULL;
    if (!done) break;
    fill_sweep_row(sweep, i, result, finest);
    sweep->n_rows = i + 1;
    scene_result_destroy(result);
  }
  scene_result_destroy(finest);
  if (done) return sweep;
  scene_sweep_destroy(sweep);
  return NULL;
}

void scene_sweep_destroy(scene_sweep *sweep) {
  if (sweep == NULL) return;
  free(sweep->rows);
  free(sweep);
}

/* --- two runs ------------------------------------------------------------- */

/* The row of `result` whose value holds at time t: of the step that ends there
 * or contains it. */
static long row_holding(const scene_result *result, long guess, double t) {
  double slack = 1e-9 * result->settings.h;
  while (guess < result->n_steps && result->times[guess] < t - slack) guess++;
  return guess;
}

static double largest_difference(const double a[], const double b[], int n) {
  double largest = 0;
  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(a[i] - b[i]));
  return largest;
}

void scene_compare_ways(const scene_result *coarse, const scene_result *finest,
                        double errors[SCENE_ERRORS]) {
  int n = coarse->n_velocities;
  long row = 0;
  errors[0] = errors[1] = 0;
  for (long i = 1; i <= finest->n_steps; i++) {
    row = row_holding(coarse, row, finest->times[i]);
    errors[0] += (finest->times[i] - finest->times[i - 1]) *
                 largest_difference(finest->velocities + i * n,
                                    coarse->velocities + row * n, n);
    if (fabs(coarse->times[row] - finest->times[i]) > 1e-9 * finest->settings.h)
      continue;
    errors[1] =
        fmax(errors[1], largest_difference(finest->positions + i * n,
                                           coarse->positions + row * n, n));
  }
}
