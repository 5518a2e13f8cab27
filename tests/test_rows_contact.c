/* Contact rows against the host's own getInfo1 and getInfo2. */
#include <math.h>
#include <ode/stepper.h>
#include <string.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "host_rounding.h"
#include "host_testing.h"
#include "rows/contact_rows.h"

static const double STEP = 0.0125;

typedef struct scene {
  dWorldID world;
  dBodyID body[2];
  host_body bodies[2];
  double v[12], v_free[12];
  test_random random;
} scene;

static void random_vector(test_random *random, double v[3], double size) {
  for (int i = 0; i < 3; i++) v[i] = test_uniform(random, -size, size);
}

static void create_scene(scene *s, uint64_t seed) {
  s->random.state = seed;
  s->world = dWorldCreate();
  dWorldSetERP(s->world, test_uniform(&s->random, 0.1, 0.9));
  dWorldSetCFM(s->world, test_uniform(&s->random, 0, 1e-5));
  dWorldSetContactSurfaceLayer(s->world, 0.01);
  dWorldSetContactMaxCorrectingVel(s->world, 2);
  for (int b = 0; b < 2; b++) {
    double x[3], axis[3];
    char message[160];
    dMatrix3 R;
    dMass mass;
    s->body[b] = dBodyCreate(s->world);
    dMassSetBox(&mass, 1, 1, 2, 3);
    dBodySetMass(s->body[b], &mass);
    random_vector(&s->random, x, 2);
    dBodySetPosition(s->body[b], x[0], x[1], x[2]);
    random_vector(&s->random, axis, 1);
    dRFromAxisAndAngle(R, axis[0], axis[1], axis[2],
                       test_uniform(&s->random, 0, 3));
    dBodySetRotation(s->body[b], R);
    random_vector(&s->random, x, 3);
    dBodySetLinearVel(s->body[b], x[0], x[1], x[2]);
    random_vector(&s->random, x, 3);
    dBodySetAngularVel(s->body[b], x[0], x[1], x[2]);
    CU_ASSERT_FATAL(host_body_read(&s->bodies[b], s->body[b], STEP, message,
                                   sizeof message));
    memcpy(s->v + 6 * b, s->bodies[b].v, sizeof s->bodies[b].v);
    host_body_free_velocity(&s->bodies[b], STEP, s->v_free + 6 * b);
  }
}

/* A surface with every field the mode does not use left as NaN. */
static void random_surface(scene *s, dContact *contact) {
  dSurfaceParameters *p = &contact->surface;
  test_random *random = &s->random;
  int flags[] = {dContactMu2,       dContactFDir1,     dContactBounce,
                 dContactSoftERP,   dContactSoftCFM,   dContactMotion1,
                 dContactMotion2,   dContactMotionN,   dContactSlip1,
                 dContactSlip2,     dContactApprox1_1, dContactApprox1_2,
                 dContactApprox1_N, dContactRolling};
  memset(p, 0, sizeof *p);
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
    if (test_uniform(random, 0, 1) < 0.5) p->mode |= flags[i];

  p->mu = test_uniform(random, 0, 1) < 0.1 ? -1 : test_uniform(random, 0, 2);
  p->mu2 = p->mode & dContactMu2 ? test_uniform(random, 0, 2) : NAN;
  bool rolling = p->mode & dContactRolling,
       axis_dep = p->mode & dContactAxisDep;
  p->rho = rolling ? test_uniform(random, 0.1, 1) : NAN;
  p->rho2 = rolling && axis_dep ? test_uniform(random, 0.1, 1) : NAN;
  p->rhoN = rolling && axis_dep ? test_uniform(random, 0.1, 1) : NAN;
  p->bounce = p->mode & dContactBounce ? test_uniform(random, 0, 1) : NAN;
  p->bounce_vel =
      p->mode & dContactBounce ? test_uniform(random, -0.2, 1) : NAN;
  p->soft_erp = p->mode & dContactSoftERP ? test_uniform(random, 0, 1) : NAN;
  p->soft_cfm = p->mode & dContactSoftCFM ? test_uniform(random, 0, 1) : NAN;
  p->motion1 = p->mode & dContactMotion1 ? test_uniform(random, -1, 1) : NAN;
  p->motion2 = p->mode & dContactMotion2 ? test_uniform(random, -1, 1) : NAN;
  p->motionN = p->mode & dContactMotionN ? test_uniform(random, -1, 1) : NAN;
  p->slip1 = p->mode & dContactSlip1 ? test_uniform(random, 0, 1) : NAN;
  p->slip2 = p->mode & dContactSlip2 ? test_uniform(random, 0, 1) : NAN;
}

