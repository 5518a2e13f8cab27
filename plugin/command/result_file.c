#include "command/result_file.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "preload/output_file.h"

static bool say_why(const result_file *file, int error, char *message,
                    size_t size) {
  snprintf(message, size, "cannot write '%.300s': %s", file->name,
           strerror(error));
  return false;
}

bool result_begin(result_file *file, char *message, size_t size,
                  const char *path, ...) {
  va_list arguments;
  va_start(arguments, path);
  int length = vsnprintf(file->name, sizeof file->name, path, arguments);
  va_end(arguments);
  int error = length < (int)sizeof file->name
                  ? output_file_check(file->name, false, file->path)
                  : ENAMETOOLONG;
  if (error != 0) return say_why(file, error, message, size);
  bool plain = output_file_is_plain(file->path);
  snprintf(file->draft, sizeof file->draft, plain ? "%s.%ld.part" : "%s",
           file->path, (long)getpid());
  // behind what is no plain file's name others may have written
  file->out = fopen(file->draft, plain ? "w" : "a");
  return file->out != NULL || say_why(file, errno, message, size);
}

bool result_end(result_file *file, bool whole, char *message, size_t size) {
  bool plain = strcmp(file->draft, file->path) != 0;
  int error = ferror(file->out) ? (errno != 0 ? errno : EIO)
              : whole           ? 0
                                : ENOMEM; // it could not be made
  if (fclose(file->out) != 0) error = errno;
  if (error == 0 && (!plain || rename(file->draft, file->path) == 0))
    return true;
  if (error == 0) error = errno;
  if (plain) unlink(file->draft);
  return say_why(file, error, message, size);
}
