#!/bin/sh
# Collisions of many bodies are made ready without work that grows like the cube of
# their number. Counted, not timed: instructions, by valgrind.
set -eu
command -v valgrind > /dev/null || exit 77

room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT

# N cubes of different masses side by side, each on four corners
write_cubes() {
  mkdir -p "$room/$1"
  awk -v n="$1" -v room="$room/$1/" '
    function open(file, rows, columns, entries) {
      out = room file ".mtx"
      print "%%MatrixMarket matrix coordinate real general" > out
      print rows, columns, entries > out
    }
    function row(i, body, x, y, z, a, b, c) {
      print i, 6 * body + 1, x > out; print i, 6 * body + 2, y > out
      print i, 6 * body + 3, z > out; print i, 6 * body + 4, a > out
      print i, 6 * body + 5, b > out; print i, 6 * body + 6, c > out
    }
    function vector(file, length_, entry,   i) {
      out = room file ".mtx"
      print "%%MatrixMarket matrix array real general" > out
      print length_, 1 > out
      for (i = 0; i < length_; i++) print entry > out
    }
    BEGIN {
      open("M", 6 * n, 6 * n, 6 * n)
      for (k = 0; k < n; k++)
        for (i = 1; i <= 6; i++) {
          mass = 1 + k / n
          print 6 * k + i, 6 * k + i, i <= 3 ? mass : mass / 6 > out
        }
      open("Jn", 4 * n, 6 * n, 24 * n)
      for (k = 0; k < 4 * n; k++) {
        x = k % 2 - 0.5; y = int(k / 2) % 2 - 0.5
        row(k + 1, int(k / 4), 0, 0, 1, y, -x, 0)
      }
      open("Jt", 8 * n, 6 * n, 48 * n)
      for (k = 0; k < 4 * n; k++) {
        x = k % 2 - 0.5; y = int(k / 2) % 2 - 0.5
        row(2 * k + 1, int(k / 4), 1, 0, 0, 0, -0.5, -y)
        row(2 * k + 2, int(k / 4), 0, 1, 0, 0.5, 0, x)
      }
      vector("mu", 4 * n, 0.5)
      out = room "v.mtx"
      print "%%MatrixMarket matrix array real general" > out
      print 6 * n, 1 > out
      for (i = 0; i < 6 * n; i++) print i % 6 == 2 ? -1 : 0 > out
    }'
}

instructions() {
  write_cubes "$1"
  # a count and nothing else: a caller's graph would cost three times as much
  valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null \
    ./ode-mlcp impact "$room/$1" --samples 1 --seed 1 --json \
    > "$room/json" 2> "$room/log" || { cat "$room/log"; exit 1; }
  sed -n 's/.*I *refs: *//p' "$room/log" | tr -d ,
}

few=$(instructions 20)
some=$(instructions 40)
many=$(instructions 80)
echo "20 cubes $few, 40 $some, 80 $many instructions"
# twice as many bodies: twice the work of sampling, at most four times that of the
# rest. Cubic work would show as up to eight times
awk -v a="$few" -v b="$some" -v c="$many" 'BEGIN { exit !(a > 0 && c - b < 4.2 * (b - a)) }'
