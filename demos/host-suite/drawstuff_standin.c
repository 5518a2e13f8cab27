// A drawstuff without a window: it runs a demo's callbacks for a number of
// frames, presses keys from a script and sums up everything that was drawn.
//
// The demos of the host link this in place of their own drawstuff, unchanged.
// Settings come from the environment, so that a demo's own arguments stay its
// own:
//   DRAWSTUFF_STEPS    frames of each simulation loop (500; also -steps N)
//   DRAWSTUFF_KEYS     key script, see parse_key_script
//   DRAWSTUFF_SECONDS  stop the loops after so many seconds of a processor
//   DRAWSTUFF_REPORT   file that always holds the report line up to now, so
//                      that a crash leaves it behind; standard error at exit
//                      where it is not set
// The report is one line of name=value pairs:
//   loops    simulation loops begun
//   frames   frames drawn in all loops
//   drawn    shapes drawn
//   nan      shapes drawn with a value that is not finite
//   hash     FNV-1a of the exact bits of every pose and size drawn, in order
//   seconds  wall clock spent in the loops
//   end      why the last loop ended: steps, stop (the program's or Ctrl-X),
//            seconds; or running
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <drawstuff/drawstuff.h>

enum { max_key_events = 256, max_keys = 64, report_width = 255 };

// seconds a frame lasts for the program: a screen of 60 Hz
static const double frame_seconds = 1.0 / 60.0;

// keys pressed before frames first, first + every, ... up to last
typedef struct {
  long first, last, every;
  char keys[max_keys];
} key_event;

static key_event key_events[max_key_events];
static int n_key_events;

// as in the real library: 0 outside, 1 within the loop, 2 once a frame began
static int loop_state;
static bool running, paused, single_step;
static float view_position[3], view_angles[3];

// sums over the whole process
static long n_loops, n_frames, n_drawn, n_not_finite;
static uint64_t drawn_hash = UINT64_C(0xcbf29ce484222325);
static double loop_seconds;
static const char *loop_end = "running";
static int report_file = -1;

// ---- messages --------------------------------------------------------------

static void print_message(const char *kind, const char *format, va_list ap) {
  fflush(stdout);
  fprintf(stderr, "\n%s: ", kind);
  vfprintf(stderr, format, ap);
  fprintf(stderr, "\n");
  fflush(stderr);
}

void dsError(const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  print_message("Error", format, ap);
  va_end(ap);
  exit(1);
}

void dsDebug(const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  print_message("INTERNAL ERROR", format, ap);
  va_end(ap);
  abort();
}

void dsPrint(const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  vprintf(format, ap);
  va_end(ap);
}

// ---- report ----------------------------------------------------------------

/* The processor's: what else a machine does cuts no run short. */
static double processor_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// One write of fixed width: whenever the process dies, the file is whole.
static void write_report(int file) {
  char line[report_width + 1];
  int length =
      snprintf(line, sizeof line,
               "drawstuff loops=%ld frames=%ld drawn=%ld nan=%ld hash=%016llx"
               " seconds=%.6f end=%s",
               n_loops, n_frames, n_drawn, n_not_finite,
               (unsigned long long)drawn_hash, loop_seconds, loop_end);
  memset(line + length, ' ', sizeof line - (size_t)length);
  line[report_width] = '\n';
  ssize_t written = file == STDERR_FILENO ? write(file, line, sizeof line)
                                          : pwrite(file, line, sizeof line, 0);
  if (written < 0)
    fprintf(stderr, "drawstuff: no report: %s\n", strerror(errno));
}

static void report_at_exit(void) { write_report(STDERR_FILENO); }

static void open_report(void) {
  const char *name = getenv("DRAWSTUFF_REPORT");
  if (!name || !*name) {
    atexit(report_at_exit);
    return;
  }
  report_file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (report_file < 0)
    dsError("cannot write the report %s: %s", name, strerror(errno));
}

// ---- key script ------------------------------------------------------------

