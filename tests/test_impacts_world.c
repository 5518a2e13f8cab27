/* Collisions read from worlds: the same sets as from plain arrays, and the laws
 * that outcomes obey in three dimensions. */
#include <math.h>
#include <ode/stepper.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "failing_memory.h"
#include "host_rounding.h"
#include "host_testing.h"
#include "impact_example.h"
#include "ode_mlcp.h"
#include "stepper/process.h"

static dWorldID world;
static dJointGroupID contacts;

static void open_world(void) {
  world = dWorldCreate();
  contacts = dJointGroupCreate(0);
}

static void close_world(void) {
  dJointGroupDestroy(contacts);
  dWorldDestroy(world);
}

static bool near(double a, double b, double tolerance) {
  return fabs(a - b) <= tolerance;
}

/* A body with the same inertia about every axis. */
static dBodyID add_body(double mass, double inertia, double x, double y,
                        double z) {
  dBodyID body = dBodyCreate(world);
  dMass m;
  dMassSetParameters(&m, mass, 0, 0, 0, inertia, inertia, inertia, 0, 0, 0);
  dBodySetMass(body, &m);
  dBodySetPosition(body, x, y, z);
  return body;
}

static void keep_in_plane(dBodyID body) {
  dJointAttach(dJointCreatePlane2D(world, 0), body, 0);
}

static dContact contact_at(double x, double y, double z, double nx, double ny,
                           double nz, double mu) {
  dContact contact;
  memset(&contact, 0, sizeof contact);
  const double position[3] = {x, y, z}, normal[3] = {nx, ny, nz};
  for (int i = 0; i < 3; i++) {
    contact.geom.pos[i] = position[i];
    contact.geom.normal[i] = normal[i];
  }
  contact.surface.mode = dContactApprox1;
  contact.surface.mu = mu;
  return contact;
}

static dJointID touch(const dContact *contact, dBodyID first, dBodyID second) {
  dJointID joint = dJointCreateContact(world, contacts, contact);
  dJointAttach(joint, first, second);
  return joint;
}

/* The world's collision, which is there. */
static ode_mlcp_world_impact *collision(void) {
  ode_mlcp_world_impact *impact;
  char message[100];
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_impact_problem_of_world(
                            world, NULL, 0, &impact, message, sizeof message),
                        ODE_MLCP_OK);
  CU_ASSERT_STRING_EQUAL(message, "");
  CU_ASSERT_PTR_NOT_NULL_FATAL(impact);
  return impact;
}

static ode_mlcp_impact *ready(const ode_mlcp_impact_problem *problem) {
  ode_mlcp_impact *impact;
  char message[100];
  ode_mlcp_impact_status status =
      ode_mlcp_impact_create(problem, &impact, message, sizeof message);
  if (status != ODE_MLCP_IMPACT_DONE) printf("\n%s\n", message);
  CU_ASSERT_EQUAL_FATAL(status, ODE_MLCP_IMPACT_DONE);
  return impact;
}

/* ---- the paper's examples as worlds ----------------------------------- */

static void build_rocking_block(void) {
  dBodyID block = add_body(1, 5.0 / 12, 0, 1, 0);
  keep_in_plane(block);
  dBodySetLinearVel(block, 0, -sqrt(2 * 9.81 * 0.01), 0);
  for (int i = 0; i < 2; i++) {
    dContact corner = contact_at(i - 0.5, 0, 0, 0, 1, 0, 1);
    touch(&corner, block, 0);
  }
}

/* What a contact is attached to comes second here: its normal flips. */
static void build_box_wall(void) {
  double turn = 80 * M_PI / 180, c = cos(turn) / 2, s = sin(turn) / 2;
  dBodyID box = add_body(1, 1.0 / 6, 0, 0, 0);
  dMatrix3 rotation;
  dRFromAxisAndAngle(rotation, 0, 0, 1, turn);
  dBodySetRotation(box, rotation);
  keep_in_plane(box);
  dBodySetLinearVel(box, 1, 0, 0);
  /* lowest corner: (-1/2, -1/2) turned; rightmost: (1/2, -1/2) */
  dContact floor = contact_at(-c + s, -s - c, 0, 0, -1, 0, 1);
  dContact wall = contact_at(c + s, s - c, 0, 1, 0, 0, 1);
  wall.surface.mode |= dContactFDir1;
  wall.fdir1[1] = -1;
  touch(&floor, 0, box);
  touch(&wall, 0, box);
}

