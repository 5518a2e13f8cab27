/* ode-mlcp: steps of Open Dynamics Engine worlds as mixed linear
 * complementarity problems, solved to rounding.
 *
 *   ode_mlcp_options options;
 *   ode_mlcp_default_options(&options);
 *   ode_mlcp_attach(world, &options);      // from here dWorldStep and
 *   dWorldQuickStep(world, 0.01);          // dWorldQuickStep step on ode-mlcp
 *
 * Units are SI throughout. Functions that can fail return an
 * `ode_mlcp_error`: it says whether the call worked. How a step's solve ended
 * stands in the step's `ode_mlcp_report`.
 */
#ifndef ODE_MLCP_H
#define ODE_MLCP_H

#include <stddef.h>

#include <ode/ode.h>

#include "ode_mlcp_impacts.h"
#include "ode_mlcp_report.h"
#include "ode_mlcp_settings.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ode_mlcp_error {
  ODE_MLCP_OK = 0,
  ODE_MLCP_BAD_ARGUMENT, /* a value out of its range; nothing was changed */
  ODE_MLCP_NO_MEMORY,    /* nothing was changed */
  ODE_MLCP_WRONG_HOST,   /* the ODE library in this process is stock, has
                              older patches or another precision:
                              ode_mlcp_error_text says which */
  ODE_MLCP_NOT_ATTACHED, /* the world does not step on ode-mlcp */
  ODE_MLCP_STEP_FAILED,  /* the step was not taken; every object is as it was */
  ODE_MLCP_IN_STEP /* asked by a callback of a step of this world, which is
                            under way; nothing was changed */
} ode_mlcp_error;

/** A step is refused that would move or turn a body by more than this, m or rad,
 *  */
#define ODE_MLCP_MOST_MOTION 1e9
/** or take it further than this from the origin, m: the host could neither turn it
 *  nor tell it from its neighbours. */
#define ODE_MLCP_MOST_DISTANCE 1e15

typedef enum ode_mlcp_scheme {
  ODE_MLCP_SCHEME_AP,          /* velocity level, no position correction */
  ODE_MLCP_SCHEME_AH,          /* stabilised: ERP is the paper's gamma */
  ODE_MLCP_SCHEME_GAP,         /* the (alpha, gamma) family, alpha = gamma */
  ODE_MLCP_SCHEME_TRAPEZOID_1, /* second order, friction against v+ */
  ODE_MLCP_SCHEME_TRAPEZOID,   /* second order, all rows on (v + v+) / 2 */
  ODE_MLCP_SCHEME_ST,        /* Stewart and Trinkle: gaps where the bodies go */
  ODE_MLCP_SCHEME_CONSERVING /* second order, conserves what physics does */
} ode_mlcp_scheme;

/** How the second-order schemes and gap resolve an impact. */
typedef enum ode_mlcp_impact_law {
  ODE_MLCP_IMPACT_LAW_POISSON, /* all contacts at once, then Poisson's
                                  restitution */
  ODE_MLCP_IMPACT_LAW_SET      /* one outcome of the set-valued law, at random;
                                  Poisson's where a contact bounces */
} ode_mlcp_impact_law;

typedef enum ode_mlcp_solver {
  ODE_MLCP_SOLVER_FAST, /* what makes the usual step cheap, Lemke behind it */
  ODE_MLCP_SOLVER_LEMKE /* Lemke's method for every step */
} ode_mlcp_solver;

/** Settings of a world: ode_mlcp_settings.h has them with their ranges and
 *  defaults. Fill with ode_mlcp_default_options, then change. Each has the same
 *  name as an option of `ode-mlcp run` and as an environment variable (--edges,
 *  ODE_MLCP_EDGES). */
typedef struct ode_mlcp_options {
  size_t struct_size; /* set by ode_mlcp_default_options */
#define ODE_MLCP_MEMBER(type, field, allowed, fallback, unit, letter, read_by, \
                        help)                                                  \
  type field;
  ODE_MLCP_SETTINGS(ODE_MLCP_MEMBER)
} ode_mlcp_options;

/* The end of the last member: a later version may have one in the padding. */
struct ode_mlcp_options_and_end {
  size_t struct_size;
  ODE_MLCP_SETTINGS(ODE_MLCP_MEMBER)
#undef ODE_MLCP_MEMBER
  char end;
};
#define ODE_MLCP_OPTIONS_SIZE offsetof(struct ode_mlcp_options_and_end, end)

