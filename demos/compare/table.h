/* What was measured, in words: the side-by-side table, the promises, and the
 * report's files. */
#ifndef ODE_MLCP_DEMOS_COMPARE_TABLE_H
#define ODE_MLCP_DEMOS_COMPARE_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "measure.h"
#include "recording.h"

enum { MAX_TABLE_ROWS = 80, MAX_PROMISES = 16 };

/* A row without cells is the title of the rows below it. */
typedef struct table_row {
  bool is_title;
  char label[112];
  char cells[N_STEPPERS][24];
} table_row;

typedef struct promise {
  char what[160];
  bool kept;
} promise;

typedef struct table {
  table_row rows[MAX_TABLE_ROWS];
  int n_rows;
  promise promises[MAX_PROMISES]; /* what ode-mlcp promises, of what was run */
  int n_promises;
} table;

void table_fill(const measurements *measured, const recordings *recorded,
                table *table);

/** Whether every promise was kept. */
bool table_all_kept(const table *table);

void table_write_text(const table *table, FILE *file);

/** @param pictures  whether the PNGs are there to be shown */
void table_write_markdown(const table *table, const recordings *recorded,
                          const measurements *measured, bool pictures,
                          FILE *file);

/** One JSON object; a number that is not finite is null, what was not run is
 *  left out. */
void results_write_json(const measurements *measured,
                        const recordings *recorded, const table *table,
                        FILE *file);

#endif
