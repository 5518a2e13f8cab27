#define _GNU_SOURCE // memmem
#include "preload/ode_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool ode_file_has_name(const char *path) {
  const char *slash = strrchr(path, '/'),
             *name = slash != NULL ? slash + 1 : path;
  if (strncmp(name, "libode", 6) != 0) return false;
  return strncmp(name + 6, ".so", 3) == 0 ||
         (name[6] == '-' && strstr(name, ".so") != NULL);
}

static bool says(const char *bytes, size_t size, const char *precision) {
  char words[32];
  int length = snprintf(words, sizeof words, "ODE_%s_precision", precision);
  return memmem(bytes, size, words, (size_t)length) != NULL;
}

ode_file_kind ode_file_read(const char *path) {
  struct stat status;
  ode_file_kind kind = ODE_FILE_NONE;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return kind;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
      status.st_size > 0) {
    size_t size = (size_t)status.st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED) {
      if (says(bytes, size, ODE_FILE_PRECISION(true))) kind = ODE_FILE_FITS;
      if (says(bytes, size, ODE_FILE_PRECISION(false)))
        kind = ODE_FILE_OTHER_PRECISION;
      munmap(bytes, size);
    }
  }
  close(file);
  return kind;
}