/* Point masses half way down two legs, with so little inertia about themselves
 * that it cannot be told from none; each leg is kept in the plane, so that two
 * of the hinge's rows and one of the planes' say what others say. */
static void build_compass_gait(void) {
  const double pitch[2] = {-78 * M_PI / 180, 78 * M_PI / 180}, rate = 0.25;
  const double hip[2] = {-cos(pitch[1]) * rate, -sin(pitch[1]) * rate};
  dBodyID leg[2];
  for (int i = 0; i < 2; i++) {
    double across = sin(pitch[i]), down = -cos(pitch[i]);
    leg[i] = add_body(1, 1e-9, across / 2, down / 2, 0);
    dBodySetLinearVel(leg[i], hip[0] - down / 2 * rate,
                      hip[1] + across / 2 * rate, 0);
    dBodySetAngularVel(leg[i], 0, 0, rate);
    keep_in_plane(leg[i]);
    dContact foot = contact_at(across, down, 0, 0, 1, 0, 5);
    foot.surface.mode |= dContactFDir1; /* which way a tangent points */
    foot.fdir1[0] = 1;
    touch(&foot, leg[i], 0);
  }
  dJointID hinge = dJointCreateHinge(world, 0);
  dJointAttach(hinge, leg[0], leg[1]);
  dJointSetHingeAnchor(hinge, 0, 0, 0);
  dJointSetHingeAxis(hinge, 0, 0, 1);
}

typedef void build(void);

/* The largest difference of contact velocities between the set of an example
 * and that of its world, sample by sample. */
static double set_difference(const ode_mlcp_impact_set *set,
                             const ode_mlcp_impact_set *of_world) {
  double worst = 0;
  for (uint64_t i = 0; i < 4 * set->n_outcomes; i++)
    worst = fmax(worst, fabs(set->contact_velocities[i] -
                             of_world->contact_velocities[i]));
  return worst;
}

static void compare_sets(const char *name, build *build_world,
                         double tolerance) {
  open_world();
  build_world();
  impact_example example;
  impact_example_fill(&example, name);
  ode_mlcp_world_impact *read = collision();
  int s = example.problem.n_velocities;
  CU_ASSERT_EQUAL_FATAL(read->problem.n_tangents, 1);
  CU_ASSERT_EQUAL_FATAL(read->problem.n_contacts, 2);
  CU_ASSERT_EQUAL_FATAL(read->problem.n_velocities, s);
  CU_ASSERT(read->joint_jump < of_host(1e-10, 1));

  ode_mlcp_impact *plain = ready(&example.problem);
  ode_mlcp_impact *of_world = ready(&read->problem);
  double rows[4], world_rows[4];
  ode_mlcp_impact_contact_velocities(plain, example.problem.v, rows);
  ode_mlcp_impact_contact_velocities(of_world, read->problem.v, world_rows);
  for (int i = 0; i < 4; i++)
    CU_ASSERT(near(rows[i], world_rows[i], of_host(1e-9, 1)));
  CU_ASSERT(near(ode_mlcp_impact_kinetic_energy(plain, example.problem.v),
                 ode_mlcp_impact_kinetic_energy(of_world, read->problem.v),
                 of_host(1e-9, 1)));

  ode_mlcp_impact_options options;
  ode_mlcp_impact_default_options(&options);
  options.samples = 2000;
  options.h = example.h;
  options.steps = 20;
  options.select = ODE_MLCP_IMPACT_FIRST;
  ode_mlcp_impact_set set, world_set;
  ode_mlcp_impact_approximate(plain, &options, &set);
  ode_mlcp_impact_approximate(of_world, &options, &world_set);
  CU_ASSERT_EQUAL_FATAL(set.n_outcomes, 2000);
  CU_ASSERT_EQUAL_FATAL(world_set.n_outcomes, 2000);
  double difference = set_difference(&set, &world_set);
  tolerance = of_host(tolerance, 1);
  CU_ASSERT(difference < tolerance);
  if (!(difference < tolerance)) printf("\n%s: %g\n", name, difference);

  ode_mlcp_impact_set_release(&set);
  ode_mlcp_impact_set_release(&world_set);
  ode_mlcp_impact_destroy(plain);
  ode_mlcp_impact_destroy(of_world);
  ode_mlcp_world_impact_destroy(read);
  close_world();
}

