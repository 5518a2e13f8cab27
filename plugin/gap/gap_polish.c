#include "gap/gap_polish.h"

#include "common/vec3.h"

enum {
  MOST_PIECES = 4, /* the corners of a face of a box */
  MOST_EDGES = 6,  /* pairs of those */
  /* Newton's steps double the digits at a smooth maximum; at others they are
   * shortened, and this bounds their number */
  NEWTON_ROUNDS = 40
};

/* Corners that lie further back than this, relative to the coordinates, take no part: with
 * all of them boxes and cylinders take twice as long. */
static const double piece_depth = 0.05;

/* Part of a core with the support function  d.base + sqrt(d' spread d). */
typedef struct piece {
  double base[3], spread[9];
  bool curved; /* else a corner */
} piece;

static void rim_piece(const gap_core *core, double end, piece *rim) {
  vec3_copy(rim->base, core->centre);
  vec3_add_scaled(rim->base, end * core->half_length, core->axis);
  double r2 = core->disc_radius * core->disc_radius;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      rim->spread[3 * i + j] = r2 * ((i == j) - core->axis[i] * core->axis[j]);
  rim->curved = true;
}

/* The corners furthest along a direction, in that order. */
static int corner_pieces(const gap_core *core, const double direction[3],
                         double depth, piece pieces[MOST_PIECES]) {
  double along[MOST_PIECES];
  int count = 0;
  for (int i = 0; i < core->topology->n_corners; i++) {
    double reach = vec3_dot(direction, core->corners[i]);
    int at = count < MOST_PIECES ? count++ : MOST_PIECES;
    for (; at > 0 && reach > along[at - 1]; at--) {
      if (at == MOST_PIECES) continue;
      along[at] = along[at - 1];
      pieces[at] = pieces[at - 1];
    }
    if (at == MOST_PIECES) continue;
    along[at] = reach;
    vec3_copy(pieces[at].base, core->corners[i]);
    pieces[at].curved = false;
  }
  int kept = 1;
  while (kept < count && along[kept] >= along[0] - depth) kept++;
  return kept;
}

static int collect_pieces(const gap_core *core, const double direction[3],
                          double depth, piece pieces[MOST_PIECES]) {
  if (core->kind == CORE_POLYTOPE)
    return corner_pieces(core, direction, depth, pieces);
  if (core->kind == CORE_ELLIPSOID) {
    vec3_copy(pieces[0].base, core->centre);
    for (int i = 0; i < 9; i++) pieces[0].spread[i] = core->spread[i];
    pieces[0].curved = true;
    return 1;
  }
  double along = vec3_dot(direction, core->axis);
  double end = along < 0 ? -1 : 1;
  rim_piece(core, end, &pieces[0]);
  if (2 * core->half_length * fabs(along) > depth) return 1;
  rim_piece(core, -end, &pieces[1]);
  return 2;
}

/* f(n) = n.(base_a - base_b) - sqrt(n' S_a n) - sqrt(n' S_b n) */
typedef struct level {
  double value, gradient[3], hessian[9];
} level;

static void subtract_curved(const piece *of, const double n[3], level *at) {
  double q[3];
  mat3_apply(q, of->spread, n);
  double root = sqrt(fmax(vec3_dot(n, q), 1e-300));
  at->value -= root;
  vec3_add_scaled(at->gradient, -1 / root, q);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      at->hessian[3 * i + j] -=
          (of->spread[3 * i + j] - q[i] / root * (q[j] / root)) / root;
}

static void measure(const piece *a, const piece *b, const double n[3],
                    level *at) {
  vec3_subtract(at->gradient, a->base, b->base);
  at->value = vec3_dot(n, at->gradient);
  for (int i = 0; i < 9; i++) at->hessian[i] = 0;
  if (a->curved) subtract_curved(a, n, at);
  if (b->curved) subtract_curved(b, n, at);
}

/* Newton's step in `count` directions t across n; uphill where f bends up. */
static void newton_step(const level *at, double t[2][3], int count,
                        double step[3]) {
  double g[2] = {0, 0}, H[2][2] = {{0, 0}, {0, 0}}, Ht[3];
  for (int i = 0; i < count; i++) {
    g[i] = vec3_dot(at->gradient, t[i]);
    mat3_apply(Ht, at->hessian, t[i]);
    for (int j = 0; j < count; j++) H[j][i] = vec3_dot(t[j], Ht);
    H[i][i] -= at->value; // the sphere's own bend
  }
  double size[2] = {0, 0};
  double determinant = H[0][0] * H[1][1] - H[0][1] * H[1][0];
  bool bends_down = H[0][0] < 0 && (count == 1 || determinant > 0);
  if (!bends_down) {
    double stiffness = fabs(H[0][0]) + fabs(H[1][1]) + fabs(H[0][1]);
    double length = hypot(g[0], g[1]);
    double reach = fmin(stiffness > 0 ? length / stiffness : 0.1, 0.1);
    for (int i = 0; i < count; i++)
      if (length > 0) size[i] = reach * g[i] / length;
  } else if (count == 1) {
    size[0] = -g[0] / H[0][0];
  } else {
    size[0] = -(g[0] * H[1][1] - g[1] * H[0][1]) / determinant;
    size[1] = -(g[1] * H[0][0] - g[0] * H[1][0]) / determinant;
  }
  for (int k = 0; k < 3; k++) step[k] = size[0] * t[0][k] + size[1] * t[1][k];
}

