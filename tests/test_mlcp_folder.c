/* Problems as folders: every bit comes back, and whatever is wrong with a file
 * is said with its name. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failing_memory.h"
#include "mlcp/mlcp_folder.h"
#include "problems.h"
#include "comma_locale.h"
#include "testing.h"

static char work[] = "/tmp/ode-mlcp-folder.XXXXXX";
static char message[6000];

static void path_of(char path[200], const char *name) {
  snprintf(path, 200, "%s/%s", work, name);
}

static bool same(const void *a, const void *b, size_t bytes) {
  return bytes == 0 || memcmp(a, b, bytes) == 0;
}

static bool same_row(const mlcp_row *a, const mlcp_row *b) {
  return a->kind == b->kind && a->body[0] == b->body[0] &&
         a->body[1] == b->body[1] && same(a->J, b->J, sizeof a->J) &&
         same(&a->bias, &b->bias, sizeof a->bias) &&
         same(&a->compliance, &b->compliance, sizeof a->bias) &&
         same(&a->low, &b->low, sizeof a->bias) &&
         same(&a->high, &b->high, sizeof a->bias);
}

static bool same_friction(const mlcp_friction *a, const mlcp_friction *b) {
  return a->normal == b->normal && a->first_row == b->first_row &&
         a->n_base == b->n_base && a->first_pair == b->first_pair &&
         a->n_pairs == b->n_pairs &&
         same(&a->coefficient, &b->coefficient, sizeof(double)) &&
         same(&a->limit, &b->limit, sizeof(double));
}

static void expect_same(const mlcp_problem *a, const mlcp_problem *b) {
  CU_ASSERT_EQUAL_FATAL(a->n_bodies, b->n_bodies);
  CU_ASSERT_EQUAL_FATAL(a->n_rows, b->n_rows);
  CU_ASSERT_EQUAL_FATAL(a->n_frictions, b->n_frictions);
  CU_ASSERT_EQUAL_FATAL(a->n_pairs, b->n_pairs);
  CU_ASSERT_EQUAL(a->velocity_floor, b->velocity_floor);
  CU_ASSERT(
      same(a->bodies, b->bodies, (size_t)a->n_bodies * sizeof *a->bodies));
  CU_ASSERT(same(a->pairs, b->pairs, (size_t)a->n_pairs * sizeof *a->pairs));
  int n_same = 0;
  for (int r = 0; r < a->n_rows; r++)
    n_same += same_row(&a->rows[r], &b->rows[r]);
  CU_ASSERT_EQUAL(n_same, a->n_rows);
  n_same = 0;
  for (int f = 0; f < a->n_frictions; f++)
    n_same += same_friction(&a->frictions[f], &b->frictions[f]);
  CU_ASSERT_EQUAL(n_same, a->n_frictions);
}

static void expect_round_trip(const mlcp_problem *problem,
                              const double guess[]) {
  char path[200];
  mlcp_stored stored;
  path_of(path, "trip");
  CU_ASSERT_FATAL(mlcp_folder_write(path, problem, guess, NULL, 0,
                                    &memory_from_malloc, message,
                                    sizeof message));
  bool read = mlcp_folder_read(path, &memory_from_malloc, &stored, message,
                               sizeof message);
  if (!read) printf("\n  %s\n", message);
  CU_ASSERT_FATAL(read);
  expect_same(problem, &stored.problem);
  for (int r = 0; r < problem->n_rows; r++)
    CU_ASSERT(guess != NULL && isfinite(guess[r])
                  ? same(&guess[r], &stored.guess[r], sizeof *guess)
                  : isnan(stored.guess[r]));
  mlcp_stored_release(&stored);
  mlcp_folder_remove(path);
  CU_ASSERT_EQUAL(access(path, F_OK), -1);
}

static void test_scenes_come_back(void) {
  test_problem problem;
  problem_make_wall(&problem, 4, 0.5, 4);
  expect_round_trip(&problem.mlcp, NULL);
  problem_release(&problem);
  problem_make_heap(&problem, 12, 3, 0.7, 8);
  expect_round_trip(&problem.mlcp, NULL);
  problem_release(&problem);
  problem_make_chain(&problem, 6, 0.5, 4);
  expect_round_trip(&problem.mlcp, NULL);
  problem_release(&problem);
  problem_make_grasp(&problem, 0.5, 4);
  expect_round_trip(&problem.mlcp, NULL);
  problem_release(&problem);
}

/* Written and read by a program whose locale has a decimal comma, and by one that
 * has none. */
