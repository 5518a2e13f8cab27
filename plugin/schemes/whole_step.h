/* A step of the whole world: substeps of a second-order scheme between events,
 * back to the grid of the host's steps (PAGT sec. 8). Everything is done before
 * the host's commit, which then moves each body once. */
#ifndef ODE_MLCP_SCHEMES_WHOLE_STEP_H
#define ODE_MLCP_SCHEMES_WHOLE_STEP_H

#include "schemes/forces.h"

typedef struct whole_step whole_step;

/** @return NULL when memory runs out. */
whole_step *whole_step_create(const memory_source *source);
void whole_step_destroy(whole_step *w);

/**
 * Solve a step. Nothing of the host is changed.
 *
 * @param bodies, joints  out, in the order of the islands
 * @param result          out: report and message
 * @return false where the step cannot be taken: result->message says why.
 */
bool whole_step_solve(whole_step *w, dWorldID world, double step_size,
                      double time, const dStepperIsland *islands,
                      size_t n_islands, const ode_mlcp_options *options,
                      const force_list *forces, contact_source *contacts,
                      body_result bodies[], joint_result joints[],
                      island_result *result);

/** To be called when the step has been committed: what the bodies are like now
 *  is what the next step should find. */
void whole_step_committed(whole_step *w);

/** v_alpha of a body in the last step; false where it took no part. */
bool whole_step_v_alpha(const whole_step *w, dBodyID body, double velocity[6]);

/** The settings and contacts of an attached world, NULL where it is none. In
 *  stepper.c. */
const ode_mlcp_options *stepper_options(dWorldID world,
                                        const memory_source **source,
                                        contact_source **contacts);

/** Event number `index`, from 0, of the last step; false past the last. */
bool whole_step_event(const whole_step *w, int index, ode_mlcp_event *event);

#endif
