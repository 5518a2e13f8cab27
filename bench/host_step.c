#include "host_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ode/stepper.h>

#include "bench_clock.h"
#include "gap/real.h"
#include "lcp_form.h"
#include "ode_mlcp.h"
#include "stepper/process.h"

/* ---- states ----------------------------------------------------------- */

static void *get(size_t count, size_t size) {
  void *block = calloc(count > 0 ? count : 1, size);
  if (block == NULL) abort();
  return block;
}

void scene_state_create(scene_state *state, const scene *scene) {
  state->n_bodies = scene->n_bodies;
  state->numbers = get((size_t)scene->n_bodies, sizeof *state->numbers);
}

void scene_state_release(scene_state *state) { free(state->numbers); }

void scene_state_read(scene_state *state, const scene *scene) {
  for (int b = 0; b < state->n_bodies; b++) {
    double *numbers = state->numbers[b];
    real_read(numbers, dBodyGetPosition(scene->bodies[b]), 3);
    real_read(numbers + 3, dBodyGetQuaternion(scene->bodies[b]), 4);
    real_read(numbers + 7, dBodyGetLinearVel(scene->bodies[b]), 3);
    real_read(numbers + 10, dBodyGetAngularVel(scene->bodies[b]), 3);
  }
}

void scene_state_write(const scene_state *state, scene *scene) {
  for (int b = 0; b < state->n_bodies; b++) {
    const double *n = state->numbers[b];
    dBodyID body = scene->bodies[b];
    dBodySetPosition(body, n[0], n[1], n[2]);
    dQuaternion q;
    real_write(q, n + 3, 4);
    dBodySetQuaternion(body, q);
    dBodySetLinearVel(body, n[7], n[8], n[9]);
    dBodySetAngularVel(body, n[10], n[11], n[12]);
    dBodySetForce(body, 0, 0, 0);
    dBodySetTorque(body, 0, 0, 0);
    dBodyEnable(body);
  }
}

/* ---- which rows are whose --------------------------------------------- */

/* A problem and the contact joint behind each of its normal rows. */
struct host_part {
  mlcp_stored stored;
  int *joint_of_row; /* [n_rows] into the case's joints, -1 */
  double *p, *v, *beta, *lambda, *scratch;
};

static int joint_number(const host_case *opened, dJointID joint) {
  // the latest first: they are of the island that is being read
  for (int i = opened->n_joints; i-- > 0;)
    if (opened->joints[i] == joint) return i;
  return -1;
}

static void add_joints(host_case *opened, const dStepperIsland *island) {
  size_t room = (size_t)opened->n_joints + island->joints_count;
  opened->joints = realloc(opened->joints, (room + 1) * sizeof(dJointID));
  if (opened->joints == NULL) abort();
  for (unsigned j = 0; j < island->joints_count; j++) {
    if (dJointGetType(island->joints[j]) != dJointTypeContact)
      opened->jointed = true;
    else
      opened->joints[opened->n_joints++] = island->joints[j];
  }
}

static void keep_part(void *context, const solved_component *solved) {
  host_case *opened = context;
  const mlcp_problem *problem = solved->problem;
  if (problem->n_rows == 0 || solved->moves_only) return;
  // a problem that is solved again, changed, is not the host's
  static size_t last_island;
  static int last_part;
  if (opened->n_parts > 0 && solved->island == last_island &&
      solved->component == last_part)
    return;
  last_island = solved->island;
  last_part = solved->component;
  const dStepperIsland *island = solved->host_island;
  if (solved->component == 0) add_joints(opened, island);
  size_t count = (size_t)opened->n_parts + 1;
  opened->parts = realloc(opened->parts, count * sizeof *opened->parts);
  if (opened->parts == NULL) abort();
  host_part *own = &opened->parts[opened->n_parts++];
  memset(own, 0, sizeof *own);
  if (!mlcp_stored_copy(&own->stored, &memory_from_malloc, problem, NULL))
    abort();
  size_t n_rows = (size_t)problem->n_rows;
  own->joint_of_row = get(n_rows, sizeof *own->joint_of_row);
  own->p = get(n_rows, sizeof(double));
  own->v = get(6 * (size_t)problem->n_bodies, sizeof(double));
  own->scratch = get(6 * (size_t)problem->n_bodies, sizeof(double));
  own->beta = get(2 * (size_t)problem->n_pairs, sizeof(double));
  own->lambda = get((size_t)problem->n_frictions, sizeof(double));
  for (size_t r = 0; r < n_rows; r++)
    own->joint_of_row[r] =
        problem->rows[r].kind == MLCP_ROW_NORMAL
            ? joint_number(opened, island->joints[solved->joint_of_row[r]])
            : -1;
}

