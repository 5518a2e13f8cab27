/* The ode-mlcp for the host's other precision: a program of single precision cannot
 * run on a host of double precision, nor the other way round. */
#ifndef ODE_MLCP_COMMAND_OTHER_PRECISION_H
#define ODE_MLCP_COMMAND_OTHER_PRECISION_H

/** Keep a copy of the command line: what reads its options moves and renames them. */
void other_precision_begin(int argc, char **argv);

/** Become the ode-mlcp of the other precision, with the same command line, where
 *  one is there: in a build tree in single/ (from there one folder up), installed
 *  in ode-mlcp/single/bin of the libraries' folder. Else return. */
void other_precision_become(void);

#endif
