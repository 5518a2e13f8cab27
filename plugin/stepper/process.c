#include "stepper/process.h"

static process_settings settings = {.memory = &memory_from_malloc};

const process_settings *process(void) { return &settings; }

void process_set_memory(const memory_source *source) {
  settings.memory = source;
}

void process_observe_solves(solve_observer *observer, void *context) {
  settings.observe_solve = observer;
  settings.solve_context = context;
}

void ode_mlcp_observe(ode_mlcp_observer *observer, void *context) {
  settings.observe_step = observer;
  settings.step_context = context;
}

void ode_mlcp_watch_geoms(ode_mlcp_geom_function *is_alive, void *context) {
  settings.is_alive = is_alive;
  settings.geom_context = context;
}
