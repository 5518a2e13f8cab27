/* The host's numbers, which are float or double as it was built. We reckon in
 * double: what the host gives is copied first, and rounded where it is given
 * back. In a host of double precision both are plain copies. */
#ifndef ODE_MLCP_GAP_REAL_H
#define ODE_MLCP_GAP_REAL_H

#include <float.h>
#include <ode/ode.h>

/** How far it is from 1 to the next number of the host. */
static const double REAL_EPSILON =
    sizeof(dReal) == sizeof(double) ? DBL_EPSILON : FLT_EPSILON;

/** What is closer than that is rounding: `in_double`, or eight of the host's, where
 *  those are more. */
static inline double real_rounding(double in_double) {
  const double hosts = 8 * REAL_EPSILON;
  return hosts > in_double ? hosts : in_double;
}

/** As many of the host's roundings as `in_double` has of a double's. */
static inline double real_roundings(double in_double) {
  return in_double * (REAL_EPSILON / DBL_EPSILON);
}

static inline void real_read(double out[], const dReal in[], int count) {
  for (int i = 0; i < count; i++) out[i] = in[i];
}

static inline void real_write(dReal out[], const double in[], int count) {
  for (int i = 0; i < count; i++) out[i] = (dReal)in[i];
}

/** Three numbers of the host, to be handed on: real3(p).at. */
typedef struct real3_copy {
  double at[3];
} real3_copy;

static inline real3_copy real3(const dReal in[]) {
  return (real3_copy){{in[0], in[1], in[2]}};
}

#endif
