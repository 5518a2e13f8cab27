#include <math.h>
#include <string.h>

#include "solver/fast_form.h"

/* A cluster before sorting. */
typedef struct draft {
  int row;  /* normal or joint row, -1 for friction without a normal */
  int set;  /* first friction set, -1 for none; more in next_set */
  int a, b; /* as in fast_edge */
  int n_rows;
} draft;

typedef struct builder {
  fast_form *form;
  const mlcp_problem *problem;
  int *first_set, *next_set; /* by normal row; by set */
  int *plain;                /* [n_bodies] mass is a scalar and an inertia */
  int *count;                /* [n_bodies + 2] */
  draft *drafts, *sorted;
  int n_drafts;
  double *fixed; /* [n_rows] impulses of fixed rows */
  bool any_fixed;
} builder;

/* The row's bodies in the form's order; J of a is row->J[side]. */
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
      &problem->rows[row >= 0 ? row : problem->frictions[set].first_row],
      &d->a, &d->b, &side);
  for (int i = set; i >= 0; i = row >= 0 ? b->next_set[i] : -1) {
    if (!set_fits(b, &problem->frictions[i], d->a, d->b)) return false;
    if (problem->frictions[i].n_pairs > FAST_MAX_CLUSTER - d->n_rows)
      return false;
    d->n_rows += problem->frictions[i].n_pairs;
  }
  b->form->n_rows += d->n_rows;
  b->form->n_weights += d->n_rows * d->n_rows;
  return true;
}

static bool draft_clusters(builder *b) {
  const mlcp_problem *problem = b->problem;
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    b->fixed[r] = 0;
    if (row->kind == MLCP_ROW_FRICTION) continue;
    if (row->low == row->high) {
      b->fixed[r] = row->low;
      b->any_fixed = b->any_fixed || row->low != 0;
    } else if (!add_draft(b, r, b->first_set[r])) {
      return false;
    }
  }
  for (int i = 0; i < problem->n_frictions; i++)
    if (problem->frictions[i].normal < 0 && set_acts(&problem->frictions[i])
        && !add_draft(b, -1, i))
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

/* J = f times one row + g times another, which may be the same with g = 0. */
static void put_jacobian(fast_form *form, int at, const mlcp_row *one, double f,
                         const mlcp_row *other, double g) {
  int a, b, side, other_side;
  ordered_bodies(other, &a, &b, &other_side);
  ordered_bodies(one, &a, &b, &side);
  double *J_a = form->J_a + 6 * at, *J_b = form->J_b + 6 * at;
  for (int i = 0; i < 6; i++) {
    J_a[i] = f * one->J[side][i] + g * other->J[other_side][i];
    J_b[i] = b >= 0 ? f * one->J[!side][i] + g * other->J[!other_side][i] : 0;
  }
}

/* A joint or normal row, turned round when only its upper bound is finite. */
static void put_own_row(fast_form *form, int at, int index) {
  const mlcp_row *row = &form->problem->rows[index];
  bool below = row->low > -INFINITY, above = row->high < INFINITY;
  double sign = !below && above ? -1 : 1;

  put_jacobian(form, at, row, sign, row, 0);
  form->bias[at] = sign * row->bias;
  form->compliance[at] = row->compliance;
  form->type[at] = below && above ? FAST_BOX
                 : below || above ? FAST_LOWER
                                  : FAST_FREE;
  form->low[at] = sign > 0 ? row->low : -row->high;
  form->high[at] = sign > 0 ? row->high : INFINITY;
  form->coefficient[at] = 0;
  form->origin[at] = (fast_origin){index, -1, {sign, 0}};
}

/* g_k = (u_(k+1) - u_k) / 2, as its length and a vector of length 1. */
static double generator(const mlcp_problem *problem, const mlcp_friction *set,
                        int k, double g[2]) {
  const mlcp_pair *pairs = problem->pairs + set->first_pair;
  bool last = k + 1 == set->n_pairs;
  for (int i = 0; i < 2; i++) {
    double next = last ? -pairs[0].u[i] : pairs[k + 1].u[i];
    g[i] = 0.5 * (next - pairs[k].u[i]);
  }
  double length = sqrt(g[0] * g[0] + g[1] * g[1]);
  g[0] /= length;
  g[1] /= length;
  return length;
}

