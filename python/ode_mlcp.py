"""Run, compare and analyse Open Dynamics Engine programs with ode-mlcp.

    import ode_mlcp

    report = ode_mlcp.compare(["./my_program"], ["step", "quick", "ah"])
    print(report.headline)
    report["ah"].rows["contact_error_m_s"].max()      # m/s

    trace = ode_mlcp.run(["./my_program"], scheme="st").trace
    solution = ode_mlcp.solve(M, q)                    # M z + q, an LCP
    outcomes = ode_mlcp.impact(M, Jn, Jt, mu, v)       # a set-valued impact

The module calls the command `ode-mlcp`; `impact` calls the library. Both are
looked for in the environment (ODE_MLCP_COMMAND, ODE_MLCP_LIBRARY), then in the
build folder of the checkout that this file is in, then where packages install
them. It needs numpy; `solve` reads scipy's sparse matrices as well, and pictures
(`plot`, and `python3 -m ode_mlcp plot FILE`) need matplotlib.

Units are SI. Tables are structured numpy arrays, whose columns are named with
their unit (`time_s`, `contact_error_m_s`); `unit_of` says it in words.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import (TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional,
                    Sequence, Union)

try:
    import numpy as np
except ImportError:
    _CURE = ("ode_mlcp needs numpy, which this Python has not: apt install "
             "python3-numpy (for /usr/bin/python3), or pip install numpy")
    if __name__ == "__main__":
        sys.exit(_CURE)
    raise ImportError(_CURE) from None

__all__ = [
    "Error", "Run", "Report", "Stepper", "Recording", "Frame", "Shape",
    "Solution", "ImpactSet", "command", "run", "compare",
    "read_report", "read_trace", "read_recording", "read_matrix", "solve",
    "impact", "read_outcomes", "share_seen", "unit_of", "plot",
]

PathLike = Union[str, "os.PathLike[str]"]
Program = Union[PathLike, Sequence[PathLike]]
if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]


class Error(RuntimeError):
    """ode-mlcp refused or failed; the text is its own. `status` is the exit
    status of the command, None where it was not the command's."""

    def __init__(self, text: str, status: Optional[int] = None) -> None:
        super().__init__(text)
        self.status = status


# ---- finding the command and the library ------------------------------------

_BUILD = Path(__file__).resolve().parent.parent / "build"


def command() -> str:
    """The path of the command `ode-mlcp`.

    Raises Error where there is none."""
    named = os.environ.get("ODE_MLCP_COMMAND")
    built = _BUILD / "ode-mlcp"
    found = named or (str(built) if built.is_file() else
                      shutil.which("ode-mlcp"))
    if not found:
        raise Error("there is no command ode-mlcp: build it (./quickstart "
                    "build), install it, or name it in ODE_MLCP_COMMAND")
    return found


def _library() -> ctypes.CDLL:
    named = os.environ.get("ODE_MLCP_LIBRARY")
    built = _BUILD / "lib" / "libode_mlcp.so.0"
    name = named or (str(built) if built.exists() else "libode_mlcp.so.0")
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        raise Error(f"the library cannot be loaded: {error}; name it in "
                    "ODE_MLCP_LIBRARY") from error


