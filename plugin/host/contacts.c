#include "host/contacts.h"

#include <string.h>

#include "common/minmax.h"
#include "common/vec3.h"
#include "gap/real.h"

/* --- reading ------------------------------------------------------------- */

/* The first of the surface's fields in use that it may not have. */
static const char *bad_surface_value(const dSurfaceParameters *s,
                                     double *value) {
  const int OPTIONAL = dContactMu2 | dContactBounce | dContactSoftERP |
                       dContactSoftCFM | dContactMotion1 | dContactMotion2 |
                       dContactMotionN | dContactSlip1 | dContactSlip2 |
                       dContactRolling;
  /* hosts later than 0.16 have it, and a surface that is longer by a number */
  const int INELASTIC = 0x800;
  const int unknown = s->mode & ~(OPTIONAL | dContactFDir1 | dContactApprox1);
  if (unknown != 0) {
    *value = unknown;
    return unknown & INELASTIC ? "unknown mode dContactInelastic"
                               : "unknown mode";
  }
  const bool axis_dep = s->mode & dContactAxisDep;
  const struct {
    bool used;
    double value;
    const char *name;
    bool may_be_infinite, may_be_negative;
  } fields[] = {
      {true, s->mu, "mu", true, true},
      {s->mode & dContactMu2, s->mu2, "mu2", true, true},
      {s->mode & dContactBounce, s->bounce, "bounce", false, true},
      {s->mode & dContactBounce, s->bounce_vel, "bounce_vel", true, true},
      {s->mode & dContactSoftERP, s->soft_erp, "soft_erp", false, true},
      {s->mode & dContactSoftCFM, s->soft_cfm, "soft_cfm", false, false},
      {s->mode & dContactMotion1, s->motion1, "motion1", false, true},
      {s->mode & dContactMotion2, s->motion2, "motion2", false, true},
      {s->mode & dContactMotionN, s->motionN, "motionN", false, true},
      {s->mode & dContactSlip1, s->slip1, "slip1", false, false},
      {s->mode & dContactSlip2, s->slip2, "slip2", false, false},
      {s->mode & dContactRolling, s->rho, "rho", true, true},
      {(s->mode & dContactRolling) && axis_dep, s->rho2, "rho2", true, true},
      {(s->mode & dContactRolling) && axis_dep, s->rhoN, "rhoN", true, true},
  };
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    if (!fields[i].used) continue;
    *value = fields[i].value;
    if (isnan(*value) || (isinf(*value) && !fields[i].may_be_infinite) ||
        (*value < 0 && !fields[i].may_be_negative))
      return fields[i].name;
  }
  return NULL;
}

/* The one place that knows the host's flags. */
static void read_surface(host_surface *surface, const dContact *given) {
  const dSurfaceParameters *s = &given->surface;
  const int mode = s->mode;
  *surface = (host_surface){
      .erp = mode & dContactSoftERP ? s->soft_erp : NAN,
      .cfm = mode & dContactSoftCFM ? s->soft_cfm : NAN,
      .own_spring = (mode & dContactSoftERP) && (mode & dContactSoftCFM),
      .bounces = (mode & dContactBounce) && s->bounce_vel >= 0,
      .motion = {mode & dContactMotion1 ? s->motion1 : 0,
                 mode & dContactMotion2 ? s->motion2 : 0,
                 mode & dContactMotionN ? s->motionN : 0},
      .limit = {s->mu, mode & dContactMu2 ? s->mu2 : s->mu},
      .proportional = {mode & dContactApprox1_1, mode & dContactApprox1_2,
                       mode & dContactApprox1_N},
      .cfm_of_slip = {mode & dContactSlip1 ? s->slip1 : NAN,
                      mode & dContactSlip2 ? s->slip2 : NAN},
      .viscous = {mode & dContactSlip1, mode & dContactSlip2},
      .rolls = mode & dContactRolling,
      .has_axis = mode & dContactFDir1};
  if (surface->bounces) {
    surface->bounce = s->bounce;
    surface->bounce_speed = s->bounce_vel;
  }
  if (surface->rolls) {
    bool axis_dep = mode & dContactAxisDep;
    surface->rolling[0] = s->rho;
    surface->rolling[1] = axis_dep ? s->rho2 : s->rho;
    surface->rolling[2] = axis_dep ? s->rhoN : s->rho;
  }
  if (surface->has_axis) real_read(surface->axis, given->fdir1, 3);
}

