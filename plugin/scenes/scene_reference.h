/* Solutions that scenes are held against. */
#ifndef ODE_MLCP_SCENES_SCENE_REFERENCE_H
#define ODE_MLCP_SCENES_SCENE_REFERENCE_H

enum { REFERENCE_ROOM = 16 };

/** The derivative of y at time t. */
typedef void reference_slope(const void *context, double t, const double y[],
                             double slope[]);

/** Integrate y [n <= REFERENCE_ROOM] from t0 to t1 in `steps` steps of the
 *  classical fourth-order method of Runge and Kutta. */
void reference_integrate(reference_slope *slope, const void *context, int n,
                         double y[], double t0, double t1, long steps);

#endif
