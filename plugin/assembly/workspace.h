/* What an assembly holds, and what its files do for each other:
 *
 *   assembly.c           memory, the components of an island, each a problem of its own,
 *                        and one after the other
 *   component_rows.c     a component's problem
 *   component_solve.c    its solution, or that of a problem that asks for less, and
 *                        the move that corrects what velocities do not
 *   component_edges.c    friction edges that follow the answer
 *   assembly_answer.c    what schemes and the next step are told of it
 */
#ifndef ODE_MLCP_ASSEMBLY_WORKSPACE_H
#define ODE_MLCP_ASSEMBLY_WORKSPACE_H

#include "assembly/request.h"
#include "solver/solver.h"

typedef enum item_kind {
  ITEM_JOINT, /* the host's rows of a joint */
  ITEM_CONTACT,
  ITEM_EXTRA,
  ITEM_STOP
} item_kind;

/** A source of rows of a component. */
typedef struct item {
  item_kind kind;
  int index; /* of the joint, contact or extra row */
  int next;  /* of the same component, -1 at the end */
} item;

/** Bodies that no row ties to the rest. */
typedef struct component {
  int n_bodies, first_body; /* into body_at */
  int first_item, last_item, n_contacts;
} component;

typedef struct component_set {
  item *
      items; /* [n_items] joints and contacts in the order of the host's joints,
                  contacts without one, extra rows, stops */
  int n_items;
  component *components; /* [n_components] in the order of their first bodies */
  int n_components;
  int *component_of; /* [n_bodies] -1: kinematic */
  int *problem_body; /* [n_bodies] index in its component, -1 kinematic */
  int *body_at;      /* bodies of all components, one after the other */
} component_set;

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
  double *last; /* [n_last] its impulses, */
  int n_last;
  contact_rows
      *last_contacts; /* and contacts, whose edges followed its answer */

  /* where rows are, over all components; -1: none */
  int (*joint_row)[6]; /* [n_joint_rows] */
  int *contact_row;    /* [contacts->n] the first */
  contact_rows
      *contact_rows; /* [contacts->n] n_rows is 0 where it took no part */
  double *x;         /* [6 n_bodies] */
  double *projected; /* [6 n_bodies] NAN: none */
  int n_stopped;
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

/* --- component_rows.c --- */

/** What rows of all components read: c->frame and c->settings. */
void component_rows_begin(const assembly *a, component_problem *c);

/** Build the problem of c->of behind those before it.
 *  @return false with out->message where a mass has no inverse. */
bool component_rows_build(assembly *a, component_problem *c);

/** Add the rows of stops that are still left out: those active, or with a
 *  solution, in a->x, those that it overshoots. @return how many. */
int component_rows_add_stops(assembly *a, component_problem *c, bool solved);

/* --- component_solve.c --- */

/** True if no impulses do: x_free obeys every row to within what the request allows. */
bool component_obeys(const assembly *a, const component_problem *c);

/** Solve the component's problem into c->solution.
 *  @return false with out->message where it is too large, memory ran out or no
 *          finite solution was found. */
bool component_solve(assembly *a, component_problem *c);

/** Move the bodies of a solved component by what their velocities do not correct
 *  (position_projection.h), into a->projected. One whose solve fails moves nothing.
 *  @return false with out->message where memory ran out. */
bool component_project(assembly *a, component_problem *c);

/* --- component_edges.c --- */

/**
 * Look at the answer in c->solution, into c->look, and turn friction sets until it is
 * Coulomb's, or as long as half of what lacks goes each time.
 *
 * @param options  of the solve that gave the answer; what is left of its budget is
 *                 spent
 * @param solve    in: that solve; one that did not succeed is looked at alone; out: with
 *                 the work of all
 * @return false where memory ran out: answer and sets are as they were.
 */
bool component_edges_follow(assembly *a, component_problem *c,
                            const solver_options *options,
                            solver_report *solve);

/** What friction took, and how far it is from Coulomb's law, to the report; and what the
 *  next step starts from: contacts that had to be turned once keep the direction of their
 *  answer. */
void component_edges_end(assembly *a, const component_problem *c);

#endif
