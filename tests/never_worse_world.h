/* Worlds drawn by a seed, as programs on the plain ODE API make them: what they are
 * made of, how they are stepped, and how far off they are. It knows no ode-mlcp. */
#ifndef ODE_MLCP_TESTS_NEVER_WORSE_WORLD_H
#define ODE_MLCP_TESTS_NEVER_WORSE_WORLD_H

#include <ode/ode.h>
#include <stdbool.h>
#include <stdint.h>

enum { DRAWN_BODIES = 64, DRAWN_JOINTS = 128, DRAWN_CONTACTS = 4096 };

/** A joint and where it was attached, in its bodies' frames: what its error is. */
typedef struct drawn_joint {
  dJointID joint;
  dBodyID bodies[2];    /* the second may be NULL: the world */
  double anchors[2][3]; /* in each body's frame */
  double axes[2][3];    /* of the same direction when it was attached */
  double across[2][3];  /* a direction orthogonal to it */
  double low, high;     /* stops, rad or m; low > high: none */
  double arm;           /* m: turns an angle's error into a distance */
} drawn_joint;

typedef struct drawn_world drawn_world;

struct drawn_world {
  uint64_t chance;
  const char *family;
  dWorldID world;
  dSpaceID space;
  dJointGroupID contact_group;
  double step_size; /* s, as the program has it */
  int split;        /* substeps a step is taken in */
  int n_steps;
  double size, mass, gravity; /* m, kg, m/s^2: of its usual part */
  double speed;               /* sqrt(gravity size), m/s */
  double start_energy;        /* J: its energy scale */

  dBodyID bodies[DRAWN_BODIES];
  double sizes[DRAWN_BODIES]; /* m, the largest extent of each */
  int n_bodies;
  drawn_joint joints[DRAWN_JOINTS];
  int n_joints;
  dTriMeshDataID mesh;
  dHeightfieldDataID field;
  double bump; /* m, height of a height field's waves */

  dSurfaceParameters surface; /* of all contacts but those of belts */
  int most_contacts;          /* a pair */
  dGeomID mover;              /* a geom whose surface moves, or NULL */
  double mover_velocity[3];
  bool feedback; /* forces are asked for: something drives the world */
  dJointFeedback forces[DRAWN_JOINTS + DRAWN_CONTACTS];
  dJointID contacts[DRAWN_CONTACTS];

  /** Sets motors and moves what the program moves, before each (sub)step. */
  void (*drive)(drawn_world *, double time);
  /** How far the world is off something it has to keep, 0 and more; without a
   *  unit, 1 being all of it. NULL: nothing is known. */
  double (*invariant)(const drawn_world *, double time);
  double kept[8]; /* a family's own numbers */
  dBodyID hand;   /* a body that it looks at */
  dJointID motors[8];

  /* what the last step found */
  int n_contacts;
  double depth;         /* m, of the deepest contact */
  double springs;       /* J, in contacts that are springs, */
  double springs_first; /* and those that it began with */
  double forces_work;   /* J, of all forces but gravity */
};

/** The world of this number; `split` substeps stand for one step, with springs and
 *  dampers that are the same in time. Ends the program where there is no memory. */
void draw_world(drawn_world *, uint64_t number, int split);
void destroy_world(drawn_world *);

/** One of the program's steps, by dWorldQuickStep if `quick`.
 *  @return the number of (sub)steps that were refused. */
int step_world(drawn_world *, int number, bool quick);

/** m: the widest error of a joint, with angles times the joint's arm. */
double joint_error(const drawn_world *);
/** J: kinetic and potential. */
double world_energy(const drawn_world *);
/** True if each body's place and speed is a number, and not out of the world. */
bool world_is_whole(const drawn_world *);

/* ---- chance ---- */

double draw_between(drawn_world *, double low, double high);
/** Uniform in the logarithm. */
double draw_scale(drawn_world *, double low, double high);
int draw_below(drawn_world *, int n);
static inline bool draw_one_in(drawn_world *w, int n) {
  return draw_below(w, n) == 0;
}

/* ---- parts; lengths in m, places of centres ---- */

dBodyID add_box(drawn_world *, double mass, double a, double b, double c,
                double x, double y, double z);
dBodyID add_ball(drawn_world *, double mass, double radius, double x, double y,
                 double z);
/** `direction` 0, 1, 2: along x, y, z. `length` is that of the cylinder alone. */
dBodyID add_capsule(drawn_world *, double mass, double radius, double length,
                    int direction, double x, double y, double z);
dBodyID add_cylinder(drawn_world *, double mass, double radius, double length,
                     int direction, double x, double y, double z);
/** A box as a convex hull. */
dBodyID add_convex(drawn_world *, double mass, double a, double b, double c,
                   double x, double y, double z);
dGeomID add_static_box(drawn_world *, double a, double b, double c, double x,
                       double y, double z);

/** Kinds of floors: z = 0 is their surface, from -`reach` to `reach`. */
typedef enum floor_kind {
  FLOOR_PLANE,
  FLOOR_TILES,
  FLOOR_BOARDS,
  FLOOR_MESH,
  FLOOR_FIELD,
  FLOOR_KINDS
} floor_kind;
void add_floor(drawn_world *, floor_kind, double reach);

/** Joints between `a` and `b` (or NULL) at a place; returns the host's joint. */
dJointID join_ball(drawn_world *, dBodyID a, dBodyID b, double x, double y,
                   double z);
dJointID join_hinge(drawn_world *, dBodyID a, dBodyID b, double x, double y,
                    double z, int axis);
dJointID join_slider(drawn_world *, dBodyID a, dBodyID b, int axis);
dJointID join_universal(drawn_world *, dBodyID a, dBodyID b, double x, double y,
                        double z, int axis1, int axis2);
dJointID join_hinge2(drawn_world *, dBodyID chassis, dBodyID wheel);
dJointID join_fixed(drawn_world *, dBodyID a, dBodyID b);
/** Stops of the joint that was made last, a hinge or a slider. */
void set_stops(drawn_world *, double low, double high, double bounce);
/** ERP and CFM of a spring of this step size, as they are for substeps. */
void spread_spring(const drawn_world *, double *erp, double *cfm);

/* ---- families ---- */

typedef struct drawn_family {
  const char *name;
  void (*make)(drawn_world *);
} drawn_family;
/** Ends with a name that is NULL. */
extern const drawn_family drawn_families[];

#endif
