/* A world's collision as a problem on plain arrays: ode_mlcp.h. */
#include "step/impact_world.h"

#include <math.h>
#include <ode/stepper.h>
#include <stdio.h>
#include <string.h>

#include "common/vec3.h"
#include "host/patched_host.h"
#include "impacts/joint_free.h"
#include "step/memory.h"

/* as many contacts and coordinates as an impact takes */
enum { MOST = 1000 };

/* Coordinates y = L' V in which the bodies' masses are 1, M = L L'. */
typedef struct mass_root {
  double linear;     /* sqrt(kg) */
  double angular[9]; /* lower triangle */
} mass_root;

/* Work on the way from the reading to the problem. */
typedef struct assembly {
  const world_reading *reading;
  int n;           /* 6 n_moved */
  int n_free;      /* s */
  bool natural;    /* no joints: coordinates are the bodies' velocities */
  mass_root *root; /* [n_moved] */
  double *y;       /* [n] velocities before */
  double *ties;    /* n_ties x n */
  double *targets; /* [n_ties] */
  double *basis;   /* n x n */
  double *offset;  /* [n] */
  double *rows;    /* 3 n_touches x s: contact rows in the coordinates */
  double *surface; /* [3 n_touches] */
  double *dense;   /* [n] a row */
  memory_block root_block, number_block;
} assembly;

/* --- mass -------------------------------------------------------------- */

static bool factor_mass(const host_body *body, mass_root *root) {
  memset(root, 0, sizeof *root);
  root->linear = sqrt(body->mass);
  double *L = root->angular;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j <= i; j++) {
      double sum = body->inertia[3 * i + j];
      for (int k = 0; k < j; k++) sum -= L[3 * i + k] * L[3 * j + k];
      if (i == j && !(sum > 1e-13 * body->inertia[4 * i])) return false;
      L[3 * i + j] = i == j ? sqrt(sum) : sum / L[4 * j];
    }
  return true;
}

/* L^-1 x, for rows: J V = (L^-1 J')' y */
static void solve_lower(const mass_root *root, double x[6]) {
  const double *L = root->angular;
  for (int i = 0; i < 3; i++) {
    x[i] /= root->linear;
    for (int k = 0; k < i; k++) x[3 + i] -= L[3 * i + k] * x[3 + k];
    x[3 + i] /= L[4 * i];
  }
}

/* L^-T y, back to velocities */
static void solve_upper(const mass_root *root, double y[6]) {
  const double *L = root->angular;
  for (int i = 2; i >= 0; i--) {
    y[i] /= root->linear;
    for (int k = i + 1; k < 3; k++) y[3 + i] -= L[3 * k + i] * y[3 + k];
    y[3 + i] /= L[4 * i];
  }
}

/* L' V */
static void times_upper(const mass_root *root, const double v[6],
                        double y[6]) {
  const double *L = root->angular;
  for (int i = 0; i < 3; i++) {
    y[i] = root->linear * v[i];
    y[3 + i] = 0;
    for (int k = i; k < 3; k++) y[3 + i] += L[3 * k + i] * v[3 + k];
  }
}

/* --- rows -------------------------------------------------------------- */

/* A row on the moved bodies, in natural coordinates or in y. */
static void spread(const assembly *work, const int body[2],
                   const double J[2][6], double row[]) {
  memset(row, 0, (size_t)work->n * sizeof *row);
  for (int side = 0; side < 2; side++) {
    int place = body[side] < 0 ? -1 : work->reading->place[body[side]];
    if (place < 0) continue;
    double *at = &row[6 * place];
    memcpy(at, J[side], 6 * sizeof *at);
    if (!work->natural) solve_lower(&work->root[place], at);
  }
}

