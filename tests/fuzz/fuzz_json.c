/* The description of a problem's folder. */
#include "fuzz_file.h"
#include "mlcp/flat_json.h"

static const char *visit(void *context, const flat_json_member *member) {
  double *sum = context;
  *sum += member->number;
  return member->text != NULL && member->text[0] == '!' ? "an exclamation"
                                                        : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char message[200];
  double sum = 0;
  flat_json_read(fuzz_write("a.json", data, size), visit, &sum, message,
                 sizeof message);
  return 0;
}