def _call(arguments: Sequence[str], good: Sequence[int] = (0,),
          cwd: Optional[PathLike] = None) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run([command(), *arguments], text=True, cwd=cwd,
                          stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode not in good:
        said = (done.stderr or done.stdout).strip()
        raise Error(said or f"ode-mlcp ended with status {done.returncode}",
                    done.returncode)
    return done


def _words(program: Program) -> List[str]:
    if isinstance(program, (str, os.PathLike)):
        return [os.fspath(program)]
    words = [os.fspath(word) for word in program]
    if not words:
        raise ValueError("program: a path, or a list of a path and arguments")
    return words


def _options(settings: Mapping[str, Any]) -> List[str]:
    """`max_correction=1` is `--max-correction 1`; True and False are on, off;
    None stands for an option without a value (`no_repeat=None`)."""
    options: List[str] = []
    for name, value in settings.items():
        if value is None:
            options.append("--" + name.replace("_", "-"))
            continue
        if isinstance(value, bool):
            value = "on" if value else "off"
        options += ["--" + name.replace("_", "-"), str(value)]
    return options


# ---- tables ------------------------------------------------------------------

# longest endings first
_UNITS = {
    "_m_s": "m/s", "_N_s": "N s", "_rad_s": "rad/s", "_J": "J", "_N": "N",
    "_ms": "ms", "_m": "m", "_s": "s",
}
_NAMED_UNITS = {
    "seconds": "s", "solver_seconds": "s", "step_seconds": "s",
    "joint_error": "m or rad", "worst_joint_error": "m or rad",
    "contact_error_worst": "m/s", "contact_error_p90": "m/s",
    "cone_violation_worst": "m/s", "penetration_worst": "m",
    "joint_error_worst": "m or rad",
    "energy_drift": "J", "contact_work": "J", "momentum_drift": "N s",
    "reference_error": "m", "parted": "s",
    "ms_step_median": "ms", "ms_step_p99": "ms", "ms_step_worst": "ms",
}


def unit_of(name: str) -> str:
    """The unit of a column of a table or of a figure of report.json; "" where
    it is a count or a ratio."""
    if name in _NAMED_UNITS:
        return _NAMED_UNITS[name]
    for ending, unit in _UNITS.items():
        if name.endswith(ending):
            return unit
    return ""


def read_trace(path: PathLike) -> Array:
    """Read a CSV file of `ode-mlcp run --trace`, `compare`, `scene`, `impact`.

    Returns a structured array [steps], a column a name of the file's head;
    float64, or int64 where all values are whole. Raises OSError, ValueError."""
    with open(path, encoding="utf-8") as file:
        line = file.readline()
        while line.startswith("#"):
            line = file.readline()
        names = line.strip().split(",")
        rows = [line.rstrip("\n").split(",") for line in file]
    for number, row in enumerate(rows):
        if len(row) != len(names):
            raise ValueError(f"{path}:{number + 2}: {len(row)} values for "
                             f"{len(names)} columns")
    values = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
    whole = [bool(unit_of(name) == "" and np.all(np.isfinite(column)) and
                  np.all(column == np.round(column)))
             for name, column in zip(names, values.T)]
    table = np.empty(len(rows), dtype=[
        (name, np.int64 if is_whole else np.float64)
        for name, is_whole in zip(names, whole)])
    for name, column in zip(names, values.T):
        table[name] = column
    return table


# ---- running -----------------------------------------------------------------


@dataclass
class Run:
    """What `run` came to."""
    status: int                 # the program's exit status
    output: str                 # what it printed
    messages: str               # what it wrote to standard error
    stats: Dict[str, Any]       # docs/trace.md; {} where it never stepped
    trace: Array           # [steps] docs/trace.md


def run(program: Program, *, cwd: Optional[PathLike] = None,
        **settings: Any) -> Run:
    """Run a program on ode-mlcp.

    program   a path, or a list of a path and arguments
    settings  options of `ode-mlcp run`, with `_` for `-`: scheme="st",
              edges=8, max_correction=1, sweep=False

    Raises Error where the command refused (status 2 without a step)."""
    with tempfile.TemporaryDirectory(prefix="ode-mlcp-") as folder:
        stats, trace = Path(folder, "stats.json"), Path(folder, "trace.csv")
        done = subprocess.run(
            [command(), "run", "--stats", str(stats), "--trace", str(trace),
             *_options(settings), "--", *_words(program)],
            text=True, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True)
        if not trace.is_file() and done.returncode == 2:
            raise Error(done.stderr.strip(), 2)
        return Run(done.returncode, done.stdout, done.stderr,
                   json.loads(stats.read_text()) if stats.is_file() else {},
                   read_trace(trace) if trace.is_file() else np.empty(0))


# ---- comparing ---------------------------------------------------------------


@dataclass
class Stepper:
    """One stepper's run of a comparison."""
    name: str
    figures: Dict[str, Any]     # docs/compare.md, "The figures"; None: unknown
    folder: Path

    def __getitem__(self, figure: str) -> Any:
        return self.figures[figure]

    @property
    def _file_name(self) -> str:
        return self.name.replace(":", "-")

    @property
    def rows(self) -> Array:
        """[rows] docs/compare.md, "Columns of NAME.csv"."""
        return read_trace(self.folder / f"{self._file_name}.csv")

    @property
    def recording(self) -> "Recording":
        """Poses, velocities, contacts and forces."""
        return read_recording(self.folder / "data" / f"{self._file_name}.rec")


@dataclass
class Report:
    """A comparison: `report["ah"]` is a stepper's run."""
    folder: Path
    data: Dict[str, Any]        # report.json as it stands
    steppers: Dict[str, Stepper] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for figures in self.data["steppers"]:
            self.steppers[figures["name"]] = Stepper(figures["name"], figures,
                                                     self.folder)

    def __getitem__(self, stepper: str) -> Stepper:
        return self.steppers[stepper]

    @property
    def headline(self) -> str:
        """Which stepper to take, in a sentence."""
        return str(self.data["headline"])

    @property
    def verdict(self) -> List[Dict[str, Any]]:
        """What is off, worst first: stepper, what, figure, unit, relative, advice."""
        return list(self.data["verdict"])

    @property
    def page(self) -> Path:
        """The page to look at: one file, without a network."""
        return self.folder / "report.html"


def compare(program: Program,
            steppers: Sequence[str] = ("step", "quick", "ah"), *,
            output: Optional[PathLike] = None, cwd: Optional[PathLike] = None,
            **settings: Any) -> Report:
    """Run a program on several steppers and measure what they did.

    program   a path, or a list of a path and arguments
    steppers  "step", "quick", "quick:N" or a scheme of ode-mlcp
    output    the folder for the report; made where it is missing. None: a
              folder that stays, in the system's place for temporary files
    settings  options of `ode-mlcp compare`, with `_` for `-`: steps=1000,
              refine=2, limit=60, edges=8

    Raises Error where the command refused. A run that failed or was cut is in
    the report, with its `complaint`."""
    folder = Path(output) if output is not None else Path(
        tempfile.mkdtemp(prefix="ode-mlcp-compare-"))
    _call(["compare", "--steppers", ",".join(steppers), "--output",
           str(folder.resolve()), *_options(settings), "--", *_words(program)],
          good=(0, 1), cwd=cwd)
    return read_report(folder)


def read_report(folder: PathLike) -> Report:
    """Read the folder that `ode-mlcp compare` left."""
    folder = Path(folder)
    return Report(folder, json.loads((folder / "report.json").read_text()))


# ---- recordings (docs/recording.md) ------------------------------------------

_BODY, _SHAPE, _STEP, _FRAME = 1, 2, 3, 4
_SHAPE_KINDS = {1: "sphere", 2: "box", 3: "capsule", 4: "cylinder", 5: "plane",
                6: "mesh"}

_POSE = np.dtype([("position", "<f8", 3), ("quaternion", "<f4", 4),
                  ("velocity", "<f4", 3), ("angular", "<f4", 3),
                  ("body", "<u4"), ("awake", "<u4")])
_CONTACT = np.dtype([("position", "<f4", 3), ("force", "<f4", 3),
                     ("depth", "<f4"), ("error", "<f4")])


@dataclass
class Shape:
    """A geom as it was first seen, or as it became."""
    world: int
    body: int                   # its number in the world; 0: of no body
    kind: str                   # sphere, box, capsule, cylinder, plane, mesh
    sizes: Array           # [4] m: see plugin/preload/recording.h
    position: Array        # [3] m, on its body, or in the world
    quaternion: Array      # [4] w first
    vertices: Array        # [n, 3] m, of a mesh
    triangles: Array       # [n, 3] of a mesh
    number: int                 # of the geom
    last: int                   # the last step it was so; 0: still


@dataclass
class Frame:
    """A world after a step."""
    world: int
    step: int                   # counts all worlds
    time: float                 # s
    bodies: Array          # [n] position (m), quaternion (w first),
                                # velocity (m/s), angular (rad/s), body, awake
    contacts: Array        # [n] position (m), force (N, on the body the
                                # normal points into), depth (m), error (m/s)


@dataclass
class Recording:
    """A run of `ode-mlcp compare`."""
    path: Path
    stepper: str
    program: str
    masses: Dict[int, Dict[int, float]]  # kg, by world, then by body; 0:
                                         # kinematic
    shapes: List[Shape]
    frames: List[Frame]

    def positions(self, world: int = 1) -> "tuple[Array, Array]":
        """times [frames] in s, and positions [frames, bodies, 3] in m, NaN
        where a body was not there; bodies by their number."""
        frames = [frame for frame in self.frames if frame.world == world]
        n = max((int(f.bodies["body"].max()) for f in frames if len(f.bodies)),
                default=0)
        places = np.full((len(frames), n, 3), np.nan)
        for at, frame in zip(places, frames):
            at[frame.bodies["body"].astype(int) - 1] = frame.bodies["position"]
        return np.array([frame.time for frame in frames]), places


def _text(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode("utf-8", "replace")


def _read_shape(data: memoryview, at: int) -> Shape:
    world, body, kind, number = struct.unpack_from("<4I", data, at + 8)
    values = np.frombuffer(data, "<f4", 11, at + 24)
    n_vertices, n_triangles, last = struct.unpack_from("<3I", data, at + 68)
    vertices = np.frombuffer(data, "<f4", 3 * n_vertices, at + 80)
    triangles = np.frombuffer(data, "<u4", 3 * n_triangles,
                              at + 80 + 12 * n_vertices)
    return Shape(world, body, _SHAPE_KINDS.get(kind, str(kind)), values[:4],
                 values[4:7], values[7:11], vertices.reshape(-1, 3),
                 triangles.reshape(-1, 3), number, last)


def _records(data: memoryview, start: int, end: int) -> "Iterator[tuple[int, int]]":
    at = start
    while at + 8 <= end:
        kind, size = struct.unpack_from("<2I", data, at)
        if size < 8 or at + size > end:
            return
        yield kind, at
        at += size


def read_recording(path: PathLike) -> Recording:
    """Read a recording, `data/NAME.rec` of a comparison; one of a run that
    still goes on or broke off, as far as it is whole.

    Raises ValueError for another file."""
    data = memoryview(Path(path).read_bytes())
    if len(data) < 24 or bytes(data[:8]) != b"ODERECRD":
        raise ValueError(f"{path}: no recording of ode-mlcp compare")
    version, head_size, used = struct.unpack_from("<2IQ", data, 8)
    # strings end the head's fields: after 6 counts, two times, seven numbers
    names = 24 + 6 * 8 + 2 * 8 + 7 * 4
    recording = Recording(Path(path), _text(bytes(data[names:names + 64])),
                          _text(bytes(data[names + 64:names + 320])), {}, [], [])
    shapes: Dict["tuple[int, int]", List[Shape]] = {}
    for kind, at in _records(data, head_size, min(used, len(data))):
        if kind == _BODY:
            world, body, mass = struct.unpack_from("<2Id", data, at + 8)
            recording.masses.setdefault(world, {})[body] = mass
            # who had its number before is gone, and its geoms with it
            for shape in shapes.pop((world, body), []):
                shape.last = recording.frames[-1].step if recording.frames else -1
        elif kind == _SHAPE:
            shape = _read_shape(data, at)
            recording.shapes.append(shape)
            if shape.body != 0:
                shapes.setdefault((shape.world, shape.body), []).append(shape)
        elif kind == _FRAME:
            world, n_bodies, number, time, n_contacts = struct.unpack_from(
                "<2IqdI", data, at + 8)
            bodies = np.frombuffer(data, _POSE, n_bodies, at + 40)
            contacts = np.frombuffer(data, _CONTACT, n_contacts,
                                     at + 40 + n_bodies * _POSE.itemsize)
            recording.frames.append(Frame(world, number, time, bodies, contacts))
    return recording


# ---- linear complementarity problems -----------------------------------------


@dataclass
class Solution:
    """An answer of `solve`; `z` is the best point met where it is not solved."""
    z: Array               # [n]
    status: str                 # docs/solve.md: solved, infeasible, ray ..
    residual: float             # max |min(z, M z + q)| / (1 + max |q|)
    data: Dict[str, Any]        # all that `ode-mlcp solve --json` says

    @property
    def solved(self) -> bool:
        return self.status == "solved"


def _write_matrix(path: Path, matrix: Any) -> None:
    if hasattr(matrix, "tocoo"):
        sparse = matrix.tocoo()
        shape, values = sparse.shape, sparse.data
        lines = (f"{i + 1} {j + 1} {float(x)!r}"
                 for i, j, x in zip(sparse.row, sparse.col, sparse.data))
        head = f"coordinate real general\n{shape[0]} {shape[1]} {sparse.nnz}"
    else:
        dense = np.asarray(matrix, dtype=np.float64)
        if dense.ndim == 1:
            dense = dense[:, np.newaxis]
        if dense.ndim != 2:
            raise ValueError(f"an array of {dense.ndim} dimensions is no matrix")
        values = dense
        lines = (repr(float(x)) for x in dense.T.ravel())
        head = f"array real general\n{dense.shape[0]} {dense.shape[1]}"
    if np.isnan(np.asarray(values)).any():
        raise ValueError("a matrix has a NaN")
    with open(path, "w", encoding="ascii") as file:
        file.write(f"%%MatrixMarket matrix {head}\n")
        for line in lines:
            file.write(line + "\n")


def read_matrix(path: PathLike) -> Array:
    """Read a Matrix Market file of real numbers into a dense array
    [rows, columns]: what `ode-mlcp solve` and `run --dump` write. An entry of
    a coordinate file that is missing is 0.

    Raises OSError, ValueError."""
    with open(path, encoding="ascii") as file:
        kind = file.readline().split()
        if len(kind) != 5 or kind[0] != "%%MatrixMarket":
            raise ValueError(f"{path}: not in Matrix Market format")
        line = file.readline()
        while line.startswith("%"):
            line = file.readline()
        size = [int(word) for word in line.split()]
        values = np.array(file.read().split(), dtype=np.float64)
    symmetric = {"general": 0, "symmetric": 1, "skew-symmetric": -1}[kind[4]]
    if kind[2] == "array":
        if symmetric != 0:
            raise ValueError(f"{path}: symmetric arrays are not read")
        return values.reshape(size[1], size[0]).T
    matrix = np.zeros(size[:2])
    entries = values.reshape(size[2], 3)
    rows, columns = entries[:, 0].astype(int) - 1, entries[:, 1].astype(int) - 1
    np.add.at(matrix, (rows, columns), entries[:, 2])
    if symmetric != 0:
        apart = rows != columns
        np.add.at(matrix, (columns[apart], rows[apart]),
                  symmetric * entries[apart, 2])
    return matrix


def solve(M: Any, q: Any, **options: Any) -> Solution:
    """Solve w = M z + q >= 0, z >= 0, z.w = 0, verified on M and q as given.

    M         [n, n] a scipy sparse matrix or an array
    q         [n]
    options   of `ode-mlcp solve`: solver="lemke", tolerance=1e-12

    Returns a Solution whatever it came to: look at `solved`. Raises Error for
    input that the command refuses, ValueError for what is no matrix."""
    with tempfile.TemporaryDirectory(prefix="ode-mlcp-") as folder:
        files = [str(Path(folder, name)) for name in ("M.mtx", "q.mtx", "z.mtx")]
        _write_matrix(Path(files[0]), M)
        _write_matrix(Path(files[1]), q)
        done = _call(["solve", files[0], files[1], "--output", files[2],
                      "--json", *_options(options)], good=(0, 1))
        data = json.loads(done.stdout)
        residual = data["residual"]
        return Solution(read_matrix(files[2]).ravel(), data["status"],
                        float("nan") if residual is None else residual, data)


# ---- set-valued impacts ------------------------------------------------------


class _Problem(ctypes.Structure):
    _fields_ = [("n_velocities", ctypes.c_int), ("n_contacts", ctypes.c_int),
                ("n_tangents", ctypes.c_int)] + [
        (name, ctypes.POINTER(ctypes.c_double))
        for name in ("M", "Jn", "Jt", "mu", "v", "surface")]


class _Options(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t), ("seed", ctypes.c_uint64),
        ("samples", ctypes.c_uint64), ("first", ctypes.c_uint64),
        ("h", ctypes.c_double),
        ("steps", ctypes.c_int), ("tolerance", ctypes.c_double),
        ("epsilon", ctypes.c_double), ("select", ctypes.c_int),
        ("method", ctypes.c_int), ("threads", ctypes.c_int),
        ("draw", ctypes.c_void_p),
        ("draw_context", ctypes.c_void_p), ("interrupted", ctypes.c_void_p),
        ("progress", ctypes.c_void_p), ("run_context", ctypes.c_void_p)]


class _Set(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t), ("n_samples", ctypes.c_uint64),
        ("n_finished", ctypes.c_uint64), ("n_unfinished", ctypes.c_uint64),
        ("n_lcps", ctypes.c_uint64), ("n_fallbacks", ctypes.c_uint64),
        ("n_outcomes", ctypes.c_uint64), ("seconds", ctypes.c_double),
        ("n_threads", ctypes.c_int), ("n_velocities", ctypes.c_int),
        ("n_rows", ctypes.c_int), ("sample", ctypes.POINTER(ctypes.c_uint64)),
        ("lcps", ctypes.POINTER(ctypes.c_uint32)),
        ("v", ctypes.POINTER(ctypes.c_double)),
        ("contact_velocities", ctypes.POINTER(ctypes.c_double)),
        ("block", ctypes.c_void_p), ("block_size", ctypes.c_size_t),
        ("release", ctypes.c_void_p), ("release_context", ctypes.c_void_p),
        ("n_failed", ctypes.c_uint64), ("n_solutions", ctypes.c_uint64),
        ("n_incomplete", ctypes.c_uint64)]