#define ODE_MLCP_ERP_HOST (-1.0)

/** The margin of ode_mlcp_set_collision's contacts is what the bodies of a pair
 *  can come closer in two steps, and so is that of dCollide under `ode-mlcp run`
 *  with a scheme other than ap and ah; other contacts that the program makes
 *  itself are those that touch. Joint stops hold before they are overshot, as with
 *  any margin but 0. */
#define ODE_MLCP_MARGIN_AUTO (-1.0)

/** How one step ended: ode_mlcp_report.h has the fields with their meaning.
 *  Counts are over all islands of the world. */
typedef struct ode_mlcp_report {
  size_t struct_size; /* set by the library: bytes that it has filled */
#define ODE_MLCP_MEMBER(type, field, islands, steps, unit, meaning) type field;
  ODE_MLCP_REPORT(ODE_MLCP_MEMBER)
#undef ODE_MLCP_MEMBER
} ode_mlcp_report;

/* Functions that fill a struct are given its size, so that programs and
 * libraries of different versions go together (docs/abi.md). */
ODE_MLCP_API void ode_mlcp_default_options_sized(ode_mlcp_options *options,
                                                 size_t size);

/** Fill `options` with the defaults. */
ODE_MLCP_INLINE void ode_mlcp_default_options(ode_mlcp_options *options) {
  ode_mlcp_default_options_sized(options, ODE_MLCP_OPTIONS_SIZE);
}

/**
 * Set one option from text, by its name as in `--NAME` ("max-events"). Numbers
 * have a decimal point in every locale; switches are "on" or "off".
 *
 * @param message [message_size] out: empty, or one line that names the setting,
 *                the value and what is allowed. May be NULL with 0.
 * @return ODE_MLCP_OK or ODE_MLCP_BAD_ARGUMENT (options unchanged).
 */
ODE_MLCP_API ode_mlcp_error ode_mlcp_set_option(ode_mlcp_options *options,
                                                const char *name,
                                                const char *value,
                                                char *message,
                                                size_t message_size);

/**
 * The value of one option as ode_mlcp_set_option takes it.
 *
 * @param value [value_size] out; 32 bytes are enough
 * @return ODE_MLCP_BAD_ARGUMENT where there is no such option or no room.
 */
ODE_MLCP_API ode_mlcp_error ode_mlcp_get_option(const ode_mlcp_options *options,
                                                const char *name, char *value,
                                                size_t value_size);

/**
 * The name of option number `index`, from 0.
 *
 * @param name [name_size] out; 32 bytes are enough
 * @return ODE_MLCP_BAD_ARGUMENT past the last, or where there is no room.
 */
ODE_MLCP_API ode_mlcp_error ode_mlcp_option_name(int index, char *name,
                                                 size_t name_size);

/**
 * Whether every setting is in its range.
 *
 * @param message [message_size] out: empty, or one line that names the first
 *                that is not, its value and what is allowed. May be NULL with
 *                0.
 * @return ODE_MLCP_OK or ODE_MLCP_BAD_ARGUMENT.
 */
ODE_MLCP_API ode_mlcp_error ode_mlcp_check_options(
    const ode_mlcp_options *options, char *message, size_t message_size);

/**
 * Step `world` on ode-mlcp from now on; on a world already attached, change
 * its settings. The world keeps its own copy of `options` (NULL: defaults) and
 * lets go of it when it is destroyed.
 *
 * @return ODE_MLCP_BAD_ARGUMENT where a setting is out of range: dMessage has
 *         said which (ode_mlcp_check_options does, too).
 */
ODE_MLCP_API ode_mlcp_error ode_mlcp_attach(dWorldID world,
                                            const ode_mlcp_options *options);

/** Give `world` back to the stock steppers. */
ODE_MLCP_API ode_mlcp_error ode_mlcp_detach(dWorldID world);

/** Attach every world created from now on (NULL: stop doing so). As
 *  ode_mlcp_attach. */
ODE_MLCP_API ode_mlcp_error
ode_mlcp_attach_new_worlds(const ode_mlcp_options *options);

ODE_MLCP_API ode_mlcp_error ode_mlcp_step_sized(dWorldID world, dReal step_size,
                                                ode_mlcp_report *report,
                                                size_t report_size);

/**
 * Take one step of an attached world.
 *
 * @param step_size  s, > 0
 * @param report     out, may be NULL
 * @return ODE_MLCP_STEP_FAILED where dWorldStep would return 0.
 */