static void random_contact(scene *s, dContact *contact) {
  memset(contact, 0, sizeof *contact);
  random_surface(s, contact);
  double normal[3], position[3], direction[3], along[3];
  random_vector(&s->random, normal, 1);
  double length = vec3_length(normal);
  random_vector(&s->random, position, 2);
  random_vector(&s->random, direction, 1);
  for (int i = 0; i < 3; i++) {
    contact->geom.normal[i] = normal[i] / length;
    contact->geom.pos[i] = position[i];
  }
  vec3_cross(along, real3(contact->geom.normal).at, direction);
  length = vec3_length(along);
  for (int i = 0; i < 3; i++)
    contact->fdir1[i] =
        contact->surface.mode & dContactFDir1 ? along[i] / length : NAN;
  contact->geom.depth = test_uniform(&s->random, 0, 0.05);
}

/* Our rows of a contact. */
typedef struct built_contact {
  mlcp_row rows[CONTACT_ROWS_MAX];
  row_correction corrections[CONTACT_ROWS_MAX];
  mlcp_friction frictions[CONTACT_FRICTIONS_MAX];
  mlcp_pair pairs[CONTACT_PAIRS_MAX(64)];
  row_set set;
  contact_rows built;
} built_contact;

static host_contact_verdict build(built_contact *out, const scene *s,
                                  const dContact *contact, const int body[2],
                                  bool reversed, int edges) {
  static const int problem_body[2] = {0, 1};
  double bad_value;
  const char *bad_name;
  host_contact reading;
  contact_facts facts = {.carried = NAN};
  row_frame frame = {.v = s->v,
                     .v_free = s->v_free,
                     .problem_body = problem_body,
                     .step_size = STEP,
                     .max_correction = INFINITY};
  contact_settings settings = {
      .erp = dWorldGetERP(s->world),
      .cfm = dWorldGetCFM(s->world),
      .surface_layer = dWorldGetContactSurfaceLayer(s->world),
      .max_velocity = dWorldGetContactMaxCorrectingVel(s->world),
      .spring_erp = dWorldGetERP(s->world),
      .edges = edges,
      .slip_floor = 1e-9,
      .springs = true};
  out->set = (row_set){.rows = out->rows,
                       .corrections = out->corrections,
                       .frictions = out->frictions,
                       .pairs = out->pairs};
  host_contact_verdict verdict = host_contact_read(
      &reading, contact, reversed, body, s->bodies, &bad_name, &bad_value);
  if (verdict != CONTACT_USABLE) return verdict;
  reading.soft = reading.surface.cfm > settings.cfm;
  contact_rows_add(&out->set, &frame, &settings, &reading, &facts, s->bodies,
                   &out->built);
  return verdict;
}

static double worst_difference(const built_contact *ours,
                               const dStepperJointRows *host) {
  double worst = 0;
  for (int i = 0; i < ours->built.n_rows; i++) {
    const mlcp_row *row = &ours->rows[i];
    for (int side = 0; side < 2; side++)
      for (int k = 0; k < 6 && row->body[side] >= 0; k++)
        worst = fmax(worst, fabs(row->J[side][k] - host->J[i][side][k]));
    worst = fmax(worst, fabs(row->bias + host->rhs[i]));
    worst = fmax(worst, fabs(row->compliance - host->cfm[i] / STEP));
  }
  return worst;
}

/* True if a friction row has a limit of its own, not one with another row. */
static bool is_alone(const built_contact *ours, int row) {
  for (int f = 0; f < ours->set.n_frictions; f++) {
    const mlcp_friction *set = &ours->frictions[f];
    if (row >= set->first_row && row < set->first_row + set->n_base)
      return set->n_base == 1;
  }
  return true;
}

