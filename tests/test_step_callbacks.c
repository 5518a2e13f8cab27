/* Callbacks of a step that destroy what the step holds: they are told, the objects
 * stay, and the step is taken as if they had not tried. And callbacks that leave the
 * step by longjmp: later steps are taken. */
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>

#include "step_testing.h"

static const double H = 0.01;

/* --- a world, and who destroys what is in it -------------------------------- */

typedef enum prey {
  BODY,
  OTHER_BODY,
  JOINT,
  GROUP,
  GROUP_WITH_ITSELF,
  GEOM_OF_BODY,
  FLOOR,
  SPACE,
  WORLD,
  NEW_BODY, /* created, not destroyed */
  N_PREY,
  LEAVE /* nothing is destroyed: the step is left */
} prey;

typedef enum moment {
  IN_COLLISION,
  IN_PAIR,
  IN_MOVED,
  IN_FORCE,
  IN_REPORT,
  N_MOMENTS
} moment;

typedef struct scene {
  dWorldID world;
  dSpaceID space;
  dGeomID floor, geom;
  dBodyID body, other, hung;
  dJointID joint, grouped;
  dJointGroupID group;
  ode_mlcp_force *force;
  prey prey;
  moment moment;
  int tries, created;
} scene;

static scene *present; /* for callbacks without a context */
static jmp_buf before_step;

static void destroy_prey(scene *s) {
  s->tries++;
  switch (s->prey) {
    case BODY: dBodyDestroy(s->body); break;
    case OTHER_BODY: dBodyDestroy(s->other); break;
    case JOINT: dJointDestroy(s->joint); break;
    case GROUP: dJointGroupEmpty(s->group); break;
    case GROUP_WITH_ITSELF: dJointGroupDestroy(s->group); break;
    case GEOM_OF_BODY: dGeomDestroy(s->geom); break;
    case FLOOR: dGeomDestroy(s->floor); break;
    case SPACE: dSpaceDestroy(s->space); break;
    case WORLD: dWorldDestroy(s->world); break;
    case NEW_BODY: {
      dBodyID made = dBodyCreate(s->world);
      dBodySetPosition(made, 100 + 2 * s->created++, 0, 0);
      break;
    }
    case LEAVE: longjmp(before_step, 1);
    case N_PREY: break;
  }
}

static int surface_of(void *context, dGeomID geom1, dGeomID geom2,
                      ode_mlcp_surface *surface) {
  scene *s = context;
  (void)geom1;
  (void)geom2;
  surface->parameters = bare_surface(dContactApprox1, 0.5);
  if (s->moment == IN_PAIR) destroy_prey(s);
  return 1;
}

static int collide(void *context, dWorldID world, ode_mlcp_contact_list *list) {
  scene *s = context;
  (void)world;
  if (s->moment == IN_COLLISION) destroy_prey(s);
  return ode_mlcp_collide_space(list, s->space, surface_of, s) == ODE_MLCP_OK;
}

static void when_moved(dBodyID body) {
  (void)body;
  if (present->moment == IN_MOVED) destroy_prey(present);
}

static void push(void *context, dBodyID body, const ode_mlcp_body_state *state,
                 double force[6], double k_q[36], double k_v[36]) {
  scene *s = context;
  (void)body;
  (void)state;
  (void)force;
  (void)k_q;
  (void)k_v;
  if (s->moment == IN_FORCE) destroy_prey(s);
}

static void see_report(void *context, dWorldID world,
                       const ode_mlcp_report *report) {
  scene *s = context;
  (void)world;
  (void)report;
  if (s->moment == IN_REPORT) destroy_prey(s);
}

static dBodyID add_box(scene *s, double x, double z, dGeomID *geom) {
  dBodyID body = create_box(s->world, NULL, 1, 1, 1, 1);
  *geom = dCreateBox(s->space, 1, 1, 1);
  dGeomSetBody(*geom, body);
  dBodySetPosition(body, x, 0, z);
  dBodySetMovedCallback(body, when_moved);
  return body;
}

