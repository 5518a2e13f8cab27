#include <UnitTest++.h>
#include <ode/ode.h>
#include <ode/stepper.h>

TEST(test_stops_tell_their_gaps)
{
    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world);
    dJointID slider = dJointCreateSlider(world, 0);
    dJointAttach(slider, body, 0);
    dJointSetSliderAxis(slider, 1, 0, 0);
    dJointSetSliderParam(slider, dParamLoStop, -0.25);
    dJointSetSliderParam(slider, dParamHiStop, 2);
    dStepperJointStop stops[dStepperJointStopsMax];
    CHECK_EQUAL(2, dJointGetStepperAxisStops(slider, stops));
    const dReal sum = stops[0].gap + stops[1].gap;
    CHECK_CLOSE(2.25, sum, 1e-6);
    // each gap closes where the other opens
    CHECK_CLOSE(0, stops[0].J[0][0] + stops[1].J[0][0], 1e-6);
    CHECK_CLOSE(1, fabs(stops[0].J[0][0]), 1e-6);
    // 1 past a stop, wherever the axis points
    dBodySetPosition(body, dJointGetSliderPosition(slider) < 0 ? -3 : 3, 0, 0);
    CHECK_EQUAL(2, dJointGetStepperAxisStops(slider, stops));
    const dReal least = stops[0].gap < stops[1].gap ? stops[0].gap : stops[1].gap;
    CHECK(least < -0.99);
    CHECK_EQUAL(0, stops[0].turns);
    dWorldDestroy(world);
}
