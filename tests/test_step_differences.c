/* The rows of docs/differences.md: what the host's own stepper does, what
 * ode-mlcp does in its place, and that the setting named there brings the first
 * back; or the file that has what ode-mlcp does. */
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "host_rounding.h"
#include "pile.h"

static const double H = 0.01, G = 9.81;

/* --- a program: one step function on both ------------------------------------ */

/* `settings`: NULL for the host's own stepper, "" for defaults, "name=value". */
static pile open_pile(const char *settings, double gravity, int mode,
                      double mu) {
  pile p = pile_open(dWorldCreate(), mu);
  p.surface.mode = mode;
  dWorldSetGravity(p.world, 0, 0, -gravity);
  /* a host in single precision has 1e-5, which stock takes as it stands */
  dWorldSetCFM(p.world, 1e-10);
  if (settings == NULL) return p;
  ode_mlcp_options options = default_options();
  const char *value = strchr(settings, '=');
  if (value != NULL) {
    char name[40], message[200];
    snprintf(name, sizeof name, "%.*s", (int)(value - settings), settings);
    CU_ASSERT_EQUAL_FATAL(
        ode_mlcp_set_option(&options, name, value + 1, message, sizeof message),
        ODE_MLCP_OK);
  }
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(p.world, &options), ODE_MLCP_OK);
  return p;
}

static void run(pile *p, int n) {
  for (int i = 0; i < n; i++) pile_step(p, H);
}

static dBodyID add_box(pile *p, double z, double side) {
  return pile_box(p, 1, 0, 0, z, side, side, side);
}

/* --- friction ------------------------------------------------------------------ */

/* How far a box slides at 45 degrees. */
static double slide(const char *settings, int mode, double mu, double angle) {
  pile p = open_pile(settings, G, mode, mu);
  dCreatePlane(p.space, 0, 0, 1, 0);
  dBodyID box = add_box(&p, 0.1, 0.2);
  dBodySetLinearVel(box, 3 * cos(angle), 3 * sin(angle), 0);
  run(&p, 200);
  const dReal *x = dBodyGetPosition(box);
  double way = hypot(x[0], x[1]);
  pile_close(&p);
  return way;
}

static void test_friction_is_a_disc(void) {
  double exact = 9 / (2 * 0.5 * G);
  CU_ASSERT_DOUBLE_EQUAL(slide(NULL, dContactApprox1, 0.5, M_PI / 4), 0.64,
                         0.02);
  CU_ASSERT_DOUBLE_EQUAL(slide("", dContactApprox1, 0.5, M_PI / 4), exact,
                         0.02);
}

static void test_friction_in_newtons_is_the_same(void) {
  double stock = slide(NULL, 0, 1, 0);
  CU_ASSERT(stock > 0.5);
  if (!left_out_in_single("how far stock slides"))
    CU_ASSERT_DOUBLE_EQUAL(slide("", 0, 1, 0), stock, 1e-3 * stock);
}

/* --- fast bodies ------------------------------------------------------------------ */

static double way_through_a_wall(const char *settings) {
  pile p = open_pile(settings, 0, dContactApprox1, 0.5);
  dGeomSetPosition(dCreateBox(p.space, 0.02, 2, 2), 1, 0, 0);
  dBodyID ball = pile_ball(&p, 1, 0, 0, 0, 0.02);
  dBodySetLinearVel(ball, 30.3, 0, 0);
  run(&p, 20);
  double x = dBodyGetPosition(ball)[0];
  pile_close(&p);
  return x;
}

static void test_fast_bodies_are_held(void) {
  double stock = way_through_a_wall(NULL);
  CU_ASSERT(stock > 2);
  listen_to_host("");
  CU_ASSERT(way_through_a_wall("") < 1);
  CU_ASSERT_EQUAL(n_heard, 0);
  CU_ASSERT_DOUBLE_EQUAL(way_through_a_wall("sweep=off"), stock, 1e-9);
}

/* --- position errors ---------------------------------------------------------------- */

