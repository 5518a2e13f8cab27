#include "rows/contact_policy.h"

#include <math.h>

#include "common/minmax.h"
#include "gap/real.h"
#include "rows/hair.h"

double contact_rate(const row_frame *frame, const host_contact *contact,
                    const double J[2][6], bool free) {
  double sum = 0;
  for (int side = 0; side < 2; side++) {
    if (contact->body[side] < 0) continue;
    const double *v =
        (free ? frame->v_free : frame->v) + 6 * contact->body[side];
    for (int i = 0; i < 6; i++) sum += J[side][i] * v[i];
  }
  return sum;
}

static bool can_push(const row_frame *frame, const host_contact *contact,
                     double gap) {
  double J[2][6];
  if (gap <= hair_touch(contact->position) || contact->kept) return true;
  host_contact_jacobian(J, contact, contact->normal);
  return gap + frame->step_size * contact_rate(frame, contact, J, true) <= 0;
}

bool contact_waits(const contact_settings *settings, const row_frame *frame,
                   const host_contact *contact) {
  const host_surface *surface = &contact->surface;
  double gap = contact->gap, slow = surface->bounce_speed * frame->step_size;
  return settings->level == JOINT_LEVEL_POSITION && surface->bounces &&
         surface->bounce > 0 && gap > hair_touch(contact->position) &&
         gap > slow && !can_push(frame, contact, gap);
}

/* --- springs ----------------------------------------------------------------- */

/* True if a contact has the ERP that makes a spring of its CFM: not where the step
 * is to correct nothing. A row of CFM alone would creep for ever. */
static bool has_spring(const contact_settings *settings,
                       const host_contact *contact) {
  return !isnan(contact->surface.erp) || settings->springs;
}

/* True if a soft contact is deeper than twice what its spring carries and its bodies
 * move in a step: the program has put them into each other, and they are moved apart
 * until it is a spring. With an ERP and a CFM of its own it is one all the same. */
static bool was_put_in(const contact_settings *settings, const row_frame *frame,
                       const host_contact *contact, double load) {
  const host_surface *surface = &contact->surface;
  double J[2][6], depth = -contact->gap, h = settings->host_step;
  if (settings->as_host || !(depth > 0) ||
      (!isnan(surface->erp) && !isnan(surface->cfm)))
    return false;
  host_contact_jacobian(J, contact, contact->normal);
  double parts = h * contact_rate(frame, contact, J, false);
  double erp = isnan(surface->erp) ? settings->spring_erp : surface->erp;
  double cfm = isnan(surface->cfm) ? settings->cfm : surface->cfm;
  /* the load is that of a whole step, whatever part of it this is */
  double pressed = cfm * load * h / frame->step_size + larger_of(parts, 0);
  return depth > -SPRING_SWINGS * parts &&
         erp * depth > SPRING_SWINGS * pressed;
}

/* --- numbers ----------------------------------------------------------------- */

/* A compliance without the ERP that makes a spring of it would creep. */
static double cfm_of(const contact_law *law, const contact_settings *settings,
                     const host_contact *contact) {
  double own = contact->surface.cfm;
  bool creeps =
      (contact->soft && !law->spring) ||
      (settings->cfm > HOST_DEFAULT_CFM && !has_spring(settings, contact));
  if (creeps) return smaller_of(settings->cfm, HOST_DEFAULT_CFM);
  double cfm = isnan(own) ? settings->cfm : own;
  bool corrects = law->spring || settings->level == JOINT_LEVEL_POSITION;
  return corrects ? cfm : smaller_of(cfm, HOST_DEFAULT_CFM);
}

/* Rounding decides which of the contacts that are pushed out to depth 0 the next
 * step is told of; a structure that loses some falls by as much as gravity does in a
 * step. A hundred times what an accepted residual moves a body is deep enough, and
 * far below what is seen. Contacts that are found before they touch need none. */
static double rest_depth_of(const contact_settings *settings,
                            const row_frame *frame,
                            const contact_facts *facts) {
  if (!settings->rests_deep || facts->found_early) return 0;
  return hair_rest_depth(
      settings->gravity * frame->step_size * frame->step_size,
      settings->rounding);
}

static double depth_of(const contact_law *law,
                       const contact_settings *settings) {
  if (law->sinks) return 0;
  bool rests = !law->spring && law->gap <= 0 && law->cfm <= HOST_DEFAULT_CFM &&
               law->rest_depth > 0;
  if (!rests) return larger_of(-law->gap - settings->surface_layer, 0);
  double depth = -law->gap - law->rest_depth;
  return fabs(depth) <= settings->rounding ? 0 : depth;
}

void contact_policy_decide(contact_law *law, const contact_settings *settings,
                           const row_frame *frame, const host_contact *contact,
                           const contact_facts *facts) {
  double h = frame->step_size, own_erp = contact->surface.erp;
  double spring_erp = isnan(own_erp) ? settings->spring_erp : own_erp;
  double load = isnan(facts->carried) ? facts->load : facts->carried;
  law->put_in =
      contact->soft && has_spring(settings, contact) &&
      was_put_in(settings, frame, contact, larger_of(load, facts->load));
  law->spring = contact->soft && has_spring(settings, contact) && !law->put_in;
  bool closed = settings->level != JOINT_LEVEL_POSITION && !law->spring;
  law->stiff = contact->stiff && law->spring;
  law->gap = closed ? 0 : contact->gap;
  law->sinks = contact->kept && !closed && !law->spring;
  law->pushes = can_push(frame, contact, law->gap);
  law->erp = law->spring                               ? spring_erp
             : isnan(own_erp) || settings->erp_for_all ? settings->erp
                                                       : own_erp;
  law->cfm = cfm_of(law, settings, contact);
  law->rest_depth = rest_depth_of(settings, frame, facts);
  law->depth = depth_of(law, settings);

  law->correction = law->erp * law->depth / h;
  law->of_spring = law->spring ? law->correction : 0;
  if (law->spring || !(spring_erp > 0)) return;
  double pressed =
      smaller_of(law->depth, law->cfm * (SPRING_SWINGS * load) /
                                 (spring_erp * contact->multiplicity));
  law->of_spring = spring_erp * pressed / h;
  law->correction = law->of_spring + law->erp * (law->depth - pressed) / h;
}