bool host_case_open(host_case *opened, const library_entry *entry) {
  memset(opened, 0, sizeof *opened);
  opened->scene = library_bring(entry);
  if (opened->scene == NULL) return false;
  scene_state_create(&opened->start, opened->scene);
  scene_state_read(&opened->start, opened->scene);

  process_observe_solves(keep_part, opened);
  ode_mlcp_options hasty;
  ode_mlcp_default_options(&hasty);
  hasty.tolerance = 0.99; // the problem is wanted, not its solution
  bool taken = ode_mlcp_attach(opened->scene->world, &hasty) == ODE_MLCP_OK &&
               dWorldStep(opened->scene->world, LIBRARY_STEP) != 0;
  process_observe_solves(NULL, NULL);
  ode_mlcp_detach(opened->scene->world);
  if (!taken) {
    host_case_close(opened);
    return false;
  }
  opened->feedback = get((size_t)opened->n_joints, sizeof *opened->feedback);
  for (int i = 0; i < opened->n_joints; i++)
    dJointSetFeedback(opened->joints[i], &opened->feedback[i]);
  return true;
}

void host_case_close(host_case *opened) {
  for (int k = 0; k < opened->n_parts; k++) {
    host_part *part = &opened->parts[k];
    mlcp_stored_release(&part->stored);
    void *arrays[] = {part->joint_of_row, part->p,      part->v,
                      part->scratch,      part->lambda, part->beta};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
  }
  free(opened->parts);
  scene_destroy(opened->scene);
  scene_state_release(&opened->start);
  free(opened->joints);
  free(opened->feedback);
  memset(opened, 0, sizeof *opened);
}

/* ---- residuals -------------------------------------------------------- */

/* Add a contact's force to the impulses of its rows: `first` is the normal, the
 * friction rows follow. */
static void add_force(const mlcp_problem *problem, double p[], int first,
                      const dReal force[3]) {
  for (int r = first; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    if (r > first && row->kind != MLCP_ROW_FRICTION) break;
    // the force acts on the row's first body, the opposite on the second
    int side = row->body[0] >= 0 ? 0 : 1;
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += row->J[side][i] * force[i];
    p[r] += LIBRARY_STEP * (side == 0 ? sum : -sum);
  }
}

/* The row of the contact that joint `i` was merged into: of the same bodies,
 * the nearest. */
static int merged_into(const host_case *opened, const host_part *part, int i) {
  const dContact *mine = dJointGetStepperContact(opened->joints[i]);
  double nearest = 1e-3;
  int row = -1;
  for (int r = 0; r < part->stored.problem.n_rows; r++) {
    int other = part->joint_of_row[r];
    if (other < 0 ||
        dJointGetBody(opened->joints[other], 0) !=
            dJointGetBody(opened->joints[i], 0) ||
        dJointGetBody(opened->joints[other], 1) !=
            dJointGetBody(opened->joints[i], 1))
      continue;
    const dReal *a = mine->geom.pos;
    const dReal *b = dJointGetStepperContact(opened->joints[other])->geom.pos;
    double apart =
        sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
             (a[2] - b[2]) * (a[2] - b[2]));
    if (apart < nearest) {
      nearest = apart;
      row = r;
    }
  }
  return row;
}

static double residual_of(const host_case *opened, double *own) {
  bool *used = get((size_t)opened->n_joints, sizeof *used);
  double worst = 0;
  for (int k = 0; k < opened->n_parts; k++) {
    const host_part *part = &opened->parts[k];
    memset(part->p, 0, (size_t)part->stored.problem.n_rows * sizeof(double));
    for (int r = 0; r < part->stored.problem.n_rows; r++) {
      int joint = part->joint_of_row[r];
      if (joint < 0) continue;
      used[joint] = true;
      add_force(&part->stored.problem, part->p, r, opened->feedback[joint].f1);
    }
  }
  for (int i = 0; i < opened->n_joints; i++)
    for (int k = 0; k < opened->n_parts && !used[i]; k++) {
      const host_part *part = &opened->parts[k];
      int row = merged_into(opened, part, i);
      if (row < 0) continue;
      used[i] = true;
      add_force(&part->stored.problem, part->p, row, opened->feedback[i].f1);
    }
  for (int k = 0; k < opened->n_parts; k++) {
    const host_part *part = &opened->parts[k];
    const mlcp_solution solution = {part->v, part->p, part->beta, part->lambda};
    lcp_form_from_impulses(&part->stored.problem, &solution);
    worst = fmax(
        worst, mlcp_residual(&part->stored.problem, &solution, part->scratch));
    *own = fmax(*own, lcp_form_box_residual(&part->stored.problem, &solution));
  }
  free(used);
  return worst;
}

double host_case_step(host_case *opened, int sweeps, double *seconds,
                      double *own) {
  dWorldID world = opened->scene->world;
  scene_state_write(&opened->start, opened->scene);
  dRandSetSeed(1); // quick steps shuffle their rows
  if (sweeps > 0) dWorldSetQuickStepNumIterations(world, sweeps);
  double start = bench_seconds();
  if (sweeps > 0)
    dWorldQuickStep(world, LIBRARY_STEP);
  else
    dWorldStep(world, LIBRARY_STEP);
  *seconds = bench_seconds() - start;
  *own = opened->jointed ? NAN : 0;
  double residual = opened->jointed ? NAN : residual_of(opened, own);
  scene_state_write(&opened->start, opened->scene);
  return residual;
}
