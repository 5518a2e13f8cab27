/* The clock of a recorded program: it goes with the steps, so that a program
 * which asks the time, or takes its seed from it, does the same in every run. */
#ifndef ODE_MLCP_PRELOAD_RECORDER_CLOCK_H
#define ODE_MLCP_PRELOAD_RECORDER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/** From now on the program's clock starts at a fixed date, goes on by the size
 *  of each step, by a tenth of a millisecond each time it is read, and by what
 *  the program wants to sleep, which it does not. */
void recorder_clock_set(void);

/** A step of `seconds` was taken. */
void recorder_clock_advance(double seconds);

/** In a step: the steppers' clock is the real one. This thread only. */
void recorder_clock_real(bool real);

/** s, of the real clock. */
double recorder_clock_seconds(void);

/** s: processor time of this thread. */
double recorder_clock_processor(void);

#endif
