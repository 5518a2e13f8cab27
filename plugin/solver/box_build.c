#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "common/vec3.h"
#include "common/six.h"
#include "solver/box.h"

/* A cluster before sorting. */
typedef struct draft {
  int row;  /* normal or joint row, -1 for friction without a normal */
  int set;  /* first friction set, -1 for none; more in next_set */
  int a, b; /* as in graph_edge */
  int n_rows;
} draft;

typedef struct builder {
  box_problem *box;
  const mlcp_problem *problem;
  int *first_set, *next_set; /* by normal row; by set */
  int *count;                /* [n_bodies + 2] */
  draft *drafts, *sorted;
  int n_drafts;
} builder;

/* The row's bodies in the box formulation's order; J of a is row->J[side]. */
static void ordered_bodies(const mlcp_row *row, int *a, int *b, int *side) {
  int first = row->body[0], second = row->body[1];
  *side = first < 0 || (second >= 0 && second < first);
  *a = *side ? second : first;
  *b = *side ? first : second;
  if (*a < 0) *a = 0; // acts on nothing: zeros on any body
}

static bool set_acts(const mlcp_friction *set) {
  return set->limit > 0 || set->coefficient > 0;
}

static bool set_fits(const builder *b, const mlcp_friction *set, int body_a,
                     int body_b) {
  for (int i = 0; i < set->n_base; i++) {
    int a, other, side;
    ordered_bodies(&b->problem->rows[set->first_row + i], &a, &other, &side);
    if (a != body_a || other != body_b) return false;
  }
  return true;
}

/* ---- clusters ------------------------------------------------------------ */

static void chain_sets(builder *b) {
  const mlcp_problem *problem = b->problem;
  for (int r = 0; r < problem->n_rows; r++) b->first_set[r] = -1;
  for (int i = problem->n_frictions - 1; i >= 0; i--) {
    int normal = problem->frictions[i].normal;
    b->next_set[i] = -1;
    if (normal < 0 || !set_acts(&problem->frictions[i])) continue;
    b->next_set[i] = b->first_set[normal];
    b->first_set[normal] = i;
  }
}

static bool add_draft(builder *b, int row, int set) {
  const mlcp_problem *problem = b->problem;
  draft *d = &b->drafts[b->n_drafts++];
  int side;
  d->row = row;
  d->set = set;
  d->n_rows = row >= 0;
  ordered_bodies(
      &problem->rows[row >= 0 ? row : problem->frictions[set].first_row], &d->a,
      &d->b, &side);
  for (int i = set; i >= 0; i = row >= 0 ? b->next_set[i] : -1) {
    if (!set_fits(b, &problem->frictions[i], d->a, d->b)) return false;
    d->n_rows += problem->frictions[i].n_pairs;
    if (problem->frictions[i].n_pairs > 2 || d->n_rows > BOX_MAX_CLUSTER)
      return false;
  }
  b->box->n_rows += d->n_rows;
  return true;
}

static bool draft_clusters(builder *b) {
  const mlcp_problem *problem = b->problem;
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    if (row->kind != MLCP_ROW_FRICTION && row->low != row->high &&
        !add_draft(b, r, b->first_set[r]))
      return false;
  }
  for (int i = 0; i < problem->n_frictions; i++)
    if (problem->frictions[i].normal < 0 && set_acts(&problem->frictions[i]) &&
        !add_draft(b, -1, i))
      return false;
  return true;
}

/* A stable pass of counting sort by one body; b may be -1. */
static void sort_pass(builder *b, const draft from[], draft to[], bool by_a) {
  int n_keys = b->problem->n_bodies + 1, sum = 0;
  memset(b->count, 0, sizeof(int) * (size_t)n_keys);
  for (int i = 0; i < b->n_drafts; i++)
    b->count[(by_a ? from[i].a : from[i].b) + 1]++;
  for (int k = 0; k < n_keys; k++) {
    int count = b->count[k];
    b->count[k] = sum;
    sum += count;
  }
  for (int i = 0; i < b->n_drafts; i++)
    to[b->count[(by_a ? from[i].a : from[i].b) + 1]++] = from[i];
}

