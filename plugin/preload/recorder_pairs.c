#include "preload/recorder_pairs.h"

#include <math.h>
#include <stddef.h>

/* A hash space puts a geom into a table, once for each cell of its level that its
 * bounding box is in. Along z, releases count on from the place of the lowest cell,
 *
 *     place(z) = (address(x, y) + lowest) mod n + z - lowest    (again mod n)
 *
 * in unsigned numbers. Between two geoms with different lowest cells that is the same
 * place for the same cell, but where one sum is below zero, and wraps around, and the
 * other is not. They are found if any cell that both are in has one place. */

enum { X, Y, Z };

static _Thread_local dSpaceID space;
static _Thread_local unsigned long table_size; /* of that space; 0: not known */
static int64_t n_lost;

dSpaceID recorder_pairs_of(dSpaceID next) {
  dSpaceID before = space;
  space = next != NULL && dGeomGetClass((dGeomID)next) == dHashSpaceClass
              ? next
              : NULL;
  table_size = 0;
  return before;
}

static int level_of(const dReal box[6], int least) {
  int level;
  frexp(fmax(box[1] - box[0], fmax(box[3] - box[2], box[5] - box[4])), &level);
  return level < least ? least : level;
}

/* False for planes and what else has no bounds. */
static bool read_box(dGeomID geom, dReal box[6]) {
  dGeomGetAABB(geom, box);
  for (int i = 0; i < 6; i++)
    if (!(fabs(box[i]) < dInfinity)) return false;
  return true;
}

static bool is_prime(unsigned long n) {
  for (unsigned long k = 2; k * k <= n; k++)
    if (n % k == 0) return false;
  return true;
}

/* The first of the largest primes below powers of two that has eight places for each
 * geom in the table. */
static unsigned long size_of_table(int least, int most) {
  unsigned long n = 0, power = 8, prime;
  const int count = dSpaceGetNumGeoms(space);
  for (int i = 0; i < count; i++) {
    dGeomID geom = dSpaceGetGeom(space, i);
    dReal box[6];
    n += dGeomIsEnabled(geom) && read_box(geom, box) &&
         level_of(box, least) <= most;
  }
  do {
    power *= 2;
    for (prime = power - 1; !is_prime(prime);) prime--;
  } while (prime < 8 * n);
  return prime;
}

/* The cells of this level that a box is in, by the cells of its own. */
static void cells_of(const dReal box[6], int own, int level, int cells[3][2]) {
  const double recip = 1 / ldexp(1, own);
  for (int axis = 0; axis < 3; axis++)
    for (int end = 0; end < 2; end++)
      cells[axis][end] =
          (int)floor(box[2 * axis + end] * recip) >> (level - own);
}

static unsigned long place_of(int level, int x, int y, int z, int lowest) {
  const unsigned long address = (unsigned)level * 1000ul + (unsigned)x * 100ul +
                                (unsigned)y * 10ul + (unsigned long)lowest;
  return (address % table_size + (unsigned long)(z - lowest)) % table_size;
}

static bool share_a_place(const int a[3][2], const int b[3][2], int level) {
  for (int x = a[X][0] > b[X][0] ? a[X][0] : b[X][0];
       x <= a[X][1] && x <= b[X][1]; x++)
    for (int y = a[Y][0] > b[Y][0] ? a[Y][0] : b[Y][0];
         y <= a[Y][1] && y <= b[Y][1]; y++)
      for (int z = a[Z][0] > b[Z][0] ? a[Z][0] : b[Z][0];
           z <= a[Z][1] && z <= b[Z][1]; z++)
        if (place_of(level, x, y, z, a[Z][0]) ==
            place_of(level, x, y, z, b[Z][0]))
          return true;
  return false;
}

bool recorder_pairs_are_lost(dGeomID one, dGeomID other) {
  dReal box[2][6];
  if (space == NULL || dGeomGetSpace(one) != space ||
      dGeomGetSpace(other) != space || !read_box(one, box[0]) ||
      !read_box(other, box[1]))
    return false;
  // no sum wraps around
  if (box[0][4] >= 0 && box[1][4] >= 0) return false;
  int least, most;
  dHashSpaceGetLevels(space, &least, &most);
  const int own[2] = {level_of(box[0], least), level_of(box[1], least)};
  const int level = own[0] > own[1] ? own[0] : own[1];
  if (level > most) return false;
  int cells[2][3][2];
  for (int i = 0; i < 2; i++) cells_of(box[i], own[i], level, cells[i]);
  if (cells[0][Z][0] == cells[1][Z][0]) return false;
  if (table_size == 0) table_size = size_of_table(least, most);
  return !share_a_place(cells[0], cells[1], level);
}

void recorder_pairs_count(void) { n_lost++; }
int64_t recorder_pairs_lost(void) { return n_lost; }