static long read_number(const char **text) {
  char *end;
  errno = 0;
  long value = strtol(*text, &end, 10);
  if (end == *text || value < 0 || errno)
    dsError("key script: a frame number is missing at \"%s\"", *text);
  *text = end;
  return value;
}

// Items parted by blanks, each FRAME:KEYS or FIRST-LAST/EVERY:KEYS; a key is
// its own character, "_" is the space bar, "^P" is Ctrl-P (pause), "^O" a
// single step while paused, "^X" the end. "5:r 10-500/20:b" presses r before
// frame 5, then b before frames 10, 30, ... 490.
static void parse_key_script(const char *script) {
  while (*(script += strspn(script, " \t"))) {
    if (n_key_events == max_key_events)
      dsError("key script: more than %d items", max_key_events);
    key_event *event = &key_events[n_key_events++];
    event->first = event->last = read_number(&script);
    event->every = 1;
    if (*script == '-') {
      script++;
      event->last = read_number(&script);
    }
    if (*script == '/') {
      script++;
      event->every = read_number(&script);
    }
    size_t length = *script == ':' ? strcspn(script + 1, " \t") : 0;
    if (length == 0 || length >= max_keys || event->every == 0)
      dsError("key script: FRAME:KEYS expected at \"%s\"", script);
    memcpy(event->keys, script + 1, length);
    event->keys[length] = '\0';
    script += 1 + length;
  }
}

static void press_control_key(char key) {
  switch (key) {
    case 'P':
      paused = !paused;
      single_step = false;
      break;
    case 'O':
      if (paused) single_step = true;
      break;
    case 'X': running = false; break;
  }
}

static void press_keys(const dsFunctions *fn, long frame) {
  for (int i = 0; i < n_key_events; i++) {
    const key_event *event = &key_events[i];
    if (frame < event->first || frame > event->last ||
        (frame - event->first) % event->every != 0)
      continue;
    for (const char *key = event->keys; *key && running; key++) {
      if (*key == '^' && key[1])
        press_control_key(*++key);
      else if (fn->command)
        fn->command(*key == '_' ? ' ' : *key);
    }
  }
}

// ---- loop ------------------------------------------------------------------

static double read_setting(const char *name, double otherwise) {
  const char *text = getenv(name);
  if (!text || !*text) return otherwise;
  char *end;
  double value = strtod(text, &end);
  if (*end || !(value >= 0)) dsError("%s: not a number: %s", name, text);
  return value;
}

static void read_arguments(int argc, char **argv, dsFunctions *fn,
                           double *n_steps) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "-pause") == 0)
      paused = true;
    else if (strcmp(argv[i], "-texturepath") == 0 && i + 1 < argc)
      fn->path_to_textures = argv[++i];
    else if (strcmp(argv[i], "-steps") == 0 && i + 1 < argc)
      *n_steps = strtod(argv[++i], NULL);
  }
}

void dsSimulationLoop(int argc, char **argv, int window_width,
                      int window_height, dsFunctions *fn) {
  if (loop_state != 0) dsError("dsSimulationLoop() called more than once");
  if (fn->version > DS_VERSION)
    dsDebug("bad version number in dsFunctions structure");
  if (window_width < 1 || window_height < 1)
    dsDebug("bad window width or height");

  double n_steps = read_setting("DRAWSTUFF_STEPS", 500);
  double most_seconds = read_setting("DRAWSTUFF_SECONDS", 0);
  paused = single_step = false;
  read_arguments(argc, argv, fn, &n_steps);
  if (n_loops++ == 0) {
    open_report();
    const char *script = getenv("DRAWSTUFF_KEYS");
    if (script) parse_key_script(script);
  }

  // the camera of the real library at its start
  memcpy(view_position, (float[3]){2, 0, 1}, sizeof view_position);
  memcpy(view_angles, (float[3]){180, 0, 0}, sizeof view_angles);

  double before = loop_seconds, start = processor_clock();
  loop_state = 1;
  running = true;
  loop_end = "running";
  if (report_file >= 0) write_report(report_file);
  if (fn->start) fn->start();
  const char *end = "steps";
  for (long frame = 0; running && (double)frame < n_steps; frame++) {
    press_keys(fn, frame);
    loop_state = 2;
    if (fn->step) fn->step(paused && !single_step);
    single_step = false;
    n_frames++;
    loop_seconds = before + processor_clock() - start;
    if (report_file >= 0) write_report(report_file);
    if (most_seconds > 0 && loop_seconds > most_seconds) {
      end = "seconds";
      break;
    }
  }
  if (fn->stop) fn->stop();
  loop_end = running ? end : "stop";
  loop_seconds = before + processor_clock() - start;
  if (report_file >= 0) write_report(report_file);
  loop_state = 0;
}

