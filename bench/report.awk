# bench.tsv to bench.md: targets first, then the figures they come from.
# Columns: part problem method size contacts rounds median p99 worst residual own
# memory unsolved sweeps note mean degraded factorisations pivots accepted. Variables: quick, machine.
BEGIN { FS = "\t" }
NR == 1 { next }
{
  key = $1 SUBSEP $2 SUBSEP $3
  size[key] = $4; contacts[key] = $5; rounds[key] = $6
  median[key] = $7; p99[key] = $8; worst[key] = $9; residual[key] = $10
  own[key] = $11; memory[key] = $12; unsolved[key] = $13; sweeps[key] = $14
  note[key] = $15; mean[key] = $16; degraded[key] = $17
  factorisations[key] = $18; pivots[key] = $19; accepted[key] = $20
  if (!(($1, $2) in seen)) { seen[$1, $2] = 1; problems[$1, ++n[$1]] = $2 }
  order[++lines] = key
}

function has(key) { return (key in median) && median[key] != "nan" }
function ms(x) { return x == "nan" || x == "" ? "-" : sprintf("%.3g", 1e3*x) }
function res(x) { return x == "nan" || x == "" ? "-" : sprintf("%.0e", x) }
function mb(x) { return sprintf("%.1f", x/1048576) }
function row(text) { print "| " text " |" }

function verdict(what, value, target, text, known) {
  if (!known) row(what " | - | not measured")
  else if (value <= target) row(what " | " text " | met")
  else row(what " | " text " | missed, " sprintf("%.3g", value/target) " x")
}

function ratio(part, problem, a, b, use,    x, y) {
  x = part SUBSEP problem SUBSEP a; y = part SUBSEP problem SUBSEP b
  if (!has(x) || !has(y) || median[y] == 0) return -1
  return (use == "worst" ? worst[x] : median[x])/median[y]
}

# least squares of log(median) over log(contacts)
function exponent(part,    i, k, x, y, sx, sy, sxx, sxy, m) {
  for (i = 1; i <= n[part]; i++) {
    k = part SUBSEP problems[part, i] SUBSEP "fast"
    if (!has(k) || median[k] <= 0 || contacts[k] <= 0 || unsolved[k] > 0)
      continue
    last = problems[part, i]
    x = log(contacts[k]); y = log(median[k])
    sx += x; sy += y; sxx += x*x; sxy += x*y; m++
  }
  return m < 3 ? -1 : (m*sxy - sx*sy)/(m*sxx - sx*sx)
}

