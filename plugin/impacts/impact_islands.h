/* Islands of an impact: contacts between which no impulse has an effect, such as
 * those that share no moving body. Each is an impact of its own, with its own
 * end, random numbers, cap and scale: what else touches elsewhere changes no bit
 * of its outcomes. */
#ifndef ODE_MLCP_IMPACTS_IMPACT_ISLANDS_H
#define ODE_MLCP_IMPACTS_IMPACT_ISLANDS_H

#include "common/arena.h"
#include "impacts/contact_modes.h"
#include "impacts/contact_search.h"

typedef struct impact_island {
  contact_space space;
  int *contacts;        /* [space.n_contacts] of the whole */
  int *places;          /* [space.n_rows] rows of the whole */
  double *search_start; /* what searches begin with (contact_search.h) */
  contact_modes modes;  /* empty until a call needs them */
  uint64_t key;         /* added to the seed */
  double psi;           /* of Alg. 2 */
  double cap;  /* N s, where options leave it open; 0 until asked for */
  double work; /* products of the searches that prepared it */
} impact_island;

/**
 * Find the islands of a contact space and fill all of each but its psi and cap.
 * Entries of A between them are set to 0.
 *
 * @param space    all contacts; its start is snapped and its scale set
 * @param arena    of the islands and their arrays
 * @param islands  out: *n_islands of them
 * @return false where memory runs out
 */
bool impact_islands_find(contact_space *space, arena *arena,
                         impact_island **islands, int *n_islands);

#endif
