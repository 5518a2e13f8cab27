#include "gap/gap_sweep.h"

#include <math.h>
#include <string.h>

#include "common/vec3.h"
#include "gap/gap_core.h"
#include "gap/gap_pair.h"

/* One that slides along another for long comes no nearer to an answer. */
enum { MOST_QUERIES = 200 };
/* Of a mesh: with more no stride is known to be safe. */
enum { MOST_CONTACTS = 32 };

/* --- sizes ---------------------------------------------------------------- */

/* Half of the least thickness of a core: of a polytope the least distance between a
 * face and the corner furthest from it. */
static double inner_of(const gap_core *core) {
  const double *axes = core->semi_axes;
  if (core->kind == CORE_CYLINDER)
    return fmin(core->disc_radius, core->half_length);
  if (core->kind == CORE_ELLIPSOID)
    return fmin(axes[0], fmin(axes[1], axes[2]));
  if (core->topology->n_faces == 0) return 0;
  double least = INFINITY;
  for (int f = 0; f < core->topology->n_faces; f++) {
    double normal[3], back[3], top[3], bottom[3];
    gap_core_face_normal(core, f, normal);
    vec3_negate(back, normal);
    gap_core_support(core, normal, top);
    gap_core_support(core, back, bottom);
    least = fmin(least, vec3_dot(normal, top) - vec3_dot(normal, bottom));
  }
  return 0.5 * least;
}

static void box_extent(dGeomID geom, const double about[3],
                       gap_extent *extent) {
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
  extent->inner = 0;
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
  extent->inner = inner_of(&core) + core.radius;
  extent->reach = vec3_length(core.centre) + core.reach;
  extent->size = core.reach + core.radius;
  return GAP_OK;
}

/* --- gaps on the way ------------------------------------------------------ */

typedef struct sweep {
  gap_context *context;
  const gap_sweep_request *request;
  gap_sweep_result *result;
  bool mesh; /* one of them: many gaps, each along a normal of its own */
  gap_geom placed[2];    /* at the start */
  gap_contact *contacts; /* [MOST_CONTACTS] where it was looked last */
  int count;
} sweep;

static void place(const gap_mover *mover, const gap_geom *start, double share,
                  gap_geom *out) {
  *out = *start;
  share = fmin(share, mover->stops);
  if (mover->pose == NULL) return;
  double position[3], rotation[9], turn[9], arm[3], turned[3];
  mover->pose(mover->context, share, position, rotation);
  /* turn = rotation start_rotation' */
  const double *from = mover->start_rotation;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      turn[3 * i + j] = vec3_dot(rotation + 3 * i, from + 3 * j);
  vec3_subtract(arm, start->position, mover->start_position);
  mat3_apply(turned, turn, arm);
  for (int i = 0; i < 3; i++) out->position[i] = position[i] + turned[i];
  mat3_multiply(out->rotation, turn, start->rotation);
  out->moved = true;
}

/* The gap at a share, at most `margin`: what is more is not looked for.
 * @return gap_status */
static int look(sweep *w, double share, double margin, int room, double *gap) {
  gap_geom placed[2];
  for (int side = 0; side < 2; side++)
    place(&w->request->mover[side], &w->placed[side], share, &placed[side]);
  w->result->queries++;
  double before = w->context->work;
  w->count = gap_query_placed(w->context, placed, margin, 0, w->contacts, room);
  w->result->work += w->context->work - before;
  *gap = w->count > 0 ? w->contacts[0].gap : margin;
  return w->count < 0 ? w->count : GAP_OK;
}

