#include "impacts/contact_degree.h"

#include <math.h>
#include <string.h>

#include "common/six.h"

/* More modes than this are not looked through for those of index -1; and more of
 * these are not asked at every step. */
#define MOST_MODES 20000
#define MOST_NEGATIVE 4096

/* Pivots below and above which a system is singular and regular beyond doubt. */
#define SURELY_SINGULAR 1e-12
#define SURELY_REGULAR 1e-6

/* In parts of the velocity scale: conditions within this of 0 are a border. Modes that
 * share a border may be of scales that differ by the ratio to IMPACT_FEASIBILITY. */
#define BORDER 1e-7

/* Conditions whose largest factor, by sizes of inputs and in parts of the velocity
 * scale, is below this are not summed up; and what a sum of the others is below, each
 * with its largest factor as 1, where one of them fails beyond the border. */
#define SMALL_CONDITION 0.05
#define SURELY_BELOW (4 * BORDER / SMALL_CONDITION)

/* Sizes of inputs in a cell: from this, or a part of the least met, to so many times
 * the largest met, or that. */
#define LEAST_INPUT 3e-4
#define PART_OF_LEAST 0.25
#define ROOM 1.5
#define LARGEST_CAP 1.0
/* Steps with larger ones are not looked at. */
#define LARGE_INPUT 100

/* Factors below this are rounding. */
#define FLAT 1e-11

/* What numbers of 24 bits lose of a condition whose largest term is 1 and which is
 * added to others; and when their sum is halved. */
#define GATE_ROUNDING 1e-4

enum {
  PLACES = 8192,     /* for cells, */
  MOST_CELLS = 4096, /* of which so many are taken */
  /* times that a cell is asked before it is made, and a part of all modes': it costs
     as much as hundreds of steps where these are many */
  ASKED_BEFORE = 16,
  ASKED_MODES = 32,
  LANES = 8, /* modes side by side */
  GATES = 3,
  MOST_JOINED = 16,
  MOST_MADE = 8, /* times */
  ENOUGH_JOINED = 500,
  MOST_OUTSIDE = 32,   /* inputs, before a cell is made anew */
  MOST_FOUND = 64,     /* modes that hold */
  MOST_POINTS = 8,     /* corners of a continuum */
  MOST_NEXT = 256,     /* modes next to one */
  MOST_INPUTS = 32,    /* a bit each */
  MOST_KEPT = 1 << 14, /* modes of index 1 */
  GREEDY_STEPS = 40,
  MOST_STEPS = 200,
  MOST_ROWS = 128
};

/* The impulse that changes nothing that a singular mode says. */
struct contact_degree_line {
  bool is_fit;
  double push[32], speed[32]; /* and what it does to velocities */
};

/* Modes, LANES side by side, with what each is asked for before its conditions: gates,
 * sums of conditions, >= 0 unless the mode fails. The first learns, the others are one
 * condition each. */
typedef struct list {
  int n_modes, n_room;
  int *places; /* [n_modes] */
  int *joined; /* [n_modes] conditions that have joined its first gate */
  int *hits;   /* [n_modes] times that it was found to hold */
  /* [n_modes x GATES] the condition that a gate is; for the first, the gate that
     learns next */
  signed char *asked;
  float *gates; /* blocks of GATES x (n_terms + 1) x LANES */
} list;

struct contact_degree_cell {
  uint32_t zero, down; /* known by: inputs that are 0, and below; and */
  bool at_start;       /* whether velocities are those before the impact */
  bool is_ready;
  int n_asked, n_outside, n_made;
  double least[MOST_INPUTS], most[MOST_INPUTS]; /* sizes met */
  int n_terms;
  int terms[MOST_INPUTS]; /* inputs that vary, */
  double begins[MOST_INPUTS],
      ends[MOST_INPUTS];     /* sizes at least and most; those of */
  double fixed[MOST_INPUTS]; /* [n_inputs] others, with sign */
  list negative, positive;
};

typedef struct contact_degree_question question;

/* Conditions of a mode as functions of the sizes of a cell's inputs, each with its
 * largest factor as 1, and room up to the ends of these; and a dictionary of simplex
 * steps, all variables >= 0. The last column is the constant. */
struct contact_degree_question {
  int n_conditions, n, width;
  double rows[MOST_ROWS * (MOST_INPUTS + 1)], T[MOST_ROWS * (MOST_INPUTS + 1)];
  int basic[MOST_ROWS], nonbasic[MOST_INPUTS]; /* sizes, then rows */
};

typedef float eight __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t eight_bits
    __attribute__((vector_size(32), aligned(4), may_alias));

bool contact_degree_suits(const contact_space *space) {
  int count = contact_modes_count(space, true);
  return count > 0 && count <= MOST_MODES && space->n_rows <= 32 &&
         space->n_rows + space->n_contacts <= MOST_INPUTS &&
         !contact_space_is_endless(space);
}

