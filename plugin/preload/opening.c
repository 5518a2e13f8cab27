/* Programs that open ODE for themselves: dlopen, dlmopen, Python's ctypes.
 *
 * A second copy of the library would call into the preloaded one half of the
 * time and crash. Every file that is the host by its own name is answered with
 * the host that is there already, in whichever namespace it is asked for; one
 * that the host cannot stand in for ends the program.
 *
 * A library of the program's own that needs ODE gets the host that is there by the
 * loader itself. Should it be made for the other precision, it would read garbage:
 * which ODE it would have had is asked before a world is made.
 *
 * What is given out is a handle of the first of our libraries that stands before
 * the host, so that dlsym finds in it what the program's own calls would find.
 * Linked into both of them. */
#define _GNU_SOURCE // dladdr1, dlmopen, RTLD_NEXT
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ode/ode.h>

#include "preload/ending.h"
#include "preload/host_probe.h"
#include "preload/message.h"
#include "preload/needs_ode.h"
#include "preload/ode_file.h"

/* The loader looks at who called it for run paths: it is jumped to, not called. */
#if defined __has_attribute
#if __has_attribute(musttail)
#define JUMP __attribute__((musttail)) return
#endif
#endif
#ifdef JUMP
#define JUMPS
#else
#define JUMP return
#define JUMPS __attribute__((optimize("O2")))
#endif

typedef void *open_function(const char *, int);
static union {
  void *symbol;
  open_function *function;
} next_open;

/* Also before any constructor of ours. */
static open_function *loader(void) {
  if (next_open.symbol == NULL) next_open.symbol = dlsym(RTLD_NEXT, "dlopen");
  return next_open.function;
}

/* The recorder has no results of its own to write. */
#pragma weak ending_refuse

/* ---- what the process holds ---- */

typedef struct objects {
  const char *loader;       /* the program's */
  unsigned long long loads; /* of the process so far */
  int count, from;          /* the first to look at */
  int found;                /* the first from there that needs ODE, or -1 */
  char path[PATH_MAX];      /* its */
} objects;

static int look_at(struct dl_phdr_info *object, size_t size, void *place) {
  objects *seen = place;
  (void)size;
  seen->loads = object->dlpi_adds;
  // the program itself comes first
  if (seen->count == 0) seen->loader = object_segment(object, PT_INTERP);
  if (seen->found < 0 && seen->count >= seen->from && needs_ode(object)) {
    seen->found = seen->count;
    seen->path[0] = '\0';
    strncat(seen->path, object->dlpi_name, sizeof seen->path - 1);
  }
  seen->count++;
  return 0;
}

static objects look(int from) {
  objects seen = {.from = from, .found = -1};
  dl_iterate_phdr(look_at, &seen);
  return seen;
}

/* Those that the program starts with are looked at with it. */
static int n_started;
__attribute__((constructor)) static void count_started(void) {
  n_started = look(INT_MAX).count;
}

/* ---- which file is meant ---- */

/* The folder of the object that calls. */
static bool find_origin(const void *caller, char folder[PATH_MAX]) {
  const char *name = NULL;
#ifdef __GLIBC__
  Dl_info information;
  struct link_map *object = NULL;
  if (dladdr1(caller, &information, (void **)&object, RTLD_DL_LINKMAP) != 0 &&
      object != NULL)
    name = object->l_name;
#else
  (void)caller;
#endif
  if (name == NULL || *name == '\0') name = "/proc/self/exe";
  if (realpath(name, folder) == NULL) return false;
  *strrchr(folder, '/') = '\0';
  return true;
}

/* $ORIGIN at the name's beginning. */
static bool expand(const char *name, const void *caller, char path[PATH_MAX]) {
  static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
  char folder[PATH_MAX];
  size_t skipped = 0;
  for (int k = 0; k < 2; k++)
    if (strncmp(name, origins[k], strlen(origins[k])) == 0)
      skipped = strlen(origins[k]);
  if (skipped > 0 && !find_origin(caller, folder)) return false;
  int length = snprintf(path, PATH_MAX, "%s%s", skipped > 0 ? folder : "",
                        name + skipped);
  return length < PATH_MAX;
}

/* Asks the loader; what it does not have the host is there for. */
static ode_file_kind search(const char *name, char path[PATH_MAX],
                            char soname[NAME_MAX + 1]) {
  char program[PATH_MAX];
  const char *interpreter = look(INT_MAX).loader;
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  ode_file_kind kind = ODE_FILE_NONE;
  program[length > 0 ? length : 0] = '\0';
  if (interpreter != NULL && length > 0 &&
      host_probe_name(interpreter, program, name, path))
    kind = ode_file_read(path, soname);
  bool is_host =
      strcmp(name, "libode.so") == 0 ||
      strncmp(name, ODE_FILE_SONAME, sizeof ODE_FILE_SONAME - 1) == 0;
  return kind == ODE_FILE_NONE && is_host ? ODE_FILE_FITS : kind;
}

