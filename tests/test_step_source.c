/* A world's own contacts: before they touch, found again, gone after a step. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "ode_mlcp.h"
#include "testing.h"

/* A ground plane z = 0, boxes, one space, one surface for all. */
typedef struct scene {
  dWorldID world;
  dSpaceID space;
  dGeomID ground;
  ode_mlcp_surface surface;
  int calls;
} scene;

static int give_surface(void *context, dGeomID geom1, dGeomID geom2,
                        ode_mlcp_surface *surface) {
  const scene *s = context;
  (void)geom1;
  (void)geom2;
  *surface = s->surface;
  return 1;
}

static int collide(void *context, dWorldID world, ode_mlcp_contact_list *list) {
  scene *s = context;
  (void)world;
  s->calls++;
  return ode_mlcp_collide_space(list, s->space, give_surface, s) == ODE_MLCP_OK;
}

static void create(scene *s, const ode_mlcp_options *options) {
  memset(s, 0, sizeof *s);
  s->world = dWorldCreate();
  dWorldSetGravity(s->world, 0, 0, -9.81);
  dWorldSetCFM(s->world, 0); /* what is soft sinks in */
  s->space = dHashSpaceCreate(0);
  s->ground = dCreatePlane(s->space, 0, 0, 1, 0);
  s->surface.parameters.mode = dContactApprox1;
  s->surface.parameters.mu = 0.5;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(s->world, options), ODE_MLCP_OK);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_set_collision(s->world, collide, s),
                        ODE_MLCP_OK);
}

static void destroy(scene *s) {
  dSpaceDestroy(s->space);
  dWorldDestroy(s->world);
}

static dBodyID add_box(scene *s, double x, double y, double z) {
  dBodyID body = dBodyCreate(s->world);
  dMass mass;
  dMassSetBox(&mass, 1000, 1, 1, 1);
  dBodySetMass(body, &mass);
  dGeomSetBody(dCreateBox(s->space, 1, 1, 1), body);
  dBodySetPosition(body, x, y, z);
  return body;
}

static void test_flat_drop_lands_at_rest(void) {
  scene s;
  create(&s, NULL);
  dBodyID box = add_box(&s, 0.3, 0.2, 1.5);
  double deepest = 0, highest_after = 0;
  bool landed = false;
  for (int i = 0; i < 120; i++) {
    ode_mlcp_report report;
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s.world, 1.0 / 60, &report),
                          ODE_MLCP_OK);
    double gap = dBodyGetPosition(box)[2] - 0.5;
    deepest = fmax(deepest, -gap);
    landed = landed || gap < 1e-9;
    if (landed) highest_after = fmax(highest_after, gap);
    if (i > 60) {
      CU_ASSERT_EQUAL(report.contacts, 4);
      CU_ASSERT_EQUAL(report.contacts_new, 0);
    }
  }
  CU_ASSERT(landed);
  CU_ASSERT(deepest < 1e-10);
  CU_ASSERT(highest_after < 1e-10);
  destroy(&s);
}

/* At rest the four contacts carry the box's weight, upwards. */
static void test_contacts_of_a_step_can_be_asked_for(void) {
  scene s;
  create(&s, NULL);
  dBodyID box = add_box(&s, 0, 0, 0.5);
  ode_mlcp_contact contact;
  CU_ASSERT_EQUAL(ode_mlcp_last_contact(s.world, 0, &contact),
                  ODE_MLCP_BAD_ARGUMENT);
  for (int i = 0; i < 3; i++)
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s.world, 0.01, NULL), ODE_MLCP_OK);
  double weight = 0;
  int n = 0;
  while (ode_mlcp_last_contact(s.world, n, &contact) == ODE_MLCP_OK) {
    CU_ASSERT(contact.body[0] == box && contact.body[1] == NULL);
    CU_ASSERT(contact.feature[0] != 0);
    CU_ASSERT_DOUBLE_EQUAL(contact.geom.normal[2], 1, 1e-12);
    weight += contact.force[2];
    n++;
  }
  CU_ASSERT_EQUAL(n, 4);
  CU_ASSERT_DOUBLE_EQUAL(weight, 9810, 1e-5);
  CU_ASSERT_EQUAL(ode_mlcp_last_contact(s.world, -1, &contact),
                  ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_EQUAL(ode_mlcp_last_contact(NULL, 0, &contact),
                  ODE_MLCP_BAD_ARGUMENT);
  ode_mlcp_detach(s.world);
  CU_ASSERT_EQUAL(ode_mlcp_last_contact(s.world, 0, &contact),
                  ODE_MLCP_NOT_ATTACHED);
  destroy(&s);
}

int main(void) {
  dInitODE2(0);
  static const CU_TestInfo tests[] = {
      {"a box dropped flat lands at rest", test_flat_drop_lands_at_rest},
      {"contacts of a step can be asked for",
       test_contacts_of_a_step_can_be_asked_for},
      CU_TEST_INFO_NULL};
  int status = run_tests("step source", tests);
  dCloseODE();
  return status;
}
