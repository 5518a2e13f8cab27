/* The ways a process ends, and what is done before it is gone: results are
 * written, and the user is told when the run was not what it seemed. */
#ifndef ODE_MLCP_PRELOAD_ENDING_H
#define ODE_MLCP_PRELOAD_ENDING_H

#include <stdbool.h>

#include "preload/run_mark.h"

enum {
  /** A program that ended well ends with this where it stepped no world on
   *  ode-mlcp, or worlds of a second library; */
  WRONG_RUN_STATUS = 2,
  /** with this, where it is asked for, if a step was not taken. */
  STEPS_NOT_TAKEN_STATUS = 3
};

/**
 * Watch `exit`, `quick_exit`, `_exit` and `fork`. Called from the module's
 * constructor, before the program's own code: so its exit handler comes last,
 * after all of the program's handlers and destructors.
 */
void ending_watch_exits(run_mark_place place);

/**
 * Watch the signals that end a process, where the default action is in force.
 * Called with the first step: by then a program has its own handlers in place,
 * and a program that never steps finds its signals untouched.
 */
void ending_watch_signals(void);

/** A step was tried. From any thread. */
void ending_count_step(bool taken);

/** True if it is this process that says at its end what was wrong with the
 *  run. */
bool ending_answers_for_run(void);

/** Say that `name` is started where nothing of ode-mlcp is in it. */
void ending_tell_of_start(const char *name);

/** Write the results of a process that a program started so has taken the place
 *  of, and judge the run. @return the status to end with in place of `status` */
int ending_judge_child(const char *name, int status);

/** End a program that has been told why: results are written, and no more is
 *  said. */
void __attribute__((noreturn)) ending_refuse(void);

/** End without any exit handler. */
void __attribute__((noreturn)) ending_leave(int status);

#endif
