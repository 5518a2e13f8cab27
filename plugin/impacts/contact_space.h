/* Contact space: a collision seen by its contacts. Equation numbers are those
 * of docs/impacts.md.
 *
 * It has one row per contact direction, contact after contact: its normal, then
 * its one or two tangents. Of two tangents the friction pyramid with the edges
 * +-t1, +-t2 is a box in the directions (t1 + t2)/sqrt 2 and (t1 - t2)/sqrt 2, and
 * maximum dissipation over a box is that over each of its sides: so every tangent
 * row has a bound of its own, |s| <= bound lambda_n, and a slip of its own. */
#ifndef ODE_MLCP_IMPACTS_CONTACT_SPACE_H
#define ODE_MLCP_IMPACTS_CONTACT_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct contact_space {
  int n_contacts;
  int n_tangents;  /* of a contact, 1 or 2 */
  int per_contact; /* rows, 1 + n_tangents */
  int n_rows;      /* n_contacts per_contact */
  int *contact_of; /* [n_rows] the contact a row belongs to */
  int *normal_of;  /* [n_rows] the normal row of that contact */
  double *A;       /* n_rows x n_rows, J M^-1 J', 1/kg, symmetric bit by bit */
  double *bound;   /* [m] of tangent rows: mu, or mu/sqrt 2 of two tangents;
                      INFINITY for friction without limit */
  double *start;   /* [n_rows] contact velocities before the impact */
  double *weight;  /* [n_rows] 1/kg: the largest contact velocity that one N s
                       of this row can cause, of a normal row with its friction;
                       turns impulses into m/s for tolerances */
  double scale;    /* m/s: largest |start|; 1 where all are 0 */
} contact_space;

/* Conditions are held to within this much of the velocity scale. */
#define IMPACT_FEASIBILITY 1e-10
/* Solutions closer than this much of the velocity scale are one. */
#define IMPACT_SAME 1e-7
/* Room for distinct solutions of one step. */
#define IMPACT_MAX_SOLUTIONS 64

/** The bound of a tangent row where mu is 1. */
double contact_space_bound_of_one(int n_tangents);

/** A contact's velocity along t1 and t2 from its tangent rows' velocities, or back:
 *  the box's sides lie symmetric to the tangents. One tangent stays as it is. */
void contact_space_turn(int n_tangents, const double from[], double to[]);

/** Does some contact have friction without limit? Of the ways to solve a step
 *  only the search knows it. */
bool contact_space_is_endless(const contact_space *space);

/* fmin and fmax without their care for NaN, which costs a call each */
static inline double smaller(double a, double b) { return a < b ? a : b; }
static inline double larger(double a, double b) { return a > b ? a : b; }

/** Are contact velocities a and b of one solution? */
bool contact_space_is_same(const contact_space *space, const double a[],
                           const double b[]);

/** c + A lambda for all rows. */
void contact_space_push(const contact_space *space, const double c[],
                        const double lambda[], double pushed[]);

/** The slowest separation min_i c_n,i (negative: colliding). */
double contact_space_slowest(const contact_space *space, const double c[]);

/** Worst violation of a step's conditions (I2), m/s; impulses by their weight. */
double contact_space_violation(const contact_space *space, const double caps[],
                               const double lambda[], const double reached[]);

#endif
