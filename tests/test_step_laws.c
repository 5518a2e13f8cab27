/* Laws of every world: rest stays rest, momentum is kept, energy is not
 * made, forces stay in their cones, motors and springs do what they say. */
#include <ode/stepper.h>
#include <stdbool.h>

#include "../demos/scenes/scene.h"
#include "host_rounding.h"
#include "step_testing.h"

static const double H = 0.01, G = 9.81;

static ode_mlcp_options options_of(ode_mlcp_scheme scheme) {
  ode_mlcp_options options = options_under(scheme);
  options.measure = 1;
  return options;
}

static void attach(const scene *s, ode_mlcp_scheme scheme) {
  ode_mlcp_options options = options_of(scheme);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(s->world, &options), ODE_MLCP_OK);
}

static ode_mlcp_report step_scene(scene *s, double h) {
  ode_mlcp_report report;
  scene_collide(s);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s->world, h, &report), ODE_MLCP_OK);
  CU_ASSERT_EQUAL(report.unsolved, 0);
  return report;
}

/* --- rest ---------------------------------------------------------------- */

static void test_a_wall_stands(void) {
  const double erps[] = {0.2, 1};
  for (int e = 0; e < 2; e++) {
    scene *wall = scene_wall(10);
    attach(wall, ODE_MLCP_SCHEME_AH);
    dWorldSetERP(wall->world, erps[e]);
    for (int i = 0; i < 500; i++) step_scene(wall, H);
    /* in single precision what lies is moved by as much as a place is rounded */
    CU_ASSERT(scene_fastest(wall) < of_host(1e-6, 10 / H));
    for (int i = 0; i < wall->n_bodies; i++) {
      double height = dBodyGetPosition(wall->bodies[i])[2];
      CU_ASSERT_DOUBLE_EQUAL(height, floor(height) + 0.5, 1e-3);
    }
    scene_destroy(wall);
  }
}

/* A slope by turned gravity: a box on its four corners holds where tan < mu,
 * else slides with g (sin - mu cos), whatever way is down. */
static void test_slopes(void) {
  /* a spin that rounding begins grows threefold a step on so little inertia */
  const int steps = host_is_single() ? 10 : 40;
  dSurfaceParameters surface = bare_surface(dContactApprox1, 0.5);
  for (int degrees = 0; degrees < 360; degrees += 24)
    for (int steep = 0; steep < 2; steep++) {
      double slope = steep ? 0.5 : 0.45; /* atan 0.5 is 0.464 */
      double way = degrees * M_PI / 180;
      dWorldID world = create_world(G, NULL);
      dWorldSetGravity(world, G * sin(slope) * cos(way),
                       G * sin(slope) * sin(way), -G * cos(slope));
      dBodyID box = create_ball(world, 1, 0.2);
      dJointGroupID contacts = dJointGroupCreate(0);
      for (int i = 0; i < steps; i++) {
        const dReal *x = dBodyGetPosition(box);
        dJointGroupEmpty(contacts);
        for (int corner = 0; corner < 4; corner++) {
          dContact contact =
              contact_at(&surface, x[0] + (corner % 2 ? 0.3 : -0.3),
                         x[1] + (corner / 2 ? 0.3 : -0.3), -0.1, 0);
          dJointAttach(dJointCreateContact(world, contacts, &contact), box, 0);
        }
        CU_ASSERT_EQUAL_FATAL(dWorldStep(world, H), 1);
      }
      const dReal *v = dBodyGetLinearVel(box);
      double speed =
          steep ? steps * H * G * (sin(slope) - 0.5 * cos(slope)) : 0;
      CU_ASSERT_DOUBLE_EQUAL(v[0], speed * cos(way), of_host(1e-7, 4));
      CU_ASSERT_DOUBLE_EQUAL(v[1], speed * sin(way), of_host(1e-7, 4));
      dJointGroupDestroy(contacts);
      dWorldDestroy(world);
    }
}

/* --- momentum and energy ------------------------------------------------- */

typedef struct momentum {
  double linear[3], angular[3]; /* about the origin */
} momentum;

