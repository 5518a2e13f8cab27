# Sites of faults in C sources, a line each:
#   key <tab> file <tab> line <tab> kind <tab> the line with the fault in it
#
# awk -f sites.awk -v root=TREE FILE...    (FILE relative to TREE)
#
# A site is a statement on one line within a function: what ends there and begins
# where the line before ended one. Its fault is one of
#   negate   if (C)          ->  if (!(C))
#   compare  a < b           ->  a >= b, and so on: the one comparison, not more
#   logic    a && b          ->  a || b, and the other way round
#   sign     a + b           ->  a - b, and the other way round
#   factor   a * b           ->  a / b, and the other way round
#   drop     x = e;  f(x);   ->  nothing
# A statement may be a site of several kinds. Comparisons are not shifted by the case
# of equality: of doubles that is the same program. The key is a hash of room, kind
# and text, not of a line's number: a change elsewhere in the file draws no others.
#
# @N@ stands for the fault's number, FAULT(N) is true where it is chosen.
BEGIN {
  FS = "\n"
  for (i = 32; i < 127; i++) code[sprintf("%c", i)] = i
}
function hash(text, i, h) {
  h = 7
  for (i = 1; i <= length(text); i++)
    h = (h * 131 + code[substr(text, i, 1)]) % 2147483647
  # text that differs late alone comes apart, too
  return (h * 16807) % 2147483647
}
function balanced(text, i, c, depth) {
  depth = 0
  for (i = 1; i <= length(text); i++) {
    c = substr(text, i, 1)
    if (c == "(") depth++
    if (c == ")" && --depth < 0) return 0
  }
  return depth == 0
}
# the end of the condition of `if (`, 0 where it goes on on the next line
function condition_end(text, i, c, depth) {
  depth = 0
  for (i = index(text, "("); i <= length(text); i++) {
    c = substr(text, i, 1)
    if (c == "(") depth++
    if (c == ")" && --depth == 0) return i
  }
  return 0
}
function swap(text, from, to, at) {
  at = index(text, from)
  return substr(text, 1, at - 1) to substr(text, at + length(from))
}
# the expression with the fault of a kind in it; "" where it has no place for it
function spoil(e, kind) {
  if (kind == "compare") {
    if (index(e, " <= ")) return swap(e, " <= ", " > ")
    if (index(e, " >= ")) return swap(e, " >= ", " < ")
    if (index(e, " < ")) return swap(e, " < ", " >= ")
    if (index(e, " > ")) return swap(e, " > ", " <= ")
    if (index(e, " == ")) return swap(e, " == ", " != ")
    if (index(e, " != ")) return swap(e, " != ", " == ")
  }
  if (kind == "logic") {
    if (index(e, " && ") && !index(e, " || ")) return swap(e, " && ", " || ")
    if (index(e, " || ") && !index(e, " && ")) return swap(e, " || ", " && ")
  }
  if (kind == "sign") {
    if (index(e, " + ")) return swap(e, " + ", " - ")
    if (index(e, " - ")) return swap(e, " - ", " + ")
  }
  if (kind == "factor") {
    if (index(e, " * ")) return swap(e, " * ", " / ")
    if (index(e, " / ")) return swap(e, " / ", " * ")
  }
  return ""
}
function tell(kind, text) {
  key = sprintf("%010d", hash(room " " kind " " line))
  printf "%s\t%s\t%d\t%s\t%s\n", key, file, FNR, kind, text
}
function look(line,   indent, end, cond, rest, type, at, name, e, k, n, kinds, spoilt) {
  match(line, /^ +/)
  indent = substr(line, 1, RLENGTH)
  n = split("compare logic sign factor", kinds, " ")
  if (line ~ /^ +if \(/) {
    end = condition_end(line)
    if (!end) return
    cond = substr(line, index(line, "("), end - index(line, "(") + 1)
    rest = substr(line, end + 1)
    for (k = 1; k <= n; k++)
      if ((spoilt = spoil(cond, kinds[k])) != "")
        tell(kinds[k], indent "if (FAULT(@N@) ? !!" spoilt " : !!" cond ")" rest)
    tell("negate", indent "if (FAULT(@N@) != !!" cond ")" rest)
    return
  }
  if (line !~ /;$/ || !balanced(line) || line ~ /[{}"]/ ||
      line ~ /^ +(for|while|do|else|case|default|goto|break|continue|static|extern|typedef|union|struct|enum|const)/)
    return
  if (line ~ /^ +return .+;$/) {
    e = substr(line, length(indent) + 8)
    e = substr(e, 1, length(e) - 1)
    for (k = 1; k <= n; k++)
      if ((spoilt = spoil(e, kinds[k])) != "")
        tell(kinds[k], indent "return FAULT(@N@) ? (" spoilt ") : (" e ");")
    return
  }
  # TYPE NAME = EXPRESSION; of numbers
  if (line ~ /^ +(double|int|bool|float|size_t|unsigned|uint64_t) [a-z_0-9A-Z]+ = [^,]+;$/) {
    at = index(line, " = ")
    e = substr(line, at + 3, length(line) - at - 3)
    for (k = 1; k <= n; k++)
      if ((spoilt = spoil(e, kinds[k])) != "")
        tell(kinds[k], substr(line, 1, at + 2) "FAULT(@N@) ? (" spoilt ") : (" e ");")
    return
  }
  # an assignment or a call alone
  if (line ~ /^ +[*]?[a-z_0-9A-Z>.\[\]-]+( [-+*\/|&]?= |\()/ && line !~ /^ +[a-z_A-Z0-9]+ [*a-z_A-Z0-9]+( =|;|,|\[)/) {
    end = substr(line, length(indent) + 1)
    at = match(line, / [-+*\/|&]?= /)
    if (at) {
      e = substr(line, at)
      for (k = 1; k <= n; k++)
        if ((spoilt = spoil(e, kinds[k])) != "")
          tell(kinds[k], indent "{ if (FAULT(@N@)) " substr(line, length(indent) + 1, at - length(indent) - 1) spoilt " else " end " }")
    }
    tell("drop", indent "{ if (!FAULT(@N@)) " end " }")
  }
}
FNR == 1 {
  file = FILENAME
  sub("^" root "/", "", file)
  room = file
  sub("^plugin/", "", room)
  sub("/.*", "", room)
  begins = 0
  comment = 0
}
{
  raw = $0
  if (comment) {
    if (raw ~ /\*\//) comment = 0
    next
  }
  if (raw ~ /^ *\/\*/) {
    if (raw !~ /\*\//) comment = 1
    next
  }
  line = raw
  sub(/ *\/\*.*\*\/ *$/, "", line)
  sub(/ *\/\/.*$/, "", line)
  if (line ~ /\/\*/) { comment = raw !~ /\*\//; begins = 0; next }
  if (line ~ /^ *$/) next
  if (begins && line ~ /^  / && line !~ /\\$/) look(line)
  begins = line ~ /[;{}]$/ || line ~ /^#/ || line ~ /^ *(case .*|default):$/
}
