/* What the scenes of the reference suite share: each knows where its bodies are at a
 * time from equations of its own. */
#ifndef ODE_MLCP_TESTS_SCENES_SUITE_H
#define ODE_MLCP_TESTS_SCENES_SUITE_H

#include "scenes/scene_build.h"

/** Where a body is: m, and rad about z. */
typedef struct suite_place {
  double x, y, z, angle;
} suite_place;

/** Places [n_bodies] at a time >= 0 s, in the order in which they were added. */
typedef void suite_where(const scene_run_state *run, double time,
                         suite_place places[]);

/** Errors at the end of a run: [0] the largest of the bodies' centres, m, [1] in
 *  planar frames the largest of their angles, rad. */
void suite_judge(scene_run_state *run, suite_where *where);

#define SUITE_JUDGE(of)                                                        \
  static void judge_##of(scene_run_state *run) { suite_judge(run, where_##of); }

/** What all of them have: the sweep of --converge and its columns. */
#define SUITE_SCENE                                                            \
  .h = 0.01, .options = "scheme=conserving",                                   \
  .step_sizes = {0.02, 0.01, 0.005, 0.0025, 0.00125},                          \
  .error_kinds = {{"position", "m"}, {"angle", "rad"}},                        \
  .infeasibility_unit = "m"

#endif
