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

mkdir plate
array plate/M.mtx 3 3 2 0 0 0 2 0 0 0 2
# normals along z with a little slip each, so that no tangent is idle
array plate/Jn.mtx 3 3 0.1 0 -0.1 0 0.1 0 1 1 1
array plate/Jt.mtx 6 3 1 0 1 0 1 0 0 1 0 1 0 1 0 0 0 0 0 0
array plate/mu.mtx 3 1 0.5 0.5 0.5
array plate/v.mtx 3 1 300 100 -1000

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
  array bar/M.mtx 3 3 $2 0 0 0 $2 0 0 0 $inertia
  array bar/Jn.mtx 2 3 0 0 1 1 -$1 $1
  array bar/Jt.mtx 2 3 1 1 0 0 0 0
  array bar/mu.mtx 2 1 0 0
  array bar/v.mtx 3 1 0 -$3 0
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

# ---- the picture of a set, all of it ----

make_beam beam
cat >beam/sketch.txt <<'SKETCH'
ground -1 0 1 0 # floor
body -0.5 0 0.5 0 0.5 2 -0.5 2
mass 0 1
velocity 0 1 2 -0.5
disk 0.25 1.5 0.25
link 0 1 0 2
contact A -0.5 0 0 1
contact B 0.5 0 0 1
SKETCH
# Four cells of 400 x 346 pixels, the sketch's first, in two columns; 88 pixels to their
# right and 64 below. Axes are 300 x 264 pixels from (82, 26) of a cell on, and show what
# there is with 0.09 of it around. Cells of an image are two pixels.
cat >picture.awk <<'CHECK'
function is(what, value, expected, limit) {
  if ((value - expected) ^ 2 > limit ^ 2) {
    print "  " what " is " value ", not " expected
    bad = 1
  }
  compared++
}
function wrong(what) { print "  " what; bad = 1 }
function reach(x, y) {
  if (!shown++) { low[1] = high[1] = x; low[2] = high[2] = y }
  if (x < low[1]) low[1] = x
  if (x > high[1]) high[1] = x
  if (y < low[2]) low[2] = y
  if (y > high[2]) high[2] = y
}
function cell(x, y) {
  return int((y - from[2]) / (to[2] - from[2]) * 132) * 150 + \
    int((x - from[1]) / (to[1] - from[1]) * 150)
}
# a page of 888 x 756 pixels
function at(where, axis, left) { return axis == 1 ? where * 888 : (1 - where) * 756 }
# points of a word "from screen X,Y to screen X,Y ..", in metres of the sketch; of pixels
# where `pixels`
function read_points(text,   k, part, xy) {
  sub(/ size .*/, "", text)
  n_points = split(text, part, "screen ") - 1
  for (k = 1; k <= n_points; k++) {
    split(part[k + 1], xy, "[ ,]")
    px[k] = at(xy[1], 1); py[k] = at(xy[2], 2)
    # 340 pixels for 3 m, as 286 for 2 m would be more; 12 above the middle of the cell
    sx[k] = 0.5 + (px[k] - 200) / (340 / 3); sy[k] = 1 - (py[k] - 161) / (340 / 3)
  }
}
function goes(what, text,   k, part) { # text: "X Y .." in metres
  split(text, part, " ")
  for (k = 1; k <= n_points; k++) {
    is(what " x", sx[k], part[2 * k - 1], 0.005)
    is(what " y", sy[k], part[2 * k], 0.005)
  }
  found[what]++
}
function disk(what, x, y, pixels,   k) {
  for (k = 1; k <= n_points; k++) {
    is(what, sqrt((px[k] - 200 - (x - 0.5) * 340 / 3) ^ 2 + \
                  (py[k] - 161 + (y - 1) * 340 / 3) ^ 2), pixels, 0.05)
  }
  if (n_points != 61) wrong(what " of " n_points)
  found[what]++
}
function panel(   k, x, y, c, counts, top, line, marks, count, step, most_here) {
  n_panels++
  # rows of all.csv that the axes are of
  for (k = 1; k <= 2; k++) {
    name = words[k]
    row[k] = (name ~ /normal/ ? "vn" : "vt") (name ~ /of A/ ? "A" : "B")
  }
  planes = planes " " row[1] ":" row[2]
  for (k = 1; k <= n; k++) reach(v[row[1], k], v[row[2], k])
  for (k = 1; k <= 2; k++) {
    # of one value 0.02 of the 3 m/s there are before
    extent = high[k] - low[k] < 1e-9 ? 0.02 * 3 : high[k] - low[k]
    is(row[k] " from", from[k], (low[k] + high[k]) / 2 - 0.59 * extent, 1e-6)
    is(row[k] " to", to[k], (low[k] + high[k]) / 2 + 0.59 * extent, 1e-6)
    # marks at round numbers, and all of them that there are
    count = split(tics[k], marks, ",")
    if (count < 2 || count > 7) wrong(count " marks: " tics[k])
    for (c = 1; c <= count; c++) {
      split(marks[c], part, "'")
      is("a mark", part[2], part[3], 1e-9)
      value[c] = part[3] + 0
    }
    step = value[2] - value[1]
    if (step !~ /^(0.)?0*[125]0*$/) wrong("marks by " step)
    for (c = 1; c <= count; c++) is("the next", value[c], value[1] + (c - 1) * step, 1e-9)
    if (value[1] < from[k] || value[1] - step >= from[k] || value[count] > to[k] ||
        value[count] + step <= to[k]) wrong("marks that are left out")
  }
  for (k = 1; k <= n; k++) counts[cell(v[row[1], k], v[row[2], k])]++
  for (c in counts) if (counts[c] > most) most = counts[c]
  for (c = 0; c < 150 * 132; c++) {
    is("a cell's x", image_x[c], from[1] + (c % 150 + 0.5) / 150 * (to[1] - from[1]), 1e-6)
    is("a cell's y", image_y[c], from[2] + (int(c / 150) + 0.5) / 132 * (to[2] - from[2]),
      1e-6)
    if (c in counts) seen[n_panels, c] = counts[c]
    if (c in counts) colours[n_panels, c] = image[c]
    if (!(c in counts) && image[c] != "255 255 255" && image[c] != "226 226 226")
      wrong("a cell without an outcome: " image[c])
    grey += image[c] == "226 226 226"
    coloured += image[c] != "226 226 226" && image[c] != "255 255 255"
  }
  # on the way: straight from one velocity to the next
  for (k = 2; k <= m && !outcomes_alone; k++)
    for (c = 0; c <= 8 && sample[k] == sample[k - 1]; c++) {
      x = way[row[1], k - 1] + c / 8 * (way[row[1], k] - way[row[1], k - 1])
      y = way[row[2], k - 1] + c / 8 * (way[row[2], k] - way[row[2], k - 1])
      # the cell or one beside it: lines go by corners
      count = 0
      for (marks[1] = -1; marks[1] <= 1; marks[1]++)
        for (marks[2] = -1; marks[2] <= 1; marks[2]++)
          count += image[cell(x + marks[1] / 150 * (to[1] - from[1]), \
            y + marks[2] / 132 * (to[2] - from[2]))] != "255 255 255"
      if (!count) wrong("not on the way: " x " " y)
    }
  shown = 0
}
# the colour of so many outcomes, of so many at most
function colour(count,   share, k, stops) {
  share = most > 1 ? log(count) / log(most) * 3 : 3
  split("205 178 222 150 97 178 94 30 122 35 0 50", stops, " ")
  k = share < 2 ? int(share) : 2
  for (c = 1; c <= 3; c++)
    rgb[c] = stops[3 * k + c] + (share - k) * (stops[3 * k + 3 + c] - stops[3 * k + c])
}
FILENAME ~ /csv$/ && /^[#s]/ { if (/^sample/) split($0, names, ","); next }
FILENAME == "all.csv" {
  n++
  split($0, part, ",")
  for (k = 3; k <= 6; k++) v[names[k], n] = part[k]
  next
}
FILENAME == "ways.csv" {
  m++
  split($0, part, ",")
  sample[m] = part[1]
  for (k = 3; k <= 6; k++) way[names[k], m] = part[k]
  next
}
/^set terminal/ { terminal = $0 }
/<< EOD/ { data = $1; n_cells = 0; next }
/^EOD/ { data = ""; next }
data == "$cells" {
  image_x[n_cells] = $1; image_y[n_cells] = $2
  image[n_cells++] = $3 " " $4 " " $5
  next
}
data != "" && NF == 2 { reach($1, $2); points[data]++ }
data != "" { next }
/^set [lrtb]margin/ { margin[substr($2, 1, 1)] = $5 }
/^set [xy]range/ {
  k = $2 ~ /^x/ ? 1 : 2
  split(substr($3, 2), ends, ":")
  from[k] = ends[1] + 0; to[k] = ends[2] + 0
}
/^set [xy]tics \(/ {
  tics[$2 ~ /^x/ ? 1 : 2] = $0
  gsub(/^[^(]*\(|\).*/, "", tics[$2 ~ /^x/ ? 1 : 2])
}
/^set label.* velocity/ { words[/rotate/ ? 2 : 1] = $0 }
/^set label.*outcomes of/ { foot = $0 }
/^set object polygon/ || /^set arrow/ { read_points($0) }
/^set object.*'#dedede'/ {
  depth = 20 / (340 / 3)
  goes("ground", sprintf("-1 0 1 0 1 %g -1 %g -1 0", -depth, -depth))
}
/^set arrow.*'#555555'/ { goes("floor", "-1 0 1 0") }
/^set object.*'#f6e3a1'/ && n_points == 5 { goes("body", "-0.5 0 0.5 0 0.5 2 -0.5 2 -0.5 0") }
/^set object.*'#f6e3a1'/ && n_points != 5 { disk("disk", 0.25, 1.5, 0.25 * 340 / 3) }
/^set object.*'#444444' fs solid noborder/ { disk("mass", 0, 1, 5) }
/^set arrow.*'#0072b2'/ { goes("velocity", "0 1 2 0.5") }
/^set arrow.*'#c9a227'/ { goes("link", "0 1 0 2") }
/^set arrow.*'#d1331d'/ {
  side = found["contact"] ? 0.5 : -0.5
  goes("contact", sprintf("%g 0 %g %g", side, side, 26 / (340 / 3)))
}
/^set object.*'#d1331d'/ { disk("point of contact", side, 0, 3.2) }
/^set label '[AB]'/ {
  read_points($0)
  side = $3 ~ /A/ ? -0.5 : 0.5
  goes("name", sprintf("%g %g", side, -11 / (340 / 3)))
}
/^plot \$cells/ && /lines lw 0.6/ {
  if (/'-' with/) { getline; reach($1, $2); before++ }
  panel()
  is("left", at(margin["l"], 1), n_panels % 2 * 400 + 82, 0.01)
  is("right", at(margin["r"], 1), n_panels % 2 * 400 + 382, 0.01)
  is("top", at(margin["t"], 2), int(n_panels / 2) * 346 + 26, 0.01)
  is("bottom", at(margin["b"], 2), int(n_panels / 2) * 346 + 290, 0.01)
}
/^plot NaN notitle/ {
  is("the sketch, left", at(margin["l"], 1), 0, 0.01)
  is("the sketch, right", at(margin["r"], 1), 400, 0.01)
  is("the sketch, bottom", at(margin["b"], 2), 346, 0.01)
}
/^set y2range/ {
  scales++
  is("the scale", at(margin["l"], 1), 808, 0.01)
  is("its end", at(margin["r"], 1), 822, 0.01)
  split(substr($3, 2), ends, ":")
  decades = ends[2] + 0
}
/^plot NaN with/ { key = $0 }
END {
  for (i in seen) {
    colour(seen[i])
    split(colours[i], told, " ")
    for (c = 1; c <= 3; c++) is("a colour", told[c], rgb[c], 0.51)
  }
  if (planes != " vnA:vnB vtA:vnA vtB:vnB") wrong("planes" planes)
  for (i in found) objects += found[i]
  if (objects != 13) wrong(objects " objects of a sketch")
  is("the scale to", decades, log(most) / log(10), 1e-6)
  if (terminal !~ size "$") wrong(terminal)
  if (index(foot, foot_text) == 0) wrong(foot)
  if ((grey > 0) == outcomes_alone || (before > 0) == outcomes_alone)
    wrong(grey " cells on the way, " before " before")
  if (coloured < 30 || scales != 1 || key !~ /outcomes.*simultaneous.*sequence AB.*BA/)
    wrong(coloured " " scales " " key)
  if ((key ~ /on the way/) == outcomes_alone) wrong(key)
  exit bad || n != 60 || compared < 100000
}
CHECK
told beam --samples 60 --csv all.csv --csv-ways ways.csv --plot beam.png
check "a picture is of what there is" awk -v size="size 1776,1512 fontscale 2 linewidth 2 \
pointscale 2" -v foot_text="'beam: all 60 outcomes of 60 samples'" -f picture.awk \
  all.csv ways.csv script
told beam --samples 60 --plot beam.svg --view outcomes
check "a picture of outcomes alone" awk -v outcomes_alone=1 -v size="size 888,756 \
fontscale 1.33$" -v foot_text="'beam: all 60 outcomes of 60 samples'" -f picture.awk \
  all.csv ways.csv script
told beam --samples 60 --plot beam.pdf
check "a picture of another kind" awk -v size="size 9.25,7.875$" \
  -v foot_text="'beam: all 60 outcomes of 60 samples'" -f picture.awk \
  all.csv ways.csv script

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
