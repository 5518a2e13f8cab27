# From a description (foot.txt) the collision as Matrix Market files:
#   awk -f describe.awk -v out=FOLDER foot.txt
# Velocities are the ankle's vx and vz and the rate w of leg and foot. A point at (x, z)
# from the ankle moves with (vx - w z, vz + w x).
!/^#/ && NF == 2 { given[$1] = $2 }
function matrix(name, rows, columns, entry, i, j, file) {
  file = out "/" name ".mtx"
  printf "%%%%MatrixMarket matrix array real general\n%d %d\n", rows, columns >file
  for (j = 1; j <= columns; j++)
    for (i = 1; i <= rows; i++) printf "%.17g\n", entry[i, j] + 0 >file
  close(file)
}
# kinetic energy of a body with its centre at (x, z)
function add_body(m, inertia, x, z,   of) {
  of = 3
  M[1, 1] += m
  M[2, 2] += m
  M[1, of] -= m * z
  M[of, 1] -= m * z
  M[2, of] += m * x
  M[of, 2] += m * x
  M[of, of] += inertia + m * (x * x + z * z)
}
END {
  add_body(given["foot_mass"], given["foot_inertia"], given["foot_x"],
    given["foot_z"])
  add_body(given["leg_mass"], given["leg_inertia"], 0, given["leg_z"])
  matrix("M", 3, 3, M)
  # contacts A, the heel, and B, the toe
  split("heel_x toe_x", point, " ")
  for (c = 1; c <= 2; c++) {
    Jn[c, 2] = 1
    Jn[c, 3] = given[point[c]]
    Jt[c, 1] = 1
    Jt[c, 3] = -given["sole_z"]
    mu[c, 1] = given["friction"]
  }
  matrix("Jn", 2, 3, Jn)
  matrix("Jt", 2, 3, Jt)
  matrix("mu", 2, 1, mu)
  v[1, 1] = given["ankle_vx"]
  v[2, 1] = given["ankle_vz"]
  v[3, 1] = given["rate"]
  matrix("v", 3, 1, v)
}
