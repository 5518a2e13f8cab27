#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "common/clock.h"
#include "common/sized.h"
#include "impacts/impact_sampler.h"

/* Samples that a thread takes at a time. */
#define CHUNK 256

/* What came of one sample. */
typedef struct tally {
  uint32_t lcps;
  bool done; /* not interrupted */
  bool finished, failed;
  impact_counts counts;
} tally;

/* State that the threads share. Every sample writes only to places of its own, so
 * the order in which threads come to them leaves no trace. */
typedef struct run {
  ode_mlcp_impact *impact;
  const ode_mlcp_impact_options *options;
  tally *tallies; /* [options->samples] */
  ode_mlcp_impact_set *set;
  atomic_uint_fast64_t next_chunk;
  atomic_bool stopped;
} run;

typedef struct worker {
  run *shared;
  impact_sampler sampler;
  int number; /* 0 is the calling thread's: it speaks */
  bool running;
  pthread_t thread;
} worker;

static void write_outcome(ode_mlcp_impact_set *set,
                          const impact_sampler *sampler, uint64_t place,
                          uint64_t sample) {
  set->sample[place] = sample;
  set->lcps[place] = (uint32_t)sampler->n_lcps;
  impact_velocity(sampler->impact, sampler->lambda_sum,
                  &set->v[place * (uint64_t)set->n_velocities]);
  impact_report_rows(sampler->impact, sampler->c,
                     &set->contact_velocities[place * (uint64_t)set->n_rows]);
}

/* One sample: its outcome has a place in the set. */
static void do_sample(run *shared, worker *self, uint64_t place) {
  impact_sampler *sampler = &self->sampler;
  uint64_t sample = shared->options->first + place;
  memset(&sampler->counts, 0, sizeof sampler->counts);
  impact_sampler_run(sampler, sample, NULL, NULL);
  bool ends = impact_sampler_last_step(sampler, sample);
  if (sampler->stopped) {
    atomic_store(&shared->stopped, true);
    return;
  }
  if (ends) write_outcome(shared->set, sampler, place, sample);
  shared->tallies[place] = (tally){.lcps = (uint32_t)sampler->n_lcps,
                                   .done = true,
                                   .finished = ends,
                                   .failed = !ends && sampler->failed,
                                   .counts = sampler->counts};
}

static void *work(void *argument) {
  worker *self = argument;
  run *shared = self->shared;
  const ode_mlcp_impact_options *options = shared->options;
  while (!atomic_load(&shared->stopped)) {
    if (options->interrupted != NULL &&
        options->interrupted(options->run_context)) {
      atomic_store(&shared->stopped, true);
      break;
    }
    uint64_t first = atomic_fetch_add(&shared->next_chunk, 1) * CHUNK;
    if (first >= options->samples) break;
    uint64_t end =
        options->samples - first > CHUNK ? first + CHUNK : options->samples;
    for (uint64_t k = first; k < end && !atomic_load(&shared->stopped); k++)
      do_sample(shared, self, k);
    if (self->number == 0 && options->progress != NULL &&
        !atomic_load(&shared->stopped))
      options->progress(options->run_context, end, options->samples);
  }
  return NULL;
}

/* ---- the set's memory -------------------------------------------------- */

/* The arrays, in one block. */
static bool make_room(ode_mlcp_impact_set *set, const memory_source *source,
                      uint64_t count) {
  size_t n = count > 0 ? (size_t)count : 1;
  size_t numbers = (size_t)set->n_velocities + (size_t)set->n_rows;
  size_t each = numbers * sizeof(double) + sizeof(uint64_t) + sizeof(uint32_t);
  if (n > SIZE_MAX / 2 / each) return false;
  size_t size = n * each;
  char *block = source->allocate(source->context, size);
  if (block == NULL) return false;
  set->v = (double *)block;
  set->contact_velocities = set->v + n * (size_t)set->n_velocities;
  set->sample = (uint64_t *)(set->contact_velocities + n * (size_t)set->n_rows);
  set->lcps = (uint32_t *)(set->sample + n);
  set->block = block;
  set->block_size = size;
  set->release = source->release;
  set->release_context = source->context;
  return true;
}

void ode_mlcp_impact_set_release(ode_mlcp_impact_set *set) {
  if (set->block != NULL)
    set->release(set->release_context, set->block, set->block_size);
  // an older program's is shorter
  size_t size = set->struct_size;
  memset(set, 0, size < sizeof *set ? size : sizeof *set);
  set->block = NULL;
}

/* Close the gaps that the unfinished left, and count the samples that are done: a stop
 * leaves holes, and what was done behind the first is not in the set. */
