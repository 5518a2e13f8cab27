/* An ellipse thrown onto a table: AH sec. 6, figs. 3 and 4. How deep does it
 * sink? */
#include <math.h>

#include "scenes/scene_build.h"

static bool build_ellipse(scene_run_state *run) {
  const double semi_axes[3] = {4, 2, 2};
  double mass = 10 * M_PI * semi_axes[0] * semi_axes[1];
  double inertia =
      mass / 4 * (semi_axes[0] * semi_axes[0] + semi_axes[1] * semi_axes[1]);
  run->frame = SCENE_FRAME_PLANAR;
  run->surface.parameters.mu = 0.3;
  dBodyID body = scene_add_planar(run, 0, 8, 0, mass, inertia);
  if (body == NULL) return false;
  dBodySetAngularVel(body, 0, 0, 3);
  return scene_add_centred(run, gap_ellipsoid_create(run->space, semi_axes),
                           body) &&
         scene_add_fixed(run, dCreatePlane(run->space, 0, 1, 0, 0));
}

const scene scene_ellipse = {
    .name = "ellipse",
    .summary = "how deep an ellipse sinks into a table, stabilised or not",
    .source = "Anitescu & Hart 2004, figs. 3 and 4",
    .h = 0.05,
    .time = 20,
    .gravity = 9.81,
    .knows = SCENE_GRAVITY,
    .options = "scheme=ah erp=1 margin=0.3",
    .infeasibility_unit = "m",
    .build = build_ellipse};
