#include "table.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ode-mlcp's own limits */
static const double RESTING_SPEED = 1e-6;  /* m/s */
static const double MOVE_ALLOWED = 0.01;   /* m, of boxes of 1 m */
static const double OFF_ALLOWED = 0.001;   /* of a distance, of a ratio */
static const double HEADING_ALLOWED = 0.1; /* degrees */

/* --- filling -------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void
add_title(table *table, const char *format, ...) {
  table_row *row = &table->rows[table->n_rows++];
  memset(row, 0, sizeof *row);
  row->is_title = true;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(row->label, sizeof row->label, format, arguments);
  va_end(arguments);
}

__attribute__((format(printf, 2, 3))) static table_row *
add_row(table *table, const char *format, ...) {
  table_row *row = &table->rows[table->n_rows++];
  memset(row, 0, sizeof *row);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(row->label, sizeof row->label, format, arguments);
  va_end(arguments);
  for (int s = 0; s < N_STEPPERS; s++) strcpy(row->cells[s], "-");
  return row;
}

__attribute__((format(printf, 3, 4))) static void
set_cell(table_row *row, int stepper, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(row->cells[stepper], sizeof row->cells[stepper], format, arguments);
  va_end(arguments);
}

__attribute__((format(printf, 3, 4))) static void
add_promise(table *table, bool kept, const char *format, ...) {
  promise *promise = &table->promises[table->n_promises++];
  promise->kept = kept;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(promise->what, sizeof promise->what, format, arguments);
  va_end(arguments);
}

static void fill_wall(const measurements *measured, table *table) {
  const wall_result *some = NULL;
  bool cut = false;
  for (int s = 0; s < N_STEPPERS; s++) {
    if (!measured->wall[s].record.run) continue;
    some = &measured->wall[s];
    cut |= some->duration < WALL_SECONDS - 1e-9;
  }
  if (some == NULL) return;

  add_title(table, "Wall of %d boxes at rest for %d s", some->boxes,
            WALL_SECONDS);
  table_row *duration = NULL;
  if (cut) duration = add_row(table, "cut for its slowness after, s");
  table_row *messages = add_row(table, "solver messages");
  table_row *fastest = add_row(table, "fastest box at the end, m/s");
  table_row *sag = add_row(table, "sag: a box came down by, m");
  table_row *slid = add_row(table, "slid: a box moved sideways by, m");
  table_row *deepest = add_row(table, "deepest overlap at the end, m");
  table_row *seconds = add_row(table, "processor time a step, ms");
  for (int s = 0; s < N_STEPPERS; s++) {
    const wall_result *wall = &measured->wall[s];
    if (!wall->record.run) continue;
    if (cut) set_cell(duration, s, "%.2f", wall->duration);
    set_cell(messages, s, "%ld", wall->record.messages);
    set_cell(fastest, s, "%.2e", wall->fastest);
    set_cell(sag, s, "%.2e", wall->sag);
    set_cell(slid, s, "%.2e", wall->slid);
    set_cell(deepest, s, "%.2e", wall->deepest);
    set_cell(seconds, s, "%.2f",
             1e3 * wall->record.seconds / (double)wall->record.steps);
  }

  const wall_result *ours = &measured->wall[STEPPER_MLCP];
  if (!ours->record.run) return;
  add_promise(table,
              ours->fastest < RESTING_SPEED && ours->sag < MOVE_ALLOWED &&
                  ours->slid < MOVE_ALLOWED &&
                  ours->duration >= WALL_SECONDS - 1e-9,
              "the wall stands after %.2f s: fastest box %.2e m/s (below "
              "%.0e), moved at most %.2e m (below %g)",
              ours->duration, ours->fastest, RESTING_SPEED,
              fmax(ours->sag, ours->slid), MOVE_ALLOWED);
  add_promise(table,
              ours->record.messages == 0 && ours->record.failed == 0 &&
                  ours->record.unsolved == 0,
              "the wall's solves: %ld messages, %ld failed, %ld unsolved",
              ours->record.messages, ours->record.failed,
              ours->record.unsolved);
}

static double worst_off(const slide_result slides[N_ANGLES], double *turned) {
  double off = 0;
  *turned = 0;
  for (int a = 0; a < N_ANGLES; a++) {
    const slide_result *slide = &slides[a];
    double by = fabs(slide->distance / slide_euler_distance() - 1);
    double heading = fabs(slide->heading - SLIDE_ANGLES[a]);
    double course = fabs(slide->course - SLIDE_ANGLES[a]);
    if (!(by <= off)) off = by; /* a NaN stays */
    if (!(heading <= *turned)) *turned = heading;
    if (!(course <= *turned)) *turned = course;
  }
  return off;
}

