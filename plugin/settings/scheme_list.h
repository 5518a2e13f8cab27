/* The schemes: the one list of their names. */
#ifndef ODE_MLCP_SETTINGS_SCHEME_LIST_H
#define ODE_MLCP_SETTINGS_SCHEME_LIST_H

/* a row begins where its line does */
/* clang-format off */
/** ROW(ID, "name", "help"): ODE_MLCP_SCHEME_ID is `--scheme name`. */
#define SCHEME_LIST(ROW)                                                      \
  ROW(AP, "ap", "velocity level, no position correction")                     \
  ROW(AH, "ah",                                                               \
      "stabilised, ERP being the part of a position error that a step takes " \
      "away")                                                                 \
  ROW(GAP, "gap", "the (alpha, gamma) family, alpha = gamma")                 \
  ROW(TRAPEZOID_1, "trapezoid-1",                                             \
      "second order, friction against the new velocity")                      \
  ROW(TRAPEZOID, "trapezoid",                                                 \
      "second order, all rows on the mean velocity")                          \
  ROW(ST, "st",                                                               \
      "Stewart and Trinkle's position level: contacts where the bodies go "   \
      "to, ERP 1 for them")                                                   \
  ROW(CONSERVING, "conserving",                                               \
      "second order, angular momentum exact, energy never growing by itself") \
  /* a new row goes above this line */

#endif
