/* A ball thrown at three others in a row: ST sec. 4.2, table 1. */
#include <math.h>

#include "scenes/scene_build.h"

enum { BALLS = 4, EDGES = 8 };

static const double RADIUS = 0.1;

/* The largest total variation of a component of the velocity. */
static double variation(const scene_result *result) {
  double worst = 0;
  for (int i = 0; i < result->n_velocities; i++) {
    double sum = 0;
    for (long row = 1; row <= result->n_steps; row++)
      sum += fabs(result->velocities[row * result->n_velocities + i] -
                  result->velocities[(row - 1) * result->n_velocities + i]);
    worst = fmax(worst, sum);
  }
  return worst;
}

static void judge_four_balls(scene_run_state *run) {
  run->result->errors[2] = variation(run->result);
}

/* Eight edges, the first along the vertical, on the table along an axis. */
static void set_friction(ode_mlcp_surface *surface, double friction) {
  surface->parameters.mu = friction;
  surface->parameters.mode |= dContactFDir1;
  surface->fdir1[2] = 1;
  surface->n_polygon = EDGES / 2;
  for (int i = 0; i < EDGES / 2; i++) {
    surface->polygon[i][0] = friction * cos(2 * M_PI * i / EDGES);
    surface->polygon[i][1] = friction * sin(2 * M_PI * i / EDGES);
  }
}

static bool build_four_balls(scene_run_state *run) {
  static const double centres[BALLS][3] = {
      {0, 0, 1}, {1, 0, 0.1}, {1.2 + 1e-5, 0, 0.1}, {1.4 + 2e-5, 0, 0.1}};
  const double inertia[3] = {0.004, 0.004, 0.004};
  dWorldSetGravity(run->world, 0, 0, -run->settings->gravity);
  run->frame = SCENE_FRAME_SPATIAL;
  set_friction(&run->surface, 0.4);
  run->judge = judge_four_balls;
  for (int i = 0; i < BALLS; i++) {
    const double *x = centres[i];
    dBodyID ball = scene_add_spatial(run, x[0], x[1], x[2], 1, inertia);
    if (ball == NULL ||
        !scene_add_centred(run, dCreateSphere(run->space, RADIUS), ball))
      return false;
    if (i == 0) dBodySetLinearVel(ball, 1.5, 0.1, 0);
  }
  return scene_add_fixed(run, dCreatePlane(run->space, 0, 0, 1, 0));
}

static const scene_reference REFERENCES[] = {
    {"st", 0.02, {0.5050, 0.2505, 19.4046}},
    {"st", 0.01, {0.3523, 0.2015, 19.1728}},
    {"st", 0.005, {0.1657, 0.0838, 19.1702}},
    {"st", 0.0025, {0.0700, 0.0298, 19.0862}},
    {NULL, 0, {0}}};

const scene scene_four_balls = {
    .name = "four-balls",
    .summary = "a ball hits the table, then three others at once",
    .source = "Stewart & Trinkle 2000, sec. 4.2",
    .h = 0.0025,
    .time = 1,
    .gravity = 9.82, // meets the paper's table; it says none
    .knows = SCENE_GRAVITY,
    .options = "scheme=st sweep=off", // the paper linearises at q^ alone
    .step_sizes = {0.02, 0.01, 0.005, 0.0025, 0.00125},
    .error_kinds = {{"velocity", "m, rad"},
                    {"position", "m, rad"},
                    {"variation", "m/s, rad/s"}},
    .references = REFERENCES,
    .compare = scene_compare_ways,
    .infeasibility_unit = "m",
    .build = build_four_balls};
