#include <UnitTest++.h>
#include <ode/ode.h>
#include <ode/stepper.h>

#include <string.h>

TEST(test_body_is_placed_and_put_back_bit_for_bit)
{
    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world);
    dMatrix3 turned;
    dRFromAxisAndAngle(turned, 1, 2, 3, 0.7);
    dBodySetRotation(body, turned);
    dBodySetPosition(body, 0.1, 0.2, 0.3);
    dGeomID geom = dCreateSphere(0, 1);
    dGeomSetBody(geom, body);
    dReal box[6];
    dGeomGetAABB(geom, box);
    dVector3 x, away = { 4, 5, 6 };
    dQuaternion q, half = { 0, 0, 0, 2 };
    dMatrix3 R;
    memcpy(x, dBodyGetPosition(body), sizeof(x));
    memcpy(q, dBodyGetQuaternion(body), sizeof(q));
    memcpy(R, dBodyGetRotation(body), sizeof(R));

    dBodyStepperPlace(body, away, half, 0, 0);
    dGeomGetAABB(geom, box);
    CHECK_CLOSE(1.2, box[3], 1e-6);
    dBodyStepperPlace(body, away, half, 0, 1);
    dGeomGetAABB(geom, box);
    CHECK_CLOSE(6, box[3], 1e-6);
    CHECK_EQUAL(5, dBodyGetPosition(body)[1]);
    CHECK_EQUAL(1, dBodyGetQuaternion(body)[3]);
    CHECK_EQUAL(-1, dBodyGetRotation(body)[0]);

    dBodyStepperPlace(body, x, q, R, 1);
    CHECK_EQUAL(0, memcmp(x, dBodyGetPosition(body), 3 * sizeof(dReal)));
    CHECK_EQUAL(0, memcmp(q, dBodyGetQuaternion(body), sizeof(q)));
    CHECK_EQUAL(0, memcmp(R, dBodyGetRotation(body), sizeof(R)));
    dGeomDestroy(geom);
    dWorldDestroy(world);
}
