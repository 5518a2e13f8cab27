/* ode_mlcp_preload.so: puts ode-mlcp under a program that knows nothing of it.
 *
 * Preloaded before the patched host, by `ode-mlcp run` or by hand. It reads the
 * ODE_MLCP_* environment variables, attaches every world that the program makes
 * and records its steps. What is wrong with the settings is said in one line,
 * and the program does not start.
 */
#define _GNU_SOURCE // RTLD_NEXT

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ode_mlcp.h"
#include "preload/dump_folder.h"
#include "preload/ending.h"
#include "preload/host_probe.h"
#include "preload/libraries.h"
#include "preload/message.h"
#include "preload/near_contacts.h"
#include "preload/output_file.h"
#include "preload/record.h"
#include "preload/run_mark.h"
#include "preload/told_geoms.h"
#include "settings/environment.h"

#define DO_NOT_START_STATUS 2

/* The program's own observer, if it has one: called after ours. */
static ode_mlcp_observer *program_observer;
static void *program_context;

static dump_request dump;
static run_mark *mark;

static void __attribute__((noreturn)) do_not_start(void) {
  // not _exit: no exit handler may speak of a program that never ran
  for (;;) syscall(SYS_exit_group, DO_NOT_START_STATUS);
}

/* The folder belongs to the first process that steps, as the files do; another
 * one's problems, none of which is written yet, go to FOLDER.PID. */
static void settle_dump(void) {
  char folder[PATH_MAX + 24];
  if (dump.folder[0] == '\0' || run_mark_claim(mark, getpid())) return;
  snprintf(folder, sizeof folder, "%s.%ld", dump.folder, (long)getpid());
  ode_mlcp_dump(folder, ODE_MLCP_DUMP_DEGRADED);
}

static void observe_step(void *context, dWorldID world,
                         const ode_mlcp_report *report) {
  (void)context;
  bool is_first = !record_has_steps();
  if (is_first) ending_watch_signals();
  record_step(world, report);
  ending_count_step(report->taken);
  near_contacts_follow(world);
  if (is_first) settle_dump();
  if (program_observer != NULL)
    program_observer(program_context, world, report);
}

/* A program that is linked with libode_mlcp may observe too. */
__attribute__((visibility("default"))) void
ode_mlcp_observe(ode_mlcp_observer *observer, void *context) {
  program_observer = observer;
  program_context = context;
}

static void observe(void) {
  union {
    void *symbol;
    void (*function)(ode_mlcp_observer *, void *);
  } library = {dlsym(RTLD_NEXT, "ode_mlcp_observe")};
  if (library.symbol != NULL) library.function(observe_step, NULL);
}

/* The absolute path of the file that `variable` names in `path`, or NULL when
 * it is not set. The command has looked at the files already; under it a
 * process in another folder must not judge them again. */
static const char *read_file_setting(const char *variable, bool checked,
                                     char path[PATH_MAX]) {
  const char *name = getenv(variable);
  if (name == NULL || *name == '\0') return NULL;
  if (checked) {
    path[0] = '\0';
    strncat(path, name, PATH_MAX - 1);
    return path;
  }

  int error = output_file_check(name, path);
  if (error == 0) return path;
  message_say((const char *[]){variable, ": cannot write ", name, ": ",
                               message_reason(error), NULL});
  do_not_start();
}

/* A program that a script starts is first seen here. Should it be made for a
 * host that ours cannot stand in for, it would read garbage. */
static void check_host(void) {
  char program[PATH_MAX], library[PATH_MAX], message[2 * PATH_MAX];
  const char *loader;

  if (run_mark_is_probed(mark) || !libraries_need_ode(&loader) ||
      loader == NULL)
    return;
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0) return;
  program[length] = '\0';

  host_probe_result result = host_probe(loader, program, library);
  if (result == HOST_PROBE_FITS) return;
  host_probe_explain(result, program, library, message, sizeof message);
  message_say((const char *[]){message, NULL});
  do_not_start();
}

static void start_dump(bool checked) {
  char message[512];
  const char *bad = dump_request_read(&dump, checked, message, sizeof message);
  if (bad == NULL && dump.folder[0] != '\0' &&
      ode_mlcp_dump(dump.folder, ODE_MLCP_DUMP_DEGRADED) != ODE_MLCP_OK) {
    bad = ENVIRONMENT_DUMP;
    strcpy(message, "the name is too long");
  }
  if (bad == NULL) return;
  message_say((const char *[]){bad, ": ", message, NULL});
  do_not_start();
}

__attribute__((constructor)) static void start(void) {
  char statistics_path[PATH_MAX], trace_path[PATH_MAX], message[512];
  ode_mlcp_options options;

  ode_mlcp_default_options(&options);
  if (!environment_read(&options, message, sizeof message)) {
    message_say((const char *[]){message, NULL});
    do_not_start();
  }
  double margin = options.margin;
  bool by_hand = options.margin != ODE_MLCP_MARGIN_AUTO;
  // those that stand in for the stock stepper are told of what touches
  if (!by_hand && (options.scheme == ODE_MLCP_SCHEME_AP ||
                   options.scheme == ODE_MLCP_SCHEME_AH))
    margin = 0;
  bool own_points = !by_hand || margin != 0;
  bool has_effect = near_contacts_set(margin, own_points);
  if (!has_effect && !by_hand) near_contacts_set(0, false);
  if (!has_effect && by_hand) {
    message_say((const char *[]){
        "ODE_MLCP_MARGIN: to have an effect this library must come before the "
        "host in LD_PRELOAD",
        NULL});
    do_not_start();
  }
  run_mark_place place = run_mark_open(getenv(RUN_MARK_VARIABLE));
  mark = place.mark;
  check_host();
  record_request request = {
      read_file_setting(ENVIRONMENT_STATS, place.top != 0, statistics_path),
      read_file_setting(ENVIRONMENT_TRACE, place.top != 0, trace_path),
      place.mark};
  if (request.trace != NULL) options.measure = 1;
  start_dump(place.top != 0);

  ode_mlcp_error error = ode_mlcp_attach_new_worlds(&options);
  if (error != ODE_MLCP_OK) {
    message_say((const char *[]){"cannot step this program's worlds: ",
                                 ode_mlcp_error_text(error), NULL});
    do_not_start();
  }
  record_set_up(&request, &options);
  observe();
  ode_mlcp_watch_geoms(told_geoms_has, NULL);
  ending_watch_exits(place);
}
