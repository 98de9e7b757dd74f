"""Adult beside anjana, and before pycanon as an outside judge.

Both are installed into a temporary environment and run in a process of their own there. anjana generalises whole
columns level by level, by hierarchies: here groups of 2, 4, 8, ... values in order of frequency, and ages in bands of
5, 10, 20, ... years. It may suppress 20 % of the records, the setting with its least loss among 0, 5 and 20; a
suppressed record has lost everything. pycanon groups what an outsider sees, the texts of the boxes, and measures every
model that it knows, with the salary class as the sensitive attribute.
"""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from querygate.methods.anonymise import (
    Alpha,
    Closeness,
    Distinct,
    Guard,
    Intervals,
    Sensitive,
    Table,
    boxes,
    ncp,
    partition_check,
)
from querygate.methods.anonymise.division.snake import snake
from tests.bench.adult import PUBLIC, QUASI_IDENTIFIERS, SENSITIVE, TIERS, adult_columns, adult_records, output
from tests.bench.peers import install
from tests.report import row

RUN_S = 900
JUDGED_IN_FULL = 6_000
"""Up to so many classes all models are measured; pycanon takes minutes for the others (k = 2), so there k alone."""

ANJANA = """
import contextlib, io, json, sys, time, warnings
warnings.filterwarnings("ignore")
import numpy as np, pandas as pd
from anjana.anonymity import k_anonymity

def hierarchy(column):
    counts = column.value_counts()
    number = column.name == "age"
    values = np.sort(counts.index.to_numpy()) if number else counts.index.to_numpy()
    place = (values - values.min()) if number else np.arange(len(values))
    levels, width = [values], 5 if number else 2
    while (place // width).max() > 0:
        levels.append(np.array([f"{width}:{g}" for g in place // width]))
        width *= 2
    return dict(enumerate([*levels, np.array(["*"] * len(values))]))

def widths(name, levels):
    leaves = levels[0]
    for level in levels.values():
        for label in set(level):
            under = leaves[level == label]
            if name == "age":
                yield label, float(under.max() - under.min()) / float(leaves.max() - leaves.min())
            else:
                yield label, len(under) / len(leaves) if len(under) > 1 else 0.0

data = pd.read_csv(sys.argv[1])
levels = {name: hierarchy(data[name]) for name in data.columns}
for k in json.loads(sys.argv[2]):
    began = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        out = k_anonymity(data.astype(object), [], list(data.columns), k, 20, {n: dict(h) for n, h in levels.items()})
    seconds = time.process_time() - began
    lost = sum(out[name].map(dict(widths(name, h))).sum() + len(data) - len(out) for name, h in levels.items())
    print(json.dumps([k, seconds, 100 * lost / len(data) / len(levels), 100 * (1 - len(out) / len(data))]), flush=True)
"""

PYCANON = """
import json, sys, warnings
warnings.filterwarnings("ignore")
import pandas as pd
from pycanon import anonymity as judge

for path in sys.argv[1:]:
    data = pd.read_csv(path, dtype=str)
    quasi, sensitive = list(data.columns[:-1]), [data.columns[-1]]
    found = {"k": judge.k_anonymity(data, quasi)}
    if ".full." in path:
        found["alpha"] = judge.alpha_k_anonymity(data, quasi, sensitive)[0]
        found["l"] = judge.l_diversity(data, quasi, sensitive)
        found["entropy l"] = judge.entropy_l_diversity(data, quasi, sensitive)
        found["recursive l"] = judge.recursive_c_l_diversity(data, quasi, sensitive)[1]
        found["t"] = judge.t_closeness(data, quasi, sensitive)
        found["basic beta"] = judge.basic_beta_likeness(data, quasi, sensitive)
        found["enhanced beta"] = judge.enhanced_beta_likeness(data, quasi, sensitive)
        found["delta"] = judge.delta_disclosure(data, quasi, sensitive)
    print(json.dumps([path, {name: float(value) for name, value in found.items()}]), flush=True)
"""


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "environment" / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", str(python.parents[1])], check=True)
        missing = install(python, ["anjana", "pycanon"])
        if missing:
            return [row("Adult: anjana and pycanon", math.nan, "", f"cannot be installed here: {missing}")]
        return [*_beside_anjana(python, Path(folder)), *_before_pycanon(python, Path(folder))]


def _lines(python: Path, script: str, arguments: list[str]) -> Iterator[Any]:
    """What the script prints, line by line, as far as it comes within the time."""
    command = [str(python), "-c", script, *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_S)
        printed = done.stdout
    except subprocess.TimeoutExpired as late:
        printed = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
    return map(json.loads, printed.splitlines())


