#include <UnitTest++.h>
#include <ode/ode.h>
#include <ode/stepper.h>

TEST(test_quick_steps_tell_the_force_of_a_joint)
{
    dWorldID world = dWorldCreate();
    dWorldSetGravity(world, 0, 0, -10);
    dBodyID body = dBodyCreate(world);
    dJointID ball = dJointCreateBall(world, 0);
    dJointAttach(ball, body, 0);
    dJointSetBallAnchor(ball, 0, 0, 0);
    dJointFeedback feedback;
    dJointSetFeedback(ball, &feedback);
    for (int i = 0; i != 20; ++i) CHECK(dWorldQuickStep(world, 0.01));
    // it bears the body's weight
    CHECK_CLOSE(10, feedback.f1[2], 1e-2);
    CHECK_CLOSE(0, feedback.f1[0], 1e-2);
    dWorldDestroy(world);
}
