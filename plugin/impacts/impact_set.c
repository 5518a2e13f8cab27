#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "common/clock.h"
#include "common/sized.h"
#include "impacts/impact_sampler.h"

/* Samples that a thread takes at a time, where they do not go in blocks. */
#define CHUNK 256

/* Outcomes of one sample. */
typedef struct tally {
  uint64_t first; /* ALL: its first outcome in its thread's store */
  uint32_t outcomes;
  uint32_t lcps; /* solved, shared steps once */
  int worker;    /* ALL: whose store that is */
  bool done;     /* nobody was interrupted in it */
  bool finished, failed;
  impact_counts counts;
} tally;

/* State that the threads share. Every sample writes only to places of its own, so
 * the order in which threads come to them leaves no trace. */
typedef struct run {
  ode_mlcp_impact *impact;
  const ode_mlcp_impact_options *options;
  uint64_t n_local; /* samples asked for */
  tally *tallies;   /* [n_local] */
  ode_mlcp_impact_set *set;
  uint64_t chunk;   /* samples that a thread takes at a time */
  uint64_t n_limit; /* the pass ends at this sample */
  atomic_uint_fast64_t next_chunk;
  atomic_bool stopped;
  atomic_bool no_memory; /* of a store */
} run;

/* Outcomes of samples with any number of them, until their places in the set
 * are known. */
typedef struct store {
  ode_mlcp_impact_set kept; /* views the blocks; its n_outcomes counts */
  uint64_t room;
  memory_block sample_block, lcps_block, v_block, row_block;
} store;

typedef struct worker {
  run *shared;
  impact_sampler sampler;
  store store; /* ALL */
  int number;  /* 0 is the calling thread's: it speaks */
  bool running;
  pthread_t thread;
} worker;

static void write_outcome(ode_mlcp_impact_set *set,
                          const impact_sampler *sampler, uint64_t place,
                          uint64_t sample, int n_lcps) {
  set->sample[place] = sample;
  set->lcps[place] = (uint32_t)n_lcps;
  impact_velocity(sampler->impact, sampler->lambda_sum,
                  &set->v[place * (uint64_t)set->n_velocities]);
  impact_report_rows(sampler->impact, sampler->c,
                     &set->contact_velocities[place * (uint64_t)set->n_rows]);
}

/* Room for one more outcome; false: no memory. */
static bool store_grow(store *store, const ode_mlcp_impact_set *like,
                       const memory_source *source) {
  ode_mlcp_impact_set *kept = &store->kept;
  if (kept->n_outcomes < store->room) return true;
  size_t room = store->room > 0 ? 2 * (size_t)store->room : CHUNK;
  size_t s = (size_t)like->n_velocities, n = (size_t)like->n_rows;
  if (room > SIZE_MAX / 4 / (s + n)) return false;
  kept->sample = memory_block_grow(&store->sample_block, source, room,
                                   sizeof *kept->sample);
  kept->lcps =
      memory_block_grow(&store->lcps_block, source, room, sizeof *kept->lcps);
  kept->v =
      memory_block_grow(&store->v_block, source, room * s, sizeof *kept->v);
  kept->contact_velocities = memory_block_grow(
      &store->row_block, source, room * n, sizeof *kept->contact_velocities);
  kept->n_velocities = like->n_velocities;
  kept->n_rows = like->n_rows;
  if (kept->sample == NULL || kept->lcps == NULL || kept->v == NULL ||
      kept->contact_velocities == NULL)
    return false;
  store->room = room;
  return true;
}

static void store_release(store *store, const memory_source *source) {
  memory_block_release(&store->sample_block, source);
  memory_block_release(&store->lcps_block, source);
  memory_block_release(&store->v_block, source);
  memory_block_release(&store->row_block, source);
}

/* Keep a sample's outcome; false: no memory. */
static bool keep_outcome(run *shared, worker *self, uint64_t local,
                         uint64_t sample, bool all) {
  store *store = &self->store;
  const impact_sampler *sampler = &self->sampler;
  if (all && !store_grow(store, shared->set, &shared->impact->source))
    return false;
  write_outcome(all ? &store->kept : shared->set, sampler,
                all ? store->kept.n_outcomes++ : local, sample,
                sampler->n_lcps);
  return true;
}

