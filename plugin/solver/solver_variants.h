/* Easier problems on the same bodies, for the last stages of the cascade. */
#ifndef ODE_MLCP_SOLVER_SOLVER_VARIANTS_H
#define ODE_MLCP_SOLVER_SOLVER_VARIANTS_H

#include "common/arena.h"
#include "mlcp/mlcp.h"

/** A changed copy of a problem's rows and friction sets, in an arena; `mlcp`
 *  views it. */
typedef struct solver_variant {
  mlcp_problem mlcp;
  mlcp_row *rows;  /* of mlcp */
  int *first_cone; /* [n_frictions of the original], convex variant only */
} solver_variant;

/**
 * A proximal step: every row i gets compliance `share` A_ii, counted from the
 * impulses p, so that w = J v + bias + compliance p' + share A_ii (p' - p). A
 * solution p' = p is one of the original.
 * @return false when memory runs out; so for the next one.
 */
bool solver_variant_make_proximal(solver_variant *variant, arena *arena,
                                  const mlcp_problem *problem, double share,
                                  const double p[]);

/**
 * The convex relaxation of Anitescu & Hart (after 4.48): mu lambda is taken as
 * 0 where it couples the normal impulse, which makes each friction edge e a
 * row  (n + mu d_e)'v + b_n >= 0  with an impulse gamma_e of its own,
 * c_n = sum gamma_e, beta_e = mu gamma_e. Sets with a constant limit stay as
 * they are; where a limit has both terms, the constant one is left out.
 */
bool solver_variant_make_convex(solver_variant *variant, arena *arena,
                                const mlcp_problem *problem);

/** The original problem's impulses [n_rows] of a convex variant's. */
void solver_variant_convex_impulses(const solver_variant *variant,
                                    const mlcp_problem *problem,
                                    const double variant_p[], double p[]);

#endif
