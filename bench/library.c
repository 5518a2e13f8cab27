#include "library.h"

#include <stdlib.h>
#include <string.h>

#include "ode_mlcp.h"
#include "stepper/process.h"

/* ---- the scenes ------------------------------------------------------------ */

static scene *wall(double rows, double unused) {
  (void)unused;
  return scene_wall((int)rows);
}

static scene *stack(double boxes, double ratio) {
  return scene_stack((int)boxes, ratio);
}

static scene *pit(double bodies, double unused) {
  (void)unused;
  return scene_pit((int)bodies);
}

static scene *chain(double links, double unused) {
  (void)unused;
  return scene_lying_chain((int)links);
}

static scene *spider(double legs, double unused) {
  (void)unused;
  return scene_spider((int)legs);
}

static scene *vehicle(double unused1, double unused2) {
  (void)unused1;
  (void)unused2;
  return scene_vehicle();
}

static scene *grasp(double unused, double force) {
  (void)unused;
  return scene_grasp(force);
}

static scene *painleve(double unused, double speed) {
  (void)unused;
  return scene_painleve_rod(speed);
}

/* ---- the list -------------------------------------------------------------- */

#define EXACT 1e-10

/* In its first step a wall has no gaps and no overlaps; in its second every box
 * has moved a little and contacts come and go, which is the hardest.
 *
 * Pits fall for about 1 s before they pile up; "moving" is in the middle of
 * that, "settled" after it. */
const library_entry library_entries[] = {
    {"wall-10-cold", "wall", wall, 4, 0, 0, 0, EXACT, false},
    {"wall-10-settled", "wall", wall, 4, 0, 0, 20, EXACT, false},
    {"wall-55-cold", "wall", wall, 10, 0, 0, 0, EXACT, false},
    {"wall-55-settled", "wall", wall, 10, 0, 0, 20, EXACT, false},
    {"wall-210-cold", "wall", wall, 20, 0, 0, 0, EXACT, true},
    {"wall-210-second", "wall", wall, 20, 0, 0, 1, EXACT, true},
    {"wall-210-settled", "wall", wall, 20, 0, 0, 20, EXACT, true},
    {"wall-990-cold", "wall", wall, 44, 0, 0, 0, EXACT, true},
    {"wall-990-second", "wall", wall, 44, 0, 0, 1, EXACT, true},
    {"wall-990-settled", "wall", wall, 44, 0, 0, 5, EXACT, true},
    {"stack-20-cold", "stack", stack, 20, 1, 0, 0, EXACT, false},
    {"stack-20-settled", "stack", stack, 20, 1, 0, 20, EXACT, false},
    {"stack-1000to1-cold", "stack", stack, 10, 1000, 0, 0, 1e-9, false},
    {"stack-1000to1-settled", "stack", stack, 10, 1000, 0, 20, 1e-9, false},
    {"pit-40-moving-cold", "pit", pit, 40, 0, 60, 0, EXACT, false},
    {"pit-40-moving", "pit", pit, 40, 0, 60, 5, EXACT, false},
    {"pit-40-settled", "pit", pit, 40, 0, 300, 5, EXACT, false},
    {"pit-150-moving-cold", "pit", pit, 150, 0, 100, 0, EXACT, false},
    {"pit-150-moving", "pit", pit, 150, 0, 100, 5, EXACT, false},
    {"pit-150-settled-cold", "pit", pit, 150, 0, 400, 0, EXACT, false},
    {"pit-150-settled", "pit", pit, 150, 0, 400, 5, EXACT, false},
    {"pit-500-moving-cold", "pit", pit, 500, 0, 200, 0, EXACT, true},
    {"pit-500-settled-cold", "pit", pit, 500, 0, 600, 0, EXACT, true},
    {"pit-500-settled", "pit", pit, 500, 0, 600, 1, EXACT, true},
    {"chain-100-cold", "chain", chain, 100, 0, 0, 0, EXACT, false},
    {"chain-100-settled", "chain", chain, 100, 0, 0, 20, EXACT, false},
    {"chain-1000-cold", "chain", chain, 1000, 0, 0, 0, EXACT, true},
    {"chain-1000-settled", "chain", chain, 1000, 0, 0, 5, EXACT, true},
    {"spider-cold", "spider", spider, 8, 0, 0, 0, EXACT, false},
    {"spider-settled", "spider", spider, 8, 0, 0, 20, EXACT, false},
    {"vehicle-cold", "vehicle", vehicle, 0, 0, 0, 0, EXACT, false},
    {"vehicle-driving", "vehicle", vehicle, 0, 0, 0, 50, EXACT, false},
    {"grasp-cold", "grasp", grasp, 0, 20, 0, 0, EXACT, false},
    {"grasp-settled", "grasp", grasp, 0, 20, 0, 20, EXACT, false},
    {"grasp-slipping", "grasp", grasp, 0, 9, 0, 5, EXACT, false},
    {"painleve-rod", "rod", painleve, 0, -3, 0, 0, EXACT, false},
    {NULL, NULL, NULL, 0, 0, 0, 0, 0, false}};