ODE_MLCP_INLINE ode_mlcp_error ode_mlcp_step(dWorldID world, dReal step_size,
                                             ode_mlcp_report *report) {
  return ode_mlcp_step_sized(world, step_size, report, sizeof *report);
}

/* --- contacts before they touch ------------------------------------------
 *
 * Programs usually make contact joints out of dCollide before each step. A
 * program that registers a collision function instead gives contacts at
 * whatever poses a scheme asks for, and with signed gaps: a body comes to rest
 * on another without ever being in it.
 *
 *   static int collide(void *context, dWorldID world,
 *                      ode_mlcp_contact_list *list) {
 *     return ode_mlcp_collide_space(list, space, surface, NULL) == ODE_MLCP_OK;
 *   }
 *   ode_mlcp_set_collision(world, collide, NULL);
 *   dWorldStep(world, h);              // no dSpaceCollide, no contact joints
 *
 * For the length of a step the contacts are contact joints of the world: a
 * moved callback may see them. They wake bodies up as joints do, those between
 * a disabled body and another only when the two will touch in the step.
 */

/** The contacts that a collision function gives; valid in the call only. */
typedef struct ode_mlcp_contact_list ode_mlcp_contact_list;

/**
 * Give the contacts of `world` at the present poses. Called as often as a step
 * needs it, with bodies at the start of the step or moved for a while, and the
 * geoms of bodies that are not looked at disabled for a while; may change nothing
 * but the list. A contact between bodies that the program joined
 * itself is given by the program, too: the step takes both.
 *
 * @return nonzero, or 0 to fail the step.
 */
typedef int ode_mlcp_collision(void *context, dWorldID world,
                               ode_mlcp_contact_list *list);

/** Register the collision function of an attached world; NULL for none. It
 *  stays until the world is detached or destroyed. */
ODE_MLCP_API ode_mlcp_error ode_mlcp_set_collision(dWorldID world,
                                                   ode_mlcp_collision *function,
                                                   void *context);

#define ODE_MLCP_POLYGON_MAX 32

/** The surface of a pair of geoms. */
typedef struct ode_mlcp_surface {
  dSurfaceParameters parameters; /* as in a dContact */
  dVector3 fdir1;                /* unit, with dContactFDir1; made tangential */
  int reduce; /* 1: of a patch keep the deepest point, the two furthest apart and
                 the furthest to each side of them */

  /* 0, or the friction set is the normal impulse times the polygon of these
   * vertices and their opposites, in place of mu: along fdir1 and normal x
   * fdir1 (without dContactFDir1: as dPlaneSpace gives them). Vertices are the
   * corners of a convex polygon, counter-clockwise within half a turn;
   * at least 2. Its size is the coefficient of friction. */
  int n_polygon;
  double polygon[ODE_MLCP_POLYGON_MAX][2];
} ode_mlcp_surface;

/** Set `surface`, which comes as zeros, for a pair of geoms: the one of the body
 *  created first, then that of the other or of none. @return 0 to leave the pair
 *  out. */
typedef int ode_mlcp_surface_function(void *context, dGeomID geom1,
                                      dGeomID geom2, ode_mlcp_surface *surface);

/**
 * Add a contact. A gap is a negative depth; the normal points into `body1`, the
 * position is half-way between the surfaces.
 *
 * @param body1, body2  one may be 0: the world
 */
ODE_MLCP_API ode_mlcp_error ode_mlcp_add_contact(ode_mlcp_contact_list *list,
                                                 dBodyID body1, dBodyID body2,
                                                 const dContact *contact);

/**
 * Add all contacts of two geoms whose gap is within the margin, as docs/gap.md
 * measures it. Normals point into the geom of the body that was created first,
 * whichever way round the two are given. Geoms of the same body, or of none,
 * have no contacts. Between two bodies they act half-way between the surfaces;
 * a body that meets the world is held at its own surface.
 *
 * @return ODE_MLCP_BAD_ARGUMENT where a geom is of a class without a gap or of
 *         no use: the step then fails and the warning names the geom.
 */
ODE_MLCP_API ode_mlcp_error ode_mlcp_add_pair(ode_mlcp_contact_list *list,
                                              dGeomID geom1, dGeomID geom2,
                                              const ode_mlcp_surface *surface);

