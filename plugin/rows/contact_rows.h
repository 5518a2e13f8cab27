/* Rows of a contact: one normal row and up to five friction rows with their friction
 * sets, as the contact's surface says (docs/formulation.md, eq. 7-9).
 *
 * What a contact is in a step is decided once, before its rows are made, and everything
 * after reads what was decided (eq. 8):
 *
 *   rigid    held; how deep it is is an error, which the ERP takes away. What of it
 *            a compliance gives way by under its load is none
 *   spring   a soft contact: its ERP and CFM are its law, its depth is no error
 *   overlap  too deep to be held: rigid, and comes apart by moving alone
 */
#ifndef ODE_MLCP_ROWS_CONTACT_ROWS_H
#define ODE_MLCP_ROWS_CONTACT_ROWS_H

#include "host/contacts.h"
#include "rows/joint_rows.h"

/** A load that is put on a spring presses it twice as deep as it rests. */
static const double SPRING_SWINGS = 2;

/** How contacts become rows: what the request and the world say of all. */
typedef struct contact_settings {
  joint_level level; /* POSITION: errors are corrected and bounces given back;
                        below it rigid contacts are taken to touch, whatever their
                        gap: that is an event's, or a projection's */
  double erp;       /* the paper's gamma, of rigid contacts without their own */
  bool erp_for_all; /* of rigid contacts, an ERP of their own is not used */
  bool moves_apart; /* corrections are capped, so that overlaps come apart */
  bool rests_deep;  /* rigid contacts rest deeper than they touch, by a hair */
  bool springs;   /* soft contacts without an ERP of their own are springs: the
                        step corrects something */
  double gravity; /* the world's, m/s^2 */
  /* m: what the host's rounding of poses does to gaps. One for all that is built
   * together: contacts of a body that rest each as deep as its own place says would
   * turn it. */
  double rounding;
  double cfm;
  double surface_layer; /* m */
  double max_velocity;  /* m/s, the program's own cap on corrections */
  double spring_erp;    /* of soft contacts without one of their own */
  double host_step;     /* s: of the host, which the step may be a part of */
  int edges;            /* K: even, at least 4 */
  double slip_floor;    /* m/s: below this a slip has no direction */
} contact_settings;

/** What is known of one contact beside where it is. */
typedef struct contact_facts {
  bool found_early; /* by the collision function, before it touches */
  bool known_pair;  /* its bodies were in contact, */
  bool overlapped;  /* and were being moved apart */
  double carried;   /* N s: of its normal row in a step as long as this, by the
                        last one; NAN: it was not there */
  double load;    /* N s: what the bodies of its component press with in all: no
                        row need carry more where all is at rest, but between bodies
                        that are wedged */
  double pressed; /* N s: what it is given along its normal beside the row;
                        friction follows both */
  const double *slip; /* [3] m/s, world frame: that to come, where it is known
                         better than from free flight; or NULL */
  bool guided;        /* the hint is better than free flight */
  bool aimed;         /* the scheme aims its edges: they follow no answer */
  double hint[3]; /* a direction of slip to align the edges with where the slip
                         to come is too small to have one; 0 for none */
} contact_facts;

/** True if the vertices and their opposites are the corners, in their order, of
 *  a convex polygon. */
bool contact_polygon_convex(int n, const double vertex[][2]);

/** The rows built for a contact: the host's rows in the host's order. */
typedef struct contact_rows {
  int n_rows;    /* the normal row first */
  int n_sliding; /* of these: tangential, right after the normal row */
  double sliding_axis[2][3]; /* their directions */
  double slip[3];            /* what the edges are aligned with, world frame */
  const mlcp_friction
      *polygon; /* of sliding, in the set; NULL: none, or a given one */
  bool guided;  /* the answer's slip is not that of free flight */
  bool overlap; /* it comes apart by moving alone */
} contact_rows;

/**
 * Append a contact's rows. It has none in a step in which it would lose its bounce: it
 * is apart, and only what others push could close it. Held at its gap it would give
 * nothing back; in the next step it is hit at the speed it then has. One that would be
 * hit too slowly to bounce does not wait.
 *
 * @param bodies  of the contact; read only where settings->moves_apart
 */
void contact_rows_add(row_set *set, const row_frame *frame,
                      const contact_settings *settings,
                      const host_contact *contact, const contact_facts *facts,
                      const host_body bodies[], contact_rows *built);

/** The most rows, friction sets and pairs (a polygon's too) a contact takes. */
#define CONTACT_ROWS_MAX 6
#define CONTACT_FRICTIONS_MAX 5
#define CONTACT_PAIRS_MAX(edges)                                               \
  (((edges) > 64 ? (edges) / 2 : 32) + (edges) / 2 + 3)

#endif
