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

#ifdef __cplusplus
extern "C" {
#endif

#define ODE_MLCP_API __attribute__((visibility("default")))

typedef enum ode_mlcp_error {
  ODE_MLCP_OK = 0,
  ODE_MLCP_BAD_ARGUMENT,   /* a value out of its range; nothing was changed */
  ODE_MLCP_NO_MEMORY,      /* nothing was changed */
  ODE_MLCP_WRONG_HOST,     /* the ODE library in this process has no stepper
                              interface, or another precision */
  ODE_MLCP_NOT_ATTACHED,   /* the world does not step on ode-mlcp */
  ODE_MLCP_STEP_FAILED     /* the step was not taken; every object is as it was */
} ode_mlcp_error;

typedef enum ode_mlcp_scheme {
  ODE_MLCP_SCHEME_AP, /* velocity level, no position correction */
  ODE_MLCP_SCHEME_AH  /* stabilised: ERP is the paper's gamma */
} ode_mlcp_scheme;

typedef enum ode_mlcp_solver {
  ODE_MLCP_SOLVER_FAST, /* what makes the usual step cheap, Lemke behind it */
  ODE_MLCP_SOLVER_LEMKE /* Lemke's method for every step */
} ode_mlcp_solver;

/** Settings of a world. Fill with ode_mlcp_default_options, then change. Each
 *  has the same name as an option of `ode-mlcp run` and as an environment
 *  variable (--edges, ODE_MLCP_EDGES). */
typedef struct ode_mlcp_options {
  size_t struct_size;      /* set by ode_mlcp_default_options */
  ode_mlcp_scheme scheme;  /* default AH */
  int edges;               /* friction edges a contact: even, 4 .. 64 */
  double erp;              /* ODE_MLCP_ERP_HOST, or 0 .. 1 in place of the
                              world's ERP (a joint's or a contact's own ERP
                              stays: it describes a spring) */
  double max_correction;   /* m/s and rad/s, > 0: no row corrects a position
                              faster; INFINITY as stock ODE */
  ode_mlcp_solver solver;
  double tolerance;        /* relative residual asked of a solve, > 0 */
  int max_contacts;        /* an island with more is refused; > 0 */
  int measure;             /* 1: fill the report's energies and errors */
} ode_mlcp_options;

#define ODE_MLCP_ERP_HOST (-1.0)

/** How one step ended. Counts are over all islands of the world. */
typedef struct ode_mlcp_report {
  long step;             /* steps of this world taken or tried so far, from 1 */
  double time;           /* s: sum of the step sizes taken */
  double step_size;      /* s */
  int taken;             /* 1; 0: failed or refused, every object as it was */
  int bodies;            /* enabled, dynamic */
  int islands;
  int contacts;          /* in the problem, after close points were merged */
  int contacts_merged;   /* left out: another point of the pair is closer than
                            1e-4 m */
  int contacts_dropped;  /* left out: no usable normal */
  int rows;
  int solves;            /* problems with at least one row */
  int degraded;          /* solves that ended above the tolerance, or on a
                            changed problem */
  int unsolved;          /* of these: residual above 1e-6 */
  int refused;           /* 1: an island was too large, the step not taken */
  long pivots, factorisations, iterations;
  double residual;       /* worst relative residual on the original problems */
  double solver_seconds; /* sum over islands */
  double step_seconds;   /* wall clock, whole step */
  /* with options.measure, else NaN: */
  double kinetic_energy;      /* J, after the step */
  double potential_energy;    /* J, after the step; 0 at the origin */
  double deepest_penetration; /* m, before the step */
  double worst_joint_error;   /* m or rad, before the step */
} ode_mlcp_report;

/** Fill `options` with the defaults. */
ODE_MLCP_API void ode_mlcp_default_options(ode_mlcp_options *options);

/**
 * Set one option from text, by its name as in `--NAME` ("scheme", "edges",
 * "erp", "max-correction", "solver", "tolerance", "max-contacts").
 *
 * @param message [message_size] out: empty, or one line that names the value
 *                and what is allowed.
 * @return ODE_MLCP_OK or ODE_MLCP_BAD_ARGUMENT (options unchanged).
 */
ODE_MLCP_API ode_mlcp_error ode_mlcp_set_option(ode_mlcp_options *options,
                                                const char *name,
                                                const char *value,
                                                char *message,
                                                size_t message_size);

/**
 * Step `world` on ode-mlcp from now on; on a world already attached, change
 * its settings. The world keeps its own copy of `options` (NULL: defaults) and
 * lets go of it when it is destroyed.
 */
ODE_MLCP_API ode_mlcp_error ode_mlcp_attach(dWorldID world,
                                            const ode_mlcp_options *options);

/** Give `world` back to the stock steppers. */
ODE_MLCP_API ode_mlcp_error ode_mlcp_detach(dWorldID world);

/** Attach every world created from now on (NULL: stop doing so). */
ODE_MLCP_API ode_mlcp_error
ode_mlcp_attach_new_worlds(const ode_mlcp_options *options);

/**
 * Take one step of an attached world.
 *
 * @param step_size  s, > 0
 * @param report     out, may be NULL
 * @return ODE_MLCP_STEP_FAILED where dWorldStep would return 0.
 */
ODE_MLCP_API ode_mlcp_error ode_mlcp_step(dWorldID world, dReal step_size,
                                          ode_mlcp_report *report);

/** The report of `world`'s last step; all zero before the first. */
ODE_MLCP_API ode_mlcp_error ode_mlcp_last_report(dWorldID world,
                                                 ode_mlcp_report *report);

/** Called at the end of every step of every attached world, in the thread that
 *  called dWorldStep; may not step or destroy the world. */
typedef void ode_mlcp_observer(void *context, dWorldID world,
                               const ode_mlcp_report *report);

/** One observer a process; NULL for none. Not thread-safe: set it before the
 *  first step. */
ODE_MLCP_API void ode_mlcp_observe(ode_mlcp_observer *observer, void *context);

/** A sentence for an error. */
ODE_MLCP_API const char *ode_mlcp_error_text(ode_mlcp_error error);

/** "1.0.0", as in the library that is running. */
ODE_MLCP_API const char *ode_mlcp_version(void);

#ifdef __cplusplus
}
#endif

#endif