/* The host's limit of a friction row, in its sense, from our friction set. */
static double our_limit(const built_contact *ours, int row) {
  for (int f = 0; f < ours->set.n_frictions; f++) {
    const mlcp_friction *set = &ours->frictions[f];
    int base = row - set->first_row;
    if (base < 0 || base >= set->n_base) continue;
    double largest = 0; /* how far the polygon reaches along the row */
    for (int k = 0; k < set->n_pairs; k++)
      largest = fmax(largest, fabs(ours->pairs[set->first_pair + k].u[base]));
    return (set->coefficient + set->limit / STEP) * largest;
  }
  return -1;
}

static void check_against_host(uint64_t seed) {
  scene s;
  create_scene(&s, seed);
  dContact contact;
  random_contact(&s, &contact);
  int arrangement = (int)(seed % 3);
  dBodyID first = arrangement == 2 ? 0 : s.body[0];
  dBodyID second = arrangement == 0   ? s.body[1]
                   : arrangement == 1 ? 0
                                      : s.body[0];
  const int body[2] = {0, arrangement == 0 ? 1 : -1};
  dJointID joint = dJointCreateContact(s.world, 0, &contact);
  dJointAttach(joint, first, second);

  dStepperJointRows host;
  built_contact ours;
  CU_ASSERT_FATAL(
      dJointGetStepperRows(joint, 1 / STEP, dWorldGetERP(s.world), &host));
  CU_ASSERT_EQUAL_FATAL(build(&ours, &s, &contact, body, arrangement == 2, 4),
                        CONTACT_USABLE);
  CU_ASSERT_EQUAL((int)host.count, ours.built.n_rows);
  CU_ASSERT(worst_difference(&ours, &host) < of_host(1e-12, 1));
  for (int i = 1; i < ours.built.n_rows; i++) {
    double limit = our_limit(&ours, i);
    /* the polygon lies in the host's box and touches the ellipse in it */
    CU_ASSERT(limit <= host.hi[i] * (1 + 1e-12));
    CU_ASSERT(limit >= host.hi[i] * (sqrt(0.5) - 1e-12));
    if (host.findex[i] < 0 && i > ours.built.n_sliding && is_alone(&ours, i))
      CU_ASSERT_DOUBLE_EQUAL(limit, host.hi[i], 1e-12);
  }

  /* negative control: a change in the last row is noticed */
  ours.rows[ours.built.n_rows - 1].J[0][4] += 1e-9;
  CU_ASSERT(worst_difference(&ours, &host) > 1e-10);
  dJointDestroy(joint);
  dWorldDestroy(s.world);
}

static void test_rows_are_the_hosts(void) {
  for (uint64_t seed = 1; seed <= 3000; seed++) check_against_host(seed);
}

/* Apart: the normal row lets the bodies come as close as they are, whatever
 * the ERP; limits that do not follow the normal impulse act only where the
 * contact can push. */
static void test_gaps_are_not_scaled(void) {
  for (uint64_t seed = 1; seed <= 500; seed++) {
    scene s;
    create_scene(&s, seed);
    dContact touching, apart;
    random_contact(&s, &touching);
    touching.geom.depth = 0;
    touching.surface.mode &= ~dContactBounce;
    apart = touching;
    double gap = test_uniform(&s.random, 1e-6, 0.2);
    apart.geom.depth = -gap;
    const int body[2] = {0, 1};
    built_contact at, near;
    build(&at, &s, &touching, body, false, 4);
    build(&near, &s, &apart, body, false, 4);
    CU_ASSERT_DOUBLE_EQUAL(near.rows[0].bias, at.rows[0].bias + gap / STEP,
                           of_host(1e-12, 1) * (1 + gap / STEP));
    CU_ASSERT_EQUAL(near.corrections[0].velocity, 0);

    double free_gap = gap;
    for (int side = 0; side < 2; side++)
      for (int k = 0; k < 6; k++)
        free_gap += STEP * near.rows[0].J[side][k] * s.v_free[6 * side + k];
    CU_ASSERT(free_gap > 0 || near.built.n_rows == at.built.n_rows);
    for (int f = 0; f < near.set.n_frictions; f++)
      CU_ASSERT(free_gap <= 0 || near.frictions[f].limit == 0);
    dWorldDestroy(s.world);
  }
}

