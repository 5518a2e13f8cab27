#include "command/impact_sketch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/number.h"

/* ---- the examples' ------------------------------------------------------- */

/* Lengths and angles as in impacts/examples.c, m. */
static const struct {
  const char *name, *lines;
} examples[] = {
    {"rocking-block",
     "ground -0.95 0 0.95 0\n"
     "body -0.5 0 0.5 0 0.5 2 -0.5 2\n"
     "velocity 0 1.25 0 -0.5\n"
     "contact A -0.5 0 0 1\n"
     "contact B 0.5 0 0 1\n"},
    {"compass-gait",
     "ground -1.15 0 1.15 0\n"
     "link -0.978148 0 0 0.207912 0.978148 0\n"
     "mass -0.489074 0.103956\n"
     "mass 0.489074 0.103956\n"
     "velocity 0 0.207912 -0.06 -0.28\n"
     "contact A -0.978148 0 0 1\n"
     "contact B 0.978148 0 0 1\n"},
    {"box-wall",
     "ground -0.85 -0.579228 0.579228 -0.579228 0.579228 0.8\n"
     "body 0.40558 -0.579228 0.579228 0.40558 -0.40558 0.579228 "
     "-0.579228 -0.40558\n"
     "velocity -0.2 0 0.4 0\n"
     "contact A 0.40558 -0.579228 0 1\n"
     "contact B 0.579228 0.40558 -1 0\n"},
    {"ramone",
     "ground -0.45 0 0.4 0\n"
     "link -0.037948 0.543758 0.037948 0.279075\n"
     "link 0.037948 0.279075 -0.123855 0.161518 -0.32158 0.02815\n"
     "link 0.037948 0.279075 0.237461 0.265123 0.210518 0.02815\n"
     "mass 0 0.411416\n"
     "disk -0.32158 0.02815 0.02815\n"
     "disk 0.210518 0.02815 0.02815\n"
     "velocity 0 0.411416 -0.12 -0.061\n"
     "contact A -0.32158 0 0 1\n"
     "contact B 0.210518 0 0 1\n"},
    {"disk-stack",
     "ground -1.3 0 3.3 0\n"
     "disk 0 1 1\n"
     "disk 2 1 1\n"
     "disk 1 2.732051 1\n"
     "velocity 1 3.1 0 -0.7\n"
     "contact A 0 0 0 1\n"
     "contact B 2 0 0 1\n"
     "contact C 0.5 1.866025 -0.5 -0.866025\n"
     "contact D 1.5 1.866025 0.5 -0.866025\n"
     "contact E 1 1 1 0\n"},
};

/* ---- lines --------------------------------------------------------------- */

