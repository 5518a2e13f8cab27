/* The host's bodies, joints and contacts as plain arrays, at any poses.
 *
 *   world_read     what the islands of a step hold, where the bodies are
 *   world_read_at  the same bodies and joints, were they at other poses
 *
 * Nothing of the host is changed but the poses of bodies while a snapshot is
 * read at other ones, and those are put back bit for bit.
 */
#ifndef ODE_MLCP_WORLD_WORLD_H
#define ODE_MLCP_WORLD_WORLD_H

#include <ode/stepper.h>

#include "common/arena.h"
#include "common/serial_table.h"
#include "host/contacts.h"
#include "host/joints.h"
#include "rows/contact_rows.h"
#include "world/contact_memory.h"
#include "world/contact_source.h"
#include "world/outcome.h"
#include "world/pose.h"

typedef struct world_joint {
  dJointID id;
  bool is_contact;
  bool from_source; /* made of the collision function's list for the step */
  int body[2];      /* -1 the world */
  int rows;         /* into the snapshot's joint_rows, -1: none */
  int first_stop, n_stops;    /* into the stops beside the contacts */
  int contact;                /* what its contact is, -1: none, or left out */
  const contact_entry *known; /* see world_recall */
} world_joint;

/** A contact, or a stop that a joint has not reached: whatever has a gap. */
typedef struct world_contact {
  host_contact point; /* of a stop: body, gap, multiplicity, bounce and whether
                         it is a spring alone */
  int joint;  /* a stop's, or the contact joint; -1: found at other poses */
  int stop;   /* into the stops beside the contacts, -1: a contact */
  bool found; /* by the collision function */
  dGeomID geom[2]; /* in the order of point.body; NULL: not known to be there */
  bool goes_on[2]; /* another geom of that side has the point, too */
  bool asked;      /* its geoms tell of it at other poses, too, */
  uint32_t feature[2]; /* and what met there: gap_contact's */
  double
      axis_rate[3]; /* 1/s: of an asked one, how the direction that its surface
                          gives has changed from step to step */
  /* the scheme's to set; a new contact is active, a stop is not */
  bool active;   /* takes part in solves */
  bool held;     /* touched when the velocities were last solved for */
  bool slipping; /* its friction was at its limit then */
  /* see world_recall */
  const contact_entry *known;
  bool known_pair,
      overlaps_pair; /* its bodies touched when velocities were last
                                     solved for, and were being moved apart */
} world_contact;

/** Contacts and what they refer to. */
typedef struct world_contacts {
  int n;
  world_contact *items;
  const host_stop *stops;
  const contact_polygon *polygons;
} world_contacts;

typedef struct world_matcher world_matcher;

/** How a world is read. */
typedef struct world_settings {
  memory_pool *pool; /* of the snapshot's memory */
  dWorldID world;
  double step_size; /* s, > 0 */
  double erp;       /* of joints: ODE_MLCP_ERP_HOST or 0 .. 1 */
  double margin;    /* m, or ODE_MLCP_MARGIN_AUTO; 0: no stops before they are
                        reached */
  bool gyroscopic;  /* forces hold the host's implicit gyroscopic torque */
  bool measure;     /* fill the report's errors */
  bool stops;       /* all stops are gaps, those reached too, whatever the
                       margin: joints have no rows of them */
  bool instant;     /* an impact takes no time: contacts further apart than
                       HAIR_BESIDE are none, and none stops a motor without a
                       limit of force */
  contact_source
      *contacts;        /* the list of the step, and who is asked for more; may
                               be NULL */
  world_matcher *asker; /* asks the geoms of joints at other poses; NULL: they
                           are frozen */
  bool
      source_complete; /* what the islands hold of the function's contacts is all
                           that it finds of their bodies: where bodies have not
                           moved it is not asked again */
  const source_contact *given; /* [n_given] contacts beside those of joints */
  int n_given;
} world_settings;

