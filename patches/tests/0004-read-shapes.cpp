#include <UnitTest++.h>
#include <ode/ode.h>

TEST(test_shapes_can_be_read_back)
{
    static const dReal planes[] = {  1,  0,  0, 1,   0,  1,  0, 1,   0,  0,  1, 1,
                                    -1,  0,  0, 1,   0, -1,  0, 1,   0,  0, -1, 1 };
    static const dReal points[] = {  1, 1,  1,  -1, 1,  1,   1, -1,  1,  -1, -1,  1,
                                     1, 1, -1,  -1, 1, -1,   1, -1, -1,  -1, -1, -1 };
    static const unsigned polygons[] = { 4, 0, 2, 6, 4,  4, 1, 0, 4, 5,  4, 0, 1, 3, 2,
                                         4, 3, 1, 5, 7,  4, 2, 3, 7, 6,  4, 5, 4, 6, 7 };
    dGeomID convex = dCreateConvex(0, planes, 6, points, 8, polygons);
    const dReal *gotPlanes, *gotPoints;
    const unsigned *gotPolygons;
    unsigned planeCount, pointCount;
    dGeomGetConvex(convex, &gotPlanes, &planeCount, &gotPoints, &pointCount, &gotPolygons);
    CHECK(gotPlanes == planes && planeCount == 6);
    CHECK(gotPoints == points && pointCount == 8);
    CHECK(gotPolygons == polygons);
    CHECK(dGeomIsPlaceable(convex));

    dGeomID plane = dCreatePlane(0, 0, 0, 1, 0);
    CHECK(!dGeomIsPlaceable(plane));
    dGeomDestroy(convex);
    dGeomDestroy(plane);
}
