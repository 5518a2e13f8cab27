#include "rows/contact_rows.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "common/vec3.h"
#include "gap/real.h"
#include "rows/hair.h"

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

/* A contact on its way to rows, and what is decided of it. */
typedef struct making {
  row_set *set;
  const row_frame *frame;
  const contact_settings *settings;
  const host_contact *contact;
  const contact_facts *facts;
  const host_body *bodies;
  contact_rows *built;
  mlcp_row *normal;
  int normal_row;
  double axis[2][3]; /* of sliding */
  bool spring;
  bool stiff;       /* a spring stiffer than the step resolves */
  bool pushes;      /* it touches, but for rounding, or would in free flight */
  double gap;       /* m, as its rows see it */
  bool sinks;       /* it comes down to where it rests within the step */
  double erp, cfm;  /* of its normal row */
  double depth;     /* m, signed: what the row is to take away */
  double of_spring; /* m/s: what a rigid contact's compliance, pressed in by its
                        load, comes back with: no correction */
  double correction; /* m/s: what its ERP makes of the depth, that included */
  double rest_depth; /* m: where it rests; 0: at its surface layer */
} making;

/* Of a row on the contact's bodies, m/s; v as in the frame. */
static double rate_of(const making *m, const mlcp_row *row, const double v[]) {
  return row_rate(row->J, m->contact->body, v);
}

/* True where no time passes: what takes time does nothing. */
static bool at_once(const making *m) {
  return m->settings->level == JOINT_LEVEL_IMPACT;
}

/* --- what it is -------------------------------------------------------------- */

static bool can_push(const making *m, double gap) {
  return gap <= hair_touch(m->contact->position) || m->contact->kept ||
         gap + m->frame->step_size * rate_of(m, m->normal, m->frame->v_free) <=
             0;
}

static bool waits(const making *m) {
  const host_surface *surface = &m->contact->surface;
  double gap = m->contact->gap;
  return m->settings->level == JOINT_LEVEL_POSITION && surface->bounces &&
         surface->bounce > 0 && gap > hair_touch(m->contact->position) &&
         gap > surface->bounce_speed * m->frame->step_size && !can_push(m, gap);
}

/* True if a soft contact that was not there in the last step is deeper than its
 * bodies could have moved into each other, and than their load presses it: the
 * program has put them there. With an ERP and a CFM of its own it is a spring
 * all the same. */
static bool was_put_in(const making *m) {
  const double MOVES = 2; /* steps: not every program collides in each */
  const contact_settings *settings = m->settings;
  const host_surface *surface = &m->contact->surface;
  double depth = -m->contact->gap;
  if (surface->own_spring) return false;
  if (depth <=
      -MOVES * settings->host_step * rate_of(m, m->normal, m->frame->v))
    return false;
  double erp = isnan(surface->erp) ? settings->spring_erp : surface->erp;
  double cfm = isnan(surface->cfm) ? settings->cfm : surface->cfm;
  return erp * depth > SPRING_SWINGS * cfm * m->facts->load;
}

/* True if the pair should be pushed apart rather than held. Hysteresis: from 10 %
 * of the arm down to 1 %, otherwise friction pins the overlap: with one limit 16 drawn
 * worlds that it bears on are worse than stock in 15 figures in place of 9. With corrections
 * above g h as the reason instead, the host's demo_cards takes twice the work. What has
 * sunk into a soft contact is on a spring. */
static bool is_overlap(const making *m) {
  const double ENTERS = 0.1, LEAVES = 0.01; /* of an arm */
  const host_contact *contact = m->contact;
  joint_level level = m->settings->level;
  bool asked = level == JOINT_LEVEL_POSITION ||
               (level == JOINT_LEVEL_VELOCITY && contact->soft);
  if (!asked || !m->settings->moves_apart) return false;
  double share = host_contact_overlap(contact, m->bodies);
  bool deep = share > ENTERS;
  if (!(share > LEAVES)) return false;
  if (deep && !contact->soft) return true;
  return m->facts->known_pair ? m->facts->overlapped : deep && was_put_in(m);
}

/* True if a contact has the ERP that makes a spring of its CFM: not where the step
 * is to correct nothing. A row of CFM alone would creep for ever. */
static bool has_spring(const making *m) {
  return !isnan(m->contact->surface.erp) || m->settings->springs;
}

/* A compliance without the ERP that makes a spring of it would creep. */
static double cfm_of(const making *m) {
  double own = m->contact->surface.cfm, world = m->settings->cfm;
  bool creeps = (m->contact->soft && !m->spring) ||
                (world > HOST_DEFAULT_CFM && !has_spring(m));
  if (creeps) return smaller_of(world, HOST_DEFAULT_CFM);
  double cfm = isnan(own) ? world : own;
  bool corrects = m->spring || m->settings->level == JOINT_LEVEL_POSITION;
  return corrects ? cfm : smaller_of(cfm, HOST_DEFAULT_CFM);
}