typedef enum error_kind {
  JOINT_OPEN,
  OVERLAP,
  SOFT_OVERLAP,  /* of dContactSoftCFM alone */
  SPRING_OVERLAP /* of an ERP as well */
} error_kind;

/* The fastest of two bodies whose joint, or whose overlap, is 0.3 m wrong; and by
 * how much they moved beyond their velocity. */
static double pops(const char *settings, error_kind kind,
                   double *without_speed) {
  pile p = open_pile(settings, 0, 0, 0);
  if (kind >= SOFT_OVERLAP) {
    p.surface.mode = dContactSoftCFM;
    p.surface.soft_cfm = 0.01;
  }
  if (kind == SPRING_OVERLAP) {
    p.surface.mode |= dContactSoftERP;
    p.surface.soft_erp = 0.2;
  }
  bool joined = kind == JOINT_OPEN;
  dBodyID one = add_box(&p, 0, 0.5), other = add_box(&p, joined ? 2 : 0.2, 0.5);
  if (joined) {
    joint_ball(p.world, one, other, 0, 0, 1);
    dBodySetPosition(other, 0, 0, 2.3);
  }
  double most = 0;
  *without_speed = 0;
  for (int i = 0; i < 100; i++) {
    double before = dBodyGetPosition(other)[2];
    run(&p, 1);
    double moved = dBodyGetPosition(other)[2] - before;
    most = fmax(most, fmax(speed_of(one), speed_of(other)));
    *without_speed =
        fmax(*without_speed, fabs(moved - H * dBodyGetLinearVel(other)[2]));
  }
  pile_close(&p);
  return most;
}

static void test_position_errors_do_not_pop(void) {
  for (int kind = JOINT_OPEN; kind <= SPRING_OVERLAP; kind++) {
    double without_speed, stock = pops(NULL, kind, &without_speed);
    CU_ASSERT(stock > 1.5);
    CU_ASSERT(without_speed < of_host(1e-12, 2.3));
    double ours = pops("", kind, &without_speed);
    if (kind == SPRING_OVERLAP) { /* a spring all the same */
      CU_ASSERT_DOUBLE_EQUAL(ours, stock, of_host(1e-6 * stock, 2.3 / H));
      CU_ASSERT(without_speed < of_host(1e-12, 2.3));
    } else {
      CU_ASSERT(ours <= 0.5);
      CU_ASSERT(without_speed > 1e-3);
    }
    CU_ASSERT_DOUBLE_EQUAL(pops("max-correction=inf", kind, &without_speed),
                           stock, of_host(1e-6 * stock, 2.3 / H));
    CU_ASSERT(without_speed < of_host(1e-12, 2.3));
  }
}

static int n_moved;
static void count_moved(dBodyID body) {
  (void)body;
  n_moved++;
}

/* The steps until two boxes put into each other sleep. */
static int awake(const char *settings) {
  pile p = open_pile(settings, G, dContactApprox1, 0.5);
  dWorldSetAutoDisableFlag(p.world, 1);
  dCreatePlane(p.space, 0, 0, 1, 0);
  dBodyID box = add_box(&p, 0.25 - 0.2, 0.5);
  dBodySetMovedCallback(box, count_moved);
  int i = 0;
  for (n_moved = 0; i < 1000 && dBodyIsEnabled(box); i++) run(&p, 1);
  CU_ASSERT(n_moved >= i - 1); /* moved without velocity, it is told as well */
  /* no box sleeps before it is out */
  CU_ASSERT(dBodyGetPosition(box)[2] > 0.25 - 0.01);
  pile_close(&p);
  return i;
}

static void test_sleep_waits_for_corrections(void) {
  CU_ASSERT(awake("") < 1000);
  CU_ASSERT(awake("max-correction=inf") < 1000);
  CU_ASSERT_EQUAL(awake("max-correction=inf"), awake(NULL));
}

/* --- feedback --------------------------------------------------------------------- */

