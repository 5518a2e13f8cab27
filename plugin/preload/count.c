#include "preload/count.h"

#include <stdlib.h>
#include <string.h>

#include "preload/message.h"
#include "preload/trace.h"

static run_page *page;
static ode_mlcp_options options;

/* Worlds are told apart by address, and by their step count starting again
 * where an address is used again. */
typedef struct known_world {
  dWorldID world;
  long number;
  long last_step;
} known_world;

static known_world *worlds;
static size_t n_worlds, worlds_size, last_world;

/* A child's worlds are its own. */
static void start_child(void) { n_worlds = 0; }

void count_set_up(run_page *of_run, const ode_mlcp_options *used) {
  page = of_run;
  options = *used;
  pthread_atfork(NULL, NULL, start_child);
}

/* The entry of `world`, new where it was not seen before; NULL without memory
 * for it. */
static known_world *find_world(dWorldID world) {
  if (last_world < n_worlds && worlds[last_world].world == world)
    return &worlds[last_world];
  for (last_world = 0; last_world < n_worlds; last_world++)
    if (worlds[last_world].world == world) return &worlds[last_world];

  if (n_worlds == worlds_size) {
    size_t size = worlds_size == 0 ? 8 : 2 * worlds_size;
    known_world *more = realloc(worlds, size * sizeof *worlds);
    if (more == NULL) return NULL;
    worlds = more;
    worlds_size = size;
  }
  worlds[n_worlds] = (known_world){world, 0, 0};
  return &worlds[n_worlds++];
}

/* The number of `world`, from 1 in the order of the run's first steps; 0 when there
 * was no memory to remember it. */
static long number_world(dWorldID world, long step) {
  known_world *known = find_world(world);
  if (known == NULL) return 0;
  if (known->number == 0 || step <= known->last_step)
    known->number = ++page->sums.worlds;
  known->last_step = step;
  return known->number;
}

void count_step(dWorldID world, const ode_mlcp_report *report) {
  if (!run_page_lock(page)) return;
  if (statistics_tried(&page->sums) == 0) page->used = options;
  long number = number_world(world, report->step);
  if (page->trace[0] != '\0') {
    int error = trace_add(page->trace, page->has_head, report, number);
    page->has_head = true;
    if (error != 0)
      message_say("cannot write %s: %s", page->trace, strerror(error));
    if (error != 0) page->trace[0] = '\0';
  }
  statistics_add(&page->sums, report);
  run_page_unlock(page);
}
