#include "command/preloads.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOST_FILE "libode.so.8"
#define PLUGIN_FILE "ode_mlcp_preload.so"
#define RECORDER_FILE "ode_mlcp_recorder.so"

bool preloads_own_folder(char folder[PATH_MAX]) {
  ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
  if (length <= 0) return false;
  folder[length] = '\0';
  char *slash = strrchr(folder, '/');
  if (slash == NULL) return false;
  *slash = '\0';
  return true;
}

static bool holds_both(const char *folder, const char *file) {
  char path[PATH_MAX + 64];
  snprintf(path, sizeof path, "%s/" HOST_FILE, folder);
  if (access(path, R_OK) != 0) return false;
  snprintf(path, sizeof path, "%s/%s", folder, file);
  return access(path, R_OK) == 0;
}

/* True if the folder has both; then its name without links is `folder`. */
static bool take_folder(const char *candidate, const char *file,
                        char folder[PATH_MAX]) {
  return holds_both(candidate, file) && realpath(candidate, folder) != NULL;
}

/* Libraries may lie in a folder for the machine, as Debian has it. */
static bool find_below(const char *own, const char *file,
                       char folder[PATH_MAX]) {
  char candidate[2 * PATH_MAX + 32], lib[PATH_MAX + 16];
  snprintf(lib, sizeof lib, "%s/../lib", own);
  DIR *listing = opendir(lib);
  bool found = false;
  for (struct dirent *entry;
       !found && listing != NULL && (entry = readdir(listing)) != NULL;) {
    snprintf(candidate, sizeof candidate, "%s/%s/ode-mlcp", lib, entry->d_name);
    found = entry->d_name[0] != '.' && take_folder(candidate, file, folder);
  }
  if (listing != NULL) closedir(listing);
  return found;
}

/* The folder of the host and `file`; false with a message. */
static bool find_folder(const char *file, char folder[PATH_MAX], char *message,
                        size_t message_size) {
  static const char *const beside[] = {"lib", "../lib", "../lib/ode-mlcp",
                                       "../lib64/ode-mlcp"};
  enum { N_BESIDE = sizeof beside / sizeof beside[0] };
  char own[PATH_MAX], candidate[PATH_MAX + 32];

  for (size_t k = 0; k < N_BESIDE && preloads_own_folder(own); k++) {
    snprintf(candidate, sizeof candidate, "%s/%s", own, beside[k]);
    if (take_folder(candidate, file, folder)) return true;
  }
  if (preloads_own_folder(own) && find_below(own, file, folder)) return true;
  if (take_folder(INSTALLED_LIBDIR "/ode-mlcp", file, folder)) return true;
  snprintf(message, message_size,
           "cannot find " HOST_FILE
           " and %s beside this program or in " INSTALLED_LIBDIR "/ode-mlcp",
           file);
  return false;
}

static void add_file(char *value, size_t size, const char *folder,
                     const char *file) {
  size_t used = strlen(value);
  snprintf(value + used, size - used, "%s%s/%s", used > 0 ? ":" : "", folder,
           file);
}

/* Adds the entries of `list` that are not ours already: a run inside a run
 * would otherwise name them twice. */
static void add_others(char *value, size_t size, const char *list,
                       const char *folder) {
  size_t folder_length = strlen(folder);

  while (*list != '\0') {
    size_t length = strcspn(list, ": ");
    bool ours =
        strncmp(list, folder, folder_length) == 0 && list[folder_length] == '/';
    size_t used = strlen(value);
    if (length > 0 && !ours)
      snprintf(value + used, size - used, ":%.*s", (int)length, list);
    list += length;
    list += strspn(list, ": ");
  }
}

bool preloads_find(const char *file, char *path, size_t path_size,
                   char *message, size_t message_size) {
  char folder[PATH_MAX];
  if (!find_folder(file, folder, message, message_size)) return false;
  snprintf(path, path_size, "%s/%s", folder, file);
  return true;
}

bool preloads_value(unsigned set, char *value, size_t value_size, char *message,
                    size_t message_size) {
  char folder[PATH_MAX];
  const char *needed_file =
      set & PRELOAD_RECORDER ? RECORDER_FILE : PLUGIN_FILE;

  if (!find_folder(needed_file, folder, message, message_size)) return false;
  if (strpbrk(folder, ": ") != NULL) {
    snprintf(message, message_size,
             "cannot preload from '%s': the loader takes no path with a space "
             "or a colon",
             folder);
    return false;
  }
  const char *others = getenv("LD_PRELOAD");
  if (others == NULL) others = "";
  size_t needed = 3 * strlen(folder) + strlen(others) + 128;
  if (needed > value_size) {
    snprintf(message, message_size, "LD_PRELOAD is too long");
    return false;
  }
  // the plugin first: it looks whether what it stands before is next
  value[0] = '\0';
  if (set & PRELOAD_PLUGIN) add_file(value, value_size, folder, PLUGIN_FILE);
  if (set & PRELOAD_RECORDER)
    add_file(value, value_size, folder, RECORDER_FILE);
  add_file(value, value_size, folder, HOST_FILE);
  add_others(value, value_size, others, folder);
  return true;
}
