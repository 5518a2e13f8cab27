#include <UnitTest++.h>
#include <ode/ode.h>
#include <ode/stepper.h>

TEST(test_euler_axes_are_read_as_they_were_given)
{
    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world), other = dBodyCreate(world);
    dJointID motor = dJointCreateAMotor(world, 0);
    dJointAttach(motor, body, other);
    dJointSetAMotorMode(motor, dAMotorEuler);
    dJointSetAMotorAxis(motor, 0, 1, 0, 0, 1);
    dJointSetAMotorAxis(motor, 2, 2, 1, 0, 0);
    dVector3 first, second;
    CHECK(dJointGetStepperEulerAxes(motor, first, second));
    CHECK_CLOSE(1, first[2], 1e-6);
    CHECK_CLOSE(1, second[0], 1e-6);
    dJointSetAMotorMode(motor, dAMotorUser);
    CHECK(!dJointGetStepperEulerAxes(motor, first, second));
    dWorldDestroy(world);
}
