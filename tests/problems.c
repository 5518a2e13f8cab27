#include "problems.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double gravity = 9.81;
static const double pi = 3.14159265358979323846;

static void *grow(void *block, int *room, int count, size_t size) {
  if (count <= *room) return block;
  *room = 2 * count + 16;
  block = realloc(block, size * *room);
  if (block == NULL) {
    fputs("problems: out of memory\n", stderr);
    exit(99);
  }
  return block;
}

static void update_view(test_problem *problem) {
  problem->mlcp.bodies = problem->bodies;
  problem->mlcp.rows = problem->rows;
  problem->mlcp.frictions = problem->frictions;
  problem->mlcp.pairs = problem->pairs;
}

void problem_init(test_problem *problem) {
  memset(problem, 0, sizeof *problem);
  problem->h = 0.01;
  problem->mlcp.velocity_floor = gravity * problem->h;
}

void problem_release(test_problem *problem) {
  free(problem->bodies);
  free(problem->places);
  free(problem->rows);
  free(problem->frictions);
  free(problem->pairs);
  memset(problem, 0, sizeof *problem);
}

void solution_init(test_solution *solution, const mlcp_problem *problem) {
  size_t n_v = 6 * (size_t)problem->n_bodies;
  size_t count = n_v + problem->n_rows + 2 * (size_t)problem->n_pairs +
                 problem->n_frictions + 1;
  int room = 0;
  solution->memory = grow(NULL, &room, (int)count, sizeof(double));
  memset(solution->memory, 0, sizeof(double) * count);
  solution->mlcp.v = solution->memory;
  solution->mlcp.p = solution->mlcp.v + n_v;
  solution->mlcp.beta = solution->mlcp.p + problem->n_rows;
  solution->mlcp.lambda = solution->mlcp.beta + 2 * problem->n_pairs;
}

void solution_release(test_solution *solution) {
  free(solution->memory);
  solution->memory = NULL;
}

double solution_residual(const mlcp_problem *problem,
                         const mlcp_solution *solution) {
  double *scratch = calloc(6 * (size_t)problem->n_bodies + 1, sizeof *scratch);
  double residual = mlcp_residual(problem, solution, scratch);
  free(scratch);
  return residual;
}

int problem_add_box(test_problem *problem, double mass, double x, double y,
                    double z, double half_x, double half_y, double half_z) {
  int index = problem->mlcp.n_bodies++;
  int room = problem->room[0];
  problem->bodies = grow(problem->bodies, &problem->room[0], index + 1,
                         sizeof *problem->bodies);
  problem->places =
      grow(problem->places, &room, index + 1, sizeof *problem->places);

  problem_body *place = &problem->places[index];
  *place = (problem_body){{x, y, z}, {half_x, half_y, half_z}};
  mlcp_body *body = &problem->bodies[index];
  memset(body, 0, sizeof *body);
  for (int i = 0; i < 3; i++) {
    double a = place->half[(i + 1) % 3], b = place->half[(i + 2) % 3];
    body->mass[7 * i] = mass;
    body->mass[7 * (i + 3)] = mass / 3 * (a * a + b * b);
  }
  for (int i = 0; i < 6; i++) body->inverse_mass[7 * i] = 1 / body->mass[7 * i];
  body->v_free[2] = -gravity * problem->h;
  update_view(problem);
  return index;
}

int problem_add_row(test_problem *problem, int a, int b, const double J_a[6],
                    const double J_b[6], double bias, double low, double high) {
  int index = problem->mlcp.n_rows++;
  problem->rows =
      grow(problem->rows, &problem->room[1], index + 1, sizeof *problem->rows);
  mlcp_row *row = &problem->rows[index];
  memset(row, 0, sizeof *row);
  row->kind = MLCP_ROW_JOINT;
  row->body[0] = a;
  row->body[1] = b;
  if (a >= 0) memcpy(row->J[0], J_a, sizeof row->J[0]);
  if (b >= 0) memcpy(row->J[1], J_b, sizeof row->J[1]);
  row->bias = bias;
  row->low = low;
  row->high = high;
  update_view(problem);
  return index;
}

