/* Which contacts a structure at rest has: those that touch, not those that rounding
 * tells of. The program makes its contact joints itself. */
#include "host_rounding.h"
#include "pile.h"

/* Lengths, steps, masses and gravities that must make no difference. */
static const struct {
  double size, step, mass, gravity;
} UNITS[] = {{1, 0.01, 1, 9.81},
             {0.01, 0.001, 0.01, 9.81},
             {10, 0.02, 1e4, 1.62},
             {0.2, 1.0 / 60, 1e3, 274}};
enum { N_UNITS = sizeof UNITS / sizeof UNITS[0] };

typedef struct slab {
  pile pile;
  dBodyID body;
  double size, step;  /* m, s */
  double way, opened; /* m: g h^2; a part of a hair */
} slab;

/* A slab, flat on z = 0, of side `size`. */
static slab lay_slab(int unit) {
  slab s = {.pile = pile_open(create_world(UNITS[unit].gravity, NULL), 0),
            .size = UNITS[unit].size,
            .step = UNITS[unit].step};
  s.way = UNITS[unit].gravity * s.step * s.step;
  s.opened = fmin(1e-4 * s.way, 1e-6 * s.size);
  s.body = create_box(s.pile.world, NULL, UNITS[unit].mass, s.size, s.size,
                      0.5 * s.size);
  dBodySetPosition(s.body, 0, 0, 0.25 * s.size);
  return s;
}

/* A point of the slab at (x, y) of half its side. */
static void tell(slab *s, const dSurfaceParameters *surface, double x, double y,
                 double depth) {
  dContact contact =
      contact_at(surface, 0.5 * s->size * x, 0.5 * s->size * y, 0, depth);
  dJointAttach(dJointCreateContact(s->pile.world, s->pile.contacts, &contact),
               s->body, 0);
}

static ode_mlcp_report step(slab *s) { return pile_step(&s->pile, s->step); }

static double tilt(const slab *s) {
  const dReal *w = dBodyGetAngularVel(s->body);
  return s->size * sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
}

static const double CORNER[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};

/* Two corners on one side carry a slab whose other two rounding has opened: it
 * does not tip. */
static void test_open_by_a_hair(void) {
  const dSurfaceParameters surface = bare_surface(dContactApprox1, 0.5);
  for (int unit = 0; unit < N_UNITS; unit++) {
    slab s = lay_slab(unit);
    for (int k = 0; k < 4; k++)
      tell(&s, &surface, CORNER[k][0], CORNER[k][1], 1e-7 * s.way);
    CU_ASSERT_EQUAL(step(&s).contacts, 4);
    const dReal *at = dBodyGetPosition(s.body);
    dBodySetPosition(s.body, at[0], at[1], at[2] + s.opened);
    for (int k = 0; k < 2; k++)
      tell(&s, &surface, CORNER[k][0], CORNER[k][1], 1e-7 * s.way);
    CU_ASSERT_EQUAL(step(&s).contacts, 4);
    CU_ASSERT(tilt(&s) < host_rest_depth(1e-3 * s.way, s.size) / s.step);
    CU_ASSERT_EQUAL(dBodyGetNumJoints(s.body), 0);
    pile_close(&s.pile);
  }
}

/* What the program has given up holds nothing: a slab whose contacts are not told of
 * any more falls with the next step, or the one after where it was open or just
 * touched. */
static void test_given_up(void) {
  const dSurfaceParameters surface = bare_surface(dContactApprox1, 0.5);
  for (int unit = 0; unit < N_UNITS; unit++)
    for (int open = 0; open < 3; open++) {
      slab s = lay_slab(unit);
      for (int n = 0; n < 30; n++) {
        for (int k = 0; k < 4; k++)
          tell(&s, &surface, CORNER[k][0], CORNER[k][1],
               -dBodyGetPosition(s.body)[2] + 0.25 * s.size);
        step(&s);
      }
      CU_ASSERT(-dBodyGetLinearVel(s.body)[2] < 1e-3 * s.way / s.step);
      if (open) {
        const dReal *at = dBodyGetPosition(s.body);
        dBodySetPosition(s.body, at[0], at[1],
                         0.25 * s.size + (open == 1 ? s.opened : 0));
        CU_ASSERT_EQUAL(step(&s).contacts, 4);
      }
      CU_ASSERT_EQUAL(step(&s).contacts, 0);
      // with it goes what pressed it to the depth at rest
      CU_ASSERT_DOUBLE_EQUAL(-dBodyGetLinearVel(s.body)[2] * s.step, s.way,
                             host_rest_depth(1e-2 * s.way, s.size));
      pile_close(&s.pile);
    }
}

