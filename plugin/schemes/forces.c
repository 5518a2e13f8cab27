#include "schemes/forces.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/disjoint_sets.h"
#include "common/vec3.h"
#include "gap/real.h"
#include "world/rotation.h"

struct ode_mlcp_force {
  force_list *list;
  const memory_source *source;
  ode_mlcp_force *next;
  unsigned long serial[2];           /* of the bodies; 0: none */
  ode_mlcp_spring spring;            /* anchors in the frames of the bodies */
  ode_mlcp_force_function *function; /* NULL: a spring */
  void *context;
  bool ended; /* destroyed while the list was held */
};

/* --- the list ------------------------------------------------------------- */

static ode_mlcp_force *add_force(force_list *list,
                                 const memory_source *source) {
  ode_mlcp_force *force = memory_allocate_zero(source, sizeof *force);
  if (force == NULL) return NULL;
  force->list = list;
  force->source = source;
  ode_mlcp_force **end = &list->first;
  while (*end != NULL) end = &(*end)->next;
  *end = force;
  return force;
}

static bool spring_valid(dWorldID world, const ode_mlcp_spring *spring) {
  if (world == NULL || spring == NULL || spring->body[0] == NULL ||
      spring->body[0] == spring->body[1])
    return false;
  for (int side = 0; side < 2; side++)
    if ((spring->body[side] != NULL &&
         dBodyGetWorld(spring->body[side]) != world) ||
        !all_finite(spring->anchor[side], 3))
      return false;
  if (spring->along_axis &&
      (!all_finite(spring->axis, 3) || !(vec3_length(spring->axis) > 0)))
    return false;
  return spring->stiffness >= 0 && isfinite(spring->stiffness) &&
         spring->damping >= 0 && isfinite(spring->damping) &&
         isfinite(spring->length);
}

ode_mlcp_error forces_add_spring(force_list *list, const memory_source *source,
                                 dWorldID world, const ode_mlcp_spring *spring,
                                 ode_mlcp_force **force) {
  if (!spring_valid(world, spring)) return ODE_MLCP_BAD_ARGUMENT;
  ode_mlcp_force *made = add_force(list, source);
  if (made == NULL) return ODE_MLCP_NO_MEMORY;
  made->spring = *spring;
  for (int side = 0; side < 2; side++) {
    const double *x = spring->anchor[side];
    dVector3 local;
    if (spring->body[side] == NULL) continue;
    made->serial[side] = dBodyGetSerial(spring->body[side]);
    dBodyGetPosRelPoint(spring->body[side], x[0], x[1], x[2], local);
    real_read(made->spring.anchor[side], local, 3);
  }
  double length = spring->along_axis ? vec3_length(spring->axis) : 1;
  for (int i = 0; i < 3; i++) made->spring.axis[i] /= length;
  list->n_springs++;
  *force = made;
  return ODE_MLCP_OK;
}

ode_mlcp_error forces_add_function(force_list *list,
                                   const memory_source *source, dBodyID body,
                                   ode_mlcp_force_function *f, void *context,
                                   ode_mlcp_force **force) {
  ode_mlcp_force *made = add_force(list, source);
  if (made == NULL) return ODE_MLCP_NO_MEMORY;
  made->spring.body[0] = body;
  made->serial[0] = dBodyGetSerial(body);
  made->function = f;
  made->context = context;
  *force = made;
  return ODE_MLCP_OK;
}

/* Take a force out of the list that acts. @return false where it is not there. */
static bool take_out(ode_mlcp_force *force) {
  ode_mlcp_force **place = &force->list->first;
  while (*place != NULL && *place != force) place = &(*place)->next;
  if (*place == NULL) return false;
  *place = force->next;
  if (force->function == NULL) force->list->n_springs--;
  return true;
}

static bool is_there(const dBodyID bodies[], size_t n, dBodyID body,
                     unsigned long serial) {
  if (body == NULL) return true;
  for (size_t b = 0; b < n; b++)
    if (bodies[b] == body) return dBodyGetSerial(body) == serial;
  return false;
}

