/* Which result files are accepted; and the page that the processes of a run share. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/output_file.h"
#include "preload/run_page.h"
#include "testing.h"

static char path[PATH_MAX];

static void write_words(const char *name, const char *words) {
  FILE *file = fopen(name, "w");
  CU_ASSERT_PTR_NOT_NULL_FATAL(file);
  fputs(words, file);
  fclose(file);
}

static int file_reads(const char *name, const char *words) {
  char found[64] = "";
  FILE *file = fopen(name, "r");
  if (file == NULL) return 0;
  size_t n = fread(found, 1, sizeof found - 1, file);
  fclose(file);
  return n == strlen(words) && strcmp(found, words) == 0;
}

static void test_accepted_names(void) {
  char expected[PATH_MAX];

  CU_ASSERT_EQUAL(output_file_check("new.json", false, path), 0);
  CU_ASSERT_EQUAL(path[0], '/');
  CU_ASSERT_NOT_EQUAL(access("new.json", F_OK), 0); // not created

  write_words("real.json", "old");
  CU_ASSERT_EQUAL(symlink("real.json", "link.json"), 0);
  CU_ASSERT_EQUAL(output_file_check("./link.json", false, path), 0);
  CU_ASSERT_PTR_NOT_NULL(realpath("real.json", expected));
  CU_ASSERT_STRING_EQUAL(path, expected);
  CU_ASSERT(file_reads("real.json", "old")); // not changed

  CU_ASSERT_EQUAL(output_file_check("/dev/null", false, path), 0);
  CU_ASSERT_STRING_EQUAL(path, "/dev/null");
}

static void test_refused_names(void) {
  char long_name[2 * PATH_MAX];
  memset(long_name, 'x', sizeof long_name);
  long_name[300] = '\0';

  CU_ASSERT_EQUAL(output_file_check("", false, path), ENOENT);
  CU_ASSERT_EQUAL(output_file_check("none/a.json", false, path), ENOENT);
  CU_ASSERT_EQUAL(output_file_check(".", false, path), EISDIR);
  CU_ASSERT_EQUAL(output_file_check("none/", false, path), EISDIR);
  CU_ASSERT_EQUAL(output_file_check("/dev/no-such-device", false, path),
                  ENOENT);
  CU_ASSERT_EQUAL(output_file_check(long_name, false, path), ENAMETOOLONG);
  memset(long_name, 'x', sizeof long_name);
  long_name[sizeof long_name - 1] = '\0';
  CU_ASSERT_EQUAL(output_file_check(long_name, false, path), ENAMETOOLONG);
  write_words("file", "");
  CU_ASSERT_EQUAL(output_file_check("file/a.json", false, path), ENOTDIR);
}

static void test_plain_files(void) {
  write_words("others.json", "theirs");
  CU_ASSERT(output_file_is_plain("others.json"));
  CU_ASSERT(output_file_is_plain("none.json"));
  CU_ASSERT(!output_file_is_plain("/dev/null"));
  // what a descriptor leads to is somebody's
  int descriptor = open("others.json", O_RDWR);
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
  CU_ASSERT(!output_file_is_plain(name));
  close(descriptor);
}

/* ---- the page ---- */

static void name_page(int descriptor) {
  char setting[64];
  snprintf(setting, sizeof setting, "%d:%d", (int)getpid(), descriptor);
  setenv(RUN_PAGE_VARIABLE, setting, 1);
}

/* The page that this process made, as a child finds it; it dies as it counts. */
static void let_child_count(int descriptor, int closes_descriptor) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    if (closes_descriptor) close(descriptor);
    run_page *page = run_page_find();
    if (page == NULL || run_page_claim(page, getpid()) || !run_page_lock(page))
      _exit(1);
    page->sums.solves++;
    raise(SIGKILL);
  }
  waitpid(child, &status, 0);
  CU_ASSERT(WIFSIGNALED(status));
}

static void test_processes_share_a_page(void) {
  int descriptor;
  run_page *page = run_page_create(&descriptor);
  CU_ASSERT_PTR_NOT_NULL_FATAL(page);
  name_page(descriptor);
  CU_ASSERT(run_page_claim(page, getpid()));
  let_child_count(descriptor, 0);
  let_child_count(descriptor, 1); // through /proc
  CU_ASSERT_EQUAL(page->sums.solves, 2);
  CU_ASSERT(run_page_lock(page));
  CU_ASSERT(!run_page_lock(page)); // by whom a signal interrupts
  run_page_unlock(page);
  run_page_leave(descriptor);
  CU_ASSERT(run_page_is_used(descriptor)); // mapped here
  munmap(page, sizeof *page);
  CU_ASSERT(!run_page_is_used(descriptor));
  close(descriptor);

  page = run_page_create(&descriptor);
  munmap(page, sizeof *page);
  pid_t child = fork();
  if (child == 0) pause(); // has the descriptor alone
  run_page_leave(descriptor);
  CU_ASSERT(run_page_is_used(descriptor));
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  CU_ASSERT(!run_page_is_used(descriptor));
  close(descriptor);
}

static void test_stale_settings_find_no_page(void) {
  static const char *const settings[] = {"", "1:2", "nonsense",
                                         "999999999:985"};
  for (size_t k = 0; k < sizeof settings / sizeof settings[0]; k++) {
    setenv(RUN_PAGE_VARIABLE, settings[k], 1);
    CU_ASSERT_PTR_NULL(run_page_find());
  }
  // another file of the page's size
  int descriptor = open("size", O_RDWR | O_CREAT, 0600);
  CU_ASSERT_EQUAL(ftruncate(descriptor, sizeof(run_page)), 0);
  name_page(descriptor);
  CU_ASSERT_PTR_NULL(run_page_find());
  close(descriptor);
  unsetenv(RUN_PAGE_VARIABLE);
  CU_ASSERT_PTR_NULL(run_page_find());
  run_page *page = run_page_of_no_run();
  CU_ASSERT_PTR_NOT_NULL_FATAL(page);
  CU_ASSERT(run_page_claim(page, getpid()));
  CU_ASSERT(run_page_claim(page, getpid()));
  CU_ASSERT(!run_page_claim(page, getpid() + 1));
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"accepted names", test_accepted_names},
      {"refused names", test_refused_names},
      {"plain files", test_plain_files},
      {"processes share a page", test_processes_share_a_page},
      {"stale settings find no page", test_stale_settings_find_no_page},
      CU_TEST_INFO_NULL};
  char folder[] = "/tmp/ode-mlcp-test.XXXXXX", command[64];

  if (mkdtemp(folder) == NULL || chdir(folder) != 0) return 1;
  int status = run_tests("files", tests);
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command) == 0 ? status : 1;
}
