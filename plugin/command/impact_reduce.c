/* A set as what no order of its samples changes, in memory and in files. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/exact_sum.h"
#include "common/number.h"
#include "command/impact.h"
#include "command/json.h"
#include "command/result_file.h"
#include "common/lanes.h"
#include "preload/output_file.h"
#include "impacts/impact.h"
#include "impacts/philox.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "files of reductions are little-endian");

#define SIGNATURE "ode-mlcp impact reduction 2\n"

enum {
  MOST_PLANES = 48,
  MOST_KEPT = 256,        /* outcomes kept for pictures */
  KEPT_NUMBERS = 16384,   /* and their numbers at most */
  MOST_PRODUCT_ROWS = 24, /* up to so many rows all products are summed */
  CELLS_OF_ALL = 65536    /* of all planes together */
};

/* Which set this is of: two with equal heads may be merged. */
typedef struct head {
  char signature[32];
  char name[256];
  uint64_t fingerprint, seed, samples;
  double h, tolerance;
  int64_t steps, select, method, caps;
  int64_t n_contacts, n_tangents, n_planes, n_side, n_sums, most_kept;
} head;

typedef struct counts {
  uint64_t samples, finished, failed, lcps, outcomes, fallbacks, solutions,
      incomplete, continua;
} counts;

/* An outcome kept for pictures; its rows lie in `rows`. */
typedef struct kept {
  uint64_t key, sample, branch, lcps;
} kept;

struct impact_reduction {
  head head;
  counts counts;
  uint64_t n_ranges, n_kept;
  uint64_t ranges[IMPACT_MOST_RANGES][2]; /* [first, end), in order, apart */
  int n_rows;
  double *width;   /* [n_rows] of the grids */
  double *extents; /* [n_rows x 2] */
  exact_sum *sums; /* [n_sums] rows, then squares, then products */
  double *support; /* [n_planes x IMPACT_DIRECTIONS] */
  uint64_t *cells; /* [n_planes x n_side x n_side] */
  kept *kept;      /* [most_kept] by key */
  double *rows;    /* [most_kept x n_rows] */
  double directions[2][IMPACT_DIRECTIONS];
  // outcomes the supports know of: from .. to on the plane's axes
  struct {
    double from, to;
  } on_axis[MOST_PLANES][2];
  uint64_t unsettled; /* terms of sums since they were settled */
};

/* ---- planes and directions ---------------------------------------------- */

/* Contact i's normal over its tangents, then normals of neighbours. */
static void plane_rows(const head *head, int64_t plane, int rows[2]) {
  int T = (int)head->n_tangents, per = 1 + T;
  int own = (int)head->n_contacts * T;
  if (plane < own) {
    rows[0] = (int)plane / T * per;
    rows[1] = rows[0] + 1 + (int)plane % T;
  } else {
    rows[0] = (int)(plane - own) * per;
    rows[1] = rows[0] + per;
  }
}

/* Whole numbers, so that no two machines differ: round the square of half width
 * 16, counter-clockwise. */
static void direction_of(int k, double direction[2]) {
  int side = k / 32, at = k % 32 - 16;
  const double corners[4][2] = {{16, at}, {-at, 16}, {-16, -at}, {at, -16}};
  direction[0] = corners[side][0];
  direction[1] = corners[side][1];
}

/* ---- making one --------------------------------------------------------- */

static size_t count_cells(const head *head) {
  return (size_t)(head->n_planes * head->n_side * head->n_side);
}