static momentum momentum_of(const scene *s) {
  momentum sum = {{0}, {0}};
  for (int i = 0; i < s->n_bodies; i++) {
    dBodyID body = s->bodies[i];
    dMass mass;
    dVector3 spin, turn, world, arm;
    dBodyGetMass(body, &mass);
    const dReal *x = dBodyGetPosition(body), *v = dBodyGetLinearVel(body);
    const dReal *w = dBodyGetAngularVel(body);
    dBodyVectorFromWorld(body, w[0], w[1], w[2], spin);
    for (int k = 0; k < 3; k++) turn[k] = dCalcVectorDot3(mass.I + 4 * k, spin);
    dBodyVectorToWorld(body, turn[0], turn[1], turn[2], world);
    dCalcVectorCross3(arm, x, v);
    for (int k = 0; k < 3; k++) {
      sum.linear[k] += mass.mass * v[k];
      sum.angular[k] += mass.mass * arm[k] + world[k];
    }
  }
  return sum;
}

/* Bodies thrown at their middle; no floor, no gravity. */
static scene *create_swarm(bool spheres) {
  scene *s = scene_create();
  dWorldSetGravity(s->world, 0, 0, 0);
  test_random random = {5};
  for (int i = 0; i < 20; i++) {
    double x[3], v[3], w[3];
    for (int k = 0; k < 3; k++) {
      x[k] = 1.1 * ((k == 0 ? i % 3 : k == 1 ? i / 3 % 3 : i / 9) - 1);
      v[k] = -2 * x[k] + test_uniform(&random, -1, 1);
      w[k] = test_uniform(&random, -3, 3);
    }
    dBodyID body =
        spheres
            ? scene_add_sphere(s, x[0], x[1], x[2], 0.4, 100 + 40 * i)
            : scene_add_box(s, x[0], x[1], x[2], 0.8, 0.5, 0.6, 100 + 40 * i);
    dBodySetLinearVel(body, v[0], v[1], v[2]);
    dBodySetAngularVel(body, w[0], w[1], w[2]);
  }
  return s;
}

static double largest(const double v[3]) {
  return fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
}

static void test_momentum_is_kept(void) {
  for (int kind = 0; kind < 3; kind++) {
    /* position corrections turn the whole about itself a little */
    bool angular = kind == 0;
    scene *s = create_swarm(kind < 2);
    attach(s, kind == 0 ? ODE_MLCP_SCHEME_AP : ODE_MLCP_SCHEME_AH);
    if (kind == 1) {
      s->surface.mode |= dContactBounce;
      s->surface.bounce = 0.5;
    }
    momentum before = momentum_of(s);
    int touched = 0;
    for (int i = 0; i < 100; i++) {
      step_scene(s, H);
      touched += s->n_contacts;
      momentum now = momentum_of(s);
      const double rounded = i + 1; /* each step rounds its velocities */
      for (int k = 0; k < 3; k++) {
        CU_ASSERT_DOUBLE_EQUAL(now.linear[k], before.linear[k],
                               of_host(1e-9, rounded) * largest(before.linear));
        if (angular)
          CU_ASSERT_DOUBLE_EQUAL(
              now.angular[k], before.angular[k],
              of_host(1e-9, rounded) * largest(before.angular));
      }
    }
    CU_ASSERT(touched > 50);
    scene_destroy(s);
  }
}

/* At velocity level, with spheres: E+ - E = v+'J'p - |v+ - v|^2 / 2 <= 0. */
static void test_energy_is_not_made(void) {
  scene *s = scene_pit(1);
  attach(s, ODE_MLCP_SCHEME_AP);
  for (int i = 0; i < 24; i++)
    scene_add_sphere(s, 0.9 * (i % 3 - 1) + 0.01 * i, 0.9 * (i / 3 % 3 - 1),
                     2 + 0.9 * (i / 9), 0.35, 1000 + 100 * i);
  dBodySetAngularVel(s->bodies[3], 20, 10, 0);
  ode_mlcp_report before = step_scene(s, H);
  double start = before.kinetic_energy + before.potential_energy, last = start;
  int rises = 0;
  for (int i = 0; i < 250; i++) {
    ode_mlcp_report report = step_scene(s, H);
    double energy = report.kinetic_energy + report.potential_energy;
    rises += energy > last + 1e-9 * start;
    last = energy;
  }
  CU_ASSERT_EQUAL(rises, 0);
  CU_ASSERT(last < 0.9 * start);
  scene_destroy(s);
}