static void test_worlds_have_the_sets_of_the_arrays(void) {
  compare_sets("rocking-block", build_rocking_block, 1e-9);
  compare_sets("box-wall", build_box_wall, 1e-9);
  compare_sets("compass-gait", build_compass_gait, 1e-6);
}

/* ---- laws in three dimensions ----------------------------------------- */

/* Momentum of all bodies of the world about the origin, and their energy. */
static void momentum(double linear[3], double angular[3], double *energy) {
  size_t n = dWorldGetBodies(world, NULL, 0);
  dBodyID bodies[10];
  dWorldGetBodies(world, bodies, 10);
  for (int i = 0; i < 3; i++) linear[i] = angular[i] = 0;
  *energy = 0;
  for (size_t b = 0; b < n; b++) {
    dMass m;
    dVector3 spin, turned, arm_part;
    dBodyGetMass(bodies[b], &m);
    const dReal *v = dBodyGetLinearVel(bodies[b]);
    const dReal *w = dBodyGetAngularVel(bodies[b]);
    const dReal *x = dBodyGetPosition(bodies[b]);
    dBodyVectorFromWorld(bodies[b], w[0], w[1], w[2], spin);
    dVector3 own = {m.I[0] * spin[0], m.I[5] * spin[1], m.I[10] * spin[2]};
    dBodyVectorToWorld(bodies[b], own[0], own[1], own[2], turned);
    dCalcVectorCross3(arm_part, x, v);
    for (int i = 0; i < 3; i++) {
      linear[i] += m.mass * v[i];
      angular[i] += m.mass * arm_part[i] + turned[i];
      *energy += (m.mass * v[i] * v[i] + own[i] * spin[i]) / 2;
    }
  }
}

/* Two boxes strike each other, spinning, at four points of a face: whatever the
 * outcome, momentum stays and energy does not grow. */
static void build_two_boxes(void) {
  const double at[4][2] = {{.5, .3}, {.5, -.3}, {-.5, .3}, {-.5, -.3}};
  dBodyID below = add_body(2, 0.4, 0.1, 0, -0.5);
  dBodyID above = add_body(1, 0.2, 0, 0, 0.5);
  dBodySetLinearVel(above, 0.3, 0.1, -1);
  dBodySetAngularVel(above, 0.2, -0.4, 0.5);
  dBodySetLinearVel(below, 0, 0, 0.2);
  for (int i = 0; i < 4; i++) {
    dContact corner = contact_at(at[i][0], at[i][1], 0, 0, 0, 1, 0.4);
    corner.surface.mode |= dContactFDir1;
    corner.fdir1[0] = 1;
    touch(&corner, above, below);
  }
}

