/* With a margin the program's own collision callback hears of geoms before they
 * touch: dCollide gives contacts with gaps, as negative depths, and spaces
 * report pairs that are near.
 *
 * These definitions stand before the host's, so that the program's calls come
 * here; the host's are next. */
#define _GNU_SOURCE // RTLD_NEXT

#include "preload/near_contacts.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "preload/next.h"
#include "preload/told_geoms.h"
#include "world/contact_source.h"
#include "rows/hair.h"

typedef int collide_function(dGeomID, dGeomID, int, dContactGeom *, int);
typedef void see_function(dGeomID, dGeomID, int);

static double margin;            /* m or ODE_MLCP_MARGIN_AUTO */
static bool own_points;          /* false: everything is the host's */
static _Thread_local int inside; /* the host itself calls these, too */
/* Hears of pairs that the host is not asked for; NULL without a recorder between. */
static see_function *tell_recorder;

/* --- how near ------------------------------------------------------------------ */

/* The margins of the world's pairs; its step is taken to be as long as the last
 * one. */
static ode_mlcp_contact_list pairs_of(dWorldID world) {
  const double FIRST_STEP = 1.0 / 60; /* s, until there is one */
  ode_mlcp_report last;
  ode_mlcp_contact_list list = {
      .world = world, .step_size = FIRST_STEP, .margin = margin};
  if (ode_mlcp_last_report(world, &last) == ODE_MLCP_OK && last.step_size > 0)
    list.step_size = last.step_size;
  return list;
}

static dBodyID body_of_pair(dGeomID one, dGeomID other) {
  dBodyID body = dGeomGetBody(one);
  return body == NULL && other != NULL ? dGeomGetBody(other) : body;
}

static double margin_of(dGeomID one, dGeomID other) {
  if (margin != ODE_MLCP_MARGIN_AUTO) return margin;
  dBodyID body = body_of_pair(one, other);
  if (body == NULL) return 0;
  const ode_mlcp_contact_list list = pairs_of(dBodyGetWorld(body));
  return ode_mlcp_pair_margin(&list, one, other);
}

/* --- contacts ---------------------------------------------------------------- */

static bool is_mesh(dGeomID geom) {
  int type = dGeomGetClass(geom);
  return type == dTriMeshClass || type == dHeightfieldClass;
}

/* Classes that have a gap. Geom transforms have rules of their own for what they
 * report, and users' classes colliders of their own. */
static bool has_gap(dGeomID geom) {
  int type = dGeomGetClass(geom);
  return !dGeomIsSpace(geom) && type != dRayClass &&
         type != dGeomTransformClass &&
         (type < dFirstUserClass || type > dLastUserClass);
}

static bool is_near(const dContactGeom *a, const dContactGeom *b) {
  const double SAME = 1e-4;
  double square = 0;
  for (int i = 0; i < 3; i++)
    square += (a->pos[i] - b->pos[i]) * (a->pos[i] - b->pos[i]);
  return square < SAME * SAME;
}

static dContactGeom *at(dContactGeom *contacts, int index, int skip) {
  return (dContactGeom *)((char *)contacts + (ptrdiff_t)index * skip);
}

/* Points that only come near, after the `count` contacts that the host found. */
static int add_near(dGeomID one, dGeomID other, double near, int room,
                    dContactGeom *contacts, int skip, int count) {
  enum { MOST = 32 }; // a program's stack may be small
  dContactGeom found[MOST];
  int n_found =
      ode_mlcp_find_contacts(one, other, near, found, MOST, sizeof found[0]);
  for (int k = 0; k < n_found && count < room; k++) {
    bool known = found[k].depth >= 0;
    for (int i = 0; i < count && !known; i++)
      known = is_near(&found[k], at(contacts, i, skip));
    if (!known) *at(contacts, count++, skip) = found[k];
  }
  return count;
}