static const struct {
  const char *word;
  int least, most; /* numbers */
} kinds[] = {
    [SKETCH_GROUND] = {"ground", 4, SKETCH_NUMBERS},
    [SKETCH_BODY] = {"body", 6, SKETCH_NUMBERS},
    [SKETCH_LINK] = {"link", 4, SKETCH_NUMBERS},
    [SKETCH_DISK] = {"disk", 3, 3},
    [SKETCH_MASS] = {"mass", 2, 2},
    [SKETCH_CONTACT] = {"contact", 4, 4},
    [SKETCH_VELOCITY] = {"velocity", 4, 4},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int find_kind(const char *word) {
  for (int k = 0; k < KINDS; k++)
    if (strcmp(word, kinds[k].word) == 0) return k;
  return -1;
}

static bool is_contact(const ode_mlcp_impact_problem *problem,
                       const char *name) {
  for (int i = 0; i < problem->n_contacts; i++) {
    char row[24];
    impact_row_name(problem, i * (1 + problem->n_tangents), row);
    if (strcmp(row + 2, name) == 0) return true;
  }
  return false;
}

/* One line into a shape. False with what is wrong with it; *empty where it says
 * nothing. */
static bool take_line(char *line, const ode_mlcp_impact_problem *problem,
                      sketch_shape *shape, bool *empty, char *why,
                      size_t why_size) {
  static const char blanks[] = " \t\r\n";
  line[strcspn(line, "#")] = 0;
  char *rest, *word = strtok_r(line, blanks, &rest);
  *empty = word == NULL;
  if (*empty) return true;
  int kind = find_kind(word);
  if (kind < 0) {
    snprintf(why, why_size,
             "'%.40s' is none of ground, body, link, disk, mass, contact, "
             "velocity",
             word);
    return false;
  }
  memset(shape, 0, sizeof *shape);
  shape->kind = (sketch_kind)kind;
  if (kind == SKETCH_CONTACT) {
    word = strtok_r(NULL, blanks, &rest);
    if (word == NULL || !is_contact(problem, word)) {
      snprintf(why, why_size, "there is no contact '%.40s'",
               word != NULL ? word : "");
      return false;
    }
    snprintf(shape->name, sizeof shape->name, "%s", word);
  }
  while ((word = strtok_r(NULL, blanks, &rest)) != NULL) {
    double number;
    if (shape->n == kinds[kind].most || !number_parse(word, &number) ||
        !isfinite(number)) {
      snprintf(why, why_size,
               shape->n == kinds[kind].most ? "'%.40s' is a number too many"
                                            : "'%.40s' is no number",
               word);
      return false;
    }
    shape->at[shape->n++] = number;
  }
  bool in_pairs = kind == SKETCH_DISK || shape->n % 2 == 0;
  if (shape->n >= kinds[kind].least && in_pairs) return true;
  snprintf(why, why_size, "%d numbers behind %s, expected are %s%d", shape->n,
           kinds[kind].word, kinds[kind].most > 4 ? "pairs, at least " : "",
           kinds[kind].least);
  return false;
}

/* ---- what it takes up ---------------------------------------------------- */

static void reach(impact_sketch *it, double x, double y, double r) {
  const double at[2] = {x, y};
  for (int i = 0; i < 2; i++) {
    it->low[i] = fmin(it->low[i], at[i] - r);
    it->high[i] = fmax(it->high[i], at[i] + r);
  }
}

static void measure(impact_sketch *it) {
  for (int i = 0; i < 2; i++) {
    it->low[i] = INFINITY;
    it->high[i] = -INFINITY;
  }
  for (int k = 0; k < it->n_shapes; k++) {
    const sketch_shape *shape = &it->shapes[k];
    const double *at = shape->at;
    switch (shape->kind) {
      case SKETCH_DISK: reach(it, at[0], at[1], fabs(at[2])); break;
      case SKETCH_CONTACT: reach(it, at[0], at[1], 0); break;
      case SKETCH_VELOCITY: reach(it, at[0] + at[2], at[1] + at[3], 0); break;
      default:
        for (int i = 0; i + 1 < shape->n; i += 2)
          reach(it, at[i], at[i + 1], 0);
    }
  }
}

/* ---- opening ------------------------------------------------------------- */

static const char *lines_of_example(const char *name) {
  for (size_t k = 0; k < sizeof examples / sizeof examples[0]; k++)
    if (strcmp(name, examples[k].name) == 0) return examples[k].lines;
  return NULL;
}

static bool read_lines(impact_sketch *it, FILE *in, const char *path,
                       const ode_mlcp_impact_problem *problem,
                       char message[IMPACT_MESSAGE]) {
  char *line = NULL, why[200];
  size_t room = 0;
  bool good = true;
  for (int number = 1; good && getline(&line, &room, in) >= 0; number++) {
    bool empty;
    if (it->n_shapes == SKETCH_SHAPES) {
      snprintf(why, sizeof why, "more than %d shapes", SKETCH_SHAPES);
      good = false;
    } else {
      good = take_line(line, problem, &it->shapes[it->n_shapes], &empty, why,
                       sizeof why);
      if (good && !empty) it->n_shapes++;
    }
    if (!good)
      snprintf(message, IMPACT_MESSAGE, "%.250s:%d: %s", path, number, why);
  }
  if (good && !feof(in)) {
    snprintf(message, IMPACT_MESSAGE, "%.250s: %s", path, strerror(errno));
    good = false;
  }
  free(line);
  return good;
}

bool impact_sketch_open(impact_sketch *sketch, const impact_input *input,
                        char message[IMPACT_MESSAGE]) {
  memset(sketch, 0, sizeof *sketch);
  const char *lines = lines_of_example(input->name);
  char path[300] = "";
  FILE *in;
  if (lines != NULL) {
    in = fmemopen((void *)lines, strlen(lines), "r");
  } else {
    snprintf(path, sizeof path, "%s/sketch.txt", input->name);
    in = fopen(path, "r");
    if (in == NULL && errno == ENOENT) return true;
  }
  sketch->shapes = calloc(SKETCH_SHAPES, sizeof *sketch->shapes);
  bool good = in != NULL && sketch->shapes != NULL;
  if (!good)
    snprintf(message, IMPACT_MESSAGE, "%s: %s", path, strerror(errno));
  else
    good = read_lines(sketch, in, path, &input->problem, message);
  if (in != NULL) fclose(in);
  measure(sketch);
  if (good && sketch->n_shapes > 0 &&
      !(sketch->high[0] > sketch->low[0] || sketch->high[1] > sketch->low[1])) {
    snprintf(message, IMPACT_MESSAGE, "%s: all shapes are one point", path);
    good = false;
  }
  if (!good) impact_sketch_close(sketch);
  return good;
}

void impact_sketch_close(impact_sketch *sketch) {
  free(sketch->shapes);
  memset(sketch, 0, sizeof *sketch);
}
