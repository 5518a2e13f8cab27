#include <UnitTest++.h>
#include <ode/ode.h>
#include <ode/stepper.h>

static int throw_once(void *context, dWorldID, dReal, const dStepperIsland *, size_t)
{
    int *left = (int *)context;
    if ((*left)-- > 0) throw 7;
    return 1;
}

static void commit_nothing(void *, const dStepperIsland *) { }

TEST(test_a_world_goes_on_after_an_exception_left_its_step)
{
    int left = 1;
    dStepperFunctions functions = {};
    functions.struct_size = sizeof(functions);
    functions.begin = &throw_once;
    functions.commit = &commit_nothing;
    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world);
    CHECK(dWorldSetStepper(world, &functions, &left));
    int caught = 0;
    try {
        dWorldStep(world, 0.1);
    } catch (int thrown) {
        caught = thrown;
    }
    CHECK_EQUAL(7, caught);
    CHECK_EQUAL(1, dWorldStep(world, 0.1));
    dBodyDestroy(body);
    CHECK_EQUAL(0u, dWorldGetBodies(world, 0, 0));
    dWorldDestroy(world);
}
