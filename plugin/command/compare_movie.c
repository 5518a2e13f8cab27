/* The replay as a film, replay.mp4: the report's own page, opened without a window,
 * draws the pictures (report.js, "film"), and ffmpeg puts them together. */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/compare.h"

/* Handed on by the environment: no path is the shell's to read. */
#define PAGE "ODE_MLCP_PAGE"
#define FILM "ODE_MLCP_FILM"
#define RATE "ODE_MLCP_RATE"

static const char *const BROWSER =
    "for browser in chromium chromium-browser google-chrome; do\n"
    "  command -v $browser >/dev/null || continue\n"
    "  [ $(id -u) -ne 0 ] || free=--no-sandbox\n"
    "  exec $browser --headless $free --hide-scrollbars \\\n"
    "    --enable-unsafe-swiftshader --window-size=1280,800 \\\n"
    "    --virtual-time-budget=600000 --dump-dom \"$" PAGE
    "\" 2>/dev/null\n"
    "done\n"
    "exit 127";
static const char *const FFMPEG =
    "exec ffmpeg -nostdin -loglevel error -y -f image2pipe -c:v mjpeg "
    "-framerate \"$" RATE
    "\" -i /dev/stdin -pix_fmt yuv420p "
    "-movflags +faststart \"$" FILM "\"";

/* A file's name as a page's, of `size`; false where it is too long. */
static bool put_address(char *address, size_t size, const char *path) {
  size_t used = (size_t)snprintf(address, size, "file://");
  for (; *path != '\0' && used + 16 < size; path++)
    if (isalnum((unsigned char)*path) || strchr("/._-", *path) != NULL)
      address[used++] = *path;
    else
      used += (size_t)sprintf(address + used, "%%%02X", (unsigned char)*path);
  strcpy(address + used, "#film");
  return *path == '\0';
}

/* Base64 up to the first letter that is none of it. */
static void put_decoded(FILE *out, const char *letters) {
  static const char DIGITS[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned bits = 0;
  int count = 0;
  for (const char *digit;
       *letters != '\0' && (digit = strchr(DIGITS, *letters)) != NULL;
       letters++) {
    bits = bits << 6 | (unsigned)(digit - DIGITS);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    fputc((int)(bits >> count & 0xff), out);
  }
}

/* The pictures on the page, a line each, behind a line `film RATE`. */
static int put_pictures(FILE *page, FILE **film) {
  static const char PICTURE[] = "data:image/jpeg;base64,";
  char *line = NULL;
  size_t size = 0;
  int n_pictures = 0;
  double rate = 0;
  while (getline(&line, &size, page) > 0) {
    const char *said = strstr(line, "film ");
    if (rate == 0 && said != NULL && sscanf(said, "film %lf", &rate) == 1 &&
        rate > 0 && rate <= 100) {
      char words[32];
      snprintf(words, sizeof words, "%.6g", rate);
      setenv(RATE, words, 1);
      *film = popen(FFMPEG, "w");
    }
    const char *picture = strstr(line, PICTURE);
    if (*film == NULL || picture == NULL) continue;
    put_decoded(*film, picture + strlen(PICTURE));
    n_pictures++;
  }
  free(line);
  return n_pictures;
}

bool compare_write_movie(const comparison *c, const char *folder, char *message,
                         size_t message_size) {
  char page[PATH_MAX], address[4 * PATH_MAX], path[PATH_MAX];
  (void)c;
  if (snprintf(page, sizeof page, "%s/report.html", folder) >= PATH_MAX ||
      snprintf(path, sizeof path, "%s/replay.mp4", folder) >= PATH_MAX ||
      !put_address(address, sizeof address, page)) {
    snprintf(message, message_size, "replay.mp4: %s", strerror(ENAMETOOLONG));
    return false;
  }
  setenv(PAGE, address, 1);
  setenv(FILM, path, 1);
  // an ffmpeg that ends early must not end this program
  void (*old_sigpipe)(int) = signal(SIGPIPE, SIG_IGN);
  FILE *film = NULL, *browser = popen(BROWSER, "r");
  int n_pictures = browser != NULL ? put_pictures(browser, &film) : 0;
  int browser_status = browser != NULL ? pclose(browser) : -1;
  int status = film != NULL ? pclose(film) : -1;
  signal(SIGPIPE, old_sigpipe);
  if (status == 0 && n_pictures > 0) return true;
  unlink(path);
  snprintf(message, message_size, "replay.mp4: %s",
           n_pictures > 0        ? "ffmpeg could not make it (is it there?)"
           : browser_status == 0 ? "the page drew no picture"
                                 : "there is no chromium that opens the page");
  return false;
}
