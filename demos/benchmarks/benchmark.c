/* Benchmarks that the authors of other engines publish figures of, as programs
 * on the plain ODE API, each defined below; docs/bench.md has the figures.
 *
 *   benchmark NAME [--stepper step|quick[:N]|SCHEME] [--step H] [--seconds T]
 *             [--heading DEGREES] [--seed N] [--erp E] [--bodies N] [--contacts]
 *             [--limit SECONDS]
 *
 * SCHEME is one of ode-mlcp's; the world is then attached and has a collision
 * function, or with --contacts the contact joints out of dCollide that the stock
 * steppers get. --limit ends a run after so much processor time in steps. Prints
 * one line: name value pairs.
 */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ode_mlcp.h>

enum { MOST_CONTACTS = 10 }; /* of a pair: the benchmarks' own number */
static const double GRAVITY = 9.81;

/* Both numbers of a pair are the products of its geoms'. */
typedef struct material {
  double mu, restitution;
} material;

typedef struct trial {
  double step, seconds;
  double heading; /* rad, of the force that rolls */
  uint64_t seed;
  double erp;
  int n_bodies; /* of the free boxes */
  double limit; /* s */

  dWorldID world;
  dSpaceID space;
  dJointGroupID contacts;
  dBodyID *bodies; /* [n] */
  int n, room;
  double start_energy; /* J */
} trial;

static int n_messages; /* of the host, counted and not shown */

static void count_message(int number, const char *text, va_list arguments) {
  (void)number, (void)text, (void)arguments;
  n_messages++;
}

static void fail(const char *what, const char *value) {
  fprintf(stderr, "benchmark: %s%s%s\n", what, *value != '\0' ? ": " : "",
          value);
  exit(2);
}

/* ---- building ---- */

static dBodyID add_body(trial *trial, double x, double y, double z) {
  if (trial->n == trial->room) {
    trial->room = 2 * trial->room + 16;
    trial->bodies =
        realloc(trial->bodies, (size_t)trial->room * sizeof *trial->bodies);
    if (trial->bodies == NULL) fail("out of memory", "");
  }
  dBodyID body = dBodyCreate(trial->world);
  dBodySetPosition(body, x, y, z);
  return trial->bodies[trial->n++] = body;
}

static void add_ball(trial *trial, double radius, double mass, material *of,
                     const double at[3]) {
  dBodyID body = add_body(trial, at[0], at[1], at[2]);
  dMass inertia;
  dMassSetSphereTotal(&inertia, mass, radius);
  dBodySetMass(body, &inertia);
  dGeomID geom = dCreateSphere(trial->space, radius);
  dGeomSetBody(geom, body);
  dGeomSetData(geom, of);
}

static void add_box(trial *trial, const double size[3], double mass,
                    material *of, const double at[3]) {
  dBodyID body = add_body(trial, at[0], at[1], at[2]);
  dMass inertia;
  dMassSetBoxTotal(&inertia, mass, size[0], size[1], size[2]);
  dBodySetMass(body, &inertia);
  dGeomID geom = dCreateBox(trial->space, size[0], size[1], size[2]);
  dGeomSetBody(geom, body);
  dGeomSetData(geom, of);
}

static void add_ground(trial *trial, material *of) {
  dGeomSetData(dCreatePlane(trial->space, 0, 0, 1, 0), of);
}

/* ---- contacts ---- */

static bool surface_of(dGeomID geom1, dGeomID geom2, dSurfaceParameters *out) {
  const material *a = dGeomGetData(geom1), *b = dGeomGetData(geom2);
  if (a == NULL || b == NULL) return false;
  memset(out, 0, sizeof *out);
  out->mode = dContactBounce | dContactApprox1;
  out->mu = a->mu * b->mu;
  out->bounce = a->restitution * b->restitution;
  return true;
}

static void make_contacts(void *data, dGeomID geom1, dGeomID geom2) {
  trial *trial = data;
  dContact contacts[MOST_CONTACTS];
  dSurfaceParameters surface;
  if (!surface_of(geom1, geom2, &surface)) return;
  int n = dCollide(geom1, geom2, MOST_CONTACTS, &contacts[0].geom,
                   sizeof contacts[0]);
  for (int i = 0; i < n; i++) {
    contacts[i].surface = surface;
    dJointAttach(
        dJointCreateContact(trial->world, trial->contacts, &contacts[i]),
        dGeomGetBody(geom1), dGeomGetBody(geom2));
  }
}

