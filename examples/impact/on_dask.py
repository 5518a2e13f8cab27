#!/usr/bin/env python3
"""An impact's set on the workers of a Dask cluster, merged here.

    on_dask.py NAME|FOLDER SAMPLES OUT [SCHEDULER]

Each worker runs `ode-mlcp impact` (found by its PATH, or by ODE_MLCP_COMMAND) on ranges of
the samples; their tables come to the folder OUT as part-FIRST.csv, and OUT/set.json has
what merge.py says of all. SCHEDULER is an address as tcp://host:8786; without it two
workers are started on this machine. A folder must lie where workers see it. A range whose
worker is lost is done by another: it is the same to the byte."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from distributed import Client, LocalCluster, as_completed

from merge import merge

RANGE = 5000  # samples at a time


def sample(name, first, end):
    """On a worker: the table of one range, as text."""
    command = os.environ.get("ODE_MLCP_COMMAND", "ode-mlcp")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "part.csv")
        done = subprocess.run(
            [command, "impact", name, "--range", f"{first}:{end}", "--threads", "1",
             "--csv", str(table)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True, check=False)
        if done.returncode == 2 or not table.exists():  # 1: some samples unfinished
            raise RuntimeError(done.stderr)
        return first, table.read_text()


def main(name, samples, out, scheduler=None):
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    if Path(name).is_dir():
        name = str(Path(name).resolve())
    firsts = range(0, samples, RANGE)
    ends = [min(first + RANGE, samples) for first in firsts]
    where = scheduler or LocalCluster(n_workers=2, threads_per_worker=1,
                                      dashboard_address=None)
    parts = []
    with Client(where) as client:
        for future in as_completed(
                client.map(sample, [name] * len(ends), firsts, ends)):
            first, table = future.result()
            parts.append(out / f"part-{first}.csv")
            parts[-1].write_text(table)
    if not scheduler:
        where.close()
    Path(out, "set.json").write_text(json.dumps(merge(parts)[1], indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit("usage: on_dask.py NAME|FOLDER SAMPLES OUT [SCHEDULER]")
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
