#include "assembly/impulse_guess.h"

#include <math.h>

#include "assembly/pair_guess.h"
#include "common/vec3.h"

int impulse_guess_second_side(const world_snapshot *world,
                              const host_contact *point) {
  return world_serial(world, point->body[0]) >
                 world_serial(world, point->body[1])
             ? 0
             : 1;
}

void impulse_guess_joint(double guess[], int n_rows, const contact_entry *old) {
  /* where a stop was reached or left, the rows before its own are the same */
  for (int i = 0; i < n_rows; i++)
    guess[i] = old != NULL && i < old->n_rows ? old->impulses[i] : NAN;
}

void impulse_guess_contact(double guess[], const contact_rows *rows,
                           const contact_entry *old, int side) {
  double sign = side == 0 ? 1 : -1;
  for (int i = 0; i < rows->n_rows; i++) {
    if (old == NULL)
      guess[i] = NAN;
    else if (i >= 1 && i <= rows->n_sliding)
      guess[i] = sign * vec3_dot(rows->sliding_axis[i - 1], old->sliding);
    else
      guess[i] = old->impulses[i > 0 ? i - rows->n_sliding : 0];
  }
}

/* True if a pair passes on what it did at the places where it did. */
static bool is_pair_unchanged(const recall *recall, int first) {
  const double MOVED = 1e-6; /* of an arm */
  const contact_match *matches = recall->matches;
  int n_left = matches[first].run_end - matches[first].run;
  for (int k = first; k >= 0; k = matches[k].next, n_left--) {
    double arm = vec3_length(recall->keys[k].local[1]);
    if (matches[k].old == NULL || sqrt(matches[k].square) > MOVED * arm)
      return false;
  }
  return n_left == 0;
}

void impulse_guess_balance(const recall *recall, const world_snapshot *world,
                           const world_contact items[],
                           const contact_rows rows[], const host_body bodies[],
                           int k, double guess[]) {
  int first = recall->contact_key[k];
  const contact_match *matches = recall->matches;
  if (first < 0 || matches[first].first != first ||
      matches[first].run == matches[first].run_end ||
      is_pair_unchanged(recall, first))
    return;
  for (int key = first; key >= 0; key = matches[key].next)
    if (rows[recall->keys[key].number].n_rows == 0) return; /* not all act */

  const host_contact *point = &items[recall->keys[first].number].point;
  int second = point->body[impulse_guess_second_side(world, point)];
  pair_guess pair;
  pair_guess_begin(&pair);
  for (int e = matches[first].run; e < matches[first].run_end; e++)
    pair_guess_add_old(&pair, &recall->memory->entries[e],
                       bodies[second].rotation);
  for (int key = first; key >= 0; key = matches[key].next) {
    int number = recall->keys[key].number;
    point = &items[number].point;
    pair_guess_take(&pair, point, &rows[number],
                    impulse_guess_second_side(world, point), guess);
  }
  if (!pair_guess_balance(&pair)) return;
  for (int key = first; key >= 0; key = matches[key].next) {
    int number = recall->keys[key].number;
    point = &items[number].point;
    pair_guess_move(&pair, point, &rows[number],
                    impulse_guess_second_side(world, point), guess);
  }
}
