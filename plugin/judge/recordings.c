/* Recordings, read: mapped, and every record checked to lie within the file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "judge/judge.h"

static bool push(const void ***items, size_t *count, const void *item) {
  if ((*count & (*count - 1)) == 0) {
    size_t size = *count == 0 ? 1 : 2 * *count;
    const void **more = realloc(*items, size * sizeof *more);
    if (more == NULL) return false;
    *items = more;
  }
  (*items)[(*count)++] = item;
  return true;
}

/* True if the record is as long as its counts say. */
static bool is_whole(const recording_record *record) {
  uint64_t needed = 0;
  switch (record->kind) {
    case RECORDING_BODY: needed = sizeof(recording_body); break;
    case RECORDING_STEP: needed = sizeof(recording_step); break;
    case RECORDING_SHAPE:
      needed = sizeof(recording_shape);
      if (record->size >= needed) {
        const recording_shape *shape = (const void *)record;
        needed += 12 * ((uint64_t)shape->n_vertices + shape->n_triangles);
      }
      break;
    case RECORDING_FRAME:
      needed = sizeof(recording_frame);
      if (record->size >= needed) {
        const recording_frame *frame = (const void *)record;
        needed += frame->n_bodies * (uint64_t)sizeof(recording_pose) +
                  frame->n_contacts * (uint64_t)sizeof(recording_contact);
      }
      break;
    default: break; // a later version's
  }
  return record->size >= needed;
}

static bool has_good_triangles(const recording_shape *shape) {
  const uint32_t *corners =
      (const void *)((const char *)(shape + 1) + 12 * shape->n_vertices);
  for (size_t i = 0; i < 3 * (size_t)shape->n_triangles; i++)
    if (corners[i] >= shape->n_vertices) return false;
  return true;
}

static bool keep(recording *r, const recording_record *record) {
  const void *item = record;
  switch (record->kind) {
    case RECORDING_BODY:
      return push((const void ***)&r->bodies, &r->n_bodies, item);
    case RECORDING_STEP:
      return push((const void ***)&r->steps, &r->n_steps, item);
    case RECORDING_SHAPE:
      return has_good_triangles(item) &&
             push((const void ***)&r->shapes, &r->n_shapes, item);
    case RECORDING_FRAME:
      return push((const void ***)&r->all_frames, &r->n_all_frames, item);
    default: return true;
  }
}

/* Words that end, and records at a place where their numbers can be. */
static bool head_is_sound(const recording_head *head) {
  return memchr(head->stepper, 0, sizeof head->stepper) != NULL &&
         memchr(head->program, 0, sizeof head->program) != NULL &&
         memchr(head->message, 0, sizeof head->message) != NULL &&
         head->arguments[sizeof head->arguments - 1] == 0 &&
         head->head_size % 8 == 0;
}

static bool read_records(recording *r) {
  const char *bytes = (const char *)r->head;
  uint64_t at = r->head->head_size, used = r->head->used;
  if (!head_is_sound(r->head) || at < sizeof(recording_head) || at > used ||
      used > r->size)
    return false;
  while (at < used) {
    const recording_record *record = (const void *)(bytes + at);
    if (used - at < sizeof *record || record->size < sizeof *record ||
        record->size % 8 != 0 || record->size > used - at ||
        !is_whole(record) || !keep(r, record))
      return false;
    at += record->size;
  }
  return true;
}

/* ---- the world that is shown ---- */

void recording_show(recording *r, uint32_t world) {
  r->world = world;
  r->n_frames = r->n_shown_steps = 0;
  for (size_t i = 0; i < r->n_all_frames; i++)
    if (r->all_frames[i]->world == world)
      r->frames[r->n_frames++] = r->all_frames[i];
  for (size_t i = 0; i < r->n_steps; i++)
    if (r->steps[i]->world == world)
      r->shown_steps[r->n_shown_steps++] = r->steps[i];
}