/* Balls that meet head on: v1' - v2' = -e (v1 - v2), momentum kept. */
static void test_collisions_of_two(void) {
  const double masses[] = {1, 1e-3, 1, 50}, e[] = {0, 0.3, 1};
  for (int m = 0; m < 4; m++)
    for (int k = 0; k < 3; k++) {
      const double m1 = masses[m], m2 = 1, v1 = 2, v2 = -1;
      dWorldID world = create_world(0, NULL);
      dWorldSetCFM(world, 0);
      dBodyID a = create_ball(world, m1, 0.5), b = create_ball(world, m2, 0.5);
      dBodySetPosition(a, -0.5, 0, 0);
      dBodySetPosition(b, 0.5, 0, 0);
      dBodySetLinearVel(a, v1, 0, 0);
      dBodySetLinearVel(b, v2, 0, 0);
      dSurfaceParameters surface =
          bare_surface(dContactBounce | dContactApprox1, 0.5);
      surface.bounce = e[k];
      surface.bounce_vel = 0.1;
      dContact contact = contact_at(&surface, 0, 0, 0, 0);
      contact.geom.normal[0] = -1;
      contact.geom.normal[2] = 0;
      dJointID joint = dJointCreateContact(world, 0, &contact);
      dJointFeedback feedback;
      dJointSetFeedback(joint, &feedback);
      dJointAttach(joint, a, b);
      CU_ASSERT_EQUAL(dWorldStep(world, H), 1);

      double mean = (m1 * v1 + m2 * v2) / (m1 + m2);
      CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(a)[0],
                             mean - e[k] * m2 * (v1 - v2) / (m1 + m2),
                             of_host(1e-9, fabs(v1) + fabs(v2)));
      CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(b)[0],
                             mean + e[k] * m1 * (v1 - v2) / (m1 + m2),
                             of_host(1e-9, fabs(v1) + fabs(v2)));
      /* forces, not impulses; equal and opposite */
      double force = -(1 + e[k]) * (v1 - v2) * m1 * m2 / (m1 + m2) / H;
      CU_ASSERT_DOUBLE_EQUAL(feedback.f1[0], force, 1e-7 * fabs(force));
      CU_ASSERT_DOUBLE_EQUAL(feedback.f2[0], -force, 1e-7 * fabs(force));
      dWorldDestroy(world);
    }
}

/* --- contact forces ------------------------------------------------------ */

/* Feedback for all contacts of a scene. */
enum { MAX_FEEDBACKS = 600 };
typedef struct watched {
  dJointFeedback feedback[MAX_FEEDBACKS];
  dJointID joints[MAX_FEEDBACKS];
  int count;
} watched;

static void watch_contacts(const scene *s, watched *w) {
  w->count = 0;
  for (int i = 0; i < s->n_bodies; i++)
    for (int j = 0; j < dBodyGetNumJoints(s->bodies[i]); j++) {
      dJointID joint = dBodyGetJoint(s->bodies[i], j);
      if (dJointGetType(joint) != dJointTypeContact ||
          dJointGetFeedback(joint) != NULL || w->count == MAX_FEEDBACKS)
        continue;
      memset(&w->feedback[w->count], 0xff, sizeof w->feedback[0]); /* NaN */
      w->joints[w->count] = joint;
      dJointSetFeedback(joint, &w->feedback[w->count++]);
    }
}

