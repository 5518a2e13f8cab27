/* Takes down what a recorded process tells (preload/traffic.h): judges each step
 * and writes the recording. One run at a time. */
#ifndef ODE_MLCP_JUDGE_TAKING_H
#define ODE_MLCP_JUDGE_TAKING_H

#include <stdbool.h>
#include <stdint.h>

#include "judge/measure.h"

typedef struct taking {
  const char *recording;  /* the file to be written; made with the first step */
  const char *stepper;    /* its name */
  char *const *arguments; /* of the program; ends with NULL, lives on */
  unsigned refine;
  uint64_t most_bytes; /* a recording that would be larger is sampled */
} taking;

enum { TAKING_PLACE = 64 };

/** @param place  out: the name of the traffic's file, which is memory
 *  @return false with errno where there is no room for it. */
bool taking_begin(const taking *taking, char place[TAKING_PLACE]);

/** Take what was told since. @return whether there was anything. */
bool taking_go_on(void);

/** The process has ended: takes the rest. `status` as in recording_head; cut: by
 *  the command. @return false where not all that was told could be taken. */
bool taking_end(int status, bool cut);

#endif
