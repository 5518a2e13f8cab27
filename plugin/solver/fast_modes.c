/* Modes: which rows are active (w = 0) and which sit at a limit.
 *
 * With the modes given the rest is linear; a friction row at its limit moves
 * with its normal. Rows change mode by the sign of p - w / A against their
 * limits, all at once at first. A small proximal term makes redundant rows
 * harmless and keeps their impulses near the last ones; repeated steps from
 * the recomputed slips take its error away.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "solver/fast_work.h"

enum {
  ACTIVE = FAST_ACTIVE,
  AT_LOW = FAST_AT_LOW,
  AT_HIGH = FAST_AT_HIGH
};

static double signed_one(int mode) { return mode == AT_LOW ? -1 : 1; }

/* The mode that p - w / A asks for, and by how much it misses the present
 * one, in m/s. */
static int wanted_mode(const fast_work *work, const fast_cluster *cluster,
                       int row, const double p[], const double w[],
                       double *miss) {
  const fast_form *form = &work->form;
  double low, high, A = form->diagonal[row];
  fast_form_limits(form, cluster, row, p, &low, &high);
  double below = (low - p[row]) * A + w[row];
  double above = (p[row] - high) * A - w[row];
  *miss = 0;
  if (low == high) { // a friction row without a normal impulse
    *miss = fabs(w[row]);
    return w[row] > 0 ? AT_LOW : w[row] < 0 ? AT_HIGH : work->mode[row];
  }
  switch (work->mode[row]) {
    case ACTIVE:
      *miss = larger_of(below, above);
      break;
    case AT_LOW:
      *miss = -below;
      break;
    case AT_HIGH:
      *miss = -above;
      break;
  }
  return below > 0 ? AT_LOW : above > 0 ? AT_HIGH : ACTIVE;
}

void fast_modes_first(fast_work *work) {
  const fast_form *form = &work->form;
  for (int c = 0; c < form->n_clusters; c++) {
    const fast_cluster *cluster = &form->clusters[c];
    for (int i = 0; i < cluster->n_rows; i++) {
      double miss;
      int row = cluster->first_row + i;
      work->mode[row] = ACTIVE;
      work->mode[row] =
          wanted_mode(work, cluster, row, work->p, work->w, &miss);
    }
  }
}

void fast_modes_all_active(fast_work *work) {
  for (int r = 0; r < work->form.n_rows; r++) work->mode[r] = ACTIVE;
}

void fast_modes_of_guess(fast_work *work) {
  const double near = 1e-9;
  const fast_form *form = &work->form;
  for (int c = 0; c < form->n_clusters; c++) {
    const fast_cluster *cluster = &form->clusters[c];
    for (int i = 0; i < cluster->n_rows; i++) {
      int row = cluster->first_row + i, type = form->type[row];
      double low, high, p = work->p[row], room = 0;
      fast_form_limits(form, cluster, row, work->p, &low, &high);
      if (type == FAST_BOX || type == FAST_FRICTION) room = near * (high - low);
      if (low == high)
        work->mode[row] = work->w[row] > 0 ? AT_LOW : AT_HIGH;
      else
        work->mode[row] = p - low <= room    ? AT_LOW
                        : high - p <= room ? AT_HIGH
                                           : ACTIVE;
    }
  }
}

/* ---- weights of the modes ------------------------------------------------ */

/* Does the row's limit move with the cluster's normal, and how? */
static double follow_factor(const fast_work *work, const fast_cluster *cluster,
                            int row) {
  const fast_form *form = &work->form;
  if (work->mode[row] == ACTIVE || form->type[row] != FAST_FRICTION
      || !cluster->has_normal || work->mode[cluster->first_row] != ACTIVE)
    return 0;
  return signed_one(work->mode[row]) * form->coefficient[row];
}

bool fast_modes_weights(const fast_work *work, const fast_cluster *cluster,
                        double prox, double W[]) {
  int m = cluster->n_rows;
  bool symmetric = true;
  memset(W, 0, sizeof(double) * (size_t)(m * m));
  for (int i = 0; i < m; i++) {
    int row = cluster->first_row + i;
    if (work->mode[row] == ACTIVE) {
      W[(m + 1) * i] = 1 / fast_form_softness(&work->form, row, prox);
      continue;
    }
    double follow = follow_factor(work, cluster, row);
    if (follow == 0) continue;
    W[m * i] = follow * W[0];
    symmetric = false;
  }
  return symmetric;
}

/* Generators whose compliance is coupled: rows of A say what each row's
 * impulse obeys. */
static bool coupled_weights(const fast_work *work, const fast_cluster *cluster,
                            double prox, double W[]) {
  const fast_form *form = &work->form;
  int m = cluster->n_rows;
  double A[FAST_MAX_CLUSTER * FAST_MAX_CLUSTER];
  const double *C = form->full_compliance + cluster->first_compliance;
  memset(A, 0, sizeof(double) * (size_t)(m * m));
  for (int i = 0; i < m; i++) {
    int row = cluster->first_row + i;
    if (work->mode[row] == ACTIVE) {
      for (int j = 0; j < m; j++) A[m * i + j] = C[m * i + j];
      A[(m + 1) * i] += (prox + form->relaxation) * form->diagonal[row];
    } else {
      A[(m + 1) * i] = 1;
      A[m * i] -= follow_factor(work, cluster, row);
    }
  }
  fast_system_invert(m, A, W);
  for (int j = 0; j < m; j++)
    if (work->mode[cluster->first_row + j] != ACTIVE)
      for (int i = 0; i < m; i++) W[m * i + j] = 0;
  return false;
}