static void test_outcomes_obey_the_laws(void) {
  open_world();
  build_two_boxes();
  ode_mlcp_world_impact *read = collision();
  CU_ASSERT_EQUAL(read->problem.n_velocities, 12);
  CU_ASSERT_EQUAL(read->problem.n_tangents, 2);
  CU_ASSERT_EQUAL(read->n_bodies, 2);
  ode_mlcp_impact *impact = ready(&read->problem);
  ode_mlcp_impact_options options;
  ode_mlcp_impact_default_options(&options);
  options.steps = 40;
  double before[3], spin_before[3], energy_before, first[12];
  momentum(before, spin_before, &energy_before);
  CU_ASSERT(near(ode_mlcp_impact_kinetic_energy(impact, read->problem.v),
                 energy_before, of_host(1e-12, 1)));

  double spread = 0;
  for (uint64_t sample = 0; sample < 200; sample++) {
    double v[12], rows[12], after[3], spin[3], energy;
    CU_ASSERT_EQUAL(ode_mlcp_impact_sim(impact, &options, sample, v, NULL),
                    ODE_MLCP_IMPACT_DONE);
    CU_ASSERT_EQUAL(ode_mlcp_world_impact_apply(read, v), ODE_MLCP_OK);
    momentum(after, spin, &energy);
    for (int i = 0; i < 3; i++) {
      CU_ASSERT(near(after[i], before[i], of_host(1e-12, 1)));
      CU_ASSERT(near(spin[i], spin_before[i], of_host(1e-12, 1)));
    }
    CU_ASSERT(energy < energy_before - 1e-3);
    ode_mlcp_impact_contact_velocities(impact, v, rows);
    for (int i = 0; i < 4; i++) CU_ASSERT(rows[3 * i] > -1e-8);
    /* friction on the lower box lies in the four contacts' cone */
    const dReal *lower = dBodyGetLinearVel(read->bodies[0]);
    double push = 2 * (0.2 - lower[2]);
    CU_ASSERT(2 * (fabs(lower[0]) + fabs(lower[1])) <= 0.4 * push + 1e-9);
    if (sample == 0) memcpy(first, v, sizeof first);
    for (int i = 0; i < 12; i++) spread = fmax(spread, fabs(v[i] - first[i]));
  }
  CU_ASSERT(spread > 1e-2); /* a set, not a point */
  ode_mlcp_impact_destroy(impact);
  ode_mlcp_world_impact_destroy(read);
  close_world();
}

/* ---- what a world has besides ----------------------------------------- */

/* One outcome of the world's collision, written back. */
static void resolve(void) {
  ode_mlcp_world_impact *read = collision();
  ode_mlcp_impact *impact = ready(&read->problem);
  ode_mlcp_impact_options options;
  ode_mlcp_impact_default_options(&options);
  options.h = 1000; /* in one step */
  double v[60];
  CU_ASSERT_FATAL(read->problem.n_velocities <= 60);
  CU_ASSERT_EQUAL(ode_mlcp_impact_sim(impact, &options, 0, v, NULL),
                  ODE_MLCP_IMPACT_DONE);
  CU_ASSERT_EQUAL(ode_mlcp_world_impact_apply(read, v), ODE_MLCP_OK);
  ode_mlcp_impact_destroy(impact);
  ode_mlcp_world_impact_destroy(read);
}

static void test_kinematic_bodies_and_moving_surfaces(void) {
  open_world();
  dBodyID wall = add_body(1, 1, -1, 0, 0), ball = add_body(1, 0.4, 0, 0, 0);
  dBodySetKinematic(wall);
  dBodySetLinearVel(wall, 3, 0, 0);
  dBodyDisable(ball);
  dContact front = contact_at(-1, 0, 0, 1, 0, 0, 0);
  touch(&front, ball, wall);
  resolve();
  CU_ASSERT(near(dBodyGetLinearVel(ball)[0], 3, 1e-12));
  CU_ASSERT(near(dBodyGetLinearVel(wall)[0], 3, 0));
  CU_ASSERT(dBodyIsEnabled(ball));
  close_world();

  /* dropped onto a belt without slipping on it: the contact keeps up with it */
  open_world();
  ball = add_body(1, 0.4, 0, 0, 1);
  dBodySetLinearVel(ball, 0, 0, -1);
  dContact belt = contact_at(0, 0, 0, 0, 0, 1, dInfinity);
  belt.surface.mode |= dContactFDir1 | dContactMotion1;
  belt.surface.motion1 = 0.5;
  belt.fdir1[1] = 1;
  touch(&belt, ball, 0);
  resolve();
  const dReal *v = dBodyGetLinearVel(ball), *w = dBodyGetAngularVel(ball);
  CU_ASSERT(near(v[2], 0, 1e-9) && near(v[0], 0, 1e-9));
  CU_ASSERT(near(v[1] + w[0], 0.5, 1e-9)); /* at (0, 0, -1) from the centre */
  close_world();
}

