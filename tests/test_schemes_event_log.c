/* What can be asked about a step's events and energies: the bodies, contacts and
 * stops of an event, the energy of springs, the work of forces. */
#include "host_rounding.h"
#include "schemes/event_log.h"
#include "scheme_scene.h"

/** The one contact of the last step's first event. */
static ode_mlcp_event_contact only_contact(dWorldID world, double *time) {
  ode_mlcp_event event;
  ode_mlcp_event_contact contact;
  memset(&contact, 0, sizeof contact);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_last_event(world, 0, &event), ODE_MLCP_OK);
  CU_ASSERT_EQUAL(event.n_contacts, 1);
  CU_ASSERT_EQUAL(ode_mlcp_last_event_contact(world, 0, 0, &contact),
                  ODE_MLCP_OK);
  CU_ASSERT_EQUAL(contact.struct_size, sizeof contact);
  CU_ASSERT_EQUAL(
      ode_mlcp_last_event_contact(world, 0, event.n_contacts, &contact),
      ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_EQUAL(ode_mlcp_last_event_contact(world, 1, 0, &contact),
                  ODE_MLCP_BAD_ARGUMENT);
  *time = event.time;
  return contact;
}

static void step_until_event(scene *s, double h) {
  ode_mlcp_event event;
  for (int i = 0; i < 1000; i++) {
    ode_mlcp_report report;
    step(s, h, &report);
    if (ode_mlcp_last_event(s->world, 0, &event) == ODE_MLCP_OK) return;
  }
  CU_FAIL("no event came");
}

/* A ball falls on a floor beside one that lies there. */
static void test_a_collision_names_its_bodies(void) {
  static const char *schemes[] = {"scheme=trapezoid", "scheme=conserving"};
  for (int k = 0; k < 2; k++) {
    scene s;
    open_scene(&s, schemes[k], 9.81);
    dCreatePlane(s.space, 0, 1, 0, 0);
    add_ball(&s, 3, 0.1);
    dBodyID ball = add_ball(&s, 0.5, 1.1);
    double time;
    step_until_event(&s, 0.013);
    ode_mlcp_event_contact contact = only_contact(s.world, &time);
    CU_ASSERT_DOUBLE_EQUAL(time, sqrt(2 / 9.81), of_host(1e-9, 1));
    CU_ASSERT_EQUAL(contact.change, ODE_MLCP_EVENT_CHANGE_HIT);
    CU_ASSERT_PTR_EQUAL(contact.body[0], ball);
    CU_ASSERT_PTR_NULL(contact.body[1]);
    CU_ASSERT_PTR_NULL(contact.joint);
    CU_ASSERT_DOUBLE_EQUAL(contact.position[0], 0.5, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(contact.position[1], 0, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(contact.normal[1], 1, 1e-12);
    scene_close(&s);
  }
}

/* A ball that slides begins to roll. */
static void test_the_end_of_a_slide_names_its_body(void) {
  static const char *schemes[] = {"scheme=trapezoid", "scheme=conserving"};
  for (int k = 0; k < 2; k++) {
    scene s;
    open_scene(&s, schemes[k], 10);
    s.surface.parameters.mode = dContactApprox1;
    s.surface.parameters.mu = 0.5;
    dCreatePlane(s.space, 0, 1, 0, 0);
    dBodyID ball = add_ball(&s, 0, 0.1);
    dBodySetLinearVel(ball, 1, 0, 0);
    double time;
    step_until_event(&s, 0.013);
    ode_mlcp_event_contact contact = only_contact(s.world, &time);
    CU_ASSERT_DOUBLE_EQUAL(time, 2. / 35, 1e-6);
    CU_ASSERT_EQUAL(contact.change, ODE_MLCP_EVENT_CHANGE_STICK);
    CU_ASSERT_PTR_EQUAL(contact.body[0], ball);
    CU_ASSERT_PTR_NULL(contact.body[1]);
    scene_close(&s);
  }
}

/* A slider runs into its stop. */
static void test_a_stop_that_is_reached_names_its_joint(void) {
  scene s;
  open_scene(&s, "scheme=trapezoid", 0);
  dBodyID ball = add_ball(&s, 0, 0);
  dJointID slider = joint_slider(s.world, ball, NULL, 1, 0, 0);
  dJointSetSliderParam(slider, dParamLoStop, -0.5);
  dJointSetSliderParam(slider, dParamHiStop, 0.5);
  dBodySetLinearVel(ball, 2, 0, 0);
  double time;
  step_until_event(&s, 0.02);
  ode_mlcp_event_contact contact = only_contact(s.world, &time);
  CU_ASSERT_DOUBLE_EQUAL(time, 0.25, of_host(1e-9, 1));
  CU_ASSERT_EQUAL(contact.change, ODE_MLCP_EVENT_CHANGE_HIT);
  CU_ASSERT_PTR_EQUAL(contact.joint, slider);
  CU_ASSERT_PTR_EQUAL(contact.body[0], ball);
  scene_close(&s);
}

static void pull(void *context, dBodyID body, const ode_mlcp_body_state *state,
                 double force[6], double k_q[36], double k_v[36]) {
  (void)context, (void)body, (void)k_q, (void)k_v;
  force[0] = 3 * state->time;
}

/* A ball on a spring, pushed by a force that grows: what is put in is there. */
static void test_energies_add_up(void) {
  scene s;
  open_scene(&s, "scheme=conserving measure=on", 2);
  dBodyID ball = add_ball(&s, 1, 0);
  ode_mlcp_spring spring = {
      .body = {ball}, .anchor = {{1, 0, 0}}, .stiffness = 40, .length = 0.7};
  ode_mlcp_force *forces[2];
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_spring_create(s.world, &spring, &forces[0]),
                        ODE_MLCP_OK);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_force_create(ball, pull, NULL, &forces[1]),
                        ODE_MLCP_OK);
  const double start = 0.5 * 40 * 0.3 * 0.3;
  double work = 0, worst = 0, most = 0;
  for (int i = 0; i < 500; i++) {
    ode_mlcp_report report;
    step(&s, 0.002, &report);
    CU_ASSERT_DOUBLE_EQUAL(report.spring_energy,
                           ode_mlcp_spring_energy(s.world), 1e-12);
    work += report.force_work;
    double energy =
        report.kinetic_energy + report.potential_energy + report.spring_energy;
    worst = fmax(worst, fabs(energy - start - work));
    most = fmax(most, fabs(work));
  }
  CU_ASSERT(most > 0.1);
  CU_ASSERT(worst < 1e-4 * most);

  ode_mlcp_options options = options_of("scheme=conserving");
  ode_mlcp_report report;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(s.world, &options), ODE_MLCP_OK);
  step(&s, 0.002, &report);
  CU_ASSERT(isnan(report.spring_energy) && isnan(report.force_work));
  scene_close(&s);
}

