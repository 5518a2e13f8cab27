#include "gap/gap_match.h"

#include "common/vec3.h"

static bool same_features(const gap_contact *p, const gap_contact *q) {
  return p->feature[0] == q->feature[0] && p->feature[1] == q->feature[1] &&
         p->triangle[0] == q->triangle[0] && p->triangle[1] == q->triangle[1];
}

static void to_body(const gap_pose *pose, const double point[3],
                    double body[3]) {
  double arm[3];
  vec3_subtract(arm, point, pose->position);
  for (int k = 0; k < 3; k++)
    body[k] = arm[0] * pose->rotation[k] + arm[1] * pose->rotation[3 + k] +
              arm[2] * pose->rotation[6 + k];
}

/* Distance between then and now as the body sees it that sees less. */
static double moved(const gap_contact *then, const gap_pose poses_then[2],
                    const gap_contact *now, const gap_pose poses_now[2]) {
  double least = INFINITY;
  for (int side = 0; side < 2; side++) {
    double before[3], after[3], apart[3];
    to_body(&poses_then[side], then->point, before);
    to_body(&poses_now[side], now->point, after);
    vec3_subtract(apart, after, before);
    least = fmin(least, vec3_length(apart));
  }
  return least;
}

static bool is_taken(const int match[], int n_now, int old) {
  for (int i = 0; i < n_now; i++)
    if (match[i] == old) return true;
  return false;
}

int gap_match(const gap_contact then[], int n_then,
              const gap_pose poses_then[2], const gap_contact now[],
              int n_now, const gap_pose poses_now[2], double radius,
              int match[]) {
  int unmatched = n_now;
  for (int i = 0; i < n_now; i++) match[i] = -1;
  for (int i = 0; i < n_now; i++)
    for (int old = 0; old < n_then && match[i] < 0; old++)
      if (same_features(&now[i], &then[old]) && !is_taken(match, n_now, old))
        match[i] = old, unmatched--;

  // the nearest two of all that are left, until none are near enough
  for (;;) {
    int best = -1, best_old = -1;
    double least = radius;
    for (int i = 0; i < n_now; i++) {
      if (match[i] >= 0) continue;
      for (int old = 0; old < n_then; old++) {
        if (is_taken(match, n_now, old)) continue;
        double distance = moved(&then[old], poses_then, &now[i], poses_now);
        if (distance > least || (distance == least && best >= 0)) continue;
        least = distance;
        best = i;
        best_old = old;
      }
    }
    if (best < 0) return unmatched;
    match[best] = best_old;
    unmatched--;
  }
}
