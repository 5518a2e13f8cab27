/* The families of drawn worlds. Lengths are in w->size, masses in w->mass, speeds in
 * w->speed = sqrt(g size): a family looks the same from a centimetre to ten metres. */
#include "never_worse_world.h"

#include <math.h>
#include <stddef.h>

enum { X, Y, Z };

static double pick_mass(drawn_world *w, double most) {
  return w->mass * draw_scale(w, 1, most);
}

static void turn(dBodyID body, double x, double y, double z, double angle) {
  dMatrix3 rotation;
  dRFromAxisAndAngle(rotation, x, y, z, angle);
  dBodySetRotation(body, rotation);
}

static void turn_anyhow(drawn_world *w, dBodyID body) {
  const double x = draw_between(w, -1, 1), y = draw_between(w, -1, 1);
  turn(body, x, y, draw_between(w, -1, 1) + 1e-3, draw_between(w, 0, 6));
}

static void draw_floor(drawn_world *w, double reach) {
  add_floor(w, (floor_kind)draw_below(w, FLOOR_KINDS), reach);
}

/* what has springs, motors or surfaces that move is told by the forces */
static void set_driven(drawn_world *w,
                       void (*drive)(drawn_world *, double time)) {
  w->drive = drive;
  w->feedback = true;
}

static bool is_soft(const drawn_world *w) {
  return (w->surface.mode & dContactSoftCFM) != 0;
}

/* ---- what slides and rolls: nothing may slow it ---- */

static double speed_lost(const drawn_world *w, double time) {
  (void)time;
  const dReal *v = dBodyGetLinearVel(w->hand);
  return hypot(hypot(v[X] - w->kept[0], v[Y] - w->kept[1]), v[Z]) / w->kept[2];
}

static dBodyID add_slider_body(drawn_world *w, int shape, double heading) {
  const double s = w->size, m = w->mass;
  dBodyID body;
  dMatrix3 rotation, base, both;
  switch (shape) {
    case 0: body = add_box(w, m, s, 0.8 * s, 0.6 * s, 0, 0, 0.3 * s); break;
    case 1: body = add_ball(w, m, s / 2, 0, 0, s / 2); break;
    case 2: body = add_cylinder(w, m, s / 2, s / 4, Y, 0, 0, s / 2); break;
    case 3: body = add_cylinder(w, m, s / 2, s / 3, Z, 0, 0, s / 6); break;
    case 4: body = add_capsule(w, m, s / 4, s, Y, 0, 0, s / 4); break;
    default: body = add_convex(w, m, s, 0.8 * s, 0.6 * s, 0, 0, 0.3 * s);
  }
  dRFromAxisAndAngle(rotation, 0, 0, 1, heading);
  for (int i = 0; i < 12; i++) base[i] = dBodyGetRotation(body)[i];
  dMultiply0_333(both, rotation, base);
  for (int i = 0; i < 3; i++) both[4 * i + 3] = 0;
  dBodySetRotation(body, both);
  return body;
}

/* Without friction, or a ball or wheel that rolls: straight on at the same speed. */
static void make_ghost(drawn_world *w) {
  const int shape = draw_below(w, 6);
  const bool rolls =
      (shape == 1 || shape == 2 || shape == 4) && draw_one_in(w, 2);
  w->surface.mode = dContactApprox1;
  w->surface.mu = rolls ? draw_between(w, 0.3, 1) : 0;
  floor_kind kind = (floor_kind)draw_below(w, FLOOR_KINDS);
  /* the host has no contacts of convexes with meshes */
  if (shape == 5 && kind > FLOOR_BOARDS) kind = FLOOR_TILES;
  add_floor(w, kind, 8 * w->size);
  const double heading = draw_one_in(w, 3) ? 0 : draw_between(w, 0, 6.28);
  const double speed = w->speed * draw_scale(w, 0.2, 2);
  w->hand = add_slider_body(w, shape, heading);
  const dReal *x = dBodyGetPosition(w->hand);
  dBodySetPosition(w->hand, 0.3 * w->size, 0.2 * w->size, x[2]);
  w->kept[0] = speed * cos(heading);
  w->kept[1] = speed * sin(heading);
  w->kept[2] = speed;
  dBodySetLinearVel(w->hand, w->kept[0], w->kept[1], 0);
  if (rolls) {
    const double spin = speed / x[2];
    dBodySetAngularVel(w->hand, -spin * sin(heading), spin * cos(heading), 0);
  }
  w->invariant = speed_lost;
}

