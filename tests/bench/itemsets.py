"""Time and memory of k^m-anonymity: groceries with its hierarchy, kosarak, and kosarak repeated with fresh noise.

Groceries: 9,835 baskets of 169 items, two heights of groups. Kosarak: 25,000 sessions of up to 608 pages, with a
hierarchy made here: pages by falling popularity, four to a group, four groups to the next, to one root. Larger files
are made of it: sessions drawn with replacement, one page in twenty replaced by another drawn by popularity. Each run is
a process of its own, so that peak memory is its own; seconds are CPU seconds. The growth exponent is that of the time
up to the largest file, from the smallest, where work that does not grow with the records weighs, and from 100,000. What
is published is verified by a check that shares no code with the method: all itemsets of up to m items, by products of
dense matrices.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import resource
import subprocess
import sys
import time
from collections import Counter, defaultdict
from functools import cache
from typing import Any

import numpy as np

from querygate.methods.code_lists.baskets import Baskets
from querygate.methods.code_lists.km.km import km_anonymous
from querygate.methods.code_lists.subtrees import halved
from tests.places import DATA
from tests.report import row
from tests.unit.methods.code_lists.worlds import cut_loss

CODES = DATA / "codes"
K, FAN_OUT, NOISE = 5, 4, 0.05
EXPONENT = 1.3
BLOCK = 50_000
SESSIONS = 25_000
SIZES = (100_000, 300_000, 1_000_000)
Levels = list[np.ndarray]


@cache
def groceries() -> tuple[Baskets, Levels]:
    """Baskets, and the hierarchy item, 55 kinds, 10 departments, all."""
    with gzip.open(CODES / "groceries_hierarchy.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    code = {one["labels"]: i for i, one in enumerate(rows)}
    held: dict[str, list[int]] = defaultdict(list)
    with gzip.open(CODES / "groceries.csv.gz", "rt", encoding="utf-8", newline="") as file:
        for one in csv.DictReader(file):
            held[one["tid"]].append(code[one["item"]])
    kinds = [np.unique([one[level] for one in rows], return_inverse=True)[1] for level in ("level2", "level1")]
    return Baskets.of(held.values(), len(rows)), [np.arange(len(rows)), *kinds, np.zeros(len(rows), dtype=np.int64)]


@cache
def kosarak() -> Baskets:
    """Pages numbered by falling popularity."""
    with gzip.open(CODES / "kosarak25k.txt.gz", "rt", encoding="utf-8") as file:
        sessions = [line.split() for line in file]
    held = Counter(page for session in sessions for page in set(session))
    code = {page: i for i, page in enumerate(sorted(held, key=lambda page: (-held[page], int(page))))}
    return Baskets.of([[code[page] for page in session] for session in sessions], len(code))


def balanced(size: int, fan_out: int = FAN_OUT) -> Levels:
    """Neighbours together, `fan_out` to a group."""
    levels = [np.arange(size)]
    while levels[-1][-1] > 0:
        levels.append(levels[-1] // fan_out)
    return levels


def repeated(baskets: Baskets, records: int, seed: int = 1) -> Baskets:
    """Records drawn with replacement, some of their codes replaced by others drawn by popularity."""
    random = np.random.default_rng(seed)
    drawn = random.integers(0, baskets.records, records)
    number = np.diff(baskets.starts)[drawn]
    first = baskets.starts[drawn] - (np.cumsum(number) - number)
    members = baskets.members[np.repeat(first, number) + np.arange(number.sum())]
    changed = np.flatnonzero(random.random(members.size) < NOISE)
    members[changed] = random.choice(baskets.members, changed.size)
    key = np.unique(np.repeat(np.arange(records), number) * baskets.size + members)
    record, members = np.divmod(key, baskets.size)
    return Baskets(np.searchsorted(record, np.arange(records + 1)), members, baskets.size)


def rare_found(published: Baskets, k: int, m: int) -> int:
    """Rare itemsets of up to m = 2 or 3 items, counted as what is common to columns of zeros and ones."""
    held, column = np.unique(published.members, return_inverse=True)
    record = np.repeat(np.arange(published.records), np.diff(published.starts))

    def together(wanted: np.ndarray) -> np.ndarray:
        """How many of the wanted records hold each pair; on the diagonal each item."""
        counts = np.zeros((held.size, held.size))
        for begin in range(0, wanted.size, BLOCK):
            part = wanted[begin : begin + BLOCK]
            place = np.full(published.records, -1)
            place[part] = np.arange(part.size)
            here = place[record] >= 0
            ones = np.zeros((part.size, held.size), dtype=np.float32)
            ones[place[record[here]], column[here]] = 1
            counts += ones.T @ ones
        return np.triu(counts)

    counts = together(np.arange(published.records))
    rare = np.count_nonzero((counts > 0) & (counts < k))
    for item in range(held.size) if m == 3 else ():
        triples = np.triu(together(record[column == item])[item + 1 :, item + 1 :], 1)
        rare += np.count_nonzero((triples > 0) & (triples < k))
    return int(rare)


def data(records: int) -> tuple[Baskets, Levels]:
    """Groceries, kosarak, or kosarak repeated: known by the number of records."""
    if records == groceries()[0].records:
        return groceries()
    baskets = kosarak() if records == SESSIONS else repeated(kosarak(), records)
    return baskets, balanced(baskets.size)


def measure(records: int, m: int) -> dict[str, float]:
    """One run in this process: what it took, and whether the promise holds."""
    baskets, levels = data(records)
    begin = time.process_time()
    items = km_anonymous(baskets, levels, K, m)
    seconds = time.process_time() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    published = items.publish(baskets)
    held = int(np.count_nonzero(published.supports()))
    rare, loss = rare_found(published, K, m), 100 * cut_loss(baskets, items)
    return {"seconds": seconds, "memory": memory, "items": held, "loss": loss, "rare": rare}


def run() -> list[dict[str, Any]]:
    """One row per figure, for the bench report."""
    rows = []
    for m in (2, 3):
        took: dict[int, float] = {}
        for records in (groceries()[0].records, SESSIONS, *SIZES):
            command = [sys.executable, "-m", "tests.bench.itemsets", str(records), str(m)]
            made = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            took[records] = made["seconds"]
            name = f"{K}^{m} on {'groceries' if records < SESSIONS else 'kosarak'}, {records:,} records"
            rows.append(row(f"{name}: time", made["seconds"], "CPU s"))
            rows.append(row(f"{name}: peak memory", made["memory"], "MB"))
            rows.append(row(f"{name}: loss", made["loss"], "%", f"{made['items']:.0f} items published"))
            rows.append(row(f"{name}: rare itemsets", made["rare"], "", target=0, met=made["rare"] == 0))
        for few in (SESSIONS, SIZES[0]):
            exponent = math.log(took[SIZES[-1]] / took[few]) / math.log(SIZES[-1] / few)
            name = f"{K}^{m} on kosarak: growth exponent from {few:,}"
            rows.append(row(name, exponent, "", target=EXPONENT, met=exponent <= EXPONENT))
        items = km_anonymous(groceries()[0], halved(groceries()[1]), K, m)
        rows.append(row(f"{K}^{m} on groceries, nodes halved: loss", 100 * cut_loss(groceries()[0], items), "%"))
    return rows


if __name__ == "__main__":
    print(json.dumps(measure(*map(int, sys.argv[1:]))))
