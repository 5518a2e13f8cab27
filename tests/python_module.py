"""Tests of python/ode_mlcp.py, for tests/test_python_module.sh: argv[1] is a
program that steps a world, argv[2] demos/play/play. Ends with `N passed, N failed`."""
import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import ode_mlcp

PROGRAM, PLAY = sys.argv.pop(1), sys.argv.pop(1)


class Running(unittest.TestCase):
    def test_run_has_stats_and_trace(self):
        run = ode_mlcp.run([PROGRAM, "touch", "40"], scheme="ah", sweep=False)
        self.assertEqual(run.status, 0)
        self.assertEqual(run.stats["steps"], 40)
        self.assertEqual(run.stats["sweep"], "off")
        self.assertEqual(len(run.trace), 40)
        self.assertEqual(run.trace["step"].dtype, np.int64)
        self.assertTrue(np.all(np.diff(run.trace["time_s"]) > 0))

    def test_refusals_are_errors(self):
        with self.assertRaises(ode_mlcp.Error) as caught:
            ode_mlcp.run([PROGRAM], scheme="euler")
        self.assertEqual(caught.exception.status, 2)
        self.assertIn("euler", str(caught.exception))
        with self.assertRaises(ValueError):
            ode_mlcp.run([])

    def test_units(self):
        self.assertEqual(ode_mlcp.unit_of("contact_error_m_s"), "m/s")
        self.assertEqual(ode_mlcp.unit_of("momentum_unexplained_N_s"), "N s")
        self.assertEqual(ode_mlcp.unit_of("kinetic_energy_J"), "J")
        self.assertEqual(ode_mlcp.unit_of("ms_step_median"), "ms")
        self.assertEqual(ode_mlcp.unit_of("contacts"), "")

    def test_spoilt_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "t.csv")
            path.write_text("a,b\n1,2\n3\n")
            with self.assertRaisesRegex(ValueError, ":3:"):
                ode_mlcp.read_trace(path)