static int surface_of_pair(void *context, dGeomID geom1, dGeomID geom2,
                           ode_mlcp_surface *surface) {
  (void)context;
  return surface_of(geom1, geom2, &surface->parameters);
}

static int collide(void *context, dWorldID world, ode_mlcp_contact_list *list) {
  const trial *trial = context;
  (void)world;
  return ode_mlcp_collide_space(list, trial->space, surface_of_pair, NULL) ==
         ODE_MLCP_OK;
}

/* ---- what is measured ---- */

/* R I R^T w of a body, about its centre. */
static void spin_of(dBodyID body, double L[3]) {
  dMass mass;
  dBodyGetMass(body, &mass);
  const dReal *R = dBodyGetRotation(body), *w = dBodyGetAngularVel(body);
  double local[3], turned[3];
  for (int i = 0; i < 3; i++)
    local[i] = R[i] * w[0] + R[4 + i] * w[1] + R[8 + i] * w[2];
  for (int i = 0; i < 3; i++)
    turned[i] = mass.I[4 * i] * local[0] + mass.I[4 * i + 1] * local[1] +
                mass.I[4 * i + 2] * local[2];
  for (int i = 0; i < 3; i++)
    L[i] = R[4 * i] * turned[0] + R[4 * i + 1] * turned[1] +
           R[4 * i + 2] * turned[2];
}

static double energy_of(const trial *trial) {
  dVector3 gravity;
  dWorldGetGravity(trial->world, gravity);
  double sum = 0;
  for (int i = 0; i < trial->n; i++) {
    dBodyID body = trial->bodies[i];
    dMass mass;
    double L[3];
    dBodyGetMass(body, &mass);
    spin_of(body, L);
    const dReal *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body);
    const dReal *p = dBodyGetPosition(body);
    for (int k = 0; k < 3; k++)
      sum +=
          mass.mass * (v[k] * v[k] / 2 - gravity[k] * p[k]) + L[k] * w[k] / 2;
  }
  return sum;
}

static double square(double x) { return x * x; }

/* A benchmark: what it looks like, what drives it, and its error at a time, of
 * which the benchmark's figure is the mean over all steps, taken before each
 * step, or the largest of all. */
typedef struct benchmark {
  const char *name, *what;
  double step, seconds, erp;
  void (*build)(trial *);
  void (*drive)(trial *); /* or NULL */
  double (*error)(const trial *, double time);
  bool largest;
  bool (*ended)(const trial *); /* or NULL */
} benchmark;

/* ---- rolling: a slab pulled from under 25 balls ---- */

static const double SLAB_MASS = 10, BALL_MASS = 1, PULL = 150;

static void build_rolling(trial *trial) {
  static material ground = {0.4, 0}, slab = {1, 0}, ball = {0.8, 0};
  add_ground(trial, &ground);
  add_box(trial, (double[]){20, 20, 1}, SLAB_MASS, &slab,
          (double[]){0, 0, 0.5 - 2e-5});
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 5; j++)
      add_ball(trial, 0.5, BALL_MASS, &ball,
               (double[]){2 * i - 4.0, 2 * j - 4.0, 1.5 - 6e-5});
}

static void drive_rolling(trial *trial) {
  dBodyAddForce(trial->bodies[0], PULL * cos(trial->heading),
                PULL * sin(trial->heading), 0);
}

/* The slab slides, the balls roll on it without slipping: a ball's friction f
 * gives it f / m and its surface 3.5 f / m, the slab's acceleration. */
static double error_rolling(const trial *trial, double time) {
  double ground = 0.4 * (SLAB_MASS + 25 * BALL_MASS) * GRAVITY;
  double f = (PULL - ground) / SLAB_MASS / (3.5 / BALL_MASS + 25 / SLAB_MASS);
  double right[2] = {(PULL - ground - 25 * f) / SLAB_MASS * time,
                     f / BALL_MASS * time};
  double sum = 0;
  for (int i = 0; i < 2; i++) {
    const dReal *v = dBodyGetLinearVel(trial->bodies[i]);
    sum += square(v[0] - right[i] * cos(trial->heading)) +
           square(v[1] - right[i] * sin(trial->heading)) + square(v[2]);
  }
  return sum;
}

/* ---- bouncing: 49 balls that lose nothing ---- */

static void build_bouncing(trial *trial) {
  static material ground = {0, 1}, ball = {0, 1};
  add_ground(trial, &ground);
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 7; j++)
      add_ball(trial, 0.1, 10, &ball, (double[]){2.0 * i, 2.0 * j, 5});
}

