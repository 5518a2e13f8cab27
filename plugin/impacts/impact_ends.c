#include "impacts/impact_ends.h"

#include <math.h>
#include <string.h>

#include "impacts/philox.h"

/* Shares of small and of full caps, and by how many decades a small one may be
 * below a full one. */
#define SHARE_SMALL 0.4
#define SHARE_FULL 0.3
#define SMALL_DECADES 9.0

/* Shares of climbs that begin at caps drawn anew, and, of the others, at the best
 * sample for any end. */
#define DRAWN_ANEW 0.3
#define FROM_OTHER 0.3

/* The first of these where no climb can go on, so that changes alone are to get far. */
#define DRAWN_WITHOUT_CLIMBS 0.05

/* A sample goes up from program to program until so many in a row gained nothing, and
 * no further than so many; a climb ends when so many samples of it did not gain. */
#define MOST_IDLE 6
#define MOST_PROGRAMS 100
#define MOST_FAILED 3

/* Of those that go on, the shares that change the steps themselves, go further
 * the way that progress went, or change all of one step. */
#define OTHER_STEPS 0.2
#define ALONG 0.15
#define WHOLE_STEP 0.2

/* A changed cap: the share of those drawn anew; the others move by up to h, by any
 * of so many decades less. */
#define CHANGED_ANEW 0.3
#define MOVE_DECADES 10.0

/* Caps are no smaller, in parts of h. */
#define LEAST_CAP 1e-12

static int ends_of(const contact_space *space) {
  return 2 * space->n_contacts * (space->n_tangents == 1 ? 2 : 3);
}

/* Numbers of a step's inputs and of its rows, for a way. */
static size_t inputs_of(const impact_ends *ends) {
  return (size_t)(ends->space->n_rows + ends->space->n_contacts);
}

static int width_of(const impact_ends *ends) {
  return ends->space->n_contacts + 1;
}

static bool take_plan(impact_plan *plan, const contact_space *space,
                      arena *arena) {
  const size_t steps = IMPACT_ENDS_STEPS;
  size_t n = (size_t)space->n_rows, m = (size_t)space->n_contacts;
  plan->n_steps = plan->way.n_steps = 0;
  return ARENA_TAKE(arena, plan->draws, steps * (m + 1)) &&
         ARENA_TAKE(arena, plan->way.inputs, steps * (n + m)) &&
         ARENA_TAKE(arena, plan->way.lambdas, steps * n) &&
         ARENA_TAKE(arena, plan->way.reached, steps * n);
}

bool impact_ends_open(impact_ends *ends, const contact_space *space,
                      uint64_t seed, int most_steps, double h, arena *arena) {
  int n_ends = ends_of(space);
  *ends = (impact_ends){
      .space = space,
      .seed = seed,
      .most_steps = most_steps < IMPACT_ENDS_STEPS - 1 ? most_steps
                                                       : IMPACT_ENDS_STEPS - 1,
      .n_aims = n_ends < IMPACT_ENDS_AIMS ? n_ends : IMPACT_ENDS_AIMS};
  bool ready =
      ARENA_TAKE(arena, ends->aims, (size_t)ends->n_aims) &&
      take_plan(&ends->planned, space, arena) &&
      take_plan(&ends->tried, space, arena) &&
      take_plan(&ends->climbed, space, arena) &&
      impact_climb_open(&ends->climb, space, h, ends->most_steps, arena);
  for (int i = 0; i < ends->n_aims && ready; i++) {
    ends->aims[i] = (impact_end){.value = -INFINITY};
    ready = take_plan(&ends->aims[i].best, space, arena) &&
            take_plan(&ends->aims[i].older, space, arena);
  }
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
    ends->climbed.way.n_steps = 0;
    for (int i = 0; i < ends->n_aims; i++) {
      ends->aims[i].value = -INFINITY;
      ends->aims[i].best.n_steps = ends->aims[i].older.n_steps = 0;
    }
  }
  *first = block * IMPACT_ENDS_BLOCK + ends->next;
  return place - ends->next;
}

static double any_cap(const double pair[2]) {
  return pair[0] < SHARE_SMALL ? pow(10, -SMALL_DECADES * pair[1])
         : pair[0] < SHARE_SMALL + SHARE_FULL ? 1
                                              : pair[1];
}

