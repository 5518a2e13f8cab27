#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/vec3.h"
#include "mlcp/mlcp.h"

/* ---- the problem is well formed ---------------------------------------- */

typedef struct complaint {
  char *message;
  size_t size;
} complaint;

__attribute__((format(printf, 2, 3))) static bool
wrong(complaint *c, const char *format, ...) {
  if (c->size > 0) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->message, c->size, format, arguments);
    va_end(arguments);
  }
  return false;
}

static bool check_body(const mlcp_body *body, int index, complaint *c) {
  if (!all_finite(body->mass, 36))
    return wrong(c, "body %d: mass is not finite", index);
  if (!all_finite(body->inverse_mass, 36))
    return wrong(c, "body %d: inverse mass is not finite", index);
  if (!all_finite(body->v_free, 6))
    return wrong(c, "body %d: v_free is not finite", index);
  for (int i = 0; i < 6; i++)
    if (!(body->mass[7 * i] > 0) || !(body->inverse_mass[7 * i] > 0))
      return wrong(c, "body %d: diagonal %d of the mass is not positive", index,
                   i);
  return true;
}

static bool check_row_bounds(const mlcp_row *row, int index, complaint *c) {
  if (row->kind == MLCP_ROW_FRICTION) return true;
  if (isnan(row->low) || isnan(row->high))
    return wrong(c, "row %d: a bound is nan", index);
  if (row->low > row->high || row->low == INFINITY || row->high == -INFINITY)
    return wrong(c, "row %d: low %g and high %g are out of order", index,
                 row->low, row->high);
  if (row->kind == MLCP_ROW_NORMAL && (row->low != 0 || row->high != INFINITY))
    return wrong(c, "row %d: a normal's bounds are not 0 and infinity", index);
  return true;
}

static bool check_row(const mlcp_problem *problem, int index, complaint *c) {
  const mlcp_row *row = &problem->rows[index];
  if (row->kind != MLCP_ROW_JOINT && row->kind != MLCP_ROW_NORMAL &&
      row->kind != MLCP_ROW_FRICTION)
    return wrong(c, "row %d: unknown kind %d", index, (int)row->kind);
  for (int side = 0; side < 2; side++) {
    if (row->body[side] < -1 || row->body[side] >= problem->n_bodies)
      return wrong(c, "row %d: body %d is out of range", index,
                   row->body[side]);
    if (!all_finite(row->J[side], 6))
      return wrong(c, "row %d: J is not finite", index);
  }
  if (row->body[0] != -1 && row->body[0] == row->body[1])
    return wrong(c, "row %d: both sides are body %d", index, row->body[0]);
  if (!isfinite(row->bias))
    return wrong(c, "row %d: bias is %g", index, row->bias);
  if (!isfinite(row->compliance) || row->compliance < 0)
    return wrong(c, "row %d: compliance is %g", index, row->compliance);
  return check_row_bounds(row, index, c);
}

static bool check_polygon(const mlcp_problem *problem, int index,
                          complaint *c) {
  const mlcp_friction *set = &problem->frictions[index];
  const mlcp_pair *pairs = problem->pairs + set->first_pair;

  if (set->n_base == 1 && set->n_pairs != 1)
    return wrong(c, "friction %d: one base row needs one pair", index);
  for (int k = 0; k < set->n_pairs; k++) {
    if (!all_finite(pairs[k].u, 2) || hypot(pairs[k].u[0], pairs[k].u[1]) == 0)
      return wrong(c, "friction %d: pair %d is zero or not finite", index, k);
    if (set->n_base == 1 && (pairs[k].u[0] != 1 || pairs[k].u[1] != 0))
      return wrong(c, "friction %d: the pair of one base row is not 1, 0",
                   index);
    double next[2];
    mlcp_next_vertex(pairs, set->n_pairs, k, next);
    if (set->n_pairs > 1 && !(mlcp_cross(pairs[k].u, next) > 0))
      return wrong(c, "friction %d: pairs are not counter-clockwise", index);
  }
  return true;
}