/**
 * Add the pairs of all geoms in `space` and the spaces in it (not in a quadtree
 * space), by the geoms' category and collide bits and leaving out bodies that a
 * joint connects. Rays are left out. The AABB margins (dGeomSetAABBMargin) of
 * the geoms on the world's bodies are raised to what is needed and stay so.
 *
 * @param function  gives each pair's surface.
 */
ODE_MLCP_API ode_mlcp_error
ode_mlcp_collide_space(ode_mlcp_contact_list *list, dSpaceID space,
                       ode_mlcp_surface_function *function, void *context);

/** The largest gap of two geoms that is of interest, m; for a function that
 *  finds contacts itself. geom2 NULL: of geom1 and what stands still. */
ODE_MLCP_API double ode_mlcp_pair_margin(const ode_mlcp_contact_list *list,
                                         dGeomID geom1, dGeomID geom2);

/**
 * The contacts of two geoms whose gap is within a margin, as dCollide would
 * give them but exact, whole patches, and with negative depths where the geoms
 * do not touch: for programs that make contact joints themselves. To be used
 * without a collision function, from any thread.
 *
 * @param margin    m, >= 0
 * @param contacts  [room] out, `stride` bytes from one to the next, at least
 *                  sizeof(dContactGeom)
 * @return their number, the deepest first, at most 1024; -1 for a bad argument,
 *         a geom without a gap (ray, space, user class) or without memory.
 */
ODE_MLCP_API int ode_mlcp_find_contacts(dGeomID geom1, dGeomID geom2,
                                        double margin, dContactGeom contacts[],
                                        int room, size_t stride);

/**
 * A geom as any other, the ellipsoid. dCollide finds its contacts with every class
 * but rays, and so does all that finds contacts here.
 *
 * @param space      or NULL; the geom is the caller's, as of dCreateSphere
 * @param semi_axes  [3] m, along the geom's x, y and z
 * @return NULL where a semi-axis is not positive and finite, or without memory.
 */
ODE_MLCP_API dGeomID ode_mlcp_create_ellipsoid(dSpaceID space,
                                               const double semi_axes[3]);

/** A contact of the last step, from the collision function. */
typedef struct ode_mlcp_contact {
  size_t struct_size;  /* set by the library: bytes that it has filled */
  dBodyID body[2];     /* the second may be 0: the world */
  dContactGeom geom;   /* as the step took it; depth < 0: a gap */
  unsigned feature[2]; /* of the shapes, 0 where they are not known */
  int part[2];         /* triangle of a mesh, else -1 */
  double force[3];     /* N on body[0], of all of the step; under schemes that
                          look at contacts at other poses that of the same
                          contact there, 0 where it is none any more */
} ode_mlcp_contact;

ODE_MLCP_API ode_mlcp_error ode_mlcp_last_contact_sized(
    dWorldID world, int index, ode_mlcp_contact *contact, size_t contact_size);

/**
 * Contact number `index`, from 0, of an attached world's last step.
 *
 * @return ODE_MLCP_BAD_ARGUMENT past the last. Bodies and geoms may have been
 *         destroyed since.
 */
ODE_MLCP_INLINE ode_mlcp_error
ode_mlcp_last_contact(dWorldID world, int index, ode_mlcp_contact *contact) {
  return ode_mlcp_last_contact_sized(world, index, contact, sizeof *contact);
}

typedef enum ode_mlcp_event_kind {
  ODE_MLCP_EVENT_COLLISION,
  ODE_MLCP_EVENT_TRANSITION /* a slip ends */
} ode_mlcp_event_kind;

/** An event that a second-order scheme found within the last step. */
typedef struct ode_mlcp_event {
  size_t struct_size; /* set by the library: bytes that it has filled */
  ode_mlcp_event_kind kind;
  double time;    /* s: the world's, as in the report */
  int n_contacts; /* and stops that it is about */
} ode_mlcp_event;

/** The change of a contact or stop by an event. */
typedef enum ode_mlcp_event_change {
  ODE_MLCP_EVENT_CHANGE_HIT,  /* it collides, or is reached */
  ODE_MLCP_EVENT_CHANGE_STICK /* its slip ends */
} ode_mlcp_event_change;

/** A contact or stop that an event is about. */
typedef struct ode_mlcp_event_contact {
  size_t struct_size; /* set by the library: bytes that it has filled */
  ode_mlcp_event_change change;
  dBodyID body[2];    /* the second may be 0: the world */
  dJointID joint;     /* of a stop; 0: a contact */
  double position[3]; /* m, of a contact, where the world was looked at last: at
                         the event where it hits, else at the event before or
                         the step's start */
  double normal[3];   /* likewise; unit, into body[0] */
} ode_mlcp_event_contact;

