#include <UnitTest++.h>
#include <ode/ode.h>
#include <ode/stepper.h>

// upwards and turning, beside the velocity that the body keeps
static void commit_aside(void *, const dStepperIsland *island)
{
    const dReal *v = dBodyGetLinearVel(island->bodies[0]);
    const dReal velocity[6] = { v[0], 2, 0, 0, 0, 1 };
    dBodyStepperMove(island->bodies[0], island->stepsize, velocity);
}

TEST(test_body_moves_by_another_velocity_than_its_own)
{
    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world);
    dBodySetLinearVel(body, 1, 0, 0);
    dStepperFunctions functions = {};
    functions.struct_size = sizeof(functions);
    functions.commit = &commit_aside;
    CHECK(dWorldSetStepper(world, &functions, 0));
    CHECK_EQUAL(1, dWorldStep(world, 0.25));
    CHECK_CLOSE(0.25, dBodyGetPosition(body)[0], 1e-6);
    CHECK_CLOSE(0.5, dBodyGetPosition(body)[1], 1e-6);
    CHECK(dBodyGetQuaternion(body)[3] > 0.1);
    CHECK_EQUAL(1, dBodyGetLinearVel(body)[0]);
    CHECK_EQUAL(0, dBodyGetAngularVel(body)[2]);
    dWorldDestroy(world);
}
