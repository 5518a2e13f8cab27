/* Sets reduced to a file, read, merged and packed again. The sum over the file's
 * words is made right first, so that what is behind it is met. */
#include <string.h>

#include "command/impact_reduce.c"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 8 || size % 8 != 0) return -1;
  char message[IMPACT_MESSAGE], *bytes = malloc(size);
  memcpy(bytes, data, size);
  uint64_t sum = hash_words(0xcbf29ce484222325u, bytes, size - 8);
  memcpy(&bytes[size - 8], &sum, sizeof sum);
  impact_reduction *one = impact_reduction_unpack(bytes, size, "one", message);
  impact_reduction *two = impact_reduction_unpack(bytes, size, "two", message);
  if (one != NULL && two != NULL) {
    size_t packed_size;
    char *packed = impact_reduction_pack(one, &packed_size);
    if (packed == NULL || packed_size != size ||
        memcmp(packed, bytes, size) != 0)
      abort(); // what was read is what is written
    free(packed);
    impact_reduction_matches(one, "one", two, "two", message);
  }
  impact_reduction_destroy(one);
  impact_reduction_destroy(two);
  free(bytes);
  return 0;
}
