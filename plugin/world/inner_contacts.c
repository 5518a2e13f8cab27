#include "world/inner_contacts.h"

#include <math.h>
#include <stdlib.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "rows/hair.h"

/* All lengths are shares of the smaller of the two shapes. */
static const double LEVEL = 1e-5; /* what lies so near is flush */
static const double AWAY = 1e-3;  /* a probe's middle from the surface */

/* Rounding turns a direction that a probe finds by so much. */
static const double ROUNDING = 1e-8;

/* A contact as one that pushes a geom: pairs are told in either order. */
struct inner_place {
  dGeomID pushed;
  dBodyID solid;
  dGeomID of;        /* the solid's */
  int contact, side; /* of the contact, and which of its two the solid is */
};

/* A geom of a solid: its places. */
struct inner_geom {
  int first, end;
};

/* The extent of a geom; INFINITY of a plane. */
static double extent_of(dGeomID geom) {
  dReal box[6];
  double square = 0, margin = 2 * dGeomGetAABBMargin(geom);
  dGeomGetAABB(geom, box);
  for (int i = 0; i < 6; i += 2) {
    double side = box[i + 1] - box[i] - margin;
    square += side * side;
  }
  return sqrt(square);
}

static double apart(const double a[3], const double b[3]) {
  double difference[3];
  vec3_subtract(difference, a, b);
  return vec3_length(difference);
}

/* The contact of a ball of half the radius `away` that lies by `away` from the point
 * in the direction: @return false where it is further than that from the geom, or
 * behind the surface of a mesh. */
static bool ask(const inner_search *search, dGeomID geom, const double point[3],
                const double direction[3], double away, double level,
                gap_contact *found) {
  double middle[3];
  vec3_copy(middle, point);
  vec3_add_scaled(middle, away, direction);
  dGeomSetPosition(search->probe, middle[0], middle[1], middle[2]);
  return gap_query(search->gaps, search->probe, geom, 0.5 * away + level, 0,
                   found, 1) == 1;
}

/* A contact as the solid sees it. */
typedef struct seen {
  dGeomID own, pushed;
  double point[3];  /* of the solid */
  double normal[3]; /* out of it */
} seen;

static seen see(const inner_search *search, const inner_place *place) {
  const inner_contact *contact = &search->contacts[place->contact];
  seen of = {.own = place->of, .pushed = place->pushed};
  vec3_copy(of.point, contact->point[place->side]);
  for (int i = 0; i < 3; i++)
    of.normal[i] = place->side == 1 ? contact->normal[i] : -contact->normal[i];
  return of;
}

/* Two contacts of a geom with one solid, and the lengths that tell them apart. */
typedef struct neighbours {
  seen contact, by;
  double level, away;
} neighbours;

/* True if `by` makes the contact void, the surface of its geom having the normal `up`
 * over the contact's point. */
static bool covers(const inner_search *search, const neighbours *of,
                   const double up[3]) {
  dGeomID other = of->by.own;
  const double room = real_rounding(ROUNDING), away = of->away;
  double point[3];
  gap_contact found;
  vec3_copy(point, of->contact.point);
  /* of what is sunk in, the surface above it is asked for */
  double sunk = vec3_dot(up, of->by.point) - vec3_dot(up, point);
  if (sunk > 0) vec3_add_scaled(point, sunk, up);

  /* the neighbour holds the point ... */
  if (!ask(search, other, point, up, away, of->level, &found)) return false;
  /* ... and reaches beyond it along the normal, from its surface there: beside an edge
   * the probe looks aslant ... */
  double depth = fmax(0.5 * away - found.gap, 0), on[3];
  vec3_copy(on, point);
  vec3_add_scaled(on, away, up);
  vec3_add_scaled(on, -(0.5 * away + found.gap), found.normal);
  if (ask(search, other, on, of->contact.normal, away, of->level, &found) &&
      apart(found.normal, of->contact.normal) <= room)
    return false;
  /* ... and the contact's own geom is no step on it: there it has a normal nearer to its
   * than to the contact's. Of two that lie so near that each holds the other's point one
   * stays */
  vec3_add_scaled(point, depth, up);
  return !ask(search, of->contact.own, point, up, away, of->level, &found) ||
         apart(found.normal, up) < apart(found.normal, of->contact.normal);
}

/* True if `by`, which pushes the same geom of the same body, makes the contact void. */
static bool is_covered(const inner_search *search, const inner_place *place,
                       const inner_place *neighbour) {
  const double room = real_rounding(ROUNDING);
  neighbours of = {.contact = see(search, place), .by = see(search, neighbour)};
  const double *up = of.by.normal;
  if (apart(of.contact.normal, up) <= room) return false;
  double size = fmin(extent_of(of.contact.pushed), extent_of(of.contact.own));
  of.level = LEVEL * size + hair_rounding(of.contact.point);
  of.away = AWAY * size;
  if (!(size > 0) || !isfinite(size)) return false;
  dGeomSphereSetRadius(search->probe, 0.5 * of.away);
  if (covers(search, &of, up)) return true;
  /* where the contact has its normal from what it pushes, it is not the surface's: a
   * box on a ramp of boards stood still (tests/never_worse, world 1009) */
  gap_contact found;
  return ask(search, of.by.own, of.by.point, up, of.away, of.level, &found) &&
         apart(found.normal, up) > room && covers(search, &of, found.normal);
}

