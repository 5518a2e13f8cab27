#include "rows/contact_rows.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "common/vec3.h"

/* --- reading ------------------------------------------------------------- */

/* The surface's fields that its flags put to use. */
static const char *bad_surface_value(const dSurfaceParameters *s,
                                     double *value) {
  const int OPTIONAL = dContactMu2 | dContactBounce | dContactSoftERP |
                       dContactSoftCFM | dContactMotion1 | dContactMotion2 |
                       dContactMotionN | dContactSlip1 | dContactSlip2 |
                       dContactRolling;
  if ((s->mode & OPTIONAL) == 0) { /* as in most programs */
    *value = s->mu;
    return isnan(s->mu) ? "mu" : NULL;
  }
  const struct {
    int flag; /* 0: always in use */
    double value;
    const char *name;
  } fields[] = {
      {0, s->mu, "mu"},
      {dContactMu2, s->mu2, "mu2"},
      {dContactBounce, s->bounce, "bounce"},
      {dContactBounce, s->bounce_vel, "bounce_vel"},
      {dContactSoftERP, s->soft_erp, "soft_erp"},
      {dContactSoftCFM, s->soft_cfm, "soft_cfm"},
      {dContactMotion1, s->motion1, "motion1"},
      {dContactMotion2, s->motion2, "motion2"},
      {dContactMotionN, s->motionN, "motionN"},
      {dContactSlip1, s->slip1, "slip1"},
      {dContactSlip2, s->slip2, "slip2"},
      {dContactRolling, s->rho, "rho"},
  };
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    if (fields[i].flag != 0 && (s->mode & fields[i].flag) == 0) continue;
    *value = fields[i].value;
    bool may_be_infinite = i <= 1 || fields[i].flag == dContactRolling ||
                           i == 3;
    bool must_not_be_negative = fields[i].flag == dContactSoftCFM ||
                                fields[i].flag == dContactSlip1 ||
                                fields[i].flag == dContactSlip2;
    if (isnan(*value) || (isinf(*value) && !may_be_infinite) ||
        (*value < 0 && must_not_be_negative))
      return fields[i].name;
  }
  if ((s->mode & dContactRolling) && (s->mode & dContactAxisDep)) {
    *value = isnan(s->rho2) ? s->rho2 : s->rhoN;
    if (isnan(*value)) return isnan(s->rho2) ? "rho2" : "rhoN";
  }
  return NULL;
}

contact_verdict contact_rows_read(contact_reading *reading,
                                  const dContact *contact, bool reversed,
                                  const int body[2], const host_body bodies[],
                                  const char **bad_name, double *bad_value) {
  *reading = (contact_reading){.contact = contact, .multiplicity = 1};
  vec3_copy(reading->position, contact->geom.pos);
  vec3_copy(reading->normal, contact->geom.normal);

  /* the host's own collision can return a zero normal (deep convexes) */
  double length = vec3_length(reading->normal);
  if (!(length > 1e-6) || !isfinite(length)) return CONTACT_NO_NORMAL;
  double scale = reversed ? -1 / length : 1 / length;
  for (int i = 0; i < 3; i++) reading->normal[i] *= scale;

  for (int i = 0; i < 3; i++)
    if (!isfinite(reading->position[i])) {
      *bad_name = "pos";
      *bad_value = reading->position[i];
      return CONTACT_BAD_VALUE;
    }
  if (!isfinite(contact->geom.depth)) {
    *bad_name = "depth";
    *bad_value = contact->geom.depth;
    return CONTACT_BAD_VALUE;
  }
  if ((contact->surface.mode & dContactFDir1) &&
      !all_finite(contact->fdir1, 3)) {
    *bad_name = "fdir1";
    *bad_value = NAN;
    return CONTACT_BAD_VALUE;
  }
  *bad_name = bad_surface_value(&contact->surface, bad_value);
  if (*bad_name != NULL) return CONTACT_BAD_VALUE;

  for (int side = 0; side < 2; side++) {
    reading->body[side] = body[side];
    if (body[side] >= 0)
      vec3_subtract(reading->arm[side], reading->position,
                    bodies[body[side]].position);
  }
  return CONTACT_USABLE;
}

