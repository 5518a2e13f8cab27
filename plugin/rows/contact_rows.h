/* Rows of a contact: one normal row and up to five friction rows with their
 * friction sets, as the contact's surface says (docs/formulation.md, eq. 7-9).
 */
#ifndef ODE_MLCP_ROWS_CONTACT_ROWS_H
#define ODE_MLCP_ROWS_CONTACT_ROWS_H

#include "host/contacts.h"
#include "rows/row_set.h"

/** True if the vertices and their opposites are the corners, in their order, of
 *  a convex polygon. */
bool contact_polygon_convex(int n, const double vertex[][2]);

/** How contacts become rows. */
typedef struct contact_settings {
  double erp; /* the paper's gamma */
  double cfm;
  double surface_layer; /* m */
  double rest_depth; /* m: what a rigid contact's ERP brings it to, from either
                           side; 0: it is pushed out to its surface layer */
  double rounding;   /* m: as much beside the rest depth is no error */
  double max_velocity; /* m/s, the program's own cap on corrections */
  double spring_erp;   /* of soft contacts without one of their own */
  double carried; /* N s: what the normal row may carry, by the last step; its
                     compression by that is no error */
  double pressed; /* N s: what the contact is given along its normal beside the
                     row; friction follows both */
  int edges;      /* K: even, at least 4 */
  double slip_floor;  /* m/s: below this a slip has no direction */
  const double *slip; /* [3] m/s, world frame: that to come, where it is known
                         better than from free flight; or NULL */
  bool gives_back;    /* bounces are the rows'; else an impact's */
  bool erp_for_all;   /* of rigid contacts, an ERP of their own is not used */
  bool closed;        /* rigid contacts are taken to touch, whatever their
                           gap: that is an event's, or a projection's */
  bool at_once;       /* what takes time does nothing: see sliding_limit */
} contact_settings;

/** The rows built for a contact: the host's rows in the host's order. */
typedef struct contact_rows {
  int first_row; /* the normal row */
  int n_rows;
  int n_sliding; /* of these: tangential, right after the normal row */
  double sliding_axis[2][3]; /* their directions */
  double slip[3];            /* what the edges are aligned with, world frame */
} contact_rows;

/**
 * Whether a contact has no rows in this step, since it would lose its bounce: it
 * is apart, and only what others push could close it. Held at its gap it would
 * give nothing back; in the next step it is hit at the speed it then has. One that
 * would be hit too slowly to bounce does not wait.
 */
bool contact_waits(const row_frame *frame, const contact_settings *settings,
                   const host_contact *contact);

/**
 * Append a contact's rows.
 *
 * @param slip_hint  [3] a direction of slip to align the edges with where the
 *                   slip to come is too small to have one; 0 for none
 */
void contact_rows_add(row_set *set, const row_frame *frame,
                      const contact_settings *settings,
                      const host_contact *contact, const double slip_hint[3],
                      contact_rows *built);

/** The most rows, friction sets and pairs (a polygon's too) a contact takes. */
#define CONTACT_ROWS_MAX 6
#define CONTACT_FRICTIONS_MAX 5
#define CONTACT_PAIRS_MAX(edges)                                               \
  (((edges) > 64 ? (edges) / 2 : 32) + (edges) / 2 + 3)

#endif
