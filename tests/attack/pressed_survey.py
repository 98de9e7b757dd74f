"""What the attackers of the pressure test meet: people, of whom half are in a published survey, and ways to ask.

Blood pressures are those of NHANES. Everybody's quasi-identifiers are known to the attackers; who is in the survey and
what their pressure is, is not. One attacker asks (`pressure`); the other reads the published classes, all of them.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from querygate.core.block import NumberColumn, SetColumn
from querygate.core.errors import Refusal
from querygate.core.types import Bools, Floats, Ints, Principal, Request
from querygate.custody.evidence.class_reader import labels_of
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.answer import answer
from querygate.site.layout import init_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate_adapters.vault.cell_classes import open_version
from tests.engine import scratch
from tests.places import DATA
from tests.policies import AGE, PolicyText, make_policy, quasi, sensitive

SURVEY = DATA / "nhanes_2009_10.csv.gz"
LOW, HIGH, BIN = 40, 300, 10
CATEGORIES = ("gender", "race", "education")
POLICY = make_policy(
    "survey",
    {
        "age": AGE,
        **dict.fromkeys(("gender", "race", "education"), quasi("category")),
        "sbp": sensitive("integer", (LOW, HIGH), carry="bins", bins=BIN),
    },
)


@dataclass(frozen=True)
class People:
    """Everybody: what is known of them, and what is not (`sbp`, `inside`)."""

    age: Ints
    categories: dict[str, list[str]]
    sbp: Ints
    inside: Bools

    @property
    def size(self) -> int:
        return len(self.age)

    def at(self, person: int) -> dict[str, str]:
        return {name: values[person] for name, values in self.categories.items()}

    def alone(self) -> Ints:
        """Those with whom nobody shares all quasi-identifiers: the easiest to find."""
        places = list(zip(self.age.tolist(), *self.categories.values(), strict=True))
        met: dict[Any, int] = {}
        for place in places:
            met[place] = met.get(place, 0) + 1
        return np.array([i for i, place in enumerate(places) if met[place] == 1])


def load_people(rng: np.random.Generator) -> People:
    """All of NHANES; chance says which half is in the survey."""
    with gzip.open(SURVEY, "rt", encoding="utf-8", newline="") as packed:
        rows = list(csv.DictReader(packed))
    inside = np.zeros(len(rows), dtype=np.bool_)
    inside[rng.permutation(len(rows))[: len(rows) // 2]] = True
    return People(
        np.array([int(row["age"]) for row in rows]),
        {name: [row[name] for row in rows] for name in CATEGORIES},
        np.array([int(row["sbp"]) for row in rows]),
        inside,
    )


def draw_targets(people: People, number: int, rng: np.random.Generator) -> list[int]:
    """Half of them in the survey, half of them not."""
    alone = people.alone()
    halves = [rng.permutation(alone[people.inside[alone] == inside])[: number // 2] for inside in (True, False)]
    return [int(i) for i in rng.permutation(np.concatenate(halves))]


def publish_survey(people: People, folder: Path, policy: PolicyText = POLICY) -> OpenSite:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["age", *CATEGORIES, "sbp"])
    for i in np.flatnonzero(people.inside):
        writer.writerow([people.age[i], *people.at(int(i)).values(), people.sbp[i]])
    source = folder / "survey.csv"
    source.write_text(text.getvalue(), encoding="utf-8")
    opened = open_gate(init_site(folder / "site"))
    publish_to(opened, policy.parsed(), str(source), user="custodian")
    return opened


# -- ways to ask ---------------------------------------------------------------------------------------------------

Ends = tuple[float, float, bool]
"""Low, high, and whether it may be NULL."""

Rows = list[dict[str, Ends | int | None]]
Ask = Callable[[str], Rows | None]
"""The answer to a statement; None where it is refused."""


def through_the_gate(opened: OpenSite) -> Ask:
    who = Principal("mallory", "researcher")

    def ask(sql: str) -> Rows | None:
        try:
            given = answer(Request(who, "survey", sql), opened.gate)
        except Refusal:
            return None
        rows: Rows = []
        for group in given.groups:
            row: dict[str, Any] = {}
            for column in given.columns:
                if column.kind == "key":
                    row[column.name] = group.keys[column.source]
                else:
                    found = group.ranges[column.source]
                    told = found.low is not None and found.high is not None
                    row[column.name] = (float(found.low), float(found.high), found.may_be_null) if told else None  # type: ignore[arg-type]
            rows.append(row)
        return rows

    return ask


def on_a_plain_database(people: People, least: int = 5) -> Ask:
    """Exact answers about at least so many records: what a system without a gate gives."""
    rows = [
        (int(people.age[i]), *people.at(int(i)).values(), int(people.sbp[i])) for i in np.flatnonzero(people.inside)
    ]
    connection = scratch()
    connection.execute("CREATE TABLE survey (age INT, gender TEXT, race TEXT, education TEXT, sbp INT)")
    connection.executemany("INSERT INTO survey VALUES (?, ?, ?, ?, ?)", rows)

    def ask(sql: str) -> Rows | None:
        found = connection.execute(sql.replace(" FROM", ", COUNT(*) AS least FROM", 1))
        names = [name for name, *_ in found.description or ()]
        given = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
        if any(row.pop("least") < least for row in given):
            return None
        return [
            {
                name: value if name == "bin" else None if value is None else (value, value, False)
                for name, value in row.items()
            }
            for row in given
        ]

    return ask


# -- who reads the classes -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """What an attacker ends up with about one person.

    `low` and `high` hold for the pressure, if the person is in the survey: that is proved. So is `inside`, where it is
    not None. `weights` (per bin) and `features` are what guesses are made of.
    """

    low: float
    high: float
    inside: bool | None
    weights: Floats
    features: Floats


class Classes:
    """The published classes: a box of quasi-identifiers for each, and how many records it has per bin."""

    def __init__(self, opened: OpenSite, people: People) -> None:
        release = open_version(opened.site.store, "survey", 1)
        assert release is not None
        block = release.by_class(["age", *CATEGORIES, "sbp"])
        _, first, place = np.unique(labels_of(block), return_index=True, return_inverse=True)
        age, sbp = block.columns["age"], block.columns["sbp"]
        assert isinstance(age, NumberColumn)
        assert isinstance(sbp, NumberColumn)
        self.bins = np.zeros((first.size, HIGH // BIN + 1))
        np.add.at(self.bins, (place, np.asarray(sbp.low // BIN, dtype=np.int64)), block.n)
        fits = (people.age >= age.low[first][:, None]) & (people.age <= age.high[first][:, None])
        for name in CATEGORIES:
            column = block.columns[name]
            assert isinstance(column, SetColumn)
            held = np.array([_values(column, int(one)) for one in column.sets[first]], dtype=object)
            values = people.categories[name]
            codes, code = np.unique(values, return_inverse=True)
            allowed = np.array([[value in one for value in codes] for one in held])
            fits &= allowed[:, code]
        self.fits = fits
        """Which person could be in which class."""
        self._crowd = (fits / np.maximum(fits.sum(axis=0), 1)).sum(axis=1)

    def about(self, person: int) -> Known:
        mine = np.flatnonzero(self.fits[:, person])
        weights = self.bins[mine].sum(axis=0)
        if not mine.size:
            return Known(LOW, HIGH, False, weights, np.zeros(3))
        met = np.flatnonzero(weights)
        number, crowd = weights.sum(), float(self.fits[mine].any(axis=0).sum())
        # All who fit are in it where there are no more of them than records; otherwise it may be any of them.
        proved = True if mine.size == 1 and number == crowd else None
        # Somebody who fits several classes is in each of them in part.
        share = float((self.bins[mine].sum(axis=1) / self._crowd[mine]).mean())
        return Known(
            max(LOW, met[0] * BIN),
            min(HIGH, met[-1] * BIN + BIN - 1),
            proved,
            weights,
            np.array([share, number, crowd]),
        )


def _values(column: SetColumn, chosen: int) -> frozenset[str]:
    held = column.dictionary
    return frozenset(held.values[i] for i in held.members[held.starts[chosen] : held.starts[chosen + 1]] if i >= 0)
