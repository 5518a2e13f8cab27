/* A box slides over a flat floor of triangles, without friction: the inner edges of
 * the floor are no obstacles. */
#include "case.h"

int main(int n, char *argument[]) {
  enum { SIDE = 25, VERTICES = SIDE * SIDE };
  static double vertex[VERTICES][3];
  static dTriIndex triangle[2 * (SIDE - 1) * (SIDE - 1)][3];
  const double pitch = 0.4, h = 0.01, speed = 2.5;
  case_begin(n, argument);
  surface.mu = 0;
  for (int i = 0; i < VERTICES; i++) {
    vertex[i][0] = pitch * (i % SIDE - 4);
    vertex[i][1] = pitch * (i / SIDE - SIDE / 2);
  }
  int count = 0;
  for (int i = 0; i < SIDE - 1; i++)
    for (int j = 0; j < SIDE - 1; j++) {
      dTriIndex at = (dTriIndex)(i * SIDE + j);
      dTriIndex of[2][3] = {{at, at + 1, at + SIDE + 1},
                            {at, at + SIDE + 1, at + SIDE}};
      memcpy(triangle[count], of, sizeof of);
      count += 2;
    }
  dTriMeshDataID data = dGeomTriMeshDataCreate();
  dGeomTriMeshDataBuildDouble(data, vertex, 3 * sizeof(double), VERTICES,
                              triangle, 3 * count, 3 * sizeof(dTriIndex));
  dCreateTriMesh(space, data, 0, 0, 0);
  dBodyID box = add_box(0.5, 0.5, 0.3, 4, 0, 0.13, 0.15);
  dBodySetLinearVel(box, speed, 0.2, 0);
  double hop = 0;
  for (int k = 0; k < 250; k++) {
    case_step(h);
    if (k > 20) hop = fmax(hop, fabs(dBodyGetLinearVel(box)[2]));
  }
  tell("speed after 2.5 s", dBodyGetLinearVel(box)[0], speed, "m/s");
  tell("fastest up or down", hop, 0, "m/s");
  int status = case_end();
  dGeomTriMeshDataDestroy(data);
  return status;
}
