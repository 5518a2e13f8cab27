/* Forces beside the host's: springs, dampers and functions of the program's.
 *
 * Both are taken implicitly. A force of one body has Jacobians k_q and k_v that enter its
 * block of M~; a spring between two bodies would couple them, and is a row instead
 * (docs/formulation.md, eq. 23), positive for every step size, stiffness and damping.
 */
#ifndef ODE_MLCP_SCHEMES_FORCES_H
#define ODE_MLCP_SCHEMES_FORCES_H

#include "assembly/assembly.h"

/** All of a world, in order of creation; starts as {0}. */
typedef struct force_list {
  ode_mlcp_force *first;
  ode_mlcp_force *gone; /* their bodies are: they act on nothing any more */
  int n_springs;
  bool held; /* a step is under way: what is destroyed acts until its end */
} force_list;

/** Let go of the forces whose bodies were destroyed: another body may stand at the
 *  same address by now.
 *  @return false where memory ran out. */
bool forces_drop_gone(force_list *list, const memory_source *source,
                      dWorldID world);

/** Hold all forces for a step, and let go of them at its end. */
void forces_hold(force_list *list);
void forces_let_go(force_list *list);

/** Add a spring of `world`; errors as ode_mlcp_spring_create's. */
ode_mlcp_error forces_add_spring(force_list *list, const memory_source *source,
                                 dWorldID world, const ode_mlcp_spring *spring,
                                 ode_mlcp_force **force);

/** Add a function that acts on a body. */
ode_mlcp_error forces_add_function(force_list *list,
                                   const memory_source *source, dBodyID body,
                                   ode_mlcp_force_function *f, void *context,
                                   ode_mlcp_force **force);

/** Unite the bodies that springs tie together. @param set  [home->n_bodies] */
void forces_unite(const force_list *forces, const world_snapshot *home,
                  int set[]);

/**
 * Forces at given poses and velocities.
 *
 * @param home      the bodies of the step
 * @param poses, v  [n_bodies], [6 n_bodies] *
 * @param force     [6 n_bodies] N, N m: added to
 * @param k_q, k_v  [36 n_bodies] Jacobians of the program's functions: added
 *                  to; or both NULL
 * @return false with out->message where a force is not finite.
 */
bool forces_add(const force_list *forces, const world_snapshot *home,
                double time, const world_pose poses[], const double v[],
                double force[], double k_q[], double k_v[], outcome *out);

/** A step, as springs see it. */
typedef struct spring_step {
  double time, h; /* s */
  const world_pose *from,
      *to;         /* [n_bodies] NULL: as the host has them; and where they
                                  come to */
  const double *v; /* [6 n_bodies] at its start */
  double alpha;    /* of the end in the mean velocity of the step, */
  double share;    /* and in the velocities that rows are for */
} spring_step;

/**
 * Springs and dampers as rows (23): g'u h, u the mean velocity of the step, is exactly how
 * much longer a spring gets where bodies turn by Cayley's map, so that its energy is what
 * is put into it.
 *
 * @param rows      [forces->n_springs] out
 * @param end_rows  of springs that are fast for the step: rows on the velocity at
 *                  its end, softer the slower they are (45); *n_end of them; n_end NULL:
 *                  none
 * @return how many rows, or -1 with out->message where a force is not finite.
 */
int forces_rows(const force_list *forces, const world_snapshot *home,
                const spring_step *over, extra_row rows[], outcome *out,
                extra_row end_rows[], int *n_end);

/**
 * Mark the bodies on which a spring or damper acts whose own time is no longer than h. A
 * trapezoid of 2 h keeps such forces stable, but velocities alternate from step to step:
 * there is nothing to be found between the ends of a step.
 *
 * @param stiff  [n_bodies] out
 */
void forces_find_stiff(const force_list *forces, const world_snapshot *home,
                       double h, bool stiff[]);

/** Energy of the springs where the bodies are, J. */
double forces_energy(const force_list *forces, double time);

/** Power of the program's functions where the bodies are, W. */
double forces_power(const force_list *forces, double time);

void forces_release(force_list *forces);

#endif
