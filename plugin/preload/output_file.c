#include "preload/output_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool starts_with(const char *words, const char *start) {
  return strncmp(words, start, strlen(start)) == 0;
}

/* /dev/stdout and its like lead to files that others are writing. */
static bool is_device_name(const char *path) {
  return starts_with(path, "/dev/") || starts_with(path, "/proc/");
}

/* The absolute path of a file that is not there yet: its folder must be. */
static int place_in_folder(const char *name, char path[PATH_MAX]) {
  char folder_name[PATH_MAX], folder[PATH_MAX];
  const char *slash = strrchr(name, '/');
  const char *base = slash != NULL ? slash + 1 : name;
  size_t length = slash != NULL ? (size_t)(slash - name) : 0;

  if (*base == '\0') return EISDIR;
  if (length >= sizeof folder_name) return ENAMETOOLONG;
  memcpy(folder_name, name, length);
  folder_name[length] = '\0';
  if (slash == NULL)
    strcpy(folder_name, ".");
  else if (length == 0)
    strcpy(folder_name, "/");

  if (realpath(folder_name, folder) == NULL) return errno;
  if (access(folder, W_OK | X_OK) != 0) return errno;
  if (strcmp(folder, "/") == 0) folder[0] = '\0';
  if (snprintf(path, PATH_MAX, "%s/%s", folder, base) >= PATH_MAX)
    return ENAMETOOLONG;
  return 0;
}

int output_file_check(const char *name, bool folder, char path[PATH_MAX]) {
  struct stat file;

  if (*name == '\0') return ENOENT;
  if (strlen(name) >= PATH_MAX) return ENAMETOOLONG;
  if (stat(name, &file) != 0)
    return errno == ENOENT && (folder || !is_device_name(name))
               ? place_in_folder(name, path)
               : errno;
  if (S_ISDIR(file.st_mode) != folder) return folder ? ENOTDIR : EISDIR;
  if (access(name, folder ? W_OK | X_OK : W_OK) != 0) return errno;
  if (!folder && is_device_name(name)) {
    strcpy(path, name);
    return 0;
  }
  return realpath(name, path) != NULL ? 0 : errno;
}

bool output_file_is_plain(const char *path) {
  struct stat file;
  if (is_device_name(path)) return false;
  return stat(path, &file) != 0 || S_ISREG(file.st_mode);
}
