#include "host/joints.h"

#include <math.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "ode_mlcp.h"

/* The ERP of a joint that keeps one of its own; the others use the one they
 * are given. Some rows of such a joint use the given one all the same (a fixed
 * joint's angular ones): read with its own, all rows have the same. A stop keeps
 * its own, too, but that belongs to its spring. */
static double own_erp(dJointID joint, double world_erp) {
  switch (dJointGetType(joint)) {
    case dJointTypeBall: return dJointGetBallParam(joint, dParamERP);
    case dJointTypeFixed: return dJointGetFixedParam(joint, dParamERP);
    case dJointTypeDBall: return dJointGetDBallParam(joint, dParamERP);
    case dJointTypeDHinge: return dJointGetDHingeParam(joint, dParamERP);
    default: return world_erp;
  }
}

static dWorldID world_of(dJointID id) {
  dBodyID body = dJointGetBody(id, 0);
  return dBodyGetWorld(body != NULL ? body : dJointGetBody(id, 1));
}

/* PR and PU: the second body's anchor slides on an axis that turns with the first. What
 * acts along that axis or across it acts on both bodies at that anchor; the host has some
 * rows act elsewhere, so that they are no rates of what they hold, and turn a pair of
 * bodies that nothing else touches. */
static void act_at_anchor(dJointID id, double (*J)[6]) {
  dVector3 anchor;
  switch (dJointGetType(id)) {
    case dJointTypePR: dJointGetPRAnchor(id, anchor); break;
    case dJointTypePU: dJointGetPUAnchor(id, anchor); break;
    default: return;
  }
  if (dJointGetBody(id, 0) == NULL || vec3_length(J[0]) == 0) return;
  for (int side = 0; side < 2; side++) {
    dBodyID body = dJointGetBody(id, side);
    double arm[3];
    if (body == NULL) continue;
    vec3_subtract(arm, real3(anchor).at, real3(dBodyGetPosition(body)).at);
    vec3_cross(J[side] + 3, arm, J[side]);
  }
}

/* @return false where memory ran out. */
static bool read_host(dJointID id, double fps, double erp, host_rows *rows) {
  dStepperJointRows given;
  if (!dJointGetStepperRows(id, (dReal)fps, (dReal)erp, &given)) return false;
  rows->count = given.count;
  int n = (int)given.count;
  real_read(rows->J[0][0], given.J[0][0], 12 * n);
  real_read(rows->rhs, given.rhs, n);
  dReal of_world = dWorldGetCFM(world_of(id));
  for (int i = 0; i < n; i++) rows->cfm[i] = host_cfm(given.cfm[i], of_world);
  real_read(rows->lo, given.lo, n);
  real_read(rows->hi, given.hi, n);
  real_read(rows->force[0], given.force[0], 12);
  for (int i = 0; i < n; i++) act_at_anchor(id, rows->J[i]);
  return true;
}

typedef void axis_function(dJointID, dVector3);

static bool keeps_erp(dJointID joint) { return !isnan(own_erp(joint, NAN)); }

/* Unit vectors whose cross product is nothing but rounding. */
static bool axes_are_parallel(const dVector3 a, const dVector3 b) {
  const double ROUNDING = 4.5 * REAL_EPSILON;
  double cross[3];
  vec3_cross(cross, real3(a).at, real3(b).at);
  return vec3_length(cross) <= ROUNDING;
}

static bool are_parallel(dJointID id, axis_function *first,
                         axis_function *second) {
  dVector3 a, b;
  first(id, a);
  second(id, b);
  return axes_are_parallel(a, b);
}

static bool has_parallel_euler_axes(dJointID id) {
  dVector3 a, b;
  return dJointGetStepperEulerAxes(id, a, b) && axes_are_parallel(a, b);
}

static const char *degenerate_transmission(dJointID id) {
  if (dJointGetTransmissionMode(id) == dTransmissionIntersectingAxes)
    return are_parallel(id, dJointGetTransmissionAxis1,
                        dJointGetTransmissionAxis2)
               ? "its axes are parallel and do not intersect"
               : NULL;
  dVector3 a, b;
  dJointGetTransmissionAnchor1(id, a);
  dJointGetTransmissionAnchor2(id, b);
  for (int i = 0; i < 3; i++)
    if (a[i] != b[i]) return NULL;
  return "its anchors are in one place";
}

