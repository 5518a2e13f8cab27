/* What second-order steps and their events cost beside steps of ah on the same
 * scene.
 *
 *   bench_events [STEPS [SEED]]
 *
 * For crowds of n boxes that slide to a stop and that rest, for stacks, walls, piles,
 * balls that fly at edges, boxes that pivot off them, and vehicles, drawn by SEED:
 * milliseconds of a step of ah, then for each other scheme how many times
 * that its mean, its median and its worst step cost, and the transitions,
 * collisions and solves of a step. The first steps, which make room, do not count.
 */
#include <ode/ode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_clock.h"
#include "ode_mlcp.h"

enum { WARM_UP = 3, MOST_STEPS = 1000 };

static dWorldID world;
static dSpaceID space;
static unsigned long random_state, seed = 1;

static double uniform(double from, double to) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return from + (to - from) * (double)(random_state >> 40 & 0xffffff) / 0x1p24;
}

static dBodyID add_box(double x, double y, double z, double a, double b,
                       double c, double speed) {
  dBodyID body = dBodyCreate(world);
  dMass mass;
  dMassSetBox(&mass, 100, a, b, c);
  dBodySetMass(body, &mass);
  dBodySetPosition(body, x, y, z);
  dBodySetLinearVel(body, speed, 0, 0);
  dGeomSetBody(dCreateBox(space, a, b, c), body);
  return body;
}

/* --- scenes ------------------------------------------------------------------- */

static void slide(int n) {
  for (int i = 0; i < n; i++)
    add_box(0, i, 0.15, 0.3, 0.3, 0.3, uniform(0.5, 2.4));
}

static void rest(int n) {
  for (int i = 0; i < n; i++) add_box(0, i, 0.15, 0.3, 0.3, 0.3, 0);
}

static void stack(int n) {
  for (int i = 0; i < n; i++)
    add_box(0.01 * (i % 3), 0.01 * (i % 2), 0.15 + 0.3 * i, 0.3, 0.3, 0.3, 0);
}

static void wall(int n) {
  for (int row = 0; row < n; row++)
    for (int i = 0; i < n; i++)
      add_box(0, 0.42 * i + 0.2 * (row % 2), 0.1 + 0.2 * row, 0.3, 0.4, 0.2, 0);
}

static void pile(int n) {
  for (int i = 0; i < n; i++)
    add_box(0.35 * (i % 3) + uniform(0, 0.1), 0.35 * (i / 3 % 3), /* */
            0.2 + 0.4 * (i / 9), 0.3, 0.2, 0.25, 0);
}

static dBodyID add_ball(double x, double y, double z, double radius,
                        double mass) {
  dBodyID body = dBodyCreate(world);
  dMass of;
  dMassSetSphereTotal(&of, mass, radius);
  dBodySetMass(body, &of);
  dBodySetPosition(body, x, y, z);
  dGeomSetBody(dCreateSphere(space, radius), body);
  return body;
}

static void add_block(double x, double y, double z, double a, double b,
                      double c) {
  dGeomSetPosition(dCreateBox(space, a, b, c), x, y, z);
}

/* Balls fly level at the upper edge of a block. */
static void edges(int n) {
  add_block(0, 0, 0.5, 1, 4.0 * n, 1);
  for (int i = 0; i < n; i++) {
    double radius = uniform(0.05, 0.2);
    dBodyID ball =
        add_ball(0.8 + uniform(0, 0.5), i - 0.5 * n,
                 1 + radius * uniform(0.1, 0.9), radius, uniform(0.1, 10));
    dBodySetLinearVel(ball, -uniform(1, 30), 0, 0);
  }
}

/* Boxes that lie half over the edge of a block tip off it. */
static void pivots(int n) {
  add_block(0, 0, 0.5, 1, 4.0 * n, 1);
  for (int i = 0; i < n; i++) {
    double length = uniform(0.2, 0.6), height = uniform(0.05, 0.3);
    add_box(0.5 + length * uniform(-0.1, 0.3), i - 0.5 * n, 1 + 0.5 * height,
            length, 0.3, height, uniform(0, 0.5));
  }
}

/* Cars of a box and four wheels on hinges, the hind ones driven. */
static void vehicles(int n) {
  for (int i = 0; i < n; i++) {
    double radius = uniform(0.15, 0.3), y = 3 * i, speed = uniform(0, 8);
    dBodyID chassis = add_box(0, y, radius + 0.2, 1.6, 0.8, 0.3, speed);
    for (int k = 0; k < 4; k++) {
      double x = k < 2 ? 0.6 : -0.6, side = k % 2 == 0 ? 0.6 : -0.6;
      dBodyID wheel = add_ball(x, y + side, radius, radius, 5);
      dBodySetLinearVel(wheel, speed, 0, 0);
      dBodySetAngularVel(wheel, 0, speed / radius, 0);
      dJointID axle = dJointCreateHinge(world, 0);
      dJointAttach(axle, wheel, chassis);
      dJointSetHingeAnchor(axle, x, y + side, radius);
      dJointSetHingeAxis(axle, 0, 1, 0);
      if (k < 2) continue;
      dJointSetHingeParam(axle, dParamVel, 10 / radius);
      dJointSetHingeParam(axle, dParamFMax, 20);
    }
  }
}