static bool take_arrays(impact_reduction *it) {
  for (int k = 0; k < IMPACT_DIRECTIONS; k++) {
    double direction[2];
    direction_of(k, direction);
    it->directions[0][k] = direction[0];
    it->directions[1][k] = direction[1];
  }
  size_t n = (size_t)it->n_rows, most = (size_t)it->head.most_kept;
  size_t n_support = (size_t)it->head.n_planes * IMPACT_DIRECTIONS;
  it->width = calloc(n, sizeof *it->width);
  it->extents = calloc(2 * n, sizeof *it->extents);
  it->sums = calloc((size_t)it->head.n_sums, sizeof *it->sums);
  it->support = calloc(n_support + 1, sizeof *it->support);
  it->cells = calloc(count_cells(&it->head) + 1, sizeof *it->cells);
  it->kept = calloc(most + 1, sizeof *it->kept);
  it->rows = calloc((most + 1) * n, sizeof *it->rows);
  for (size_t k = 0; it->support != NULL && k < n_support; k++)
    it->support[k] = -INFINITY;
  for (int k = 0; k < 2 * MOST_PLANES; k++) {
    it->on_axis[k / 2][k % 2].from = INFINITY;
    it->on_axis[k / 2][k % 2].to = -INFINITY;
  }
  for (size_t i = 0; it->extents != NULL && i < n; i++) {
    it->extents[2 * i] = INFINITY;
    it->extents[2 * i + 1] = -INFINITY;
  }
  return it->width != NULL && it->extents != NULL && it->sums != NULL &&
         it->support != NULL && it->cells != NULL && it->kept != NULL &&
         it->rows != NULL;
}

void impact_reduction_destroy(impact_reduction *it) {
  if (it == NULL) return;
  free(it->width);
  free(it->extents);
  free(it->sums);
  free(it->support);
  free(it->cells);
  free(it->kept);
  free(it->rows);
  free(it);
}

/* Bound by the energy before the impact: |J v|^2 <= 2 K J M^-1 J'. */
static void choose_widths(impact_reduction *it, const impact_result *result) {
  const contact_space *space = &result->impact->space;
  double twice = 2 * ode_mlcp_impact_kinetic_energy(result->impact,
                                                    result->input->problem.v);
  for (int i = 0; i < it->n_rows; i++) {
    int normal = space->normal_of[i];
    double a = 0; // of two tangents both: the rows are turned
    for (int row = normal; row < normal + space->per_contact; row++)
      if ((row == normal) == (i == normal))
        a += space->A[row * (space->n_rows + 1)];
    it->width[i] = sqrt(twice * a);
  }
}

impact_reduction *impact_reduction_create(const impact_result *result) {
  impact_reduction *it = calloc(1, sizeof *it);
  if (it == NULL) return NULL;
  const ode_mlcp_impact_options *options = &result->options;
  const ode_mlcp_impact_problem *problem = &result->input->problem;
  int64_t m = problem->n_contacts, T = problem->n_tangents, n = m * (1 + T);
  head *head = &it->head;
  memcpy(head->signature, SIGNATURE, sizeof SIGNATURE - 1);
  snprintf(head->name, sizeof head->name, "%s", result->input->name);
  head->fingerprint = result->input->fingerprint;
  head->seed = options->seed;
  head->samples = options->samples;
  head->h = options->h;
  head->tolerance = options->tolerance;
  head->steps = options->steps;
  head->select = options->select;
  head->method = options->method;
  head->caps = options->caps;
  head->n_contacts = m;
  head->n_tangents = T;
  head->n_planes = m * T + m - 1;
  if (head->n_planes > MOST_PLANES) head->n_planes = MOST_PLANES;
  head->n_side = 64;
  while (head->n_planes * head->n_side * head->n_side > CELLS_OF_ALL)
    head->n_side /= 2;
  head->n_sums = n <= MOST_PRODUCT_ROWS ? n + n * (n + 1) / 2 : 2 * n;
  head->most_kept = KEPT_NUMBERS / n < MOST_KEPT ? KEPT_NUMBERS / n : MOST_KEPT;
  it->n_rows = (int)n;
  if (!take_arrays(it)) {
    impact_reduction_destroy(it);
    return NULL;
  }
  choose_widths(it, result);
  return it;
}

/* ---- ranges ------------------------------------------------------------- */

bool impact_reduction_has(const impact_reduction *it, uint64_t sample,
                          uint64_t *end) {
  *end = UINT64_MAX;
  for (uint64_t k = 0; k < it->n_ranges; k++) {
    if (sample < it->ranges[k][0]) {
      *end = it->ranges[k][0];
      return false;
    }
    if (sample < it->ranges[k][1]) {
      *end = it->ranges[k][1];
      return true;
    }
  }
  return false;
}

