/* Result files: which are accepted, and how they are written; and the page that
 * the processes of a run share. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "full_disk.h"
#include "preload/output_file.h"
#include "preload/run_mark.h"
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

static text words_of(char *words) {
  return (text){words, strlen(words), strlen(words), 0};
}

static void test_accepted_names(void) {
  char expected[PATH_MAX];

  CU_ASSERT_EQUAL(output_file_check("new.json", path), 0);
  CU_ASSERT_EQUAL(path[0], '/');
  CU_ASSERT_NOT_EQUAL(access("new.json", F_OK), 0); // not created

  write_words("real.json", "old");
  CU_ASSERT_EQUAL(symlink("real.json", "link.json"), 0);
  CU_ASSERT_EQUAL(output_file_check("./link.json", path), 0);
  CU_ASSERT_PTR_NOT_NULL(realpath("real.json", expected));
  CU_ASSERT_STRING_EQUAL(path, expected);
  CU_ASSERT(file_reads("real.json", "old")); // not changed

  CU_ASSERT_EQUAL(output_file_check("/dev/null", path), 0);
  CU_ASSERT_STRING_EQUAL(path, "/dev/null");
}

static void test_refused_names(void) {
  char long_name[2 * PATH_MAX];
  memset(long_name, 'x', sizeof long_name);
  long_name[300] = '\0';

  CU_ASSERT_EQUAL(output_file_check("", path), ENOENT);
  CU_ASSERT_EQUAL(output_file_check("none/a.json", path), ENOENT);
  CU_ASSERT_EQUAL(output_file_check(".", path), EISDIR);
  CU_ASSERT_EQUAL(output_file_check("none/", path), EISDIR);
  CU_ASSERT_EQUAL(output_file_check("/dev/no-such-device", path), ENOENT);
  CU_ASSERT_EQUAL(output_file_check(long_name, path), ENAMETOOLONG);
  memset(long_name, 'x', sizeof long_name);
  long_name[sizeof long_name - 1] = '\0';
  CU_ASSERT_EQUAL(output_file_check(long_name, path), ENAMETOOLONG);
  write_words("file", "");
  CU_ASSERT_EQUAL(output_file_check("file/a.json", path), ENOTDIR);
}

static void test_replace_is_whole(void) {
  char first[] = "a longer first text\n", second[] = "second\n";
  text words = words_of(first);
  struct stat before, after;

  CU_ASSERT_EQUAL(output_file_check("out.json", path), 0);
  CU_ASSERT_EQUAL(output_file_replace(path, &words), 0);
  CU_ASSERT(file_reads("out.json", first));
  CU_ASSERT_EQUAL(stat("out.json", &before), 0);

  // who has the old file open keeps the whole old text
  FILE *reader = fopen("out.json", "r");
  CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
  words = words_of(second);
  CU_ASSERT_EQUAL(output_file_replace(path, &words), 0);
  CU_ASSERT(file_reads("out.json", second));
  CU_ASSERT_EQUAL(stat("out.json", &after), 0);
  CU_ASSERT_NOT_EQUAL(before.st_ino, after.st_ino);
  char kept[64] = "";
  CU_ASSERT_EQUAL(fread(kept, 1, sizeof kept - 1, reader), strlen(first));
  CU_ASSERT_STRING_EQUAL(kept, first);
  fclose(reader);

  // no draft is left
  CU_ASSERT_NOT_EQUAL(system("ls out.json.* >/dev/null 2>&1"), 0);
}

// what others have put where a draft goes is left alone
static void test_drafts_are_new_files(void) {
  char some[] = "words\n";
  text words = words_of(some);
  struct stat there;
  write_words("victim", "kept");
  CU_ASSERT_EQUAL(output_file_check("draft.json", path), 0);
  char draft[PATH_MAX + 32];
  snprintf(draft, sizeof draft, "%s.%d.0.tmp", path, (int)getpid());
  CU_ASSERT_EQUAL(symlink("victim", draft), 0);
  CU_ASSERT_EQUAL(output_file_replace(path, &words), 0);
  CU_ASSERT(file_reads("draft.json", some));
  CU_ASSERT(file_reads("victim", "kept"));
  CU_ASSERT_EQUAL(lstat("draft.json", &there), 0);
  CU_ASSERT(S_ISREG(there.st_mode));
  unlink(draft);
}

static void test_failures_are_told(void) {
  char some[] = "words\n";
  text words = words_of(some);
  CU_ASSERT_EQUAL(output_file_replace("gone/out.json", &words), ENOENT);
}

static void test_old_results_go(void) {
  write_words("old.json", "old");
  CU_ASSERT_EQUAL(output_file_remove("old.json"), 0);
  CU_ASSERT_NOT_EQUAL(access("old.json", F_OK), 0);
  CU_ASSERT_EQUAL(output_file_remove("old.json"), 0);

  // what a descriptor leads to is somebody's: it stays, and whole
  write_words("others.json", "theirs");
  int descriptor = open("others.json", O_RDWR);
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
  CU_ASSERT(!output_file_is_plain(name));
  CU_ASSERT_EQUAL(output_file_remove(name), 0);
  CU_ASSERT(file_reads("others.json", "theirs"));
  close(descriptor);
}

/* The page that this process made, as a child finds it. */
static int child_finds(const char *setting, int closes_descriptor) {
  int status, descriptor = 0;
  pid_t child = fork();
  if (child == 0) {
    sscanf(setting, "%*d:%d", &descriptor);
    if (closes_descriptor) close(descriptor);
    run_mark_place place = run_mark_open(setting);
    if (place.top != getppid()) _exit(1);
    atomic_fetch_add(&place.mark->stepped, 1);
    _exit(run_mark_claim(place.mark, getpid()) ? 0 : 2);
  }
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

static void test_processes_share_a_page(void) {
  char setting[128];
  CU_ASSERT_EQUAL_FATAL(run_mark_create("/bin/sh", setting, sizeof setting), 0);
  run_mark_place place = run_mark_open(setting);

  CU_ASSERT_EQUAL(place.top, getpid());
  CU_ASSERT_PTR_NOT_NULL_FATAL(place.mark);
  CU_ASSERT_EQUAL(atomic_load(&place.mark->stepped), 0);
  CU_ASSERT(!run_mark_is_probed(place.mark));

  CU_ASSERT_EQUAL(child_finds(setting, 0), 0); // the first gets the names
  CU_ASSERT_EQUAL(child_finds(setting, 1), 2); // through /proc, and is late
  CU_ASSERT_EQUAL(atomic_load(&place.mark->stepped), 2);
  CU_ASSERT(!run_mark_claim(place.mark, getpid()));
}

static void test_stale_settings_find_no_page(void) {
  static const char *const settings[] = {
      NULL, "", "1:2", "nonsense", "1:2:3:4", "999999999:985:1:1"};
  for (size_t k = 0; k < sizeof settings / sizeof settings[0]; k++) {
    run_mark_place place = run_mark_open(settings[k]);
    CU_ASSERT_EQUAL(place.top, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(place.mark);
    // a page of its own: the plain names are free
    CU_ASSERT(run_mark_claim(place.mark, getpid()));
    CU_ASSERT(run_mark_claim(place.mark, getpid()));
    CU_ASSERT(!run_mark_claim(place.mark, getpid() + 1));
  }
}

static int count_drafts(void) {
  int n = 0;
  DIR *folder = opendir(".");
  CU_ASSERT_PTR_NOT_NULL_FATAL(folder);
  for (struct dirent *file; (file = readdir(folder)) != NULL;)
    n += strstr(file->d_name, ".tmp") != NULL;
  closedir(folder);
  return n;
}

/* The old result stays, and no draft does. */
static void test_a_failed_write_leaves_nothing(void) {
  char old[] = "old", longer[] = "longer than eight bytes";
  text words = words_of(old);
  full_disk before;
  CU_ASSERT_EQUAL(output_file_check("full.json", path), 0);
  CU_ASSERT_EQUAL(output_file_replace(path, &words), 0);
  int n_drafts = count_drafts();
  words = words_of(longer);
  full_disk_begin(&before, 8);
  int error = output_file_replace(path, &words);
  full_disk_end(&before);
  CU_ASSERT_EQUAL(error, EFBIG);
  CU_ASSERT(file_reads("full.json", "old"));
  CU_ASSERT_EQUAL(count_drafts(), n_drafts);
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"accepted names", test_accepted_names},
      {"refused names", test_refused_names},
      {"a result is replaced whole", test_replace_is_whole},
      {"drafts are new files", test_drafts_are_new_files},
      {"failures are told", test_failures_are_told},
      {"a failed write leaves nothing", test_a_failed_write_leaves_nothing},
      {"old results go", test_old_results_go},
      {"processes share a page", test_processes_share_a_page},
      {"stale settings find no page", test_stale_settings_find_no_page},
      CU_TEST_INFO_NULL};
  char folder[] = "/tmp/ode-mlcp-test.XXXXXX", command[64];

  if (mkdtemp(folder) == NULL || chdir(folder) != 0) return 1;
  int status = run_tests("files", tests);
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command) == 0 ? status : 1;
}
