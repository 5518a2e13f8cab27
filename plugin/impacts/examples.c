#include "impacts/examples.h"

#include <math.h>
#include <string.h>

#define DEGREES (3.14159265358979323846 / 180)

static const char *const names[IMPACT_EXAMPLES] = {
    "rocking-block", "compass-gait", "box-wall", "ramone", "disk-stack"};

const char *impact_example_name(int index) { return names[index]; }

/* Row `row` of J, from a list of its entries. */
static void set_row(double J[], int n_columns, int row,
                    const double entries[]) {
  memcpy(&J[row * n_columns], entries, (size_t)n_columns * sizeof *J);
}

static void set_problem(impact_example *example, int n_velocities,
                        int n_contacts, double mu) {
  example->problem = (ode_mlcp_impact_problem){.n_velocities = n_velocities,
                                               .n_contacts = n_contacts,
                                               .n_tangents = 1,
                                               .M = example->M,
                                               .Jn = example->Jn,
                                               .Jt = example->Jt,
                                               .mu = example->mu,
                                               .v = example->v};
  for (int i = 0; i < n_contacts; i++) example->mu[i] = mu;
}

/* Table 4: a block 1 m wide, 2 m high, 1 kg, dropped flat by 1 cm on the
 * corners A (left) and B (right). q = (x, y, theta). */
static void fill_rocking_block(impact_example *example) {
  const double width = 1, height = 2, mass = 1, drop = 0.01, g = 9.81;
  set_problem(example, 3, 2, 1);
  example->M[0] = example->M[4] = mass;
  example->M[8] = mass * (width * width + height * height) / 12;
  for (int i = 0; i < 2; i++) {
    double rx = i == 0 ? -width / 2 : width / 2, ry = -height / 2;
    set_row(example->Jn, 3, i, (double[]){0, 1, rx});
    set_row(example->Jt, 3, i, (double[]){1, 0, -ry});
  }
  example->v[1] = -sqrt(2 * g * drop);
  example->h = ceil(10 * mass * -example->v[1] / 2) / 10;
  example->steps = 10;
  example->samples = 1 << 14;
  example->coordinates = "x,y,theta";
  example->contacts = "A bottom left corner; B bottom right corner";
}

/* Table 5: two massless legs of 1 m with 1 kg half way, pitched -78 (leading,
 * A) and +78 degrees (trailing, B), turning so that the trailing foot rests.
 * q = (hip x, hip y, leading pitch, trailing pitch). */
static void fill_compass_gait(impact_example *example) {
  const double leg = 1, to_mass = 0.5, mass = 1, rate = 0.25;
  const double pitch[2] = {-78 * DEGREES, 78 * DEGREES};
  set_problem(example, 4, 2, 5);
  for (int i = 0; i < 2; i++) {
    double c = cos(pitch[i]), s = sin(pitch[i]);
    // the point at distance d down the leg is the hip + d (sin, -cos)
    double at_mass[2][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}};
    at_mass[0][2 + i] = to_mass * c;
    at_mass[1][2 + i] = to_mass * s;
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 4; k++)
        example->M[4 * j + k] += mass * (at_mass[0][j] * at_mass[0][k] +
                                         at_mass[1][j] * at_mass[1][k]);
    example->Jn[4 * i + 1] = 1;
    example->Jn[4 * i + 2 + i] = leg * s;
    example->Jt[4 * i] = 1;
    example->Jt[4 * i + 2 + i] = leg * c;
  }
  example->v[0] = -leg * cos(pitch[1]) * rate;
  example->v[1] = -leg * sin(pitch[1]) * rate;
  example->v[2] = example->v[3] = rate;
  example->h = 0.25;
  example->steps = 5;
  example->samples = 1 << 20;
  example->coordinates = "hip x,hip y,leading pitch,trailing pitch";
  example->contacts = "A leading foot; B trailing foot";
}

/* Table 6: a box of side 1 m, 1 kg, tilted by 10 degrees, slides along the
 * floor (A, its lowest corner) into a wall (B, its rightmost corner).
 * q = (x, y, theta). */