/* Every force pushes and is in its cone; every step tells all of them. */
static void test_forces_stay_in_their_cones(void) {
  static watched w;
  scene *s = scene_pit(18);
  attach(s, ODE_MLCP_SCHEME_AH);
  int outside = 0, pulling = 0, untold = 0, watched_in_all = 0;
  for (int i = 0; i < 150; i++) {
    scene_collide(s);
    watch_contacts(s, &w);
    CU_ASSERT_EQUAL_FATAL(dWorldStep(s->world, H), 1);
    for (int c = 0; c < w.count; c++) {
      const dReal *f = w.feedback[c].f1;
      const dReal *n = dJointGetStepperContact(w.joints[c])->geom.normal;
      double sign = dJointGetBody(w.joints[c], 0) == NULL ? -1 : 1;
      double normal = sign * (f[0] * n[0] + f[1] * n[1] + f[2] * n[2]);
      double squared = f[0] * f[0] + f[1] * f[1] + f[2] * f[2];
      double sliding = sqrt(fmax(squared - normal * normal, 0));
      untold += isnan(squared);
      pulling += normal < -1e-6;
      outside += sliding > 0.5 * normal + 1e-5 * (1 + normal);
    }
    watched_in_all += w.count;
  }
  CU_ASSERT_EQUAL(untold, 0);
  CU_ASSERT_EQUAL(pulling, 0);
  CU_ASSERT_EQUAL(outside, 0);
  CU_ASSERT(watched_in_all > 2000);
  scene_destroy(s);
}

/* Velocity of a contact's first body against the other, at the poses of `before`. */
static void slip_velocity(dJointID joint, const scene *s,
                          const double before[][3], dVector3 slip) {
  const dReal *at = dJointGetStepperContact(joint)->geom.pos;
  for (int k = 0; k < 3; k++) slip[k] = 0;
  for (int i = 0; i < s->n_bodies; i++) {
    dBodyID body = s->bodies[i];
    if (body != dJointGetBody(joint, 0) && body != dJointGetBody(joint, 1))
      continue;
    double sign = body == dJointGetBody(joint, 0) ? 1 : -1;
    const dReal *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body);
    dVector3 arm, turn;
    for (int k = 0; k < 3; k++) arm[k] = at[k] - before[i][k];
    dCalcVectorCross3(turn, w, arm);
    for (int k = 0; k < 3; k++) slip[k] += sign * (v[k] + turn[k]);
  }
}

/* At velocity level each contact parts or pushes, and friction brakes: by all
 * it may in the directions of its edges, by 1 / sqrt 2 of that at least. */
static void test_contacts_obey_their_laws(void) {
  static watched w;
  enum { BODIES = 18 };
  scene *s = scene_pit(BODIES);
  attach(s, ODE_MLCP_SCHEME_AP);
  dWorldSetCFM(s->world, 0);
  int approaching = 0, pushing_apart = 0, driving = 0, sliding = 0;
  for (int i = 0; i < 150; i++) {
    double before[BODIES][3];
    for (int b = 0; b < BODIES; b++)
      for (int k = 0; k < 3; k++)
        before[b][k] = dBodyGetPosition(s->bodies[b])[k];
    scene_collide(s);
    watch_contacts(s, &w);
    CU_ASSERT_EQUAL_FATAL(dWorldStep(s->world, H), 1);
    for (int c = 0; c < w.count; c++) {
      dVector3 slip;
      double sign = dJointGetBody(w.joints[c], 0) == NULL ? -1 : 1;
      const dReal *n = dJointGetStepperContact(w.joints[c])->geom.normal;
      slip_velocity(w.joints[c], s, before, slip);
      double parting = dCalcVectorDot3(slip, n);
      double rounding = of_host(1e-7, 10); /* m/s: of bodies that turn */
      double push = sign * dCalcVectorDot3(w.feedback[c].f1, n);
      double power = sign * dCalcVectorDot3(w.feedback[c].f1, slip);
      double speed =
          sqrt(fmax(dCalcVectorDot3(slip, slip) - parting * parting, 0));
      approaching += parting < -rounding;
      pushing_apart += parting > rounding && push * parting > 1e-3;
      if (speed < 1e-3) continue;
      sliding += push > 1;
      driving += power > -0.5 * sqrt(0.5) * push * speed * (1 - 1e-4) + 1e-4;
    }
  }
  CU_ASSERT_EQUAL(approaching, 0);
  CU_ASSERT_EQUAL(pushing_apart, 0);
  CU_ASSERT_EQUAL(driving, 0);
  CU_ASSERT(sliding > 200);
  scene_destroy(s);
}

/* --- kinematic bodies, sleep --------------------------------------------- */

