#include "families.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- building -------------------------------------------------------------- */

/* Numbers in 0 .. 1, the same on every machine. */
static double draw(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (double)(*state >> 11) / 9007199254740992.0;
}

static uint64_t first_state(const family_member *m) {
  return 88172645463325252ULL + 7919ULL * m->seed;
}

static scene *start(const family_member *m) {
  scene *made = scene_create();
  if (made == NULL) return NULL;
  made->surface.mu = m->friction;
  scene_add_floor(made);
  return made;
}

/* The scene where it was built whole, else NULL. */
static scene *finish(scene *built, bool whole) {
  if (whole) return built;
  scene_destroy(built);
  return NULL;
}

static dBodyID box(scene *s, double x, double y, double z, double a, double b,
                   double c, double mass) {
  return scene_add_box(s, x, y, z, a, b, c, mass / (a * b * c));
}

/* A capsule whose axis is turned from z to `axis`. */
static dBodyID capsule(scene *s, const double at[3], double radius,
                       double length, double mass, const double axis[3]) {
  dBodyID body =
      scene_add_capsule(s, at[0], at[1], at[2], radius, length, 1000);
  if (body == NULL) return NULL;
  dMass total;
  dMassSetCapsuleTotal(&total, mass, 3, radius, length);
  dBodySetMass(body, &total);
  dMatrix3 rotation;
  dRFromZAxis(rotation, axis[0], axis[1], axis[2]);
  dBodySetRotation(body, rotation);
  return body;
}

/* Standing. */
static dBodyID drum(scene *s, double x, double y, double z, double radius,
                    double height, double mass) {
  dBodyID body = scene_add_body(s, x, y, z);
  if (body == NULL) return NULL;
  dMass total;
  dMassSetCylinderTotal(&total, mass, 3, radius, height);
  dBodySetMass(body, &total);
  dGeomSetBody(dCreateCylinder(s->space, radius, height), body);
  return body;
}

static void turn_at_random(dBodyID body, uint64_t *state) {
  dMatrix3 rotation;
  double x = draw(state) - 0.5, y = draw(state) - 0.5, z = draw(state) - 0.5;
  dRFromAxisAndAngle(rotation, x, y, z, 2 * M_PI * draw(state));
  dBodySetRotation(body, rotation);
}

static void join(scene *s, dBodyID one, dBodyID two, double x, double y,
                 double z) {
  dJointID ball = dJointCreateBall(s->world, 0);
  dJointAttach(ball, one, two);
  dJointSetBallAnchor(ball, x, y, z);
}

static void hinge(scene *s, dBodyID one, dBodyID two, const double at[3],
                  const double axis[3]) {
  dJointID joint = dJointCreateHinge(s->world, 0);
  dJointAttach(joint, one, two);
  dJointSetHingeAnchor(joint, at[0], at[1], at[2]);
  dJointSetHingeAxis(joint, axis[0], axis[1], axis[2]);
  dJointSetHingeParam(joint, dParamLoStop, -1);
  dJointSetHingeParam(joint, dParamHiStop, 1);
}

static const double along_x[3] = {1, 0, 0}, along_y[3] = {0, 1, 0},
                    along_z[3] = {0, 0, 1};

/* ---- structures that rest --------------------------------------------------- */

/* Rows of size, size - 1, .. 1 cubes, apart from each other in a row. */
static scene *wall(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length;
  bool whole = true;
  for (int row = 0; row < m->size; row++)
    for (int i = 0; i < m->size - row; i++)
      whole &= box(s, 1.05 * L * (i - 0.5 * (m->size - row - 1)), 0,
                   L * (row + 0.5), L, L, L, m->mass) != NULL;
  return finish(s, whole);
}

/* A running bond of size x size bricks with nothing to hold its ends, so that
 * those of every other course tip. */
static scene *bond(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length;
  bool whole = true;
  for (int row = 0; row < m->size; row++)
    for (int i = 0; i < m->size; i++)
      whole &= box(s, 1.05 * L * (i + 0.5 * (row & 1)), 0,
                   L * (0.15 + 0.3 * row), L, L, 0.3 * L, m->mass) != NULL;
  return finish(s, whole);
}

/* `courses` of `across` bricks and a half one at the end of each, at alternating
 * ends, so that nothing tips. */
static bool lay_bricks(scene *s, const family_member *m, int across,
                       int courses) {
  double L = m->length, gap = 0.01 * L;
  bool whole = true;
  for (int row = 0; row < courses; row++) {
    double x = 0, z = L * (0.25 + 0.5 * row);
    for (int i = 0; i <= across; i++) {
      bool half = (row & 1) ? i == 0 : i == across;
      double width = half ? 0.5 * L : L;
      whole &= box(s, x + 0.5 * width, 0, z, width - gap, 0.5 * L, 0.5 * L,
                   half ? 0.5 * m->mass : m->mass) != NULL;
      x += width;
    }
  }
  return whole;
}

/* A brick wall, half as many courses as bricks in one. */
static scene *brickwall(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  return finish(s, lay_bricks(s, m, m->size, m->size / 2));
}

/* The same hit by a ball of `ratio` bricks' mass, at the speed of a fall of five
 * of its bricks' lengths. */
static scene *hitwall(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length, radius = 0.6 * L;
  bool whole = lay_bricks(s, m, m->size, m->size / 2);
  dBodyID ball =
      scene_add_sphere(s, 0.55 * L * m->size, -1.5 * L, 0.13 * L * m->size,
                       radius, m->ratio * m->mass / (4.19 * pow(radius, 3)));
  if (ball != NULL) dBodySetLinearVel(ball, 0, sqrt(100 * L), 0);
  return finish(s, whole && ball != NULL);
}