static void fill_box_wall(impact_example *example) {
  const double side = 1, mass = 1, turn = 80 * DEGREES;
  set_problem(example, 3, 2, 1);
  example->M[0] = example->M[4] = mass;
  example->M[8] = mass * side * side / 6;

  double lowest[2] = {0, 0}, rightmost[2] = {0, 0};
  for (int corner = 0; corner < 4; corner++) {
    double x = corner % 2 == 0 ? -side / 2 : side / 2;
    double y = corner < 2 ? -side / 2 : side / 2;
    double at[2] = {cos(turn) * x - sin(turn) * y,
                    sin(turn) * x + cos(turn) * y};
    if (at[1] < lowest[1]) memcpy(lowest, at, sizeof at);
    if (at[0] > rightmost[0]) memcpy(rightmost, at, sizeof at);
  }
  set_row(example->Jn, 3, 0, (double[]){0, 1, lowest[0]});
  set_row(example->Jt, 3, 0, (double[]){1, 0, -lowest[1]});
  // the wall's normal is -x, its tangent -y
  set_row(example->Jn, 3, 1, (double[]){-1, 0, rightmost[1]});
  set_row(example->Jt, 3, 1, (double[]){0, -1, -rightmost[0]});
  example->v[0] = 1;
  example->h = 2;
  example->steps = 5;
  example->samples = 1 << 18;
  example->coordinates = "x,y,theta";
  example->contacts = "A floor corner; B wall corner";
}

/* Table 7: the walker RAMone (Remy 2017), a trunk and two legs of thigh and
 * shank with round feet; both knee angles are relative.
 * q = (x, y, Phi, leading hip, leading knee, trailing hip, trailing knee),
 * (x, y) the trunk's centre of mass; absolute link angles are sums. */
typedef struct ramone {
  double trunk_mass, trunk_inertia, thigh_mass, thigh_inertia, shank_mass,
      shank_inertia;
  double hip;          /* below the trunk's centre of mass, m */
  double thigh, shank; /* lengths, m */
  double thigh_centre; /* below the hip */
  double shank_centre; /* below the knee */
  double foot;         /* radius */
} ramone;

/* d/dq of the point that lies `along[k]` m down link k (trunk, thigh, shank)
 * of a leg from (x, y), at link angle[k]: rows for x and y. Link k hangs along
 * (sin, -cos) and turns with Phi and the leg's first k joints. */
static void hang(const double angle[3], const double along[3], int leg,
                 double Jx[7], double Jy[7]) {
  memset(Jx, 0, 7 * sizeof *Jx);
  memset(Jy, 0, 7 * sizeof *Jy);
  Jx[0] = Jy[1] = 1;
  for (int k = 0; k < 3; k++) {
    double dx = along[k] * cos(angle[k]), dy = along[k] * sin(angle[k]);
    for (int joint = 0; joint <= k; joint++) {
      int q = joint == 0 ? 2 : 2 + 2 * leg + joint;
      Jx[q] += dx;
      Jy[q] += dy;
    }
  }
}

/* M += mass (Jx Jx' + Jy Jy') + inertia w w', w the link's turning rate. */
static void add_link(double M[], double mass, double inertia,
                     const double Jx[7], const double Jy[7], int leg,
                     int n_joints) {
  double w[7] = {0, 0, 1};
  for (int joint = 1; joint <= n_joints; joint++) w[2 + 2 * leg + joint] = 1;
  for (int j = 0; j < 7; j++)
    for (int k = 0; k < 7; k++)
      M[7 * j + k] +=
          mass * (Jx[j] * Jx[k] + Jy[j] * Jy[k]) + inertia * w[j] * w[k];
}