/* A point mass slides into the floor: what friction takes off along each of two
 * directions is its coefficient times the normal impulse. */
static void slide(int mode, double mu, double mu2, double expected_x,
                  double expected_y) {
  open_world();
  dBodyID mass = add_body(1, 1, 0, 0, 0);
  dBodySetLinearVel(mass, 3, 3, -1);
  dContact floor = contact_at(0, 0, 0, 0, 0, 1, mu);
  floor.surface.mode = mode | dContactFDir1;
  floor.surface.mu2 = mu2;
  floor.fdir1[0] = 1;
  touch(&floor, mass, 0);
  resolve();
  CU_ASSERT(near(dBodyGetLinearVel(mass)[0], expected_x, 1e-9));
  CU_ASSERT(near(dBodyGetLinearVel(mass)[1], expected_y, 1e-9));
  CU_ASSERT(near(dBodyGetLinearVel(mass)[2], 0, 1e-9));
  close_world();
}

static void test_coefficients(void) {
  const int both = dContactApprox1 | dContactMu2;
  slide(both, 0.5, 0, 2.5, 3);
  slide(both, 0, 0.5, 3, 2.5);
  /* along the steeper side of the diamond */
  slide(both, 0.5, 0.2, 2.5, 3);
  slide(dContactMu2 | dContactApprox1_2, 0.5, 0.25, 3, 2.75);
  /* a force of 5 N has no impulse, an infinite one sticks */
  slide(0, 5, 0, 3, 3);
  slide(0, dInfinity, 0, 0, 0);

  /* with no direction given, Coulomb's law along the slip */
  open_world();
  dBodyID mass = add_body(1, 1, 0, 0, 0);
  dBodySetLinearVel(mass, 3, 4, -1);
  dContact floor = contact_at(0, 0, 0, 0, 0, 1, 0.5);
  touch(&floor, mass, 0);
  resolve();
  CU_ASSERT(near(dBodyGetLinearVel(mass)[0], 3 * 0.9, of_host(1e-9, 1)));
  CU_ASSERT(near(dBodyGetLinearVel(mass)[1], 4 * 0.9, of_host(1e-9, 1)));
  close_world();
}

/* An arm swings into its stop. */
static void test_stops_and_motors(void) {
  open_world();
  dBodyID arm = add_body(1, 1, 1, 0, 0);
  dJointID hinge = dJointCreateHinge(world, 0);
  dJointAttach(hinge, arm, 0);
  dJointSetHingeAnchor(hinge, 0, 0, 0);
  dJointSetHingeAxis(hinge, 0, 0, 1);
  dMatrix3 turned;
  dRFromAxisAndAngle(turned, 0, 0, 1, 0.01);
  dBodySetRotation(arm, turned);
  dBodySetPosition(arm, cos(0.01), sin(0.01), 0);
  dBodySetLinearVel(arm, -2 * sin(0.01), 2 * cos(0.01), 0);
  dBodySetAngularVel(arm, 0, 0, 2);
  ode_mlcp_world_impact *none;
  CU_ASSERT_EQUAL(
      ode_mlcp_impact_problem_of_world(world, NULL, 0, &none, NULL, 0),
      ODE_MLCP_OK);
  CU_ASSERT_PTR_NULL(none); /* no stop yet */

  double angle = dJointGetHingeAngle(hinge);
  dJointSetHingeParam(hinge, dParamLoStop, -1);
  dJointSetHingeParam(hinge, dParamHiStop, -0.005);
  if (angle < 0) { /* the host's sense of rotation */
    dJointSetHingeParam(hinge, dParamLoStop, 0.005 + 2 * angle + 0.01);
    dJointSetHingeParam(hinge, dParamHiStop, 1);
  }
  /* a motor with a limit pulls on, and has no impulse */
  dJointSetHingeParam(hinge, dParamVel, 5);
  dJointSetHingeParam(hinge, dParamFMax, 100);
  ode_mlcp_world_impact *read = collision();
  CU_ASSERT_EQUAL(read->problem.n_velocities, 1);
  CU_ASSERT_EQUAL(read->problem.n_contacts, 1);
  CU_ASSERT_PTR_EQUAL(read->joints[0], hinge);
  CU_ASSERT(near(read->problem.mu[0], 0, 0));
  /* M = 1: the coordinate is the square root of twice the energy */
  CU_ASSERT(near(fabs(read->problem.v[0]), sqrt(8), of_host(1e-12, 1)));
  ode_mlcp_world_impact_destroy(read);
  resolve();
  CU_ASSERT(near(dBodyGetAngularVel(arm)[2], 0, 1e-12));
  CU_ASSERT(near(dBodyGetLinearVel(arm)[1], 0, 1e-12));
  close_world();
}

