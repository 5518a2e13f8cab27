/* No body passes through another: how far the velocities of a step may carry each,
 * if it is to be held where it meets what it would pass through. For bodies alone
 * that go further in a step than half their own thickness: others are seen in
 * time. */
#ifndef ODE_MLCP_SCHEMES_SWEEP_H
#define ODE_MLCP_SCHEMES_SWEEP_H

#include "common/arena.h"
#include "host/bodies.h"
#include "schemes/motion.h"
#include "world/contact_source.h"

typedef struct sweep_body sweep_body;
typedef struct sweep_pair sweep_pair;

/** Starts as zeros with `pool` set, the owner's. */
typedef struct step_sweep {
  memory_pool *pool;
  arena arena;
  gap_context *gaps;
  dGeomID
      probe; /* a box in no space; NULL: not needed yet. It stays, as no geom
                    can be destroyed within a step */
  ode_mlcp_contact_list list; /* of pairs */
  sweep_pair *pairs;
  int n_pairs;
  sweep_body *bodies; /* of the step in hand */
  int n_bodies;
  int *component;     /* [n_bodies] sets of what joints tie together */
  serial_table index; /* of bodies */
  int n_fast;
  /* since they were set to 0: */
  int queries; /* gaps asked for, */
  double work; /* and convex pieces looked at for them, over n_fast: in units of
                  solver_work, as a body takes about so much of a factorisation */
} step_sweep;

/** How bodies would move, where they are now. */
typedef struct sweep_request {
  dWorldID world;
  double step_size;
  int n_bodies;
  const dBodyID *bodies; /* [n_bodies] */
  const double *u;       /* [6 n_bodies] what moves them */
  bool turns_exactly;    /* as world_pose_move says; else by the host's rule */
  contact_source *contacts;
} sweep_request;

/** Take the memory that every step needs. @return false where it ran out. */
bool step_sweep_open(step_sweep *sweep);

/**
 * Find where bodies meet what they would pass through.
 *
 * The bodies' own velocities say which pairs of geoms may meet: they are to be
 * set to `u`, or to what is nearly that.
 *
 * @param shares  [n_bodies] out: the part of its motion after which a body is to
 *                be held, 1 for most
 * @param n_held  out: how many are less
 * @return false where memory ran out.
 */
bool step_sweep_run(step_sweep *sweep, const sweep_request *request,
                    double shares[], int *n_held);

/**
 * Find what bodies that move together keep of their change of velocity where some of them
 * are held: each goes from its v0 to v0 + t (v1 - v0), which turns with it; t is the
 * largest part by which they gain no more energy than forces do work on their ways, but no
 * less than the least of their shares. What an impact takes away it takes at once; and of
 * v0 and v1, which meet joints and contacts, what lies between meets them as well.
 *
 * @param request  that of step_sweep_run: `count` of its bodies from `first` on
 * @param start    [6 n_bodies] v0
 * @param v        [6 n_bodies] v1; out: what they keep
 * @return whether any is held
 */
bool step_sweep_keep(const sweep_request *request, const double shares[],
                     const double start[], size_t first, unsigned count,
                     double v[]);

/**
 * Find which pairs that overlap at the end of the motion touch with another normal than
 * they have there: at corners and edges, which they went round or past.
 *
 * @param request  that of step_sweep_run
 * @param ends     the contacts there
 * @param shares   [n_bodies] in and out: the part of its motion at which a body of such
 *                 a pair touches, if that is less; with it goes what joints tie to it
 * @param n_held   out: how many became less
 * @return false where memory ran out.
 */
bool step_sweep_find_turned(step_sweep *sweep, const sweep_request *request,
                            const world_contacts *ends, double shares[],
                            int *n_held);

/** A way of bodies within a step. */
typedef struct sweep_way {
  const world_snapshot *home; /* the bodies, where their geoms are */
  const motion *from;
  motion *to;
  contact_source *contacts;
  double step_size; /* s: of the host's step; of step_sweep_hold's, the way's */
} sweep_way;

/** Note the pairs of geoms that may meet in a step of home's from where `way`
 *  begins, if a body of it is fast there. The host's bodies are where home has them,
 *  before and after.
 *  @return false where memory ran out. */
bool step_sweep_start(step_sweep *sweep, const sweep_way *way);

/**
 * The first time that bodies which are apart come to touch on their way, or others go
 * as deep into each other as they are held.
 *
 * @param most    what may be added to sweep->work, beyond one question a pair: of what
 *                was not seen to the end it is not known that it meets
 * @param touch   whether two bodies (indices in home, -1 the world) are in touch
 *                already: where they do, another part of them may pass
 * @param share   out: of the way; INFINITY: none do
 * @param close   more that come within this share of it are noted with it
 * @return false where memory ran out.
 */
bool step_sweep_first(step_sweep *sweep, const sweep_way *way, double most,
                      bool (*touch)(const void *context, const int body[2]),
                      const void *context, double close, double *share);

/** What the last step_sweep_first found of two geoms. */
typedef struct sweep_sight {
  bool apart; /* they are, where the way begins: no other look is needed */
  bool meets; /* they were noted */
} sweep_sight;

sweep_sight step_sweep_saw(const step_sweep *sweep, dGeomID one, dGeomID other);

/** rad/s: the fastest turning of a body whose turning alone may carry it past
 *  another. */
double step_sweep_turning(const step_sweep *sweep, const sweep_way *way);

/**
 * Hold what would pass through something on a straight way, of first order: its pose at
 * the end of the way and its velocities become those of where it meets that.
 *
 * @param u       [6 n_bodies] what moves them, as world_pose_move does
 * @param n_held  out: how many bodies are held
 * @return false where memory ran out.
 */
bool step_sweep_hold(step_sweep *sweep, const sweep_way *way, const double u[],
                     int *n_held);

void step_sweep_release(step_sweep *sweep);

#endif
