/* A contact as the step needs it: where it is and what its surface says, with
 * the host's flags read once. */
#ifndef ODE_MLCP_HOST_CONTACTS_H
#define ODE_MLCP_HOST_CONTACTS_H

#include "host/bodies.h"

/** The law of a contact. Directions 0 and 1 are tangential, see
 *  host_contact_axes; 2 is the normal. Fields that the host's flags put out of
 *  use are 0, or NAN where that means the world's. */
typedef struct host_surface {
  double erp, cfm; /* of the normal row; NAN: the world's */
  bool own_spring; /* the program gives both */
  bool bounces;
  double bounce;         /* the part of the incoming speed given back */
  double bounce_speed;   /* m/s: less is not given back */
  double motion[3];      /* m/s: target velocity */
  double limit[2];       /* of friction: coefficients, or N; may be infinite */
  bool proportional[3];  /* limits, of rolling friction too, are coefficients */
  double cfm_of_slip[2]; /* of the sliding rows; NAN: the world's */
  bool viscous[2];       /* the surface gives one */
  bool rolls;
  double rolling[3]; /* limits of rolling and spinning: m or N m */
  bool has_axis;
  double axis[3]; /* direction 0, where the surface gives it */
} host_surface;

/** World frame. */
typedef struct host_contact {
  int body[2];        /* in the reader's bodies; -1 the world */
  double position[3]; /* m */
  double normal[3];   /* unit, into body 0 */
  double arm[2][3];   /* from the bodies' centres to the contact */
  double gap;         /* m; < 0: how deep the bodies are in each other */
  int multiplicity;   /* contacts merged into this one, itself included */
  int polygon; /* the friction polygon among the reader's, -1: friction is
                         as the surface says */
  bool soft;   /* its normal row is a spring: host_contact_find_soft */
  bool stiff;  /* one stiffer than the step resolves */
  bool kept;   /* open by a hair, or not told of: pressed to where it rests */
  host_surface surface;
} host_contact;

typedef enum host_contact_verdict {
  CONTACT_USABLE,
  CONTACT_NO_NORMAL, /* its normal is zero or not finite: to be left out */
  CONTACT_BAD_VALUE  /* a value in use is not finite or negative */
} host_contact_verdict;

/**
 * Read a contact.
 *
 * @param reversed  the joint was attached as (0, body): its normal flips
 * @param body      the first is a body
 * @param bad_name, bad_value  out, where CONTACT_BAD_VALUE: the field
 */
host_contact_verdict
host_contact_read(host_contact *contact, const dContact *given, bool reversed,
                  const int body[2], const host_body bodies[],
                  const char **bad_name, double *bad_value);

/** Find whether a contact's normal row, or a stop's, is a spring: softer than the world's rows,
 *  or so soft that it gives way more than the bodies do (cfm / h more than
 *  J M^-1 J'), which then swing on it instead of creeping back. A spring that
 *  gives way less is stiff. */
void host_contact_find_soft(host_contact *contact, const double J[2][6],
                            const host_body bodies[], double world_cfm,
                            double step_size);

/** True if two contacts of the same bodies differ in nothing but their depth
 *  and less than 1e-4 m (on small arms: of the arm) of their position. */
bool host_contact_same_point(const host_contact *a, const host_contact *b);

/** True if two contacts have the same law. */
bool host_contact_same_surface(const host_contact *a, const host_contact *b);

/** Two directions of sliding: the surface's own and the normal's cross product
 *  with it, else the host's choice, unit and orthogonal. */
void host_contact_axes(double axis[2][3], const host_contact *contact);

/** The Jacobian of the relative velocity along `axis` at the contact. */
void host_contact_jacobian(double J[2][6], const host_contact *contact,
                           const double axis[3]);

/** How deep a contact is, as a part of its distance from the centre of the body that it is
 *  nearer to (a quarter of the radius of gyration where the contact is nearer than that);
 *  0 where it is not. */
double host_contact_overlap(const host_contact *contact,
                            const host_body bodies[]);

#endif
