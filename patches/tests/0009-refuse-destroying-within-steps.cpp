#include <UnitTest++.h>
#include <ode/ode.h>
#include <ode/stepper.h>

#include <stdarg.h>

static int messages = 0;
static void count_message(int, const char *, va_list) { ++messages; }

static int destroy_a_body(void *, const dStepperIsland *island)
{
    dBodyDestroy(island->bodies[0]);
    return 1;
}

static void commit_nothing(void *, const dStepperIsland *) { }

TEST(test_bodies_are_not_destroyed_within_a_step)
{
    dStepperFunctions functions = {};
    functions.struct_size = sizeof(functions);
    functions.solve = &destroy_a_body;
    functions.commit = &commit_nothing;
    dWorldID world = dWorldCreate();
    dBodyCreate(world);
    CHECK(dWorldSetStepper(world, &functions, 0));
    dMessageFunction *before = dGetMessageHandler();
    dSetMessageHandler(&count_message);
    messages = 0;
    dWorldStep(world, 0.1);
    dSetMessageHandler(before);
    CHECK(messages > 0);
    CHECK_EQUAL(1u, dWorldGetBodies(world, 0, 0));
    dWorldDestroy(world);
}
