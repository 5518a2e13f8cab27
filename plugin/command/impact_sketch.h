/* A sketch of a colliding mechanism: what moves, what it strikes, and where. */
#ifndef ODE_MLCP_COMMAND_IMPACT_SKETCH_H
#define ODE_MLCP_COMMAND_IMPACT_SKETCH_H

#include <stdbool.h>

#include "command/impact.h"

typedef enum sketch_kind {
  SKETCH_GROUND,  /* x y x y ..: solid on the right hand of this way */
  SKETCH_BODY,    /* x y x y ..: a closed outline */
  SKETCH_LINK,    /* x y x y ..: a rod */
  SKETCH_DISK,    /* x y radius */
  SKETCH_MASS,    /* x y */
  SKETCH_CONTACT, /* NAME x y nx ny: where, and the normal */
  SKETCH_VELOCITY /* x y dx dy: an arrow */
} sketch_kind;

enum { SKETCH_NUMBERS = 64, SKETCH_SHAPES = 256 };

typedef struct sketch_shape {
  sketch_kind kind;
  int n; /* numbers */
  double at[SKETCH_NUMBERS];
  char name[8]; /* of a contact */
} sketch_shape;

typedef struct impact_sketch {
  int n_shapes; /* 0: there is none */
  sketch_shape *shapes;
  double low[2], high[2]; /* what it takes up */
} impact_sketch;

/** That of an example, or of FOLDER/sketch.txt where there is one. False with a
 *  message that names file and line. */
bool impact_sketch_open(impact_sketch *sketch, const impact_input *input,
                        char message[IMPACT_MESSAGE]);
void impact_sketch_close(impact_sketch *sketch);

#endif
