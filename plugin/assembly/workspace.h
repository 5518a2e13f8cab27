/* What an assembly holds, for the files that make it up:
 *
 *   assembly.c           memory, and one component after the other
 *   component_rows.c     a component's problem
 *   component_solve.c    its solution, or that of a problem that asks for less, and
 *                        the move that corrects what velocities do not
 *   assembly_answer.c    what schemes and the next step are told of it
 */
#ifndef ODE_MLCP_ASSEMBLY_WORKSPACE_H
#define ODE_MLCP_ASSEMBLY_WORKSPACE_H

#include "assembly/components.h"
#include "solver/solver.h"

typedef struct assembly {
  const memory_source *source;
  arena arena;
  solver_workspace *solver;
  assembly_request request;
  const world_contacts *contacts;
  const host_body *bodies;
  component_set components;

  /* problems of all components, one after the other */
  mlcp_body *problem_bodies;
  mlcp_row *rows;
  row_correction *corrections;
  mlcp_friction *frictions;
  mlcp_pair *pairs;
  double *guess;
  int *joint_of_row; /* see solved_component */
  mlcp_solution solution;
  arena kept;   /* of the solve before: */
  double *last; /* [n_last] its impulses */
  int n_last;

  /* where rows are, over all components; -1: none */
  int (*joint_row)[6]; /* [n_joint_rows] */
  int *contact_row;    /* [contacts->n] the first */
  contact_rows
      *contact_rows;  /* [contacts->n] n_rows is 0 where it took no part */
  double *x, *v_free; /* [6 n_bodies] */
  double *projected;  /* [6 n_bodies] NAN: none */
  int n_fallbacks, n_stopped;
} assembly;

/* What all friction sets of an answer come to beside Coulomb's law. */
typedef struct edges_look {
  double law, defect; /* J: sums of limit |slip| and of the defects */
  double off;         /* m/s: the largest */
  int n_wrong;
} edges_look;

/* One component on its way through the solver. */
typedef struct component_problem {
  const component *of;
  int index;
  int first_row, first_friction, first_pair; /* over all components */
  row_frame frame;
  contact_settings settings; /* of its contacts */
  row_set set;
  mlcp_problem problem;
  mlcp_solution solution;
  double *guess;
  int *joint_of_row;
  edges_look look;     /* at its solution */
  bool overlap;        /* one of its contacts is an overlap */
  double load;         /* N s: what its bodies press with in all */
  double budget, work; /* of all solves of one component, and taken of it */
  outcome *out;
} component_problem;

/* The host's index of body i of a component; -1 stays. */
static inline int component_body(const assembly *a, const component_problem *c,
                                 int i) {
  return i < 0 ? -1 : a->components.body_at[c->of->first_body + i];
}

/* A contact's impulse is remembered as on the body that comes second in its entry: -1
 * where that is the second of the contact's own, else 1. */
static inline double memory_sign(const world_snapshot *world,
                                 const host_contact *point) {
  return world_serial(world, point->body[0]) >
                 world_serial(world, point->body[1])
             ? 1
             : -1;
}

#endif
