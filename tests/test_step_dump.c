/* Dumps of problems: what was solved, bit by bit, and no trace in the results. */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../bench/library.h"
#include "host_testing.h"
#include "mlcp/mlcp_folder.h"
#include "ode_mlcp.h"
#include "stepper/process.h"

static char work[] = "/tmp/ode-mlcp-dump.XXXXXX";

static void empty_work(void) {
  char command[60];
  snprintf(command, sizeof command, "rm -rf %s/*", work);
  CU_ASSERT_EQUAL(system(command), 0);
}

/* Every number of the bodies after `steps` steps. */
static double *run_scene(scene *scene, int steps, int *count) {
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(scene->world, NULL), ODE_MLCP_OK);
  for (int i = 0; i < steps; i++)
    CU_ASSERT(scene_step(scene, dWorldStep, 0.01) != 0);
  *count = 13 * scene->n_bodies;
  double *state = malloc((size_t)*count * sizeof *state);
  for (int b = 0; b < scene->n_bodies; b++) {
    dBodyID body = scene->bodies[b];
    memcpy(state + 13 * b, dBodyGetPosition(body), 3 * sizeof *state);
    memcpy(state + 13 * b + 3, dBodyGetQuaternion(body), 4 * sizeof *state);
    memcpy(state + 13 * b + 7, dBodyGetLinearVel(body), 3 * sizeof *state);
    memcpy(state + 13 * b + 10, dBodyGetAngularVel(body), 3 * sizeof *state);
  }
  scene_destroy(scene);
  return state;
}

static void test_results_do_not_change(void) {
  const ode_mlcp_dump_when moments[] = {ODE_MLCP_DUMP_ALL,
                                        ODE_MLCP_DUMP_DEGRADED};
  int count, again;
  double *plain = run_scene(scene_pit(20), 60, &count);
  for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
    CU_ASSERT_EQUAL(ode_mlcp_dump(work, moments[i]), ODE_MLCP_OK);
    double *dumped = run_scene(scene_pit(20), 60, &again);
    CU_ASSERT_EQUAL(ode_mlcp_dump(NULL, moments[i]), ODE_MLCP_OK);
    CU_ASSERT_EQUAL(count, again);
    CU_ASSERT_EQUAL(memcmp(plain, dumped, (size_t)count * sizeof *plain), 0);
    free(dumped);
  }
  free(plain);
  empty_work();
}

static int compare_names(const void *a, const void *b) { return strcmp(a, b); }

/* True if a dump is of velocities; the library leaves out problems that only
 * correct positions. */
static bool is_of_velocities(const char *name) {
  char path[300], line[300];
  bool found = false;
  snprintf(path, sizeof path, "%s/%s/problem.json", work, name);
  FILE *file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    found = found || strstr(line, "\"corrects\": \"velocities\"") != NULL;
  if (file != NULL) fclose(file);
  return found;
}

/* The folders of the step captured, in their order, against what the library
 * saw of it in memory. */
