/* A gnuplot that draws pictures: PNG, SVG or PDF, as the names end. */
#ifndef ODE_MLCP_COMMAND_GNUPLOT_H
#define ODE_MLCP_COMMAND_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct gnuplot {
  FILE *out; /* its commands */
  const char *path;
  void (*old_sigpipe)(int);
} gnuplot;

/** True if it can make a picture of this name. @return false with a message
 *  that names the name and the endings it may have. */
bool gnuplot_knows(const char *path, char *message, size_t message_size);

/** Start it; nothing is drawn before gnuplot_picture. */
bool gnuplot_open(gnuplot *plot, char *message, size_t message_size);

/** Later commands go to this picture, of so many points (96 an inch). */
void gnuplot_picture(gnuplot *plot, const char *path, int width, int height);

/** The same for print: a PNG has `finer` times as many pixels. */
void gnuplot_print(gnuplot *plot, const char *path, int width, int height,
                   int finer);

/** Start it on a picture; `path` has to live on. @return false with a message
 *  [message_size] where it cannot be. */
bool gnuplot_start(gnuplot *plot, const char *path, int width, int height,
                   char *message, size_t message_size);

/** Let it draw and end, after a start that succeeded. @return false with a
 *  message where there is no picture. */
bool gnuplot_end(gnuplot *plot, char *message, size_t message_size);

/** A text in quotes. */
void gnuplot_put_string(FILE *out, const char *text);

/* ---- curves, alike in all pictures ---- */

/** Grid and letters of all panels to come. */
void gnuplot_style(FILE *out);

/** A panel's axes. @param title  NULL: none */
void gnuplot_axes(FILE *out, const char *title, const char *x, const char *y,
                  bool logarithmic_y);

/** The range of a panel's curves, before its axes: that of what never changes is given,
 *  as gnuplot would say that it finds none. */
void gnuplot_range(FILE *out, double low, double high);

/** The next curve of a panel, `number` from 0 on, which is the first where `n_drawn`
 *  is 0. @param data  its place and columns in gnuplot's words */
void gnuplot_curve(FILE *out, int n_drawn, int number, const char *data,
                   const char *title);

/** The colour of curve `number`; they begin anew after eight. */
const char *gnuplot_colour(int number);

#endif
