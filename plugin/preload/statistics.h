/* The sums over a process's steps that `--stats` writes. */
#ifndef ODE_MLCP_PRELOAD_STATISTICS_H
#define ODE_MLCP_PRELOAD_STATISTICS_H

#include "common/text.h"
#include "ode_mlcp.h"

/* sums of whole numbers outgrow an int */
#define STATISTICS_int long
#define STATISTICS_long long
#define STATISTICS_double double

/** Over all worlds of the process; starts as all zero. A field of the report
 *  that has no part in them stays 0. */
typedef struct statistics {
  long failed; /* steps not taken for another reason than size: memory */
  long worlds;
#define MEMBER(type, field, islands, steps, unit, meaning)                     \
  STATISTICS_##type field;
  ODE_MLCP_REPORT(MEMBER)
#undef MEMBER
} statistics;

void statistics_add(statistics *sums, const ode_mlcp_report *report);

/** `options` as JSON members, the version and every setting, no braces. */
void statistics_add_settings(text *out, const ode_mlcp_options *options);

/** One JSON object on lines of its own, `settings` its last members.
 *  Async-signal-safe. */
void statistics_add_json(text *out, const statistics *sums,
                         const char *settings);

#endif
