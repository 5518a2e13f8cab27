#!/usr/bin/env python3
"""Put ranges of an impact's set together: merge.py PART.csv... prints one JSON object

    outcomes, share_seen   of all of them
    extents, histograms    of every contact velocity, m/s: lowest and highest, and
                           counts in 64 equal bins between

The parts are tables of `ode-mlcp impact --range A:B --csv`; in what order they come and
where they were cut changes nothing."""
import json
import sys

import numpy as np
import ode_mlcp


def merge(files):
    """The outcomes of all parts, by sample, and what main prints of them."""
    outcomes = ode_mlcp.read_outcomes(*files)
    names = [n for n in outcomes.dtype.names if n[:2] in ("vn", "vt")]
    said = {"outcomes": len(outcomes),
            "share_seen": float(ode_mlcp.share_seen(outcomes)),
            "extents": {}, "histograms": {}}
    for name in names if len(outcomes) else ():
        values = outcomes[name]
        said["extents"][name] = [float(values.min()), float(values.max())]
        said["histograms"][name] = np.histogram(values, 64)[0].tolist()
    return outcomes, said


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: merge.py PART.csv...")
    json.dump(merge(sys.argv[1:])[1], sys.stdout, indent=1)
    print()