/* m: what gravity moves in a step of the pair's world. */
static double gravity_way(dGeomID one, dGeomID other) {
  dBodyID body = body_of_pair(one, other);
  if (body == NULL) return 0;
  dVector3 gravity;
  dWorldGetGravity(dBodyGetWorld(body), gravity);
  double h = pairs_of(dBodyGetWorld(body)).step_size;
  return vec3_length(real3(gravity).at) * h * h;
}

/* m: of a point from the nearer of two bodies' centres. */
static double arm_of(dGeomID one, dGeomID other, const dReal point[3]) {
  const dBodyID bodies[] = {dGeomGetBody(one), dGeomGetBody(other)};
  double least = INFINITY, arm[3];
  for (int side = 0; side < 2; side++) {
    if (bodies[side] == NULL) continue;
    vec3_subtract(arm, real3(point).at,
                  real3(dBodyGetPosition(bodies[side])).at);
    least = fmin(least, vec3_length(arm));
  }
  return least;
}

/* m: the widest hair between them, wherever it is. */
static double most_hair(dGeomID one, dGeomID other, double way) {
  dBodyID body = body_of_pair(one, other);
  const real3_copy at =
      body != NULL ? real3(dBodyGetPosition(body)) : (real3_copy){{0}};
  return hair_gap(way, INFINITY, at.at);
}

/* Leave those of `count` contacts that touch but for a hair: of a face at depth 0
 * rounding opens a corner, and what covers a seam must be heard of
 * (tests/test_preload_floors.sh). */
static int keep_touching(dGeomID one, dGeomID other, double way,
                         dContactGeom *contacts, int skip, int count) {
  int left = 0;
  for (int i = 0; i < count; i++) {
    const dContactGeom *contact = at(contacts, i, skip);
    if (-contact->depth <=
        hair_gap(way, arm_of(one, other, contact->pos), real3(contact->pos).at))
      *at(contacts, left++, skip) = *contact;
  }
  return left;
}

/* @return negative where there are no gaps of this pair. */
static int collide_by_gaps(dGeomID one, dGeomID other, double near, int room,
                           dContactGeom *contacts, int skip) {
  if (near > 0)
    return ode_mlcp_find_contacts(one, other, near, contacts, room,
                                  (size_t)skip);
  double way = gravity_way(one, other);
  int count = ode_mlcp_find_contacts(one, other, most_hair(one, other, way),
                                     contacts, room, (size_t)skip);
  return count > 0 ? keep_touching(one, other, way, contacts, skip, count)
                   : count;
}

/* True if a contact is deeper than one is, as in rows of the step. */
static bool overlaps(dGeomID one, dGeomID other, dContactGeom *contacts,
                     int skip, int count) {
  const double PART = 0.1; /* of an arm */
  for (int i = 0; i < count; i++) {
    const dContactGeom *contact = at(contacts, i, skip);
    if (contact->depth > PART * arm_of(one, other, contact->pos)) return true;
  }
  return false;
}

static int collide_by_host(collide_function *host, dGeomID one, dGeomID other,
                           int flags, dContactGeom *contacts, int skip) {
  inside++;
  int count = host(one, other, flags, contacts, skip);
  inside--;
  return count;
}

/* A mesh that is entered is the host's matter, where it tells anything: the surface
 * alone does not say how deep. */
static int collide_mesh(collide_function *host, dGeomID one, dGeomID other,
                        int flags, double near, dContactGeom *contacts,
                        int skip) {
  int room = flags & 0xffff;
  int count = collide_by_host(host, one, other, flags, contacts, skip);
  if (!overlaps(one, other, contacts, skip, count)) {
    int by_gaps = collide_by_gaps(one, other, near, room, contacts, skip);
    if (by_gaps >= 0 &&
        (count == 0 ||
         (by_gaps > 0 && !overlaps(one, other, contacts, skip, by_gaps))))
      return by_gaps;
    count = collide_by_host(host, one, other, flags, contacts, skip);
  }
  return near > 0 ? add_near(one, other, near, room, contacts, skip, count)
                  : count;
}

