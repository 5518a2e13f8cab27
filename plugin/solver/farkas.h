/* Certificates that linear conditions contradict each other (J. Farkas, 1902):
 * weights y of rows whose sum A'y leaves nothing of the unknowns, while their
 * right-hand sides add up to something that cannot be. */
#ifndef ODE_MLCP_SOLVER_FARKAS_H
#define ODE_MLCP_SOLVER_FARKAS_H

#include "common/arena.h"

/**
 * Bring the sums A'y to 0 up to rounding, with small relative changes of y: zeros
 * stay, and signs where there are such changes.
 *
 * @param A      [n_rows n_columns] row-major
 * @param y      [n_rows] in and out
 * @param arena  what is taken of it stays taken
 * @return false when memory ran out
 */
bool farkas_polish(int n_rows, int n_columns, const double A[], double y[],
                   arena *arena);

#endif