static void open_scene(scene *s, int scheme, prey prey, moment moment) {
  ode_mlcp_options options = options_under(scheme);
  *s = (scene){.world = create_world(9.81, &options),
               .space = dHashSpaceCreate(0),
               .group = dJointGroupCreate(0),
               .prey = prey,
               .moment = moment};
  dGeomID other;
  s->floor = dCreatePlane(s->space, 0, 0, 1, 0);
  s->body = add_box(s, 0, 0.5, &s->geom);
  s->other = add_box(s, 10, 0.6, &other);
  s->hung = add_box(s, 20, 3, &other);
  s->joint = joint_ball(s->world, s->hung, NULL, 20, 0, 4);
  s->grouped = dJointCreateHinge(s->world, s->group);
  dJointAttach(s->grouped, s->other, 0);
  dJointSetHingeAnchor(s->grouped, 9, 0, 0.6);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_set_collision(s->world, collide, s),
                        ODE_MLCP_OK);
  if (scheme != ODE_MLCP_SCHEME_AP && scheme != ODE_MLCP_SCHEME_AH)
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_force_create(s->other, push, s, &s->force),
                          ODE_MLCP_OK);
  ode_mlcp_observe(see_report, s);
  present = s;
}

static void close_scene(scene *s) {
  ode_mlcp_observe(NULL, NULL);
  s->moment = N_MOMENTS;
  dJointGroupDestroy(s->group);
  dSpaceDestroy(s->space);
  dWorldDestroy(s->world);
}

static uint64_t hash_scene(const scene *s) {
  const dBodyID bodies[] = {s->body, s->other, s->hung};
  return hash_bodies(bodies, 3);
}

/* What may be destroyed at that moment: geoms while bodies are moved, as on the
 * host's own steppers, and all but the world when a step is over. */
static bool allowed(prey prey, moment moment) {
  bool geoms = prey == GEOM_OF_BODY || prey == FLOOR || prey == SPACE;
  return prey == NEW_BODY || (geoms && moment == IN_MOVED) ||
         (prey != WORLD && moment == IN_REPORT);
}

static const int SCHEMES[] = {
    ODE_MLCP_SCHEME_AP,  ODE_MLCP_SCHEME_AH,        ODE_MLCP_SCHEME_ST,
    ODE_MLCP_SCHEME_GAP, ODE_MLCP_SCHEME_TRAPEZOID, ODE_MLCP_SCHEME_CONSERVING};
enum { N_SCHEMES = sizeof SCHEMES / sizeof SCHEMES[0] };

static void test_what_a_step_holds_stays(void) {
  listen_to_host("not destroyed while");
  for (int scheme = 0; scheme < N_SCHEMES; scheme++)
    for (int moment = IN_COLLISION; moment < N_MOMENTS; moment++)
      for (int prey = BODY; prey < N_PREY; prey++) {
        scene calm, s;
        if (allowed(prey, moment) && prey != NEW_BODY) continue;
        open_scene(&calm, SCHEMES[scheme], prey, N_MOMENTS);
        for (int i = 0; i < 3; i++)
          CU_ASSERT_EQUAL(dWorldStep(calm.world, H), 1);
        uint64_t expected = hash_scene(&calm);
        close_scene(&calm);

        open_scene(&s, SCHEMES[scheme], prey, moment);
        n_heard = 0;
        for (int i = 0; i < 3; i++) CU_ASSERT_EQUAL(dWorldStep(s.world, H), 1);
        CU_ASSERT(s.tries >= 3 || (moment == IN_FORCE && s.force == NULL));
        CU_ASSERT_EQUAL(n_heard, prey == NEW_BODY ? 0 : s.tries);
        CU_ASSERT_EQUAL(hash_scene(&s), expected);
        CU_ASSERT_EQUAL(dBodyGetNumJoints(s.hung), 1);
        CU_ASSERT_EQUAL(dBodyGetNumJoints(s.other), 1);
        CU_ASSERT_EQUAL(dSpaceGetNumGeoms(s.space), 4);
        close_scene(&s);
      }
}

/* Between steps, and when a step's report is given, everything can go. */
static void test_all_can_go_when_a_step_is_over(void) {
  listen_to_host("not destroyed while");
  const prey goes[] = {BODY, JOINT, GROUP, GEOM_OF_BODY, FLOOR};
  for (int scheme = 0; scheme < N_SCHEMES; scheme++)
    for (size_t i = 0; i < sizeof goes / sizeof goes[0]; i++) {
      scene s;
      open_scene(&s, SCHEMES[scheme], goes[i], IN_REPORT);
      n_heard = 0;
      CU_ASSERT_EQUAL(dWorldStep(s.world, H), 1);
      CU_ASSERT_EQUAL(s.tries, 1);
      CU_ASSERT_EQUAL(n_heard, 0);
      s.moment = N_MOMENTS;
      for (int k = 0; k < 3; k++) CU_ASSERT_EQUAL(dWorldStep(s.world, H), 1);
      close_scene(&s);
    }
}

