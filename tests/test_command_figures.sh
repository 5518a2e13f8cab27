#!/bin/sh
# Pictures of impact sets: the paper's figures and a user's own collision, as PNG,
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
refused "no figure" "--figure" --figure 8
refused "figure of what" "says which collision" --figure 9 plate
refused "figure with planes" "says which collision" --figure 9 \
  --planes vnA:vnB

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

for figure in 9 10 11 12 13 14; do
  impact --figure $figure --samples 200 --steps 40
  check "figure $figure: status 0" status_is 0
  check "figure $figure: a PNG" is_png figure-$figure.png
done
impact --figure 9 --samples 1 --plot one.svg
check "one sample: no scale of colours" sh -c \
  'grep -q "all 1 outcomes" one.svg && ! grep -q "in a cell" one.svg'
# the same set is the same picture
impact --figure 10 --samples 500 --plot a.svg --threads 1
impact --figure 10 --samples 500 --plot b.svg --threads 3
check "threads change nothing" cmp -s a.svg b.svg

finish
