/* The functions that our patches add to the host.
 *
 * They are weak, so that a library on another host is loaded all the same and
 * can say what is wrong with it. Makefile.am has every file that may call them
 * begin with this one: one strong reference would be enough for the loader to
 * end the program.
 */
#ifndef ODE_MLCP_HOST_PATCHED_HOST_H
#define ODE_MLCP_HOST_PATCHED_HOST_H

/* a name is declared before it is said to be weak; and as this is the first
 * header of all, what a file defines for the system's is too late */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <ode/ode.h>
#include <ode/stepper.h>

#define PATCHED_HOST_FUNCTIONS(ROW)                                            \
  ROW(dWorldSetStepper)                                                        \
  ROW(dWorldGetStepper)                                                        \
  ROW(dWorldGetStepperContext)                                                 \
  ROW(dSetStepperWorldCreatedFunction)                                         \
  ROW(dBodyGetSerial)                                                          \
  ROW(dJointGetSerial)                                                         \
  ROW(dJointGetStepperRows)                                                    \
  ROW(dJointGetStepperContact)                                                 \
  ROW(dJointSetStepperResult)                                                  \
  ROW(dBodyStepperAdvance)                                                     \
  ROW(dGeomGetAABBMargin)                                                      \
  ROW(dGeomSetAABBMargin)                                                      \
  ROW(dGeomGetConvex)                                                          \
  ROW(dGeomHeightfieldDataGetHeight)                                           \
  ROW(dGeomHeightfieldDataGetSize)                                             \
  ROW(dGeomIsPlaceable)                                                        \
  ROW(dBodyStepperMove)                                                        \
  ROW(dBodyStepperPlace)                                                       \
  ROW(dWorldGetBodies)                                                         \
  ROW(dWorldGetJoints)                                                         \
  ROW(dJointGetStepperAxisStops)                                               \
  ROW(dJointGetStepperEulerAxes)

#define PATCHED_HOST_PRAGMA(text) _Pragma(#text)
#define PATCHED_HOST_WEAK(name) PATCHED_HOST_PRAGMA(weak name)
PATCHED_HOST_FUNCTIONS(PATCHED_HOST_WEAK)

/** Tells why the ODE library of this process cannot be stepped: one of these
 *  functions is missing, or its numbers are not those that we were built for; NULL: it can. */
const char *patched_host_fault(void);

#endif
