/* Random numbers by counting: Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011,
 * "Parallel random numbers: as easy as 1, 2, 3"), written from its description.
 *
 * A block of numbers is a function of a key and a counter alone, so that sample
 * k of a set is the same whoever draws it, in whatever order. */
#ifndef ODE_MLCP_IMPACTS_PHILOX_H
#define ODE_MLCP_IMPACTS_PHILOX_H

#include <stdint.h>

/** The use of a block; keeps the uses of one sample's step apart. */
enum {
  PHILOX_CAPS = 0,              /* + contact/2: caps on the impulses */
  PHILOX_COVERING = 0x40000000, /* + variable/2: a covering vector */
  PHILOX_SOLUTION = 0x60000000, /* one of several solutions */
  PHILOX_LEAF = 0x61000000      /* + corner: a point within a continuum */
};

static inline void philox_block(const uint32_t key_in[2],
                                const uint32_t counter[4], uint32_t out[4]) {
  uint32_t key[2] = {key_in[0], key_in[1]};
  uint32_t x[4] = {counter[0], counter[1], counter[2], counter[3]};

  for (int round = 0; round < 10; round++) {
    uint64_t product0 = (uint64_t)0xD2511F53u * x[0];
    uint64_t product1 = (uint64_t)0xCD9E8D57u * x[2];
    uint32_t y0 = (uint32_t)(product1 >> 32) ^ x[1] ^ key[0];
    uint32_t y2 = (uint32_t)(product0 >> 32) ^ x[3] ^ key[1];
    x[1] = (uint32_t)product1;
    x[3] = (uint32_t)product0;
    x[0] = y0;
    x[2] = y2;

    // the key walks by the golden ratio and sqrt(3) - 1
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  for (int i = 0; i < 4; i++) out[i] = x[i];
}

/** 52 bits as a number strictly inside (0, 1), exactly. */
static inline double philox_unit(uint32_t low, uint32_t high) {
  uint64_t bits = ((uint64_t)high << 32 | low) >> 12;
  return ((double)bits + 0.5) * 0x1p-52;
}

/** Two numbers in (0, 1), keyed by (seed, sample, step, use). */
static inline void philox_pair(uint64_t seed, uint64_t sample, uint32_t step,
                               uint32_t use, double out[2]) {
  const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  const uint32_t counter[4] = {(uint32_t)sample, (uint32_t)(sample >> 32), step,
                               use};
  uint32_t bits[4];
  philox_block(key, counter, bits);
  out[0] = philox_unit(bits[0], bits[1]);
  out[1] = philox_unit(bits[2], bits[3]);
}

#endif
