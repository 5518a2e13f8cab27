/* The table of settings: what is allowed, by text and by struct; texts that give
 * the same settings again. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comma_locale.h"
#include "common/text.h"
#include "host_rounding.h"
#include "scheme_scene.h"
#include "settings/settings.h"
#include "step_testing.h"

/* --- what is allowed ------------------------------------------------------ */

/* For every setting, words that are allowed and words that are not. */
static const struct {
  const char *name, *good[7], *bad[9];
} words[] = {
    {"scheme",
     {"ap", "ah", "gap", "trapezoid-1", "trapezoid", "st", "conserving"},
     {"", "AH", "trapezoid-2", "1", "ah "}},
    {"edges",
     {"4", "6", "64"},
     {"", "2", "5", "66", "4x", " 4", "4.0", "-4", "99999999999999999999"}},
    {"erp",
     {"host", "0", "0.2", "1"},
     {"", "-1", "-0.1", "1.1", "nan", "inf", "hosts", "0,5", "0.5 "}},
    {"max-correction",
     {"1e-300", "0.5", "2", "inf"},
     {"", "0", "-1", "nan", "-inf", "1e999", "1m"}},
    {"solver", {"fast", "lemke"}, {"", "magic", "0"}},
    {"tolerance",
     {"1e-300", "1e-10", "0.999"},
     {"", "0", "1", "-1e-10", "nan", "inf", "1e-999", "1e-10x"}},
    {"max-contacts",
     {"1", "20000", "1000000000"},
     {"", "0", "-1", "1000000001", "1e3", "nan"}},
    {"margin",
     {"auto", "0", "0.1"},
     {"", "-1", "-1e-3", "nan", "inf", "autos", "0.1 m"}},
    {"measure", {"on", "off"}, {"", "1", "yes"}},
    {"fixed-point", {"0", "1000"}, {"", "-1", "1001", "0.5"}},
    {"alpha", {"0.5", "0.75", "1"}, {"", "-3", "0.49999", "1.1", "nan", "inf"}},
    {"events", {"on", "off"}, {"", "2", "On"}},
    {"max-events", {"0", "1000000000"}, {"", "-1", "1000000001", "nan"}},
    {"impact", {"poisson", "set"}, {"", "random"}},
    {"impact-seed", {"0", "7"}, {"", "-1", "1.5"}},
    {"budget",
     {"1", "300", "1e9", "inf"},
     {"", "0", "-1", "0.5", "nan", "-inf", "200x"}},
    {"sweep", {"on", "off"}, {"", "1", "yes"}},
    {"threads", {"0", "1", "3"}, {"", "-1", "257", "2.5", "all"}},
    /* more of it is not for the default scheme: tests/test_schemes_accuracy.c */
    {"accuracy", {"0"}, {"", "-1e-6", "nan", "inf", "1e-6 m"}},
    {"softness", {"0", "1e-4", "0.5"}, {"", "-1e-9", "1", "nan", "inf"}}};
enum { N_WORDS = sizeof words / sizeof words[0] };

static void test_every_setting_has_its_words(void) {
  int n = 0;
  for (char name[SETTING_NAME];
       ode_mlcp_option_name(n, name, sizeof name) == ODE_MLCP_OK; n++) {
    CU_ASSERT_FATAL(n < N_WORDS);
    CU_ASSERT_STRING_EQUAL(name, words[n].name);
  }
  CU_ASSERT_EQUAL(n, N_WORDS);
}

static void test_good_words_are_taken(void) {
  for (int i = 0; i < N_WORDS; i++)
    for (int k = 0; k < 7 && words[i].good[k] != NULL; k++) {
      char message[SETTING_LINE], value[32];
      ode_mlcp_options options = default_options();
      ode_mlcp_error error = ode_mlcp_set_option(
          &options, words[i].name, words[i].good[k], message, sizeof message);
      CU_ASSERT_EQUAL(error, ODE_MLCP_OK);
      CU_ASSERT_STRING_EQUAL(message, "");
      CU_ASSERT_EQUAL(ode_mlcp_check_options(&options, NULL, 0), ODE_MLCP_OK);
      CU_ASSERT_EQUAL(
          ode_mlcp_get_option(&options, words[i].name, value, sizeof value),
          ODE_MLCP_OK);
      if (strchr(words[i].good[k], 'e') == NULL)
        CU_ASSERT_STRING_EQUAL(value, words[i].good[k]);
    }
}