/* One round; false when it gained nothing. `along` NULL: n is free on the
 * sphere; else it stays across `along`. */
static bool ascent_round(const piece *a, const piece *b, const double *along,
                         double n[3], level *at) {
  double t[2][3] = {{0}}, step[3];
  if (along == NULL) {
    vec3_across(n, t[0]);
    vec3_cross(t[1], n, t[0]);
  } else {
    vec3_cross(t[0], along, n);
    vec3_normalise(t[0]);
  }
  newton_step(at, t, along == NULL ? 2 : 1, step);
  double size = vec3_length(step);
  if (!(size > 0) || !isfinite(size)) return false;

  // f does not tell steps this small apart, but Newton's method does
  const double small = 1e-5;
  double fraction = size > 0.5 ? 0.5 / size : 1;
  do {
    double moved[3];
    vec3_copy(moved, n);
    vec3_add_scaled(moved, fraction, step);
    vec3_normalise(moved);
    level there;
    measure(a, b, moved, &there);
    if (there.value > at->value || size <= small) {
      vec3_copy(n, moved);
      *at = there;
      return size * fraction > 1e-12;
    }
    fraction /= 2;
  } while (size * fraction > small);
  return false; // at a kink: other directions are tried for those
}

static void ascend(const gap_core *core_a, const piece *a,
                   const gap_core *core_b, const piece *b, const double *along,
                   const double n0[3], gap_direction *best) {
  double n[3];
  if (!a->curved && !b->curved) return;
  vec3_copy(n, n0);
  if (along != NULL)
    vec3_add_scaled(n, -vec3_dot(n, along) / vec3_dot(along, along), along);
  if (!(vec3_normalise(n) > 0)) return;

  level at;
  measure(a, b, n, &at);
  for (int round = 0; round < NEWTON_ROUNDS; round++)
    if (!ascent_round(a, b, along, n, &at)) break;
  gap_direction_try(core_a, core_b, n, best);
}

/* An edge between two pieces of a core. */
typedef struct piece_edge {
  double along[3];
  int piece; /* one of the two: across the edge they are level */
} piece_edge;

static int piece_edges(const piece pieces[], int n_pieces,
                       piece_edge edges[MOST_EDGES]) {
  int count = 0;
  for (int i = 0; i < n_pieces; i++)
    for (int j = i + 1; j < n_pieces; j++) {
      vec3_subtract(edges[count].along, pieces[j].base, pieces[i].base);
      edges[count++].piece = i;
    }
  return count;
}

static void try_towards(const gap_core *a, const gap_core *b,
                        const double n0[3], const double n[3],
                        gap_direction *best) {
  double turned[3] = {0, 0, 0};
  vec3_add_scaled(turned, vec3_dot(n, n0) < 0 ? -1 : 1, n);
  gap_direction_try(a, b, turned, best);
}

static void try_fixed(const gap_core *a, const gap_core *b, const double n0[3],
                      const piece_edge edges[], int count,
                      gap_direction *best) {
  gap_direction_try(a, b, n0, best);
  if (a->kind == CORE_CYLINDER) try_towards(a, b, n0, a->axis, best);
  if (b->kind == CORE_CYLINDER) try_towards(a, b, n0, b->axis, best);
  for (int i = 0; i < count; i++)
    for (int j = i + 1; j < count; j++) {
      double n[3];
      vec3_cross(n, edges[i].along, edges[j].along);
      try_towards(a, b, n0, n, best);
    }
}

void gap_polish(const gap_core *a, const gap_core *b, const double n0[3],
                double scale, gap_direction *best) {
  double back[3];
  piece on_a[MOST_PIECES], on_b[MOST_PIECES];
  piece_edge edges[2 * MOST_EDGES];
  vec3_negate(back, n0);
  int n_a = collect_pieces(a, back, piece_depth * scale, on_a);
  int n_b = collect_pieces(b, n0, piece_depth * scale, on_b);
  int n_edges_a = piece_edges(on_a, n_a, edges);
  int n_edges = n_edges_a + piece_edges(on_b, n_b, edges + n_edges_a);

  try_fixed(a, b, n0, edges, n_edges, best);
  for (int i = 0; i < n_a; i++)
    for (int j = 0; j < n_b; j++)
      ascend(a, &on_a[i], b, &on_b[j], NULL, n0, best);
  for (int e = 0; e < n_edges_a; e++)
    for (int j = 0; j < n_b; j++)
      ascend(a, &on_a[edges[e].piece], b, &on_b[j], edges[e].along, n0, best);
  for (int e = n_edges_a; e < n_edges; e++)
    for (int i = 0; i < n_a; i++)
      ascend(a, &on_a[i], b, &on_b[edges[e].piece], edges[e].along, n0, best);
}
