/* The scratch arena: blocks that do not meet, sizes that overflow, memory that
 * is kept, and every allocation failing. */
#include <stdint.h>
#include <string.h>

#include "common/arena.h"
#include "failing_memory.h"
#include "testing.h"

enum { N_BLOCKS = 40 };

static failing_memory memory;
static memory_source source;

static arena make_arena(void) {
  memory = (failing_memory){0};
  source = failing_memory_source(&memory);
  return (arena){.source = &source};
}

/* Blocks of many sizes, 0 among them. */
static size_t count_of(int block, size_t scale) {
  return (size_t)(block * block % 17) * scale;
}

/* Takes blocks and writes all of each. @return whether there was memory. */
static bool take_blocks(arena *a, size_t scale, uint32_t *blocks[N_BLOCKS]) {
  for (int i = 0; i < N_BLOCKS; i++) {
    size_t n = count_of(i, scale);
    if (!ARENA_TAKE(a, blocks[i], n)) return false;
    for (size_t k = 0; k < n; k++) blocks[i][k] = (uint32_t)i;
  }
  return true;
}

static void test_blocks_are_apart_and_aligned(void) {
  arena a = make_arena();
  uint32_t *blocks[N_BLOCKS];
  for (int start = 0; start < 3; start++) {
    arena_start(&a);
    CU_ASSERT_FATAL(take_blocks(&a, 5, blocks));
    for (int i = 0; i < N_BLOCKS; i++) {
      CU_ASSERT_EQUAL((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
      for (int k = 0; k < i; k++) CU_ASSERT(blocks[k] != blocks[i]);
      for (size_t k = 0; k < count_of(i, 5); k++)
        CU_ASSERT_EQUAL(blocks[i][k], (uint32_t)i);
    }
  }
  arena_release(&a);
  CU_ASSERT_EQUAL(memory.n_held, 0);
  CU_ASSERT_EQUAL(memory.bytes_held, 0);
}

static void test_zero_counts_give_pointers(void) {
  arena a = make_arena();
  double *none, *nothing;
  arena_start(&a);
  CU_ASSERT(ARENA_TAKE(&a, none, 0));
  CU_ASSERT(ARENA_TAKE(&a, nothing, 0));
  CU_ASSERT(none != nothing);
  CU_ASSERT_PTR_NULL(a.failed);
  arena_release(&a);
  CU_ASSERT_EQUAL(memory.n_held, 0);
}

static void test_overflow_is_no_memory(void) {
  static const size_t counts[] = {SIZE_MAX, SIZE_MAX / 8, SIZE_MAX / 8 - 1,
                                  SIZE_MAX / 8 - 2, SIZE_MAX / 8 - 3};
  arena a = make_arena();
  double *rows, *guess;
  arena_start(&a);
  CU_ASSERT_FATAL(ARENA_TAKE(&a, rows, 3));
  // nothing as large may come to the source
  fail_allocations_from(&memory, 0);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    a.failed = NULL;
    CU_ASSERT(!ARENA_TAKE(&a, guess, counts[i]));
    CU_ASSERT_PTR_NULL(guess);
    CU_ASSERT_STRING_EQUAL(a.failed, "guess");
  }

  // the arena goes on
  fail_no_allocation(&memory);
  arena_start(&a);
  CU_ASSERT_PTR_NULL(a.failed);
  CU_ASSERT(ARENA_TAKE(&a, guess, 3));
  arena_release(&a);
  CU_ASSERT_EQUAL(memory.n_held, 0);
}

/* The need of a step grows, then does not. With the address sanitizer every block
 * is an allocation of its own. */
static void test_a_steady_state_allocates_nothing(void) {
#if !defined __SANITIZE_ADDRESS__
  arena a = make_arena();
  uint32_t *blocks[N_BLOCKS];
  for (size_t scale = 1; scale <= 1000; scale *= 10) {
    for (int settle = 0; settle < 2; settle++) {
      arena_start(&a);
      CU_ASSERT_FATAL(take_blocks(&a, scale, blocks));
    }
    long n_asked = memory.n_asked;
    CU_ASSERT_EQUAL(memory.n_held, 1);
    for (int step = 0; step < 5; step++) {
      arena_start(&a);
      CU_ASSERT(take_blocks(&a, scale, blocks));
      arena_start(&a); // less is no reason to ask either
      CU_ASSERT(take_blocks(&a, scale / 2, blocks));
    }
    CU_ASSERT_EQUAL(memory.n_asked, n_asked);
  }
  // and a little more is there already
  long n_asked = memory.n_asked;
  arena_start(&a);
  CU_ASSERT(take_blocks(&a, 1100, blocks));
  CU_ASSERT_EQUAL(memory.n_asked, n_asked);
  arena_release(&a);
  CU_ASSERT_EQUAL(memory.bytes_held, 0);
#endif
}

static void test_every_allocation_may_fail(void) {
  uint32_t *blocks[N_BLOCKS];
  long n_failures = 0;
  for (bool done = false; !done; n_failures++) {
    arena a = make_arena();
    fail_allocations_from(&memory, n_failures);
    done = true;
    for (size_t scale = 1; scale <= 100 && done; scale *= 10) {
      arena_start(&a);
      done = take_blocks(&a, scale, blocks);
      CU_ASSERT_EQUAL(done, a.failed == NULL);
    }
    if (!done) {
      CU_ASSERT_STRING_EQUAL(a.failed, "blocks[i]");
      fail_no_allocation(&memory);
      arena_start(&a);
      CU_ASSERT(take_blocks(&a, 100, blocks));
    }
    arena_release(&a);
    CU_ASSERT_EQUAL(memory.n_held, 0);
    CU_ASSERT_EQUAL(memory.bytes_held, 0);
  }
  CU_ASSERT(n_failures > 3);
}

static void test_may_be_used_after_its_release(void) {
  arena a = make_arena();
  uint32_t *blocks[N_BLOCKS];
  for (int life = 0; life < 2; life++) {
    arena_start(&a);
    CU_ASSERT(take_blocks(&a, 7, blocks));
    arena_release(&a);
    CU_ASSERT_EQUAL(memory.n_held, 0);
  }
  arena_release(&a);
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"apart and aligned", test_blocks_are_apart_and_aligned},
      {"counts of 0", test_zero_counts_give_pointers},
      {"overflow", test_overflow_is_no_memory},
      {"steady state", test_a_steady_state_allocates_nothing},
      {"no memory", test_every_allocation_may_fail},
      {"after a release", test_may_be_used_after_its_release},
      CU_TEST_INFO_NULL};
  return run_tests("arena", tests);
}
