/* The law that compare judges steppers by, fed with steps of known worth: right
 * ones of several kinds, and steppers that are wrong on purpose. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judge/measure.h"
#include "host_rounding.h"
#include "testing.h"

/* One body on the ground, a point of which touches below its centre; another point
 * or a joint of it where a test wants one. */
typedef struct scene {
  traffic_step step;
  traffic_body body;
  traffic_contact contact;
  union {
    traffic_contact contact;
    traffic_joint joint;
  } other;
} scene;

/* Units, masses, sizes of steps and strengths of gravity that are tried. */
static const struct {
  double mass, h, gravity, mu;
} cases[] = {{1, 0.01, 9.81, 0.5},
             {2000, 0.002, 9.81, 0.8},
             {3e-3, 0.04, 1.62, 0.1},
             {0.5, 0.001, 9810, 0.3}};
enum { N_CASES = sizeof cases / sizeof cases[0] };

/* A body that slides at `speed` along x. */
static scene make(int k, double speed) {
  scene s;
  memset(&s, 0, sizeof s);
  s.step.step_size = cases[k].h;
  s.step.taken = s.step.watched = 1;
  s.step.n_bodies = s.step.n_contacts = 1;
  s.step.erp = 0.2;
  s.step.fastest = INFINITY;
  s.step.gravity[2] = -cases[k].gravity;
  traffic_kind *kind = &s.body.kind;
  kind->body = 1;
  kind->flags = TRAFFIC_DYNAMIC | TRAFFIC_FALLS;
  kind->mass = cases[k].mass;
  for (int i = 0; i < 3; i++) kind->inertia[4 * i] = cases[k].mass;
  s.body.awake = s.body.awake_after = 1;
  s.body.before.quaternion[0] = 1;
  s.body.before.position[2] = 1;
  s.body.before.v[0] = speed;
  s.contact.bodies[0] = 1;
  dContact *asked = &s.contact.asked;
  asked->geom.normal[2] = 1;
  asked->geom.pos[2] = 1; // at its centre: nothing turns it
  asked->surface.mode = dContactApprox1;
  asked->surface.mu = cases[k].mu;
  return s;
}

/* The stepper pushes with `force` and the body is moved by its new velocity. */
static void take(scene *s, const double force[3]) {
  double h = s->step.step_size;
  s->body.after = s->body.before;
  for (int i = 0; i < 3; i++) {
    s->contact.force.f1[i] = force[i];
    s->body.after.v[i] +=
        h * (s->step.gravity[i] + force[i] / s->body.kind.mass);
    s->body.after.position[i] += h * s->body.after.v[i];
  }
}

static recording_step judge(scene *s, double *energy) {
  measurement m = {.energy = 0};
  recording_step out;
  memset(&out, 0, sizeof out);
  CU_ASSERT_FATAL(measure_step(&m, &s->step, &out));
  if (energy != NULL) *energy = m.energy;
  measure_free(&m);
  return out;
}

static double weight(int k) { return cases[k].mass * cases[k].gravity; }
static double fall(int k) { return cases[k].h * cases[k].gravity; }

static void test_right_steps_keep_the_law(void) {
  for (int k = 0; k < N_CASES; k++) {
    double W = weight(k), mu = cases[k].mu;
    // at rest, sliding with all friction that there is, and in the air
    scene rest = make(k, 0), slide = make(k, 20 * fall(k)), air = make(k, 0);
    take(&rest, (double[]){0, 0, W});
    take(&slide, (double[]){-mu * W, 0, W});
    air.contact.asked.geom.depth = -2 * fall(k) * cases[k].h;
    take(&air, (double[]){0, 0, 0});
    scene *right[] = {&rest, &slide, &air};
    for (int i = 0; i < 3; i++) {
      recording_step out = judge(right[i], NULL);
      CU_ASSERT(out.contact_error < of_host(1e-9, 1) * fall(k));
      CU_ASSERT(out.friction_error < of_host(1e-9, 1) * fall(k));
      CU_ASSERT(out.cone_violation < of_host(1e-9, 1) * fall(k));
    }
  }
}