static void make_slide(drawn_world *w) {
  draw_floor(w, 8 * w->size);
  const double heading = draw_between(w, 0, 6.28);
  const double speed = w->speed * draw_scale(w, 0.5, 2);
  for (int i = 0; i < 2; i++) {
    dBodyID body = add_slider_body(w, draw_below(w, 5), heading);
    const dReal *x = dBodyGetPosition(body);
    dBodySetPosition(body, 0, 2 * i * w->size, x[2]);
    dBodySetLinearVel(body, speed * cos(heading), speed * sin(heading), 0);
  }
}

static void make_ramp(drawn_world *w) {
  const double s = w->size, angle = draw_between(w, 0.05, 0.6);
  dMatrix3 rotation;
  dRFromAxisAndAngle(rotation, 0, 1, 0, angle);
  /* of one piece, or of boards across it */
  const int n = draw_one_in(w, 2) ? 1 : 8;
  const double length = 10 * s / n;
  for (int i = 0; i < n; i++) {
    const double along = (i + 0.5 - n / 2.) * length;
    dGeomID geom = add_static_box(w, length, 4 * s, s,
                                  along * cos(angle) - s / 2 * sin(angle), 0,
                                  -along * sin(angle) - s / 2 * cos(angle));
    dGeomSetRotation(geom, rotation);
  }
  dCreatePlane(w->space, 0, 0, 1, -6 * s);
  for (int i = 0; i < 3; i++) {
    const double up = -3 * s + 2.5 * s * i, m = pick_mass(w, 10);
    const double x = up * cos(angle), z = -up * sin(angle), off = 0.4 * s;
    dBodyID body =
        i == draw_below(w, 3)
            ? add_ball(w, m, off, x + off * sin(angle), 0, z + off * cos(angle))
            : add_box(w, m, s, s, 0.8 * s, x + off * sin(angle), 0,
                      z + off * cos(angle));
    dBodySetRotation(body, rotation);
  }
}

/* ---- surfaces that move ---- */

static double off_the_mover(const drawn_world *w, double time) {
  if (time < w->kept[3]) return 0;
  const dReal *v = dBodyGetLinearVel(w->hand);
  return hypot(hypot(v[X] - w->mover_velocity[X], v[Y] - w->mover_velocity[Y]),
               v[Z] - w->mover_velocity[Z]) /
         w->kept[2];
}

static void run_belt(drawn_world *w, double time) {
  (void)w;
  (void)time;
}

static void make_belt(drawn_world *w) {
  const double s = w->size, mu = draw_between(w, 0.4, 1);
  w->surface.mode = dContactApprox1;
  w->surface.mu = mu;
  w->mover = add_static_box(w, 12 * s, 4 * s, s, 0, 0, -s / 2);
  w->mover_velocity[X] = w->speed * draw_between(w, 0.1, 0.4);
  set_driven(w, run_belt);
  w->hand = add_box(w, w->mass, s, 0.8 * s, 0.5 * s, -2 * s, 0, 0.25 * s);
  if (draw_one_in(w, 2))
    add_box(w, pick_mass(w, 5), 0.6 * s, 0.6 * s, 0.4 * s, -2 * s, 0, 0.7 * s);
  w->kept[2] = w->mover_velocity[X];
  w->kept[3] = 1.5 * w->mover_velocity[X] / (mu * w->gravity);
  w->invariant = off_the_mover;
}

/* A lift as the manual makes one: a geom that the program moves. */
static void run_lift(drawn_world *w, double time) {
  const double h = w->step_size / w->split;
  double *v = w->mover_velocity;
  v[X] = w->kept[0] * (time < w->kept[4] ? time / w->kept[4] : 1);
  v[Z] = w->kept[1] * (time < w->kept[4] ? time / w->kept[4] : 1);
  const dReal *x = dGeomGetPosition(w->mover);
  dGeomSetPosition(w->mover, x[X] + h * v[X], x[Y], x[Z] + h * v[Z]);
}

static void make_lift(drawn_world *w) {
  const double s = w->size;
  w->surface.mode = dContactApprox1;
  w->surface.mu = draw_between(w, 0.5, 1);
  w->mover = add_static_box(w, 4 * s, 4 * s, s / 2, 0, 0, -s / 4);
  const int way = draw_below(w, 3);
  const double speed = w->speed * draw_between(w, 0.1, 0.3);
  w->kept[0] = way == 2 ? speed : 0;
  w->kept[1] = way == 2 ? 0 : way == 1 ? -speed : speed;
  w->kept[2] = speed;
  w->kept[4] = 0.5 * sqrt(s / w->gravity);
  w->kept[3] = 2 * w->kept[4];
  set_driven(w, run_lift);
  w->hand = add_box(w, w->mass, s, 0.8 * s, 0.5 * s, 0, 0, 0.25 * s);
  if (draw_one_in(w, 2)) add_ball(w, pick_mass(w, 5), 0.3 * s, s, s, 0.3 * s);
  w->invariant = off_the_mover;
}