static void put_generator(fast_form *form, int at, int set_index, int k) {
  const mlcp_problem *problem = form->problem;
  const mlcp_friction *set = &problem->frictions[set_index];
  fast_origin *origin = &form->origin[at];
  *origin = (fast_origin){-1, set_index, {0, 0}};
  double length = generator(problem, set, k, origin->g);

  const mlcp_row *one = &problem->rows[set->first_row];
  const mlcp_row *other = one + (set->n_base - 1);
  double f = origin->g[0], g = set->n_base == 2 ? origin->g[1] : 0;
  put_jacobian(form, at, one, f, other, g);
  form->bias[at] = f * one->bias + g * other->bias;
  form->compliance[at] = f * one->compliance * f + g * other->compliance * g;
  form->type[at] = FAST_FRICTION;
  form->low[at] = 0;
  form->high[at] = length * set->limit;
  form->coefficient[at] = set->normal >= 0 ? length * set->coefficient : 0;
}

/* Generators that share compliant base rows: G' C G, kept when it has more
 * than a diagonal. */
static void put_full_compliance(fast_form *form, fast_cluster *cluster) {
  int m = cluster->n_rows;
  double *full = form->full_compliance + form->n_compliances;
  bool coupled = false;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      int r = cluster->first_row + i, s = cluster->first_row + j;
      const fast_origin *p = &form->origin[r], *q = &form->origin[s];
      full[m * i + j] = i == j ? form->compliance[r] : 0;
      if (i == j || p->friction < 0 || p->friction != q->friction) continue;
      const mlcp_friction *set = &form->problem->frictions[p->friction];
      double sum = 0;
      for (int t = 0; t < set->n_base; t++)
        sum += p->g[t] * form->problem->rows[set->first_row + t].compliance
             * q->g[t];
      full[m * i + j] = sum;
      coupled = coupled || fabs(sum) > 1e-15 * form->compliance[r];
    }
  cluster->first_compliance = coupled ? form->n_compliances : -1;
  if (coupled) form->n_compliances += m * m;
}

static void put_cluster(builder *b, const draft *d, fast_cluster *cluster,
                        int first_row, int first_weight) {
  fast_form *form = b->form;
  int at = first_row;
  cluster->first_row = first_row;
  cluster->n_rows = d->n_rows;
  cluster->first_weight = first_weight;
  cluster->has_normal =
      d->row >= 0 && b->problem->rows[d->row].kind == MLCP_ROW_NORMAL;

  if (d->row >= 0) put_own_row(form, at++, d->row);
  for (int i = d->set; i >= 0; i = d->row >= 0 ? b->next_set[i] : -1)
    for (int k = 0; k < b->problem->frictions[i].n_pairs; k++)
      put_generator(form, at++, i, k);
  cluster->first_compliance = -1;
  if (d->set >= 0) put_full_compliance(form, cluster);
}

/* ---- edges --------------------------------------------------------------- */

