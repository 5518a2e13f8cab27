/* The settings of a world: one row each, and all that is said of it.
 *
 * Of this table ode_mlcp.h makes the struct ode_mlcp_options, and the library
 * its defaults, checks and messages, the options of `ode-mlcp run` and `scene`,
 * the environment variables, the members of `--stats` and the tables in the
 * documents. A row:
 *
 *   ROW(type, field, allowed, default, "unit", "letter", read by, "help")
 *
 * The field max_events is the option --max-events, the environment variable
 * ODE_MLCP_MAX_EVENTS and the member "max_events" of the statistics.
 *
 *   allowed   ONE_OF(words), ON_OFF (1 or 0), WHOLE(from, to), EVEN(from, to),
 *             NUMBER(..) with FROM or ABOVE, TO or BELOW, or WORD_OR(word, its
 *             value, NUMBER(..)); never NaN
 *   letter    stands for the value in the help; "": the words do
 *   read by   the schemes that a setting makes a difference to: ALL, or a set
 *             that plugin/settings/settings.c defines; others keep it unread
 *   help      its first sentence says it alone where there is little room
 *
 * A new row goes to the end: docs/abi.md.
 */
#ifndef ODE_MLCP_SETTINGS_H
#define ODE_MLCP_SETTINGS_H

/* a row begins where its line does */
/* clang-format off */
#define ODE_MLCP_SETTINGS(ROW)                                                \
  ROW(ode_mlcp_scheme, scheme, ONE_OF(schemes), ODE_MLCP_SCHEME_AH, "", "",   \
      ALL, "How a step is taken.")                                            \
  ROW(int, edges, EVEN(4, 64), 4, "", "K", ALL,                               \
      "Friction edges a contact. 4 follow the answer, so that bodies slide "  \
      "as Coulomb's law says, guided or not; more are a fixed polygon, "      \
      "which Lemke's method solves: for small problems.")                     \
  ROW(double, erp,                                                            \
      WORD_OR("host", ODE_MLCP_ERP_HOST, NUMBER(FROM(0), TO(1))),             \
      ODE_MLCP_ERP_HOST, "", "G", STABILISED,                                 \
      "ERP: host, the one that the program set, or this in place of the "     \
      "world's. A joint's or a contact's own ERP stays: it describes a "      \
      "spring.")                                                              \
  ROW(double, max_correction, NUMBER(ABOVE(0), TO(INFINITY)), 0.5, "m/s",     \
      "V", AP_AH_ST,                                                          \
      "Position errors give bodies no more velocity (m/s, rad/s) than this. " \
      "The rest of a correction moves them without giving them speed, so "    \
      "that nothing pops; inf makes all of it velocity, as in stock ODE.")    \
  ROW(ode_mlcp_solver, solver, ONE_OF(solvers), ODE_MLCP_SOLVER_FAST, "", "", \
      ALL, "What solves a step's problems.")                                  \
  ROW(double, tolerance, NUMBER(ABOVE(0), BELOW(1)), 1e-10, "", "T", ALL,     \
      "The relative residual asked of a solve.")                              \
  ROW(int, max_contacts, WHOLE(1, 1000000000), 1000000, "", "N", ALL,           \
      "A step with an island of more contacts is refused. The call returns "  \
      "0 and nothing moves.")                                                 \
  ROW(double, margin,                                                         \
      WORD_OR("auto", ODE_MLCP_MARGIN_AUTO, NUMBER(FROM(0), TO(1e15))),       \
      ODE_MLCP_MARGIN_AUTO, "m", "M", ALL,                                    \
      "Contacts with a gap up to this are seen before they touch, so that "   \
      "nothing is entered. auto: of a collision function, what the bodies of "\
      "a pair can come closer in two steps; of the program's dCollide the "   \
      "same, but under ap and ah, as in stock ODE, what touches; joint stops "\
      "hold before they are overshot, as with any margin but 0.")             \
  ROW(int, measure, ON_OFF, 0, "", "", ALL,                                   \
      "Fill the report's energies and errors. A trace switches it on.")       \
  ROW(int, fixed_point, WHOLE(0, 1000), 0, "", "N", ST,                       \
      "At most so many passes until contacts are taken where the step ends. " \
      "0: one, where it would end with the present velocities.")              \
  ROW(double, alpha, NUMBER(FROM(0.5), TO(1)), 0.5, "", "A", GAP,             \
      "The alpha of the (alpha, gamma) family.")                              \
  ROW(int, events, ON_OFF, 1, "", "", SECOND_ORDER,                           \
      "Cut steps at collisions, and where contacts begin or end to slip or "  \
      "part.")                                                                \
  ROW(int, max_events, WHOLE(0, 1000000000), 8, "", "N", SECOND_ORDER,        \
      "More events of an island leave the rest of its step to one of first "  \
      "order.")                                                               \
  ROW(ode_mlcp_impact_law, impact, ONE_OF(impact_laws),                       \
      ODE_MLCP_IMPACT_LAW_POISSON, "", "", SECOND_ORDER,                      \
      "How impacts are resolved.")                                            \
  ROW(int, impact_seed, WHOLE(0, 1000000000), 1, "", "N", SECOND_ORDER,       \
      "Which outcomes of the set-valued law. With the step's time and the "   \
      "event's number in the step it says which is taken: the same seed, "    \
      "the same run.")                                                        \
  ROW(double, budget, NUMBER(FROM(1), TO(INFINITY)), 5000, "", "N", ALL,      \
      "The work that all solves of bodies that hang together, and questions " \
      "for what they would pass through, may take in a step, in "             \
      "factorisations of their problem: counted, not timed, so that results " \
      "are the same on every machine. "                                       \
      "At its end the best answer found is taken, and its residual "          \
      "reported; inf looks for the last digit. Solver lemke may take a hundred "   \
      "times as much.")              \
  ROW(int, sweep, ON_OFF, 1, "", "", ALL,                                     \
      "See where bodies meet that go further in a step than half their own "  \
      "thickness, so that none passes through another.")                      \
  ROW(int, threads, WHOLE(0, 256), 0, "", "N", AP_AH,                         \
      "Threads to solve islands on, to the same bits with any number of "     \
      "them. 0: those that the program gave its world, which is none in most "\
      "programs.")                                                            \
  ROW(double, accuracy, NUMBER(FROM(0), BELOW(INFINITY)), 0, "m", "X",          \
      ORDER_TWO,                                                              \
      "Cut the step of each island into as many substeps as keep the "        \
      "estimated position error that a second of steps adds below this. "     \
      "0: substeps end at events alone.")                                     \
  ROW(double, softness, NUMBER(FROM(0), BELOW(1)), 0, "", "S", ALL,             \
      "Contacts give way by at least this share of what their impulses move. "\
      "0: by the world's and the surface's CFM alone. 1e-4 makes structures "   \
      "of light bodies cheap where it matters less how contacts share a load; "\
      "given_way reports how far it let them.")                               \
  /* a new row goes above this line */

#endif
