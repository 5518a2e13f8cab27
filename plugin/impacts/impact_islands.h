/* Islands of an impact: contacts between which no impulse has an effect, such as
 * those that share no moving body. Each is an impact of its own, with its own
 * end, random numbers, cap and scale: what else touches elsewhere changes no bit
 * of its outcomes. */
#ifndef ODE_MLCP_IMPACTS_IMPACT_ISLANDS_H
#define ODE_MLCP_IMPACTS_IMPACT_ISLANDS_H

#include "impacts/impact.h"

/**
 * Find the islands of a contact space and fill all of each but its psi and cap.
 * Entries of A between them are set to 0.
 *
 * @param impact  its space, J and B are there
 * @return false where memory runs out
 */
bool impact_islands_find(ode_mlcp_impact *impact);

/**
 * The cap that options ask for by h = 0, to be kept in island->cap.
 *
 * 4/3 of the largest normal impulse that stops a contact alone or belongs to a
 * simultaneous impact (eq. I3): a draw reaches each of these with a probability,
 * whatever the masses.
 */
bool impact_island_choose_cap(impact_island *island,
                              const memory_source *source);

#endif
