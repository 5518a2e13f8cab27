/* A locale with a decimal comma, built by the test itself: of the C library's own
 * C.utf8, whose decimal point is made a comma. */
#ifndef ODE_MLCP_TESTS_COMMA_LOCALE_H
#define ODE_MLCP_TESTS_COMMA_LOCALE_H

#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A category's file: a mark, the number of values, and where each begins. */
static inline bool write_commas(const char *from, const char *to) {
  unsigned char bytes[256];
  uint32_t places[4], commas;
  FILE *file = fopen(from, "rb");
  if (file == NULL) return false;
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  if (size < 8 + sizeof places) return false;
  memcpy(places, bytes + 8, sizeof places);
  if (places[0] >= size || places[3] + sizeof commas > size ||
      bytes[places[0]] != '.')
    return false;
  bytes[places[0]] = ',';
  commas = ','; /* the fourth value is the point as a wide character */
  memcpy(bytes + places[3], &commas, sizeof commas);
  file = fopen(to, "wb");
  if (file == NULL) return false;
  bool written = fwrite(bytes, 1, size, file) == size;
  return fclose(file) == 0 && written;
}

/** Build the locale "commas" in `folder` (which is there) and have the C library
 *  look for locales there. @return false where that cannot be done. */
static inline bool build_comma_locale(const char *folder) {
  static const char *const CATEGORIES[] = {
      "LC_ADDRESS",     "LC_COLLATE",   "LC_CTYPE",    "LC_IDENTIFICATION",
      "LC_MEASUREMENT", "LC_MESSAGES",  "LC_MONETARY", "LC_NAME",
      "LC_PAPER",       "LC_TELEPHONE", "LC_TIME"};
  char from[512], to[512];
  snprintf(to, sizeof to, "%s/commas", folder);
  mkdir(to, 0777);
  for (size_t i = 0; i < sizeof CATEGORIES / sizeof CATEGORIES[0]; i++) {
    snprintf(from, sizeof from, "/usr/lib/locale/C.utf8/%s", CATEGORIES[i]);
    snprintf(to, sizeof to, "%s/commas/%s", folder, CATEGORIES[i]);
    unlink(to);
    if (symlink(from, to) != 0) return false;
  }
  snprintf(to, sizeof to, "%s/commas/LC_NUMERIC", folder);
  return write_commas("/usr/lib/locale/C.utf8/LC_NUMERIC", to) &&
         setenv("LOCPATH", folder, 1) == 0;
}

/** Speak the locale "commas". @return whether numbers have commas now. */
static inline bool use_comma_locale(const char *folder) {
  char number[8];
  if (!build_comma_locale(folder) || setlocale(LC_ALL, "commas") == NULL)
    return false;
  snprintf(number, sizeof number, "%.1f", 0.5);
  return strcmp(number, "0,5") == 0;
}

#endif
