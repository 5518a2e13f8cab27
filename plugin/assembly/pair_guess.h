/* The guess of one pair of bodies whose contacts came and went.
 *
 * What a pair passes on stays nearly the same when its points change: a box on
 * a box weighs what it did, on four points or on six. The impulses found again
 * are moved, all as little as possible, until they make last step's force and
 * torque; their share by stiffness is the solver's task.
 *
 *   pair_guess_begin(&pair);
 *   for (entries of the pair) pair_guess_add_old(&pair, entry, rotation);
 *   for (its contacts) pair_guess_take(&pair, contact, rows, side, guess);
 *   if (pair_guess_balance(&pair))
 *     for (its contacts) pair_guess_move(&pair, contact, rows, side, guess);
 */
#ifndef ODE_MLCP_ASSEMBLY_PAIR_GUESS_H
#define ODE_MLCP_ASSEMBLY_PAIR_GUESS_H

#include "rows/contact_rows.h"
#include "world/contact_memory.h"

/** All of the pair's second body in contact_entry's order: force, then torque
 *  about its centre. */
typedef struct pair_guess {
  double missing[6]; /* N s, N m s: of last step's impulse */
  double size;       /* what that is small against */
  double sums[36];   /* J J' of all normal and sliding rows */
  double change[6];  /* their impulses change by J' change */
} pair_guess;

void pair_guess_begin(pair_guess *pair);

/** @param rotation  [9] of the second body */
void pair_guess_add_old(pair_guess *pair, const contact_entry *entry,
                        const double rotation[9]);

/**
 * @param side   of the second body among the contact's
 * @param guess  [n] of the problem's rows; NAN becomes 0
 */
void pair_guess_take(pair_guess *pair, const host_contact *contact,
                     const contact_rows *rows, int side, double guess[]);

/** @return false where nothing is missing, or where these contacts cannot make
 *  it. */
bool pair_guess_balance(pair_guess *pair);

void pair_guess_move(const pair_guess *pair, const host_contact *contact,
                     const contact_rows *rows, int side, double guess[]);

#endif
