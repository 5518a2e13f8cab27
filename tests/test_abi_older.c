/* A program that was compiled with an older header, where every struct ended
 * earlier, on today's library: nothing is written past its structs, and what it
 * does not know is as by default. It is linked with libode_mlcp.so and includes
 * no header of this tree's but testing.h. */
#include <math.h>
#include <ode/ode.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* --- what its header had -------------------------------------------------- */

typedef struct older_options {
  size_t struct_size;
  int scheme, edges;
} older_options;

typedef struct older_report {
  size_t struct_size;
  long step;
  double time, step_size;
  int taken, bodies, islands, contacts;
} older_report;

typedef struct older_contact {
  size_t struct_size;
  dBodyID body[2];
} older_contact;

typedef struct older_event {
  size_t struct_size;
  int kind;
} older_event;

typedef struct contact_list contact_list;
typedef int collision(void *context, dWorldID world, contact_list *list);
typedef void observer(void *context, dWorldID world,
                      const older_report *report);

void ode_mlcp_default_options_sized(older_options *, size_t);
int ode_mlcp_check_options(const older_options *, char *, size_t);
int ode_mlcp_set_option(older_options *, const char *, const char *, char *,
                        size_t);
int ode_mlcp_get_option(const older_options *, const char *, char *, size_t);
int ode_mlcp_attach(dWorldID, const older_options *);
int ode_mlcp_step_sized(dWorldID, dReal, older_report *, size_t);
int ode_mlcp_last_report_sized(dWorldID, older_report *, size_t);
int ode_mlcp_last_contact_sized(dWorldID, int, older_contact *, size_t);
int ode_mlcp_last_event_sized(dWorldID, int, older_event *, size_t);
int ode_mlcp_set_collision(dWorldID, collision *, void *);
int ode_mlcp_add_contact(contact_list *, dBodyID, dBodyID, const dContact *);
void ode_mlcp_observe(observer *, void *);

enum { SCHEME_AH = 1, SCHEME_TRAPEZOID = 4, COLLISION = 0 };

typedef struct older_problem {
  int n_velocities, n_contacts, n_tangents;
  const double *M, *Jn, *Jt, *mu, *v, *surface;
} older_problem;

typedef struct older_impact_options {
  size_t struct_size;
  uint64_t seed, samples;
} older_impact_options;

typedef struct older_set {
  size_t struct_size;
  uint64_t n_samples, n_finished, n_unfinished, n_lcps, n_fallbacks, n_outcomes;
  double seconds;
  int n_threads, n_velocities, n_rows;
  uint64_t *sample;
  uint32_t *lcps;
  double *v, *contact_velocities;
  void *block;
} older_set;

typedef struct impact impact;
void ode_mlcp_impact_default_options_sized(older_impact_options *, size_t);
int ode_mlcp_impact_create(const older_problem *, impact **, char *, size_t);
void ode_mlcp_impact_destroy(impact *);
int ode_mlcp_impact_sim(impact *, const older_impact_options *, uint64_t,
                        double[], int *);
int ode_mlcp_impact_approximate_sized(impact *, const older_impact_options *,
                                      older_set *, size_t);
int ode_mlcp_impact_ways_sized(impact *, const older_impact_options *, uint64_t,
                               older_set *, size_t);

/* --- structs with a canary behind them ------------------------------------ */

#define GUARDED(type)                                                          \
  struct {                                                                     \
    type it;                                                                   \
    unsigned char canary[512];                                                 \
  }
#define WAKE(guarded) memset(&(guarded), 0xA5, sizeof(guarded))
#define SINGS(guarded) is_all((guarded).canary, sizeof(guarded).canary)

static int is_all(const unsigned char *bytes, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (bytes[i] != 0xA5) return 0;
  return 1;
}

/* --- a ball above the ground ---------------------------------------------- */

static dBodyID ball;

static int collide(void *context, dWorldID world, contact_list *list) {
  (void)context, (void)world;
  const dReal *at = dBodyGetPosition(ball);
  dContact contact;
  memset(&contact, 0, sizeof contact);
  contact.surface.mode = dContactApprox1;
  contact.surface.mu = 0.5;
  contact.geom.pos[0] = at[0];
  contact.geom.pos[1] = at[1];
  contact.geom.normal[2] = 1;
  contact.geom.depth = 1 - at[2];
  return ode_mlcp_add_contact(list, ball, NULL, &contact) == 0;
}

static dWorldID create_world(int scheme, double height) {
  GUARDED(older_options) options;
  WAKE(options);
  ode_mlcp_default_options_sized(&options.it, sizeof options.it);
  CU_ASSERT(SINGS(options));
  CU_ASSERT_EQUAL(options.it.struct_size, sizeof options.it);
  CU_ASSERT_EQUAL(options.it.scheme, SCHEME_AH);
  CU_ASSERT_EQUAL(options.it.edges, 4);
  options.it.scheme = scheme;

  dWorldID world = dWorldCreate();
  dWorldSetGravity(world, 0, 0, -10);
  ball = dBodyCreate(world);
  dMass mass;
  dMassSetSphereTotal(&mass, 1, 1);
  dBodySetMass(ball, &mass);
  dBodySetPosition(ball, 0, 0, height);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(world, &options.it), 0);
  CU_ASSERT_EQUAL(ode_mlcp_set_collision(world, collide, NULL), 0);
  return world;
}

/* --- options -------------------------------------------------------------- */

