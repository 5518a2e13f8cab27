/* What an ODE library's file says of itself, without loading it. */
#ifndef ODE_MLCP_PRELOAD_ODE_FILE_H
#define ODE_MLCP_PRELOAD_ODE_FILE_H

#include <ode/ode.h>
#include <stdbool.h>

/** The name that the preloaded host answers to. */
#define ODE_FILE_SONAME "libode.so.8"

typedef enum ode_file_kind {
  ODE_FILE_NONE,           /* has no ODE in it, or cannot be read */
  ODE_FILE_FITS,           /* one in the host's precision */
  ODE_FILE_OTHER_PRECISION /* in the one that the host is not in */
} ode_file_kind;

/** "double" or "single": the precision of the host that we are built for, and the
 *  one that it is not in. */
#define ODE_FILE_PRECISION(same)                                               \
  ((sizeof(dReal) == sizeof(double)) == (same) ? "double" : "single")

/** libode.so.8, libode-double.so.3, but not libode_mlcp.so.0; a folder may be before
 *  it. */
bool ode_file_has_name(const char *path);

/** By the words that every ODE says of its configuration. */
ode_file_kind ode_file_read(const char *path);

#endif
