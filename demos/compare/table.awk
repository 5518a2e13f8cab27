# The table of demos/compare/run: out is the folder with the reports, scenes their
# names. Exit status 1 where ode-mlcp broke a promise.

BEGIN {
  n_steppers = split("step quick ah", steppers, " ")
  split("dWorldStep dWorldQuickStep ode-mlcp", titles, " ")
  printf "%-42s", ""
  for (s = 1; s <= n_steppers; s++) printf " %15s", titles[s]
  print ""
  if (scenes ~ /wall/) wall()
  if (scenes ~ /bricks/) bricks()
  if (scenes ~ /slide/) slides()
  if (scenes ~ /rod/) rods()
  if (scenes ~ /car/) car()
  if (scenes ~ /tower/) pile("tower", "tower of 25 bodies")
  if (scenes ~ /heap/) pile("heap", "heap of 100 bodies")
  print "\nWhat ode-mlcp promises:"
  for (i = 1; i <= n_promises; i++) print promises[i]
  exit broken
}

# ---- what was measured ----

# A figure of a report, or what the program printed; "-": there is none.
function figure(name, stepper, key,    file, line, ours, value) {
  file = out "/" name "/report.json"
  value = "-"
  while ((getline line <file) > 0) {
    if (line ~ /^      "name": /) ours = line == "      \"name\": \"" stepper "\","
    if (ours && index(line, "      \"" key "\": ") == 1) {
      value = substr(line, length(key) + 11)
      sub(/,$/, "", value)
    }
  }
  close(file)
  return value == "null" ? "-" : value
}

function printed(name, stepper, key,    file, line, parts, value) {
  file = out "/" name "/data/" stepper ".out"
  value = "-"
  while ((getline line <file) > 0)
    if (split(line, parts, " ") == 2 && parts[1] == key) value = parts[2]
  close(file)
  return value
}

# ---- rows ----

function title(text) { printf "\n%s\n", text }

function show(format, value) { return value == "-" ? "-" : sprintf(format, value) }

function row(label, name, key, format, is_printed,    s, value) {
  printf "  %-40s", label
  for (s = 1; s <= n_steppers; s++) {
    if (is_printed) value = printed(name, steppers[s], key)
    else value = figure(name, steppers[s], key)
    printf " %15s", show(format, value)
  }
  print ""
}

function promise(kept, text) {
  promises[++n_promises] = (kept ? "  kept    " : "  BROKEN  ") text
  if (!kept) broken = 1
}

function absolute(x) { return x < 0 ? -x : x }

function below(value, limit) { return value != "-" && value + 0 < limit }

function usual_rows(name) {
  row("simulated, s", name, "seconds", "%.2f")
  row("solver messages", name, "messages", "%d")
  row("contact off its law, worst, m/s", name, "contact_error_worst", "%.2e")
  row("    in 9 steps of 10 at most, m/s", name, "contact_error_p90", "%.2e")
  row("friction beyond its cone, worst, m/s", name, "cone_violation_worst", "%.2e")
  row("deepest penetration at the end, m", name, "penetration_end", "%.2e")
  row("fastest body at the end, m/s", name, "fastest_end", "%.2e")
  row("energy put in by contacts, J", name, "contact_work", "%.2e")
  row("a step, median, ms", name, "ms_step_median", "%.2f")
}

function solves_promise(name,    messages, failed, unsolved) {
  messages = figure(name, "ah", "messages")
  failed = figure(name, "ah", "failed_steps")
  unsolved = figure(name, "ah", "unsolved")
  promise(messages == "0" && failed == "0" && unsolved == "0",
          name ": " messages " messages, " failed " failed steps, " unsolved \
          " unsolved")
}

function wall(    speed, sag, slid, time) {
  title("Wall of 28 boxes at rest for 5 s")
  usual_rows("wall")
  row("sag: a box came down by, m", "wall", "sag", "%.2e", 1)
  row("slid: a box moved sideways by, m", "wall", "slid", "%.2e", 1)
  speed = figure("wall", "ah", "fastest_end")
  sag = printed("wall", "ah", "sag")
  slid = printed("wall", "ah", "slid")
  time = figure("wall", "ah", "seconds")
  promise(below(speed, 1e-6) && below(sag, 0.01) && below(slid, 0.01) &&
          time > 4.99, "the wall stands after " show("%.2f", time) \
          " s: fastest box " show("%.2e", speed) " m/s (below 1e-06), came down " \
          show("%.2e", sag) " m, slid " show("%.2e", slid) " m (below 0.01)")
  solves_promise("wall")
}

function bricks() {
  title("Wall of 40 bricks of 2 kg, 3 s")
  usual_rows("bricks")
  row("slid: a brick moved sideways by, m", "bricks", "slid", "%.2e", 1)
  solves_promise("bricks")
}

function car() {
  title("Car on tyres that are soft contacts, 5 s")
  usual_rows("car")
  row("driven, m", "car", "distance", "%.3f", 1)
  solves_promise("car")
}

function slides(    n, angles, i, name, off, turned, h, euler, v) {
  # what first-order Euler makes of v^2/(2 mu g) at 10 ms
  for (v = 3; v > 0; euler += 0.01 * v) {
    v -= 0.5 * 9.81 * 0.01
    if (v < 0) v = 0
  }
  title(sprintf("Box sliding from 3 m/s at mu = 0.5: exact %.5f m, Euler's " \
                "sum %.5f m", 9 / (2 * 0.5 * 9.81), euler))
  n = split("0 15 30 45", angles, " ")
  for (i = 1; i <= n; i++) {
    name = "slide-" angles[i]
    row("launched at " angles[i] " deg: stops after, m", name, "distance",
        "%.5f", 1)
    row("    final heading, deg", name, "heading", "%.3f", 1)
    h = printed(name, "ah", "distance")
    off = most(off, h == "-" ? 1 : absolute(h / euler - 1))
    if (h == "-") {
      turned = 360
      continue
    }
    turned = most(turned, absolute(printed(name, "ah", "heading") - angles[i]))
    turned = most(turned, absolute(printed(name, "ah", "course") - angles[i]))
  }
  promise(below(off, 0.001), "slides stop at Euler's sum: off by " \
          show("%.4f", 100 * off) " % (at most 0.1 %)")
  promise(below(turned, 0.1), "slides keep their heading: turned by " \
          show("%.4f", turned) " deg (at most 0.1 deg)")
}

function most(a, b) { return a == "-" || a > b ? a : b }

function rods(    name, i, off, value) {
  title("Tilted rod sliding at mu = 0.5: friction over normal force, exact 0.5")
  row("at +2 m/s", "rod-forward", "friction", "%.5f", 1)
  row("at -2 m/s", "rod-backward", "friction", "%.5f", 1)
  for (i = 1; i <= 2; i++) {
    name = i == 1 ? "rod-forward" : "rod-backward"
    value = printed(name, "ah", "friction")
    off = most(off, value == "-" ? 1 : absolute(value / 0.5 - 1))
  }
  promise(below(off, 0.001), "the rod's friction is Coulomb's both ways: off " \
          "by " show("%.4f", 100 * off) " % (at most 0.1 %)")
}

function pile(name, what) {
  title("The host's demo_boxstack, keys pressed: " what ", mu infinite")
  usual_rows(name)
  solves_promise(name)
}
