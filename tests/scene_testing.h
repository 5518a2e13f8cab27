/* Runs of scenes for tests. */
#ifndef ODE_MLCP_TESTS_SCENE_TESTING_H
#define ODE_MLCP_TESTS_SCENE_TESTING_H

#include <string.h>

#include "scenes/own_scenes.h"
#include "testing.h"

/** A scene's settings under a scheme. */
static inline scene_settings test_settings(const char *name,
                                           const char *scheme) {
  char message[SCENE_MESSAGE] = "";
  scene_settings settings;
  const scene *found = own_scene_find(name);
  CU_ASSERT_FATAL(found != NULL);
  CU_ASSERT_FATAL(
      scene_default_settings(found, &settings, message, sizeof message));
  if (scheme != NULL)
    CU_ASSERT_EQUAL_FATAL(
        scene_set_option(&settings, "scheme", scheme, message, sizeof message),
        ODE_MLCP_OK);
  return settings;
}

/** Run it; every step has to be solved. */
static inline scene_result *test_run(const char *name,
                                     const scene_settings *settings) {
  char message[SCENE_MESSAGE] = "";
  scene_result *result =
      scene_run(own_scene_find(name), settings, message, sizeof message);
  if (result == NULL) printf("\n  %s: %s\n", name, message);
  CU_ASSERT_FATAL(result != NULL);
  CU_ASSERT_EQUAL(result->unsolved, 0);
  CU_ASSERT(result->residual_worst < 1e-6);
  return result;
}

static inline scene_sweep *test_sweep(const char *name,
                                      const scene_settings *settings) {
  char message[SCENE_MESSAGE] = "";
  scene_sweep *sweep =
      scene_converge(own_scene_find(name), settings, message, sizeof message);
  if (sweep == NULL) printf("\n  %s: %s\n", name, message);
  CU_ASSERT_FATAL(sweep != NULL);
  return sweep;
}

/** The time of the k-th event of a kind, from 0; NAN where there is none. */
static inline double test_event(const scene_result *result, const char *kind,
                                int k) {
  for (int i = 0; i < result->n_events; i++)
    if (strcmp(result->events[i].kind, kind) == 0 && k-- == 0)
      return result->events[i].time;
  return NAN;
}

#endif