/* Rounding decides which of the contacts that are pushed out to depth 0 the next
 * step is told of; a structure that loses some falls by as much as gravity does in a
 * step. A hundred times what an accepted residual moves a body is deep enough, and
 * far below what is seen. Contacts that are found before they touch need none. */
static double rest_depth_of(const making *m) {
  double h = m->frame->step_size;
  if (!m->settings->rests_deep || m->facts->found_early) return 0;
  return hair_rest_depth(m->settings->gravity * h * h, m->settings->rounding);
}

static double depth_of(const making *m) {
  if (m->sinks) return 0;
  bool rests = !m->spring && m->gap <= 0 && m->cfm <= HOST_DEFAULT_CFM &&
               m->rest_depth > 0;
  if (!rests) return larger_of(-m->gap - m->settings->surface_layer, 0);
  double depth = -m->gap - m->rest_depth;
  return fabs(depth) <= m->settings->rounding ? 0 : depth;
}

static void decide(making *m) {
  const contact_settings *settings = m->settings;
  double h = m->frame->step_size, own_erp = m->contact->surface.erp;
  double spring_erp = isnan(own_erp) ? settings->spring_erp : own_erp;
  m->built->overlap = is_overlap(m);
  m->spring = !m->built->overlap && m->contact->soft && has_spring(m);
  bool closed = settings->level != JOINT_LEVEL_POSITION && !m->spring;
  m->stiff = m->contact->stiff && m->spring;
  m->gap = closed ? 0 : m->contact->gap;
  m->sinks = m->contact->kept && !closed && !m->spring;
  m->pushes = can_push(m, m->gap);
  m->erp = m->spring                                 ? spring_erp
           : isnan(own_erp) || settings->erp_for_all ? settings->erp
                                                     : own_erp;
  m->cfm = cfm_of(m);
  m->rest_depth = rest_depth_of(m);
  m->depth = depth_of(m);

  m->of_spring = 0;
  m->correction = m->erp * m->depth / h;
  if (m->spring || !(m->cfm > HOST_DEFAULT_CFM) || !(spring_erp > 0)) return;
  double carried =
      isnan(m->facts->carried) ? m->facts->load : m->facts->carried;
  double pressed =
      smaller_of(m->depth, m->cfm * (SPRING_SWINGS * carried) /
                               (spring_erp * m->contact->multiplicity));
  m->of_spring = spring_erp * pressed / h;
  m->correction = m->of_spring + m->erp * (m->depth - pressed) / h;
}

/* --- the normal row ---------------------------------------------------------- */

/* The normal velocity asked for: a correction under the program's cap, or a
 * bounce, which is not capped. What is apart may come as close as it is
 * (`approach`), whatever the ERP. */
static double normal_target(const making *m, double correction, double approach,
                            double bounce) {
  double motion = m->contact->surface.motion[2];
  return larger_of(
      smaller_of(correction + motion, m->settings->max_velocity) - approach,
      bounce);
}

/* The part of the speed at which a contact is met that its bounce gives back. */
static double bounce_of(const making *m) {
  const host_surface *surface = &m->contact->surface;
  double motion = surface->motion[2];
  if (!surface->bounces || !m->pushes ||
      m->settings->level != JOINT_LEVEL_POSITION)
    return -INFINITY;
  double incoming = motion - rate_of(m, m->normal, m->frame->v);
  if (!(incoming > surface->bounce_speed)) return -INFINITY;
  /* else as the host, wherever it is */
  if (!isfinite(m->frame->max_correction))
    return surface->bounce * incoming + motion;
  return row_bounce_target(surface->bounce, -incoming,
                           rate_of(m, m->normal, m->frame->v_free) - motion,
                           m->contact->gap, m->frame->step_size) +
         motion;
}

/* Contacts merged into one act side by side. */
static double compliance_of(const making *m, double cfm) {
  double compliance = cfm / m->frame->step_size;
  return m->contact->multiplicity > 1 ? compliance / m->contact->multiplicity
                                      : compliance;
}

static void place(const making *m) {
  row_set_place(m->set, m->frame, m->contact->body);
}

