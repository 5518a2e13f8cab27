/* A program that becomes another one (exec) which nothing is preloaded into.
 *
 * Launchers like `env -i` or a shell that sets LD_PRELOAD start programs that
 * this library is not in: they step on the stock library, and nobody in them
 * could say so. The C library's exec functions are stood in for here. The process
 * that answers for the run starts such a program as its child, waits for it,
 * hands signals on and ends as it ended; every other start is the C library's
 * own, and keeps the process id. */
#define _GNU_SOURCE // execvpe, pipe2, RTLD_NEXT
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/ending.h"
#include "preload/message.h"

#define VISIBLE __attribute__((visibility("default")))
#define THIS_LIBRARY "/ode_mlcp_preload.so"

extern char **environ;

typedef struct start {
  enum { BY_PATH, BY_NAME, BY_DESCRIPTOR, BY_PLACE } how;
  const char *file; /* BY_NAME: on PATH; BY_PLACE: from `descriptor` on */
  int descriptor, flags;
  char *const *arguments, *const *environment;
} start;

/* ---- the C library's own ---- */

typedef int path_function(const char *, char *const[], char *const[]);
typedef int descriptor_function(int, char *const[], char *const[]);
typedef int place_function(int, const char *, char *const[], char *const[],
                           int);
static union {
  void *symbol;
  path_function *function;
} own_execve, own_execvpe;
static union {
  void *symbol;
  descriptor_function *function;
} own_fexecve;
static union {
  void *symbol;
  place_function *function;
} own_execveat;

/* Before the program's code: a child of vfork must not look symbols up. */
__attribute__((constructor)) static void find_own(void) {
  own_execve.symbol = dlsym(RTLD_NEXT, "execve");
  own_execvpe.symbol = dlsym(RTLD_NEXT, "execvpe");
  own_fexecve.symbol = dlsym(RTLD_NEXT, "fexecve");
  own_execveat.symbol = dlsym(RTLD_NEXT, "execveat");
}

static int start_it(const start *s) {
  if (own_execve.symbol == NULL) find_own();
  switch (s->how) {
    case BY_NAME:
      return own_execvpe.function(s->file, s->arguments, s->environment);
    case BY_DESCRIPTOR:
      return own_fexecve.function(s->descriptor, s->arguments, s->environment);
    case BY_PLACE:
      return own_execveat.function(s->descriptor, s->file, s->arguments,
                                   s->environment, s->flags);
    default: return own_execve.function(s->file, s->arguments, s->environment);
  }
}

/* ---- what goes out of sight ---- */

static bool has_preload(char *const environment[]) {
  const char name[] = "LD_PRELOAD=";
  const size_t length = sizeof THIS_LIBRARY - 1;
  for (; environment != NULL && *environment != NULL; environment++) {
    if (strncmp(*environment, name, sizeof name - 1) != 0) continue;
    const char *entry = *environment + sizeof name - 1;
    for (size_t n; *entry != '\0'; entry += n + (entry[n] != '\0')) {
      n = strcspn(entry, ": ");
      if (n >= length && strncmp(entry + n - length, THIS_LIBRARY, length) == 0)
        return true;
    }
  }
  return false;
}

/* True if the loader takes no preloads into the file: there is none for a
 * static program, and others run as somebody else. */
static bool takes_none(const char *path) {
  struct stat status;
  ElfW(Ehdr) header;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  bool none = false;
  if (file < 0) return false;
  if (fstat(file, &status) == 0)
    none = ((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
           ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) &&
            status.st_gid != getegid());
  if (!none && pread(file, &header, sizeof header, 0) == sizeof header &&
      memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
      header.e_phentsize == sizeof(ElfW(Phdr))) {
    none = true;
    for (int k = 0; k < header.e_phnum && none; k++) {
      ElfW(Phdr) segment;
      off_t place = (off_t)(header.e_phoff + (ElfW(Off))k * sizeof segment);
      none = pread(file, &segment, sizeof segment, place) == sizeof segment &&
             segment.p_type != PT_INTERP;
    }
  }
  close(file);
  return none;
}

static bool goes_out_of_sight(const start *s) {
  if (!has_preload(s->environment)) return true;
  bool has_path = (s->how == BY_PATH || s->how == BY_NAME) && s->file != NULL &&
                  strchr(s->file, '/') != NULL;
  return has_path && takes_none(s->file);
}

/* ---- waiting ---- */

static void close_descriptors(void) {
  // a pipe of the program's must not stay open because we wait
  struct rlimit most;
  int end = getrlimit(RLIMIT_NOFILE, &most) == 0 && most.rlim_cur < 65536
                ? (int)most.rlim_cur
                : 65536;
  for (int k = 0; k < end; k++)
    if (k != message_kept_stderr()) close(k);
}

/* The terminal sends to all of a group at once. */
static bool is_ours_alone(const siginfo_t *information) {
  return information->si_code <= 0;
}

static void __attribute__((noreturn)) die_of(int number) {
  const struct rlimit no_core = {0, 0};
  sigset_t set;
  signal(number, SIG_DFL);
  setrlimit(RLIMIT_CORE, &no_core); // the program has left its own
  sigemptyset(&set);
  sigaddset(&set, number);
  raise(number);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  _exit(128 + number); // a signal that ends nothing
}

