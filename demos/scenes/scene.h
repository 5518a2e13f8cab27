/* Scenes on the plain ODE API, shared by tests, benches and demos.
 *
 *   dInitODE2(0);
 *   scene *wall = scene_wall(10);
 *   ode_mlcp_attach(wall->world, NULL);     // or not: a scene knows no stepper
 *   for (int i = 0; i < 500; i++)
 *     scene_step(wall, dWorldStep, 0.01);
 *   scene_destroy(wall);
 *
 * Lengths in m, masses in kg, times in s; z points up and gravity is
 * 9.81 m/s^2 downwards. A scene is built the same way every time: nothing in it
 * is drawn at random.
 */
#ifndef ODE_MLCP_DEMOS_SCENES_SCENE_H
#define ODE_MLCP_DEMOS_SCENES_SCENE_H

#include <stdbool.h>

#include <ode/ode.h>

enum { SCENE_MAX_CONTACTS = 8 };

typedef struct scene {
  dWorldID world;
  dSpaceID space;
  dJointGroupID contacts;     /* those of the last scene_collide */
  dSurfaceParameters surface; /* of every contact; mu 0.5 with Approx1 */
  int max_contacts;           /* a pair, 1 .. SCENE_MAX_CONTACTS */
  dBodyID *bodies;            /* [n_bodies], in the order they were made */
  int n_bodies;
  int bodies_room;

  /* of the last scene_collide: */
  int n_contacts;
  double deepest;        /* m, >= 0: the deepest overlap */
  dJointID last_contact; /* the one made last, or NULL */
} scene;

/** dWorldStep, dWorldQuickStep or one of your own: 0 is a failed step. */
typedef int scene_stepper(dWorldID world, dReal step_size);

/* --- scenes -----------------------------------------------------------------
 * All return NULL where an argument is out of range or memory runs out.
 */

/** Rows of `rows`, rows - 1, .. 1 unit cubes on a floor, each row shifted by
 *  half a pitch of 1.05; density 1000; rows 1 .. 200. Bodies row by row from
 *  the floor up, each along +x. */
scene *scene_wall(int rows);

/** `courses` (1 .. 50) of five bricks of 0.24 x 0.115 x 0.071, 2 kg each, on a
 *  floor, each course shifted by half a brick: a wall that is one brick thin, of
 *  light parts that all touch. */
scene *scene_bricks(int courses);

/** A box of 0.5 x 0.5 x 0.2, density 1000, on a floor, launched at 3 m/s,
 *  `angle` radians from +x towards +y. */
scene *scene_slide(double angle);

/** A capsule of radius 0.05, length 1.9 and mass 1, turned 0.5 rad about y from
 *  the vertical, its lower cap 1e-4 deep in the floor, one contact, moving at
 *  `speed` m/s along x. */
scene *scene_tilted_rod(double speed);

/** `boxes` unit cubes on top of each other, density 1000; the topmost `ratio`
 *  times as heavy as each of the others (ratio > 0). */
scene *scene_stack(int boxes, double ratio);

/** `bodies` spheres, boxes and capsules in turn, in layers of nine above a
 *  floor with four walls that lean outwards by 45 degrees. */
scene *scene_pit(int bodies);

/** `links` capsules of length 0.5 joined end to end by ball joints, the first
 *  to the world, level at the start; the last link `ratio` times as heavy as
 *  each of the others (ratio > 0). No floor. */
scene *scene_chain(int links, double ratio);

/** `links` boxes of 0.5 x 0.1 x 0.1, density 1000, joined end to end by ball
 *  joints and lying on a floor in gentle bends: every link is held twice, by its
 *  joints and by its contacts. */
scene *scene_lying_chain(int links);

/** A round trunk of radius 0.3 on `legs` legs (3 .. 64) of two rods each, hinged
 *  at hip and knee; struts with ball joints tie each knee to the next, so that
 *  every leg is part of closed loops. */
scene *scene_spider(int legs);

/** A chassis of 2 x 1 x 0.3 on four sprung wheels (cylinders), the rear ones
 *  driven up to 10 rad/s with 200 N m, at rest at the start. For steps of
 *  0.01 s. Bodies: chassis, rear wheels, front wheels. */
scene *scene_vehicle(void);

/** A cube of 0.1 and 1 kg held up in the air between two fingers on sliders
 *  that close with `force` N each (force >= 0; mu 0.5 holds it from 9.81 N on).
 *  Bodies: the cube, then the fingers. */
scene *scene_grasp(double force);

/** Stewart and Trinkle's rod (2000, sec. 4.1) at the moment of touching: length
 *  0.5, radius 0.05, mass 1, inertia 0.002, turned 30 degrees about y, mu 0.6,
 *  moving at `speed` m/s along x. With a speed below 0 the lower cap slides
 *  ahead of the centre and rigid bodies have no acceleration that fits
 *  (Painleve). */
scene *scene_painleve_rod(double speed);

/* --- use ------------------------------------------------------------------ */

/** Make the contact joints of the present poses, in place of the last ones.
 *  @return their number. */
int scene_collide(scene *scene);

/** Collide, then take one step. @return what the stepper returns. */
int scene_step(scene *scene, scene_stepper *step, double step_size);

/** The highest speed of a body's centre, m/s; NAN where one is not finite. */
double scene_fastest(const scene *scene);

/** NULL is allowed. Leaves dCloseODE to the caller. */
void scene_destroy(scene *scene);

/* --- for scenes of one's own ---------------------------------------------- */

/** An empty world with gravity. */
scene *scene_create(void);
/** A floor at z = 0. */
void scene_add_floor(scene *scene);
/** A body of mass 0 at (x, y, z); NULL where memory runs out. */
dBodyID scene_add_body(scene *scene, double x, double y, double z);
dBodyID scene_add_box(scene *scene, double x, double y, double z,
                      double length_x, double length_y, double length_z,
                      double density);
dBodyID scene_add_sphere(scene *scene, double x, double y, double z,
                         double radius, double density);
/** Along z, `length` between the centres of the caps. */
dBodyID scene_add_capsule(scene *scene, double x, double y, double z,
                          double radius, double length, double density);

#endif