ODE_MLCP_API ode_mlcp_error ode_mlcp_last_event_sized(dWorldID world, int index,
                                                      ode_mlcp_event *event,
                                                      size_t event_size);

/**
 * Event number `index`, from 0, of an attached world's last step, by time.
 *
 * @return ODE_MLCP_BAD_ARGUMENT past the last; of more than 64 events in a step
 *         the later ones are only counted in the report.
 */
ODE_MLCP_INLINE ode_mlcp_error ode_mlcp_last_event(dWorldID world, int index,
                                                   ode_mlcp_event *event) {
  return ode_mlcp_last_event_sized(world, index, event, sizeof *event);
}

ODE_MLCP_API ode_mlcp_error ode_mlcp_last_event_contact_sized(
    dWorldID world, int index, int k, ode_mlcp_event_contact *contact,
    size_t contact_size);

/**
 * Contact or stop number `k`, from 0, of event number `index` of an attached
 * world's last step.
 *
 * @return ODE_MLCP_BAD_ARGUMENT past the last. Bodies and joints may have been
 *         destroyed since.
 */
ODE_MLCP_INLINE ode_mlcp_error ode_mlcp_last_event_contact(
    dWorldID world, int index, int k, ode_mlcp_event_contact *contact) {
  return ode_mlcp_last_event_contact_sized(world, index, k, contact,
                                           sizeof *contact);
}

ODE_MLCP_API ode_mlcp_error ode_mlcp_last_report_sized(dWorldID world,
                                                       ode_mlcp_report *report,
                                                       size_t report_size);

/** The report of `world`'s last step; all zero before the first, but for its
 *  size. */
ODE_MLCP_INLINE ode_mlcp_error ode_mlcp_last_report(dWorldID world,
                                                    ode_mlcp_report *report) {
  return ode_mlcp_last_report_sized(world, report, sizeof *report);
}

/**
 * The velocity whose variation stays bounded as the step goes to 0 (GAP):
 * v_alpha = (1 - alpha) v + alpha v+ of the body's last step, alpha 1/2 under
 * the trapezoids and conserving and 1 under ap and ah.
 *
 * @param velocity [6] out: linear, then angular, world frame
 * @return ODE_MLCP_BAD_ARGUMENT where the body took no part in the last step.
 */
ODE_MLCP_API ode_mlcp_error ode_mlcp_body_v_alpha(dBodyID body,
                                                  double velocity[6]);

/* --- forces taken implicitly --------------------------------------------------
 *
 * For schemes conserving, trapezoid, trapezoid-1, gap and st. Under ap and ah, which
 * solve islands each for itself, there are none: they are refused when they are
 * made.
 */

typedef struct ode_mlcp_force ode_mlcp_force;

/** A length at a time: where a spring is at rest. */
typedef double ode_mlcp_length_function(void *context, double time);

/**
 * A spring and damper between a point of one body and a point of another, or of
 * the world: -stiffness (l - l0) - damping dl/dt along the line between the
 * points, or along a fixed axis.
 */
typedef struct ode_mlcp_spring {
  dBodyID body[2];     /* body[1] may be 0: the world */
  double anchor[2][3]; /* m, world coordinates at creation; they then move with
                           their bodies */
  int along_axis;   /* 1: l = axis.(anchor 0 - anchor 1); 0: their distance */
  double axis[3];   /* world frame, not 0; stays */
  double stiffness; /* N/m, >= 0 */
  double damping;   /* N s/m, >= 0 */
  double length;    /* m: l0, where there is no function */
  ode_mlcp_length_function
      *length_function; /* l0 at the world's time, or NULL */
  void *context;
} ode_mlcp_spring;

/**
 * Make a spring of an attached world; it is copied. Destroy it before its
 * bodies; the world's end (or ode_mlcp_detach) destroys it, too. Stiffness and
 * damping of any size leave M~ positive definite (PAGT 10.12-10.14).
 *
 * @param force  out: for ode_mlcp_force_destroy
 * @return ODE_MLCP_BAD_ARGUMENT under ap and ah, too, with a message of the host's.
 */
ODE_MLCP_API ode_mlcp_error ode_mlcp_spring_create(
    dWorldID world, const ode_mlcp_spring *spring, ode_mlcp_force **force);