/* What is open by more, or has slid, is a contact no more. */
static void test_parted(void) {
  const dSurfaceParameters surface = bare_surface(dContactApprox1, 0.5);
  for (int unit = 0; unit < N_UNITS; unit++)
    for (int slid = 0; slid < 2; slid++) {
      slab s = lay_slab(unit);
      double far = slid ? 1e-3 * s.size : 0.1 * s.way;
      for (int k = 0; k < 4; k++)
        tell(&s, &surface, CORNER[k][0], CORNER[k][1], 1e-7 * s.way);
      step(&s);
      const dReal *at = dBodyGetPosition(s.body);
      dBodySetPosition(s.body, at[0] + slid * far, at[1],
                       at[2] + (slid ? s.opened : far));
      CU_ASSERT_EQUAL(step(&s).contacts, 0);
      pile_close(&s.pile);
    }
}

/* Springs and sleeping bodies are not kept in touch. */
static void test_left_alone(void) {
  dSurfaceParameters soft =
      bare_surface(dContactApprox1 | dContactSoftCFM | dContactSoftERP, 0.5);
  soft.soft_cfm = 1e-4;
  soft.soft_erp = 0.3;
  slab s = lay_slab(0);
  for (int k = 0; k < 4; k++)
    tell(&s, &soft, CORNER[k][0], CORNER[k][1], 1e-7 * s.way);
  step(&s);
  CU_ASSERT_EQUAL(step(&s).contacts, 0);
  pile_close(&s.pile);

  const dSurfaceParameters surface = bare_surface(dContactApprox1, 0.5);
  s = lay_slab(0);
  for (int k = 0; k < 4; k++)
    tell(&s, &surface, CORNER[k][0], CORNER[k][1], 1e-7 * s.way);
  step(&s);
  dBodyDisable(s.body);
  step(&s);
  CU_ASSERT_EQUAL(dBodyIsEnabled(s.body), 0);
  pile_close(&s.pile);
}

/* A point between others of its patch changes nothing, whether it is told of or
 * not; a limit of friction in N is each point's own. */
static void test_implied_points(void) {
  const dSurfaceParameters coulomb = bare_surface(dContactApprox1, 0.5);
  const dSurfaceParameters limited = bare_surface(0, 0.5);
  for (int unit = 0; unit < N_UNITS; unit++)
    for (int kind = 0; kind < 2; kind++) {
      slab s = lay_slab(unit);
      const dSurfaceParameters *surface = kind == 0 ? &coulomb : &limited;
      double depth = 1e-7 * s.way;
      for (int k = 0; k < 4; k++)
        tell(&s, surface, CORNER[k][0], CORNER[k][1], depth);
      tell(&s, surface, 0.37, 1 + 1e-9, depth);
      tell(&s, surface, 1 - 1e-9, -0.81, depth);
      tell(&s, surface, 0.2, -0.3, depth);
      /* deeper than the others make it */
      tell(&s, surface, 0.4, 0.3, depth + 0.1 * s.way);
      ode_mlcp_report report = step(&s);
      CU_ASSERT_EQUAL(report.contacts, kind == 0 ? 5 : 8);
      CU_ASSERT_EQUAL(report.contacts_merged, kind == 0 ? 3 : 0);
      pile_close(&s.pile);
    }
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"points open by a hair stay contacts", test_open_by_a_hair},
      {"points that are given up do not", test_given_up},
      {"points that parted do not", test_parted},
      {"springs and what sleeps are left alone", test_left_alone},
      {"points that others imply take no part", test_implied_points},
      CU_TEST_INFO_NULL};
  return run_host_tests("step kept", tests);
}