function targets(    i, k, p, worst_residual, where, bad, tried, failed, r, w,
                     promise, excess, least, dense, e, parts, names) {
  print "## Targets\n"
  row("target | measured | verdict")
  row("--- | --- | ---")
  excess = 0
  for (i = 1; i <= lines; i++) {
    k = order[i]; split(k, p, SUBSEP)
    if (p[3] != "fast" || p[1] == "families") continue
    bad += unsolved[k]
    if (!has(k)) { bad++; unfinished = unfinished " " p[2]; continue }
    promise = p[2] ~ /1000to1/ ? 1e-9 : 1e-10
    if (residual[k] != "nan" && residual[k]/promise > excess) {
      excess = residual[k]/promise; worst_residual = residual[k]; where = p[2]
    }
  }
  verdict("residual of every step <= 1e-10 (1e-9 at 1000:1)", excess, 1,
          res(worst_residual) " (" where ")", excess > 0)
  row("unsolved steps: 0 | " bad + 0 (unfinished != "" ? \
      ", stopped at the limit:" unfinished : "") " | " \
      (bad > 0 ? "missed" : "met"))
  for (i = 1; i <= n["problems"]; i++) {
    k = "problems" SUBSEP problems["problems", i] SUBSEP "lemke"
    if (!(k in median)) continue
    tried++
    promise = k ~ /1000to1/ ? 1e-9 : 1e-10
    if (!has(k) || residual[k] > promise)
      failed = failed " " problems["problems", i] "(" (has(k) ? res(residual[k]) : note[k]) ")"
  }
  row("`--solver lemke` alone solves the library | " tried + 0 " tried" \
      (failed != "" ? ", not:" failed : "") " | " \
      (failed != "" ? "missed" : "met"))
  family_targets()
  split("55 210 990", names, " ")
  for (i = 1; i <= 3; i++) {
    r = ratio("runs", "wall-" names[i] "-rest", "fast", "QuickStep-20")
    verdict("wall of " names[i] " at rest <= QuickStep-20", r, 1,
            sprintf("%.2f x", r), r >= 0)
  }
  for (i = 1; i <= 3; i++) {
    r = ratio("runs", "wall-" names[i] "-settling", "fast", "QuickStep-20")
    verdict("wall of " names[i] " as it settles <= QuickStep-20", r, 1,
            sprintf("%.2f x", r), r >= 0)
  }
  for (i = 1; i <= 3; i++) {
    r = ratio("growth-first", "wall-" names[i], "fast", "QuickStep-20")
    verdict("wall of " names[i] ", first step <= 10 x QuickStep-20", r, 10,
            sprintf("%.1f x", r), r >= 0)
  }
  split("40 150", names, " ")
  for (i = 1; i <= 2; i++) {
    r = ratio("runs", "pit-" names[i] "-moving", "fast", "QuickStep-20")
    w = ratio("runs", "pit-" names[i] "-moving", "fast", "QuickStep-20", "worst")
    verdict("pit of " names[i] " <= 5 x QuickStep-20", r, 5,
            sprintf("%.1f x", r), r >= 0)
    verdict("pit of " names[i] ", worst step <= 50 x its median", w, 50,
            sprintf("%.0f x", w), w >= 0)
  }
  for (i = 1; i <= 2; i++) {
    parts = i == 1 ? "growth-later" : "growth-first"
    e = exponent(parts)
    verdict("walls, cost against contacts" (i == 2 ? ", first step" : "") \
            ": exponent <= 1.3", e, 1.3,
            sprintf("%.2f up to %s", e, last), e >= 0)
  }
  k = "growth-first" SUBSEP "wall-5050" SUBSEP "fast"
  verdict("5000 boxes within 2 GB", memory[k], 2147483648,
          mb(memory[k]) " MB", has(k) && unsolved[k] == 0)
  least = dense = -1; excess = 0
  for (i = 1; i <= n["lcps"]; i++) {
    k = "lcps" SUBSEP problems["lcps", i]
    if (!has(k SUBSEP "Siconos Lemke")) continue
    r = ratio("lcps", problems["lcps", i], "Siconos Lemke", "fast")
    if (r >= 0 && (least < 0 || r < least)) least = r
    r = ratio("lcps", problems["lcps", i], "Siconos Lemke", "dense lemke")
    if (r >= 0 && (dense < 0 || r < dense)) dense = r
    if (residual[k SUBSEP "fast"] > excess) excess = residual[k SUBSEP "fast"]
  }
  verdict("LCPs of n = 1024, cold: >= 10 x Siconos Lemke, residual <= 1e-10",
          excess <= 1e-10 && least > 0 ? 10/least : 2, 1,
          sprintf("%.0f x at least, residual %s", least, res(excess)), least > 0)
  verdict("the same with our Lemke on the same dense M and q", 10/dense, 1,
          sprintf("%.0f x at least", dense), dense > 0)
  print ""
}

function table_of(part, title,    i, j, k, p) {
  if (n[part] == 0) return
  print "## " title "\n"
  row("problem | method | n | contacts | rounds | median ms | p99 | worst |" \
      " residual | own law | MB | failed | sweeps | note")
  row("--- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | ---")
  for (i = 1; i <= lines; i++) {
    k = order[i]; split(k, p, SUBSEP)
    if (p[1] != part) continue
    row(p[2] " | " p[3] " | " (size[k] ? size[k] : "-") " | " contacts[k] " | " \
        rounds[k] " | " ms(median[k]) " | " ms(p99[k]) " | " ms(worst[k]) \
        " | " res(residual[k]) " | " res(own[k]) " | " mb(memory[k]) " | " \
        unsolved[k] " | " (sweeps[k] ? sweeps[k] : "-") " | " note[k])
  }
  print ""
}

