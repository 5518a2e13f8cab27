#define _GNU_SOURCE // memfd_create
#include "judge/taking.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "judge/recording_file.h"
#include "judge/worse.h"

static taking asked;
static int traffic;        /* descriptor */
static traffic_head *head; /* of the traffic */
static const char *ring;
static bool broken; /* what was told makes no sense, as of a process that wrote
                       anywhere before it died */
static recording_record *held; /* the record that is taken: our own copy, which
                                  such a process cannot change meanwhile */
static size_t held_size;
static measurement measured;
static recording_step pending; /* sums since the last record */
static uint64_t next_thinning;
static bool tried;    /* to make the recording */
static double *times; /* of the worlds, s: each goes by its own steps */
static uint32_t n_times;

bool taking_begin(const taking *taking, char place[TAKING_PLACE]) {
  const size_t size = TRAFFIC_HEAD + TRAFFIC_RING;
  asked = *taking;
  broken = tried = false;
  n_times = 0;
  memset(&pending, 0, sizeof pending);
  // memory: however the command ends, no file is left behind
  traffic = memfd_create("ode-mlcp-traffic", MFD_CLOEXEC);
  void *bytes = MAP_FAILED;
  if (traffic >= 0 && ftruncate(traffic, (off_t)size) == 0)
    bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, traffic, 0);
  if (bytes == MAP_FAILED) {
    if (traffic >= 0) close(traffic);
    return false;
  }
  snprintf(place, TAKING_PLACE, "/proc/%ld/fd/%d", (long)getpid(), traffic);
  head = bytes;
  ring = (const char *)bytes + TRAFFIC_HEAD;
  head->size = TRAFFIC_RING;
  head->reader = (int32_t)getpid();
  head->interval = 1;
  memcpy(head->magic, TRAFFIC_MAGIC, sizeof head->magic);
  return true;
}

/* ---- the recording ---- */

/* The head is zeros: the list ends with an empty word. */
static void write_arguments(recording_head *out) {
  size_t used = 0;
  for (char *const *word = asked.arguments; *word != NULL; word++) {
    size_t size = strlen(*word) + 1;
    if (size == 1 || used + size >= sizeof out->arguments) return;
    memcpy(out->arguments + used, *word, size);
    used += size;
  }
}

static recording_head *open_recording(void) {
  if (!tried && recording_file_open(asked.recording)) {
    recording_head *out = recording_file_head();
    out->refine = asked.refine;
    out->interval = 1;
    out->status = -1;
    strncpy(out->stepper, asked.stepper, sizeof out->stepper - 1);
    write_arguments(out);
    next_thinning = asked.most_bytes / 2;
  }
  tried = true;
  return recording_file_head();
}

/* Fields that the process keeps up to date itself. */
static void copy_head(recording_head *out) {
  memcpy(out->program, head->program, sizeof out->program);
  memcpy(out->message, head->message, sizeof out->message);
  out->program[sizeof out->program - 1] = '\0';
  out->message[sizeof out->message - 1] = '\0';
  out->messages = head->messages;
  out->stopped = head->stopped;
}

/* A sampled recording: each time that half of the room left is used up, half as
 * many frames are written from there on. */
static void thin_out(recording_head *out) {
  if (out->used < next_thinning || out->interval > 1u << 20) return;
  next_thinning += (asked.most_bytes - next_thinning) / 2;
  out->interval *= 2;
  head->interval = out->interval;
}

static bool states_are_finite(const traffic_step *step) {
  const traffic_body *bodies = (const void *)(step + 1);
  bool finite = true;
  for (uint32_t i = 0; i < step->n_bodies; i++) {
    const double *values = (const double *)&bodies[i].after;
    for (size_t k = 0; k < sizeof(traffic_state) / sizeof *values; k++)
      finite &= isfinite(values[k]) != 0;
  }
  return finite;
}

static void add_to_pending(const recording_step *step) {
  recording_step sum = *step;
  if (pending.steps > 0) {
    sum.steps += pending.steps;
    sum.failed += pending.failed;
    sum.degraded += pending.degraded;
    sum.messages += pending.messages;
#define WORSE(field) sum.field = worse(pending.field, sum.field);
    WORSE(seconds)
    WORSE(contact_error)
    WORSE(cone_violation)
    WORSE(friction_error)
    WORSE(aslant_error)
    WORSE(processor)
    WORSE(penetration)
    WORSE(joint_error)
    WORSE(momentum_unexplained)
    WORSE(fastest)
    WORSE(residual)
#undef WORSE
  }
  pending = sum;
}

