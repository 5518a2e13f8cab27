#include "solver/box.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "common/six.h"

/* ---- J' p and J v -------------------------------------------------------- */

/* q += what impulses p are on the problem's rows. */
static void add_to_rows(const box_problem *box, const double p[], double q[]) {
  for (int r = 0; r < box->n_rows; r++) {
    const box_origin *origin = &box->origin[r];
    q[origin->rows[0]] += origin->g[0] * p[r];
    q[origin->rows[1]] += origin->g[1] * p[r];
  }
}

void box_impulses(const box_problem *box, const double p[], double impulse[]) {
  memset(box->of_rows, 0, sizeof(double) * (size_t)box->problem->n_rows);
  add_to_rows(box, p, box->of_rows);
  mlcp_impulses(box->problem, box->of_rows, impulse);
}

void box_velocities(const box_problem *box, const double p[], double v[]) {
  box_impulses(box, p, v);
  mlcp_respond(box->problem, box->v_base, v);
}

void box_relative(const box_problem *box, const double v[], double Jv[]) {
  int end = (int)by_fours((size_t)box->n_rows);
  mlcp_rates(box->problem, v, box->of_rows);
  for (int r = 0; r < end; r++) {
    const box_origin *origin = &box->origin[r];
    Jv[r] = origin->g[0] * box->of_rows[origin->rows[0]] +
            origin->g[1] * box->of_rows[origin->rows[1]];
  }
}

void box_slips(const box_problem *box, const double v[], const double p[],
               double w[]) {
  int end = (int)by_fours((size_t)box->n_rows);
  box_relative(box, v, w);
  for (int r = 0; r < end; r++)
    w[r] += (box->compliance[r] + box->relaxation * box->diagonal[r]) * p[r] +
            box->bias[r];
  for (int r = 0; r < box->n_rows && box->crossed; r++)
    w[r] += box->cross[r] * p[box->other_of[r]];
}

/* ---- limits and residual ------------------------------------------------- */

KERNEL four middle_four(four low, four x, four high) {
  return four_where(x < low, low, four_where(x > high, high, x));
}

/* Those that follow no other first: what the others follow is then in place. */
KERNEL void project(const box_problem *box, double p[]) {
  for (int i = 0; 4 * i < box->n_rows; i++) {
    four_mask friction = *(const four_mask *)(box->is_friction + 4 * i);
    four own = *(const four *)(p + 4 * i), low, high;
    four fixed = middle_four(*(const four *)(box->low + 4 * i), own,
                             *(const four *)(box->high + 4 * i));
    *(four *)(p + 4 * i) = four_where(friction, own, fixed);
    four normal = four_at(p, box->normal_of + 4 * i);
    box_limits_of_four(box, i, &normal, &low, &high);
    *(four *)(p + 4 * i) =
        four_where(friction, middle_four(low, own, high), fixed);
  }
}

IN_BOTH_WIDTHS(extern, void, box_project, (const box_problem *box, double p[]),
               , project, (box, p))

KERNEL double residual(const box_problem *box, const double p[],
                       const double w[]) {
  four worst = four_of(0), lost = four_of(0);
  for (int i = 0; 4 * i < box->n_rows; i++) {
    four own = *(const four *)(p + 4 * i), low, high;
    four A = *(const four *)(box->diagonal + 4 * i);
    four normal = four_at(p, box->normal_of + 4 * i);
    box_limits_of_four(box, i, &normal, &low, &high);
    four error = middle_four((low - own) * A, -*(const four *)(w + 4 * i),
                             (high - own) * A);
    worst = larger_four(worst, larger_four(error, -error));
    lost += 0 * error;
  }
  return sum_of_four(lost) == 0 ? largest_of_four(worst) / box->scale
                                : INFINITY; // where one is a NAN
}

IN_BOTH_WIDTHS(extern, double, box_residual,
               (const box_problem *box, const double p[], const double w[]),
               return, residual, (box, p, w))

double box_softness(const box_problem *box, int row, double prox) {
  const double regular = 1e-12;
  double A = box->diagonal[row];
  double own = box->compliance[row] + box->relaxation * A;
  return own > regular * A ? own : prox * A;
}

/* ---- to and from the problem's impulses ---------------------------------- */

/* The generators' impulses that make the guess of p_t; NAN where it is unknown. */
static void guess_generators(const box_problem *box, int first, int n,
                             const double guess[], double p[]) {
  const box_origin *origin = &box->origin[first];
  const double *g = origin->g, *h = origin[n - 1].g;
  double x = guess[origin->rows[0]], y = guess[origin->rows[1]];
  double det = g[0] * h[1] - g[1] * h[0];
  if (n == 1) {
    p[first] = g[0] * x + g[1] * y;
    return;
  }
  p[first] = (x * h[1] - y * h[0]) / det;
  p[first + 1] = (g[0] * y - g[1] * x) / det;
}

void box_take_guess(const box_problem *box, const double guess[], double p[],
                    bool known[]) {
  for (int r = 0, n; r < box->n_rows; r += n) {
    const box_origin *origin = &box->origin[r];
    n = 1;
    if (origin->friction < 0) {
      p[r] = origin->g[0] * guess[origin->rows[0]];
    } else {
      n = box->problem->frictions[origin->friction].n_pairs;
      guess_generators(box, r, n, guess, p);
    }
    for (int i = r; i < r + n; i++) {
      known[i] = isfinite(p[i]);
      if (!known[i]) p[i] = 0;
    }
  }
}

void box_give_impulses(const box_problem *box, const double p[],
                       double problem_p[]) {
  mlcp_fixed_impulses(box->problem, problem_p);
  add_to_rows(box, p, problem_p);
}
