"""What honest people would pay: how many of their queries each view refuses, were it to block.

2,000 ad-hoc queries of 20 users in 5 projects of 2 organisations to 10,000 records: tables by fixed bands, ranges of
age (round ends, and any), and tables of categories within a range. A query that a view refuses is not added to it.
Blocking is by user and by project; organisations and everybody only alert.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from querygate.core.types import Bools
from querygate.methods.audit.answer_verdict import Watch
from tests.report import row

RECORDS, QUERIES, USERS, PROJECTS, ORGANISATIONS, K = 10_000, 2_000, 20, 5, 2, 5
AT_MOST = {"each user": 0.02, "each project": 0.05}
"""What blocking may cost."""


class Places:
    """Records by age, sex and region: what an attacker may know of them."""

    def __init__(self, random: np.random.Generator) -> None:
        age = np.clip(random.normal(52, 17, RECORDS).round(), 18, 95).astype(np.int64)
        sex = random.integers(0, 2, RECORDS)
        region = random.choice(8, RECORDS, p=[0.3, 0.2, 0.15, 0.1, 0.1, 0.07, 0.05, 0.03])
        found, self.weights = np.unique(np.stack([age, sex, region]), axis=1, return_counts=True)
        self.age, self.sex, self.region = found

    def ask(self, random: np.random.Generator) -> Bools:
        """The sets of one honest query."""
        kind = random.choice(["bands", "range", "table"], p=[0.4, 0.35, 0.25])
        if kind == "bands":
            width = int(random.choice([10, 20]))
            base = self._base(random)
            return np.array([base & (self.age // width == band) for band in range(96 // width + 1)])
        low, high = self._ends(random)
        inside = (self.age >= low) & (self.age <= high) & self._base(random)
        if kind == "range":
            return inside[None]
        column = self.sex if random.random() < 0.5 else self.region
        return np.array([inside & (column == value) for value in np.unique(column)])

    def _base(self, random: np.random.Generator) -> Bools:
        every = np.ones(len(self.age), dtype=np.bool_)
        choice = random.random()
        return every if choice < 0.5 else self.sex == random.integers(2) if choice < 0.8 else self.region < 3

    def _ends(self, random: np.random.Generator) -> tuple[int, int]:
        """Most ends are round; some people want 18 to 64, and some any year."""
        step = int(random.choice([10, 5, 1], p=[0.4, 0.3, 0.3]))
        low = int(random.integers(18 // step, 80 // step + 1)) * step
        return low, low + int(random.choice([10, 15, 20, 30, 40, 80])) - (step > 1)


def run() -> list[dict[str, Any]]:
    random = np.random.default_rng(11)
    places = Places(random)
    asked = [(int(random.integers(USERS)), places.ask(random)) for _ in range(QUERIES)]
    views = {
        "each user": lambda user: user,
        "each project": lambda user: user % PROJECTS,
        "each organisation": lambda user: user % PROJECTS % ORGANISATIONS,
        "everybody": lambda user: 0,
    }
    return [_refused(name, view, asked, places) for name, view in views.items()]


def _refused(name: str, view: Any, asked: list[tuple[int, Bools]], places: Places) -> dict[str, Any]:
    watches: dict[int, Watch] = {}
    rules: dict[str, int] = {}
    times = []
    for user, sets in asked:
        watch = watches.setdefault(view(user), Watch(places.weights, K))
        began = time.perf_counter()
        verdict = watch.judge(sets)
        if verdict.isolates:
            rules[verdict.rule] = rules.get(verdict.rule, 0) + 1
        else:
            watch.take(sets, "")
        times.append((time.perf_counter() - began) * 1000)
    share = sum(rules.values()) / len(asked)
    limit = AT_MOST.get(name)
    told = ", ".join(f"{rule} {number}" for rule, number in sorted(rules.items())) or "none"
    against = f"{told}; p95 {np.percentile(times, 95):.1f} ms" + ("" if limit else "; alerts only")
    met = None if limit is None else share <= limit
    return row(f"honest: refused, view of {name}", 100 * share, "%", against, target=limit and 100 * limit, met=met)
