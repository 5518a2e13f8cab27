/* A scheme as the stepper sees it: a struct of functions. */
#ifndef ODE_MLCP_SCHEMES_SCHEME_H
#define ODE_MLCP_SCHEMES_SCHEME_H

#include "assembly/assembly.h"
#include "schemes/forces.h"

/** A body's velocities wait here for the step's commit; in the order of the
 *  islands. */
typedef struct body_result {
  double v[6];
  double motion[6]; /* moves the body, too, and is not kept */
  bool moved;       /* `motion` is in use */
  bool kinematic;
} body_result;

/** The start of the next step. */
typedef struct step_memory {
  contact_entry *entries; /* out */
  int n_entries;
  memory_pool *pool; /* the entries', of a scheme that takes all islands at
                        once */
} step_memory;

/** The beginning of every scheme's state. */
typedef struct scheme_state {
  memory_pool pool;    /* of all that the state holds; given back with it */
  assembly *assembly;  /* with the answer of the last solve */
  assembly *projector; /* another, where the scheme made one beside it */
  arena arena;         /* scratch of a step */
  struct scheme_state *next; /* the stepper's */
  bool lent;                 /* a thread is using it */
} scheme_state;

/** A step, or one island of it, as a scheme gets it. */
typedef struct scheme_step {
  memory_pool *pool; /* of all that the state holds */
  dWorldID world;
  double step_size; /* s */
  double time;      /* s, of the step's start */
  const ode_mlcp_options *options;
  const dStepperIsland
      *islands; /* of the host, each with its bodies and joints */
  size_t n_islands;
  const force_list *forces;
  contact_source *contacts;
  const contact_memory *memory; /* of the last step */
  solve_observer *observer;     /* NULL: none */
  void *observer_context;
  body_result *bodies;    /* out, in the order of the islands */
  joint_result *joints;   /* out; `forceless` is set, the rest zeros */
  step_memory remembered; /* out */
  outcome *out;
} scheme_step;

/** A state is made where it is needed first and kept while the world keeps the
 *  scheme. */
typedef struct scheme {
  int id;         /* ode_mlcp_options.scheme */
  bool by_island; /* islands are solved each for itself, maybe in threads, each
                       with a state that no other thread has; `remembered` has
                       room for the island's joints. Else `solve` gets all islands
                       at once and grows `remembered` by scheme_remember */
  bool keeps_contacts; /* what touched in the last step and the program does not
                          tell of takes part, too (world/contact_source.h) */
  size_t state_size; /* bytes: of a struct that begins with a scheme_state, the
                        rest of which starts as zeros */
  /** Solve. Nothing of the host is changed.
   *  @return false where the step cannot be taken: out->message says why. */
  bool (*solve)(void *state, scheme_step *step);
  /* NULL where a scheme has none: */
  /** The step has been committed. */
  void (*committed)(void *state);
  /** v_alpha of a body in the last step; false where it took no part. */
  bool (*v_alpha)(const void *state, dBodyID body, double velocity[6]);
  /** Event number `index`, from 0, of the last step; false past the last. */
  bool (*event)(const void *state, int index, ode_mlcp_event *event);
  /** Contact number `k`, from 0, that it is about; false past the last. */
  bool (*event_contact)(const void *state, int index, int k,
                        ode_mlcp_event_contact *contact);
} scheme;

/** The scheme with this id, NULL where there is none. */
const scheme *scheme_find(int id);

/** Add a scheme to those of the table, to be chosen by `name`, until the process
 *  ends. Not thread-safe.
 *  @return false where its id is taken or there is no room. */
bool scheme_register(const scheme *added, const char *name);

/** @return NULL where memory ran out. */
scheme_state *scheme_state_create(const scheme *scheme,
                                  const memory_source *source);
void scheme_state_destroy(const scheme *scheme, scheme_state *state);

/** The settings with which every scheme reads a step's world. */
world_settings scheme_settings(const scheme_step *step);

/** The part that every request of a step has: whose settings and observer, x the
 *  velocity at the step's end, slip as small as matters in such a step. */
assembly_request scheme_request(const scheme_step *step,
                                const world_snapshot *world);

/** The bodies' results, which are counted: v [6 n_bodies] and what the answer's projection
 *  moves; and the joints'. */
void scheme_hand_over(scheme_step *step, const world_snapshot *world,
                      const double v[], const assembly *answer);

/** A result moves its body from a pose to another in h, whatever its velocity is. */
void scheme_move_body(body_result *result, dBodyID id, const world_pose *from,
                      const world_pose *to, double h);

/** Room for `count` entries in step->remembered, of a scheme that takes all
 *  islands at once. @return false with the message where memory ran out. */
bool scheme_remember(scheme_step *step, int count);

#endif