/* A kinematic plate that is shaken below what friction holds. */
static void run_shaker(drawn_world *w, double time) {
  dBodySetLinearVel(w->bodies[0], w->kept[0] * sin(w->kept[1] * time), 0, 0);
}

static double slipped(const drawn_world *w, double time) {
  (void)time;
  return fabs(dBodyGetPosition(w->hand)[X] -
              dBodyGetPosition(w->bodies[0])[X]) /
         w->size;
}

static void make_shaker(drawn_world *w) {
  const double s = w->size, mu = draw_between(w, 0.4, 1);
  w->surface.mode = dContactApprox1;
  w->surface.mu = mu;
  dBodyID plate = add_box(w, w->mass, 5 * s, 5 * s, s / 2, 0, 0, -s / 4);
  dBodySetKinematic(plate);
  w->kept[1] = 4 * sqrt(w->gravity / s);
  w->kept[0] = 0.5 * mu * w->gravity / w->kept[1];
  set_driven(w, run_shaker);
  w->hand = add_box(w, w->mass, s, 0.8 * s, 0.5 * s, 0, 0, 0.25 * s);
  add_box(w, pick_mass(w, 5), s / 2, s / 2, s / 2, s, s, s / 4);
  w->invariant = slipped;
}

/* ---- vehicles ---- */

static dBodyID add_car(drawn_world *w, bool cylinders, double height) {
  const double s = w->size, radius = 0.35 * s;
  const double wheel_mass = w->mass / draw_scale(w, 4, 40);
  dBodyID chassis =
      add_box(w, w->mass, 2 * s, s, 0.3 * s, 0, 0, height + radius + 0.3 * s);
  double erp = draw_between(w, 0.3, 0.8);
  /* springs that give way by a few hundredths */
  double cfm = draw_between(w, 0.02, 0.06) * s * erp * 4 /
               (w->mass * w->gravity * w->step_size);
  spread_spring(w, &erp, &cfm);
  for (int i = 0; i < 4; i++) {
    const double x = (i & 1 ? 0.7 : -0.7) * s, y = (i & 2 ? 0.7 : -0.7) * s;
    dBodyID wheel =
        cylinders ? add_cylinder(w, wheel_mass, radius, 0.2 * s, Y, x, y,
                                 height + radius)
                  : add_ball(w, wheel_mass, radius, x, y, height + radius);
    dJointID joint = w->motors[i] = join_hinge2(w, chassis, wheel);
    dJointSetHinge2Param(joint, dParamLoStop, 0);
    dJointSetHinge2Param(joint, dParamHiStop, 0);
    dJointSetHinge2Param(joint, dParamSuspensionERP, erp);
    dJointSetHinge2Param(joint, dParamSuspensionCFM, cfm);
  }
  w->surface.mu = draw_between(w, 0.6, 1.2);
  return chassis;
}

static void run_car(drawn_world *w, double time) {
  for (int i = 0; i < 4; i++) {
    dJointSetHinge2Param(w->motors[i], dParamVel2, w->kept[0]);
    dJointSetHinge2Param(w->motors[i], dParamFMax2, w->kept[1]);
  }
  const double steer = 0.3 * sin(2 * time * sqrt(w->gravity / w->size));
  for (int i = 1; i < 4; i += 2) {
    dJointSetHinge2Param(w->motors[i], dParamLoStop, steer);
    dJointSetHinge2Param(w->motors[i], dParamHiStop, steer);
  }
}

static void make_car(drawn_world *w) {
  const double s = w->size;
  w->feedback = true;
  w->bump = draw_one_in(w, 2) ? 0.1 * s : 0;
  draw_floor(w, 8 * s);
  add_car(w, draw_one_in(w, 2), w->bump);
  w->kept[0] = draw_between(w, 0.5, 3) * w->speed / s;
  w->kept[1] = draw_between(w, 0.05, 0.2) * w->mass * w->gravity * s;
  set_driven(w, run_car);
  for (int i = 0; i < 2; i++)
    add_static_box(w, 0.2 * s, 3 * s, 0.1 * s, (2 + i) * s, 0, 0.05 * s);
}

