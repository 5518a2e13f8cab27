/* Worlds that make their own contacts, for tests. */
#ifndef ODE_MLCP_TESTS_COLLISION_SCENE_H
#define ODE_MLCP_TESTS_COLLISION_SCENE_H

#include <string.h>

#include "body_testing.h"
#include "ode_mlcp.h"
#include "testing.h"

/** A world of geoms in one space, all of one surface. */
typedef struct scene {
  dWorldID world;
  dSpaceID space;
  ode_mlcp_surface surface;
  dGeomID smooth; /* has no friction; or 0 */
  int calls;      /* of scene_collide */
  /* two geoms, or 0, and the margins that it was given for them, m */
  dGeomID watched[2];
  double last_margin, widest_margin;
} scene;

static inline int scene_surface(void *context, dGeomID geom1, dGeomID geom2,
                                ode_mlcp_surface *surface) {
  const scene *s = context;
  *surface = s->surface;
  if (s->smooth != NULL && (geom1 == s->smooth || geom2 == s->smooth))
    surface->parameters.mu = 0;
  return 1;
}

static inline int scene_collide(void *context, dWorldID world,
                                ode_mlcp_contact_list *list) {
  scene *s = context;
  (void)world;
  s->calls++;
  if (s->watched[0] != NULL)
    s->last_margin = ode_mlcp_pair_margin(list, s->watched[0], s->watched[1]);
  s->widest_margin = fmax(s->widest_margin, s->last_margin);
  return ode_mlcp_collide_space(list, s->space, scene_surface, s) ==
         ODE_MLCP_OK;
}

/** An empty world without gravity and softness on ode-mlcp (`options` NULL:
 *  defaults), its geoms in `space`, its surface all zero. */
static inline void scene_open(scene *s, dSpaceID space,
                              const ode_mlcp_options *options) {
  memset(s, 0, sizeof *s);
  s->world = dWorldCreate();
  s->space = space;
  dWorldSetCFM(s->world, 0);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(s->world, options), ODE_MLCP_OK);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_set_collision(s->world, scene_collide, s),
                        ODE_MLCP_OK);
}

static inline void scene_close(scene *s) {
  dSpaceDestroy(s->space);
  dWorldDestroy(s->world);
}

#endif
