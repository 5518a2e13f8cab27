/* Recordings, judged beside themselves and written into a report. */
#include <math.h>

#include "command/compare.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char message[400];
  const char *path = fuzz_write("a.rec", data, size);
  comparison c = {.n_runs = 2, .reference = -1, .repeated = 0};
  for (int k = 0; k < 2; k++) {
    compare_run *run = &c.runs[k];
    snprintf(run->name, sizeof run->name, "run-%d", k);
    run->levels[0] = recording_open(path, message, sizeof message);
  }
  recording *again = recording_open(path, message, sizeof message);
  if (c.runs[0].levels[0] != NULL) {
    compare_judge(&c, again);
    compare_write_json(&c, fuzz_folder(), message, sizeof message);
    compare_write_csv(&c, fuzz_folder(), message, sizeof message);
  }
  recording_close(again);
  for (int k = 0; k < 2; k++) recording_close(c.runs[k].levels[0]);
  return 0;
}
