/* What a comparison comes to, in words. */
#ifndef ODE_MLCP_JUDGE_VERDICT_H
#define ODE_MLCP_JUDGE_VERDICT_H

#include "judge/judge.h"

/** Write comparison->verdict, of all figures. */
void judge_verdict(comparison *comparison);

#endif