# Whole steps of a family, over the median of QuickStep-20 on the same states: a
# line a family, whose worst member is named, and then a line a member. Medians
# are those of the members' medians; means are over all steps.
function families(    i, j, k, q, p, f, name, names, m, x, t, s, words) {
  if (n["families"] == 0) return
  print "## Families: whole steps over QuickStep-20's median on the same states\n"
  for (i = 1; i <= n["families"]; i++) {
    p = problems["families", i]; name = p; sub(/:.*/, "", name)
    if (!(name in f)) { f[name] = 1; names[++m] = name }
    k = "families" SUBSEP p SUBSEP "fast"
    q = "families" SUBSEP p SUBSEP "QuickStep-20"
    if (!has(q) || median[q] <= 0) { stopped[name]++; continue }
    if (!has(k)) { # a step that did not end within the limit
      stopped[name]++
      split(note[k], words, " ")
      x = words[1] == "over" ? words[2]/median[q] : 0
      if (x > most[name]) { most[name] = x; of[name] = "over: " substr(p, length(name) + 3) }
      continue
    }
    t[name, ++s[name]] = median[k]/median[q]
    steps[name] += rounds[k]; sum[name] += rounds[k]*mean[k]/median[q]
    accepted_in[name] += accepted[k]; degraded_in[name] += degraded[k]; unsolved_in[name] += unsolved[k]
    x = p99[k]/median[q]; if (x > tail[name]) tail[name] = x
    x = worst[k]/median[q]
    if (x > most[name]) { most[name] = x; of[name] = substr(p, length(name) + 3) }
    if (residual[k] > largest[name]) largest[name] = residual[k]
    if (note[k] != "-") cut[name]++
  }
  row("family | members | steps | median | mean | 99th | worst | of | accepted | degraded | unsolved | residual | cut short")
  row("--- | --: | --: | --: | --: | --: | --: | --- | --: | --: | --: | --: | --:")
  for (j = 1; j <= m; j++) {
    name = names[j]
    row(name " | " s[name] + stopped[name] " | " steps[name] + 0 " | " \
        sprintf("%.2f | %.2f | %.1f | %.0f", middle(t, name, s[name]), \
                steps[name] > 0 ? sum[name]/steps[name] : 0, tail[name], most[name]) \
        " | " of[name] " | " accepted_in[name] + 0 " | " degraded_in[name] + 0 " | " unsolved_in[name] + 0 \
        " | " res(largest[name]) " | " cut[name] + stopped[name])
  }
  print ""
  row("member | steps | contacts | QuickStep-20, ms | median | mean | 99th | worst | dWorldStep | factorisations | pivots | accepted | degraded | unsolved | residual | note")
  row("--- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | ---")
  for (i = 1; i <= n["families"]; i++) {
    p = problems["families", i]
    k = "families" SUBSEP p SUBSEP "fast"
    q = "families" SUBSEP p SUBSEP "QuickStep-20"
    x = "families" SUBSEP p SUBSEP "dWorldStep"
    if (!has(k)) { row(p " | - | " contacts[k] " | " ms(median[q]) " | - | - | - | - | - | - | - | - | - | - | " note[k]); continue }
    row(p " | " rounds[k] " | " contacts[k] " | " ms(median[q]) " | " \
        sprintf("%.2f | %.2f | %.1f | %.0f | ", median[k]/median[q], \
                mean[k]/median[q], p99[k]/median[q], worst[k]/median[q]) \
        (has(x) ? sprintf("%.3g", median[x]/median[q]) : "-") " | " \
        sprintf("%.1f | %.0f", factorisations[k]/rounds[k], pivots[k]/rounds[k]) \
        " | " accepted[k] + 0 " | " degraded[k] " | " unsolved[k] " | " res(residual[k]) " | " note[k])
  }
  print ""
}

function family_targets(    i, k, q, x, most, where, steps, missed) {
  for (i = 1; i <= n["families"]; i++) {
    k = "families" SUBSEP problems["families", i] SUBSEP "fast"
    q = "families" SUBSEP problems["families", i] SUBSEP "QuickStep-20"
    if (!has(k) || !has(q) || median[q] <= 0) continue
    steps += rounds[k]; missed += degraded[k]
    x = worst[k]/median[q]
    if (x > most) { most = x; where = problems["families", i] }
  }
  verdict("families: no step above 50 x QuickStep-20", most, 50,
          sprintf("%.0f x (%s)", most, where), steps > 0)
  verdict("families: at most 1 step in 100 degraded",
          steps > 0 ? missed/steps : 0, 0.01,
          sprintf("%d of %d", missed, steps), steps > 0)
}

# of list[name, 1 .. count]
function middle(list, name, count,    i, j, x, sorted) {
  for (i = 1; i <= count; i++) {
    x = list[name, i]
    for (j = i - 1; j >= 1 && sorted[j] > x; j--) sorted[j + 1] = sorted[j]
    sorted[j + 1] = x
  }
  return count > 0 ? sorted[int((count + 1)/2)] : 0
}

END {
  print "# Benchmarks\n"
  print machine "."
  print "Processor seconds on one thread; docs/bench.md says what is measured" \
        " and how to read it." (quick ? " A quick run: large problems are left out." : "")
  print "\n![growth, and time against accuracy](bench.png)\n"
  targets()
  families()
  table_of("runs", "Running scenes: whole steps")
  table_of("growth-first", "Growth: the first step of a wall")
  table_of("growth-later", "Growth: the steps after it")
  table_of("lcps", "LCPs of n = 1024, cold")
  table_of("problems", "The problem library")
}
