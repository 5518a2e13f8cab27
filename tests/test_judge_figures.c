/* The figures of a comparison, of recordings that are made up here: each expectation is
 * a sum done by hand. */
#include <math.h>
#include <string.h>

#include "judge/judge.h"
#include "testing.h"

/* Sizes (m) and steps (s) that are tried. */
static const struct {
  double size, h;
} cases[] = {{1, 0.01}, {0.02, 0.001}, {40, 0.02}};
enum { N_CASES = sizeof cases / sizeof cases[0], STEPS = 10, BODIES = 2 };

typedef struct made_frame {
  recording_frame frame;
  recording_pose poses[BODIES];
} made_frame;

typedef struct made_shape {
  recording_shape shape;
  float vertices[2][3];
} made_shape;

/* A recording of two bodies, a step and a frame each. */
typedef struct made {
  recording_head head;
  recording_step step[STEPS];
  made_frame frame[STEPS];
  made_shape shape[3];
  recording recording;
  const recording_step *steps[STEPS], *shown_steps[STEPS];
  const recording_frame *all_frames[STEPS], *frames[STEPS];
  const recording_shape *shapes[3];
} made;

enum { RUNS = 3 };
static made told[RUNS][COMPARE_LEVELS], once_more;
static comparison c;

static bool near(double value, double expected) {
  return fabs(value - expected) <= 1e-9 * fabs(expected);
}

static void make(made *m, int k) {
  memset(m, 0, sizeof *m);
  m->head.worlds = 1;
  m->head.steps = STEPS;
  for (int i = 0; i < STEPS; i++) {
    m->step[i].world = m->frame[i].frame.world = 1;
    m->step[i].number = m->frame[i].frame.number = i + 1;
    m->step[i].time = m->frame[i].frame.time = (i + 1) * cases[k].h;
    m->step[i].step_size = cases[k].h;
    m->frame[i].frame.n_bodies = BODIES;
    for (int b = 0; b < BODIES; b++)
      m->frame[i].poses[b].body = (uint32_t)b + 1;
    m->steps[i] = &m->step[i];
    m->all_frames[i] = &m->frame[i].frame;
  }
  // the median of three, of which the largest is the ground's and counts not
  static const uint32_t bodies[] = {1, 2, 0};
  for (int i = 0; i < 3; i++) {
    m->shape[i].shape.kind = RECORDING_SPHERE;
    m->shape[i].shape.body = bodies[i];
    m->shape[i].shape.sizes[0] = (float)(cases[k].size * (i == 2 ? 50 : 0.5));
    m->shapes[i] = &m->shape[i].shape;
  }
  m->recording = (recording){.head = &m->head,
                             .steps = m->steps,
                             .n_steps = STEPS,
                             .all_frames = m->all_frames,
                             .n_all_frames = STEPS,
                             .frames = m->frames,
                             .shown_steps = m->shown_steps,
                             .shapes = m->shapes,
                             .n_shapes = 3};
  recording_show(&m->recording, 1);
}

/* Runs of these names, each with a recording that agrees with all others. */
static void begin(int k, int n, const char *const names[], int refine) {
  memset(&c, 0, sizeof c);
  strcpy(c.program, "/bin/program");
  c.n_runs = n;
  c.refine = refine;
  c.repeated = -1;
  for (int i = 0; i < n; i++) {
    strcpy(c.runs[i].name, names[i]);
    for (int level = 0; level < (refine > 0 ? COMPARE_LEVELS : 1); level++) {
      make(&told[i][level], k);
      c.runs[i].levels[level] = &told[i][level].recording;
    }
  }
}

/* Take the bodies 3 and 4 times `a` away: 4 a at most, sqrt(25 / 2) a in the mean. */
static void move(made *m, int from, double a) {
  for (int i = from; i < STEPS; i++) {
    m->frame[i].poses[0].position[0] += 3 * a;
    m->frame[i].poses[1].position[1] -= 4 * a;
  }
}
static double mean(double a) { return sqrt(12.5) * fabs(a); }

/* Of three runs the one that is apart from the others at the end has strayed, by its
 * bodies that are a body's size away. */