const library_entry *library_find(const char *name) {
  for (const library_entry *e = library_entries; e->name != NULL; e++)
    if (strcmp(e->name, name) == 0) return e;
  return NULL;
}

/* ---- running ---------------------------------------------------------------- */

scene *library_bring(const library_entry *entry) {
  scene *scene = entry->build(entry->size, entry->parameter);
  if (scene == NULL) return NULL;
  // the rough stepper shuffles its rows by the host's own random numbers
  dRandSetSeed(1);
  bool whole = true;
  for (int i = 0; i < entry->rough_steps && whole; i++)
    whole = scene_step(scene, dWorldQuickStep, LIBRARY_STEP) != 0;
  whole = whole && ode_mlcp_attach(scene->world, NULL) == ODE_MLCP_OK;
  for (int i = 0; i < entry->exact_steps && whole; i++)
    whole = scene_step(scene, dWorldStep, LIBRARY_STEP) != 0;
  if (!whole) {
    scene_destroy(scene);
    return NULL;
  }
  scene_collide(scene);
  return scene;
}

/* ---- capturing -------------------------------------------------------------- */

typedef struct capture {
  library_problems *problems;
  size_t island; /* of the last one kept */
  int part;
  bool no_memory;
} capture;

static int count_normals(const mlcp_problem *problem) {
  int count = 0;
  for (int r = 0; r < problem->n_rows; r++)
    count += problem->rows[r].kind == MLCP_ROW_NORMAL;
  return count;
}

static void keep(void *context, const solved_component *solved) {
  capture *capture = context;
  library_problems *to = capture->problems;
  if (solved->problem->n_rows == 0 || capture->no_memory) return;
  // what follows from a hasty answer is no problem of the scene
  bool again = to->n_problems > 0 && solved->island == capture->island &&
               solved->component == capture->part;
  if (again || solved->moves_only) return;
  capture->island = solved->island;
  capture->part = solved->component;
  size_t count = (size_t)to->n_problems + 1;
  mlcp_stored *problems = realloc(to->problems, count * sizeof *to->problems);
  capture->no_memory = problems == NULL;
  if (problems == NULL) return;

  to->problems = problems;
  memset(&problems[count - 1], 0, sizeof *problems);
  if (!mlcp_stored_copy(&problems[count - 1], &memory_from_malloc,
                        solved->problem, solved->guess)) {
    capture->no_memory = true;
    return;
  }
  to->n_problems++;
  to->n_contacts += count_normals(solved->problem);
}

bool library_capture(const library_entry *entry, library_problems *captured) {
  memset(captured, 0, sizeof *captured);
  scene *scene = library_bring(entry);
  if (scene == NULL) return false;

  capture capture = {.problems = captured};
  process_observe_solves(keep, &capture);
  // the problem is wanted, not its solution: any answer will do
  ode_mlcp_options hasty;
  ode_mlcp_default_options(&hasty);
  hasty.tolerance = 0.99;
  bool taken = ode_mlcp_attach(scene->world, &hasty) == ODE_MLCP_OK &&
               dWorldStep(scene->world, LIBRARY_STEP) != 0;
  process_observe_solves(NULL, NULL);
  scene_destroy(scene);
  if (taken && !capture.no_memory) return true;
  library_release(captured);
  return false;
}

void library_release(library_problems *captured) {
  for (int i = 0; i < captured->n_problems; i++)
    mlcp_stored_release(&captured->problems[i]);
  free(captured->problems);
  memset(captured, 0, sizeof *captured);
}
