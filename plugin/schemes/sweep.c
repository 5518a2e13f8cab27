#include "schemes/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/disjoint_sets.h"
#include "common/vec3.h"
#include "gap/gap_sweep.h"
#include "gap/real.h"
#include "host/joints.h"
#include "host/patched_host.h"
#include "rows/hair.h"
#include "world/pose.h"
#include "world/rotation.h"

/* Of a body's half thickness: so deep it is held, where the program's own collision has
 * to see it. */
static const double SEEN = 0.02;
/* A mesh's thickness is not known: this part of its size is taken for it. */
static const double OF_MESH = 0.05;

struct sweep_body {
  dBodyID id;
  unsigned long serial;
  double position[3], rotation[9]; /* where its geoms are */
  double way;                      /* m: how far its centre may go, */
  double turning;                  /* rad: and how far it may turn */
  double stops;                    /* share of its way at which it is held */
  bool kinematic, fast;
  const sweep_way *along;
  int number; /* there */
};

struct sweep_pair {
  dGeomID geom[2];
  int body[2]; /* -1: none that is stepped */
  gap_extent extent[2];
  double inner; /* m: half the thickness of what is fast */
  gap_sweep_result found;
  bool kept_apart;   /* by hard contacts: what overlaps is held, too */
  bool done, asked;  /* held; found is known */
  bool apart, meets; /* see sweep_sight */
};

/* --- the bodies ----------------------------------------------------------- */

static double inner_of(const gap_extent *extent) {
  return extent->inner > 0 ? extent->inner : OF_MESH * extent->size;
}

static void read_body(sweep_body *body, const sweep_way *way, int b) {
  dBodyID id = way->bodies[b];
  const double *v = way->from->v + 6 * b;
  const world_pose pose = world_pose_read(id);
  memset(body, 0, sizeof *body);
  body->id = id;
  body->serial = dBodyGetSerial(id);
  body->kinematic = dBodyIsKinematic(id);
  body->along = way;
  body->number = b;
  vec3_copy(body->position, pose.position);
  quaternion_to_rotation(body->rotation, pose.quaternion);
  body->stops = 1;
  body->way = way->seconds * vec3_length(v);
  body->turning =
      way->seconds * fmin(vec3_length(v + 3), dBodyGetMaxAngularSpeed(id));
}

/* m: of the box around a geom, its longest side. */
static double size_of(dGeomID geom) {
  dReal box[6];
  double size = 0;
  dGeomGetAABB(geom, box);
  for (int i = 0; i < 3; i++)
    size =
        fmax(size, box[2 * i + 1] - box[2 * i] - 2 * dGeomGetAABBMargin(geom));
  return size;
}

/* Find whether a body goes further than half its own thickness. @return gap_status */
static int find_fast(gap_context *gaps, sweep_body *body) {
  const double THINNEST = 1e-3; /* of its size: what goes less is slow */
  for (dGeomID geom = dBodyGetFirstGeom(body->id);
       geom != NULL && !body->fast && !body->kinematic;
       geom = dBodyGetNextGeom(geom)) {
    gap_extent extent;
    if (dGeomIsSpace(geom) || dGeomGetClass(geom) == dRayClass) continue;
    double size = size_of(geom);
    if (body->way + body->turning * size <= THINNEST * size) continue;
    int status = gap_extent_find(gaps, geom, body->position, &extent);
    if (status == GAP_NO_MEMORY) return status;
    body->fast = status == GAP_OK && /* else a class without a gap */
                 body->way + body->turning * extent.reach > inner_of(&extent);
  }
  return GAP_OK;
}

/* Other worlds have bodies of the same serials. */
static int find_body(const step_sweep *sweep, dBodyID id) {
  int b =
      id != NULL ? serial_table_find(&sweep->index, dBodyGetSerial(id)) : -1;
  return b >= 0 && sweep->bodies[b].id == id ? b : -1;
}

/* Most steps end here, with none that is fast. */
static bool read_bodies(step_sweep *sweep, const sweep_way *way) {
  int n = sweep->n_bodies = way->n_bodies;
  sweep->n_fast = sweep->n_pairs = 0;
  if (!ARENA_TAKE(&sweep->arena, sweep->bodies, n)) return false;
  for (int b = 0; b < n; b++) {
    sweep_body *body = &sweep->bodies[b];
    read_body(body, way, b);
    if (find_fast(sweep->gaps, body) != GAP_OK) return false;
    sweep->n_fast += body->fast;
  }
  return true;
}

