#include "gap/gap_sweep.h"

#include <math.h>
#include <string.h>

#include "common/vec3.h"
#include "gap/gap_core.h"
#include "gap/gap_pair.h"

/* One that slides along another for long comes no nearer to an answer. */
enum { MOST_QUERIES = 200 };

/* --- sizes ---------------------------------------------------------------- */

static void box_extent(dGeomID geom, const double about[3],
                       gap_extent *extent) {
  const double OF_MESH = 0.05;
  dReal box[6];
  double square = 0;
  dGeomGetAABB(geom, box);
  extent->size = 0;
  for (int k = 0; k < 3; k++) {
    double far =
        fmax(fabs(box[2 * k] - about[k]), fabs(box[2 * k + 1] - about[k]));
    square += far * far;
    extent->size = fmax(extent->size, box[2 * k + 1] - box[2 * k]);
  }
  extent->inner = OF_MESH * extent->size;
  extent->reach = sqrt(square);
}

int gap_extent_find(gap_context *context, dGeomID geom, const double about[3],
                    gap_extent *extent) {
  gap_geom placed;
  gap_shape shape;
  gap_core core;
  gap_geom_place(geom, &placed);
  *extent = (gap_extent){0};
  if (placed.geom == NULL) return GAP_OK;
  if (gap_geom_is_mesh(&placed)) {
    box_extent(geom, about, extent);
    return GAP_OK;
  }
  int status = gap_geom_shape(context, &placed, 0, &shape);
  if (status != GAP_OK) return status;
  if (shape.kind == GAP_PLANE) {
    *extent = (gap_extent){INFINITY, INFINITY, INFINITY};
    return GAP_OK;
  }
  if (gap_pair_place(&context->scratch, &shape, 0, about, &core) != GAP_OK)
    return gap_context_fail(context, geom, GAP_NO_MEMORY, NULL);
  extent->inner = core.inner + core.radius;
  extent->reach = vec3_length(core.centre) + core.reach;
  extent->size = core.reach + core.radius;
  return GAP_OK;
}

/* --- gaps on the way ------------------------------------------------------ */

typedef struct sweep {
  gap_context *context;
  const gap_sweep_request *request;
  gap_sweep_result *result;
  bool mesh;       /* one of them: many gaps, each along a normal of its own */
  bool mesh_moves; /* where along a normal it is nearest later is not known */
  gap_contact *contacts; /* [GAP_NEAREST_ROOM] where it was looked last */
  int count;
  int status; /* the first that is not GAP_OK ends it */
} sweep;

static void place(dGeomID geom, const gap_mover *mover, double share,
                  gap_geom *out) {
  gap_geom start;
  gap_geom_place(geom, &start);
  *out = start;
  if (mover->pose == NULL) return;
  double position[3], rotation[9], turn[9], arm[3], turned[3];
  mover->pose(mover->context, fmin(share, mover->stops), position, rotation);
  /* turn = rotation start_rotation' */
  const double *from = mover->start_rotation;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      turn[3 * i + j] = vec3_dot(rotation + 3 * i, from + 3 * j);
  vec3_subtract(arm, start.position, mover->start_position);
  mat3_apply(turned, turn, arm);
  for (int i = 0; i < 3; i++) out->position[i] = position[i] + turned[i];
  mat3_multiply(out->rotation, turn, start.rotation);
  out->moved = true;
}

/* The gap at a share, at most `margin`: what is more is not looked for. */
static double look(sweep *w, double share, double margin) {
  gap_context *context = w->context;
  double before = context->compared;
  gap_geom placed[2];
  for (int side = 0; side < 2; side++)
    place(w->request->geom[side], &w->request->mover[side], share,
          &placed[side]);
  w->result->queries++;
  w->count = gap_query_placed(context, placed, margin, GAP_NEAREST, w->contacts,
                              w->mesh ? GAP_NEAREST_ROOM : 1);
  w->result->work += context->compared - before;
  if (w->count < 0) w->status = w->count;
  return w->count > 0 ? w->contacts[0].gap : margin;
}

/* --- bounds on speed ------------------------------------------------------ */

/* The most that a mover comes along sign n; with n NULL, in any direction: m a
 * share. */
static double speed_along(const gap_mover *mover, double reach, double share,
                          const double n[3], double sign) {
  if (mover->pose == NULL || share >= mover->stops) return 0;
  double most = mover->stops < 1 ? 0 : -INFINITY;
  for (int i = 0; i < 3; i++)
    most = fmax(most, n == NULL ? vec3_length(mover->linear[i])
                                : sign * vec3_dot(n, mover->linear[i]));
  return most + (mover->turning > 0 ? mover->turning * reach : 0);
}

/* That of both: how fast the gap along n can close. */
static double approach(const sweep *w, double share, const double n[3]) {
  const gap_sweep_request *r = w->request;
  return speed_along(&r->mover[0], r->extent[0].reach, share, n, -1) +
         speed_along(&r->mover[1], r->extent[1].reach, share, n, 1);
}

/* The most that the rate of the gap along one normal can change, m a share^2. */
static double rate_change(const sweep *w) {
  double most = 0;
  for (int side = 0; side < 2; side++) {
    const gap_mover *mover = &w->request->mover[side];
    if (mover->pose == NULL) continue;
    most += mover->bending;
    if (mover->turning > 0)
      most += (mover->turning * mover->turning + mover->twisting) *
              w->request->extent[side].reach;
  }
  return most;
}

/* How far the geoms are apart along n (unit, into the first), which is at most their
 * gap; of a mesh the point `of_mesh` counts. */
