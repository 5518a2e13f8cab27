#include "rows/contact_policy.h"

#include <math.h>

#include "common/minmax.h"
#include "gap/real.h"
#include "rows/hair.h"

static bool can_push(const row_frame *frame, const host_contact *contact,
                     double gap) {
  double J[2][6];
  if (gap <= hair_touch(contact->position) || contact->kept) return true;
  host_contact_jacobian(J, contact, contact->normal);
  return gap + frame->step_size * row_rate(J, contact->body, frame->v_free) <=
         0;
}

bool contact_waits(const contact_settings *settings, const row_frame *frame,
                   const host_contact *contact) {
  const host_surface *surface = &contact->surface;
  double gap = contact->gap, slow = surface->bounce_speed * frame->step_size;
  return settings->level == JOINT_LEVEL_POSITION && surface->bounces &&
         surface->bounce > 0 && gap > hair_touch(contact->position) &&
         gap > slow && !can_push(frame, contact, gap);
}

/* --- classes ----------------------------------------------------------------- */

/* True if a soft contact that was not there in the last step is deeper than its
 * bodies could have moved into each other, and than their load presses it: the
 * program has put them there. With an ERP and a CFM of its own it is a spring
 * all the same. */
static bool was_put_in(const contact_settings *settings, const row_frame *frame,
                       const host_contact *contact,
                       const contact_facts *facts) {
  const double MOVES = 2; /* steps: not every program collides in each */
  const host_surface *surface = &contact->surface;
  double J[2][6];
  if (!isnan(surface->erp) && !isnan(surface->cfm)) return false;
  host_contact_jacobian(J, contact, contact->normal);
  double rate = row_rate(J, contact->body, frame->v);
  if (-contact->gap <= -MOVES * settings->host_step * rate) return false;

  double erp = isnan(surface->erp) ? settings->spring_erp : surface->erp;
  double cfm = isnan(surface->cfm) ? settings->cfm : surface->cfm;
  /* what the spring carries is that of a whole step, whatever part this is */
  double parts = settings->host_step / frame->step_size;
  return erp * -contact->gap > SPRING_SWINGS * cfm * facts->load * parts;
}

/* True if the pair should be pushed apart rather than held. Hysteresis: from 10 %
 * of the arm down to 1 %, otherwise friction pins the overlap: with one limit 16 drawn
 * worlds that it bears on are worse than stock in 15 figures in place of 9. With corrections
 * above g h as the reason instead, the host's demo_cards takes twice the work. What has
 * sunk into a soft contact is on a spring. */
static bool is_overlap(const contact_settings *settings, const row_frame *frame,
                       const host_contact *contact, const contact_facts *facts,
                       const host_body bodies[]) {
  const double ENTERS = 0.1, LEAVES = 0.01; /* of an arm */
  bool asked = settings->level == JOINT_LEVEL_POSITION ||
               (settings->level == JOINT_LEVEL_VELOCITY && contact->soft);
  if (!asked || !settings->moves_apart ||
      !host_contact_overlaps(contact, bodies, LEAVES))
    return false;
  bool deep = host_contact_overlaps(contact, bodies, ENTERS);
  if (deep && !contact->soft) return true;
  return facts->known_pair
             ? facts->overlapped
             : deep && was_put_in(settings, frame, contact, facts);
}

/* True if a contact has the ERP that makes a spring of its CFM: not where the step
 * is to correct nothing. A row of CFM alone would creep for ever. */
static bool has_spring(const contact_settings *settings,
                       const host_contact *contact) {
  return !isnan(contact->surface.erp) || settings->springs;
}

static contact_class class_of(const contact_settings *settings,
                              const row_frame *frame,
                              const host_contact *contact,
                              const contact_facts *facts,
                              const host_body bodies[]) {
  if (is_overlap(settings, frame, contact, facts, bodies))
    return CONTACT_OVERLAP;
  return contact->soft && has_spring(settings, contact) ? CONTACT_SPRING
                                                        : CONTACT_RIGID;
}

/* --- numbers ----------------------------------------------------------------- */

/* A compliance without the ERP that makes a spring of it would creep. */
static double cfm_of(const contact_law *law, const contact_settings *settings,
                     const host_contact *contact) {
  double own = contact->surface.cfm;
  bool creeps =
      (contact->soft && law->is != CONTACT_SPRING) ||
      (settings->cfm > HOST_DEFAULT_CFM && !has_spring(settings, contact));
  if (creeps) return smaller_of(settings->cfm, HOST_DEFAULT_CFM);
  double cfm = isnan(own) ? settings->cfm : own;
  bool corrects =
      law->is == CONTACT_SPRING || settings->level == JOINT_LEVEL_POSITION;
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
  bool rests = law->is != CONTACT_SPRING && law->gap <= 0 &&
               law->cfm <= HOST_DEFAULT_CFM && law->rest_depth > 0;
  if (!rests) return larger_of(-law->gap - settings->surface_layer, 0);
  double depth = -law->gap - law->rest_depth;
  return fabs(depth) <= settings->rounding ? 0 : depth;
}

void contact_policy_decide(contact_law *law, const contact_settings *settings,
                           const row_frame *frame, const host_contact *contact,
                           const contact_facts *facts,
                           const host_body bodies[]) {
  double h = frame->step_size, own_erp = contact->surface.erp;
  double spring_erp = isnan(own_erp) ? settings->spring_erp : own_erp;
  law->is = class_of(settings, frame, contact, facts, bodies);
  bool spring = law->is == CONTACT_SPRING;
  bool closed = settings->level != JOINT_LEVEL_POSITION && !spring;
  law->stiff = contact->stiff && spring;
  law->gap = closed ? 0 : contact->gap;
  law->sinks = contact->kept && !closed && !spring;
  law->pushes = can_push(frame, contact, law->gap);
  law->erp = spring                                    ? spring_erp
             : isnan(own_erp) || settings->erp_for_all ? settings->erp
                                                       : own_erp;
  law->cfm = cfm_of(law, settings, contact);
  law->rest_depth = rest_depth_of(settings, frame, facts);
  law->depth = depth_of(law, settings);

  law->of_spring = 0;
  law->correction = law->erp * law->depth / h;
  if (spring || !(law->cfm > HOST_DEFAULT_CFM) || !(spring_erp > 0)) return;
  double carried = isnan(facts->carried) ? facts->load : facts->carried;
  double pressed =
      smaller_of(law->depth, law->cfm * (SPRING_SWINGS * carried) /
                                 (spring_erp * contact->multiplicity));
  law->of_spring = spring_erp * pressed / h;
  law->correction = law->of_spring + law->erp * (law->depth - pressed) / h;
}
