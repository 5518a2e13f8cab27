/* Caps that go for the ends of a set.
 *
 * Where a set ends its outcomes ask for caps that are full, or small by decades, or
 * within a hair of a number nobody knows before. So samples go in blocks: each
 * looks for the ends of all contact velocities (or of so many as it has time for) in
 * turn, by climbs: from caps of all kinds, or from changes to those of its best sample
 * so far, linear program by linear program, with a sample now and then
 * that tells whether steps go where the programs say.
 * An outcome serves every end it reaches. What a sample draws is a function of
 * seed and number alone, as the samples before it in its block are; who begins
 * within a block goes through these first. */
#ifndef ODE_MLCP_IMPACTS_IMPACT_ENDS_H
#define ODE_MLCP_IMPACTS_IMPACT_ENDS_H

#include "common/arena.h"
#include "impacts/contact_space.h"

/* Contact directions of a space that is climbed in, and caps of a way. */
enum { CLIMB_MOST_ROWS = 32, CLIMB_MOST_CAPS = 160 };

/* A way: of each step what was put in, the solution taken and where it led. */
typedef struct impact_way {
  int n_steps;
  double *inputs;  /* [steps x (n_rows + m)] */
  double *lambdas; /* [steps x n_rows] */
  double *reached; /* [steps x n_rows] */
} impact_way;

typedef struct impact_climb {
  const contact_space *space;
  double h;       /* N s, of a full cap */
  int most_caps;  /* of a way; longer ones are not looked at. 0: none is */
  int most_rows;  /* of the program */
  int *contacts;  /* [m] 0, 1 .. */
  int64_t *modes; /* [most_caps/m] of a way's steps */
  double *scratch, *impulses, *conditions; /* of one mode */
  double *change; /* [n_inputs x most_caps] of inputs */
  double *push;   /* [n_rows x most_caps] of impulses */
  double *table;  /* [most_rows x most_caps] the program's dictionary */
  double *value, *low, *high; /* [most_caps + most_rows] of its variables */
  int *basic, *outside;       /* [most_rows], [most_caps] which these are */
  double *gain;               /* [most_caps] */
} impact_climb;

/** Samples of a block. */
#define IMPACT_ENDS_BLOCK 16384

/** Steps that are handed on; what comes after is drawn anew. */
#define IMPACT_ENDS_STEPS 32

/** Ends that a block looks for at most. */
#define IMPACT_ENDS_AIMS 32

/* A draw is the parts of h that a step's caps are, and a number in (0, 1) for the
 * choice among its solutions; a plan is a draw for each of the first steps, and where
 * it has been followed the way that it led. */
typedef struct impact_plan {
  double *draws; /* [IMPACT_ENDS_STEPS x (m + 1)] */
  int n_steps;
  impact_way way; /* n_steps 0: not followed to an outcome, nor foretold */
} impact_plan;

/* A block's knowledge of one end. */
typedef struct impact_end {
  double value;      /* furthest outcome, m/s; -INFINITY: none yet */
  impact_plan best;  /* that leads there */
  impact_plan older; /* the best before it */
} impact_end;

typedef struct impact_ends {
  const contact_space *space; /* an island's; NULL: not begun */
  uint64_t seed, block;
  uint64_t next; /* samples of the block that are done */
  int most_steps;
  int n_aims;
  impact_end *aims;    /* [n_aims] */
  impact_plan planned; /* for this sample; n_steps 0: all drawn anew */
  impact_plan tried;   /* what it drew */
  // a climb goes on, from the furthest that it has come, until it gains nothing
  impact_climb climb;
  impact_plan climbed; /* way.n_steps 0: it has not begun */
  int aim;             /* its end */
  double height;       /* m/s */
  int n_failed;        /* times that it gained nothing since it last gained */
} impact_ends;

/** `most_steps`: that a sample has; with more it would not be over. `h`: N s, of a
 *  full cap. */
bool impact_ends_open(impact_ends *ends, const contact_space *space,
                      uint64_t seed, int most_steps, double h, arena *arena);

/** Turn to a sample's block. @return samples of it that are to be run before,
 *  in order, from *first on */
uint64_t impact_ends_missing(impact_ends *ends, uint64_t sample,
                             uint64_t *first);

/** The next sample of the block begins. */
void impact_ends_begin(impact_ends *ends, uint64_t sample);

/** Its draw of a step. @return m + 1 numbers */
const double *impact_ends_draw(impact_ends *ends, uint64_t sample, int step);

/** A step of it from `inputs` took a solution, `lambda`, that led to `reached`. */
void impact_ends_note(impact_ends *ends, int step, const double inputs[],
                      const double lambda[], const double reached[]);

/** It is over, at contact velocities c after n_steps; or c is NULL: it is not. */
void impact_ends_finish(impact_ends *ends, const double c[], int n_steps);

#endif
