/* Solids seen from the side and from above: what a picture draws. */
#ifndef ODE_MLCP_DEMOS_COMPARE_OUTLINE_H
#define ODE_MLCP_DEMOS_COMPARE_OUTLINE_H

typedef enum solid_kind {
  SOLID_BOX,      /* sizes: lengths along x, y, z */
  SOLID_SPHERE,   /* radius */
  SOLID_CAPSULE,  /* radius, length between the caps' centres, along z */
  SOLID_CYLINDER, /* radius, length, along z */
  N_SOLID_KINDS
} solid_kind;

typedef struct solid {
  solid_kind kind;
  double sizes[3];     /* m */
  double position[3];  /* m */
  double rotation[12]; /* 3 x 4 by rows, as the host's dMatrix3 */
  double speed;        /* m/s, of its body's centre */
} solid;

enum { OUTLINE_MAX_POINTS = 256 };

typedef enum view {
  VIEW_SIDE, /* along y: x to the right, z upwards */
  VIEW_TOP   /* down: x to the right, y upwards */
} view;

typedef struct outline {
  int n;
  double points[OUTLINE_MAX_POINTS][2]; /* m, anticlockwise */
} outline;

/** What is seen of `solid`: a convex polygon. */
void outline_of(const solid *solid, view view, outline *outline);

#endif
