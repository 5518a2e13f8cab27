/* All solutions of most steps, by counting them.
 *
 * A contact mode (contact_modes.h) has an index, the sign of its system's determinant.
 * Caps bound all impulses, so that the indices of the modes that hold for a step add
 * up to 1, as they do where no contact bears on another, wherever the inputs y = (c,
 * caps) lie on no mode's border. Modes of index -1 are few. Where none of them
 * holds, or nearly, all solutions hang together: next to the one that is found are the
 * others. Where some hold, as many of index 1 and one more make the solutions whole.
 *
 * So a step asks all modes of index -1, and of the others those that held before where
 * contacts rested, approached and parted in the same way (a *cell*). Each is asked for
 * one condition first, the one that it failed last, many at a time. What is found are
 * the modes that hold, in the order of their numbers, whatever was met before: the
 * solutions of contact_modes_solve, bit by bit. Where the sum is not 1, or inputs are
 * within rounding of a border that bears on it, nothing is said.
 */
#ifndef ODE_MLCP_IMPACTS_CONTACT_DEGREE_H
#define ODE_MLCP_IMPACTS_CONTACT_DEGREE_H

#include "common/arena.h"
#include "impacts/contact_modes.h"

typedef struct contact_degree_cell contact_degree_cell;
typedef struct contact_degree_line contact_degree_line;
struct contact_degree_question;

typedef struct contact_degree {
  const contact_space *space;
  const memory_source *source;
  double usual_cap;
  int n_inputs, n_all; /* modes there are */
  long n_asked;
  bool is_ready, is_unfit;
  contact_modes modes; /* of index -1, and others as they are met */
  int n_negative;      /* the first ones */
  int *numbers;        /* [modes.n_modes] */
  int *n_conditions;   /* [modes.n_modes] */
  signed char *index;  /* [n_all] */
  int *place;          /* [n_all] in modes, or of lines; -1: not worked out */
  int n_lines;
  contact_degree_line *lines; /* of singular modes */
  int n_cells;
  contact_degree_cell **cells; /* by what they are known by, with gaps */
  double *usual;               /* [n_inputs] sizes of inputs */
  double *scratch, *impulses, *conditions; /* of a mode that is worked out */
  int *contacts, *survivors;
  struct contact_degree_question *question;
  float *
      values; /* [n_inputs + 1] a step's inputs but for zeros, by their sizes */
  arena arena;
  memory_block line_block;
} contact_degree;

/** May an island be counted in? It has few modes, and friction limits. */
bool contact_degree_suits(const contact_space *space);

/** False: no memory. Begins as zeros; `usual_cap` (N s) changes no result. */
bool contact_degree_open(contact_degree *degree, const contact_space *space,
                         double usual_cap, const memory_source *source);
void contact_degree_close(contact_degree *degree);

/** The solutions of a step, as contact_modes_solve; -1: it cannot say. */
int contact_degree_solve(contact_degree *degree, const double y[], int most,
                         double lambdas[], double reached[]);

/** Take note of the solutions of a step of which it could not say them. */
void contact_degree_learn(contact_degree *degree, const double y[],
                          int n_solutions, const double lambdas[],
                          const double reached[]);

#endif