/* The same pushed at its end by a piston of five bricks' mass, with a force of `ratio`
 * of the wall's weight. */
static scene *piston(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length, high = 0.25 * L * m->size;
  bool whole = lay_bricks(s, m, m->size, m->size / 2);
  dBodyID plate =
      box(s, -0.2 * L, 0, 0.6 * high, 0.3 * L, L, high, 5 * m->mass);
  if (!whole || plate == NULL) return finish(s, false);
  dJointID slider = dJointCreateSlider(s->world, 0);
  dJointAttach(slider, plate, NULL);
  dJointSetSliderAxis(slider, 1, 0, 0);
  dJointSetSliderParam(slider, dParamVel, sqrt(L));
  dJointSetSliderParam(slider, dParamFMax,
                       m->ratio * 9.81 * m->mass * m->size * (m->size / 2));
  return finish(s, true);
}

/* Flat bricks in a triangle, almost end to end. */
static scene *bricks(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length;
  bool whole = true;
  for (int row = 0; row < m->size; row++)
    for (int i = 0; i < m->size - row; i++)
      whole &= box(s, L * (i + 0.5 * row), 0, L * (0.25 + 0.5 * row), 0.98 * L,
                   0.5 * L, 0.5 * L, m->mass) != NULL;
  return finish(s, whole);
}

static scene *pyramid(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length, pitch = 1.1 * L;
  bool whole = true;
  for (int layer = 0; layer < m->size; layer++) {
    int n = m->size - layer;
    for (int i = 0; i < n * n; i++)
      whole &= box(s, pitch * (i % n - 0.5 * (n - 1)),
                   pitch * (i / n - 0.5 * (n - 1)), L * (layer + 0.5), L, L, L,
                   m->mass) != NULL;
  }
  return finish(s, whole);
}

/* Every other cube `ratio` times as heavy, the uppermost too. */
static scene *tower(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length;
  bool whole = true;
  for (int i = 0; i < m->size; i++)
    whole &= box(s, 0, 0, L * (i + 0.5), L, L, L,
                 i & 1 ? m->ratio * m->mass : m->mass) != NULL;
  return finish(s, whole);
}

/* Floors of three planks beside each other, across those of the floor below. */
static scene *slabs(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length, thick = 0.1 * L, pitch = L / 3;
  bool whole = true;
  for (int floor = 0; floor < m->size; floor++)
    for (int i = -1; i <= 1; i++) {
      double z = thick * (floor + 0.5), wide = 0.97 * pitch;
      bool across = floor & 1;
      whole &=
          box(s, across ? 0 : pitch * i, across ? pitch * i : 0, z,
              across ? L : wide, across ? wide : L, thick, m->mass) != NULL;
    }
  return finish(s, whole);
}

/* Standing drums, each on two of the row below. */
static scene *drums(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length;
  bool whole = true;
  for (int row = 0; row < m->size; row++)
    for (int i = 0; i < m->size - row; i++)
      whole &= drum(s, 1.05 * L * (i + 0.5 * row), 0, L * (row + 0.5), 0.5 * L,
                    L, m->mass) != NULL;
  return finish(s, whole);
}

/* The tower of toy blocks of SimBenchmark's Kapla test, half as high. */
static scene *kapla(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  const double w = 0.05, l = 0.2;
  bool whole = true;
  for (int floor = 0; floor < m->size; floor++) {
    double z = 0.2 * floor;
    for (int j = 0; j < 8; j++)
      whole &= box(s, j * l, 0, z + 0.05, w, l + 0.05, 0.1, m->mass) != NULL;
    for (int j = 0; j < 4; j++)
      whole &=
          box(s, 2 * j * l + 0.1, -l / 2, z + 0.15, l, w, 0.1, m->mass) != NULL;
    for (int j = 0; j < 3; j++)
      whole &=
          box(s, 2 * j * l + 0.3, l / 2, z + 0.15, l, w, 0.1, m->mass) != NULL;
    whole &= box(s, 0.1, l / 2, z + 0.15, l, w, 0.1, m->mass) != NULL;
    whole &= box(s, 6 * l + 0.1, l / 2, z + 0.15, l, w, 0.1, m->mass) != NULL;
  }
  return finish(s, whole);
}

/* Half a ring of voussoirs between two abutments that do not move, each a box
 * that touches the next at its inner edge. */
static scene *arch(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length, radius = 0.5 * L * m->size / M_PI * 1.9;
  double angle = M_PI / m->size,
         width = 2 * (radius - 0.25 * L) * tan(angle / 2);
  bool whole = true;
  for (int i = 0; i < m->size; i++) {
    double at = angle * (i + 0.5);
    dBodyID body = box(s, -radius * cos(at), 0, radius * sin(at), width, L,
                       0.5 * L, m->mass);
    whole &= body != NULL;
    if (body == NULL) break;
    dMatrix3 rotation;
    dRFromAxisAndAngle(rotation, 0, 1, 0, at - M_PI / 2);
    dBodySetRotation(body, rotation);
  }
  return finish(s, whole);
}

/* Courses of a dozen bricks in a ring, which touch at their inner edges; each course
 * over the joints of the last. */
static scene *ring(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  enum { BRICKS = 12 };
  double L = m->length, angle = 2 * M_PI / BRICKS;
  double radius = 0.25 * L + 0.505 * L / tan(0.5 * angle);
  bool whole = true;
  for (int course = 0; course < m->size; course++)
    for (int i = 0; i < BRICKS && whole; i++) {
      double at = angle * (i + 0.5 * (course & 1));
      dBodyID body =
          box(s, radius * sin(at), radius * cos(at), L * (0.2 + 0.4 * course),
              L, 0.5 * L, 0.4 * L, m->mass);
      whole &= body != NULL;
      if (body == NULL) break;
      dMatrix3 rotation;
      dRFromAxisAndAngle(rotation, 0, 0, 1, -at);
      dBodySetRotation(body, rotation);
    }
  return finish(s, whole);
}