static void test_ignored_friction_is_found(void) {
  for (int k = 0; k < N_CASES; k++) {
    double W = weight(k), missing = cases[k].mu * fall(k);
    scene s = make(k, 20 * fall(k));
    take(&s, (double[]){0, 0, W});
    recording_step out = judge(&s, NULL);
    CU_ASSERT_DOUBLE_EQUAL(out.friction_error, missing, 1e-6 * missing);
    CU_ASSERT(out.contact_error < of_host(1e-9, 1) * fall(k));
    // across the slip, or along it, it is as wrong
    take(&s, (double[]){0, cases[k].mu * W, W});
    CU_ASSERT(judge(&s, NULL).friction_error > missing);
    take(&s, (double[]){cases[k].mu * W, 0, W});
    CU_ASSERT(judge(&s, NULL).friction_error > 1.99 * missing);
    // and more than there is
    take(&s, (double[]){-2 * cases[k].mu * W, 0, W});
    CU_ASSERT(judge(&s, NULL).cone_violation > 0.99 * missing);
  }
}

/* Friction with a coefficient along a direction of the program's and another across. */
static void test_two_coefficients(void) {
  for (int k = 0; k < N_CASES; k++)
    for (int across = 0; across < 2; across++) {
      double W = weight(k), mu = cases[k].mu, along = across ? 3 * mu : mu;
      scene s = make(k, 20 * fall(k));
      dSurfaceParameters *surface = &s.contact.asked.surface;
      surface->mode = dContactApprox1 | dContactMu2 | dContactFDir1;
      surface->mu2 = 3 * mu;
      s.contact.asked.fdir1[across] = 1; // it slides along x
      take(&s, (double[]){-along * W, 0, W});
      CU_ASSERT(judge(&s, NULL).friction_error < of_host(1e-9, 1) * fall(k));
      take(&s, (double[]){-(across ? mu : 3 * mu) * W, 0, W});
      CU_ASSERT(judge(&s, NULL).friction_error > 0.1 * mu * fall(k));
    }
}

static void test_dropped_contact_is_found(void) {
  for (int k = 0; k < N_CASES; k++) {
    scene s = make(k, 0);
    take(&s, (double[]){0, 0, 0});
    CU_ASSERT_DOUBLE_EQUAL(judge(&s, NULL).contact_error, fall(k),
                           1e-6 * fall(k));
    // the reverse: one that pushes as it parts
    s.body.before.v[2] = 3 * fall(k);
    take(&s, (double[]){0, 0, weight(k)});
    CU_ASSERT(judge(&s, NULL).contact_error > 0.99 * fall(k));
  }
}

/* Position errors that become velocity keep the program's law, and put energy in;
 * more of it than the program asks for does not keep it either. */
static void test_pushing_apart_is_found(void) {
  for (int k = 0; k < N_CASES; k++) {
    double h = cases[k].h, depth = 100 * fall(k) * h, asked = 0.2 * depth / h;
    scene s = make(k, 0);
    s.contact.asked.geom.depth = depth;
    take(&s, (double[]){0, 0, weight(k) + cases[k].mass * asked / h});
    recording_step out = judge(&s, NULL);
    CU_ASSERT(out.contact_error < of_host(1e-9, 1) * asked);
    double kinetic = cases[k].mass * asked * asked / 2;
    CU_ASSERT(out.contact_work > 0.99 * kinetic);
    take(&s, (double[]){0, 0, weight(k) + cases[k].mass * 3 * asked / h});
    CU_ASSERT(judge(&s, NULL).contact_error > 1.99 * asked);
  }
}

