#include "measure.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../scenes/scene.h"
#include "ode_mlcp.h"

const char *const STEPPER_NAMES[N_STEPPERS] = {"dWorldStep", "dWorldQuickStep",
                                               "ode-mlcp"};
const double SLIDE_ANGLES[N_ANGLES] = {0, 15, 30, 45};
const double ROD_SPEEDS[N_SPEEDS] = {2, -2};

static const double STEP_SIZE = 0.01, MU = 0.5, GRAVITY = 9.81;
static const double SLIDE_SPEED = 3;

/* --- one run -------------------------------------------------------------- */

/* Message handlers have no context. */
static step_record *record_of_messages;

static void count_message(int number, const char *format, va_list arguments) {
  (void)number;
  step_record *record = record_of_messages;
  if (record->messages++ == 0)
    vsnprintf(record->message, sizeof record->message, format, arguments);
}

static bool begin_run(scene *scene, stepper stepper, step_record *record) {
  memset(record, 0, sizeof *record);
  if (scene == NULL) {
    fprintf(stderr, "compare: memory ran out\n");
    return false;
  }
  record_of_messages = record;
  dSetMessageHandler(count_message);
  dRandSetSeed(0); /* dWorldQuickStep draws the order of its rows */
  record->run = true;
  if (stepper != STEPPER_MLCP) return true;

  ode_mlcp_error error = ode_mlcp_attach(scene->world, NULL);
  if (error == ODE_MLCP_OK) return true;
  fprintf(stderr, "compare: %s\n", ode_mlcp_error_text(error));
  record->run = false;
  return false;
}

static double clock_seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Step with the contacts there are. */
static void step_world(scene *scene, stepper stepper, step_record *record) {
  double start = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
  int taken = stepper == STEPPER_QUICKSTEP
                  ? dWorldQuickStep(scene->world, STEP_SIZE)
                  : dWorldStep(scene->world, STEP_SIZE);
  record->seconds += clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
  record->steps++;
  if (!taken) record->failed++;
  if (stepper != STEPPER_MLCP) return;

  ode_mlcp_report report;
  if (ode_mlcp_last_report(scene->world, &report) != ODE_MLCP_OK) return;
  record->degraded += report.degraded;
  record->unsolved += report.unsolved;
  record->residual = fmax(record->residual, report.residual);
}

static void take_step(scene *scene, stepper stepper, step_record *record) {
  scene_collide(scene);
  step_world(scene, stepper, record);
}

static void end_run(scene *scene) {
  dSetMessageHandler(NULL);
  scene_destroy(scene);
}

/* --- wall ----------------------------------------------------------------- */

static solid *copy_boxes(const scene *scene) {
  solid *boxes = calloc((size_t)scene->n_bodies, sizeof *boxes);
  if (boxes == NULL) return NULL;
  for (int i = 0; i < scene->n_bodies; i++) {
    dVector3 sizes;
    dGeomBoxGetLengths(dBodyGetFirstGeom(scene->bodies[i]), sizes);
    boxes[i].kind = SOLID_BOX;
    memcpy(boxes[i].sizes, sizes, sizeof boxes[i].sizes);
    memcpy(boxes[i].position, dBodyGetPosition(scene->bodies[i]),
           sizeof boxes[i].position);
    memcpy(boxes[i].rotation, dBodyGetRotation(scene->bodies[i]),
           sizeof boxes[i].rotation);
    const dReal *v = dBodyGetLinearVel(scene->bodies[i]);
    boxes[i].speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  }
  return boxes;
}

static void measure_moves(wall_result *wall) {
  wall->sag = wall->slid = 0;
  for (int i = 0; i < wall->boxes; i++) {
    const double *from = wall->start[i].position, *to = wall->end[i].position;
    double down = from[2] - to[2];
    double aside = hypot(to[0] - from[0], to[1] - from[1]);
    if (!(down <= wall->sag)) wall->sag = down; /* a NaN stays */
    if (!(aside <= wall->slid)) wall->slid = aside;
  }
}

/* A line now and then: dWorldStep's wall takes a minute or two. */
static void build_wall(scene *wall, stepper stepper, double limit,
                       step_record *record) {
  const double a_while = 15;
  long steps = lround(WALL_SECONDS / STEP_SIZE);
  double start = clock_seconds(CLOCK_MONOTONIC), said = start, now = start;
  while (record->steps < steps && now - start < limit) {
    take_step(wall, stepper, record);
    now = clock_seconds(CLOCK_MONOTONIC);
    if (now - said < a_while) continue;
    said = now;
    fprintf(stderr, "compare: the wall on %s is at step %ld of %ld ...\n",
            STEPPER_NAMES[stepper], record->steps, steps);
  }
}

