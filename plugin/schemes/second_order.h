/* One step of the trapezoids and of the (alpha, gamma) family, of any size and
 * from any state: masses, forces and weights of docs/formulation.md (20-23). */
#ifndef ODE_MLCP_SCHEMES_SECOND_ORDER_H
#define ODE_MLCP_SCHEMES_SECOND_ORDER_H

#include "schemes/forces.h"
#include "schemes/motion.h"

typedef struct second_order {
  world_form *form;
  const force_list *forces;
  form_view here;      /* at the start; contacts have `active` set */
  form_view middle;    /* where the Jacobians are taken */
  form_answer answer;  /* of the last step tried */
  int *middle_of;      /* [here.n_contacts] contact in `middle`, -1: lost */
  motion ahead;        /* scratch */
  double *mass, *x_free, *force, *k_q, *k_v;
  form_extra_row *rows;
  bool count_jams;     /* in the next step tried */
  bool *stiff;         /* [n_bodies] see second_order_find_stiff */
  bool *taken;
  memory_block middle_block, mass_block, free_block, force_block, k_q_block,
      k_v_block, row_block, stiff_block, taken_block;
} second_order;

bool second_order_is(ode_mlcp_scheme scheme);

/** alpha of v_alpha: 1/2 for the trapezoids. */
double second_order_alpha(const ode_mlcp_options *options);

/** Reserve what depends on the number of bodies. */
bool second_order_reserve(second_order *s);

/**
 * Mark the bodies on which a spring or damper acts whose own time is no longer
 * than a step of size h (c g'M^-1 g >= 1). A trapezoid keeps such forces
 * stable, but velocities alternate from step to step: there is nothing to be found
 * between the ends of a step. `here` is at `from`.
 */
void second_order_find_stiff(second_order *s, const motion *from, double h);

/** How far apart the contacts of two poses may be and still be the same. */
double second_order_radius(const second_order *s, const double v[], double h);

/**
 * A step of size h. `here` is at `from`.
 *
 * @param to  out, may not be `from`
 * @return false with the form's message.
 */
bool second_order_take(second_order *s, const motion *from, double h,
                       motion *to);

/**
 * Poses corrected by moving (no velocity is changed): x is the least motion,
 * measured by mass, that takes away ERP's share of joint errors and overlaps at
 * `to`. With the errors of third order that a step makes, so is the correction.
 *
 * @param at  the view to evaluate there
 */
bool second_order_correct(second_order *s, form_view *at, motion *to);

void second_order_release(second_order *s);

#endif
