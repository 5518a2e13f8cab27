/* A scene as a program of its own: plain ODE, no stepper chosen, for
 * `ode-mlcp compare` and `ode-mlcp run`.
 *
 *   play NAME [NUMBER] [--seconds S] [--step H] [--quick] [--poses] [--sum]
 *
 * --poses prints every body at the end, --sum what became of them: how far a
 * body came down and moved sideways at most (m), and of the first body the
 * distance from its start (m), its course, the direction of its last motion
 * (degrees), and friction over normal force in the last step.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ode/ode.h>

#include "../scenes/scene.h"

static scene *wall(double rows) { return scene_wall((int)rows); }
static scene *slide(double degrees) {
  return scene_slide(degrees * M_PI / 180);
}
static scene *stack(double boxes) { return scene_stack((int)boxes, 1); }
static scene *pit(double bodies) { return scene_pit((int)bodies); }
static scene *chain(double links) { return scene_chain((int)links, 1); }
static scene *bricks(double courses) { return scene_bricks((int)courses); }

/* A car on tyres that give way. */
static scene *soft_car(double cfm) {
  scene *car = scene_vehicle();
  if (car != NULL) {
    car->surface.mode |= dContactSoftCFM;
    car->surface.soft_cfm = cfm;
  }
  return car;
}

/* The pit with floor and bodies that bounce. */
static scene *bounce(double restitution) {
  scene *pit = restitution >= 0 && restitution <= 1 ? scene_pit(30) : NULL;
  if (pit != NULL) {
    pit->surface.mode |= dContactBounce;
    pit->surface.bounce = restitution;
    pit->surface.bounce_vel = 0.1;
  }
  return pit;
}

static const struct {
  const char *name;
  scene *(*make)(double);
  double number;
  const char *what;
} scenes[] = {
    {"wall", wall, 10, "NUMBER rows of unit cubes at rest"},
    {"bricks", bricks, 8, "NUMBER courses of bricks of 2 kg, in bond"},
    {"slide", slide, 15, "a box launched at 3 m/s, NUMBER degrees from x"},
    {"rod", scene_tilted_rod, 2, "a tilted rod sliding at NUMBER m/s"},
    {"stack", stack, 10, "NUMBER cubes on top of each other"},
    {"pit", pit, 60, "NUMBER bodies dropped into a pit"},
    {"bounce", bounce, 0.3, "30 bodies dropped into a pit, bouncing by NUMBER"},
    {"chain", chain, 10, "NUMBER links hanging from the world"},
    {"soft-car", soft_car, 3e-4,
     "a car with sprung wheels, its tyres contacts soft by NUMBER (CFM)"},
};
static const size_t n_scenes = sizeof scenes / sizeof scenes[0];

static int usage(void) {
  fputs(
      "usage: play NAME [NUMBER] [--seconds S] [--step H] [--quick] "
      "[--poses]\n",
      stderr);
  for (size_t i = 0; i < n_scenes; i++)
    fprintf(stderr, "  %-10s %s (%g)\n", scenes[i].name, scenes[i].what,
            scenes[i].number);
  return 2;
}

static void print_poses(const scene *scene) {
  for (int i = 0; i < scene->n_bodies; i++) {
    const dReal *p = dBodyGetPosition(scene->bodies[i]);
    const dReal *q = dBodyGetQuaternion(scene->bodies[i]);
    const dReal *v = dBodyGetLinearVel(scene->bodies[i]);
    printf("%d %a %a %a %a %a %a %a %a %a %a\n", i, p[0], p[1], p[2], q[0],
           q[1], q[2], q[3], v[0], v[1], v[2]);
  }
}

/* ---- what became of them ---- */

typedef struct sums {
  dVector3 *starts;     /* of the bodies */
  double heading;       /* degrees, while it moved */
  dJointFeedback force; /* of the contact that was made last */
} sums;

static double degrees(double y, double x) { return atan2(y, x) * 180 / M_PI; }

