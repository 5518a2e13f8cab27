"""Five cards for the first page of ./quickstart, of the folders that demos/compare/run
made: which figures tell, in words; report.html and what the terminal says.

    cards.py OUT NAME...

Exit status 1 where ode-mlcp broke one of its promises.
"""
import html
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
STEPPERS = [("step", "dWorldStep"), ("quick", "QuickStep"), ("ah", "ode-mlcp")]


class Run:
    """What a card's program did on its three steppers."""

    def __init__(self, folder):
        self.folder = folder
        try:
            steppers = json.loads((folder / "report.json").read_text())["steppers"]
        except (OSError, ValueError):
            steppers = []
        self.reports = {s["name"]: s for s in steppers}

    def told(self, key):
        """A figure of the report, by stepper; None where there is none."""
        return [self.reports.get(name, {}).get(key) for name, _ in STEPPERS]

    def printed(self, key):
        """A figure that the program printed: "key value" or "key <tab> value .."."""
        values = []
        for name, _ in STEPPERS:
            try:
                lines = (self.folder / "data" / f"{name}.out").read_text().splitlines()
            except OSError:
                lines = []
            found = [line[len(key):].split()[0] for line in lines
                     if line.startswith((key + " ", key + "\t"))]
            values.append(float(found[-1]) if found else None)
        return values


def short(value, unit=""):
    """Two digits and a unit."""
    text = f"{value:.2g}"
    if "e" in text:
        text = f"{float(text):.0f}" if abs(value) >= 100 else text
    return f"{text} {unit}".strip()


def length(metres):
    """In the unit that one would say."""
    if metres >= 1:
        return short(metres, "m")
    return short(100 * metres, "cm") if metres >= 0.1 else short(1000 * metres, "mm")


def moved(metres, least, verb):
    """Words for what should not move by more than `least` m."""
    return "does not move" if metres < least else f"{verb} by {length(metres)}"


def price(run):
    """A step's processor time, by stepper."""
    return [f"{value:.2g} ms" if value is not None else "-"
            for value in run.told("ms_processor")]


STOP = 3**2 / (2 * 0.5 * 9.81)  # m: where friction of 0.5 ends 3 m/s


def euler_stop():
    """The sum that a step of 10 ms of first order makes of it."""
    speed, way = 3.0, 0.0
    while speed > 0:
        speed = max(0.0, speed - 0.5 * 9.81 * 0.01)
        way += 0.01 * speed
    return way


# each figure: what it is of, a list of (words, right) by stepper from a Run

def figure(label, values, words, right):
    return (label, [("-", False) if value is None else (words(value), right(value))
                    for value in values])


def wall(run):
    gone = [None if slid is None else max(slid, sag)
            for slid, sag in zip(run.printed("slid"), run.printed("sag"))]
    return [figure("after 5 s a cube has moved", gone,
                   lambda m: "falls apart, " + length(m) if m > 0.5 else
                   moved(m, 1e-4, "creeps"), lambda m: m < 1e-4),
            figure("the fastest is still at", run.told("unrest"),
                   lambda v: "rest" if v < 1e-4 else short(1000 * v, "mm/s"),
                   lambda v: v < 1e-4)]


def slide(run):
    exact = euler_stop()

    def stops(metres):
        part = metres / exact - 1
        return "stops where it must" if abs(part) < 2e-3 else \
            f"stops {abs(100 * part):.0f} % {'short' if part < 0 else 'late'}"
    ways = run.printed("distance")
    return [figure(f"must stop after {STOP:.3f} m", ways, stops,
                   lambda m: abs(m / exact - 1) < 2e-3),
            figure("friction, of mu times the load", ways,
                   lambda m: f"{100 * exact / m:.0f} %",
                   lambda m: abs(m / exact - 1) < 2e-3)]