static void add_up(const run *shared) {
  ode_mlcp_impact_set *set = shared->set;
  size_t s = (size_t)set->n_velocities, n = (size_t)set->n_rows;
  for (uint64_t k = 0; k < shared->options->samples; k++) {
    const tally *tally = &shared->tallies[k];
    if (!tally->done) break;
    set->n_samples++;
    set->n_lcps += tally->lcps;
    set->n_failed += tally->failed;
    set->n_fallbacks += tally->counts.fallbacks;
    set->n_solutions += tally->counts.solutions;
    set->n_incomplete += tally->counts.incomplete;
    set->n_continua += tally->counts.continua;
    if (!tally->finished) {
      set->n_unfinished++;
      continue;
    }
    uint64_t to = set->n_outcomes++;
    if (to == k) continue;
    set->sample[to] = set->sample[k];
    set->lcps[to] = set->lcps[k];
    memcpy(&set->v[to * s], &set->v[k * s], s * sizeof *set->v);
    memcpy(&set->contact_velocities[to * n], &set->contact_velocities[k * n],
           n * sizeof *set->contact_velocities);
  }
  set->n_finished = set->n_outcomes;
}

static void sample_all(run *shared, worker workers[], int n_workers) {
  double start = seconds_now();
  shared->set->n_threads = n_workers;
  for (int k = 1; k < n_workers; k++)
    workers[k].running =
        pthread_create(&workers[k].thread, NULL, work, &workers[k]) == 0;
  work(&workers[0]); // does everything if no thread could be had
  for (int k = 1; k < n_workers; k++)
    if (workers[k].running) pthread_join(workers[k].thread, NULL);
  add_up(shared);
  shared->set->seconds = seconds_now() - start;
}

static ode_mlcp_impact_status with_workers(run *shared) {
  const memory_source *source = &shared->impact->source;
  uint64_t n_chunks = shared->options->samples / CHUNK + 1;
  int n_workers = shared->options->threads;
  if ((uint64_t)n_workers > n_chunks) n_workers = (int)n_chunks;

  arena arena = {.source = source};
  worker *workers;
  if (!ARENA_TAKE(&arena, workers, n_workers)) return ODE_MLCP_IMPACT_NO_MEMORY;
  memset(workers, 0, (size_t)n_workers * sizeof *workers);
  bool ready = true;
  for (int k = 0; k < n_workers && ready; k++) {
    workers[k].shared = shared;
    workers[k].number = k;
    ready = impact_sampler_open(&workers[k].sampler, shared->impact,
                                shared->options, source);
  }
  if (ready) sample_all(shared, workers, n_workers);
  for (int k = 0; k < n_workers; k++) impact_sampler_close(&workers[k].sampler);
  arena_release(&arena);
  if (!ready) return ODE_MLCP_IMPACT_NO_MEMORY;
  return atomic_load(&shared->stopped) ? ODE_MLCP_IMPACT_INTERRUPTED
                                       : ODE_MLCP_IMPACT_DONE;
}

static ode_mlcp_impact_status
approximate(ode_mlcp_impact *impact, const ode_mlcp_impact_options *options,
            ode_mlcp_impact_set *set) {
  run shared = {.impact = impact, .options = options, .set = set};
  ode_mlcp_impact_status status = impact_sampler_prepare(impact, options, true);
  if (status != ODE_MLCP_IMPACT_DONE) return status;

  const memory_source *source = &impact->source;
  set->n_velocities = impact->n_velocities;
  set->n_rows = impact->space.n_rows;
  if (options->samples > SIZE_MAX / 2 / sizeof(tally))
    return ODE_MLCP_IMPACT_NO_MEMORY;
  size_t n = (size_t)options->samples;
  status = ODE_MLCP_IMPACT_NO_MEMORY;
  arena arena = {.source = source};
  if (ARENA_TAKE(&arena, shared.tallies, n) &&
      make_room(set, source, options->samples)) {
    memset(shared.tallies, 0, n * sizeof(tally));
    status = with_workers(&shared);
  }
  arena_release(&arena);
  if (status == ODE_MLCP_IMPACT_NO_MEMORY) ode_mlcp_impact_set_release(set);
  return status;
}

ode_mlcp_impact_status
ode_mlcp_impact_approximate_sized(ode_mlcp_impact *impact,
                                  const ode_mlcp_impact_options *options,
                                  ode_mlcp_impact_set *set, size_t set_size) {
  const char *why;
  ode_mlcp_impact_options own;
  ode_mlcp_impact_set found = {.struct_size = sizeof found};
  ode_mlcp_impact_status status = ODE_MLCP_IMPACT_BAD_INPUT;
  if (impact_options_read(options, &own, &why))
    status = approximate(impact, &own, &found);
  sized_give(set, set_size, &found, sizeof found);
  return status;
}

/* ---- one sample, and the ways of some ---------------------------------- */

ode_mlcp_impact_status
ode_mlcp_impact_sim(ode_mlcp_impact *impact,
                    const ode_mlcp_impact_options *options, uint64_t sample,
                    double v[], int *n_lcps) {
  double work = INFINITY;
  return impact_sample_within(impact, options, sample, &work, v, n_lcps);
}