/* A motor without a limit drives a wheel; a velocity that the joints do not
 * allow is gone before anything collides. */
static void test_driven_joints(void) {
  open_world();
  dBodyID wheel = add_body(1, 1, 0, 0, 1);
  dJointID hinge = dJointCreateHinge(world, 0);
  dJointAttach(hinge, wheel, 0);
  dJointSetHingeAnchor(hinge, 0, 0, 1);
  dJointSetHingeAxis(hinge, 0, 1, 0);
  dJointSetHingeParam(hinge, dParamVel, -3);
  dJointSetHingeParam(hinge, dParamFMax, dInfinity);
  dBodyID block = add_body(1, 1, 0, 0, -0.5);
  dBodySetLinearVel(block, 0, 0, 1);
  dBodySetLinearVel(wheel, 0.25, 0, 0); /* off the hinge */
  dContact rim = contact_at(0, 0, 0, 0, 0, -1, dInfinity);
  touch(&rim, block, wheel);
  ode_mlcp_world_impact *read = collision();
  CU_ASSERT_EQUAL(read->problem.n_velocities, 6); /* the block's */
  CU_ASSERT_EQUAL(read->n_bodies, 2);
  CU_ASSERT(near(read->joint_jump, 3, 1e-9)); /* rad/s, of the motor */
  ode_mlcp_world_impact_destroy(read);
  resolve();
  double rate = dBodyGetAngularVel(wheel)[1];
  CU_ASSERT(near(fabs(rate), 3, 1e-12));
  CU_ASSERT(near(dBodyGetLinearVel(wheel)[0], 0, 1e-12));
  /* the rim's velocity is w x (0, 0, -1); the block's top follows it */
  CU_ASSERT(near(dBodyGetLinearVel(block)[0] + dBodyGetAngularVel(block)[1] / 2,
                 -rate, 1e-9));
  CU_ASSERT(near(dBodyGetLinearVel(block)[2], 0, 1e-9));
  close_world();
}

/* A body that turns about a ball joint at its centre hits the floor beside it, 1 m out,
 * at 2 m/s. A joint that gives way by a CFM of its own is a spring and has no part: half
 * of the spin is left, and the body rises at 1 m/s. One as soft as its whole world is
 * a joint: all of the spin goes, and nothing moves to where the joint belongs, 1 cm
 * away. */
static void test_springs_do_not_tie(void) {
  for (int spring = 0; spring < 2; spring++) {
    open_world();
    dWorldSetCFM(world, spring ? 1e-9 : 1e-3);
    dBodyID body = add_body(1, 1, 0, 0, 0.5);
    dJointID ball = dJointCreateBall(world, 0);
    dJointAttach(ball, body, 0);
    dJointSetBallAnchor(ball, 0, 0, 0.5);
    dJointSetBallParam(ball, dParamCFM, 1e-3);
    dBodySetPosition(body, 0.01, 0, 0.5);
    dBodySetAngularVel(body, 0, 2, 0);
    dContact floor = contact_at(1.01, 0, 0, 0, 0, 1, 0);
    touch(&floor, body, 0);
    ode_mlcp_world_impact *read = collision();
    CU_ASSERT_EQUAL(read->problem.n_velocities, spring ? 6 : 3);
    CU_ASSERT_EQUAL(read->problem.n_velocities, spring ? 6 : 3);
    CU_ASSERT_EQUAL(read->problem.n_contacts, 1);
    ode_mlcp_world_impact_destroy(read);
    resolve();
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetAngularVel(body)[1], spring ? 1 : 0, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(body)[2], spring ? 1 : 0, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(body)[0], 0, 1e-12);
    close_world();
  }
}