static void fill_ramone(impact_example *example) {
  const ramone robot = {
      7.9026, 0.08,   0.7887,   0.00221,           0.510,  0.00652, 0.137675,
      0.2,    0.2385, 0.019399, 0.2385 - 0.073265, 0.02815};
  const double Phi = 16 * DEGREES;
  double angle[2][3] = {
      {Phi, Phi - 70 * DEGREES, Phi - 70 * DEGREES - 2 * DEGREES},
      {Phi, Phi + 70 * DEGREES, 0}};
  // the trailing knee puts both feet at one height (table 7: -92.48 degrees)
  double drop = robot.thigh * cos(angle[0][1]) + robot.shank * cos(angle[0][2]);
  angle[1][2] = -acos((drop - robot.thigh * cos(angle[1][1])) / robot.shank);

  set_problem(example, 7, 2, 1e5);
  double Jx[7], Jy[7];
  hang(angle[0], (double[]){0, 0, 0}, 0, Jx, Jy);
  add_link(example->M, robot.trunk_mass, robot.trunk_inertia, Jx, Jy, 0, 0);
  for (int leg = 0; leg < 2; leg++) {
    hang(angle[leg], (double[]){robot.hip, robot.thigh_centre, 0}, leg, Jx, Jy);
    add_link(example->M, robot.thigh_mass, robot.thigh_inertia, Jx, Jy, leg, 1);
    hang(angle[leg], (double[]){robot.hip, robot.thigh, robot.shank_centre},
         leg, Jx, Jy);
    add_link(example->M, robot.shank_mass, robot.shank_inertia, Jx, Jy, leg, 2);
    hang(angle[leg], (double[]){robot.hip, robot.thigh, robot.shank}, leg, Jx,
         Jy);
    // the contact lies a foot radius below the foot's centre and rolls
    Jx[2] += robot.foot;
    Jx[3 + 2 * leg] += robot.foot;
    Jx[4 + 2 * leg] += robot.foot;
    set_row(example->Jn, 7, leg, Jy);
    set_row(example->Jt, 7, leg, Jx);
  }
  // the trailing foot is at rest
  example->v[0] = -example->Jt[7 + 2];
  example->v[1] = -example->Jn[7 + 2];
  example->v[2] = 1;
  example->h = 1;
  example->steps = 10;
  example->samples = 1 << 20;
  example->coordinates =
      "x,y,trunk,leading hip,leading knee,trailing hip,"
      "trailing knee";
  example->contacts = "A leading foot; B trailing foot";
}

/* Table 8: three disks of radius 1 m and mass 1 kg; the top one (0) falls on
 * the left (1) and the right one (2), which touch each other and the ground.
 * q = (x, y, theta) of each. */
static void fill_disk_stack(impact_example *example) {
  const double radius = 1, mass = 1;
  // a contact: from disk `first` (-1: the ground) to disk `second` along n
  const struct {
    int first, second;
    double n[2];
  } contacts[5] = {{-1, 1, {0, 1}},
                   {-1, 2, {0, 1}},
                   {0, 1, {-0.5, -sqrt(0.75)}},
                   {0, 2, {0.5, -sqrt(0.75)}},
                   {1, 2, {1, 0}}};
  set_problem(example, 9, 5, sqrt(3));
  for (int disk = 0; disk < 3; disk++) {
    example->M[9 * (3 * disk) + 3 * disk] = mass;
    example->M[9 * (3 * disk + 1) + 3 * disk + 1] = mass;
    example->M[9 * (3 * disk + 2) + 3 * disk + 2] = mass * radius * radius / 2;
  }
  for (int i = 0; i < 5; i++) {
    const double *n = contacts[i].n, t[2] = {n[1], -n[0]};
    double *Jn = &example->Jn[9 * i], *Jt = &example->Jt[9 * i];
    // velocity of the second disk's surface minus the first's; the contact
    // lies at -radius n and +radius n of their centres
    int first = 3 * contacts[i].first, second = 3 * contacts[i].second;
    for (int k = 0; k < 2; k++) {
      Jn[second + k] = n[k];
      Jt[second + k] = t[k];
      if (first >= 0) {
        Jn[first + k] = -n[k];
        Jt[first + k] = -t[k];
      }
    }
    Jt[second + 2] = radius;
    if (first >= 0) Jt[first + 2] = radius;
  }
  example->v[1] = -1;
  example->h = 1;
  example->steps = 10;
  example->samples = 1 << 14; /* each step is searched for all solutions */
  example->coordinates =
      "top x,top y,top theta,left x,left y,left theta,"
      "right x,right y,right theta";
  example->contacts =
      "A ground and left; B ground and right; C top and left; "
      "D top and right; E left and right";
}

int impact_example_fill(impact_example *example, const char *name) {
  static void (*const fill[IMPACT_EXAMPLES])(impact_example *) = {
      fill_rocking_block, fill_compass_gait, fill_box_wall, fill_ramone,
      fill_disk_stack};
  for (int i = 0; i < IMPACT_EXAMPLES; i++) {
    if (strcmp(name, names[i]) != 0) continue;
    memset(example, 0, sizeof *example);
    example->name = names[i];
    fill[i](example);
    return 1;
  }
  return 0;
}