/* One sample. FIRST and RANDOM: its outcome has a place in the set; ALL: it branches,
 * and its outcomes go to the thread's store. */
static void do_sample(run *shared, worker *self, uint64_t local) {
  const ode_mlcp_impact_options *options = shared->options;
  impact_sampler *sampler = &self->sampler;
  bool all = options->select == ODE_MLCP_IMPACT_ALL;
  uint64_t sample = options->first + local, n_branches = 0;
  tally tally = {.first = self->store.kept.n_outcomes,
                 .worker = self->number,
                 .finished = true};
  int n_shared = 0;
  bool failed = false, is_kept = true;
  memset(&sampler->counts, 0, sizeof sampler->counts);
  for (bool begun = false;; begun = true) {
    if (begun) {
      n_shared = impact_sampler_shared(sampler);
      impact_sampler_next_branch(sampler, sample, NULL, NULL);
    } else {
      impact_sampler_run(sampler, sample, NULL, NULL);
    }
    failed |= sampler->failed;
    tally.lcps += (uint32_t)(sampler->n_lcps - n_shared);
    bool ends = impact_sampler_last_step(sampler, sample);
    if (sampler->stopped || sampler->no_memory) break;
    tally.finished &= ends;
    if (ends) is_kept = keep_outcome(shared, self, local, sample, all);
    if (!is_kept) break;
    tally.outcomes += ends;
    if (!impact_sampler_more_branches(sampler)) break;
    if (++n_branches == options->max_branches) {
      tally.finished = false;
      break;
    }
  }
  if (!is_kept || sampler->no_memory) atomic_store(&shared->no_memory, true);
  tally.done = is_kept && !sampler->stopped && !sampler->no_memory;
  if (!tally.done) atomic_store(&shared->stopped, true);
  tally.failed = !tally.finished && failed;
  tally.counts = sampler->counts;
  shared->tallies[local] = tally;
}

static void *work(void *argument) {
  worker *self = argument;
  run *shared = self->shared;
  const ode_mlcp_impact_options *options = shared->options;
  for (;;) {
    if (atomic_load(&shared->stopped)) break;
    if (options->interrupted != NULL &&
        options->interrupted(options->run_context)) {
      atomic_store(&shared->stopped, true);
      break;
    }
    uint64_t first = atomic_fetch_add(&shared->next_chunk, 1) * shared->chunk;
    if (first >= shared->n_limit) break;
    uint64_t end = shared->n_limit - first > shared->chunk
                       ? first + shared->chunk
                       : shared->n_limit;
    for (uint64_t local = first; local < end; local++)
      shared->tallies[local].done = false;
    for (uint64_t local = first; local < end && !atomic_load(&shared->stopped);
         local++)
      do_sample(shared, self, local);
    if (self->number == 0 && options->progress != NULL &&
        !atomic_load(&shared->stopped))
      options->progress(options->run_context, end, shared->n_local);
  }
  return NULL;
}

/* All threads go over the samples from `first`, a multiple of the chunk, to
 * n_limit; returns the end of those that are done. */
