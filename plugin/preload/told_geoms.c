#define _GNU_SOURCE // RTLD_NEXT

#include "preload/told_geoms.h"

#include <pthread.h>
#include <search.h>
#include <stdbool.h>

#include "preload/next.h"

/* Addresses decide where in the tree an entry sits, never what comes of it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *told;

static int by_address(const void *a, const void *b) {
  return (a > b) - (a < b);
}

void told_geoms_add(dGeomID geom) {
  pthread_mutex_lock(&lock);
  tsearch(geom, &told, by_address);
  pthread_mutex_unlock(&lock);
}

int told_geoms_has(void *context, dGeomID geom) {
  (void)context;
  pthread_mutex_lock(&lock);
  bool has = tfind(geom, &told, by_address) != NULL;
  pthread_mutex_unlock(&lock);
  return has;
}

/* The host calls it by this name, too, for what a space or a transform holds. */
VISIBLE void dGeomDestroy(dGeomID geom) {
  NEXT(dGeomDestroy)
  pthread_mutex_lock(&lock);
  tdelete(geom, &told, by_address);
  pthread_mutex_unlock(&lock);
  next(geom);
}