static void test_kinematic_bodies(void) {
  scene *s = scene_create();
  attach(s, ODE_MLCP_SCHEME_AP);
  dWorldSetCFM(s->world, 0);
  dBodyID belt = scene_add_box(s, 0, 0, -0.5, 40, 4, 1, 1000);
  dBodySetKinematic(belt);
  dBodySetLinearVel(belt, 2, 0, 0.5);
  for (int i = 0; i < 5; i++)
    scene_add_box(s, 3 * i - 6, 0, 0.2499, 0.5, 0.5, 0.5, 1000);
  ode_mlcp_report report;
  for (int i = 1; i <= 80; i++) {
    report = step_scene(s, H);
    /* a large floor makes no island of all that is on it */
    if (i > 2) CU_ASSERT_EQUAL(report.solves, 5);
    for (int b = 1; b <= 5; b++) {
      /* dragged with mu g, and lifted along */
      double expected = fmin(0.5 * (G * i * H + 0.5), 2);
      CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(s->bodies[b])[0], expected,
                             of_host(1e-8, 2 * i));
      CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(s->bodies[b])[2], 0.5,
                             of_host(1e-8, 0.25 / H));
    }
    CU_ASSERT_EQUAL(dBodyGetLinearVel(belt)[0], 2);
    CU_ASSERT_EQUAL(dBodyGetLinearVel(belt)[2], 0.5);
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(belt)[0], 2 * i * H,
                           of_host(1e-12, 2 * i * H));
    CU_ASSERT_EQUAL(dBodyGetAngularVel(belt)[1], 0);
  }
  scene_destroy(s);
}

/* Joints and contacts of kinematic bodies with each other or the world do
 * nothing. */
static void test_nothing_holds_kinematic_bodies(void) {
  dWorldID world = create_world(G, NULL);
  dBodyID bodies[2];
  for (int i = 0; i < 2; i++) {
    bodies[i] = create_ball(world, 1, 0.5);
    dBodySetKinematic(bodies[i]);
    dBodySetLinearVel(bodies[i], 1, -2 * i, -3);
    dBodySetAngularVel(bodies[i], 0, 0, 1);
  }
  dSurfaceParameters surface = bare_surface(dContactApprox1, dInfinity);
  dContact contact = contact_at(&surface, 0, 0, 0, 0.1);
  dJointAttach(dJointCreateContact(world, 0, &contact), bodies[0], bodies[1]);
  dJointAttach(dJointCreateContact(world, 0, &contact), bodies[1], 0);
  dJointID ball = dJointCreateBall(world, 0);
  dJointAttach(ball, bodies[0], bodies[1]);
  dJointAttach(dJointCreateHinge(world, 0), bodies[0], 0);
  for (int i = 1; i <= 10; i++) {
    CU_ASSERT_EQUAL(dWorldStep(world, H), 1);
    for (int b = 0; b < 2; b++) {
      const dReal *x = dBodyGetPosition(bodies[b]);
      CU_ASSERT_DOUBLE_EQUAL(x[0], i * H, of_host(1e-12, i * H));
      CU_ASSERT_DOUBLE_EQUAL(x[1], -2 * b * i * H, of_host(1e-12, 2 * i * H));
      CU_ASSERT_DOUBLE_EQUAL(x[2], -3 * i * H, of_host(1e-12, 3 * i * H));
      CU_ASSERT_EQUAL(dBodyGetAngularVel(bodies[b])[2], 1);
    }
  }
  dWorldDestroy(world);
}