/* A floor in pieces that are flush, and stacks of two over its seams. */
static scene *tiles(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length, high = 0.1 * L;
  bool whole = true;
  for (int i = 0; i <= m->size; i++)
    for (int j = 0; j <= m->size; j++)
      dGeomSetPosition(dCreateBox(s->space, 2 * L, 2 * L, high), 2 * L * i,
                       2 * L * j, 0.5 * high);
  for (int i = 0; i < m->size; i++)
    for (int j = 0; j < m->size; j++)
      for (int k = 0; k < 2; k++)
        whole &= box(s, L * (2 * i + 1 + 0.1 * j), L * (2 * j + 1 + 0.1 * i),
                     high + L * (0.5 + k), L, L, L, m->mass) != NULL;
  return finish(s, whole);
}

/* Boxes that stand apart from each other on one plate, which is a body of the mass of
 * `ratio` boxes. */
static scene *tray(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length, side = 2 * L * m->size, high = 0.2 * L;
  bool whole =
      box(s, 0, 0, 0.5 * high, side, side, high, m->ratio * m->mass) != NULL;
  for (int i = 0; i < m->size; i++)
    for (int j = 0; j < m->size; j++)
      whole &=
          box(s, L * (2 * i + 1) - 0.5 * side, L * (2 * j + 1) - 0.5 * side,
              high + 0.5 * L, L, L, L, m->mass) != NULL;
  return finish(s, whole);
}

/* Planks on hinges between two points that do not move, taut, and a box on every
 * third of them, `ratio` times as heavy. */
static scene *bridge(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length, height = L * m->size;
  dBodyID last = NULL;
  for (int i = 0; i <= m->size; i++) {
    const double at[3] = {L * i, 0, height};
    dBodyID plank = i == m->size ? NULL
                                 : box(s, L * (i + 0.5), 0, height, 0.96 * L,
                                       2 * L, 0.1 * L, m->mass);
    if (plank == NULL && i < m->size) return finish(s, false);
    if (last != NULL)
      hinge(s, last, plank, at, along_y);
    else
      hinge(s, plank, NULL, at, along_y);
    if (i % 3 == 1 && plank != NULL &&
        box(s, L * (i + 0.5), 0, height + 0.3 * L, 0.5 * L, 0.5 * L, 0.5 * L,
            m->mass * m->ratio) == NULL)
      return finish(s, false);
    last = plank;
  }
  return finish(s, true);
}

/* Cars on four cylinders that motors hold, side by side. */
static scene *parked(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length, radius = 0.2 * L, wide = 0.15 * L;
  for (int car = 0; car < m->size; car++) {
    double middle = 1.5 * L * car;
    dBodyID body =
        box(s, 0, middle, 1.5 * radius, 1.6 * L, 0.7 * L, 0.25 * L, m->mass);
    for (int k = 0; k < 4; k++) {
      const double at[3] = {(k & 1 ? 0.5 : -0.5) * L,
                            middle + (k & 2 ? 0.45 : -0.45) * L, radius};
      dBodyID wheel =
          drum(s, at[0], at[1], at[2], radius, wide, 0.05 * m->mass);
      if (body == NULL || wheel == NULL) return finish(s, false);
      dMatrix3 rotation;
      dRFromZAxis(rotation, 0, 1, 0);
      dBodySetRotation(wheel, rotation);
      dJointID axle = dJointCreateHinge(s->world, 0);
      dJointAttach(axle, body, wheel);
      dJointSetHingeAnchor(axle, at[0], at[1], at[2]);
      dJointSetHingeAxis(axle, 0, 1, 0);
      dJointSetHingeParam(axle, dParamVel, 0);
      dJointSetHingeParam(axle, dParamFMax, 10 * 9.81 * m->mass * radius);
    }
  }
  return finish(s, true);
}

/* Storeys of leaning pairs of cards under level ones. */
static scene *cards(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length, thick = 0.02 * L, lean = 0.35;
  double rise = L * cos(lean) + thick * sin(lean), pitch = 1.1 * L;
  bool whole = true;
  for (int level = 0; level < m->size && whole; level++) {
    int n = m->size - level;
    double z = level * (rise + thick);
    for (int i = 0; i < n && whole; i++) {
      double x = pitch * (i + 0.5 * level);
      for (int side = -1; side <= 1; side += 2) {
        double away = 0.5 * L * sin(lean) + 0.5 * thick * cos(lean);
        dBodyID card =
            box(s, x + side * away, 0, z + 0.5 * rise, thick, L, L, m->mass);
        if (card == NULL) return finish(s, false);
        dMatrix3 rotation;
        dRFromAxisAndAngle(rotation, 0, 1, 0, -side * lean);
        dBodySetRotation(card, rotation);
      }
      if (level < m->size - 1 && i < n - 1)
        whole &= box(s, x + 0.5 * pitch, 0, z + rise + 0.5 * thick, pitch, L,
                     thick, m->mass) != NULL;
    }
  }
  return finish(s, whole);
}

/* Logs side by side between two posts, each layer in the gaps of the last. */
static scene *logs(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length, radius = 0.1 * L, pitch = 2.02 * radius;
  bool whole = true;
  dCreatePlane(s->space, 1, 0, 0, -0.5 * pitch);
  dCreatePlane(s->space, -1, 0, 0, -pitch * (m->size - 0.5));
  for (int layer = 0; layer < m->size; layer++)
    for (int i = 0; i < m->size - (layer & 1); i++) {
      const double at[3] = {pitch * (i + 0.5 * (layer & 1)), 0,
                            radius * (1 + 1.74 * layer)};
      whole &= capsule(s, at, radius, L, m->mass, along_y) != NULL;
    }
  return finish(s, whole);
}