/* Whether the fields in use are the same. */
static bool same_surface(const dContact *a, const dContact *b) {
  const dSurfaceParameters *s = &a->surface, *t = &b->surface;
  if (s->mode != t->mode || s->mu != t->mu) return false;
  const struct {
    int flag;
    bool same;
  } fields[] = {
      {dContactMu2, s->mu2 == t->mu2},
      {dContactBounce, s->bounce == t->bounce && s->bounce_vel == t->bounce_vel},
      {dContactSoftERP, s->soft_erp == t->soft_erp},
      {dContactSoftCFM, s->soft_cfm == t->soft_cfm},
      {dContactMotion1, s->motion1 == t->motion1},
      {dContactMotion2, s->motion2 == t->motion2},
      {dContactMotionN, s->motionN == t->motionN},
      {dContactSlip1, s->slip1 == t->slip1},
      {dContactSlip2, s->slip2 == t->slip2},
      {dContactRolling, s->rho == t->rho},
      {dContactFDir1, vec3_dot(a->fdir1, b->fdir1) > 0.999},
  };
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
    if ((s->mode & fields[i].flag) && !fields[i].same) return false;
  if ((s->mode & dContactRolling) && (s->mode & dContactAxisDep))
    return s->rho2 == t->rho2 && s->rhoN == t->rhoN;
  return true;
}

bool contact_rows_same_point(const contact_reading *a,
                             const contact_reading *b) {
  const double MERGE_DISTANCE = 1e-4;
  double apart[3], arm = INFINITY;
  vec3_subtract(apart, a->position, b->position);
  double square = vec3_dot(apart, apart);
  if (!(square <= MERGE_DISTANCE * MERGE_DISTANCE)) return false;
  for (int side = 0; side < 2; side++)
    if (a->body[side] >= 0) arm = fmin(arm, vec3_length(a->arm[side]));

  double limit = MERGE_DISTANCE * fmin(1, 2 * arm);
  return square <= limit * limit &&
         vec3_dot(a->normal, b->normal) > 0.9999 &&
         a->polygon == b->polygon && same_surface(a->contact, b->contact);
}

bool contact_polygon_convex(int n, const double vertex[][2]) {
  /* every corner turns left, the one after the last into the first's opposite
   * too, and all corners lie within half a turn */
  for (int i = 0; i < n; i++) {
    double corner[3][2];
    for (int k = 0; k < 3; k++)
      for (int d = 0; d < 2; d++)
        corner[k][d] = vertex[(i + k) % n][d] * (i + k < n ? 1 : -1);
    double ax = corner[1][0] - corner[0][0], ay = corner[1][1] - corner[0][1];
    double bx = corner[2][0] - corner[1][0], by = corner[2][1] - corner[1][1];
    if (!(ax * by - ay * bx > 0) ||
        !(corner[0][0] * corner[1][1] - corner[0][1] * corner[1][0] > 0))
      return false;
  }
  /* turning by half a turn in all, not by one and a half */
  for (int i = 1; i < n; i++)
    if (!(vertex[0][0] * vertex[i][1] - vertex[0][1] * vertex[i][0] > 0))
      return false;
  return n >= 2;
}

/* Without roots: whether the depth is less than half of `part` of all arms. */
static bool is_shallow(const contact_reading *reading, double part) {
  double depth = reading->contact->geom.depth, arm = INFINITY;
  if (depth <= 0) return true;
  for (int side = 0; side < 2; side++)
    if (reading->body[side] >= 0)
      arm = smaller_of(arm, vec3_dot(reading->arm[side], reading->arm[side]));
  return depth * depth < 0.25 * part * part * arm;
}

