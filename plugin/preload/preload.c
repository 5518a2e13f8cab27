/* ode_mlcp_preload.so: puts ode-mlcp under a program that knows nothing of it.
 *
 * Preloaded before the patched host, by `ode-mlcp run` or by hand. It reads the
 * ODE_MLCP_* environment variables, attaches every world that the program makes
 * and counts its steps in the page that the command reads. What is wrong with the
 * settings is said in one line, and the program does not start.
 */
#define _GNU_SOURCE // RTLD_NEXT

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "ode_mlcp.h"
#include "preload/count.h"
#include "preload/host_probe.h"
#include "preload/message.h"
#include "preload/near_contacts.h"
#include "preload/opening.h"
#include "preload/run_page.h"
#include "preload/told_geoms.h"
#include "settings/environment.h"

/* The program's own observer, if it has one: called after ours. */
static ode_mlcp_observer *program_observer;
static void *program_context;

static char dump_folder[PATH_MAX]; /* empty: no problems are wanted */
static run_page *page;

/* The folder belongs to the first process that steps; another one's problems, none of
 * which is written yet, go to FOLDER.PID. */
static void settle_dump(void) {
  char folder[PATH_MAX + 24];
  static atomic_int settled;
  const pid_t self = getpid();
  if (dump_folder[0] == '\0' || atomic_exchange(&settled, self) == self ||
      run_page_claim(page, self))
    return;
  snprintf(folder, sizeof folder, "%s.%ld", dump_folder, (long)self);
  ode_mlcp_dump(folder, ODE_MLCP_DUMP_DEGRADED);
}

static void observe_step(void *context, dWorldID world,
                         const ode_mlcp_report *report) {
  (void)context;
  count_step(world, report);
  near_contacts_follow(world);
  settle_dump();
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

bool opening_is_first_second(void) {
  return atomic_exchange(&page->second_library, 1) == 0;
}

static _Atomic(void *) create_caller;

/* A program that a script starts the command has not seen, nor a library of the
 * program's own that makes worlds. Should it be made for a host that ours cannot stand
 * in for, it would read garbage. */
static void check_host(void) {
  char name[PATH_MAX], message[2 * PATH_MAX];
  Dl_info caller, program;
  if (dladdr(create_caller, &caller) == 0 ||
      dladdr((void *)getauxval(AT_ENTRY), &program) == 0)
    return;
  if (caller.dli_fbase == program.dli_fbase)
    caller.dli_fname = "/proc/self/exe";
  if (realpath(caller.dli_fname, name) != NULL &&
      host_probe(name, NULL, message, sizeof message) != HOST_PROBE_FITS)
    message_end("%s", message);
}

static dWorldID (*next_create)(void);
static void begin_first_world(void) {
  check_host();
  *(void **)&next_create = dlsym(RTLD_NEXT, "dWorldCreate");
}

__attribute__((visibility("default"))) dWorldID dWorldCreate(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  create_caller = __builtin_return_address(0);
  pthread_once(&once, begin_first_world);
  return next_create();
}

static void start_dump(void) {
  const char *folder = getenv(ENVIRONMENT_DUMP);
  if (folder == NULL) return;
  snprintf(dump_folder, sizeof dump_folder, "%s", folder);
  if (ode_mlcp_dump(dump_folder, ODE_MLCP_DUMP_DEGRADED) != ODE_MLCP_OK)
    message_end("%s: the name is too long", ENVIRONMENT_DUMP);
}

/* The page of the run, or without one this process's own. */
static void find_page(void) {
  static const char *const results[] = {ENVIRONMENT_STATS, ENVIRONMENT_TRACE};
  page = run_page_find();
  if (page != NULL) return;
  for (int k = 0; k < 2 && getenv(RUN_PAGE_VARIABLE) == NULL; k++)
    if (getenv(results[k]) != NULL)
      message_end("%s: ode-mlcp run alone writes it", results[k]);
  page = run_page_of_no_run();
  if (page == NULL) message_end("no shared memory");
}

__attribute__((constructor)) static void start(void) {
  char message[512];
  ode_mlcp_options options;

  find_page();
  message_count_ends(&page->refused);
  ode_mlcp_default_options(&options);
  if (!environment_read(&options, message, sizeof message))
    message_end("%s", message);
  double margin = options.margin;
  bool by_hand = options.margin != ODE_MLCP_MARGIN_AUTO;
  // those that stand in for the stock stepper are told of what touches
  if (!by_hand && (options.scheme == ODE_MLCP_SCHEME_AP ||
                   options.scheme == ODE_MLCP_SCHEME_AH))
    margin = 0;
  bool own_points = !by_hand || margin != 0;
  bool has_effect = near_contacts_set(margin, own_points);
  if (!has_effect && !by_hand) near_contacts_set(0, false);
  if (!has_effect && by_hand)
    message_end(
        "ODE_MLCP_MARGIN: to have an effect this library must come before the "
        "host in LD_PRELOAD");
  if (page->trace[0] != '\0') options.measure = 1;
  start_dump();

  ode_mlcp_error error = ode_mlcp_attach_new_worlds(&options);
  if (error != ODE_MLCP_OK)
    message_end("cannot step this program's worlds: %s",
                ode_mlcp_error_text(error));
  count_set_up(page, &options);
  observe();
  ode_mlcp_watch_geoms(told_geoms_has, NULL);
  atomic_fetch_add(&page->started, 1);
}