static bool start_sums(const scene *scene, sums *sums) {
  sums->heading = NAN;
  sums->starts = calloc((size_t)scene->n_bodies, sizeof *sums->starts);
  for (int i = 0; sums->starts != NULL && i < scene->n_bodies; i++)
    memcpy(sums->starts[i], dBodyGetPosition(scene->bodies[i]),
           3 * sizeof(dReal));
  return sums->starts != NULL;
}

static void note_heading(const scene *scene, sums *sums) {
  const double MOVING = 3e-3; /* m/s: below it a velocity has no direction */
  const dReal *v = dBodyGetLinearVel(scene->bodies[0]);
  if (hypot(v[0], v[1]) > MOVING) sums->heading = degrees(v[1], v[0]);
}

static void print_sums(const scene *scene, const sums *sums) {
  double sag = 0, slid = 0;
  for (int i = 0; i < scene->n_bodies; i++) {
    const dReal *now = dBodyGetPosition(scene->bodies[i]);
    const dReal *was = sums->starts[i];
    sag = fmax(sag, was[2] - now[2]);
    slid = fmax(slid, hypot(now[0] - was[0], now[1] - was[1]));
  }
  const dReal *now = dBodyGetPosition(scene->bodies[0]);
  const dReal *was = sums->starts[0];
  printf("sag %.9g\nslid %.9g\n", sag, slid);
  printf("distance %.9g\n", hypot(now[0] - was[0], now[1] - was[1]));
  printf("course %.9g\n", degrees(now[1] - was[1], now[0] - was[0]));
  printf("heading %.9g\n", sums->heading);
  // the floor is level: its normal is z
  printf("friction %.9g\n",
         hypot(sums->force.f1[0], sums->force.f1[1]) / sums->force.f1[2]);
}

static bool take_step(scene *scene, bool quick, double size, sums *sums) {
  scene_collide(scene);
  if (sums->starts != NULL && scene->last_contact != NULL)
    dJointSetFeedback(scene->last_contact, &sums->force);
  int taken = quick ? dWorldQuickStep(scene->world, size)
                    : dWorldStep(scene->world, size);
  note_heading(scene, sums);
  return taken != 0;
}

static bool is_number(const char *text) {
  char *end;
  strtod(text, &end);
  return end != text && *end == '\0';
}

int main(int argc, char **argv) {
  double seconds = 5, step = 0.01, number;
  bool quick = false, poses = false, wants_sums = false;
  sums sums = {.starts = NULL};
  size_t which = 0;
  while (argc > 1 && which < n_scenes &&
         strcmp(scenes[which].name, argv[1]) != 0)
    which++;
  if (argc < 2 || which == n_scenes) return usage();
  number = scenes[which].number;
  for (int i = 2; i < argc; i++)
    if (strcmp(argv[i], "--quick") == 0)
      quick = true;
    else if (strcmp(argv[i], "--poses") == 0)
      poses = true;
    else if (strcmp(argv[i], "--sum") == 0)
      wants_sums = true;
    else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
      seconds = atof(argv[++i]);
    else if (strcmp(argv[i], "--step") == 0 && i + 1 < argc)
      step = atof(argv[++i]);
    else if (i == 2 && is_number(argv[i]))
      number = atof(argv[i]);
    else
      return usage();

  dInitODE2(0);
  scene *played = scenes[which].make(number);
  if (played == NULL || !(step > 0)) {
    fprintf(stderr, "play: %s %g cannot be\n", scenes[which].name, number);
    return 2;
  }
  if (wants_sums && !start_sums(played, &sums)) return 1;
  for (double time = 0; time < seconds - step / 2; time += step)
    if (!take_step(played, quick, step, &sums)) {
      fputs("play: a step failed\n", stderr);
      return 1;
    }
  if (poses) print_poses(played);
  if (wants_sums) print_sums(played, &sums);
  free(sums.starts);
  scene_destroy(played);
  dCloseODE();
  return 0;
}
