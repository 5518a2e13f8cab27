/* The module with the scenes: it brings the host with it. */
#include <dlfcn.h>
#include <limits.h>

#include "command/preloads.h"
#include "command/scene.h"

const scene_functions *scene_library_open(char message[SCENE_MESSAGE]) {
  char path[PATH_MAX + 64], problem[SCENE_MESSAGE / 2];
  if (!preloads_find("ode_mlcp_scenes.so", path, sizeof path, problem,
                     sizeof problem)) {
    snprintf(message, SCENE_MESSAGE, "%s", problem);
    return NULL;
  }
  void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const scene_functions *(*ask)(void) = NULL;
  if (module != NULL)
    *(void **)&ask = dlsym(module, "ode_mlcp_scenes"); // as POSIX has it
  if (ask == NULL) {
    snprintf(message, SCENE_MESSAGE, "cannot load the scenes: %s", dlerror());
    return NULL;
  }
  const scene_functions *functions = ask();
  if (functions->struct_size == sizeof *functions) return functions;
  snprintf(message, SCENE_MESSAGE, "%.200s is of another version", path);
  return NULL;
}
