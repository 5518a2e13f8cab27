/* Worlds as most programs step them: they collide their geoms, join what they find by
 * contacts, step, and empty the group. */
#ifndef ODE_MLCP_TESTS_PILE_H
#define ODE_MLCP_TESTS_PILE_H

#include "step_testing.h"

enum { PILE_MOST = 96, PILE_POINTS = 8 };

/** Of one surface; what is joined otherwise does not touch. */
typedef struct pile {
  dWorldID world;
  dSpaceID space;
  dJointGroupID contacts;
  dSurfaceParameters surface;
  int most_points; /* of a pair */
  dBodyID body[PILE_MOST];
  int n_bodies;
  /* of the last step's contacts, m */
  int n_contacts;
  double deepest;
} pile;

/** In a world that goes with it; friction `mu` of the push. */
static inline pile pile_open(dWorldID world, double mu) {
  return (pile){.world = world,
                .space = dHashSpaceCreate(0),
                .contacts = dJointGroupCreate(0),
                .surface = bare_surface(dContactApprox1, mu),
                .most_points = PILE_POINTS};
}

static inline void pile_close(pile *p) {
  dJointGroupDestroy(p->contacts);
  dSpaceDestroy(p->space);
  dWorldDestroy(p->world);
}

static inline dBodyID pile_keep(pile *p, dBodyID body, double x, double y,
                                double z) {
  dBodySetPosition(body, x, y, z);
  return p->body[p->n_bodies++] = body;
}

static inline dBodyID pile_box(pile *p, double mass, double x, double y,
                               double z, double lx, double ly, double lz) {
  return pile_keep(p, create_box(p->world, p->space, mass, lx, ly, lz), x, y,
                   z);
}

static inline dBodyID pile_ball(pile *p, double mass, double x, double y,
                                double z, double radius) {
  dBodyID ball = create_ball(p->world, mass, radius);
  dGeomSetBody(dCreateSphere(p->space, radius), ball);
  return pile_keep(p, ball, x, y, z);
}

static inline void pile_touch(void *context, dGeomID a, dGeomID b) {
  pile *p = context;
  dContactGeom found[PILE_POINTS];
  dBodyID one = dGeomGetBody(a), other = dGeomGetBody(b);
  if (one == NULL && other == NULL) return;
  if (one != NULL && other != NULL &&
      dAreConnectedExcluding(one, other, dJointTypeContact))
    return;
  const int n = dCollide(a, b, p->most_points, found, sizeof *found);
  for (int i = 0; i < n; i++) {
    dContact contact = contact_at(&p->surface, 0, 0, 0, 0);
    contact.geom = found[i];
    dJointAttach(dJointCreateContact(p->world, p->contacts, &contact), one,
                 other);
    p->deepest = fmax(p->deepest, found[i].depth);
  }
  p->n_contacts += n;
}

static inline void pile_collide(pile *p) {
  p->n_contacts = 0;
  p->deepest = 0;
  dSpaceCollide(p->space, p, pile_touch);
}

/** @return the step's report; of the host's own stepper, zeros */
static inline ode_mlcp_report pile_step(pile *p, double h) {
  ode_mlcp_report report = {0};
  pile_collide(p);
  CU_ASSERT_EQUAL_FATAL(dWorldStep(p->world, h), 1);
  ode_mlcp_last_report(p->world, &report);
  dJointGroupEmpty(p->contacts);
  return report;
}

static inline double speed_of(dBodyID body) {
  const dReal *v = dBodyGetLinearVel(body);
  return hypot(hypot(v[0], v[1]), v[2]);
}

static inline double pile_fastest(const pile *p) {
  double most = 0;
  for (int i = 0; i < p->n_bodies; i++) most = fmax(most, speed_of(p->body[i]));
  return most;
}

#endif
