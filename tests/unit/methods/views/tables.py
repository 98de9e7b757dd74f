"""Small random tables for views, hostile on purpose: NULLs, ties, constants, rare values, repeated persons."""

from __future__ import annotations

import numpy as np

from querygate.core.types import Ints
from querygate.methods.views import (
    CellLimits,
    FrameColumn,
    Measure,
    QuasiIdentifier,
    RecordTable,
    SensitiveColumn,
    ViewPlan,
)

WIDTH = 5


def coded(random: np.random.Generator, records: int, size: int, nulls: float) -> Ints:
    """Skewed codes with some missing."""
    codes = np.minimum(random.geometric(min(0.9, 1.6 / size), records) - 1, size - 1)
    return np.where(random.random(records) < nulls, -1, codes)


def number(random: np.random.Generator, name: str, records: int, bins: int, nulls: float) -> SensitiveColumn:
    codes = coded(random, records, bins, nulls)
    low = 40 + WIDTH * np.arange(bins)
    high = low + WIDTH - 1
    high[-1] += random.choice([0, 5 * WIDTH])  # an open end is wide
    values = np.where(codes < 0, 0, low[codes] + random.integers(0, 1 << 20, records) % (high - low + 1)[codes])
    measure = Measure(values, low, high, span=2 * WIDTH, step=6 * WIDTH)
    return SensitiveColumn(name, codes, bins, (measure,))


def random_table(seed: int, records: int | None = None, *, persons: bool = False) -> RecordTable:
    """Four quasi-identifiers, one of them ordered; two categories and a number as sensitive columns."""
    random = np.random.default_rng(seed)
    records = records or int(random.integers(6, 15))
    nulls = float(random.choice([0.0, 0.0, 0.15]))
    quasi = [QuasiIdentifier("age", coded(random, records, 4, nulls), 4, ordered=True, prefer=(2,))]
    for name in ("sex", "race", "school"):
        quasi.append(QuasiIdentifier(name, coded(random, records, int(random.integers(1, 4)) + 1, nulls), 5))
    ill = SensitiveColumn("ill", coded(random, records, 2, 0.0), 2)
    drug = SensitiveColumn("drug", coded(random, records, 3, nulls), 3)
    people = random.integers(0, max(2, records // 2), records) if persons else None
    return RecordTable(tuple(quasi), (ill, drug, number(random, "sbp", records, 4, nulls)), people)


VIEWS = (("age", "race"), ("sex", "school"), ("race", "sex"), ("age", "school"))


def plan(views: int, k: int, frame: tuple[FrameColumn, ...] = (), values: int = 2) -> ViewPlan:
    return ViewPlan(VIEWS[:views], frame, k, values)


def survey_like(records: int, seed: int = 7) -> RecordTable:
    """A table with the shape of a health survey: ages by year, sex, race, education; numbers and rare conditions."""
    random = np.random.default_rng(seed)
    age = random.integers(0, 60, records)
    quasi = (
        QuasiIdentifier("age", age, 60, ordered=True, prefer=(5, 15, 25, 35, 45, 55)),
        QuasiIdentifier("sex", random.integers(0, 2, records), 2),
        QuasiIdentifier("race", random.choice(5, records, p=[0.33, 0.25, 0.2, 0.13, 0.09]), 5),
        QuasiIdentifier("education", coded(random, records, 5, 0.02), 5),
    )
    pressure = np.clip(random.normal(110 + age / 2, 17, records), 70, 229).astype(np.int64)
    mass = np.clip(random.normal(290, 65, records), 150, 749).astype(np.int64)
    sensitive = [
        binned("sbp", pressure, random.random(records) < 0.05, 40, 5, 40, 10, 30),
        binned("dbp", np.clip(pressure * 6 // 10, 40, 199), random.random(records) < 0.05, 0, 5, 40, 10, 30),
        binned("bmi", mass, random.random(records) < 0.02, 100, 25, 32, 50, 150),
        binned("waist", mass + 650, random.random(records) < 0.05, 300, 50, 34, 100, 300),
    ]
    for name, share in (("diabetes", 0.02 + age / 400), ("smoker", 0.4), ("insured", 0.85)):
        sensitive.append(SensitiveColumn(name, (random.random(records) < share).astype(np.int64), 2))
    return RecordTable(quasi, tuple(sensitive))


def binned(
    name: str, values: Ints, missing: Ints, begin: int, width: int, bins: int, span: int, step: int
) -> SensitiveColumn:
    codes = np.where(missing, -1, (values - begin) // width)
    low = begin + width * np.arange(bins)
    return SensitiveColumn(
        name, codes, bins, (Measure(np.where(missing, 0, values), low, low + width - 1, span, step),)
    )


SURVEY_PLAN = ViewPlan(
    (("age", "sex", "race"), ("age", "sex", "education")), (FrameColumn("age", (10, 20, 30, 40, 50)),), k=10
)


def hostile(seed: int) -> tuple[RecordTable, ViewPlan]:
    """Constants, columns of NULLs, rare and many values, huge and negative numbers, open ends, any k."""
    random = np.random.default_rng(seed)
    records = int(random.integers(5, 400))
    quasi = tuple(_any_column(random, name, records) for name in ("age", "sex", "race", "school"))
    edges = np.array([-(10**6) - 1, -100, -10, -5, 0, 5, 10, 100, 10**6 + 1])
    values = random.choice([-1, 1], records) * np.minimum(random.zipf(1.3, records), 10**6)
    codes = np.where(random.random(records) < 0.1, -1, np.searchsorted(edges, values, side="right") - 1)
    measure = Measure(
        values, edges[:-1], edges[1:] - 1, int(random.choice([0, 10, 200])), int(random.choice([1, 30, 600]))
    )
    sensitive = (
        SensitiveColumn("rare", coded(random, records, 30, float(random.choice([0.0, 0.5]))), 30),
        SensitiveColumn("few", coded(random, records, 2, 0.0), 2),
        SensitiveColumn("huge", codes, 8, (measure,)),
        number(random, "sbp", records, 20, 0.1),
    )
    persons = random.integers(0, max(1, records // 2), records) if random.random() < 0.4 else None
    frame = (FrameColumn("age", (1, 3, 20)),) if random.random() < 0.5 else ()
    views = 3 if seed % 4 == 0 and records < 150 else 2
    wanted = ViewPlan(
        VIEWS[:views],
        frame,
        int(random.choice([2, 3, 5, 10, 50])),
        int(random.choice([2, 2, 3])),
        most=CellLimits(classes=50),
    )
    return RecordTable(quasi, sensitive, persons), wanted


def _any_column(random: np.random.Generator, name: str, records: int) -> QuasiIdentifier:
    size = int(random.choice([1, 2, 3, 8, 40]))
    kinds = (
        np.full(records, -1),
        np.zeros(records, dtype=np.int64),
        random.integers(0, size, records),
        coded(random, records, size, 0.3),
        np.minimum(random.zipf(1.5, records) - 1, size - 1),
    )
    codes = kinds[int(random.choice(5, p=[0.05, 0.15, 0.25, 0.3, 0.25]))]
    return QuasiIdentifier(name, codes, size, name == "age", tuple(cut for cut in (2, 5) if cut < size))
