/* A world as plain arrays: at other poses without a trace, and with contacts at
 * one point as one, under every scheme. */
#include <math.h>
#include <ode/stepper.h>
#include <string.h>

#include "collision_scene.h"
#include "host_rounding.h"
#include "settings/scheme_list.h"
#include "step_testing.h"
#include "world/world.h"

/* --- other poses ------------------------------------------------------------ */

enum { BODIES = 6 };

typedef struct tangle {
  dWorldID world;
  dSpaceID space;
  dBodyID body[BODIES];
  dGeomID geom[BODIES];
  dStepperIsland island;
  memory_pool pool;
  arena arena;
} tangle;

/* Bodies with joints, stops and contacts; quaternions that are not of length
 * one to the last bit, and a rotation whose padding is no zero. */
static void create_tangle(tangle *t, uint64_t seed) {
  test_random random = {seed};
  memset(t, 0, sizeof *t);
  t->world = create_world(9.81, NULL);
  t->space = dSimpleSpaceCreate(0);
  for (int b = 0; b < BODIES; b++) {
    dMatrix3 R;
    dBodyID body = t->body[b] = create_ball(t->world, 1 + b, 0.3);
    dRFromAxisAndAngle(R, test_uniform(&random, -1, 1),
                       test_uniform(&random, -1, 1), 1,
                       test_uniform(&random, -3, 3));
    R[3] = R[7] = R[11] = 0.125;
    dBodySetRotation(body, R);
    dBodySetPosition(body, b, test_uniform(&random, -1, 1),
                     test_uniform(&random, -1, 1));
    dBodySetLinearVel(body, test_uniform(&random, -1, 1), 1, 0);
    dBodySetAngularVel(body, 0, test_uniform(&random, -1, 1), 2);
    t->geom[b] = dCreateBox(t->space, 0.4, 0.5, 0.6);
    dGeomSetBody(t->geom[b], body);
  }
  dBodySetKinematic(t->body[5]);
  dSurfaceParameters surface = bare_surface(dContactApprox1, 0.5);
  for (int b = 0; b + 1 < BODIES; b++) {
    const dReal *x = dBodyGetPosition(t->body[b]);
    dJointID joint = b % 2 ? dJointCreateHinge(t->world, 0)
                           : dJointCreateSlider(t->world, 0);
    dJointAttach(joint, t->body[b], t->body[b + 1]);
    if (b % 2) {
      dJointSetHingeAnchor(joint, x[0], x[1], x[2]);
      dJointSetHingeParam(joint, dParamHiStop, 1);
    } else {
      dJointSetSliderParam(joint, dParamHiStop, 0.5);
      dJointSetSliderParam(joint, dParamLoStop, -0.5);
    }
    dContact contact = contact_at(&surface, x[0], x[1], x[2] - 0.25, 0.01);
    joint = dJointCreateContact(t->world, 0, &contact);
    dJointAttach(joint, b % 2 ? t->body[b] : 0, b % 2 ? 0 : t->body[b]);
  }
  memory_pool_open(&t->pool, &memory_from_malloc);
  t->arena.source = &t->pool.source;
  CU_ASSERT_FATAL(world_island(&t->island, &t->arena, t->world));
}

static void destroy_tangle(tangle *t) {
  memory_pool_release(&t->pool);
  dSpaceDestroy(t->space);
  dWorldDestroy(t->world);
}

static uint64_t hash_tangle(const tangle *t) {
  hash of = hash_of_bodies(t->body, BODIES);
  for (int b = 0; b < BODIES; b++) {
    dReal box[6];
    dGeomGetAABB(t->geom[b], box);
    hash_bytes(&of, box, sizeof box);
  }
  return of.value;
}

static world_settings settings_of(tangle *t) {
  return (world_settings){.pool = &t->pool,
                          .world = t->world,
                          .step_size = 0.01,
                          .erp = ODE_MLCP_ERP_HOST,
                          .margin = ODE_MLCP_MARGIN_AUTO};
}