class Comparing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.report = ode_mlcp.compare([PROGRAM, "touch", "30"], ["quick", "ah"],
                                      output=Path(cls.folder.name, "report"))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_figures_follow_from_rows(self):
        for name in ("quick", "ah"):
            stepper = self.report[name]
            self.assertEqual(stepper["steps"], 30)
            worst = stepper.rows["contact_error_m_s"].max()
            self.assertAlmostEqual(stepper["contact_error_worst"], worst,
                                   delta=1e-6 * worst)
        self.assertTrue(self.report.page.is_file())
        self.assertTrue(self.report.headline)

    def test_recording_is_what_happened(self):
        recording = self.report["ah"].recording
        self.assertEqual(recording.stepper, "ah")
        times, places = recording.positions()
        self.assertEqual(places.shape[0], len(times))
        self.assertEqual(len(recording.frames), 30)
        # the kinetic energy of the poses is that of the rows
        frame, row = recording.frames[-1], self.report["ah"].rows[-1]
        masses = [recording.masses[1][b] for b in frame.bodies["body"]]
        linear = 0.5 * np.dot(masses, (frame.bodies["velocity"]**2).sum(axis=1))
        self.assertLessEqual(linear, row["kinetic_J"] * (1 + 1e-5) + 1e-12)
        self.assertEqual(len(frame.contacts), row["contacts"])

    def test_a_file_that_is_no_recording(self):
        with self.assertRaises(ValueError):
            ode_mlcp.read_recording(self.report.folder / "report.json")

    def test_plot(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("no matplotlib")
        matplotlib.use("Agg")
        axes = ode_mlcp.plot(self.report, "kinetic_J", log=False)
        self.assertEqual(len(axes.lines), 2)
        self.assertIn("(J)", axes.get_ylabel())


def rotation(q):
    w, x, y, z = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


class Figures(unittest.TestCase):
    """Figures of report.json worked out anew, from poses and shapes alone."""

    def check_program(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            report = ode_mlcp.compare([PLAY, *arguments], ["quick", "ah"],
                                      output=Path(folder, "report"),
                                      no_repeat=None)
            first = report["quick"].recording
            for name in ("quick", "ah"):
                self.check_run(report[name], first)

    def check_run(self, stepper, first):
        recording, rows = stepper.recording, stepper.rows
        self.assertEqual(len(recording.frames), stepper["steps"])
        boxes = {shape.body: shape.sizes[:3] for shape in recording.shapes
                 if shape.kind == "box" and shape.body != 0}
        self.assertEqual(set(boxes), set(recording.masses[1]))
        for frame, row in list(zip(recording.frames, rows))[::7]:
            kinetic = 0.0
            for body in frame.bodies:
                mass = recording.masses[1][body["body"]]
                squares = boxes[body["body"]].astype(float)**2
                inertia = mass / 12 * (squares.sum() - squares)
                R = rotation(body["quaternion"].astype(float))
                own = R.T @ body["angular"]
                kinetic += 0.5 * (mass * body["velocity"] @ body["velocity"] +
                                  own @ (inertia * own))
            self.assertAlmostEqual(kinetic, row["kinetic_J"],
                                   delta=1e-5 * row["kinetic_J"] + 1e-9)
        frames = recording.frames[-(-len(recording.frames) // -10):]
        fastest = sorted(np.linalg.norm(frame.bodies["velocity"], axis=1).max()
                         for frame in frames)
        self.assertAlmostEqual(fastest[(len(fastest) - 1) // 2], stepper["unrest"],
                               delta=1e-6 * fastest[-1] + 1e-12)
        deepest = max(frame.contacts["depth"].max(initial=0)
                      for frame in recording.frames)
        self.assertAlmostEqual(deepest, stepper["penetration_worst"],
                               delta=1e-6 * deepest + 1e-12)
        # a tenth of the median body's largest extent from the first run
        size = np.median([sizes.max() for sizes in boxes.values()])
        times, here = recording.positions()
        there = first.positions()[1]
        n = min(len(here), len(there))
        apart = np.linalg.norm(here[:n] - there[:n], axis=2).max(axis=1)
        parts = np.flatnonzero(apart > 0.1 * size)
        if len(parts) == 0:
            self.assertIsNone(stepper["parted"])
        else:
            self.assertAlmostEqual(stepper["parted"], times[parts[0]], places=9)

    def test_slide(self):
        self.check_program("slide", "30", "--seconds", "1")

    def test_wall(self):
        self.check_program("wall", "4", "--seconds", "1")

    def test_bricks(self):
        self.check_program("bricks", "4", "--seconds", "1")


class Solving(unittest.TestCase):
    def test_answers_meet_the_conditions(self):
        rng = np.random.default_rng(7)
        for n in (1, 2, 5, 12):
            root = rng.standard_normal((n, n))
            M, q = root @ root.T + 0.1 * np.eye(n), rng.standard_normal(n)
            solution = ode_mlcp.solve(M, q)
            self.assertTrue(solution.solved)
            w = M @ solution.z + q
            self.assertLess(np.abs(np.minimum(solution.z, w)).max(), 1e-9)
            spoilt = np.minimum(solution.z + 0.1, M @ (solution.z + 0.1) + q)
            self.assertGreater(np.abs(spoilt).max(), 1e-3)

    def test_sparse_matrices_are_the_same(self):
        try:
            import scipy.sparse as sparse
        except ImportError:
            self.skipTest("no scipy")
        M = np.diag([2.0, 3.0, 4.0])
        M[0, 2] = 1
        q = np.array([-1.0, 2.0, -8.0])
        dense, thin = ode_mlcp.solve(M, q), ode_mlcp.solve(sparse.csr_matrix(M), q)
        np.testing.assert_array_equal(dense.z, thin.z)

    def test_no_solution_and_no_matrix(self):
        self.assertEqual(ode_mlcp.solve([[-1.0]], [-1.0]).status, "infeasible")
        with self.assertRaises(ValueError):
            ode_mlcp.solve([[np.nan]], [1])
        with self.assertRaises(ode_mlcp.Error):
            ode_mlcp.solve(np.eye(2), [1, 2, 3])


class Impacts(unittest.TestCase):
    # a rod of length 1 and moment of inertia 1/12 that falls flat on two feet
    M = np.diag([1, 1, 1 / 12])
    Jn = np.array([[0, 1, -0.5], [0, 1, 0.5]])
    Jt = np.array([[1, 0, 0.0], [1, 0, 0.0]])
    v = np.array([0.2, -1.0, 0.0])

    def test_outcomes_keep_the_law(self):
        found = ode_mlcp.impact(self.M, self.Jn, self.Jt, [0.5, 0.5], self.v,
                                samples=300, seed=3)
        self.assertEqual(found.samples, 300)
        self.assertEqual(found.contact_velocities.shape[1:], (2, 2))
        self.assertGreaterEqual(found.contact_velocities[:, :, 0].min(), -1e-8)
        energy = 0.5 * np.einsum("ki,ij,kj->k", found.v, self.M, found.v)
        self.assertLessEqual(energy.max(), 0.5 * self.v @ self.M @ self.v)
        np.testing.assert_allclose(found.v @ self.Jn.T,
                                   found.contact_velocities[:, :, 0], atol=1e-12)

    def test_same_seed_same_bits_on_threads(self):
        one, two = (ode_mlcp.impact(self.M, self.Jn, self.Jt, [1, 1], self.v,
                                    samples=200, threads=t) for t in (1, 2))
        np.testing.assert_array_equal(one.v, two.v)

    def test_bad_input_is_named(self):
        with self.assertRaisesRegex(ode_mlcp.Error, "M"):
            ode_mlcp.impact(-self.M, self.Jn, self.Jt, [1, 1], self.v)
        with self.assertRaisesRegex(ValueError, "Jn"):
            ode_mlcp.impact(self.M, self.Jn[:1], self.Jt, [1, 1], self.v)
        with self.assertRaisesRegex(ValueError, "select"):
            ode_mlcp.impact(self.M, self.Jn, self.Jt, [1, 1], self.v, select="x")

    def test_ranges_make_up_the_whole(self):
        whole, *parts = (
            ode_mlcp.impact(self.M, self.Jn, self.Jt, [1, 1], self.v, first=a,
                            samples=n) for a, n in ((0, 90), (0, 7), (7, 83)))
        np.testing.assert_array_equal(
            whole.v, np.concatenate([part.v for part in parts]))


    def test_ranges_merge_to_one_run(self):
        with tempfile.TemporaryDirectory() as folder:
            def sample(name, *options):
                path = Path(folder, name)
                done = ode_mlcp._call(["impact", "compass-gait", "--csv", str(path),
                                       "--json", *options])
                return path, json.loads(done.stdout)

            whole, told = sample("whole", "--samples", "300")
            late, _ = sample("late", "--range", "120:300")
            early, _ = sample("early", "--range", "0:120")
            other, _ = sample("other", "--samples", "9", "--seed", "2")
            merged = ode_mlcp.read_outcomes(late, early)
            np.testing.assert_array_equal(merged, ode_mlcp.read_outcomes(whole))
            cells = collections.Counter(zip(*(
                [min(31, int((x - min(row)) / (max(row) - min(row) or 1) * 32))
                 for x in row.tolist()]
                for row in (merged[name] for name in told["means"]))))
            alone = list(cells.values()).count(1)
            self.assertEqual(ode_mlcp.share_seen(merged), 1 - alone / len(merged))
            with self.assertRaisesRegex(ValueError, "different sets"):
                ode_mlcp.read_outcomes(whole, other)
            with self.assertRaisesRegex(ValueError, "sample 120 is in two"):
                ode_mlcp.read_outcomes(whole, late)


def plot(*words):
    """`python3 -m ode_mlcp plot`: its status and what it said."""
    done = subprocess.run([sys.executable, "-m", "ode_mlcp", "plot", *words],
                          capture_output=True, text=True)
    return done.returncode, done.stderr


class Drawing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            global ode_mlcp_plot
            import ode_mlcp_plot
        except ode_mlcp.Error as error:
            raise unittest.SkipTest(str(error))

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def table(self, name, text):
        path = Path(self.folder.name, name)
        path.write_text(text)
        return str(path)

    def test_curves_are_the_table(self):
        path = self.table("a.csv", "step,time_s,contacts,residual\n1,0.1,4,0\n"
                          "2,0.2,5,1e-3\n3,0.3,6,nan\n")
        figure = ode_mlcp_plot.plot_file(path)
        contacts, residual = figure.axes
        np.testing.assert_array_equal(contacts.lines[0].get_xydata(),
                                      [[0.1, 4], [0.2, 5], [0.3, 6]])
        # what is rounding is drawn at the foot
        np.testing.assert_array_equal(residual.lines[0].get_ydata()[:2],
                                      [1e-10, 1e-3])
        self.assertEqual(residual.get_yscale(), "log")
        self.assertEqual(contacts.get_xlabel(), "time (s)")
        figure = ode_mlcp_plot.plot_file(path, path, columns=["contacts"],
                                         span=(0.15, 0.25))
        self.assertEqual([len(line.get_xdata()) for line in figure.axes[0].lines],
                         [1, 1])

    def test_scene_and_sweep(self):
        run, sweep = (str(Path(self.folder.name, n)) for n in ("run.csv", "h.csv"))
        ode_mlcp._call(["scene", "double-pendulum", "--time", "0.1", "--csv", run])
        ode_mlcp._call(["scene", "pendulum", "--time", "0.1", "--converge", "--csv",
                        sweep])
        figure = ode_mlcp_plot.plot_file(run)
        table = ode_mlcp.read_trace(run)
        places, speeds, energy, infeasibility = figure.axes
        for axes, names in ((places, ["x1", "y1"]), (speeds, ["v_x1", "v_y1"]),
                            (energy, ["energy"])):
            for line, name in zip(axes.lines, names, strict=True):
                np.testing.assert_array_equal(line.get_ydata(), table[name])
        errors = ode_mlcp_plot.plot_file(sweep).axes[0]
        np.testing.assert_array_equal(errors.lines[0].get_ydata(),
                                      ode_mlcp.read_trace(sweep)["position"])

    def test_outcomes_in_a_plane(self):
        points = np.array([(0, 1, 0, 0), (1, 1, 1, 1), (2, 1, 1, 1)], dtype=[
            (name, float) for name in ("sample", "lcps", "vnA", "vtA")])
        ways = np.array([(0, 0, -1, 0), (0, 1, 0, 0)], dtype=points.dtype)
        told = {"simultaneous": [{"vnA": 0.5, "vtA": 0}]}
        axes = ode_mlcp_plot.draw_impacts(points, told, ways, [("vtA", "vnA")]).axes[0]
        image = axes.images[0].get_array()
        left, right, low, high = axes.images[0].get_extent()

        def colour(x, y):
            return image[int((y - low) / (high - low) * 132),
                         int((x - left) / (right - left) * 150), :3]

        one, two, passed, nothing = (colour(*at) for at in (
            (0, 0), (1, 1), (0, -0.5), (0.5, 0.2)))
        self.assertGreater(one.sum(), two.sum())      # two are darker than one
        self.assertEqual(len(set(passed)), 1)         # grey
        self.assertLess(passed[0], 1)
        np.testing.assert_array_equal(nothing, [1, 1, 1])
        law = [line for line in axes.lines if line.get_label() == "at once"][0]
        np.testing.assert_array_equal(law.get_xydata(), [[0, 0.5]])
        # what is rounding is not blown up
        points["vtA"] = [0, 1e-12, 2e-12]
        axes = ode_mlcp_plot.draw_impacts(points, planes=[("vtA", "vnA")]).axes[0]
        self.assertGreater(np.ptp(axes.get_xlim()), 1e-3)

    def test_files_by_their_names(self):
        path = self.table("a.csv", "t,a\n0,1\n1,2\n")
        for name, start in (("p.png", b"\x89PNG"), ("p.svg", b"<?xml"),
                            ("p.pdf", b"%PDF")):
            output = Path(self.folder.name, name)
            self.assertEqual(plot(path, "--output", str(output)), (0, ""))
            drawn = output.read_bytes()
            self.assertTrue(drawn.startswith(start))
            plot(path, "--output", str(output))
            self.assertEqual(output.read_bytes(), drawn)  # the same bytes again

    def test_refusals(self):
        table = self.table("a.csv", "time_s,contacts\n0,1\n")
        zero = self.table("zero.csv", "time_s,contacts\n0,0\n")
        short = self.table("short.csv", "time_s,contacts\n0\n")
        outcomes = self.table("o.csv", "# example a\nsample,lcps,vnA,vtA\n0,1,0,0\n")
        for words, pattern in (
                (["none.csv"], "none.csv"), ([short], "short.csv:2: 1 values"),
                ([zero], "nothing to draw"), ([table, "--output", "a.gif"], "a.gif"),
                ([table, "--output", "/no/such/a.png"], "/no/such/a.png"),
                ([table, "--columns", "mass"], "no file has a column 'mass'"),
                ([outcomes, "--planes", "vnA:vnB"], "'vnA:vnB' is no plane"),
                ([outcomes, "--planes", "vnA"], "'vnA' is no plane")):
            status, said = plot(*words)
            self.assertEqual(status, 2, words)
            self.assertIn(pattern, said.splitlines()[-1])
            self.assertNotIn("Traceback", said)


class Missing(unittest.TestCase):
    def test_no_numpy_is_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            for module in ("numpy", "matplotlib"):
                Path(folder, f"{module}.py").write_text("raise ImportError('none')")
                path = os.environ["PYTHONPATH"]
                done = subprocess.run(
                    [sys.executable, "-m", "ode_mlcp", "plot", "a.csv"], text=True,
                    capture_output=True, env={**os.environ, "PYTHONPATH":
                                              f"{folder}:{path}"})
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(done.stderr.count("\n"), 1)
                self.assertIn(f"apt install python3-{module}", done.stderr)
                Path(folder, f"{module}.py").unlink()

    def test_no_command_is_said(self):
        named = os.environ["ODE_MLCP_COMMAND"]
        os.environ["ODE_MLCP_COMMAND"] = "/no/such/command"
        try:
            with self.assertRaises(OSError):
                ode_mlcp.solve([[1.0]], [1.0])
        finally:
            os.environ["ODE_MLCP_COMMAND"] = named


if __name__ == "__main__":
    ran = unittest.main(exit=False).result
    bad = len(ran.failures) + len(ran.errors)
    sys.stderr.flush()
    print(f"{ran.testsRun - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)
