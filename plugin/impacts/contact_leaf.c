#include "impacts/contact_leaf.h"

#include <math.h>
#include <string.h>

/* What is left of a direction, in parts of it, that others span but for rounding. */
#define SPANNED 1e-7

enum { D = CONTACT_LEAF_MOST_DIMENSIONS, MOST_FACETS = 512 };

/* Corners so far, and what is known of the polytope that they span. */
typedef struct hull {
  const contact_leaf *leaf;
  int count;     /* points */
  int d;         /* dimensions of their span */
  double *basis; /* [n x n] orthonormal: d of these; behind them, from the end,
                    directions in which the leaf has no extent */
  int n_flat;
  double *toward;                          /* [n] */
  double at[CONTACT_LEAF_MOST_CORNERS][D]; /* points in the basis */
  double normals[MOST_FACETS][D];          /* of facets, nothing beyond */
  double offsets[MOST_FACETS];
  int n_facets;
} hull;

size_t contact_leaf_scratch(int n) { return (size_t)(n * n + 2 * n); }

static double dot(const double a[], const double b[], int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static double *point(const hull *hull, int k) {
  return &hull->leaf->reached[k * hull->leaf->n];
}

/* Take from a direction what the basis and the flat directions span, and make it
 * one of length 1. False: nothing but rounding is left. */
static bool orthogonalize(const hull *hull, double direction[]) {
  int n = hull->leaf->n;
  double before = sqrt(dot(direction, direction, n));
  for (int twice = 0; twice < 2; twice++)
    for (int k = 0; k < n; k++) {
      if (k >= hull->d && k < n - hull->n_flat) continue;
      const double *known = &hull->basis[k * n];
      double along = dot(direction, known, n);
      for (int i = 0; i < n; i++) direction[i] -= along * known[i];
    }
  double left = sqrt(dot(direction, direction, n));
  if (!(left > SPANNED * before)) return false;
  for (int i = 0; i < n; i++) direction[i] /= left;
  return true;
}

/* Ask for the furthest point; is it further than any so far? *failed: it was not
 * found, or there is no room for it. */
static bool go(hull *hull, const double toward[], bool *failed) {
  const contact_leaf *leaf = hull->leaf;
  int n = leaf->n;
  *failed =
      hull->count == leaf->most || hull->count == CONTACT_LEAF_MOST_CORNERS ||
      !leaf->furthest(leaf->context, toward, &leaf->lambdas[hull->count * n],
                      point(hull, hull->count));
  if (*failed) return false;
  double height = dot(toward, point(hull, hull->count), n);
  for (int k = 0; k < hull->count; k++)
    if (height <= dot(toward, point(hull, k), n) + leaf->same) return false;
  hull->count++;
  return true;
}

/* Find the dimensions that the leaf has, and points that span them. */
static bool span(hull *hull, double moves[], int n_moves) {
  int n = hull->leaf->n;
  size_t size = (size_t)n * sizeof(double);
  for (int k = 0; k < n_moves; k++) {
    double *move = &moves[k * n];
    // all points so far are equally far along what is left of the move
    while (orthogonalize(hull, move)) {
      bool failed, further = false;
      for (int side = 0; side < 2 && !further; side++) {
        bool is_first = hull->count == 0;
        for (int i = 0; i < n; i++) move[i] = -move[i];
        further = go(hull, move, &failed) && !is_first;
        if (failed) return false;
      }
      if (!further) {
        memcpy(&hull->basis[(n - ++hull->n_flat) * n], move, size);
        break;
      }
      if (hull->d == D) return false;
      double *next = &hull->basis[hull->d * n];
      for (int i = 0; i < n; i++)
        next[i] = point(hull, hull->count - 1)[i] - point(hull, 0)[i];
      if (!orthogonalize(hull, next)) return false;
      hull->d++;
    }
  }
  return true;
}

/* The direction across d - 1 edges. False: they do not span a facet. */
static bool normal_of(int d, double edges[D][D], double normal[]) {
  int pivot[D] = {0}, n_pivots = 0;
  bool is_pivot[D] = {false};
  for (int e = 0; e < d - 1; e++) {
    double largest = 0;
    for (int f = 0; f < n_pivots; f++) {
      double factor = edges[e][pivot[f]] / edges[f][pivot[f]];
      for (int j = 0; j < d; j++) edges[e][j] -= factor * edges[f][j];
    }
    double length = sqrt(dot(edges[e], edges[e], d));
    for (int j = 0; j < d; j++)
      if (!is_pivot[j] && fabs(edges[e][j]) > largest) {
        largest = fabs(edges[e][j]);
        pivot[e] = j;
      }
    if (!(largest > SPANNED * length) || length == 0) return false;
    is_pivot[pivot[e]] = true;
    n_pivots++;
  }
  int left = 0;
  while (is_pivot[left]) left++;
  memset(normal, 0, (size_t)d * sizeof *normal);
  normal[left] = 1;
  for (int e = d - 2; e >= 0; e--)
    normal[pivot[e]] = -dot(edges[e], normal, d) / edges[e][pivot[e]];
  double length = sqrt(dot(normal, normal, d));
  for (int j = 0; j < d; j++) normal[j] /= length;
  return true;
}

/* Is there a facet through these d points, with all others on one side of it? */
static bool is_facet(const hull *hull, const int through[], double normal[],
                     double *offset) {
  int d = hull->d, n_above = 0, n_below = 0;
  double edges[D][D];
  for (int e = 0; e < d - 1; e++)
    for (int j = 0; j < d; j++)
      edges[e][j] = hull->at[through[e + 1]][j] - hull->at[through[0]][j];
  if (!normal_of(d, edges, normal)) return false;
  *offset = dot(normal, hull->at[through[0]], d);
  for (int k = 0; k < hull->count; k++) {
    double height = dot(normal, hull->at[k], d) - *offset;
    n_above += height > hull->leaf->same;
    n_below += height < -hull->leaf->same;
  }
  if (n_above > 0 && n_below > 0) return false;
  double sign = n_above > 0 ? -1 : 1;
  for (int j = 0; j < d; j++) normal[j] *= sign;
  *offset *= sign;
  return true;
}

static bool is_known(const hull *hull, const double normal[], double offset) {
  for (int f = 0; f < hull->n_facets; f++)
    if (fabs(hull->offsets[f] - offset) <= hull->leaf->same &&
        dot(hull->normals[f], normal, hull->d) > 1 - 1e-9)
      return true;
  return false;
}

/* The next d of count points, as the digits of a number. */
static bool next_choice(int choice[], int d, int count) {
  int k = d - 1;
  while (k >= 0 && choice[k] == count - d + k) k--;
  if (k < 0) return false;
  choice[k]++;
  for (int j = k + 1; j < d; j++) choice[j] = choice[j - 1] + 1;
  return true;
}

static void locate(hull *hull) {
  int n = hull->leaf->n;
  for (int k = 0; k < hull->count; k++)
    for (int j = 0; j < hull->d; j++) {
      hull->at[k][j] = 0;
      for (int i = 0; i < n; i++)
        hull->at[k][j] +=
            hull->basis[j * n + i] * (point(hull, k)[i] - point(hull, 0)[i]);
    }
}

/* Look beyond every facet until nothing is there. */
static bool look_beyond(hull *hull) {
  int d = hull->d, n = hull->leaf->n, choice[D];
  bool failed = false;
  for (;;) {
    locate(hull);
    bool grown = false;
    for (int k = 0; k < d; k++) choice[k] = k;
    do {
      double normal[D], offset;
      if (!is_facet(hull, choice, normal, &offset)) continue;
      if (is_known(hull, normal, offset)) continue;
      memset(hull->toward, 0, (size_t)n * sizeof *hull->toward);
      for (int j = 0; j < d; j++)
        for (int i = 0; i < n; i++)
          hull->toward[i] += normal[j] * hull->basis[j * n + i];
      grown = go(hull, hull->toward, &failed);
      if (failed || (!grown && hull->n_facets == MOST_FACETS)) return false;
      if (grown) break;
      memcpy(hull->normals[hull->n_facets], normal, sizeof normal);
      hull->offsets[hull->n_facets++] = offset;
    } while (!grown && next_choice(choice, d, hull->count));
    if (!grown) return true;
  }
}

/* Is a point where facets of all dimensions meet? */
static bool is_corner(const hull *hull, int k) {
  int d = hull->d, rank = 0;
  double spanned[D][D];
  for (int f = 0; f < hull->n_facets && rank < d; f++) {
    const double *normal = hull->normals[f];
    if (dot(normal, hull->at[k], d) < hull->offsets[f] - hull->leaf->same)
      continue;
    double *own = spanned[rank];
    memcpy(own, normal, (size_t)d * sizeof *own);
    for (int r = 0; r < rank; r++) {
      double along = dot(own, spanned[r], d);
      for (int j = 0; j < d; j++) own[j] -= along * spanned[r][j];
    }
    double length = sqrt(dot(own, own, d));
    if (length <= 1e-6) continue;
    for (int j = 0; j < d; j++) own[j] /= length;
    rank++;
  }
  return rank == d;
}

int contact_leaf_corners(const contact_leaf *leaf, double moves[], int n_moves,
                         bool *whole) {
  int n = leaf->n, n_corners = 0;
  size_t size = (size_t)n * sizeof(double);
  hull hull = {
      .leaf = leaf, .basis = leaf->scratch, .toward = leaf->scratch + n * n};
  *whole = span(&hull, moves, n_moves);
  if (hull.d == 0) return hull.count > 0;
  if (!*whole) return hull.count;
  *whole = look_beyond(&hull);
  for (int k = 0; k < hull.count; k++) {
    if (*whole && !is_corner(&hull, k)) continue;
    memmove(&leaf->lambdas[n_corners * n], &leaf->lambdas[k * n], size);
    memmove(&leaf->reached[n_corners * n], &leaf->reached[k * n], size);
    n_corners++;
  }
  return n_corners;
}