/* ---- rows ---------------------------------------------------------------- */

/* What a box row of the draft is made of: f of one row, g of another, or the same. */
static void put_origin(box_problem *box, int at, const draft *d, int set,
                       int one, double f, int other, double g) {
  box_origin *origin = &box->origin[at];
  const mlcp_row *rows = box->problem->rows;
  *origin = (box_origin){set,
                         {one, other},
                         {f, g},
                         {{mlcp_row_on_body(&rows[one], d->a),
                           mlcp_row_on_body(&rows[other], d->a)},
                          {mlcp_row_on_body(&rows[one], d->b),
                           mlcp_row_on_body(&rows[other], d->b)}}};
}

/* A joint or normal row, turned round when only its upper bound is finite. */
static void put_own_row(box_problem *box, int at, const draft *d) {
  const mlcp_row *row = &box->problem->rows[d->row];
  bool below = row->low > -INFINITY, above = row->high < INFINITY;
  double sign = !below && above ? -1 : 1;

  box->bias[at] = sign * row->bias;
  box->compliance[at] = row->compliance;
  box->type[at] = below && above   ? BOX_BOUNDED
                  : below || above ? BOX_LOWER
                                   : BOX_FREE;
  box->low[at] = sign > 0 ? row->low : -row->high;
  box->high[at] = sign > 0 ? row->high : INFINITY;
  box->coefficient[at] = 0;
  put_origin(box, at, d, -1, d->row, sign, d->row, 0);
}

/* g_k = (u_(k+1) - u_k) / 2 of a set's polygon, of length 1 out. @return its length. */
static double find_generator(const mlcp_pair pairs[], int n, int k,
                             double g[2]) {
  double next[2];
  mlcp_next_vertex(pairs, n, k, next);
  for (int i = 0; i < 2; i++) g[i] = 0.5 * (next[i] - pairs[k].u[i]);
  double length = sqrt(g[0] * g[0] + g[1] * g[1]);
  g[0] /= length;
  g[1] /= length;
  return length;
}

static void put_generators(builder *b, int first, const draft *d,
                           int set_index) {
  box_problem *box = b->box;
  const mlcp_friction *set = &b->problem->frictions[set_index];
  const mlcp_row *one = &b->problem->rows[set->first_row];
  const mlcp_row *other = one + (set->n_base - 1);
  double coefficient = set->normal >= 0 ? set->coefficient : 0;
  // a square in an ellipse: in units in which that is a circle
  bool stretched = set->n_pairs == 2 && set->ellipse[0] != set->ellipse[1];
  for (int k = 0; k < set->n_pairs; k++) {
    int at = first + k;
    double generator[2];
    double length = find_generator(b->problem->pairs + set->first_pair,
                                   set->n_pairs, k, generator);
    double unit = stretched ? M_SQRT2 * length : 1;
    double f = unit * generator[0], g = unit * generator[1];
    if (set->n_base == 1) g = 0;
    length /= unit;
    put_origin(box, at, d, set_index, set->first_row, f,
               set->first_row + set->n_base - 1, g);
    box->bias[at] = f * one->bias + g * other->bias;
    box->compliance[at] = f * one->compliance * f + g * other->compliance * g;
    box->type[at] = BOX_FRICTION;
    box->low[at] = 0;
    box->high[at] = length * set->limit;
    box->coefficient[at] = length * coefficient;
  }
}

/* What the two generators of a set share of its base rows' compliance. */
static bool cross_generators(box_problem *box, int first) {
  const box_origin *p = &box->origin[first], *q = p + 1;
  const mlcp_row *rows = box->problem->rows;
  const double *own = &box->compliance[first];
  double cross = p->g[0] * rows[p->rows[0]].compliance * q->g[0] +
                 p->g[1] * rows[p->rows[1]].compliance * q->g[1];
  box->other_of[first] = first + 1;
  box->other_of[first + 1] = first;
  if (fabs(cross) <= 1e-15 * smaller_of(own[0], own[1])) return false;
  box->cross[first] = box->cross[first + 1] = cross;
  return true;
}