static ode_file_kind judge(const char *name, const void *caller,
                           char path[PATH_MAX], char soname[NAME_MAX + 1]) {
  if (name == NULL) return ODE_FILE_NONE;
  if (strchr(name, '/') != NULL)
    return expand(name, caller, path) ? ode_file_read(path, soname)
                                      : ODE_FILE_NONE;
  return ode_file_has_name(name) ? search(name, path, soname) : ODE_FILE_NONE;
}

/* ---- the answer ---- */

static void __attribute__((noreturn)) end_program(const char *words[]) {
  message_say(words);
  if (ending_refuse != NULL) ending_refuse();
  _exit(WRONG_RUN_STATUS);
}

static void __attribute__((noreturn))
refuse(ode_file_kind kind, const char *path, const char *soname) {
  if (kind == ODE_FILE_OTHER_PRECISION)
    end_program((const char *[]){
        program_invocation_short_name, " opened ", path, ", which is in ",
        ODE_FILE_PRECISION(false), " precision; this ode-mlcp is for ",
        ODE_FILE_PRECISION(true), ": run the program with that for ",
        ODE_FILE_PRECISION(false), NULL});
  end_program((const char *[]){program_invocation_short_name, " opened ", path,
                               " (", soname, "); only ", ODE_FILE_SONAME,
                               " can be stood in for", NULL});
}

/* The recorder's where it is between this library and the host. */
static void *open_host(int flags) {
  Dl_info behind, here, host;
  void *next = dlsym(RTLD_NEXT, "dWorldStep");
  bool is_last = next == NULL || dladdr(next, &behind) == 0 ||
                 dladdr((void *)dGetConfiguration, &host) == 0 ||
                 behind.dli_fbase == host.dli_fbase;
  if (!is_last) return loader()(behind.dli_fname, flags & ~RTLD_NOLOAD);
  if (dladdr((void *)&next_open, &here) == 0)
    return loader()(ODE_FILE_SONAME, flags & ~RTLD_NOLOAD);
  return loader()(here.dli_fname, flags & ~RTLD_NOLOAD);
}

/* @return NULL: the file is the loader's to open. Not inlined: its locals would
 * be in the way of the jump. */
static void *__attribute__((noinline))
stand_in(const char *name, int flags, const void *caller) {
  char path[PATH_MAX] = "", soname[NAME_MAX + 1] = "";
  ode_file_kind kind = judge(name, caller, path, soname);
  if (kind == ODE_FILE_NONE) return NULL;
  if (kind == ODE_FILE_FITS) return open_host(flags);
  if (flags & RTLD_NOLOAD) return NULL;
  refuse(kind, path[0] != '\0' ? path : name, soname);
}

/* ---- in the loader's place ---- */

__attribute__((visibility("default"))) JUMPS void *dlopen(const char *name,
                                                          int flags) {
  void *handle = stand_in(name, flags, __builtin_return_address(0));
  if (handle != NULL) return handle;
  JUMP loader()(name, flags);
}

#ifdef __GLIBC__
__attribute__((visibility("default"))) JUMPS void *
dlmopen(Lmid_t space, const char *name, int flags) {
  static union {
    void *symbol;
    void *(*function)(Lmid_t, const char *, int);
  } next;
  void *handle = stand_in(name, flags, __builtin_return_address(0));
  if (handle != NULL) return handle;
  if (next.symbol == NULL) next.symbol = dlsym(RTLD_NEXT, "dlmopen");
  JUMP next.function(space, name, flags);
}
#endif

/* ---- libraries that need ODE ---- */

static void check_opened(void) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static unsigned long long loads; // when it was last looked
  static char library[PATH_MAX];
  if (pthread_mutex_trylock(&lock) != 0) return; // another thread looks
  objects seen = look(n_started);
  while (seen.loads != loads && seen.found >= 0 && seen.loader != NULL) {
    if (host_probe(seen.loader, seen.path, library) ==
        HOST_PROBE_OTHER_PRECISION)
      refuse(ODE_FILE_OTHER_PRECISION, library, "");
    seen = look(seen.found + 1);
  }
  loads = seen.loads;
  pthread_mutex_unlock(&lock);
}

__attribute__((visibility("default"))) dWorldID dWorldCreate(void) {
  static union {
    void *symbol;
    dWorldID (*function)(void);
  } next;
  if (next.symbol == NULL) next.symbol = dlsym(RTLD_NEXT, "dWorldCreate");
  check_opened();
  return next.function();
}
