/* `ode-mlcp impact`: what its parts share. */
#ifndef ODE_MLCP_COMMAND_IMPACT_H
#define ODE_MLCP_COMMAND_IMPACT_H

#include <stdbool.h>
#include <stdio.h>

#include "ode_mlcp_impacts.h"

/** The subcommand; see command.h. */
int command_impact(int argc, char **argv);

enum {
  IMPACT_MESSAGE = 512,     /* longest message, with its end */
  IMPACT_SIMULTANEOUS = 64, /* simultaneous outcomes kept */
  IMPACT_SEQUENCES = 2,     /* orders tried: forwards and backwards */
  IMPACT_LONGEST = 1000     /* single impacts of a sequence at most */
};

/** A collision from a folder. */
typedef struct impact_input {
  char name[256];
  ode_mlcp_impact_problem problem; /* its arrays from malloc */
  double h; /* N s, default for --h; 0: islands choose it */
  int steps;
  uint64_t samples;
  uint64_t fingerprint; /* of all its numbers */
} impact_input;

/** Fill from a folder of Matrix Market files M.mtx, Jn.mtx, Jt.mtx, mu.mtx, v.mtx, with
 *  defaults in options.txt where it has one; an example's name stands for its folder.
 *  False with a message: neither. */
bool impact_input_open(impact_input *input, const char *name_or_folder,
                       char message[IMPACT_MESSAGE]);
void impact_input_close(impact_input *input);

/** One outcome of another law, for comparison. */
typedef struct impact_sequence {
  char order[64]; /* letters, "AB" */
  bool finished;
  int n_impacts;
  double *way;     /* [(n_impacts + 1) x n_rows] contact velocities */
  double distance; /* see simultaneous_distance */
} impact_sequence;

/** All there is to report on. */
typedef struct impact_result {
  const impact_input *input;
  ode_mlcp_impact *impact;
  ode_mlcp_impact_options options;
  ode_mlcp_impact_set set;
  double cpu_seconds; /* threads times wall clock of sampling */
  bool interrupted;
  bool short_of_memory; /* what is said leaves something out for it */
  double
      velocity_scale; /* m/s: the largest contact velocity before the impact; 1
                            where all are 0 */
  int n_simultaneous;
  double *simultaneous; /* [n_simultaneous x n_rows] contact velocities */
  double *simultaneous_distance; /* [n_simultaneous] m/s to the nearest outcome,
                                    by the contact velocity that differs most;
                                    INFINITY without outcomes */
  bool simultaneous_whole;       /* no other simultaneous outcome exists, */
  bool simultaneous_spans; /* but for those between, where they are corners */
  impact_sequence sequences[IMPACT_SEQUENCES];
  int n_sequences;
} impact_result;

/** Rows of the contact velocities. */
static inline int impact_row_count(const impact_result *result) {
  const ode_mlcp_impact_problem *problem = &result->input->problem;
  return problem->n_contacts * (1 + problem->n_tangents);
}

/** Name of row `row` of the contact velocities, "vnA", "vtB" ("vt1B", "vt2B"
 *  with two tangents). */
void impact_row_name(const ode_mlcp_impact_problem *problem, int row,
                     char name[24]);

/** What another law ends at is counted as missed where it is further from all
 *  samples than this much of the largest contact velocity. For a simultaneous
 *  outcome: a sample with caps above its impulses would have met it but for
 *  rounding. Sequences may end where samples come near but never to. */
#define IMPACT_MISSED 1e-6

/** Simultaneous outcomes that no sample met. */
int impact_simultaneous_missed(const impact_result *result);

/** Sequences of single impacts that ended where no sample did. */
int impact_sequential_missed(const impact_result *result);

/** True if so many samples are unfinished that the command says so: over 1 %. Alg.
 *  2 leaves the odd one out, 1 in 400 of the compass gait's. */
static inline bool impact_falls_short(uint64_t n_unfinished,
                                      uint64_t n_samples) {
  return n_unfinished > n_samples / 100;
}

/** How much of the distribution of outcomes lies where samples have been: 1
 *  less the share of outcomes that are alone in their cell (Good & Turing), the
 *  cells cutting every contact velocity's extent into 32. NAN without outcomes
 *  or memory. */
double impact_share_seen(const ode_mlcp_impact_set *set);

/** Words for the choices, as on the command line; each ends with NULL. */
extern const char *const impact_select_words[], *const impact_method_words[];

/** Where memory runs out the result says so. */
void impact_print_text(FILE *out, impact_result *result);
void impact_print_json(FILE *out, impact_result *result);

/** Write outcomes (or ways) as CSV. False with a
 *  message when the file cannot be written. */
bool impact_csv_write(const char *path, const impact_result *result,
                      const ode_mlcp_impact_set *set,
                      char message[IMPACT_MESSAGE]);

#endif
