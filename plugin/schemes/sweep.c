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
  host_body start; /* pose and id alone */
  double u[6];     /* what moves it */
  double h;        /* s */
  bool exact;      /* as sweep_request.turns_exactly */
  double way;      /* m: how far its centre goes, */
  double turning;  /* rad: and how far it turns */
  double stops;    /* share of its way at which it is held */
  bool fast, moves;
  const sweep_way *along; /* NULL: u and the host's rule */
  int number;             /* in its home */
};

struct sweep_pair {
  dGeomID geom[2];
  int body[2]; /* -1: none that is stepped */
  gap_extent extent[2];
  double inner; /* m: half the thickness of what is fast */
  gap_sweep_result found;
  bool kept_apart; /* by hard contacts: what overlaps is held, too */
  bool done;
  bool apart, meets; /* see sweep_sight */
};

/* --- the bodies ----------------------------------------------------------- */

static double inner_of(const gap_extent *extent) {
  return extent->inner > 0 ? extent->inner : OF_MESH * extent->size;
}

static void read_body(sweep_body *body, const sweep_request *request, int b) {
  dBodyID id = request->bodies[b];
  const double *u = request->u + 6 * b, h = request->step_size;
  memset(body, 0, sizeof *body);
  body->start.id = id;
  body->start.serial = dBodyGetSerial(id);
  body->start.kinematic = dBodyIsKinematic(id);
  real_read(body->start.position, dBodyGetPosition(id), 3);
  const dReal *q = dBodyGetQuaternion(id);
  for (int i = 0; i < 4; i++) body->start.quaternion[i] = q[i];
  quaternion_to_rotation(body->start.rotation, body->start.quaternion);
  memcpy(body->u, u, sizeof body->u);
  body->h = h;
  body->exact = request->turns_exactly;
  body->stops = 1;
  body->way = h * vec3_length(u);
  body->turning = h * fmin(vec3_length(u + 3), dBodyGetMaxAngularSpeed(id));
  body->moves = body->way > 0 || body->turning > 0;
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
  for (dGeomID geom = dBodyGetFirstGeom(body->start.id);
       geom != NULL && !body->fast && !body->start.kinematic;
       geom = dBodyGetNextGeom(geom)) {
    gap_extent extent;
    if (dGeomIsSpace(geom) || dGeomGetClass(geom) == dRayClass) continue;
    double size = size_of(geom);
    if (body->way + body->turning * size <= THINNEST * size) continue;
    int status = gap_extent_find(gaps, geom, body->start.position, &extent);
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
  return b >= 0 && sweep->bodies[b].start.id == id ? b : -1;
}

/* @param any  out: any is fast; else there is nothing to be done: most steps end here */
static bool read_bodies(step_sweep *sweep, const sweep_request *request,
                        bool *any) {
  int n = sweep->n_bodies = request->n_bodies;
  sweep->n_fast = 0;
  if (!ARENA_TAKE(&sweep->arena, sweep->bodies, n)) return false;
  for (int b = 0; b < n; b++) {
    sweep_body *body = &sweep->bodies[b];
    read_body(body, request, b);
    if (find_fast(sweep->gaps, body) != GAP_OK) return false;
    sweep->n_fast += body->fast;
  }
  *any = sweep->n_fast > 0;
  return true;
}

/* For find_body. */
static bool index_bodies(step_sweep *sweep) {
  size_t n = (size_t)sweep->n_bodies;
  if (!ARENA_TAKE(&sweep->arena, sweep->index.slots, serial_table_room(n)))
    return false;
  serial_table_start(&sweep->index, n);
  for (int b = 0; b < sweep->n_bodies; b++)
    serial_table_add(&sweep->index, sweep->bodies[b].start.serial, b);
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
    bool ties =
        joints[j].contact == NULL && host_joint_steps(&joints[j], false);
    for (int side = 0; side < 2; side++) {
      body[side] = find_body(sweep, joints[j].body[side]);
      ties &= body[side] >= 0 && !sweep->bodies[body[side]].start.kinematic;
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

/* @param known  out: gaps between the two can be asked for */
static int find_extents(step_sweep *sweep, sweep_pair *pair, bool *known) {
  static const double origin[3] = {0, 0, 0};
  int status = GAP_OK;
  for (int side = 0; side < 2 && status == GAP_OK; side++) {
    int b = pair->body[side];
    status = gap_extent_find(sweep->gaps, pair->geom[side],
                             b >= 0 ? sweep->bodies[b].start.position : origin,
                             &pair->extent[side]);
  }
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
  int status =
      gap_extent_find(sweep->gaps, geom, body->start.position, &extent);
  if (status != GAP_OK) return status == GAP_NO_MEMORY ? status : GAP_OK;
  dGeomGetAABB(geom, box);
  double turns = fmin(body->turning, M_PI) * extent.reach;
  for (int i = 0; i < 3; i++) {
    double way = body->h * body->u[i];
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
    for (dGeomID geom = dBodyGetFirstGeom(body->start.id); geom != NULL;
         geom = dBodyGetNextGeom(geom)) {
      int status = look_around(sweep, body, geom, soft_world);
      if (status != GAP_OK) return status;
    }
  }
  return GAP_OK;
}

static int find_pairs(step_sweep *sweep, const sweep_request *request) {
  bool soft_world = host_world_cfm(request->world) > HOST_DEFAULT_CFM;
  sweep->n_pairs = 0;
  if (request->contacts->function == NULL)
    return find_pairs_in_spaces(sweep, soft_world);
  sweep->list.pool = sweep->pool;
  if (!contact_source_find_pairs(request->contacts, request->world,
                                 request->step_size, &sweep->list))
    return GAP_NO_MEMORY;
  for (int i = 0; i < sweep->list.n_pairs; i++) {
    const source_pair *pair = &sweep->list.pairs[i];
    if (add_pair(sweep, pair->geom[0], pair->geom[1],
                 !pair->soft && !soft_world, true) != GAP_OK)
      return GAP_NO_MEMORY;
  }
  return GAP_OK;
}

/* --- meetings ------------------------------------------------------------- */

static void advance(world_pose *pose, const host_body *body, const double u[6],
                    double h, bool exactly) {
  const world_pose from = world_pose_of(body);
  if (exactly)
    world_pose_move(pose, &from, u, h);
  else
    world_pose_advance(pose, body, u, h);
}

static void pose_at(const void *context, double share, double position[3],
                    double rotation[9]) {
  const sweep_body *body = context;
  const sweep_way *way = body->along;
  world_pose pose;
  if (way != NULL)
    motion_body_between(&pose, NULL, way->from, way->to, body->number, share);
  else
    advance(&pose, &body->start, body->u, share * body->h, body->exact);
  vec3_copy(position, pose.position);
  quaternion_to_rotation(rotation, pose.quaternion);
}

static void set_mover(step_sweep *sweep, int b, const sweep_way *way,
                      gap_mover *mover) {
  memset(mover, 0, sizeof *mover);
  if (b < 0 || (way == NULL && !sweep->bodies[b].moves)) return;
  sweep_body *body = &sweep->bodies[b];
  const host_body *home = way != NULL ? &way->home->bodies[b] : &body->start;
  body->along = way;
  mover->pose = pose_at;
  mover->context = body;
  vec3_copy(mover->start_position, home->position);
  memcpy(mover->start_rotation, home->rotation, sizeof mover->start_rotation);
  mover->stops = body->stops;
  if (way != NULL) {
    double change[2];
    motion_body_bounds(way->from, way->to, b, mover->linear, &mover->turning,
                       change);
    mover->bending = change[0];
    mover->twisting = change[1];
    return;
  }
  for (int i = 0; i < 9; i++)
    mover->linear[i / 3][i % 3] = body->h * body->u[i % 3];
  mover->turning = body->turning;
  if (!body->exact && !dBodyGetFiniteRotationMode(
                          body->start.id)) /* it turns by an arc tangent */
    mover->twisting = body->turning * body->turning;
}

/* Where a pair gets lower by `depth` than at its start, or than nothing.
 * @param way   NULL: bodies go straight
 * @param most  what may be added to sweep->work */
static int seek(step_sweep *sweep, sweep_pair *pair, const sweep_way *way,
                double most, double depth, double tolerance) {
  const double n_fast = fmax(sweep->n_fast, 1);
  gap_sweep_request sought = {.geom = {pair->geom[0], pair->geom[1]},
                              .extent = {pair->extent[0], pair->extent[1]},
                              .depth = depth,
                              .tolerance = tolerance,
                              .start_gap = NAN,
                              .most = most * n_fast};
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
static int meet(step_sweep *sweep, const sweep_request *request,
                sweep_pair *pair) {
  double depth = held_depth(pair, request->contacts->function != NULL);
  int status = seek(sweep, pair, NULL, INFINITY, depth,
                    depth > 0 ? 0.1 * depth : 1e-9 * fmin(pair->inner, 1));
  /* what was seen to overlap, and is not kept apart, is let pass */
  if (pair->found.start_gap <= -0.5 * depth && !pair->kept_apart)
    pair->found.hits = false;
  return status;
}

/* Hold a body, and what joints tie to it. */
static void hold(step_sweep *sweep, int b, double share) {
  int component = set_of(sweep->component, b);
  for (int i = 0; i < sweep->n_bodies; i++)
    if (set_of(sweep->component, i) == component &&
        sweep->bodies[i].stops > share)
      sweep->bodies[i].stops = share;
}

static bool was_held(const step_sweep *sweep, const sweep_pair *pair,
                     double share) {
  for (int side = 0; side < 2; side++)
    if (pair->body[side] >= 0 && sweep->bodies[pair->body[side]].stops == share)
      return true;
  return false;
}

/* The pair that meets first, of those that do. */
static sweep_pair *first_of(const step_sweep *sweep) {
  sweep_pair *first = NULL;
  for (int i = 0; i < sweep->n_pairs; i++) {
    sweep_pair *pair = &sweep->pairs[i];
    if (!pair->done && pair->found.hits &&
        (first == NULL || pair->found.share < first->found.share))
      first = pair;
  }
  return first;
}

/* In the order of time: what is held may be met by others there. */
static int hold_all(step_sweep *sweep, const sweep_request *request) {
  for (int i = 0; i < sweep->n_pairs; i++)
    if (meet(sweep, request, &sweep->pairs[i]) != GAP_OK) return GAP_NO_MEMORY;
  for (;;) {
    sweep_pair *first = first_of(sweep);
    if (first == NULL) return GAP_OK;
    first->done = true;
    double share = first->found.share;
    for (int side = 0; side < 2; side++)
      if (is_held_by_sweep(sweep, first->body[side]))
        hold(sweep, first->body[side], share);
    for (int i = 0; i < sweep->n_pairs; i++) {
      sweep_pair *pair = &sweep->pairs[i];
      if (!pair->done && was_held(sweep, pair, share) &&
          meet(sweep, request, pair) != GAP_OK)
        return GAP_NO_MEMORY;
    }
  }
}

/* @return how many became less */
static int take_shares(const step_sweep *sweep, double shares[]) {
  int n_held = 0;
  for (int b = 0; b < sweep->n_bodies; b++) {
    const sweep_body *body = &sweep->bodies[b];
    if (!(body->stops < shares[b]) || body->start.kinematic) continue;
    shares[b] = body->stops;
    n_held++;
  }
  return n_held;
}

bool step_sweep_open(step_sweep *sweep) {
  if (sweep->gaps == NULL)
    sweep->gaps = gap_context_create(&sweep->pool->source);
  sweep->arena.source = &sweep->pool->source;
  arena_start(&sweep->arena);
  return sweep->gaps != NULL;
}

static bool find_shares(step_sweep *sweep, const sweep_request *request,
                        double shares[], int *n_held) {
  bool any;
  *n_held = sweep->n_pairs = 0;
  for (int b = 0; b < request->n_bodies; b++) shares[b] = 1;
  if (!read_bodies(sweep, request, &any)) return false;
  if (!any) return true;
  if (!index_bodies(sweep) || !find_components(sweep, request->world) ||
      find_pairs(sweep, request) != GAP_OK ||
      hold_all(sweep, request) != GAP_OK)
    return false;
  *n_held = take_shares(sweep, shares);
  return true;
}

bool step_sweep_run(step_sweep *sweep, const sweep_request *request,
                    double shares[], int *n_held) {
  return step_sweep_open(sweep) && find_shares(sweep, request, shares, n_held);
}

/* How a body that goes on changes its velocity, as it is seen from where it begins: so no
 * turn brings energy. @return false: it is not changed */
static bool find_change(host_body *body, const sweep_request *request, size_t k,
                        const double v0[6], const double v1[6],
                        double change[6]) {
  char message[160];
  world_pose end;
  if (!host_body_read(body, request->bodies[k], 0, message, sizeof message) ||
      body->kinematic)
    return false;
  const world_pose start = world_pose_of(body);
  advance(&end, body, request->u + 6 * k, request->step_size,
          request->turns_exactly);
  memcpy(change, v1, 6 * sizeof *change);
  world_pose_turn_along(&end, &start, change + 3);
  for (int i = 0; i < 6; i++) change[i] -= v0[i];
  return true;
}

bool step_sweep_keep(const sweep_request *request, const double shares[],
                     const double start[], size_t first, unsigned count,
                     double v[]) {
  double least = 1, a = 0, b = 0, c = 0; /* t^2 a + 2 t b + c <= 0 */
  host_body body;
  double change[6];
  for (size_t k = first; k < first + count; k++) least = fmin(least, shares[k]);
  if (!(least < 1)) return false;
  for (size_t k = first; k < first + count; k++) {
    const double *v0 = start + 6 * k, *u = request->u + 6 * k;
    if (!find_change(&body, request, k, v0, v + 6 * k, change)) continue;
    a += mass_product(body.mass, body.inertia, change, change);
    b += mass_product(body.mass, body.inertia, v0, change);
    for (int i = 0; i < 6; i++)
      c -= 2 * shares[k] * request->step_size * body.force[i] * u[i];
  }
  double part = 1;
  if (a + 2 * b + c > 0)
    part = b * b > a * c ? fmax(least, (sqrt(b * b - a * c) - b) / a) : least;
  for (size_t k = first; k < first + count; k++) {
    const double *v0 = start + 6 * k;
    world_pose held;
    if (!find_change(&body, request, k, v0, v + 6 * k, change)) continue;
    const world_pose from = world_pose_of(&body);
    for (int i = 0; i < 6; i++) v[6 * k + i] = v0[i] + part * change[i];
    advance(&held, &body, request->u + 6 * k, shares[k] * request->step_size,
            request->turns_exactly);
    world_pose_turn_along(&from, &held, v + 6 * k + 3);
  }
  return true;
}

/* Add the velocity of a body's point, at v and from `position`. */
static void add_velocity(double u[3], double sign, const double v[6],
                         const double position[3], const double point[3]) {
  double arm[3], turn[3];
  vec3_subtract(arm, point, position);
  vec3_cross(turn, v + 3, arm);
  for (int i = 0; i < 3; i++) u[i] += sign * (v[i] + turn[i]);
}

/* The velocity of a pair at the point where it touches, m/s: how fast it closes there,
 * and in all. */
static int touch_speeds(step_sweep *sweep, const sweep_pair *pair, double share,
                        double normal[3], double *closing, double *speed) {
  const double NEAR = 1e-3; /* m */
  gap_mover mover[2];
  gap_contact contact;
  double u[3] = {0};
  *closing = *speed = 0;
  for (int side = 0; side < 2; side++)
    set_mover(sweep, pair->body[side], NULL, &mover[side]);
  int count =
      gap_sweep_contact(sweep->gaps, pair->geom, mover, share, NEAR, &contact);
  sweep->queries++;
  if (count != 1) return count == GAP_NO_MEMORY ? count : GAP_OK;
  for (int side = 0; side < 2; side++) {
    double position[3], rotation[9];
    if (pair->body[side] < 0) continue;
    const sweep_body *of = &sweep->bodies[pair->body[side]];
    pose_at(of, share, position, rotation);
    add_velocity(u, side == 0 ? 1 : -1, of->u, position, contact.point);
  }
  vec3_copy(normal, contact.normal);
  *closing = -vec3_dot(contact.normal, u);
  *speed = vec3_length(u);
  return GAP_OK;
}

/* Hold a pair where it touches, if the velocity that it is left with by the normal at
 * the end were off by a part of its speed. */
static int hold_turned(step_sweep *sweep, const world_contact *end) {
  const double PART = 0.01;
  sweep_pair pair = {.geom = {end->geom[0], end->geom[1]}};
  double normal[3] = {0}, closing, speed, inner = 1;
  bool known;
  for (int side = 0; side < 2; side++) {
    int b = pair.body[side] = find_body(sweep, dGeomGetBody(end->geom[side]));
    /* what moves by itself is elsewhere than where it was met */
    if (b >= 0 && sweep->bodies[b].start.kinematic && sweep->bodies[b].moves)
      return GAP_OK;
  }
  int status = find_extents(sweep, &pair, &known);
  if (status != GAP_OK || !known) return status;
  for (int side = 0; side < 2; side++)
    inner = fmin(inner, inner_of(&pair.extent[side]));
  status = seek(sweep, &pair, NULL, INFINITY, 0, 1e-9 * inner);
  if (status != GAP_OK) return status;
  bool touches = pair.found.start_gap <= HAIR_BESIDE;
  if (!touches && (!pair.found.hits || pair.found.ran_out)) return GAP_OK;
  double share = touches ? 0 : pair.found.share;
  status = touch_speeds(sweep, &pair, share, normal, &closing, &speed);
  if (status != GAP_OK) return status;
  double cosine = vec3_dot(normal, end->point.normal);
  double sine = cosine > 0 ? sqrt(fmax(0, 1 - cosine * cosine)) : 1;
  if (!(closing * sine > PART * speed)) return GAP_OK;
  for (int side = 0; side < 2; side++)
    if (pair.body[side] >= 0) hold(sweep, pair.body[side], share);
  return GAP_OK;
}

static bool overlaps(const world_contact *contact) {
  const host_contact *point = &contact->point;
  return contact->found && point->gap < -hair_touch(point->position);
}

bool step_sweep_find_turned(step_sweep *sweep, const sweep_request *request,
                            const world_contacts *ends, double shares[],
                            int *n_held) {
  bool any = false;
  *n_held = 0;
  for (int k = 0; k < ends->n && !any; k++) any = overlaps(&ends->items[k]);
  if (!any) return true;
  arena_start(&sweep->arena);
  if (!read_bodies(sweep, request, &any) || !index_bodies(sweep) ||
      !find_components(sweep, request->world))
    return false;
  for (int k = 0; k < ends->n; k++)
    if (overlaps(&ends->items[k]) &&
        hold_turned(sweep, &ends->items[k]) != GAP_OK)
      return false;
  *n_held = take_shares(sweep, shares);
  return true;
}

/* --- ways within a step --------------------------------------------------- */

static void set_velocity(dBodyID id, const double v[6]) {
  dBodySetLinearVel(id, v[0], v[1], v[2]);
  dBodySetAngularVel(id, v[3], v[4], v[5]);
}

/* The host's bodies where a way begins. */
typedef struct on_way {
  sweep_request request;
  host_place *places; /* where they were, */
  double *v;          /* and how fast */
} on_way;

static bool start_way(step_sweep *sweep, const sweep_way *way, const double u[],
                      on_way *on) {
  int n = way->home->n_bodies;
  dBodyID *ids;
  if (!step_sweep_open(sweep) || !ARENA_TAKE(&sweep->arena, ids, n) ||
      !ARENA_TAKE(&sweep->arena, on->places, n) ||
      !ARENA_TAKE(&sweep->arena, on->v, 6 * n))
    return false;
  for (int b = 0; b < n; b++) ids[b] = way->home->bodies[b].id;
  on->request = (sweep_request){.world = way->home->settings.world,
                                .step_size = way->step_size,
                                .n_bodies = n,
                                .bodies = ids,
                                .u = u,
                                .contacts = way->contacts};
  return true;
}

/* @param v  [6 n_bodies] their velocities there, which say what they may meet */
static void put_on_way(const sweep_way *way, const double v[], on_way *on) {
  world_place(way->home, way->from->poses, on->places, false);
  for (int b = 0; b < way->home->n_bodies; b++) {
    dBodyID id = on->request.bodies[b];
    real_read(on->v + 6 * b, dBodyGetLinearVel(id), 3);
    real_read(on->v + 6 * b + 3, dBodyGetAngularVel(id), 3);
    set_velocity(id, v + 6 * b);
  }
}

static void put_back(const sweep_way *way, const on_way *on) {
  world_put_back(way->home, on->places, false);
  for (int b = 0; b < way->home->n_bodies; b++)
    set_velocity(way->home->bodies[b].id, on->v + 6 * b);
}

bool step_sweep_start(step_sweep *sweep, const sweep_way *way) {
  /* what goes half as far already meets another side than the one it is found
   * over at the end, and its rates there say nothing of the way */
  const double EARLIER = 2;
  bool any;
  on_way on;
  sweep->n_pairs = 0;
  if (!start_way(sweep, way, way->from->v, &on)) return false;
  on.request.step_size *= EARLIER;
  if (!read_bodies(sweep, &on.request, &any)) return false;
  if (!any) return true;
  put_on_way(way, way->from->v, &on);
  bool found = read_bodies(sweep, &on.request, &any) && index_bodies(sweep) &&
               find_pairs(sweep, &on.request) == GAP_OK;
  put_back(way, &on);
  for (int b = 0; b < on.request.n_bodies && found; b++)
    sweep->bodies[b].number = b;
  return found;
}

bool step_sweep_hold(step_sweep *sweep, const sweep_way *way, const double u[],
                     int *n_held) {
  motion *to = way->to;
  double *shares;
  on_way on;
  if (!start_way(sweep, way, u, &on) ||
      !ARENA_TAKE(&sweep->arena, shares, on.request.n_bodies))
    return false;
  on.request.turns_exactly = true;
  put_on_way(way, to->v, &on);
  bool run = find_shares(sweep, &on.request, shares, n_held);
  bool any = run && step_sweep_keep(&on.request, shares, way->from->v, 0,
                                    (unsigned)on.request.n_bodies, to->v);
  put_back(way, &on);
  for (int b = 0; b < on.request.n_bodies && any; b++)
    if (shares[b] < 1 && !way->home->bodies[b].kinematic)
      world_pose_move(&to->poses[b], &way->from->poses[b], u + 6 * b,
                      shares[b] * way->step_size);
  return run;
}

bool step_sweep_first(step_sweep *sweep, const sweep_way *way, double most,
                      bool (*touch)(const void *context, const int body[2]),
                      const void *context, double close, double *share) {
  /* m: gaps of cylinders are off by so much; what goes below by more does not part */
  const double KNOWN = 1e-10, ROUNDING = 4e-16;
  const double end = sweep->work + most;
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
    if (seek(sweep, pair, way, end - sweep->work, depth, tolerance) != GAP_OK)
      return false;
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

void step_sweep_release(step_sweep *sweep) {
  gap_context_destroy(sweep->gaps);
  sweep->gaps = NULL;
  if (sweep->probe != NULL) dGeomDestroy(sweep->probe);
  sweep->probe = NULL;
}