/* What moves bodies without giving them velocity keeps the law as well. */
static void test_correction_by_motion_is_checked(void) {
  for (int k = 0; k < N_CASES; k++) {
    double h = cases[k].h, depth = 100 * fall(k) * h, asked = 0.2 * depth / h;
    scene s = make(k, 0);
    s.contact.asked.geom.depth = depth;
    take(&s, (double[]){0, 0, weight(k)});
    s.body.after.position[2] += h * asked;
    recording_step out = judge(&s, NULL);
    CU_ASSERT(out.contact_error < of_host(1e-9, 1) * asked);
    CU_ASSERT(out.contact_work < of_host(1e-9, 1) * weight(k) * asked * h);
    // half of what was asked for is half of it missed
    s.body.after.position[2] -= h * asked / 2;
    out = judge(&s, NULL);
    CU_ASSERT_DOUBLE_EQUAL(out.contact_error, asked / 2, 1e-6 * asked);
  }
}

/* A joint's force along the motion, forwards or backwards: a motor's or a spring's
 * work explains the energy, that of a row which can do none explains nothing, and
 * half a motor's half of it. What it takes of a velocity that the program has set since
 * the step before is the program's doing. */
static void test_work_of_joints(void) {
  for (int k = 0; k < 2 * N_CASES; k++)
    for (int sign = -1; sign <= 1; sign += 2)
      for (int halves = 0; halves <= 2; halves++) {
        int at = k % N_CASES, set = k / N_CASES;
        double speed = 20 * fall(at), force = 5 * sign * weight(at);
        double mass = cases[at].mass;
        measurement m = {.energy = 0};
        recording_step out = {.steps = 0};
        scene s = make(at, speed);
        s.step.n_contacts = 0;
        s.body.after = s.body.before;
        if (set) s.body.after.v[0] -= speed;
        CU_ASSERT_FATAL(measure_step(&m, &s.step, &out));
        m.energy = 0;
        s.step.n_joints = 1;
        take(&s, (double[]){force, 0, weight(at)});
        traffic_joint joint = {.bodies = {1, 0}};
        joint.force.f1[0] = force;
        joint.force.f1[2] = weight(at);
        joint.working.f1[0] = 0.5 * halves * force;
        memcpy(&s.contact, &joint, sizeof joint);
        CU_ASSERT_FATAL(measure_step(&m, &s.step, &out));
        double now = s.body.after.v[0];
        double gain = mass * (now * now - speed * speed) / 2;
        CU_ASSERT_DOUBLE_EQUAL(m.energy, set ? 0 : (1 - 0.5 * halves) * gain,
                               of_host(1e-9, 1) * mass * speed * speed);
        measure_free(&m);
      }
}

/* A move without a velocity lifts a body for nothing; one that a velocity makes, of
 * before the step or after it, does not. */
static void test_moves_that_lift(void) {
  for (int k = 0; k < N_CASES; k++)
    for (int kind = 0; kind < 4; kind++) {
      double h = cases[k].h, v = 5 * fall(k), up = 3 * v * h, energy;
      scene s = make(k, 0);
      s.body.before.v[2] = v;
      take(&s, (double[]){0, 0, kind == 3 ? 0 : weight(k)});
      if (kind == 1) s.body.after.position[2] += up;
      if (kind == 2) s.body.after.position[2] -= up;
      if (kind == 3) s.body.after.position[2] = 1 + h * v;
      judge(&s, &energy);
      double expected = kind == 1 ? up : kind == 2 ? -up : 0;
      CU_ASSERT_DOUBLE_EQUAL(energy, weight(k) * expected,
                             of_host(1e-9, 1) * weight(k) * up);
    }
}