static double dot(const double a[], const double b[], int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static ode_mlcp_error complain(const world_reading *reading,
                               const char *what) {
  snprintf(reading->message, reading->message_size, "%s", what);
  return ODE_MLCP_BAD_ARGUMENT;
}

/* The coordinates that joints leave free. */
static ode_mlcp_error reduce(assembly *work) {
  const world_reading *reading = work->reading;
  double scale = 0;
  for (int i = 0; i < reading->n_ties; i++) {
    const world_tie *tie = &reading->ties[i];
    double *row = &work->ties[i * work->n];
    spread(work, tie->body, tie->J, row);
    double target = tie->target - world_reading_speed(
                        reading, tie->body, tie->J, true);
    /* rows of metres and of radians count the same */
    double length = sqrt(dot(row, row, work->n));
    for (int k = 0; k < work->n && length > 0; k++) row[k] /= length;
    work->targets[i] = length > 0 ? target / length : target;
    scale = fmax(scale, fabs(work->targets[i]));
  }
  for (int k = 0; k < work->n; k++) scale = fmax(scale, fabs(work->y[k]));
  double misfit;
  joint_free_basis(work->n, reading->n_ties, work->ties, work->targets,
                   work->basis, work->offset, &work->n_free, &misfit);
  if (misfit > 1e-6 * scale)
    return complain(reading, "joints drive bodies against each other");
  return ODE_MLCP_OK;
}

/* Contact row `direction` of touch i in the coordinates; false where no
 * coordinate has a part in it. */
static bool reduce_row(assembly *work, int i, int direction) {
  const world_touch *touch = &work->reading->touches[i];
  const double(*J)[6] = touch->J[direction];
  int s = work->n_free, at = 3 * i + direction;
  double *row = &work->rows[(size_t)at * (size_t)s];
  spread(work, touch->body, J, work->dense);
  work->surface[at] =
      touch->surface[direction] +
      world_reading_speed(work->reading, touch->body, J, true) +
      dot(work->dense, work->offset, work->n);
  if (work->natural) {
    memcpy(row, work->dense, (size_t)s * sizeof *row);
  } else {
    for (int j = 0; j < s; j++)
      row[j] = dot(work->dense, &work->basis[j * work->n], work->n);
  }
  double whole = dot(work->dense, work->dense, work->n);
  if (dot(row, row, s) > 1e-18 * whole) return true;
  memset(row, 0, (size_t)s * sizeof *row);
  return false;
}

/* Contacts that nothing could push are left out. */
static ode_mlcp_error reduce_touches(assembly *work, world_reading *reading) {
  int kept = 0;
  for (int i = 0; i < reading->n_touches; i++) {
    reading->touches[kept] = reading->touches[i];
    if (!reduce_row(work, kept, 0)) {
      if (work->surface[3 * kept] < -1e-6)
        return complain(reading,
                        "a contact closes by itself, and its bodies are held");
      reading->left_out++;
      continue;
    }
    for (int d = 1; d < 3; d++) reduce_row(work, kept, d);
    kept++;
  }
  reading->n_touches = kept;
  return ODE_MLCP_OK;
}

/* --- tangents ---------------------------------------------------------- */

/* The direction of sliding that joints leave a contact, a unit vector along its
 * two tangents; false where they leave both. */
static bool only_slide(const assembly *work, int i, double along[2]) {
  int s = work->n_free;
  const double *first = &work->rows[(size_t)(3 * i + 1) * (size_t)s];
  const double *second = first + s;
  double a = dot(first, first, s), b = dot(first, second, s);
  double c = dot(second, second, s);
  along[0] = 1;
  along[1] = 0;
  if (!(a + c > 0)) return true;
  /* the larger eigenvalue of [a b; b c] and its eigenvector */
  double larger = (a + c) / 2 + hypot((a - c) / 2, b);
  if (a + c - larger > 1e-14 * larger) return false;
  along[0] = a >= c ? larger - c : b;
  along[1] = a >= c ? b : larger - a;
  double length = hypot(along[0], along[1]);
  double main = fabs(along[0]) > 1e-7 * length ? along[0] : along[1];
  for (int d = 0; d < 2; d++) along[d] /= copysign(length, main);
  return true;
}

static bool is_planar(const assembly *work) {
  double along[2];
  for (int i = 0; i < work->reading->n_touches; i++)
    if (!only_slide(work, i, along)) return false;
  return true;
}

/* The coefficient along a direction: the ellipse with half axes mu. */
static double mu_along(const double mu[2], const double along[2]) {
  double sum = 0;
  for (int d = 0; d < 2; d++) {
    if (fabs(along[d]) < 1e-7) continue;
    if (mu[d] == 0) return 0;
    sum += along[d] * along[d] / (mu[d] * mu[d]);
  }
  return 1 / sqrt(sum);
}

/* --- the result -------------------------------------------------------- */

/* The arrays of the problem, in one block. */
static bool lay_out(ode_mlcp_world_impact *impact, const assembly *work,
                    int n_tangents) {
  const world_reading *reading = work->reading;
  size_t s = (size_t)work->n_free, n = (size_t)work->n;
  size_t m = (size_t)reading->n_touches, t = (size_t)n_tangents;
  size_t n_numbers = s * s + m * s * (1 + t) + m + s + m * (1 + t) + n * s + n;
  size_t n_bodies = (size_t)reading->n_moved;
  impact->struct_size = sizeof *impact;
  impact->block_size = n_numbers * sizeof(double) +
                       n_bodies * sizeof(dBodyID) + m * sizeof(dJointID);
  impact->block = reading->source->allocate(reading->source->context,
                                            impact->block_size);
  if (impact->block == NULL) return false;
  memset(impact->block, 0, impact->block_size);

  double *next = impact->block;
  ode_mlcp_impact_problem *problem = &impact->problem;
  problem->n_velocities = work->n_free;
  problem->n_contacts = reading->n_touches;
  problem->n_tangents = n_tangents;
  problem->M = next;
  problem->Jn = next += s * s;
  problem->Jt = next += m * s;
  problem->mu = next += m * t * s;
  problem->v = next += m;
  problem->surface = next += s;
  impact->velocity_map = next += m * (1 + t);
  impact->velocity_offset = next += n * s;
  impact->n_bodies = reading->n_moved;
  impact->bodies = (dBodyID *)(next + n);
  impact->joints = (dJointID *)(impact->bodies + n_bodies);
  return true;
}

static void fill_bodies(const ode_mlcp_world_impact *impact,
                        const assembly *work) {
  const world_reading *reading = work->reading;
  int s = work->n_free, n = work->n;
  double *M = (double *)impact->problem.M, *v = (double *)impact->problem.v;
  for (int b = 0; b < reading->n_bodies; b++) {
    int place = reading->place[b];
    if (place < 0) continue;
    const host_body *body = &reading->bodies[b];
    impact->bodies[place] = body->id;
    if (!work->natural) continue;
    memcpy(&v[6 * place], body->v, sizeof body->v);
    for (int i = 0; i < 3; i++) {
      M[(6 * place + i) * (s + 1)] = body->mass;
      for (int k = 0; k < 3; k++)
        M[(6 * place + 3 + i) * s + 6 * place + 3 + k] =
            body->inertia[3 * i + k];
    }
  }
  if (work->natural) {
    for (int i = 0; i < n; i++) impact->velocity_map[i * (s + 1)] = 1;
    return;
  }
  for (int j = 0; j < s; j++) {
    double *column = &work->basis[j * n];
    M[j * (s + 1)] = 1;
    v[j] = dot(column, work->y, n);
    for (int p = 0; p < reading->n_moved; p++)
      solve_upper(&work->root[p], &column[6 * p]);
    for (int i = 0; i < n; i++) impact->velocity_map[i * s + j] = column[i];
  }
  memcpy(impact->velocity_offset, work->offset, (size_t)n * sizeof(double));
  for (int p = 0; p < reading->n_moved; p++)
    solve_upper(&work->root[p], &impact->velocity_offset[6 * p]);
}

static void fill_contacts(const ode_mlcp_world_impact *impact,
                          const assembly *work) {
  const ode_mlcp_impact_problem *problem = &impact->problem;
  int s = work->n_free, t = problem->n_tangents;
  double *Jn = (double *)problem->Jn, *Jt = (double *)problem->Jt;
  double *mu = (double *)problem->mu, *surface = (double *)problem->surface;
  for (int i = 0; i < problem->n_contacts; i++) {
    const world_touch *touch = &work->reading->touches[i];
    const double *row = &work->rows[(size_t)(3 * i) * (size_t)s];
    const double *own_surface = &work->surface[3 * i];
    impact->joints[i] = touch->joint;
    memcpy(&Jn[i * s], row, (size_t)s * sizeof *Jn);
    surface[i * (1 + t)] = own_surface[0];

    double along[2], share[2];
    if (t == 1) {
      only_slide(work, i, along);
      mu[i] = mu_along(touch->mu, along);
      for (int j = 0; j < s; j++)
        Jt[i * s + j] = along[0] * row[s + j] + along[1] * row[2 * s + j];
      surface[2 * i + 1] =
          along[0] * own_surface[1] + along[1] * own_surface[2];
      continue;
    }
    /* an edge is as long as its coefficient */
    mu[i] = fmax(touch->mu[0], touch->mu[1]);
    for (int d = 0; d < 2; d++) {
      share[d] = mu[i] > 0 ? touch->mu[d] / mu[i] : 1;
      for (int j = 0; j < s; j++)
        Jt[(2 * i + d) * s + j] = share[d] * row[(1 + d) * s + j];
      surface[3 * i + 1 + d] = share[d] * own_surface[1 + d];
    }
  }
}

static double joint_jump(const ode_mlcp_world_impact *impact,
                         const assembly *work) {
  double worst = 0;
  int s = work->n_free;
  for (int b = 0; b < work->reading->n_bodies && !work->natural; b++) {
    int place = work->reading->place[b];
    for (int k = 0; k < 6 && place >= 0; k++) {
      int i = 6 * place + k;
      double v = impact->velocity_offset[i] +
                 dot(&impact->velocity_map[i * s], impact->problem.v, s);
      worst = fmax(worst, fabs(v - work->reading->bodies[b].v[k]));
    }
  }
  return worst;
}

/* --- assembling -------------------------------------------------------- */

static bool open_assembly(assembly *work) {
  const world_reading *reading = work->reading;
  size_t n = (size_t)work->n, n_ties = (size_t)reading->n_ties;
  size_t n_rows = 3 * (size_t)reading->n_touches;
  size_t n_basis = work->natural ? 0 : n * n;
  work->root = memory_block_reserve(&work->root_block, reading->source,
                                    (size_t)reading->n_moved,
                                    sizeof *work->root);
  double *next = memory_block_reserve(
      &work->number_block, reading->source,
      3 * n + n_ties * (n + 1) + n_basis + n_rows * (n + 1), sizeof *next);
  if (work->root == NULL || next == NULL) return false;
  work->y = next;
  work->offset = next += n;
  work->dense = next += n;
  work->ties = next += n;
  work->targets = next += n_ties * n;
  work->basis = next += n_ties;
  work->rows = next += n_basis;
  work->surface = next + n_rows * n;
  memset(work->offset, 0, n * sizeof *work->offset);
  return true;
}

static ode_mlcp_error assemble(assembly *work, world_reading *reading,
                               ode_mlcp_world_impact *impact) {
  if (!open_assembly(work)) return ODE_MLCP_NO_MEMORY;
  for (int b = 0; b < reading->n_bodies; b++) {
    int place = reading->place[b];
    if (place < 0) continue;
    if (!factor_mass(&reading->bodies[b], &work->root[place]))
      return complain(reading, "an inertia is not positive definite");
    times_upper(&work->root[place], reading->bodies[b].v,
                &work->y[6 * place]);
  }
  work->n_free = work->n;
  ode_mlcp_error error = work->natural ? ODE_MLCP_OK : reduce(work);
  if (error != ODE_MLCP_OK) return error;
  if (work->n_free > MOST)
    return complain(reading, "more than 1000 free coordinates collide");
  error = reduce_touches(work, reading);
  if (error != ODE_MLCP_OK || reading->n_touches == 0) return error;

  if (!lay_out(impact, work, is_planar(work) ? 1 : 2))
    return ODE_MLCP_NO_MEMORY;
  fill_contacts(impact, work);
  fill_bodies(impact, work);
  impact->contacts_left_out = reading->left_out;
  impact->joint_jump = joint_jump(impact, work);
  return ODE_MLCP_OK;
}

ode_mlcp_error world_reading_build(world_reading *reading,
                                   ode_mlcp_world_impact **impact_out) {
  *impact_out = NULL;
  if (reading->n_touches == 0 || reading->n_moved == 0) return ODE_MLCP_OK;
  if (reading->n_touches > MOST)
    return complain(reading, "more than 1000 contacts collide");
  if (reading->n_moved > MOST / 2)
    return complain(reading, "more than 500 bodies collide");
  const memory_source *source = reading->source;
  ode_mlcp_world_impact *impact = memory_allocate_zero(source, sizeof *impact);
  if (impact == NULL) return ODE_MLCP_NO_MEMORY;

  assembly work = {.reading = reading, .n = 6 * reading->n_moved,
                   .natural = reading->n_ties == 0};
  ode_mlcp_error error = assemble(&work, reading, impact);
  memory_block_release(&work.root_block, source);
  memory_block_release(&work.number_block, source);
  if (error == ODE_MLCP_OK && impact->block != NULL)
    *impact_out = impact;
  else
    ode_mlcp_world_impact_destroy(impact);
  return error;
}

/* --- the public face --------------------------------------------------- */

ode_mlcp_error
ode_mlcp_impact_problem_of_world(dWorldID world, const dContact contacts[],
                                 int n_contacts,
                                 ode_mlcp_world_impact **impact, char *message,
                                 size_t message_size) {
  char nowhere[1];
  if (message == NULL || message_size == 0) {
    message = nowhere;
    message_size = sizeof nowhere;
  }
  message[0] = '\0';
  if (impact == NULL) return ODE_MLCP_BAD_ARGUMENT;
  *impact = NULL;
  if (world == NULL || n_contacts < 0 || (n_contacts > 0 && contacts == NULL))
    return ODE_MLCP_BAD_ARGUMENT;
  if (patched_host_fault() != NULL) return ODE_MLCP_WRONG_HOST;

  world_reading reading = {.source = step_memory, .message = message,
                           .message_size = message_size};
  ode_mlcp_error error =
      world_reading_fill(&reading, world, contacts, n_contacts);
  if (error == ODE_MLCP_OK) {
    world_reading_select(&reading);
    error = world_reading_build(&reading, impact);
  }
  world_reading_release(&reading);
  return error;
}

void ode_mlcp_world_impact_destroy(ode_mlcp_world_impact *impact) {
  if (impact == NULL) return;
  const memory_source *source = step_memory;
  if (impact->block != NULL)
    source->release(source->context, impact->block, impact->block_size);
  source->release(source->context, impact, sizeof *impact);
}

void ode_mlcp_world_impact_velocities(const ode_mlcp_world_impact *impact,
                                      const double v[], double velocities[]) {
  int s = impact->problem.n_velocities;
  for (int i = 0; i < 6 * impact->n_bodies; i++)
    velocities[i] = impact->velocity_offset[i] +
                    dot(&impact->velocity_map[(size_t)i * (size_t)s], v, s);
}

/* The velocity of body b. */
static void velocity_of(const ode_mlcp_world_impact *impact, int b,
                        const double v[], double velocity[6]) {
  ode_mlcp_world_impact one = *impact;
  size_t first = 6 * (size_t)b;
  one.n_bodies = 1;
  one.velocity_map += first * (size_t)impact->problem.n_velocities;
  one.velocity_offset += first;
  ode_mlcp_world_impact_velocities(&one, v, velocity);
}

ode_mlcp_error
ode_mlcp_world_impact_apply(const ode_mlcp_world_impact *impact,
                            const double v[]) {
  double next[6];
  for (int b = 0; b < impact->n_bodies; b++) {
    velocity_of(impact, b, v, next);
    if (!all_finite(next, 6)) return ODE_MLCP_BAD_ARGUMENT;
  }
  for (int b = 0; b < impact->n_bodies; b++) {
    velocity_of(impact, b, v, next);
    dBodyID body = impact->bodies[b];
    const dReal *linear = dBodyGetLinearVel(body);
    const dReal *angular = dBodyGetAngularVel(body);
    double change = 0;
    for (int i = 0; i < 3; i++)
      change = fmax(change, fmax(fabs(next[i] - linear[i]),
                                 fabs(next[3 + i] - angular[i])));
    if (!(change > 0)) continue;
    dBodySetLinearVel(body, next[0], next[1], next[2]);
    dBodySetAngularVel(body, next[3], next[4], next[5]);
    dBodyEnable(body);
  }
  return ODE_MLCP_OK;
}
