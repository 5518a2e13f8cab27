/* Results, written member by member, as JSON or in words: commas, line ends and indents
 * come by themselves. A key of NULL is that of an array's item.
 *
 * In words a member has a line, `key: value`, those of an object in it stand below it,
 * and an item of an array that is an object on a line of its own. */
#ifndef ODE_MLCP_COMMAND_JSON_H
#define ODE_MLCP_COMMAND_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH = 8 };

/** A text that is being written; begins as {.out = FILE}. */
typedef struct json {
  FILE *out;
  bool words; /* not JSON */
  int digits; /* of numbers; 0: all, and nine in words */
  int line;   /* from this depth on all is on one line; 0: nothing is */
  int depth;
  bool some, begun;         /* in what is open; at all */
  char closing[JSON_DEPTH]; /* of what is open: } or ] */
} json;

/** Open an object, '{', or an array, '['; no more than JSON_DEPTH in each
 *  other. */
void json_open(json *json, const char *key, char bracket);
/** Close the one opened last; a line end follows the outermost. */
void json_close(json *json);

/** null where it is not finite, for which JSON has no word. */
void json_put(json *json, const char *key, double value);
void json_put_count(json *json, const char *key, long long value);
void json_put_size(json *json, const char *key, uint64_t value);
void json_put_string(json *json, const char *key, const char *text);
/** As it is: null, a number. */
void json_put_word(json *json, const char *key, const char *word);
void json_put_truth(json *json, const char *key, bool value);
/** An array on one line. */
void json_put_numbers(json *json, const char *key, const double values[],
                      int n);

#endif
