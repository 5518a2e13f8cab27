/* Contact space: a collision seen by its contacts. Equation numbers are those
 * of docs/impacts.md.
 *
 * It has one row per contact direction, contact after contact: its normal, then
 * its tangents. With two tangents the pyramid +-t1, +-t2 is a
 * square, and with the axes u1 = (t1 + t2)/sqrt 2, u2 = (t1 - t2)/sqrt 2 it is
 * the box |s_1|, |s_2| <= (mu/sqrt 2) lambda_n, each side with its own maximum
 * dissipation. So both cases have tangent rows with independent bounds. */
#ifndef ODE_MLCP_IMPACTS_CONTACT_SPACE_H
#define ODE_MLCP_IMPACTS_CONTACT_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct contact_space {
  int n_contacts;
  int n_tangents;  /* 1 or 2 a contact */
  int per_contact; /* 1 + n_tangents */
  int n_rows;      /* n_contacts per_contact */
  int *contact_of; /* [n_rows] the contact a row belongs to */
  int *normal_of;  /* [n_rows] the normal row of that contact */
  double *A;       /* n_rows x n_rows, J M^-1 J', 1/kg */
  double *bound;   /* [m] |s| <= bound lambda_n: mu or mu/sqrt 2; INFINITY for
                       friction without limit */
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

/** Does some contact have friction without limit? Of the ways to solve a step
 *  only the search knows it. */
bool contact_space_is_endless(const contact_space *space);

/* fmin and fmax without their care for NaN, which costs a call each */
static inline double smaller(double a, double b) { return a < b ? a : b; }
static inline double larger(double a, double b) { return a > b ? a : b; }

/** c + A lambda for all rows. */
void contact_space_push(const contact_space *space, const double c[],
                        const double lambda[], double pushed[]);

/** The slowest separation min_i c_n,i (negative: colliding). */
double contact_space_slowest(const contact_space *space, const double c[]);

#endif
