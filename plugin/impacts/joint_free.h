/* Velocities that joints allow: coordinates for the subspace J V = c. */
#ifndef ODE_MLCP_IMPACTS_JOINT_FREE_H
#define ODE_MLCP_IMPACTS_JOINT_FREE_H

/**
 * Solve J y = c for all y: y = sum_j basis_j u_j + offset, with any u.
 *
 * The coordinates y are to be those in which the mass matrix is the identity
 * (y = L' V with M = L L'). Then the coordinates u have unit mass, `offset` is
 * orthogonal to them, and u_j = basis_j . y0 is where the inelastic impulse of
 * the joints alone leads to from y0.
 *
 * Rows that depend on others count once. Householder reflections of J' with
 * column pivoting, ties by the lower index; a row is dependent when at most
 * 1e-10 of the largest row is left of it.
 *
 * @param n        length of y
 * @param n_rows   of J, 0 or more
 * @param J        n_rows x n; overwritten
 * @param c        [n_rows] overwritten
 * @param basis    (n - rank) x n out, orthonormal rows; room for n x n
 * @param offset   [n] out
 * @param n_free   out: n - rank
 * @param misfit   out: largest |J offset - c|, other than 0 to rounding only
 *                 where rows contradict each other
 */
void joint_free_basis(int n, int n_rows, double J[], double c[], double basis[],
                      double offset[], int *n_free, double *misfit);

#endif
