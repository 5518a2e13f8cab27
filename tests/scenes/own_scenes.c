#include "own_scenes.h"

#include <string.h>

static const scene *const SCENES[] = {&scene_gyroscope,
                                      &scene_incline,
                                      &scene_spring_pendulum,
                                      &scene_four_bar,
                                      &scene_gimbal,
                                      &scene_rolling_disc,
                                      &scene_eccentric_disc,
                                      &scene_ladder,
                                      &scene_superball,
                                      &scene_tipping_block,
                                      &scene_billiard,
                                      &scene_braking_car,
                                      NULL};

const scene *own_scene_find(const char *name) {
  for (int i = 0; SCENES[i] != NULL; i++)
    if (strcmp(SCENES[i]->name, name) == 0) return SCENES[i];
  return scene_find(name);
}
