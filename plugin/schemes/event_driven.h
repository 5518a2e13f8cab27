/* Substeps of a second-order step of some islands between events, back to the
 * grid of the host's steps (PAGT sec. 8). Everything is done before the host's
 * commit, which then moves each body once. */
#ifndef ODE_MLCP_SCHEMES_EVENT_DRIVEN_H
#define ODE_MLCP_SCHEMES_EVENT_DRIVEN_H

#include "schemes/event_state.h"

/** Solve the islands of w->s.step. Their results are the step's, what they
 *  remember is in w->entries, where they end in w->now.
 *  @return false with the outcome's message. */
bool event_driven_solve(event_state *w);

#endif
