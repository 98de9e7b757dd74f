"""An attacker that asks, learns from each answer what to ask next, and puts all answers together.

For each target it first asks about the target's own place (all quasi-identifiers), looks for the edges of the class
around it by halving, and then breeds statements: those that narrowed something are kept and varied (ages, conditions,
thresholds on the secret, with and without the target). Automated searches for attacks work so: Cretu, Houssiau, Cully,
de Montjoye, QuerySnout, CCS 2022. In the end linear programs over the ranges of all counts and sums, in which
everything with pairs and trackers is contained, say what is proved about the target.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from scipy.optimize import linprog

from querygate.core.types import Bools, Floats
from tests.attack.pressed_survey import BIN, CATEGORIES, HIGH, LOW, Ask, Ends, Known, People, Rows

Kind = Literal["sums", "ends", "spread", "middle", "joint", "secret", "table"]
SELECT: dict[Kind, str] = {
    "sums": "COUNT(*) AS n, SUM(sbp) AS s, AVG(sbp) AS a",
    "ends": "MIN(sbp) AS l, MAX(sbp) AS h",
    "spread": "COUNT(*) AS n, AVG(sbp) AS a, VAR_POP(sbp) AS v",
    "middle": "MEDIAN(sbp) AS m, QUANTILE_CONT(sbp, 0.9) AS q",
    "joint": "CORR(age, sbp) AS r",
    "secret": "COUNT(*) FILTER (WHERE sbp > {c}) AS above, COUNT(*) FILTER (WHERE sbp <= {c}) AS below",
    "table": f"sbp // {BIN} AS bin, COUNT(*) AS n",
}
AROUND = tuple((width, pinned) for width in (1, 4, 12) for pinned in (CATEGORIES, CATEGORIES[:1], ()))
"""Sets that are asked for with and without each target: ages around, and which other values are the target's."""


@dataclass(frozen=True)
class Statement:
    """Ages from `first` to `last`, the target's value of the `pinned` columns; `without` leaves the target out."""

    kind: Kind
    first: int
    last: int
    pinned: tuple[str, ...] = CATEGORIES
    without: bool = False
    threshold: int = 0

    def sql(self, age: int, values: dict[str, str]) -> str:
        asked = SELECT[self.kind].format(c=self.threshold)
        terms = [f"age BETWEEN {self.first} AND {self.last}", *(f"{name} = '{values[name]}'" for name in self.pinned)]
        if self.without:
            own = " AND ".join([f"age = {age}", *(f"{name} = '{value}'" for name, value in values.items())])
            terms.append(f"NOT ({own})")
        tail = f" GROUP BY sbp // {BIN}" if self.kind == "table" else ""
        return f"SELECT {asked} FROM survey WHERE {' AND '.join(terms)}{tail}"


