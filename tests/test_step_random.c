/* Random worlds under every scheme: no input may end the program, leave what is
 * not a number, take for ever or without bound, or change anything in a step that
 * is refused.
 *
 *   test_step_random [--short] [FROM TO [SECONDS [SCHEME]]]
 *
 * World number N is the same in every run: 70 of them by default and 700 of the
 * short form, one after the other through the schemes. In the long form worlds have
 * up to 24 bodies and six steps; in the short one, of which a million can be run, 2
 * to 6 bodies and two steps, and more of what can be set. SECONDS is what a world may
 * take of a processor. Worlds run in processes of their own, so that one that crashes
 * or hangs is told by its number, and the rest go on. A single number shows what
 * happens in that world.
 */
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "failing_memory.h"
#include "common/vec3.h"
#include "gap/gap_ode.h"
#include "gap/real.h"
#include "host_rounding.h"
#include "ode_mlcp.h"
#include "stepper/process.h"
#include "testing.h"

enum { BODIES = 24, STEPS = 6, SHORT_STEPS = 2, GEOMS = 40, SCHEMES = 7 };

/* in the order of ode_mlcp_scheme */
static const char *const scheme_names[SCHEMES] = {
    "ap", "ah", "gap", "trapezoid-1", "trapezoid", "st", "conserving"};

static bool is_short; /* the form */

/* ---- chance ---- */

static test_random chance;

static double uniform(double low, double high) {
  return test_uniform(&chance, low, high);
}
static int below(int n) { return (int)uniform(0, n); }
static bool one_in(int n) { return below(n) == 0; }
static double power(double low, double high) {
  return pow(10, uniform(low, high));
}
static double either_way(double size) { return uniform(-size, size); }

/* A value that somebody might have: plain, extreme, or none at all. */
static double wild(double plain) {
  static const double values[] = {0,     -0.0,   1e-300, 1e-30, 1e30, 1e150,
                                  1e300, -1e300, -1,     1e-12, 1e12};
  enum { N_VALUES = sizeof values / sizeof values[0] };
  switch (below(12)) {
    case 0: return INFINITY;
    case 1: return -INFINITY;
    case 2: return NAN;
    default: return one_in(3) ? plain : values[below(N_VALUES)];
  }
}

/* ---- the world ---- */

typedef struct random_world {
  ode_mlcp_options options;
  dWorldID world;
  dSpaceID space;
  dJointGroupID contacts;
  dBodyID bodies[BODIES];
  int n_bodies;
  dJointID joints[BODIES];
  dJointFeedback feedback[BODIES];
  int n_joints;
  double length, step_size; /* m, s */
  bool wild_contacts, own_collision;
  double stiffness, damping; /* of its spring, N/m, N s/m */
  bool isolated; /* nothing is held or pushed from outside: momentum stays */
  bool driven;   /* by motors, springs or surfaces that move: energy may grow */
  int most_contacts;
  dTriMeshDataID mesh;
  dHeightfieldDataID field;
  int n_contacts;
} random_world;

static bool shown;     /* one world is looked at */
static int n_messages; /* of the host or the stepper */
static char last_message[300];

static void hear(int number, const char *format, va_list values) {
  (void)number;
  n_messages++;
  vsnprintf(last_message, sizeof last_message, format, values);
  if (shown) printf("    %s\n", last_message);
}

static void choose_axis(double axis[3]) {
  double length;
  do {
    for (int i = 0; i < 3; i++)
      axis[i] = one_in(3) ? below(3) - 1 : either_way(1);
    length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
  } while (length < 1e-3);
  for (int i = 0; i < 3; i++) axis[i] /= length;
}

static const double vertices[] = {-0.5, -0.5, -0.3, 0.5, -0.5, -0.3,
                                  0,    0.6,  -0.3, 0,   0,    0.5};
