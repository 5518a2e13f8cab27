/* A snapshot's collision as a problem on plain arrays: ode_mlcp.h. */
#include "world/impact_problem.h"

#include <math.h>
#include <string.h>

#include "common/disjoint_sets.h"
#include "common/vec3.h"
#include "impacts/joint_free.h"

/* as many contacts and coordinates as an impact takes */
enum { MOST = 1000 };
/* m/s: an approach, as an impact's own tolerance */
static const double APPROACHING = 1e-8;
/* in place of an infinite coefficient where the other direction has a finite
 * one: a diamond has no edge without end */
static const double MU_INFINITE = 1e5;
/* m/s: a slip below has no direction */
static const double SLIP_FLOOR = 1e-9;

/* A contact, or a joint stop that has been reached. */
typedef struct touch {
  const host_contact *point; /* NULL: a stop */
  dJointID joint;            /* NULL: given */
  int body[2];               /* into the snapshot's bodies, -1 the world */
  double J[3][2][6];         /* normal, two tangents (0 of a stop) */
  double surface[3];         /* m/s, added to J V */
  double mu[2];              /* of the tangents */
} touch;

/* A joint row that is obeyed exactly: J V = target. */
typedef struct tie {
  int body[2];
  double J[2][6];
  double target;
} tie;

/* Everything that could collide, then (select_collision) what does. */
typedef struct collision {
  const impact_request *request;
  const world_snapshot *world;
  int *place;     /* per body: among those that may move, or -1 */
  int *component; /* per body: the first body it is tied to */
  bool *collides; /* per component's first body */
  touch *touches;
  tie *ties;
  int n_moved, n_touches, n_ties, left_out;
  arena arena;
  outcome *out;
} collision;

/* The whole that a problem is a part of. */
typedef struct owned_impact {
  ode_mlcp_world_impact impact;
  const memory_source *source;
} owned_impact;

static bool is_dynamic(const collision *c, int body) {
  return world_is_dynamic(c->world, body);
}

/* Relative velocity of two bodies along J from the kinematic ones alone, or from
 * both. */
static double speed_along(const collision *c, const int body[2],
                          const double J[2][6], bool kinematic_only) {
  double sum = 0;
  for (int side = 0; side < 2; side++) {
    int b = body[side];
    if (b < 0 || (kinematic_only && is_dynamic(c, b))) continue;
    for (int i = 0; i < 6; i++) sum += J[side][i] * c->request->v[6 * b + i];
  }
  return sum;
}

/* --- what touches --------------------------------------------------------- */

/* The coefficient of a direction: see ode_mlcp_impact_problem_of_world. */
static double coefficient(const host_surface *surface, int d) {
  double mu = surface->limit[d];
  if (surface->viscous[d]) return 0;
  if (isinf(mu) && mu > 0) return INFINITY;
  if (!surface->proportional[d]) return 0;
  return fmin(fmax(mu, 0), MU_INFINITE);
}

/* Turn the axes so that the first is along the slip. */
static void align_with_slip(const collision *c, const touch *touch,
                            const double motion[2], double axis[2][3]) {
  double slip[2], first[3] = {0, 0, 0};
  for (int d = 0; d < 2; d++) {
    double J[2][6];
    host_contact_jacobian(J, touch->point, axis[d]);
    slip[d] = speed_along(c, touch->body, J, false) - motion[d];
  }
  double size = hypot(slip[0], slip[1]);
  if (!(size > SLIP_FLOOR)) return;
  for (int d = 0; d < 2; d++) vec3_add_scaled(first, slip[d] / size, axis[d]);
  vec3_copy(axis[0], first);
  vec3_cross(axis[1], touch->point->normal, axis[0]);
}

/* A moving surface's directions are those of the program. */
static bool has_own_axes(const host_surface *surface) {
  return surface->has_axis || surface->limit[0] != surface->limit[1] ||
         surface->motion[0] != 0 || surface->motion[1] != 0;
}

static void add_contact(collision *c, int k) {
  const world_contact *contact = &c->world->contacts.items[k];
  const host_surface *surface = &contact->point.surface;
  touch *added = &c->touches[c->n_touches];
  *added = (touch){
      .point = &contact->point,
      .joint = contact->joint >= 0 ? c->world->joints[contact->joint].id : NULL,
      .body = {contact->point.body[0], contact->point.body[1]}};
  if (!is_dynamic(c, added->body[0]) && !is_dynamic(c, added->body[1])) return;
  c->n_touches++;
  double axis[2][3];
  host_contact_axes(axis, added->point);
  if (!has_own_axes(surface)) align_with_slip(c, added, surface->motion, axis);
  host_contact_jacobian(added->J[0], added->point, added->point->normal);
  added->surface[0] = -surface->motion[2];
  for (int d = 0; d < 2; d++) {
    host_contact_jacobian(added->J[1 + d], added->point, axis[d]);
    added->surface[1 + d] = -surface->motion[d];
    added->mu[d] = coefficient(surface, d);
  }
}