static void test_other_poses_leave_no_trace(void) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    tangle t;
    outcome out;
    world_snapshot home = {0}, moved = {0};
    create_tangle(&t, seed);
    world_settings settings = settings_of(&t);
    outcome_start(&out);
    CU_ASSERT_FATAL(world_read(&home, &settings, &t.island, 1, &out));
    CU_ASSERT_EQUAL(home.n_bodies, BODIES);
    CU_ASSERT_EQUAL(home.n_joints, 2 * (BODIES - 1));

    uint64_t before = hash_tangle(&t);
    world_pose poses[BODIES];
    for (int b = 0; b < BODIES; b++) {
      world_pose from = world_pose_of(&home.bodies[b]);
      const double away[6] = {3, -2, 1, 0.5, 1, -0.7};
      world_pose_move(&poses[b], &from, away, 0.1 * b + 0.1);
    }
    CU_ASSERT_FATAL(
        world_read_at(&moved, &home, poses, 0.01, home.settings.margin, &out));
    CU_ASSERT_EQUAL(hash_tangle(&t), before);
    for (int b = 0; b < BODIES; b++)
      for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(moved.bodies[b].position[i],
                        (dReal)poses[b].position[i]);

    /* negative control: the hash sees a bit */
    dReal *R = (dReal *)dBodyGetRotation(t.body[2]);
    R[3] += (R[3] < 0 ? 1 : -1) * (dReal)REAL_EPSILON;
    CU_ASSERT_NOT_EQUAL(hash_tangle(&t), before);
    destroy_tangle(&t);
  }
}

/* At the bodies' own poses both ways to read a world see the same. */
static void test_both_readings_are_one(void) {
  tangle t;
  outcome out;
  world_snapshot home = {0}, again = {0};
  create_tangle(&t, 7);
  world_settings settings = settings_of(&t);
  outcome_start(&out);
  CU_ASSERT_FATAL(world_read(&home, &settings, &t.island, 1, &out));
  world_pose poses[BODIES];
  for (int b = 0; b < BODIES; b++) poses[b] = world_pose_of(&home.bodies[b]);
  CU_ASSERT_FATAL(
      world_read_at(&again, &home, poses, 0.01, home.settings.margin, &out));
  CU_ASSERT_EQUAL(again.n_joint_rows, home.n_joint_rows);
  CU_ASSERT_EQUAL_FATAL(again.contacts.n, home.contacts.n);
  int match[4 * BODIES];
  world_matcher matcher = {0};
  CU_ASSERT_FATAL(world_match(&matcher, &home, &home.contacts, &again,
                              &again.contacts, 1e-9, match));
  int n_stops = 0;
  for (int k = 0; k < home.contacts.n; k++) {
    CU_ASSERT_FATAL(match[k] >= 0);
    const world_contact *a = &home.contacts.items[k];
    const world_contact *b = &again.contacts.items[match[k]];
    CU_ASSERT_EQUAL(a->joint, b->joint);
    CU_ASSERT_DOUBLE_EQUAL(a->point.gap, b->point.gap, of_host(1e-12, 1));
    double v[6 * BODIES];
    for (int i = 0; i < 6 * BODIES; i++) v[i] = sin(i);
    CU_ASSERT_DOUBLE_EQUAL(world_contact_rate(&home.contacts, k, v),
                           world_contact_rate(&again.contacts, match[k], v),
                           of_host(1e-12, 1));
    n_stops += a->stop >= 0;
  }
  CU_ASSERT(n_stops >= 5); /* two a slider, one a hinge */
  destroy_tangle(&t);
}

/* The largest right-hand side of a joint's rows. */
static double most_asked(const world_snapshot *world, dJointID id) {
  double most = 0;
  for (int j = 0; j < world->n_joints; j++) {
    if (world->joints[j].id != id) continue;
    const host_joint_rows *rows = &world->joint_rows[world->joints[j].rows];
    for (unsigned i = 0; i < rows->rows.count; i++)
      most = fmax(most, fabs(rows->rows.rhs[i]));
  }
  return most;
}

/* A world of two bodies, once it is built. */
static void read_two(tangle *t, world_snapshot *home, outcome *out) {
  memory_pool_open(&t->pool, &memory_from_malloc);
  t->arena.source = &t->pool.source;
  CU_ASSERT_FATAL(world_island(&t->island, &t->arena, t->world));
  world_settings settings = settings_of(t);
  outcome_start(out);
  CU_ASSERT_FATAL(world_read(home, &settings, &t->island, 1, out));
  CU_ASSERT_EQUAL_FATAL(home->n_bodies, 2);
}

/* A quarter of a step asks a rigid joint for four times the velocity, so that its error
 * is gone as soon. A spring's force is ERP error / (h CFM) in whatever part of a step:
 * it asks for the same velocity, by a quarter of its ERP. */
