/* The distance of two convex cores by the method of Gilbert, Johnson and
 * Keerthi, with a lower bound beside the upper one. */
#ifndef ODE_MLCP_GAP_GAP_GJK_H
#define ODE_MLCP_GAP_GAP_GJK_H

#include <stdbool.h>

#include "gap/gap_core.h"

/** A point of A minus a point of B, and the two points. */
typedef struct gap_difference {
  double w[3], on_a[3], on_b[3];
} gap_difference;

/** Up to four differences whose hull is searched, and the weights of the
 *  hull's point nearest to the origin. */
typedef struct gap_simplex {
  int count;
  gap_difference corner[4];
  double weight[4];
} gap_simplex;

typedef struct gap_distance {
  double upper; /* [m] length of the nearest difference found, >= distance;
                    * 0 where the cores overlap */
  double lower; /* [m] best s(n) seen, <= Phi of the cores */
  double n[3];  /* unit, the direction `lower` was found in; zero where
                    * none was */
  gap_simplex simplex; /* the nearest difference is its weighted sum */
} gap_distance;

/**
 * Find distance and nearest points of two cores.
 *
 * Stops when the bounds meet to rounding, when `lower` exceeds `enough` (the
 * cores are then known to be further apart), when no progress is left to
 * rounding, or after a fixed number of rounds.
 *
 * @param shift of A, or NULL; the simplex's points are those before it.
 * @param guess direction to start from, of any length > 0.
 * @param scale [m] size of the coordinates, for what rounding means.
 */
void gap_gjk(const gap_core *a, const gap_core *b, const double *shift,
             const double guess[3], double scale, double enough,
             gap_distance *result);

/** The two points that the weighted sum stands for. */
void gap_simplex_points(const gap_simplex *simplex, double on_a[3],
                        double on_b[3]);

#endif
