// Press keys in the window of a demo, take its picture and close it.
//
//   window_shot KEYS SECONDS FILE.png
//
// Waits up to 30 s for a window named "Simulation" on $DISPLAY, sends it the
// keys a fifth of a second apart ("_": the space bar), waits for the seconds,
// writes what the window shows and asks it to close. Prints the size, the
// number of colours and the share of the most frequent one; exit status 1
// where the picture is blank (fewer than 16 colours, or nine tenths of it in
// one colour), 2 where there is no picture.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <X11/XKBlib.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <png.h>

static void fail(const char *what) {
  fprintf(stderr, "window_shot: %s\n", what);
  exit(2);
}

static void wait_seconds(double seconds) {
  struct timespec pause = {(time_t)seconds,
                           (long)(1e9 * (seconds - (double)(time_t)seconds))};
  nanosleep(&pause, NULL);
}

// 0 where no child of the root has the name of drawstuff's window.
static Window find_window(Display *display) {
  Window root, parent, *children = NULL, found = 0;
  unsigned int n_children = 0;
  XQueryTree(display, DefaultRootWindow(display), &root, &parent, &children,
             &n_children);
  for (unsigned int i = 0; i < n_children && !found; i++) {
    char *name = NULL;
    if (!XFetchName(display, children[i], &name)) continue;
    if (strcmp(name, "Simulation") == 0) found = children[i];
    XFree(name);
  }
  if (children) XFree(children);
  return found;
}

static void press_key(Display *display, Window window, char key) {
  KeySym symbol = key == '_' ? ' ' : (unsigned char)key;
  XKeyEvent event = {.type = KeyPress,
                     .display = display,
                     .window = window,
                     .root = DefaultRootWindow(display),
                     .same_screen = True,
                     .keycode = XKeysymToKeycode(display, symbol)};
  if (!event.keycode) fail("no such key on this display");
  // the second symbol of a key is the one with shift
  if (XkbKeycodeToKeysym(display, (KeyCode)event.keycode, 0, 0) != symbol)
    event.state = ShiftMask;
  XSendEvent(display, window, True, KeyPressMask, (XEvent *)&event);
  XFlush(display);
}

static void close_window(Display *display, Window window) {
  XClientMessageEvent event = {
      .type = ClientMessage,
      .display = display,
      .window = window,
      .format = 32,
      .message_type = XInternAtom(display, "WM_PROTOCOLS", False)};
  event.data.l[0] = (long)XInternAtom(display, "WM_DELETE_WINDOW", False);
  XSendEvent(display, window, False, NoEventMask, (XEvent *)&event);
  XSync(display, False);
}

// [height x width x 3] bytes, red, green, blue; the caller frees them.
static unsigned char *read_pixels(Display *display, Window window, int *width,
                                  int *height) {
  XWindowAttributes size;
  if (!XGetWindowAttributes(display, window, &size)) fail("no window size");
  *width = size.width;
  *height = size.height;
  XImage *image = XGetImage(display, window, 0, 0, (unsigned)*width,
                            (unsigned)*height, AllPlanes, ZPixmap);
  if (!image || image->bits_per_pixel != 32 || image->red_mask != 0xff0000)
    fail("no picture of 24 bits");
  unsigned char *pixels = malloc(3 * (size_t)*width * (size_t)*height);
  if (!pixels) fail("no memory");
  unsigned char *next = pixels;
  for (int y = 0; y < *height; y++)
    for (int x = 0; x < *width; x++) {
      unsigned long pixel = XGetPixel(image, x, y);
      *next++ = (unsigned char)(pixel >> 16);
      *next++ = (unsigned char)(pixel >> 8);
      *next++ = (unsigned char)pixel;
    }
  XDestroyImage(image);
  return pixels;
}

// Colours of 5 bits a channel: 32 shades are enough to tell sky from ground.
static bool is_blank(const unsigned char *pixels, int width, int height) {
  static uint32_t counts[1 << 15];
  size_t n_pixels = (size_t)width * (size_t)height, n_colours = 0;
  for (size_t i = 0; i < n_pixels; i++) {
    const unsigned char *pixel = pixels + 3 * i;
    counts[pixel[0] >> 3 << 10 | pixel[1] >> 3 << 5 | pixel[2] >> 3]++;
  }
  uint32_t most = 0;
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    if (counts[i]) n_colours++;
    if (counts[i] > most) most = counts[i];
  }
  double share = (double)most / (double)n_pixels;
  printf("%dx%d, %zu colours, the most frequent on %.0f %% of it\n", width,
         height, n_colours, 100 * share);
  return n_colours < 16 || share > 0.9;
}

static void write_png(const char *file, const unsigned char *pixels, int width,
                      int height) {
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .format = PNG_FORMAT_RGB,
                     .width = (png_uint_32)width,
                     .height = (png_uint_32)height};
  if (!png_image_write_to_file(&image, file, 0, pixels, 0, NULL))
    fail(image.message);
}

int main(int argc, char **argv) {
  if (argc != 4) fail("usage: window_shot KEYS SECONDS FILE.png");
  Display *display = XOpenDisplay(NULL);
  if (!display) fail("no display");

  Window window = 0;
  for (int i = 0; i < 300 && !(window = find_window(display)); i++)
    wait_seconds(0.1);
  if (!window) fail("no window of a demo");
  wait_seconds(1);

  for (const char *key = argv[1]; *key; key++) {
    press_key(display, window, *key);
    wait_seconds(0.2);
  }
  wait_seconds(strtod(argv[2], NULL));

  int width, height;
  unsigned char *pixels = read_pixels(display, window, &width, &height);
  close_window(display, window);
  write_png(argv[3], pixels, width, height);
  bool blank = is_blank(pixels, width, height);
  free(pixels);
  XCloseDisplay(display);
  return blank ? 1 : 0;
}
