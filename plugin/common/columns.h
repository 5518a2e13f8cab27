/* Sparse matrices in compressed columns. */
#ifndef ODE_MLCP_COMMON_COLUMNS_H
#define ODE_MLCP_COMMON_COLUMNS_H

#include <stddef.h>

typedef struct matrix_entry {
  int row, column; /* from 0 */
  double value;
} matrix_entry;

/**
 * Put entries of a matrix of n rows and columns into columns, in each in the order given:
 * those at one place added up, zeros left out.
 *
 * @param start       [n + 1] out
 * @param row, value  [count] out
 * @param place       [n] overwritten
 */
void columns_of_entries(int n, size_t count, const matrix_entry entries[],
                        int start[], int row[], double value[], int place[]);

#endif