typedef struct bench_scene {
  const char *name;
  void (*build)(int n);
  int n;
} bench_scene;

static const bench_scene SCENES[] = {
    {"sliding boxes", slide, 1},   {"sliding boxes", slide, 4},
    {"sliding boxes", slide, 16},  {"sliding boxes", slide, 64},
    {"sliding boxes", slide, 150}, {"resting boxes", rest, 1},
    {"resting boxes", rest, 150},  {"stack", stack, 5},
    {"stack", stack, 10},          {"wall of n x n", wall, 5},
    {"wall of n x n", wall, 8},    {"pile, falling", pile, 27},
    {"edges", edges, 8},           {"pivots", pivots, 8},
    {"vehicles", vehicles, 4}};

/* --- a run -------------------------------------------------------------------- */

static int surface(void *context, dGeomID a, dGeomID b,
                   ode_mlcp_surface *surface) {
  (void)context;
  (void)a;
  (void)b;
  surface->parameters.mode = dContactApprox1;
  surface->parameters.mu = 0.5;
  return 1;
}

static int collide(void *context, dWorldID of, ode_mlcp_contact_list *list) {
  (void)of;
  return ode_mlcp_collide_space(list, space, surface, context) == ODE_MLCP_OK;
}

typedef struct measure {
  double mean, median, worst; /* s */
  double transitions, collisions, solves;
} measure;

static int compare_doubles(const void *left, const void *right) {
  const double *a = left, *b = right;
  return (*a > *b) - (*a < *b);
}

static measure run(const bench_scene *scene, const char *scheme, int steps) {
  ode_mlcp_options options;
  char message[200];
  measure out = {0};
  double seconds[MOST_STEPS];
  random_state = seed;
  world = dWorldCreate();
  space = dHashSpaceCreate(0);
  dWorldSetGravity(world, 0, 0, -9.81);
  dWorldSetCFM(world, 0);
  ode_mlcp_default_options(&options);
  if (ode_mlcp_set_option(&options, "scheme", scheme, message,
                          sizeof message) != ODE_MLCP_OK ||
      ode_mlcp_attach(world, &options) != ODE_MLCP_OK ||
      ode_mlcp_set_collision(world, collide, NULL) != ODE_MLCP_OK)
    exit(1);
  dCreatePlane(space, 0, 0, 1, 0);
  scene->build(scene->n);
  for (int i = -WARM_UP; i < steps; i++) {
    ode_mlcp_report report;
    double start = bench_seconds();
    if (ode_mlcp_step(world, 0.01, &report) != ODE_MLCP_OK) exit(1);
    if (i < 0) continue;
    seconds[i] = bench_seconds() - start;
    out.mean += seconds[i] / steps;
    out.transitions += (double)report.transitions / steps;
    out.collisions += (double)report.collisions / steps;
    out.solves += (double)report.solves / steps;
  }
  qsort(seconds, (size_t)steps, sizeof *seconds, compare_doubles);
  out.median = seconds[steps / 2];
  out.worst = seconds[steps - 1];
  dSpaceDestroy(space);
  dWorldDestroy(world);
  return out;
}

int main(int count, char **arguments) {
  static const char *const schemes[] = {"trapezoid", "conserving"};
  int steps = count > 1 ? atoi(arguments[1]) : 60;
  if (count > 2) seed = strtoul(arguments[2], NULL, 10);
  if (steps < 1 || steps > MOST_STEPS || count > 3) {
    fprintf(stderr, "usage: bench_events [STEPS [SEED]], 1 to %d steps\n",
            MOST_STEPS);
    return 2;
  }
  dInitODE2(0);
  printf("%-14s %4s %8s  %-10s %6s %6s %6s %7s %7s %7s\n", "scene", "n",
         "ah [ms]", "scheme", "mean", "median", "worst", "transit", "collide",
         "solves");
  for (size_t i = 0; i < sizeof SCENES / sizeof *SCENES; i++) {
    measure ah = run(&SCENES[i], "ah", steps);
    for (int k = 0; k < 2; k++) {
      measure of = run(&SCENES[i], schemes[k], steps);
      printf("%-14s %4d %8.3f  %-10s %6.2f %6.2f %6.1f %7.2f %7.2f %7.1f\n",
             SCENES[i].name, SCENES[i].n, 1e3 * ah.mean, schemes[k],
             of.mean / ah.mean, of.median / ah.median, of.worst / ah.mean,
             of.transitions, of.collisions, of.solves);
    }
    fflush(stdout);
  }
  dCloseODE();
  return 0;
}