/* A moved callback may destroy geoms, as on the host's own steppers. */
static void test_geoms_can_go_while_bodies_move(void) {
  for (int scheme = 0; scheme < N_SCHEMES; scheme++) {
    scene s;
    open_scene(&s, SCHEMES[scheme], GEOM_OF_BODY, IN_MOVED);
    dBodySetMovedCallback(s.other, NULL);
    dBodySetMovedCallback(s.hung, NULL);
    CU_ASSERT_EQUAL(dWorldStep(s.world, H), 1);
    CU_ASSERT_EQUAL(s.tries, 1);
    CU_ASSERT_EQUAL(dSpaceGetNumGeoms(s.space), 3);
    s.moment = N_MOMENTS;
    for (int k = 0; k < 20; k++) CU_ASSERT_EQUAL(dWorldStep(s.world, H), 1);
    CU_ASSERT(dBodyGetPosition(s.body)[2] < 0.49); /* falls: nothing holds it */
    close_scene(&s);
  }
}

/* Bodies that come in a step that then fails: all others are as they were. */
static int create_and_fail(void *context, dWorldID world,
                           ode_mlcp_contact_list *list) {
  (void)context;
  (void)list;
  for (int i = 0; i < 50; i++) dBodyCreate(world);
  return 0;
}

static void test_bodies_come_in_a_step_that_fails(void) {
  listen_to_host("not destroyed while");
  scene s;
  open_scene(&s, ODE_MLCP_SCHEME_AH, N_PREY, N_MOMENTS);
  dWorldSetAutoDisableFlag(s.world, 1);
  uint64_t expected = hash_scene(&s);
  ode_mlcp_set_collision(s.world, create_and_fail, &s);
  CU_ASSERT_EQUAL(dWorldStep(s.world, H), 0);
  CU_ASSERT_EQUAL(hash_scene(&s), expected);
  ode_mlcp_set_collision(s.world, collide, &s);
  CU_ASSERT_EQUAL(dWorldStep(s.world, H), 1);
  close_scene(&s);
}

/* --- forces ------------------------------------------------------------------ */

static int n_pushes;
static void push_once(void *context, dBodyID body,
                      const ode_mlcp_body_state *state, double force[6],
                      double k_q[36], double k_v[36]) {
  ode_mlcp_force **own = context, *made;
  (void)state;
  (void)k_q;
  (void)k_v;
  n_pushes++;
  force[0] = 1;
  ode_mlcp_force_destroy(*own);
  const ode_mlcp_spring spring = {.body = {body, NULL}, .stiffness = 1};
  CU_ASSERT_EQUAL(ode_mlcp_force_create(body, push_once, context, &made),
                  ODE_MLCP_IN_STEP);
  CU_ASSERT_EQUAL(ode_mlcp_spring_create(dBodyGetWorld(body), &spring, &made),
                  ODE_MLCP_IN_STEP);
}

/* A force that destroys itself acts until the step is over, and then no more. */
static void test_a_force_ends_itself(void) {
  for (int scheme = 2; scheme < N_SCHEMES; scheme++) {
    scene s;
    ode_mlcp_force *forces[3];
    open_scene(&s, SCHEMES[scheme], N_PREY, N_MOMENTS);
    for (int i = 0; i < 3; i++)
      CU_ASSERT_EQUAL(
          ode_mlcp_force_create(s.body, push_once, &forces[i], &forces[i]),
          ODE_MLCP_OK);
    n_pushes = 0;
    CU_ASSERT_EQUAL(dWorldStep(s.world, H), 1);
    CU_ASSERT(n_pushes >= 3);
    n_pushes = 0;
    CU_ASSERT_EQUAL(dWorldStep(s.world, H), 1);
    CU_ASSERT_EQUAL(n_pushes, 0);
    close_scene(&s);
  }
}

/* --- steps that are left --------------------------------------------------- */

/* A step from so many calls deeper in the stack. */
static int step_from(dWorldID world, int depth) {
  volatile char room[200];
  room[0] = (char)depth;
  if (depth == 0) return dWorldStep(world, H);
  int taken = step_from(world, depth - 1);
  return room[0] == depth ? taken : -1;
}

static void leave_steps(scene *s, int depth) {
  for (volatile int k = 0; k < 3; k++) {
    s->tries = 0;
    if (setjmp(before_step) == 0) {
      step_from(s->world, depth);
      CU_FAIL("the step was not left");
    }
    CU_ASSERT_EQUAL(s->tries, 1);
  }
}