static void fill_slide(const measurements *measured, table *table) {
  bool any = false;
  for (int s = 0; s < N_STEPPERS; s++) any |= measured->slide[s][0].record.run;
  if (!any) return;

  add_title(table,
            "Box sliding from 3 m/s at mu = 0.5: exact %.5f m, "
            "Euler's sum %.5f m",
            slide_exact_distance(), slide_euler_distance());
  for (int a = 0; a < N_ANGLES; a++) {
    table_row *distance =
        add_row(table, "launched at %2g deg: stops after, m", SLIDE_ANGLES[a]);
    table_row *off = add_row(table, "    off Euler's sum, %%");
    table_row *heading = add_row(table, "    final heading, deg");
    for (int s = 0; s < N_STEPPERS; s++) {
      const slide_result *slide = &measured->slide[s][a];
      if (!slide->record.run) continue;
      set_cell(distance, s, "%.5f", slide->distance);
      set_cell(off, s, "%+.3f",
               100 * (slide->distance / slide_euler_distance() - 1));
      set_cell(heading, s, "%.3f", slide->heading);
    }
  }

  if (!measured->slide[STEPPER_MLCP][0].record.run) return;
  double turned, by = worst_off(measured->slide[STEPPER_MLCP], &turned);
  add_promise(table, by <= OFF_ALLOWED,
              "slides stop at Euler's sum: off by %.4f %% (at most %g %%)",
              100 * by, 100 * OFF_ALLOWED);
  add_promise(table, turned <= HEADING_ALLOWED,
              "slides keep their heading: turned by %.4f deg (at most %g deg)",
              turned, HEADING_ALLOWED);
}

static void fill_rod(const measurements *measured, table *table) {
  bool any = false;
  for (int s = 0; s < N_STEPPERS; s++) any |= measured->rod[s][0].record.run;
  if (!any) return;

  add_title(table,
            "Tilted rod sliding at mu = 0.5: friction over normal "
            "force, exact 0.5");
  for (int v = 0; v < N_SPEEDS; v++) {
    table_row *ratio = add_row(table, "ft/fn at %+g m/s", ROD_SPEEDS[v]);
    for (int s = 0; s < N_STEPPERS; s++)
      if (measured->rod[s][v].record.run)
        set_cell(ratio, s, "%.5f", measured->rod[s][v].ratio);
  }

  const rod_result *ours = measured->rod[STEPPER_MLCP];
  if (!ours[0].record.run) return;
  double off = 0;
  for (int v = 0; v < N_SPEEDS; v++) {
    double by = fabs(ours[v].ratio / 0.5 - 1);
    if (!(by <= off)) off = by;
  }
  add_promise(table, off <= OFF_ALLOWED,
              "the rod's friction is Coulomb's both ways: off by %.4f %% (at "
              "most %g %%)",
              100 * off, 100 * OFF_ALLOWED);
}

static void promise_pile(pile pile, const recording *ours, table *table) {
  if (!ours->run) return;
  add_promise(table,
              ours->status == 0 && ours->failed == 0 && ours->not_finite == 0 &&
                  ours->unsolved == 0,
              "demo_boxstack, %s: exit status %d, %ld failed steps, %ld not "
              "finite, %ld unsolved",
              PILE_NAMES[pile], ours->status, ours->failed, ours->not_finite,
              ours->unsolved);
}

static void fill_pile(pile pile, const recording recorded[], table *table) {
  const recording *some = NULL;
  for (int s = 0; s < N_STEPPERS; s++)
    if (recorded[s].run) some = &recorded[s];
  if (some == NULL) return;

  add_title(table,
            "The host's demo_boxstack, keys pressed: %s of %ld bodies, "
            "mu infinite",
            PILE_NAMES[pile], some->bodies);
  table_row *steps = add_row(table, "steps");
  table_row *messages = add_row(table, "solver messages");
  table_row *top = add_row(table, "highest body at the end, m");
  table_row *fastest = add_row(table, "fastest body at the end, m/s");
  table_row *depth = add_row(table, "deepest overlap at the end, m");
  table_row *error = add_row(table, "contact velocity error, worst, m/s");
  table_row *usual = add_row(table, "    in 9 steps of 10 at most, m/s");
  table_row *seconds = add_row(table, "time a step, ms");
  for (int s = 0; s < N_STEPPERS; s++) {
    const recording *run = &recorded[s];
    if (!run->run) continue;
    const recorded_step *last = &run->series[run->n_series - 1];
    set_cell(steps, s, "%ld", run->steps);
    set_cell(messages, s, "%ld", run->messages);
    set_cell(top, s, "%.3f", last->top);
    set_cell(fastest, s, "%.2e", last->fastest);
    set_cell(depth, s, "%.2e", run->depth_end);
    set_cell(error, s, "%.2e", run->error);
    set_cell(usual, s, "%.2e", run->usual_error);
    set_cell(seconds, s, "%.2f", 1e3 * run->seconds / (double)run->steps);
  }
  promise_pile(pile, &recorded[STEPPER_MLCP], table);
}