static void test_sleep_and_waking(void) {
  scene *stack = scene_stack(3, 1);
  attach(stack, ODE_MLCP_SCHEME_AH);
  dWorldSetAutoDisableFlag(stack->world, 1);
  for (int i = 0; i < 3; i++) {
    dBodySetAutoDisableDefaults(stack->bodies[i]);
    dBodySetPosition(stack->bodies[i], 0, 0, i + 0.5 - 1e-5 * (i + 1));
  }
  dBodyID alone = scene_add_sphere(stack, 20, 0, 5, 0.5, 1000);
  dBodySetAutoDisableDefaults(alone);
  dBodySetGravityMode(alone, 0);
  for (int i = 0; i < 200; i++) step_scene(stack, H);
  for (int i = 0; i < 3; i++) CU_ASSERT_FALSE(dBodyIsEnabled(stack->bodies[i]));
  CU_ASSERT(dBodyIsEnabled(alone)); /* what touches nothing never sleeps */

  dBodyID ball = scene_add_sphere(stack, 0, 0, 3.25, 0.2, 1000);
  dBodySetLinearVel(ball, 0, 0, -1);
  double height = dBodyGetPosition(stack->bodies[0])[2];
  step_scene(stack, H);
  CU_ASSERT_FALSE(dBodyIsEnabled(stack->bodies[0])); /* not there yet */
  for (int i = 0; i < 8; i++) step_scene(stack, H);
  for (int i = 0; i < 3; i++) CU_ASSERT(dBodyIsEnabled(stack->bodies[i]));
  for (int i = 0; i < 400; i++) step_scene(stack, H);
  for (int i = 0; i < 3; i++) CU_ASSERT_FALSE(dBodyIsEnabled(stack->bodies[i]));
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(stack->bodies[0])[2], height, 1e-3);
  scene_destroy(stack);
}

/* --- motors, stops, springs ---------------------------------------------- */

/* A mass of 2 kg on a vertical slider from the world. */
static dJointID create_lift(dWorldID world, dBodyID *load) {
  dWorldSetCFM(world, 0);
  *load = create_ball(world, 2, 0.5);
  dJointID slider = joint_slider(world, *load, NULL, 0, 0, 1);
  return slider;
}

static double lift_speed(double force, double target, int steps) {
  dBodyID load;
  dWorldID world = create_world(10, NULL);
  dJointID slider = create_lift(world, &load);
  dJointFeedback feedback;
  dJointSetFeedback(slider, &feedback);
  dJointSetSliderParam(slider, dParamVel, target);
  dJointSetSliderParam(slider, dParamFMax, force);
  for (int i = 0; i < steps; i++) CU_ASSERT_EQUAL(dWorldStep(world, H), 1);
  double speed = dBodyGetLinearVel(load)[2];
  /* the motor gives what it may until the target is reached */
  double given = fabs(speed - target) < 1e-9 ? 20 : copysign(force, target);
  CU_ASSERT_DOUBLE_EQUAL(feedback.f1[2], given, 1e-6);
  dWorldDestroy(world);
  return speed;
}

static void test_motors_have_limits(void) {
  CU_ASSERT_DOUBLE_EQUAL(lift_speed(0, 1, 10), -1, of_host(1e-9, 1));
  CU_ASSERT_DOUBLE_EQUAL(lift_speed(15, 1, 10), -0.25,
                         of_host(1e-9, 1)); /* too weak */
  CU_ASSERT_DOUBLE_EQUAL(lift_speed(30, 1, 10), 0.5, of_host(1e-9, 1));
  CU_ASSERT_DOUBLE_EQUAL(lift_speed(30, 1, 30), 1, of_host(1e-9, 1));
  CU_ASSERT_DOUBLE_EQUAL(lift_speed(30, 0, 30), 0,
                         of_host(1e-9, 1)); /* a brake */
  CU_ASSERT_DOUBLE_EQUAL(lift_speed(4, -3, 10), -1.2, of_host(1e-9, 1));
}

/* --- errors of joints ---------------------------------------------------- */

/* By velocity, or by moving the body, which yields by a millionth. */
static void test_joint_errors_fade_with_erp(void) {
  for (int by_velocity = 0; by_velocity < 2; by_velocity++)
    for (int i = 1; i <= 5; i++) {
      const double erp = 0.2 * i, error[3] = {0.03, -0.01, 0.02};
      ode_mlcp_options options = options_of(ODE_MLCP_SCHEME_AH);
      if (by_velocity) options.max_correction = INFINITY;
      dWorldID world = create_world(0, &options);
      dWorldSetERP(world, erp);
      dWorldSetCFM(world, 0);
      dBodyID body = create_ball(world, 1, 0.5);
      joint_ball(world, body, NULL, 0, 0, 0);
      dBodySetPosition(body, error[0], error[1], error[2]);
      CU_ASSERT_EQUAL(ode_mlcp_step(world, H, NULL), ODE_MLCP_OK);
      for (int k = 0; k < 3; k++)
        CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(body)[k], error[k] * (1 - erp),
                               by_velocity ? of_host(1e-10, 0.03) : 1e-7);
      dWorldDestroy(world);
    }
}

