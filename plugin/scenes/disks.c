/* Twenty-one disks, piled up like cannonballs between two slanted walls: AH
 * sec. 6, figs. 5 and 6. They come to lie on the table, all of them. */
#include <math.h>
#include <stdio.h>

#include "scenes/scene_build.h"

enum { AT_THE_BOTTOM = 6, DISKS = 21 };

static const double RADIUS = 3, TABLE = 70;

/* How many lie on the table. */
static void judge_disks(scene_run_state *run) {
  const double *q =
      run->result->positions + run->result->n_steps * run->result->n_positions;
  int lying = 0;
  for (int i = 0; i < DISKS; i++)
    lying += fabs(q[3 * i + 1] - RADIUS) < 1e-3 * RADIUS;
  run->result->counted = lying;
  snprintf(run->result->note, sizeof run->result->note,
           "%d of %d disks lie on the table", lying, DISKS);
}

static bool add_disk(scene_run_state *run, int i, double x, double y) {
  double mass = 10 * M_PI * RADIUS * RADIUS;
  // perfect symmetry would leave a stack standing
  dBodyID disk = scene_add_planar(run, x + 1e-3 * sin(1 + 3.7 * i), y, 0, mass,
                                  mass * RADIUS * RADIUS / 2);
  return disk != NULL &&
         scene_add_centred(run, dCreateSphere(run->space, RADIUS), disk);
}

static bool build_disks(scene_run_state *run) {
  double slope = sqrt(0.5), pitch = 2 * RADIUS * 1.001;
  run->frame = SCENE_FRAME_PLANAR;
  run->surface.parameters.mu = 0.2;
  run->judge = judge_disks;
  int i = 0;
  for (int row = 0; row < AT_THE_BOTTOM; row++)
    for (int k = 0; k < AT_THE_BOTTOM - row; k++, i++)
      if (!add_disk(run, i, pitch * (k - 0.5 * (AT_THE_BOTTOM - 1 - row)),
                    RADIUS + row * RADIUS * sqrt(3)))
        return false;
  dSpaceID s = run->space;
  return scene_add_fixed(run, dCreatePlane(s, 0, 1, 0, 0)) &&
         scene_add_fixed(run,
                         dCreatePlane(s, slope, slope, 0, -slope * TABLE)) &&
         scene_add_fixed(run,
                         dCreatePlane(s, -slope, slope, 0, -slope * TABLE));
}

const scene scene_disks = {
    .name = "disks",
    .summary = "a pile of 21 disks falls apart until all lie on the table",
    .source = "Anitescu & Hart 2004, figs. 5 and 6",
    .h = 0.05,
    .time = 20,
    .gravity = 9.81,
    .knows = SCENE_GRAVITY,
    .options = "scheme=ah erp=1 margin=0.3 tolerance=1e-12",
    .infeasibility_unit = "m",
    .build = build_disks};
