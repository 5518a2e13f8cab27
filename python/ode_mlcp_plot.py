"""Pictures of what ode-mlcp writes, with matplotlib.

    python3 -m ode_mlcp plot FILE... [--output PICTURE]

FILE is one kind of
    a comparison's folder or report.json, or recordings (.rec): the runs side by
        side at one moment; with --columns their columns over time
    traces of `run` and tables of `compare`: a panel a column, over time
    tables of `scene --csv`: coordinates, energy, infeasibility; with --converge
        errors over step sizes
    tables (--csv, --csv-ways) and JSON of `impact`: outcomes in planes of contact
        velocities, with how much of the set was seen
    any other table: its columns over the first one
"""

from __future__ import annotations

import argparse
import colorsys
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

import ode_mlcp
from ode_mlcp import Frame, PathLike, Recording, Shape

try:
    import matplotlib
except ImportError:
    raise ode_mlcp.Error(
        "pictures need matplotlib: apt install python3-matplotlib, or "
        "pip install matplotlib", 2) from None
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from ode_mlcp import Array

__all__ = ["plot_file", "draw_tables", "draw_bodies", "draw_impacts"]

# Okabe and Ito's: they are told apart by the colour-blind, too
_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9",
            "#8c6d00", "#7f7f7f"]
_STYLE = {
    "axes.prop_cycle": matplotlib.cycler(color=_COLOURS), "axes.grid": True,
    "grid.color": "#e5e5e5", "font.size": 9, "lines.linewidth": 1.2,
    "figure.constrained_layout.use": True, "savefig.dpi": 150,
    # the same bytes for the same input
    "svg.hashsalt": "ode-mlcp", "svg.fonttype": "none"}
_ROUNDING = 1e-10  # below it errors and residuals show nothing

# ---- curves -----------------------------------------------------------------

_TRACE_COLUMNS = ("kinetic_energy_J", "potential_energy_J",
                  "deepest_penetration_m", "penetration_m", "worst_joint_error",
                  "joint_error", "contact_error_m_s", "energy_unexplained_J",
                  "contacts", "residual")


def _is_error(name: str) -> bool:
    return any(word in name for word in
               ("error", "residual", "infeasibility", "violation", "seconds"))


def _values(table: Array, name: str) -> Array:
    values = np.asarray(table[name], dtype=float)
    return np.maximum(np.abs(values), _ROUNDING) if _is_error(name) else values


def _label(name: str) -> str:
    unit = ode_mlcp.unit_of(name)
    ending = next((e for e in ode_mlcp._UNITS if name.endswith(e)), "")
    words = name[:len(name) - len(ending)].replace("_", " ")
    return f"{words} ({unit})" if unit else words


def _scene_panels(names: List[str]) -> List[List[str]]:
    """Positions and velocities of the first body, then what the scene watches."""
    n = sum(name.startswith("v_") for name in names)
    parts = [names[3:3 + n], names[3 + n:3 + 2 * n]]
    first = [i for i, name in enumerate(parts[0])
             if not name[-1].isdigit() or name.rstrip("0123456789") + "1" == name]
    return [[part[i] for i in first] for part in parts] + [
        [name] for name in (*names[3 + 2 * n:], "energy", "infeasibility")]


def _panels(names: List[str], tables: Sequence[Array]) -> List[List[str]]:
    """Columns that are looked at, by panel; what says nothing is left out."""
    def says(name: str) -> bool:
        least = _ROUNDING if _is_error(name) else 0
        return any(np.any(np.abs(t[name]) > least) for t in tables
                   if name in t.dtype.names)

    if names[:3] == ["time", "energy", "infeasibility"]:
        return _scene_panels(names)
    if names[0] == "h":
        return [[n for n in names[1:] if not n.endswith(("_ratio", "_paper"))]]
    known = [[name] for name in _TRACE_COLUMNS if name in names]
    return [p for p in known or [names[1:]] if any(map(says, p))]