/* Friction without limit holds nothing that is far apart. */
static void test_no_glue_across_a_gap(void) {
  scene s;
  create_scene(&s, 9);
  dContact contact;
  random_contact(&s, &contact);
  contact.surface.mode = 0;
  contact.surface.mu = dInfinity;
  contact.geom.depth = -10;
  const int body[2] = {0, 1};
  built_contact ours;
  build(&ours, &s, &contact, body, false, 4);
  CU_ASSERT_EQUAL(ours.built.n_rows, 1); /* the normal's alone */
  contact.geom.depth = 0;
  build(&ours, &s, &contact, body, false, 4);
  CU_ASSERT_EQUAL(ours.set.n_frictions, 0);
  CU_ASSERT_EQUAL(ours.rows[1].kind, MLCP_ROW_JOINT);
  dWorldDestroy(s.world);
}

/* A bounce happens in the step that would touch, not before. */
static void test_bounce_waits_for_the_touch(void) {
  scene s;
  create_scene(&s, 9);
  dContact contact;
  random_contact(&s, &contact);
  contact.surface.mode = dContactBounce;
  contact.surface.bounce = 0.5;
  contact.surface.bounce_vel = 0;
  contact.geom.depth = 0;
  const int body[2] = {0, 1};
  built_contact ours;
  build(&ours, &s, &contact, body, false, 4);
  double speed = 0, free_speed = 0;
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < 6; k++) {
      speed += ours.rows[0].J[side][k] * s.v[6 * side + k];
      free_speed += ours.rows[0].J[side][k] * s.v_free[6 * side + k];
    }
  if (speed > 0) { /* from the other side they come closer */
    for (int k = 0; k < 3; k++) contact.geom.normal[k] *= -1;
    speed = -speed;
    free_speed = -free_speed;
  }
  CU_ASSERT_FATAL(free_speed < 0);
  contact.geom.depth = 0.99 * free_speed * STEP;
  build(&ours, &s, &contact, body, false, 4);
  CU_ASSERT_DOUBLE_EQUAL(ours.rows[0].bias, 0.5 * speed, 1e-12);
  contact.geom.depth = 1.01 * free_speed * STEP;
  build(&ours, &s, &contact, body, false, 4);
  CU_ASSERT_EQUAL(ours.built.n_rows,
                  0); /* held there it would lose its bounce */
  CU_ASSERT_EQUAL(ours.set.n_rows, 0);
  dWorldDestroy(s.world);
}

/* By hand: in 0.1 s 1 m/s becomes 1.1 m/s, 1.05 m/s of it where the contact is met, at
 * most 0.105 m deep. A half of 1.05^2 less what is fallen through there, which is lifted
 * again, rises by sqrt(0.25 (1.05^2 - 0.21) + 0.21), and is slower by half a step. */
static void test_a_bounce_is_no_deeper_than_a_step(void) {
  const double up = sqrt(0.25 * (1.1025 - 0.21) + 0.21) - 0.05;
  CU_ASSERT_DOUBLE_EQUAL(row_bounce_target(0.5, -1, -1.1, -0.105, 0.1), up,
                         1e-14);
  CU_ASSERT_DOUBLE_EQUAL(row_bounce_target(0.5, -1, -1.1, -0.5, 0.1), up,
                         1e-14);
}

