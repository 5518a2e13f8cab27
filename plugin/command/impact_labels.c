#include "command/impact_labels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  SAME_PLACE = 8, /* pixels */
  NEAR = 16,      /* words so close need no line */
  STEP = 3        /* between two tries */
};

/* Widths of letters, in pixels: DejaVu Sans of 9 points, a to z. */
static const double LETTERS[26] = {7.4, 7.6, 6.6, 7.6,  7.4, 4.2, 7.6, 7.6, 3.4,
                                   3.4, 7,   3.4, 11.7, 7.6, 7.4, 7.6, 7.6, 5,
                                   6.3, 4.7, 7.6, 7.1,  9.8, 7.1, 7.1, 6.3};
static const double CAPITAL = 8.3, DIGIT = 7.7, MARK = 3.9;

/* What covering other words costs, beside cells; what a pixel of distance does;
 * what standing on a place itself does. */
static const double COVERED = 1000, DISTANCE = 0.02, ON_PLACE = 8, LEADER = 1,
                    CROSSED = 0.4, ON_LEADER = 60;

void labels_start(labels *it, double left, double top, int n_x, int n_y,
                  int pixels) {
  memset(it, 0, sizeof *it);
  it->left = left;
  it->top = top;
  it->n_x = n_x;
  it->n_y = n_y;
  it->pixels = pixels;
}

void labels_avoid(labels *it, int column, int line, double weight) {
  float *cell = &it->weight[line * it->n_x + column];
  if (*cell < (float)weight) *cell = (float)weight;
}

void labels_add(labels *it, double x, double y, const char *text,
                const char *colour) {
  label *place = NULL;
  for (int k = 0; k < it->n && place == NULL; k++)
    if (hypot(it->label[k].x - x, it->label[k].y - y) < SAME_PLACE)
      place = &it->label[k];
  if (place == NULL) {
    if (it->n == LABELS) return;
    place = &it->label[it->n++];
    memset(place, 0, sizeof *place);
    place->x = x;
    place->y = y;
  }
  for (int i = 0; i < place->n_lines; i++)
    if (strcmp(place->text[i], text) == 0) return;
  // "simultaneous 1" and "simultaneous 2" are "simultaneous 1, 2"
  const char *number = strrchr(text, ' ');
  char *last = place->n_lines > 0 ? place->text[place->n_lines - 1] : NULL;
  if (number != NULL && last != NULL &&
      place->colour[place->n_lines - 1] == colour &&
      strncmp(last, text, (size_t)(number - text) + 1) == 0) {
    size_t used = strlen(last);
    snprintf(last + used, LABEL_TEXT - used, ",%s", number);
    return;
  }
  if (place->n_lines == LABEL_LINES) {
    snprintf(place->text[LABEL_LINES - 1], LABEL_TEXT, "..");
    return;
  }
  snprintf(place->text[place->n_lines], LABEL_TEXT, "%s", text);
  place->colour[place->n_lines++] = colour;
}

void labels_add_region(labels *it, const double places[][2], int n_places,
                       const char *text, const char *colour) {
  if (n_places == 0 || it->n == LABELS) return;
  label *region = &it->label[it->n++];
  memset(region, 0, sizeof *region);
  region->n_lines = 1;
  snprintf(region->text[0], LABEL_TEXT, "%s", text);
  region->colour[0] = colour;
  region->n_choices = n_places < LABEL_CHOICES ? n_places : LABEL_CHOICES;
  memcpy(region->choices, places,
         (size_t)region->n_choices * sizeof *region->choices);
}

double labels_distance(const labels *it, double x, double y) {
  double nearest = 1e9;
  for (int k = 0; k < it->n; k++)
    nearest = fmin(nearest, hypot(it->label[k].x - x, it->label[k].y - y));
  return nearest;
}

static double width_of(const char *text) {
  double width = 0;
  for (; *text != 0; text++)
    width += *text >= 'a' && *text <= 'z'   ? LETTERS[*text - 'a']
             : *text >= 'A' && *text <= 'Z' ? CAPITAL
             : *text >= '0' && *text <= '9' ? DIGIT
                                            : MARK;
  return width;
}

static void measure(label *label) {
  double longest = 0;
  for (int i = 0; i < label->n_lines; i++)
    longest = fmax(longest, width_of(label->text[i]));
  label->width = longest + 2;
  label->height = label->n_lines * LABEL_LINE;
}

static void nearest_of_box(const label *label, double left, double top,
                           double near[2]) {
  near[0] = fmin(fmax(label->x, left), left + label->width);
  near[1] = fmin(fmax(label->y, top), top + label->height);
}

static double overlap(double a, double a_size, double b, double b_size) {
  return fmin(a + a_size, b + b_size) - fmax(a, b);
}

static bool is_within(const label *label, double x, double y) {
  return label->left - 3 < x && x < label->left + label->width + 3 &&
         label->top < y && y < label->top + label->height;
}

