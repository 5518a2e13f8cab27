/* The figures of a run and the columns of a step: one list each, for the table, the
 * page, JSON, CSV and pictures. */
#ifndef ODE_MLCP_JUDGE_TABLES_H
#define ODE_MLCP_JUDGE_TABLES_H

#include "judge/judge.h"

typedef struct figure {
  const char *key;   /* of report.json */
  const char *words; /* indented under the figure that it belongs to */
  const char *unit;
  bool counted; /* a long, not a double */
  bool rare;    /* left out where all runs have 0 */
  bool less;    /* is better */
  size_t offset;
} figure;

/** In the order of the table; `n_figures` of them. */
extern const figure figures[];
extern const size_t n_figures;

/** NAN where it is not known. */
double figure_value(const figure *figure, const compare_run *run);
/** True if no run has it, or all have 0 of what is rare. */
bool figure_is_empty(const figure *figure, const comparison *comparison);
/** Every number is not known. */
void figures_forget(compare_figures *figures);

typedef struct step_column {
  const char *name;         /* of pictures and of the page's curves */
  const char *header;       /* in CSV files */
  const char *axis, *title; /* NULL: not drawn */
  bool logarithmic;
  size_t offset;
} step_column;

extern const step_column step_columns[];
extern const size_t n_step_columns;

double step_value(const recording_step *step, const step_column *column);

/** The column over the shown steps in at most `most` points: of the steps that a
 *  point stands for, the value of largest size and the time of the last one.
 *  @param times, values  [most]; may be NULL. @return how many points */
size_t step_points(const recording *recording, const step_column *column,
                   size_t most, double times[], double values[]);

#endif
