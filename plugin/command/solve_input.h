/* Input of `ode-mlcp solve`: an LCP in two files or a problem's folder. */
#ifndef ODE_MLCP_COMMAND_SOLVE_INPUT_H
#define ODE_MLCP_COMMAND_SOLVE_INPUT_H

#include "mlcp/mlcp_stored.h"
#include "lcp/lemke.h"

enum {
  SOLVE_MESSAGE = 6000,   /* longest message, with its end */
  SOLVE_LARGEST = 1000000 /* most variables of an LCP */
};

/** Starts as all zero. */
typedef struct solve_input {
  bool is_lcp;
  lemke_problem lcp; /* in `arena` */
  arena arena;
  mlcp_stored mlcp; /* where it is no LCP */
} solve_input;

/** Read M and q. @return false with a message that names file and line. */
bool solve_input_read_lcp(solve_input *input, const char *M_path,
                          const char *q_path, char message[SOLVE_MESSAGE]);

/** Read a folder, see mlcp_folder.h. @return false with a message. */
bool solve_input_read_folder(solve_input *input, const char *path,
                             char message[SOLVE_MESSAGE]);

void solve_input_close(solve_input *input);

#endif
