#include "rows/contact_rows.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "common/vec3.h"
#include "gap/real.h"

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

/* --- building ------------------------------------------------------------ */

/* The row's Jacobian for a torque along `axis`. */
static void torque_jacobian(double J[2][6], const double axis[3]) {
  memset(J, 0, 12 * sizeof(double));
  vec3_copy(J[0] + 3, axis);
  vec3_negate(J[1] + 3, axis);
}

static mlcp_row *add_row(row_set *set, const row_frame *frame,
                         const host_contact *contact, mlcp_row_kind kind,
                         const double J[2][6], double bias, double cfm) {
  /* contacts merged into one act side by side */
  double compliance = cfm / frame->step_size;
  if (contact->multiplicity > 1) compliance /= contact->multiplicity;
  return row_set_add(set, frame, kind, contact->body, J, bias, compliance);
}

/* The normal velocity asked for: a correction under the program's cap, or a
 * bounce, which is not capped. What is apart may come as close as it is
 * (`approach`), whatever the ERP. */
static double normal_target(const contact_settings *settings, double correction,
                            double motion, double approach, double bounce) {
  return larger_of(
      smaller_of(correction + motion, settings->max_velocity) - approach,
      bounce);
}

/* The part of the speed at which a contact is met that its bounce gives back. */
static double bounce_of(const row_frame *frame, const host_contact *contact,
                        const double J[2][6]) {
  const host_surface *surface = &contact->surface;
  double motion = surface->motion[2];
  double incoming = motion - row_rate(J, contact->body, frame->v);
  if (!(incoming > surface->bounce_speed)) return -INFINITY;
  /* else as the host, wherever it is */
  if (!isfinite(frame->max_correction))
    return surface->bounce * incoming + motion;
  return row_bounce_target(surface->bounce, -incoming,
                           row_rate(J, contact->body, frame->v_free) - motion,
                           contact->gap, frame->step_size) +
         motion;
}

static void add_normal_row(row_set *set, const row_frame *frame,
                           const contact_settings *settings,
                           const host_contact *contact,
                           const contact_law *law) {
  const host_surface *surface = &contact->surface;
  double J[2][6], motion = surface->motion[2];
  host_contact_jacobian(J, contact, contact->normal);

  bool spring = law->is == CONTACT_SPRING;
  double in_velocity =
      spring ? law->correction
             : larger_of(smaller_of(law->correction,
                                    frame->max_correction + law->of_spring),
                         -frame->max_correction);
  double approach = larger_of(law->gap, 0) / frame->step_size;
  if (law->sinks)
    approach = larger_of(
        law->gap / frame->step_size + law->rest_depth / frame->step_size, 0);
  bool gives_back = surface->bounces && law->pushes &&
                    settings->level == JOINT_LEVEL_POSITION;
  double bounce = gives_back ? bounce_of(frame, contact, J) : -INFINITY;

  double target =
      normal_target(settings, in_velocity, motion, approach, bounce);
  mlcp_row *row =
      add_row(set, frame, contact, MLCP_ROW_NORMAL, J, -target, law->cfm);
  row->low = 0;
  set->corrections[set->n_rows - 1].stiff = law->stiff;
  if (spring) return;
  double plain =
      normal_target(settings, law->of_spring, motion, approach, -INFINITY);
  double bounced = larger_of(plain, bounce);
  double full =
      normal_target(settings, law->correction, motion, approach, -INFINITY);
  row_set_correct(set, target - bounced, full - target, bounced - plain);
}