static void test_scenes_come_back_with_commas(void) {
  test_problem problem;
  char path[200];
  mlcp_stored stored;
  problem_make_wall(&problem, 2, 0.5, 4);
  CU_ASSERT_FATAL(use_comma_locale(work));
  expect_round_trip(&problem.mlcp, NULL);
  path_of(path, "commas-to-points");
  CU_ASSERT(mlcp_folder_write(path, &problem.mlcp, NULL, NULL, 0,
                              &memory_from_malloc, message, sizeof message));
  CU_ASSERT_STRING_EQUAL(localeconv()->decimal_point, ","); /* left as it was */
  setlocale(LC_ALL, "C");
  CU_ASSERT_FATAL(mlcp_folder_read(path, &memory_from_malloc, &stored, message,
                                   sizeof message));
  expect_same(&problem.mlcp, &stored.problem);
  mlcp_stored_release(&stored);
  problem_release(&problem);
}

/* Numbers whose bits are easily lost. */
static void test_every_bit_comes_back(void) {
  static const double hard[] = {0.1,
                                -0.0,
                                1.0 / 3,
                                4.9406564584124654e-324,
                                -2.2250738585072014e-308,
                                1e308,
                                -1e-300,
                                1.7976931348623157e308,
                                M_PI,
                                -1e22};
  enum { N_HARD = sizeof hard / sizeof *hard };
  test_problem problem;
  problem_make_heap(&problem, 6, 5, 0.5, 4);
  int n_rows = problem.mlcp.n_rows;
  double *guess = malloc((size_t)n_rows * sizeof *guess);
  for (int r = 0; r < n_rows; r++) {
    mlcp_row *row = &problem.rows[r];
    for (int k = 0; k < 6; k++)
      if (row->body[0] >= 0) row->J[0][k] = hard[(r + k) % N_HARD];
    row->bias = hard[(r + 1) % N_HARD];
    row->compliance = fabs(hard[(r + 2) % N_HARD]);
    if (row->kind == MLCP_ROW_JOINT) row->low = -fabs(hard[r % N_HARD]);
    guess[r] = r % 4 == 3 ? NAN : hard[(r + 3) % N_HARD];
  }
  for (int b = 0; b < problem.mlcp.n_bodies; b++) {
    problem.bodies[b].mass[1] = hard[b % N_HARD];
    problem.bodies[b].inverse_mass[8] = -0.0;
    problem.bodies[b].v_free[2] = hard[(b + 4) % N_HARD];
  }
  problem.mlcp.velocity_floor = 1.0 / 3;
  expect_round_trip(&problem.mlcp, guess);
  free(guess);
  problem_release(&problem);
}

static void test_smallest_problems_come_back(void) {
  test_problem problem;
  problem_init(&problem);
  problem.mlcp.velocity_floor = 1e-9;
  expect_round_trip(&problem.mlcp, NULL);
  problem_add_box(&problem, 2, 0, 0, 1, 0.5, 0.5, 0.5);
  expect_round_trip(&problem.mlcp, NULL);
  const double J[6] = {1, 0, 0, 0, 0, 0}, none[6] = {0};
  problem_add_row(&problem, 0, -1, J, none, 0.5, -0.0, 0);
  problem_add_row(&problem, 0, -1, J, none, 0.5, -INFINITY, 3);
  problem_add_row(&problem, -1, -1, none, none, 0, -INFINITY, INFINITY);
  expect_round_trip(&problem.mlcp, NULL);
  problem_release(&problem);
}

static void test_notes_are_kept(void) {
  char path[200], file[220], text[4000];
  test_problem problem;
  problem_make_stack(&problem, 2, 1, 0.5, 4);
  const mlcp_note notes[] = {
      {"step", 12, NULL}, {"residual", NAN, NULL}, {"scene", 0, "two boxes"}};
  path_of(path, "notes");
  CU_ASSERT(mlcp_folder_write(path, &problem.mlcp, NULL, notes, 3,
                              &memory_from_malloc, message, sizeof message));
  snprintf(file, sizeof file, "%s/problem.json", path);
  FILE *description = fopen(file, "r");
  size_t length = fread(text, 1, sizeof text - 1, description);
  fclose(description);
  text[length] = 0;
  CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"step\": 12,\n"));
  CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"residual\": null,\n"));
  CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"scene\": \"two boxes\",\n"));
  problem_release(&problem);
}

