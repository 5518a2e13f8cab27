# From a description of bodies in a plane (x forward, z up; foot.txt, biped.txt,
# gripper.txt) their collision as Matrix Market files:
#   awk -f describe.awk -v out=FOLDER biped.txt
# Lengths in m, masses in kg, moments of inertia about centres of mass in kg m^2,
# angles counter-clockwise. A line a thing:
#   body NAME x z mass inertia            moves freely; its centre of mass
#   link NAME PARENT jx jz x z mass inertia   turns about a hinge at (jx, jz)
#   add NAME x z mass inertia             is stiffly joined to NAME, which is above
#   contact NAME OTHER x z nx nz mu       NAME touches OTHER, or `ground`; the normal
#                                         points to NAME
#   speed NAME vx vz                      of a body's centre just before the impact
#   rate NAME w                           of a body or link, rad/s
# Velocities are vx, vz and the rate of each body, and the rate of each link, in the
# order of their lines.
/^#/ || NF == 0 { next }
$1 == "body" {
  kind[$2] = "body"
  first[$2] = n + 1
  n += 3
  at_x[$2] = $3
  at_z[$2] = $4
  mass_of($2, $3, $4, $5, $6)
  next
}
$1 == "link" {
  known($3)
  kind[$2] = "link"
  parent[$2] = $3
  first[$2] = ++n
  at_x[$2] = $4
  at_z[$2] = $5
  mass_of($2, $6, $7, $8, $9)
  next
}
$1 == "add" {
  known($2)
  mass_of($2, $3, $4, $5, $6)
  next
}
$1 == "contact" {
  known($2)
  if ($3 != "ground") known($3)
  size = sqrt($6 * $6 + $7 * $7)
  one[++m] = $2
  other[m] = $3
  contact_x[m] = $4
  contact_z[m] = $5
  normal_x[m] = $6 / size
  normal_z[m] = $7 / size
  mu[m, 1] = $8
  next
}
$1 == "speed" {
  known($2)
  v[first[$2], 1] = $3
  v[first[$2] + 1, 1] = $4
  next
}
$1 == "rate" {
  known($2)
  v[first[$2] + (kind[$2] == "body" ? 2 : 0), 1] = $3
  next
}
{ fail("unknown: " $1) }
function fail(text) {
  print FILENAME ":" FNR ": " text >"/dev/stderr"
  failed = 1
  exit 2
}
function known(name) {
  if (!(name in kind)) fail("no body or link " name " above")
}
function mass_of(name, x, z, mass, inertia) {
  part_of[++parts] = name
  part_x[parts] = x
  part_z[parts] = z
  part_mass[parts] = mass
  part_inertia[parts] = inertia
}
# How a point of a body moves with all velocities: into X[] and Z[], times `sign`.
function move(name, x, z, sign,   rate) {
  if (name == "ground") return
  rate = first[name] + (kind[name] == "body" ? 2 : 0)
  X[rate] -= sign * (z - at_z[name])
  Z[rate] += sign * (x - at_x[name])
  if (kind[name] == "body") {
    X[first[name]] += sign
    Z[first[name] + 1] += sign
  } else {
    move(parent[name], at_x[name], at_z[name], sign)
  }
}
function matrix(name, rows, columns, entry,   i, j, file) {
  file = out "/" name ".mtx"
  printf "%%%%MatrixMarket matrix array real general\n%d %d\n", rows, columns >file
  for (j = 1; j <= columns; j++)
    for (i = 1; i <= rows; i++) printf "%.17g\n", entry[i, j] + 0 >file
  close(file)
}
END {
  if (failed) exit 2
  for (p = 1; p <= parts; p++) {
    split("", X)
    split("", Z)
    name = part_of[p]
    move(name, part_x[p], part_z[p], 1)
    for (i = 1; i <= n; i++)
      for (j = 1; j <= n; j++) M[i, j] += part_mass[p] * (X[i] * X[j] + Z[i] * Z[j])
    rate = first[name] + (kind[name] == "body" ? 2 : 0)
    M[rate, rate] += part_inertia[p]
  }
  for (c = 1; c <= m; c++) {
    split("", X)
    split("", Z)
    move(one[c], contact_x[c], contact_z[c], 1)
    move(other[c], contact_x[c], contact_z[c], -1)
    for (j = 1; j <= n; j++) {
      Jn[c, j] = normal_x[c] * X[j] + normal_z[c] * Z[j]
      Jt[c, j] = normal_z[c] * X[j] - normal_x[c] * Z[j]
    }
  }
  matrix("M", n, n, M)
  matrix("Jn", m, n, Jn)
  matrix("Jt", m, n, Jt)
  matrix("mu", m, 1, mu)
  matrix("v", n, 1, v)
}
