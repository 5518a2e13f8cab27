#include <UnitTest++.h>
#include <ode/ode.h>
#include <ode/stepper.h>

// A stepper that lets bodies fall, or fails.
static int solve_falling(void *context, const dStepperIsland *)
{
    return *(const int *)context;
}

static void commit_falling(void *, const dStepperIsland *island)
{
    for (unsigned i = 0; i != island->bodies_count; ++i) {
        const dReal *v = dBodyGetLinearVel(island->bodies[i]);
        dBodySetLinearVel(island->bodies[i], v[0], v[1], v[2] - island->stepsize);
        dBodyStepperAdvance(island->bodies[i], island->stepsize);
    }
}

TEST(test_stepper_takes_a_worlds_steps)
{
    int solves = 1;
    dStepperFunctions functions = {};
    functions.struct_size = sizeof(functions);
    functions.solve = &solve_falling;
    functions.commit = &commit_falling;

    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world);
    dBodySetLinearVel(body, 2, 0, 0);
    CHECK(dWorldSetStepper(world, &functions, &solves));
    CHECK(dWorldGetStepperContext(world) == &solves);

    CHECK_EQUAL(1, dWorldStep(world, 0.5));
    CHECK_CLOSE(1, dBodyGetPosition(body)[0], 1e-6);
    CHECK_CLOSE(-0.25, dBodyGetPosition(body)[2], 1e-6);

    // a step that fails changes nothing
    solves = 0;
    CHECK_EQUAL(0, dWorldQuickStep(world, 0.5));
    CHECK_CLOSE(1, dBodyGetPosition(body)[0], 1e-6);
    dWorldDestroy(world);
}

TEST(test_stepper_reads_rows_of_a_joint)
{
    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world);
    dBodySetPosition(body, 1, 0, 0);
    dJointID ball = dJointCreateBall(world, 0);
    dJointAttach(ball, body, 0);
    dJointSetBallAnchor(ball, 0, 0, 0);
    dBodySetPosition(body, 1.5, 0, 0);

    dStepperJointRows rows;
    CHECK(dJointGetStepperRows(ball, 10, 0.5, &rows));
    CHECK_EQUAL(3u, rows.count);
    CHECK(rows.body[0] == body && rows.body[1] == 0);
    // per second 10 x the ERP of 0.2 that a ball keeps, of half a metre
    CHECK_CLOSE(1, fabs(rows.rhs[0]), 1e-5);
    CHECK(rows.lo[0] == -dInfinity && rows.hi[0] == dInfinity);
    dWorldDestroy(world);
}
