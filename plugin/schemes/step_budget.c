#include "schemes/step_budget.h"

#include <math.h>

/* Some second's: where outcomes are searched for that long, it is among contacts
 * that are opposed or say the same, and Poisson's law takes their place. */
static const double DRAW_WORK = 3e8;

void step_budget_start(step_budget *budget, double step_size, double window,
                       int max_events) {
  *budget = (step_budget){.step_size = step_size,
                          .window = window,
                          .max_events = max_events,
                          .draw_work = DRAW_WORK};
}

static void take_larger(int *sum, int of) {
  if (of > *sum) *sum = of;
}

void step_budget_recall(step_budget *budget, const failed_tries *of) {
  failed_tries *sum = &budget->failed;
  take_larger(&sum->sizes, of->sizes);
  take_larger(&sum->size_pause, of->size_pause);
  take_larger(&sum->stopped, of->stopped);
  budget->n_stopped = sum->stopped;
}

void step_budget_tried(step_budget *budget, int rows) {
  take_larger(&budget->price, rows);
}

/* Trials that so many rows pay for. */
static int affordable(const step_budget *budget, int rows, int fewest,
                      int most) {
  int trials = budget->price > 0 ? rows / budget->price : most;
  if (trials < fewest) trials = fewest;
  return trials < most ? trials : most;
}

/* --- solves ----------------------------------------------------------------- */

void step_budget_stopped(step_budget *budget, int solves) {
  budget->n_stopped += solves;
}

/* A step has solves by the hundred where its rounds do not settle. Those that end
 * with their budget leave the next ones less, so that all of them together take a few
 * budgets; but never less than what all but the hardest need: with that, all would
 * end with their budget, in answers that drive bodies apart. */
double step_budget_share(const step_budget *budget) {
  const double LEAST = 0.03;
  return fmax(1.0 / (1 + budget->n_stopped), LEAST);
}

/* --- events ----------------------------------------------------------------- */

/* Each event costs some solves, too: a few dozen of a large island in all. */
int step_budget_events(const step_budget *budget) {
  enum { FEWEST = 4, ROWS = 15000 };
  int most = budget->max_events;
  return affordable(budget, ROWS, FEWEST, most);
}

/* Rows a trial of what is no large island yet. */
static const double SMALL = 1500;

/* Events of a host's step beyond which they crowd. Each costs some solves: of a
 * large island's there are fewer. */
static double few(const step_budget *budget) {
  const double FEW = 16, FEWEST = 4;
  return fmax(FEW * fmin(1, SMALL / fmax(budget->price, 1)), FEWEST);
}

/* A step that has been cut so often is only cut where something collides: what
 * else changes is met there. */
bool step_budget_searches(const step_budget *budget) {
  /* the rest, as of piles that tumble, is met where the step is cut or ends for
   * something else */
  const int MOST_TRANSITIONS = 10;
  return budget->n_transitions < MOST_TRANSITIONS &&
         !(budget->n_events > few(budget));
}

/* It doubles with each event of a crowd, so that there are some dozens in a step,
 * and grows eightfold where the island is large: what comes that close together is
 * one solve. What bounces and is hit by another a little later is no one impact with
 * it, and loses energy: of what gives back more there are more events, and of what
 * gives back most each has its own. */
double step_budget_window(const step_budget *budget, double bounce) {
  const double MOST = 0.5;
  const double LARGE = 3; /* powers of 2 */
  double h = budget->step_size;
  double alone =
      bounce <= MOST ? few(budget) / (1 - fmax(bounce, 0)) : INFINITY;
  double power = fmin(fmax(budget->price / SMALL, 1), LARGE);
  if (budget->n_events >= step_budget_events(budget)) return h;
  return budget->n_events <= alone
             ? budget->window
             : fmin(budget->window * exp2(power * (budget->n_events - alone)),
                    h);
}

/* --- sizes ------------------------------------------------------------------ */

/* A try at the smallest size, or one a solve of which gave up, counts as half of
 * all: what does not settle in so short a time seldom does in a longer one. */
bool step_budget_next_size(step_budget *budget, bool damps, bool hopeless) {
  enum { FEWEST = 3, MOST = 50, MOST_BEFORE_DAMPED = 20, ROWS = 100000 };
  int most =
      affordable(budget, ROWS, FEWEST, damps ? MOST_BEFORE_DAMPED : MOST);
  budget->n_failed += hopeless ? most / 2 : 1;
  return budget->n_failed <= most;
}

/* --- from step to step ------------------------------------------------------ */

/* A try that failed `in_row` steps is left out for twice as many after each. */
static void back_off(int *in_row, int *pause, bool fails, int most) {
  if (*pause > 0) {
    (*pause)--;
  } else if (fails) {
    if (*in_row < most) ++*in_row;
    *pause = (1 << *in_row) - 1;
  } else if (*in_row > 0) {
    --*in_row;
  }
}

/* Budgets grow back by one stop a step. */
failed_tries step_budget_failed(const step_budget *budget) {
  enum { MOST_SIZES = 3, MOST_STOPPED = 3 };
  failed_tries failed = budget->failed;
  back_off(&failed.sizes, &failed.size_pause, budget->no_size, MOST_SIZES);
  int stopped =
      budget->n_stopped < MOST_STOPPED ? budget->n_stopped : MOST_STOPPED;
  failed.stopped = stopped > 0 ? stopped - 1 : 0;
  return failed;
}
