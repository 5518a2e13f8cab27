/* Mixed LCPs for tests, built from bodies and contacts without a host world.
 *
 * Bodies are boxes that do not turn relative to the world's axes; z is up.
 */
#ifndef ODE_MLCP_TESTS_PROBLEMS_H
#define ODE_MLCP_TESTS_PROBLEMS_H

#include "mlcp/mlcp.h"

typedef struct problem_body {
  double position[3]; /* m */
  double half[3];     /* m */
} problem_body;

/** A problem that owns its arrays; `mlcp` always views them. */
typedef struct test_problem {
  mlcp_problem mlcp;
  mlcp_body *bodies;
  problem_body *places;
  mlcp_row *rows;
  mlcp_friction *frictions;
  mlcp_pair *pairs;
  int room[4]; /* bodies, rows, frictions, pairs allocated */
  double h;    /* s */
} test_problem;

/** A solution with arrays of the problem's sizes, all zero. */
typedef struct test_solution {
  mlcp_solution mlcp;
  double *memory;
} test_solution;

/** Empty, with h = 0.01 s and gravity 9.81 m/s^2 in v_free of bodies to come.
 *  Allocation failures end the test program. */
void problem_init(test_problem *problem);
void problem_release(test_problem *problem);

void solution_init(test_solution *solution, const mlcp_problem *problem);
void solution_release(test_solution *solution);
/** Of any solution, from the problem's own data. */
double solution_residual(const mlcp_problem *problem,
                         const mlcp_solution *solution);

/** A box of the given mass at rest but for gravity h; returns its number. */
int problem_add_box(test_problem *problem, double mass, double x, double y,
                    double z, double half_x, double half_y, double half_z);

/**
 * A contact at `point` that pushes body `a` along `normal` and `b` (-1: the
 * ground) against it, with gap [m], friction coefficient mu and `n_edges`
 * friction edges (2: one base row along the first tangent; 0: no friction).
 */
void problem_add_contact(test_problem *problem, int a, int b,
                         const double point[3], const double normal[3],
                         double gap, double mu, int n_edges);

/** The same with the first edge turned by `angle` in the tangent plane. */
void problem_add_turned_contact(test_problem *problem, int a, int b,
                                const double point[3], const double normal[3],
                                double gap, double mu, int n_edges,
                                double angle);

/** Four contacts at the corners where box `a` stands on box `b` (-1: z = 0). */
void problem_add_face(test_problem *problem, int a, int b, double mu,
                      int n_edges);

/** A joint row with the given Jacobian; returns its number. */
int problem_add_row(test_problem *problem, int a, int b, const double J_a[6],
                    const double J_b[6], double bias, double low, double high);

/** Three rows that hold `point` of `a` and `b` (-1: the world) together. */
void problem_add_ball(test_problem *problem, int a, int b,
                      const double point[3], double compliance);

/* ---- scenes ------------------------------------------------------------ */

/** Unit cubes in rows of base, base - 1, .., 1, each resting on two below. */
void problem_make_wall(test_problem *problem, int base, double mu, int n_edges);

/** n cubes on each other, masses 1 and `ratio` in turn, the lightest below. */
void problem_make_stack(test_problem *problem, int n, double ratio, double mu,
                        int n_edges);

/** n boxes with random contacts and velocities, each held from below by others
 *  or the ground: a heap in motion. The same for the same seed. */
void problem_make_heap(test_problem *problem, int n, unsigned seed, double mu,
                       int n_edges);

/** n links joined end to end, lying on the ground: joints against contacts. */
void problem_make_chain(test_problem *problem, int n, double mu, int n_edges);

/** A box held up between two fixed opposed contacts, limit from constant normal
 *  loads: the fingers are boxes pushed by bounded rows. */
void problem_make_grasp(test_problem *problem, double mu, int n_edges);

#endif
