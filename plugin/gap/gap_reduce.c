#include <string.h>

#include "common/vec3.h"
#include "gap/gap.h"

/* The contact that is furthest from a point, along `side` (NULL: any way), -1 where
 * none is further than `least`. What rounding has the longer is as long ("ties go to
 * the first"). */
static int furthest(const gap_contact contacts[], int count,
                    const double from[3], const double *side, double least) {
  int best = -1;
  for (int i = 0; i < count; i++) {
    double arm[3];
    vec3_subtract(arm, contacts[i].point, from);
    double far = vec3_dot(arm, side != NULL ? side : arm);
    if (far > least) best = i, least = far * (1 + 1e-9);
  }
  return best;
}

/* Move a contact in front of those that are not kept. @return how many are. */
static int take(gap_contact contacts[], int number, int kept) {
  if (number < kept) return kept;
  gap_contact taken = contacts[number];
  memmove(&contacts[kept + 1], &contacts[kept],
          (size_t)(number - kept) * sizeof taken);
  contacts[kept] = taken;
  return kept + 1;
}

int gap_reduce(gap_contact contacts[], int count, int keep) {
  int number = 0, kept = 0;
  double end[2][3] = {{0}}, line[3], side[3];
  if (keep > count) keep = count;
  if (keep <= 1) return keep;
  for (int i = 1; i < count; i++)
    if (contacts[i].gap < contacts[number].gap) number = i;
  for (int k = 0; k < 3 && number >= 0 && kept < keep; k++) {
    vec3_copy(end[k % 2], contacts[number].point);
    kept = take(contacts, number, kept);
    number = furthest(contacts, count, end[k % 2], NULL, 0);
  }
  vec3_subtract(line, end[0], end[1]);
  vec3_cross(side, contacts[0].normal, line);
  for (int k = 0; k < 2 && kept < keep; k++) {
    number =
        furthest(contacts, count, end[0], side, 1e-12 * vec3_dot(line, line));
    kept = take(contacts, number, kept);
    vec3_negate(side, side);
  }
  return keep > GAP_REDUCED_ROOM ? keep : kept;
}