bool forces_drop_gone(force_list *list, const memory_source *source,
                      dWorldID world) {
  if (list->first == NULL) return true;
  size_t n = dWorldGetBodies(world, NULL, 0);
  dBodyID *bodies = source->allocate(source->context, (n + 1) * sizeof *bodies);
  if (bodies == NULL) return false;
  dWorldGetBodies(world, bodies, n);
  for (ode_mlcp_force *force = list->first, *next; force != NULL;
       force = next) {
    next = force->next;
    bool there = true;
    for (int side = 0; side < 2; side++)
      there = there && is_there(bodies, n, force->spring.body[side],
                                force->serial[side]);
    if (there) continue;
    take_out(force);
    force->next = list->gone;
    list->gone = force;
  }
  source->release(source->context, bodies, (n + 1) * sizeof *bodies);
  return true;
}

void ode_mlcp_force_destroy(ode_mlcp_force *force) {
  if (force == NULL) return;
  force->ended = true;
  if (force->list->held) return; /* a function of the list may be running */
  if (!take_out(force)) {
    ode_mlcp_force **place = &force->list->gone;
    while (*place != force) place = &(*place)->next;
    *place = force->next;
  }
  force->source->release(force->source->context, force, sizeof *force);
}

void forces_hold(force_list *list) { list->held = true; }

void forces_let_go(force_list *list) {
  list->held = false;
  ode_mlcp_force *const ends[2] = {list->first, list->gone};
  for (int k = 0; k < 2; k++)
    for (ode_mlcp_force *force = ends[k], *next; force != NULL; force = next) {
      next = force->next;
      if (force->ended) ode_mlcp_force_destroy(force);
    }
}

void forces_release(force_list *forces) {
  forces->held = false;
  while (forces->first != NULL) ode_mlcp_force_destroy(forces->first);
  while (forces->gone != NULL) ode_mlcp_force_destroy(forces->gone);
}

void forces_unite(const force_list *forces, const world_snapshot *home,
                  int set[]) {
  for (const ode_mlcp_force *force = forces->first; force != NULL;
       force = force->next) {
    int a = world_find_body(home, force->spring.body[0]);
    int b = world_find_body(home, force->spring.body[1]);
    if (a >= 0 && b >= 0) unite_sets(set, a, b);
  }
}

/* --- springs -------------------------------------------------------------- */

/* A spring where the bodies are: its length and the gradient of that. */
typedef struct spring_line {
  int body[2];
  double length;
  double J[2][6];
  double arm[2][3], span[3]; /* from the bodies' centres; between the anchors */
} spring_line;

static void find_anchor(const ode_mlcp_spring *spring, int side,
                        const world_pose *pose, double point[3],
                        double arm[3]) {
  const double *anchor = spring->anchor[side];
  vec3_copy(point, anchor);
  if (spring->body[side] == NULL) return;

  /* turned by the quaternion (w, u): a + 2 w u x a + 2 u x (u x a) */
  const double *q = pose->quaternion;
  double once[3], twice[3];
  vec3_cross(once, q + 1, anchor);
  vec3_cross(twice, q + 1, once);
  for (int i = 0; i < 3; i++) {
    arm[i] = anchor[i] + 2 * (q[0] * once[i] + twice[i]);
    point[i] = pose->position[i] + arm[i];
  }
}