static void check_geoms_are_enabled(dWorldID world) {
  dBodyID bodies[20];
  size_t n = dWorldGetBodies(world, bodies, 20);
  for (size_t b = 0; b < n && b < 20; b++)
    for (dGeomID geom = dBodyGetFirstGeom(bodies[b]); geom != NULL;
         geom = dBodyGetNextGeom(geom))
      CU_ASSERT(dGeomIsEnabled(geom));
}

static void test_a_step_can_be_left(void) {
  listen_to_host("not destroyed while");
  for (int scheme = 0; scheme < N_SCHEMES; scheme++) {
    bool plain = SCHEMES[scheme] == ODE_MLCP_SCHEME_AP ||
                 SCHEMES[scheme] == ODE_MLCP_SCHEME_AH;
    const moment moments[] = {IN_MOVED, plain ? IN_COLLISION : IN_FORCE};
    for (int k = 0; k < 2; k++)
      for (int depth = 0; depth <= 40; depth += 20) {
        scene s;
        ode_mlcp_report report;
        open_scene(&s, SCHEMES[scheme], LEAVE, moments[k]);
        leave_steps(&s, depth);
        // the next one stands above, at the same place or below in the stack
        s.moment = N_MOMENTS;
        CU_ASSERT_EQUAL(step_from(s.world, 20), 1);
        CU_ASSERT_EQUAL(step_from(s.world, 0), 1);
        CU_ASSERT_EQUAL(ode_mlcp_last_report(s.world, &report), ODE_MLCP_OK);
        CU_ASSERT_EQUAL(report.step, 5);
        check_geoms_are_enabled(s.world);
        // what is destroyed after a step that was left is destroyed
        s.moment = moments[k];
        leave_steps(&s, depth);
        s.moment = N_MOMENTS;
        dBodyDestroy(s.hung);
        CU_ASSERT_EQUAL(dWorldGetBodies(s.world, NULL, 0), 2);
        close_scene(&s);
      }
  }
  CU_ASSERT_EQUAL(n_heard, 0);
}

static int n_nested;
static bool leaves_nested;

static void *give_block(dsizeint size) { return malloc(size); }
static void *shrink_block(void *block, dsizeint size, dsizeint smaller) {
  (void)size;
  return realloc(block, smaller);
}
static void take_block(void *block, dsizeint size) {
  (void)size;
  free(block);
  if (!leaves_nested) return;
  leaves_nested = false;
  longjmp(before_step, 1);
}

static int collide_within(void *context, dWorldID world,
                          ode_mlcp_contact_list *list) {
  if (n_nested >= 0) {
    n_nested++;
    leaves_nested = true;
    dWorldStep(world, H);
  }
  return collide(context, world, list);
}

/* A step that a callback asks for is refused, and left by the memory manager as the
 * host gives its memory back: both steps are over then. */
static void test_a_step_within_a_step_can_be_left(void) {
  const dWorldStepMemoryFunctionsInfo functions = {
      .struct_size = sizeof functions,
      .alloc_block = give_block,
      .shrink_block = shrink_block,
      .free_block = take_block};
  scene s;
  open_scene(&s, ODE_MLCP_SCHEME_AH, N_PREY, N_MOMENTS);
  CU_ASSERT_FATAL(dWorldSetStepMemoryManager(s.world, &functions));
  CU_ASSERT_EQUAL(ode_mlcp_set_collision(s.world, collide_within, &s),
                  ODE_MLCP_OK);
  n_nested = 0;
  for (volatile int k = 1; k <= 3; k++) {
    if (setjmp(before_step) == 0) {
      dWorldStep(s.world, H);
      CU_FAIL("the step was not left");
    }
    CU_ASSERT_EQUAL(n_nested, k);
  }
  n_nested = -1; // no more of them
  CU_ASSERT_EQUAL(dWorldStep(s.world, H), 1);
  close_scene(&s);
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"what a step holds stays", test_what_a_step_holds_stays},
      {"all can go when a step is over", test_all_can_go_when_a_step_is_over},
      {"geoms can go while bodies move", test_geoms_can_go_while_bodies_move},
      {"bodies come in a step that fails",
       test_bodies_come_in_a_step_that_fails},
      {"a force ends itself", test_a_force_ends_itself},
      {"a step can be left", test_a_step_can_be_left},
      {"a step within a step can be left",
       test_a_step_within_a_step_can_be_left},
      CU_TEST_INFO_NULL};
  return run_host_tests("step: callbacks", tests);
}
