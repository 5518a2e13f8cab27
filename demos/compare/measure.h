/* What is measured on each stepper: the scenes of the comparison, run. */
#ifndef ODE_MLCP_DEMOS_COMPARE_MEASURE_H
#define ODE_MLCP_DEMOS_COMPARE_MEASURE_H

#include <stdbool.h>

#include "outline.h"

typedef enum stepper {
  STEPPER_STEP,      /* dWorldStep */
  STEPPER_QUICKSTEP, /* dWorldQuickStep, 20 iterations, the host's default */
  STEPPER_MLCP,      /* dWorldStep of a world attached to ode-mlcp */
  N_STEPPERS
} stepper;

extern const char *const STEPPER_NAMES[N_STEPPERS];

enum { WALL_SECONDS = 5 };
enum { N_ANGLES = 4, N_SPEEDS = 2, SLIDE_STEPS = 100 };
extern const double SLIDE_ANGLES[N_ANGLES]; /* degrees */
extern const double ROD_SPEEDS[N_SPEEDS];   /* m/s */

/* How the steps of one run went, on any stepper. */
typedef struct step_record {
  bool run; /* else nothing here is filled */
  long steps;
  long failed;             /* the stepper returned 0 */
  long messages;           /* through dSetMessageHandler */
  char message[160];       /* the first of them */
  double seconds;          /* of the processor, within the steps */
  long degraded, unsolved; /* ode-mlcp's report; 0 on the others */
  double residual;         /* the worst one reported; 0 on the others */
} step_record;

typedef struct wall_result {
  step_record record;
  int boxes;
  double duration;    /* s of simulated time: WALL_SECONDS, or less where the
                       limit was reached */
  double fastest;     /* m/s: highest speed of a box at the end */
  double sag;         /* m: the most a box's centre came down */
  double slid;        /* m: the most a box's centre moved sideways */
  double deepest;     /* m: deepest overlap of the poses at the end */
  solid *start, *end; /* [boxes]; free with wall_release */
} wall_result;

typedef struct slide_result {
  step_record record;
  double distance; /* m from start to stop */
  double course;   /* degrees: from the start to the stop */
  double heading;  /* degrees: of the velocity in the last moving step */
  double speed;    /* m/s at the end, 0 once stopped */
  double path[SLIDE_STEPS + 1][2]; /* m: the centre after each step */
} slide_result;

typedef struct rod_result {
  step_record record;
  double normal, tangential; /* N: the contact's force on the rod */
  double ratio;              /* tangential / normal */
} rod_result;

typedef struct measurements {
  wall_result wall[N_STEPPERS];
  slide_result slide[N_STEPPERS][N_ANGLES];
  rod_result rod[N_STEPPERS][N_SPEEDS];
} measurements;

/** Exact stopping distance of the slide, m. */
double slide_exact_distance(void);

/** The stopping distance of first-order Euler: the sum of its steps, m. */
double slide_euler_distance(void);

/** Each runs one scene on one stepper.
 *  @param limit  s on the clock after which the wall is left as it is
 *  @return false where the stepper cannot be had or memory runs out, after a
 *          line on standard error. */
bool measure_wall(stepper stepper, int rows, double limit, wall_result *result);
bool measure_slide(stepper stepper, int angle, slide_result *result);
bool measure_rod(stepper stepper, int speed, rod_result *result);

/* A wall measured in a process of its own, beside what else is measured. */
typedef struct wall_job {
  int process;
  int pipe; /* the result comes out of it */
} wall_job;

/** @return false where no process can be had, after a line. */
bool wall_job_start(stepper stepper, int rows, double limit, wall_job *job);
/** Wait for its result. @return as measure_wall. */
bool wall_job_finish(wall_job *job, wall_result *result);

void wall_release(wall_result *result);

#endif