bool contact_rows_overlap(const contact_reading *reading,
                          const host_body bodies[], double part) {
  if (is_shallow(reading, part)) return false;
  double size = INFINITY, depth = reading->contact->geom.depth;
  for (int side = 0; side < 2; side++) {
    if (reading->body[side] < 0) continue;
    const host_body *body = &bodies[reading->body[side]];
    if (body->kinematic) continue;
    const double *I = body->inertia;
    double gyration = sqrt((I[0] + I[4] + I[8]) / (3 * body->mass));
    size = fmin(size, fmax(vec3_length(reading->arm[side]), 0.25 * gyration));
  }
  return depth / size > part;
}

/* --- building ------------------------------------------------------------ */

void contact_rows_jacobian(double J[2][6], const contact_reading *reading,
                           const double axis[3]) {
  vec3_copy(J[0], axis);
  vec3_cross(J[0] + 3, reading->arm[0], axis);
  vec3_negate(J[1], axis);
  vec3_cross(J[1] + 3, axis, reading->arm[1]);
}

/* The row's Jacobian for a torque along `axis`. */
static void torque_jacobian(double J[2][6], const double axis[3]) {
  memset(J, 0, 12 * sizeof(double));
  vec3_copy(J[0] + 3, axis);
  vec3_negate(J[1] + 3, axis);
}

/* J v of the bodies, with the velocities at the start of the step or free. */
static double relative_velocity(const row_frame *frame,
                                const contact_reading *reading,
                                const double J[2][6], bool free) {
  double sum = 0;
  for (int side = 0; side < 2; side++) {
    if (reading->body[side] < 0) continue;
    const host_body *body = &frame->bodies[reading->body[side]];
    const double *v = free ? body->v_free : body->v;
    for (int i = 0; i < 6; i++) sum += J[side][i] * v[i];
  }
  return sum;
}

static mlcp_row *add_row(row_set *set, const row_frame *frame,
                         const contact_reading *reading, mlcp_row_kind kind,
                         const double J[2][6], double bias, double cfm) {
  /* contacts merged into one act side by side */
  double compliance = cfm / frame->step_size;
  if (reading->multiplicity > 1) compliance /= reading->multiplicity;
  return row_set_add(set, frame, kind, reading->body, J, bias, compliance);
}

/* How far the bodies are apart; 0 where they touch. */
static double gap_of(const contact_reading *reading) {
  return larger_of(-reading->contact->geom.depth, 0);
}

/* Whether the contact can push in this step: it touches, but for rounding, or
 * would in free flight. */
static bool can_push(const row_frame *frame, const contact_reading *reading) {
  const double TOUCH = 1e-9;
  double gap = gap_of(reading), J[2][6];
  if (gap <= TOUCH) return true;
  contact_rows_jacobian(J, reading, reading->normal);
  return gap + frame->step_size * relative_velocity(frame, reading, J, true) <=
         0;
}

/* The normal velocity asked for: push-out under the program's cap, or a bounce,
 * which is not capped. What is apart may come as close as it is (`approach`),
 * whatever the ERP. */
static double normal_target(const contact_settings *settings,
                            double correction, double motion, double approach,
                            double bounce) {
  return larger_of(
      smaller_of(correction + motion, settings->max_velocity) - approach,
      bounce);
}

