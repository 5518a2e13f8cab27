/* From a snapshot and what a scheme asks for to results: rows, the components
 * that no row ties together, one mixed LCP each, its verified solution.
 *
 *   scheme: level, poses, masses, right-hand side   (assembly_request)
 *     -> items (what brings rows) -> components -> rows -> solve -> answers
 *
 * Nothing here touches the host.
 */
#ifndef ODE_MLCP_ASSEMBLY_ASSEMBLY_H
#define ODE_MLCP_ASSEMBLY_ASSEMBLY_H

#include "assembly/request.h"

/** A workspace, and the answer to its last request. Used by one thread at a
 *  time, kept between steps. */
typedef struct assembly assembly;

/** @param source  a pool
 *  @return NULL when memory runs out. */
assembly *assembly_create(const memory_source *source);

/** Before its pool is released; NULL is fine. */
void assembly_destroy(assembly *a);

/** Solves of the last request that ended with their budget, without an answer. */
int assembly_stopped(const assembly *a);

/** m/s: a slip below has no direction, under this gravity and step. */
double assembly_slip_floor(double gravity, double step_size);

/**
 * Solve. Counts go to out->report.
 *
 * @return false with out->message where memory ran out, a component is too large
 *         or no finite solution was found.
 */
bool assembly_solve(assembly *a, const assembly_request *request, outcome *out);

/* --- the answer: valid until the next solve; the request's arrays are still
 * needed ------------------------------------------------------------------ */

/** [6 n_bodies] x; of kinematic bodies as given. */
const double *assembly_x(const assembly *a);

/** The motion that a projection adds to a body's, [6], m/s and rad/s; NULL where
 *  it adds none. */
const double *assembly_projection(const assembly *a, int body);

/** The rows of contact k; n_rows is 0 where it took no part. */
const contact_rows *assembly_contact_rows(const assembly *a, int k);

/** Impulses of contact k's rows, N s [contact_rows.n_rows]; NULL for none. */
const double *assembly_contact_impulses(const assembly *a, int k);

/** Impulse of the normal row, N s; 0 where it took no part. */
double assembly_normal_impulse(const assembly *a, int k);

/** Count an impulse, N s, that contact k was given along its normal beside the
 *  solve as that of its normal row. Nothing where it took no part. */
void assembly_add_normal_impulse(assembly *a, int k, double impulse);

/** w of contact k's normal row, m/s; NAN where it took no part. */
double assembly_contact_w(const assembly *a, int k);

/** m/s: what the normal row of contact k gives way by under its impulse. */
double assembly_contact_yield(const assembly *a, int k);

/** Impulse of a joint's row `i` of the host's, N s; 0 where it took no part. */
double assembly_joint_impulse(const assembly *a, int joint, unsigned i);

/** Results that wait for a step's commit: forces of a joint, in the host's terms. */
typedef struct joint_result {
  unsigned count;
  bool forceless;     /* no feedback asks for `force`: it is not filled */
  double lambda[6];   /* [count] N, N m */
  double force[2][6]; /* on the two bodies, in the order of the rows */
} joint_result;

/** Add to the results of all joints, [n_joints], the impulses of their rows and
 *  stops and of their contacts, over `seconds`. */
void assembly_add_forces(const assembly *a, double seconds,
                         joint_result results[]);

/** The same of contact or stop k alone, to one joint's. */
void assembly_add_contact(const assembly *a, int k, double seconds,
                          joint_result *result);

/** Write what the next step may start from: an entry each for the joints and the
 *  contacts of the request that took part.
 *  @param stops    joint stops, too
 *  @param entries  [n_joint_rows + contacts->n] out
 *  @return how many. */
int assembly_remember(const assembly *a, bool stops, contact_entry entries[]);

/** Write the impulses of joint j with rows, or of contact or stop k, into an entry that
 *  has its key; a contact that took no part gets none. */
void assembly_remember_joint(const assembly *a, int j, contact_entry *entry);
void assembly_remember_contact(const assembly *a, int k, contact_entry *entry);

#endif
