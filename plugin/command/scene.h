/* The parts of `ode-mlcp scene`. */
#ifndef ODE_MLCP_COMMAND_SCENE_H
#define ODE_MLCP_COMMAND_SCENE_H

#include <stdbool.h>
#include <stdio.h>

#include "scenes/scenes.h"

/** Run a paper's case as a world stepped by ode-mlcp. */
int command_scene(int argc, char **argv);

/** Load the module; NULL and a line in `message` where that fails. */
const scene_functions *scene_library_open(char message[SCENE_MESSAGE]);

/** In words, a sweep as a table, or as JSON. */
void scene_print(FILE *out, const scene_result *result, bool words);
void scene_print_sweep(FILE *out, const scene_sweep *sweep, bool words);

/** A row a step, or a row a step size. @return false and a message where the
 *  file cannot be written. */
bool scene_write_csv(const char *path, const scene_result *result,
                     char message[SCENE_MESSAGE]);
bool scene_write_sweep_csv(const char *path, const scene_sweep *sweep,
                           char message[SCENE_MESSAGE]);

#endif
