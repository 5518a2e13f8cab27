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

#include "schemes/form.h"

/** All of a world, in order of creation; starts as {0}. */
typedef struct force_list {
  ode_mlcp_force *first;
  int n_springs;
} force_list;

/** The list of an attached world, NULL where it is none. In stepper.c. */
force_list *stepper_forces(dWorldID world, const memory_source **source);

/**
 * Forces at given poses and velocities.
 *
 * @param force     [6 n_bodies] N, N m: added to
 * @param k_q, k_v  [36 n_bodies] Jacobians of the program's functions: added
 *                  to; or both NULL
 * @return false with form->result->message where a force is not finite.
 */
bool forces_add(const force_list *forces, world_form *form, double time,
                const form_pose poses[], const double v[], double force[],
                double k_q[], double k_v[]);

/**
 * The rows (24) of springs and dampers at given poses.
 *
 * @param v       [6 n_bodies] at the step's start
 * @param cq, cv  what c takes of stiffness (s^2) and damping (s)
 * @param scale   2 where the unknown is v + v+, else 1
 * @param rows    [forces->n_springs] out
 * @return how many.
 */
int forces_rows(const force_list *forces, const world_form *form,
                const form_pose poses[], const double v[], double cq,
                double cv, double scale, form_extra_row rows[]);

/** Energy of the springs where the bodies are, J. */
double forces_energy(const force_list *forces, double time);

void forces_release(force_list *forces);

#endif