const char *host_joint_degenerate(dJointID id) {
  bool parallel = false;
  switch (dJointGetType(id)) {
    case dJointTypeUniversal:
      parallel =
          are_parallel(id, dJointGetUniversalAxis1, dJointGetUniversalAxis2);
      break;
    case dJointTypeHinge2:
      parallel = are_parallel(id, dJointGetHinge2Axis1, dJointGetHinge2Axis2);
      break;
    case dJointTypePU:
      parallel = are_parallel(id, dJointGetPUAxis1, dJointGetPUAxis2);
      break;
    case dJointTypeAMotor: parallel = has_parallel_euler_axes(id); break;
    case dJointTypeTransmission: return degenerate_transmission(id);
    default: break;
  }
  return parallel ? "its axes are parallel" : NULL;
}

/* True if position errors are all that a joint's rows ask to be corrected:
 * others may have a motor or a stop. */
static bool only_corrects(dJointID joint) {
  dJointType type = dJointGetType(joint);
  return type == dJointTypeBall || type == dJointTypeFixed;
}

/* The part of rows->rhs[i] that grows with the rate: a position error enters as
 * fps erp error, so what twice the rate adds is the correction. */
static double correction_part(const host_rows *rows, const host_rows *faster,
                              unsigned i) {
  double correction = faster->rhs[i] - rows->rhs[i];
  return fabs(correction) > fabs(rows->rhs[i]) ? rows->rhs[i] : correction;
}

/* The rows, and of their right-hand sides what corrects position errors. */
static bool read_rows(dJointID joint, double fps, double erp, host_rows *rows,
                      double correction[6]) {
  host_rows faster;
  if (!read_host(joint, fps, erp, rows)) return false;
  bool all = only_corrects(joint);
  if (!all && !read_host(joint, 2 * fps, erp, &faster)) return false;
  for (unsigned i = 0; i < rows->count; i++)
    correction[i] = all ? rows->rhs[i] : correction_part(rows, &faster, i);
  return true;
}

/* At so high a rate what a motor or a bounce asks for is nothing beside what an
 * error does: one reading tells it, to the last bit of a power of two. */
bool host_joint_rows_and_errors(dJointID joint, double step_size,
                                host_rows *rows, double errors[6]) {
  const double RATE = 0x1p60;
  double own = own_erp(joint, 1), fps = RATE / step_size;
  if (host_joint_degenerate(joint) != NULL || !read_host(joint, fps, own, rows))
    return false;
  for (unsigned i = 0; i < rows->count; i++)
    errors[i] = own > 0 ? fabs(rows->rhs[i]) / (fps * own) : 0;
  return true;
}

double host_joint_error(dJointID joint, double step_size) {
  host_rows rows;
  double errors[6], worst = 0;
  if (!host_joint_rows_and_errors(joint, step_size, &rows, errors)) return 0;
  for (unsigned i = 0; i < rows.count; i++) worst = fmax(worst, errors[i]);
  return worst;
}

bool host_joint_read(host_joint_rows *joint, dJointID id, double step_size,
                     double erp) {
  dWorldID world = world_of(id);
  double world_erp = dWorldGetERP(world), fps = 1 / step_size;
  double used_erp = erp == ODE_MLCP_ERP_HOST ? world_erp : erp;
  host_rows *rows = &joint->rows;
  double own = own_erp(id, used_erp), correction[6];
  if (erp != ODE_MLCP_ERP_HOST && own > 0) used_erp = own;

  if (!read_rows(id, fps, used_erp, rows, correction)) return false;

  double scale = own > 0 && erp != ODE_MLCP_ERP_HOST ? erp / own : 1;
  double world_cfm = host_world_cfm(world);
  for (unsigned i = 0; i < rows->count; i++) {
    /* without its ERP a compliance would creep */
    bool holds = isinf(rows->lo[i]) && isinf(rows->hi[i]);
    if (erp == 0 && holds && (keeps_erp(id) || rows->cfm[i] <= world_cfm))
      rows->cfm[i] = fmin(rows->cfm[i], HOST_DEFAULT_CFM);
    if (scale != 1) rows->rhs[i] += (scale - 1) * correction[i];
    joint->correction[i] = scale * correction[i];
    joint->soft[i] = false;
  }
  return true;
}