/* ---- what is wrong ----------------------------------------------------------- */

/* Replace the content of a file of the folder; NULL removes it. */
static void spoil(const char *folder, const char *name, const char *content) {
  char file[220];
  snprintf(file, sizeof file, "%s/%s", folder, name);
  unlink(file);
  if (content == NULL) return;
  FILE *out = fopen(file, "w");
  fputs(content, out);
  fclose(out);
}

static void expect_refused(const char *name, const char *content,
                           const char *said) {
  char path[200];
  mlcp_stored stored;
  test_problem problem;
  problem_make_stack(&problem, 1, 1, 0.5, 4);
  path_of(path, "spoilt");
  CU_ASSERT(mlcp_folder_write(path, &problem.mlcp, NULL, NULL, 0,
                              &memory_from_malloc, message, sizeof message));
  spoil(path, name, content);
  CU_ASSERT(!mlcp_folder_read(path, &memory_from_malloc, &stored, message,
                              sizeof message));
  bool named = strstr(message, said) != NULL && strchr(message, '\n') == NULL;
  if (!named) printf("\n  '%s' does not say '%s'\n", message, said);
  CU_ASSERT(named);
  mlcp_stored_release(&stored);
  problem_release(&problem);
}

#define BANNER "%%MatrixMarket matrix coordinate real general\n"