/* ---- what moves ------------------------------------------------------------- */

static scene *dominoes(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length;
  bool whole = true;
  for (int i = 0; i < m->size; i++)
    whole &=
        box(s, 0.6 * L * i, 0, 0.5 * L, 0.15 * L, 0.5 * L, L, m->mass) != NULL;
  if (whole && m->size > 0) dBodySetAngularVel(s->bodies[0], 0, 3 / L, 0);
  return finish(s, whole);
}

/* A cable of capsules and ball joints, lying, or let fall from a rod. */
static scene *cable(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length, radius = 0.15 * L, pitch = 1.02 * L;
  double height = m->ratio > 0 ? 0.3 * L * m->size : radius;
  dBodyID last = NULL;
  if (m->ratio > 0) {
    dGeomID rod = dCreateCapsule(s->space, L, 10 * L);
    dMatrix3 rotation;
    dRFromZAxis(rotation, 0, 1, 0);
    dGeomSetRotation(rod, rotation);
    dGeomSetPosition(rod, 0.45 * pitch * m->size, 0, height - 1.2 * L);
  }
  for (int i = 0; i < m->size; i++) {
    const double at[3] = {pitch * i, 0, height};
    dBodyID link = capsule(s, at, radius, L - 2 * radius, m->mass, along_x);
    if (link == NULL) return finish(s, false);
    if (last != NULL) join(s, last, link, pitch * (i - 0.5), 0, height);
    last = link;
  }
  return finish(s, true);
}

static void add_walls(scene *s, double half) {
  for (int side = -1; side <= 1; side += 2) {
    dCreatePlane(s->space, side, 0, 0, -half);
    dCreatePlane(s->space, 0, side, 0, -half);
  }
}

/* The next place in layers of a square grid, shaken a little. */
static void next_place(int i, double half, double L, uint64_t *state,
                       double at[3]) {
  int a_side = (int)(2 * half / (1.1 * L));
  int place = i % (a_side * a_side), layer = i / (a_side * a_side);
  at[0] = -half + L * (0.6 + 1.1 * (place % a_side) + 0.1 * draw(state));
  at[1] = -half + L * (0.6 + 1.1 * (place / a_side) + 0.1 * draw(state));
  at[2] = L * (0.8 + 1.1 * layer);
}

/* The corners and faces of a wedge: a rock. The host keeps the arrays. */
static dReal rock_planes[32] = {0};
static dReal rock_corners[18];
static unsigned rock_faces[] = {3, 0, 2, 4, 3, 2, 1, 4, 3, 1, 3, 4, 3, 3, 0, 4,
                                3, 2, 0, 5, 3, 1, 2, 5, 3, 3, 1, 5, 3, 0, 3, 5};

