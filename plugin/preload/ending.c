#define _GNU_SOURCE // program_invocation_short_name
#include "preload/ending.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/text.h"
#include "preload/libraries.h"
#include "preload/message.h"
#include "preload/record.h"
#include "settings/environment.h"

static run_mark_place run;
static pid_t self; /* 0: exits are not watched (yet) */
static char program[64];
static char second_library[PATH_MAX]; /* empty: none was seen */

static const int ending_signals[] = {SIGTERM, SIGINT,  SIGABRT, SIGHUP,
                                     SIGQUIT, SIGSEGV, SIGBUS,  SIGFPE,
                                     SIGILL,  SIGPIPE, SIGXCPU};
static const size_t n_ending_signals =
    sizeof ending_signals / sizeof ending_signals[0];

/* ---- what there is to say ---- */

/* A child between vfork and exec runs in its parent's memory. */
static bool is_this_process(void) { return self != 0 && getpid() == self; }

/* Keeps the name of a second ODE library, should there be one by now. */
static void look_for_second_library(bool hidden) {
  const char *path = NULL;
  if (second_library[0] == '\0') path = libraries_second_ode();
  if (second_library[0] == '\0' && path == NULL && hidden)
    path = libraries_hidden_ode();
  if (path != NULL) strncpy(second_library, path, sizeof second_library - 1);
}

/* Stands before the C library's: what is closed is not there at the end. */
__attribute__((visibility("default"))) int dlclose(void *library) {
  static union {
    void *symbol;
    int (*function)(void *);
  } real;

  if (is_this_process()) look_for_second_library(false);
  if (real.symbol == NULL) real.symbol = dlsym(RTLD_NEXT, "dlclose");
  return real.function(library);
}

/* Says it once a run: forked processes hold what their parent loaded. */
static void tell_of_second_library(void) {
  look_for_second_library(true);
  if (second_library[0] == '\0' ||
      (run.mark != NULL && atomic_exchange(&run.mark->second_library, 1) != 0))
    return;
  message_say(
      (const char *[]){program, " holds a second ODE library, ", second_library,
                       ": worlds made in it did not step on ode-mlcp", NULL});
}

void ending_count_step(bool taken) {
  if (run.mark == NULL) return;
  atomic_fetch_add(&run.mark->steps, 1);
  if (!taken) atomic_fetch_add(&run.mark->not_taken, 1);
}

/* Async-signal-safe. @return whether there were any */
static bool tell_of_steps_not_taken(void) {
  char counts[64];
  text out;
  long not_taken = run.mark != NULL ? atomic_load(&run.mark->not_taken) : 0;
  if (not_taken == 0) return false;
  text_start(&out, counts, sizeof counts - 1);
  text_add_integer(&out, not_taken);
  text_add(&out, " of ");
  text_add_integer(&out, atomic_load(&run.mark->steps));
  counts[out.used] = '\0';
  message_say((const char *[]){
      program, ": ", counts,
      " steps were refused or failed and changed nothing", NULL});
  return true;
}

static bool is_strict(void) {
  const char *value = getenv(ENVIRONMENT_STRICT);
  return value != NULL && strcmp(value, "on") == 0;
}

void ending_tell_of_start(const char *name) {
  message_say((const char *[]){
      program, " started ", name,
      (" without ode-mlcp (LD_PRELOAD was reset, or nothing can be preloaded "
       "into it): no world of it stepped on ode-mlcp"),
      NULL});
}

/* Judge the run: says what was wrong with it.
 * @param started  what this process became out of sight, NULL: nothing
 * @return the status to end with in place of `status`. */
static int judge_run(int status, const char *started) {
  tell_of_second_library();
  if (run.top != self) {
    // preloaded by hand: nobody else says it
    if (run.top == 0) (void)tell_of_steps_not_taken();
    return status;
  }

  bool stepped = atomic_load(&run.mark->stepped) != 0;
  if (!stepped && started != NULL)
    ending_tell_of_start(started);
  else if (!stepped)
    message_say((const char *[]){
        program,
        (" never stepped an ODE world; if it has ODE linked in statically, "
         "link it with the shared libode.so.8"),
        NULL});
  bool incomplete = tell_of_steps_not_taken() && is_strict();
  bool wrong = !stepped || atomic_load(&run.mark->second_library) != 0;
  // the low byte is all that a parent sees
  if ((status & 0xff) != 0) return status;
  return wrong ? WRONG_RUN_STATUS
               : (incomplete ? STEPS_NOT_TAKEN_STATUS : status);
}