/* For find_body. */
static bool index_bodies(step_sweep *sweep) {
  size_t n = (size_t)sweep->n_bodies;
  if (!ARENA_TAKE(&sweep->arena, sweep->index.slots, serial_table_room(n)))
    return false;
  serial_table_start(&sweep->index, n);
  for (int b = 0; b < sweep->n_bodies; b++)
    serial_table_add(&sweep->index, sweep->bodies[b].serial, b);
  return true;
}

/* --- what joints tie together --------------------------------------------- */

static bool find_components(step_sweep *sweep, dWorldID world) {
  size_t count = dWorldGetJoints(world, NULL, 0);
  dWorldJoint *joints;
  if (!ARENA_TAKE(&sweep->arena, joints, count) ||
      !ARENA_TAKE(&sweep->arena, sweep->component, sweep->n_bodies))
    return false;
  for (int b = 0; b < sweep->n_bodies; b++) sweep->component[b] = b;
  dWorldGetJoints(world, joints, count);
  for (size_t j = 0; j < count; j++) {
    int body[2];
    bool ties = joints[j].contact == NULL && host_joint_steps(&joints[j]);
    for (int side = 0; side < 2; side++) {
      body[side] = find_body(sweep, joints[j].body[side]);
      ties &= body[side] >= 0 && !sweep->bodies[body[side]].kinematic;
    }
    if (ties) unite_sets(sweep->component, body[0], body[1]);
  }
  return true;
}

/* --- the pairs ------------------------------------------------------------ */

static bool is_held_by_sweep(const step_sweep *sweep, int b) {
  return b >= 0 && sweep->bodies[b].fast;
}

static const sweep_pair *find_pair(const step_sweep *sweep, dGeomID one,
                                   dGeomID other) {
  for (int i = 0; i < sweep->n_pairs; i++) {
    const sweep_pair *pair = &sweep->pairs[i];
    if ((pair->geom[0] == one && pair->geom[1] == other) ||
        (pair->geom[0] == other && pair->geom[1] == one))
      return pair;
  }
  return NULL;
}

/* Of a geom where it is placed now. */
static int find_extent(step_sweep *sweep, dGeomID geom, gap_extent *extent) {
  double about[3] = {0};
  dBodyID body = dGeomGetBody(geom);
  if (body != NULL) real_read(about, dBodyGetPosition(body), 3);
  return gap_extent_find(sweep->gaps, geom, about, extent);
}

/* @param known  out: gaps between the two can be asked for */
static int find_extents(step_sweep *sweep, sweep_pair *pair, bool *known) {
  int status = GAP_OK;
  for (int side = 0; side < 2 && status == GAP_OK; side++)
    status = find_extent(sweep, pair->geom[side], &pair->extent[side]);
  *known = status == GAP_OK;
  return status == GAP_NO_MEMORY ? status : GAP_OK;
}

static int add_pair(step_sweep *sweep, dGeomID one, dGeomID other,
                    bool kept_apart, bool sees_gaps) {
  sweep_pair pair = {
      .geom = {one, other}, .kept_apart = kept_apart, .inner = INFINITY};
  bool known;
  for (int side = 0; side < 2; side++)
    pair.body[side] = find_body(sweep, dGeomGetBody(pair.geom[side]));
  if (!is_held_by_sweep(sweep, pair.body[0]) &&
      !is_held_by_sweep(sweep, pair.body[1]))
    return GAP_OK;
  if (find_extents(sweep, &pair, &known) != GAP_OK ||
      !POOL_GROW(sweep->pool, sweep->pairs, sweep->n_pairs + 1))
    return GAP_NO_MEMORY;
  for (int side = 0; side < 2; side++) {
    /* what is seen before it touches never gets behind a plane */
    known &= !sees_gaps || !isinf(pair.extent[side].inner);
    if (is_held_by_sweep(sweep, pair.body[side]))
      pair.inner = fmin(pair.inner, inner_of(&pair.extent[side]));
  }
  if (known) sweep->pairs[sweep->n_pairs++] = pair;
  return GAP_OK;
}

/* --- pairs of programs that make their contacts themselves ----------------- */

/* True if a contact joint of this step keeps two bodies apart, or a body and the world,
 * and lets neither sink in as its spring does. */
