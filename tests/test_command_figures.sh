#!/bin/sh
# Pictures of impact sets: the examples' and a user's own collision, as PNG,
# SVG and PDF; what cannot be drawn is said before anything is sampled.
. "$(dirname "$0")/command_checks.sh"

impact() { ode_mlcp impact "$@"; }
refused() {
  what=$1 pattern=$2
  shift 2
  # so many samples would take hours
  impact "$@" --samples 1000000000000
  check_refusal "$what" "$pattern"
}

# ---- a collision of one's own: a plate on three feet, two tangents ----

# array ROWS COLUMNS NUMBER..: by columns
array() {
  echo '%%MatrixMarket matrix array real general'
  echo "$1 $2"
  shift 2
  printf '%s\n' "$@"
}
mkdir plate
array 3 3 2 0 0 0 2 0 0 0 2 >plate/M.mtx
# normals along z with a little slip each, so that no tangent is idle
array 3 3 0.1 0 -0.1 0 0.1 0 1 1 1 >plate/Jn.mtx
array 6 3 1 0 1 0 1 0 0 1 0 1 0 1 0 0 0 0 0 0 >plate/Jt.mtx
array 3 1 0.5 0.5 0.5 >plate/mu.mtx
array 3 1 300 100 -1000 >plate/v.mtx

refused "no kind of picture" "'a.gif' ends with none of" plate --plot a.gif
refused "no such velocity" "'vtA:vnA' is no plane" plate --plot a.png \
  --planes vtA:vnA
refused "no such contact" "'vnA:vnD' is no plane" plate --plot a.png \
  --planes vnA:vnB,vnA:vnD
refused "a line" "'vnA:vnA' is no plane" plate --plot a.png --planes vnA:vnA
refused "no pair" "'vnA' is no plane" plate --plot a.png --planes vnA
refused "nothing" "'' is no plane" plate --plot a.png --planes vnA:vnB,
refused "planes of nothing" "go with --plot" plate --planes vnA:vnB
refused "view of nothing" "go with --plot" plate --view outcomes
refused "a long unit" "--unit" plate --plot a.png \
  --unit "furlongs per fortnight or so"

# sketch LINE WHAT PATTERN
sketch() {
  printf 'ground 0 0 1 0\n\n%s\n' "$1" >plate/sketch.txt
  refused "sketch: $2" "plate/sketch.txt:3: $3" plate --plot a.png
}
sketch "bdy 0 0 1 0 1 1" "no such word" "'bdy' is none of ground"
sketch "contact D 0 0 0 1" "no such contact" "there is no contact 'D'"
sketch "contact" "no name" "there is no contact ''"
sketch "disk 0 0" "too few" "2 numbers behind disk"
sketch "disk 0 0 1 1" "too many" "'1' is a number too many"
sketch "link 0 0 1" "half a point" "3 numbers behind link"
sketch "mass 0 1e999" "no number" "'1e999' is no number"
printf 'mass 1 1\n' >plate/sketch.txt
refused "sketch: a point" "all shapes are one point" plate --plot a.png
check "no picture was made" [ ! -e a.png ]

# ---- long sequences ----

# In place of gnuplot: what it is told.
mkdir told
printf '#!/bin/sh\nexec cat >"%s/script"\n' "$PWD" >told/gnuplot
chmod +x told/gnuplot
told() { PATH=$PWD/told:$PATH impact "$@"; }

# points: of each sequence in the one panel, "SEQUENCE X Y" in pixels of its axes
points() {
  awk '
    /^set [xy]range/ {
      axis = substr($2, 1, 1)
      split(substr($3, 2), ends, ":")
      low[axis] = ends[1] + 0
      size[axis] = ends[2] - ends[1]
    }
    /^EOD/ { sequence = "" }
    sequence != "" {
      print sequence, ($1 - low["x"]) / size["x"] * 300,
        ($2 - low["y"]) / size["y"] * 264
    }
    /^[$]sequence/ { sequence = substr($1, 10) }' script
}

