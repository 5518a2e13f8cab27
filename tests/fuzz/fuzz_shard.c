/* Shards of an impact's set, put together again. */
#include "command/impact.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static impact_input input;
  impact_result result = {.input = &input};
  char message[IMPACT_MESSAGE], *paths[1];
  paths[0] = (char *)fuzz_write("a.csv", data, size);
  impact_csv_merge(paths, 1, &input, &result, message);
  impact_csv_release(&result);
  impact_input_close(&input);
  return 0;
}
