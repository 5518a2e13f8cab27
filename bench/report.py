"""bench.tsv as bench.png: growth of the walls, and time against accuracy.

    report.py BENCH.TSV BENCH.PNG
"""
import csv
import math
import sys

from matplotlib.figure import Figure

ACCURACY = {"fast": "o", "lemke": ".", "Siconos Lemke": "s", "Siconos NSGS": "D",
            "Bullet Lemke": "^", "Bullet Dantzig": "v", "dWorldStep": "P",
            "QuickStep-20": "x", "QuickStep-many": "+"}

with open(sys.argv[1], encoding="utf-8") as file:
    rows = [row for row in csv.reader(file, delimiter="\t")][1:]
rows = [row for row in rows if row[6] != "nan"]  # median, s

figure = Figure(figsize=(13, 5.6), constrained_layout=True)
growth, accuracy = figure.subplots(1, 2)
for method, name, style in (("fast", "ode-mlcp", "o-"),
                            ("QuickStep-20", "QuickStep, 20 sweeps", "s--")):
    for part in ("first", "later"):
        points = [(float(row[4]), 1e3 * float(row[6])) for row in rows
                  if row[0] == f"growth-{part}" and row[2] == method
                  and row[12] == "0"]
        growth.plot(*zip(*points or [(math.nan, math.nan)]), style, ms=4,
                    label=f"{name}, {part} step")
growth.set(xlabel="contacts", ylabel="ms", title="Walls: whole step")
for method, marker in ACCURACY.items():
    # rounding counts as 1e-17
    points = [(1e3 * float(row[6]), max(float(row[9]), 1e-17)) for row in rows
              if row[0] not in ("runs", "families") and row[2] == method
              and float(row[6]) > 0 and row[9] != "nan"]
    accuracy.plot(*zip(*points or [(math.nan, math.nan)]), marker, ms=4,
                  label=method)
accuracy.axhline(1e-10, ls=":", color="black")
accuracy.set(xlabel="ms", ylabel="relative residual",
             title="The problem library: time against residual")
for axes in (growth, accuracy):
    axes.set(xscale="log", yscale="log")
    axes.grid(color="#dddddd")
    axes.legend(fontsize="small")
figure.savefig(sys.argv[2], dpi=100)
