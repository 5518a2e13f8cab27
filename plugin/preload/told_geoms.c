#define _GNU_SOURCE // RTLD_NEXT

#include "preload/told_geoms.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "preload/next.h"

/* An open-addressing table without deleted marks: what follows a geom that goes
 * moves up. Addresses decide where an entry sits, never what comes of it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static dGeomID *slots;
static size_t size, count; /* size: a power of two, or 0 */

static size_t home_of(dGeomID geom) {
  uint64_t key = (uint64_t)(uintptr_t)geom * UINT64_C(0x9e3779b97f4a7c15);
  return (size_t)(key >> 32) & (size - 1);
}

/* Where the geom is, or the free slot that it would have. */
static size_t slot_of(dGeomID geom) {
  size_t slot = home_of(geom);
  while (slots[slot] != NULL && slots[slot] != geom)
    slot = (slot + 1) & (size - 1);
  return slot;
}

static bool grow(void) {
  size_t old_size = size, new_size = size > 0 ? 2 * size : 256;
  dGeomID *old = slots, *room = calloc(new_size, sizeof *room);
  if (room == NULL) return false;
  slots = room;
  size = new_size;
  for (size_t i = 0; i < old_size; i++)
    if (old[i] != NULL) slots[slot_of(old[i])] = old[i];
  free(old);
  return true;
}

void told_geoms_add(dGeomID geom) {
  pthread_mutex_lock(&lock);
  if (2 * (count + 1) <= size || grow()) {
    size_t slot = slot_of(geom);
    count += slots[slot] == NULL;
    slots[slot] = geom;
  }
  pthread_mutex_unlock(&lock);
}

int told_geoms_has(void *context, dGeomID geom) {
  (void)context;
  pthread_mutex_lock(&lock);
  bool has = size > 0 && slots[slot_of(geom)] == geom;
  pthread_mutex_unlock(&lock);
  return has;
}

static void forget(dGeomID geom) {
  pthread_mutex_lock(&lock);
  size_t slot = size > 0 ? slot_of(geom) : 0;
  if (size > 0 && slots[slot] == geom) {
    count--;
    slots[slot] = NULL;
    for (size_t i = (slot + 1) & (size - 1); slots[i] != NULL;
         i = (i + 1) & (size - 1)) {
      dGeomID moved = slots[i];
      slots[i] = NULL;
      slots[slot_of(moved)] = moved;
    }
  }
  pthread_mutex_unlock(&lock);
}

/* The host calls it by this name, too, for what a space or a transform holds. */
VISIBLE void dGeomDestroy(dGeomID geom) {
  NEXT(dGeomDestroy)
  forget(geom);
  next(geom);
}
