# Judge the runs of the demo suite and write report.tsv and report.md.
# Standard input: the names of the runs; -v out=FOLDER -v sides="stock ours"
# -v suite=suite.tsv -v uses_stats=1 where the wrapper writes statistics

# and -v most_frames=N where no run has more

# value[side, run, key] holds whatever was recorded of a run

function read_pairs(file, side, run, prefix,    line, n, i, words, pair) {
  if ((getline line < file) > 0) {
    n = split(line, words, " ")
    for (i = 2; i <= n; i++) {
      split(words[i], pair, "=")
      value[side, run, prefix pair[1]] = pair[2]
    }
    close(file)
    return 1
  }
  close(file)
  return 0
}

# a flat JSON object
function read_json(file, side, run,    line, text, n, i, parts, pair, key) {
  while ((getline line < file) > 0) text = text line
  close(file)
  if (text == "") return 0
  gsub(/[{}"\n\r]/, "", text)
  n = split(text, parts, ",")
  for (i = 1; i <= n; i++) {
    split(parts[i], pair, ":")
    key = pair[1]
    gsub(/[ \t]/, "", key)
    gsub(/^[ \t]+|[ \t]+$/, "", pair[2])
    value[side, run, "json_" key] = pair[2]
  }
  return 1
}

# What was printed: messages of the host's own solver (of any stepper, none may
# come), of its collision, of ours, and the program's own checks.
function read_output(file, side, run,    line) {
  while ((getline line < file) > 0) {
    if (line ~ /ode-mlcp: /) value[side, run, "reports"]++
    else if (line ~ /^ODE .*\[collision/) value[side, run, "collision"]++
    # "ODE Message: ", without a number, is a program's own
    else if (line ~ /^ODE (Message|Error|INTERNAL ERROR|Debug) [0-9-]+:/)
      value[side, run, "messages"]++
    if (line ~ /FAILED/) value[side, run, "checks_failed"]++
    if (line ~ /SNAP!/) value[side, run, "snaps"]++
  }
  close(file)
}

function allowed(run, what) {
  return index("," allow[run] ",", "," what ",") > 0
}

# "" or the reason why the run did not go through
function fault(side, run,    status, done) {
  status = value[side, run, "status"]
  done = value[side, run, "draw_end"] ~ /^(steps|stop|seconds)$/
  # a stepper that was never asked for a step may say so by status 2
  if (status == "2" && side == "ours" && allowed(run, "no-step")) status = "0"
  if (status == "124" || status == "137") return "time limit"
  if (status != "0" && !(done && allowed(run, "exit-crash"))) {
    if (status == "134") return "abort"
    if (status == "139") return "crash"
    return "exit status " status
  }
  if (frames[run] > 0 && !done) return "did not finish"
  if (value[side, run, "draw_nan"] + value[side, run, "probe_nan"] > 0)
    return "NaN"
  return ""
}

# "" or the reason why the run falls short of what is asked under the wrapper
function shortfall(run,    side, reason, few) {
  side = "ours"
  reason = fault(side, run)
  if (reason != "") return reason
  if (allowed(run, "no-step")) return ""
  if (value[side, run, "probe_changed"] > 0)
    return "a failed step changed the world"
  few = value[side, run, "probe_steps"] < least_steps
  if (few && value[side, run, "draw_end"] != "seconds" &&
      !allowed(run, "refused")) return "fewer than " least_steps " steps"
  if (few && value[side, run, "probe_contacts"] <= 300 && !allowed(run, "cut"))
    return "too slow"
  if (value[side, run, "probe_failed"] > 0 && !allowed(run, "refused"))
    return "failed steps: " value[side, run, "probe_failed"]
  if (value[side, run, "messages"] > 0)
    return "messages: " value[side, run, "messages"]
  if (value[side, run, "probe_rand"] > 0) return "drew from dRand"
  if (sides ~ /again/ && !repeats(run)) return "does not repeat itself"
  if (!uses_stats) return ""
  if (!((side, run, "json_steps") in value)) return "no statistics"
  # whether a refused step is counted is the stepper's own business
  if (value[side, run, "json_steps"] != value[side, run, "probe_steps"] &&
      !allowed(run, "refused"))
    return "statistics of " value[side, run, "json_steps"] " steps"
  # of tens of thousands
  if (value[side, run, "json_unsolved"] > 3 && !allowed(run, "refused"))
    return "unsolved: " value[side, run, "json_unsolved"]
  return ""
}

# Runs cut by the clock end at different steps: nothing can be said of them.
function repeats(run) {
  if (!(("again", run, "status") in value) ||
      value["ours", run, "draw_end"] == "seconds" ||
      value["again", run, "draw_end"] == "seconds") return 1
  return value["ours", run, "probe_hash"] == value["again", run, "probe_hash"] \
    && value["ours", run, "draw_hash"] == value["again", run, "draw_hash"]
}

function per_step(side, run,    steps) {
  steps = value[side, run, "probe_steps"]
  if (steps + 0 == 0) return "-"
  return sprintf("%.3f", 1000 * value[side, run, "probe_seconds"] / steps)
}

function shown(side, run, key) {
  return (side, run, key) in value ? value[side, run, key] : "-"
}

function number(side, run, key) {
  return (side, run, key) in value ? value[side, run, key] + 0 : 0
}

# what a reader wants to know beside the figures
function remarks(side, run,    text) {
  if (value[side, run, "draw_end"] == "seconds")
    text = text "; cut at " number(side, run, "draw_frames") " of " \
      frames[run] " frames"
  if (number(side, run, "probe_failed"))
    text = text "; steps refused: " number(side, run, "probe_failed")
  if (number(side, run, "probe_changed"))
    text = text "; of them changed the world: " \
      number(side, run, "probe_changed")
  if (allowed(run, "exit-crash") && value[side, run, "status"] != "0")
    text = text "; crashed after its last step"
  if (number(side, run, "probe_degenerate"))
    text = text "; contacts without a normal: " \
      number(side, run, "probe_degenerate")
  if (number(side, run, "collision"))
    text = text "; messages of collision: " number(side, run, "collision")
  if (number(side, run, "reports"))
    text = text "; reports of ode-mlcp: " number(side, run, "reports")
  if (number(side, run, "checks_failed"))
    text = text "; own checks failed: " number(side, run, "checks_failed")
  if (number(side, run, "snaps"))
    text = text "; hinges snapped: " number(side, run, "snaps")
  return substr(text, 3)
}

function stepped_on(side, run) {
  if (side == "stock") return stepper[run]
  if (side == "swapped") return stepper[run] == "Step" ? "QuickStep" : "Step"
  return "wrapped"
}

function write_tsv(file, runs, n_runs,    i, k, s, side, n_sides, names, keys,
                   n_keys) {
  n_sides = split(sides, names, " ")
  n_keys = split("status messages collision reports checks_failed draw_frames draw_drawn " \
    "draw_nan draw_hash draw_end probe_steps probe_quick probe_failed " \
    "probe_changed probe_nan probe_bodies probe_contacts probe_degenerate " \
    "probe_depth_end probe_approach probe_speed probe_rand probe_hash " \
    "probe_seconds probe_host json_steps json_islands_max json_contacts_max " \
    "json_rows_max json_solves json_pivots json_degraded json_unsolved " \
    "json_residual_worst json_solver_seconds json_step_seconds " \
    "json_version json_scheme", keys, " ")
  printf "run\tside\tverdict" > file
  for (k = 1; k <= n_keys; k++) printf "\t%s", keys[k] > file
  printf "\n" > file
  for (i = 1; i <= n_runs; i++)
    for (s = 1; s <= n_sides; s++) {
      side = names[s]
      printf "%s\t%s\t%s", runs[i], side, verdict[side, runs[i]] > file
      for (k = 1; k <= n_keys; k++)
        printf "\t%s", shown(side, runs[i], keys[k]) > file
      printf "\n" > file
    }
  close(file)
}

function write_markdown(file, runs, n_runs,    i, k, s, side, n_sides, names,
                        run) {
  n_sides = split(sides, names, " ")
  print "# The host's demo suite\n" > file
  print "What the step probe saw from outside, the same for every stepper:" \
    " time within a step, contact joints in the largest step, worst speed at" \
    " which two bodies still close in at a contact after the step that" \
    " should have stopped them (soft contacts let some through by design)," \
    " deepest overlap in the last step, fastest body, messages of the" \
    " host's solver.\n" > file
  print "| run | stepper | verdict | steps | ms/step | contacts |" \
    " approach m/s | overlap m | fastest m/s | messages |" \
    (uses_stats ? " rows | pivots | degraded | unsolved | residual |" : "") \
    " remarks |" > file
  print "|---|---|---|---|---|---|---|---|---|---|" \
    (uses_stats ? "---|---|---|---|---|" : "") "---|" > file
  for (i = 1; i <= n_runs; i++)
    for (s = 1; s <= n_sides; s++) {
      side = names[s]
      if (side == "again" ||
          (side == "swapped" && allowed(runs[i], "no-step"))) continue
      run = runs[i]
      printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %d |",
        run, stepped_on(side, run), verdict[side, run],
        shown(side, run, "probe_steps"), per_step(side, run),
        shown(side, run, "probe_contacts"),
        shown(side, run, "probe_approach"),
        shown(side, run, "probe_depth_end"), shown(side, run, "probe_speed"),
        number(side, run, "messages") > file
      if (uses_stats)
        printf " %s | %s | %s | %s | %s |", shown(side, run, "json_rows_max"),
          shown(side, run, "json_pivots"), shown(side, run, "json_degraded"),
          shown(side, run, "json_unsolved"),
          shown(side, run, "json_residual_worst") > file
      printf " %s |\n", remarks(side, run) > file
    }
  print "\nWhat each run does:\n" > file
  for (i = 1; i <= n_runs; i++)
    if (note[runs[i]] != "-")
      printf "- %s: %s\n", runs[i], note[runs[i]] > file
  close(file)
}

BEGIN {
  least_steps = most_frames < 500 ? most_frames : 500
  FS = "\t"
  while ((getline < suite) > 0) {
    if ($0 ~ /^#/) continue
    stepper[$1] = $3
    frames[$1] = $4
    allow[$1] = $8
    note[$1] = $9
  }
  close(suite)
  FS = " "
  n_sides = split(sides, side_names, " ")
}

{
  runs[++n_runs] = $1
  for (s = 1; s <= n_sides; s++) {
    side = side_names[s]
    base = out "/" side "/" $1
    read_pairs(base ".draw", side, $1, "draw_")
    read_pairs(base ".probe", side, $1, "probe_")
    read_output(base ".out", side, $1)
    if ((getline line < (base ".status")) > 0) value[side, $1, "status"] = line
    close(base ".status")
    if (side == "ours" && uses_stats) read_json(base ".json", side, $1)
  }
}

END {
  for (i = 1; i <= n_runs; i++) {
    run = runs[i]
    for (s = 1; s <= n_sides; s++) {
      side = side_names[s]
      if (side == "ours") continue
      reason = fault(side, run)
      if (reason == "" && number(side, run, "probe_failed") > 0)
        reason = "failed steps: " number(side, run, "probe_failed")
      verdict[side, run] = reason == "" ? "ok" : reason
    }
    if (sides ~ /ours/) {
      reason = shortfall(run)
      verdict["ours", run] = reason == "" ? "passed" : "FAILED: " reason
      if (reason == "") n_passed++
      else {
        n_failed++
        printf "%s: %s (see %s/ours/%s.out)\n", run, reason, out, run
      }
    }
  }
  write_tsv(out "/report.tsv", runs, n_runs)
  write_markdown(out "/report.md", runs, n_runs)
  printf "report: %s/report.md\n", out
  if (sides ~ /ours/) {
    printf "%d passed, %d failed\n", n_passed, n_failed
    exit n_failed > 0
  }
}