static bool are_kept_apart(dBodyID one, dBodyID other) {
  int n_joints = dBodyGetNumJoints(one);
  for (int j = 0; j < n_joints; j++) {
    dJointID joint = dBodyGetJoint(one, j);
    const dContact *contact = dJointGetType(joint) == dJointTypeContact
                                  ? dJointGetStepperContact(joint)
                                  : NULL;
    dBodyID a = dJointGetBody(joint, 0), b = dJointGetBody(joint, 1);
    if (contact != NULL &&
        !(contact->surface.mode & (dContactSoftERP | dContactSoftCFM)) &&
        ((a == one && b == other) || (a == other && b == one)))
      return true;
  }
  return false;
}

/* A look into a space around the way of one geom. */
typedef struct space_look {
  step_sweep *sweep;
  dGeomID geom, probe;
  bool soft_world;
  int status;
} space_look;

static void look_at_near(void *data, dGeomID one, dGeomID other) {
  space_look *look = data;
  if (one != look->probe) other = one;
  if (look->status != GAP_OK || other == look->geom) return;
  if (dGeomIsSpace(other)) {
    dSpaceCollide2(look->probe, other, data, look_at_near);
    return;
  }
  dBodyID body = dGeomGetBody(look->geom), others = dGeomGetBody(other);
  if (dGeomGetClass(other) == dRayClass || body == others ||
      (others != NULL &&
       dAreConnectedExcluding(body, others, dJointTypeContact)) ||
      find_pair(look->sweep, look->geom, other) != NULL)
    return;
  look->status =
      add_pair(look->sweep, look->geom, other,
               !look->soft_world && are_kept_apart(body, others), false);
}

/* The space that all others around a geom are in. */
static dSpaceID outermost_space(dGeomID geom) {
  dSpaceID space = dGeomGetSpace(geom);
  while (space != NULL && dGeomGetSpace((dGeomID)space) != NULL)
    space = dGeomGetSpace((dGeomID)space);
  return space;
}

/* Geoms that a geom of a fast body may meet: all that is near its way in its space. */
static int look_around(step_sweep *sweep, const sweep_body *body, dGeomID geom,
                       bool soft_world) {
  dReal box[6];
  double centre[3], sides[3];
  gap_extent extent;
  dSpaceID space = outermost_space(geom);
  if (space == NULL || dGeomIsSpace(geom) || dGeomGetClass(geom) == dRayClass ||
      !dGeomIsEnabled(geom))
    return GAP_OK;
  int status = find_extent(sweep, geom, &extent);
  if (status != GAP_OK) return status == GAP_NO_MEMORY ? status : GAP_OK;
  dGeomGetAABB(geom, box);
  double turns = fmin(body->turning, M_PI) * extent.reach;
  for (int i = 0; i < 3; i++) {
    double way =
        body->along->seconds * body->along->from->v[6 * body->number + i];
    double low = box[2 * i] + fmin(way, 0) - turns;
    double high = box[2 * i + 1] + fmax(way, 0) + turns;
    centre[i] = 0.5 * (low + high);
    sides[i] = high - low;
    if (!isfinite(sides[i]) || !(sides[i] > 0)) return GAP_OK;
  }
  if (sweep->probe == NULL) sweep->probe = dCreateBox(0, 1, 1, 1);
  dGeomID probe = sweep->probe;
  dGeomBoxSetLengths(probe, sides[0], sides[1], sides[2]);
  dGeomSetPosition(probe, centre[0], centre[1], centre[2]);
  dGeomSetCategoryBits(probe, dGeomGetCategoryBits(geom));
  dGeomSetCollideBits(probe, dGeomGetCollideBits(geom));
  space_look look = {sweep, geom, probe, soft_world, GAP_OK};
  dSpaceCollide2(probe, (dGeomID)space, &look, look_at_near);
  return look.status;
}

static int find_pairs_in_spaces(step_sweep *sweep, bool soft_world) {
  for (int b = 0; b < sweep->n_bodies; b++) {
    const sweep_body *body = &sweep->bodies[b];
    if (!is_held_by_sweep(sweep, b)) continue;
    for (dGeomID geom = dBodyGetFirstGeom(body->id); geom != NULL;
         geom = dBodyGetNextGeom(geom)) {
      int status = look_around(sweep, body, geom, soft_world);
      if (status != GAP_OK) return status;
    }
  }
  return GAP_OK;
}

