/* Set-valued impacts: every outcome of a simultaneous collision.
 *
 * Installed with ode_mlcp.h, which includes it. Plain arrays: nothing here
 * knows of a host world (ode_mlcp_impact_problem_of_world in ode_mlcp.h does).
 * The model is that of Halm & Posa 2023 (docs/impacts.md, eq. I1-I5): an impact
 * is resolved by small steps, each with a random cap on every contact's normal
 * impulse, until no contact approaches any more. What the steps may reach is
 * the set of outcomes.
 *
 * Units: SI; with angles among the coordinates, rad. A contact's row of `Jn`
 * maps the generalized velocity to its separating speed (m/s, negative while it
 * approaches), its rows of `Jt` to its slip.
 */
#ifndef ODE_MLCP_IMPACTS_H
#define ODE_MLCP_IMPACTS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ODE_MLCP_API
#define ODE_MLCP_API __attribute__((visibility("default")))
#endif

/* They pass the size of the caller's struct on (docs/abi.md). */
#ifndef ODE_MLCP_INLINE
#define ODE_MLCP_INLINE static __inline__
#endif

/** A collision. Arrays are row-major, the caller's, and copied where kept. */
typedef struct ode_mlcp_impact_problem {
  int n_velocities;      /* s >= 1 */
  int n_contacts;        /* m >= 1 */
  int n_tangents;        /* T, per contact: 1 (planar) or 2 (a pyramid with the
                        edges +-t1, +-t2) */
  const double *M;       /* s x s, symmetric positive definite */
  const double *Jn;      /* m x s */
  const double *Jt;      /* (m T) x s, contact i owns rows T i .. T i + T - 1 */
  const double *mu;      /* m, >= 0; INFINITY: without limit, and so are
                            coefficients above 1e6 */
  const double *v;       /* s, before the impact */
  const double *surface; /* m (1 + T), per contact its normal, then its
                            tangents: the contact velocities at v = 0, m/s,
                            where what is struck moves by itself; NULL for 0 */
} ode_mlcp_impact_problem;

typedef enum ode_mlcp_impact_status {
  ODE_MLCP_IMPACT_DONE,
  ODE_MLCP_IMPACT_UNFINISHED,  /* still colliding after all steps */
  ODE_MLCP_IMPACT_INTERRUPTED, /* `interrupted` said so */
  ODE_MLCP_IMPACT_BAD_INPUT,
  ODE_MLCP_IMPACT_TOO_MANY_MODES, /* more contact modes than memory or a search
                                     allows */
  ODE_MLCP_IMPACT_NO_MEMORY,
  ODE_MLCP_IMPACT_CONTINUUM /* all solutions were found, and some are corners of a
                               continuum (ode_mlcp_impact_simultaneous) */
} ode_mlcp_impact_status;

/** Which solution a step takes when its LCP has several. */
typedef enum ode_mlcp_impact_select {
  ODE_MLCP_IMPACT_FIRST, /* the one a fixed rule meets first */
  ODE_MLCP_IMPACT_RANDOM /* one of them at random; of a continuum any point */
} ode_mlcp_impact_select;

/** How a step's LCP is solved. */
typedef enum ode_mlcp_impact_method {
  ODE_MLCP_IMPACT_AUTOMATIC, /* modes up to four planar contacts or two with two
                                tangents; then search, up to 24 contact
                                directions; path beyond */
  ODE_MLCP_IMPACT_MODES,     /* enumerate the contact modes: finds every
                                solution by a table, which is made first */
  ODE_MLCP_IMPACT_PATH,      /* follow Lemke's path: finds one solution; FIRST
                                by a fixed covering vector, RANDOM by random ones */
  ODE_MLCP_IMPACT_SEARCH     /* search depth first over what each contact does:
                                finds every solution without a table; taken for
                                all friction without limit */
} ode_mlcp_impact_method;

/**
 * A user's own distribution of the caps (eq. I1). Must write n_contacts values
 * > 0 (N s) and depend on its arguments alone, or ranges and thread counts
 * would change the result; it is called from several threads at once.
 */
typedef void ode_mlcp_impact_draw(void *context, uint64_t seed, uint64_t sample,
                                  int step, int n_contacts,
                                  double lambda_max[]);

