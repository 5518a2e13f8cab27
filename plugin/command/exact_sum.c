#include "command/exact_sum.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

void exact_sum_add(exact_sum *sum, double term) {
  uint64_t bits;
  memcpy(&bits, &term, sizeof bits);
  uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
  int exponent = (int)(bits >> 52 & 0x7ff);
  if (exponent > 0) {
    fraction |= (uint64_t)1 << 52;
    exponent--; // now the place of the fraction's last bit above 2^-1074
  }
  if (fraction == 0) return;
  int limb = exponent / 32, shift = exponent % 32;
  uint64_t low = (uint64_t)(uint32_t)fraction << shift;
  uint64_t high = (fraction >> 32 << shift) + (low >> 32);
  int64_t parts[3] = {(int64_t)(uint32_t)low, (int64_t)(uint32_t)high,
                      (int64_t)(high >> 32)};
  int64_t sign = bits >> 63 ? -1 : 1;
  for (int i = 0; i < 3; i++) sum->limbs[limb + i] += sign * parts[i];
}

void exact_sum_add_product(exact_sum *sum, double a, double b) {
  double product = a * b;
  exact_sum_add(sum, product);
  exact_sum_add(sum, fma(a, b, -product));
}

void exact_sum_settle(exact_sum *sum) {
  int64_t carry = 0;
  for (int i = 0; i + 1 < EXACT_LIMBS; i++) {
    int64_t value = sum->limbs[i] + carry;
    carry = value >> 32;
    sum->limbs[i] = value - carry * ((int64_t)1 << 32);
  }
  sum->limbs[EXACT_LIMBS - 1] += carry; // has the sign
}

void exact_sum_join(exact_sum *sum, const exact_sum *other) {
  for (int i = 0; i < EXACT_LIMBS; i++) sum->limbs[i] += other->limbs[i];
  exact_sum_settle(sum);
}

double exact_sum_round(const exact_sum *sum) {
  exact_sum size = *sum;
  bool negative = sum->limbs[EXACT_LIMBS - 1] < 0;
  for (int i = 0; negative && i < EXACT_LIMBS; i++) size.limbs[i] *= -1;
  exact_sum_settle(&size);
  int top = EXACT_LIMBS - 1;
  while (top > 0 && size.limbs[top] == 0) top--;
  // the first 64 bits, the last of which says whether more follow
  uint64_t wide[2] = {0, 0}; // the higher one first
  for (int k = 0; k < 4; k++) {
    int i = top - k;
    wide[k / 2] = wide[k / 2] << 32 | (i >= 0 ? (uint32_t)size.limbs[i] : 0);
  }
  int exponent = 32 * (top - 3) - 1074;
  bool more = false;
  for (int i = 0; i < top - 3; i++) more |= size.limbs[i] != 0;
  while (wide[0] != 0) {
    more |= (wide[1] & 1) != 0;
    wide[1] = wide[1] >> 1 | wide[0] << 63;
    wide[0] >>= 1;
    exponent++;
  }
  double rounded = ldexp((double)(wide[1] | more), exponent);
  return negative ? -rounded : rounded;
}
