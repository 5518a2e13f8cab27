/* Forces beside the host's: springs, dampers and functions of the program's.
 *
 * Both are taken implicitly: k_q and k_v enter M~. A force of one body is a
 * block of its own there; a spring between two bodies would couple them, and is
 * a row instead,
 *
 *   g'(v+ - v) + s / c = 0,   c = cq gamma + cv delta                  (24)
 *
 * whose impulse s is what -c g g'(v+ - v) does: positive for every h, gamma and
 * delta (PAGT 10.12-10.14). The forces at the start and the end of the step,
 * which go into k~, are the true ones.
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
 * @param springs   true: of springs and dampers, too
 * @param force     [6 n_bodies] N, N m: added to
 * @param k_q, k_v  [36 n_bodies] Jacobians of the program's functions: added
 *                  to; or both NULL
 * @return false with out->message where a force is not finite.
 */
bool forces_add(const force_list *forces, const world_snapshot *home,
                double time, const world_pose poses[], const double v[],
                bool springs, double force[], double k_q[], double k_v[],
                outcome *out);

/**
 * Springs and dampers over a step between two poses, as rows on its mean
 * velocity u (40): g'u h is exactly how much longer a spring gets, so that its
 * energy is what is put into it.
 *
 * @param from, to  [n_bodies] where the bodies are, and where they come to
 * @param rows      [forces->n_springs] out
 * @param end_rows  of springs that are fast for the step: rows on the velocity at
 *                  its end, softer the slower they are (45); *n_end of them
 * @return how many rows.
 */
int forces_mean_rows(const force_list *forces, const world_snapshot *home,
                     double time, double h, const world_pose from[],
                     const world_pose to[], extra_row rows[],
                     extra_row end_rows[], int *n_end);

/**
 * The rows (24) of springs and dampers at given poses.
 *
 * @param v       [6 n_bodies] at the step's start
 * @param cq, cv  what c takes of stiffness (s^2) and damping (s)
 * @param rows    [forces->n_springs] out
 * @return how many.
 */
int forces_rows(const force_list *forces, const world_snapshot *home,
                const world_pose poses[], const double v[], double cq,
                double cv, extra_row rows[]);

/**
 * Springs and dampers as rows on v+ whose impulse is all of their force: that at
 * given poses and velocities, and what v+ makes of it over h. None of it is added to
 * the bodies first and taken away again by the row: where springs are stiff, the
 * difference of both would leave momentum behind.
 *
 * @param v     [6 n_bodies] at the step's start
 * @param rows  [forces->n_springs] out
 * @return how many, or -1 with out->message where a force is not finite.
 */
int forces_end_rows(const force_list *forces, const world_snapshot *home,
                    double time, double h, const world_pose poses[],
                    const double v[], extra_row rows[], outcome *out);

/** Energy of the springs where the bodies are, J. */
double forces_energy(const force_list *forces, double time);

/** Power of the program's functions where the bodies are, W. */
double forces_power(const force_list *forces, double time);

void forces_release(force_list *forces);

#endif
