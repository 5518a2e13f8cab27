/* Scenes of no paper, with answers of their own. */
#ifndef ODE_MLCP_TESTS_SCENES_OWN_SCENES_H
#define ODE_MLCP_TESTS_SCENES_OWN_SCENES_H

#include "scenes/scenes.h"

/** One of these or of the papers' cases; NULL where there is none of that name. */
const scene *own_scene_find(const char *name);

extern double incline_heading; /* degrees of the launch, from straight down */

extern const scene scene_gyroscope;
extern const scene scene_incline;

/* the reference suite */
extern const scene scene_billiard;
extern const scene scene_braking_car;
extern const scene scene_eccentric_disc;
extern const scene scene_four_bar;
extern const scene scene_gimbal;
extern const scene scene_ladder;
extern const scene scene_rolling_disc;
extern const scene scene_spring_pendulum;
extern const scene scene_superball;
extern const scene scene_tipping_block;

#endif