/* --- what the program sets and asks -------------------------------------- */

static void test_settings_of_the_world_are_kept(void) {
  dWorldID world = create_world(G, NULL);
  dWorldSetERP(world, 0.37);
  dWorldSetCFM(world, 3e-7);
  dWorldSetQuickStepNumIterations(world, 37);
  dWorldSetQuickStepW(world, 1.7);
  dWorldSetContactMaxCorrectingVel(world, 0.9);
  dWorldSetContactSurfaceLayer(world, 0.004);
  CU_ASSERT_EQUAL(dWorldStep(world, H), 1);
  CU_ASSERT_EQUAL(dWorldGetERP(world), (dReal)0.37);
  CU_ASSERT_EQUAL(dWorldGetCFM(world), (dReal)3e-7);
  CU_ASSERT_EQUAL(dWorldGetQuickStepNumIterations(world), 37);
  CU_ASSERT_EQUAL(dWorldGetQuickStepW(world), (dReal)1.7);
  CU_ASSERT_EQUAL(dWorldGetContactMaxCorrectingVel(world), (dReal)0.9);
  CU_ASSERT_EQUAL(dWorldGetContactSurfaceLayer(world), (dReal)0.004);
  dWorldDestroy(world);
}

static void test_reports_measure(void) {
  scene *s = scene_slide(0);
  attach(s, ODE_MLCP_SCHEME_AP);
  double mass = 0.5 * 0.5 * 0.2 * 1000;
  dBodySetPosition(s->bodies[0], 0, 0, 0.1 - 2e-4);
  ode_mlcp_report report = step_scene(s, H);
  double speed = 3 - 0.5 * G * H;
  CU_ASSERT_DOUBLE_EQUAL(report.kinetic_energy, 0.5 * mass * speed * speed,
                         of_host(1e-6, 0.5 * mass * speed * speed));
  CU_ASSERT_DOUBLE_EQUAL(report.potential_energy, mass * G * (0.1 - 2e-4),
                         of_host(1e-6, mass * G * 0.1));
  CU_ASSERT_DOUBLE_EQUAL(report.deepest_penetration, 2e-4, of_host(1e-9, 0.1));
  CU_ASSERT_EQUAL(report.bodies, 1);
  CU_ASSERT_EQUAL(report.islands, 1);
  CU_ASSERT_EQUAL(report.contacts, s->n_contacts);
  CU_ASSERT_EQUAL(report.rows, 3 * s->n_contacts);
  CU_ASSERT_EQUAL(report.solves, 1);
  CU_ASSERT_EQUAL(report.step, 1);
  CU_ASSERT_DOUBLE_EQUAL(report.time, H, of_host(1e-15, H));
  CU_ASSERT(report.residual < 1e-9);
  report = step_scene(s, 0.002);
  CU_ASSERT_EQUAL(report.step, 2);
  CU_ASSERT_DOUBLE_EQUAL(report.time, H + 0.002, of_host(1e-15, H));
  CU_ASSERT_EQUAL(report.step_size, (dReal)0.002);
  scene_destroy(s);
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"a wall stands", test_a_wall_stands},
      {"slopes", test_slopes},
      {"momentum is kept", test_momentum_is_kept},
      {"energy is not made", test_energy_is_not_made},
      {"collisions of two", test_collisions_of_two},
      {"forces stay in their cones", test_forces_stay_in_their_cones},
      {"contacts obey their laws", test_contacts_obey_their_laws},
      {"kinematic bodies", test_kinematic_bodies},
      {"nothing holds kinematic bodies", test_nothing_holds_kinematic_bodies},
      {"sleep and waking", test_sleep_and_waking},
      {"motors have limits", test_motors_have_limits},
      {"joint errors fade with ERP", test_joint_errors_fade_with_erp},
      {"settings of the world", test_settings_of_the_world_are_kept},
      {"reports measure", test_reports_measure},
      CU_TEST_INFO_NULL};
  return run_host_tests("step: laws", tests);
}