typedef struct ode_mlcp_impact_options {
  size_t struct_size; /* set by ode_mlcp_impact_default_options; 0 stands for
                         the size in version 0.1 */
  uint64_t seed;
  uint64_t samples; /* first .. first + samples - 1: sample k is the same
                        whatever other samples a call has */
  uint64_t first;
  double h;         /* N s: caps are drawn from [0, h]; 0 stands for 4/3 of the
                        largest normal impulse of an island's contacts alone and
                        in a simultaneous impact */
  int steps;        /* N >= 0: at most N + 1 steps an island, as Alg. 1 */
  double tolerance; /* m/s: an impact is over when min Jn v >= -tolerance */
  double epsilon;   /* N s, for the last step of Alg. 2; 0 stands for h/2 */
  ode_mlcp_impact_select select;
  ode_mlcp_impact_method method;
  int threads;                /* >= 1; does not change a bit of the result */
  ode_mlcp_impact_draw *draw; /* NULL: uniform on the box [0, h]^m */
  void *draw_context;
  /** Asked now and then from the calling thread's workers; non-zero stops the
   *  run. May be NULL. */
  int (*interrupted)(void *context);
  /** Told now and then how many samples are done, from one thread
   *  at a time. May be NULL. */
  void (*progress)(void *context, uint64_t done, uint64_t total);
  void *run_context; /* for both */
} ode_mlcp_impact_options;

ODE_MLCP_API void
ode_mlcp_impact_default_options_sized(ode_mlcp_impact_options *options,
                                      size_t size);

/** seed 1, samples 2^14 from 0 on, h 0, steps 10, tolerance 1e-8, select
 *  RANDOM, method AUTOMATIC, one thread. */
ODE_MLCP_INLINE void
ode_mlcp_impact_default_options(ode_mlcp_impact_options *options) {
  ode_mlcp_impact_default_options_sized(options, sizeof *options);
}

/** A collision made ready for sampling. One call at a time may use it (calls
 *  make their own threads). */
typedef struct ode_mlcp_impact ode_mlcp_impact;

/**
 * Check a problem, factor its mass matrix and go over to contact space.
 *
 * @param impact   out: destroy it with ode_mlcp_impact_destroy; NULL unless
 *                 DONE is returned.
 * @param message  [message_size] out: empty, or one line on what is wrong and
 *                 where. May be NULL.
 * @return DONE, BAD_INPUT or NO_MEMORY.
 */
ODE_MLCP_API ode_mlcp_impact_status ode_mlcp_impact_create(
    const ode_mlcp_impact_problem *problem, ode_mlcp_impact **impact,
    char *message, size_t message_size);

ODE_MLCP_API void ode_mlcp_impact_destroy(ode_mlcp_impact *impact);

/** psi of Alg. 2 (eq. I4), the largest of the islands'. */
ODE_MLCP_API double ode_mlcp_impact_psi(const ode_mlcp_impact *impact);

/**
 * Sim (Alg. 1): one outcome.
 *
 * @param sample  which of the set that `options->seed` names
 * @param v       [s] out: the last velocity; still colliding when UNFINISHED
 *                is returned, unchanged on any other failure
 * @param n_lcps  out: LCPs solved; may be NULL
 * @return DONE, UNFINISHED, BAD_INPUT, TOO_MANY_MODES or NO_MEMORY.
 */
ODE_MLCP_API ode_mlcp_impact_status ode_mlcp_impact_sim(
    ode_mlcp_impact *impact, const ode_mlcp_impact_options *options,
    uint64_t sample, double v[], int *n_lcps);

/** Outcomes of a set, in the order of samples. None collides:
 *  what did not finish is counted and left out. */
typedef struct ode_mlcp_impact_set {
  size_t struct_size;    /* set by the library: bytes that it has filled */
  uint64_t n_samples;    /* done: fewer than asked after an interrupt */
  uint64_t n_finished;   /* samples with an outcome */
  uint64_t n_unfinished; /* n_samples - n_finished */
  uint64_t n_lcps;       /* solved in Sim, not in the last step of Alg. 2 */
  uint64_t n_fallbacks;  /* LCPs the first method did not solve */
  uint64_t n_outcomes;
  double seconds; /* wall clock of the sampling */
  int n_threads;  /* that took part */
  int n_velocities, n_rows;
  uint64_t *sample;           /* [n_outcomes] */
  uint32_t *lcps;             /* [n_outcomes] on the way to this outcome */
  double *v;                  /* [n_outcomes x s] */
  double *contact_velocities; /* [n_outcomes x n_rows], per contact its normal,
                                 then its tangents; n_rows = m (1 + T) */
  /* where the arrays came from; for ode_mlcp_impact_set_release */
  void *block;
  size_t block_size;
  void (*release)(void *context, void *block, size_t size);
  void *release_context;
  uint64_t n_failed;     /* of the unfinished: a step without a solution; the
                            others still collided after all steps */
  uint64_t n_solutions;  /* met by the LCPs of Sim, each step's counted; with
                            FIRST and PATH no more than one is looked for */
  uint64_t n_incomplete; /* LCPs whose search was cut short: more solutions may
                            exist. With FIRST and PATH: all of them */
  uint64_t n_continua;   /* LCPs of which some solutions are a continuum: where
                            contacts pinch a body that slips between them. With
                            FIRST it is not looked for */
} ode_mlcp_impact_set;