static void add_stop(collision *c, int k) {
  const world_contact *stop = &c->world->contacts.items[k];
  touch *added = &c->touches[c->n_touches++];
  *added = (touch){.joint = c->world->joints[stop->joint].id,
                   .body = {stop->point.body[0], stop->point.body[1]}};
  world_contact_jacobian(&c->world->contacts, k, added->J[0]);
}

/* In an impact a finite force is none: a bound is 0 or infinite. */
static void add_joint_row(collision *c, const world_joint *joint, unsigned i) {
  const host_joint_rows *rows = &c->world->joint_rows[joint->rows];
  const host_rows *host = &rows->rows;
  bool pushes = isinf(host->hi[i]), pulls = isinf(host->lo[i]);
  /* a compliance of its own makes a spring, and that is a finite force */
  if ((!pushes && !pulls) || host->cfm[i] > c->world->cfm) return;
  if (pushes && pulls) {
    tie *added = &c->ties[c->n_ties++];
    *added = (tie){.body = {joint->body[0], joint->body[1]},
                   .target = host->rhs[i] - rows->correction[i]};
    memcpy(added->J, host->J[i], sizeof added->J);
    return;
  }
  touch *added = &c->touches[c->n_touches++];
  *added =
      (touch){.joint = joint->id, .body = {joint->body[0], joint->body[1]}};
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < 6; k++)
      added->J[0][side][k] =
          pushes ? host->J[i][side][k] : -host->J[i][side][k];
}

static bool collect(collision *c) {
  const world_snapshot *world = c->world;
  const world_contacts *contacts = &world->contacts;
  int n = world->n_bodies, n_rows = 6 * world->n_joint_rows;
  if (!ARENA_TAKE(&c->arena, c->place, n) ||
      !ARENA_TAKE(&c->arena, c->component, n) ||
      !ARENA_TAKE(&c->arena, c->collides, n) ||
      !ARENA_TAKE(&c->arena, c->touches, n_rows + contacts->n + 1) ||
      !ARENA_TAKE(&c->arena, c->ties, n_rows))
    return false;
  for (int j = 0; j < world->n_joints; j++) {
    const world_joint *joint = &world->joints[j];
    if (joint->rows < 0 ||
        (!is_dynamic(c, joint->body[0]) && !is_dynamic(c, joint->body[1])))
      continue;
    for (unsigned i = 0; i < world->joint_rows[joint->rows].rows.count; i++)
      add_joint_row(c, joint, i);
  }
  for (int k = 0; k < contacts->n; k++) {
    const world_contact *contact = &contacts->items[k];
    if (!contact->active) continue;
    if (contact->stop >= 0)
      add_stop(c, k);
    else
      add_contact(c, k);
  }
  return true;
}

/* --- what collides ------------------------------------------------------- */

static void unite(const collision *c, int parent[], const int body[2]) {
  if (is_dynamic(c, body[0]) && is_dynamic(c, body[1]))
    unite_sets(parent, body[0], body[1]);
}

static int some_dynamic(const collision *c, const int body[2]) {
  return body[is_dynamic(c, body[0]) ? 0 : 1];
}

/* True if what ties `body` together collides. */
static bool takes_part(const collision *c, const int body[2]) {
  return c->collides[c->component[some_dynamic(c, body)]];
}

static void select_collision(collision *c) {
  int *component = c->component;
  for (int b = 0; b < c->world->n_bodies; b++) component[b] = b;
  for (int i = 0; i < c->n_ties; i++) unite(c, component, c->ties[i].body);
  for (int i = 0; i < c->n_touches; i++)
    unite(c, component, c->touches[i].body);
  for (int b = 0; b < c->world->n_bodies; b++) {
    component[b] = set_of(component, b);
    c->collides[b] = false;
    c->place[b] = -1;
  }
  for (int i = 0; i < c->n_touches; i++) {
    const touch *touch = &c->touches[i];
    double speed =
        touch->surface[0] + speed_along(c, touch->body, touch->J[0], false);
    if (speed < -APPROACHING)
      c->collides[component[some_dynamic(c, touch->body)]] = true;
  }

  c->n_moved = 0;
  for (int b = 0; b < c->world->n_bodies; b++)
    if (is_dynamic(c, b) && c->collides[component[b]])
      c->place[b] = c->n_moved++;
  int n_touches = 0, n_ties = 0;
  for (int i = 0; i < c->n_touches; i++)
    if (takes_part(c, c->touches[i].body))
      c->touches[n_touches++] = c->touches[i];
  for (int i = 0; i < c->n_ties; i++)
    if (takes_part(c, c->ties[i].body)) c->ties[n_ties++] = c->ties[i];
  c->n_touches = n_touches;
  c->n_ties = n_ties;
}