static double error_energy(const trial *trial, double time) {
  (void)time;
  return square(energy_of(trial) - trial->start_energy);
}

/* ---- 666: 216 balls, laid down or dropped ---- */

/* Uniform in [0, 1): Steele, Lea and Flood's SplitMix64. */
static double draw(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void build_cube_of_balls(trial *trial, material *ground, material *ball,
                                double lowest) {
  uint64_t state = trial->seed;
  add_ground(trial, ground);
  for (int k = 0; k < 6; k++)
    for (int j = 0; j < 6; j++)
      for (int i = 0; i < 6; i++) {
        double at[3] = {0.21 * i, 0.21 * j, lowest + 0.21 * k};
        for (int axis = 0; axis < 3; axis++) at[axis] += 1e-3 * draw(&state);
        add_ball(trial, 0.1, 10, ball, at);
      }
}

static void build_666(trial *trial) {
  static material ground = {0, 0}, ball = {0, 0};
  build_cube_of_balls(trial, &ground, &ball, 0.101);
}

static void build_elastic_666(trial *trial) {
  static material ground = {0, 1}, ball = {0, 1};
  build_cube_of_balls(trial, &ground, &ball, 1.101);
}

/* The squares of how far balls of 0.1 m are in each other and in the ground. */
static double error_penetration(const trial *trial, double time) {
  (void)time;
  double sum = 0;
  for (int i = 0; i < trial->n; i++) {
    const dReal *a = dBodyGetPosition(trial->bodies[i]);
    sum += square(fmax(0, 0.1 - a[2]));
    for (int j = 0; j < i; j++) {
      const dReal *b = dBodyGetPosition(trial->bodies[j]);
      double d2 =
          square(a[0] - b[0]) + square(a[1] - b[1]) + square(a[2] - b[2]);
      if (d2 < square(0.2)) sum += square(0.2 - sqrt(d2));
    }
  }
  return sum;
}

/* ---- Kapla: a tower of 102 planks ---- */

static void build_kapla(trial *trial) {
  static material wood = {0.8944271909999159, 0}; // 0.8 between two
  const double s = 0.05, l = 0.2, tall = 0.1, mass = 10;
  add_ground(trial, &wood);
  for (int floor = 0; floor < 6; floor++) {
    double z = 0.2 * floor;
    for (int j = 0; j < 8; j++)
      add_box(trial, (double[]){s, l + 0.05, tall}, mass, &wood,
              (double[]){j * l, 0, z + 0.05});
    for (int j = 0; j < 4; j++)
      add_box(trial, (double[]){l, s, tall}, mass, &wood,
              (double[]){2 * j * l + 0.1, -l / 2, z + 0.15});
    for (int j = 0; j < 3; j++)
      add_box(trial, (double[]){l, s, tall}, mass, &wood,
              (double[]){2 * j * l + 0.3, l / 2, z + 0.15});
    for (int end = 0; end < 2; end++)
      add_box(trial, (double[]){l, s, tall}, mass, &wood,
              (double[]){6 * l * end + 0.1, l / 2, z + 0.15});
  }
}

static double height_of_last(const trial *trial) {
  return dBodyGetPosition(trial->bodies[trial->n - 1])[2];
}

static double error_kapla(const trial *trial, double time) {
  (void)time;
  return fabs(1.15 - height_of_last(trial));
}

static bool kapla_is_down(const trial *trial) {
  return height_of_last(trial) < 1.0;
}

/* ---- boxes: free bodies, the order of an integrator ---- */

/* As a box of 10 kg has them; the benchmark's text says 12. */
static const double FREE_MASS = 10, FREE_SIDES[3] = {0.1, 0.4, 0.9};

static void build_boxes(trial *trial, const double v[3], const double w[3]) {
  static material none = {0, 0};
  for (int i = 0; i < trial->n_bodies; i++) {
    add_box(trial, FREE_SIDES, FREE_MASS, &none, (double[]){0, 2.0 * i, 0});
    dBodySetLinearVel(trial->bodies[i], v[0], v[1], v[2]);
    dBodySetAngularVel(trial->bodies[i], w[0], w[1], w[2]);
  }
}

static void build_boxes_simple(trial *trial) {
  dWorldSetGravity(trial->world, 0, 0, 0);
  build_boxes(trial, (double[]){-0.9, 0.4, 0.1}, (double[]){0.5, 0, 0});
}

static void build_boxes_complex(trial *trial) {
  dWorldSetGravity(trial->world, 0, 0, -9.8);
  build_boxes(trial, (double[]){-2, 2, 8}, (double[]){0.1, 5, 0.1});
}

/* How far a free box is from the parabola, m. */
static double error_parabola(const trial *trial, const double v[3],
                             double time) {
  dVector3 g;
  dWorldGetGravity(trial->world, g);
  const dReal *p = dBodyGetPosition(trial->bodies[0]);
  double sum = 0;
  for (int k = 0; k < 3; k++)
    sum += square(p[k] - (v[k] * time + g[k] * time * time / 2));
  return sqrt(sum);
}

static double error_boxes_simple(const trial *trial, double time) {
  return error_parabola(trial, (double[]){-0.9, 0.4, 0.1}, time);
}

static double error_boxes_complex(const trial *trial, double time) {
  return error_parabola(trial, (double[]){-2, 2, 8}, time);
}

static const benchmark benchmarks[] = {
    {"rolling", "a slab pulled from under 25 balls, (m/s)^2", 1e-3, 4, 0,
     build_rolling, drive_rolling, error_rolling, false, NULL},
    {"bouncing", "49 balls that bounce and lose nothing, J^2", 1e-3, 20, 0,
     build_bouncing, NULL, error_energy, false, NULL},
    {"666", "a cube of 216 balls laid down, m^2", 1e-3, 10, 0, build_666, NULL,
     error_penetration, false, NULL},
    {"elastic-666", "a cube of 216 balls that bounce, J^2", 1e-3, 10, 0,
     build_elastic_666, NULL, error_energy, false, NULL},
    {"kapla", "a tower of 102 planks, m", 1e-2, 600, 0.2, build_kapla, NULL,
     error_kapla, true, kapla_is_down},
    {"boxes-simple", "boxes that turn about one axis, m", 1e-3, 10, 0,
     build_boxes_simple, NULL, error_boxes_simple, true, NULL},
    {"boxes-complex", "boxes that tumble and fall, m", 1e-3, 10, 0,
     build_boxes_complex, NULL, error_boxes_complex, true, NULL},
};
static const size_t n_benchmarks = sizeof benchmarks / sizeof benchmarks[0];

/* ---- running ---- */

static int usage(void) {
  fputs(
      "usage: benchmark NAME [--stepper step|quick[:N]|SCHEME] [--step H] "
      "[--seconds T]\n"
      "                 [--heading DEGREES] [--seed N] [--erp E] [--bodies N] "
      "[--contacts] [--limit SECONDS]\n",
      stderr);
  for (size_t i = 0; i < n_benchmarks; i++)
    fprintf(stderr, "  %-14s %s\n", benchmarks[i].name, benchmarks[i].what);
  return 2;
}

static double number(const char *name, const char *text, double least,
                     double most) {
  char *end;
  double value = strtod(text, &end);
  if (end == text || *end != '\0' || !(value >= least && value <= most)) {
    fprintf(stderr, "benchmark: %s %s: a number from %g to %g\n", name, text,
            least, most);
    exit(2);
  }
  return value;
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Stock steppers stay stock: the host without a stepper is as it was. */
static bool choose_stepper(trial *trial, const char *name, bool as_joints,
                           int (**step)(dWorldID, dReal)) {
  *step = dWorldStep;
  if (strcmp(name, "step") == 0) return false;
  if (strncmp(name, "quick", 5) == 0 && (name[5] == '\0' || name[5] == ':')) {
    *step = dWorldQuickStep;
    if (name[5] == ':')
      dWorldSetQuickStepNumIterations(
          trial->world, (int)number("--stepper quick:", name + 6, 1, 1e9));
    return false;
  }
  ode_mlcp_options options;
  char message[200];
  ode_mlcp_default_options(&options);
  if (ode_mlcp_set_option(&options, "scheme", name, message, sizeof message) !=
      ODE_MLCP_OK)
    fail("--stepper step, quick[:N] or", message);
  if (ode_mlcp_attach(trial->world, &options) != ODE_MLCP_OK)
    fail("the world cannot be attached", "");
  if (!as_joints) ode_mlcp_set_collision(trial->world, collide, trial);
  return !as_joints;
}

static double norm3(const double *v) {
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void run(const benchmark *benchmark, trial *trial, const char *stepper,
                bool as_joints) {
  int (*step)(dWorldID, dReal);
  trial->world = dWorldCreate();
  trial->space = dSimpleSpaceCreate(NULL);
  trial->contacts = dJointGroupCreate(0);
  dWorldSetGravity(trial->world, 0, 0, -GRAVITY);
  dWorldSetERP(trial->world, trial->erp);
  dWorldSetCFM(trial->world, 0);
  benchmark->build(trial);
  trial->start_energy = energy_of(trial);
  bool has_collision = choose_stepper(trial, stepper, as_joints, &step);

  double start_spin[3], spin[3], worst_spin = 0, worst_energy = 0;
  spin_of(trial->bodies[0], start_spin);
  const int n_steps = (int)lround(trial->seconds / trial->step);
  double *times = calloc((size_t)n_steps + 1, sizeof *times);
  if (times == NULL) fail("out of memory", "");
  double sum = 0, largest = 0, total = 0;
  int taken = 0, failed = 0;
  for (; taken < n_steps; taken++) {
    if (total > trial->limit) break;
    if (benchmark->ended != NULL && benchmark->ended(trial)) break;
    double error = benchmark->error(trial, taken * trial->step);
    sum += error;
    largest = fmax(largest, error);
    spin_of(trial->bodies[0], spin);
    for (int k = 0; k < 3; k++) spin[k] -= start_spin[k];
    worst_spin = fmax(worst_spin, norm3(spin));
    worst_energy =
        fmax(worst_energy, fabs(energy_of(trial) - trial->start_energy));
    if (benchmark->drive != NULL) benchmark->drive(trial);
    if (!has_collision) dSpaceCollide(trial->space, trial, make_contacts);
    double begun = seconds_now();
    if (step(trial->world, trial->step) == 0) failed++;
    total += times[taken] = seconds_now() - begun;
    dJointGroupEmpty(trial->contacts);
  }
  qsort(times, (size_t)taken, sizeof *times, by_size);
  printf(
      "benchmark %s stepper %s step %g steps %d error %.6g energy %.4g "
      "spin %.4g cut %d failed %d messages %d mean_ms %.4g median_ms %.4g "
      "worst_ms %.4g\n",
      benchmark->name, stepper, trial->step, taken,
      benchmark->largest ? largest : sum / fmax(1, taken), worst_energy,
      worst_spin, total > trial->limit, failed, n_messages,
      1e3 * total / fmax(1, taken), 1e3 * times[taken / 2],
      taken > 0 ? 1e3 * times[taken - 1] : 0);
  free(times);
  free(trial->bodies);
  dJointGroupDestroy(trial->contacts);
  dSpaceDestroy(trial->space);
  dWorldDestroy(trial->world);
}

int main(int argc, char **argv) {
  size_t which = 0;
  while (argc > 1 && which < n_benchmarks &&
         strcmp(benchmarks[which].name, argv[1]) != 0)
    which++;
  if (argc < 2 || which == n_benchmarks) return usage();
  const benchmark *benchmark = &benchmarks[which];
  trial trial = {.step = benchmark->step,
                 .seconds = benchmark->seconds,
                 .heading = M_PI / 2,
                 .seed = 1,
                 .erp = benchmark->erp,
                 .n_bodies = 1,
                 .limit = INFINITY};
  const char *stepper = "ah";
  bool as_joints = false;
  for (int i = 2; i < argc; i++) {
    const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(name, "--contacts") == 0) {
      as_joints = true;
      continue;
    }
    if (value == NULL) return usage();
    i++;
    if (strcmp(name, "--stepper") == 0)
      stepper = value;
    else if (strcmp(name, "--step") == 0)
      trial.step = number(name, value, 1e-7, 1);
    else if (strcmp(name, "--seconds") == 0)
      trial.seconds = number(name, value, 0, 1e4);
    else if (strcmp(name, "--heading") == 0)
      trial.heading = number(name, value, -360, 360) * M_PI / 180;
    else if (strcmp(name, "--seed") == 0)
      trial.seed = (uint64_t)number(name, value, 0, 1e9);
    else if (strcmp(name, "--erp") == 0)
      trial.erp = number(name, value, 0, 1);
    else if (strcmp(name, "--limit") == 0)
      trial.limit = number(name, value, 0, 1e9);
    else if (strcmp(name, "--bodies") == 0)
      trial.n_bodies = (int)number(name, value, 1, 1e5);
    else
      return usage();
  }
  if (trial.seconds / trial.step > 1e8)
    fail("over 1e8 steps: a larger --step or fewer --seconds", "");
  dInitODE2(0);
  dSetMessageHandler(count_message);
  run(benchmark, &trial, stepper, as_joints);
  dCloseODE();
  return 0;
}