ODE_MLCP_API ode_mlcp_impact_status ode_mlcp_impact_approximate_sized(
    ode_mlcp_impact *impact, const ode_mlcp_impact_options *options,
    ode_mlcp_impact_set *set, size_t set_size);

/**
 * Approximate (Alg. 2 with its final step): a set of samples.
 *
 * @param set  out: release it with ode_mlcp_impact_set_release. Filled with
 *             what was sampled so far on INTERRUPTED, empty on failure.
 * @return DONE (also when some samples are unfinished), INTERRUPTED, BAD_INPUT,
 *         TOO_MANY_MODES or NO_MEMORY.
 */
ODE_MLCP_INLINE ode_mlcp_impact_status ode_mlcp_impact_approximate(
    ode_mlcp_impact *impact, const ode_mlcp_impact_options *options,
    ode_mlcp_impact_set *set) {
  return ode_mlcp_impact_approximate_sized(impact, options, set, sizeof *set);
}
ODE_MLCP_API void ode_mlcp_impact_set_release(ode_mlcp_impact_set *set);

ODE_MLCP_API ode_mlcp_impact_status ode_mlcp_impact_ways_sized(
    ode_mlcp_impact *impact, const ode_mlcp_impact_options *options,
    uint64_t n_samples, ode_mlcp_impact_set *set, size_t set_size);

/**
 * The velocities on the way of the first `n_samples` samples
 * (the paper's light grey region): before each step and after the last.
 *
 * @param set  out: as for Approximate; `lcps` is the number of LCPs solved up
 *             to this velocity.
 */
ODE_MLCP_INLINE ode_mlcp_impact_status ode_mlcp_impact_ways(
    ode_mlcp_impact *impact, const ode_mlcp_impact_options *options,
    uint64_t n_samples, ode_mlcp_impact_set *set) {
  return ode_mlcp_impact_ways_sized(impact, options, n_samples, set,
                                    sizeof *set);
}

/**
 * Anitescu & Potra's simultaneous inelastic impact (eq. I3): all solutions.
 *
 * @param max_solutions  room in v
 * @param v              [max_solutions x s] out
 * @param n_solutions    out: solutions found, corners of continua among them, may exceed max_solutions
 * @return DONE; CONTINUUM where solutions are not single ones: v has the corners
 *         of what they span; TOO_MANY_MODES where the search was cut short: what it
 *         found is there, more may exist; or NO_MEMORY.
 */
ODE_MLCP_API ode_mlcp_impact_status ode_mlcp_impact_simultaneous(
    ode_mlcp_impact *impact, int max_solutions, double v[], int *n_solutions);

/**
 * Sequential impacts: one contact at a time by eq. I3, over and over. Contacts that do
 * not approach are passed over.
 *
 * @param tolerance   m/s: over when no contact approaches faster
 * @param order       [n_order] contacts, in turn; NULL: 0, 1, .. m - 1
 * @param max_impacts impacts resolved at most
 * @param v           [s] out: the velocity reached
 * @param way         [(max_impacts + 1) x s] out: v before and after each
 *                    impact; may be NULL
 * @param n_impacts   out: impacts resolved; may be NULL
 * @return DONE, UNFINISHED (v still collides), BAD_INPUT or NO_MEMORY.
 */
ODE_MLCP_API ode_mlcp_impact_status ode_mlcp_impact_sequential(
    ode_mlcp_impact *impact, double tolerance, const int order[], int n_order,
    int max_impacts, double v[], double way[], int *n_impacts);

/** Separating speed and slips of every contact, [m (1 + T)] out: per contact
 *  Jn v, then Jt v, the surface's own velocities added. */
ODE_MLCP_API void
ode_mlcp_impact_contact_velocities(const ode_mlcp_impact *impact,
                                   const double v[], double rows[]);

/** v' M v / 2, J. */
ODE_MLCP_API double
ode_mlcp_impact_kinetic_energy(const ode_mlcp_impact *impact, const double v[]);

/** Smallest and largest of every contact velocity of a set, [n_rows x 2] out;
 *  untouched when the set is empty. */
ODE_MLCP_API void ode_mlcp_impact_extents(const ode_mlcp_impact_set *set,
                                          double extents[]);

/** Mean of every contact velocity of a set, [n_rows] out, summed in the order
 *  of the outcomes; untouched when the set is empty. */
ODE_MLCP_API void ode_mlcp_impact_means(const ode_mlcp_impact_set *set,
                                        double means[]);

#ifdef __cplusplus
}
#endif

#endif
