/* The report of a step: one row a field, and the columns of the trace.
 *
 * Of the first table ode_mlcp.h makes the struct ode_mlcp_report, and the
 * library the sums over islands, the members of `--stats` and the tables in the
 * documents. A row:
 *
 *   ROW(type, field, islands, steps, "unit", "meaning")
 *
 *   islands  how the shares of a step's islands make the field: SUM, MOST, ANY
 *            (1 where one of them has it) or WORLD (of the whole step); WORK
 *            (a sum) and MOST_WORK are of what was done in vain, too
 *   steps    how steps make a member of the statistics: SUM(key), MOST(key) or
 *            NONE
 *
 * Fields that a scheme does not know are 0. A new row goes to the end:
 * docs/abi.md.
 */
#ifndef ODE_MLCP_REPORT_H
#define ODE_MLCP_REPORT_H

/* a row begins where its line does */
/* clang-format off */
#define ODE_MLCP_REPORT(ROW)                                                  \
  ROW(long, step, WORLD, NONE, "",                                            \
      "steps of this world, taken or tried, from 1")                          \
  ROW(double, time, WORLD, NONE, "s", "sum of the sizes of the steps taken")  \
  ROW(double, step_size, WORLD, NONE, "s", "size of the step")                \
  ROW(int, taken, WORLD, SUM(steps), "",                                      \
      "1 where the step was taken; 0: it was refused or failed, and every "   \
      "object is as it was")                                                  \
  ROW(int, bodies, SUM, NONE, "",                                             \
      "bodies moved by the step: enabled and not kinematic")                  \
  ROW(int, islands, WORLD, MOST(islands_max), "",                             \
      "islands of bodies that touch or are joined")                           \
  ROW(int, contacts, SUM, MOST(contacts_max), "",                             \
      "contacts in the problem; points of a pair closer than 1e-4 m count "   \
      "once")                                                                 \
  ROW(int, contacts_merged, SUM, SUM(contacts_merged), "",                    \
      "contacts left out: another point of the pair is closer than 1e-4 m")   \
  ROW(int, contacts_dropped, SUM, SUM(contacts_dropped), "",                  \
      "contacts left out: no usable normal")                                  \
  ROW(int, contacts_new, SUM, NONE, "",                                       \
      "contacts in the problem that were not found among the last step's")    \
  ROW(int, rows, SUM, MOST(rows_max), "",                                     \
      "rows of all problems: joints, normals, friction")                      \
  ROW(int, solves, WORK, SUM(solves), "",                                     \
      "problems solved, with at least one row")                               \
  ROW(int, degraded, SUM, SUM(degraded), "",                                  \
      "problems whose answer has a residual above what is accepted")          \
  ROW(int, unsolved, SUM, SUM(unsolved), "",                                  \
      "of the degraded: residual above 1e-6")                                 \
  ROW(int, pushes, WORK, SUM(pushes), "",                                     \
      "position projections: problems solved to move bodies by what their "   \
      "velocities do not correct")                                            \
  ROW(int, refused, ANY, SUM(refused), "",                                    \
      "1 where an island was too large and the step not taken")               \
  ROW(long, pivots, WORK, SUM(pivots), "", "of Lemke's method, all islands")  \
  ROW(long, factorisations, WORK, SUM(factorisations), "",                    \
      "factorisations of the solver")                                         \
  ROW(long, iterations, WORK, SUM(iterations), "", "iterations of the solver")\
  ROW(double, residual, MOST, MOST(residual_worst), "",                       \
      "worst relative residual of the step's problems, recomputed on the "    \
      "original ones")                                                        \
  ROW(int, impacts, SUM, NONE, "",                                            \
      "second order: impacts resolved, by either law, at the start of the "   \
      "step and in it")                                                       \
  ROW(int, collisions, SUM, NONE, "",                                         \
      "second order: of the impacts, those within the step")                  \
  ROW(int, transitions, SUM, NONE, "",                                        \
      "second order: ends of slides that a step was cut at")                  \
  ROW(int, substeps, SUM, NONE, "", "second order: between events")           \
  ROW(int, zeno, ANY, NONE, "",                                               \
      "second order: 1: events would have been more than max_events; the "    \
      "rest of an island's step was of first order")                          \
  ROW(int, linearised, ANY, NONE, "",                                         \
      "1: contacts of the program's own joints, known at the step's start "   \
      "only (their geoms are not known, or tell something else): their "      \
      "gaps were taken as Phi + h n'v with frozen normals")                   \
  ROW(int, jacobians_dropped, SUM, NONE, "",                                  \
      "second order: of forces: M~ would not have been positive")             \
  ROW(int, rounds, SUM, NONE, "",                                             \
      "st: solves until no contact was left to be added; second order: the "  \
      "most of a step's")                                                     \
  ROW(int, fixed_point_passes, SUM, NONE, "", "st: passes of fixed_point")    \
  ROW(double, fixed_point_change, MOST, NONE, "m or rad",                     \
      "st: how far the last pass moved a body")                               \
  ROW(int, fallbacks, SUM, NONE, "",                                          \
      "solves with n'v+ >= 0 in place of position errors that had no "        \
      "solution, or of overlaps")                                             \
  ROW(int, not_converged, ANY, NONE, "",                                      \
      "1: passes or rounds ran out; the step is that of the last "            \
      "(conserving: a damped one)")                                           \
  ROW(double, solver_seconds, WORK, SUM(solver_seconds), "s",                 \
      "in the solver, summed over islands (which may be solved in parallel)") \
  ROW(double, step_seconds, WORLD, SUM(step_seconds), "s",                    \
      "wall clock of the whole step")                                         \
  ROW(double, kinetic_energy, WORLD, NONE, "J",                               \
      "of the moved bodies, after the step; NaN without measure")             \
  ROW(double, potential_energy, WORLD, NONE, "J",                             \
      "of the moved bodies, after the step, 0 at the origin; NaN without "    \
      "measure")                                                              \
  ROW(double, deepest_penetration, MOST, NONE, "m",                           \
      "greatest depth of the step's contacts as the program gave them, "      \
      "before the step; NaN without measure")                                 \
  ROW(double, worst_joint_error, MOST, NONE, "m or rad",                      \
      "greatest position error of a joint row, before the step; NaN without " \
      "measure")                                                              \
  ROW(int, accepted, SUM, SUM(accepted), "",                                  \
      "problems whose answer misses the tolerance and is accepted")           \
  ROW(double, solver_work, MOST_WORK, MOST(solver_work_most), "",             \
      "work of all solves of bodies that hang together, in factorisations "   \
      "of their problem: what budget bounds; and of sweeps")                  \
  ROW(int, ended_warm, WORK, SUM(ended_warm), "",                             \
      "solves whose answer is last step's impulses, or none")                 \
  ROW(int, ended_continuation, WORK, SUM(ended_continuation), "",             \
      "from last step's active set, by proximal continuation")                \
  ROW(int, ended_pivots, WORK, SUM(ended_pivots), "",                         \
      "from it, by pivots")                                                   \
  ROW(int, ended_interior, WORK, SUM(ended_interior), "",                     \
      "from interior points, their active sets and pivots from these")        \
  ROW(int, ended_homotopy, WORK, SUM(ended_homotopy), "",                     \
      "past an interior point's turning points, by a proximal term")          \
  ROW(int, ended_lemke, WORK, SUM(ended_lemke), "",                           \
      "from Lemke's method in the edge formulation")                          \
  ROW(double, spring_energy, WORLD, NONE, "J",                                \
      "of the springs, after the step; NaN without measure")                  \
  ROW(double, force_work, WORLD, NONE, "J",                                   \
      "work of the program's force functions in the step, by the "            \
      "trapezoidal rule; NaN without measure")                                \
  ROW(int, held, SUM, SUM(held), "",                                          \
      "bodies that were held where they met what they would have passed "     \
      "through")                                                              \
  ROW(long, sweep_queries, WORK, SUM(sweep_queries), "",                      \
      "signed gaps asked for to see where fast bodies meet others")           \
  ROW(int, impacts_by_set, SUM, SUM(impacts_by_set), "",                      \
      "impact set: of the impacts, those that took an outcome of the set")    \
  ROW(int, poisson_bounces, SUM, SUM(poisson_bounces), "",                    \
      "impact set: impacts that took Poisson's law since a contact bounces")  \
  ROW(int, poisson_unposed, SUM, SUM(poisson_unposed), "",                    \
      "impact set: .. since joints drive bodies against each other, or over " \
      "1000 contacts or coordinates take part: there is no set")              \
  ROW(int, poisson_unfinished, SUM, SUM(poisson_unfinished), "",              \
      "impact set: .. since the sample was not over after 201 of its steps, " \
      "or met one without a solution")                                        \
  ROW(int, refused_substeps, SUM, NONE, "",                                   \
      "accuracy: substeps taken back, since there were too few for it or "    \
      "they were there to compare with")                                      \
  ROW(int, inaccurate, SUM, NONE, "",                                         \
      "accuracy: islands whose estimate stayed above it")                     \
  ROW(double, position_error, MOST, NONE, "m",                                \
      "accuracy: worst estimate of an island, of what the step adds")         \
  ROW(double, given_way, MOST, MOST(given_way_most), "m",                     \
      "softness: how far a contact gave way in the step by its compliance, "  \
      "at most")                                                              \
  ROW(int, edges_turned, SUM, SUM(edges_turned), "",                          \
      "friction sets turned towards the slip of their answer")                \
  ROW(int, edges_left, SUM, SUM(edges_left), "",                              \
      "friction sets that slide and were left with a defect above 1e-6")      \
  ROW(double, friction_defect, MOST, MOST(friction_defect_worst), "",         \
      "how far the friction of a contact is from Coulomb's law at worst, "    \
      "over g h: a residual on the cone in place of its edges")               \
  ROW(double, friction_work, SUM, SUM(friction_work), "J",                    \
      "taken by the friction of contacts that slide")                         \
  ROW(double, coulomb_work, SUM, SUM(coulomb_work), "J",                      \
      "what Coulomb's law takes at the same slips and normal forces")         \
  /* a new row goes above this line */

