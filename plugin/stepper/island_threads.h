/* Threads of the world's own, on which the host solves its islands. */
#ifndef ODE_MLCP_STEPPER_ISLAND_THREADS_H
#define ODE_MLCP_STEPPER_ISLAND_THREADS_H

#include <sys/types.h>

#include <ode/ode.h>

/** Starts all zero: none, the world keeps the threads that its program gave it. */
typedef struct island_threads {
  int count;
  dThreadingImplementationID implementation;
  dThreadingThreadPoolID pool;
  pid_t process; /* whose they are */
} island_threads;

/**
 * Give the world `count` threads, in place of any it has. 0 takes back those that
 * came from here; the world has none then, whoever gave it some before or since.
 * Where none came from here, 0 changes nothing.
 *
 * A host that was built without threads, or a system that has no more of them, is
 * told by a message; islands are solved one after another then, to the same bits.
 */
void island_threads_set(island_threads *threads, dWorldID world, int count);

/** Before a step: in a forked child, which has none of its parent's threads, start
 * as many anew. */
void island_threads_follow_fork(island_threads *threads, dWorldID world);

#endif
