/* Every solution of a step by its contact modes.
 *
 * A contact is separating (no impulse), closed (its normal speed ends at 0) or
 * capped (its normal impulse is at its cap); unless separating, each of its
 * tangents sticks, or slips forwards or backwards. In a given mode the step is
 * a linear system, so its impulses are a linear function of
 *
 *   y = (c, lambda_max)         n_rows + m numbers
 *
 * and so are the conditions under which the mode holds. Both are worked out
 * once, and a step is a look through them.
 *
 * Modes whose system is singular are left out: where such a mode has solutions,
 * the corners of their polytope lie in other modes (a sticking contact at the
 * rim of its friction cone also counts as slipping at speed 0). So where a step has one
 * solution here, it has one; where it has several, they may be corners of a continuum,
 * which is the search's to look at (contact_search.h).
 */
#ifndef ODE_MLCP_IMPACTS_CONTACT_MODES_H
#define ODE_MLCP_IMPACTS_CONTACT_MODES_H

#include "common/arena.h"
#include "impacts/contact_space.h"
#include "ode_mlcp_impacts.h"

/* Four planar contacts have 7^4 modes, two with two tangents 19^2; of more a search is
 * quicker. */
enum { CONTACT_MODES_MOST = 2401 };

typedef struct contact_modes {
  int n_modes;        /* kept ones, in the order of their numbers */
  bool is_whole;      /* none is left out */
  int n_inputs;       /* n_rows + m */
  int *first;         /* [n_modes + 1] of a mode's conditions */
  double *conditions; /* [first[n_modes] x n_inputs] f.y >= -tolerance */
  double *impulses;   /* [n_modes x n_rows x n_inputs] */
  bool *rests;        /* [n_modes x n_rows] the row ends at speed 0 */
  memory_pool pool;   /* of these */
} contact_modes;

/** Modes of all contacts together; 0: more than a table may have. A mode's number has a
 *  digit a contact, the first the most significant: 0 separates, 1 .. 3^T are closed,
 *  the next 3^T capped; of each the lowest tangent's digit first, 0 sticks, 1 slips
 *  forwards, 2 backwards. */
int contact_modes_count(const contact_space *space);

/** Build the table. @return DONE, NO_MEMORY or TOO_MANY_MODES */
ode_mlcp_impact_status contact_modes_build(contact_modes *modes,
                                           const contact_space *space,
                                           const memory_source *source);
void contact_modes_release(contact_modes *modes);

/* A thread's knowledge of what is worth looking at first: of each mode the condition that
 * failed most often in its first steps, four modes side by side. It changes no result. */
typedef struct contact_gates {
  int n_steps;   /* looked through while it learns */
  int *failures; /* [n_conditions] */
  double *gates; /* [n_modes/4 x n_inputs x 4] g.y >= -tolerance */
} contact_gates;

/** False: no memory. */
bool contact_gates_open(contact_gates *gates, const contact_modes *modes,
                        arena *arena);

/**
 * The solutions of a step by the modes that hold, in the order of these.
 *
 * @param y        (c, lambda_max)
 * @param most     how many are wanted, at least 1
 * @param lambdas  [most x n_rows] out: impulses, kept within their bounds
 * @param reached  [most x n_rows] out: contact velocities they lead to
 * @return how many were found, distinct in velocity, at most `most`
 */
int contact_modes_solve(const contact_modes *modes, const contact_space *space,
                        contact_gates *gates, const double y[], int most,
                        double lambdas[], double reached[]);

#endif