/* Bodies in all frames of a world; worlds are few. */
static uint64_t count_poses(const recording *r, uint32_t world) {
  uint64_t count = 0;
  for (size_t i = 0; i < r->n_all_frames; i++)
    if (r->all_frames[i]->world == world) count += r->all_frames[i]->n_bodies;
  return count;
}

static bool show_busiest(recording *r) {
  enum { WORLDS = 64 }; /* a game that makes one a level has more to be seen */
  r->frames = malloc((r->n_all_frames + 1) * sizeof *r->frames);
  r->shown_steps = malloc((r->n_steps + 1) * sizeof *r->shown_steps);
  if (r->frames == NULL || r->shown_steps == NULL) return false;
  uint32_t busiest = 1;
  uint64_t most = 0;
  for (uint32_t world = 1; world <= r->head->worlds && world <= WORLDS;
       world++) {
    uint64_t count = count_poses(r, world);
    if (count > most) busiest = world;
    if (count > most) most = count;
  }
  recording_show(r, busiest);
  return true;
}

static bool map_file(recording *r, const char *path) {
  struct stat status;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  if (fstat(file, &status) == 0 &&
      status.st_size >= (off_t)sizeof(recording_head)) {
    r->size = (size_t)status.st_size;
    void *bytes = mmap(NULL, r->size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED) r->head = bytes;
  } else {
    errno = 0;
  }
  close(file);
  return r->head != NULL;
}

recording *recording_open(const char *path, char *message,
                          size_t message_size) {
  recording *r = calloc(1, sizeof *r);
  const char *problem = "memory ran out";
  errno = 0;
  if (r != NULL && !map_file(r, path))
    problem = errno != 0 ? strerror(errno) : "not a recording";
  else if (r != NULL && memcmp(r->head->magic, RECORDING_MAGIC, 8) != 0)
    problem = "not a recording";
  else if (r != NULL && r->head->version != RECORDING_VERSION)
    problem = "a recording of another version";
  else if (r != NULL && !read_records(r))
    problem = errno == ENOMEM ? problem : "the recording is broken";
  else if (r != NULL && show_busiest(r))
    return r;
  snprintf(message, message_size, "%s: %s", path, problem);
  recording_close(r);
  return NULL;
}

void recording_close(recording *r) {
  if (r == NULL) return;
  if (r->head != NULL) munmap((void *)r->head, r->size);
  free(r->steps);
  free(r->all_frames);
  free(r->frames);
  free(r->shown_steps);
  free(r->shapes);
  free(r->bodies);
  free(r);
}

const recording_pose *frame_poses(const recording_frame *frame) {
  return (const void *)(frame + 1);
}

const recording_contact *frame_contacts(const recording_frame *frame) {
  return (const void *)(frame_poses(frame) + frame->n_bodies);
}

/* Bodies are in the order of their numbers. */
const recording_pose *frame_pose(const recording_frame *frame, uint32_t body) {
  const recording_pose *poses = frame_poses(frame);
  uint32_t from = 0, to = frame->n_bodies;
  while (from < to) {
    uint32_t middle = from + (to - from) / 2;
    if (poses[middle].body < body)
      from = middle + 1;
    else
      to = middle;
  }
  return from < frame->n_bodies && poses[from].body == body ? &poses[from]
                                                            : NULL;
}

const recording_frame *recording_frame_at(const recording *r, double time) {
  size_t from = 0, to = r->n_frames;
  while (to - from > 1) {
    size_t middle = from + (to - from) / 2;
    if (r->frames[middle]->time <= time + 1e-9)
      from = middle;
    else
      to = middle;
  }
  return r->frames[from];
}

bool recording_shape_holds(const recording *r, size_t index, int64_t step) {
  const recording_shape *shape = r->shapes[index];
  if (shape->body == 0) return shape->last == 0 || (int64_t)shape->last >= step;
  const recording_body *last = NULL;
  for (size_t i = 0; i < r->n_bodies; i++)
    if (r->bodies[i]->body == shape->body &&
        r->bodies[i]->world == shape->world)
      last = r->bodies[i];
  return last == NULL || (const void *)shape > (const void *)last;
}
