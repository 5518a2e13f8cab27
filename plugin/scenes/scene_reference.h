/* Solutions that scenes are held against. */
#ifndef ODE_MLCP_SCENES_SCENE_REFERENCE_H
#define ODE_MLCP_SCENES_SCENE_REFERENCE_H

enum { REFERENCE_ROOM = 16, REFERENCE_COORDINATES = 4 };

/** The derivative of y at time t. */
typedef void reference_slope(const void *context, double t, const double y[],
                             double slope[]);

/** Integrate y [n <= REFERENCE_ROOM] from t0 to t1 in `steps` steps of the
 *  classical fourth-order method of Runge and Kutta. */
void reference_integrate(reference_slope *slope, const void *context, int n,
                         double y[], double t0, double t1, long steps);

/** A system without friction in coordinates of its own: T = q'^T M(q) q' / 2. */
typedef struct reference_system {
  int n; /* coordinates, <= REFERENCE_COORDINATES */
  const void *context;
  void (*mass)(const void *context, const double q[], double M[]); /* [n n] */
  double (*potential)(const void *context, const double q[]);
} reference_system;

/** The slope of y = (q, q') by Lagrange's equations; `context` is the
 *  reference_system. Derivatives of M and of the potential are central differences
 *  over 1e-5, to about 1e-10. */
reference_slope reference_lagrange;

#endif