static int most_conditions(const contact_space *space) {
  return (2 + 2 * space->n_tangents) * space->n_contacts;
}

bool contact_degree_open(contact_degree *it, const contact_space *space,
                         double usual_cap, const memory_source *source) {
  size_t n = (size_t)space->n_rows;
  size_t n_inputs = n + (size_t)space->n_contacts;
  memset(it, 0, sizeof *it);
  it->space = space;
  it->source = source;
  it->usual_cap = usual_cap;
  it->n_inputs = (int)n_inputs;
  it->n_all = contact_modes_count(space, true);
  it->arena.source = source;
  arena_start(&it->arena);
  size_t most = (size_t)most_conditions(space);
  bool ready =
      ARENA_TAKE(&it->arena, it->index, it->n_all) &&
      ARENA_TAKE(&it->arena, it->place, it->n_all) &&
      ARENA_TAKE(&it->arena, it->numbers, it->n_all) &&
      ARENA_TAKE(&it->arena, it->n_conditions, it->n_all) &&
      ARENA_TAKE(&it->arena, it->survivors, it->n_all + LANES) &&
      ARENA_TAKE(&it->arena, it->cells, PLACES) &&
      ARENA_TAKE(&it->arena, it->usual, n_inputs) &&
      ARENA_TAKE(&it->arena, it->scratch, contact_mode_scratch(space)) &&
      ARENA_TAKE(&it->arena, it->impulses, n * n_inputs) &&
      ARENA_TAKE(&it->arena, it->conditions, most * n_inputs) &&
      ARENA_TAKE(&it->arena, it->contacts, space->n_contacts) &&
      ARENA_TAKE(&it->arena, it->values, n_inputs + 1) &&
      ARENA_TAKE(&it->arena, it->question, 1) &&
      contact_modes_begin(&it->modes, space, source);
  if (!ready) {
    contact_degree_close(it);
    return false;
  }
  memset(it->cells, 0, PLACES * sizeof(contact_degree_cell *));
  for (size_t j = 0; j < n_inputs; j++)
    it->usual[j] = j < n ? space->scale : usual_cap;
  for (int i = 0; i < space->n_contacts; i++) it->contacts[i] = i;
  return true;
}

void contact_degree_close(contact_degree *it) {
  if (it->source == NULL) return;
  contact_modes_release(&it->modes, it->source);
  memory_block_release(&it->line_block, it->source);
  arena_release(&it->arena);
  memset(it, 0, sizeof *it);
}

/* ---- modes ----------------------------------------------------------------- */

/* The place of a mode that is not singular; -1: no memory. */
static int add_mode(contact_degree *it, int number) {
  uint32_t zero_rows;
  int count = contact_mode_work_out(
      it->space, it->contacts, it->space->n_contacts, number, true, it->scratch,
      it->impulses, it->conditions, &zero_rows);
  if (count < 0 ||
      !contact_modes_add(&it->modes, it->space, it->impulses, it->conditions,
                         count, zero_rows, it->source))
    return -1;
  int place = it->modes.n_modes - 1;
  it->numbers[place] = number;
  it->n_conditions[place] = count;
  it->place[number] = place;
  return place;
}

static int place_of(contact_degree *it, int number) {
  if (it->place[number] >= 0) return it->place[number];
  if (it->modes.n_modes - it->n_negative >= MOST_KEPT) return -1;
  return add_mode(it, number);
}

/* NULL: it has more than one such impulse, or no memory. */
static const contact_degree_line *line_of(contact_degree *it, int number) {
  if (it->place[number] < 0) {
    size_t count = (size_t)it->n_lines + 1;
    contact_degree_line *lines =
        memory_block_grow(&it->line_block, it->source, count, sizeof *lines);
    if (lines == NULL) return NULL;
    it->lines = lines;
    contact_degree_line *line = &lines[it->n_lines];
    contact_mode_kind kind =
        contact_mode_kind_of(it->space, number, it->scratch, line->push);
    line->is_fit = kind.n_free == 1;
    int n = it->space->n_rows;
    for (int i = 0; i < n && line->is_fit; i++) {
      line->speed[i] = 0;
      for (int j = 0; j < n; j++)
        line->speed[i] += it->space->A[i * n + j] * line->push[j];
    }
    it->place[number] = it->n_lines++;
  }
  const contact_degree_line *line = &it->lines[it->place[number]];
  return line->is_fit ? line : NULL;
}