@dataclass
class ImpactSet:
    """Outcomes of a simultaneous impact (docs/impacts.md)."""
    v: Array               # [outcomes, s] velocities after the impact
    contact_velocities: Array  # [outcomes, m, 1 + T] m/s: per contact its
                                    # normal speed, then its slips
    sample: Array          # [outcomes] which sample it came of
    lcps: Array            # [outcomes] solved on the way to it
    samples: int                # done
    unfinished: int             # still collided after all steps, or failed
    failed: int                 # of these: a step without a solution
    incomplete_lcps: int        # searches cut short: more may exist


_WORDS = {"select": ("first", "random"),
          "method": ("automatic", "modes", "path", "search")}
_ENDINGS = ("done", "still colliding after all steps", "interrupted",
            "bad input", "more contact modes than memory or a search allows",
            "memory ran out")


def _set_option(options: _Options, name: str, value: Any) -> None:
    numbers = ("seed", "samples", "first", "h", "steps", "tolerance", "epsilon",
               "threads")
    if name in _WORDS:
        if value not in _WORDS[name]:
            raise ValueError(f"{name}: {value!r} is none of "
                             f"{', '.join(_WORDS[name])}")
        value = _WORDS[name].index(value)
    elif name not in numbers:
        raise ValueError(f"{name}: no option of impact; there are "
                         f"{', '.join((*numbers, *_WORDS))}")
    setattr(options, name, value)


