#include "world/contact_source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "rows/hair.h"

/* --- the list --------------------------------------------------------------- */

static ode_mlcp_error fail(ode_mlcp_contact_list *list, ode_mlcp_error error,
                           const char *message) {
  if (list->error == ODE_MLCP_OK) {
    list->error = error;
    snprintf(list->message, sizeof list->message, "%s", message);
  }
  return error;
}

static ode_mlcp_error fail_memory(ode_mlcp_contact_list *list) {
  return fail(list, ODE_MLCP_NO_MEMORY, "memory ran out for contacts");
}

static bool moves(dBodyID body) { return body != NULL && dBodyIsEnabled(body); }

static void velocity_at(double velocity[3], dBodyID body, const dReal *point,
                        double step_size) {
  dVector3 of = {0}, gravity;
  if (body != NULL) dBodyGetPointVel(body, point[0], point[1], point[2], of);
  real_read(velocity, of, 3);
  if (!moves(body) || dBodyIsKinematic(body) || !dBodyGetGravityMode(body))
    return;
  dWorldGetGravity(dBodyGetWorld(body), gravity);
  vec3_add_scaled(velocity, step_size, real3(gravity).at);
}

/* A body that sleeps is woken up by what will touch it in this step, not by
 * what only comes near. */
static bool wakes(const ode_mlcp_contact_list *list, dBodyID body1,
                  dBodyID body2, const dContactGeom *geom) {
  bool sleeps = (body1 != NULL && !dBodyIsEnabled(body1)) ||
                (body2 != NULL && !dBodyIsEnabled(body2));
  if (!sleeps) return true;

  double v1[3], v2[3], apart[3];
  velocity_at(v1, body1, geom->pos, list->step_size);
  velocity_at(v2, body2, geom->pos, list->step_size);
  vec3_subtract(apart, v1, v2);
  return -geom->depth +
             list->step_size * vec3_dot(apart, real3(geom->normal).at) <=
         HAIR_BESIDE;
}

/* Hidden islands do not move. */
static bool of_interest(const ode_mlcp_contact_list *list, dBodyID body1,
                        dBodyID body2) {
  return list->source->shown == NULL || moves(body1) || moves(body2);
}

static ode_mlcp_error add(ode_mlcp_contact_list *list, dBodyID body1,
                          dBodyID body2, const dContact *contact, int polygon) {
  if (!of_interest(list, body1, body2)) return ODE_MLCP_OK;
  if (list->pairs_only) return ODE_MLCP_OK;
  if (!wakes(list, body1, body2, &contact->geom)) return ODE_MLCP_OK;
  if (!POOL_GROW(list->pool, list->contacts, list->n_contacts + 1))
    return fail_memory(list);
  list->contacts[list->n_contacts++] = (source_contact){
      .body = {body1, body2}, .contact = *contact, .polygon = polygon};
  return ODE_MLCP_OK;
}

ode_mlcp_error ode_mlcp_add_contact(ode_mlcp_contact_list *list, dBodyID body1,
                                    dBodyID body2, const dContact *contact) {
  if (list == NULL || contact == NULL) return ODE_MLCP_BAD_ARGUMENT;
  if (body1 == body2 ||
      (body1 != NULL && dBodyGetWorld(body1) != list->world) ||
      (body2 != NULL && dBodyGetWorld(body2) != list->world))
    return fail(list, ODE_MLCP_BAD_ARGUMENT,
                "a contact was given for one body, none, or one of another "
                "world");
  dContact turned = *contact;
  if (body1 == NULL) {
    turned.geom.g1 = contact->geom.g2;
    turned.geom.g2 = contact->geom.g1;
    turned.geom.side1 = contact->geom.side2;
    turned.geom.side2 = contact->geom.side1;
    for (int i = 0; i < 3; i++)
      turned.geom.normal[i] = -contact->geom.normal[i];
    body1 = body2;
    body2 = NULL;
  }
  return add(list, body1, body2, &turned, -1);
}

/* --- margins ------------------------------------------------------------------ */

