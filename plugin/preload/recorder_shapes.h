/* Shapes to see: bodies with their geoms, and geoms without a body. */
#ifndef ODE_MLCP_PRELOAD_RECORDER_SHAPES_H
#define ODE_MLCP_PRELOAD_RECORDER_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

#include <ode/ode.h>

/** The number of a world, from 1. */
uint32_t recorder_world_number(dWorldID world);
void recorder_world_gone(dWorldID world);

/** Write those of `body` that are not in the recording yet. */
void recorder_shapes_of_body(uint32_t world, dBodyID body);

/** Bodies need not be asked as long as there is no other body and none has got or
 *  lost a geom. */
void recorder_shapes_body_changed(void);
bool recorder_shapes_any_changed(void);
void recorder_shapes_known(void);

/** Geoms without a body: of a space that the program collides, or by itself.
 *  They are kept until they are written, by recorder_shapes_of_none. */
void recorder_shapes_see_space(dSpaceID space);
void recorder_shapes_see(dGeomID geom);
void recorder_shapes_forget(dGeomID geom);
void recorder_shapes_of_none(int64_t step);

#endif