static void cross(const double a[3], const double b[3], double c[3]) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot3(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* A x = b for a symmetric positive 3 x 3 matrix, by cofactors; false when it
 * is near singular. */
static bool solve3(const double A[9], const double b[3], double x[3]) {
  double c0[3], c1[3], c2[3];
  cross(A + 3, A + 6, c0);
  cross(A + 6, A, c1);
  cross(A, A + 3, c2);
  double det = dot3(A, c0), size = A[0] + A[4] + A[8];
  if (!(det > 1e-6 * size * size * size)) return false;
  for (int i = 0; i < 3; i++)
    x[i] = (c0[i] * b[0] + c1[i] * b[1] + c2[i] * b[2]) / det;
  return true;
}

/* Rows of one point have l_b = -l_a and r_b = -(r_a + o x l_a), where l and r
 * are the linear and angular halves and o is what separates the bodies'
 * centres. From l x (l x o) follows a 3 x 3 system for o. */
static bool find_offset(const fast_form *form, int first_row, int n_rows,
                        double offset[3]) {
  double A[9] = {0}, right[3] = {0};
  for (int r = first_row; r < first_row + n_rows; r++) {
    const double *l = form->J_a + 6 * r;
    double c[3], l_c[3];
    for (int i = 0; i < 3; i++) c[i] = l[3 + i] + form->J_b[6 * r + 3 + i];
    cross(l, c, l_c);
    double square = dot3(l, l);
    for (int i = 0; i < 3; i++) {
      right[i] -= l_c[i];
      A[4 * i] += square;
      for (int j = 0; j < 3; j++) A[3 * i + j] -= l[i] * l[j];
    }
  }
  return solve3(A, right, offset);
}

static bool row_is_twisted(const fast_form *form, int row,
                           const double offset[3]) {
  const double *a = form->J_a + 6 * row, *b = form->J_b + 6 * row;
  double moved[3], size = 0, error = 0;
  cross(offset, a, moved);
  for (int i = 0; i < 3; i++) {
    error += fabs(a[i] + b[i]) + fabs(a[3 + i] + moved[i] + b[3 + i]);
    size += fabs(a[i]) + fabs(a[3 + i]) + fabs(moved[i]);
  }
  return error <= 1e-14 * size;
}

static void find_twist(fast_form *form, fast_edge *edge) {
  const fast_cluster *first = &form->clusters[edge->first_cluster];
  const fast_cluster *last = &form->clusters[edge->end_cluster - 1];
  int end = last->first_row + last->n_rows;
  edge->twisted = false;
  if (edge->b < 0
      || !find_offset(form, first->first_row, end - first->first_row,
                      edge->offset))
    return;
  for (int r = first->first_row; r < end; r++)
    if (!row_is_twisted(form, r, edge->offset)) return;
  edge->twisted = true;
}

static void put_edges(builder *b) {
  fast_form *form = b->form;
  int row = 0, weight = 0;
  form->n_compliances = 0;
  form->n_edges = form->n_body_edges = 0;
  fast_edge *edge = NULL;
  for (int c = 0; c < b->n_drafts; c++) {
    const draft *d = &b->drafts[c];
    if (edge == NULL || edge->a != d->a || edge->b != d->b) {
      edge = &form->edges[form->n_edges++];
      *edge = (fast_edge){.a = d->a, .b = d->b, .first_cluster = c, .slot = -1};
      if (d->b >= 0) {
        edge->slot = form->n_body_edges;
        form->body_edges[form->n_body_edges++] = (body_edge){d->a, d->b};
      }
    }
    edge->end_cluster = c + 1;
    put_cluster(b, d, &form->clusters[c], row, weight);
    row += d->n_rows;
    weight += d->n_rows * d->n_rows;
  }
  for (int e = 0; e < form->n_edges; e++) find_twist(form, &form->edges[e]);
}

/* ---- bodies and diagonals ------------------------------------------------ */

/* A scalar mass and an inertia, nothing coupling the two. */
static bool mass_is_plain(const double m[36]) {
  if (m[0] != m[7] || m[0] != m[14]) return false;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      if (i != j && (i < 3 || j < 3) && m[6 * i + j] != 0) return false;
  return true;
}

static bool mass_is_symmetric(const double m[36]) {
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < i; j++)
      if (m[6 * i + j] != m[6 * j + i]) return false;
  return true;
}

static double inverse_mass_norm(const double inverse[36], bool plain,
                                const double J[6]) {
  double sum = 0;
  if (plain) sum = inverse[0] * dot3(J, J);
  for (int i = plain ? 3 : 0; i < 6; i++)
    for (int j = plain ? 3 : 0; j < 6; j++)
      sum += J[i] * inverse[6 * i + j] * J[j];
  return sum;
}

static void find_diagonals(builder *b) {
  fast_form *form = b->form;
  const mlcp_body *bodies = b->problem->bodies;
  form->symmetric_mass = true;
  for (int i = 0; i < form->n_bodies; i++) {
    b->plain[i] = mass_is_plain(bodies[i].inverse_mass);
    if (!mass_is_symmetric(bodies[i].mass)) form->symmetric_mass = false;
  }
  for (int e = 0; e < form->n_edges; e++) {
    const fast_edge *edge = &form->edges[e];
    const fast_cluster *last = &form->clusters[edge->end_cluster - 1];
    int end = last->first_row + last->n_rows;
    for (int r = form->clusters[edge->first_cluster].first_row; r < end; r++) {
      double A = form->compliance[r]
               + inverse_mass_norm(bodies[edge->a].inverse_mass,
                                   b->plain[edge->a], form->J_a + 6 * r);
      if (edge->b >= 0)
        A += inverse_mass_norm(bodies[edge->b].inverse_mass, b->plain[edge->b],
                               form->J_b + 6 * r);
      form->diagonal[r] = A > 0 ? A : 1;
    }
  }
}

