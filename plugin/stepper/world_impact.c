/* A world's collision now, as a problem: ode_mlcp_impact_problem_of_world. */
#include <stdio.h>
#include <string.h>

#include "world/impact_problem.h"
#include "host/patched_host.h"
#include "stepper/process.h"

static ode_mlcp_error build(const world_snapshot *world, arena *arena,
                            ode_mlcp_world_impact **impact, outcome *out) {
  double *v;
  if (!ARENA_TAKE(arena, v, 6 * world->n_bodies)) return ODE_MLCP_NO_MEMORY;
  for (int b = 0; b < world->n_bodies; b++)
    memcpy(v + 6 * b, world->bodies[b].v, sizeof world->bodies[b].v);
  return impact_problem_build(world, v, process()->memory, impact, out);
}

/* @return [n] contacts between the bodies of their geoms; NULL: one is not to be had,
 *         out says why. */
static const source_contact *read_given(const dContact contacts[], int n,
                                        dWorldID world, arena *arena,
                                        outcome *out) {
  source_contact *given;
  if (!ARENA_TAKE(arena, given, n)) {
    outcome_no_memory(out);
    return NULL;
  }
  for (int i = 0; i < n; i++) {
    const dGeomID geom[2] = {contacts[i].geom.g1, contacts[i].geom.g2};
    given[i] = (source_contact){
        .origin = CONTACT_TOLD, .contact = contacts[i], .polygon = -1};
    for (int side = 0; side < 2; side++) {
      dBodyID body = geom[side] != NULL ? dGeomGetBody(geom[side]) : NULL;
      given[i].body[side] = body;
      if (body == NULL || dBodyGetWorld(body) == world) continue;
      outcome_fail(out, "contact %d: a body of another world", i + 1);
      return NULL;
    }
  }
  return given;
}

ode_mlcp_error
ode_mlcp_impact_problem_of_world(dWorldID world, const dContact contacts[],
                                 int n_contacts, ode_mlcp_world_impact **impact,
                                 char *message, size_t message_size) {
  if (message != NULL && message_size > 0) message[0] = '\0';
  if (impact == NULL) return ODE_MLCP_BAD_ARGUMENT;
  *impact = NULL;
  if (world == NULL || n_contacts < 0 || (n_contacts > 0 && contacts == NULL))
    return ODE_MLCP_BAD_ARGUMENT;
  if (patched_host_fault() != NULL) return ODE_MLCP_WRONG_HOST;

  memory_pool pool;
  memory_pool_open(&pool, process()->memory);
  dStepperIsland all;
  arena arena = {.source = &pool.source};
  outcome out;
  outcome_start(&out);
  /* the step size matters to forces only, and those are not used; without an ERP the
   * joints' springs would be read as rigid */
  const world_settings settings = {
      .pool = &pool,
      .world = world,
      .step_size = 1,
      .erp = ODE_MLCP_ERP_HOST,
      .instant = true,
      .given = read_given(contacts, n_contacts, world, &arena, &out),
      .n_given = n_contacts};
  world_snapshot snapshot = {0};
  ode_mlcp_error error = ODE_MLCP_NO_MEMORY;
  if (world_island(&all, &arena, world))
    error = settings.given != NULL &&
                    world_read(&snapshot, &settings, &all, 1, &out)
                ? build(&snapshot, &arena, impact, &out)
            : out.no_memory ? ODE_MLCP_NO_MEMORY
                            : ODE_MLCP_BAD_ARGUMENT;
  if (message != NULL && message_size > 0 && error == ODE_MLCP_BAD_ARGUMENT)
    snprintf(message, message_size, "%s", out.message);
  memory_pool_release(&pool);
  return error;
}
