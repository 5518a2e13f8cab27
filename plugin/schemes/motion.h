/* Poses and velocities of all bodies of the world at a time. */
#ifndef ODE_MLCP_SCHEMES_MOTION_H
#define ODE_MLCP_SCHEMES_MOTION_H

#include "common/arena.h"
#include "world/pose.h"
#include "world/world.h"

typedef struct motion {
  double time;
  world_pose *poses; /* [n_bodies] */
  double *v;         /* [6 n_bodies] */
} motion;

/** Take a motion's arrays from an arena. @return false when memory runs out. */
bool motion_take(motion *m, arena *arena, int n_bodies);
void motion_copy(motion *to, const motion *from, int n_bodies);

/** Give `to` the time, h later, and the velocities with which bodies that leave at those of
 *  `from` come to their poses there with a constant acceleration: what goes straight turns as
 *  fast as it is said to, at first, however the host turns it. */
void motion_lead(const motion *from, motion *to, int n_bodies, double h);

/**
 * The cubic Hermite interpolant (PAGT 7.2): poses and velocities of both ends
 * are met; turns are interpolated as rotation vectors from the start.
 *
 * @param share  0 at `from`, 1 at `to`
 */
void motion_between(motion *at, const motion *from, const motion *to,
                    double share, int n_bodies);

/** The same of body b alone; `v` [6] may be NULL. */
void motion_body_between(world_pose *pose, double v[6], const motion *from,
                         const motion *to, int b, double share);

/**
 * Bounds on how body b moves on that way, per unit of `share`.
 *
 * @param linear   out: at any time its velocity is in the convex hull of these, m
 * @param turning  out: it never turns faster, rad
 * @param change   out: nor does its velocity change more, m; or its angular one,
 *                 rad
 */
void motion_body_bounds(const motion *from, const motion *to, int b,
                        double linear[3][3], double *turning, double change[2]);

/** m: how far apart the contacts of two poses may be and still be the same, where
 *  bodies move with v [6 n_bodies] for h or less. */
double motion_radius(const world_snapshot *world, const double v[], double h);

/** The first s in [0, 1] at which the cubic with values g0, g1 and slopes s0,
 *  s1 (per unit of s) comes down through 0; INFINITY where it does not. A start
 *  at 0 counts where the slope is down. */
double cubic_first_descent(double g0, double s0, double g1, double s1);

/** The energy of velocities v [6 n_bodies] of home's bodies at the poses of `at`: J. */
double motion_energy(const world_snapshot *home, const motion *at,
                     const double v[]);

/** J: of a body's angular velocity w at a pose. */
double motion_spin_energy(const host_body *home, const world_pose *pose,
                          const double w[3]);

#endif
