#include <string.h>

#include "common/vec3.h"
#include "gap/gap.h"

enum { CORNERS = 4 };

/* Contacts as seen along the deepest one's normal. */
typedef struct seen_points {
  double at[GAP_PAIR_ROOM][2];
  int count;
} seen_points;

static void look_along(const gap_contact contacts[], int count,
                       seen_points *seen) {
  const double *n = contacts[0].normal;
  double t[2][3];
  vec3_across(n, t[0]);
  vec3_cross(t[1], n, t[0]);
  seen->count = count;
  for (int i = 0; i < count; i++) {
    double arm[3];
    vec3_subtract(arm, contacts[i].point, contacts[0].point);
    for (int k = 0; k < 2; k++) seen->at[i][k] = vec3_dot(t[k], arm);
  }
}

/* The two that are furthest apart, and of the others the furthest on each side of their
 * line. Ties go to the lower numbers. @return how many of `corners` there are. */
static int outermost(const seen_points *seen, int corners[CORNERS]) {
  double longest = 0, sides[2] = {0, 0};
  int count = 2, far[2] = {-1, -1};
  corners[0] = corners[1] = 0;
  for (int i = 0; i < seen->count; i++)
    for (int j = i + 1; j < seen->count; j++) {
      double dx = seen->at[j][0] - seen->at[i][0];
      double dy = seen->at[j][1] - seen->at[i][1];
      if (!(dx * dx + dy * dy > longest * (1 + 1e-9))) continue;
      longest = dx * dx + dy * dy;
      corners[0] = i;
      corners[1] = j;
    }
  const double *p = seen->at[corners[0]], *q = seen->at[corners[1]];
  for (int k = 0; k < seen->count; k++) {
    const double *r = seen->at[k];
    double area = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
    int side = area < 0;
    if (!(fabs(area) > sides[side] * (1 + 1e-9) + 1e-12 * longest)) continue;
    sides[side] = fabs(area);
    far[side] = k;
  }
  for (int side = 0; side < 2; side++)
    if (far[side] >= 0) corners[count++] = far[side];
  return count;
}

int gap_reduce(gap_contact contacts[], int count, int keep) {
  if (count <= 1 || keep <= 1) return count < keep ? count : keep;
  if (count > GAP_PAIR_ROOM) count = GAP_PAIR_ROOM;

  int deepest = 0;
  for (int i = 1; i < count; i++)
    if (contacts[i].gap < contacts[deepest].gap) deepest = i;
  gap_contact first = contacts[deepest];
  memmove(contacts + 1, contacts, (size_t)deepest * sizeof first);
  contacts[0] = first;

  seen_points seen;
  int corners[CORNERS];
  look_along(contacts, count, &seen);
  int n_corners = outermost(&seen, corners);

  bool wanted[GAP_PAIR_ROOM] = {true};
  int left = 1;
  for (int i = 0; i < n_corners && left < keep; i++) {
    left += !wanted[corners[i]];
    wanted[corners[i]] = true;
  }
  if (keep > CORNERS + 1)
    for (int i = 0; i < count && left < keep; i++) {
      left += !wanted[i];
      wanted[i] = true;
    }
  int kept = 0;
  for (int i = 0; i < count; i++)
    if (wanted[i]) contacts[kept++] = contacts[i];
  return kept;
}