static double still_moves(const drawn_world *w, double time) {
  if (time < w->kept[3]) return 0;
  const dReal *v = dBodyGetLinearVel(w->hand);
  return hypot(hypot(v[X], v[Y]), v[Z]) / w->speed;
}

static void make_parked(drawn_world *w) {
  w->surface.mode = dContactApprox1;
  w->feedback = true;
  draw_floor(w, 8 * w->size);
  w->hand = add_car(w, !draw_one_in(w, 4), 0);
  for (int i = 0; i < 4; i++) {
    dJointSetHinge2Param(w->motors[i], dParamVel2, 0);
    dJointSetHinge2Param(w->motors[i], dParamFMax2,
                         10 * w->mass * w->gravity * w->size);
  }
  w->n_steps *= 2; /* until its springs have settled */
  w->kept[3] = 0.8 * w->n_steps * w->step_size;
  w->invariant = still_moves;
}

/* ---- arms, doors, stops ---- */

static void run_gripper(drawn_world *w, double time) {
  const bool lifts = time > w->kept[3];
  dJointSetSliderParam(w->motors[0], dParamVel, lifts ? w->kept[0] : 0);
}

/* Two fingers on a carriage that close on a box and lift it. */
static void make_gripper(drawn_world *w) {
  const double s = w->size, m = pick_mass(w, 10);
  w->surface.mode = dContactApprox1;
  w->surface.mu = draw_between(w, 0.8, 1.5);
  w->feedback = true;
  dCreatePlane(w->space, 0, 0, 1, 0);
  dBodyID carriage = add_box(w, m, 2 * s, 0.4 * s, 0.3 * s, 0, 0, 2 * s);
  const double weight = (3 * m + w->mass) * w->gravity;
  w->motors[0] = join_slider(w, carriage, NULL, Z);
  dJointSetSliderParam(w->motors[0], dParamFMax, 3 * weight);
  w->kept[0] = 0.2 * w->speed;
  for (int i = -1; i <= 1; i += 2) {
    dBodyID finger =
        add_box(w, m, 0.2 * s, 0.4 * s, 1.6 * s, i * 0.75 * s, 0, 1.02 * s);
    dJointID joint = w->motors[i + 2] = join_slider(w, finger, carriage, X);
    dJointSetSliderParam(joint, dParamVel, -i * 0.3 * w->speed);
    dJointSetSliderParam(joint, dParamFMax,
                         draw_between(w, 1.5, 4) * w->mass * w->gravity);
  }
  w->hand = add_box(w, w->mass, s, 0.5 * s, s, 0, 0, 0.5 * s);
  w->kept[3] = 0.6 * sqrt(s / w->gravity);
  set_driven(w, run_gripper);
}

static void make_door(drawn_world *w) {
  const double s = w->size;
  if (draw_one_in(w, 2)) dCreatePlane(w->space, 0, 0, 1, 0);
  dBodyID door = add_box(w, w->mass, s, 0.1 * s, 2 * s, 0, 0, 1.05 * s);
  join_hinge(w, door, NULL, -0.5 * s, 0, 1.05 * s, Z);
  set_stops(w, -draw_between(w, 0.2, 1.5), draw_between(w, 0.2, 3),
            draw_one_in(w, 2) ? draw_between(w, 0.1, 0.7) : 0);
  if (draw_one_in(w, 2)) {
    dBodySetAngularVel(door, 0, 0, draw_between(w, 1, 5) * w->speed / s);
    /* about its hinge */
    const dReal *spin = dBodyGetAngularVel(door);
    dBodySetLinearVel(door, 0, 0.5 * s * spin[2], 0);
  } else {
    dBodyID ball = add_ball(w, pick_mass(w, 5), 0.2 * s, 0.2 * s, -s, s);
    dBodySetLinearVel(ball, 0, draw_between(w, 1, 4) * w->speed, 0);
  }
}

/* Arms of hinges with stops that fall onto them. */
static void make_stops(drawn_world *w) {
  const double s = w->size, stop = draw_between(w, 0.1, 0.8);
  const double bounce = draw_one_in(w, 2) ? draw_between(w, 0.1, 0.6) : 0;
  dBodyID last = NULL;
  for (int i = 0; i < 2 + draw_below(w, 4); i++) {
    dBodyID arm = add_box(w, pick_mass(w, 4), 0.8 * s, 0.2 * s, 0.2 * s,
                          (i + 0.5) * s, 0, 0);
    join_hinge(w, arm, last, i * s, 0, 0, Y);
    set_stops(w, -stop, stop, bounce);
    last = arm;
  }
}

