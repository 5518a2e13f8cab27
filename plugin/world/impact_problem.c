/* A snapshot's collision as a problem on plain arrays: ode_mlcp.h. */
#include "world/impact_problem.h"

#include <math.h>
#include <string.h>

#include "common/disjoint_sets.h"
#include "common/vec3.h"
#include "impacts/joint_free.h"

/* as many contacts and coordinates as an impact takes */
enum { MOST = 1000 };
static const char TOO_MANY[] = "more than 1000 free coordinates collide";
/* m/s: an approach, as an impact's own tolerance */
static const double APPROACHING = 1e-8;
/* in place of an infinite coefficient where the other direction has a finite
 * one: a diamond has no edge without end */
static const double MU_INFINITE = 1e5;
/* m/s: a slip below has no direction */
static const double SLIP_FLOOR = 1e-9;

/* A contact, or a joint stop that has been reached. */
typedef struct touch {
  dJointID joint;    /* NULL: given */
  int body[2];       /* into the snapshot's bodies, -1 the world */
  double J[3][2][6]; /* normal, two tangents (0 of a stop) */
  double surface[3]; /* m/s, added to J V */
  double mu[2];      /* of the tangents */
  double along[2];   /* them: how it can slide, where that is one direction */
} touch;

/* A joint row that is obeyed exactly: J V = target. */
typedef struct tie {
  int body[2];
  double J[2][6];
  double target;
} tie;

/* Everything that could collide, then (select_collision) what does. */
typedef struct collision {
  const world_snapshot *world;
  const double *v; /* [6 n_bodies] */
  int *place;      /* per body: among those that may move, or -1 */
  int *component;  /* per body: the first body it is tied to */
  bool *collides;  /* per component's first body */
  touch *touches;
  tie *ties;
  int n_moved, n_touches, n_ties, left_out;
  arena arena;
  outcome *out;
} collision;

/* A problem and the memory of its arrays. */
typedef struct owned_impact {
  ode_mlcp_world_impact impact;
  arena arena;
} owned_impact;

static bool is_dynamic(const collision *c, int body) {
  return world_is_dynamic(c->world, body);
}

/* A body's place among those that move, -1: it does not. */
static int place_of(const collision *c, int body) {
  return body < 0 ? -1 : c->place[body];
}

/* Relative velocity of two bodies along J from the kinematic ones alone. */
static double driven_speed(const collision *c, const int body[2],
                           const double J[2][6]) {
  const int driven[2] = {is_dynamic(c, body[0]) ? -1 : body[0],
                         is_dynamic(c, body[1]) ? -1 : body[1]};
  return row_rate(J, driven, c->v);
}

