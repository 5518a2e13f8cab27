#include "mlcp/flat_json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/number.h"

enum { LARGEST_FILE = 1 << 20 };

typedef struct parser {
  const char *path;
  char *next;
  int line;
  char *message;
  size_t message_size;
} parser;

static bool complain_of_json(const parser *p, const char *what) {
  snprintf(p->message, p->message_size, "%s:%d: %s", p->path, p->line, what);
  return false;
}

static char skip_space(parser *p) {
  for (; *p->next == ' ' || *p->next == '\t' || *p->next == '\r' ||
         *p->next == '\n';
       p->next++)
    p->line += *p->next == '\n';
  return *p->next;
}

/* The character that an escape stands for; 0: none that is read here. */
static char unescaped(char letter) {
  static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  const char *at = letter != '\0' ? strchr(letters, letter) : NULL;
  if (at == NULL) return '\0';
  return meant[at - letters];
}

/* A string in place, ended by a 0; `next` behind it. Escapes by number are
 * taken as a question mark: no name or value that matters has one. */
static char *read_string(parser *p) {
  char *start = ++p->next, *to = start;
  for (; *p->next != '"'; p->next++) {
    char letter = *p->next;
    if ((unsigned char)letter < 0x20) {
      complain_of_json(p, "a string does not end");
      return NULL;
    }
    if (letter == '\\') {
      letter = *++p->next;
      if (letter == 'u' && strspn(p->next + 1, "0123456789abcdefABCDEF") >= 4) {
        p->next += 4;
        letter = '?';
      } else if ((letter = unescaped(letter)) == '\0') {
        complain_of_json(p, "an unknown escape in a string");
        return NULL;
      }
    }
    *to++ = letter;
  }
  p->next++;
  *to = '\0';
  return start;
}

static bool read_word(parser *p, const char *word) {
  size_t length = strlen(word);
  if (strncmp(p->next, word, length) != 0) return false;
  p->next += length;
  return true;
}

static bool read_value(parser *p, flat_json_member *member) {
  char first = skip_space(p);
  member->text = NULL;
  member->number = NAN;
  if (first == '"') return (member->text = read_string(p)) != NULL;
  if (read_word(p, "null") || read_word(p, "true") || read_word(p, "false"))
    return true;
  // strtod knows more than JSON: hexadecimal, inf, nan
  size_t length = strspn(p->next, "+-.0123456789eE");
  char *end;
  member->number = strtod(p->next, &end);
  if (length == 0 || first == '+' || first == '.' || end != p->next + length)
    return complain_of_json(p, first == '{' || first == '['
                                   ? "objects and arrays have no place here"
                                   : "a value is expected");
  p->next = end;
  return true;
}

static bool read_member(parser *p, flat_json_visitor *visitor, void *context) {
  flat_json_member member;
  if (skip_space(p) != '"')
    return complain_of_json(p, "a name in quotes is expected");
  member.line = p->line;
  member.name = read_string(p);
  if (member.name == NULL) return false;
  if (skip_space(p) != ':') return complain_of_json(p, "a colon is expected");
  p->next++;
  if (!read_value(p, &member)) return false;
  const char *wrong = visitor(context, &member);
  return wrong == NULL || complain_of_json(p, wrong);
}

static bool read_object(parser *p, flat_json_visitor *visitor, void *context) {
  if (skip_space(p) != '{') return complain_of_json(p, "'{' is expected");
  p->next++;
  if (skip_space(p) != '}')
    for (;;) {
      if (!read_member(p, visitor, context)) return false;
      char mark = skip_space(p);
      if (mark == '}') break;
      if (mark != ',')
        return complain_of_json(p, mark == '\0'
                                       ? "the file ends within the object"
                                       : "',' or '}' is expected");
      p->next++;
    }
  p->next++;
  return skip_space(p) == '\0' ||
         complain_of_json(p, "something after the object");
}

static bool read_text(parser *p, char **text) {
  FILE *file = fopen(p->path, "r");
  char *content = file != NULL ? malloc(LARGEST_FILE + 1) : NULL;
  size_t length =
      content != NULL ? fread(content, 1, LARGEST_FILE + 1, file) : 0;
  bool read = content != NULL && !ferror(file) && length <= LARGEST_FILE;
  if (!read)
    snprintf(
        p->message, p->message_size, "%s: %s", p->path,
        length > LARGEST_FILE ? "too long for a description" : strerror(errno));
  if (file != NULL) fclose(file);
  if (read) content[length] = '\0';
  if (!read) free(content);
  *text = read ? content : NULL;
  return read;
}

bool flat_json_read(const char *path, flat_json_visitor *visitor, void *context,
                    char *message, size_t message_size) {
  PLAIN_NUMBERS;
  parser p = {path, NULL, 1, message, message_size};
  char *text;
  if (message_size > 0) message[0] = '\0';
  if (!read_text(&p, &text)) return false;
  p.next = text;
  bool read = read_object(&p, visitor, context);
  free(text);
  return read;
}
