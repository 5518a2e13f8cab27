#include "judge/tables.h"

#include <math.h>

/* A figure's kind: a count is whole, a rare one is shown where it says something.
 */
enum { NUMBER = 0, COUNT = 1, RARE = 2 };
/* ROW(field, kind, less is better, words, unit) */
#define FIGURES(ROW)                                                           \
  ROW(steps, COUNT, false, "steps taken or tried", "")                         \
  ROW(contact_error_worst, NUMBER, true, "contact law missed by, worst",       \
      "m/s")                                                                   \
  ROW(contact_error_p90, NUMBER, true, "  nine steps of ten below", "m/s")     \
  ROW(penetration_worst, NUMBER, true, "deepest penetration", "m")             \
  ROW(penetration_p90, NUMBER, true, "  nine steps of ten below", "m")         \
  ROW(joint_error_worst, RARE, true, "joint off its place, worst", "m, rad")   \
  ROW(cone_violation_worst, NUMBER, true, "friction beyond its cone", "m/s")   \
  ROW(friction_error_worst, NUMBER, true, "friction on a body off, worst",     \
      "m/s")                                                                   \
  ROW(friction_error_p90, NUMBER, true, "  nine steps of ten below", "m/s")    \
  ROW(crept, RARE, true, "crept, a body's way", "m")                           \
  ROW(energy_drift, NUMBER, true, "energy not explained, most", "J")           \
  ROW(reference_error, NUMBER, true, "off the reference", "m")                 \
  ROW(order, NUMBER, false, "order in the step size", "")                      \
  ROW(messages, COUNT, true, "solver messages", "")                            \
  ROW(failed_steps, COUNT, true, "failed steps", "")                           \
  ROW(degraded, COUNT, true, "degraded answers", "")                           \
  ROW(late, COUNT | RARE, true, "steps behind real time", "")                  \
  ROW(strayed, COUNT | RARE, true, "bodies away from all other runs", "")      \
  ROW(ms_processor, NUMBER, true, "a step, processor time, mean", "ms")        \
  ROW(ms_step_median, NUMBER, true, "a step, median", "ms")                    \
  ROW(ms_step_p99, NUMBER, true, "  99 steps of 100 below", "ms")              \
  ROW(ms_step_worst, NUMBER, true, "  the longest", "ms")                      \
  ROW(unrest, NUMBER, false, "  in the last tenth, median", "m/s")             \
  ROW(contact_work, NUMBER, false, "energy put in by contacts", "J")           \
  ROW(momentum_drift, NUMBER, true, "momentum not explained, a step", "N s")   \
  ROW(unsolved, COUNT, true, "unsolved answers", "")                           \
  ROW(not_finite, COUNT, true, "steps to states not finite", "")               \
  ROW(parted, NUMBER, false, "parts from the first run at", "s")               \
  ROW(seconds, NUMBER, false, "simulated", "s")

const figure figures[] = {
#define ROW(field, kind, less, words, unit)                                    \
  {#field,                                                                     \
   words,                                                                      \
   unit,                                                                       \
   ((kind)&COUNT) != 0,                                                        \
   ((kind)&RARE) != 0,                                                         \
   less,                                                                       \
   offsetof(compare_figures, field)},
    FIGURES(ROW)
#undef ROW
};
const size_t n_figures = sizeof figures / sizeof figures[0];

double figure_value(const figure *figure, const compare_run *run) {
  const void *place = (const char *)&run->figures + figure->offset;
  return figure->counted ? (double)*(const long *)place
                         : *(const double *)place;
}

bool figure_is_empty(const figure *figure, const comparison *c) {
  for (int i = 0; i < c->n_runs; i++) {
    if (c->runs[i].levels[0] == NULL) continue;
    double value = figure_value(figure, &c->runs[i]);
    if (!isnan(value) && (!figure->rare || value != 0)) return false;
  }
  return true;
}

void figures_forget(compare_figures *f) {
  for (size_t k = 0; k < n_figures; k++)
    if (!figures[k].counted) *(double *)((char *)f + figures[k].offset) = NAN;
}

/* ---- steps ---- */

/* COLUMN(field, header, logarithmic, axis, title) */
#define COLUMNS(COLUMN)                                                        \
  COLUMN(time, "time_s", false, "time, s", NULL)                               \
  COLUMN(step_size, "step_size_s", false, "step size, s", NULL)                \
  COLUMN(contact_error, "contact_error_m_s", true, "worst contact, m/s",       \
         "Contact law missed by")                                              \
  COLUMN(penetration, "penetration_m", true, "deepest, m", "Penetration")      \
  COLUMN(friction_error, "friction_error_m_s", true, "worst body, m/s",        \
         "Friction law missed by")                                             \
  COLUMN(cone_violation, "cone_violation_m_s", true, "worst contact, m/s",     \
         "Friction beyond its cone")                                           \
  COLUMN(crept, "crept_m", false, "way, m", "Creeping, since the start")       \
  COLUMN(joint_error, "joint_error", true, "worst row, m or rad",              \
         "Joints off their place")                                             \
  COLUMN(energy_unexplained, "energy_unexplained_J", false, "energy, J",       \
         "Energy not explained, since the start")                              \
  COLUMN(contact_work, "contact_work_J", false, "energy, J",                   \
         "Energy put in by contacts, since the start")                         \
  COLUMN(kinetic, "kinetic_J", false, "energy, J", "Kinetic energy")           \
  COLUMN(potential, "potential_J", false, "energy, J", "Potential energy")     \
  COLUMN(momentum_unexplained, "momentum_unexplained_N_s", true,               \
         "momentum, N s", NULL)                                                \
  COLUMN(fastest, "fastest_m_s", false, "speed, m/s", "Fastest body")          \
  COLUMN(residual, "residual", true, "relative residual", NULL)                \
  COLUMN(processor, "processor_s", true, "time, s", NULL)                      \
  COLUMN(seconds, "seconds", true, "time, s", "Wall clock of a step")

const step_column step_columns[] = {
#define COLUMN(field, header, logarithmic, axis, title)                        \
  {#field, header, axis, title, logarithmic, offsetof(recording_step, field)},
    COLUMNS(COLUMN)
#undef COLUMN
};
const size_t n_step_columns = sizeof step_columns / sizeof step_columns[0];

double step_value(const recording_step *step, const step_column *column) {
  return *(const double *)((const char *)step + column->offset);
}

size_t step_points(const recording *r, const step_column *column, size_t most,
                   double times[], double values[]) {
  size_t a_point = r->n_shown_steps / most + 1, n = 0;
  for (size_t k = 0; k < r->n_shown_steps; n++) {
    double worst = 0, time = 0;
    for (size_t end = k + a_point; k < r->n_shown_steps && k < end; k++) {
      double value = step_value(r->shown_steps[k], column);
      if (!(fabs(value) <= fabs(worst))) worst = value;
      time = r->shown_steps[k]->time;
    }
    if (times != NULL) times[n] = time;
    if (values != NULL) values[n] = worst;
  }
  return n;
}