/* What a joint's world or a kinematic body carries along is no work of its own. */
static void test_work_of_what_carries(void) {
  for (int k = 0; k < N_CASES; k++) {
    struct {
      traffic_step step;
      traffic_body bodies[2];
      traffic_joint joint;
    } s = {.step = make(k, 0).step};
    double v = 3 * fall(k), energy;
    s.bodies[0] = s.bodies[1] = make(k, v).body;
    s.bodies[1].kind.flags = 0;
    s.step.n_bodies = 2, s.step.n_contacts = 0, s.step.n_joints = 1;
    for (int i = 0; i < 2; i++) { // both go up
      s.bodies[i].before.v[0] = 0, s.bodies[i].before.v[2] = v;
      s.bodies[i].after = s.bodies[i].before;
      s.bodies[i].after.position[2] += cases[k].h * v;
    }
    s.joint.bodies[0] = 1, s.joint.bodies[1] = 2;
    s.joint.force.f1[2] = weight(k), s.joint.force.f2[2] = -weight(k);
    measurement m = {.energy = 0};
    recording_step out;
    memset(&out, 0, sizeof out);
    CU_ASSERT_FATAL(measure_step(&m, &s.step, &out));
    energy = out.energy_unexplained;
    CU_ASSERT(fabs(energy) < of_host(1e-9, 1) * weight(k) * v * cases[k].h);
    measure_free(&m);
  }
}

/* A normal force that lasts and takes speed away that its body should not have, as
 * in a hollow; one that strikes may. */
static void test_work_of_contacts_that_last(void) {
  for (int k = 0; k < N_CASES; k++)
    for (int lasts = 0; lasts < 2; lasts++) {
      double v = fall(k), mass = cases[k].mass, W = weight(k);
      measurement m = {.energy = 0};
      recording_step out;
      scene s = make(k, 0);
      s.step.gravity[2] = 0;
      s.body.force[2] = lasts ? -W : 0; // pressed to the ground at first
      take(&s, (double[]){0, 0, lasts ? W : 0});
      s.body.after = s.body.before;
      memset(&out, 0, sizeof out);
      CU_ASSERT_FATAL(measure_step(&m, &s.step, &out));
      s.body.force[2] = 0;
      s.body.before.v[2] = -v;
      take(&s, (double[]){0, 0, mass * v / cases[k].h});
      memset(&out, 0, sizeof out);
      CU_ASSERT_FATAL(measure_step(&m, &s.step, &out));
      CU_ASSERT_DOUBLE_EQUAL(out.energy_unexplained,
                             lasts ? -mass * v * v / 2 : 0,
                             of_host(1e-9, 1) * mass * v * v);
      measure_free(&m);
    }
}

/* Without dContactApprox1 friction has a limit in newtons, whatever the normal
 * force; one without a limit lets nothing slip. */
static void test_friction_in_newtons(void) {
  for (int k = 0; k < N_CASES; k++) {
    double v = 20 * fall(k), limit = 0.3 * weight(k);
    scene s = make(k, v);
    s.contact.asked.surface.mode = 0;
    s.contact.asked.surface.mu = limit;
    take(&s, (double[]){-limit, 0, 0}); // no normal force
    CU_ASSERT(judge(&s, NULL).friction_error < of_host(1e-9, 1) * fall(k));
    take(&s, (double[]){0, 0, 0});
    CU_ASSERT_DOUBLE_EQUAL(judge(&s, NULL).friction_error, 0.3 * fall(k),
                           1e-6 * fall(k));
    s.contact.asked.surface.mu = dInfinity;
    CU_ASSERT_DOUBLE_EQUAL(judge(&s, NULL).friction_error, v, 1e-6 * v);
    take(&s, (double[]){-cases[k].mass * v / cases[k].h, 0, 0});
    CU_ASSERT(judge(&s, NULL).friction_error < of_host(1e-9, 1) * v);
  }
}

/* What two contacts of a body have too much and too little is nothing to see, but
 * where it turns the body. */
