/* A run from its start to its end, and what is recorded on the way. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "scenes/scene_build.h"
#include "world/rotation.h"

/* More rows than this would not fit into anyone's table. */
static const double MOST_STEPS = 2e6;

/* --- the list ------------------------------------------------------------- */

static const scene *const SCENES[] = {&scene_falling_rod,
                                      &scene_four_balls,
                                      &scene_ellipse,
                                      &scene_disks,
                                      &scene_pendulum,
                                      &scene_double_pendulum,
                                      &scene_stick_slip,
                                      &scene_two_carts,
                                      &scene_inconsistent_joint,
                                      &scene_painleve_rod,
                                      &scene_rover,
                                      &scene_pawl,
                                      NULL};

const scene *const *scene_all(void) { return SCENES; }

const scene *scene_find(const char *name) {
  for (int i = 0; SCENES[i] != NULL; i++)
    if (strcmp(SCENES[i]->name, name) == 0) return SCENES[i];
  return NULL;
}

/* --- settings ------------------------------------------------------------- */

bool scene_default_settings(const scene *scene, scene_settings *settings,
                            char *message, size_t message_size) {
  *settings = (scene_settings){.h = scene->h,
                               .time = scene->time,
                               .gravity = scene->gravity,
                               .spring = scene->spring,
                               .damper = scene->damper,
                               .restitution = scene->restitution};
  ode_mlcp_default_options(&settings->options);
  // the schemes as the papers have them: errors are corrected by velocities
  settings->options.max_correction = INFINITY;
  char words[160];
  snprintf(words, sizeof words, "%s", scene->options);
  char *rest = NULL;
  for (char *word = strtok_r(words, " ", &rest); word != NULL;
       word = strtok_r(NULL, " ", &rest)) {
    char *value = strchr(word, '=');
    *value++ = '\0';
    if (scene_set_option(settings, word, value, message, message_size) !=
        ODE_MLCP_OK)
      return false;
  }
  return true;
}

ode_mlcp_error scene_set_option(scene_settings *settings, const char *name,
                                const char *value, char *message,
                                size_t message_size) {
  ode_mlcp_error error = ode_mlcp_set_option(&settings->options, name, value,
                                             message, message_size);
  if (error == ODE_MLCP_OK && strcmp(name, "scheme") == 0)
    snprintf(settings->scheme, sizeof settings->scheme, "%s", value);
  return error;
}

static bool check_range(scene_run_state *run, const char *name, double value,
                        double lowest, double highest, const char *allowed) {
  if (value >= lowest && value <= highest) return true;
  return scene_fail(run, "%s: '%g' is not %s", name, value, allowed);
}

static bool check_settings(scene_run_state *run) {
  const scene_settings *s = run->settings;
  if (!check_range(run, "h", s->h, 1e-12, 1e6, "a step in s, 1e-12 to 1e6") ||
      !check_range(run, "time", s->time, 0, 1e9, "a time in s, 0 to 1e9") ||
      !check_range(run, "gravity", s->gravity, 0, 1e6,
                   "an acceleration in m/s^2, 0 to 1e6") ||
      !check_range(run, "spring", s->spring, 0, 1e12,
                   "a stiffness in N/m, 0 to 1e12") ||
      !check_range(run, "damper", s->damper, 0, 1e12,
                   "a damping in N s/m, 0 to 1e12") ||
      !check_range(run, "restitution", s->restitution, 0, 1,
                   "a number from 0 to 1"))
    return false;
  if (s->time / s->h > MOST_STEPS)
    return scene_fail(run, "%g s in steps of %g s are more than %g steps",
                      s->time, s->h, MOST_STEPS);
  return true;
}

/* --- a look at the world -------------------------------------------------- */

/* Add what each body has turned since the last look. */
static void follow_turns(scene_run_state *run) {
  for (int b = 0; b < run->n_bodies; b++) {
    double now[4], *seen = run->seen[b], before[4], change[4];
    real_read(now, dBodyGetQuaternion(run->bodies[b]), 4);
    for (int i = 0; i < 4; i++) before[i] = i == 0 ? seen[i] : -seen[i];
    quaternion_multiply(change, now, before);
    memcpy(seen, now, sizeof run->seen[b]);
    double sine = sqrt(vec3_dot(change + 1, change + 1));
    if (sine == 0) continue;
    // the shorter way round
    double angle = 2 * atan2(sine, fabs(change[0]));
    if (change[0] < 0) angle = -angle;
    for (int i = 0; i < 3; i++)
      run->turned[b][i] += angle * change[1 + i] / sine;
  }
}

static double body_energy(const scene_run_state *run, dBodyID body) {
  dMass mass;
  dVector3 turned, gravity;
  double v[3], spin[3];
  const dReal *w = dBodyGetAngularVel(body);
  dBodyGetMass(body, &mass);
  dBodyVectorFromWorld(body, w[0], w[1], w[2], turned);
  real_read(v, dBodyGetLinearVel(body), 3);
  real_read(spin, turned, 3);
  dWorldGetGravity(run->world, gravity);
  double energy =
      0.5 * mass.mass * vec3_dot(v, v) -
      mass.mass * vec3_dot(real3(gravity).at, real3(dBodyGetPosition(body)).at);
  for (int i = 0; i < 3; i++)
    energy += 0.5 * spin[i] * vec3_dot(real3(mass.I + 4 * i).at, spin);
  return energy;
}