static void test_what_is_wrong_is_named(void) {
  // one box on four contacts: 12 rows, 4 sets, 8 pairs
  static const struct {
    const char *name, *content, *said;
  } cases[] = {
      {"velocity_floor.mtx", NULL, "velocity_floor.mtx: No such file"},
      {"velocity_floor.mtx", BANNER "1 1 0\n", "velocity_floor is 0"},
      {"velocity_floor.mtx", BANNER "1 1 1\n1 1 -1\n", "velocity_floor is -1"},
      {"M.mtx", BANNER "7 7 0\n", "M.mtx: not six rows for every body"},
      {"M.mtx", BANNER "12 12 0\n",
       "Minv.mtx:2: the matrix is 6 x 6, expected"},
      {"M.mtx", BANNER "600000000 600000000 0\n", "M.mtx: more rows than"},
      {"rows.mtx", BANNER "99999999 5 0\n", "rows.mtx: more rows than the fil"},
      {"M.mtx", NULL, "M.mtx: No such file"},
      {"M.mtx", BANNER "6 6 1\n1 1 nan\n", "M.mtx:3: 'nan' is not a finite"},
      {"M.mtx", BANNER "6 6 2\n1 1 1\n", "M.mtx:3: the file ends"},
      {"M.mtx", BANNER "6 6 0\n", "body 0: diagonal 0 of the mass"},
      {"Minv.mtx", BANNER "6 7 0\n", "Minv.mtx:2: the matrix is 6 x 7"},
      {"v_free.mtx", BANNER "6 1 1\n7 1 1\n", "v_free.mtx:3: a row is 7"},
      {"J.mtx", BANNER "11 6 0\n", "J.mtx:2: the matrix is 11 x 6"},
      {"J.mtx", "not a matrix\n", "J.mtx:1: the first line must be"},
      {"rows.mtx", BANNER "12 5 1\n1 1 0.5\n", "row 1, column 1: 0.5 is not"},
      {"rows.mtx", BANNER "12 5 1\n1 1 7\n", "row 1, column 1: 7 is not"},
      {"rows.mtx", BANNER "12 5 1\n1 2 9\n", "row 1, column 2: 9 is not"},
      {"rows.mtx", BANNER "12 5 0\n", "J.mtx: the entry in row 1, column"},
      {"bounds.mtx", BANNER "12 2 2\n1 1 2\n1 2 1\n", "out of order"},
      {"frictions.mtx", BANNER "4 7 1\n1 2 1e12\n", "1e+12 is not a whole"},
      {"frictions.mtx", BANNER "4 7 0\n", "friction 0: base rows are out of"},
      {"pairs.mtx", BANNER "8 2 0\n", "pair 0 is zero"},
      {"guess.mtx", BANNER "3 1 0\n", "guess.mtx:2: the matrix is 3 x 1"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    expect_refused(cases[i].name, cases[i].content, cases[i].said);

  test_problem problem;
  problem_make_stack(&problem, 1, 1, 0.5, 4);
  CU_ASSERT(!mlcp_folder_write("/nowhere/at/all", &problem.mlcp, NULL, NULL, 0,
                               &memory_from_malloc, message, sizeof message));
  CU_ASSERT_PTR_NOT_NULL(strstr(message, "/nowhere/at/all: No such file"));
  problem_release(&problem);
}

/* The longest path that is taken and one that is longer by a letter, which would be
 * another file's name where it is cut off. */
static void test_a_path_is_whole_or_refused(void) {
  static char path[MLCP_FOLDER_PATH + 8];
  char file[MLCP_FOLDER_PATH];
  const size_t most = MLCP_FOLDER_PATH - 1 - strlen("/rows.mtx");
  memset(path, 'x', most);
  CU_ASSERT(mlcp_folder_file(path, "rows.mtx", file));
  CU_ASSERT_EQUAL(strlen(file), MLCP_FOLDER_PATH - 1);
  CU_ASSERT_STRING_EQUAL(file + most, "/rows.mtx");
  path[most] = 'x';
  CU_ASSERT(!mlcp_folder_file(path, "rows.mtx", file));
}

static void test_only_what_is_ours_is_removed(void) {
  char path[200], file[220];
  path_of(path, "guarded");
  test_problem problem;
  problem_make_stack(&problem, 1, 1, 0.5, 4);
  CU_ASSERT(mlcp_folder_write(path, &problem.mlcp, NULL, NULL, 0,
                              &memory_from_malloc, message, sizeof message));
  CU_ASSERT(mlcp_folder_is_there(path));
  CU_ASSERT(mlcp_folder_size(path) > 1000);
  spoil(path, "notes.txt", "mine\n");
  mlcp_folder_remove(path);
  snprintf(file, sizeof file, "%s/notes.txt", path);
  CU_ASSERT_EQUAL(access(file, F_OK), 0);
  CU_ASSERT(!mlcp_folder_is_there(path));
  // one that is not whole is somebody else's
  spoil(path, "M.mtx", "mine\n");
  mlcp_folder_remove(path);
  snprintf(file, sizeof file, "%s/M.mtx", path);
  CU_ASSERT_EQUAL(access(file, F_OK), 0);
  problem_release(&problem);
}

/* ---- memory -------------------------------------------------------------------- */

static void test_every_allocation_may_fail(void) {
  failing_memory memory = {0};
  const memory_source failing = failing_memory_source(&memory);
  char path[200];
  test_problem problem;
  problem_make_heap(&problem, 3, 1, 0.5, 4);
  path_of(path, "memory");
  for (int writing = 1; writing >= 0; writing--) {
    bool done = false;
    int n_failed = 0;
    for (int n = 0; !done && n < 200; n++, n_failed += !done) {
      mlcp_stored stored = {0};
      fail_allocations_from(&memory, n);
      done = writing ? mlcp_folder_write(path, &problem.mlcp, NULL, NULL, 0,
                                         &failing, message, sizeof message)
                     : mlcp_folder_read(path, &failing, &stored, message,
                                        sizeof message);
      CU_ASSERT(done == (message[0] == 0));
      // a folder is whole or not there
      CU_ASSERT(access(path, F_OK) == (done || !writing ? 0 : -1));
      mlcp_stored_release(&stored);
      CU_ASSERT_EQUAL(memory.bytes_held, 0);
    }
    CU_ASSERT(done && n_failed > 3);
  }
  problem_release(&problem);
}

int main(void) {
  if (mkdtemp(work) == NULL) return 1;
  const CU_TestInfo tests[] = {
      {"scenes come back", test_scenes_come_back},
      {"scenes come back where numbers have commas",
       test_scenes_come_back_with_commas},
      {"every bit comes back", test_every_bit_comes_back},
      {"smallest problems come back", test_smallest_problems_come_back},
      {"notes", test_notes_are_kept},
      {"what is wrong is named", test_what_is_wrong_is_named},
      {"a path is whole or refused", test_a_path_is_whole_or_refused},
      {"only what is ours is removed", test_only_what_is_ours_is_removed},
      {"every allocation may fail", test_every_allocation_may_fail},
      CU_TEST_INFO_NULL};
  int failed = run_tests("mlcp: problems as folders", tests);
  char command[60];
  snprintf(command, sizeof command, "rm -rf %s", work);
  return system(command) == 0 ? failed : 1;
}