static void test_strayed(void) {
  static const char *const names[] = {"step", "quick", "ah"};
  for (int k = 0; k < N_CASES; k++)
    for (int which = 0; which < 3; which++) {
      begin(k, 3, names, 0);
      move(&told[which][0], 2, 0.3 * cases[k].size); // 0.9 and 1.2 of a size
      compare_judge(&c, NULL);
      for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(c.runs[i].figures.strayed, i == which);
    }
}

static void test_distances(void) {
  for (int k = 0; k < N_CASES; k++) {
    static const char *const names[] = {"step", "quick"};
    begin(k, 2, names, 0);
    made *one = &told[0][0], *other = &told[1][0];
    double a = 0.01 * cases[k].size;
    move(other, 4, a);
    const recording_frame *here = one->frames[5], *there = other->frames[5];
    CU_ASSERT(near(frame_distance(here, there, true), 4 * a));
    CU_ASSERT(near(frame_distance(here, there, false), mean(a)));
    CU_ASSERT_EQUAL(frame_distance(one->frames[3], other->frames[3], true), 0);

    // the second body is not there: the first one's is all
    other->frame[5].frame.n_bodies = 1;
    CU_ASSERT(near(frame_distance(here, there, true), 3 * a));
    CU_ASSERT(near(frame_distance(here, there, false), 3 * a));
    other->frame[5].frame.n_bodies = 0;
    CU_ASSERT_EQUAL(frame_distance(here, there, false), 0);
    other->frame[5].frame.n_bodies = BODIES;
    other->frame[5].poses[0].position[2] = NAN;
    CU_ASSERT(isnan(frame_distance(here, there, true)));
    CU_ASSERT(isnan(frame_distance(here, there, false)));

    // what is no number has parted: in the sixth step
    CU_ASSERT_EQUAL(compare_parting(&one->recording, &other->recording, 5 * a),
                    6 * cases[k].h);
  }
}

static void test_sums_of_steps(void) {
  static const char *const names[] = {"ah"};
  // a tenth of them is larger than the ninth; in an order that is none
  static const int order[STEPS] = {7, 1, 10, 4, 9, 2, 6, 3, 8, 5};
  for (int k = 0; k < N_CASES; k++) {
    double u = cases[k].size;
    begin(k, 1, names, 0);
    made *m = &told[0][0];
    for (int i = 0; i < STEPS; i++) {
      recording_step *step = &m->step[i];
      int n = order[i];
      step->contact_error = n * u;
      step->cone_violation = 2 * n * u;
      step->friction_error = 3 * n * u;
      step->crept = 4 * n * u;
      step->penetration = 5 * n * u;
      step->joint_error = 6 * n * u;
      step->energy_unexplained = -7 * n * u;
      step->momentum_unexplained = 8 * n * u;
      step->contact_work = 9 * n * u;
      step->fastest = 11 * n * u;
      step->seconds = n * 1e-3 * u;
      step->processor = 2 * n * 1e-3 * u;
      step->step_size = 15e-3 * u; // 8, 9 and 10 are late
      step->contacts = 3 * (uint32_t)n;
      step->bodies = 5 * (uint32_t)n;
    }
    compare_judge(&c, NULL);
    const compare_figures *f = &c.runs[0].figures;
    CU_ASSERT(near(f->contact_error_worst, 10 * u));
    CU_ASSERT(near(f->contact_error_p90, 9 * u));
    CU_ASSERT(near(f->cone_violation_worst, 20 * u));
    CU_ASSERT(near(f->friction_error_worst, 30 * u));
    CU_ASSERT(near(f->friction_error_p90, 27 * u));
    CU_ASSERT(near(f->crept, 40 * u));
    CU_ASSERT(near(f->penetration_worst, 50 * u));
    CU_ASSERT(near(f->penetration_p90, 45 * u));
    CU_ASSERT(near(f->joint_error_worst, 60 * u));
    CU_ASSERT(near(f->energy_drift, 70 * u));
    CU_ASSERT(near(f->momentum_drift, 80 * u));
    // what stands at the end is the last step's, 5
    CU_ASSERT(near(f->contact_work, 45 * u));
    CU_ASSERT(near(f->ms_step_median, 5 * u));
    CU_ASSERT(near(f->ms_step_p99, 10 * u));
    CU_ASSERT(near(f->ms_step_worst, 10 * u));
    CU_ASSERT(near(f->ms_processor, 11 * u));
    CU_ASSERT(near(f->unrest, 55 * u)); // one step is the last tenth
    CU_ASSERT_EQUAL(f->late, 3);
    CU_ASSERT_EQUAL(f->most_contacts, 30);
    CU_ASSERT_EQUAL(f->most_bodies, 50);
    CU_ASSERT_EQUAL(f->steps, STEPS);

    // without a contact there is no law of contact, but joints
    for (int i = 0; i < STEPS; i++) m->step[i].contacts = 0;
    compare_judge(&c, NULL);
    CU_ASSERT(isnan(f->contact_error_worst) && isnan(f->contact_error_p90));
    CU_ASSERT(isnan(f->cone_violation_worst) && isnan(f->penetration_worst));
    CU_ASSERT(isnan(f->friction_error_worst) && isnan(f->friction_error_p90));
    CU_ASSERT(isnan(f->contact_work));
    CU_ASSERT(near(f->joint_error_worst, 60 * u));
    CU_ASSERT(near(f->energy_drift, 70 * u));
  }
}

