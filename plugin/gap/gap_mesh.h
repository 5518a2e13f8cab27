/* Contacts of a convex core on a surface of triangles, and the tree that finds
 * the triangles near a shape. */
#ifndef ODE_MLCP_GAP_GAP_MESH_H
#define ODE_MLCP_GAP_GAP_MESH_H

#include <stdbool.h>
#include <stdint.h>

#include "gap/gap_core.h"

/** A triangle of a surface. Its front is where it is seen counterclockwise;
 *  nothing is touched from behind. */
typedef struct gap_triangle {
  double corners[3][3];
  double normal[3]; /* unit, of the front */
  int32_t number;
} gap_triangle;

/** Boxes of triangles in a tree. Starts zeroed. */
typedef struct gap_tree {
  struct gap_tree_node *nodes;
  int32_t *order;
  double (*boxes)[6]; /* min x y z, max x y z */
  int n_triangles;
} gap_tree;

/** Room in a tree for so many boxes. @return false where memory runs out. */
bool gap_tree_reserve(gap_tree *tree, memory_pool *pool, int count);

/** Build the tree of the boxes that were put there. */
void gap_tree_build(gap_tree *tree, int count);

/** A surface, or the part of one that matters. */
typedef struct gap_surface {
  const gap_triangle *triangles; /* in ascending order of their numbers */
  const gap_tree *tree;          /* of their boxes */
  int32_t *around;               /* [in the tree] scratch */
} gap_surface;

/** The core of a triangle, in its coordinates. */
void gap_triangle_place(gap_core *core, const gap_triangle *triangle);

/** Contacts of several triangles. */
typedef struct gap_contact_list {
  memory_pool *pool;
  gap_contact *contacts; /* the pool's */
  int count;
  bool failed;   /* memory ran out */
  double margin; /* [m] on gaps: shrinks where the nearest few will do */
  int enough;    /* so many; 0: all are asked for */
  bool
      from_nearest; /* else triangles are met by number, and ties go to the first */
  double nearest[GAP_NEAREST_ROOM]; /* [enough] ascending, at first `margin` */
  double compared; /* triangles that cores were compared with */
} gap_contact_list;

/** A triangle by its index. */
typedef struct gap_near {
  double apart; /* m: its box from another; 0 where they are met by number */
  int32_t index;
} gap_near;

/**
 * Add the contacts of a core or half-space (first shape) on a surface (second).
 *
 * Edges and corners between triangles give only what they would give on the
 * whole surface: a box that slides over a flat floor of triangles meets no
 * edges.
 *
 * @param surface  all triangles that are within the margin of the core, in the core's
 *                 coordinates.
 * @param near [n_near] those that may have contacts; the others are neighbours alone. It
 *             ends with the first whose box is further than the list's margin.
 */
void gap_mesh_meet(const gap_core *core, const gap_surface *surface,
                   const gap_near near[], int n_near, gap_contact_list *list);

/** Drop contacts that repeat one of another triangle, and write the others to
 *  `contacts`, the deepest first. With GAP_REDUCE, or where room for all is short, those
 *  of one normal are thinned out together. Where the nearest are enough, the list's margin
 *  is afterwards what no other contact is below.
 *  @param tree  is built anew, and `found` [the list's count] written over.
 *  @return their number, or -1 where memory runs out. */
int gap_mesh_finish(gap_contact_list *list, gap_tree *tree, int32_t **found,
                    double scale, int flags, gap_contact contacts[], int room);

/** The box around all; NULL of none. */
const double *gap_tree_whole(const gap_tree *tree);

/** @param found [of all in the tree] out: numbers of those whose boxes meet `box`,
 *               ascending.
 *  @return their count. */
int gap_tree_find(const gap_tree *tree, const double box[6], int32_t found[]);

#endif
