/* Rows of a contact: one normal row and up to five friction rows with their
 * friction sets, as the contact's surface says (docs/formulation.md, eq. 7-9).
 */
#ifndef ODE_MLCP_ROWS_CONTACT_ROWS_H
#define ODE_MLCP_ROWS_CONTACT_ROWS_H

#include "rows/contact_policy.h"

/** True if the vertices and their opposites are the corners, in their order, of
 *  a convex polygon. */
bool contact_polygon_convex(int n, const double vertex[][2]);

/** The rows built for a contact: the host's rows in the host's order. */
typedef struct contact_rows {
  int first_row; /* the normal row */
  int n_rows;
  int n_sliding; /* of these: tangential, right after the normal row */
  double sliding_axis[2][3]; /* their directions */
  double slip[3];            /* what the edges are aligned with, world frame */
  bool guided;               /* the answer's slip is not that of free flight */
} contact_rows;

/**
 * Append a contact's rows.
 *
 * @param law  as contact_policy_decide says it of the same arguments
 */
void contact_rows_add(row_set *set, const row_frame *frame,
                      const contact_settings *settings,
                      const host_contact *contact, const contact_facts *facts,
                      const contact_law *law, contact_rows *built);

/** The most rows, friction sets and pairs (a polygon's too) a contact takes. */
#define CONTACT_ROWS_MAX 6
#define CONTACT_FRICTIONS_MAX 5
#define CONTACT_PAIRS_MAX(edges)                                               \
  (((edges) > 64 ? (edges) / 2 : 32) + (edges) / 2 + 3)

#endif