static void test_counts_of_the_run(void) {
  static const char *const names[] = {"ah"};
  begin(0, 1, names, 0);
  recording_head *head = &told[0][0].head;
  head->messages = 1;
  head->failed = 2;
  head->degraded = 3;
  head->unsolved = 4;
  head->not_finite = 9;
  head->time = 11;
  head->worlds = 12;
  compare_judge(&c, NULL);
  const compare_figures *f = &c.runs[0].figures;
  CU_ASSERT_EQUAL(f->messages, 1);
  CU_ASSERT_EQUAL(f->failed_steps, 2);
  CU_ASSERT_EQUAL(f->degraded, 3);
  CU_ASSERT_EQUAL(f->unsolved, 4);
  CU_ASSERT_EQUAL(f->not_finite, 9);
  CU_ASSERT_EQUAL(f->seconds, 11);
  CU_ASSERT_EQUAL(c.worlds, 12);
}

/* Errors C h^p: neighbours are C h^p (1 - R^-p) apart, and the order is p. */
static void refine(int run, double error, double order) {
  for (int level = 0; level < COMPARE_LEVELS; level++)
    move(&told[run][level], 0, error / pow(c.refine, level * order));
}

static void test_reference_and_order(void) {
  static const char *const names[] = {"step", "ah", "st"};
  for (int k = 0; k < N_CASES; k++)
    for (int R = 2; R <= 4; R++) {
      double e = 1e-3 * cases[k].size;
      begin(k, 3, names, R);
      refine(0, 0.1 * e, 1); // changes least, but is a stepper of the host
      refine(1, e, 1);
      refine(2, -2 * e,
             2); // from R to R^2 that is less than of `ah` from R = 3
      compare_judge(&c, NULL);
      double change_ah = (1.0 / R) * (1 - 1.0 / R);
      double change_st = 2 / pow(R, 2) * (1 - 1 / pow(R, 2));
      int reference = change_st < change_ah ? 2 : 1;
      CU_ASSERT_EQUAL(c.reference, reference);
      double at = reference == 1 ? e / (R * R) : -2 * e / pow(R, 4);
      CU_ASSERT_EQUAL(c.chaos, INFINITY);
      CU_ASSERT(near(c.runs[0].figures.reference_error, mean(0.1 * e - at)));
      CU_ASSERT(near(c.runs[1].figures.reference_error, mean(e - at)));
      CU_ASSERT(near(c.runs[2].figures.reference_error, mean(-2 * e - at)));
      CU_ASSERT(fabs(c.runs[0].figures.order - 1) < 1e-6);
      CU_ASSERT(fabs(c.runs[1].figures.order - 1) < 1e-6);
      CU_ASSERT(fabs(c.runs[2].figures.order - 2) < 1e-6);
      CU_ASSERT_EQUAL(c.size, (float)cases[k].size); // shapes are in float
    }
}