/* Four bars in a loop, swinging. */
static void make_loop(drawn_world *w) {
  const double s = w->size;
  dBodyID left = add_box(w, pick_mass(w, 10), 0.1 * s, 0.1 * s, s, 0, 0, 0);
  dBodyID right =
      add_box(w, pick_mass(w, 10), 0.1 * s, 0.1 * s, s, 1.5 * s, 0, 0);
  dBodyID bar = add_box(w, pick_mass(w, 50), 1.5 * s, 0.1 * s, 0.1 * s,
                        0.75 * s, 0, -0.5 * s);
  const int axis = Y;
  join_hinge(w, left, NULL, 0, 0, 0.5 * s, axis);
  join_hinge(w, right, NULL, 1.5 * s, 0, 0.5 * s, axis);
  join_hinge(w, bar, left, 0, 0, -0.5 * s, axis);
  join_hinge(w, bar, right, 1.5 * s, 0, -0.5 * s, axis);
  const double speed = draw_between(w, 0.3, 2) * w->speed;
  dBodySetLinearVel(bar, speed, 0, 0);
  for (int i = 0; i < 2; i++) {
    dBodyID arm = i ? right : left;
    dBodySetLinearVel(arm, speed / 2, 0, 0);
    dBodySetAngularVel(arm, 0, -speed / s, 0);
  }
}

/* Beams on universal and ball joints that swing and turn, in the air. */
static void make_swing(drawn_world *w) {
  const double s = w->size;
  dBodyID last = NULL;
  for (int i = 0; i < 2 + draw_below(w, 3); i++) {
    dBodyID arm = add_capsule(w, pick_mass(w, 20), 0.1 * s, 0.7 * s, X,
                              (i + 0.5) * s, 0, 0);
    if (draw_one_in(w, 2))
      join_universal(w, arm, last, i * s, 0, 0, Y, Z);
    else
      join_ball(w, arm, last, i * s, 0, 0);
    last = arm;
  }
  const double spin = draw_between(w, 0, 2) * w->speed / s;
  for (int i = 0; i < w->n_bodies; i++) {
    dBodySetAngularVel(w->bodies[i], 0, 0, spin);
    dBodySetLinearVel(w->bodies[i], 0, spin * dBodyGetPosition(w->bodies[i])[0],
                      0);
  }
}

/* ---- chains, ropes, bridges, nets ---- */

/* Links along x from a fixed point, with a heavy end. */
static void make_chain(drawn_world *w) {
  const double s = w->size, link = 0.4 * s;
  const int n = 4 + draw_below(w, 10);
  const double ratio = draw_scale(w, 1, 400);
  const bool hangs = draw_one_in(w, 2);
  dBodyID last = NULL;
  for (int i = 0; i < n; i++) {
    const double at = (i + 0.5) * link, x = hangs ? 0 : at, z = hangs ? -at : 0;
    dBodyID body =
        add_capsule(w, w->mass / n, 0.05 * s, 0.28 * s, hangs ? Z : X, x, 0, z);
    join_ball(w, body, last, hangs ? 0 : i * link, 0, hangs ? -i * link : 0);
    last = body;
  }
  const double end = n * link + 0.3 * s;
  dBodyID load = add_ball(w, w->mass / n * ratio, 0.3 * s, hangs ? 0 : end, 0,
                          hangs ? -end : 0);
  join_ball(w, load, last, hangs ? 0 : n * link, 0, hangs ? -n * link : 0);
  if (hangs) dBodySetLinearVel(load, draw_between(w, 0.2, 2) * w->speed, 0, 0);
}

/* A rope between two masses, thrown. */
static void make_bola(drawn_world *w) {
  const double s = w->size, link = 0.3 * s;
  const int n = 4 + draw_below(w, 6);
  if (draw_one_in(w, 2)) dCreatePlane(w->space, 0, 0, 1, -s);
  dBodyID last = add_ball(w, pick_mass(w, 400), 0.3 * s, -0.3 * s, 0, 0);
  for (int i = 0; i < n; i++) {
    dBodyID body = add_capsule(w, w->mass / n, 0.05 * s, 0.2 * s, X,
                               (i + 0.5) * link, 0, 0);
    join_ball(w, body, last, i * link, 0, 0);
    last = body;
  }
  dBodyID other =
      add_ball(w, pick_mass(w, 400), 0.3 * s, n * link + 0.3 * s, 0, 0);
  join_ball(w, other, last, n * link, 0, 0);
  dBodySetLinearVel(other, 0, draw_between(w, 0.5, 2) * w->speed,
                    draw_between(w, 0, 1) * w->speed);
}

