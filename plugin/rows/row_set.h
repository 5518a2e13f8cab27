/* A problem under construction: rows, friction sets and pairs in arrays of a
 * fixed capacity, which the caller knows from the number of joints. */
#ifndef ODE_MLCP_ROWS_ROW_SET_H
#define ODE_MLCP_ROWS_ROW_SET_H

#include "host/bodies.h"
#include "mlcp/mlcp.h"

typedef struct row_set {
  mlcp_row *rows;
  mlcp_friction *frictions;
  mlcp_pair *pairs;
  int n_rows, n_frictions, n_pairs;
} row_set;

/** What every row of an island is built from. */
typedef struct row_frame {
  const host_body *bodies;   /* [n] the island's bodies */
  const int *problem_body;   /* [n] their index in the problem, -1 kinematic */
  double step_size;          /* s */
  double max_correction;     /* m/s, rad/s; may be INFINITY */
} row_frame;

/**
 * Append a row between two bodies of the island (-1: the world).
 *
 * A kinematic body leaves the row: its part of J v goes into the bias.
 *
 * @param J     per body: linear, angular
 * @param bias  m/s; w = J v + compliance p + bias
 * @return the row, to be completed (bounds are infinite).
 */
mlcp_row *row_set_add(row_set *set, const row_frame *frame, mlcp_row_kind kind,
                      const int body[2], const double J[2][6], double bias,
                      double compliance);

#endif
