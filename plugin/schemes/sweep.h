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
  serial_table index; /* of bodies */
  int n_fast;
  bool failed; /* memory ran out, since it was opened */
  /* since they were asked for, or reported: */
  int queries; /* gaps asked for, */
  double work; /* and convex pieces looked at for them, over n_fast: in units of
                  solver_work, as a body takes about so much of a factorisation */
  double end;  /* the most of it */
} step_sweep;

/** A way of bodies within a step. */
typedef struct sweep_way {
  dWorldID world;
  /* where the host has the bodies, if the way begins elsewhere; else NULL */
  const world_snapshot *home;
  int n_bodies;
  const dBodyID *bodies; /* [n_bodies] */
  const motion *from;
  motion *to;
  contact_source *contacts;
  /* s: for which from->v may bring bodies together; to hold them, the way's */
  double seconds;
} sweep_way;

/** Take the memory that every step needs. @return false where it ran out. */
bool step_sweep_open(step_sweep *sweep);

/** Note the pairs of geoms that may meet in way->seconds, of which one is fast. The host's
 *  bodies are where it has them, before and after; where that is where the way begins, their
 *  own velocities are to be from->v, or what is nearly that.
 *  @return false where memory ran out. */
bool step_sweep_find(step_sweep *sweep, const sweep_way *way);

/**
 * Find where bodies meet what they would pass through; or of pairs that overlap at the
 * way's end where those do that touch with another normal than they have there: at
 * corners and edges, which they went round or past. What joints tie to a body is held
 * with it.
 *
 * @param ends    the contacts there, after a call for this way without; or NULL
 * @param most    work that may be done, beyond one question a pair: then bodies are held
 *                as far as they were seen to meet nothing
 * @param shares  [n_bodies] out: the part of its way after which a body is to be held,
 *                1 for most; in, too, with `ends`
 * @param n_held  out: how many became less
 * @return false where memory ran out.
 */
bool step_sweep_hold(step_sweep *sweep, const sweep_way *way,
                     const world_contacts *ends, double most, double shares[],
                     int *n_held);

/**
 * Find what bodies that move together keep of their change of velocity where some of them
 * are held: each goes from its v0 to v0 + t (v1 - v0), which turns with it; t is the
 * largest part by which they gain no more energy than forces do work on their ways, but no
 * less than the least of their shares. What an impact takes away it takes at once; and of
 * v0 and v1, which meet joints and contacts, what lies between meets them as well.
 *
 * @param way    that of step_sweep_hold: `count` of its bodies from `first` on, whose
 *               poses at the end become those where they are held
 * @param start  [6 n_bodies] v0
 * @param v      [6 n_bodies] v1; out: what they keep
 * @return whether any is held
 */
bool step_sweep_keep(const sweep_way *way, const double shares[],
                     const double start[], size_t first, unsigned count,
                     double v[]);

/**
 * The first time that bodies which are apart come to touch on their way, or others go
 * as deep into each other as they are held.
 *
 * @param starts  contacts where it begins; bodies of one that is active touch already:
 *                another part of them may pass, or meet the next tile of a floor
 * @param most    work that may be done, beyond one question a pair: of what was not seen
 *                to the end it is not known that it meets
 * @param share   out: of the way; INFINITY: none do
 * @return false where memory ran out.
 */
bool step_sweep_first(step_sweep *sweep, const sweep_way *way,
                      const world_contacts *starts, double most, double *share);

/** What the last step_sweep_first found of two geoms. */
typedef struct sweep_sight {
  bool apart; /* they are, where the way begins: no other look is needed */
  bool meets; /* they come to touch on it, or get so deep */
} sweep_sight;

sweep_sight step_sweep_saw(const step_sweep *sweep, dGeomID one, dGeomID other);

/** rad/s: the fastest turning of a body whose turning alone may carry it past
 *  another. */
double step_sweep_turning(const step_sweep *sweep, const sweep_way *way);

/** Add what was asked to a step's report: `not_converged` where that was all it might. */
void step_sweep_report(step_sweep *sweep, ode_mlcp_report *report);

void step_sweep_release(step_sweep *sweep);

#endif