/* Of the line from words to their place, which shall not cross other words. */
static double cost_of_leader(const labels *it, int which,
                             const double from[2]) {
  const label *own = &it->label[which];
  double cost = 0;
  if (hypot(from[0] - own->x, from[1] - own->y) <= NEAR) return 0;
  for (int i = 0; i < 20; i++) { // but for the end, which is at its place
    double x = from[0] + i * 0.05 * (own->x - from[0]);
    double y = from[1] + i * 0.05 * (own->y - from[1]);
    if (hypot(own->x - x, own->y - y) < SAME_PLACE) break;
    int column = (int)((x - it->left) / it->pixels);
    int line = (int)((y - it->top) / it->pixels);
    if (column >= 0 && column < it->n_x && line >= 0 && line < it->n_y &&
        it->weight[line * it->n_x + column] > 1)
      cost += CROSSED;
  }
  for (int k = 0; k < which; k++)
    for (int i = 0; i <= 20; i++) {
      double x = from[0] + i * 0.05 * (own->x - from[0]);
      double y = from[1] + i * 0.05 * (own->y - from[1]);
      if (!is_within(&it->label[k], x, y)) continue;
      cost += COVERED / 10;
      break;
    }
  return cost + LEADER;
}

static double cost_at(const labels *it, int which, double left, double top) {
  const label *own = &it->label[which];
  double near[2], cost = 0;
  nearest_of_box(own, left, top, near);
  cost += DISTANCE * hypot(near[0] - own->x, near[1] - own->y);
  cost += cost_of_leader(it, which, near);
  int first = (int)((left - it->left) / it->pixels);
  int last = (int)((left + own->width - it->left) / it->pixels);
  int above = (int)((top - it->top) / it->pixels);
  int below = (int)((top + own->height - it->top) / it->pixels);
  for (int line = above; line <= below && line < it->n_y; line++)
    for (int column = first; column <= last && column < it->n_x; column++)
      cost += it->weight[line * it->n_x + column] * 0.006 *
              (it->pixels * it->pixels);
  for (int k = 0; k < it->n; k++) {
    const label *other = &it->label[k];
    if (other->n_choices > 0 && k > which) continue; // has no place yet
    if (left - 4 < other->x && other->x < left + own->width + 4 &&
        top - 3 < other->y && other->y < top + own->height + 3)
      cost += ON_PLACE;
    if (k >= which) continue;
    double x = overlap(left, own->width, other->left, other->width);
    double y = overlap(top, own->height, other->top, other->height);
    if (x > -3 && y > -1) cost += COVERED;
  }
  return cost;
}

/* Words that come later shall not lie on the line to these. */
static void avoid_leader(labels *it, const label *label) {
  double from[2];
  if (!label_leader(label, from)) return;
  for (int k = 0; k <= 100; k++) {
    double x = from[0] + k * 0.01 * (label->x - from[0]);
    double y = from[1] + k * 0.01 * (label->y - from[1]);
    int column = (int)((x - it->left) / it->pixels);
    int line = (int)((y - it->top) / it->pixels);
    if (column >= 0 && column < it->n_x && line >= 0 && line < it->n_y)
      labels_avoid(it, column, line, ON_LEADER);
  }
}

/* The best room for one; its cost. */
static double find_room(labels *it, int which) {
  label *own = &it->label[which];
  double right = it->left + it->n_x * it->pixels;
  double bottom = it->top + it->n_y * it->pixels;
  double best = INFINITY;
  own->left = it->left;
  own->top = it->top;
  for (double top = it->top + 1; top + own->height <= bottom; top += STEP)
    for (double left = it->left + 4; left + own->width <= right; left += STEP) {
      double cost = cost_at(it, which, left, top);
      if (cost >= best) continue;
      best = cost;
      own->left = left;
      own->top = top;
    }
  return best;
}

/* The place of a region from which the words have the best room. */
static void choose_place(labels *it, int which) {
  label *own = &it->label[which], best = *own;
  double least = INFINITY;
  for (int k = 0; k < own->n_choices; k++) {
    own->x = own->choices[k][0];
    own->y = own->choices[k][1];
    double cost = find_room(it, which);
    if (cost >= least) continue;
    least = cost;
    best = *own;
  }
  *own = best;
}

void labels_place(labels *it) {
  for (int k = 0; k < it->n; k++) {
    measure(&it->label[k]);
    if (it->label[k].n_choices > 0)
      choose_place(it, k);
    else
      find_room(it, k);
    avoid_leader(it, &it->label[k]);
  }
}

bool label_leader(const label *label, double from[2]) {
  nearest_of_box(label, label->left, label->top, from);
  int line = (int)((from[1] - label->top) / LABEL_LINE);
  if (line >= label->n_lines) line = label->n_lines - 1;
  from[0] = fmin(from[0], label->left + width_of(label->text[line]) + 2);
  return hypot(from[0] - label->x, from[1] - label->y) > NEAR;
}
