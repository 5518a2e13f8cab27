/* The pointed-cone check of a world between its steps. */
#include <math.h>
#include <string.h>

#include "common/sized.h"
#include "rows/hair.h"
#include "stepper/stepper.h"

/* s: long enough for rates, too short for anything to move */
static const double INSTANT = 1e-6;

/* The request and the result. */
typedef struct cone_search {
  world_snapshot home,
      here; /* joints; contacts of the collision function, too */
  assembly *assembly;
  cone_check cone;
  char *jams; /* the caller's, each of its own size */
  size_t jam_size;
  int room, count;
  outcome out;
} cone_search;

static dBodyID body_of(const world_snapshot *world, int body) {
  return body >= 0 ? world->bodies[body].id : NULL;
}

static void add_jam(cone_search *s, const int body[2], const double position[3],
                    dJointID joint) {
  if (s->count < s->room) {
    ode_mlcp_jam jam = {.joint = joint};
    for (int side = 0; side < 2; side++)
      jam.body[side] = body_of(&s->here, body[side]);
    for (int i = 0; i < 3 && position != NULL; i++)
      jam.position[i] = position[i];
    sized_copy(s->jams + (size_t)s->count * s->jam_size, s->jam_size, &jam,
               sizeof jam);
  }
  s->count++;
}

static void collect(cone_search *s) {
  const world_snapshot *here = &s->here;
  for (int k = 0; k < here->contacts.n; k++) {
    const world_contact *contact = &here->contacts.items[k];
    if (!(assembly_normal_impulse(s->assembly, k) > 0)) continue;
    add_jam(s, contact->point.body, contact->point.position,
            contact->joint >= 0 ? here->joints[contact->joint].id : NULL);
  }
  for (int j = 0; j < here->n_joints; j++) {
    bool locks = false;
    for (unsigned r = 0; r < 6; r++)
      locks |= assembly_joint_impulse(s->assembly, j, r) > 0;
    if (locks) add_jam(s, here->joints[j].body, NULL, here->joints[j].id);
  }
}

static bool search(cone_search *s, const ode_mlcp_options *options,
                   arena *arena) {
  world_contacts *contacts = &s->here.contacts;
  int n = s->here.n_bodies;
  double *at_rest;
  for (int k = 0; k < contacts->n; k++) {
    world_contact *contact = &contacts->items[k];
    contact->active = (contact->joint >= 0 && contact->stop < 0) ||
                      contact->point.gap <= HAIR_BESIDE;
  }
  if (!ARENA_TAKE(arena, at_rest, 6 * n)) return outcome_no_memory(&s->out);
  memset(at_rest, 0, 6 * (size_t)n * sizeof *at_rest);
  const assembly_request request = {.world = &s->here,
                                    .options = options,
                                    .level = JOINT_LEVEL_IMPACT,
                                    .step_size = 1,
                                    .scale = 1,
                                    .v = at_rest,
                                    .x_free = at_rest,
                                    .cone = &s->cone,
                                    .slip_floor = 1e-9};
  if (!assembly_solve(s->assembly, &request, &s->out)) return false;
  collect(s);
  return true;
}

/* The contacts of the collision function where the bodies are. */
static bool look(cone_search *s, const world_settings *settings,
                 const dStepperIsland *island, arena *arena) {
  world_pose *poses;
  if (!world_read(&s->home, settings, island, 1, &s->out)) return false;
  if (!ARENA_TAKE(arena, poses, s->home.n_bodies))
    return outcome_no_memory(&s->out);
  for (int b = 0; b < s->home.n_bodies; b++)
    poses[b] = world_pose_of(&s->home.bodies[b]);
  return world_read_at(&s->here, &s->home, poses, INSTANT, &s->out);
}

ode_mlcp_error ode_mlcp_check_cone_sized(dWorldID world, int *pointed,
                                         ode_mlcp_jam jams[], size_t jam_size,
                                         int room, int *n_jams) {
  const memory_source *source;
  contact_source *contacts;
  if (world == NULL || pointed == NULL || n_jams == NULL || room < 0 ||
      (room > 0 && jams == NULL))
    return ODE_MLCP_BAD_ARGUMENT;
  const ode_mlcp_options *options = stepper_options(world, &source, &contacts);
  if (options == NULL) return ODE_MLCP_NOT_ATTACHED;

  dStepperIsland all;
  memory_pool pool;
  memory_pool_open(&pool, source);
  arena arena = {.source = &pool.source};
  cone_search s = {.assembly = assembly_create(&pool.source),
                   .jams = (char *)jams,
                   .jam_size = jam_size,
                   .room = room};
  outcome_start(&s.out);
  ode_mlcp_error error = ODE_MLCP_NO_MEMORY;
  if (s.assembly != NULL && world_island(&all, &arena, world, false)) {
    const world_settings settings = {.pool = &pool,
                                     .world = world,
                                     .step_size = INSTANT,
                                     .erp = options->erp,
                                     .margin = options->margin,
                                     .contacts = contacts};
    bool checked =
        look(&s, &settings, &all, &arena) && search(&s, options, &arena);
    error = checked ? ODE_MLCP_OK : ODE_MLCP_STEP_FAILED;
  }
  if (error == ODE_MLCP_OK) {
    *pointed = s.count == 0;
    *n_jams = s.count;
  }
  assembly_destroy(s.assembly);
  memory_pool_release(&pool);
  return error;
}