static void put_cluster(builder *b, const draft *d, box_cluster *cluster,
                        int first_row) {
  box_problem *box = b->box;
  int at = first_row;
  *cluster = (box_cluster){
      .first_row = first_row,
      .n_rows = d->n_rows,
      .has_normal =
          d->row >= 0 && b->problem->rows[d->row].kind == MLCP_ROW_NORMAL};
  for (int r = first_row; r < first_row + d->n_rows; r++) {
    box->other_of[r] = r;
    box->cross[r] = 0;
  }
  if (d->row >= 0) put_own_row(box, at++, d);
  for (int i = d->set; i >= 0; i = d->row >= 0 ? b->next_set[i] : -1) {
    int n = b->problem->frictions[i].n_pairs;
    put_generators(b, at, d, i);
    if (n == 2 && cross_generators(box, at)) cluster->crossed = true;
    at += n;
  }
  box->crossed = box->crossed || cluster->crossed;
}

/* ---- graph edges --------------------------------------------------------- */

/* A x = b for a symmetric positive 3 x 3 matrix, by cofactors; false when it
 * is near singular. */
static bool solve3(const double A[9], const double b[3], double x[3]) {
  double c0[3], c1[3], c2[3];
  vec3_cross(c0, A + 3, A + 6);
  vec3_cross(c1, A + 6, A);
  vec3_cross(c2, A, A + 3);
  double det = vec3_dot(A, c0), size = A[0] + A[4] + A[8];
  if (!(det > 1e-6 * size * size * size)) return false;
  for (int i = 0; i < 3; i++)
    x[i] = (c0[i] * b[0] + c1[i] * b[1] + c2[i] * b[2]) / det;
  return true;
}

/* Rows of one point have l_b = -l_a and r_b = -(r_a + o x l_a), where l and r
 * are the linear and angular halves and o is what separates the bodies'
 * centres. From l x (l x o) follows a 3 x 3 system for o, to which rows add. */
typedef struct offset_system {
  double A[9], right[3];
} offset_system;

static void add_offset_rows(const box_problem *box, int first_row, int n_rows,
                            offset_system *s) {
  for (int r = first_row; r < first_row + n_rows; r++) {
    double l[6], b[6];
    box_jacobian(box, r, BOX_A, l);
    box_jacobian(box, r, BOX_B, b);
    double c[3] = {l[3] + b[3], l[4] + b[4], l[5] + b[5]}, l_c[3];
    vec3_cross(l_c, l, c);
    double x = l[0] * l[0], y = l[1] * l[1], z = l[2] * l[2];
    s->A[0] += y + z;
    s->A[4] += x + z;
    s->A[8] += x + y;
    s->A[1] -= l[0] * l[1];
    s->A[2] -= l[0] * l[2];
    s->A[5] -= l[1] * l[2];
    for (int i = 0; i < 3; i++) s->right[i] -= l_c[i];
  }
  s->A[3] = s->A[1];
  s->A[6] = s->A[2];
  s->A[7] = s->A[5];
}

/* A contact with friction tells o alone; others have to be taken together, and
 * rows that all push one way leave o's part along it open: 0 then. */
static bool find_offset(const box_problem *box, graph_edge *edge) {
  offset_system s = {{0}, {0}};
  int first = edge->first_row;
  int n_first = box->clusters[edge->first_cluster].n_rows, at = first + n_first;
  double *offset = edge->offset, l[6];
  add_offset_rows(box, first, n_first, &s);
  if (solve3(s.A, s.right, offset)) return true;
  add_offset_rows(box, at, edge->end_row - at, &s);
  if (solve3(s.A, s.right, offset)) return true;
  box_jacobian(box, first, BOX_A, l);
  for (int i = 0; i < 9; i++) s.A[i] += l[i / 3] * l[i % 3];
  return solve3(s.A, s.right, offset);
}

