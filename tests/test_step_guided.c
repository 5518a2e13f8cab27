/* Friction of a body that two surfaces guide: a smooth wall beside a floor, grooves and
 * corners. (In narrow grooves it may be wedged: they hold more than what they are
 * pressed with says, or do not.) Weight and a pull along the guide press it onto both; a pull of
 * less than what friction holds leaves it at rest, one of more moves it with the rest.
 * Free flight's slip has a part across the guide, which the guide does not let happen. */
#include <stdbool.h>

#include "host_rounding.h"
#include "step_testing.h"

typedef struct guide {
  const char *name;
  double angle;    /* rad: between the two normals */
  double press[2]; /* m/s^2 onto each, over the body's mass */
  double mu[2];
} guide;

static const guide GUIDES[] = {
    {"a floor and a smooth wall", 0.5 * M_PI, {9, 4}, {0.5, 0}},
    {"a floor and a rough wall", 0.5 * M_PI, {9.81, 2}, {0.3, 0.9}},
    {"a groove", 0.5 * M_PI, {7, 7}, {0.6, 0.6}},
    {"a flat groove", 0.3, {5, 5}, {0.8, 0.8}},
    {"a slope and a wall", 1.2, {9, 3}, {0.7, 0.4}}};
enum { N_GUIDES = sizeof GUIDES / sizeof *GUIDES };

/* Turn v about an axis that is like none of the others. */
static void turn(dReal to[3], const double v[3], double heading) {
  dMatrix3 R;
  dRFromAxisAndAngle(R, 0.48, -0.6, 0.64, heading);
  for (int i = 0; i < 3; i++)
    to[i] = R[4 * i] * v[0] + R[4 * i + 1] * v[1] + R[4 * i + 2] * v[2];
}

/* m: how far the body has gone along the guide, and across it, after n steps. */
static void pull_along(const guide *of, int scheme, double share, double mass,
                       double heading, double h, int n, double *along,
                       double *across, int *n_left) {
  ode_mlcp_options options;
  ode_mlcp_default_options(&options);
  options.scheme = scheme;
  dWorldID world = create_world(0, &options);
  dWorldSetCFM(world, 0);
  /* a layer of its own, so that contacts of depth 0 are held there from the start */
  dWorldSetContactSurfaceLayer(world, 1e-15);
  double half = of->angle / 2;
  /* along x; the normals on both sides of z */
  const double normal[2][3] = {{0, sin(half), cos(half)},
                               {0, -sin(half), cos(half)}};
  double pull = share * (of->mu[0] * of->press[0] + of->mu[1] * of->press[1]);
  double load[3] = {pull, 0, 0};
  dReal g[3], n_world[2][3], axis[3];
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 3; i++) load[i] -= of->press[k] * normal[k][i];
  turn(g, load, heading);
  turn(axis, (const double[3]){1, 0, 0}, heading);
  for (int k = 0; k < 2; k++) turn(n_world[k], normal[k], heading);
  dWorldSetGravity(world, g[0], g[1], g[2]);
  dBodyID body = create_ball(world, mass, 0.5);
  dJointGroupID group = dJointGroupCreate(0);
  *n_left = 0;
  for (int s = 0; s < n; s++) {
    const dReal *x = dBodyGetPosition(body);
    for (int k = 0; k < 2; k++) {
      dSurfaceParameters surface = bare_surface(dContactApprox1, of->mu[k]);
      double depth =
          -(n_world[k][0] * x[0] + n_world[k][1] * x[1] + n_world[k][2] * x[2]);
      dContact contact = contact_at(&surface, x[0], x[1], x[2], depth);
      for (int i = 0; i < 3; i++) contact.geom.normal[i] = n_world[k][i];
      dJointAttach(dJointCreateContact(world, group, &contact), body, 0);
    }
    ode_mlcp_report report;
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(world, h, &report), ODE_MLCP_OK);
    CU_ASSERT(report.residual <= 1e-7);
    *n_left += report.edges_left;
    dJointGroupEmpty(group);
  }
  const dReal *x = dBodyGetPosition(body);
  double square = 0;
  *along = axis[0] * x[0] + axis[1] * x[1] + axis[2] * x[2];
  for (int i = 0; i < 3; i++) square += pow(x[i] - *along * axis[i], 2);
  *across = sqrt(square);
  dJointGroupDestroy(group);
  dWorldDestroy(world);
}