def wheels(run):
    ways = [None if mm is None else mm / 1000 for mm in run.printed("slid in 10 s")]
    return [figure("in 10 s it has slid", ways, lambda m: moved(m, 1e-4, "creeps"),
                   lambda m: m < 1e-4),
            figure("and at the end is at", run.told("unrest"),
                   lambda v: "rest" if v < 1e-4 else short(1000 * v, "mm/s"),
                   lambda v: v < 1e-4)]


def rope(run):
    open_by = [None if mm is None else mm / 1000 for mm in run.printed("widest joint")]
    return [figure("joints open by", open_by, length, lambda m: m < 2e-3),
            figure("energy gone without a cause", run.told("energy_drift"),
                   lambda J: "none" if J < 39 else short(J, "J"), lambda J: J < 39)]


def heap(run):
    times = run.told("ms_processor")
    least = min((t for t in times if t is not None), default=1)
    return [figure("bodies are in each other by", run.told("penetration_p90"), length,
                   lambda m: None),
            figure("a step costs", times,
                   lambda t: "the least" if t == least else f"{t / least:.1f} times that",
                   lambda t: t == least)]


CARDS = {
    "wall": ("A wall that should stand", wall,
             "28 cubes of a tonne, at rest. Nothing should happen.",
             {"back": [0.25, -1, 0.2], "moment": 1.0}),
    "slide": ("A box that slides to a stop", slide,
              "Launched at 45 degrees, at 3 m/s, seen from above. The line is where "
              "friction stops it; bounding friction in two directions by itself brakes "
              "too hard between them.",
              {"back": [0, -1e-3, 1], "moment": 1.5, "far": 1.35, "stop": [euler_stop(), 45]}),
    "wheels": ("A parked car that must not creep", wheels,
               "Brakes on, across a slope of 20 degrees: friction is more than enough.",
               {"back": [-0.5, -1, 0.6], "moment": 10, "far": 1.3, "outline": True}),
    "rope": ("A crane's rope with a heavy load", rope,
             "20 links of 100 g carry 40 kg, which swing down from the level.",
             {"back": [0.1, -1, 0.1], "moment": 1.2}),
    "heap": ("A heap, where ode-mlcp is the wrong choice", heap,
             "60 bodies fall into a pit. All steppers make a heap of them that looks "
             "right: take the cheapest.",
             {"back": [0.5, -1, 0.7], "moment": 5, "from": 2}),
}


def promises(runs):
    """What ode-mlcp holds, as (kept, words)."""
    for name, run in runs.items():
        ours = run.reports.get("ah", {})
        solved = all(ours.get(key) == 0
                     for key in ("messages", "failed_steps", "unsolved"))
        figures = CARDS[name][1](run)
        right = name == "heap" or all(cells[2][1] for _, cells in figures)
        yield solved and right, f"{name}: {figures[0][0]}: {figures[0][1][2][0]}" \
            + ("" if solved else "; an answer was not solved, or a step failed")


# ---- replays ----

def replay(run, view):
    """Bodies, shapes and 25 frames a second at most, for cards.js; None without numpy or
    a recording."""
    try:
        sys.path.insert(0, str(HERE.parents[1] / "python"))
        import numpy as np
        import ode_mlcp
    except ImportError:
        return None
    runs = []
    for name, _ in STEPPERS:
        path = run.folder / "data" / f"{name}.rec"
        if not path.exists():
            return None
        recording = ode_mlcp.read_recording(path)
        end = recording.frames[-1].time
        count = int(min(120, max(2, 25 * end)))
        times = np.array([frame.time for frame in recording.frames])
        picked = [recording.frames[min(len(times) - 1, int(np.searchsorted(times, t)))]
                  for t in np.linspace(0, end, count)]
        shapes = [{"body": s.body, "kind": s.kind, "sizes": s.sizes.tolist(),
                   "at": s.position.tolist(), "turn": s.quaternion.tolist()}
                  for s in recording.shapes
                  if s.last == 0 and s.body != 0 and s.kind != "mesh"]
        frames = [{int(b["body"]): [round(float(x), 3) for x in b["position"]] +
                   [round(float(q), 3) for q in b["quaternion"]] for b in frame.bodies}
                  for frame in picked]
        runs.append({"end": float(end), "shapes": shapes, "frames": frames})
    return {"runs": runs, **view}