static void test_friction_of_a_body(void) {
  for (int k = 0; k < N_CASES; k++)
    for (int apart = 0; apart < 2; apart++) {
      double W = weight(k), f = cases[k].mu * W / 2;
      scene s = make(k, 20 * fall(k));
      s.step.n_contacts = 2;
      s.other.contact = s.contact;
      s.other.contact.asked.geom.pos[1] += apart;
      s.contact.asked.geom.pos[1] -= apart;
      take(&s, (double[]){-2 * f, 0, W});
      for (int i = 0; i < 2; i++) {
        dJointFeedback *force =
            i == 0 ? &s.contact.force : &s.other.contact.force;
        force->f1[0] = i == 0 ? -1.5 * f : -0.5 * f;
        force->f1[2] = W / 2;
      }
      double missed = cases[k].h * f / cases[k].mass;
      CU_ASSERT_DOUBLE_EQUAL(judge(&s, NULL).friction_error, apart ? missed : 0,
                             1e-6 * missed);
    }
}

/* A body that hardly moves and whose friction is not used up creeps: by its way in
 * all steps, and by none where it goes to and fro. */
static void test_creeping(void) {
  enum { STEPS = 50 };
  for (int k = 0; k < N_CASES; k++)
    for (int kind = 0; kind < 4; kind++) { // creeps, shakes, slides, is held
      double W = weight(k), h = cases[k].h, v = 0.2 * fall(k);
      double share = kind == 2 ? 1 : 0.7;
      measurement m = {.energy = 0};
      recording_step out;
      for (int n = 0; n < STEPS; n++) {
        double u = kind == 3 ? 0 : kind == 1 && n % 2 ? -v : v;
        scene s = make(k, u);
        take(&s, (double[]){(u > 0 ? -share : share) * cases[k].mu * W, 0, W});
        s.body.after.v[0] = u; // something else drives it
        s.body.after.position[0] = h * u;
        memset(&out, 0, sizeof out);
        CU_ASSERT_FATAL(measure_step(&m, &s.step, &out));
      }
      double way = kind == 0 ? STEPS * h * v : kind == 1 ? h * v : 0;
      CU_ASSERT_DOUBLE_EQUAL(out.crept, way, 1e-6 * STEPS * h * v);
      measure_free(&m);
    }
}

static void test_added_energy_is_found(void) {
  for (int k = 0; k < N_CASES; k++) {
    double energy, W = weight(k), speed = 20 * fall(k);
    scene s = make(k, speed);
    take(&s, (double[]){-cases[k].mu * W, 0, W});
    judge(&s, &energy);
    double kinetic = cases[k].mass * speed * speed / 2;
    CU_ASSERT(fabs(energy) < of_host(1e-9, 1) * kinetic);
    // a tenth more speed than the forces give
    s.body.after.v[0] *= 1.1;
    judge(&s, &energy);
    CU_ASSERT(energy > 0.1 * kinetic);
  }
}

/* A body that gravity leaves alone goes on as it did. */
static void test_what_does_not_fall(void) {
  for (int k = 0; k < N_CASES; k++)
    for (int falls = 0; falls < 2; falls++) {
      double v = 3 * fall(k), mass = cases[k].mass, energy;
      scene s = make(k, v);
      s.step.n_contacts = 0;
      s.body.kind.flags = TRAFFIC_DYNAMIC | (falls ? TRAFFIC_FALLS : 0);
      s.body.after = s.body.before;
      s.body.after.position[0] += cases[k].h * v;
      recording_step out = judge(&s, &energy);
      CU_ASSERT_DOUBLE_EQUAL(out.kinetic, mass * v * v / 2,
                             1e-6 * mass * v * v);
      CU_ASSERT_DOUBLE_EQUAL(out.potential, falls ? weight(k) : 0, // 1 m up
                             1e-6 * weight(k));
      CU_ASSERT_DOUBLE_EQUAL(out.momentum_unexplained,
                             falls ? weight(k) * cases[k].h : 0,
                             1e-6 * weight(k) * cases[k].h);
      CU_ASSERT_DOUBLE_EQUAL(out.fastest, v, 1e-6 * v);
    }
}

