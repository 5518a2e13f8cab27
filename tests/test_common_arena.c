/* The scratch arena, pools and blocks: blocks that do not meet, sizes that overflow,
 * memory that is kept, and every allocation failing. */
#include <stdint.h>
#include <string.h>

#include "common/arena.h"
#include "failing_memory.h"
#include "testing.h"

enum { N_BLOCKS = 40 };

static failing_memory memory;
static memory_source source;

static void prepare_memory(void) {
  memory = (failing_memory){0};
  source = failing_memory_source(&memory);
}

static arena make_arena(void) {
  prepare_memory();
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
    CU_ASSERT(!ARENA_TAKE(&a, guess, counts[i]));
    CU_ASSERT_PTR_NULL(guess);
  }

  // the arena goes on
  fail_no_allocation(&memory);
  arena_start(&a);
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
    }
    if (!done) {
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

  // as an arena that took nothing yet: what was is no reason to ask for more
  arena fresh = {.source = &source};
  long asked[2];
  for (int i = 0; i < 2; i++) {
    CU_ASSERT(take_blocks(i == 0 ? &fresh : &a, 1, blocks));
    asked[i] = memory.bytes_held;
    arena_release(i == 0 ? &fresh : &a);
  }
  CU_ASSERT_EQUAL(asked[1], asked[0]);
}

/* ---- pools and blocks ---- */

static bool holds(const int *numbers, int n, int first) {
  for (int i = 0; i < n; i++)
    if (numbers[i] != first + i) return false;
  return true;
}

static void fill(int *numbers, int n, int first) {
  for (int i = 0; i < n; i++) numbers[i] = first + i;
}

/* The first, the one between and the last of three are replaced in turn; the
 * others keep what they hold and all are given back, once. */
static void test_a_pool_keeps_its_others(void) {
  for (int moved = 0; moved < 3; moved++) {
    prepare_memory();
    memory_pool pool;
    memory_pool_open(&pool, &source);
    int *numbers[3] = {NULL, NULL, NULL};
    for (int i = 0; i < 3; i++) {
      CU_ASSERT_FATAL(POOL_RESERVE(&pool, numbers[i], 10));
      fill(numbers[i], 10, 100 * i);
    }
    CU_ASSERT_EQUAL(memory.n_held, 3);
    CU_ASSERT_FATAL(POOL_RESERVE(&pool, numbers[moved], 1000));
    fill(numbers[moved], 1000, 100 * moved);
    CU_ASSERT_EQUAL(memory.n_held, 3);
    for (int i = 0; i < 3; i++)
      CU_ASSERT(holds(numbers[i], i == moved ? 1000 : 10, 100 * i));
    memory_pool_release(&pool);
    CU_ASSERT_EQUAL(memory.n_held, 0);
    CU_ASSERT_EQUAL(memory.bytes_held, 0);
  }
}

/* What has room asks for none; by half at least what has not grows. */
static void test_a_pool_grows_with_what_it_held(void) {
  prepare_memory();
  memory_pool pool;
  memory_pool_open(&pool, &source);
  int *numbers = NULL;
  CU_ASSERT_FATAL(POOL_GROW(&pool, numbers, 100));
  fill(numbers, 100, 7);
  CU_ASSERT_FATAL(POOL_GROW(&pool, numbers, 101));
  CU_ASSERT(holds(numbers, 100, 7));
  fill(numbers, 150, 8);
  CU_ASSERT_EQUAL(memory.n_asked, 2);
  CU_ASSERT(POOL_GROW(&pool, numbers, 150));
  CU_ASSERT(POOL_RESERVE(&pool, numbers, 3));
  CU_ASSERT_EQUAL(memory.n_asked, 2);

  // on failure it stays as it is, or is none, as was asked for
  fail_allocations_from(&memory, 0);
  CU_ASSERT(!POOL_GROW(&pool, numbers, 151));
  CU_ASSERT_FATAL(numbers != NULL);
  CU_ASSERT(holds(numbers, 150, 8));
  CU_ASSERT(!POOL_RESERVE(&pool, numbers, 151));
  CU_ASSERT_PTR_NULL(numbers);
  CU_ASSERT_EQUAL(memory.n_held, 0);
  fail_no_allocation(&memory);
  CU_ASSERT(POOL_GROW(&pool, numbers, 0));
  CU_ASSERT_PTR_NOT_NULL(numbers);
  memory_pool_release(&pool);
}

/* A size that has no number is no memory, and the source is not asked. */
static void test_sizes_that_overflow(void) {
  prepare_memory();
  memory_pool pool;
  memory_pool_open(&pool, &source);
  const size_t counts[] = {SIZE_MAX, SIZE_MAX / sizeof(double) + 1};
  for (int i = 0; i < 2; i++) {
    double *of_pool = NULL;
    CU_ASSERT(!POOL_RESERVE(&pool, of_pool, counts[i]));
    CU_ASSERT(!POOL_GROW(&pool, of_pool, counts[i]));
  }
  // one that has a number, but none with what the pool puts before it
  char *bytes = NULL;
  CU_ASSERT(!POOL_RESERVE(&pool, bytes, SIZE_MAX - 1));
  CU_ASSERT_EQUAL(memory.n_asked, 0);
  CU_ASSERT_PTR_NULL(pool.first);
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"apart and aligned", test_blocks_are_apart_and_aligned},
      {"counts of 0", test_zero_counts_give_pointers},
      {"overflow", test_overflow_is_no_memory},
      {"steady state", test_a_steady_state_allocates_nothing},
      {"no memory", test_every_allocation_may_fail},
      {"after a release", test_may_be_used_after_its_release},
      {"a pool's blocks", test_a_pool_keeps_its_others},
      {"a pool that grows", test_a_pool_grows_with_what_it_held},
      {"sizes that overflow", test_sizes_that_overflow},
      CU_TEST_INFO_NULL};
  return run_tests("arena", tests);
}