static void put_graph_edges(builder *b) {
  box_problem *box = b->box;
  int row = 0;
  box->n_limited = 0;
  box->crossed = false;
  box->n_graph_edges = box->n_body_pairs = 0;
  graph_edge *edge = NULL;
  for (int c = 0; c < b->n_drafts; c++) {
    const draft *d = &b->drafts[c];
    if (edge == NULL || edge->a != d->a || edge->b != d->b) {
      edge = &box->graph_edges[box->n_graph_edges++];
      *edge = (graph_edge){.a = d->a,
                           .b = d->b,
                           .first_cluster = c,
                           .first_row = row,
                           .slot = -1};
      if (d->b >= 0) {
        edge->slot = box->n_body_pairs;
        box->body_pairs[box->n_body_pairs++] = (body_pair){d->a, d->b};
      }
    }
    edge->end_cluster = c + 1;
    put_cluster(b, d, &box->clusters[c], row);
    bool follows = box->clusters[c].has_normal;
    for (int i = 0; i < d->n_rows; i++, row++) {
      box->cluster_of[row] = c;
      box->normal_of[row] = follows ? box->clusters[c].first_row : row;
      box->is_friction[row] = box->type[row] == BOX_FRICTION ? -1 : 0;
      box->n_limited += box->type[row] != BOX_FREE;
    }
    edge->end_row = row;
  }
}

/* ---- masses -------------------------------------------------------------- */

/* But for rounding. H only serves to correct an iterate whose slips are
 * computed anew, so that what is left out here costs a correction its last
 * digits, no more. */
static bool mass_is_symmetric(const double m[36]) {
  const double noise = 1e-12;
  double gap = 0, least = INFINITY;
  for (int i = 0; i < 6; i++) least = m[7 * i] < least ? m[7 * i] : least;
  for (int i = 1; i < 6; i++)
    for (int j = 0; j < i; j++) gap += fabs(m[6 * i + j] - m[6 * j + i]);
  return gap <= noise * least;
}

static bool masses_are_symmetric(const mlcp_problem *problem) {
  for (int i = 0; i < problem->n_bodies; i++)
    if (!mass_is_symmetric(problem->bodies[i].mass)) return false;
  return true;
}

/* ---- what rows do to their bodies ---------------------------------------- */

/* J M^-1 J' of one body. */
KERNEL double norm_of(const double J[6], const double inverse[36]) {
  double sum = 0;
  for (int i = 0; i < 6; i++) sum += J[i] * dot6(inverse + 6 * i, J);
  return sum;
}

/* Whether J_b = -J_a T, as far as rounding tells. */
KERNEL bool row_is_twisted(const double J_a[6], const double J_b[6],
                           const double o[3]) {
  const double noise = 1e-14;
  four head = *(const four *)J_a;
  two tail = *(const two *)(J_a + 4);
  four size = head * head, error;
  two end_size = tail * tail, end_error;
  twist_row(&head, &tail, o);
  error = head + *(const four *)J_b;
  end_error = tail + *(const two *)(J_b + 4);
  size = size + head * head;
  end_size = end_size + tail * tail;
  error = error * error;
  end_error = end_error * end_error;
  double errors = (error[0] + error[1]) + (error[2] + error[3]) +
                  (end_error[0] + end_error[1]);
  double sizes =
      (size[0] + size[1]) + (size[2] + size[3]) + (end_size[0] + end_size[1]);
  return errors <= noise * noise * sizes;
}

/* Offsets of graph edges, and diagonals of their rows. */
KERNEL void measure_graph_edges(box_problem *box) {
  const mlcp_body *bodies = box->problem->bodies;
  for (int e = 0; e < box->n_graph_edges; e++) {
    graph_edge *edge = &box->graph_edges[e];
    bool twisted = edge->b >= 0 && find_offset(box, edge);
    for (int r = edge->first_row; r < edge->end_row; r++) {
      double J_a[6], J_b[6], A = box->compliance[r];
      box_jacobian(box, r, BOX_A, J_a);
      box_jacobian(box, r, BOX_B, J_b);
      A += norm_of(J_a, bodies[edge->a].inverse_mass);
      if (edge->b >= 0) A += norm_of(J_b, bodies[edge->b].inverse_mass);
      box->diagonal[r] = A > 0 ? A : 1;
      twisted = twisted && row_is_twisted(J_a, J_b, edge->offset);
    }
    edge->twisted = twisted;
  }
}