/* All signals are blocked. */
static void __attribute__((noreturn)) wait_for(pid_t child, const char *name) {
  sigset_t all;
  siginfo_t information;
  int status;

  close_descriptors();
  sigfillset(&all);
  for (;;) {
    pid_t found = waitpid(child, &status, WNOHANG | WUNTRACED);
    if (found == child && !WIFSTOPPED(status)) break;
    if (found < 0 && errno != EINTR) {
      status = 0;
      break;
    }
    if (found == child) {
      raise(SIGSTOP); // and goes on when the shell says so
      continue;
    }
    int number = sigwaitinfo(&all, &information);
    if (number > 0 && number != SIGCHLD && is_ours_alone(&information))
      kill(child, number);
  }
  int judged = ending_judge_child(
      name, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  if (WIFSIGNALED(status)) die_of(WTERMSIG(status));
  ending_leave(judged);
}

static void __attribute__((noreturn))
start_in_child(const start *s, pid_t parent, int report) {
  // killed beyond help, the parent would leave a program that nobody knows of
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) raise(SIGKILL);
  start_it(s);
  int error = errno;
  if (write(report, &error, sizeof error) < 0) error = 0;
  ending_leave(127);
}

/* @return as exec: only where the program cannot be started. */
static int start_and_wait(const start *s) {
  sigset_t all, before;
  struct sigaction by_default = {.sa_handler = SIG_DFL}, present;
  int ends[2], error = 0;

  if (pipe2(ends, O_CLOEXEC) != 0) return start_it(s);
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  sigaction(SIGCHLD, &by_default, &present);
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    sigaction(SIGCHLD, &present, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    start_in_child(s, parent, ends[1]);
  }
  close(ends[1]);
  bool started = child > 0;
  while (started) {
    ssize_t n = read(ends[0], &error, sizeof error);
    if (n < 0 && errno == EINTR) continue;
    started = n != sizeof error;
    break;
  }
  close(ends[0]);
  if (started) wait_for(child, s->file != NULL ? s->file : s->arguments[0]);

  if (child > 0) waitpid(child, NULL, 0);
  sigaction(SIGCHLD, &present, NULL);
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (child < 0) return start_it(s);
  errno = error;
  return -1;
}

/* Other threads end with an exec, and would go on beside a child. */
static bool is_alone(void) {
  int n = 0;
  DIR *threads = opendir("/proc/self/task");
  for (struct dirent *entry;
       threads != NULL && (entry = readdir(threads)) != NULL;)
    n += entry->d_name[0] != '.';
  if (threads != NULL) closedir(threads);
  return n == 1;
}

static int become(const start *s) {
  if (!ending_answers_for_run() || !goes_out_of_sight(s)) return start_it(s);
  if (is_alone()) return start_and_wait(s);
  ending_tell_of_start(s->file != NULL ? s->file : s->arguments[0]);
  return start_it(s);
}

/* ---- in the C library's place ---- */

VISIBLE int execve(const char *path, char *const arguments[],
                   char *const environment[]) {
  return become(&(start){BY_PATH, path, -1, 0, arguments, environment});
}

VISIBLE int execv(const char *path, char *const arguments[]) {
  return execve(path, arguments, environ);
}

VISIBLE int execvpe(const char *name, char *const arguments[],
                    char *const environment[]) {
  return become(&(start){BY_NAME, name, -1, 0, arguments, environment});
}

VISIBLE int execvp(const char *name, char *const arguments[]) {
  return execvpe(name, arguments, environ);
}

VISIBLE int fexecve(int descriptor, char *const arguments[],
                    char *const environment[]) {
  return become(
      &(start){BY_DESCRIPTOR, NULL, descriptor, 0, arguments, environment});
}

VISIBLE int execveat(int folder, const char *path, char *const arguments[],
                     char *const environment[], int flags) {
  return become(
      &(start){BY_PLACE, path, folder, flags, arguments, environment});
}

static int count_words(va_list words) {
  int n = 0;
  while (va_arg(words, char *) != NULL) n++;
  return n;
}

/* Lists `first` and the words after it, up to the NULL. */
static void read_words(char *list[], char *first, va_list words) {
  int n = 0;
  list[n++] = first;
  do list[n] = va_arg(words, char *);
  while (list[n++] != NULL);
}

/* On the stack: a child of vfork must not take memory. */
#define LIST_WORDS(list, first, words)                                         \
  va_start(words, first);                                                      \
  char *list[count_words(words) + 2];                                          \
  va_end(words);                                                               \
  va_start(words, first);                                                      \
  read_words(list, (char *)first, words)

VISIBLE int execl(const char *path, const char *first, ...) {
  va_list words;
  LIST_WORDS(list, first, words);
  va_end(words);
  return execve(path, list, environ);
}

VISIBLE int execlp(const char *name, const char *first, ...) {
  va_list words;
  LIST_WORDS(list, first, words);
  va_end(words);
  return execvpe(name, list, environ);
}

VISIBLE int execle(const char *path, const char *first, ...) {
  va_list words;
  LIST_WORDS(list, first, words);
  char *const *environment = va_arg(words, char *const *);
  va_end(words);
  return execve(path, list, environment);
}