@dataclass
class Learned:
    """All that the answers say of one target so far."""

    low: float = LOW
    high: float = HIGH
    least: float = 0  # is the target in it? 0 to 1
    most: float = 1
    facts: list[tuple[Bools, Ends, Ends]] = field(default_factory=list)  # who, how many, and their sum
    above: dict[Statement, tuple[Ends, Ends]] = field(default_factory=dict)
    weights: Floats = field(default_factory=lambda: np.zeros(HIGH // BIN + 1))
    number: float = 0.0

    def narrow(self, low: float, high: float) -> None:
        self.low, self.high = max(self.low, low), min(self.high, high)

    @property
    def open(self) -> float:
        """What is not known yet: 0 where everything is."""
        return max(self.high - self.low, 0) / (HIGH - LOW) + self.most - self.least


class Attack:
    """One target. `budget` statements may be asked."""

    def __init__(self, people: People, ask: Ask, target: int, budget: int, rng: np.random.Generator) -> None:
        self.people, self.ask, self.target, self.rng = people, ask, target, rng
        self.age, self.values = int(people.age[target]), people.at(target)
        self.left = budget
        self.known = Learned()
        self.kept: list[tuple[float, Statement]] = []
        self._same = {name: np.array([v == self.values[name] for v in people.categories[name]]) for name in CATEGORIES}
        self._asked: dict[str, Rows | None] = {}

    def run(self) -> Known:
        self._open()
        box = self._box()
        differences = self._around()
        while self.left > 0:
            self._breed()
        self._conclude()
        crowd = float(box.sum())
        known, proved = self.known, None
        if known.most < 0.99 or known.low > known.high:
            proved = False
        elif known.least > 0.01:
            proved = True
        share = known.number / crowd
        score = {None: share, True: 2.0, False: 0.0}[proved]
        features = np.array([score, known.number, crowd, *differences])
        return Known(known.low, known.high, proved, known.weights, features)

    # -- asking ----------------------------------------------------------------------------------------------------

    def _try(self, statement: Statement) -> Rows | None:
        """Ask, learn, and keep the statement if it narrowed something."""
        sql = statement.sql(self.age, self.values)
        if sql in self._asked or self.left <= 0:
            return self._asked.get(sql)
        self.left -= 1
        before = self.known.open
        rows = self._asked[sql] = self.ask(sql)
        if rows is not None:
            self._learn(statement, rows)
            self.kept.append((before - self.known.open, statement))
            self.kept = sorted(self.kept, key=lambda one: -one[0])[:8]
        return rows

    def _open(self) -> None:
        """The target's own place, by every statistic; then a threshold on the secret, halved until nothing moves."""
        own = Statement("table", self.age, self.age)
        for row in self._try(own) or ():
            number = row["n"]
            if isinstance(row["bin"], int) and isinstance(number, tuple):
                self.known.weights[row["bin"]] = number[1]
        for kind in ("sums", "ends", "spread", "middle"):
            self._try(replace(own, kind=kind))
        for _ in range(3):
            middle = int(self.known.low + self.known.high) // 2
            self._try(Statement("secret", self.age, self.age, threshold=middle))

    def _box(self) -> Bools:
        """Who is in the target's class: as far from the target as the answer about a place stays what it was."""
        own = self._asked.get(Statement("sums", self.age, self.age).sql(self.age, self.values))
        edges = [self._edge(own, end) for end in (0, 90)]
        box = (self.people.age >= edges[0]) & (self.people.age <= edges[1])
        for name in CATEGORIES:
            same = {self.values[name]}
            for other in sorted(set(self.people.categories[name]) - same):
                if self.left > 0 and own is not None:
                    self.left -= 1
                    at = Statement("sums", self.age, self.age).sql(self.age, {**self.values, name: other})
                    same |= {other} if self.ask(at) == own else set()
            box &= np.isin(self.people.categories[name], sorted(same))
        return box

    def _edge(self, own: Rows | None, end: int) -> int:
        inner, outer = self.age, end
        while abs(outer - inner) > 1 and self.left > 0 and own is not None:
            middle = (inner + outer) // 2
            self.left -= 1
            same = self.ask(Statement("sums", middle, middle).sql(self.age, self.values)) == own
            inner, outer = (middle, outer) if same else (inner, middle)
        return inner

    def _around(self) -> Iterator[float]:
        """Middles of differences with and without the target, over sets of all sizes: for a guess, not a proof."""
        found = []
        for width, pinned in AROUND:
            one = Statement("sums", max(self.age - width, 0), self.age + width, pinned)
            middles = []
            for statement in (one, replace(one, without=True)):
                rows = self._try(statement)
                number = rows[0]["n"] if rows else None
                middles.append((number[0] + number[1]) / 2 if isinstance(number, tuple) else 0.0)
            found.append(middles[0] - middles[1])
        return iter(found)

    def _breed(self) -> None:
        """A variation of what has worked, or something new."""
        rng = self.rng
        if self.kept and rng.random() < 0.8:
            statement = self.kept[int(rng.integers(len(self.kept)))][1]
        else:
            statement = Statement("sums", self.age, self.age)
        known = self.known
        left = self.left
        varied = replace(
            statement,
            kind=("sums", "sums", "ends", "spread", "middle", "joint", "secret", "table")[int(rng.integers(8))],
            first=max(min(self.age, statement.first + int(rng.integers(-8, 7))), 0),
            last=max(self.age, statement.last + int(rng.integers(-6, 9))),
            pinned=tuple(name for name in CATEGORIES if (name in statement.pinned) != (rng.random() < 0.25)),
            threshold=int(rng.integers(int(known.low), max(int(known.high), int(known.low) + 1))),
        )
        self._try(varied)
        self._try(replace(varied, without=True))
        if self.left == left:
            self.left -= 1
            self.ask(varied.sql(self.age, self.values))  # the same again: another answer would tell something

    # -- learning --------------------------------------------------------------------------------------------------

    def _who(self, statement: Statement) -> Bools:
        who = (self.people.age >= statement.first) & (self.people.age <= statement.last)
        for name in statement.pinned:
            who &= self._same[name]
        if statement.without:
            who[self.target] = False
        return who

    def _learn(self, statement: Statement, rows: Rows) -> None:
        """What an answer proves of the target's pressure, if the target is in the survey."""
        who, known = self._who(statement), self.known
        first = {name: value for name, value in (rows[0] if rows else {}).items() if isinstance(value, tuple)}
        holds = not statement.without
        if statement.kind == "sums" and "n" in first:
            self._sums(statement, who, first)
        elif statement.kind == "secret":
            self._secret(statement, first["above"], first["below"])
        elif statement.kind == "table" and holds:
            bins = [row["bin"] for row in rows if isinstance(row["n"], tuple) and row["n"][1] >= 1]
            told = [one for one in bins if isinstance(one, int)]
            known.narrow(min(told, default=HIGH) * BIN, max(told, default=0) * BIN + BIN - 1)
        elif statement.kind == "ends" and holds and len(first) == 2:
            known.narrow(first["l"][0], first["h"][1])
        elif statement.kind == "spread" and holds and len(first) == 3:
            # Nobody is farther from the mean than that: Samuelson, JASA 63(324), 1968.
            reach = (max(first["n"][1] - 1, 0) * max(first["v"][1], 0)) ** 0.5
            known.narrow(first["a"][0] - reach, first["a"][1] + reach)
        elif statement.kind == "middle" and holds and who.sum() == 1 and len(first) == 2:
            for low, high, _ in first.values():
                known.narrow(low, high)
        elif statement.kind == "joint" and holds and who.sum() == 2 and first and not first["r"][2]:
            known.least = 1  # a correlation takes two, and there are no others

    def _sums(self, statement: Statement, who: Bools, first: dict[str, Ends]) -> None:
        number, total = first["n"], first.get("s", (0.0, 0.0, True))
        low, high = total[0], total[1]
        if "a" in first:
            low, high = max(low, number[0] * first["a"][0]), min(high, number[1] * first["a"][1])
        if total[2]:
            low = min(low, 0.0)  # of nobody, the sum is NULL
        self.known.facts.append((who, number, (low, high, False)))
        if who.sum() == 1:
            self.known.least, self.known.most = max(self.known.least, number[0]), min(self.known.most, number[1])
        if (statement.first, statement.last, statement.pinned) == (self.age, self.age, CATEGORIES):
            self.known.number = number[1]

    def _secret(self, statement: Statement, above: Ends, below: Ends) -> None:
        known = self.known
        if not statement.without:
            if above[1] == 0:
                known.narrow(LOW, statement.threshold)
            if below[1] == 0:
                known.narrow(statement.threshold + 1, HIGH)
        known.above[statement] = (above, below)
        pair = [known.above.get(replace(statement, without=out)) for out in (False, True)]
        if pair[0] and pair[1]:
            if pair[0][0][0] - pair[1][0][1] >= 1:
                known.narrow(statement.threshold + 1, HIGH)
            if pair[0][1][0] - pair[1][1][1] >= 1:
                known.narrow(LOW, statement.threshold)

    def _conclude(self) -> None:
        """Linear programs over all counts and sums: the target's presence, then its pressure if it is present.

        Whom no statement tells apart is one unknown: how many of them are in the survey, and the sum of their
        pressures. The target is one of its own.
        """
        known = self.known
        if not known.facts:
            return
        own = np.zeros(self.people.size, dtype=np.bool_)
        own[self.target] = True
        sets = np.array([own, *(who for who, *_ in known.facts)])
        atoms, crowd = np.unique(sets, axis=1, return_counts=True)
        met = atoms.any(axis=0)
        atoms, crowd = atoms[:, met], crowd[met]
        size, at = len(crowd), int(np.flatnonzero(atoms[0])[0])
        over = atoms[1:].astype(np.float64)
        nothing = np.zeros_like(over)
        ends = np.array([[*number[:2], *total[:2]] for _, number, total in known.facts])
        rows = [np.hstack([over, nothing]), np.hstack([-over, nothing]), np.hstack([nothing, over])]
        rows += [np.hstack([nothing, -over]), np.hstack([LOW * np.eye(size), -np.eye(size)])]
        rows += [np.hstack([-HIGH * np.eye(size), np.eye(size)])]
        bound = np.concatenate([ends[:, 1], -ends[:, 0], ends[:, 3], -ends[:, 2], np.zeros(2 * size)]) + 1e-6
        limits = [(0.0, float(c)) for c in crowd] + [(0.0, None)] * size
        whole = np.vstack(rows)

        def end(place: int, sign: float) -> float | None:
            cost = np.zeros(2 * size)
            cost[place] = sign
            solved = linprog(cost, whole, bound, bounds=limits, method="highs")
            return None if solved.status or solved.fun is None else float(sign * solved.fun)

        presence = [end(at, 1.0), end(at, -1.0)]
        if presence[0] is not None and presence[1] is not None:
            known.least, known.most = max(known.least, presence[0] - 1e-4), min(known.most, presence[1] + 1e-4)
        limits[at] = (1.0, 1.0)
        low, high = end(size + at, 1.0), end(size + at, -1.0)
        if low is not None and high is not None:
            known.narrow(low - 1e-3, high + 1e-3)
        else:
            known.most = min(known.most, 0.0)