/* Put a range in that no other overlaps; false: there are too many. */
static bool add_range(impact_reduction *it, uint64_t first, uint64_t end) {
  uint64_t place = 0;
  while (place < it->n_ranges && it->ranges[place][1] < first) place++;
  bool joins_before = place < it->n_ranges && it->ranges[place][1] == first;
  uint64_t next = place + joins_before;
  bool joins_next = next < it->n_ranges && it->ranges[next][0] == end;
  if (joins_before) {
    it->ranges[place][1] = joins_next ? it->ranges[next][1] : end;
    if (!joins_next) return true;
    it->n_ranges--;
    memmove(it->ranges[next], it->ranges[next + 1],
            (size_t)(it->n_ranges - next) * sizeof *it->ranges);
  } else if (joins_next) {
    it->ranges[next][0] = first;
  } else {
    if (it->n_ranges == IMPACT_MOST_RANGES) return false;
    memmove(it->ranges[place + 1], it->ranges[place],
            (size_t)(it->n_ranges - place) * sizeof *it->ranges);
    it->ranges[place][0] = first;
    it->ranges[place][1] = end;
    it->n_ranges++;
  }
  return true;
}

/* ---- outcomes ----------------------------------------------------------- */

static int cell_of(double value, double low, double high, int64_t n) {
  double place = high > low ? (value - low) / (high - low) * (double)n : 0;
  if (!(place > 0)) return 0;
  return place < (double)n ? (int)place : (int)n - 1;
}

/* The cell of a plane's grid that a point is in. */
static size_t cell_in(const impact_reduction *it, int64_t plane, double x,
                      double y) {
  int at[2];
  plane_rows(&it->head, plane, at);
  int64_t side = it->head.n_side;
  bool normals = plane >= it->head.n_contacts * it->head.n_tangents;
  int column = cell_of(x, 0, it->width[at[0]], side);
  int line =
      cell_of(y, normals ? 0 : -it->width[at[1]], it->width[at[1]], side);
  return (size_t)((plane * side + line) * side + column);
}

typedef int64_t four_bits __attribute__((vector_size(32)));

/* Most outcomes rest or stick somewhere and lie on an axis. There products with
 * directions are monotonic, roundings included: between two known outcomes none
 * reaches further than these. */
static bool is_between(impact_reduction *it, int64_t plane, double x,
                       double y) {
  if (x != 0 && y != 0) return false;
  int axis = x != 0 ? 0 : 1;
  double along = axis == 0 ? x : y;
  double *from = &it->on_axis[plane][axis].from;
  double *to = &it->on_axis[plane][axis].to;
  if (along >= *from && along <= *to) return true;
  *from = fmin(*from, along);
  *to = fmax(*to, along);
  return false;
}

static void add_to_planes(impact_reduction *it, const double rows[]) {
  for (int64_t plane = 0; plane < it->head.n_planes; plane++) {
    int at[2];
    plane_rows(&it->head, plane, at);
    double x = rows[at[0]], y = rows[at[1]];
    double *support = &it->support[plane * IMPACT_DIRECTIONS];
    bool is_known = is_between(it, plane, x, y);
    const four xs = {x, x, x, x}, ys = {y, y, y, y}, zero = {0, 0, 0, 0};
    for (int k = 0; k < IMPACT_DIRECTIONS && !is_known; k += 4) {
      four *best = (four *)&support[k];
      four reach = *(const four *)&it->directions[0][k] * xs +
                   *(const four *)&it->directions[1][k] * ys + zero; // no -0
      four_bits further = reach > *best;
      *best =
          (four)((further & (four_bits)reach) | (~further & (four_bits)*best));
    }
    it->cells[cell_in(it, plane, x, y)]++;
  }
}

static void settle(impact_reduction *it) {
  for (int64_t k = 0; k < it->head.n_sums; k++) exact_sum_settle(&it->sums[k]);
  it->unsettled = 0;
}

static void add_to_sums(impact_reduction *it, const double rows[]) {
  int n = it->n_rows;
  exact_sum *next = it->sums + 2 * n;
  bool products = it->head.n_sums > 2 * n;
  for (int i = 0; i < n; i++) {
    if (rows[i] == 0) { // many are
      next += products ? n - 1 - i : 0;
      continue;
    }
    exact_sum_add(&it->sums[i], rows[i]);
    exact_sum_add_product(&it->sums[n + i], rows[i], rows[i]);
    for (int j = i + 1; products && j < n; j++, next++)
      if (rows[j] != 0) exact_sum_add_product(next, rows[i], rows[j]);
  }
  if (++it->unsettled == (uint64_t)1 << 28) settle(it);
}

