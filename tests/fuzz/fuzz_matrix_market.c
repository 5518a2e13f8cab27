/* Matrix Market files, as `ode-mlcp solve` and `impact` read them. */
#include "fuzz_file.h"
#include "mlcp/matrix_market.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  matrix_market matrix;
  char message[200];
  const char *path = fuzz_write("a.mtx", data, size);
  if (matrix_market_read(path, MATRIX_MARKET_ANY, MATRIX_MARKET_ANY, false,
                         &memory_from_malloc, &matrix, message, sizeof message))
    matrix_market_write(path, &matrix, message, sizeof message);
  matrix_market_release(&matrix);
  return 0;
}