static double valid_part(double part) {
  return smaller(larger(part, LEAST_CAP), 1);
}

static void copy_plan(const impact_ends *ends, impact_plan *to,
                      const impact_plan *from) {
  to->n_steps = from->n_steps;
  memcpy(to->draws, from->draws,
         (size_t)(from->n_steps * width_of(ends)) * sizeof *to->draws);
  size_t n = (size_t)ends->space->n_rows, steps = (size_t)from->way.n_steps;
  to->way.n_steps = from->way.n_steps;
  memcpy(to->way.inputs, from->way.inputs,
         steps * inputs_of(ends) * sizeof(double));
  memcpy(to->way.lambdas, from->way.lambdas, steps * n * sizeof(double));
  memcpy(to->way.reached, from->way.reached, steps * n * sizeof(double));
}

/* Numbers for the changes of one sample, pair after pair. */
typedef struct dice {
  uint64_t seed, sample;
  uint32_t thrown;
} dice;

static void throw_pair(dice *dice, double pair[2]) {
  philox_pair(dice->seed, dice->sample, dice->thrown++, PHILOX_CHANGES, pair);
}

/* One step is left out, comes once more, shares its caps with a second, or changes
 * places with the next. */
static void change_steps(const impact_ends *ends, impact_plan *plan,
                         dice *dice) {
  double pair[2], part[2];
  throw_pair(dice, pair);
  throw_pair(dice, part);
  int width = width_of(ends), n = plan->n_steps, what = (int)(4 * pair[0]);
  int step = (int)(pair[1] * n);
  size_t row = (size_t)width * sizeof *plan->draws;
  double *at = plan->draws + step * width, *next = at + width;
  bool has_next = step + 1 < n;
  if (what == 0 && n > 1) {
    if (has_next) memmove(at, next, (size_t)(n - step - 1) * row);
    plan->n_steps--;
  } else if (what == 1 && has_next) {
    for (int i = 0; i < width; i++) {
      double kept = at[i];
      at[i] = next[i];
      next[i] = kept;
    }
  } else if (n < ends->most_steps) {
    memmove(next, at, (size_t)(n - step) * row);
    plan->n_steps++;
    for (int i = 0; i < width - 1 && what == 2; i++) {
      next[i] = valid_part(at[i] * (1 - part[0]));
      at[i] = valid_part(at[i] * part[0]);
    }
    for (int i = 0; i < width - 1 && what == 3; i++) {
      throw_pair(dice, pair);
      at[i] = any_cap(pair);
    }
  }
}

static void change_number(const impact_ends *ends, impact_plan *plan, int place,
                          dice *dice, double scale) {
  double pair[2], more[2];
  int width = width_of(ends);
  throw_pair(dice, pair);
  throw_pair(dice, more);
  double *part = &plan->draws[place];
  if (place % width == width - 1)
    *part = more[0]; // another solution
  else if (scale > 0)
    *part = valid_part(*part + scale * (2 * more[1] - 1));
  else if (pair[1] < CHANGED_ANEW)
    *part = any_cap(more);
  else
    *part = valid_part(*part +
                       pow(10, -MOVE_DECADES * more[0]) * (2 * more[1] - 1));
}

/* Further the way that the last progress went. */
static void go_along(const impact_ends *ends, impact_plan *plan,
                     const impact_end *end, dice *dice) {
  double pair[2];
  throw_pair(dice, pair);
  double far = pow(10, 5 * pair[0] - 3);
  int width = width_of(ends);
  for (int i = 0; i < plan->n_steps * width; i++)
    if (i % width < width - 1)
      plan->draws[i] = valid_part(
          plan->draws[i] + far * (end->best.draws[i] - end->older.draws[i]));
}

