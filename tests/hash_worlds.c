/* One hash of whole trajectories, under every scheme; and the problem library as
 * folders, for tests/hash_problems.
 *
 *   hash_worlds [--write FOLDER]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench/library.h"
#include "gap/real.h"
#include "hash.h"
#include "mlcp/mlcp_folder.h"
#include "ode_mlcp.h"

static scene *wall(void) { return scene_wall(5); }
static scene *slide(void) { return scene_slide(0.3); }
static scene *stack(void) { return scene_stack(6, 10); }
static scene *pit(void) { return scene_pit(12); }
static scene *chain(void) { return scene_chain(8, 20); }
static scene *spider(void) { return scene_spider(4); }
static scene *grasp(void) { return scene_grasp(20); }

static const struct world {
  const char *name;
  scene *(*build)(void);
} worlds[] = {{"wall", wall},
              {"slide", slide},
              {"stack", stack},
              {"pit", pit},
              {"chain", chain},
              {"spider", spider},
              {"vehicle", scene_vehicle},
              {"grasp", grasp}};

static const struct way {
  const char *name;
  ode_mlcp_scheme scheme;
  int steps;
} ways[] = {{"ah", ODE_MLCP_SCHEME_AH, 120},
            {"ap", ODE_MLCP_SCHEME_AP, 120},
            {"st", ODE_MLCP_SCHEME_ST, 40},
            {"gap", ODE_MLCP_SCHEME_GAP, 40},
            {"trapezoid", ODE_MLCP_SCHEME_TRAPEZOID, 25}};

static void hash_reals(hash *of, const dReal numbers[], int count) {
  double copy[4];
  real_read(copy, numbers, count);
  hash_numbers(of, copy, count);
}

static bool hash_world(hash *of_all, const struct world *world,
                       const struct way *way) {
  hash own = hash_start();
  ode_mlcp_options options;
  scene *scene = world->build();
  ode_mlcp_default_options(&options);
  options.scheme = way->scheme;
  bool taken =
      scene != NULL && ode_mlcp_attach(scene->world, &options) == ODE_MLCP_OK;
  for (int step = 0; taken && step < way->steps; step++) {
    taken = scene_step(scene, dWorldStep, 0.01) != 0;
    for (int b = 0; b < scene->n_bodies; b++) {
      hash_reals(&own, dBodyGetPosition(scene->bodies[b]), 3);
      hash_reals(&own, dBodyGetQuaternion(scene->bodies[b]), 4);
      hash_reals(&own, dBodyGetLinearVel(scene->bodies[b]), 3);
      hash_reals(&own, dBodyGetAngularVel(scene->bodies[b]), 3);
    }
  }
  scene_destroy(scene);
  printf("%016" PRIx64 " %s %s%s\n", own.value, way->name, world->name,
         taken ? "" : " (a step was not taken)");
  hash_bytes(of_all, &own, sizeof own);
  return taken;
}

static bool write_problems(const char *folder) {
  for (const library_entry *e = library_entries; e->name != NULL; e++) {
    library_problems captured;
    if (e->large) continue;
    if (!library_capture(e, &captured)) return false;
    for (int k = 0; k < captured.n_problems; k++) {
      char path[4000], message[500];
      snprintf(path, sizeof path, "%s/%s-%d", folder, e->name, k);
      if (!mlcp_folder_write(path, &captured.problems[k].problem,
                             captured.problems[k].guess, NULL, 0,
                             &memory_from_malloc, message, sizeof message)) {
        fprintf(stderr, "%s\n", message);
        return false;
      }
    }
    library_release(&captured);
  }
  return true;
}

int main(int argc, char **argv) {
  hash of_all = hash_start();
  bool whole = true;
  dInitODE2(0);
  if (argc > 2 && strcmp(argv[1], "--write") == 0) {
    whole = write_problems(argv[2]);
  } else {
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
      for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++)
        whole = hash_world(&of_all, &worlds[w], &ways[k]) && whole;
    printf("%016" PRIx64 " all\n", of_all.value);
  }
  dCloseODE();
  return whole ? 0 : 1;
}