/* What is put to sleep in a step, or wakes in it, loses or gets its speed by that. */
static void test_sleep_is_not_judged(void) {
  for (int k = 0; k < N_CASES; k++)
    for (int asleep = 0; asleep < 4; asleep++) {
      double energy;
      scene s = make(k, 20 * fall(k));
      s.step.n_contacts = 0;
      s.body.awake = asleep & 1, s.body.awake_after = asleep >> 1;
      s.body.after = s.body.before;
      s.body.after.v[0] = 0;
      recording_step out = judge(&s, &energy);
      CU_ASSERT_EQUAL(out.momentum_unexplained > 0, asleep == 3);
      CU_ASSERT_EQUAL(energy != 0, asleep == 3);
    }
}

static void test_bounces(void) {
  const double e = 0.6;
  for (int k = 0; k < N_CASES; k++) {
    double speed = 30 * fall(k), h = cases[k].h, gain = fall(k);
    scene s = make(k, 0);
    s.contact.asked.surface.mode |= dContactBounce;
    s.contact.asked.surface.bounce = e;
    s.contact.asked.surface.bounce_vel = fall(k);
    s.body.before.v[2] = -speed;
    // the host's rule, and the exact one of an impact as the step begins or ends
    double right[] = {e * speed, e * speed - gain, e * (speed + gain)};
    for (int i = 0; i < 3; i++) {
      double push = cases[k].mass * (right[i] + speed + gain) / h;
      take(&s, (double[]){0, 0, push});
      CU_ASSERT(judge(&s, NULL).contact_error < of_host(1e-9, 1) * speed);
    }
    // one that gives nothing back, and one that gives all
    double wrong[] = {0, speed};
    for (int i = 0; i < 2; i++) {
      take(&s, (double[]){0, 0, cases[k].mass * (wrong[i] + speed + gain) / h});
      CU_ASSERT(judge(&s, NULL).contact_error > 0.3 * speed);
    }
  }
}

/* What passed the surface in the step before rises as high above it as its bounce says:
 * it moves on a parabola, of which a step's velocity is the slope in its middle. */
static void test_bounces_from_below_the_surface(void) {
  const double e = 0.6;
  for (int k = 0; k < N_CASES; k++)
    for (int part = 0; part < 3; part++) {
      double g = cases[k].gravity, h = cases[k].h, gain = fall(k);
      double speed = 30 * gain, depth = 0.45 * part * speed * h;
      scene s = make(k, 0);
      s.contact.asked.surface.mode |= dContactBounce;
      s.contact.asked.surface.bounce = e;
      s.contact.asked.geom.depth = depth;
      s.body.before.v[2] = -speed;
      double here = speed + gain / 2; // down the parabola, at the depth
      double passed = sqrt(here * here - 2 * g * depth);
      double up = sqrt(e * e * passed * passed + 2 * g * depth) - gain / 2;
      take(&s, (double[]){0, 0, cases[k].mass * (up + speed + gain) / h});
      CU_ASSERT(judge(&s, NULL).contact_error < of_host(1e-9, 1) * speed);
      // as high again is too high
      take(&s, (double[]){0, 0, cases[k].mass * (1.5 * up + speed + gain) / h});
      CU_ASSERT(judge(&s, NULL).contact_error > 0.2 * up);
    }
}

