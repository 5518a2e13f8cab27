#include <UnitTest++.h>
#include <ode/ode.h>
#include <ode/stepper.h>

static void count_pair(void *count, dGeomID, dGeomID) { ++*(int *)count; }

TEST(test_aabb_margin_reports_pairs_before_they_touch)
{
    dSpaceID space = dSimpleSpaceCreate(0);
    dGeomID left = dCreateSphere(space, 1), right = dCreateSphere(space, 1);
    dGeomSetPosition(right, 2.25, 0, 0);
    CHECK_EQUAL(0, dGeomGetAABBMargin(left));
    int count = 0;
    dSpaceCollide(space, &count, &count_pair);
    CHECK_EQUAL(0, count);

    dGeomSetAABBMargin(left, 0.5);
    CHECK_EQUAL(0.5, dGeomGetAABBMargin(left));
    dReal box[6];
    dGeomGetAABB(left, box);
    CHECK_CLOSE(-1.5, box[0], 1e-6);
    CHECK_CLOSE(1.5, box[5], 1e-6);
    dSpaceCollide(space, &count, &count_pair);
    CHECK_EQUAL(1, count);
    dSpaceDestroy(space);
}