/* The pose that the host has. */
static void find_line(spring_line *line, const ode_mlcp_spring *spring,
                      const world_snapshot *home, const world_pose poses[]) {
  double point[2][3], arm[2][3] = {{0}}, along[3];
  for (int side = 0; side < 2; side++) {
    dBodyID id = spring->body[side];
    int b = home != NULL ? world_find_body(home, id) : -1;
    line->body[side] = b;
    world_pose asleep;
    bool known = b >= 0 && poses != NULL;
    if (id != NULL && !known) asleep = world_pose_read(id);
    find_anchor(spring, side, known ? &poses[b] : &asleep, point[side],
                arm[side]);
  }
  vec3_subtract(along, point[0], point[1]);
  vec3_copy(line->span, along);
  memcpy(line->arm, arm, sizeof line->arm);
  if (spring->along_axis) {
    line->length = vec3_dot(spring->axis, along);
    vec3_copy(along, spring->axis);
  } else {
    line->length = vec3_length(along);
    for (int i = 0; i < 3; i++)
      along[i] = line->length > 0 ? along[i] / line->length : i == 0;
  }
  for (int side = 0; side < 2; side++) {
    double *J = line->J[side];
    for (int i = 0; i < 3; i++) J[i] = side == 0 ? along[i] : -along[i];
    vec3_cross(J + 3, arm[side], J);
  }
}

static double rest_length(const ode_mlcp_spring *spring, double time) {
  return spring->length_function != NULL
             ? spring->length_function(spring->context, time)
             : spring->length;
}

/* The direction and the arms whose product with u h is how much longer the
 * spring gets. */
static void mean_line(extra_row *row, const spring_line *start,
                      const spring_line *end, bool along_axis) {
  double along[3], arm[3];
  double sum = vec3_length(start->span) + vec3_length(end->span);
  vec3_copy(along, end->J[0]);
  for (int i = 0; i < 3 && !along_axis && sum > 0; i++)
    along[i] = (start->span[i] + end->span[i]) / sum;
  memcpy(row->body, start->body, sizeof row->body);
  for (int side = 0; side < 2; side++) {
    double *J = row->J[side];
    for (int i = 0; i < 3; i++) {
      J[i] = side == 0 ? along[i] : -along[i];
      arm[i] = 0.5 * (start->arm[side][i] + end->arm[side][i]);
    }
    vec3_cross(J + 3, arm, J);
  }
}

int forces_rows(const force_list *forces, const world_snapshot *home,
                const spring_step *over, extra_row rows[], outcome *out,
                extra_row end_rows[], int *n_end) {
  const double h = over->h, part = over->alpha / over->share;
  int count = 0;
  if (n_end != NULL) *n_end = 0;
  for (const ode_mlcp_force *force = forces->first; force != NULL;
       force = force->next) {
    const ode_mlcp_spring *spring = &force->spring;
    if (force->function != NULL) continue;
    spring_line start, end;
    find_line(&start, spring, home, over->from);
    find_line(&end, spring, home, over->to);
    extra_row *row = &rows[count];
    mean_line(row, &start, &end, spring->along_axis);
    double inverse_mass = world_row_mobility(home, row->body, row->J);
    if (!(inverse_mass > 0)) continue;

    /* the force between the two ends that is a little nearer to the later one
     * the stiffer the spring: alpha = 1/2 keeps its energy, 1 damps */
    double a = h * h * spring->stiffness * inverse_mass / 4;
    double stiff = a * a * a * a, early = (1 - over->alpha) / (1 + stiff);
    double c = h * (h * spring->stiffness * (1 - early) + spring->damping);
    if (!(c > 0)) continue;
    double rest = (1 - over->alpha) * rest_length(spring, over->time) +
                  over->alpha * rest_length(spring, over->time + h);
    double pull = spring->stiffness * (rest - start.length);
    if (!isfinite(pull)) {
      outcome_fail(out, "the force of a spring at body %lu is %g",
                   dBodyGetSerial(spring->body[0]), pull);
      return -1;
    }
    /* g'((1 - part) v + part u) + p / c - h pull / c = 0 */
    row->compliance = 1 / (c * part);
    row->bias =
        ((1 - part) * row_rate(row->J, row->body, over->v) - h * pull / c) /
        part;
    count++;

    if (!(a > 0.01) || n_end == NULL) continue;
    extra_row *damped = &end_rows[(*n_end)++];
    *damped = *row;
    memcpy(damped->J, end.J, sizeof damped->J);
    damped->bias = 0;
    damped->compliance = inverse_mass / stiff;
  }
  return count;
}