IN_BOTH_WIDTHS(static, void, measure_edges, (box_problem * box), ,
               measure_graph_edges, (box))

/* ---- memory -------------------------------------------------------------- */

static bool take_scratch(builder *b, arena *arena) {
  const mlcp_problem *problem = b->problem;
  size_t rows = (size_t)problem->n_rows, sets = (size_t)problem->n_frictions;
  return ARENA_TAKE(arena, b->drafts, rows + sets) &&
         ARENA_TAKE(arena, b->sorted, rows + sets) &&
         ARENA_TAKE(arena, b->first_set, rows) &&
         ARENA_TAKE(arena, b->next_set, sets) &&
         ARENA_TAKE(arena, b->count, problem->n_bodies + 2);
}

static bool take_arrays(box_problem *box, arena *arena) {
  size_t n = (size_t)box->n_rows, bodies = (size_t)box->n_bodies;
  size_t by_4 = by_fours(n);
  return ARENA_TAKE(arena, box->bias, by_4) &&
         ARENA_TAKE(arena, box->compliance, by_4) &&
         ARENA_TAKE(arena, box->diagonal, by_4) &&
         ARENA_TAKE(arena, box->low, by_4) &&
         ARENA_TAKE(arena, box->high, by_4) &&
         ARENA_TAKE(arena, box->coefficient, by_4) &&
         ARENA_TAKE(arena, box->normal_of, by_4) &&
         ARENA_TAKE(arena, box->other_of, by_4) &&
         ARENA_TAKE(arena, box->cross, by_4) &&
         ARENA_TAKE(arena, box->v_base, 6 * bodies) &&
         ARENA_TAKE(arena, box->of_rows, box->problem->n_rows) &&
         ARENA_TAKE(arena, box->origin, by_4) &&
         ARENA_TAKE(arena, box->type, n) &&
         ARENA_TAKE(arena, box->is_friction, by_4) &&
         ARENA_TAKE(arena, box->cluster_of, n) &&
         ARENA_TAKE(arena, box->graph_edges, box->n_clusters) &&
         ARENA_TAKE(arena, box->clusters, box->n_clusters) &&
         ARENA_TAKE(arena, box->body_pairs, box->n_clusters);
}

/* Rows that act on nothing, to the next four. */
static void put_end(box_problem *box) {
  for (int r = box->n_rows; r < (int)by_fours((size_t)box->n_rows); r++) {
    box->bias[r] = box->compliance[r] = box->coefficient[r] = 0;
    box->cross[r] = 0;
    box->low[r] = -INFINITY;
    box->high[r] = INFINITY;
    box->diagonal[r] = 1;
    box->normal_of[r] = box->other_of[r] = r;
    box->is_friction[r] = 0;
    box->origin[r] = (box_origin){.friction = -1};
  }
}

box_status box_build(box_problem *box, arena *arena,
                     const mlcp_problem *problem) {
  builder b = {.box = box, .problem = problem};
  box->problem = problem;
  box->n_bodies = problem->n_bodies;
  box->n_rows = box->n_clusters = 0;
  if (problem->n_bodies == 0) return BOX_UNSUITABLE;

  if (!take_scratch(&b, arena)) return BOX_NO_MEMORY;
  chain_sets(&b);
  if (!draft_clusters(&b)) return BOX_UNSUITABLE;
  sort_pass(&b, b.drafts, b.sorted, false);
  sort_pass(&b, b.sorted, b.drafts, true);
  box->n_clusters = b.n_drafts;

  if (!take_arrays(box, arena)) return BOX_NO_MEMORY;
  put_graph_edges(&b);
  put_end(box);
  box->symmetric_mass = masses_are_symmetric(problem);
  measure_edges(box);
  box->scale = mlcp_velocity_scale(problem);
  box->relaxation = 0;
  mlcp_fixed_impulses(problem, box->of_rows);
  mlcp_velocities(problem, box->of_rows, box->v_base);
  return BOX_BUILT;
}
