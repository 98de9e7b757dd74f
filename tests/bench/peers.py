"""Mean and variance beside the public packages that compute with intervals, on the same data: widths and times.

The peers (pyuncertainnumber, pba, intvalpy) have interval arithmetic. None has a variance of interval data, so it is
written with what they offer, as mean((x - mean)^2) and as mean(x^2) - mean^2; both contain the truth, and the peer gets
the narrower. They are installed into a temporary environment, each measured in a process of its own there. Times are
the least of five, as for ours.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from querygate import stats
from tests.report import row

SIZES = (300, 3_000)
INSTALL_S, RUN_S = 600, 300
PEERS: dict[str, tuple[list[str], str]] = {
    "pyuncertainnumber": (
        ["pyuncertainnumber"],
        """
from pyuncertainnumber.pba.intervals.number import Interval
from pyuncertainnumber.pba.intervals.intervalOperators import mean
make = Interval
ends = lambda x: (float(x.lo), float(x.hi))
""",
    ),
    "pba": (
        ["pba"],
        """
import pba
make = lambda low, high: np.array([pba.I(a, b) for a, b in zip(low, high)], dtype=object)
mean = lambda x: sum(x[1:], x[0]) / len(x)
ends = lambda x: (float(x.left), float(x.right))
""",
    ),
    "intvalpy": (
        ["intvalpy", "mpmath"],
        """
import intvalpy
make = intvalpy.Interval
mean = lambda x: sum(x) / len(x)
ends = lambda x: (float(x.a), float(x.b))
""",
    ),
}
"""Packages to install, and the three functions that differ."""

SCRIPT = """
import json, sys, time, warnings
warnings.filterwarnings("ignore")
import numpy as np
{adapter}
low, high = (np.array(ends) for ends in json.load(sys.stdin))
x = make(low, high)
mean_s, var_s = [], []
for _ in range(5):
    began = time.process_time()
    m = mean(x)
    mean_s.append(time.process_time() - began)
    first = ends(mean((x - m) ** 2))
    var_s.append(time.process_time() - began)
second = ends(mean(x * x) - m * m)
variance = max(first[0], second[0], 0.0), min(first[1], second[1])
print(json.dumps({{"mean": [*ends(m), min(mean_s)], "var": [*variance, min(var_s)]}}))
"""


def make_data(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Blood pressures in intervals of about ten."""
    random = np.random.default_rng(5)
    low = random.normal(120.0, 18.0, size).round(1)
    return low, low + random.exponential(10.0, size).round(1)


def ours(low: np.ndarray, high: np.ndarray) -> dict[str, list[float]]:
    """Ends and CPU seconds, the reading of the input included; the least of five."""
    found = {}
    for name, function in (("mean", stats.mean), ("var", stats.var)):
        seconds = math.inf
        for _ in range(5):
            began = time.process_time()
            enclosure = function(low, high)
            seconds = min(seconds, time.process_time() - began)
        found[name] = [enclosure.low, enclosure.high, seconds]
    return found


def run() -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        for name, (packages, adapter) in PEERS.items():
            missing = install(python, packages)
            if missing:
                rows.append(row(f"peer {name}", math.nan, "", f"cannot be installed here: {missing}"))
                continue
            for size in SIZES:
                rows += _compare(name, python, adapter, size)
    return rows


def install(python: Path, packages: list[str]) -> str:
    """The last line of what went wrong, or nothing."""
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S)
    except subprocess.TimeoutExpired:
        return f"not within {INSTALL_S} s"
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no reason given"])[-1]


def _compare(name: str, python: Path, adapter: str, size: int) -> list[dict[str, Any]]:
    low, high = make_data(size)
    given = json.dumps([low.tolist(), high.tolist()])
    command = [str(python), "-c", SCRIPT.format(adapter=adapter)]
    try:
        done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=RUN_S)
    except subprocess.TimeoutExpired:
        return [row(f"peer {name}, {size} intervals", math.nan, "", f"no answer within {RUN_S} s")]
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        return [row(f"peer {name}, {size} intervals", math.nan, "", f"does not run here: {reason}")]
    theirs, mine, rows = json.loads(done.stdout), ours(low, high), []
    for statistic in ("mean", "var"):
        (a, b, seconds), (c, d, my_seconds) = theirs[statistic], mine[statistic]
        label = f"{statistic} of {size} intervals"
        # Ends are rounded outwards here, so a mean that is sharp on both sides may differ in the last digits.
        width = f"{name} {b - a:.6g}"
        rows.append(row(f"{label}: width", d - c, "", width, ratio=(d - c) / (b - a), target=1.0 + 1e-9))
        rows.append(
            row(
                f"{label}: time",
                1000 * my_seconds,
                "CPU ms",
                f"{name} {1000 * seconds:.3g} ms",
                ratio=my_seconds / seconds,
            )
        )
    return rows