int gap_sweep_contact(gap_context *context, const dGeomID geom[2],
                      const gap_mover mover[2], double share, double margin,
                      gap_contact *contact) {
  gap_geom start, placed[2];
  for (int side = 0; side < 2; side++) {
    gap_geom_place(geom[side], &start);
    if (start.geom == NULL) return 0;
    place(&mover[side], &start, share, &placed[side]);
  }
  return gap_query_placed(context, placed, margin, 0, contact, 1);
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
 * gap; of a mesh the point `of_mesh` counts. @return gap_status */
static int separation_along(sweep *w, const double n[3],
                            const double of_mesh[3], double share,
                            double *separation) {
  gap_shape shapes[2];
  gap_core cores[2];
  for (int side = 0; side < 2; side++) {
    gap_geom placed;
    place(&w->request->mover[side], &w->placed[side], share, &placed);
    shapes[side] = (gap_shape){
        .kind = GAP_SPHERE, .position = {of_mesh[0], of_mesh[1], of_mesh[2]}};
    int status = gap_geom_is_mesh(&placed)
                     ? GAP_OK
                     : gap_geom_shape(w->context, &placed, side, &shapes[side]);
    if (status != GAP_OK) return status;
  }
  const double *origin = shapes[shapes[0].kind == GAP_PLANE].position;
  for (int side = 0; side < 2; side++)
    if (gap_pair_place(&w->context->scratch, &shapes[side], side, origin,
                       &cores[side]) != GAP_OK)
      return gap_context_fail(w->context, w->placed[side].named, GAP_NO_MEMORY,
                              NULL);
  *separation = gap_core_separation(&cores[0], &cores[1], n) - cores[0].radius -
                cores[1].radius;
  return GAP_OK;
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

/* How far it is safe to go from a share where the geoms are `above` the aim along
 * n. The separation along n has a chord, from which it bends down by no more than
 * the rate's change lets it. */
static int stride_along(sweep *w, double share, double above, double aim,
                        const double n[3], const double of_mesh[3],
                        double longest, double *stride) {
  const int TRIES = 16;
  const double SHORTER = 0.4;
  double bend = rate_change(w), way = longest;
  *stride = 0;
  for (int i = 0; i < TRIES && way > 0; i++) {
    double there = 0;
    int status = separation_along(w, n, of_mesh, share + way, &there);
    if (status != GAP_OK) return status;
    there -= aim;
    double sag = bend * way * way;
    if (fmin(above, there) > sag / 8 ||
        (above >= 0 && there - above >= sag / 2)) {
      *stride = way;
      return GAP_OK;
    }
    way *= SHORTER;
  }
  return GAP_OK;
}

/* The same along all normals of what was seen within a margin; no further than what
 * was not seen can come. A mesh must stand. */
static int find_stride(sweep *w, double share, double margin, double aim,
                       double longest, double *stride) {
  const gap_sweep_request *r = w->request;
  *stride = 0;
  for (int side = 0; side < 2; side++)
    if (gap_geom_is_mesh(&w->placed[side]) && r->mover[side].pose != NULL)
      return GAP_OK;
  double way = longest, deepest;
  if (w->mesh) {
    int status = look(w, share, margin, MOST_CONTACTS, &deepest);
    if (status != GAP_OK || w->count == MOST_CONTACTS) return status;
    way = fmin(way, (margin - aim) / approach(w, share, NULL));
  }
  for (int k = 0; k < w->count && way > 0; k++) {
    const gap_contact *contact = &w->contacts[k];
    double surface[3], half = 0.5 * contact->gap;
    vec3_copy(surface, contact->point);
    vec3_add_scaled(surface, gap_geom_is_mesh(&w->placed[0]) ? half : -half,
                    contact->normal);
    int status = stride_along(w, share, contact->gap - aim, aim,
                              contact->normal, surface, way, &way);
    if (status != GAP_OK) return status;
  }
  *stride = way;
  return GAP_OK;
}

/* The root of gap - aim between `low` (above) and `high` (not above). */
static int close_in(sweep *w, double aim, double low, double at_low,
                    double high, double at_high) {
  gap_sweep_result *result = w->result;
  double weight_low = at_low, weight_high = at_high;
  /* the deepest way out of a mesh jumps: then a place is all there is to find */
  double near = 0.1 * w->request->tolerance / approach(w, low, NULL);
  for (int i = 0; i < 100 && high - low > fmax(near, 1e-16); i++) {
    double gap,
        middle = low + (high - low) * weight_low / (weight_low - weight_high);
    if (i % 4 == 3 || !(middle > low && middle < high))
      middle = 0.5 * (low + high);
    if (!(middle > low && middle < high)) break;
    int status = look(w, middle, fabs(aim) + at_low + 1, 1, &gap);
    if (status != GAP_OK) return status;
    double value = gap - aim;
    if (value <= 0) {
      high = middle;
      weight_high = value;
      weight_low /= 2;
      vec3_copy(result->normal, w->contacts[0].normal);
      if (-value <= w->request->tolerance) break;
    } else {
      low = middle;
      weight_low = value;
      weight_high /= 2;
    }
  }
  result->share = high;
  return GAP_OK;
}

static int advance(sweep *w) {
  const gap_sweep_request *request = w->request;
  gap_sweep_result *result = w->result;
  double share = 0, gap = 0, margin = 0, aim = NAN;
  double last_share = 0, last_above = NAN;
  bool looked = false;
  for (;;) {
    double speed = approach(w, share, NULL);
    int status = GAP_OK;
    if (!looked) {
      margin = margin_of(
          w, (1 - share) * speed + request->depth + request->tolerance);
      status = look(w, share, margin, 1, &gap);
    }
    if (status != GAP_OK) return status;
    bool beyond = w->count == 0; /* that far away at least */
    if (share == 0) {
      result->start_gap = beyond && !w->mesh ? INFINITY : gap;
      double from = isnan(request->start_gap) ? gap : request->start_gap;
      aim = fmin(from, 0) - request->depth;
    }
    double above = gap - aim;
    if (!beyond && share > 0 && above <= request->tolerance) {
      result->hits = true;
      result->share = share;
      vec3_copy(result->normal, w->contacts[0].normal);
      if (above >= -request->tolerance || isnan(last_above)) return GAP_OK;
      return close_in(w, aim, last_share, last_above, share, above);
    }
    double rate = speed, next = next_stop(w, share), to = next;
    if (!beyond && !w->mesh)
      rate = fmin(rate, approach(w, share, w->contacts[0].normal));
    looked = false;
    if (rate > 0) {
      double way = fmax(above, 0.5 * request->tolerance) / rate, stride = 0;
      if (!beyond && share + way < next)
        status = find_stride(w, share, margin, aim, next - share, &stride);
      if (status != GAP_OK) return status;
      to = fmin(share + fmax(way, stride), next);
    }
    if (to >= 1) return GAP_OK;
    if (to < next && result->queries > 3 && !beyond && above < last_above) {
      /* bounds are far from what happens: go to where the gap would close, if
       * it has closed there, or cannot have done in between; but what is behind
       * a mesh is not seen any more */
      double secant =
          share + above * (share - last_share) / (last_above - above);
      if (secant > to && secant < next) {
        status = look(w, secant, margin, 1, &gap);
        if (status != GAP_OK) return status;
        looked = gap - aim <= request->tolerance ||
                 (!w->mesh && above + gap - aim > speed * (secant - share));
        if (looked) to = secant;
      }
    }
    last_share = share;
    last_above = above;
    share = to > share ? to : nextafter(share, 2);
    if (result->queries >= MOST_QUERIES ||
        (double)result->work >= request->most) {
      result->hits = result->ran_out = true;
      result->share = looked ? last_share : share;
      return GAP_OK;
    }
  }
}

int gap_sweep(gap_context *context, const gap_sweep_request *request,
              gap_sweep_result *result) {
  sweep w = {.context = context, .request = request, .result = result};
  *result = (gap_sweep_result){.start_gap = INFINITY};
  w.contacts = memory_block_reserve(&context->found_here, context->source,
                                    MOST_CONTACTS, sizeof *w.contacts);
  if (w.contacts == NULL)
    return gap_context_fail(context, request->geom[0], GAP_NO_MEMORY, NULL);
  for (int side = 0; side < 2; side++) {
    gap_geom_place(request->geom[side], &w.placed[side]);
    if (w.placed[side].geom == NULL) return GAP_OK;
    w.mesh = w.mesh || gap_geom_is_mesh(&w.placed[side]);
  }
  return advance(&w);
}