static void add_normal_row(row_set *set, const row_frame *frame,
                           const contact_settings *settings,
                           const contact_reading *reading) {
  const dContact *contact = reading->contact;
  const dSurfaceParameters *surface = &contact->surface;
  double J[2][6];
  contact_rows_jacobian(J, reading, reading->normal);

  bool own_erp = surface->mode & dContactSoftERP;
  double erp = own_erp ? surface->soft_erp : settings->erp;
  double cfm =
      surface->mode & dContactSoftCFM ? surface->soft_cfm : settings->cfm;
  double motion = surface->mode & dContactMotionN ? surface->motionN : 0;
  double depth = larger_of(contact->geom.depth - settings->surface_layer, 0);
  double correction = erp * depth / frame->step_size, in_velocity = correction;
  bool spring = own_erp && cfm > settings->max_cfm;
  if (!spring) in_velocity = smaller_of(correction, frame->max_correction);

  double bounce = -INFINITY, approach = gap_of(reading) / frame->step_size;
  if ((surface->mode & dContactBounce) && surface->bounce_vel >= 0 &&
      can_push(frame, reading)) {
    double incoming = motion - relative_velocity(frame, reading, J, false);
    if (incoming > surface->bounce_vel)
      bounce = surface->bounce * incoming + motion;
  }

  double target =
      normal_target(settings, in_velocity, motion, approach, bounce);
  mlcp_row *row =
      add_row(set, frame, reading, MLCP_ROW_NORMAL, J, -target, cfm);
  row->low = 0;
  if (spring) return;
  double plain = normal_target(settings, 0, motion, approach, -INFINITY);
  double bounced = larger_of(plain, bounce);
  double full =
      normal_target(settings, correction, motion, approach, -INFINITY);
  row_set_correct(set, target - bounced, full - target, bounced - plain);
}

/* A friction set over the last `n_base` rows. */
static mlcp_friction *add_set(row_set *set, const contact_reading *reading,
                              int normal_row, int n_base, bool proportional,
                              double limit, double step_size) {
  mlcp_friction *friction = &set->frictions[set->n_frictions++];
  *friction = (mlcp_friction){.normal = proportional ? normal_row : -1,
                              .first_row = set->n_rows - n_base,
                              .n_base = n_base,
                              .first_pair = set->n_pairs};
  if (proportional)
    friction->coefficient = limit;
  else
    friction->limit = limit * step_size * reading->multiplicity;
  return friction;
}

/* The limit of a friction row. One that does not follow the normal impulse, an
 * infinite one too, would act on bodies that fly past each other: it holds where
 * the contact can push. */
static double usable_limit(double limit, bool proportional, bool pushes) {
  bool follows = proportional && isfinite(limit);
  return follows || pushes ? larger_of(limit, 0) : 0;
}

/* One row with a symmetric limit of its own, or none where it is infinite. */
static void add_interval(row_set *set, const contact_reading *reading,
                         int normal_row, bool proportional, double limit,
                         double step_size) {
  mlcp_row *row = &set->rows[set->n_rows - 1];
  if (isinf(limit)) {
    row->kind = MLCP_ROW_JOINT;
    row_set_correct(set, 0, NAN, 0);
    return;
  }
  mlcp_friction *friction =
      add_set(set, reading, normal_row, 1, proportional, limit, step_size);
  friction->n_pairs = 1;
  set->pairs[set->n_pairs++] = (mlcp_pair){{1, 0}};
}

/* A polygon of K edges with a vertex where Coulomb's law (in the ellipse of the
 * two limits) puts the friction that opposes `slip`. */
static void add_polygon(row_set *set, const contact_reading *reading,
                        int normal_row, bool proportional,
                        const double limits[2], int edges,
                        const double slip[2], double step_size) {
  double largest = larger_of(limits[0], limits[1]);
  double scale[2] = {limits[0] / largest, limits[1] / largest};
  mlcp_friction *friction =
      add_set(set, reading, normal_row, 2, proportional, largest, step_size);
  friction->n_pairs = edges / 2;

  double c = scale[0] * slip[0], s = scale[1] * slip[1];
  double length = hypot(c, s);
  c = length > 0 ? c / length : 1;
  s = length > 0 ? s / length : 0;
  for (int k = 0; k < edges / 2; k++) {
    double cos_k = k == 0, sin_k = k != 0; /* exact where they can be */
    if (k > 0 && 4 * k != edges) {
      double angle = 2 * M_PI * k / edges;
      cos_k = cos(angle);
      sin_k = sin(angle);
    }
    set->pairs[set->n_pairs++] =
        (mlcp_pair){{scale[0] * (c * cos_k - s * sin_k),
                     scale[1] * (s * cos_k + c * sin_k)}};
  }
}