/* Find the indices. False: a system may be singular or not, or too many are -1. */
static bool make_ready(contact_degree *it) {
  size_t n_negative = 0;
  for (int number = 0; number < it->n_all; number++) {
    contact_mode_kind kind =
        contact_mode_kind_of(it->space, number, it->scratch, NULL);
    if (kind.index == 0 ? kind.certain > SURELY_SINGULAR
                        : kind.certain < SURELY_REGULAR)
      return false;
    it->index[number] = (signed char)kind.index;
    it->place[number] = -1;
    n_negative += kind.index < 0;
  }
  if (n_negative > MOST_NEGATIVE ||
      !contact_modes_reserve(&it->modes, n_negative, it->source))
    return false;
  for (int number = 0; number < it->n_all; number++)
    if (it->index[number] < 0 && add_mode(it, number) < 0) return false;
  it->n_negative = (int)n_negative;
  return true;
}

/* ---- conditions ------------------------------------------------------------ */

/* A step's inputs that are not 0: in a cell most of them are. */
typedef struct step_inputs {
  int count;
  int input[MOST_INPUTS];
  double value[MOST_INPUTS];
} step_inputs;

static void take_inputs(const contact_degree *it, const double y[],
                        step_inputs *inputs) {
  inputs->count = 0;
  for (int j = 0; j < it->n_inputs; j++) {
    inputs->input[inputs->count] = j;
    inputs->value[inputs->count] = y[j];
    inputs->count += y[j] != 0;
  }
}

/* The least of a mode's conditions, but not less than what is needed to be below
 * `enough`; *which is it. */
KERNEL double least_of(const contact_degree *it, int place,
                       const step_inputs *inputs, double enough, int *which) {
  int n_blocks = it->modes.n_blocks, n = it->n_inputs;
  int count = it->n_conditions[place];
  const double *f =
      &it->modes.conditions[(size_t)place * (size_t)(n_blocks * n * 4)];
  double least = INFINITY;
  for (int first = 0; first < count; first += 4, f += 4 * n) {
    four sum = {0, 0, 0, 0};
    for (int k = 0; k < inputs->count; k++)
      sum += *(const four *)(f + 4 * inputs->input[k]) * inputs->value[k];
    for (int k = 0; k < 4 && first + k < count; k++) {
      if (!(sum[k] < least)) continue;
      least = sum[k];
      *which = first + k;
    }
    if (least < enough) break;
  }
  return least;
}

static double factor_of(const contact_degree *it, int place, int condition,
                        int input) {
  int n = it->n_inputs, block = condition / 4, lane = condition % 4;
  size_t size = (size_t)(it->modes.n_blocks * n * 4);
  return it->modes.conditions[(size_t)place * size +
                              (size_t)((block * n + input) * 4 + lane)];
}

/* ---- cells ----------------------------------------------------------------- */

static size_t block_size(const contact_degree_cell *cell) {
  return (size_t)(GATES * (cell->n_terms + 1) * LANES);
}

static float *gate_of(const contact_degree_cell *cell, const list *list, int k,
                      int gate) {
  return &list->gates[(size_t)(k / LANES) * block_size(cell) +
                      (size_t)(gate * (cell->n_terms + 1) * LANES + k % LANES)];
}

/* A condition as a function of a cell's inputs by their sizes: factors of its terms,
 * then the constant. Returns the largest. */
static double write_factors(const contact_degree *it,
                            const contact_degree_cell *cell, int place,
                            int condition, double factors[]) {
  double largest = 0, constant = 0;
  for (int k = 0; k < cell->n_terms; k++) {
    int input = cell->terms[k];
    factors[k] = factor_of(it, place, condition, input) * it->usual[input];
    largest = larger(largest, fabs(factors[k]) * cell->ends[k]);
  }
  for (int input = 0; input < it->n_inputs; input++)
    if (cell->fixed[input] != 0)
      constant += factor_of(it, place, condition, input) * cell->fixed[input];
  factors[cell->n_terms] = constant;
  return larger(largest, fabs(constant));
}

/* Let a condition join a gate, with its largest term as 1; `part` of what the gate
 * was stays. Its constant has room for rounding and the border. */
static void add_to_gate(const contact_degree *it,
                        const contact_degree_cell *cell, float *gate, int place,
                        int condition, float part) {
  double factors[MOST_INPUTS + 1], border = BORDER * it->space->scale;
  double largest = write_factors(it, cell, place, condition, factors);
  if (largest <= border) return;
  factors[cell->n_terms] += GATE_ROUNDING * largest + 1.001 * border;
  for (int k = 0; k <= cell->n_terms; k++, gate += LANES)
    *gate = part * *gate + (float)(factors[k] / largest);
}

/* Mode k of a list has passed its gates but failed a condition. It joins the first
 * gate: where one sum of conditions fails for all that comes to a cell, one that does
 * is found so (Rosenblatt's perceptron). And it takes the place of another gate. */
