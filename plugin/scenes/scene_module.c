#include "scenes/scenes.h"

const scene_functions *ode_mlcp_scenes(void) {
  static const scene_functions functions = {
      .struct_size = sizeof functions,
      .all = scene_all,
      .find = scene_find,
      .default_settings = scene_default_settings,
      .set_option = scene_set_option,
      .run = scene_run,
      .result_destroy = scene_result_destroy,
      .converge = scene_converge,
      .sweep_destroy = scene_sweep_destroy};
  return &functions;
}