/* A friction set over the last `n_base` rows. */
static mlcp_friction *add_set(row_set *set, const contact_facts *facts,
                              const host_contact *contact, int normal_row,
                              int n_base, bool proportional, double limit,
                              double step_size) {
  mlcp_friction *friction = &set->frictions[set->n_frictions++];
  *friction = (mlcp_friction){.normal = proportional ? normal_row : -1,
                              .first_row = set->n_rows - n_base,
                              .n_base = n_base,
                              .first_pair = set->n_pairs};
  if (proportional) {
    friction->coefficient = limit;
    friction->limit = limit * facts->pressed;
  } else {
    friction->limit = limit * step_size * contact->multiplicity;
  }
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
static void add_interval(row_set *set, const contact_facts *facts,
                         const host_contact *contact, int normal_row,
                         bool proportional, double limit, double step_size) {
  mlcp_row *row = &set->rows[set->n_rows - 1];
  if (isinf(limit)) {
    row->kind = MLCP_ROW_JOINT;
    row_set_correct(set, 0, NAN, 0);
    return;
  }
  mlcp_friction *friction = add_set(set, facts, contact, normal_row, 1,
                                    proportional, limit, step_size);
  friction->n_pairs = 1;
  set->pairs[set->n_pairs++] = (mlcp_pair){{1, 0}};
}

/* A polygon of K edges with a vertex where Coulomb's law (in the ellipse of the
 * two limits) puts the friction that opposes `slip`. */
static void add_polygon(row_set *set, int edges, const contact_facts *facts,
                        const host_contact *contact, int normal_row,
                        bool proportional, const double limits[2],
                        const double slip[2], double step_size) {
  double largest = larger_of(limits[0], limits[1]);
  double scale[2] = {limits[0] / largest, limits[1] / largest};
  mlcp_friction *friction = add_set(set, facts, contact, normal_row, 2,
                                    proportional, largest, step_size);
  friction->n_pairs = edges / 2;
  for (int d = 0; d < 2 && proportional && !facts->aimed; d++)
    friction->ellipse[d] = scale[d];

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
static void add_given_polygon(row_set *set, const contact_facts *facts,
                              const host_contact *contact,
                              const contact_polygon *polygon, int normal_row) {
  double largest = 0;
  for (int k = 0; k < polygon->n; k++)
    largest =
        fmax(largest, hypot(polygon->vertex[k][0], polygon->vertex[k][1]));
  mlcp_friction *friction =
      add_set(set, facts, contact, normal_row, 2, true, largest, 1);
  friction->n_pairs = polygon->n;
  for (int k = 0; k < polygon->n; k++)
    set->pairs[set->n_pairs++] = (mlcp_pair){
        {polygon->vertex[k][0] / largest, polygon->vertex[k][1] / largest}};
}

/* The slip to come along the two axes, whose Jacobians are J: the one given, the hint
 * of a contact that is guided, that of free flight, or the hint where free flight has
 * next to none. */
static void slip_to_come(double slip[2], const row_frame *frame,
                         const contact_settings *settings,
                         const host_contact *contact,
                         const contact_facts *facts, double J[2][2][6],
                         const double axis[2][3]) {
  if (facts->slip != NULL) {
    for (int d = 0; d < 2; d++) slip[d] = vec3_dot(axis[d], facts->slip);
    return;
  }
  if (facts->guided) {
    for (int d = 0; d < 2; d++) slip[d] = vec3_dot(axis[d], facts->hint);
    if (slip[0] != 0 || slip[1] != 0) return;
  }
  for (int d = 0; d < 2; d++)
    slip[d] = row_rate(J[d], contact->body, frame->v_free) -
              contact->surface.motion[d];
  if (slip[0] * slip[0] + slip[1] * slip[1] >
      settings->slip_floor * settings->slip_floor)
    return;
  for (int d = 0; d < 2; d++) slip[d] = vec3_dot(axis[d], facts->hint);
}

/* True where no time passes: what takes time does nothing. */
static bool at_once(const contact_settings *settings) {
  return settings->level == JOINT_LEVEL_IMPACT;
}

/* The limit of sliding in direction d. At once only what follows the normal
 * impulse acts, and what does not slip at all: forces and viscous slip take
 * time. */
static double sliding_limit(const contact_settings *settings,
                            const host_surface *surface, int d, bool pushes) {
  double limit = surface->limit[d];
  if (at_once(settings) &&
      (surface->viscous[d] || (!surface->proportional[d] && isfinite(limit))))
    return 0;
  return usable_limit(limit, surface->proportional[d], pushes);
}

static void add_sliding(row_set *set, const row_frame *frame,
                        const contact_settings *settings,
                        const host_contact *contact, const contact_facts *facts,
                        const contact_law *law, const double axis[2][3],
                        contact_rows *built) {
  const host_surface *surface = &contact->surface;
  int normal_row = built->first_row;
  double h = frame->step_size;
  bool pushes = law->pushes;
  bool given = contact->polygon >= 0;
  const bool *proportional = surface->proportional;
  const double limits[2] = {sliding_limit(settings, surface, 0, pushes),
                            sliding_limit(settings, surface, 1, pushes)};
  bool polygon =
      given || (limits[0] > 0 && limits[1] > 0 && isfinite(limits[0]) &&
                isfinite(limits[1]) && proportional[0] == proportional[1]);

  double J[2][2][6];
  for (int d = 0; d < 2; d++) {
    host_contact_jacobian(J[d], contact, axis[d]);
    if (!(limits[d] > 0) && !given) continue;
    double cfm = surface->cfm_of_slip[d];
    if (isnan(cfm) || at_once(settings)) cfm = settings->cfm;
    vec3_copy(built->sliding_axis[built->n_sliding++], axis[d]);
    add_row(set, frame, contact, MLCP_ROW_FRICTION, J[d], -surface->motion[d],
            cfm);
    if (!polygon)
      add_interval(set, facts, contact, normal_row, proportional[d], limits[d],
                   h);
  }
  if (given) {
    add_given_polygon(set, facts, contact, &frame->polygons[contact->polygon],
                      normal_row);
  } else if (polygon) {
    double slip[2];
    slip_to_come(slip, frame, settings, contact, facts, J, axis);
    built->guided = facts->guided;
    for (int d = 0; d < 2; d++) vec3_add_scaled(built->slip, slip[d], axis[d]);
    add_polygon(set, settings->edges, facts, contact, normal_row,
                proportional[0], limits, slip, h);
  }
}

/* Rolling friction in both directions alike is a disc, whatever they are: its
 * polygon opposes the turn to come, as that of sliding does the slip. */
static void add_rolling_disc(row_set *set, const row_frame *frame,
                             const contact_settings *settings,
                             const host_contact *contact,
                             const contact_facts *facts,
                             const double axis[2][3], int normal_row,
                             double limit) {
  const double limits[2] = {limit, limit};
  double turn[2];
  for (int d = 0; d < 2; d++) {
    double J[2][6];
    torque_jacobian(J, axis[d]);
    turn[d] = row_rate(J, contact->body, frame->v_free);
    add_row(set, frame, contact, MLCP_ROW_FRICTION, J, 0, settings->cfm);
  }
  add_polygon(set, settings->edges, facts, contact, normal_row,
              contact->surface.proportional[0], limits, turn, frame->step_size);
}

static void add_rolling(row_set *set, const row_frame *frame,
                        const contact_settings *settings,
                        const host_contact *contact, const contact_facts *facts,
                        const contact_law *law, const double axis[2][3],
                        int normal_row) {
  const host_surface *surface = &contact->surface;
  const double *axes[3] = {axis[0], axis[1], contact->normal};
  const bool *follows = surface->proportional;
  double limits[3];
  for (int i = 0; i < 3; i++)
    limits[i] = usable_limit(surface->rolling[i], follows[i], law->pushes);
  bool disc = limits[0] > 0 && isfinite(limits[0]) && limits[0] == limits[1] &&
              follows[0] == follows[1];
  if (disc)
    add_rolling_disc(set, frame, settings, contact, facts, axis, normal_row,
                     limits[0]);
  for (int i = disc ? 2 : 0; i < 3; i++) {
    if (!(limits[i] > 0)) continue;
    double J[2][6];
    torque_jacobian(J, axes[i]);
    add_row(set, frame, contact, MLCP_ROW_FRICTION, J, 0, settings->cfm);
    add_interval(set, facts, contact, normal_row, follows[i], limits[i],
                 frame->step_size);
  }
}

void contact_rows_add(row_set *set, const row_frame *frame,
                      const contact_settings *settings,
                      const host_contact *contact, const contact_facts *facts,
                      const contact_law *law, contact_rows *built) {
  *built = (contact_rows){.first_row = set->n_rows};
  add_normal_row(set, frame, settings, contact, law);

  double axis[2][3];
  host_contact_axes(axis, contact);
  add_sliding(set, frame, settings, contact, facts, law, axis, built);
  bool in_time = !at_once(settings) || contact->surface.proportional[2];
  if (contact->surface.rolls && in_time)
    add_rolling(set, frame, settings, contact, facts, law, axis,
                built->first_row);
  built->n_rows = set->n_rows - built->first_row;
}
