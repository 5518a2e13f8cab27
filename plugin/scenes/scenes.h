/* The papers' cases as ODE worlds that ode-mlcp steps (docs/scenes.md).
 *
 *   scene_settings settings;
 *   const scene *pendulum = scene_find("pendulum");
 *   scene_default_settings(pendulum, &settings, message, sizeof message);
 *   scene_result *result = scene_run(pendulum, &settings, message,
 *                                    sizeof message);
 *
 * Built into a module, ode_mlcp_scenes.so, which `ode-mlcp scene` loads: the
 * command itself is linked with no host. Tests link the same sources.
 *
 * Planar cases move in the host's x-y plane, gravity along -y; the others have
 * z up. Positions and velocities are given in the papers' coordinates.
 */
#ifndef ODE_MLCP_SCENES_SCENES_H
#define ODE_MLCP_SCENES_SCENES_H

#include <stdbool.h>
#include <stddef.h>

#include "ode_mlcp.h"

enum {
  SCENE_ERRORS = 4, /* kinds of errors of one scene, at most */
  SCENE_MESSAGE = 400
};

/* --- what is asked for ---------------------------------------------------- */

/** Which of the numbers below a scene knows. */
enum {
  SCENE_SPRING = 1,
  SCENE_DAMPER = 2,
  SCENE_RESTITUTION = 4,
  SCENE_GRAVITY = 8
};

typedef struct scene_settings {
  double h;           /* s, > 0 */
  double time;        /* s, >= 0: simulated */
  double gravity;     /* m/s^2, >= 0 */
  double spring;      /* N/m, >= 0 */
  double damper;      /* N s/m, >= 0 */
  double restitution; /* 0 .. 1 */
  char scheme[24];    /* the word that was last given for it */
  ode_mlcp_options options;
} scene_settings;

/** A column of the table that --converge prints. */
typedef struct scene_error_kind {
  const char *name; /* "position" */
  const char *unit;
} scene_error_kind;

/** Numbers that a paper gives for a step size under a scheme. */
typedef struct scene_reference {
  const char *scheme; /* as in --scheme, or "" for every one */
  double h;
  double errors[SCENE_ERRORS]; /* NAN: none */
} scene_reference;

typedef struct scene_run_state scene_run_state;

typedef struct scene_result scene_result;

/** A case: the public half, then what scene_run() calls. */
typedef struct scene {
  const char *name;
  const char *summary; /* one line */
  const char *source;  /* the paper and its section */
  double h, time, gravity, spring, damper, restitution;
  int knows;           /* SCENE_SPRING | .. */
  const char *options; /* "scheme=ah edges=8": as ode_mlcp_set_option */

  /* the sweep of --converge */
  double step_sizes[10];                      /* ends with 0 */
  scene_error_kind error_kinds[SCENE_ERRORS]; /* ends with a NULL name */
  const scene_reference *references; /* ends with a NULL scheme; or NULL */
  double sweep_time;                 /* s: of the sweep; 0: `time` */
  /* errors are differences to the run of the last step size; or NULL */
  void (*compare)(const scene_result *coarse, const scene_result *finest,
                  double errors[SCENE_ERRORS]);
  const char *infeasibility_unit; /* "m" */
  const char *extra_name;         /* watched, or NULL */

  bool (*build)(scene_run_state *run);
} scene;

/** All scenes, ending with NULL. */
const scene *const *scene_all(void);

/** NULL where there is none of that name. */
const scene *scene_find(const char *name);

/** The scene's own settings, and no limit to max_correction.
 *  @return false where this library does not know one of the scene's options;
 *          the message then says which. */
bool scene_default_settings(const scene *scene, scene_settings *settings,
                            char *message, size_t message_size);

/** Set one option of the stepper, as ode_mlcp_set_option. */
ode_mlcp_error scene_set_option(scene_settings *settings, const char *name,
                                const char *value, char *message,
                                size_t message_size);

/* --- what comes back ------------------------------------------------------ */

typedef struct scene_event {
  double time; /* s: the end of the step it was seen in, or the root found */
  char kind[24];
  int place; /* number of the contact pair or joint */
} scene_event;

struct scene_result {
  const scene *scene;
  scene_settings settings;

  /* by time: row 0 is the start, row n_steps the end */
  long n_steps;
  int n_positions, n_velocities, n_bodies;
  int coordinates_of_body;             /* 1, 2, 3 or 6 */
  const char *const *coordinate_names; /* [coordinates_of_body] */
  double *times;                       /* [n_steps + 1] s */
  double *energies;                    /* [n_steps + 1] J, springs included */
  double *infeasibilities; /* [n_steps + 1] m, or as the scene says */
  double *extras;          /* [n_steps + 1] as scene->extra_name; or 0 */
  double *positions;       /* [(n_steps + 1) n_positions] */
  double *velocities;      /* [(n_steps + 1) n_velocities] */

  scene_event *events;
  int n_events;

  double energy_start, energy_end;
  double infeasibility_max, infeasibility_late; /* late: the last tenth */
  double residual_worst;
  long unsolved, degraded, contacts_most;
  double errors[SCENE_ERRORS]; /* NAN where no reference is known */
  int counted;                 /* as the scene's note says */
  char note[SCENE_MESSAGE];    /* what else there is to say, or empty */
};

/**
 * Run a scene from its start.
 *
 * @param message [message_size] out: one line on failure.
 * @return NULL where a setting is out of range, memory runs out or a step is
 *         refused; else to be given to scene_result_destroy().
 */
scene_result *scene_run(const scene *scene, const scene_settings *settings,
                        char *message, size_t message_size);

/** NULL is allowed. */
void scene_result_destroy(scene_result *result);

/* --- a sweep of h --------------------------------------------------------- */

typedef struct scene_sweep_row {
  double h;
  double errors[SCENE_ERRORS];
  double ratios[SCENE_ERRORS];     /* to the row before, else NAN */
  double references[SCENE_ERRORS]; /* the paper's, else NAN */
  double energy_end, residual_worst;
  long unsolved;
} scene_sweep_row;

typedef struct scene_sweep {
  const scene *scene;
  scene_settings settings;
  int n_rows;
  scene_sweep_row *rows;
} scene_sweep;

/** Run the scene at each of its step sizes. As scene_run. */
scene_sweep *scene_converge(const scene *scene, const scene_settings *settings,
                            char *message, size_t message_size);

void scene_sweep_destroy(scene_sweep *sweep);

/**
 * How far the whole way of one run is from that of a finer one.
 *
 * @param errors out: [0] the integral over time of the largest difference of
 *               velocities, these taken as constant over a step, at its end's
 *               value; [1] the largest difference of positions at the ends of
 *               the coarser steps.
 */
void scene_compare_ways(const scene_result *coarse, const scene_result *finest,
                        double errors[SCENE_ERRORS]);

/* --- as a module ---------------------------------------------------------- */

/** The functions above, for one who loaded the module. */
typedef struct scene_functions {
  size_t struct_size;
  const scene *const *(*all)(void);
  const scene *(*find)(const char *name);
  bool (*default_settings)(const scene *, scene_settings *, char *, size_t);
  ode_mlcp_error (*set_option)(scene_settings *, const char *, const char *,
                               char *, size_t);
  scene_result *(*run)(const scene *, const scene_settings *, char *, size_t);
  void (*result_destroy)(scene_result *);
  scene_sweep *(*converge)(const scene *, const scene_settings *, char *,
                           size_t);
  void (*sweep_destroy)(scene_sweep *);
} scene_functions;

/** The one function that the module is asked for by name. */
ODE_MLCP_API const scene_functions *ode_mlcp_scenes(void);

#endif