/* The friction set that the contact was given as a polygon. */
static void add_given_polygon(row_set *set, const contact_reading *reading,
                              int normal_row) {
  const contact_polygon *polygon = reading->polygon;
  double largest = 0;
  for (int k = 0; k < polygon->n; k++)
    largest = fmax(largest, hypot(polygon->vertex[k][0], polygon->vertex[k][1]));
  mlcp_friction *friction =
      add_set(set, reading, normal_row, 2, true, largest, 1);
  friction->n_pairs = polygon->n;
  for (int k = 0; k < polygon->n; k++)
    set->pairs[set->n_pairs++] =
        (mlcp_pair){{polygon->vertex[k][0] / largest,
                     polygon->vertex[k][1] / largest}};
}

void contact_rows_axes(double axis[2][3], const contact_reading *reading) {
  const dContact *contact = reading->contact;
  if (contact->surface.mode & dContactFDir1) {
    vec3_copy(axis[0], contact->fdir1);
    vec3_cross(axis[1], reading->normal, axis[0]);
  } else {
    dVector3 normal, p, q;
    vec3_copy(normal, reading->normal);
    dPlaneSpace(normal, p, q);
    vec3_copy(axis[0], p);
    vec3_copy(axis[1], q);
  }
}

/* The Jacobians of both axes side by side: lane d is contact_rows_jacobian of
 * axis d, zeros for a side without a body. */
static void sliding_jacobians(two J[2][6], const contact_reading *reading,
                              const double axis[2][3]) {
  const two a[3] = {{axis[0][0], axis[1][0]},
                    {axis[0][1], axis[1][1]},
                    {axis[0][2], axis[1][2]}};
  const double *arm = reading->arm[0];
  J[0][0] = a[0];
  J[0][1] = a[1];
  J[0][2] = a[2];
  J[0][3] = arm[1] * a[2] - arm[2] * a[1];
  J[0][4] = arm[2] * a[0] - arm[0] * a[2];
  J[0][5] = arm[0] * a[1] - arm[1] * a[0];
  memset(J[1], 0, sizeof J[1]);
  if (reading->body[1] < 0) return;
  arm = reading->arm[1];
  J[1][0] = -a[0];
  J[1][1] = -a[1];
  J[1][2] = -a[2];
  J[1][3] = a[1] * arm[2] - a[2] * arm[1];
  J[1][4] = a[2] * arm[0] - a[0] * arm[2];
  J[1][5] = a[0] * arm[1] - a[1] * arm[0];
}

static void take_lane(double own[2][6], const two J[2][6], int d) {
  const double *lane = (const double *)J + d;
#pragma GCC unroll 6
  for (int i = 0; i < 6; i++) {
    own[0][i] = lane[2 * i];
    own[1][i] = lane[12 + 2 * i];
  }
}

/* The slip to come along the two axes, whose Jacobians are J: that of free
 * flight, or the hint where free flight has next to none. */
static void slip_to_come(double slip[2], const row_frame *frame,
                         const contact_settings *settings,
                         const contact_reading *reading, const two J[2][6],
                         const double axis[2][3], const double motion[2],
                         const double slip_hint[3]) {
  two rate = {0, 0};
  for (int side = 0; side < 2; side++) {
    if (reading->body[side] < 0) continue;
    const double *v = frame->bodies[reading->body[side]].v_free;
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) rate += J[side][i] * v[i];
  }
  for (int d = 0; d < 2; d++) slip[d] = rate[d] - motion[d];
  bool rests = fabs(slip[0]) + fabs(slip[1]) < 0.9 * settings->slip_floor;
  if (!rests && hypot(slip[0], slip[1]) > settings->slip_floor) return;
  for (int d = 0; d < 2; d++) slip[d] = vec3_dot(axis[d], slip_hint);
}

