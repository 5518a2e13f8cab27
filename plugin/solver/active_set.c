#include "solver/active_set.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"

/* The proximal term, of a row's diagonal: it keeps the system of redundant rows
 * regular, and a step takes all but about this share of its error away. */
static const double usual_prox = 1e-6;

static double signed_one(int state) { return state == ROW_AT_LOW ? -1 : 1; }

/* The state that p - w / A asks for, and by how much it misses the present
 * one, in m/s. */
static int wanted_state(const solve_work *work, int row, const double p[],
                        const double w[], double *miss) {
  const box_problem *box = &work->box;
  double low, high, A = box->diagonal[row];
  box_limits(box, row, p, &low, &high);
  double below = (low - p[row]) * A + w[row];
  double above = (p[row] - high) * A - w[row];
  if (low == high) { // a friction row without a normal impulse
    *miss = fabs(w[row]);
    return w[row] > 0   ? ROW_AT_LOW
           : w[row] < 0 ? ROW_AT_HIGH
                        : work->state[row];
  }
  switch (work->state[row]) {
    case ROW_ACTIVE: *miss = larger_of(below, above); break;
    case ROW_AT_LOW: *miss = -below; break;
    case ROW_AT_HIGH: *miss = -above; break;
  }
  return below > 0 ? ROW_AT_LOW : above > 0 ? ROW_AT_HIGH : ROW_ACTIVE;
}

/* The state that p - w / A asks for in every row, from work->p and work->w. */
static void read_states(solve_work *work) {
  const box_problem *box = &work->box;
  for (int row = 0; row < box->n_rows; row++) {
    double miss;
    work->state[row] = ROW_ACTIVE;
    work->state[row] = wanted_state(work, row, work->p, work->w, &miss);
  }
}

void active_set_of_guess(solve_work *work) {
  const double near = 1e-9;
  const box_problem *box = &work->box;
  for (int row = 0; row < box->n_rows; row++) {
    int type = box->type[row];
    double low, high, p = work->p[row], room = 0;
    box_limits(box, row, work->p, &low, &high);
    if (type == BOX_BOUNDED || type == BOX_FRICTION) room = near * (high - low);
    if (low == high)
      work->state[row] = work->w[row] > 0 ? ROW_AT_LOW : ROW_AT_HIGH;
    else
      work->state[row] = p - low <= room    ? ROW_AT_LOW
                         : high - p <= room ? ROW_AT_HIGH
                                            : ROW_ACTIVE;
  }
}

/* ---- weights of the active set ------------------------------------------- */

/* How the row's limit moves with the normal that it follows. */
static double follow_factor(const solve_work *work, int row) {
  const box_problem *box = &work->box;
  int normal = box->normal_of[row];
  if (work->state[row] == ROW_ACTIVE || normal == row ||
      work->state[normal] != ROW_ACTIVE)
    return 0;
  return signed_one(work->state[row]) * box->coefficient[row];
}

bool active_set_weigh(const solve_work *work, int first, int end) {
  const box_weights *weights = &work->weights;
  bool symmetric = true;
  for (int row = first; row < end; row++) {
    bool active = work->state[row] == ROW_ACTIVE;
    double follow = follow_factor(work, row);
    weights->own[row] = active ? 1 / work->softness[row] : 0;
    weights->follow[row] =
        follow == 0 ? 0 : follow * weights->own[work->box.normal_of[row]];
    symmetric = symmetric && follow == 0;
  }
  return symmetric;
}

bool active_set_factor(solve_work *work, double prox) {
  const box_problem *box = &work->box;
  for (int row = 0; row < box->n_rows; row++)
    work->softness[row] = box_softness(box, row, prox);
  bool symmetric = active_set_weigh(work, 0, box->n_rows);
  box_system_cross(box, &work->weights);
  return solve_work_factor(work, symmetric);
}

/* ---- steps --------------------------------------------------------------- */

void active_set_put_at_limits(solve_work *work, double p[]) {
  const box_problem *box = &work->box;
  for (int row = 0; row < box->n_rows; row++) {
    int state = work->state[row];
    if (state == ROW_ACTIVE || state == ROW_ON_CIRCLE) continue;
    double low, high;
    box_limits(box, row, p, &low, &high);
    p[row] = state == ROW_AT_LOW ? low : high;
  }
}

/* One linear step from p; its active rows may be out of their limits. */
static void step(solve_work *work, double p[]) {
  const box_problem *box = &work->box;
  active_set_put_at_limits(work, p);
  box_velocities(box, p, work->v);
  box_slips(box, work->v, p, work->w);
  for (int i = 0; i < box->n_rows; i++)
    work->r[i] = work->state[i] == ROW_ACTIVE ? -work->w[i] : 0;
  box_system_solve(&work->blocks, box, &work->weights, work->r, work->dv,
                   work->dp, work->scratch);
  for (int i = 0; i < box->n_rows; i++) p[i] += work->dp[i];
  work->iterations++;
  work->spent += work->cost.solve;
}

/* Judge the present p, brought into its limits, as an iterate; leaves in work->w the
 * slips of p itself. */
static bool reaches_target(solve_work *work, const double p[]) {
  const box_problem *box = &work->box;
  solve_work_take(work, p);
  if (work->residual <= solve_work_goal(work)) return true;
  if (memcmp(work->p, p, sizeof *p * (size_t)box->n_rows) != 0) {
    box_velocities(box, p, work->v);
    box_slips(box, work->v, p, work->w);
  }
  return false;
}

/* Change the rows that p asks to change by more than `noise` m/s.
 * @return how many; -1 where a miss is not finite. */
static int change_states(solve_work *work, const double p[], double noise) {
  int count = 0;
  double lost = 0;
  for (int row = 0; row < work->box.n_rows; row++) {
    double miss;
    int wanted = wanted_state(work, row, p, work->w, &miss);
    if (wanted == work->state[row] || miss <= noise) continue;
    count++;
    lost += 0 * miss;
    work->state[row] = wanted;
  }
  return lost == 0 ? count : -1;
}

/* Steps with the present factorisation while they help and no row changes.
 * @return how many rows change; 0 when the target is reached. */
static int refine(solve_work *work, double p[]) {
  enum { MAX_STEPS = 6 }; // each costs a solve, a tenth of a factorisation
  double noise = 0.1 * work->target * work->box.scale, last = INFINITY;
  int n_changed = 0;
  for (int i = 0; i < MAX_STEPS && n_changed == 0; i++) {
    step(work, p);
    if (reaches_target(work, p)) return 0;
    n_changed = change_states(work, p, noise);
    if (!(work->residual < 0.5 * last)) break;
    last = work->residual;
  }
  return n_changed != 0 ? n_changed : change_states(work, p, 0);
}

bool active_set_correct(solve_work *work, int max_factorisations) {
  double *p = work->kept_p;
  memcpy(p, work->p, sizeof *p * (size_t)work->box.n_rows);
  for (int k = 0; k < max_factorisations; k++) {
    if (!active_set_factor(work, usual_prox)) return false;
    int n_changed = refine(work, p);
    if (work->residual <= work->target) return true;
    if (n_changed <= 0) return false;
  }
  return false;
}

bool active_set_solve(solve_work *work, int max_factorisations) {
  read_states(work);
  return active_set_correct(work, max_factorisations);
}