static void learn_failure(const contact_degree *it,
                          const contact_degree_cell *cell, const list *list,
                          int k, int condition) {
  int place = list->places[k];
  signed char *asked = &list->asked[k * GATES];
  float *sum = gate_of(cell, list, k, 0);
  // halved now and then, exactly, so that its rounding stays small
  int joined = list->joined[k]++;
  if (joined > ENOUGH_JOINED) return;
  float part = joined % MOST_JOINED == 0 && joined > 0 ? 0.5f : 1;
  add_to_gate(it, cell, sum, place, condition, part);
  for (int gate = 1; gate < GATES; gate++)
    if (asked[gate] == condition) return;
  int gate = (int)asked[0];
  asked[0] = (signed char)(gate + 1 < GATES ? gate + 1 : 1);
  asked[gate] = (signed char)condition;
  add_to_gate(it, cell, gate_of(cell, list, k, gate), place, condition, 0);
}

/* Twice the room. */
static bool enlarge(contact_degree *it, const contact_degree_cell *cell,
                    list *of) {
  list old = *of;
  int room = old.n_room > 0 ? 2 * old.n_room : LANES;
  size_t n = (size_t)old.n_modes, size = block_size(cell);
  if (!ARENA_TAKE(&it->arena, of->places, room) ||
      !ARENA_TAKE(&it->arena, of->joined, room) ||
      !ARENA_TAKE(&it->arena, of->hits, room) ||
      !ARENA_TAKE(&it->arena, of->asked, room * GATES) ||
      !ARENA_TAKE(&it->arena, of->gates, (size_t)(room / LANES) * size))
    return false;
  of->n_room = room;
  if (n == 0) return true;
  memcpy(of->places, old.places, n * sizeof *old.places);
  memcpy(of->joined, old.joined, n * sizeof *old.joined);
  memcpy(of->hits, old.hits, n * sizeof *old.hits);
  memcpy(of->asked, old.asked, n * GATES * sizeof *old.asked);
  memcpy(of->gates, old.gates, n / LANES * size * sizeof *old.gates);
  return true;
}

static bool add_to_list(contact_degree *it, const contact_degree_cell *cell,
                        list *list, int place) {
  int k = list->n_modes;
  if (k == list->n_room && !enlarge(it, cell, list)) return false;
  size_t constant = (size_t)(cell->n_terms * LANES);
  if (k % LANES == 0) {
    // lanes without a mode fail
    size_t size = block_size(cell);
    float *last = &list->gates[(size_t)(k / LANES) * size];
    memset(last, 0, size * sizeof *last);
    for (int lane = 0; lane < LANES; lane++) last[constant + (size_t)lane] = -1;
  }
  list->places[k] = place;
  list->joined[k] = list->hits[k] = 0;
  list->asked[k * GATES] = 1;
  for (int gate = 1; gate < GATES; gate++) list->asked[k * GATES + gate] = -1;
  list->n_modes++;
  gate_of(cell, list, k, 0)[constant] = 0;
  return true;
}

static void swap(int *a, int *b) {
  int kept = *a;
  *a = *b;
  *b = kept;
}

/* Mode k of a list holds. What holds often comes forward, since a step asks only
 * until it has them all. */
static void bring_forward(const contact_degree_cell *cell, const list *list,
                          int k) {
  int other = k / 2;
  if (++list->hits[k] <= list->hits[other] || other == k) return;
  swap(&list->places[k], &list->places[other]);
  swap(&list->joined[k], &list->joined[other]);
  swap(&list->hits[k], &list->hits[other]);
  for (int gate = 0; gate < GATES; gate++) {
    signed char *a = &list->asked[k * GATES + gate],
                *b = &list->asked[other * GATES + gate], kept = *a;
    *a = *b;
    *b = kept;
    float *from = gate_of(cell, list, k, gate),
          *to = gate_of(cell, list, other, gate);
    for (int term = 0; term <= cell->n_terms; term++) {
      float factor = from[term * LANES];
      from[term * LANES] = to[term * LANES];
      to[term * LANES] = factor;
    }
  }
}

static void exchange(question *q, int row, int column) {
  double *pivot_row = &q->T[row * q->width], inverse = 1 / pivot_row[column];
  for (int k = 0; k < q->width; k++) pivot_row[k] *= -inverse;
  pivot_row[column] = inverse;
  for (int i = 0; i < q->n; i++) {
    double *other = &q->T[i * q->width], factor = other[column];
    if (i == row || factor == 0) continue;
    for (int k = 0; k < q->width; k++) other[k] += factor * pivot_row[k];
    other[column] = factor * inverse;
  }
  int leaving = q->basic[row];
  q->basic[row] = q->nonbasic[column];
  q->nonbasic[column] = leaving;
}

/* Of a variable that cannot be >= 0: the sum of rows that says so. Does it show that a
 * condition fails beyond the border for all inputs of the cell? */