static bool comes_before(const kept *a, const kept *b) {
  if (a->key != b->key) return a->key < b->key;
  if (a->sample != b->sample) return a->sample < b->sample;
  return a->branch < b->branch;
}

static void keep(impact_reduction *it, const kept *candidate,
                 const double rows[]) {
  uint64_t most = (uint64_t)it->head.most_kept, place = it->n_kept;
  if (place == most && !comes_before(candidate, &it->kept[most - 1])) return;
  while (place > 0 && comes_before(candidate, &it->kept[place - 1])) place--;
  size_t n = (size_t)it->n_rows;
  size_t moved = (size_t)(it->n_kept - place); // there is room for one more
  memmove(&it->kept[place + 1], &it->kept[place], moved * sizeof *it->kept);
  memmove(&it->rows[(place + 1) * n], &it->rows[place * n],
          moved * n * sizeof *it->rows);
  it->kept[place] = *candidate;
  memcpy(&it->rows[place * n], rows, n * sizeof *rows);
  if (it->n_kept < most) it->n_kept++;
}

/* Which outcomes are kept is drawn beside what is sampled. */
static uint64_t key_of(uint64_t seed, uint64_t sample, uint64_t branch) {
  const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  const uint32_t counter[4] = {(uint32_t)sample, (uint32_t)(sample >> 32),
                               (uint32_t)branch, PHILOX_RESERVOIR};
  uint32_t bits[4];
  philox_block(key, counter, bits);
  return (uint64_t)bits[0] << 32 | bits[1];
}

bool impact_reduction_add(impact_reduction *it, const ode_mlcp_impact_set *set,
                          uint64_t first, uint64_t end) {
  if (!add_range(it, first, end)) return false;
  it->counts.samples += set->n_samples;
  it->counts.finished += set->n_finished;
  it->counts.failed += set->n_failed;
  it->counts.lcps += set->n_lcps;
  it->counts.outcomes += set->n_outcomes;
  it->counts.fallbacks += set->n_fallbacks;
  it->counts.solutions += set->n_solutions;
  it->counts.incomplete += set->n_incomplete;
  it->counts.continua += set->n_continua;
  size_t n = (size_t)it->n_rows;
  uint64_t branch = 0;
  double *rows = &it->rows[(size_t)it->head.most_kept * n]; // the spare place
  for (uint64_t k = 0; k < set->n_outcomes; k++) {
    branch = k > 0 && set->sample[k] == set->sample[k - 1] ? branch + 1 : 0;
    for (size_t i = 0; i < n; i++) {
      rows[i] = set->contact_velocities[k * n + i] + 0.0;
      double *extents = &it->extents[2 * i];
      if (rows[i] < extents[0]) extents[0] = rows[i];
      if (rows[i] > extents[1]) extents[1] = rows[i];
    }
    add_to_sums(it, rows);
    add_to_planes(it, rows);
    const kept candidate = {key_of(it->head.seed, set->sample[k], branch),
                            set->sample[k], branch, set->lcps[k]};
    keep(it, &candidate, &set->contact_velocities[k * n]);
  }
  settle(it);
  return true;
}

/* ---- files -------------------------------------------------------------- */

/* A block of the file: where it is in memory and how long, in bytes. */
typedef struct block {
  void *data;
  size_t size;
} block;

enum { BLOCKS = 11 };

static void list_blocks(impact_reduction *it, block blocks[BLOCKS]) {
  size_t n = (size_t)it->n_rows, kept = (size_t)it->n_kept;
  size_t planes = (size_t)it->head.n_planes;
  const block all[BLOCKS] = {
      {&it->head, sizeof it->head},
      {&it->counts, sizeof it->counts},
      {&it->n_ranges, sizeof it->n_ranges},
      {&it->n_kept, sizeof it->n_kept},
      {it->ranges, (size_t)it->n_ranges * sizeof *it->ranges},
      {it->width, n * sizeof *it->width},
      {it->extents, 2 * n * sizeof *it->extents},
      {it->sums, (size_t)it->head.n_sums * sizeof *it->sums},
      {it->support, planes * IMPACT_DIRECTIONS * sizeof *it->support},
      {it->cells, count_cells(&it->head) * sizeof *it->cells},
      {it->kept, kept * sizeof *it->kept},
  };
  memcpy(blocks, all, sizeof all);
}

