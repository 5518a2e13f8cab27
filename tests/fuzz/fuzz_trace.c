/* Traces and other CSV files as `ode-mlcp plot` reads and draws them, up to
 * where gnuplot would begin. */
#include "command/plot.c"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static table tables[1];
  static panel panels[MOST_COLUMNS];
  const request request = {.output = "a.png"};
  if (!read_table(&tables[0], fuzz_write("a.csv", data, size))) return 0;
  int n = 0;
  if (choose_panels(&request, tables, 1, panels, &n)) {
    FILE *out = fopen("/dev/null", "w");
    for (int i = 0; i < n; i++) draw_panel(out, &panels[i], tables, 1);
    fclose(out);
  }
  return 0;
}