def impact(M: Any, Jn: Any, Jt: Any, mu: Any, v: Any, **options: Any) -> ImpactSet:
    """Sample what may happen where several contacts strike at once.

    M        [s, s] mass matrix, symmetric positive definite
    Jn       [m, s] a contact's row gives its separating speed, m/s
    Jt       [m T, s] its slips; T = 1 (planar) or 2
    mu       [m] friction coefficients; inf: without limit
    v        [s] before the impact
    options  seed, samples, first, h, steps, tolerance, epsilon, threads,
             select="first", "random"; method="automatic", "modes", "path",
             "search"

    The same arguments give the same bits, on any number of threads. Raises
    ValueError for arrays whose shapes do not fit, Error for what the library
    refuses, with its reason."""
    arrays = [np.ascontiguousarray(np.atleast_1d(x), dtype=np.float64)
              for x in (M, Jn, Jt, mu, v)]
    n, m = arrays[4].size, arrays[3].size
    arrays[1], arrays[2] = np.atleast_2d(arrays[1]), np.atleast_2d(arrays[2])
    n_tangents = arrays[2].shape[0] // m if m else 0
    for name, array, shape in zip(
            ("M", "Jn", "Jt"), arrays,
            ((n, n), (m, n), (n_tangents * m, n))):
        if array.shape != shape:
            raise ValueError(f"{name} is {array.shape}, expected {shape} for "
                             f"{n} velocities and {m} contacts")
    pointers = [a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in arrays]
    problem = _Problem(n, m, n_tangents, *pointers, None)
    library = _library()
    message = ctypes.create_string_buffer(512)
    handle = ctypes.c_void_p()

    def check(status: int) -> None:
        if status != 0:
            raise Error(message.value.decode("utf-8", "replace") or
                        _ENDINGS[status])

    chosen = _Options()
    library.ode_mlcp_impact_default_options_sized(
        ctypes.byref(chosen), ctypes.c_size_t(ctypes.sizeof(chosen)))
    for name, value in options.items():
        _set_option(chosen, name, value)
    check(library.ode_mlcp_impact_create(
        ctypes.byref(problem), ctypes.byref(handle), message,
        ctypes.c_size_t(len(message))))
    outcomes = _Set()
    try:
        check(library.ode_mlcp_impact_approximate_sized(
            handle, ctypes.byref(chosen), ctypes.byref(outcomes),
            ctypes.c_size_t(ctypes.sizeof(outcomes))))
        return _take_set(outcomes, m, n_tangents)
    finally:
        library.ode_mlcp_impact_set_release(ctypes.byref(outcomes))
        library.ode_mlcp_impact_destroy(handle)