/* FNV-1a by words of 8 bytes; every block is a multiple of it. */
static uint64_t hash_words(uint64_t hash, const void *data, size_t size) {
  const char *bytes = data;
  for (size_t i = 0; i + 8 <= size; i += 8) {
    uint64_t word;
    memcpy(&word, bytes + i, sizeof word);
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 32;
  }
  return hash;
}

static bool write_all(FILE *out, impact_reduction *it) {
  block blocks[BLOCKS];
  list_blocks(it, blocks);
  uint64_t hash = 0xcbf29ce484222325u;
  bool written = true;
  for (int i = 0; i < BLOCKS; i++) {
    written = written &&
              fwrite(blocks[i].data, 1, blocks[i].size, out) == blocks[i].size;
    hash = hash_words(hash, blocks[i].data, blocks[i].size);
  }
  size_t size = (size_t)it->n_kept * (size_t)it->n_rows * sizeof *it->rows;
  hash = hash_words(hash, it->rows, size);
  return written && fwrite(it->rows, 1, size, out) == size &&
         fwrite(&hash, sizeof hash, 1, out) == 1;
}

bool impact_reduction_write(const impact_reduction *it, const char *path,
                            char message[IMPACT_MESSAGE]) {
  result_file file;
  if (!output_file_is_plain(path)) {
    snprintf(message, IMPACT_MESSAGE, "%.400s: not a plain file", path);
    return false;
  }
  return result_begin(&file, message, IMPACT_MESSAGE, "%s", path) &&
         result_end(&file, write_all(file.out, (impact_reduction *)it), message,
                    IMPACT_MESSAGE);
}

static bool head_is_sound(const head *head) {
  if (memcmp(head->signature, SIGNATURE, sizeof SIGNATURE - 1) != 0 ||
      memchr(head->name, 0, sizeof head->name) == NULL ||
      head->n_contacts < 1 || head->n_contacts > 1000 || head->n_tangents < 1 ||
      head->n_tangents > 2)
    return false;
  int64_t n = head->n_contacts * (1 + head->n_tangents);
  return head->n_planes >= 0 && head->n_planes <= MOST_PLANES &&
         head->n_side >= 1 && head->n_side <= 64 && head->n_sums >= 2 * n &&
         head->n_sums <= n + n * (n + 1) / 2 + 2 * n && head->n_sums <= 6000 &&
         head->select >= 0 && head->select <= 2 && head->most_kept >= 1 &&
         head->most_kept <= MOST_KEPT;
}

static bool read_rest(FILE *in, impact_reduction *it) {
  block blocks[BLOCKS];
  uint64_t hash = 0xcbf29ce484222325u, expected;
  for (int i = 0; i < BLOCKS; i++) {
    list_blocks(it, blocks); // lengths of later blocks are in earlier ones
    if (i > 0 && fread(blocks[i].data, 1, blocks[i].size, in) != blocks[i].size)
      return false;
    if (it->n_ranges > IMPACT_MOST_RANGES ||
        it->n_kept > (uint64_t)it->head.most_kept)
      return false;
    hash = hash_words(hash, blocks[i].data, blocks[i].size);
  }
  size_t size = (size_t)it->n_kept * (size_t)it->n_rows * sizeof *it->rows;
  if (fread(it->rows, 1, size, in) != size ||
      fread(&expected, sizeof expected, 1, in) != 1 || fgetc(in) != EOF)
    return false;
  if (hash_words(hash, it->rows, size) != expected) return false;
  for (uint64_t k = 0; k < it->n_ranges; k++)
    if (it->ranges[k][0] >= it->ranges[k][1] ||
        (k > 0 && it->ranges[k][0] <= it->ranges[k - 1][1]) ||
        it->ranges[k][1] > it->head.samples)
      return false;
  return true;
}

char *impact_reduction_pack(const impact_reduction *it, size_t *size) {
  char *bytes = NULL;
  FILE *out = open_memstream(&bytes, size);
  bool written = out != NULL && write_all(out, (impact_reduction *)it);
  if (out != NULL) written = fclose(out) == 0 && written;
  if (written) return bytes;
  free(bytes);
  return NULL;
}