static bool sum_fails(const question *q, int row) {
  int n_terms = q->width - 1;
  const double *T = &q->T[row * q->width];
  double parts[MOST_ROWS] = {0}, total = 0;
  if (q->basic[row] >= n_terms) parts[q->basic[row] - n_terms] = 1;
  for (int k = 0; k < n_terms; k++)
    if (q->nonbasic[k] >= n_terms)
      parts[q->nonbasic[k] - n_terms] = larger(0, -T[k]);
  for (int i = 0; i < q->n; i++) total += parts[i];
  for (int j = 0; j < q->width; j++) {
    double sum = 0;
    for (int i = 0; i < q->n; i++) sum += parts[i] * q->rows[i * q->width + j];
    if (sum > (j < n_terms ? FLAT : -SURELY_BELOW) * total) return false;
  }
  return true;
}

/* Do a mode's conditions exclude each other for all inputs of the cell? */
static bool never_holds(const contact_degree *it,
                        const contact_degree_cell *cell, int place,
                        question *q) {
  int n_terms = cell->n_terms, width = n_terms + 1;
  q->n = 0;
  q->width = width;
  for (int i = 0; i < it->n_conditions[place]; i++) {
    double *row = &q->rows[q->n * width], most = 0;
    double largest = write_factors(it, cell, place, i, row);
    if (largest < SMALL_CONDITION * it->space->scale) continue;
    for (int k = 0; k < n_terms; k++) {
      if ((cell->down >> cell->terms[k] & 1) != 0) row[k] = -row[k];
      // what sizes are more than the least
      row[n_terms] += row[k] * cell->begins[k];
    }
    for (int k = 0; k < width; k++) {
      row[k] /= largest;
      if (fabs(row[k]) < FLAT) row[k] = 0;
      most += larger(0, row[k]) * (k < n_terms ? cell->ends[k] : 0);
    }
    if (most + row[n_terms] < -SURELY_BELOW) return true;
    q->n++;
  }
  for (int k = 0; k < n_terms; k++, q->n++) {
    double *row = &q->rows[q->n * width];
    memset(row, 0, (size_t)width * sizeof *row);
    row[k] = -1;
    row[n_terms] = cell->ends[k] - cell->begins[k];
  }
  memcpy(q->T, q->rows, (size_t)(q->n * width) * sizeof *q->T);
  for (int i = 0; i < q->n; i++) q->basic[i] = n_terms + i;
  for (int k = 0; k < n_terms; k++) q->nonbasic[k] = k;
  for (int step = 0; step < MOST_STEPS; step++) {
    // the largest is quick, the lowest number cannot cycle
    bool careful = step > GREEDY_STEPS;
    int row = -1, column = -1;
    double worst = -SURELY_BELOW, best = FLAT;
    for (int i = 0; i < q->n; i++) {
      double value = q->T[(i + 1) * width - 1];
      if (value >= (careful ? -SURELY_BELOW : worst) ||
          (careful && row >= 0 && q->basic[i] > q->basic[row]))
        continue;
      worst = value;
      row = i;
    }
    if (row < 0) return false;
    for (int k = 0; k < n_terms; k++) {
      double slope = q->T[row * width + k];
      if (slope <= (careful ? FLAT : best) ||
          (careful && column >= 0 && q->nonbasic[k] > q->nonbasic[column]))
        continue;
      best = slope;
      column = k;
    }
    if (column < 0) return sum_fails(q, row);
    exchange(q, row, column);
  }
  return false;
}

/* How far inputs may go in a cell, and the modes of index -1 that may hold there. */
static bool make_cell(contact_degree *it, contact_degree_cell *cell) {
  int n = it->space->n_rows;
  const double *start = it->space->start;
  cell->n_terms = 0;
  memset(&cell->negative, 0, sizeof cell->negative);
  memset(&cell->positive, 0, sizeof cell->positive);
  cell->n_made++;
  for (int j = 0; j < it->n_inputs; j++) {
    cell->fixed[j] = cell->at_start && j < n ? start[j] : 0;
    if (cell->most[j] == 0 || cell->fixed[j] != 0) continue;
    cell->begins[cell->n_terms] = cell->least[j];
    cell->ends[cell->n_terms] = j >= n && cell->most[j] <= LARGEST_CAP
                                    ? LARGEST_CAP
                                    : ROOM * cell->most[j];
    cell->terms[cell->n_terms++] = j;
  }
  for (int place = 0; place < it->n_negative; place++)
    if (!never_holds(it, cell, place, it->question) &&
        !add_to_list(it, cell, &cell->negative, place))
      return false;
  cell->is_ready = true;
  cell->n_outside = 0;
  return true;
}