bool host_row_holds(const host_joint_rows *joint, unsigned i, double cfm) {
  const host_rows *rows = &joint->rows;
  return isinf(rows->lo[i]) && isinf(rows->hi[i]) && rows->cfm[i] <= cfm &&
         !joint->soft[i];
}

/* How a joint's stops are asked for their ERP and told it. */
typedef struct stop_parameters {
  dJointType type;
  dReal (*get)(dJointID, int);
  void (*set)(dJointID, int, dReal);
  int n_stops;
} stop_parameters;

static const stop_parameters *find_stops(dJointID id) {
  static const stop_parameters all[] = {
      {dJointTypeHinge, dJointGetHingeParam, dJointSetHingeParam, 1},
      {dJointTypeSlider, dJointGetSliderParam, dJointSetSliderParam, 1},
      {dJointTypeUniversal, dJointGetUniversalParam, dJointSetUniversalParam,
       2},
      {dJointTypeHinge2, dJointGetHinge2Param, dJointSetHinge2Param, 2},
      {dJointTypePiston, dJointGetPistonParam, dJointSetPistonParam, 2},
      {dJointTypePR, dJointGetPRParam, dJointSetPRParam, 2},
      {dJointTypePU, dJointGetPUParam, dJointSetPUParam, 3},
      {dJointTypeAMotor, dJointGetAMotorParam, dJointSetAMotorParam, 3},
      {dJointTypeLMotor, dJointGetLMotorParam, dJointSetLMotorParam, 3}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].type == dJointGetType(id)) return &all[i];
  return NULL;
}

bool host_joint_read_errors(host_joint_rows *joint, dJointID id,
                            double step_size) {
  const stop_parameters *stops = find_stops(id);
  const bool sprung = dJointGetType(id) == dJointTypeHinge2;
  dReal own[3], suspension = 0;
  for (int i = 0; stops != NULL && i < stops->n_stops; i++) {
    own[i] = stops->get(id, dParamStopERP + i * dParamGroup);
    stops->set(id, dParamStopERP + i * dParamGroup, 1);
  }
  if (sprung) {
    suspension = dJointGetHinge2Param(id, dParamSuspensionERP);
    dJointSetHinge2Param(id, dParamSuspensionERP, 1);
  }
  bool read = host_joint_read(joint, id, step_size, 1);
  for (int i = 0; stops != NULL && i < stops->n_stops; i++)
    stops->set(id, dParamStopERP + i * dParamGroup, own[i]);
  if (sprung) dJointSetHinge2Param(id, dParamSuspensionERP, suspension);
  return read;
}

/* A joint's axes by its parameters. */
typedef struct axis_limits {
  double low, high;
  bool stops;
} axis_limits;

enum { AXES_MAX = dStepperJointStopsMax / 2 };

static int read_limits(const stop_parameters *stops, dJointID id,
                       axis_limits limits[AXES_MAX]) {
  int n = 0;
  for (int i = 0; stops != NULL && i < stops->n_stops; i++) {
    axis_limits *axis = &limits[i];
    axis->low = stops->get(id, dParamLoStop + i * dParamGroup);
    axis->high = stops->get(id, dParamHiStop + i * dParamGroup);
    axis->stops = axis->low < axis->high &&
                  (axis->low > -dInfinity || axis->high < dInfinity);
    n += axis->stops;
  }
  return n;
}

static void set_stops(const stop_parameters *stops, dJointID id, int axis,
                      double low, double high) {
  stops->set(id, dParamLoStop + axis * dParamGroup, low);
  stops->set(id, dParamHiStop + axis * dParamGroup, high);
}