static int find_pairs(step_sweep *sweep, const sweep_way *way) {
  bool soft_world = host_world_cfm(way->world) > HOST_DEFAULT_CFM;
  if (way->contacts->function == NULL)
    return find_pairs_in_spaces(sweep, soft_world);
  sweep->list.pool = sweep->pool;
  sweep->list.pairs_only = true;
  if (!contact_source_collect(way->contacts, way->world, way->seconds,
                              ODE_MLCP_MARGIN_AUTO, &sweep->list))
    return GAP_NO_MEMORY;
  for (int i = 0; i < sweep->list.n_pairs; i++) {
    const source_pair *pair = &sweep->list.pairs[i];
    if (add_pair(sweep, pair->geom[0], pair->geom[1],
                 !pair->soft && !soft_world, true) != GAP_OK)
      return GAP_NO_MEMORY;
  }
  return GAP_OK;
}

/* The same where the way begins, at its velocities. */
static bool find_pairs_there(step_sweep *sweep, const sweep_way *way) {
  host_place *places;
  double *v;
  int n = way->n_bodies;
  if (way->home == NULL) return find_pairs(sweep, way) == GAP_OK;
  if (!ARENA_TAKE(&sweep->arena, places, n) ||
      !ARENA_TAKE(&sweep->arena, v, 6 * n))
    return false;
  world_place(way->home, way->from->poses, places, false);
  for (int b = 0; b < n; b++) {
    host_body_velocity(way->bodies[b], v + 6 * b);
    host_body_set_velocity(way->bodies[b], way->from->v + 6 * b);
  }
  bool found = find_pairs(sweep, way) == GAP_OK;
  world_put_back(way->home, places, false);
  for (int b = 0; b < n; b++) host_body_set_velocity(way->bodies[b], v + 6 * b);
  return found;
}

bool step_sweep_open(step_sweep *sweep) {
  if (sweep->gaps == NULL)
    sweep->gaps = gap_context_create(&sweep->pool->source);
  sweep->arena.source = &sweep->pool->source;
  arena_start(&sweep->arena);
  return sweep->gaps != NULL;
}

bool step_sweep_find(step_sweep *sweep, const sweep_way *way) {
  return step_sweep_open(sweep) && read_bodies(sweep, way) &&
         (sweep->n_fast == 0 ||
          (index_bodies(sweep) && find_pairs_there(sweep, way)));
}

/* --- meetings ------------------------------------------------------------- */

static void pose_at(const void *context, double share, double position[3],
                    double rotation[9]) {
  const sweep_body *body = context;
  world_pose pose;
  motion_body_between(&pose, NULL, body->along->from, body->along->to,
                      body->number, share);
  vec3_copy(position, pose.position);
  quaternion_to_rotation(rotation, pose.quaternion);
}

static void set_mover(step_sweep *sweep, int b, const sweep_way *way,
                      gap_mover *mover) {
  memset(mover, 0, sizeof *mover);
  if (b < 0) return;
  sweep_body *body = &sweep->bodies[b];
  double change[2], most = 0;
  body->along = way;
  motion_body_bounds(way->from, way->to, b, mover->linear, &mover->turning,
                     change);
  for (int i = 0; i < 3; i++) most = fmax(most, vec3_length(mover->linear[i]));
  if (most == 0 && mover->turning == 0) return;
  mover->pose = pose_at;
  mover->context = body;
  vec3_copy(mover->start_position, body->position);
  memcpy(mover->start_rotation, body->rotation, sizeof mover->start_rotation);
  mover->stops = body->stops;
  mover->bending = change[0];
  mover->twisting = change[1];
}

/* What a failed step asked for counts no more. */
static void begin(step_sweep *sweep, double most) {
  sweep->queries = 0;
  sweep->work = 0;
  sweep->end = most;
}

