/* Signed distances between pairs of shapes, as plain arrays.
 *
 * The signed gap of two convex shapes A and B is
 *
 *   Phi = max over unit n of s(n),
 *   s(n) = min over a in A of n.a  -  max over b in B of n.b
 *
 * the distance where they are apart, minus the least depth where they overlap.
 * Every s(n) is a lower bound of Phi, and every pair of points of two shapes
 * that are apart gives an upper bound: the two together are the certificate.
 *
 * Nothing here knows the host; gap_ode.h turns geoms into shapes.
 */
#ifndef ODE_MLCP_GAP_GAP_H
#define ODE_MLCP_GAP_GAP_H

#include <stddef.h>
#include <stdint.h>

#include "common/memory.h"
#include "gap/gap_hull.h"

typedef enum gap_kind {
  GAP_SPHERE,
  GAP_BOX,
  GAP_CAPSULE,  /* along its own z axis */
  GAP_CYLINDER, /* along its own z axis */
  GAP_PLANE,    /* a half-space, solid below the plane */
  GAP_CONVEX,
  GAP_TRIANGLE, /* flat, both sides alike */
  GAP_ELLIPSOID
} gap_kind;

/** A shape in the world. Lengths in metres. */
typedef struct gap_shape {
  gap_kind kind;
  double position[3];
  double rotation[9]; /* row-major, body to world; orthonormal */

  /* sphere: radius; box: full side lengths; capsule, cylinder: radius, length
   * (a capsule's without its caps); ellipsoid: semi-axes */
  double size[3];

  /* plane, in world coordinates: normal.x = offset, |normal| = 1; position
   * and rotation are not read */
  double normal[3], offset;

  const gap_hull *hull; /* convex: borrowed, in body coordinates */
  double corners[3][3]; /* triangle, in body coordinates; it has area */
} gap_shape;

typedef enum gap_status {
  GAP_OK = 0,
  GAP_BAD_POSE = -1, /* not finite, or no rotation */
  GAP_BAD_SIZE = -2, /* a size that is zero, negative or not finite */
  GAP_BAD_HULL = -3, /* a convex that is flat, open or not convex */
  GAP_NO_MEMORY = -4,
  GAP_BAD_CLASS = -5, /* a geom of a class without a gap (ray, space) */
  GAP_BAD_MESH = -6   /* a mesh or height field that cannot be used */
} gap_status;

/** The two features that meet: a corner, edge or face and its
 *  number, unique within its shape and the same from query to query. */
typedef uint32_t gap_feature;

enum { GAP_FEATURE_NUMBER_BITS = 28 };

enum {
  GAP_CORNER = 1, /* also a fixed point of a cylinder's rim */
  GAP_EDGE = 2,   /* also a capsule's axis, a cylinder's side */
  GAP_FACE = 3,   /* also a cylinder's cap, a plane */
  GAP_SURFACE = 4 /* a point that wanders over a curved surface */
};

static inline gap_feature gap_feature_make(unsigned type, unsigned number) {
  return (gap_feature)type << GAP_FEATURE_NUMBER_BITS | number;
}

static inline unsigned gap_feature_type(gap_feature feature) {
  return feature >> GAP_FEATURE_NUMBER_BITS;
}

/** One point that touches or may touch. */
typedef struct gap_contact {
  double gap;         /* [m] signed, along the normal; negative: overlap */
  double normal[3];   /* unit, into the first shape */
  double point[3];    /* [m] world, half-way between the two surfaces */
  double certificate; /* [m] >= 0: how far `gap` of the deepest may be off */
  gap_feature feature[2];
  int32_t triangle[2]; /* its number in a mesh, else -1 */
} gap_contact;

enum {
  /* keep what spans a patch, see gap_reduce() */
  GAP_REDUCE = 1,
  /* of meshes: the nearest GAP_NEAREST_ROOM at most, and nothing further is looked at */
  GAP_NEAREST = 2
};

enum { GAP_NEAREST_ROOM = 32 };

/** The most contacts one pair of convex shapes gives. */
enum { GAP_PAIR_ROOM = 64 };

/** Memory kept between queries; one a thread. Starts as {.pool = pool}, whose it is. */
typedef struct gap_scratch {
  memory_pool *pool;
  double (*corners[2])[3];       /* of convex shapes, turned into the world */
  gap_contact *contacts;         /* [GAP_PAIR_ROOM] of a pair */
  struct gap_polytope *polytope; /* of gap_expand() */
} gap_scratch;

/** NULL, or why a shape cannot be used; `*status` gets the code. */
const char *gap_shape_fault(const gap_shape *shape, gap_status *status);

/**
 * The signed gap of two convex shapes, or of one and a plane, and the patch in
 * which they touch or may touch.
 *
 * The first contact is the deepest, and its gap is the pair's Phi. Others come
 * where faces, edges or caps are parallel or nearly so. Two planes give none.
 *
 * @param margin  [m] contacts with gap <= margin are given; may be infinite.
 * @param flags   0 or GAP_REDUCE.
 * @param contacts [room] out; contacts beyond `room` are left out, those that
 *                span least first.
 * @return number of contacts, or GAP_NO_MEMORY (nothing written). The shapes
 *         are taken to have passed gap_shape_fault().
 */
int gap_pair(gap_scratch *scratch, const gap_shape *a, const gap_shape *b,
             double margin, int flags, gap_contact contacts[], int room);

enum { GAP_REDUCED_ROOM = 5 };

/**
 * Thin a patch out: the deepest contact first, then the furthest from it, the
 * furthest from that one and, seen along the normal, the furthest to each side of
 * the last two; then others while there is room. Kept contacts stay as they are.
 *
 * @param keep  at most GAP_REDUCED_ROOM to have only what spans the patch.
 * @return how many are left, at most `keep`.
 */
int gap_reduce(gap_contact contacts[], int count, int keep);

#endif
