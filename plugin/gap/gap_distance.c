#include "gap/gap_distance.h"

#include "common/vec3.h"
#include "gap/gap_expand.h"
#include "gap/gap_polish.h"

/* Bounds this close, relative to the coordinates, differ by rounding only. */
static const double rounding = 2e-15;
/* Curved cores: what is good enough to leave the search over all sides. */
static const double curved_tolerance = 1e-13;
/* and to end it: with 1e-13 it takes a third longer, twice as long between cylinders and
 * capsules */
static const double curved_enough = 1e-11;

/* One with room has volume and any number of edges: the search over all sides is exact
 * in as many rounds as it meets corners ("round hulls"), but where facets get slim ("thin
 * hulls"). */
static void settle_polytopes(const gap_core *a, const gap_core *b, double scale,
                             gap_phi *phi) {
  const double met = rounding * scale;
  if (phi->upper - phi->best.separation <= met) return;
  bool grown = a->room != NULL || b->room != NULL;
  if (grown)
    phi->upper =
        fmin(phi->upper, gap_expand(a, b, scale, rounding, &phi->best));
  if (phi->upper - phi->best.separation <= met) return;
  gap_sat(a, b, scale, &phi->best);
  // where they overlap, no other direction can be better: but hulls may be bent
  if (!grown) phi->upper = fmin(phi->upper, phi->best.separation);
}

static void settle_curved(const gap_core *a, const gap_core *b, double scale,
                          gap_phi *phi) {
  double n0[3];
  vec3_copy(n0, phi->best.n);
  gap_polish(a, b, n0, scale, &phi->best);
  if (phi->best.separation > -curved_tolerance * scale) {
    gap_phi witness;
    double enough = phi->best.separation + curved_tolerance * scale;
    gap_gjk(a, b, NULL, phi->best.n, scale, INFINITY, &witness);
    if (witness.upper <= fmax(phi->upper, enough)) {
      phi->upper = fmin(phi->upper, witness.upper);
      phi->nearest = witness.nearest;
      phi->apart = true;
    }
  }
  if (phi->upper - phi->best.separation > curved_tolerance * scale)
    phi->upper =
        fmin(phi->upper, gap_expand(a, b, scale, curved_enough, &phi->best));
}

/* The lowest point of a core over a half-space, and its foot. */
static bool find_on_half_space(const gap_core *a, const gap_core *b,
                               double scale, double enough, gap_phi *phi) {
  gap_difference *lowest = &phi->nearest.corner[0];
  double down[3];
  vec3_copy(phi->best.n, b->axis);
  vec3_negate(down, b->axis);
  lowest->corner[0] = gap_core_support(a, down, lowest->on_a);
  phi->best.separation =
      vec3_dot(b->axis, lowest->on_a) - vec3_dot(b->axis, b->centre);
  vec3_copy(lowest->on_b, lowest->on_a);
  vec3_add_scaled(lowest->on_b, -phi->best.separation, b->axis);
  phi->nearest.count = 1;
  phi->nearest.weight[0] = 1;
  phi->apart = true;
  phi->upper = phi->best.separation + rounding * scale;
  return phi->best.separation <= enough;
}

bool gap_distance_settle(const gap_core *a, const gap_core *b, double scale,
                         double enough, gap_phi *phi) {
  if (phi->best.separation > enough) return false;
  phi->apart = phi->upper > rounding * scale;
  // cores that were not seen apart have a gap of 0 at most
  if (!phi->apart) phi->upper = rounding * scale;
  bool flat = a->kind == CORE_POLYTOPE && b->kind == CORE_POLYTOPE;
  (flat ? settle_polytopes : settle_curved)(a, b, scale, phi);
  phi->upper = fmax(phi->upper, phi->best.separation) + rounding * scale;
  return phi->best.separation <= enough;
}

bool gap_distance_find(const gap_core *a, const gap_core *b, double scale,
                       double enough, gap_phi *phi) {
  if (b->half_space) return find_on_half_space(a, b, scale, enough, phi);
  double guess[3];
  vec3_subtract(guess, a->centre, b->centre);
  if (!(vec3_length(guess) > 0)) guess[2] = 1;
  gap_gjk(a, b, NULL, guess, scale, enough, phi);
  return gap_distance_settle(a, b, scale, enough, phi);
}
