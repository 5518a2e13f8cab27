/* Names in a picture, each beside what it names, where least else is. In pixels
 * from the upper left corner. */
#ifndef ODE_MLCP_COMMAND_IMPACT_LABELS_H
#define ODE_MLCP_COMMAND_IMPACT_LABELS_H

#include <stdbool.h>

enum {
  LABELS = 80,
  LABEL_LINES = 6,
  LABEL_TEXT = 64,
  LABEL_LINE = 14, /* pixels */
  LABEL_CELLS = 32768,
  LABEL_CHOICES = 48
};

/** A place and what is to be said of it. */
typedef struct label {
  double x, y;
  int n_lines;
  char text[LABEL_LINES][LABEL_TEXT];
  const char *colour[LABEL_LINES];
  double left, top, width, height; /* of the words, once they are placed */
  int n_choices; /* 0, or places of a region, any of which will do */
  double choices[LABEL_CHOICES][2];
} label;

typedef struct labels {
  double left, top; /* of the ground they stand on */
  int n_x, n_y, pixels;
  float weight[LABEL_CELLS]; /* of its cells: how bad it is to cover them */
  int n;
  label label[LABELS];
} labels;

/** An empty ground of n_x x n_y cells (LABEL_CELLS at most). */
void labels_start(labels *it, double left, double top, int n_x, int n_y,
                  int pixels);
/** Make it at least so bad to cover a cell, counted from the upper left one. */
void labels_avoid(labels *it, int column, int line, double weight);
/** Places closer than a few pixels are one; the same words are said once. */
void labels_add(labels *it, double x, double y, const char *text,
                const char *colour);
/** Name a region, of which some places are given; the one is taken that leaves
 *  the best room for the words. */
void labels_add_region(labels *it, const double places[][2], int n_places,
                       const char *text, const char *colour);
/** Pixels from the next place that has a name; 1e9 where none has. */
double labels_distance(const labels *it, double x, double y);
/** Find room for all. */
void labels_place(labels *it);
/** Is a line needed from the words, at `from`, to the place? */
bool label_leader(const label *label, double from[2]);

#endif