static void test_edges_oppose_the_slip_in_the_ellipse(void) {
  scene s;
  create_scene(&s, 77);
  for (int edges = 4; edges <= 16; edges += 2) {
    for (int trial = 0; trial < 200; trial++) {
      dContact contact;
      random_contact(&s, &contact);
      contact.surface.mode = dContactMu2 | dContactApprox1;
      contact.surface.mu = test_uniform(&s.random, 0.1, 2);
      contact.surface.mu2 = test_uniform(&s.random, 0.1, 2);
      const int body[2] = {0, 1};
      built_contact ours;
      build(&ours, &s, &contact, body, false, edges);
      const mlcp_friction *set = &ours.frictions[0];
      CU_ASSERT_EQUAL_FATAL(set->n_pairs, edges / 2);

      /* most dissipation within the ellipse is what Coulomb's law asks for */
      double slip[2] = {vec3_dot(ours.built.slip, ours.built.sliding_axis[0]),
                        vec3_dot(ours.built.slip, ours.built.sliding_axis[1])};
      double best = 0;
      for (int k = 0; k < set->n_pairs; k++) {
        const double *u = ours.pairs[set->first_pair + k].u;
        best = fmax(best, fabs(u[0] * slip[0] + u[1] * slip[1]));
        double x = set->coefficient * u[0] / contact.surface.mu;
        double y = set->coefficient * u[1] / contact.surface.mu2;
        CU_ASSERT_DOUBLE_EQUAL(x * x + y * y, 1, 1e-12);
      }
      double ellipse =
          hypot(contact.surface.mu * slip[0], contact.surface.mu2 * slip[1]);
      CU_ASSERT_DOUBLE_EQUAL(set->coefficient * best / ellipse, 1, 1e-12);
    }
  }
  dWorldDestroy(s.world);
}

/* A contact along z on the world, 30 mm deep, on a body at rest: `add` makes its rows. */
typedef struct plain {
  host_contact contact;
  contact_settings settings;
  contact_facts facts;
  row_frame frame;
  double v[6], v_free[6];
  built_contact out;
} plain;

static void create_plain(plain *p) {
  static const int problem_body[1] = {0};
  memset(p, 0, sizeof *p);
  p->contact = (host_contact){.body = {0, -1},
                              .normal = {0, 0, 1},
                              .gap = -0.03,
                              .multiplicity = 1,
                              .polygon = -1,
                              .surface = {.erp = NAN,
                                          .cfm = NAN,
                                          .limit = {0.5, 0.5},
                                          .cfm_of_slip = {NAN, NAN}}};
  p->settings = (contact_settings){.erp = 0.4,
                                   .spring_erp = 0.2,
                                   .cfm = 1e-4,
                                   .surface_layer = 0.01,
                                   .max_velocity = INFINITY,
                                   .edges = 4,
                                   .slip_floor = 1e-9,
                                   .springs = true};
  p->frame = (row_frame){.v = p->v,
                         .v_free = p->v_free,
                         .problem_body = problem_body,
                         .step_size = STEP,
                         .max_correction = INFINITY};
}

static void add(plain *p) {
  built_contact *out = &p->out;
  out->set = (row_set){.rows = out->rows,
                       .corrections = out->corrections,
                       .frictions = out->frictions,
                       .pairs = out->pairs};
  contact_rows_add(&out->set, &p->frame, &p->settings, &p->contact, &p->facts,
                   NULL, &out->built);
}

/* Where a rigid contact rests is said for all that is built together, by the rounding at
 * its furthest contact, wherever this one is; within that rounding it is there. */
static void test_contacts_of_a_structure_rest_alike(void) {
  static const double gaps[] = {-8e-6, -4.5e-6, -3.5e-6, -0.5e-6, 0};
  static const double left[] = {4e-6, 0, 0, -3.5e-6, -4e-6}; // beyond 4 um
  const double ROUNDING = 2e-6;
  for (int far = 0; far < 2; far++)
    for (int k = 0; k < 5; k++) {
      plain p;
      create_plain(&p);
      p.settings.surface_layer = 0;
      p.settings.cfm = 0;
      p.settings.rests_deep = true;
      p.settings.gravity = 10;
      p.settings.rounding = ROUNDING;
      p.contact.position[0] = far ? 1000 : 0.001;
      p.contact.gap = gaps[k];
      add(&p);
      CU_ASSERT_DOUBLE_EQUAL(-p.out.rows[0].bias * STEP,
                             p.settings.erp * left[k], 1e-18);
    }
}

/* Of 20 mm beyond the surface layer its load presses in 5 mm, cfm p / (erp n): that is
 * the spring's, no error, and comes back by the spring's ERP. */