static int coordinates_of_body(scene_frame frame) {
  switch (frame) {
    case SCENE_FRAME_HEIGHT: return 1;
    case SCENE_FRAME_POINTS: return 2;
    case SCENE_FRAME_PLANAR: return 3;
    default: return 6;
  }
}

static void read_body(const scene_run_state *run, int b, double q[],
                      double v[]) {
  const dReal *x = dBodyGetPosition(run->bodies[b]);
  const dReal *u = dBodyGetLinearVel(run->bodies[b]);
  const dReal *w = dBodyGetAngularVel(run->bodies[b]);
  int first = run->frame == SCENE_FRAME_HEIGHT ? 2 : 0;
  int last = run->frame == SCENE_FRAME_SPATIAL || first == 2 ? 3 : 2;
  for (int i = first; i < last; i++) {
    q[i - first] = x[i];
    v[i - first] = u[i];
  }
  if (run->frame == SCENE_FRAME_PLANAR) {
    q[2] = run->turned[b][2];
    v[2] = w[2];
  }
  for (int i = 0; run->frame == SCENE_FRAME_SPATIAL && i < 3; i++) {
    q[3 + i] = run->turned[b][i];
    v[3 + i] = w[i];
  }
}

/* Row `row` of the record. @return false where a number is not finite. */
static bool record(scene_run_state *run, long row) {
  scene_result *result = run->result;
  int per_body = coordinates_of_body(run->frame);
  double *q = result->positions + row * result->n_positions;
  double *v = result->velocities + row * result->n_velocities;
  double energy = 0;
  follow_turns(run);
  for (int b = 0; b < run->n_bodies; b++) {
    read_body(run, b, q + per_body * b, v + per_body * b);
    energy += body_energy(run, run->bodies[b]);
  }
  if (run->energy != NULL) energy += run->energy(run);
  result->times[row] = run->time;
  if (run->extra != NULL) result->extras[row] = run->extra(run);
  result->energies[row] = energy;
  result->infeasibilities[row] =
      run->infeasibility != NULL ? run->infeasibility(run) : scene_overlap(run);
  if (run->failed) return false;
  if (!isfinite(energy) || !isfinite(result->infeasibilities[row]))
    return scene_fail(run, "not a finite number at %g s", run->time);
  return true;
}

static const char *const HEIGHT_NAMES[] = {"z"};
static const char *const PLANAR_NAMES[] = {"x", "y", "angle"};
static const char *const SPATIAL_NAMES[] = {"x", "y", "z", "rx", "ry", "rz"};

/* Room for the whole record. */
static bool make_room(scene_run_state *run, long n_steps) {
  scene_result *result = run->result;
  size_t rows = (size_t)n_steps + 1;
  int per_body = coordinates_of_body(run->frame);
  result->n_bodies = run->n_bodies;
  result->n_positions = result->n_velocities = per_body * run->n_bodies;
  result->coordinates_of_body = per_body;
  result->coordinate_names = per_body == 1   ? HEIGHT_NAMES
                             : per_body <= 3 ? PLANAR_NAMES
                                             : SPATIAL_NAMES;
  size_t n = (size_t)result->n_positions + 1;
  result->times = calloc(rows, sizeof(double));
  result->energies = calloc(rows, sizeof(double));
  result->infeasibilities = calloc(rows, sizeof(double));
  result->extras = calloc(rows, sizeof(double));
  result->positions = calloc(rows * n, sizeof(double));
  result->velocities = calloc(rows * n, sizeof(double));
  return (result->times != NULL && result->energies != NULL &&
          result->infeasibilities != NULL && result->extras != NULL &&
          result->positions != NULL && result->velocities != NULL) ||
         scene_fail(run, "memory ran out");
}

/* --- steps ---------------------------------------------------------------- */

/* Events that the scheme itself found within a step. */
static void note_found_events(scene_run_state *run,
                              const ode_mlcp_report *report) {
  ode_mlcp_event event;
  for (int i = 0; ode_mlcp_last_event(run->world, i, &event) == ODE_MLCP_OK;
       i++)
    scene_add_event(
        run, event.time,
        event.kind == ODE_MLCP_EVENT_COLLISION ? "collision" : "transition",
        -1);
  if (report->zeno) scene_add_event(run, report->time, "zeno", -1);
}

