/* The schemes of settings/scheme_list.h: a row there is an object SCHEME_ID in a
 * file of its own here. */
#ifndef ODE_MLCP_SCHEMES_SCHEMES_H
#define ODE_MLCP_SCHEMES_SCHEMES_H

#include "schemes/scheme.h"
#include "settings/scheme_list.h"

#define ROW(ID, name, help) extern const scheme SCHEME_##ID;
SCHEME_LIST(ROW)
#undef ROW

#endif
