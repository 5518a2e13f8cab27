/* The input of a fuzz target as a file. */
#ifndef ODE_MLCP_TESTS_FUZZ_FILE_H
#define ODE_MLCP_TESTS_FUZZ_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Called by libFuzzer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** A folder of the process's own, in the one that $FUZZ_FILES names: tests/fuzz/run
 *  makes it, in memory where there is such a place, and removes it. */
static inline const char *fuzz_folder(void) {
  static char folder[128];
  const char *in = getenv("FUZZ_FILES");
  if (folder[0] != '\0') return folder;
  snprintf(folder, sizeof folder, "%s/XXXXXX", in != NULL ? in : "/tmp");
  if (mkdtemp(folder) == NULL) abort();
  return folder;
}

/** Write `size` bytes to the file `name` in it. @return its path */
static inline const char *fuzz_write(const char *name, const uint8_t *data,
                                     size_t size) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
  FILE *file = fopen(path, "wb");
  if (file == NULL) abort();
  fwrite(data, 1, size, file);
  fclose(file);
  return path;
}

#endif
