#include <UnitTest++.h>
#include <ode/ode.h>

#if !defined(_WIN32)

#include <pthread.h>

// Each step takes records of jobs from a pool: worlds that share one crash here, or
// give another height.
static void *step_a_world(void *height)
{
    dAllocateODEDataForThread(dAllocateMaskAll);
    dWorldID world = dWorldCreate();
    dWorldSetGravity(world, 0, 0, -1);
    dBodyID one = dBodyCreate(world), other = dBodyCreate(world);
    dBodySetPosition(other, 1, 0, 0);
    dJointID hinge = dJointCreateHinge(world, 0), ball = dJointCreateBall(world, 0);
    dJointAttach(hinge, one, other);
    dJointAttach(ball, one, 0);
    for (int k = 0; k != 20000; ++k) {
        dWorldStep(world, 0.001);
    }
    *(dReal *)height = dBodyGetPosition(other)[2];
    dWorldDestroy(world);
    dCleanupODEAllDataForThread();
    return 0;
}

TEST(test_worlds_are_stepped_on_threads_of_their_own)
{
    dReal alone = 0, heights[4] = {};
    pthread_t threads[4];
    step_a_world(&alone);
    for (int k = 0; k != 4; ++k)
        CHECK_EQUAL(0, pthread_create(&threads[k], 0, &step_a_world, &heights[k]));
    for (int k = 0; k != 4; ++k)
        pthread_join(threads[k], 0);
    for (int k = 0; k != 4; ++k)
        CHECK_EQUAL(alone, heights[k]);
}

#endif
