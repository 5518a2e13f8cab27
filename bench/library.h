/* A library of problems from our own scenes, by name: the same on every run.
 *
 *   dInitODE2(0);
 *   for (const library_entry *e = library_entries; e->name != NULL; e++) {
 *     library_problems captured;
 *     if (!library_capture(e, &captured)) ..;
 *     for (int i = 0; i < captured.n_problems; i++)
 *       solver_solve(.., &captured.problems[i].problem, ..);
 *     library_release(&captured);
 *   }
 *   dCloseODE();
 *
 * Nothing is kept on disk: a scene is built, brought to its step and asked for
 * the problems of that step. Needs the host library, one thread.
 */
#ifndef ODE_MLCP_BENCH_LIBRARY_H
#define ODE_MLCP_BENCH_LIBRARY_H

#include "../demos/scenes/scene.h"
#include "mlcp/mlcp_stored.h"

/** What it takes to get to a problem. A problem is cold where no exact step
 *  comes before it: its guess is NAN throughout. */
typedef struct library_entry {
  const char *name;   /* "wall-55-cold"; NULL ends the list */
  const char *family; /* "wall" */
  scene *(*build)(double size, double parameter);
  double size, parameter; /* bodies, links, ..; what else the scene takes */
  int rough_steps;        /* taken by dWorldQuickStep */
  int exact_steps; /* then taken by this stepper, before the one captured */
  double promise;  /* relative residual promised */
  bool large;      /* more than 1000 contacts: left to benches */
} library_entry;

extern const library_entry library_entries[];

/** Step size of all of them, s. */
#define LIBRARY_STEP 0.01

/** @return NULL where there is no such name. */
const library_entry *library_find(const char *name);

/** The scene before its step, with the contacts of that step made and its
 *  world attached (default options); NULL where memory runs out or a step
 *  failed. End it with scene_destroy. */
scene *library_bring(const library_entry *entry);

/** The problems of one step with at least one row, in the order of islands and
 *  parts, with their warm starts. */
typedef struct library_problems {
  int n_problems;
  mlcp_stored *problems;
  int n_contacts; /* normal rows of all of them */
} library_problems;

/** @return false where memory runs out or a step failed; nothing to release
 *  then. */
bool library_capture(const library_entry *entry, library_problems *captured);
void library_release(library_problems *captured);

#endif
