#include "schemes/schemes.h"

#include <string.h>

#include "settings/settings.h"

#define ROW(ID, name, help) &SCHEME_##ID,
static const scheme *table[32] = {SCHEME_LIST(ROW)};
#undef ROW
enum { ROOM = sizeof table / sizeof table[0] };

const scheme *scheme_find(int id) {
  for (int i = 0; i < ROOM && table[i] != NULL; i++)
    if (table[i]->id == id) return table[i];
  return NULL;
}

bool scheme_register(const scheme *added, const char *name) {
  for (int i = 0; i < ROOM; i++) {
    if (table[i] != NULL && table[i]->id == added->id) return false;
    if (table[i] != NULL) continue;
    if (!settings_add_scheme_name(added->id, name)) return false;
    table[i] = added;
    return true;
  }
  return false;
}

scheme_state *scheme_state_create(const scheme *scheme,
                                  const memory_source *source) {
  scheme_state *state = memory_allocate_zero(source, scheme->state_size);
  if (state == NULL) return NULL;
  memory_pool_open(&state->pool, source);
  state->arena.source = &state->pool.source;
  state->assembly = assembly_create(&state->pool.source);
  if (state->assembly != NULL) return state;
  scheme_state_destroy(scheme, state);
  return NULL;
}

void scheme_state_destroy(const scheme *scheme, scheme_state *state) {
  const memory_source *source = state->pool.from;
  assembly_destroy(state->assembly);
  assembly_destroy(state->projector);
  memory_pool_release(&state->pool);
  source->release(source->context, state, scheme->state_size);
}

world_settings scheme_settings(const scheme_step *step) {
  return (world_settings){.pool = step->pool,
                          .world = step->world,
                          .step_size = step->step_size,
                          .erp = step->options->erp,
                          .margin = step->options->margin,
                          .measure = step->options->measure,
                          .contacts = step->contacts};
}

assembly_request scheme_request(const scheme_step *step,
                                const world_snapshot *world) {
  return (assembly_request){
      .world = world,
      .options = step->options,
      .step_size = step->step_size,
      .share = 1,
      .slip_floor = assembly_slip_floor(world->gravity, step->step_size),
      .observer = step->observer,
      .observer_context = step->observer_context};
}

void scheme_hand_over(scheme_step *step, const world_snapshot *world,
                      const double v[], const assembly *answer) {
  for (int b = 0; b < world->n_bodies; b++) {
    body_result *result = &step->bodies[b];
    const double *motion = assembly_projection(answer, b);
    result->kinematic = world->bodies[b].kinematic;
    memcpy(result->v, v + 6 * b, sizeof result->v);
    result->moved = motion != NULL;
    if (motion != NULL) memcpy(result->motion, motion, sizeof result->motion);
    step->out->report.bodies += !result->kinematic;
  }
  assembly_add_forces(answer, step->step_size, step->joints);
}

void scheme_move_body(body_result *result, dBodyID id, const world_pose *from,
                      const world_pose *to, double h) {
  world_pose_velocity(result->motion, id, from, to, h);
  for (int i = 0; i < 6; i++) result->motion[i] -= result->v[i];
  result->moved = true;
}

bool scheme_remember(scheme_step *step, int count) {
  step->remembered.n_entries = 0;
  return POOL_RESERVE(step->remembered.pool, step->remembered.entries, count) ||
         outcome_no_memory(step->out);
}
