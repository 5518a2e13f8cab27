#include "common/progress.h"

#include <stddef.h>

static _Thread_local progress_watch present;

progress_watch progress_set_watch(progress_watch watch) {
  progress_watch before = present;
  present = watch;
  return before;
}

void progress_tick(void) {
  if (present.tick != NULL) present.tick(present.context);
}