void forces_find_stiff(const force_list *forces, const world_snapshot *home,
                       double h, bool stiff[]) {
  for (int b = 0; b < home->n_bodies; b++) stiff[b] = false;
  for (const ode_mlcp_force *force = forces->first; force != NULL;
       force = force->next) {
    double c = h * (h * force->spring.stiffness + force->spring.damping);
    spring_line line;
    if (force->function != NULL) continue;
    find_line(&line, &force->spring, home, NULL);
    if (c * world_row_mobility(home, line.body, line.J) >= 1)
      for (int side = 0; side < 2; side++)
        if (line.body[side] >= 0) stiff[line.body[side]] = true;
  }
}

double forces_energy(const force_list *forces, double time) {
  double energy = 0;
  for (const ode_mlcp_force *force = forces->first; force != NULL;
       force = force->next) {
    if (force->function != NULL) continue;
    spring_line line;
    find_line(&line, &force->spring, NULL, NULL);
    double stretch = line.length - rest_length(&force->spring, time);
    energy += 0.5 * force->spring.stiffness * stretch * stretch;
  }
  return energy;
}

double forces_power(const force_list *forces, double time) {
  double power = 0;
  for (const ode_mlcp_force *force = forces->first; force != NULL;
       force = force->next) {
    dBodyID id = force->spring.body[0];
    if (force->function == NULL || dBodyIsKinematic(id) || !dBodyIsEnabled(id))
      continue;
    const world_pose pose = world_pose_read(id);
    ode_mlcp_body_state state = {.time = time};
    memcpy(state.position, pose.position, sizeof state.position);
    memcpy(state.quaternion, pose.quaternion, sizeof state.quaternion);
    host_body_velocity(id, state.velocity);
    double f[6] = {0}, jacobians[2][36] = {{0}};
    force->function(force->context, id, &state, f, jacobians[0], jacobians[1]);
    for (int i = 0; i < 6; i++) power += f[i] * state.velocity[i];
  }
  return power;
}

/* --- forces --------------------------------------------------------------- */

static bool add_function(const ode_mlcp_force *given,
                         const world_snapshot *home, double time,
                         const world_pose poses[], const double v[],
                         double force[], double k_q[], double k_v[],
                         outcome *out) {
  dBodyID id = given->spring.body[0];
  int b = world_find_body(home, id);
  if (b < 0 || home->bodies[b].kinematic) return true;
  ode_mlcp_body_state state = {.time = time};
  vec3_copy(state.position, poses[b].position);
  memcpy(state.quaternion, poses[b].quaternion, sizeof state.quaternion);
  memcpy(state.velocity, v + 6 * b, sizeof state.velocity);

  double f[6] = {0}, jacobians[2][36] = {{0}};
  given->function(given->context, id, &state, f, jacobians[0], jacobians[1]);
  if (!all_finite(f, 6) || !all_finite(jacobians[0], 72))
    return outcome_fail(
        out, "body %lu: a force function or its Jacobians are not finite",
        home->bodies[b].serial);
  for (int i = 0; i < 6; i++) force[6 * b + i] += f[i];
  for (int i = 0; i < 36 && k_q != NULL; i++) {
    k_q[36 * b + i] += jacobians[0][i];
    k_v[36 * b + i] += jacobians[1][i];
  }
  return true;
}

bool forces_add(const force_list *forces, const world_snapshot *home,
                double time, const world_pose poses[], const double v[],
                double force[], double k_q[], double k_v[], outcome *out) {
  for (const ode_mlcp_force *f = forces->first; f != NULL; f = f->next)
    if (f->function != NULL &&
        !add_function(f, home, time, poses, v, force, k_q, k_v, out))
      return false;
  return true;
}
