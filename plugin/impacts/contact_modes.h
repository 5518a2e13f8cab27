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
 * rim of its friction cone also counts as slipping at speed 0). Where impulses that
 * are left open move no velocity, that is the mode's only one. Where they do, the mode
 * may span a continuum, which is the search's to look at (contact_search.h).
 */
#ifndef ODE_MLCP_IMPACTS_CONTACT_MODES_H
#define ODE_MLCP_IMPACTS_CONTACT_MODES_H

#include "common/memory.h"
#include "impacts/contact_space.h"
#include "ode_mlcp_impacts.h"

/* Numbers of four things side by side, input after input, so that a step looks
 * at four conditions, modes or rows at once. */
typedef struct contact_modes {
  int n_modes;        /* kept ones, in the order of their numbers */
  bool spans;         /* a mode that is left out may be a continuum */
  int n_inputs;       /* n_rows + m */
  int n_blocks;       /* of four conditions a mode; the last are filled up by
                         ones that are always met */
  int n_wide;         /* n_rows, rounded up to fours */
  double *conditions; /* n_modes x n_blocks x n_inputs x 4, f.y >= -tolerance */
  double *gates;      /* n_modes/4 x n_inputs x 4: what every y has that meets
                         a mode's conditions, g.y >= -2 tolerance */
  double *impulses;   /* n_modes x n_inputs x n_wide */
  double *columns;    /* n_rows x n_wide, A */
  double *keeps;      /* n_modes x n_wide: all bits of a row set, or none where
                      it ends at speed 0 */
  memory_block numbers, first_ones, maps, pushes, masks;
} contact_modes;

/** Modes of one contact: 1 + 2 3^T; or 1 + 3^T without caps. */
int contact_modes_of_one(const contact_space *space, bool capped);

/** Modes of all contacts together; 0 when beyond 2^20. */
int contact_modes_count(const contact_space *space, bool capped);

/** What a contact may do at a solution, by the digits of modes' numbers, with one
 *  tangent or two: one of them, or more where it is within `border` (m/s) of others.
 *  @param digits  [contact_modes_of_one] out; how many is returned */
int contact_modes_of_contact(const contact_space *space, int contact,
                             double cap, const double lambda[],
                             const double speed[], double border, int digits[]);

/**
 * Build the table.
 *
 * @param h  N s, of what size caps will be; what it is changes no result
 * @return DONE, NO_MEMORY or TOO_MANY_MODES
 */
ode_mlcp_impact_status contact_modes_build(contact_modes *modes,
                                           const contact_space *space, double h,
                                           const memory_source *source);
void contact_modes_release(contact_modes *modes, const memory_source *source);

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
                        const double y[], int most, double lambdas[],
                        double reached[]);

/** The same of modes that are known to hold, `found` by their places in the
 *  table. */
int contact_modes_apply(const contact_modes *modes, const contact_space *space,
                        const int found[], int n_found, const double y[],
                        int most, double lambdas[], double reached[]);

/** Give each of the contacts that slip as one its part of their friction: in proportion
 *  to what it can bear. Their sum decides how they move. */
void contact_modes_share(const contact_space *space, double lambda[]);

/** Does the mode at a place of the table hold for y? */
bool contact_modes_hold(const contact_modes *modes, int place, const double y[],
                        double tolerance);

/** A table without modes, to which they are added one by one; it has no gates, so
 *  that contact_modes_solve does not know it. False: no memory, as below. */
bool contact_modes_begin(contact_modes *modes, const contact_space *space,
                         const memory_source *source);

/** Make room for so many modes. */
bool contact_modes_reserve(contact_modes *modes, size_t count,
                           const memory_source *source);

/** Add what contact_mode_work_out says of a mode, behind those that are there. */
bool contact_modes_add(contact_modes *modes, const contact_space *space,
                       const double impulses[], const double conditions[],
                       int count, uint32_t zero_rows,
                       const memory_source *source);

/**
 * One mode worked out on its own.
 *
 * @param contacts    [n_contacts] the contacts taking part; the others get no
 *                    impulse and meet no condition
 * @param mode        number in 0 .. contact_modes_of_one^n_contacts - 1; the
 *                    first contact is the most significant digit; of contacts that
 *                    slip as one all stick, or all slip the same way
 * @param capped      false: no cap, lambda_max is not looked at (eq. I3)
 * @param scratch     contact_mode_scratch(space) numbers
 * @param impulses    [n_rows x n_inputs] out
 * @param conditions  out, room for (2 + 2 T) m rows of n_inputs
 * @return the number of conditions; or, when the system is singular,
 *         CONTACT_MODE_REPEATS, or CONTACT_MODE_SPANS where impulses that it leaves
 *         open move a velocity
 */
enum { CONTACT_MODE_REPEATS = -1, CONTACT_MODE_SPANS = -2 };
int contact_mode_work_out(const contact_space *space, const int contacts[],
                          int n_contacts, int64_t mode, bool capped,
                          double scratch[], double impulses[],
                          double conditions[], uint32_t *zero_rows);
size_t contact_mode_scratch(const contact_space *space);

/** May the mode that contact velocities `reached` belong to be a continuum?
 *  @param contacts  [m] 0, 1, .. */
bool contact_mode_spans(const contact_space *space, const int contacts[],
                        const double reached[], double scratch[]);

#endif