/* Text read from `in`, which is closed. */
static impact_reduction *read_all(FILE *in, const char *path,
                                  char message[IMPACT_MESSAGE]) {
  if (in == NULL) {
    snprintf(message, IMPACT_MESSAGE, "%.400s: %s", path, strerror(errno));
    return NULL;
  }
  impact_reduction *it = calloc(1, sizeof *it);
  bool room = it != NULL;
  bool whole = room && fread(&it->head, sizeof it->head, 1, in) == 1 &&
               head_is_sound(&it->head);
  if (whole) {
    it->n_rows = (int)(it->head.n_contacts * (1 + it->head.n_tangents));
    room = take_arrays(it);
    whole = room && read_rest(in, it);
  }
  fclose(in);
  if (whole) return it;
  snprintf(message, IMPACT_MESSAGE, "%.400s: %s", path,
           room ? "not a whole file of ode-mlcp impact --reduce" : "no memory");
  impact_reduction_destroy(it);
  return NULL;
}

impact_reduction *impact_reduction_read(const char *path,
                                        char message[IMPACT_MESSAGE]) {
  return read_all(fopen(path, "rb"), path, message);
}

impact_reduction *impact_reduction_unpack(char *bytes, size_t size,
                                          const char *name,
                                          char message[IMPACT_MESSAGE]) {
  return read_all(fmemopen(bytes, size, "rb"), name, message);
}

bool impact_part_path(const char *path, int rank, char part[], size_t size) {
  // a pattern must find what begins with `path`, whatever is in that
  size_t used = 0;
  for (const char *c = path; *c != 0 && used + 32 < size; c++) {
    if (rank < 0 && strchr("*?[\\", *c) != NULL) part[used++] = '\\';
    part[used++] = *c;
  }
  if (rank < 0)
    snprintf(&part[used], size - used, ".rank-[0-9]*");
  else
    snprintf(&part[used], size - used, ".rank-%d", rank);
  return used + 32 < size;
}

/* ---- merging ------------------------------------------------------------ */

bool impact_reduction_matches(const impact_reduction *a, const char *path_a,
                              const impact_reduction *b, const char *path_b,
                              char message[IMPACT_MESSAGE]) {
  const char *what = NULL;
  const head *p = &a->head, *q = &b->head;
  if (p->fingerprint != q->fingerprint || p->n_contacts != q->n_contacts ||
      p->n_tangents != q->n_tangents)
    what = "other collisions";
  else if (p->seed != q->seed)
    what = "other seeds";
  else if (p->samples != q->samples)
    what = "sets of other sizes (--samples)";
  else if (p->h != q->h || p->tolerance != q->tolerance ||
           p->steps != q->steps || p->select != q->select ||
           p->method != q->method || p->caps != q->caps)
    what =
        "other options (--h, --steps, --tolerance, --select, --method or "
        "--caps)";
  else if (memcmp(p, q, sizeof *p) != 0 ||
           memcmp(a->width, b->width, (size_t)a->n_rows * sizeof *a->width) !=
               0)
    what = "other names or versions of a collision";
  if (what == NULL) return true;
  snprintf(message, IMPACT_MESSAGE, "%.180s and %.180s are of %s", path_a,
           path_b, what);
  return false;
}

bool impact_reduction_contains(const impact_reduction *whole,
                               const impact_reduction *part) {
  char ignored[IMPACT_MESSAGE];
  if (!impact_reduction_matches(whole, "", part, "", ignored)) return false;
  for (uint64_t k = 0; k < part->n_ranges; k++) {
    uint64_t end;
    if (!impact_reduction_has(whole, part->ranges[k][0], &end) ||
        end < part->ranges[k][1])
      return false;
  }
  return true;
}

