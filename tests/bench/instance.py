"""Instance risk of files of one disease: partitioning beside Safe Harbor, on simulated people and their own population.

33,330 simulated people; files of 180 and 1,000 of them, drawn alike and with a disease that comes with age, five seeds
each, and the same from a single census of 11,726. Quasi-identifiers: date of birth, sex, race or ethnicity, ZIP code;
once with the age in place of the date. Each figure is that of its worst seed. All partitions are checked independently.

Published (180 patients): 109 classes, max r 0.0256 and R 0.0030 for Safe Harbor; 115 classes, 0.0137 and 0.0015. So
half is the target: of max r for all files, of R for those of the published size. R of the larger files is printed
without a target. It cannot fall below the share of the file in the population (`least`), which alone is a third to a
half of Safe Harbor's R; ages in years are what Safe Harbor leaves as they are, so no class can be finer than one of its
own; and where the disease comes with age, classes that tell ages apart cannot all have the same share. There, the least
risk is that of one large class beside many small ones: a last case forbids it, and has no target either.

Then a million made people, for the time.
"""

from __future__ import annotations

import time
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from querygate.core.types import Ints
from querygate.methods.same_disease import Quasi, Rules, SafeHarborComparison, Study, compare
from querygate.methods.same_disease.part_tree import LEAST
from tests.places import DATA
from tests.report import row
from tests.unit.methods.same_disease.independent_check import check_partition

PEOPLE = DATA / "people" / "people.parquet"
ON = "2040-04-01"
SEEDS = range(100, 105)
SIZES = (180, 1_000)
HALF, MOST = 0.5, 100
MILLION_S = 60.0

Table = dict[str, NDArray[Any]]

REST = (Quasi("sex", "category"), Quasi("race_ethnicity", "category"), Quasi("zipcode", "zip"))
BIRTH = (Quasi("date_of_birth", "birth", on=ON), *REST)
AGE = (Quasi("age", "age"), *REST)


def people() -> Table:
    """All rows of the file, as a table of the population."""
    return dict(duckdb.sql(f"SELECT * FROM '{PEOPLE}'").fetchnumpy())


def drawn(population: Table, size: int, seed: int, *, with_age: bool = False) -> Ints:
    """The rows of those who have the disease; with age, twice as likely every 14 years."""
    random, age = np.random.default_rng(seed), np.asarray(population["age"], dtype=np.float64)
    weight = np.exp(0.05 * age) if with_age else np.ones(age.size)
    return np.asarray(random.choice(age.size, size, replace=False, p=weight / weight.sum()), dtype=np.int64)


def checked(columns: tuple[Quasi, ...], population: Table, file: Ints, rules: Rules = LEAST) -> SafeHarborComparison:
    """The comparison, once an independent count has found the same."""
    found = compare(Study.within(columns, population, file), rules=rules)
    seen = check_partition(
        columns, population, {name: np.asarray(population[name])[file] for name in population}, found.partition
    )
    if seen.faults or seen.overlapping:
        raise AssertionError(f"{seen.faults[:3]}, {seen.overlapping} people in more than one part")
    return found


def figures(
    name: str, found: list[SafeHarborComparison], greatest: float | None, average: float | None
) -> list[dict[str, Any]]:
    """The rows of one way of drawing: the worst seed of each figure."""
    fewest = min(one.partition.risk.classes - one.safe_harbor.risk.classes for one in found)
    classes = [one.safe_harbor.risk.classes for one in found]
    rows = [row(f"{name}: classes beyond Safe Harbor's", fewest, "", f"{min(classes)}-{max(classes)}", met=fewest >= 0)]
    worst = max(found, key=lambda one: one.greatest_ratio)
    rows.append(_beside(f"{name}: max r", worst, "greatest_instance", worst.greatest_ratio, greatest))
    worst = max(found, key=lambda one: one.average_ratio)
    rows.append(_beside(f"{name}: R", worst, "average_instance", worst.average_ratio, average))
    large = max(found, key=lambda one: one.partition.risk.largest)
    rows.append(
        row(f"{name}: largest class", large.partition.risk.largest, "records", f"{large.safe_harbor.risk.largest}")
    )
    worst = max(found, key=lambda one: one.partition.risk.average_match / one.safe_harbor.risk.average_match)
    ratio = worst.partition.risk.average_match / worst.safe_harbor.risk.average_match
    return [*rows, _beside(f"{name}: Q", worst, "average_match", ratio, None)]


def _beside(name: str, found: SafeHarborComparison, field: str, ratio: float, target: float | None) -> dict[str, Any]:
    ours, theirs = getattr(found.partition.risk, field), getattr(found.safe_harbor.risk, field)
    least = f", least {found.prevalence:.4f}" if field == "average_instance" else ""
    return row(name, ours, "", f"{theirs:.4f}{least}", ratio=ratio, target=target)


def million() -> list[dict[str, Any]]:
    """Time for a million people of 600 ZIP codes, 5,000 of them in the file."""
    random, size = np.random.default_rng(0), 1_000_000
    population: Table = {
        "birth": random.integers(-16_000, 18_000, size).astype("datetime64[D]"),
        "sex": random.choice(np.array(["F", "M"]), size),
        "zip": np.array([f"{37_000 + place}" for place in range(600)])[np.minimum(random.geometric(0.01, size), 599)],
    }
    columns = (Quasi("birth", "birth", on="2020-04-01"), Quasi("sex", "category"), Quasi("zip", "zip"))
    begun = time.perf_counter()
    found = compare(Study.within(columns, population, random.choice(size, 5_000, replace=False)))
    taken = time.perf_counter() - begun
    name = f"Instance, {size:,} people, 5,000 records, {found.partition.risk.classes:,} classes"
    return [row(name, taken, "s", target=MILLION_S, met=taken <= MILLION_S)]


def run() -> list[dict[str, Any]]:
    """One row per figure, for the bench report."""
    everybody = people()
    one_census = {name: values[everybody["census"] == 2040] for name, values in everybody.items()}
    rows: list[dict[str, Any]] = []
    for size in SIZES:
        for told, population, columns, with_age in (
            ("alike", everybody, BIRTH, False),
            ("with age", everybody, BIRTH, True),
            ("one census", one_census, BIRTH, False),
            ("alike, ages", everybody, AGE, False),
        ):
            found = [checked(columns, population, drawn(population, size, seed, with_age=with_age)) for seed in SEEDS]
            rows += figures(f"Instance, {size:,} {told}", found, HALF, HALF if size == SIZES[0] else None)
    rules = Rules(max_records=MOST)
    found = [checked(BIRTH, everybody, drawn(everybody, SIZES[-1], seed, with_age=True), rules) for seed in SEEDS]
    rows += figures(f"Instance, {SIZES[-1]:,} with age, {MOST} in a class", found, None, None)
    return rows + million()