static ode_mlcp_error complain(const collision *c, const char *what) {
  outcome_fail(c->out, "%s", what);
  return ODE_MLCP_BAD_ARGUMENT;
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

/* Turn the axes so that the first is along the slip of the contact's first body. */
static void align_with_slip(const collision *c, const world_contact *contact,
                            double axis[2][3]) {
  double slip[3], size;
  world_contact_slip(contact, c->v, slip);
  if (!((size = vec3_length(slip)) > SLIP_FLOOR)) return;
  for (int i = 0; i < 3; i++)
    axis[0][i] = (world_contact_swapped(contact) ? -slip[i] : slip[i]) / size;
  vec3_cross(axis[1], contact->point.normal, axis[0]);
}

/* A moving surface's directions are those of the program. */
static bool has_own_axes(const host_surface *surface) {
  return surface->has_axis || surface->limit[0] != surface->limit[1] ||
         surface->motion[0] != 0 || surface->motion[1] != 0;
}

/* A contact or a stop. */
static void add_contact(collision *c, int k) {
  const world_contact *contact = &c->world->contacts.items[k];
  const host_surface *surface = &contact->point.surface;
  const int *body = contact->point.body;
  touch *added = &c->touches[c->n_touches];
  *added = (touch){
      .joint = contact->joint >= 0 ? c->world->joints[contact->joint].id : NULL,
      .body = {body[0], body[1]}};
  if (!is_dynamic(c, body[0]) && !is_dynamic(c, body[1])) return;
  c->n_touches++;
  world_contact_jacobian(&c->world->contacts, k, added->J[0]);
  if (contact->stop >= 0) return;
  double axis[2][3];
  host_contact_axes(axis, &contact->point);
  if (!has_own_axes(surface)) align_with_slip(c, contact, axis);
  added->surface[0] = -surface->motion[2];
  for (int d = 0; d < 2; d++) {
    host_contact_jacobian(added->J[1 + d], &contact->point, axis[d]);
    added->surface[1 + d] = -surface->motion[d];
    added->mu[d] = coefficient(surface, d);
  }
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
  for (int k = 0; k < contacts->n; k++)
    if (contacts->items[k].active) add_contact(c, k);
  return true;
}

/* --- what collides ------------------------------------------------------- */

static void unite(const collision *c, int parent[], const int body[2]) {
  if (is_dynamic(c, body[0]) && is_dynamic(c, body[1]))
    unite_sets(parent, body[0], body[1]);
}

/* The first body of what is tied to a touch or tie. */
static int component_of(const collision *c, const int body[2]) {
  return c->component[body[is_dynamic(c, body[0]) ? 0 : 1]];
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
    double speed = touch->surface[0] + row_rate(touch->J[0], touch->body, c->v);
    if (speed < -APPROACHING) c->collides[component_of(c, touch->body)] = true;
  }

  c->n_moved = 0;
  for (int b = 0; b < c->world->n_bodies; b++)
    if (is_dynamic(c, b) && c->collides[component[b]])
      c->place[b] = c->n_moved++;
  int n_touches = 0, n_ties = 0;
  for (int i = 0; i < c->n_touches; i++)
    if (c->collides[component_of(c, c->touches[i].body)])
      c->touches[n_touches++] = c->touches[i];
  for (int i = 0; i < c->n_ties; i++)
    if (c->collides[component_of(c, c->ties[i].body)])
      c->ties[n_ties++] = c->ties[i];
  c->n_touches = n_touches;
  c->n_ties = n_ties;
}

/* --- coordinates --------------------------------------------------------- */

/* The problem's coordinates u, V = map u + offset, and what touches in them. */
typedef struct reduction {
  const collision *c;
  arena *arena;    /* of the problem */
  int n, n_free;   /* of V: 6 n_moved; of u */
  double *map;     /* n x n_free */
  double *offset;  /* [n] */
  double *u;       /* [n_free] before the impact */
  double *rows;    /* 3 n_touches x n_free */
  double *surface; /* [3 n_touches] */
} reduction;

/* M = L L': in y = L' V the masses are 1. */
typedef struct mass_root {
  double linear; /* sqrt(kg) */
  double upper[9], upper_inverse[9],
      lower_inverse[9]; /* of L' and L, angular */
} mass_root;

static bool factor_mass(const host_body *body, mass_root *root) {
  double L[9];
  root->linear = sqrt(body->mass);
  if (!mat3_cholesky(L, body->inertia) || !mat3_invert(root->lower_inverse, L))
    return false;
  for (int i = 0; i < 9; i++) {
    int across = i % 3 * 3 + i / 3;
    root->upper[i] = L[across];
    root->upper_inverse[i] = root->lower_inverse[across];
  }
  return true;
}

static void apply_root(double y[6], double linear, const double angular[9],
                       const double x[6]) {
  double turned[3];
  mat3_apply(turned, angular, x + 3);
  for (int i = 0; i < 3; i++) {
    y[i] = linear * x[i];
    y[3 + i] = turned[i];
  }
}

