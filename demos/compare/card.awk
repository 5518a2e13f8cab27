# A card of the showcase for one comparison: its picture, its verdict, the figures
# that matter with the best marked, and the way to its report.
#
#   awk -v folder=OUT/NAME -v name=NAME -v title=TEXT -v sentence=TEXT -f card.awk
#
# The sentence is the verdict.
function escaped(text) {
  gsub(/&/, "\\&amp;", text)
  gsub(/</, "\\&lt;", text)
  gsub(/>/, "\\&gt;", text)
  return text
}
function text_of(line) {
  sub(/^ *"[a-z]+": "/, "", line)
  sub(/",?$/, "", line)
  gsub(/\\"/, "\"", line)
  return line
}
# keeps figures of the run that the lines are of
function read_report(   file, line, key, value) {
  file = folder "/report.json"
  while ((getline line < file) > 0) {
    if (line ~ /^      "name": "/) names[++n] = text_of(line)
    if (n > 0 && match(line, /^      "[a-z0-9_]+": /)) {
      key = substr(line, 8, RLENGTH - 10)
      value = substr(line, RLENGTH + 1)
      sub(/,$/, "", value)
      figure[n, key] = value
    }
  }
  close(file)
}
function row(key, label, format,   i, best, value) {
  best = ""
  for (i = 1; i <= n; i++) {
    value = figure[i, key]
    if (value != "null" && value != "" && (best == "" || value + 0 < best)) best = value + 0
  }
  if (best == "") return
  printf "<tr><th>%s</th>", label
  for (i = 1; i <= n; i++) {
    value = figure[i, key]
    if (value == "null" || value == "") { printf "<td>-</td>"; continue }
    # within a tenth of the best is as good
    printf value + 0 <= 1.1 * best ? "<td class=\"best\">" format "</td>" \
      : "<td>" format "</td>", value
  }
  print "</tr>"
}
BEGIN {
  read_report()
  if (n == 0) {
    printf "<article><h2>%s</h2><p>no report: see %s.log</p></article>\n",
      escaped(title), name
    exit
  }
  printf "<article>\n<h2>%s</h2>\n", escaped(title)
  if ((getline line < (folder "/picture.svg")) > 0)
    printf "<img src=\"%s/picture.svg\" alt=\"The runs side by side\">\n", name
  printf "<p>%s</p>\n<table><tr><td></td>", escaped(sentence)
  for (i = 1; i <= n; i++) printf "<th>%s</th>", escaped(names[i])
  print "</tr>"
  row("contact_error_worst", "contact off its law, m/s", "%.1e")
  row("energy_drift", "energy not explained, J", "%.2g")
  row("ms_step_median", "a step, median, ms", "%.2g")
  printf "</table>\n<p><a href=\"%s/report.html\">The full report, with the replay</a></p>\n</article>\n",
    name
}
