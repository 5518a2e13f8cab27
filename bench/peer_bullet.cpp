// Bullet (libbullet-dev, double precision): its Lemke and its Dantzig.
#include "peers.h"

#include <BulletDynamics/MLCPSolvers/btDantzigLCP.h>
#include <BulletDynamics/MLCPSolvers/btLemkeAlgorithm.h>

#include "bench_clock.h"

extern "C" int bullet_lemke(int n, const double M[], const double q[],
                            double z[], double *seconds) {
  btMatrixXu matrix(n, n);
  btVectorXu vector(n);
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < n; k++) matrix.setElem(i, k, M[i * n + k]);
    vector[i] = q[i];
  }
  double start = bench_seconds();
  btLemkeAlgorithm lemke(matrix, vector);
  btVectorXu solution = lemke.solve(20 * n + 1000);
  *seconds = bench_seconds() - start;
  // w, then z
  for (int i = 0; i < n; i++)
    z[i] = i + n < solution.rows() ? solution[i + n] : 0;
  return lemke.getInfo();
}

extern "C" int bullet_dantzig(int n, const double A[], const double b[],
                              const double low[], const double high[],
                              const int limit[], double x[], double *seconds) {
  // it works in place
  btAlignedObjectArray<btScalar> matrix, right, w, lo, hi;
  btAlignedObjectArray<int> index;
  matrix.resize(n * n);
  right.resize(n);
  w.resize(n);
  lo.resize(n);
  hi.resize(n);
  index.resize(n);
  for (int i = 0; i < n * n; i++) matrix[i] = A[i];
  for (int i = 0; i < n; i++) {
    right[i] = b[i];
    lo[i] = low[i];
    hi[i] = high[i];
    index[i] = limit[i];
    x[i] = 0;
  }
  btDantzigScratchMemory scratch;
  double start = bench_seconds();
  bool solved = btSolveDantzigLCP(n, &matrix[0], x, &right[0], &w[0], 0, &lo[0],
                                  &hi[0], &index[0], scratch);
  *seconds = bench_seconds() - start;
  return solved ? 0 : 1;
}
