/* Reading a JSON object whose values are numbers, strings, true, false or null:
 * what a folder's description is written in. */
#ifndef ODE_MLCP_MLCP_FLAT_JSON_H
#define ODE_MLCP_MLCP_FLAT_JSON_H

#include <stdbool.h>
#include <stddef.h>

typedef struct flat_json_member {
  const char *name;
  const char *text; /* of a string, else NULL */
  double number;    /* of a number, else NAN */
  int line;         /* in the file, from 1 */
} flat_json_member;

/** Called with each member in turn, whose strings are valid during the call.
 *  @return NULL, or what is wrong with the member: reading stops. */
typedef const char *flat_json_visitor(void *context,
                                      const flat_json_member *member);

/**
 * Read the file `path` (1 MB at most).
 *
 * @param message  [message_size] out: empty, or one line with file and line:
 *                 what the visitor said or what is wrong with the file
 * @return false with a message
 */
bool flat_json_read(const char *path, flat_json_visitor *visitor, void *context,
                    char *message, size_t message_size);

#endif