static int compare_addresses(const void *a, const void *b) {
  return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

static int compare_places(const void *one, const void *other) {
  const inner_place *a = one, *b = other;
  int order = compare_addresses(a->pushed, b->pushed);
  if (order == 0) order = compare_addresses(a->solid, b->solid);
  if (order == 0) order = compare_addresses(a->of, b->of);
  if (order == 0) order = a->contact - b->contact;
  return order != 0 ? order : a->side - b->side;
}

/* m: a contact is lifted by no more than the deepest of the same geom. */
static double deepest_of(const inner_contact contacts[],
                         const inner_place places[], int n) {
  double deepest = 0;
  for (int i = 0; i < n; i++) {
    const inner_contact *contact = &contacts[places[i].contact];
    deepest = fmax(deepest, vec3_dot(contact->point[1], contact->normal) -
                                vec3_dot(contact->point[0], contact->normal));
  }
  return deepest;
}

/* The geoms of a solid that push one geom, and what of its contacts each can hold.
 * @return how many */
static int list_geoms(const inner_search *search, const inner_place places[],
                      int n, double (*boxes)[6]) {
  double deepest = deepest_of(search->contacts, places, n);
  int count = 0;
  for (int first = 0, end; first < n; first = end) {
    dReal box[6];
    for (end = first + 1; end < n && places[end].of == places[first].of;) end++;
    dGeomGetAABB(places[first].of, box);
    double room = deepest + LEVEL * extent_of(places[first].of);
    for (int i = 0; i < 3; i++) {
      boxes[count][i] = box[2 * i] - room;
      boxes[count][3 + i] = box[2 * i + 1] + room;
    }
    search->geoms[count++] = (inner_geom){first, end};
  }
  return count;
}

static bool same_pair(const inner_place *a, const inner_place *b) {
  return a->pushed == b->pushed && a->solid == b->solid;
}

/* Contacts of one geom with one solid, in `places` [n]. The answer does not depend
 * on their order. */
static bool find_of_geom(inner_search *search, const inner_place places[],
                         int n) {
  if (places[0].of == places[n - 1].of) return true;
  if (!gap_tree_reserve(&search->tree, search->pool, n)) return false;
  int count = list_geoms(search, places, n, search->tree.boxes);
  gap_tree_build(&search->tree, count);
  for (int i = 0; i < n; i++) {
    const double *point =
        search->contacts[places[i].contact].point[places[i].side];
    bool *is_inner = &search->inner[places[i].contact];
    double room = hair_rounding(point), box[6];
    for (int k = 0; k < 6; k++) box[k] = point[k % 3] + (k < 3 ? -room : room);
    int n_near = gap_tree_find(&search->tree, box, search->near);
    for (int g = 0; g < n_near && !*is_inner; g++) {
      const inner_geom *geom = &search->geoms[search->near[g]];
      if (places[geom->first].of == places[i].of) continue;
      for (int k = geom->first; k < geom->end && !*is_inner; k++)
        *is_inner = is_covered(search, &places[i], &places[k]);
    }
  }
  return true;
}

bool inner_contacts_reserve(inner_search *search, size_t n) {
  if (search->gaps == NULL)
    search->gaps = gap_context_create(&search->pool->source);
  if (search->probe == NULL) search->probe = dCreateSphere(NULL, 1);
  return search->gaps != NULL && search->probe != NULL &&
         POOL_RESERVE(search->pool, search->contacts, n) &&
         POOL_RESERVE(search->pool, search->inner, n) &&
         POOL_RESERVE(search->pool, search->places, 2 * n) &&
         POOL_RESERVE(search->pool, search->geoms, n) &&
         POOL_RESERVE(search->pool, search->near, n);
}

void inner_contact_read(inner_contact *contact, const dContactGeom *geom,
                        const dBodyID body[2], double shift) {
  *contact =
      (inner_contact){.geom = {geom->g1, geom->g2}, .body = {body[0], body[1]}};
  real_read(contact->normal, geom->normal, 3);
  for (int side = 0; side < 2; side++) {
    double along = (side == 0 ? -0.5 : 0.5) * geom->depth;
    real_read(contact->point[side], geom->pos, 3);
    vec3_add_scaled(contact->point[side], along - shift, contact->normal);
  }
}

bool inner_contacts_find(inner_search *search, int n) {
  const inner_contact *contacts = search->contacts;
  int n_places = 2 * n;
  for (int i = 0; i < n; i++) search->inner[i] = false;
  for (int i = 0; i < n_places; i++) {
    const inner_contact *contact = &contacts[i / 2];
    int side = i % 2;
    search->places[i] = (inner_place){contact->geom[!side], contact->body[side],
                                      contact->geom[side], i / 2, side};
  }
  qsort(search->places, (size_t)n_places, sizeof search->places[0],
        compare_places);
  for (int first = 0, end; first < n_places; first = end) {
    for (end = first + 1; end < n_places && same_pair(&search->places[end],
                                                      &search->places[first]);)
      end++;
    if (!find_of_geom(search, &search->places[first], end - first))
      return false;
  }
  return true;
}

void inner_contacts_release(inner_search *search) {
  if (search->probe != NULL) dGeomDestroy(search->probe);
  gap_context_destroy(search->gaps);
  search->probe = NULL;
  search->gaps = NULL;
}
