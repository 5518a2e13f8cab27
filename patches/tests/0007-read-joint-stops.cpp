#include <UnitTest++.h>
#include <ode/ode.h>
#include <ode/stepper.h>

TEST(test_stops_that_are_not_reached_tell_their_gaps)
{
    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world);
    dJointID slider = dJointCreateSlider(world, 0);
    dJointAttach(slider, body, 0);
    dJointSetSliderAxis(slider, 1, 0, 0);
    dJointSetSliderParam(slider, dParamLoStop, -0.25);
    dJointSetSliderParam(slider, dParamHiStop, 2);
    dStepperJointStop stops[dStepperJointStopsMax];
    CHECK_EQUAL(2, dJointGetStepperStops(slider, stops));
    const dReal sum = stops[0].gap + stops[1].gap;
    CHECK_CLOSE(2.25, sum, 1e-6);
    // each gap closes where the other opens
    CHECK_CLOSE(0, stops[0].J[0][0] + stops[1].J[0][0], 1e-6);
    CHECK_CLOSE(1, fabs(stops[0].J[0][0]), 1e-6);
    dWorldDestroy(world);
}
