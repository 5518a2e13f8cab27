#include "impacts/impact_ends.h"

#include <math.h>
#include <string.h>

#include "impacts/philox.h"

/* Shares of small and of full caps, and by how many decades a small one may be
 * below a full one. */
#define SHARE_SMALL 0.4
#define SHARE_FULL 0.3
#define SMALL_DECADES 9.0

/* Of a block: samples that draw all anew before any goes on from another; and of
 * those after them the share that does so still. */
#define DRAWN_ANEW 512
#define STILL_ANEW 0.1

/* A changed cap: the share of those drawn anew; the others move by up to h, by any
 * of so many decades less. */
#define CHANGED_ANEW 0.3
#define MOVE_DECADES 10.0

/* Caps are no smaller, in parts of h. */
#define LEAST_CAP 1e-12

bool impact_ends_open(impact_ends *ends, const contact_space *space,
                      uint64_t seed, arena *arena) {
  size_t size = IMPACT_ENDS_STEPS * ((size_t)space->n_contacts + 1);
  *ends = (impact_ends){.space = space, .seed = seed, .best = -INFINITY};
  bool ready = ARENA_TAKE(arena, ends->parent, size) &&
               ARENA_TAKE(arena, ends->tried, size);
  if (!ready) ends->space = NULL;
  return ready;
}

uint64_t impact_ends_missing(impact_ends *ends, uint64_t sample,
                             uint64_t *first) {
  uint64_t block = sample / IMPACT_ENDS_BLOCK;
  uint64_t place = sample % IMPACT_ENDS_BLOCK;
  if (ends->block != block || ends->next > place) {
    ends->block = block;
    ends->next = 0;
    ends->best = -INFINITY;
  }
  *first = block * IMPACT_ENDS_BLOCK + ends->next;
  return place - ends->next;
}

static double any_cap(const double pair[2]) {
  return pair[0] < SHARE_SMALL ? pow(10, -SMALL_DECADES * pair[1])
         : pair[0] < SHARE_SMALL + SHARE_FULL ? 1
                                              : pair[1];
}

void impact_ends_begin(impact_ends *ends, uint64_t sample) {
  double pair[2], more[2];
  int width = ends->space->n_contacts + 1;
  philox_pair(ends->seed, sample, 0, PHILOX_CHANGES, pair);
  ends->goes_on = ends->best > -INFINITY && ends->best_steps > 0 &&
                  ends->next >= DRAWN_ANEW && pair[0] >= STILL_ANEW;
  ends->n_changes = 1 + (int)(3 * pair[1]);
  for (int i = 0; i < ends->n_changes && ends->goes_on; i++) {
    philox_pair(ends->seed, sample, 1 + (uint32_t)i, PHILOX_CHANGES, pair);
    philox_pair(ends->seed, sample, 1 + (uint32_t)i, PHILOX_CHANGES + 1, more);
    int place = (int)(pair[0] * ends->best_steps * width);
    ends->changed[i] = place;
    double part = ends->parent[place];
    if (place % width == width - 1) {
      part = more[0]; // another solution
    } else if (pair[1] < CHANGED_ANEW) {
      part = any_cap(more);
    } else {
      double by = pow(10, -MOVE_DECADES * more[0]);
      part += by * (2 * more[1] - 1);
    }
    ends->to[i] = smaller(larger(part, LEAST_CAP), 1);
  }
  ends->next++;
}

const double *impact_ends_draw(impact_ends *ends, uint64_t sample, int step) {
  int m = ends->space->n_contacts, width = m + 1;
  // beyond what is handed on one place is enough
  int row = step < IMPACT_ENDS_STEPS ? step : IMPACT_ENDS_STEPS - 1;
  double *draw = &ends->tried[row * width], pair[2];
  if (ends->goes_on && step < ends->best_steps) {
    memcpy(draw, &ends->parent[row * width], (size_t)width * sizeof *draw);
    for (int i = 0; i < ends->n_changes; i++)
      if (ends->changed[i] / width == row)
        draw[ends->changed[i] % width] = ends->to[i];
    return draw;
  }
  for (int i = 0; i < m; i++) {
    philox_pair(ends->seed, sample, (uint32_t)step, (uint32_t)(PHILOX_ENDS + i),
                pair);
    draw[i] = any_cap(pair);
  }
  philox_pair(ends->seed, sample, (uint32_t)step, PHILOX_SOLUTION, pair);
  draw[m] = pair[0];
  return draw;
}

/* How far an outcome goes to the block's end, in the caller's directions. */
static double reach(const impact_ends *ends, const double c[]) {
  const contact_space *space = ends->space;
  int per = space->n_tangents == 1 ? 2 : 3;
  uint64_t end = ends->block % (2 * (uint64_t)(space->n_contacts * per));
  int contact = (int)(end / 2) / per, direction = (int)(end / 2) % per;
  double value = c[contact * space->per_contact], slip[2];
  if (direction > 0) {
    contact_space_slip(space, contact, &c[contact * space->per_contact + 1],
                       slip);
    value = slip[direction - 1];
  }
  return end % 2 == 0 ? value : -value;
}

void impact_ends_finish(impact_ends *ends, const double c[], int n_steps) {
  if (c == NULL) return;
  double value = reach(ends, c);
  if (value <= ends->best) return;
  ends->best = value;
  // the last row is no step's own where there are more
  ends->best_steps =
      n_steps < IMPACT_ENDS_STEPS ? n_steps : IMPACT_ENDS_STEPS - 1;
  size_t width = (size_t)ends->space->n_contacts + 1;
  memcpy(ends->parent, ends->tried,
         (size_t)ends->best_steps * width * sizeof *ends->parent);
}