static bool ranges_meet(int a, int n_a, int b, int n_b) {
  return a < b + n_b && b < a + n_a;
}

static bool check_friction(const mlcp_problem *problem, int index,
                           complaint *c) {
  const mlcp_friction *set = &problem->frictions[index];
  if (set->n_base < 1 || set->n_base > 2 || set->first_row < 0 ||
      set->first_row > problem->n_rows - set->n_base)
    return wrong(c, "friction %d: base rows are out of range", index);
  if (set->n_pairs < 1 || set->first_pair < 0 ||
      set->first_pair > problem->n_pairs - set->n_pairs)
    return wrong(c, "friction %d: pairs are out of range", index);
  for (int i = 0; i < set->n_base; i++)
    if (problem->rows[set->first_row + i].kind != MLCP_ROW_FRICTION)
      return wrong(c, "friction %d: row %d is not a friction row", index,
                   set->first_row + i);
  if (set->normal < -1 || set->normal >= problem->n_rows)
    return wrong(c, "friction %d: normal %d is out of range", index,
                 set->normal);
  if (set->normal >= 0 && problem->rows[set->normal].kind != MLCP_ROW_NORMAL)
    return wrong(c, "friction %d: row %d is not a normal", index, set->normal);
  if (!isfinite(set->coefficient) || set->coefficient < 0 ||
      (set->normal == -1 && set->coefficient != 0))
    return wrong(c, "friction %d: coefficient is %g", index, set->coefficient);
  if (!isfinite(set->limit) || set->limit < 0)
    return wrong(c, "friction %d: limit is %g", index, set->limit);
  return check_polygon(problem, index, c);
}

/* Sets in ascending order cannot share anything; only a set that is out of
 * order is compared with all those before it. */
static bool check_sharing(const mlcp_problem *problem, complaint *c) {
  int n_base_rows = 0, row_end = 0, pair_end = 0;
  for (int i = 0; i < problem->n_frictions; i++) {
    const mlcp_friction *set = &problem->frictions[i];
    bool in_order = set->first_row >= row_end && set->first_pair >= pair_end;
    for (int j = 0; j < i && !in_order; j++) {
      const mlcp_friction *other = &problem->frictions[j];
      if (ranges_meet(set->first_row, set->n_base, other->first_row,
                      other->n_base) ||
          ranges_meet(set->first_pair, set->n_pairs, other->first_pair,
                      other->n_pairs))
        return wrong(c, "friction %d: shares rows or pairs with %d", i, j);
    }
    if (set->first_row + set->n_base > row_end)
      row_end = set->first_row + set->n_base;
    if (set->first_pair + set->n_pairs > pair_end)
      pair_end = set->first_pair + set->n_pairs;
    n_base_rows += set->n_base;
  }
  for (int i = 0; i < problem->n_rows; i++)
    if (problem->rows[i].kind == MLCP_ROW_FRICTION) n_base_rows--;
  if (n_base_rows != 0)
    return wrong(c, "%d friction rows belong to no friction set", -n_base_rows);
  return true;
}

bool mlcp_check(const mlcp_problem *problem, char *message,
                size_t message_size) {
  complaint c = {message, message_size};
  if (message_size > 0) message[0] = '\0';

  if (problem->n_bodies < 0 || problem->n_rows < 0 ||
      problem->n_frictions < 0 || problem->n_pairs < 0)
    return wrong(&c, "a count is negative");
  if (!isfinite(problem->velocity_floor) || !(problem->velocity_floor > 0))
    return wrong(&c, "velocity_floor is %g", problem->velocity_floor);
  for (int i = 0; i < problem->n_bodies; i++)
    if (!check_body(&problem->bodies[i], i, &c)) return false;
  for (int i = 0; i < problem->n_rows; i++)
    if (!check_row(problem, i, &c)) return false;
  for (int i = 0; i < problem->n_frictions; i++)
    if (!check_friction(problem, i, &c)) return false;
  return check_sharing(problem, &c);
}