/* NULL: inputs are large, there are too many cells, or memory runs out. */
static contact_degree_cell *cell_of(contact_degree *it, const double y[]) {
  uint32_t zero = 0, down = 0;
  bool at_start = true;
  for (int j = 0; j < it->n_inputs; j++) {
    zero |= (uint32_t)(y[j] == 0) << j;
    down |= (uint32_t)(y[j] < 0) << j;
    if (!(fabs(y[j]) <= LARGE_INPUT * it->usual[j])) return NULL;
  }
  for (int j = 0; j < it->space->n_rows && at_start; j++)
    at_start = y[j] == it->space->start[j];
  uint32_t hash = (zero * 0x9E3779B9u ^ down) * 0x85EBCA6Bu >> 19;
  for (;; hash++) {
    contact_degree_cell *cell = it->cells[hash % PLACES];
    if (cell == NULL) break;
    if (cell->zero == zero && cell->down == down && cell->at_start == at_start)
      return cell;
  }
  // a cap of 0 or below is none
  contact_degree_cell *cell;
  if (it->n_cells == MOST_CELLS || (zero | down) >> it->space->n_rows != 0 ||
      !ARENA_TAKE(&it->arena, cell, 1))
    return NULL;
  memset(cell, 0, sizeof *cell);
  cell->zero = zero;
  cell->down = down;
  cell->at_start = at_start;
  for (int j = 0; j < it->n_inputs; j++) cell->least[j] = LEAST_INPUT;
  it->cells[hash % PLACES] = cell;
  it->n_cells++;
  return cell;
}

/* What a cell has met before it is made, or made anew. False: no memory. */
static bool prepare_cell(contact_degree *it, contact_degree_cell *cell,
                         const double y[]) {
  for (int j = 0; j < it->n_inputs; j++) {
    double size = fabs(y[j]) / it->usual[j];
    cell->most[j] = larger(cell->most[j], size);
    cell->least[j] = smaller(cell->least[j], PART_OF_LEAST * size);
  }
  if (cell->is_ready) {
    cell->is_ready =
        ++cell->n_outside < MOST_OUTSIDE || cell->n_made == MOST_MADE;
    return true;
  }
  return ++cell->n_asked < ASKED_BEFORE + it->n_all / ASKED_MODES ||
         make_cell(it, cell);
}

/* ---- next to a solution ------------------------------------------------------ */

/* The numbers of the modes whose borders a solution is within or on; -1: many. */
static int modes_at(const contact_space *space, const double caps[],
                    const double lambda[], const double speed[],
                    int numbers[MOST_NEXT]) {
  int one = contact_modes_of_one(space, true), count = 1;
  numbers[0] = 0;
  for (int i = 0; i < space->n_contacts; i++) {
    int digits[19];
    int n_digits = contact_modes_of_contact(space, i, caps[i], lambda, speed,
                                            BORDER * space->scale, digits);
    if (n_digits == 0 || count * n_digits > MOST_NEXT) return -1;
    for (int k = n_digits - 1; k >= 0; k--)
      for (int j = 0; j < count; j++)
        numbers[k * count + j] = numbers[j] * one + digits[k];
    count *= n_digits;
  }
  return count;
}

/* Where a solution that goes along a line ends, by the bounds of impulses and the
 * signs of speeds: how far either way. */
typedef struct span {
  double from, to;
} span;

static void hold_positive(span *span, double value, double change) {
  if (fabs(change) < 1e-12) return;
  double at = -value / change;
  if (change > 0)
    span->from = larger(span->from, at);
  else
    span->to = smaller(span->to, at);
}

static span span_of(const contact_space *space, int number, const double caps[],
                    const double lambda[], const double speed[],
                    const contact_degree_line *line) {
  int T = space->n_tangents, slips = T == 1 ? 3 : 9, one = 1 + 2 * slips;
  span span = {-INFINITY, INFINITY};
  for (int i = space->n_contacts - 1; i >= 0; i--, number /= one) {
    int digit = number % one, normal = i * space->per_contact;
    const double *own = &lambda[normal], *w = &speed[normal];
    const double *push = &line->push[normal], *moves = &line->speed[normal];
    double weight = space->weight[normal], bound = space->bound[i];
    if (digit == 0) {
      hold_positive(&span, w[0], moves[0]);
      continue;
    }
    if (digit > slips) {
      hold_positive(&span, -w[0], -moves[0]);
    } else {
      hold_positive(&span, weight * own[0], weight * push[0]);
      hold_positive(&span, weight * (caps[i] - own[0]), -weight * push[0]);
    }
    for (int t = 1, slip = (digit - 1) % slips; t <= T; t++, slip /= 3) {
      double unit = space->weight[normal + t];
      if (slip % 3 == 0) {
        for (int side = -1; side <= 1; side += 2)
          hold_positive(&span, unit * (bound * own[0] + side * own[t]),
                        unit * (bound * push[0] + side * push[t]));
      } else {
        int side = slip % 3 == 1 ? 1 : -1;
        hold_positive(&span, side * w[t], side * moves[t]);
      }
    }
  }
  return span;
}

/* Solutions that hang together, as they are met. */
typedef struct cluster {
  int n_points;
  double lambda[MOST_POINTS][32], speed[MOST_POINTS][32];
  int n_seen;
  int seen[4 * MOST_NEXT];
} cluster;