static void expect_dump_of(const char *name) {
  const library_entry *entry = library_find(name);
  library_problems captured;
  char names[64][80], path[200], message[500];
  int n_names = 0;
  CU_ASSERT_FATAL(library_capture(entry, &captured));
  scene *scene = library_bring(entry);
  CU_ASSERT_EQUAL(ode_mlcp_dump(work, ODE_MLCP_DUMP_ALL), ODE_MLCP_OK);
  CU_ASSERT(dWorldStep(scene->world, LIBRARY_STEP) != 0);
  ode_mlcp_dump(NULL, ODE_MLCP_DUMP_ALL);
  scene_destroy(scene);

  DIR *listing = opendir(work);
  for (struct dirent *found; (found = readdir(listing)) != NULL;)
    if (is_of_velocities(found->d_name) && n_names < 64)
      snprintf(names[n_names++], 80, "%.79s", found->d_name);
  closedir(listing);
  qsort(names, (size_t)n_names, sizeof names[0], compare_names);
  CU_ASSERT_EQUAL_FATAL(n_names, captured.n_problems);
  for (int i = 0; i < n_names; i++) {
    mlcp_stored stored;
    const mlcp_stored *seen = &captured.problems[i];
    snprintf(path, sizeof path, "%s/%.79s", work, names[i]);
    bool read = mlcp_folder_read(path, &memory_from_malloc, &stored, message,
                                 sizeof message);
    if (!read) printf("\n  %s\n", message);
    CU_ASSERT_FATAL(read);
    CU_ASSERT_EQUAL_FATAL(stored.problem.n_rows, seen->problem.n_rows);
    CU_ASSERT_EQUAL_FATAL(stored.problem.n_bodies, seen->problem.n_bodies);
    CU_ASSERT_EQUAL(memcmp(stored.problem.bodies, seen->problem.bodies,
                           (size_t)seen->problem.n_bodies * sizeof(mlcp_body)),
                    0);
    for (int r = 0; r < seen->problem.n_rows; r++) {
      const mlcp_row *a = &stored.problem.rows[r], *b = &seen->problem.rows[r];
      CU_ASSERT(a->bias == b->bias && a->compliance == b->compliance &&
                a->kind == b->kind);
      for (int side = 0; side < 2; side++) {
        CU_ASSERT_EQUAL(a->body[side], b->body[side]);
        CU_ASSERT(a->body[side] < 0 ||
                  memcmp(a->J[side], b->J[side], sizeof a->J[side]) == 0);
      }
      CU_ASSERT(isnan(seen->guess[r]) ? isnan(stored.guess[r])
                                      : stored.guess[r] == seen->guess[r]);
    }
    mlcp_stored_release(&stored);
  }
  library_release(&captured);
  empty_work();
}

static void test_dumps_are_what_was_solved(void) {
  expect_dump_of("wall-10-cold");
  expect_dump_of("spider-settled");
  expect_dump_of("grasp-settled");
  expect_dump_of("pit-40-moving");
}

/* First rows of joints as an observer is told them, [component][joint]. */
enum { BALL, HINGE, CONTACT, OTHER, N_JOINTS, N_COMPONENTS = 2 };

typedef struct observed {
  dJointID joints[N_JOINTS];
  int first[N_COMPONENTS][N_JOINTS], n_rows[N_COMPONENTS];
  int n_shown, n_moves;
} observed;

static void see_rows(void *context, const solved_component *solved) {
  observed *seen = context;
  const dStepperIsland *island = solved->host_island;
  if (solved->moves_only) {
    CU_ASSERT_PTR_NULL(solved->joint_of_row);
    seen->n_moves++;
    return;
  }
  CU_ASSERT_FATAL(seen->n_shown < N_COMPONENTS);
  CU_ASSERT_EQUAL_FATAL(island->joints_count, N_JOINTS);
  seen->n_rows[seen->n_shown] = solved->problem->n_rows;
  for (int i = 0; i < N_JOINTS; i++) {
    int r = 0;
    while (r < solved->problem->n_rows &&
           island->joints[solved->joint_of_row[r]] != seen->joints[i])
      r++;
    seen->first[seen->n_shown][i] = r < solved->problem->n_rows ? r : -1;
  }
  seen->n_shown++;
}

static dBodyID add_body(dWorldID world, double x) {
  dBodyID body = dBodyCreate(world);
  dBodySetPosition(body, x, 0, 0);
  return body;
}

static dJointID touch(dBodyID body, dBodyID other, double x) {
  dContact contact = {.surface = {.mode = dContactApprox1, .mu = 0.5},
                      .geom = {.pos = {x, 0, -0.5}, .normal = {0, 0, 1}}};
  dJointID joint = dJointCreateContact(dBodyGetWorld(body), 0, &contact);
  dJointAttach(joint, body, other);
  return joint;
}

