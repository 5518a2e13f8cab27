#include "common/columns.h"

#include <string.h>

void columns_of_entries(int n, size_t count, const matrix_entry entries[],
                        int start[], int row[], double value[], int place[]) {
  memset(start, 0, ((size_t)n + 1) * sizeof *start);
  for (size_t k = 0; k < count; k++)
    start[entries[k].column + 1] += entries[k].value != 0;
  for (int j = 0; j < n; j++) start[j + 1] += start[j];
  for (size_t k = 0; k < count; k++) {
    if (entries[k].value == 0) continue;
    int at = start[entries[k].column]++;
    row[at] = entries[k].row;
    value[at] = entries[k].value;
  }

  // start[j] is now where column j ends
  int end = 0;
  for (int i = 0; i < n; i++) place[i] = -1;
  for (int j = 0, e = 0; j < n; j++) {
    int first = end, e_end = start[j];
    for (start[j] = first; e < e_end; e++) {
      if (place[row[e]] >= first) {
        value[place[row[e]]] += value[e];
      } else {
        place[row[e]] = end;
        row[end] = row[e];
        value[end++] = value[e];
      }
    }
  }
  start[n] = end;
}