static void test_contacts_given(void) {
  open_world();
  dBodyID ball = add_body(1, 0.4, 0, 0, 0.5);
  dGeomID sphere = dCreateSphere(0, 0.5), plane = dCreatePlane(0, 0, 0, 1, 0);
  dGeomSetBody(sphere, ball);
  dBodySetLinearVel(ball, 0, 0, -2);
  dContact contact = contact_at(0, 0, 0, 0, 0, 1, 0.5);
  contact.geom.g1 = sphere;
  contact.geom.g2 = plane;
  ode_mlcp_world_impact *read;
  dContact some[3] = {contact, contact, contact};
  some[1].geom.pos[0] = 1e-6; /* the same point */
  some[2].geom.depth = -1e-3; /* not there yet */
  CU_ASSERT_EQUAL(
      ode_mlcp_impact_problem_of_world(world, some, 3, &read, NULL, 0),
      ODE_MLCP_OK);
  CU_ASSERT_PTR_NOT_NULL_FATAL(read);
  CU_ASSERT_EQUAL(read->problem.n_contacts, 1);
  CU_ASSERT_EQUAL(read->contacts_left_out, 1);
  CU_ASSERT_PTR_NULL(read->joints[0]);
  ode_mlcp_world_impact_destroy(read);

  /* the same pair the other way round */
  contact.geom.g1 = plane;
  contact.geom.g2 = sphere;
  contact.geom.normal[2] = -1;
  ode_mlcp_impact_problem_of_world(world, &contact, 1, &read, NULL, 0);
  CU_ASSERT_PTR_NOT_NULL_FATAL(read);
  CU_ASSERT(near(read->problem.Jn[2], 1, 1e-15));
  ode_mlcp_world_impact_destroy(read);
  dGeomDestroy(sphere);
  dGeomDestroy(plane);
  close_world();
}

/* Bodies that nothing ties to the collision are not in its problem. */
static void test_only_what_collides(void) {
  open_world();
  dBodyID resting = add_body(1, 1, 5, 0, 0.5);
  dBodyID falling = add_body(1, 1, 0, 0, 1);
  dBodyID above = add_body(1, 1, 0, 0, 2);
  dContact floor = contact_at(5, 0, 0, 0, 0, 1, 0.5);
  dContact under = contact_at(0, 0, 0.5, 0, 0, 1, 0.5);
  dContact between = contact_at(0, 0, 1.5, 0, 0, 1, 0.5);
  touch(&floor, resting, 0);
  touch(&under, falling, 0);
  touch(&between, above, falling);
  ode_mlcp_world_impact *read;
  ode_mlcp_impact_problem_of_world(world, NULL, 0, &read, NULL, 0);
  CU_ASSERT_PTR_NULL(read); /* all rest */
  dBodySetLinearVel(falling, 0, 0, -1);
  read = collision();
  CU_ASSERT_EQUAL(read->n_bodies, 2);
  CU_ASSERT_PTR_EQUAL(read->bodies[0], falling);
  CU_ASSERT_PTR_EQUAL(read->bodies[1], above);
  CU_ASSERT_EQUAL(read->problem.n_contacts, 2);
  ode_mlcp_world_impact_destroy(read);
  close_world();
}

/* ---- failures --------------------------------------------------------- */

