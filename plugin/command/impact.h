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
  const double *v; /* [s] where it ends */
} impact_sequence;

/** All there is to report on. */
typedef struct impact_result {
  const impact_input *input;
  ode_mlcp_impact *impact;
  ode_mlcp_impact_options options;
  ode_mlcp_impact_set set;
  bool interrupted;
  bool short_of_memory; /* what is said leaves something out for it */
  double
      velocity_scale; /* m/s: the largest contact velocity before the impact; 1
                            where all are 0 */
  int n_simultaneous;
  double *simultaneous;    /* [n_simultaneous x s] velocities */
  bool simultaneous_whole; /* no other simultaneous outcome exists, */
  bool simultaneous_spans; /* but for those between, where they are corners */
  impact_sequence sequences[IMPACT_SEQUENCES];
  int n_sequences;
  double *rows; /* [n_rows] scratch */
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

/** Words for the choice, as on the command line; ends with NULL. */
extern const char *const impact_select_words[];

/** In words, or as JSON. Where memory runs out the result says so. */
void impact_print(FILE *out, impact_result *result, bool words);

/** Write outcomes (or ways) as CSV. False with a
 *  message when the file cannot be written. */
bool impact_csv_write(const char *path, const impact_result *result,
                      const ode_mlcp_impact_set *set,
                      char message[IMPACT_MESSAGE]);

#endif