/** Starts as zeros; its memory ends with the settings' pool. */
typedef struct world_snapshot {
  world_settings settings;
  /* the world's own */
  double erp, cfm;      /* erp: the settings' where they say one */
  double surface_layer; /* m */
  double max_velocity;  /* m/s */
  double gravity;       /* m/s^2, its size */

  int n_bodies, n_joints, n_joint_rows;
  host_body *bodies;   /* in the order of the islands; force: the program's,
                           gravity's, what powered joints add, and as settings
                           say */
  world_joint *joints; /* in the order of the islands */
  host_joint_rows *joint_rows;
  world_contacts contacts; /* close points merged; in the order of the joints,
                              then of the collision function */
  int *
      asked; /* [n_asked] contacts of the program's own joints, pair after pair */
  int n_asked;
  /* its own */
  arena arena;
  serial_table index;         /* of bodies */
  ode_mlcp_contact_list list; /* what was found, where read at other poses */
} world_snapshot;

/**
 * Read the bodies and joints of islands (the host keeps those of all islands in
 * one array each).
 *
 * @param out  report, message and warning
 * @return false with out->message where a body, a joint or a contact cannot be
 *         stepped or memory ran out.
 */
bool world_read(world_snapshot *world, const world_settings *settings,
                const dStepperIsland *islands, size_t n_islands, outcome *out);

/** @param motion  m, rad: of a body in a step
 *  @return false with the message where it is more than the host can take, which
 *          normalises quaternions by squares, or leads where places lose what is near. */
bool world_check_motion(dBodyID id, const double motion[6], outcome *out);

/** A body's place in the host. */
typedef struct host_place {
  dVector3 position;
  dQuaternion quaternion;
  dMatrix3 rotation;
} host_place;

/** Put the host's bodies at other poses, [home->n_bodies], until world_put_back.
 *  @param places  [home->n_bodies] out: where they were
 *  @param alone   for what reads bodies alone, as joints do, their geoms do not hear of
 *                 it: spaces list what moved, and islands on other threads have geoms in
 *                 the same ones */
void world_place(const world_snapshot *home, const world_pose poses[],
                 host_place places[], bool alone);
/** Put them back bit for bit. */
void world_put_back(const world_snapshot *home, const host_place places[],
                    bool alone);

/**
 * Look at a world at other poses.
 *
 * @param home       as the step found it; its contacts of the program's own
 *                   joints are asked of their geoms, or taken with frozen normals
 *                   and arms
 * @param poses      [home->n_bodies]
 * @param step_size  s, for the rates of joint rows: of the host's step or of a
 *                   part of it, in which springs keep their stiffness
 * @param margin     up to which gaps of the collision function's contacts are looked
 *                   for, as settings.margin; NAN: none of its contacts are, as nobody
 *                   needs them there
 */
bool world_read_at(world_snapshot *world, const world_snapshot *home,
                   const world_pose poses[], double step_size, double margin,
                   outcome *out);

/** The joints' rows alone, with an ERP of 1: a row's correction is then minus its
 *  position error over the step size. */
bool world_read_joints_at(world_snapshot *world, const world_snapshot *home,
                          const world_pose poses[], double step_size,
                          outcome *out);

/** All bodies of a world, disabled ones too, and the joints on them, as one island. Its
 *  arrays are of `memory`. @return false when memory ran out. */
bool world_island(dStepperIsland *island, arena *memory, dWorldID world);

/** A body's index, -1 where it is not in the snapshot (disabled, of another
 *  world, NULL). */
int world_find_body(const world_snapshot *world, dBodyID id);

unsigned long world_serial(const world_snapshot *world, int body);

static inline bool world_is_dynamic(const world_snapshot *world, int body) {
  return body >= 0 && !world->bodies[body].kinematic;
}

/** J M^-1 J' of a row between two bodies. */
static inline double world_row_mobility(const world_snapshot *world,
                                        const int body[2],
                                        const double J[2][6]) {
  return host_row_mobility(world->bodies, body, J);
}

/* --- contacts -------------------------------------------------------------- */

