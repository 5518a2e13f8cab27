#include <UnitTest++.h>
#include <ode/ode.h>
#include <ode/stepper.h>

TEST(test_bodies_are_listed_in_order_of_creation)
{
    dWorldID world = dWorldCreate();
    dBodyID made[3], listed[3] = { 0, 0, 0 };
    for (int i = 0; i != 3; ++i) made[i] = dBodyCreate(world);
    CHECK_EQUAL(3u, dWorldGetBodies(world, 0, 0));
    CHECK_EQUAL(3u, dWorldGetBodies(world, listed, 2));
    CHECK(listed[0] == made[0] && listed[1] == made[1] && listed[2] == 0);
    dWorldDestroy(world);
}
