#include "preload/output_file.h"

#include <errno.h>
#include <fcntl.h>
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

int output_file_check(const char *name, char path[PATH_MAX]) {
  struct stat file;

  if (*name == '\0') return ENOENT;
  if (strlen(name) >= PATH_MAX) return ENAMETOOLONG;
  if (stat(name, &file) != 0)
    return errno == ENOENT && !is_device_name(name)
               ? place_in_folder(name, path)
               : errno;

  if (S_ISDIR(file.st_mode)) return EISDIR;
  if (access(name, W_OK) != 0) return errno;
  if (is_device_name(name)) {
    strcpy(path, name);
    return 0;
  }
  return realpath(name, path) != NULL ? 0 : errno;
}

int output_file_check_folder(const char *name, char path[PATH_MAX]) {
  struct stat file;

  if (*name == '\0') return ENOENT;
  if (strlen(name) >= PATH_MAX) return ENAMETOOLONG;
  if (stat(name, &file) != 0)
    return errno == ENOENT ? place_in_folder(name, path) : errno;
  if (!S_ISDIR(file.st_mode)) return ENOTDIR;
  if (access(name, W_OK | X_OK) != 0) return errno;
  return realpath(name, path) != NULL ? 0 : errno;
}

bool output_file_is_plain(const char *path) {
  struct stat file;
  if (is_device_name(path)) return false;
  return stat(path, &file) != 0 || S_ISREG(file.st_mode);
}

int output_file_remove(const char *path) {
  if (!output_file_is_plain(path)) return 0;
  if (unlink(path) == 0 || errno == ENOENT) return 0;
  return truncate(path, 0) == 0 ? 0 : errno;
}

int output_file_open(const char *path) {
  int flags = output_file_is_plain(path) ? O_CREAT | O_TRUNC : O_APPEND;
  return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags, 0666);
}

static int write_in_place(const char *path, const text *words) {
  int descriptor = output_file_open(path);
  if (descriptor < 0) return errno;

  int error = text_write(words, descriptor);
  if (close(descriptor) != 0 && error == 0) error = errno;
  return error;
}

/* A file of nobody else's beside `path`: in a folder that others may write to
 * they may have put something under any name that can be foreseen. */
static int open_draft(char draft[], size_t size, const char *path) {
  const int TRIES = 100;
  int descriptor = -1;
  for (int k = 0; k < TRIES && descriptor < 0; k++) {
    text name;
    text_start(&name, draft, size - 1);
    text_add(&name, path);
    text_add(&name, ".");
    text_add_integer(&name, getpid());
    text_add(&name, ".");
    text_add_integer(&name, k);
    text_add(&name, ".tmp");
    draft[name.used] = '\0';
    descriptor =
        open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  return descriptor;
}

int output_file_replace(const char *path, const text *words) {
  static char draft[OUTPUT_FILE_PATH_SIZE + 32]; // one result a process

  if (!output_file_is_plain(path)) return write_in_place(path, words);
  int descriptor = open_draft(draft, sizeof draft, path);
  // a folder we may not write in can still hold a file that we may
  if (descriptor < 0) return write_in_place(path, words);

  int error = text_write(words, descriptor);
  if (close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && rename(draft, path) != 0) error = errno;
  if (error != 0) (void)unlink(draft);
  return error;
}