static void add_bridge(drawn_world *w, int n, double mass) {
  const double s = w->size, plank = 0.4 * s;
  const int wide = draw_below(w, 3);
  for (int i = 0; i <= n; i++) {
    dBodyID last = i > 0 ? w->bodies[w->n_bodies - 1] : NULL;
    dBodyID body = i < n ? add_box(w, mass, 0.9 * plank, 1.5 * s, 0.1 * s,
                                   (i + 0.5) * plank, 0, 0)
                         : last;
    dBodyID other = i < n ? last : NULL;
    if (wide == 0) { /* one hinge a gap, or two balls */
      join_hinge(w, body, other, i * plank, 0, 0, Y);
    } else {
      join_ball(w, body, other, i * plank, 0.7 * s, 0);
      join_ball(w, body, other, i * plank, -0.7 * s, 0);
    }
  }
}

/* A taut bridge with things laid or dropped on it. */
static void make_bridge(drawn_world *w) {
  const double s = w->size;
  const int n = 6 + draw_below(w, 7);
  if (is_soft(w)) w->surface.mode = dContactApprox1;
  add_bridge(w, n, w->mass / draw_scale(w, 1, 100));
  const double drop = draw_one_in(w, 2) ? 0.001 * s : draw_between(w, 0, 1) * s;
  for (int i = 0; i < 1 + draw_below(w, 3); i++) {
    const double x = (0.3 + 0.2 * i) * n * 0.4 * s;
    add_box(w, pick_mass(w, 4), 0.7 * s, 0.7 * s, 0.7 * s, x, 0,
            0.4 * s + drop);
  }
}

static void make_barrel_bridge(drawn_world *w) {
  const double s = w->size;
  const int n = 8 + draw_below(w, 5);
  add_bridge(w, n, w->mass / draw_scale(w, 1, 100));
  const double speed = draw_between(w, 0.5, 1.5) * w->speed;
  dBodyID barrel =
      add_cylinder(w, w->mass, 0.4 * s, 0.8 * s, Y, 0.8 * s, 0, 0.45 * s);
  dBodySetLinearVel(barrel, speed, 0, 0);
  dBodySetAngularVel(barrel, 0, speed / (0.4 * s), 0);
}

/* Balls in a square net, held at its corners, and one thrown onto it. */
static void make_net(drawn_world *w) {
  const double s = w->size, gap = 0.5 * s;
  const int side = 3 + draw_below(w, 2);
  const double mass = w->mass / (side * side);
  for (int i = 0; i < side; i++)
    for (int j = 0; j < side; j++) {
      dBodyID ball = add_ball(w, mass, 0.1 * s, i * gap, j * gap, 0);
      if (i > 0)
        join_ball(w, ball, w->bodies[w->n_bodies - 1 - side], (i - 0.5) * gap,
                  j * gap, 0);
      if (j > 0)
        join_ball(w, ball, w->bodies[w->n_bodies - 2], i * gap, (j - 0.5) * gap,
                  0);
      if (i % (side - 1) == 0 && j % (side - 1) == 0)
        join_ball(w, ball, NULL, i * gap, j * gap, 0);
    }
  const double middle = (side - 1) * gap / 2;
  dBodyID ball = add_ball(w, mass * draw_scale(w, 1, 50), 0.35 * s, middle,
                          middle, 0.5 * s);
  dBodySetLinearVel(ball, 0, 0, -draw_between(w, 0, 2) * w->speed);
}

/* ---- ragdolls ---- */