void dsStop(void) { running = false; }

double dsElapsedTime(void) { return frame_seconds; }

static void need_loop(const char *function) {
  if (loop_state < 1) dsError("%s called before simulation started", function);
}

void dsSetViewpoint(float xyz[3], float hpr[3]) {
  need_loop("dsSetViewpoint()");
  if (xyz) memcpy(view_position, xyz, sizeof view_position);
  if (!hpr) return;
  for (int i = 0; i < 3; i++) view_angles[i] = remainderf(hpr[i], 360.0f);
}

void dsGetViewpoint(float xyz[3], float hpr[3]) {
  need_loop("dsGetViewpoint()");
  if (xyz) memcpy(xyz, view_position, sizeof view_position);
  if (hpr) memcpy(hpr, view_angles, sizeof view_angles);
}

// ---- drawing ---------------------------------------------------------------

static void need_frame(void) {
  if (loop_state != 2)
    dsError("drawing function called outside simulation loop");
}

void dsSetTexture(int texture_number) {
  (void)texture_number;
  need_frame();
}

void dsSetColor(float red, float green, float blue) {
  (void)red, (void)green, (void)blue;
  need_frame();
}

void dsSetColorAlpha(float red, float green, float blue, float alpha) {
  (void)red, (void)green, (void)blue, (void)alpha;
  need_frame();
}

void dsSetSphereQuality(int n) { (void)n; }
void dsSetCapsuleQuality(int n) { (void)n; }
void dsSetDrawMode(int mode) { (void)mode; }

// Set where a value of the shape being drawn is not finite.
static bool shape_not_finite;

static void begin_shape(unsigned char kind) {
  need_frame();
  shape_not_finite = false;
  drawn_hash = (drawn_hash ^ kind) * UINT64_C(0x100000001b3);
}

static void end_shape(void) {
  n_drawn++;
  if (shape_not_finite) n_not_finite++;
}

static void hash_bits(const void *value, size_t size) {
  const unsigned char *bytes = value;
  for (size_t i = 0; i < size; i++)
    drawn_hash = (drawn_hash ^ bytes[i]) * UINT64_C(0x100000001b3);
}

static void add_floats(const float *values, size_t n) {
  hash_bits(values, n * sizeof values[0]);
  for (size_t i = 0; i < n; i++)
    if (!isfinite(values[i])) shape_not_finite = true;
}

static void add_doubles(const double *values, size_t n) {
  hash_bits(values, n * sizeof values[0]);
  for (size_t i = 0; i < n; i++)
    if (!isfinite(values[i])) shape_not_finite = true;
}

// The fourth column of R is padding that a program may leave unset.
static void add_pose(const float pos[3], const float R[12]) {
  add_floats(pos, 3);
  for (int row = 0; row < 3; row++) add_floats(R + 4 * row, 3);
}

static void add_pose_double(const double pos[3], const double R[12]) {
  add_doubles(pos, 3);
  for (int row = 0; row < 3; row++) add_doubles(R + 4 * row, 3);
}

void dsDrawBox(const float pos[3], const float R[12], const float sides[3]) {
  begin_shape('b');
  add_pose(pos, R);
  add_floats(sides, 3);
  end_shape();
}

