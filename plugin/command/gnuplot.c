#include "command/gnuplot.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <strings.h>

void gnuplot_put_string(FILE *out, const char *text) {
  fputc('\'', out);
  for (; *text != 0; text++) {
    if (*text == '\'') fputc('\'', out);
    // a line end cannot stand in a quoted string
    fputc(*text == '\n' ? ' ' : *text, out);
  }
  fputc('\'', out);
}

static const struct {
  const char *ending, *terminal;
  double points; /* a unit of its sizes */
} kinds[] = {{".png", "pngcairo font 'sans,11'", 1},
             {".svg", "svg font 'sans,11' background '#ffffff'", 1},
             {".pdf", "pdfcairo font 'sans,8'", 96}};
enum { PNG, SVG, N_KINDS = sizeof kinds / sizeof kinds[0] };

/* Any letter case; -1: none. */
static int kind_of(const char *path) {
  const char *ending = strrchr(path, '.');
  for (int k = 0; ending != NULL && k < N_KINDS; k++)
    if (strcasecmp(ending, kinds[k].ending) == 0) return k;
  return -1;
}

bool gnuplot_knows(const char *path, char *message, size_t message_size) {
  if (kind_of(path) >= 0) return true;
  snprintf(message, message_size, "'%.300s' ends with none of .png, .svg, .pdf",
           path);
  return false;
}

bool gnuplot_open(gnuplot *plot, char *message, size_t message_size) {
  plot->path = "the pictures";
  // a gnuplot that ends early must not end this program
  plot->old_sigpipe = signal(SIGPIPE, SIG_IGN);
  plot->out = popen("gnuplot", "w");
  if (plot->out != NULL) return true;
  snprintf(message, message_size, "gnuplot: %s", strerror(errno));
  signal(SIGPIPE, plot->old_sigpipe);
  return false;
}

void gnuplot_picture(gnuplot *plot, const char *path, int width, int height) {
  gnuplot_print(plot, path, width, height, 1);
}

void gnuplot_print(gnuplot *plot, const char *path, int width, int height,
                   int finer) {
  int kind = kind_of(path);
  if (kind < 0) kind = 0;
  bool print = finer > 1;
  if (kind != PNG) finer = 1;
  double points = kinds[kind].points / finer;
  fprintf(plot->out, "set terminal %s size %.6g,%.6g", kinds[kind].terminal,
          width / points, height / points);
  if (finer > 1)
    fprintf(plot->out, " fontscale %d linewidth %d pointscale %d", finer, finer,
            finer);
  // its letters are as many pixels as others are points
  if (print && kind == SVG) fputs(" fontscale 1.33", plot->out);
  fputs("\nset output ", plot->out);
  gnuplot_put_string(plot->out, path);
  fputc('\n', plot->out);
}

bool gnuplot_start(gnuplot *plot, const char *path, int width, int height,
                   char *message, size_t message_size) {
  if (!gnuplot_knows(path, message, message_size) ||
      !gnuplot_open(plot, message, message_size))
    return false;
  plot->path = path;
  gnuplot_picture(plot, path, width, height);
  return true;
}

bool gnuplot_end(gnuplot *plot, char *message, size_t message_size) {
  fputs("unset multiplot\nunset output\n", plot->out);
  int status = pclose(plot->out);
  signal(SIGPIPE, plot->old_sigpipe);
  if (status == 0) return true;
  snprintf(message, message_size,
           "%.300s: gnuplot could not draw it (is gnuplot there, may the file "
           "be written?)",
           plot->path);
  return false;
}

/* ---- curves ---- */

/* Okabe and Ito's: they are told apart by the colour-blind, too. */
const char *gnuplot_colour(int number) {
  static const char *const colours[] = {"#0072b2", "#e69f00", "#009e73",
                                        "#cc79a7", "#d55e00", "#56b4e9",
                                        "#8c6d00", "#7f7f7f"};
  return colours[number % (int)(sizeof colours / sizeof colours[0])];
}

void gnuplot_style(FILE *out) {
  fputs("set encoding utf8\nset grid lc rgb '#e5e5e5'\n", out);
}

void gnuplot_axes(FILE *out, const char *title, const char *x, const char *y,
                  bool logarithmic_y) {
  fprintf(out, "%s logscale y\nset title ", logarithmic_y ? "set" : "unset");
  gnuplot_put_string(out, title != NULL ? title : "");
  fputs("\nset xlabel ", out);
  gnuplot_put_string(out, x);
  fputs("\nset ylabel ", out);
  gnuplot_put_string(out, y);
  fputc('\n', out);
}

void gnuplot_range(FILE *out, double low, double high) {
  const double WRITTEN = 1e-8; // curves are written to nine digits
  double around = low != 0 ? 0.1 * fabs(low) : 1;
  // the last panel's logarithm may have no place for this one's range
  fputs("unset logscale y\n", out);
  if (low <= high && high - low <= WRITTEN * fabs(low))
    fprintf(out, "set yrange [%.17g:%.17g]\n", low - around, low + around);
  else
    fputs("set yrange [*:*]\n", out);
}

void gnuplot_curve(FILE *out, int n_drawn, int number, const char *data,
                   const char *title) {
  fprintf(out, "%s%s with lines lw 1.4 lc rgb '%s' title ",
          n_drawn == 0 ? "plot " : ", \\\n ", data, gnuplot_colour(number));
  gnuplot_put_string(out, title);
}
