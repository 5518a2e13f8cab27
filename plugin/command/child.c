#define _GNU_SOURCE // PR_SET_PDEATHSIG
#include "command/child.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t child_fork(void) {
  sigset_t all, before;
  struct sigaction by_default = {.sa_handler = SIG_DFL}, present;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  sigaction(SIGCHLD, &by_default, &present); // ignored, it leaves no status
  pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) raise(SIGKILL);
  sigaction(SIGCHLD, &present, NULL);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return 0;
}

/* By the signal that the child stopped of: a shell tells which. */
static void stop_of(int number) {
  sigset_t one;
  struct sigaction by_default = {.sa_handler = SIG_DFL}, present;
  sigemptyset(&one);
  sigaddset(&one, number);
  sigaction(number, &by_default, &present);
  raise(number);
  sigprocmask(SIG_UNBLOCK, &one, NULL);
  sigprocmask(SIG_BLOCK, &one, NULL);
  sigaction(number, &present, NULL);
}

int child_wait(pid_t child) {
  sigset_t all;
  siginfo_t information;
  int status;
  sigfillset(&all);
  for (;;) {
    pid_t found = waitpid(child, &status, WNOHANG | WUNTRACED);
    if (found == child && WIFSTOPPED(status)) {
      stop_of(WSTOPSIG(status));
      continue;
    }
    if (found == child || (found < 0 && errno != EINTR)) return status;
    int number = sigwaitinfo(&all, &information);
    // what a terminal sends, it sends to both
    if (number > 0 && number != SIGCHLD && information.si_code <= 0)
      kill(child, number);
  }
}

void child_die_of(int number) {
  const struct rlimit no_core = {0, 0};
  struct sigaction by_default = {.sa_handler = SIG_DFL};
  sigset_t one;
  setrlimit(RLIMIT_CORE, &no_core); // the program has left its own
  sigaction(number, &by_default, NULL);
  sigemptyset(&one);
  sigaddset(&one, number);
  raise(number);
  sigprocmask(SIG_UNBLOCK, &one, NULL);
}
