/* Runs of the host's demo_boxstack, as demos/compare/run recorded them. */
#ifndef ODE_MLCP_DEMOS_COMPARE_RECORDING_H
#define ODE_MLCP_DEMOS_COMPARE_RECORDING_H

#include <stdbool.h>

#include "measure.h"
#include "outline.h"

typedef enum pile {
  PILE_TOWER, /* 25 boxes dropped on one spot */
  PILE_HEAP,  /* 100 bodies of five kinds dropped at random places */
  N_PILES
} pile;

extern const char *const PILE_NAMES[N_PILES]; /* "tower", "heap" */

typedef struct recorded_step {
  double top;     /* m: the highest centre */
  double fastest; /* m/s */
  double error;   /* m/s: worst distance of a contact from its law, with the
                      softness, correction and bounce its program asks for */
} recorded_step;

typedef struct recording {
  bool run;      /* else nothing here is filled */
  int status;    /* the program's exit status */
  long messages; /* the host's, on its standard error */
  /* by the step probe: */
  long steps, failed, not_finite;
  long bodies, contacts; /* the most in a step */
  double depth_end;      /* m: deepest overlap at the last step */
  double approach;       /* m/s: worst speed at which a contact still closed; a
                        soft one may */
  double seconds;        /* within the steps */
  /* by the recorder: */
  recorded_step *series; /* [n_series] */
  int n_series;
  double error;       /* m/s: the worst of the series */
  double usual_error; /* m/s: nine steps of ten are not above it */
  solid *solids;      /* [n_solids] near the end */
  int n_solids;
  /* ode-mlcp's statistics, -1 on the other steppers */
  long unsolved, degraded;
  double residual;
} recording;

typedef struct recordings {
  recording of[N_PILES][N_STEPPERS];
} recordings;

/** Read DIR/PILE-STEPPER.{status,out,probe,series,solids,json}; what is not
 *  there stays `run` = false.
 *  @return false where there is none, a file is broken or memory runs out,
 *          after a line on standard error; to be released all the same. */
bool recordings_read(const char *folder, recordings *recordings);
void recordings_release(recordings *recordings);

#endif
