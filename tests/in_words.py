"""in_words.py JSON WORDS [KEY..]: are the words of a result what its JSON says? Members
KEY, which are of the clock, may differ."""
import json
import sys


def value(x):
    if isinstance(x, dict):
        return "{%s}" % ", ".join("%s: %s" % (k, value(v)) for k, v in x.items())
    if isinstance(x, list):
        words = [isinstance(v, str) for v in x]
        return ("%s" if any(words) else "[%s]") % ", ".join(map(value, x))
    if isinstance(x, str):
        return x
    return {None: "null", True: "true", False: "false"}[x] if x is None or \
        isinstance(x, bool) else "%.9g" % x


def lines(x, indent=""):
    for key, member in x.items():
        if isinstance(member, dict):
            yield indent + key + ":"
            yield from lines(member, indent + "  ")
        elif isinstance(member, list) and all(isinstance(v, dict) for v in member):
            yield indent + key + ":"
            for item in member:
                yield indent + "  - " + value(item)
        else:
            yield "%s%s: %s" % (indent, key, value(member))


def kept(words):
    return [line for line in words if line.split(":")[0] not in sys.argv[3:]]


expected = list(lines(json.load(open(sys.argv[1]))))
found = open(sys.argv[2]).read().split("\n")
if found.pop() != "" or kept(found) != kept(expected):
    sys.exit("the words are not what the JSON says:\n" + "\n".join(
        "%s | %s" % pair for pair in zip(kept(found), kept(expected)) if pair[0] != pair[1]))