/* Two contacts in one place under a ball: their forces. */
static void share_of_contacts(const char *settings, double force[2]) {
  pile p = open_pile(settings, G, 0, 0);
  dBodyID ball = create_ball(p.world, 1, 0.5);
  dJointFeedback feedback[2];
  for (int i = 0; i < 2; i++) {
    dContact contact = contact_at(&p.surface, 0, 0, -0.5, 1e-6);
    dJointID joint = dJointCreateContact(p.world, p.contacts, &contact);
    dJointAttach(joint, ball, 0);
    dJointSetFeedback(joint, &feedback[i]);
  }
  CU_ASSERT_EQUAL(dWorldStep(p.world, H), 1);
  for (int i = 0; i < 2; i++) force[i] = feedback[i].f1[2];
  pile_close(&p);
}

static void test_points_that_coincide_are_one(void) {
  double force[2];
  share_of_contacts(NULL, force);
  if (!left_out_in_single("how stock shares a force")) {
    CU_ASSERT(force[0] > 0.1 * G);
    CU_ASSERT(force[1] > 0.1 * G);
  }
  share_of_contacts("", force);
  CU_ASSERT_EQUAL(fmin(force[0], force[1]), 0);
  CU_ASSERT_DOUBLE_EQUAL(fmax(force[0], force[1]), G, 0.02 * G);
}

/* --- QuickStep ---------------------------------------------------------------------- */

static double quick_height(const char *settings, int iterations, double w,
                           bool *drew) {
  pile p = open_pile(settings, G, dContactApprox1, 0.5);
  dCreatePlane(p.space, 0, 0, 1, 0);
  dBodyID top = NULL;
  for (int i = 0; i < 6; i++) top = add_box(&p, 0.25 + 0.5 * i, 0.5);
  dWorldSetQuickStepNumIterations(p.world, iterations);
  dWorldSetQuickStepW(p.world, w);
  CU_ASSERT_EQUAL(dWorldGetQuickStepNumIterations(p.world), iterations);
  CU_ASSERT_EQUAL(dWorldGetQuickStepW(p.world), (dReal)w);
  dRandSetSeed(77);
  for (int i = 0; i < 30; i++) {
    pile_collide(&p);
    CU_ASSERT_EQUAL(dWorldQuickStep(p.world, H), 1);
    dJointGroupEmpty(p.contacts);
  }
  *drew = dRandGetSeed() != 77;
  double z = dBodyGetPosition(top)[2];
  pile_close(&p);
  return z;
}

static void test_quickstep_has_no_parameters(void) {
  bool drew;
  double stock = quick_height(NULL, 20, 1.3, &drew);
  CU_ASSERT(drew);
  CU_ASSERT(quick_height(NULL, 5, 1.3, &drew) != stock);
  CU_ASSERT(quick_height(NULL, 20, 0.7, &drew) != stock);
  double ours = quick_height("", 20, 1.3, &drew);
  CU_ASSERT(!drew);
  CU_ASSERT_EQUAL(quick_height("", 50, 0.7, &drew), ours);
}

/* --- overlaps -------------------------------------------------------------- */

/* m/s: how fast a box of 1 kg rises that is put into the ground. */
static double thrown_by_ground(const char *settings) {
  pile p = open_pile(settings, G, 0, 0.5);
  dCreatePlane(p.space, 0, 0, 1, 0);
  dBodyID box = add_box(&p, 0.25 - 0.2, 0.5);
  double rises = 0;
  for (int i = 0; i < 1000; i++) {
    run(&p, 1);
    rises = fmax(rises, dBodyGetLinearVel(box)[2]);
  }
  pile_close(&p);
  return rises;
}

static void test_bodies_put_into_each_other_come_apart(void) {
  double thrown = thrown_by_ground(NULL);
  CU_ASSERT(thrown > 2);
  /* what is left of the way below the cap gives it */
  CU_ASSERT(thrown_by_ground("") < 0.1);
  /* stock's is off in single precision */
  CU_ASSERT_DOUBLE_EQUAL(thrown_by_ground("max-correction=inf"),
                         host_is_single() ? 0.2 * 0.2 / H : thrown,
                         of_host(1e-6 * thrown, 0.25 / H));
}

/* --- the document --------------------------------------------------------------- */