ode_mlcp_impact_status
impact_sample_within(ode_mlcp_impact *impact,
                     const ode_mlcp_impact_options *options, uint64_t sample,
                     double *work, double v[], int *n_lcps) {
  const char *why;
  ode_mlcp_impact_options one;
  if (!impact_options_read(options, &one, &why))
    return ODE_MLCP_IMPACT_BAD_INPUT;
  ode_mlcp_impact_status status =
      impact_sampler_prepare(impact, &one, *work == INFINITY);
  if (status != ODE_MLCP_IMPACT_DONE) return status;
  impact_sampler sampler;
  if (!impact_sampler_open(&sampler, impact, &one, &impact->source))
    return ODE_MLCP_IMPACT_NO_MEMORY;

  sampler.work_left = *work;
  for (int i = 0; i < impact->n_islands; i++)
    sampler.work_left -= impact->islands[i].work;
  bool finished = impact_sampler_run(&sampler, sample, NULL, NULL);
  *work = sampler.work_left;
  if (n_lcps != NULL) *n_lcps = sampler.n_lcps;
  impact_velocity(impact, sampler.lambda_sum, v);
  impact_sampler_close(&sampler);
  return finished ? ODE_MLCP_IMPACT_DONE : ODE_MLCP_IMPACT_UNFINISHED;
}

/* Velocities on the way are counted first, then kept: a second walk goes the same way. */
typedef struct diary {
  ode_mlcp_impact_set *set;
  uint64_t sample;
  bool keep;
} diary;

static void note(void *context, const impact_sampler *sampler) {
  diary *diary = context;
  if (diary->keep)
    write_outcome(diary->set, sampler, diary->set->n_outcomes, diary->sample);
  diary->set->n_outcomes++;
}

static void walk(impact_sampler *sampler, uint64_t n_samples, diary *diary) {
  ode_mlcp_impact_set *set = diary->set;
  set->n_samples = n_samples;
  set->n_outcomes = set->n_lcps = set->n_finished = 0;
  for (uint64_t k = 0; k < n_samples; k++) {
    diary->sample = sampler->options->first + k;
    set->n_finished += impact_sampler_run(sampler, diary->sample, note, diary);
    set->n_lcps += (uint64_t)sampler->n_lcps;
  }
  set->n_unfinished = n_samples - set->n_finished;
}

static ode_mlcp_impact_status
follow_ways(ode_mlcp_impact *impact, const ode_mlcp_impact_options *options,
            uint64_t n_samples, ode_mlcp_impact_set *set) {
  ode_mlcp_impact_status status = impact_sampler_prepare(impact, options, true);
  if (status != ODE_MLCP_IMPACT_DONE) return status;
  impact_sampler sampler;
  if (!impact_sampler_open(&sampler, impact, options, &impact->source))
    return ODE_MLCP_IMPACT_NO_MEMORY;

  set->n_velocities = impact->n_velocities;
  set->n_rows = impact->space.n_rows;
  if (n_samples > options->samples) n_samples = options->samples;
  diary diary = {.set = set};
  walk(&sampler, n_samples, &diary);
  status = ODE_MLCP_IMPACT_NO_MEMORY;
  if (make_room(set, &impact->source, set->n_outcomes)) {
    diary.keep = true;
    walk(&sampler, n_samples, &diary);
    status = ODE_MLCP_IMPACT_DONE;
  }
  impact_sampler_close(&sampler);
  if (status != ODE_MLCP_IMPACT_DONE) ode_mlcp_impact_set_release(set);
  return status;
}

ode_mlcp_impact_status ode_mlcp_impact_ways_sized(
    ode_mlcp_impact *impact, const ode_mlcp_impact_options *options,
    uint64_t n_samples, ode_mlcp_impact_set *set, size_t set_size) {
  const char *why;
  ode_mlcp_impact_options own;
  ode_mlcp_impact_set found = {.struct_size = sizeof found};
  ode_mlcp_impact_status status = ODE_MLCP_IMPACT_BAD_INPUT;
  if (impact_options_read(options, &own, &why)) {
    own.interrupted = NULL; // both walks go the same ways
    status = follow_ways(impact, &own, n_samples, &found);
  }
  sized_give(set, set_size, &found, sizeof found);
  return status;
}

/* ---- a set's shape ------------------------------------------------------- */

static const double *row_values(const ode_mlcp_impact_set *set,
                                uint64_t outcome) {
  return &set->contact_velocities[outcome * (uint64_t)set->n_rows];
}

void ode_mlcp_impact_extents(const ode_mlcp_impact_set *set, double extents[]) {
  for (uint64_t k = 0; k < set->n_outcomes; k++) {
    const double *values = row_values(set, k);
    for (int i = 0; i < set->n_rows; i++) {
      // + 0: of two zeros keep the unsigned one
      double value = values[i] + 0.0;
      if (k == 0 || value < extents[2 * i]) extents[2 * i] = value;
      if (k == 0 || value > extents[2 * i + 1]) extents[2 * i + 1] = value;
    }
  }
}

void ode_mlcp_impact_means(const ode_mlcp_impact_set *set, double means[]) {
  if (set->n_outcomes == 0) return;
  memset(means, 0, (size_t)set->n_rows * sizeof *means);
  for (uint64_t k = 0; k < set->n_outcomes; k++)
    for (int i = 0; i < set->n_rows; i++) means[i] += row_values(set, k)[i];
  for (int i = 0; i < set->n_rows; i++) means[i] /= (double)set->n_outcomes;
}