static const int SCHEMES[] = {ODE_MLCP_SCHEME_AP, ODE_MLCP_SCHEME_AH,
                              ODE_MLCP_SCHEME_ST};

static void test_guided_bodies_obey_coulomb(void) {
  const double shares[] = {0.5, 0.9, 0.99, 1.01, 1.1}, sizes[] = {1e-3, 0.02};
  const double masses[] = {0.01, 1, 1e4};
  enum { STEPS = 100 };
  int drawn = 0;
  for (int k = 0; k < N_GUIDES; k++)
    for (int s = 0; s < 3; s++)
      for (int i = 0; i < 5; i++)
        for (int j = 0; j < 2; j++, drawn++) {
          const guide *of = &GUIDES[k];
          double h = sizes[j], heading = 0.7 * drawn, along, across;
          int n_left;
          pull_along(of, SCHEMES[s], shares[i], masses[drawn % 3], heading, h,
                     STEPS, &along, &across, &n_left);
          double held = of->mu[0] * of->press[0] + of->mu[1] * of->press[1];
          /* Euler's sum */
          double expected = shares[i] < 1 ? 0
                                          : (shares[i] - 1) * held * h * h *
                                                STEPS * (STEPS + 1) / 2;
          double most = shares[i] < 1 ? 1e-6 : 1e-5 * fmax(expected, 1);
          if (!(fabs(along - expected) <= of_host(most, 10)))
            fprintf(stderr, "%s, scheme %d, share %g, h %g: %g m for %g\n",
                    of->name, SCHEMES[s], shares[i], h, along, expected);
          CU_ASSERT(fabs(along - expected) <= of_host(most, 10));
          CU_ASSERT(across <= of_host(1e-5, 100));
        }
}

/* What rests pays no second solve, and what slides alone has its edge by free flight. */
static void test_nothing_else_is_turned(void) {
  for (int s = 0; s < 3; s++)
    for (int slides = 0; slides < 2; slides++) {
      ode_mlcp_options options;
      ode_mlcp_default_options(&options);
      options.scheme = SCHEMES[s];
      dWorldID world = create_world(9.81, &options);
      dSurfaceParameters surface = bare_surface(dContactApprox1, 0.4);
      dBodyID boxes[3];
      dJointGroupID group = dJointGroupCreate(0);
      for (int k = 0; k < 3; k++) {
        boxes[k] = create_ball(world, 1 + k, 0.5);
        dBodySetMaxAngularSpeed(boxes[k], 0);
        dBodySetPosition(boxes[k], 0, 0, 0.5 + k);
        if (slides) dBodySetLinearVel(boxes[k], 2, 0.3, 0);
      }
      int turned = 0;
      for (int i = 0; i < 50; i++) {
        for (int k = 0; k < 3; k++) {
          const dReal *x = dBodyGetPosition(boxes[k]);
          dContact contact =
              contact_at(&surface, x[0], x[1], k, 0.5 + k - x[2]);
          dJointAttach(dJointCreateContact(world, group, &contact), boxes[k],
                       k > 0 && !slides ? boxes[k - 1] : 0);
        }
        ode_mlcp_report report;
        CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(world, 0.01, &report), ODE_MLCP_OK);
        turned += report.edges_turned;
        dJointGroupEmpty(group);
      }
      CU_ASSERT_EQUAL(turned, 0);
      dJointGroupDestroy(group);
      dWorldDestroy(world);
    }
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"guided bodies obey Coulomb", test_guided_bodies_obey_coulomb},
      {"nothing else is turned", test_nothing_else_is_turned},
      CU_TEST_INFO_NULL};
  dInitODE2(0);
  int result = run_tests("steps: bodies that are guided", tests);
  dCloseODE();
  return result;
}