static void refuses(const dContact given[], int count, const char *expected) {
  ode_mlcp_world_impact *read;
  char message[100] = "?";
  CU_ASSERT_EQUAL(ode_mlcp_impact_problem_of_world(world, given, count, &read,
                                                   message, sizeof message),
                  ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_PTR_NULL(read);
  CU_ASSERT_PTR_NOT_NULL(strstr(message, expected));
  if (strstr(message, expected) == NULL) printf("\n%s\n", message);
}

static void test_bad_input(void) {
  open_world();
  dBodyID body = add_body(1, 1, 0, 0, 0);
  dBodySetLinearVel(body, 0, 0, -1);
  dContact contact = contact_at(0, 0, 0, 0, 0, 1, 0.5);
  contact.geom.depth = NAN;
  touch(&contact, body, 0); /* bodies and joints are numbered together */
  refuses(NULL, 0, "a contact of bodies 1 and 0: depth is nan");
  dJointGroupEmpty(contacts);
  contact.geom.depth = 0;
  contact.surface.mu = NAN;
  dGeomID sphere = dCreateSphere(0, 1);
  dGeomSetBody(sphere, body);
  contact.geom.g1 = sphere;
  refuses(&contact, 1, "a contact of bodies 1 and 0: mu is nan");
  refuses(&contact, -1, "");
  refuses(NULL, 1, "");

  dWorldID mine = world;
  world = dWorldCreate();
  refuses(&contact, 1, "contact 1: a body of another world");
  dWorldDestroy(world);
  world = mine;

  /* two motors of one hinge's axis that disagree */
  contact.surface.mu = 0.5;
  for (int i = 0; i < 2; i++) {
    dJointID hinge = dJointCreateHinge(world, 0);
    dJointAttach(hinge, body, 0);
    dJointSetHingeParam(hinge, dParamVel, 1 + i);
    dJointSetHingeParam(hinge, dParamFMax, dInfinity);
  }
  refuses(&contact, 1, "joints drive bodies against each other");
  dBodySetLinearVel(body, 0, NAN, 0);
  refuses(NULL, 0, "body 1: linear velocity is nan");
  dGeomDestroy(sphere);
  close_world();

  /* a kinematic press closes on a body that is held */
  open_world();
  body = add_body(1, 1, 0, 0, 0);
  dJointID held = dJointCreateFixed(world, 0);
  dJointAttach(held, body, 0);
  dJointSetFixed(held);
  dBodyID press = add_body(1, 1, 0, 0, 2);
  dBodySetKinematic(press);
  dBodySetLinearVel(press, 0, 0, -1);
  dContact top = contact_at(0, 0, 1, 0, 0, -1, 0.5);
  touch(&top, body, press);
  refuses(NULL, 0, "a contact closes by itself");
  close_world();
}

static void test_memory_failures(void) {
  failing_memory memory = {0};
  const memory_source failing = failing_memory_source(&memory);
  const memory_source *usual = process()->memory;
  open_world();
  build_compass_gait();
  process_set_memory(&failing);
  ode_mlcp_error error = ODE_MLCP_NO_MEMORY;
  int n = 0;
  for (; error != ODE_MLCP_OK && n < 100; n++) {
    ode_mlcp_world_impact *read;
    fail_allocations_from(&memory, n);
    error = ode_mlcp_impact_problem_of_world(world, NULL, 0, &read, NULL, 0);
    CU_ASSERT(error == ODE_MLCP_OK || error == ODE_MLCP_NO_MEMORY);
    CU_ASSERT((error == ODE_MLCP_OK) == (read != NULL));
    ode_mlcp_world_impact_destroy(read);
    CU_ASSERT_EQUAL(memory.bytes_held, 0);
  }
  CU_ASSERT(n > 8 && n < 100);
  process_set_memory(usual);
  close_world();
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"worlds have the sets of the arrays",
       test_worlds_have_the_sets_of_the_arrays},
      {"outcomes obey the laws", test_outcomes_obey_the_laws},
      {"kinematic bodies, moving surfaces",
       test_kinematic_bodies_and_moving_surfaces},
      {"coefficients", test_coefficients},
      {"stops and motors", test_stops_and_motors},
      {"driven joints", test_driven_joints},
      {"springs do not tie", test_springs_do_not_tie},
      {"contacts given", test_contacts_given},
      {"only what collides", test_only_what_collides},
      {"bad input", test_bad_input},
      {"memory failures", test_memory_failures},
      CU_TEST_INFO_NULL};
  return run_host_tests("impacts of worlds", tests);
}