/* Pairs that the host tells better where no margin is wanted. Of two meshes the surfaces
 * alone do not say which way out is. Bodies broken into convex cells have whole faces in
 * touch: measured, they make problems that are too large. */
static bool is_for_host(dGeomID one, dGeomID other) {
  bool meshes = is_mesh(one) && is_mesh(other);
  bool cells = dGeomGetClass(one) == dConvexClass &&
               dGeomGetClass(other) == dConvexClass &&
               dGeomGetBody(one) != NULL && dGeomGetBody(other) != NULL;
  return margin == 0 && (meshes || cells);
}

static int collide_within_margin(collide_function *host, dGeomID one,
                                 dGeomID other, int flags,
                                 dContactGeom *contacts, int skip) {
  double near = margin_of(one, other);
  if (is_for_host(one, other)) return host(one, other, flags, contacts, skip);
  if (is_mesh(one) || is_mesh(other))
    return collide_mesh(host, one, other, flags, near, contacts, skip);
  int count = collide_by_gaps(one, other, near, flags & 0xffff, contacts, skip);
  if (count > 0 && tell_recorder != NULL) tell_recorder(one, other, flags);
  return count >= 0 ? count : host(one, other, flags, contacts, skip);
}

VISIBLE int dCollide(dGeomID one, dGeomID other, int flags,
                     dContactGeom *contacts, int skip) {
  NEXT(dCollide)
  /* the host asks for what a transform holds */
  static _Thread_local int within;
  int count;
  if (inside > 0 || one == NULL || other == NULL || contacts == NULL ||
      (flags & 0xffff) == 0 || one == other || skip < (int)sizeof *contacts ||
      !has_gap(one) || !has_gap(other) ||
      dGeomGetBody(one) == dGeomGetBody(other)) { // of one body, or of none
    within++;
    count = next(one, other, flags, contacts, skip);
    within--;
    return count;
  }
  count = own_points
              ? collide_within_margin(next, one, other, flags, contacts, skip)
              : next(one, other, flags, contacts, skip);
  if (count > 0 && within == 0) {
    told_geoms_add(one);
    told_geoms_add(other);
  }
  return count;
}

/* dCollide by its own name is whichever comes first. */
extern collide_function own_collide
    __attribute__((alias("dCollide"), visibility("hidden")));

bool near_contacts_set(double wanted, bool own) {
  margin = wanted;
  own_points = own;
  *(void **)&tell_recorder = dlsym(RTLD_DEFAULT, "ode_mlcp_recorder_see_pair");
  return !own || dlsym(RTLD_DEFAULT, "dCollide") == (void *)&own_collide;
}

/* --- boxes -------------------------------------------------------------------- */

/* With the margin on the box of what moves, spaces report what is near it. What
 * moved they sort anew anyway. */
static void widen(dGeomID geom, double needed) {
  if (margin == 0) needed = most_hair(geom, NULL, gravity_way(geom, NULL));
  if (dGeomGetAABBMargin(geom) != needed) dGeomSetAABBMargin(geom, needed);
}

VISIBLE void dGeomSetBody(dGeomID geom, dBodyID body) {
  NEXT(dGeomSetBody)
  next(geom, body);
  if (own_points && body != NULL) widen(geom, margin_of(geom, NULL));
}

void near_contacts_follow(dWorldID world) {
  if (!own_points || (margin != 0 && margin != ODE_MLCP_MARGIN_AUTO)) return;
  size_t count = dWorldGetBodies(world, NULL, 0);
  dBodyID *bodies = malloc(count * sizeof *bodies);
  if (bodies == NULL) return;
  dWorldGetBodies(world, bodies, count);
  const ode_mlcp_contact_list list = pairs_of(world);
  for (size_t i = 0; i < count; i++)
    for (dGeomID geom = dBodyGetFirstGeom(bodies[i]); geom != NULL;
         geom = dBodyGetNextGeom(geom))
      widen(geom, ode_mlcp_pair_margin(&list, geom, NULL));
  free(bodies);
}