/* Where a pair gets lower by `depth` than at its start, or than nothing. */
static int seek(step_sweep *sweep, sweep_pair *pair, const sweep_way *way,
                double depth, double tolerance) {
  const double n_fast = fmax(sweep->n_fast, 1);
  gap_sweep_request sought = {.geom = {pair->geom[0], pair->geom[1]},
                              .extent = {pair->extent[0], pair->extent[1]},
                              .depth = depth,
                              .tolerance = tolerance,
                              .most = (sweep->end - sweep->work) * n_fast};
  for (int side = 0; side < 2; side++)
    set_mover(sweep, pair->body[side], way, &sought.mover[side]);
  int status = gap_sweep(sweep->gaps, &sought, &pair->found);
  sweep->queries += pair->found.queries;
  sweep->work += (double)pair->found.work / n_fast;
  pair->found.hits &= status == GAP_OK;
  return status == GAP_NO_MEMORY ? status : GAP_OK;
}

/* Where the fast one of a pair is held: in touch, or where the program's own
 * collision sees it. */
static double held_depth(const sweep_pair *pair, bool sees_gaps) {
  double least = pair->inner;
  for (int side = 0; side < 2; side++)
    if (pair->extent[side].inner > 0)
      least = fmin(least, pair->extent[side].inner);
  return sees_gaps ? 0 : SEEN * least;
}

/* The place where a pair meets. */
static int meet(step_sweep *sweep, const sweep_way *way, sweep_pair *pair) {
  double depth = held_depth(pair, way->contacts->function != NULL);
  int status = seek(sweep, pair, way, depth,
                    depth > 0 ? 0.1 * depth : 1e-9 * fmin(pair->inner, 1));
  /* what was seen to overlap, and is not kept apart, is let pass */
  if (pair->found.start_gap <= -0.5 * depth && !pair->kept_apart)
    pair->found.hits = false;
  pair->asked = true;
  return status;
}

/* Hold a body, and what joints tie to it. What they may meet there is asked again; where
 * the budget is spent, what was found before stands. */
static void hold(step_sweep *sweep, int b, double share) {
  const bool is_spent = sweep->work >= sweep->end;
  int component = set_of(sweep->component, b);
  for (int i = 0; i < sweep->n_bodies; i++)
    if (set_of(sweep->component, i) == component)
      sweep->bodies[i].stops = fmin(sweep->bodies[i].stops, share);
  for (int i = 0; i < sweep->n_pairs && !is_spent; i++)
    for (int side = 0; side < 2; side++) {
      int of = sweep->pairs[i].body[side];
      if (of >= 0 && set_of(sweep->component, of) == component)
        sweep->pairs[i].asked = false;
    }
}

/* In the order of time: what is held may be met by others there. */
static int hold_all(step_sweep *sweep, const sweep_way *way) {
  for (;;) {
    sweep_pair *first = NULL;
    for (int i = 0; i < sweep->n_pairs; i++) {
      sweep_pair *pair = &sweep->pairs[i];
      if (pair->done) continue;
      if (!pair->asked && meet(sweep, way, pair) != GAP_OK)
        return GAP_NO_MEMORY;
      if (pair->found.hits &&
          (first == NULL || pair->found.share < first->found.share))
        first = pair;
    }
    if (first == NULL) return GAP_OK;
    first->done = true;
    for (int side = 0; side < 2; side++)
      if (is_held_by_sweep(sweep, first->body[side]))
        hold(sweep, first->body[side], first->found.share);
  }
}

/* @return how many became less */
static int take_shares(const step_sweep *sweep, double shares[]) {
  int n_held = 0;
  for (int b = 0; b < sweep->n_bodies; b++) {
    const sweep_body *body = &sweep->bodies[b];
    if (!(body->stops < shares[b]) || body->kinematic) continue;
    shares[b] = body->stops;
    n_held++;
  }
  return n_held;
}

bool step_sweep_hold(step_sweep *sweep, const sweep_way *way, double most,
                     double shares[], int *n_held) {
  *n_held = 0;
  begin(sweep, most);
  for (int b = 0; b < way->n_bodies; b++) shares[b] = 1;
  if (!step_sweep_find(sweep, way)) return false;
  if (sweep->n_fast == 0) return true;
  if (!find_components(sweep, way->world) || hold_all(sweep, way) != GAP_OK)
    return false;
  *n_held = take_shares(sweep, shares);
  return true;
}

/* How a body that goes on changes its velocity, as it is seen from where it begins: so no
 * turn brings energy. @return false: it is not changed */
