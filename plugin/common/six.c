#include "common/six.h"

bool six_forbid_wide;

bool six_is_wide(void) {
#if SIX_HAS_WIDE
  return !six_forbid_wide && __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}