static void test_options_are_read_as_far_as_they_go(void) {
  GUARDED(older_options) options;
  char message[400], value[32];
  WAKE(options);
  ode_mlcp_default_options_sized(&options.it, sizeof options.it);
  CU_ASSERT_EQUAL(ode_mlcp_check_options(&options.it, NULL, 0), 0);
  CU_ASSERT_EQUAL(ode_mlcp_set_option(&options.it, "edges", "8", NULL, 0), 0);
  CU_ASSERT_EQUAL(options.it.edges, 8);
  CU_ASSERT_EQUAL(ode_mlcp_get_option(&options.it, "edges", value, 32), 0);
  CU_ASSERT_NOT_EQUAL(ode_mlcp_get_option(&options.it, "erp", value, 32), 0);
  CU_ASSERT_NOT_EQUAL(
      ode_mlcp_set_option(&options.it, "erp", "1", message, sizeof message), 0);
  CU_ASSERT_STRING_EQUAL(message, "there is no option 'erp'");
  CU_ASSERT(SINGS(options));
  options.it.edges = 5;
  CU_ASSERT_NOT_EQUAL(
      ode_mlcp_check_options(&options.it, message, sizeof message), 0);
  CU_ASSERT(strstr(message, "edges: '5'") == message);
}

/* --- what steps fill ------------------------------------------------------ */

static size_t observed_size;

static void observe(void *context, dWorldID world, const older_report *report) {
  (void)context, (void)world;
  observed_size = report->struct_size;
}

static void test_reports_are_not_overrun(void) {
  GUARDED(older_report) report;
  dWorldID world = create_world(SCHEME_AH, 1);
  ode_mlcp_observe(observe, NULL);
  for (int step = 1; step <= 3; step++) {
    WAKE(report);
    CU_ASSERT_EQUAL(
        ode_mlcp_step_sized(world, 0.01, &report.it, sizeof report.it), 0);
    CU_ASSERT(SINGS(report));
    CU_ASSERT_EQUAL(report.it.struct_size, sizeof report.it);
    CU_ASSERT_EQUAL(report.it.step, step);
    CU_ASSERT_EQUAL(report.it.taken, 1);
    CU_ASSERT_EQUAL(report.it.contacts, 1);
  }
  CU_ASSERT(observed_size > sizeof report.it);
  ode_mlcp_observe(NULL, NULL);
  WAKE(report);
  CU_ASSERT_EQUAL(
      ode_mlcp_last_report_sized(world, &report.it, sizeof report.it), 0);
  CU_ASSERT(SINGS(report));
  CU_ASSERT_EQUAL(report.it.step, 3);

  GUARDED(older_contact) contact;
  WAKE(contact);
  CU_ASSERT_EQUAL(
      ode_mlcp_last_contact_sized(world, 0, &contact.it, sizeof contact.it), 0);
  CU_ASSERT(SINGS(contact));
  CU_ASSERT_EQUAL(contact.it.struct_size, sizeof contact.it);
  CU_ASSERT_PTR_EQUAL(contact.it.body[0], ball);
  dWorldDestroy(world);
}

static void test_events_are_not_overrun(void) {
  GUARDED(older_event) event;
  dWorldID world = create_world(SCHEME_TRAPEZOID, 1.005);
  dBodySetLinearVel(ball, 0, 0, -1);
  CU_ASSERT_EQUAL(ode_mlcp_step_sized(world, 0.01, NULL, 0), 0);
  WAKE(event);
  CU_ASSERT_EQUAL(
      ode_mlcp_last_event_sized(world, 0, &event.it, sizeof event.it), 0);
  CU_ASSERT(SINGS(event));
  CU_ASSERT_EQUAL(event.it.struct_size, sizeof event.it);
  CU_ASSERT_EQUAL(event.it.kind, COLLISION);
  dWorldDestroy(world);
}

/* --- impacts -------------------------------------------------------------- */

static void test_impacts_are_not_overrun(void) {
  static const double one[] = {1, 0, 0, 1}, Jn[] = {0, 1}, Jt[] = {1, 0};
  static const double mu[] = {0.5}, before[] = {1, -1};
  older_problem problem = {2, 1, 1, one, Jn, Jt, mu, before, NULL};
  impact *it;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_impact_create(&problem, &it, NULL, 0), 0);

  GUARDED(older_impact_options) options;
  WAKE(options);
  ode_mlcp_impact_default_options_sized(&options.it, sizeof options.it);
  CU_ASSERT(SINGS(options));
  CU_ASSERT_EQUAL(options.it.struct_size, sizeof options.it);
  CU_ASSERT_EQUAL(options.it.seed, 1);
  options.it.samples = 64;
  double v[2];
  CU_ASSERT_EQUAL(ode_mlcp_impact_sim(it, &options.it, 0, v, NULL), 0);
  CU_ASSERT(v[1] > -1e-7);

  GUARDED(older_set) set;
  for (int ways = 0; ways < 2; ways++) {
    WAKE(set);
    int status = ways ? ode_mlcp_impact_ways_sized(it, &options.it, 8, &set.it,
                                                   sizeof set.it)
                      : ode_mlcp_impact_approximate_sized(
                            it, &options.it, &set.it, sizeof set.it);
    CU_ASSERT_EQUAL_FATAL(status, 0);
    CU_ASSERT(SINGS(set));
    CU_ASSERT_EQUAL(set.it.struct_size, sizeof set.it);
    CU_ASSERT(set.it.n_outcomes >= (ways ? 16 : 64));
    CU_ASSERT_EQUAL(set.it.n_rows, 2);
    free(set.it.block); // what releases it stands behind
  }
  ode_mlcp_impact_destroy(it);
}

int main(void) {
  dInitODE2(0);
  const CU_TestInfo tests[] = {
      {"options", test_options_are_read_as_far_as_they_go},
      {"reports", test_reports_are_not_overrun},
      {"events", test_events_are_not_overrun},
      {"impacts", test_impacts_are_not_overrun},
      CU_TEST_INFO_NULL};
  int status = run_tests("ABI: an older caller", tests);
  dCloseODE();
  return status;
}