static void put_normal(const making *m) {
  const double h = m->frame->step_size, most = m->frame->max_correction;
  double in_velocity =
      m->spring
          ? m->correction
          : larger_of(smaller_of(m->correction, most + m->of_spring), -most);
  double approach = larger_of(m->gap, 0) / h;
  if (m->sinks) approach = larger_of(m->gap / h + m->rest_depth / h, 0);
  double bounce = bounce_of(m);
  double target = normal_target(m, in_velocity, approach, bounce);
  m->normal->bias = -target;
  m->normal->compliance = compliance_of(m, m->cfm);
  m->normal->low = 0;
  row_correction *correction = &m->set->corrections[m->normal_row];
  correction->stiff = m->stiff;
  place(m);
  if (m->spring) return;
  double plain = normal_target(m, m->of_spring, approach, -INFINITY);
  double bounced = larger_of(plain, bounce);
  double full = normal_target(m, m->correction, approach, -INFINITY);
  *correction = (row_correction){.velocity = target - bounced,
                                 .excess = full - target,
                                 .bounce = bounced - plain,
                                 .stiff = m->built->overlap};
}

/* --- friction ---------------------------------------------------------------- */

/* The limit of a friction row. One that does not follow the normal impulse, an
 * infinite one too, would act on bodies that fly past each other: it holds where
 * the contact can push. */
static double usable_limit(const making *m, double limit, bool proportional) {
  bool follows = proportional && isfinite(limit);
  return follows || m->pushes ? larger_of(limit, 0) : 0;
}

/* A base row along an axis, of a velocity or of a turn. */
static mlcp_row *add_base(const making *m, const double axis[3], bool turns,
                          double bias, double cfm) {
  mlcp_row *row = row_set_add(m->set, MLCP_ROW_FRICTION);
  if (turns) {
    vec3_copy(row->J[0] + 3, axis);
    vec3_negate(row->J[1] + 3, axis);
  } else {
    host_contact_jacobian(row->J, m->contact, axis);
  }
  row->bias = bias;
  row->compliance = compliance_of(m, cfm);
  return row;
}

/* A friction set over the last `n_base` rows. */
static mlcp_friction *add_set(const making *m, int n_base, bool proportional,
                              double limit) {
  row_set *set = m->set;
  mlcp_friction *friction = &set->frictions[set->n_frictions++];
  *friction = (mlcp_friction){.normal = proportional ? m->normal_row : -1,
                              .first_row = set->n_rows - n_base,
                              .n_base = n_base,
                              .first_pair = set->n_pairs};
  if (proportional) {
    friction->coefficient = limit;
    friction->limit = limit * m->facts->pressed;
  } else {
    friction->limit = limit * m->frame->step_size * m->contact->multiplicity;
  }
  return friction;
}

/* One row with a symmetric limit of its own, or none where it is infinite. */
static void add_interval(const making *m, bool proportional, double limit) {
  row_set *set = m->set;
  if (isinf(limit)) {
    set->rows[set->n_rows - 1].kind = MLCP_ROW_JOINT;
    set->corrections[set->n_rows - 1].excess = NAN;
    return;
  }
  add_set(m, 1, proportional, limit)->n_pairs = 1;
  set->pairs[set->n_pairs++] = (mlcp_pair){{1, 0}};
}

/* A polygon of K edges with a vertex where Coulomb's law (in the ellipse of the
 * two limits) puts the friction that opposes `slip`. */
static const mlcp_friction *add_polygon(const making *m, bool proportional,
                                        const double limits[2],
                                        const double slip[2]) {
  const int edges = m->settings->edges;
  row_set *set = m->set;
  double largest = larger_of(limits[0], limits[1]);
  double scale[2] = {limits[0] / largest, limits[1] / largest};
  mlcp_friction *friction = add_set(m, 2, proportional, largest);
  friction->n_pairs = edges / 2;
  for (int d = 0; d < 2 && proportional && !m->facts->aimed; d++)
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
  return friction;
}

/* The friction set that the contact was given as a polygon. */
static void add_given_polygon(const making *m) {
  const contact_polygon *polygon = &m->frame->polygons[m->contact->polygon];
  double largest = 0;
  for (int k = 0; k < polygon->n; k++)
    largest =
        fmax(largest, hypot(polygon->vertex[k][0], polygon->vertex[k][1]));
  mlcp_friction *friction = add_set(m, 2, true, largest);
  friction->n_pairs = polygon->n;
  for (int k = 0; k < polygon->n; k++)
    m->set->pairs[m->set->n_pairs++] = (mlcp_pair){
        {polygon->vertex[k][0] / largest, polygon->vertex[k][1] / largest}};
}

/* The slip to come along the two axes: the one given, the hint of a contact that is
 * guided, that of free flight, or the hint where free flight has next to none. */