bool fast_modes_factor(fast_work *work, double prox) {
  const fast_form *form = &work->form;
  bool symmetric = true;
  for (int c = 0; c < form->n_clusters; c++) {
    const fast_cluster *cluster = &form->clusters[c];
    double *W = work->weights + cluster->first_weight;
    bool simple = cluster->first_compliance < 0;
    if (!(simple ? fast_modes_weights(work, cluster, prox, W)
                 : coupled_weights(work, cluster, prox, W)))
      symmetric = false;
  }
  work->factorisations++;
  return fast_system_factor(&work->blocks, form, work->weights, symmetric);
}

/* ---- steps --------------------------------------------------------------- */

void fast_modes_put_at_limits(fast_work *work, double p[]) {
  const fast_form *form = &work->form;
  for (int c = 0; c < form->n_clusters; c++) {
    const fast_cluster *cluster = &form->clusters[c];
    for (int i = 0; i < cluster->n_rows; i++) {
      int row = cluster->first_row + i;
      if (work->mode[row] == ACTIVE) continue;
      double low, high;
      fast_form_limits(form, cluster, row, p, &low, &high);
      p[row] = work->mode[row] == AT_LOW ? low : high;
    }
  }
}

void fast_modes_step(fast_work *work, double p[]) {
  const fast_form *form = &work->form;
  fast_modes_put_at_limits(work, p);
  fast_form_velocities(form, p, work->v);
  fast_form_slips(form, work->v, p, work->w);
  for (int i = 0; i < form->n_rows; i++)
    work->r[i] = work->mode[i] == ACTIVE ? -work->w[i] : 0;
  fast_system_solve(&work->blocks, form, work->weights, work->r, work->dv,
                    work->dp, work->scratch);
  for (int i = 0; i < form->n_rows; i++) p[i] += work->dp[i];
  work->iterations++;
}

bool fast_modes_reach_target(fast_work *work, const double p[]) {
  const fast_form *form = &work->form;
  fast_work_take(work, p);
  if (work->residual <= work->target) return true;
  if (memcmp(work->p, p, sizeof *p * (size_t)form->n_rows) != 0) {
    fast_form_velocities(form, p, work->v);
    fast_form_slips(form, work->v, p, work->w);
  }
  return false;
}

fast_mode_changes fast_modes_compare(fast_work *work, const double p[],
                                     double noise, bool take) {
  const fast_form *form = &work->form;
  fast_mode_changes changes = {0, -1, ACTIVE, 0};
  for (int c = 0; c < form->n_clusters; c++) {
    const fast_cluster *cluster = &form->clusters[c];
    for (int i = 0; i < cluster->n_rows; i++) {
      int row = cluster->first_row + i;
      double miss;
      int wanted = wanted_mode(work, cluster, row, p, work->w, &miss);
      if (wanted == work->mode[row] || miss <= noise) continue;
      changes.count++;
      if (miss > changes.miss) {
        changes.miss = miss;
        changes.worst = row;
        changes.worst_mode = wanted;
      }
      if (take) work->mode[row] = wanted;
    }
  }
  return changes;
}

/* Steps with the present factorisation while they help and no mode changes.
 * @param take  take over all changes, else none.
 * @return true when the target is reached. */
static bool refine(fast_work *work, double p[], bool take,
                   fast_mode_changes *changes) {
  enum { MAX_STEPS = 6 };
  double noise = 0.1 * work->target * work->form.scale, last = INFINITY;
  changes->count = 0;
  for (int i = 0; i < MAX_STEPS && changes->count == 0; i++) {
    fast_modes_step(work, p);
    if (fast_modes_reach_target(work, p)) return true;
    *changes = fast_modes_compare(work, p, noise, take);
    if (!(work->residual < 0.5 * last)) break;
    last = work->residual;
  }
  if (changes->count == 0) *changes = fast_modes_compare(work, p, 0, take);
  return false;
}

/* Is the number of changes going down? Not when it has been above half of the
 * least so far for some turns. */
typedef struct progress {
  int least, n_idle;
} progress;

static void note_changes(progress *p, int n_changes) {
  p->n_idle = n_changes <= p->least / 2 ? 0 : p->n_idle + 1;
  if (n_changes < p->least) p->least = n_changes;
}

bool fast_modes_correct(fast_work *work, const fast_modes_options *options) {
  const fast_form *form = &work->form;
  double *p = work->kept_p;
  memcpy(p, work->p, sizeof *p * (size_t)form->n_rows);

  progress progress = {INT_MAX / 2, 0};
  for (int k = 0; k < options->max_factorisations; k++) {
    if (!fast_modes_factor(work, options->prox)) return false;
    bool all = k < options->max_all_changes;
    fast_mode_changes changes;
    if (refine(work, p, all, &changes)) return true;
    if (changes.count == 0 || !isfinite(changes.miss)) return false;
    note_changes(&progress, changes.count);
    if (changes.count > options->max_share * form->n_rows + 2
        || progress.n_idle > options->patience)
      return false;
    if (!all) work->mode[changes.worst] = changes.worst_mode;
  }
  return false;
}

bool fast_modes_solve(fast_work *work, const fast_modes_options *options) {
  fast_modes_first(work);
  return fast_modes_correct(work, options);
}