static bool add_point(const contact_space *space, cluster *cluster,
                      const double lambda[], const double speed[]) {
  int n = space->n_rows;
  for (int k = 0; k < cluster->n_points; k++) {
    double worst = 0;
    for (int i = 0; i < n; i++)
      worst = larger(
          worst, space->weight[i] * fabs(cluster->lambda[k][i] - lambda[i]));
    if (worst <= BORDER * space->scale) return true;
  }
  if (cluster->n_points == MOST_POINTS) return false;
  memcpy(cluster->lambda[cluster->n_points], lambda,
         (size_t)n * sizeof(double));
  memcpy(cluster->speed[cluster->n_points], speed, (size_t)n * sizeof(double));
  cluster->n_points++;
  return true;
}

/* Follow a singular mode's solutions from a point to their ends. */
static bool add_ends(contact_degree *it, cluster *cluster, int number,
                     const double caps[], int point) {
  const contact_space *space = it->space;
  const contact_degree_line *line = line_of(it, number);
  if (line == NULL) return false;
  span span = span_of(space, number, caps, cluster->lambda[point],
                      cluster->speed[point], line);
  double ends[2] = {span.from, span.to};
  // at the end of a span rounding may put it to the wrong side
  if (span.from > span.to) return true;
  for (int end = 0; end < 2; end++) {
    if (fabs(ends[end]) == INFINITY) return false;
    double lambda[32], speed[32];
    for (int i = 0; i < space->n_rows; i++) {
      lambda[i] = cluster->lambda[point][i] + ends[end] * line->push[i];
      speed[i] = cluster->speed[point][i] + ends[end] * line->speed[i];
    }
    if (!add_point(space, cluster, lambda, speed)) return false;
  }
  return true;
}

static bool is_seen(cluster *cluster, int number) {
  for (int k = 0; k < cluster->n_seen; k++)
    if (cluster->seen[k] == number) return true;
  cluster->seen[cluster->n_seen++] = number;
  return false;
}

/* All modes that hold with a solution and what hangs together with it, their places;
 * -1: it cannot say. */
static int find_around(contact_degree *it, const double y[],
                       const step_inputs *inputs, const double lambda[],
                       const double speed[], int found[MOST_FOUND]) {
  const contact_space *space = it->space;
  const double *caps = &y[space->n_rows];
  double tolerance = IMPACT_FEASIBILITY * space->scale;
  cluster cluster = {.n_points = 0};
  int n_found = 0;
  add_point(space, &cluster, lambda, speed);
  for (int point = 0; point < cluster.n_points; point++) {
    int numbers[MOST_NEXT];
    int count = modes_at(space, caps, cluster.lambda[point],
                         cluster.speed[point], numbers);
    if (count < 0 || cluster.n_seen + count > 4 * MOST_NEXT) return -1;
    for (int k = 0; k < count; k++) {
      int number = numbers[k], index = (int)it->index[number], which;
      if (index == 0 && !add_ends(it, &cluster, number, caps, point)) return -1;
      if (index <= 0 || is_seen(&cluster, number)) continue;
      int place = place_of(it, number);
      if (place < 0) return -1;
      if (least_of(it, place, inputs, -tolerance, &which) < -tolerance)
        continue;
      if (n_found == MOST_FOUND) return -1;
      found[n_found++] = place;
    }
  }
  return n_found;
}

/* ---- a step ------------------------------------------------------------------ */

/* Which of LANES modes pass their gates, a bit each. */
KERNEL unsigned sift(const float *factors, int n_terms, const float values[]) {
  unsigned open = 255;
  const eight_bits each = {1, 2, 4, 8, 16, 32, 64, 128};
  for (int gate = 0; gate < GATES && open != 0; gate++) {
    eight sum = *(const eight *)factors * values[0];
    factors += LANES;
    for (int k = 1; k <= n_terms; k++, factors += LANES)
      sum += *(const eight *)factors * values[k];
    eight_bits bits = (sum >= 0) & each;
    bits |= __builtin_shufflevector(bits, bits, 4, 5, 6, 7, 0, 1, 2, 3);
    bits |= __builtin_shufflevector(bits, bits, 2, 3, 0, 1, 6, 7, 4, 5);
    open &= (unsigned)(bits[0] | bits[1]);
  }
  return open;
}

/* A step's inputs as lists want them. False: they go beyond the cell's. */
static bool write_values(const contact_degree *it,
                         const contact_degree_cell *cell, const double y[]) {
  bool inside = true;
  for (int k = 0; k < cell->n_terms; k++) {
    double value = y[cell->terms[k]] / it->usual[cell->terms[k]];
    inside &= fabs(value) >= cell->begins[k] && fabs(value) <= cell->ends[k];
    it->values[k] = (float)value;
  }
  it->values[cell->n_terms] = 1;
  return inside;
}