/** Pose and motion of a body at a time that a scheme asks about. */
typedef struct ode_mlcp_body_state {
  double time;          /* s: the world's, as in the report */
  double position[3];   /* m */
  double quaternion[4]; /* w, x, y, z: body to world */
  double velocity[6];   /* m/s, rad/s */
} ode_mlcp_body_state;

/**
 * A force of the program's on one body.
 *
 * @param force  [6] out: N, N m, world frame, about the centre of mass; comes
 *               as zeros
 * @param k_q    [36] out, row-major: d force / d (shift, turn), comes as zeros
 *               and may stay so
 * @param k_v    [36] out: d force / d velocity
 */
typedef void ode_mlcp_force_function(void *context, dBodyID body,
                                     const ode_mlcp_body_state *state,
                                     double force[6], double k_q[36],
                                     double k_v[36]);

/** Let a function act on a body of an attached world, until the force or the
 *  body is destroyed. It is called several times a step and may change nothing. */
ODE_MLCP_API ode_mlcp_error ode_mlcp_force_create(dBodyID body,
                                                  ode_mlcp_force_function *f,
                                                  void *context,
                                                  ode_mlcp_force **force);

/** Destroy a spring or a force of a function. NULL is ignored. Within a step of its
 *  world it acts until the end of that. */
ODE_MLCP_API void ode_mlcp_force_destroy(ode_mlcp_force *force);

/** Energy of all springs of an attached world where its bodies are, J; 0 for
 *  others. */
ODE_MLCP_API double ode_mlcp_spring_energy(dWorldID world);

/** Called at the end of every step of every attached world, in the thread that
 *  called dWorldStep; may not step or destroy the world. The report is the
 *  library's own: of its fields those within report->struct_size are there. */
typedef void ode_mlcp_observer(void *context, dWorldID world,
                               const ode_mlcp_report *report);

/** One observer a process; NULL for none. Not thread-safe: set it before the
 *  first step. */
ODE_MLCP_API void ode_mlcp_observe(ode_mlcp_observer *observer, void *context);

/** True if a geom that a contact joint names has not been destroyed. Called when a
 *  step begins, in the thread that called dWorldStep. */
typedef int ode_mlcp_geom_function(void *context, dGeomID geom);

/**
 * Look at contacts of contact joints that programs make: one with a piece of a floor
 * is left out where the floor goes on beside it (docs/formulation.md, eq. 11b), as
 * it is with a collision function, and the second-order schemes ask its geoms where it
 * is at other poses (ibid., "Active contacts and events"). `ode-mlcp run` does so for
 * its program.
 *
 * @param is_alive  for which geoms; of the process. NULL: for none, as it is at
 *                  first. Not thread-safe: set it before the first step.
 */
ODE_MLCP_API void ode_mlcp_watch_geoms(ode_mlcp_geom_function *is_alive,
                                       void *context);

/* --- set-valued impacts of a world ------------------------------------------
 *
 *   ode_mlcp_world_impact *collision;
 *   ode_mlcp_impact_problem_of_world(world, NULL, 0, &collision, NULL, 0);
 *   if (collision != NULL) {
 *     ode_mlcp_impact_create(&collision->problem, &impact, NULL, 0);
 *     ode_mlcp_impact_sim(impact, &options, sample, v, NULL);
 *     ode_mlcp_world_impact_apply(collision, v);
 *     ..
 */

/** Everything that collides in a world now, as a problem on plain arrays, and how
 *  its coordinates move the bodies. To be read only. It does not follow the world:
 *  it holds until a body moves or is destroyed. */
typedef struct ode_mlcp_world_impact {
  size_t struct_size; /* set by the library: bytes that are there */
  ode_mlcp_impact_problem problem;
  int n_bodies;
  dBodyID *bodies;      /* [n_bodies] that may change their velocity, in order
                             of creation */
  double *velocity_map; /* 6 n_bodies x s, row-major: a body's linear, then
                             angular velocity is map v + offset */
  double *velocity_offset; /* [6 n_bodies] */
  dJointID *joints;        /* [n_contacts] the contact's joint; the joint whose
                             stop it is; NULL for a contact given */
  int contacts_left_out;   /* merged (closer than 1e-4 m), no usable normal, or
                             nothing that a push could move */
  double joint_jump;       /* m/s, rad/s: the largest change of a velocity that
                             the joints ask for before anything collides */
  /* where the arrays are; for ode_mlcp_world_impact_destroy */
  void *block;
  size_t block_size;
} ode_mlcp_world_impact;

