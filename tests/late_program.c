/* A program that is not linked with ODE and opens it by itself: what
 * `ode-mlcp run` is tested on.
 *
 *   HOW FILE ...   open the file and fall for a second in it, one after the other
 *
 * HOW is now, lazy, global, deep (DEEPBIND), new (a namespace of its own) or base
 * (dlmopen into the program's own). A library with a function `fall_in_plugin` is
 * asked to do it. Each is closed before the next. Prints where the body is then,
 * in m. */
#define _GNU_SOURCE // dlmopen
#include <dlfcn.h>
#include <ode/common.h> // dReal alone
#include <stdio.h>
#include <string.h>

typedef struct functions {
  int (*init)(unsigned);
  void *(*create_world)(void);
  void *(*create_body)(void *);
  void (*set_gravity)(void *, dReal, dReal, dReal);
  int (*step)(void *, dReal);
  const dReal *(*get_position)(void *);
  void (*destroy_world)(void *);
  void (*close)(void);
} functions;

static void *open_as(const char *how, const char *file) {
#ifdef __GLIBC__
  if (strcmp(how, "new") == 0) return dlmopen(LM_ID_NEWLM, file, RTLD_NOW);
  if (strcmp(how, "base") == 0) return dlmopen(LM_ID_BASE, file, RTLD_NOW);
  if (strcmp(how, "deep") == 0) return dlopen(file, RTLD_NOW | RTLD_DEEPBIND);
#endif
  if (strcmp(how, "lazy") == 0) return dlopen(file, RTLD_LAZY);
  if (strcmp(how, "global") == 0) return dlopen(file, RTLD_NOW | RTLD_GLOBAL);
  return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

static double fall(void *library, const char *step) {
  functions ode;
  *(void **)&ode.init = dlsym(library, "dInitODE2");
  *(void **)&ode.create_world = dlsym(library, "dWorldCreate");
  *(void **)&ode.create_body = dlsym(library, "dBodyCreate");
  *(void **)&ode.set_gravity = dlsym(library, "dWorldSetGravity");
  *(void **)&ode.step = dlsym(library, step);
  *(void **)&ode.get_position = dlsym(library, "dBodyGetPosition");
  *(void **)&ode.destroy_world = dlsym(library, "dWorldDestroy");
  *(void **)&ode.close = dlsym(library, "dCloseODE");
  ode.init(0);
  void *world = ode.create_world();
  ode.set_gravity(world, 0, 0, -1);
  void *body = ode.create_body(world);
  for (int k = 0; k < 100; k++) ode.step(world, 0.01);
  double z = ode.get_position(body)[2];
  ode.destroy_world(world);
  ode.close();
  return z;
}

int main(int argc, char **argv) {
  for (int k = 1; k + 1 < argc; k += 2) {
    void *library = open_as(argv[k], argv[k + 1]);
    if (library == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 99;
    }
    double (*own)(void);
    *(void **)&own = dlsym(library, "fall_in_plugin");
    printf("%.3f\n",
           own != NULL
               ? own()
               : fall(library, k % 4 == 1 ? "dWorldStep" : "dWorldQuickStep"));
    dlclose(library);
  }
  return 0;
}