/* A hinge looks at its angle, which is below pi, only where it has a stop. */
static void take_stops_off(const stop_parameters *stops, dJointID id,
                           const axis_limits limits[]) {
  bool hinge = stops->type == dJointTypeHinge;
  for (int i = 0; i < stops->n_stops; i++)
    if (limits[i].stops)
      set_stops(stops, id, i, -dInfinity, hinge ? M_PI : dInfinity);
}

static void put_stops_back(const stop_parameters *stops, dJointID id,
                           const axis_limits limits[]) {
  for (int i = 0; i < stops->n_stops; i++)
    if (limits[i].stops) set_stops(stops, id, i, limits[i].low, limits[i].high);
}

bool host_joint_read_free(host_joint_rows *joint, dJointID id, double step_size,
                          double erp) {
  const stop_parameters *stops = find_stops(id);
  axis_limits limits[AXES_MAX];
  if (read_limits(stops, id, limits) == 0)
    return host_joint_read(joint, id, step_size, erp);
  take_stops_off(stops, id, limits);
  bool read = host_joint_read(joint, id, step_size, erp);
  put_stops_back(stops, id, limits);
  return read;
}

static void count_from_nearer(host_stop *low, host_stop *high) {
  double past = -fmin(low->gap, high->gap);
  host_stop *near = low->gap > high->gap ? low : high;
  host_stop *far = near == low ? high : low;
  if (!near->turns || !(past > 0) || !(2 * M_PI - near->gap < past)) return;
  near->gap -= 2 * M_PI;
  far->gap += 2 * M_PI;
}

int host_joint_read_stops(dJointID id, bool open, host_stop stops[]) {
  dStepperJointStop given[dStepperJointStopsMax];
  int n_given = dJointGetStepperAxisStops(id, given), n = 0;
  dReal of_world = dWorldGetCFM(world_of(id));
  for (int i = 0; i < n_given; i++) {
    if (open && !(given[i].gap > 0)) continue;
    host_stop *stop = &stops[n++];
    *stop = (host_stop){.gap = given[i].gap,
                        .erp = open ? NAN : given[i].erp,
                        .cfm = host_cfm(given[i].cfm, of_world),
                        .bounce = given[i].bounce,
                        .number = given[i].number,
                        .turns = given[i].turns};
    real_read(stop->J[0], given[i].J[0], 12);
    act_at_anchor(id, stop->J);
    if (!open && n > 1 && stop[-1].number / 2 == stop->number / 2)
      count_from_nearer(stop - 1, stop);
  }
  return n_given < 0 ? -1 : n;
}

void host_joint_find_soft(host_joint_rows *joint, const host_body bodies[],
                          const int body[2], double step_size) {
  const host_rows *rows = &joint->rows;
  for (unsigned i = 0; i < rows->count; i++)
    joint->soft[i] =
        host_row_gives_way(bodies, body, rows->J[i], rows->cfm[i], step_size);
}

const char *host_joint_bad_value(const host_joint_rows *joint, double *value) {
  const host_rows *rows = &joint->rows;
  for (unsigned i = 0; i < rows->count; i++) {
    host_field fields[] = {
        {"a constraint row", rows->J[i][0], 12},
        {"a target velocity or a position error", &rows->rhs[i], 1},
        {"CFM", &rows->cfm[i], 1}};
    const char *bad = host_not_finite(fields, 3, value);
    if (bad != NULL) return bad;
    if (isnan(rows->lo[i]) || isnan(rows->hi[i])) {
      *value = NAN;
      return "a force limit";
    }
    if (rows->cfm[i] < 0) {
      *value = rows->cfm[i];
      return "CFM";
    }
    if (rows->lo[i] > rows->hi[i]) {
      *value = rows->hi[i];
      return "a force limit";
    }
  }
  host_field force = {"a motor's force", rows->force[0], 12};
  return host_not_finite(&force, 1, value);
}

bool host_joint_steps(const dWorldJoint *joint) {
  for (int side = 0; side < 2; side++)
    if (joint->body[side] != NULL && dBodyIsEnabled(joint->body[side]))
      return joint->enabled;
  return false;
}