static void write_step(void) {
  recording_step *out = recording_file_begin(RECORDING_STEP, sizeof *out);
  if (out != NULL) {
    recording_record record = out->record;
    *out = pending;
    out->record = record;
    recording_file_end();
  }
  memset(&pending, 0, sizeof pending);
}

static void write_pose(recording_pose *pose, const measured_body *body) {
  const traffic_state *now = &body->told->after;
  memcpy(pose->position, now->position, sizeof pose->position);
  for (int i = 0; i < 4; i++) pose->quaternion[i] = (float)now->quaternion[i];
  for (int i = 0; i < 3; i++) {
    pose->velocity[i] = (float)now->v[i];
    pose->angular[i] = (float)now->w[i];
  }
  pose->body = body->told->kind.body;
  pose->awake = body->awake_after;
}

static void write_contact(recording_contact *out,
                          const measured_contact *contact) {
  // the feedback's first body is the one that the normal points into, but where
  // that is the world
  double sign = contact->bodies[0] != NULL ? 1 : -1;
  for (int i = 0; i < 3; i++) {
    out->position[i] = (float)contact->told->asked.geom.pos[i];
    out->force[i] = (float)(sign * contact->told->force.f1[i]);
  }
  out->depth = (float)contact->told->asked.geom.depth;
  out->error = (float)contact->error;
}

static void write_frame(const recording_step *step) {
  // contacts of a refined step are not those of its end
  uint32_t n_contacts = asked.refine == 1 ? measured.step->n_contacts : 0;
  uint32_t n_bodies = measured.step->n_bodies;
  recording_frame *frame = recording_file_begin(
      RECORDING_FRAME, sizeof *frame + n_bodies * sizeof(recording_pose) +
                           n_contacts * sizeof(recording_contact));
  if (frame == NULL) return;
  frame->world = step->world;
  frame->number = step->number;
  frame->time = step->time;
  frame->n_bodies = n_bodies;
  frame->n_contacts = n_contacts;
  recording_pose *poses = (void *)(frame + 1);
  for (uint32_t i = 0; i < n_bodies; i++)
    write_pose(&poses[i], &measured.bodies[i]);
  recording_contact *contacts = (void *)(poses + n_bodies);
  for (uint32_t i = 0; i < n_contacts; i++)
    write_contact(&contacts[i], &measured.contacts[i]);
  recording_file_end();
}

/* ---- records ---- */

/* The scale of forces and, over a body's size, of energies. */
static void weigh(recording_head *out, const traffic_step *step) {
  const traffic_body *bodies = (const void *)(step + 1);
  double mass = 0;
  for (uint32_t i = 0; i < step->n_bodies; i++)
    if (bodies[i].kind.flags & TRAFFIC_FALLS &&
        bodies[i].kind.flags & TRAFFIC_DYNAMIC)
      mass += bodies[i].kind.mass;
  out->weight = worse(out->weight, mass * vec3_length(real3(step->gravity).at));
}

static double world_time(uint32_t world, double step_size) {
  if (world > n_times) {
    double *more = realloc(times, world * sizeof *times);
    if (more == NULL) return 0;
    times = more;
    while (n_times < world) times[n_times++] = 0;
  }
  return world > 0 ? times[world - 1] += step_size : 0;
}

static void count_step(recording_head *out, const traffic_step *told) {
  out->steps++;
  out->failed += !told->taken;
  out->degraded += told->degraded;
  out->unsolved += told->unsolved;
  out->seconds += told->seconds;
  if (told->world > out->worlds) out->worlds = told->world;
  if (told->taken) out->time += told->step_size;
}

static void take_step(recording_head *out, const traffic_step *told) {
  recording_step step = {.world = told->world,
                         .steps = 1,
                         .step_size = told->step_size,
                         .seconds = told->seconds,
                         .processor = told->processor,
                         .messages = told->messages,
                         .degraded = told->degraded,
                         .residual = told->residual,
                         .failed = !told->taken};
  count_step(out, told);
  step.number = out->steps;
  step.time = world_time(told->world, told->taken ? told->step_size : 0);
  bool seen =
      told->taken && told->watched && measure_step(&measured, told, &step);
  if (seen) out->not_finite += !states_are_finite(told);
  if (seen) weigh(out, told);
  add_to_pending(&step);
  if (out->steps % out->interval != 0 && !told->last) return;
  write_step();
  if (seen) write_frame(&step);
  thin_out(out);
}