/* Those that joints leave free, of unit mass. */
static ode_mlcp_error reduce(reduction *work, arena *arena) {
  const collision *c = work->c;
  int n = work->n;
  double scale = 0, misfit, *y, *rows, *targets, *basis;
  mass_root *root;
  if (!ARENA_TAKE(arena, root, c->n_moved) || !ARENA_TAKE(arena, y, n) ||
      !ARENA_TAKE(arena, rows, (size_t)c->n_ties * (size_t)n) ||
      !ARENA_TAKE(arena, targets, c->n_ties) ||
      !ARENA_TAKE(arena, basis, (size_t)n * (size_t)n))
    return ODE_MLCP_NO_MEMORY;
  for (int b = 0; b < c->world->n_bodies; b++) {
    int place = c->place[b];
    if (place < 0) continue;
    if (!factor_mass(&c->world->bodies[b], &root[place]))
      return complain(c, "an inertia is not positive definite");
    apply_root(&y[6 * place], root[place].linear, root[place].upper,
               c->v + 6 * b);
  }
  for (int k = 0; k < n; k++) scale = fmax(scale, fabs(y[k]));
  for (int i = 0; i < c->n_ties; i++) {
    const tie *tie = &c->ties[i];
    double *row = &rows[i * n];
    memset(row, 0, (size_t)n * sizeof *row);
    for (int side = 0; side < 2; side++) {
      int place = place_of(c, tie->body[side]);
      if (place < 0) continue;
      apply_root(&row[6 * place], 1 / root[place].linear,
                 root[place].lower_inverse, tie->J[side]);
    }
    targets[i] = tie->target - driven_speed(c, tie->body, tie->J);
    /* rows of metres and of radians count the same */
    double length = sqrt(dot_of(n, row, row));
    for (int k = 0; k < n && length > 0; k++) row[k] /= length;
    if (length > 0) targets[i] /= length;
    scale = fmax(scale, fabs(targets[i]));
  }
  joint_free_basis(n, c->n_ties, rows, targets, basis, work->offset,
                   &work->n_free, &misfit);
  if (misfit > 1e-6 * scale)
    return complain(c, "joints drive bodies against each other");
  if (work->n_free > MOST) return complain(c, TOO_MANY);
  size_t s = (size_t)work->n_free;
  if (!ARENA_TAKE(work->arena, work->map, (size_t)n * s))
    return ODE_MLCP_NO_MEMORY;
  for (int p = 0; p < c->n_moved; p++)
    apply_root(&work->offset[6 * p], 1 / root[p].linear, root[p].upper_inverse,
               &work->offset[6 * p]);
  for (size_t j = 0; j < s; j++) {
    const double *column = &basis[j * (size_t)n];
    double V[6];
    work->u[j] = dot_of(n, column, y);
    for (int i = 0; i < n; i++) {
      const mass_root *of = &root[i / 6];
      if (i % 6 == 0)
        apply_root(V, 1 / of->linear, of->upper_inverse, column + i);
      work->map[(size_t)i * s + j] = V[i % 6];
    }
  }
  return ODE_MLCP_OK;
}

/* Contact row `direction` of touch i in the coordinates; false where no
 * coordinate has a part in it. */
static bool reduce_row(const reduction *work, int i, int direction) {
  const collision *c = work->c;
  const touch *touch = &c->touches[i];
  const double(*J)[6] = touch->J[direction];
  int s = work->n_free, at = 3 * i + direction;
  double *row = &work->rows[(size_t)at * (size_t)s];
  memset(row, 0, (size_t)s * sizeof *row);
  work->surface[at] =
      touch->surface[direction] + driven_speed(c, touch->body, J);
  for (int side = 0; side < 2; side++) {
    int place = place_of(c, touch->body[side]);
    for (int k = 0; k < 6 && place >= 0; k++) {
      const double *part = &work->map[(size_t)(6 * place + k) * (size_t)s];
      work->surface[at] += J[side][k] * work->offset[6 * place + k];
      for (int j = 0; j < s; j++) row[j] += J[side][k] * part[j];
    }
  }
  if (dot_of(s, row, row) >
      1e-18 * world_row_mobility(c->world, touch->body, J))
    return true;
  memset(row, 0, (size_t)s * sizeof *row);
  return false;
}

