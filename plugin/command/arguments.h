/* Words after a subcommand's name: options of a table of its own, then the
 * stepper's settings where it takes them. */
#ifndef ODE_MLCP_COMMAND_ARGUMENTS_H
#define ODE_MLCP_COMMAND_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct argument argument;

/** An option. */
struct argument {
  const char *name;   /* "csv" for --csv; NULL ends a table */
  const char *letter; /* stands for its value in the help; NULL: it has none */
  void *place;        /* bool of an option without a value; else as follows */
  /** Put the value into `place`. NULL: it is a const char *, and any text will
   *  do. @return false where the value is none. */
  bool (*take)(const argument *argument, const char *value);
  const char *allowed; /* "a number": said where the value is refused */
  const char *help;
  uint64_t least, most;     /* of a count */
  const char *const *words; /* of one word of several; ends with NULL */
};

/** A number in decimal, into a double: any that is finite, or one above 0. */
bool argument_take_number(const argument *argument, const char *value);
bool argument_take_positive(const argument *argument, const char *value);
/** A whole number in least .. most, into a uint64_t. */
bool argument_take_count(const argument *argument, const char *value);
bool argument_parse_count(const char *value, uint64_t least, uint64_t most,
                          uint64_t *count);
/** The place of one of `words`, into an int. */
bool argument_take_word(const argument *argument, const char *value);
/** -1 where `value` is none of `words`. */
int argument_find_word(const char *const words[], const char *value);

/** A subcommand as its user sees it. */
typedef struct command_line {
  const char *about; /* the help up to the options */
  const argument *arguments;
  const char *more; /* the help behind them */
  /** Take a setting of the stepper; NULL: the subcommand knows none.
   *  @return false where that cannot be, after saying so. */
  bool (*take_setting)(void *context, const char *name, const char *value);
  void *context;
  bool ends_at_name; /* options behind the first name are not ours */
} command_line;

/** Read all options of the subcommand argv[0]; the names are then argv[optind] and on. @return whether to
 *  go on; else `status` is the one to end with: the help was printed, or it is
 *  said what is wrong. */
bool arguments_read(const command_line *line, int argc, char **argv,
                    int *status);

/** Say one line about what is wrong. @return COMMAND_WRONG_USE */
int __attribute__((format(printf, 1, 2))) complain(const char *format, ...);

/** @return `status`, or where a file was not written, after saying `why`,
 *          COMMAND_FELL_SHORT */
int written_or_complain(bool written, const char *why, int status);

#endif