void dsDrawBoxD(const double pos[3], const double R[12],
                const double sides[3]) {
  begin_shape('b');
  add_pose_double(pos, R);
  add_doubles(sides, 3);
  end_shape();
}

void dsDrawSphere(const float pos[3], const float R[12], float radius) {
  begin_shape('s');
  add_pose(pos, R);
  add_floats(&radius, 1);
  end_shape();
}

void dsDrawSphereD(const double pos[3], const double R[12],
                   const float radius) {
  begin_shape('s');
  add_pose_double(pos, R);
  add_floats(&radius, 1);
  end_shape();
}

// A mesh is drawn one triangle a call: its corners are the program's constants
// and only cost time here, so the pose alone is summed.
void dsDrawTriangle(const float pos[3], const float R[12], const float *v0,
                    const float *v1, const float *v2, int solid) {
  (void)v0, (void)v1, (void)v2, (void)solid;
  begin_shape('t');
  add_pose(pos, R);
  end_shape();
}

void dsDrawTriangleD(const double pos[3], const double R[12], const double *v0,
                     const double *v1, const double *v2, int solid) {
  (void)v0, (void)v1, (void)v2, (void)solid;
  begin_shape('t');
  add_pose_double(pos, R);
  end_shape();
}

void dsDrawTriangles(const float pos[3], const float R[12], const float *v,
                     const int n, int solid) {
  (void)v, (void)n, (void)solid;
  begin_shape('m');
  add_pose(pos, R);
  end_shape();
}

void dsDrawTrianglesD(const double pos[3], const double R[12], const double *v,
                      const int n, int solid) {
  (void)v, (void)n, (void)solid;
  begin_shape('m');
  add_pose_double(pos, R);
  end_shape();
}

static void draw_round(unsigned char kind, const float pos[3],
                       const float R[12], float length, float radius) {
  begin_shape(kind);
  add_pose(pos, R);
  add_floats(&length, 1);
  add_floats(&radius, 1);
  end_shape();
}

static void draw_round_double(unsigned char kind, const double pos[3],
                              const double R[12], float length, float radius) {
  begin_shape(kind);
  add_pose_double(pos, R);
  add_floats(&length, 1);
  add_floats(&radius, 1);
  end_shape();
}

void dsDrawCylinder(const float pos[3], const float R[12], float length,
                    float radius) {
  draw_round('y', pos, R, length, radius);
}

void dsDrawCylinderD(const double pos[3], const double R[12], float length,
                     float radius) {
  draw_round_double('y', pos, R, length, radius);
}

void dsDrawCapsule(const float pos[3], const float R[12], float length,
                   float radius) {
  draw_round('c', pos, R, length, radius);
}

void dsDrawCapsuleD(const double pos[3], const double R[12], float length,
                    float radius) {
  draw_round_double('c', pos, R, length, radius);
}

void dsDrawLine(const float pos1[3], const float pos2[3]) {
  begin_shape('l');
  add_floats(pos1, 3);
  add_floats(pos2, 3);
  end_shape();
}

void dsDrawLineD(const double pos1[3], const double pos2[3]) {
  begin_shape('l');
  add_doubles(pos1, 3);
  add_doubles(pos2, 3);
  end_shape();
}

void dsDrawConvex(const float pos[3], const float R[12], const float *planes,
                  unsigned int n_planes, const float *points,
                  unsigned int n_points, const unsigned int *polygons) {
  (void)planes, (void)n_planes, (void)points, (void)n_points, (void)polygons;
  begin_shape('v');
  add_pose(pos, R);
  end_shape();
}

void dsDrawConvexD(const double pos[3], const double R[12],
                   const double *planes, unsigned int n_planes,
                   const double *points, unsigned int n_points,
                   const unsigned int *polygons) {
  (void)planes, (void)n_planes, (void)points, (void)n_points, (void)polygons;
  begin_shape('v');
  add_pose_double(pos, R);
  end_shape();
}
