/* Families of problems: the same structure at other masses, sizes, friction
 * and steps, so that nothing can be made right for one of them alone.
 *
 *   for (const family_member *m = family_members; m->family != NULL; m++) {
 *     scene *scene = m->build(m);
 *     ..
 *     scene_destroy(scene);
 *   }
 *
 * A member is built the same way every time. Needs the host library.
 */
#ifndef ODE_MLCP_BENCH_FAMILIES_H
#define ODE_MLCP_BENCH_FAMILIES_H

#include <stddef.h>

#include "../demos/scenes/scene.h"

typedef struct family_member family_member;
struct family_member {
  const char *family; /* "bond"; NULL ends the list */
  const char *name;   /* "100 bricks of 1 g" */
  /** NULL where memory runs out. */
  scene *(*build)(const family_member *member);
  int size;         /* bodies, rows, links: what the structure counts */
  double mass;      /* kg, of a usual body */
  double length;    /* m, of a usual body */
  double friction;  /* coefficient */
  double step_size; /* s */
  double ratio;     /* heavy over light, where there are both; a shape's number;
                       else 0 */
  unsigned seed;
  int steps;   /* to be measured */
  int settles; /* steps before them, by the host's own QuickStep; < 0: so many
                  by ours: QuickStep creeps for ever */
};

extern const family_member family_members[];

/**
 * A member that nothing was tried on: built like `like`, its mass (0.01 to
 * 1e5 kg), size (0.01 to 10 m), friction (0.1 to 2) and step (1 to 50 ms) drawn
 * evenly in their logarithms, the same for a seed on every machine.
 *
 * @param drawn  out: its name is `name`, [size] characters of the caller's
 */
void family_draw(const family_member *like, unsigned seed, family_member *drawn,
                 char *name, size_t size);

#endif