static void add_ragdoll(drawn_world *w, double x, double y, double z) {
  const double s = w->size / 2, m = w->mass;
  dBodyID trunk = add_box(w, 0.5 * m, 0.6 * s, 0.35 * s, s, x, y, z);
  dBodyID head = add_ball(w, 0.08 * m, 0.22 * s, x, y, z + 0.8 * s);
  join_ball(w, head, trunk, x, y, z + 0.55 * s);
  for (int i = -1; i <= 1; i += 2) {
    dBodyID arm = add_capsule(w, 0.05 * m, 0.1 * s, 0.4 * s, X, x + i * 0.7 * s,
                              y, z + 0.4 * s);
    join_ball(w, arm, trunk, x + i * 0.38 * s, y, z + 0.4 * s);
    dBodyID hand = add_capsule(w, 0.03 * m, 0.08 * s, 0.4 * s, X,
                               x + i * 1.35 * s, y, z + 0.4 * s);
    join_hinge(w, hand, arm, x + i * 1.02 * s, y, z + 0.4 * s, Y);
    set_stops(w, -1.2, 1.2, 0);
    dBodyID thigh = add_capsule(w, 0.1 * m, 0.13 * s, 0.5 * s, Z,
                                x + i * 0.2 * s, y, z - 0.95 * s);
    join_ball(w, thigh, trunk, x + i * 0.2 * s, y, z - 0.55 * s);
    dBodyID shin = add_capsule(w, 0.06 * m, 0.1 * s, 0.5 * s, Z,
                               x + i * 0.2 * s, y, z - 1.75 * s);
    join_hinge(w, shin, thigh, x + i * 0.2 * s, y, z - 1.35 * s, X);
    set_stops(w, -0.1, 1.5, 0);
  }
}

static void make_ragdoll(drawn_world *w) {
  draw_floor(w, 6 * w->size);
  add_ragdoll(w, 0, 0, w->size * draw_between(w, 1.3, 1.6));
  dBodySetLinearVel(w->bodies[0], draw_between(w, -1, 1) * w->speed,
                    draw_between(w, -1, 1) * w->speed, 0);
}

static void make_ragdolls(drawn_world *w) {
  dCreatePlane(w->space, 0, 0, 1, 0);
  for (int i = 0; i < 2; i++)
    add_ragdoll(w, 0.3 * i * w->size, 0.2 * i * w->size,
                w->size * (1.2 + 1.8 * i));
}

/* ---- stacks, walls, dominoes, heaps ---- */

static void make_stack(drawn_world *w) {
  const double s = w->size;
  draw_floor(w, 5 * s);
  double top = 0;
  for (int i = 0; i < 2 + draw_below(w, 5); i++) {
    const double a = s * draw_between(w, 0.7, 1.2);
    const double c = s * draw_between(w, 0.3, 0.8), m = pick_mass(w, 20);
    const double x = 0.05 * s * draw_between(w, -1, 1), z = top + c / 2;
    switch (draw_below(w, 3)) {
      case 0: add_cylinder(w, m, a / 2, c, Z, x, 0, z); break;
      default: add_box(w, m, a, a, c, x, 0, z);
    }
    top += c;
  }
}

static void make_bricks(drawn_world *w) {
  const double s = w->size;
  const int courses = 2 + draw_below(w, 3), n = 2 + draw_below(w, 2);
  const double drop = draw_one_in(w, 2) ? 0 : 0.01 * s;
  add_floor(w, draw_one_in(w, 2) ? FLOOR_PLANE : FLOOR_MESH, 4 * s);
  w->surface.mu = draw_between(w, 0.4, 1);
  for (int i = 0; i < courses; i++)
    for (int k = 0; k < n; k++)
      add_box(w, w->mass, s, 0.5 * s, 0.4 * s, (k + 0.5 * (i % 2)) * s, 0,
              (0.2 + 0.4 * i) * s + drop * (i + 1));
}

static void make_dominoes(drawn_world *w) {
  const double s = w->size, thick = s * draw_between(w, 0.08, 0.2);
  const double gap = s * draw_between(w, 0.35, 0.6);
  add_floor(w, draw_one_in(w, 2) ? FLOOR_PLANE : FLOOR_BOARDS, 4 * s);
  w->surface.mu = draw_between(w, 0.2, 0.8);
  for (int i = 0; i < 4 + draw_below(w, 4); i++)
    add_box(w, w->mass, thick, 0.5 * s, s, i * gap - s, 0, 0.5 * s);
  dBodySetAngularVel(w->bodies[0], 0, draw_between(w, 0.6, 1.5) * w->speed / s,
                     0);
}

static void add_something(drawn_world *w, double x, double y, double z) {
  const double s = w->size * draw_between(w, 0.5, 1), m = pick_mass(w, 10);
  dBodyID body;
  switch (draw_below(w, 4)) {
    case 0: body = add_ball(w, m, 0.4 * s, x, y, z); break;
    case 1: body = add_capsule(w, m, 0.25 * s, 0.5 * s, X, x, y, z); break;
    case 2: body = add_cylinder(w, m, 0.35 * s, 0.6 * s, X, x, y, z); break;
    default:
      body = add_box(w, m, s, draw_between(w, 0.3, 1) * s, 0.6 * s, x, y, z);
  }
  turn_anyhow(w, body);
}

