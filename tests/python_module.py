"""Tests of python/ode_mlcp.py, for tests/test_python_module.sh: argv[1] is a
program that steps a world, argv[2] demos/play/play. Ends with `N passed, N failed`."""
import os
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
        last = recording.frames[-1]
        speeds = np.linalg.norm(last.bodies["velocity"], axis=1)
        self.assertAlmostEqual(speeds.max(), stepper["fastest_end"],
                               delta=1e-6 * speeds.max() + 1e-12)
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


class Missing(unittest.TestCase):
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