/* A kinematic body ties two components into an island of the host: a contact of three
 * rows with it, and a body on a ball joint, with another on a hinge that a third
 * contact holds. Those have 3, 5 and 3 rows, one behind the other. */
static void test_observers_find_joints(void) {
  dWorldID world = dWorldCreate();
  dBodyID base = add_body(world, 0), lone = add_body(world, -2);
  dBodyID middle = add_body(world, 2), end = add_body(world, 4);
  observed seen = {0};
  dBodySetKinematic(base);
  seen.joints[BALL] = dJointCreateBall(world, 0);
  dJointAttach(seen.joints[BALL], middle, base);
  dJointSetBallAnchor(seen.joints[BALL], 1, 0, 0);
  seen.joints[HINGE] = dJointCreateHinge(world, 0);
  dJointAttach(seen.joints[HINGE], middle, end);
  dJointSetHingeAnchor(seen.joints[HINGE], 3, 0, 0);
  seen.joints[CONTACT] = touch(end, base, 4);
  seen.joints[OTHER] = touch(lone, base, -2);
  CU_ASSERT_EQUAL(ode_mlcp_attach(world, NULL), ODE_MLCP_OK);
  process_observe_solves(see_rows, &seen);
  CU_ASSERT_EQUAL(dWorldStep(world, 0.01), 1);
  process_observe_solves(NULL, NULL);
  CU_ASSERT_EQUAL_FATAL(seen.n_shown, N_COMPONENTS);
  int pair = seen.n_rows[1] > seen.n_rows[0];
  CU_ASSERT_EQUAL(seen.n_rows[pair], 11);
  CU_ASSERT_EQUAL(seen.n_rows[!pair], 3);
  for (int i = 0; i < N_JOINTS; i++) {
    int before = 0; /* the rows of joints that begin before it */
    for (int k = 0; k < N_JOINTS; k++)
      if (k != OTHER && seen.first[pair][k] < seen.first[pair][i])
        before += k == HINGE ? 5 : 3;
    CU_ASSERT_EQUAL(seen.first[pair][i], i == OTHER ? -1 : before);
  }
  for (int i = 0; i < N_JOINTS; i++)
    CU_ASSERT_EQUAL(seen.first[!pair][i], i == OTHER ? 0 : -1);
  dWorldDestroy(world);
}

static void test_bad_folders(void) {
  char long_name[5000];
  memset(long_name, 'x', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = '\0';
  CU_ASSERT_EQUAL(ode_mlcp_dump("", ODE_MLCP_DUMP_ALL), ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_EQUAL(ode_mlcp_dump(long_name, ODE_MLCP_DUMP_ALL),
                  ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_EQUAL(ode_mlcp_dump(work, (ode_mlcp_dump_when)7),
                  ODE_MLCP_BAD_ARGUMENT);
  // a program does not end because its dumps cannot be written; it is told
  int count;
  listen_to_host("");
  CU_ASSERT_EQUAL(ode_mlcp_dump("/nowhere/at/all", ODE_MLCP_DUMP_ALL),
                  ODE_MLCP_OK);
  free(run_scene(scene_wall(1), 30, &count));
  ode_mlcp_dump(NULL, ODE_MLCP_DUMP_ALL);
  dSetMessageHandler(NULL);
  CU_ASSERT_EQUAL(n_heard, 2); // the 1st and the 10th time
}

int main(void) {
  if (mkdtemp(work) == NULL) return 1;
  const CU_TestInfo tests[] = {
      {"results do not change", test_results_do_not_change},
      {"dumps are what was solved", test_dumps_are_what_was_solved},
      {"observers find joints", test_observers_find_joints},
      {"bad folders", test_bad_folders},
      CU_TEST_INFO_NULL};
  int failed = run_host_tests("step: dumps", tests);
  char command[60];
  snprintf(command, sizeof command, "rm -rf %s", work);
  return system(command) == 0 ? failed : 1;
}