static void test_bad_words_are_refused_in_a_line(void) {
  ode_mlcp_options options, before;
  ode_mlcp_default_options(&before);
  for (int i = 0; i < N_WORDS; i++)
    for (int k = 0; k < 9 && words[i].bad[k] != NULL; k++) {
      char message[SETTING_LINE], wanted[100];
      memcpy(&options, &before, sizeof options);
      snprintf(wanted, sizeof wanted, "%s: '%s' is not ", words[i].name,
               words[i].bad[k]);
      CU_ASSERT_EQUAL(
          ode_mlcp_set_option(&options, words[i].name, words[i].bad[k], message,
                              sizeof message),
          ODE_MLCP_BAD_ARGUMENT);
      CU_ASSERT(strncmp(message, wanted, strlen(wanted)) == 0);
      CU_ASSERT(strlen(message) > strlen(wanted));
      CU_ASSERT_EQUAL(memcmp(&options, &before, sizeof options), 0);
    }
}

static void test_odd_texts_stay_one_line(void) {
  char message[SETTING_LINE], lengthy[5000], small[8];
  ode_mlcp_options options = default_options();
  memset(lengthy, '9', sizeof lengthy);
  lengthy[sizeof lengthy - 1] = '\0';
  ode_mlcp_set_option(&options, "edges", lengthy, message, sizeof message);
  CU_ASSERT(strstr(message, "' is not an even number from 4 to 64") != NULL);
  ode_mlcp_set_option(&options, "edges", "4\n6\r", message, sizeof message);
  CU_ASSERT_STRING_EQUAL(message,
                         "edges: '4?6?' is not an even number from 4 to 64");
  ode_mlcp_set_option(&options, "no-such", "1", message, sizeof message);
  CU_ASSERT_STRING_EQUAL(message, "there is no option 'no-such'");
  CU_ASSERT_EQUAL(
      ode_mlcp_set_option(&options, "max_events", "1", small, sizeof small),
      ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_STRING_EQUAL(small, "there i");
  CU_ASSERT_EQUAL(ode_mlcp_set_option(&options, "edges", "5", NULL, 0),
                  ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_EQUAL(ode_mlcp_get_option(&options, "edges", small, 1),
                  ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_EQUAL(ode_mlcp_option_name(-1, small, sizeof small),
                  ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_EQUAL(ode_mlcp_option_name(0, small, 6), ODE_MLCP_BAD_ARGUMENT);
}

/* --- by struct ------------------------------------------------------------ */

/* Every way in names the setting, its value and what is allowed. */
static void expect_refused(const ode_mlcp_options *options, const char *line) {
  char message[SETTING_LINE], wanted[SETTING_LINE];
  CU_ASSERT_EQUAL(ode_mlcp_check_options(options, message, sizeof message),
                  ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_STRING_EQUAL(message, line);
  if (strcmp(message, line) != 0) printf("\n%s", message);
  snprintf(wanted, sizeof wanted, "ode-mlcp: bad options: %s", line);

  listen_to_host("");
  dWorldID world = dWorldCreate();
  CU_ASSERT_EQUAL(ode_mlcp_attach(world, options), ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_STRING_EQUAL(last_heard, wanted);
  CU_ASSERT_EQUAL(ode_mlcp_detach(world), ODE_MLCP_NOT_ATTACHED);
  last_heard[0] = '\0';
  CU_ASSERT_EQUAL(ode_mlcp_attach_new_worlds(options), ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_STRING_EQUAL(last_heard, wanted);
  dWorldDestroy(world);
}

#define EXPECT_REFUSED(field, value, line)                                     \
  do {                                                                         \
    ode_mlcp_options options;                                                  \
    ode_mlcp_default_options(&options);                                        \
    options.field = value;                                                     \
    expect_refused(&options, line);                                            \
  } while (0)

static void test_bad_members_are_refused(void) {
  EXPECT_REFUSED(
      scheme, (ode_mlcp_scheme)7,
      "scheme: '7' is not ap, ah, gap, trapezoid-1, trapezoid, st or "
      "conserving");
  EXPECT_REFUSED(edges, 5, "edges: '5' is not an even number from 4 to 64");
  EXPECT_REFUSED(erp, -0.5, "erp: '-0.5' is not host, or a number from 0 to 1");
  EXPECT_REFUSED(max_correction, NAN,
                 "max-correction: 'nan' is not a speed above 0 in m/s, or inf");
  EXPECT_REFUSED(solver, (ode_mlcp_solver)2,
                 "solver: '2' is not fast or lemke");
  EXPECT_REFUSED(tolerance, NAN,
                 "tolerance: 'nan' is not a number above 0 and below 1");
  EXPECT_REFUSED(max_contacts, 0,
                 "max-contacts: '0' is not a whole number from 1 to "
                 "1000000000");
  EXPECT_REFUSED(margin, INFINITY,
                 "margin: 'inf' is not auto, or a length from 0 to 1e15 in m");
  EXPECT_REFUSED(measure, 2, "measure: '2' is not on or off");
  EXPECT_REFUSED(fixed_point, 1001,
                 "fixed-point: '1001' is not a whole number from 0 to 1000");
  EXPECT_REFUSED(alpha, -3, "alpha: '-3' is not a number from 0.5 to 1");
  EXPECT_REFUSED(alpha, NAN, "alpha: 'nan' is not a number from 0.5 to 1");
  EXPECT_REFUSED(events, 2, "events: '2' is not on or off");
  EXPECT_REFUSED(max_events, -1,
                 "max-events: '-1' is not a whole number from 0 to 1000000000");
  EXPECT_REFUSED(impact, (ode_mlcp_impact_law)2,
                 "impact: '2' is not poisson or set");
  EXPECT_REFUSED(impact_seed, -1,
                 "impact-seed: '-1' is not a whole number from 0 to "
                 "1000000000");
  EXPECT_REFUSED(struct_size, 0,
                 "struct_size: the options do not begin as "
                 "ode_mlcp_default_options makes them");
}

static void test_a_bad_setting_does_not_blame_another(void) {
  ode_mlcp_options options = default_options();
  options.alpha = -3;
  CU_ASSERT_EQUAL(ode_mlcp_set_option(&options, "edges", "8", NULL, 0),
                  ODE_MLCP_OK);
  CU_ASSERT_EQUAL(options.edges, 8);
}

/* An older program's ends after two settings; what stands behind is not read. */
static void test_shorter_options_are_completed(void) {
  ode_mlcp_options given, own, defaults;
  ode_mlcp_default_options(&defaults);
  memset(&given, 0xA5, sizeof given);
  ode_mlcp_default_options_sized(&given, offsetof(ode_mlcp_options, erp));
  given.edges = defaults.edges = 8;
  CU_ASSERT(settings_read(&given, &own, NULL, 0));
  CU_ASSERT_EQUAL(own.struct_size, defaults.struct_size);
#define EXPECT(type, field, ...) CU_ASSERT(own.field == defaults.field);
  ODE_MLCP_SETTINGS(EXPECT)
#undef EXPECT
  // half a member is none
  given.struct_size = offsetof(ode_mlcp_options, erp) + 4;
  CU_ASSERT(settings_read(&given, &own, NULL, 0));
  CU_ASSERT_EQUAL(own.erp, ODE_MLCP_ERP_HOST);
  CU_ASSERT(settings_read(NULL, &own, NULL, 0));
  CU_ASSERT_EQUAL(own.edges, 4);
}

/* --- texts ---------------------------------------------------------------- */

/* Options with no value at its default. */
static ode_mlcp_options unusual_options(void) {
  ode_mlcp_options options = options_under(ODE_MLCP_SCHEME_GAP);
  options.edges = 12;
  options.erp = 1.0 / 3;
  options.max_correction = INFINITY;
  options.solver = ODE_MLCP_SOLVER_LEMKE;
  options.tolerance = 1.2345678901234567e-9;
  options.max_contacts = 1000000000;
  options.margin = 0.1 + 0.2;
  options.measure = 1;
  options.fixed_point = 3;
  options.alpha = 2.0 / 3;
  options.events = 0;
  options.max_events = 123456789;
  options.impact = ODE_MLCP_IMPACT_LAW_SET;
  options.impact_seed = 999999999;
  options.budget = INFINITY;
  options.sweep = 0;
  options.threads = 255;
  options.accuracy = 1.0 / 7e5;
  options.softness = 1.0 / 3e4;
  return options;
}

static void expect_equal(const ode_mlcp_options *a, const ode_mlcp_options *b) {
#define EXPECT(type, field, ...) CU_ASSERT(a->field == b->field);
  ODE_MLCP_SETTINGS(EXPECT)
#undef EXPECT
}

static void expect_all_differ(const ode_mlcp_options *a,
                              const ode_mlcp_options *b) {
#define EXPECT(type, field, ...) CU_ASSERT(a->field != b->field);
  ODE_MLCP_SETTINGS(EXPECT)
#undef EXPECT
}

static void test_settings_come_back_from_texts(void) {
  ode_mlcp_options given = unusual_options(), read;
  ode_mlcp_default_options(&read);
  expect_all_differ(&given, &read);
  char name[40], value[40];
  for (int i = 0; i < N_WORDS; i++) {
    ode_mlcp_option_name(i, name, sizeof name);
    ode_mlcp_get_option(&given, name, value, sizeof value);
    CU_ASSERT_EQUAL(ode_mlcp_set_option(&read, name, value, NULL, 0),
                    ODE_MLCP_OK);
  }
  expect_equal(&given, &read);
}

static void test_numbers_do_not_follow_the_locale(void) {
  char value[32];
  ode_mlcp_options options = default_options();
  char folder[] = "/tmp/ode-mlcp-commas.XXXXXX";
  CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
  CU_ASSERT_FATAL(use_comma_locale(folder));
  CU_ASSERT_EQUAL(ode_mlcp_set_option(&options, "alpha", "0.75", NULL, 0),
                  ODE_MLCP_OK);
  CU_ASSERT_EQUAL(options.alpha, 0.75);
  CU_ASSERT_EQUAL(ode_mlcp_set_option(&options, "alpha", "0,75", NULL, 0),
                  ODE_MLCP_BAD_ARGUMENT);
  ode_mlcp_get_option(&options, "alpha", value, sizeof value);
  CU_ASSERT_STRING_EQUAL(value, "0.75");
  setlocale(LC_ALL, "C");
  char command[60];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  CU_ASSERT_EQUAL(system(command), 0);
}

/* --- schemes -------------------------------------------------------------- */

static void test_schemes_may_be_added(void) {
  char message[SETTING_LINE];
  ode_mlcp_options options = default_options();
  CU_ASSERT_STRING_EQUAL(settings_scheme_name(ODE_MLCP_SCHEME_TRAPEZOID_1),
                         "trapezoid-1");
  CU_ASSERT(settings_scheme_name(17) == NULL);
  options.scheme = (ode_mlcp_scheme)17;
  CU_ASSERT_EQUAL(ode_mlcp_check_options(&options, NULL, 0),
                  ODE_MLCP_BAD_ARGUMENT);

  CU_ASSERT(settings_add_scheme_name(17, "toy"));
  CU_ASSERT_STRING_EQUAL(settings_scheme_name(17), "toy");
  CU_ASSERT_EQUAL(ode_mlcp_check_options(&options, NULL, 0), ODE_MLCP_OK);
  options.scheme = ODE_MLCP_SCHEME_AH;
  CU_ASSERT_EQUAL(ode_mlcp_set_option(&options, "scheme", "toy", NULL, 0),
                  ODE_MLCP_OK);
  CU_ASSERT_EQUAL(options.scheme, 17);
  ode_mlcp_set_option(&options, "scheme", "x", message, sizeof message);
  CU_ASSERT(strstr(message, "conserving or toy") != NULL);

  int n = 1;
  while (n < 100 && settings_add_scheme_name(17 + n, "more")) n++;
  CU_ASSERT(n >= 4 && n < 100);
}

/* --- who reads a setting ---------------------------------------------------- */

static uint64_t hash_number(uint64_t hash, double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return (hash ^ bits) * 0x100000001b3u;
}

/* A box that enters the ground slides on it, a ball bounces, another flies, a third
 * is fast and meets a thin wall, and a hinge that came apart swings into a stop.
 * Of what the settings make of it: all states, what is said of the steps, and the
 * margin. */
static uint64_t states_of_a_run(const char *scheme, const char *name,
                                const char *word) {
  ode_mlcp_options options = options_of("");
  char message[SETTING_LINE];
  CU_ASSERT_EQUAL(
      ode_mlcp_set_option(&options, "scheme", scheme, message, sizeof message),
      ODE_MLCP_OK);
  CU_ASSERT_EQUAL(
      ode_mlcp_set_option(&options, name, word, message, sizeof message),
      ODE_MLCP_OK);
  scene s;
  scene_open(&s, dSimpleSpaceCreate(0), &options);
  dWorldSetGravity(s.world, 0, -9.81, 0);
  dWorldSetERP(s.world, 0.3);
  s.surface.parameters.mu = 0.4;
  s.surface.parameters.mode = dContactBounce;
  s.surface.parameters.bounce = 0.4;
  dCreatePlane(s.space, 0, 1, 0, 0);
  dBodyID bodies[] = {add_ball(&s, 1, 0.15), add_ball(&s, 3, 0.2),
                      add_ball(&s, 5, 2), add_ball(&s, -5, 3),
                      add_ball(&s, 20, 5)};
  enum { N = sizeof bodies / sizeof bodies[0] };
  dGeomDestroy(dBodyGetFirstGeom(bodies[0]));
  dGeomSetBody(dCreateBox(s.space, 0.4, 0.4, 0.4), bodies[0]);
  dBodySetLinearVel(bodies[0], 1, -1, 0.3);
  dBodySetLinearVel(bodies[1], 0.5, -1, 0);
  dJointID hinge = dJointCreateHinge(s.world, 0);
  dJointAttach(hinge, bodies[2], NULL);
  dJointSetHingeAnchor(hinge, 4, 2, 0);
  dJointSetHingeAxis(hinge, 0, 0, 1);
  dJointSetHingeParam(hinge, dParamLoStop, -0.05);
  dJointSetHingeParam(hinge, dParamBounce, 0.3);
  dBodySetPosition(bodies[2], 5.01, 2, 0);
  dBodySetLinearVel(bodies[2], 0.2, 0, 0);
  dBodySetLinearVel(bodies[4], 300, 0, 0);
  dGeomSetPosition(dCreateBox(s.space, 0.001, 3, 3), 21.6, 5, 0);
  for (int i = 0; i < 2; i++) s.watched[i] = dBodyGetFirstGeom(bodies[i]);
  uint64_t hash = 0;
  for (int i = 0; i < 12; i++) {
    ode_mlcp_report report;
    CU_ASSERT_EQUAL(ode_mlcp_step(s.world, 0.01, &report), ODE_MLCP_OK);
    hash = hash * 31 + hash_bodies(bodies, N);
    hash = hash_number(hash, report.worst_joint_error);
    hash = hash_number(hash, report.poisson_bounces);
    hash = hash_number(hash, s.widest_margin);
  }
  scene_close(&s);
  return hash;
}

/* Settings that change a step where a solve is hard, with another setting alone, or
 * never: threads. */
static bool may_leave_states(const char *name) {
  static const char *const names[] = {"budget", "impact-seed", "threads"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

static void test_who_reads_a_setting(void) {
  bool rounded = left_out_in_single("settings that change less than rounding");
  for (const setting_word *scheme = settings[0].words; scheme->word; scheme++)
    for (int i = 1; i < N_WORDS; i++) {
      /* one refuses steps; the other, schemes that would not read it */
      if (strcmp(words[i].name, "max-contacts") == 0 ||
          strcmp(words[i].name, "accuracy") == 0)
        continue;
      uint64_t states[6];
      int n = 0, n_differ = 0;
      for (; n < 7 && words[i].good[n] != NULL; n++) {
        states[n] =
            states_of_a_run(scheme->word, words[i].name, words[i].good[n]);
        n_differ += states[n] != states[0];
      }
      bool is_read = settings[i].schemes == 0 ||
                     settings[i].schemes & (1u << scheme->value);
      if (n_differ > 0
              ? !is_read
              : is_read && !rounded && !may_leave_states(words[i].name)) {
        fprintf(stderr, "%s makes %s difference to %s\n", words[i].name,
                n_differ > 0 ? "a" : "no", scheme->word);
        CU_FAIL("the table says otherwise who reads a setting");
      }
    }
}

/* What the help says after a setting's own words: of words their default alone, of
 * numbers what is allowed, and who reads it if not all do. */
static void test_descriptions_end_with_what_is_allowed(void) {
  static const struct {
    const char *field, *end;
  } ends[] = {
      {"edges", " Default 4; an even number from 4 to 64."},
      {"erp",
       " Default host; host, or a number from 0 to 1; read by ah, gap, "
       "trapezoid-1, trapezoid, st and conserving only."},
      {"max_correction",
       " Default 0.5; a speed above 0 in m/s, or inf; read by ap, ah and st "
       "only."},
      {"tolerance", " Default 1e-10; a number above 0 and below 1."},
      {"solver", " Default fast."},
      {"margin", " Default auto; auto, or a length from 0 to 1e15 in m."},
  };
  for (const setting *at = settings; at->field != NULL; at++) {
    char shown[4096] = "";
    text description;
    text_start(&description, shown, sizeof shown);
    setting_add_description(&description, at);
    shown[description.used] = '\0';
    CU_ASSERT(strncmp(shown, at->help, strlen(at->help)) == 0);
    bool lists = strstr(shown, "; read by ") != NULL;
    CU_ASSERT_EQUAL(lists, at->schemes != 0);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
      if (strcmp(ends[i].field, at->field) != 0) continue;
      size_t n = strlen(ends[i].end), all = strlen(shown);
      CU_ASSERT_FATAL(all > n);
      CU_ASSERT_STRING_EQUAL(shown + all - n, ends[i].end);
    }
  }
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"every setting is tested", test_every_setting_has_its_words},
      {"good words", test_good_words_are_taken},
      {"bad words", test_bad_words_are_refused_in_a_line},
      {"odd texts", test_odd_texts_stay_one_line},
      {"bad members", test_bad_members_are_refused},
      {"shorter options", test_shorter_options_are_completed},
      {"no other is blamed", test_a_bad_setting_does_not_blame_another},
      {"texts and back", test_settings_come_back_from_texts},
      {"locales", test_numbers_do_not_follow_the_locale},
      {"who reads a setting", test_who_reads_a_setting},
      {"descriptions end with what is allowed",
       test_descriptions_end_with_what_is_allowed},
      {"schemes may be added", test_schemes_may_be_added},
      CU_TEST_INFO_NULL};
  return run_host_tests("settings: table", tests);
}
