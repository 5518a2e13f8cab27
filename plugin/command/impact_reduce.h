/* A set of any size in a file of less than a megabyte.
 *
 * What is kept does not depend on the order or the cut of the samples: counts,
 * extents, exact sums, the furthest outcome in fixed directions, occupancy of
 * fixed grids, and the outcomes whose keys are least. So files of parts merge to
 * the bytes of the whole, in any order, and a file is its own checkpoint. */
#ifndef ODE_MLCP_COMMAND_IMPACT_REDUCE_H
#define ODE_MLCP_COMMAND_IMPACT_REDUCE_H

#include "command/impact.h"

enum {
  IMPACT_DIRECTIONS = 128, /* of a plane's hull: (16, k), (k, 16) .. */
  IMPACT_MOST_RANGES = 4096
};

typedef struct impact_reduction impact_reduction;

/** For the set that `result` has options of. NULL: no memory. */
impact_reduction *impact_reduction_create(const impact_result *result);
void impact_reduction_destroy(impact_reduction *reduction);

/** Is a sample there? *end out: the first sample behind it of which that is not
 *  true any more. */
bool impact_reduction_has(const impact_reduction *reduction, uint64_t sample,
                          uint64_t *end);

/** Count the samples first .. end - 1 in, which `set` has the outcomes of and
 *  which are not there. False: too many ranges apart. */
bool impact_reduction_add(impact_reduction *reduction,
                          const ode_mlcp_impact_set *set, uint64_t first,
                          uint64_t end);

/** Read a file. NULL with a message that names it. */
impact_reduction *impact_reduction_read(const char *path,
                                        char message[IMPACT_MESSAGE]);

/** Write a file at once: it is whole, or as it was. */
bool impact_reduction_write(const impact_reduction *reduction, const char *path,
                            char message[IMPACT_MESSAGE]);

/** Are both of one set, by the same options? False with a message. */
bool impact_reduction_matches(const impact_reduction *a, const char *path_a,
                              const impact_reduction *b, const char *path_b,
                              char message[IMPACT_MESSAGE]);

/** Take another one's samples in. False with a message: other sets, samples that
 *  are in both. */
bool impact_reduction_merge(impact_reduction *into, const char *into_path,
                            const impact_reduction *other,
                            const char *other_path,
                            char message[IMPACT_MESSAGE]);

void impact_reduction_print_json(FILE *out, const impact_reduction *reduction);
void impact_reduction_print_text(FILE *out, const impact_reduction *reduction);

/** Samples asked for that ended in no outcome, of those done. */
double impact_reduction_unfinished(const impact_reduction *reduction);

#endif
