#include "solver/newton.h"

#include "common/matrix6.h"
#include "common/minmax.h"
#include "common/vec3.h"

/* M x, body by body. */
static void times_mass(const box_problem *box, const double x[], double Mx[]) {
  for (int b = 0; b < box->n_bodies; b++)
    matrix6_apply(Mx + 6 * b, box->problem->bodies[b].mass, x + 6 * b);
}

void newton_balance(const box_problem *box, const double v[], const double p[],
                    double momentum[], double balance[]) {
  int n_v = 6 * box->n_bodies;
  for (int i = 0; i < n_v; i++) momentum[i] = v[i] - box->v_base[i];
  times_mass(box, momentum, balance);
  box_impulses(box, p, momentum);
  for (int i = 0; i < n_v; i++) balance[i] -= momentum[i];
}

double newton_line(const box_problem *box, const double v[], const double dv[],
                   double momentum[], double at_0, newton_work_at *work_at,
                   void *of) {
  enum { MAX_TRIES = 10 };
  const double enough = 0.1;  // of the share at the beginning
  const double inside = 0.01; // of the interval, off its ends
  int n_v = 6 * box->n_bodies;
  times_mass(box, dv, momentum);
  double mass_dv = dot_of(n_v, dv, momentum), mass_v = 0;
  for (int i = 0; i < n_v; i++) mass_v += momentum[i] * (v[i] - box->v_base[i]);
  double low = 0, high = 1, at_low = at_0, at_high = NAN, t = 1;
  for (int k = 0; k < MAX_TRIES; k++) {
    double at = mass_v + t * mass_dv - work_at(of, t);
    if (k == 0 && at <= -enough * at_0) return 1;
    if (fabs(at) <= -enough * at_0) return t;
    if (at < 0) {
      low = t;
      at_low = at;
    } else {
      high = t;
      at_high = at;
    }
    // secant and halving in turn
    t = k & 1 ? 0.5 * (low + high)
              : low - at_low * (high - low) / (at_high - at_low);
    t = larger_of(t, low + inside * (high - low));
  }
  return t;
}