static const dTriIndex triangles[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
static dReal hull_points[12];
static const dReal hull_planes[] = {0,    0,   -1,  0.3, 0.8, 0.4,  0.4, 0.2,
                                    -0.8, 0.4, 0.4, 0.2, 0,   -0.8, 0.6, 0.3};
static const unsigned hull_polygons[] = {3, 0, 2, 1, 3, 1, 2, 3,
                                         3, 2, 0, 3, 3, 0, 1, 3};

static dGeomID choose_shape(random_world *w, double size) {
  if (is_short && one_in(8)) {
    double semi_axes[3];
    for (int i = 0; i < 3; i++) semi_axes[i] = size / 2 * power(-1, 0.3);
    return gap_ellipsoid_create(w->space, semi_axes);
  }
  switch (below(7)) {
    case 0: return dCreateSphere(w->space, size / 2);
    case 1: return dCreateCapsule(w->space, size / 4, size * power(-2, 0.5));
    case 2: return dCreateCylinder(w->space, size / 3, size * power(-2, 0.5));
    case 3:
      return w->own_collision ? dCreateConvex(w->space, hull_planes, 4,
                                              hull_points, 4, hull_polygons)
                              : dCreateBox(w->space, size, size, size);
    case 4: return dCreateTriMesh(w->space, w->mesh, 0, 0, 0);
    default:
      return dCreateBox(w->space, size, size * power(-2, 0.5),
                        size * power(-1, 0.5));
  }
}

static void add_body(random_world *w, double mass_of_all) {
  dMass mass;
  dMatrix3 rotation;
  double axis[3], place[3], size = w->length * power(-0.7, 0.3);
  dBodyID body = w->bodies[w->n_bodies++] = dBodyCreate(w->world);
  double kilograms = mass_of_all > 0 ? mass_of_all : power(-6, 9);
  dMassSetBoxTotal(&mass, kilograms, size, size * power(-2, 1),
                   size * power(-1, 1));
  if (one_in(4)) dMassSetSphereTotal(&mass, kilograms, size / 2);
  dBodySetMass(body, &mass);
  choose_axis(axis);
  dRFromAxisAndAngle(rotation, axis[0], axis[1], axis[2],
                     one_in(3) ? 0 : either_way(3));
  dBodySetRotation(body, rotation);
  double spread = w->length * (one_in(3) ? 0.3 : 2);
  for (int i = 0; i < 3; i++)
    place[i] = one_in(6) ? 0 : either_way(spread) + (i == 2 ? spread / 2 : 0);
  dBodySetPosition(body, place[0], place[1], place[2]);
  double speed = one_in(3) ? 0 : power(-3, one_in(5) ? 6 : 2);
  dBodySetLinearVel(body, either_way(speed), either_way(speed),
                    either_way(speed));
  double turn = one_in(3) ? 0 : power(-3, one_in(5) ? 6 : 2);
  dBodySetAngularVel(body, either_way(turn), either_way(turn),
                     either_way(turn));
  if (one_in(10) && !w->isolated) {
    dBodySetKinematic(body);
    w->driven = true;
  }
  if (one_in(8)) dBodySetGravityMode(body, 0);
  if (one_in(6)) {
    dBodySetGyroscopicMode(body, 0);
    w->driven = true;
  }
  if (one_in(6)) dBodySetFiniteRotationMode(body, 1);
  if (one_in(8)) dBodySetFiniteRotationAxis(body, axis[0], axis[1], axis[2]);
  if (one_in(6) && !w->isolated) dBodySetLinearDamping(body, uniform(0, 1));
  if (one_in(8)) dBodySetMaxAngularSpeed(body, power(-2, 3));
  if (one_in(12) && !w->isolated) dBodyDisable(body);
  if (one_in(4)) dBodyAddForce(body, either_way(power(-3, 9)), 0, 1);
  if (one_in(6)) dBodyAddTorque(body, either_way(power(-3, 9)), 0, 1);
  if (one_in(8)) return;
  for (int n = one_in(5) ? 2 : 1; n > 0; n--) {
    dGeomID geom = choose_shape(w, size);
    dGeomSetBody(geom, body);
    if (one_in(5))
      dGeomSetOffsetPosition(geom, either_way(size), either_way(size), 0);
  }
}

typedef dJointID create_joint(dWorldID, dJointGroupID);

static void set_parameters(random_world *w, dJointID joint,
                           void (*set)(dJointID, int, dReal)) {
  for (int axis = 0; axis < 3; axis++) {
    int group = axis * dParamGroup;
    if (one_in(2)) {
      double low = either_way(3);
      set(joint, dParamLoStop + group, low);
      set(joint, dParamHiStop + group,
          one_in(3) ? low : low + either_way(one_in(4) ? 1e-9 : 3));
    }
    if (one_in(3)) {
      w->driven = true;
      set(joint, dParamVel + group, either_way(power(-2, 4)));
      set(joint, dParamFMax + group,
          one_in(4) ? INFINITY : power(-3, one_in(4) ? 12 : 4));
    }
    if (one_in(3)) set(joint, dParamBounce + group, uniform(0, 1));
    if (one_in(4)) {
      w->driven = true; /* an error that is there already is a spring's */
      set(joint, dParamCFM + group, power(-12, 3));
    }
    if (one_in(4)) {
      w->driven = true;
      set(joint, dParamStopCFM + group, power(-12, 3));
    }
    if (one_in(4)) set(joint, dParamStopERP + group, uniform(0, 1));
    if (one_in(4)) set(joint, dParamFudgeFactor + group, uniform(0, 1));
    if (one_in(6)) set(joint, dParamSuspensionERP + group, uniform(0, 1));
    if (one_in(6)) {
      w->driven = true;
      set(joint, dParamSuspensionCFM + group, power(-9, 1));
    }
  }
}

static void choose_joint(random_world *w) {
  dJointID j = NULL;
  double at[3], a[3], b[3];
  dBodyID one = w->bodies[below(w->n_bodies)];
  dBodyID other = one_in(4) ? NULL : w->bodies[below(w->n_bodies)];
  if (one == other) other = NULL;
  if (w->isolated && other == NULL) return;
  for (int i = 0; i < 3; i++) at[i] = either_way(w->length);
  choose_axis(a);
  choose_axis(b);
  if (one_in(6)) memcpy(b, a, sizeof b); /* parallel */
#define AT at[0], at[1], at[2]
#define A a[0], a[1], a[2]
#define B b[0], b[1], b[2]
#define MAKE(type)                                                             \
  j = dJointCreate##type(w->world, 0);                                         \
  dJointAttach(j, one, other)
  switch (below(15)) {
    case 0:
      MAKE(Ball);
      dJointSetBallAnchor(j, AT);
      break;
    case 1:
      MAKE(Hinge);
      dJointSetHingeAnchor(j, AT);
      dJointSetHingeAxis(j, A);
      set_parameters(w, j, dJointSetHingeParam);
      break;
    case 2:
      MAKE(Slider);
      dJointSetSliderAxis(j, A);
      set_parameters(w, j, dJointSetSliderParam);
      break;
    case 3:
      MAKE(Universal);
      dJointSetUniversalAnchor(j, AT);
      dJointSetUniversalAxis1(j, A);
      dJointSetUniversalAxis2(j, B);
      set_parameters(w, j, dJointSetUniversalParam);
      break;
    case 4:
      /* the host ends the program where it is given parallel axes */
      if (other == NULL || memcmp(a, b, sizeof a) == 0) return;
      MAKE(Hinge2);
      dJointSetHinge2Anchor(j, AT);
      dJointSetHinge2Axes(j, (dVector3){A}, (dVector3){B});
      set_parameters(w, j, dJointSetHinge2Param);
      break;
    case 5:
      MAKE(PR);
      dJointSetPRAnchor(j, AT);
      dJointSetPRAxis1(j, A);
      dJointSetPRAxis2(j, B);
      set_parameters(w, j, dJointSetPRParam);
      break;
    case 6:
      MAKE(PU);
      dJointSetPUAnchor(j, AT);
      dJointSetPUAxis1(j, A);
      dJointSetPUAxis2(j, B);
      dJointSetPUAxis3(j, A);
      set_parameters(w, j, dJointSetPUParam);
      break;
    case 7:
      MAKE(Piston);
      dJointSetPistonAnchor(j, AT);
      dJointSetPistonAxis(j, A);
      set_parameters(w, j, dJointSetPistonParam);
      break;
    case 8:
      MAKE(Fixed);
      dJointSetFixed(j);
      break;
    case 9:
      MAKE(AMotor);
      /* the host ends a program whose Euler axes are parallel */
      if (other != NULL && memcmp(a, b, sizeof a) != 0 && one_in(2)) {
        dJointSetAMotorMode(j, dAMotorEuler);
        dJointSetAMotorAxis(j, 0, 1, A);
        dJointSetAMotorAxis(j, 2, 2, B);
      } else {
        dJointSetAMotorNumAxes(j, 3);
        dJointSetAMotorAxis(j, 0, one_in(2) ? 1 : 0, A);
        dJointSetAMotorAxis(j, 2, other != NULL ? 2 : 1, B);
      }
      set_parameters(w, j, dJointSetAMotorParam);
      break;
    case 10:
      MAKE(LMotor);
      dJointSetLMotorNumAxes(j, 2);
      dJointSetLMotorAxis(j, 0, 1, A);
      dJointSetLMotorAxis(j, 1, 1, B);
      set_parameters(w, j, dJointSetLMotorParam);
      break;
    case 11:
      if (w->isolated) return;
      j = dJointCreatePlane2D(w->world, 0);
      dJointAttach(j, one, NULL);
      break;
    case 12:
      MAKE(DBall);
      dJointSetDBallAnchor1(j, AT);
      dJointSetDBallAnchor2(j, B);
      if (one_in(3)) dJointSetDBallDistance(j, power(-6, 1));
      break;
    case 13:
      MAKE(DHinge);
      dJointSetDHingeAxis(j, A);
      dJointSetDHingeAnchor1(j, AT);
      dJointSetDHingeAnchor2(j, B);
      break;
    default: {
      /* the host's two forces of one are not opposite */
      if (other == NULL || w->isolated) return;
      /* and end a program in single precision as they are rounded to nothing */
      if (host_is_single()) return;
      MAKE(Transmission);
      int mode = below(3);
      dJointSetTransmissionMode(j, mode);
      dJointSetTransmissionAnchor1(j, AT);
      dJointSetTransmissionAnchor2(j, B);
      if (mode == dTransmissionIntersectingAxes) {
        dJointSetTransmissionAxis1(j, A);
        dJointSetTransmissionAxis2(j, B);
      } else {
        dJointSetTransmissionAxis(j, A);
      }
      if (mode == dTransmissionParallelAxes)
        dJointSetTransmissionRatio(j, power(-2, 2));
      if (mode != dTransmissionChainDrive) break;
      dJointSetTransmissionRadius1(j, power(-2, 1));
      dJointSetTransmissionRadius2(j, power(-2, 1));
      break;
    }
  }
  if (one_in(10)) dJointDisable(j);
  if (one_in(2)) dJointSetFeedback(j, &w->feedback[w->n_joints]);
  w->joints[w->n_joints++] = j;
  if (!one_in(4)) return;
  /* away from where it was made: inconsistent with others, perhaps */
  const dReal *x = dBodyGetPosition(one);
  dBodySetPosition(one, x[0] + either_way(w->length), x[1], x[2]);
}

static dSurfaceParameters choose_surface(random_world *w, bool is_wild) {
  static const int flags[] = {
      dContactMu2,      dContactFDir1,   dContactBounce,  dContactSoftERP,
      dContactSoftCFM,  dContactMotion1, dContactMotion2, dContactMotionN,
      dContactSlip1,    dContactSlip2,   dContactRolling, dContactApprox1_1,
      dContactApprox1_2};
  dSurfaceParameters s;
  memset(&s, 0, sizeof s);
  s.mode = one_in(4) ? 0 : dContactApprox1;
  for (int k = 0; k < 13; k++)
    if (one_in(6)) s.mode |= flags[k];
  const int drives = dContactMotion1 | dContactMotion2 | dContactMotionN |
                     dContactSoftERP | dContactSoftCFM;
  w->driven |= is_wild || (s.mode & drives) != 0;
  dReal *fields[] = {&s.mu,       &s.mu2,     &s.rho,        &s.rho2,
                     &s.rhoN,     &s.bounce,  &s.bounce_vel, &s.soft_erp,
                     &s.soft_cfm, &s.motion1, &s.motion2,    &s.motionN,
                     &s.slip1,    &s.slip2};
  s.mu = one_in(5) ? INFINITY : one_in(4) ? 0 : power(-2, one_in(4) ? 5 : 0.5);
  s.mu2 = power(-2, 1);
  s.rho = power(-4, 0);
  s.rho2 = s.rhoN = power(-4, 0);
  s.bounce = uniform(0, 1);
  s.bounce_vel = one_in(3) ? 0 : power(-3, 1);
  s.soft_erp = uniform(0, 1);
  s.soft_cfm = power(-10, 2);
  s.motion1 = either_way(10);
  s.motion2 = either_way(10);
  s.motionN = either_way(1);
  s.slip1 = s.slip2 = power(-6, 2);
  if (is_wild) {
    dReal *field = fields[below(14)];
    *field = wild(*field);
  }
  return s;
}

static void touch(void *data, dGeomID one, dGeomID other) {
  random_world *w = data;
  dContact points[8];
  if (w->n_contacts > w->most_contacts) return;
  int n = dCollide(one, other, 8, &points[0].geom, sizeof points[0]);
  for (int k = 0; k < n; k++, w->n_contacts++) {
    points[k].surface = choose_surface(w, false);
    if (points[k].surface.mode & dContactFDir1) {
      dVector3 second;
      dPlaneSpace(points[k].geom.normal, points[k].fdir1, second);
    }
    dJointAttach(dJointCreateContact(w->world, w->contacts, &points[k]),
                 dGeomGetBody(one), dGeomGetBody(other));
  }
}

static int choose_pair_surface(void *context, dGeomID one, dGeomID other,
                               ode_mlcp_surface *surface) {
  (void)context, (void)one, (void)other;
  surface->parameters.mode = dContactApprox1;
  surface->parameters.mu = 0.5;
  surface->reduce = 1;
  return 1;
}

static int collide(void *context, dWorldID world, ode_mlcp_contact_list *list) {
  const random_world *w = context;
  (void)world;
  return ode_mlcp_collide_space(list, w->space, choose_pair_surface, NULL) ==
         ODE_MLCP_OK;
}

/* By hand: at one place, against each other, degenerate, or what never was a
 * contact. */
static void add_odd_contacts(random_world *w) {
  int kind = below(6), n = one_in(10) ? w->most_contacts : 1 + below(12);
  dBodyID one = w->bodies[below(w->n_bodies)];
  dBodyID other = one_in(2) ? NULL : w->bodies[below(w->n_bodies)];
  if (one == other) other = NULL;
  if (w->isolated && other == NULL) return;
  const dReal *x = dBodyGetPosition(one);
  double normal[3];
  choose_axis(normal);
  for (int k = 0; k < n; k++) {
    dContact c;
    memset(&c, 0, sizeof c);
    c.surface = choose_surface(w, kind == 5);
    if (kind >= 3 && k > 0) choose_axis(normal);
    double sign = kind == 2 && k % 2 ? -1 : 1;
    double apart = kind == 1 ? w->length : kind == 0 ? 0 : 1e-6 * w->length;
    for (int i = 0; i < 3; i++) {
      c.geom.normal[i] = sign * normal[i];
      c.geom.pos[i] = x[i] + either_way(apart);
      c.fdir1[i] = normal[(i + 1) % 3];
    }
    if (kind == 4 && one_in(4))
      for (int i = 0; i < 3; i++) c.geom.normal[i] *= wild(1);
    c.geom.depth = one_in(4) ? -power(-9, 0) : w->length * power(-9, 0.5);
    if (kind == 5 && one_in(6)) c.geom.depth = wild(1);
    if (kind == 5 && one_in(6)) c.geom.pos[below(3)] = wild(1);
    dJointAttach(dJointCreateContact(w->world, w->contacts, &c), one, other);
  }
}

static void set_option(ode_mlcp_options *options, const char *name,
                       const char *value) {
  char message[200];
  if (shown) printf(" --%s %s", name, value);
  if (ode_mlcp_set_option(options, name, value, message, sizeof message) ==
      ODE_MLCP_OK)
    return;
  printf("an option is wrong: %s\n", message);
  exit(99);
}

static void choose_options(ode_mlcp_options *options, int scheme) {
  static const char *const choices[][4] = {
      {"edges", "4", "6", "16"},
      {"erp", "host", "0", "1"},
      {"solver", "fast", "fast", "lemke"},
      {"max-correction", "0.5", "inf", "1e-3"},
      {"margin", "auto", "0", "0.1"},
      {"measure", "off", "on", "off"},
      {"fixed-point", "0", "2", "0"},
      {"alpha", "0.5", "0.7", "1"},
      {"events", "on", "on", "off"},
      {"max-events", "6", "3", "0"}};
  static const char *const more_choices[][4] = {
      {"tolerance", "1e-10", "1e-10", "1e-4"},
      {"budget", "10", "3", "1"},
      {"max-contacts", "5000", "5000", "8"},
      {"sweep", "on", "on", "off"}};
  ode_mlcp_default_options(options);
  options->scheme = scheme;
  options->budget = 30;
  options->max_contacts = 5000;
  for (size_t k = 0; k < sizeof choices / sizeof choices[0]; k++)
    set_option(options, choices[k][0], choices[k][1 + below(3)]);
  size_t n_more = sizeof more_choices / sizeof more_choices[0];
  for (size_t k = 0; is_short && k < n_more; k++)
    set_option(options, more_choices[k][0], more_choices[k][1 + below(3)]);
  bool cuts = scheme == ODE_MLCP_SCHEME_TRAPEZOID ||
              scheme == ODE_MLCP_SCHEME_CONSERVING; /* others refuse it */
  if (is_short && one_in(10)) set_option(options, "impact", "set");
  if (is_short && cuts && one_in(3)) set_option(options, "accuracy", "1e-3");
  if (shown) printf("\n");
}

static bool make_world(random_world *w, int scheme) {
  dVector3 centre = {0}, extent = {100, 100, 100};
  memset(w, 0, sizeof *w);
  w->length = one_in(3) ? power(-3, 3) : 1;
  w->step_size = one_in(3) ? power(-12, 3) : power(-4, -1);
  w->wild_contacts = one_in(3);
  w->own_collision = one_in(4);
  w->isolated = is_short && one_in(3);
  w->world = dWorldCreate();
  w->contacts = dJointGroupCreate(0);
  switch (below(4)) {
    case 0: w->space = dSimpleSpaceCreate(0); break;
    case 1: w->space = dSweepAndPruneSpaceCreate(0, dSAP_AXES_XYZ); break;
    case 2:
      if (!w->own_collision) {
        w->space = dQuadTreeSpaceCreate(0, centre, extent, 4);
        break;
      } /* fall through */
    default: w->space = dHashSpaceCreate(0);
  }
  choose_options(&w->options, scheme);
  bool by_island = scheme == ODE_MLCP_SCHEME_AP || scheme == ODE_MLCP_SCHEME_AH;
  w->most_contacts = is_short ? 12 : by_island ? 300 : 30;
  if (ode_mlcp_attach(w->world, &w->options) != ODE_MLCP_OK) return false;
  dWorldSetGravity(w->world, 0, one_in(8) ? either_way(1e3) : 0,
                   one_in(5) ? 0 : -9.81);
  if (one_in(3)) {
    dWorldSetCFM(w->world, one_in(3) ? 0 : power(-12, 1));
    w->driven |= dWorldGetCFM(w->world) > 0;
  }
  if (one_in(3)) dWorldSetERP(w->world, uniform(0, 1));
  if (one_in(5)) dWorldSetContactMaxCorrectingVel(w->world, power(-3, 3));
  if (one_in(5)) dWorldSetContactSurfaceLayer(w->world, power(-6, -1));
  if (one_in(3) && !w->isolated) dWorldSetAutoDisableFlag(w->world, 1);

  w->mesh = dGeomTriMeshDataCreate();
  for (int i = 0; i < 12; i++) hull_points[i] = vertices[i];
  dGeomTriMeshDataBuildDouble(w->mesh, vertices, 3 * sizeof(double), 4,
                              triangles, 12, 3 * sizeof(dTriIndex));
  if (one_in(2) && !w->isolated) dCreatePlane(w->space, 0, 0, 1, 0);
  if (one_in(8) && !w->isolated) {
    static double heights[64];
    for (int i = 0; i < 64; i++) heights[i] = either_way(0.3 * w->length);
    w->field = dGeomHeightfieldDataCreate();
    dGeomHeightfieldDataBuildDouble(w->field, heights, 0, 10 * w->length,
                                    10 * w->length, 8, 8, 1, 0, 1, 0);
    dCreateHeightfield(w->space, w->field, 1);
  }
  /* schemes with events solve such a world by the hundred a step */
  int n = is_short                 ? 2 + below(5)
          : by_island && one_in(6) ? BODIES
                                   : 1 + below(8);
  double mass_of_all = one_in(2) ? power(-6, 9) : 0;
  while (w->n_bodies < n) add_body(w, mass_of_all);
  for (int k = one_in(3) ? 0 : below(n + 2); k > 0 && w->n_joints < BODIES; k--)
    choose_joint(w);
  if (w->own_collision) ode_mlcp_set_collision(w->world, collide, w);
  if (!by_island && one_in(4)) {
    ode_mlcp_force *force;
    ode_mlcp_spring spring = {
        .body = {w->bodies[0],
                 n > 1 && (one_in(2) || w->isolated) ? w->bodies[1] : NULL},
        .anchor = {{0, 0, 0}, {either_way(1), 1, 1}},
        .stiffness = power(-3, 12),
        .damping = one_in(2) ? 0 : power(-3, 9),
        .length = power(-3, 1)};
    ode_mlcp_spring_create(w->world, &spring, &force);
    w->stiffness = spring.stiffness;
    w->damping = spring.damping;
    w->driven = true;
  }
  return true;
}

static void destroy_world(random_world *w) {
  dJointGroupDestroy(w->contacts);
  dSpaceDestroy(w->space);
  dWorldDestroy(w->world);
  dGeomTriMeshDataDestroy(w->mesh);
  if (w->field != NULL) dGeomHeightfieldDataDestroy(w->field);
}

/* ---- what a step may do ---- */

typedef struct body_state {
  double x[3], q[4], R[12], v[3], w[3], force[3], torque[3];
  int enabled;
} body_state;

static body_state read_state(dBodyID body) {
  body_state s;
  memset(&s, 0, sizeof s);
  real_read(s.x, dBodyGetPosition(body), 3);
  real_read(s.q, dBodyGetQuaternion(body), 4);
  real_read(s.R, dBodyGetRotation(body), 12);
  real_read(s.v, dBodyGetLinearVel(body), 3);
  real_read(s.w, dBodyGetAngularVel(body), 3);
  real_read(s.force, dBodyGetForce(body), 3);
  real_read(s.torque, dBodyGetTorque(body), 3);
  s.enabled = dBodyIsEnabled(body);
  return s;
}

static bool is_number(const double *values, int n) {
  for (int i = 0; i < n; i++)
    if (!isfinite(values[i])) return false;
  return true;
}

static void read_states(const random_world *w, body_state states[BODIES]) {
  memset(states, 0, BODIES * sizeof *states);
  for (int b = 0; b < w->n_bodies; b++) states[b] = read_state(w->bodies[b]);
}

/* The report's counts of a step that was taken fit each other. */
static const char *judge_report(const random_world *w) {
  const double UNSOLVED = 1e-6; /* as the manual says */
  ode_mlcp_report r;
  ode_mlcp_last_report(w->world, &r);
  if (!(r.residual >= 0) || isinf(r.residual))
    return "a step was taken without a residual";
  if (!r.taken) return "the report of a step that was taken denies it";
  const int counts[] = {r.solves,   r.accepted, r.degraded, r.unsolved,
                        r.contacts, r.rows,     r.bodies};
  for (int k = 0; k < 7; k++)
    if (counts[k] < 0) return "a count is below none";
  int n_problems = r.solves + r.pushes;
  if (r.accepted + r.degraded > n_problems || r.unsolved > r.degraded)
    return "more verdicts than solves";
  if (r.ended_warm + r.ended_continuation + r.ended_interior + r.ended_pivots +
          r.ended_homotopy + r.ended_lemke >
      n_problems)
    return "more solves ended than there were";
  if ((r.unsolved > 0) != (r.degraded > 0 && r.residual > UNSOLVED))
    return "unsolved is not what the residual says";
  if (r.degraded > 0 && r.residual <= w->options.tolerance)
    return "degraded within the tolerance";
  if (r.degraded == 0 && r.residual > fmax(1e-7, w->options.tolerance))
    return "a residual above what is accepted is not counted";
  if (r.degraded == 0 && r.accepted == 0 && r.residual > w->options.tolerance)
    return "a residual above the tolerance is not counted";
  return NULL;
}

/* A world that nothing holds or pushes from outside, but for gravity and the
 * program's forces, keeps its momentum: impulses come in pairs. */
static const char *judge_momentum(const random_world *w,
                                  const body_state before[BODIES]) {
  /* A residual is relative to the largest rate of the problem's rows: a small
   * body's far from what it holds, or a depth over the step's size. */
  const double SOLVED = 1e-9, ROUNDING = 1e-6, RATES = 100;
  dVector3 gravity;
  ode_mlcp_report report;
  if (!w->isolated) return NULL;
  ode_mlcp_last_report(w->world, &report);
  /* a damped step is told by its flag */
  if (report.residual > SOLVED || report.not_converged) return NULL;
  dWorldGetGravity(w->world, gravity);
  double fastest = 4 * w->length / w->step_size, kilograms = 0;
  for (int b = 0; b < w->n_bodies; b++) {
    dMass mass;
    dBodyGetMass(w->bodies[b], &mass);
    kilograms += mass.mass;
    const dReal *v = dBodyGetLinearVel(w->bodies[b]);
    const dReal *u = dBodyGetAngularVel(w->bodies[b]);
    const body_state *had = &before[b];
    fastest = fmax(fastest, w->length * vec3_length(real3(u).at) +
                                vec3_length(real3(v).at));
    fastest =
        fmax(fastest, w->length * vec3_length(had->w) + vec3_length(had->v));
  }
  /* what a stiff spring and contacts do to each other rounds their difference */
  double apart = 0;
  for (int b = 0; b < w->n_bodies; b++)
    apart = fmax(apart, vec3_length(real3(dBodyGetPosition(w->bodies[b])).at));
  double missed =
      RATES * report.residual * fastest * kilograms +
      1e-13 * w->step_size * (w->stiffness * apart + w->damping * fastest);
  for (int i = 0; i < 3; i++) {
    /* forces drive a body that is held for a part of the step */
    double change = 0, scale = 0, least = 0, most = 0;
    for (int b = 0; b < w->n_bodies; b++) {
      dMass mass;
      dBodyGetMass(w->bodies[b], &mass);
      double had = mass.mass * before[b].v[i];
      double has = mass.mass * dBodyGetLinearVel(w->bodies[b])[i];
      double given = before[b].force[i];
      if (dBodyGetGravityMode(w->bodies[b])) given += mass.mass * gravity[i];
      given *= w->step_size;
      change += has - had;
      least += report.held > 0 ? fmin(given, 0) : given;
      most += report.held > 0 ? fmax(given, 0) : given;
      scale += fabs(has) + fabs(had) + fabs(given);
    }
    double off = fmax(least - change, change - most);
    if (!(off <= ROUNDING * scale + missed)) {
      if (shown) printf("    momentum: %g of %g\n", off, scale);
      return "momentum came from nowhere";
    }
  }
  return NULL;
}

/* Energy of motion, J. */
static double energy_of(double kilograms, const double I[9], const double R[12],
                        const double v[3], const double u[3]) {
  double twice = kilograms * vec3_dot(v, v), local[3], momentum[3];
  for (int i = 0; i < 3; i++)
    local[i] = R[i] * u[0] + R[4 + i] * u[1] + R[8 + i] * u[2];
  mat3_apply(momentum, I, local);
  return (twice + vec3_dot(local, momentum)) / 2;
}

/* Under the conserving scheme, and under those of first order where they correct no
 * errors, what nothing drives has no more energy after a step than known forces gave it, with what the residual leaves open, but for what comes
 * and goes where bodies turn by radians in it. */
static const char *judge_energy(const random_world *w,
                                const body_state before[BODIES]) {
  const double SOLVED = 1e-9, SWING = 0.05, RATES = 100;
  dVector3 gravity;
  ode_mlcp_report report;
  ode_mlcp_last_report(w->world, &report);
  int scheme = w->options.scheme;
  bool first_order = scheme == ODE_MLCP_SCHEME_AP ||
                     scheme == ODE_MLCP_SCHEME_AH ||
                     scheme == ODE_MLCP_SCHEME_ST;
  if (w->driven ||
      !(scheme == ODE_MLCP_SCHEME_CONSERVING ||
        (first_order && w->options.erp == 0)) ||
      report.residual > SOLVED)
    return NULL;
  dWorldGetGravity(w->world, gravity);
  /* of what is heavier the host's own CFM is a spring */
  double heavy = 1e-3 * w->step_size / 1e-10;
  double had = 0, has = 0, work = 0, fastest = 4 * w->length / w->step_size;
  double kilograms = 0;
  for (int b = 0; b < w->n_bodies; b++) {
    dMass mass;
    double I[9];
    const body_state *from = &before[b], now = read_state(w->bodies[b]);
    dBodyGetMass(w->bodies[b], &mass);
    if (!from->enabled && !now.enabled) continue;
    for (int i = 0; i < 9; i++) I[i] = mass.I[4 * (i / 3) + i % 3];
    had += energy_of(mass.mass, I, from->R, from->v, from->w);
    has += energy_of(mass.mass, I, now.R, now.v, now.w);
    if (mass.mass > heavy || !is_number(from->force, 3) ||
        !is_number(from->torque, 3))
      return NULL;
    kilograms += mass.mass;
    fastest =
        fmax(fastest, w->length * vec3_length(now.w) + vec3_length(now.v));
    fastest =
        fmax(fastest, w->length * vec3_length(from->w) + vec3_length(from->v));
    double force[3];
    for (int i = 0; i < 3; i++)
      force[i] =
          from->force[i] +
          (dBodyGetGravityMode(w->bodies[b]) ? mass.mass * gravity[i] : 0);
    /* where it was in between, nobody says: by the faster of the two */
    work += w->step_size * vec3_length(force) *
                (vec3_length(from->v) + vec3_length(now.v) +
                 w->step_size * vec3_length(force) / mass.mass) +
            w->step_size * vec3_length(from->torque) *
                (vec3_length(from->w) + vec3_length(now.w) +
                 w->step_size * vec3_length(from->torque) /
                     fmin(fmin(I[0], I[4]), I[8]));
  }
  double missed = RATES * report.residual * fastest * fastest * kilograms;
  if (has <= (1 + SWING) * had + work + missed) return NULL;
  if (shown)
    printf("    energy: %g to %g J, forces gave %g, open %g\n", had, has, work,
           missed);
  return "energy came from nowhere";
}

/* @return what is wrong or NULL */
static const char *judge_taken(const random_world *w,
                               const body_state before[BODIES]) {
  for (int b = 0; b < w->n_bodies; b++) {
    body_state s = read_state(w->bodies[b]);
    if (!s.enabled) continue; /* nobody looks at what sleeps */
    if (!is_number(s.x, 3) || !is_number(s.q, 4) || !is_number(s.R, 11) ||
        !is_number(s.v, 3) || !is_number(s.w, 3))
      return "a body is nowhere after a step that was taken";
    double length = 0;
    for (int i = 0; i < 4; i++) length += s.q[i] * s.q[i];
    if (fabs(length - 1) > 1e-6) return "a quaternion is not of length 1";
  }
  for (int j = 0; j < w->n_joints; j++)
    if (dJointGetFeedback(w->joints[j]) != NULL &&
        (!is_number(real3(w->feedback[j].f1).at, 3) ||
         !is_number(real3(w->feedback[j].t1).at, 3) ||
         !is_number(real3(w->feedback[j].f2).at, 3) ||
         !is_number(real3(w->feedback[j].t2).at, 3)))
      return "a joint's force is no number";
  const char *wrong = judge_report(w);
  if (wrong == NULL) wrong = judge_momentum(w, before);
  return wrong != NULL ? wrong : judge_energy(w, before);
}

/* @return what is wrong or NULL */
static const char *judge_refused(const random_world *w,
                                 const body_state before[BODIES],
                                 const body_state after[BODIES]) {
  ode_mlcp_report report;
  if (memcmp(before, after, BODIES * sizeof *before) != 0)
    return "a step that was not taken changed something";
  ode_mlcp_last_report(w->world, &report);
  if (report.taken) return "the report of a refused step denies it";
  return NULL;
}

/* One value of one body is what it should not be, for a step. */
static void spoil(random_world *w) {
  dBodyID body = w->bodies[below(w->n_bodies)];
  body_state s = read_state(body);
  double *v[] = {s.x, s.v, s.w, s.force, s.torque};
  int kind = below(5);
  v[kind][below(3)] = wild(1e200);
  switch (kind) {
    case 0:
      /* geoms follow the body: the host's spaces take no such place */
      for (dGeomID g; (g = dBodyGetFirstGeom(body)) != NULL;) dGeomDestroy(g);
      dBodySetPosition(body, s.x[0], s.x[1], s.x[2]);
      break;
    case 1: dBodySetLinearVel(body, s.v[0], s.v[1], s.v[2]); break;
    case 2: dBodySetAngularVel(body, s.w[0], s.w[1], s.w[2]); break;
    case 3: dBodySetForce(body, s.force[0], s.force[1], s.force[2]); break;
    default: dBodySetTorque(body, s.torque[0], s.torque[1], s.torque[2]);
  }
}

static failing_memory memory;
static uint64_t trail; /* of all states of a world's life */

static void leave_trail(const body_state states[BODIES]) {
  const unsigned char *bytes = (const unsigned char *)states;
  for (size_t i = 0; i < BODIES * sizeof *states; i++)
    trail = (trail ^ bytes[i]) * 0x100000001b3u;
}

static const char *live(random_world *w, long *n_taken, long *n_refused) {
  static body_state before[BODIES], after[BODIES];
  bool was_refused = false;
  for (int k = 0; k < (is_short ? SHORT_STEPS : STEPS); k++) {
    w->n_contacts = 0;
    /* far away and fast, bodies leave the range of the host's own spaces */
    bool in_range = true;
    for (int b = 0; b < w->n_bodies; b++)
      for (int i = 0; i < 3; i++)
        in_range &= fabs(dBodyGetPosition(w->bodies[b])[i]) < 1e5 * w->length;
    if (!w->own_collision && in_range) dSpaceCollide(w->space, w, touch);
    if (w->wild_contacts && one_in(2)) add_odd_contacts(w);
    if (one_in(12)) spoil(w);
    bool fails = one_in(12);
    read_states(w, before);
    n_messages = 0;
    last_message[0] = '\0';
    if (fails) fail_allocation(&memory, below(60));
    bool taken = dWorldStep(w->world, w->step_size);
    bool failed = fails && an_allocation_failed(&memory);
    fail_no_allocation(&memory);
    read_states(w, after);
    if (shown) {
      ode_mlcp_report report;
      ode_mlcp_last_report(w->world, &report);
      printf("  step %d: %s, %d contacts, residual %.3g, %d degraded, %.3f s\n",
             k, taken ? "taken" : "refused", report.contacts, report.residual,
             report.degraded, report.step_seconds);
    }
    *(taken ? n_taken : n_refused) += 1;
    const char *wrong =
        taken ? judge_taken(w, before) : judge_refused(w, before, after);
    /* what a step can go on without, it may: it is taken */
    if (wrong == NULL && !failed &&
        strstr(last_message, "memory ran out") != NULL)
      wrong = "memory ran out where none was kept back";
    /* the first refusal is told, others now and then */
    if (wrong == NULL && !taken && !was_refused && n_messages == 0)
      wrong = "a step was refused without a word";
    was_refused |= !taken;
    int approximate, of;
    const char *told = strstr(last_message, "approximately: ");
    if (wrong == NULL && told != NULL &&
        sscanf(told, "approximately: %d of %d", &approximate, &of) == 2 &&
        approximate > of)
      wrong = "more problems were solved approximately than there are";
    leave_trail(after);
    dJointGroupEmpty(w->contacts);
    if (wrong != NULL) return wrong;
  }
  return NULL;
}

static const char *run_world(long seed, int scheme, long *n_taken,
                             long *n_refused) {
  uint64_t trails[2];
  const char *wrong = NULL;
  for (int run = 0; run < 2 && wrong == NULL; run++) {
    random_world w;
    chance.state = (uint64_t)seed * 0xd1342543de82ef95u;
    trail = 0xcbf29ce484222325u;
    if (!make_world(&w, scheme)) return "cannot be attached";
    wrong = live(&w, n_taken, n_refused);
    destroy_world(&w);
    trails[run] = trail;
    if (wrong == NULL && memory.bytes_held != 0) wrong = "memory is left over";
    if (seed % 8 != 0) break; /* every eighth twice */
    if (run == 1 && trails[0] != trails[1])
      wrong = "a second run went another way";
  }
  return wrong;
}

/* ---- many worlds ---- */

typedef struct tally {
  long seed; /* that runs */
  long passed, failed, taken, refused;
} tally;

static int scheme_of(long seed, int only) {
  return only >= 0 ? only : (int)(seed % SCHEMES);
}

static void run_worlds(tally *sums, long to, unsigned seconds, int only) {
  static memory_source source;
#ifndef __SANITIZE_ADDRESS__ /* which maps all there is */
  // 4 GB, or 3 of the 4 that 32 bits address
  const rlim_t room = sizeof(void *) > 4 ? (rlim_t)1 << 31 : (rlim_t)3 << 29;
  const struct rlimit most = {2 * room, 2 * room};
  setrlimit(RLIMIT_AS, &most);
#endif
  source = failing_memory_source(&memory);
  process_set_memory(&source);
  dInitODE2(0);
  dSetMessageHandler(hear);
  for (; sums->seed < to; sums->seed++) {
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = seconds},
              NULL);
    int scheme = scheme_of(sums->seed, only);
    const char *wrong =
        run_world(sums->seed, scheme, &sums->taken, &sums->refused);
    const long TOLD = 10000; /* that a long run is alive, and how far it is */
    if (sums->seed % TOLD == TOLD - 1) {
      printf("%ld worlds passed, %ld failed\n", sums->passed, sums->failed);
      fflush(stdout);
    }
    if (wrong == NULL) {
      sums->passed++;
      continue;
    }
    printf("FAILED: world %s%ld, %s: %s\n", is_short ? "--short " : "",
           sums->seed, scheme_names[scheme], wrong);
    fflush(stdout);
    sums->failed++;
    memory.bytes_held = 0;
  }
  setitimer(ITIMER_PROF, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
  dCloseODE();
}

