/* Two carts on a line: a spring from a wall to the first, a damper between
 * them, a stopper: PAGT sec. 10.3. Bounded however stiff both are. */
#include <math.h>
#include <stdio.h>

#include "scenes/scene_build.h"

static const double REST = 0.2; /* m: the first cart's, at x */
static const double LENGTH = 0.2, HEIGHT = 0.1, MASS = 1, FRICTION = 0.05;

/* Two experiments: a stiffer and stiffer damper, or spring. */
typedef struct cart_start {
  double x, speed;
} cart_start;
static const cart_start DAMPER_SWEEP = {0.1, -2}, SPRING_SWEEP = {0.2, -3};

static double energy(const scene_run_state *run) {
  return ode_mlcp_spring_energy(run->world);
}

static double distance(const scene_run_state *run) {
  return dBodyGetPosition(run->bodies[1])[0] -
         dBodyGetPosition(run->bodies[0])[0];
}

/* How far the distance of the carts went, and how much energy there ever was
 * beside that of the start. */
static void judge_two_carts(scene_run_state *run) {
  scene_result *result = run->result;
  double least = INFINITY, most = -INFINITY, energy_most = 0;
  for (long i = 0; i <= result->n_steps; i++) {
    const double *q = result->positions + 6 * i;
    least = fmin(least, q[3] - q[0]);
    most = fmax(most, q[3] - q[0]);
    energy_most = fmax(energy_most, result->energies[i]);
  }
  result->errors[0] = most - least;
  result->errors[1] = energy_most / result->energies[0];
  snprintf(result->note, sizeof result->note,
           "the carts are %.7g to %.7g m apart", least, most);
}

static bool add_spring(scene_run_state *run, dBodyID a, dBodyID b,
                       double stiffness, double damping) {
  ode_mlcp_spring spring = {.body = {a, b},
                            .along_axis = 1,
                            .axis = {1, 0, 0},
                            .stiffness = stiffness,
                            .damping = damping};
  const dReal *x = dBodyGetPosition(a);
  for (int i = 0; i < 3; i++) spring.anchor[0][i] = spring.anchor[1][i] = x[i];
  if (b != NULL)
    for (int i = 0; i < 3; i++) spring.anchor[1][i] = dBodyGetPosition(b)[i];
  // the stopper is the wall's
  if (b == NULL) spring.anchor[1][0] = 0;
  spring.length = b == NULL ? REST : spring.anchor[0][0] - spring.anchor[1][0];
  ode_mlcp_force *force;
  ode_mlcp_error error = ode_mlcp_spring_create(run->world, &spring, &force);
  return error == ODE_MLCP_OK ||
         scene_fail(run, "a spring: %s", ode_mlcp_error_text(error));
}

static dBodyID add_cart(scene_run_state *run, double x, double speed) {
  dBodyID cart =
      scene_add_planar(run, x, HEIGHT / 2, 0, MASS,
                       MASS * (LENGTH * LENGTH + HEIGHT * HEIGHT) / 12);
  if (cart == NULL ||
      !scene_add_centred(run, dCreateBox(run->space, LENGTH, HEIGHT, HEIGHT),
                         cart))
    return NULL;
  dBodySetLinearVel(cart, speed, 0, 0);
  return cart;
}

static bool build_two_carts(scene_run_state *run) {
  const scene_settings *s = run->settings;
  if (s->options.scheme == ODE_MLCP_SCHEME_AP ||
      s->options.scheme == ODE_MLCP_SCHEME_AH)
    return scene_fail(run, "scheme: '%s' knows no springs and dampers",
                      s->scheme);
  const cart_start *start =
      s->damper > s->spring || s->damper == 100 ? &DAMPER_SWEEP : &SPRING_SWEEP;
  run->frame = SCENE_FRAME_PLANAR;
  run->surface.parameters.mu = FRICTION;
  run->energy = energy;
  run->extra = distance;
  run->judge = judge_two_carts;
  scene_set_bounce(run, s->restitution);
  dBodyID first = add_cart(run, start->x, start->speed);
  dBodyID second = add_cart(run, start->x + 5, start->speed);
  if (first == NULL || second == NULL) return false;
  double stop = -LENGTH / 2; // where the cart's side is at x = 0
  // a knob at the height of the centre: it does not tip the cart
  run->stopper = dCreateSphere(run->space, HEIGHT / 2);
  dGeomSetPosition(run->stopper, stop - HEIGHT / 2, HEIGHT / 2, 0);
  return add_spring(run, first, NULL, s->spring, 0) &&
         add_spring(run, first, second, 0, s->damper) &&
         scene_add_fixed(run, dCreatePlane(run->space, 0, 1, 0, 0)) &&
         scene_add_fixed(run, run->stopper);
}

const scene scene_two_carts = {
    .name = "two-carts",
    .summary = "a spring, a damper and a stopper, however stiff",
    .source = "Potra, Anitescu, Gavrea & Trinkle 2006, sec. 10.3",
    .h = 0.01,
    .time = 4,
    .gravity = 9.81,
    .spring = 100,
    .damper = 100,
    .restitution = 0.3,
    .knows = SCENE_GRAVITY | SCENE_SPRING | SCENE_DAMPER | SCENE_RESTITUTION,
    .options = "scheme=trapezoid",
    .step_sizes = {0.02, 0.01, 0.005, 0.0025},
    .error_kinds = {{"distance_range", "m"}, {"energy_most", "of the start"}},
    .infeasibility_unit = "m",
    .extra_name = "distance of the carts",
    .build = build_two_carts};