def _beside_anjana(python: Path, folder: Path) -> Iterator[dict[str, Any]]:
    path = folder / "adult.csv"
    columns = [adult_columns()[name] for name in QUASI_IDENTIFIERS]
    texts = [
        v.astype(int)[c] if name == "age" else v[c] for name, (v, c) in zip(QUASI_IDENTIFIERS, columns, strict=True)
    ]
    _write(path, [*QUASI_IDENTIFIERS], texts)
    found = {k: rest for k, *rest in _lines(python, ANJANA, [str(path), json.dumps(list(PUBLIC))])}
    for k in PUBLIC:
        if k not in found:
            yield row(f"Adult, anjana, k={k}", math.nan, "", f"no answer within {RUN_S} s, or an error")
            continue
        seconds, loss, suppressed = found[k]
        for method in TIERS:
            made = output(method, k)
            name, mine = f"Adult, {method}, k={k}, beside anjana", 100 * ncp(made.table, made.labels)
            against = f"anjana {loss:.1f} %, {suppressed:.0f} % suppressed"
            yield row(f"{name}: NCP", mine, "%", against, ratio=mine / loss, target=1.0)
            against = f"anjana {seconds:.1f} s"
            yield row(f"{name}: time", made.seconds, "CPU s", against, ratio=made.seconds / seconds)


def _before_pycanon(python: Path, folder: Path) -> Iterator[dict[str, Any]]:
    """Every output: its k; and where all models are measured, whether the figures are those of our verifier."""
    outputs = {}
    for name, table, labels, k, full in _outputs():
        path = folder / f"{name}.{'full' if full else 'k'}.csv"
        seen = _as_published(table, labels)
        salary, codes = adult_columns()[SENSITIVE]
        _write(path, [*QUASI_IDENTIFIERS, SENSITIVE], [*seen, salary[codes]])
        classes = np.unique(np.stack([np.unique(s, return_inverse=True)[1] for s in seen]), axis=1, return_inverse=True)
        outputs[str(path)] = name, k, _ours(classes[1].reshape(-1), codes, full=full)
    judged = dict(_lines(python, PYCANON, list(outputs)))
    for written, (name, k, mine) in outputs.items():
        theirs = judged.get(written)
        if theirs is None:
            yield row(f"Adult, {name}, judged by pycanon", math.nan, "", f"no answer within {RUN_S} s, or an error")
            continue
        agree = all(math.isclose(theirs[model], value, abs_tol=1e-6) for model, value in mine.items())
        measured = ", ".join(f"{model} {value:.4g}" for model, value in theirs.items() if model != "k")
        met = theirs["k"] >= k and agree
        yield row(f"Adult, {name}, judged by pycanon: k", theirs["k"], "", measured, target=float(k), met=met)


def _outputs() -> Iterator[tuple[str, Table, np.ndarray, int, bool]]:
    """Name, records, class of each, k, and whether all models are to be measured."""
    records = adult_records()
    combination = np.unique(np.stack([a.codes for a in records.attributes], axis=1), axis=0, return_inverse=True)[1]
    for method in TIERS:
        for k in PUBLIC:
            made = output(method, k)
            labels = made.labels if made.labels.size == records.records else made.labels[combination.reshape(-1)]
            yield f"{method}, k={k}", records, labels, k, int(labels.max()) < JUDGED_IN_FULL
    codes = adult_columns()[SENSITIVE][1]
    salary = Sensitive(SENSITIVE, np.arange(codes.size), codes, np.ones_like(codes), 2)
    guards: list[Guard] = [Distinct(salary, 2), Alpha(salary, 0.9), Closeness(salary, 0.5)]
    yield "snake, k=10, guarded", records, snake(records, 10, guards), 10, True


def _as_published(table: Table, labels: np.ndarray) -> list[np.ndarray]:
    """Per attribute the text of each record's box."""
    texts = []
    for box in boxes(table, labels):
        if isinstance(box, Intervals):
            text = [f"{low}..{high}" for low, high in zip(box.low, box.high, strict=True)]
        else:
            text = ["|".join(map(str, box.of(c))) for c in range(box.starts.size - 1)]
        texts.append(np.array(text)[labels])
    return texts


def _ours(classes: np.ndarray, salary: np.ndarray, *, full: bool) -> dict[str, float]:
    """Our verifier's figures, as pycanon states them: it cuts off the decimals of the entropy l.

    Its c of recursive diversity is left out, since it divides by the commonest values and not by the rarest; beta and
    delta are not among our models.
    """
    mine: dict[str, float] = {"k": partition_check.smallest_class(classes)}
    if full:
        diversity = partition_check.distinct_values(classes, salary)
        mine |= {"alpha": partition_check.largest_share(classes, salary), "l": diversity, "recursive l": diversity}
        mine |= {
            "entropy l": int(partition_check.entropy_l(classes, salary)),
            "t": partition_check.closeness(classes, salary),
        }
    return mine


def _write(path: Path, names: list[str], columns: list[np.ndarray]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(zip(*(c.tolist() for c in columns), strict=True))
