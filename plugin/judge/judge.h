/* Recordings and what they say: the figures of each run, runs beside each other,
 * the verdict. docs/compare.md says what is measured. */
#ifndef ODE_MLCP_JUDGE_JUDGE_H
#define ODE_MLCP_JUDGE_JUDGE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "preload/recording.h"

/* ---- a recording, read ---- */

typedef struct recording {
  const recording_head *head;
  size_t size; /* of the mapping */
  const recording_step **steps;
  const recording_frame **all_frames;
  const recording_shape **shapes;
  const recording_body **bodies;
  size_t n_steps, n_all_frames, n_shapes, n_bodies;
  uint32_t world; /* that is shown: these are its own */
  const recording_step **shown_steps;
  const recording_frame **frames;
  size_t n_shown_steps, n_frames;
} recording;

/** @return NULL where there is none or it is broken, with a line in `message`;
 *          to be closed. */
recording *recording_open(const char *path, char *message, size_t message_size);
void recording_close(recording *recording);

/** Show this world; at first it is the one with the most bodies in all its frames
 *  together. */
void recording_show(recording *recording, uint32_t world);

const recording_pose *frame_poses(const recording_frame *frame);
const recording_contact *frame_contacts(const recording_frame *frame);
/** NULL where the frame has no such body. */
const recording_pose *frame_pose(const recording_frame *frame, uint32_t body);

/** The frame of the shown world that stands at a time; there is one. */
const recording_frame *recording_frame_at(const recording *recording,
                                          double time);
/** True if the shape is the one that holds at a step: of a body the newest telling
 *  of its shapes, of none until it was told to have moved. */
bool recording_shape_holds(const recording *recording, size_t shape,
                           int64_t step);
/** m: the largest distance of a body from itself, or the root of their mean
 *  square. Bodies that one of the frames lacks have none. */
double frame_distance(const recording_frame *one, const recording_frame *other,
                      bool largest);

/* ---- a run, and what came of it ---- */

enum { COMPARE_LEVELS = 3, COMPARE_RUNS = 16, COMPARE_NAME = 32 };

/** NAN where it is not known. docs/compare.md has the formulas. */
typedef struct compare_figures {
  long steps, messages, failed_steps, degraded, unsolved, not_finite;
  long late; /* steps that took the processor longer than they stand for */
  long
      strayed; /* bodies a body's size from the middle of all runs at the end */
  double contact_error_worst, contact_error_p90;   /* m/s */
  double cone_violation_worst;                     /* m/s */
  double friction_error_worst, friction_error_p90; /* m/s: of a body */
  double aslant_error_p90; /* m/s: of that, by a box for a cone */
  double crept;            /* m: of a body */
  double penetration_worst, penetration_p90; /* m */
  double joint_error_worst;                  /* m, rad */
  double energy_drift, contact_work;         /* J */
  double momentum_drift;                     /* N s */
  double unrest; /* m/s: fastest body of the last tenth's median step */
  double reference_error, order; /* m */
  double parted;                 /* s: from the first run */
  double ms_step_median, ms_step_p99, ms_step_worst;
  double ms_processor;                 /* of the stepping thread, the median */
  double seconds;                      /* simulated */
  uint32_t most_contacts, most_bodies; /* in a step */
} compare_figures;

typedef struct compare_run {
  char name[COMPARE_NAME];           /* as --steppers says */
  recording *levels[COMPARE_LEVELS]; /* h, h/R, h/R^2; NULL: none */
  char complaint[400];               /* why the first is not there, or whole */
  compare_figures figures;
} compare_run;

/** A line of the verdict: a figure of a run that a user should know of. */
typedef struct verdict_line {
  char stepper[COMPARE_NAME];
  const char *what, *unit;
  double figure, relative; /* relative: to the scene's scale; INFINITY: the run
                              broke */
  double badness;          /* relative, to what a user notices */
  char advice[160];
  char text[500]; /* all of it as a sentence */
} verdict_line;

enum { VERDICT_LINES = 5 };

typedef struct comparison {
  char program[PATH_MAX];
  char **arguments; /* ends with NULL; may be NULL */
  compare_run runs[COMPARE_RUNS];
  int n_runs;
  int refine;     /* 0: no reference */
  int reference;  /* the run whose finest level is the reference; -1: none */
  double chaos;   /* s: from here on the reference is none; INFINITY: it is */
  int repeated;   /* the run that was done twice; -1: none */
  double differs; /* s: where the two differ; INFINITY: nowhere, NAN: unknown */
  int worlds;     /* that the first run stepped */
  double size;    /* m: the median body's largest extent */
  double energy, speed, fall,
      step_size;                     /* J, m/s, m/s, s: the scene's scales */
  char headline[1000];               /* which stepper to take */
  verdict_line lines[VERDICT_LINES]; /* worst first */
  int n_lines;
  bool short_of_memory; /* figures are left out for it */
} comparison;

/** True if the run was on one of the host's own steppers. */
bool compare_is_stock(const compare_run *run);

/** Fill in all figures. */
void compare_judge(comparison *comparison, recording *again);

/** s: from when on a body is more than `apart` m elsewhere; INFINITY: never. */
double compare_parting(const recording *one, const recording *other,
                       double apart);

#endif
