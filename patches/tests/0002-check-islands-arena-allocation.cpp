#include <UnitTest++.h>
#include <ode/ode.h>
#include <ode/stepper.h>

static void *no_memory(size_t) { return 0; }
static void *no_shrinking(void *block, size_t, size_t) { return block; }
static void no_freeing(void *, size_t) { }

TEST(test_step_without_memory_returns_0)
{
    dWorldStepMemoryFunctionsInfo functions;
    functions.struct_size = sizeof(functions);
    functions.alloc_block = &no_memory;
    functions.shrink_block = &no_shrinking;
    functions.free_block = &no_freeing;

    dWorldID world = dWorldCreate();
    dBodyCreate(world);
    CHECK(dWorldSetStepMemoryManager(world, &functions));
    CHECK_EQUAL(0, dWorldStep(world, 0.1));
    dWorldDestroy(world);
}