static void test_a_load_presses_a_spring_in(void) {
  plain p;
  create_plain(&p);
  p.facts.carried = 10;
  p.contact.multiplicity = 2;
  add(&p);
  /* 0.2 * 5 mm and 0.4 * 15 mm in 12.5 ms */
  CU_ASSERT_DOUBLE_EQUAL(p.out.rows[0].bias, -(0.08 + 0.48), 1e-12);
  CU_ASSERT_DOUBLE_EQUAL(p.out.corrections[0].velocity, 0.48, 1e-12);
  CU_ASSERT_DOUBLE_EQUAL(p.out.rows[0].compliance, 1e-4 / STEP / 2, 1e-15);

  /* what the velocity may correct does not count the spring; the rest is left */
  p.frame.max_correction = 0.1;
  add(&p);
  CU_ASSERT_DOUBLE_EQUAL(p.out.rows[0].bias, -0.18, 1e-12);
  CU_ASSERT_DOUBLE_EQUAL(p.out.corrections[0].velocity, 0.1, 1e-12);
  CU_ASSERT_DOUBLE_EQUAL(p.out.corrections[0].excess, 0.38, 1e-12);

  /* no load presses in further than it is */
  p.frame.max_correction = INFINITY;
  p.facts.carried = 500;
  add(&p);
  CU_ASSERT_DOUBLE_EQUAL(p.out.rows[0].bias, -0.2 * 0.02 / STEP, 1e-12);
  CU_ASSERT_DOUBLE_EQUAL(p.out.corrections[0].velocity, 0, 1e-12);

  /* a soft one is all spring, without a cap */
  p.contact.soft = true;
  p.frame.max_correction = 0.1;
  add(&p);
  CU_ASSERT_DOUBLE_EQUAL(p.out.rows[0].bias, -0.2 * 0.02 / STEP, 1e-12);
  CU_ASSERT_EQUAL(p.out.corrections[0].excess, 0);
}

/* Merged contacts act side by side: forces add up, coefficients do not. */
static void test_merged_contacts_add_up(void) {
  plain p;
  create_plain(&p);
  p.contact.multiplicity = 3;
  add(&p);
  CU_ASSERT_EQUAL_FATAL(p.out.set.n_frictions, 1);
  CU_ASSERT_EQUAL(p.out.frictions[0].normal, -1);
  CU_ASSERT_DOUBLE_EQUAL(p.out.frictions[0].limit, 3 * 0.5 * STEP, 1e-15);
  for (int row = 0; row < 3; row++)
    CU_ASSERT_DOUBLE_EQUAL(p.out.rows[row].compliance, 1e-4 / STEP / 3, 1e-15);
  p.contact.surface.proportional[0] = p.contact.surface.proportional[1] = true;
  add(&p);
  CU_ASSERT_EQUAL(p.out.frictions[0].normal, 0);
  CU_ASSERT_EQUAL(p.out.frictions[0].coefficient, 0.5);
  CU_ASSERT_EQUAL(p.out.frictions[0].limit, 0);
}

/* A slip that is told goes before that of free flight, and that before the hint. */
static void test_the_slip_that_edges_oppose(void) {
  plain p;
  create_plain(&p);
  const double told[3] = {-2, 0, 7};
  p.facts.hint[0] = 0.3, p.facts.hint[1] = -0.4, p.facts.hint[2] = 5;
  add(&p);
  double expected[3] = {0.3, -0.4, 0};
  for (int i = 0; i < 3; i++)
    CU_ASSERT_DOUBLE_EQUAL(p.out.built.slip[i], expected[i], 1e-15);
  const double(*axis)[3] = (const double(*)[3])p.out.built.sliding_axis;
  for (int d = 0; d < 2; d++)
    CU_ASSERT_DOUBLE_EQUAL(fabs(p.out.pairs[0].u[d]),
                           fabs(vec3_dot(axis[d], expected)) / 0.5, 1e-12);
  p.v_free[0] = -1, p.v_free[1] = 3;
  add(&p);
  CU_ASSERT_DOUBLE_EQUAL(p.out.built.slip[0], -1, 1e-15);
  CU_ASSERT_DOUBLE_EQUAL(p.out.built.slip[1], 3, 1e-15);
  p.facts.slip = told;
  add(&p);
  CU_ASSERT_DOUBLE_EQUAL(p.out.built.slip[0], -2, 1e-15);
  CU_ASSERT_DOUBLE_EQUAL(p.out.built.slip[1], 0, 1e-15);
}