static void test_springs_are_as_stiff_in_a_part_of_a_step(void) {
  const double h = 0.01, error = 0.05;
  tangle t;
  outcome out;
  world_snapshot home = {0}, part = {0};
  world_pose poses[2];
  dJointID joints[2];
  memset(&t, 0, sizeof t);
  t.world = create_world(9.81, NULL);
  dWorldSetERP(t.world, 0.2);
  for (int b = 0; b < 2; b++) {
    t.body[b] = create_ball(t.world, 2, 0.3);
    dBodySetPosition(t.body[b], 5 * b, 0, 1);
    joints[b] = joint_ball(t.world, t.body[b], NULL, 5 * b, 0, 1);
    dBodySetPosition(t.body[b], 5 * b, 0, 1 + error);
    dSurfaceParameters surface =
        bare_surface(dContactApprox1 | dContactSoftCFM, 0.5);
    surface.soft_cfm = 0.01;
    if (b == 1) {
      surface.mode |= dContactSoftERP;
      surface.soft_erp = 0.6;
    }
    dContact contact = contact_at(&surface, 5 * b, 0, 0.7, 0.01);
    dJointAttach(dJointCreateContact(t.world, 0, &contact), t.body[b], 0);
  }
  dJointSetBallParam(joints[1], dParamCFM, 1e-3);
  dJointSetBallParam(joints[1], dParamERP, 0.3);
  read_two(&t, &home, &out);
  for (int b = 0; b < 2; b++) poses[b] = world_pose_of(&home.bodies[b]);
  CU_ASSERT_FATAL(
      world_read_at(&part, &home, poses, h / 4, home.settings.margin, &out));

  CU_ASSERT_DOUBLE_EQUAL(most_asked(&home, joints[0]), 0.2 * error / h,
                         of_host(1e-9, 5 / h));
  CU_ASSERT_DOUBLE_EQUAL(most_asked(&part, joints[0]), 0.8 * error / h,
                         of_host(1e-9, 5 / h));
  CU_ASSERT_DOUBLE_EQUAL(most_asked(&home, joints[1]), 0.3 * error / h,
                         of_host(1e-9, 5 / h));
  CU_ASSERT_DOUBLE_EQUAL(most_asked(&part, joints[1]), 0.3 * error / h,
                         of_host(1e-9, 5 / h));
  CU_ASSERT_EQUAL_FATAL(part.contacts.n, 2);
  for (int k = 0; k < 2; k++) {
    const host_contact *point = &part.contacts.items[k].point;
    bool own = part.bodies[point->body[0]].id == t.body[1];
    CU_ASSERT(point->soft);
    CU_ASSERT_DOUBLE_EQUAL(point->surface.erp, own ? 0.15 : 0.05,
                           of_host(1e-15, 0.15));
  }
  memory_pool_release(&t.pool);
  dWorldDestroy(t.world);
}

/* A contact that is told without geoms is one point of both bodies at other poses, too:
 * forces there turn the two together by nothing. */
static void test_told_contacts_are_one_point(void) {
  tangle t;
  outcome out;
  world_snapshot home = {0}, moved = {0};
  world_pose poses[2];
  memset(&t, 0, sizeof t);
  t.world = create_world(9.81, NULL);
  for (int b = 0; b < 2; b++) {
    t.body[b] = create_ball(t.world, 2, 0.3);
    dBodySetPosition(t.body[b], 0.1 * b, 0, 0.6 * b);
  }
  dSurfaceParameters surface = bare_surface(dContactApprox1, 0.5);
  dContact contact = contact_at(&surface, 0.05, 0, 0.3, 0);
  dJointAttach(dJointCreateContact(t.world, 0, &contact), t.body[1], t.body[0]);
  read_two(&t, &home, &out);
  for (int b = 0; b < 2; b++) {
    world_pose from = world_pose_of(&home.bodies[b]);
    const double away[6] = {3, -2, 1, 0.5, 1, -0.7};
    world_pose_move(&poses[b], &from, away, 0.01 - 0.03 * b);
  }
  CU_ASSERT_FATAL(
      world_read_at(&moved, &home, poses, 0.01, home.settings.margin, &out));
  CU_ASSERT_EQUAL_FATAL(moved.contacts.n, 1);
  const host_contact *point = &moved.contacts.items[0].point;
  for (int i = 0; i < 3; i++)
    CU_ASSERT_DOUBLE_EQUAL(poses[point->body[0]].position[i] + point->arm[0][i],
                           poses[point->body[1]].position[i] + point->arm[1][i],
                           of_host(1e-15, 1));
  memory_pool_release(&t.pool);
  dWorldDestroy(t.world);
}

/* --- coincident contacts ------------------------------------------------------ */

#define NAME(ID, name, help) name,
static const char *const SCHEMES[] = {SCHEME_LIST(NAME)};
#undef NAME
enum { N_SCHEMES = sizeof SCHEMES / sizeof SCHEMES[0], COPIES = 1000 };