static bool has_places(const uint32_t places[2], uint32_t count) {
  return places[0] <= count && places[1] <= count;
}

/* True if counts and places are those of the record. */
static bool step_is_sound(const traffic_step *step) {
  const traffic_body *bodies = (const void *)(step + 1);
  const traffic_contact *contacts = (const void *)(bodies + step->n_bodies);
  const traffic_joint *joints = (const void *)(contacts + step->n_contacts);
  uint64_t size = sizeof *step + (uint64_t)step->n_bodies * sizeof *bodies +
                  (uint64_t)step->n_contacts * sizeof *contacts +
                  (uint64_t)step->n_joints * sizeof *joints;
  if (step->record.size != traffic_whole(size)) return false;
  for (uint32_t i = 0; i < step->n_contacts; i++)
    if (!has_places(contacts[i].bodies, step->n_bodies)) return false;
  for (uint32_t i = 0; i < step->n_joints; i++)
    if (!has_places(joints[i].bodies, step->n_bodies)) return false;
  return true;
}

/* Bodies and shapes are written as they are told; whether they are whole, who
 * reads the recording sees to. */
static bool take_held(const recording_record *record) {
  if (record == NULL) return false;
  recording_head *out = open_recording();
  if (record->kind == TRAFFIC_STEP) {
    const traffic_step *step = (const void *)record;
    if (record->size < sizeof *step || !step_is_sound(step)) return false;
    if (out != NULL) take_step(out, step);
    return true;
  }
  recording_record *copy =
      out == NULL ? NULL : recording_file_begin(record->kind, record->size);
  if (copy == NULL) return true;
  memcpy(copy, record, record->size);
  recording_file_end();
  return true;
}

/* @return NULL without memory */
static const recording_record *hold(const recording_record *record,
                                    uint32_t size) {
  if (size > held_size) {
    free(held);
    held_size = 2 * (size_t)size;
    held = malloc(held_size);
    if (held == NULL) held_size = 0;
    if (held == NULL) return NULL;
  }
  memcpy(held, record, size);
  held->size = size;
  return held;
}

bool taking_go_on(void) {
  bool any = false;
  uint64_t written;
  while (!broken && (written = __atomic_load_n(
                         &head->written, __ATOMIC_ACQUIRE)) != head->taken) {
    uint64_t at = head->taken % TRAFFIC_RING, rest = TRAFFIC_RING - at;
    uint64_t left = written - head->taken;
    const recording_record *record = (const void *)(ring + at);
    bool is_there = left >= sizeof *record && rest >= sizeof *record;
    bool is_pad = is_there && record->kind == TRAFFIC_PAD;
    uint32_t size = is_there ? record->size : 0;
    if (size < sizeof *record || size % 8 != 0 || size > rest || size > left ||
        (!is_pad && !take_held(hold(record, size)))) {
      broken = true;
      break;
    }
    any = true;
    if (recording_file_head() != NULL) copy_head(recording_file_head());
    __atomic_store_n(&head->taken, head->taken + size, __ATOMIC_RELEASE);
  }
  // the process is not to wait for room that nobody makes
  if (broken)
    __atomic_store_n(&head->taken,
                     __atomic_load_n(&head->written, __ATOMIC_ACQUIRE),
                     __ATOMIC_RELEASE);
  return any;
}

static void end_recording(recording_head *out, int status, bool cut) {
  copy_head(out); // messages may have come after the last step
  if (pending.steps > 0) write_step();
  out->status = status;
  out->cut = cut;
  recording_file_close();
}

bool taking_end(int status, bool cut) {
  taking_go_on();
  if (recording_file_head() != NULL)
    end_recording(recording_file_head(), status, cut);
  bool whole = !broken && !head->lost;
  measure_free(&measured);
  free(held);
  held = NULL;
  held_size = 0;
  munmap(head, TRAFFIC_HEAD + TRAFFIC_RING);
  head = NULL;
  close(traffic);
  return whole;
}