/* How fast the surface of a geom can move beside the centre of its body, which moves. */
static double turning_speed(const ode_mlcp_contact_list *list, dGeomID geom) {
  dBodyID body = dGeomGetBody(geom);
  double speed = 0, turning = vec3_length(real3(dBodyGetAngularVel(body)).at);
  if (turning > 0) {
    dReal box[6];
    dGeomGetAABB(geom, box);
    const dReal *x = dBodyGetPosition(body);
    double far = 0, margin = dGeomGetAABBMargin(geom);
    for (int i = 0; i < 3; i++) {
      /* without the margin, which would grow by itself from step to step */
      double side = fmax(x[i] - box[2 * i], box[2 * i + 1] - x[i]) - margin;
      far += side * side;
    }
    speed = turning * sqrt(far);
  }
  dVector3 gravity;
  dWorldGetGravity(list->world, gravity);
  if (!dBodyIsKinematic(body) && dBodyGetGravityMode(body))
    speed += list->step_size * vec3_length(real3(gravity).at);
  return speed;
}

/* How far `speed` takes in two steps. */
static double reach(const ode_mlcp_contact_list *list, double speed) {
  double way = 2 * list->step_size * speed;
  return (isfinite(way) ? way : 0) + HAIR_BESIDE;
}

double ode_mlcp_pair_margin(const ode_mlcp_contact_list *list, dGeomID geom1,
                            dGeomID geom2) {
  if (list->margin != ODE_MLCP_MARGIN_AUTO) return list->margin;
  double apart[3] = {0, 0, 0}, turning = 0;
  dGeomID geoms[2] = {geom1, geom2};
  for (int side = 0; side < 2; side++) {
    dBodyID body = geoms[side] != NULL ? dGeomGetBody(geoms[side]) : NULL;
    if (!moves(body)) continue;
    turning += turning_speed(list, geoms[side]);
    vec3_add_scaled(apart, side == 0 ? 1 : -1,
                    real3(dBodyGetLinearVel(body)).at);
  }
  return reach(list, vec3_length(apart) + turning);
}

/* The box of what moves is made larger by its share: a space sorts what moved anew
 * anyway. What stands still needs nothing. Geoms are found by their bodies: not every kind
 * of space lists its own. */
static void raise_margins_of(const ode_mlcp_contact_list *list,
                             dBodyID const bodies[], size_t count) {
  for (size_t i = 0; i < count; i++)
    for (dGeomID geom = dBodyGetFirstGeom(bodies[i]); geom != NULL;
         geom = dBodyGetNextGeom(geom)) {
      double needed = ode_mlcp_pair_margin(list, geom, NULL);
      if (dGeomGetAABBMargin(geom) != needed) dGeomSetAABBMargin(geom, needed);
    }
}

static bool raise_margins(ode_mlcp_contact_list *list) {
  for (size_t i = 0; i < list->source->n_shown; i++)
    raise_margins_of(list, list->source->shown[i].bodies,
                     list->source->shown[i].bodies_count);
  if (list->source->shown != NULL) return true;
  int count = contact_source_list_bodies(list, list->world);
  if (count >= 0) raise_margins_of(list, list->bodies, (size_t)count);
  return count >= 0;
}

/* --- pairs --------------------------------------------------------------------- */

/* The geom of the older body first, one without a body last: spaces give pairs
 * now one way round, now the other. */
static void order_pair(dGeomID *geom1, dGeomID *geom2) {
  dBodyID body1 = dGeomGetBody(*geom1), body2 = dGeomGetBody(*geom2);
  bool ordered = body2 == NULL || (body1 != NULL && dBodyGetSerial(body1) <=
                                                        dBodyGetSerial(body2));
  if (ordered) return;
  dGeomID geom = *geom1;
  *geom1 = *geom2;
  *geom2 = geom;
}

static bool surface_usable(const ode_mlcp_surface *surface) {
  if (surface->n_polygon == 0) return true;
  return surface->n_polygon >= 2 &&
         surface->n_polygon <= ODE_MLCP_POLYGON_MAX &&
         contact_polygon_convex(surface->n_polygon, surface->polygon);
}

static int keep_polygon(ode_mlcp_contact_list *list,
                        const ode_mlcp_surface *surface) {
  if (!POOL_GROW(list->pool, list->polygons, list->n_polygons + 1)) return -1;
  contact_polygon *polygon = &list->polygons[list->n_polygons];
  polygon->n = surface->n_polygon;
  memcpy(polygon->vertex, surface->polygon, sizeof surface->polygon);
  return list->n_polygons++;
}

/* Direction 1 of the surface, in the contact's plane; without one that is of
 * use there, the host's choice. */