bool measure_wall(stepper stepper, int rows, double limit,
                  wall_result *result) {
  memset(result, 0, sizeof *result);
  scene *wall = scene_wall(rows);
  step_record *record = &result->record;
  if (begin_run(wall, stepper, record)) {
    result->boxes = wall->n_bodies;
    result->start = copy_boxes(wall);
    build_wall(wall, stepper, limit, record);
    result->duration = (double)record->steps * STEP_SIZE;
    result->fastest = scene_fastest(wall);
    scene_collide(wall);
    result->deepest = wall->deepest;
    result->end = copy_boxes(wall);
    if (result->start != NULL && result->end != NULL)
      measure_moves(result);
    else
      record->run = false;
  }
  end_run(wall);
  return record->run;
}

void wall_release(wall_result *result) {
  free(result->start);
  free(result->end);
  result->start = result->end = NULL;
}

static bool send(int pipe, const void *data, size_t size) {
  const char *bytes = data;
  while (size > 0) {
    ssize_t sent = write(pipe, bytes, size);
    if (sent <= 0) return false;
    bytes += sent;
    size -= (size_t)sent;
  }
  return true;
}

static bool receive(int pipe, void *data, size_t size) {
  char *bytes = data;
  while (size > 0) {
    ssize_t received = read(pipe, bytes, size);
    if (received <= 0) return false;
    bytes += received;
    size -= (size_t)received;
  }
  return true;
}

bool wall_job_start(stepper stepper, int rows, double limit, wall_job *job) {
  int ends[2];
  fflush(NULL);
  if (pipe(ends) != 0 || (job->process = fork()) < 0) {
    perror("compare: no process for the wall");
    return false;
  }
  if (job->process > 0) {
    close(ends[1]);
    job->pipe = ends[0];
    return true;
  }
  prctl(PR_SET_PDEATHSIG, SIGTERM); /* nobody is left to be told */
  close(ends[0]);
  wall_result result;
  bool sent = measure_wall(stepper, rows, limit, &result);
  size_t size = (size_t)result.boxes * sizeof result.start[0];
  sent = sent && send(ends[1], &result, sizeof result) &&
         send(ends[1], result.start, size) && send(ends[1], result.end, size);
  _exit(sent ? 0 : 1);
}

bool wall_job_finish(wall_job *job, wall_result *result) {
  bool whole = receive(job->pipe, result, sizeof *result);
  if (whole) {
    size_t size = (size_t)result->boxes * sizeof result->start[0];
    result->start = malloc(size);
    result->end = malloc(size);
    whole = result->start != NULL && result->end != NULL &&
            receive(job->pipe, result->start, size) &&
            receive(job->pipe, result->end, size);
  } else {
    memset(result, 0, sizeof *result);
  }
  close(job->pipe);
  waitpid(job->process, NULL, 0);
  if (!whole) fprintf(stderr, "compare: the wall did not come to its end\n");
  result->record.run = whole;
  return whole;
}

/* --- slide ---------------------------------------------------------------- */

double slide_exact_distance(void) {
  return SLIDE_SPEED * SLIDE_SPEED / (2 * MU * GRAVITY);
}

double slide_euler_distance(void) {
  double distance = 0;
  for (double v = SLIDE_SPEED; v > 0; distance += STEP_SIZE * v) {
    v -= MU * GRAVITY * STEP_SIZE;
    if (v < 0) v = 0;
  }
  return distance;
}

static double degrees(double y, double x) { return atan2(y, x) * 180 / M_PI; }

bool measure_slide(stepper stepper, int angle, slide_result *result) {
  /* below it a velocity has no direction worth a name: a thousandth of the
   * start */
  const double moving = 1e-3 * SLIDE_SPEED;
  memset(result, 0, sizeof *result);
  result->heading = NAN;
  scene *slide = scene_slide(SLIDE_ANGLES[angle] * M_PI / 180);
  if (begin_run(slide, stepper, &result->record)) {
    dBodyID box = slide->bodies[0];
    for (int i = 0; i < SLIDE_STEPS; i++) {
      take_step(slide, stepper, &result->record);
      const dReal *position = dBodyGetPosition(box);
      const dReal *v = dBodyGetLinearVel(box);
      result->path[i + 1][0] = position[0];
      result->path[i + 1][1] = position[1];
      result->speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
      if (result->speed > moving) result->heading = degrees(v[1], v[0]);
    }
    const double *stop = result->path[SLIDE_STEPS];
    result->distance = hypot(stop[0], stop[1]);
    result->course = degrees(stop[1], stop[0]);
  }
  end_run(slide);
  return result->record.run;
}

/* --- tilted rod ----------------------------------------------------------- */

bool measure_rod(stepper stepper, int speed, rod_result *result) {
  memset(result, 0, sizeof *result);
  scene *rod = scene_tilted_rod(ROD_SPEEDS[speed]);
  if (begin_run(rod, stepper, &result->record)) {
    scene_collide(rod);
    dJointFeedback feedback;
    memset(&feedback, 0, sizeof feedback);
    if (rod->last_contact != NULL)
      dJointSetFeedback(rod->last_contact, &feedback);
    step_world(rod, stepper, &result->record);
    /* the floor is level: its normal is z */
    result->normal = feedback.f1[2];
    result->tangential = hypot(feedback.f1[0], feedback.f1[1]);
    result->ratio = result->tangential / result->normal;
  }
  end_run(rod);
  return result->record.run;
}
