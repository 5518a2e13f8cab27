/* A library scene at its step, taken again and again by the host's own
 * steppers, each answer held against the step's mixed LCPs. */
#ifndef ODE_MLCP_BENCH_HOST_STEP_H
#define ODE_MLCP_BENCH_HOST_STEP_H

#include "library.h"

/** Poses and velocities of a scene's bodies. */
typedef struct scene_state {
  int n_bodies;
  double (*numbers)[13];
} scene_state;

/** Room for the bodies of `scene`; ends the program without memory. */
void scene_state_create(scene_state *state, const scene *scene);
void scene_state_release(scene_state *state);
void scene_state_read(scene_state *state, const scene *scene);
/** Also wakes bodies and forgets forces. */
void scene_state_write(const scene_state *state, scene *scene);

typedef struct host_part host_part;

typedef struct host_case {
  scene *scene;
  scene_state start;
  dJointFeedback *feedback; /* [n_joints] of the contacts */
  dJointID *joints;         /* [n_joints] contact joints, in order of islands */
  int n_joints;
  host_part *parts;
  int n_parts;
  bool jointed; /* other joints: their impulses cannot be told apart */
} host_case;

/** @return false where the scene cannot be had. */
bool host_case_open(host_case *opened, const library_entry *entry);
void host_case_close(host_case *opened);

/**
 * One step from the same state. `sweeps` 0 is dWorldStep, else dWorldQuickStep
 * with so many iterations.
 *
 * @param seconds  out: of the whole step
 * @param own      out: the worst lcp_form_box_residual
 * @return the worst relative residual (mlcp.h) of the contact impulses that the
 *         host used, on the step's problems; NAN with other joints.
 */
double host_case_step(host_case *opened, int sweeps, double *seconds,
                      double *own);

#endif