static void make_heap(drawn_world *w) {
  const double s = w->size;
  for (int i = 0; i < 4; i++)
    dCreatePlane(w->space, (i == 0) - (i == 1), (i == 2) - (i == 3), 0,
                 -1.6 * s);
  add_floor(w, draw_one_in(w, 2) ? FLOOR_PLANE : FLOOR_TILES, 2 * s);
  const int n = 5 + draw_below(w, 6);
  for (int i = 0; i < n; i++)
    add_something(w, (i % 2 - 0.5) * 1.5 * s, (i / 2 % 2 - 0.5) * 1.5 * s,
                  s * (0.9 + 1.5 * (i / 4)));
}

static void make_balls(drawn_world *w) {
  const double s = w->size;
  w->bump = draw_one_in(w, 3) ? 0.2 * s : 0;
  draw_floor(w, 5 * s);
  w->surface.mode = dContactApprox1 | dContactBounce;
  w->surface.bounce = draw_between(w, 0.1, 0.95);
  w->surface.bounce_vel = 0.02 * w->speed;
  for (int i = 0; i < 2 + draw_below(w, 4); i++) {
    dBodyID ball = add_ball(w, pick_mass(w, 10), draw_between(w, 0.2, 0.5) * s,
                            1.2 * s * i - 2 * s, 0, s * draw_between(w, 1, 2));
    dBodySetLinearVel(ball, draw_between(w, -1, 1) * w->speed,
                      draw_between(w, -1, 1) * w->speed, 0);
  }
}

static void make_rods(drawn_world *w) {
  const double s = w->size, thin = s * draw_between(w, 0.02, 0.08);
  draw_floor(w, 5 * s);
  for (int i = 0; i < 2; i++) {
    const double y = (i - 0.5) * 3 * s, z = s * draw_between(w, 0.6, 1.2);
    const int shape = draw_below(w, 3);
    const double m = pick_mass(w, 2);
    dBodyID rod = shape == 0   ? add_capsule(w, m, thin, s, Z, 0, y, z)
                  : shape == 1 ? add_cylinder(w, m, thin, s, Z, 0, y, z)
                               : add_box(w, m, 2 * thin, 2 * thin, s, 0, y, z);
    turn(rod, 0, 1, 0.3, draw_between(w, 0, 1.2));
    dBodySetAngularVel(rod, 0, draw_between(w, -3, 3) * w->speed / s, 0);
    dBodySetLinearVel(rod, draw_between(w, -1, 1) * w->speed, 0, 0);
  }
}

/* A top, a plate and a bar that turn freely and fall onto the floor. */
static void make_spinners(drawn_world *w) {
  const double s = w->size;
  draw_floor(w, 5 * s);
  for (int i = 0; i < 3; i++) {
    const double y = 2 * s * (i - 1), spin = w->speed / s;
    dBodyID body =
        i == 0   ? add_cylinder(w, w->mass, 0.5 * s, 0.1 * s, Z, 0, y, 0.9 * s)
        : i == 1 ? add_box(w, w->mass, s, 0.6 * s, 0.2 * s, 0, y, 0.8 * s)
                 : add_capsule(w, w->mass, 0.1 * s, 0.6 * s, X, 0, y, 0.8 * s);
    dBodySetAngularVel(body, draw_between(w, -4, 4) * spin,
                       draw_between(w, -4, 4) * spin,
                       draw_between(w, -8, 8) * spin);
  }
}

const drawn_family drawn_families[] = {
    {"ghost", make_ghost},       {"chain", make_chain},
    {"stack", make_stack},       {"bridge", make_bridge},
    {"car", make_car},           {"slide", make_slide},
    {"dominoes", make_dominoes}, {"bola", make_bola},
    {"ragdoll", make_ragdoll},   {"lift", make_lift},
    {"ramp", make_ramp},         {"bricks", make_bricks},
    {"net", make_net},           {"rods", make_rods},
    {"gripper", make_gripper},   {"balls", make_balls},
    {"belt", make_belt},         {"stops", make_stops},
    {"heap", make_heap},         {"barrel", make_barrel_bridge},
    {"parked", make_parked},     {"door", make_door},
    {"loop", make_loop},         {"shaker", make_shaker},
    {"ragdolls", make_ragdolls}, {"swing", make_swing},
    {"spinners", make_spinners}, {NULL, NULL}};
