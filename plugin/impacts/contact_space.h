/* Contact space: a collision seen by its contacts. Equation numbers are those
 * of docs/impacts.md.
 *
 * It has one row per contact direction, contact after contact: its normal, then
 * its tangents. A regular friction polygon of K edges in the plane of two
 * tangents is the sum of K/2 segments along its edges, |s_j| <= sin(pi/K) mu
 * lambda_n in the direction u_j, and maximum dissipation over a sum is that over
 * each part: u_j's own slip is opposed. So all cases have tangent rows with
 * independent bounds, K/2 of them, which repeat each other where K > 4; of K = 4,
 * the pyramid +-t1, +-t2, these are (t1 + t2)/sqrt 2 and (t1 - t2)/sqrt 2. */
#ifndef ODE_MLCP_IMPACTS_CONTACT_SPACE_H
#define ODE_MLCP_IMPACTS_CONTACT_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct contact_space {
  int n_contacts;
  int n_tangents;  /* tangent rows a contact: 1; half the edges of a polygon */
  int per_contact; /* 1 + n_tangents */
  int n_rows;      /* n_contacts per_contact */
  int *contact_of; /* [n_rows] the contact a row belongs to */
  int *normal_of;  /* [n_rows] the normal row of that contact */
  double *A;       /* n_rows x n_rows, J M^-1 J', 1/kg, symmetric bit by bit */
  double *bound;   /* [m] |s| <= bound lambda_n: mu times
                       contact_space_bound_of_one; INFINITY for friction without
                       limit, of which rows 3 .. are zero: it has no edges */
  double *start;   /* [n_rows] contact velocities before the impact */
  double *weight;  /* [n_rows] 1/kg: the largest contact velocity that one N s
                       of this row can cause, of a normal row with its friction;
                       turns impulses into m/s for tolerances */
  double scale;    /* m/s: largest |start|; 1 where all are 0 */
  /* Tangent rows of which the slips are the same at all times, as of heel and toe of a
     flat foot: [n_rows] the first of them, or the row itself; and how many times as
     fast a row is. Both are NULL where no slips are the same. */
  int *slips_as;
  double *times;
} contact_space;

/* Conditions are held to within this much of the velocity scale. */
#define IMPACT_FEASIBILITY 1e-10
/* Solutions closer than this much of the velocity scale are one. */
#define IMPACT_SAME 1e-7
/* Room for distinct solutions of one step. */
#define IMPACT_MAX_SOLUTIONS 64

/* Tangent rows of a contact: a polygon of 16 edges is within 2 % of the cone. */
#define CONTACT_MOST_TANGENTS 8

/** The bound of a tangent row where mu is 1; and mu where that bound is 1. */
double contact_space_bound_of_one(int n_tangents);
double contact_space_mu_of_one(int n_tangents);

/** The direction (along t1, t2) of tangent row j, 0 .. n_tangents - 1, of two
 *  tangents. */
void contact_space_direction(int n_tangents, int j, double direction[2]);

/** A contact's velocity along t1 and t2 from its tangent rows' velocities (of one
 *  tangent along that). */
void contact_space_slip(const contact_space *space, int contact,
                        const double rows[], double slip[2]);

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