/* Islands log one after the other: afterwards events go by time, those at one time by
 * island, and an island's own as they were logged. One event needs no order. */
static void test_islands_events_go_by_time(void) {
  logged_event events[] = {
      {.event = {.time = 0.3, .n_contacts = 3}, .island = 0, .first = 0},
      {.event = {.time = 0.1, .n_contacts = 2}, .island = 2, .first = 3},
      {.event = {.time = 0.1, .n_contacts = 1}, .island = 1, .first = 5},
      {.event = {.time = 0.1, .n_contacts = 4}, .island = 2, .first = 6}};
  const unsigned order[] = {1, 2, 4, 3}; // their contacts name them
  event_log log = {.events = events, .n = 4};
  ode_mlcp_event event;
  event_log_sort(&log);
  for (int i = 0; i < 4; i++) {
    CU_ASSERT(event_log_get(&log, i, &event));
    CU_ASSERT_EQUAL(event.n_contacts, order[i]);
  }
  CU_ASSERT_FALSE(event_log_get(&log, 4, &event));
  event_log_drop(&log, 2);
  CU_ASSERT_EQUAL(log.n, 2);
  CU_ASSERT(event_log_get(&log, 1, &event));
  CU_ASSERT_EQUAL(event.time, 0.3);
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"a collision names its bodies", test_a_collision_names_its_bodies},
      {"the end of a slide names its body",
       test_the_end_of_a_slide_names_its_body},
      {"a stop that is reached names its joint",
       test_a_stop_that_is_reached_names_its_joint},
      {"energies add up", test_energies_add_up},
      {"islands' events go by time", test_islands_events_go_by_time},
      CU_TEST_INFO_NULL};
  dInitODE2(0);
  int result = run_tests("schemes: what events and energies tell", tests);
  dCloseODE();
  return result;
}
