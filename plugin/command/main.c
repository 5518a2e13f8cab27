/* ode-mlcp: one program, a subcommand a purpose. */
#include <stdio.h>
#include <string.h>

#include "command/command.h"
#include "command/impact.h"
#include "command/program.h"
#include "command/scene.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

typedef struct subcommand {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *purpose;
} subcommand;

static const subcommand subcommands[] = {
    {"run", command_run, "run an ODE program on the ode-mlcp stepper"},
    {"compare", command_compare,
     "run a program on several steppers, side by side"},
    {"scene", command_scene, "run and measure a case of the papers"},
    {"solve", command_solve, "solve a linear complementarity problem"},
    {"impact", command_impact, "sample the outcomes of simultaneous impacts"},
    {NULL, NULL, NULL}};

static void print_help(FILE *out) {
  fputs(
      "Usage: ode-mlcp COMMAND [OPTION...]\n"
      "       ode-mlcp --help | --version\n"
      "\n"
      "Contact steps of Open Dynamics Engine worlds as mixed linear "
      "complementarity\nproblems.\n"
      "\n"
      "Commands:\n",
      out);
  for (const subcommand *command = subcommands; command->name; command++)
    fprintf(out, "  %-10s %s\n", command->name, command->purpose);
  fputs(
      "\n`ode-mlcp COMMAND --help` tells a command's options.\n"
      "Exit status: the program's for `run`; else 0 done, 1 ran and fell "
      "short,\n2 wrong use or bad input.\n",
      out);
}

/* A full disk or a closed pipe must not pass for success. */
static int finish_output(int status) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return status;
  perror("ode-mlcp: cannot write the output");
  return COMMAND_FELL_SHORT;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fputs("ode-mlcp: no command; see ode-mlcp --help\n", stderr);
    return COMMAND_WRONG_USE;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
    print_help(stdout);
    return finish_output(COMMAND_DONE);
  }
  if (strcmp(argv[1], "--version") == 0) {
    puts("ode-mlcp " PACKAGE_VERSION);
    return finish_output(COMMAND_DONE);
  }

  program_words = argv;
  for (const subcommand *command = subcommands; command->name; command++)
    if (strcmp(argv[1], command->name) == 0)
      return finish_output(command->run(argc - 1, argv + 1));
  fprintf(stderr, "ode-mlcp: there is no command '%s'; see ode-mlcp --help\n",
          argv[1]);
  return COMMAND_WRONG_USE;
}