def _take_set(outcomes: _Set, m: int, n_tangents: int) -> ImpactSet:
    count = outcomes.n_outcomes

    def taken(pointer: Any, shape: Sequence[int], kind: Any) -> Array:
        if count == 0:
            return np.empty(shape, dtype=kind)
        return np.ctypeslib.as_array(pointer, shape=tuple(shape)).copy()

    return ImpactSet(
        taken(outcomes.v, (count, outcomes.n_velocities), np.float64),
        taken(outcomes.contact_velocities, (count, m, 1 + n_tangents),
              np.float64),
        taken(outcomes.sample, (count,), np.uint64),
        taken(outcomes.lcps, (count,), np.uint32),
        outcomes.n_samples, outcomes.n_unfinished, outcomes.n_failed,
        outcomes.n_incomplete)


def read_outcomes(*files: PathLike) -> Array:
    """Read tables of `ode-mlcp impact --csv`: one, or those of ranges of one set
    (`--range A:B`), which together are what one run of them all has.

    Returns a structured array [outcomes] with the columns sample, lcps, the contact
    velocities (vnA, vtA ..; m/s) and v1 .., by sample. Raises OSError, ValueError
    for files of different sets or a sample that is in two."""
    tables, sets = [], set()
    for path in files:
        with open(path, encoding="utf-8") as file:
            head = [line for line in (next(file, "") for _ in range(8))
                    if line.startswith(("# example", "# data", "# seed"))]
        # which samples of it the file has is no part of what the set is
        sets.add(re.sub("first [0-9]+ |samples [0-9]+ ", "", "".join(head)))
        tables.append(read_trace(path))
    if len(sets) != 1:
        raise ValueError("no file" if not sets else
                         "the files are of different sets: example, data, seed or "
                         "settings differ")
    outcomes = np.concatenate(tables)
    outcomes = outcomes[np.argsort(outcomes["sample"], kind="stable")]
    shared = set(tables[0]["sample"])
    for table in tables[1:]:
        twice = shared.intersection(table["sample"])
        if twice:
            raise ValueError(f"sample {min(twice)} is in two files")
        shared.update(table["sample"])
    return outcomes


