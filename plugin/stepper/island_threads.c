#include "stepper/island_threads.h"

#include <stdbool.h>
#include <unistd.h>

/* In a forked child the threads are gone and cannot be joined: their memory is
 * left where it is. */
static void stop(island_threads *threads) {
  if (threads->process != getpid()) {
    *threads = (island_threads){0};
    return;
  }
  if (threads->implementation != NULL)
    dThreadingImplementationShutdownProcessing(threads->implementation);
  if (threads->pool != NULL) dThreadingFreeThreadPool(threads->pool);
  if (threads->implementation != NULL)
    dThreadingFreeImplementation(threads->implementation);
  *threads = (island_threads){0};
}

static bool start(island_threads *threads, int count) {
  threads->count = count;
  threads->process = getpid();
  threads->implementation = dThreadingAllocateMultiThreadedImplementation();
  if (threads->implementation != NULL)
    threads->pool = dThreadingAllocateThreadPool((unsigned)count, 0,
                                                 dAllocateFlagBasicData, NULL);
  if (threads->pool == NULL) {
    stop(threads);
    return false;
  }
  dThreadingThreadPoolServeMultiThreadedImplementation(threads->pool,
                                                       threads->implementation);
  return true;
}

void island_threads_set(island_threads *threads, dWorldID world, int count) {
  if (threads->count == count) return;
  if (threads->count > 0)
    dWorldSetStepThreadingImplementation(world, NULL, NULL);
  stop(threads);
  if (count == 0) return;
  if (start(threads, count))
    dWorldSetStepThreadingImplementation(
        world, dThreadingImplementationGetFunctions(threads->implementation),
        threads->implementation);
  else
    dMessage(0,
             "ode-mlcp: no %d threads to be had: islands are solved one after "
             "another",
             count);
}

void island_threads_follow_fork(island_threads *threads, dWorldID world) {
  int count = threads->count;
  if (count == 0 || threads->process == getpid()) return;
  island_threads_set(threads, world, 0);
  island_threads_set(threads, world, count);
}