# ---- the page and the terminal ----

def sentence(run):
    """The verdict without the program's name, which stands above it."""
    try:
        headline = json.loads((run.folder / "report.json").read_text())["headline"]
    except (OSError, ValueError):
        return "There is no report."
    names = dict(STEPPERS)
    return "The verdict of compare: " + re.sub(
        r"(?:(?<=[Tt]ake )|(?<=of )|(?<=under ))(?:ah|quick|step)\b"
        r"|\b(?:ah|quick|step)(?= keeps)",
        lambda m: names[m[0]], headline.split(", ", 1)[-1])


def card(name, run, lost):
    title, figures, what, view = CARDS[name]
    data = replay(run, view)
    out = [f'<article id="{name}">', f"<h2>{title}</h2>", f"<p>{html.escape(what)}</p>",
           '<div class="three">']
    rows = figures(run)
    for i, (_, stepper) in enumerate(STEPPERS):
        out.append(f'<figure><canvas data-run="{i}" role="img" '
                   f'aria-label="{stepper}: {html.escape(rows[0][1][i][0])}"></canvas>'
                   f"<figcaption><b>{stepper}</b>")
        for label, cells in rows:
            words, right = cells[i]
            kind = "" if right is None else "right" if right else "wrong"
            out.append(f'<span class="{kind}">'
                       f"<i>{html.escape(label)}</i> {html.escape(words)}</span>")
        out.append("</figcaption></figure>")
    out.append("</div>")
    if data is None:
        lost.append(name)
    else:
        out.append(f'<script type="application/json">{json.dumps(data)}</script>')
    prices = ", ".join(f"{s} {p}" for (_, s), p in zip(STEPPERS, price(run)))
    out += [f'<p class="price">A step takes: {prices}.</p>',
            f"<p>{html.escape(sentence(run))} "
            f'<a href="{name}/report.html">All of it, in 3-D</a></p>', "</article>"]
    return "\n".join(out)


def table(runs):
    out = ["<table><tr><td></td>" + "".join(f"<th>{s}</th>" for _, s in STEPPERS) + "</tr>"]
    for name, run in runs.items():
        rows = CARDS[name][1](run) + [("a step", [(p, False) for p in price(run)])]
        out.append(f'<tr><th colspan="4" class="scene">{CARDS[name][0]}</th></tr>')
        for label, cells in rows:
            out.append(f"<tr><th>{html.escape(label)}</th>" + "".join(
                f"<td{' class=right' if right else ''}>{html.escape(words)}</td>"
                for words, right in cells) + "</tr>")
    return "\n".join(out + ["</table>"])


def page(runs, lost):
    cards = "\n".join(card(name, run, lost) for name, run in runs.items())
    return (HERE / "cards.html").read_text() \
        .replace("@CARDS@", cards).replace("@TABLE@", table(runs)) \
        .replace("@SCRIPT@", (HERE / "cards.js").read_text())


def terminal(runs):
    print(f"{'':34}" + "".join(f"{s:>20}" for _, s in STEPPERS))
    for name, run in runs.items():
        print(CARDS[name][0])
        for label, cells in CARDS[name][1](run) + [
                ("a step takes", [(p, False) for p in price(run)])]:
            print(f"  {label:32}" + "".join(f"{words:>20}" for words, _ in cells))


def main():
    out, names = Path(sys.argv[1]), sys.argv[2:]
    runs = {name: Run(out / name) for name in CARDS if name in names}
    lost = []
    (out / "report.html").write_text(page(runs, lost))
    terminal(runs)
    broken = False
    for kept, words in promises(runs):
        if not kept:
            print(f"  BROKEN  {words}")
        broken |= not kept
    if lost:
        print("The page has no pictures: they need python3-numpy "
              "(apt-get install python3-numpy).")
    print(f"\nThe page: {out}/report.html")
    print("Your own program: build/ode-mlcp compare -- ./my_program")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
