/* The pointed-cone check of a world between its steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/sized.h"
#include "schemes/whole_step.h"

/* Contacts this close touch. */
static const double TOUCHING = 1e-6; /* m */

/* All enabled bodies of a world and the joints on them, as one island. */
typedef struct world_island {
  dBodyID *bodies;
  dJointID *joints;
  unsigned n_bodies, n_joints;
  memory_block body_block, joint_block;
} world_island;

static int compare_joints(const void *left, const void *right) {
  unsigned long a = dJointGetSerial(*(const dJointID *)left);
  unsigned long b = dJointGetSerial(*(const dJointID *)right);
  return (a > b) - (a < b);
}

static bool list_world(world_island *island, const memory_source *source,
                       dWorldID world) {
  size_t n_all = dWorldGetBodies(world, NULL, 0), n_joints = 0;
  island->bodies = memory_block_reserve(&island->body_block, source, n_all,
                                        sizeof *island->bodies);
  if (island->bodies == NULL) return false;
  dWorldGetBodies(world, island->bodies, n_all);
  for (size_t b = 0; b < n_all; b++) {
    if (!dBodyIsEnabled(island->bodies[b])) continue;
    n_joints += (size_t)dBodyGetNumJoints(island->bodies[b]);
    island->bodies[island->n_bodies++] = island->bodies[b];
  }
  island->joints = memory_block_reserve(&island->joint_block, source, n_joints,
                                        sizeof *island->joints);
  if (island->joints == NULL) return false;
  for (unsigned b = 0; b < island->n_bodies; b++)
    for (int j = 0; j < dBodyGetNumJoints(island->bodies[b]); j++) {
      dJointID joint = dBodyGetJoint(island->bodies[b], j);
      if (dJointIsEnabled(joint)) island->joints[island->n_joints++] = joint;
    }
  if (island->n_joints > 1)
    qsort(island->joints, island->n_joints, sizeof *island->joints,
          compare_joints);
  unsigned kept = 0;
  for (unsigned j = 0; j < island->n_joints; j++)
    if (kept == 0 || island->joints[kept - 1] != island->joints[j])
      island->joints[kept++] = island->joints[j];
  island->n_joints = kept;
  return true;
}

/* What is asked for and what is found. */
typedef struct jam_search {
  world_form *form;
  form_view view;
  form_answer answer;
  cone_check cone;
  char *jams; /* the caller's, each of its own size */
  size_t jam_size;
  int room, count;
} jam_search;

static dBodyID body_of(const world_form *form, int body) {
  return body >= 0 ? form->bodies[body].id : NULL;
}

static void add_jam(jam_search *s, const int body[2], const double position[3],
                    dJointID joint) {
  if (s->count < s->room) {
    ode_mlcp_jam jam = {.joint = joint};
    for (int side = 0; side < 2; side++)
      jam.body[side] = body_of(s->form, body[side]);
    for (int i = 0; i < 3 && position != NULL; i++)
      jam.position[i] = position[i];
    sized_copy(s->jams + (size_t)s->count * s->jam_size, s->jam_size, &jam,
               sizeof jam);
  }
  s->count++;
}

static void collect(jam_search *s) {
  const world_form *form = s->form;
  for (int k = 0; k < s->view.n_contacts; k++) {
    const form_contact *contact = &s->view.contacts[k];
    if (!(s->answer.contact_impulse[6 * k] > 0)) continue;
    add_jam(s, contact->reading.body, contact->reading.position,
            contact->joint >= 0 ? form->joints[contact->joint].id : NULL);
  }
  for (int j = 0; j < form->n_joints; j++) {
    bool jams = false;
    for (int r = 0; r < 6; r++) jams |= s->answer.joint_impulse[6 * j + r] > 0;
    if (jams) add_jam(s, form->joints[j].body, NULL, form->joints[j].id);
  }
}

static bool search(jam_search *s, const memory_source *source) {
  const world_form *form = s->form;
  memory_block block = {NULL, 0};
  for (int k = 0; k < s->view.n_contacts; k++)
    s->view.contacts[k].active =
        (s->view.contacts[k].joint >= 0 && s->view.contacts[k].stop < 0) ||
        s->view.contacts[k].gap <= TOUCHING;
  double *at_rest = memory_block_reserve(
      &block, source, 6 * (size_t)form->n_bodies, sizeof *at_rest);
  if (at_rest == NULL) return false;
  memset(at_rest, 0, 6 * (size_t)form->n_bodies * sizeof *at_rest);
  form_request request = {.rows = FORM_IMPACT,
                          .step_size = 1,
                          .scale = 1,
                          .x_free = at_rest,
                          .cone = &s->cone,
                          .slip_floor = 1e-9};
  bool checked = form_solve(s->form, &s->view, &request, &s->answer);
  memory_block_release(&block, source);
  if (checked) collect(s);
  return checked;
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

  /* a step's worth of contacts: those that touch */
  world_island island = {0};
  island_result result = {0};
  jam_search s = {
      .form = world_form_create(source), .jams = (char *)jams,
      .jam_size = jam_size, .room = room};
  ode_mlcp_error error = ODE_MLCP_NO_MEMORY;
  if (s.form != NULL && list_world(&island, source, world)) {
    dStepperIsland all = {.world = world,
                          .stepsize = 1e-6,
                          .bodies_count = island.n_bodies,
                          .joints_count = island.n_joints,
                          .bodies = island.bodies,
                          .joints = island.joints};
    s.form->contacts = contacts;
    bool checked =
        (contacts->function == NULL ||
         contact_source_collect(contacts, world, all.stepsize, options->margin,
                                &contacts->list)) &&
        world_form_read(s.form, world, all.stepsize, 0, &all, 1, options,
                        &result) &&
        form_view_evaluate(s.form, &s.view, NULL, NULL, all.stepsize) &&
        search(&s, source);
    error = checked ? ODE_MLCP_OK : ODE_MLCP_STEP_FAILED;
  }
  if (error == ODE_MLCP_OK) {
    *pointed = s.count == 0;
    *n_jams = s.count;
  }
  memory_block_release(&island.body_block, source);
  memory_block_release(&island.joint_block, source);
  if (s.form != NULL) {
    form_view_release(&s.view, source);
    form_answer_release(&s.answer, source);
    cone_check_release(&s.cone, source);
    world_form_destroy(s.form);
  }
  return error;
}