/* From where two refined runs of the reference are a tenth of a body apart, nothing is
 * measured. */
static void test_chaos_ends_the_reference(void) {
  static const char *const names[] = {"quick", "ah"};
  for (int k = 0; k < N_CASES; k++) {
    double u = cases[k].size;
    begin(k, 2, names, 2);
    move(&told[1][1], 6, 0.03 * u); // 0.12 u at most: from the seventh step on
    move(&told[0][0], 0, 0.01 * u);
    move(&told[0][0], 6, u);
    move(&told[0][1], 6, 1e-4 * u);
    compare_judge(&c, NULL);
    CU_ASSERT(near(c.chaos, 7 * cases[k].h));
    CU_ASSERT_EQUAL(c.reference, 1);
    CU_ASSERT(near(c.runs[0].figures.reference_error, mean(0.01 * u)));
    CU_ASSERT_EQUAL(c.runs[1].figures.reference_error, 0);
    CU_ASSERT(isnan(c.runs[1].figures.order)); // equal runs have none
  }
}

static void test_parting_and_repetition(void) {
  static const char *const names[] = {"ah", "quick"};
  for (int k = 0; k < N_CASES; k++) {
    double u = cases[k].size;
    begin(k, 2, names, 0);
    move(&told[1][0], 3, 0.03 * u);
    make(&once_more, k);
    move(&once_more, 8, 1e-15 * u);
    c.repeated = 0;
    compare_judge(&c, &once_more.recording);
    CU_ASSERT_EQUAL(c.reference, -1);
    CU_ASSERT(isnan(c.runs[1].figures.reference_error));
    CU_ASSERT_EQUAL(c.runs[0].figures.parted, INFINITY);
    CU_ASSERT(near(c.runs[1].figures.parted, 4 * cases[k].h));
    CU_ASSERT(near(c.differs, 9 * cases[k].h));
    compare_judge(&c, NULL);
    CU_ASSERT(isnan(c.differs));
  }
}

/* The median of what two bodies extend, the smaller of them. */
static void test_sizes_of_shapes(void) {
  static const char *const names[] = {"ah"};
  static const struct {
    uint32_t kind;
    float sizes[3];
    double extent;
  } shapes[] = {
      {RECORDING_SPHERE, {3}, 6},      {RECORDING_BOX, {1, 2, 7}, 7},
      {RECORDING_BOX, {8, 2, 7}, 8},   {RECORDING_BOX, {1, 9, 7}, 9},
      {RECORDING_CAPSULE, {2, 5}, 9},  {RECORDING_CYLINDER, {2, 5}, 5},
      {RECORDING_CYLINDER, {4, 5}, 8},
  };
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    begin(2, 1, names, 0);
    recording_shape *shape = &told[0][0].shape[0].shape;
    shape->kind = shapes[i].kind;
    memcpy(shape->sizes, shapes[i].sizes, sizeof shapes[i].sizes);
    compare_judge(&c, NULL);
    CU_ASSERT(near(c.size, shapes[i].extent));
  }
  // of a mesh twice the furthest coordinate
  begin(2, 1, names, 0);
  made_shape *mesh = &told[0][0].shape[0];
  mesh->shape.kind = RECORDING_MESH;
  mesh->shape.n_vertices = 2;
  mesh->vertices[0][1] = 2;
  mesh->vertices[1][2] = -3;
  compare_judge(&c, NULL);
  CU_ASSERT(near(c.size, 6));
}

int main(void) {
  static CU_TestInfo tests[] = {
      {"distances of frames", test_distances},
      {"sums of steps", test_sums_of_steps},
      {"counts of a run", test_counts_of_the_run},
      {"the reference, and orders", test_reference_and_order},
      {"chaos ends the reference", test_chaos_ends_the_reference},
      {"when runs part, and repetitions", test_parting_and_repetition},
      {"sizes of shapes", test_sizes_of_shapes},
      {"bodies that have strayed", test_strayed},
      CU_TEST_INFO_NULL};
  return run_tests("judge: the figures", tests);
}