static void add_sliding(row_set *set, const row_frame *frame,
                        const contact_settings *settings,
                        const contact_reading *reading,
                        const double axis[2][3], const double slip_hint[3],
                        contact_rows *built) {
  const dSurfaceParameters *surface = &reading->contact->surface;
  int mode = surface->mode, normal_row = built->first_row;
  double h = frame->step_size;
  bool pushes = can_push(frame, reading), given = reading->polygon != NULL;
  const bool proportional[2] = {mode & dContactApprox1_1,
                                mode & dContactApprox1_2};
  const double limits[2] = {
      usable_limit(surface->mu, proportional[0], pushes),
      usable_limit(mode & dContactMu2 ? surface->mu2 : surface->mu,
                   proportional[1], pushes)};
  const double motion[2] = {mode & dContactMotion1 ? surface->motion1 : 0,
                            mode & dContactMotion2 ? surface->motion2 : 0};
  const double cfm[2] = {mode & dContactSlip1 ? surface->slip1 : settings->cfm,
                         mode & dContactSlip2 ? surface->slip2 : settings->cfm};
  bool polygon = given ||
                 (limits[0] > 0 && limits[1] > 0 && isfinite(limits[0]) &&
                  isfinite(limits[1]) && proportional[0] == proportional[1]);

  two J[2][6];
  sliding_jacobians(J, reading, axis);
  for (int d = 0; d < 2; d++) {
    if (!(limits[d] > 0) && !given) continue;
    double own[2][6];
    take_lane(own, J, d);
    vec3_copy(built->sliding_axis[built->n_sliding++], axis[d]);
    add_row(set, frame, reading, MLCP_ROW_FRICTION, own, -motion[d], cfm[d]);
    if (!polygon)
      add_interval(set, reading, normal_row, proportional[d], limits[d], h);
  }
  if (given) {
    add_given_polygon(set, reading, normal_row);
  } else if (polygon) {
    double slip[2];
    slip_to_come(slip, frame, settings, reading, J, axis, motion, slip_hint);
    for (int d = 0; d < 2; d++)
      vec3_add_scaled(built->slip, slip[d], axis[d]);
    add_polygon(set, reading, normal_row, proportional[0], limits,
                settings->edges, slip, h);
  }
}

static void add_rolling(row_set *set, const row_frame *frame,
                        const contact_settings *settings,
                        const contact_reading *reading,
                        const double axis[2][3], int normal_row) {
  const dSurfaceParameters *surface = &reading->contact->surface;
  bool axis_dep = surface->mode & dContactAxisDep;
  const double limits[3] = {surface->rho,
                            axis_dep ? surface->rho2 : surface->rho,
                            axis_dep ? surface->rhoN : surface->rho};
  const double *axes[3] = {axis[0], axis[1], reading->normal};
  const int proportional[3] = {dContactApprox1_1, dContactApprox1_2,
                               dContactApprox1_N};
  bool pushes = can_push(frame, reading);
  for (int i = 0; i < 3; i++) {
    bool follows = surface->mode & proportional[i];
    double limit = usable_limit(limits[i], follows, pushes);
    if (!(limit > 0)) continue;
    double J[2][6];
    torque_jacobian(J, axes[i]);
    add_row(set, frame, reading, MLCP_ROW_FRICTION, J, 0, settings->cfm);
    add_interval(set, reading, normal_row, follows, limit, frame->step_size);
  }
}

void contact_rows_add(row_set *set, const row_frame *frame,
                      const contact_settings *settings,
                      const contact_reading *reading,
                      const double slip_hint[3], contact_rows *built) {
  *built = (contact_rows){.first_row = set->n_rows};
  add_normal_row(set, frame, settings, reading);

  double axis[2][3];
  contact_rows_axes(axis, reading);
  add_sliding(set, frame, settings, reading, axis, slip_hint, built);
  if (reading->contact->surface.mode & dContactRolling)
    add_rolling(set, frame, settings, reading, axis, built->first_row);
  built->n_rows = set->n_rows - built->first_row;
}
