/* Two and four numbers side by side. The compiler turns operations on these
 * into whatever the machine has, with the same bits everywhere. */
#ifndef ODE_MLCP_COMMON_LANES_H
#define ODE_MLCP_COMMON_LANES_H

typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long four_mask
    __attribute__((vector_size(32), aligned(8), may_alias));
typedef double two __attribute__((vector_size(16), aligned(8), may_alias));

#endif