static void change_plan(const impact_ends *ends, impact_plan *plan,
                        const impact_end *from, dice *dice) {
  double pair[2], more[2];
  throw_pair(dice, pair);
  throw_pair(dice, more);
  int width = width_of(ends);
  if (more[0] < OTHER_STEPS)
    change_steps(ends, plan, dice);
  else if (more[0] < OTHER_STEPS + ALONG &&
           from->older.n_steps == plan->n_steps) {
    go_along(ends, plan, from, dice);
    return;
  } else if (more[0] < OTHER_STEPS + ALONG + WHOLE_STEP) {
    int step = (int)(pair[0] * plan->n_steps);
    double scale = pow(10, -MOVE_DECADES * pair[1]);
    for (int i = 0; i < width - 1; i++)
      change_number(ends, plan, step * width + i, dice, scale);
    return;
  }
  int n_changes = 1 + (int)(3 * pair[1]);
  for (int i = 0; i < n_changes; i++) {
    throw_pair(dice, more);
    change_number(ends, plan, (int)(more[0] * plan->n_steps * width), dice, 0);
  }
}

/* An aim: a contact, one of its directions, and which way; 0: the normal. */
typedef struct aim {
  int contact, direction;
  bool lowest;
} aim;

static aim aim_of(const impact_ends *ends, int i) {
  int per = ends->space->n_tangents == 1 ? 2 : 3;
  uint64_t first = ends->block * (uint64_t)ends->n_aims;
  int end = (int)((first + (uint64_t)i) % (uint64_t)ends_of(ends->space));
  return (aim){end / 2 / per, end / 2 % per, end % 2 == 1};
}

/* How far an outcome goes to an end, in the caller's directions. */
static double reach(const impact_ends *ends, int i, const double c[]) {
  const contact_space *space = ends->space;
  aim aim = aim_of(ends, i);
  const double *of_contact = &c[aim.contact * space->per_contact];
  double value = of_contact[0], slip[2];
  if (aim.direction > 0) {
    contact_space_slip(space, aim.contact, &of_contact[1], slip);
    value = slip[aim.direction - 1];
  }
  return aim.lowest ? -value : value;
}

/* Nothing is left to look for: no outcome approaches. */
static bool is_met(const impact_ends *ends, int i) {
  aim aim = aim_of(ends, i);
  return aim.direction == 0 && aim.lowest && ends->aims[i].value >= 0;
}

/* One of those that are not met, by a number in (0, 1). */
static int choose_aim(const impact_ends *ends, double number) {
  int n_open = 0;
  for (int i = 0; i < ends->n_aims; i++) n_open += !is_met(ends, i);
  int left = (int)(number * n_open);
  for (int i = 0; i < ends->n_aims; i++)
    if (!is_met(ends, i) && left-- == 0) return i;
  return 0;
}

static double throw_one(void *context) {
  double pair[2];
  throw_pair(context, pair);
  return pair[0];
}

/* The part of the velocity at the end of a way that is to grow. */
static void write_direction(const impact_ends *ends, int i, double toward[]) {
  int n = ends->space->n_rows;
  double one[CLIMB_MOST_ROWS];
  for (int row = 0; row < n; row++) {
    memset(one, 0, (size_t)n * sizeof *one);
    one[row] = 1;
    toward[row] = reach(ends, i, one);
  }
}

static void read_parts(const impact_ends *ends, impact_plan *plan) {
  int n = ends->space->n_rows, m = ends->space->n_contacts;
  for (int step = 0; step < plan->way.n_steps; step++)
    for (int i = 0; i < m; i++)
      plan->draws[step * (m + 1) + i] =
          valid_part(plan->way.inputs[step * (n + m) + n + i] / ends->climb.h);
}

/* Plan the furthest that a way can be brought to by linear programs, each in the modes
 * that the last one ended in or at the border of; or nearly: at the very end of a mode
 * rounding may put the sample to the wrong side. */
static bool climb_from(impact_ends *ends, const impact_plan *from, int aim,
                       dice *dice) {
  int n = ends->space->n_rows, m = ends->space->n_contacts;
  impact_plan *plan = &ends->planned;
  double toward[CLIMB_MOST_ROWS], pair[2];
  if (from->way.n_steps * m > ends->climb.most_caps) return false;
  write_direction(ends, aim, toward);
  copy_plan(ends, plan, from);
  int n_idle = 0, n_gained = 0;
  for (int i = 0; i < MOST_PROGRAMS && n_idle < MOST_IDLE; i++) {
    // the way is one ahead of the draws
    if (n_idle == 0 && n_gained > 0) read_parts(ends, plan);
    bool gains = impact_climb_go(&ends->climb, &plan->way, toward, LEAST_CAP,
                                 throw_one, dice);
    n_idle = gains ? 0 : n_idle + 1;
    n_gained += gains;
  }
  if (n_gained == 0) {
    plan->n_steps = plan->way.n_steps = 0;
    return false;
  }
  throw_pair(dice, pair);
  double short_by = pair[0] < 0.5 ? 0 : pow(10, -8 * pair[1]);
  for (int step = 0; step < plan->way.n_steps; step++)
    for (int i = 0; i < m; i++) {
      double *part = &plan->draws[step * (m + 1) + i];
      double to = plan->way.inputs[step * (n + m) + n + i] / ends->climb.h;
      *part = valid_part(to + short_by * (*part - to));
    }
  return true;
}