def share_seen(outcomes: Array) -> float:
    """How much of the outcomes' distribution was seen, by Good and Turing: one less
    the share of those that are alone in their cell, where each contact velocity's
    extent is cut into 32. NaN where there is none."""
    names = [n for n in outcomes.dtype.names or () if n[:2] in ("vn", "vt")]
    if not len(outcomes):
        return float("nan")
    values = np.stack([outcomes[name].astype(float) for name in names], axis=1)
    low, wide = values.min(axis=0), np.ptp(values, axis=0)
    cells = np.minimum((values - low) / np.where(wide > 0, wide, 1) * 32, 31)
    counts = np.unique(cells.astype(int), axis=0, return_counts=True)[1]
    return 1 - np.count_nonzero(counts == 1) / len(outcomes)


# ---- pictures ----------------------------------------------------------------


def plot(report: Report, column: str = "contact_error_m_s", axes: Any = None,
         log: bool = True) -> Any:
    """Draw a column of each stepper's rows over time with matplotlib.

    Returns the axes, which are made where none are given."""
    if axes is None:
        import matplotlib.pyplot as pyplot
        axes = pyplot.subplots(figsize=(7, 4))[1]
    for name, stepper in report.steppers.items():
        rows = stepper.rows
        values = np.abs(rows[column]) if log else rows[column]
        axes.plot(rows["time_s"], values, label=name)
    if log:
        axes.set_yscale("log")
    unit = unit_of(column)
    axes.set_xlabel("time (s)")
    axes.set_ylabel(f"{column} ({unit})" if unit else column)
    axes.legend()
    return axes


def _main(words: List[str]) -> int:
    if words[:1] != ["plot"]:
        print("usage: python3 -m ode_mlcp plot FILE... [--output PICTURE]; "
              "more: plot --help", file=sys.stderr)
        return 0 if words == ["--help"] else 2
    try:
        import ode_mlcp_plot
        return ode_mlcp_plot.main(words[1:])
    except Error as error:
        print(f"ode_mlcp: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.modules["ode_mlcp"] = sys.modules["__main__"]  # not a second one
    sys.exit(_main(sys.argv[1:]))