static void set_direction(dContact *contact, const ode_mlcp_surface *surface) {
  if (!(surface->parameters.mode & dContactFDir1)) return;
  double direction[3], normal[3];
  real_read(direction, surface->fdir1, 3);
  real_read(normal, contact->geom.normal, 3);
  vec3_add_scaled(direction, -vec3_dot(direction, normal), normal);
  if (!(vec3_normalise(direction) >
        1e-6 * vec3_length(real3(surface->fdir1).at))) {
    contact->surface.mode &= ~dContactFDir1;
    return;
  }
  real_write(contact->fdir1, direction, 3);
}

/* A contact acts half-way between two bodies, so that they turn as much as they
 * push each other; a body that meets the world is held by its own surface. */
static double contact_shift(dGeomID geom2, double gap) {
  return dGeomGetBody(geom2) == NULL ? 0.5 * gap : 0;
}

static dContact make_contact(dGeomID geom1, dGeomID geom2,
                             const gap_contact *found,
                             const ode_mlcp_surface *surface) {
  dContact contact;
  memset(&contact, 0, sizeof contact);
  contact.surface = surface->parameters;
  contact.geom = (dContactGeom){.depth = -found->gap,
                                .g1 = geom1,
                                .g2 = geom2,
                                .side1 = found->triangle[0],
                                .side2 = found->triangle[1]};
  double shift = contact_shift(geom2, found->gap);
  for (int i = 0; i < 3; i++) {
    contact.geom.pos[i] = found->point[i] + shift * found->normal[i];
    contact.geom.normal[i] = found->normal[i];
  }
  set_direction(&contact, surface);
  return contact;
}

int contact_source_query(gap_context *gaps, memory_pool *pool,
                         gap_contact **found, dGeomID geom1, dGeomID geom2,
                         double margin, int flags) {
  for (size_t room = GAP_PAIR_ROOM;; room *= 4) {
    if (!POOL_RESERVE(pool, *found, room)) return GAP_NO_MEMORY;
    int count = gap_query(gaps, geom1, geom2, margin, flags, *found, (int)room);
    /* a mesh can fill any room */
    if (count < (int)room || room > 100000) return count;
  }
}

ode_mlcp_error ode_mlcp_add_pair(ode_mlcp_contact_list *list, dGeomID geom1,
                                 dGeomID geom2,
                                 const ode_mlcp_surface *surface) {
  if (list == NULL || geom1 == NULL || geom2 == NULL || surface == NULL)
    return ODE_MLCP_BAD_ARGUMENT;
  if (!surface_usable(surface))
    return fail(list, ODE_MLCP_BAD_ARGUMENT,
                "a friction polygon is not convex and counter-clockwise within "
                "half a turn");
  order_pair(&geom1, &geom2);
  dBodyID body1 = dGeomGetBody(geom1), body2 = dGeomGetBody(geom2);
  if (body1 == body2 || !of_interest(list, body1, body2)) return ODE_MLCP_OK;
  if (dBodyGetWorld(body1) != list->world ||
      (body2 != NULL && dBodyGetWorld(body2) != list->world))
    return fail(list, ODE_MLCP_BAD_ARGUMENT,
                "a pair of geoms has a body of another world");

  if (list->pairs_only) {
    if (!POOL_GROW(list->pool, list->pairs, list->n_pairs + 1))
      return fail_memory(list);
    list->pairs[list->n_pairs++] = (source_pair){
        {geom1, geom2},
        (surface->parameters.mode & (dContactSoftERP | dContactSoftCFM)) != 0};
    return ODE_MLCP_OK;
  }
  int count = contact_source_query(list->source->inner.gaps, list->pool,
                                   &list->found, geom1, geom2,
                                   ode_mlcp_pair_margin(list, geom1, geom2),
                                   surface->reduce ? GAP_REDUCE : 0);
  if (count == GAP_NO_MEMORY) return fail_memory(list);
  if (count < 0)
    return fail(list, ODE_MLCP_BAD_ARGUMENT,
                gap_context_error(list->source->inner.gaps));

  int polygon = -1;
  if (surface->n_polygon > 0 && count > 0) {
    polygon = keep_polygon(list, surface);
    if (polygon < 0) return fail_memory(list);
  }
  ode_mlcp_error error = ODE_MLCP_OK;
  for (int i = 0; i < count && error == ODE_MLCP_OK; i++) {
    const gap_contact *found = &list->found[i];
    dContact contact = make_contact(geom1, geom2, found, surface);
    int before = list->n_contacts;
    error = add(list, body1, body2, &contact, polygon);
    if (list->n_contacts == before) continue;
    list->contacts[before].has_geoms = true;
    memcpy(list->contacts[before].feature, found->feature,
           sizeof found->feature);
  }
  return error;
}