bool impact_reduction_merge(impact_reduction *into, const char *into_path,
                            const impact_reduction *other,
                            const char *other_path,
                            char message[IMPACT_MESSAGE]) {
  if (!impact_reduction_matches(into, into_path, other, other_path, message))
    return false;
  for (uint64_t k = 0; k < other->n_ranges; k++) {
    uint64_t first = other->ranges[k][0], last = other->ranges[k][1], end;
    bool there = impact_reduction_has(into, first, &end);
    if (there || end < last) {
      uint64_t at = there ? first : end;
      snprintf(message, IMPACT_MESSAGE,
               "%.180s: sample %" PRIu64 " is also in %.180s", other_path, at,
               into_path);
      return false;
    }
    if (!add_range(into, first, last)) {
      snprintf(message, IMPACT_MESSAGE, "%.180s: more than %d ranges apart",
               other_path, IMPACT_MOST_RANGES);
      return false;
    }
  }
  const uint64_t *from = (const uint64_t *)&other->counts;
  uint64_t *to = (uint64_t *)&into->counts;
  for (size_t i = 0; i < sizeof into->counts / sizeof *to; i++)
    to[i] += from[i];
  for (int i = 0; i < into->n_rows; i++) {
    double *extents = &into->extents[2 * i];
    extents[0] = fmin(extents[0], other->extents[2 * i]);
    extents[1] = fmax(extents[1], other->extents[2 * i + 1]);
  }
  for (int64_t k = 0; k < into->head.n_sums; k++)
    exact_sum_join(&into->sums[k], &other->sums[k]);
  size_t n_support = (size_t)into->head.n_planes * IMPACT_DIRECTIONS;
  for (size_t k = 0; k < n_support; k++)
    into->support[k] = fmax(into->support[k], other->support[k]);
  for (size_t k = 0; k < count_cells(&into->head); k++)
    into->cells[k] += other->cells[k];
  for (uint64_t k = 0; k < other->n_kept; k++)
    keep(into, &other->kept[k], &other->rows[k * (uint64_t)other->n_rows]);
  return true;
}

/* ---- reports ------------------------------------------------------------ */

/* ---- for pictures --------------------------------------------------------- */

bool impact_reduction_plane(const impact_reduction *it, int plane,
                            int rows[2]) {
  if (plane >= it->head.n_planes) return false;
  plane_rows(&it->head, plane, rows);
  return true;
}

uint64_t impact_reduction_density(const impact_reduction *it, int plane,
                                  const double at[2], const double half[2]) {
  const double *support = &it->support[(size_t)plane * IMPACT_DIRECTIONS];
  for (int k = 0; k < IMPACT_DIRECTIONS; k++) {
    double x = it->directions[0][k], y = it->directions[1][k];
    double least =
        x * at[0] + y * at[1] - fabs(x) * half[0] - fabs(y) * half[1];
    if (least > support[k]) return 0;
  }
  return it->cells[cell_in(it, plane, at[0], at[1])];
}

const double *impact_reduction_extents(const impact_reduction *it) {
  return it->counts.outcomes > 0 ? it->extents : NULL;
}

const double *impact_reduction_kept(const impact_reduction *it,
                                    uint64_t *n_kept) {
  *n_kept = it->n_kept;
  return it->rows;
}

void impact_reduction_numbers(const impact_reduction *it, uint64_t *n_samples,
                              uint64_t *n_outcomes) {
  *n_samples = it->counts.samples;
  *n_outcomes = it->counts.outcomes;
}

bool impact_reduction_falls_short(const impact_reduction *it) {
  const counts *counts = &it->counts;
  return impact_falls_short(
      (int)it->head.caps, counts->samples - counts->finished, counts->samples);
}

/* Mean and standard deviation of a row. */
static void moments(const impact_reduction *it, int row, double *mean,
                    double *deviation) {
  double n = (double)it->counts.outcomes;
  *mean = exact_sum_round(&it->sums[row]) / n;
  double square = exact_sum_round(&it->sums[it->n_rows + row]) / n;
  *deviation = sqrt(fmax(square - *mean * *mean, 0));
}

static void row_name(const impact_reduction *it, int row, char name[24]) {
  const ode_mlcp_impact_problem shape = {
      .n_contacts = (int)it->head.n_contacts,
      .n_tangents = (int)it->head.n_tangents};
  impact_row_name(&shape, row, name);
}

