/* One island of a step: read it, split it, solve its parts, keep the results.
 *
 * Everything here runs in parallel with other islands and writes nothing that
 * belongs to the host.
 */
#ifndef ODE_MLCP_STEP_ISLAND_H
#define ODE_MLCP_STEP_ISLAND_H

#include <ode/stepper.h>

#include "ode_mlcp.h"
#include "rows/contact_rows.h"
#include "rows/joint_rows.h"
#include "solver/solver.h"
#include "step/contact_source.h"
#include "step/warm_start.h"

/** What a joint is to the step. */
typedef enum joint_role {
  JOINT_LEFT_OUT, /* no rows, a merged or an unusable contact */
  JOINT_ROWS,
  JOINT_CONTACT
} joint_role;

typedef struct island_joint {
  dJointID id;
  joint_role role;
  int body[2];   /* in the island, -1 the world */
  bool swapped;  /* they are in descending order of their serials */
  int reading;   /* into the readings of its role */
  int next_part; /* next joint of the same part, -1 at the end */
  const source_contact *source; /* what a contact was made of, or NULL */
  int first_stop, n_stops; /* into the island's stops that are not reached */
} island_joint;

/** Where the results of a step wait for its commit; per body and joint of the
 *  world in the order of the islands. */
typedef struct body_result {
  double v[6];
  double push_out[6]; /* moves the body, too, and is not kept (push_out.h) */
  bool pushed;
  bool kinematic;
} body_result;

typedef struct joint_result {
  unsigned count;
  bool forceless; /* no feedback asks for `force`: it is not filled */
  double lambda[6];   /* [count] N, N m */
  double force[2][6]; /* on the two bodies, in the order of the rows */
} joint_result;

typedef struct island_result {
  size_t first_body, first_joint; /* into the step's results */
  int n_entries;                  /* warm starts written from first_joint on */
  int n_watched;                  /* solves shown to part_watch */
  bool refused;                   /* too large; the message says how large */
  bool flew;                      /* island_fly: reports bodies and no more */
  ode_mlcp_report report;         /* the island's share */
  char message[160];              /* why it could not be solved, or empty */
  char warning[160];              /* about what was left out, or empty */
} island_result;

/** A step's results, last step's impulses and the world's own contacts: shared
 *  by all its islands. */
typedef struct step_results {
  const contact_source *contacts;
  body_result *bodies;
  joint_result *joints;
  warm_entry *new_entries;
  warm_start old_entries;
} step_results;

/** A workspace: used by one thread at a time, kept between steps. */
typedef struct island_workspace island_workspace;

/** @return NULL when memory runs out. */
island_workspace *island_workspace_create(const memory_source *source);
void island_workspace_destroy(island_workspace *workspace);

/**
 * Solve an island.
 *
 * @param result  first_body and first_joint are set; the rest is out
 * @return false where the step cannot be taken: result->message says why.
 */
bool island_solve(island_workspace *workspace, const dStepperIsland *island,
                  const ode_mlcp_options *options, const step_results *results,
                  island_result *result);

/** The same for an island with no joints, whose bodies fly freely. */
bool island_fly(const dStepperIsland *island, const step_results *results,
                island_result *result);

#endif