def draw_tables(tables: Dict[str, Array],
                columns: Optional[Sequence[str]] = None,
                span: Optional[Tuple[float, float]] = None) -> Figure:
    """Curves over time, a panel a column, several tables over each other; of a sweep
    of step sizes errors over these, with rings for the paper's.

    tables   structured arrays by the name that stands in the key
    columns  those to draw; None: what such a table is looked at for
    span     from and to which time, s; None: all of it

    Raises ValueError where there is nothing to draw."""
    names = list(next(iter(tables.values())).dtype.names or ())
    for name in columns or ():
        if not any(name in (t.dtype.names or ()) for t in tables.values()):
            raise ValueError(f"no file has a column '{name}'")
    panels = [[name] for name in columns] if columns else _panels(
        names, list(tables.values()))
    if not panels:
        raise ValueError("nothing to draw: all columns are zero or not known")
    x = "time_s" if "time_s" in names else names[0]
    low, high = span or (-np.inf, np.inf)
    across = 1 if len(panels) == 1 else 2
    down = -(-len(panels) // across)
    figure = Figure(figsize=(4.8 * across + 1.2, 2.5 * down + 0.9))
    for k, panel in enumerate(panels):
        axes = figure.add_subplot(down, across, k + 1)
        alone, sweep = len(panel) == 1, x == "h"
        for i, (title, table) in enumerate(tables.items()):
            shown = table[(table[x] >= low) & (table[x] <= high)]
            for j, name in enumerate(n for n in panel if n in table.dtype.names):
                colour = _COLOURS[(i if alone else j) % len(_COLOURS)]
                axes.plot(shown[x], _values(shown, name), ms=4, color=colour,
                          marker="o" if sweep else None,
                          ls="-" if alone or i == 0 else "--",
                          label=title if alone else _label(name))
                if sweep and np.isfinite(shown[name + "_paper"]).any():
                    axes.plot(shown[x], shown[name + "_paper"], "o", ms=9,
                              mfc="none", color=colour, label="the paper's")
        axes.set(xlabel={"time": "time (s)", "h": "step size (s)"}.get(x, _label(x)),
                 ylabel=_label(panel[0]) if alone else "error" if sweep else "")
        axes.margins(x=0.01)
        if sweep or all(map(_is_error, panel)):
            axes.set_yscale("log")
        if sweep:
            axes.set_xscale("log")
        if (k == 0 and len(tables) > 1) or not alone:
            axes.legend(fontsize="small")
    if len(tables) == 1:
        figure.suptitle(next(iter(tables)), fontsize="medium")
    return figure


# ---- bodies at a moment -------------------------------------------------------


def _rotation(quaternion: Array) -> Array:
    w, x, y, z = np.asarray(quaternion, dtype=float) / np.linalg.norm(quaternion)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * K + 2 * K @ K


def _ring(n: int = 24) -> Array:
    angle = np.arange(n) * 2 * np.pi / n
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _faces(shape: Shape) -> List[Array]:
    """Faces [corners, 3] in the shape's frame, counterclockwise from outside."""
    if shape.kind == "box":
        corner = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        faces = []
        for axis in range(3):
            for sign in (-1, 1):
                face = np.empty((4, 3))
                face[:, axis] = sign
                face[:, (axis + 1) % 3], face[:, (axis + 2) % 3] = corner[::sign].T
                faces.append(0.5 * face * shape.sizes[:3])
        return faces
    if shape.kind in ("cylinder", "capsule"):
        ring = shape.sizes[0] * _ring()
        top, bottom = (np.column_stack([ring, np.full(len(ring), z)]) for z in
                       (0.5 * shape.sizes[1], -0.5 * shape.sizes[1]))
        sides = [np.array([bottom[k - 1], bottom[k], top[k], top[k - 1]])
                 for k in range(len(ring))]
        return sides + ([top, bottom[::-1]] if shape.kind == "cylinder" else [])
    return list(shape.vertices[shape.triangles])


class _View:
    """A parallel view: where it looks, and how faces are lit."""

    def __init__(self, low: Array, high: Array) -> None:
        # the longer level side across the picture, from 20 degrees above
        along_x = high[0] - low[0] >= high[1] - low[1]
        turn, rise = np.radians(-75 if along_x else 15), np.radians(20)
        self.away = -np.array([np.cos(turn) * np.cos(rise),
                               np.sin(turn) * np.cos(rise), np.sin(rise)])
        self.right = np.array([-np.sin(turn), np.cos(turn), 0])
        self.up = np.cross(self.right, self.away)
        self.light = np.array([0.36, -0.48, 0.8])
        self.polygons: List[Tuple[float, Array, Tuple[float, ...]]] = []

    def flat(self, points: Array) -> Array:
        return points @ np.stack([self.right, self.up], axis=1)

    def add(self, face: Array, hue: Optional[float], two_sided: bool = False,
            depth: Optional[float] = None) -> None:
        normal = np.cross(face[1] - face[0], face[2] - face[0])
        length, facing = np.linalg.norm(normal), normal @ self.away
        if not length > 0 or (facing > 0 and not two_sided):
            return
        lit = 0.5 - 0.5 * np.sign(facing) * (normal @ self.light) / length
        colour = ((0.62 + 0.26 * lit,) * 3 if hue is None else
                  colorsys.hls_to_rgb(hue, 0.30 + 0.38 * lit, 0.55))
        if depth is None:
            depth = float(np.mean(face @ self.away))
        self.polygons.append((depth, self.flat(face), colour))

    def add_ball(self, centre: Array, radius: float, hue: Optional[float]) -> None:
        face = centre + radius * _ring(40) @ np.stack([self.right, self.up])
        self.add(face, hue, True, float(centre @ self.away) - 0.5 * radius)


def _add_shape(view: _View, shape: Shape, at: Array, R: Array,
               hue: Optional[float], reach: float, centre: Array) -> None:
    if shape.kind == "plane":
        normal = shape.sizes[:3].astype(float)
        foot = centre - (normal @ centre - shape.sizes[3]) * normal
        side = np.cross(normal, [1, 0, 0] if abs(normal[0]) < 0.7 else [0, 1, 0])
        side /= np.linalg.norm(side)
        axes = np.stack([side, np.cross(normal, side)])
        square = 9 * reach * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        view.add(foot + square @ axes, None, depth=np.inf)
        return
    if shape.kind in ("sphere", "capsule"):
        ends = [0] if shape.kind == "sphere" else 0.5 * shape.sizes[1] * np.array([-1, 1])
        for z in ends:
            view.add_ball(at + R[:, 2] * z, float(shape.sizes[0]), hue)
    if shape.kind != "sphere":
        for face in _faces(shape):
            view.add(at + face @ R.T, hue, shape.kind == "mesh")


def _frame_at(recording: Recording, time: float) -> Frame:
    """The last frame up to a time, of the world with the most bodies."""
    world = max(recording.frames, key=lambda f: len(f.bodies)).world
    frames = [f for f in recording.frames if f.world == world]
    return ([f for f in frames if f.time <= time * (1 + 1e-9)] or frames[:1])[-1]


def _apart(one: Frame, other: Frame) -> float:
    _, a, b = np.intersect1d(one.bodies["body"], other.bodies["body"],
                             return_indices=True)
    gap = one.bodies["position"][a] - other.bodies["position"][b]
    return float(np.nan_to_num(np.linalg.norm(gap, axis=1)).max(initial=0))


def _telling_time(recordings: Sequence[Recording]) -> float:
    """When a run is furthest from the last one, ode-mlcp's as a rule."""
    end = min(r.frames[-1].time for r in recordings)
    best, time = 0.0, end
    for at in end * np.arange(1, 61) / 60:
        last = _frame_at(recordings[-1], at)
        apart = max((_apart(last, _frame_at(r, at)) for r in recordings[:-1]),
                    default=0)
        if apart >= best > 0 or apart > 0 == best:
            best, time = apart, at
    return time


def _paint(view: _View, recording: Recording, frame: Frame, reach: float,
           centre: Array) -> None:
    poses = {int(b["body"]): b for b in frame.bodies}
    seen = set()  # of what moves without a body the first that still holds
    for shape in recording.shapes:
        if (0 != shape.last < frame.step or shape.body == 0 and shape.number in seen
                or shape.body != 0 and shape.world != frame.world):
            continue
        if shape.body == 0:
            seen.add(shape.number)
        at, R = shape.position.astype(float), _rotation(shape.quaternion)
        hue = None
        if shape.body:
            if shape.body not in poses:
                continue
            pose = poses[shape.body]
            turn = _rotation(pose["quaternion"])
            at, R = pose["position"] + turn @ at, turn @ R
            # neighbours by number differ as much as colours can
            hue = shape.body * 137 % 360 / 360
        if np.isfinite(at).all():
            _add_shape(view, shape, at, R, hue, reach, centre)


def draw_bodies(recordings: Dict[str, Recording],
                time: Optional[float] = None) -> Figure:
    """Runs of a comparison side by side at one moment.

    recordings  by the name below the picture
    time        s; None: when a run is furthest from the last one

    Raises ValueError where no recording has a frame."""
    shown = {name: r for name, r in recordings.items() if r.frames}
    if not shown:
        raise ValueError("nothing to draw: no recording has a frame")
    moment = _telling_time(list(shown.values())) if time is None else time
    frames = {name: _frame_at(r, moment) for name, r in shown.items()}
    places = np.concatenate([f.bodies["position"] for f in frames.values()])
    places = places[np.isfinite(places).all(axis=1)]
    if not len(places):
        places = np.zeros((1, 3))
    low, high = places.min(axis=0), places.max(axis=0)
    sizes = [np.linalg.norm(s.sizes[:3]) for r in shown.values() for s in r.shapes
             if s.body and s.kind != "mesh"]
    margin = 0.7 * float(np.median(sizes)) if sizes else 0.1
    centre = 0.5 * (low + high)
    corners = np.array(np.meshgrid(*zip(low, high))).reshape(3, -1).T - centre
    extent = np.abs(_View(low, high).flat(corners)).max(axis=0) + margin
    reach = max(extent[0], extent[1] / 0.75)
    figure = Figure(figsize=(3.6 * len(shown), 3.0))
    for k, (name, recording) in enumerate(shown.items()):
        view = _View(low, high)
        _paint(view, recording, frames[name], reach, centre)
        view.polygons.sort(key=lambda p: -p[0])
        axes = figure.add_subplot(1, len(shown), k + 1)
        axes.add_collection(PolyCollection(
            [p for _, p, _ in view.polygons],
            facecolors=[c for _, _, c in view.polygons],
            edgecolors="#00000033", linewidths=0.3))
        x, y = view.flat(centre)
        axes.set(xlim=(x - reach, x + reach), aspect="equal", xticks=[], yticks=[],
                 ylim=(y - 0.75 * reach, y + 0.75 * reach), facecolor="#eef2f6")
        axes.set_title(name, fontsize="medium", y=-0.12)
    figure.suptitle(f"after {moment:.3g} s", fontsize="medium")
    return figure


# ---- outcomes of impacts --------------------------------------------------------

_VIOLET = LinearSegmentedColormap.from_list(
    "outcomes", ["#cdb2de", "#9661b2", "#5e1e7a", "#230032"])


def _planes(names: Sequence[str]) -> List[Tuple[str, str]]:
    """Normals of neighbours, then each contact's normal over its tangents."""
    normals = [n for n in names if n.startswith("vn")]
    pairs = list(zip(normals[::2], normals[1::2]))
    for normal in normals:
        pairs += [(n, normal) for n in names
                  if n.startswith("vt") and n.endswith(normal[2:])]
    return pairs[:12]


def draw_impacts(outcomes: Array, told: Optional[Dict[str, Any]] = None,
                 ways: Optional[Array] = None,
                 planes: Optional[Sequence[Tuple[str, str]]] = None) -> Figure:
    """Outcomes of an impact in planes of contact velocities.

    outcomes  `impact --csv`, a row an outcome
    told      `impact --json`: what other laws say
    ways      `impact --csv-ways`: velocities on the way, grey
    planes    pairs of contact velocities, x and y; None: normals of neighbours,
              then each contact's normal over its tangents

    Raises ValueError for a plane of what is not there."""
    names = [n for n in outcomes.dtype.names or () if n.startswith(("vn", "vt"))]
    pairs = list(planes or _planes(names))
    for pair in pairs:
        if len(pair) != 2 or pair[0] == pair[1] or set(pair) - set(names):
            raise ValueError(f"'{':'.join(pair)}' is no plane X:Y of two contact "
                             f"velocities ({', '.join(names)})")
    across = min(3, len(pairs))
    down = -(-len(pairs) // across)
    figure = Figure(figsize=(3.4 * across + 0.6, 3.0 * down + 0.7))
    laws = {law: _ends(told, key) for key, law in
            (("simultaneous", "at once"), ("sequential", "one after the other"))}
    tables = [outcomes] if ways is None else [outcomes, ways]
    largest = max((float(np.abs(t[n]).max(initial=0)) for t in tables for n in names),
                  default=0)
    for k, (x, y) in enumerate(pairs):
        axes = figure.add_subplot(down, across, k + 1)
        points = [np.stack([outcomes[x], outcomes[y]], axis=1)] + [
            np.array([[end[x], end[y]] for end in ends]).reshape(-1, 2)
            for ends in laws.values()]
        way = np.empty((0, 2, 2))
        if ways is not None:
            at = np.stack([ways[x], ways[y]], axis=1)
            on = (ways["sample"][1:] == ways["sample"][:-1]) & (
                ways["lcps"][1:] > ways["lcps"][:-1])
            way = np.stack([at[:-1][on], at[1:][on]], axis=1)
            axes.plot(*at[0], "o", ms=4, color="black", label="before")
        extent = _extent(np.concatenate([*points, way.reshape(-1, 2)]), largest)
        axes.imshow(_image(points[0], way, extent), origin="lower", aspect="auto",
                    extent=extent, interpolation="none")
        for law, ends, form, colour in zip(laws, points[1:], "ox",
                                           ("#0072b2", "#d1331d")):
            axes.plot(*ends.T, form, ms=5, mew=1.2, mfc="none", color=colour,
                      label=law if len(ends) else None)
        axes.grid(False)
        axes.set(xlim=extent[:2], ylim=extent[2:], xlabel=f"{x} (m/s)",
                 ylabel=f"{y} (m/s)")
        if k == 0 and axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize="x-small")
    figure.suptitle(f"{len(outcomes)} outcomes; "
                    f"{100 * ode_mlcp.share_seen(outcomes):.4g} % of the set was seen",
                    fontsize="medium")
    return figure


def _ends(told: Optional[Dict[str, Any]], law: str) -> List[Dict[str, float]]:
    ends = (told or {}).get(law, [])
    return list(ends.values()) if isinstance(ends, dict) else ends


def _extent(points: Array, largest: float) -> Tuple[float, float, float, float]:
    """left, right, low, high of a panel: what it shows and 9 % around. Below 1e-7 of
    the largest velocity is rounding, which is not blown up."""
    if not len(points):
        points = np.zeros((1, 2))
    low, high = points.min(axis=0), points.max(axis=0)
    wide = np.where(high - low > 1e-7 * largest, high - low, 0.02 * largest or 1)
    left, bottom = 0.5 * (low + high) - 0.59 * wide
    right, top = 0.5 * (low + high) + 0.59 * wide
    return float(left), float(right), float(bottom), float(top)


def _image(points: Array, way: Array, extent: Tuple[float, ...]) -> Array:
    """Colours [132, 150, 4]: outcomes by the logarithm of their number in a cell,
    what is passed on the way grey."""
    def count(at: Array) -> Array:
        return np.histogram2d(at[:, 1], at[:, 0], (132, 150),
                              (extent[2:], extent[:2]))[0]

    part = np.linspace(0, 1, 301)[:, np.newaxis, np.newaxis]
    passed = count(((1 - part) * way[:, 0] + part * way[:, 1]).reshape(-1, 2))
    counts = count(points)
    image = np.ones((132, 150, 4))
    image[passed > 0] = (0.88, 0.88, 0.88, 1)
    image[counts > 0] = _VIOLET(LogNorm(1, max(2, counts.max()))(
        counts[counts > 0]))
    return image


# ---- files ----------------------------------------------------------------------


def plot_file(*files: PathLike, output: Optional[PathLike] = None,
              columns: Optional[Sequence[str]] = None,
              time: Optional[float] = None,
              span: Optional[Tuple[float, float]] = None,
              planes: Optional[Sequence[Tuple[str, str]]] = None) -> Figure:
    """Draw files of one kind (see the module) and return the figure, written to
    `output` (PNG, SVG or PDF by its ending) where it is named.

    Raises OSError, ValueError."""
    recordings: Dict[str, Recording] = {}
    tables: Dict[str, Array] = {}
    told, outcomes, ways = None, [], None
    for path in map(Path, files):
        prefix = f"{path.name}: " if len(files) > 1 else ""
        if path.is_dir() or path.name == "report.json":
            report = ode_mlcp.read_report(path if path.is_dir() else path.parent)
            for name, stepper in report.steppers.items():
                try:
                    if columns:
                        tables[prefix + name] = stepper.rows
                    else:
                        recordings[prefix + name] = stepper.recording
                except FileNotFoundError:
                    pass  # it stepped no world
        elif path.suffix == ".rec":
            recording = ode_mlcp.read_recording(path)
            recordings[prefix + recording.stepper] = recording
        elif path.suffix == ".json":
            told = json.loads(path.read_text())
        else:
            table = ode_mlcp.read_trace(path)
            if (table.dtype.names or ())[:2] != ("sample", "lcps"):
                tables[path.stem if path.stem not in tables else str(path)] = table
            elif np.any(table["lcps"] == 0):  # ways begin before the first LCP
                ways = table
            else:
                outcomes.append(path)
    with matplotlib.rc_context(_STYLE):
        if outcomes:
            figure = draw_impacts(ode_mlcp.read_outcomes(*outcomes), told, ways,
                                  planes)
        elif recordings:
            figure = draw_bodies(recordings, time)
        elif tables:
            figure = draw_tables(tables, columns, span)
        else:
            raise ValueError(f"{files[0]}: nothing to draw: a table (--csv) or a "
                             "recording is needed")
        if output is not None:
            # no date: the same bytes for the same input
            stamp = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
            figure.savefig(output, metadata=stamp.get(Path(output).suffix))
    return figure


def main(arguments: Sequence[str]) -> int:
    """`plot FILE...`; the exit status."""
    parser = argparse.ArgumentParser(
        "python3 -m ode_mlcp plot", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--output", default="plot.png", metavar="PICTURE",
                        help=".png, .svg or .pdf (plot.png)")
    parser.add_argument("--columns", metavar="A,B", type=lambda t: t.split(","),
                        help="the columns of tables to draw")
    parser.add_argument("--span", metavar="FROM:TO",
                        type=lambda t: tuple(map(float, t.split(":"))),
                        help="of curves: from and to which time, s")
    parser.add_argument("--time", metavar="S", type=float,
                        help="of bodies: when (when the runs differ the most)")
    parser.add_argument("--planes", metavar="X:Y,..",
                        type=lambda t: [tuple(p.split(":")) for p in t.split(",")],
                        help="of impacts: planes of contact velocities")
    given = parser.parse_args(arguments)
    if Path(given.output).suffix not in (".png", ".svg", ".pdf"):
        parser.error(f"'{given.output}' ends with none of .png, .svg, .pdf")
    try:
        plot_file(*given.files, output=given.output, columns=given.columns,
                  time=given.time, span=given.span, planes=given.planes)
    except (OSError, ValueError) as error:
        print(f"ode_mlcp plot: {error}", file=sys.stderr)
        return 2
    return 0