static double separation_along(sweep *w, const double n[3],
                               const double of_mesh[3], double share) {
  gap_core cores[2];
  for (int side = 0; side < 2; side++) {
    gap_geom placed;
    gap_shape shape = {.kind = GAP_SPHERE};
    vec3_copy(shape.position, of_mesh);
    place(w->request->geom[side], &w->request->mover[side], share, &placed);
    if (!gap_geom_is_mesh(&placed))
      w->status = gap_geom_shape(w->context, &placed, side, &shape);
    if (w->status == GAP_OK &&
        gap_pair_place(&w->context->scratch, &shape, side, of_mesh,
                       &cores[side]) != GAP_OK)
      w->status =
          gap_context_fail(w->context, placed.named, GAP_NO_MEMORY, NULL);
    if (w->status != GAP_OK) return 0;
  }
  return gap_core_separation(&cores[0], &cores[1], n) - cores[0].radius -
         cores[1].radius;
}

/* Up to where a step may go: one of them may stop on the way. */
static double next_stop(const sweep *w, double share) {
  double next = 1;
  for (int side = 0; side < 2; side++) {
    const gap_mover *mover = &w->request->mover[side];
    if (mover->pose != NULL && mover->stops > share)
      next = fmin(next, mover->stops);
  }
  return next;
}

/* --- the sweep ------------------------------------------------------------ */

/* A mesh is asked about what is near alone. */
static double margin_of(const sweep *w, double to_cover) {
  if (!w->mesh) return to_cover;
  double size = fmin(w->request->extent[0].size, w->request->extent[1].size);
  return fmin(to_cover, fmax(4 * size, to_cover / 16));
}

/* The share of a way up to which a value that starts above 0 cannot have come there,
 * from what it is at both ends; `sag`: the way times the most that its rate changes on
 * it. */
static double share_above(double start, double end, double sag) {
  double falls = start - end + sag / 2, root = falls * falls - 2 * sag * start;
  return falls > 0 && root >= 0 ? 2 * start / (falls + sqrt(root)) : 1;
}

/* Shorten a way from a share so that the separation along a contact's normal does not
 * get below the aim on it: what it is at the end says more than the speed alone. */
static void shorten(sweep *w, double share, double aim,
                    const gap_contact *contact, double *way) {
  const double SHORTER = 0.5;
  const double *n = contact->normal, tolerance = w->request->tolerance;
  double above = contact->gap - aim, rate = approach(w, share, n);
  double least = rate > 0 ? fmax(above, 0.5 * tolerance) / rate : INFINITY;
  double bend = rate_change(w), half = 0.5 * contact->gap, surface[3];
  vec3_copy(surface, contact->point);
  vec3_add_scaled(surface, contact->triangle[0] >= 0 ? half : -half, n);
  if (w->mesh_moves) *way = fmin(*way, least);
  for (double safe = 0; *way > least && safe < SHORTER;) {
    double there = separation_along(w, n, surface, share + *way);
    if (w->status != GAP_OK) return;
    safe = share_above(above + tolerance, there - aim + tolerance,
                       bend * *way * *way);
    *way = fmax(least, *way * fmin(fmax(safe, SHORTER), 1));
  }
}

/* How far it is safe to go from a share on: no further than what was not seen can come. */
static double find_way(sweep *w, double share, double aim) {
  double speed = approach(w, share, NULL), unseen = w->context->covered - aim;
  double way = next_stop(w, share) - share;
  if (speed > 0)
    way = fmin(way, fmax(unseen, 0.5 * w->request->tolerance) / speed);
  for (int k = 0; k < w->count; k++)
    shorten(w, share, aim, &w->contacts[k], &way);
  return way;
}

static void advance(sweep *w) {
  const gap_sweep_request *request = w->request;
  gap_sweep_result *result = w->result;
  double aim = NAN;
  for (;;) {
    const double share = result->share;
    double gap = look(w, share,
                      margin_of(w, (1 - share) * approach(w, share, NULL) +
                                       request->depth + request->tolerance));
    if (w->status != GAP_OK) return;
    if (share == 0) {
      result->start_gap = gap;
      aim = fmin(gap, 0) - request->depth;
    }
    result->hits = w->count > 0 && share > 0 && gap - aim <= request->tolerance;
    if (result->hits) {
      vec3_copy(result->normal, w->contacts[0].normal);
      return;
    }
    double way = find_way(w, share, aim);
    if (w->status != GAP_OK || share + way >= 1) return;
    result->share = fmax(share + way, nextafter(share, 2));
    if (result->queries >= MOST_QUERIES || result->work >= request->most) {
      result->hits = result->ran_out = true;
      return;
    }
  }
}

int gap_sweep(gap_context *context, const gap_sweep_request *request,
              gap_sweep_result *result) {
  sweep w = {.context = context, .request = request, .result = result};
  *result = (gap_sweep_result){.start_gap = INFINITY};
  if (!POOL_RESERVE(&context->pool, context->found_here, GAP_NEAREST_ROOM))
    return gap_context_fail(context, request->geom[0], GAP_NO_MEMORY, NULL);
  w.contacts = context->found_here;
  for (int side = 0; side < 2; side++) {
    gap_geom placed;
    gap_geom_place(request->geom[side], &placed);
    if (placed.geom == NULL) return GAP_OK;
    if (!gap_geom_is_mesh(&placed)) continue;
    w.mesh = true;
    w.mesh_moves |= speed_along(&request->mover[side], 1, 0, NULL, 1) > 0;
  }
  advance(&w);
  return w.status;
}
