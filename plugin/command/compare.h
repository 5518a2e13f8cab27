/* Files that `ode-mlcp compare` writes of what judge/judge.h finds. */
#ifndef ODE_MLCP_COMMAND_COMPARE_H
#define ODE_MLCP_COMMAND_COMPARE_H

#include "command/json.h"
#include "judge/judge.h"

/* ---- what is written; `folder` is there. false with a line in `message` ---- */

typedef bool compare_writer(const comparison *comparison, const char *folder,
                            char *message, size_t message_size);
compare_writer compare_write_json, compare_write_csv, compare_write_html;

/** The run's name in names of files: without a ':'. */
void compare_file_name(const compare_run *run, char name[COMPARE_NAME]);

/** What report.json has. */
void compare_put(const comparison *comparison, json *out, const char *key);

void compare_print_table(const comparison *comparison);

#endif
