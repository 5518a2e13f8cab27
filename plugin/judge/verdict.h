/* The outcome of a comparison, in words. */
#ifndef ODE_MLCP_JUDGE_VERDICT_H
#define ODE_MLCP_JUDGE_VERDICT_H

#include "judge/judge.h"

/** Write the headline and the lines of a comparison, of all its figures: one
 *  sentence to act on, then what is off by a hundredth of the scene or more. */
void judge_verdict(comparison *comparison);

#endif
