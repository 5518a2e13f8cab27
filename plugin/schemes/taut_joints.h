/* The force of a joint turns with its bodies.
 *
 * A body that F pulls at an arm r is held upright by it with the stiffness
 * K = (r.F) 1 - (r F' + F r') / 2 against turning. Rows of the step's start know
 * nothing of that: where h^2 K is more than the inertia, a whole step at the start's
 * directions throws the body past where the force points, further each time, and
 * taut chains tear. The part of h^2 K above the inertia therefore acts at the
 * step's end (docs/formulation.md, eq. 13).
 */
#ifndef ODE_MLCP_SCHEMES_TAUT_JOINTS_H
#define ODE_MLCP_SCHEMES_TAUT_JOINTS_H

#include "world/world.h"

/**
 * Add the stiffness of a joint's rows of three axes across each other that hold a
 * point, per body: K += -[F]x (1 - Y)^-1 [r]x with Y = [half w]x, w the angular part of
 * u. So does the torque r x F change with w where the body moves by Cayley's turns of
 * 2 half w; 0: with a small turn.
 *
 * @param K      [9 n_bodies] N m
 * @param force  of the joint's rows, N, N m
 */
void taut_joints_add(double K[], const world_snapshot *world, int j,
                     const double force[], double half, const double u[]);

/** The same with the forces of the last step, where they are known. */
void taut_joints_add_last(double K[], const world_snapshot *world, int j);

/** The part of `square` K, of s^2 times the symmetric part of K, above an inertia.
 *  @param part  out: kg m^2
 *  @return false where there is none */
bool taut_joints_unresolved(double part[9], const double inertia[9],
                            const double K[9], double square);

/**
 * Find the masses M~ that go with the joints' forces in the last step, and the
 * velocities of free flight that go with them.
 *
 * @param arena   what arrays are taken from
 * @param bodies  whose masses and velocities
 * @param stiff   [36 n_bodies] M~ - M of forces that change with pose and velocity;
 *                NULL: there are none
 * @param x_free  [6 n_bodies] in: v + M^-1 h f; out: v + M~^-1 h f
 * @param mass    out: [36 n_bodies] M~, NULL where it is M of all bodies
 * @return false where memory ran out.
 */
bool taut_joints_find(arena *arena, const world_snapshot *world,
                      const host_body bodies[], const double *stiff,
                      double x_free[], const double **mass);

#endif
