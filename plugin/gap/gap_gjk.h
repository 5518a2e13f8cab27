/* The distance of two convex cores by the method of Gilbert, Johnson and
 * Keerthi, with a lower bound beside the upper one. */
#ifndef ODE_MLCP_GAP_GAP_GJK_H
#define ODE_MLCP_GAP_GAP_GJK_H

#include "gap/gap_sat.h"

/** A point of A minus a point of B, and the two points. */
typedef struct gap_difference {
  double w[3], on_a[3], on_b[3];
  int corner[2]; /* of polytopes: which they are */
} gap_difference;

/** Up to four differences whose hull is searched, and the weights of the
 *  hull's point nearest to the origin. */
typedef struct gap_simplex {
  int count;
  gap_difference corner[4];
  double weight[4];
} gap_simplex;

/** What is known of Phi of two cores, their radii left out. */
typedef struct gap_phi {
  gap_direction best; /* s(n) and its n: a lower bound of Phi */
  double upper;       /* [m] and an upper one */
  bool apart; /* or on a half-space: `nearest` holds the nearest points */
  gap_simplex nearest; /* the nearest difference is its weighted sum */
} gap_phi;

/**
 * Find distance and nearest points of two cores: `upper` is 0 where they overlap,
 * `apart` is not set.
 *
 * Stops when the bounds meet to rounding, when the lower exceeds `enough` (the
 * cores are then known to be further apart), when no progress is left to
 * rounding, or after a fixed number of rounds.
 *
 * @param shift of A, or NULL; the simplex's points are those before it.
 * @param guess direction to start from, of any length > 0.
 * @param scale [m] size of the coordinates, for what rounding means.
 */
void gap_gjk(const gap_core *a, const gap_core *b, const double *shift,
             const double guess[3], double scale, double enough,
             gap_phi *result);

/** The two points that the weighted sum stands for. */
void gap_simplex_points(const gap_simplex *simplex, double on_a[3],
                        double on_b[3]);

#endif