static bool find_change(host_body *body, const sweep_way *way, size_t k,
                        const double v0[6], const double v1[6],
                        double change[6]) {
  char message[160];
  if (!host_body_read(body, way->bodies[k], 0, message, sizeof message) ||
      body->kinematic)
    return false;
  memcpy(change, v1, 6 * sizeof *change);
  world_pose_turn_along(&way->to->poses[k], &way->from->poses[k], change + 3);
  for (int i = 0; i < 6; i++) change[i] -= v0[i];
  return true;
}

bool step_sweep_keep(const sweep_way *way, const double shares[],
                     const double start[], size_t first, unsigned count,
                     double v[]) {
  double least = 1, a = 0, b = 0, c = 0; /* t^2 a + 2 t b + c <= 0 */
  host_body body;
  double change[6];
  for (size_t k = first; k < first + count; k++) least = fmin(least, shares[k]);
  if (!(least < 1)) return false;
  for (size_t k = first; k < first + count; k++) {
    const double *v0 = start + 6 * k, *u = way->from->v + 6 * k;
    if (!find_change(&body, way, k, v0, v + 6 * k, change)) continue;
    a += mass_product(body.mass, body.inertia, change, change);
    b += mass_product(body.mass, body.inertia, v0, change);
    for (int i = 0; i < 6; i++)
      c -= 2 * shares[k] * way->seconds * body.force[i] * u[i];
  }
  double part = 1;
  if (a + 2 * b + c > 0)
    part = b * b > a * c ? fmax(least, (sqrt(b * b - a * c) - b) / a) : least;
  for (size_t k = first; k < first + count; k++) {
    const double *v0 = start + 6 * k;
    world_pose held;
    if (!find_change(&body, way, k, v0, v + 6 * k, change)) continue;
    for (int i = 0; i < 6; i++) v[6 * k + i] = v0[i] + part * change[i];
    motion_body_between(&held, NULL, way->from, way->to, (int)k, shares[k]);
    world_pose_turn_along(&way->from->poses[k], &held, v + 6 * k + 3);
    way->to->poses[k] = held;
  }
  return true;
}

/* How a pair touches at a share of its way, m and m a second.
 * @return how many contacts there are, 0 or 1, or less: a gap_status */
static int touch_at(step_sweep *sweep, const sweep_pair *pair,
                    const sweep_way *way, double share, gap_contact *contact,
                    double u[3]) {
  const double NEAR = 1e-3; /* m */
  gap_mover mover[2];
  for (int side = 0; side < 2; side++)
    set_mover(sweep, pair->body[side], way, &mover[side]);
  sweep->queries++;
  int count =
      gap_sweep_look(sweep->gaps, pair->geom, mover, share, NEAR, contact, 1);
  for (int i = 0; i < 3; i++) u[i] = 0;
  for (int side = 0; side < 2 && count == 1; side++) {
    int b = pair->body[side];
    world_pose pose;
    double v[6], arm[3], turn[3], sign = side == 0 ? 1 : -1;
    if (b < 0) continue;
    motion_body_between(&pose, v, way->from, way->to, b, share);
    vec3_subtract(arm, contact->point, pose.position);
    vec3_cross(turn, v + 3, arm);
    for (int i = 0; i < 3; i++) u[i] += sign * (v[i] + turn[i]);
  }
  return count;
}

/* Hold a pair where it touches, if the velocity that it is left with by the normal at
 * the end were off by a part of its speed. */
static int hold_turned(step_sweep *sweep, const sweep_way *way,
                       const world_contact *end) {
  const double PART = 0.01;
  sweep_pair pair = {.geom = {end->geom[0], end->geom[1]}};
  gap_contact at;
  double u[3], inner = 1;
  bool known;
  for (int side = 0; side < 2; side++) {
    int b = pair.body[side] = find_body(sweep, dGeomGetBody(end->geom[side]));
    const sweep_body *body = &sweep->bodies[b >= 0 ? b : 0];
    /* what moves by itself is elsewhere than where it was met */
    if (b >= 0 && body->kinematic && (body->way > 0 || body->turning > 0))
      return GAP_OK;
  }
  int status = find_extents(sweep, &pair, &known);
  if (status != GAP_OK || !known) return status;
  for (int side = 0; side < 2; side++)
    inner = fmin(inner, inner_of(&pair.extent[side]));
  status = seek(sweep, &pair, way, 0, 1e-9 * inner);
  if (status != GAP_OK) return status;
  bool touches = pair.found.start_gap <= HAIR_BESIDE;
  if (!touches && (!pair.found.hits || pair.found.ran_out)) return GAP_OK;
  double share = touches ? 0 : pair.found.share;
  int count = touch_at(sweep, &pair, way, share, &at, u);
  if (count != 1) return count == GAP_NO_MEMORY ? count : GAP_OK;
  double cosine = vec3_dot(at.normal, end->point.normal);
  double sine = cosine > 0 ? sqrt(fmax(0, 1 - cosine * cosine)) : 1;
  if (!(-vec3_dot(at.normal, u) * sine > PART * vec3_length(u))) return GAP_OK;
  for (int side = 0; side < 2; side++)
    if (pair.body[side] >= 0) hold(sweep, pair.body[side], share);
  return GAP_OK;
}

