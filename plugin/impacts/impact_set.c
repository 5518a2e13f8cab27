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
  bool finished;
} tally;

/* What the threads share. Every sample writes only to places of its own, so
 * the order in which threads come to them leaves no trace. */
typedef struct run {
  ode_mlcp_impact *impact;
  const ode_mlcp_impact_options *options;
  uint64_t n_local; /* samples of this shard */
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
  store store;       /* ALL */
  uint64_t n_failed; /* samples */
  int number;        /* 0 is the calling thread's: it speaks */
  bool running;
  pthread_t thread;
} worker;

/* Samples of the shard, of which the options may ask for a part. */
static uint64_t local_samples(const ode_mlcp_impact_options *options) {
  uint64_t first = options->shard % options->n_shards, all = 0;
  if (first < options->samples)
    all = (options->samples - first - 1) / options->n_shards + 1;
  if (options->count == 0) return all;
  uint64_t left = options->first < all ? all - options->first : 0;
  return left < options->count ? left : options->count;
}

static uint64_t sample_number(const ode_mlcp_impact_options *options,
                              uint64_t local) {
  if (options->count > 0) local += options->first;
  return options->shard % options->n_shards + local * options->n_shards;
}

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

/* FIRST and RANDOM: a sample's outcome has its place. */
static void do_sample(run *shared, worker *self, uint64_t local) {
  impact_sampler *sampler = &self->sampler;
  uint64_t sample = sample_number(shared->options, local);
  int n_lcps;
  impact_sampler_run(sampler, sample, NULL, NULL, &n_lcps);
  bool finished = impact_sampler_last_step(sampler, sample);
  if (finished) write_outcome(shared->set, sampler, local, sample, n_lcps);
  self->n_failed += !finished && sampler->failed;
  shared->tallies[local] = (tally){
      .outcomes = finished, .lcps = (uint32_t)n_lcps, .finished = finished};
}

/* ALL: a sample branches; its outcomes go to the thread's store. */
static void do_tree(run *shared, worker *self, uint64_t local) {
  impact_sampler *sampler = &self->sampler;
  store *store = &self->store;
  uint64_t sample = sample_number(shared->options, local), n_branches = 0;
  tally tally = {.first = store->kept.n_outcomes,
                 .worker = self->number,
                 .finished = true};
  int n_lcps, shared_steps = 0;
  bool failed = false;

  impact_sampler_first_branch(sampler);
  do {
    impact_sampler_run(sampler, sample, NULL, NULL, &n_lcps);
    failed |= sampler->failed;
    tally.lcps += (uint32_t)(n_lcps - shared_steps);
    if (!impact_sampler_last_step(sampler, sample)) {
      tally.finished = false;
    } else if (store_grow(store, shared->set, &shared->impact->source)) {
      write_outcome(&store->kept, sampler, store->kept.n_outcomes++, sample,
                    n_lcps);
      tally.outcomes++;
    } else {
      atomic_store(&shared->no_memory, true);
      atomic_store(&shared->stopped, true);
      break;
    }
    if (++n_branches == shared->options->max_branches) {
      int ignored;
      if (impact_sampler_next_branch(sampler, n_lcps, &ignored))
        tally.finished = false;
      break;
    }
  } while (impact_sampler_next_branch(sampler, n_lcps, &shared_steps));
  self->n_failed += !tally.finished && failed;
  shared->tallies[local] = tally;
}

static void *work(void *argument) {
  worker *self = argument;
  run *shared = self->shared;
  const ode_mlcp_impact_options *options = shared->options;
  bool all = options->select == ODE_MLCP_IMPACT_ALL;
  for (;;) {
    if (atomic_load(&shared->stopped)) break;
    if (options->interrupted != NULL &&
        options->interrupted(options->run_context)) {
      atomic_store(&shared->stopped, true);
      break;
    }
    // chunks are taken in order and finished once taken, so an interrupted run
    // has done the samples before some number, and none after
    uint64_t first = atomic_fetch_add(&shared->next_chunk, 1) * shared->chunk;
    if (first >= shared->n_limit) break;
    uint64_t end = shared->n_limit - first > shared->chunk
                       ? first + shared->chunk
                       : shared->n_limit;
    for (uint64_t local = first; local < end; local++) {
      if (all)
        do_tree(shared, self, local);
      else
        do_sample(shared, self, local);
    }
    if (self->number == 0 && options->progress != NULL)
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

  // a stop leaves the chunks that were taken, and those are finished; a thread
  // may have counted past the end
  uint64_t taken = atomic_load(&shared->next_chunk);
  return taken > shared->n_limit / shared->chunk ? shared->n_limit
                                                 : taken * shared->chunk;
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
  }
  set->n_samples = end;
  set->n_unfinished = end - set->n_finished;
}

/* ---- the run ----------------------------------------------------------- */

static void collect_counts(ode_mlcp_impact_set *set, worker workers[],
                           int n_workers) {
  for (int k = 0; k < n_workers; k++) {
    impact_sampler *sampler = &workers[k].sampler;
    set->n_fallbacks += sampler->n_fallbacks;
    set->n_solutions += sampler->n_solutions;
    set->n_incomplete += sampler->n_incomplete;
    set->n_failed += workers[k].n_failed;
    sampler->n_fallbacks = sampler->n_solutions = sampler->n_incomplete = 0;
    workers[k].n_failed = 0;
  }
}

/* FIRST and RANDOM: every sample has one place, kept for it. */
static ode_mlcp_impact_status sample_ways(run *shared, worker workers[],
                                          int n_workers) {
  if (!make_room(shared->set, &shared->impact->source, shared->n_local))
    return ODE_MLCP_IMPACT_NO_MEMORY;
  shared->n_limit = shared->n_local;
  uint64_t n_done = pass(shared, workers, n_workers, 0);
  collect_counts(shared->set, workers, n_workers);
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
    collect_counts(set, workers, n_workers);
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
  shared.n_local = local_samples(options);
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

  int count;
  sampler.work_left = *work;
  bool finished = impact_sampler_run(&sampler, sample, NULL, NULL, &count);
  *work = sampler.work_left;
  if (n_lcps != NULL) *n_lcps = count;
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
  bool all = sampler->options->select == ODE_MLCP_IMPACT_ALL;
  set->n_samples = n_local;
  set->n_outcomes = set->n_lcps = set->n_finished = 0;
  for (uint64_t local = 0; local < n_local; local++) {
    int n_lcps, shared_steps = 0;
    uint64_t n_branches = 0;
    bool finished = true;
    diary->sample = sample_number(sampler->options, local);
    if (all) impact_sampler_first_branch(sampler);
    do {
      finished &=
          impact_sampler_run(sampler, diary->sample, note, diary, &n_lcps);
      set->n_lcps += (uint64_t)(n_lcps - shared_steps);
    } while (all && ++n_branches < sampler->options->max_branches &&
             impact_sampler_next_branch(sampler, n_lcps, &shared_steps));
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

  set->n_velocities = impact->n_velocities;
  set->n_rows = impact->n_slips;
  uint64_t n_local = local_samples(options);
  if (n_local > n_samples) n_local = n_samples;
  diary diary = {.set = set};
  walk(&sampler, n_local, &diary); // counts
  status = ODE_MLCP_IMPACT_NO_MEMORY;
  if (make_room(set, &impact->source, set->n_outcomes)) {
    diary.keep = true;
    walk(&sampler, n_local, &diary);
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
  if (impact_options_read(options, &own, &why))
    status = follow_ways(impact, &own, n_samples, &found);
  sized_give(set, set_size, &found, sizeof found);
  return status;
}