/* Where a climb begins: caps drawn anew, or changes to the best sample for its end, or
 * for another. */
static void begin_climb(impact_ends *ends, dice *dice) {
  double pair[2], more[2];
  throw_pair(dice, pair);
  throw_pair(dice, more);
  ends->aim = choose_aim(ends, pair[1]);
  ends->climbed.way.n_steps = 0;
  ends->n_failed = 0;
  int from = more[0] < FROM_OTHER ? (int)(more[1] * ends->n_aims) : ends->aim;
  const impact_end *end = &ends->aims[from];
  double anew = ends->climb.most_caps > 0 ? DRAWN_ANEW : DRAWN_WITHOUT_CLIMBS;
  if (pair[0] < anew || end->best.n_steps == 0) return;
  copy_plan(ends, &ends->planned, &end->best);
  ends->planned.way.n_steps = 0;
  change_plan(ends, &ends->planned, end, dice);
}

void impact_ends_begin(impact_ends *ends, uint64_t sample) {
  dice dice = {ends->seed, sample, 0};
  ends->next++;
  ends->planned.n_steps = ends->planned.way.n_steps = 0;
  if (ends->climbed.way.n_steps > 0)
    for (; ends->n_failed < MOST_FAILED; ends->n_failed++)
      if (climb_from(ends, &ends->climbed, ends->aim, &dice)) return;
  begin_climb(ends, &dice);
}

const double *impact_ends_draw(impact_ends *ends, uint64_t sample, int step) {
  int m = ends->space->n_contacts, width = m + 1;
  // beyond what is handed on one place is enough
  int row = step < IMPACT_ENDS_STEPS ? step : IMPACT_ENDS_STEPS - 1;
  double *draw = ends->tried.draws + row * width, pair[2];
  if (step < ends->planned.n_steps) {
    memcpy(draw, &ends->planned.draws[row * width],
           (size_t)width * sizeof *draw);
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

void impact_ends_note(impact_ends *ends, int step, const double inputs[],
                      const double lambda[], const double reached[]) {
  if (step >= IMPACT_ENDS_STEPS - 1) return;
  impact_way *way = &ends->tried.way;
  size_t n = (size_t)ends->space->n_rows, n_inputs = inputs_of(ends);
  size_t at = (size_t)step;
  memcpy(&way->inputs[at * n_inputs], inputs, n_inputs * sizeof(double));
  memcpy(&way->lambdas[at * n], lambda, n * sizeof(double));
  memcpy(&way->reached[at * n], reached, n * sizeof(double));
}

void impact_ends_finish(impact_ends *ends, const double c[], int n_steps) {
  bool fits = n_steps < IMPACT_ENDS_STEPS;
  ends->tried.way.n_steps = c != NULL && fits ? n_steps : 0;
  ends->n_failed++;
  if (c == NULL) return;
  // the last row is no step's own where there are more
  ends->tried.n_steps = fits ? n_steps : IMPACT_ENDS_STEPS - 1;
  double height = reach(ends, ends->aim, c);
  bool begins = ends->climbed.way.n_steps == 0;
  if (begins || height > ends->height) {
    copy_plan(ends, &ends->climbed, &ends->tried);
    ends->height = height;
    ends->n_failed = 0;
  }
  for (int i = 0; i < ends->n_aims; i++) {
    impact_end *end = &ends->aims[i];
    double value = reach(ends, i, c);
    if (value < end->value) continue;
    if (value > end->value) {
      impact_plan spare = end->older;
      end->older = end->best;
      end->best = spare;
    }
    end->value = value;
    copy_plan(ends, &end->best, &ends->tried);
  }
}
