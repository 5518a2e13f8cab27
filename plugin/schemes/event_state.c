#include "schemes/event_state.h"

#include <math.h>

#include "common/vec3.h"
#include "schemes/conserving.h"

int event_compare_bodies(const void *left, const void *right) {
  const body_memory *a = left, *b = right;
  return (a->serial > b->serial) - (a->serial < b->serial);
}

double event_rate_tolerance(const event_state *w) {
  const double PART = 1e-8;  /* of the fastest speed */
  const double LEAST = 1e-6; /* m/s: a slower world is taken to be so fast */
  double fastest = w->s.home.gravity * w->s.step->step_size;
  for (int b = 0; b < w->s.home.n_bodies; b++)
    fastest = fmax(fastest, vec3_length(w->now.v + 6 * b));
  return PART * fmax(fastest, LEAST);
}

/* A search takes no more than so many solves' rows, and none is begun that cannot
 * take a few: among hundreds of contacts the forces are one choice of many, and so
 * is which of them changes first. */
int event_most_looks(const event_state *w) {
  enum { MOST = 100, FEWEST = 16, ROWS = 20000 };
  if (w->failed.search_pause > 0) return 0;
  int affordable = w->price > 0 ? ROWS / w->price : MOST;
  return affordable < FEWEST ? 0 : affordable < MOST ? affordable : MOST;
}

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
failed_tries event_failed_tries(const event_state *w) {
  enum { MOST_SEARCHES = 6, MOST_SIZES = 3, MOST_STOPPED = 3 };
  failed_tries failed = w->failed;
  int looks = event_most_looks(w);
  back_off(&failed.searches, &failed.search_pause,
           looks > 0 && w->n_looks >= looks, MOST_SEARCHES);
  back_off(&failed.sizes, &failed.size_pause, w->no_size, MOST_SIZES);
  int stopped = w->s.n_stopped < MOST_STOPPED ? w->s.n_stopped : MOST_STOPPED;
  failed.stopped = stopped > 0 ? stopped - 1 : 0;
  return failed;
}

/* Sizes of a step that may fail to settle. */
int event_most_sizes(const event_state *w, bool damps) {
  enum { FEWEST = 3, MOST = 50, MOST_BEFORE_DAMPED = 20, ROWS = 100000 };
  int most = damps ? MOST_BEFORE_DAMPED : MOST;
  int affordable = w->price > 0 ? ROWS / w->price : most;
  return affordable < FEWEST ? FEWEST : affordable < most ? affordable : most;
}

/* Each event costs some solves, too: a few dozen of a large island in all. */
int event_most_events(const event_state *w) {
  enum { FEWEST = 4, ROWS = 15000 };
  int most = w->s.step->options->max_events;
  int affordable = w->price > 0 ? ROWS / w->price : most;
  if (affordable < FEWEST) affordable = FEWEST;
  return affordable < most ? affordable : most;
}

/* Events of a host's step beyond which they crowd. Each costs some solves: of a
 * large island's there are fewer. */
static double few(const event_state *w) {
  const double FEW = 16, FEWEST = 4;
  const double SMALL = 1500; /* rows a trial */
  return fmax(FEW * fmin(1, SMALL / fmax(w->price, 1)), FEWEST);
}

bool event_crowds(const event_state *w) { return w->n_events > few(w); }

/* It doubles with each event of a crowd, so that there are some dozens in a step,
 * and grows eightfold where the island is large: what comes that close together is one solve. What bounces and is hit by another a
 * little later is no one impact with it, and loses energy: of what gives back more
 * there are more events, and of what gives back most each has its own. */
double event_window(const event_state *w, double bounce) {
  const double MOST = 0.5;
  double h = w->s.step->step_size;
  double window = w->s.step->options->min_substep * h;
  const double SMALL = 1500, LARGE = 3; /* rows a trial; powers of 2 */
  double alone = bounce <= MOST ? few(w) / (1 - fmax(bounce, 0)) : INFINITY;
  double power = fmin(fmax(w->price / SMALL, 1), LARGE);
  if (w->n_events >= event_most_events(w)) return h;
  return w->n_events <= alone
             ? window
             : fmin(window * exp2(power * (w->n_events - alone)), h);
}

bool event_steps_to_collisions(const event_state *w) {
  return w->s.take == conserving_take;
}

bool event_is_stiff(const event_state *w, const world_contact *contact) {
  for (int side = 0; side < 2; side++)
    if (contact->point.body[side] >= 0 && w->s.stiff[contact->point.body[side]])
      return true;
  return false;
}

double event_restitution(const event_state *w, int k) {
  const world_contacts *contacts = &w->s.here->contacts;
  const host_surface *surface = &contacts->items[k].point.surface;
  if (!surface->bounces ||
      !(-world_contact_rate(contacts, k, w->now.v) > surface->bounce_speed))
    return 0;
  return fmin(fmax(surface->bounce, 0), 1);
}
