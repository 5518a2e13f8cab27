#include "schemes/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec3.h"
#include "gap/gap_sweep.h"
#include "gap/real.h"
#include "host/patched_host.h"
#include "rows/hair.h"
#include "world/pose.h"
#include "world/rotation.h"

/* Of a body's half thickness: so deep it is held, where the program's own collision has
 * to see it. */
static const double SEEN = 0.02;

struct sweep_body {
  dBodyID id;
  double way;     /* m: how far its centre may go, */
  double turning; /* rad: and how far it may turn */
  double stops;   /* share of its way at which it is held */
  bool fast;      /* by the velocities of the step: it may be held */
  const sweep_way *along;
  int number; /* there */
};

struct sweep_pair {
  dGeomID geom[2];
  int body[2]; /* -1: none that is stepped */
  gap_extent extent[2];
  double inner; /* m: half the thickness of what is fast */
  bool
      kept_apart; /* by contacts without a spring: what overlaps is held, too */
  const world_contact *end; /* of one that overlaps there, else NULL */
  gap_sweep_result found;
  double
      stops;  /* the sum of its bodies' as it was asked; INFINITY: it was not */
  bool done;  /* they are held for it */
  bool apart; /* see sweep_sight */
};

/* --- the bodies ----------------------------------------------------------- */

/* Of a geom where it is placed now. @return false for a class without a gap */
static bool find_extent(step_sweep *sweep, dGeomID geom, gap_extent *extent) {
  double about[3] = {0};
  if (dGeomIsSpace(geom) || dGeomGetClass(geom) == dRayClass) return false;
  dBodyID body = dGeomGetBody(geom);
  if (body != NULL) real_read(about, dBodyGetPosition(body), 3);
  int status = gap_extent_find(sweep->gaps, geom, about, extent);
  sweep->failed |= status == GAP_NO_MEMORY;
  return status == GAP_OK;
}