static uint64_t pass(run *shared, worker workers[], int n_workers,
                     uint64_t first) {
  atomic_store(&shared->next_chunk, first / shared->chunk);
  atomic_store(&shared->stopped, false);
  for (int k = 1; k < n_workers; k++)
    workers[k].running =
        pthread_create(&workers[k].thread, NULL, work, &workers[k]) == 0;
  work(&workers[0]); // does everything if no thread could be had
  for (int k = 1; k < n_workers; k++)
    if (workers[k].running) pthread_join(workers[k].thread, NULL);

  // a stop leaves holes: what was done behind the first is not in the set
  uint64_t end = first, limit = shared->n_limit;
  uint64_t taken = atomic_load(&shared->next_chunk) * shared->chunk;
  if (taken < limit) limit = taken;
  while (end < limit && shared->tallies[end].done) end++;
  return end;
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

/* More room than the n_kept outcomes that are there. */
static bool grow_room(ode_mlcp_impact_set *set, const memory_source *source,
                      uint64_t count, uint64_t n_kept) {
  ode_mlcp_impact_set old = *set;
  if (!make_room(set, source, count)) return false;
  if (old.block == NULL) return true;
  size_t n = (size_t)n_kept;
  memcpy(set->sample, old.sample, n * sizeof *set->sample);
  memcpy(set->lcps, old.lcps, n * sizeof *set->lcps);
  memcpy(set->v, old.v, n * (size_t)set->n_velocities * sizeof *set->v);
  memcpy(set->contact_velocities, old.contact_velocities,
         n * (size_t)set->n_rows * sizeof *set->contact_velocities);
  old.release(old.release_context, old.block, old.block_size);
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

/* FIRST and RANDOM: one place a sample was kept; close the gaps that the
 * unfinished left. */
static void close_gaps(const run *shared, uint64_t n_done) {
  ode_mlcp_impact_set *set = shared->set;
  size_t s = (size_t)set->n_velocities, n = (size_t)set->n_rows;
  uint64_t next = 0;
  for (uint64_t k = 0; k < n_done; k++) {
    if (shared->tallies[k].outcomes == 0) continue;
    if (next != k) {
      set->sample[next] = set->sample[k];
      set->lcps[next] = set->lcps[k];
      memcpy(&set->v[next * s], &set->v[k * s], s * sizeof *set->v);
      memcpy(&set->contact_velocities[next * n],
             &set->contact_velocities[k * n],
             n * sizeof *set->contact_velocities);
    }
    next++;
  }
}

/* Count the samples from `first` to `end` in. */
static void add_up(const run *shared, uint64_t first, uint64_t end) {
  ode_mlcp_impact_set *set = shared->set;
  for (uint64_t k = first; k < end; k++) {
    set->n_finished += shared->tallies[k].finished;
    set->n_lcps += shared->tallies[k].lcps;
    set->n_outcomes += shared->tallies[k].outcomes;
    set->n_failed += shared->tallies[k].failed;
    const impact_counts *counts = &shared->tallies[k].counts;
    set->n_fallbacks += counts->fallbacks;
    set->n_solutions += counts->solutions;
    set->n_incomplete += counts->incomplete;
    set->n_continua += counts->continua;
  }
  set->n_samples = end;
  set->n_unfinished = end - set->n_finished;
}

/* ---- the run ----------------------------------------------------------- */

/* FIRST and RANDOM: every sample has one place, kept for it. */
static ode_mlcp_impact_status sample_ways(run *shared, worker workers[],
                                          int n_workers) {
  if (!make_room(shared->set, &shared->impact->source, shared->n_local))
    return ODE_MLCP_IMPACT_NO_MEMORY;
  shared->n_limit = shared->n_local;
  uint64_t n_done = pass(shared, workers, n_workers, 0);
  add_up(shared, 0, n_done);
  close_gaps(shared, n_done);
  return ODE_MLCP_IMPACT_DONE;
}

/* The outcomes of the samples from `first` to `end`, from the stores to the set
 * behind the `place` that are there. */
static void gather(const run *shared, worker workers[], uint64_t first,
                   uint64_t end, uint64_t place) {
  ode_mlcp_impact_set *set = shared->set;
  size_t s = (size_t)set->n_velocities, n = (size_t)set->n_rows;
  for (uint64_t k = first; k < end; k++) {
    const tally *tally = &shared->tallies[k];
    const ode_mlcp_impact_set *from = &workers[tally->worker].store.kept;
    size_t at = (size_t)tally->first, count = tally->outcomes;
    if (count == 0) continue;
    memcpy(&set->sample[place], &from->sample[at], count * sizeof *set->sample);
    memcpy(&set->lcps[place], &from->lcps[at], count * sizeof *set->lcps);
    memcpy(&set->v[place * s], &from->v[at * s], count * s * sizeof *set->v);
    memcpy(&set->contact_velocities[place * n],
           &from->contact_velocities[at * n],
           count * n * sizeof *set->contact_velocities);
    place += count;
  }
}

/* ALL: how many outcomes a sample has is known when it is done. So some samples
 * are done, room is made, and their outcomes go there. */
static ode_mlcp_impact_status sample_trees(run *shared, worker workers[],
                                           int n_workers) {
  const memory_source *source = &shared->impact->source;
  ode_mlcp_impact_set *set = shared->set;
  uint64_t round = shared->chunk * 4 * (uint64_t)n_workers, room = 0;
  bool stopped = false;
  if (!make_room(set, source, 0)) return ODE_MLCP_IMPACT_NO_MEMORY;
  for (uint64_t first = 0; first < shared->n_local && !stopped;
       first += round) {
    uint64_t left = shared->n_local - first, n_kept = set->n_outcomes;
    shared->n_limit = left > round ? first + round : shared->n_local;
    for (int k = 0; k < n_workers; k++) workers[k].store.kept.n_outcomes = 0;
    uint64_t end = pass(shared, workers, n_workers, first);
    if (atomic_load(&shared->no_memory)) return ODE_MLCP_IMPACT_NO_MEMORY;
    stopped = atomic_load(&shared->stopped);
    add_up(shared, first, end);

    if (set->n_outcomes > room) {
      room = set->n_outcomes + set->n_outcomes / 2;
      if (!grow_room(set, source, room, n_kept))
        return ODE_MLCP_IMPACT_NO_MEMORY;
    }
    gather(shared, workers, first, end, n_kept);
  }
  atomic_store(&shared->stopped, stopped);
  return ODE_MLCP_IMPACT_DONE;
}

static ode_mlcp_impact_status sample_all(run *shared, worker workers[],
                                         int n_workers) {
  shared->set->n_threads = n_workers;
  double start = seconds_now();
  ode_mlcp_impact_status status = shared->options->select == ODE_MLCP_IMPACT_ALL
                                      ? sample_trees(shared, workers, n_workers)
                                      : sample_ways(shared, workers, n_workers);
  shared->set->seconds = seconds_now() - start;
  if (status != ODE_MLCP_IMPACT_DONE) return status;
  return atomic_load(&shared->stopped) ? ODE_MLCP_IMPACT_INTERRUPTED
                                       : ODE_MLCP_IMPACT_DONE;
}

static ode_mlcp_impact_status with_workers(run *shared) {
  const memory_source *source = &shared->impact->source;
  uint64_t n_chunks = shared->n_local / shared->chunk + 1;
  int n_workers = shared->options->threads;
  if ((uint64_t)n_workers > n_chunks) n_workers = (int)n_chunks;

  worker *workers =
      memory_allocate_array(source, (size_t)n_workers, sizeof *workers);
  if (workers == NULL) return ODE_MLCP_IMPACT_NO_MEMORY;
  memset(workers, 0, (size_t)n_workers * sizeof *workers);
  bool ready = true;
  for (int k = 0; k < n_workers && ready; k++) {
    workers[k].shared = shared;
    workers[k].number = k;
    ready = impact_sampler_open(&workers[k].sampler, shared->impact,
                                shared->options, source);
  }
  ode_mlcp_impact_status status = ready ? sample_all(shared, workers, n_workers)
                                        : ODE_MLCP_IMPACT_NO_MEMORY;
  for (int k = 0; k < n_workers; k++) {
    impact_sampler_close(&workers[k].sampler);
    store_release(&workers[k].store, source);
  }
  memory_release_array(source, workers, (size_t)n_workers, sizeof *workers);
  return status;
}

static ode_mlcp_impact_status
approximate(ode_mlcp_impact *impact, const ode_mlcp_impact_options *options,
            ode_mlcp_impact_set *set) {
  run shared = {.impact = impact, .options = options, .set = set};
  shared.chunk =
      options->caps == ODE_MLCP_IMPACT_ENDS ? IMPACT_ENDS_BLOCK : CHUNK;
  ode_mlcp_impact_status status = impact_sampler_prepare(impact, options);
  if (status != ODE_MLCP_IMPACT_DONE) return status;

  const memory_source *source = &impact->source;
  set->n_velocities = impact->n_velocities;
  set->n_rows = impact->n_slips;
  shared.n_local = options->samples;
  if (shared.n_local > SIZE_MAX / 2 / sizeof(tally))
    return ODE_MLCP_IMPACT_NO_MEMORY;
  size_t n_local = (size_t)shared.n_local;
  shared.tallies = memory_allocate_array(source, n_local, sizeof(tally));
  status = shared.tallies != NULL ? with_workers(&shared)
                                  : ODE_MLCP_IMPACT_NO_MEMORY;
  memory_release_array(source, shared.tallies, n_local, sizeof(tally));
  if (status != ODE_MLCP_IMPACT_DONE && status != ODE_MLCP_IMPACT_INTERRUPTED)
    ode_mlcp_impact_set_release(set);
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
  if (one.select == ODE_MLCP_IMPACT_ALL) one.select = ODE_MLCP_IMPACT_RANDOM;
  ode_mlcp_impact_status status = impact_sampler_prepare(impact, &one);
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

typedef struct diary {
  ode_mlcp_impact_set *set;
  uint64_t sample;
  bool keep;
} diary;

static void note(void *context, const impact_sampler *sampler, int n_lcps,
                 const double c[]) {
  (void)c; // the sampler's
  diary *diary = context;
  if (diary->keep) {
    write_outcome(diary->set, sampler, diary->set->n_outcomes, diary->sample,
                  n_lcps);
  }
  diary->set->n_outcomes++;
}

static void walk(impact_sampler *sampler, uint64_t n_local, diary *diary) {
  ode_mlcp_impact_set *set = diary->set;
  set->n_samples = n_local;
  set->n_outcomes = set->n_lcps = set->n_finished = 0;
  for (uint64_t local = 0;
       local < n_local && !sampler->stopped && !sampler->no_memory; local++) {
    int n_shared = 0;
    uint64_t n_branches = 0;
    diary->sample = sampler->options->first + local;
    bool finished = impact_sampler_run(sampler, diary->sample, note, diary);
    for (;;) {
      set->n_lcps += (uint64_t)(sampler->n_lcps - n_shared);
      if (!impact_sampler_more_branches(sampler) ||
          ++n_branches >= sampler->options->max_branches || sampler->stopped ||
          sampler->no_memory)
        break;
      n_shared = impact_sampler_shared(sampler);
      finished &=
          impact_sampler_next_branch(sampler, diary->sample, note, diary);
    }
    set->n_finished += finished;
  }
  set->n_unfinished = n_local - set->n_finished;
}

static ode_mlcp_impact_status
follow_ways(ode_mlcp_impact *impact, const ode_mlcp_impact_options *options,
            uint64_t n_samples, ode_mlcp_impact_set *set) {
  ode_mlcp_impact_status status = impact_sampler_prepare(impact, options);
  if (status != ODE_MLCP_IMPACT_DONE) return status;
  impact_sampler sampler;
  if (!impact_sampler_open(&sampler, impact, options, &impact->source))
    return ODE_MLCP_IMPACT_NO_MEMORY;

  // both walks go the same ways
  ode_mlcp_impact_options patient = *options;
  patient.interrupted = NULL;
  set->n_velocities = impact->n_velocities;
  set->n_rows = impact->n_slips;
  uint64_t n_local = options->samples;
  if (n_local > n_samples) n_local = n_samples;
  sampler.options = &patient;
  diary diary = {.set = set};
  walk(&sampler, n_local, &diary); // counts
  status = ODE_MLCP_IMPACT_NO_MEMORY;
  if (!sampler.no_memory && make_room(set, &impact->source, set->n_outcomes)) {
    diary.keep = true;
    walk(&sampler, n_local, &diary);
    if (!sampler.no_memory) status = ODE_MLCP_IMPACT_DONE;
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
  if (impact_options_read(options, &own, &why))
    status = follow_ways(impact, &own, n_samples, &found);
  sized_give(set, set_size, &found, sizeof found);
  return status;
}
