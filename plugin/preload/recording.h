/* The file of what one process's worlds did: docs/recording.md. The command
 * writes it, of what preload/traffic.h tells.
 *
 * A head of one page, then records, each a `recording_record` and as many bytes
 * as that says, a multiple of 8. All numbers are the machine's own
 * (little-endian on every machine this runs on). `used` moves on when a record is
 * whole: however the command ends, what is up to there can be read.
 */
#ifndef ODE_MLCP_PRELOAD_RECORDING_H
#define ODE_MLCP_PRELOAD_RECORDING_H

#include <stdint.h>

/* what `ode-mlcp compare` hands to the recorder, as environment variables */
#define RECORDING_TRAFFIC "ODE_MLCP_RECORD" /* a file: preload/traffic.h */
#define RECORDING_STEPPER "ODE_MLCP_RECORD_STEPPER" /* step, quick, quick:N */
#define RECORDING_SCHEME "ODE_MLCP_SCHEME"
#define RECORDING_STEPS "ODE_MLCP_RECORD_STEPS"
#define RECORDING_REFINE "ODE_MLCP_RECORD_REFINE"
#define RECORDING_CLOCK "ODE_MLCP_RECORD_CLOCK" /* steps, real */

#define RECORDING_MAGIC "ODERECRD"
enum {
  RECORDING_VERSION = 5,
  RECORDING_HEAD = 4096,
  RECORDING_MESSAGE = 400,
  RECORDING_ARGUMENTS = 512
};

/** Sums over the process so far; kept up to date step by step. */
typedef struct recording_head {
  char magic[8];
  uint32_t version, head_size;
  uint64_t used;      /* bytes of the file that are whole */
  int64_t steps;      /* calls of dWorldStep and dWorldQuickStep */
  int64_t failed;     /* of them, those that returned 0 */
  int64_t not_finite; /* steps after which a state was not finite */
  int64_t messages;   /* errors and warnings of the host */
  int64_t degraded;   /* ode-mlcp: answers that miss their tolerance */
  int64_t unsolved;   /* of them, residual above 1e-6 */
  double time;        /* s: the sum of all sizes of steps */
  double seconds;     /* s: wall clock in the steps */
  uint32_t interval;  /* a step in so many has a frame now */
  uint32_t refine;    /* substeps a step */
  uint32_t stopped;   /* 1: ended by the recorder at the last step asked for */
  uint32_t full;      /* 1: the disk was full, nothing later is recorded */
  uint32_t worlds;
  int32_t status; /* the program's exit status, or 128 and a signal's number;
                       -1: not known. This and the next: from the command */
  uint32_t cut;   /* 1: ended by the command: interrupted, or out of time */
  char stepper[64];
  char program[256];
  char message[RECORDING_MESSAGE]; /* the first */
  int64_t unused[4];
  double weight; /* N: of all that falls, the most of a step */
  /* of the program, each with its end, up to an empty one; as many as fit */
  char arguments[RECORDING_ARGUMENTS];
} recording_head;

typedef enum recording_kind {
  RECORDING_BODY = 1,
  RECORDING_SHAPE,
  RECORDING_STEP,
  RECORDING_FRAME
} recording_kind;

typedef struct recording_record {
  uint32_t kind, size; /* of the whole record, B */
} recording_record;

/** A body when it is first seen. */
typedef struct recording_body {
  recording_record record;
  uint32_t world, body; /* numbers from 1; of a body its world's */
  double mass;          /* kg; 0: kinematic */
} recording_body;

typedef enum recording_shape_kind {
  RECORDING_SPHERE = 1, /* sizes: radius */
  RECORDING_BOX,        /* sizes: lengths */
  RECORDING_CAPSULE,    /* sizes: radius, length without caps; along z */
  RECORDING_CYLINDER,   /* sizes: radius, length; along z */
  RECORDING_PLANE,      /* sizes: a, b, c, d */
  RECORDING_MESH        /* vertices and triangles follow */
} recording_shape_kind;

/** A geom when it is first seen, or has changed. */
typedef struct recording_shape {
  recording_record record;
  uint32_t world, body; /* 0: no body, the pose is the world's */
  uint32_t kind, number;
  float sizes[4];
  float position[3], quaternion[4]; /* on its body; w first */
  uint32_t n_vertices, n_triangles; /* float [n][3], uint32_t [n][3] */
  uint32_t last; /* number of the last step it was so; 0: still */
} recording_shape;

/** One step, or, where the recording is sampled, `steps` of them: errors are
 *  the worst of these, counts their sums, states those after the last. */
typedef struct recording_step {
  recording_record record;
  uint32_t world, steps;
  int64_t number; /* of the last step; counts all worlds */
  double time;    /* s: the world's after the step */
  double step_size;
  double seconds;   /* s: wall clock in one step, the worst */
  double processor; /* s: of the stepping thread in one step, the worst */
  double contact_error, cone_violation; /* m/s */
  double friction_error;                /* m/s: of a body */
  double
      aslant_error;   /* m/s: of that, by limits in two directions for a cone */
  double penetration; /* m */
  double joint_error; /* m, rad */
  double kinetic, potential;   /* J */
  double energy_unexplained;   /* J: sum since the start */
  double contact_work;         /* J: put in by contacts since the start */
  double crept;                /* m: the most of a body since the start */
  double momentum_unexplained; /* N s */
  double fastest;              /* m/s: of a body's centre */
  double residual;             /* ode-mlcp's */
  uint32_t contacts, bodies, awake;
  uint32_t failed, degraded, messages;
} recording_step;

/** A world's bodies and contacts after a step. */
typedef struct recording_frame {
  recording_record record;
  uint32_t world, n_bodies;
  int64_t number;
  double time;
  uint32_t n_contacts, unused;
} recording_frame; /* then recording_pose [n_bodies], recording_contact
                      [n_contacts] */

typedef struct recording_pose {
  double position[3];   /* m: of the centre of mass */
  float quaternion[4];  /* w first */
  float velocity[3];    /* m/s */
  float angular[3];     /* rad/s */
  uint32_t body, awake; /* number of the body */
} recording_pose;

typedef struct recording_contact {
  float position[3]; /* m */
  float force[3];    /* N, on the body that the normal points into */
  float depth;       /* m */
  float error;       /* m/s */
} recording_contact;

#endif