/* True if a body goes further than half its own thickness. */
static bool is_fast(step_sweep *sweep, const sweep_body *body) {
  gap_extent extent;
  if (dBodyIsKinematic(body->id) || !(body->way > 0 || body->turning > 0))
    return false;
  for (dGeomID geom = dBodyGetFirstGeom(body->id); geom != NULL;
       geom = dBodyGetNextGeom(geom))
    if (find_extent(sweep, geom, &extent) &&
        body->way + body->turning * extent.reach > extent.inner)
      return true;
  return false;
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
  if (!ARENA_TAKE(&sweep->arena, sweep->bodies, n) ||
      !ARENA_TAKE(&sweep->arena, sweep->index.slots,
                  serial_table_room((size_t)n)))
    return false;
  serial_table_start(&sweep->index, (size_t)n);
  for (int b = 0; b < n; b++) {
    sweep_body *body = &sweep->bodies[b];
    const double *v = way->from->v + 6 * b;
    dBodyID id = way->bodies[b];
    *body = (sweep_body){.id = id, .stops = 1, .along = way, .number = b};
    body->way = way->seconds * vec3_length(v);
    body->turning =
        way->seconds * fmin(vec3_length(v + 3), dBodyGetMaxAngularSpeed(id));
    sweep->n_fast += body->fast = is_fast(sweep, body);
    serial_table_add(&sweep->index, dBodyGetSerial(id), b);
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

/* @param end  of one that is noted for how it touches there; else NULL */
static void add_pair(step_sweep *sweep, dGeomID one, dGeomID other,
                     bool kept_apart, bool sees_gaps,
                     const world_contact *end) {
  sweep_pair pair = {.geom = {one, other},
                     .kept_apart = kept_apart,
                     .end = end,
                     .inner = INFINITY,
                     .stops = INFINITY};
  for (int side = 0; side < 2; side++)
    pair.body[side] = find_body(sweep, dGeomGetBody(pair.geom[side]));
  if (!is_held_by_sweep(sweep, pair.body[0]) &&
      !is_held_by_sweep(sweep, pair.body[1]))
    return;
  for (int side = 0; side < 2; side++) {
    gap_extent *extent = &pair.extent[side];
    if (!find_extent(sweep, pair.geom[side], extent)) return;
    /* what is seen before it touches never gets behind a plane */
    if (sees_gaps && isinf(extent->inner)) return;
    if (is_held_by_sweep(sweep, pair.body[side]))
      pair.inner = fmin(pair.inner, extent->inner);
  }
  if (!POOL_GROW(sweep->pool, sweep->pairs, sweep->n_pairs + 1))
    sweep->failed = true;
  else
    sweep->pairs[sweep->n_pairs++] = pair;
}

/* --- pairs of programs that make their contacts themselves ----------------- */

/* True if a contact joint of this step keeps two bodies apart, or a body and the world,
 * and lets neither sink in as a spring of its own does. */
static bool are_kept_apart(dBodyID one, dBodyID other) {
  int n_joints = dBodyGetNumJoints(one);
  for (int j = 0; j < n_joints; j++) {
    dJointID joint = dBodyGetJoint(one, j);
    if (dJointGetType(joint) == dJointTypeContact &&
        (dJointGetBody(joint, 0) == other ||
         dJointGetBody(joint, 1) == other) &&
        !(dJointGetStepperContact(joint)->surface.mode &
          (dContactSoftERP | dContactSoftCFM)))
      return true;
  }
  return false;
}

/* A look into a space around the way of one geom. */
typedef struct space_look {
  step_sweep *sweep;
  dGeomID geom, probe;
} space_look;

static void look_at_near(void *data, dGeomID one, dGeomID other) {
  space_look *look = data;
  if (one != look->probe) other = one;
  if (other == look->geom) return;
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
  add_pair(look->sweep, look->geom, other, are_kept_apart(body, others), false,
           NULL);
}

/* The space that all others around a geom are in. */
static dSpaceID outermost_space(dGeomID geom) {
  dSpaceID space = dGeomGetSpace(geom);
  while (space != NULL && dGeomGetSpace((dGeomID)space) != NULL)
    space = dGeomGetSpace((dGeomID)space);
  return space;
}

/* Geoms that a geom of a fast body may meet: all that is near its way in its space. */
static void look_around(step_sweep *sweep, const sweep_body *body,
                        dGeomID geom) {
  dReal box[6];
  double centre[3], sides[3];
  gap_extent extent;
  dSpaceID space = outermost_space(geom);
  if (space == NULL || !dGeomIsEnabled(geom) ||
      !find_extent(sweep, geom, &extent))
    return;
  dGeomGetAABB(geom, box);
  double turns = fmin(body->turning, M_PI) * extent.reach;
  for (int i = 0; i < 3; i++) {
    double way =
        body->along->seconds * body->along->from->v[6 * body->number + i];
    double low = box[2 * i] + fmin(way, 0) - turns;
    double high = box[2 * i + 1] + fmax(way, 0) + turns;
    centre[i] = 0.5 * (low + high);
    sides[i] = high - low;
    if (!isfinite(sides[i]) || !(sides[i] > 0)) return;
  }
  if (sweep->probe == NULL) sweep->probe = dCreateBox(0, 1, 1, 1);
  dGeomID probe = sweep->probe;
  dGeomBoxSetLengths(probe, sides[0], sides[1], sides[2]);
  dGeomSetPosition(probe, centre[0], centre[1], centre[2]);
  dGeomSetCategoryBits(probe, dGeomGetCategoryBits(geom));
  dGeomSetCollideBits(probe, dGeomGetCollideBits(geom));
  space_look look = {sweep, geom, probe};
  dSpaceCollide2(probe, (dGeomID)space, &look, look_at_near);
}

static void find_pairs_in_spaces(step_sweep *sweep) {
  for (int b = 0; b < sweep->n_bodies; b++) {
    const sweep_body *body = &sweep->bodies[b];
    if (!is_held_by_sweep(sweep, b)) continue;
    for (dGeomID geom = dBodyGetFirstGeom(body->id); geom != NULL;
         geom = dBodyGetNextGeom(geom))
      look_around(sweep, body, geom);
  }
}

static void find_pairs(step_sweep *sweep, const sweep_way *way) {
  if (way->contacts->function == NULL) {
    find_pairs_in_spaces(sweep);
    return;
  }
  sweep->list.pool = sweep->pool;
  sweep->list.pairs_only = true;
  sweep->failed |=
      !contact_source_collect(way->contacts, way->world, way->seconds,
                              ODE_MLCP_MARGIN_AUTO, &sweep->list);
  for (int i = 0; i < sweep->list.n_pairs && !sweep->failed; i++) {
    const source_pair *pair = &sweep->list.pairs[i];
    add_pair(sweep, pair->geom[0], pair->geom[1], !pair->soft, true, NULL);
  }
}

/* The same where the way begins, at its velocities. */
static bool find_pairs_there(step_sweep *sweep, const sweep_way *way) {
  host_place *places;
  double *v;
  int n = way->n_bodies;
  if (way->home == NULL) return find_pairs(sweep, way), true;
  if (!ARENA_TAKE(&sweep->arena, places, n) ||
      !ARENA_TAKE(&sweep->arena, v, 6 * n))
    return false;
  world_place(way->home, way->from->poses, places, false);
  for (int b = 0; b < n; b++) {
    host_body_velocity(way->bodies[b], v + 6 * b);
    host_body_set_velocity(way->bodies[b], way->from->v + 6 * b);
  }
  find_pairs(sweep, way);
  world_put_back(way->home, places, false);
  for (int b = 0; b < n; b++) host_body_set_velocity(way->bodies[b], v + 6 * b);
  return true;
}

bool step_sweep_open(step_sweep *sweep) {
  if (sweep->gaps == NULL)
    sweep->gaps = gap_context_create(&sweep->pool->source);
  sweep->arena.source = &sweep->pool->source;
  arena_start(&sweep->arena);
  sweep->failed = false;
  return sweep->gaps != NULL;
}

bool step_sweep_find(step_sweep *sweep, const sweep_way *way) {
  return step_sweep_open(sweep) && read_bodies(sweep, way) &&
         (sweep->n_fast == 0 || find_pairs_there(sweep, way)) && !sweep->failed;
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
  double change[2];
  body->along = way;
  motion_body_bounds(way->from, way->to, b, mover->linear, &mover->turning,
                     change);
  mover->pose = pose_at;
  mover->context = body;
  const world_pose home = world_pose_read(body->id);
  vec3_copy(mover->start_position, home.position);
  quaternion_to_rotation(mover->start_rotation, home.quaternion);
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
static void seek(step_sweep *sweep, sweep_pair *pair, const sweep_way *way,
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
  sweep->work += pair->found.work / n_fast;
  pair->found.hits &= status == GAP_OK;
  sweep->failed |= status == GAP_NO_MEMORY;
}

/* The place where a pair meets: in touch, or where the program's own collision sees it. */
static void meet(step_sweep *sweep, const sweep_way *way, sweep_pair *pair) {
  const double ALIKE = 1 - 0.5 * 0.01 * 0.01;
  gap_sweep_result *found = &pair->found;
  double depth = way->contacts->function != NULL ? 0 : SEEN * pair->inner;
  seek(sweep, pair, way, depth,
       depth > 0 ? 0.1 * depth : 1e-9 * fmin(pair->inner, 1));
  /* what was seen to overlap, and is not kept apart, is let pass: in a world that is soft
   * as a whole, too (never_worse_play step 1 48: a door that a ball hits) */
  bool soft = host_world_cfm(way->world) > HOST_DEFAULT_CFM;
  if (found->start_gap <= -0.5 * depth && (soft || !pair->kept_apart))
    found->hits = false;
  /* one that overlaps at the end is held where it meets with another normal */
  if (pair->end != NULL)
    found->hits &= !found->ran_out &&
                   vec3_dot(found->normal, pair->end->point.normal) < ALIKE;
}

/* What joints tie together is held together. */
static void hold_tied(step_sweep *sweep) {
  for (int b = 0; b < sweep->n_bodies; b++) {
    const sweep_body *body = &sweep->bodies[b];
    bool spreads = body->stops < 1 && !dBodyIsKinematic(body->id);
    int n_joints = spreads ? dBodyGetNumJoints(body->id) : 0, least = b;
    for (int j = 0; j < n_joints; j++) {
      dJointID joint = dBodyGetJoint(body->id, j);
      bool ties =
          dJointGetType(joint) != dJointTypeContact && dJointIsEnabled(joint);
      for (int side = 0; side < 2 && ties; side++) {
        int other = find_body(sweep, dJointGetBody(joint, side));
        if (other < 0 || !(body->stops < sweep->bodies[other].stops)) continue;
        sweep->bodies[other].stops = body->stops;
        if (other < least) least = other;
      }
    }
    if (least < b) b = least - 1; /* go on from there */
  }
}

/* Ask for where a pair meets, again where its bodies have been held since; where the
 * budget is spent, what was found before stands. */
static void ask(step_sweep *sweep, const sweep_way *way, sweep_pair *pair) {
  double stops = 0;
  for (int side = 0; side < 2; side++)
    if (pair->body[side] >= 0) stops += sweep->bodies[pair->body[side]].stops;
  if (!(stops < pair->stops) ||
      (isfinite(pair->stops) && sweep->work >= sweep->end))
    return;
  pair->stops = stops;
  meet(sweep, way, pair);
}

/* In the order of time: what is held may be met by others there. */
static void hold_all(step_sweep *sweep, const sweep_way *way) {
  while (!sweep->failed) {
    sweep_pair *first = NULL;
    for (int i = 0; i < sweep->n_pairs; i++) {
      sweep_pair *pair = &sweep->pairs[i];
      if (pair->done) continue;
      ask(sweep, way, pair);
      if (pair->found.hits &&
          (first == NULL || pair->found.share < first->found.share))
        first = pair;
    }
    if (first == NULL) return;
    first->done = true;
    for (int side = 0; side < 2; side++) {
      int b = first->body[side];
      if (is_held_by_sweep(sweep, b))
        sweep->bodies[b].stops =
            fmin(sweep->bodies[b].stops, first->found.share);
    }
    hold_tied(sweep);
  }
}

/* @return how many became less */
static int take_shares(const step_sweep *sweep, double shares[]) {
  int n_held = 0;
  for (int b = 0; b < sweep->n_bodies; b++) {
    const sweep_body *body = &sweep->bodies[b];
    if (!(body->stops < shares[b]) || dBodyIsKinematic(body->id)) continue;
    shares[b] = body->stops;
    n_held++;
  }
  return n_held;
}

static bool overlaps(const world_contact *contact) {
  const host_contact *point = &contact->point;
  return contact->found && point->gap < -hair_touch(point->position);
}

/* Note what overlaps at the end of the way. */
static bool find_overlapping(step_sweep *sweep, const world_contacts *ends) {
  sweep->n_pairs = 0;
  for (int k = 0; k < ends->n; k++) {
    const world_contact *end = &ends->items[k];
    for (int side = 0; side < 2 && overlaps(end); side++) {
      int b = find_body(sweep, dGeomGetBody(end->geom[side]));
      if (b >= 0)
        sweep->bodies[b].fast = !dBodyIsKinematic(sweep->bodies[b].id);
    }
    if (overlaps(end))
      add_pair(sweep, end->geom[0], end->geom[1], true, true, end);
  }
  return !sweep->failed;
}

bool step_sweep_hold(step_sweep *sweep, const sweep_way *way,
                     const world_contacts *ends, double most, double shares[],
                     int *n_held) {
  *n_held = 0;
  begin(sweep, most);
  for (int b = 0; b < way->n_bodies && ends == NULL; b++) shares[b] = 1;
  if (!(ends == NULL ? step_sweep_find(sweep, way)
                     : find_overlapping(sweep, ends)))
    return false;
  hold_all(sweep, way);
  if (!sweep->failed) *n_held = take_shares(sweep, shares);
  return !sweep->failed;
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

/* --- ways within a step --------------------------------------------------- */

/* True if bodies touch where the way begins. */
static bool are_in_touch(const world_contacts *starts, const int body[2]) {
  for (int k = 0; k < starts->n; k++) {
    const world_contact *contact = &starts->items[k];
    const int *of = contact->point.body;
    if (contact->active && contact->stop < 0 &&
        ((of[0] == body[0] && of[1] == body[1]) ||
         (of[0] == body[1] && of[1] == body[0])))
      return true;
  }
  return false;
}

bool step_sweep_first(step_sweep *sweep, const sweep_way *way,
                      const world_contacts *starts, double most,
                      double *share) {
  const double FOUND = 0.1; /* cylinders' gaps are off by so much of a touch */
  begin(sweep, most);
  *share = INFINITY;
  for (int i = 0; i < sweep->n_pairs; i++) {
    sweep_pair *pair = &sweep->pairs[i];
    double tolerance = 0;
    for (int side = 0; side < 2; side++)
      if (pair->body[side] >= 0)
        tolerance = fmax(
            tolerance,
            FOUND * hair_touch(way->from->poses[pair->body[side]].position));
    double depth = 2 * tolerance;
    pair->apart = !are_in_touch(starts, pair->body);
    if (!pair->apart) depth = fmax(depth, SEEN * pair->inner);
    seek(sweep, pair, way, depth, tolerance);
    /* one that slides along another without an end is no event */
    pair->found.hits &= !pair->found.ran_out;
    if (pair->found.hits) *share = fmin(*share, pair->found.share);
  }
  return !sweep->failed;
}

sweep_sight step_sweep_saw(const step_sweep *sweep, dGeomID one,
                           dGeomID other) {
  const sweep_pair *pair = find_pair(sweep, one, other);
  return pair != NULL ? (sweep_sight){pair->apart, pair->found.hits}
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
