#include <UnitTest++.h>
#include <ode/ode.h>
#include <ode/stepper.h>

TEST(test_joints_are_listed_with_their_bodies_and_contacts)
{
    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world);
    dJointID ball = dJointCreateBall(world, 0);
    dContact contact = {};
    contact.geom.normal[2] = 1;
    contact.geom.depth = 0.125;
    dJointID touch = dJointCreateContact(world, 0, &contact);
    dJointAttach(touch, 0, body);
    dJointDisable(ball);
    dWorldJoint joints[2];
    CHECK_EQUAL(2u, dWorldGetJoints(world, 0, 0));
    CHECK_EQUAL(2u, dWorldGetJoints(world, joints, 2));
    CHECK(joints[0].joint == ball && joints[0].contact == 0);
    CHECK(!joints[0].enabled && joints[0].body[0] == 0);
    CHECK(joints[1].joint == touch && joints[1].enabled);
    CHECK(joints[1].body[0] == dJointGetBody(touch, 0));
    CHECK(joints[1].body[1] == dJointGetBody(touch, 1));
    CHECK_EQUAL(0.125, joints[1].contact->geom.depth);
    dWorldDestroy(world);
}