/* An octahedron of half-width `half`; all of a scene's are alike. */
static dBodyID rock(scene *s, double x, double y, double z, double half,
                    double mass, bool as_mesh) {
  static const int corners[6][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                    {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
  static const int signs[8][3] = {{1, 1, 1},    {-1, 1, 1}, {-1, -1, 1},
                                  {1, -1, 1},   {1, 1, -1}, {-1, 1, -1},
                                  {-1, -1, -1}, {1, -1, -1}};
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 3; k++) rock_corners[3 * i + k] = half * corners[i][k];
  for (int i = 0; i < 8; i++) {
    for (int k = 0; k < 3; k++) rock_planes[4 * i + k] = signs[i][k] / sqrt(3);
    rock_planes[4 * i + 3] = half / sqrt(3);
  }
  dBodyID body = scene_add_body(s, x, y, z);
  if (body == NULL) return NULL;
  dMass total;
  dMassSetSphereTotal(&total, mass, 0.7 * half);
  dBodySetMass(body, &total);
  dGeomID geom;
  if (as_mesh) {
    static dTriIndex triangles[24];
    for (int i = 0; i < 8; i++)
      for (int k = 0; k < 3; k++)
        triangles[3 * i + k] = rock_faces[4 * i + 1 + k];
    static double vertices[18];
    for (int i = 0; i < 18; i++) vertices[i] = rock_corners[i];
    dTriMeshDataID data = dGeomTriMeshDataCreate();
    dGeomTriMeshDataBuildDouble(data, vertices, 3 * sizeof(double), 6,
                                triangles, 24, 3 * sizeof(dTriIndex));
    geom = dCreateTriMesh(s->space, data, NULL, NULL, NULL);
  } else {
    geom = dCreateConvex(s->space, rock_planes, 8, rock_corners, 6, rock_faces);
  }
  dGeomSetBody(geom, body);
  return body;
}

/* Boxes, balls and capsules of many sizes let fall between four walls, or
 * rocks (ratio 1), or rocks as meshes (ratio 2); with a larger ratio their masses are
 * m->mass to so many times that, evenly in the logarithm. */
static scene *heap(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length, half = L * (m->size < 60 ? 1.5 : 2.2);
  uint64_t state = first_state(m);
  add_walls(s, half);
  for (int i = 0; i < m->size; i++) {
    double at[3], mass = m->mass;
    next_place(i, half, L, &state, at);
    double a = 0.4 + 0.4 * draw(&state), b = 0.4 + 0.4 * draw(&state),
           c = 0.4 + 0.4 * draw(&state);
    if (m->ratio > 2) mass *= pow(m->ratio, draw(&state));
    dBodyID body;
    if (m->ratio == 1 || m->ratio == 2)
      body = rock(s, at[0], at[1], at[2], 0.45 * L, mass, m->ratio > 1);
    else if (i % 3 == 0)
      body = box(s, at[0], at[1], at[2], a * L, b * L, c * L, mass);
    else if (i % 3 == 1)
      body = scene_add_sphere(s, at[0], at[1], at[2], 0.5 * a * L,
                              mass / (M_PI / 6 * pow(a * L, 3)));
    else
      body = capsule(s, at, 0.3 * a * L, 0.4 * L, mass, along_z);
    if (body == NULL) return finish(s, false);
    turn_at_random(body, &state);
  }
  return finish(s, true);
}

/* Balls of many sizes let fall between four walls, or (ratio 1) poured onto a bare
 * floor in a column of four. */
static scene *balls(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length, half = m->ratio > 0 ? 1.2 * L : 2.2 * L;
  uint64_t state = first_state(m);
  bool whole = true;
  if (m->ratio == 0) add_walls(s, half);
  for (int i = 0; i < m->size; i++) {
    double at[3];
    next_place(i, half, L, &state, at);
    double radius = L * (0.2 + 0.25 * draw(&state));
    whole &= scene_add_sphere(s, at[0], at[1], at[2], radius,
                              m->mass / (4.19 * pow(radius, 3))) != NULL;
  }
  return finish(s, whole);
}

/* Capsules let fall into a bowl of eight planes at 45 degrees. */
static scene *bowl(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length;
  uint64_t state = first_state(m);
  for (int side = 0; side < 8; side++)
    dCreatePlane(s->space, -cos(side * M_PI / 4), -sin(side * M_PI / 4), 1,
                 -1.5 * L);
  for (int i = 0; i < m->size; i++) {
    double at[3];
    next_place(i, 1.7 * L, L, &state, at);
    at[2] += 2 * L;
    dBodyID body = capsule(s, at, 0.2 * L, 0.4 * L, m->mass, along_z);
    if (body == NULL) return finish(s, false);
    turn_at_random(body, &state);
  }
  return finish(s, true);
}

/* A square net of balls with joints half way between neighbours. It falls over a
 * ball that does not move, or (ratio 1) hangs by its corners. */
static scene *net(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length, height = 3 * L, middle = 0.5 * L * (m->size - 1);
  bool hangs = m->ratio > 0;
  if (!hangs) {
    dGeomID rock = dCreateSphere(s->space, 2 * L);
    dGeomSetPosition(rock, middle + 0.3 * L, middle, 0.5 * L);
  }
  for (int i = 0; i < m->size * m->size; i++) {
    int column = i % m->size, row = i / m->size;
    double x = L * column, y = L * row, radius = 0.3 * L;
    dBodyID knot = scene_add_sphere(s, x, y, height, radius,
                                    m->mass / (4.19 * pow(radius, 3)));
    if (knot == NULL) return finish(s, false);
    if (column > 0) join(s, knot, s->bodies[i - 1], x - 0.5 * L, y, height);
    if (row > 0) join(s, knot, s->bodies[i - m->size], x, y - 0.5 * L, height);
    bool corner = column % (m->size - 1) == 0 && row % (m->size - 1) == 0;
    if (hangs && corner) join(s, knot, NULL, x, y, height);
  }
  return finish(s, true);
}

/* Ten rods of a body whose trunk weighs m->mass, at (x, y, z). */
static bool add_ragdoll(scene *s, double x, double y, double z, double L,
                        double mass) {
  dBodyID trunk = box(s, x, y, z, 0.3 * L, 0.2 * L, 0.5 * L, mass);
  dBodyID head = scene_add_sphere(s, x, y, z + 0.42 * L, 0.12 * L,
                                  0.25 * mass / (4.19 * pow(0.12 * L, 3)));
  if (trunk == NULL || head == NULL) return false;
  join(s, trunk, head, x, y, z + 0.3 * L);
  for (int side = -1; side <= 1; side += 2) {
    double arm = x + side * 0.35 * L, hand = x + side * 0.7 * L;
    double leg = x + side * 0.1 * L;
    const double upper_arm_at[3] = {arm, y, z + 0.2 * L};
    const double lower_arm_at[3] = {hand, y, z + 0.2 * L};
    const double upper_leg_at[3] = {leg, y, z - 0.5 * L};
    const double lower_leg_at[3] = {leg, y, z - 0.95 * L};
    const double elbow[3] = {x + side * 0.53 * L, y, z + 0.2 * L};
    const double knee[3] = {leg, y, z - 0.73 * L};
    dBodyID upper_arm =
        capsule(s, upper_arm_at, 0.06 * L, 0.2 * L, 0.15 * mass, along_x);
    dBodyID lower_arm =
        capsule(s, lower_arm_at, 0.05 * L, 0.2 * L, 0.1 * mass, along_x);
    dBodyID upper_leg =
        capsule(s, upper_leg_at, 0.08 * L, 0.25 * L, 0.25 * mass, along_z);
    dBodyID lower_leg =
        capsule(s, lower_leg_at, 0.06 * L, 0.25 * L, 0.18 * mass, along_z);
    if (upper_arm == NULL || lower_arm == NULL || upper_leg == NULL ||
        lower_leg == NULL)
      return false;
    join(s, trunk, upper_arm, x + side * 0.2 * L, y, z + 0.2 * L);
    hinge(s, upper_arm, lower_arm, elbow, along_y);
    join(s, trunk, upper_leg, leg, y, z - 0.28 * L);
    hinge(s, upper_leg, lower_leg, knee, along_x);
  }
  return true;
}

static scene *ragdolls(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  uint64_t state = first_state(m);
  double L = m->length;
  for (int k = 0; k < m->size; k++) {
    double x = L * (1.2 * (k % 3) + 0.2 * draw(&state));
    double y = L * (0.8 * (k / 3 % 3) + 0.2 * draw(&state));
    if (!add_ragdoll(s, x, y, L * (1.6 + 2.2 * (k / 9)), L, m->mass))
      return finish(s, false);
  }
  return finish(s, true);
}

/* A car of four wheels that drives over stones. */
static scene *rubble(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  uint64_t state = first_state(m);
  double L = m->length, radius = 0.35 * L;
  dBodyID chassis = box(s, 0, 0, 1.2 * radius, 2 * L, L, 0.3 * L, m->mass);
  if (chassis == NULL) return finish(s, false);
  for (int i = 0; i < 4; i++) {
    double x = (i & 1 ? 0.7 : -0.7) * L, y = (i & 2 ? 0.65 : -0.65) * L;
    dBodyID wheel = scene_add_sphere(s, x, y, 1.02 * radius, radius, 1000);
    if (wheel == NULL) return finish(s, false);
    dMass total;
    dMassSetSphereTotal(&total, 0.05 * m->mass, radius);
    dBodySetMass(wheel, &total);
    dJointID joint = dJointCreateHinge(s->world, 0);
    dJointAttach(joint, chassis, wheel);
    dJointSetHingeAnchor(joint, x, y, 1.02 * radius);
    dJointSetHingeAxis(joint, 0, 1, 0);
    dJointSetHingeParam(joint, dParamVel, -4);
    dJointSetHingeParam(joint, dParamFMax, 2 * m->mass * L);
  }
  for (int i = 0; i < m->size; i++) {
    double a = L * (0.1 + 0.15 * draw(&state));
    dBodyID stone =
        box(s, L * (1.6 + 2.5 * draw(&state)), L * (2 * draw(&state) - 1),
            0.3 * L * (1 + i / 8), a, a, 0.6 * a, 0.01 * m->mass);
    if (stone == NULL) return finish(s, false);
    turn_at_random(stone, &state);
  }
  return finish(s, true);
}

/* Fingers on sliders that hold a column of cubes by its sides. */
static scene *grasp(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length, weight = 9.81 * m->mass * m->size;
  double force = m->ratio * 0.5 * weight / m->friction;
  bool whole = true;
  for (int i = 0; i < m->size; i++)
    whole &= box(s, L * i, 0, 5 * L, L, L, L, m->mass) != NULL;
  for (int side = 0; side < 2 && whole; side++) {
    double sign = side == 0 ? -1 : 1;
    double middle = 0.5 * L * (m->size - 1);
    dBodyID finger = box(s, middle + sign * 0.5 * L * (m->size + 0.2), 0, 5 * L,
                         0.2 * L, 0.8 * L, 0.8 * L, 0.3 * m->mass);
    if (finger == NULL) return finish(s, false);
    dJointID slider = dJointCreateSlider(s->world, 0);
    dJointAttach(slider, finger, NULL);
    dJointSetSliderAxis(slider, 1, 0, 0);
    dJointSetSliderParam(slider, dParamVel, -sign * 1);
    dJointSetSliderParam(slider, dParamFMax, force);
  }
  return finish(s, whole);
}

/* Holds a hinge where it is, or turns it, with so much torque at most. */
static dJointID motor(scene *s, dBodyID one, dBodyID two, double x, double z,
                      double speed, double torque) {
  dJointID joint = dJointCreateHinge(s->world, 0);
  dJointAttach(joint, one, two);
  dJointSetHingeAnchor(joint, x, 0, z);
  dJointSetHingeAxis(joint, 0, 1, 0);
  dJointSetHingeParam(joint, dParamVel, speed);
  dJointSetHingeParam(joint, dParamFMax, torque);
  return joint;
}

/* An arm of motors whose gripper has a cube between two fingers, lifting it. */
static scene *robot(const family_member *m) {
  scene *s = start(m);
  if (s == NULL) return NULL;
  double L = m->length, side = 0.3 * L, height = 3 * L, load = 0.3 * m->mass;
  double lever = L * (m->size + 0.5),
         weight = 9.81 * (m->mass * m->size + load);
  double end = L * m->size + 0.6 * side;
  dBodyID last = NULL;
  for (int i = 0; i < m->size; i++) {
    const double at[3] = {L * (i + 0.5), 0, height};
    dBodyID link = capsule(s, at, 0.1 * L, 0.8 * L, m->mass, along_x);
    if (link == NULL) return finish(s, false);
    motor(s, link, last, L * i, height, i == 0 ? -0.2 : 0, 3 * weight * lever);
    last = link;
  }
  bool whole = box(s, end, 0, height, side, side, side, load) != NULL;
  for (int k = -1; k <= 1 && whole; k += 2) {
    dBodyID finger = box(s, end, 0.6 * side * k, height, side, 0.2 * side, side,
                         0.1 * m->mass);
    if (finger == NULL) return finish(s, false);
    dJointID slider = dJointCreateSlider(s->world, 0);
    dJointAttach(slider, finger, last);
    dJointSetSliderAxis(slider, 0, 1, 0);
    dJointSetSliderParam(slider, dParamVel, -k);
    dJointSetSliderParam(slider, dParamFMax,
                         m->ratio * 0.5 * 9.81 * load / m->friction);
  }
  return finish(s, whole);
}

/* ---- the list ---------------------------------------------------------------- */

#define ENDS                                                                   \
  { .family = NULL }

/* family, name, build, size, mass, length, friction, h, ratio, seed, steps,
 * settles */
const family_member family_members[] = {
    {"wall", "210 of 1 t", wall, 20, 1000, 1, 0.5, 0.01, 0, 0, 80, 0},
    {"wall", "210 of 1 kg", wall, 20, 1, 1, 0.5, 0.01, 0, 0, 80, 0},
    {"wall", "210 of 10 g", wall, 20, 0.01, 1, 0.5, 0.01, 0, 0, 80, 0},
    {"wall", "210 of 100 t", wall, 20, 1e5, 10, 0.5, 0.01, 0, 0, 80, 0},
    {"wall", "55 of 1 cm", wall, 10, 0.01, 0.01, 0.5, 0.002, 0, 0, 120, 0},
    {"wall", "55 of 10 kg, 50 ms", wall, 10, 10, 1, 0.7, 0.05, 0, 0, 120, 0},
    {"wall", "55, slippery, 30 ms", wall, 10, 5, 0.3, 0.1, 0.03, 0, 0, 120, 0},
    {"bricks", "91 of 1 kg", bricks, 13, 1, 1, 0.5, 0.01, 0, 0, 120, 0},
    {"bricks", "210 of 20 g", bricks, 20, 0.02, 0.1, 0.8, 0.005, 0, 0, 60, 0},
    {"bond", "25 of 1 kg", bond, 5, 1, 1, 0.5, 0.01, 0, 0, 200, 0},
    {"bond", "100 of 1 kg", bond, 10, 1, 1, 0.5, 0.01, 0, 0, 150, 0},
    {"bond", "100 of 3 t", bond, 10, 3000, 1, 0.7, 0.005, 0, 0, 150, 0},
    {"bond", "225 of 1 kg", bond, 15, 1, 1, 0.5, 0.01, 0, 0, 60, 0},
    {"brickwall", "136 of 20 kg", brickwall, 16, 20, 0.25, 0.6, 0.01, 0, 0, 100,
     0},
    {"brickwall", "78 of 3 t", brickwall, 12, 3000, 2, 0.5, 0.01, 0, 0, 100, 0},
    {"hitwall", "136 of 1 kg", hitwall, 16, 1, 1, 0.5, 0.01, 10, 0, 120, 0},
    {"hitwall", "78 of 20 kg", hitwall, 12, 20, 0.3, 0.6, 0.005, 5, 0, 120, 0},
    {"piston", "136 of 1 kg", piston, 16, 1, 1, 0.5, 0.01, 1, 0, 120, 0},
    {"piston", "36 of 20 kg", piston, 8, 20, 0.3, 0.6, 0.005, 2, 0, 120, 0},
    {"pyramid", "91 of 1 kg", pyramid, 6, 1, 1, 0.5, 0.01, 0, 0, 100, 0},
    {"pyramid", "91 of 50 g", pyramid, 6, 0.05, 0.1, 0.3, 0.002, 0, 0, 100, 0},
    {"tower", "8, 1e6 to 1", tower, 8, 1, 0.5, 0.5, 0.01, 1e6, 0, 200, 0},
    {"tower", "20, 1000 to 1", tower, 20, 0.1, 0.2, 0.5, 0.01, 1e3, 0, 200, 0},
    {"tower", "8, 1 to 1e4", tower, 8, 100, 1, 0.9, 0.002, 1e-4, 0, 200, 0},
    {"kapla", "102 of 10 kg", kapla, 6, 10, 1, 0.8, 0.01, 0, 0, 100, 0},
    {"kapla", "51 of 50 g", kapla, 3, 0.05, 1, 0.8, 0.01, 0, 0, 100, 0},
    {"slabs", "60 of 2 t", slabs, 20, 2000, 3, 0.6, 0.01, 0, 0, 100, 0},
    {"slabs", "54 of 18 g", slabs, 18, 0.018, 0.075, 0.4, 0.005, 0, 0, 150, 0},
    {"drums", "28 of 200 kg", drums, 7, 200, 1, 0.5, 0.02, 0, 0, 100, 0},
    {"drums", "28 of 50 g", drums, 7, 0.05, 0.05, 0.3, 0.001, 0, 0, 200, 0},
    {"arch", "9 of 20 kg", arch, 9, 20, 0.4, 1, 0.01, 0, 0, 200, 0},
    {"arch", "25 of 200 kg", arch, 25, 200, 1, 1.5, 0.005, 0, 0, 150, 0},
    {"ring", "96 of 1 kg", ring, 8, 1, 1, 0.5, 0.01, 0, 0, 120, 0},
    {"ring", "96 of 10 t", ring, 8, 1e4, 2, 0.8, 0.005, 0, 0, 120, 0},
    {"ring", "60 of 20 g", ring, 5, 0.02, 0.05, 0.4, 0.002, 0, 0, 120, 0},
    {"tiles", "32 of 1 kg", tiles, 4, 1, 1, 0.5, 0.01, 0, 0, 150, 0},
    {"tiles", "72 of 10 g", tiles, 6, 0.01, 0.05, 0.3, 0.002, 0, 0, 150, 0},
    {"tray", "100 of 1 kg", tray, 10, 1, 1, 0.5, 0.01, 50, 0, 60, 0},
    {"tray", "900 of 1 kg", tray, 30, 1, 1, 0.5, 0.01, 500, 0, 20, 0},
    {"bridge", "16 of 4 kg", bridge, 16, 4, 0.3, 0.6, 0.01, 5, 0, 200, 0},
    {"bridge", "30 of 100 kg", bridge, 30, 100, 1, 0.5, 0.005, 1, 0, 150, 0},
    {"parked", "4 of 1 t", parked, 4, 1000, 2, 0.8, 0.01, 0, 0, 150, 0},
    {"parked", "12 of 500 g", parked, 12, 0.5, 0.1, 0.6, 0.005, 0, 0, 150, 0},
    {"cards", "3 storeys of 2 g", cards, 3, 0.002, 0.09, 0.6, 0.002, 0, 0, 200,
     0},
    {"cards", "4 storeys of 1 kg", cards, 4, 1, 1, 0.8, 0.01, 0, 0, 150, 0},
    {"logs", "23 of 100 kg", logs, 5, 100, 2, 0.5, 0.01, 0, 0, 150, 0},
    {"logs", "68 of 1 kg", logs, 8, 1, 1, 0.9, 0.02, 0, 0, 100, 0},
    {"dominoes", "30 of 20 g", dominoes, 30, 0.02, 0.1, 0.4, 0.002, 0, 0, 400,
     0},
    {"dominoes", "30 of 50 kg", dominoes, 30, 50, 1, 0.3, 0.01, 0, 0, 300, 0},
    {"cable", "100 lying", cable, 100, 0.1, 0.3, 0.5, 0.01, 0, 0, 150, 0},
    {"cable", "60 over a rod", cable, 60, 0.02, 0.1, 0.6, 0.005, 1, 0, 300, 0},
    {"heap", "40 of 1 kg", heap, 40, 1, 1, 0.5, 0.01, 0, 1, 200, 100},
    {"heap", "150 of 1 kg", heap, 150, 1, 1, 0.5, 0.01, 0, 1, 150, 150},
    {"heap", "150 of 10 t", heap, 150, 1e4, 10, 0.8, 0.02, 0, 2, 100, 300},
    {"heap", "60 of 5 g", heap, 60, 0.005, 0.05, 0.3, 0.002, 0, 3, 150, 150},
    {"heap", "60, mu 1e5", heap, 60, 1, 1, 1e5, 0.01, 0, 4, 100, 100},
    {"heap", "16, lying still", heap, 16, 5, 1, 0.6, 0.01, 0, 11, 150, -1000},
    {"heap", "150, 1 ms", heap, 150, 20, 1, 0.5, 0.001, 0, 12, 150, 1500},
    {"heap", "40, 50 ms", heap, 40, 20, 2, 0.5, 0.05, 0, 13, 100, 40},
    {"balls", "200 of 1 kg", balls, 200, 1, 1, 0.5, 0.01, 0, 14, 150, 150},
    {"balls", "100 of 20 g", balls, 100, 0.02, 0.1, 0.3, 0.003, 0, 15, 150,
     150},
    {"balls", "100 of 1 kg, poured", balls, 100, 1, 1, 0.5, 0.01, 1, 16, 150,
     150},
    {"bin", "60, 1 to 1e5", heap, 60, 0.01, 1, 0.5, 0.01, 1e5, 17, 150, 150},
    {"bowl", "40 of 1 kg", bowl, 40, 1, 1, 0.5, 0.01, 0, 18, 150, 150},
    {"net", "225 over a ball", net, 15, 0.1, 0.3, 0.5, 0.01, 0, 0, 150, 0},
    {"net", "100 by its corners", net, 10, 2, 1, 0.5, 0.005, 1, 0, 150, 0},
    {"rocks", "60 convex", heap, 60, 2, 0.5, 0.6, 0.01, 1, 5, 150, 100},
    {"rocks", "30 meshes", heap, 30, 2, 0.5, 0.6, 0.01, 2, 6, 150, 100},
    {"ragdolls", "10 of 4 kg", ragdolls, 10, 4, 1, 0.5, 0.01, 0, 7, 200, 100},
    {"ragdolls", "30 of 4 kg", ragdolls, 30, 4, 1, 0.5, 0.01, 0, 8, 150, 150},
    {"ragdolls", "10 of 40 g", ragdolls, 10, 0.04, 0.2, 1, 0.005, 0, 9, 150,
     100},
    {"rubble", "40 stones", rubble, 40, 1000, 1, 0.8, 0.01, 0, 10, 200, 50},
    {"grasp", "1 cube", grasp, 1, 1, 0.1, 0.5, 0.01, 1.5, 0, 150, 0},
    {"grasp", "6 in a row", grasp, 6, 0.1, 0.05, 0.7, 0.005, 2, 0, 150, 0},
    {"robot", "3 links of 4 kg", robot, 3, 4, 0.3, 0.6, 0.01, 3, 0, 150, 0},
    {"robot", "6 links of 100 kg", robot, 6, 100, 1, 0.4, 0.004, 5, 0, 150, 0},
    ENDS};

/* ---- members drawn ------------------------------------------------------------- */

/* Between the two, evenly in its logarithm. */
static double draw_size(uint64_t *state, double least, double most) {
  return least * pow(most / least, draw(state));
}

void family_draw(const family_member *like, unsigned seed, family_member *drawn,
                 char *name, size_t size) {
  uint64_t state = first_state(like) + 104729ULL * seed;
  for (const char *c = like->name; *c != '\0'; c++) state = 31 * state + *c;
  for (int i = 0; i < 10; i++) draw(&state); // neighbouring seeds come apart
  *drawn = *like;
  drawn->mass = draw_size(&state, 0.01, 1e5);
  drawn->length = draw_size(&state, 0.01, 10);
  drawn->friction = draw_size(&state, 0.1, 2);
  drawn->step_size = draw_size(&state, 1e-3, 0.05);
  drawn->seed = like->seed + seed;
  drawn->name = name;
  snprintf(name, size, "like '%s': %.2g kg, %.2g m, mu %.2g, %.2g ms",
           like->name, drawn->mass, drawn->length, drawn->friction,
           1e3 * drawn->step_size);
}