/* The columns of `--trace`, in their order:
 *
 *   FIELD("name", field)                    a field of the report
 *   RECORDED("name", recorded, "meaning")   what the recorder knows itself
 *
 * A new column goes to the end: programs may read columns by number. */
#define ODE_MLCP_TRACE(FIELD, RECORDED)                                       \
  FIELD("step", step)                                                         \
  FIELD("time_s", time)                                                       \
  FIELD("bodies", bodies)                                                     \
  FIELD("contacts", contacts)                                                 \
  FIELD("kinetic_energy_J", kinetic_energy)                                   \
  FIELD("potential_energy_J", potential_energy)                               \
  FIELD("deepest_penetration_m", deepest_penetration)                         \
  FIELD("worst_joint_error", worst_joint_error)                               \
  FIELD("residual", residual)                                                 \
  FIELD("pivots", pivots)                                                     \
  FIELD("seconds", step_seconds)                                              \
  RECORDED("world", world, "1, 2, ... in the order of the worlds' first steps")\
  FIELD("rows", rows)                                                         \
  FIELD("degraded", degraded)                                                 \
  FIELD("unsolved", unsolved)                                                 \
  FIELD("taken", taken)                                                       \
  FIELD("impacts", impacts)                                                   \
  FIELD("substeps", substeps)                                                 \
  FIELD("solver_seconds", solver_seconds)                                     \
  FIELD("accepted", accepted)                                                 \
  FIELD("solver_work", solver_work)                                           \
  FIELD("spring_energy_J", spring_energy)                                     \
  FIELD("force_work_J", force_work)                                           \
  FIELD("refused_substeps", refused_substeps)                                 \
  FIELD("inaccurate", inaccurate)                                             \
  FIELD("position_error_m", position_error)                                   \
  FIELD("given_way_m", given_way)                                             \
  FIELD("edges_turned", edges_turned)                                         \
  FIELD("edges_left", edges_left)                                             \
  FIELD("friction_defect", friction_defect)                                   \
  FIELD("friction_work_J", friction_work)                                     \
  FIELD("coulomb_work_J", coulomb_work)                                       \
  /* a new row goes above this line */

#endif
