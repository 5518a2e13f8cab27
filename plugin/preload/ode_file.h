/* An ODE library's file, judged without loading it. */
#ifndef ODE_MLCP_PRELOAD_ODE_FILE_H
#define ODE_MLCP_PRELOAD_ODE_FILE_H

#include <limits.h>
#include <ode/ode.h>
#include <stdbool.h>

/** The name that the preloaded host answers to. */
#define ODE_FILE_SONAME "libode.so.8"

typedef enum ode_file_kind {
  ODE_FILE_NONE, /* no ODE library of this machine, or not readable */
  ODE_FILE_FITS, /* one that the host can stand in for */
  ODE_FILE_OTHER_PRECISION, /* one in the precision that the host is not in */
  ODE_FILE_OTHER_NAME       /* one of another name (libode.so.6) */
} ode_file_kind;

/** "double" or "single": the precision of the host that we are built for, and the
 *  one that it is not in. */
#define ODE_FILE_PRECISION(same)                                               \
  ((sizeof(dReal) == sizeof(double)) == (same) ? "double" : "single")

/** libode.so.8, libode-double.so.3, but not libode_mlcp.so.0; without a folder. */
bool ode_file_has_name(const char *name);

/**
 * Read a shared library's own name and what it says of its precision.
 *
 * @param soname  [NAME_MAX + 1] out: its name; empty for ODE_FILE_NONE.
 */
ode_file_kind ode_file_read(const char *path, char soname[NAME_MAX + 1]);

#endif