static void cross(const double a[3], const double b[3], double c[3]) {
  for (int i = 0; i < 3; i++)
    c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* A row along `direction` at `point`: moves a along it, b against it. */
static int add_point_row(test_problem *problem, int a, int b,
                         const double point[3], const double direction[3],
                         double bias, double low, double high) {
  double J[2][6] = {{0}};
  int body[2] = {a, b};
  for (int side = 0; side < 2; side++) {
    if (body[side] < 0) continue;
    double arm[3], sign = side == 0 ? 1 : -1;
    for (int i = 0; i < 3; i++) {
      arm[i] = point[i] - problem->places[body[side]].position[i];
      J[side][i] = sign * direction[i];
    }
    cross(arm, J[side], J[side] + 3);
  }
  return problem_add_row(problem, a, b, J[0], J[1], bias, low, high);
}

/* Two unit tangents, the first as near to x or y as it gets. */
static void make_tangents(const double normal[3], double angle,
                          double tangents[2][3]) {
  double first[3], second[3], axis[3] = {0, 0, 0};
  axis[fabs(normal[0]) > 0.8 ? 1 : 0] = 1;
  double along = axis[0] * normal[0] + axis[1] * normal[1];
  for (int i = 0; i < 3; i++) first[i] = axis[i] - along * normal[i];
  double length =
      sqrt(first[0] * first[0] + first[1] * first[1] + first[2] * first[2]);
  for (int i = 0; i < 3; i++) first[i] /= length;
  cross(normal, first, second);
  for (int i = 0; i < 3; i++) {
    tangents[0][i] = cos(angle) * first[i] + sin(angle) * second[i];
    tangents[1][i] = -sin(angle) * first[i] + cos(angle) * second[i];
  }
}

void problem_add_turned_contact(test_problem *problem, int a, int b,
                                const double point[3], const double normal[3],
                                double gap, double mu, int n_edges,
                                double angle) {
  int normal_row = add_point_row(problem, a, b, point, normal, gap / problem->h,
                                 0, INFINITY);
  problem->rows[normal_row].kind = MLCP_ROW_NORMAL;
  if (n_edges == 0) return;

  int n_base = n_edges == 2 ? 1 : 2, n_pairs = n_edges / 2;
  double tangents[2][3];
  make_tangents(normal, angle, tangents);
  for (int i = 0; i < n_base; i++) {
    int row = add_point_row(problem, a, b, point, tangents[i], 0, 0, 0);
    problem->rows[row].kind = MLCP_ROW_FRICTION;
  }

  mlcp_problem *m = &problem->mlcp;
  problem->frictions = grow(problem->frictions, &problem->room[2],
                            m->n_frictions + 1, sizeof *problem->frictions);
  problem->frictions[m->n_frictions++] =
      (mlcp_friction){.normal = normal_row,
                      .first_row = normal_row + 1,
                      .n_base = n_base,
                      .first_pair = m->n_pairs,
                      .n_pairs = n_pairs,
                      .coefficient = mu};
  problem->pairs = grow(problem->pairs, &problem->room[3], m->n_pairs + n_pairs,
                        sizeof *problem->pairs);
  for (int k = 0; k < n_pairs; k++)
    problem->pairs[m->n_pairs++] =
        (mlcp_pair){{k == 0 ? 1 : cos(pi * k / n_pairs),
                     k == 0 ? 0 : sin(pi * k / n_pairs)}};
  update_view(problem);
}

void problem_add_contact(test_problem *problem, int a, int b,
                         const double point[3], const double normal[3],
                         double gap, double mu, int n_edges) {
  problem_add_turned_contact(problem, a, b, point, normal, gap, mu, n_edges, 0);
}

void problem_add_face(test_problem *problem, int a, int b, double mu,
                      int n_edges) {
  static const double up[3] = {0, 0, 1};
  const problem_body *above = &problem->places[a];
  double low[2], high[2];
  for (int i = 0; i < 2; i++) {
    low[i] = above->position[i] - above->half[i];
    high[i] = above->position[i] + above->half[i];
    if (b < 0) continue;
    const problem_body *below = &problem->places[b];
    low[i] = fmax(low[i], below->position[i] - below->half[i]);
    high[i] = fmin(high[i], below->position[i] + below->half[i]);
  }
  for (int corner = 0; corner < 4; corner++) {
    double point[3] = {corner % 2 ? high[0] : low[0],
                       corner / 2 ? high[1] : low[1],
                       above->position[2] - above->half[2]};
    problem_add_contact(problem, a, b, point, up, 0, mu, n_edges);
  }
}

void problem_add_ball(test_problem *problem, int a, int b,
                      const double point[3], double compliance) {
  for (int i = 0; i < 3; i++) {
    double direction[3] = {i == 0, i == 1, i == 2};
    int row =
        add_point_row(problem, a, b, point, direction, 0, -INFINITY, INFINITY);
    problem->rows[row].compliance = compliance;
  }
}

/* ---- scenes ------------------------------------------------------------ */

void problem_make_wall(test_problem *problem, int base, double mu,
                       int n_edges) {
  problem_init(problem);
  int first_below = -1;
  for (int level = 0; level < base; level++) {
    int first = problem->mlcp.n_bodies;
    for (int i = 0; i < base - level; i++) {
      int box = problem_add_box(problem, 1000, 1.05 * (i + 0.5 * level), 0,
                                level + 0.5, 0.5, 0.5, 0.5);
      if (level == 0) problem_add_face(problem, box, -1, mu, n_edges);
      for (int side = 0; side < 2 && level > 0; side++)
        problem_add_face(problem, box, first_below + i + side, mu, n_edges);
    }
    first_below = first;
  }
}

void problem_make_stack(test_problem *problem, int n, double ratio, double mu,
                        int n_edges) {
  problem_init(problem);
  for (int i = 0; i < n; i++) {
    problem_add_box(problem, i % 2 == 0 ? 1 : ratio, 0, 0, i + 0.5, 0.5, 0.5,
                    0.5);
    problem_add_face(problem, i, i - 1, mu, n_edges);
  }
}

/* Uniform in [-1, 1). */
static double random_number(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

static void random_direction(uint64_t *state, double d[3]) {
  double length;
  do {
    for (int i = 0; i < 3; i++) d[i] = random_number(state);
    length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  } while (length < 0.1 || length > 1);
  for (int i = 0; i < 3; i++) d[i] /= length;
}

void problem_make_heap(test_problem *problem, int n, unsigned seed, double mu,
                       int n_edges) {
  problem_init(problem);
  uint64_t state = seed * 2654435761u + 1;
  for (int i = 0; i < n; i++) {
    double size = 0.5 + 0.2 * random_number(&state);
    problem_add_box(problem, 1000 * size, random_number(&state),
                    random_number(&state), 0.2 * i, size, 0.5 * size, size);
    for (int k = 0; k < 6; k++)
      problem->bodies[i].v_free[k] += 0.5 * random_number(&state);

    // on three others, nearly always below it
    for (int contact = 0; contact < 3; contact++) {
      int other = (int)((0.5 + 0.5 * random_number(&state)) * (i + 1)) - 1;
      double normal[3], point[3];
      random_direction(&state, normal);
      normal[2] = fabs(normal[2]) + 0.3;
      double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] +
                           normal[2] * normal[2]);
      for (int k = 0; k < 3; k++) {
        normal[k] /= length;
        point[k] = problem->places[i].position[k] - size * normal[k] +
                   0.1 * random_number(&state);
      }
      problem_add_turned_contact(problem, i, other, point, normal,
                                 1e-3 * random_number(&state), mu, n_edges,
                                 random_number(&state));
    }
  }
}