static const double CORNER[4][2] = {{-1, -1}, {1, -1}, {-1, 1}, {1, 1}};

static ode_mlcp_options options_of(const char *scheme) {
  char message[200];
  ode_mlcp_options options = default_options();
  CU_ASSERT_EQUAL_FATAL(
      ode_mlcp_set_option(&options, "scheme", scheme, message, sizeof message),
      ODE_MLCP_OK);
  return options;
}

/* A box of edge 2 and mass 3 that slides on the plane z = 0. */
static dBodyID create_slider(dWorldID world) {
  dBodyID body = create_box(world, NULL, 3, 2, 2, 2);
  dBodySetPosition(body, 0, 0, 1);
  dBodySetLinearVel(body, 1, 0.5, 0);
  return body;
}

static int copies; /* of every corner's contact */

static int give_corners(void *context, dWorldID world,
                        ode_mlcp_contact_list *list) {
  dBodyID body = context;
  (void)world;
  dSurfaceParameters surface = bare_surface(dContactApprox1, 0.5);
  const dReal *x = dBodyGetPosition(body);
  for (int i = 0; i < copies; i++)
    for (int c = 0; c < 4; c++) {
      dContact contact = contact_at(&surface, x[0] + CORNER[c][0],
                                    x[1] + CORNER[c][1], 0, 1 - x[2]);
      if (ode_mlcp_add_contact(list, body, 0, &contact) != ODE_MLCP_OK)
        return 0;
    }
  return 1;
}

/* Three steps of the box on so many contacts a corner. */
static void slide(const char *scheme, bool source, int n_copies, double v[3],
                  ode_mlcp_report *report) {
  ode_mlcp_options options = options_of(scheme);
  dWorldID world = create_world(9.81, &options);
  dBodyID body = create_slider(world);
  dJointGroupID group = dJointGroupCreate(0);
  copies = n_copies;
  if (source) ode_mlcp_set_collision(world, give_corners, body);
  dSurfaceParameters surface = bare_surface(dContactApprox1, 0.5);
  for (int step = 0; step < 3; step++) {
    const dReal *x = dBodyGetPosition(body);
    for (int i = 0; i < n_copies && !source; i++)
      for (int c = 0; c < 4; c++) {
        dContact contact = contact_at(&surface, x[0] + CORNER[c][0],
                                      x[1] + CORNER[c][1], 0, 1 - x[2]);
        dJointAttach(dJointCreateContact(world, group, &contact), body, 0);
      }
    CU_ASSERT_EQUAL(ode_mlcp_step(world, 0.01, report), ODE_MLCP_OK);
    dJointGroupEmpty(group);
  }
  for (int i = 0; i < 3; i++) v[i] = dBodyGetLinearVel(body)[i];
  dJointGroupDestroy(group);
  dWorldDestroy(world);
}

static void test_coincident_contacts_are_one(void) {
  for (int k = 0; k < N_SCHEMES; k++)
    for (int source = 0; source < 2; source++) {
      double once[3], often[3];
      ode_mlcp_report single, many;
      slide(SCHEMES[k], source, 1, once, &single);
      slide(SCHEMES[k], source, COPIES, often, &many);
      CU_ASSERT_EQUAL(single.contacts, 4);
      CU_ASSERT_EQUAL(single.contacts_merged, 0);
      CU_ASSERT_EQUAL(many.contacts, 4);
      CU_ASSERT(many.contacts_merged >= 4 * (COPIES - 1));
      CU_ASSERT_EQUAL(many.rows, single.rows);
      CU_ASSERT(many.residual < 1e-9);
      for (int i = 0; i < 3; i++)
        CU_ASSERT_DOUBLE_EQUAL(often[i], once[i], 1e-8); /* CFM is shared */
      /* it slides, and its friction is Coulomb's */
      double speed = hypot(1, 0.5) - 3 * 0.01 * 0.5 * 9.81;
      CU_ASSERT_DOUBLE_EQUAL(hypot(often[0], often[1]), speed,
                             of_host(1e-6, 10)); /* m/s: of a place in a step */
    }
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"other poses leave no trace", test_other_poses_leave_no_trace},
      {"both readings are one", test_both_readings_are_one},
      {"springs are as stiff in a part of a step",
       test_springs_are_as_stiff_in_a_part_of_a_step},
      {"told contacts are one point", test_told_contacts_are_one_point},
      {"coincident contacts are one", test_coincident_contacts_are_one},
      CU_TEST_INFO_NULL};
  return run_host_tests("world snapshots", tests);
}