/* --- spaces ------------------------------------------------------------------- */

typedef struct space_search {
  ode_mlcp_contact_list *list;
  ode_mlcp_surface_function *function;
  void *context;
} space_search;

static void take_pair(void *data, dGeomID geom1, dGeomID geom2) {
  space_search *search = data;
  if (search->list->error != ODE_MLCP_OK) return;
  if (dGeomIsSpace(geom1) || dGeomIsSpace(geom2)) {
    dSpaceCollide2(geom1, geom2, data, take_pair);
    return;
  }
  if (dGeomGetClass(geom1) == dRayClass || dGeomGetClass(geom2) == dRayClass)
    return;
  order_pair(&geom1, &geom2);
  dBodyID body1 = dGeomGetBody(geom1), body2 = dGeomGetBody(geom2);
  if (body1 == body2 || !of_interest(search->list, body1, body2) ||
      (body1 != NULL && body2 != NULL &&
       dAreConnectedExcluding(body1, body2, dJointTypeContact)))
    return;

  ode_mlcp_surface surface;
  memset(&surface, 0, sizeof surface);
  if (!search->function(search->context, geom1, geom2, &surface)) return;
  ode_mlcp_add_pair(search->list, geom1, geom2, &surface);
}

/* A hash space ends the program where a geom is further away than 2^31 of the cells
 * that it is sorted into, 2^24 in single precision, or nowhere. */
static bool is_in_hash_space(dGeomID geom, int least_level, int most_level) {
  const double CELLS =
      sizeof(dReal) == sizeof(double) ? 0x1p31 - 1 : 0x1p24 - 1;
  dReal box[6];
  int level;
  double size = 0;
  dGeomGetAABB(geom, box);
  for (int i = 0; i < 6; i++)
    if (isinf(box[i])) return true; /* a plane: kept apart */
  for (int k = 0; k < 6; k += 2) size = fmax(size, box[k + 1] - box[k]);
  frexp(size, &level);
  if (level < least_level) level = least_level;
  for (int i = 0; i < 6 && level <= most_level; i++)
    if (!(fabs(ldexp(box[i], -level)) < CELLS)) return false;
  return true;
}

static bool takes_geom(ode_mlcp_contact_list *list, dGeomID geom,
                       const int levels[2]) {
  if (!dGeomIsEnabled(geom) || is_in_hash_space(geom, levels[0], levels[1]))
    return true;
  dBodyID body = dGeomGetBody(geom);
  char message[sizeof list->message];
  dReal box[6];
  dGeomGetAABB(geom, box);
  snprintf(message, sizeof message,
           "a geom of body %lu at (%g, %g, %g) is out of the range of the "
           "host's hash space",
           body != NULL ? dBodyGetSerial(body) : 0, box[0], box[2], box[4]);
  fail(list, ODE_MLCP_BAD_ARGUMENT, message);
  return false;
}

static bool takes_all_geoms(ode_mlcp_contact_list *list, dSpaceID space) {
  int levels[2];
  if (dSpaceGetClass(space) != dHashSpaceClass) return true;
  dHashSpaceGetLevels(space, &levels[0], &levels[1]);
  for (int i = 0; i < dSpaceGetNumGeoms(space); i++)
    if (!takes_geom(list, dSpaceGetGeom(space, i), levels)) return false;
  return true;
}

static void collide_within(space_search *search, dSpaceID space) {
  if (!takes_all_geoms(search->list, space)) return;
  dSpaceCollide(space, search, take_pair);
  /* the host's quadtree space does not list its geoms */
  if (dSpaceGetClass(space) == dQuadTreeSpaceClass) return;
  int count = dSpaceGetNumGeoms(space);
  for (int i = 0; i < count; i++) {
    dGeomID geom = dSpaceGetGeom(space, i);
    if (dGeomIsSpace(geom)) collide_within(search, (dSpaceID)geom);
  }
}