/* The modes of index -1 that hold; -1: it cannot say. */
KERNEL int find_negative(const contact_degree *it,
                         const contact_degree_cell *cell,
                         const step_inputs *inputs, int found[MOST_FOUND]) {
  double border = BORDER * it->space->scale;
  int n_found = 0, which = 0;
  const list *list = &cell->negative;
  for (int first = 0; first < list->n_modes; first += LANES) {
    unsigned open =
        sift(gate_of(cell, list, first, 0), cell->n_terms, it->values);
    for (; open != 0; open &= open - 1) {
      int k = first + __builtin_ctz(open), place = list->places[k];
      double least = least_of(it, place, inputs, -border, &which);
      if (least < -border) {
        learn_failure(it, cell, list, k, which);
        continue;
      }
      if (least < border || n_found == MOST_FOUND / 2) return -1;
      found[n_found++] = place;
    }
  }
  return n_found;
}

/* The places of all modes that hold; -1: it cannot say. */
KERNEL int find(contact_degree *it, const contact_degree_cell *cell,
                const double y[], int found[MOST_FOUND]) {
  double border = BORDER * it->space->scale;
  double tolerance = IMPACT_FEASIBILITY * it->space->scale;
  step_inputs inputs;
  take_inputs(it, y, &inputs);
  int n_found = find_negative(it, cell, &inputs, found), which = 0;
  if (n_found < 0) return -1;
  int wanted = n_found + 1;
  bool alone = n_found == 0;
  const list *list = &cell->positive;
  for (int first = 0; first < list->n_modes; first += LANES) {
    unsigned open =
        sift(gate_of(cell, list, first, 0), cell->n_terms, it->values);
    for (; open != 0; open &= open - 1) {
      int k = first + __builtin_ctz(open), place = list->places[k];
      double least = least_of(it, place, &inputs, -border, &which);
      if (least < -border) learn_failure(it, cell, list, k, which);
      if (least < -tolerance) continue;
      if (least < border) {
        double lambda[32], speed[32];
        if (!alone) return -1;
        bring_forward(cell, list, k);
        contact_modes_apply(&it->modes, it->space, &place, 1, y, 1, lambda,
                            speed);
        return find_around(it, y, &inputs, lambda, speed, found);
      }
      found[n_found++] = place;
      bring_forward(cell, list, k);
      if (--wanted == 0) return n_found;
    }
  }
  return -1;
}

WIDE static int find_wide(contact_degree *it, contact_degree_cell *cell,
                          const double y[], int found[MOST_FOUND]) {
  return find(it, cell, y, found);
}

static void sort_by_number(const contact_degree *it, int n_found, int found[]) {
  for (int k = 1; k < n_found; k++) {
    int place = found[k], at = k;
    for (; at > 0 && it->numbers[found[at - 1]] > it->numbers[place]; at--)
      found[at] = found[at - 1];
    found[at] = place;
  }
}

int contact_degree_solve(contact_degree *it, const double y[], int most,
                         double lambdas[], double reached[]) {
  if (it->is_unfit) return -1;
  if (!it->is_ready) {
    // worth its price when there are many steps
    if (++it->n_asked <= it->n_all / 2) return -1;
    it->is_ready = make_ready(it);
    it->is_unfit = !it->is_ready;
    return -1;
  }
  contact_degree_cell *cell = cell_of(it, y);
  if (cell == NULL) return -1;
  if (!cell->is_ready || !write_values(it, cell, y)) {
    it->is_unfit = !prepare_cell(it, cell, y);
    return -1;
  }
  int found[MOST_FOUND];
  int n_found =
      six_is_wide() ? find_wide(it, cell, y, found) : find(it, cell, y, found);
  if (n_found < 0) return -1;
  sort_by_number(it, n_found, found);
  return contact_modes_apply(&it->modes, it->space, found, n_found, y, most,
                             lambdas, reached);
}

void contact_degree_learn(contact_degree *it, const double y[], int n_solutions,
                          const double lambdas[], const double reached[]) {
  const contact_space *space = it->space;
  int n = space->n_rows;
  contact_degree_cell *cell =
      it->is_ready && !it->is_unfit ? cell_of(it, y) : NULL;
  if (cell == NULL || !cell->is_ready) return;
  double border = BORDER * space->scale;
  step_inputs inputs;
  take_inputs(it, y, &inputs);
  for (int k = 0; k < n_solutions; k++) {
    int numbers[MOST_NEXT];
    int count =
        modes_at(space, &y[n], &lambdas[k * n], &reached[k * n], numbers);
    for (int j = 0; j < count; j++) {
      int which,
          place = it->index[numbers[j]] > 0 ? place_of(it, numbers[j]) : -1;
      if (place < 0 || least_of(it, place, &inputs, -border, &which) < -border)
        continue;
      bool known = false;
      for (int i = 0; i < cell->positive.n_modes && !known; i++)
        known = cell->positive.places[i] == place;
      if (!known && !add_to_list(it, cell, &cell->positive, place))
        it->is_unfit = true;
    }
  }
}