host_contact_verdict
host_contact_read(host_contact *contact, const dContact *given, bool reversed,
                  const int body[2], const host_body bodies[],
                  const char **bad_name, double *bad_value) {
  const dContactGeom *geom = &given->geom;
  contact->multiplicity = 1;
  contact->polygon = -1;
  contact->soft = contact->stiff = contact->kept = false;
  real_read(contact->position, geom->pos, 3);
  real_read(contact->normal, geom->normal, 3);
  contact->gap = -geom->depth;

  /* the host's own collision can return a zero normal (deep convexes) */
  double length = vec3_length(contact->normal);
  if (!(length > 1e-6) || !isfinite(length)) return CONTACT_NO_NORMAL;
  double scale = reversed ? -1 / length : 1 / length;
  for (int i = 0; i < 3; i++) contact->normal[i] *= scale;

  const real3_copy axis = real3(given->fdir1);
  const double depth = geom->depth;
  host_field fields[] = {
      {"pos", contact->position, 3},
      {"depth", &depth, 1},
      {"fdir1", axis.at, given->surface.mode & dContactFDir1 ? 3 : 0}};
  *bad_name =
      host_not_finite(fields, sizeof fields / sizeof *fields, bad_value);
  if (*bad_name == NULL)
    *bad_name = bad_surface_value(&given->surface, bad_value);
  if (*bad_name != NULL) return CONTACT_BAD_VALUE;
  read_surface(&contact->surface, given);

  for (int side = 0; side < 2; side++) {
    contact->body[side] = body[side];
    if (body[side] >= 0)
      vec3_subtract(contact->arm[side], contact->position,
                    bodies[body[side]].position);
    else
      memset(contact->arm[side], 0, sizeof contact->arm[side]);
  }
  return CONTACT_USABLE;
}

/* --- geometry ------------------------------------------------------------ */

static bool same_numbers(const double a[], const double b[], int count) {
  for (int i = 0; i < count; i++)
    if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i]))) return false;
  return true;
}

bool host_contact_same_surface(const host_contact *first,
                               const host_contact *second) {
  const host_surface *a = &first->surface, *b = &second->surface;
  for (int d = 0; d < 3; d++)
    if (a->proportional[d] != b->proportional[d]) return false;
  return same_numbers(a->limit, b->limit, 2) &&
         same_numbers(&a->erp, &b->erp, 1) &&
         same_numbers(&a->cfm, &b->cfm, 1) && a->bounces == b->bounces &&
         a->bounce == b->bounce && a->bounce_speed == b->bounce_speed &&
         same_numbers(a->motion, b->motion, 3) &&
         same_numbers(a->cfm_of_slip, b->cfm_of_slip, 2) &&
         a->rolls == b->rolls && same_numbers(a->rolling, b->rolling, 3) &&
         a->has_axis == b->has_axis &&
         (!a->has_axis || vec3_dot(a->axis, b->axis) > 0.999);
}

bool host_contact_same_point(const host_contact *a, const host_contact *b) {
  const double MERGE_DISTANCE = 1e-4;
  double apart[3], arm = INFINITY;
  vec3_subtract(apart, a->position, b->position);
  double square = vec3_dot(apart, apart);
  if (!(square <= MERGE_DISTANCE * MERGE_DISTANCE)) return false;
  for (int side = 0; side < 2; side++)
    if (a->body[side] >= 0) arm = fmin(arm, vec3_length(a->arm[side]));

  double limit = MERGE_DISTANCE * fmin(1, 2 * arm);
  return square <= limit * limit && vec3_dot(a->normal, b->normal) > 0.9999 &&
         a->polygon == b->polygon && host_contact_same_surface(a, b);
}

void host_contact_axes(double axis[2][3], const host_contact *contact) {
  if (contact->surface.has_axis) {
    vec3_copy(axis[0], contact->surface.axis);
    vec3_cross(axis[1], contact->normal, axis[0]);
  } else {
    dVector3 normal, p, q;
    real_write(normal, contact->normal, 3);
    dPlaneSpace(normal, p, q);
    real_read(axis[0], p, 3);
    real_read(axis[1], q, 3);
  }
}

void host_contact_jacobian(double J[2][6], const host_contact *contact,
                           const double axis[3]) {
  vec3_copy(J[0], axis);
  vec3_cross(J[0] + 3, contact->arm[0], axis);
  vec3_negate(J[1], axis);
  vec3_cross(J[1] + 3, axis, contact->arm[1]);
}

void host_contact_find_soft(host_contact *contact, const double J[2][6],
                            const host_body bodies[], double world_cfm,
                            double step_size) {
  bool softer = contact->surface.cfm > world_cfm; /* NAN: no */
  double cfm = isnan(contact->surface.cfm) ? world_cfm : contact->surface.cfm;
  bool swings = host_row_gives_way(bodies, contact->body, J, cfm, step_size);
  contact->soft = softer || swings;
  contact->stiff = softer && !swings;
}

double host_contact_overlap(const host_contact *contact,
                            const host_body bodies[]) {
  double size = INFINITY, depth = -contact->gap;
  for (int side = 0; side < 2 && depth > 0; side++) {
    if (contact->body[side] < 0) continue;
    const host_body *body = &bodies[contact->body[side]];
    if (body->kinematic) continue;
    const double *I = body->inertia;
    double gyration = sqrt((I[0] + I[4] + I[8]) / (3 * body->mass));
    size = fmin(size, fmax(vec3_length(contact->arm[side]), 0.25 * gyration));
  }
  return larger_of(depth, 0) / size;
}