ode_mlcp_error ode_mlcp_collide_space(ode_mlcp_contact_list *list,
                                      dSpaceID space,
                                      ode_mlcp_surface_function *function,
                                      void *context) {
  if (list == NULL || space == NULL || function == NULL)
    return ODE_MLCP_BAD_ARGUMENT;
  if (!raise_margins(list)) return fail_memory(list);
  space_search search = {list, function, context};
  collide_within(&search, space);
  return list->error;
}

/* --- the source ----------------------------------------------------------------- */

bool contact_source_take_covered(contact_source *source,
                                 ode_mlcp_contact_list *list, int first) {
  inner_search *search = &source->inner;
  int n = 0, left = first;
  if (!inner_contacts_reserve(search, (size_t)(list->n_contacts - first)))
    return false;
  for (int i = first; i < list->n_contacts; i++) {
    const source_contact *contact = &list->contacts[i];
    const dContactGeom *geom = &contact->contact.geom;
    bool found = contact->origin == CONTACT_FOUND;
    if (contact->has_geoms)
      inner_contact_read(&search->contacts[n++], geom, contact->body,
                         found ? contact_shift(geom->g2, -geom->depth) : 0);
  }
  if (!inner_contacts_find(search, n)) return false;
  n = 0;
  for (int i = first; i < list->n_contacts; i++) {
    source_contact *contact = &list->contacts[i];
    contact->covered = contact->has_geoms && search->inner[n++];
    if (!contact->covered || contact->origin != CONTACT_FOUND)
      list->contacts[left++] = *contact;
  }
  list->n_contacts = left;
  return true;
}

bool contact_source_collect(contact_source *source, dWorldID world,
                            double step_size, double margin,
                            ode_mlcp_contact_list *list) {
  list->n_contacts = list->n_polygons = list->n_pairs = 0;
  list->error = ODE_MLCP_OK;
  list->message[0] = '\0';
  if (!inner_contacts_reserve(&source->inner, 0)) {
    fail_memory(list);
    return false;
  }
  list->source = source;
  list->world = world;
  list->step_size = step_size;
  list->margin = margin;
  if (!source->function(source->context, world, list))
    fail(list, ODE_MLCP_STEP_FAILED, "the collision function failed");
  if (list->error == ODE_MLCP_OK &&
      !contact_source_take_covered(source, list, 0))
    fail_memory(list);
  return list->error == ODE_MLCP_OK;
}

/* --- hiding ------------------------------------------------------------------- */

static void enable_shown(const contact_source *source, bool enable) {
  const hidden_geoms *hidden = &source->hidden;
  bool all = source->shown == NULL;
  size_t n = all ? hidden->n_islands : source->n_shown;
  for (size_t i = 0; i < n; i++) {
    size_t island = all ? i : source->shown[i].index;
    for (int g = hidden->first[island]; g < hidden->first[island + 1]; g++)
      (enable ? dGeomEnable : dGeomDisable)(hidden->geoms[g]);
  }
}

bool contact_source_list_islands(contact_source *source,
                                 const dStepperIsland islands[],
                                 size_t n_islands) {
  hidden_geoms *hidden = &source->hidden;
  int count = 0;
  hidden->n_islands = 0;
  if (!POOL_RESERVE(source->pool, hidden->first, n_islands + 1)) return false;
  for (size_t i = 0; i < n_islands; i++) {
    hidden->first[i] = count;
    for (unsigned b = 0; b < islands[i].bodies_count; b++)
      for (dGeomID geom = dBodyGetFirstGeom(islands[i].bodies[b]); geom != NULL;
           geom = dBodyGetNextGeom(geom)) {
        if (!dGeomIsEnabled(geom)) continue;
        if (!POOL_GROW(source->pool, hidden->geoms, count + 1)) return false;
        hidden->geoms[count++] = geom;
      }
  }
  hidden->first[n_islands] = count;
  hidden->n_islands = n_islands;
  return true;
}

void contact_source_show(contact_source *source, const dStepperIsland shown[],
                         size_t n) {
  enable_shown(source, false);
  source->shown = shown;
  source->n_shown = n;
  enable_shown(source, true);
}

void contact_source_end_hiding(contact_source *source) {
  contact_source_show(source, NULL, 0);
  source->hidden.n_islands = 0;
}