# A bar whose mass is in its middle tips from one end to the other, each time with this
# much of the speed: thousands of impacts. bar LENGTH MASS SPEED
bar() {
  mkdir -p bar
  inertia=$(awk -v l="$1" -v m="$2" 'BEGIN { print m * l * l / 1000 }')
  array 3 3 $2 0 0 0 $2 0 0 0 $inertia >bar/M.mtx
  array 2 3 0 0 1 1 -$1 $1 >bar/Jn.mtx
  array 2 3 1 1 0 0 0 0 >bar/Jt.mtx
  array 2 1 0 0 >bar/mu.mtx
  array 3 1 0 -$3 0 >bar/v.mtx
}

for case in "1 1 1" "0.02 30 40" "70 0.5 0.001"; do
  # shellcheck disable=SC2086 # numbers
  bar $case
  told bar --samples 20 --plot bar.svg --planes vnA:vnB --json
  check "bar $case: a thousand impacts" [ "$(grep -c '"impacts": 1000' out)" = 2 ]
  points >drawn
  # the speed falls by 0.4 % between two impacts of one end: by a pixel at most
  check "bar $case: what is drawn is apart, nothing else is left out" awk '
    function close_last() { # but for its end, which may be beside another
      for (i = 1; i < n; i++) {
        nearest = 1e9
        for (k = 1; k < n; k++) {
          d = sqrt((x[i] - x[k]) ^ 2 + (y[i] - y[k]) ^ 2)
          if (i != k && d < nearest) nearest = d
        }
        if (nearest < 2.999 || (i > 4 && nearest > 4.1)) bad = 1
      }
      if (n < 100 || n > 250) bad = 1
      sequences++
      n = 0
    }
    $1 != sequence && n > 0 { close_last() }
    { sequence = $1; x[++n] = $2; y[n] = $3 }
    END { close_last(); exit bad || sequences != 2 }' drawn
done
# all of a short one, and its end
told rocking-block --samples 20 --plot block.svg --planes vnA:vnB --json
points >drawn
check "two impacts are three places" [ "$(wc -l <drawn)" = 6 ]
told bar --samples 20 --plot bar.svg --planes vnA:vnB --view outcomes
points >drawn
check "outcomes alone: the ends of both" [ "$(wc -l <drawn)" = 2 ]

# ---- pictures ----

if ! command -v gnuplot >/dev/null; then
  echo "gnuplot is not there: no picture is drawn"
  finish
fi
is_png() { head -c 4 "$1" | grep -q PNG; }
has() { grep -q -e "$2" "$1"; }

printf 'ground -1 0 1 0 # floor\nbody -1 0 1 0 0 1\ncontact C 0 0 0 1\n' \
  >plate/sketch.txt
impact plate --samples 300 --unit mm/s --plot plate.svg
check "own: status 0" status_is 0
check "own: nothing to say" err_is_empty
check "own: an SVG" has plate.svg '</svg>'
check "own: the unit" has plate.svg 'tangential velocity 2 of C, mm/s'
check "own: names stand in it" has plate.svg 'simultaneous'
check "own: both tangents" has plate.svg 'tangential velocity 1 of B'
check "own: all are counted" has plate.svg 'all 300 outcomes of 300 samples'
check "own: what is left out" has plate.svg 'outcomes in a cell'
impact plate --samples 300 --plot planes.svg --planes vt1A:vt2A --view outcomes
check "planes: one" sh -c '[ "$(grep -c "tangential velocity 2" planes.svg)" = 1 ] &&
  ! grep -q "normal velocity" planes.svg'
check "outcomes alone" sh -c '! grep -q before planes.svg'
rm plate/sketch.txt
impact plate --samples 30 --plot plain.pdf
check "without a sketch: a PDF" sh -c 'head -c 4 plain.pdf | grep -q PDF'

for name in rocking-block compass-gait box-wall ramone disk-stack; do
  impact $name --samples 200 --steps 40 --plot $name.png
  check "$name: status 0" status_is 0
  check "$name: a PNG" is_png $name.png
done
impact rocking-block --samples 1 --plot one.svg
check "one sample: no scale of colours" sh -c \
  'grep -q "all 1 outcomes" one.svg && ! grep -q "in a cell" one.svg'
# the same set is the same picture
impact compass-gait --samples 500 --plot a.svg --threads 1
impact compass-gait --samples 500 --plot b.svg --threads 3
check "threads change nothing" cmp -s a.svg b.svg

finish
