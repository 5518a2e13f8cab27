#include "command/gnuplot.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

void gnuplot_put_string(FILE *out, const char *text) {
  fputc('\'', out);
  for (; *text != 0; text++) {
    if (*text == '\'') fputc('\'', out);
    // a line end cannot stand in a quoted string
    fputc(*text == '\n' ? ' ' : *text, out);
  }
  fputc('\'', out);
}

bool gnuplot_start(gnuplot *plot, const char *path, int width, int height,
                   char *message, size_t message_size) {
  plot->path = path;
  // a gnuplot that ends early must not end this program
  plot->old_sigpipe = signal(SIGPIPE, SIG_IGN);
  plot->out = popen("gnuplot", "w");
  if (plot->out == NULL) {
    snprintf(message, message_size, "gnuplot: %s", strerror(errno));
    signal(SIGPIPE, plot->old_sigpipe);
    return false;
  }
  fprintf(plot->out,
          "set terminal pngcairo size %d,%d font 'sans,11'\nset output ", width,
          height);
  gnuplot_put_string(plot->out, path);
  fputc('\n', plot->out);
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
