/* The corners of a leaf: of all velocities that one mode's solutions have.
 *
 * A mode's conditions on the impulses are linear, so its solutions are a convex
 * polytope, and so are their velocities. Where impulses are determined that is a
 * point; where contacts pinch a body that slips between them, it is not. Its corners
 * are found by asking for the furthest solution in one direction after the other. */
#ifndef ODE_MLCP_IMPACTS_CONTACT_LEAF_H
#define ODE_MLCP_IMPACTS_CONTACT_LEAF_H

#include <stdbool.h>
#include <stddef.h>

/* Dimensions of a leaf, and its corners, that are looked through. */
enum { CONTACT_LEAF_MOST_DIMENSIONS = 5, CONTACT_LEAF_MOST_CORNERS = 48 };

typedef struct contact_leaf {
  int n;           /* numbers of a velocity */
  double same;     /* velocities within this of each other are one */
  int most;        /* points there is room for */
  double *lambdas; /* [most x n] */
  double *reached; /* [most x n] */
  double *scratch; /* contact_leaf_scratch(n) numbers */
  /** Write the furthest solution along `toward` [n] to `lambda` and `reached`;
   *  false: it was not found. */
  bool (*furthest)(void *context, const double toward[], double lambda[],
                   double reached[]);
  void *context;
} contact_leaf;

size_t contact_leaf_scratch(int n);

/**
 * Find the corners of a leaf, in leaf->lambdas and leaf->reached.
 *
 * @param moves    [n_moves x n] directions that velocities may go in, not all of
 *                 which need be open to them; overwritten
 * @param whole    out: false where corners may be missing
 * @return corners; 1: the velocity is determined
 */
int contact_leaf_corners(const contact_leaf *leaf, double moves[], int n_moves,
                         bool *whole);

#endif
