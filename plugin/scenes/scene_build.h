/* Parts that scenes are built from, and the state of a run. Not for the command. */
#ifndef ODE_MLCP_SCENES_SCENE_BUILD_H
#define ODE_MLCP_SCENES_SCENE_BUILD_H

#include "gap/gap_ode.h"
#include "scenes/scenes.h"

enum {
  SCENE_BODIES = 32,
  SCENE_PLACES = 1024 /* where contacts have been */
};

/** Which coordinates of a body a scene speaks of. */
typedef enum scene_frame {
  SCENE_FRAME_HEIGHT, /* z of every body */
  SCENE_FRAME_POINTS, /* x, y of every body */
  SCENE_FRAME_PLANAR, /* x, y and the angle */
  SCENE_FRAME_SPATIAL /* x, y, z and the angles turned about the axes */
} scene_frame;

/** A place where two geoms meet: the pair and, of shapes with corners, which. */
typedef struct scene_place {
  int geom[2];
  gap_feature feature[2];
  bool touched, touches; /* after the step before, after this one */
  bool stuck, sticks;
} scene_place;

struct scene_run_state {
  const scene *scene;
  const scene_settings *settings;
  scene_result *result;
  char *message;
  size_t message_size;
  bool failed;

  dWorldID world;
  dSpaceID space;
  dJointGroupID joints;
  dBodyID bodies[SCENE_BODIES];
  double turned[SCENE_BODIES][3]; /* rad, turned since the start */
  double seen[SCENE_BODIES][4];   /* quaternion at the last look */
  int n_bodies, n_geoms;
  double time;
  dHeightfieldDataID terrain;   /* or NULL; destroyed with the world */
  dJointID servo;               /* a joint that the scene drives */
  double variation, last_speed; /* m/s, as the scene uses them */

  /* set by build, after which no field above changes but by a step */
  scene_frame frame;
  ode_mlcp_surface surface; /* of every contact; Approx1 */
  dGeomID stopper;          /* what alone is bounced off, or NULL: all */
  /* NULL: that of the frame, no force, no further energy, the overlaps */
  void (*push)(scene_run_state *run, double time);
  double (*energy)(const scene_run_state *run);
  double (*infeasibility)(scene_run_state *run);
  double (*extra)(const scene_run_state *run); /* scene->extra_name */
  void (*after)(scene_run_state *run);         /* each step */
  void (*judge)(scene_run_state *run);         /* fills result->errors, note */

  gap_context *gaps;
  double overlap; /* m, >= 0: the deepest of the last look */
  scene_place places[SCENE_PLACES];
  int n_places;
  bool at_rest;
  int event_room;
};

/** Say why the run cannot go on. @return false. */
bool scene_fail(scene_run_state *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- for build: gravity points along -y already --------------------------- */

/** A body that moves in the x-y plane, at (x, y) and turned by `angle`.
 *  @param inertia kg m^2 about z. @return NULL where memory runs out. */
dBodyID scene_add_planar(scene_run_state *run, double x, double y, double angle,
                         double mass, double inertia);

/** A body of that mass and diagonal inertia, not turned. */
dBodyID scene_add_spatial(scene_run_state *run, double x, double y, double z,
                          double mass, const double inertia[3]);

/** Put a geom onto a body, or (NULL) leave it in the world.
 *  @param offset,turn [3], [4] in the body's frame, a quaternion; or NULL.
 *  @return false where `geom` is NULL. */
bool scene_add_geom(scene_run_state *run, dGeomID geom, dBodyID body,
                    const double offset[3], const double turn[4]);

/** The same with the body's centre at the geom's, not turned. */
static inline bool scene_add_centred(scene_run_state *run, dGeomID geom,
                                     dBodyID body) {
  return scene_add_geom(run, geom, body, NULL, NULL);
}

/** A geom that stays in the world. */
static inline bool scene_add_fixed(scene_run_state *run, dGeomID geom) {
  return scene_add_geom(run, geom, NULL, NULL, NULL);
}

/** Hold two bodies' centres, or one's and a point, at their distance. */
dJointID scene_add_rod(scene_run_state *run, dBodyID body, dBodyID other,
                       const double point[3]);

/** Bodies that touch bounce back with a part of their speed (0 .. 1). */
void scene_set_bounce(scene_run_state *run, double restitution);

/** True if the scheme asks for forces at several times of a step. */
bool scene_is_second_order(const scene_settings *settings);

/* --- use ------------------------------------------------------------------ */

/** The world's collision function; the context is the run. */
ode_mlcp_collision scene_collide;

/** The number of the place where a contact is; -1: there are too many. */
int scene_place_of(scene_run_state *run, const ode_mlcp_contact *contact);

/** m, >= 0: the deepest overlap of two geoms at the present poses. */
double scene_overlap(scene_run_state *run);

/** Events of the step just taken. */
void scene_note_events(scene_run_state *run);
bool scene_add_event(scene_run_state *run, double time, const char *kind,
                     int place);

/* --- the scenes ----------------------------------------------------------- */

/** m: how far the points of a ball joint or hinge are apart that should be one, the
 *  worst; an infeasibility. */
double scene_joints_apart(scene_run_state *run);

extern const scene scene_disks;
extern const scene scene_double_pendulum;
extern const scene scene_ellipse;
extern const scene scene_falling_rod;
extern const scene scene_four_balls;
extern const scene scene_inconsistent_joint;
extern const scene scene_painleve_rod;
extern const scene scene_pawl;
extern const scene scene_pendulum;
extern const scene scene_rover;
extern const scene scene_stick_slip;
extern const scene scene_two_carts;

#endif
