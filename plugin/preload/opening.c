/* Programs that open ODE for themselves: dlopen, dlmopen, Python's ctypes.
 *
 * A second copy of the library would call into the preloaded one half of the
 * time and crash. Every file that is the host by its own name is answered with
 * the host that is there already, in whichever namespace it is asked for; one
 * that the host cannot stand in for ends the program.
 *
 * What is given out is a handle of the first of our libraries that stands before
 * the host, so that dlsym finds in it what the program's own calls would find.
 * Linked into both of them. */
#define _GNU_SOURCE // dlinfo, dlmopen, RTLD_NEXT
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <ode/ode.h>

#include "preload/host_probe.h"
#include "preload/message.h"
#include "preload/ode_file.h"
#include "preload/opening.h"

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
static _Atomic(open_function *) next_open;

/* Also before any constructor of ours. */
static open_function *loader(void) {
  open_function *next = next_open;
  if (next != NULL) return next;
  *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
  next_open = next;
  return next;
}

/* The recorder answers for no run. */
#pragma weak opening_is_first_second

/* ---- what was opened ---- */

/* A library's own, or its file's. */
static const char *own_name(void *handle) {
  const struct link_map *object = NULL;
  const char *strings = NULL;
  size_t at = 0;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &object) != 0) return "";
  for (const ElfW(Dyn) *entry = object->l_ld; entry->d_tag != DT_NULL;
       entry++) {
    // relocated already, where the C library does that
    ElfW(Addr) address = entry->d_un.d_ptr;
    if (address < object->l_addr) address += object->l_addr;
    if (entry->d_tag == DT_STRTAB) strings = (const char *)address;
    if (entry->d_tag == DT_SONAME) at = entry->d_un.d_val;
  }
  return strings != NULL && at > 0 ? strings + at : object->l_name;
}

/* ---- the answer ---- */

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

/* @return the handle to give out for one of the loader's */
static void *judge(void *handle, const char *path, int flags) {
  const char *name = own_name(handle), *program = program_invocation_short_name;
  if (!ode_file_has_name(name)) {
    void *other = dlsym(handle, "dGetConfiguration");
    if (other == NULL || other == dlsym(RTLD_DEFAULT, "dGetConfiguration") ||
        opening_is_first_second == NULL || !opening_is_first_second())
      return handle;
    message_say(
        "%s opened %s, which has a second ODE library: worlds made in it "
        "do not step on ode-mlcp",
        program, path);
    return handle;
  }
  if (strcmp(name, ODE_FILE_SONAME) != 0)
    message_end("%s opened %s (%s); only " ODE_FILE_SONAME
                " can be stood in for",
                program, path, name);
  if (ode_file_read(path) == ODE_FILE_OTHER_PRECISION)
    message_end(
        "%s opened %s, which is in %s precision; this ode-mlcp is for %s: "
        "run the program with that for %s",
        program, path, ODE_FILE_PRECISION(false), ODE_FILE_PRECISION(true),
        ODE_FILE_PRECISION(false));
  dlclose(handle);
  return open_host(flags);
}

/* Of the host's name there may be one in the other precision where the loader
 * looks. */
static void *open_by_name(const char *name, int flags) {
  char program[PATH_MAX], message[2 * PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  program[length > 0 ? length : 0] = '\0';
  if (host_probe(program, name, message, sizeof message) != HOST_PROBE_FITS)
    message_end("%s", message);
  return open_host(flags);
}

/* @return NULL: the file is the loader's to open. Not inlined: its locals would
 * be in the way of the jump. */
static void *__attribute__((noinline)) stand_in(const char *name, int flags) {
  if (name == NULL) return NULL;
  const char *slash = strrchr(name, '/'),
             *last = slash != NULL ? slash + 1 : name;
  bool is_host =
      strcmp(last, "libode.so") == 0 ||
      strncmp(last, ODE_FILE_SONAME, sizeof ODE_FILE_SONAME - 1) == 0;
  if (is_host && slash == NULL) return open_by_name(name, flags);
  // which folder $ORIGIN is, the loader knows of the caller
  if (strchr(name, '$') != NULL) return is_host ? open_host(flags) : NULL;
  if (slash != NULL ? ode_file_read(name) == ODE_FILE_NONE
                    : !ode_file_has_name(name))
    return NULL;
  void *handle = loader()(name, flags);
  return handle != NULL ? judge(handle, name, flags) : NULL;
}

/* ---- in the loader's place ---- */

__attribute__((visibility("default"))) JUMPS void *dlopen(const char *name,
                                                          int flags) {
  void *handle = stand_in(name, flags);
  if (handle != NULL) return handle;
  JUMP loader()(name, flags);
}

#ifdef __GLIBC__
__attribute__((visibility("default"))) void *
dlmopen(Lmid_t space, const char *name, int flags) {
  static void *(*next)(Lmid_t, const char *, int);
  void *handle = stand_in(name, flags);
  if (handle != NULL) return handle;
  if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, "dlmopen");
  handle = next(space, name, flags);
  // what it is linked with came into that namespace, too
  return handle != NULL && name != NULL ? judge(handle, name, flags) : handle;
}
#endif