/* ---- exits ---- */

/* Blocks all signals of this thread, so that none can end the process while
 * its files are half written. */
static void finish_undisturbed(void) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  record_finish();
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The program's output comes before what is written now, should both go to the
 * same file. Not where another thread is held up inside a print. */
static void flush_stdout(void) {
  if (ftrylockfile(stdout) != 0) return;
  fflush_unlocked(stdout);
  funlockfile(stdout);
}

#ifdef __GLIBC__
static void end_by_exit(int status, void *unused) {
  (void)unused;
  if (!is_this_process()) return;

  if (record_has_steps()) flush_stdout();
  finish_undisturbed();
  int judged = judge_run(status, NULL);
  self = 0;
  // glibc goes on with what is left of its exit, now with this status
  if (judged != status) exit(judged);
}
#endif

static void end_by_quick_exit(void) {
  if (!is_this_process()) return;

  finish_undisturbed();
  (void)judge_run(0, NULL); // this way out does not tell its status
  self = 0;
}

bool ending_answers_for_run(void) {
  return is_this_process() && run.mark != NULL && run.top == self;
}

int ending_judge_child(const char *name, int status) {
  finish_undisturbed();
  return judge_run(status, name);
}

void ending_leave(int status) {
  for (;;) syscall(SYS_exit_group, status);
}

void ending_refuse(void) {
  if (is_this_process()) finish_undisturbed();
  ending_leave(WRONG_RUN_STATUS);
}

/* Stands before the C library's: shells and Python's children end this way,
 * which runs no exit handler. */
static void __attribute__((noreturn)) end_by_system_call(int status) {
  if (is_this_process()) {
    finish_undisturbed();
    status = judge_run(status, NULL);
  }
  ending_leave(status);
}

__attribute__((visibility("default"))) void _exit(int status) {
  end_by_system_call(status);
}

__attribute__((visibility("default"))) void _Exit(int status) {
  end_by_system_call(status);
}

static void start_child(void) {
  self = getpid();
  // the parent is still there to speak
  message_let_go();
  record_start_child();
}

void ending_watch_exits(run_mark_place place) {
  run = place;
  if (run.mark == NULL) run.top = 0;
  self = getpid();
  strncpy(program, program_invocation_short_name, sizeof program - 1);

  if (run.top == self) message_keep_stderr();
#ifdef __GLIBC__
  on_exit(end_by_exit, NULL);
#else
  atexit(end_by_quick_exit); // other libraries tell no status, nor change it
#endif
  at_quick_exit(end_by_quick_exit);
  pthread_atfork(NULL, NULL, start_child);
}

/* ---- signals ---- */

static bool is_fault(int number, const siginfo_t *information) {
  bool names_fault = number == SIGSEGV || number == SIGBUS ||
                     number == SIGFPE || number == SIGILL;
  return names_fault && information->si_code > 0;
}

/* SA_RESETHAND has put the default action back before this is called. */
static void end_by_signal(int number, siginfo_t *information, void *context) {
  (void)context;
  int error = errno;

  if (is_this_process()) record_finish();
  if (ending_answers_for_run()) (void)tell_of_steps_not_taken();
  errno = error;
  // a fault happens again on return, where a core dump shows it; anything else
  // is sent again
  if (!is_fault(number, information)) raise(number);
}

void ending_watch_signals(void) {
  for (size_t k = 0; k < n_ending_signals; k++) {
    struct sigaction present, ours;
    if (sigaction(ending_signals[k], NULL, &present) != 0 ||
        (present.sa_flags & SA_SIGINFO) != 0 || present.sa_handler != SIG_DFL)
      continue;

    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = end_by_signal;
    ours.sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER;
    sigfillset(&ours.sa_mask);
    sigdelset(&ours.sa_mask, ending_signals[k]);
    sigaction(ending_signals[k], &ours, NULL);
  }
}
