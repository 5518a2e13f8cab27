/* A recorded process tells the command, step by step, while it runs, the state
 * of its worlds as it is, nothing worked out. The command judges it and
 * writes the recording, so that the program pays for copies alone.
 *
 * A file that both have mapped: a head, then a ring. `written` and `taken` count
 * bytes since the start; a record lies in the ring as one piece, after a
 * TRAFFIC_PAD where it would go over the end, and is there when `written` is past
 * it: however the process ends, what it told before is read. Records are those
 * of preload/recording.h, for bodies and shapes, and two of its own. */
#ifndef ODE_MLCP_PRELOAD_TRAFFIC_H
#define ODE_MLCP_PRELOAD_TRAFFIC_H

#include <stddef.h>
#include <stdint.h>

#include <ode/ode.h>

#include "preload/recording.h"

#define TRAFFIC_MAGIC "ODETRAFF"
enum { TRAFFIC_HEAD = 4096 };
static const size_t TRAFFIC_RING = (size_t)64 << 20; /* B */

typedef struct traffic_head {
  char magic[8];
  uint64_t size;           /* of the ring, B */
  uint64_t written, taken; /* B: by the process, by the command */
  int32_t writer;          /* the process that tells; 0: none yet */
  int32_t reader;          /* the command's */
  uint32_t interval;       /* by the command: a step in so many needs shapes */
  uint32_t stopped;        /* 1: ended at the last step asked for */
  uint32_t
      lost; /* 1: a step was too large for the ring, nothing later is told */
  int64_t messages; /* as in recording_head */
  char program[256];
  char message[RECORDING_MESSAGE];
} traffic_head;

/** The bytes of a record, which begins and ends at a multiple of 8. What is in it need
 *  not where a double lies at one of 4, as on i386. */
static inline uint64_t traffic_whole(uint64_t bytes) {
  return (bytes + 7) / 8 * 8;
}

enum { TRAFFIC_PAD = 100, TRAFFIC_STEP }; /* kinds; others: recording_kind */

/** One call of dWorldStep or dWorldQuickStep. */
typedef struct traffic_step {
  recording_record record;
  uint32_t world, messages;    /* from 1; of the host since the last step */
  double step_size, seconds;   /* s; seconds: wall clock in the step */
  double processor;            /* s: of the thread that took it */
  uint32_t taken, watched;     /* 1: the step was; there was memory to see it */
  uint32_t attached, last;     /* 1: on a stepper of ode-mlcp; before a stop */
  uint32_t degraded, unsolved; /* ode-mlcp's report, and its residual */
  uint32_t n_bodies, n_contacts, n_joints;
  double residual;
  double cfm;                 /* that the stepper steps with */
  double erp, layer, fastest; /* the world's, of contacts */
  dVector3 gravity;
  double joint_error; /* m or rad: the worst as the step began */
} traffic_step; /* then traffic_body [n_bodies], traffic_contact [n_contacts],
                   traffic_joint [n_joints] */

typedef struct traffic_state {
  double position[3], quaternion[4], v[3], w[3];
} traffic_state;

typedef enum traffic_flag {
  TRAFFIC_DYNAMIC = 1,
  TRAFFIC_FALLS = 2, /* gravity */
  TRAFFIC_GYROSCOPIC = 4,
  TRAFFIC_FINITE_ROTATION = 8,
  TRAFFIC_MAY_SLEEP = 16
} traffic_flag;

/** Lasting properties of a body. */
typedef struct traffic_kind {
  uint32_t body, flags;    /* its number in its world */
  double mass, inertia[9]; /* of the body's own frame */
  double linear_damping, linear_threshold, angular_damping, angular_threshold;
} traffic_kind;

typedef struct traffic_body {
  traffic_kind kind;
  uint32_t awake, awake_after; /* as the step began, and after it */
  traffic_state before, after;
  double force[3], torque[3]; /* the program's */
} traffic_body;

/** A contact joint of the program's; bodies: place among the step's from 1. */
typedef struct traffic_contact {
  uint32_t bodies[2]; /* 0: none */
  dContact asked;
  dJointFeedback force;
} traffic_contact;

/** Any other joint. `working` is the part of its force that may do work: of rows
 *  with a limit (motors, stops) and of rows that give way (springs). */
typedef struct traffic_joint {
  uint32_t bodies[2];
  dJointFeedback force, working;
} traffic_joint;

#endif