void table_fill(const measurements *measured, const recordings *recorded,
                table *table) {
  memset(table, 0, sizeof *table);
  fill_wall(measured, table);
  fill_slide(measured, table);
  fill_rod(measured, table);
  for (int p = 0; p < N_PILES; p++) fill_pile(p, recorded->of[p], table);
}

bool table_all_kept(const table *table) {
  for (int i = 0; i < table->n_promises; i++)
    if (!table->promises[i].kept) return false;
  return true;
}

/* --- text ----------------------------------------------------------------- */

enum { LABEL_WIDTH = 38, CELL_WIDTH = 16 };

static void write_promises(const table *table, const char *bullet, FILE *file) {
  for (int i = 0; i < table->n_promises; i++)
    fprintf(file, "%s%s  %s\n", bullet,
            table->promises[i].kept ? "kept  " : "BROKEN",
            table->promises[i].what);
}

void table_write_text(const table *table, FILE *file) {
  fprintf(file, "%-*s", LABEL_WIDTH, "");
  for (int s = 0; s < N_STEPPERS; s++)
    fprintf(file, "%*s", CELL_WIDTH, STEPPER_NAMES[s]);
  fprintf(file, "\n");
  for (int i = 0; i < table->n_rows; i++) {
    const table_row *row = &table->rows[i];
    if (row->is_title) {
      fprintf(file, "\n%s\n", row->label);
      continue;
    }
    fprintf(file, "  %-*s", LABEL_WIDTH - 2, row->label);
    for (int s = 0; s < N_STEPPERS; s++)
      fprintf(file, "%*s", CELL_WIDTH, row->cells[s]);
    fprintf(file, "\n");
  }
  if (table->n_promises == 0) return;
  fprintf(file, "\nWhat ode-mlcp promises:\n");
  write_promises(table, "  ", file);
}

/* --- markdown ------------------------------------------------------------- */

static void write_markdown_row(const table_row *row, FILE *file) {
  const char *label = row->label;
  bool indented = *label == ' ';
  while (*label == ' ') label++;
  fprintf(file, "| %s%s |", indented ? "&nbsp;&nbsp;" : "", label);
  for (int s = 0; s < N_STEPPERS; s++) fprintf(file, " %s |", row->cells[s]);
  fprintf(file, "\n");
}

static void write_picture_link(const char *name, const char *text, FILE *file) {
  fprintf(file, "![%s](%s.png)\n\n", text, name);
}

static void write_picture_links(const measurements *measured,
                                const recordings *recorded, FILE *file) {
  fprintf(file, "## Pictures\n\n");
  if (measured->wall[STEPPER_MLCP].record.run)
    write_picture_link("wall", "The wall after 5 s, from the side", file);
  if (measured->slide[STEPPER_MLCP][0].record.run)
    write_picture_link("slide", "Paths and stopping distances of the slides",
                       file);
  if (measured->rod[STEPPER_MLCP][0].record.run)
    write_picture_link("rod", "Friction over normal force of the rod", file);
  if (recorded->of[PILE_TOWER][STEPPER_MLCP].run)
    write_picture_link("boxstack-tower", "demo_boxstack, tower", file);
  if (recorded->of[PILE_HEAP][STEPPER_MLCP].run)
    write_picture_link("boxstack-heap", "demo_boxstack, heap", file);
}

void table_write_markdown(const table *table, const recordings *recorded,
                          const measurements *measured, bool pictures,
                          FILE *file) {
  fprintf(file, "# ODE's steppers and ode-mlcp side by side\n");
  for (int i = 0; i < table->n_rows; i++) {
    if (!table->rows[i].is_title) {
      write_markdown_row(&table->rows[i], file);
      continue;
    }
    fprintf(file, "\n## %s\n\n| |", table->rows[i].label);
    for (int s = 0; s < N_STEPPERS; s++)
      fprintf(file, " %s |", STEPPER_NAMES[s]);
    fprintf(file, "\n|:--|--:|--:|--:|\n");
  }
  fprintf(file, "\n## What ode-mlcp promises\n\n");
  write_promises(table, "- ", file);
  fprintf(file, "\n");
  if (pictures) write_picture_links(measured, recorded, file);
}