static void slip_to_come(const making *m, const double free[2],
                         double slip[2]) {
  const contact_facts *facts = m->facts;
  const double least = m->settings->slip_floor, *told = facts->slip;
  const double *hint = facts->hint;
  if (told == NULL && facts->guided &&
      (vec3_dot(m->axis[0], hint) != 0 || vec3_dot(m->axis[1], hint) != 0))
    told = hint;
  if (told == NULL && !(free[0] * free[0] + free[1] * free[1] > least * least))
    told = hint;
  for (int d = 0; d < 2; d++)
    slip[d] = told != NULL ? vec3_dot(m->axis[d], told) : free[d];
}

/* The limit of sliding in direction d. At once only what follows the normal
 * impulse acts, and what does not slip at all: forces and viscous slip take
 * time. */
static double sliding_limit(const making *m, int d) {
  const host_surface *surface = &m->contact->surface;
  double limit = surface->limit[d];
  if (at_once(m) &&
      (surface->viscous[d] || (!surface->proportional[d] && isfinite(limit))))
    return 0;
  return usable_limit(m, limit, surface->proportional[d]);
}

static void add_sliding(const making *m) {
  const host_surface *surface = &m->contact->surface;
  contact_rows *built = m->built;
  bool given = m->contact->polygon >= 0;
  const bool *proportional = surface->proportional;
  const double limits[2] = {sliding_limit(m, 0), sliding_limit(m, 1)};
  bool polygon =
      given || (limits[0] > 0 && limits[1] > 0 && isfinite(limits[0]) &&
                isfinite(limits[1]) && proportional[0] == proportional[1]);

  double free[2] = {0};
  for (int d = 0; d < 2; d++) {
    if (!(limits[d] > 0) && !given) continue;
    double cfm = surface->cfm_of_slip[d];
    if (isnan(cfm) || at_once(m)) cfm = m->settings->cfm;
    vec3_copy(built->sliding_axis[built->n_sliding++], m->axis[d]);
    mlcp_row *row = add_base(m, m->axis[d], false, -surface->motion[d], cfm);
    free[d] = rate_of(m, row, m->frame->v_free) - surface->motion[d];
    place(m);
    if (!polygon) add_interval(m, proportional[d], limits[d]);
  }
  if (given) {
    add_given_polygon(m);
  } else if (polygon) {
    double slip[2];
    slip_to_come(m, free, slip);
    built->guided = m->facts->guided;
    for (int d = 0; d < 2; d++)
      vec3_add_scaled(built->slip, slip[d], m->axis[d]);
    built->polygon = add_polygon(m, proportional[0], limits, slip);
  }
}

/* Rolling friction in both directions alike is a disc, whatever they are: its
 * polygon opposes the turn to come, as that of sliding does the slip. */
static void add_rolling(const making *m) {
  const host_surface *surface = &m->contact->surface;
  const double *axes[3] = {m->axis[0], m->axis[1], m->contact->normal};
  const bool *follows = surface->proportional;
  double limits[3], turn[2];
  for (int i = 0; i < 3; i++)
    limits[i] = usable_limit(m, surface->rolling[i], follows[i]);
  bool disc = limits[0] > 0 && isfinite(limits[0]) && limits[0] == limits[1] &&
              follows[0] == follows[1];
  for (int i = 0; i < 3; i++) {
    if (!(limits[i] > 0)) continue;
    mlcp_row *row = add_base(m, axes[i], true, 0, m->settings->cfm);
    if (i < 2) turn[i] = rate_of(m, row, m->frame->v_free);
    place(m);
    if (disc && i == 1) add_polygon(m, follows[0], limits, turn);
    if (!disc || i == 2) add_interval(m, follows[i], limits[i]);
  }
}

void contact_rows_add(row_set *set, const row_frame *frame,
                      const contact_settings *settings,
                      const host_contact *contact, const contact_facts *facts,
                      const host_body bodies[], contact_rows *built) {
  making m = {.set = set,
              .frame = frame,
              .settings = settings,
              .contact = contact,
              .facts = facts,
              .bodies = bodies,
              .built = built,
              .normal_row = set->n_rows};
  *built = (contact_rows){0};
  m.normal = row_set_add(set, MLCP_ROW_NORMAL);
  host_contact_jacobian(m.normal->J, contact, contact->normal);
  if (waits(&m)) {
    set->n_rows = m.normal_row;
    return;
  }
  decide(&m);
  put_normal(&m);
  host_contact_axes(m.axis, contact);
  add_sliding(&m);
  if (contact->surface.rolls &&
      (!at_once(&m) || contact->surface.proportional[2]))
    add_rolling(&m);
  built->n_rows = set->n_rows - m.normal_row;
}
