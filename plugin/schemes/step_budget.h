/* The work that a second-order step of some islands may spend, counted in rows
 * solved and never in seconds: on sizes that do not settle, on events, on what is
 * drawn of sets of impacts. */
#ifndef ODE_MLCP_SCHEMES_STEP_BUDGET_H
#define ODE_MLCP_SCHEMES_STEP_BUDGET_H

#include <stdbool.h>

/** An island's body remembers tries that came to nothing: they are the price of a
 *  step, and a try that did not end in one seldom does in the next. */
typedef struct failed_tries {
  int sizes;      /* steps in a row no size of which settled, */
  int size_pause; /* and steps to be taken damped until the next try */
  int stopped;    /* solves that ended with their budget */
} failed_tries;

typedef struct step_budget {
  double step_size; /* s, of the host */
  double window;    /* s: what collides within it is one event */
  int max_events;
  failed_tries failed; /* before the step */
  int price; /* rows solved for the dearest trial of the step so far */
  int n_events, n_transitions; /* so far in the step, */
  int n_failed;                /* sizes that did not settle, */
  int n_stopped;               /* and solves that ended with their budget */
  bool no_size;     /* settled: the step was damped, or left as it was */
  double draw_work; /* products left for what is drawn of sets of impacts */
} step_budget;

/** Start a step of this size.
 *  @param window      s: at least so far apart are two events
 *  @param max_events  the most that are told apart */
void step_budget_start(step_budget *budget, double step_size, double window,
                       int max_events);

/** Take over what a body of the step remembers. */
void step_budget_recall(step_budget *budget, const failed_tries *of);

/** The tries that its bodies are to remember of the step. */
failed_tries step_budget_failed(const step_budget *budget);

/** Count a trial step for which so many rows were solved. */
void step_budget_tried(step_budget *budget, int rows);

/** Count solves that ended with their own budget. */
void step_budget_stopped(step_budget *budget, int solves);

/** The part of its budget that the next solve gets. */
double step_budget_share(const step_budget *budget);

/** True if the step may be searched for another transition. */
bool step_budget_searches(const step_budget *budget);

/** Count a size that did not settle.
 *  @param damps     true if the step is damped once none does
 *  @param hopeless  true if a larger or smaller one would hardly do better
 *  @return whether another may be tried. */
bool step_budget_next_size(step_budget *budget, bool damps, bool hopeless);

/** Events after which the rest of an island's step has none: what would still
 *  collide is held back, all at once. */
int step_budget_events(const step_budget *budget);

/** s: what collides within so much of the first is one event with it, where it
 *  gives back the part `bounce` of its speed. */
double step_budget_window(const step_budget *budget, double bounce);

#endif
