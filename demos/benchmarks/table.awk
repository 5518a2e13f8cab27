# One benchmark's runs as a table, each variant with the figures that others
# published at its end.
#
#   awk -F '\t' -v name=NAME -f table.awk published.tsv NAME.runs

BEGIN {
  headings["rolling"] = "error, (m/s)^2"
  headings["bouncing"] = headings["elastic-666"] = "error, J^2"
  headings["666"] = "error, m^2"
  headings["kapla"] = "steps stood"
  headings["boxes-simple"] = headings["boxes-complex"] = "position, m"
  free_boxes = name ~ /^boxes/
  printf "| step, s | variant | stepper | %s |", headings[name]
  if (free_boxes) printf " energy, J | spin, kg m^2/s |"
  print " mean, ms | over QuickStep | worst, ms | messages | |"
  printf "|---|---|---|---|"
  if (free_boxes) printf "---|---|"
  print "---|---|---|---|---|"
}

/^#/ { next }

FILENAME ~ /published/ {
  if ($1 == name) published[$2 + 0, $3] = published[$2 + 0, $3] $4 "\t" $5 "\n"
  next
}

{
  for (i = 1; i < NF; i += 2) run[$i] = $(i + 1)
  variant = run["variant"]
  step = run["step"] + 0
  if (variant SUBSEP step != last) {
    print_published()
    last = variant SUBSEP step
    last_step = step
    last_variant = variant
    quick = run["mean_ms"]
  }
  note = ""
  if (run["cut"] + 0) note = "cut at step " run["steps"]
  if (run["failed"] + 0) note = note (note ? ", " : "") run["failed"] " failed steps"
  printf "| %g | %s | %s | %s |", step, variant, run["stepper"],
    name == "kapla" ? run["steps"] : sprintf("%.4g", run["error"])
  if (free_boxes) printf " %.3g | %.3g |", run["energy"], run["spin"]
  printf " %.3g | %.2g | %.3g | %d | %s |\n", run["mean_ms"],
    run["mean_ms"] / quick, run["worst_ms"], run["messages"], note
}

END { print_published() }

function print_published(    n, lines, i, parts) {
  if (last == "") return
  n = split(published[last_step, last_variant], lines, "\n")
  for (i = 1; i < n; i++) {
    split(lines[i], parts, "\t")
    printf "| %g | %s | *%s* | %s |%s | | | | published |\n", last_step,
      last_variant, parts[1], parts[2], free_boxes ? " | |" : ""
  }
}