static bool overlaps(const world_contact *contact) {
  const host_contact *point = &contact->point;
  return contact->found && point->gap < -hair_touch(point->position);
}

bool step_sweep_find_turned(step_sweep *sweep, const sweep_way *way,
                            const world_contacts *ends, double shares[],
                            int *n_held) {
  bool any = false;
  *n_held = 0;
  for (int k = 0; k < ends->n && !any; k++) any = overlaps(&ends->items[k]);
  if (!any) return true;
  if (!index_bodies(sweep) || !find_components(sweep, way->world)) return false;
  for (int k = 0; k < ends->n; k++)
    if (overlaps(&ends->items[k]) &&
        hold_turned(sweep, way, &ends->items[k]) != GAP_OK)
      return false;
  *n_held = take_shares(sweep, shares);
  return true;
}

/* --- ways within a step --------------------------------------------------- */

bool step_sweep_first(step_sweep *sweep, const sweep_way *way, double most,
                      bool (*touch)(const void *context, const int body[2]),
                      const void *context, double close, double *share) {
  /* m: gaps of cylinders are off by so much; what goes below by more does not part */
  const double KNOWN = 1e-10, ROUNDING = 4e-16;
  begin(sweep, most);
  *share = INFINITY;
  for (int i = 0; i < sweep->n_pairs; i++) {
    sweep_pair *pair = &sweep->pairs[i];
    pair->apart = !touch(context, pair->body);
    double far = 0;
    for (int side = 0; side < 2; side++)
      if (pair->body[side] >= 0)
        far =
            fmax(far, vec3_length(way->from->poses[pair->body[side]].position));
    double tolerance = fmax(KNOWN, ROUNDING * far), depth = 2 * tolerance;
    if (!pair->apart) depth = fmax(depth, held_depth(pair, false));
    if (seek(sweep, pair, way, depth, tolerance) != GAP_OK) return false;
    /* one that slides along another without an end is no event */
    pair->found.hits &= !pair->found.ran_out;
    if (pair->found.hits) *share = fmin(*share, pair->found.share);
  }
  for (int i = 0; i < sweep->n_pairs; i++) {
    sweep_pair *pair = &sweep->pairs[i];
    pair->meets = pair->found.hits && pair->found.share <= *share + close;
  }
  return true;
}

sweep_sight step_sweep_saw(const step_sweep *sweep, dGeomID one,
                           dGeomID other) {
  const sweep_pair *pair = find_pair(sweep, one, other);
  return pair != NULL ? (sweep_sight){pair->apart, pair->meets}
                      : (sweep_sight){false, false};
}

double step_sweep_turning(const step_sweep *sweep, const sweep_way *way) {
  double fastest = 0;
  for (int i = 0; i < sweep->n_pairs; i++)
    for (int side = 0; side < 2; side++) {
      int b = sweep->pairs[i].body[side];
      if (b < 0 || !(sweep->pairs[i].extent[side].reach > 0)) continue;
      fastest = fmax(fastest, vec3_length(way->from->v + 6 * b + 3));
    }
  return fastest;
}

void step_sweep_report(step_sweep *sweep, ode_mlcp_report *report) {
  report->sweep_queries += sweep->queries;
  report->solver_work += sweep->work;
  report->not_converged |= sweep->queries > 0 && sweep->work >= sweep->end;
  sweep->queries = 0;
  sweep->work = 0;
}

void step_sweep_release(step_sweep *sweep) {
  gap_context_destroy(sweep->gaps);
  sweep->gaps = NULL;
  if (sweep->probe != NULL) dGeomDestroy(sweep->probe);
  sweep->probe = NULL;
}