static void put_planes(json *out, const impact_reduction *it) {
  json_open(out, "planes", '{');
  size_t per_plane = (size_t)(it->head.n_side * it->head.n_side);
  for (int64_t plane = 0; plane < it->head.n_planes; plane++) {
    int at[2];
    char names[2][24], both[48];
    plane_rows(&it->head, plane, at);
    for (int i = 0; i < 2; i++) row_name(it, at[i], names[i]);
    snprintf(both, sizeof both, "%s,%s", names[0], names[1]);
    size_t occupied = 0;
    for (size_t k = 0; k < per_plane; k++)
      occupied += it->cells[(size_t)plane * per_plane + k] > 0;
    json_open(out, both, '{');
    json_put_size(out, "cells", per_plane);
    json_put_size(out, "occupied", occupied);
    json_open(out, "support", '[');
    for (int k = 0; k < IMPACT_DIRECTIONS; k++) {
      double line[3];
      direction_of(k, line);
      line[2] = it->support[plane * IMPACT_DIRECTIONS + k];
      json_put_numbers(out, NULL, line, 3);
    }
    json_close(out);
    json_close(out);
  }
  json_close(out);
}

static void put_rows(json *out, const impact_reduction *it) {
  json_open(out, "rows", '{');
  for (int i = 0; i < it->n_rows && it->counts.outcomes > 0; i++) {
    char name[24];
    double mean, deviation;
    row_name(it, i, name);
    moments(it, i, &mean, &deviation);
    json_open(out, name, '{');
    json_put(out, "lowest", it->extents[2 * i]);
    json_put(out, "highest", it->extents[2 * i + 1]);
    json_put(out, "mean", mean);
    json_put(out, "deviation", deviation);
    json_close(out);
  }
  json_close(out);
}

void impact_reduction_print_json(FILE *file, const impact_reduction *it) {
  const counts *counts = &it->counts;
  json out = {.out = file};
  json_open(&out, NULL, '{');
  json_put_string(&out, "example", it->head.name);
  json_put_size(&out, "samples", counts->samples);
  json_put_size(&out, "of", it->head.samples);
  json_put_size(&out, "finished", counts->finished);
  json_put_size(&out, "unfinished", counts->samples - counts->finished);
  json_put_size(&out, "failed", counts->failed);
  json_put_size(&out, "outcomes", counts->outcomes);
  json_put_size(&out, "lcps", counts->lcps);
  json_put_size(&out, "solutions", counts->solutions);
  json_put_size(&out, "incomplete_lcps", counts->incomplete);
  json_put_size(&out, "continuum_lcps", counts->continua);
  json_put_size(&out, "fallbacks", counts->fallbacks);
  json_open(&out, "ranges", '[');
  for (uint64_t k = 0; k < it->n_ranges; k++) {
    double ends[2] = {(double)it->ranges[k][0], (double)it->ranges[k][1]};
    json_put_numbers(&out, NULL, ends, 2);
  }
  json_close(&out);
  put_rows(&out, it);
  put_planes(&out, it);
  json_put_size(&out, "seed", it->head.seed);
  json_put(&out, "h", it->head.h);
  json_put_count(&out, "steps", it->head.steps);
  json_put(&out, "tolerance", it->head.tolerance);
  json_put_string(&out, "select", impact_select_words[it->head.select]);
  json_put_size(&out, "kept", it->n_kept);
  json_close(&out);
}

void impact_reduction_print_text(FILE *out, const impact_reduction *it) {
  const counts *counts = &it->counts;
  fprintf(out,
          "%s: %" PRIu64 " of %" PRIu64 " samples in %" PRIu64
          " range(s), finished %" PRIu64 ", outcomes %" PRIu64 ", LCPs %" PRIu64
          "\n",
          it->head.name, counts->samples, it->head.samples, it->n_ranges,
          counts->finished, counts->outcomes, counts->lcps);
  if (counts->outcomes == 0) return;
  fputs(
      "contact velocities after the impact, m/s\n"
      "          lowest       mean    highest  deviation\n",
      out);
  for (int i = 0; i < it->n_rows; i++) {
    char name[24];
    double mean, deviation;
    row_name(it, i, name);
    moments(it, i, &mean, &deviation);
    fprintf(out, "  %-5s %10.6f %10.6f %10.6f %10.6f\n", name,
            number_of_six_digits(it->extents[2 * i]),
            number_of_six_digits(mean),
            number_of_six_digits(it->extents[2 * i + 1]), deviation);
  }
}