/* ---- memory -------------------------------------------------------------- */

static bool reserve_scratch(builder *b, const memory_source *source) {
  const mlcp_problem *problem = b->problem;
  size_t rows = (size_t)problem->n_rows, sets = (size_t)problem->n_frictions;
  size_t bodies = (size_t)problem->n_bodies, drafts = rows + sets;
  size_t bytes = sizeof(double) * rows + 2 * sizeof(draft) * drafts
               + sizeof(int) * (rows + sets + 2 * bodies + 2);
  double *scratch =
      memory_block_reserve(&b->form->scratch, source, bytes, 1);
  if (scratch == NULL) return false;
  b->fixed = scratch;
  b->drafts = (draft *)(scratch + rows);
  b->sorted = b->drafts + drafts;
  b->first_set = (int *)(b->sorted + drafts);
  b->next_set = b->first_set + rows;
  b->plain = b->next_set + sets;
  b->count = b->plain + bodies;
  return true;
}

static bool reserve_form(builder *b, const memory_source *source) {
  fast_form *form = b->form;
  size_t n = (size_t)form->n_rows, c = (size_t)form->n_clusters;
  size_t numbers = 19 * n + (size_t)form->n_weights
                 + 6 * (size_t)form->n_bodies;
  double *at =
      memory_block_reserve(&form->numbers, source, numbers, sizeof *at);
  size_t bytes = c * (sizeof(fast_edge) + sizeof(fast_cluster)
                      + sizeof(body_edge))
               + n * (sizeof(fast_origin) + sizeof(int));
  char *structs = memory_block_reserve(&form->structs, source, bytes, 1);
  if (at == NULL || structs == NULL) return false;

  form->J_a = at;
  form->J_b = at + 6 * n;
  form->bias = at + 12 * n;
  form->compliance = at + 13 * n;
  form->diagonal = at + 14 * n;
  form->low = at + 15 * n;
  form->high = at + 16 * n;
  form->coefficient = at + 17 * n;
  form->full_compliance = at + 18 * n;
  form->v_base = form->full_compliance + form->n_weights;

  form->origin = (fast_origin *)structs;
  form->edges = (fast_edge *)(form->origin + n);
  form->clusters = (fast_cluster *)(form->edges + c);
  form->body_edges = (body_edge *)(form->clusters + c);
  form->type = (int *)(form->body_edges + c);
  return true;
}

void fast_form_release(fast_form *form, const memory_source *source) {
  memory_block_release(&form->numbers, source);
  memory_block_release(&form->structs, source);
  memory_block_release(&form->scratch, source);
}

fast_form_status fast_form_build(fast_form *form, const memory_source *source,
                                 const mlcp_problem *problem) {
  builder b = {.form = form, .problem = problem};
  form->problem = problem;
  form->n_bodies = problem->n_bodies;
  form->n_rows = form->n_clusters = form->n_weights = 0;
  if (problem->n_bodies == 0) return FAST_FORM_UNSUITABLE;

  if (!reserve_scratch(&b, source)) return FAST_FORM_NO_MEMORY;
  chain_sets(&b);
  if (!draft_clusters(&b)) return FAST_FORM_UNSUITABLE;
  sort_pass(&b, b.drafts, b.sorted, false);
  sort_pass(&b, b.sorted, b.drafts, true);
  form->n_clusters = b.n_drafts;

  if (!reserve_form(&b, source)) return FAST_FORM_NO_MEMORY;
  put_edges(&b);
  find_diagonals(&b);
  form->scale = mlcp_velocity_scale(problem);
  form->relaxation = 0;
  if (b.any_fixed)
    mlcp_velocities(problem, b.fixed, form->v_base);
  else
    for (int i = 0; i < form->n_bodies; i++)
      memcpy(form->v_base + 6 * i, problem->bodies[i].v_free,
             sizeof problem->bodies[i].v_free);
  return FAST_FORM_BUILT;
}