static void run_range(tally *sums, long from, long to, unsigned seconds,
                      int only) {
  sums->seed = from;
  while (sums->seed < to) {
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      run_worlds(sums, to, seconds, only);
      fflush(stdout);
      _exit(0);
    }
    waitpid(child, &status, 0);
    if (sums->seed >= to) break;
    printf("FAILED: world %s%ld, %s: ended by %s\n", is_short ? "--short " : "",
           sums->seed, scheme_names[scheme_of(sums->seed, only)],
           !WIFSIGNALED(status)          ? "an exit"
           : WTERMSIG(status) == SIGPROF ? "the clock"
                                         : strsignal(WTERMSIG(status)));
    sums->failed++;
    sums->seed++;
  }
}

/* Of the worlds beyond the first, those that something was found by: a step
 * without a residual, pivots without end on 300 contacts of one body, budget after
 * budget in the rounds of one step, a trial pose out of a hash space's range; of
 * the short ones, momentum from the way to a collision, contacts named by joints
 * that were gone, a projection without a
 * residual, momentum from stiff springs (st), from bodies that part and from a step
 * that ended where another size of it was looked at (conserving). */
static const long found_by[] = {992, 168, 2400, 3644};
static const long found_by_short[] = {7142,   8654,   9037,  10950,
                                      17708,  24190,  14250, 160754,
                                      190959, 297940, 389220};