/**
 * The collision problem of a world at its present poses and velocities.
 *
 * Touching is what has a contact joint, or is among `contacts`, and is not
 * further apart than 1e-6 m. Taken are all bodies that contacts and joints tie
 * to a contact that approaches (faster than 1e-8 m/s), disabled ones too, and
 * everything that touches among them. An impact takes no time: no finite force
 * acts. So
 *   - joint rows without force limits are obeyed exactly: the problem's
 *     coordinates are what they leave free. Motors with a limit, springs (rows
 *     with a CFM above the world's) and gravity do nothing;
 *   - a joint stop that has been reached is a contact without friction;
 *   - kinematic bodies move as they do: `surface` has their velocities, and
 *     those of moving surfaces (motion1, motion2, motionN);
 *   - contacts are rigid and inelastic: bounce, soft ERP and CFM and rolling
 *     friction have no part, and a direction with slip has no friction.
 * Friction is a diamond with corners at mu along fdir1 and mu2 across it; where
 * the surface has no fdir1, a corner lies along the slip before the impact. A
 * mu that is a force (no Approx1 flag) is 0, an infinite one is
 * friction without limit (1e5 beside a finite one). Where joints
 * leave every contact one direction to slide in (Plane2D), T = 1, and T = 2
 * otherwise.
 *
 * With no joints s = 6 n_bodies and M and v are the bodies' own; with joints
 * the coordinates are some in which M is the identity.
 *
 * @param contacts    [n_contacts] besides the world's contact joints, as
 *                    dCollide gives them, with a surface; bodies are those of
 *                    their geoms. NULL with 0.
 * @param impact      out: destroy it with ode_mlcp_world_impact_destroy; NULL
 *                    where nothing collides, and on failure
 * @param message     [message_size] out: empty, or one line on what is wrong and
 *                    where. May be NULL.
 * @return ODE_MLCP_BAD_ARGUMENT where a value is not finite, joints contradict
 *         each other, or there are more than 1000 contacts or coordinates.
 */
ODE_MLCP_API ode_mlcp_error ode_mlcp_impact_problem_of_world(
    dWorldID world, const dContact contacts[], int n_contacts,
    ode_mlcp_world_impact **impact, char *message, size_t message_size);
ODE_MLCP_API void ode_mlcp_world_impact_destroy(ode_mlcp_world_impact *impact);

/** Velocities of the bodies from coordinates v [s]: [6 n_bodies] out. */
ODE_MLCP_API void
ode_mlcp_world_impact_velocities(const ode_mlcp_world_impact *impact,
                                 const double v[], double velocities[]);

/** Give the bodies the velocities that belong to an outcome v [s]; those that
 *  change are enabled. @return ODE_MLCP_BAD_ARGUMENT where a velocity is not
 *  finite: nothing was changed. */
ODE_MLCP_API ode_mlcp_error ode_mlcp_world_impact_apply(
    const ode_mlcp_world_impact *impact, const double v[]);

/** Which problems are written. */
typedef enum ode_mlcp_dump_when {
  ODE_MLCP_DUMP_DEGRADED, /* whose residual is above the tolerance */
  ODE_MLCP_DUMP_ALL
} ode_mlcp_dump_when;

/**
 * Write problems of all attached worlds, each to a folder of its own below
 * `folder`, "step-000012-island-001-part-01" ("world-2-step-.." for the second
 * world attached): what `ode-mlcp solve` reads. Results do not change.
 *
 * The newest 100 problems are kept, and 1 GiB at most: older ones that this
 * process wrote are removed. What cannot be written is said by dMessage, and the
 * program goes on.
 *
 * @param folder  made when there is something to write, its parent must be
 *                there; copied. NULL: write no more.
 * @return ODE_MLCP_BAD_ARGUMENT for an empty or too long name. Call it between
 *         steps.
 */
ODE_MLCP_API ode_mlcp_error ode_mlcp_dump(const char *folder,
                                          ode_mlcp_dump_when when);

/** A sentence for an error. */
ODE_MLCP_API const char *ode_mlcp_error_text(ode_mlcp_error error);

/** "1.0.0", as in the library that is running. */
ODE_MLCP_API const char *ode_mlcp_version(void);

#ifdef __cplusplus
}
#endif

#endif