void problem_make_chain(test_problem *problem, int n, double mu, int n_edges) {
  static const double up[3] = {0, 0, 1};
  problem_init(problem);
  for (int i = 0; i < n; i++) {
    int link = problem_add_box(problem, 1, i, 0, 0.05, 0.45, 0.05, 0.05);
    for (int end = -1; end < 2; end += 2) {
      double point[3] = {i + 0.45 * end, 0, 0};
      problem_add_contact(problem, link, -1, point, up, -1e-5, mu, n_edges);
    }
    double joint[3] = {i - 0.5, 0, 0.05};
    if (i > 0) problem_add_ball(problem, link - 1, link, joint, 1e-8);
  }
}

void problem_make_grasp(test_problem *problem, double mu, int n_edges) {
  problem_init(problem);
  int held = problem_add_box(problem, 1, 0, 0, 1, 0.1, 0.1, 0.1);
  for (int side = -1; side < 2; side += 2) {
    int finger = problem_add_box(problem, 1, 0.2 * side, 0, 1, 0.1, 0.1, 0.1);
    double J[6] = {0};

    // a motor that closes the hand, as strong as twenty times the weight
    J[0] = 1;
    problem_add_row(problem, finger, -1, J, J, side, -2, 2);
    J[0] = 0;
    for (int k = 1; k < 6; k++) {
      J[k] = 1;
      problem_add_row(problem, finger, -1, J, J, 0, -INFINITY, INFINITY);
      J[k] = 0;
    }
    double normal[3] = {-side, 0, 0};
    for (int corner = 0; corner < 4; corner++) {
      double point[3] = {0.1 * side, corner % 2 ? 0.1 : -0.1,
                         corner / 2 ? 1.1 : 0.9};
      problem_add_contact(problem, held, finger, point, normal, 0, mu, n_edges);
    }
  }
}