static bool step(scene_run_state *run, double h) {
  scene_result *result = run->result;
  ode_mlcp_report report;
  if (run->push != NULL) run->push(run, run->time);
  ode_mlcp_error error = ode_mlcp_step(run->world, h, &report);
  if (error != ODE_MLCP_OK)
    return scene_fail(run, "the step at %g s: %s", run->time,
                      ode_mlcp_error_text(error));
  if (run->after != NULL) run->after(run);
  note_found_events(run, &report);
  result->residual_worst = fmax(result->residual_worst, report.residual);
  result->unsolved += report.unsolved;
  result->degraded += report.degraded;
  if (report.contacts > result->contacts_most)
    result->contacts_most = report.contacts;
  return true;
}

static bool take_steps(scene_run_state *run) {
  scene_result *result = run->result;
  double h = run->settings->h, end = run->settings->time;
  long whole = (long)floor(end / h * (1 + 1e-12) + 1e-9);
  double rest = end - (double)whole * h;
  bool part = rest > 1e-9 * h;
  long n_steps = whole + part;
  if (!make_room(run, n_steps) || !record(run, 0)) return false;
  for (long i = 0; i < n_steps; i++) {
    bool last = part && i == n_steps - 1;
    if (!step(run, last ? rest : h)) return false;
    run->time = last ? end : (double)(i + 1) * h;
    if (!record(run, i + 1)) return false;
    scene_note_events(run);
    if (run->failed) return false;
    result->n_steps = i + 1;
  }
  return true;
}

static void sum_up(scene_run_state *run) {
  scene_result *result = run->result;
  long n = result->n_steps;
  result->energy_start = result->energies[0];
  result->energy_end = result->energies[n];
  for (long i = 0; i <= n; i++) {
    double bad = result->infeasibilities[i];
    result->infeasibility_max = fmax(result->infeasibility_max, bad);
    if (10 * i >= 9 * n)
      result->infeasibility_late = fmax(result->infeasibility_late, bad);
  }
  for (int k = 0; k < SCENE_ERRORS; k++) result->errors[k] = NAN;
  if (run->judge != NULL) run->judge(run);
}

/* --- the whole ------------------------------------------------------------ */

static bool open_world(scene_run_state *run) {
  const scene_settings *settings = run->settings;
  run->world = dWorldCreate();
  dWorldSetGravity(run->world, 0, 0 - settings->gravity, 0); // -y is down
  run->space = dSimpleSpaceCreate(0);
  run->joints = dJointGroupCreate(0);
  run->gaps = gap_context_create(&memory_from_malloc);
  if (run->gaps == NULL) return scene_fail(run, "memory ran out");
  // the paper's gamma is 1; joints take it over when they are made
  double erp = settings->options.erp;
  dWorldSetERP(run->world, erp == ODE_MLCP_ERP_HOST ? 1 : erp);
  dWorldSetCFM(run->world, 0);
  run->surface.parameters.mode = dContactApprox1;

  ode_mlcp_error error = ode_mlcp_attach(run->world, &settings->options);
  if (error == ODE_MLCP_OK)
    error = ode_mlcp_set_collision(run->world, scene_collide, run);
  if (error != ODE_MLCP_OK)
    return scene_fail(run, "%s", ode_mlcp_error_text(error));
  if (!run->scene->build(run))
    return scene_fail(run, "%s could not be built", run->scene->name);
  for (int b = 0; b < run->n_bodies; b++)
    real_read(run->seen[b], dBodyGetQuaternion(run->bodies[b]), 4);
  return !run->failed;
}

static void close_world(scene_run_state *run) {
  gap_context_destroy(run->gaps);
  if (run->joints != NULL) dJointGroupDestroy(run->joints);
  if (run->space != NULL) dSpaceDestroy(run->space);
  if (run->world != NULL) dWorldDestroy(run->world);
  if (run->terrain != NULL) dGeomHeightfieldDataDestroy(run->terrain);
}

static scene_result *make_result(const scene *scene,
                                 const scene_settings *settings) {
  scene_result *result = calloc(1, sizeof *result);
  if (result == NULL) return NULL;
  result->scene = scene;
  result->settings = *settings;
  return result;
}

scene_result *scene_run(const scene *scene, const scene_settings *settings,
                        char *message, size_t message_size) {
  scene_run_state *run = calloc(1, sizeof *run);
  scene_result *result = make_result(scene, settings);
  if (run == NULL || result == NULL) {
    snprintf(message, message_size, "memory ran out");
    free(run);
    scene_result_destroy(result);
    return NULL;
  }
  run->scene = scene;
  run->settings = settings;
  run->result = result;
  run->message = message;
  run->message_size = message_size;
  if (check_settings(run)) {
    dInitODE2(0);
    if (open_world(run) && take_steps(run)) sum_up(run);
    close_world(run);
    dCloseODE();
    gap_ellipsoid_host_closed();
  }
  bool failed = run->failed;
  free(run);
  if (!failed) return result;
  scene_result_destroy(result);
  return NULL;
}

void scene_result_destroy(scene_result *result) {
  if (result == NULL) return;
  free(result->times);
  free(result->energies);
  free(result->infeasibilities);
  free(result->extras);
  free(result->positions);
  free(result->velocities);
  free(result->events);
  free(result);
}