/* The beginning of each row, and its test here, or the file that has it. */
static const struct {
  const char *row;
  void (*test)(void);
  const char *elsewhere;
} rows[] = {
    {"friction with `dContactApprox1`", test_friction_is_a_disc, NULL},
    {"friction without that flag", test_friction_in_newtons_is_the_same, NULL},
    {"rolling friction", NULL, "tests/test_step_contacts.c"},
    {"restitution at contacts", NULL, "tests/test_step_contacts.c"},
    {"stops", NULL, "tests/test_step_stops.c"},
    {"schemes other than", NULL, "tests/test_command_run.sh"},
    {"contacts while bodies move", NULL, "tests/test_schemes_order.c"},
    {"bodies that go further", test_fast_bodies_are_held, NULL},
    {"position errors", test_position_errors_do_not_pop, NULL},
    {"bodies put into each other", test_bodies_put_into_each_other_come_apart,
     NULL},
    {"soft contacts and joints", NULL, "tests/test_step_soft.c"},
    {"the world's CFM", NULL, "tests/test_step_soft.c"},
    {"PU joints; motors and stops", NULL, "tests/test_rows_joint.c"},
    {"motors with `FMax`", NULL, "tests/test_schemes_world.c"},
    {"scheme `ap`", NULL, "tests/test_step_soft.c"},
    {"positions", test_position_errors_do_not_pop, NULL},
    {"points that touch", NULL, "tests/test_step_kept.c"},
    {"depth of what lies", NULL, "tests/test_step_rest.c"},
    {"sleep", test_sleep_waits_for_corrections, NULL},
    {"feedback of contacts", test_points_that_coincide_are_one, NULL},
    {"QuickStep's iterations", test_quickstep_has_no_parameters, NULL},
    {"QuickStep's draws", test_quickstep_has_no_parameters, NULL},
    {"cost", NULL, "bench/bench_solvers.c"},
    {"memory", NULL, "tests/test_step_failures.c"},
    {"a step that cannot", NULL, "tests/test_step_failures.c"},
    {"motions beyond", NULL, "tests/test_step_failures.c"},
    {"geoms out of", NULL, "tests/test_step_source.c"},
    {"a step inside", NULL, "tests/test_step_failures.c"},
    {"a callback of", NULL, "tests/test_step_callbacks.c"}};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

/* The document's rows are these, in their order. */
static void test_every_row_has_a_test(void) {
  FILE *document = fopen(SOURCE "/docs/differences.md", "r");
  char line[2000];
  int n = 0;
  CU_ASSERT_PTR_NOT_NULL_FATAL(document);
  while (fgets(line, sizeof line, document) != NULL) {
    if (strncmp(line, "| ", 2) != 0 || strncmp(line, "| what |", 8) == 0)
      continue;
    const char *row = n < N_ROWS ? rows[n].row : "(no row)";
    bool same = strncmp(line + 2, row, strlen(row)) == 0;
    if (!same) printf("no test of: %s", line);
    CU_ASSERT(same);
    n++;
  }
  fclose(document);
  CU_ASSERT_EQUAL(n, N_ROWS);
  for (int i = 0; i < N_ROWS; i++) {
    char path[500];
    if (rows[i].elsewhere == NULL) continue;
    snprintf(path, sizeof path, SOURCE "/%s", rows[i].elsewhere);
    CU_ASSERT_EQUAL(access(path, R_OK), 0);
  }
}

int main(void) {
  CU_TestInfo tests[N_ROWS + 2] = {
      {"every row has a test", test_every_row_has_a_test}};
  int n = 1;
  for (int i = 0; i < N_ROWS; i++) { /* some tests have two rows */
    bool is_there = rows[i].test == NULL;
    for (int k = 0; k < n; k++) is_there |= tests[k].pTestFunc == rows[i].test;
    if (!is_there) tests[n++] = (CU_TestInfo){rows[i].row, rows[i].test};
  }
  tests[n] = (CU_TestInfo)CU_TEST_INFO_NULL;
  return run_host_tests("differences from the host's own stepper", tests);
}
