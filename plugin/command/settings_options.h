/* The settings of the stepper as options of a command. */
#ifndef ODE_MLCP_COMMAND_SETTINGS_OPTIONS_H
#define ODE_MLCP_COMMAND_SETTINGS_OPTIONS_H

#include <getopt.h>
#include <stdio.h>

enum { SETTINGS_OPTIONS_MAX = 64 };

/** Append all settings for getopt_long, number `first` and on.
 *  @param options  [SETTINGS_OPTIONS_MAX] out
 *  @return how many there are */
int settings_options(struct option options[SETTINGS_OPTIONS_MAX], int first);

/** A paragraph on each, as in the help of a command. */
void settings_options_help(FILE *out);

#endif