/* The same step with the bodies the other way round is as wrong. */
static void test_order_of_bodies_makes_no_difference(void) {
  for (int k = 0; k < N_CASES; k++) {
    scene s = make(k, 20 * fall(k));
    s.contact.asked.surface.mode |= dContactMotion1 | dContactFDir1;
    s.contact.asked.fdir1[0] = 1;
    s.contact.asked.surface.motion1 = 5 * fall(k);
    take(&s, (double[]){0.2 * weight(k), 0.1 * weight(k), 0.7 * weight(k)});
    recording_step one = judge(&s, NULL);
    s.contact.bodies[0] = 0;
    s.contact.bodies[1] = 1;
    s.contact.asked.geom.normal[2] = -1;
    recording_step other = judge(&s, NULL);
    CU_ASSERT(one.contact_error > 0.1 * fall(k));
    CU_ASSERT(one.friction_error > 0.01 * fall(k));
    CU_ASSERT_DOUBLE_EQUAL(one.contact_error, other.contact_error,
                           1e-9 * fall(k));
    CU_ASSERT_DOUBLE_EQUAL(one.friction_error, other.friction_error,
                           1e-9 * fall(k));
  }
}

/* Limits in two directions in place of a cone: what is off by them is told, of what
 * slides between them; none of it of other friction. */
static void test_friction_aslant(void) {
  for (int k = 0; k < N_CASES; k++)
    for (int aslant = 0; aslant < 2; aslant++) {
      double v = 20 * fall(k), f = cases[k].mu * weight(k);
      scene s = make(k, v);
      if (aslant) s.body.before.v[1] = v;
      take(&s, (double[]){-f, aslant ? -f : f / 2, weight(k)});
      recording_step out = judge(&s, NULL);
      CU_ASSERT(out.friction_error > 0.4 * cases[k].mu * fall(k));
      CU_ASSERT_DOUBLE_EQUAL(out.aslant_error, aslant ? out.friction_error : 0,
                             of_host(1e-9, 1) * fall(k));
    }
}

/* A ball that falls, is thrown back with all that it had early or late in the step,
 * and rises: nobody outside is told when, and nothing was put in. */
static void test_impacts_within_a_step(void) {
  for (int k = 0; k < N_CASES; k++)
    for (int early = 0; early < 2; early++) {
      double g = cases[k].gravity, h = cases[k].h, v = 8 * fall(k);
      double until = early ? 0.1 * h : 0.9 * h, met = v + g * until;
      scene s = make(k, 0);
      s.contact.asked.surface.mode |= dContactBounce;
      s.contact.asked.surface.bounce = 1;
      s.body.before.v[2] = -v;
      take(&s, (double[]){0, 0, 2 * met * cases[k].mass / h});
      s.body.after.v[2] = met - g * (h - until);
      CU_ASSERT(judge(&s, NULL).contact_work <
                of_host(1e-9, 1) * weight(k) * v * h);
      // but for what is
      take(&s, (double[]){0, 0, 3 * met * cases[k].mass / h});
      CU_ASSERT(judge(&s, NULL).contact_work > cases[k].mass * met * met);
    }
}

int main(void) {
  static CU_TestInfo tests[] = {
      {"right steps keep the law", test_right_steps_keep_the_law},
      {"ignored friction is found", test_ignored_friction_is_found},
      {"two coefficients of friction", test_two_coefficients},
      {"a dropped contact is found", test_dropped_contact_is_found},
      {"pushing apart is found", test_pushing_apart_is_found},
      {"a correction by motion is checked",
       test_correction_by_motion_is_checked},
      {"added energy is found", test_added_energy_is_found},
      {"what does not fall", test_what_does_not_fall},
      {"sleep is not judged", test_sleep_is_not_judged},
      {"bounces", test_bounces},
      {"bounces from below the surface", test_bounces_from_below_the_surface},
      {"the order of bodies", test_order_of_bodies_makes_no_difference},
      {"work of joints", test_work_of_joints},
      {"moves that lift", test_moves_that_lift},
      {"work of what carries", test_work_of_what_carries},
      {"work of contacts that last", test_work_of_contacts_that_last},
      {"friction in newtons", test_friction_in_newtons},
      {"friction of a body", test_friction_of_a_body},
      {"friction aslant", test_friction_aslant},
      {"impacts within a step", test_impacts_within_a_step},
      {"creeping", test_creeping},
      CU_TEST_INFO_NULL};
  return run_tests("judge: the law", tests);
}