int main(int argc, char **argv) {
  bool all = argc == 1;
  if (argc > 1 && strcmp(argv[1], "--short") == 0) {
    is_short = true;
    argc--, argv++;
  }
  long from = argc > 1 ? atol(argv[1]) : 0;
  long to = argc > 2 ? atol(argv[2]) : argc > 1 ? from + 1 : test_rounds(70);
  unsigned seconds = argc > 3 ? (unsigned)atoi(argv[3]) : 60;
  int only = -1;
  for (int k = 0; argc > 4 && k < SCHEMES; k++)
    if (strcmp(argv[4], scheme_names[k]) == 0) only = k;
  shown = to == from + 1;
  if (shown) setvbuf(stdout, NULL, _IOLBF, 0);
  tally *sums = mmap(NULL, sizeof *sums, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (sums == MAP_FAILED) return 1;
  *sums = (tally){.seed = from};
  run_range(sums, from, to, seconds, only);
  for (size_t i = 0; all && i < sizeof found_by / sizeof *found_by; i++)
    run_range(sums, found_by[i], found_by[i] + 1, seconds, only);
  if (all) {
    is_short = true;
    run_range(sums, 0, test_rounds(700), seconds, only);
    size_t n_found = sizeof found_by_short / sizeof *found_by_short;
    for (size_t i = 0; i < n_found; i++)
      run_range(sums, found_by_short[i], found_by_short[i] + 1, seconds, only);
  }
  printf("%ld steps taken, %ld refused\n", sums->taken, sums->refused);
  printf("%ld passed, %ld failed\n", sums->passed, sums->failed);
  return sums->failed > 0 || sums->passed == 0;
}