/** The gradient of a contact's gap, per body: linear, angular. */
void world_contact_jacobian(const world_contacts *contacts, int k,
                            double J[2][6]);

/** The rate of a contact's gap at the velocities `v` [6 n_bodies], m/s: of the
 *  bodies, and of the surface as the program says that it moves. */
double world_contact_rate(const world_contacts *contacts, int k,
                          const double v[]);

/** Gaps of a snapshot at other poses, by when surfaces have moved along their normals
 *  for `elapsed` seconds of the step: their geoms are where it began. Directions that
 *  surfaces give go on turning as from the last step to this one. */
void world_move_surfaces(world_snapshot *world, double elapsed);

/** Which body comes first may change from snapshot to snapshot. To be compared,
 *  a contact is seen from the body that comes first in the snapshot.
 * @return 1 where that is the second, else 0. */
int world_contact_swapped(const world_contact *contact);

/** How the body that comes first in the snapshot slides over the other at the
 *  contact, m/s, beyond the surface's own motion. */
void world_contact_slip(const world_contact *contact, const double v[],
                        double slip[3]);

/** The key of a joint with rows in a contact memory. `number` of the entry is `j`. */
void world_joint_key(contact_entry *entry, const world_snapshot *world, int j);

/** The key of a contact or stop in a contact memory. `number` of the entry is
 *  `k`. */
void world_contact_key(contact_entry *entry, const world_snapshot *world,
                       const world_contacts *contacts, int k);

/** Room for matching the contacts of two snapshots; starts as zeros. */
struct world_matcher {
  contact_memory memory;
  arena arena, key_arena;
  gap_contact *found; /* of geoms that were asked */
};

/**
 * Find contacts of one snapshot among those of another, of the same bodies in
 * the same step: nearest pairs first, within `radius` (m), with normals alike.
 *
 * @param match  [a->n] out: index in b or -1, each of b at most once
 * @return false when memory ran out.
 */
bool world_match(world_matcher *matcher, const world_snapshot *world_a,
                 const world_contacts *a, const world_snapshot *world_b,
                 const world_contacts *b, double radius, int match[]);

/** The same of contacts whose keys were kept. */
bool world_match_keys(world_matcher *matcher, const contact_entry keys[],
                      int count, const world_snapshot *world,
                      const world_contacts *contacts, double radius,
                      int match[]);

/**
 * Find joints with rows and contacts in what the last step, or a part of this one,
 * left: `known` of each, NULL for nothing, and whether its bodies touched.
 *
 * @param contacts   of the world, or in place of them
 * @param memory     no entry of it may have been claimed by keys of the same bodies
 * @param unchanged  [n_bodies] contacts of others are new; NULL: of none
 * @param radius     m, as contact_memory_match
 * @return false when memory ran out.
 */
bool world_recall(world_matcher *matcher, const world_snapshot *world,
                  const world_contacts *contacts, const contact_memory *memory,
                  const bool *unchanged, double radius);

/** Leave out those of the contacts [n] of two bodies that others of them imply: between
 *  them, with their normal and surface, and with the gap that they make of it there.
 *  These are no longer active.
 *  @param cfm       of contacts without one of their own
 *  @param way       m: what gravity moves in a step, see rows/hair.h
 *  @param left_out  counts them
 *  @return false where memory ran out. */
bool patch_thin_out(double cfm, double way, world_contact *const contacts[],
                    int n, arena *scratch, int *left_out);

/* --- asked again ------------------------------------------------------------- */

/** Find the contacts of `world`, just read, that its geoms repeat: their features are
 *  known then, too. It asks by settings.asker.
 *  @return false where memory ran out. */
bool asked_contacts_find(world_snapshot *world);

/**
 * Take them from the geoms, where bodies stand at `poses`: each is the nearest that no
 * other contact of the pair is nearer to. What is
 * not found stays as it is.
 *
 * @param world  read at `poses` [n_bodies]
 * @return false where memory ran out.
 */
bool asked_contacts_move(world_snapshot *world, const world_snapshot *home,
                         const world_pose poses[]);

#endif