/* Contacts at a point are one if their surfaces are the same in all fields. */
static void test_unlike_surfaces_are_not_merged(void) {
  plain p;
  create_plain(&p);
  p.contact.arm[0][0] = 1;
  p.contact.surface.bounces = true;
  host_contact other = p.contact;
  CU_ASSERT(host_contact_same_point(&p.contact, &other));
  other.position[0] = 0.9e-4;
  CU_ASSERT(host_contact_same_point(&p.contact, &other));
  other.position[0] = 1.1e-4;
  CU_ASSERT_FALSE(host_contact_same_point(&p.contact, &other));
  other.position[0] = 0;
  double *const fields[] = {&other.surface.erp,
                            &other.surface.cfm,
                            &other.surface.bounce,
                            &other.surface.bounce_speed,
                            &other.surface.motion[0],
                            &other.surface.motion[1],
                            &other.surface.motion[2],
                            &other.surface.limit[0],
                            &other.surface.limit[1],
                            &other.surface.cfm_of_slip[0],
                            &other.surface.cfm_of_slip[1],
                            &other.surface.rolling[0],
                            &other.surface.rolling[1],
                            &other.surface.rolling[2]};
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    double was = *fields[i];
    *fields[i] = 0.25;
    CU_ASSERT_FALSE(host_contact_same_surface(&p.contact, &other));
    CU_ASSERT_FALSE(host_contact_same_point(&p.contact, &other));
    *fields[i] = was;
  }
  bool *const flags[] = {&other.surface.bounces, &other.surface.proportional[0],
                         &other.surface.proportional[1],
                         &other.surface.proportional[2], &other.surface.rolls};
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
    *flags[i] = !*flags[i];
    CU_ASSERT_FALSE(host_contact_same_surface(&p.contact, &other));
    *flags[i] = !*flags[i];
  }
  CU_ASSERT(host_contact_same_surface(&p.contact, &other));
}

/* Deeper than the part of its arm, or of a quarter of the radius of gyration. */
static void test_overlaps_begin_at_their_part(void) {
  plain p;
  create_plain(&p);
  const host_body body = {.mass = 2, .inertia = {8, 0, 0, 0, 8, 0, 0, 0, 8}};
  static const struct {
    double arm, depth;
    bool overlaps;
  } cases[] = {{1, 0.099, false},  {1, 0.101, true}, {1, 0.6, true},
               {4, 0.399, false},  {4, 0.401, true}, {4, -1, false},
               {0, 0.0499, false}, {0, 0.0501, true}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    p.contact.arm[0][2] = -cases[i].arm;
    p.contact.gap = -cases[i].depth;
    CU_ASSERT_EQUAL(host_contact_overlap(&p.contact, &body) > 0.1,
                    cases[i].overlaps);
  }
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"rows are the host's", test_rows_are_the_hosts},
      {"gaps are not scaled", test_gaps_are_not_scaled},
      {"no glue across a gap", test_no_glue_across_a_gap},
      {"a bounce waits for the touch", test_bounce_waits_for_the_touch},
      {"a bounce is no deeper than a step",
       test_a_bounce_is_no_deeper_than_a_step},
      {"edges oppose the slip in the ellipse",
       test_edges_oppose_the_slip_in_the_ellipse},
      {"contacts of a structure rest alike",
       test_contacts_of_a_structure_rest_alike},
      {"a load presses a spring in", test_a_load_presses_a_spring_in},
      {"merged contacts add up", test_merged_contacts_add_up},
      {"the slip that edges oppose", test_the_slip_that_edges_oppose},
      {"unlike surfaces are not merged", test_unlike_surfaces_are_not_merged},
      {"overlaps begin at their part", test_overlaps_begin_at_their_part},
      CU_TEST_INFO_NULL};
  return run_host_tests("contact rows", tests);
}