/* Contacts that nothing could push are left out. */
static ode_mlcp_error reduce_touches(const reduction *work, collision *c) {
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
  double a = dot_of(s, first, first), b = dot_of(s, first, second);
  double c = dot_of(s, second, second);
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
  for (int i = 0; i < work->c->n_touches; i++)
    if (!only_slide(work, i, work->c->touches[i].along)) return false;
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

static double velocity_at(const ode_mlcp_world_impact *impact, int i,
                          const double u[]) {
  int s = impact->problem.n_velocities;
  return impact->velocity_offset[i] +
         dot_of(s, &impact->velocity_map[(size_t)i * (size_t)s], u);
}

static bool fill_bodies(ode_mlcp_world_impact *impact, const reduction *work) {
  const collision *c = work->c;
  size_t s = (size_t)work->n_free;
  double *M;
  if (!ARENA_TAKE(work->arena, M, s * s) ||
      !ARENA_TAKE(work->arena, impact->bodies, c->n_moved))
    return false;
  impact->problem.M = M;
  impact->problem.v = work->u;
  impact->problem.n_velocities = work->n_free;
  impact->velocity_map = work->map;
  impact->velocity_offset = work->offset;
  impact->n_bodies = c->n_moved;
  memset(M, 0, s * s * sizeof *M);
  for (size_t j = 0; j < s; j++) M[j * (s + 1)] = 1;
  for (int b = 0; b < c->world->n_bodies; b++) {
    if (c->place[b] < 0) continue;
    const host_body *body = &c->world->bodies[b];
    size_t at = 6 * (size_t)c->place[b];
    impact->bodies[c->place[b]] = body->id;
    for (int k = 0; k < 6; k++) {
      double v = velocity_at(impact, (int)at + k, work->u);
      impact->joint_jump = fmax(impact->joint_jump, fabs(v - c->v[6 * b + k]));
    }
  }
  return true;
}

static bool fill_contacts(ode_mlcp_world_impact *impact,
                          const reduction *work) {
  ode_mlcp_impact_problem *problem = &impact->problem;
  int s = work->n_free, t = is_planar(work) ? 1 : 2;
  size_t m = (size_t)work->c->n_touches, wide = m * (size_t)s;
  double *Jn, *Jt, *mu, *surface;
  if (!ARENA_TAKE(work->arena, Jn, wide) ||
      !ARENA_TAKE(work->arena, Jt, wide * (size_t)t) ||
      !ARENA_TAKE(work->arena, mu, m) ||
      !ARENA_TAKE(work->arena, surface, m * (size_t)(1 + t)) ||
      !ARENA_TAKE(work->arena, impact->joints, m))
    return false;
  problem->Jn = Jn;
  problem->Jt = Jt;
  problem->mu = mu;
  problem->surface = surface;
  problem->n_contacts = (int)m;
  problem->n_tangents = t;
  for (int i = 0; i < problem->n_contacts; i++) {
    const touch *touch = &work->c->touches[i];
    const double *row = &work->rows[(size_t)(3 * i) * (size_t)s];
    const double *own_surface = &work->surface[3 * i];
    impact->joints[i] = touch->joint;
    memcpy(&Jn[i * s], row, (size_t)s * sizeof *Jn);
    surface[i * (1 + t)] = own_surface[0];

    const double *along = touch->along;
    if (t == 1) {
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
      double share = equal ? 1 : fmin(touch->mu[d], MU_INFINITE) / mu[i];
      for (int j = 0; j < s; j++)
        Jt[(2 * i + d) * s + j] = share * row[(1 + d) * s + j];
      surface[3 * i + 1 + d] = share * own_surface[1 + d];
    }
  }
  return true;
}

/* --- assembling -------------------------------------------------------- */

static ode_mlcp_error assemble(reduction *work, collision *c,
                               ode_mlcp_world_impact *impact) {
  size_t n = (size_t)work->n, n_rows = 3 * (size_t)c->n_touches;
  if (!ARENA_TAKE(work->arena, work->offset, n) ||
      !ARENA_TAKE(work->arena, work->u, n))
    return ODE_MLCP_NO_MEMORY;
  memset(work->offset, 0, n * sizeof *work->offset);
  ode_mlcp_error error = reduce(work, &c->arena);
  if (error != ODE_MLCP_OK) return error;
  if (!ARENA_TAKE(&c->arena, work->rows, n_rows * (size_t)work->n_free) ||
      !ARENA_TAKE(&c->arena, work->surface, n_rows))
    return ODE_MLCP_NO_MEMORY;
  error = reduce_touches(work, c);
  if (error != ODE_MLCP_OK || c->n_touches == 0) return error;
  impact->contacts_left_out = c->left_out;
  return fill_bodies(impact, work) && fill_contacts(impact, work)
             ? ODE_MLCP_OK
             : ODE_MLCP_NO_MEMORY;
}

/* @param impact  out: stays NULL where nothing collides */
static ode_mlcp_error build(collision *c, ode_mlcp_world_impact **impact) {
  if (c->n_touches == 0 || c->n_moved == 0) return ODE_MLCP_OK;
  if (c->n_touches > MOST)
    return complain(c, "more than 1000 contacts collide");
  if (c->n_moved > MOST / 2) return complain(c, "more than 500 bodies collide");
  owned_impact *owned = memory_allocate_zero(c->arena.source, sizeof *owned);
  if (owned == NULL) return ODE_MLCP_NO_MEMORY;
  owned->impact.struct_size = sizeof owned->impact;
  owned->impact.block = owned;
  owned->impact.block_size = sizeof *owned;
  owned->arena.source = c->arena.source;
  int n = 6 * c->n_moved;
  reduction work = {.c = c, .arena = &owned->arena, .n = n, .n_free = n};
  ode_mlcp_error error = assemble(&work, c, &owned->impact);
  if (error == ODE_MLCP_OK && c->n_touches > 0)
    *impact = &owned->impact;
  else
    ode_mlcp_world_impact_destroy(&owned->impact);
  return error;
}

ode_mlcp_error impact_problem_build(const world_snapshot *world,
                                    const double v[],
                                    const memory_source *source,
                                    ode_mlcp_world_impact **impact,
                                    outcome *out) {
  *impact = NULL;
  collision c = {
      .world = world,
      .v = v,
      .left_out = out->report.contacts_merged + out->report.contacts_dropped,
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
  owned_impact *owned = impact->block;
  const memory_source *source = owned->arena.source;
  arena_release(&owned->arena);
  source->release(source->context, owned, sizeof *owned);
}

void ode_mlcp_world_impact_velocities(const ode_mlcp_world_impact *impact,
                                      const double v[], double velocities[]) {
  for (int i = 0; i < 6 * impact->n_bodies; i++)
    velocities[i] = velocity_at(impact, i, v);
}

ode_mlcp_error ode_mlcp_world_impact_apply(const ode_mlcp_world_impact *impact,
                                           const double v[]) {
  for (int i = 0; i < 6 * impact->n_bodies; i++)
    if (!isfinite(velocity_at(impact, i, v))) return ODE_MLCP_BAD_ARGUMENT;
  for (int b = 0; b < impact->n_bodies; b++) {
    dBodyID body = impact->bodies[b];
    double now[6], next[6], change = 0;
    host_body_velocity(body, now);
    for (int k = 0; k < 6; k++) {
      next[k] = velocity_at(impact, 6 * b + k, v);
      change = fmax(change, fabs(next[k] - now[k]));
    }
    if (!(change > 0)) continue;
    host_body_set_velocity(body, next);
    dBodyEnable(body);
  }
  return ODE_MLCP_OK;
}
