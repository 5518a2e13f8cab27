#include "recording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const PILE_NAMES[N_PILES] = {"tower", "heap"};

/* as in the names of files */
static const char *const FILE_STEPPERS[N_STEPPERS] = {"step", "quickstep",
                                                      "ode-mlcp"};
static const char *const SOLID_NAMES[N_SOLID_KINDS] = {"box", "sphere",
                                                       "capsule", "cylinder"};
enum { MAX_STEPS = 100000, MAX_SOLIDS = 10000 };

static FILE *open_part(const char *folder, pile pile, stepper stepper,
                       const char *part) {
  char name[4096];
  int length = snprintf(name, sizeof name, "%s/%s-%s.%s", folder,
                        PILE_NAMES[pile], FILE_STEPPERS[stepper], part);
  return length < (int)sizeof name ? fopen(name, "r") : NULL;
}

/* The number after `name` in `text`; false where it is not there. */
static bool find_number(const char *text, const char *name, double *number) {
  const char *found = strstr(text, name);
  char *end = NULL;
  if (found == NULL) return false;
  *number = strtod(found + strlen(name), &end);
  return end != found + strlen(name);
}

static bool find_count(const char *text, const char *name, long *count) {
  double number;
  if (!find_number(text, name, &number)) return false;
  *count = lround(number);
  return true;
}

static size_t read_text(FILE *file, char *text, size_t size) {
  size_t length = file != NULL ? fread(text, 1, size - 1, file) : 0;
  text[length] = '\0';
  if (file != NULL) fclose(file);
  return length;
}

static bool read_probe(FILE *file, recording *recording) {
  char text[2048];
  read_text(file, text, sizeof text);
  return find_count(text, " steps=", &recording->steps) &&
         find_count(text, " failed=", &recording->failed) &&
         find_count(text, " nan=", &recording->not_finite) &&
         find_count(text, " bodies=", &recording->bodies) &&
         find_count(text, " contacts=", &recording->contacts) &&
         find_number(text, " depth_end=", &recording->depth_end) &&
         find_number(text, " approach=", &recording->approach) &&
         find_number(text, " seconds=", &recording->seconds);
}

static int by_size(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static bool find_usual_error(recording *recording) {
  size_t n = (size_t)recording->n_series;
  double *errors = calloc(n + 1, sizeof errors[0]);
  if (errors == NULL || n == 0) {
    free(errors);
    return false;
  }
  for (size_t i = 0; i < n; i++) errors[i] = recording->series[i].error;
  qsort(errors, n, sizeof errors[0], by_size);
  recording->usual_error = errors[9 * n / 10];
  free(errors);
  return true;
}

static bool read_series(FILE *file, recording *recording) {
  if (file == NULL) return false;
  recording->series = calloc(MAX_STEPS, sizeof recording->series[0]);
  recorded_step step;
  while (recording->series != NULL && recording->n_series < MAX_STEPS &&
         fscanf(file, "%*d %*d %lf %lf %*d %lf", &step.top, &step.fastest,
                &step.error) == 3) {
    recording->series[recording->n_series++] = step;
    if (!(step.error <= recording->error)) recording->error = step.error;
  }
  fclose(file);
  return find_usual_error(recording);
}

static bool read_solid(FILE *file, solid *solid) {
  char kind[16];
  if (fscanf(file, "%15s", kind) != 1) return false;
  int k = 0;
  while (k < N_SOLID_KINDS && strcmp(kind, SOLID_NAMES[k]) != 0) k++;
  if (k == N_SOLID_KINDS) return false;
  solid->kind = (solid_kind)k;

  double numbers[19];
  for (int i = 0; i < 19; i++)
    if (fscanf(file, "%lf", &numbers[i]) != 1) return false;
  memcpy(solid->sizes, numbers, sizeof solid->sizes);
  memcpy(solid->position, numbers + 3, sizeof solid->position);
  memcpy(solid->rotation, numbers + 6, sizeof solid->rotation);
  solid->speed = numbers[18];
  return true;
}

static bool read_solids(FILE *file, recording *recording) {
  if (file == NULL) return false;
  recording->solids = calloc(MAX_SOLIDS, sizeof recording->solids[0]);
  while (recording->solids != NULL && recording->n_solids < MAX_SOLIDS &&
         read_solid(file, &recording->solids[recording->n_solids]))
    recording->n_solids++;
  bool whole = feof(file) && recording->n_solids > 0;
  fclose(file);
  return whole;
}

static long count_messages(FILE *file) {
  char line[1024];
  long count = 0;
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL)
    if (strstr(line, "ODE Message") != NULL) count++;
  fclose(file);
  return count;
}

static bool read_statistics(FILE *file, recording *recording) {
  char text[8192];
  read_text(file, text, sizeof text);
  return find_count(text, "\"unsolved\":", &recording->unsolved) &&
         find_count(text, "\"degraded\":", &recording->degraded) &&
         find_number(text, "\"residual_worst\":", &recording->residual);
}

static bool read_recording(const char *folder, pile pile, stepper stepper,
                           recording *recording) {
  memset(recording, 0, sizeof *recording);
  recording->unsolved = recording->degraded = -1;
  FILE *file = open_part(folder, pile, stepper, "status");
  if (file == NULL) return true;
  recording->run = fscanf(file, "%d", &recording->status) == 1;
  fclose(file);

#define PART(name) open_part(folder, pile, stepper, name)
  recording->messages = count_messages(PART("out"));
  bool whole = recording->run && read_probe(PART("probe"), recording) &&
               read_series(PART("series"), recording) &&
               read_solids(PART("solids"), recording);
  if (whole && stepper == STEPPER_MLCP)
    whole = read_statistics(PART("json"), recording);
#undef PART
  if (whole) return true;
  fprintf(stderr, "compare: the recording %s/%s-%s.* is not whole\n", folder,
          PILE_NAMES[pile], FILE_STEPPERS[stepper]);
  recording->run = false;
  return false;
}

bool recordings_read(const char *folder, recordings *recordings) {
  bool whole = true, any = false;
  memset(recordings, 0, sizeof *recordings);
  for (int p = 0; p < N_PILES; p++)
    for (int s = 0; s < N_STEPPERS; s++) {
      whole &= read_recording(folder, p, s, &recordings->of[p][s]);
      any |= recordings->of[p][s].run;
    }
  if (whole && !any)
    fprintf(stderr, "compare: there is no recording in %s\n", folder);
  return whole && any;
}

void recordings_release(recordings *recordings) {
  for (int p = 0; p < N_PILES; p++)
    for (int s = 0; s < N_STEPPERS; s++) {
      free(recordings->of[p][s].series);
      free(recordings->of[p][s].solids);
    }
  memset(recordings, 0, sizeof *recordings);
}