/* Coordinates y = L' V in which the bodies' masses are 1, M = L L'. */
typedef struct mass_root {
  double linear;     /* sqrt(kg) */
  double angular[9]; /* lower triangle */
} mass_root;

/* Work on the way from what collides to the problem. */
typedef struct reduction {
  const collision *c;
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
} reduction;

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
static void times_upper(const mass_root *root, const double v[6], double y[6]) {
  const double *L = root->angular;
  for (int i = 0; i < 3; i++) {
    y[i] = root->linear * v[i];
    y[3 + i] = 0;
    for (int k = i; k < 3; k++) y[3 + i] += L[3 * k + i] * v[3 + k];
  }
}

/* --- rows -------------------------------------------------------------- */

/* A row on the moved bodies, in natural coordinates or in y. */
static void spread(const reduction *work, const int body[2],
                   const double J[2][6], double row[]) {
  memset(row, 0, (size_t)work->n * sizeof *row);
  for (int side = 0; side < 2; side++) {
    int place = body[side] < 0 ? -1 : work->c->place[body[side]];
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

static ode_mlcp_error complain(const collision *c, const char *what) {
  outcome_fail(c->out, "%s", what);
  return ODE_MLCP_BAD_ARGUMENT;
}

/* The coordinates that joints leave free. */
static ode_mlcp_error reduce(reduction *work) {
  const collision *c = work->c;
  double scale = 0;
  for (int i = 0; i < c->n_ties; i++) {
    const tie *tie = &c->ties[i];
    double *row = &work->ties[i * work->n];
    spread(work, tie->body, tie->J, row);
    double target = tie->target - speed_along(c, tie->body, tie->J, true);
    /* rows of metres and of radians count the same */
    double length = sqrt(dot(row, row, work->n));
    for (int k = 0; k < work->n && length > 0; k++) row[k] /= length;
    work->targets[i] = length > 0 ? target / length : target;
    scale = fmax(scale, fabs(work->targets[i]));
  }
  for (int k = 0; k < work->n; k++) scale = fmax(scale, fabs(work->y[k]));
  double misfit;
  joint_free_basis(work->n, c->n_ties, work->ties, work->targets, work->basis,
                   work->offset, &work->n_free, &misfit);
  if (misfit > 1e-6 * scale)
    return complain(c, "joints drive bodies against each other");
  return ODE_MLCP_OK;
}

/* Contact row `direction` of touch i in the coordinates; false where no
 * coordinate has a part in it. */
static bool reduce_row(reduction *work, int i, int direction) {
  const touch *touch = &work->c->touches[i];
  const double(*J)[6] = touch->J[direction];
  int s = work->n_free, at = 3 * i + direction;
  double *row = &work->rows[(size_t)at * (size_t)s];
  spread(work, touch->body, J, work->dense);
  work->surface[at] = touch->surface[direction] +
                      speed_along(work->c, touch->body, J, true) +
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
static ode_mlcp_error reduce_touches(reduction *work, collision *c) {
  int kept = 0;
  for (int i = 0; i < c->n_touches; i++) {
    c->touches[kept] = c->touches[i];
    if (!reduce_row(work, kept, 0)) {
      if (work->surface[3 * kept] < -1e-6)
        return complain(c,
                        "a contact closes by itself, and its bodies are held");
      c->left_out++;
      continue;
    }
    for (int d = 1; d < 3; d++) reduce_row(work, kept, d);
    kept++;
  }
  c->n_touches = kept;
  return ODE_MLCP_OK;
}

/* --- tangents ---------------------------------------------------------- */

/* The direction of sliding that joints leave a contact, a unit vector along its
 * two tangents; false where they leave both. */
static bool only_slide(const reduction *work, int i, double along[2]) {
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

static bool is_planar(const reduction *work) {
  double along[2];
  for (int i = 0; i < work->c->n_touches; i++)
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
  return sum > 0 ? 1 / sqrt(sum) : INFINITY;
}

/* --- the result -------------------------------------------------------- */

/* The arrays of the problem, in one block. */
static bool lay_out(ode_mlcp_world_impact *impact, const reduction *work,
                    int n_tangents) {
  const collision *c = work->c;
  size_t s = (size_t)work->n_free, n = (size_t)work->n;
  size_t m = (size_t)c->n_touches, t = (size_t)n_tangents;
  size_t n_numbers = s * s + m * s * (1 + t) + m + s + m * (1 + t) + n * s + n;
  size_t n_bodies = (size_t)c->n_moved;
  impact->struct_size = sizeof *impact;
  impact->block_size = n_numbers * sizeof(double) + n_bodies * sizeof(dBodyID) +
                       m * sizeof(dJointID);
  const memory_source *source = c->arena.source;
  impact->block = source->allocate(source->context, impact->block_size);
  if (impact->block == NULL) return false;
  memset(impact->block, 0, impact->block_size);

  double *next = impact->block;
  ode_mlcp_impact_problem *problem = &impact->problem;
  problem->n_velocities = work->n_free;
  problem->n_contacts = c->n_touches;
  problem->n_tangents = n_tangents;
  problem->M = next;
  problem->Jn = next += s * s;
  problem->Jt = next += m * s;
  problem->mu = next += m * t * s;
  problem->v = next += m;
  problem->surface = next += s;
  impact->velocity_map = next += m * (1 + t);
  impact->velocity_offset = next += n * s;
  impact->n_bodies = c->n_moved;
  impact->bodies = (dBodyID *)(next + n);
  impact->joints = (dJointID *)(impact->bodies + n_bodies);
  return true;
}

static void fill_bodies(const ode_mlcp_world_impact *impact,
                        const reduction *work) {
  const collision *c = work->c;
  int s = work->n_free, n = work->n;
  double *M = (double *)impact->problem.M, *v = (double *)impact->problem.v;
  for (int b = 0; b < c->world->n_bodies; b++) {
    int place = c->place[b];
    if (place < 0) continue;
    const host_body *body = &c->world->bodies[b];
    impact->bodies[place] = body->id;
    if (!work->natural) continue;
    memcpy(&v[6 * place], c->request->v + 6 * b, 6 * sizeof *v);
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
    for (int p = 0; p < c->n_moved; p++)
      solve_upper(&work->root[p], &column[6 * p]);
    for (int i = 0; i < n; i++) impact->velocity_map[i * s + j] = column[i];
  }
  memcpy(impact->velocity_offset, work->offset, (size_t)n * sizeof(double));
  for (int p = 0; p < c->n_moved; p++)
    solve_upper(&work->root[p], &impact->velocity_offset[6 * p]);
}

static void fill_contacts(const ode_mlcp_world_impact *impact,
                          const reduction *work) {
  const ode_mlcp_impact_problem *problem = &impact->problem;
  int s = work->n_free, t = problem->n_tangents;
  double *Jn = (double *)problem->Jn, *Jt = (double *)problem->Jt;
  double *mu = (double *)problem->mu, *surface = (double *)problem->surface;
  for (int i = 0; i < problem->n_contacts; i++) {
    const touch *touch = &work->c->touches[i];
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
    if (touch->mu[0] != touch->mu[1]) mu[i] = fmin(mu[i], MU_INFINITE);
    for (int d = 0; d < 2; d++) {
      bool equal = touch->mu[d] == mu[i] || mu[i] == 0;
      share[d] = equal ? 1 : fmin(touch->mu[d], MU_INFINITE) / mu[i];
      for (int j = 0; j < s; j++)
        Jt[(2 * i + d) * s + j] = share[d] * row[(1 + d) * s + j];
      surface[3 * i + 1 + d] = share[d] * own_surface[1 + d];
    }
  }
}

static double joint_jump(const ode_mlcp_world_impact *impact,
                         const reduction *work) {
  double worst = 0;
  int s = work->n_free;
  for (int b = 0; b < work->c->world->n_bodies && !work->natural; b++) {
    int place = work->c->place[b];
    for (int k = 0; k < 6 && place >= 0; k++) {
      int i = 6 * place + k;
      double v = impact->velocity_offset[i] +
                 dot(&impact->velocity_map[i * s], impact->problem.v, s);
      worst = fmax(worst, fabs(v - work->c->request->v[6 * b + k]));
    }
  }
  return worst;
}

/* --- assembling -------------------------------------------------------- */

static bool open_reduction(reduction *work, arena *arena) {
  const collision *c = work->c;
  size_t n = (size_t)work->n, n_ties = (size_t)c->n_ties;
  size_t n_rows = 3 * (size_t)c->n_touches;
  size_t n_basis = work->natural ? 0 : n * n;
  if (!ARENA_TAKE(arena, work->root, c->n_moved) ||
      !ARENA_TAKE(arena, work->y, n) || !ARENA_TAKE(arena, work->offset, n) ||
      !ARENA_TAKE(arena, work->dense, n) ||
      !ARENA_TAKE(arena, work->ties, n_ties * n) ||
      !ARENA_TAKE(arena, work->targets, n_ties) ||
      !ARENA_TAKE(arena, work->basis, n_basis) ||
      !ARENA_TAKE(arena, work->rows, n_rows * n) ||
      !ARENA_TAKE(arena, work->surface, n_rows))
    return false;
  memset(work->offset, 0, n * sizeof *work->offset);
  return true;
}

static ode_mlcp_error assemble(reduction *work, collision *c,
                               ode_mlcp_world_impact *impact) {
  if (!open_reduction(work, &c->arena)) return ODE_MLCP_NO_MEMORY;
  for (int b = 0; b < c->world->n_bodies; b++) {
    int place = c->place[b];
    if (place < 0) continue;
    if (!factor_mass(&c->world->bodies[b], &work->root[place]))
      return complain(c, "an inertia is not positive definite");
    times_upper(&work->root[place], c->request->v + 6 * b, &work->y[6 * place]);
  }
  work->n_free = work->n;
  ode_mlcp_error error = work->natural ? ODE_MLCP_OK : reduce(work);
  if (error != ODE_MLCP_OK) return error;
  if (work->n_free > MOST)
    return complain(c, "more than 1000 free coordinates collide");
  error = reduce_touches(work, c);
  if (error != ODE_MLCP_OK || c->n_touches == 0) return error;

  if (!lay_out(impact, work, is_planar(work) ? 1 : 2))
    return ODE_MLCP_NO_MEMORY;
  fill_contacts(impact, work);
  fill_bodies(impact, work);
  impact->contacts_left_out = c->left_out;
  impact->joint_jump = joint_jump(impact, work);
  return ODE_MLCP_OK;
}

static ode_mlcp_error build(collision *c, ode_mlcp_world_impact **impact) {
  if (c->n_touches == 0 || c->n_moved == 0) return ODE_MLCP_OK;
  if (c->n_touches > MOST)
    return complain(c, "more than 1000 contacts collide");
  if (c->n_moved > MOST / 2) return complain(c, "more than 500 bodies collide");
  owned_impact *owned = memory_allocate_zero(c->arena.source, sizeof *owned);
  if (owned == NULL) return ODE_MLCP_NO_MEMORY;
  owned->source = c->arena.source;
  reduction work = {.c = c, .n = 6 * c->n_moved, .natural = c->n_ties == 0};
  ode_mlcp_error error = assemble(&work, c, &owned->impact);
  if (error == ODE_MLCP_OK && owned->impact.block != NULL)
    *impact = &owned->impact;
  else
    ode_mlcp_world_impact_destroy(&owned->impact);
  return error;
}

ode_mlcp_error impact_problem_build(const impact_request *request,
                                    const memory_source *source,
                                    ode_mlcp_world_impact **impact,
                                    outcome *out) {
  *impact = NULL;
  collision c = {.request = request,
                 .world = request->world,
                 .left_out = request->left_out,
                 .arena.source = source,
                 .out = out};
  ode_mlcp_error error = ODE_MLCP_NO_MEMORY;
  arena_start(&c.arena);
  if (collect(&c)) {
    select_collision(&c);
    error = build(&c, impact);
  }
  if (error == ODE_MLCP_NO_MEMORY) outcome_no_memory(out);
  arena_release(&c.arena);
  return error;
}

/* --- the public face --------------------------------------------------- */

void ode_mlcp_world_impact_destroy(ode_mlcp_world_impact *impact) {
  if (impact == NULL) return;
  owned_impact *owned = (owned_impact *)impact;
  const memory_source *source = owned->source;
  if (impact->block != NULL)
    source->release(source->context, impact->block, impact->block_size);
  source->release(source->context, owned, sizeof *owned);
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

ode_mlcp_error ode_mlcp_world_impact_apply(const ode_mlcp_world_impact *impact,
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
